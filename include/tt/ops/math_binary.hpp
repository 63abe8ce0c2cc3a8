// Functions of two and more operands: lengths, logarithms of sums, interpolation.
#pragma once
#include "tt/ops/math_hyperbolic.hpp"

namespace tt {

struct Hypot {
  static constexpr OpInfo info{.name = "hypot", .arity = 2, .max_ulp = 3, .max_ulp_f64 = 3};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) {
    const auto x = abs(a), y = abs(b), inf = maximum(where(x == __builtin_inf(), x, 0), where(y == __builtin_inf(), y, 0));
    const auto high = maximum(x, y), low = minimum(x, y), safe = where(high == 0, 1, high), r = low / safe;
    return where(inf > 0, inf, where(high == 0, high, high * sqrt(1 + r * r)));
  }
  static constexpr auto derivative(auto a, auto b, auto y, auto grad) { return Gradients{grad * (a / y), grad * (b / y)}; }
};
/// sqrt(a^2 + b^2) without overflow, elementwise.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto hypot(A&& a, B&& b, SourceLine at = here()) { return call<Hypot>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

/// Where the result is near 0 its two parts cancel: the error is in units of the operands, as PyTorch's.
struct Logaddexp {
  static constexpr OpInfo info{.name = "logaddexp", .arity = 2, .max_ulp = 4, .max_ulp_f64 = 4};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return maximum(a, b) + log1p(exp(where(a == b, 0, -abs(a - b)))); }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) {
    const auto s = sigmoid(where(a == b, 0, a - b));
    return Gradients{grad * s, grad * (1 - s)};
  }
};
/// log(e^a + e^b) without overflow, elementwise.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto logaddexp(A&& a, B&& b, SourceLine at = here()) { return call<Logaddexp>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Logaddexp2 {
  static constexpr OpInfo info{.name = "logaddexp2", .arity = 2, .max_ulp = 4, .max_ulp_f64 = 4};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return maximum(a, b) + log1p(exp2(where(a == b, 0, -abs(a - b)))) * 1.4426950408889634074; }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) {
    const auto s = sigmoid(where(a == b, 0, (a - b) * 0.69314718055994530942));
    return Gradients{grad * s, grad * (1 - s)};
  }
};
/// log2(2^a + 2^b) without overflow, elementwise.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto logaddexp2(A&& a, B&& b, SourceLine at = here()) { return call<Logaddexp2>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Xlogy {
  static constexpr OpInfo info{.name = "xlogy", .arity = 2, .max_ulp = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return where(a == 0 && b == b, 0, a * log(where(a == 0 && b == b, 1, b))); }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) { return Gradients{where(a == 0 && b <= 0, 0, grad * log(b)), grad * (a / b)}; }
};
/// a * log(b), and 0 where a is 0 and b is a number, elementwise.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto xlogy(A&& a, B&& b, SourceLine at = here()) { return call<Xlogy>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Xlog1py {
  static constexpr OpInfo info{.name = "xlog1py", .arity = 2, .max_ulp = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return where(a == 0 && b == b, 0, a * log1p(where(a == 0 && b == b, 0, b))); }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) { return Gradients{where(a == 0 && b <= -1, 0, grad * log1p(b)), grad * (a / (b + 1))}; }
};
/// a * log(1 + b), and 0 where a is 0 and b is a number, elementwise.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto xlog1py(A&& a, B&& b, SourceLine at = here()) { return call<Xlog1py>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Copysign {
  static constexpr OpInfo info{.name = "copysign", .arity = 2};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return detail::copy_sign<T>(abs(a), b); }
  static constexpr auto derivative(auto a, auto, auto y, auto grad) { return Gradients{where(a == 0, 0, grad * (y / where(a == 0, 1, a))), 0 * where(a == 0, 0, 0 * grad)}; }
};
/// |a| with the sign of b, elementwise.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto copysign(A&& a, B&& b, SourceLine at = here()) { return call<Copysign>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Fmax {
  static constexpr OpInfo info{.name = "fmax", .domain = Domain::number, .arity = 2, .of_bool = OfBool::bools};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return where(a >= b || b != b, a, b); }
};
/// The larger of a and b, elementwise; of a number and NaN the number.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto fmax(A&& a, B&& b, SourceLine at = here()) { return call<Fmax>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Fmin {
  static constexpr OpInfo info{.name = "fmin", .domain = Domain::number, .arity = 2, .of_bool = OfBool::bools};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return where(a <= b || b != b, a, b); }
};
/// The smaller of a and b, elementwise; of a number and NaN the number.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto fmin(A&& a, B&& b, SourceLine at = here()) { return call<Fmin>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Heaviside {
  static constexpr OpInfo info{.name = "heaviside", .domain = Domain::number, .arity = 2, .of_bool = OfBool::bools, .schema = "Tensor input, Tensor values"};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto v) { return where(a == 0, v, where(a != a, a, where(a > 0, 1, 0))); }
};
/// 0 below 0, 1 above, and b at 0, elementwise.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto heaviside(A&& a, B&& b, SourceLine at = here()) { return call<Heaviside>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Ldexp {
  static constexpr OpInfo info{.name = "ldexp", .arity = 2, .max_ulp = 1.5f, .max_ulp_f64 = 1.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto n) {
    const auto half = floor(n * 0.5);  // in two steps, so that no factor leaves the range
    return a * exp2(half) * exp2(n - half);
  }
};
/// a * 2^b, elementwise.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto ldexp(A&& a, B&& b, SourceLine at = here()) { return call<Ldexp>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

