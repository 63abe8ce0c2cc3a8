// The last rewriting before scheduling. All exact, all only about shapes:
//   - an elementwise op on squeezed values runs in the unsqueezed shape, so that a value reduced
//     from a row stays in its row's kernel;
//   - elementwise ops that feed a flattened reduction, or have the same shape, are flattened with it;
//     operands that are broadcast there are read in place, through a reshape of the broadcast;
//   - elementwise ops on a reshaped product run in the product's shape, in its epilogue, and their other operands, as the scale
//     and shift of a batch norm, are computed before the product;
//   - `copy` where a value needs memory of its own: outputs that are inputs, views or returned
//     twice, and reshapes of views whose memory has no such strides;
//   - `pad` becomes a slice_scatter into a filled value; a slice_scatter takes over the memory of its base if other
//     nodes read that only beside the parts, and else copies it;
//   - the source of a `take` becomes a view, as memory behind views is stored;
//   - `copy` also for transposed operands, if the plan's executor wants it (Transposed): a kernel and a matrix of the
//     arena, and the readers, products by many columns among them, read whole cache lines;
//   - but a row reduction of a transposed operand with no other reader becomes a column reduction of the untransposed one, in row order,
//     and a transposed elementwise result of such operands and vectors is computed untransposed, and the transpose dropped.
#pragma once
#include "tt/plan/chosen_elements.hpp"
#include "tt/plan/epilogue_order.hpp"
#include "tt/plan/flat_nodes.hpp"
#include "tt/plan/join_parts.hpp"
#include "tt/plan/permuted_values.hpp"
#include "tt/plan/product_windows.hpp"
#include "tt/plan/short_reductions.hpp"
#include "tt/plan/transposed_nodes.hpp"

namespace tt {
namespace detail {

struct Normalizer {
  const Graph& g;
  const Transposed transposed;
  const bool bf16_pairs;  ///< products of bf16 read both sides as they are stored, without conversion
  Graph r = Graph::like(g);
  const FlatNodes flat;
  const Vec<char> as_windows;        ///< a reshape that a product reads in place
  const TransposedNodes nodes_transposed;
  const Vec<char> part_replaced;     ///< a value in whose own memory a slice_scatter replaces a part: see parts_replaced
  Vec<int> map;
  Vec<int> flat_map;  ///< as map, but the flattened node; -1: the node does not run flattened
  Vec<char> behind_product;  ///< of `r`: a product, or a node computed from one in its shape
  Vec<char> epilogue; ///< of `r`: a product, or an op on a reshaped product, computed in the product's shape

  constexpr explicit Normalizer(const Graph& from, Transposed t = Transposed::materialized, bool of_bf16_pairs = false)
      : g(from), transposed(t), bf16_pairs(of_bf16_pairs), flat(from), as_windows(windows_of_products(from)), nodes_transposed(from, flat), part_replaced(parts_replaced(from)),
        map(from.size(), -1), flat_map(from.size(), -1) {
    for (int i : g.inputs) map[i] = r.input_like(g, i);
    for (int i = 0; i < g.size(); ++i)
      if (map[i] < 0 && nodes_transposed.how[i] != TransposedNodes::of_operand) map[i] = rewrite(i);
    outputs();
  }

  // ---- parts replaced
  constexpr int replace_part(int i) {
    const Node& n = g[i];
    Node result = n;
    result.op = Op::slice_scatter;
    result.bits = 0;
    result.identity = part_replaced[i] ? i + 1 : 0;  // no other node may be merged with this one
    int operands[2];
    if (n.op == Op::pad) {
      operands[1] = map[n.operand[0]];
      operands[0] = copy_of(r.broadcast_to(r.constant_bits(n.dtype, n.bits), n.shape), 0, i + 1);
    } else {
      const int base = n.operand[0];
      operands[1] = map[n.operand[1]];
      operands[0] = part_replaced[base] ? map[base] : copy_of(map[base], 0, i + 1);
    }
    return r.intern(result, g, {operands, 2});
  }

