// Definitions of graph_function.hpp: derivatives, the two halves of a function on the tape, programs of devices, and the
// function of a call.
#pragma once
#include <vector>

#include "tt/dispatch/graph_function.hpp"
#include "tt/graph/partition.hpp"

namespace tt {

TT_INLINE GraphFunction::Derivative* GraphFunction::make_derivative(std::uint64_t wanted) const {
  JointGraph joint = make_joint(graph_, wanted);
  if (joint.graph.failure) TT_THROW(Error(tt::describe(joint.graph.failure)));
  const std::uint64_t given = joint.given;
  return new Derivative{wanted, given, new GraphFunction(derivative_of(static_cast<JointGraph&&>(joint)), options_)};
}

TT_INLINE GraphFunction::Joint::Backward GraphFunction::backward_of(Partition&& p, std::uint64_t given) const {
  return {std::make_unique<GraphFunction>(static_cast<Graph&&>(p.backward), options_), given, static_cast<Vec<int>&&>(p.inputs),
          static_cast<Vec<int>&&>(p.saved), static_cast<Vec<int>&&>(p.adjoints)};
}

TT_INLINE GraphFunction::Joint* GraphFunction::make_partition(std::uint64_t wanted, const SymbolValues& sizes) const {
  const JointGraph joint = make_joint(graph_, wanted, results_change_ ? graph_.outputs.size() : 0);
  if (joint.graph.failure) TT_THROW(Error(tt::describe(joint.graph.failure)));
  auto made = std::make_unique<Joint>();
  made->wanted = wanted;
  if (!joint.given) return made.release();
  Partition once = partition(joint, sizes);
  made->operations = once.operations;
  made->recomputed = once.recomputed;
  if (once.forward.outputs.size() > max_outputs) return made.release();
  for (int k : once.saved) {
    const Node& n = once.forward[once.forward.outputs[k]];
    made->saved_bytes += n.shape.size().value(sizes) * size_of(n.dtype);
  }
  for (int k = 0; k < joint.inputs; ++k) {
    bool found = false;
    for (const Vec<int>* list : {&once.inputs, &once.further})
      for (int x : *list) found = found || x == k;
    if (found) made->kept.push_back(k);
  }
  auto forward = std::make_unique<GraphFunction>(static_cast<Graph&&>(once.forward), options_);
  made->first = backward_of(static_cast<Partition&&>(once), joint.given);
  int most = made->kept.size() + made->first.saved.size();
  for (int k = 0; k < forward->outputs(); ++k) most += forward->flows_into(k) & wanted ? 1 : 0;
  made->is_wide = most > 64;
  made->forward = std::move(forward);
  return made.release();
}

/// Saved values as results that have adjoints too. The same values are at hand, and inputs that were kept for it.
TT_INLINE GraphFunction::Joint::Backward GraphFunction::make_second(const Joint& j) const {
  const JointGraph again = make_joint(j.forward->graph(), j.wanted, results_change_ ? graph_.outputs.size() : 0);
  if (again.graph.failure) TT_THROW(Error(tt::describe(again.graph.failure)));
  Vec<char> saved(again.graph.size(), 0);
  for (int k : j.first.saved) saved[again.graph.outputs[k]] = 1;
  return backward_of(split(again, saved), again.given);
}

TT_INLINE void GraphFunction::report(Text& t, const char* indent) const {
  for (const std::atomic<DeviceProgram*>& p : device_program_)
    if (const DeviceProgram* program = p.load(std::memory_order_acquire))
      if (const Text said = program->report(); !said.empty()) t << indent << said << '\n';
  Text backward;
  backward << indent << "backward: ";
  for (const Derivative* d = derivatives_.load(std::memory_order_acquire); d; d = d->next) d->function->report(t, backward.c_str());
  for (const Joint* j = joints_.load(std::memory_order_acquire); j; j = j->next) {
    if (!j->forward) continue;
    j->forward->report(t, indent);
    j->first.function->report(t, backward.c_str());
    if (const Joint::Backward* second = j->second.load(std::memory_order_acquire)) second->function->report(t, (Text(backward) << "of backward: ").c_str());
  }
}

TT_INLINE DeviceProgram& GraphFunction::device_program(DeviceType type, bool writes) const {
  std::atomic<DeviceProgram*>& slot = (writes ? device_writer_ : device_program_)[static_cast<int>(type)];
  if (DeviceProgram* known = slot.load(std::memory_order_acquire)) return *known;
  Plan plan = compile_plan(graph_, Transposed::as_it_lies);
  if (writes) {  // load and store of the copy exchange their places
    Instruction *load = nullptr, *store = nullptr;
    for (Instruction& x : plan.instructions) (x.op == Op::load ? load : x.op == Op::store ? store : load) = &x;
    const int from = store->access;
    store->access = load->access;
    load->access = from;
  }
  const Node& last = graph_[graph_.outputs[0]];
  DeviceProgram* fresh = program_maker(type)(static_cast<Plan&&>(plan), last.op == Op::call ? last.def->info.name : name(last.op), options_);
  DeviceProgram* expected = nullptr;
  if (slot.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *expected;
}

TT_INLINE void GraphFunction::run_on(Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) const {
  void* external[2 * max_inputs + 2 * max_outputs];
  std::vector<Tensor> moved;
  DeviceProgram& program = device_program(device.type, false);
  const std::uint64_t may_be_on_host = program.may_be_on_host();
  std::uint64_t on_host = 0;
  int n = graph_.inputs.size();
  for (int k = 0; k < n; ++k) {
    const detail::TensorImpl& t = argument[k]->impl();
    external[k] = t.data;
    if (t.device == device || !reads(k)) continue;
    bool updated = false;
    for (const int into : graph_.donated) updated = updated || into == k;
    if (t.numel != 1 || t.device.type == DeviceType::meta || updated)
      TT_THROW(Error(Text("tt: Tensors on different devices: ") << to_text(device) << " and " << to_text(t.device) << '.'));
    if (k < 64 && (may_be_on_host >> k & 1) && is_host(t.device)) {
      on_host |= std::uint64_t{1} << k;
      continue;
    }
    moved.emplace_back(t.dtype, t.shape, device);  // a single element goes where the others are
    external[k] = moved.back().impl().data;
    device_api(device.type)->copy(external[k], device, t.data, t.device, static_cast<std::size_t>(size_of(t.dtype)), t.is_number);
  }
  for (int k = 0; k < outputs(); ++k) {
    if (const int into = graph_.donated[k]; into >= 0) {
      result[k] = *argument[into];
      continue;
    }
    result[k] = Tensor(graph_[graph_.outputs[k]].dtype, output_shape(k, symbols), device);
    external[n++] = result[k].impl().data;
  }
  program.run(device.index, {external, on_host}, symbols);
}

TT_INLINE BoundFunction bind_function(const Call& c) {
  if (!c.op->record)
    TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": has no graph: give it a kernel, or a derivative of its own." << c.at));
  for (unsigned as_numbers = 0;;) {
    const Signature s(c.argument, c.arguments, c.attrs(), as_numbers);
    const std::uint64_t hash = s.hash();
    detail::FunctionCache& cache = detail::FunctionCache::get();
    const GraphFunction* f = nullptr;
    if (cache.find(*c.op, s, hash, f, as_numbers)) {
      if (f) return {f, s.values};
      continue;
    }
    Graph g = detail::record_call(*c.op, c.attrs(), s);
    if (!g.failure && g.assumed.empty() && g.needed.empty())
      return {cache.insert(*c.op, s, hash, new GraphFunction(static_cast<Graph&&>(g))), s.values};
    if (!s.is_constant()) {  // with these sizes known it may be right, or else the message shows them
      as_numbers = detail::sizes_needed(g, s.as_numbers);
      cache.insert(*c.op, s, hash, nullptr, as_numbers);
      continue;
    }
    g.failure.where = c.at;
    TT_THROW(Error(describe(g.failure)));
  }
}

}  // namespace tt
