// Runs a GraphFunction whose graph holds calls of kernels that are no programs: step by step, with a Tensor for each value between steps. Kernels run below the
// tape; regions of control flow are GraphFunctions run here.
#pragma once
#include "tt/core/copy_memory.hpp"
#include "tt/dispatch/graph_function.hpp"
#include "tt/graph/control.hpp"
#include "tt/plan/steps.hpp"
#include "tt/plan/take_calls.hpp"

namespace tt {
namespace detail {

/// The options of a node as attributes for its operator: symbolic sizes are replaced by their values.
inline Attributes attributes_of(const Graph& g, const Node& n, const SymbolValues& symbols) {
  Vec<std::int64_t> words = g.attribute_words(n);
  for_each_option(*n.def, words, [&](const OptionField& option, const std::int64_t* word, int count) {
    for (int k = 0; k < count && option.kind == OptionField::Kind::size; ++k) {
      std::int64_t& size = words[static_cast<int>(word - words.begin()) + k];
      size = Extent::from_code(size).value(symbols);
    }
  });
  Attributes a;
  a.value.append(words.begin(), words.size());
  return a;
}
/// A reshape, permute or slice node as a view of `t`, where strides can express it.
inline Tensor shown(const Tensor& t, const Graph& g, const Node& n, const SymbolValues& symbols) {
  IntList to;
  const auto p = n.op == Op::permute ? g.attributes<PermuteAttribute>(n) : PermuteAttribute();
  for (int k = 0; k < n.shape.rank; ++k) to.push_back(n.op == Op::permute ? p.axis[k] : n.shape[k].value(symbols));
  if (n.op == Op::permute) return t.permute(to, n.where);
  if (n.op == Op::reshape) return t.reshape(to, n.where);
  const auto s = g.attributes<SliceAttribute>(n);
  const std::int64_t start = s.start.value(symbols), count = n.shape[s.axis].value(symbols);
  return t.slice(s.axis, start, count == 0 ? start : start + (count - 1) * s.step + 1, s.step, n.where);
}
/// Makes a result contiguous, in memory that no operand shares.
inline void make_own(Tensor& result, const Tensor* const* argument, int count) {
  result = result.contiguous();
  bool shared = false;
  for (int k = 0; k < count; ++k) shared = shared || result.impl().storage == argument[k]->impl().storage;
  if (shared) result = result.clone();
}
TT_INLINE void check_external(const Call& c) {
  if (!c.op->external) return;
  const PauseCapture pause;
  SmallVec<Tensor, few_arguments> meta(c.arguments);
  SmallVec<const Tensor*, few_arguments> argument;
  SmallVec<Tensor, few_results> result(c.op->results);
  for (int k = 0; k < c.arguments; ++k) {
    meta[k] = Tensor(c[k].dtype(), c[k].impl().shape, {DeviceType::meta, 0});
    argument.push_back(&meta[k]);
  }
  Call same{c.op, argument.data(), c.arguments, c.attributes, result.data(), c.at, {}};
  Dispatcher::get().call(same);
}

// ---- control flow: operands and results as in graph/control.hpp

/// Is output `k` of the last region computed? Carried outputs always are.
inline bool is_computed(const ControlOptions& o, const Vec<int>& wanted, int k) { return k < o.carried || wanted[k] >= 0; }
inline Graph region_for(const Graph& g, const Steps::Step& s, int region) {
  const ControlOp& op = control_of(g[s.call]);
  Graph r = op.graphs[region];
  if (op.kind == Control::while_loop || op.kind == Control::while_loop_backward) return r;
  const Vec<int> outputs = r.outputs;
  const ControlOptions o = control_options(g, g[s.call]);
  r.clear_outputs();
  for (int k = 0; k < outputs.size(); ++k)
    if (is_computed(o, s.out, k)) r.output(outputs[k]);
  return r;
}
using Regions = std::vector<std::unique_ptr<const GraphFunction>>;
struct ControlRun {
  const Regions& regions;
  const Tensor* const* operand;
  int operands;
  const SymbolValues& symbols;
  Device device;

