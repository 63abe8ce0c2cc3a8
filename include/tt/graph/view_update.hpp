// Functional form of writing through a chain of views: the base with the viewed elements replaced. Each view is inverted, the last one first: a slice becomes
// slice_scatter, a permutation its inverse, a reshape a reshape back.
//   y = x * 1;   y[:, 3] = part      ->   with_part(g, views /* y -> y[:, 3] */, y, part) is slice_scatter(y, part as a column)
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

/// An empty slice of `a`.
constexpr int none_of(Graph& g, int a) {
  const int line = g[a].shape.rank > 0 ? a : g.reshape(a, {1});
  return g.slice(line, 0, 0, 0, 1);
}
/// `base` with `part` in place of the elements of a slice.
constexpr int with_slice(Graph& g, int base, int part, const SliceAttribute& s) {
  if (s.step == 1) return g.slice_scatter(base, part, s.axis, s.start);
  // The base as rows of `step` elements, each beginning with an element of the part; after the part's last element there may be no whole row.
  const Shape whole = g[base].shape, shown = g[part].shape;
  const Extent rows = shown[s.axis] - 1;
  if (shown.size() == Extent(0)) return beside_nothing(g, base, part);
  if (rows != Extent(0)) {
    Shape length = whole, in_rows, firsts;
    length.set(s.axis, rows * Extent(s.step));
    for (int k = 0; k < whole.rank; ++k) {
      in_rows.push_back(k == s.axis ? rows : whole[k]);
      firsts.push_back(k == s.axis ? rows : whole[k]);
      if (k == s.axis) {
        in_rows.push_back(s.step);
        firsts.push_back(1);
      }
    }
    const int before = g.reshape(g.slice(base, s.axis, s.start, length[s.axis], 1), in_rows);
    const int after = g.slice_scatter(before, g.reshape(g.slice(part, s.axis, 0, rows, 1), firsts), s.axis + 1, 0);
    base = g.slice_scatter(base, g.reshape(after, length), s.axis, s.start);
  }
  return g.slice_scatter(base, g.slice(part, s.axis, rows, 1, 1), s.axis, s.start + rows * Extent(s.step));
}
/// `base` with `part` in place of its windows of `size` elements, which do not overlap.
constexpr int with_windows(Graph& g, int base, int part, const WindowAttribute& w, std::int64_t size) {
  const int last = g[part].shape.rank - 1;
  for (std::int64_t k = 0; k < size; ++k) {
    Shape one;
    for (int d = 0; d < last; ++d) one.push_back(g[part].shape[d]);
    base = with_slice(g, base, g.reshape(g.slice(part, last, k, 1, 1), one), {w.axis, k * w.dilation, w.step});
  }
  return base;
}
/// `base` with `part` in place of its elements that node `n` of `views` shows.
constexpr int with_shown(Graph& g, const Graph& views, const Node& n, int base, int part) {
  switch (n.op) {
    case Op::slice: return with_slice(g, base, part, views.attributes<SliceAttribute>(n));
    case Op::window: return with_windows(g, base, part, views.attributes<WindowAttribute>(n), n.shape.last().code);
    case Op::permute: {
      const auto axes = views.attributes<PermuteAttribute>(n);
      int back[max_rank] = {};
      for (int k = 0; k < n.shape.rank; ++k) back[axes.axis[k]] = k;
      return g.permute(part, back);
    }
    case Op::bitcast: return g.elementwise(Op::bitcast, {part}, 0, g[base].dtype);
    case Op::detach: return part;
    default: return g.reshape(part, g[base].shape);  // a reshape, or an expansion that repeats nothing
  }
}

}  // namespace detail

/// `base` with `part` in place of its elements that the output of `views` shows, none of them twice. `views`: a chain of views of one input.
constexpr int with_part(Graph& g, const Graph& views, int base, int part) {
  Vec<int> view, of;  // from the input on: nodes of `views`, and the node of g that each is a view of
  for (int i = views.outputs[0]; i != views.inputs[0]; i = views[i].operand[0]) view.push_back(i);
  for (int k = view.size() - 1; k >= 0; --k) of.push_back(of.empty() ? base : again(g, views, views[view[k + 1]], {&of.back(), 1}));
  for (int k = 0; k < view.size(); ++k) part = detail::with_shown(g, views, views[view[k]], of[view.size() - 1 - k], part);
  return part;
}

}  // namespace tt
