// backward and grad: nodes run in the order of graph/differentiate.hpp, so that the gradients that flow
// into a value are summed as in a fused program, bit for bit.
#pragma once

#include "tt/autograd/history.hpp"

#if TT_DEFINES(autograd)
#include "tt/autograd/joint_node.hpp"
#include "tt/autograd/view_history.hpp"

namespace tt {
namespace autograd {

/// The gradients that wait for a node.
struct Pending {
  TapeNode* node = nullptr;
  const void* pass = nullptr;
  std::vector<Tensor> gradient;  ///< one for each result of the node
  BitSet made;                   ///< those that the pass made: nobody else has their memory
  BitSet no_negative_zero;       ///< those that were found to have no -0; additions make none
};

/// The notes of a pass about leaves. Several threads may share leaves, so these are not in the node.
class LeafTable {
 public:
  struct Entry {
    const TapeNode* leaf = nullptr;
    Pending* pending = nullptr;
    bool captured = false;  ///< else only seen
  };
  Entry& operator[](const TapeNode* leaf) {
    if (2 * used_ >= entry_.size()) grow();
    Entry& e = place(leaf);
    if (!e.leaf) ++used_;
    e.leaf = leaf;
    return e;
  }

 private:
  std::vector<Entry> entry_;
  std::size_t used_ = 0;

  Entry& place(const TapeNode* leaf) {
    std::size_t at = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(leaf) * 0x9e3779b97f4a7c15u >> 32);
    while (entry_[at % entry_.size()].leaf && entry_[at % entry_.size()].leaf != leaf) ++at;
    return entry_[at % entry_.size()];
  }
  void grow() {
    std::vector<Entry> before(entry_.empty() ? 16 : 2 * entry_.size());
    before.swap(entry_);
    for (const Entry& e : before)
      if (e.leaf) place(e.leaf) = e;
  }
};

/// Keeps the notes of an enclosing pass in nodes while a nested one, run by a node's backward, uses them, and restores them at its end.
class OuterNotes {
 public:
  OuterNotes() = default;
  OuterNotes(const OuterNotes&) = delete;
  ~OuterNotes() {
    --passes;
    for (const Notes& o : notes_) {
      o.node->seen_by = o.seen_by, o.node->needed = o.needed, o.node->placed = o.placed, o.node->pending = o.pending;
      release(o.node);
    }
  }
  void keep(TapeNode& n) {
    if (!nested_) return;
    notes_.push_back({&n, n.seen_by, n.needed, n.placed, n.pending});
    n.retain();
    n.pending = nullptr;
  }

 private:
  struct Notes {
    TapeNode* node;
    std::uint64_t seen_by;
    bool needed, placed;
    Pending* pending;
  };
  inline static thread_local constinit int passes = 0;  ///< passes that run on this thread
  std::vector<Notes> notes_;
  const bool nested_ = passes++ > 0;
};

class BackwardPass {
 public:
  /// Keeps the gradient that arrives at an edge, which then does not reach a leaf's grad.
  struct Capture {
    Edge edge;
    Tensor gradient;
  };
  std::vector<Capture> captures;

  /// From `outputs` to all leaves, or to the Tensors `captured`.
  BackwardPass(const std::vector<Tensor>& outputs, const std::vector<Tensor>* captured, bool retain_graph, bool create_graph)
      : serial_(next_pass()), retain_(retain_graph || create_graph), taped_(create_graph), to_captures_(captured) {
    if (captured)
      for (const Tensor& t : *captured) {
        const Edge e = edge_of(t);
        captures.push_back({e, Tensor()});
        if (is_leaf(*e.node)) leaves_[e.node].captured = true;
      }
    for (const Tensor& t : outputs)
      if (t.requires_grad()) visit(edge_of(t).node);
    if (!to_captures_) return;
    for (const Capture& c : captures)
      if (c.edge.node->seen_by == serial_) c.edge.node->needed = true;
    for (TapeNode* n : order_) n->needed = n->needed || leads_on(*n);
  }
  BackwardPass(const BackwardPass&) = delete;
  ~BackwardPass() {
    if (running_) drop(running_);  // a step threw
    for (TapeNode* n : order_)
      if (n->pending && n->pending->pass == this) drop(n->pending);
    for (Pending* p : at_leaves_) drop(p);
    for (Pending* p : spare_) delete p;
    for (TapeNode* n : order_) release(n);
  }

