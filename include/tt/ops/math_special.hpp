// Functions of the normal distribution: erfc, erfcx, erfinv, ndtr, log_ndtr, ndtri.
// erfcx(x) = e^(x^2) erfc(x) is a polynomial in (x - 3) / (x + 3), divided by 1 + 2x, for all x >= 0 (Shepherd and
// Laframboise, 1981); in f32 one in (x - 1) / (x + 1), divided by 1 + x, for one division instead of two. Tails are
// erfcx times e^(-x^2), with x^2 in two parts, and so right down to where they vanish. The inverses are polynomials in
// w = -log(1 - x^2) (Giles, 2010), and in 1 / sqrt(w) where w is large; in f64 they are improved by one step of
// Halley's method on log(erfc). Coefficients are minimax ones (Remez).
#pragma once
#include "tt/ops/math_erf.hpp"
#include "tt/ops/math_log.hpp"

namespace tt {

namespace detail {

/// erfcx(x scale) for x >= 0.
template <class T>
TT_ALWAYS_INLINE constexpr auto erfcx_above(auto x, T scale = 1) {
  if constexpr (sizeof(T) == 4) {
    const auto u = 1 / fma(x, scale, 1);
    return u * horner(fma(u, T(-2), T(1)), -0x1.a21ba2p-13f, -0x1.671c84p-14f, 0x1.da76b6p-11f, 0x1.fb40b2p-11f, -0x1.ac9d3ap-11f, -0x1.5e14a4p-9f, -0x1.d01dcap-9f,
                      -0x1.216718p-10f, 0x1.37d85cp-7f, 0x1.9fc2a2p-6f, 0x1.c7dd46p-7f, -0x1.87650ap-4f, -0x1.e6c54cp-3f, 0x1.b5d878p-1f);
  } else {
    const auto s = x * scale, t = 1 - T(6) / (s + 3);
    const auto p = horner(t, 0x1.c2253477f2b2ap-31, 0x1.1163798238e4bp-30, -0x1.163465e0759b3p-27, -0x1.cb0b93b42992dp-27, 0x1.5e136dfba663ep-25,
                          0x1.b5e1093935f4cp-24, -0x1.2cb1451f34cc9p-23, -0x1.4b1f2e286d751p-21, 0x1.7d8a35aafd397p-22, 0x1.d2129c2571c3dp-19,
                          -0x1.883881414499ap-21, -0x1.513b847a0cddcp-16, 0x1.4c20ba657d251p-18, 0x1.065a36d5d7ffp-13, -0x1.b9125bcf28428p-14,
                          -0x1.98db5100c1a3fp-11, 0x1.ef1bdcf948063p-10, 0x1.4b884e436a2e4p-9, -0x1.8574c40b484b3p-6, 0x1.17ca2877f1643p-4,
                          -0x1.e88b803a4af53p-4, 0x1.098366a5b46b1p-3, -0x1.85a15c58aa4bp-5, -0x1.15c084bb9e8f3p-3, 0x1.40c522d7e4987p+0);
    return T(0.5) * p / (s + T(0.5));
  }
}
/// e^(x^2 scale), for x^2 in range and scale a power of two; the rounding error of the square is corrected.
template <class T>
TT_ALWAYS_INLINE constexpr auto exp_of_square(auto x, T scale) {
  using I = typename same_size_integer<T>::type;
  constexpr I upper = sizeof(T) == 4 ? I(-0x1000) : I(-0x8000000);
  const auto head = bitcast<T>(bitcast<I>(x) & upper);
  const auto square = x * x, lost = (head * head - square) + (x - head) * (x + head);
  const auto e = exp(square * scale);
  return e + e * (lost * scale);
}
/// |x|, limited to a bound at which e^-x^2 is 0 (2 e^x^2 infinite).
template <class T>
TT_ALWAYS_INLINE constexpr auto size_below(auto x, T bound_f32, T bound_f64) {
  return within(abs(x), T(0), sizeof(T) == 4 ? bound_f32 : bound_f64);
}
/// The normal distribution function of -|x|, and erfcx(|x| / sqrt 2).
template <class R>
struct NormalTail {
  R probability, scaled;
};
template <class T>
TT_ALWAYS_INLINE constexpr auto normal_tail(auto x) {
  const auto scaled = erfcx_above<T>(abs(x), T(0.70710678118654752440));
  const auto e = exp_of_square<T>(size_below<T>(x, T(16), T(40)), T(-0.5));
  return NormalTail{T(0.5) * e * scaled, scaled};
}

}  // namespace detail

struct Erfc {
  static constexpr OpInfo info{.name = "erfc", .max_ulp = 5.5f, .max_ulp_f64 = 5};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = detail::size_below<T>(x, T(12), T(30));
    const auto tail = detail::exp_of_square<T>(a, T(-1)) * detail::erfcx_above<T>(a);
    const auto any = where(x < 0, 2 - tail, tail);
    if constexpr (sizeof(T) == 4) return any;
    else return where(a < T(0.5), 1 - fma(detail::erf_near<T>(a * a), x, x), any);  // without this up to 6 ulp there
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * (-1.1283791670955126 * exp(-(x * x))); }
};
/// 1 - erf(x), elementwise, right down to where it vanishes.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Erfc, A> erfc(A&& a, SourceLine at = here()) {
  return call<Erfc>(at, static_cast<A&&>(a));
}

