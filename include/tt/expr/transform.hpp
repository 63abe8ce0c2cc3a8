// Function transforms: grad, value_and_grad, jvp, vjp and hvp. A transformed function is a function again: inside tt::fuse it runs on symbols,
// and called with Arrays it is fused on the spot.
//   tt::grad(f)(x)                 d f / d x, argument 0 if no number is given
//   tt::value_and_grad<0, 1>(f)(w, b, x)   {value, {dw, db}}
//   tt::jvp(f, x, dx)              {f(x), its derivative along dx};   auto [y, back] = tt::vjp(f, x);   tt::hvp(f, x, v);   auto [z, map] = tt::linearize(f, x)
// For Tensors they are defined in autograd/functional.hpp and jit/transforms.hpp.
#pragma once
#include <tuple>

#include "tt/core/members.hpp"
#include "tt/graph/forward_mode.hpp"
#include "tt/functional/tensor_ops.hpp"

namespace tt {

/// Kind of parameter structs whose members are symbols.
struct symbols {
  template <class, std::int64_t...>
  using type = Sym;
};

template <class F, class Isa = IsaTag>
struct Fused;

namespace detail {

constexpr void collect_leaves(const Sym& s, Vec<int>& ids) { ids.push_back(s.id); }
template <ParameterStruct S>
constexpr void collect_leaves(const S& s, Vec<int>& ids) {
  for_each_member([&](const Sym& leaf) { ids.push_back(leaf.id); }, s);
}
constexpr Graph* graph_of(const Sym& s) { return s.graph; }
template <ParameterStruct S>
constexpr Graph* graph_of(const S& s) {
  Graph* g = nullptr;
  for_each_member([&](const Sym& leaf) { g = leaf.graph; }, s);
  return g;
}
template <class A>
inline constexpr bool is_symbolic =
    std::is_same_v<std::remove_cvref_t<A>, Sym> || [] {
      if constexpr (ParameterStruct<A>)
        return std::is_same_v<typename kind_of<std::remove_cvref_t<A>>::type, symbols>;
      else return false;
    }();

/// Gives an argument to differentiate by a node of its own, so that other uses of the same value do not count.
constexpr Sym as_variable(const Sym& s, int number) {
  const Node n = s.node();
  return {s.graph, s.graph->intern({.op = Op::copy, .dtype = n.dtype, .operand = {s.id, -1, -1, -1},
                                    .identity = number + 1, .attribute = differentiated_by, .shape = n.shape})};
}
template <class A>
constexpr A as_variables(const A& a, int& number) {
  if constexpr (std::is_same_v<A, Sym>) return as_variable(a, number++);
  else {
    A copy = a;
    for_each_member([&](Sym& leaf) { leaf = as_variable(leaf, number++); }, copy);
    return copy;
  }
}
template <class A>
constexpr A with_ids(const A& like, const Vec<int>& ids, int& at) {
  if constexpr (std::is_same_v<A, Sym>) return {like.graph, ids[at++]};
  else {
    A copy = like;
    for_each_member([&](Sym& leaf) { leaf.id = ids[at++]; }, copy);
    return copy;
  }
}

template <class... A>
struct common_run_time_front {
  using type = void;
};
template <class T>
struct run_time_front_of_all;
template <class... A>
struct run_time_front_of_all<std::tuple<A...>> : common_run_time_front<A...> {};
template <class A, class B>
struct run_time_front_of_all<std::pair<A, B>> : common_run_time_front<A, B> {};
/// The front end of run-time values (Tensors, structs and lists of them), or void.
template <class A>
constexpr auto run_time_front() {
  using T = std::remove_cvref_t<A>;
  if constexpr (requires { typename T::tt_front; }) {
    if constexpr (requires { typename T::tt_front::run_time; }) return std::type_identity<typename T::tt_front>{};
    else return std::type_identity<void>{};
  } else if constexpr (ParameterStruct<T>) {
    if constexpr (requires { typename kind_of<T>::type::tt_front; })
      return std::type_identity<typename kind_of<T>::type::tt_front>{};
    else return std::type_identity<void>{};
  } else if constexpr (std::is_array_v<T>) {
    return run_time_front<std::remove_extent_t<T>>();
  } else if constexpr (requires { typename run_time_front_of_all<T>::type; }) {
    return std::type_identity<typename run_time_front_of_all<T>::type>{};
  } else if constexpr (requires(T& a) { typename T::value_type; a.begin() == a.end(); }) {
    return run_time_front<typename T::value_type>();
  } else if constexpr (PlainStruct<T> && !std::is_empty_v<T>) {
    if constexpr (constexpr int n = count_members<T>(); n >= 1 && n <= 16)
      return std::type_identity<typename run_time_front_of_all<decltype(with_members(std::declval<T&>(), Tie{}))>::type>{};
    else return std::type_identity<void>{};
  } else return std::type_identity<void>{};
}
template <class First, class... Rest>
struct common_run_time_front<First, Rest...> {
  using own = typename decltype(run_time_front<First>())::type;
  using type = std::conditional_t<std::is_void_v<own>, typename common_run_time_front<Rest...>::type, own>;
};
template <class... A>
inline constexpr bool at_run_time = !std::is_void_v<typename common_run_time_front<A...>::type>;

template <class F>
inline constexpr bool captures_nothing =
    std::is_empty_v<F> && std::is_default_constructible_v<F>;
/// Is a function determined by its type and a transform's options? A transform names its function in `tt_function`.
template <class F>
constexpr bool is_known() {
  if constexpr (captures_nothing<F>) return true;
  else if constexpr (requires { typename F::tt_function; }) return is_known<typename F::tt_function>();
  else return false;
}
/// The function on symbols: a transform that caches compiled code names its version without a cache, `tt_symbolic`.
template <class F>
struct on_symbols {
  using type = F;
};
template <class F>
  requires requires { typename F::tt_symbolic; }
struct on_symbols<F> {
  using type = typename F::tt_symbolic;
};
/// Is a function determined by its type alone? A transform with options is not.
template <class F>
constexpr bool is_made_of_type() {
  if constexpr (!is_known<F>() || requires { F::has_options; }) return false;
  else if constexpr (requires { typename F::tt_function; }) return is_made_of_type<typename F::tt_function>();
  else return true;
}
template <class F>
constexpr void require_captureless() {
  static_assert(is_made_of_type<F>(),
                "tt: this function captures variables, and what is compiled must be known: pass "
                "them as arguments");
}

/// Replaces a refused function, so that there is one error only.
struct Refused {
  constexpr float operator()(const auto&...) const { return 0; }
};
struct RefusedAdjoints {
  constexpr std::tuple<float> operator()(const auto&...) const { return {0}; }
};

template <class F, bool Value_, int... I>
struct Gradient {
  using tt_function = F;
  using tt_symbolic = Gradient<typename on_symbols<F>::type, Value_, I...>;
  [[no_unique_address]] F f;

