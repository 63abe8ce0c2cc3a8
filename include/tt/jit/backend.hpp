// Backends of compile: how a captured graph runs. tt's own fuses it into kernels; another backend gets the graph and returns the function
// to call in its place.
//   tt::register_backend("count", [](const tt::Graph& g, const std::vector<tt::ExampleInput>& examples) {
//     std::printf("%d nodes\n", g.size());
//     return tt::compile_graph(g);        // or a graph that was edited, or a function of one's own
//   });
//   tt::compile(f, {.backend = "count"})
#pragma once
#include "tt/core/kept_text.hpp"
#include "tt/graph/check.hpp"
#include "tt/jit/capture.hpp"

namespace tt {

/// An input, as it is known when a graph is compiled. Sizes are those of the call; in the graph they are symbols where they may differ at
/// other calls.
struct ExampleInput {
  DType dtype = DType::f32;
  Shape shape, strides;
  Device device;
  bool requires_grad = false;
};
/// Returns the function that runs the graph. That function is called with Tensors of any sizes that the graph's inputs allow; where they
/// require gradients, its ops are recorded by the tape.
using Backend = Callable<CompiledGraph(const Graph&, const std::vector<ExampleInput>&)>;

/// A graph as tt runs it: fused, and one node of the tape.
TT_INLINE CompiledGraph compile_graph(const Graph& graph);
/// A graph op by op, as eager would: each op has a kernel and a tape node of its own.
TT_INLINE CompiledGraph replay_graph(const Graph& graph);

/// Gives a backend a name; throws Error when another one has it.
TT_INLINE void register_backend(const char* name, Backend backend);
/// Names, in the order of registration; "default" and "eager" are built in.
TT_INLINE std::vector<Text> list_backends();

/// The backend of a compiled function: a name, or the backend itself.
class BackendChoice {
 public:
  BackendChoice() = default;
  BackendChoice(const char* name) : name_(name ? KeptText(name).text : "default") {}
  template <class S>
    requires(std::convertible_to<const S&, KeptText> && !std::convertible_to<const S&, const char*>)
  BackendChoice(const S& name) : name_(KeptText(name).text) {}
  template <class F>
    requires std::is_invocable_r_v<CompiledGraph, F&, const Graph&, const std::vector<ExampleInput>&>
  BackendChoice(F f) : name_("one of its own"), own_(static_cast<F&&>(f)) {}
  const char* name() const { return name_; }
  /// Empty: tt's own.
  TT_INLINE Backend find() const;

