// How a Tracer records control flow: the body of a branch or a loop is recorded in the graph of the function, on nodes that stand for its
// inputs. Then its nodes are cut out as a graph of its own (RegionCutter), and outer values that they read become operands. Bodies of vmap
// and jvp are recorded in the same way, then transformed.
#pragma once
#include "tt/graph/batch.hpp"
#include "tt/graph/forward_mode.hpp"
#include "tt/jit/tracer_inl.hpp"

namespace tt {
namespace jit {

inline void Tracer::check_scope(const Tensor& t, SourceLine at) {
  if (!regions_.any_left()) return;
  const detail::TensorImpl& impl = t.impl();
  if (impl.trace_id >= 0 ? regions_.is_left(static_cast<int>(impl.trace_id)) : regions_.is_over(impl.capture)) stop(t, "a read, outside of a branch or a loop, of what its body made:", at);
}
/// Was `t` made by the body that is being recorded? Its inputs were not.
inline bool Tracer::is_of_body(const Tensor& t) const {
  const int value = known_value(t);
  bool own = value >= regions_.current().first;
  for (const int i : regions_.current().inputs) own = own && builder_.node(value) != i;
  return own;
}
inline void Tracer::open_region() {
  state().capture = next_capture();
  regions_.open(state().capture, builder_.graph.size(), static_cast<int>(list_->values.size()));
}
inline Tensor Tracer::region_input(const Tensor& t, bool row) {
  const Shape s = builder_.graph[id_of(t)].shape;
  Shape own;
  for (int k = row ? 1 : 0; k < s.rank; ++k) own.push_back(s[k]);
  const int id = builder_.variable(builder_.graph.constant(t.dtype(), 0, own));
  regions_.current().inputs.push_back(id);
  Tensor stand_in = tensor_of(add_node(id));
  if (!t.impl().contiguous) stand_in.impl().set_strided(Shape(stand_in.impl().shape), t.impl().stride + (row ? 1 : 0));
  stand_in.impl().requires_grad = t.impl().requires_grad;
  if (t.impl().requires_grad) sources_.push_back(id);
  return stand_in;
}
inline void Tracer::close_region(const Tensor* const* result, int count) {
  for (int k = 0; k < count; ++k) regions_.current().outputs.push_back(id_of(*result[k]));
  regions_.close(static_cast<int>(list_->values.size()), result);
  state().capture = regions_.any_open() ? regions_.current().capture : number_;
  if (!result && broken_.empty()) broken_ = Text("an exception in the body of a branch or a loop");  // which the function may catch
}
inline void Tracer::control_flow(const tt::detail::ControlCall& c) {
  const auto kind = static_cast<Control>(c.kind);
  const std::vector<BodyRegions::Region> all = regions_.take(c.regions);
  const std::vector<BodyRegions::Region> regions(all.end() - region_count(kind), all.end());
  Graph& g = builder_.graph;
  const auto refuse = [&](const char* why) { stop(*c.operand[0], why, c.at); };
  // All bodies must give results of equal number, dtypes and shapes, and carried values keep theirs.
  const int outputs = regions.back().outputs.size(), most = kind == Control::while_loop ? c.carried : outputs;
  if ((kind == Control::cond && regions[0].outputs.size() != outputs) || outputs < c.carried || outputs > most || outputs != c.results)
    refuse("a body that gives more Tensors or fewer, beside");
  for (int k = c.carried + 1; k < c.carried + c.xs; ++k) {  // all of equal length
    const auto rows = [&](int j) { return Shape(g[id_of(*c.operand[j], c.at)].shape)[0]; };
    if (const Extent apart = rows(k) - rows(c.carried); apart != Extent(0)) builder_.guard_size(apart, 0, 0, c.at);
  }
  for (int k = 0; k < outputs; ++k) {
    const Node& given = g[regions.back().outputs[k]];
    const int like = kind == Control::cond ? regions[0].outputs[k] : k < c.carried ? regions.back().inputs[k] : regions.back().outputs[k];
    if (given.dtype != g[like].dtype || !(given.shape == g[like].shape))
      refuse(kind == Control::cond ? "cond: branches give other dtypes or shapes, for a condition," : "a loop changes the dtype or the shape of what it carries,");
  }
  Vec<int> operands;
  for (int k = 0; k < c.operands; ++k) operands.push_back(id_of(*c.operand[k], c.at));
  RegionCutter cutter{g, all.front().begin, {}};
  for (const BodyRegions::Region& r : all) cutter.note_outer(r.inputs, r.outputs);
  Vec<Graph> bodies;
  for (const BodyRegions::Region& r : regions) bodies.push_back(cutter.cut(r.inputs, r.outputs));
  for (std::size_t k = 0; k + regions.size() < all.size(); ++k)
    if (!same_body(cutter.cut(all[k].inputs, all[k].outputs), bodies[static_cast<int>(k)])) refuse("the body of a loop that is another one each time, beside");
  if (kind == Control::scan) bodies[0] = tt::detail::with_costly(bodies[0]);
  operands.append(cutter.outer.begin(), cutter.outer.size());
  g.where = c.at;
  const Vec<int> made = record_control(g, kind, {c.carried, c.xs, c.reverse}, bodies, operands);
  give_results(c.result, made, c.results, c.at);
}
/// Sets `to` to the first of these nodes as fake tensors.
inline void Tracer::give_results(Tensor* to, const Vec<int>& made, int count, SourceLine at) {
  Graph& g = builder_.graph;
  const Vec<char> required = tt::detail::depends_on(g, sources_);
  for (int k = 0; k < count; ++k) {
    const bool floating = is_floating(g[made[k]].dtype), own = floating && state().grad_enabled && required[made[k]];
    const int id = detaches_ && !state().grad_enabled && floating ? g.detach(made[k], under_no_grad) : made[k];
    const Shape s = g[id].shape;
    for (int d = 0; d < s.rank; ++d) builder_.guard_corner(s[d], at);
    to[k] = tensor_of(add_node(id));
    to[k].impl().requires_grad = own;
  }
}
inline void Tracer::transform(const tt::detail::TransformCall& c) {
  const BodyRegions::Region r = regions_.take(1)[0];
  Graph& g = builder_.graph;
  RegionCutter cutter{g, r.begin, {}};
  cutter.note_outer(r.inputs, r.outputs);
  const Graph body = cutter.cut(r.inputs, r.outputs);
  Vec<int> operands, by;
  for (int k = 0; k < c.operands; ++k) operands.push_back(id_of(*c.operand[k], c.at));
  const int inputs = r.inputs.size();
  for (int k = 1; k < inputs && c.kind == tt::detail::TransformCall::vmap; ++k)  // all have as many examples
    if (const Extent apart = Shape(g[operands[k]].shape)[0] - Shape(g[operands[0]].shape)[0]; apart != Extent(0)) builder_.guard_size(apart, 0, 0, c.at);
  for (int k = 0; k < inputs; ++k)
    if (c.kind == tt::detail::TransformCall::vmap || is_floating(g[r.inputs[k]].dtype)) by.push_back(k);
  Vec<int> in;
  in.append(operands.begin(), inputs);
  in.append(cutter.outer.begin(), cutter.outer.size());
  in.append(operands.begin() + inputs, operands.size() - inputs);
  g.where = c.at;
  const Graph made = c.kind == tt::detail::TransformCall::vmap ? vmap_of(body, by, Shape(g[operands[0]].shape)[0]) : jvp_of(body, by);
  if (made.failure) stop(*c.operand[0], c.kind == tt::detail::TransformCall::vmap ? "vmap: a body that no graph of batches holds, for" : "jvp: a body that has no derivative, for", c.at);
  give_results(c.result, tt::detail::record_graph(g, made, in), c.results, c.at);
}

}  // namespace jit
}  // namespace tt
