// Function transforms: grad, value_and_grad and jvp. A transformed function is a function again: it runs
// on symbols inside tt::fuse, and called with Arrays it is fused on the spot.
//   tt::grad(f)(x)                 d f / d x, argument 0 if none is named
//   tt::value_and_grad<0, 1>(f)(w, b, x)   {value, {dw, db}}
//   tt::jvp(f, x, dx)              {f(x), its derivative along dx}
// Called with Tensors they are autograd/functional.hpp and jit/transforms.hpp.
#pragma once
#include <tuple>

#include "tt/core/members.hpp"
#include "tt/graph/forward_mode.hpp"
#include "tt/functional/tensor_ops.hpp"

namespace tt {

/// Kind of parameter structs: members are symbols.
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

/// An argument to differentiate by gets a node of its own, so that the same value elsewhere does
/// not count.
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

template <class F, bool Value_, int... I>
struct Gradient {
  template <class... A>
    requires(is_symbolic<A> && ...)
  constexpr auto operator()(const A&... a) const {
    Graph* g = nullptr;
    ((g = graph_of(a)), ...);
    int number = g->size();  // new every time
    auto args = differentiable(std::tuple<A...>(a...), number, std::index_sequence_for<A...>{});
    const Sym y = std::apply(F{}, args);
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
    return common_run_time_front<A...>::type::template gradient<F, Value_, I...>(static_cast<A&&>(a)...);
  }
  template <class... A, class Isa = IsaTag>
    requires(!(is_symbolic<A> && ...) && !at_run_time<A...>)
  auto operator()(A&&... a) const {
    return Fused<Gradient, Isa>{}(static_cast<A&&>(a)...);
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

/// Of arguments, then their tangents.
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

template <class F>
inline constexpr bool captures_nothing =
    std::is_empty_v<F> && std::is_default_constructible_v<F>;

/// What a function that was refused becomes, so that one error is enough.
struct Refused {
  constexpr float operator()(const auto&...) const { return 0; }
};

template <class F>
constexpr void require_captureless() {
  static_assert(captures_nothing<F>,
                "tt: this function captures variables, and what is compiled must be known: pass "
                "them as arguments");
}

}  // namespace detail

/// The gradient of a scalar function by the arguments I (argument 0 if none is named).
template <int... I, class F>
constexpr auto grad(F) {
  detail::require_captureless<F>();
  if constexpr (!detail::captures_nothing<F>) return detail::Refused{};
  else if constexpr (sizeof...(I) == 0) return detail::Gradient<F, false, 0>{};
  else return detail::Gradient<F, false, I...>{};
}
/// {f(primal), its derivative along the tangent}, in one graph; both arguments are alike. Of several arguments: of tuples of them.
template <class F, class A>
  requires(!detail::at_run_time<A>)
constexpr auto jvp(F, const A& primal, const A& tangent) {
  detail::require_captureless<F>();
  if constexpr (!detail::captures_nothing<F>) return std::pair{detail::Refused{}(), detail::Refused{}()};
  else if constexpr (requires { std::tuple_size<A>::value; })
    return std::apply([](const auto&... a) { return detail::Jvp<F>{}(a...); }, std::tuple_cat(primal, tangent));
  else return detail::Jvp<F>{}(primal, tangent);
}
/// {value, gradient} in one graph, so that both share their work.
template <int... I, class F>
constexpr auto value_and_grad(F) {
  detail::require_captureless<F>();
  if constexpr (!detail::captures_nothing<F>) return detail::Refused{};
  else if constexpr (sizeof...(I) == 0) return detail::Gradient<F, true, 0>{};
  else return detail::Gradient<F, true, I...>{};
}

}  // namespace tt
