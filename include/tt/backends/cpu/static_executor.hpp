// Static execution: templates over H::plan, a constant. Every segment becomes straight-line SIMD
// code inside loops with constant bounds where the extents are; kernels of equal code are one
// function. H is a type that holds `static constexpr` plan (a FixedPlan).
#pragma once
#include <cstddef>

#include "tt/backends/cpu/gemm.hpp"
#include "tt/backends/cpu/static_step.hpp"
#include "tt/backends/cpu/thread_pool.hpp"
#include "tt/core/storage.hpp"
#include "tt/graph/split.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

namespace detail {

/// The partial sums of a sweep: 64 lanes for each reduction, as packs.
template <class H, int K, int S>
struct Accumulators {
  static constexpr Kernel k = H::plan.kernels[K];
  template <class T>
  static constexpr int count() {
    int n = 0;
    for (int i = k.segment[S]; i < k.segment[S + 1]; ++i)
      n += is_reduction(H::plan.instructions[i].op) && H::plan.instructions[i].dtype == dtype_of<T>;
    return n > 0 ? n : 1;
  }
  /// The place of instruction I among the reductions of its dtype.
  template <int I>
  static constexpr int index() {
    int n = 0;
    for (int i = k.segment[S]; i < I; ++i)
      n += is_reduction(H::plan.instructions[i].op) &&
           H::plan.instructions[i].dtype == H::plan.instructions[I].dtype;
    return n;
  }
  Pack<float> f32[count<float>()][packs_per_block];
  Pack<double> f64[count<double>()][packs_per_block];
  Pack<std::int32_t> i32[count<std::int32_t>()][packs_per_block];
  Pack<std::int64_t> i64[count<std::int64_t>()][packs_per_block];
  template <class T>
  TT_KERNEL_INLINE Pack<T>* at(int i) {
    if constexpr (std::is_same_v<T, float>) return f32[i];
    else if constexpr (std::is_same_v<T, double>) return f64[i];
    else if constexpr (std::is_same_v<T, std::int32_t>) return i32[i];
    else return i64[i];
  }
};
/// Partial results of whole blocks, one tree a reduction, as in graph/reduce_order.hpp.
template <class A>
struct Trees {
  tt::detail::PairwiseTree<float> f32[A::template count<float>()];
  tt::detail::PairwiseTree<double> f64[A::template count<double>()];
  tt::detail::PairwiseTree<std::int32_t> i32[A::template count<std::int32_t>()];
  tt::detail::PairwiseTree<std::int64_t> i64[A::template count<std::int64_t>()];
  template <class T>
  TT_KERNEL_INLINE tt::detail::PairwiseTree<T>& at(int i) {
    if constexpr (std::is_same_v<T, float>) return f32[i];
    else if constexpr (std::is_same_v<T, double>) return f64[i];
    else if constexpr (std::is_same_v<T, std::int32_t>) return i32[i];
    else return i64[i];
  }
};

template <class A, int Width>
struct PackTrees {
  template <class T>
  using Tree = tt::detail::PairwiseTree<Pack<T>>;
  Tree<float> f32[A::template count<float>()][Width];
  Tree<double> f64[A::template count<double>()][Width];
  Tree<std::int32_t> i32[A::template count<std::int32_t>()][Width];
  Tree<std::int64_t> i64[A::template count<std::int64_t>()][Width];
  template <class T>
  TT_KERNEL_INLINE Tree<T>& at(int i, int v) {
    if constexpr (std::is_same_v<T, float>) return f32[i][v];
    else if constexpr (std::is_same_v<T, double>) return f64[i][v];
    else if constexpr (std::is_same_v<T, std::int32_t>) return i32[i][v];
    else return i64[i][v];
  }
};

template <class H, int K, int S, class Is>
struct Segment;
template <class H, int K, int S, std::size_t... J>
struct Segment<H, K, S, std::index_sequence<J...>> {
  static constexpr int first = H::plan.kernels[K].segment[S];
  using R = Registers<H, K>;
  using A = Accumulators<H, K, S>;
  template <std::size_t I>
  static constexpr Instruction at = H::plan.instructions[first + static_cast<int>(I)];

