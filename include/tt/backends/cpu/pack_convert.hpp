// Packs of one type from those of another: the values of tt::detail::convert in every lane, by conversion instructions where the processor has them.
#pragma once
#include "tt/backends/cpu/pack_type.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {
namespace detail {

#if defined(__SSE2__)
/// f32 to f64, and back. (g++ 12 ends in an internal error at __builtin_convertvector of half vectors.)
TT_ALWAYS_INLINE Pack<double> widened(const Pack<float>& a) {
  const auto x = a.part[0];
#if TT_AVX512
  return {{_mm512_cvtps_pd(_mm512_castps512_ps256(x)), _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1)))}};
#elif defined(__AVX__)
  return {{_mm256_cvtps_pd(_mm256_castps256_ps128(x)), _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))}};
#else
  return {{_mm_cvtps_pd(x), _mm_cvtps_pd(_mm_movehl_ps(x, x))}};
#endif
}
TT_ALWAYS_INLINE Pack<float> narrowed(const Pack<double>& a) {
#if TT_AVX512
  const auto low = _mm256_castps_pd(_mm512_cvtpd_ps(a.part[0])), high = _mm256_castps_pd(_mm512_cvtpd_ps(a.part[1]));
  return {{_mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1))}};
#elif defined(__AVX__)
  return {{_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(a.part[0])), _mm256_cvtpd_ps(a.part[1]), 1)}};
#else
  return {{_mm_movelh_ps(_mm_cvtpd_ps(a.part[0]), _mm_cvtpd_ps(a.part[1]))}};
#endif
}
#endif

#if TT_AVX512
TT_ALWAYS_INLINE __m256i half(__m512i x, int k) { return k ? _mm512_extracti64x4_epi64(x, 1) : _mm512_castsi512_si256(x); }
TT_ALWAYS_INLINE __m512i joined(__m256i a, __m256i b) { return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1); }
#elif defined(__AVX2__)
TT_ALWAYS_INLINE __m128i half(__m256i x, int k) { return k ? _mm256_extracti128_si256(x, 1) : _mm256_castsi256_si128(x); }
TT_ALWAYS_INLINE __m256i joined(__m128i a, __m128i b) { return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1); }
/// Rounded once: the upper and the lower 32 bits are exact as doubles, assembled from their bits with offsets 2^84 + 2^63 and 2^52.
TT_ALWAYS_INLINE __m256d to_double(__m256i x) {
  const __m256i low = _mm256_blend_epi32(_mm256_set1_epi64x(0x4330000000000000), x, 0x55);
  const __m256i high = _mm256_xor_si256(_mm256_srli_epi64(x, 32), _mm256_set1_epi64x(0x4530000080000000));
  const __m256d upper = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_castsi256_pd(_mm256_set1_epi64x(0x4530000080100000)));
  return _mm256_add_pd(upper, _mm256_castsi256_pd(low));
}
/// Of whole numbers below 2^51: adding 2^52 + 2^51 puts the integer into the low bits.
TT_ALWAYS_INLINE __m256i to_integer(__m256d whole) {
  const __m256d magic = _mm256_set1_pd(0x1.8p52);
  return _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(whole, magic)), _mm256_castpd_si256(magic));
}
TT_ALWAYS_INLINE bool all_below(const Pack<double>& a, double bound) {
  const __m256d sign = _mm256_set1_pd(-0.0), limit = _mm256_set1_pd(bound);
  const __m256d below = _mm256_and_pd(_mm256_cmp_pd(_mm256_andnot_pd(sign, a.part[0]), limit, _CMP_LT_OQ), _mm256_cmp_pd(_mm256_andnot_pd(sign, a.part[1]), limit, _CMP_LT_OQ));
  return _mm256_movemask_pd(below) == 15;
}
#endif

