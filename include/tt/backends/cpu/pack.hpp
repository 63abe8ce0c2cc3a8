// Pack<T>: one SIMD step of a kernel, the same number of elements for every dtype of a loop (as many as a vector of floats has;
// 64-bit types take two registers). PackMask: one bool a lane. Carrier<Pack<T>> gives op bodies the primitives, with the bits of
// Carrier<T> in every lane.
#pragma once
#include "tt/backends/cpu/pack_convert.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {
namespace detail {

template <class T>
TT_ALWAYS_INLINE xsimd::batch_bool<T> mask_part(PackMask m, int k) {
  if constexpr (std::is_same_v<T, float>) {
    return m.value;
  } else {
#if TT_AVX512
    return xsimd::batch_bool<T>(static_cast<typename xsimd::batch_bool<T>::register_type>(
        static_cast<unsigned>(m.value.data) >> (k * Pack<T>::per_part)));
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) return _mm256_castps_si256(m.value);
    else {
      const __m256 wide = _mm256_castsi256_ps(
          _mm256_permute4x64_epi64(_mm256_castps_si256(m.value), 0xd8));
      const __m256 half = k ? _mm256_unpackhi_ps(wide, wide) : _mm256_unpacklo_ps(wide, wide);
      if constexpr (std::is_same_v<T, double>) return _mm256_castps_pd(half);
      else return _mm256_castps_si256(half);
    }
#elif defined(__SSE2__) && !defined(__AVX__)
    if constexpr (sizeof(T) == 4) return _mm_castps_si128(m.value);
    else {
      const __m128 half = k ? _mm_unpackhi_ps(m.value, m.value) : _mm_unpacklo_ps(m.value, m.value);
      if constexpr (std::is_same_v<T, double>) return _mm_castps_pd(half);
      else return _mm_castps_si128(half);
    }
#else
    bool b[lanes];
    m.value.store_unaligned(b);
    return xsimd::batch_bool<T>::load_unaligned(b + k * Pack<T>::per_part);
#endif
  }
}

template <class T>
TT_ALWAYS_INLINE PackMask join_mask(const xsimd::batch_bool<T>* part) {
  if constexpr (std::is_same_v<T, float>) {
    return {part[0]};
  } else {
#if TT_AVX512
    unsigned bits = 0;
    for (int k = 0; k < Pack<T>::parts; ++k)
      bits |= static_cast<unsigned>(part[k].data) << (k * Pack<T>::per_part);
    return {xsimd::batch_bool<float>(static_cast<__mmask16>(bits))};
#elif defined(__AVX2__)
    const auto as_float = [](auto reg) {
      if constexpr (std::is_same_v<T, double>) return _mm256_castpd_ps(reg);
      else return _mm256_castsi256_ps(reg);
    };
    if constexpr (sizeof(T) == 4) return {xsimd::batch_bool<float>(as_float(part[0].data))};
    else {
      const __m256 both = _mm256_shuffle_ps(as_float(part[0].data), as_float(part[1].data), 0x88);
      return {xsimd::batch_bool<float>(_mm256_castsi256_ps(
          _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xd8)))};
    }
#elif defined(__SSE2__) && !defined(__AVX__)
    const auto as_float = [](auto reg) {
      if constexpr (std::is_same_v<T, double>) return _mm_castpd_ps(reg);
      else return _mm_castsi128_ps(reg);
    };
    if constexpr (sizeof(T) == 4) return {xsimd::batch_bool<float>(as_float(part[0].data))};
    else return {xsimd::batch_bool<float>(
             _mm_shuffle_ps(as_float(part[0].data), as_float(part[1].data), 0x88))};
#else
    bool b[lanes];
    for (int k = 0; k < Pack<T>::parts; ++k) part[k].store_unaligned(b + k * Pack<T>::per_part);
    return {xsimd::batch_bool<float>::load_unaligned(b)};
#endif
  }
}

}  // namespace detail

}  // namespace TT_ISA
}  // namespace tt::cpu

namespace tt {

template <class T>
struct Carrier<cpu::Pack<T>> {
  using Scalar = T;
  using R = cpu::Pack<T>;
  using Batch = typename R::Batch;
  using Mask = cpu::PackMask;
  template <class U>
  using Rebind = cpu::Pack<U>;

  using Register = typename R::Register;
  using Vector = cpu::detail::VectorOf<T>;

