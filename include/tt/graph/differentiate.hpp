// Reverse mode, a graph to a graph: the adjoints are nodes of the same graph, so they fuse, share subexpressions with the forward part, and can be
// differentiated again.
//   Vec<int> d = gradients(g, loss, {w, b});
// Order, so that eager and fused training agree bit for bit: the contributions of one op to one operand are summed first, then the uses of a value in reverse
// program order. Rules follow PyTorch: min and max share evenly between equals, amax and amin among all equal elements (of NaN the gradient is NaN, over all
// axes that of the NaN alone), nothing flows into integers.
#pragma once
#include "tt/graph/window_adjoint.hpp"

namespace tt {
namespace detail {

constexpr Vec<int> reverse(Graph& g, const Vec<int>& roots, const Vec<int>& seeds, const Vec<int>& with_respect_to,
                           Vec<char>* reached = nullptr);

/// Sums `d` over the axes along which a value of shape `to` was repeated.
constexpr int sum_to_shape(Graph& g, int d, Shape to) {  // a copy: nodes may move
  const Shape from = g[d].shape;
  unsigned axes = 0;
  for (int k = 0; k < from.rank; ++k) {
    const int right = from.rank - 1 - k;
    if (to.from_right(right) == Extent(1) && from[k] != Extent(1)) axes |= 1u << k;
  }
  return g.reshape(reduce<Op::sum>(g, d, axes), to);
}

/// An adjoint that a call's own derivative gives, as one of operand `o`: summed where it was broadcast, and of its dtype.
constexpr int fitted_gradient(Graph& g, int d, int o, int call) {
  if (const BroadcastResult both = try_broadcast(g[o].shape, g[d].shape); !both.ok || both.shape != g[d].shape)
    return g.fail({.mistake = Mistake::not_differentiable, .op = g[call].def->info.name}, d);  // the tape says which shape it has
  if (g[d].shape != g[o].shape) d = sum_to_shape(g, d, g[o].shape);
  return g[d].dtype == g[o].dtype ? d : g.cast(d, g[o].dtype);
}

/// Records the adjoints of a body's inputs in the graph of the op; -1 where nothing flows. `map`: the inputs as nodes of `g`; completed for other nodes.
constexpr Vec<int> recorded_adjoints(Graph& g, const Graph& body, Vec<int> adjoints, Vec<int>& map) {
  Vec<int> roots;
  for (int a : adjoints)
    if (a >= 0) roots.push_back(a);
  for (int i : post_order(body, roots))
    if (map[i] < 0) map[i] = again(g, body, body[i], mapped(body.operands(i), map));
  for (int& a : adjoints) a = a < 0 ? -1 : map[a];
  if (body.failure) g.fail(body.failure);
  return adjoints;
}
/// A call without a rule: its body is differentiated on scalars, then recorded in the graph.
constexpr void differentiate_body(Graph& g, const Node& n, int d, int* out) {
  Graph body;
  const Vec<int> given = copied(g.operands(n));
  Vec<int> in;
  for (int o : given) in.push_back(body.input(g[o].dtype, {}));
  const int result = n.def->record(*n.def, body, in.begin());
  const int seed = body.input(body[result].dtype, {});
  const Vec<int> adjoints = reverse(body, {result}, {seed}, in);
  Vec<int> map(body.size(), -1);
  for (int k = 0; k < in.size(); ++k) map[in[k]] = given[k];
  map[seed] = d;
  const AtCaller here(g, n.where);
  for (int a : recorded_adjoints(g, body, adjoints, map)) *out++ = a;
}

/// An op over graphs: its body is differentiated on a scratch graph, so that its contributions to an operand are summed there, then recorded in this graph.
/// Nodes of the body are those that the op is decomposed to later. `all`: the adjoints of its results.
constexpr void differentiate_composite(Graph& g, const Node& n, const int* all, int* out, Vec<char>* reached) {
  const OpDef& def = *n.def;
  Graph body;
  const Vec<int> given = copied(g.operands(n));
  const Vec<std::int64_t> words = g.attribute_words(n);
  Vec<int> in, floating, result(def.results, 0), roots, seeds, adjoint_of_root;
  for (int o : given) {
    in.push_back(body.input(g[o].dtype, g[o].shape));
    if (is_floating(g[o].dtype)) floating.push_back(in.back());
  }
  const AtCaller line(body, n.where), here(g, n.where);
  def.decompose(def, body, in, words.begin(), result.begin());
  for (int k = 0; k < def.results; ++k) {
    if (all[k] < 0 || !is_floating(body[result[k]].dtype)) continue;
    roots.push_back(result[k]);
    seeds.push_back(body.input(body[result[k]].dtype, body[result[k]].shape));
    adjoint_of_root.push_back(all[k]);
  }
  Vec<char> reached_in_body;
  const Vec<int> adjoints = reverse(body, roots, seeds, floating, &reached_in_body);
  for (const Graph::Assumed& a : body.assumed) g.assumed.push_back(a);
  for (const Graph::Needed& needed : body.needed) g.needed.push_back(needed);
  g.as_numbers |= body.as_numbers;
  Vec<int> map(body.size(), -1);
  for (int k = 0; k < in.size(); ++k) map[in[k]] = given[k];
  for (int k = 0; k < seeds.size(); ++k) map[seeds[k]] = g.broadcast_to(adjoint_of_root[k], body[roots[k]].shape);
  const Vec<int> recorded = recorded_adjoints(g, body, adjoints, map);
  for (int k = 0, next = 0; k < in.size(); ++k) out[k] = is_floating(body[in[k]].dtype) ? recorded[next++] : -1;
  for (int i = 0; reached && i < reached_in_body.size(); ++i) {
    if (!reached_in_body[i] || map[i] < 0) continue;
    while (reached->size() <= map[i]) reached->push_back(0);
    (*reached)[map[i]] = 1;
  }
}

/// A shape with a further axis before `axis`; at the highest rank the axes before it are merged into one, and so are the axes after it.
constexpr Shape with_axis(Shape s, int axis, Extent extent) {
  Shape r;
  if (s.rank == max_rank) return {s.count(0, axis), extent, s[axis], s.count(axis + 1, s.rank)};
  for (int k = 0; k < s.rank; ++k) {
    if (k == axis) r.push_back(extent);
    r.push_back(s[k]);
  }
  return r;
}
/// The number of the further axis in with_axis.
constexpr int further_axis(const Shape& s, int axis) { return s.rank == max_rank ? 1 : axis; }

/// Indices along one axis of a shape, with extent 1 along the other axes.
constexpr int index_along(Graph& g, Shape s, int axis) {
  Shape line;
  for (int k = 0; k < s.rank; ++k) line.push_back(k == axis ? s[k] : Extent(1));
  return g.iota(DType::i64, line, axis);
}

/// Zero-pads `d` along `axis` to length n, at offset `start`: by repeating d, slicing and masking; O(n).
constexpr int padded(Graph& g, int d, int axis, std::int64_t start, Extent n) {
  const Shape s = g[d].shape;  // a copy: nodes may move
  const std::int64_t length = s[axis].code;
  Shape to = s;
  to.set(axis, n);
  if (to == s) return d;
  int moved = d;
  if (length > 1) {
    const std::int64_t from = (length - start % length) % length;
    const std::int64_t copies = (from + n.code + length - 1) / length;
    Shape line = s;
    line.set(axis, copies * length);
    const int one = g.reshape(d, with_axis(s, axis, 1));
    const int repeated = g.broadcast_to(one, with_axis(s, axis, copies));
    moved = g.slice(g.reshape(repeated, line), axis, from, n.code, 1);
  }
  const int i = index_along(g, to, axis), first = g.constant_integer(DType::i64, start);
  int inside = g.elementwise(Op::eq, {i, first});
  if (length > 1) {
    const int behind = g.elementwise(Op::le, {first, i});
    const int end = g.constant_integer(DType::i64, start + length);
    inside = g.elementwise(Op::logical_and, {behind, g.elementwise(Op::lt, {i, end})});
  }
  return g.where_(inside, moved, g.constant(g[d].dtype, 0));
}

/// `placed` for a slice that is known at run time only: compares every index of the result with the index of every element.
constexpr int placed_by_search(Graph& g, int d, SliceAttribute s, Shape to) {
  const Shape from = g[d].shape;
  const int place = further_axis(from, s.axis);
  Shape one = to;  // the result's shape without the axis; a last axis for the elements follows
  one.set(s.axis, 1);
  Shape wide = with_axis(one, s.axis, to[s.axis]), values = with_axis(from, s.axis, 1);
  const int hit = g.elementwise(
      Op::eq, {index_along(g, wide, place),
               g.add(g.mul(index_along(g, values, place + 1),
                           g.constant_integer(DType::i64, s.step)),
                     g.extent(DType::i64, s.start))});
  const int r = reduce<Op::sum>(g, g.where_(hit, g.reshape(d, values), g.constant(g[d].dtype, 0)),
                         1u << (place + 1));
  return g.reshape(r, to);
}

/// The adjoint of a slice: `d` at the sliced elements of a value of shape `to`, zeros elsewhere.
constexpr int placed(Graph& g, int d, SliceAttribute s, Shape to) {  // a copy: nodes may move
  const Shape from = g[d].shape;
  const Extent length = from[s.axis];
  const bool known = length.is_constant() && to[s.axis].is_constant() && s.start.is_constant();
  if (length == Extent(0)) return g.constant(g[d].dtype, 0, to);
  if (length == Extent(1) && s.start.is_constant()) return padded(g, d, s.axis, s.start.code, to[s.axis]);
  if (!known && std::is_constant_evaluated()) return placed_by_search(g, d, s, to);
  if (s.step < 0) {
    d = g.slice(d, s.axis, length - 1, length, -1);
    s = {s.axis, s.start + (length - 1) * Extent(s.step), -s.step};
  }
  const auto put = [&](int value, int axis, Extent start, Extent n) {
    if (known && start.is_constant()) return padded(g, value, axis, start.code, n);
    Shape all = g[value].shape;
    all.set(axis, n);
    return g.pad(value, {{axis, axis}, {start, 0}}, all);
  };
  if (s.step == 1) return put(d, s.axis, s.start, to[s.axis]);
  // One index in every `step` is taken: pad a further axis after the sliced one, merge both, then slice to size.
  const Extent step = s.step, groups = floor_div(to[s.axis] + (step - 1), step), first = floor_div(s.start, step);
  const int rows = put(d, s.axis, first, groups);
  Shape wide = from;
  wide.set(s.axis, groups * step);
  Shape split = from;
  split.set(s.axis, step);
  split = with_axis(split, s.axis, groups);
  const int axis = further_axis(from, s.axis) + 1;
  Shape column = split;
  column.set(axis, 1);
  const int spread = put(g.reshape(rows, column), axis, s.start - first * step, step);
  return g.slice(g.reshape(spread, wide), s.axis, 0, to[s.axis], 1);
}

/// The mask of elements that are the result of amax or amin, node `i`.
constexpr int that_are(Graph& g, const Node& n, int i) {
  const int a = n.operand[0], equal = g.elementwise(Op::eq, {a, i});
  return is_floating(n.dtype) && (n.bits & (gradient_to_first | gradient_to_nan)) ? g.elementwise(Op::logical_or, {equal, g.elementwise(Op::ne, {a, a})}) : equal;
}
/// The number of elements that are the result of amax or amin, node `i`; if the operand was reduced before, the equals of that reduction count.
constexpr int count_of_equals(Graph& g, int i) {
  const Node n = g[i];
  const auto before = [&](const auto& self, int k) -> int {  // of each element of k; -1: each counts once
    const Node o = g[k];
    if (o.op == Op::reshape) {
      const int of = self(self, o.operand[0]);
      return of < 0 ? -1 : g.reshape(of, o.shape);
    }
    return o.op == n.op && (o.bits & reduced_further) ? count_of_equals(g, k) : -1;
  };
  const int hit = that_are(g, n, i), each = before(before, n.operand[0]);
  return reduce<Op::sum>(g, each < 0 ? g.cast(hit, n.dtype) : g.where_(hit, each, g.constant(n.dtype, 0)), static_cast<unsigned>(n.attribute));
}

/// The adjoint of amax or amin, node `i`, for the first of equal elements: that with the least index in row-major order.
constexpr int of_the_first(Graph& g, const Node& n, int i, int d) {
  const int a = n.operand[0];
  const Shape s = g[a].shape;  // a copy: nodes may move
  const auto axes = static_cast<unsigned>(n.attribute);
  const auto number = [&](std::int64_t v) { return g.constant(n.dtype, static_cast<double>(v)); };
  int place = -1;
  Extent behind = 1;
  for (int k = s.rank - 1; k >= 0; --k) {
    if (!(axes >> k & 1)) continue;
    const int along = index_along(g, s, k);
    place = place < 0 ? along : g.add(g.mul(along, g.extent(DType::i64, behind)), place);
    behind = behind * s[k];
  }
  // Indices up to 2^24 are exact in the values' dtype, which is not narrow: no wider elements beside the values. Static programs are as fast with i64, and
  // casts cost them constant evaluation.
  bool few = false;
  if (!std::is_constant_evaluated()) few = behind.is_constant() && behind.code <= 1 << 24;
  if (few) place = g.cast(place, n.dtype);
  const int none = few ? number(behind.code) : g.extent(DType::i64, behind), hit = that_are(g, n, i);
  int first = none;
  if (few && g[a].op == Op::window && axes == 1u << (s.rank - 1) && s.last().code <= most_computed_elements) {  // short rows that overlap: nested wheres
    for (std::int64_t k = s.last().code; k-- > 0;) first = g.where_(element_of_windows(g, hit, k), number(k), first);
    first = g.reshape(first, n.shape);
  } else {
    first = reduce<Op::amin>(g, g.where_(hit, place, none), axes);
  }
  return g.where_(g.elementwise(Op::eq, {place, first}), d, g.constant(n.dtype, 0));
}

/// The contributions of node `i` with adjoint `d` to its operands' adjoints; -1 for none. `all`: the adjoints of all results of its op. `reached`, if given:
/// nodes of bodies that got an adjoint are marked there.
constexpr void contributions(Graph& g, int i, int d, const int* all, int* out, Vec<char>* reached = nullptr) {
  const Node n = g[i];
  const int a = n.operand[0], b = n.operand[1];
  const auto number = [&](double v) { return g.constant(n.dtype, v); };
  g.where = n.where;
  switch (n.op) {
    case Op::copy: case Op::broadcast: out[0] = d; break;
    case Op::add: out[0] = out[1] = d; break;
    case Op::sub:
      out[0] = d;
      out[1] = g.neg(d);
      break;
    case Op::mul:
      out[0] = g.mul(d, b);
      out[1] = g.mul(d, a);
      break;
    case Op::div: {
      const int q = g.div(d, b);
      out[0] = q;
      out[1] = g.neg(g.mul(q, i));
      break;
    }
    case Op::fma:
      out[0] = g.mul(d, b);
      out[1] = g.mul(d, a);
      out[2] = d;
      break;
    case Op::max: case Op::min: {
      const int shared = g.where_(g.elementwise(Op::eq, {a, b}), g.mul(d, number(0.5)), d);  // if one is NaN both get all of d, as in PyTorch
      const int a_less = g.elementwise(Op::lt, {a, b}), b_less = g.elementwise(Op::lt, {b, a});
      out[0] = g.where_(n.op == Op::max ? a_less : b_less, number(0), shared);
      out[1] = g.where_(n.op == Op::max ? b_less : a_less, number(0), shared);
      break;
    }
    case Op::neg: out[0] = g.neg(d); break;
    case Op::abs:
      out[0] = g.where_(g.elementwise(Op::lt, {a, number(0)}), g.neg(d),
                        g.where_(g.elementwise(Op::lt, {number(0), a}), d, g.mul(d, number(0))));
      break;
    case Op::sqrt: out[0] = g.div(d, g.add(i, i)); break;
    case Op::where:
      out[1] = g.where_(a, d, number(0));
      out[2] = g.where_(a, number(0), d);
      break;
    case Op::cast: out[0] = g.cast(d, g[a].dtype); break;
    case Op::call:
      if (n.def->has_rule) n.def->differentiate(g, i, all, out);
      else if (is_external(n)) g.fail({.mistake = Mistake::not_differentiable, .op = n.def->info.name});
      else if (is_composite(n)) differentiate_composite(g, n, all, out, reached);
      else differentiate_body(g, n, d, out);
      break;
    case Op::reshape: out[0] = g.reshape(d, g[a].shape); break;
    case Op::permute: {
      int back[max_rank] = {};
      for (int k = 0; k < n.shape.rank; ++k) back[g.permuted_axis(n, k)] = k;
      out[0] = g.permute(d, back);
      break;
    }
    case Op::slice: out[0] = placed(g, d, g.attributes<SliceAttribute>(n), g[a].shape); break;
    case Op::window: out[0] = gathered_windows(g, d, g.attributes<WindowAttribute>(n), g[a].shape); break;
    case Op::pad: case Op::slice_scatter: {
      const auto p = g.attributes<PadAttribute>(n);
      const int part = n.op == Op::slice_scatter ? 1 : 0;
      const Shape from = g[n.operand[part]].shape;
      out[part] = d;
      for (int k = 0; k < from.rank; ++k)
        if (from[k] != n.shape[k]) out[part] = g.slice(out[part], k, p.along(k), from[k], 1);
      if (part) out[0] = g.slice_scatter(d, g.constant(n.dtype, 0, from), p.axis[0], p.before[0]);
      break;
    }
    case Op::conv: differentiate_conv(g, n, d, out); break;
    case Op::take: g.fail({.mistake = Mistake::not_differentiable, .op = "take"}); break;  // takes are made after differentiation
    case Op::sum: out[0] = g.broadcast_to(d, g[a].shape); break;
    case Op::amax: case Op::amin: {
      if (n.bits & gradient_to_first) {
        out[0] = of_the_first(g, n, i, d);
        break;
      }
      const int hit = that_are(g, n, i);
      if (n.bits & reduced_further) {  // the outer reduction has divided d
        out[0] = g.where_(hit, d, g.where_(g.elementwise(Op::eq, {d, d}), number(0), d));
        break;
      }
      const int count = count_of_equals(g, i);
      out[0] = g.where_(hit, g.div(d, count), g.div(number(0), count));  // a NaN equals nothing: 0 / 0 is NaN
      break;
    }
    case Op::matmul: {
      const int ra = g[a].shape.rank, rb = g[b].shape.rank;
      out[0] = g.matmul(d, g.transpose(b, rb - 2, rb - 1));
      out[1] = g.matmul(g.transpose(a, ra - 2, ra - 1), d);
      break;
    }
    case Op::bitcast:
      g.fail({.mistake = Mistake::not_differentiable, .op = name(n.op)});
      break;
    case Op::floor: case Op::ceil: case Op::round: case Op::trunc: out[0] = g.broadcast_to(number(0), g[a].shape); break;
    default: break;  // comparisons, detach: nothing flows
  }
}

/// For each node: does it depend on one of `these`, as far as derivatives go? As on the tape: not through an integer, a condition or `detach`; forward mode
/// goes through a `detach` under NoGrad.
constexpr Vec<char> depends_on(const Graph& g, const Vec<int>& these, bool forward = false) {
  Vec<char> depends(g.size(), 0);
  for (int i : these) depends[i] = 1;
  for (int i = 0; i < g.size(); ++i) {
    if ((g[i].op == Op::detach && !(forward && g[i].attribute == under_no_grad)) || !is_floating(g[i].dtype)) continue;
    const Ids operands = g.operands(i);
    for (int k = 0; k < operands.count; ++k)
      if (depends[operands[k]] && !depends[i]) depends[i] = flows_from(g[i], k);
  }
  return depends;
}

/// The adjoints of `with_respect_to` if each root has its seed as adjoint (-1: none); -1 where nothing flows. `reached`, if given: marks the nodes that got an
/// adjoint, those of bodies, too.
constexpr Vec<int> reverse(Graph& g, const Vec<int>& roots, const Vec<int>& seeds, const Vec<int>& with_respect_to, Vec<char>* reached) {
  if (Vec<int> map; decompose_beside(g, roots, with_respect_to, map, [](const Node& n) { return is_composite(n) && n.def->any_number; }))  // joins: each operand is a use of its own, as on the tape
    return reverse(g, mapped(roots, map), seeds, mapped(with_respect_to, map), reached);
  const int top = g.size();
  Vec<int> adjoint(top, -1);
  const Vec<char> depends = depends_on(g, with_respect_to);
  Vec<char> state(top, 2);
  for (int i = 0; i < top; ++i)
    if (depends[i]) state[i] = 0;
  const Vec<int> order = post_order(g, roots, static_cast<Vec<char>&&>(state));
  for (int k = 0; k < roots.size(); ++k)
    if (seeds[k] >= 0) adjoint[roots[k]] = adjoint[roots[k]] < 0 ? seeds[k] : g.add(adjoint[roots[k]], seeds[k]);
  Calls calls;
  if (has_named(g)) calls = find_calls(g, order, true);
  for (int t = order.size() - 1; t >= 0; --t) {
    const int i = order[t], call = calls.call_of.empty() ? -1 : calls.call_of[i];
    if (!depends[i] || is_leaf(g[i].op)) continue;
    Vec<int> of_results;
    if (call >= 0) {  // all results of a call at the first of them, when their readers are done
      if (calls.first[call] != i) continue;
      for (int r : calls.results[call]) of_results.push_back(r < 0 ? -1 : adjoint[r]);
    }
    bool any = adjoint[i] >= 0;
    for (int d : of_results) any = any || d >= 0;
    if (!any) continue;
    const int count = g.operands(i).count;
    const bool elementwise = is_elementwise(g[i].op) && call < 0;
    Vec<int> out(count, -1);
    contributions(g, i, adjoint[i], call < 0 ? &adjoint[i] : of_results.begin(), out.begin(), reached);
    if (g.refused > 0) break;  // in a full graph the last node, perhaps this one, has been replaced
    for (int k = 0; k < count; ++k) {
      const int o = g.operands(i)[k];
      if (!depends[o] || out[k] < 0) continue;
      int sum = -1;
      bool first = true;
      for (int j = 0; j < count; ++j) {
        if (g.operands(i)[j] != o || out[j] < 0) continue;
        if (j < k) first = false;
        int mine = out[j];
        if (elementwise) mine = g.broadcast_to(mine, try_broadcast(g[mine].shape, g[i].shape).shape);
        if (elementwise || g[i].op == Op::matmul) mine = sum_to_shape(g, mine, g[o].shape);
        if (call >= 0) mine = fitted_gradient(g, mine, o, i);
        sum = sum < 0 ? mine : g.add(sum, mine);
      }
      if (!first) continue;
      adjoint[o] = adjoint[o] < 0 ? sum : g.add(adjoint[o], sum);
    }
  }
  if (reached) {
    while (reached->size() < g.size()) reached->push_back(0);
    for (int i = 0; i < top; ++i) (*reached)[i] = (*reached)[i] || adjoint[i] >= 0;
  }
  Vec<int> result;
  for (int w : with_respect_to) result.push_back(adjoint[w]);
  return result;
}

}  // namespace detail

/// The gradients of the scalar `root`; zeros where nothing flows.
constexpr Vec<int> gradients(Graph& g, int root, const Vec<int>& with_respect_to) {
  if (!is_floating(g[root].dtype)) g.fail({.mistake = Mistake::dtype_not_accepted, .op = "grad", .dtype = g[root].dtype});
  else if (g[root].shape.size() != Extent(1))
    g.fail({.mistake = Mistake::gradient_of_non_scalar, .op = "grad", .a = g[root].shape});
  const int seed = g.constant(g[root].dtype, 1, g[root].shape);
  Vec<int> d = detail::reverse(g, {root}, {seed}, with_respect_to);
  for (int k = 0; k < d.size(); ++k)
    if (d[k] < 0)
      d[k] = g.constant(g[with_respect_to[k]].dtype, 0, g[with_respect_to[k]].shape);
  return d;
}

}  // namespace tt