  template <bool Tail>
  static TT_KERNEL_INLINE void run(R& r, const Arguments<H, K>& a, const Place& p) {
    const int done[] = {0, (step<H, K, first + static_cast<int>(J), Tail>(r, a, p), 0)...};
    (void)done;
  }
  /// The same with reductions, into pack u of the accumulators.
  template <bool Tail>
  static TT_KERNEL_INLINE void run(R& r, A& acc, int u, const Arguments<H, K>& a, const Place& p) {
    const int done[] = {0, (reduce_step<J, Tail>(r, acc, u, a, p), 0)...};
    (void)done;
  }
  template <std::size_t I, bool Tail>
  static TT_KERNEL_INLINE void reduce_step(R& r, A& acc, int u, const Arguments<H, K>& a,
                                           const Place& p) {
    constexpr Instruction x = at<I>;
    if constexpr (is_reduction(x.op)) {
      using T = element_t<x.dtype>;
      Pack<T>& sum = acc.template at<T>(A::template index<first + static_cast<int>(I)>())[u];
      Pack<T> v = r.template at<T>(x.a);
      if constexpr (Tail)
        v = Carrier<Pack<T>>::select(first_lanes(p.count), v, identity_pack<x.op, T>());
      sum = combine<x.op>(sum, v);
    } else {
      step<H, K, first + static_cast<int>(I), Tail>(r, a, p);
    }
  }
  template <class F>
  static TT_KERNEL_INLINE void each_reduction(const F& f) {
    const int done[] = {0, (one_reduction<J>(f), 0)...};
    (void)done;
  }
  template <std::size_t I, class F>
  static TT_KERNEL_INLINE void one_reduction(const F& f) {
    if constexpr (is_reduction(at<I>.op))
      f(std::integral_constant<int, first + static_cast<int>(I)>{});
  }
  static constexpr int reductions = (0 + ... + (is_reduction(at<J>.op) ? 1 : 0));
};
template <class H, int K, int S>
using SegmentOf = Segment<H, K, S,
                          std::make_index_sequence<static_cast<std::size_t>(
                              H::plan.kernels[K].segment[S + 1] - H::plan.kernels[K].segment[S])>>;

/// Columns [begin, end) of one row without reductions.
template <class H, int K, int S>
TT_KERNEL_INLINE void plain_sweep(Registers<H, K>& r, const Arguments<H, K>& a, std::int64_t row,
                                  std::int64_t begin, std::int64_t end) {
  constexpr Kernel k = H::plan.kernels[K];
  using Seg = SegmentOf<H, K, S>;
  std::int64_t col = begin;
  if constexpr (!k.cols.is_constant() || k.cols.code >= lanes)
    for (; col + lanes <= end; col += lanes)
      Seg::template run<false>(r, a, {row, col, lanes, nullptr, begin});
  if constexpr (!k.cols.is_constant() || k.cols.code % lanes != 0)
    if (col < end)
      Seg::template run<true>(r, a, {row, col, static_cast<int>(end - col), nullptr, begin});
}

/// A row reduced: 64 lanes over a block of columns, folded; blocks combined by a tree.
template <class H, int K, int S>
TT_KERNEL_INLINE void reducing_sweep(Registers<H, K>& r, const Arguments<H, K>& a,
                                     std::int64_t row, std::int64_t cols) {
  constexpr Kernel k = H::plan.kernels[K];
  constexpr bool one_block = k.cols.is_constant() && k.cols.code <= row_block;
  using Seg = SegmentOf<H, K, S>;
  using A = Accumulators<H, K, S>;
  A acc;
  struct None {};
  std::conditional_t<one_block, None, Trees<A>> trees;
  for (std::int64_t block = 0; block < cols || block == 0; block += row_block) {
    Seg::each_reduction([&](auto i) TT_LAMBDA_INLINE {
      constexpr Instruction x = H::plan.instructions[i];
      using T = element_t<x.dtype>;
      Pack<T>* lane = acc.template at<T>(A::template index<i>());
#pragma GCC unroll 16
      for (int u = 0; u < packs_per_block; ++u) lane[u] = identity_pack<x.op, T>();
    });
    const std::int64_t end = one_block || cols < block + row_block ? cols : block + row_block;
    std::int64_t col = block;
    if constexpr (!k.cols.is_constant() || k.cols.code >= reduction_lanes)
      for (; col + reduction_lanes <= end; col += reduction_lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < packs_per_block; ++u)
          Seg::template run<false>(r, acc, u, a, {row, col + u * lanes, lanes, nullptr});
      }
    A rest = acc;  // a copy for what is left: its index is not constant, and `acc` is in registers
    int u = 0;
    if constexpr (!k.cols.is_constant() || k.cols.code % reduction_lanes >= lanes)
      for (; col + lanes <= end; col += lanes, ++u)
        Seg::template run<false>(r, rest, u, a, {row, col, lanes, nullptr});
    if constexpr (!k.cols.is_constant() || k.cols.code % lanes != 0)
      if (col < end)
        Seg::template run<true>(r, rest, u, a, {row, col, static_cast<int>(end - col), nullptr});
    Seg::each_reduction([&](auto i) TT_LAMBDA_INLINE {
      constexpr Instruction x = H::plan.instructions[i];
      using T = element_t<x.dtype>;
      constexpr int index = A::template index<i>();
      const T sum = fold<x.op, T>(rest.template at<T>(index));
      if constexpr (one_block)
        r.template at<T>(x.result) = Carrier<Pack<T>>::splat(sum);
      else trees.template at<T>(index).push(sum, tt::detail::combine<x.op, T>);
    });
  }
  if constexpr (!one_block)
    Seg::each_reduction([&](auto i) TT_LAMBDA_INLINE {
      constexpr Instruction x = H::plan.instructions[i];
      using T = element_t<x.dtype>;
      r.template at<T>(x.result) =
          Carrier<Pack<T>>::splat(trees.template at<T>(A::template index<i>())
                                      .result(tt::detail::identity<x.op, T>(),
                                              tt::detail::combine<x.op, T>));
    });
}

