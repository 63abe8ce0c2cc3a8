// The other activations of PyTorch. Parameters are operands. Rules are PyTorch's at the kinks.
#pragma once
#include "tt/ops/activation.hpp"

namespace tt {

struct Hardtanh {
  static constexpr OpInfo info{.name = "hardtanh", .domain = Domain::number, .arity = 3, .schema = "Tensor input, Scalar min_val=-1, Scalar max_val=1"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto low, auto high) { return minimum(high, maximum(low, x)); }
  static constexpr auto derivative(auto x, auto low, auto high, auto, auto grad) {
    return Gradients{where(x <= low || x >= high, 0, grad), where(x <= low && low < high, grad, 0), where(maximum(low, x) >= high, grad, 0)};
  }
};
/// x held between min_val and max_val; the gradient at both is 0.
template <Value A, Operand L = int, Operand H = int>
TT_ALWAYS_INLINE constexpr Called<Hardtanh, A, L, H> hardtanh(A&& a, L&& min_val = -1, H&& max_val = 1, SourceLine at = here()) {
  return call<Hardtanh>(at, static_cast<A&&>(a), static_cast<L&&>(min_val), static_cast<H&&>(max_val));
}

struct Relu6 {
  static constexpr OpInfo info{.name = "relu6", .domain = Domain::number};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return minimum(maximum(0, x), 6); }
  static constexpr auto derivative(auto x, auto, auto grad) { return where(x <= 0 || x >= 6, 0, grad); }
};
/// x held between 0 and 6.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Relu6, A> relu6(A&& a, SourceLine at = here()) {
  return call<Relu6>(at, static_cast<A&&>(a));
}

struct Hardsigmoid {
  static constexpr OpInfo info{.name = "hardsigmoid", .domain = Domain::floating, .max_ulp = 1.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return minimum(maximum(x + 3, 0), 6) / 6; }
  static constexpr auto derivative(auto x, auto, auto grad) { return where(x > -3 && x < 3, grad / 6, 0); }
};
/// clamp(x + 3, 0, 6) / 6, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Hardsigmoid, A> hardsigmoid(A&& a, SourceLine at = here()) {
  return call<Hardsigmoid>(at, static_cast<A&&>(a));
}

struct Logsigmoid {
  static constexpr OpInfo info{.name = "logsigmoid", .domain = Domain::floating, .max_ulp = 2.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return minimum(x, 0) - log1p(exp(-abs(x))); }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * sigmoid(-x); }
};
/// log(1 / (1 + e^-x)), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Logsigmoid, A> logsigmoid(A&& a, SourceLine at = here()) {
  return call<Logsigmoid>(at, static_cast<A&&>(a));
}

/// The constants of Klambauer et al., Self-Normalizing Neural Networks, 2017.
struct Selu {
  static constexpr OpInfo info{.name = "selu", .domain = Domain::floating, .max_ulp = 3.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    return where(x > 0, 1.0507009873554804934 * x, alpha_scale * expm1(where(x > 0, 0, x)));
  }
  static constexpr auto derivative(auto x, auto, auto grad) {
    return grad * where(x <= 0, alpha_scale * exp(where(x < 0, x, 0)), 1.0507009873554804934);
  }

 private:
  static constexpr double alpha_scale = 1.6732632423543772848 * 1.0507009873554804934;
};
/// scale * x where positive, else scale * alpha * (e^x - 1): keeps means and variances.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Selu, A> selu(A&& a, SourceLine at = here()) {
  return call<Selu>(at, static_cast<A&&>(a));
}

/// x itself where x / alpha is so small that e^(x / alpha) - 1 rounds to it. The bound is for alpha above 0.
struct Celu {
  static constexpr OpInfo info{.name = "celu", .domain = Domain::floating, .arity = 2, .max_ulp = 3, .schema = "Tensor input, Scalar alpha=1.0"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto alpha) {
    const auto ratio = where(x > 0, 0, x) / alpha;
    return where(x > 0 || abs(ratio) < 0x1p-60, x, alpha * expm1(ratio));
  }
  static constexpr auto derivative(auto x, auto alpha, auto, auto grad) {
    const auto ratio = where(x < 0, x, 0) / alpha;
    return Gradients{grad * where(x <= 0, exp(ratio), 1), grad * where(x <= 0, expm1(ratio) - ratio * exp(ratio), 0)};
  }
};
/// x where positive, else alpha * (e^(x / alpha) - 1).
template <Value A, Operand S = double>
TT_ALWAYS_INLINE constexpr Called<Celu, A, S> celu(A&& a, S&& alpha = 1.0, SourceLine at = here()) {
  return call<Celu>(at, static_cast<A&&>(a), static_cast<S&&>(alpha));
}

struct Softsign {
  static constexpr OpInfo info{.name = "softsign", .max_ulp = 1.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x / (1 + abs(x)); }
  static constexpr auto derivative(auto x, auto, auto grad) {
    const auto over = 1 + abs(x);
    return grad / (over * over);
  }
};
/// x / (1 + |x|), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Softsign, A> softsign(A&& a, SourceLine at = here()) {
  return call<Softsign>(at, static_cast<A&&>(a));
}

/// The error is in units of x's last place: near 0 the difference cancels, as in PyTorch.
struct Tanhshrink {
  static constexpr OpInfo info{.name = "tanhshrink", .max_ulp = 2, .max_ulp_f64 = 3};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x - tanh(x); }
  static constexpr auto derivative(auto x, auto, auto grad) {
    const auto y = tanh(x);
    return grad * (y * y);
  }
};
/// x - tanh(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Tanhshrink, A> tanhshrink(A&& a, SourceLine at = here()) {
  return call<Tanhshrink>(at, static_cast<A&&>(a));
}

