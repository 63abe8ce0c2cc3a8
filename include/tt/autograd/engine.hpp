// backward and grad: nodes are worked off from the newest to the oldest, so that what flows into a
// value is summed in reverse program order, as in a fused program.
#pragma once
#include <algorithm>

#include "tt/autograd/tape.hpp"

namespace tt {
namespace autograd {

/// Ordinary state of the thread: does anomaly detection run?
inline bool& anomaly_detection() {
  thread_local bool on = false;
  return on;
}

#if !defined(TT_COMPILED) || defined(TT_BUILD)

/// The gradients that wait for a node.
struct Pending {
  TapeNode* node = nullptr;
  const void* pass = nullptr;
  std::vector<Tensor> gradient;  ///< one for each result of the node
};

class BackwardPass {
 public:
  BackwardPass(bool retain_graph, bool create_graph) : retain_(retain_graph || create_graph), taped_(create_graph) {}
  BackwardPass(const BackwardPass&) = delete;
  ~BackwardPass() {
    for (Pending* p : heap_) drop(p);
    for (Pending* p : spare_) delete p;
  }

  void add(const Edge& e, const Tensor& gradient) {
    if (!e.node) return;
    Pending* p = e.node->pending;
    if (!p) {
      p = spare_.empty() ? new Pending : spare_.back();
      if (!spare_.empty()) spare_.pop_back();
      p->node = e.node;
      p->pass = this;
      p->gradient.resize(static_cast<std::size_t>(e.node->results));
      e.node->retain();
      e.node->pending = p;
      heap_.push_back(p);
      std::push_heap(heap_.begin(), heap_.end(), older);
    } else if (p->pass != this) {
      TT_THROW(Error(Text("tt::backward: a backward pass is already running over this graph.")));
    }
    Tensor& sum = p->gradient[static_cast<std::size_t>(e.result)];
    sum = sum.defined() ? sum + gradient : gradient;
  }
  /// Keeps what arrives at an edge instead of letting it reach a leaf's grad.
  struct Capture {
    Edge edge;
    Tensor gradient;
  };
  std::vector<Capture> captures;
  bool to_captures_only = false;

  void run() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), older);
      Pending* p = heap_.back();
      heap_.pop_back();
      TapeNode& n = *p->node;
      n.pending = nullptr;
      step(n, p->gradient.data());
      p->gradient.clear();
      release(p->node);
      spare_.push_back(p);
    }
  }

 private:
  std::vector<Pending*> heap_, spare_;
  bool retain_, taped_;

  static bool older(const Pending* a, const Pending* b) { return a->node->number < b->node->number; }
  static void drop(Pending* p) {
    p->node->pending = nullptr;
    release(p->node);
    delete p;
  }
  void step(TapeNode& n, Tensor* in) {
    if (n.hooks)
      for (const Hook& h : *n.hooks)
        if (in[h.result].defined())
          if (Tensor changed = h.function(in[h.result]); changed.defined()) in[h.result] = changed;
    for (Capture& c : captures)
      if (c.edge.node == &n) c.gradient = in[c.edge.result];
    const bool leaf = n.kind == &accumulate_kind;
    if (leaf && to_captures_only) return;
    if (n.released)
      TT_THROW(Error(Text("tt::backward: the graph was freed by an earlier backward: ") << n.name
                     << " has nothing left of what it saved. Pass retain_graph = true there?" << n.where));
    Tensor few[max_arguments];
    std::vector<Tensor> many(n.edges > max_arguments ? static_cast<std::size_t>(n.edges) : 0);
    Tensor* const out = many.empty() ? few : many.data();
    n.kind->apply(n, in, out, taped_);
    if (anomaly_detection()) check_numbers(n, out);
    for (int k = 0; k < n.edges; ++k)
      if (out[k].defined() && n.edge[k].node) add(n.edge[k], out[k]);
    if (!retain_ && !leaf) {
      n.kind->release_saved(n);
      n.released = true;
    }
  }
  static void check_numbers(const TapeNode& n, const Tensor* out) {
    for (int k = 0; k < n.edges; ++k) {
      if (!out[k].defined() || out[k].numel() == 0) continue;
      const ExcludeKeys below(DispatchKey::autograd);
      if ((out[k] != out[k]).to(DType::i64).sum().template item<std::int64_t>() == 0) continue;
      TT_THROW(Error(Text("tt::backward: ") << n.name << " gave NaN as the gradient of argument " << k << ", "
                                            << name(out[k].dtype()) << ' ' << out[k].shape() << "." << n.where));
    }
  }
};

inline Tensor first_gradient(const Tensor& root, const Tensor& given) {
  if (!root.requires_grad())
    TT_THROW(Error(Text("tt::backward: the Tensor does not require a gradient, and nothing that made it does.")));
  if (!given.defined()) {
    if (root.numel() != 1)
      TT_THROW(Error(Text("tt::backward: gradient of something that is not a scalar: shape ") << root.shape()
                     << ". Take its sum or mean first, or give a gradient."));
    return ones_like(root);
  }
  if (!(given.shape() == root.shape()) || given.dtype() != root.dtype())
    TT_THROW(Error(Text("tt::backward: the gradient is ") << name(given.dtype()) << ' ' << given.shape() << ", the Tensor "
                   << name(root.dtype()) << ' ' << root.shape() << "."));
  return given;
}