template <class H, int K, int Sweep>
TT_KERNEL_INLINE void sweep(Registers<H, K>& r, const Arguments<H, K>& a, std::int64_t row,
                            std::int64_t begin, std::int64_t end) {
  constexpr int s = 2 * Sweep + 1;
  if constexpr (SegmentOf<H, K, s>::reductions > 0) reducing_sweep<H, K, s>(r, a, row, end);
  else plain_sweep<H, K, s>(r, a, row, begin, end);
  SegmentOf<H, K, s + 1>::template run<false>(r, a, {row, 0, lanes, nullptr});
}

/// Sums of the rows under one kept row, `Width` vectors of columns at a time.
template <class H, int K, int Width, bool Tail>
TT_KERNEL_INLINE void sum_columns(Registers<H, K>& r, const Arguments<H, K>& a, std::int64_t kept,
                                  std::int64_t inner, std::int64_t col, int count) {
  using Seg = SegmentOf<H, K, 1>;
  using A = Accumulators<H, K, 1>;
  constexpr Kernel k = H::plan.kernels[K];
  constexpr bool one_block = k.inner.is_constant() && k.inner.code <= column_block;
  A acc;
  struct None {};
  std::conditional_t<one_block, None, PackTrees<A, Width>> trees;
  for (std::int64_t block = 0; block < inner || block == 0; block += column_block) {
    Seg::each_reduction([&](auto i) TT_LAMBDA_INLINE {
      constexpr Instruction x = H::plan.instructions[i];
      using T = element_t<x.dtype>;
      for (int v = 0; v < Width; ++v)
        acc.template at<T>(A::template index<i>())[v] = identity_pack<x.op, T>();
    });
    const std::int64_t end = one_block || inner < block + column_block ? inner : block + column_block;
    for (std::int64_t q = block; q < end; ++q) {
#pragma GCC unroll 4
      for (int v = 0; v < Width; ++v)
        Seg::template run<Tail>(r, acc, v, a, {kept * inner + q, col + v * lanes, count, nullptr});
    }
    if constexpr (!one_block)
      Seg::each_reduction([&](auto i) TT_LAMBDA_INLINE {
        constexpr Instruction x = H::plan.instructions[i];
        using T = element_t<x.dtype>;
        for (int v = 0; v < Width; ++v)
          trees.template at<T>(A::template index<i>(), v)
              .push(acc.template at<T>(A::template index<i>())[v], combine<x.op, T>);
      });
  }
  for (int v = 0; v < Width; ++v) {
    Seg::each_reduction([&](auto i) TT_LAMBDA_INLINE {
      constexpr Instruction x = H::plan.instructions[i];
      using T = element_t<x.dtype>;
      constexpr int index = A::template index<i>();
      if constexpr (one_block) r.template at<T>(x.result) = acc.template at<T>(index)[v];
      else r.template at<T>(x.result) = trees.template at<T>(index, v)
               .result(identity_pack<x.op, T>(), combine<x.op, T>);
    });
    SegmentOf<H, K, 2>::template run<Tail>(r, a, {kept, col + v * lanes, count, nullptr});
  }
}

