// Loads and stores of Packs: whole, the first lanes, two runs in one, elements at a stride.
// A count that is constant where these are inlined needs neither masks nor a detour through memory.
#pragma once
#include "tt/backends/cpu/pack.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

namespace detail {

/// Prefetches the cache line `bytes` ahead; the address need not be valid. A core that waits for lines of memory one by one reads at two thirds of the speed.
TT_ALWAYS_INLINE void prefetch_ahead(const void* from, std::int64_t bytes) { __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(from) + bytes)); }

// Between narrow elements in memory and 32-bit lanes.
template <class T>
TT_ALWAYS_INLINE Pack<T> load_narrow(const T* p) {
  [[maybe_unused]] constexpr bool is_byte = sizeof(T) == 1, extends_sign = std::is_signed_v<T>;
#if TT_AVX512
  if constexpr (is_byte) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {{{extends_sign ? _mm512_cvtepi8_epi32(x) : _mm512_cvtepu8_epi32(x)}}};
  } else {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return {{{extends_sign ? _mm512_cvtepi16_epi32(x) : _mm512_cvtepu16_epi32(x)}}};
  }
#elif defined(__AVX2__)
  if constexpr (is_byte) {
    const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return {{{extends_sign ? _mm256_cvtepi8_epi32(x) : _mm256_cvtepu8_epi32(x)}}};
  } else {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {{{extends_sign ? _mm256_cvtepi16_epi32(x) : _mm256_cvtepu16_epi32(x)}}};
  }
#else
  T raw[lanes];
  std::memcpy(raw, p, sizeof raw);
  alignas(64) std::int32_t t[lanes];
  for (int i = 0; i < lanes; ++i) t[i] = Carrier<Pack<T>>::lane(raw[i]);
  return {{{xsimd::batch<std::int32_t>::load_aligned(t).data}}};
#endif
}
template <class T>
TT_ALWAYS_INLINE void store_narrow(T* p, const Pack<T>& x) {
  constexpr bool is_byte = sizeof(T) == 1;
  const auto lanes_of_x = x.lanes.part[0];
#if TT_AVX512
  if constexpr (is_byte) _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(lanes_of_x));
  else _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(lanes_of_x));
#elif defined(__AVX2__)
  const __m256i low = _mm256_and_si256(lanes_of_x, _mm256_set1_epi32(is_byte ? 0xff : 0xffff));
  const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  if constexpr (is_byte) _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  else _mm_storeu_si128(reinterpret_cast<__m128i*>(p), words);
#else
  using Bits = std::conditional_t<is_byte, std::uint8_t, std::uint16_t>;
  alignas(64) std::int32_t t[lanes];
  xsimd::batch<std::int32_t>(lanes_of_x).store_aligned(t);
  Bits raw[lanes];
  for (int i = 0; i < lanes; ++i) raw[i] = static_cast<Bits>(t[i]);
  std::memcpy(p, raw, sizeof raw);
#endif
}

}  // namespace detail

template <class T>
TT_ALWAYS_INLINE Pack<T> load(const T* p) {
  if constexpr (NarrowElement<T>) {
    return detail::load_narrow(p);
  } else {
    using Batch = typename Pack<T>::Batch;
    if constexpr (Pack<T>::parts == 1) return {{Batch::load_unaligned(p).data}};
    else return {{Batch::load_unaligned(p).data, Batch::load_unaligned(p + Pack<T>::per_part).data}};
  }
}
template <>
TT_ALWAYS_INLINE Pack<bool> load<bool>(const bool* p) {
#if TT_AVX512
  __m128i bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return {{xsimd::batch_bool<float>(_mm_test_epi8_mask(bytes, bytes))}};
#elif defined(__AVX2__)  // xsimd 8.1 loads and stores lane by lane: a comparison of a tile took longer than its exp
  const __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  return {{xsimd::batch_bool<float>(_mm256_castsi256_ps(_mm256_cmpgt_epi32(wide, _mm256_setzero_si256())))}};
#elif defined(__SSE2__) && !defined(__AVX__)
  int bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  const __m128i zero = _mm_setzero_si128(), wide = _mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), zero), zero);
  return {{xsimd::batch_bool<float>(_mm_castsi128_ps(_mm_cmpgt_epi32(wide, zero)))}};
#else
  unsigned char bytes[lanes];  // lanes beyond the end may hold anything
  std::memcpy(bytes, p, sizeof bytes);
  bool b[lanes];
  for (int i = 0; i < lanes; ++i) b[i] = bytes[i] != 0;
  return {{xsimd::batch_bool<float>::load_unaligned(b)}};
#endif
}
template <class T>
TT_ALWAYS_INLINE void store(T* p, const Pack<T>& x) {
  if constexpr (NarrowElement<T>) {
    detail::store_narrow(p, x);
  } else {
    using Batch = typename Pack<T>::Batch;
    Batch(x.part[0]).store_unaligned(p);
    if constexpr (Pack<T>::parts == 2) Batch(x.part[1]).store_unaligned(p + Pack<T>::per_part);
  }
}
template <>
TT_ALWAYS_INLINE void store<bool>(bool* p, const Pack<bool>& x) {
#if TT_AVX512
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_maskz_set1_epi8(x.mask.value.data, 1));
#elif defined(__AVX2__)
  const __m256i m = _mm256_castps_si256(x.mask.value);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1)));
