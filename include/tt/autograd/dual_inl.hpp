// Definitions of dual.hpp: the dispatcher's kernel for duals, and what the tape and changes in place do with tangents. Of an op with a graph the tangent is
// that of forward mode (graph/forward_mode.hpp), a program made once for a signature as that of backward is; a view of a tangent is what the view is of the
// elements. What has a backward only is run on the tape, and its backward, which is linear, differentiated.
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
  SmallVec<Tensor, few_arguments> tangent;  ///< of each of those in turn
  std::shared_ptr<const std::atomic<bool>> level;

  DualArguments(const Tensor* const* argument, int count) {
    for (int k = 0; k < count; ++k) {
      const Dual* const d = dual_of(*argument[k]);
      if (!d) continue;
      by.set(k);
      tangent.push_back(d->tangent);
      level = d->level;
    }
  }
};
/// A function's results have other tangents than those of its arguments: along each of these, all at once.
inline void give_tangents(const DualArguments& duals, const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols, const char* name,
                          SourceLine at, const Tensor* const* argument, int count, const Tensor* result) {
  const GraphFunction::Derivative& d = f.tangents(duals.by);
  if (!d.function) return;
  SmallVec<Tensor, few_arguments> dense;
  for (int k = 0; k < duals.tangent.size(); ++k) dense.push_back(duals.tangent[k].contiguous());
  SmallVec<const Tensor*, 16> all(count + dense.size());
  for (int k = 0; k < count; ++k) all[k] = argument[k];
  for (int k = 0; k < dense.size(); ++k) all[count + k] = &dense[k];
  SmallVec<Tensor, few_results> made(d.function->outputs());
  if (int first = 0; [&] {
        for (int k : d.given) return first = k, result[k].is_meta();
        return false;
      }()) {
    for (int k = 0; k < made.size(); ++k) made[k] = Tensor(d.function->graph()[d.function->graph().outputs[k]].dtype, d.function->output_shape(k, symbols), result[first].device());
  } else {
    d.function->run(all.data(), symbols, made.data(), result[first].device());
    bool needed = false;
    for (int k = 0; k < all.size(); ++k) needed = needed || all[k]->impl().requires_grad;
    if (needed && DispatchState::of_this_thread().grad_enabled) record_function(*d.function, owner, symbols, name, at, all.data(), all.size(), made.data());
  }
  int next = 0;
  for (int k : d.given) set_tangent(result[k], made[next++], duals.level);
}
inline void function_of_duals(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols, const char* name, SourceLine at,
                              const Tensor* const* argument, int count, const Tensor* result) {
  const DualArguments duals(argument, count);
  if (duals.by.empty()) return;
  const ExcludeKeys below(DispatchKey::forward);
  give_tangents(duals, f, owner, symbols, name, at, argument, count, result);
}
/// What was saved of results has their tangents too.
inline void keep_tangents(const Tensor* result, int results) {
  for (int k = 0; k < results; ++k) {
    if (!result[k].impl().requires_grad || !dual_of(result[k])) continue;
    const Edge e = edge_of(result[k]);
    if (e.node->kind->keep_tangent) e.node->kind->keep_tangent(*e.node, e.result, result[k]);
  }
}

