// erf: x + x P(x^2) near 0; beyond that 1 - exp(-Q(|x|)) with Q = -log(erfc), a polynomial fitted with erfc as weight, so
// that its error is small against erf. f32 computes 2^-q with a polynomial that is only as accurate as erfc contributes
// beside 1. Coefficients are minimax ones, by Sollya's remez, or by linear programs that round one after the other.
#pragma once
#include "tt/ops/math_exp.hpp"

namespace tt {

namespace detail {
/// erf(x) / x - 1 from x^2, for |x| below 0.925.
template <class T>
TT_ALWAYS_INLINE constexpr auto erf_near(auto s) {
  if constexpr (sizeof(T) == 4)
    return horner(s, -0x1.38ee02p-11f, 0x1.46febap-8f, -0x1.b683ap-6f, 0x1.ce1a24p-4f, -0x1.8126e6p-2f, 0x1.06eba6p-3f);
  else
    return horner(s, -0x1.ccdcafcab76bcp-31, 0x1.e15b3d357c71ap-27, -0x1.5d65b267cd9b2p-23, 0x1.b9b4d6f293679p-20, -0x1.f4cf4a93d85ddp-17, 0x1.f9a3081af4678p-14,
                  -0x1.c02db3458d5a1p-11, 0x1.565bcd0c3cc2p-8, -0x1.b82ce3128898ap-6, 0x1.ce2f21a043007p-4, -0x1.812746b0379f7p-2, 0x1.06eba8214db69p-3);
}
}  // namespace detail

/// The error function.
struct Erf {
  static constexpr OpInfo info{
      .name = "erf", .max_ulp = 1.5f, .max_ulp_f64 = 1.5f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), s = x * x;
    if constexpr (sizeof(T) == 4) {
      const auto near = detail::erf_near<T>(s);
      const auto t = detail::within<T>(a, 0, 4) - 0.9375f;
      const auto log2_of_erfc = detail::horner(t, 0x1.5eb102p-12f, -0x1.87daa2p-9f, 0x1.fa46p-7f, -0x1.0515cep-4f, -0x1.346a56p+0f, -0x1.d3f48p+1f,
                                               -0x1.37b4bp+1f);
      constexpr float shift = 0x1.8p23f + 127;  // moves the whole part into the low bits, and adds the exponent bias
      const auto shifted = log2_of_erfc + shift;
      const auto r = log2_of_erfc - (shifted - shift);
      const auto minus_power = detail::horner(r, -0x1.42a10cp-13f, -0x1.5f5488p-10f, -0x1.3b2c54p-7f, -0x1.c6aebp-5f, -0x1.ebfbdep-3f, -0x1.62e43p-1f, -1.0f);
      const auto scale = bitcast<float>(bitcast<std::int32_t>(shifted) << 23);
      return detail::flip_sign<T>(where(a < 0.925f, fma(near, a, a), fma(minus_power, scale, 1)), x);
    } else {
      const auto near = detail::erf_near<T>(s);
      const auto t = detail::within<T>(a, 0, 6) - 1.25;
      const auto far = detail::horner(
          t, -0x1.6a44ec94767c1p-40, 0x1.fc11f551b2726p-36, -0x1.45091d46bc1dcp-32,
          0x1.f3827b371036dp-30, -0x1.f1f8fdd11bbefp-28, 0x1.231aa1325ea71p-26,
          0x1.9030978aa1d53p-29, -0x1.0dc641beebb28p-22, 0x1.840b55600648ap-20,
          -0x1.5ab4de50712ep-18, 0x1.6b6c3d7687babp-17, 0x1.50f13f8c5aca2p-17,
          -0x1.02c5926d6bc8ap-12, 0x1.a540a753614c2p-10, -0x1.fea76c4ba2676p-8,
          0x1.0bc5a029778bep-5, 0x1.bddad46f5053bp-1, 0x1.88ab2d9950139p1, 0x1.48050902770fdp1);
      return detail::copy_sign<T>(where(a < 0.925, fma(near, a, a), 1 - detail::exp_in_range<T>(-far)), x);
    }
  }
  static constexpr auto derivative(auto x, auto, auto grad) {
    return grad * (1.1283791670955126 * exp(-(x * x)));
  }
};
/// The error function 2 / sqrt(pi) * integral of e^-t^2 from 0 to x, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Erf, A> erf(A&& a, SourceLine at = here()) {
  return call<Erf>(at, static_cast<A&&>(a));
}

}  // namespace tt
