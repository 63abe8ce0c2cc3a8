// op: an elementwise op of your own from one captureless generic lambda, usable on every path and
// differentiated from its body. Integers stay integers, as far as the body's own ops let them.
// Define it at namespace scope: a local one counts as captured in other lambdas.
//   inline constexpr auto swish = tt::op([](auto x) { return x / (1 + exp(-x)); });
#pragma once
#include "tt/graph/sym.hpp"

namespace tt {
namespace detail {

/// How many Syms F takes; of one that takes any number, one.
template <class F, class... S>
constexpr int count_arguments() {
  if constexpr (requires(F f, Sym s, S... more) { f(s, more...); }) return 1 + sizeof...(S);
  else if constexpr (sizeof...(S) < 31) return count_arguments<F, Sym, S...>();
  else return 1;  // takes no Syms at all: calling it says why
}
/// Stands for a lambda that captures, so that nothing else is said of it.
struct CapturingLambda {
  constexpr auto operator()(const auto& x, const auto&...) const { return x; }
};

template <class F>
struct LambdaOp {
  using tt_anonymous = void;  // many are called "op": not found by name
  static constexpr OpInfo info{.name = "op", .arity = count_arguments<F>()};
  template <class... A>
  static TT_ALWAYS_INLINE constexpr auto body(const A&... a) {
    return F{}(a...);
  }
};

}  // namespace detail

/// An op from a lambda of one argument or more. Capturing is an error: pass what it needs.
template <class F>
constexpr auto op(F) {
  constexpr bool captures_nothing = std::is_empty_v<F> && std::is_default_constructible_v<F>;
  static_assert(captures_nothing, "tt: an op captures nothing: pass what it needs as further arguments");
  return Elementwise<detail::LambdaOp<std::conditional_t<captures_nothing, F, detail::CapturingLambda>>>{};
}

}  // namespace tt
