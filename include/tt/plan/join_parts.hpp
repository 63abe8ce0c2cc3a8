// Simplifies concatenations (chains of pad and slice_scatter): cat(cat(a, b), c) becomes cat(a, b, c), and a slice inside one part of a cat
// becomes a slice of that part. Before scheduling, but after derivatives exist, as the order of their sums depends on the program's own cats.
//   if (shows_parts(g)) g = join_parts(g);
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

constexpr bool has_parts(Op op) { return op == Op::pad || op == Op::slice_scatter; }
constexpr int part_of(const Node& n) { return n.operand[n.op == Op::pad ? 0 : 1]; }

/// The parts that `id` concatenates along an axis, in order; `id` itself if it is no concatenation.
constexpr Vec<int> parts_joined(const Graph& g, int id, int axis) {
  const Shape whole = g[id].shape;
  Vec<int> reversed;
  Extent end = whole[axis];
  const bool known = whole[axis].is_constant() || !std::is_constant_evaluated();
  for (int i = id; known && has_parts(g[i].op); i = g[i].operand[0]) {
    const auto p = g.attributes<PadAttribute>(i);
    const Shape& s = g[part_of(g[i])].shape;
    bool behind = p.along(axis) + s[axis] == end;
    for (int k = 0; k < s.rank; ++k) behind = behind && (k == axis || s[k] == whole[k]);
    if (!behind) break;
    reversed.push_back(part_of(g[i]));
    end = p.along(axis);
    if (end != Extent(0) && g[i].op == Op::slice_scatter) continue;
    if (end != Extent(0)) break;  // padding at the begin is no part
    Vec<int> parts;
    while (!reversed.empty()) {
      parts.push_back(reversed.back());
      reversed.pop_back();
    }
    return parts;
  }
  return {id};
}
/// A pad or slice_scatter of a concatenation as a chain of one for each part; -1: its operand is no concatenation.
constexpr int with_each_part(Graph& g, const Node& n, const PadAttribute& p, Ids o) {
  const int part = o[n.op == Op::pad ? 0 : 1];
  const Shape s = g[part].shape;
  int axis = -1;
  for (int k = 0; k < s.rank; ++k)
    if (s[k] != n.shape[k]) axis = axis < 0 ? k : s.rank;
  if (n.op == Op::slice_scatter) axis = p.axis[0];
  if (axis < 0 || axis == s.rank) return -1;
  const Vec<int> parts = parts_joined(g, part, axis);
  if (parts.size() == 1) return -1;
  int r = n.op == Op::pad ? -1 : o[0];
  Extent start = p.along(axis);
  for (int each : parts) {
    const Extent length = g[each].shape[axis];
    r = r < 0 ? g.pad(each, {{axis, axis}, {start, 0}}, n.shape, n.bits) : g.slice_scatter(r, each, axis, start);
    start = start + length;
  }
  return r;
}
/// Is a no more than b, whatever the symbols are?
constexpr bool never_more(Extent a, Extent b) {
  if (a.is_constant() && b.is_constant()) return a.code <= b.code;
  return !std::is_constant_evaluated() && (b - a).least() >= 0;
}
/// Skip pointers down chains of slice_scatter: `to` is a node further down, and all parts replaced between the two lie in the interval
/// low to high of `axis`. Down a chain of n parts the way to each node is some log n steps (after Myers, An applicative
/// random-access stack, 1983), not n.
class PartSkips {
 public:
  struct Skip {
    int to = -1, axis = -1, depth = 0;
    Extent low = 0, high = 0;
  };
  constexpr const Skip& of(const Graph& g, int id) {
    while (skip_.size() < g.size()) skip_.push_back(made(g, skip_.size()));
    return skip_[id];
  }