  void add(const Edge& e, const Tensor& gradient) {
    if (!e.node || !needed(*e.node)) return;
    Pending*& waiting = pending_of(*e.node);
    Pending* p = waiting;
    if (p && p->pass != this) refuse_other_pass();
    if (!p) {
      p = spare_.empty() ? new Pending : spare_.back();
      if (!spare_.empty()) spare_.pop_back();
      p->node = e.node;
      p->pass = this;
      p->gradient.resize(static_cast<std::size_t>(e.node->results));
      e.node->retain();
      waiting = p;
      if (is_leaf(*e.node)) at_leaves_.push_back(p);
    }
    Tensor& sum = p->gradient[static_cast<std::size_t>(e.result)];
    if (sum.defined()) p->made.set(e.result);
    sum = sum.defined() ? sum + gradient : gradient;
  }
  /// Adds the gradient of a view to the sum that waits for its base, at the view's elements: n parts take time for their elements, not n times that of the
  /// base. False where the derivative must run: taped steps, duals, and sums with a -0, which a gradient of the whole base (zeros elsewhere) would make 0.
  bool add_in_place(TapeNode& n, const Tensor& gradient) {
    if (taped_ || !n.kind->add_to || n.edges != 1 || !n.edge[0].node || !gradient.defined() || may_be_dual(gradient) || anomaly_detection()) return false;
    const Edge& e = n.edge[0];
    Pending* p = pending_of(*e.node);
    if (p && p->pass == this)
      if (Tensor& sum = p->gradient[static_cast<std::size_t>(e.result)]; sum.defined()) {
        if (!p->made.test(e.result) || may_be_dual(sum)) return false;
        if (!p->no_negative_zero.test(e.result)) {
          if (may_have_negative_zero(sum)) return false;
          p->no_negative_zero.set(e.result);
        }
        return n.kind->add_to(n, gradient, sum);
      }
    Tensor first;
    if (!n.kind->add_to(n, gradient, first)) return false;
    add(e, first);
    p = pending_of(*e.node);
    if (p && p->pass == this) p->made.set(e.result);
    return true;
  }
  /// From each of `outputs` with its gradient.
  void run(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradient) {
    for (std::size_t k = 0; k < outputs.size(); ++k) add(edge_of(outputs[k]), gradient[k]);
    while (!order_.empty()) {
      TapeNode* const n = order_.back();
      if (Pending* p = n->pending; p && p->pass == this) run(p);
      order_.pop_back();
      release(n);
    }
    while (!at_leaves_.empty()) {
      Pending* const p = at_leaves_.back();
      at_leaves_.pop_back();
      run(p);
    }
  }

 private:
  std::uint64_t serial_;
  bool retain_, taped_, to_captures_;
  std::vector<TapeNode*> order_;  ///< post-order: a node after those that its edges lead to; leaves are not in it
  std::vector<Pending*> at_leaves_, spare_;
  Pending* running_ = nullptr;
  LeafTable leaves_;
  OuterNotes outer_;

