// Sums along an axis of all zeros but one chosen element become a load of that element: a loss of labels reads one element of each row,
// not the whole row.
//   sum(where(iota == label, x, 0))   becomes   where(label in range, take(x, label), 0)
// Only if x is in memory: all elements of a computed x are computed anyhow.
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

class ChosenElements {
 public:
  constexpr explicit ChosenElements(const Graph& graph) : g_(graph) {
    for (int i = 0; i < g_.size() && !any_; ++i) any_ = choice_of(g_[i]).axis >= 0;
  }
  constexpr bool exist() const { return any_; }
  constexpr Graph taken() const {
    Graph r = Graph::like(g_);
    Vec<int> map(g_.size(), -1);
    for (int i : g_.inputs) map[i] = r.input_like(g_, i);
    for (int i = 0; i < g_.size(); ++i) {
      if (map[i] >= 0) continue;
      const Node& n = g_[i];
      r.where = n.where;
      const Choice c = choice_of(n);
      map[i] = c.axis >= 0 ? chosen(r, map, c, n.dtype) : again(r, g_, n, mapped(g_.operands(n), map));
    }
    r.take_outputs(g_, map);
    return canonical(r);
  }

 private:
  struct Choice {
    int axis = -1;          ///< -1: the node is no such sum
    int of = 0, place = 0;  ///< the nodes of the source and of the index
  };
  const Graph& g_;
  bool any_ = false;

  constexpr Choice choice_of(const Node& sum) const {
    if (sum.op != Op::sum || !std::has_single_bit(static_cast<std::uint64_t>(sum.attribute))) return {};
    const int axis = std::countr_zero(static_cast<std::uint64_t>(sum.attribute));
    const Node& w = g_[sum.operand[0]];
    if (w.shape.rank <= axis || w.shape[axis] == Extent(0)) return {};  // there is no element to load
    if (w.op != Op::where || w.dtype != sum.dtype || is_named(w) || g_[w.operand[0]].op != Op::eq) return {};
    const int of = w.operand[1];
    if (!is_zero(w.operand[2]) || !lies_in_memory(of) || g_[of].shape.rank != w.shape.rank || g_[of].shape[axis] != w.shape[axis]) return {};
    const Node& equal = g_[w.operand[0]];
    for (int side = 0; side < 2; ++side) {
      const Node &i = g_[equal.operand[side]], &place = g_[equal.operand[1 - side]];
      if (i.op != Op::iota || i.dtype != DType::i64 || i.shape.rank != w.shape.rank || i.attribute != axis || i.shape[axis] != w.shape[axis]) continue;
      if (place.dtype != DType::i64 || place.shape.rank != w.shape.rank || place.shape[axis] != Extent(1)) continue;
      bool fits = true;  // the loaded elements have the shape of the sum
      for (int k = 0; k < w.shape.rank; ++k) fits = fits && (k == axis || place.shape[k] == w.shape[k]) && (k == axis || g_[of].shape[k] == w.shape[k] || g_[of].shape[k] == Extent(1));
      if (fits) return {axis, of, equal.operand[1 - side]};
    }
    return {};
  }
  constexpr bool is_zero(int i) const { return g_[i].op == Op::constant && g_[i].bits == 0; }
  constexpr bool lies_in_memory(int i) const {
    while (g_[i].op == Op::reshape) i = g_[i].operand[0];
    return g_[i].op == Op::input;
  }
  /// An index out of range loads the first or last element, which `where` replaces by 0. Zero is added as a sum of zeros and -0 is 0.
  constexpr int chosen(Graph& r, const Vec<int>& map, const Choice& c, DType d) const {
    const int place = map[c.place], first = r.constant_integer(DType::i64, 0), end = r.extent(DType::i64, g_[c.of].shape[c.axis]);
    const int last = r.elementwise(Op::sub, {end, r.constant_integer(DType::i64, 1)});
    const int inside = r.elementwise(Op::logical_and, {r.elementwise(Op::le, {first, place}), r.elementwise(Op::lt, {place, end})});
    const int there = r.elementwise(Op::min, {r.elementwise(Op::max, {place, first}), last});
    const int zero = r.constant(d, 0);
    return r.elementwise(Op::add, {r.where_(inside, r.take(map[c.of], there, c.axis), zero), zero});
  }
};

}  // namespace detail
}  // namespace tt