 private:
  const char* name_ = "default";
  Backend own_;
};

namespace jit {

/// Sets `sizes` to the values of the graph's symbols for these Tensors; false: argument `wrong` does not fit.
TT_INLINE bool bind_sizes(const Graph& g, const std::vector<Tensor>& t, SymbolValues& sizes, int& wrong);

#if TT_DEFINES(jit)

TT_INLINE bool bind_sizes(const Graph& g, const std::vector<Tensor>& t, SymbolValues& sizes, int& wrong) {
  BitSet known;
  for (wrong = 0; wrong < static_cast<int>(t.size()); ++wrong) {
    const Tensor& a = t[static_cast<std::size_t>(wrong)];
    const Node& in = g[g.inputs[wrong]];
    if (a.dtype() != in.dtype || a.dim() != in.shape.rank) return false;
    for (int d = 0; d < in.shape.rank; ++d) {
      const std::int64_t n = a.impl().shape.code[d];
      const SizeSet symbols = symbols_of(in.shape[d]);
      for (int s : symbols.some) {
        SymbolValues one;
        one.set(s, 1);
        const std::int64_t times = in.shape[d].value(one);
        if (in.shape[d] == Extent::symbol(s) * Extent(times) && !known.test(s)) {
          known.set(s);
          sizes.set(s, n / times);
        }
      }
      if (in.shape[d].value(sizes) != n) return false;
    }
  }
  return true;
}

/// The Tensors made contiguous, as the graph's inputs are; sets `sizes`.
inline std::vector<Tensor> fitting(const Graph& g, const std::vector<Tensor>& given, SymbolValues& sizes) {
  if (static_cast<int>(given.size()) != g.inputs.size())
    TT_THROW(Error(Text("tt::compile_graph: the graph takes ") << g.inputs.size() << " Tensors, not " << static_cast<int>(given.size()) << "."));
  if (int wrong = 0; !bind_sizes(g, given, sizes, wrong)) {
    const Tensor& t = given[static_cast<std::size_t>(wrong)];
    TT_THROW(Error(Text("tt::compile_graph: input ") << wrong << " is " << name(t.dtype()) << ' ' << t.shape() << ", the graph takes "
                   << name(g[g.inputs[wrong]].dtype) << ' ' << g[g.inputs[wrong]].shape << "."));
  }
  std::vector<Tensor> dense;
  for (const Tensor& t : given) dense.push_back(t.contiguous());
  return dense;
}
/// The graph for contiguous inputs, of which no memory is taken over.
inline Graph of_dense_inputs(Graph g) {
  for (Shape& s : g.input_strides) s = {};
  for (int& d : g.donated) d = -1;
  return g;
}
/// Runs a function as eager runs an op: its tape node saves the operands.
inline std::vector<Tensor> call_function(const std::shared_ptr<const GraphFunction>& f, const Tensor* const* tensor, int count,
                                         const SymbolValues& sizes, const char* name, SourceLine at) {
  bool taped = false;
  for (int k = 0; k < count; ++k) taped = taped || tensor[k]->impl().requires_grad;
  std::vector<Tensor> out(static_cast<std::size_t>(f->outputs()));
  if (autograd::may_be_dual(tensor, count)) {
    autograd::run_on_duals(*f, f, sizes, name, at, tensor, count, out.data());
    return out;
  }
  f->run(tensor, sizes, out.data());
  if (taped && DispatchState::of_this_thread().grad_enabled)
    autograd::record_function(*f, f, sizes, name, at, tensor, count, out.data());
  return out;
}

/// One node as a function of its operands, or all results of one call.
struct ReplayStep {
  std::shared_ptr<const GraphFunction> function;
  const char* name = "";
  SourceLine at{};
  Vec<int> operands, results;
};

class BackendList {
 public:
  static BackendList& get() {
    static BackendList* const list = new BackendList;
    return *list;
  }
  void add(const char* name, Backend b) {
    const detail::FlagLock lock(busy_);
    for (Entry& e : entry_)
      if (std::strcmp(e.name.c_str(), name) == 0) TT_THROW(Error(Text("tt::register_backend: there is one called '") << name << "' already."));
    entry_.push_back({Text(name), static_cast<Backend&&>(b)});
  }
  Backend find(const char* name) {
    const detail::FlagLock lock(busy_);
    Text t = Text("tt::compile: no backend is called '") << name << "'; there are";
    for (Entry& e : entry_) {
      if (std::strcmp(e.name.c_str(), name) == 0) return e.backend;
      t << ' ' << e.name;
    }
    TT_THROW(Error(t << ". Register it first?"));
  }
  std::vector<Text> names() {
    const detail::FlagLock lock(busy_);
    std::vector<Text> n;
    for (const Entry& e : entry_) n.push_back(e.name);
    return n;
  }

