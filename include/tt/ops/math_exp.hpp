// exp and its relatives: polynomials over fma and bit operations, so that every path gives the same
// bits. Range reduction by Cody and Waite: x = n ln2 + r with |r| <= ln2 / 2, the high part of ln2
// so short that n times it is exact; then 2^n is put together from exponent bits.
// Coefficients are minimax ones (Sollya's fpminimax) unless a comment says otherwise.
#pragma once
#include <limits>

#include "tt/ops/primitive.hpp"

namespace tt {

namespace detail {

/// where(often, quick(), full()), but kernels leave out full() where `often` holds for all their elements.
template <class M>
TT_ALWAYS_INLINE constexpr auto where_often(M often, auto quick, auto full) {
  if constexpr (requires { typename M::Raw; })
    if (Carrier<typename M::Raw>::all(often.value)) return quick();
  return where(often, quick(), full());
}

/// first x^n + second x^(n-1) + ... + last, by Horner's rule.
template <class X, class... C>
TT_ALWAYS_INLINE constexpr auto horner(X x, auto first, auto second, C... rest) {
  auto p = fma(x, first, second);
  ((p = fma(p, x, rest)), ...);
  return p;
}

/// 2^k for integers k within the exponents of T.
template <class T>
TT_ALWAYS_INLINE constexpr auto power_of_two(auto k) {
  if constexpr (sizeof(T) == 4) return bitcast<float>((k + 127) << 23);
  else return bitcast<double>((k + 1023) << 52);
}

/// |x| with the sign bit of `sign`.
template <class T>
TT_ALWAYS_INLINE constexpr auto copy_sign(auto x, auto sign) {
  using I = typename same_size_integer<T>::type;
  constexpr I sign_bit = std::numeric_limits<I>::min();
  return bitcast<T>(bitcast<I>(abs(x)) | (bitcast<I>(sign) & sign_bit));
}

/// x between two constants; NaN stays. One min and one max on SIMD.
template <class T>
TT_ALWAYS_INLINE constexpr auto within(auto x, T low, T high) {
  if constexpr (requires { x.value; }) {
    using X = decltype(x);
    return X(X::C::within(x.value, low, high));
  } else {
    const auto y = where(x < low, low, x);
    return where(y > high, high, y);
  }
}
/// y, negated where `sign` is negative.
template <class T>
TT_ALWAYS_INLINE constexpr auto flip_sign(auto y, auto sign) {
  using I = typename same_size_integer<T>::type;
  constexpr I sign_bit = std::numeric_limits<I>::min();
  return bitcast<T>(bitcast<I>(y) ^ (bitcast<I>(sign) & sign_bit));
}

/// An integer, as a float and as an integer.
template <class R, class I>
struct NearestInteger {
  R value;
  I integer;
};
/// x scale, rounded to the nearest integer. The result must stay below 2^22 in f32, 2^51 in f64.
template <class T>
TT_ALWAYS_INLINE constexpr auto nearest_integer(auto x, T scale = 1) {
  constexpr T shift = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);  // moves the integer into the low bits
  const auto t = fma(x, scale, shift);
  if constexpr (sizeof(T) == 4)
    return NearestInteger{t - shift, bitcast<std::int32_t>(t) - 0x4b400000};
  else return NearestInteger{t - shift, bitcast<std::int64_t>(t) - 0x4338000000000000};
}

/// x = k ln2 + r, |r| <= ln2 / 2; r = high + low.
template <class R, class I>
struct ExpReduced {
  R r, high, low;
  I k;
};
template <class T>
TT_ALWAYS_INLINE constexpr auto reduce_by_ln2(auto x) {
  constexpr T high = sizeof(T) == 4 ? T(0x1.62e4p-1) : T(0x1.62e42feep-1);
  constexpr T low = sizeof(T) == 4 ? T(0x1.7f7d1cp-20) : T(0x1.a39ef35793c76p-33);
  const auto n = nearest_integer<T>(x, T(0x1.71547652b82fep+0));
  const auto r_high = fma(n.value, -high, x);
  return ExpReduced{fma(n.value, -low, r_high), r_high, n.value * -low, n.integer};
}

/// (e^r - 1 - r) / r^2 for |r| <= ln2 / 2.
template <class T>
TT_ALWAYS_INLINE constexpr auto exp_tail(auto r) {
  if constexpr (sizeof(T) == 4) {
    return horner(r, 0x1.6d541cp-10f, 0x1.12107ap-7f, 0x1.5554e4p-5f, 0x1.5554d8p-3f, 0.5f);
  } else {
    return horner(r, 0x1.7ed3fed00804fp-33, 0x1.1f7afcf2ebf36p-29, 0x1.ae4f213a95883p-26,
                  0x1.27e4d718d301cp-22, 0x1.71de4006221afp-19, 0x1.a01a01a864412p-16,
                  0x1.a01a019eb5e77p-13, 0x1.6c16c16c15f8cp-10, 0x1.1111111111373p-7,
                  0x1.5555555555556p-5, 0x1.5555555555555p-3, 0.5);
  }
}

/// 2^r - 1 for |r| <= 1/2.
template <class T>
TT_ALWAYS_INLINE constexpr auto exp2_m1(auto r) {
  if constexpr (sizeof(T) == 4) {
    return r * horner(r, 0x1.442776p-13f, 0x1.5ef75ap-10f, 0x1.3b2a46p-7f, 0x1.c6af9ap-5f,
                      0x1.ebfbep-3f, 0x1.62e43p-1f);
  } else {
    return r * horner(r, 0x1.be0757f679635p-36, 0x1.ec4b7d3c70f89p-32, 0x1.e4d3f72e75351p-28,
                      0x1.b52348c119fa5p-24, 0x1.62c020e8614cp-20, 0x1.ffcbfd3fee39ap-17,
                      0x1.430912f8c26d6p-13, 0x1.5d87fe7875d0cp-10, 0x1.3b2ab6fba4d47p-7,
                      0x1.c6b08d704a1cfp-5, 0x1.ebfbdff82c58fp-3, 0x1.62e42fefa39efp-1);
  }
}

/// (1 + p) 2^k, in two steps so that a denormal result is right.
template <class T>
TT_ALWAYS_INLINE constexpr auto scale_exp(auto p, auto k) {
  const auto half = k >> 1;
  const auto s = power_of_two<T>(half), u = power_of_two<T>(k - half);
  return fma(p, s, s) * u;
}

/// e^x where it is neither infinite nor denormal: without Exp's clamp and its two steps of scaling.
template <class T>
TT_ALWAYS_INLINE constexpr auto exp_in_range(auto x) {
  const auto reduced = reduce_by_ln2<T>(x);
  const auto scale = power_of_two<T>(reduced.k);
  return fma(fma(reduced.r * reduced.r, exp_tail<T>(reduced.r), reduced.r), scale, scale);
}

}  // namespace detail