  template <class... A>
    requires(is_symbolic<A> && ...)
  constexpr auto operator()(const A&... a) const {
    Graph* g = nullptr;
    ((g = graph_of(a)), ...);
    int number = g->size();  // a new number at each call
    auto args = differentiable(std::tuple<A...>(a...), number, std::index_sequence_for<A...>{});
    const Sym y = std::apply(f, args);
    Vec<int> variables;
    (collect_leaves(std::get<I>(args), variables), ...);
    const Vec<int> d = gradients(*g, y.id, variables);
    int at = 0;
    if constexpr (sizeof...(I) == 1) {
      const auto grads = with_ids(std::get<I...>(args), d, at);
      if constexpr (Value_) return std::pair{y, grads};
      else return grads;
    } else {
      const std::tuple grads{with_ids(std::get<I>(args), d, at)...};
      if constexpr (Value_) return std::pair{y, grads};
      else return grads;
    }
  }
  template <class... A>
    requires(at_run_time<A...>)
  auto operator()(A&&... a) const {
    return common_run_time_front<A...>::type::template gradient<Value_, I...>(f, static_cast<A&&>(a)...);
  }
  template <class... A, class Isa = IsaTag>
    requires(!(is_symbolic<A> && ...) && !at_run_time<A...>)
  auto operator()(A&&... a) const {
    require_captureless<F>();
    if constexpr (is_made_of_type<F>()) return Fused<Gradient<typename on_symbols<F>::type, Value_, I...>, Isa>{}(static_cast<A&&>(a)...);
    else return Refused{}();
  }

 private:
  template <class Args, std::size_t... J>
  static constexpr Args differentiable(const Args& a, int& number, std::index_sequence<J...>) {
    return Args{one<static_cast<int>(J)>(std::get<J>(a), number)...};
  }
  template <int J, class A>
  static constexpr A one(const A& a, int& number) {
    if constexpr (((J == I) || ...)) return as_variables(a, number);
    else return a;
  }
};

/// jvp of `F`: takes arguments, then their tangents.
template <class F>
struct Jvp {
  template <class... A>
    requires(is_symbolic<A> && ...)
  constexpr auto operator()(const A&... a) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const std::tuple<A...> all(a...);
      constexpr std::size_t n = sizeof...(I);
      Graph* g = nullptr;
      ((g = graph_of(a)), ...);
      int number = g->size();
      const std::tuple args{as_variables(std::get<I>(all), number)...};
      const Sym y = std::apply(F{}, args);
      Vec<int> variables, tangents;
      (collect_leaves(std::get<I>(args), variables), ...);
      (collect_leaves(std::get<n + I>(all), tangents), ...);
      const Node like = y.node();
      int d = forward(*g, {y.id}, variables, tangents)[0];
      d = d < 0 ? g->constant(like.dtype, 0, like.shape) : g->broadcast_to(d, like.shape);
      return std::pair{y, Sym{g, d}};
    }(std::make_index_sequence<sizeof...(A) / 2>{});
  }
  template <class... A, class Isa = IsaTag>
    requires(!(is_symbolic<A> && ...))
  auto operator()(A&&... a) const {
    return Fused<Jvp, Isa>{}(static_cast<A&&>(a)...);
  }
};

}  // namespace detail

