// Definitions of modes.hpp: hooks, and the nodes of custom functions.
#pragma once
#include <utility>

#include "tt/autograd/fit_gradient.hpp"
#include "tt/autograd/modes.hpp"
#include "tt/autograd/node.hpp"

namespace tt {

TT_INLINE unsigned register_hook(const Tensor& t, TensorHook hook, SourceLine at) {
  autograd::will_need_history(t);
  autograd::need_history(t, "register_hook");
  if (!t.requires_grad()) TT_THROW(Error(Text("tt::register_hook: the Tensor does not require a gradient.") << at));
  return autograd::add_hook(autograd::edge_of(t), {.function = std::move(hook)});
}
TT_INLINE void remove_hook(const Tensor& t, unsigned hook, SourceLine at) {
  autograd::need_history(t, "remove_hook");
  const autograd::Edge e = t.requires_grad() ? autograd::edge_of(t) : autograd::Edge();
  if (!e.node || !e.node->hooks || std::erase_if(*e.node->hooks, [&](const autograd::Hook& h) { return h.result == e.result && h.id == hook; }) == 0)
    TT_THROW(Error(Text("tt::remove_hook: this Tensor has no such hook. It is with what the Tensor was when it was registered.") << at));
}
TT_INLINE void retain_grad(const Tensor& t, SourceLine at) {
  autograd::will_need_history(t);
  if (!t.requires_grad()) TT_THROW(Error(Text("tt::retain_grad: the Tensor does not require a gradient: ") << name(t.dtype()) << ' ' << t.shape() << "." << at));
  if (t.is_leaf()) return;
  autograd::Meta& m = autograd::meta_of(t);
  if (m.retained) return;
  m.retained = std::make_shared<Tensor>();
  autograd::add_hook(autograd::edge_of(t), {.retained = m.retained});
}

namespace autograd {

TT_INLINE Tensor without_tangent(const Tensor& t) { return with_history_only(t); }
TT_INLINE void forget(const Tensor& t) {
  forget_history(t);
  set_tangent(t, Tensor(), nullptr);
}

struct CustomNode : TapeNode {
  FunctionContext context;
  std::vector<std::uint32_t> versions, given_versions;  ///< of saved Tensors; of arguments, before forward
  std::vector<std::pair<std::size_t, int>> results_saved;  ///< indices in context.saved, and the results saved there: without their history, a cycle else
  std::vector<std::pair<DType, Shape>> given, made;  ///< of the Tensor arguments, and of the results
  CustomCall::Backward backward = nullptr;
  int tensors = 0;
  std::vector<Edge> own_edge;
};
inline const TapeNodeKind custom_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool taped) {
      auto& n = static_cast<CustomNode&>(base);
      for (std::size_t k = 0; k < n.context.saved.size(); ++k) {
        if (!n.context.saved[k].defined()) continue;
        SavedTensor saved;
        saved.tensor = n.context.saved[k];
        saved.version = n.versions[k];
        saved.check(n, static_cast<int>(k));
      }
      FunctionContext context = n.context;
      for (const auto& [k, result] : n.results_saved)
        if (taped) set_history(context.saved[k] = off_tape(context.saved[k]), &n, result);
      std::vector<Tensor> arrived(in, in + n.results);
      for (std::size_t k = 0; k < arrived.size(); ++k)
        if (context.materialize_grads && !arrived[k].defined() && is_floating(n.made[k].first)) arrived[k] = full(n.made[k].second, 0, tt::detail::on_device(n.made[k].first, device_of_gradients(n.results, in)));
      std::vector<Tensor> g = n.backward(context, arrived);
      while (static_cast<int>(g.size()) > n.tensors && !g.back().defined()) g.pop_back();  // those of arguments that are no Tensors
      if (static_cast<int>(g.size()) != n.tensors)
        TT_THROW(Error(Text("tt::Function: backward of ") << n.name << " returned " << g.size() << " gradients for "
                       << n.tensors << " Tensors." << n.where));
      for (int k = 0; k < n.tensors; ++k) {
        const auto& [dtype, shape] = n.given[static_cast<std::size_t>(k)];
        out[k] = is_floating(dtype) ? g[static_cast<std::size_t>(k)] : Tensor();
        if (out[k].defined() && !fit_gradient(out[k], dtype, shape, n.where))
          TT_THROW(Error(Text("tt::Function: backward of ") << n.name << " returned a gradient of " << name(out[k].dtype()) << ' '
                         << out[k].shape() << " for Tensor " << k << ", which is " << name(dtype) << ' ' << shape << "." << n.where));
      }
    },
    [](TapeNode& n) {
      std::vector<Tensor>& saved = static_cast<CustomNode&>(n).context.saved;
      const bool any = !saved.empty();
      saved.clear();
      return any;
    },
    [](TapeNode* n) { delete static_cast<CustomNode*>(n); },
    [](TapeNode& base, int result, const Tensor& from) {
      auto& n = static_cast<CustomNode&>(base);
      for (const auto& [k, saved] : n.results_saved)
        if (saved == result) take_tangent(n.context.saved[k], from);
    }};