  // ---- transposed values
  constexpr static Shape exchanged(const Shape& s) {
    Shape to;
    for (int k = 0; k < s.rank - 2; ++k) to.push_back(s[k]);
    to.push_back(s.from_right(0));
    to.push_back(s.from_right(1));
    return to;
  }
  /// Node i of the old graph with its last two axes exchanged.
  constexpr int exchange(int i) {
    const Node& n = g[i];
    if (n.shape.rank == 0) return map[i];
    if (TransposedNodes::is_vector(n.shape)) return r.reshape(with_strides(map[i], exchanged(n.shape)), exchanged(n.shape));
    if (n.op == Op::permute) return map[n.operand[0]];
    if (n.op == Op::input) return r.transpose(map[i], n.shape.rank - 2, n.shape.rank - 1);
    Node copy = n;
    copy.shape = exchanged(n.shape);
    Vec<int> o = copied(g.operands(n));
    for (int& id : o) id = exchange(id);
    return r.intern(copy, g, o);
  }
  constexpr int with_transposed_operand(const Node& n) {
    const int operand = exchange(n.operand[0]);
    if (n.op == Op::permute) return operand;
    Node copy = n;
    copy.operand[0] = operand;
    copy.attribute = 1 << (n.shape.rank - 2);
    copy.bits |= in_row_order;
    copy.shape = exchanged(n.shape);
    return r.reshape(r.intern(copy), n.shape);
  }

