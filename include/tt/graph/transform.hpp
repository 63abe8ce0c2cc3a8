// Passes that rewrite a whole graph: depth-first order, removal of dead nodes with canonical
// numbering, and inlining of op bodies. Values in, values out.
//
// Recording order is not canonical: C++ leaves the evaluation order of a*b open, and g++ 12 goes
// left to right in constant expressions and right to left at run time. So `canonical` runs before
// differentiation and before scheduling; without it the two times give other bits.
#pragma once
#include "tt/graph/graph.hpp"

namespace tt {

/// The nodes that `roots` need, each after its operands; operands in order, depth first. `state` of a
/// node is 0; 1: its operands are on the stack, 2: done, or not wanted.
constexpr Vec<int> post_order(const Graph& g, const Vec<int>& roots, Vec<char> state) {
  Vec<int> order, stack;
  for (int root : roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const int i = stack.back();
      if (state[i] == 0) {
        state[i] = 1;
        for (int k = max_operands - 1; k >= 0; --k) {
          const int o = g[i].operand[k];
          if (o >= 0 && state[o] == 0) stack.push_back(o);
        }
      } else {
        stack.pop_back();
        if (state[i] == 1) order.push_back(i);
        state[i] = 2;
      }
    }
  }
  return order;
}
constexpr Vec<int> post_order(const Graph& g, const Vec<int>& roots) {
  return post_order(g, roots, Vec<char>(g.size(), 0));
}

/// Records node `n` of another graph anew in `g`, on operands that are already there.
constexpr int replay(Graph& g, Node n, OperandIds operands) {
  g.where = n.where;
  switch (n.op) {
    case Op::call: return g.call(*n.def, operands);
    case Op::sum: case Op::amax: case Op::amin: {
      for (int k = 0; k < max_operands; ++k) n.operand[k] = operands[k];
      return g.intern(n);
    }
    case Op::broadcast: return g.broadcast_to(operands[0], n.shape);
    case Op::reshape: return g.reshape(operands[0], n.shape);
    default:
      if (is_elementwise(n.op)) return g.elementwise(n.op, operands, n.attribute, n.dtype);
      for (int k = 0; k < max_operands; ++k) n.operand[k] = operands[k];
      return g.intern(n);
  }
}

namespace detail {

enum class Rewrite { none, inline_bodies };

constexpr Graph rebuild(const Graph& g, Rewrite rewrite) {
  Graph r;
  r.failure = g.failure;
  Vec<int> map(g.size(), -1);
  for (int i : g.inputs) map[i] = r.input_like(g, i);
  for (int i : post_order(g, g.outputs)) {
    if (map[i] >= 0) continue;
    const Node& n = g[i];
    OperandIds o;
    for (int k = 0; k < max_operands; ++k)
      if (n.operand[k] >= 0) o.id[k] = map[n.operand[k]];
    if (rewrite == Rewrite::inline_bodies) {
      if (n.op == Op::detach || (n.op == Op::copy && n.attribute == differentiated_by)) {
        map[i] = o[0];
        continue;
      }
      if (n.op == Op::call && n.def->code < 0) {
        r.where = n.where;
        map[i] = r.broadcast_to(n.def->record(*n.def, r, o.id), n.shape);
        continue;
      }
      if (n.op == Op::conv) {
        r.where = n.where;
        map[i] = convolution(r, o[0], o[1], ConvAttribute::unpack(n.attribute));
        continue;
      }
    }
    Node copy = n;
    for (int k = 0; k < max_operands; ++k) copy.operand[k] = o[k];
    map[i] = rewrite == Rewrite::none ? r.intern(copy) : replay(r, n, o);
  }
  for (int k = 0; k < g.outputs.size(); ++k) r.output(map[g.outputs[k]], g.donated[k], g.output_padded[k]);
  return r;
}

}  // namespace detail

/// The live nodes, numbered depth first from the outputs; inputs first.
constexpr Graph canonical(const Graph& g) { return detail::rebuild(g, detail::Rewrite::none); }

/// Op bodies written out (but for opaque ops), convolutions as products, `detach` gone, dead nodes removed.
/// A body may hold calls of other ops with bodies, so this runs until none is left.
constexpr Graph inline_bodies(const Graph& g) {
  bool any = false;
  for (int i = 0; i < g.size() && !any; ++i)
    any = g[i].op == Op::detach || (g[i].op == Op::copy && g[i].attribute == differentiated_by) ||
          (g[i].op == Op::call && g[i].def->code < 0) || g[i].op == Op::conv;
  if (!any) return canonical(g);
  const Graph r = detail::rebuild(g, detail::Rewrite::inline_bodies);
  return inline_bodies(r);
}

}  // namespace tt
