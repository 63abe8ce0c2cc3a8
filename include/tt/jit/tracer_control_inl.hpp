// How a Tracer records control flow: the body of a branch or a loop is recorded in the graph of the function, on nodes that stand for
// its inputs; then those nodes are cut out of it as graphs of their own, and what they read of the rest becomes operands.
#pragma once
#include "tt/jit/tracer_inl.hpp"

namespace tt {
namespace jit {

inline bool Tracer::records_control(const Tensor* const* operand, int count) const {
  bool any = false;
  for (int k = 0; k < count; ++k) any = any || operand[k]->impl().trace_id >= 0;
  return any;
}
inline void Tracer::check_scope(const Tensor& t, SourceLine at) {
  const int value = static_cast<int>(t.impl().trace_id);
  for (const auto& [first, end] : left_regions_)
    if (value >= first && value < end) stop(t, "a read, outside of a branch or a loop, of what its body made:", at);
}
inline Tensor Tracer::region_input(const Tensor& t, bool row) {
  const Shape s = builder_.graph[id_of(t)].shape;
  Shape own;
  for (int k = row ? 1 : 0; k < s.rank; ++k) own.push_back(s[k]);
  const int id = builder_.variable(builder_.graph.constant(t.dtype(), 0, own));
  open_.back().inputs.push_back(id);
  Tensor stand_in = tensor_of(add_node(id));
  stand_in.impl().requires_grad = t.impl().requires_grad;
  return stand_in;
}
inline void Tracer::close_region(const Tensor* const* result, int count) {
  if (result) {
    Region r = static_cast<Region&&>(open_.back());
    for (int k = 0; k < count; ++k) r.outputs.push_back(id_of(*result[k]));
    r.end = static_cast<int>(list_->values.size());
    closed_.push_back(static_cast<Region&&>(r));
  }
  left_regions_.push_back({open_.back().first, static_cast<int>(list_->values.size())});
  open_.pop_back();
}
inline void Tracer::control_flow(const tt::detail::ControlCall& c) {
  const auto kind = static_cast<Control>(c.kind);
  const std::vector<Region> regions = take_regions(c.regions);
  Graph& g = builder_.graph;
  const auto refuse = [&](const char* why) { stop(*c.operand[0], why, c.at); };
  // What bodies give must be the same for all of them, and what is carried stays as it is.
  for (int k = 0; k < regions.back().outputs.size(); ++k) {
    const Node& given = g[regions.back().outputs[k]];
    const int like = kind == Control::cond ? regions[0].outputs[k] : k < c.carried ? regions.back().inputs[k] : regions.back().outputs[k];
    if (given.dtype != g[like].dtype || !(given.shape == g[like].shape))
      refuse(kind == Control::cond ? "cond: branches give other dtypes or shapes, for a condition," : "a loop changes the dtype or the shape of what it carries,");
  }
  bool required = false;
  Vec<int> operands;
  for (int k = 0; k < c.operands; ++k) {
    operands.push_back(id_of(*c.operand[k], c.at));
    required = required || c.operand[k]->impl().requires_grad;
  }
  RegionCutter cutter{g, regions.front().begin, {}};
  for (const Region& r : regions) cutter.note_outer(r.inputs, r.outputs);
  Vec<Graph> bodies;
  for (const Region& r : regions) bodies.push_back(cutter.cut(r.inputs, r.outputs));
  for (int i : cutter.outer) required = required || (is_floating(g[i].dtype) && argument_.on_tape());
  required = required && state().grad_enabled;
  if (kind == Control::while_loop && required) refuse("while_loop: gradients of so many steps as it takes, for");
  operands.append(cutter.outer.begin(), cutter.outer.size());
  g.where = c.at;
  const Vec<int> made = record_control(g, kind, {c.carried, c.xs, c.reverse}, bodies, operands);
  for (int k = 0; k < c.results; ++k) give_result(c.result[k], made[k], required, c.at);
}
inline void Tracer::give_result(Tensor& to, int id, bool required, SourceLine at) {
  Graph& g = builder_.graph;
  if (detaches_ && !state().grad_enabled && is_floating(g[id].dtype)) id = g.detach(id);
  for (int d = 0; d < g[id].shape.rank; ++d) builder_.guard_corner(Shape(g[id].shape)[d], at);
  to = tensor_of(add_node(id));
  to.impl().requires_grad = required && is_floating(g[id].dtype);
}
inline void Tracer::transform(const tt::detail::TransformCall& c) {
  const std::vector<Region> regions = take_regions(1);
  const Region& r = regions[0];
  Graph& g = builder_.graph;
  RegionCutter cutter{g, r.begin, {}};
  cutter.note_outer(r.inputs, r.outputs);
  const Graph body = cutter.cut(r.inputs, r.outputs);
  Vec<int> operands, by;
  for (int k = 0; k < c.operands; ++k) operands.push_back(id_of(*c.operand[k], c.at));
  const int inputs = r.inputs.size();
  for (int k = 0; k < inputs; ++k)
    if (c.kind == tt::detail::TransformCall::vmap || is_floating(g[r.inputs[k]].dtype)) by.push_back(k);
  Vec<int> in;
  in.append(operands.begin(), inputs);
  in.append(cutter.outer.begin(), cutter.outer.size());
  in.append(operands.begin() + inputs, operands.size() - inputs);
  g.where = c.at;
  const Graph made = c.kind == tt::detail::TransformCall::vmap ? vmap_of(body, by, Shape(g[operands[0]].shape)[0]) : jvp_of(body, by);
  if (made.failure) TT_THROW(Error(describe(made.failure)));
  const Vec<int> result = tt::detail::record_graph(g, made, in);
  for (int k = 0; k < c.results; ++k) give_result(c.result[k], result[k], argument_.on_tape() && state().grad_enabled, c.at);
}

}  // namespace jit
}  // namespace tt
