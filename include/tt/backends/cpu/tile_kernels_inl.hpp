// Definitions of tile_kernels.hpp: the table for this file's compiler flags, and the choice of the table that a program uses.
#pragma once
#include <cstdlib>

#include "tt/backends/cpu/tile_functions_inl.hpp"
#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/backends/cpu/tile_products.hpp"
#include "tt/backends/cpu/tile_reductions.hpp"

namespace tt::cpu {

inline namespace TT_ISA {
namespace detail {

inline void transpose_any(int size, const void* from, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t cols, void* to,
                          std::int64_t to_row) {
  const auto run = [&]<class T>(T) { transpose_into(static_cast<const T*>(from), row, column, rows, cols, static_cast<T*>(to), to_row); };
  switch (size) {
    case 1: return run(std::uint8_t{});
    case 2: return run(std::int16_t{});
    case 4: return run(std::int32_t{});
    default: return run(std::int64_t{});
  }
}
inline constexpr TileKernels own_kernels{TT_ISA_NAME, lanes, &tile_function, &reduction_tiles, &multiply, &transpose_any, &has_pair_instruction<float>};

#if defined(TT_AVX2_KERNELS) || defined(TT_AVX512_KERNELS)
/// The instruction sets that TT_CPU_CAPABILITY allows: 0 default, 1 avx2, 2 avx512.
inline int allowed_capability() {
  const char* const asked = std::getenv("TT_CPU_CAPABILITY");
  constexpr const char* names[] = {"default", "avx2", "avx512"};
  if (!asked || !*asked) return 2;
  for (int k = 0; k < 3; ++k)
    if (std::strcmp(asked, names[k]) == 0) return k;
  TT_THROW(Error(Text("tt: TT_CPU_CAPABILITY is \"") << asked << "\": it can be default, avx2 or avx512."));
}
inline const TileKernels& best_kernels() {
  [[maybe_unused]] const int allowed = allowed_capability();
#if defined(TT_AVX512_KERNELS)
  if (allowed >= 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return avx512_kernels();
#endif
#if defined(TT_AVX2_KERNELS)
  if (allowed >= 1 && __builtin_cpu_supports("avx2")) return avx2_kernels();
#endif
  return own_kernels;
}
#endif

}  // namespace detail

#if !defined(TT_TILE_KERNELS)  // a file that defines a further table makes no choice
TT_INLINE const TileKernels& tile_kernels() {
#if defined(TT_AVX2_KERNELS) || defined(TT_AVX512_KERNELS)
  static const TileKernels& best = detail::best_kernels();
  return best;
#else
  return detail::own_kernels;
#endif
}
#endif

}  // namespace TT_ISA
}  // namespace tt::cpu
