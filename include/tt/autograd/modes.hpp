// Modes of the thread, hooks and functions of one's own.
//   { tt::NoGrad off; w -= 0.1 * w.grad(); }      tt::register_hook(x, [](const tt::Tensor& g) { return g * 2; });
#pragma once
#include <utility>

#include "tt/autograd/engine.hpp"

namespace tt {

/// Nothing is recorded while it lives (torch.no_grad).
class NoGrad : autograd::StepMode {
 public:
  NoGrad() : StepMode(false) {}
};
/// Records again inside NoGrad (torch.enable_grad).
class EnableGrad : autograd::StepMode {
 public:
  EnableGrad() : StepMode(true) {}
};
/// As NoGrad; what is made inside can never be part of a tape (torch.inference_mode).
class InferenceMode : autograd::StepMode {
 public:
  InferenceMode() : StepMode(false) { DispatchState::of_this_thread().inference = true; }
};
/// Backward checks every gradient for NaN and names the op and line that made it (torch.autograd.detect_anomaly).
class DetectAnomaly {
 public:
  DetectAnomaly() : before_(std::exchange(autograd::anomaly_detection(), true)) {}
  DetectAnomaly(const DetectAnomaly&) = delete;
  ~DetectAnomaly() { autograd::anomaly_detection() = before_; }

 private:
  bool before_;
};
[[nodiscard]] inline bool is_grad_enabled() { return DispatchState::of_this_thread().grad_enabled; }

/// Calls `hook` with the gradient of `t` whenever one arrives; what it returns is used instead.
inline void register_hook(const Tensor& t, TensorHook hook) {
  autograd::need_history(t, "register_hook");
  if (!t.requires_grad()) TT_THROW(Error(Text("tt::register_hook: the Tensor does not require a gradient.")));
  const autograd::Edge e = autograd::edge_of(t);
  if (!e.node->hooks) e.node->hooks = new std::vector<autograd::Hook>;
  e.node->hooks->push_back({e.result, std::move(hook)});
}
/// Keeps the gradient of a Tensor that is not a leaf, for grad().
inline void retain_grad(const Tensor& t) {
  if (t.is_leaf()) return;
  autograd::Meta& m = autograd::meta_of(t);
  if (m.retained) return;
  m.retained = std::make_shared<Tensor>();
  register_hook(t, [kept = m.retained](const Tensor& g) {  // the Tensor may be gone by then
    *kept = g.detach();
    return Tensor();
  });
}

namespace autograd {

/// What a function of one's own keeps between forward and backward.
struct FunctionContext {
  std::vector<Tensor> saved;
  std::vector<double> numbers;
  void save_for_backward(std::vector<Tensor> t) { saved = std::move(t); }
};
struct CustomNode : TapeNode {
  FunctionContext context;
  std::vector<std::uint32_t> versions;
  std::vector<std::size_t> results_saved;  ///< places in context.saved that are the result: without its history, as a cycle else
  std::vector<std::pair<DType, Shape>> given;  ///< of the Tensor arguments
  std::vector<Tensor> (*backward)(FunctionContext&, const std::vector<Tensor>&) = nullptr;
  int tensors = 0;
  Edge own_edge[max_arguments];
};
inline const TapeNodeKind custom_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool taped) {
      auto& n = static_cast<CustomNode&>(base);
      for (std::size_t k = 0; k < n.context.saved.size(); ++k) {
        SavedTensor saved;
        saved.tensor = n.context.saved[k];
        saved.version = n.versions[k];
        saved.check(n, static_cast<int>(k));
      }
      FunctionContext context = n.context;
      for (std::size_t k : n.results_saved)
        if (taped) set_history(context.saved[k] = context.saved[k].detach(), &n, 0);
      const std::vector<Tensor> g = n.backward(context, std::vector<Tensor>(in, in + n.results));
      if (static_cast<int>(g.size()) != n.tensors)
        TT_THROW(Error(Text("tt::Function: backward of ") << n.name << " returned " << g.size() << " gradients for "
                       << n.tensors << " Tensors." << n.where));
      for (int k = 0; k < n.tensors; ++k) {
        const auto& [dtype, shape] = n.given[static_cast<std::size_t>(k)];
        out[k] = g[static_cast<std::size_t>(k)];
        if (out[k].defined() && (out[k].dtype() != dtype || !(out[k].shape() == shape)))
          TT_THROW(Error(Text("tt::Function: backward of ") << n.name << " returned a gradient of " << name(out[k].dtype()) << ' '
                         << out[k].shape() << " for Tensor " << k << ", which is " << name(dtype) << ' ' << shape << "." << n.where));
      }
    },
    [](TapeNode& n) { static_cast<CustomNode&>(n).context.saved.clear(); },
    [](TapeNode* n) { delete static_cast<CustomNode*>(n); }};

}  // namespace autograd

using FunctionContext = autograd::FunctionContext;

/// Calls F::forward(context, arguments...) off the tape and puts F::backward(context, gradients) on it:
///   struct Twice {
///     static tt::Tensor forward(tt::FunctionContext&, const tt::Tensor& x) { return x * 2; }
///     static std::vector<tt::Tensor> backward(tt::FunctionContext&, const std::vector<tt::Tensor>& g) { return {g[0] * 2}; }
///   };
///   tt::apply_function<Twice>(x)
/// backward returns one gradient for each Tensor argument, undefined for none.
template <class F, class... A>
Tensor apply_function(const A&... a) {
  if (detail::capture_mode) {  // its backward is not that of a graph
    const auto need = [&](const auto& x) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>) autograd::need_history(x, "Function");
    };
    (need(a), ...);
    const Tensor result = [&] {
      const detail::PauseCapture pause;
      return apply_function<F>(a...);
    }();
    detail::stamp(result);
    return result;
  }
  static_assert((0 + ... + std::is_same_v<A, Tensor>) <= max_arguments, "tt::apply_function: too many Tensors");
  auto* node = new autograd::CustomNode;
  autograd::NodeHandle owner = autograd::NodeHandle::of_new(node);
  node->kind = &autograd::custom_kind;
  node->name = "Function";
  Tensor result;
  {
    const NoGrad off;
    result = F::forward(node->context, a...);
  }
  const Tensor* argument[max_arguments];
  bool needed = false;
  const auto look = [&](const auto& x) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>) {
      argument[node->tensors++] = &x;
      needed = needed || x.requires_grad();
    }
  };
  (look(a), ...);
  if (!needed || !is_grad_enabled()) return result;
  bool own = !result.impl().requires_grad && !result.impl().is_view;
  for (int k = 0; k < node->tensors; ++k) {
    own = own && !argument[k]->is_same(result);
    node->given.push_back({argument[k]->dtype(), argument[k]->shape()});
  }
  for (std::size_t k = 0; k < node->context.saved.size(); ++k) {
    Tensor& t = node->context.saved[k];
    node->versions.push_back(t.version());
    if (!own || !t.is_same(result)) continue;
    t = t.detach();
    node->results_saved.push_back(k);
  }
  if (!own) result = result.detach();
  node->backward = &F::backward;
  autograd::connect(*node, node->own_edge, argument, node->tensors);
  autograd::set_histories(static_cast<autograd::NodeHandle&&>(owner), &result, 1, [](int) { return true; });
  return result;
}

}  // namespace tt
