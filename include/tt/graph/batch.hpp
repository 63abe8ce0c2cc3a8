// vmap, a graph to a graph: a function of examples becomes a function of batches, with a new axis 0 over examples. One rule per primitive: elementwise ops
// take batches and unbatched values as they are, once axes are aligned; views and reductions move their axes by one; products have batch axes themselves. Ops
// with a kernel declare their way (`batching` in their struct); other ops with a kernel, and regions, run row by row (a scan that carries nothing).
//   Graph batched = vmap_of(graph, {0, 2}, n);       // inputs 0 and 2 are batches of n examples; so are all outputs
#pragma once
#include "tt/graph/control.hpp"

namespace tt {
namespace detail {

class Batcher {
 public:
  constexpr Batcher(const Graph& from, const Vec<int>& by, Extent count) : from_(from), count_(count), node_(from.size(), -1), batched_(from.size(), 0) {
    for (int k : by) batched_[from.inputs[k]] = 1;
  }
  constexpr Graph graph() {
    for (int i : from_.inputs) node_[i] = batched_[i] ? to_.input(from_[i].dtype, with_rows(from_[i].shape, count_)) : to_.input(from_[i].dtype, from_[i].shape);
    for (int i : post_order(from_, from_.outputs))
      if (node_[i] < 0) add(i);
    for (int o : from_.outputs) to_.output(rows_of(o));
    return static_cast<Graph&&>(to_);
  }

 private:
  const Graph& from_;
  const Extent count_;
  Graph to_;
  Vec<int> node_;
  Vec<char> batched_;

  constexpr Shape batch_shape(const Shape& s) const { return with_rows(s, count_); }
  /// Value `i` with its batch axis, if it has one, followed by `rank` axes.
  constexpr int aligned(int i, int rank) {
    if (!batched_[i]) return node_[i];
    Shape s{count_};
    for (int k = from_[i].shape.rank; k < rank; ++k) s.push_back(1);
    for (int k = 0; k < from_[i].shape.rank; ++k) s.push_back(from_[i].shape[k]);
    return to_.reshape(node_[i], s);
  }
  /// Value `i` as a batch, also if it is the same for all examples.
  constexpr int rows_of(int i) { return batched_[i] ? node_[i] : to_.broadcast_to(node_[i], batch_shape(from_[i].shape)); }

