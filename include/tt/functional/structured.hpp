// Ops over graphs, each one struct: its options, whose members' names, types and defaults are its schema, and a body over
// symbols. Calls on Arrays, Tensors and symbols, by name, and in captured functions follow from it; so do derivatives.
//   struct LayerNorm {
//     struct Options { Axes dim; double eps = 1e-5; };
//     static constexpr OpInfo info{.name = "layer_norm", .arguments = "input, .dim, weight?, bias?"};
//     static constexpr Sym body(const auto& x, const auto& weight, const auto& bias, const Options& o);
//   };
// `arguments` names the Tensors in the order of a call by name, with `?` those that may be left out. Options that must be given stand
// among them behind a dot; the others follow, with their defaults. A Tensor that is left out is a symbol without a graph.
#pragma once
#include <limits>

#include "tt/core/member_names.hpp"
#include "tt/core/size.hpp"
#include "tt/graph/sym.hpp"

namespace tt {

namespace detail {

/// What is no number of this type is the one next to it: out of every range as well.
template <class T>
constexpr T saturated(std::int64_t v) {
  constexpr auto least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return v < static_cast<std::int64_t>(least) ? least : v > static_cast<std::int64_t>(most) ? most : static_cast<T>(v);
}

}  // namespace detail

/// A size, as an option. Bodies and kernels read `extent`: in a captured function it may be an expression.
struct SizeOption {
  std::int64_t value = 0;  ///< what it is in the call that hands it over
  Extent extent = 0;

  constexpr SizeOption() = default;
  constexpr SizeOption(std::integral auto n) : value(static_cast<std::int64_t>(n)), extent(within(value)) {}
  constexpr SizeOption(const Size& n) : value(n.value()), extent(n.is_expression() ? n.extent() : Extent(within(value))) {}
  constexpr bool operator==(const SizeOption&) const = default;

 private:
  /// Numbers that no size can be are no codes of expressions.
  static constexpr std::int64_t within(std::int64_t n) {
    constexpr std::int64_t most = std::int64_t{1} << 60;
    return n > most ? most : n < -most ? -most : n;
  }
};
/// At most N numbers, as an option: a structural type. Throws Error when there are more.
template <class T, int N>
struct OptionList {
  T item[N] = {};
  int count = 0;

  constexpr OptionList() = default;
  template <class A>
    requires(std::integral<A> || std::derived_from<A, Size>)
  constexpr OptionList(const A& one) { push_back(number(Size(one))); }
  constexpr OptionList(std::initializer_list<SizeArgument> list) {
    for (const SizeArgument& v : list) push_back(number(v.size));
  }
  /// From an IntList.
  template <class L>
    requires requires(const L& list) { list.value(0); }
  constexpr OptionList(const L& list) {
    for (int k = 0; k < list.size(); ++k) push_back(number(list[k]));
  }
  constexpr void push_back(T v) {
    if (count == N) TT_THROW(Error(Text("tt: a list has more than ") << N << " numbers."));
    item[count++] = v;
  }
  constexpr bool operator==(const OptionList&) const = default;

 private:
  static constexpr T number(const Size& v) {
    if constexpr (std::is_same_v<T, SizeOption>) return v;
    else return detail::saturated<T>(std::int64_t{v});  // looked at
  }
};
/// A list of sizes, as long as a shape can be, and one longer: of a list that is too long, a size is wrong.
using Sizes = OptionList<SizeOption, max_rank + 1>;
/// Axes of a value, negative ones from the end.
using Axes = OptionList<int, max_rank + 1>;

/// A number that may be left out, as an option.
template <class T>
struct Optional {
  T value{};
  bool given = false;

