// Forward mode, a graph to a graph: how much each value changes when inputs change along given directions (tangents). Elementwise ops need no rule of their
// own: the factor by which reverse mode multiplies an adjoint is also the factor of a tangent. Linear ops are applied to tangents as to values. For all other
// ops the reverse rule, which is linear in the adjoint, is transposed by reverse mode itself (Radul et al., You Only Linearize Once, 2022, goes the other
// way).
//   Vec<int> t = forward(g, {y}, {x}, {direction});      // t[0]: the derivative of y along it, -1 where nothing changes
#pragma once
#include "tt/graph/differentiate.hpp"

namespace tt {
namespace detail {

/// The tangent of node `i` from its operands' tangents by the reverse rule: with a variable d as adjoint, the rule gives the contribution to each operand; the
/// adjoint of d, when the contributions' adjoints are the operands' tangents, is the tangent.
constexpr int transposed_rule(Graph& g, int i, const Vec<int>& tangents) {
  const Node n = g[i];
  const int results = is_external(n) ? n.def->results : 1;
  const int zero = g.constant(n.dtype, 0, n.shape);
  const int d = g.intern({.op = Op::copy, .dtype = n.dtype, .operand = {zero, -1, -1, -1}, .identity = g.size() + 1, .attribute = differentiated_by, .shape = n.shape});
  Vec<int> all(results, -1), out(tangents.size(), -1), roots, seeds;
  all[results > 1 ? static_cast<int>(n.bits) : 0] = d;
  contributions(g, i, d, all.begin(), out.begin());
  for (int k = 0; k < out.size(); ++k) {
    if (out[k] < 0 || tangents[k] < 0) continue;
    roots.push_back(out[k]);
    seeds.push_back(tangents[k]);
  }
  return reverse(g, roots, seeds, {d})[0];
}

/// The tangent of node `i`, which has operands with tangents; -1: nothing changes.
constexpr int tangent_of(Graph& g, int i, const Vec<int>& tangents) {
  const Node n = g[i];
  const auto full = [&](int k) { return g.broadcast_to(tangents[k], n.shape); };
  const auto or_zero = [&](int k) {
    const Node o = g[g.operands(n)[k]];
    return tangents[k] >= 0 ? tangents[k] : g.constant(o.dtype, 0, o.shape);
  };
  const auto sum = [&](int a, int b) { return a < 0 ? b : b < 0 ? a : g.add(a, b); };
  g.where = n.where;
  switch (n.op) {
    case Op::detach: return n.attribute == under_no_grad ? g.detach(tangents[0], under_no_grad) : -1;
    case Op::copy: return tangents[0];
    case Op::broadcast: case Op::reshape: case Op::permute: case Op::slice: case Op::window: case Op::sum: return again(g, g, n, {tangents[0]});
    case Op::pad: return g.pad(tangents[0], g.attributes<PadAttribute>(n), n.shape, 0);
    case Op::slice_scatter: return again(g, g, n, {or_zero(0), or_zero(1)});
    case Op::matmul: case Op::conv: {
      const int a = n.operand[0], b = n.operand[1];
      const int first = tangents[0] < 0 ? -1 : again(g, g, n, {tangents[0], b});
      return sum(first, tangents[1] < 0 ? -1 : again(g, g, n, {a, tangents[1]}));
    }
    default: break;
  }
  if (is_external(n) && n.def->is_linear) {
    Vec<int> operands = copied(g.operands(n));
    for (int k = 0; k < operands.size(); ++k)
      if (is_floating(g[operands[k]].dtype)) operands[k] = or_zero(k);
    return again(g, g, n, operands);
  }
  if (!is_elementwise(n.op) || is_external(n)) return transposed_rule(g, i, tangents);
  int total = -1;
  for (int k = 0; k < tangents.size(); ++k) {
    if (tangents[k] < 0) continue;
    const int d = n.op == Op::cast ? tangents[k] : full(k);
    if (n.op == Op::cast) return g.cast(d, n.dtype);
    Vec<int> out(tangents.size(), -1);
    contributions(g, i, d, &d, out.begin());
    if (out[k] >= 0) total = sum(total, g.broadcast_to(out[k], n.shape));
  }
  return total;
}

/// The tangents of `roots` if `variables` have these tangents; -1 where nothing changes.
constexpr Vec<int> forward(Graph& g, const Vec<int>& roots, const Vec<int>& variables, const Vec<int>& tangents) {
  if (Vec<int> map; decompose_beside(g, roots, variables, map))  // ops with bodies have the tangents of their bodies
    return forward(g, mapped(roots, map), mapped(variables, map), tangents);
  Vec<int> tangent(g.size(), -1);
  const Vec<char> depends = depends_on(g, variables, true);
  for (int k = 0; k < variables.size(); ++k) tangent[variables[k]] = tangents[k];
  for (int i : post_order(g, roots)) {
    if (g.refused > 0) break;  // in a full graph the last node has been replaced
    if (tangent[i] >= 0 || !depends[i] || is_leaf(g[i].op)) continue;
    Vec<int> of_operands;
    bool any = false;
    for (int o : g.operands(i)) {
      of_operands.push_back(is_floating(g[o].dtype) ? tangent[o] : -1);
      any = any || of_operands.back() >= 0;
    }
    if (any) tangent[i] = tangent_of(g, i, of_operands);
  }
  Vec<int> result;
  for (int r : roots) result.push_back(tangent[r]);
  return result;
}

/// Adds an input to `g` for a tangent of each input in `by`; gives the tangents of the outputs, -1 where nothing changes.
constexpr Vec<int> add_tangents(Graph& g, const Vec<int>& by) {
  Vec<int> variables, tangents;
  for (int k : by) {
    const Node in = g[g.inputs[k]];
    variables.push_back(g.inputs[k]);
    tangents.push_back(g.input(in.dtype, in.shape));
  }
  const Vec<int> roots = g.outputs;
  Vec<int> t = forward(g, roots, variables, tangents);
  for (int k = 0; k < t.size(); ++k)
    if (const Shape shape = g[roots[k]].shape; t[k] >= 0) t[k] = g.broadcast_to(t[k], shape);
  return t;
}

}  // namespace detail

/// The function with further inputs, tangents of the inputs in `by` (their numbers), and further outputs, the tangents of floating outputs: zeros where
/// nothing changes.
constexpr Graph jvp_of(const Graph& function, const Vec<int>& by) {
  Graph g = canonical(function);
  const Vec<int> roots = g.outputs, t = detail::add_tangents(g, by);
  for (int k = 0; k < roots.size(); ++k) {
    const Node y = g[roots[k]];
    if (is_floating(y.dtype)) g.output(t[k] < 0 ? g.constant(y.dtype, 0, y.shape) : t[k]);
  }
  return g;
}
/// The same inputs as jvp_of; outputs: the tangents alone, of the outputs whose tangents are not zero. These outputs are set in `given`.
constexpr Graph tangents_of(const Graph& function, const Vec<int>& by, BitSet& given) {
  Graph g = canonical(function);
  const Vec<int> t = detail::add_tangents(g, by);
  g.clear_outputs();
  for (int k = 0; k < t.size(); ++k) {
    if (t[k] < 0) continue;
    given.set(k);
    g.output(t[k]);
  }
  return canonical(g);
}

}  // namespace tt
