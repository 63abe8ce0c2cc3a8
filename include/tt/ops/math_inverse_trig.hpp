// atan, asin, acos, atan2. atan: one of three ranges is brought to |t| <= tan(pi/8); asin: above 1/2 through sqrt((1 - x) / 2). Polynomials in the square, at
// Chebyshev nodes.
#pragma once
#include "tt/ops/math_trig.hpp"

namespace tt {
namespace detail {

/// (atan(t) - t) / t^3 in s = t^2, for s <= tan(pi/8)^2.
template <class T>
TT_ALWAYS_INLINE constexpr auto atan_rest(auto s) {
  if constexpr (sizeof(T) == 4) {
    return horner(s, -0x1.08455ep-4f, 0x1.b8103p-4f, -0x1.242036p-3f, 0x1.99973p-3f, -0x1.555554p-2f);
  } else {
    return horner(s, -0x1.c81291cfc455fp-7, 0x1.f5ef74d05428dp-6, -0x1.503c4469943acp-5, 0x1.829ce3237ab26p-5, -0x1.aebd1fa559894p-5, 0x1.e1d8e9bffe59dp-5,
      -0x1.1110cee80b516p-4, 0x1.3b13aea9e84b6p-4, -0x1.745d173565149p-4, 0x1.c71c71c6ddbfcp-4, -0x1.24924924920adp-3, 0x1.9999999999997p-3,
      -0x1.5555555555555p-2);
  }
}
/// (asin(t) - t) / t^3 in s = t^2, for s <= 1/4.
template <class T>
TT_ALWAYS_INLINE constexpr auto asin_rest(auto s) {
  if constexpr (sizeof(T) == 4) {
    return horner(s, 0x1.37fe16p-5f, 0x1.b311d2p-6f, 0x1.70a6bcp-5f, 0x1.332732p-4f, 0x1.55555ep-3f);
  } else {
    return horner(s, 0x1.d72b2bc8155f8p-6, -0x1.e6aaa8a0a04ccp-7, 0x1.1d189408314eep-6, 0x1.65a9c4dfcf8b2p-8, 0x1.52420b04b37bep-7, 0x1.782651caa6547p-7,
      0x1.c9cf07674736ap-7, 0x1.1c4d35cf95421p-6, 0x1.6e8bb1c8209a2p-6, 0x1.f1c71c1db0623p-6, 0x1.6db6db6e31f13p-5, 0x1.3333333332ecap-4,
      0x1.5555555555556p-3);
  }
}
/// pi / 2 in two parts.
template <class T>
inline constexpr T half_pi = sizeof(T) == 4 ? T(0x1.921fb6p0f) : T(0x1.921fb54442d18p0);
template <class T>
inline constexpr T half_pi_rest = sizeof(T) == 4 ? T(-0x1.777a5cp-25f) : T(0x1.1a62633145c07p-54);
/// atan of a >= 0.
template <class T>
TT_ALWAYS_INLINE constexpr auto atan_positive(auto a) {
  const auto far = a > T(2.414213562373095), middle = a > T(0.4142135623730950);
  const auto t = where(far, -1 / a, where(middle, (a - 1) / (a + 1), a));
  const auto s = t * t, rest = fma(s * atan_rest<T>(s), t, where(far, half_pi_rest<T>, where(middle, half_pi_rest<T> / 2, a - a)));
  return where(far, half_pi<T> + (t + rest), where(middle, half_pi<T> / 2 + (t + rest), t + s * atan_rest<T>(s) * t));
}
template <class T>
TT_ALWAYS_INLINE constexpr auto has_sign(auto x) {
  if constexpr (sizeof(T) == 4) return bitcast<std::int32_t>(x) < 0;
  else return bitcast<std::int64_t>(x) < 0;
}

}  // namespace detail

struct Atan {
  static constexpr OpInfo info{.name = "atan", .max_ulp = 2, .max_ulp_f64 = 2};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return detail::copy_sign<T>(detail::atan_positive<T>(abs(x)), x); }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / (x * x + 1); }
};
/// The angle in (-pi/2, pi/2) whose tangent is x, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto atan(A&& a, SourceLine at = here()) { return call<Atan>(at, static_cast<A&&>(a)); }

struct Asin {
  static constexpr OpInfo info{.name = "asin", .max_ulp = 3, .max_ulp_f64 = 3};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), near = a <= 0.5;
    const auto s = where(near, a * a, (1 - a) * 0.5), t = where(near, a, sqrt(s)), rest = s * detail::asin_rest<T>(s) * t;
    const auto far = detail::half_pi<T> - (2 * (t + rest) - detail::half_pi_rest<T>);
    return detail::copy_sign<T>(where(near, t + rest, far), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / sqrt((1 - x) * (1 + x)); }
};
/// The angle in [-pi/2, pi/2] whose sine is x, elementwise; NaN beyond 1.
template <Value A>
TT_ALWAYS_INLINE constexpr auto asin(A&& a, SourceLine at = here()) { return call<Asin>(at, static_cast<A&&>(a)); }

struct Acos {
  static constexpr OpInfo info{.name = "acos", .max_ulp = 3, .max_ulp_f64 = 3};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), near = a <= 0.5;
    const auto s = where(near, a * a, (1 - a) * 0.5), t = where(near, a, sqrt(s)), rest = s * detail::asin_rest<T>(s) * t;
    const auto angle = 2 * (t + rest);  // of |x|, where that is far from 0
    const auto signed_rest = where(x < 0, -(t + rest), t + rest);
    return where(near, detail::half_pi<T> - (signed_rest - detail::half_pi_rest<T>), where(x < 0, 2 * detail::half_pi<T> - (angle - 2 * detail::half_pi_rest<T>), angle));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return -grad / sqrt((1 - x) * (1 + x)); }
};
/// The angle in [0, pi] whose cosine is x, elementwise; NaN beyond 1.
template <Value A>
TT_ALWAYS_INLINE constexpr auto acos(A&& a, SourceLine at = here()) { return call<Acos>(at, static_cast<A&&>(a)); }

struct Atan2 {
  static constexpr OpInfo info{.name = "atan2", .arity = 2, .max_ulp = 3, .max_ulp_f64 = 3};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto y, auto x) {
    const auto up = abs(y), along = abs(x);
    const auto ratio = where(up == along, where(up == 0, up, up - up + 1), up / along), quotient = where(up == along && up > 0, 1, ratio);
    const auto angle = detail::atan_positive<T>(quotient);
    const auto turned = 2 * detail::half_pi<T> - (angle - 2 * detail::half_pi_rest<T>);
    return detail::copy_sign<T>(where(detail::has_sign<T>(x), turned, angle), y);
  }
  static constexpr auto derivative(auto y, auto x, auto, auto grad) {
    const auto square = x * x + y * y, d = where(square == 0, 1, square);
    return Gradients{where(square == 0, 0, grad * (x / d)), where(square == 0, 0, grad * (-y / d))};
  }
};
/// The angle of the point (b, a), in [-pi, pi]: C's atan2(y, x), signs of zeros included.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto atan2(A&& a, B&& b, SourceLine at = here()) { return call<Atan2>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

}  // namespace tt
