// compile: captures a function of Tensors once as a graph, which later calls run as a few fused kernels. Every call checks the guards of
// the capture: dtypes, ranks, which sizes are 0, 1 or equal, strides and overlaps of arguments, numbers, and the thread's modes. Other
// sizes are symbols, so another batch size needs no new capture. Assumptions of the function on sizes (a branch on a size, a loop over one)
// are guarded too: see core/size.hpp.
//   auto step = tt::compile([](auto& w, auto x, auto y) { ...; return loss; });   step(w, x, y);
// Arguments are Tensors, numbers, and structs of them; assignments through a reference update in place. A function that asks for elements
// (item(), a branch, printing) has graph breaks: its ops are recorded at every call, and the steps between two breaks are compiled
// (segments.hpp). For an object with operator() and visible members, Tensors are inputs and numbers are guarded, as for arguments.
#pragma once
#include "tt/expr/transform.hpp"
#include "tt/jit/captures.hpp"

namespace tt {

/// A function whose captured variables are fixed: numbers are constants, Tensors are held by handle. Made by frozen().
template <class F>
class Frozen {
 public:
  explicit Frozen(F f) : f_(static_cast<F&&>(f)) {}
  template <class... A>
  decltype(auto) operator()(A&&... a) const {
    return f_(static_cast<A&&>(a)...);
  }

 private:
  F f_;
};
/// Lets compile take a function that captures variables. Values captured by copy are fixed; Tensors that the function uses are held, and
/// changes of their elements are seen. Variables captured by reference are read during the capture.
template <class F>
Frozen<F> frozen(F f) {
  return Frozen<F>(static_cast<F&&>(f));
}

namespace jit {

/// An object whose members are inputs of its operator().
template <class M>
concept Module = PlainStruct<M> && !std::is_empty_v<M> && !requires { typename M::tt_function; };
template <class M>
struct ModuleHandle {
  std::shared_ptr<M> own;  ///< null: the caller owns the module
  M* module;
};
struct CallModule {
  template <class M, class... A>
  decltype(auto) operator()(M& m, A&... a) const {
    return m(a...);
  }
};
template <class F>
inline constexpr bool is_frozen = false;
template <class F>
inline constexpr bool is_frozen<Frozen<F>> = true;

}  // namespace jit

namespace jit {

/// Queries of a compiled function that do not depend on its type.
class CompiledFunctionBase {
 public:
  /// Captures so far; each has a reason in explain().
  int captures() const {
    int n = 0;
    state_->each_capture([&](const Capture& c) {
      n += c.is_ready() ? 1 : 0;
      return false;
    });
    return n;
  }
  /// Segments between graph breaks that were compiled.
  int segments() const { return state_->segments.segments(); }
  /// Kernels of the newest capture, or segment.
  int kernels() const {
    int n = -1;
    state_->each_capture([&](const Capture& c) {
      if (c.run.function && !c.run.by_backend) n = c.run.forward().kernels();
      return c.run.function != nullptr;
    });
    return n >= 0 ? n : state_->segments.kernels();
  }
  /// The graph of the newest capture without graph breaks, as recorded; throws Error before the first call. Valid as long as the capture.
  const Graph& graph() const {
    const Graph* g = nullptr;
    bool breaks = false;
    state_->each_capture([&](const Capture& c) {
      breaks = breaks || c.breaks;
      if (c.run.function) g = &c.recording.graph;
      return g != nullptr;
    });
    if (!g) TT_THROW(Error(Text("tt::compile: ") << state_->options.name << (breaks ? ": the function has graph breaks. See explain()?"
                                                                                    : ": nothing was captured yet. Call it first?")));
    return *g;
  }
  /// Calls so far in which every kernel ran compiled (tier 1), and the others.
  backend::TileProgram::Calls calls() const {
    backend::TileProgram::Calls sum = state_->segments.calls();
    state_->each_capture([&](const Capture& c) {
      if (!c.run.function || c.run.by_backend) return false;
      const auto [tier0, tier1] = c.run.forward().calls();
      sum.tier0 += tier0;
      sum.tier1 += tier1;
      return false;
    });
    return sum;
  }
  /// Did the function use Tensors that are no arguments? A frozen function holds them.
  bool holds_tensors() const { return state_->held.load(std::memory_order_acquire) != nullptr; }
  /// How often a segment ran op by op, as there were too many different ones to compile.
  std::int64_t fallbacks() const { return state_->segments.fallbacks(); }
  /// The captures, with their reasons, guards and kernels; where graphs end; arguments that are changed in place.
  Text explain() const { return state_->explain(); }

 protected:
  CompiledFunctionBase(const CompileOptions& o, SourceLine at) : where_(at), state_(std::make_shared<CompiledState>(o, at)) {
    (void)o.backend.find();  // throws here if there is no such backend
  }
  SourceLine where_;
  std::shared_ptr<CompiledState> state_;
};

}  // namespace jit

/// A compiled function. Copies share its captures, and so does a moved-from object; any thread may call it.
template <class F>
class CompiledFunction : public jit::CompiledFunctionBase {
 public:
  CompiledFunction(F f, const CompileOptions& o, SourceLine at) : CompiledFunctionBase(o, at), f_(static_cast<F&&>(f)) {}
  CompiledFunction(const CompiledFunction&) = default;
  CompiledFunction(CompiledFunction&& o) : CompiledFunctionBase(static_cast<const CompiledFunctionBase&>(o)), f_(copied(o.f_)) {}
  CompiledFunction& operator=(const CompiledFunction&) = default;

