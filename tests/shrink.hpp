// A failing graph made small: outputs dropped, nodes replaced by one of their operands or by an
// input that holds their value, as long as it still fails.
#pragma once
#include "evaluate.hpp"

namespace fuzz {

/// A graph without op bodies, with the numbers to run it on.
struct Case {
  Graph graph;
  tt::SymbolValues symbols;
  std::vector<Values> input;
};

inline Case without_bodies(const Program& p) {
  return {tt::inline_bodies(p.graph), p.symbols, p.input};
}

namespace detail {

/// The case with node `i` replaced: by node `by` if it is not negative, else by a new input.
inline Case replaced(const Case& c, int i, int by, const Values& value) {
  Case r{{}, c.symbols, {}};
  tt::Vec<int> map(c.graph.size(), -1);
  for (int k = 0; k < c.graph.inputs.size(); ++k)
    map[c.graph.inputs[k]] =
        r.graph.input(c.graph[c.graph.inputs[k]].dtype, c.graph[c.graph.inputs[k]].shape);
  r.input = c.input;
  for (int j = 0; j < c.graph.size(); ++j) {
    if (map[j] >= 0) continue;
    if (j == i) {
      map[j] = by >= 0 ? map[by] : r.graph.input(c.graph[j].dtype, c.graph[j].shape);
      if (by < 0) r.input.push_back(value);
      continue;
    }
    map[j] = r.graph.intern(c.graph[j], c.graph, tt::mapped(c.graph.operands(j), map));
  }
  for (int k = 0; k < c.graph.outputs.size(); ++k)
    r.graph.output(map[c.graph.outputs[k]], c.graph.donated[k]);
  return r;
}

/// The live part, without inputs that nothing reads and that no output takes over.
inline Case tidy(const Case& c) {
  Case live{tt::canonical(c.graph), c.symbols, c.input};
  Case r{{}, c.symbols, {}};
  tt::Vec<char> used(live.graph.size(), 0);
  for (const tt::Node& n : live.graph.nodes)
    for (int o : live.graph.operands(n)) used[o] = 1;
  for (int o : live.graph.outputs) used[o] = 1;
  for (int d : live.graph.donated)
    if (d >= 0) used[live.graph.inputs[d]] = 1;
  tt::Vec<int> map(live.graph.size(), -1), number(live.graph.inputs.size() + 1, -1);
  for (int k = 0; k < live.graph.inputs.size(); ++k) {
    const int i = live.graph.inputs[k];
    if (!used[i]) continue;
    number[k] = r.graph.inputs.size();
    map[i] = r.graph.input(live.graph[i].dtype, live.graph[i].shape);
    r.input.push_back(live.input[static_cast<std::size_t>(k)]);
  }
  for (int j = 0; j < live.graph.size(); ++j) {
    if (live.graph[j].op != Op::input) map[j] = r.graph.intern(live.graph[j], live.graph, tt::mapped(live.graph.operands(j), map));
  }
  for (int k = 0; k < live.graph.outputs.size(); ++k)
    r.graph.output(map[live.graph.outputs[k]],
                   live.graph.donated[k] < 0 ? -1 : number[live.graph.donated[k]]);
  return r;
}

inline Case with_outputs(const Case& c, int dropped, bool keep_donation) {
  Case r = c;
  r.graph.clear_outputs();
  for (int k = 0; k < c.graph.outputs.size(); ++k)
    if (k != dropped || keep_donation)
      r.graph.output(c.graph.outputs[k], k == dropped ? -1 : c.graph.donated[k]);
  return r;
}

inline std::vector<Values> all_values(const Case& c) {
  Case every = c;
  every.graph.clear_outputs();
  for (int i = 0; i < c.graph.size(); ++i) every.graph.output(i);
  return evaluate(tt::inline_bodies(every.graph), c.symbols, c.input);
}

template <class Fails>
bool shrink_once(Case& c, const Fails& fails) {
  const auto accept = [&](const Case& smaller) {
    Case t = tidy(smaller);
    const bool less = t.graph.size() < c.graph.size() ||
                      t.graph.outputs.size() < c.graph.outputs.size() ||
                      t.graph.inputs.size() < c.graph.inputs.size();
    if (!less || !fails(t)) return false;
    c = t;
    return true;
  };
  if (c.graph.outputs.size() > 1)
    for (int k = 0; k < c.graph.outputs.size(); ++k)
      if (accept(with_outputs(c, k, false))) return true;
  const std::vector<Values> value = all_values(c);
  for (int i = c.graph.size() - 1; i >= 0; --i) {
    const tt::Node& n = c.graph[i];
    if (n.op == Op::input) continue;
    if (accept(replaced(c, i, -1, value[static_cast<std::size_t>(i)]))) return true;
    for (int o : tt::copied(c.graph.operands(i)))
      if (c.graph[o].dtype == n.dtype && c.graph[o].shape == n.shape)
        if (accept(replaced(c, i, o, {}))) return true;
  }
  return false;
}

}  // namespace detail

/// `fails(case)` must hold for `c`.
template <class Fails>
Case shrink(Case c, const Fails& fails) {
  c = detail::tidy(c);
  for (int round = 0; round < 300 && detail::shrink_once(c, fails); ++round) {
  }
  return c;
}

}  // namespace fuzz
