// Fast numerics: between ops that are computed in f32, values are not rounded to 16-bit floats. Products, views and calls read what is stored, and that
// is rounded.
//   before   %2 = cast(%1): bf16;   %3 = cast(%2): f32;   %4 = exp(%3)
//   then     %4 = exp(%1)
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

/// Is this a narrow float, widened to what it was rounded from?
inline bool is_rounded(const Graph& g, int i) {
  const Node &wide = g[i];
  if (wide.op != Op::cast) return false;
  const Node& narrow = g[wide.operand[0]];
  return narrow.op == Op::cast && is_narrow_float(narrow.dtype) && g[narrow.operand[0]].dtype == wide.dtype;
}

}  // namespace detail

/// The graph without such roundings; `dropped`: how many readers of one there were.
inline Graph drop_roundings(const Graph& g, int& dropped) {
  Graph r = Graph::like(g);
  Vec<int> map(g.size(), -1);
  for (int i : g.inputs) map[i] = r.input_like(g, i);
  dropped = 0;
  for (int i : post_order(g, g.outputs)) {
    if (map[i] >= 0) continue;
    const Node& n = g[i];
    const Ids operands = g.operands(n);
    Vec<int> to = mapped(operands, map);
    if (is_elementwise(n.op) || is_reduction(n.op))
      for (int k = 0; k < operands.count; ++k)
        if (detail::is_rounded(g, operands[k])) {
          to[k] = map[g[g[operands[k]].operand[0]].operand[0]];
          ++dropped;
        }
    r.where = n.where;
    map[i] = r.intern(n, g, to);
  }
  for (int k = 0; k < g.outputs.size(); ++k) r.output(map[g.outputs[k]], g.donated[k], g.output_padded[k]);
  return r;
}

}  // namespace tt
