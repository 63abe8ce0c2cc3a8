// Matrix products behind one function per dtype, whose results are consumed tile by tile: gemm.hpp for the interpreter. A program has
// this function if its graphs register it (enlist_products, graph/graph.hpp); tt::compiled has it.
#pragma once
#include "tt/backends/cpu/gemm.hpp"
#include "tt/backends/cpu/matrix_unit.hpp"
#include "tt/backends/cpu/pair_products.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {

/// A registered function, with its instruction set, as in CallTiles.
struct EnlistedProduct {
  const char* isa;
  void (*multiply)(DType dtype, const ProductTiles& product);
};
inline const EnlistedProduct* enlisted_product = nullptr;

inline namespace TT_ISA {
namespace detail {

/// Products whose rows fit a vector; passes as many rows to `take` together as it accepts.
template <class T>
TT_NOINLINE void multiply_few_columns(const MatmulOperands<T>& m, const ProductTiles& p) {
  using C = Carrier<Pack<T>>;
  alignas(64) T products[most_products + lanes];
  Pack<T> right[few_columns_inner];
  const int columns = static_cast<int>(m.cols);
  const auto read_right = [&](const T* b) TT_LAMBDA_INLINE {
    for (std::int64_t i = 0; i < m.inner; ++i) right[i] = m.b_column == 1 ? load_first(b + i * m.b_inner, columns) : load_strided(b + i * m.b_inner, m.b_column, columns);
  };
  const auto multiply_rows = [&](const T* a, std::int64_t rows, T* to) TT_LAMBDA_INLINE {
    for (std::int64_t r = 0; r < rows; ++r, a += m.a_row) {
      Pack<T> sum = C::splat(T(0));
      for (std::int64_t i = 0; i < m.inner; ++i) sum = C::template apply<Op::fma>(C::splat(a[i * m.a_inner]), right[i], sum);
      cpu::store(to + r * m.cols, sum);  // the next row overwrites the elements beyond this one
    }
  };
  if (p.matrices >= lanes && columns == 1) {  // rows have one element: a vector holds one element of each of several matrices
    const T *left[lanes], *right_of[lanes];
    const auto load_each = [](const T* const* from, std::int64_t at) TT_LAMBDA_INLINE {
      alignas(64) T t[lanes];
      for (int l = 0; l < lanes; ++l) t[l] = from[l][at];
      return load(t);
    };
    for (int q = 0; q < p.matrices; q += lanes) {
      const int n = p.matrices - q < lanes ? p.matrices - q : lanes;
      for (int l = 0; l < lanes; ++l) {
        const auto& f = p.further[q + (l < n ? l : 0)];
        left[l] = m.a + f.a;
        right_of[l] = m.b + f.b;
      }
      for (std::int64_t i = 0; i < m.inner; ++i) right[i] = load_each(right_of, i * m.b_inner);
      for (std::int64_t r = 0; r < m.rows; ++r) {
        Pack<T> sum = C::splat(T(0));
        for (std::int64_t i = 0; i < m.inner; ++i) sum = C::template apply<Op::fma>(load_each(left, r * m.a_row + i * m.a_inner), right[i], sum);
        store_strided(products + q * m.rows + r, m.rows, sum, n);
      }
    }
    return p.take(p.context, {0, 0, p.matrices * m.rows, 1, 1, products, true});
  }
  if (p.matrices > 1) {
    for (int q = 0; q < p.matrices; ++q) {
      if (columns == 1) {
        const T *const a = m.a + p.further[q].a, *const b = m.b + p.further[q].b;
        for (std::int64_t r = 0; r < m.rows; ++r) {
          T sum = 0;
          for (std::int64_t i = 0; i < m.inner; ++i) sum = Carrier<T>::template apply<Op::fma>(a[r * m.a_row + i * m.a_inner], b[i * m.b_inner], sum);
          products[q * m.rows + r] = sum;
        }
        continue;
      }
      read_right(m.b + p.further[q].b);
      multiply_rows(m.a + p.further[q].a, m.rows, products + q * m.rows * m.cols);
    }
    return p.take(p.context, {0, 0, p.matrices * m.rows, m.cols, m.cols, products, true});
  }
  read_right(m.b);
  const std::int64_t together = most_products / m.cols;
  for (std::int64_t row = 0; row < m.rows; row += together) {
    const std::int64_t n = together < m.rows - row ? together : m.rows - row;
    multiply_rows(m.a + row * m.a_row, n, products);
    p.take(p.context, {row, 0, n, m.cols, m.cols, products, row == 0});
  }
}
/// With a right side that is stored narrow.
template <class T>
TT_NOINLINE void multiply_stored(MatmulOperands<T> m, const ProductTiles& p) {
  const StoredSide<T> right{static_cast<const std::byte*>(p.b), size_of(p.b_dtype), p.b_inner, p.b_column, stored_functions<T>(p.b_dtype)};
  T* const panel = static_cast<T*>(p.panel);
  const auto take = [&](std::int64_t i, std::int64_t j, int rows, int vectors, int last, const T* t) {
    p.take(p.context, {i, j, rows, (vectors - 1) * lanes + last, vectors * lanes, t, true});
  };
  if (p.rows == 1 && p.b_column == 1) {
    alignas(64) T sums[stored_row];
    for (std::int64_t j = 0; j < p.cols; j += stored_row) {
      const int columns = p.cols - j < stored_row ? static_cast<int>(p.cols - j) : stored_row, vectors = (columns + lanes - 1) / lanes;
      multiply_row(m, right, j, columns, sums);
      take(0, j, 1, vectors, columns - (vectors - 1) * lanes, sums);
    }
    return;
  }
  if (p.rows <= few_rows && p.b_column != 1) return multiply_few_rows(m, panel, &right, take);
  constexpr int width = tile_vectors<T> * lanes;
  m.b = panel;
  m.b_inner = width;
  m.b_padded = true;
  for (std::int64_t j = 0; j < p.cols; j += width) {
    m.cols = p.cols - j < width ? p.cols - j : width;
    for (std::int64_t k = 0; k < p.inner; k += column_part)
      right.rows(k, j, p.inner - k < column_part ? p.inner - k : column_part, static_cast<int>(m.cols), panel + k * width, width);
    matmul<T, -1, -1>(m, static_cast<T*>(nullptr), [&](std::int64_t i, std::int64_t at, int rows, int vectors, int last, const T* t) {
      take(i, j + at, rows, vectors, last, t);
    });
  }
}
template <class T>
void multiply_type(const ProductTiles& p) {
  if constexpr (std::is_same_v<T, std::int32_t>)
    if (p.a_dtype != DType::i32) return multiply_by_unit<std::uint32_t>(p) ? void() : has_pair_instruction<std::uint32_t>() ? multiply_pairs<std::uint32_t, TT_AVX512>(p) : multiply_pairs<std::uint32_t, false>(p);
#if TT_AVX512
  if constexpr (std::is_same_v<T, float>)
    if (p.a_dtype != DType::f32) return multiply_by_unit<float>(p) ? void() : multiply_pairs<float, true>(p);
#endif
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>)
    if (p.b_dtype != dtype_of<T>)
      return multiply_stored(MatmulOperands<T>{p.rows, p.cols, p.inner, static_cast<const T*>(p.a), p.a_row, p.a_inner, nullptr, 0, true}, p);
  MatmulOperands<T> m{p.rows,  p.cols,    p.inner, static_cast<const T*>(p.a), p.a_row, p.a_inner, static_cast<const T*>(p.b),
                      p.b_inner, p.b_padded, p.b_column};
  if (p.few_columns) return multiply_few_columns(m, p);
  if (p.windows) m.read(*p.windows, p.first_column);
  matmul<T, -1, -1>(m, static_cast<T*>(p.panel), [&](std::int64_t i, std::int64_t j, int rows, int vectors, int last, const T* t) {
    p.take(p.context, {i, j, rows, (vectors - 1) * lanes + last, vectors * lanes, t, true});
  });
}
/// For floats and integers.
inline void multiply_any(DType dtype, const ProductTiles& p) {
  with_compute_dtype(dtype, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) multiply_type<T>(p);
  });
}
inline constexpr EnlistedProduct own_product{TT_ISA_NAME, &multiply_any};

}  // namespace detail

inline void multiply(DType dtype, const ProductTiles& p) {
#if TT_ALL_KERNELS
  detail::multiply_any(dtype, p);
#else
  const EnlistedProduct* enlisted = __atomic_load_n(&enlisted_product, __ATOMIC_ACQUIRE);
  if (!enlisted) tt::detail::not_enlisted("matmul");
  tt::detail::check_isa(enlisted->isa, TT_ISA_NAME);
  enlisted->multiply(dtype, p);
#endif
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END

namespace tt {

template <class>
void enlist_products() {
  __atomic_store_n(&cpu::enlisted_product, &cpu::detail::own_product, __ATOMIC_RELEASE);
}

}  // namespace tt
