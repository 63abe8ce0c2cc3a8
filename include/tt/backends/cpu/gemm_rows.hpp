// Products of few rows, which read the right side in its memory order; and right sides stored in a narrower dtype than that of the computation.
#pragma once
#include "tt/backends/cpu/gemm_tiles.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {
namespace detail {

/// The most rows of A for which a transposed B is transposed while it is read. Each 8 rows read and transpose B anew, so it pays where B
/// comes from memory (is_far); else a panel is quicker.
inline constexpr int few_rows = 16;
constexpr bool is_far(std::int64_t rows, std::int64_t elements, int size) { return elements * size >= (rows <= 4 ? std::int64_t{1} << 20 : std::int64_t{1} << 22); }
/// Elements of a column that are multiplied with all rows before the next ones are read.
inline constexpr std::int64_t column_part = 512, line_pitch = column_part + 16;  // at a pitch of a power of two, columns would share few cache sets
/// Adds rows of A times a vector of columns of a B whose columns are contiguous: squares of B are read, widened if they are stored narrow, and
/// transposed in registers.
template <class T, class Stored, int Rows>
TT_NOINLINE void add_squares(const TileOperands<T>& m, const void* columns, T* sums) {
#if !defined(__CUDACC__)
  using C = Carrier<Pack<T>>;
  constexpr int n = square<T>;
  const auto* const stored = static_cast<const Stored*>(columns);
  Pack<T> sum[Rows];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) sum[r] = load(sums + r * lanes);
  for (std::int64_t k = 0; k < m.inner; k += n) {
    Square<T> s;
    transpose_loaded(s, [&](int r, auto& column) TT_LAMBDA_INLINE {
      const Stored* const from = stored + k + r * m.b_column;
      prefetch_ahead(from, 1024);
      if constexpr (std::is_same_v<Stored, T>) {
        std::memcpy(&column, from, sizeof column);
      } else {
        const Pack<T> wide = Carrier<Pack<Stored>>::template cast<T>(load(from));
        std::memcpy(&column, &wide, sizeof column);
      }
    });
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      Pack<T> b;
      static_assert(sizeof b == sizeof s.column[0]);
      std::memcpy(&b, &s.column[i], sizeof b);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) sum[r] = C::template apply<Op::fma>(C::splat(m.a[r * m.a_row + (k + i) * m.a_inner]), b, sum[r]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) store(sums + r * lanes, sum[r]);
#endif
}
/// Contiguous elements, converted to their compute dtype.
template <class T, class Stored>
void widen(T* to, const void* from, std::int64_t n) {
  using C = Carrier<Pack<Stored>>;
  const auto* p = static_cast<const Stored*>(from);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(to + i, C::template cast<T>(load(p + i)));
  if (i < n) store_first(to + i, C::template cast<T>(load_first(p + i, static_cast<int>(n - i))), static_cast<int>(n - i));
}
template <class T>
using Widen = void (*)(T* to, const void* from, std::int64_t n);
template <class T>
using AddSquares = void (*)(const TileOperands<T>&, const void* columns, T* sums);
/// For 1, 2, 4 and 8 rows.
template <class T, class Stored>
inline constexpr AddSquares<T> squares_of[] = {&add_squares<T, Stored, 1>, &add_squares<T, Stored, 2>, &add_squares<T, Stored, 4>, &add_squares<T, Stored, 8>};
/// The functions that depend on the dtype in which a narrow side is stored.
template <class T>
struct StoredFunctions {
  Widen<T> widen = nullptr;
  const AddSquares<T>* add_squares = nullptr;  ///< null: there are none
};
template <class T>
StoredFunctions<T> stored_functions(DType stored) {
  return with_dtype(stored, []<class S>(S) -> StoredFunctions<T> {
    if constexpr (NarrowElement<S> && std::is_same_v<compute_t<S>, T>) {
      if constexpr (square<T> == lanes && std::is_floating_point_v<T>) return {&widen<T, S>, squares_of<T, S>};
      else return {&widen<T, S>};
    } else {
      return {};
    }
  });
}
/// A right side that is stored in a narrower dtype than that of the computation.
template <class T>
struct StoredSide {
  const std::byte* b;
  int size;
  std::int64_t b_inner, b_column;
  StoredFunctions<T> functions;

