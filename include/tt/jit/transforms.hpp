// Functions from functions: vmap, which makes one of examples one of batches, and jvp, which takes derivatives along directions. Each records
// the function as a graph and rewrites that (graph/batch.hpp, graph/forward_mode.hpp); they compose with each other, with grad and
// compile, in any order. Names and meanings are torch.func's.
//   Tensor scores = tt::vmap([](const Tensor& x, const Tensor& w) { return tt::tanh(x * w).sum(); }, {.in_dims = {0, tt::none}})(xs, w);
//   auto [y, dy] = tt::jvp(f, x, dx);
#pragma once
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/control_flow.hpp"
#include "tt/jit/compile.hpp"

namespace tt {

/// The axis of an argument that examples lie along, or none: it is the same for all.
struct InDim {
  int dim = 0;
  bool mapped = true;
  InDim(int axis) : dim(axis) {}
  InDim(None) : mapped(false) {}
};
struct VmapOptions {
  std::vector<InDim> in_dims;  ///< of each argument, for all its Tensors; those that are not listed: 0
  int out_dims = 0;            ///< where the examples of all results lie
};

namespace detail {

/// With one axis at another place.
inline Tensor moved_axis(const Tensor& t, int from, int to, const char* op, SourceLine at) {
  const int a = axis_of(t, from, op, at, t.dim()), b = axis_of(t, to, op, at, t.dim());
  if (a == b) return t;
  IntList axes;
  for (int k = 0; k < t.dim(); ++k)
    if (k != a) axes.push_back(k);
  IntList all;
  for (int k = 0, next = 0; k < t.dim(); ++k) all.push_back(k == b ? std::int64_t{a} : axes.value(next++));
  return t.permute(all, at);
}

/// f of each example, as it runs where no graph of batches is made: `args` have examples along axis 0 where `mapped` says so.
template <class F, class... A>
class VmapCall {
 public:
  VmapCall(const F& f, const VmapOptions& options, SourceLine at, const A&... a) : f_(f), options_(options), at_(at), given_(a...) {
    int k = 0;
    std::apply([&](auto&... x) { (take(x, k++), ...); }, given_);
    for (const Tensor* t : examples_)
      if (t->impl().shape.code[0] != examples_[0]->impl().shape.code[0])
        TT_THROW(Error(Text("tt::vmap: numbers of examples differ: ") << examples_[0]->impl().shape[0] << " and " << t->impl().shape[0] << "." << at));
    if (examples_.empty()) TT_THROW(Error(Text("tt::vmap: no argument has examples. Give one of them an axis in in_dims?") << at));
  }
  auto run() {
    if (records_control()) return recorded();
    return one_by_one();
  }

 private:
  const F& f_;
  const VmapOptions& options_;
  SourceLine at_;
  std::tuple<A...> given_;
  bool mapped_[sizeof...(A)] = {};
  std::vector<const Tensor*> examples_;