  constexpr int rewrite(int i) {
    const Node& n = g[i];
    r.where = n.where;
    if (n.op == Op::take) return take_from_memory(n);
    if (nodes_transposed.how[i] == TransposedNodes::by_itself) return with_transposed_operand(n);
    if (n.op == Op::pad || n.op == Op::slice_scatter) return replace_part(i);
    if (flat.group_of[i] >= 0) return flattened(i);
    Vec<int> o = mapped(g.operands(n), map);
    if (is_view(n.op) || n.op == Op::matmul) read_from_memory(n, o);
    if (const int source = flat.flattened_by(n); source >= 0 && flat.group_of[source] >= 0 && r[flat_map[source]].shape == g[n.operand[0]].shape)
      o[0] = flat_map[source];
    if (n.op == Op::reshape) return reshaped(n, o[0], as_windows[i]);
    if (n.op == Op::matmul) return product(n, o);
    if (is_elementwise(n.op) && n.op != Op::broadcast) return computed(n, o);
    if (!is_reduction(n.op)) return r.intern(n, g, o);
    if (transposed == Transposed::materialized) o[0] = along_rows(o[0]);
    Node reduction = n;
    reduction.bits &= in_row_order;  // derivatives exist already: reductions that differ only in the flags for gradients are one
    return r.intern(reduction, g, o);
  }
  constexpr void read_from_memory(const Node& n, Vec<int>& o) {
    for (int& id : o)  // leaves other than inputs have no memory
      if (is_leaf(r[id].op) && r[id].op != Op::input) id = copy_of(id);
    if (std::is_constant_evaluated() && n.op == Op::slice && shows_a_slice(o[0]))
      o[0] = copy_of(o[0]);  // two offsets in multiples of different symbols: a constant expression has no Extent for their sum
  }
  constexpr int reshaped(const Node& n, int from, bool shows_windows) {
    if (!shows_windows || n.shape == r[from].shape) return r.reshape(with_strides(from, n.shape), n.shape);
    Node view = n;
    view.operand[0] = from;
    view.attribute = read_as_windows;
    return r.intern(view);
  }
  static constexpr int far_terms = 256;  ///< elements of a column, a cache line each, that do not stay in the L1 cache
  constexpr int product(const Node& n, Vec<int>& o) {
    if (!std::is_constant_evaluated() && transposed == Transposed::materialized) {
      take_as_stored(o);
      if (const Extent terms = r[o[0]].shape.last(); is_long(n.shape.last()) && (!terms.is_constant() || terms.code >= far_terms) && r[o[0]].dtype == n.dtype)
        o[0] = along_rows(o[0]);  // each row is read once for every few columns
    }
    const int id = r.intern(n, g, o);
    mark(epilogue, id);
    if (!std::is_constant_evaluated()) mark(behind_product, id);
    return id;
  }
  /// An elementwise op, in the shape in which its operands are computed.
  constexpr int computed(const Node& n, Vec<int>& o) {
    if (transposed == Transposed::materialized && n.op != Op::copy)
      for (int& id : o) id = along_rows(id);
    for (int& id : o) id = beside_its_row(id, n.shape);
    for (int k : o)
      if (const int shown = r[k].operand[0]; r[k].op == Op::reshape && r[k].shape == n.shape && !is_leaf(r[shown].op) && same_but_ones(r[shown].shape, n.shape))
        if (const int u = unsqueezed(n, o, r[shown].shape); u >= 0) return u;
    for (int k : o)
      if (const int shown = r[k].operand[0]; r[k].op == Op::reshape && r[k].shape == n.shape && is_epilogue(shown))
        if (const int e = beside_product(n, o, r[shown].shape); e >= 0) return e;
    if (std::is_constant_evaluated() || !follows_product(n, o)) return r.intern(n, g, o);  // every step counts in constant evaluation
    for (int& id : o) id = shown_before(id, n.shape);
    const int id = r.intern(n, g, o);
    mark(behind_product, id);
    return id;
  }
  /// A `take`, whose source becomes a view: memory behind views is stored.
  constexpr int take_from_memory(const Node& n) {
    int from = map[n.operand[0]];
    if (is_leaf(r[from].op) && r[from].op != Op::input) from = copy_of(from);
    if (!is_view(r[from])) from = r.intern({.op = Op::reshape, .dtype = n.dtype, .operand = {from, -1, -1, -1}, .shape = r[from].shape});
    return r.intern(n, g, Vec<int>{from, map[n.operand[1]]});
  }
  /// The tiles of a product convert a right side that is stored in a narrow dtype, so its cast goes; both casts go where instructions add pairs of products.
  constexpr void take_as_stored(Vec<int>& o) {
    const int right = as_stored(o[1]), left = as_stored(o[0]);
    const auto is_pair = [&](int id) { return r[id].dtype == DType::bf16 ? bf16_pairs : is_narrow(r[id].dtype) && is_integral(r[id].dtype); };
    if (is_pair(left) && is_pair(right)) o[0] = left;
    o[1] = right;
  }
  /// The value that is stored in a narrow dtype, in place of its cast to the compute dtype.
  constexpr int as_stored(int id) {
    const Node n = r[id];
    if (n.op == Op::cast) {
      int from = n.operand[0];
      if (r[from].op == Op::copy && r[from].attribute == materializing) from = r[from].operand[0];  // a copy for the cast only
      const DType d = r[from].dtype;
      return is_narrow(d) && compute_dtype(d) == n.dtype && (r[from].op == Op::input || !is_leaf(r[from].op)) ? from : id;
    }
    if (!(n.op == Op::permute || n.op == Op::slice || (n.op == Op::reshape && n.attribute == 0))) return id;
    int from = as_stored(n.operand[0]);
    if (from == n.operand[0]) return id;
    if (n.op == Op::reshape) from = with_strides(from, n.shape);  // the cast may have made a strided value contiguous
    Node view = n;
    view.dtype = r[from].dtype;
    return r.intern(view, r, Vec<int>{from});
  }
  constexpr bool follows_product(const Node& n, const Vec<int>& operands) const {
    for (int o : operands)
      if (o < behind_product.size() && behind_product[o] && r[o].shape == n.shape) return true;
    return false;
  }
  /// A value that is broadcast along some axes beside a product, as a view: memory behind views is stored before their readers run.
  constexpr int shown_before(int id, const Shape& shape) {
    const Node& n = r[id];
    if (!is_elementwise(n.op) || n.op == Op::copy || n.op == Op::broadcast || n.shape.rank == 0 || n.shape.rank >= shape.rank) return id;
    int nodes = 0;
    if (needs_product(r, id, nodes)) return id;
    Shape to;
    for (int k = n.shape.rank; k < shape.rank; ++k) to.push_back(1);
    for (int k = 0; k < n.shape.rank; ++k) to.push_back(n.shape[k]);
    return r.reshape(id, to);
  }
  constexpr bool is_epilogue(int id) const { return id < epilogue.size() && epilogue[id]; }
  constexpr static void mark(Vec<char>& nodes, int id) {
    while (nodes.size() <= id) nodes.push_back(0);
    nodes[id] = 1;
  }

