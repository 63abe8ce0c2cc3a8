// Kernels of eager ops that are part of tt::compiled: emitted C, compiled when the library was built (src/emitter/library_kernels.cpp,
// cmake/tt_library_kernels.cmake), so that softmax, norms, losses and their gradients run as fast as compiled functions. A kernel is
// found by the hash of its text, so it equals the text the emitter would write now, with the bits of the interpreter. A program has the
// kernels of the ops that it names, or all of them if it calls ops by name; a program without tt::compiled has none.
#pragma once
#include <atomic>
#include <cstdint>

#include "tt/plan/plan.hpp"

namespace tt::cpu {

/// One compiled kernel.
struct LibraryKernel {
  std::uint64_t high, low;  ///< hash of its text, see ContentHash
  void* function;
};
/// The kernels of an op, for each instruction set that the library was built for, sorted by hash. Defined in C++ text that
/// src/emitter/library_kernels.cpp writes.
struct LibraryKernels {
  struct List {
    const LibraryKernel* first = nullptr;
    int count = 0;
  };
  List own, avx2, avx512;
  std::atomic<bool> used = false;
  const LibraryKernels* next = nullptr;  ///< the list that was put to use before this one

  /// Makes find_library_kernel() search this list too.
  TT_INLINE void use();
};
/// Puts the kernels of an op to use. Weak: only a library that has such kernels defines it, for ops that have some.
template <class F>
[[gnu::weak]] void use_library_kernels();
template <Op K>
[[gnu::weak]] void use_library_kernels();

/// Defined, as true, in the file of the tables. A weak function alone makes no linker take that file from an archive; the reference to
/// this constant in has_library_kernels() does.
extern const bool library_has_kernels;
/// Does the library have any such kernels? A program links only those of its ops.
TT_INLINE bool has_library_kernels();
/// A compiled function (see KernelFunction) of a plan's kernel for the present processor, or null. Its symbols are not the plan's:
/// they are values of `sizes`, to which this appends the kernel's.
TT_INLINE void* find_library_kernel(const Plan& plan, int kernel, Vec<Extent>& sizes);

}  // namespace tt::cpu

#if TT_DEFINES(cpu)
#if defined(TT_LIBRARY_KERNELS)
#include <algorithm>
#include <span>

#include "tt/backends/cpu/emit_c.hpp"
#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/backends/disk_cache.hpp"
#include "tt/plan/kernel_alone.hpp"

namespace tt::cpu {

inline constinit std::atomic<const LibraryKernels*> used_library_kernels = nullptr;

TT_INLINE void LibraryKernels::use() {
  if (used.exchange(true)) return;
  next = used_library_kernels.load();
  while (!used_library_kernels.compare_exchange_weak(next, this)) {
  }
}
TT_INLINE bool has_library_kernels() { return library_has_kernels; }

inline std::span<const LibraryKernel> for_this_processor(const LibraryKernels& kernels) {
  const LibraryKernels::List* list = &kernels.own;
#if defined(TT_AVX512_KERNELS)
  if (&tile_kernels() == &avx512_kernels()) list = &kernels.avx512;
#endif
#if defined(TT_AVX2_KERNELS)
  if (&tile_kernels() == &avx2_kernels()) list = &kernels.avx2;
#endif
  return {list->first, static_cast<std::size_t>(list->count)};
}
TT_INLINE void* find_library_kernel(const Plan& plan, int kernel, Vec<Extent>& sizes) {
  const LibraryKernels* kernels = used_library_kernels.load();
  if (!kernels || !has_text_of_its_own(plan, plan.kernels[kernel])) return nullptr;
  const KernelAlone alone(plan, kernel);
  const ContentHash hash = ContentHash::of(emit_c(alone.plan, KernelAlone::name));
  const auto hash_of = [](const LibraryKernel& k) { return ContentHash{k.high, k.low}; };
  for (; kernels; kernels = kernels->next) {
    const auto list = for_this_processor(*kernels);
    const auto at = std::lower_bound(list.begin(), list.end(), hash, [&](const LibraryKernel& k, const ContentHash& h) { return hash_of(k) < h; });
    if (at == list.end() || hash_of(*at) != hash) continue;
    sizes.append(alone.sizes.begin(), alone.sizes.size());
    return at->function;
  }
  return nullptr;
}

}  // namespace tt::cpu
#else
namespace tt::cpu {
TT_INLINE void LibraryKernels::use() {}
TT_INLINE bool has_library_kernels() { return false; }
TT_INLINE void* find_library_kernel(const Plan&, int, Vec<Extent>&) { return nullptr; }
}  // namespace tt::cpu
#endif
#endif
