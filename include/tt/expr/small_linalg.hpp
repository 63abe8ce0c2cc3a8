// Linear algebra of small square matrices, 1 x 1 to 8 x 8, with sizes known at compile time: unrolled in the caller, without allocation and without LAPACK.
// Names and meanings are torch.linalg's; larger matrices and batches are for Tensors (dispatch/linalg.hpp). Values only: not for fused functions and
// gradients.
//   tt::Array<float, 3, 3> r = tt::linalg::inv(a);   tt::linalg::solve(a, b)   tt::linalg::det(a)   tt::linalg::cholesky(a)
#pragma once
#include "tt/core/array.hpp"

namespace tt {
namespace detail {

template <class T, std::int64_t N>
concept SmallMatrix = std::is_floating_point_v<T> && N >= 1 && N <= 8;

[[noreturn]] TT_NOINLINE inline void refuse_matrix(const char* op, const char* what, std::int64_t n, SourceLine at) {
  TT_THROW(Error(Text("tt::linalg::") << op << ": the matrix (" << n << ", " << n << ") is " << what << "." << at));
}
/// LU decomposition by partial pivoting; `row`: the order of rows.
template <class T, int N>
struct SmallLu {
  T m[N][N];
  int row[N];
  bool odd = false, singular = false;

  TT_ALWAYS_INLINE explicit SmallLu(const T* from) {
    for (int i = 0; i < N; ++i) {
      row[i] = i;
      for (int j = 0; j < N; ++j) m[i][j] = from[i * N + j];
    }
    if constexpr (N == 3) {  // unrolled, elements would be packed in pairs and wait for each other
      for (int k = 0; k < N; ++k) eliminate(k);
    } else {
#pragma GCC unroll 8
      for (int k = 0; k < N; ++k) eliminate(k);
    }
  }
  T det() const {
    T d = odd ? T(-1) : T(1);
    for (int k = 0; k < N; ++k) d *= m[k][k];
    return d;
  }
  /// x of a x = b for M right sides; x and b may be the same memory.
  template <int M>
  TT_ALWAYS_INLINE void solve(const T* b, T* x) const {
    T y[N][M];
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < M; ++j) y[i][j] = b[row[i] * M + j];
      for (int k = 0; k < i; ++k)
        for (int j = 0; j < M; ++j) y[i][j] -= m[i][k] * y[k][j];
    }
    for (int i = N - 1; i >= 0; --i) {
      for (int k = i + 1; k < N; ++k)
        for (int j = 0; j < M; ++j) y[i][j] -= m[i][k] * y[k][j];
      const T by = 1 / m[i][i];
      for (int j = 0; j < M; ++j) x[i * M + j] = y[i][j] *= by;
    }
  }

