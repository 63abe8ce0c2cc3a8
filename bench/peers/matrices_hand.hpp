// Small matrices, products with a vector and transposition by hand, in vectors of the compiler and under its
// default flags, which make fma of products and sums. A row of a small matrix is one vector, of 3 or 6
// elements in one of 4 or 8; larger extents are multiples of 16. Small functions are inlined, as those of a
// template library are.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tt/tt.hpp>  // xsimd, with its warnings off
#include <type_traits>

namespace peers::matrices_hand {

typedef float Four __attribute__((vector_size(16)));
typedef float Eight __attribute__((vector_size(32)));

template <int N>
struct Row {
  std::conditional_t<N <= 4, Four, Eight> v;

  TT_ALWAYS_INLINE void load(const float* p) {
    if constexpr (N == 3) v = Four{p[0], p[1], p[2], 0};
    if constexpr (N == 4) std::memcpy(&v, p, sizeof v);
    if constexpr (N == 6) {  // two vectors that overlap
      Four first, last;
      std::memcpy(&first, p, sizeof first);
      std::memcpy(&last, p + 2, sizeof last);
      v = __builtin_shufflevector(first, last, 0, 1, 2, 3, 6, 7, 7, 7);
    }
  }
  TT_ALWAYS_INLINE void store(float* p) const {
    if constexpr (N == 6) {
      const Four first = __builtin_shufflevector(v, v, 0, 1, 2, 3);
      const Four last = __builtin_shufflevector(v, v, 2, 3, 4, 5);
      std::memcpy(p, &first, sizeof first);
      std::memcpy(p + 2, &last, sizeof last);
    } else {
      std::memcpy(p, &v, sizeof(float) * N);
    }
  }
};
template <int N>
TT_ALWAYS_INLINE void load_rows(Row<N> (&rows)[N], const float* a) {
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) rows[i].load(a + i * N);
}
TT_ALWAYS_INLINE void load_columns(Row<4> (&columns)[4], const float* a) {
  Row<4> r[4];
  load_rows(r, a);
  const Four left = __builtin_shufflevector(r[0].v, r[2].v, 0, 4, 1, 5);
  const Four right = __builtin_shufflevector(r[0].v, r[2].v, 2, 6, 3, 7);
  const Four left_odd = __builtin_shufflevector(r[1].v, r[3].v, 0, 4, 1, 5);
  const Four right_odd = __builtin_shufflevector(r[1].v, r[3].v, 2, 6, 3, 7);
  columns[0].v = __builtin_shufflevector(left, left_odd, 0, 4, 1, 5);
  columns[1].v = __builtin_shufflevector(left, left_odd, 2, 6, 3, 7);
  columns[2].v = __builtin_shufflevector(right, right_odd, 0, 4, 1, 5);
  columns[3].v = __builtin_shufflevector(right, right_odd, 2, 6, 3, 7);
}
TT_ALWAYS_INLINE void load_columns(Row<6> (&columns)[6], const float* a) {
#pragma GCC unroll 8
  for (int k = 0; k < 6; ++k)
    columns[k].v = Eight{a[k], a[6 + k], a[12 + k], a[18 + k], a[24 + k], a[30 + k], 0, 0};
}

/// y = a b + c, or a b where c is null; b by its rows.
template <int N>
TT_ALWAYS_INLINE void product(const float* a, const Row<N> (&b)[N], const float* c, float* y) {
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    Row<N> s{};
    if (c) s.load(c + i * N);
#pragma GCC unroll 8
    for (int k = 0; k < N; ++k) s.v += a[i * N + k] * b[k].v;
    s.store(y + i * N);
  }
}
template <int N>
TT_ALWAYS_INLINE void product(const float* a, const float* b, float* y) {
  Row<N> rows[N];
  load_rows(rows, b);
  product(a, rows, nullptr, y);
}
/// y = a b^T
TT_ALWAYS_INLINE void product_transposed(const float* a, const float* b, float* y) {
  Row<4> columns[4];
  load_columns(columns, b);
  product(a, columns, nullptr, y);
}
/// y = f p f^T + q
TT_ALWAYS_INLINE void covariance(const float* f, const float* p, const float* q, float* y) {
  float t[36];
  product<6>(f, p, t);
  Row<6> columns[6];
  load_columns(columns, f);
  product(t, columns, q, y);
}
TT_ALWAYS_INLINE void matrix_vector(const float* a, const float* v, float* y) {
  Row<4> columns[4], s;
  load_columns(columns, a);
  s.v = (v[0] * columns[0].v + v[1] * columns[1].v) + (v[2] * columns[2].v + v[3] * columns[3].v);
  s.store(y);
}
TT_ALWAYS_INLINE void normalize(const float* a, float* y) {
  Row<3> r;
  r.load(a);
  r.v /= std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  r.store(y);
}
TT_ALWAYS_INLINE float dot(const float* a, const float* b) {
  Row<4> r, s;
  r.load(a);
  s.load(b);
  r.v *= s.v;
  return (r.v[0] + r.v[2]) + (r.v[1] + r.v[3]);
}

inline constexpr std::int64_t step = static_cast<std::int64_t>(xsimd::batch<float>::size);
typedef float Vector __attribute__((vector_size(sizeof(xsimd::batch<float>))));

TT_ALWAYS_INLINE Vector get(const float* p) {
  Vector v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// y = a v: four rows at a time, each a sum along it.
TT_NOINLINE inline void matrix_vector(const float* a, const float* v, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += 4, a += 4 * n) {
    Vector s[4] = {};
    for (std::int64_t k = 0; k < n; k += step) {
      const Vector vk = get(v + k);
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) s[u] += get(a + u * n + k) * vk;
    }
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) y[i + u] = xsimd::hadd(xsimd::batch<float>(s[u]));
  }
}
/// y = v a, which is a^T v: four rows at a time are added to y.
TT_NOINLINE inline void vector_matrix(const float* v, const float* a, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += 4, a += 4 * n)
    for (std::int64_t k = 0; k < n; k += step) {
      Vector s = i ? get(y + k) : Vector{};
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) s += v[i + u] * get(a + u * n + k);
      std::memcpy(y + k, &s, sizeof s);
    }
}
/// y = a^T, or a^T + b, in squares of 16, a line of memory a row. Plain: clang makes vectors of it, g++ does not.
template <bool Add>
TT_NOINLINE void transpose(const float* a, const float* b, float* y, std::int64_t n) {
  for (std::int64_t r = 0; r < n; r += 16)
    for (std::int64_t c = 0; c < n; c += 16)
      for (std::int64_t j = c; j < c + 16; ++j)
        for (std::int64_t i = r; i < r + 16; ++i)
          y[j * n + i] = Add ? a[i * n + j] + b[j * n + i] : a[i * n + j];
}

}  // namespace peers::matrices_hand
