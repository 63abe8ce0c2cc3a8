// Windows that products read in place: a convolution's right side is gathered a panel of 64 columns at a time, never as a whole.
//   windows_of_products(graph)[node]   // a reshape of windows that only products read, as their right side
#pragma once
#include "tt/plan/flat_nodes.hpp"

namespace tt {
namespace detail {

/// Is this a permutation of the last two axes?
constexpr bool exchanges_last_two(const Graph& g, const Node& n) {
  const int rank = n.shape.rank;
  for (int k = 0; k < rank; ++k)
    if (g.permuted_axis(n, k) != (k == rank - 1 ? rank - 2 : k == rank - 2 ? rank - 1 : k)) return false;
  return rank >= 2;
}
/// Is node i a reshape of windows (perhaps permuted) of a contiguous value into (..., K, columns), of so few axes that an access can hold them?
constexpr bool shows_windows(const Graph& g, int i) {
  const Shape& to = g[i].shape;
  int o = g[i].operand[0];
  const Shape from = g[o].shape;
  if (g[o].op == Op::permute) o = g[o].operand[0];
  if (g[o].op != Op::window || g[i].dtype == DType::boolean || to.size() == Extent(0)) return false;
  if (std::is_constant_evaluated() && !from.is_constant_but_first()) return false;  // static kernels have windows of constants
  while (g[o].op == Op::window) o = g[o].operand[0];
  while (g[o].op == Op::reshape) o = g[o].operand[0];
  if (is_view(g[o].op) || g[o].op == Op::broadcast || (is_leaf(g[o].op) && g[o].op != Op::input) || g.is_strided(o)) return false;
  int pieces[max_rank] = {};
  if (!regroup(from, to, [&](int k, Extent, int, Extent) { ++pieces[k]; }) || to.rank < 2) return false;
  for (int k = 0; k < to.rank - 2; ++k)
    if (pieces[k] > 1) return false;
  const int rows = pieces[to.rank - 2], columns = pieces[to.rank - 1];
  return (rows > 0 ? rows : 1) + (columns > 0 ? columns : 1) <= max_window_axes;
}

/// Reshaped windows, as they are or with the last two axes exchanged, that are the right side of products and nothing else.
constexpr Vec<char> windows_of_products(const Graph& g) {
  Vec<char> as_windows(g.size(), 0);
  bool any = false;
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == Op::reshape && shows_windows(g, i)) {
      as_windows[i] = 1;
      any = true;
    }
  if (!any) return as_windows;
  Vec<char> exchanged(g.size(), 0);  // permutations of such a reshape
  for (int i = 0; i < g.size(); ++i) {
    const Node& n = g[i];
    if (n.op == Op::permute && as_windows[n.operand[0]]) exchanged[i] = exchanges_last_two(g, n);
    const Ids operands = g.operands(n);
    for (int k = 0; k < operands.count; ++k) {
      int o = operands[k];
      if (exchanged[o]) o = g[o].operand[0];
      if (!as_windows[o]) continue;
      if (!(exchanged[i] && o == operands[k]) && !(n.op == Op::matmul && k == 1)) as_windows[o] = 0;
    }
  }
  for (int o : g.outputs) {
    while (is_view(g[o].op)) {
      as_windows[o] = 0;
      o = g[o].operand[0];
    }
  }
  return as_windows;
}

}  // namespace detail
}  // namespace tt
