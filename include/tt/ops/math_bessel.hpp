// Modified Bessel functions of orders 0 and 1. Up to 15 (f32: 8) a polynomial in x^2 / 4, without cancellation as all
// coefficients of the series are positive; above, one in 1 / x, times e^|x| / sqrt(|x|). Coefficients are minimax ones (Remez).
#pragma once
#include "tt/ops/math_hyperbolic.hpp"

namespace tt {

namespace detail {

template <class T>
inline constexpr T bessel_far = sizeof(T) == 4 ? T(8) : T(15);

/// I0(x), or 2 I1(x) / x, from z = x^2 / 4, for |x| up to bessel_far.
template <class T, int Order>
TT_ALWAYS_INLINE constexpr auto bessel_near(auto z) {
  if constexpr (sizeof(T) == 4 && Order == 0) {
    return horner(z, 0x1.40540ep-43f, 0x1.6f5596p-38f, 0x1.6acb82p-31f, 0x1.4dd942p-25f, 0x1.035ffp-19f, 0x1.23357ap-14f, 0x1.c71ef6p-10f,
                  0x1.c71c3ap-6f, 0x1.000002p-2f, 1.0f, 1.0f);
  } else if constexpr (sizeof(T) == 4) {
    return horner(z, 0x1.95e402p-40f, 0x1.940ebcp-35f, 0x1.6c4c7p-28f, 0x1.23e148p-22f, 0x1.8518c4p-17f, 0x1.6c0296p-12f, 0x1.c71edp-8f,
                  0x1.555534p-4f, 0x1.000002p-1f, 1.0f);
  } else if constexpr (Order == 0) {
    return horner(z, 0x1.9cf64aa251c4ap-139, -0x1.fa9341d7d6d05p-134, 0x1.57e5e6f0990d5p-122, 0x1.32c9af99f1ce4p-114, 0x1.060f4db31a2f1p-105,
                  0x1.3e76d1a2f08e5p-97, 0x1.6a627014045ccp-89, 0x1.69e7e6b67d337p-81, 0x1.3e24b835d8808p-73, 0x1.e724ffc69da62p-66,
                  0x1.4197ae8758357p-58, 0x1.69ca9c31db706p-51, 0x1.5601886fc69bfp-44, 0x1.0b3132888b6f1p-37, 0x1.522a43f67466p-31,
                  0x1.522a43f652161p-25, 0x1.02e85c0898d92p-19, 0x1.23456789abcb6p-14, 0x1.c71c71c71c72p-10, 0x1.c71c71c71c71cp-6, 0.25, 1.0, 1.0);
  } else {
    return horner(z, 0x1.184ede094eba8p-143, -0x1.ef33a0f880c29p-139, 0x1.fce3ffa7225e5p-127, 0x1.f43062461451p-119, 0x1.b7637f22da29dp-110,
                  0x1.1b6259cc8dddfp-101, 0x1.54ff29060861bp-93, 0x1.69eb2b38f0ef3p-85, 0x1.5359e8d7f4a5bp-77, 0x1.165e55ec0e8d1p-69,
                  0x1.8bce5e6a34214p-62, 0x1.e2637b3af61cdp-55, 0x1.f17697e026484p-48, 0x1.ab81ea74bf2fbp-41, 0x1.2c9758db075f7p-34,
                  0x1.522a43f653156p-28, 0x1.27e4fb778a0b9p-22, 0x1.845c8a0ce510dp-17, 0x1.6c16c16c16c18p-12, 0x1.c71c71c71c71cp-8,
                  0x1.5555555555555p-4, 0.5, 1.0);
  }
}
/// e^-x sqrt(x) I(x) from u = 1 / x, for x above bessel_far.
template <class T, int Order>
TT_ALWAYS_INLINE constexpr auto bessel_above(auto u) {
  if constexpr (sizeof(T) == 4 && Order == 0) {
    return horner(u, 0x1.8d4868p-2f, -0x1.c5e874p-7f, 0x1.14c4e6p-5f, 0x1.c91806p-6f, 0x1.98881ap-5f, 0x1.988454p-2f);
  } else if constexpr (sizeof(T) == 4) {
    return horner(u, -0x1.cf3b12p-2f, 0x1.3dc4d4p-7f, -0x1.7a1c8cp-5f, -0x1.7d8c7ap-5f, -0x1.326458p-3f, 0x1.988454p-2f);
  } else if constexpr (Order == 0) {
    return horner(u, 0x1.0e5eb659fdda2p+19, -0x1.442118f097408p+17, 0x1.6ce76dfa6d95bp+14, -0x1.c6a639f1830a7p+10, 0x1.a35d8dec2d669p+6,
                  -0x1.794d4b5028b84p-1, 0x1.832f6855c30afp-1, 0x1.d211b8cfb40cfp-3, 0x1.731ff8f1a675cp-4, 0x1.6e874dd227cabp-5,
                  0x1.debb10e57d7e5p-6, 0x1.cb94dda5ba35ep-6, 0x1.9884533d43395p-5, 0x1.9884533d43651p-2);
  } else {
    return horner(u, -0x1.248e47e4ac1e7p+19, 0x1.61740dc5b4eedp+17, -0x1.91bd59724dd64p+14, 0x1.faff15b74bcffp+10, -0x1.db098d669de22p+6,
                  0x1.dccc3d3f373b2p-1, -0x1.c0d9cd2902874p-1, -0x1.1347297b19a28p-2, -0x1.c59b97b23b36ap-4, -0x1.d7402b35d3fcep-5,
                  -0x1.4f1c8c0571591p-5, -0x1.7efc0e09ce0cep-5, -0x1.32633e6df2811p-3, 0x1.9884533d43651p-2);
  }
}
/// I(|x|), or e^-|x| I(|x|) if `Scaled`.
template <class T, int Order, bool Scaled>
TT_ALWAYS_INLINE constexpr auto bessel(auto x) {
  const auto a = abs(x);
  const auto far = a > bessel_far<T>;
  const auto b = where(far, 1, a), c = where(far, a, bessel_far<T>);
  const auto series = bessel_near<T, Order>(T(0.25) * b * b);
  const auto near = [=]() TT_LAMBDA_INLINE {
    if constexpr (Order == 1) return T(0.5) * b * series;
    else return series;
  };
  const auto above = bessel_above<T, Order>(1 / c);
  if constexpr (Scaled) return where(far, above / sqrt(c), near() * exp(-b));
  else return where(far, exp_scaled_down<T>(c, 8) * (above / sqrt(within(c, T(1), T(1000)))) * 256, near());
}
/// 1, 0 or -1 in the dtype of x.
TT_ALWAYS_INLINE constexpr auto sign_of(auto x) { return where(x > 0, 1, where(x < 0, -1, 0 * x)); }

}  // namespace detail

struct I0 {
  static constexpr OpInfo info{.name = "i0", .max_ulp = 4.75f, .max_ulp_f64 = 10};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return detail::bessel<T, 0, false>(x);
  }
  static constexpr auto derivative(auto x, auto, auto grad);
};
struct I0e {
  static constexpr OpInfo info{.name = "special_i0e", .max_ulp = 4.25f, .max_ulp_f64 = 10};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return detail::bessel<T, 0, true>(x);
  }
  static constexpr auto derivative(auto x, auto y, auto grad);
};
namespace detail {
/// y / x, which is 1/2 at 0, also differentiable.
TT_ALWAYS_INLINE constexpr auto slope_from_zero(auto y, auto x) {
  const auto near = abs(x) < 1e-30;
  return where(near, 0.5, y / where(near, 1, x));
}
}  // namespace detail
struct I1 {
  static constexpr OpInfo info{.name = "special_i1", .max_ulp = 4.75f, .max_ulp_f64 = 10};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return detail::copy_sign<T>(detail::bessel<T, 1, false>(x), x);
  }
  static constexpr auto derivative(auto x, auto y, auto grad) { return grad * (call<I0>(here(), x) - detail::slope_from_zero(y, x)); }
};
struct I1e {
  static constexpr OpInfo info{.name = "special_i1e", .max_ulp = 4, .max_ulp_f64 = 10};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return detail::copy_sign<T>(detail::bessel<T, 1, true>(x), x);
  }
  static constexpr auto derivative(auto x, auto y, auto grad) {
    return grad * (call<I0e>(here(), x) - y * detail::sign_of(x) - detail::slope_from_zero(y, x));
  }
};
/// The modified Bessel function of the first kind of order 0, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<I0, A> i0(A&& a, SourceLine at = here()) {
  return call<I0>(at, static_cast<A&&>(a));
}
namespace special {
/// e^-|x| i0(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<I0e, A> i0e(A&& a, SourceLine at = here()) {
  return call<I0e>(at, static_cast<A&&>(a));
}
/// The modified Bessel function of the first kind of order 1, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<I1, A> i1(A&& a, SourceLine at = here()) {
  return call<I1>(at, static_cast<A&&>(a));
}
/// e^-|x| i1(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<I1e, A> i1e(A&& a, SourceLine at = here()) {
  return call<I1e>(at, static_cast<A&&>(a));
}
}  // namespace special

constexpr auto I0::derivative(auto x, auto, auto grad) { return grad * special::i1(x); }
constexpr auto I0e::derivative(auto x, auto y, auto grad) { return grad * (special::i1e(x) - detail::sign_of(x) * y); }

}  // namespace tt