  static TT_ALWAYS_INLINE Register splat_part(T x) {
    return Vector::splat(static_cast<typename Vector::Lane>(x), std::make_index_sequence<R::per_part>{});
  }
  static TT_ALWAYS_INLINE R splat(T x) {
    if constexpr (R::parts == 1) return {{splat_part(x)}};
    else return {{splat_part(x), splat_part(x)}};
  }
  template <Op K>
  static TT_ALWAYS_INLINE R apply(const R& a) { return apply<K>(a, a, a); }
  template <Op K>
  static TT_ALWAYS_INLINE R apply(const R& a, const R& b) { return apply<K>(a, b, b); }
  template <Op K>
  static TT_ALWAYS_INLINE R apply(const R& a, const R& b, const R& c, int n = 0) {
    if constexpr (!simd<K>())
      return cpu::detail::map_lanes<T>(
          [n](T x, T y, T z) { return Carrier<T>::template apply<K>(x, y, z, n); }, a, b, c);
    else if constexpr (R::parts == 1) return {{one<K>(a.part[0], b.part[0], c.part[0], n)}};
    else return {{one<K>(a.part[0], b.part[0], c.part[0], n), one<K>(a.part[1], b.part[1], c.part[1], n)}};
  }
  /// The ops for which vectors and xsimd 8.1 give the right bits; others go lane by lane.
  template <Op K>
  static constexpr bool simd() {
    if constexpr (std::is_floating_point_v<T>)
      return K <= Op::trunc;
    else
      return K == Op::add || K == Op::sub || K == Op::mul || K == Op::neg || is_bitwise(K);
  }
  template <Op K>
  static TT_ALWAYS_INLINE Register one(Register a, Register b, Register c, int n) {
    using V = typename Vector::Type;
    using U = typename Vector::BitsType;
    constexpr bool is_float = std::is_floating_point_v<T>;
    if constexpr (K == Op::add) return (Register)((V)a + (V)b);
    else if constexpr (K == Op::sub) return (Register)((V)a - (V)b);
    else if constexpr (K == Op::mul && is_float) return tt::detail::rounded((Register)((V)a * (V)b));
    else if constexpr (K == Op::mul) return (Register)((V)a * (V)b);
    else if constexpr (K == Op::div) return tt::detail::rounded((Register)((V)a / (V)b));
#if TT_AVX512  // where a is NaN the result is a
    else if constexpr (K == Op::max && std::is_same_v<T, float>)
      return _mm512_mask_max_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a, b);
    else if constexpr (K == Op::min && std::is_same_v<T, float>)
      return _mm512_mask_min_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a, b);
#endif
    else if constexpr (K == Op::max || K == Op::min) return extreme<K>(Batch(a), Batch(b));
    else if constexpr (K == Op::fma) {
#if !TT_HAS_FMA
      return (Register)((V)tt::detail::rounded((Register)((V)a * (V)b)) + (V)c);
#elif TT_AVX512  // xsimd 8.1 uses a multiplication and an addition here
      if constexpr (std::is_same_v<T, float>) return _mm512_fmadd_ps(a, b, c);
      else return _mm512_fmadd_pd(a, b, c);
#else
      return xsimd::fma(Batch(a), Batch(b), Batch(c)).data;
#endif
    }
    else if constexpr (K == Op::neg && is_float) return (Register)((U)a ^ (U)splat_part(T(-0.0)));
    else if constexpr (K == Op::neg) return (Register)(-(V)a);
    else if constexpr (K == Op::abs) return (Register)((U)a & ~(U)splat_part(T(-0.0)));
    else if constexpr (K == Op::sqrt) return xsimd::sqrt(Batch(a)).data;
#if defined(__SSE2__) && !defined(__SSE4_1__)
    else if constexpr (is_rounding(K)) return whole_number<K>((V)a);
#endif
    else if constexpr (K == Op::floor) return xsimd::floor(Batch(a)).data;
    else if constexpr (K == Op::ceil) return xsimd::ceil(Batch(a)).data;
    else if constexpr (K == Op::round) return xsimd::nearbyint(Batch(a)).data;
    else if constexpr (K == Op::trunc) return xsimd::trunc(Batch(a)).data;
    else if constexpr (K == Op::bit_and) return (Register)((U)a & (U)b);
    else if constexpr (K == Op::bit_or) return (Register)((U)a | (U)b);
    else if constexpr (K == Op::bit_xor) return (Register)((U)a ^ (U)b);
    else if constexpr (K == Op::shift_left) return (Register)((U)a << n);
    else if constexpr (K == Op::shift_right) return (Register)((typename Vector::SignedType)a >> n);
    else if constexpr (K == Op::shift_right_logical) return (Register)((U)a >> n);
    else return a;
  }