 private:
  Vec<Skip> skip_;
  constexpr Skip made(const Graph& g, int id) const {
    if (g[id].op != Op::slice_scatter) return {.to = id};
    const auto p = g.attributes<PadAttribute>(id);
    const int base = g[id].operand[0];
    const Skip& first = skip_[base];
    Skip s{base, p.axis[0], first.depth + 1, p.before[0], p.before[0] + g[g[id].operand[1]].shape[p.axis[0]]};
    if (first.axis != s.axis) return s;
    const Skip& second = skip_[first.to];
    if (second.axis != s.axis || first.depth - second.depth != second.depth - skip_[second.to].depth) return s;
    Skip all = s;
    if (!widen(all, first) || !widen(all, second)) return s;
    all.to = second.to;
    return all;
  }
  /// Joins two intervals that meet; false if they are not known to meet.
  static constexpr bool widen(Skip& s, const Skip& by) {
    if (s.high == by.low) s.high = by.high;
    else if (by.high == s.low) s.low = by.low;
    else return false;
    return true;
  }
};
/// A slice of `a`, or of the part of `a` that the slice lies in.
constexpr int slice_of_parts(Graph& g, PartSkips& skips, int a, const Node& slice, const SliceAttribute& cut) {
  const auto [axis, first, step] = cut;
  Extent start = first;
  const Extent length = slice.shape[axis];
  const bool known = start.is_constant() && length.is_constant();
  while (length != Extent(0) && has_parts(g[a].op)) {
    const Node n = g[a];
    const int part = part_of(n);
    const Shape s = g[part].shape;
    if (s[axis] == n.shape[axis] || (std::is_constant_evaluated() && !(known && s[axis].is_constant()))) break;
    const Extent last = start + (length - 1) * Extent(step), from = g.attributes<PadAttribute>(n).along(axis);
    const Extent end = from + s[axis], low = step > 0 ? start : last, high = step > 0 ? last : start;
    bool beside = true;
    for (int k = 0; k < s.rank; ++k) beside = beside && (k == axis || s[k] == n.shape[k]);
    const PartSkips::Skip skip = skips.of(g, a);
    if (skip.axis == axis && (never_more(high + 1, skip.low) || never_more(skip.high, low))) {
      a = skip.to;
    } else if (never_more(high + 1, from) || never_more(end, low)) {
      if (n.op == Op::pad) return g.broadcast_to(g.constant_bits(n.dtype, n.bits), slice.shape);
      a = n.operand[0];
    } else if (beside && never_more(from, low) && never_more(high + 1, end)) {
      a = part;
      start = start - from;
    } else {
      break;
    }
  }
  return g.slice(a, axis, start, length, step);
}

/// Is a node a slice, of a value in the chain of `scatter`, without any element that `scatter` replaces?
constexpr bool is_beside(const Graph& g, const Node& n, const Node& scatter) {
  if (n.op != Op::slice) return false;
  const auto [axis, start, step] = g.attributes<SliceAttribute>(n);
  const Extent replaced = g[part_of(scatter)].shape[axis], last = start + (n.shape[axis] - 1) * Extent(step), from = g.attributes<PadAttribute>(scatter).along(axis);
  return replaced != scatter.shape[axis] && (never_more((step > 0 ? last : start) + 1, from) || never_more(from + replaced, step > 0 ? start : last));
}
/// The values, pads and slice_scatters, whose memory a slice_scatter takes over to replace a part. All other nodes that read such a value may run after
/// any slice_scatter of the chain, so a value is one only if they show no element of its parts.
constexpr Vec<char> parts_replaced(const Graph& g) {
  Vec<char> replaced(g.size(), 0);
  Vec<int> by;  // which slice_scatter; -1: none, -2: it may not
  for (int i = 0; i < g.size(); ++i) {
    const Node& n = g[i];
    if (n.op != Op::slice_scatter || !has_parts(g[n.operand[0]].op)) continue;
    if (by.empty()) by = Vec<int>(g.size(), -1);
    by[n.operand[0]] = by[n.operand[0]] == -1 && n.operand[1] != n.operand[0] ? i : -2;
  }
  if (by.empty()) return replaced;
  const Vec<int> chain = by;
  for (int i = 0; i < g.size(); ++i)
    for (int o : g.operands(g[i]))
      for (int part = chain[o]; part >= 0 && by[o] >= 0 && chain[o] != i; part = chain[part])
        if (!is_beside(g, g[i], g[part])) by[o] = -2;
  for (int o : g.outputs) by[o] = -2;
  for (int o = 0; o < g.size(); ++o) replaced[o] = by[o] >= 0;
  return replaced;
}

}  // namespace detail

/// Does join_parts change this graph?
constexpr bool shows_parts(const Graph& g) {
  bool any = false;
  for (const Node& n : g.nodes) any = any || n.op == Op::pad || n.op == Op::slice_scatter;  // every step counts in constant evaluation
  for (int i = 0; any && i < g.size(); ++i)
    if ((g[i].op == Op::slice && detail::has_parts(g[g[i].operand[0]].op)) ||
        (detail::has_parts(g[i].op) && detail::has_parts(g[detail::part_of(g[i])].op)))
      return true;
  return false;
}
constexpr Graph join_parts(const Graph& g) {
  Graph r = Graph::like(g);
  detail::PartSkips skips;
  Vec<int> map(g.size(), -1);
  for (int i : g.inputs) map[i] = r.input_like(g, i);
  for (int i = 0; i < g.size(); ++i) {
    if (map[i] >= 0) continue;
    const Node& n = g[i];
    r.where = n.where;
    const Vec<int> o = mapped(g.operands(n), map);
    if (n.op == Op::slice) map[i] = detail::slice_of_parts(r, skips, o[0], n, g.attributes<SliceAttribute>(n));
    if (detail::has_parts(n.op)) map[i] = detail::with_each_part(r, n, g.attributes<PadAttribute>(n), o);
    if (map[i] < 0) map[i] = r.intern(n, g, o);
  }
  r.take_outputs(g, map);
  return canonical(r);
}

}  // namespace tt
