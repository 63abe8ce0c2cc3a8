// Programs: a function of Arrays (a Model) recorded and planned at compile time, and the checks that turn a mistake found there into one readable error.
// Shared by expressions and by `fuse`.
#pragma once
#include "tt/backends/backend.hpp"
#include "tt/core/array.hpp"
#include "tt/plan/fixed.hpp"
#include "tt/functional/tensor_ops.hpp"

namespace tt {
namespace detail {

struct SymbolTable {
  Extent meaning[max_symbols] = {};
  std::int64_t least[max_symbols] = {};  ///< smallest extent allowed for each symbol
  constexpr SymbolTable() {
    for (int k = 0; k < max_symbols; ++k) meaning[k] = Extent::symbol(k);
  }
  /// Merges extents that must be equal: into the smaller symbol, or a constant. Was anything merged?
  constexpr bool merge(Extent a, Extent b) {
    if (!is_symbol(a) || !is_symbol(b)) return false;
    a = resolve(a);
    b = resolve(b);
    if (a == b || (a.is_constant() && b.is_constant())) return false;
    if (a.is_constant() || (!b.is_constant() && index(a) < index(b))) {
      const Extent t = a;
      a = b;
      b = t;
    }
    for (Extent& m : meaning)
      if (m == a) m = b;
    return true;
  }
  static constexpr bool is_symbol(Extent e) {
    return e.is_constant() || e == Extent::symbol(index(e));
  }
  /// Notes that a multiple of one symbol must be at least `length`; false for products of several symbols.
  constexpr bool need(Extent e, std::int64_t length) {
    const std::int64_t each = e.coefficient();
    const int k = index(Extent::product(1, e.exponents()));
    if (e != Extent::symbol(k) * Extent(each)) return false;
    const std::int64_t n = (length + each - 1) / each;
    if (n > least[k]) least[k] = n;
    return true;
  }
  constexpr Extent resolve(Extent e) const { return e.is_constant() ? e : meaning[index(e)]; }
  static constexpr int index(Extent e) {
    for (int k = 0; k < max_symbols; ++k)
      if (e == Extent::symbol(k)) return k;
    return 0;
  }
};

/// Records inputs; every dynamic extent is a symbol of its own, until two must be equal.
struct Recorder {
  Graph& graph;
  SymbolTable& table;
  /// All inputs are combined element by element: extents of one axis become one symbol at once, without a second recording.
  bool elementwise = false;
  int symbols = 0;
  Extent of_axis[max_rank] = {};  ///< from the right: the symbol of each axis; 1: none yet

  template <class T, std::int64_t... E>
  constexpr Sym input(bool padded = !stored_inline<T, E...>) {
    static_assert(sizeof...(E) <= max_rank);
    Shape s;
    [[maybe_unused]] const auto extent = [&](std::int64_t e) {
      s.push_back(e != dyn ? Extent(e) : next(static_cast<int>(sizeof...(E)) - 1 - s.rank));
    };
    (extent(E), ...);
    return {&graph, graph.input(dtype_of<T>, s, {}, padded)};
  }
  template <class T>
  constexpr Sym number() { return {&graph, graph.number_input(dtype_of<T>)}; }
  constexpr Extent next(int axis_from_right) {
    const int k = symbols++;
    if (k >= max_symbols) return table.meaning[0];
    Extent& same = of_axis[axis_from_right];
    if (elementwise && same != Extent(1)) table.merge(same, table.meaning[k]);
    return same = table.meaning[k];
  }
};

template <class Model>
inline constexpr bool records_elementwise = false;
template <class Model>
  requires Model::is_elementwise
inline constexpr bool records_elementwise<Model> = true;

/// Records Model::record(graph, recorder) again until all symbols that must be equal are merged. A graph of more nodes than `room` is left incomplete.
template <class Model>
constexpr Graph record_program(SymbolTable& table, int room = TT_MAX_STATIC_NODES) {
  for (;;) {
    Graph g;
    g.room = room;
    Recorder r{g, table, records_elementwise<Model>};
    Model::record(g, r);
    if (g.refused > 0 && room < TT_MAX_STATIC_NODES) return g;
    if (g.failure.mistake == Mistake::too_many_nodes) g.failure.number = g.size() + g.refused;
    if (r.symbols > max_symbols) {  // other mistakes may follow from that one
      g.failure = Failure{.mistake = Mistake::too_many_symbols, .op = "fuse", .number = r.symbols};
      return g;
    }
    if (g.outputs.size() > max_outputs)
      g.fail({.mistake = Mistake::too_many_outputs, .op = "fuse", .number = g.outputs.size()});
    bool merged = false;  // once equal extents are one symbol, a mistake may vanish
    for (const Graph::Assumed& e : g.assumed) merged = table.merge(e.a, e.b) || merged;
    if (merged) continue;
    if (!g.assumed.empty())  // a condition that no call could check
      g.fail({.mistake = Mistake::size_cannot_be_checked, .op = g.assumed[0].otherwise.op,
              .a = Shape{g.assumed[0].a}, .b = Shape{g.assumed[0].b}, .where = g.assumed[0].otherwise.where});
    for (const Graph::Needed& n : g.needed)
      if (!table.need(n.extent, n.least) && n.otherwise.mistake == Mistake::slice_out_of_range)
        g.fail({.mistake = Mistake::slice_cannot_be_checked, .op = "slice", .a = Shape{n.extent},
                .number = n.least, .where = n.otherwise.where});
    return g;
  }
}

struct OutputInfo {
  DType dtype = DType::f32;
  Shape shape;
  int donated = -1;
};

/// Facts about a program, besides its plan, for its callers.
template <int Outputs>
struct ProgramInterface {
  SymbolTable symbols;
  int nodes = 0;
  int output_count = 0;
  OutputInfo output[Outputs > 0 ? Outputs : 1];

