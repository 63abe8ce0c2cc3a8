// Static execution: templates over H::plan, a constant; H is a type that holds a `static constexpr` plan (a FixedPlan). Every segment
// becomes straight-line SIMD code inside loops, whose bounds are constants where the extents are; kernels of equal code are one function.
//   run_static<H>(arena, external, offsets, symbols);
// Compile time: each function template instantiated for one plan costs the user 0.2 to 0.5 ms at -O2, so a kernel consists of few of
// them and shares with all plans the code that does not depend on one.
#pragma once
#include <cstddef>

#include "tt/backends/cpu/gemm.hpp"
#include "tt/backends/cpu/launch.hpp"
#include "tt/backends/cpu/static_small.hpp"
#include "tt/backends/cpu/windows.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

namespace detail {

/// May the kernel be called for a part of its grid?
template <class H, int K>
inline constexpr bool divides = can_divide(H::plan, K);

/// Columns [begin, end) of one row without reductions.
template <class H, int K, int S>
TT_KERNEL_INLINE void plain_sweep(Register* r, Place p, std::int64_t begin, std::int64_t end) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  p.tile_begin = begin;
  if constexpr (k.cols.is_constant() ? k.cols.code % lanes == 0
                                     : !needs_count(k, S, H::plan.instructions.begin(), accesses_of(H::plan))) {
    const std::int64_t last = begin + (end - begin + lanes - 1) / lanes * lanes;  // a form for which clang knows the trip count and unrolls
    for (p.col = begin; p.col != last; p.col += lanes) run_segment<H, K, S>(r, p);
  } else {
    p.col = begin;
    if constexpr (!k.cols.is_constant() || k.cols.code > lanes)
      for (; p.col + lanes <= end; p.col += lanes) run_segment<H, K, S>(r, p);
    if (p.col < end) {
      p.count = static_cast<int>(end - p.col);
      run_segment<H, K, S, true>(r, p);
    }
  }
}

/// Sweep number Sweep and those after it over columns [begin, end) of a row, each followed by its row steps.
template <class H, int K, int Sweep = 0>
TT_KERNEL_INLINE void run_sweeps(Register* r, const Place& p, std::int64_t begin, std::int64_t end) {
  constexpr int s = 2 * Sweep + 1;
  if constexpr (reductions<H, K, s> > 0) reducing_sweep<H, K, s>(r, p, end);
  else plain_sweep<H, K, s>(r, p, begin, end);
  run_segment<H, K, s + 1>(r, p);
  if constexpr (Sweep + 1 < H::plan.kernels[K].sweeps) run_sweeps<H, K, Sweep + 1>(r, p, begin, end);
}

/// A small matrix with constant offsets is transposed element by element: 6 x 6 take 40 ns by squares.
constexpr bool is_few_moves(const Kernel& k) {
  constexpr std::int64_t few_columns = 16, few_elements = 128;
  return k.rows.is_constant() && k.cols.is_constant() && k.rows.code <= few_elements && k.cols.code <= few_columns && k.rows.code * k.cols.code <= few_elements;
}
template <class H, int K>
TT_KERNEL_INLINE void transposition_body(const Place& p, const Range& range) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  constexpr int from = H::plan.instructions[k.segment[1]].access, to = H::plan.instructions[k.segment[1] + 1].access;
  using T = element_t<H::plan.instructions[k.segment[1]].dtype>;
  const SymbolValues* s = p.symbols;
  const std::int64_t stride = extent<H::plan.accesses[from].column.code>(s), col = range.first(SplitAxis::cols);
  static constexpr Access from_rows = H::plan.accesses[from], to_rows = H::plan.accesses[to];
  if constexpr (is_few_moves(k)) {
#pragma GCC unroll 16
    for (std::int64_t row = 0; row < k.rows.code; ++row) {
      const T* const in = static_cast<const T*>(p.operand[from_rows.buffer]) + row_offset<H, from>(s, row);
      T* const out = static_cast<T*>(p.operand[to_rows.buffer]) + row_offset<H, to>(s, row);
#pragma GCC unroll 16
      for (std::int64_t c = 0; c < k.cols.code; ++c) out[c] = in[c * stride];
    }
    return;
  }
  transpose_rows(static_cast<const T*>(p.operand[from_rows.buffer]) + col * stride, static_cast<T*>(p.operand[to_rows.buffer]) + col,
                 from_rows, to_rows, H::plan.terms.begin(), s ? *s : SymbolValues{}, range.first(SplitAxis::rows),
                 range.last(SplitAxis::rows, extent<k.rows.code>(s)), range.last(SplitAxis::cols, extent<k.cols.code>(s)) - col, stride);
}

