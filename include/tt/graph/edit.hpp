// Editing a graph: replace, insert and erase nodes, then plan again. A graph stays a value: each edit gives a new graph with new node numbers.
//   int gelu = g.call(tt::op_def<tt::Gelu>, {g[relu].operand[0]});
//   g = tt::replace(g, relu, gelu);
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

[[noreturn]] TT_NOINLINE inline void no_such_node(const char* op, int node, int count) {
  TT_THROW(Error(Text("tt::") << op << ": no such node: " << node << " in a graph of " << count
                              << " nodes. Ask find_all for the ids."));
}
[[noreturn]] TT_NOINLINE inline void leaf_is_not_erased(const char* leaf, int node) {
  TT_THROW(Error(Text("tt::erase: node has no operand to take its place: ")
                 << leaf << " is node " << node << ". Replace it by another node?"));
}
[[noreturn]] TT_NOINLINE inline void op_is_not_inserted(Op op) {
  TT_THROW(Error(Text("tt::insert_after: only elementwise ops of one operand and nothing else can "
                      "be inserted: ")
                 << name(op)
                 << " is not one. Record it on the graph and use tt::replace?"));
}
constexpr void check_node(const char* op, const Graph& g, int node) {
  if (node < 0 || node >= g.size()) no_such_node(op, node, g.size());
}

}  // namespace detail

/// Every use of `node` (outputs too) becomes a use of `with`, except inside the expression of `with` itself: so `with` may be computed from `node`, which
/// inserts an op after `node`.
constexpr Graph replace(const Graph& g, int node, int with) {
  detail::check_node("replace", g, node);
  detail::check_node("replace", g, with);
  Graph r = Graph::like(g);
  Vec<int> inside(g.size(), -1), outside(g.size(), -1);
  for (int i : g.inputs) inside[i] = outside[i] = r.input_like(g, i);
  const auto rebuild = [&](int i, const Vec<int>& map) { return again(r, g, g[i], mapped(g.operands(i), map)); };
  Vec<int> root;
  root.push_back(with);
  for (int i : post_order(g, root))
    if (inside[i] < 0) inside[i] = rebuild(i, inside);
  outside[node] = inside[with];
  for (int i : post_order(g, g.outputs))
    if (outside[i] < 0) outside[i] = rebuild(i, outside);
  r.take_outputs(g, outside);
  return canonical(r);
}

/// Inserts an elementwise primitive of one operand after `node`.
constexpr Graph insert_after(Graph g, int node, Op op) {
  detail::check_node("insert_after", g, node);
  // Casts need a dtype, shifts a number, broadcasts a shape, calls a definition.
  const bool needs_more = op == Op::cast || op == Op::bitcast || is_shift(op) ||
                          op == Op::broadcast || op == Op::call;
  if (!is_elementwise(op) || arity(op) != 1 || needs_more) detail::op_is_not_inserted(op);
  return replace(g, node, g.elementwise(op, {node}));
}

/// Users of `node` read its first operand instead.
constexpr Graph erase(const Graph& g, int node) {
  detail::check_node("erase", g, node);
  if (g[node].operand[0] < 0) detail::leaf_is_not_erased(name(g[node].op), node);
  return replace(g, node, g[node].operand[0]);
}

/// Does a node record this op?
///   tt::is_call(g, id, tt::op_def<tt::Matmul>)
constexpr bool is_call(const Graph& g, int id, const OpDef& def) { return g[id].op == Op::call && g[id].def_id == def.id; }
/// The ids of all nodes that record this op.
constexpr Vec<int> find_all(const Graph& g, const OpDef& def) {
  Vec<int> ids;
  for (int i = 0; i < g.size(); ++i)
    if (is_call(g, i, def)) ids.push_back(i);
  return ids;
}
constexpr Vec<int> find_all(const Graph& g, Op op) {
  Vec<int> ids;
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == op) ids.push_back(i);
  return ids;
}

}  // namespace tt