/// f(arguments, results), which has a backward, once; and tangents of its results: with adjoints that are variables, what backward gives is a linear function of
/// them, whose own backward gives for the tangents of the arguments those of the results.
inline void transpose_backward(const DualArguments& duals, const Tensor* const* argument, int count, Tensor* result, int results,
                               CallableRef<void(const Tensor* const*)> f) {
  bool nested = false;
  for (int k = 0; k < count; ++k) nested = nested || argument[k]->impl().requires_grad;
  for (int k = 0; k < duals.tangent.size(); ++k) nested = nested || duals.tangent[k].impl().requires_grad;
  nested = nested && DispatchState::of_this_thread().grad_enabled;
  const ExcludeKeys below(DispatchKey::forward);
  std::vector<Tensor> x, y, adjoint, along;
  std::vector<int> place;
  SmallVec<const Tensor*, 16> own(count);
  x.reserve(static_cast<std::size_t>(duals.tangent.size()));
  for (int k = 0; k < count; ++k) {
    own[k] = argument[k];
    if (!duals.by.test(k)) continue;
    Tensor v = argument[k]->detach();
    if (nested && argument[k]->impl().requires_grad) v = argument[k]->reshape(argument[k]->shape());
    else v.requires_grad_();
    take_tangent(v, *argument[k]);  // for what is saved of it
    own[k] = &x.emplace_back(v);
  }
  const EnableGrad on;
  f(own.data());
  for (int k = 0; k < results; ++k) {
    if (!result[k].impl().requires_grad) continue;
    place.push_back(k);
    y.push_back(result[k]);
    adjoint.push_back(zeros_like(result[k]).requires_grad_());
  }
  if (y.empty()) return;
  const std::vector<Tensor> flow = tt::grad(y, x, adjoint, true, true);
  std::vector<Tensor> flows, directions;
  for (std::size_t k = 0; k < flow.size(); ++k) {
    if (!flow[k].defined() || !flow[k].requires_grad()) continue;
    flows.push_back(flow[k]);
    directions.push_back(duals.tangent[static_cast<int>(k)]);
  }
  if (!flows.empty()) along = tt::grad(flows, adjoint, directions, true, nested);
  for (std::size_t k = 0; k < place.size(); ++k) {
    Tensor& r = result[place[k]];
    if (!nested) r = r.detach();
    if (!along.empty() && along[k].defined()) set_tangent(r, along[k], duals.level);
  }
  keep_tangents(result, results);
}
inline Tensor custom_of_duals(const Tensor* const* argument, int count, CallableRef<Tensor(const Tensor* const*)> f) {
  const DualArguments duals(argument, count);
  Tensor result;
  if (duals.by.empty()) return f(argument);
  transpose_backward(duals, argument, count, &result, 1, [&](const Tensor* const* own) { result = f(own); });
  return result;
}

/// The dispatcher's kernel for duals.
inline void forward_kernel(Call& c, void*) {
  const DualArguments duals(c.argument, c.arguments);
  const ExcludeKeys below(DispatchKey::forward);
  const bool floating = !duals.by.empty() && !c.op->cuts_history;
  if (floating && !c.op->record && c.op->derivative) {
    transpose_backward(duals, c.argument, c.arguments, c.result, c.op->results, [&](const Tensor* const* own) {
      Call on_tape = c;
      on_tape.argument = own;
      Dispatcher::get().call(on_tape);
    });
    return;
  }
  Dispatcher::get().redispatch(c);
  if (!floating || !is_floating(c.result[0].dtype())) {
    bool any = false;
    for (int k = 0; k < c.op->results; ++k) any = any || is_floating(c.result[k].dtype());
    if (!floating || !any) return;
  }
  if (c.op->is_view) {
    const Tensor* const tangent[] = {&duals.tangent[0]};
    Tensor view;
    Call of_tangent = c;
    of_tangent.argument = tangent;
    of_tangent.result = &view;
    Dispatcher::get().call(of_tangent);
    return set_tangent(c.result[0], view, duals.level);
  }
  if (!c.op->record) return;
  const BoundFunction f = bind_function(c);
  give_tangents(duals, *f.function, f.function->shared_from_this(), f.symbols, c.op->name(), c.at, c.argument, c.arguments, c.result);
  keep_tangents(c.result, c.op->results);
}

/// Memory laid out as a Tensor's is, and views into it that lie as that Tensor's views do.
class TangentOfBase {
 public:
  /// With the tangent of `base`, or zeros.
  explicit TangentOfBase(const Tensor& base) : base_(base) {
    const tt::detail::TensorImpl& b = base.impl();
    const tt::detail::Reach reach = b.numel > 0 ? tt::detail::reach_of(b) : tt::detail::Reach{};
    low_ = reach.low;
    memory_ = zeros({reach.high - reach.low + 1}, TensorOptions{.dtype = b.dtype, .device = b.device});
    if (const Dual* d = dual_of(base)) of(base).copy_(d->tangent);
  }
  Tensor of(const Tensor& view) const {
    const tt::detail::TensorImpl &b = base_.impl(), &v = view.impl();
    IntList size, stride;
    for (int k = 0; k < v.shape.rank; ++k) {
      size.push_back(v.shape.code[k]);
      stride.push_back(v.stride[k]);
    }
    return as_strided(memory_, size, stride, (v.data - b.data) / size_of(b.dtype) - low_, here());
  }