template <class H, int K>
TT_KERNEL_INLINE void rows_body(const Arguments<H, K>& a, const Range& range) {
  constexpr Kernel k = H::plan.kernels[K];
  const std::int64_t rows = range.last(SplitAxis::rows, extent<k.rows.code>(a));
  const std::int64_t first = range.first(SplitAxis::cols);
  const std::int64_t cols = range.last(SplitAxis::cols, extent<k.cols.code>(a));
  Registers<H, K> r;
  for (std::int64_t row = range.first(SplitAxis::rows); row < rows; ++row) {
    SegmentOf<H, K, 0>::template run<false>(r, a, {row, 0, lanes, nullptr});
    const std::int64_t step_ = k.tile > 0 ? k.tile : cols > 0 ? cols : 1;
    std::int64_t begin = first;
    do {  // one tile is the whole row, but in a tiled kernel
      const std::int64_t end = begin + step_ < cols ? begin + step_ : cols;
      [&]<std::size_t... P>(std::index_sequence<P...>) TT_LAMBDA_INLINE {
        (sweep<H, K, static_cast<int>(P)>(r, a, row, begin, end), ...);
      }(std::make_index_sequence<static_cast<std::size_t>(k.sweeps)>{});
      begin += step_;
    } while (k.tile > 0 && begin < cols);
  }
}

template <class H, int K>
TT_KERNEL_INLINE void cols_body(const Arguments<H, K>& a, const Range& range) {
  constexpr Kernel k = H::plan.kernels[K];
  constexpr int width = packs_per_block < 4 ? packs_per_block : 4;
  const std::int64_t rows = range.last(SplitAxis::rows, extent<k.rows.code>(a));
  const std::int64_t cols = range.last(SplitAxis::cols, extent<k.cols.code>(a));
  const std::int64_t inner = extent<k.inner.code>(a);
  Registers<H, K> r;
  for (std::int64_t row = range.first(SplitAxis::rows); row < rows; ++row) {
    SegmentOf<H, K, 0>::template run<false>(r, a, {row, 0, lanes, nullptr});
    std::int64_t col = range.first(SplitAxis::cols);
    if constexpr (!k.cols.is_constant() || k.cols.code >= width * lanes)
      for (; col + width * lanes <= cols; col += width * lanes)
        sum_columns<H, K, width, false>(r, a, row, inner, col, lanes);
    if constexpr (!k.cols.is_constant() || k.cols.code % (width * lanes) >= lanes)
      for (; col + lanes <= cols; col += lanes)
        sum_columns<H, K, 1, false>(r, a, row, inner, col, lanes);
    if constexpr (!k.cols.is_constant() || k.cols.code % lanes != 0)
      if (col < cols) sum_columns<H, K, 1, true>(r, a, row, inner, col, static_cast<int>(cols - col));
  }
}

