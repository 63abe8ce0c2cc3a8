// Parameter structs: one template over a Kind, the same model text on arrays, symbols and tensors.
//   template <class Kind> struct Mlp {
//     tt::leaf<Kind, float, 64, 32> w1;
//     tt::leaf<Kind, float, 32> b1;
//   };
//   Mlp<tt::arrays> parameters;
// for_each_member visits the leaves of one such struct, or of several in parallel; members may be such structs
// themselves, and arrays of them: `Layer<Kind> layers[12];`. Names: core/reflect.hpp.
#pragma once
#include <tuple>

#include "tt/core/array.hpp"

namespace tt {

TT_DEBUG_BEGIN
/// Kind of parameter structs: members are Arrays.
struct arrays {
  template <class T, std::int64_t... E>
  using type = Array<T, E...>;
};
TT_DEBUG_END

/// A member of a parameter struct.
template <class Kind, class T, std::int64_t... E>
using leaf = typename Kind::template type<T, E...>;

namespace detail {

struct Anything {
  template <class T>
  constexpr operator T() const noexcept;
};
/// Number of initialisers of an aggregate; a C array has one for each element. -1: more than 64.
template <class S, class... A>
constexpr int count_initialisers() {
  if constexpr (sizeof...(A) > 64) return -1;
  else if constexpr (requires { S{A{}..., Anything{}}; }) return count_initialisers<S, A..., Anything>();
  else return sizeof...(A);
}
template <std::size_t>
using AnyOf = Anything;
/// Empty braces initialise one member, also a whole C array.
template <class S, std::size_t... Before, std::size_t... After>
constexpr bool takes_braces(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires { S{AnyOf<Before>{}..., {}, AnyOf<After>{}...}; };
}
/// Number of initialisers of the member that begins at initialiser At of All.
template <class S, std::size_t All, std::size_t At, std::size_t N = 1>
constexpr std::size_t initialisers_of_member() {
  if constexpr (takes_braces<S>(std::make_index_sequence<At>{}, std::make_index_sequence<All - At - N>{}))
    return N;
  else if constexpr (At + N < All) return initialisers_of_member<S, All, At, N + 1>();
  else return 1;  // no member that empty braces could initialise
}
template <class S, std::size_t All, std::size_t At>
constexpr int count_members_from() {
  if constexpr (At >= All) return 0;
  else return 1 + count_members_from<S, All, At + initialisers_of_member<S, All, At>()>();
}
template <class S>
constexpr int count_members() {
  constexpr int all = count_initialisers<S>();
  if constexpr (all < 0) return -1;
  else return count_members_from<S, static_cast<std::size_t>(all), 0>();
}

/// f(members...) with all members of an aggregate.
template <class S, class F>
constexpr decltype(auto) with_members(S& s, F&& f) {
  constexpr int n = count_members<std::remove_cv_t<S>>();
  static_assert(n >= 1 && n <= 16, "tt: a parameter struct has 1 to 16 members (array elements: 64)");
  if constexpr (n == 1) { auto& [a] = s; return f(a); }
  else if constexpr (n == 2) { auto& [a, b] = s; return f(a, b); }
  else if constexpr (n == 3) { auto& [a, b, c] = s; return f(a, b, c); }
  else if constexpr (n == 4) { auto& [a, b, c, d] = s; return f(a, b, c, d); }
  else if constexpr (n == 5) { auto& [a, b, c, d, e] = s; return f(a, b, c, d, e); }
  else if constexpr (n == 6) { auto& [a, b, c, d, e, g] = s; return f(a, b, c, d, e, g); }
  else if constexpr (n == 7) { auto& [a, b, c, d, e, g, h] = s; return f(a, b, c, d, e, g, h); }
  else if constexpr (n == 8) {
    auto& [a, b, c, d, e, g, h, i] = s;
    return f(a, b, c, d, e, g, h, i);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, g, h, i, j] = s;
    return f(a, b, c, d, e, g, h, i, j);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, g, h, i, j, k] = s;
    return f(a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, g, h, i, j, k, l] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m);
  } else if constexpr (n == 13) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o);
  } else if constexpr (n == 14) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o, p);
  } else if constexpr (n == 15) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q);
  } else {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r);
  }
}

template <class T>
struct kind_of;
template <template <class> class M, class K>
struct kind_of<M<K>> {
  using type = K;
  template <class Other>
  using rebind = M<Other>;
};

/// A struct whose members are visible, and which is not a tuple or an array.
template <class T>
concept PlainStruct = std::is_aggregate_v<T> && std::is_class_v<T> && !requires { std::tuple_size<T>::value; };
/// For with_members: a tuple of references to all members.
struct Tie {
  template <class... M>
  constexpr std::tuple<M&...> operator()(M&... m) const {
    return std::tuple<M&...>(m...);
  }
};

/// Length of a member that holds several parameters, or structs of them: a C array or a std::array.
template <class S>
inline constexpr std::size_t list_length = [] {
  if constexpr (std::is_bounded_array_v<S>) return std::extent_v<S>;
  else if constexpr (requires(S& s) { std::tuple_size<S>::value; s[0]; }) return std::tuple_size_v<S>;
  else return std::size_t{0};
}();

}  // namespace detail

/// A struct template over a Kind.
template <class S>
concept ParameterStruct = std::is_aggregate_v<std::remove_cvref_t<S>> &&
                          requires { typename detail::kind_of<std::remove_cvref_t<S>>::type; };

/// The same struct with another Kind.
template <class Kind, class S>
using rebind_kind = typename detail::kind_of<std::remove_cvref_t<S>>::template rebind<Kind>;

/// References to all leaves, those of nested structs in place, in order of declaration.
template <class S>
constexpr auto leaves(S& s) {
  if constexpr (ParameterStruct<S>)
    return detail::with_members(s, [](auto&... m) { return std::tuple_cat(leaves(m)...); });
  else if constexpr (detail::list_length<S> > 0)
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple_cat(leaves(s[I])...);
    }(std::make_index_sequence<detail::list_length<S>>{});
  else return std::tuple<S&>(s);
}

/// f(leaf) for every leaf; with several structs f(leaf of the first, leaf of the second, ...).
template <class F, class S, class... More>
constexpr void for_each_member(const F& f, S& s, More&... more) {
  const auto all = std::make_tuple(leaves(s), leaves(more)...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto visit = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      std::apply([&](const auto&... t) { f(std::get<J>(t)...); }, all);
    };
    (visit(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(leaves(s))>>{});
}

}  // namespace tt
