// Definitions of dual.hpp: the dispatcher's kernel for duals, and tangents on the tape and in changes in place. For an op with a graph tangents are
// those of forward mode (graph/forward_mode.hpp), a program made once for a signature, as for backward; a view op is applied to the tangent too.
// Ops without a forward rule run on the tape, and their backward, which is linear, is transposed.
#pragma once
#include "tt/autograd/dual.hpp"
#include "tt/autograd/view_history.hpp"
#include "tt/dispatch/shape_functions.hpp"
#include "tt/graph/forward_mode.hpp"

namespace tt {

TT_INLINE const GraphFunction::Derivative& GraphFunction::tangents(const BitSet& by) const {
  return find_derivative(by, true, [&] {
    Vec<int> inputs;
    for (int k : by) inputs.push_back(k);
    BitSet given;
    Graph g = tangents_of(differentiated(), inputs, given);
    if (g.failure) TT_THROW(Error(tt::describe(g.failure)));
    return new Derivative{by, given, given.empty() ? nullptr : new GraphFunction(static_cast<Graph&&>(g), options_), nullptr, true};
  });
}

namespace autograd {

/// The arguments of a call that have a tangent.
struct DualArguments {
  BitSet by;
  SmallVec<Tensor, few_arguments> tangent;  ///< of each argument in `by`, in turn
  std::shared_ptr<DualList> level;
  bool taped = false;  ///< a tangent requires a gradient

