// The adjoint of Graph::window: each element gets the sum of the adjoints of all window elements that show it, in the order of their index in a window.
//   windows  d[..., o, k] of o * step + k * dilation  ->  values  r[..., i] = the sum of d over all o * step + k * dilation == i
// With i = q * step + r, the terms are elements k = r + j * step of windows o = q - j: for each remainder r a sum over j of shifted window elements. So the
// window elements are padded with zeros once, the sums read shifted slices of them, as a convolution does, and the remainders are interleaved.
#pragma once
#include "tt/graph/transform.hpp"

namespace tt::detail {

/// Window elements are computed from their operands' elements only if a window has no more than this many.
inline constexpr std::int64_t most_computed_elements = 16;
/// Element `k` of each window, without the last axis (that of the elements). Of elementwise values it is computed from the same element of their operands, up
/// to `depth` nodes deep, so that nothing of the windows' size is materialised.
constexpr int element_of_windows(Graph& g, int d, std::int64_t k, int depth = 4) {
  const Node n = g[d];
  if (n.shape.rank == 0) return d;
  Shape without = n.shape;
  --without.rank;
  if (n.op == Op::iota && n.attribute == n.shape.rank - 1 && n.shape.rows() == Extent(1)) return g.constant_integer(n.dtype, k);
  if (n.op == Op::broadcast) return element_of_windows(g, n.operand[0], k, depth);
  if (depth > 0 && is_elementwise(n.op) && !is_step(n) && !is_named(n)) {
    Vec<int> parts;
    for (const int operand : copied(g.operands(d))) parts.push_back(element_of_windows(g, operand, k, depth - 1));
    return again(g, g, n, parts);
  }
  return g.reshape(n.shape.last() == Extent(1) ? d : g.slice(d, n.shape.rank - 1, k, 1, 1), without);
}

/// `to`: the shape of the values.
constexpr int gathered_windows(Graph& g, int d, const WindowAttribute& w, Shape to) {  // a copy: nodes may move
  const Shape s = g[d].shape;
  Shape one = s;
  --one.rank;
  const std::int64_t size = s.last().code;
  int depth = 4;
  if (std::is_constant_evaluated() || size > most_computed_elements) depth = 0;
  const auto element = [&](std::int64_t k) { return g.broadcast_to(element_of_windows(g, d, k, depth), one); };
  const auto sum_of = [&](int sum, int part) { return sum < 0 ? part : g.add(sum, part); };
  int sum = -1;
  if (w.step > 1 && w.dilation > 1) {
    for (std::int64_t k = 0; k < size; ++k) sum = sum_of(sum, spread(g, element(k), w.axis, k * w.dilation, w.step, to[w.axis]));
    return sum;
  }
  const std::int64_t terms = (size + w.step - 1) / w.step, margin = (terms - 1) * w.dilation;  // terms of a remainder; distance of its first term and its last
  Shape wide = one;
  wide.set(w.axis, one[w.axis] + Extent(2 * margin));
  const Extent count = one[w.axis] + Extent(margin);  // elements of each remainder
  const Shape apart = {one.count(0, w.axis) * count, 1, one.count(w.axis + 1, one.rank)};
  Vec<int> remainders;  // that have elements
  for (std::int64_t r = 0; r < w.step && r < size; ++r) {
    sum = -1;
    for (std::int64_t j = 0; r + j * w.step < size; ++j) {
      const int part = g.pad(element(r + j * w.step), {{w.axis, w.axis}, {margin, 0}}, wide);
      sum = sum_of(sum, g.slice(part, w.axis, margin - j * w.dilation, count, 1));
    }
    if (w.step == 1) return sum;
    remainders.push_back(g.reshape(size > 1 ? g.add(sum, g.constant(g[d].dtype, 0)) : sum, apart));  // as with the zeros of other terms: never -0
  }
  Shape every = apart, all = one;
  every.set(1, w.step);
  all.set(w.axis, count * Extent(w.step));
  const int joined = g.pad(g.cat(remainders.begin(), remainders.size(), 1), {{1, 1}, {0, 0}}, every);
  return spread(g, g.reshape(joined, all), w.axis, 0, 1, to[w.axis]);
}

}  // namespace tt::detail
