// Parts of matrix products: tiles of sums in registers, and the panels of B that they read. Every element is
// fma(a[i,k], b[k,j], sum) for k = 0, 1, ...: one order everywhere.
#pragma once
#include "tt/backends/cpu/transpose.hpp"
#include "tt/backends/cpu/windows.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// Tile rows for a number of vectors of columns: 32 registers hold 24 sums, 16 hold 12 (measured, AVX-512: 6x4
/// packs reach 96 % of peak).
template <class T>
constexpr int tile_rows(int vectors) {
  const int registers = (TT_AVX512 ? 24 : 12) / Pack<T>::parts;
  return registers / vectors > 0 ? registers / vectors : 1;
}
template <class T>
inline constexpr int tile_vectors = TT_AVX512 ? 4 : 2;
/// Vectors of a single row: enough independent sums to hide the latency of an fma, and stretches of b long enough to be worth a fetch.
template <class T>
inline constexpr int wide_row = (TT_AVX512 ? 16 : 8) / Pack<T>::parts;

/// A tile of A and a panel of B, in elements. `last` lanes of the panel's last vector exist.
template <class T>
struct TileOperands {
  std::int64_t inner;
  const T* a;
  std::int64_t a_row, a_inner;
  const T* b;
  std::int64_t b_inner;
  int last;
  std::int64_t b_column = 1;
};
/// How rows of B are read: whole (also beyond `last`), partial (not beyond `last`), or strided (elements that are b_column apart).
enum class Panel : std::uint8_t { whole, partial, strided };

/// sum[Rows][Vectors] += column k of the tile times row k of the panel.
template <Panel P, class T, int Rows, int Vectors>
TT_ALWAYS_INLINE void add_products(Pack<T> (&sum)[Rows][Vectors], const TileOperands<T>& m, std::int64_t k) {
  static_assert(Rows <= 32 && Vectors <= 16);  // the counts unrolled below: in a loop that is not unrolled the sums would be in memory
  using C = Carrier<Pack<T>>;
  Pack<T> bk[Vectors];
#pragma GCC unroll 16
  for (int v = 0; v < Vectors; ++v) {
    const T* b = m.b + k * m.b_inner + v * lanes * (P == Panel::strided ? m.b_column : 1);
    const int count = v == Vectors - 1 ? m.last : lanes;
    if constexpr (P == Panel::strided) bk[v] = load_strided(b, m.b_column, count);
    else bk[v] = P == Panel::partial && v == Vectors - 1 ? load_first(b, count) : load(b);
  }
#pragma GCC unroll 32
  for (int r = 0; r < Rows; ++r) {
    const Pack<T> ak = C::splat(m.a[r * m.a_row + k * m.a_inner]);
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) sum[r][v] = C::template apply<Op::fma>(ak, bk[v], sum[r][v]);
  }
}
/// sum = A tile times B panel, plus so_far if given. Inner: the length of the sum, if it is known and the loop is to be unrolled; else 0.
template <int Inner, Panel P, class T, int Rows, int Vectors>
TT_ALWAYS_INLINE void multiply_tile(Pack<T> (&sum)[Rows][Vectors], const TileOperands<T>& m, const T* so_far = nullptr) {
  // Unrolled by pragma: left as loops at -O2, g++ keeps the sums on the stack (1.6x slower).
#pragma GCC unroll 32
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) sum[r][v] = so_far ? load(so_far + (r * Vectors + v) * lanes) : Carrier<Pack<T>>::splat(T(0));
  if constexpr (Inner > 0) {
#pragma GCC unroll 8
    for (int k = 0; k < Inner; ++k) add_products<P>(sum, m, k);
  } else {
    for (std::int64_t k = 0; k < m.inner; ++k) add_products<P>(sum, m, k);
  }
}
template <class T, int Rows, int Vectors>
TT_ALWAYS_INLINE void store_tile(T* t, const Pack<T> (&sum)[Rows][Vectors]) {
#pragma GCC unroll 32
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) store(t + (r * Vectors + v) * lanes, sum[r][v]);
}
/// t[Rows][Vectors * lanes] = A tile times B panel; so_far: null, or t.
template <class T, int Rows, int Vectors, Panel P>
TT_NOINLINE void matmul_tile(const TileOperands<T>& m, T* t, const T* so_far = nullptr) {
  Pack<T> sum[Rows][Vectors];
  multiply_tile<0, P>(sum, m, so_far);
  store_tile(t, sum);
}

