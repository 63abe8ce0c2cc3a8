// The matrix products: register tiles and packing. They know nothing of plans; a kernel's epilogue
// is handed in. Every element is fma(a[i,k], b[k,j], sum) for k = 0, 1, ...: one order everywhere.
#pragma once
#include "tt/backends/cpu/pack.hpp"

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

/// t[Rows][Vectors * lanes] = A tile times B panel. `last` lanes of the last vector exist.
template <class T, int Rows, int Vectors, bool Partial>
TT_NOINLINE void matmul_tile(std::int64_t inner, const T* a, std::int64_t a_row,
                             std::int64_t a_inner, const T* b, std::int64_t b_inner, int last,
                             T* t) {
  using C = Carrier<Pack<T>>;
  Pack<T> sum[Rows][Vectors];
  for (auto& row : sum)
    for (auto& s : row) s = C::splat(T(0));
  for (std::int64_t k = 0; k < inner; ++k) {
    Pack<T> bk[Vectors];
    for (int v = 0; v < Vectors; ++v)
      bk[v] = Partial && v == Vectors - 1 ? load_first(b + k * b_inner + v * lanes, last)
                                          : load(b + k * b_inner + v * lanes);
    for (int r = 0; r < Rows; ++r) {
      const Pack<T> ak = C::splat(a[r * a_row + k * a_inner]);
      for (int v = 0; v < Vectors; ++v) sum[r][v] = C::template apply<Op::fma>(ak, bk[v], sum[r][v]);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) store(t + (r * Vectors + v) * lanes, sum[r][v]);
}

template <class T>
struct MatmulOperands {
  std::int64_t rows, cols, inner;
  const T* a;
  std::int64_t a_row, a_inner;
  const T* b;
  std::int64_t b_inner;
  bool b_padded;  // the last vector of b's rows may be read whole
};

namespace detail {

/// All tiles of one panel of `Vectors` vectors. epilogue(i, rows, vectors, t).
template <class T, int Vectors, bool Partial, class Epilogue>
TT_ALWAYS_INLINE void matmul_panel(const MatmulOperands<T>& m, const T* b, std::int64_t b_inner,
                                   int last, T* t, std::int64_t row_begin, std::int64_t row_end,
                                   const Epilogue& epilogue) {
  constexpr int rows = tile_rows<T>(Vectors);
  std::int64_t i = row_begin;
  for (; i + rows <= row_end; i += rows) {
    matmul_tile<T, rows, Vectors, Partial>(m.inner, m.a + i * m.a_row, m.a_row, m.a_inner, b,
                                           b_inner, last, t);
    epilogue(i, rows);
  }
  if constexpr (rows > 4)
    for (; i + 4 <= row_end; i += 4) {
      matmul_tile<T, 4, Vectors, Partial>(m.inner, m.a + i * m.a_row, m.a_row, m.a_inner, b,
                                          b_inner, last, t);
      epilogue(i, 4);
    }
  for (; i < row_end; ++i) {
    matmul_tile<T, 1, Vectors, Partial>(m.inner, m.a + i * m.a_row, m.a_row, m.a_inner, b, b_inner,
                                        last, t);
    epilogue(i, 1);
  }
}

/// Rows of a panel brought together: at strides of 4 KiB they would share few cache sets.
template <class T>
TT_NOINLINE void pack_panel(const T* b, std::int64_t b_inner, std::int64_t inner, int width, T* to) {
  for (std::int64_t k = 0; k < inner; ++k)
    std::memcpy(to + k * width, b + k * b_inner, sizeof(T) * static_cast<std::size_t>(width));
}

}  // namespace detail

/// to[c][r] = from[r * row + c * column], rows of `to` are `to_row` apart.
template <class T>
TT_NOINLINE void transpose_into(const T* from, std::int64_t row, std::int64_t column,
                                std::int64_t rows, std::int64_t cols, T* to, std::int64_t to_row) {
  constexpr std::int64_t block = 16;
  for (std::int64_t c0 = 0; c0 < cols; c0 += block)
    for (std::int64_t r0 = 0; r0 < rows; r0 += block)
      for (std::int64_t c = c0; c < cols && c < c0 + block; ++c)
        for (std::int64_t r = r0; r < rows && r < r0 + block; ++r)
          to[c * to_row + r] = from[r * row + c * column];
}

/// Calls epilogue(i, j, rows, vectors, last, t) for every tile of rows [row_begin, row_end):
/// t[rows][vectors * lanes] holds the products; `last` lanes of the last vector are columns.
template <class T, class Epilogue>
TT_ALWAYS_INLINE void matmul(const MatmulOperands<T>& m, T* panel, std::int64_t row_begin,
                             std::int64_t row_end, const Epilogue& epilogue) {
  constexpr int wide = tile_vectors<T>;
  alignas(64) T t[(TT_AVX512 ? 24 : 12) * lanes];
  std::int64_t j = 0;
  const std::int64_t whole = m.cols / lanes * lanes;
  for (; j + wide * lanes <= whole; j += wide * lanes) {
    const T* b = m.b + j;
    std::int64_t b_inner = m.b_inner;
    if (panel) {
      detail::pack_panel(b, b_inner, m.inner, wide * lanes, panel);
      b = panel;
      b_inner = wide * lanes;
    }
    detail::matmul_panel<T, wide, false>(m, b, b_inner, lanes, t, row_begin, row_end,
                                         [&](std::int64_t i, int rows) TT_LAMBDA_INLINE {
                                           epilogue(i, j, rows, wide, lanes, t);
                                         });
  }
  for (; j + lanes <= whole; j += lanes)
    detail::matmul_panel<T, 1, false>(m, m.b + j, m.b_inner, lanes, t, row_begin, row_end,
                                      [&](std::int64_t i, int rows) TT_LAMBDA_INLINE {
                                        epilogue(i, j, rows, 1, lanes, t);
                                      });
  if (j < m.cols) {
    const int last = static_cast<int>(m.cols - j);
    const auto rest = [&](std::int64_t i, int rows) TT_LAMBDA_INLINE {
      epilogue(i, j, rows, 1, last, t);
    };
    if (m.b_padded)
      detail::matmul_panel<T, 1, false>(m, m.b + j, m.b_inner, lanes, t, row_begin, row_end, rest);
    else
      detail::matmul_panel<T, 1, true>(m, m.b + j, m.b_inner, last, t, row_begin, row_end, rest);
  }
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