template <class H, int K>
TT_KERNEL_INLINE void rows_body(Place p, const Range& range) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  const std::int64_t rows = k.rows == Extent(1) ? 1 : range.last(SplitAxis::rows, extent<k.rows.code>(p.symbols));
  // Parts begin at multiples of tile_columns. If there is only one part, the number of columns may be a constant.
  constexpr bool divided = divides<H, K> && columns_divide(H::plan, k) &&
                           !(k.cols.is_constant() && k.cols.code <= tile_columns);
  const std::int64_t first = divided ? range.first(SplitAxis::cols) : 0, all = extent<k.cols.code>(p.symbols);
  const std::int64_t cols = divided ? range.last(SplitAxis::cols, all) : all;
  Register r[register_count(k)];
  for (p.row = k.rows == Extent(1) ? 0 : range.first(SplitAxis::rows); p.row < rows; ++p.row) {
    run_segment<H, K, 0>(r, p);
    if constexpr (k.tile == 0) {
      run_sweeps<H, K>(r, p, first, cols);
    } else {
      std::int64_t begin = first;
      do {
        const std::int64_t end = begin + k.tile < cols ? begin + k.tile : cols;
        run_sweeps<H, K>(r, p, begin, end);
        begin = end;
      } while (begin < cols);
    }
  }
}

template <class H, int K>
TT_KERNEL_INLINE void cols_body(Place p, const Range& range) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  constexpr int width = packs_per_block < 4 ? packs_per_block : 4;
  const std::int64_t rows = range.last(SplitAxis::rows, extent<k.rows.code>(p.symbols));
  const std::int64_t cols = range.last(SplitAxis::cols, extent<k.cols.code>(p.symbols));
  const std::int64_t inner = extent<k.inner.code>(p.symbols);
  Register r[register_count(k)];
  for (p.row = range.first(SplitAxis::rows); p.row < rows; ++p.row) {
    run_segment<H, K, 0>(r, p);
    p.col = range.first(SplitAxis::cols);
    if constexpr (!k.cols.is_constant() || k.cols.code >= width * lanes)
      for (; p.col + width * lanes <= cols; p.col += width * lanes) sum_columns<H, K, width, false>(r, p, inner);
    if constexpr (!k.cols.is_constant() || k.cols.code % (width * lanes) >= lanes)
      for (; p.col + lanes <= cols; p.col += lanes) sum_columns<H, K, 1, false>(r, p, inner);
    if constexpr (!k.cols.is_constant() || k.cols.code % lanes != 0)
      if (p.col < cols) {
        Place last = p;
        last.count = static_cast<int>(cols - p.col);
        sum_columns<H, K, 1, true>(r, last, inner);
      }
  }
}

/// The number of vectors of columns in each tile of a product, if it is the same for all tiles; else 0.
template <class T>
constexpr int tile_width(const Kernel& k) {
  const Extent cols = k.cols;
  const bool by_vectors = k.b_column != Extent(1) && !(k.rows.is_constant() && k.rows.code > few_rows);  // possibly: see multiply_few_rows
  if (!cols.is_constant() || k.rows == Extent(1) || by_vectors) return 0;
  if (cols.code % (tile_vectors<T> * lanes) == 0) return tile_vectors<T>;
  return cols.code < tile_vectors<T> * lanes ? static_cast<int>(cols.code + lanes - 1) / lanes : 0;
}
/// The epilogue of a tile at row, column: a function of its own, as it is called for every height and width of tiles.
template <class H, int K>
TT_NOINLINE TT_FLATTEN void finish_tile(const Place& from, int tile_rows_, int vectors, int last, const void* tile) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  using T = element_t<k.dtype>;
  void* operand[k.bindings + 1];  // a copy stays in registers: no store can alias it
  std::memcpy(operand, from.operand, sizeof operand);
  Place p{operand, from.symbols, from.row, from.col};
  constexpr int known = tile_width<T>(k);
  if constexpr (known > 0) {
    vectors = known;
    last = static_cast<int>(k.cols.code - 1) % lanes + 1;
  }
  Register r[register_count(k)];
  run_segment<H, K, 0>(r, p);
  const std::int64_t col = p.col;
  p.tile = tile;
  for (int y = 0; y < tile_rows_; ++y, ++p.row) {
    p.col = col;
    for (int v = 0; v < vectors; ++v, p.col += lanes) {
      p.count = v == vectors - 1 ? last : lanes;
      if constexpr (k.cols.is_constant() && k.cols.code % lanes == 0) run_segment<H, K, 1>(r, p);
      else if (p.count == lanes) run_segment<H, K, 1>(r, p);
      else run_segment<H, K, 1, true>(r, p);
      p.tile = static_cast<const T*>(p.tile) + lanes;
    }
  }
}