  /// An op on a product that was reshaped (the rows of several matrices, images): in the product's shape, so that the op is
  /// computed in the product's kernel. -1: an operand cannot be read in that shape.
  constexpr int beside_product(const Node& n, Vec<int> o, Shape shape) {  // by value: nodes of r may move
    for (int& id : o)
      if ((id = in_shape(id, n.shape, shape, 3)) < 0) return -1;
    Node copy = n;
    copy.shape = shape;
    const int id = r.intern(copy, g, o);
    mark(epilogue, id);
    return r.reshape(id, n.shape);
  }
  /// A value that is broadcast to `fine`, for a reader of shape `shape`; cheap ops are recomputed for that, at most `depth` deep.
  constexpr int in_shape(int id, const Shape& fine, const Shape& shape, int depth) {
    const Node n = r[id];
    if (n.shape.rank == 0) return id;
    if (n.op == Op::reshape && r[n.operand[0]].shape == shape && n.shape == fine) return n.operand[0];
    Shape to;
    if (!regrouped_extents(n.shape, fine, shape, to)) return -1;
    if (n.op == Op::broadcast) return in_shape(n.operand[0], fine, shape, depth);
    if (is_elementwise(n.op) && n.op != Op::copy) {
      if (depth == 0 || is_expensive(n)) return -1;
      Vec<int> o = copied(r.operands(n));
      for (int& p : o)
        if ((p = in_shape(p, fine, shape, depth - 1)) < 0) return -1;
      Node copy = n;
      copy.shape = to;
      return r.intern(copy, r, o);
    }
    if (is_leaf(n.op) && n.op != Op::input) return -1;
    return with_strides(id, to) == id ? r.reshape(id, to) : -1;
  }

  /// A scalar reduced from a short row, as the row's one value: its reader, of this shape, stays in its kernel. A long
  /// row is better left to several threads.
  constexpr int beside_its_row(int id, const Shape& shape) const {
    const Node& n = r[id];
    if (n.op != Op::reshape || n.shape.rank > 0 || shape.rank == 0 || is_leaf(r[n.operand[0]].op)) return id;
    if (!shape.size().is_constant() || shape.size().code > row_block) return id;
    const Shape& kept = r[n.operand[0]].shape;
    return kept.rank <= shape.rank && kept.size() == Extent(1) ? n.operand[0] : id;
  }

  constexpr int unsqueezed(const Node& n, Vec<int> o, Shape shape) {  // by value: nodes of r may move
    for (int& id : o) {
      const Shape& s = r[id].shape;
      if (r[id].op == Op::iota) return -1;
      if (r[id].op == Op::reshape && r[r[id].operand[0]].shape == shape) id = r[id].operand[0];
      else if (same_grid(s, shape)) continue;  // broadcasts as it is
      else if (s == n.shape) id = r.reshape(id, shape);
      else if (s.size() == Extent(1)) id = r.reshape(id, {});
      else return -1;
    }
    Node copy = n;
    copy.shape = shape;
    return r.reshape(r.intern(copy, g, o), n.shape);
  }

  /// Node `i` of the old graph in its group's flat shape; for other readers a view of it.
  constexpr int flattened(int i) {
    const FlatNodes::Group& group = flat.groups[flat.group_of[i]];
    flat_map[i] = flat_copy(g[i], group);
    return r.reshape(flat_map[i], group.shape);
  }
  constexpr int flat_copy(Node n, const FlatNodes::Group& group) {
    Vec<int> o = copied(g.operands(n));
    for (int& id : o) id = flat_operand(id, group);
    n.shape = group.flat;
    return r.intern(n, g, o);
  }
  constexpr int flat_operand(int o, const FlatNodes::Group& group) {
    const Node& n = g[o];
    if (flat_map[o] >= 0 && n.shape == group.shape) return flat_map[o];
    if (n.shape.rank == 0) return map[o];
    if (n.op == Op::broadcast) return flat_operand(n.operand[0], group);
    if (n.shape == group.shape) return r.reshape(with_strides(map[o], group.flat), group.flat);
    if (n.shape.size() == Extent(1)) return r.reshape(map[o], {});
    if (flat.is_rebuilt(o)) return flat_copy(n, group);
    const int from = is_leaf(r[map[o]].op) && r[map[o]].op != Op::input ? copy_of(map[o]) : map[o];
    const int repeated = r.intern({.op = Op::broadcast, .dtype = n.dtype,
                                   .operand = {from, -1, -1, -1},
                                   .attribute = repeated_in_place, .shape = group.shape});
    return r.reshape(repeated, group.flat);
  }

