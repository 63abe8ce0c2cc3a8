// Editing a graph: replace, insert and erase nodes, then plan again. A graph stays a value: each
// edit gives a new one, numbered anew.
//   int gelu = g.call(tt::op_def<tt::Gelu>, {g[relu].operand[0]});
//   g = tt::replace(g, relu, gelu);
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {

/// Every use of `node` (outputs too) becomes a use of `with`, but inside the expression of `with`
/// itself: so `with` may be made from `node`, which inserts something behind it.
constexpr Graph replace(const Graph& g, int node, int with) {
  Graph r;
  r.failure = g.failure;
  Vec<int> inside(g.size(), -1), outside(g.size(), -1);
  for (int i : g.inputs) inside[i] = outside[i] = r.input_like(g, i);
  const auto rebuild = [&](int i, const Vec<int>& map) {
    OperandIds o;
    for (int k = 0; k < max_operands; ++k)
      if (g[i].operand[k] >= 0) o.id[k] = map[g[i].operand[k]];
    return replay(r, g[i], o);
  };
  Vec<int> root;
  root.push_back(with);
  for (int i : post_order(g, root))
    if (inside[i] < 0) inside[i] = rebuild(i, inside);
  outside[node] = inside[with];
  for (int i : post_order(g, g.outputs))
    if (outside[i] < 0) outside[i] = rebuild(i, outside);
  for (int k = 0; k < g.outputs.size(); ++k) r.output(outside[g.outputs[k]], g.donated[k]);
  return canonical(r);
}

/// Records an elementwise primitive on `node` and puts it behind it.
constexpr Graph insert_after(Graph g, int node, Op op) {
  return replace(g, node, g.elementwise(op, {{node, -1, -1, -1}}));
}

/// Users of `node` read its first operand instead.
constexpr Graph erase(const Graph& g, int node) { return replace(g, node, g[node].operand[0]); }

/// The ids of all nodes that record this op.
constexpr Vec<int> find_all(const Graph& g, const OpDef& def) {
  Vec<int> ids;
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == Op::call && g[i].def_id == def.id) ids.push_back(i);
  return ids;
}
constexpr Vec<int> find_all(const Graph& g, Op op) {
  Vec<int> ids;
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == op) ids.push_back(i);
  return ids;
}

}  // namespace tt