  constexpr Optional() = default;
  template <class A>
    requires(std::integral<A> || std::derived_from<A, Size>)
  constexpr Optional(const A& v) : given(true) {
    if constexpr (std::is_integral_v<T>) value = detail::saturated<T>(static_cast<std::int64_t>(v));
    else value = static_cast<T>(v);
  }
  constexpr Optional(double v) requires std::is_floating_point_v<T> : value(v), given(true) {}
  constexpr bool operator==(const Optional&) const = default;
};

/// Two numbers for the last two axes, or one for both.
struct HeightWidth {
  int h, w;
  constexpr HeightWidth(int both) : h(both), w(both) {}
  constexpr HeightWidth(int height, int width) : h(height), w(width) {}
};

/// The options of an op that has none.
struct NoOptions {};

namespace detail {

template <class F>
struct OptionsOf {
  using type = NoOptions;
};
template <class F>
  requires requires { typename F::Options; }
struct OptionsOf<F> {
  using type = typename F::Options;
};

}  // namespace detail

template <class F>
using options_t = typename detail::OptionsOf<F>::type;

namespace detail {

/// f(name, member) for each option.
template <class O, class F>
constexpr void each_option(O& options, const F& f) {
  using Plain = std::remove_cv_t<O>;
  constexpr int n = count_members<Plain>();
  if constexpr (n > 0)
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      with_members(options, [&](auto&... m) { (f(member_name<Plain, I>, m), ...); });
    }(std::make_index_sequence<static_cast<std::size_t>(n)>{});
}

/// The names in an op's `arguments`, one after the other.
struct ArgumentReader {
  const char* rest;
  NameText name{};
  bool option = false, optional = false;  ///< not a Tensor; may be left out
  constexpr bool next() {
    while (*rest == ' ' || *rest == ',') ++rest;
    option = *rest == '.';
    if (option) ++rest;
    name = {rest, 0};
    while (is_identifier(*rest)) ++rest, ++name.size;
    optional = *rest == '?';
    if (optional) ++rest;
    return name.size > 0;
  }
};
/// How many Tensors an op takes, and how many of them may be left out: the last ones.
struct TensorCount {
  int all = 0, optional = 0;
};
template <class F>
constexpr TensorCount count_tensors() {
  TensorCount n;
  bool right = true;
  for (ArgumentReader r{F::info.arguments}; r.next();) {
    right = right && (r.option ? !r.optional : r.optional || n.optional == 0);
    n.all += !r.option;
    n.optional += r.optional;
  }
  return right ? n : TensorCount{-1, 0};
}
template <class F>
inline constexpr TensorCount tensors_of = count_tensors<F>();

/// The body on these symbols, those left out behind them.
template <class F, class... S>
constexpr auto record_structured(const options_t<F>& options, const S&... s) {
  constexpr int given = sizeof...(S), most = tensors_of<F>.all;
  static_assert(most >= 0, "tt: Tensors that may be left out are the last ones, and options have their defaults in their struct");
  static_assert(given <= most && given >= most - tensors_of<F>.optional, "tt: wrong number of arguments for this op");
  return [&]<std::size_t... None>(std::index_sequence<None...>) {
    if constexpr (requires { typename F::Options; }) return F::body(s..., (static_cast<void>(None), Sym{})..., options);
    else return F::body(s..., (static_cast<void>(None), Sym{})...);
  }(std::make_index_sequence<static_cast<std::size_t>(most - given)>{});
}

}  // namespace detail

/// An op with options that are known when the program is compiled, as front ends call it.
template <class F, options_t<F> O = options_t<F>{}>
struct Structured {
  static constexpr const char* name = F::info.name;
  template <class... S>
  static constexpr auto record(const S&... s) {
    return detail::record_structured<F>(O, s...);
  }
};

/// What knows its axes when the program runs: Tensors and symbols.
template <class A>
concept DynamicAxes = Value<A> && std::remove_cvref_t<A>::tt_front::dynamic_axes;

/// An op over graphs with its options in the type: on Arrays, Tensors and symbols.
template <class F, options_t<F> O = options_t<F>{}, class... A>
constexpr auto call_structured(SourceLine at, A&&... a) {
  return front_t<A...>::template function<Structured<F, O>>(at, static_cast<A&&>(a)...);
}
/// With options that are arguments: on Tensors and symbols.
template <class F, class A, class... More>
constexpr auto call_with(SourceLine at, const options_t<F>& options, const A& a, const More&... more) {
  static_assert(DynamicAxes<A>, "tt: the shape of an Array is part of its type: give the axis as a template argument, as in tt::sum<1>(a)");
  if constexpr (DynamicAxes<A>) return A::tt_front::template structured<F>(at, options, a, more...);
  else return a;
}

template <class F, class O, class... S>
constexpr auto SymFront::structured(SourceLine at, const O& options, const S&... s) {
  Graph* g = nullptr;
  const auto find = [&](const auto& x) {
    if (x.graph) g = x.graph;
  };
  (find(s), ...);
  const bool inner = g->where_is_caller;
  at_line(g, at);
  g->where_is_caller = true;  // what the op records was written by its caller
  const auto result = detail::record_structured<F>(options, s...);
  g->where_is_caller = inner;
  return result;
}

}  // namespace tt
