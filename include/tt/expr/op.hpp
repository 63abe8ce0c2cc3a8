// op: an elementwise op of your own from one captureless generic lambda, usable on every path and differentiated from its body. Integers stay integers if the
// ops of the body keep them. Define it at namespace scope: a local op counts as captured in other lambdas.
//   inline constexpr auto swish = tt::op([](auto x) { return x / (1 + exp(-x)); });
#pragma once
#include "tt/graph/sym.hpp"

namespace tt {
namespace detail {

/// The number of Syms that F takes; 1 if it takes any number of them.
template <class F, class... S>
constexpr int count_arguments() {
  if constexpr (requires(F f, Sym s, S... more) { f(s, more...); }) return 1 + sizeof...(S);
  else if constexpr (sizeof...(S) < 31) return count_arguments<F, Sym, S...>();
  else return 1;  // takes no Syms: the error comes when it is called
}
/// Replaces a lambda that captures, so that there is one error only.
struct CapturingLambda {
  constexpr auto operator()(const auto& x, const auto&...) const { return x; }
};

template <class F>
struct LambdaOp {
  using tt_anonymous = void;  // many ops are called "op": not found by name
  static constexpr OpInfo info{.name = "op", .arity = count_arguments<F>()};
  template <class... A>
  static TT_ALWAYS_INLINE constexpr auto body(const A&... a) {
    return F{}(a...);
  }
};

}  // namespace detail

/// An op from a lambda of one argument or more. Capturing is an error: pass captured values as further arguments.
template <class F>
constexpr auto op(F) {
  constexpr bool captures_nothing = std::is_empty_v<F> && std::is_default_constructible_v<F>;
  static_assert(captures_nothing, "tt: an op captures nothing: pass what it needs as further arguments");
  return Elementwise<detail::LambdaOp<std::conditional_t<captures_nothing, F, detail::CapturingLambda>>>{};
}

}  // namespace tt