  /// Runs a region on the carried values, then on operands from `first` on.
  void run(const GraphFunction& region, const std::vector<Tensor>& carried, int first, Tensor* result) const {
    SmallVec<const Tensor*, 16> in;
    for (const Tensor& t : carried) in.push_back(&t);
    for (int k = first; k < operands; ++k) in.push_back(operand[k]);
    region.run(in.data(), symbols, result, device);
  }
};
inline bool is_true(const Tensor& t) {
  const TensorImpl& impl = t.impl();
  alignas(8) std::byte one[8] = {};
  const auto bytes = static_cast<std::size_t>(size_of(impl.dtype));
  if (const DeviceApi* api = device_api(impl.device.type)) api->copy(one, Device{}, impl.data, impl.device, bytes, false);
  else copy_memory(one, impl.data, bytes);
  return with_dtype(impl.dtype, [&]<class T>(T) { return *reinterpret_cast<const T*>(one) != T{}; });
}
/// Gives the values carried at the end. `keep(state)` is told those at the beginning of each step.
template <class Keep>
std::vector<Tensor> run_while_loop(const ControlRun& r, int carried, const Keep& keep) {
  std::vector<Tensor> state, next(static_cast<std::size_t>(carried));
  for (int k = 0; k < carried; ++k) state.push_back(*r.operand[k]);
  for (;;) {
    Tensor goes_on;
    r.run(*r.regions[0], state, carried, &goes_on);
    if (!is_true(goes_on)) return state;
    r.run(*r.regions[1], state, carried, next.data());
    keep(state);
    state.swap(next);
  }
}
/// `begin`: the number of the first adjoint among the operands.
inline void run_while_backward(const ControlRun& r, int carried, int begin, Tensor* result) {
  std::vector<std::vector<Tensor>> states;
  ControlRun forward = r;
  forward.operands = begin;
  run_while_loop(forward, carried, [&](std::vector<Tensor>& state) { states.push_back(state); });
  std::vector<Tensor> adjoint, next(static_cast<std::size_t>(r.operands - begin));
  for (int k = begin; k < r.operands; ++k) adjoint.push_back(*r.operand[k]);
  for (; !states.empty(); states.pop_back()) {
    std::vector<Tensor> in = std::move(states.back());
    for (int k = carried; k < begin; ++k) in.push_back(*r.operand[k]);
    in.insert(in.end(), adjoint.begin(), adjoint.end());
    r.run(*r.regions[2], in, r.operands, next.data());
    adjoint.swap(next);
  }
  for (std::size_t k = 0; k < adjoint.size(); ++k) result[k] = std::move(adjoint[k]);
}
/// Row `k` of a contiguous Tensor, as a view.
inline Tensor row_of(const Tensor& t, std::int64_t k) { return t.select(0, static_cast<int>(k)); }
inline void put_row(const Tensor& to, std::int64_t k, const Tensor& row) {
  Tensor place = row_of(to, k);
  if (!is_host(to.device()) || !is_host(row.device()) || !row.is_contiguous()) return void(place.copy_(row));
  const auto bytes = static_cast<std::size_t>(row.impl().numel * size_of(row.dtype()));
  if (bytes > 0) copy_memory(place.impl().data, row.impl().data, bytes);
}
/// A Tensor of `rows` rows of this shape.
inline Tensor rows_like(DType d, const Shape& row, std::int64_t rows, Device device) {
  Shape s{rows};
  for (int k = 0; k < row.rank; ++k) s.push_back(row.code[k]);
  return Tensor(d, s, device);
}
/// Runs a region once, and keeps the results that are read.
inline void run_straight(const ControlRun& r, const GraphFunction& region, int first, const Vec<int>& wanted, Tensor* result) {
  SmallVec<Tensor, few_results> made(region.outputs());
  r.run(region, {}, first, made.data());
  for (int k = 0, next = 0; k < wanted.size(); ++k)
    if (wanted[k] >= 0) result[k] = static_cast<Tensor&&>(made[next++]);
}
/// `outputs`: the number of the body's outputs, computed or not; results behind them are the carried values before each step.
inline void run_scan(const ControlRun& r, const ControlOptions& o, int outputs, const Vec<int>& wanted, SourceLine at, Tensor* result) {
  const GraphFunction& body = *r.regions[0];
  const int carried = o.carried, given = o.carried + o.xs;
  const std::int64_t n = r.operand[carried]->impl().shape.code[0];
  for (int k = carried; k < given; ++k)
    if (r.operand[k]->impl().shape.code[0] != n)
      TT_THROW(Error(Text("tt::scan: Tensors of other lengths along axis 0: ") << n << " and " << r.operand[k]->impl().shape.code[0] << "." << at));
  std::vector<Tensor> in(static_cast<std::size_t>(given)), out(static_cast<std::size_t>(body.outputs()));
  for (std::size_t k = 0; k < static_cast<std::size_t>(carried); ++k) in[k] = *r.operand[k];
  const auto before = [&](int k) -> const Tensor& { return in[static_cast<std::size_t>(k - outputs)]; };
  Vec<int> rows, states;  // numbers of results
  for (int k = carried; k < wanted.size(); ++k) {
    if (wanted[k] < 0) continue;
    const int computed = carried + rows.size();
    if (k >= outputs) result[k] = rows_like(before(k).dtype(), before(k).impl().shape, n, r.device);
    else result[k] = rows_like(body.graph()[body.graph().outputs[computed]].dtype, body.output_shape(computed, r.symbols), n, r.device);
    (k < outputs ? rows : states).push_back(k);
  }
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t row = o.reverse ? n - 1 - step : step;
    for (int k : states) put_row(result[k], row, before(k));
    for (int k = carried; k < given; ++k) in[static_cast<std::size_t>(k)] = row_of(*r.operand[k], row);
    r.run(body, in, given, out.data());
    for (int k = 0; k < carried; ++k) in[static_cast<std::size_t>(k)] = static_cast<Tensor&&>(out[static_cast<std::size_t>(k)]);
    for (int k = 0; k < rows.size(); ++k) put_row(result[rows[k]], row, out[static_cast<std::size_t>(carried + k)]);
  }
  for (int k = 0; k < carried; ++k) result[k] = in[static_cast<std::size_t>(k)];
}
inline void run_control(const ControlRun& r, const Graph& g, const Node& n, const Vec<int>& wanted, Tensor* result) {
  const ControlOptions options = control_options(g, n);
  switch (control_of(n).kind) {
    case Control::cond: return run_straight(r, *r.regions[is_true(*r.operand[0]) ? 0 : 1], 1, wanted, result);
    case Control::checkpoint: return run_straight(r, *r.regions[0], 0, wanted, result);
    case Control::while_loop: return void(std::ranges::move(run_while_loop(r, options.carried, [](const auto&) {}), result));
    case Control::while_loop_backward: return run_while_backward(r, options.carried, control_of(n).graphs[1].inputs.size(), result);
    case Control::scan: return run_scan(r, options, control_of(n).graphs[0].outputs.size(), wanted, n.where, result);
  }
}

/// On the host, programs gather elements by index themselves (with_takes); on devices, which may not support that, gathers are calls.
class StepProgram final : public StepRunner {
 public:
  StepProgram(const Graph& g, const ProgramOptions& options, bool takes = true)
      : given_(g), options_(options), taken_(takes && has_takes(g) ? std::make_unique<const Graph>(with_takes(g)) : nullptr), graph_(taken_ ? *taken_ : g),
        steps_(cut_into_steps(graph_)) {
    for (int into : graph_.donated) writes_ = writes_ || into >= 0;
    for (Steps::Step& s : steps_.step) {
      Functions f;
      if (s.call < 0 && s.view.empty()) f.fused = std::make_unique<const GraphFunction>(static_cast<Graph&&>(s.graph), options);
      for (int r = 0; s.call >= 0 && r < graph_[s.call].def->region_count; ++r) f.regions.push_back(std::make_unique<const GraphFunction>(region_for(graph_, s, r), options));
      functions_.push_back(std::move(f));
    }
  }
  void run(const Tensor* const* argument, const SymbolValues& symbols, Tensor* result, Device device) const override {
    if (taken_ && !is_host(device)) return on_devices().run(argument, symbols, result, device);
    std::vector<Tensor> value(static_cast<std::size_t>(steps_.values));
    for (int k = 0; k < graph_.inputs.size(); ++k) value[static_cast<std::size_t>(k)] = *argument[k];
    for (int t = 0; t < steps_.step.size(); ++t) {
      const Steps::Step& s = steps_.step[t];
      const Functions& f = functions_[static_cast<std::size_t>(t)];
      SmallVec<const Tensor*, 16> in;
      SmallVec<Tensor, few_results> out(s.out.size());
      for (int v : s.in) in.push_back(&value[static_cast<std::size_t>(v)]);
      if (f.fused) f.fused->run(in.data(), symbols, out.data(), device);
      else if (!s.view.empty()) out[0] = view(s, *in[0], symbols);
      else call(s, f.regions, in.data(), in.size(), symbols, out.data(), device);
      for (int k = 0; k < s.out.size(); ++k)
        if (s.out[k] >= 0) value[static_cast<std::size_t>(s.out[k])] = static_cast<Tensor&&>(out[k]);
      for (int v : s.last_read) value[static_cast<std::size_t>(v)] = Tensor();
    }
    for (int k = 0; k < steps_.outputs.size(); ++k) result[k] = value[static_cast<std::size_t>(steps_.outputs[k])];
  }
  void each_step(CallableRef<void(const GraphFunction*, const char*)> f) const override {
    for (int t = 0; t < steps_.step.size(); ++t) {
      const Functions& own = functions_[static_cast<std::size_t>(t)];
      if (own.fused) f(own.fused.get(), nullptr);
      else if (steps_.step[t].view.empty()) f(nullptr, graph_[steps_.step[t].call].def->info.name);
      for (const auto& region : own.regions) region->each_step(f);
    }
  }

