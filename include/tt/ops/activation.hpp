// Activations and other small functions: bodies over the mathematical functions. Parameters are operands. Where a body
// chooses between two formulas, the formula that is not chosen gets an argument in its safe range, so that its
// derivative is not 0 * inf.
#pragma once
#include "tt/ops/math.hpp"

namespace tt {

struct Relu {
  static constexpr OpInfo info{.name = "relu", .domain = Domain::number};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return where(x <= 0, 0, x); }
  static constexpr auto derivative(auto, auto y, auto grad) { return where(y <= 0, 0, grad); }
};
/// max(x, 0), elementwise. NaN stays NaN; the gradient at 0 is 0.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Relu, A> relu(A&& a, SourceLine at = here()) {
  return call<Relu>(at, static_cast<A&&>(a));
}

struct LeakyRelu {
  static constexpr OpInfo info{.name = "leaky_relu", .domain = Domain::floating, .arity = 2, .max_ulp = 0.5f, .schema = "Tensor input, Scalar negative_slope=0.01"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto slope) {
    return where(x > 0, x, slope * x);
  }
};
/// x where positive, else slope * x.
template <Value A, Operand S = double>
TT_ALWAYS_INLINE constexpr Called<LeakyRelu, A, S> leaky_relu(A&& a, S&& slope = 0.01,
                                           SourceLine at = here()) {
  return call<LeakyRelu>(at, static_cast<A&&>(a), static_cast<S&&>(slope));
}

/// -0 below -88.7 (f32), where e^-x overflows, as in PyTorch; the bound is for results above 2^-95. The rule avoids inf
/// / inf there.
struct Silu {
  static constexpr OpInfo info{.name = "silu", .domain = Domain::floating, .max_ulp = 3};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x / (1 + exp(-x)); }
  static constexpr auto derivative(auto x, auto, auto grad) {
    const auto s = sigmoid(x);
    return grad * (s * (1 + x * (1 - s)));
  }
};
/// x * sigmoid(x), elementwise; also called swish.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Silu, A> silu(A&& a, SourceLine at = here()) {
  return call<Silu>(at, static_cast<A&&>(a));
}

/// The error is in units of x's last place: below 0 the sum cancels, as in PyTorch.
struct Gelu {
  static constexpr OpInfo info{.name = "gelu", .domain = Domain::floating, .max_ulp = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return (0.5 * x) * (1 + erf(x * 0.70710678118654752440));
  }
};
/// x times the normal distribution function of x, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Gelu, A> gelu(A&& a, SourceLine at = here()) {
  return call<Gelu>(at, static_cast<A&&>(a));
}

/// x / 2 (1 + tanh(u)) is x * sigmoid(2u), which does not cancel below 0. The error of 2u counts in
/// full where sigmoid falls like an exponential: the bound grows with |2u|.
struct GeluTanh {
  static constexpr OpInfo info{.name = "gelu_tanh", .domain = Domain::floating, .max_ulp = 256, .max_ulp_f64 = 1024};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return x * sigmoid(x * fma(0.071354816272600247 * x, x, 1.5957691216057308));
  }
};
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<GeluTanh, A> gelu_tanh(A&& a, SourceLine at = here()) {
  return call<GeluTanh>(at, static_cast<A&&>(a));
}

struct Softplus {
  static constexpr OpInfo info{.name = "softplus", .domain = Domain::floating, .max_ulp = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return where(x > 20, x, log1p(exp(where(x > 20, 20, x))));
  }
};
/// log(1 + e^x), elementwise; x itself above 20.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Softplus, A> softplus(A&& a, SourceLine at = here()) {
  return call<Softplus>(at, static_cast<A&&>(a));
}

