// Function transforms: vmap makes a function of batches from a function of one example, and jvp takes derivatives along directions. Each
// records the function as a graph and rewrites the graph (graph/batch.hpp, graph/forward_mode.hpp); they compose with each other, with grad
// and compile, in any order. Names and meanings are torch.func's.
//   Tensor scores = tt::vmap([](const Tensor& x, const Tensor& w) { return tt::tanh(x * w).sum(); }, {.in_dims = {0, tt::none}})(xs, w);
//   auto [y, dy] = tt::jvp(f, x, dx);
#pragma once
#include <memory>
#include <string_view>

#include "tt/autograd/dual.hpp"
#include "tt/autograd/tangent_map.hpp"
#include "tt/graph/batch.hpp"
#include "tt/jit/compile.hpp"
#include "tt/jit/vmap_call.hpp"

namespace tt {

namespace detail {

template <class F>
struct VmapRun {
  using tt_function = F;
  static constexpr bool has_options = true;
  void need_no_options() const {
    if (!options.in_dims.empty() || options.out_dims.dims != std::vector<int>{0} || options.chunk_size != 0)
      TT_THROW(Error(Text("tt::vmap: of Arrays the axes are template arguments, as in tt::vmap<0, tt::none>(f), and results are along axis 0.") << at));
  }
  F f;
  VmapOptions options;
  SourceLine at;
  template <class... A>
  auto operator()(const A&... a) const {
    std::tuple<A...> own(a...);
    const Leaves in = leaves_in(own);
    using R = std::decay_t<std::invoke_result_t<const F&, const A&...>>;
    std::unique_ptr<R> result;  // of the last example: members that are no Tensors are taken from it
    const auto body = [&](const std::vector<Tensor>& example) {
      in.assign(example);
      result.reset(new R(std::apply(f, std::as_const(own))));
      return leaves_in(*result).values();
    };
    VmapCall call(body, options, at);
    std::apply([&](const auto&... x) { (call.take(leaves_in(x)), ...); }, own);
    const std::vector<Tensor> all = call.run();
    leaves_in(*result).assign(all);
    return R(static_cast<R&&>(*result));
  }
};

struct KeepsNothing {};
/// A transformed function: captured and compiled when called on its own, recorded inside another capture. Of Arrays and symbols it is
/// `Symbolic`. The compiled function is kept: one for all objects if the type determines the function, one for an object and its copies if
/// there are options. A function that captures variables, or has used a Tensor that is no argument, is captured at each call, as these may
/// change; tt::compile(tt::frozen(f)) keeps such a function. Numbers outside of the function and its arguments are those of the first call.
template <class Run, class Symbolic>
class CompiledTransform {
 public:
  using tt_function = Run;
  using tt_symbolic = Symbolic;
  constexpr CompiledTransform() : CompiledTransform(Run{}, "transform", {}) {}
  constexpr CompiledTransform(Run run, const char* name, SourceLine at) : run_(static_cast<Run&&>(run)), name_(name), at_(at) {
    if constexpr (with_object) kept_ = std::make_shared<const Compiled>(compiled());
  }

  template <class... A>
    requires(at_run_time<A...>)
  auto operator()(const A&... a) const {
    if (capture_mode) return run_(a...);
    if constexpr (by_type) {
      static const Compiled kept = compiled();
      if (!kept.holds_tensors()) return kept(a...);
    } else if constexpr (with_object) {
      if (!kept_->holds_tensors()) return (*kept_)(a...);
    }
    return compiled()(a...);
  }
  template <class... A>
    requires(is_symbolic<A> && ...)
  constexpr auto operator()(const A&... a) const { return Symbolic{}(a...); }
  template <class... A, class Isa = IsaTag>
    requires(!at_run_time<A...> && !(is_symbolic<A> && ...))
  auto operator()(const A&... a) const {
    require_captureless<typename Run::tt_function>();
    if constexpr (requires { run_.need_no_options(); }) run_.need_no_options();
    if constexpr (is_made_of_type<typename Run::tt_function>()) return Fused<Symbolic, Isa>{}(a...);
    else return Refused{}();
  }

 private:
  using Compiled = CompiledFunction<Frozen<Run>>;
  static constexpr bool by_type = is_made_of_type<Run>(), with_object = !by_type && is_known<Run>();
  Run run_;
  const char* name_;
  SourceLine at_;
  [[no_unique_address]] std::conditional_t<with_object, std::shared_ptr<const Compiled>, KeepsNothing> kept_{};

