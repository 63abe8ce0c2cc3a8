// Special functions: error functions' kin, gamma's kin, modified Bessel functions, the normal distribution. f32 is computed in f64. Polynomials are interpolated at
// Chebyshev nodes with 60 digits; asymptotic series have Bernoulli's numbers (Abramowitz and Stegun 6.1.40, 6.3.18, 6.4.12).
#pragma once
#include "tt/ops/math_erf.hpp"
#include "tt/ops/math_hyperbolic.hpp"

namespace tt {
namespace detail {

/// e^(x^2) erfc(x) for x >= 0, in f64: (1 + x) times it is a polynomial in (x - 3) / (x + 3).
TT_ALWAYS_INLINE constexpr auto erfcx_positive(auto x) {
  const auto y = where(x == __builtin_inf(), 1, (x - 3) / (x + 3));
  return horner(y, 0x1.0a30229a480b8p-31, -0x1.722fe49b6d7c5p-30, -0x1.ccce7df5a720ep-28, 0x1.732817821324bp-27, 0x1.af5708c4e6035p-25, -0x1.4f52d8e93c874p-25,
      -0x1.3a17809161b24p-22, 0x1.ca0404923a67ap-25, 0x1.aa4b7f8046112p-20, 0x1.1cdf7f9f96737p-22, -0x1.2da53c03b3b32p-17, -0x1.9708d7abd91dcp-20,
      0x1.d6c33585c3affp-15, -0x1.58ca30cdcc54p-16, -0x1.81213ea19e28p-12, 0x1.5297b3d70cf74p-11, 0x1.a84c55d2e1289p-10, -0x1.3f82b5cabf2d7p-7,
      0x1.67c1899502f3cp-6, -0x1.8600d9148854ap-6, -0x1.4f64aa4aa2d88p-7, 0x1.9596c92adb323p-4, -0x1.d8f06dfac798cp-3, 0x1.6e9827d229d2cp-1) / (1 + x);
}
/// e^(-x^2) with the part of x^2 that is rounded away, in f64.
TT_ALWAYS_INLINE constexpr auto exp_of_minus_square(auto x) {
  const auto far = x > 30, z = where(far, 30, x);
  const auto high = bitcast<double>(bitcast<std::int64_t>(z) & -0x8000000), low = z - high;  // high * high is exact
  return where(far, 0, exp(-(high * high)) * exp(-(low * (z + high))));
}
/// The x >= 0 of which erfc is q in (0, 1], in f64: a first value, and three steps of Halley's.
TT_ALWAYS_INLINE constexpr auto erfc_inverse(auto q) {
  const auto w = sqrt(-log(q * (2 - q))), near = q > 0.4;
  const auto u = 1 - q;
  const auto first = where(near, u * (0.88622692545275801 + 0.2320 * u * u), w - (0.4 + 0.25 * log(w + 0.1)) / (w + 0.2));
  auto x = where(first > 0, first, 0);
  for (int k = 0; k < 4; ++k) {
    const auto e = erfcx_positive(x), g = exp_of_minus_square(x);
    const auto miss = where(near, where(x < 0.5, q - (1 - erf(x)), q - e * g), q - e * g);
    const auto step = where(near, miss / (-1.1283791670955126 * g), (log(e) - x * x - log(q)) / (2 * x - 0 * x + where(e > 0, 1.1283791670955126 / e - 2 * x, 0)));
    x = where(near, x + step / (1 + x * step), x + step);
    x = where(x > 0, x, 0);
  }
  return x;
}
/// log(gamma(x)) for x >= 1/2, in f64.
TT_ALWAYS_INLINE constexpr auto lgamma_positive(auto x) {
  const auto low = x < 1, middle = x <= 3, z = where(low, x + 1, where(middle, x, 2)), t = z - 2;
  const auto near = (z - 1) * t * horner(t, -0x1.883fff962124cp-29, 0x1.952e7651a871p-28, 0x1.b4c6ea3051ca5p-28, -0x1.c12dc65910b95p-27, -0x1.c5f4d9c60f2dap-26, 0x1.d64f30fce7b62p-25,
      -0x1.a20f68df8f394p-26, 0x1.bbb5d22bbfe1fp-25, -0x1.bb21ffd76a862p-23, 0x1.d20c01f941164p-22, -0x1.c5d7655a36adcp-21, 0x1.e12469529142fp-20,
      -0x1.025e7081dbbbdp-18, 0x1.14137101ece18p-17, -0x1.284da3fce1522p-16, 0x1.402c4cb1018abp-15, -0x1.5c86cfff77981p-14, 0x1.7ed74e116431ep-13,
      -0x1.a96a3f7fbd914p-12, 0x1.dfebcef932513p-11, -0x1.145121fa717bfp-9, 0x1.4797485484b37p-8, -0x1.95ce223a9bc8cp-7, 0x1.0e0c9df292d5cp-5,
      -0x1.9ae6509ea10a1p-4, 0x1.b0ee6072093cfp-2) - where(low, log(where(low, x, 1)), 0);
  auto up = where(middle, 8, x), product = x - x + 1;
  for (int k = 0; k < 5; ++k) {
    const auto small = up < 8;
    product = where(small, product * up, product);
    up = where(small, up + 1, up);
  }
  const auto s = 1 / (up * up);
  const auto series = horner(s, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12) / up;
  const auto far = (up - 0.5) * log(up) - up + 0.91893853320467274178 + series - log(product);
  return where(middle, near, far);
}
/// Its derivative for x >= 1/2, in f64.
TT_ALWAYS_INLINE constexpr auto digamma_positive(auto x) {
  auto z = x, sum = x - x;
  for (int k = 0; k < 10; ++k) {
    const auto small = z < 10;
    sum = where(small, sum + 1 / z, sum);
    z = where(small, z + 1, z);
  }
  const auto s = 1 / (z * z);
  return where(x == __builtin_inf(), x, log(z) - 0.5 / z - s * horner(s, 1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12) - sum);
}

}  // namespace detail

struct Erfc {
  static constexpr OpInfo info{.name = "erfc", .max_ulp = 1, .max_ulp_f64 = 8};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(body<double>(cast<double>(x)));
    } else {
      const auto a = abs(x), tail = detail::erfcx_positive(a) * detail::exp_of_minus_square(a);
      return where(a < 0.5, 1 - erf(x), where(x < 0, 2 - tail, tail));
    }
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * (-1.1283791670955126 * exp(-(x * x))); }
};
/// 1 - erf(x), right in its tail, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto erfc(A&& a, SourceLine at = here()) { return call<Erfc>(at, static_cast<A&&>(a)); }

