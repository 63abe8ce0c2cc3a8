// Partition: a function and its reverse mode, one graph, cut into a forward and a backward graph. A minimum cut decides which values of the forward part are
// saved for the backward, and which the backward recomputes.
//   JointGraph joint = make_joint(graph, {0, 1});             // adjoints of inputs 0 and 1
//   Partition p = partition(joint, symbols);             // p.forward, p.backward
//
// The choice is one of speed alone: both graphs consist of the joint graph's own nodes, so every choice gives the same bits. A value has two prices, in bytes
// moved:
//   to save it       its bytes, read by the backward; once more, and the cost of a Tensor, if the forward would not have it
//                    in memory anyhow (inputs, results, and operands of matrix products and views are in memory)
//   to recompute it  a matrix product, or an op with a kernel of its own (a sort): never, their work grows faster than
//                    their bytes. A reduction: its operand's bytes, one more pass over the data. Elementwise work, random
//                    numbers too (functions of seed and index): nothing, as it runs in the kernel that reads it, and even
//                    an exp costs less than to store its result and load it again. An elementwise operand of a product or
//                    of a kernel in the backward: its bytes twice, as it must be in memory there.
// The idea of recomputing is Chen et al., Training Deep Nets with Sublinear Memory Cost (2016); that of a minimum cut, functorch's
// min_cut_rematerialization_partition. There recomputing is free or forbidden; here it is an arc from the source, so both prices are weighed in one cut.
#pragma once
#include "tt/core/bit_set.hpp"
#include "tt/graph/differentiate.hpp"

namespace tt {

/// A function's results and the adjoints of some of its inputs in one graph.
struct JointGraph {
  Graph graph;              ///< inputs: the function's, then an adjoint for each result. Outputs: results, then adjoints
  int inputs = 0;           ///< of the function
  int results = 0;          ///< of the function
  BitSet given;             ///< inputs that have an adjoint: a further output each
  int may_change = 0;       ///< how many of the first results the caller may change before the backward: these are not passed to the backward
  Vec<char> depends;        ///< for each node: it depends on a wanted input, as far as derivatives go
  Vec<char> reached;        ///< for each node of the function: it has an adjoint
};

/// Appends reverse mode to a function: adjoints of the inputs `wanted`. The adjoint of a value that several results depend on is summed in the graph, as on
/// the tape. `seeded`: the results that have adjoints; null: all. A mistake is in the graph's `failure`.
constexpr JointGraph make_joint(const Graph& function, const BitSet& wanted, int may_change = 0, const BitSet* seeded = nullptr) {
  JointGraph joint{canonical(function, {}, true), function.inputs.size(), function.outputs.size(), {}, may_change, {}, {}};
  Graph& g = joint.graph;
  const Vec<int> roots = g.outputs;
  Vec<int> with_respect_to, seeds;
  for (int k : wanted)
    with_respect_to.push_back(g.inputs[k]);
  for (int k = 0; k < roots.size(); ++k) {
    const Shape shape = g[roots[k]].shape;
    const DType dtype = g[roots[k]].dtype;
    const int seed = g.input(dtype, shape);
    seeds.push_back(is_floating(dtype) && (!seeded || seeded->test(k)) ? seed : -1);
  }
  const Vec<int> adjoint = detail::reverse(g, roots, seeds, with_respect_to, &joint.reached);
  int w = 0;
  for (int k : wanted) {
    const int a = adjoint[w++];
    if (a < 0) continue;
    joint.given.set(k);
    const Shape shape = g[g.inputs[k]].shape;
    g.output(g.broadcast_to(a, shape));
  }
  const Vec<int> flat = decompose_fully(g);  // so that a value within a body may be saved
  Vec<char> reached(g.size(), 0);
  for (int i = 0; i < joint.reached.size(); ++i)
    if (joint.reached[i]) reached[flat[i]] = 1;
  joint.reached = static_cast<Vec<char>&&>(reached);
  for (int& v : with_respect_to) v = flat[v];
  joint.depends = detail::depends_on(g, with_respect_to);
  return joint;
}
/// The adjoints only, recomputed from the inputs, or, `by_results`, from the results, too: a further input for each result.
constexpr Graph derivative_of(const JointGraph& joint, bool by_results = false) {
  const Graph& g = joint.graph;
  Graph r = Graph::like(g);
  Vec<int> map(g.size(), -1);
  for (int i : g.inputs) map[i] = r.input_like(g, i);
  for (int k = 0; by_results && k < joint.results; ++k) {
    const int i = g.outputs[k], given = r.input(g[i].dtype, g[i].shape);
    if (map[i] < 0) map[i] = given;
  }
  Vec<int> adjoints;
  for (int k = joint.results; k < g.outputs.size(); ++k) adjoints.push_back(g.outputs[k]);
  Vec<char> state(g.size(), 0);
  for (int i = 0; i < g.size(); ++i) state[i] = map[i] < 0 ? 0 : 2;
  for (int i : post_order(g, adjoints, static_cast<Vec<char>&&>(state))) map[i] = r.intern(g[i], g, mapped(g.operands(i), map));
  for (int i : adjoints) r.output(map[i]);
  return canonical(r);
}
/// The inputs among the first `count` that an output depends on.
constexpr BitSet inputs_read(const Graph& g, int count) {
  BitSet read;
  for (int i : post_order(g, g.outputs))
    if (g[i].op == Op::input && g[i].attribute < count) read.set(static_cast<int>(g[i].attribute));
  return read;
}

/// A joint graph in two.
struct Partition {
  Graph forward;           ///< the function's inputs to its results, then the values saved
  Graph backward;          ///< inputs, saved values and adjoints to the adjoints of inputs
  Vec<int> inputs;         ///< that `backward` reads first: numbers of the function's inputs
  Vec<int> saved;          ///< that `backward` reads next: numbers of outputs of `forward`, which may be results
  Vec<int> adjoints;       ///< that `backward` reads last: numbers of results
  Vec<int> further;        ///< inputs that the backward of `backward` may also need: see further_inputs
  int operations = 0;      ///< number of operations in `forward`, views aside
  int recomputed = 0;      ///< number of those operations that `backward` computes again
};

namespace detail {

/// The part of a joint graph that each node belongs to.
struct JointParts {
  const Graph& g;
  const JointGraph& joint;
  Vec<char> early;       ///< depends on no adjoint
  Vec<char> in_forward;  ///< a result depends on it
  Vec<char> required;    ///< early, and read by a late node, or itself the adjoint of an input
  Vec<char> needed;      ///< early, and required, or computing a required node needs it
  Vec<char> late;        ///< depends on an adjoint, and an adjoint of an input depends on it

