// The last rewriting before scheduling. All exact, all only about shapes:
//   - an elementwise op on squeezed values runs in the unsqueezed shape, so that what was reduced
//     from a row stays with its row;
//   - an elementwise op that only feeds a flattened reduction is flattened with it;
//   - `copy` where a value must lie in memory of its own: outputs that are inputs, views or given
//     twice, and reshapes of views whose memory has no such strides.
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

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

struct Normalizer {
  const Graph& g;
  Graph r;
  Vec<int> map, uses;

  constexpr explicit Normalizer(const Graph& from)
      : g(from), map(from.size(), -1), uses(from.size(), 0) {
    r.failure = g.failure;
    for (const Node& n : g.nodes)
      for (int o : n.operand)
        if (o >= 0) ++uses[o];
    for (int o : g.outputs) ++uses[o];
    for (int i : g.inputs) map[i] = r.input_like(g, i);
    for (int i = 0; i < g.size(); ++i)
      if (map[i] < 0) map[i] = rewrite(i);
    outputs();
  }

  constexpr int rewrite(int i) {
    const Node& n = g[i];
    OperandIds o;
    for (int k = 0; k < max_operands; ++k)
      if (n.operand[k] >= 0) o.id[k] = map[n.operand[k]];
    r.where = n.where;
    if (is_view(n.op) || n.op == Op::matmul)  // read from memory, which other leaves do not have
      for (int k = 0; k < 2; ++k)
        if (o[k] >= 0 && is_leaf(r[o[k]].op) && r[o[k]].op != Op::input) o.id[k] = copy_of(o[k]);
    if (n.op == Op::slice && shows_a_slice(o[0]))
      o.id[0] = copy_of(o[0]);  // two offsets in multiples of different symbols
    if (is_reduction(n.op) && g[n.operand[0]].op == Op::reshape) {
      const int source = g[n.operand[0]].operand[0];
      if (!same_but_ones(g[source].shape, g[n.operand[0]].shape))
        o.id[0] = flatten(source, g[n.operand[0]].shape);
    }
    if (n.op == Op::reshape) o.id[0] = with_strides(o[0], n.shape);
    if (is_elementwise(n.op) && n.op != Op::broadcast)
      for (int k = 0; k < max_operands; ++k)
        if (o[k] >= 0 && r[o[k]].op == Op::reshape && r[o[k]].shape == n.shape &&
            same_but_ones(r[r[o[k]].operand[0]].shape, n.shape) &&
            !is_leaf(r[r[o[k]].operand[0]].op))
          if (const int u = unsqueezed(n, o, r[r[o[k]].operand[0]].shape); u >= 0) return u;
    Node copy = n;
    for (int k = 0; k < max_operands; ++k) copy.operand[k] = o[k];
    if (n.op == Op::reshape) return r.reshape(o[0], n.shape);
    return r.intern(copy);
  }

  constexpr int unsqueezed(const Node& n, OperandIds o, Shape shape) {  // copies: nodes may move
    Node copy = n;
    for (int k = 0; k < max_operands; ++k) {
      if (o[k] < 0) continue;
      const Shape& s = r[o[k]].shape;
      if (r[o[k]].op == Op::iota) return -1;
      if (r[o[k]].op == Op::reshape && r[r[o[k]].operand[0]].shape == shape) {
        copy.operand[k] = r[o[k]].operand[0];
        continue;
      }
      if (same_grid(s, shape)) {  // broadcasts as it is
        copy.operand[k] = o[k];
        continue;
      }
      if (s == n.shape) copy.operand[k] = r.reshape(o[k], shape);
      else if (s.size() == Extent(1)) copy.operand[k] = r.reshape(o[k], {});
      else return -1;
    }
    copy.shape = shape;
    return r.reshape(r.intern(copy), n.shape);
  }

  /// Node `i` of the old graph in another shape of the same size.
  constexpr int flatten(int i, const Shape& shape) {
    const Node& n = g[i];
    bool whole = is_elementwise(n.op) && n.op != Op::broadcast && uses[i] == 1;
    for (int o : n.operand)
      if (o >= 0 && !(g[o].shape == n.shape) && g[o].shape.rank != 0) whole = false;
    if (!whole) return r.reshape(with_strides(map[i], shape), shape);
    Node copy = n;
    for (int k = 0; k < max_operands; ++k) {
      const int o = n.operand[k];
      if (o >= 0) copy.operand[k] = g[o].shape.rank == 0 ? map[o] : flatten(o, shape);
    }
    copy.shape = shape;
    return r.intern(copy);
  }

  /// Something whose memory can be read in the new shape: the node itself, or a copy of it.
  constexpr int with_strides(int id, const Shape& shape) {
    if (same_but_ones(r[id].shape, shape)) return id;
    int i = id;
    while (r[i].op == Op::reshape) i = r[i].operand[0];
    if (r[i].op == Op::permute || r[i].op == Op::slice || r[i].op == Op::broadcast || r.is_strided(i))
      return copy_of(id);
    return id;
  }
  constexpr bool shows_a_slice(int id) const {
    bool constant = r[id].shape.is_constant(), slice = false;
    while (is_view(r[id].op)) {
      if (r[id].op == Op::slice) slice = true;
      id = r[id].operand[0];
      constant = constant && r[id].shape.is_constant();
    }
    return slice && !constant;
  }
  constexpr int copy_of(int id) {
    Node n = r[id];
    return r.intern({.op = Op::copy, .dtype = n.dtype, .operand = {id, -1, -1, -1},
                     .attribute = 0, .shape = n.shape, .where = n.where});
  }

  constexpr void outputs() {
    Vec<char> taken(r.size() + g.outputs.size() * 2 + 1, 0);
    for (int k = 0; k < g.outputs.size(); ++k) {
      int id = map[g.outputs[k]], i = id;
      while (r[i].op == Op::reshape) i = r[i].operand[0];
      const bool own = !is_leaf(r[i].op) && !is_view(r[i].op) && r[i].op != Op::broadcast;
      if (!own || taken[i]) {
        const int number = k + 1;  // tells two copies of one value apart
        Node n = r[id];
        i = r.intern({.op = Op::copy, .dtype = n.dtype, .operand = {id, -1, -1, -1},
                      .attribute = number, .shape = n.shape, .where = n.where});
        id = i;
      }
      if (i < taken.size()) taken[i] = 1;
      r.output(id, g.donated[k]);
    }
  }
};

}  // namespace detail

constexpr Graph normalize(const Graph& g) { return canonical(detail::Normalizer(g).r); }

}  // namespace tt
