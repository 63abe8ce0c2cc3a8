// Function transforms on Tensors, by the tape: the same tt::grad(f) and tt::value_and_grad(f) as on
// Arrays, and gradcheck.
//   tt::value_and_grad<0, 1>(loss)(w, b, x)   {value, {dw, db}};   parameter structs: Mlp<tt::tensors>
//   struct Net { tt::Tensor w, b; };   Net d = tt::grad(loss)(net, x);   // structs and lists of Tensors, of any depth
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

/// Does f(Tensor&) for those of an argument that can be differentiated by: some of a struct may be undefined.
template <class A, class F>
void each_variable(A& a, const F& f) {
  tt::detail::each_leaf(a, [&](Tensor& t) {
    if (t.defined()) f(t);
  });
}
/// A Tensor to differentiate by: the same elements, a history of its own. On the tape of a Tensor that
/// has one, so that derivatives of derivatives work. While a function is recorded the graph ends there: a variable has a history, which a node of a graph has not; CaptureMode::variable makes nodes.
inline Tensor as_variable(const Tensor& t) {
  if (tt::detail::capture_mode) {
    tt::detail::capture_mode->need(t, "a variable of derivatives, of", {});
    const tt::detail::PauseCapture pause;
    return as_variable(t);
  }
  if (t.requires_grad() && is_grad_enabled()) return t.reshape(t.shape());
  return off_tape(t).requires_grad_();
}

/// Of ints and bools there are no derivatives: `op` is for the error.
inline void need_floating(const Tensor& t, const char* op, SourceLine at = {}) {
  if (!is_floating(t.dtype())) TT_THROW(Error(Text("tt::") << op << ": only floating Tensors have derivatives: dtype is " << name(t.dtype()) << "." << at));
}
/// Does a Tensor require a gradient? A recorded value is computed first: a recorded gradient says yes, and may turn out to be constant.
inline bool has_history(const Tensor& t) {
  if (tt::detail::capture_mode && t.requires_grad()) tt::detail::capture_mode->need(t, "a derivative of", {});
  return t.requires_grad();
}

