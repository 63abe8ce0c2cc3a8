// Ops over graphs, each defined by one struct: options, whose members' names, types and defaults are the op's schema, and a body
// over symbols. Calls on Arrays, Tensors and symbols, by name, and in captured functions follow from the struct; so do derivatives.
//   struct LayerNorm {
//     struct Options { Axes dim; double eps = 1e-5; };
//     static constexpr OpInfo info{.name = "layer_norm", .arguments = "input, .dim, weight?, bias?"};
//     static constexpr Sym body(const auto& x, const auto& weight, const auto& bias, const Options& o);
//   };
// `arguments` names the Tensors in the order of a call by name; `?` marks those that may be left out. Options without a default are
// named among them, with a dot before; the others follow, with their defaults. A Tensor that is left out is a symbol without a graph.
// An op of any number of Tensors has "tensors..." there, and its body takes them as a list: body(const Syms& x, const Options& o).
#pragma once
#include <array>

#include "tt/functional/options.hpp"
#include "tt/graph/sym.hpp"

namespace tt {

/// The operands of an op that takes any number of them.
struct Syms {
  const Sym* first;
  int count;
  constexpr const Sym& operator[](int k) const { return first[k]; }
  constexpr int size() const { return count; }
};

namespace detail {

/// Reads the names in an op's `arguments`, one at a time.
struct ArgumentReader {
  const char* rest;
  NameText name{};
  bool option = false, optional = false, list = false;  ///< not a Tensor; may be left out; any number of Tensors
  constexpr bool next() {
    while (*rest == ' ' || *rest == ',') ++rest;
    option = *rest == '.';
    if (option) ++rest;
    name = {rest, 0};
    while (is_identifier(*rest)) ++rest, ++name.size;
    optional = *rest == '?';
    if (optional) ++rest;
    for (list = *rest == '.'; *rest == '.';) ++rest;
    return name.size > 0;
  }
};
/// How many Tensors an op takes, and how many of the last ones may be left out.
struct TensorCount {
  int all = 0, optional = 0;
  bool any_number = false;
};
template <class F>
constexpr TensorCount count_tensors() {
  TensorCount n;
  bool right = true;
  for (ArgumentReader r{F::info.arguments}; r.next();) {
    right = right && (r.option ? !r.optional : r.optional || n.optional == 0);
    n.all += !r.option;
    n.optional += r.optional;
    n.any_number = n.any_number || r.list;
  }
  return right && (!n.any_number || n.all == 1) ? n : TensorCount{-1, 0};
}
template <class F>
inline constexpr TensorCount tensors_of = count_tensors<F>();

/// Number of results of an op's body: one symbol, or the members of its struct Results.
template <class F>
constexpr int count_results() {
  if constexpr (requires { typename F::Results; }) return count_members<typename F::Results>();
  else return 1;
}
/// Has the op a kernel instead of a body? It runs on the host, and gives Meta Tensors for Meta Tensors.
template <class F>
inline constexpr bool has_kernel = requires { &F::kernel; };

constexpr bool is_of_narrow_float(const Sym& x) { return x.graph && is_narrow_float(x.dtype()); }
template <class O>
constexpr bool is_of_narrow_float(const O&) {
  return false;
}
/// Converts a narrow float to its compute dtype; options are passed through.
constexpr Sym widened_float(const Sym& x) { return is_of_narrow_float(x) ? Sym{x.graph, x.graph->widened(x.id)} : x; }
template <class O>
constexpr const O& widened_float(const O& options) {
  return options;
}
/// The body of an op with narrow floats as operands: its results are rounded to them, its intermediate values are not.
template <class F, class... A>
constexpr auto body_of_narrow(const A&... a) {
  if (!(is_of_narrow_float(a) || ...)) return F::body(a...);
  DType d = DType::boolean;
  const auto find = [&](const auto& x) {
    if constexpr (std::is_same_v<decltype(x), const Sym&>)
      if (x.graph && is_floating(x.dtype()) && !(F::info.rounds_as_input && d != DType::boolean)) d = promote(d, x.dtype());
  };
  (find(a), ...);
  auto r = F::body(widened_float(a)...);
  const auto round = [&](Sym& x) {
    if (is_narrow(d) && x.dtype() == compute_dtype(d)) x.id = x.graph->cast(x.id, d);
  };
  if constexpr (std::is_same_v<decltype(r), Sym>) round(r);
  else with_members(r, [&](auto&... x) { (round(x), ...); });
  return r;
}

/// The result of the body on symbols, or for an op with a kernel that of F::like, symbols like its results.
template <class F, class... A>
constexpr auto body_of(const A&... a) {
  if constexpr (has_kernel<F>) return F::like(a...);
  else if constexpr (!F::info.widens) return F::body(a...);
  else return body_of_narrow<F>(a...);
}
[[noreturn]] inline void refuse_no_result(const char* op, int k) { TT_THROW(Error(Text("tt::") << op << ": it gives no result " << k << ": the body, or `like`, leaves that symbol undefined.")); }
/// The body on these symbols; the Tensors after them are left out.
template <class F, class... S>
constexpr auto record_structured(const options_t<F>& options, const S&... s) {
  constexpr int given = sizeof...(S), most = tensors_of<F>.all;
  static_assert(tensors_of<F>.all >= 0, "tt: Tensors that may be left out are the last ones, and options have their defaults in their struct");
  if constexpr (tensors_of<F>.any_number) {
    const Sym list[] = {s...};
    return body_of<F>(Syms{list, given}, options);
  } else {
    static_assert(given <= most && given >= most - tensors_of<F>.optional, "tt: wrong number of arguments for this op");
    return [&]<std::size_t... None>(std::index_sequence<None...>) {
      if constexpr (requires { typename F::Options; }) return body_of<F>(s..., (static_cast<void>(None), Sym{})..., options);
      else return body_of<F>(s..., (static_cast<void>(None), Sym{})...);
    }(std::make_index_sequence<static_cast<std::size_t>(most - given)>{});
  }
}
constexpr int node_of_result(const Sym& s, const char* op, int k) {
  if (!s.graph) refuse_no_result(op, k);
  return s.id;
}
/// The same on nodes; bit k of `given`: is Tensor k among the operands?
template <class F>
[[gnu::cold]] void record_nodes(Graph& g, Ids operands, std::int64_t given, const options_t<F>& options, int* results) {
  constexpr int all = tensors_of<F>.all;
  if constexpr (tensors_of<F>.any_number) {
    Vec<Sym> list;
    for (int o : operands) list.push_back({&g, o});
    results[0] = body_of<F>(Syms{list.begin(), list.size()}, options).id;
    return;
  }
  Sym operand[all];
  for (int k = 0, next = 0; k < all && next < operands.size(); ++k)
    if (given >> k & 1) operand[k] = {&g, operands[next++]};
  const auto result = [&]<std::size_t... I>(std::index_sequence<I...>) { return record_structured<F>(options, operand[I]...); }(std::make_index_sequence<all>{});
  if constexpr (!std::is_same_v<decltype(result), const Sym>) {
    int k = 0;
    with_members(result, [&](const auto&... s) { ((results[k] = node_of_result(s, F::info.name, k), ++k), ...); });
  } else {
    results[0] = node_of_result(result, F::info.name, 0);
  }
}

/// The inverse of words_of_options.
template <class F>
options_t<F> options_of_words(const std::int64_t* words) {
  NodeWordsFrom from{words + (tensors_of<F>.optional > 0 ? 1 : 0)};
  options_t<F> options{};
  each_option(options, [&](NameText, auto& v) { OptionReader<NodeWordsFrom>{from}(v); });
  return options;
}
template <class F>
[[gnu::cold]] void decompose_structured(const OpDef&, Graph& g, Ids operands, const std::int64_t* words, int* results) {
  record_nodes<F>(g, operands, tensors_of<F>.optional > 0 ? words[0] : -1, options_of_words<F>(words), results);
}
template <class F>
Vec<std::int64_t> words_of_options(std::int64_t given, const options_t<F>& options) {
  Vec<std::int64_t> words;
  NodeWordsTo to{words};
  if (tensors_of<F>.optional > 0) to.number(given);
  each_option(options, [&](NameText, const auto& v) { OptionWriter<NodeWordsTo>{to}(v); });
  return words;
}
}  // namespace detail

/// The derivative of an op with a kernel on symbols, in a graph (DerivativeStep is the one on Tensors). Floating
/// arguments and results are only for their dtypes and shapes.
struct DerivativeRecord {
  const Sym *argument = nullptr, *result = nullptr;
  int arguments = 0;
  const Sym* gradient = nullptr;  ///< of the results; undefined: zero
  OutGradients<Sym> out{};        ///< gradients of the arguments; undefined: no gradient
  SourceLine at{};
  std::int64_t given = -1;  ///< of an op with Tensors that may be left out: see place()