  constexpr bool note(const Graph& g) {
    nodes = g.size();
    output_count = g.outputs.size();
    for (int k = 0; k < output_count && k < Outputs; ++k)
      output[k] = {g[g.outputs[k]].dtype, g[g.outputs[k]].shape, g.donated[k]};
    return output_count <= Outputs;
  }
};

/// A model's plan and its interface for callers, both from one recording.
template <class Model>
struct Program {
  template <int Outputs>
  using Interface = ProgramInterface<Outputs>;
  static constexpr Graph record(auto& interface, int room) { return record_program<Model>(interface.symbols, room); }
  static constexpr Graph record() {
    SymbolTable table;
    return record_program<Model>(table);
  }
  /// Recorded once, every run-time extent a symbol of its own: the assumptions about extents, with their source lines.
  static constexpr Graph record_conditions() {
    SymbolTable table;
    Graph g;
    Recorder r{g, table};
    Model::record(g, r);
    return g;
  }
};

template <class P>
constexpr auto cut_interface() {
  constexpr int count = plan_in_room<P>().interface.output_count;
  constexpr int outputs = count < max_outputs ? count : max_outputs;
  ProgramInterface<outputs> i;
  i.symbols = plan_in_room<P>().interface.symbols;
  i.nodes = plan_in_room<P>().interface.nodes;
  i.output_count = count;
  for (int k = 0; k < outputs; ++k) i.output[k] = plan_in_room<P>().interface.output[k];
  return i;
}
template <class P>
inline constexpr auto interface_of = cut_interface<P>();

/// The Array type of an inferred dtype and shape.
template <class Info, class Is>
struct array_of_t;
template <class Info, std::size_t... I>
struct array_of_t<Info, std::index_sequence<I...>> {
  using type = Array<element_t<Info::value.dtype>,
                     (Info::value.shape.code[I] >= 0 ? Info::value.shape.code[I] : dyn)...>;
};
/// Info::value is an OutputInfo.
template <class Info>
using array_of = typename array_of_t<
    Info, std::make_index_sequence<static_cast<std::size_t>(Info::value.shape.rank)>>::type;

// ---- the readable errors: one trait shows the op, the line and the facts, beside the same words as at run time

template <std::int64_t... E>
struct shape {};  // shows shapes in messages
template <std::int64_t N>
struct number {};
template <std::int64_t N>
struct at_most {};
template <DType D>
struct of_dtype {};
template <FixedText Name, FixedText Bounds>
struct option {};
/// Always false.
template <FixedText Op, int Line, class... Facts>
struct is_right { static constexpr bool value = false; };

template <class H, bool First, class Is>
struct shape_shown;
template <class H, std::size_t... I>
struct shape_shown<H, true, std::index_sequence<I...>> {
  using type = shape<(H::failure.a.code[I] < 0 ? dyn : H::failure.a.code[I])...>;
};
template <class H, std::size_t... I>
struct shape_shown<H, false, std::index_sequence<I...>> {
  using type = shape<(H::failure.b.code[I] < 0 ? dyn : H::failure.b.code[I])...>;
};
template <class H>
using shown_a = typename shape_shown<
    H, true, std::make_index_sequence<static_cast<std::size_t>(H::failure.a.rank)>>::type;
template <class H>
using shown_b = typename shape_shown<
    H, false, std::make_index_sequence<static_cast<std::size_t>(H::failure.b.rank)>>::type;

constexpr std::int64_t limit_of(Mistake m) { return m == Mistake::too_many_symbols ? max_symbols : m == Mistake::too_many_outputs ? max_outputs : TT_MAX_STATIC_NODES; }
constexpr std::size_t size_of_text(const char* text) {
  std::size_t n = 0;
  while (text[n]) ++n;
  return n + 1;
}
template <class H, const char* Failure::*Text>
constexpr auto shown_text() {
  constexpr const char* text = H::failure.*Text;
  return FixedText<size_of_text(text)>(text, size_of_text(text));
}
/// A fact of H::failure: shape a or b, the number n, its limit l, the dtype d, the other dtype e, the option o.
template <class H, char Fact>
constexpr auto shown_fact() {
  constexpr const Failure& f = H::failure;
  if constexpr (Fact == 'a') return shown_a<H>{};
  else if constexpr (Fact == 'b') return shown_b<H>{};
  else if constexpr (Fact == 'n') return number<f.number>{};
  else if constexpr (Fact == 'l') return at_most<limit_of(f.mistake)>{};
  else if constexpr (Fact == 'd') return of_dtype<f.dtype>{};
  else if constexpr (Fact == 'e') return of_dtype<f.other_dtype>{};
  else return option<shown_text<H, &Failure::option>(), shown_text<H, &Failure::bounds>()>{};
}
template <class H, char... Facts>
using shown_mistake = is_right<shown_text<H, &Failure::op>(), H::failure.where.line, decltype(shown_fact<H, Facts>())...>;

/// Is H::failure, a constant Failure, empty? If not: one error, and false. (Written out: the errors of a macro take six more lines.)
template <class H>
constexpr bool no_mistake() {
  constexpr Mistake m = H::failure.mistake;
  if constexpr (m == Mistake::none) return true;
  else if constexpr (m == Mistake::shapes_do_not_broadcast) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: shapes do not broadcast");
  else if constexpr (m == Mistake::inner_extents_differ) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: inner extents differ. Transpose one side?");
  else if constexpr (m == Mistake::batch_extents_differ) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: batch extents differ");
  else if constexpr (m == Mistake::rank_too_low) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: rank is too low");
  else if constexpr (m == Mistake::rank_too_high) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: rank is too high");
  else if constexpr (m == Mistake::axis_out_of_range) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: axis is out of range");
  else if constexpr (m == Mistake::axis_given_twice) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: axis is given twice");
  else if constexpr (m == Mistake::no_elements) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: no elements to choose from");
  else if constexpr (m == Mistake::extents_beside_axis_differ) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: extents beside the axis differ");
  else if constexpr (m == Mistake::extent_along_axis_is_not_constant) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: the extent along the axis is known at run time only. Give it a constant extent?");
  else if constexpr (m == Mistake::sizes_differ) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: numbers of elements differ");
  else if constexpr (m == Mistake::last_sizes_differ) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: the last sizes are not those given");
  else if constexpr (m == Mistake::size_cannot_be_checked) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: the number of elements is a product of run-time extents. Give one extent as -1?");
  else if constexpr (m == Mistake::dtype_not_accepted) static_assert(shown_mistake<H, 'd'>::value, "tt: dtype is not accepted. Cast it first?");
  else if constexpr (m == Mistake::dtypes_differ) static_assert(shown_mistake<H, 'd', 'e'>::value, "tt: dtypes differ. Cast one?");
  else if constexpr (m == Mistake::condition_is_not_bool) static_assert(shown_mistake<H, 'd'>::value, "tt: condition is not bool. Compare it with something?");
  else if constexpr (m == Mistake::slice_out_of_range) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: slice is out of range");
  else if constexpr (m == Mistake::slice_cannot_be_checked) static_assert(shown_mistake<H, 'n'>::value, "tt: slice cannot be checked: the extent is a product of run-time extents");
  else if constexpr (m == Mistake::window_does_not_fit) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: window does not fit. Pad the input, or take a smaller window?");
  else if constexpr (m == Mistake::windows_out_of_range) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: stride, padding or dilation is out of range");
  else if constexpr (m == Mistake::pooling_out_of_range) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: stride or padding is out of range");
  else if constexpr (m == Mistake::padding_not_in_pairs) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: sizes come in pairs");
  else if constexpr (m == Mistake::padding_out_of_range) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: padding is out of range");
  else if constexpr (m == Mistake::negative_power) static_assert(shown_mistake<H, 'd', 'n'>::value, "tt: integers have no negative powers. Cast the base to f32?");
  else if constexpr (m == Mistake::channels_differ) static_assert(shown_mistake<H, 'a', 'b', 'n'>::value, "tt: channels differ: the weights have those of the images, divided by groups");
  else if constexpr (m == Mistake::extents_are_not_constant) static_assert(shown_mistake<H, 'a'>::value, "tt: extents are known at run time only: of images only the first may be");
  else if constexpr (m == Mistake::not_a_permutation) static_assert(shown_mistake<H, 'a'>::value, "tt: axes are not a permutation");
  else if constexpr (m == Mistake::not_differentiable) static_assert(shown_mistake<H>::value, "tt: has no derivative: detach it");
  else if constexpr (m == Mistake::gradient_of_non_scalar) static_assert(shown_mistake<H, 'a'>::value, "tt: gradient of something that is not a scalar. Take its sum or mean first");
  else if constexpr (m == Mistake::number_out_of_range) static_assert(shown_mistake<H, 'd', 'n'>::value, "tt: number is out of range beside this dtype. Cast the operand first?");
  else if constexpr (m == Mistake::too_many_elements) static_assert(shown_mistake<H, 'a'>::value, "tt: too many elements: more than memory can hold");
  else if constexpr (m == Mistake::too_many_symbols) static_assert(shown_mistake<H, 'n', 'l'>::value, "tt: too many run-time extents. Give some of them constants, or split the function");
  else if constexpr (m == Mistake::too_many_outputs) static_assert(shown_mistake<H, 'n', 'l'>::value, "tt: too many results. Split the function");
  else if constexpr (m == Mistake::too_many_nodes) static_assert(shown_mistake<H, 'n', 'l'>::value, "tt: too many nodes for a static program. Raise TT_MAX_STATIC_NODES, or split the function; then perhaps -fconstexpr-ops-limit (clang: -fconstexpr-steps), too");
  else if constexpr (m == Mistake::parameter_changes_shape) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: a parameter changes its shape or dtype");
  else if constexpr (m == Mistake::option_out_of_range) static_assert(shown_mistake<H, 'o'>::value, "tt: option is out of range");
  else if constexpr (m == Mistake::rank_not_accepted) static_assert(shown_mistake<H, 'a', 'n'>::value, "tt: rank is not accepted");
  else if constexpr (m == Mistake::shapes_differ) static_assert(shown_mistake<H, 'a', 'b'>::value, "tt: shapes differ");
  else static_assert(shown_mistake<H, 'a', 'b', 'n'>::value, "tt: the op cannot be called so");
  return false;
}

/// The condition on an extent that is known at run time only.
struct SymbolRule {
  std::int64_t known = 0;  ///< a constant it must be; or, negative: the symbol -1 - known it must be equal to
  std::int64_t least = 0;
};
/// A condition as it was recorded: equal extents or, with `least`, a least extent; and the failure to report otherwise.
struct SymbolCondition {
  Extent a, b;
  std::int64_t least = 0;
  Failure otherwise;

