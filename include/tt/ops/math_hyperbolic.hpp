// sinh, cosh and the inverse hyperbolic functions.
//   sinh, cosh     e^|x| / 2, which overflows no earlier than the result, and its reciprocal
//   asinh, acosh   log1p of the amount by which x and the root exceed 1; log 2x where x^2 would overflow
// Coefficients are minimax ones (Remez).
#pragma once
#include "tt/ops/math_log.hpp"

namespace tt {

namespace detail {

/// e^a 2^-n for a >= 0, finite where the result is.
template <class T>
TT_ALWAYS_INLINE constexpr auto exp_scaled_down(auto a, int n) {
  constexpr T above = sizeof(T) == 4 ? T(97) : T(718);
  const auto reduced = reduce_by_ln2<T>(within(a, T(-1), above));
  return scale_exp<T>(fma(reduced.r * reduced.r, exp_tail<T>(reduced.r), reduced.r), reduced.k - n);
}

}  // namespace detail

struct Sinh {
  static constexpr OpInfo info{.name = "sinh", .max_ulp = 2, .max_ulp_f64 = 2};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), z = a * a, half = detail::exp_scaled_down<T>(a, 1);
    const auto near = [z]() TT_LAMBDA_INLINE {
      if constexpr (sizeof(T) == 4) {
        return detail::horner(z, 0x1.78a40ep-19f, 0x1.a00914p-13f, 0x1.11111ep-7f, 0x1.555556p-3f);
      } else {
        return detail::horner(z, 0x1.b4113823020e6p-41, 0x1.611cb67d124ffp-33, 0x1.ae6460f2a8bdp-26, 0x1.71de3a4e1e523p-19,
                              0x1.a01a01a01edd7p-13, 0x1.11111111110fep-7, 0x1.5555555555555p-3);
      }
    };
    return detail::copy_sign<T>(where(a < 1, fma(a * z, near(), a), half - T(0.25) / half), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad);
};
struct Cosh {
  static constexpr OpInfo info{.name = "cosh", .max_ulp = 2, .max_ulp_f64 = 2};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto half = detail::exp_scaled_down<T>(abs(x), 1);
    return half + T(0.25) / half;
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * call<Sinh>(here(), x); }
};
/// Hyperbolic sine, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Sinh, A> sinh(A&& a, SourceLine at = here()) {
  return call<Sinh>(at, static_cast<A&&>(a));
}
/// Hyperbolic cosine, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Cosh, A> cosh(A&& a, SourceLine at = here()) {
  return call<Cosh>(at, static_cast<A&&>(a));
}
constexpr auto Sinh::derivative(auto x, auto, auto grad) { return grad * cosh(x); }

struct Asinh {
  static constexpr OpInfo info{.name = "asinh", .max_ulp = 3, .max_ulp_f64 = 3};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    constexpr T bound = sizeof(T) == 4 ? T(0x1p40) : T(0x1p100);  // beyond it 1 + x rounds to x, and so does the root
    const auto a = abs(x);
    const auto far = a > bound;
    const auto b = where(far, 1, a), s = b * b;
    const auto y = log1p(where(far, a, b + s / (1 + sqrt(s + 1))));
    return detail::copy_sign<T>(where(far, y + T(0.69314718055994530942), y), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / sqrt(x * x + 1); }
};
/// Inverse hyperbolic sine, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Asinh, A> asinh(A&& a, SourceLine at = here()) {
  return call<Asinh>(at, static_cast<A&&>(a));
}

struct Acosh {
  static constexpr OpInfo info{.name = "acosh", .max_ulp = 3, .max_ulp_f64 = 3};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    constexpr T bound = sizeof(T) == 4 ? T(0x1p40) : T(0x1p100);
    const auto far = x > bound;
    const auto t = where(far, 1, x) - 1;
    const auto y = log1p(where(far, x, t + sqrt(t * (t + 2))));
    return where(x < 1, std::numeric_limits<T>::quiet_NaN(), where(far, y + T(0.69314718055994530942), y));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / sqrt((x - 1) * (x + 1)); }
};
/// Inverse hyperbolic cosine, elementwise; NaN below 1.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Acosh, A> acosh(A&& a, SourceLine at = here()) {
  return call<Acosh>(at, static_cast<A&&>(a));
}

struct Atanh {
  static constexpr OpInfo info{.name = "atanh", .max_ulp = 3, .max_ulp_f64 = 3};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), twice = a + a, y = T(0.5) * log1p(twice + twice * a / (1 - a));
    return detail::copy_sign<T>(where(a > 1, std::numeric_limits<T>::quiet_NaN(), y), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / ((1 - x) * (1 + x)); }
};
/// Inverse hyperbolic tangent, elementwise; +-inf at +-1, NaN beyond.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Atanh, A> atanh(A&& a, SourceLine at = here()) {
  return call<Atanh>(at, static_cast<A&&>(a));
}

}  // namespace tt