TT_INLINE CustomCall::CustomCall(Backward backward, const char* name, const Tensor* const* argument, int count) : node_(new CustomNode) {
  node_->kind = &custom_kind;
  node_->name = name;
  for (int k = 0; k < count; ++k) {
    if (!argument[k]->defined()) {
      release(node_);
      TT_THROW(Error(Text("tt::Function: ") << name << ": Tensor " << k << " is undefined."));
    }
    node_->context.needs_grad.push_back(argument[k]->requires_grad() && is_grad_enabled());
    node_->given_versions.push_back(argument[k]->version());
  }
  node_->backward = backward;
}
TT_INLINE CustomCall::~CustomCall() { release(node_); }
TT_INLINE FunctionContext& CustomCall::context() { return node_->context; }
/// Results that lie in an argument's memory are copied: a change of one in place would be a change of both, which the tape does not see.
inline void copy_shared(std::span<Tensor> result, const Tensor* const* argument, int count, FunctionContext& context) {
  for (Tensor& r : result) {
    bool shared = false, is_argument = false;
    for (int k = 0; k < count && r.defined(); ++k) {
      shared = shared || r.shares_storage(*argument[k]);
      is_argument = is_argument || r.is_same(*argument[k]);
    }
    if (!shared) continue;
    const Tensor copy = r.detach().clone();
    for (std::vector<Tensor>* list : {&context.saved, &context.non_differentiable})
      for (Tensor& t : *list)
        if (t.defined() && t.is_same(r) && (!is_argument || list != &context.saved)) t = copy;
    r = copy;
  }
}
TT_INLINE void CustomCall::finish(std::span<Tensor> result, const Tensor* const* argument, int count) {
  node_->tensors = count;
  bool needed = false, floating = false;
  for (int k = 0; k < count; ++k) needed = needed || argument[k]->requires_grad();
  for (const Tensor& r : result) floating = floating || (r.defined() && is_floating(r.dtype()));
  FunctionContext& context = node_->context;
  for (int k = 0; k < count; ++k)
    if (argument[k]->version() != node_->given_versions[static_cast<std::size_t>(k)])
      TT_THROW(Error(Text("tt::Function: forward of ") << node_->name << " changes Tensor " << k << ", an argument, in place. Change a clone()?"));
  if (needed || may_be_dual(argument, count)) copy_shared(result, argument, count, context);
  if (!needed || !floating || !is_grad_enabled()) return;
  const auto has_gradient = [&, marked = std::exchange(context.non_differentiable, {})](int k) {
    const Tensor& r = result[static_cast<std::size_t>(k)];
    bool differentiable = r.defined() && is_floating(r.dtype());
    for (const Tensor& t : marked) differentiable = differentiable && !t.is_same(r);
    return differentiable;
  };
  for (int k = 0; k < count; ++k) node_->given.push_back({argument[k]->dtype(), argument[k]->shape()});
  for (const Tensor& t : node_->context.saved) node_->versions.push_back(t.defined() ? t.version() : 0);
  for (std::size_t r = 0; r < result.size(); ++r) {
    if (!result[r].defined()) {
      node_->made.push_back({DType::boolean, Shape{}});
      continue;
    }
    node_->made.push_back({result[r].dtype(), result[r].shape()});
    if (!has_gradient(static_cast<int>(r))) continue;
    bool made = !result[r].impl().requires_grad;  // by forward
    for (int k = 0; k < count; ++k) made = made && !argument[k]->is_same(result[r]);
    for (std::size_t k = 0; k < r; ++k) made = made && !result[k].is_same(result[r]);
    const bool own = made && !result[r].impl().is_view;
    for (std::size_t k = 0; k < node_->context.saved.size() && made; ++k) {
      Tensor& t = node_->context.saved[k];
      if (!t.defined() || !t.is_same(result[r])) continue;
      t = t.detach();
      node_->results_saved.push_back({k, static_cast<int>(r)});
    }
    if (!own) result[r] = result[r].detach();
  }
  node_->results = static_cast<int>(result.size());
  node_->own_edge.resize(static_cast<std::size_t>(count));
  connect(*node_, node_->own_edge.data(), argument, count);
  set_histories(NodeHandle::of_new(std::exchange(node_, nullptr)), result.data(), static_cast<int>(result.size()), has_gradient);
}

}  // namespace autograd
}  // namespace tt
