// compile: a function of Tensors captured once into a graph, and run as a few fused kernels from then
// on. What the capture took for granted is guarded at every call: dtypes, ranks, which sizes are 1 and
// which are equal, how operands lie and overlap, numbers, and the thread's modes. Other sizes are
// symbols, so another batch size is not another capture.
//   auto step = tt::compile([](auto& w, auto x, auto y) { ...; return loss; });   step(w, x, y);
// Arguments are Tensors, numbers, and structs Mlp<tt::tensors>; what the function assigns through a
// reference is updated in place.
#pragma once
#include <memory>

#include "tt/autograd/functional.hpp"
#include "tt/jit/code_cache.hpp"

namespace tt {

struct CompileOptions {
  const char* name = "compiled";  ///< in listings, errors and emitted kernels
  int tier = 1;                   ///< 0: the interpreter only; 1: compiled in the background, then swapped in
  bool wait = false;              ///< the first call waits for that
  const char* cache_dir = nullptr;  ///< of compiled kernels; null: see TierOptions
};

namespace jit {

/// The Tensors of an argument or a result, in order.
template <class A, class F>
void each_leaf(A& a, const F& f) {
  using T = std::remove_cv_t<A>;
  if constexpr (std::is_same_v<T, Tensor>) f(a);
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) return;
  else if constexpr (ParameterStruct<T>) for_each_member([&](auto& leaf) { each_leaf(leaf, f); }, a);
  else if constexpr (requires { std::tuple_size<T>::value; }) std::apply([&](auto&... x) { (each_leaf(x, f), ...); }, a);
  else if constexpr (requires { a.begin(); a.end(); }) for (auto& x : a) each_leaf(x, f);
  else static_assert(std::is_void_v<T>, "tt::compile: arguments and results are Tensors, numbers, and structs and lists of them");
}
/// Numbers are guarded by value.
template <class A, class F>
void each_number(const A& a, const F& f) {
  if constexpr (std::is_enum_v<A>) f(static_cast<std::int64_t>(a));
  else if constexpr (std::is_floating_point_v<A>) f(std::bit_cast<std::int64_t>(static_cast<double>(a)));
  else if constexpr (std::is_integral_v<A>) f(static_cast<std::int64_t>(a));
}

/// What one capture is good for: everything that is compared, word by word.
struct Guards {
  BasicSignature<max_inputs> sizes;
  std::vector<std::int64_t> rest;  ///< overlaps, what requires a gradient, modes, numbers