  Compiled compiled() const { return Compiled(frozen(run_), {.name = name_}, at_); }
};

/// Throws Error unless tangents have the dtypes and shapes of their primals.
template <class A>
void check_tangents(const char* op, const A& primals, const A& tangents, SourceLine at) {
  const std::vector<const Tensor*> x = leaves_of(primals), along = leaves_of(tangents);
  if (!x.empty() && std::none_of(x.begin(), x.end(), [](const Tensor* t) { return is_floating(t->dtype()); })) autograd::need_floating(*x[0], op, at);
  for (std::size_t k = 0; k < x.size(); ++k)
    if (k >= along.size() || along[k]->dtype() != x[k]->dtype() || !(along[k]->impl().shape == x[k]->impl().shape))
      TT_THROW(Error(Text("tt::") << op << ": tangents are not like what they are tangents of: " << (k < along.size() ? name(along[k]->dtype()) : "nothing") << ' '
                                  << (k < along.size() ? along[k]->impl().shape : Shape{}) << " for " << name(x[k]->dtype()) << ' ' << x[k]->shape() << "." << at));
}
template <class F>
struct JvpRun {
  F f;
  SourceLine at;
  template <class A>
  auto operator()(const A& primals, const A& tangents) const {
    using R = std::decay_t<decltype(std::apply(f, primals))>;
    check_tangents("jvp", primals, tangents, at);
    if (!records_control()) return at_once<R>(primals, tangents);
    std::vector<const Tensor*> operands = leaves_of(primals), along = leaves_of(tangents);
    RecordedRegion region;
    const R like = std::apply(f, region.input(primals));
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

 private:
  /// By duals; inside another level of duals by the tape. A capture without regions ends its graph before.
  template <class R, class A>
  std::pair<R, R> at_once(const A& primals, const A& tangents) const {
    if (autograd::dual_level()) {
      const TangentMap<F, A> map(f, primals);
      return {map.value, map(tangents)};
    }
    if (capture_mode) {
      capture_mode->break_graph("jvp", at);
      const PauseCapture pause;
      const std::pair<R, R> made = at_once<R>(primals, tangents);
      for (const R* r : {&made.first, &made.second}) each_leaf(*r, [](const Tensor& t) { stamp(t); });
      return made;
    }
    const DualLevel level;
    const std::vector<const Tensor*> along = leaves_of(tangents);
    std::size_t next = 0;
    const R dual = std::apply(f, with_leaves(primals, [&](const Tensor& x) {
      const Tensor& t = *along[next++];
      return is_floating(x.dtype()) ? make_dual(x, t, at) : x;
    }));
    return {dual, with_leaves(dual, [](const Tensor& y) {  // duals no more when the level ends
      const Tensor t = unpack_dual(y).tangent;
      return t.defined() ? t : zeros_like(y.detach());
    })};
  }
};

/// A function of symbols that is called with Arrays too, and fused then.
template <class Symbolic>
struct OnSymbols {
  using tt_symbolic = Symbolic;
  template <class... A>
    requires(is_symbolic<A> && ...)
  constexpr Sym operator()(const A&... a) const { return Symbolic{}(a...); }
  template <class... A, class Isa = IsaTag>
    requires(!(is_symbolic<A> && ...))
  auto operator()(const A&... a) const { return Fused<Symbolic, Isa>{}(a...); }
};
/// The template arguments of vmap: axes of the first arguments, then perhaps an OutDim.
template <auto... Dims>
struct VmapAxes {
  InDim in[sizeof...(Dims) + 1] = {};
  int given = 0, out = 0;
  bool out_given = false, right = true;

  constexpr VmapAxes() { (add(Dims), ...); }
  constexpr void add(InDim d) {
    right = right && !out_given;
    in[given++] = d;
  }
  constexpr void add(OutDim d) {
    right = right && !out_given;
    out_given = true;
    out = d.dim;
  }
};
/// vmap of symbols: the function of one example as a graph of its own, rewritten for batches, and recorded.
template <class F, auto... Dims>
struct SymbolicVmap {
  static constexpr VmapAxes<Dims...> axes{};

