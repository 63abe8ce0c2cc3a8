// Function transforms on Tensors, by the tape: the same tt::grad(f) and tt::value_and_grad(f) as on
// Arrays, and gradcheck.
//   tt::value_and_grad<0, 1>(loss)(w, b, x)   {value, {dw, db}};   parameter structs: Mlp<tt::tensors>
//   struct Net { tt::Tensor w, b; };   Net d = tt::grad(loss)(net, x);   // structs and lists of Tensors, of any depth
//   // A function of Tensors may return a pair: the value, and an auxiliary value (`has_aux`).
//   auto [d, y] = tt::grad(loss_and_y)(w, x);   auto [given, d] = tt::value_and_grad(loss_and_y)(w, x);   // given: {value, y}
#pragma once
#include <cmath>
#include <tuple>

#include "tt/autograd/to_device.hpp"
#include "tt/core/leaves.hpp"

namespace tt {

/// Kind of parameter structs: members are Tensors.
struct tensors {
  using tt_front = TensorFront;
  template <class, std::int64_t...>
  using type = Tensor;
};

namespace autograd {

/// A variable to differentiate by: the same elements, a history of its own. It stays on the tape of a `t` that requires a gradient, so that derivatives
/// of derivatives work. A captured graph ends here, as its nodes have no history; CaptureMode::variable makes variables that are nodes.
inline Tensor as_variable(const Tensor& t) {
  if (tt::detail::capture_mode) {
    tt::detail::capture_mode->need(t, "a variable of derivatives, of", {});
    const tt::detail::PauseCapture pause;
    return as_variable(t);
  }
  if (t.requires_grad() && is_grad_enabled()) return t.reshape(t.shape());
  return off_tape(t).requires_grad_();
}

/// Integers and booleans have no derivatives: `op` is for the error.
inline void need_floating(const Tensor& t, const char* op, SourceLine at = {}) {
  if (!is_floating(t.dtype())) TT_THROW(Error(Text("tt::") << op << ": only floating Tensors have derivatives: dtype is " << name(t.dtype()) << "." << at));
}
/// Does a Tensor require a gradient? A recorded value is computed first: a recorded gradient says yes, and may turn out to be constant.
inline bool has_history(const Tensor& t) {
  if (tt::detail::capture_mode && t.requires_grad()) tt::detail::capture_mode->need(t, "a derivative of", {});
  return t.requires_grad();
}

/// One call of a function for its gradients. They have a history (for derivatives of derivatives) where the function depends on other Tensors that require
/// a gradient, as an argument's source or a Tensor that it holds. Under NoGrad they have none.
class GradientRun {
 public:
  /// `arguments`: all Tensors of the call; `by`: those to differentiate by, which become variables. Members of a struct may be undefined.
  TT_INLINE GradientRun(const tt::detail::Leaves& arguments, const tt::detail::Leaves& by);
  GradientRun(const GradientRun&) = delete;
  /// Computes the gradients of `value`; `auxiliary`: Tensors that the function returned beside the value.
  TT_INLINE void finish(Tensor& value, const tt::detail::Leaves& auxiliary);
  /// Replaces the Tensors of `by` by the next gradients.
  TT_INLINE void fill(const tt::detail::Leaves& by);