 private:
  const Tensor& base_;
  std::int64_t low_ = 0;
  Tensor memory_;
};
inline void adopt_tangent(const Tensor& target, const Tensor& value) {
  const ExcludeKeys below(DispatchKey::forward);
  const Tensor base = base_of(target);
  const std::vector<Tensor> views = views_of(base);
  const Dual *fresh = dual_of(value), *before = dual_of(base);
  if (!fresh && !before) return set_tangent(target, Tensor(), nullptr);
  const std::shared_ptr<const std::atomic<bool>> level = (fresh ? fresh : before)->level;
  const Tensor tangent = fresh ? fresh->tangent : Tensor();
  if (base.is_same(target)) set_tangent(target, tangent, level);
  if (views.empty()) return;
  const TangentOfBase whole(base);
  if (!base.is_same(target)) {
    Tensor part = whole.of(target);
    if (tangent.defined()) part.copy_(tangent);
    else part.zero_();
    set_tangent(base, whole.of(base), level);
  }
  for (const Tensor& v : views) set_tangent(v, dual_of(base) && v.dtype() == base.dtype() ? whole.of(v) : Tensor(), level);
}
inline void take_tangent_of_base(const Tensor& view) {
  const Tensor base = base_of(view);
  const Dual* const d = dual_of(base);
  if (!d || base.is_same(view) || base.dtype() != view.dtype()) return;
  const ExcludeKeys below(DispatchKey::forward);
  set_tangent(view, TangentOfBase(base).of(view), d->level);
}

TT_LAZY_DEFINITION void open_dual_level(SourceLine at) {
  static const bool once = [] {
    register_tape();
    Dispatcher::get().set_fallback(DispatchKey::forward, &forward_kernel);
    dual_rules() = {&function_of_duals, &custom_of_duals, &adopt_tangent, &take_tangent_of_base};
    return true;
  }();
  (void)once;
  if (dual_level()) TT_THROW(Error(Text("tt::DualLevel: the thread has one already. Use tt::jvp, of a function that calls tt::jvp or tt::grad, for derivatives of derivatives?") << at));
  dual_level() = std::make_shared<std::atomic<bool>>(true);
}

}  // namespace autograd

TT_LAZY_DEFINITION Tensor make_dual(const Tensor& primal, const Tensor& tangent, SourceLine at) {
  for (const Tensor* t : {&primal, &tangent}) {
    if (!t->defined()) TT_THROW(Error(Text("tt::make_dual: an undefined Tensor.") << at));
    if (detail::capture_mode) TT_THROW(Error(Text("tt::make_dual: a captured function records no duals. Use tt::jvp there?") << at));
  }
  if (!autograd::dual_level()) TT_THROW(Error(Text("tt::make_dual: no tt::DualLevel lives, in which the tangent would count.") << at));
  if (!is_floating(primal.dtype())) TT_THROW(Error(Text("tt::make_dual: only floating Tensors have tangents: dtype is ") << name(primal.dtype()) << "." << at));
  if (tangent.dtype() != primal.dtype() || tangent.device() != primal.device() || !(tangent.impl().shape == primal.impl().shape))
    TT_THROW(Error(Text("tt::make_dual: the tangent is ") << name(tangent.dtype()) << ' ' << tangent.shape() << " on " << name(tangent.device().type) << ", the Tensor "
                   << name(primal.dtype()) << ' ' << primal.shape() << " on " << name(primal.device().type) << "." << at));
  if (autograd::dual_of(primal) || autograd::dual_of(tangent)) TT_THROW(Error(Text("tt::make_dual: the Tensor or its tangent has a tangent already.") << at));
  const Tensor dual = detail::make_view(primal, primal.impl().shape, primal.impl().stride, primal.impl().data, true);
  if (primal.impl().requires_grad) {
    const autograd::Edge e = autograd::edge_of(primal);
    autograd::set_history(dual, e.node, e.result);
  }
  autograd::set_tangent(dual, tangent, autograd::dual_level());
  return dual;
}
TT_LAZY_DEFINITION UnpackedDual unpack_dual(const Tensor& t) {
  const autograd::Dual* const d = autograd::dual_of(t);
  if (!d) return {t, Tensor()};
  const ExcludeKeys below(DispatchKey::forward);
  return {t.reshape(t.shape()), d->tangent};
}

}  // namespace tt