  template <class... A>
  auto operator()(A&&... a) const {
    constexpr bool taken = ((detail::has_leaves<std::remove_cvref_t<A>>() && !std::is_array_v<std::remove_reference_t<A>>) && ...);
    static_assert(taken, "tt::compile: an argument is a Tensor, a number, or a struct, std::vector, std::array, std::string, pair or tuple "
                         "of these; no pointer, no C array, and of a literal \"x\" std::string(\"x\")");
    if constexpr (!taken) return Tensor();
    else if constexpr (requires { f_.module; }) return call(jit::CallModule{}, *f_.module, a...);
    else return call(f_, a...);
  }

 private:
  F f_;
  /// Moves a function that cannot be copied.
  static decltype(auto) copied(F& f) {
    if constexpr (std::is_copy_constructible_v<F>) return static_cast<const F&>(f);
    else return static_cast<F&&>(f);
  }
  static constexpr bool holds = jit::is_frozen<F>;

  template <class Fn, class... A>
  auto call(const Fn& f, A&... a) const -> std::decay_t<std::invoke_result_t<const Fn&, A&...>> {
    using R = std::decay_t<std::invoke_result_t<const Fn&, A&...>>;
    if (detail::capture_mode) return f(a...);  // part of another capture
    const char* const name = state_->options.name;
    jit::Numbers numbers;
    numbers.push(jit::type_number<R, std::remove_cvref_t<A>...>(), false);  // another result type, as for constant arguments, is another capture
    (jit::each_number(a, [&](std::int64_t v, bool real) { numbers.push(v, real); }), ...);
    jit::Arguments argument(name, a...);
    const auto record = [&](const jit::Guards& now) {
      return jit::record(f, name, now, {.breaks = !state_->options.fullgraph, .who = state_->whole(), .holds = holds, .guards_sizes = true, .shares = true},
                         argument, a...);
    };
    const jit::CallPlan plan = state_->plan(record, argument, numbers, holds);
    if (plan.way == jit::CallPlan::Way::op_by_op) return f(a...);  // with tangents that the graph cannot carry, or without room for a capture
    if (plan.way == jit::CallPlan::Way::recorded) return run_recorded<R>(f, argument, a...);
    const jit::Recording& r = plan.capture->recording;
    const auto result = [&] { return jit::run<R>(r, plan.capture->run, argument, plan.sizes, plan.plain, name, where_); };
    if constexpr (jit::have_numbers<A...>)
      if (r.left) {
        auto made = jit::result_of(result, std::tuple<>());
        jit::give_numbers(*static_cast<const jit::OwnArguments<A...>*>(r.left.get()), name, where_, a...);
        if constexpr (std::is_void_v<R>) return;
        else return made;
      }
    return result();
  }
  /// Runs a function with graph breaks on copies of the arguments, and records its ops.
  template <class R, class Fn, class... A>
  R run_recorded(const Fn& f, const jit::Arguments& argument, A&... a) const {
    jit::OwnArguments<A...> own(a...);
    [[maybe_unused]] std::conditional_t<jit::have_numbers<A...>, std::vector<std::int64_t>, int> before{};
    if constexpr (jit::have_numbers<A...>) before = jit::numbers_of_all(own);
    jit::RecordedCall recorder(state_->segments, argument, holds);
    auto result = jit::result_of(f, own);
    if constexpr (jit::have_numbers<A...>)
      if (jit::numbers_of_all(own) != before) jit::give_numbers(own, state_->options.name, where_, a...);
    recorder.finish(jit::own_leaves<A...>(own), where_);
    if constexpr (!std::is_void_v<R>) return result;
  }
};
/// f.explain().
template <class F>
Text explain(const CompiledFunction<F>& f) {
  return f.explain();
}

/// The function, captured at its first call and compiled; see the head of this file.
template <class F>
  requires(!jit::Module<std::remove_cvref_t<F>>)
auto compile(F f, CompileOptions options = {}, SourceLine at = here()) {
  static_assert(!std::is_function_v<std::remove_pointer_t<F>>,
                "tt::compile: a pointer says at run time which function it is, and what is compiled must be known: write a lambda that calls it");
  static_assert(detail::is_known<F>() || jit::is_frozen<F> || std::is_function_v<std::remove_pointer_t<F>>,
                "tt::compile: this function captures variables, and what is compiled must be known: pass them as arguments, or fix "
                "them with tt::frozen(f)");
  if constexpr (!detail::captures_nothing<F> && detail::is_known<F>()) return CompiledFunction<Frozen<F>>(frozen(static_cast<F&&>(f)), options, at);  // a transform, with its options
  else return CompiledFunction<F>(static_cast<F&&>(f), options, at);
}
/// An object with operator(): its Tensors are inputs, its numbers are guarded by value. A named object (lvalue) is referred to, a temporary
/// is kept.
template <class M>
  requires(jit::Module<std::remove_cvref_t<M>>)
auto compile(M&& module, CompileOptions options = {}, SourceLine at = here()) {
  using Handle = jit::ModuleHandle<std::remove_reference_t<M>>;
  if constexpr (std::is_lvalue_reference_v<M>) return CompiledFunction<Handle>({nullptr, &module}, options, at);
  else {
    auto own = std::make_shared<M>(static_cast<M&&>(module));
    return CompiledFunction<Handle>({own, own.get()}, options, at);
  }
}

}  // namespace tt