struct Elu {
  static constexpr OpInfo info{.name = "elu", .domain = Domain::floating, .arity = 2, .max_ulp = 3, .schema = "Tensor input, Scalar alpha=1.0"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto alpha) {
    return where(x <= 0, alpha * expm1(where(x <= 0, x, 0)), x);
  }
  /// The derivative of this derivative is 0 at 0, as PyTorch's.
  static constexpr auto derivative(auto x, auto alpha, auto, auto grad) {
    const auto low = where(x < 0, x, 0);
    return Gradients{where(x <= 0, grad * alpha * exp(low), grad), where(x <= 0, grad * expm1(low), 0)};
  }
};
/// x where positive, else alpha * (e^x - 1).
template <Value A, Operand S = double>
TT_ALWAYS_INLINE constexpr Called<Elu, A, S> elu(A&& a, S&& alpha = 1.0, SourceLine at = here()) {
  return call<Elu>(at, static_cast<A&&>(a), static_cast<S&&>(alpha));
}

/// The bound is for results above 2^-95 (f32); below, e^x is denormal.
struct Mish {
  static constexpr OpInfo info{.name = "mish", .domain = Domain::floating, .max_ulp = 6};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x * tanh(softplus(x)); }
};
/// x * tanh(softplus(x)), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Mish, A> mish(A&& a, SourceLine at = here()) {
  return call<Mish>(at, static_cast<A&&>(a));
}

/// The rule is PyTorch's at the kinks: 0 at -3, 1 at 3.
struct Hardswish {
  static constexpr OpInfo info{.name = "hardswish", .domain = Domain::floating, .max_ulp = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return x * (minimum(maximum(x + 3, 0), 6) / 6);
  }
  static constexpr auto derivative(auto x, auto, auto grad) {
    return where(x <= -3, 0, where(x < 3, grad * (where(x > -3 && x < 3, x, 0) / 3 + 0.5), grad));
  }
};
/// x * clamp(x + 3, 0, 6) / 6, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Hardswish, A> hardswish(A&& a, SourceLine at = here()) {
  return call<Hardswish>(at, static_cast<A&&>(a));
}

struct Sign {
  static constexpr OpInfo info{.name = "sign", .domain = Domain::number, .of_bool = OfBool::bools};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return where(x > 0, 1, where(x < 0, -1, where(x > 0, x, 0))); }
  static constexpr auto derivative(auto x, auto, auto) { return where(x > 0 && x < 0, x, 0); }  // 0 in the dtype of x, for NaN too
};
/// -1, 0 or 1, elementwise, and 0 for NaN, as in PyTorch (NumPy: NaN); for bool the value itself. The gradient is 0 everywhere.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Sign, A> sign(A&& a, SourceLine at = here()) {
  return call<Sign>(at, static_cast<A&&>(a));
}

struct Clamp {
  static constexpr OpInfo info{.name = "clamp", .domain = Domain::number, .arity = 3, .schema = "Tensor input, number min, number max"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto low, auto high) { return minimum(high, maximum(low, x)); }
  static constexpr auto derivative(auto x, auto low, auto high, auto, auto grad) {
    const auto inside = where(x < high, grad, 0), kept = where(low > high, 0, grad);
    return Gradients{where(low < x, inside, 0), where(x < low, kept, 0), where(maximum(low, x) > high, grad, 0)};
  }
};
/// Clamp with bounds that have elements: where x equals one of them, both get half of the gradient. Comparisons with NaN are false, as in PyTorch's rule.
struct ClampBetween {
  static constexpr OpInfo info{.name = "_clamp", .domain = Domain::number, .arity = 3};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto low, auto high) { return Clamp::body(x, low, high); }
  static constexpr auto derivative(auto x, auto low, auto high, auto, auto grad) {
    const auto half = grad * 0.5, apart = low < high, in_order = low <= high;
    const auto at_low = where(apart && x == low, half, 0), at_high = where(apart && x == high, half, 0);
    return Gradients{where(x < low || x > high, 0, where(apart && (x == low || x == high), half, grad)), where(x < low && in_order, grad, at_low),
                     where(high < low || (x > high && in_order), grad, at_high)};
  }
};
template <class L, class H>
using ClampOf = std::conditional_t<Value<L> || Value<H>, ClampBetween, Clamp>;
/// x held between low and high; high where low > high. NaN if one of the three is. The gradient is 1 where low < x <
/// high; at a bound it is 0 where both bounds are scalars, as in PyTorch 2.15, and else a half.
template <class A, class L, class H>
  requires Operands<A, L, H>
