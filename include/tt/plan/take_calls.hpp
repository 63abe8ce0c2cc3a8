// Replaces calls of index_select and gather whose results only fused programs read by a call that checks the indices and a `take`, a load at these
// indices: the elements are not written out first, and an embedding is one kernel with the ops that follow. The check comes first, so that no
// element out of range is read.
//   before   %3 = index_select(%0, %1) dim 0: f32 (n, 64)
//   then     %3 = _check_index_select(%1): i64 (n);   %4 = prims.reshape(%3): i64 (n, 1);   %5 = prims.take(%0, %4) axis 0: f32 (n, 64)
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

class CallsToTakes {
 public:
  explicit CallsToTakes(const Graph& g) : g_(g), live_(post_order(g, g.outputs)), users_(g.size(), {}), map_(g.size(), -1), r_(Graph::like(g)) {
    for (int i : live_)
      for (int o : g.operands(i)) users_[o].push_back(i);
    for (int o : g.outputs) users_[o].push_back(-1);
  }
  Graph rewritten() {
    for (int i : g_.inputs) map_[i] = r_.input_like(g_, i);
    for (int i : live_)
      if (map_[i] < 0) map_[i] = record(i);
    r_.take_outputs(g_, map_);
    return static_cast<Graph&&>(r_);
  }

 private:
  const Graph& g_;
  const Vec<int> live_;
  Vec<Vec<int>> users_;  ///< -1: an output
  Vec<int> map_;
  Graph r_;

  int record(int i) {
    const Node& n = g_[i];
    r_.where = n.where;
    if (takes(n) && is_fused(i)) return take(n, Shape{n.shape[axis_of(n)]});
    if (n.op == Op::reshape && takes(g_[n.operand[0]]) && users_[n.operand[0]].size() == 1 && is_fused(i))  // an embedding's
      if (Shape axes; splits_places(g_[n.operand[0]], n.shape, axes)) {
        r_.where = g_[n.operand[0]].where;
        return take(g_[n.operand[0]], axes);
      }
    return r_.intern(n, g_, mapped(g_.operands(n), map_));
  }
  /// Is this a call that may be a load: an index for each whole slice (index_select), or for each element of the source's other axes (gather)?
  bool takes(const Node& n) const {
    if (!is_external(n) || !n.def->check_places || !n.def->check_places() || is_repeated_number(g_, n.operand[0])) return false;
    const Shape &from = g_[n.operand[0]].shape, &places = g_[n.operand[1]].shape;
    if (!is_integral(g_[n.operand[1]].dtype) || from.rank == 0 || n.shape.rank != from.rank) return false;
    if (places.rank < 2) return n.shape[axis_of(n)] == places.size();
    if (places != n.shape) return false;
    for (int k = 0; k < from.rank; ++k) {  // gather, perhaps of a part; symbolic sizes are left to its kernel, which compares them
      const bool fits = places[k].is_constant() && from[k].is_constant() && places[k].code <= from[k].code;
      if (k != axis_of(n) && places[k] != from[k] && !fits) return false;
    }
    return true;
  }
  int axis_of(const Node& n) const { return normalize_axis(static_cast<int>(g_.attribute_words(n)[0]), n.shape.rank); }
  /// Do only fused programs read a value, and none of them from memory?
  bool is_fused(int i) const {
    for (int u : users_[i]) {
      if (u < 0) return false;
      const Node& n = g_[u];
      const bool reads = (is_elementwise(n.op) && !is_external(n)) || is_reduction(n.op) || (n.op == Op::slice_scatter && n.operand[0] != i);
      if (n.op == Op::detach ? !is_fused(u) : !reads) return false;
    }
    return true;
  }
  /// Does `to` differ from the shape of n only in that the axis of a vector of indices is split? `axes`: into these.
  bool splits_places(const Node& n, const Shape& to, Shape& axes) const {
    const int axis = axis_of(n), more = to.rank - n.shape.rank;
    if (more < 0 || g_[n.operand[1]].shape.rank > 1) return false;
    for (int k = 0; k < to.rank; ++k) {
      if (k >= axis && k <= axis + more) axes.push_back(to[k]);
      else if (to[k] != n.shape[k < axis ? k : k - more]) return false;
    }
    return axes.size() == n.shape[axis];
  }
  /// A call as a load; a vector of indices is reshaped to `axes`.
  int take(const Node& n, const Shape& axes) {
    const Shape from = g_[n.operand[0]].shape, places = g_[n.operand[1]].shape;
    const int axis = axis_of(n);
    int table = map_[n.operand[0]];
    if (places.rank > 1) {
      for (int k = 0; k < from.rank; ++k)
        if (k != axis && places[k] != from[k]) table = r_.slice(table, k, 0, places[k], 1);
      return r_.take(table, checked_places(n, places), axis);
    }
    Shape beside, along;  // shapes of the table and of the indices, of equal rank
    for (int k = 0; k < axis; ++k) beside.push_back(from[k]), along.push_back(1);
    for (int k = 0; k < axes.rank; ++k) beside.push_back(1), along.push_back(axes[k]);
    beside.set(axis + axes.rank - 1, from[axis]);
    for (int k = axis + 1; k < from.rank; ++k) beside.push_back(from[k]), along.push_back(1);
    return r_.take(r_.reshape(table, beside), checked_places(n, along), axis + axes.rank - 1);
  }
  /// The indices of a call in this shape, after their check.
  int checked_places(const Node& n, const Shape& shape) {
    const Shape& from = g_[n.operand[0]].shape;
    Vec<std::int64_t> words{axis_of(n), g_.attribute_words(n)[1], from.rank};
    for (int k = 0; k < from.rank; ++k) words.push_back(from[k].code);
    int given = map_[n.operand[1]];
    while (r_[given].op == Op::reshape) given = r_[given].operand[0];
    return r_.reshape(call_named(r_, *n.def->check_places(), {given}, words)[0], shape);
  }
};

}  // namespace detail

/// Has a function calls that may become loads?
inline bool has_takes(const Graph& g) {
  for (const Node& n : g.nodes)
    if (is_external(n) && n.def->check_places) return true;
  return false;
}
inline Graph with_takes(const Graph& g) { return detail::CallsToTakes(g).rewritten(); }

}  // namespace tt