 private:
  struct Entry {
    Text name;
    Backend backend;
  };
  detail::BusyFlag busy_;
  std::vector<Entry> entry_;
  BackendList() {
    entry_.push_back({Text("default"), {}});
    entry_.push_back({Text("eager"), [](const Graph& g, const std::vector<ExampleInput>&) { return replay_graph(g); }});
  }
};

#endif
}  // namespace jit

#if TT_DEFINES(jit)

TT_INLINE CompiledGraph compile_graph(const Graph& graph) {
  if (graph.failure) TT_THROW(Error(describe(graph.failure)));
  if (const CheckResult r = (check)(graph); !r)
    TT_THROW(Error(Text("tt::compile_graph: node ") << r.node << " of the graph " << r.why << "."));
  const auto f = std::make_shared<const GraphFunction>(canonical(jit::of_dense_inputs(graph)), ProgramOptions{}, true);
  return [f](const std::vector<Tensor>& given) {
    SymbolValues sizes;
    const std::vector<Tensor> dense = jit::fitting(f->graph(), given, sizes);
    SmallVec<const Tensor*, 16> tensor;
    for (const Tensor& t : dense) tensor.push_back(&t);
    const int count = tensor.size();
    std::vector<Tensor> out(static_cast<std::size_t>(f->outputs()));
    if (autograd::may_be_dual(tensor.data(), count)) autograd::run_on_duals(*f, f, sizes, "graph", {}, tensor.data(), count, out.data());
    else if (!autograd::required_gradients(tensor.data(), count).empty() && DispatchState::of_this_thread().grad_enabled)
      autograd::run_on_tape(*f, f, sizes, "graph", {}, tensor.data(), count, out.data());
    else f->run(tensor.data(), sizes, out.data());
    return out;
  };
}

TT_INLINE CompiledGraph replay_graph(const Graph& graph) {
  const Graph g = canonical(jit::of_dense_inputs(graph));
  std::vector<jit::ReplayStep> steps;
  Vec<int> all;
  for (int i = 0; i < g.size(); ++i) all.push_back(i);
  const Calls calls = find_calls(g, all);
  for (int i = 0; i < g.size(); ++i) {
    jit::ReplayStep s{nullptr, g[i].op == Op::call ? g[i].def->info.name : name(g[i].op), g[i].where, copied(g.operands(i)), {i}};
    const int call = calls.call_of[i];
    if (g[i].op != Op::input && (call < 0 || calls.first[call] == i)) {
      Graph one;
      Vec<int> in;
      for (int o : s.operands) in.push_back(one.input(g[o].dtype, g[o].shape));
      if (call >= 0) {
        s.results.clear();
        for (int r : calls.results[call])
          if (r >= 0) s.results.push_back(r);
      }
      for (int r : s.results) one.output(one.intern(g[r], g, in));
      s.function = std::make_shared<const GraphFunction>(static_cast<Graph&&>(one));
    }
    steps.push_back(static_cast<jit::ReplayStep&&>(s));
  }
  Vec<int> effects, before;  // calls with an effect keep the program's order
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == Op::call && g[i].def->info.effect) effects.push_back(i);
  std::sort(effects.begin(), effects.end(), [&](int a, int b) { return g[a].identity < g[b].identity; });
  for (int k = 1; k < effects.size(); ++k) {
    before.push_back(effects[k]);
    before.push_back(effects[k - 1]);
  }
  const Vec<int> order = post_order(g, g.outputs, Vec<char>(g.size(), 0), before);
  return [g, steps, order](const std::vector<Tensor>& given) {
    SymbolValues sizes;
    const std::vector<Tensor> dense = jit::fitting(g, given, sizes);
    std::vector<Tensor> value(steps.size()), out;
    for (int k = 0; k < g.inputs.size(); ++k) value[static_cast<std::size_t>(g.inputs[k])] = dense[static_cast<std::size_t>(k)];
    for (const int i : order) {
      const jit::ReplayStep& s = steps[static_cast<std::size_t>(i)];
      if (!s.function) continue;
      SmallVec<const Tensor*, 4> tensor;
      for (int o : s.operands) tensor.push_back(&value[static_cast<std::size_t>(o)]);
      const std::vector<Tensor> made = jit::call_function(s.function, tensor.data(), tensor.size(), sizes, s.name, s.at);
      for (int k = 0; k < s.results.size(); ++k) value[static_cast<std::size_t>(s.results[k])] = made[static_cast<std::size_t>(k)];
    }
    for (int o : g.outputs) out.push_back(value[static_cast<std::size_t>(o)]);
    return out;
  };
}

TT_INLINE void register_backend(const char* name, Backend backend) { jit::BackendList::get().add(name, static_cast<Backend&&>(backend)); }
TT_INLINE std::vector<Text> list_backends() { return jit::BackendList::get().names(); }
TT_INLINE Backend BackendChoice::find() const { return own_ ? own_ : jit::BackendList::get().find(name_); }

#endif

}  // namespace tt
