// The matrix products: register tiles and packing. They know nothing of plans; a kernel's epilogue
// is handed in. Every element is fma(a[i,k], b[k,j], sum) for k = 0, 1, ...: one order everywhere.
#pragma once
#include <bit>

#include "tt/backends/cpu/transpose.hpp"
#include "tt/backends/cpu/windows.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// Tile rows by vectors of columns: 32 registers hold 24 sums, 16 hold 12 (measured, AVX-512: 6x4
/// packs reach 96 % of peak).
template <class T>
constexpr int tile_rows(int vectors) {
  const int registers = (TT_AVX512 ? 24 : 12) / Pack<T>::parts;
  return registers / vectors > 0 ? registers / vectors : 1;
}
template <class T>
inline constexpr int tile_vectors = TT_AVX512 ? 4 : 2;
/// Vectors of a single row: as many sums as hide the latency of one, and runs of b that are worth a fetch.
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
/// How rows of B are read: also beyond `last`, not beyond it, or elements that are b_column apart.
enum class Panel : std::uint8_t { whole, partial, strided };

/// sum[Rows][Vectors] += column k of the tile times row k of the panel.
template <Panel P, class T, int Rows, int Vectors>
TT_ALWAYS_INLINE void add_products(Pack<T> (&sum)[Rows][Vectors], const TileOperands<T>& m, std::int64_t k) {
  static_assert(Rows <= 32 && Vectors <= 16);  // what is unrolled: else the sums lie in memory
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
/// sum = A tile times B panel, or sums so far and that. Inner: its length, where that is known and the loop is to be unrolled; else 0.
template <int Inner, Panel P, class T, int Rows, int Vectors>
TT_ALWAYS_INLINE void multiply_tile(Pack<T> (&sum)[Rows][Vectors], const TileOperands<T>& m, const T* so_far = nullptr) {
  // Unrolled by order: left as loops at -O2, g++ keeps the sums on the stack (1.6x slower).
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

/// Goes through them one by one.
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
/// Columns of a panel of windows, at most.
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
  const Windows* windows = nullptr;  // b's columns are put together in the panel, from this one on
  std::int64_t first_column = 0;

  /// `b` was moved to this column as if columns lay one behind the other.
  void read(const Windows& w, std::int64_t column) {
    windows = &w;
    b -= column;
    first_column = column;
    b_padded = true;
  }
};

namespace detail {

/// All tiles of one panel of `Vectors` vectors. epilogue(i, rows). Rows: the number of rows when it
/// is known at compile time; then what is left over is one tile of just that height.
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
    while (i + height <= m.rows && !(Rows < 0 && height == 6 && m.rows - i == 8))  // these are twice four: quicker than six and two single ones
      tile(std::integral_constant<int, height>{});
  if constexpr (Rows >= 0) {
    if constexpr (Rows % height != 0)
      if (i < m.rows)  // only the last part of a product that is divided has the rest
        tile(std::integral_constant<int, static_cast<int>(Rows % height)>{});
  } else {
    if constexpr (height > 4)
      while (i + 4 <= m.rows) tile(std::integral_constant<int, 4>{});
    while (i < m.rows) tile(std::integral_constant<int, 1>{});
  }
}

/// Rows of a panel brought together: at strides of 4 KiB they would share few cache sets.
template <class T>
TT_NOINLINE void pack_panel(const T* b, std::int64_t b_inner, std::int64_t inner, int width, T* to) {
  for (std::int64_t k = 0; k < inner; ++k)
    std::memcpy(to + k * width, b + k * b_inner, sizeof(T) * static_cast<std::size_t>(width));
}

/// Columns of windows that lie `step` apart.
struct WindowRun {
  std::int64_t from;
  int begin, end;
};
/// Runs of columns, step apart, as rows of `width` elements. What lies behind a run may be written, by the next run again.
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
/// Columns that lie anywhere; where rows lie one behind the other, squares of them are exchanged.
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
/// Columns of windows that are put together at once, for one or several tiles of `tile` columns: so many that they stay in the nearest cache (32 KiB).
constexpr int packed_columns(std::int64_t inner, int size, int tile) {
  int columns = window_columns;
  while (columns > tile && inner * columns * size > 1 << 15) columns /= 2;
  return columns;
}
/// `count` columns of windows from `first` on, as rows of `width` elements, of which the last are anything.
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

/// Rows of A, at most, for which columns of B are exchanged with its rows while they are read. Each 8 of them do that anew, so it pays where B
/// comes from memory; else a panel does.
inline constexpr int few_rows = 16;
constexpr bool is_far(std::int64_t rows, std::int64_t elements, int size) { return elements * size >= (rows <= 4 ? std::int64_t{1} << 20 : std::int64_t{1} << 22); }
/// Elements of a column that all rows take before the next ones are read.
inline constexpr std::int64_t column_part = 512, line_pitch = column_part + 16;  // apart by a power of two, columns would share few cache sets
/// Adds rows of A times a vector of columns of a B whose columns lie one behind the other: squares of B are read, widened if they are stored narrow, and
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
/// Elements that lie one behind the other, in their compute dtype.
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
/// What depends on how a side is stored that is narrower than it is computed with.
template <class T>
struct StoredFunctions {
  Widen<T> widen = nullptr;
  AddSquares<T> add_squares[4] = {};  ///< of 1, 2, 4 and 8 rows; null: there are none
};
template <class T>
StoredFunctions<T> stored_functions(DType stored) {
  return with_dtype(stored, []<class S>(S) -> StoredFunctions<T> {
    if constexpr (NarrowElement<S> && std::is_same_v<compute_t<S>, T>) {
      if constexpr (square<T> == lanes && std::is_floating_point_v<T>) return {&widen<T, S>, {&add_squares<T, S, 1>, &add_squares<T, S, 2>, &add_squares<T, S, 4>, &add_squares<T, S, 8>}};
      else return {&widen<T, S>};
    } else {
      return {};
    }
  });
}
/// A right side that is stored narrower than it is computed with.
template <class T>
struct StoredSide {
  const std::byte* b;
  int size;
  std::int64_t b_inner, b_column;
  StoredFunctions<T> functions;

  const std::byte* at(std::int64_t k, std::int64_t j) const { return b + (k * b_inner + j * b_column) * size; }
  /// `count` columns from j on, `n` elements of each from row k on, one behind the other, as lines `pitch` apart.
  void columns(std::int64_t k, std::int64_t j, std::int64_t n, int count, T* to, std::int64_t pitch) const {
    for (int c = 0; c < count; ++c) {
      if (b_inner == 1) functions.widen(to + c * pitch, at(k, j + c), n);
      else
        for (std::int64_t i = 0; i < n; ++i) functions.widen(to + c * pitch + i, at(k + i, j + c), 1);
    }
  }
  /// The same as rows of `width` elements.
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
/// Of few rows, and a B whose columns lie one behind the other: it comes from memory once. `block`: room for a part of a vector of columns.
/// `stored`: B as it is stored, if that is narrower.
template <class T, class Epilogue>
TT_ALWAYS_INLINE void multiply_few_rows(const MatmulOperands<T>& m, T* block, const StoredSide<T>* stored, const Epilogue& epilogue) {
  alignas(64) T t[few_rows * lanes], lines[lanes * line_pitch];
  for (std::int64_t j = 0; j < m.cols; j += lanes) {
    const int count = m.cols - j < lanes ? static_cast<int>(m.cols - j) : lanes;
    std::memset(t, 0, sizeof(T) * static_cast<std::size_t>(m.rows * lanes));
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < m.inner; k += n) {
      n = m.inner - k < column_part ? m.inner - k : column_part;
      const bool squares = square<T> == lanes && count == lanes && n >= lanes, as_stored = stored && squares && stored->b_inner == 1 && stored->functions.add_squares[0];
      if (stored && !as_stored) stored->columns(k, j, n, count, lines, line_pitch);
      const T* const b = stored ? lines : m.b + j * m.b_column + k * m.b_inner;
      const std::int64_t b_inner = stored ? 1 : m.b_inner, b_column = stored ? line_pitch : m.b_column;
      std::int64_t i = 0;
      const auto tile = [&] { return TileOperands<T>{n, m.a + i * m.a_row + k * m.a_inner, m.a_row, m.a_inner, b, b_inner, count, as_stored ? stored->b_column : b_column}; };
      if constexpr (square<T> == lanes)
        if (squares && b_inner == 1) {
          n = n / lanes * lanes;
          const auto rows = [&]<int H>(std::integral_constant<int, H>) TT_LAMBDA_INLINE {
            for (; m.rows - i >= H; i += H)
              if (as_stored) stored->functions.add_squares[std::countr_zero(static_cast<unsigned>(H))](tile(), stored->at(k, j), t + i * lanes);
              else add_squares<T, T, H>(tile(), b, t + i * lanes);
          };
          rows(std::integral_constant<int, 8>{});
          rows(std::integral_constant<int, 4>{});
          rows(std::integral_constant<int, 2>{});
          rows(std::integral_constant<int, 1>{});
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

/// Columns of a single row whose sums are in memory together: rows of b are read as they lie, so that a page is used up.
/// Fewer than half as many are quicker in registers.
inline constexpr int long_row = 2048;
/// Adds Steps rows of b, `b_inner` apart, each times its element of a, from element k on; k = 0 begins.
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
/// Of a B that is stored narrow: four rows of it are converted, and used at once.
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

/// Calls epilogue(i, j, rows, vectors, last, t) for every tile: t[rows][vectors * lanes] holds the
/// products at row i, column j; `last` lanes of the last vector are columns. Rows and Cols: the
/// sizes as far as they are known at compile time, else negative; they leave out what cannot occur.
template <class T, std::int64_t Rows, std::int64_t Cols, class Epilogue>
TT_ALWAYS_INLINE void matmul(const MatmulOperands<T>& m, T* panel, const Epilogue& epilogue) {
  constexpr int wide = tile_vectors<T>;
  if constexpr (Rows <= detail::few_rows)
    if (m.b_column != 1 && m.rows <= detail::few_rows && (!panel || detail::is_far(m.rows, m.inner * m.cols, sizeof(T)))) {
      alignas(64) T tiny[tiny_product * lanes];  // such products have no panel
      return detail::multiply_few_rows(m, panel ? panel : tiny, static_cast<const detail::StoredSide<T>*>(nullptr), epilogue);
    }
  alignas(64) T t[(TT_AVX512 ? 24 : 12) * lanes];
  std::int64_t j = 0;
  const bool packs = panel && (m.b_column != 1 || needs_panel(m.rows, m.inner, m.b_inner * static_cast<int>(sizeof(T))));
  const int packed_width = m.windows ? detail::packed_columns(m.inner, sizeof(T), wide * lanes) : 0;
  std::int64_t packed_begin = 0, packed_end = 0;
  const auto columns = [&]<int Vectors, Panel P>(std::integral_constant<int, Vectors>,
                                                 std::integral_constant<Panel, P>, int last) TT_LAMBDA_INLINE {
    const T* b = m.b + j * m.b_column;
    std::int64_t b_inner = m.b_inner;
    if (m.windows) {
      if (j == packed_end) {
        packed_begin = j;
        packed_end = m.cols - j < packed_width ? m.cols : j + packed_width;
        detail::pack_windows(*m.windows, m.b, m.inner, m.first_column + j, static_cast<int>(packed_end - j), packed_width, panel);
      }
      b = panel + (j - packed_begin);
      b_inner = packed_width;
    } else if (packs && P == Panel::whole) {
      if (m.b_column != 1) transpose_into(b, m.b_column, b_inner, (Vectors - 1) * lanes + last, m.inner, panel, Vectors * lanes);
      else detail::pack_panel(b, b_inner, m.inner, Vectors * lanes, panel);
      b = panel;
      b_inner = Vectors * lanes;
    }
    detail::matmul_panel<T, Rows, Vectors, P>(
        m, b, b_inner, last, t, [&](std::int64_t i, int rows) TT_LAMBDA_INLINE {
          epilogue(i, j, rows, Vectors, last, t);
        });
    j += Vectors * lanes;
  };
  constexpr std::integral_constant<Panel, Panel::whole> whole;
  constexpr std::integral_constant<Panel, Panel::partial> partial;
  constexpr int row = wide_row<T>;
  if constexpr ((Rows < 0 || Rows == 1) && (Cols < 0 || Cols >= detail::long_row / 2))
    while (m.rows == 1 && !m.windows && m.b_column == 1 && m.inner > 0 && m.cols - j >= detail::long_row / 2) {
      alignas(64) T sums[detail::long_row];
      const std::int64_t left = m.cols - j, begin = j;
      const std::int64_t end = j + (left < detail::long_row ? left / (row * lanes) * (row * lanes) : detail::long_row);
      detail::multiply_row(m, j, end - j, sums);
      for (; j < end; j += row * lanes) epilogue(0, j, 1, row, lanes, sums + (j - begin));
    }
  if constexpr ((Rows < 0 || Rows == 1) && (Cols < 0 || Cols >= row * lanes))
    while (m.rows == 1 && !m.windows && m.b_column == 1 && j + row * lanes <= m.cols) columns(std::integral_constant<int, row>{}, whole, lanes);
  if constexpr (Cols < 0 || Cols >= wide * lanes)
    while (j + wide * lanes <= m.cols)
      columns(std::integral_constant<int, wide>{}, whole, lanes);
  // what is left: 1 to `wide` vectors, the last of them perhaps partial
  const auto rest = [&]<int Vectors>(std::integral_constant<int, Vectors> vectors) TT_LAMBDA_INLINE {
    constexpr std::int64_t left = Cols < 0 ? -1 : Cols % (wide * lanes);
    if constexpr (left < 0 || (left + lanes - 1) / lanes == Vectors) {
      const std::int64_t columns_left = m.cols - j;
      if ((columns_left + lanes - 1) / lanes != Vectors) return;
      const int last = static_cast<int>(columns_left - (Vectors - 1) * lanes);
      if constexpr (left < 0 || left % lanes == 0)
        if (last == lanes) {
          columns(vectors, whole, lanes);
          return;
        }
      if constexpr (left < 0 || left % lanes != 0) {
        if (m.b_padded || m.b_column != 1) columns(vectors, whole, last);
        else columns(vectors, partial, last);
      }
    }
  };
  rest(std::integral_constant<int, 1>{});
  rest(std::integral_constant<int, 2>{});
  if constexpr (wide > 2) {
    rest(std::integral_constant<int, 3>{});
    rest(std::integral_constant<int, 4>{});
  }
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