  DualArguments(const Tensor* const* argument, int count) {
    for (int k = 0; k < count; ++k) {
      const Dual* const d = dual_of(*argument[k]);
      if (!d) continue;
      by.set(k);
      tangent.push_back(d->tangent);
      level = d->level;
      taped = taped || d->tangent.impl().requires_grad;
    }
  }
  bool empty() const { return by.empty(); }
  /// Are results of these arguments part of the tape?
  bool on_tape(const Tensor* const* argument, int count) const {
    return DispatchState::of_this_thread().grad_enabled && (taped || !required_gradients(argument, count).empty());
  }
};
/// The device of a function's results that have tangents: those of one call are on one device.
inline Device device_of(const GraphFunction::Derivative& d, const Tensor* result) {
  for (int k : d.given) return result[k].device();
  return {};
}
/// The tangents of a function's results: its derivative along the tangents of all arguments together.
inline void give_tangents(const DualArguments& duals, const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols, const char* name,
                          SourceLine at, const Tensor* const* argument, int count, const Tensor* result) {
  const GraphFunction::Derivative& d = f.tangents(duals.by);
  if (!d.function) return;
  const Device device = device_of(d, result);
  const bool taped = duals.on_tape(argument, count);
  SmallVec<Tensor, few_arguments> own;  // contiguous tangents; for duals that a tape node saves, aliases without tangent
  own.resize(count + duals.tangent.size());
  SmallVec<const Tensor*, 16> all(own.size());
  for (int k = 0; k < count; ++k) {
    const bool dual = taped && duals.by.test(k);
    if (dual) own[k] = with_history_only(*argument[k]);
    all[k] = dual ? &own[k] : argument[k];
  }
  for (int k = 0; k < duals.tangent.size(); ++k) {
    own[count + k] = duals.tangent[k].contiguous();
    all[count + k] = &own[count + k];
  }
  SmallVec<Tensor, few_results> made(d.function->outputs());
  if (device.type == DeviceType::meta) {
    for (int k = 0; k < made.size(); ++k) made[k] = Tensor(d.function->graph()[d.function->graph().outputs[k]].dtype, d.function->output_shape(k, symbols), device);
  } else {
    d.function->run(all.data(), symbols, made.data(), device);
    if (taped) record_function(*d.function, owner, symbols, name, at, all.data(), all.size(), made.data());
  }
  int next = 0;
  for (int k : d.given) set_tangent(result[k], made[next++], duals.level);
}
/// A tape node that has saved results of its call gets their tangents.
inline void keep_tangents(const Tensor* result, int results) {
  for (int k = 0; k < results; ++k) {
    if (!result[k].defined() || !result[k].impl().requires_grad || !dual_of(result[k])) continue;
    const Edge e = edge_of(result[k]);
    if (e.node->kind->keep_tangent) e.node->kind->keep_tangent(*e.node, e.result, result[k]);
  }
}
inline void function_on_duals(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols, const char* name, SourceLine at,
                              const Tensor* const* argument, int count, const Tensor* result) {
  if (DispatchState::of_this_thread().exclude.contains(DispatchKey::forward)) return;  // a tangent is being computed
  const DualArguments duals(argument, count);
  if (duals.empty()) return;
  const ExcludeKeys below(DispatchKey::forward);
  give_tangents(duals, f, owner, symbols, name, at, argument, count, result);
  keep_tangents(result, f.outputs());
}

/// Runs f(arguments), which returns its results and has a backward, once on the tape. Backward is linear in the adjoints: with adjoints that are
/// variables, the backward of that backward maps tangents of the arguments to tangents of the results.
inline void transpose_backward(const char* name, SourceLine at, const DualArguments& duals, const Tensor* const* argument, int count,
                               CallableRef<std::span<Tensor>(const Tensor* const*)> f) {
  const bool nested = duals.on_tape(argument, count);
  const ExcludeKeys below(DispatchKey::forward);
  SmallVec<const Tensor*, 16> own(count);
  std::vector<Tensor> x;
  x.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    own[k] = argument[k];
    if (!duals.by.test(k)) continue;
    const bool on_tape = nested && argument[k]->impl().requires_grad;
    x.push_back(on_tape ? argument[k]->reshape(argument[k]->shape()) : argument[k]->detach().requires_grad_());
    take_tangent(x.back(), *argument[k]);  // the tangent is saved with it
    own[k] = &x.back();
  }
  const EnableGrad on;
  const std::span<Tensor> result = f(own.data());
  std::vector<Tensor> y, adjoint, flows, directions;
  for (const Tensor& r : result) {
    if (!r.defined() || !r.impl().requires_grad) continue;
    y.push_back(r);
    adjoint.push_back(rand_like(r.detach(), 1).requires_grad_());  // any values: only the flow from them counts
  }
  if (y.empty()) return;
  const std::vector<Tensor> flow = tt::grad(y, x, adjoint, true, true, at);
  for (std::size_t k = 0; k < flow.size(); ++k) {
    if (!flow[k].defined()) continue;
    if (flow[k].requires_grad()) {
      flows.push_back(flow[k]);
      directions.push_back(duals.tangent[static_cast<int>(k)]);
    } else if (!flow[k].is_meta() && flow[k].ne(0).any().template item<bool>()) {
      TT_THROW(Error(Text("tt::") << name << ": has no forward derivative: its backward is not made of ops on the gradient." << at));
    }
  }
  std::vector<Tensor> along(adjoint.size());
  if (!flows.empty()) along = tt::grad(flows, adjoint, directions, true, nested, at);
  std::size_t next = 0;
  for (Tensor& r : result) {
    if (!r.defined() || !r.impl().requires_grad) continue;
    const Tensor tangent = along[next++];
    if (!nested) r = r.detach();
    if (tangent.defined()) set_tangent(r, tangent, duals.level);
  }
  keep_tangents(result.data(), static_cast<int>(result.size()));
}
inline void need_tangent_like(const Tensor& t, const Tensor& tangent, const char* what, SourceLine at) {
  if (tangent.dtype() == t.dtype() && tangent.device() == t.device() && tangent.impl().shape == t.impl().shape) return;
  TT_THROW(Error(Text(what) << " is " << name(tangent.dtype()) << ' ' << tangent.shape() << " on " << name(tangent.device().type) << ", the Tensor " << name(t.dtype()) << ' ' << t.shape()
                 << " on " << name(t.device().type) << "." << at));
}
inline void custom_on_duals(const Tensor* const* argument, int count, CallableRef<std::span<Tensor>(const Tensor* const*)> f, const CustomTangents* jvp) {
  const DualArguments duals(argument, count);
  if (duals.empty() || DispatchState::of_this_thread().exclude.contains(DispatchKey::forward)) return static_cast<void>(f(argument));
  if (!jvp) return transpose_backward("Function", {}, duals, argument, count, f);
  const ExcludeKeys below(DispatchKey::forward);
  const std::span<Tensor> result = f(argument);
  std::vector<Tensor> tangents;
  for (int k = 0; k < count; ++k) {
    const Dual* const d = dual_of(*argument[k]);
    if (d) d->shared = true;  // it may come back as the tangent of a result
    tangents.push_back(d ? d->tangent : is_floating(argument[k]->dtype()) ? zeros_like(argument[k]->detach()) : Tensor());
  }
  const std::vector<Tensor> along = (*jvp)(tangents);
  if (along.size() != result.size()) TT_THROW(Error(Text("tt::Function: jvp gave ") << along.size() << " tangents for " << result.size() << " results."));
  for (std::size_t k = 0; k < along.size(); ++k) {
    Tensor& r = result[k];
    if (!r.defined() || !is_floating(r.dtype())) continue;
    r = with_history_only(r);  // it may be an argument, which has a tangent of its own
    if (!along[k].defined()) continue;
    need_tangent_like(r, along[k], "tt::Function: the tangent that jvp gave", {});
    set_tangent(r, along[k], duals.level);
  }
  keep_tangents(result.data(), static_cast<int>(result.size()));
}

inline bool gives_floating(const Call& c) {
  bool any = false;
  for (int k = 0; k < c.op->results; ++k) any = any || is_floating(c.result[k].dtype());
  return any;
}
/// The dispatcher's kernel for duals: runs the op, then computes the tangents of its results.
inline void forward_kernel(Call& c, void*) {
  const DualArguments duals(c.argument, c.arguments);
  const ExcludeKeys below(DispatchKey::forward);
  const bool flows = !duals.empty() && !c.op->cuts_history;
  if (flows && !c.op->record && c.op->derivative)
    return transpose_backward(c.op->name(), c.at, duals, c.argument, c.arguments, [&](const Tensor* const* own) {
      Call on_tape = c;
      on_tape.argument = own;
      Dispatcher::get().call(on_tape);
      return std::span<Tensor>(c.result, static_cast<std::size_t>(c.op->results));
    });
  Dispatcher::get().redispatch(c);
  if (!flows || !gives_floating(c)) return;
  if (c.op->is_view) {
    const Tensor* const tangent[] = {&duals.tangent[0]};
    Tensor view;
    Call of_tangent = c;
    of_tangent.argument = tangent;
    of_tangent.result = &view;
    Dispatcher::get().call(of_tangent);
    return set_tangent(c.result[0], view, duals.level);
  }
  const BoundFunction f = bind_function(c);
  give_tangents(duals, *f.function, f.function->shared_from_this(), f.symbols, c.op->name(), c.at, c.argument, c.arguments, c.result);
  keep_tangents(c.result, c.op->results);
}

/// The tangent of a Tensor that has views, with the strides of that Tensor, so that tangents of the views are views of the tangent.
class TangentOfBase {
 public:
  /// The present tangent, if nobody else has it and its strides are those of `base`; else new memory with its elements, or zeros.
  explicit TangentOfBase(const Tensor& base) : base_(base.impl()) {
    const Dual* const d = dual_of(base);
    if (d && !d->shared && !d->tangent.impl().requires_grad && lies_as_base(d->tangent)) {
      like_base_ = d->tangent;
      return;
    }
    const tt::detail::Reach reach = base_.numel > 0 ? tt::detail::reach_of(base_) : tt::detail::Reach{};
    const Tensor memory = zeros({reach.high - reach.low + 1}, TensorOptions{.dtype = base_.dtype, .device = base_.device});
    like_base_ = as_strided(memory, sizes_of(base_), strides_of(base_), -reach.low, here());
    if (d) like_base_.copy_(d->tangent);
  }
  const Tensor& whole() const { return like_base_; }
  Tensor of(const Tensor& view) const {
    const tt::detail::TensorImpl& v = view.impl();
    return as_strided(like_base_, sizes_of(v), strides_of(v), tt::detail::offset_in_storage(like_base_.impl()) + (v.data - base_.data) / size_of(base_.dtype), here());
  }

