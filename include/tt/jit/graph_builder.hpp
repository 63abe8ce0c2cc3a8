// GraphBuilder: builds a Graph from a range of recorded steps. Sizes are symbols where they can be; assumptions on sizes become guards,
// else the sizes are specialised.
//   GraphBuilder b(guards.sizes.values, as_numbers, false);   b.set_node(value, b.graph.input(...));   b.add(list, begin, end);   b.graph, b.take_guards()
#pragma once
#include "tt/core/size_expression.hpp"
#include "tt/dispatch/graph_function.hpp"
#include "tt/graph/differentiate.hpp"
#include "tt/graph/view_update.hpp"
#include "tt/jit/recorder.hpp"

namespace tt {
namespace jit {

class GraphBuilder {
 public:
  Graph graph;
  const SymbolValues values;  ///< of the symbols in this call
  const SizeFacts as_numbers; ///< symbols that are specialised, or have a divisor
  SizesNeeded needed{.as_numbers = {}};  ///< last one thrown, as the function may have caught it
  Vec<SizeGuard> guards;      ///< assumptions on sizes
  Vec<SizeGuard> corners;     ///< sizes that came out as 0 or 1: specialised for such calls only
  SizeSet fixed;              ///< symbols that an assumption specialises
  SourceLine fixed_at{};      ///< the first of these assumptions
  SizeFacts multiples;        ///< divisors assumed of sizes
  SourceLine multiples_at{};  ///< the last of these assumptions
  Vec<int> effects;           ///< one result of each call with an effect, kept though nobody may read it

  /// `by_value`: sizes of reshapes, expansions and fills are listed as numbers; a number equal to the value of a symbol becomes that
  /// symbol.
  GraphBuilder(const SymbolValues& v, const SizeFacts& numbers, bool by_value) : values(v), as_numbers(numbers), by_value_(by_value) {}

  /// The node of a value of the list.
  int node(int value) const { return node_[static_cast<std::size_t>(value)]; }
  void set_node(int value, int id) {
    if (node_.size() <= static_cast<std::size_t>(value)) node_.resize(static_cast<std::size_t>(value) + 1);
    node_[static_cast<std::size_t>(value)] = id;
  }
  /// Adds steps [begin, end) of a list; throws as the op's own call would, or SizesNeeded. express(attributes) replaces numbers by symbols.
  template <class Express>
  void add(const StepList& list, int begin, int end, const Express& express) {
    for (int i = begin; i < end; ++i) {
      const Step& s = list.step(i);
      SmallVec<int, few_arguments> in;
      SmallVec<int, few_results> result(s.results);
      for (int k = 0; k < s.operands; ++k) in.push_back(node(list.operand(s, k)));
      if (s.kind == StepKind::variable) result[0] = variable(in[0]);
      else if (s.kind == StepKind::gradients) gradients(in, result.data());
      else {
        Attributes attributes = list.attributes(s);
        express(attributes);
        if (s.kind == StepKind::put) result[0] = put(s, in[0], in[1], attributes);
        else call(*s.op, {in.begin(), in.end()}, attributes, s.at, s.detached, result.data());
      }
      for (int k = 0; k < s.results; ++k) set_node(s.result + k, result[k]);
    }
  }
  void add(const StepList& list, int begin, int end) {
    add(list, begin, end, [](const Attributes&) {});
  }
  /// A node of this shape whose elements all equal the first one of `t`.
  int constant(const Tensor& t, const Shape& s) {
    const detail::TensorImpl& impl = t.impl();
    return with_dtype(impl.dtype, [&]<class T>(T) {
      const T v = detail::first_element<T>(impl);
      const int id = is_floating(dtype_of<T>) ? graph.constant(impl.dtype, static_cast<double>(v))
                                                 : graph.constant_bits(impl.dtype, encode_integer(impl.dtype, static_cast<std::int64_t>(v)));
      return graph.broadcast_to(id, s);
    });
  }
  /// A copy of node `id` that is merged with no other node.
  int variable(int id) {
    const Node n = graph[id];
    return graph.intern({.op = Op::copy, .dtype = n.dtype, .operand = {id, -1, -1, -1}, .identity = graph.size() + 1, .attribute = differentiated_by, .shape = n.shape});
  }
  Shape symbolic_shape(const IntList& sizes) const {
    const auto extent_of = [&](std::int64_t n) -> Extent {
      for (int k = 0; by_value_ && n > 1 && k < values.size(); ++k)
        if (!as_numbers.test(k) && values[k] == n) return Extent::symbol(k);
      return n;
    };
    Shape s;
    for (std::int64_t n : sizes.hints()) s.push_back(extent_of(n));
    return s;
  }