  constexpr bool holds(const SymbolValues& v) const { return least > 0 ? a.value(v) >= least : a.value(v) == b.value(v); }
};
/// The rules of a program's run-time extents.
struct SymbolRules {
  const SymbolRule* rule;
  const SymbolCondition* condition;
  int symbols, conditions;
};

/// The conditions of a program in the order of recording: the first 2 * max_symbols, each once.
struct SymbolConditions {
  SymbolCondition item[2 * max_symbols];
  int count = 0;

  constexpr explicit SymbolConditions(const Graph& g) {
    for (const Graph::Assumed& x : g.assumed) add({x.a, x.b, 0, x.otherwise});
    for (const Graph::Needed& n : g.needed) add({n.extent, {}, n.least, n.otherwise});
  }
  constexpr void add(const SymbolCondition& c) {
    for (int k = 0; k < count; ++k)
      if (item[k].a == c.a && item[k].b == c.b && item[k].least == c.least) return;
    if (count < 2 * max_symbols) item[count++] = c;
  }
};
template <int Rules, int Conditions>
struct SymbolRuleStore {
  SymbolRule rule[Rules];
  SymbolCondition condition[Conditions > 0 ? Conditions : 1];

  constexpr SymbolRuleStore(const SymbolTable& table, const SymbolConditions& all) {
    for (int k = 0; k < Rules; ++k) {
      const Extent m = table.meaning[k];
      rule[k].known = m.is_constant() ? m.code : -1 - SymbolTable::index(m);
      rule[k].least = m == Extent::symbol(k) ? table.least[k] : 0;
    }
    for (int k = 0; k < Conditions; ++k) condition[k] = all.item[k];
  }
};
/// The rules of a program with `Count` run-time extents, as constants for run time.
template <class P, int Count>
struct Symbols {
  static constexpr SymbolConditions conditions{P::record_conditions()};
  static constexpr SymbolRuleStore<Count, conditions.count> store{interface_of<P>.symbols, conditions};
  static constexpr SymbolRules rules{store.rule, store.condition, Count, conditions.count};
};
template <class P, int K>
struct ResultShape {
  static constexpr Shape value = interface_of<P>.output[K].shape;
};

/// Throws the error of a call whose extents do not fit, in the words of compile time.
[[noreturn]] TT_NOINLINE inline void extents_do_not_fit(const SymbolRules& rules, const std::int64_t* actual) {
  SymbolValues values;
  for (int k = 0; k < rules.symbols; ++k) values.value[k] = actual[k];
  const auto known = [&](const Shape& s) {
    Shape r;
    for (int k = 0; k < s.rank; ++k) r.push_back(s[k].value(values));
    return r;
  };
  for (int k = 0; k < rules.conditions; ++k)
    if (const SymbolCondition& c = rules.condition[k]; !c.holds(values)) {
      Failure f = c.otherwise;
      f.a = known(f.a);
      f.b = known(f.b);
      TT_THROW(Error(describe(f)));
    }
  Text t("tt: extents that are known at run time only do not fit:");
  for (int k = 0; k < rules.symbols; ++k) t << ' ' << actual[k];
  TT_THROW(Error(t << '.'));
}
/// Checks that extents which were assumed equal are, and gives the symbols their values.
inline void bind_symbols(const SymbolRules& rules, const std::int64_t* actual, SymbolValues& values) {
  for (int k = 0; k < rules.symbols; ++k) {
    const std::int64_t m = rules.rule[k].known;
    const std::int64_t known = m >= 0 ? m : -1 - m < k ? values.value[-1 - m] : actual[k];
    if (known != actual[k] || actual[k] < rules.rule[k].least) extents_do_not_fit(rules, actual);
    values.value[k] = actual[k];
  }
}

/// Offsets of the buffers of a program whose sizes are known at run time only; kept for the sizes of a thread's last call, since planning allocates on the
/// heap.
template <int Buffers>
struct PlacedArena {
  SymbolValues symbols;
  std::int64_t bytes = -1;
  std::int64_t offsets[Buffers + 1] = {};