struct Softshrink {
  static constexpr OpInfo info{.name = "softshrink", .domain = Domain::floating, .arity = 2, .max_ulp = 0.5f, .schema = "Tensor input, Scalar lambd=0.5"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto bound) { return where(x > bound, x - bound, where(x < -bound, x + bound, x * 0)); }
  static constexpr auto derivative(auto x, auto bound, auto, auto grad) {
    const auto inside = x >= -bound && x <= bound;
    return Gradients{where(inside, 0, grad), where(x > bound, -grad, where(x < -bound, grad, 0))};
  }
};
/// x, moved by lambd towards 0; 0 between -lambd and lambd.
template <Value A, Operand S = double>
TT_ALWAYS_INLINE constexpr Called<Softshrink, A, S> softshrink(A&& a, S&& lambd = 0.5, SourceLine at = here()) {
  return call<Softshrink>(at, static_cast<A&&>(a), static_cast<S&&>(lambd));
}

struct Hardshrink {
  static constexpr OpInfo info{.name = "hardshrink", .domain = Domain::floating, .arity = 2, .schema = "Tensor input, Scalar lambd=0.5"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto bound) { return where(x >= -bound && x <= bound, 0, x); }
  static constexpr auto derivative(auto x, auto bound, auto, auto grad) {
    return Gradients{where(x >= -bound && x <= bound, 0, grad), where(x == x, 0, x)};
  }
};
/// x, but 0 between -lambd and lambd.
template <Value A, Operand S = double>
TT_ALWAYS_INLINE constexpr Called<Hardshrink, A, S> hardshrink(A&& a, S&& lambd = 0.5, SourceLine at = here()) {
  return call<Hardshrink>(at, static_cast<A&&>(a), static_cast<S&&>(lambd));
}

struct Threshold {
  static constexpr OpInfo info{.name = "threshold", .domain = Domain::number, .arity = 3, .schema = "Tensor input, Scalar threshold, Scalar value"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto bound, auto value) { return where(x <= bound, value, x); }
};
/// x where it is above the threshold or NaN, else the value.
template <Value A, Operand S, Operand V>
TT_ALWAYS_INLINE constexpr Called<Threshold, A, S, V> threshold(A&& a, S&& bound, V&& value, SourceLine at = here()) {
  return call<Threshold>(at, static_cast<A&&>(a), static_cast<S&&>(bound), static_cast<V&&>(value));
}

/// The smooth loss of a difference: quadratic within beta of 0, linear beyond.
struct SmoothL1 {
  static constexpr OpInfo info{.name = "_smooth_l1", .arity = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto difference, auto beta) {
    const auto d = abs(difference);
    return where(d < beta, d * d * 0.5 / beta, d - 0.5 * beta);
  }
  static constexpr auto derivative(auto difference, auto beta, auto, auto grad) {
    const auto near = abs(difference) < beta, small = where(near, difference, 0);
    const auto far = where(difference < 0, -1, where(difference > 0, 1, difference));
    return Gradients{where(near, small / beta, far) * grad, where(near, small * small * -0.5 / (beta * beta), -0.5) * grad};
  }
};
/// The loss of a difference: half its square within delta of 0, and linear beyond. (SmoothL1 is this divided by its beta.)
struct Huber {
  static constexpr OpInfo info{.name = "_huber", .arity = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto difference, auto delta) {
    const auto d = abs(difference);
    return where(d < delta, d * d * 0.5, (d - 0.5 * delta) * delta);
  }
  static constexpr auto derivative(auto difference, auto delta, auto, auto grad) {
    const auto d = abs(difference);
    const auto far = where(difference < 0, -delta, where(difference > 0, delta, difference));
    return Gradients{where(d < delta, difference, far) * grad, where(d < delta, 0, d - delta) * grad};
  }
};
/// The gradient of BinaryLoss with respect to p. Its own gradient with respect to p is PyTorch's, too: 0 where p and t are both 0 or both 1.
struct BinaryLossGradient {
  static constexpr OpInfo info{.name = "_binary_cross_entropy_gradient", .arity = 3};
  static TT_ALWAYS_INLINE constexpr auto body(auto p, auto t, auto grad) { return grad * (p - t) / maximum((1 - p) * p, 1e-12); }
  static constexpr auto derivative(auto p, auto t, auto grad, auto, auto by) {
    const auto room = maximum((1 - p) * p, 1e-12), low = p + 1e-12, high = 1 - p + 1e-12;
    return Gradients{by * grad * ((p * p - 2 * p * t + t) / (low * low * (high * high))), -(by * grad) / room, by * (p - t) / room};
  }
};
/// -(t log(p) + (1 - t) log(1 - p)) with logarithms of at least -100. The gradients are PyTorch's: that of p divides by
/// p (1 - p), but by no less than 1e-12; that of t is the difference of the logarithms themselves.
struct BinaryLoss {
  static constexpr OpInfo info{.name = "_binary_cross_entropy", .arity = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto p, auto t) {
    return -(t * maximum(log(p), -100) + (1 - t) * maximum(log1p(-p), -100));
  }
  static constexpr auto derivative(auto p, auto t, auto, auto grad) {
    return Gradients{call<BinaryLossGradient>(SourceLine(), p, t, grad), grad * (log1p(-p) - log(p))};
  }
};

}  // namespace tt