  // ---- assumptions on sizes
  /// Guards that `e` is in an interval. Of one number, the sizes in `e` are specialised (an equation of shapes), or, with `equations`, only a size by itself is: else
  /// the equation is a guard, as in a branch on n % 2 == 1.
  void guard_size(Extent e, std::int64_t least, std::int64_t most, SourceLine at, bool equations = false);
  /// A size that may be 0 or 1 is guarded to be 2 or more; if it is 0 or 1 in this call, it is specialised.
  void guard_corner(Extent e, SourceLine at) {
    if (e.is_constant() || e.least() >= 2) return;
    const std::int64_t v = e.value(values);
    if (v >= 2) return guard_size(e, 2, INT64_MAX, at);
    guard_size(e, v, v, at);
    SizeGuard corner{e, v, v, at};
    corner.normalize();
    corners.push_back(corner);
  }
  /// Specialises all sizes: for elements that depend on sizes in an unknown way.
  void fix_all(SourceLine at) {
    SizeSet symbols;
    for (int k = 0; k < values.size(); ++k)
      if (values[k] != 0) symbols.some.set(k);
    fix(symbols, at);
  }
  /// Specialises the sizes that a node depends on.
  void fix_sizes_of(int id, SourceLine at) {
    SizeSet symbols;
    for (int i : post_order(graph, {id})) {
      for (int k = 0; k < graph[i].shape.rank; ++k) symbols |= symbols_of(graph[i].shape[k]);
      if (graph[i].op == Op::extent) symbols |= symbols_of(Extent::from_code(graph[i].attribute));
      if (!is_named(graph[i])) continue;
      for_each_option(*graph[i].def, graph.attribute_words(graph[i]), [&](const OptionField& option, const std::int64_t* word, int count) {
        for (int k = 0; k < count && option.kind == OptionField::Kind::size; ++k) symbols |= symbols_of(Extent::from_code(word[k]));
      });
    }
    fix(symbols, at);
  }
  /// These symbols as specialised, with the divisors that were known.
  SizeFacts with_numbers(const SizeSet& numbers) const {
    SizeFacts all(numbers);
    if (!numbers.all) all.multiples = as_numbers.multiples;
    return all;
  }
  /// `as_numbers`, and the divisors assumed since.
  SizeFacts with_multiples() const {
    SizeFacts all = as_numbers;
    for (int k = 0; k < multiples.multiples.size(); ++k)
      if (multiples.multiple(k) > all.multiple(k)) all.set_multiple(k, multiples.multiple(k));
    return all;
  }
  /// Ops are named nodes, but decomposed if gradients were built, as those are built of decompositions. `keeps_steps`: gradients will be
  /// built of the result.
  Graph finished(bool keeps_steps) const { return has_gradients_ ? canonical(decomposed(graph)) : canonical(graph, {}, keeps_steps); }
  /// The graph's assumptions on sizes; throws SizesNeeded where sizes must be specialised, or have a divisor. Without `guards_sizes` every
  /// size in an assumption is specialised, with `all` every size.
  Vec<SizeGuard> take_guards(bool guards_sizes = true, bool all = false) {
    if (!needed.as_numbers.empty()) throw needed;
    Vec<SizeGuard> taken = guards_but_for_fixed();
    if (!multiples.empty()) throw SizesNeeded{"the function itself, which looks at it", multiples_at, with_multiples(), taken};
    if (all) fix_all({});
    SizeSet numbers = fixed;
    for (int k = 0; k < taken.size() && !guards_sizes; ++k) numbers |= symbols_of(taken[k].extent);
    if (numbers.within(as_numbers)) return taken;
    numbers |= as_numbers;
    for (const SizeGuard& corner : corners) taken.push_back(corner);
    throw SizesNeeded{"the function itself, which looks at them", fixed_at, with_numbers(numbers), taken};
  }

 private:
  const bool by_value_;
  bool has_gradients_ = false;
  std::vector<int> node_;  ///< of each value

  /// Guards of sizes that are not specialised.
  Vec<SizeGuard> guards_but_for_fixed() const {
    Vec<SizeGuard> some;
    for (const SizeGuard& g : guards)
      if (!symbols_of(g.extent).within(fixed)) some.push_back(g);
    return some;
  }