 private:
  const tt::detail::TensorImpl& base_;
  Tensor like_base_;

  static IntList sizes_of(const tt::detail::TensorImpl& t) { return IntList(std::span<const std::int64_t>(t.shape.code, static_cast<std::size_t>(t.shape.rank))); }
  static IntList strides_of(const tt::detail::TensorImpl& t) { return IntList(std::span<const std::int64_t>(t.stride, static_cast<std::size_t>(t.shape.rank))); }
  bool lies_as_base(const Tensor& t) const {
    bool same = true;
    for (int k = 0; k < base_.shape.rank; ++k) same = same && t.impl().stride[k] == base_.stride[k];
    return same;
  }
};
inline void set_own_tangent(const Tensor& t, const Tensor& tangent, const std::shared_ptr<DualList>& level) {
  set_tangent(t, tangent, level);
  if (const Dual* const d = dual_of(t)) d->shared = false;
}
inline void adopt_tangent(const Tensor& target, const Tensor& value) {
  const ExcludeKeys below(DispatchKey::forward);
  const Tensor base = base_of(target);
  const std::vector<Tensor> views = views_of(base);
  const Dual* const fresh = dual_of(value);
  const bool base_known = dual_of(base);
  const Dual* any = fresh ? fresh : dual_of(base);
  for (const Tensor& v : views)
    if (!any) any = dual_of(v);
  if (!any) return set_tangent(target, Tensor(), nullptr);
  const std::shared_ptr<DualList> level = any->level;
  const Tensor tangent = fresh ? fresh->tangent : Tensor();
  if (base.is_same(target)) set_tangent(target, tangent, level);
  if (views.empty()) return;
  const TangentOfBase own(base);
  for (const Tensor& v : views)  // a dual that was made of a view
    if (const Dual* const d = dual_of(v); d && !base_known && !base.is_same(target) && v.dtype() == base.dtype()) own.of(v).copy_(d->tangent);
  if (!base.is_same(target)) {
    Tensor part = own.of(target);
    if (tangent.defined()) part.copy_(tangent);
    else part.zero_();
  }
  if (dual_of(base) || !base.is_same(target)) set_own_tangent(base, own.whole(), level);
  for (const Tensor& v : views) set_own_tangent(v, dual_of(base) && v.dtype() == base.dtype() ? own.of(v) : Tensor(), level);
}
inline void take_tangent_of_base(const Tensor& view) {
  const Tensor base = base_of(view);
  const Dual* const d = dual_of(base);
  if (!d || base.is_same(view) || base.dtype() != view.dtype()) return;
  const ExcludeKeys below(DispatchKey::forward);
  const TangentOfBase own(base);
  const std::shared_ptr<DualList> level = d->level;
  set_own_tangent(base, own.whole(), level);
  set_own_tangent(view, own.of(view), level);
}
inline constexpr DualRules rules_of_duals{&function_on_duals, &custom_on_duals, &adopt_tangent, &take_tangent_of_base};

TT_INLINE void close_dual_level(DualList& level) { level.close(); }
TT_LAZY_DEFINITION std::shared_ptr<DualList> open_dual_level(SourceLine at) {
  static const bool once = [] {
    register_tape();
    Dispatcher::get().set_fallback(DispatchKey::forward, &forward_kernel);
    dual_rules.store(&rules_of_duals, std::memory_order_release);
    return true;
  }();
  (void)once;
  if (dual_level()) TT_THROW(Error(Text("tt::DualLevel: the thread has one already. Use tt::jvp, of a function that calls tt::jvp or tt::grad, for derivatives of derivatives?") << at));
  return dual_level() = std::make_shared<DualList>();
}

}  // namespace autograd