/// Between the dtypes that computations use (not the narrow ones).
template <class To, class From>
TT_ALWAYS_INLINE Pack<To> converted(const Pack<From>& a) {
  using F = From;
  [[maybe_unused]] const auto lane_by_lane = [&]() TT_LAMBDA_INLINE { return map_lanes<To>([](F x) { return tt::detail::convert<To>(x); }, a); };
#if defined(__SSE2__)
  if constexpr (std::is_same_v<F, float> && std::is_same_v<To, double>) return widened(a);
  else if constexpr (std::is_same_v<F, double> && std::is_same_v<To, float>) return narrowed(a);
  else
#endif
  if constexpr (std::is_same_v<F, std::int32_t> && std::is_same_v<To, float>)
    return {{xsimd::to_float(xsimd::batch<F>(a.part[0])).data}};
#if TT_AVX512
  else if constexpr (std::is_same_v<F, float> && std::is_same_v<To, std::int32_t>) return {{_mm512_cvttps_epi32(a.part[0])}};
  else if constexpr (std::is_same_v<F, double> && std::is_same_v<To, std::int32_t>) return {{joined(_mm512_cvttpd_epi32(a.part[0]), _mm512_cvttpd_epi32(a.part[1]))}};
  else if constexpr (std::is_same_v<F, double> && std::is_same_v<To, std::int64_t>) return {{_mm512_cvttpd_epi64(a.part[0]), _mm512_cvttpd_epi64(a.part[1])}};
  else if constexpr (std::is_same_v<F, float> && std::is_same_v<To, std::int64_t>) {
    const __m512i x = _mm512_castps_si512(a.part[0]);
    return {{_mm512_cvttps_epi64(_mm256_castsi256_ps(half(x, 0))), _mm512_cvttps_epi64(_mm256_castsi256_ps(half(x, 1)))}};
  } else if constexpr (std::is_same_v<F, std::int64_t> && std::is_same_v<To, double>)
    return {{_mm512_cvtepi64_pd(a.part[0]), _mm512_cvtepi64_pd(a.part[1])}};
  else if constexpr (std::is_same_v<F, std::int64_t> && std::is_same_v<To, float>)
    return {{_mm512_castsi512_ps(joined(_mm256_castps_si256(_mm512_cvtepi64_ps(a.part[0])), _mm256_castps_si256(_mm512_cvtepi64_ps(a.part[1]))))}};
  else if constexpr (std::is_same_v<F, std::int32_t> && std::is_same_v<To, double>)
    return {{_mm512_cvtepi32_pd(half(a.part[0], 0)), _mm512_cvtepi32_pd(half(a.part[0], 1))}};
  else if constexpr (std::is_same_v<F, std::int32_t> && std::is_same_v<To, std::int64_t>)
    return {{_mm512_cvtepi32_epi64(half(a.part[0], 0)), _mm512_cvtepi32_epi64(half(a.part[0], 1))}};
  else if constexpr (std::is_same_v<F, std::int64_t> && std::is_same_v<To, std::int32_t>)
    return {{joined(_mm512_cvtepi64_epi32(a.part[0]), _mm512_cvtepi64_epi32(a.part[1]))}};
#elif defined(__AVX2__)
  else if constexpr (std::is_same_v<F, float> && std::is_same_v<To, std::int32_t>) return {{_mm256_cvttps_epi32(a.part[0])}};
  else if constexpr (std::is_same_v<F, double> && std::is_same_v<To, std::int32_t>) return {{joined(_mm256_cvttpd_epi32(a.part[0]), _mm256_cvttpd_epi32(a.part[1]))}};
  else if constexpr (std::is_same_v<F, double> && std::is_same_v<To, std::int64_t>) {
    if (!all_below(a, 0x1p51)) [[unlikely]] return lane_by_lane();
    constexpr int towards_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
    return {{to_integer(_mm256_round_pd(a.part[0], towards_zero)), to_integer(_mm256_round_pd(a.part[1], towards_zero))}};
  } else if constexpr (std::is_same_v<F, float> && std::is_same_v<To, std::int64_t>) return converted<To>(widened(a));
  else if constexpr (std::is_same_v<F, std::int64_t> && std::is_same_v<To, double>) return {{to_double(a.part[0]), to_double(a.part[1])}};
  else if constexpr (std::is_same_v<F, std::int64_t> && std::is_same_v<To, float>) {  // must be exact as doubles, else rounded twice
    const __m256i bound = _mm256_set1_epi64x(std::int64_t{1} << 52), beyond = _mm256_set1_epi64x(-(std::int64_t{1} << 53));
    const __m256i outside = _mm256_or_si256(_mm256_add_epi64(a.part[0], bound), _mm256_add_epi64(a.part[1], bound));
    if (!_mm256_testz_si256(outside, beyond)) [[unlikely]] return lane_by_lane();
    return narrowed({{to_double(a.part[0]), to_double(a.part[1])}});
  } else if constexpr (std::is_same_v<F, std::int32_t> && std::is_same_v<To, double>)
    return {{_mm256_cvtepi32_pd(half(a.part[0], 0)), _mm256_cvtepi32_pd(half(a.part[0], 1))}};
  else if constexpr (std::is_same_v<F, std::int32_t> && std::is_same_v<To, std::int64_t>)
    return {{_mm256_cvtepi32_epi64(half(a.part[0], 0)), _mm256_cvtepi32_epi64(half(a.part[0], 1))}};
  else if constexpr (std::is_same_v<F, std::int64_t> && std::is_same_v<To, std::int32_t>) {
    const __m256 lower = _mm256_shuffle_ps(_mm256_castsi256_ps(a.part[0]), _mm256_castsi256_ps(a.part[1]), 0x88);
    return {{_mm256_permute4x64_epi64(_mm256_castps_si256(lower), 0xd8)}};
  }
#endif
  else return lane_by_lane();
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
