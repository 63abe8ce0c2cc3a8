// Modes of the thread (NoGrad and EnableGrad: dispatch/grad_mode.hpp), hooks on gradients, and custom functions with a backward (apply_function).
//   tt::register_hook(x, [](const tt::Tensor& g) { return g * 2; });
#pragma once
#include <utility>

#include "tt/autograd/engine.hpp"

namespace tt {

/// As NoGrad; Tensors made inside can never be part of a tape (torch.inference_mode).
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

/// Calls `hook` with the gradient of `t` whenever one arrives; a defined result replaces the gradient. Returns the id for remove_hook.
TT_INLINE unsigned register_hook(const Tensor& t, TensorHook hook, SourceLine at = here());
/// A hook that only looks.
template <class F>
  requires std::is_void_v<std::invoke_result_t<F&, const Tensor&>>
unsigned register_hook(const Tensor& t, F hook, SourceLine at = here()) {
  return register_hook(t, TensorHook([own = static_cast<F&&>(hook)](const Tensor& g) mutable {
    own(g);
    return Tensor();
  }), at);
}
/// Removes a hook. Throws Error when the Tensor has no such hook.
TT_INLINE void remove_hook(const Tensor& t, unsigned hook, SourceLine at = here());
/// Collects the gradient of a Tensor that is not a leaf, after all hooks, for grad(). If the Tensor is changed in place: the gradient of its new value.
TT_INLINE void retain_grad(const Tensor& t, SourceLine at = here());
namespace autograd {
/// The Tensor becomes a leaf that wants no gradient, and has no tangent.
TT_INLINE void forget(const Tensor& t);
/// A Tensor of the same elements and history that has no tangent.
TT_INLINE Tensor without_tangent(const Tensor& t);
}  // namespace autograd
template <class F> unsigned Tensor::register_hook(F hook, SourceLine at) const { return tt::register_hook(*this, static_cast<F&&>(hook), at); }
template <class> void Tensor::remove_hook(unsigned hook, SourceLine at) const { tt::remove_hook(*this, hook, at); }
template <class> void Tensor::retain_grad(SourceLine at) const { tt::retain_grad(*this, at); }
template <class> Tensor& Tensor::detach_(SourceLine at) {
  if (impl().base) TT_THROW(Error(Text("tt::detach_: a view keeps the history of what it shows. Use detach()?") << at));
  detail::outside_capture(*this, "detach_", at, [&] {
    if (requires_grad() || autograd::may_be_dual(*this)) autograd::forget(*this);
  });
  return *this;
}

namespace autograd {

/// Values that a custom function keeps between forward and backward.
struct FunctionContext {
  std::vector<Tensor> saved;
  std::vector<double> numbers;
  std::vector<Tensor> non_differentiable;  ///< results
  std::vector<char> needs_grad;            ///< of each Tensor argument
  bool materialize_grads = true;

  void save_for_backward(std::vector<Tensor> t) { saved = std::move(t); }
  /// These results get no history.
  void mark_non_differentiable(std::vector<Tensor> t) { non_differentiable = std::move(t); }
  /// false: a gradient that does not arrive at one of several results is undefined, not zeros.
  void set_materialize_grads(bool value) { materialize_grads = value; }
  /// Will the gradient of Tensor argument k be used?
  bool needs_input_grad(int k) const {
    if (k < 0 || k >= static_cast<int>(needs_grad.size())) TT_THROW(Error(Text("tt::Function: needs_input_grad(") << k << "): there are " << static_cast<int>(needs_grad.size()) << " Tensor arguments."));
    return needs_grad[static_cast<std::size_t>(k)] != 0;
  }
};
struct CustomNode;

/// Twice of "... [with F = a::Twice]", ByGradient<true> of "... [F = ByGradient<true>]".
inline Text name_in_signature(std::string_view all) {
  all.remove_prefix(all.find("F = ") + 4);
  all = all.substr(0, all.find_first_of(";]"));
  if (const std::size_t colons = all.substr(0, all.find('<')).rfind("::"); colons != all.npos) all.remove_prefix(colons + 2);
  Text t;
  for (const char c : all) t << c;
  return t;
}
/// The name of a struct, for errors.
template <class F>
const char* name_of_function() {
  static Text& name = *new Text(name_in_signature(__PRETTY_FUNCTION__));  // nodes may outlive statics
  return name.c_str();
}
/// One call of a custom function: forward runs with its context, then finish puts the results on the tape.
class CustomCall {
 public:
  using Backward = std::vector<Tensor> (*)(FunctionContext&, const std::vector<Tensor>&);
  TT_INLINE CustomCall(Backward backward, const char* name, const Tensor* const* argument, int count);
  CustomCall(const CustomCall&) = delete;
  TT_INLINE ~CustomCall();
  TT_INLINE FunctionContext& context();
  TT_INLINE void finish(std::span<Tensor> result, const Tensor* const* argument, int count);