  [[noreturn]] static void refuse_other_pass() { TT_THROW(Error(Text("tt::backward: another thread runs a backward pass over this graph."))); }
  static bool is_leaf(const TapeNode& n) { return n.kind == &accumulate_kind; }
  Pending*& pending_of(TapeNode& n) { return is_leaf(n) ? leaves_[&n].pending : n.pending; }
  bool needed(const TapeNode& n) {
    if (is_leaf(n)) return !to_captures_ || leaves_[&n].captured;
    if (n.seen_by != serial_) refuse_other_pass();
    return !to_captures_ || n.needed;
  }
  bool leads_on(const TapeNode& n) {
    for (int k = 0; k < n.edges; ++k)
      if (n.edge[k].node && needed(*n.edge[k].node)) return true;
    return false;
  }
  /// Depth first, operands in order, as in graph/transform.hpp: so sums are those of a fused program,
  /// whichever order the compiler evaluated the operands in.
  void visit(TapeNode* root) {
    std::vector<TapeNode*> stack;
    const auto push = [&](TapeNode* n) {
      if (n && !is_leaf(*n) && n->seen_by != serial_) stack.push_back(n);
    };
    push(root);
    while (!stack.empty()) {
      TapeNode* const n = stack.back();
      if (n->seen_by != serial_) {
        outer_.keep(*n);
        n->seen_by = serial_;
        n->needed = n->placed = false;
        for (int k = n->edges - 1; k >= 0; --k) push(n->edge[k].node);
        continue;
      }
      stack.pop_back();
      if (n->placed) continue;
      n->placed = true;
      n->retain();
      order_.push_back(n);
    }
  }
  void drop(Pending* p) {
    pending_of(*p->node) = nullptr;
    release(p->node);
    delete p;
  }
  void run(Pending* p) {
    pending_of(*p->node) = nullptr;
    running_ = p;
    step(*p->node, p->gradient.data());
    running_ = nullptr;
    p->gradient.clear();
    p->made = p->no_negative_zero = {};
    release(p->node);
    spare_.push_back(p);
  }
  /// Makes a gradient contiguous before it is seen from outside: steps of elementwise ops return some in another memory order (see order_of_step).
  void make_contiguous(Tensor& gradient) const {
    if (!taped_ && gradient.defined() && !gradient.impl().contiguous && !tt::detail::has_repeats(gradient.impl())) gradient = gradient.contiguous();
  }
  void step(TapeNode& n, Tensor* in) {
    if (n.hooks) run_hooks(n, in);
    for (Capture& c : captures) {
      if (c.edge.node != &n) continue;
      make_contiguous(in[c.edge.result]);
      c.gradient = in[c.edge.result];
      if (!c.gradient.defined() && n.kind->hides && n.kind->hides(n, in, c.edge.result))
        TT_THROW(Error(Text("tt::grad: an input and an output are results of one compiled program, ") << n.name
                       << ", and the tape does not see how one was made of the other. Take the gradient inside of that function?" << n.where));
    }
    const bool leaf = is_leaf(n);
    if (to_captures_ && (leaf || !leads_on(n))) return;
    if (n.released)
      TT_THROW(Error(Text("tt::backward: the graph was freed by an earlier backward: ") << n.name
                     << " has nothing left of what it saved. Pass retain_graph = true there?" << n.where));
    if (leaf) make_contiguous(in[0]);
    const bool again = retain_ || leaf || (n.kind->in_parts && n.kind->in_parts(n, in));
    if (!add_in_place(n, in[0])) apply(n, in);
    if (!again) n.released = n.kind->release_saved(n);
  }
  void apply(TapeNode& n, Tensor* in) {
    SmallVec<Tensor, few_arguments> out(n.edges);
    n.kind->apply(n, in, out.data(), taped_);
    if (anomaly_detection()) check_numbers(n, out.data());
    for (int k = 0; k < n.edges; ++k) {
      if (!out[k].defined() || !n.edge[k].node) continue;
      for (int j = k + 1; j < n.edges; ++j)  // an operand that is used twice
        if (out[j].defined() && n.edge[j].node == n.edge[k].node && n.edge[j].result == n.edge[k].result) {
          out[k] = out[k] + out[j];
          out[j] = Tensor();
        }
      add(n.edge[k], out[k]);
    }
  }
  void run_hooks(const TapeNode& n, Tensor* in) const {
    const std::vector<Hook> hooks = *n.hooks;  // a copy, as hooks may change the list
    for (const Hook& h : hooks) make_contiguous(in[h.result]);
    for (const Hook& h : hooks)
      if (in[h.result].defined() && h.function) run_hook(n, h, in[h.result]);
    for (const Hook& h : hooks) {
      const std::shared_ptr<Tensor> kept = h.retained.lock();
      if (const Tensor& g = in[h.result]; kept && g.defined()) *kept = kept->defined() ? *kept + (taped_ ? g : g.detach()) : taped_ ? g : g.detach().clone();
    }
  }
  static void run_hook(const TapeNode& n, const Hook& h, Tensor& gradient) {
    const Tensor changed = h.function(gradient);
    if (!changed.defined()) return;
    if (!(changed.impl().shape == gradient.impl().shape) || changed.dtype() != gradient.dtype())
      TT_THROW(Error(Text("tt::backward: a hook turned a gradient of ") << name(gradient.dtype()) << ' ' << gradient.shape()
                     << " into one of " << name(changed.dtype()) << ' ' << changed.shape() << ", of " << n.name << "." << n.where));
    gradient = changed;
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

/// The gradient that a pass begins with: `given`, or 1 for a scalar.
inline Tensor first_gradient(const char* function, const Tensor& root, const Tensor& given, SourceLine at) {
  if (!root.requires_grad())
    TT_THROW(Error(Text("tt::") << function << ": the Tensor does not require a gradient, and nothing that made it does." << at));
  if (!given.defined()) {
    if (root.numel() != 1)
      TT_THROW(Error(Text("tt::") << function << ": gradient of something that is not a scalar: shape " << root.shape()
                     << ". Take its sum or mean first, or give a gradient." << at));
    return ones_like(root);
  }
  const bool fits = given.impl().shape == root.impl().shape;
  if (given.device() != root.device()) {  // a scalar goes where it is needed
    if (given.dim() == 0) return first_gradient(function, root, given.to(root.device()), at);
    TT_THROW(Error(Text("tt::") << function << ": the gradient is on " << to_text(given.device()) << ", the Tensor on " << to_text(root.device()) << ". Use to?" << at));
  }
  if (fits && given.dtype() != root.dtype() && is_floating(given.dtype())) return given.to(root.dtype());
  if (!fits || given.dtype() != root.dtype())
    TT_THROW(Error(Text("tt::") << function << ": the gradient is " << name(given.dtype()) << ' ' << given.shape() << ", the Tensor "
                   << name(root.dtype()) << ' ' << root.shape() << "." << at));
  return given;
}

inline std::vector<Tensor> first_gradients(const char* function, const std::vector<Tensor>& roots, const std::vector<Tensor>& given, SourceLine at) {
  if (given.size() > roots.size())
    TT_THROW(Error(Text("tt::") << function << ": " << given.size() << " gradients for " << roots.size() << (roots.size() == 1 ? " output." : " outputs.") << at));
  std::vector<Tensor> first;
  for (std::size_t k = 0; k < roots.size(); ++k) first.push_back(first_gradient(function, roots[k], k < given.size() ? given[k] : Tensor(), at));
  return first;
}

}  // namespace autograd

TT_INLINE void retain_grad(const Tensor& t, SourceLine at);
TT_INLINE std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& grad_outputs, bool retain_graph,
                                bool create_graph, SourceLine at) {
  const auto each = [&](const auto& f) {
    for (const auto* list : {&outputs, &inputs, &grad_outputs})
      for (const Tensor& t : *list)
        if (t.defined()) f(t);
  };
  each([](const Tensor& t) { autograd::will_need_history(t); });
  each([](const Tensor& t) { autograd::need_history(t, "grad"); });
  const tt::detail::PauseCapture pause;
  const std::vector<Tensor> first = autograd::first_gradients("grad", outputs, grad_outputs, at);
  for (const Tensor& t : inputs)
    if (!t.requires_grad()) TT_THROW(Error(Text("tt::grad: an input does not require a gradient: shape ") << t.shape() << "." << at));
  autograd::BackwardPass pass(outputs, &inputs, retain_graph, create_graph);
  const autograd::StepMode mode(create_graph);
  pass.run(outputs, first);
  std::vector<Tensor> result;
  for (const auto& c : pass.captures) {
    result.push_back(c.gradient);
    if (c.gradient.defined()) tt::detail::stamp(c.gradient);
  }
  return result;
}

TT_INLINE void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors, bool retain_graph, bool create_graph, const std::vector<Tensor>& inputs,
                        SourceLine at) {
  for (const auto* list : {&tensors, &grad_tensors, &inputs})
    for (const Tensor& t : *list)
      if (t.defined()) autograd::need_history(t, "backward");
  if (detail::capture_mode) detail::capture_mode->run_recorded();  // as it may read a gradient that backward adds to
  const detail::PauseCapture pause;
  const std::vector<Tensor> first = autograd::first_gradients("backward", tensors, grad_tensors, at);
  for (const Tensor& t : inputs) {
    if (!t.requires_grad()) TT_THROW(Error(Text("tt::backward: an input does not require a gradient: shape ") << t.shape() << "." << at));
    retain_grad(t, at);
  }
  autograd::BackwardPass pass(tensors, inputs.empty() ? nullptr : &inputs, retain_graph, create_graph);
  const autograd::StepMode mode(create_graph);
  pass.run(tensors, first);
  autograd::LeafTable added;  // a leaf may be there twice
  for (auto& c : pass.captures)
    if (autograd::TapeNode& n = *c.edge.node; n.kind == &autograd::accumulate_kind && !std::exchange(added[&n].captured, true)) n.kind->apply(n, &c.gradient, nullptr, create_graph);
}
TT_INLINE void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph, SourceLine at) const {
  tt::backward({*this}, {gradient}, retain_graph, create_graph, {}, at);
}