TT_ALWAYS_INLINE constexpr Called<ClampOf<L, H>, A, L, H> clamp(A&& a, L&& low, H&& high, SourceLine at = here()) {
  return call<ClampOf<L, H>>(at, static_cast<A&&>(a), static_cast<L&&>(low), static_cast<H&&>(high));
}

struct ClampMin {
  static constexpr OpInfo info{.name = "clamp_min", .domain = Domain::number, .arity = 2, .schema = "Tensor input, number min"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto low) { return maximum(low, x); }
  static constexpr auto derivative(auto x, auto low, auto, auto grad) { return Gradients{where(low < x, grad, 0), where(x < low, grad, 0)}; }
};
struct ClampMax {
  static constexpr OpInfo info{.name = "clamp_max", .domain = Domain::number, .arity = 2, .schema = "Tensor input, number max"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto high) { return minimum(high, x); }
  static constexpr auto derivative(auto x, auto high, auto, auto grad) { return Gradients{where(x < high, grad, 0), where(high < x, grad, 0)}; }
};
/// x, but no less than low (no more than high), which may be Tensors. NaN stays, also that of a Tensor of bounds. Where the
/// two are equal, the gradient is 0 beside a scalar, and half of it goes to each of two Tensors, as in PyTorch 2.15.
template <class A, class L>
  requires Operands<A, L>
TT_ALWAYS_INLINE constexpr auto clamp_min(const A& a, const L& low, SourceLine at = here()) {
  if constexpr (Value<L>) return maximum(low, a, at);
  else return call<ClampMin>(at, a, low);
}
template <class A, class H>
  requires Operands<A, H>
TT_ALWAYS_INLINE constexpr auto clamp_max(const A& a, const H& high, SourceLine at = here()) {
  if constexpr (Value<H>) return minimum(high, a, at);
  else return call<ClampMax>(at, a, high);
}
/// clamp with one bound: tt::clamp(x, tt::none, 6).
template <Value A, Operand H>
TT_ALWAYS_INLINE constexpr auto clamp(const A& a, NoneType, const H& high, SourceLine at = here()) {
  return clamp_max(a, high, at);
}
template <Value A, Operand L>
TT_ALWAYS_INLINE constexpr auto clamp(const A& a, const L& low, SourceLine at = here()) {
  return clamp_min(a, low, at);
}
template <Value A, Operand L>
TT_ALWAYS_INLINE constexpr auto clamp(const A& a, const L& low, NoneType, SourceLine at = here()) {
  return clamp_min(a, low, at);
}

struct Square {
  static constexpr OpInfo info{.name = "square", .domain = Domain::number, .max_ulp = 0.5f, .of_bool = OfBool::integers};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x * x; }
};
/// x * x, elementwise; i64 for bool, as in PyTorch.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Square, A> square(A&& a, SourceLine at = here()) {
  return call<Square>(at, static_cast<A&&>(a));
}

struct Reciprocal {
  static constexpr OpInfo info{.name = "reciprocal", .max_ulp = 0.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return 1 / x; }
  static constexpr auto derivative(auto, auto y, auto grad) { return -(grad * (y * y)); }
};
/// 1 / x, elementwise. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Reciprocal, A> reciprocal(A&& a, SourceLine at = here()) {
  return call<Reciprocal>(at, static_cast<A&&>(a));
}

/// The square root with a gradient of 0 where x is 0 (it would be infinite) or, by rounding, below 0: for norms and standard deviations.
struct SqrtFlatAtZero {
  static constexpr OpInfo info{.name = "_sqrt_flat_at_zero", .max_ulp = 0.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return sqrt(where(x <= 0, 0, x)); }
  static constexpr auto derivative(auto, auto y, auto grad) {
    const auto is_zero = y == 0, root = where(is_zero, 1, y);
    return where(is_zero, 0, grad) / (root + root);
  }
};

struct Rsqrt {
  static constexpr OpInfo info{.name = "rsqrt", .max_ulp = 1.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return 1 / sqrt(x); }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (-0.5 * (y * y * y)); }
};
/// 1 / sqrt(x), elementwise. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Rsqrt, A> rsqrt(A&& a, SourceLine at = here()) {
  return call<Rsqrt>(at, static_cast<A&&>(a));
}

}  // namespace tt
