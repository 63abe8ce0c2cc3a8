// Matrices of derivatives: every element of a result by every element of an argument, as vmap of grad or of jvp over unit vectors. One
// graph each, so values that all rows share are computed once. Names and meanings are torch.func's.
//   Tensor j = tt::jacrev(f)(x);     // f(x).shape + x.shape
//   Tensor h = tt::hessian(loss)(w, x, y);     // by the first argument
//   auto [by_w, by_b] = tt::jacrev<0, 1>(f)(w, b);
// Of Arrays, and in fused functions, all rows are one program: a gradient for each element, or a derivative along each.
#pragma once
#include "tt/jit/transforms.hpp"

namespace tt {
namespace detail {

/// The sizes of `first`, then those of `second`.
inline IntList joined(const Tensor& first, const Tensor& second) {
  IntList all;
  for (const Tensor* t : {&first, &second})
    for (int k = 0; k < t->dim(); ++k) all.push_back(t->size(k));
  return all;
}
/// For each element of `t` a Tensor like it that is 1 there and 0 elsewhere, stacked.
inline Tensor unit_vectors(const Tensor& t) {
  IntList shape{t.numel()};
  for (int k = 0; k < t.dim(); ++k) shape.push_back(t.size(k));
  return eye(t.numel(), {t.dtype(), t.device()}).reshape(shape);
}
/// The sum of a result times weights; of several results, of the floating ones.
template <class F>
struct WeightedSum {
  using tt_function = F;
  [[no_unique_address]] F f;
  template <class R, class... A>
  Tensor operator()(const R& weights, const A&... a) const {
    const R result = f(a...);
    const std::vector<const Tensor*> values = leaves_of(result), by = leaves_of(weights);
    Tensor sum;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values.size() > 1 && !is_floating(values[k]->dtype())) continue;
      const Tensor own = (*values[k] * *by[k]).sum();
      sum = sum.defined() ? sum + own : own;
    }
    return sum;
  }
};
template <class F, int... I>
struct AdjointOf {
  [[no_unique_address]] F f;
  template <class... A>
  auto operator()(const Tensor& weights, const A&... a) const {
    return grad<(I + 1)...>(WeightedSum<F>{f})(weights, a...);
  }
};
template <class F, int I>
struct TangentOf {
  [[no_unique_address]] F f;
  template <class... A>
  Tensor operator()(const Tensor& direction, const A&... a) const {
    const std::tuple<A...> all(a...);
    const auto by = [&](const Tensor& x) {
      std::tuple<A...> own = all;
      std::get<I>(own) = x;
      return Tensor(std::apply(f, own));
    };
    return jvp(by, std::get<I>(all), direction).second;
  }
};
template <class... A>
VmapOptions over_first(int out_dims) {
  VmapOptions options{{0}, out_dims};
  for (std::size_t k = 0; k < sizeof...(A); ++k) options.in_dims.push_back(none);
  return options;
}
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };
/// One result of a function that returns several.
template <class F, std::size_t K>
struct ResultOf {
  using tt_function = F;
  [[no_unique_address]] F f;
  template <class... A>
  Tensor operator()(const A&... a) const {
    return std::get<K>(f(a...));
  }
};
/// of(c) for one constant, a tuple of of(c) for several.
template <class T, T... Each, class Of>
constexpr auto one_or_tuple(std::integer_sequence<T, Each...>, const Of& of) {
  if constexpr (sizeof...(Each) == 1) return of(std::integral_constant<T, Each...>{});
  else return std::tuple{of(std::integral_constant<T, Each>{})...};
}
/// Derivatives of a function's result, or of each of several, by an argument, or by each of several.
template <template <class, int...> class Rows, class F, int... I>
struct JacobianRun {
  using tt_function = F;
  [[no_unique_address]] F f;
  template <class... A>
  auto operator()(const A&... a) const {
    static_assert(((I >= 0 && I < static_cast<int>(sizeof...(A))) && ...), "tt: derivatives by an argument that the function is not given");
    static_assert((std::is_same_v<std::tuple_element_t<I, std::tuple<A...>>, Tensor> && ...), "tt: Jacobians are by arguments that are Tensors");
    using R = std::decay_t<std::invoke_result_t<const F&, const A&...>>;
    (autograd::need_floating(std::get<I>(std::tuple<const A&...>(a...)), Rows<F, I...>::name), ...);
    if constexpr (TupleLike<R>) {
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return std::tuple{JacobianRun<Rows, ResultOf<F, K>, I...>{{f}}(a...)...};
      }(std::make_index_sequence<std::tuple_size_v<R>>{});
    } else {
      return Rows<F, I...>{f}(f(a...), a...);
    }
  }
};
template <class F, int... I>
struct ReverseRows {
  static constexpr const char* name = "jacrev";
  const F& f;
  template <class... A>
  auto operator()(const Tensor& y, const A&... a) const {
    const std::tuple<const A&...> all(a...);
    VmapOptions options = over_first<A...>(0);
    options.randomness = "same";  // f is the same at each row: only the adjoint differs
    const auto rows = vmap(AdjointOf<F, I...>{f}, std::move(options))(unit_vectors(y), a...);
    std::size_t next = 0;
    const Tensor* const x[] = {&std::get<I>(all)...};
    return with_leaves(rows, [&](const Tensor& d) { return d.reshape(joined(y, *x[next++])); });
  }
};
template <class F, int... I>
struct ForwardColumns {
  static constexpr const char* name = "jacfwd";
  const F& f;
  template <class... A>
  auto operator()(const Tensor& y, const A&... a) const {
    return one_or_tuple(std::integer_sequence<int, I...>{}, [&](auto by) {
      const Tensor& x = std::get<by>(std::tuple<const A&...>(a...));
      return vmap(TangentOf<F, by>{f}, over_first<A...>(-1))(unit_vectors(x), a...).reshape(joined(y, x));
    });
  }
};
template <class F, int... I>
using JacrevRun = JacobianRun<ReverseRows, F, I...>;
template <class F, int... I>
using JacfwdRun = JacobianRun<ForwardColumns, F, I...>;
/// The function that vjp returns: from an adjoint of the result to those of the arguments.
template <class F, class... A>
class VjpFunction {
 public:
  using R = std::decay_t<std::invoke_result_t<const F&, const A&...>>;  ///< a Tensor, or a tuple or struct of some
  VjpFunction(const F& f, const A&... primals) : f_(f), primals_(primals...) {
    each_leaf(primals_, [&](const Tensor& t) { autograd::need_floating(t, "vjp"); });
    if constexpr (captures_nothing<F>) {
      if (capture_mode) {  // f is recorded again with each adjoint: equal nodes are one
        result = std::apply(f_, primals_);
        return;
      }
    } else if (capture_mode) {
      end_graph(*leaves_of(primals_)[0], "vjp of a function that captures variables, of", {});
    }
    result = std::apply(f_, primals_);
    each_leaf(result, [&](const Tensor& t) { taped_ = taped_ || t.requires_grad(); });  // by an argument, or by a Tensor that f holds
    const EnableGrad on;
    each_leaf(primals_, [&](Tensor& t) { t = autograd::as_variable(t); });
    value_ = std::apply(f_, primals_);
    recorded_ = false;
  }
  /// One adjoint for each argument; zeros where the result does not depend on it.
  std::tuple<A...> operator()(const R& adjoint) const {
    const std::vector<const Tensor*> values = leaves_of(recorded_ ? result : value_), adjoints = leaves_of(adjoint);
    if (values.size() != adjoints.size()) TT_THROW(Error(Text("tt::vjp: ") << static_cast<std::int64_t>(adjoints.size()) << " adjoints for " << static_cast<std::int64_t>(values.size()) << " results."));
    if constexpr (captures_nothing<F>)
      if (recorded_) return recorded(adjoint, std::index_sequence_for<A...>{});
    std::vector<Tensor> variables, roots, seeds;
    bool taped = taped_;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!autograd::has_history(*values[k])) continue;
      roots.push_back(*values[k]);
      seeds.push_back(*adjoints[k]);
      taped = taped || (adjoints[k]->requires_grad() && is_grad_enabled());
    }
    each_leaf(primals_, [&](const Tensor& t) { variables.push_back(t); });
    std::vector<Tensor> d(variables.size());
    if (!roots.empty()) d = tt::grad(roots, variables, seeds, true, taped, {});
    std::size_t k = 0;
    return with_leaves(primals_, [&](const Tensor& t) {
      const Tensor own = d[k++];
      return own.defined() ? own : zeros_like(t);
    });
  }
  R result{};

 private:
  F f_;
  std::tuple<A...> primals_;
  R value_{};
  bool taped_ = false, recorded_ = true;

  template <std::size_t... I>
  std::tuple<A...> recorded(const R& adjoint, std::index_sequence<I...>) const {
    const auto all = std::apply(grad<static_cast<int>(I + 1)...>(WeightedSum<F>{f_}), std::tuple_cat(std::tuple<R>(adjoint), primals_));
    if constexpr (sizeof...(A) == 1) return std::tuple<A...>(all);
    else return all;
  }
};
/// Derivatives of y by x as one symbol: parts[k] are those of element k of y, or by element k of x.
constexpr Sym joined_parts(const Sym& y, const Sym& x, const Vec<int>& parts, bool by_rows) {
  Graph& g = *x.graph;
  Shape part = by_rows ? x.shape() : y.shape(), to = y.shape();
  for (int k = 0; k < x.shape().rank; ++k) to.push_back(x.shape()[k]);
  Vec<int> lines;
  const Extent n = part.size();
  for (const int id : parts) lines.push_back(g.reshape(g.broadcast_to(id, part), by_rows ? Shape{1, n} : Shape{n, 1}));
  return {&g, g.reshape(g.cat(lines.begin(), lines.size(), by_rows ? 0 : 1), to)};
}
/// scalar_of: element k of x, flattened, as a scalar. unit_like: a symbol like x that is 1 at element k and 0 elsewhere.
constexpr int scalar_of(const Sym& x, std::int64_t k) {
  Graph& g = *x.graph;
  return g.reshape(g.slice(g.reshape(x.id, {x.shape().size()}), 0, k, 1, 1), {});
}
constexpr int unit_like(const Sym& x, std::int64_t k) {
  Graph& g = *x.graph;
  const Shape line{x.shape().size()};
  return g.reshape(g.pad(g.constant(x.dtype(), 1, {1}), {{0, 0}, {static_cast<int>(k), 0}}, line, 0), x.shape());
}
template <class F, bool Forward, int... I>
struct SymbolicJacobian {
  template <class... A>
  constexpr auto operator()(const A&... a) const {
    std::tuple<A...> all(a...);
    Graph& g = *std::get<0>(all).graph;
    ((std::get<I>(all) = as_variable(std::get<I>(all), g.size())), ...);
    const auto results = std::apply(F{}, all);
    const auto of = [&](const Sym& y) {
      return one_or_tuple(std::integer_sequence<int, I...>{}, [&](auto by) { return one(y, std::get<by>(all)); });
    };
    if constexpr (TupleLike<std::remove_const_t<decltype(results)>>) return std::apply([&](const auto&... y) { return std::tuple{of(y)...}; }, results);
    else return of(Sym(results));
  }