struct Erfcx {
  static constexpr OpInfo info{.name = "special_erfcx", .max_ulp = 3.5f, .max_ulp_f64 = 5};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto above = detail::erfcx_above<T>(abs(x));
    return where(x < 0, 2 * detail::exp_of_square<T>(detail::size_below<T>(x, T(9.4), T(26.64)), T(1)) - above, above);
  }
  static constexpr auto derivative(auto x, auto y, auto grad) { return grad * (2 * x * y - 1.1283791670955126); }
};

struct Ndtr {
  static constexpr OpInfo info{.name = "special_ndtr", .max_ulp = 5.25f, .max_ulp_f64 = 4};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return where(x < T(-0.7), detail::normal_tail<T>(x).probability, T(0.5) + T(0.5) * erf(x * T(0.70710678118654752440)));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * (0.39894228040143267794 * exp(-0.5 * (x * x))); }
};

struct LogNdtr {
  static constexpr OpInfo info{.name = "special_log_ndtr", .max_ulp = 5.75f, .max_ulp_f64 = 5};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto tail = detail::normal_tail<T>(x);
    const auto other = where(x > T(0.7), tail.probability, T(0.5) - T(0.5) * erf(x * T(0.70710678118654752440)));
    return where(x < -1, log(T(0.5) * tail.scaled) - T(0.5) * x * x, log1p(-where(x < -1, 0, other)));
  }
  /// The density divided by the probability, which is about 1 from 5 on; erfcx overflows there.
  static constexpr auto derivative(auto x, auto y, auto grad) {
    const auto low = where(x < 5, x, 0), high = where(x < 5, 5, x);
    return grad * where(x < 5, 0.79788456080286535588 / call<Erfcx>(here(), low * -0.70710678118654752440), 0.39894228040143267794 * exp(-0.5 * (high * high) - where(x < 5, 0, y)));
  }
};