/// The gradient of a scalar function by the arguments I (argument 0 if none is named). Functions that capture variables: for Tensors only.
template <int... I, class F>
constexpr auto grad(F f) {
  if constexpr (sizeof...(I) == 0) return detail::Gradient<F, false, 0>{static_cast<F&&>(f)};
  else return detail::Gradient<F, false, I...>{static_cast<F&&>(f)};
}
/// {f(primal), its derivative along the tangent}, in one graph; both arguments have one type. For several arguments pass tuples.
template <class F, class A>
  requires(!detail::at_run_time<A>)
constexpr auto jvp(F, const A& primal, const A& tangent) {
  detail::require_captureless<F>();
  if constexpr (!detail::is_made_of_type<F>()) return std::pair{detail::Refused{}(), detail::Refused{}()};
  else if constexpr (requires { std::tuple_size<A>::value; })
    return std::apply([](const auto&... a) { return detail::Jvp<typename detail::on_symbols<F>::type>{}(a...); }, std::tuple_cat(primal, tangent));
  else return detail::Jvp<typename detail::on_symbols<F>::type>{}(primal, tangent);
}
namespace detail {
/// The sum of a result's elements, each times its weight: the gradients of this sum are the result's adjoints.
template <class F>
struct WeightedSym {
  using tt_function = F;
  template <class... A>
  constexpr Sym operator()(const Sym& weights, const A&... a) const {
    const Sym y = F{}(a...) * weights;
    return y.shape().rank == 0 ? y : Sym{y.graph, y.graph->reduce(Op::sum, y.id, (1u << y.shape().rank) - 1, false)};
  }
};
/// f(primals...), and Map, a function that is made of the primals.
template <template <class, class...> class Map, class F, class... A>
constexpr auto value_and_map(const A&... primals) {
  require_captureless<F>();
  if constexpr (!is_made_of_type<F>()) return std::pair{Refused{}(), RefusedAdjoints{}};
  else {
    using S = typename on_symbols<F>::type;
    const Map<S, A...> map{{primals...}};
    if constexpr ((is_symbolic<A> && ...)) return std::pair{S{}(primals...), map};
    else return std::pair{Fused<S>{}(primals...), map};
  }
}
/// The second half of vjp: from an adjoint of the result to the adjoints of the arguments.
template <class F, class... A>
struct ArrayAdjoints {
  std::tuple<A...> primals;
  template <class Y>
  constexpr auto operator()(const Y& adjoint) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto d = Gradient<WeightedSym<F>, false, static_cast<int>(1 + I)...>{}(adjoint, std::get<I>(primals)...);
      if constexpr (sizeof...(I) == 1) return std::tuple{d};
      else return d;
    }(std::index_sequence_for<A...>{});
  }
};
}  // namespace detail
/// {f(primals...), a function from an adjoint of that value to the adjoints of the primals, as a tuple}.
template <class F, class... A>
  requires(!detail::at_run_time<A...>)
constexpr auto vjp(F, const A&... primals) {
  return detail::value_and_map<detail::ArrayAdjoints, F>(primals...);
}
namespace detail {
/// The second half of linearize: from tangents of the primals to that of the result.
template <class F, class... A>
struct ArrayTangents {
  std::tuple<A...> primals;
  constexpr auto operator()(const A&... tangents) const {
    return std::apply([&](const A&... p) { return std::get<1>(Jvp<F>{}(p..., tangents...)); }, primals);
  }
};
}  // namespace detail
/// {f(primals...), its derivative there, a function from tangents of the primals to that of the value}.
template <class F, class... A>
  requires(!detail::at_run_time<A...>)
constexpr auto linearize(F, const A&... primals) {
  return detail::value_and_map<detail::ArrayTangents, F>(primals...);
}
/// The product of the second derivatives of a scalar function with a vector, without the matrix: forward over reverse.
template <class F, class A>
  requires(!detail::at_run_time<A>)
constexpr auto hvp(F f, const A& x, const A& vector) { return std::get<1>(jvp(grad(f), x, vector)); }
/// {value, gradient} in one graph, so that both share their work.
template <int... I, class F>
constexpr auto value_and_grad(F f) {
  if constexpr (sizeof...(I) == 0) return detail::Gradient<F, true, 0>{static_cast<F&&>(f)};
  else return detail::Gradient<F, true, I...>{static_cast<F&&>(f)};
}

}  // namespace tt