 private:
  static constexpr Sym one(const Sym& y, const Sym& x) {
    Graph& g = *x.graph;
    const Extent n = (Forward ? x : y).shape().size();
    if (!n.is_constant() || g.failure) return {&g, g.failure ? y.id : g.fail({.mistake = Mistake::extents_are_not_constant, .op = Forward ? "jacfwd" : "jacrev", .a = y.shape()}, y.id)};
    Vec<int> variable, parts;
    variable.push_back(x.id);
    for (std::int64_t k = 0; k < n.code; ++k) {
      if constexpr (Forward) {
        Vec<int> direction;
        direction.push_back(unit_like(x, k));
        const int d = forward(g, {y.id}, variable, direction)[0];
        parts.push_back(d < 0 ? g.constant(y.dtype(), 0, y.shape()) : d);
      } else {
        parts.push_back(gradients(g, scalar_of(y, k), variable)[0]);
      }
    }
    return joined_parts(y, x, parts, !Forward);
  }
};
}  // namespace detail

/// The pair of f(primals...), a Tensor or a tuple or struct of some, and of the function from an adjoint like it to the tuple of adjoints
/// of the primals (torch.func.vjp). Inside of a captured function the graph ends where `f` captures variables.
template <class F, class... A>
  requires detail::at_run_time<A...>
