// LAPACK's solvers for small matrices, which are common and for which a library call takes longer than the arithmetic. Names, arguments and
// meaning are LAPACK's (column-major, pivots from 1), the loops are those of the unblocked algorithms (Golub and Van Loan, Matrix
// Computations, 3.4 and 4.2).
#pragma once
#include <cmath>
#include <utility>

namespace tt::backend::detail {

inline constexpr int most_small = 8;
constexpr bool is_small(int rows, int columns) { return rows <= most_small && columns <= most_small; }

/// Solves a triangular system, a column of b at a time; `transposed`: with the transpose of a; `unit`: with ones on its diagonal.
template <class T>
void small_substitute(bool upper, bool transposed, bool unit, int n, int columns, const T* a, int lda, T* b, int ldb) {
  const auto at = [&](int row, int column) { return transposed ? a[column + row * lda] : a[row + column * lda]; };
  const bool backwards = upper != transposed;
  for (int c = 0; c < columns; ++c) {
    T* const x = b + c * ldb;
    for (int step = 0; step < n; ++step) {
      const int k = backwards ? n - 1 - step : step;
      if (x[k] == 0) continue;  // avoids 0/0 where the diagonal is 0
      if (!unit) x[k] /= at(k, k);
      for (int i = backwards ? 0 : k + 1, end = backwards ? k : n; i < end; ++i) x[i] -= x[k] * at(i, k);
    }
  }
}
/// P A = L U with partial pivoting; info: the index of the first zero on the diagonal of U, from 1.
template <class T>
void small_getrf(int m, int n, T* a, int lda, int* pivots, int& info) {
  info = 0;
  for (int k = 0; k < m && k < n; ++k) {
    T* const column = a + k * lda;
    int p = k;
    for (int i = k + 1; i < m; ++i)
      if (std::fabs(column[i]) > std::fabs(column[p])) p = i;
    pivots[k] = p + 1;
    if (column[p] == 0) {
      if (!info) info = k + 1;
      continue;
    }
    for (int c = 0; c < n && p != k; ++c) std::swap(a[k + c * lda], a[p + c * lda]);
    for (int i = k + 1; i < m; ++i) column[i] /= column[k];
    for (int c = k + 1; c < n; ++c)
      for (int i = k + 1; i < m; ++i) a[i + c * lda] -= column[i] * a[k + c * lda];
  }
}
template <class T>
void small_getrs(bool transposed, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb, int& info) {
  info = 0;
  const auto exchange = [&](int k) {
    for (int c = 0; c < columns && pivots[k] - 1 != k; ++c) std::swap(b[k + c * ldb], b[pivots[k] - 1 + c * ldb]);
  };
  for (int k = 0; k < n && !transposed; ++k) exchange(k);
  small_substitute(transposed, transposed, !transposed, n, columns, a, lda, b, ldb);
  small_substitute(!transposed, transposed, transposed, n, columns, a, lda, b, ldb);
  for (int k = n; k-- > 0 && transposed;) exchange(k);
}
/// A = L L^T in the lower triangle; info: the order of the first leading minor that is not positive.
template <class T>
void small_potrf(int n, T* a, int lda, int& info) {
  info = 0;
  for (int k = 0; k < n; ++k) {
    T d = a[k + k * lda];
    for (int j = 0; j < k; ++j) d -= a[k + j * lda] * a[k + j * lda];
    a[k + k * lda] = d;
    if (!(d > 0)) {
      info = k + 1;
      return;
    }
    a[k + k * lda] = d = std::sqrt(d);
    for (int i = k + 1; i < n; ++i) {
      T s = a[i + k * lda];
      for (int j = 0; j < k; ++j) s -= a[i + j * lda] * a[k + j * lda];
      a[i + k * lda] = s / d;
    }
  }
}
/// info: the index of the first zero on the diagonal, from 1; b is then unchanged.
template <class T>
void small_trtrs(bool upper, bool transposed, bool unit, int n, int columns, const T* a, int lda, T* b, int ldb, int& info) {
  info = 0;
  for (int k = 0; k < n && !unit; ++k)
    if (a[k + k * lda] == 0) {
      info = k + 1;
      return;
    }
  small_substitute(upper, transposed, unit, n, columns, a, lda, b, ldb);
}

}  // namespace tt::backend::detail
