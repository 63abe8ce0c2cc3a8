// Analysis: the values that normalize computes transposed (their last two axes exchanged). These are transposed operands of row reductions, which
// become column reductions of the untransposed operand, and elementwise results behind a transpose, which is then dropped.
//   sum(permute(a), axis 1)   becomes   sum(a, axis 0), in row order
#pragma once
#include "tt/plan/plan.hpp"
#include "tt/plan/product_windows.hpp"

namespace tt {
namespace detail {

/// Is an axis so long that a kernel that materialises a transposed copy is worth its time?
constexpr bool is_long(Extent e) { return !e.is_constant() || e.code >= row_padding; }
/// Is this an argument whose row elements are neither adjacent in memory nor one repeated element?
constexpr bool lies_apart(const Graph& g, int id) {
  if (!g.is_strided(id)) return false;
  const Extent last = g.input_strides[static_cast<int>(g[id].attribute)].last();
  return last != Extent(1) && last != Extent(0);
}
/// Is a node stored so that another axis than the last is contiguous, and are both axes long?
constexpr bool has_transposed_rows(const Graph& g, int id) {
  const Node& n = g[id];
  const Shape& s = n.shape;
  if (s.rank < 2 || !is_long(s.last())) return false;
  if (n.op == Op::permute) {
    const int dense = n.operand[0], last = g[dense].shape.rank - 1;
    if (is_view(g[dense].op) || g.is_strided(dense)) return false;
    for (int k = 0; k < s.rank - 1; ++k)
      if (g.permuted_axis(n, k) == last) return is_long(s[k]);
    return false;
  }
  if (!lies_apart(g, id)) return false;
  const Shape& strides = g.input_strides[static_cast<int>(n.attribute)];
  for (int k = 0; k < s.rank - 1; ++k)
    if (strides[k] == Extent(1)) return is_long(s[k]);
  return false;
}

struct TransposedNodes {
  enum How : char {
    as_it_is,
    by_itself,   ///< a reduction or a permutation: its operand is computed with its last two axes exchanged
    of_operand,  ///< a node that computes such an operand and has no other reader
  };
  const Graph& g;
  const FlatNodes& flat;
  Vec<char> how;

  constexpr TransposedNodes(const Graph& graph, const FlatNodes& f) : g(graph), flat(f), how(graph.size(), as_it_is) {
    bool any = false;
    for (int i = 0; i < g.size() && !any; ++i)
      any = lies_transposed(i) || (g[i].op == Op::permute && exchanges_last_two(g, g[i]));
    if (!any) return;
    Vec<int> uses(g.size(), 0);
    for (const Node& n : g.nodes)
      for (int o : g.operands(n)) ++uses[o];
    for (int o : g.outputs) ++uses[o];
    for (int i = 0; i < g.size(); ++i)
      if (const Node& n = g[i]; is_reduction(n.op) && n.attribute == 1 << (n.shape.rank - 1)) exchange(i, uses, true);
    for (int i = g.size() - 1; i >= 0; --i)  // outer permutations first: absorbing one may remove the inner one
      if (const Node& n = g[i]; how[i] == as_it_is && n.op == Op::permute && exchanges_last_two(g, n) && is_elementwise(g[n.operand[0]].op))
        exchange(i, uses, false);
  }
  /// Is one of the last two extents 1? Then a reshape exchanges these axes.
  static constexpr bool is_vector(const Shape& s) { return s.from_right(0) == Extent(1) || s.from_right(1) == Extent(1); }

 private:
  constexpr void exchange(int i, const Vec<int>& uses, bool only_if_across) {
    const int o = g[i].operand[0];
    bool across = !only_if_across;
    if (is_vector(g[o].shape) || !may_exchange(o, g[o].shape, uses, across) || !across) return;
    how[i] = by_itself;
    mark_operand(o);
  }
  /// Is this a matrix, or a batch of them, with contiguous columns instead of rows?
  constexpr bool lies_transposed(int i) const {
    const Node& n = g[i];
    if (!has_transposed_rows(g, i)) return false;
    if (n.op != Op::permute) return g.input_strides[static_cast<int>(n.attribute)].from_right(1) == Extent(1);
    const Op op = g[n.operand[0]].op;
    return exchanges_last_two(g, n) && (!is_leaf(op) || op == Op::input);
  }
  /// Can node i (this shape, one use) be computed transposed at no cost? Sets `across` if an operand is stored transposed.
  constexpr bool may_exchange(int i, const Shape& shape, const Vec<int>& uses, bool& across) const {
    const Node& n = g[i];
    if (is_vector(n.shape)) return n.shape.rank == 0 || !is_leaf(n.op) || n.op == Op::input;
    if (uses[i] != 1 || flat.group_of[i] >= 0) return false;
    if (lies_transposed(i)) return across = true;
    if (n.shape != shape || !is_elementwise(n.op) || n.op == Op::copy || n.op == Op::broadcast) return false;
    for (int o : g.operands(n))
      if (!may_exchange(o, shape, uses, across)) return false;
    return true;
  }
  constexpr void mark_operand(int i) {
    how[i] = of_operand;
    if (lies_transposed(i)) return;
    for (int o : g.operands(i))
      if (!is_vector(g[o].shape)) mark_operand(o);
  }
};

}  // namespace detail
}  // namespace tt
