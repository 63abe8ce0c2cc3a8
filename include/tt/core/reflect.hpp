// Every parameter struct as a Boost.Hana Struct: its members can be listed, named and visited.
//   boost::hana::for_each(mlp, boost::hana::fuse([](auto name, auto& member) { ... }));
//   tt::named_parameters(mlp, [](auto name, auto& w) { std::puts(name.c_str()); });   // layers.0.weight
// A name is a boost::hana::string: its characters are its type, so names can be compared and joined at
// compile time. Needs Boost's headers; tt/tt.hpp does not include this file.
#pragma once
#if !__has_include(<boost/hana/string.hpp>)
#error "tt/core/reflect.hpp needs Boost.Hana: install libboost-dev, or put Boost's headers on the include path"
#endif
#include <boost/hana/accessors.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/fuse.hpp>
#include <boost/hana/keys.hpp>
#include <boost/hana/members.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

#include "tt/core/member_names.hpp"

namespace tt {
namespace detail {

template <class S>
using member_indices = std::make_index_sequence<static_cast<std::size_t>(count_members<S>())>;

template <class S, std::size_t I>
constexpr auto hana_name() {
  return []<std::size_t... C>(std::index_sequence<C...>) {
    return boost::hana::string<member_name<S, I>.begin[C]...>{};
  }(std::make_index_sequence<member_name<S, I>.size>{});
}
template <std::size_t I>
struct MemberAccess {
  template <class S>
  constexpr auto& operator()(S& s) const {
    return member<I>(s);
  }
  template <class S>
  constexpr auto&& operator()(const S&& s) const {
    return static_cast<std::remove_reference_t<decltype(member<I>(s))>&&>(member<I>(s));
  }
};

// Dotted names: `layers.0.weight`.
template <char... A, char... B>
constexpr auto dotted(boost::hana::string<A...>, boost::hana::string<B...> name) {
  if constexpr (sizeof...(A) == 0) return name;
  else return boost::hana::string<A..., '.', B...>{};
}
template <std::size_t I, char... After>
constexpr auto decimal() {
  constexpr char digit = static_cast<char>('0' + I % 10);
  if constexpr (I < 10) return boost::hana::string<digit, After...>{};
  else return decimal<I / 10, digit, After...>();
}
template <class Prefix, class S, class F>
constexpr void visit_named(Prefix prefix, S& s, const F& f) {
  if constexpr (ParameterStruct<S>)
    boost::hana::for_each(s, boost::hana::fuse([&](auto name, auto& m) {
      visit_named(dotted(prefix, name), m, f);
    }));
  else if constexpr (list_length<S> > 0)
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (visit_named(dotted(prefix, decimal<I>()), s[I], f), ...);
    }(std::make_index_sequence<list_length<S>>{});
  else f(prefix, s);
}

}  // namespace detail

/// f(name, leaf) for every leaf, in order of declaration. The name is a boost::hana::string with
/// dots, as PyTorch's: `name.c_str()` is "layers.0.weight".
template <ParameterStruct S, class F>
constexpr void named_parameters(S& s, const F& f) {
  detail::visit_named(boost::hana::string<>{}, s, f);
}

}  // namespace tt

// The specialisations stand in the place of Hana's default argument, so they win over Hana's own. Members
// are handed out by reference where Hana would copy them.
namespace boost::hana {

template <tt::ParameterStruct S>
struct accessors_impl<S, void> {
  static constexpr auto apply() { return all(tt::detail::member_indices<S>{}); }

 private:
  template <std::size_t... I>
  static constexpr auto all(std::index_sequence<I...>) {
    return make_tuple(make_pair(tt::detail::hana_name<S, I>(), tt::detail::MemberAccess<I>{})...);
  }
};
template <tt::ParameterStruct S>
struct unpack_impl<S, void> {
  template <class X, class F>
  static constexpr decltype(auto) apply(X&& x, F&& f) {
    return all(x, static_cast<F&&>(f), tt::detail::member_indices<S>{});
  }

 private:
  template <class X, class F, std::size_t... I>
  static constexpr decltype(auto) all(X& x, F&& f, std::index_sequence<I...>) {
    using tt::detail::member;
    return static_cast<F&&>(f)(pair<decltype(tt::detail::hana_name<S, I>()), decltype(member<I>(x))>(
        tt::detail::hana_name<S, I>(), member<I>(x))...);
  }
};
template <tt::ParameterStruct S>
struct members_impl<S, void> {
  template <class X>
  static constexpr auto apply(X& x) {
    return tt::detail::with_members(x, [](auto&... m) { return tuple<decltype(m)...>(m...); });
  }
};

}  // namespace boost::hana