  Guards(const Tensor* const* argument, int count, const std::vector<std::int64_t>& numbers, bool constant)
      : sizes(argument, count, no_attributes, constant) {
    std::int64_t requires_grad = 0;
    for (int k = 0; k < count; ++k) {
      if (argument[k]->impl().requires_grad) requires_grad |= std::int64_t{1} << k;
      std::int64_t first = k;  // the first argument in the same storage
      for (int j = 0; j < k && first == k; ++j)
        if (argument[j]->shares_storage(*argument[k])) first = j;
      if (first != k) rest.push_back(k << 8 | first);
    }
    rest.push_back(-1);
    rest.push_back(requires_grad);
    rest.push_back(DispatchState::of_this_thread().grad_enabled ? 1 : 0);
    rest.insert(rest.end(), numbers.begin(), numbers.end());
  }
  bool same(const Guards& o) const {
    return sizes.words == o.sizes.words && rest == o.rest &&
           std::memcmp(sizes.word, o.sizes.word, sizeof(std::int64_t) * static_cast<std::size_t>(sizes.words)) == 0;
  }
};

/// A captured graph and what belongs to it.
struct Capture {
  Guards guards;
  std::unique_ptr<GraphFunction> function;
  int results = 0;             ///< outputs that the function returns; the rest are updates
  std::vector<int> updated;    ///< for each update: which argument
  Text why;                    ///< it was made
  std::int64_t calls = 0;
};

/// Overlaps with another argument, or lies so that results cannot be written where it is.
inline bool can_be_donated(const Tensor* const* argument, int count, int k) {
  if (!argument[k]->is_contiguous()) return false;
  for (int j = 0; j < count; ++j)
    if (j != k && argument[j]->shares_storage(*argument[k])) return false;
  return true;
}

/// In words, what differs between a call and an earlier capture.
inline Text difference(const Guards& before, const Guards& now) {
  Text t;
  if (before.sizes.constant) t << "all sizes were needed as numbers, and they are others";
  else if (before.rest != now.rest) t << "a number, an overlap, requires_grad or a mode is another";
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

/// A compiled function. Copies share what was captured; calls from several threads are safe after the
/// first one of a kind has returned.
template <class F>
class CompiledFunction {
 public:
  CompiledFunction(F f, CompileOptions o) : f_(static_cast<F&&>(f)), options_(o), state_(std::make_shared<State>()) {}

  template <class... A>
  auto operator()(A&&... a) const {
    return call(here_, static_cast<A&&>(a)...);
  }
  /// Captures so far; each has a reason in explain().
  int captures() const { return static_cast<int>(state_->captures.size()); }
  /// Kernels of the newest capture.
  int kernels() const {
    return state_->captures.empty() ? 0 : state_->captures.back()->function->program().plan().kernels.size();
  }
  /// Calls so far in which every kernel ran compiled (tier 1), and the others.
  backend::TileProgram::Calls calls() const {
    backend::TileProgram::Calls sum;
    for (const auto& c : state_->captures) {
      sum.tier0 += c->function->program().calls().tier0;
      sum.tier1 += c->function->program().calls().tier1;
    }
    return sum;
  }
  /// The graph of the newest capture.
  const Graph& graph() const { return state_->captures.back()->function->graph(); }
  /// What was captured, why, and into how many kernels.
  Text explain() const {
    Text t;
    t << options_.name << ": " << captures() << (captures() == 1 ? " capture\n" : " captures\n");
    int k = 0;
    for (const auto& c : state_->captures) {
      const Plan& plan = c->function->program().plan();
      t << "  " << ++k << ": " << c->function->graph().size() << " nodes, " << plan.kernels.size() << " kernels, called "
        << c->calls << " times, " << c->function->program().calls().tier1 << " of them on tier 1; " << c->why << '\n';
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
    std::vector<std::unique_ptr<jit::Capture>> captures;
    std::atomic_flag busy;
  };
  F f_;
  CompileOptions options_;
  SourceLine here_{};
  std::shared_ptr<State> state_;

  template <class... A>
  using ResultOf = std::invoke_result_t<const F&, A...>;

  template <class... A>
  auto call(SourceLine at, A&&... a) const {
    const Tensor* argument[max_inputs];
    int count = 0;
    const auto add = [&](const Tensor& t) {
      if (count == max_inputs)
        TT_THROW(Error(Text("tt::compile: ") << options_.name << ": at most " << max_inputs << " Tensors can be passed."));
      argument[count++] = &t;
    };
    (jit::each_leaf(a, add), ...);
    if (Tracer::current()) return f_(static_cast<A&&>(a)...);  // part of another capture
    std::vector<std::int64_t> numbers;
    (jit::each_number(a, [&](std::int64_t v) { numbers.push_back(v); }), ...);
    jit::Capture* c = nullptr;
    SymbolValues symbols;
    for (bool constant : {false, true}) {
      const jit::Guards now(argument, count, numbers, constant);
      c = find(now);
      symbols = now.sizes.values;
      if (c && c->function) break;
      if (!c) c = capture(now, argument, count, at, a...);
      if (c->function) break;
    }
    ++c->calls;
    return run<ResultOf<A...>>(*c, argument, count, symbols, at);
  }
  jit::Capture* find(const jit::Guards& now) const {
    for (auto it = state_->captures.rbegin(); it != state_->captures.rend(); ++it)
      if ((*it)->guards.same(now)) return it->get();
    for (const auto& c : refused_list())
      if (c->guards.same(now)) return c.get();
    return nullptr;
  }
  /// Signatures under which sizes turned out to be needed as numbers.
  std::vector<std::unique_ptr<jit::Capture>>& refused_list() const { return state_refused_->list; }
  struct Refused {
    std::vector<std::unique_ptr<jit::Capture>> list;
  };
  std::shared_ptr<Refused> state_refused_ = std::make_shared<Refused>();

  template <class... A>
  jit::Capture* capture(const jit::Guards& now, const Tensor* const* argument, int count, SourceLine at, A&... a) const {
    auto c = std::make_unique<jit::Capture>(jit::Capture{now, nullptr, 0, {}, Text("first call"), 0});
    if (!state_->captures.empty()) c->why = jit::difference(state_->captures.back()->guards, now);
    Tracer tracer(now.sizes.constant);
    tracer.values = now.sizes.values;
    std::vector<Tensor> stand_ins;
    std::vector<int> input;
    for (int k = 0; k < count; ++k) {
      stand_ins.push_back(tracer.input(now.sizes.dtype[k], now.sizes.shape[k], now.sizes.strides[k]));
      input.push_back(tracer.graph.inputs[k]);
    }
    try {
      std::size_t next = 0;
      std::tuple<std::remove_cvref_t<A>...> traced(a...);
      const auto replace = [&](Tensor& t) { t = stand_ins[next++]; };
      std::apply([&](auto&... x) { (jit::each_leaf(x, replace), ...); }, traced);
      const auto output = [&](Tensor& t) {
        tracer.graph.output(tracer.id_of(t, at));
        ++c->results;
      };
      if constexpr (std::is_void_v<ResultOf<A&...>>) {
        std::apply(f_, traced);
      } else {
        auto result = std::apply(f_, traced);
        jit::each_leaf(result, output);
      }
      next = 0;
      std::vector<char> writable;
      const auto note = [&]<class X>(X& x) {
        jit::each_leaf(x, [&](const Tensor&) { writable.push_back(!std::is_const_v<X>); });
      };
      (note(a), ...);
      const auto update = [&](Tensor& t) {
        const std::size_t k = next++;
        const int id = tracer.id_of(t, at);
        if (id == input[k] || !writable[k]) return;
        if (t.dtype() != argument[k]->dtype() || !(t.shape() == argument[k]->shape()))
          TT_THROW(Error(Text("tt::compile: ") << options_.name << ": a parameter changes its shape or dtype: "
                         << name(argument[k]->dtype()) << ' ' << argument[k]->shape() << " became " << name(t.dtype()) << ' '
                         << t.shape() << "."));
        const bool donated = can_donate(argument, count, static_cast<int>(k));
        tracer.graph.output(id, donated ? static_cast<int>(k) : -1);
        c->updated.push_back(static_cast<int>(k));
      };
      std::apply([&](auto&... x) { (jit::each_leaf(x, update), ...); }, traced);
      if (tracer.graph.failure) TT_THROW(Error(describe(tracer.graph.failure)));
      c->function = std::make_unique<GraphFunction>(canonical(tracer.graph));
      CodeCache::get().request(c->function->share_program(), options_.name,
                               {.tier = options_.tier, .wait = options_.wait, .cache_dir = options_.cache_dir});
    } catch (const SizesNeeded& e) {
      Text why("sizes are needed as numbers by ");
      why << e.why;
      if (e.at.line) why << " at " << e.at.file << ':' << e.at.line;
      c->why = why;
      refused_list().push_back(std::move(c));
      return refused_list().back().get();
    }
    state_->captures.push_back(std::move(c));
    return state_->captures.back().get();
  }
  static bool can_donate(const Tensor* const* argument, int count, int k) {
    return !argument[k]->impl().requires_grad && jit::can_be_donated(argument, count, k);
  }

  template <class R>
  R run(const jit::Capture& c, const Tensor* const* argument, int count, const SymbolValues& symbols, SourceLine at) const {
    const GraphFunction& f = *c.function;
    std::vector<Tensor> out(static_cast<std::size_t>(f.outputs()));
    f.run(argument, symbols, out.data());
    bool taped = false;
    if (DispatchState::of_this_thread().grad_enabled)
      for (int k = 0; k < count; ++k) taped = taped || argument[k]->impl().requires_grad;
    if (taped) autograd::record_function(f, symbols, options_.name, at, argument, count, out.data());
    for (std::size_t u = 0; u < c.updated.size(); ++u) {
      Tensor to = *argument[c.updated[u]];
      const Tensor& value = out[static_cast<std::size_t>(c.results) + u];
      if (taped && value.requires_grad()) detail::inplace_hooks().check(to, at);
      if (!value.is_same(to)) detail::write_elements(to, value, at);
      detail::advance_version(to);
      if (taped && value.requires_grad()) detail::inplace_hooks().adopt(to, value);
    }
    if constexpr (!std::is_void_v<R>) {
      R result{};
      std::size_t next = 0;
      jit::each_leaf(result, [&](Tensor& t) { t = out[next++]; });
      return result;
    }
  }
};

/// The function, captured at its first call and compiled; see the head of this file.
template <class F>
CompiledFunction<F> compile(F f, CompileOptions options = {}) {
  static_assert(detail::captures_nothing<F>,
                "tt::compile: this function captures variables, and what is compiled must be known: pass them as arguments");
  return {static_cast<F&&>(f), options};
}

}  // namespace tt