  /// A node whose memory can be read in the new shape: `id`, or a copy of it.
  constexpr int with_strides(int id, const Shape& shape) {
    if (same_but_ones(r[id].shape, shape)) return id;
    int i = id;
    while (r[i].op == Op::reshape) i = r[i].operand[0];
    const Op op = r[i].op;
    const bool other_strides = (is_view(op) && op != Op::reshape) || op == Op::broadcast || r.is_strided(i);
    if (!other_strides) return id;
    return copy_of(id, transposed == Transposed::materialized && (has_transposed_rows(r, id) || lies_apart(r, i)) ? materializing : 0);
  }
  /// Does a node show a slice of a value with run-time strides, be it contiguous with run-time extents or a strided input?
  constexpr bool shows_a_slice(int id) const {
    bool constant = r[id].shape.is_constant(), slice = false;
    while (is_view(r[id].op)) {
      if (r[id].op == Op::slice) slice = true;
      id = r[id].operand[0];
      constant = constant && r[id].shape.is_constant();
    }
    if (r.is_strided(id)) constant = constant && r.input_strides[static_cast<int>(r[id].attribute)].is_constant();
    return slice && !constant;
  }
  constexpr int copy_of(int id, std::int64_t attribute = 0, int identity = 0) {
    Node n = r[id];
    return r.intern({.op = Op::copy, .dtype = n.dtype, .operand = {id, -1, -1, -1}, .identity = identity,
                     .attribute = attribute, .shape = n.shape, .where = n.where});
  }
  /// An operand of an elementwise op, a reduction or a product by many columns: a transposed matrix is materialised first, if it is not tiny.
  constexpr int along_rows(int id) {
    if (r[id].op == Op::broadcast) {
      const Node n = r[id];
      const int from = along_rows(n.operand[0]);
      return from == n.operand[0] ? id : r.broadcast_to(from, n.shape);
    }
    return has_transposed_rows(r, id) ? copy_of(id, materializing) : id;
  }
  constexpr void outputs() {
    Vec<char> taken(r.size() + g.outputs.size() * 2 + 1, 0);
    for (int k = 0; k < g.outputs.size(); ++k) {
      int id = map[g.outputs[k]], i = id;
      while (r[i].op == Op::reshape) i = r[i].operand[0];
      const bool own = !is_leaf(r[i].op) && !is_view(r[i].op) && r[i].op != Op::broadcast;
      if (!own || taken[i]) id = i = copy_of(id, 0, g.size() + r.size() + 1);  // an identity that replace_part never uses
      if (i < taken.size()) taken[i] = 1;
      r.output(id, g.donated[k], g.output_padded[k]);
    }
  }
};

}  // namespace detail

namespace detail {

constexpr Graph normalized(const Graph& g, Transposed t, bool bf16_pairs) {
  const detail::Normalizer n(g, t, bf16_pairs);
  if (std::is_constant_evaluated() || n.epilogue.empty()) return canonical(n.r);
  return canonical(n.r, detail::computed_before(n.r));
}

}  // namespace detail

/// Is there nothing to rewrite? True mostly of chains of elementwise ops and reductions over their own axes.
constexpr bool is_normal(const Graph& g) {
  for (int i = 0; i < g.size(); ++i)
    if (is_view(g[i].op) || g[i].op == Op::matmul || g[i].op == Op::pad || g[i].op == Op::slice_scatter || g[i].op == Op::take || g.is_strided(i))
      return false;
  for (int k = 0; k < g.outputs.size(); ++k) {
    const Op op = g[g.outputs[k]].op;
    if (is_leaf(op) || op == Op::broadcast) return false;
    for (int j = 0; j < k; ++j)
      if (g.outputs[j] == g.outputs[k]) return false;
  }
  return true;
}
/// Takes a canonical graph and gives a canonical one.
constexpr Graph normalize(Graph g, Transposed t = Transposed::materialized, bool bf16_pairs = false) {
  if (!std::is_constant_evaluated())
    if (const detail::ChosenElements elements(g); elements.exist()) return normalize(elements.taken(), t, bf16_pairs);
  if (is_normal(g)) return g;
  if (has_short_reductions(g)) return normalize(write_out_short_reductions(g), t, bf16_pairs);  // nvcc 13 cannot assign graphs in constant evaluation
  if (!std::is_constant_evaluated())
    if (const detail::PermutedValues values(g); values.exist()) return normalize(values.in_their_order(), t, bf16_pairs);
  if (shows_parts(g)) return detail::normalized(join_parts(g), t, bf16_pairs);
  return detail::normalized(g, t, bf16_pairs);
}

}  // namespace tt
