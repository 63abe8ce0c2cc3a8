// Options of ops over graphs, as members of a struct: their types, and code that all ops derive from the struct: each
// option by name, as words of a node's attributes and back, and as fields for reading and writing text.
//   struct Options { Axes dim; bool keepdim = false; Optional<double> eps; SizeOption size; };
#pragma once
#include <bit>
#include <limits>

#include "tt/core/member_names.hpp"
#include "tt/core/size.hpp"
#include "tt/graph/node.hpp"

namespace tt {

namespace detail {

/// A number outside of this type is replaced by the nearest one, which is outside of every valid range as well.
template <class T>
constexpr T saturated(std::int64_t v) {
  constexpr auto least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return v < static_cast<std::int64_t>(least) ? least : v > static_cast<std::int64_t>(most) ? most : static_cast<T>(v);
}

}  // namespace detail

/// A size, as an option. Bodies and kernels read `extent`: in a captured function it may be an expression.
struct SizeOption {
  std::int64_t value = 0;  ///< its value in the present call
  Extent extent = 0;

  constexpr SizeOption() = default;
  constexpr SizeOption(std::integral auto n) : value(static_cast<std::int64_t>(n)), extent(within(value)) {}
  constexpr SizeOption(const Size& n) : value(n.hint()), extent(n.is_expression() ? n.extent() : Extent(within(value))) {}
  constexpr bool operator==(const SizeOption&) const = default;

 private:
  /// Clamps numbers out of the range of sizes, which else could be codes of expressions.
  static constexpr std::int64_t within(std::int64_t n) {
    constexpr std::int64_t most = std::int64_t{1} << 60;
    return n > most ? most : n < -most ? -most : n;
  }
};
/// At most N numbers, as an option; a structural type. Throws Error when there are more.
template <class T, int N>
struct OptionList {
  T item[N] = {};
  int count = 0;

  constexpr OptionList() = default;
  template <class A>
    requires((std::integral<A> && !std::same_as<A, bool>) || std::derived_from<A, Size>)
  constexpr OptionList(const A& one) { push_back(number(Size(one))); }
  constexpr OptionList(std::initializer_list<SizeArgument> list) {
    for (const SizeArgument& v : list) push_back(number(v.size));
  }
  template <std::integral I>
  constexpr OptionList(std::initializer_list<I> list) {
    for (const I v : list) push_back(number(Size(v)));
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
    else return detail::saturated<T>(std::int64_t{v});  // guarded
  }
};
/// A list of sizes, with room for one more than a shape can have: a list that is too long then has a wrong size.
using Sizes = OptionList<SizeOption, max_rank + 1>;
/// Axes of a value; negative ones count from the end.
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
  constexpr Optional(T v) requires std::is_enum_v<T> : value(v), given(true) {}
  constexpr bool operator==(const Optional&) const = default;
};

/// The words of an option that is an enum, in the order of its values: "none|mean|sum". Calls by name take a word; schemas show this text as the type.
template <class E>
inline constexpr const char* choices_of = nullptr;
template <class E>
concept Choice = std::is_enum_v<E> && choices_of<E> != nullptr;

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

// ---- options as words

/// Writes options as numbers: to.number(v), to.size(s). A list follows its length, an Optional follows its `given`.
template <class To>
struct OptionWriter {
  To& to;
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void operator()(T v) const { to.number(static_cast<std::int64_t>(v)); }
  void operator()(double v) const { to.number(std::bit_cast<std::int64_t>(v)); }
  void operator()(const SizeOption& v) const { to.size(v); }
  template <class T>
  void operator()(const Optional<T>& v) const {
    to.number(v.given);
    (*this)(v.given ? v.value : T{});
  }
  void operator()(const HeightWidth& v) const { (*this)(OptionList<int, 2>{v.h, v.w}); }
  template <class T, int N>
  void operator()(const OptionList<T, N>& list) const {
    to.number(list.count);
    for (int k = 0; k < list.count; ++k) (*this)(list.item[k]);
  }
};
/// Reads them back: from.number(), from.size().
template <class From>
struct OptionReader {
  From& from;
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void operator()(T& v) const {
    const std::int64_t word = from.number();
    if constexpr (std::is_same_v<T, int>) v = saturated<int>(word);
    else v = static_cast<T>(word);
  }
  void operator()(double& v) const { v = std::bit_cast<double>(from.number()); }
  void operator()(SizeOption& v) const { v = from.size(); }
  template <class T>
  void operator()(Optional<T>& v) const {
    v.given = from.number() != 0;
    (*this)(v.value);
  }
  /// One number counts for both; none leaves the default.
  void operator()(HeightWidth& v) const {
    OptionList<int, 2> list;
    (*this)(list);
    if (list.count > 0) v = {list.item[0], list.item[list.count - 1]};
  }
  template <class T, int N>
  void operator()(OptionList<T, N>& list) const {
    const std::int64_t count = from.number();
    list = {};
    for (std::int64_t k = 0; k < count; ++k) {
      T v{};
      (*this)(v);
      list.push_back(v);
    }
  }
};
/// The words of a node; sizes are codes of extents.
struct NodeWordsTo {
  Vec<std::int64_t>& words;
  void number(std::int64_t v) { words.push_back(v); }
  void size(const SizeOption& v) { words.push_back(v.extent.code); }
};
struct NodeWordsFrom {
  const std::int64_t* word;
  std::int64_t number() { return *word++; }
  SizeOption size() {
    SizeOption v;
    v.extent = Extent::from_code(*word++);
    if (v.extent.is_constant()) v.value = v.extent.code;
    return v;
  }
};
/// The OptionField of an option's type.
struct OptionFieldOf {
  OptionField field;
  constexpr void kind(OptionField::Kind k) { field.kind = k; }
  constexpr void operator()(bool) { kind(OptionField::Kind::boolean); }
  constexpr void operator()(DType) { kind(OptionField::Kind::dtype); }
  template <Choice E>
  constexpr void operator()(E) { kind(OptionField::Kind::integer); }
  constexpr void operator()(std::integral auto) { kind(OptionField::Kind::integer); }
  constexpr void operator()(double) { kind(OptionField::Kind::real); }
  constexpr void operator()(const SizeOption&) { kind(OptionField::Kind::size); }
  constexpr void operator()(const HeightWidth&) {
    kind(OptionField::Kind::integer);
    field.list = true;
    field.most = 2;
  }
  template <class T>
  constexpr void operator()(const Optional<T>& v) {
    (*this)(v.value);
    field.optional = true;
  }
  template <class T, int N>
  constexpr void operator()(const OptionList<T, N>& v) {
    (*this)(v.item[0]);
    field.list = true;
    field.most = N;
  }
};
template <class F>
OptionFields option_fields() {
  using Options = options_t<F>;
  if constexpr (constexpr int n = count_members<Options>(); n == 0) {
    return {};
  } else {
    static const struct Table {
      OptionField field[n] = {};
      Table() {
        Options options{};
        OptionField* next = field;
        each_option(options, [&](NameText name, const auto& v) {
          OptionFieldOf of{};
          of(v);
          of.field.name = name.begin;
          of.field.name_size = static_cast<int>(name.size);
          *next++ = of.field;
        });
      }
    } table;
    return {table.field, n};
  }
}

}  // namespace detail
}  // namespace tt
