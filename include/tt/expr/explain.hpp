// Inspection of a fused function: the number of kernels, their ops, and the reason why each kernel begins.
//   static_assert(tt::kernels<tt::Array<float, 64, 128>, tt::Array<float, 128>>(f) == 1);
//   std::cout << tt::explain<decltype(w), decltype(x)>(step);
#pragma once
#include "tt/expr/fuse.hpp"
#include "tt/graph/print.hpp"
#include "tt/version.hpp"

namespace tt {
namespace detail {

template <class F>
struct function_of { using type = F; };
template <class F, class Isa>
struct function_of<Fused<F, Isa>> {
  using type = F;
};

template <class F, class... A>
using program_for = typename Fused<typename function_of<F>::type>::template ProgramFor<A&...>;

/// The reason why kernel `k` does not continue the kernel before it.
constexpr const char* reason(const Kernel& k, bool transposes, bool first) {
  switch (k.kind) {
    case KernelKind::matmul: return "a matrix product begins a kernel; what follows it fuses in";
    case KernelKind::cols: return "sums over rows need every row first";
    case KernelKind::rows: break;
  }
  if (transposes) return "exchanges axes in squares: transposed rows are materialised";
  return k.sweeps > 1 ? "reductions along its rows, kept in cache between sweeps"
         : first      ? "one pass over its elements"
                      : "its shape fits no earlier kernel";
}

template <class P>
Text explain_plan(const P& plan) {
  Text t;
  t << plan.kernels.size() << (plan.kernels.size() == 1 ? " kernel from " : " kernels from ")
    << plan.nodes << " nodes, ";
  bool inside = false;
  for (const Buffer& b : plan.buffers) inside = inside || b.external < 0;
  if (plan.arena < 0 && inside) t << "arena sized at run time\n";
  else t << (inside ? plan.arena : 0) << " bytes of arena\n";
  for (int j = 0; j < plan.kernels.size(); ++j) {
    const Kernel& k = plan.kernels[j];
    t << "  " << j << ' ' << name(k.kind);
    t.pad_to(12) << k.rows << " x " << k.cols;
    if (k.kind != KernelKind::rows) t << " over " << k.inner;
    t.pad_to(32);
    bool first = true;
    for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i) {
      const Instruction& x = plan.instructions[i];
      if (x.op == Op::load || x.op == Op::store || x.op == Op::constant ||
          x.op == Op::accumulator)
        continue;
      t << (first ? "" : " ") << (x.op == Op::call ? opaque_name(x.attribute) : name(x.op));
      first = false;
    }
    if (k.kind == KernelKind::matmul) t << (first ? "matmul" : " after matmul");
    else if (first) t << "copy";
    t << "\n    " << reason(k, is_transposition(k, plan.instructions.begin(), accesses_of(plan)), &k == plan.kernels.begin());
    if (k.code != j) t << "; code of kernel " << k.code;
    if (k.where.line) t << "; from " << k.where.file << ':' << k.where.line;
    t << '\n';
  }
  return t;
}

}  // namespace detail

/// The number of kernels of a function for these argument types. A constant expression.
template <class... A, class F>
constexpr int kernels(F) {
  using H = Compiled<detail::program_for<F, A...>>;
  return detail::no_mistake<H>() ? H::plan.kernels.size() : -1;
}
/// The bytes of scratch memory of a call; -1 if they depend on run-time extents. A constant.
template <class... A, class F>
constexpr std::int64_t arena_bytes(F) {
  using H = Compiled<detail::program_for<F, A...>>;
  return detail::no_mistake<H>() ? H::plan.arena : -1;
}
/// The recorded graph for these argument types: editable, printable, to_dot.
template <class... A, class F>
constexpr Graph graph(F) {
  return detail::program_for<F, A...>::record();
}
/// A line per kernel with its ops, and the reason why it begins.
template <class... A, class F>
Text explain(F) {
  using H = Compiled<detail::program_for<F, A...>>;
  if constexpr (detail::no_mistake<H>()) return detail::explain_plan(H::plan);
  else return Text();
}

/// The same for an expression, which is not evaluated: explain(tanh(a * b + c)).
template <class Fn, class... Operands>
Text explain(const Expression<Fn, Operands...>& x) {
  using Result = decltype(x.eval());
  using H = Compiled<detail::Program<detail::ExpressionModel<Expression<Fn, Operands...>, !Result::is_inline>>>;
  if constexpr (detail::no_mistake<H>()) return detail::explain_plan(H::plan);
  else return Text();
}

inline namespace TT_ISA {
/// How this file is built: library version, instruction set, multiply-add.
inline Text config() {
  Text t;
  t << "tt " << version << ", SIMD: " << backend::isa_name << " (" << backend::lanes
    << " floats), multiply-add: " << (TT_HAS_FMA ? "fused" : "two roundings");
#if !defined(__OPTIMIZE__)
  t << "\nbuilt without optimisation: add -O2";
#endif
  if (backend::lanes <= 4) t << "\nbuilt for " << backend::isa_name << ": add -O2 -march=native";
  return t;
}
}  // namespace TT_ISA

}  // namespace tt
