// The kernels of a static plan for a device: the forms of kernel_forms.hpp as templates over the plan. Mode 0 computes a whole kernel;
// mode 1 computes the partial results of one block, mode 2 combines those. Sums run in the library's order
// (graph/reduce_order.hpp): a warp holds the 64 lanes of a block of 4,096.
//   static_kernel<H, K, 0><<<grid, block, shared, stream>>>(operands)
#pragma once
#include "tt/backends/cuda/static_product.hpp"
#include "tt/graph/reduce_order.hpp"

namespace tt::cuda {
namespace detail {

/// The threads that work on one row together.
struct Team {
  i64 first, step;  // rows
  int thread, threads, lane, warp, warps;
  char *parts, *rows;
};
template <int N>
__device__ __forceinline__ Team team_of(const KernelOperands<N>& a) {
  const int mine = static_cast<int>(threadIdx.x) / a.team, teams = static_cast<int>(blockDim.x) / a.team;
  Team t;
  t.first = blockIdx.x * static_cast<i64>(teams) + mine;
  t.step = gridDim.x * static_cast<i64>(teams);
  t.thread = static_cast<int>(threadIdx.x) % a.team;
  t.threads = a.team;
  t.lane = static_cast<int>(threadIdx.x) % 32;
  t.warp = t.thread / 32;
  t.warps = a.team / 32;
  t.parts = a.work + t.first * a.work_bytes;
  t.rows = a.shared_bytes ? tt_shared_memory + mine * a.shared_bytes : t.parts + a.parts_bytes;
  return t;
}
__device__ __forceinline__ void sync(const Team& t) {
  if (t.threads == 32) __syncwarp();
  else __syncthreads();
}

/// Folds 64 lanes, two a thread, in halves. Wide: thread t has lanes 2t and 2t + 1; else t and t + 32.
template <Op C, bool Wide, class T>
__device__ __forceinline__ T fold(T x, T y) {
  if constexpr (!Wide) x = tt::detail::combine<C>(x, y);
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    x = tt::detail::combine<C>(x, __shfl_down_sync(~0u, x, static_cast<unsigned>(d)));
    if constexpr (Wide) y = tt::detail::combine<C>(y, __shfl_down_sync(~0u, y, static_cast<unsigned>(d)));
  }
  if constexpr (Wide) x = tt::detail::combine<C>(x, y);
  return __shfl_sync(~0u, x, 0);
}
/// Combines partial results pairwise, the older one on the left; thread (or warp) `one` of `many` takes every many-th pair.
template <Op C, class T>
__device__ __forceinline__ T combine_parts(T* part, i64 count, i64 apart, int one, int many, const Team& t) {
  sync(t);
  for (i64 w = 1; w < count; w *= 2) {
    for (i64 j = one * 2 * w; j + w < count; j += many * 2 * w) part[j * apart] = tt::detail::combine<C>(part[j * apart], part[(j + w) * apart]);
    sync(t);
  }
  const T x = part[0];
  sync(t);
  return x;
}

template <class H, int K>
constexpr int reductions_before(int instruction) {
  int n = 0;
  for (int i = H::plan.kernels[K].segment[0]; i < instruction; ++i) n += is_reduction(H::plan.instructions[i].op);
  return n;
}
template <class H, int Begin, int End>
constexpr bool segment_holds(bool (*is)(Op)) {
  for (int i = Begin; i < End; ++i)
    if (is(H::plan.instructions[i].op)) return true;
  return false;
}
constexpr bool is_store(Op op) { return op == Op::store; }

/// Sets the addresses of the team's rows kept between sweeps: each is padded to a multiple of 16 elements.
template <class H, int K, int B>
__device__ __forceinline__ void place_rows(Memory<H, K>& m, const OperandsOf<H, K>& a, char* at) {
  if constexpr (B < H::plan.kernels[K].bindings) {
    constexpr Buffer x = H::plan.buffers[H::plan.bindings[H::plan.kernels[K].first_binding + B]];
    if constexpr (x.scratch) {
      m.operand[B] = at;
      at += (extent<x.size.code>(a) + 15) / 16 * 16 * size_of(x.dtype);
    }
    place_rows<H, K, B + 1>(m, a, at);
  }
}

/// The number of operands before this one that are rows kept between sweeps.
template <class H, int K>
constexpr int scratch_before(int operand) {
  int n = 0;
  for (int b = 0; b < operand; ++b) n += is_scratch<H, K>(b);
  return n;
}
/// The same for a thread, which keeps its own elements of such rows.
template <class H, int K, int B, class V>
__device__ __forceinline__ void keep_rows(Memory<H, K>& m, V* kept) {
  if constexpr (B < H::plan.kernels[K].bindings) {
    if constexpr (is_scratch<H, K>(B)) m.operand[B] = kept + scratch_before<H, K>(B);
    keep_rows<H, K, B + 1>(m, kept);
  }
}

// ---- elementwise
/// Copies the values of a row to every element of the vectors.
template <class H, int K, int I, int End, int V>
__device__ __forceinline__ void repeat(Registers<H, K, V>& r, Registers<H, K, 1>& row) {
  if constexpr (I < End) {
    constexpr Instruction x = H::plan.instructions[I];
    if constexpr (x.result >= 0) {
      using T = element_t<x.dtype>;
#pragma unroll
      for (int k = 0; k < V; ++k) r.template at<T>(x.result).v[k] = row.template at<T>(x.result).v[0];
    }
    repeat<H, K, I + 1, End, V>(r, row);
  }
}
/// The steps that run once a row, before and between the sweeps.
template <class H, int K, int S, int V, bool Kept>
__device__ __forceinline__ void row_values(Registers<H, K, V>& r, Registers<H, K, 1>& row, const OperandsOf<H, K>& a, const Memory<H, K>& m, i64 at) {
  constexpr int begin = H::plan.kernels[K].segment[S], end = H::plan.kernels[K].segment[S + 1];
  steps<H, K, begin, end, 1, false, Kept>(row, a, m, Place{at, 0, 1, 1, nullptr});
  repeat<H, K, begin, end, V>(r, row);
}
template <class H, int K, int Sweep, int V, bool Wide>
__device__ __forceinline__ void element_sweeps(Registers<H, K, V>& r, Registers<H, K, 1>& row, const OperandsOf<H, K>& a, const Memory<H, K>& m,
                                               const Place& p) {
  if constexpr (Sweep < H::plan.kernels[K].sweeps) {
    constexpr int s = 2 * Sweep + 1;
    steps<H, K, H::plan.kernels[K].segment[s], H::plan.kernels[K].segment[s + 1], V, Wide, true>(r, a, m, p);
    row_values<H, K, s + 1, V, true>(r, row, a, m, p.row);
    element_sweeps<H, K, Sweep + 1, V, Wide>(r, row, a, m, p);
  }
}
template <class H, int K, int V>
__device__ __forceinline__ void element_step(const OperandsOf<H, K>& a, i64 row, i64 col) {
  Memory<H, K> m = given_memory<H, K>(a);
  Vector<double, V> kept[scratch_before<H, K>(H::plan.kernels[K].bindings) + 1];  // large enough for every dtype
  keep_rows<H, K, 0>(m, kept);
  Registers<H, K, V> r;
  Registers<H, K, 1> once;
  row_values<H, K, 0, V, true>(r, once, a, m, row);
  element_sweeps<H, K, 0, V, true>(r, once, a, m, Place{row, col, 1, V, nullptr});
}
template <class H, int K>
__device__ __forceinline__ void elements(const OperandsOf<H, K>& a) {
  constexpr Kernel k = H::plan.kernels[K];
  const i64 rows = extent<k.rows.code>(a), n = extent<k.cols.code>(a);
  const i64 first = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x, step = static_cast<i64>(gridDim.x) * blockDim.x;
  const bool wide = (k.rows == Extent(1) || n % 4 == 0) && vectors_fit<H, K, k.segment[0], k.segment[2 * k.sweeps + 1], 4>(a);
  if constexpr (k.rows == Extent(1)) {
    const i64 whole = wide ? n / 4 : 0;
    for (i64 e = first; e < whole; e += step) element_step<H, K, 4>(a, 0, e * 4);
    for (i64 e = whole * 4 + first; e < n; e += step) element_step<H, K, 1>(a, 0, e);
  } else {
    const i64 width = wide ? n / 4 : n;
    for (i64 e = first; e < rows * width; e += step) {
      i64 row, col;
      if ((e | width) >> 32) row = e / width, col = e % width;
      else row = static_cast<unsigned>(e) / static_cast<unsigned>(width), col = static_cast<unsigned>(e) % static_cast<unsigned>(width);
      if (wide) element_step<H, K, 4>(a, row, col * 4);
      else element_step<H, K, 1>(a, row, col);
    }
  }
}

// ---- rows with reductions
/// The steps that run once a row, in every thread of the team; one thread stores.
template <class H, int K, int I, int End>
__device__ __forceinline__ void team_steps(Registers<H, K, 1>& row, const OperandsOf<H, K>& a, const Memory<H, K>& m, i64 at, const Team& t) {
  if constexpr (I < End) {
    constexpr bool stores = H::plan.instructions[I].op == Op::store;
    if constexpr (stores) sync(t);
    if (!stores || t.thread == 0) step<H, K, I, 1, false, false>(row, a, m, Place{at, 0, 1, 1, nullptr});
    team_steps<H, K, I + 1, End>(row, a, m, at, t);
  }
}
template <class H, int K, int S>
__device__ __forceinline__ void team_values(Registers<H, K, 2>& r, Registers<H, K, 1>& row, const OperandsOf<H, K>& a, const Memory<H, K>& m, i64 at,
                                            const Team& t) {
  constexpr int begin = H::plan.kernels[K].segment[S], end = H::plan.kernels[K].segment[S + 1];
  team_steps<H, K, begin, end>(row, a, m, at, t);
  if constexpr (segment_holds<H, begin, end>(&is_store)) sync(t);
  repeat<H, K, begin, end, 2>(r, row);
}

/// The reductions of a segment: starts their lanes, adds a step to them, folds and combines them.
template <class H, int K, int I, int End>
struct Reducing {
  static constexpr Instruction x = H::plan.instructions[I];
  using T = element_t<x.dtype>;
  using Next = Reducing<H, K, I + 1, End>;
  static constexpr bool here = is_reduction(x.op);