/// Is a product so small that all its sums stay in registers?
constexpr bool is_one_tile(const Kernel& k, bool divides) {
  if (!k.rows.is_constant() || !k.cols.is_constant() || !k.inner.is_constant() || k.rows.code < 1 || k.cols.code < 1 ||
      k.windows >= 0)
    return false;
  const bool tiny = is_tiny(k.rows, k.cols, k.inner);
  if (tiny && k.b_column != Extent(1)) return true;  // tiny products have no panel for a transposed b
  if (divides || k.b_column != Extent(1) || k.rows.code > tiny_product || k.cols.code > 16 * lanes) return false;
  const std::int64_t registers = k.rows.code * ((k.cols.code + lanes - 1) / lanes) * (size_of(k.dtype) / 4);
  return registers <= (TT_AVX512 ? 16 : 8) || (tiny && registers <= (TT_AVX512 ? 24 : 12));
}
/// Such a product with its epilogue, without a tile in memory.
template <class H, int K, class T>
TT_KERNEL_INLINE void one_tile(Place p, const MatmulOperands<T>& m, std::int64_t b_column, std::int64_t batch) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  constexpr int rows = static_cast<int>(k.rows.code), vectors = static_cast<int>(k.cols.code + lanes - 1) / lanes,
                last = static_cast<int>(k.cols.code - 1) % lanes + 1;
  Pack<T> sum[rows][vectors];
  constexpr int unrolled = k.inner.code <= tiny_product ? static_cast<int>(k.inner.code) : 0;
  const TileOperands<T> tile{k.inner.code, m.a, m.a_row, m.a_inner, m.b, m.b_inner, last, b_column};
  if constexpr (k.b_column != Extent(1)) multiply_tile<unrolled, Panel::strided>(sum, tile);
  else if (last == lanes || m.b_padded) multiply_tile<unrolled, Panel::whole>(sum, tile);
  else multiply_tile<unrolled, Panel::partial>(sum, tile);
  Register r[register_count(k)];
  run_segment<H, K, 0>(r, p);
#pragma GCC unroll 8
  for (int y = 0; y < rows; ++y)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      p.row = batch * rows + y;
      p.col = v * lanes;
      p.tile = &sum[y][v];
      if (last == lanes || v < vectors - 1) {
        run_segment<H, K, 1>(r, p);
      } else {
        p.count = last;
        run_segment<H, K, 1, true>(r, p);
      }
    }
}

template <class H, int K>
TT_KERNEL_INLINE void matmul_body(Place p, const Range& range) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  using T = element_t<k.dtype>;
  static constexpr const Access& xa = H::plan.accesses[k.a];
  static constexpr const Access& xb = H::plan.accesses[k.b];
  const SymbolValues* s = p.symbols;
  const std::int64_t rows = extent<k.rows.code>(s), cols = extent<k.cols.code>(s), inner = extent<k.inner.code>(s);
  const std::int64_t batch = range.last(SplitAxis::batch, extent<k.batch.code>(s));
  const std::int64_t row0 = range.first(SplitAxis::rows), col0 = range.first(SplitAxis::cols);
  Windows windows;
  if constexpr (k.windows >= 0) windows = windows_of(H::plan.accesses[k.windows], H::plan.terms.begin(), no_symbols);
  for (std::int64_t q = range.first(SplitAxis::batch); q < batch; ++q) {
    const std::int64_t a_row = extent<k.a_row.code>(s), b_column = extent<k.b_column.code>(s);
    MatmulOperands<T> m{range.last(SplitAxis::rows, rows) - row0,
                        range.last(SplitAxis::cols, cols) - col0, inner,
                        static_cast<const T*>(p.operand[xa.buffer]) + row_offset<H, k.a>(s, q) + row0 * a_row,
                        a_row, extent<k.a_inner.code>(s),
                        static_cast<const T*>(p.operand[xb.buffer]) + row_offset<H, k.b>(s, q) + col0 * b_column,
                        extent<k.b_inner.code>(s), !xb.guarded || xb.overread, b_column};
    if constexpr (is_one_tile(k, divides<H, K>)) {
      one_tile<H, K>(p, m, b_column, q);
      continue;
    }
    T* panel = nullptr;
    if constexpr (k.panel >= 0) panel = static_cast<T*>(p.operand[k.panel]);
    if constexpr (k.windows >= 0) m.read(windows, col0);
    matmul<T, k.rows.code, k.cols.code>(
        m, panel,
        [&](std::int64_t i, std::int64_t j, int tile_rows_, int vectors, int last,
            const T* t) TT_LAMBDA_INLINE {
          p.row = q * rows + row0 + i;
          p.col = col0 + j;
          finish_tile<H, K>(p, tile_rows_, vectors, last, t);
        });
  }
}

