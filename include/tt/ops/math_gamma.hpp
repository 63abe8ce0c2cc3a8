// lgamma and digamma: Stirling's series above 10 (f32: 6), below by recurrence, below 0 by reflection.
// lgamma between 1 and 3 is (x - 1) (x - 2) times a polynomial, so that its zeros are right (minimax, Remez).
#pragma once
#include "tt/ops/math_trig.hpp"
#include "tt/ops/math_log.hpp"

namespace tt {

namespace detail {

/// lgamma(1 + z) for 0 <= z <= 2.
template <class T>
TT_ALWAYS_INLINE constexpr auto lgamma_near(auto z) {
  const auto t = z - 1;
  if constexpr (sizeof(T) == 4) {
    return z * t * horner(t, -0x1.4506d8p-15f, 0x1.47f834p-14f, -0x1.b7769cp-15f, 0x1.11dc16p-13f, -0x1.be464ep-12f, 0x1.ef1abep-11f, -0x1.138518p-9f,
                          0x1.472042p-8f, -0x1.95d4b8p-7f, 0x1.0e0deep-5f, -0x1.9ae648p-4f, 0x1.b0ee6p-2f);
  } else {
    return z * t * horner(t, -0x1.c385a2ac9f081p-31, 0x1.b2fab791cf0a1p-30, 0x1.5587b4ef9e3bap-29, -0x1.2bd22ec5e3d0dp-28, -0x1.352f1f25b2872p-27,
                          0x1.18b4024614cefp-26, -0x1.83827d3d73129p-31, 0x1.8592fa617de4fp-28, -0x1.bfcd0d73668c9p-25, 0x1.c0ab729738c31p-24,
                          -0x1.8f8fb6edf83fdp-23, 0x1.a8e2aaf936e33p-22, -0x1.cb4dc49181aaap-21, 0x1.e64446ee1e704p-20, -0x1.02225dd888813p-18,
                          0x1.13db976c34eefp-17, -0x1.28511b746c926p-16, 0x1.402f7bc65f35fp-15, -0x1.5c86aefb8d4f1p-14, 0x1.7ed73044658p-13,
                          -0x1.a96a403c72676p-12, 0x1.dfebcf9f0b33dp-11, -0x1.145121f95402fp-9, 0x1.47974853952aep-8, -0x1.95ce223a9d2e9p-7,
                          0x1.0e0c9df2935d8p-5, -0x1.9ae6509ea109ep-4, 0x1.b0ee6072093cep-2);
  }
}
template <class T>
inline constexpr int stirling_from = sizeof(T) == 4 ? 6 : 10;

}  // namespace detail

/// The error is in units of 1 where the result is smaller than 1. Trigamma is the derivative of the body.
struct Digamma {
  static constexpr OpInfo info{.name = "digamma", .max_ulp = 20, .max_ulp_f64 = 18};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    constexpr int from = detail::stirling_from<T>;
    const auto negative = x < 0;
    const auto v = where(negative, 1 - x, x);
    const auto low = v < from;
    // 1/v + 1/(v + 1) + ... as one quotient; 0 is a case of its own, so that it is a pole of the derivative too.
    const auto u = where(low && v != 0, v, 1);
    auto denominator = u, numerator = 1 + (u - u);
    for (int k = 1; k < from; ++k) {
      numerator = numerator * (u + k) + denominator;
      denominator = denominator * (u + k);
    }
    // Beyond 2^60 only the logarithm counts; the derivatives of the other terms would be 0 times infinity there.
    const auto w = where(low, v + from, v), bounded = minimum(w, T(0x1p60)), z = 1 / (bounded * bounded);
    const auto series = [z]() TT_LAMBDA_INLINE {
      if constexpr (sizeof(T) == 4) return detail::horner(z, 1.0f / 252, -1.0f / 120, 1.0f / 12);
      else return detail::horner(z, 1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12);
    };
    const auto y = log(w) - T(0.5) / bounded - z * series() - where(low, numerator / denominator, 0);
    const auto r = where(negative, x - round(x), T(0.25));
    const auto angle = where(r == 0, T(0.25), r) * T(3.14159265358979323846);
    const auto reflected = y - T(3.14159265358979323846) * (cos(angle) / sin(angle));  // not the tangent, whose derivatives overflow at half integers
    return where(negative, where(r == 0, r / r, reflected), where(x == 0, -1 / x, y));
  }
};
/// The logarithmic derivative of the gamma function, elementwise; NaN at negative integers.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Digamma, A> digamma(A&& a, SourceLine at = here()) {
  return call<Digamma>(at, static_cast<A&&>(a));
}

/// Below 0 the error is in units of lgamma(|x|) and of 1, as the result has zeros between all poles.
struct Lgamma {
  static constexpr OpInfo info{.name = "lgamma", .max_ulp = 7, .max_ulp_f64 = 6};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    constexpr int from = detail::stirling_from<T>;
    const auto a = abs(x);
    const auto high = a >= from, low = a < 1;
    // a (a - 1) ... down to a factor y between 2 and 3.
    auto y = where(high, 1, a), product = where(low, a, 1);
    for (int k = 1; k < from - 2; ++k) {
      const auto next = a - k;
      const auto used = next >= 2 && !high;
      y = where(used, next, y);
      product = where(used, product * next, product);
    }
    const auto near = detail::lgamma_near<T>(where(low, a, y - 1)), l = log(product);
    const auto below = near + where(low, -l, l);
    const auto log_a = log(a), inverse = 1 / where(high, a, 10), z = inverse * inverse;
    const auto series = [z]() TT_LAMBDA_INLINE {
      if constexpr (sizeof(T) == 4) return detail::horner(z, 1.0f / 1260, -1.0f / 360, 1.0f / 12);
      else return detail::horner(z, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12);
    };
    const auto above = (a - T(0.5)) * (log_a - 1) + (T(0.41893853320467274178) + inverse * series());
    const auto positive = where(high, above, below);
    const auto sine = abs(sin((a - round(a)) * T(3.14159265358979323846)));
    const auto reflected = (T(1.14472988584940017414) - log(sine)) - (log_a + positive);
    const auto by_pole = where(a < T(1e-20), -log_a, where(sine == 0, infinity<T>, reflected));
    return where(a == infinity<T>, infinity<T>, where(x < 0, by_pole, positive));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * digamma(x); }
};
/// The logarithm of |gamma(x)|, elementwise; inf at 0 and negative integers.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Lgamma, A> lgamma(A&& a, SourceLine at = here()) {
  return call<Lgamma>(at, static_cast<A&&>(a));
}

}  // namespace tt
