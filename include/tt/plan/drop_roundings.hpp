// Fast numerics: between ops that are computed in f32, values are not rounded to 16-bit floats. Values that a product or a call reads, or that the
// function returns, are rounded, since they are stored; their other readers then read the rounded value too, so that none is stored twice.
//   before   %2 = cast(%1): bf16;   %3 = cast(%2): f32;   %4 = exp(%3)
//   then     %4 = exp(%1)
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {

struct WithoutRoundings {
  Graph graph;
  int dropped = 0;  ///< values that are not rounded any more
};

namespace detail {

class RoundingDropper {
 public:
  explicit RoundingDropper(const Graph& g) : g_(g), live_(post_order(g, g.outputs)), stored_(g.size(), 0) {
    for (int o : g.outputs) stored_[o] = 1;
    for (int k = live_.size() - 1; k >= 0; --k) {  // readers first
      const int i = live_[k];
      if (is_rounded(i)) stored_[g[i].operand[0]] |= stored_[i];
      else
        for (int o : g.operands(i))
          if (is_narrow_float(g[o].dtype) || !(is_computed(g[i]) || (is_view(g[i]) && !stored_[i]))) stored_[o] = 1;
    }
  }
  WithoutRoundings without() const {
    WithoutRoundings r{Graph::like(g_)};
    Vec<int> map(g_.size(), -1);
    for (int i : g_.inputs) map[i] = r.graph.input_like(g_, i);
    for (int i : live_) {
      if (map[i] >= 0) continue;
      const Node& n = g_[i];
      r.graph.where = n.where;
      if (is_rounded(i) && !stored_[n.operand[0]]) {
        map[i] = map[g_[n.operand[0]].operand[0]];
        ++r.dropped;
      } else map[i] = r.graph.intern(n, g_, mapped(g_.operands(n), map));
    }
    r.graph.take_outputs(g_, map);
    return r;
  }

 private:
  const Graph& g_;
  const Vec<int> live_;
  Vec<char> stored_;  ///< in memory, or shown by a view that a product or a call reads or the function returns

  /// Is this a narrow float, widened to the dtype it was rounded from?
  bool is_rounded(int i) const {
    if (g_[i].op != Op::cast) return false;
    const Node& narrow = g_[g_[i].operand[0]];
    return narrow.op == Op::cast && is_narrow_float(narrow.dtype) && g_[narrow.operand[0]].dtype == g_[i].dtype;
  }
  static bool is_computed(const Node& n) { return (is_elementwise(n.op) && !is_named(n) && n.op != Op::bitcast) || is_reduction(n.op); }
};

}  // namespace detail

inline WithoutRoundings drop_roundings(const Graph& g) { return detail::RoundingDropper(g).without(); }

}  // namespace tt
