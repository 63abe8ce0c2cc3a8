// Control flow as nodes: their bodies are graphs of their own, regions, which run when the node does. Equal ops share one definition, which is never freed.
//   cond(%p, %a, %b) { region } { region }                   inputs of both are %a, %b; one of them runs
//   while_loop(%c, %a) carried 1 { condition } { body }      both take the carried values, then the others; the body gives new carried values
//   while_loop_backward(%c, %a, %d, %s) carried 1 { condition } { body } { adjoint of the body }
//   scan(%c, %x, %a) carried 1 xs 1 reverse False { body }   for each row of %x: from carried values, rows and the others to carried values and rows
//   checkpoint(%a, %b) { region }                            none of its values is saved: the gradient recomputes the region
// Results of a scan: the carried values at the end, the output rows stacked, and the values carried into each step, for gradients. The last rows may be costly
// values of the body, kept for gradients, see with_costly. Results that nobody reads are not computed.
#pragma once
#include "tt/graph/forward_mode.hpp"
#include "tt/graph/partition.hpp"
#include "tt/graph/region.hpp"

namespace tt {

enum class Control : std::uint8_t { cond, while_loop, scan, checkpoint, while_loop_backward };
constexpr const char* name(Control c) {
  constexpr const char* names[] = {"cond", "while_loop", "scan", "checkpoint", "while_loop_backward"};
  return names[static_cast<int>(c)];
}
inline constexpr int control_count = 5;
constexpr int region_count(Control c) { return c == Control::while_loop_backward ? 3 : c == Control::cond || c == Control::while_loop ? 2 : 1; }
/// How often bodies are recorded: loop bodies twice, to detect a body that changes from step to step.
constexpr int times_recorded(Control c) { return c == Control::while_loop || c == Control::scan ? 2 : 1; }
/// Is a region run once on all operands (behind the condition, if there is one)?
constexpr bool is_straight(Control c) { return c == Control::cond || c == Control::checkpoint; }

/// How many operands are carried from step to step, and how many follow that are read row by row.
struct ControlOptions {
  int carried = 0, xs = 0;
  bool reverse = false;  ///< from the last row to the first
};

struct ControlOp : OpDef {
  Control kind = Control::cond;
  Vec<Graph> graphs;
  Vec<BitSet> flow;  ///< of each result: the operands it depends on, as far as derivatives go
  Text text;
  ControlOp* next = nullptr;
};
/// Is a node control flow?
constexpr bool is_control(const Node& n) { return is_external(n) && n.def->region_count > 0; }
inline const ControlOp& control_of(const Node& n) { return static_cast<const ControlOp&>(*n.def); }
inline ControlOptions control_options(const Graph& g, const Node& n) {
  const Vec<std::int64_t> words = g.attribute_words(n);
  ControlOptions o;
  if (words.size() > 0) o.carried = static_cast<int>(words[0]);
  if (words.size() > 2) {
    o.xs = static_cast<int>(words[1]);
    o.reverse = words[2] != 0;
  }
  return o;
}

namespace detail {

inline constexpr OptionField control_fields[] = {{.name = "carried", .name_size = 7}, {.name = "xs", .name_size = 2},
                                                 {.name = "reverse", .name_size = 7, .kind = OptionField::Kind::boolean}};
template <int Count>
OptionFields first_fields() { return {control_fields, Count}; }
constexpr auto fields_of(Control c) { return is_straight(c) ? &first_fields<0> : c == Control::scan ? &first_fields<3> : &first_fields<1>; }
inline Vec<std::int64_t> words_of(Control kind, const ControlOptions& o) {
  if (is_straight(kind)) return {};
  if (kind == Control::scan) return {o.carried, o.xs, o.reverse};
  return {o.carried};
}
constexpr Shape with_rows(const Shape& row, Extent rows) {
  Shape s{rows};
  for (int k = 0; k < row.rank; ++k) s.push_back(row[k]);
  return s;
}

/// Records constants with the dtypes and shapes of the results.
inline void decompose_control(const OpDef& def, Graph& g, Ids operands, const std::int64_t* words, int* results) {
  const auto& op = static_cast<const ControlOp&>(def);
  const Vec<int> in = copied(operands);
  const auto like = [&](DType d, const Shape& s) { *results++ = g.constant(d, 0, s); };
  if (is_straight(op.kind)) {
    for (int o : op.graphs[0].outputs) like(op.graphs[0][o].dtype, op.graphs[0][o].shape);
    return;
  }
  const int carried = static_cast<int>(words[0]);
  if (op.kind == Control::while_loop_backward) {
    for (int k = op.graphs[1].inputs.size(); k < in.size(); ++k) like(g[in[k]].dtype, Shape(g[in[k]].shape));
    return;
  }
  for (int k = 0; k < carried; ++k) like(g[in[k]].dtype, Shape(g[in[k]].shape));
  if (op.kind == Control::while_loop) return;
  const Graph& body = op.graphs[0];
  const Extent rows = g[in[carried]].shape[0];
  for (int k = carried; k < body.outputs.size(); ++k) like(body[body.outputs[k]].dtype, with_rows(body[body.outputs[k]].shape, rows));
  for (int k = 0; k < carried; ++k) like(g[in[k]].dtype, with_rows(Shape(g[in[k]].shape), rows));
}
inline void differentiate_control(Graph& g, int node, const int* adjoints, int* out);
/// For each result, the operands it depends on: through the bodies, and through carried values until nothing changes.
inline Vec<BitSet> flow_of(Control kind, int carried, const Vec<Graph>& bodies) {
  const Graph& body = bodies[bodies.size() - 1];
  const int first = kind == Control::cond, outputs = body.outputs.size();
  Vec<BitSet> flow(outputs, BitSet{});
  for (const Graph& g : bodies) {
    if (kind == Control::while_loop && &g != &body) continue;  // its condition
    for (int k = 0; k < g.inputs.size(); ++k) {
      if (!is_floating(g[g.inputs[k]].dtype)) continue;
      const Vec<char> depends = depends_on(g, {g.inputs[k]});
      for (int r = 0; r < outputs; ++r)
        if (depends[g.outputs[r]]) flow[r].set(first + k);
    }
  }
  for (bool changed = carried > 0; changed;) {
    changed = false;
    for (int r = 0; r < outputs; ++r)
      for (int c = 0; c < carried; ++c) {
        if (!flow[r].test(c)) continue;
        const BitSet before = flow[r];
        flow[r] |= flow[c];
        changed = changed || flow[r] != before;
      }
  }
  for (int c = 0; c < carried && kind == Control::scan; ++c) {  // results: the values carried into each step
    flow.push_back(flow[c]);
    flow.back().set(c);
  }
  for (int c = 0; c < carried && kind == Control::while_loop; ++c) flow[c].set(c);  // if the loop takes no step
  return flow;
}

}  // namespace detail

/// The op with these regions, whose inputs and outputs agree.
inline const OpDef& control_op(Control kind, int carried, Vec<Graph> regions) {
  static detail::KeptDefinitions<ControlOp> kept;
  Text text(name(kind));
  text << ' ' << carried << '\n';
  for (Graph& g : regions) {
    g = canonical(g);
    text << to_string(g);
  }
  return kept.find(text, [&](ControlOp& made) {
    const Graph& body = regions[regions.size() - 1];
    made.info = {.name = name(kind), .domain = Domain::number, .arity = body.inputs.size() + (kind == Control::cond)};
    made.is_named = made.is_external = made.has_rule = true;
    made.decompose = &detail::decompose_control;
    made.differentiate = &detail::differentiate_control;
    made.options = detail::fields_of(kind);
    made.results = body.outputs.size() + (kind == Control::scan ? carried : 0);
    made.kind = kind;
    if (kind != Control::while_loop_backward) made.flow = detail::flow_of(kind, carried, regions);
    if (!made.flow.empty()) made.flows = [](const OpDef& def, int result, int operand) { return static_cast<const ControlOp&>(def).flow[result].test(operand); };
    made.graphs = static_cast<Vec<Graph>&&>(regions);
    made.regions = made.graphs.begin();
    made.region_count = made.graphs.size();
  });
}
/// Records control flow; the results of a scan end with the values carried into each step.
inline Vec<int> record_control(Graph& g, Control kind, const ControlOptions& options, const Vec<Graph>& regions, const Vec<int>& operands) {
  return call_named(g, control_op(kind, options.carried, regions), operands, detail::words_of(kind, options));
}

// ---- regions out of a graph

/// Cuts nodes recorded from node `begin` on into graphs of their own. Each takes its own inputs, `formal`, then the earlier nodes that any of them reads, the
/// same for all.
struct RegionCutter {
  const Graph& g;
  int begin;
  Vec<int> outer;  ///< the earlier nodes

