// check: what a legal graph is. Operands come before their users, are as many as the op takes, and
// the dtype and shape of every node are what recording it on its operands gives. Passes are tested
// to keep it so, but for normalize: its nodes may lack leading extents of 1.
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {

/// The first node that is not legal, and why; `why` is empty if all are.
struct CheckResult {
  int node = -1;
  const char* why = "";
  constexpr explicit operator bool() const { return node < 0; }
};

namespace detail {

/// Node `n` recorded anew on inputs with its operands' dtypes and shapes: inference has one
/// implementation, the recorder's.
constexpr Graph recorded_alone(const Graph& g, const Node& n) {
  Graph alone;
  OperandIds o;
  for (int k = 0; k < max_operands; ++k)
    if (n.operand[k] >= 0)
      o.id[k] = alone.input(g[n.operand[k]].dtype, g[n.operand[k]].shape);
  int id = o[0];
  switch (n.op) {
    case Op::sum: case Op::amax: case Op::amin:
      id = alone.reduction(n.op, o[0], static_cast<unsigned>(n.attribute), n.bits);
      break;
    case Op::matmul: id = alone.product(o[0], o[1]); break;
    case Op::permute: {
      int axes[16] = {};
      for (int k = 0; k < 16; ++k) axes[k] = permutation_at(n.attribute, k);
      id = alone.permute(o[0], axes);
      break;
    }
    case Op::slice: {
      const SliceAttribute s = SliceAttribute::unpack(n.attribute);
      if (s.axis < n.shape.rank) id = alone.slice(o[0], s.axis, s.start, n.shape[s.axis], s.step);
      break;
    }
    case Op::window: {
      const WindowAttribute w = WindowAttribute::unpack(n.attribute);
      if (n.shape.last().is_constant()) id = alone.window(o[0], w.axis, n.shape.last().code, w.step, w.dilation);
      break;
    }
    case Op::pad: id = alone.pad(o[0], PadAttribute::unpack(n.attribute), n.shape, n.bits); break;
    case Op::slice_scatter: {
      const PadAttribute p = PadAttribute::unpack(n.attribute);
      if (p.axis[0] == p.axis[1]) id = alone.slice_scatter(o[0], o[1], p.axis[0], p.before[0]);
      break;
    }
    case Op::conv: id = alone.correlation(o[0], o[1], ConvAttribute::unpack(n.attribute)); break;
    default: id = replay(alone, n, o);
  }
  alone.output(id);
  return alone;
}

/// What is wrong with the dtypes and attributes that a node is recorded with; "" if nothing is.
constexpr const char* wrong_operands(const Graph& g, const Node& n) {
  const DType first = n.operand[0] >= 0 ? g[n.operand[0]].dtype : n.dtype;
  if (is_reduction(n.op)) {
    if (n.attribute <= 0 || n.attribute >> g[n.operand[0]].shape.rank)
      return "reduces axes that are not there";
    if (n.dtype != first) return "has another dtype than its op gives";
  }
  // Promotion is recorded as casts, so that executors see one dtype.
  if (is_elementwise(n.op) || n.op == Op::matmul || n.op == Op::conv)
    for (int k = n.op == Op::where ? 2 : 1; k < max_operands; ++k)
      if (n.operand[k] >= 0 && g[n.operand[k]].dtype != g[n.operand[k - 1]].dtype)
        return "has operands of different dtypes";
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

/// What is wrong with node `i`, whose operands are legal; "" if nothing is.
constexpr const char* wrong_node(const Graph& g, int i) {
  const Node& n = g[i];
  if (n.op >= Op::load) return "is an instruction, not a node";
  if (n.op == Op::call && !n.def) return "calls no op";
  const int wanted = n.op == Op::call ? n.def->info.arity : arity(n.op);
  for (int k = 0; k < max_operands; ++k) {
    if ((n.operand[k] >= 0) != (k < wanted)) return "has a wrong number of operands";
    if (n.operand[k] >= i) return "uses a node that comes after it";
  }
  if (n.shape.rank < 0 || n.shape.rank > max_rank) return "has a wrong rank";
  if (is_leaf(n.op)) return wrong_leaf(g, i);
  if (const char* why = wrong_operands(g, n); *why) return why;
  const Graph alone = recorded_alone(g, n);
  if (alone.failure) return words(alone.failure.mistake);
  const Node& inferred = alone[alone.outputs[0]];
  if (!(inferred.shape == n.shape)) return "has another shape than its operands give";
  if (inferred.dtype != n.dtype) return "has another dtype than its op gives";
  return "";
}

}  // namespace detail

constexpr CheckResult (check)(const Graph& g) {  // in brackets here and where it is called: a program may have a macro check(x)
  if (g.failure) return {0, words(g.failure.mistake)};
  for (int i = 0; i < g.size(); ++i)
    if (const char* why = detail::wrong_node(g, i); *why) return {i, why};
  for (int k = 0; k < g.outputs.size(); ++k) {
    if (g.outputs[k] < 0 || g.outputs[k] >= g.size()) return {0, "an output is no node"};
    if (g.donated[k] < 0) continue;
    if (g.donated[k] >= g.inputs.size()) return {g.outputs[k], "an output takes over no input"};
    const Node &out = g[g.outputs[k]], &in = g[g.inputs[g.donated[k]]];
    if (out.dtype != in.dtype || !(out.shape == in.shape))
      return {g.outputs[k], "an output does not fit the input it takes over"};
  }
  return {};
}

}  // namespace tt
