// compile: a function of Tensors captured once into a graph, and run as a few fused kernels from then
// on. What the capture took for granted is guarded at every call: dtypes, ranks, which sizes are 1 and
// which are equal, how operands lie and overlap, numbers, and the thread's modes. Other sizes are
// symbols, so another batch size is not another capture; to see that sizes are not used as numbers the
// function is run three times then.
//   auto step = tt::compile([](auto& w, auto x, auto y) { ...; return loss; });   step(w, x, y);
// Arguments are Tensors, numbers, and structs Mlp<tt::tensors>; what the function assigns through a
// reference is updated in place.
#pragma once
#include "tt/expr/transform.hpp"
#include "tt/jit/capture.hpp"
#include "tt/jit/code_cache.hpp"

namespace tt {

struct CompileOptions {
  const char* name = "compiled";  ///< in listings, errors and emitted kernels
  int tier = 1;                   ///< 0: the interpreter only; 1: compiled in the background, then swapped in
  bool wait = false;              ///< the first call waits for that
  const char* cache_dir = nullptr;  ///< of compiled kernels; null: see TierOptions
};

namespace jit {

/// A recording, ready to run. Without a function: sizes turned out to be needed as numbers.
struct Capture {
  Guards guards;
  Recording recording;
  std::shared_ptr<const GraphFunction> function;
  Text why;  ///< it was made
  std::atomic<std::int64_t> calls = 0;
  Capture* next = nullptr;  ///< made before
};

/// In words, what differs between a call and an earlier capture.
inline Text difference(const Guards& before, const Guards& now) {
  Text t;
  if (before.sizes.constant) t << "all sizes were needed as numbers, and they are others";
  else if (!before.same_rest(now)) t << "a number, an overlap, requires_grad or a mode is another";
  else {
    for (int k = 0; k < now.sizes.arguments; ++k) {
      if (now.sizes.dtype[k] != before.sizes.dtype[k])
        return t << "argument " << k << " is " << name(now.sizes.dtype[k]) << ", was " << name(before.sizes.dtype[k]);
      if (!(now.sizes.shape[k] == before.sizes.shape[k]))
        return t << "argument " << k << " has sizes " << now.sizes.shape[k] << ", had " << before.sizes.shape[k]
                 << " (equal sizes share a symbol; 0 and 1 are themselves)";
      if (!(now.sizes.strides[k] == before.sizes.strides[k])) return t << "argument " << k << " lies otherwise in memory";
    }
    t << "the arguments differ";
  }
  return t;
}

}  // namespace jit

/// A compiled function. Copies share what was captured; any thread may call it.
template <class F>
class CompiledFunction {
 public:
  CompiledFunction(F f, CompileOptions o, SourceLine at)
      : f_(static_cast<F&&>(f)), options_(o), where_(at), state_(std::make_shared<State>()) {}

