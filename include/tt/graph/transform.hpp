// Passes that rewrite a whole graph: depth-first order, removal of dead nodes with canonical numbering, decomposition of ops over graphs, and inlining of op
// bodies. Each gives a new graph.
//
// Recording order is not canonical: C++ leaves the evaluation order of a*b open, and g++ 12 goes
// left to right in constant expressions and right to left at run time. So `canonical` runs before
// differentiation and before scheduling; without it the two times give other bits.
#pragma once
#include "tt/graph/decompose.hpp"

namespace tt {

/// The nodes that `roots` depend on, each after its operands; operands in order, depth first. `state` of a node: 0; 1: its operands are on the stack; 2: done,
/// or not wanted. `before`: pairs of a node and a node that must come before it.
constexpr Vec<int> post_order(const Graph& g, const Vec<int>& roots, Vec<char> state, const Vec<int>& before = {}) {
  Vec<int> order, stack, newest, older;  // linked lists of the pairs of a node: the last pair's number, plus one; of each pair, the pair before it
  const bool ordered = !before.empty();
  if (ordered) {
    newest = Vec<int>(g.size(), 0);
    for (int k = 0; k < before.size(); k += 2) {
      older.push_back(newest[before[k]]);
      newest[before[k]] = k / 2 + 1;
    }
  }
  for (int root : roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const int i = stack.back();
      if (state[i] == 0) {
        state[i] = 1;
        const Ids o = g.operands(i);
        for (int k = o.count - 1; k >= 0; --k)
          if (state[o[k]] == 0) stack.push_back(o[k]);
        if (ordered)
          for (int k = newest[i]; k > 0; k = older[k - 1])
            if (const int early = before[2 * k - 1]; state[early] == 0) stack.push_back(early);
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

/// The ids of operands in another graph: `map` of each.
constexpr Vec<int> mapped(Ids operands, const Vec<int>& map) {
  Vec<int> to(operands.count, 0);
  for (int k = 0; k < operands.count; ++k) to.items[k] = map.items[operands.first[k]];
  return to;
}

/// Records node `n` of `from` in `g`, on these operands of `g`, as if the program had: with inference and simplifications.
constexpr int again(Graph& g, const Graph& from, const Node& n, Ids operands) {
  g.where = n.where;
  const int a = operands.count > 0 ? operands[0] : -1;
  switch (n.op) {
    case Op::call:
      if (n.def->info.effect) return g.intern(n, from, operands);
      if (n.def->is_named) return call_named(g, *n.def, operands, from.attribute_words(n))[static_cast<int>(n.bits)];
      return g.call(*n.def, operands);
    case Op::broadcast:
      if (n.attribute != repeated_in_place) return g.broadcast_to(a, n.shape);
      break;
    case Op::reshape:
      if (n.attribute != read_as_windows) return g.reshape(a, n.shape);
      break;
    case Op::permute: return g.permute(a, from.attributes<PermuteAttribute>(n).axis);
    case Op::slice: {
      const auto s = from.attributes<SliceAttribute>(n);
      return g.slice(a, s.axis, s.start, n.shape[s.axis], s.step);
    }
    case Op::window: {
      if (n.shape.rank == 0) break;  // only in a parsed graph, which `check` then rejects
      const auto w = from.attributes<WindowAttribute>(n);
      return g.window(a, w.axis, n.shape.last().code, w.step, w.dilation);
    }
    case Op::pad: return g.pad(a, from.attributes<PadAttribute>(n), n.shape, n.bits);
    case Op::slice_scatter:
      if (const auto p = from.attributes<PadAttribute>(n); n.identity <= 0 && p.axis[0] == p.axis[1])
        return g.slice_scatter(a, operands[1], p.axis[0], p.before[0]);
      break;
    case Op::sum: case Op::amax: case Op::amin:
      if (!(n.bits & in_row_order)) return g.reduce(n.op, a, static_cast<unsigned>(n.attribute), n.bits);
      break;
    case Op::matmul: return g.matmul(a, operands[1]);
    case Op::conv: return g.conv(a, operands[1], from.attributes<ConvAttribute>(n));
    case Op::take: return g.take(a, operands[1], from.attributes<TakeAttribute>(n).axis);
    default:
      if (is_elementwise(n.op) && n.identity <= 0) return g.elementwise(n.op, operands, n.attribute, n.dtype);
      if (n.op == Op::copy) {  // with an identity: a value of its own
        Node like = n;
        like.dtype = g[a].dtype;
        like.shape = g[a].shape;
        return g.intern(like, from, operands);
      }
  }
  return g.intern(n, from, operands);
}

namespace detail {

/// While it lives, nodes are recorded as steps, or not (`on`): see Graph::records_steps.
class RecordsSteps {
 public:
  constexpr RecordsSteps(Graph& g, bool on) : graph_(g), before_(g.records_steps) { g.records_steps = on; }
  RecordsSteps(const RecordsSteps&) = delete;
  constexpr ~RecordsSteps() { graph_.records_steps = before_; }

 private:
  Graph& graph_;
  bool before_;
};
constexpr bool has_steps(const Graph& g) {
  if (std::is_constant_evaluated()) return false;
  for (const Node& n : g.nodes)
    if (is_step(n)) return true;
  return false;
}

/// The same node on these operands; as a step if it is one.
constexpr int intern_step(Graph& g, const Node& n, const Graph& from, const Vec<int>& operands) {
  const RecordsSteps steps(g, is_step(n));
  return g.intern(n, from, operands);
}

/// Decides which calls of ops with bodies stay calls, for executors that have code for them. Null: none.
using KeepsCall = bool (*)(const OpDef& op, DType dtype);
struct Rewrite {
  bool inlines_bodies = false, for_devices = false;
  KeepsCall keeps = nullptr;
};
/// Is this node replaced by its body? Intrinsics are one instruction everywhere.
constexpr bool is_inlined(const Graph& g, const Node& n, KeepsCall keeps) {
  if (n.op != Op::call || n.def->code >= 0 || is_external(n)) return false;
  for (int operand : g.operands(n))
    if (g[operand].dtype != n.dtype) return true;
  return !keeps || !keeps(*n.def, n.dtype);
}

constexpr Graph rebuild(const Graph& g, const Rewrite& rewrite, const Vec<int>& before = {}, bool keeps_steps = false) {
  Graph r = Graph::like(g);
  Vec<int> map(g.size(), -1);
  for (int i : g.inputs) map[i] = r.input_like(g, i);
  for (int i : post_order(g, g.outputs, Vec<char>(g.size(), 0), before)) {
    if (map[i] >= 0) continue;
    const Node& n = g[i];
    const Vec<int> o = mapped(g.operands(n), map);
    if (!rewrite.inlines_bodies) {
      map[i] = keeps_steps ? intern_step(r, n, g, o) : r.intern(n, g, o);
    } else if (n.op == Op::detach || (n.op == Op::copy && n.attribute == differentiated_by)) {
      map[i] = o[0];
    } else if (is_inlined(g, n, rewrite.keeps)) {
      r.where = n.where;
      map[i] = r.broadcast_to(n.def->record(*n.def, r, o.begin()), n.shape);
    } else if (n.op == Op::conv) {
      r.where = n.where;
      map[i] = convolution(r, o[0], o[1], g.attributes<ConvAttribute>(n), !rewrite.for_devices);
    } else {
      map[i] = again(r, g, n, o);
    }
  }
  r.take_outputs(g, map);
  return r;
}

}  // namespace detail

/// The live nodes, numbered depth first from the outputs; inputs first. `keeps_steps`: steps of a program stay nodes of their own.
constexpr Graph canonical(const Graph& g, const Vec<int>& before = {}, bool keeps_steps = false) {
  return detail::rebuild(g, {}, before, keeps_steps);
}

namespace detail {

/// Are some of these nodes ops over graphs? Not in constant evaluation.
constexpr bool has_composites(const Graph& g) {
  if (std::is_constant_evaluated()) return false;
  for (const Node& n : g.nodes)
    if (is_composite(n)) return true;
  return false;
}
/// Records the nodes of `from` (those marked; null: all) in their order, with bodies in place of the nodes that `which` selects; so the result is as if there
/// had never been such nodes. `map` is completed.
constexpr void decompose_into(Graph& g, const Graph& from, const Vec<char>* marked, Vec<int>& map, bool (*which)(const Node&) = &is_composite) {
  const int count = map.size();  // `from` may be `g`
  for (int i = 0; i < count; ++i) {
    if (map[i] >= 0 || (marked && !(*marked)[i])) continue;
    const Node n = from[i];
    const Vec<int> operands = mapped(from.operands(n), map);
    bool same = &g == &from;
    for (int k = 0; k < operands.size() && same; ++k) same = operands[k] == from.operands(n)[k];
    const bool step = &g == &from && is_step(n);
    const RecordsSteps steps(g, step);
    if (which(n)) map[i] = decompose(g, from, n, operands);
    else if (same) map[i] = i;
    else if (step && is_named(n)) map[i] = g.intern(n, from, operands);  // results of one call stay results of one call
    else map[i] = again(g, from, n, operands);
  }
}

/// Records the bodies of ops over graphs (selected by `which`) that `roots` depend on and that depend in any way on one of `variables`. Other nodes keep their
/// numbers: among them are variables of outer derivatives, which are found by number. `map`: the new id of each node. False: there are no such ops.
constexpr bool decompose_beside(Graph& g, const Vec<int>& roots, const Vec<int>& variables, Vec<int>& map, bool (*which)(const Node&) = &is_composite) {
  if (!has_composites(g)) return false;
  Vec<char> reads(g.size(), 0), needed(g.size(), 0);
  for (int i : variables) reads[i] = 1;
  for (int i = 0; i < g.size(); ++i)
    for (int o : g.operands(i)) reads[i] |= reads[o];
  bool any = false;
  for (int i : post_order(g, roots)) {
    needed[i] = reads[i];
    any = any || (needed[i] && which(g[i]));
  }
  if (!any) return false;
  for (int i = 0; i < g.size(); ++i) map.push_back(needed[i] ? -1 : i);
  decompose_into(g, g, &needed, map, which);
  return true;
}
/// Is it a leaf that is no input, broadcast or not? It costs nothing, so every graph may have its own.
constexpr bool is_repeated_number(const Graph& g, int i) {
  while (g[i].op == Op::broadcast || g[i].op == Op::reshape) i = g[i].operand[0];
  return is_leaf(g[i].op) && g[i].op != Op::input;
}

}  // namespace detail

/// Ops over graphs replaced by their bodies; `map`: the new id of each node.
constexpr Graph decomposed(const Graph& g, Vec<int>& map) {
  Graph r = Graph::like(g);
  map = Vec<int>(g.size(), -1);
  for (int i : g.inputs) map[i] = r.input_like(g, i);
  detail::decompose_into(r, g, nullptr, map);
  r.take_outputs(g, map);
  return r;
}
constexpr Graph decomposed(Graph g) {
  if (!detail::has_composites(g)) return g;
  Vec<int> map;
  return decomposed(g, map);
}
/// Replaces ops over graphs by their bodies until none is left, and merges equal steps; gives the new id of each node.
constexpr Vec<int> decompose_fully(Graph& g) {
  Vec<int> map;
  for (int i = 0; i < g.size(); ++i) map.push_back(i);
  while (detail::has_composites(g) || detail::has_steps(g)) {
    Vec<int> next;
    g = decomposed(g, next);
    for (int& i : map) i = next[i];
  }
  return map;
}

/// Op bodies inlined (but for intrinsics), convolutions as matrix products, `detach` and gradient variables removed, dead nodes removed. A body may call other
/// ops with bodies, so this repeats until none is left. For devices every convolution is a product, which their libraries run as a convolution.
constexpr Graph inline_bodies(const Graph& g, bool for_devices = false, detail::KeepsCall keeps = nullptr) {
  if (detail::has_composites(g)) return inline_bodies(decomposed(g), for_devices, keeps);
  bool any = false;
  for (int i = 0; i < g.size() && !any; ++i)
    any = g[i].op == Op::detach || (g[i].op == Op::copy && g[i].attribute == differentiated_by) ||
          detail::is_inlined(g, g[i], keeps) || g[i].op == Op::conv;
  if (!any) return canonical(g);
  return inline_bodies(detail::rebuild(g, {true, for_devices, keeps}), for_devices, keeps);
}

}  // namespace tt