 private:
  /// Tells a running capture where the gradient begins and ends, by an error or not.
  struct Recorded {
    tt::detail::CaptureMode* const mode = tt::detail::capture_mode;
    Recorded() {
      if (mode) mode->open_gradient();
    }
    Recorded(const Recorded&) = delete;
    ~Recorded() {
      if (mode) mode->close_gradient();
    }
  } recorded_;
  bool nested_ = false;
  std::size_t filled_ = 0;
  std::vector<Tensor> given_, variables_, gradients_;  ///< given: the Tensors that variables replace
};
/// The auxiliary value of a function that returns a value alone.
struct NoAuxiliary {};
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
/// The gradients by arguments I, each of its argument's type. If the function returns the pair of a value and an auxiliary value, so does this:
/// {gradients, auxiliary}, or {{value, auxiliary}, gradients}.
template <bool Value_, int... I, class F, class... A>
auto gradient_by(const F& f, const A&... a) {
  std::tuple<std::remove_cvref_t<A>...> arguments(a...);
  tt::detail::Leaves all;
  const auto look = [&](auto& x) {
    if constexpr (tt::detail::has_leaves<std::remove_cvref_t<decltype(x)>>()) all.add(std::as_const(x), true);
  };
  std::apply([&](auto&... x) { (look(x), ...); }, arguments);
  GradientRun run(all, tt::detail::leaves_in(std::get<I>(arguments)...));
  auto given = [&] {
    const EnableGrad on;
    if constexpr (is_pair<std::remove_cvref_t<std::invoke_result_t<const F&, std::remove_cvref_t<A>&...>>>) return std::apply(f, arguments);
    else return std::pair<Tensor, NoAuxiliary>{std::apply(f, arguments), {}};
  }();
  using Auxiliary = decltype(given.second);
  constexpr bool has_auxiliary = !std::is_same_v<Auxiliary, NoAuxiliary>;
  static_assert(tt::detail::has_leaves<Auxiliary>(), "tt::grad: what a function gives beside its value is made of Tensors and numbers: structs, std::vector, std::array, pairs and tuples of them");
  tt::detail::Leaves beside;
  if constexpr (tt::detail::has_leaves<Auxiliary>()) beside.add(given.second, false);
  run.finish(given.first, beside);
  const auto gradient = [&](auto x) {
    run.fill(tt::detail::leaves_in(x));
    return x;
  };
  const auto gradients = [&] {
    if constexpr (sizeof...(I) == 1) return gradient(std::get<I...>(arguments));
    else return std::tuple{gradient(std::get<I>(arguments))...};
  };
  auto taken = gradients();
  if constexpr (Value_ && has_auxiliary) return std::pair{std::move(given), std::move(taken)};
  else if constexpr (Value_) return std::pair{std::move(given.first), std::move(taken)};
  else if constexpr (has_auxiliary) return std::pair{std::move(taken), std::move(given.second)};
  else return taken;
}

}  // namespace autograd

template <bool Value_, int... I, class F, class... A>
auto TensorFront::gradient(const F& f, A&&... a) {
  constexpr bool taken = (tt::detail::has_leaves<std::remove_cvref_t<std::tuple_element_t<I, std::tuple<A...>>>>() && ...) &&
                         !(std::is_array_v<std::remove_reference_t<A>> || ...);
  static_assert(taken, "tt::grad: an argument to differentiate by is a Tensor, or a struct, std::vector, std::array, pair or tuple of what is; "
                       "no pointer, no C array");
  if constexpr (taken) return autograd::gradient_by<Value_, I...>(f, static_cast<A&&>(a)...);
  else if constexpr (Value_) return std::pair{Tensor(), Tensor()};
  else return Tensor();
}

/// Compares gradients with finite differences: true, or an Error that says where they differ. Inputs
/// should be f64. `f` takes the vector of inputs and returns one Tensor; those that require a
/// gradient are checked (torch.autograd.gradcheck's tolerances).
TT_INLINE bool gradcheck(CallableRef<Tensor(std::vector<Tensor>&)> f, std::vector<Tensor> inputs, double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3);
/// gradcheck of the gradients: derivatives of the second order, also with respect to the gradient of the result.
TT_INLINE bool gradgradcheck(CallableRef<Tensor(std::vector<Tensor>&)> f, std::vector<Tensor> inputs, double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3);

#if TT_DEFINES(autograd)

namespace autograd {
TT_INLINE GradientRun::GradientRun(const tt::detail::Leaves& arguments, const tt::detail::Leaves& by) {
  for (const Tensor* t : arguments.tensor) nested_ = nested_ || (t->defined() && (t->requires_grad() || has_taped_tangent(*t)) && is_grad_enabled());
  for (Tensor* t : by.tensor) {
    if (!t->defined()) continue;
    need_floating(*t, "grad");
    given_.push_back(*t);
    *t = recorded_.mode ? recorded_.mode->variable(*t) : as_variable(*t);
    variables_.push_back(*t);
  }
  gradients_.resize(variables_.size());
}
TT_INLINE void GradientRun::finish(Tensor& value, const tt::detail::Leaves& auxiliary) {
  for (Tensor* t : auxiliary.tensor)  // a variable that is returned becomes the given Tensor again
    for (std::size_t k = 0; k < variables_.size(); ++k)
      if (t->defined() && t->is_same(variables_[k])) *t = given_[k];
  if (!recorded_.mode || !recorded_.mode->gradients(value, variables_.data(), static_cast<int>(variables_.size()), gradients_.data())) {
    std::vector<const Tensor*> taped{&value};
    for (const Tensor* t : auxiliary.tensor) taped.push_back(t);
    std::erase_if(taped, [](const Tensor* t) { return !t->defined() || !t->requires_grad(); });
    for (const Tensor* t : taped) need_history(*t, "grad");
    nested_ = nested_ || (is_grad_enabled() && hang_on_others(taped, variables_));
    if (value.requires_grad()) gradients_ = tt::grad({value}, variables_, {}, nested_, nested_, {});
    if (nested_) return;
    value = off_tape(value);
    for (Tensor* t : auxiliary.tensor)
      if (t->defined() && t->requires_grad() && !t->is_leaf()) *t = off_tape(*t);
  } else if (!is_grad_enabled()) {  // the recorded function may be differentiated as a whole: clones under NoGrad end reverse mode, not forward mode
    value = value.clone();
    for (Tensor& g : gradients_) g = g.clone();
    for (Tensor* t : auxiliary.tensor)
      if (t->defined() && t->requires_grad()) *t = t->clone();
  } else {  // auxiliary values have their history in the recorded graph
    for (const Tensor& g : gradients_) nested_ = nested_ || g.requires_grad();
    if (!nested_) value.impl().requires_grad = false;
  }
}
TT_INLINE void GradientRun::fill(const tt::detail::Leaves& by) {
  for (Tensor* t : by.tensor) {
    if (!t->defined()) continue;
    if (filled_ == variables_.size()) TT_THROW(Error(Text("tt::grad: the function defined a Tensor of an argument that it is differentiated by.")));
    *t = gradients_[filled_].defined() ? gradients_[filled_] : zeros_like(variables_[filled_]);
    ++filled_;
  }
}
/// Compares the gradient of argument `number` with finite differences of `sum`, element by element.
template <class T>
void check_elements(const Tensor& t, int number, const Tensor& gradient, CallableRef<double()> sum, double eps, double atol, double rtol) {
  if (!is_host(t.device())) TT_THROW(Error(Text("tt::gradcheck: inputs must be on the CPU.")));
  T* p = t.contiguous().is_same(t) ? t.data_ptr<T>() : nullptr;
  if (!p) TT_THROW(Error(Text("tt::gradcheck: inputs must lie dense.")));
  for (std::int64_t i = 0; i < t.impl().numel; ++i) {
    const T before = p[i];
    p[i] = static_cast<T>(static_cast<double>(before) + eps);
    const double up = sum();
    p[i] = static_cast<T>(static_cast<double>(before) - eps);
    const double down = sum();
    p[i] = before;
    const double expected = (up - down) / (2 * eps), found = static_cast<double>(gradient.data_ptr<T>()[i]);
    if (!(std::abs(found - expected) <= atol + rtol * std::abs(expected))) {
      char text[200];
      std::snprintf(text, sizeof text, "tt::gradcheck: element %lld of input %d: the gradient is %.9g, by differences %.9g.",
                    static_cast<long long>(i), number, found, expected);
      TT_THROW(Error(Text(text)));
    }
  }
}
inline std::vector<Tensor> requiring_gradients(const std::vector<Tensor>& all) {
  std::vector<Tensor> wanted;
  for (const Tensor& t : all)
    if (t.requires_grad()) wanted.push_back(t);
  return wanted;
}
}  // namespace autograd

TT_INLINE bool gradcheck(CallableRef<Tensor(std::vector<Tensor>&)> f, std::vector<Tensor> inputs, double eps, double atol, double rtol) {
  const Tensor y = f(inputs);
  const Tensor weights = rand_like(y, 20231).to(y.dtype());
  const std::vector<Tensor> wanted = autograd::requiring_gradients(inputs), got = tt::grad({y}, wanted, {weights}, false, false, {});
  const NoGrad off;
  const auto weighted = [&] { return (f(inputs) * weights).sum().item<double>(); };
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const Tensor& t = wanted[k];
    const Tensor g = got[k].defined() ? got[k].contiguous() : zeros_like(t);
    with_dtype(t.dtype(), [&]<class T>(T) { autograd::check_elements<T>(t, static_cast<int>(k), g, weighted, eps, atol, rtol); });
  }
  return true;
}
TT_INLINE bool gradgradcheck(CallableRef<Tensor(std::vector<Tensor>&)> f, std::vector<Tensor> inputs, double eps, double atol, double rtol) {
  const Tensor y = f(inputs);
  inputs.push_back((rand_like(y, 20232).to(y.dtype()) + 0.5).detach().requires_grad_());
  const auto gradients = [&f](std::vector<Tensor>& all) {
    const EnableGrad on;
    std::vector<Tensor> given(all.begin(), all.end() - 1);
    Tensor total = (all.back() * 0).sum();
    std::int64_t seed = 20233;
    for (const Tensor& g : grad({f(given)}, autograd::requiring_gradients(given), {all.back()}, true, true, {}))
      if (g.defined()) total = total + (g * rand_like(g, seed++).to(g.dtype())).sum();
    return total;
  };
  return gradcheck(gradients, inputs, eps, atol, rtol);
}

#endif

}  // namespace tt
