// Kernels of eager ops that tt::compiled brings with it, compiled from emitted C when the library was built (src/emitter/library_kernels.cpp, cmake/tt_library_kernels.cmake):
// what is softmax, a norm, a loss or a gradient of these runs as fast as if the program had compiled it. They are found by their text, so they are what the
// emitter would write now, with the bits of the interpreter. A program without tt::compiled has none.
#pragma once
#include "tt/plan/plan.hpp"

/// One of them; lists of them, in the order of their hashes, are C text that src/emitter/library_kernels.cpp writes.
extern "C" struct tt_library_kernel {
  unsigned long long high, low;  ///< of its text, see ContentHash
  void* function;
};

namespace tt::cpu {

/// A compiled function (see KernelFunction) of a plan's kernel for the processor at hand, or null. It is not given the values of the plan's symbols but
/// those of further `sizes`, which this adds.
TT_INLINE void* find_library_kernel(const Plan& plan, int kernel, Vec<Extent>& sizes);
/// Are there any?
TT_INLINE bool has_library_kernels();

}  // namespace tt::cpu

#if TT_DEFINES(cpu)
#if defined(TT_LIBRARY_KERNELS)
#include <algorithm>
#include <span>

#include "tt/backends/cpu/emit_c.hpp"
#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/backends/disk_cache.hpp"
#include "tt/plan/kernel_alone.hpp"

extern "C" {
extern const struct tt_library_kernel tt_library_kernels_own[];
extern const int tt_library_kernel_count_own;
#if defined(TT_AVX2_KERNELS)
extern const struct tt_library_kernel tt_library_kernels_avx2[];
extern const int tt_library_kernel_count_avx2;
#endif
#if defined(TT_AVX512_KERNELS)
extern const struct tt_library_kernel tt_library_kernels_avx512[];
extern const int tt_library_kernel_count_avx512;
#endif
}

namespace tt::cpu {

inline std::span<const tt_library_kernel> library_kernels() {
  const auto list = [](const tt_library_kernel* first, int count) { return std::span(first, static_cast<std::size_t>(count)); };
#if defined(TT_AVX512_KERNELS)
  if (&tile_kernels() == &avx512_kernels()) return list(tt_library_kernels_avx512, tt_library_kernel_count_avx512);
#endif
#if defined(TT_AVX2_KERNELS)
  if (&tile_kernels() == &avx2_kernels()) return list(tt_library_kernels_avx2, tt_library_kernel_count_avx2);
#endif
  return list(tt_library_kernels_own, tt_library_kernel_count_own);
}
TT_INLINE bool has_library_kernels() { return !library_kernels().empty(); }
TT_INLINE void* find_library_kernel(const Plan& plan, int kernel, Vec<Extent>& sizes) {
  if (!has_text_of_its_own(plan, plan.kernels[kernel])) return nullptr;
  const KernelAlone alone(plan, kernel);
  const ContentHash hash = ContentHash::of(emit_c(alone.plan, KernelAlone::name));
  const auto list = library_kernels();
  const auto hash_of = [](const tt_library_kernel& k) { return ContentHash{k.high, k.low}; };
  const auto at = std::lower_bound(list.begin(), list.end(), hash, [&](const tt_library_kernel& k, const ContentHash& h) { return hash_of(k) < h; });
  if (at == list.end() || hash_of(*at) != hash) return nullptr;
  sizes.append(alone.sizes.begin(), alone.sizes.size());
  return at->function;
}

}  // namespace tt::cpu
#else
namespace tt::cpu {
TT_INLINE bool has_library_kernels() { return false; }
TT_INLINE void* find_library_kernel(const Plan&, int, Vec<Extent>&) { return nullptr; }
}  // namespace tt::cpu
#endif
#endif