/// Enumerates the windows (or the elements of a window) one by one.
class WindowCounter {
 public:
  WindowCounter(const WindowAxes& axes, std::int64_t first) : axes_(axes) {
    for (int k = 0; k < axes.count; ++k) {
      const bool outermost = k + 1 == axes.count;
      index_[k] = outermost ? first : first % axes.extent[k];
      at += index_[k] * axes.stride[k];
      if (!outermost) first /= axes.extent[k];
    }
  }
  void next() {
    at += axes_.stride[0];
    ++index_[0];
    for (int k = 0; k + 1 < axes_.count && index_[k] == axes_.extent[k]; ++k) {
      at += axes_.stride[k + 1] - axes_.extent[k] * axes_.stride[k];
      index_[k] = 0;
      ++index_[k + 1];
    }
  }
  std::int64_t at = 0;  ///< elements from the first one

 private:
  const WindowAxes& axes_;
  std::int64_t index_[WindowAxes::capacity] = {};
};
/// The most columns of a panel of windows.
inline constexpr int window_columns = 64;

template <class T>
struct MatmulOperands {
  std::int64_t rows, cols, inner;
  const T* a;
  std::int64_t a_row, a_inner;
  const T* b;
  std::int64_t b_inner;
  bool b_padded;  // the last vector of b's rows may be read whole
  std::int64_t b_column = 1;
  const Windows* windows = nullptr;  // the panel is filled with the windows that are b's columns, from first_column on
  std::int64_t first_column = 0;

  /// Requires that `b` has been advanced to this column as if columns were consecutive elements; undoes that.
  void read(const Windows& w, std::int64_t column) {
    windows = &w;
    b -= column;
    first_column = column;
    b_padded = true;
  }
};

