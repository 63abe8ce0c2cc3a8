// check: is a graph legal? Operands precede their users and are as many as the op takes; the dtype and shape of every node are those inferred when it is
// recorded on its operands. Nodes that only passes create (views read in place, copies with an identity, reductions in row order) are checked against the
// executors' assumptions. Passes are tested to keep graphs legal.
//   if (const CheckResult r = (check)(g); !r) std::cout << r.node << ' ' << r.why;
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {

/// The state of a graph. In a normalized graph a node may have more or fewer leading extents of 1 than inferred from its operands, and elementwise nodes may
/// broadcast operands without a broadcast node.
enum class Phase { recorded, normalized };

/// The first node that is not legal, and the reason; `why` is empty if all are legal.
struct CheckResult {
  int node = -1;
  const char* why = "";
  constexpr explicit operator bool() const { return node < 0; }
};

constexpr CheckResult (check)(const Graph& g, Phase phase = Phase::recorded);  // in brackets here and in calls: a program may have a macro check(x)

namespace detail {

/// Node `n` recorded alone, on inputs with its operands' dtypes and shapes: inference has one implementation, the recorder's.
constexpr Graph recorded_alone(const Graph& g, const Node& n) {
  Graph alone;
  Vec<int> o;
  for (int id : g.operands(n)) {
    o.push_back(alone.input(g[id].dtype, g[id].shape));
    if (n.op == Op::matmul) o.back() = alone.cast(o.back(), compute_dtype(g[id].dtype));  // an operand that the product converts itself
  }
  alone.output(again(alone, g, n, o));
  return alone;
}

/// Is `shape` allowed for a node whose inferred shape is `given`? `repeats`: extents of 1 may be broadcast.
constexpr bool fits(const Shape& given, const Shape& shape, Phase phase, bool repeats = false) {
  if (phase == Phase::recorded) return given == shape;
  for (int k = 0; k < given.rank || k < shape.rank; ++k)
    if (given.from_right(k) != shape.from_right(k) && !(repeats && given.from_right(k) == Extent(1))) return false;
  return true;
}
/// The mistake in a node made by passes, which is not recorded anew; "" if there is none.
constexpr const char* wrong_form(const Graph& g, const Node& n, Phase phase) {
  const Shape& from = g[n.operand[0]].shape;
  if (n.op == Op::copy || n.op == Op::detach || n.op == Op::slice_scatter)
    if (!fits(from, n.shape, phase, n.op == Op::copy)) return "has another shape than its operand";
  if (n.op == Op::broadcast)
    for (int k = 0; k < from.rank; ++k)
      if (from.from_right(k) != Extent(1) && from.from_right(k) != n.shape.from_right(k)) return words(Mistake::shapes_do_not_broadcast);
  if (n.op == Op::slice_scatter) {
    const auto p = g.attributes<PadAttribute>(n);
    const Shape& part = g[n.operand[1]].shape;
    if (part.rank != n.shape.rank) return words(Mistake::extents_beside_axis_differ);
    for (int k = 0; k < part.rank; ++k) {
      if (k != p.axis[0] && k != p.axis[1] && part[k] != n.shape[k]) return words(Mistake::extents_beside_axis_differ);
      const Extent end = p.along(k) + part[k];
      if (end.is_constant() && n.shape[k].is_constant() && (p.along(k).code < 0 || end.code > n.shape[k].code))
        return words(Mistake::slice_out_of_range);
    }
  }
  if (is_reduction(n.op) && (n.bits & in_row_order)) {
    if (from.rank < 2 || n.attribute != 1 << (from.rank - 2)) return "sums in a row's order what is no row exchanged with the axis before it";
    for (int k = 0; k < from.rank; ++k)
      if (n.shape[k] != (k == from.rank - 2 ? Extent(1) : from[k])) return "has another shape than its operands give";
  }
  return "";
}

/// The mistake in a node's dtypes and attributes; "" if there is none.
constexpr const char* wrong_operands(const Graph& g, const Node& n, Phase phase) {
  const DType first = n.operand[0] >= 0 ? g[n.operand[0]].dtype : n.dtype;
  if (const char* why = wrong_form(g, n, phase); *why) return why;
  if (is_reduction(n.op)) {
    if (n.attribute <= 0 || n.attribute >> g[n.operand[0]].shape.rank)
      return "reduces axes that are not there";
    if (n.dtype != first) return "has another dtype than its op gives";
  }
  const bool computes = is_product(n.op) || is_reduction(n.op) || (n.op == Op::call && !is_named(n)) ||
                        (is_elementwise(n.op) && n.op != Op::call && n.op != Op::where && n.op != Op::copy && n.op != Op::cast && n.op != Op::broadcast);
  // Promotion is recorded as casts, so that executors see one dtype; but a product may convert its right operand, or both.
  if (n.op == Op::matmul && phase != Phase::recorded && compute_dtype(g[n.operand[1]].dtype) == n.dtype && compute_dtype(first) == n.dtype &&
      (first == n.dtype || is_narrow(g[n.operand[1]].dtype)))
    return "";
  if (computes && (is_narrow(n.dtype) || is_narrow(first))) return "computes with what is only stored so";
  if ((is_elementwise(n.op) && !is_named(n)) || is_product(n.op))
    for (int k = n.op == Op::where ? 2 : 1; k < n.operand_count; ++k)
      if (const Ids o = g.operands(n); g[o[k]].dtype != g[o[k - 1]].dtype) return "has operands of different dtypes";
  if (n.op == Op::window && n.shape.rank != g[n.operand[0]].shape.rank + 1) return "has another shape than its operands give";
  if (n.op == Op::permute && g.attributes<PermuteAttribute>(n).rank != n.shape.rank) return words(Mistake::not_a_permutation);
  if (n.op == Op::reshape && n.shape.size() != g[n.operand[0]].shape.size())
    return words(Mistake::sizes_differ);
  return "";
}

constexpr const char* wrong_leaf(const Graph& g, int i) {
  const Node& n = g[i];
  switch (n.op) {
    case Op::input:
      if (n.attribute < 0 || n.attribute >= g.inputs.size() ||
          g.inputs[static_cast<int>(n.attribute)] != i)
        return "is not the input of its number";
      break;
    case Op::constant: case Op::extent:
      if (n.shape.rank != 0) return "is a number, and has a shape";
      break;
    case Op::iota:
      if (n.attribute < 0 || n.attribute >= n.shape.rank) return words(Mistake::axis_out_of_range);
      break;
    default: break;
  }
  return "";
}

/// The mistake in node `i`, whose operands are legal; "" if there is none.
constexpr const char* wrong_node(const Graph& g, int i, Phase phase) {
  const Node& n = g[i];
  if (n.op >= Op::load) return "is an instruction, not a node";
  if (n.op == Op::call && !n.def) return "calls no op";
  const int wanted = n.op == Op::call ? n.def->info.arity : arity(n.op);
  if (is_named(n) ? !takes_operands(*n.def, n.operand_count, g.attribute_words(n)) : n.operand_count != wanted) return "has a wrong number of operands";
  if (is_named(n) && n.bits >= static_cast<std::uint64_t>(n.def->results)) return "is a result that its op does not have";
  for (int o : g.operands(n)) {
    if (o < 0) return "has a wrong number of operands";
    if (o >= i) return "uses a node that comes after it";
  }
  if (n.shape.rank < 0 || n.shape.rank > max_rank) return "has a wrong rank";
  if (is_leaf(n.op)) return wrong_leaf(g, i);
  const bool further_result = i > 0 && n.op == Op::call && g[i - 1].op == Op::call && g[i - 1].def == n.def;  // of the node before: its regions were looked at
  for (int k = 0; n.op == Op::call && !further_result && k < n.def->region_count; ++k)
    if (!(check)(n.def->regions[k])) return "has a region that is not legal";
  if (const char* why = wrong_operands(g, n, phase); *why) return why;
  const Graph alone = recorded_alone(g, n);
  if (alone.failure) return words(alone.failure.mistake);
  const Node& inferred = alone[alone.outputs[0]];
  if (!fits(inferred.shape, n.shape, phase, is_elementwise(n.op) && !is_named(n))) return "has another shape than its operands give";
  if (inferred.dtype != n.dtype) return "has another dtype than its op gives";
  return "";
}

}  // namespace detail

constexpr CheckResult (check)(const Graph& g, Phase phase) {
  if (g.failure) return {0, words(g.failure.mistake)};
  for (int i = 0; i < g.size(); ++i)
    if (const char* why = detail::wrong_node(g, i, phase); *why) return {i, why};
  for (int k = 0; k < g.outputs.size(); ++k) {
    if (g.outputs[k] < 0 || g.outputs[k] >= g.size()) return {0, "an output is no node"};
    if (g.donated[k] < 0) continue;
    if (g.donated[k] >= g.inputs.size()) return {g.outputs[k], "an output takes over no input"};
    const Node &out = g[g.outputs[k]], &in = g[g.inputs[g.donated[k]]];
    if (out.dtype != in.dtype || !detail::fits(out.shape, in.shape, phase))
      return {g.outputs[k], "an output does not fit the input it takes over"};
  }
  return {};
}

}  // namespace tt
