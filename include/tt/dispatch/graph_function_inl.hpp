// Definitions of graph_function.hpp: derivatives, forward and backward of a function on the tape, programs of devices, and
// the cached function of a call.
#pragma once
#include <vector>

#include "tt/dispatch/direct_call.hpp"
#include "tt/dispatch/graph_function.hpp"
#include "tt/graph/partition.hpp"
#include "tt/plan/drop_roundings.hpp"

namespace tt {

TT_INLINE GraphFunction::GraphFunction(Graph graph, const ProgramOptions& options, bool results_change)
    : graph_(decomposed(detail::has_steps(graph) ? canonical(graph) : graph)), options_(options), results_change_(results_change) {
  if (detail::has_composites(graph) || detail::has_steps(graph)) named_ = std::make_unique<const Graph>(static_cast<Graph&&>(graph));
  if (options.numerics == Numerics::fast) {
    WithoutRoundings without = drop_roundings(graph_);
    graph_ = static_cast<Graph&&>(without.graph);
    dropped_roundings_ = without.dropped;
  }
  for (int k = 0; k < graph_.inputs.size(); ++k) read_.push_back(0);
  std::vector<BitSet> flow(static_cast<std::size_t>(graph_.size()));
  for (int i : post_order(graph_, graph_.outputs)) {
    const Node& n = graph_[i];
    if (n.op == Op::input) read_[static_cast<int>(n.attribute)] = 1;
    if (!is_floating(n.dtype)) continue;
    BitSet& into = flow[static_cast<std::size_t>(i)];
    if (n.op == Op::input) into.set(static_cast<int>(n.attribute));
    if (n.op == Op::detach) continue;
    const Ids operands = graph_.operands(n);
    for (int k = 0; k < operands.count; ++k)
      if (flows_from(n, k)) into |= flow[static_cast<std::size_t>(operands[k])];
  }
  for (int o : graph_.outputs) flow_.push_back(flow[static_cast<std::size_t>(o)]);
  if (!has_externals(graph_)) return;
#if defined(TT_COMPILED)
  detail::use_steps();
#endif
  const detail::StepRunnerMaker maker = detail::step_runner_maker.load(std::memory_order_acquire);
  if (!maker) TT_THROW(Error(Text("tt: this program has no code for calls and control flow in graphs: it records none. Link tt::compiled?")));
  steps_ = maker(graph_, options);
}
TT_INLINE GraphFunction::~GraphFunction() {
  delete program_.load();  // one of several references
  for (OnDevice* p = on_devices_.load(); p;) {
    OnDevice* next = p->next;
    delete p;
    p = next;
  }
  for (Derivative* d = derivatives_.load(); d;) {
    Derivative* next = d->next;
    delete d->function;
    delete d;
    d = next;
  }
  for (Joint* j = joints_.load(); j;) {
    Joint* next = j->next;
    delete j;
    j = next;
  }
}
TT_INLINE GraphFunction::Joint::~Joint() {
  for (const Backward* b = others.load(); b;) delete std::exchange(b, b->next);
}

TT_INLINE void GraphFunction::run(const Tensor* const* argument, const SymbolValues& symbols, Tensor* result, Device otherwise) const {
  if (steps_) return steps_->run(argument, symbols, result, device_of(argument, graph_.inputs.size(), otherwise));
  int n = graph_.inputs.size();
  SmallVec<void*, 32> external(n + outputs());
  if (const Device device = device_of(argument, n, otherwise); has_programs(device.type)) return run_on(device, argument, symbols, result);
  for (int k = 0; k < n; ++k) {
    const detail::TensorImpl& t = argument[k]->impl();
    if (reads(k) && (t.device.type != DeviceType::cpu || (!t.data && t.numel > 0)))
      TT_THROW(Unavailable(Text("tt::") << last_op() << ": there is a program of the CPU, and a Tensor is on " << to_text(t.device) << ". Move it, or use set_cpu_fallback?"));
    external[k] = t.data;
  }
  for (int k = 0; k < outputs(); ++k) {
    if (const int into = graph_.donated[k]; into >= 0) {
      result[k] = *argument[into];
      continue;
    }
    result[k] = Tensor(graph_[graph_.outputs[k]].dtype, output_shape(k, symbols));
    external[n++] = result[k].data();
  }
  program().run(external.data(), symbols);
}
namespace detail {
/// The functions that run an op on the CPU for a device that has no program for it; throws Unavailable if there are none.
inline const CpuCopies& cpu_copies(Device device, const char* op) {
  if (const CpuCopies* on_cpu = device_programs(device.type).on_cpu.load(std::memory_order_acquire)) return *on_cpu;
  TT_THROW(Unavailable(Text("tt::") << op << ": there is no program for device " << name(device.type) << ". Move the Tensors to the CPU?"));
}
}  // namespace detail
TT_INLINE void GraphFunction::write(const Tensor& to, const Tensor& from, const SymbolValues& symbols) const {
  const Device device = to.device();
  if (DeviceProgram* const program = device_program(device.type, true)) {
    void* external[] = {to.impl().data, from.impl().data};
    return program->run(device.index, {external}, symbols);
  }
  detail::cpu_copies(device, "copy_").write(to, from);
}
TT_INLINE Shape GraphFunction::output_shape(int k, const SymbolValues& symbols) const {
  Shape s;
  const Shape& symbolic = graph_[graph_.outputs[k]].shape;
  for (int d = 0; d < symbolic.rank; ++d) s.push_back(symbolic[d].value(symbols));
  return s;
}
TT_INLINE Device GraphFunction::device_of(const Tensor* const* argument, int count, Device otherwise) const {
  Device best = otherwise;
  constexpr int most = 4;
  int rank = otherwise.type == DeviceType::cpu ? -1 : 1;  // a step of a function on a device: numbers on the host come along,
  for (int k = 0; rank > 0 && k < outputs(); ++k) rank = graph_.donated[k] < 0 ? 1 : -1;  // if none is changed in place
  for (int k = 0; k < count && rank < most; ++k) {
    const detail::TensorImpl& t = argument[k]->impl();
    const int r = !reads(k) ? 0 : t.shape.rank > 0 ? most - (steps_ && t.device.type == DeviceType::cpu) : t.device.type != DeviceType::cpu ? 2 : 1;
    if (r <= rank || (r == 0 && t.device.type == DeviceType::meta)) continue;
    rank = r;
    best = t.device;
  }
  return best;
}
TT_INLINE const std::shared_ptr<backend::TileProgram>& GraphFunction::share_program() const {
  std::shared_ptr<backend::TileProgram>* p = program_.load(std::memory_order_acquire);
  if (p) return *p;
  const PlanOptions plan{.bf16_pairs = options_.numerics == Numerics::fast && backend::tile_kernels().has_bf16_products(),
                         .keeps = options_.interpreted ? &detail::has_direct_call : nullptr};
  auto* fresh = new std::shared_ptr<backend::TileProgram>(new backend::TileProgram(compile_plan(graph_, plan)));
  if (options_.interpreted) (*fresh)->take_library_kernels();
  if (program_.compare_exchange_strong(p, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *p;
}
TT_INLINE std::vector<const GraphFunction*> GraphFunction::parts() const {
  std::vector<const GraphFunction*> list;
  each_step([&](const GraphFunction* part, const char*) {
    if (part) list.push_back(part);
  });
  return list;
}
TT_INLINE int GraphFunction::kernels() const {
  int n = 0;
  for (const GraphFunction* f : parts()) n += f->program().plan().kernels.size();
  return n;
}
TT_INLINE backend::TileProgram::Calls GraphFunction::calls() const {
  backend::TileProgram::Calls all;
  bool first = true;
  for (const GraphFunction* f : parts()) {
    const auto [tier0, tier1] = f->program().calls();
    if (first || tier1 < all.tier1) all = {tier0, tier1};
    first = false;
  }
  return all;
}

TT_INLINE const GraphFunction::Derivative& GraphFunction::derivative(const BitSet& wanted) const {
  return find_derivative(wanted, false, [&] { return make_derivative(wanted); });
}
TT_INLINE const GraphFunction::Joint* GraphFunction::joint(const BitSet& wanted, const SymbolValues& sizes) const {
  Joint* first = joints_.load(std::memory_order_acquire);
  Joint* j = first;
  while (j && j->wanted != wanted) j = j->next;
  if (!j) {
    j = make_partition(wanted, sizes);
    j->next = first;
    while (!joints_.compare_exchange_weak(j->next, j, std::memory_order_acq_rel)) {
    }
  }
  return j->forward ? j : nullptr;
}
TT_INLINE const GraphFunction::Joint::Backward& GraphFunction::backward(const Joint& j, const BitSet& seeded) const {
  bool first = true;
  for (int k : j.first.adjoints) first = first && seeded.test(k);
  for (int k : seeded) first = first && k < outputs();
  if (first) return j.first;
  constexpr int most_compiled = 8;  // of up to 2^results; the others are interpreted
  const auto find = [&](const Joint::Backward* b, int& count) {
    for (count = 0; b && b->seeded != seeded; b = b->next) ++count;
    return b;
  };
  int count = 0;
  const Joint::Backward* newest = j.others.load(std::memory_order_acquire);
  if (const Joint::Backward* known = find(newest, count)) return *known;
  auto fresh = std::make_unique<Joint::Backward>(make_backward(j, seeded));
  do {  // another thread may have made it meanwhile
    if (const Joint::Backward* known = find(newest, count)) return *known;
    fresh->next = newest;  // no other sees it yet
  } while (!j.others.compare_exchange_weak(newest, fresh.get(), std::memory_order_acq_rel));
  if (j.on_new_backward && count < most_compiled) j.on_new_backward(*fresh->function);
  return *fresh.release();
}

TT_INLINE GraphFunction::Derivative* GraphFunction::make_derivative(const BitSet& wanted) const {
  const JointGraph joint = make_joint(differentiated(), wanted);
  if (joint.graph.failure) TT_THROW(Error(tt::describe(joint.graph.failure)));
  const auto reads_arguments = [&](const Graph& g) { return !inputs_read(g, joint.inputs).empty(); };
  Graph g = derivative_of(joint);
  bool by_results = false;
  if (!results_change_ && reads_arguments(g)) {
    Graph other = derivative_of(joint, true);
    by_results = !reads_arguments(other);
    if (by_results) g = static_cast<Graph&&>(other);
  }
  return new Derivative{.wanted = wanted, .given = joint.given, .function = new GraphFunction(static_cast<Graph&&>(g), options_), .by_results = by_results};
}

TT_INLINE GraphFunction::Joint::Backward GraphFunction::backward_of(Partition&& p, const BitSet& given) const {
  return {.function = std::make_unique<GraphFunction>(static_cast<Graph&&>(p.backward), options_), .given = given, .inputs = static_cast<Vec<int>&&>(p.inputs),
          .saved = static_cast<Vec<int>&&>(p.saved), .adjoints = static_cast<Vec<int>&&>(p.adjoints)};
}
namespace detail {
/// The index in `all` of each of `some`.
inline Vec<int> places(const Vec<int>& some, const Vec<int>& all) {
  int most = 0;
  for (int x : all) most = x > most ? x : most;
  Vec<int> place(most + 1, -1), r;
  for (int k = 0; k < all.size(); ++k) place[all[k]] = k;
  for (int x : some) {
    if (x > most || place[x] < 0) TT_THROW(InternalError(Text("tt::backward: a value that the function was to save is not there.")));
    r.push_back(place[x]);
  }
  return r;
}
}  // namespace detail

TT_INLINE GraphFunction::Joint* GraphFunction::make_partition(const BitSet& wanted, const SymbolValues& sizes) const {
  const JointGraph joint = make_joint(differentiated(), wanted, results_change_ ? graph_.outputs.size() : 0);
  if (joint.graph.failure) TT_THROW(Error(tt::describe(joint.graph.failure)));
  auto made = std::make_unique<Joint>();
  made->wanted = wanted;
  if (joint.given.empty()) return made.release();
  Partition once = partition(joint, sizes);
  made->operations = once.operations;
  made->recomputed = once.recomputed;
  for (int k : once.saved) {
    const Node& n = once.forward[once.forward.outputs[k]];
    made->saved_bytes += n.shape.size().value(sizes) * size_of(n.dtype);
  }
  BitSet kept;
  for (const Vec<int>* list : {&once.inputs, &once.further})
    for (int x : *list) kept.set(x);
  for (int k : kept) made->kept.push_back(k);
  made->forward = std::make_unique<GraphFunction>(static_cast<Graph&&>(once.forward), options_);
  made->first = backward_of(static_cast<Partition&&>(once), joint.given);
  made->first.kept_at = detail::places(made->first.inputs, made->kept);
  made->first.saved_at = detail::places(made->first.saved, made->first.saved);
  return made.release();
}

/// It takes saved values of `first`, and inputs that were kept (Joint::kept) for such backwards.
TT_INLINE GraphFunction::Joint::Backward GraphFunction::make_backward(const Joint& j, const BitSet& seeded) const {
  const JointGraph again = make_joint(j.forward->graph(), j.wanted, results_change_ ? graph_.outputs.size() : 0, &seeded);
  if (again.graph.failure) TT_THROW(Error(tt::describe(again.graph.failure)));
  Vec<char> saved(again.graph.size(), 0);
  for (int k : j.first.saved) saved[again.graph.outputs[k]] = 1;
  Joint::Backward b = backward_of(split(again, saved), again.given);
  b.kept_at = detail::places(b.inputs, j.kept);
  b.saved_at = detail::places(b.saved, j.first.saved);
  b.seeded = seeded;
  return b;
}

TT_INLINE void GraphFunction::each_derived(CallableRef<void(const GraphFunction&, bool)> f) const {
  each_step([&](const GraphFunction* part, const char*) {
    if (part && part != this) f(*part, false);
  });
  for (const Derivative* d = derivatives_.load(std::memory_order_acquire); d; d = d->next)
    if (d->function) f(*d->function, !d->forward);
  for (const Joint* j = joints_.load(std::memory_order_acquire); j; j = j->next) {
    if (!j->forward) continue;
    f(*j->forward, false);
    f(*j->first.function, true);
    for (const Joint::Backward* b = j->others.load(std::memory_order_acquire); b; b = b->next) f(*b->function, true);
  }
}
TT_INLINE void GraphFunction::report(Text& t, const char* indent) const {
  for (const OnDevice* p = on_devices_.load(std::memory_order_acquire); p; p = p->next)
    if (p->program && !p->writes)
      if (const Text said = p->program->report(); !said.empty()) t << indent << said << '\n';
  Text backward;
  backward << indent << "backward: ";
  each_derived([&](const GraphFunction& function, bool is_backward) { function.report(t, is_backward ? backward.c_str() : indent); });
}

TT_INLINE std::unique_ptr<DeviceProgram> GraphFunction::make_device_program(DeviceType type, bool writes) const {
  using Made = std::unique_ptr<DeviceProgram>;
  if (const GraphProgramMaker make = graph_program_maker(type)) return Made(writes ? nullptr : make(graph_, last_op(), options_));
  const ProgramMaker make = program_maker(type);
  if (!make) return nullptr;
  Plan plan = compile_plan(graph_, {.transposed = Transposed::as_it_lies});
  if (writes) {  // the copy's load and store exchange their accesses
    Instruction *load = nullptr, *store = nullptr;
    for (Instruction& x : plan.instructions) (x.op == Op::load ? load : x.op == Op::store ? store : load) = &x;
    const int from = store->access;
    store->access = load->access;
    load->access = from;
  }
  return Made(make(static_cast<Plan&&>(plan), last_op(), options_));
}
TT_INLINE DeviceProgram* GraphFunction::device_program(DeviceType type, bool writes) const {
  const auto known = [&](const OnDevice* p) {
    while (p && (p->type != type || p->writes != writes)) p = p->next;
    return p;
  };
  OnDevice* first = on_devices_.load(std::memory_order_acquire);
  if (const OnDevice* p = known(first)) return p->program.get();
  auto* const fresh = new OnDevice{type, writes, make_device_program(type, writes), first};
  while (!on_devices_.compare_exchange_weak(fresh->next, fresh, std::memory_order_acq_rel))
    if (const OnDevice* p = known(fresh->next)) {  // another thread's came first
      delete fresh;
      return p->program.get();
    }
  return fresh->program.get();
}
TT_INLINE void GraphFunction::run_on(Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) const {
  DeviceProgram* const made = device_program(device.type, false);
  if (!made) return detail::cpu_copies(device, last_op()).run(*this, device, argument, symbols, result);
  DeviceProgram& program = *made;
  SmallVec<void*, 32> external(graph_.inputs.size() + outputs());
  std::vector<Tensor> moved;
  const BitSet& may_be_on_host = program.may_be_on_host();
  BitSet on_host;
  int n = graph_.inputs.size();
  for (int k = 0; k < n; ++k) {
    const detail::TensorImpl& t = argument[k]->impl();
    external[k] = t.data;
    if (t.device == device || !reads(k)) continue;
    bool updated = false;
    for (const int into : graph_.donated) updated = updated || into == k;
    if (t.numel != 1 || t.device.type == DeviceType::meta || updated)
      TT_THROW(Error(Text("tt::") << last_op() << ": Tensors on different devices: " << to_text(device) << " and " << to_text(t.device) << '.'));
    if (may_be_on_host.test(k) && is_host(t.device)) {
      on_host.set(k);
      continue;
    }
    moved.emplace_back(t.dtype, t.shape, device);  // a single element is copied to the device
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
  program.run(device.index, {external.data(), &on_host}, symbols);
}

namespace detail {

/// Records a call; an error stays in the graph, as its `failure`.
inline Graph record_call(const Operator& op, const Attributes& attributes, const Signature& s) {
  Graph g;
  std::vector<int> id, result(static_cast<std::size_t>(op.results));
  for (const Signature::Input& in : s.inputs()) id.push_back(g.input(in.dtype, in.shape, in.strides));
  op.record(g, op, id, attributes, result.data());
  for (int r : result) g.output(r);
  return g;
}

TT_INLINE SizeSet sizes_needed(const Graph& g, const SizeSet& as_numbers) {
  if (g.failure && g.failure.mistake != Mistake::extents_are_not_constant &&
      g.failure.mistake != Mistake::extent_along_axis_is_not_constant)
    return SizeSet::everything();
  SizeSet needed = g.as_numbers;
  for (const Graph::Assumed& x : g.assumed) {  // s0*s1 is 8*s0 where s1 is 8
    SizeSet differing;
    for (int k = 0; k < max_symbols && x.a.is_packed() && x.b.is_packed(); ++k)
      if (x.a.exponent(k) != x.b.exponent(k)) differing.some.set(k);
    if (differing.empty()) differing = symbols_of(x.a - x.b);
    needed |= differing;
  }
  for (const Graph::Needed& n : g.needed) needed |= symbols_of(n.extent);
  if (needed.within(as_numbers)) return SizeSet::everything();
  needed |= as_numbers;
  return needed;
}

/// Never destroyed: Tensors with static storage may be used after everything else.
TT_INLINE FunctionTable& function_table() {
  static FunctionTable* const table = new FunctionTable;
  return *table;
}

}  // namespace detail

TT_INLINE BoundFunction bind_function(const Call& c) {
  if (!c.op->record)
    TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": has no graph: give it a kernel, or a derivative of its own." << c.at));
  detail::FunctionTable& table = detail::function_table();
  detail::FunctionTable::Reading reading = table.read();
  for (SizeSet as_numbers;;) {
    const Signature s(c.argument, c.arguments, c.attrs(), as_numbers);
    const std::uint64_t hash = s.hash() ^ reinterpret_cast<std::uintptr_t>(c.op) >> 6;
    if (const auto* known = table.find(hash, [&](const detail::KeptFunction& k) {
          return k.op == c.op && Signature::same_words(s.word, k.word.data(), k.word.size());
        })) {
      if (known->function) return {known->function.get(), s.values, std::move(reading)};
      as_numbers = known->as_numbers;
      continue;
    }
    Graph g = detail::record_call(*c.op, c.attrs(), s);
    const bool right = !g.failure && g.assumed.empty() && g.needed.empty();
    if (right || (!s.is_constant() && !as_numbers.all)) {
      auto fresh = std::make_unique<detail::KeptFunction>();
      fresh->op = c.op;
      fresh->word.append(s.word.data(), s.word.size());
      if (right) fresh->function = std::make_shared<const GraphFunction>(static_cast<Graph&&>(g), ProgramOptions{.interpreted = true});
      else as_numbers = fresh->as_numbers = detail::sizes_needed(g, s.as_numbers);  // with these specialised the call may be legal, else the message shows them
      std::shared_ptr<const GraphFunction> f = fresh->function;
      const bool kept = table.insert(hash, std::move(fresh));
      if (!right) continue;
      const GraphFunction* const function = f.get();
      if (kept) f = nullptr;
      return {function, s.values, std::move(reading), std::move(f)};
    }
    g.failure.where = c.at;
    TT_THROW(Error(describe(g.failure)));
  }
}

TT_INLINE FunctionStats function_stats() {
  const detail::FunctionTable& t = detail::function_table();
  return {t.size(), t.most, t.evicted(), t.refused()};
}

}  // namespace tt