  void place(const Buffer* buffers, int kernels, const SymbolValues& now) {
    if (bytes >= 0 && symbols == now) return;
    bytes = -1;  // until planning succeeds, as it may throw
    bytes = plan_memory(buffers, Buffers, kernels, now, offsets);
    symbols = now;
  }
};

/// Runs a program: `external` are the inputs, then the outputs that are not donated.
template <class P, class Isa>
TT_ALWAYS_INLINE void execute_here(void* const* external, const SymbolValues& symbols) {
  using H = Compiled<P>;
  if constexpr (!backend::needs_arena<H>()) {
    backend::run_static<H>(nullptr, external, nullptr, symbols);
  } else if constexpr (H::plan.arena >= 0) {
    backend::run_static<H>(Scratch::of_this_thread().get(static_cast<std::size_t>(H::plan.arena)),
                           external, nullptr, symbols);
  } else {
    static thread_local constinit PlacedArena<H::plan.buffers.size()> arena;
    arena.place(H::plan.buffers.begin(), H::plan.kernels.size(), symbols);
    backend::run_static<H>(Scratch::of_this_thread().get(static_cast<std::size_t>(arena.bytes)), external,
                           arena.offsets, symbols);
  }
}
/// execute_here as a function that is not always inlined.
template <class P, class Isa>
void execute(void* const* external, const SymbolValues& symbols) {
  execute_here<P, Isa>(external, symbols);
}

}  // namespace detail
}  // namespace tt