#elif defined(__SSE2__) && !defined(__AVX__)
  const __m128i words = _mm_packs_epi32(_mm_castps_si128(x.mask.value), _mm_setzero_si128());
  const int bytes = _mm_cvtsi128_si32(_mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1)));
  std::memcpy(p, &bytes, sizeof bytes);
#else
  x.mask.value.store_unaligned(p);
#endif
}
#if defined(__AVX2__) && !TT_AVX512
/// Four masks at once, in a third of the time of four stores.
TT_ALWAYS_INLINE void store_masks(bool* p, PackMask a, PackMask b, PackMask c, PackMask d) {
  const auto words = [](PackMask x, PackMask y) TT_LAMBDA_INLINE { return _mm256_packs_epi32(_mm256_castps_si256(x.value), _mm256_castps_si256(y.value)); };
  const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(words(a, b), words(c, d)), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_and_si256(bytes, _mm256_set1_epi8(1)));
}
#endif
namespace detail {

template <class T, int Part, std::size_t... I>
TT_ALWAYS_INLINE typename Pack<T>::Register gather_part(const T* p, std::int64_t stride, int n, std::index_sequence<I...>) {
  using Lane = typename VectorOf<T>::Lane;
  constexpr int first = Part * Pack<T>::per_part;
  return (typename Pack<T>::Register)typename VectorOf<T>::Type{
      (first + static_cast<int>(I) < n ? static_cast<Lane>(p[(first + static_cast<int>(I)) * stride]) : Lane(0))...};
}
/// n elements assembled in registers, for an n that is constant where this is inlined: a load of memory that was just stored in parts
/// stalls until all of them are written.
template <class T>
TT_ALWAYS_INLINE Pack<T> gather(const T* p, std::int64_t stride, int n) {
  using Is = std::make_index_sequence<Pack<T>::per_part>;
  if constexpr (Pack<T>::parts == 1) return {{gather_part<T, 0>(p, stride, n, Is{})}};
  else return {{gather_part<T, 0>(p, stride, n, Is{}), gather_part<T, 1>(p, stride, n, Is{})}};
}

#if defined(__SSE2__)
// Stores the first n lanes in as many parts as n has bits, for an n that is constant where this is inlined and smaller than the
// vector: a masked store takes as long as eight others on Zen 5.
TT_ALWAYS_INLINE void store_parts(char* p, __m128 x, int n) {
  if (n & 2) {
    const double two = _mm_cvtsd_f64(_mm_castps_pd(x));
    std::memcpy(p, &two, 8);
    p += 8;
    x = _mm_movehl_ps(x, x);
  }
  if (n & 1) {
    const float one = _mm_cvtss_f32(x);
    std::memcpy(p, &one, 4);
  }
}
#if defined(__AVX__)
TT_ALWAYS_INLINE void store_parts(char* p, __m256 x, int n) {
  __m128 half = _mm256_castps256_ps128(x);
  if (n & 4) {
    std::memcpy(p, &half, 16);
    p += 16;
    half = _mm256_extractf128_ps(x, 1);
  }
  store_parts(p, half, n & 3);
}
#endif
#if TT_AVX512
TT_ALWAYS_INLINE void store_parts(char* p, __m512 x, int n) {
  __m256 half = _mm512_castps512_ps256(x);
  if (n & 8) {
    std::memcpy(p, &half, 32);
    p += 32;
    half = _mm512_extractf32x8_ps(x, 1);
  }
  store_parts(p, half, n & 7);
}
#endif
#endif

}  // namespace detail