  constexpr explicit JointParts(const JointGraph& j)
      : g(j.graph), joint(j), early(g.size(), 1), in_forward(g.size(), 0), required(g.size(), 0), needed(g.size(), 0),
        late(g.size(), 0) {
    for (int k = j.inputs; k < g.inputs.size(); ++k) early[g.inputs[k]] = 0;
    for (int i = 0; i < g.size(); ++i)
      for (int o : g.operands(i))
        if (!early[o]) early[i] = 0;
    for (int k = 0; k < g.outputs.size(); ++k) {
      const int i = g.outputs[k];
      if (k < j.results) in_forward[i] = 1;
      else (early[i] ? required : late)[i] = 1;
    }
    for (int i = g.size() - 1; i >= 0; --i) {
      needed[i] = needed[i] || required[i];
      for (int o : g.operands(i)) {
        if (in_forward[i]) in_forward[o] = 1;
        if (needed[i]) needed[o] = 1;
        if (late[i]) (early[o] ? required : late)[o] = 1;
      }
    }
  }
  /// The node that owns the memory of a view.
  constexpr int memory_of(int i) const {
    while (is_view(g[i]) || g[i].op == Op::detach) i = g[i].operand[0];
    return i;
  }
  /// An input that the forward overwrites.
  constexpr bool is_donated(int i) const {
    if (g[i].op != Op::input) return false;
    for (int k = 0; k < joint.results; ++k)
      if (g.donated[k] >= 0 && g.inputs[g.donated[k]] == i) return true;
    return false;
  }
  /// The number of the result that is node i and that the backward may read; -1: none.
  constexpr int result_of(int i) const {
    for (int k = joint.may_change; k < joint.results; ++k)
      if (g.outputs[k] == i && g.donated[k] < 0) return k;
    return -1;
  }
  /// Is it work, not only a view or a broadcast?
  constexpr bool is_operation(int i) const {
    return !is_leaf(g[i].op) && !is_view(g[i].op) && g[i].op != Op::broadcast && g[i].op != Op::detach;
  }
};

/// The two prices of each value, in bytes. Sizes are those of one call: an estimate.
struct CutPrices {
  static constexpr std::int64_t never = std::int64_t{1} << 60;
  static constexpr std::int64_t of_tensor = 512;  ///< making a Tensor takes as long as moving about this many bytes
  Vec<std::int64_t> save, recompute;

