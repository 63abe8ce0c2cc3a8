// Steps: a function that holds ops with kernels of their own (sort, gather, a user's) as fused graphs and calls of those ops between
// them. A call runs as soon as its operands are computed; other nodes are computed as late as they can be, so that few values
// are in memory between two graphs. A call reads inputs and results of earlier calls in place where they are reshaped, permuted or cut.
//   const Steps s = cut_into_steps(graph);   for (const Steps::Step& step : s.step) step.call >= 0 ? ... : !step.view.empty() ? ... : ...
#pragma once
#include "tt/graph/transform.hpp"

namespace tt {

struct Steps {
  struct Step {
    Graph graph;         ///< fused, from the values `in` to the values `out`
    Vec<int> view;       ///< or a view: the value `in` reshaped, permuted and cut as these nodes are, the last one first
    bool dense = false;  ///< then: several calls read it, so it is contiguous
    int call = -1;       ///< or a node of the function that a kernel computes; `out` are all results of its op, -1: without a reader
    Vec<int> results;    ///< then: their nodes, -1 likewise
    Vec<int> in, out;
    Vec<int> last_read;  ///< values that no later step reads
  };
  Vec<Step> step;
  int values = 0;    ///< the first ones are the function's inputs
  Vec<int> outputs;  ///< the value of each of its outputs
};

namespace detail {

/// Level l is a fused graph, then the calls that read values of this and earlier levels only.
class StepCutter {
 public:
  explicit StepCutter(const Graph& g)
      : g_(g), live_(post_order(g, g.outputs)), calls_(find_calls(g, live_)), level_(g.size(), 0), value_(g.size(), -1),
        free_(g.size(), 0), root_(g.size(), 0), shows_(g.size(), -1), calls_that_read_(g.size(), 0), wanted_(g.size(), 0), read_(g.size(), 0), node_(g.size(), -1), seen_at_(g.size(), -1) {
    steps_.values = g.inputs.size();
    for (int k = 0; k < g.inputs.size(); ++k) value_[g.inputs[k]] = k;
  }
  Steps cut() {
    place();
    find_roots();
    find_views();
    Vec<Vec<int>> nodes(last_ + 1, {}), calls(last_ + 1, {}), roots(last_ + 1, {});  // of each level
    for (int i : live_)
      if (is_fused(i) && !free_[i] && wanted_[i]) nodes[level_[i]].push_back(i);
    for (int c = 0; c < calls_.first.size(); ++c) calls[level_[calls_.first[c]]].push_back(c);
    for (int i : live_)
      if (root_[i]) roots[level_[i]].push_back(i);
    for (int l = 0; l <= last_; ++l) {
      add_graph(nodes[l], roots[l], l);
      for (int c : in_order(calls[l])) add_call(c);
    }
    note_last_reads();
    return static_cast<Steps&&>(steps_);
  }

 private:
  const Graph& g_;
  const Vec<int> live_;
  const Calls calls_;
  Vec<int> level_, value_;
  Vec<char> free_;  ///< a repeated scalar: costs nothing, so every graph has its own
  Vec<char> root_;  ///< a fused graph computes it and stores it in memory
  Vec<int> shows_;  ///< of a root that is a view of an input or of a call's result: that node, else -1
  Vec<int> calls_that_read_;
  Vec<char> wanted_, read_;  ///< computed by the fused graph of its level; read by that of a later one, or an output
  int last_ = 0;    ///< the level after all calls
  Steps steps_;
  Vec<int> node_, seen_at_;  ///< the node's id in the graph of a step, and the level of that graph

  bool is_fused(int i) const { return g_[i].op != Op::input && calls_.call_of[i] < 0; }
  /// Is output k a value that a step makes anyhow? Other outputs are copies: of an input, into an input's memory, or of a value that is returned twice.
  bool is_own_output(int k) const {
    const int i = g_.outputs[k];
    if (g_.donated[k] >= 0 || g_[i].op == Op::input) return false;
    for (int j = 0; j < k; ++j)
      if (g_.outputs[j] == i) return false;
    return true;
  }
  /// The place of a call of an op with an effect in the order of recording (later ones have greater numbers); other ops: 0.
  int turn(int c) const { return g_[calls_.first[c]].def->info.effect ? g_[calls_.first[c]].identity : 0; }
  Vec<int> in_order(Vec<int> calls) const {
    for (int k = 1; k < calls.size(); ++k)
      for (int j = k; j > 0 && turn(calls[j]) < turn(calls[j - 1]); --j) std::swap(calls[j], calls[j - 1]);
    return calls;
  }
  void place() {
    Vec<int> effects;
    for (int c = 0; c < calls_.first.size(); ++c)
      if (turn(c) > 0) effects.push_back(c);
    effects = in_order(effects);
    place_behind_operands();
    for (int k = 1; k < effects.size(); ++k) {  // no effect before an earlier one
      const int least = level_[calls_.first[effects[k - 1]]];
      if (level_[calls_.first[effects[k]]] >= least) continue;
      for (int i : calls_.results[effects[k]])
        if (i >= 0) level_[i] = least;
      place_behind_operands();
    }
    for (int i : live_)
      if (is_fused(i)) level_[i] = last_;
    for (int t = live_.size() - 1; t >= 0; --t)  // each as late as its first reader
      for (int o : g_.operands(live_[t]))
        if (const int i = live_[t]; is_fused(o) && (calls_.call_of[i] >= 0 || !free_[o]) && level_[i] < level_[o]) level_[o] = level_[i];
  }
  void place_behind_operands() {
    for (int i : live_) {
      free_[i] = is_repeated_number(g_, i);
      for (int o : g_.operands(i)) {
        const int there = level_[o] + (calls_.call_of[o] >= 0);
        if (!free_[o] && there > level_[i]) level_[i] = there;
      }
      if (calls_.call_of[i] >= 0 && level_[i] >= last_) last_ = level_[i] + 1;
    }
  }
  void find_roots() {
    for (int i : live_)
      for (int o : g_.operands(i))
        if (is_fused(o) && (calls_.call_of[i] >= 0 || (!free_[o] && level_[o] < level_[i]))) root_[o] = 1;
    for (int k = 0; k < g_.outputs.size(); ++k)  // the last level writes outputs that are not is_own_output
      if (const int o = g_.outputs[k]; is_fused(o) && (is_own_output(k) || (!free_[o] && level_[o] < last_))) root_[o] = 1;
  }

