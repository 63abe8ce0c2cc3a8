// Matrix products of a static plan on a device: tiles of sums with their epilogue, or the epilogue alone after a library's product.
#pragma once
#include "tt/backends/cuda/static_step.hpp"

extern __shared__ __align__(16) char tt_shared_memory[];

namespace tt::cuda {
namespace detail {

/// The offset of element (inner, column) of b in its matrix: windows are read in place.
template <class H, int K>
__device__ __forceinline__ i64 right_side_offset(const OperandsOf<H, K>& a, i64 inner, i64 column) {
  constexpr Kernel k = H::plan.kernels[K];
  if constexpr (k.windows < 0) {
    return inner * extent<k.b_inner.code>(a) + column * extent<k.b_column.code>(a);
  } else {
    using Index = std::conditional_t<windows_are_narrow(k, H::plan.accesses[k.windows], H::plan.terms.begin()), int, i64>;
    return row_offset<H, k.windows>(a, static_cast<Index>(inner)) + column_offset<H, k.windows>(a, static_cast<Index>(column));
  }
}
/// Are columns of b contiguous?
template <class H, int K>
__device__ __forceinline__ bool right_side_lies_down(const OperandsOf<H, K>& a) {
  constexpr Kernel k = H::plan.kernels[K];
  if constexpr (k.windows < 0) return extent<k.b_inner.code>(a) == 1;
  else return windows_lie_down(k, H::plan.accesses[k.windows], H::plan.terms.begin());
}
/// 256 threads compute a tile of (16 S) x (16 S), S x S sums each.
template <class H, int K, int S>
__device__ __forceinline__ void product(const OperandsOf<H, K>& a) {
  constexpr Kernel k = H::plan.kernels[K];
  using T = element_t<k.dtype>;
  constexpr int side = 16 * S, pitch = side + 1, depth = 16;  // pitch: no two of 16 neighbours in one bank
  T* const as = reinterpret_cast<T*>(tt_shared_memory);
  T* const bs = as + depth * pitch;
  const i64 rows = extent<k.rows.code>(a), cols = extent<k.cols.code>(a), inner = extent<k.inner.code>(a);
  const i64 a_row = extent<k.a_row.code>(a), a_inner = extent<k.a_inner.code>(a);
  const bool b_lies_down = right_side_lies_down<H, K>(a);
  const i64 down = (rows + side - 1) / side, across = (cols + side - 1) / side;
  const int thread = static_cast<int>(threadIdx.x), tx = thread % 16, ty = thread / 16;
  const Memory<H, K> m = given_memory<H, K>(a);
  for (i64 unit = blockIdx.x; unit < extent<k.batch.code>(a) * down * across; unit += gridDim.x) {
    const i64 q = unit / across / down, row0 = unit / across % down * side, col0 = unit % across * side;
    const T* const x = static_cast<const T*>(a.p[H::plan.accesses[k.a].buffer]) + row_offset<H, k.a>(a, q);
    const T* const y = static_cast<const T*>(a.p[H::plan.accesses[k.b].buffer]) + row_offset<H, k.b>(a, q);
    T sum[S][S];
#pragma unroll
    for (int j = 0; j < S; ++j)
#pragma unroll
      for (int i = 0; i < S; ++i) sum[j][i] = T(0);
    for (i64 k0 = 0; k0 < inner; k0 += depth) {
      const int some = static_cast<int>(inner - k0 < depth ? inner - k0 : depth);
      for (int e = thread; e < depth * side; e += 256) {  // neighbours in memory to neighbouring threads
        const int d = a_inner == 1 ? e % depth : e / side, i = a_inner == 1 ? e / depth : e % side;
        as[d * pitch + i] = d < some && row0 + i < rows ? x[(row0 + i) * a_row + (k0 + d) * a_inner] : T(0);
      }
      for (int e = thread; e < depth * side; e += 256) {
        const int d = b_lies_down ? e % depth : e / side, j = b_lies_down ? e / depth : e % side;
        bs[d * pitch + j] = d < some && col0 + j < cols ? y[right_side_offset<H, K>(a, k0 + d, col0 + j)] : T(0);
      }
      __syncthreads();
      for (int d = 0; d < some; ++d) {
        T ad[S], bd[S];
#pragma unroll
        for (int j = 0; j < S; ++j) ad[j] = as[d * pitch + ty + 16 * j];
#pragma unroll
        for (int i = 0; i < S; ++i) bd[i] = bs[d * pitch + tx + 16 * i];
#pragma unroll
        for (int j = 0; j < S; ++j)
#pragma unroll
          for (int i = 0; i < S; ++i) sum[j][i] = Carrier<T>::template apply<Op::fma>(ad[j], bd[i], sum[j][i]);
      }
      __syncthreads();
    }
    Registers<H, K, 1> once;
    steps<H, K, k.segment[0], k.segment[1], 1, false, false>(once, a, m, Place{0, 0, 1, 1, nullptr});
#pragma unroll
    for (int j = 0; j < S; ++j)
#pragma unroll
      for (int i = 0; i < S; ++i) {
        const i64 row = row0 + ty + 16 * j, col = col0 + tx + 16 * i;
        if (row < rows && col < cols) {
          Registers<H, K, 1> r = once;
          steps<H, K, k.segment[1], k.segment[2], 1, false, false>(r, a, m, Place{q * rows + row, col, 1, 1, &sum[j][i]});
        }
      }
  }
}

/// The epilogue of sums that a library left in work memory.
template <class H, int K>
__device__ __forceinline__ void epilogue(const OperandsOf<H, K>& a) {
  constexpr Kernel k = H::plan.kernels[K];
  using T = element_t<k.dtype>;
  const i64 cols = extent<k.cols.code>(a), all = extent<k.batch.code>(a) * extent<k.rows.code>(a) * cols;
  const Memory<H, K> m = given_memory<H, K>(a);
  Registers<H, K, 1> once;
  steps<H, K, k.segment[0], k.segment[1], 1, false, false>(once, a, m, Place{0, 0, 1, 1, nullptr});
  for (i64 e = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; e < all; e += static_cast<i64>(gridDim.x) * blockDim.x) {
    const i64 row = all >> 32 ? e / cols : static_cast<i64>(static_cast<unsigned>(e) / static_cast<unsigned>(cols));
    T sum = reinterpret_cast<const T*>(a.work)[e];
    Registers<H, K, 1> r = once;
    steps<H, K, k.segment[1], k.segment[2], 1, false, false>(r, a, m, Place{row, e - row * cols, 1, 1, &sum});
  }
}

}  // namespace detail
}  // namespace tt::cuda