  template <class... A>
  auto operator()(A&&... a) const -> std::decay_t<std::invoke_result_t<const F&, std::remove_reference_t<A>&...>> {
    using R = std::decay_t<std::invoke_result_t<const F&, std::remove_reference_t<A>&...>>;
    if (Tracer::current()) return f_(a...);  // part of another capture
    const jit::Arguments argument(options_.name, a...);
    jit::Numbers numbers;
    numbers.push(jit::type_number<std::remove_cvref_t<A>...>());
    (jit::each_number(a, [&](std::int64_t v) { numbers.push(v); }), ...);
    for (bool constant : {false, true}) {
      const jit::Guards now(argument, numbers.span(), constant);
      jit::Capture* c = find(now);
      if (!c) c = capture(now, argument, a...);
      if (!c->function) continue;
      c->calls.fetch_add(1, std::memory_order_relaxed);
      return jit::run<R>(c->recording, c->function, argument, now.sizes.values, options_.name, where_);
    }
    TT_THROW(InternalError(Text("tt::compile: ") << options_.name << ": sizes are needed although all are known."));
  }
  /// Captures so far; each has a reason in explain().
  int captures() const {
    int n = 0;
    for (const jit::Capture* c = newest(); c; c = c->next) n += c->function ? 1 : 0;
    return n;
  }
  /// Kernels of the newest capture.
  int kernels() const {
    const jit::Capture* c = newest_of_all();
    return c ? c->function->program().plan().kernels.size() : 0;
  }
  /// The graph of the newest capture; throws Error before the first call.
  const Graph& graph() const {
    const jit::Capture* c = newest_of_all();
    if (!c) TT_THROW(Error(Text("tt::compile: ") << options_.name << ": nothing was captured yet. Call it first?"));
    return c->function->graph();
  }
  /// Calls so far in which every kernel ran compiled (tier 1), and the others.
  backend::TileProgram::Calls calls() const {
    backend::TileProgram::Calls sum;
    for (const jit::Capture* c = newest(); c; c = c->next) {
      if (!c->function) continue;
      sum.tier0 += c->function->program().calls().tier0;
      sum.tier1 += c->function->program().calls().tier1;
    }
    return sum;
  }
  /// What was captured, why, and into how many kernels.
  Text explain() const {
    Text t;
    t << options_.name << ": " << captures() << (captures() == 1 ? " capture\n" : " captures\n");
    std::vector<const jit::Capture*> list;
    for (const jit::Capture* c = newest(); c; c = c->next)
      if (c->function) list.insert(list.begin(), c);
    int k = 0;
    for (const jit::Capture* c : list) {
      const Plan& plan = c->function->program().plan();
      t << "  " << ++k << ": " << c->function->graph().size() << " nodes, " << plan.kernels.size() << " kernels, called "
        << c->calls.load() << " times, " << c->function->program().calls().tier1 << " of them on tier 1; " << c->why << '\n';
      for (const Kernel& kernel : plan.kernels) {
        t << "     " << name(kernel.kind) << ' ' << kernel.rows << " x " << kernel.cols;
        if (kernel.where.line) t << "   " << kernel.where.file << ':' << kernel.where.line;
        t << '\n';
      }
    }
    return t;
  }

 private:
  struct State {
    std::atomic<jit::Capture*> newest = nullptr;  // a list that only grows: reading takes no lock
    std::atomic_flag busy;
    ~State() {
      for (jit::Capture* c = newest; c;) {
        jit::Capture* const next = c->next;
        delete c;
        c = next;
      }
    }
  };
  F f_;
  CompileOptions options_;
  SourceLine where_;
  std::shared_ptr<State> state_;

  jit::Capture* newest() const { return state_->newest.load(std::memory_order_acquire); }
  const jit::Capture* newest_of_all() const {
    const jit::Capture* c = newest();
    while (c && !c->function) c = c->next;
    return c;
  }
  jit::Capture* find(const jit::Guards& now) const {
    for (jit::Capture* c = newest(); c; c = c->next)
      if (c->guards.same(now)) return c;
    return nullptr;
  }
  template <class... A>
  jit::Capture* capture(const jit::Guards& now, const jit::Arguments& argument, A&... a) const {
    const detail::FlagLock lock(state_->busy);  // captures one at a time
    if (jit::Capture* c = find(now)) return c;  // another thread was first
    auto fresh = std::unique_ptr<jit::Capture>(new jit::Capture{now, {}, nullptr, Text("first call"), 0, newest()});
    if (fresh->next) fresh->why = !fresh->next->function ? fresh->next->why : jit::difference(fresh->next->guards, now);
    try {
      fresh->recording = jit::record(f_, options_.name, now, argument, a...);
      fresh->function = std::make_shared<const GraphFunction>(fresh->recording.graph);
      CodeCache::get().request(fresh->function->share_program(), options_.name,
                               {.tier = options_.tier, .wait = options_.wait, .cache_dir = options_.cache_dir});
    } catch (const SizesNeeded& e) {
      fresh->why = Text("sizes are needed as numbers by ") << e.why;
      if (e.at.line) fresh->why << " at " << e.at.file << ':' << e.at.line;
    }
    state_->newest.store(fresh.get(), std::memory_order_release);
    return fresh.release();
  }
};

/// The function, captured at its first call and compiled; see the head of this file.
template <class F>
CompiledFunction<F> compile(F f, CompileOptions options = {}, SourceLine at = here()) {
  static_assert(detail::captures_nothing<F>,
                "tt::compile: this function captures variables, and what is compiled must be known: pass them as arguments");
  return {static_cast<F&&>(f), options, at};
}

}  // namespace tt