  constexpr CutPrices(const JointParts& p, const SymbolValues& symbols) : save(p.g.size(), never), recompute(p.g.size(), 0) {
    const Graph& g = p.g;
    Vec<char> in_memory(g.size(), 0), stored_later(g.size(), 0);
    for (int k = 0; k < p.joint.results; ++k) in_memory[g.outputs[k]] = p.result_of(g.outputs[k]) >= 0;
    for (int i = 0; i < g.size(); ++i) {
      if (g[i].op == Op::input && !p.is_donated(i)) in_memory[i] = 1;
      const bool reads_memory = is_product(g[i].op) || is_external(g[i]);
      if (is_external(g[i]) && p.in_forward[i]) in_memory[i] = 1;
      if (!reads_memory && !is_view(g[i])) continue;
      for (int o : g.operands(i)) {
        if (p.in_forward[i]) in_memory[p.memory_of(o)] = 1;
        if (p.late[i] && reads_memory) stored_later[p.memory_of(o)] = 1;
      }
    }
    for (int i = 0; i < g.size(); ++i) {
      const Node& n = g[i];
      const std::int64_t bytes = bytes_of(n, symbols);
      const bool moves = n.op != Op::reshape && n.op != Op::permute && n.op != Op::window && n.op != Op::broadcast && n.op != Op::detach;
      if (moves) save[i] = in_memory[i] ? bytes : 2 * bytes + of_tensor;
      if (n.op == Op::input || is_product(n.op) || is_external(n)) recompute[i] = never;
      else if (is_reduction(n.op)) recompute[i] = bytes_of(g[n.operand[0]], symbols);
      else if ((stored_later[i] && !is_leaf(n.op)) || n.op == Op::pad || n.op == Op::slice_scatter) recompute[i] = 2 * bytes;
    }
  }
  static constexpr std::int64_t bytes_of(const Node& n, const SymbolValues& symbols) {
    const std::int64_t count = n.shape.size().value(symbols), each = size_of(n.dtype);
    return count < (never >> 20) / each ? count * each : never >> 20;
  }
};

/// Maximum flow from a source to a sink (Dinic 1970): along shortest paths only, found by levels, until there are none. Arcs are stored in pairs, so that arc
/// a ^ 1 holds the flow that can be undone; the arcs of a vertex are a linked list.
class FlowNetwork {
 public:
  static constexpr int source = 0, sink = 1;

  constexpr explicit FlowNetwork(int vertices) : first_(vertices, -1), level_(vertices, -1) {}
  constexpr void connect(int from, int to, std::int64_t capacity) {
    arcs_.push_back({to, first_[from], capacity});
    first_[from] = arcs_.size() - 1;
    arcs_.push_back({from, first_[to], 0});
    first_[to] = arcs_.size() - 1;
  }
  constexpr std::int64_t maximum_flow() {
    std::int64_t total = 0;
    while (find_levels()) {
      next_ = first_;
      while (const std::int64_t flow = push_along_a_path()) total += flow;
    }
    return total;
  }
  /// After maximum_flow: the vertices from which the sink can still be reached. Of all minimum cuts this one is nearest to the sink.
  constexpr Vec<char> sink_side() const {
    Vec<char> reached(first_.size(), 0);
    Vec<int> queue;
    queue.push_back(sink);
    reached[sink] = 1;
    for (int at = 0; at < queue.size(); ++at)
      for (int a = first_[queue[at]]; a >= 0; a = arcs_[a].next)
        if (const int from = arcs_[a].to; arcs_[a ^ 1].capacity > 0 && !reached[from]) {
          reached[from] = 1;
          queue.push_back(from);
        }
    return reached;
  }

 private:
  struct Arc {
    int to = 0, next = -1;
    std::int64_t capacity = 0;  ///< remaining capacity
  };
  Vec<Arc> arcs_;
  Vec<int> first_, level_, next_, queue_, path_;