struct Erfcx {
  static constexpr OpInfo info{.name = "erfcx", .max_ulp = 1, .max_ulp_f64 = 8};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(body<double>(cast<double>(x)));
    } else {
      const auto a = abs(x), near = detail::erfcx_positive(a);
      const auto up = exp(where(x < 0, x * x, 0));
      return where(x < 0, up * (2 - near * detail::exp_of_minus_square(a)), near);
    }
  }
  static constexpr auto derivative(auto x, auto y, auto grad) { return grad * (2 * x * y - 1.1283791670955126); }
};
/// e^(x^2) erfc(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto erfcx(A&& a, SourceLine at = here()) { return call<Erfcx>(at, static_cast<A&&>(a)); }

struct Erfinv {
  static constexpr OpInfo info{.name = "erfinv", .max_ulp = 2, .max_ulp_f64 = 1000};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(body<double>(cast<double>(x)));
    } else {
      const auto a = abs(x);
      const auto r = detail::copy_sign<double>(detail::erfc_inverse(where(a < 1, 1 - a, 1)), x);
      return where(a < 1, r, where(a == 1, detail::copy_sign<double>(a / 0.0, x), 0.0 * (a / 0.0)));
    }
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (0.88622692545275801 * exp(y * y)); }
};
/// The inverse of erf, elementwise; NaN beyond 1.
template <Value A>
TT_ALWAYS_INLINE constexpr auto erfinv(A&& a, SourceLine at = here()) { return call<Erfinv>(at, static_cast<A&&>(a)); }

