// Elementwise values read only through one permutation are computed in that order when their operands are stored so: a result in the memory order
// of its transposed or channels-last operands is then one kernel, which goes over memory in order, without a copy before or after.
//   permute(relu(permute(x, to NCHW)), to NHWC)   becomes   relu(x)
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

class PermutedValues {
 public:
  constexpr explicit PermutedValues(const Graph& graph) : g(graph), read_in(graph.size(), unread), counted(graph.size(), 0) {
    for (int o : g.outputs) read_in[o] = as_it_is;
    for (int i = g.size() - 1; i >= 0; --i)  // readers come first
      if (g[i].op == Op::permute) note(g[i].operand[0], number_of(g.attributes<PermuteAttribute>(g[i])));
      else
        for (int o : g.operands(i)) note(o, is_wanted(i) && g[o].shape == g[i].shape ? read_in[i] : as_it_is);
    for (int i = 0; i < g.size() && orders.size() > 0; ++i)
      if (is_wanted(i))
        for (int o : g.operands(i))
          if (!is_made_for(o, i)) count(o, g[i].shape, orders[read_in[i]]);
    for (const Order& o : orders) any = any || o.is_better();
  }
  /// Is there a value that is better computed in another order?
  constexpr bool exist() const { return any; }
  constexpr Graph in_their_order() const {
    Graph r = Graph::like(g);
    Vec<int> map(g.size(), -1);  // of values computed in their readers' order: that node
    for (int i : g.inputs) map[i] = r.input_like(g, i);
    for (int i = 0; i < g.size(); ++i) {
      const Node& n = g[i];
      r.where = n.where;
      if (is_moved(i)) {
        Vec<int> operands;
        for (int o : g.operands(i)) operands.push_back(is_made_for(o, i) ? map[o] : permuted(r, o, map, n.shape.rank, orders[read_in[i]]));
        Node copy = n;
        copy.shape = orders[read_in[i]].of(n.shape);
        map[i] = r.intern(copy, g, operands);
      } else if (map[i] < 0) {
        map[i] = n.op == Op::permute && is_moved(n.operand[0]) ? map[n.operand[0]] : again(r, g, n, mapped(g.operands(n), map));
      }
    }
    r.take_outputs(g, map);
    return canonical(r);
  }

 private:
  static constexpr int unread = -1, as_it_is = -2;
  struct Order {
    PermuteAttribute axes{};
    int gained = 0, lost = 0;  ///< operands that are stored in this order, and that are not
    constexpr bool is_better() const { return gained > 0 && lost <= gained; }
    constexpr Shape of(const Shape& s) const {
      Shape to;
      for (int k = 0; k < axes.rank; ++k) to.push_back(s[axes.axis[k]]);
      return to;
    }
  };
  const Graph& g;
  Vec<int> read_in;  ///< of each node: the index in `orders` of the one order in which all of its readers want it
  Vec<Order> orders{};
  Vec<char> counted;
  bool any = false;

  constexpr int number_of(const PermuteAttribute& a) {
    for (int number = 0; number < orders.size(); ++number) {
      const PermuteAttribute& b = orders[number].axes;
      bool same = a.rank == b.rank;
      for (int k = 0; k < a.rank && same; ++k) same = a.axis[k] == b.axis[k];
      if (same) return number;
    }
    orders.push_back({a});
    return orders.size() - 1;
  }
  constexpr void note(int node, int order) { read_in[node] = read_in[node] == unread || read_in[node] == order ? order : as_it_is; }
  /// An elementwise value that all of its readers want in one other order?
  constexpr bool is_wanted(int i) const { return read_in[i] >= 0 && is_computed(g[i]); }
  static constexpr bool is_computed(const Node& n) { return is_elementwise(n.op) && n.op != Op::broadcast && n.op != Op::copy && !is_step(n) && !is_named(n); }
  constexpr bool is_moved(int i) const { return is_wanted(i) && orders[read_in[i]].is_better(); }
  /// Is operand `o` of node `i` computed in the order of `i`?
  constexpr bool is_made_for(int o, int i) const { return is_wanted(o) && read_in[o] == read_in[i] && g[o].shape == g[i].shape; }

  /// Counts whether operand `o` is stored in this order.
  constexpr void count(int o, const Shape& shape, Order& order) {
    const Node& n = g[o];
    if (counted[o] || n.shape != shape || n.op == Op::broadcast || n.op == Op::iota) return;
    counted[o] = 1;
    bool lies_so = true;
    if (n.op == Op::permute) {
      for (int k = 0; k < shape.rank; ++k) lies_so = lies_so && g.permuted_axis(n, order.axes.axis[k]) == k;
    } else if (g.is_strided(o)) {
      lies_so = g.input_strides[static_cast<int>(n.attribute)][order.axes.axis[shape.rank - 1]] == Extent(1);
    } else {
      lies_so = false;
    }
    ++(lies_so ? order.gained : order.lost);
  }
  /// Operand `o` in this order. Small values, which are broadcast there, are computed again, `depth` nodes far.
  constexpr int permuted(Graph& r, int o, const Vec<int>& map, int rank, const Order& order, int depth = 4) const {
    const Node& n = g[o];
    if (n.shape.rank == 0) return map[o];
    Shape wide;
    for (int k = n.shape.rank; k < rank; ++k) wide.push_back(1);
    for (int k = 0; k < n.shape.rank; ++k) wide.push_back(n.shape[k]);
    if (n.op == Op::broadcast) return r.broadcast_to(permuted(r, n.operand[0], map, rank, order, depth), order.of(wide));
    if (n.shape.rank < rank && is_computed(n) && depth > 0) {
      Vec<int> operands;
      for (int k : g.operands(o)) operands.push_back(permuted(r, k, map, rank, order, depth - 1));
      Node copy = n;
      copy.shape = order.of(wide);
      return r.intern(copy, g, operands);
    }
    if (n.op == Op::iota) {
      int axis = 0;
      while (order.axes.axis[axis] != rank - n.shape.rank + n.attribute) ++axis;
      return r.iota(n.dtype, order.of(wide), axis);
    }
    return r.permute(r.reshape(map[o], wide), order.axes.axis);
  }
};

}  // namespace detail
}  // namespace tt
