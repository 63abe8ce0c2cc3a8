// The matrix products. They know nothing of plans; a kernel's epilogue is passed as a function. Every element is
// fma(a[i,k], b[k,j], sum) for k = 0, 1, ...: one order everywhere.
#pragma once
#include "tt/backends/cpu/gemm_rows.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// Calls epilogue(i, j, rows, vectors, last, t) for every tile: t[rows][vectors * lanes] holds the products at row i, column j;
/// `last` lanes of the last vector are columns. Rows and Cols: the sizes where they are known at compile time, else negative;
/// with them, code for cases that cannot occur is left out.
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
  // the remaining columns: 1 to `wide` vectors, the last of them perhaps partial
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