  static __device__ __forceinline__ T* part_of(char* parts, i64 blocks) { return reinterpret_cast<T*>(parts + blocks * 8 * reductions_before<H, K>(I)); }
  static __device__ __forceinline__ void begin(Registers<H, K, 2>& lanes) {
    if constexpr (here) lanes.template at<T>(x.result).v[0] = lanes.template at<T>(x.result).v[1] = tt::detail::identity<x.op, T>();
    Next::begin(lanes);
  }
  static __device__ __forceinline__ void take(Registers<H, K, 2>& lanes, Registers<H, K, 2>& r, int count) {
    if constexpr (here)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        if (k < count) {
          T& lane = lanes.template at<T>(x.result).v[k];
          lane = tt::detail::combine<x.op>(lane, r.template at<T>(x.a).v[k]);
        }
    Next::take(lanes, r, count);
  }
  template <bool Wide>
  static __device__ __forceinline__ void end_block(Registers<H, K, 2>& lanes, Registers<H, K, 1>& row, char* parts, i64 blocks, i64 b, bool keep,
                                                   const Team& t) {
    if constexpr (here) {
      const auto& l = lanes.template at<T>(x.result);
      const T v = fold<x.op, Wide>(l.v[0], l.v[1]);
      row.template at<T>(x.result).v[0] = v;
      if (keep && t.lane == 0) part_of(parts, blocks)[b] = v;
    }
    Next::template end_block<Wide>(lanes, row, parts, blocks, b, keep, t);
  }
  static __device__ __forceinline__ void end(Registers<H, K, 2>& r, Registers<H, K, 1>& row, char* parts, i64 blocks, bool from_parts, const Team& t) {
    if constexpr (here) {
      T& v = row.template at<T>(x.result).v[0];
      if (blocks == 0) v = tt::detail::identity<x.op, T>();
      else if (blocks > 1) v = combine_parts<x.op>(part_of(parts, blocks), blocks, 1, t.thread, t.threads, t);
      else if (from_parts) v = part_of(parts, blocks)[0];
      r.template at<T>(x.result).v[0] = r.template at<T>(x.result).v[1] = v;
    }
    Next::end(r, row, parts, blocks, from_parts, t);
  }
};
template <class H, int K, int End>
struct Reducing<H, K, End, End> {
  static __device__ __forceinline__ void begin(Registers<H, K, 2>&) {}
  static __device__ __forceinline__ void take(Registers<H, K, 2>&, Registers<H, K, 2>&, int) {}
  template <bool>
  static __device__ __forceinline__ void end_block(Registers<H, K, 2>&, Registers<H, K, 1>&, char*, i64, i64, bool, const Team&) {}
  static __device__ __forceinline__ void end(Registers<H, K, 2>&, Registers<H, K, 1>&, char*, i64, bool, const Team&) {}
};

template <class H, int K, int Sweep, bool Wide, int Mode>
__device__ __forceinline__ void row_sweeps(Registers<H, K, 2>& r, Registers<H, K, 1>& row, const OperandsOf<H, K>& a, const Memory<H, K>& m,
                                           const Team& t, i64 at, i64 block, char* parts) {
  if constexpr (Sweep < H::plan.kernels[K].sweeps) {
    constexpr Kernel k = H::plan.kernels[K];
    constexpr int s = 2 * Sweep + 1, begin = k.segment[s], end = k.segment[s + 1];
    using Reductions = Reducing<H, K, begin, end>;
    const i64 n = extent<k.cols.code>(a), blocks = (n + row_block - 1) / row_block;
    if constexpr (Mode != 2) {
      const i64 last = Mode == 1 ? block + 1 : blocks;
      for (i64 b = Mode == 1 ? block : t.warp; b < last; b += t.warps) {
        const i64 stop = n < (b + 1) * row_block ? n : (b + 1) * row_block;
        Registers<H, K, 2> lanes;
        Reductions::begin(lanes);
#pragma unroll 4
        for (i64 g = b * row_block + (Wide ? 2 : 1) * t.lane; g < stop; g += 64) {
          const Place p{at, g, Wide ? 1 : 32, Wide || g + 32 < stop ? 2 : 1, nullptr};
          steps<H, K, begin, end, 2, Wide, false>(r, a, m, p);
          Reductions::take(lanes, r, p.count);
        }
        Reductions::template end_block<Wide>(lanes, row, parts, blocks, b, Mode == 1 || blocks > 1, t);
      }
    }
    if constexpr (Mode != 1) {
      Reductions::end(r, row, parts, blocks, Mode == 2, t);
      team_values<H, K, s + 1>(r, row, a, m, at, t);
      row_sweeps<H, K, Sweep + 1, Wide, Mode>(r, row, a, m, t, at, block, parts);
    }
  }
}
template <class H, int K, bool Wide, int Mode>
__device__ __forceinline__ void one_row(const OperandsOf<H, K>& a, const Team& t, i64 at, i64 block, char* parts) {
  Memory<H, K> m = given_memory<H, K>(a);
  place_rows<H, K, 0>(m, a, t.rows);
  Registers<H, K, 2> r;
  Registers<H, K, 1> row;
  team_values<H, K, 0>(r, row, a, m, at, t);
  row_sweeps<H, K, 0, Wide, Mode>(r, row, a, m, t, at, block, parts);
  if constexpr (Mode != 1) sync(t);
}
template <class H, int K, int Mode>
__device__ __forceinline__ void rows(const OperandsOf<H, K>& a) {
  constexpr Kernel k = H::plan.kernels[K];
  const Team t = team_of(a);
  const i64 count = extent<k.rows.code>(a), n = extent<k.cols.code>(a), blocks = (n + row_block - 1) / row_block;
  const bool wide = n % 2 == 0 && vectors_fit<H, K, k.segment[0], k.segment[2 * k.sweeps + 1], 2>(a);
  const i64 units = Mode == 1 ? count * blocks : count;
  for (i64 unit = t.first; unit < units; unit += t.step) {
    const i64 at = Mode == 1 ? unit / blocks : unit, block = Mode == 1 ? unit % blocks : 0;
    char* const parts = Mode == 0 ? t.parts : a.work + at * a.work_bytes;
    if constexpr (Mode != 2)
      if (wide) {
        one_row<H, K, true, Mode>(a, t, at, block, parts);
        continue;
      }
    one_row<H, K, false, Mode>(a, t, at, block, parts);
  }
}

// ---- sums over rows: a thread a column
template <class H, int K, int I, int End>
struct Columns {
  static constexpr Instruction x = H::plan.instructions[I];
  using T = element_t<x.dtype>;
  using Next = Columns<H, K, I + 1, End>;
  static constexpr bool here = is_reduction(x.op);

