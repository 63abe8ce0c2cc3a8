// Definitions of graph_builder.hpp.
#pragma once
#include "tt/jit/graph_builder.hpp"

namespace tt {
namespace jit {

TT_INLINE void GraphBuilder::call(const Operator& op, std::span<const int> operands, const Attributes& attributes, SourceLine at, bool detached,
                                  int* result) {
  graph.where = at;
  graph.where_is_caller = true;
  if (by_value_ && &op == &detail::reshape_operator())
    result[0] = graph.reshape(operands[0], reshaped(Shape(graph[operands[0]].shape), attributes.list(0)));
  else if (by_value_ && &op == &detail::expand_operator())
    result[0] = graph.broadcast_to(operands[0], symbolic_shape(attributes.list(0)));
  else op.record(graph, op, operands, attributes, result);
  guard_recorded(op, {result, static_cast<std::size_t>(op.results)}, at);
  for (int k = 0; k < attributes.expression.size() && !attributes.heeded; ++k)  // it takes them for numbers
    if (attributes.is_expression(k)) guard_size(attributes.expression[k], attributes.value[k], attributes.value[k], at);
  for (int k = 0; k < op.results && detached; ++k)
    if (is_floating(graph[result[k]].dtype)) result[k] = graph.detach(result[k]);
}

TT_INLINE int GraphBuilder::variable(int id) {
  const Node n = graph[id];
  return graph.intern({.op = Op::copy, .dtype = n.dtype, .operand = {id, -1, -1, -1}, .identity = graph.size() + 1, .attribute = differentiated_by, .shape = n.shape});
}

TT_INLINE void GraphBuilder::gradients(int value, const Vec<int>& variables, int* result) {
  const Vec<int> d = tt::gradients(graph, value, variables);
  if (graph.failure) fail();
  for (int k = 0; k < d.size(); ++k) result[k] = d[k];
}

TT_INLINE int GraphBuilder::constant(const Tensor& t, const Shape& s) {
  const detail::TensorImpl& impl = t.impl();
  return with_dtype(impl.dtype, [&]<class T>(T) {
    const T v = detail::first_element<T>(impl);
    const int id = std::is_floating_point_v<T> ? graph.constant(impl.dtype, static_cast<double>(v))
                                               : graph.constant_bits(impl.dtype, encode_integer(impl.dtype, static_cast<std::int64_t>(v)));
    return graph.broadcast_to(id, s);
  });
}

TT_INLINE Shape GraphBuilder::symbolic_shape(const IntList& sizes) const {
  const auto extent_of = [&](std::int64_t n) -> Extent {
    for (int k = 0; by_value_ && n > 1 && k < values.size(); ++k)
      if (!as_numbers.test(k) && values[k] == n) return Extent::symbol(k);
    return n;
  };
  Shape s;
  for (std::int64_t n : sizes.values()) s.push_back(extent_of(n));
  return s;
}

TT_INLINE Shape GraphBuilder::reshaped(const Shape& from, const IntList& sizes) const {
  Shape to = symbolic_shape(sizes);
  for (int k = 0; k < to.rank && to.size() != from.size(); ++k) {
    Extent others = 1, q;
    for (int j = 0; j < to.rank; ++j)
      if (j != k) others = others * to[j];
    if (divide(from.size(), others, q) && q.value(values) == sizes.value(k)) to.set(k, q);
  }
  return to;
}

// ---- what is taken for granted of sizes

TT_INLINE void GraphBuilder::guard_recorded(const Operator& op, std::span<const int> result, SourceLine at) {
  if (!graph.failure && graph.assumed.empty() && !by_value_) {
    for (const Graph::Needed& n : graph.needed) {
      if (n.extent.value(values) >= n.least) {
        guard_size(n.extent, n.least, INT64_MAX, at);
      } else {
        graph.failure = n.otherwise;
        graph.failure.number = Extent::from_code(n.otherwise.number).value(values);  // it may be an expression
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
    if (!as_numbers.all) throw needed = SizesNeeded{op.name(), at, detail::sizes_needed(graph, as_numbers), guards_but_for_fixed()};
    graph.failure.where = at;
    fail();
  }
}

TT_INLINE void GraphBuilder::guard_corner(Extent e, SourceLine at) {
  if (e.is_constant() || e.least() >= 2) return;
  const std::int64_t v = e.value(values);
  if (v >= 2) return guard_size(e, 2, INT64_MAX, at);
  guard_size(e, v, v, at);
  SizeGuard corner{e, v, v, at};
  corner.normalize();
  corners.push_back(corner);
}

TT_INLINE void GraphBuilder::guard_size(Extent e, std::int64_t least, std::int64_t most, SourceLine at) {
  if (e.is_constant()) return;
  SizeGuard g{e, least, most, at};
  g.normalize();
  if (g.least >= g.most) return fix(symbols_of(e), at);
  if (g.says_nothing()) return;
  for (SizeGuard& known : guards)
    if (known.extent == g.extent) {
      known.least = g.least > known.least ? g.least : known.least;
      known.most = g.most < known.most ? g.most : known.most;
      known.at = at.line ? at : known.at;
      if (known.least == known.most) fixed |= symbols_of(e);
      return;
    }
  guards.push_back(g);
}

TT_INLINE void GraphBuilder::fix(const SizeSet& symbols, SourceLine at) {
  if (fixed.empty()) fixed_at = at;
  fixed |= symbols;
}

TT_INLINE void GraphBuilder::fix_all(SourceLine at) {
  SizeSet symbols;
  for (int k = 0; k < values.size(); ++k)
    if (values[k] != 0) symbols.some.set(k);
  fix(symbols, at);
}

TT_INLINE void GraphBuilder::fix_sizes_of(int id, SourceLine at) {
  SizeSet symbols;
  for (int i : post_order(graph, {id})) {
    for (int k = 0; k < graph[i].shape.rank; ++k) symbols |= symbols_of(graph[i].shape[k]);
    if (graph[i].op == Op::extent) symbols |= symbols_of(Extent::from_code(graph[i].attribute));
  }
  fix(symbols, at);
}

TT_INLINE Vec<SizeGuard> GraphBuilder::guards_but_for_fixed() const {
  Vec<SizeGuard> some;
  for (const SizeGuard& g : guards)
    if (!symbols_of(g.extent).within(fixed)) some.push_back(g);
  return some;
}

/// The function may catch the error, as it would the op's own, and go on without the node.
[[noreturn]] TT_INLINE void GraphBuilder::fail() {
  const Failure f = graph.failure;
  graph.failure = {};
  graph.assumed.clear();
  graph.needed.clear();
  TT_THROW(Error(describe(f)));
}

}  // namespace jit
}  // namespace tt
