// Orders nodes so that the other operands of a product's epilogue, as the scale and shift of a batch norm, are computed before the product:
// the epilogue runs in the product's kernel, and reads them from memory.
//   g = canonical(g, computed_before(g));
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

constexpr int axes_in_use(const Shape& s) {
  int n = 0;
  for (int k = 0; k < s.rank; ++k) n += s[k] != Extent(1);
  return n;
}
/// Is node i made of a product, or of more than 32 nodes, and not searched further? `nodes`: nodes seen so far.
constexpr bool needs_product(const Graph& r, int i, int& nodes) {
  if (r[i].op == Op::matmul || ++nodes > 32) return true;
  for (int o : r.operands(i))
    if (needs_product(r, o, nodes)) return true;
  return false;
}
/// Pairs of a product and the view of a computed vector that its epilogue reads, which must be in memory before the product runs;
/// vectors that are made of products themselves are left out.
constexpr Vec<int> computed_before(const Graph& r) {
  Vec<int> pairs;
  Vec<int> product(r.size(), -1);
  for (int i = 0; i < r.size(); ++i) {
    const Node& n = r[i];
    if (n.op == Op::matmul) product[i] = i;
    if (!is_elementwise(n.op) || n.op == Op::broadcast) continue;
    const Ids operands = r.operands(n);
    for (int o : operands)
      if (product[o] >= 0 && r[o].shape == n.shape) product[i] = product[o];
    for (int o : operands) {
      if (product[i] < 0 || !is_view(r[o]) || axes_in_use(r[o].shape) >= axes_in_use(n.shape)) continue;
      int nodes = 0;
      if (needs_product(r, o, nodes)) continue;
      pairs.push_back(product[i]);
      pairs.push_back(o);
    }
  }
  return pairs;
}

}  // namespace detail
}  // namespace tt