template <class H, int K>
TT_KERNEL_INLINE void matmul_body(const Arguments<H, K>& a, const Range& range) {
  constexpr Kernel k = H::plan.kernels[K];
  using T = element_t<k.dtype>;
  constexpr Access xa = H::plan.accesses[k.a], xb = H::plan.accesses[k.b];
  const std::int64_t rows = extent<k.rows.code>(a), cols = extent<k.cols.code>(a);
  const std::int64_t inner = extent<k.inner.code>(a);
  const std::int64_t batch = range.last(SplitAxis::batch, extent<k.batch.code>(a));
  const std::int64_t row0 = range.first(SplitAxis::rows), col0 = range.first(SplitAxis::cols);
  Registers<H, K> r;
  SegmentOf<H, K, 0>::template run<false>(r, a, {0, 0, lanes, nullptr});
  for (std::int64_t q = range.first(SplitAxis::batch); q < batch; ++q) {
    const std::int64_t a_row = extent<k.a_row.code>(a), b_column = extent<k.b_column.code>(a);
    MatmulOperands<T> m{range.last(SplitAxis::rows, rows) - row0,
                        range.last(SplitAxis::cols, cols) - col0, inner,
                        static_cast<const T*>(a.operand[xa.buffer]) + row_offset<H, k.a>(a, q) + row0 * a_row,
                        a_row, extent<k.a_inner.code>(a),
                        static_cast<const T*>(a.operand[xb.buffer]) + row_offset<H, k.b>(a, q) + col0 * b_column,
                        extent<k.b_inner.code>(a), !xb.guarded};
    if constexpr (k.pack >= 0) {
      T* packed = static_cast<T*>(a.operand[k.pack]);
      const std::int64_t packed_row = extent<k.pack_row.code>(a);
      transpose_into(m.b, b_column, m.b_inner, m.cols, inner, packed, packed_row);
      m.b = packed;
      m.b_inner = packed_row;
      m.b_padded = k.pack_row.is_constant();
    }
    T* panel = nullptr;
    if constexpr (k.panel >= 0) panel = static_cast<T*>(a.operand[k.panel]);
    constexpr bool whole = k.cols.is_constant() && k.cols.code % lanes == 0;  // not in the lambda: nvcc 13
    matmul<T, k.rows.code, k.cols.code>(
        m, panel,
        [&](std::int64_t i, std::int64_t j, int tile_rows_, int vectors, int last,
            const T* t) TT_LAMBDA_INLINE {
          for (int y = 0; y < tile_rows_; ++y)
            for (int v = 0; v < vectors; ++v) {
              const Place p{q * rows + row0 + i + y, col0 + j + v * lanes,
                            v == vectors - 1 ? last : lanes,
                            t + (y * vectors + v) * lanes};
              if constexpr (whole)
                SegmentOf<H, K, 1>::template run<false>(r, a, p);
              else if (p.count == lanes) SegmentOf<H, K, 1>::template run<false>(r, a, p);
              else SegmentOf<H, K, 1>::template run<true>(r, a, p);
            }
        });
  }
}

template <class H, int K>
TT_KERNEL_INLINE void kernel_body(const Arguments<H, K>& a, const Range& range) {
  constexpr KernelKind kind = H::plan.kernels[K].kind;
  if constexpr (kind == KernelKind::rows) rows_body<H, K>(a, range);
  else if constexpr (kind == KernelKind::cols) cols_body<H, K>(a, range);
  else matmul_body<H, K>(a, range);
}
template <class H, int B>
TT_ALWAYS_INLINE void* buffer_pointer(std::byte* arena, void* const* external,
                                      [[maybe_unused]] const std::int64_t* offsets) {
  constexpr Buffer b = H::plan.buffers[B];
  if constexpr (b.external >= 0) return external[b.external];
  else if constexpr (H::plan.arena >= 0) return arena + b.offset;
  else return arena + offsets[B];
}

template <std::size_t>
using Pointer = void*;

template <class H, int K>
constexpr KernelExtents kernel_extents(const SymbolValues& symbols) {
  constexpr Kernel k = H::plan.kernels[K];
  return {k.kind, k.batch.value(symbols), k.rows.value(symbols), k.cols.value(symbols),
          k.inner.value(symbols), columns_divide(H::plan, k)};
}
/// Could the kernel be worth dividing? If all of its extents are known and small it has no code for that.
template <class H, int K>
constexpr bool can_divide() {
  constexpr Kernel k = H::plan.kernels[K];
  if constexpr (k.batch.is_constant() && k.rows.is_constant() && k.cols.is_constant() && k.inner.is_constant())
    return split_kernel(kernel_extents<H, K>({}), 2).parts > 1;
  else return true;
}

