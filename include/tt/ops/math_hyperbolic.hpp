// Hyperbolic functions and their inverses, log10, and scaled angles.
#pragma once
#include "tt/ops/math_log.hpp"
#include "tt/ops/math_trig.hpp"

namespace tt {

struct Cosh;
struct Sinh {
  static constexpr OpInfo info{.name = "sinh", .max_ulp = 4, .max_ulp_f64 = 4};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), far = a > 20;
    const auto e = expm1(where(far, 1, a)), half = exp(a * 0.5);
    return detail::copy_sign<T>(where(far, (half * 0.5) * half, 0.5 * (e + e / (e + 1))), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad);
};
struct Cosh {
  static constexpr OpInfo info{.name = "cosh", .max_ulp = 4, .max_ulp_f64 = 4};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), far = a > 20;
    const auto e = exp(where(far, 1, a)), half = exp(a * 0.5);
    return where(far, (half * 0.5) * half, 0.5 * e + 0.5 / e);
  }
  static constexpr auto derivative(auto x, auto, auto grad);
};
/// (e^x - e^-x) / 2, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto sinh(A&& a, SourceLine at = here()) { return call<Sinh>(at, static_cast<A&&>(a)); }
/// (e^x + e^-x) / 2, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto cosh(A&& a, SourceLine at = here()) { return call<Cosh>(at, static_cast<A&&>(a)); }

constexpr auto Sinh::derivative(auto x, auto, auto grad) { return grad * cosh(x); }
constexpr auto Cosh::derivative(auto x, auto, auto grad) { return grad * sinh(x); }

struct Asinh {
  static constexpr OpInfo info{.name = "asinh", .max_ulp = 4, .max_ulp_f64 = 4};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), far = a > (sizeof(T) == 4 ? T(1e5) : T(1e10)), b = where(far, 1, a);
    return detail::copy_sign<T>(where(far, log(a) + T(0.69314718055994530942), log1p(b + b * b / (1 + sqrt(b * b + 1)))), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / sqrt(x * x + 1); }
};
/// The inverse of sinh, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto asinh(A&& a, SourceLine at = here()) { return call<Asinh>(at, static_cast<A&&>(a)); }

struct Acosh {
  static constexpr OpInfo info{.name = "acosh", .max_ulp = 4, .max_ulp_f64 = 4};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto far = x > (sizeof(T) == 4 ? T(1e5) : T(1e10));
    const auto t = where(far, 1, x - 1);
    return where(far, log(x) + T(0.69314718055994530942), log1p(t + sqrt(t) * sqrt(t + 2)));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / (sqrt(x - 1) * sqrt(x + 1)); }
};
/// The inverse of cosh, elementwise; NaN below 1.
template <Value A>
TT_ALWAYS_INLINE constexpr auto acosh(A&& a, SourceLine at = here()) { return call<Acosh>(at, static_cast<A&&>(a)); }

struct Atanh {
  static constexpr OpInfo info{.name = "atanh", .max_ulp = 4, .max_ulp_f64 = 4};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x);
    return detail::copy_sign<T>(0.5 * log1p((a + a) / (1 - a)), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / ((1 - x) * (1 + x)); }
};
/// The inverse of tanh, elementwise; NaN beyond 1.
template <Value A>
TT_ALWAYS_INLINE constexpr auto atanh(A&& a, SourceLine at = here()) { return call<Atanh>(at, static_cast<A&&>(a)); }

struct Log10 {
  static constexpr OpInfo info{.name = "log10", .max_ulp = 2.5f, .max_ulp_f64 = 2.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return log(x) * 0.43429448190325182765; }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / (x * 2.3025850929940456840); }
};
/// The logarithm to base 10, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto log10(A&& a, SourceLine at = here()) { return call<Log10>(at, static_cast<A&&>(a)); }

struct Deg2rad {
  static constexpr OpInfo info{.name = "deg2rad", .max_ulp = 1.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x * 0.017453292519943295769; }
};
/// Degrees as radians, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto deg2rad(A&& a, SourceLine at = here()) { return call<Deg2rad>(at, static_cast<A&&>(a)); }

struct Rad2deg {
  static constexpr OpInfo info{.name = "rad2deg", .max_ulp = 1.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x * 57.295779513082320877; }
};
/// Radians as degrees, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto rad2deg(A&& a, SourceLine at = here()) { return call<Rad2deg>(at, static_cast<A&&>(a)); }

struct Frac {
  static constexpr OpInfo info{.name = "frac"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x - trunc(x); }
};
/// x - trunc(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto frac(A&& a, SourceLine at = here()) { return call<Frac>(at, static_cast<A&&>(a)); }

struct Sinc {
  static constexpr OpInfo info{.name = "sinc", .max_ulp = 4, .max_ulp_f64 = 1e6f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto z = where(x == 0, 1, x * 3.14159265358979323846);
    return where(x == 0, 1, sin(z) / z);
  }
  static constexpr auto derivative(auto x, auto, auto grad) {
    const auto z = where(x == 0, 1, x * 3.14159265358979323846);
    return where(x == 0, 0, grad * ((z * cos(z) - sin(z)) / (z * where(x == 0, 1, x))));
  }
};
/// sin(pi x) / (pi x), elementwise; 1 at 0.
template <Value A>
TT_ALWAYS_INLINE constexpr auto sinc(A&& a, SourceLine at = here()) { return call<Sinc>(at, static_cast<A&&>(a)); }

struct Logit {
  static constexpr OpInfo info{.name = "logit", .max_ulp = 4, .max_ulp_f64 = 4};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto middle = abs(x - 0.5) < 0.25;  // there x / (1 - x) is near 1
    return where(middle, log1p((x + x - 1) / (1 - x)), log(x / (1 - x)));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return where(x < 0 || x > 1, x - x, grad) / (x * (1 - x)); }
};
/// log(x / (1 - x)), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto logit(A&& a, SourceLine at = here()) { return call<Logit>(at, static_cast<A&&>(a)); }

}  // namespace tt