auto vjp(const F& f, const A&... primals) {
  detail::VjpFunction<F, A...> back(f, primals...);
  auto result = back.result;
  return std::pair(std::move(result), std::move(back));
}
/// The derivatives of a Tensor-valued function by its first argument: a function that gives them in shape f(x).shape + x.shape; by rows, in
/// reverse mode, for fewer results than arguments. jacrev<1>(f): by another argument; jacrev<0, 1>(f): a tuple, by each of these. Of a function that gives a
/// tuple, a tuple of its results' derivatives, each of which runs the function. Complexity: as many backward passes as f(x) has elements, side by side.
template <int First = 0, int... More, class F>
constexpr auto jacrev(F f, SourceLine at = here()) {
  return detail::CompiledTransform<detail::JacrevRun<F, First, More...>, detail::SymbolicJacobian<typename detail::on_symbols<F>::type, false, First, More...>>({std::move(f)}, "jacrev", at);
}
/// The same by columns, in forward mode, for fewer arguments than results.
template <int First = 0, int... More, class F>
constexpr auto jacfwd(F f, SourceLine at = here()) {
  return detail::CompiledTransform<detail::JacfwdRun<F, First, More...>, detail::SymbolicJacobian<typename detail::on_symbols<F>::type, true, First, More...>>({std::move(f)}, "jacfwd", at);
}
/// The second derivatives of a scalar function by its first argument, in shape x.shape + x.shape: jacfwd of grad. hessian<0, 1>(f): a tuple of tuples, std::get<j>(std::get<i>(h)) by
/// argument i and then j.
template <int First = 0, int... More, class F>
constexpr auto hessian(F f, SourceLine at = here()) {
  using D = detail::Gradient<F, false, First, More...>;
  return detail::CompiledTransform<detail::JacfwdRun<D, First, More...>, detail::SymbolicJacobian<typename detail::on_symbols<D>::type, true, First, More...>>({{std::move(f)}}, "hessian", at);
}
/// The product of the second derivatives of a scalar function with a vector, without the matrix: forward over reverse.
template <class F, class A>
  requires detail::at_run_time<A>
A hvp(F f, const A& x, const A& vector, SourceLine at = here()) {
  return jvp(detail::Gradient<F, false, 0>{std::move(f)}, x, vector, at).second;
}

}  // namespace tt