  /// Distances from the source along arcs with capacity; false when the sink is out of reach.
  constexpr bool find_levels() {
    for (int& l : level_) l = -1;
    queue_.clear();
    queue_.push_back(source);
    level_[source] = 0;
    for (int at = 0; at < queue_.size() && level_[sink] < 0; ++at)
      for (int a = first_[queue_[at]]; a >= 0; a = arcs_[a].next)
        if (arcs_[a].capacity > 0 && level_[arcs_[a].to] < 0) {
          level_[arcs_[a].to] = level_[queue_[at]] + 1;
          queue_.push_back(arcs_[a].to);
        }
    return level_[sink] >= 0;
  }
  /// Depth first with the path on a stack; a dead end is never entered again on these levels.
  constexpr std::int64_t push_along_a_path() {
    path_.clear();
    int at = source;
    while (at != sink) {
      int& a = next_[at];
      while (a >= 0 && !(arcs_[a].capacity > 0 && level_[arcs_[a].to] == level_[at] + 1)) a = arcs_[a].next;
      if (a >= 0) {
        path_.push_back(a);
        at = arcs_[a].to;
      } else {
        if (path_.empty()) return 0;
        at = arcs_[path_.back() ^ 1].to;
        next_[at] = arcs_[path_.back()].next;
        path_.pop_back();
      }
    }
    std::int64_t flow = arcs_[path_[0]].capacity;
    for (int a : path_)
      if (arcs_[a].capacity < flow) flow = arcs_[a].capacity;
    for (int a : path_) {
      arcs_[a].capacity -= flow;
      arcs_[a ^ 1].capacity += flow;
    }
    return flow;
  }
};

}  // namespace detail

/// The values to save so that the fewest bytes are moved, and that number of bytes.
struct MinimumCut {
  Vec<char> saved;  ///< for each node of the joint graph
  std::int64_t bytes = 0;
};

/// Each value is two vertices, joined by an arc whose capacity is the price of saving: it is cut where the value is saved. An arc from the source to the first
/// vertex has the price of recomputing. Values on the source's side of the cut are lost to the backward, values on the sink's side are available to it, and
/// operands of an available, recomputed value must be available, too.
constexpr MinimumCut minimum_cut(const JointGraph& joint, const SymbolValues& symbols) {
  const detail::JointParts p(joint);
  const detail::CutPrices price(p, symbols);
  const Graph& g = joint.graph;
  Vec<int> vertex(g.size(), -1);
  int vertices = 2;
  for (int i = 0; i < g.size(); ++i) {
    if (!p.needed[i] || (is_leaf(g[i].op) && g[i].op != Op::input)) continue;
    vertex[i] = vertices;
    vertices += 2;
  }
  detail::FlowNetwork network(vertices);
  for (int i = 0; i < g.size(); ++i) {
    const int v = vertex[i];
    if (v < 0) continue;
    network.connect(v, v + 1, price.save[i]);
    if (price.recompute[i] > 0) network.connect(detail::FlowNetwork::source, v, price.recompute[i]);
    if (p.required[i]) network.connect(v + 1, detail::FlowNetwork::sink, detail::CutPrices::never);
    for (int o : g.operands(i))
      if (vertex[o] >= 0) network.connect(vertex[o] + 1, v, detail::CutPrices::never);
  }
  MinimumCut cut{Vec<char>(g.size(), 0), network.maximum_flow()};
  const Vec<char> at_hand = network.sink_side();
  for (int i = 0; i < g.size(); ++i)
    if (const int v = vertex[i]; v >= 0) cut.saved[i] = at_hand[v + 1] && !at_hand[v];
  return cut;
}

/// The bytes moved by a choice of `saved` values, counted as in the cut: values saved, and values recomputed from them. CutPrices::never and more: a product
/// would be recomputed, or an input is missing.
constexpr std::int64_t bytes_moved(const JointGraph& joint, const Vec<char>& saved, const SymbolValues& symbols) {
  const detail::JointParts p(joint);
  const detail::CutPrices price(p, symbols);
  Vec<char> used = p.required;
  std::int64_t sum = 0;
  for (int i = joint.graph.size() - 1; i >= 0; --i) {
    if (!used[i]) continue;
    if (!saved[i])
      for (int o : joint.graph.operands(i)) used[o] = 1;
    if (is_leaf(joint.graph[i].op) && joint.graph[i].op != Op::input) continue;
    sum += saved[i] ? price.save[i] : price.recompute[i];
    if (sum > detail::CutPrices::never) sum = detail::CutPrices::never;
  }
  return sum;
}

/// Inputs that double backward may need besides the nodes `given` to the backward. A saved value that the first backward gives no adjoint must be
/// differentiated back to the inputs: if only cos(z) was saved, z must be recomputed from its inputs. Saved values with an adjoint there need no more than the
/// backward reads anyway.
constexpr Vec<int> further_inputs(const JointGraph& joint, const Vec<char>& given) {
  const Graph& g = joint.graph;
  Vec<char> beneath(g.size(), 0);
  for (int i = g.size() - 1; i >= 0; --i) {
    const bool begins = given[i] && joint.depends[i] && g[i].op != Op::input && !(i < joint.reached.size() && joint.reached[i]);
    if (!begins && (!beneath[i] || given[i])) continue;
    for (int o : g.operands(i)) beneath[o] = 1;
  }
  Vec<int> inputs;
  for (int k = 0; k < joint.inputs; ++k)
    if (beneath[g.inputs[k]] && !given[g.inputs[k]]) inputs.push_back(k);
  return inputs;
}

/// The two graphs if the values `saved` are passed to the backward. Inputs that the backward also needs are passed, too.
constexpr Partition split(const JointGraph& joint, const Vec<char>& saved) {
  const detail::JointParts p(joint);
  const Graph& g = joint.graph;
  Partition r;

  // The nodes of the backward: from its outputs back to values passed to it.
  Vec<char> state(g.size(), 0), at_hand(g.size(), 0);
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == Op::input || (saved[i] && p.early[i])) {
      at_hand[i] = 1;
      state[i] = 2;
    }
  Vec<int> adjoints;
  for (int k = joint.results; k < g.outputs.size(); ++k) adjoints.push_back(g.outputs[k]);
  const Vec<int> order = post_order(g, adjoints, static_cast<Vec<char>&&>(state));
  Vec<char> read(g.size(), 0);
  for (int i : order)
    for (int o : g.operands(i)) read[o] = 1;
  for (int i : adjoints) read[i] = 1;

