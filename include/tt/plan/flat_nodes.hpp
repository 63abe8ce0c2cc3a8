// Shape comparisons, and the analysis of which elementwise nodes may run in a flattened shape: used by normalize (normalize.hpp).
// A loss flattens its argument before it reduces; the ops that feed the reduction then run flattened too, in one kernel with it.
//   const FlatNodes flat(graph);   flat.group_of[node]   // -1: in its own shape
#pragma once
#include "tt/plan/plan.hpp"

namespace tt {
namespace detail {

/// `s` broadcasts to `fine`. `to`: its extents when axes of `fine` are merged or divided so that its shape is `other`. False:
/// they cannot be, or `s` is repeated along some, but not all, of the axes that are merged into one.
constexpr bool regrouped_extents(const Shape& s, const Shape& fine, const Shape& other, Shape& to) {
  if (fine.size() == Extent(0)) return false;
  Shape reversed;
  for (int j = 0, k = 0; k < other.rank;) {
    const int first = k;
    bool repeated = true, whole = true;
    Extent there = other.from_right(k++);
    for (Extent here = 1; here != there;) {
      if (here.is_constant() && there.is_constant() && here.code > there.code) {
        if (k == other.rank) return false;
        there = there * other.from_right(k++);
        continue;
      }
      if (j == fine.rank) return false;
      here = here * fine.from_right(j);
      if (fine.from_right(j) != Extent(1)) (s.from_right(j) == Extent(1) ? whole : repeated) = false;
      ++j;
    }
    if (!repeated && !whole) return false;
    for (int i = first; i < k; ++i) reversed.push_back(whole ? other.from_right(i) : Extent(1));
  }
  to = {};
  for (int k = other.rank - 1; k >= 0; --k) to.push_back(reversed[k]);
  return true;
}

/// Equal but for axes of extent 1.
constexpr bool same_but_ones(const Shape& a, const Shape& b) {
  int i = 0, j = 0;
  for (;;) {
    while (i < a.rank && a[i] == Extent(1)) ++i;
    while (j < b.rank && b[j] == Extent(1)) ++j;
    if (i == a.rank || j == b.rank) return i == a.rank && j == b.rank;
    if (a[i++] != b[j++]) return false;
  }
}

/// Equal but for leading axes of extent 1.
constexpr bool same_grid(const Shape& a, const Shape& b) {
  for (int k = 0; k < (a.rank > b.rank ? a.rank : b.rank); ++k)
    if (a.from_right(k) != b.from_right(k)) return false;
  return true;
}

/// b divided by a, if a divides it; else 0.
constexpr Extent quotient(Extent b, Extent a) {
  Extent q;
  if (a.is_packed() && a.coefficient() < 1) return 0;
  return divide(b, a, q) ? q : Extent(0);
}
/// The axes of `to` as parts of those of `from`, which has as many elements, innermost first: piece(k, extent, j, times) says
/// that axis k of `to` goes through `extent` elements of axis j, `times` elements apart. False: the axes do not regroup so.
template <class F>
constexpr bool regroup(const Shape& from, const Shape& to, const F& piece) {
  int j = from.rank;
  Extent left = 1, times = 1;  // of axis j
  for (int k = to.rank - 1; k >= 0; --k)
    for (Extent wanted = to[k]; wanted != Extent(1);) {
      while (left == Extent(1)) {
        if (j == 0) return false;
        left = from[--j];
        times = 1;
      }
      const Extent whole = quotient(wanted, left), part = whole == Extent(0) ? wanted : left;
      if (quotient(left, part) == Extent(0)) return false;
      piece(k, part, j, times);
      times = times * part;
      left = quotient(left, part);
      wanted = whole == Extent(0) ? Extent(1) : whole;
    }
  return left == Extent(1);
}

/// Worth keeping rather than computing twice.
constexpr bool is_expensive(const Node& n) {
  return n.op == Op::div || n.op == Op::sqrt || n.op == Op::call;
}

/// How many last axes of `shape` are merged into the last axis of `flat`; 0 if the other axes differ
/// (extents of 1 aside).
constexpr int merged_axes(const Shape& shape, const Shape& flat) {
  int k = shape.rank;
  Extent merged = 1;
  while (k > 0 && merged != flat.last()) merged = merged * shape[--k];
  if (flat.rank == 0 || merged != flat.last()) return 0;
  Shape rest = flat, kept;
  --rest.rank;
  for (int j = 0; j < k; ++j) kept.push_back(shape[j]);
  return same_but_ones(kept, rest) ? shape.rank - k : 0;
}

/// Which elementwise nodes run in the shape of a flattened reduction, because they feed it or have the
/// same shape. One group for each shape that is flattened; a group's nodes have that shape.
struct FlatNodes {
  struct Group {
    Shape shape, flat;
    int merged = 0;  ///< axes
  };
  /// Shorter rows are not read in place: most vectors would be put together from two of them.
  static constexpr int shortest_run = row_padding;
  const Graph& g;
  Vec<Group> groups;
  Vec<int> group_of;  ///< -1: as it is