namespace autograd {

inline bool needs_tape(const Tensor& target, const Tensor* other) {
  return may_be_dual(target) || (other && may_be_dual(*other)) ||
         (DispatchState::of_this_thread().grad_enabled &&
          (target.impl().requires_grad || (other && other->impl().requires_grad) || (target.impl().base && target.impl().base->requires_grad)));
}
inline void check_inplace(const Tensor& target, SourceLine at) {
  if (!DispatchState::of_this_thread().grad_enabled) return;
  if (target.impl().requires_grad && target.is_leaf()) refuse_change("a leaf", at);
  if (const Tensor base = base_of(target); base.impl().requires_grad && base.is_leaf()) refuse_change("a view of a leaf", at);
}
TT_INLINE bool hang_on_others(const std::vector<const Tensor*>& values, const std::vector<Tensor>& variables) {
  LeafTable seen;
  for (const Tensor& v : variables) seen[edge_of(v).node].captured = true;
  std::vector<const TapeNode*> nodes;
  for (const Tensor* v : values) nodes.push_back(edge_of(*v).node);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const TapeNode* const n = nodes[i];
    if (!n || std::exchange(seen[n].captured, true)) continue;
    if (n->kind == &accumulate_kind && !static_cast<const AccumulateNode*>(n)->frozen) return true;
    for (int k = 0; k < n->edges; ++k) nodes.push_back(n->edge[k].node);
  }
  return false;
}
TT_INLINE bool has_tangent(const Tensor& t) { return dual_of(t); }
TT_INLINE bool has_taped_tangent(const Tensor& t) {
  const Dual* const d = dual_of(t);
  return d && d->tangent.impl().requires_grad;
}
TT_INLINE Tensor off_tape(const Tensor& t) {
  const Tensor r = t.detach();
  take_tangent(r, t);
  return r;
}
TT_INLINE void call_on_duals(const Tensor* const* argument, int count, CallableRef<std::span<Tensor>(const Tensor* const*)> f, const CustomTangents* jvp) {
  dual_rules.load(std::memory_order_acquire)->custom(argument, count, f, jvp);
}
TT_INLINE void register_tape() {
  static const bool done = [] {
    Dispatcher::get().set_fallback(DispatchKey::autograd, &autograd_kernel);
    tt::detail::TapeHooks& hooks = tt::detail::tape_hooks();
    hooks.needs_tape = &needs_tape;
    hooks.check = &check_inplace;
    hooks.adopt = [](Tensor& target, const Tensor& result) {
      if (DispatchState::of_this_thread().grad_enabled) adopt_history(target, result);
      if (const DualRules* const rules = dual_rules.load(std::memory_order_acquire)) rules->adopt(target, result);
    };
    hooks.become = [](Tensor& target, const Tensor& view) {
      if (!DispatchState::of_this_thread().grad_enabled) return take_tangent(target, view);
      swap_histories(target.impl(), view.impl());
      if (const Meta* const before = static_cast<const Meta*>(view.impl().autograd); before && before->retained) keep_retained(target, view);
    };
    hooks.view = [](const Tensor& view) {
      if (const DualRules* const rules = dual_rules.load(std::memory_order_acquire)) rules->view(view);
      if (const Tensor base = base_of(view); base.impl().requires_grad && DispatchState::of_this_thread().grad_enabled) take_history_of_base(base, view);
    };
    hooks.require = [](const Tensor& t) { Tensor(t).requires_grad_(); };
    hooks.has_graph = [](const Tensor& t) {
      const auto* const m = static_cast<const Meta*>(t.impl().autograd);
      return m && (m->made_by || (m->leaf && m->leaf->uses.load(std::memory_order_relaxed) > 1));
    };
    return true;
  }();
  (void)done;
}

}  // namespace autograd

