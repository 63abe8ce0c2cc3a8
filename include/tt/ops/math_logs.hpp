// log10, hypot, conversion of angles, and logarithms of sums, products and odds.
#pragma once
#include "tt/ops/activation.hpp"

namespace tt {

struct Log10 {
  static constexpr OpInfo info{.name = "log10", .max_ulp = 1.25f, .max_ulp_f64 = 1.25f};

  /// (f + tail) log10(e) with the product of f's upper half exact.
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    using I = typename detail::same_size_integer<T>::type;
    constexpr I upper = sizeof(T) == 4 ? I(-0x1000) : I(-0x8000000);
    constexpr T high = sizeof(T) == 4 ? T(0x1.bcap-2) : T(0x1.bcb7b1p-2), low = sizeof(T) == 4 ? T(0x1.7b1526p-14) : T(0x1.49b9438ca9aaep-28);
    constexpr T two_high = sizeof(T) == 4 ? T(0x1.344p-2) : T(0x1.34413509f78p-2);
    constexpr T two_low = sizeof(T) == 4 ? T(0x1.3509f8p-18) : T(0x1.fef311f12b358p-46);
    const auto reduced = detail::reduce_log<T>(x);
    const auto f = reduced.f, e = reduced.e, tail = detail::log_tail<T>(f);
    const auto f_high = bitcast<T>(bitcast<I>(f) & upper);
    const auto rest = fma(e, two_low, fma(tail, T(0.43429448190325182765), fma(f, low, (f - f_high) * high)));
    const auto whole = e * two_high, part = f_high * high, sum = whole + part;
    return detail::log_edges<T>(x, sum + (rest + (part - (sum - whole))));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / (x * 2.302585092994045684); }
};
/// Logarithm to base 10, elementwise: -inf at 0, NaN below.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Log10, A> log10(A&& a, SourceLine at = here()) {
  return call<Log10>(at, static_cast<A&&>(a));
}

/// Operands are scaled by a power of two before they are squared, so that the squares neither overflow nor vanish.
struct Hypot {
  static constexpr OpInfo info{.name = "hypot", .arity = 2, .max_ulp = 1.25f, .max_ulp_f64 = 1.25f};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) {
    constexpr T large = sizeof(T) == 4 ? T(0x1p60) : T(0x1p500), down = sizeof(T) == 4 ? T(0x1p-70) : T(0x1p-600);
    constexpr T small = sizeof(T) == 4 ? T(0x1p-40) : T(0x1p-400), up = sizeof(T) == 4 ? T(0x1p100) : T(0x1p700);
    const auto a = abs(x), b = abs(y), most = maximum(a, b);
    const auto is_large = most > large, is_small = most < small;
    const auto u = where(is_large, a * down, where(is_small, a * up, a)), v = where(is_large, b * down, where(is_small, b * up, b));
    const auto root = sqrt(fma(u, u, v * v));
    const auto y_scaled = where(is_large, root * (1 / down), where(is_small, root * (1 / up), root));
    return where(a == infinity<T> || b == infinity<T>, infinity<T>, y_scaled);
  }
  static constexpr auto derivative(auto a, auto b, auto y, auto grad) { return Gradients{grad * (a / y), grad * (b / y)}; }
};
/// sqrt(a^2 + b^2), elementwise, without overflow of intermediate results.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Hypot, A, B> hypot(A&& a, B&& b, SourceLine at = here()) {
  return call<Hypot>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

struct Deg2rad {
  static constexpr OpInfo info{.name = "deg2rad", .max_ulp = 1};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x * 0.017453292519943295769; }
};
/// Degrees as radians, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Deg2rad, A> deg2rad(A&& a, SourceLine at = here()) {
  return call<Deg2rad>(at, static_cast<A&&>(a));
}

struct Rad2deg {
  static constexpr OpInfo info{.name = "rad2deg", .max_ulp = 1};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x * 57.295779513082320877; }
};
/// Radians as degrees, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Rad2deg, A> rad2deg(A&& a, SourceLine at = here()) {
  return call<Rad2deg>(at, static_cast<A&&>(a));
}

struct Frac {
  static constexpr OpInfo info{.name = "frac", .domain = Domain::floating};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x - trunc(x); }
};
/// x - trunc(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Frac, A> frac(A&& a, SourceLine at = here()) {
  return call<Frac>(at, static_cast<A&&>(a));
}

/// Around 1/2 by log1p, as the quotient is close to 1 there.
struct Logit {
  static constexpr OpInfo info{.name = "logit", .max_ulp = 3, .max_ulp_f64 = 3};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto middle = x > 0.3 && x < 0.7;
    return where(middle, log1p((2 * where(middle, x, 0.5) - 1) / (1 - where(middle, x, 0.5))), log(x / (1 - x)));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return where(x < 0 || x > 1, std::numeric_limits<double>::quiet_NaN(), grad / (x * (1 - x))); }
};
/// log(x / (1 - x)), elementwise; NaN outside of [0, 1].
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Logit, A> logit(A&& a, SourceLine at = here()) {
  return call<Logit>(at, static_cast<A&&>(a));
}