  const std::byte* at(std::int64_t k, std::int64_t j) const { return b + (k * b_inner + j * b_column) * size; }
  /// `count` columns from j on, `n` elements of each from row k on: contiguous lines that are `pitch` apart.
  void columns(std::int64_t k, std::int64_t j, std::int64_t n, int count, T* to, std::int64_t pitch) const {
    for (int c = 0; c < count; ++c) {
      if (b_inner == 1) functions.widen(to + c * pitch, at(k, j + c), n);
      else
        for (std::int64_t i = 0; i < n; ++i) functions.widen(to + c * pitch + i, at(k + i, j + c), 1);
    }
  }
  /// The same elements as rows of `width` elements.
  void rows(std::int64_t k, std::int64_t j, std::int64_t n, int count, T* to, std::int64_t width) const {
    if (b_column == 1) {
      for (std::int64_t i = 0; i < n; ++i) functions.widen(to + i * width, at(k + i, j), count);
      return;
    }
    alignas(64) T lines[lanes * line_pitch];
    for (int c = 0; c < count; c += lanes) {
      const int some = count - c < lanes ? count - c : lanes;
      columns(k, j + c, n, some, lines, line_pitch);
      transpose_into(static_cast<const T*>(lines), line_pitch, 1, some, n, to + c, width);
    }
  }
};
/// A product of few rows and a B whose columns are contiguous, so that B is read from memory once. `block`: room for a part of a vector of
/// columns. `stored`: B in its storage dtype, if that is narrower.
template <class T, class Epilogue>
TT_ALWAYS_INLINE void multiply_few_rows(const MatmulOperands<T>& m, T* block, const StoredSide<T>* stored, const Epilogue& epilogue) {
  alignas(64) T t[few_rows * lanes], lines[lanes * line_pitch];
  for (std::int64_t j = 0; j < m.cols; j += lanes) {
    const int count = m.cols - j < lanes ? static_cast<int>(m.cols - j) : lanes;
    std::memset(t, 0, sizeof(T) * static_cast<std::size_t>(m.rows * lanes));
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < m.inner; k += n) {
      n = m.inner - k < column_part ? m.inner - k : column_part;
      const bool squares = square<T> == lanes && count == lanes && n >= lanes, as_stored = stored && squares && stored->b_inner == 1 && stored->functions.add_squares;
      if (stored && !as_stored) stored->columns(k, j, n, count, lines, line_pitch);
      const T* const b = stored ? lines : m.b + j * m.b_column + k * m.b_inner;
      const std::int64_t b_inner = stored ? 1 : m.b_inner, b_column = stored ? line_pitch : m.b_column;
      std::int64_t i = 0;
      const auto tile = [&] { return TileOperands<T>{n, m.a + i * m.a_row + k * m.a_inner, m.a_row, m.a_inner, b, b_inner, count, as_stored ? stored->b_column : b_column}; };
      if constexpr (square<T> == lanes)
        if (squares && b_inner == 1) {
          n = n / lanes * lanes;
          const AddSquares<T>* const add = as_stored ? stored->functions.add_squares : squares_of<T, T>;
          const void* const columns = as_stored ? static_cast<const void*>(stored->at(k, j)) : b;
          for (int h = 3; h >= 0; --h)
            for (; m.rows - i >= 1 << h; i += 1 << h) add[h](tile(), columns, t + i * lanes);
          continue;
        }
      transpose_into(b, b_column, b_inner, count, n, block, lanes);
      const auto rows = [&]<int H>(std::integral_constant<int, H>) TT_LAMBDA_INLINE {
        for (; m.rows - i >= H; i += H) {
          TileOperands<T> x = tile();
          x.b = block;
          x.b_inner = lanes;
          matmul_tile<T, H, 1, Panel::whole>(x, t + i * lanes, t + i * lanes);
        }
      };
      rows(std::integral_constant<int, 4>{});
      rows(std::integral_constant<int, 1>{});
    }
    epilogue(0, j, static_cast<int>(m.rows), 1, count, t);
  }
}

/// Columns of a single row whose sums are kept in memory together: rows of b are read in memory order, so that each page is used up.
/// With fewer than half as many columns, sums in registers are quicker.
inline constexpr int long_row = 2048;
/// Adds Steps rows of b, `b_inner` apart, each times its element of a, from element k on; k = 0 starts from zero.
template <int Steps, class T>
TT_ALWAYS_INLINE void add_rows(const MatmulOperands<T>& m, const T* b, std::int64_t b_inner, std::int64_t k, std::int64_t columns, T* sums) {
  using C = Carrier<Pack<T>>;
  Pack<T> a[Steps];
  for (int s = 0; s < Steps; ++s) a[s] = C::splat(m.a[(k + s) * m.a_inner]);
  for (std::int64_t i = 0; i < columns; i += lanes) {
    Pack<T> sum = k == 0 ? C::splat(T(0)) : load(sums + i);
#pragma GCC unroll 4
    for (int s = 0; s < Steps; ++s) sum = C::template apply<Op::fma>(a[s], load(b + s * b_inner + i), sum);
    store(sums + i, sum);
  }
}
template <class T>
TT_NOINLINE void multiply_row(const MatmulOperands<T>& m, std::int64_t j, std::int64_t columns, T* sums) {
  std::int64_t k = 0;
  for (; k + 4 <= m.inner; k += 4) add_rows<4>(m, m.b + k * m.b_inner + j, m.b_inner, k, columns, sums);
  for (; k < m.inner; ++k) add_rows<1>(m, m.b + k * m.b_inner + j, m.b_inner, k, columns, sums);
}
/// For a B that is stored narrow: four of its rows are converted, then used at once.
inline constexpr int stored_row = 1024;
template <class T>
TT_NOINLINE void multiply_row(const MatmulOperands<T>& m, const StoredSide<T>& stored, std::int64_t j, int columns, T* sums) {
  alignas(64) T rows[4 * stored_row];
  std::memset(sums, 0, sizeof(T) * stored_row);
  for (std::int64_t k = 0; k < m.inner; k += 4) {
    const std::int64_t n = m.inner - k < 4 ? m.inner - k : 4;
    stored.rows(k, j, n, columns, rows, stored_row);
    if (n == 4) add_rows<4>(m, rows, stored_row, k, columns, sums);
    else
      for (std::int64_t i = 0; i < n; ++i) add_rows<1>(m, rows + i * stored_row, stored_row, k + i, columns, sums);
  }
}

}  // namespace detail

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
