// Reductions of a few non-contiguous elements (the windows of a pool, pairs of rows), written out as elementwise ops on slices: executors
// then work on vectors of results, where they would reduce rows of three elements one by one. Exact: the order is that of
// graph/reduce_order.hpp.
//   amax(window(x, size 3, step 2))   becomes   max(max(x[0::2], x[2::2]), x[1::2])
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

/// The most elements of a reduction that is written out.
inline constexpr std::int64_t short_reduction = 8;

/// The axis along which node i reduces a few elements of a view; -1: node i is no such reduction.
constexpr int short_axis(const Graph& g, int i) {
  const Node& n = g[i];
  if (!is_reduction(n.op) || n.attribute == 0 || (n.bits & in_row_order)) return -1;
  const int o = n.operand[0];
  if (!is_view(g[o].op) || g[o].shape.size() == Extent(0)) return -1;
  int axis = 0;
  while (!(n.attribute >> axis & 1)) ++axis;
  const Extent e = g[o].shape[axis];
  if (n.attribute != std::int64_t{1} << axis || !e.is_constant() || e.code > short_reduction) return -1;
  const bool consecutive = g[o].op != Op::window && axis == g[o].shape.rank - 1;
  return consecutive && e.code > 2 ? -1 : axis;  // contiguous rows are read in place; pairs are taken apart in registers
}
/// Term k along an axis of `view`, without that axis.
constexpr int term_of(Graph& g, int view, int axis, std::int64_t k) {
  const Node n = g[view];
  if (n.op == Op::window && axis == n.shape.rank - 1) {
    const auto w = g.attributes<WindowAttribute>(n);
    return g.slice(n.operand[0], w.axis, k * w.dilation, n.shape[w.axis], w.step);
  }
  Shape rest;
  for (int j = 0; j < n.shape.rank; ++j)
    if (j != axis) rest.push_back(n.shape[j]);
  return g.reshape(g.slice(view, axis, k, 1, 1), rest);
}
constexpr int written_out(Graph& g, const Node& n, int operand, int axis) {
  const Shape from = g[operand].shape;
  const auto count = static_cast<int>(from[axis].code);
  const Op combine = n.op == Op::sum ? Op::add : n.op == Op::amax ? Op::max : Op::min;
  int part[short_reduction] = {};
  for (int k = 0; k < count; ++k) part[k] = term_of(g, operand, axis, k);
  if (axis == from.rank - 1) {  // lanes fold in halves; those beyond `count` change nothing
    for (int w = static_cast<int>(short_reduction) / 2; w > 0; w /= 2)
      for (int k = 0; k + w < count && k < w; ++k) part[k] = g.elementwise(combine, {part[k], part[k + w]});
  } else {  // one row after the other
    for (int k = 1; k < count; ++k) part[0] = g.elementwise(combine, {part[0], part[k]});
  }
  int result = part[0];
  if (n.op == Op::sum && is_floating(n.dtype)) result = g.add(result, g.constant(n.dtype, 0));  // a sum begins with 0, so that of -0 alone is 0
  return g.reshape(result, n.shape);
}

}  // namespace detail

/// Does write_out_short_reductions change this graph?
constexpr bool has_short_reductions(const Graph& g) {
  for (int i = 0; i < g.nodes.size(); ++i)
    if (const Op op = g.nodes.items[i].op; (op == Op::sum || op == Op::amax || op == Op::amin) && detail::short_axis(g, i) >= 0) return true;  // no call a node
  return false;
}
constexpr Graph write_out_short_reductions(const Graph& g) {
  Graph r = Graph::like(g);
  Vec<int> map(g.size(), -1);
  for (int i : g.inputs) map[i] = r.input_like(g, i);
  for (int i = 0; i < g.size(); ++i) {
    if (map[i] >= 0) continue;
    const Node& n = g[i];
    const Vec<int> o = mapped(g.operands(n), map);
    const int axis = detail::short_axis(g, i);
    r.where = n.where;
    map[i] = axis >= 0 ? detail::written_out(r, n, o[0], axis) : again(r, g, n, o);
  }
  r.take_outputs(g, map);
  return canonical(r);
}

}  // namespace tt