  template <class... A>
  constexpr Sym operator()(const A&... a) const {
    const Sym given[] = {a...};
    constexpr int count = sizeof...(A);
    static_assert(axes.given <= count, "tt::vmap: more axes than arguments");
    Graph& g = *given[0].graph;
    Graph example;
    Vec<int> operands, by;
    Extent examples(0);
    Sym one[count];
    for (int k = 0; k < count; ++k) {
      const InDim d = k < axes.given ? axes.in[k] : InDim(0);
      Sym x = given[k];
      Shape shape = x.shape();
      if (d.mapped) {
        const int axis = normalize_axis(d.dim, shape.rank);
        if (axis < 0) return {&g, g.fail({.mistake = Mistake::axis_out_of_range, .op = "vmap", .a = shape, .number = d.dim}, x.id)};
        if (by.size() > 0 && examples != shape[axis]) return {&g, g.fail({.mistake = Mistake::sizes_differ, .op = "vmap", .a = {examples}, .b = {shape[axis]}}, x.id)};
        examples = shape[axis];
        by.push_back(k);
        x = moved(x, axis, 0);
        shape = without_axis(shape, axis);
      }
      operands.push_back(x.id);
      one[k] = {&example, example.input(x.dtype(), shape)};
    }
    const Sym y = [&]<std::size_t... I>(std::index_sequence<I...>) { return Sym(F{}(one[I]...)); }(std::make_index_sequence<sizeof...(A)>{});
    if (example.failure) return {&g, g.fail(example.failure, given[0].id)};
    example.output(y.id);
    const Graph batched = vmap_of(example, by, examples);
    Vec<int> made(batched.size(), -1);
    for (int k = 0; k < count; ++k) made[batched.inputs[k]] = operands[k];
    for (const int i : post_order(batched, batched.outputs))
      if (made[i] < 0) made[i] = g.intern(batched[i], batched, mapped(batched.operands(i), made));
    const Sym result{&g, made[batched.outputs[0]]};
    const int to = normalize_axis(axes.out, result.shape().rank);
    if (to < 0) return {&g, g.fail({.mistake = Mistake::axis_out_of_range, .op = "vmap (OutDim, an axis of the result)", .a = result.shape(), .number = axes.out}, result.id)};
    return to == 0 ? result : moved(result, 0, to);
  }
};
}  // namespace detail

/// A function of batches from a function of one example (torch.vmap): captured and compiled as by compile, for all sizes; anew at each call
/// if it captures variables. Draws of the default generator are recorded, see `randomness`; with another generator examples run one by one.
/// Throws Error, at a call, when arguments differ in the number of examples. Of Arrays the axes are template arguments:
/// tt::vmap<0, tt::none>(f)(xs, w), tt::vmap<0, tt::none, tt::OutDim{1}>(f)(xs, w).
template <class F>
auto vmap(F f, VmapOptions options = {}, SourceLine at = here()) {
  return detail::CompiledTransform<detail::VmapRun<F>, detail::SymbolicVmap<typename detail::on_symbols<F>::type>>({std::move(f), std::move(options), at}, "vmap", at);
}
template <auto First, auto... More, class F>
constexpr auto vmap(F) {
  constexpr bool right = detail::VmapAxes<First, More...>{}.right;
  static_assert(right, "tt::vmap: one OutDim at most, behind the axes of the arguments");
  if constexpr (right) return detail::OnSymbols<detail::SymbolicVmap<typename detail::on_symbols<F>::type, First, More...>>{};
}

/// The pair of f(primals...) and its derivative along the tangents (torch.func.jvp): primals and tangents are tuples of arguments.
template <class F, class... A>
  requires detail::at_run_time<A...>
auto jvp(const F& f, const std::tuple<A...>& primals, const std::tuple<A...>& tangents, SourceLine at = here()) {
  return detail::JvpRun<F>{f, at}(primals, tangents);
}
/// jvp of a function of one argument.
template <class F, class A>
  requires detail::at_run_time<A>
auto jvp(const F& f, const A& primal, const A& tangent, SourceLine at = here()) {
  return jvp(f, std::tuple<A>(primal), std::tuple<A>(tangent), at);
}

namespace detail {
/// The function that linearize returns: from tangents of the primals to that of the result.
template <class F, class... A>
class Linearized {
 public:
  Linearized(const F& f, SourceLine at, const A&... primals) : f_(f), primals_(primals...), at_(at) {
    if (!records_control()) map_ = std::make_shared<TangentMap<F, std::tuple<A...>>>(f_, primals_);
  }
  auto value() const { return map_ ? map_->value : std::apply(f_, primals_); }
  auto operator()(const A&... tangents) const {
    const std::tuple<A...> all(tangents...);
    check_tangents("linearize", primals_, all, at_);
    return map_ ? (*map_)(all) : JvpRun<F>{f_, at_}(primals_, all).second;  // in a graph, equal nodes are one
  }

 private:
  F f_;
  std::tuple<A...> primals_;
  SourceLine at_;
  std::shared_ptr<const TangentMap<F, std::tuple<A...>>> map_;
};
}  // namespace detail

/// The pair of f(primals...) and of its derivative there, a function of tangents (torch.func.linearize). However many tangents there are, f runs here only, twice: for the value, and
/// on the tape, which the tangents go over.
template <class F, class... A>
  requires detail::at_run_time<A...>
auto linearize(const F& f, const A&... primals) {
  detail::Linearized<F, A...> map(f, {}, primals...);  // primals, of any number, leave no place for the caller's line
  auto value = map.value();
  return std::pair(std::move(value), std::move(map));
}

/// module(arguments...) with other Tensors in place of its own, in the order of its members (torch.func.functional_call); `module` stays as
/// it is. So a function of parameters is differentiated or mapped:
/// tt::grad([&](const std::vector<Tensor>& p) { return loss(tt::functional_call(net, p, x)); }). Throws Error when the number of Tensors
/// differs.
template <class M, class... A>
auto functional_call(const M& module, const std::vector<Tensor>& parameters, const A&... arguments) {
  const std::size_t own = detail::leaves_of(module).size();
  if (own != parameters.size()) TT_THROW(Error(Text("tt::functional_call: ") << parameters.size() << " Tensors for a module of " << own << "."));
  std::size_t next = 0;
  const M other = detail::with_leaves(module, [&](const Tensor&) { return parameters[next++]; });
  return other(arguments...);
}

}  // namespace tt