/// The gradients by arguments I, each as the argument is. They have a history where the function hangs on more that requires a gradient, as an argument's source or a
/// Tensor that it holds: derivatives of derivatives; who wants none is under NoGrad.
template <bool Value_, int... I, class F, class... A>
auto gradient_by(const F& f, const A&... a) {
  std::tuple<std::remove_cvref_t<A>...> arguments(a...);
  bool nested = false;
  const auto look = [&](auto& x) {
    if constexpr (tt::detail::has_leaves<std::remove_cvref_t<decltype(x)>>())
      each_variable(x, [&](const Tensor& t) { nested = nested || ((t.requires_grad() || has_taped_tangent(t)) && is_grad_enabled()); });
  };
  std::apply([&](auto&... x) { (look(x), ...); }, arguments);
  std::vector<Tensor> variables, gradients;
  Tensor value;
  tt::detail::CaptureMode* const mode = tt::detail::capture_mode;
  struct Scope {
    tt::detail::CaptureMode* mode;
    ~Scope() {
      if (mode) mode->close_gradient();
    }
  } scope{nullptr};
  if (mode) {
    mode->open_gradient();
    scope.mode = mode;
  }
  (each_variable(std::get<I>(arguments),
                 [&](Tensor& t) {
                   need_floating(t, "grad");
                   t = mode ? mode->variable(t) : as_variable(t);
                   variables.push_back(t);
                 }),
   ...);
  {
    const EnableGrad on;
    value = std::apply(f, arguments);
  }
  gradients.resize(variables.size());
  if (!mode || !mode->gradients(value, variables.data(), static_cast<int>(variables.size()), gradients.data())) {
    if (value.requires_grad()) {
      need_history(value, "grad");
      nested = nested || (is_grad_enabled() && hangs_on_others(value, variables));
      gradients = tt::grad({value}, variables, {}, nested, nested, {});
    }
    if (!nested) value = off_tape(value);
  } else if (!is_grad_enabled()) {  // what is recorded may be differentiated as a whole: steps under NoGrad, as which forward mode goes on
    value = value.clone();
    for (Tensor& g : gradients) g = g.clone();
  } else {
    for (const Tensor& g : gradients) nested = nested || g.requires_grad();
    if (!nested) value.impl().requires_grad = false;
  }
  std::size_t at = 0;
  const auto fill = [&](auto x) {
    each_variable(x, [&](Tensor& t) {
      if (at == variables.size()) TT_THROW(Error(Text("tt::grad: the function defined a Tensor of an argument that it is differentiated by.")));
      t = gradients[at].defined() ? gradients[at] : zeros_like(variables[at]);
      ++at;
    });
    return x;
  };
  if constexpr (sizeof...(I) == 1) {
    auto grads = fill(std::get<I...>(arguments));
    if constexpr (Value_) return std::pair{value, grads};
    else return grads;
  } else {
    std::tuple grads{fill(std::get<I>(arguments))...};
    if constexpr (Value_) return std::pair{value, grads};
    else return grads;
  }
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
template <class F>
bool gradcheck(const F& f, std::vector<Tensor> inputs, double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3) {
  const Tensor y = f(inputs);
  const Tensor weights = rand_like(y, 20231).to(y.dtype());
  std::vector<Tensor> wanted;
  for (const Tensor& t : inputs)
    if (t.requires_grad()) wanted.push_back(t);
  const std::vector<Tensor> got = tt::grad({y}, wanted, {weights}, false, false, {});
  const NoGrad off;
  const auto weighted = [&] { return (f(inputs) * weights).sum().template item<double>(); };
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    Tensor& t = wanted[k];
    const Tensor g = got[k].defined() ? got[k].contiguous() : zeros_like(t);
    with_dtype(t.dtype(), [&]<class T>(T) {
      if (!is_host(t.device())) TT_THROW(Error(Text("tt::gradcheck: inputs must be on the CPU.")));
      T* p = t.contiguous().is_same(t) ? t.data_ptr<T>() : nullptr;
      if (!p) TT_THROW(Error(Text("tt::gradcheck: inputs must lie dense.")));
      for (std::int64_t i = 0; i < t.impl().numel; ++i) {
        const T before = p[i];
        p[i] = static_cast<T>(static_cast<double>(before) + eps);
        const double up = weighted();
        p[i] = static_cast<T>(static_cast<double>(before) - eps);
        const double down = weighted();
        p[i] = before;
        const double expected = (up - down) / (2 * eps), found = static_cast<double>(g.data_ptr<T>()[i]);
        if (!(std::abs(found - expected) <= atol + rtol * std::abs(expected))) {
          char text[200];
          std::snprintf(text, sizeof text, "tt::gradcheck: element %lld of input %d: the gradient is %.9g, by differences %.9g.",
                        static_cast<long long>(i), static_cast<int>(k), found, expected);
          TT_THROW(Error(Text(text)));
        }
      }
    });
  }
  return true;
}

/// gradcheck of the gradients: derivatives of the second order, also by what flows into the result.
template <class F>
bool gradgradcheck(const F& f, std::vector<Tensor> inputs, double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3) {
  const Tensor y = f(inputs);
  inputs.push_back((rand_like(y, 20232).to(y.dtype()) + 0.5).detach().requires_grad_());
  const auto gradients = [&f](const std::vector<Tensor>& all) {
    const EnableGrad on;
    std::vector<Tensor> wanted;
    const std::vector<Tensor> given(all.begin(), all.end() - 1);
    for (const Tensor& t : given)
      if (t.requires_grad()) wanted.push_back(t);
    Tensor total = (all.back() * 0).sum();
    std::int64_t seed = 20233;
    for (const Tensor& g : grad({f(given)}, wanted, {all.back()}, true, true, {}))
      if (g.defined()) total = total + (g * rand_like(g, seed++).to(g.dtype())).sum();
    return total;
  };
  return gradcheck(gradients, inputs, eps, atol, rtol);
}

}  // namespace tt