/// e^x.
struct Exp {
  static constexpr OpInfo info{
      .name = "exp", .max_ulp = 1.25f, .max_ulp_f64 = 1.25f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    constexpr T above = sizeof(T) == 4 ? T(89) : T(710);
    constexpr T below = sizeof(T) == 4 ? T(-176.06) : T(-1418.2);  // both steps scale by 0: a product that rounds to 0 would take a hundred times as long
    const auto reduced =
        detail::reduce_by_ln2<T>(detail::within(x, below, above));
    const auto r = reduced.r;
    return detail::scale_exp<T>(fma(r * r, detail::exp_tail<T>(r), r), reduced.k);
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * y; }
};
/// e^x, elementwise. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Exp, A> exp(A&& a, SourceLine at = here()) {
  return call<Exp>(at, static_cast<A&&>(a));
}

/// 2^x. Exact for integers.
struct Exp2 {
  static constexpr OpInfo info{
      .name = "exp2", .max_ulp = 1.25f, .max_ulp_f64 = 1.25f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    constexpr T above = sizeof(T) == 4 ? T(129) : T(1025);
    constexpr T below = sizeof(T) == 4 ? T(-254) : T(-2046);  // as in Exp
    const auto y = detail::within(x, below, above);
    const auto nearest = detail::nearest_integer<T>(y);
    return detail::scale_exp<T>(detail::exp2_m1<T>(y - nearest.value), nearest.integer);
  }
  static constexpr auto derivative(auto, auto y, auto grad) {
    return grad * (y * 0.69314718055994530942);
  }
};
/// 2^x, elementwise. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Exp2, A> exp2(A&& a, SourceLine at = here()) {
  return call<Exp2>(at, static_cast<A&&>(a));
}

