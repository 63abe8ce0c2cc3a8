// check: what a legal graph is. Operands come before their users, are as many as the op takes, and
// the dtype and shape of every node are what inference gives. Passes are tested to keep it so.
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {

/// The first node that is not legal, and why; `why` is empty if all are.
struct CheckResult {
  int node = -1;
  const char* why = "";
  constexpr explicit operator bool() const { return node < 0; }
};

constexpr CheckResult check(const Graph& g) {
  if (g.failure) return {0, words(g.failure.mistake)};
  for (int i = 0; i < g.size(); ++i) {
    const Node& n = g[i];
    const int wanted = n.op == Op::call ? n.def->info.arity : arity(n.op);
    for (int k = 0; k < max_operands; ++k) {
      if ((n.operand[k] >= 0) != (k < wanted)) return {i, "has a wrong number of operands"};
      if (n.operand[k] >= i) return {i, "uses a node that comes after it"};
    }
    if (n.op >= Op::load) return {i, "is an instruction, not a node"};
    if (n.shape.rank < 0 || n.shape.rank > max_rank) return {i, "has a wrong rank"};
    if (is_reduction(n.op) && (n.attribute <= 0 || n.attribute >> g[n.operand[0]].shape.rank))
      return {i, "reduces axes that are not there"};
    if (n.op == Op::permute) {
      unsigned seen = 0;
      for (int k = 0; k < n.shape.rank; ++k) {
        const int axis = permutation_at(n.attribute, k);
        seen |= 1u << axis;
        if (axis >= n.shape.rank || g[n.operand[0]].shape[axis] != n.shape[k])
          return {i, "permutes axes into another shape"};
      }
      if (seen + 1 != 1u << n.shape.rank) return {i, "is not a permutation"};
    }
    if (is_elementwise(n.op) && n.op != Op::broadcast) {
      Shape s;
      for (int k = 0; k < wanted; ++k) {
        const BroadcastResult r = try_broadcast(s, g[n.operand[k]].shape);
        if (!r.ok) return {i, words(Mistake::shapes_do_not_broadcast)};
        s = r.shape;
      }
      if (!(s == n.shape)) return {i, "has another shape than its operands give"};
      const bool logical = is_comparison(n.op) || is_logical(n.op);
      if (logical != (n.dtype == DType::boolean) && n.op != Op::where && n.op != Op::cast &&
          n.op != Op::copy && n.op != Op::call)
        return {i, "has another dtype than its op gives"};
    }
    if (n.op == Op::reshape && n.shape.size() != g[n.operand[0]].shape.size())
      return {i, words(Mistake::sizes_differ)};
  }
  for (int k = 0; k < g.outputs.size(); ++k) {
    if (g.outputs[k] < 0 || g.outputs[k] >= g.size()) return {0, "an output is no node"};
    if (g.donated[k] < 0) continue;
    const Node &out = g[g.outputs[k]], &in = g[g.inputs[g.donated[k]]];
    if (out.dtype != in.dtype || !(out.shape == in.shape))
      return {g.outputs[k], "an output does not fit the input it takes over"};
  }
  return {};
}

}  // namespace tt