namespace detail {

/// All tiles of one panel of `Vectors` vectors. epilogue(i, rows). Rows: the number of rows where it
/// is known at compile time; the remaining rows are then one tile of exactly that height.
template <class T, std::int64_t Rows, int Vectors, Panel P, class Epilogue>
TT_ALWAYS_INLINE void matmul_panel(const MatmulOperands<T>& m, const T* b, std::int64_t b_inner,
                                   int last, T* t, const Epilogue& epilogue) {
  constexpr int height = tile_rows<T>(Vectors);
  std::int64_t i = 0;
  const auto tile = [&]<int H>(std::integral_constant<int, H>) TT_LAMBDA_INLINE {
    matmul_tile<T, H, Vectors, P>({m.inner, m.a + i * m.a_row, m.a_row, m.a_inner, b, b_inner, last}, t);
    epilogue(i, H);
    i += H;
  };
  if constexpr (Rows >= height || Rows < 0)
    while (i + height <= m.rows && !(Rows < 0 && height == 6 && m.rows - i == 8))  // 8 rows: two tiles of four are quicker than one of six and two single rows
      tile(std::integral_constant<int, height>{});
  if constexpr (Rows >= 0) {
    if constexpr (Rows % height != 0)
      if (i < m.rows)  // only the last part of a divided product has the remaining rows
        tile(std::integral_constant<int, static_cast<int>(Rows % height)>{});
  } else {
    if constexpr (height > 4)
      while (i + 4 <= m.rows) tile(std::integral_constant<int, 4>{});
    while (i < m.rows) tile(std::integral_constant<int, 1>{});
  }
}

/// Copies rows of a panel so that they are contiguous: at strides of 4 KiB they would share few cache sets.
template <class T>
TT_NOINLINE void pack_panel(const T* b, std::int64_t b_inner, std::int64_t inner, int width, T* to) {
  for (std::int64_t k = 0; k < inner; ++k)
    std::memcpy(to + k * width, b + k * b_inner, sizeof(T) * static_cast<std::size_t>(width));
}

/// Consecutive columns whose windows are `step` elements apart.
struct WindowRun {
  std::int64_t from;
  int begin, end;
};
/// Runs of columns, step apart, as rows of `width` elements. Elements behind a run may be overwritten; the next run writes them again.
template <class T>
TT_ALWAYS_INLINE void pack_runs(WindowCounter row, const T* b, std::int64_t inner, const WindowRun* run, int runs, std::int64_t step, int width, T* to) {
  for (std::int64_t k = 0; k < inner; ++k, to += width, row.next())
    for (int r = 0; r < runs; ++r) {
      const T* p = b + row.at + run[r].from;
      const int end = run[r].end;
      int j = run[r].begin;
      if (step == 1) {
        for (; j + lanes <= end; j += lanes, p += lanes) store(to + j, load(p));
        if (j < end) store(to + j, load_first(p, end - j));
        continue;
      }
      if constexpr (constexpr int n = square<T>; n > 1)
        for (; j + n <= end; j += n, p += 2 * n) first_of_pairs(p, to + j, std::make_index_sequence<n>{});
      for (; j < end; ++j, p += step) to[j] = *p;
    }
}
/// Columns at any offsets; where consecutive rows of the panel are consecutive in memory, squares of them are transposed.
template <class T>
TT_ALWAYS_INLINE void pack_squares(WindowCounter row, const T* b, std::int64_t inner, std::int64_t each, const std::int64_t* column,
                                   int count, int width, T* to) {
  for (std::int64_t k = 0; k < inner;) {
    const T* const from = b + row.at;
    const std::int64_t n = each - k % each >= square<T> ? square<T> : 1;
    int j = 0;
    if constexpr (square<T> > 1)
      if (n > 1)
        for (; j + n <= count; j += square<T>) transpose_square(from, RowsAnywhere{column + j}, to + j, width);
    for (; j < count; ++j)
      for (std::int64_t i = 0; i < n; ++i) to[i * width + j] = from[column[j] + i];
    k += n;
    to += n * width;
    for (std::int64_t i = 0; i < n; ++i) row.next();
  }
}
/// Columns of windows that are packed at once, for one or several tiles of `tile` columns: as many as stay in the nearest cache (32 KiB).
constexpr int packed_columns(std::int64_t inner, int size, int tile) {
  int columns = window_columns;
  while (columns > tile && inner * columns * size > 1 << 15) columns /= 2;
  return columns;
}
/// `count` columns of windows from `first` on, as rows of `width` elements; elements beyond `count` are undefined.
template <class T>
TT_NOINLINE void pack_windows(const Windows& w, const T* b, std::int64_t inner, std::int64_t first, int count, int width, T* to) {
  const WindowAxes& columns = w.columns;
  const std::int64_t length = columns.count > 1 ? columns.extent[0] : first + count;  // of a run
  const WindowCounter row(w.rows, 0);
  if (columns.stride[0] > 0 && columns.stride[0] <= 2 && length > 4) {
    WindowRun run[window_columns / 4];
    int runs = 0;
    for (int j = 0; j < count; ++runs) {
      const std::int64_t left = length - (first + j) % length, n = left < count - j ? left : count - j;
      run[runs] = {WindowCounter(columns, first + j).at, j, j + static_cast<int>(n)};
      j += static_cast<int>(n);
    }
    pack_runs(row, b, inner, run, runs, columns.stride[0], width, to);
    return;
  }
  std::int64_t column[window_columns];
  WindowCounter next(columns, first);
  for (int j = 0; j < count; ++j, next.next()) column[j] = next.at;
  const std::int64_t each = w.rows.count > 1 ? w.rows.extent[0] : inner;
  pack_squares(row, b, inner, w.rows.stride[0] == 1 ? each : 1, column, count, width, to);
}

}  // namespace detail

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