TT_LAZY_DEFINITION Tensor make_dual(const Tensor& primal, const Tensor& tangent, SourceLine at) {
  for (const Tensor* t : {&primal, &tangent}) {
    if (!t->defined()) TT_THROW(Error(Text("tt::make_dual: an undefined Tensor.") << at));
    if (detail::capture_mode) TT_THROW(Error(Text("tt::make_dual: a captured function records no duals. Use tt::jvp there?") << at));
  }
  if (!autograd::dual_level()) TT_THROW(Error(Text("tt::make_dual: no tt::DualLevel lives, in which the tangent would count.") << at));
  if (!is_floating(primal.dtype())) TT_THROW(Error(Text("tt::make_dual: only floating Tensors have tangents: dtype is ") << name(primal.dtype()) << "." << at));
  autograd::need_tangent_like(primal, tangent, "tt::make_dual: the tangent", at);
  if (autograd::dual_of(primal) || autograd::dual_of(tangent)) TT_THROW(Error(Text("tt::make_dual: the Tensor or its tangent has a tangent already.") << at));
  const Tensor dual = autograd::with_history_only(primal);
  autograd::set_tangent(dual, tangent, autograd::dual_level());
  return dual;
}
TT_LAZY_DEFINITION UnpackedDual unpack_dual(const Tensor& t) {
  const autograd::Dual* const d = autograd::dual_of(t);
  if (!d) return {t, Tensor()};
  d->shared = true;
  return {autograd::with_history_only(t), d->tangent};
}

}  // namespace tt
