// Logarithms: x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), read from the bits of x,
// and log(1 + f) = f + tail(f). In f64 the tail is a series in s = f / (2 + f), as in fdlibm.
// Coefficients are minimax ones (Sollya's fpminimax).
#pragma once
#include "tt/ops/math_exp.hpp"

namespace tt {

namespace detail {

template <class R>
struct LogReduced {
  R f, e;
};
/// For normal x > 0. The mantissa starts at sqrt(1/2), so that e = 0 around 1.
template <class T>
TT_ALWAYS_INLINE constexpr auto reduce_log_normal(auto x) {
  if constexpr (sizeof(T) == 4) {
    const auto i = bitcast<std::int32_t>(x) - 0x3f3504f3;
    return LogReduced{bitcast<float>((i & 0x7fffff) + 0x3f3504f3) - 1, cast<float>(i >> 23)};
  } else {
    const auto i = bitcast<std::int64_t>(x) - 0x3fe6a09e00000000;
    return LogReduced{bitcast<double>((i & 0xfffffffffffff) + 0x3fe6a09e00000000) - 1,
                      bitcast<double>((i >> 52) + 0x4338000000000000) - 0x1.8p52};
  }
}
/// For every x > 0.
template <class T>
TT_ALWAYS_INLINE constexpr auto reduce_log(auto x) {
  constexpr T scale = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
  constexpr T bits = sizeof(T) == 4 ? T(23) : T(52);
  const auto denormal = x < std::numeric_limits<T>::min();
  const auto reduced = reduce_log_normal<T>(where(denormal, x * scale, x));
  return LogReduced{reduced.f, where(denormal, reduced.e - bits, reduced.e)};
}
/// log(1 + f) - f.
template <class T>
TT_ALWAYS_INLINE constexpr auto log_tail(auto f) {
  const auto f2 = f * f;
  if constexpr (sizeof(T) == 4) {
    const auto p =
        horner(f, 0x1.2cb40ep-4f, -0x1.ddb2cep-4f, 0x1.dc75e8p-4f, -0x1.fbbf2ep-4f, 0x1.23de4p-3f,
               -0x1.556288p-3f, 0x1.999d2ap-3f, -0x1.ffffe6p-3f, 0x1.555554p-2f);
    return fma(p * f, f2, -0.5f * f2);
  } else {
    const auto s = f / (f + 2), z = s * s, half = 0.5 * f2;
    const auto p = horner(z, 0x1.2b5b8533b7489p-3, 0x1.39fe212aea87bp-3, 0x1.7462b661a6659p-3,
                          0x1.c71c62e0b72cbp-3, 0x1.2492492df3035p-2, 0x1.9999999995303p-2,
                          0x1.5555555555558p-1);
    return fma(s, fma(z, p, half), -half);
  }
}
/// e ln2 + f + tail, with the high part of ln2 so short that e times it is exact.
template <class T>
TT_ALWAYS_INLINE constexpr auto log_sum(auto f, auto e) {
  constexpr T high = sizeof(T) == 4 ? T(0x1.62e4p-1) : T(0x1.62e42feep-1);
  constexpr T low = sizeof(T) == 4 ? T(0x1.7f7d1cp-20) : T(0x1.a39ef35793c76p-33);
  return fma(e, high, f + fma(e, low, log_tail<T>(f)));
}
/// y, but for the results at 0, below 0, at inf and NaN.
template <class T>
TT_ALWAYS_INLINE constexpr auto log_edges(auto x, auto y) {
  const auto finite = where(x < infinity<T>, y, x);
  const auto at_zero = where(x == 0, -infinity<T>, finite);
  return where(x < 0, std::numeric_limits<T>::quiet_NaN(), at_zero);
}

}  // namespace detail

/// Natural logarithm: -inf at 0, NaN below.
struct Log {
  static constexpr OpInfo info{.name = "log", .max_ulp = 1, .max_ulp_f64 = 1, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto reduced = detail::reduce_log<T>(x);
    return detail::log_edges<T>(x, detail::log_sum<T>(reduced.f, reduced.e));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / x; }
};
/// Natural logarithm, elementwise: -inf at 0, NaN below. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Log, A> log(A&& a, SourceLine at = here()) {
  return call<Log>(at, static_cast<A&&>(a));
}

/// Logarithm to base 2. Exact for powers of two.
struct Log2 {
  static constexpr OpInfo info{
      .name = "log2", .max_ulp = 1.5f, .max_ulp_f64 = 1.5f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto reduced = detail::reduce_log<T>(x);
    const auto f = reduced.f;
    // (f + tail) log2(e), where f is added without a product: log2(e) is 1 + 0.44.
    const auto tail =
        fma(detail::log_tail<T>(f), T(0x1.71547652b82fep+0), f * T(0x1.c551d94ae0bf8p-2));
    return detail::log_edges<T>(x, reduced.e + (f + tail));
  }
  static constexpr auto derivative(auto x, auto, auto grad) {
    return grad / (x * 0.69314718055994530942);
  }
};
/// Logarithm to base 2, elementwise: -inf at 0, NaN below. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Log2, A> log2(A&& a, SourceLine at = here()) {
  return call<Log2>(at, static_cast<A&&>(a));
}

/// log(1 + x) without cancellation near 0: the rounding error of 1 + x is added to f.
struct Log1p {
  static constexpr OpInfo info{
      .name = "log1p", .max_ulp = 1.5f, .max_ulp_f64 = 1.5f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto u = 1 + x;
    const auto lost = x - (u - 1);  // except for large x exactly the rounding error of the sum
    const auto reduced = detail::reduce_log_normal<T>(u);
    const auto scale = power_of_minus<T>(reduced.e);
    const auto y = detail::log_sum<T>(fma(lost, scale, reduced.f), reduced.e);
    return where(abs(x) < T(0x1p-60), x, detail::log_edges<T>(u, y));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / (1 + x); }

 private:
  /// 2^-e; 0 for the two largest e, where the rounding error does not matter.
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto power_of_minus(auto e) {
    constexpr T top = sizeof(T) == 4 ? T(126) : T(1022);
    if constexpr (sizeof(T) == 4)
      return detail::power_of_two<T>(cast<std::int32_t>(where(e > top, -top - 1, -e)));
    else
      return detail::power_of_two<T>(
          bitcast<std::int64_t>(where(e > top, -top - 1, -e) + 0x1.8p52) - 0x4338000000000000);
  }
};
/// log(1 + x), elementwise, accurate near 0. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Log1p, A> log1p(A&& a, SourceLine at = here()) {
  return call<Log1p>(at, static_cast<A&&>(a));
}

}  // namespace tt
