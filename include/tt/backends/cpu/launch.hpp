// Calls a static kernel and divides it among threads. Nothing here depends on the plan, so that a file pays for this code once:
// a kernel is a function of its operands, and the data needed to divide it is a constant.
#pragma once
#include "tt/backends/cpu/thread_pool.hpp"
#include "tt/core/storage.hpp"
#include "tt/plan/split.hpp"

namespace tt::cpu {
inline namespace TT_ISA {

/// A kernel's arguments: its operands by local number, the symbols, and the range that this call computes.
struct KernelCall {
  void* const* operand;
  const SymbolValues* symbols;
  Range range{};
};
inline constexpr Range whole_kernel{};
using StaticFunction = void (*)(const KernelCall&);

/// An operand of which every thread needs its own copy.
struct ScratchOperand {
  int number = 0;
  DType dtype = DType::f32;
  Extent size = 1;
  std::size_t bytes(const SymbolValues& symbols) const {
    return (static_cast<std::size_t>(size.value(symbols) * size_of(dtype)) + 2 * storage_alignment - 1) /
           storage_alignment * storage_alignment;
  }
};
/// The data needed to divide a kernel: its extents and scratch operands.
struct DivisibleKernel {
  KernelKind kind = KernelKind::rows;
  bool columns_divide = true;
  Extent batch = 1, rows = 1, cols = 1, inner = 1;
  int operands = 0, scratch_count = 0;
  const ScratchOperand* scratch = nullptr;

  constexpr KernelExtents extents(const SymbolValues& s) const {
    return {kind, batch.value(s), rows.value(s), cols.value(s), inner.value(s), columns_divide};
  }
};

namespace detail {

/// Could kernel K be worth dividing? If all of its extents are constant and small, no code for dividing is generated.
template <class AnyPlan>
constexpr bool can_divide(const AnyPlan& plan, int K) {
  const Kernel& k = plan.kernels[K];
  if (!k.batch.is_constant() || !k.rows.is_constant() || !k.cols.is_constant() || !k.inner.is_constant()) return true;
  return split_kernel({k.kind, k.batch.code, k.rows.code, k.cols.code, k.inner.code, columns_divide(plan, k)}, 2)
             .parts > 1;
}
template <int Count>
struct ScratchList {
  ScratchOperand item[Count > 0 ? Count : 1] = {};
};
template <class AnyPlan>
constexpr int count_scratch(const AnyPlan& plan, int J) {
  int n = 0;
  for (int i = 0; i < plan.kernels[J].bindings; ++i)
    n += plan.buffers[plan.bindings[plan.kernels[J].first_binding + i]].scratch;
  return n;
}
template <int Count, class AnyPlan>
constexpr ScratchList<Count> scratch_operands(const AnyPlan& plan, int J) {
  ScratchList<Count> list;
  int n = 0;
  for (int i = 0; i < plan.kernels[J].bindings; ++i) {
    const Buffer& b = plan.buffers[plan.bindings[plan.kernels[J].first_binding + i]];
    if (b.scratch) list.item[n++] = {i, b.dtype, b.size};
  }
  return list;
}
template <class AnyPlan>
constexpr DivisibleKernel divisible(const AnyPlan& plan, int J, const ScratchOperand* scratch, int count) {
  const Kernel& k = plan.kernels[J];
  return {k.kind, columns_divide(plan, k), k.batch, k.rows, k.cols, k.inner, k.bindings, count, scratch};
}
/// The address of a plan's buffer in this call: an argument, or in the arena at a constant offset or at one computed at run time.
template <int External, std::int64_t Offset, int Number>
struct PlacedBuffer {
  static TT_ALWAYS_INLINE void* address([[maybe_unused]] std::byte* arena, [[maybe_unused]] void* const* external,
                                        [[maybe_unused]] const std::int64_t* offsets) {
    if constexpr (External >= 0) return external[External];
    else if constexpr (Offset >= 0) return arena + Offset;
    else return arena + offsets[Number];
  }
};

struct DividedCall {
  StaticFunction function;
  const DivisibleKernel& kernel;
  const KernelCall& call;
  Split split;

  static void run_part(void* context, int part) {
    const DividedCall& d = *static_cast<const DividedCall*>(context);
    KernelCall call = d.call;
    call.range = d.split.part(part);
    Vec<void*> own;
    if (d.kernel.scratch_count > 0 && ThreadPool::in_worker()) {  // the calling thread uses the arena's scratch
      own.append(call.operand, d.kernel.operands);
      std::size_t bytes = 0;
      for (int k = 0; k < d.kernel.scratch_count; ++k) bytes += d.kernel.scratch[k].bytes(*call.symbols);
      std::byte* memory = Scratch::of_this_thread().get(bytes);
      for (int k = 0; k < d.kernel.scratch_count; ++k) {
        own[d.kernel.scratch[k].number] = memory;
        memory += d.kernel.scratch[k].bytes(*call.symbols);
      }
      call.operand = own.begin();
    }
    d.function(call);
  }
};

}  // namespace detail

/// Calls a kernel, on several threads where that is worthwhile.
TT_NOINLINE inline void run_divided(StaticFunction function, const DivisibleKernel& kernel,
                                    const KernelCall& call) {
  detail::DividedCall d{function, kernel, call, split_kernel(kernel.extents(*call.symbols), array_threads())};
  if (d.split.parts > 1) ThreadPool::instance().run(d.split.parts, &detail::DividedCall::run_part, &d);
  else function(call);
}

}  // namespace TT_ISA
}  // namespace tt::cpu
