// Options of compile, and how a graph becomes an Executable: through a backend, or as tt's own program, whose kernels are compiled in the
// background unless `wait`.
//   tt::compile(f, {.name = "step", .wait = true})
#pragma once
#include "tt/core/kept_text.hpp"
#include "tt/jit/backend.hpp"
#include "tt/jit/code_cache.hpp"

namespace tt {

struct CompileOptions {
  KeptText name = "compiled";     ///< in listings, errors and emitted kernels
  int tier = 1;                   ///< 0: the interpreter only; 1: compiled in the background, then swapped in
  bool wait = false;              ///< the first call waits for compiled kernels
  KeptText cache_dir = nullptr;   ///< of compiled kernels; null: see TierOptions
  bool fullgraph = false;         ///< a graph break is an error
  BackendChoice backend = {};     ///< runs the graphs: a name, or a Backend
  CompileMode mode = CompileMode::default_mode;  ///< reduce_overhead: CUDA graphs; see CompileMode
  Numerics numerics = Numerics::exact;           ///< fast: fewer roundings to 16-bit floats; see Numerics
};

namespace jit {

/// Hands the graph to the backend; tt's own requests compiled kernels. `taped`: the result will be on the tape, so it has two halves,
/// forward and backward. `sizes`: of the symbols in this call. `segment`: results may be changed before backward.
TT_INLINE Executable make_executable(const Graph& graph, const Arguments& examples, const SymbolValues& sizes, bool taped, bool segment,
                                     const CompileOptions& options);
/// The kernels of `e`, one a line.
TT_INLINE void list_kernels(Text& t, const Executable& e, const CompileOptions& options);

#if TT_DEFINES(jit)

/// Requests compiled code for the parts of a function, in the background unless `wait`.
inline void request_kernels(const GraphFunction& f, const char* name, const CompileOptions& options, bool wait) {
  CodeCache& cache = CodeCache::get();
  const std::vector<const GraphFunction*> parts = f.parts();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    Text own(name);
    if (k > 0) own << '_' << static_cast<int>(k + 1);
    cache.request(parts[k]->share_program(), own.c_str(), {.tier = options.tier, .wait = wait && parts.size() == 1, .cache_dir = options.cache_dir});
  }
  if (wait && parts.size() > 1) cache.wait();
}

TT_INLINE Executable make_executable(const Graph& graph, const Arguments& examples, const SymbolValues& sizes, bool taped, bool segment,
                                     const CompileOptions& options) {
  Executable e{std::make_shared<const GraphFunction>(graph, ProgramOptions{.mode = options.mode, .numerics = options.numerics}, segment), {}};
  if (const Backend backend = options.backend.find()) {
    std::vector<ExampleInput> inputs;
    for (int k = 0; k < graph.inputs.size(); ++k) {
      const Node& in = graph[graph.inputs[k]];
      if (k >= examples.count()) {  // a number that varies
        inputs.push_back({in.dtype, in.shape, {}, {}, false});
        continue;
      }
      const detail::TensorImpl& t = examples[k].impl();
      ExampleInput x{t.dtype, t.shape, {}, t.device, t.requires_grad};
      for (int d = 0; d < t.shape.rank; ++d) x.strides.push_back(t.stride[d]);
      inputs.push_back(x);
    }
    e.by_backend = backend(of_dense_inputs(canonical(graph)), inputs);
    if (!e.by_backend) TT_THROW(Error(Text("tt::compile: ") << options.name << ": the backend gave nothing to call."));
    return e;
  }
  if (taped) e.joint = e.function->joint(autograd::required_gradients(examples.tensor.data(), examples.count()), sizes);
  for (int k = 0; k < examples.count(); ++k)
    if (has_programs(examples[k].device().type)) return e;  // the device compiles its kernels itself
  if (e.forward().kernels() == 0) return e;
  const bool two = e.joint && options.tier > 0;
  request_kernels(e.forward(), options.name.text, options, options.wait && !two);
  if (!two) return e;
  const auto request = [options](const GraphFunction& f) { request_kernels(f, (Text(options.name) << "_backward").c_str(), options, false); };
  request(*e.joint->first.function);
  if (options.wait) CodeCache::get().wait();
  e.joint->on_new_backward = request;
  return e;
}
inline void list_kernels(Text& t, const GraphFunction& f) {
  f.each_step([&](const GraphFunction* part, const char* external) {
    if (!part) {
      t << "     call of " << external << '\n';
      return;
    }
    for (const Kernel& kernel : part->program().plan().kernels) {
      t << "     " << name(kernel.kind) << ' ' << kernel.rows << " x " << kernel.cols;
      if (kernel.where.line) t << "   " << kernel.where.file << ':' << kernel.where.line;
      t << '\n';
    }
  });
}
inline void list_backward(Text& t, const GraphFunction::Joint& joint, int results) {
  int given = 0;
  for (int k : joint.first.saved) given += k < results ? 1 : 0;
  const int saved = joint.first.saved.size(), inputs = joint.first.inputs.size();
  char size[32];
  if (joint.saved_bytes < 1000) std::snprintf(size, sizeof size, "%d B", static_cast<int>(joint.saved_bytes));
  else if (joint.saved_bytes < 1000000) std::snprintf(size, sizeof size, "%.1f KB", static_cast<double>(joint.saved_bytes) * 1e-3);
  else std::snprintf(size, sizeof size, "%.1f MB", static_cast<double>(joint.saved_bytes) * 1e-6);
  t << "     backward: " << saved << (saved == 1 ? " value" : " values") << " saved (" << size << "), " << given << " of them "
    << (given == 1 ? "a result; " : "results; ") << inputs << (inputs == 1 ? " input read; " : " inputs read; ") << joint.recomputed
    << " of " << joint.operations << " operations recomputed";
  if (const auto [tier0, tier1] = joint.first.function->calls(); tier0 + tier1 > 0)  // on the CPU
    t << "; called " << tier0 + tier1 << " times, " << tier1 << " of them on tier 1";
  t << '\n';
  list_kernels(t, *joint.first.function);
  for (const auto* b = joint.others.load(std::memory_order_acquire); b; b = b->next) {
    const int kernels = b->function->kernels();
    bool second = false;
    for (int k : b->seeded) second = second || k >= results;
    t << "     " << (second ? "second backward" : "backward of fewer results") << ", of " << kernels << (kernels == 1 ? " kernel\n" : " kernels\n");
  }
}
/// Matrix products of bf16 operands, by the stored dtype of the left operand.
inline int bf16_products(const GraphFunction& f) {
  int n = 0;
  f.each_step([&](const GraphFunction* part, const char*) {
    if (!part) return;
    const Plan& plan = part->program().plan();
    for (const Kernel& k : plan.kernels)
      n += k.kind == KernelKind::matmul && plan.buffers[plan.bindings[k.first_binding + plan.accesses[k.a].buffer]].dtype == DType::bf16;
  });
  return n;
}
TT_INLINE void list_kernels(Text& t, const Executable& e, const CompileOptions& options) {
  if (e.by_backend) {
    t << "     run by the backend '" << options.backend.name() << "'" << (options.numerics == Numerics::fast ? ", on which numerics fast has no effect" : "") << '\n';
    return;
  }
  list_kernels(t, e.forward());
  if (e.joint) list_backward(t, *e.joint, e.function->outputs());
  Text said;
  e.function->report(said, "     ");
  if (options.mode != CompileMode::default_mode)
    t << "     mode " << name(options.mode) << (said.empty() ? ": has no effect on the CPU\n" : ":\n");
  t << said;
  if (options.numerics == Numerics::fast) {
    const int dropped = e.forward().dropped_roundings() + (e.joint ? e.joint->first.function->dropped_roundings() : 0);
    t << "     numerics fast: " << dropped << (dropped == 1 ? " rounding" : " roundings") << " to 16 bits left out";
    if (const int products = bf16_products(e.forward())) t << "; " << products << (products == 1 ? " product" : " products") << " of bf16 by the processor's instruction";
    t << '\n';
  }
}

#endif

}  // namespace jit
}  // namespace tt