  bool is_view(int i) const {
    const Op op = g_[i].op;
    return op == Op::reshape || op == Op::permute || (op == Op::slice && g_.attributes<SliceAttribute>(g_[i]).step > 0);
  }
  /// Finds the roots that only calls read, as views, and the nodes that fused graphs compute. Readers come before their operands.
  void find_views() {
    for (int k = 0; k < g_.outputs.size(); ++k) {
      const int o = g_.outputs[k];
      read_[o] = 1;
      if (!is_own_output(k)) wanted_[o] = 1;
    }
    for (int t = live_.size() - 1; t >= 0; --t) {
      const int i = live_[t];
      if (calls_.call_of[i] >= 0)
        for (int o : g_.operands(i)) ++calls_that_read_[o];
      if (!is_fused(i)) continue;
      if (root_[i] && !read_[i] && is_view(i)) {
        int from = i;
        while (is_fused(from) && is_view(from)) from = g_[from].operand[0];
        if (!is_fused(from)) shows_[i] = from;
      }
      wanted_[i] = wanted_[i] || (root_[i] && shows_[i] < 0);
      if (!wanted_[i]) continue;
      for (int o : g_.operands(i)) {
        if (level_[o] == level_[i] || free_[i]) wanted_[o] = 1;
        else read_[o] = 1;
      }
    }
  }

  /// The node that stands for i in the graph of a step: recorded there, or an input of that graph.
  int in_graph(Steps::Step& s, int i, int level) {
    if (seen_at_[i] == level) return node_[i];
    int made;
    if (free_[i]) {
      made = record(s, i, level);
    } else {
      made = g_[i].op == Op::input ? s.graph.input_like(g_, i) : s.graph.input(g_[i].dtype, g_[i].shape);
      s.in.push_back(value_[i]);
    }
    seen_at_[i] = level;
    return node_[i] = made;
  }
  int record(Steps::Step& s, int i, int level) {
    Vec<int> operands;
    for (int o : g_.operands(i)) operands.push_back(in_graph(s, o, level));
    return s.graph.intern(g_[i], g_, operands);
  }
  void add_graph(const Vec<int>& nodes, const Vec<int>& roots, int level) {
    Steps::Step s;
    for (int i : nodes) {
      node_[i] = record(s, i, level);
      seen_at_[i] = level;
    }
    for (int i : roots) {
      if (shows_[i] >= 0) {
        add_view(i);
        continue;
      }
      s.graph.output(in_graph(s, i, level));
      s.out.push_back(value_[i] = steps_.values++);
    }
    for (int k = 0; k < g_.outputs.size() && level == last_; ++k) {
      if (is_own_output(k)) {
        steps_.outputs.push_back(value_[g_.outputs[k]]);
        continue;
      }
      const int id = in_graph(s, g_.outputs[k], level);
      int into = g_.donated[k];
      if (into >= 0) into = static_cast<int>(s.graph[in_graph(s, g_.inputs[into], level)].attribute);
      s.graph.output(id, into, g_.output_padded[k]);
      steps_.outputs.push_back(steps_.values);
      s.out.push_back(steps_.values++);
    }
    if (!s.out.empty()) steps_.step.push_back(static_cast<Steps::Step&&>(s));
  }
  void add_view(int i) {
    Steps::Step s;
    for (int k = i; k != shows_[i]; k = g_[k].operand[0]) s.view.push_back(k);
    s.dense = calls_that_read_[i] > 1;
    s.in.push_back(value_[shows_[i]]);
    s.out.push_back(value_[i] = steps_.values++);
    steps_.step.push_back(static_cast<Steps::Step&&>(s));
  }
  void add_call(int c) {
    Steps::Step s;
    s.call = calls_.first[c];
    s.results = calls_.results[c];
    for (int o : g_.operands(s.call)) s.in.push_back(value_[o]);
    for (int i : calls_.results[c]) s.out.push_back(i < 0 ? -1 : value_[i] = steps_.values++);
    steps_.step.push_back(static_cast<Steps::Step&&>(s));
  }
  void note_last_reads() {
    Vec<char> read(steps_.values, 0);
    for (int v : steps_.outputs) read[v] = 1;
    for (int t = steps_.step.size() - 1; t >= 0; --t)
      for (int v : steps_.step[t].in)
        if (!read[v]) {
          read[v] = 1;
          steps_.step[t].last_read.push_back(v);
        }
  }
};

}  // namespace detail

/// A function that has_externals.
inline Steps cut_into_steps(const Graph& g) { return detail::StepCutter(g).cut(); }

}  // namespace tt