  constexpr explicit FlatNodes(const Graph& graph) : g(graph), group_of(graph.size(), -1) {
    for (const Node& n : g.nodes)
      if (const int source = flattened_by(n); source >= 0) add_group(source, g[n.operand[0]].shape);
  }
  /// The node that a reduction flattens and reduces, or -1.
  constexpr int flattened_by(const Node& n) const {
    if (!is_reduction(n.op) || g[n.operand[0]].op != Op::reshape) return -1;
    const int source = g[n.operand[0]].operand[0];
    return same_but_ones(g[source].shape, g[n.operand[0]].shape) ? -1 : source;
  }

  constexpr bool may_run(int i) const { return is_elementwise(g[i].op) && g[i].op != Op::broadcast; }
  /// A cheap value of a smaller shape, made of one input and of scalars: its readers compute it again,
  /// as in Schedule::source.
  constexpr bool is_rebuilt(int o) const { return may_run(o) && inputs_of(o) < 2; }

 private:
  constexpr int inputs_of(int o) const {
    const Node& n = g[o];
    if (n.shape.rank == 0) return 0;
    if (n.op == Op::input) return 1;
    if (n.op == Op::broadcast) return inputs_of(n.operand[0]);
    if (!may_run(o) || is_expensive(n)) return 2;
    int count = 0;
    for (int p : g.operands(n))
      if (count < 2) count += inputs_of(p);
    return count;
  }

  constexpr void add_group(int source, Shape flat) {
    const Shape shape = g[source].shape;
    const int merged = merged_axes(shape, flat);
    if (merged == 0) return;
    for (const Group& known : groups)
      if (known.shape == shape) return;
    const int group = groups.size();
    groups.push_back({shape, flat, merged});
    for (int i = 0; i < g.size(); ++i)
      if (may_run(i) && g[i].shape == shape) group_of[i] = group;
    settle(group);
    if (others_run_over(group)) {  // nodes that do not feed the reduction are better off with those
      keep_what_feeds(group);
      settle(group);
    }
  }
  constexpr void settle(int group) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < g.size(); ++i)
        if (group_of[i] == group && !can_read(i, group)) {
          group_of[i] = -1;
          changed = true;
        }
      for (int i = g.size() - 1; i >= 0; --i)
        for (int o : g.operands(i))
          if (group_of[o] == group && !may_use(i, group)) {
            group_of[o] = -1;
            changed = true;
          }
    }
  }
  constexpr bool can_read(int i, int group) const {
    for (int o : g.operands(i))
      if (!can_be_read(o, group)) return false;
    return true;
  }
  constexpr bool can_be_read(int o, int group) const {
    const Node& n = g[o];
    if (group_of[o] == group || n.shape.rank == 0) return true;
    if (n.op == Op::iota) return false;
    if (n.op == Op::broadcast) return can_be_read(n.operand[0], group);
    if (n.shape == groups[group].shape) return n.op == Op::input;
    return can_be_repeated(n.shape, groups[group]);
  }
  /// Reading a repeated operand divides by the length of a run for every vector of columns: by a constant,
  /// or that would cost more than a second kernel.
  constexpr bool can_be_repeated(const Shape& s, const Group& group) const {
    const Extent run = group.shape.last();
    if (run.is_constant() && run.code >= shortest_run) return true;
    for (int k = 0; k < group.merged; ++k)
      if (s.from_right(k) != Extent(1)) return false;
    return true;
  }
  /// Is node i in the group, or does it read memory?
  constexpr bool may_use(int i, int group) const {
    return group_of[i] == group || is_view(g[i].op) || g[i].op == Op::matmul;
  }
  constexpr bool others_run_over(int group) const {
    const Shape& shape = groups[group].shape;
    for (int i = 0; i < g.size(); ++i) {
      if (may_run(i) && g[i].shape == shape && group_of[i] != group) return true;
      if (is_reduction(g[i].op) && g[g[i].operand[0]].shape == shape) return true;
    }
    return false;
  }
  constexpr void keep_what_feeds(int group) {
    Vec<char> feeds(g.size(), 0);
    for (int i = g.size() - 1; i >= 0; --i) {
      if (const int source = flattened_by(g[i]); source >= 0) feeds[source] = 1;
      if (feeds[i] && group_of[i] == group)
        for (int o : g.operands(i)) feeds[o] = 1;
    }
    for (int i = 0; i < g.size(); ++i)
      if (group_of[i] == group && !feeds[i]) group_of[i] = -1;
  }
};

}  // namespace detail
}  // namespace tt