  /// Reads divisors of sizes from an expression that is 0 in this call: s0 - 2*floor_div(s0, 2) means that s0 is even. False: it gives
  /// none.
  bool find_multiples(Extent zero, SizeFacts& facts) const;
  /// The same for the equations that the graph assumed, if all of them hold in this call.
  bool find_multiples(SizeFacts& facts) const;
  void fix(const SizeSet& symbols, SourceLine at) {
    if (fixed.empty()) fixed_at = at;
    fixed |= symbols;
  }
  Shape in_this_call(Shape s) const {
    for (int k = 0; k < s.rank; ++k) s.set(k, s[k].value(values));
    return s;
  }
  void call(const Operator& op, std::span<const int> operands, const Attributes& attributes, SourceLine at, bool detached, int* result);
  /// `base`, with its part that the view of the step shows replaced by `part`.
  int put(const Step& s, int base, int part, const Attributes& attributes);
  void record(Graph& g, const Operator& op, std::span<const int> operands, const Attributes& attributes, int* result) const;
  /// Guards the conditions of the nodes recorded last, and that their sizes are 2 or more where they may be 0 or 1.
  void guard_recorded(const Operator& op, std::span<const int> result, SourceLine at);
  /// Gradients of the first by the others.
  void gradients(const SmallVec<int, few_arguments>& in, int* result) {
    has_gradients_ = true;
    Vec<int> variables;
    variables.append(in.begin() + 1, in.size() - 1);
    const Vec<int> d = tt::gradients(graph, in[0], variables);
    if (graph.failure) fail();
    for (int k = 0; k < d.size(); ++k) result[k] = d[k];
  }
  /// The shape of a reshape: a size equal to no symbol may be the number of elements divided by the other sizes.
  Shape reshaped(const Shape& from, const IntList& sizes) const {
    Shape to = symbolic_shape(sizes);
    for (int k = 0; k < to.rank && to.size() != from.size(); ++k) {
      Extent others = 1, q;
      for (int j = 0; j < to.rank; ++j)
        if (j != k) others = others * to[j];
      if (divide(from.size(), others, q) && q.value(values) == sizes.hint(k)) to.set(k, q);
    }
    return to;
  }
  /// The function may catch the error, as it would the op's own, and go on without the node.
  [[noreturn]] void fail() {
    const Failure f = graph.failure;
    graph.failure = {};
    graph.assumed.clear();
    graph.needed.clear();
    TT_THROW(Error(describe(f)));
  }
};

inline void GraphBuilder::record(Graph& g, const Operator& op, std::span<const int> operands, const Attributes& attributes, int* result) const {
  if (by_value_ && &op == &detail::reshape_operator()) result[0] = g.reshape(operands[0], reshaped(Shape(g[operands[0]].shape), attributes.list(0)));
  else if (by_value_ && &op == &detail::expand_operator()) result[0] = g.broadcast_to(operands[0], symbolic_shape(attributes.list(0)));
  else (op.record_named && !has_gradients_ ? op.record_named : op.record)(g, op, operands, attributes, result);
}
inline int GraphBuilder::put(const Step& s, int base, int part, const Attributes& attributes) {
  graph.where = s.at;
  graph.where_is_caller = true;
  const detail::RecordsSteps steps(graph, !has_gradients_);
  Graph views;
  const int all[] = {views.input(graph[base].dtype, graph[base].shape)};
  int shown[1];
  record(views, *s.op, all, attributes, shown);
  views.output(shown[0]);
  int result = with_part(graph, views, base, part);
  if (s.keeps_history && views[shown[0]].shape.size() == graph[base].shape.size()) result = detail::beside_nothing(graph, result, detail::none_of(graph, base));
  guard_recorded(*s.op, {&result, 1}, s.at);
  return result;
}

inline void GraphBuilder::call(const Operator& op, std::span<const int> operands, const Attributes& attributes, SourceLine at, bool detached,
                               int* result) {
  graph.where = at;
  graph.where_is_caller = true;
  const detail::RecordsSteps steps(graph, !has_gradients_);
  record(graph, op, operands, attributes, result);
  guard_recorded(op, {result, static_cast<std::size_t>(op.results)}, at);
  if (has_effect(op)) effects.push_back(result[0]);
  for (int k = 0; k < attributes.expression.size(); ++k)  // the op takes them as numbers
    if (attributes.is_expression(k) && !attributes.heeded.test(k)) guard_size(attributes.expression[k], attributes.value[k], attributes.value[k], at);
  for (int k = 0; k < op.results && detached; ++k)
    if (is_floating(graph[result[k]].dtype)) result[k] = graph.detach(result[k], under_no_grad);
}

inline void GraphBuilder::guard_recorded(const Operator& op, std::span<const int> result, SourceLine at) {
  if (!graph.failure && graph.assumed.empty()) {
    for (const Graph::Needed& n : graph.needed) {
      if (n.extent.value(values) >= n.least) {
        guard_size(n.extent, n.least, INT64_MAX, at);
      } else {
        graph.failure = n.otherwise;
        graph.failure.number = Extent::from_code(n.otherwise.number).value(values);  // it may be an expression
        graph.failure.a = in_this_call(n.otherwise.a);
        graph.failure.b = in_this_call(n.otherwise.b);
        graph.failure.where = at;
        fail();
      }
    }
    graph.needed.clear();
    for (int id : result)
      for (int k = 0; k < graph[id].shape.rank; ++k) guard_corner(graph[id].shape[k], at);
    return;
  }
  if (graph.failure || !graph.assumed.empty() || !graph.needed.empty()) {
    if (SizeFacts more = as_numbers; !graph.failure && find_multiples(more)) throw needed = SizesNeeded{op.name(), at, more, guards_but_for_fixed()};
    if (!as_numbers.all) throw needed = SizesNeeded{op.name(), at, with_numbers(detail::sizes_needed(graph, as_numbers)), guards_but_for_fixed()};
    graph.failure.where = at;
    fail();
  }
}

inline bool GraphBuilder::find_multiples(Extent zero, SizeFacts& facts) const {
  bool found = false;
  const detail::SizeSum sum(zero);
  for (const detail::SizeTerm& t : sum.terms)
    for (const detail::SizeFactor f : t.factors) {
      if (f >= 0) continue;
      const detail::WordTable::List quotient = detail::WordTable::list(Extent::from_code(f).place());
      const Extent by = Extent::from_code(quotient[2]);
      if (static_cast<detail::SizeFunction>(quotient[0]) != detail::SizeFunction::floor_div || !by.is_constant()) continue;
      const detail::SizeSum of(Extent::from_code(quotient[1]));  // times * symbol + a multiple of `by`
      const bool plain = !of.terms.empty() && of.terms[0].factors.size() == 1 && of.terms[0].factors[0] >= 0 && of.terms.size() == (of.constant() == 0 ? 1 : 2);
      if (!plain || of.constant() % by.code != 0) continue;
      const auto symbol = static_cast<int>(of.terms[0].factors[0]);
      const std::int64_t times = by.code / detail::common_divisor(of.terms[0].coefficient, by.code);
      if (times == 1 || values[symbol] % times != 0) continue;
      facts.set_multiple(symbol, as_numbers.multiple(symbol) * times);
      found = true;
    }
  return found;
}
inline bool GraphBuilder::find_multiples(SizeFacts& facts) const {
  bool all = !graph.assumed.empty() && graph.needed.empty();
  for (const Graph::Assumed& x : graph.assumed) all = all && x.a.value(values) == x.b.value(values) && find_multiples(x.a - x.b, facts);
  return all;
}

inline void GraphBuilder::guard_size(Extent e, std::int64_t least, std::int64_t most, SourceLine at, bool equations) {
  if (e.is_constant()) return;
  SizeGuard g{e, least, most, at};
  g.normalize();
  const detail::SizeSum sum(g.extent);
  const bool is_symbol = sum.terms.size() == 1 && sum.terms[0].factors.size() == 1 && sum.terms[0].factors[0] >= 0, specialises = !equations || is_symbol;
  if (g.least >= g.most && specialises) {
    if (find_multiples(e - Extent(e.value(values)), multiples)) return void(multiples_at = at);
    return fix(symbols_of(e), at);
  }
  if (g.says_nothing()) return;
  for (SizeGuard& known : guards)
    if (known.extent == g.extent) {
      known.least = g.least > known.least ? g.least : known.least;
      known.most = g.most < known.most ? g.most : known.most;
      known.at = at.line ? at : known.at;
      if (known.least == known.most && specialises) fixed |= symbols_of(e);
      return;
    }
  guards.push_back(g);
}

}  // namespace jit
}  // namespace tt