struct Digamma;
struct Lgamma {
  static constexpr OpInfo info{.name = "lgamma", .max_ulp = 2, .max_ulp_f64 = 1e6f};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(body<double>(cast<double>(x)));
    } else {
      const auto below = x < 0.5, z = where(below, 1 - x, x);
      const auto up = detail::lgamma_positive(z);
      const auto whole = x == floor(x) && x <= 0;
      const auto near = abs(sin(3.14159265358979323846 * (x - round(x))));
      const auto reflected = 1.1447298858494001741 - log(where(whole || !below, 1, near)) - up;
      return where(abs(x) == __builtin_inf(), abs(x), where(whole, __builtin_inf(), where(below, reflected, up)));
    }
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * call<Digamma>({}, x); }
};
/// log|gamma(x)|, elementwise; infinite at 0, -1, -2 and so on.
template <Value A>
TT_ALWAYS_INLINE constexpr auto lgamma(A&& a, SourceLine at = here()) { return call<Lgamma>(at, static_cast<A&&>(a)); }

struct Trigamma;
struct Digamma {
  static constexpr OpInfo info{.name = "digamma", .max_ulp = 2, .max_ulp_f64 = 1e6f};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(body<double>(cast<double>(x)));
    } else {
      const auto below = x < 0.5, z = where(below, 1 - x, x);
      const auto up = detail::digamma_positive(z);
      const auto part = where(below, x - round(x), 0.25), angle = 3.14159265358979323846 * where(part == 0, 0.25, part);
      const auto reflected = up - 3.14159265358979323846 / tan(angle);
      return where(x == 0, detail::copy_sign<double>(abs(x) - __builtin_inf(), -x), where(below && part == 0, 0.0 * (x / 0.0), where(below, reflected, up)));
    }
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * call<Trigamma>({}, x); }
};
/// The derivative of lgamma, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto digamma(A&& a, SourceLine at = here()) { return call<Digamma>(at, static_cast<A&&>(a)); }

/// Its own derivative is that of its body.
struct Trigamma {
  static constexpr OpInfo info{.name = "trigamma", .max_ulp = 1e6f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto below = x < 0.5;
    auto z = where(below, 1 - x, x), sum = x - x;
    for (int k = 0; k < 8; ++k) {
      sum = sum + 1 / (z * z);
      z = z + 1;
    }
    const auto s = 1 / (z * z);
    const auto up = sum + 1 / z + s * 0.5 + s / z * detail::horner(s, 7.0 / 6, -691.0 / 2730, 5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6);
    const auto w = sin(3.14159265358979323846 * where(below, x, 0.5));
    return where(below, 9.8696044010893586188 / (w * w) - up, up);
  }
};
/// The derivative of digamma, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto trigamma(A&& a, SourceLine at = here()) { return call<Trigamma>(at, static_cast<A&&>(a)); }

