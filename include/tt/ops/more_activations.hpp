// The rest of torch.nn.functional's elementwise activations; gradients at kinks are PyTorch's.
#pragma once
#include "tt/ops/activation.hpp"

namespace tt {

struct Relu6 {
  static constexpr OpInfo info{.name = "relu6", .domain = Domain::number};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return minimum(maximum(x, 0), 6); }
  static constexpr auto derivative(auto x, auto, auto grad) { return where(x > 0 && x < 6, grad, 0); }
};
/// x held between 0 and 6, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto relu6(A&& a, SourceLine at = here()) { return call<Relu6>(at, static_cast<A&&>(a)); }

struct Hardtanh {
  static constexpr OpInfo info{.name = "hardtanh", .domain = Domain::number, .arity = 3, .schema = "Tensor input, Scalar min_val=-1, Scalar max_val=1"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto low, auto high) { return minimum(high, maximum(low, x)); }
  static constexpr auto derivative(auto x, auto low, auto high, auto, auto grad) {
    const auto inside = where(low < x && x < high, grad, 0);
    return Gradients{inside, where(x <= low, grad, 0), where(x >= high, grad, 0)};
  }
};
/// x held between low and high, elementwise.
template <Value A, Operand L = int, Operand H = int>
TT_ALWAYS_INLINE constexpr auto hardtanh(A&& a, L&& low = -1, H&& high = 1, SourceLine at = here()) {
  return call<Hardtanh>(at, static_cast<A&&>(a), static_cast<L&&>(low), static_cast<H&&>(high));
}

struct Hardsigmoid {
  static constexpr OpInfo info{.name = "hardsigmoid", .max_ulp = 2};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return minimum(maximum(x + 3, 0), 6) / 6; }
  static constexpr auto derivative(auto x, auto, auto grad) { return where(x > -3 && x < 3, grad / 6, 0); }
};
/// clamp(x + 3, 0, 6) / 6, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto hardsigmoid(A&& a, SourceLine at = here()) { return call<Hardsigmoid>(at, static_cast<A&&>(a)); }

struct Logsigmoid {
  static constexpr OpInfo info{.name = "logsigmoid", .max_ulp = 4};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return minimum(x, 0) - log1p(exp(-abs(x))); }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad * sigmoid(-x); }
};
/// log(sigmoid(x)) without overflow, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto logsigmoid(A&& a, SourceLine at = here()) { return call<Logsigmoid>(at, static_cast<A&&>(a)); }

struct Selu {
  static constexpr OpInfo info{.name = "selu", .max_ulp = 4};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return 1.0507009873554804934 * where(x > 0, x, 1.6732632423543772848 * expm1(where(x > 0, 0, x))); }
};
/// The scaled elu of Klambauer et al. (2017), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto selu(A&& a, SourceLine at = here()) { return call<Selu>(at, static_cast<A&&>(a)); }

struct Celu {
  static constexpr OpInfo info{.name = "celu", .arity = 2, .max_ulp = 4, .schema = "Tensor input, Scalar alpha=1.0"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto alpha) { return where(x > 0, x, alpha * expm1(where(x > 0, 0, x) / alpha)); }
};
/// x where positive, else alpha * (e^(x / alpha) - 1).
template <Value A, Operand S = double>
TT_ALWAYS_INLINE constexpr auto celu(A&& a, S&& alpha = 1.0, SourceLine at = here()) {
  return call<Celu>(at, static_cast<A&&>(a), static_cast<S&&>(alpha));
}

struct Softsign {
  static constexpr OpInfo info{.name = "softsign", .max_ulp = 1.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x / (1 + abs(x)); }
};
/// x / (1 + |x|), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto softsign(A&& a, SourceLine at = here()) { return call<Softsign>(at, static_cast<A&&>(a)); }

struct Tanhshrink {
  static constexpr OpInfo info{.name = "tanhshrink", .max_ulp = 1e6f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x - tanh(x); }
  static constexpr auto derivative(auto x, auto, auto grad) {
    const auto t = tanh(x);
    return grad * (t * t);
  }
};
/// x - tanh(x), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr auto tanhshrink(A&& a, SourceLine at = here()) { return call<Tanhshrink>(at, static_cast<A&&>(a)); }

struct Softshrink {
  static constexpr OpInfo info{.name = "softshrink", .arity = 2, .schema = "Tensor input, Scalar lambd=0.5"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto l) { return where(x > l, x - l, where(x < -l, x + l, where(x != x, x, 0))); }
};
/// x nearer to 0 by lambd, and 0 within it.
template <Value A, Operand S = double>
TT_ALWAYS_INLINE constexpr auto softshrink(A&& a, S&& lambd = 0.5, SourceLine at = here()) {
  return call<Softshrink>(at, static_cast<A&&>(a), static_cast<S&&>(lambd));
}

struct Hardshrink {
  static constexpr OpInfo info{.name = "hardshrink", .arity = 2, .schema = "Tensor input, Scalar lambd=0.5"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto l) { return where(x >= -l && x <= l, 0, x); }
};
/// x, but 0 within lambd of 0.
template <Value A, Operand S = double>
TT_ALWAYS_INLINE constexpr auto hardshrink(A&& a, S&& lambd = 0.5, SourceLine at = here()) {
  return call<Hardshrink>(at, static_cast<A&&>(a), static_cast<S&&>(lambd));
}

struct Threshold {
  static constexpr OpInfo info{.name = "threshold", .domain = Domain::number, .arity = 3, .schema = "Tensor input, Scalar threshold, Scalar value"};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto t, auto v) { return where(x <= t, v, x); }
};
/// x where above the threshold, else value, elementwise.
template <Value A, Operand T, Operand V>
TT_ALWAYS_INLINE constexpr auto threshold(A&& a, T&& threshold, V&& value, SourceLine at = here()) {
  return call<Threshold>(at, static_cast<A&&>(a), static_cast<T&&>(threshold), static_cast<V&&>(value));
}

}  // namespace tt