/// The first n elements; the other lanes are zero and their memory is not touched.
template <class T>
TT_ALWAYS_INLINE Pack<T> load_first(const T* p, int n) {
  if constexpr (sizeof(T) == 4)  // as narrow as possible: a wide load would wait for a recent store behind these n
    if (__builtin_constant_p(n) && n <= 8) {
      [[maybe_unused]] const float* from = reinterpret_cast<const float*>(p);
      using R [[maybe_unused]] = typename Pack<T>::Register;
#if TT_AVX512
      const __mmask8 few = static_cast<__mmask8>((1u << n) - 1);
      if (n == 4) return {{(R)_mm512_zextps128_ps512(_mm_loadu_ps(from))}};
      if (n < 4) return {{(R)_mm512_zextps128_ps512(_mm_maskz_loadu_ps(few, from))}};
      if (n == 8) return {{(R)_mm512_zextps256_ps512(_mm256_loadu_ps(from))}};
      return {{(R)_mm512_zextps256_ps512(_mm256_maskz_loadu_ps(few, from))}};
#elif defined(__AVX__)
      alignas(32) static constexpr std::int32_t few[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
      const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(few + 8 - n));
      if (n == 4) return {{(R)_mm256_zextps128_ps256(_mm_loadu_ps(from))}};
      if (n > 1 && n < 4) return {{(R)_mm256_zextps128_ps256(_mm_maskload_ps(from, _mm256_castsi256_si128(mask)))}};
      if (n > 4 && n < 8) return {{(R)_mm256_maskload_ps(from, mask)}};
#endif
    }
#if TT_AVX512
  const unsigned m = (1u << n) - 1;
  if constexpr (std::is_same_v<T, float>)
    return {{_mm512_maskz_loadu_ps(static_cast<__mmask16>(m), p)}};
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return {{_mm512_maskz_loadu_epi32(static_cast<__mmask16>(m), p)}};
  else if constexpr (std::is_same_v<T, double>) {
    const __m512d low = _mm512_maskz_loadu_pd(static_cast<__mmask8>(m), p);
    if (__builtin_constant_p(n) && n <= 8) return {{low, _mm512_setzero_pd()}};
    return {{low, _mm512_maskz_loadu_pd(static_cast<__mmask8>(m >> 8), p + 8)}};
  }
#endif
  if constexpr (!std::is_same_v<T, bool> && !NarrowElement<T>)
    if (__builtin_constant_p(n)) return detail::gather(p, 1, n);
  alignas(64) T t[lanes] = {};
  std::memcpy(t, p, sizeof(T) * static_cast<std::size_t>(n));  // clang 19 mixes up typed copies
  return load(t);
}
/// `left` elements from p on, then those from q on: `count` in all.
template <class T>
TT_ALWAYS_INLINE Pack<T> load_two(const T* p, const T* q, int left, int count) {
  if (left >= count) return load_first(p, count);
#if TT_AVX512
  [[maybe_unused]] const unsigned low = (1u << left) - 1, high = ((1u << count) - 1) & ~low;
  if constexpr (std::is_same_v<T, float>)
    return {{_mm512_mask_loadu_ps(_mm512_maskz_loadu_ps(static_cast<__mmask16>(low), p), static_cast<__mmask16>(high),
                                  q - left)}};
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return {{_mm512_mask_loadu_epi32(_mm512_maskz_loadu_epi32(static_cast<__mmask16>(low), p),
                                     static_cast<__mmask16>(high), q - left)}};
#endif
  alignas(64) T t[lanes] = {};
  std::memcpy(t, p, sizeof(T) * static_cast<std::size_t>(left));
  std::memcpy(t + left, q, sizeof(T) * static_cast<std::size_t>(count - left));
  return load(t);
}
template <class T>
TT_ALWAYS_INLINE void store_first(T* p, const Pack<T>& x, int n) {
#if defined(__SSE2__)
  if constexpr (sizeof(T) == 4)
    if (__builtin_constant_p(n) && n < lanes)
      return detail::store_parts(reinterpret_cast<char*>(p), (typename Pack<float>::Register)x.part[0], n);
#endif
#if TT_AVX512
  const unsigned m = (1u << n) - 1;
  if constexpr (std::is_same_v<T, float>) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>(m), x.part[0]);
    return;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(m), x.part[0]);
    return;
  }
#endif
  alignas(64) T t[lanes];
  store(t, x);
  std::memcpy(p, t, sizeof(T) * static_cast<std::size_t>(n));
}
/// n elements `stride` apart; the other lanes are zero.
template <class T>
TT_ALWAYS_INLINE Pack<T> load_strided(const T* p, std::int64_t stride, int n) {
  if constexpr (!std::is_same_v<T, bool> && !NarrowElement<T>)
    if (__builtin_constant_p(n)) return detail::gather(p, stride, n);
  alignas(64) T t[lanes] = {};
  for (int i = 0; i < n; ++i) std::memcpy(t + i, p + i * stride, sizeof(T));
  return load(t);
}
template <class T>
TT_ALWAYS_INLINE void store_strided(T* p, std::int64_t stride, const Pack<T>& x, int n) {
  alignas(64) T t[lanes];
  store(t, x);
  for (int i = 0; i < n; ++i) std::memcpy(p + i * stride, t + i, sizeof(T));
}
template <class T>
TT_ALWAYS_INLINE T first_lane(const Pack<T>& x) {
  alignas(64) T t[lanes];
  store(t, x);
  return t[0];
}
/// Lanes 0 .. n-1.
TT_ALWAYS_INLINE PackMask first_lanes(int n) {
#if TT_AVX512
  return {xsimd::batch_bool<float>(static_cast<__mmask16>((1u << n) - 1))};
#else
  alignas(64) static constexpr float index[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};
  return {xsimd::batch<float>::load_aligned(index) < xsimd::batch<float>(static_cast<float>(n))};
#endif
}
/// start, start + step, start + 2 step, ...
template <class T>
TT_ALWAYS_INLINE Pack<T> iota(std::int64_t start, std::int64_t step) {
  alignas(64) T t[lanes];
  for (int i = 0; i < lanes; ++i) t[i] = static_cast<T>(start + i * step);
  return load(t);
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