struct I1e;
struct I0e {
  static constexpr OpInfo info{.name = "i0e", .max_ulp = 2, .max_ulp_f64 = 8};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(body<double>(cast<double>(x)));
    } else {
      const auto a = abs(x), near = a <= 8;
      const auto t = where(near, a, 1) * 0.25 - 1, u = 16 / where(near, 16, a) - 1;
      const auto r = where(near, detail::horner(t, -0x1.1336ce873a24dp-26, 0x1.ee424e2528fcp-25, -0x1.79967700de569p-24, 0x1.21d2d97a58ba8p-22, -0x1.30f4bc24bb802p-20, 0x1.c9894d6eb73b1p-19,
      -0x1.34822b3b0e1ap-17, 0x1.a333fcde433dap-16, -0x1.12f6475192e16p-14, 0x1.54f667f70740cp-13, -0x1.91791d4c58e1dp-12, 0x1.c0e6d80d83bb8p-11,
      -0x1.dafa6b234a20ep-10, 0x1.da1c08f15fd19p-9, -0x1.bd25819357955p-8, 0x1.87e84e131c86dp-7, -0x1.427b0a367c4bp-6, 0x1.ee6f58c5da11cp-6,
      -0x1.602411d8682d3p-5, 0x1.d11e10ce8df37p-5, -0x1.1cd73a8ecf855p-4, 0x1.44b6196bf1f11p-4, -0x1.5c028fe643ab2p-4, 0x1.65c235bfdbeabp-4,
      -0x1.6cb8d0c915981p-4, 0x1.8322d1d8a3f5ap-4, -0x1.cedda0048620bp-4, 0x1.a7f09f8eedf59p-3), detail::horner(u, -0x1.aefb7b60acfaep-36, 0x1.910ee7e138244p-34, 0x1.861e335f82d32p-33, -0x1.652ae75a59b45p-31, -0x1.5c71218be8006p-31, 0x1.2971d797d83a6p-29,
      0x1.ba85c62751de7p-30, -0x1.37624bd2712b8p-28, -0x1.ed0f69cd58fcbp-29, 0x1.c03e34156b1cdp-28, 0x1.052a74c1c6836p-27, -0x1.58d337b74e643p-28,
      -0x1.cd5fcd7c1723bp-27, -0x1.d72afbf072c12p-28, 0x1.03bd6085358d4p-27, 0x1.728823195496bp-26, 0x1.51ccd7a331318p-25, 0x1.7d0cd599a9edep-24,
      0x1.3f49ac3ea9007p-22, 0x1.8e513c69889afp-20, 0x1.75e5ee702ae6ap-17, 0x1.1daa72b5cd022p-13, 0x1.b87969bb93bcbp-9, 0x1.9bd428ad249a5p-2) / sqrt(where(near, 1, a)));
      return r;
    }
  }
  static constexpr auto derivative(auto x, auto y, auto grad) { return grad * (call<I1e>({}, x) - where(x < 0, -1, where(x > 0, 1, x - x)) * y); }
};
/// e^-|x| I0(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto i0e(A&& a, SourceLine at = here()) { return call<I0e>(at, static_cast<A&&>(a)); }

struct I1e {
  static constexpr OpInfo info{.name = "i1e", .max_ulp = 2, .max_ulp_f64 = 8};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(body<double>(cast<double>(x)));
    } else {
      const auto a = abs(x), near = a <= 8;
      const auto t = where(near, a, 1) * 0.25 - 1, u = 16 / where(near, 16, a) - 1;
      const auto r = where(near, detail::horner(t, -0x1.7ef3a57e8813ap-30, 0x1.662375bfd28f3p-28, -0x1.3a36e66dc1ccbp-27, 0x1.00b3069cddbfp-25, -0x1.09c96d81a4babp-23, 0x1.a3be029d7baf5p-22,
      -0x1.304914a4cf667p-20, 0x1.b7aec3656b6c1p-19, -0x1.328a0acbc458ap-17, 0x1.96d304cc0c81bp-16, -0x1.01a1e5051d944p-14, 0x1.373e6d6c4c9f8p-13,
      -0x1.65bfa277a3a2dp-12, 0x1.865739f608b6ep-11, -0x1.936822430cf69p-10, 0x1.89f89e054bc1dp-9, -0x1.6ab6a3bc88c51p-8, 0x1.3a0c1a6a199cap-7,
      -0x1.fe3d9bfe55e01p-7, 0x1.84125b06960ap-6, -0x1.13d5f358b4c9ep-5, 0x1.6df95e8c1eep-5, -0x1.c4daa51341287p-5, 0x1.0530f817fe69bp-4,
      -0x1.1881379ffb5d5p-4, 0x1.16c390ddb0939p-4, -0x1.f4bb071a7752bp-5, 0x1.6e14eb8e5d318p-5) * where(near, x, 0), detail::horner(u, 0x1.8bd3ef21c46ecp-36, -0x1.a1a5dda8b1eb6p-34, -0x1.6707905792aa6p-33, 0x1.74762cf13ee8bp-31, 0x1.4351c02def0f8p-31, -0x1.3704ee9202002p-29,
      -0x1.a2b5c6ec3e3bcp-30, 0x1.47692902fc355p-28, 0x1.e172e024b1619p-29, -0x1.dd40fa3ca50dep-28, -0x1.0827dc03a02b5p-27, 0x1.7eecd6ef09401p-28,
      0x1.e2d2b366c82bbp-27, 0x1.d68e469257969p-28, -0x1.21baaa717a931p-27, -0x1.91e85bf75a6e5p-26, -0x1.72788d29b0685p-25, -0x1.ad8afc479db14p-24,
      -0x1.761383a59d769p-22, -0x1.ec8e127ad7f7bp-20, -0x1.f89c2304bfcc3p-17, -0x1.cbc54df1d2964p-13, -0x1.3f796198ee63dp-7, 0x1.8ebe783a8403p-2) / sqrt(where(near, 1, a)));
      return where(near || x > 0, r, -r);
    }
  }
};
/// e^-|x| I1(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto i1e(A&& a, SourceLine at = here()) { return call<I1e>(at, static_cast<A&&>(a)); }

