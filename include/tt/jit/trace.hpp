// trace: a function of Tensors as a graph to read and edit. The function is run once on fake tensors; the Traced that trace returns runs
// the graph, also after passes have changed it.
//   auto t = tt::trace(model, x, w);
//   for (int relu : tt::find_all(t.graph, tt::op_def<tt::Relu>)) ...   t.graph = tt::replace(t.graph, relu, gelu);
//   t.recompile();   Tensor y = t(x, w);   t.to_string();
// Sizes are symbols where they can be, so the graph runs on other sizes too. Numbers among the examples, and variables that the function
// captures, are fixed.
#pragma once
#include "tt/graph/check.hpp"
#include "tt/graph/edit.hpp"
#include "tt/graph/print.hpp"
#include "tt/jit/backend.hpp"

namespace tt {

template <class R>
class Traced {
 public:
  Graph graph;  ///< edits take effect with recompile()

  explicit Traced(jit::Recording recording) : graph(recording.graph), recording_(static_cast<jit::Recording&&>(recording)) {
    recompile();
  }
  /// Plans the graph as it is now; throws Error and keeps the old program if the graph is not legal.
  void recompile() {
    const Graph& before = recording_.graph;
    if (graph.failure) TT_THROW(Error(describe(graph.failure)));
    if (const CheckResult r = (check)(graph); !r)
      TT_THROW(Error(Text("tt::trace: node ") << r.node << " of the graph " << r.why << "."));
    if (graph.inputs.size() != before.inputs.size() || graph.outputs.size() != before.outputs.size())
      TT_THROW(Error(Text("tt::trace: the graph has ") << graph.inputs.size() << " inputs and " << graph.outputs.size()
                     << " outputs, and had " << before.inputs.size() << " and " << before.outputs.size() << "."));
    function_ = std::make_shared<const GraphFunction>(canonical(graph));
  }
  /// Runs the graph last compiled, on Tensors (and structs and lists of them) like the examples.
  template <class... A>
  R operator()(A&&... a) const {
    static_assert((!std::is_arithmetic_v<std::remove_cvref_t<A>> && ...), "tt::trace: numbers are fixed in the graph: pass the Tensors only");
    const jit::Arguments given("trace", a...);
    std::vector<Tensor> dense;
    for (int k = 0; k < given.count(); ++k) dense.push_back(given[k].contiguous());
    for (int k : recording_.updated)
      if (k < given.count() && !given.lies_alone(k))
        TT_THROW(Error(Text("tt::trace: argument ") << k << " is changed, and does not lie dense in memory of its own. Use clone()?"));
    jit::Arguments argument("trace", dense);
    argument.add_constants(recording_.constants);
    return jit::run<R>(recording_, {function_, {}}, argument, sizes_of(argument), false, "traced", {});
  }
  int kernels() const { return function_->kernels(); }
  Text to_string() const { return tt::to_string(graph); }
  Text to_dot() const { return tt::to_dot(graph); }

 private:
  jit::Recording recording_;
  std::shared_ptr<const GraphFunction> function_;

  /// The values of the graph's symbols in this call.
  SymbolValues sizes_of(const jit::Arguments& a) const {
    const Graph& g = function_->graph();
    const int constants = static_cast<int>(recording_.constants.size());
    if (a.count() != g.inputs.size())
      TT_THROW(Error(Text("tt::trace: the graph takes ") << g.inputs.size() - constants << " Tensors, not " << a.count() - constants << "."));
    std::vector<Tensor> given;
    for (int k = 0; k < a.count(); ++k) given.push_back(a[k]);
    SymbolValues sizes;
    if (int k = 0; !jit::bind_sizes(g, given, sizes, k))
      TT_THROW(Error(Text("tt::trace: argument ") << k << " is " << name(a[k].dtype()) << ' ' << a[k].shape() << ", the graph takes "
                     << name(g[g.inputs[k]].dtype) << ' ' << g[g.inputs[k]].shape << ". Trace again with such examples?"));
    return sizes;
  }
};

/// Runs `f` on fake tensors like the examples, whose elements do not matter, and gives its graph.
template <class F, class... A>
  requires(!Value<F>)  // the trace of a Value is the sum of its diagonal
auto trace(const F& f, const A&... examples) {
  using R = std::decay_t<std::invoke_result_t<const F&, std::remove_cvref_t<A>&...>>;
  std::tuple<A...> own(examples...);
  const auto fresh = [](auto& x) {
    jit::each_leaf(x, [](Tensor& t) { t = Tensor(t.dtype(), t.impl().shape); });  // contiguous, and no two the same
  };
  return std::apply([&](auto&... a) {
    (fresh(a), ...);
    const jit::Arguments argument("trace", a...);
    for (SizeFacts as_numbers;;) {
      const jit::Guards guards(argument, nullptr, as_numbers);
      try {
        jit::Recording r = jit::record(f, "trace", guards, {.who = "trace: a graph has no elements: "}, argument, a...);
        for (int& donated : r.graph.donated) donated = -1;  // no input memory is taken over: calls may pass anything
        return Traced<R>(static_cast<jit::Recording&&>(r));
      } catch (const SizesNeeded& e) {
        if (guards.sizes.is_constant()) throw;
        as_numbers = e.as_numbers;
      }
    }
  }, own);
}

}  // namespace tt