/// e^x - 1 without cancellation near 0.
struct Expm1 {
  static constexpr OpInfo info{
      .name = "expm1", .max_ulp = 1.5f, .max_ulp_f64 = 1.5f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    constexpr T above = sizeof(T) == 4 ? T(89) : T(710), below = sizeof(T) == 4 ? T(-18) : T(-40);
    const auto reduced =
        detail::reduce_by_ln2<T>(detail::within(x, below, above));
    const auto r = reduced.r;
    const auto rest = fma(r * r, detail::exp_tail<T>(r), reduced.low);
    const auto s = detail::power_of_two<T>(reduced.k - 1);  // half: 2^k itself may overflow
    const auto y = fma(s, rest, fma(s, reduced.high, s - T(0.5)));
    return where(abs(x) < T(0x1p-60), x, y + y);
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (y + 1); }
};
/// e^x - 1, elementwise, accurate near 0. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Expm1, A> expm1(A&& a, SourceLine at = here()) {
  return call<Expm1>(at, static_cast<A&&>(a));
}

/// 1 / (1 + e^-x). With e^-x = 2^k (1 + p) the denominator is summed with one rounding, and kept in
/// range by a factor 2^-h, h = k / 2, above and below.
struct Sigmoid {
  static constexpr OpInfo info{
      .name = "sigmoid", .max_ulp = 1.75f, .max_ulp_f64 = 1.75f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    constexpr T bound = sizeof(T) == 4 ? T(104) : T(746);
    const auto y = -detail::within(x, -bound, bound);
    const auto reduced = detail::reduce_by_ln2<T>(y);
    const auto r = reduced.r;
    const auto rest = fma(r * r, detail::exp_tail<T>(r), reduced.low);
    const auto h = reduced.k >> 1;
    const auto s = detail::power_of_two<T>(reduced.k - h), u = detail::power_of_two<T>(0 - h);
    const auto powers = u + s, linear = s * reduced.high;
    const auto sum = powers + linear;
    const auto lost = ((powers - sum) + linear) + (u - (powers - s));
    return u / (sum + fma(s, rest, lost));
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (y * (1 - y)); }
};
/// The logistic function 1 / (1 + e^-x), elementwise. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Sigmoid, A> sigmoid(A&& a, SourceLine at = here()) {
  return call<Sigmoid>(at, static_cast<A&&>(a));
}

/// f32: x + x^3 P(x^2) below 0.6, 1 - 2 / (e^2|x| + 1) above. f64: from expm1(2|x|).
struct Tanh {
  static constexpr OpInfo info{
      .name = "tanh", .max_ulp = 1.5f, .max_ulp_f64 = 2.5f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x);
    if constexpr (sizeof(T) == 4) {
      const auto e = detail::exp_in_range<T>(detail::within(a + a, T(-20), T(20)));
      const auto s = x * x;
      const auto p = detail::horner(s, -0x1.9cb942p-8f, 0x1.5a3d52p-6f, -0x1.b9613cp-5f,
                                    0x1.110f2p-3f, -0x1.555554p-2f);
      return detail::copy_sign<T>(where(a < 0.6f, fma(p * s, a, a), 1 - 2 / (e + 1)), x);
    } else {
      const auto t = Expm1::body<T>(where(a > 20.0, 40.0, a + a));
      return detail::copy_sign<T>(t / (t + 2), x);
    }
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (1 - y * y); }
};
/// Hyperbolic tangent, elementwise. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Tanh, A> tanh(A&& a, SourceLine at = here()) {
  return call<Tanh>(at, static_cast<A&&>(a));
}

}  // namespace tt
