// The tape's interface for files that do not include its node types: grad, backward, and questions about a
// Tensor's history or tangent. Defined in engine.hpp, which includes this.
//   y.backward();   std::vector<Tensor> d = tt::grad({y}, {x});
#pragma once
#include <vector>

#include "tt/dispatch/callable.hpp"
#include "tt/dispatch/grad_mode.hpp"
#include "tt/dispatch/methods.hpp"

namespace tt {

/// A function on the gradient of one Tensor: returns another, or an undefined Tensor to leave it.
using TensorHook = Callable<Tensor(const Tensor&)>;

namespace autograd {

/// Nodes that this thread made.
inline std::int64_t& tape_node_count() {
  thread_local std::int64_t count = 0;
  return count;
}
/// Values that nodes kept for backward beside arguments: see joint_node.hpp.
inline std::int64_t& saved_value_count() {
  thread_local std::int64_t count = 0;
  return count;
}
/// Ordinary state of the thread: does anomaly detection run?
inline bool& anomaly_detection() {
  thread_local bool on = false;
  return on;
}
/// Called when the first Tensor requires a gradient.
TT_INLINE void register_tape();

/// Called for all Tensors with respect to which gradients are taken, before the first one is needed: a captured program ends at each.
inline void will_need_history(const Tensor& t) {
  if (tt::detail::capture_mode) tt::detail::capture_mode->will_need_history(t);
}
/// Called before the history of `t` is used: a captured Tensor has none before its graph has run.
inline void need_history(const Tensor& t, const char* op) {
  if (tt::detail::capture_mode) tt::detail::capture_mode->need(t, op, {});
}

// Of dual Tensors (dual.hpp): the key says that there may be a tangent.
inline bool may_be_dual(const Tensor& t) { return t.impl().keys.contains(DispatchKey::forward); }
inline bool may_be_dual(const Tensor* const* argument, int count) {
  bool any = false;
  for (int k = 0; k < count; ++k) any = any || may_be_dual(*argument[k]);
  return any;
}
TT_INLINE bool has_tangent(const Tensor& t);
/// Do these values, which require gradients, depend on a leaf that is none of the variables? On one that the function holds, for instance.
TT_INLINE bool hang_on_others(const std::vector<const Tensor*>& values, const std::vector<Tensor>& variables);
/// Has `t` a tangent that requires a gradient?
TT_INLINE bool has_taped_tangent(const Tensor& t);
/// `what`: a leaf, or a view of one.
[[noreturn]] TT_NOINLINE inline void refuse_change(const char* what, SourceLine at) {
  TT_THROW(Error(Text("tt: ") << what << " that requires a gradient was changed in place. Do it under tt::NoGrad?" << at));
}
/// detach() that keeps the tangent.
TT_INLINE Tensor off_tape(const Tensor& t);
/// The tangents of the results of a custom function (apply_function), from those of its arguments.
using CustomTangents = CallableRef<std::vector<Tensor>(const std::vector<Tensor>&)>;
/// Calls f(arguments), a custom function with a backward, and a jvp or null, on Tensors some of which have tangents.
TT_INLINE void call_on_duals(const Tensor* const* argument, int count, CallableRef<std::span<Tensor>(const Tensor* const*)> f, const CustomTangents* jvp);

}  // namespace autograd

/// The gradients of `outputs` (weighted by `grad_outputs`; scalars need none) with respect to `inputs`;
/// undefined where nothing flows. Leaves' grad() is left alone.
TT_INLINE std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& grad_outputs = {}, bool retain_graph = false,
                                bool create_graph = false, SourceLine at = here());
/// Adds the gradients of `tensors` (weighted by `grad_tensors`; scalars need none) to grad() of all leaves that they were made of, in one pass, or of
/// `inputs` only, which may be no leaves. Throws Error where one requires no gradient.
TT_INLINE void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors = {}, bool retain_graph = false, bool create_graph = false,
                        const std::vector<Tensor>& inputs = {}, SourceLine at = here());
template <class> void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph, const std::vector<Tensor>& inputs, SourceLine at) const {
  tt::backward({*this}, {gradient}, retain_graph, create_graph, inputs, at);
}

inline bool Tensor::requires_grad() const { return impl().requires_grad; }

}  // namespace tt
