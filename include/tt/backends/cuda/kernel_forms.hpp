// How the threads of a device share the work of a kernel: the rules that emitted text, static kernels and the launch planner have in
// common.
#pragma once
#include "tt/plan/split.hpp"

namespace tt::cuda {

/// How the threads of a device share a kernel's work.
enum class KernelForm : unsigned char { elements, rows, columns, matmul };
inline constexpr int vector_elements = 4;  ///< elements of a thread in an elementwise kernel
inline constexpr int matmul_small = 4, matmul_large = 8;  ///< square roots of the number of sums that a thread computes

/// The threads of the largest block that a kernel is launched with, which bounds the registers of a thread. `parts`: for the launch
/// that computes partial results.
constexpr int most_threads(KernelForm form, bool parts) {
  if (form == KernelForm::elements || form == KernelForm::matmul) return 256;
  return parts ? 128 : 512;
}

template <class AnyPlan>
constexpr bool reduces(const AnyPlan& plan, const Kernel& k) {
  for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i)
    if (is_reduction(plan.instructions[i].op)) return true;
  return false;
}
template <class AnyPlan>
constexpr KernelForm form_of(const AnyPlan& plan, const Kernel& k) {
  if (k.kind == KernelKind::matmul) return KernelForm::matmul;
  if (k.kind == KernelKind::cols) return KernelForm::columns;
  return reduces(plan, k) || !columns_divide(plan, k) ? KernelForm::rows : KernelForm::elements;
}
/// Can the kernel run as a launch for partial results and a second launch that combines them?
template <class AnyPlan>
constexpr bool has_parts(const AnyPlan& plan, const Kernel& k) {
  return k.kind == KernelKind::cols || (k.kind == KernelKind::rows && k.sweeps == 1 && reduces(plan, k));
}

/// For a product of windows: do all offsets in them fit an int?
constexpr bool windows_are_narrow(const Kernel& k, const Access& windows, const Term* terms) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (!k.inner.is_constant() || !k.cols.is_constant() || k.inner.code >= most || k.cols.code >= most) return false;
  const SymbolValues none;
  return windows.row_offset(terms, k.inner.code - 1, none) + windows.column_offset(terms, k.cols.code - 1, none) < most;
}
/// Are runs of consecutive elements longer down the columns than along the rows? Neighbouring threads should read neighbouring elements.
/// A symbolic extent is the size of images, so it counts as long.
constexpr bool windows_lie_down(const Kernel& k, const Access& windows, const Term* terms) {
  const auto run = [](const Term& innermost, Extent all) {
    const Extent n = innermost.modulus == Extent(0) ? all : innermost.modulus;
    return n.is_constant() ? n.code : INT64_MAX;
  };
  return run(windows.term(terms, 0), k.inner) > run(windows.term(terms, windows.term_count), k.cols);
}

/// The buffers that may be passed to kernels by value: external operands of one element that are never written (no output shares
/// their memory), and that are among the first 32 operands of every kernel that has them.
inline Vec<char> may_be_values(const Plan& plan) {
  Vec<char> may;
  for (const Buffer& b : plan.buffers) may.push_back(b.external >= 0 && b.size == Extent(1));
  for (const Kernel& k : plan.kernels) {
    for (int b = 32; b < k.bindings; ++b) may[plan.bindings[k.first_binding + b]] = 0;
    for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i) {
      const Instruction& x = plan.instructions[i];
      if (x.op != Op::store) continue;
      const int written = plan.buffers[plan.bindings[k.first_binding + plan.accesses[x.access].buffer]].external;
      for (int b = 0; b < plan.buffers.size(); ++b)
        if (written >= 0 && plan.buffers[b].external == written) may[b] = 0;
    }
  }
  for (bool changed = true; changed;) {  // kernels of one code share a text: an operand is a value in all of them or in none
    changed = false;
    for (int k = 0; k < plan.kernels.size(); ++k) {
      const Kernel &first = plan.kernels[plan.kernels[k].code], &other = plan.kernels[k];
      for (int b = 0; b < other.bindings && b < first.bindings; ++b) {
        char &x = may[plan.bindings[first.first_binding + b]], &y = may[plan.bindings[other.first_binding + b]];
        changed = changed || x != y;
        x = y = x && y;
      }
    }
  }
  return may;
}

}  // namespace tt::cuda