  static __device__ __forceinline__ T* part_of(char* parts, i64 blocks, i64 place, i64 apart) {
    return reinterpret_cast<T*>(parts + blocks * apart * 8 * reductions_before<H, K>(I)) + place;
  }
  static __device__ __forceinline__ void begin(Registers<H, K, 1>& sums) {
    if constexpr (here) sums.template at<T>(x.result).v[0] = tt::detail::identity<x.op, T>();
    Next::begin(sums);
  }
  static __device__ __forceinline__ void take(Registers<H, K, 1>& sums, Registers<H, K, 1>& r) {
    if constexpr (here) {
      T& sum = sums.template at<T>(x.result).v[0];
      sum = tt::detail::combine<x.op>(sum, r.template at<T>(x.a).v[0]);
    }
    Next::take(sums, r);
  }
  static __device__ __forceinline__ void end_block(Registers<H, K, 1>& sums, Registers<H, K, 1>& r, char* parts, i64 blocks, i64 b, i64 place,
                                                   i64 apart, bool keep) {
    if constexpr (here) {
      const T v = sums.template at<T>(x.result).v[0];
      r.template at<T>(x.result).v[0] = v;
      if (keep) part_of(parts, blocks, place, apart)[b * apart] = v;
    }
    Next::end_block(sums, r, parts, blocks, b, place, apart, keep);
  }
  static __device__ __forceinline__ void end(Registers<H, K, 1>& r, char* parts, i64 blocks, i64 place, i64 apart, bool from_parts, const Team& t) {
    if constexpr (here) {
      T& v = r.template at<T>(x.result).v[0];
      if (blocks == 0) v = tt::detail::identity<x.op, T>();
      else if (blocks > 1) v = combine_parts<x.op>(part_of(parts, blocks, place, apart), blocks, apart, t.warp, t.warps, t);
      else if (from_parts) v = part_of(parts, blocks, place, apart)[0];
    }
    Next::end(r, parts, blocks, place, apart, from_parts, t);
  }
};
template <class H, int K, int End>
struct Columns<H, K, End, End> {
  static __device__ __forceinline__ void begin(Registers<H, K, 1>&) {}
  static __device__ __forceinline__ void take(Registers<H, K, 1>&, Registers<H, K, 1>&) {}
  static __device__ __forceinline__ void end_block(Registers<H, K, 1>&, Registers<H, K, 1>&, char*, i64, i64, i64, i64, bool) {}
  static __device__ __forceinline__ void end(Registers<H, K, 1>&, char*, i64, i64, i64, bool, const Team&) {}
};
template <class H, int K, int Mode>
__device__ __forceinline__ void columns(const OperandsOf<H, K>& a) {
  constexpr Kernel k = H::plan.kernels[K];
  using Sums = Columns<H, K, k.segment[1], k.segment[2]>;
  const Team t = team_of(a);
  const i64 n = extent<k.cols.code>(a), inner = extent<k.inner.code>(a);
  const tt::detail::ColumnParts order(inner, k.row_order);
  const i64 blocks = order.count();
  const i64 groups = (n + 31) / 32, units = extent<k.rows.code>(a) * groups * (Mode == 1 ? blocks : 1);
  const Memory<H, K> m = given_memory<H, K>(a);
  for (i64 unit = t.first; unit < units; unit += t.step) {
    const i64 group = unit % groups, block = Mode == 1 ? unit / groups % blocks : 0, row = unit / groups / (Mode == 1 ? blocks : 1);
    const i64 i = group * 32 + t.lane, place = Mode == 0 ? t.lane : i, apart = Mode == 0 ? 32 : groups * 32;
    char* const parts = Mode == 0 ? t.parts : a.work + row * a.work_bytes;
    Registers<H, K, 1> r;
    steps<H, K, k.segment[0], k.segment[1], 1, false, false>(r, a, m, Place{row, 0, 1, 1, nullptr});
    if constexpr (Mode != 2) {
      const i64 last = Mode == 1 ? block + 1 : blocks;
      for (i64 b = Mode == 1 ? block : t.warp; b < last; b += t.warps) {
        const i64 stop = order.end(b);
        Registers<H, K, 1> sums;
        Sums::begin(sums);
        if (i < n)
          for (i64 q = order.begin(b); q < stop; q += k.row_order ? reduction_lanes : 1) {
            steps<H, K, k.segment[1], k.segment[2], 1, false, false>(r, a, m, Place{row * inner + q, i, 1, 1, nullptr});
            Sums::take(sums, r);
          }
        Sums::end_block(sums, r, parts, blocks, b, place, apart, Mode == 1 || blocks > 1);
      }
    }
    if constexpr (Mode != 1) {
      Sums::end(r, parts, blocks, place, apart, Mode == 2, t);
      if (t.warp == 0 && i < n) steps<H, K, k.segment[2], k.segment[3], 1, false, false>(r, a, m, Place{row, i, 1, 1, nullptr});
      sync(t);
    }
  }
}

template <class H, int K, int Mode>
__device__ __forceinline__ void run_kernel(const OperandsOf<H, K>& a) {
  constexpr KernelForm form = form_of(H::plan, H::plan.kernels[K]);
  if constexpr (form == KernelForm::elements) elements<H, K>(a);
  else if constexpr (form == KernelForm::rows) rows<H, K, Mode>(a);
  else if constexpr (form == KernelForm::columns) columns<H, K, Mode>(a);
  else if constexpr (Mode == 2) epilogue<H, K>(a);
  else product<H, K, Mode == 1 ? matmul_large : matmul_small>(a);
}

}  // namespace detail

/// Mode: see the head of this file; for a product 1 is the large tile, 2 the epilogue of a library's sums.
template <class H, int K, int Mode>
__global__ void __launch_bounds__(most_threads(form_of(H::plan, H::plan.kernels[K]), Mode == 1))
    static_kernel(const __grid_constant__ detail::OperandsOf<H, K> a) {
  detail::run_kernel<H, K, Mode>(a);
}

}  // namespace tt::cuda