  Vec<int> inside(const Vec<int>& formal, const Vec<int>& outputs) const {
    Vec<char> state(g.size(), 0);
    for (int i = 0; i < begin; ++i)
      if (!detail::is_repeated_number(g, i)) state[i] = 2;
    for (int i : formal) state[i] = 2;
    return post_order(g, outputs, static_cast<Vec<char>&&>(state));
  }
  void note_outer(const Vec<int>& formal, const Vec<int>& outputs) {
    Vec<char> known(g.size(), 0);
    const Vec<int> own = inside(formal, outputs);
    for (const Vec<int>* list : {&own, &formal, static_cast<const Vec<int>*>(&outer)})
      for (int i : *list) known[i] = 1;
    const auto note = [&](int i) {
      if (!known[i]) outer.push_back(i);
      known[i] = 1;
    };
    for (int i : own)
      for (int o : g.operands(i)) note(o);
    for (int i : outputs) note(i);
  }
  Graph cut(const Vec<int>& formal, const Vec<int>& outputs) const {
    Graph r;
    Vec<int> map(g.size(), -1);
    for (const Vec<int>* list : {&formal, &outer})
      for (int i : *list) map[i] = r.input(g[i].dtype, g[i].shape);
    for (int i : inside(formal, outputs)) map[i] = r.intern(g[i], g, mapped(g.operands(i), map));
    for (int i : outputs) r.output(map[i]);
    return canonical(r);
  }
};

/// Are these the same nodes, except for the identities of gradient variables inside?
inline bool same_body(const Graph& a, const Graph& b) {
  bool same = a.size() == b.size() && a.inputs == b.inputs && a.outputs == b.outputs;
  for (int i = 0; i < a.size() && same; ++i) {
    Node n = a[i];
    if (n.identity != 0 && b[i].identity != 0) n.identity = b[i].identity;
    same = Graph::are_equal(a, n, b, b[i]);
  }
  return same;
}

// ---- derivatives

namespace detail {

/// Is it a matrix product, does its body contain one, or does a kernel of its own compute it?
inline bool is_costly(const Graph& g, const Node& n) {
  if (is_product(n.op) || is_external(n)) return true;
  if (!is_composite(n)) return false;
  Graph body;
  Vec<int> in;
  for (int o : g.operands(n)) in.push_back(body.input(g[o].dtype, g[o].shape));
  decompose(body, g, n, in);
  bool any = false;
  for (const Node& part : body.nodes) any = any || is_product(part.op);
  return any;
}
/// The body of a scan with its costly floating values as further output rows, so that its gradient reads them instead of recomputing them.
inline Graph with_costly(Graph body) {
  for (int i = 0, count = body.size(); i < count; ++i) {
    bool there = !is_floating(body[i].dtype) || !is_costly(body, body[i]);
    for (int o : body.outputs) there = there || o == i;
    if (!there) body.output(i);
  }
  return body;
}

/// Records `body` on these nodes; gives its results.
inline Vec<int> record_graph(Graph& g, const Graph& body, const Vec<int>& inputs) {
  Vec<int> map(body.size(), -1);
  for (int k = 0; k < body.inputs.size(); ++k) map[body.inputs[k]] = inputs[k];
  for (int i = 0; i < body.size(); ++i)
    if (map[i] < 0) map[i] = again(g, body, body[i], mapped(body.operands(i), map));
  return mapped({body.outputs.begin(), body.outputs.size()}, map);
}
/// A region's backward: from the region's inputs, an adjoint for each of the outputs `seeded`, and the outputs `saved`, to the adjoints of the inputs
/// `wanted`. `saved`: those of the outputs `may_save` that it would recompute otherwise.
struct AdjointRegion {
  Graph graph;
  Vec<int> saved;
};
inline AdjointRegion adjoint_region(const Graph& region, const Vec<int>& seeded, const Vec<int>& wanted, const Vec<int>& may_save = {}) {
  Graph g = region;
  Vec<int> roots, seeds, variables;
  for (int k : seeded) {
    roots.push_back(g.outputs[k]);
    const Node out = g[g.outputs[k]];
    seeds.push_back(g.input(out.dtype, out.shape));
  }
  for (int k : wanted) variables.push_back(g.inputs[k]);
  Vec<int> d = reverse(g, roots, seeds, variables);
  const Vec<int> flat = decompose_fully(g);
  for (int& i : d) i = i < 0 ? i : flat[i];
  for (int& i : variables) i = flat[i];
  AdjointRegion r;
  r.graph.failure = g.failure;
  Vec<int> map(g.size(), -1), ends;
  Vec<char> state(g.size(), 0);
  for (int i : g.inputs) {
    map[i] = r.graph.input(g[i].dtype, g[i].shape);
    state[i] = 2;
  }
  for (int k : may_save)
    if (map[g.outputs[k]] < 0) state[g.outputs[k]] = 2;
  for (int i : d)
    if (i >= 0) ends.push_back(i);
  const Vec<int> order = post_order(g, ends, state);
  Vec<char> read(g.size(), 0);
  for (int i : ends) read[i] = 1;
  for (int i : order)
    for (int o : g.operands(i)) read[o] = 1;
  for (int k : may_save)
    if (const int i = g.outputs[k]; map[i] < 0 && read[i]) {
      map[i] = r.graph.input(g[i].dtype, g[i].shape);
      r.saved.push_back(k);
    }
  for (int i : order) map[i] = r.graph.intern(g[i], g, mapped(g.operands(i), map));
  for (int k = 0; k < d.size(); ++k) {
    const Node& in = g[variables[k]];
    r.graph.output(d[k] < 0 ? r.graph.constant(in.dtype, 0, in.shape) : r.graph.broadcast_to(map[d[k]], in.shape));
  }
  return r;
}
inline Vec<int> floating_inputs(const Graph& g, int first, int count) {
  Vec<int> list;
  for (int k = first; k < first + count; ++k)
    if (is_floating(g[g.inputs[k]].dtype)) list.push_back(k);
  return list;
}
/// Backward of cond and checkpoint: the branch that ran, or the region, is recomputed from its inputs and run backward.
inline void differentiate_straight(Graph& g, int node, const int* adjoints, int* out) {
  const ControlOp& op = control_of(g[node]);
  const Vec<int> wanted = floating_inputs(op.graphs[0], 0, op.graphs[0].inputs.size());
  Vec<int> operands = copied(g.operands(node)), seeded;
  for (int k = 0; k < op.results; ++k) {
    if (adjoints[k] < 0) continue;
    seeded.push_back(k);
    operands.push_back(adjoints[k]);
  }
  if (wanted.empty()) return;
  Vec<Graph> back;
  for (const Graph& region : op.graphs) {
    back.push_back(adjoint_region(region, seeded, wanted).graph);
    if (back.back().failure) g.fail(back.back().failure);
  }
  if (g.failure) return;
  const Vec<int> result = record_control(g, op.kind, {}, back, operands);
  for (int k = 0; k < wanted.size(); ++k) out[(op.kind == Control::cond) + wanted[k]] = result[k];
}
/// Backward of a scan: a scan in the other direction. It carries the adjoints of the carried values and the summed adjoints of values that all steps read; its
/// rows are the values carried into each step, the rows read, values saved by the steps, and the adjoints of output rows.
inline void differentiate_scan(Graph& g, int node, const int* adjoints, int* out) {
  const Node n = g[node];
  const Graph& body = control_of(n).graphs[0];
  const ControlOptions o = control_options(g, n);
  const Vec<int> operands = copied(g.operands(n));
  const int rest = operands.size() - o.carried - o.xs, states_at = body.outputs.size();
  const Vec<int> results = call_named(g, *n.def, operands, words_of(Control::scan, o));
  const Vec<int> carried = floating_inputs(body, 0, o.carried), xs = floating_inputs(body, o.carried, o.xs), others = floating_inputs(body, o.carried + o.xs, rest);
  Vec<int> seeded = carried, wanted = carried;
  for (int k = o.carried; k < states_at; ++k)
    if (adjoints[k] >= 0) seeded.push_back(k);
  for (const Vec<int>* list : {&xs, &others}) wanted.append(list->begin(), list->size());
  if (wanted.empty()) return;
  Vec<int> may_save;
  for (int k = o.carried; k < states_at; ++k)
    if (adjoints[k] < 0) may_save.push_back(k);
  const AdjointRegion adjoint = adjoint_region(body, seeded, wanted, may_save);
  if (adjoint.graph.failure) {
    g.fail(adjoint.graph.failure);
    return;
  }

  Graph back;
  const auto input = [&](int id) { return back.input(body[id].dtype, body[id].shape); };
  Vec<int> seeds, sums, in, init, rows, of_state;  // seeds, sums, in, of_state: nodes of `back`; init, rows: nodes of `g`
  for (const Vec<int>* list : {&carried, &others})
    for (int k : *list) {
      const Node& like = body[body.inputs[k]];
      (list == &carried ? seeds : sums).push_back(input(body.inputs[k]));
      init.push_back(list == &carried && adjoints[k] >= 0 ? adjoints[k] : g.constant(like.dtype, 0, like.shape));
    }
  for (int k = 0; k < o.carried + o.xs; ++k) {
    in.push_back(input(body.inputs[k]));
    rows.push_back(k < o.carried ? results[states_at + k] : operands[k]);
  }
  for (int k = carried.size(); k < seeded.size(); ++k) {
    seeds.push_back(input(body.outputs[seeded[k]]));
    rows.push_back(adjoints[seeded[k]]);
  }
  for (int k : carried) {
    const int d = adjoints[states_at + k];
    of_state.push_back(d < 0 ? -1 : input(body.inputs[k]));
    if (d >= 0) rows.push_back(d);
  }
  Vec<int> saved;
  for (int k : adjoint.saved) {
    saved.push_back(input(body.outputs[k]));
    rows.push_back(results[k]);
  }
  for (int k = 0; k < rest; ++k) in.push_back(input(body.inputs[o.carried + o.xs + k]));
  in.append(seeds.begin(), seeds.size());
  in.append(saved.begin(), saved.size());
  const Vec<int> d = record_graph(back, adjoint.graph, in);
  for (int k = 0; k < carried.size(); ++k) back.output(of_state[k] < 0 ? d[k] : back.add(d[k], of_state[k]));
  for (int k = 0; k < others.size(); ++k) back.output(back.add(sums[k], d[carried.size() + xs.size() + k]));
  for (int k = 0; k < xs.size(); ++k) back.output(d[carried.size() + k]);

  Vec<int> given = init;
  given.append(rows.begin(), rows.size());
  for (int k = 0; k < rest; ++k) given.push_back(operands[o.carried + o.xs + k]);
  const Vec<int> result = record_control(g, Control::scan, {init.size(), rows.size(), !o.reverse}, {back}, given);
  int next = 0;
  for (const Vec<int>* list : {&carried, &others, &xs})
    for (int k : *list) out[k] = result[next++];
}
/// Records a while_loop_backward: the loop runs again and keeps each value that it carries, then the adjoint of the body runs from the last step to the first. It
/// carries the adjoints `of_carried` (-1: zero) and the summed adjoints of values that all steps read.
/// `carried`, `others`: the floating ones, which have an adjoint in the result.
struct WhileAdjoints {
  Vec<int> carried, others, results;
};
inline WhileAdjoints record_while_backward(Graph& g, const ControlOp& op, const ControlOptions& o, const Vec<int>& operands, const Vec<int>& of_carried) {
  const Graph &condition = op.graphs[0], &body = op.graphs[1];
  WhileAdjoints r{floating_inputs(body, 0, o.carried), floating_inputs(body, o.carried, operands.size() - o.carried), {}};
  Vec<int> wanted = r.carried;
  wanted.append(r.others.begin(), r.others.size());
  if (wanted.empty()) return r;
  const Graph adjoint = adjoint_region(body, r.carried, wanted).graph;
  if (adjoint.failure) {
    g.fail(adjoint.failure);
    return r;
  }
  Graph back;
  Vec<int> in, sums, given = operands;
  const auto input = [&](int k) { return back.input(body[body.inputs[k]].dtype, body[body.inputs[k]].shape); };
  for (int k = 0; k < operands.size(); ++k) in.push_back(input(k));
  for (int k : wanted) {
    const Node& like = body[body.inputs[k]];
    (k < o.carried ? in : sums).push_back(input(k));
    given.push_back(k < o.carried && of_carried[k] >= 0 ? of_carried[k] : g.constant(like.dtype, 0, like.shape));
  }
  const Vec<int> d = record_graph(back, adjoint, in);
  for (int k = 0; k < wanted.size(); ++k) back.output(k < r.carried.size() ? d[k] : back.add(sums[k - r.carried.size()], d[k]));
  r.results = record_control(g, Control::while_loop_backward, o, {condition, body, back}, given);
  return r;
}
inline void differentiate_while(Graph& g, int node, const int* adjoints, int* out) {
  const ControlOptions o = control_options(g, g[node]);
  Vec<int> of_carried;
  of_carried.append(adjoints, o.carried);
  const WhileAdjoints d = record_while_backward(g, control_of(g[node]), o, copied(g.operands(node)), of_carried);
  int next = 0;
  for (const Vec<int>* list : {&d.carried, &d.others})
    for (int k : *list)
      if (next < d.results.size()) out[k] = d.results[next++];
}
/// A graph as a function of inputs like the nodes `given`, of which its own inputs are the first `from`.
inline Graph with_inputs(const Graph& body, const Graph& g, const Vec<int>& given, const Vec<int>& from) {
  Graph r;
  Vec<int> inputs, own;
  for (int i : given) inputs.push_back(r.input(g[i].dtype, g[i].shape));
  for (int k = 0; k < body.inputs.size(); ++k) own.push_back(inputs[from[k]]);
  for (int i : record_graph(r, body, own)) r.output(i);
  return r;
}
/// Backward of a while_loop_backward. It is linear in the adjoints d that it begins with, and the transpose of the loop that carries tangents: <m, backward(c, a, d)>
/// = <d, tangents(c, a, m)>. So its derivative along d is that loop, and those along c and a are the backward of that loop.
inline void differentiate_while_backward(Graph& g, int node, const int* adjoints, int* out) {
  const ControlOp& op = control_of(g[node]);
  const Graph& body = op.graphs[1];
  const int carried = control_options(g, g[node]).carried, inputs = body.inputs.size();
  const Vec<int> operands = copied(g.operands(node)), floating = floating_inputs(body, 0, inputs);
  const int tangents = floating_inputs(body, 0, carried).size();
  Vec<int> from(inputs + floating.size(), -1), given, of_carried(carried + tangents, -1);  // inputs of the loop: carried values, their tangents, others, their tangents
  const auto add = [&](int k, int id) {  // `k`: the number of that input in jvp_of(body)
    from[k] = given.size();
    given.push_back(id);
  };
  const auto add_tangent = [&](int k) {
    const Node& of = body[body.inputs[floating[k]]];
    add(inputs + k, adjoints[k] >= 0 ? adjoints[k] : g.constant(of.dtype, 0, of.shape));
  };
  for (int k = 0; k < carried; ++k) add(k, operands[k]);
  for (int k = 0; k < tangents; ++k) add_tangent(k);
  for (int k = carried; k < inputs; ++k) add(k, operands[k]);
  for (int k = tangents; k < floating.size(); ++k) add_tangent(k);
  const Graph along = jvp_of(body, floating);
  if (along.failure) {
    g.fail(along.failure);
    return;
  }
  const ControlOptions o{.carried = carried + tangents};
  const Vec<int> results = record_control(g, Control::while_loop, o, {with_inputs(op.graphs[0], g, given, from), with_inputs(along, g, given, from)}, given);
  for (int k = 0; k < tangents; ++k) {
    out[inputs + k] = results[carried + k];
    of_carried[carried + k] = operands[inputs + k];
  }
  for (int k = tangents; k < floating.size(); ++k) out[inputs + k] = adjoints[k];
  const WhileAdjoints d = record_while_backward(g, control_of(g[results[0]]), o, given, of_carried);
  if (d.results.empty()) return;
  for (int k = 0; k < floating.size(); ++k) out[floating[k]] = d.results[k < tangents ? k : tangents + k];
}
inline void differentiate_control(Graph& g, int node, const int* adjoints, int* out) {
  switch (control_of(g[node]).kind) {
    case Control::cond: case Control::checkpoint: return differentiate_straight(g, node, adjoints, out);
    case Control::scan: return differentiate_scan(g, node, adjoints, out);
    case Control::while_loop: return differentiate_while(g, node, adjoints, out);
    case Control::while_loop_backward: return differentiate_while_backward(g, node, adjoints, out);
  }
}

}  // namespace detail
}  // namespace tt