#if defined(__SSE2__) && !defined(__SSE4_1__)
  static constexpr bool is_rounding(Op k) { return k == Op::floor || k == Op::ceil || k == Op::round || k == Op::trunc; }
  /// SSE2 has no rounding instruction, and xsimd 8.1 gives 0 for -0: adding 2^23 (2^52 for f64) leaves no bits of the fraction.
  /// Larger numbers have no fraction.
  template <Op K>
  static TT_ALWAYS_INLINE Register whole_number(typename Vector::Type x) {
    using V = typename Vector::Type;
    using U = typename Vector::BitsType;
    const U sign_bit = (U)splat_part(T(-0.0)), sign = (U)x & sign_bit, one = (U)splat_part(T(1));
    const V magnitude = (V)((U)x & ~sign_bit), large = (V)splat_part(sizeof(T) == 4 ? T(0x1p23) : T(0x1p52));
    V r = (magnitude + large) - large;
    if constexpr (K == Op::trunc) r -= (V)((U)(r > magnitude) & one);
    r = (V)((U)r | sign);
    if constexpr (K == Op::floor) r -= (V)((U)(r > x) & one);
    if constexpr (K == Op::ceil) r += (V)((U)(r < x) & one);
    const U small = (U)(magnitude < large);
    return (Register)((((U)r | sign) & small) | ((U)x & ~small));
  }
#endif
  template <Op K>
  static TT_ALWAYS_INLINE Register extreme(const Batch& a, const Batch& b) {
    if constexpr (K == Op::max) return xsimd::select(!(a == a), a, xsimd::max(a, b)).data;
    else return xsimd::select(!(a == a), a, xsimd::min(a, b)).data;
  }
  template <Op K>
  static TT_ALWAYS_INLINE Mask compare(const R& a, const R& b) {
    if constexpr (R::parts == 1) {
      const xsimd::batch_bool<T> part[] = {compare<K>(Batch(a.part[0]), Batch(b.part[0]))};
      return cpu::detail::join_mask<T>(part);
    } else {
      const xsimd::batch_bool<T> part[] = {compare<K>(Batch(a.part[0]), Batch(b.part[0])),
                                             compare<K>(Batch(a.part[1]), Batch(b.part[1]))};
      return cpu::detail::join_mask<T>(part);
    }
  }
  template <Op K>
  static TT_ALWAYS_INLINE xsimd::batch_bool<T> compare(const Batch& a, const Batch& b) {
    if constexpr (K == Op::lt) return a < b;
    else if constexpr (K == Op::le) return a <= b;
    else if constexpr (K == Op::eq) return a == b;
    else return !(a == b);
  }
  template <Op K>
  static TT_ALWAYS_INLINE Mask logical(Mask a, Mask b) {
    if constexpr (K == Op::logical_and) return {a.value & b.value};
    else if constexpr (K == Op::logical_or) return {a.value | b.value};
    else return {!a.value};
  }
  /// x86 min and max give their second operand when one is NaN.
  static TT_ALWAYS_INLINE R within(const R& x, T low, T high) {
    const Batch l(splat_part(low)), h(splat_part(high));
    if constexpr (R::parts == 1) return {{within(Batch(x.part[0]), l, h)}};
    else return {{within(Batch(x.part[0]), l, h), within(Batch(x.part[1]), l, h)}};
  }
  static TT_ALWAYS_INLINE Register within(const Batch& x, const Batch& low, const Batch& high) {
#if defined(__SSE2__)
    return xsimd::min(high, xsimd::max(low, x)).data;
#else
    const Batch y = xsimd::select(x < low, low, x);
    return xsimd::select(y > high, high, y).data;
#endif
  }
  static TT_ALWAYS_INLINE R select(Mask m, const R& a, const R& b) {
    if constexpr (R::parts == 1) return {{select(m, 0, a, b)}};
    else return {{select(m, 0, a, b), select(m, 1, a, b)}};
  }
  static TT_ALWAYS_INLINE bool all(Mask m) { return xsimd::all(m.value); }
#if defined(__AVX2__) || (defined(__SSE2__) && !defined(__AVX__))
  /// The product of the lower halves, which are unsigned: a third of the time of a 64-bit product.
  static TT_ALWAYS_INLINE R product_of_halves(const R& a, const R& b) requires(std::is_same_v<T, std::int64_t>) {
    const auto product = [](Register x, Register y) TT_LAMBDA_INLINE -> Register {
#if TT_AVX512
      return _mm512_mul_epu32(x, y);
#elif defined(__AVX2__)
      return _mm256_mul_epu32(x, y);
#else
      return _mm_mul_epu32(x, y);
#endif
    };
    return {{product(a.part[0], b.part[0]), product(a.part[1], b.part[1])}};
  }