 private:
  TT_ALWAYS_INLINE void eliminate(int k) {
    int best = k;
    for (int i = k + 1; i < N; ++i)
      if (size(m[i][k]) > size(m[best][k])) best = i;
    if (!(size(m[best][k]) > 0)) {
      singular = singular || m[best][k] == 0;
      return;
    }
    if (best != k) {
      for (int j = 0; j < N; ++j) swap(m[k][j], m[best][j]);
      swap(row[k], row[best]);
      odd = !odd;
    }
    const T by = 1 / m[k][k];
    for (int i = k + 1; i < N; ++i) {
      const T factor = m[i][k] *= by;
      for (int j = k + 1; j < N; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  static T size(T x) { return x < 0 ? -x : x; }
  template <class X>
  static void swap(X& a, X& b) {
    const X c = a;
    a = b;
    b = c;
  }
};
/// x of a x = b for M right sides, by partial pivoting. False: the matrix is singular.
template <class T, int N, int M>
TT_ALWAYS_INLINE bool solved(const T* m, const T* b, T* x) {
  if constexpr (N != 2) {
    const SmallLu<T, N> lu(m);
    if (lu.singular) return false;
    lu.template solve<M>(b, x);
  } else {  // 2 x 2: selects instead of swapping rows in memory
    const bool other = (m[2] < 0 ? -m[2] : m[2]) > (m[0] < 0 ? -m[0] : m[0]);
    const T p = other ? m[2] : m[0], q = other ? m[3] : m[1], r = other ? m[0] : m[2], s = other ? m[1] : m[3];
    const T by_p = 1 / p, factor = r * by_p, u = s - factor * q;
    if (p == 0 || u == 0) return false;
    const T by_u = 1 / u;
    for (int j = 0; j < M; ++j) {
      const T y = other ? b[M + j] : b[j], below = (other ? b[j] : b[M + j]) - factor * y;
      x[M + j] = below * by_u;
      x[j] = (y - q * x[M + j]) * by_p;
    }
  }
  return true;
}
/// The inverse by Gauss-Jordan elimination in place, with partial pivoting: rows are vectors of eight elements. False: the matrix is singular.
template <class T, int N>
TT_ALWAYS_INLINE bool inverted(const T* from, T* to) {
  typedef T Row __attribute__((vector_size(8 * sizeof(T))));
  Row m[N] = {};
  int exchanged[N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) m[i][j] = from[i * N + j];
#pragma GCC unroll 8
  for (int k = 0; k < N; ++k) {
    int best = k;
    for (int i = k + 1; i < N; ++i)
      if ((m[i][k] < 0 ? -m[i][k] : m[i][k]) > (m[best][k] < 0 ? -m[best][k] : m[best][k])) best = i;
    exchanged[k] = best;
    if (m[best][k] == 0) return false;
    Row unit = {}, beside = {};  // unit: 1 in the pivot's column, which becomes a column of the inverse; beside: 1 in the others
    for (int j = 0; j < 8; ++j) beside[j] = j == k ? T(0) : T(1);
    unit[k] = 1;
    const Row pivot = (m[best] * beside + unit) * (1 / m[best][k]);
    m[best] = m[k];
    for (int i = 0; i < N; ++i) m[i] = m[i] * beside - m[i][k] * pivot;
    m[k] = pivot;
  }
  for (int k = N - 1; k >= 0; --k)
    for (int i = 0; i < N; ++i) {
      const T other = m[i][exchanged[k]];
      m[i][exchanged[k]] = m[i][k];
      m[i][k] = other;
    }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) to[i * N + j] = m[i][j];
  return true;
}
/// x == 0, by its bits: one branch, where a comparison needs a second branch for NaN.
template <class T>
TT_ALWAYS_INLINE bool is_zero(T x) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(x) << 1 == 0;
}
/// Is a determinant of minors reliable: neither 0 nor NaN, nor so small or large that intermediate products may have overflowed or underflowed? By its
/// exponent: one branch.
template <class T>
TT_ALWAYS_INLINE bool is_usual(T det) {
  if constexpr (sizeof(T) == 4) return (std::bit_cast<std::uint32_t>(det) >> 23 & 255) - (127 - 80) < 160;
  else return (std::bit_cast<std::uint64_t>(det) >> 52 & 2047) - (1023 - 700) < 1400;
}
/// The inverse by `inverted`, where minors are not reliable; throws if the matrix is singular.
template <class T, int N>
TT_NOINLINE void invert_by_pivoting(const T* from, T* to, SourceLine at) {
  if (!inverted<T, N>(from, to)) refuse_matrix("inv", "singular", N, at);
}
/// The adjugate of a 3 x 3 matrix, times `by`: differences of two products, the first eight elements at once, then the last.
template <class T>
TT_ALWAYS_INLINE void scaled_adjugate(const T* m, T by, T* to) {
  typedef T Eight __attribute__((vector_size(8 * sizeof(T))));
  Eight low, high;  // from m[0] and from m[1] on
  std::memcpy(&low, m, sizeof low);
  std::memcpy(&high, m + 1, sizeof high);
  const Eight r = (__builtin_shufflevector(low, low, 4, 2, 1, 5, 0, 2, 3, 1) * __builtin_shufflevector(high, high, 7, 6, 4, 5, 7, 2, 6, 5) -
                   __builtin_shufflevector(low, low, 5, 1, 2, 3, 2, 0, 4, 0) * __builtin_shufflevector(high, high, 6, 7, 3, 7, 5, 4, 5, 6)) * by;
  std::memcpy(to, &r, sizeof r);
  to[8] = (m[0] * m[4] - m[1] * m[3]) * by;
}
/// The 2 x 2 minors of two rows of a 4 x 4 matrix: of columns 01, 02, 03, 12, 13, 23.
template <class T>
struct RowPair {
  T of[6];
  TT_ALWAYS_INLINE RowPair(const T* r, const T* s)
      : of{r[0] * s[1] - s[0] * r[1], r[0] * s[2] - s[0] * r[2], r[0] * s[3] - s[0] * r[3], r[1] * s[2] - s[1] * r[2], r[1] * s[3] - s[1] * r[3], r[2] * s[3] - s[2] * r[3]} {}
};
/// The determinant up to 3 x 3.
template <int N, class T>
TT_ALWAYS_INLINE T det_of(const T* m) {
  if constexpr (N == 1) return m[0];
  else if constexpr (N == 2) return m[0] * m[3] - m[1] * m[2];
  else return m[0] * (m[4] * m[8] - m[5] * m[7]) + m[1] * (m[5] * m[6] - m[3] * m[8]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

template <class A>
concept NoArrayYet = requires { typename A::tt_front; } && std::same_as<typename A::tt_front, ArrayFront> && requires(const A& a) { a.eval(); };
template <class A>
decltype(auto) evaluated(const A& a) {
  if constexpr (NoArrayYet<A>) return a.eval();
  else return (a);
}
template <class T, std::int64_t... E>
inline constexpr bool is_small_square = false;
template <class T, std::int64_t N>
inline constexpr bool is_small_square<T, N, N> = SmallMatrix<T, N>;
template <class T, std::int64_t... E>
T refuse_shape() {
  static_assert(is_small_square<T, E...>, "tt: linalg takes Arrays that are square matrices of floats, up to 8 x 8. Others as Tensors, tt::linalg::inv(tt::as_tensor(a))?");
  return {};
}

}  // namespace detail

namespace linalg {

/// The determinant: written out up to 4 x 4, by partial pivoting beyond. inv of 4 x 4 computes its own, from the minors that it needs anyway and with fewer
/// products. The two round differently, so for a matrix that is singular but for rounding one may be 0 and the other not.
template <class T, std::int64_t N>
  requires detail::SmallMatrix<T, N>
TT_ALWAYS_INLINE T det(const Array<T, N, N>& a) {
  const T* const m = a.data();
  if constexpr (N <= 3) return detail::det_of<static_cast<int>(N)>(m);
  else if constexpr (N == 4) {
    const auto minor = [&](int i, int j) TT_LAMBDA_INLINE { return m[4 * i] * m[4 * j + 1] - m[4 * j] * m[4 * i + 1]; };  // of columns 0 and 1
    const T a01 = minor(0, 1), a02 = minor(0, 2), a03 = minor(0, 3), a12 = minor(1, 2), a13 = minor(1, 3), a23 = minor(2, 3);
    return m[15] * (m[2] * a12 - m[6] * a02 + m[10] * a01) - m[11] * (m[2] * a13 - m[6] * a03 + m[14] * a01) + m[7] * (m[2] * a23 - m[10] * a03 + m[14] * a02) -
           m[3] * (m[6] * a23 - m[10] * a13 + m[14] * a12);
  } else return detail::SmallLu<T, static_cast<int>(N)>(m).det();
}

/// The inverse: by minors up to 4 x 4, by partial pivoting beyond, and where the determinant is close to the limits of its type. Throws Error if the matrix is
/// singular.
template <class T, std::int64_t N>
  requires detail::SmallMatrix<T, N>
TT_ALWAYS_INLINE Array<T, N, N> inv(const Array<T, N, N>& a, SourceLine at = here()) {
  Array<T, N, N> r{Uninitialized{}};
  const T* const m = a.data();
  T* const x = r.data();
  constexpr int n = static_cast<int>(N);
  if constexpr (N == 1) {
    if (detail::is_zero(m[0])) [[unlikely]] detail::refuse_matrix("inv", "singular", N, at);
    x[0] = 1 / m[0];
  } else if constexpr (N <= 3) {
    const T d = detail::det_of<n>(m);
    if (!detail::is_usual(d)) [[unlikely]] {
      detail::invert_by_pivoting<T, n>(m, x, at);
      return r;
    }
    const T by = 1 / d;
    if constexpr (N == 2) {
      x[0] = m[3] * by;
      x[1] = -m[1] * by;
      x[2] = -m[2] * by;
      x[3] = m[0] * by;
    } else {
      detail::scaled_adjugate(m, by, x);
    }
  } else if constexpr (N == 4) {
    const detail::RowPair<T> upper(m, m + 4), lower(m + 8, m + 12);
    const T *const s = upper.of, *const c = lower.of;
    const T d = s[0] * c[5] - s[1] * c[4] + s[2] * c[3] + s[3] * c[2] - s[4] * c[1] + s[5] * c[0];
    if (!detail::is_usual(d)) [[unlikely]] {
      detail::invert_by_pivoting<T, n>(m, x, at);
      return r;
    }
    const T by = 1 / d;
    x[0] = (m[5] * c[5] - m[6] * c[4] + m[7] * c[3]) * by;
    x[1] = (m[2] * c[4] - m[1] * c[5] - m[3] * c[3]) * by;
    x[2] = (m[13] * s[5] - m[14] * s[4] + m[15] * s[3]) * by;
    x[3] = (m[10] * s[4] - m[9] * s[5] - m[11] * s[3]) * by;
    x[4] = (m[6] * c[2] - m[4] * c[5] - m[7] * c[1]) * by;
    x[5] = (m[0] * c[5] - m[2] * c[2] + m[3] * c[1]) * by;
    x[6] = (m[14] * s[2] - m[12] * s[5] - m[15] * s[1]) * by;
    x[7] = (m[8] * s[5] - m[10] * s[2] + m[11] * s[1]) * by;
    x[8] = (m[4] * c[4] - m[5] * c[2] + m[7] * c[0]) * by;
    x[9] = (m[1] * c[2] - m[0] * c[4] - m[3] * c[0]) * by;
    x[10] = (m[12] * s[4] - m[13] * s[2] + m[15] * s[0]) * by;
    x[11] = (m[9] * s[2] - m[8] * s[4] - m[11] * s[0]) * by;
    x[12] = (m[5] * c[1] - m[4] * c[3] - m[6] * c[0]) * by;
    x[13] = (m[0] * c[3] - m[1] * c[1] + m[2] * c[0]) * by;
    x[14] = (m[13] * s[1] - m[12] * s[3] - m[14] * s[0]) * by;
    x[15] = (m[8] * s[3] - m[9] * s[1] + m[10] * s[0]) * by;
  } else {
    if (!detail::inverted<T, n>(m, x)) [[unlikely]] detail::refuse_matrix("inv", "singular", N, at);
  }
  return r;
}

/// x of a x = b, by partial pivoting: b is a vector, or several right sides as columns. Throws Error if the matrix is singular.
template <class T, std::int64_t N, std::int64_t... M>
  requires(detail::SmallMatrix<T, N> && sizeof...(M) <= 1 && ((M >= 1) && ...))
TT_ALWAYS_INLINE Array<T, N, M...> solve(const Array<T, N, N>& a, const Array<T, N, M...>& b, SourceLine at = here()) {
  Array<T, N, M...> x{Uninitialized{}};
  if (!detail::solved<T, static_cast<int>(N), static_cast<int>((M * ... * 1))>(a.data(), b.data(), x.data())) [[unlikely]] detail::refuse_matrix("solve", "singular", N, at);
  return x;
}

/// The lower triangle L with L L^T = a; only the lower triangle of a is read. Throws Error if the matrix is not positive definite.
template <class T, std::int64_t N>
  requires detail::SmallMatrix<T, N>
TT_ALWAYS_INLINE Array<T, N, N> cholesky(const Array<T, N, N>& a, SourceLine at = here()) {
  Array<T, N, N> r;
  const T* const m = a.data();
  T* const l = r.data();
  for (int j = 0; j < N; ++j) {
    T d = m[j * N + j];
    for (int k = 0; k < j; ++k) d -= l[j * N + k] * l[j * N + k];
    if (!(d > 0)) [[unlikely]] detail::refuse_matrix("cholesky", "not positive definite", N, at);
    const T root = static_cast<T>(__builtin_sqrt(static_cast<double>(d))), by = 1 / root;
    l[j * N + j] = root;
    for (int i = j + 1; i < N; ++i) {
      T s = m[i * N + j];
      for (int k = 0; k < j; ++k) s -= l[i * N + k] * l[j * N + k];
      l[i * N + j] = s * by;
    }
  }
  return r;
}

// ---- of expressions and views, which are evaluated first; and errors for Arrays that are no small square matrix

template <detail::NoArrayYet A>
auto det(const A& a) { return det(a.eval()); }
template <detail::NoArrayYet A>
auto inv(const A& a, SourceLine at = here()) { return inv(a.eval(), at); }
template <detail::NoArrayYet A>
auto cholesky(const A& a, SourceLine at = here()) { return cholesky(a.eval(), at); }
template <class A, class B>
  requires(detail::NoArrayYet<A> || detail::NoArrayYet<B>)
auto solve(const A& a, const B& b, SourceLine at = here()) { return solve(detail::evaluated(a), detail::evaluated(b), at); }

template <class T, std::int64_t... E>
  requires(!detail::is_small_square<T, E...>)
T det(const Array<T, E...>&) { return detail::refuse_shape<T, E...>(); }
template <class T, std::int64_t... E>
  requires(!detail::is_small_square<T, E...>)
Array<T, E...> inv(const Array<T, E...>& a, SourceLine = here()) { return detail::refuse_shape<T, E...>(), a; }
template <class T, std::int64_t... E>
  requires(!detail::is_small_square<T, E...>)
Array<T, E...> cholesky(const Array<T, E...>& a, SourceLine = here()) { return detail::refuse_shape<T, E...>(), a; }

}  // namespace linalg
}  // namespace tt