 private:
  /// For a step: a fused graph, or the regions of control flow, or neither for a kernel call.
  struct Functions {
    std::unique_ptr<const GraphFunction> fused;
    Regions regions;
  };
  const Graph& given_;  ///< owned by the GraphFunction that owns this
  const ProgramOptions options_;
  const std::unique_ptr<const Graph> taken_;
  const Graph& graph_;  ///< *taken_, or given_
  Steps steps_;
  std::vector<Functions> functions_;
  bool writes_ = false;  ///< into an argument
  struct MadeLater {  // the class itself has no destructor: that would be emitted into every program (g++ 12, devirtualization)
    std::atomic<const StepProgram*> program = nullptr;
    ~MadeLater() { delete program.load(); }
  };
  mutable MadeLater on_devices_;

  const StepProgram& on_devices() const {
    const StepProgram* p = on_devices_.program.load(std::memory_order_acquire);
    if (p) return *p;
    auto fresh = std::make_unique<const StepProgram>(given_, options_, false);
    return on_devices_.program.compare_exchange_strong(p, fresh.get(), std::memory_order_acq_rel) ? *fresh.release() : *p;
  }

  Tensor view(const Steps::Step& s, Tensor t, const SymbolValues& symbols) const {
    const PauseCapture pause;
    const ExcludeKeys below{DispatchKey::autograd};
    for (int k = s.view.size() - 1; k >= 0; --k) t = shown(t, graph_, graph_[s.view[k]], symbols);
    return s.dense ? t.contiguous() : t;
  }
  void call(const Steps::Step& s, const Regions& regions, const Tensor* const* argument, int count, const SymbolValues& symbols, Tensor* result, Device device) const {
    const PauseCapture pause;
    const ExcludeKeys below{DispatchKey::autograd};
    const Node& n = graph_[s.call];
    if (is_control(n)) {  // regions read contiguous operands
      SmallVec<Tensor, few_arguments> dense(count);
      SmallVec<const Tensor*, few_arguments> operand;
      for (int k = 0; k < count; ++k) {
        dense[k] = argument[k]->contiguous();
        operand.push_back(&dense[k]);
      }
      run_control({regions, operand.data(), count, symbols, device}, graph_, n, s.out, result);
    } else {
      const Attributes attributes = attributes_of(graph_, n, symbols);
      Call c{&n.def->external(), argument, count, &attributes, result, n.where, {}};
      Dispatcher::get().call(c);
    }
    for (int k = 0; k < n.def->results; ++k) {
      if (!result[k].defined()) continue;
      if (!n.def->may_share || writes_) make_own(result[k], argument, count);
      else result[k] = result[k].contiguous();
      if (s.results[k] >= 0) check_result(result[k], graph_[s.results[k]], symbols);
    }
  }
  static void check_result(const Tensor& given, const Node& said, const SymbolValues& symbols) {
    Shape shape;
    for (int d = 0; d < said.shape.rank; ++d) shape.push_back(said.shape[d].value(symbols));
    if (given.dtype() == said.dtype && given.impl().shape == shape) return;
    TT_THROW(Error(Text("tt::") << said.def->info.name << ": its kernel gives " << name(given.dtype()) << ' ' << given.impl().shape << ", and `like` says "
                                << name(said.dtype) << ' ' << shape << "." << said.where));
  }
};
TT_INLINE void use_steps() {
  step_runner_maker.store([](const Graph& g, const ProgramOptions& o) -> std::unique_ptr<StepRunner> { return std::make_unique<StepProgram>(g, o); },
                          std::memory_order_release);
}

}  // namespace detail
}  // namespace tt