struct Lerp {
  static constexpr OpInfo info{.name = "lerp", .arity = 3, .max_ulp = 2, .schema = "Tensor input, Tensor end, Scalar weight"};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b, auto w) { return where(abs(w) < 0.5, fma(w, b - a, a), b - (b - a) * (1 - w)); }
  static constexpr auto derivative(auto a, auto b, auto w, auto, auto grad) { return Gradients{grad * (1 - w), grad * w, grad * (b - a)}; }
};
/// From a to b: a + weight * (b - a), elementwise.
template <class A, class B, class W>
  requires Operands<A, B, W>
TT_ALWAYS_INLINE constexpr auto lerp(A&& a, B&& b, W&& weight, SourceLine at = here()) {
  return call<Lerp>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<W&&>(weight));
}

struct Addcmul {
  static constexpr OpInfo info{.name = "addcmul", .domain = Domain::number, .arity = 4, .schema = "Tensor input, Tensor tensor1, Tensor tensor2, Scalar value=1"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto a, auto b, auto v) { return x + v * a * b; }
};
struct Addcdiv {
  static constexpr OpInfo info{.name = "addcdiv", .arity = 4, .schema = "Tensor input, Tensor tensor1, Tensor tensor2, Scalar value=1"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto a, auto b, auto v) { return x + v * (a / b); }
};
/// x + value * a * b, elementwise.
template <Value X, Operand A, Operand B, Operand V = int>
TT_ALWAYS_INLINE constexpr auto addcmul(X&& x, A&& a, B&& b, V&& value = 1, SourceLine at = here()) {
  return call<Addcmul>(at, static_cast<X&&>(x), static_cast<A&&>(a), static_cast<B&&>(b), static_cast<V&&>(value));
}
/// x + value * a / b, elementwise.
template <Value X, Operand A, Operand B, Operand V = int>
TT_ALWAYS_INLINE constexpr auto addcdiv(X&& x, A&& a, B&& b, V&& value = 1, SourceLine at = here()) {
  return call<Addcdiv>(at, static_cast<X&&>(x), static_cast<A&&>(a), static_cast<B&&>(b), static_cast<V&&>(value));
}

}  // namespace tt