#endif
  static TT_ALWAYS_INLINE Register select(Mask m, int k, const R& a, const R& b) {
    return xsimd::select(cpu::detail::mask_part<T>(m, k), Batch(a.part[k]), Batch(b.part[k])).data;
  }
  template <class To>
  static TT_ALWAYS_INLINE cpu::Pack<To> cast(const R& a) {
    if constexpr (std::is_same_v<To, T>) {
      return a;
#if defined(__F16C__) && defined(__AVX2__)  // the same values as the code below
    } else if constexpr (std::is_same_v<To, float16>) {
      const auto x = cast<float>(a).part[0];
#if TT_AVX512
      return {{_mm512_cvtepu16_epi32(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))}};
#else
      return {{_mm256_cvtepu16_epi32(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))}};
#endif
#endif
    } else if constexpr (NarrowElement<To>) {
      return {tt::detail::NarrowLanes<To>::template from<tt::detail::OpLanes>(Num(cast<compute_t<To>>(a))).value};
    } else if constexpr (std::is_same_v<To, bool>) {
      return {compare<Op::ne>(a, splat(T(0)))};
    } else {
      return cpu::detail::converted<To>(a);
    }
  }
  template <class To>
  static TT_ALWAYS_INLINE cpu::Pack<To> bitcast(const R& a) {
    using Other = typename cpu::Pack<To>::Register;
    if constexpr (R::parts == 1) return {{(Other)a.part[0]}};
    else return {{(Other)a.part[0], (Other)a.part[1]}};
  }
};

template <>
struct Carrier<cpu::Pack<bool>> {
  using Scalar = bool;
  using R = cpu::Pack<bool>;
  using Mask = cpu::PackMask;
  template <class U>
  using Rebind = cpu::Pack<U>;

  static TT_ALWAYS_INLINE R splat(bool x) { return {{xsimd::batch_bool<float>(x)}}; }
  template <Op K>
  static TT_ALWAYS_INLINE Mask logical(Mask a, Mask b) {
    return Carrier<cpu::Pack<float>>::template logical<K>(a, b);
  }
  template <Op K>
  static TT_ALWAYS_INLINE Mask compare(const R& a, const R& b) {
    const auto x = a.mask.value, y = b.mask.value;
    if constexpr (K == Op::lt) return {(!x) & y};
    else if constexpr (K == Op::le) return {(!x) | y};
    else if constexpr (K == Op::eq) return {(x & y) | ((!x) & (!y))};
    else return {(x & (!y)) | ((!x) & y)};
  }
  static TT_ALWAYS_INLINE R select(Mask m, const R& a, const R& b) {
    return {{(m.value & a.mask.value) | ((!m.value) & b.mask.value)}};
  }
  template <class To>
  static TT_ALWAYS_INLINE cpu::Pack<To> cast(const R& a) {
    if constexpr (std::is_same_v<To, bool>) return a;
    else if constexpr (NarrowElement<To>) return Carrier<cpu::Pack<compute_t<To>>>::template cast<To>(cast<compute_t<To>>(a));
    else return Carrier<cpu::Pack<To>>::select(a.mask, Carrier<cpu::Pack<To>>::splat(To(1)),
                                               Carrier<cpu::Pack<To>>::splat(To(0)));
  }
};

template <NarrowElement T>
struct Carrier<cpu::Pack<T>> {
  using Scalar = T;
  using R = cpu::Pack<T>;
  using Mask = cpu::PackMask;
  template <class U>
  using Rebind = cpu::Pack<U>;
  using Lanes = Carrier<cpu::Pack<std::int32_t>>;

  static TT_ALWAYS_INLINE std::int32_t lane(T x) {
    if constexpr (std::is_integral_v<T>) return x;
    else return x.bits;
  }
  static TT_ALWAYS_INLINE R splat(T x) { return {Lanes::splat(lane(x))}; }
  static TT_ALWAYS_INLINE R select(Mask m, const R& a, const R& b) { return {Lanes::select(m, a.lanes, b.lanes)}; }
  template <class To>
  static TT_ALWAYS_INLINE cpu::Pack<To> cast(const R& a) {
    if constexpr (std::is_same_v<To, T>) return a;
#if defined(__F16C__) && defined(__AVX2__)
    else if constexpr (std::is_same_v<T, float16>) {
#if TT_AVX512
      return Carrier<cpu::Pack<float>>::cast<To>({{_mm512_cvtph_ps(_mm512_cvtepi32_epi16(a.lanes.part[0]))}});
#else
      const __m256i x = a.lanes.part[0];
      return Carrier<cpu::Pack<float>>::cast<To>({{_mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)))}});
#endif
    }
#endif
    else return Carrier<cpu::Pack<compute_t<T>>>::template cast<To>(tt::detail::NarrowLanes<T>::template to<tt::detail::OpLanes>(Num(a.lanes)).value);
  }
};

}  // namespace tt

TT_KERNELS_END