#endif

/// While it lives, the steps of backward are or are not recorded.
class StepMode {
 public:
  explicit StepMode(bool taped) : before_(DispatchState::of_this_thread()) {
    DispatchState& s = DispatchState::of_this_thread();
    s.grad_enabled = taped;
    s.exclude = taped ? s.exclude.without(DispatchKey::autograd) : s.exclude | DispatchKey::autograd;
  }
  StepMode(const StepMode&) = delete;
  ~StepMode() { DispatchState::of_this_thread() = before_; }

 private:
  DispatchState before_;
};

}  // namespace autograd

/// The gradients of `outputs` (weighted by `grad_outputs`; scalars need none) with respect to `inputs`;
/// undefined where nothing flows. Leaves' grad() is left alone.
TT_INLINE std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& grad_outputs = {}, bool retain_graph = false,
                                bool create_graph = false);

#if !defined(TT_COMPILED) || defined(TT_BUILD)
TT_INLINE std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& grad_outputs, bool retain_graph,
                                bool create_graph) {
  autograd::BackwardPass pass(retain_graph, create_graph);
  pass.to_captures_only = true;
  for (const Tensor& t : inputs) {
    if (!t.requires_grad()) TT_THROW(Error(Text("tt::grad: an input does not require a gradient: shape ") << t.shape() << "."));
    pass.captures.push_back({autograd::edge_of(t), Tensor()});
  }
  const autograd::StepMode mode(create_graph);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    pass.add(autograd::edge_of(outputs[k]),
             autograd::first_gradient(outputs[k], k < grad_outputs.size() ? grad_outputs[k] : Tensor()));
  pass.run();
  std::vector<Tensor> result;
  for (const auto& c : pass.captures) result.push_back(c.gradient);
  return result;
}

TT_INLINE void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph) const {
  autograd::BackwardPass pass(retain_graph, create_graph);
  const Tensor first = autograd::first_gradient(*this, gradient);
  const autograd::StepMode mode(create_graph);
  pass.add(autograd::edge_of(*this), first);
  pass.run();
}
#endif

namespace autograd {

inline bool needs_tape(const Tensor& target, const Tensor* other) {
  return DispatchState::of_this_thread().grad_enabled &&
         (target.impl().requires_grad || (other && other->impl().requires_grad));
}
inline void check_inplace(const Tensor& target, SourceLine at) {
  if (target.impl().requires_grad && target.is_leaf())
    TT_THROW(Error(Text("tt: a leaf that requires a gradient was changed in place. Do it under tt::NoGrad?") << at));
  if (target.impl().is_view)
    TT_THROW(Error(Text("tt: a view was changed in place while gradients are recorded. Change the whole Tensor, or "
                        "build a new one?") << at));
}
inline void adopt_history(Tensor& target, const Tensor& result) {
  if (!result.impl().requires_grad) return;
  const Edge e = edge_of(result);
  set_history(target, e.node, e.result);
}
/// When the first Tensor asks for a gradient.
TT_INLINE void register_tape();
#if !defined(TT_COMPILED) || defined(TT_BUILD)
TT_INLINE void register_tape() {
  static const bool done = [] {
    Dispatcher::get().set_fallback(DispatchKey::autograd, &autograd_kernel);
    tt::detail::inplace_hooks() = {&needs_tape, &check_inplace, &adopt_history};
    return true;
  }();
  (void)done;
}
#endif

}  // namespace autograd

inline bool Tensor::requires_grad() const { return impl().requires_grad; }
inline bool Tensor::is_leaf() const { return !impl().autograd || !static_cast<autograd::Meta*>(impl_->autograd)->made_by; }
inline Tensor& Tensor::requires_grad_(bool on) {
  if (on && !is_floating(dtype()))
    TT_THROW(Error(Text("tt::requires_grad_: only floating Tensors have gradients: dtype is ") << name(dtype()) << "."));
  if (!is_leaf()) {
    if (on) return *this;
    TT_THROW(Error(Text("tt::requires_grad_: the Tensor was computed from others. Use detach()?")));
  }
  autograd::register_tape();
  impl().requires_grad = on;
  impl_->keys = on ? impl_->keys | DispatchKey::autograd : impl_->keys.without(DispatchKey::autograd);
  return *this;
}
inline Tensor Tensor::grad() const {
  if (!impl().autograd) return {};
  const auto* m = static_cast<autograd::Meta*>(impl_->autograd);
  if (m->retained) return *m->retained;
  return m->leaf ? m->leaf->grad : Tensor();
}
inline void Tensor::set_grad(const Tensor& grad) {
  if (!is_leaf()) TT_THROW(Error(Text("tt::set_grad: only leaves have a grad.")));
  static_cast<autograd::AccumulateNode*>(autograd::edge_of(*this).node)->grad = grad;
}

}  // namespace tt