  // The forward: results, then the values it saves.
  Graph& f = r.forward;
  Graph& b = r.backward;
  f.failure = b.failure = g.failure;
  Vec<int> in_forward(g.size(), -1), in_backward(g.size(), -1), roots;
  for (int k = 0; k < joint.inputs; ++k) in_forward[g.inputs[k]] = f.input_like(g, g.inputs[k]);
  for (int k = 0; k < joint.results; ++k) roots.push_back(g.outputs[k]);
  for (int k = 0; k < joint.inputs; ++k)
    if (const int i = g.inputs[k]; read[i] && !p.is_donated(i)) {
      r.inputs.push_back(k);
      in_backward[i] = b.input_like(g, i);
    }
  for (int i = 0; i < g.size(); ++i) {
    if (!read[i] || !at_hand[i] || !p.early[i] || in_backward[i] >= 0) continue;
    int at = p.result_of(i);
    if (at < 0) {
      at = roots.size();
      roots.push_back(i);
    }
    r.saved.push_back(at);
    in_backward[i] = b.input(g[i].dtype, g[i].shape);
  }
  Vec<char> given(g.size(), 0);
  for (int i = 0; i < g.size(); ++i) given[i] = in_backward[i] >= 0;
  r.further = further_inputs(joint, given);
  for (int k = 0; k < joint.results; ++k)
    if (const int i = g.inputs[joint.inputs + k]; read[i]) {
      r.adjoints.push_back(k);
      in_backward[i] = b.input(g[i].dtype, g[i].shape);
    }

  const auto copy_nodes = [&g](Graph& to, const Vec<int>& nodes, Vec<int>& map) {
    for (int i : nodes) {
      if (map[i] >= 0) continue;
      map[i] = to.intern(g[i], g, mapped(g.operands(i), map));
    }
  };
  copy_nodes(f, post_order(g, roots), in_forward);
  for (int k = 0; k < roots.size(); ++k) {
    if (k < joint.results) f.output(in_forward[roots[k]], g.donated[k], g.output_padded[k]);
    else f.output(in_forward[roots[k]]);
  }
  copy_nodes(b, order, in_backward);
  for (int i : adjoints) b.output(in_backward[i]);
  for (int i = 0; i < g.size(); ++i)
    if (p.in_forward[i] && p.is_operation(i)) ++r.operations;
  for (int i : order)
    if (p.in_forward[i] && p.is_operation(i)) ++r.recomputed;
  return r;
}

/// Splits a joint graph so that the fewest bytes are moved; sizes are those of one call.
constexpr Partition partition(const JointGraph& joint, const SymbolValues& symbols) {
  return split(joint, minimum_cut(joint, symbols).saved);
}

}  // namespace tt
