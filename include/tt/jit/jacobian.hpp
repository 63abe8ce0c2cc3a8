// Matrices of derivatives: every element of a result by every element of an argument, as vmap of grad or of jvp over unit vectors. One
// graph each, so what all rows have in common is computed once. Names and meanings are torch.func's.
//   Tensor j = tt::jacrev(f)(x);     // f(x).shape + x.shape
//   Tensor h = tt::hessian(loss)(w, x, y);     // by the first argument
#pragma once
#include "tt/jit/transforms.hpp"

namespace tt {
namespace detail {

/// The sizes of both, one behind the other.
inline IntList joined(const Tensor& first, const Tensor& second) {
  IntList all;
  for (const Tensor* t : {&first, &second})
    for (int k = 0; k < t->dim(); ++k) all.push_back(t->size(k));
  return all;
}
/// Of each element of `t` the Tensor like it that is 1 there and 0 elsewhere, stacked.
inline Tensor unit_vectors(const Tensor& t) {
  IntList shape{t.numel()};
  for (int k = 0; k < t.dim(); ++k) shape.push_back(t.size(k));
  return eye(t.numel(), {t.dtype(), t.device()}).reshape(shape);
}
template <class F>
struct WeightedSum {
  template <class... A>
  Tensor operator()(const Tensor& x, const Tensor& weights, const A&... more) const {
    return (F{}(x, more...) * weights).sum();
  }
};
template <class F>
struct WeightedSumLast {
  template <class... A>
  Tensor operator()(const Tensor& weights, const A&... a) const {
    return (F{}(a...) * weights).sum();
  }
};
template <class F>
struct AdjointOf {
  template <class... A>
  Tensor operator()(const Tensor& weights, const Tensor& x, const A&... more) const {
    return grad(WeightedSum<F>{})(x, weights, more...);
  }
};
template <class F>
struct TangentOf {
  template <class... A>
  Tensor operator()(const Tensor& direction, const Tensor& x, const A&... more) const {
    return jvp([&](const Tensor& at) { return Tensor(F{}(at, more...)); }, x, direction).second;
  }
};
template <class... A>
VmapOptions over_first(int out_dims) {
  VmapOptions options{{0, none}, out_dims};
  for (std::size_t k = 0; k < sizeof...(A); ++k) options.in_dims.push_back(none);
  return options;
}
template <class F>
struct JacrevRun {
  template <class... A>
  Tensor operator()(const Tensor& x, const A&... more) const {
    const Tensor y = F{}(x, more...);
    return vmap(AdjointOf<F>{}, over_first<A...>(0))(unit_vectors(y), x, more...).reshape(joined(y, x));
  }
};
template <class F>
struct JacfwdRun {
  template <class... A>
  Tensor operator()(const Tensor& x, const A&... more) const {
    const Tensor y = F{}(x, more...);
    return vmap(TangentOf<F>{}, over_first<A...>(-1))(unit_vectors(x), x, more...).reshape(joined(y, x));
  }
};
/// The second half of vjp: from an adjoint of the result to those of the arguments.
template <class F, class... A>
class VjpFunction {
 public:
  VjpFunction(const F& f, const A&... primals) : f_(f), primals_(primals...) {
    if constexpr (captures_nothing<F>) {
      if (capture_mode) {  // its nodes are recorded again with each adjoint, and are the same
        result = std::apply(f_, primals_);
        return;
      }
    } else if (capture_mode) {
      end_graph(*leaves_of(primals_)[0], "vjp of a function that captures variables, of", {});
    }
    result = std::apply(f_, primals_);
    taped_ = result.requires_grad();  // by an argument, or by a Tensor that f holds
    const EnableGrad on;
    each_leaf(primals_, [&](Tensor& t) { t = autograd::as_variable(t); });
    value_ = std::apply(f_, primals_);
  }
  /// One for each argument; zeros where nothing flows.
  std::tuple<A...> operator()(const Tensor& adjoint) const {
    if constexpr (captures_nothing<F>)
      if (!value_.defined()) return recorded(adjoint, std::index_sequence_for<A...>{});
    std::vector<Tensor> variables;
    each_leaf(primals_, [&](const Tensor& t) { variables.push_back(t); });
    std::vector<Tensor> d(variables.size());
    if (value_.requires_grad()) d = tt::grad({value_}, variables, {adjoint}, true, taped_ || (adjoint.requires_grad() && is_grad_enabled()));
    std::size_t k = 0;
    return with_leaves(primals_, [&](const Tensor& t) {
      const Tensor own = d[k++];
      return own.defined() ? own : zeros_like(t);
    });
  }
  Tensor result;

 private:
  F f_;
  std::tuple<A...> primals_;
  Tensor value_;
  bool taped_ = false;

  template <std::size_t... I>
  std::tuple<A...> recorded(const Tensor& adjoint, std::index_sequence<I...>) const {
    const auto all = std::apply(grad<static_cast<int>(I + 1)...>(WeightedSumLast<F>{}), std::tuple_cat(std::tuple(adjoint), primals_));
    if constexpr (sizeof...(A) == 1) return std::tuple<A...>(all);
    else return all;
  }
};
/// A function that is captured and compiled where it is called on its own, and recorded where a capture runs.
template <class Run>
class CompiledTransform {
 public:
  CompiledTransform(const char* name, SourceLine at) : compiled_(frozen(Run{}), {.name = name}, at) {}
  template <class... A>
  auto operator()(const A&... a) const {
    return capture_mode ? Run{}(a...) : compiled_(a...);
  }

 private:
  CompiledFunction<Frozen<Run>> compiled_;
};

}  // namespace detail

/// The pair of f(primals...), a Tensor, and of the function from an adjoint of that to the adjoints of the primals, as a tuple (torch.func.vjp).
/// Inside of a captured function the graph ends where `f` captures variables.
template <class F, class... A>
auto vjp(const F& f, const A&... primals) {
  detail::VjpFunction<F, A...> back(f, primals...);
  Tensor result = back.result;
  return std::pair(std::move(result), std::move(back));
}
/// The derivatives of a Tensor-valued function by its first argument: a function that gives them in shape f(x).shape + x.shape; by rows, in
/// reverse mode, for fewer results than arguments. Complexity: as many backward passes as f(x) has elements, side by side.
template <class F>
auto jacrev(F, SourceLine at = here()) {
  detail::require_captureless<F>();
  return detail::CompiledTransform<detail::JacrevRun<F>>("jacrev", at);
}
/// The same by columns, in forward mode, for fewer arguments than results.
template <class F>
auto jacfwd(F, SourceLine at = here()) {
  detail::require_captureless<F>();
  return detail::CompiledTransform<detail::JacfwdRun<F>>("jacfwd", at);
}
/// The second derivatives of a scalar function by its first argument, in shape x.shape + x.shape: jacfwd of grad.
template <class F>
auto hessian(F, SourceLine at = here()) {
  detail::require_captureless<F>();
  return detail::CompiledTransform<detail::JacfwdRun<detail::Gradient<F, false, 0>>>("hessian", at);
}
/// The product of the second derivatives of a scalar function with a vector, without the matrix: forward over reverse.
template <class F, class A>
A hvp(F, const A& x, const A& vector, SourceLine at = here()) {
  detail::require_captureless<F>();
  return jvp(detail::Gradient<F, false, 0>{}, x, vector, at).second;
}

}  // namespace tt