/// sin(pi x) from the distance of x to the nearest integer, which is exact.
struct Sinc {
  static constexpr OpInfo info{.name = "sinc", .max_ulp = 4, .max_ulp_f64 = 4};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto s = alternating(x, sin(distance(x) * pi));
    return where(x == 0, 1, s / (where(x == 0, 1, x) * pi));
  }
  /// The series near 0, where cos(pi x) - sinc(x) cancels.
  static constexpr auto derivative(auto x, auto y, auto grad) {
    const auto near = abs(x) < 0.25;
    const auto z = (x * pi) * (x * pi);
    const auto series = detail::horner(z, -14.0 / 1307674368000, 12.0 / 6227020800, -10.0 / 39916800, 8.0 / 362880, -6.0 / 5040, 4.0 / 120, -2.0 / 6);
    const auto far = (alternating(x, cos(distance(x) * pi)) - y) / where(near, 1, x);
    return grad * where(near, series * (x * (pi * pi)), far);
  }

 private:
  static constexpr double pi = 3.14159265358979323846;
  static TT_ALWAYS_INLINE constexpr auto distance(auto x) { return x - round(x); }
  /// y, or -y where the integer nearest to x is odd.
  static TT_ALWAYS_INLINE constexpr auto alternating(auto x, auto y) {
    const auto half = 0.5 * round(x);
    return where(trunc(half) != half, -y, y);
  }
};
/// sin(pi x) / (pi x), elementwise; 1 at 0.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Sinc, A> sinc(A&& a, SourceLine at = here()) {
  return call<Sinc>(at, static_cast<A&&>(a));
}

/// The error is in units of the first operand, if that is larger: where the result is close to 0, the sum cancels.
struct Logaddexp {
  static constexpr OpInfo info{.name = "logaddexp", .arity = 2, .max_ulp = 8, .max_ulp_f64 = 8};
  /// 0 for equal infinities; for other equal numbers an expression that depends on both, for further derivatives.
  static TT_ALWAYS_INLINE constexpr auto difference(auto a, auto b) {
    const auto d = a - b;
    return where(d == d || a != b, d, 0);
  }
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return maximum(a, b) + log1p(exp(-abs(difference(a, b)))); }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) {
    const auto d = difference(a, b);
    return Gradients{grad * sigmoid(d), grad * sigmoid(-d)};
  }
};
/// log(e^a + e^b), elementwise, without overflow of intermediate results.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Logaddexp, A, B> logaddexp(A&& a, B&& b, SourceLine at = here()) {
  return call<Logaddexp>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

/// The error is counted as that of Logaddexp.
struct Logaddexp2 {
  static constexpr OpInfo info{.name = "logaddexp2", .arity = 2, .max_ulp = 8, .max_ulp_f64 = 8};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) {
    return maximum(a, b) + log1p(exp2(-abs(Logaddexp::difference(a, b)))) * 1.4426950408889634074;
  }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) {
    const auto d = Logaddexp::difference(a, b) * 0.69314718055994530942;
    return Gradients{grad * sigmoid(d), grad * sigmoid(-d)};
  }
};
/// log2(2^a + 2^b), elementwise, without overflow of intermediate results.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Logaddexp2, A, B> logaddexp2(A&& a, B&& b, SourceLine at = here()) {
  return call<Logaddexp2>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

struct Xlogy {
  static constexpr OpInfo info{.name = "xlogy", .arity = 2, .max_ulp = 2, .max_ulp_f64 = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) { return where(x == 0 && y == y, 0, x * log(y)); }
  static constexpr auto derivative(auto x, auto y, auto, auto grad) {
    return Gradients{where(x == 0 && y <= 0, 0, call<Xlogy>(here(), grad, y)), grad * x / y};
  }
};
/// x log(y), elementwise; 0 where x is 0 and y a number.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Xlogy, A, B> xlogy(A&& a, B&& b, SourceLine at = here()) {
  return call<Xlogy>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

struct Xlog1py {
  static constexpr OpInfo info{.name = "special_xlog1py", .arity = 2, .max_ulp = 2.5f, .max_ulp_f64 = 2.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) { return where(x == 0 && y == y, 0, x * log1p(y)); }
  static constexpr auto derivative(auto x, auto y, auto, auto grad) {
    return Gradients{where(x == 0 && y <= -1, 0, call<Xlog1py>(here(), grad, y)), grad * x / (y + 1)};
  }
};
struct Entr {
  static constexpr OpInfo info{.name = "special_entr", .max_ulp = 2, .max_ulp_f64 = 2};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto y = -x * log(where(x > 0, x, 1));
    return where(x < 0, -infinity<T>, where(x == 0, 0, where(x == x, y, x)));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * (-1 - log(x)); }
};
namespace special {
/// x log1p(y), elementwise; 0 where x is 0 and y a number.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Xlog1py, A, B> xlog1py(A&& a, B&& b, SourceLine at = here()) {
  return call<Xlog1py>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
/// -x log(x), elementwise; 0 at 0, -inf below.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Entr, A> entr(A&& a, SourceLine at = here()) {
  return call<Entr>(at, static_cast<A&&>(a));
}
}  // namespace special

}  // namespace tt