/// A kernel as a function of its own, where its rules of contraction hold. Its operands are
/// arguments, so that they come in registers.
template <class H, int K, class Is>
struct StaticKernel;
template <class H, int K, std::size_t... I>
struct StaticKernel<H, K, std::index_sequence<I...>> {
  static TT_NOINLINE TT_FLATTEN void run(const SymbolValues* symbols, Pointer<I>... operand) {
    kernel_body<H, K>(Arguments<H, K>{{operand...}, symbols}, Range{});
  }
  /// The same for part of a kernel; a kernel that may be divided has only this one.
  static TT_NOINLINE TT_FLATTEN void run_range(const SymbolValues* symbols, const Range& range,
                                               Pointer<I>... operand) {
    kernel_body<H, K>(Arguments<H, K>{{operand...}, symbols}, range);
  }
  template <int J, std::size_t N>
  static TT_ALWAYS_INLINE void* operand(std::byte* arena, void* const* external, const std::int64_t* offsets) {
    return buffer_pointer<H, H::plan.bindings[H::plan.kernels[J].first_binding + static_cast<int>(N)]>(arena, external, offsets);
  }
  /// Kernel J calls this function with its own operands.
  template <int J>
  static TT_ALWAYS_INLINE void launch(std::byte* arena, void* const* external,
                                      const std::int64_t* offsets, const SymbolValues& symbols) {
    if constexpr (can_divide<H, K>()) {
      if (const int threads = array_threads(); threads > 1)
        if (const Split split = split_kernel(kernel_extents<H, K>(symbols), threads); split.parts > 1) {
          Parts parts{split, symbols, {operand<J, I>(arena, external, offsets)...}};
          return ThreadPool::instance().run(split.parts, &StaticKernel::run_part<J>, &parts);
        }
      run_range(&symbols, Range{}, operand<J, I>(arena, external, offsets)...);
    } else {
      run(&symbols, operand<J, I>(arena, external, offsets)...);
    }
  }

 private:
  struct Parts {
    const Split& split;
    const SymbolValues& symbols;
    void* operand[sizeof...(I) + 1];
  };
  template <int J>
  static void run_part(void* context, int part) {
    const Parts& p = *static_cast<const Parts*>(context);
    const Range range = p.split.part(part);
    void* const* operand = p.operand;
    void* own[sizeof...(I) + 1] = {p.operand[I]...};
    if (has_scratch<J>() && ThreadPool::in_worker()) {  // the caller has the arena's
      std::size_t at = 0, bytes = 0;
      const int counted[] = {0, (bytes += scratch_bytes<J, I>(p.symbols), 0)...};
      std::byte* memory = Scratch::of_this_thread().get(bytes);
      const int placed[] = {0, (place_scratch<J, I>(p.symbols, memory, at, own), 0)...};
      (void)counted, (void)placed;
      operand = own;
    }
    run_range(&p.symbols, range, operand[I]...);
  }
  template <int J>
  static constexpr bool has_scratch() {
    return (false || ... || buffer_of<J, I>.scratch);
  }
  template <int J, std::size_t N>
  static constexpr Buffer buffer_of =
      H::plan.buffers[H::plan.bindings[H::plan.kernels[J].first_binding + static_cast<int>(N)]];
  template <int J, std::size_t N>
  static std::size_t scratch_bytes(const SymbolValues& symbols) {
    if (!buffer_of<J, N>.scratch) return 0;
    return (static_cast<std::size_t>(buffer_of<J, N>.size.value(symbols) * size_of(buffer_of<J, N>.dtype)) +
            2 * storage_alignment - 1) / storage_alignment * storage_alignment;
  }
  template <int J, std::size_t N>
  static void place_scratch(const SymbolValues& symbols, std::byte* memory, std::size_t& at, void** own) {
    if (!buffer_of<J, N>.scratch) return;
    own[N] = memory + at;
    at += scratch_bytes<J, N>(symbols);
  }
};
template <class H, int J>
using FunctionOf =
    StaticKernel<H, H::plan.kernels[J].code,
                    std::make_index_sequence<static_cast<std::size_t>(H::plan.kernels[J].bindings)>>;

template <class H, std::size_t... J>
TT_ALWAYS_INLINE void run_kernels(std::index_sequence<J...>, std::byte* arena,
                                  void* const* external, const std::int64_t* offsets,
                                  const SymbolValues& symbols) {
  const int done[] = {0, (FunctionOf<H, static_cast<int>(J)>::template launch<static_cast<int>(J)>(
                              arena, external, offsets, symbols), 0)...};
  (void)done;
}

}  // namespace detail

/// Runs H::plan. `external`: inputs in order, then outputs that are not donated.
template <class H>
TT_ALWAYS_INLINE void run_static(std::byte* arena, void* const* external,
                                 const std::int64_t* offsets, const SymbolValues& symbols) {
  detail::run_kernels<H>(
      std::make_index_sequence<static_cast<std::size_t>(H::plan.kernels.size())>{}, arena, external,
      offsets, symbols);
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
