// Reverse mode, a graph to a graph: the adjoints are nodes of the same graph, so they fuse, share
// subexpressions with the forward part, and can be differentiated again.
//   Vec<int> d = gradients(g, loss, {w, b});
// Order, so that eager and fused training agree bit for bit: what one op contributes to one operand
// is summed first, then the uses of a value in reverse program order.
// Rules follow PyTorch: min and max share evenly where equal, amax and amin over all that are equal,
// nothing flows into integers.
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {
namespace detail {

constexpr Vec<int> reverse(Graph& g, int root, int seed, const Vec<int>& with_respect_to);

/// Sums `d` over the axes along which a value of shape `to` was repeated.
constexpr int sum_to_shape(Graph& g, int d, Shape to) {  // a copy: nodes may move
  const Shape from = g[d].shape;
  unsigned axes = 0;
  for (int k = 0; k < from.rank; ++k) {
    const int right = from.rank - 1 - k;
    if (to.from_right(right) == Extent(1) && from[k] != Extent(1)) axes |= 1u << k;
  }
  return g.reshape(g.reduce(Op::sum, d, axes), to);
}

/// A call without a rule: its body is differentiated on scalars, then written into the graph.
constexpr void differentiate_body(Graph& g, const Node& n, int d, int* out) {
  Graph body;
  const int count = n.def->info.arity;
  int in[max_operands] = {};
  Vec<int> wrt;
  for (int k = 0; k < count; ++k) {
    in[k] = body.input(g[n.operand[k]].dtype, {});
    wrt.push_back(in[k]);
  }
  const int result = n.def->record(body, in);
  const int seed = body.input(body[result].dtype, {});
  const Vec<int> adjoints = reverse(body, result, seed, wrt);
  Vec<int> roots;
  for (int a : adjoints)
    if (a >= 0) roots.push_back(a);
  Vec<int> map(body.size(), -1);
  for (int k = 0; k < count; ++k) map[in[k]] = n.operand[k];
  map[seed] = d;
  const SourceLine line = n.where;
  for (int i : post_order(body, roots)) {
    if (map[i] >= 0) continue;
    OperandIds o;
    for (int k = 0; k < max_operands; ++k)
      if (body[i].operand[k] >= 0) o.id[k] = map[body[i].operand[k]];
    map[i] = replay(g, body[i], o);
    g.where = line;
  }
  for (int k = 0; k < count; ++k) out[k] = adjoints[k] < 0 ? -1 : map[adjoints[k]];
  if (body.failure) g.fail(body.failure);
}

/// What node `i` with adjoint `d` contributes to its operands; -1 for nothing.
constexpr void contributions(Graph& g, int i, int d, int* out) {
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
      const int shared = g.where_(g.elementwise(Op::eq, {a, b}), g.mul(d, number(0.5)), number(0));
      const bool max = n.op == Op::max;
      const int first = g.elementwise(Op::lt, max ? OperandIds{{b, a}} : OperandIds{{a, b}});
      const int second = g.elementwise(Op::lt, max ? OperandIds{{a, b}} : OperandIds{{b, a}});
      out[0] = g.where_(first, d, shared);
      out[1] = g.where_(second, d, shared);
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
      if (n.def->has_rule) n.def->differentiate(g, n.operand, i, d, out);
      else differentiate_body(g, n, d, out);
      break;
    case Op::reshape: out[0] = g.reshape(d, g[a].shape); break;
    case Op::permute: {
      int back[max_rank] = {};
      for (int k = 0; k < n.shape.rank; ++k) back[permutation_at(n.attribute, k)] = k;
      out[0] = g.permute(d, back);
      break;
    }
    case Op::slice: {  // element i of the operand takes those j with i == start + j * step
      const SliceAttribute s = SliceAttribute::unpack(n.attribute);
      if (n.shape.rank == max_rank) {
        g.fail({.mistake = Mistake::rank_too_high, .op = "slice", .a = n.shape,
                .number = n.shape.rank + 1});
        break;
      }
      Shape wide;  // the operand's axes, with the slice's axis behind the cut one
      for (int k = 0; k < n.shape.rank; ++k) {
        wide.push_back(k == s.axis ? g[a].shape[k] : Extent(1));
        if (k == s.axis) wide.push_back(1);
      }
      if (wide.rank > max_rank) {
        g.fail({.mistake = Mistake::rank_too_high, .op = "slice", .a = n.shape,
                .number = wide.rank});
        break;
      }
      Shape row = wide;
      row.set(s.axis, 1);
      row.set(s.axis + 1, n.shape[s.axis]);
      Shape values = n.shape;
      values.rank = 0;
      for (int k = 0; k < n.shape.rank; ++k) {
        if (k == s.axis) values.push_back(1);
        values.push_back(n.shape[k]);
      }
      const int to = g.iota(DType::i64, wide, s.axis);
      const int from = g.add(g.mul(g.iota(DType::i64, row, s.axis + 1),
                                   g.constant(DType::i64, static_cast<double>(s.step))),
                             g.constant(DType::i64, static_cast<double>(s.start)));
      const int hit = g.elementwise(Op::eq, {to, from});
      const int r = g.reduce(Op::sum, g.where_(hit, g.reshape(d, values), number(0)),
                             1u << (s.axis + 1));
      out[0] = g.reshape(r, g[a].shape);
      break;
    }
    case Op::sum: out[0] = g.broadcast_to(d, g[a].shape); break;
    case Op::amax: case Op::amin: {
      const int hit = g.elementwise(Op::eq, {a, i});
      const int count = g.reduce(Op::sum, g.cast(hit, n.dtype),
                                 static_cast<unsigned>(n.attribute));
      out[0] = g.where_(hit, g.div(d, count), number(0));
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
    default: break;  // floor, round, comparisons, detach: nothing flows
  }
}

/// The adjoints of `with_respect_to` when `root` has the adjoint `seed`; -1 where nothing flows.
constexpr Vec<int> reverse(Graph& g, int root, int seed, const Vec<int>& with_respect_to) {
  const int top = g.size();
  Vec<int> adjoint(top, -1);
  Vec<char> depends(top, 0);
  for (int w : with_respect_to) depends[w] = 1;
  Vec<int> roots;
  roots.push_back(root);
  const Vec<int> order = post_order(g, roots);
  for (int i : order) {
    if (g[i].op == Op::detach || !is_floating(g[i].dtype)) continue;
    for (int k = 0; k < max_operands; ++k)
      if (const int o = g[i].operand[k]; o >= 0 && depends[o]) depends[i] = 1;
  }
  adjoint[root] = seed;
  for (int t = order.size() - 1; t >= 0; --t) {
    const int i = order[t];
    if (adjoint[i] < 0 || !depends[i] || is_leaf(g[i].op)) continue;
    int out[max_operands] = {-1, -1, -1, -1};
    contributions(g, i, adjoint[i], out);
    for (int k = 0; k < max_operands; ++k) {
      const int o = g[i].operand[k];
      if (o < 0 || !depends[o] || out[k] < 0) continue;
      int sum = -1;
      bool first = true;
      for (int j = 0; j < max_operands; ++j) {
        if (g[i].operand[j] != o || out[j] < 0) continue;
        if (j < k) first = false;
        const int full = g.broadcast_to(out[j], try_broadcast(g[out[j]].shape, g[i].shape).shape);
        const int mine = is_elementwise(g[i].op) || g[i].op == Op::matmul
                             ? sum_to_shape(g, is_elementwise(g[i].op) ? full : out[j], g[o].shape)
                             : out[j];
        sum = sum < 0 ? mine : g.add(sum, mine);
      }
      if (!first) continue;
      adjoint[o] = adjoint[o] < 0 ? sum : g.add(adjoint[o], sum);
    }
  }
  Vec<int> result;
  for (int w : with_respect_to) result.push_back(adjoint[w]);
  return result;
}

}  // namespace detail

/// The gradients of the scalar `root`; zeros where nothing flows.
constexpr Vec<int> gradients(Graph& g, int root, const Vec<int>& with_respect_to) {
  if (g[root].shape.size() != Extent(1) || !is_floating(g[root].dtype))
    g.fail({.mistake = Mistake::gradient_of_non_scalar, .op = "grad", .a = g[root].shape});
  const int seed = g.constant(g[root].dtype, 1, g[root].shape);
  Vec<int> d = detail::reverse(g, root, seed, with_respect_to);
  for (int k = 0; k < d.size(); ++k)
    if (d[k] < 0)
      d[k] = g.constant(g[with_respect_to[k]].dtype, 0, g[with_respect_to[k]].shape);
  return d;
}

}  // namespace tt