 private:
  CustomNode* node_;
};

}  // namespace autograd

using FunctionContext = autograd::FunctionContext;

/// Calls F::forward(context, arguments...) off the tape and puts F::backward(context, gradients) on it:
///   struct Twice {
///     static tt::Tensor forward(tt::FunctionContext&, const tt::Tensor& x) { return x * 2; }
///     static std::vector<tt::Tensor> backward(tt::FunctionContext&, const std::vector<tt::Tensor>& g) { return {g[0] * 2}; }
///   };
///   tt::apply_function<Twice>(x)
/// forward returns a Tensor or a vector of Tensors, and does not change its arguments; results in their memory are copied. backward gets a gradient for each result, zeros where none arrives at one of several, and returns one
/// for each Tensor argument, undefined for none. Forward mode differentiates backward, or calls F::jvp(context, tangents) if there is one: jvp gets a tangent
/// for each Tensor argument, zeros where an argument has none, undefined for integers, and returns one for each result, undefined for none.
template <class F, class... A>
auto apply_function(const A&... a) -> std::remove_cvref_t<decltype(F::forward(std::declval<FunctionContext&>(), a...))> {
  using Result = std::remove_cvref_t<decltype(F::forward(std::declval<FunctionContext&>(), a...))>;
  static_assert(std::is_same_v<Result, Tensor> || std::is_same_v<Result, std::vector<Tensor>>, "tt::apply_function: forward returns a Tensor, or a std::vector of Tensors");
  Result result;
  const auto results = [&]() -> std::span<Tensor> {
    if constexpr (std::is_same_v<Result, Tensor>) return {&result, 1};
    else return result;
  };
  if (detail::capture_mode) {  // its backward is not that of a graph
    const auto need = [&](const auto& x) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>) autograd::need_history(x, "Function");
    };
    (need(a), ...);
    {
      const detail::PauseCapture pause;
      result = apply_function<F>(a...);
    }
    for (const Tensor& t : results())
      if (t.defined()) detail::stamp(t);
    return result;
  }
  const Tensor* argument[sizeof...(A) + 1];
  int tensors = 0;
  const auto look = [&](const auto& x) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>) argument[tensors++] = &x;
  };
  (look(a), ...);
  constexpr bool has_jvp = requires { &F::jvp; };
  const bool dual = autograd::may_be_dual(argument, tensors);
  FunctionContext own;  // as forward left it
  const auto run = [&](const auto&... x) {
    autograd::CustomCall call(&F::backward, autograd::name_of_function<F>(), argument, tensors);
    {
      const NoGrad off;
      result = F::forward(call.context(), x...);
    }
    if constexpr (has_jvp)
      if (dual) own = call.context();
    call.finish(results(), argument, tensors);
    return results();
  };
  if (!dual) {
    run(a...);
    return result;
  }
  const auto jvp = [&](const std::vector<Tensor>& tangents) -> std::vector<Tensor> {
    if constexpr (has_jvp) {
      for (Tensor& t : own.saved)
        if (t.defined()) t = autograd::without_tangent(t);
      return {F::jvp(own, tangents)};
    } else {
      return {};
    }
  };
  const autograd::CustomTangents by_jvp(jvp);
  autograd::call_on_duals(argument, tensors, [&](const Tensor* const* given) {
    const auto in_place_of = [&](const auto& x) -> const auto& {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>) {
        for (int k = 0; k < tensors; ++k)
          if (argument[k] == &x) {
            argument[k] = given[k];
            return *given[k];
          }
      }
      return x;
    };
    return run(in_place_of(a)...);
  }, has_jvp ? &by_jvp : nullptr);
  return result;
}

}  // namespace tt

#if TT_DEFINES(autograd)
#include "tt/autograd/modes_inl.hpp"
#endif