/// The form of a kernel's code. The first two are so short that they are inlined into their callers: a call takes as long.
enum class KernelForm : std::uint8_t { few_vectors, few_steps, many_vectors, transposition, rows, cols, matmul };
constexpr KernelForm choose_form(const Kernel& k, const Instruction* instructions, Accesses accesses) {
  if (is_in_vectors(k, instructions, accesses))
    return RowsInVectors(k).vectors() > few ? KernelForm::many_vectors : KernelForm::few_vectors;
  if (is_transposition(k, instructions, accesses)) return KernelForm::transposition;
  if (k.kind == KernelKind::matmul) return KernelForm::matmul;
  if (k.kind == KernelKind::cols) return KernelForm::cols;
  return is_few_steps(k) ? KernelForm::few_steps : KernelForm::rows;
}
/// A loop over few vectors, of ops that take a cycle or two: inlined, as a call would take a third of its time.
constexpr bool is_short_loop(const Kernel& k, const Instruction* instructions) {
  if (k.kind != KernelKind::rows || k.tile != 0 || k.sweeps != 1 || k.rows != Extent(1) || !k.cols.is_constant()) return false;
  const int begin = k.segment[0], end = k.segment[3];
  for (int i = begin; i < end; ++i)
    if (is_reduction(instructions[i].op) || instructions[i].op == Op::call) return false;
  return (k.cols.code + lanes - 1) / lanes * (end - begin) <= 128;
}
template <class H, int K>
inline constexpr KernelForm kernel_form =
    choose_form(H::plan.kernels[K], H::plan.instructions.begin(), accesses_of(H::plan));

template <std::size_t>
using Pointer = void*;

/// Kernel K of H::plan, as a function of its own or inlined into its caller. Its operands are arguments, so that they are passed
/// in registers: passing them in memory would take as long as a small kernel.
template <class H, int K, class Is>
struct StaticKernel;
template <class H, int K, std::size_t... I>
struct StaticKernel<H, K, std::index_sequence<I...>> {
  static TT_NOINLINE TT_FLATTEN void run(const SymbolValues* symbols, const Range& range, Pointer<I>... operands) {
    body(symbols, range, operands...);
  }
  static TT_FLATTEN inline void run_in_caller(const SymbolValues* symbols, const Range& range, Pointer<I>... operands) {
    body(symbols, range, operands...);
  }
  static TT_KERNEL_INLINE void body(const SymbolValues* symbols, const Range& range, Pointer<I>... operands) {
    void* const operand[] = {operands..., nullptr};
    const Place p{operand, symbols};
    constexpr bool divided = divides<H, K>;  // else clang would check the range at every call
    const Range part = divided ? range : Range{};
    constexpr KernelForm form = kernel_form<H, K>;
    if constexpr (form == KernelForm::few_vectors) few_vectors_body<H, K>(p);
    else if constexpr (form == KernelForm::few_steps) few_steps_body<H, K>(p);
    else if constexpr (form == KernelForm::many_vectors) many_vectors_body<H, K>(p, part);
    else if constexpr (form == KernelForm::transposition) transposition_body<H, K>(p, part);
    else if constexpr (form == KernelForm::rows) rows_body<H, K>(p, part);
    else if constexpr (form == KernelForm::cols) cols_body<H, K>(p, part);
    else matmul_body<H, K>(p, part);
  }
  static void run_call(const KernelCall& call) { run(call.symbols, call.range, call.operand[I]...); }
};

template <class H, int J>
struct Divisible {
  static constexpr auto scratch = scratch_operands<count_scratch(H::plan, J)>(H::plan, J);
  static constexpr DivisibleKernel kernel = divisible(H::plan, J, scratch.item, count_scratch(H::plan, J));
};

template <class H, int B, bool Placed = (H::plan.arena >= 0)>
using BufferOf = PlacedBuffer<H::plan.buffers[B].external, Placed ? H::plan.buffers[B].offset : -1,
                              Placed || H::plan.buffers[B].external >= 0 ? 0 : B>;