namespace detail {

/// erfinv(x) / x from w = -log(1 - x^2), for w up to 6.
template <class T>
TT_ALWAYS_INLINE constexpr auto erfinv_near(auto w) {
  if constexpr (sizeof(T) == 4) {
    return horner(w - 3, -0x1.906886p-28f, -0x1.29e588p-28f, 0x1.e92d02p-22f, -0x1.fa170ap-20f, -0x1.ac0f98p-17f, 0x1.99f18ep-13f, -0x1.b657ap-11f,
                  -0x1.781568p-8f, 0x1.eedbe2p-3f, 0x1.9fa074p+0f);
  } else {
    return horner(w - 3.125, -0x1.46e1ebfd7b709p-68, -0x1.8fa9fc678ea37p-63, 0x1.864db95cae557p-60, 0x1.9d1a5fc8b2d82p-57, -0x1.355b9ef11c38fp-53,
                  0x1.72c6410fab59cp-56, 0x1.df16740ee31e6p-48, -0x1.6d1ae6884f6f6p-45, -0x1.6f887945795f2p-44, 0x1.729f309d98ed1p-39,
                  -0x1.c8816d79d7be1p-37, -0x1.dc575733d99f1p-35, 0x1.20f460f3633b9p-30, -0x1.1a9e3e4919a0ep-28, -0x1.f36cd3387e6b3p-26,
                  0x1.c6b4f5f7a708fp-22, -0x1.6e8a5446114f7p-20, -0x1.d1d1f7b9aecb2p-17, 0x1.879c2a21446b9p-13, -0x1.845769484d863p-11,
                  -0x1.8b6c33114fb97p-8, 0x1.ebd80d9b13e23p-3, 0x1.a755e7c99ae87p+0);
  }
}
/// The y with erfc(y) = d, from w = -log(d (2 - d)), for w above 6.
template <class T>
TT_ALWAYS_INLINE constexpr auto erfcinv_far(auto d, auto w) {
  const auto s = sqrt(w), v = 1 / s - T(0.25);
  if constexpr (sizeof(T) == 4) {
    const auto p = horner(v, 0x1.e5a4bcp+14f, 0x1.82c1fap+12f, -0x1.65adfap+11f, -0x1.8524p+9f, 0x1.0cc636p+6f, 0x1.1f8104p+5f, 0x1.777a0cp+2f,
                          -0x1.213242p-1f, 0x1.21b1ap-1f, 0x1.4a37f8p-4f, -0x1.95e38ap-3f, 0x1.eb7e0ap-1f);
    return p * s * (1 - d);
  } else {
    const auto p = horner(v, 0x1.b2331709ebf24p+15, 0x1.35437e175151ap+15, 0x1.0062582b1dacap+11, -0x1.a34024160ac09p+11, -0x1.4b88f47426431p+9,
                          0x1.34f8d245afeafp+6, 0x1.13c470db8488fp+5, 0x1.71fcde924c879p+2, -0x1.1cf2560c2b44ep-1, 0x1.21d65175a4264p-1,
                          0x1.4a2688985259cp-4, -0x1.95e3a9fa162dbp-3, 0x1.eb7e095a4b2dap-1);
    const auto y = p * s * (1 - d), e = erfcx_above<double>(y);
    const auto slope = -1.1283791670955126 / e, step = ((log(e) - y * y) - log(d)) / slope;
    return y - step * (1 - 0.5 * step * (2 * y + slope));
  }
}

/// erfinv(a) from d = 1 - a and w = -log(1 - a^2), for w above 6. For w below 17, all that f32 needs, a polynomial in
/// sqrt(w), without a division (minimax, Remez).
template <class T>
TT_ALWAYS_INLINE constexpr auto erfinv_far(auto a, auto d, auto w) {
  if constexpr (sizeof(T) == 4) {
    return horner(sqrt(w) - T(3.25), -0x1.e02e42p-13f, 0x1.e992ap-11f, -0x1.cd8f5ap-10f, 0x1.4852e6p-9f, -0x1.e9a086p-9f, 0x1.5fdd36p-8f, 0x1.015898p+0f,
                  0x1.8abcc4p+1f) * a;
  } else {
    const auto inside = w > 6 && d > 0;
    return erfcinv_far<T>(where(inside, d, T(0.0001)), where(inside, w, T(8.5)));
  }
}

}  // namespace detail

struct Erfinv {
  static constexpr OpInfo info{.name = "erfinv", .max_ulp = 4, .max_ulp_f64 = 4};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), d = 1 - a, w = -log(d * (1 + a));
    const auto y = where(w > 6, detail::erfinv_far<T>(a, d, w), detail::erfinv_near<T>(w) * a);
    const auto size = where(a < 1, y, where(a == 1, infinity<T>, std::numeric_limits<T>::quiet_NaN()));
    return detail::copy_sign<T>(size + 0 * x, x);
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (0.88622692545275801365 * exp(y * y)); }
};
/// The inverse of erf, elementwise: +-inf at +-1, NaN beyond.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Erfinv, A> erfinv(A&& a, SourceLine at = here()) {
  return call<Erfinv>(at, static_cast<A&&>(a));
}

struct Ndtri {
  static constexpr OpInfo info{.name = "special_ndtri", .max_ulp = 5, .max_ulp_f64 = 5};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto p) {
    const auto below = p < T(0.5);
    const auto q = where(below, p, 1 - p), d = q + q, w = -log(d * (2 - d));
    const auto far = w > 6;
    const auto near = detail::erfinv_near<T>(where(far, 0, w)) * (1 - d);
    const auto y = where(far, detail::erfcinv_far<T>(where(far && q > 0, d, T(0.0001)), where(far && q > 0, w, T(8.5))), near) * T(1.41421356237309504880);
    const auto size = where(q > 0, y, where(q == 0, infinity<T>, std::numeric_limits<T>::quiet_NaN()));
    return where(below, -size, size);
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (2.5066282746310005024 * exp(0.5 * (y * y))); }
};

namespace special {
/// e^(x^2) erfc(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Erfcx, A> erfcx(A&& a, SourceLine at = here()) {
  return call<Erfcx>(at, static_cast<A&&>(a));
}
/// The normal distribution function, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Ndtr, A> ndtr(A&& a, SourceLine at = here()) {
  return call<Ndtr>(at, static_cast<A&&>(a));
}
/// The logarithm of ndtr, without cancellation or underflow.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<LogNdtr, A> log_ndtr(A&& a, SourceLine at = here()) {
  return call<LogNdtr>(at, static_cast<A&&>(a));
}
/// The inverse of ndtr: -inf at 0, inf at 1, NaN outside of [0, 1].
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Ndtri, A> ndtri(A&& a, SourceLine at = here()) {
  return call<Ndtri>(at, static_cast<A&&>(a));
}
}  // namespace special

}  // namespace tt