TT_INLINE bool Tensor::is_leaf() const {
  autograd::need_history(*this, "is_leaf");
  return !impl().autograd || !static_cast<autograd::Meta*>(impl_->autograd)->made_by;
}
TT_INLINE Tensor& Tensor::requires_grad_(bool on, SourceLine at) {
  if (on && !is_floating(dtype()))
    TT_THROW(Error(Text("tt::requires_grad_: only floating Tensors have gradients: dtype is ") << name(dtype()) << "." << at));
  if (on && impl().inference && !DispatchState::of_this_thread().inference)
    TT_THROW(Error(Text("tt::requires_grad_: the Tensor was made under InferenceMode. Use clone()?") << at));
  autograd::need_history(*this, "requires_grad_");
  if (!is_leaf()) {
    if (on) return *this;
    TT_THROW(Error(Text("tt::requires_grad_: the Tensor was computed from others. Use detach()?") << at));
  }
  autograd::register_tape();
  if (on) (void)autograd::edge_of(*this);  // here, as threads may share it from now on
  if (impl().autograd)
    if (autograd::AccumulateNode* const leaf = autograd::meta_of(*this).leaf) leaf->frozen = !on;
  impl().requires_grad = on;
  impl_->keys = on ? impl_->keys | DispatchKey::autograd : impl_->keys.without(DispatchKey::autograd);
  return *this;
}
TT_INLINE Tensor Tensor::grad() const {
  autograd::need_history(*this, "grad");
  if (!impl().autograd) return {};
  const auto* m = static_cast<autograd::Meta*>(impl_->autograd);
  const Tensor found = m->made_by && m->retained ? *m->retained : m->leaf ? m->leaf->grad : Tensor();
  if (found.defined() && detail::capture_mode) detail::stamp(found);  // as a capture that knows this Tensor knows its gradient
  return found;
}
TT_INLINE void Tensor::set_grad(const Tensor& grad, SourceLine at) {
  const std::shared_ptr<Tensor> retained = is_leaf() ? nullptr : autograd::meta_of(*this).retained;
  if (!is_leaf() && !retained) TT_THROW(Error(Text("tt::set_grad: only leaves have a grad, and Tensors with retain_grad().") << at));
  if (grad.is_same(*this)) TT_THROW(Error(Text("tt::set_grad: a Tensor cannot be its own gradient. Use clone()?") << at));
  if (grad.defined() && (!(grad.shape() == shape()) || grad.dtype() != dtype() || grad.device() != device()))
    TT_THROW(Error(Text("tt::set_grad: the gradient is ") << name(grad.dtype()) << ' ' << grad.shape() << " on " << to_text(grad.device())
                   << ", the Tensor " << name(dtype()) << ' ' << shape() << " on " << to_text(device())
                   << ". Use expand or to?" << at));
  (retained ? *retained : static_cast<autograd::AccumulateNode*>(autograd::edge_of(*this).node)->grad) = grad;
}

}  // namespace tt

#endif