  constexpr void add(int i) {
    const Node& n = from_[i];
    const Ids operands = from_.operands(i);
    bool any = false;
    for (int o : operands) any = any || batched_[o];
    to_.where = n.where;
    if (!any) {
      node_[i] = to_.intern(n, from_, mapped(operands, node_));
      return;
    }
    batched_[i] = 1;
    const int a = operands[0], first = node_[a];
    switch (n.op) {
      case Op::broadcast: node_[i] = to_.broadcast_to(aligned(a, n.shape.rank), batch_shape(n.shape)); return;
      case Op::reshape: node_[i] = to_.reshape(first, batch_shape(n.shape)); return;
      case Op::permute: {
        const auto p = from_.attributes<PermuteAttribute>(n);
        int axes[max_rank] = {};
        for (int k = 0; k < p.rank; ++k) axes[k + 1] = p.axis[k] + 1;
        node_[i] = to_.permute(first, axes);
        return;
      }
      case Op::slice: {
        const auto s = from_.attributes<SliceAttribute>(n);
        node_[i] = to_.slice(first, s.axis + 1, s.start, n.shape[s.axis], s.step);
        return;
      }
      case Op::window: {
        const auto w = from_.attributes<WindowAttribute>(n);
        node_[i] = to_.window(first, w.axis + 1, n.shape.last().code, w.step, w.dilation);
        return;
      }
      case Op::pad: {
        auto p = from_.attributes<PadAttribute>(n);
        for (int& axis : p.axis) ++axis;
        node_[i] = to_.pad(first, p, batch_shape(n.shape), n.bits);
        return;
      }
      case Op::slice_scatter: {
        const auto p = from_.attributes<PadAttribute>(n);
        node_[i] = to_.slice_scatter(rows_of(a), rows_of(operands[1]), p.axis[0] + 1, p.before[0]);
        return;
      }
      case Op::sum: case Op::amax: case Op::amin: node_[i] = to_.reduce(n.op, first, static_cast<unsigned>(n.attribute) << 1, n.bits); return;
      case Op::matmul: node_[i] = product(n, a, operands[1]); return;
      case Op::conv: node_[i] = convolution(n, a, operands[1]); return;
      case Op::take: node_[i] = to_.take(rows_of(a), rows_of(operands[1]), from_.attributes<TakeAttribute>(n).axis + 1); return;
      case Op::detach: node_[i] = to_.detach(first, n.attribute); return;
      default: break;
    }
    if (is_external(n)) {
      node_[i] = in_one_call(i);
      if (node_[i] < 0) node_[i] = row_by_row(i);
      return;
    }
    Vec<int> in;
    for (int o : operands) in.push_back(aligned(o, n.shape.rank));
    node_[i] = again(to_, from_, n, in);
    if (!(to_[node_[i]].shape == batch_shape(n.shape))) node_[i] = to_.broadcast_to(node_[i], batch_shape(n.shape));
  }
  constexpr int product(const Node& n, int a, int b) {
    const int rank = n.shape.rank;  // of both operands, batch axes that one lacks aside
    int x = aligned(a, rank), y = aligned(b, rank);
    return to_.matmul(x, y);
  }
  /// Batched images are one larger batch; if weights are batched, too, examples become groups of channels.
  constexpr int convolution(const Node& n, int images, int weights) {
    const auto c = from_.attributes<ConvAttribute>(n);
    const Shape x = from_[images].shape, w = from_[weights].shape, y = n.shape;
    if (!batched_[weights]) {
      const int all = to_.reshape(node_[images], {count_ * x[0], x[1], x[2], x[3]});
      return to_.reshape(to_.conv(all, node_[weights], c), batch_shape(y));
    }
    const int examples_last[] = {1, 0, 2, 3, 4};
    const int channels = to_.reshape(to_.permute(rows_of(images), examples_last), {x[0], count_ * x[1], x[2], x[3]});
    const int all = to_.conv(channels, to_.reshape(node_[weights], {count_ * w[0], w[1], w[2], w[3]}), c);
    return to_.permute(to_.reshape(all, {y[0], count_, y[1], y[2], y[3]}), examples_last);
  }
  /// One call of the op of node `i`, which has a kernel, on all examples; -1: the op does not take batches.
  constexpr int in_one_call(int i) {
    const Node& n = from_[i];
    const Ids operands = from_.operands(i);
    const Batching how = n.def->batching;
    if (how == Batching::none || (how != Batching::in_front && from_[operands[0]].shape.rank == 0) || (how == Batching::shared_index && batched_[operands[1]])) return -1;
    Vec<int> in;
    for (int k = 0; k < operands.size(); ++k) in.push_back(how == Batching::shared_index && k == 1 ? node_[operands[k]] : rows_of(operands[k]));
    const Vec<std::int64_t> words = from_.attribute_words(n);
    return call_named(to_, *n.def, in, how == Batching::in_front ? words : n.def->next_dim(words.begin()))[static_cast<int>(n.bits)];
  }
  /// The op of node `i` on each example in turn, as a scan.
  int row_by_row(int i) {
    const Node& n = from_[i];
    Graph body;
    Vec<int> rows, others, in(from_.operands(i).count, -1);
    for (const bool batch : {true, false})
      for (int k = 0; k < in.size(); ++k) {
        const int o = from_.operands(i)[k];
        if ((batched_[o] != 0) != batch) continue;
        in[k] = body.input(from_[o].dtype, from_[o].shape);
        (batch ? rows : others).push_back(node_[o]);
      }
    const Vec<int> results = call_named(body, *n.def, in, from_.attribute_words(n));
    for (int r : results) body.output(r);
    Vec<int> operands = rows;
    operands.append(others.begin(), others.size());
    return record_control(to_, Control::scan, {0, rows.size(), false}, {body}, operands)[static_cast<int>(n.bits)];
  }
};

}  // namespace detail

/// The function of batches of `count` examples: the inputs in `by` (their numbers) have a new axis 0, and so have all outputs.
constexpr Graph vmap_of(const Graph& function, const Vec<int>& by, Extent count) {
  const Graph g = decomposed(function);
  return detail::Batcher(g, by, count).graph();
}

}  // namespace tt