  template <class X>
  void take(X& x, int k) {
    const InDim in = k < static_cast<int>(options_.in_dims.size()) ? options_.in_dims[static_cast<std::size_t>(k)] : InDim(0);
    mapped_[k] = in.mapped;
    if (!in.mapped) return;
    each_leaf(x, [&](Tensor& t) {
      if (t.dim() == 0) TT_THROW(Error(Text("tt::vmap: argument ") << k << " has a Tensor without axes, and in_dims gives it one." << at_));
      t = moved_axis(t, in.dim, 0, "vmap", at_);
      examples_.push_back(&t);
    });
  }
  /// The arguments with f(each Tensor) in place of batches.
  template <class G>
  std::tuple<A...> examples(const G& g) const {
    std::tuple<A...> all = given_;
    int k = 0;
    const auto one = [&](auto& x) {
      if (mapped_[k++]) x = with_leaves(x, g);
    };
    std::apply([&](auto&... x) { (one(x), ...); }, all);
    return all;
  }
  Tensor placed(const Tensor& t) const { return moved_axis(t, 0, options_.out_dims, "vmap", at_); }
  auto recorded() {
    using R = std::decay_t<std::invoke_result_t<const F&, const A&...>>;
    RecordedRegion region;
    const R like = std::apply(f_, examples([&](const Tensor& t) { return capture_mode->region_input(t, true); }));
    region.close(like);
    std::vector<Tensor> result(leaves_of(like).size());
    capture_mode->transform({TransformCall::vmap, examples_.data(), static_cast<int>(examples_.size()), result.data(), static_cast<int>(result.size()), at_});
    std::size_t next = 0;
    return with_leaves(like, [&](const Tensor&) { return placed(result[next++]); });
  }
  auto one_by_one() {
    using R = std::decay_t<std::invoke_result_t<const F&, const A&...>>;
    const std::int64_t n = examples_[0]->impl().shape.code[0];
    if (n == 0) TT_THROW(Error(Text("tt::vmap: there is no example.") << at_));
    std::vector<std::vector<Tensor>> parts;
    R like{};
    for (std::int64_t row = 0; row < n; ++row) {
      R result = std::apply(f_, examples([&](const Tensor& t) { return t.select(0, static_cast<int>(row), at_); }));
      const std::vector<const Tensor*> leaves = leaves_of(result);
      parts.resize(leaves.size());
      for (std::size_t k = 0; k < leaves.size(); ++k) parts[k].push_back(*leaves[k]);
      like = std::move(result);
    }
    std::size_t k = 0;
    return with_leaves(std::move(like), [&](const Tensor&) { return placed(stack(parts[k++], 0, at_)); });
  }
};
template <class F>
struct VmapRun {
  F f;
  VmapOptions options;
  SourceLine at;
  template <class... A>
  auto operator()(const A&... a) const {
    return VmapCall<F, A...>(f, options, at, a...).run();
  }
};

/// f and its derivative along tangents, by the tape: the reverse rule, which is linear in the adjoint, differentiated by that.
template <class F, class A>
auto jvp_by_tape(const F& f, const A& primals, const A& tangents) {
  using R = std::decay_t<decltype(std::apply(f, primals))>;
  const R value = std::apply(f, primals);  // with a history if an argument has one, or a Tensor that f holds
  bool taped = false;
  const auto look = [&](const Tensor& v) { taped = taped || (v.requires_grad() && is_grad_enabled()); };
  each_leaf(value, look);
  each_leaf(tangents, look);
  const EnableGrad on;
  std::vector<Tensor> x, t, y, u;
  const A variables = with_leaves(primals, [&](const Tensor& p) { return is_floating(p.dtype()) ? x.emplace_back(autograd::as_variable(p)) : p; });
  each_leaf(tangents, [&](const Tensor& d) {
    if (is_floating(d.dtype())) t.push_back(d);
  });
  const R result = std::apply(f, variables);
  each_leaf(result, [&](const Tensor& v) {
    if (v.requires_grad()) {
      y.push_back(v);
      u.push_back(zeros_like(v).requires_grad_());
    }
  });
  std::vector<Tensor> along(u.size());
  if (!y.empty()) {
    std::vector<Tensor> given = tt::grad(y, x, u, true, true), flows, directions;
    for (std::size_t k = 0; k < given.size(); ++k)
      if (given[k].defined() && given[k].requires_grad()) {
        flows.push_back(given[k]);
        directions.push_back(t[k]);
      }
    if (!flows.empty()) along = tt::grad(flows, u, directions, true, true);
  }
  std::size_t next = 0;
  R derivative = with_leaves(result, [&](const Tensor& v) {
    if (!v.requires_grad()) return zeros_like(v);
    const Tensor d = along[next++];
    return d.defined() ? d : zeros_like(v);
  });
  const auto own = [&](const Tensor& v) { return taped ? v : v.detach(); };
  return std::pair<R, R>(value, with_leaves(std::move(derivative), own));
}
template <class F>
struct JvpRun {
  F f;
  SourceLine at;
  template <class A>
  auto operator()(const A& primals, const A& tangents) const {
    using R = std::decay_t<decltype(std::apply(f, primals))>;
    std::vector<const Tensor*> operands = leaves_of(primals), along = leaves_of(tangents);
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (k >= along.size() || along[k]->dtype() != operands[k]->dtype() || !(along[k]->impl().shape == operands[k]->impl().shape))
        TT_THROW(Error(Text("tt::jvp: tangents are not like what they are tangents of: ")
                       << (k < along.size() ? along[k]->impl().shape : Shape{}) << " for " << operands[k]->shape() << "." << at));
    if (!records_control()) return jvp_by_tape(f, primals, tangents);
    RecordedRegion region;
    const R like = [&] {  // an outer NoGrad does not count, one inside does: as in a function that is differentiated
      struct Scope {
        Scope() { capture_mode->open_gradient(); }
        Scope(const Scope&) = delete;
        ~Scope() { capture_mode->close_gradient(); }
      } scope;
      const EnableGrad on;
      return R(std::apply(f, region.input(primals)));
    }();
    region.close(like);
    for (std::size_t k = 0; k < along.size(); ++k)
      if (is_floating(along[k]->dtype())) operands.push_back(along[k]);
    std::vector<Tensor> result;
    each_leaf(like, [&](const Tensor&) { result.emplace_back(); });
    const std::size_t outputs = result.size();
    each_leaf(like, [&](const Tensor& t) {
      if (is_floating(t.dtype())) result.emplace_back();
    });
    capture_mode->transform({TransformCall::jvp, operands.data(), static_cast<int>(operands.size()), result.data(), static_cast<int>(result.size()), at});
    std::size_t next = 0, tangent = outputs;
    const R value = take_leaves(like, result, next);
    return std::pair<R, R>(value, with_leaves(value, [&](const Tensor& t) { return is_floating(t.dtype()) ? result[tangent++] : zeros_like(t); }));
  }
};

}  // namespace detail

/// A function of batches from one of examples (torch.vmap): captured and compiled at its first call, as by compile, over all sizes. What a
/// random op draws is the same for all examples, as with randomness="same".
template <class F>
class Vmapped {
 public:
  Vmapped(F f, VmapOptions options, SourceLine at) : run_{f, options, at}, compiled_(frozen(run_), {.name = "vmap"}, at) {}
  template <class... A>
  auto operator()(const A&... a) const {
    return detail::capture_mode ? run_(a...) : compiled_(a...);
  }

 private:
  detail::VmapRun<F> run_;
  CompiledFunction<Frozen<detail::VmapRun<F>>> compiled_;
};
/// Throws Error, at a call, when arguments have other numbers of examples.
template <class F>
Vmapped<F> vmap(F f, VmapOptions options = {}, SourceLine at = here()) {
  return {std::move(f), std::move(options), at};
}

/// The pair of f(primals...) and its derivative along the tangents (torch.func.jvp): primals and tangents are tuples of arguments.
template <class F, class... A>
  requires detail::at_run_time<A...>
auto jvp(const F& f, const std::tuple<A...>& primals, const std::tuple<A...>& tangents, SourceLine at = here()) {
  return detail::JvpRun<F>{f, at}(primals, tangents);
}
/// Of a function of one argument.
template <class F, class A>
  requires detail::at_run_time<A>
auto jvp(const F& f, const A& primal, const A& tangent, SourceLine at = here()) {
  return jvp(f, std::tuple<A>(primal), std::tuple<A>(tangent), at);
}

}  // namespace tt
