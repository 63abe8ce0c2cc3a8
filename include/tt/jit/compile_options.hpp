// What compile can be told, and how a graph becomes something that runs.
#pragma once
#include "tt/jit/backend.hpp"
#include "tt/jit/code_cache.hpp"

namespace tt {

struct CompileOptions {
  const char* name = "compiled";  ///< in listings, errors and emitted kernels
  int tier = 1;                   ///< 0: the interpreter only; 1: compiled in the background, then swapped in
  bool wait = false;              ///< the first call waits for that
  const char* cache_dir = nullptr;  ///< of compiled kernels; null: see TierOptions
  bool fullgraph = false;         ///< a graph break is an error
  BackendChoice backend = {};     ///< what runs the graphs: a name, or a Backend
  CompileMode mode = CompileMode::default_mode;  ///< reduce_overhead: CUDA graphs; see CompileMode
};

namespace jit {

/// Hands the graph to the backend; tt's own asks for compiled kernels.
TT_INLINE Executable make_executable(const Graph& graph, const Arguments& examples, const CompileOptions& options);
/// Its kernels, one a line.
TT_INLINE void list_kernels(Text& t, const Executable& e, const CompileOptions& options);

#if !defined(TT_COMPILED) || defined(TT_BUILD)

TT_INLINE Executable make_executable(const Graph& graph, const Arguments& examples, const CompileOptions& options) {
  Executable e{std::make_shared<const GraphFunction>(graph, ProgramOptions{.mode = options.mode}), {}};
  if (const Backend backend = options.backend.find()) {
    std::vector<ExampleInput> inputs;
    for (int k = 0; k < graph.inputs.size(); ++k) {
      const Node& in = graph[graph.inputs[k]];
      if (k >= examples.count) {  // a number
        inputs.push_back({in.dtype, in.shape, {}, {}, false});
        continue;
      }
      const detail::TensorImpl& t = examples[k].impl();
      ExampleInput x{t.dtype, t.shape, {}, t.device, t.requires_grad};
      for (int d = 0; d < t.shape.rank; ++d) x.strides.push_back(t.stride[d]);
      inputs.push_back(x);
    }
    e.by_backend = backend(of_dense_inputs(graph), inputs);
    if (!e.by_backend) TT_THROW(Error(Text("tt::compile: ") << options.name << ": the backend gave nothing to call."));
    return e;
  }
  for (int k = 0; k < examples.count; ++k)
    if (program_maker(examples[k].device().type)) return e;  // the device compiles its kernels itself
  CodeCache::get().request(e.function->share_program(), options.name,
                           {.tier = options.tier, .wait = options.wait, .cache_dir = options.cache_dir});
  return e;
}
TT_INLINE void list_kernels(Text& t, const Executable& e, const CompileOptions& options) {
  if (e.by_backend) {
    t << "     run by the backend '" << options.backend.name() << "'\n";
    return;
  }
  for (const Kernel& kernel : e.function->program().plan().kernels) {
    t << "     " << name(kernel.kind) << ' ' << kernel.rows << " x " << kernel.cols;
    if (kernel.where.line) t << "   " << kernel.where.file << ':' << kernel.where.line;
    t << '\n';
  }
  Text said;
  e.function->report(said, "     ");
  if (options.mode != CompileMode::default_mode)
    t << "     mode " << name(options.mode) << (said.empty() ? ": has no effect on the CPU\n" : ":\n");
  t << said;
}

#endif

}  // namespace jit
}  // namespace tt