struct I0 {
  static constexpr OpInfo info{.name = "i0", .max_ulp = 200, .max_ulp_f64 = 1000};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return exp(abs(x)) * i0e(x); }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * (exp(abs(x)) * i1e(x)); }
};
/// The modified Bessel function of order 0, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto i0(A&& a, SourceLine at = here()) { return call<I0>(at, static_cast<A&&>(a)); }

struct I1 {
  static constexpr OpInfo info{.name = "i1", .max_ulp = 200, .max_ulp_f64 = 1000};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return exp(abs(x)) * i1e(x); }
  static constexpr auto derivative(auto x, auto y, auto grad) { return grad * (exp(abs(x)) * i0e(x) - where(x == 0, 0.5, y / where(x == 0, 1, x))); }
};
/// The modified Bessel function of order 1, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto i1(A&& a, SourceLine at = here()) { return call<I1>(at, static_cast<A&&>(a)); }

struct Entr {
  static constexpr OpInfo info{.name = "entr", .max_ulp = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return where(x > 0, -x * log(where(x > 0, x, 1)), where(x == 0, 0, where(x != x, x, -__builtin_inf()))); }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * (-log(x) - 1); }
};
/// -x log(x), elementwise; 0 at 0, -inf below.
template <Value A>
TT_ALWAYS_INLINE constexpr auto entr(A&& a, SourceLine at = here()) { return call<Entr>(at, static_cast<A&&>(a)); }

struct Ndtr {
  static constexpr OpInfo info{.name = "ndtr", .max_ulp = 400, .max_ulp_f64 = 2000};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return 0.5 * erfc(x * -0.70710678118654752440); }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * (0.39894228040143267794 * exp(x * x * -0.5)); }
};
/// The normal distribution function, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto ndtr(A&& a, SourceLine at = here()) { return call<Ndtr>(at, static_cast<A&&>(a)); }

struct LogNdtr {
  static constexpr OpInfo info{.name = "log_ndtr", .max_ulp = 8, .max_ulp_f64 = 64};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto t = x * 0.70710678118654752440, low = x < -1;
    return where(low, log(erfcx(where(low, -t, 1)) * 0.5) - t * t, log1p(erfc(where(low, 1, t)) * -0.5));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * (0.79788456080286535588 / erfcx(x * -0.70710678118654752440)); }
};
/// Its logarithm, right where that is far below 0, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto log_ndtr(A&& a, SourceLine at = here()) { return call<LogNdtr>(at, static_cast<A&&>(a)); }

struct Ndtri {
  static constexpr OpInfo info{.name = "ndtri", .max_ulp = 4, .max_ulp_f64 = 1000};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(body<double>(cast<double>(x)));
    } else {
      const auto low = x <= 0.5, q = 2 * where(low, x, 1 - x), inside = x > 0 && x < 1;
      const auto r = detail::erfc_inverse(where(inside, q, 1)) * 1.4142135623730950488;
      const auto edge = where(x == 0, -__builtin_inf(), where(x == 1, __builtin_inf(), 0.0 * (x / 0.0)));
      return where(inside, where(low, -r, r), edge);
    }
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (2.5066282746310005024 * exp(y * y * 0.5)); }
};
/// The inverse of ndtr, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto ndtri(A&& a, SourceLine at = here()) { return call<Ndtri>(at, static_cast<A&&>(a)); }

}  // namespace tt