/// Does kernel K keep the rows of its scratch buffers in registers? (A kernel of a single row does not: `is_kept`.)
template <class H, int K>
inline constexpr bool keeps_rows =
    H::plan.kernels[K].rows != Extent(1) &&
    (kernel_form<H, K> == KernelForm::few_vectors || kernel_form<H, K> == KernelForm::many_vectors);
/// The buffer that is operand I of kernel J; -1 if it is not used.
template <class H, int J, int I>
inline constexpr int used_buffer = [] {
  const int buffer = H::plan.bindings[H::plan.kernels[J].first_binding + I];
  return H::plan.buffers[buffer].scratch && keeps_rows<H, H::plan.kernels[J].code> ? -1 : buffer;
}();
struct NoBuffer {
  static TT_ALWAYS_INLINE void* address(std::byte*, void* const*, const std::int64_t*) { return nullptr; }
};
template <class H, int B>
struct OperandBuffer {
  using type = BufferOf<H, B>;
};
template <class H>
struct OperandBuffer<H, -1> {
  using type = NoBuffer;
};
template <class H, int J, std::size_t I>
using OperandOf = typename OperandBuffer<H, used_buffer<H, J, static_cast<int>(I)>>::type;

/// Calls kernel J with its own operands.
template <class H, int J, std::size_t... I>
TT_ALWAYS_INLINE void launch(std::index_sequence<I...>, std::byte* arena, void* const* external,
                             const std::int64_t* offsets, const SymbolValues& symbols) {
  using Kernel = StaticKernel<H, H::plan.kernels[J].code, std::index_sequence<I...>>;
  if constexpr (divides<H, H::plan.kernels[J].code>)
    if (array_threads() > 1) {
      void* const operand[] = {OperandOf<H, J, I>::address(arena, external, offsets)..., nullptr};
      return run_divided(&Kernel::run_call, Divisible<H, J>::kernel, {operand, &symbols});
    }
  constexpr int number = H::plan.kernels[J].code;
  if constexpr (kernel_form<H, number> <= KernelForm::few_steps || is_short_loop(H::plan.kernels[number], H::plan.instructions.begin()))
    Kernel::run_in_caller(&symbols, whole_kernel, OperandOf<H, J, I>::address(arena, external, offsets)...);
  else
    Kernel::run(&symbols, whole_kernel, OperandOf<H, J, I>::address(arena, external, offsets)...);
}

template <class H, std::size_t... J>
TT_ALWAYS_INLINE void run_kernels(std::index_sequence<J...>, [[maybe_unused]] std::byte* arena, [[maybe_unused]] void* const* external,
                                  [[maybe_unused]] const std::int64_t* offsets, [[maybe_unused]] const SymbolValues& symbols) {
  const int done[] = {0, (launch<H, static_cast<int>(J)>(
                              std::make_index_sequence<static_cast<std::size_t>(H::plan.kernels[J].bindings)>{},
                              arena, external, offsets, symbols), 0)...};
  (void)done;
}

}  // namespace detail

/// Does the program need memory for buffers of its own?
template <class H>
constexpr bool needs_arena() {
  for (const Buffer& b : H::plan.buffers)
    if (b.external < 0 && !b.scratch) return true;
  return []<std::size_t... J>(std::index_sequence<J...>) {
    [[maybe_unused]] constexpr auto needs = []<int K>(std::integral_constant<int, K>) {
      const Kernel& k = H::plan.kernels[K];
      for (int i = 0; i < k.bindings; ++i)
        if (H::plan.buffers[H::plan.bindings[k.first_binding + i]].external < 0)
          return !detail::keeps_rows<H, H::plan.kernels[K].code>;
      return false;
    };
    return (needs(std::integral_constant<int, static_cast<int>(J)>{}) || ...);
  }(std::make_index_sequence<static_cast<std::size_t>(H::plan.kernels.size())>{});
}
/// Are all operands read before anything is written, so that a result may overwrite any of them?
template <class H>
inline constexpr bool reads_first = [] {
  if (H::plan.kernels.size() != 1) return false;
  if (detail::kernel_form<H, 0> != detail::KernelForm::few_vectors ||
      detail::RowsInVectors(H::plan.kernels[0]).vectors() > 1)
    return false;
  for (int i = 0; i + 1 < H::plan.instructions.size(); ++i)
    if (H::plan.instructions[i].op == Op::store) return false;
  return true;
}();

/// Runs H::plan. `external`: inputs in order, then outputs that do not reuse a donated input.
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
