// Small functions of several operands: signs, selections, interpolation, sums of products, adjacent floats.
#pragma once
#include "tt/ops/activation.hpp"
#include "tt/ops/math_division.hpp"

namespace tt {

struct Copysign {
  static constexpr OpInfo info{.name = "copysign", .arity = 2};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto sign) {
    return detail::copy_sign<T>(x, sign);
  }
  static constexpr auto derivative(auto x, auto sign, auto y, auto grad) {
    return Gradients{where(x == 0, 0, where(x == y, grad, -grad)), detail::zero_of(sign)};
  }
};
/// |a| with the sign of b, also that of a zero. The gradient at 0 is 0.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Copysign, A, B> copysign(A&& a, B&& b, SourceLine at = here()) {
  return call<Copysign>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

namespace detail {
/// The next float from a towards b; `step`: difference between the bits of neighbours.
template <class T>
TT_ALWAYS_INLINE constexpr auto next_number(auto a, auto b, int step) {
  using I = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto bits = bitcast<I>(a), zero = bits ^ bits, moved = where((a < b && a > 0) || (a > b && a < 0), bits + step, bits - step);
  const auto smallest = bitcast<T>(where(b > 0, zero + step, zero - static_cast<std::int64_t>(std::numeric_limits<I>::max() - step + 1)));
  return where(a != a, a, where(b != b || a == b, b, where(a == 0, smallest, bitcast<T>(moved))));
}
}  // namespace detail
/// See nextafter in functional/elementwise.hpp.
struct NextNumber {
  static constexpr OpInfo info{.name = "_next_number", .arity = 2};
  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) {
    return detail::next_number<T>(a, b, 1);
  }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) { return Gradients{where(a == b, 0, grad), detail::zero_of(b)}; }
};
/// x, with replacements for NaN and the infinities.
struct ReplaceNonfinite {
  static constexpr OpInfo info{.name = "_replace_nonfinite", .arity = 4};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto nan, auto posinf, auto neginf) {
    constexpr double inf = __builtin_inf();
    return where(x == inf, posinf, where(x == -inf, neginf, where(x != x, nan, x)));
  }
};
struct ZeroOfNan {
  static constexpr OpInfo info{.name = "_zero_of_nan"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return where(x != x, 0, x); }
};

struct Fmax {
  static constexpr OpInfo info{.name = "fmax", .domain = Domain::number, .arity = 2, .of_bool = OfBool::bools};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return where(a >= b || b != b, a, b); }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) {
    const auto first = where(a >= b || b != b, grad, 0), half = 0.5 * grad;
    return Gradients{where(a == b, half, first), where(a == b, half, grad - first)};
  }
};
/// Elementwise larger of a and b; of a number and NaN the number. Equal operands share the gradient evenly.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Fmax, A, B> fmax(A&& a, B&& b, SourceLine at = here()) {
  return call<Fmax>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

struct Fmin {
  static constexpr OpInfo info{.name = "fmin", .domain = Domain::number, .arity = 2, .of_bool = OfBool::bools};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) { return where(a <= b || b != b, a, b); }
  static constexpr auto derivative(auto a, auto b, auto, auto grad) {
    const auto first = where(a <= b || b != b, grad, 0), half = 0.5 * grad;
    return Gradients{where(a == b, half, first), where(a == b, half, grad - first)};
  }
};
/// Elementwise smaller of a and b; of a number and NaN the number. Equal operands share the gradient evenly.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Fmin, A, B> fmin(A&& a, B&& b, SourceLine at = here()) {
  return call<Fmin>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

struct Heaviside {
  static constexpr OpInfo info{.name = "heaviside", .domain = Domain::number, .arity = 2, .of_bool = OfBool::bools, .schema = "Tensor input, Tensor values"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto values) { return where(x == 0, values, where(x > 0, 1, detail::zero_of(x))); }
};
/// 0 below 0 and for NaN (NumPy: NaN), 1 above 0, and `values` at 0.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Heaviside, A, B> heaviside(A&& a, B&& values, SourceLine at = here()) {
  return call<Heaviside>(at, static_cast<A&&>(a), static_cast<B&&>(values));
}

/// Computed from the nearer end, so that both ends are exact. The error is in units of the larger end.
struct Lerp {
  static constexpr OpInfo info{.name = "lerp", .arity = 3, .max_ulp = 3.5f, .schema = "Tensor input, Tensor end, Scalar weight"};
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b, auto weight) {
    const auto way = b - a;
    return where(abs(weight) < 0.5, a + weight * way, b - way * (1 - weight));
  }
  static constexpr auto derivative(auto a, auto b, auto weight, auto, auto grad) {
    return Gradients{grad * (1 - weight), grad * weight, grad * (b - a)};
  }
};
/// a + weight * (b - a), elementwise.
template <class A, class B, class W>
  requires Operands<A, B, W>
TT_ALWAYS_INLINE constexpr Called<Lerp, A, B, W> lerp(A&& a, B&& b, W&& weight, SourceLine at = here()) {
  return call<Lerp>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<W&&>(weight));
}

struct Addcmul {
  static constexpr OpInfo info{
      .name = "addcmul", .domain = Domain::number, .arity = 4, .max_ulp = 2.5f, .schema = "Tensor input, Tensor tensor1, Tensor tensor2, Scalar value=1"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto a, auto b, auto value) { return x + value * a * b; }
};
/// a + value * b * c, elementwise.
template <class A, class B, class C, Operand V = int>
  requires Operands<A, B, C>
TT_ALWAYS_INLINE constexpr Called<Addcmul, A, B, C, V> addcmul(A&& a, B&& b, C&& c, V&& value = 1, SourceLine at = here()) {
  return call<Addcmul>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), static_cast<V&&>(value));
}

struct Addcdiv {
  static constexpr OpInfo info{.name = "addcdiv", .arity = 4, .max_ulp = 2.5f, .schema = "Tensor input, Tensor tensor1, Tensor tensor2, Scalar value=1"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto a, auto b, auto value) { return x + value * a / b; }
};
/// a + value * b / c, elementwise.
template <class A, class B, class C, Operand V = int>
  requires Operands<A, B, C>
TT_ALWAYS_INLINE constexpr Called<Addcdiv, A, B, C, V> addcdiv(A&& a, B&& b, C&& c, V&& value = 1, SourceLine at = here()) {
  return call<Addcdiv>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), static_cast<V&&>(value));
}

/// -0, which changes no number that it is added to, with the derivative of x: adding it gives a derivative to a result that was computed without one.
struct Tangent {
  static constexpr OpInfo info{.name = "_tangent"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return where(x > 0 && x < 0, x, -0.0); }
  static constexpr auto derivative(auto, auto, auto grad) { return grad; }
};

struct Ldexp {
  static constexpr OpInfo info{.name = "ldexp", .arity = 2, .max_ulp = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto exponent) { return x * exp2(exponent); }
};
/// a * 2^b, elementwise; the power is rounded first, as in PyTorch.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Ldexp, A, B> ldexp(A&& a, B&& b, SourceLine at = here()) {
  return call<Ldexp>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

}  // namespace tt