  /// The index among `argument` and `out` of Tensor number k of the op's `arguments`; -1 if it was left out.
  int place(int k) const { return place_of_argument(given, k, arguments); }
};

namespace detail {

/// Can an op with a kernel be a node of a graph? It needs F::like for its results, and a derivative on symbols if it has a derivative.
template <class F>
inline constexpr bool is_recordable = false;
template <class F>
inline constexpr bool has_derivative_record = requires(const DerivativeRecord& r, const options_t<F>& o) { F::derivative(r, o); };
template <class F>
  requires requires { &F::like; }
inline constexpr bool is_recordable<F> = has_derivative_record<F> || !requires { &F::derivative; };

template <class F>
Vec<std::int64_t> words_of_next_dim(const std::int64_t* words) {
  options_t<F> o = options_of_words<F>(words);
  if (o.dim >= 0) ++o.dim;
  return words_of_options<F>(tensors_of<F>.optional > 0 ? words[0] : -1, o);
}

/// Defined where operators are, in dispatch/eager.hpp.
template <class F>
const Operator& external_operator();
/// Is the host kernel the op's own, or was another registered in its place?
template <class F>
bool has_own_host_kernel();
template <class F>
[[gnu::cold]] void differentiate_external(Graph& g, int node, const int* adjoints, int* contributions) {
  const Node n = g[node];
  const Vec<std::int64_t> words = g.attribute_words(n);
  const Vec<int> operands = copied(g.operands(n));
  const Vec<int> nodes = call_named(g, *n.def, operands, words);
  Vec<Sym> argument, result, gradient(n.def->results, Sym{}), out(operands.size(), Sym{});
  for (int o : operands) argument.push_back({&g, o});
  for (int r : nodes) result.push_back({&g, r});
  for (int k = 0; k < n.def->results; ++k)
    if (adjoints[k] >= 0) gradient[k] = {&g, adjoints[k]};
  const AtCaller line(g, n.where);
  F::derivative(DerivativeRecord{argument.begin(), result.begin(), operands.size(), gradient.begin(), {out.begin(), operands.size(), n.def->info.name}, n.where, n.def->optional > 0 ? words[0] : -1}, options_of_words<F>(words.begin()));
  for (int k = 0; k < operands.size(); ++k) contributions[k] = out[k].id;
}

template <class F>
constexpr void make_named_def(OpDef& d) {
  if constexpr (!has_kernel<F> || is_recordable<F>) {
    d.is_named = true;
    if constexpr (has_kernel<F>) {
      d.is_external = true;
      d.external = &external_operator<F>;
      if constexpr (requires { F::batching; }) {
        d.batching = F::batching;
        if constexpr (F::batching != Batching::in_front) d.next_dim = &words_of_next_dim<F>;
      }
    }
    if constexpr (requires { F::may_share; }) d.may_share = F::may_share;
    if constexpr (requires { F::is_linear; }) d.is_linear = F::is_linear;
    if constexpr (requires { typename F::CheckPlaces; }) d.check_places = [] { return has_own_host_kernel<F>() ? &op_def<typename F::CheckPlaces> : nullptr; };
    if constexpr (has_kernel<F> && has_derivative_record<F>) {
      d.has_rule = true;
      d.differentiate = &differentiate_external<F>;
    }
    d.info.arity = tensors_of<F>.all;
    d.optional = tensors_of<F>.optional;
    d.any_number = tensors_of<F>.any_number;
    d.results = count_results<F>();
    d.decompose = &decompose_structured<F>;
    d.options = &option_fields<F>;
  }
}

}  // namespace detail

/// The options of a node that is op F.
///   tt::node_options<Softmax>(graph, id).dim
template <class F>
options_t<F> node_options(const Graph& g, int id) {
  return detail::options_of_words<F>(g.attribute_words(g[id]).begin());
}

/// Records op F, as a node for each of its results; `operands` are the first of its Tensors.
///   g = tt::replace(g, softmax, tt::record_named<LogSoftmax>(g, g.operands(softmax), {.dim = 1})[0]);
template <class F>
Vec<int> record_named(Graph& g, Ids operands, const options_t<F>& options = {}) {
  return call_named(g, op_def<F>, operands, detail::words_of_options<F>(operands.size() < 63 ? (std::int64_t{1} << operands.size()) - 1 : -1, options));
}

/// An op with options that are known when the program is compiled, as front ends call it.
template <class F, options_t<F> O = options_t<F>{}>
struct Structured {
  using Definition = F;
  static constexpr const char* name = F::info.name;
  template <class... S>
  static constexpr auto record(const S&... s) {
    return detail::record_structured<F>(O, s...);
  }
};

/// Values whose axes are known at run time: Tensors and symbols.
template <class A>
concept DynamicAxes = Value<A> && std::remove_cvref_t<A>::tt_front::dynamic_axes;

/// Values whose functions take axes as template arguments: Arrays, expressions, and the symbols that they become in fused functions.
template <class A>
concept StaticAxes = !DynamicAxes<A> || std::same_as<std::remove_cvref_t<A>, Sym>;

namespace detail {

/// Front ends (Tensors, symbols) for which the type of an op's result is known without compiling its body.
template <class Front>
concept NamesResults = requires { requires Front::dynamic_axes; };
template <class Front, class Fn, class... A>
struct StructuredResult {
  using type = decltype(Front::template function<Fn>(SourceLine{}, std::declval<A>()...));
};
template <class Fn, class... A>
struct StructuredResult<NumFront, Fn, A...> {};  // none: ops over graphs do not run on Nums
template <NamesResults Front, class Fn, class... A>
struct StructuredResult<Front, Fn, A...> {
  using type = typename Front::template Results<typename Fn::Definition>;
};
template <class F, class A>
struct ResultWith {
  using type = A;  // see call_with
};
template <class F, DynamicAxes A>
struct ResultWith<F, A> {
  using type = typename A::tt_front::template Results<F>;
};
template <class F>
inline constexpr options_t<F> default_options{};  // as a default argument nvcc 13 would take them for zeros

/// The type of an op's results on symbols.
template <class F>
struct SymResults {
  static constexpr int count = count_results<F>();
  static auto several() {
    if constexpr (count == 1) return Sym{};
    else if constexpr (has_kernel<F>) return std::array<Sym, static_cast<std::size_t>(count)>{};
    else return typename F::Results{};
  }
  using type = decltype(several());
};

}  // namespace detail

/// Op F with its defaults.
template <class F>
using WithDefaults = Structured<F, detail::default_options<F>>;
/// The result type of an op over graphs on these arguments: with its options in its type, and with options as arguments.
template <class Fn, class... A>
using CalledStructured = typename detail::StructuredResult<front_t<A...>, Fn, A...>::type;
template <class F, class A>
using CalledWith = typename detail::ResultWith<F, std::remove_cvref_t<A>>::type;

/// An op over graphs with its options in the type: on Arrays, Tensors and symbols.
template <class F, options_t<F> O, class... A>
constexpr CalledStructured<Structured<F, O>, A...> call_structured(SourceLine at, A&&... a) {
  return front_t<A...>::template function<Structured<F, O>>(at, static_cast<A&&>(a)...);
}
template <class F, class... A>
constexpr CalledStructured<WithDefaults<F>, A...> call_structured(SourceLine at, A&&... a) {
  return front_t<A...>::template function<WithDefaults<F>>(at, static_cast<A&&>(a)...);
}
/// With options as arguments: on Tensors and symbols. For Tensors it is not constexpr, since clang compiles a constexpr function wherever it is mentioned.
template <class F, class A, class... More>
  requires detail::NamesValue<typename A::tt_front>
CalledWith<F, A> call_with(SourceLine at, const options_t<F>& options, const A& a, const More&... more) {
  return A::tt_front::template structured<F>(at, options, a, more...);
}
template <class F, class A, class... More>
  requires(!detail::NamesValue<typename A::tt_front>)
constexpr CalledWith<F, A> call_with(SourceLine at, const options_t<F>& options, const A& a, const More&... more) {
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
  const detail::AtCaller line(*g, at);
  if constexpr (detail::has_kernel<F>) {
    Vec<int> operands;
    std::int64_t given = 0;
    int place = 0;
    const auto add = [&](const Sym& x) {
      if (x.graph) operands.push_back(x.id), given |= std::int64_t{1} << place;
      ++place;
    };
    (add(s), ...);
    const Vec<int> r = call_named(*g, op_def<F>, operands, detail::words_of_options<F>(given, options));
    if constexpr (constexpr int n = detail::count_results<F>(); n == 1) {
      return Sym{g, r[0]};
    } else {
      std::array<Sym, n> all;
      for (int k = 0; k < n; ++k) all[static_cast<std::size_t>(k)] = {g, r[k]};
      return all;
    }
  } else {
    return detail::record_structured<F>(options, s...);
  }
}

}  // namespace tt
