// Helpers of LAPACK kernels: matrices of a batch, row-major or column-major, LAPACK's status, and symbols with other last sizes.
#pragma once
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "tt/backends/lapack.hpp"
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/index_kernels.hpp"
#include "tt/dispatch/linear_algebra.hpp"
#include "tt/functional/network.hpp"

namespace tt {
namespace detail {

/// An operator's name in errors: without the leading underscore.
inline const char* shown_name(const Call& c) { return c.op->name() + (c.op->name()[0] == '_' ? 1 : 0); }
/// The matrices of a batch, contiguous on the host.
struct Matrices {
  Tensor dense;
  std::int64_t count = 1;
  int rows, columns;
  template <class = void>
  static Matrices of(const Call& c, int k, bool square) {
    const Tensor& t = c[k];
    const Shape& s = t.impl().shape;
    const DType d = t.dtype();
    if (s.rank < 2) TT_THROW(Error(Text("tt::") << shown_name(c) << ": shape " << t.shape() << " has rank " << s.rank << ", needed is 2." << c.at));
    if (d != DType::f32 && d != DType::f64) TT_THROW(Error(Text("tt::") << shown_name(c) << ": dtype is not accepted: " << name(d) << ". f32 or f64?" << c.at));
    Matrices m{t, 1, static_cast<int>(s.code[s.rank - 2]), static_cast<int>(s.code[s.rank - 1])};
    if (square && m.rows != m.columns) TT_THROW(Error(Text("tt::") << shown_name(c) << ": matrices of shape " << t.shape() << " are not square." << c.at));
    for (int j = 0; j < s.rank - 2; ++j) m.count *= s.code[j];
    if (!t.is_meta()) m.dense = t.contiguous(c.at);
    return m;
  }
  /// The shape with other last two sizes; -1 drops an axis: a vector if n is -1, a scalar if both are.
  Shape shape(std::int64_t r, std::int64_t n) const {
    Shape s;
    const Shape& own = dense.impl().shape;
    for (int j = 0; j < own.rank - 2; ++j) s.push_back(own[j]);
    if (r >= 0) s.push_back(r);
    if (n >= 0) s.push_back(n);
    return s;
  }
  Tensor result(const Call& c, std::int64_t r, std::int64_t n) const { return Tensor(c[0].dtype(), shape(r, n), c[0].device()); }
};
/// A column-major matrix, as LAPACK needs.
template <class T>
struct ColumnMajor {
  static constexpr std::size_t line = 64;  // bytes: with another alignment BLAS sums in another order
  std::vector<T> room;
  T* element;
  int rows, columns;
  ColumnMajor(int r, int n) : room(static_cast<std::size_t>(r) * static_cast<std::size_t>(n) + 1 + line / sizeof(T)), rows(r), columns(n) {
    void* begin = room.data();
    std::size_t bytes = room.size() * sizeof(T);
    element = static_cast<T*>(std::align(line, sizeof(T), begin, bytes));
  }
  ColumnMajor(const ColumnMajor&) = delete;
  void read(const T* from) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) element[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(i) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j)];
  }
  void write(T* to, int r, int n) const {  // the first r rows and n columns
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < n; ++j) to[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)] = element[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)];
  }
  T* data() { return element; }
  int lead() const { return rows > 0 ? rows : 1; }
};
template <class F>
void each_matrix(DType d, const F& f) {
  if (d == DType::f64) f(double{});
  else f(float{});
}
template <class = void>
[[noreturn]] void not_solved(const Call& c, const char* what, const Matrices& m, std::int64_t k) {
  Text t = Text("tt::") << shown_name(c) << ": " << what;
  if (m.dense.dim() > 2) t << ", number " << k << " of the batch";
  TT_THROW(Error(t << ": shape " << m.dense.shape() << "." << c.at));
}
/// Option of operators that may find a matrix without a solution: throw Error, or report it only in the result `info`.
struct CheckErrors {
  bool check_errors = true;
};
/// LAPACK's status for each matrix, in the result `info`.
template <class = void>
struct SolverStatus {
  const Call& c;
  const Matrices& m;
  Tensor info;
  bool check;
  const char* fault;
  SolverStatus(Call& call, const Matrices& matrices, int result, const CheckErrors& o, const char* what) : c(call), m(matrices), check(o.check_errors), fault(what) {
    Shape s;
    for (int k = 0; k < call[0].dim() - 2; ++k) s.push_back(call[0].impl().shape[k]);
    info = call.result[result] = Tensor(DType::i32, s, call[0].device());
    if (!info.is_meta()) info.zero_();
  }
  void set(std::int64_t k, int code) const {
    if (check && code > 0) not_solved(c, fault, m, k);
    info.data_ptr<std::int32_t>()[k] = code;
  }
};
/// A symbol with other last two sizes; rank_less: 1 without the last, 2 without both.
inline Sym matrix_like(const Sym& x, Extent rows, Extent columns, int rank_less = 0) {
  Shape s;
  for (int j = 0; j < x.shape().rank - 2; ++j) s.push_back(x.shape()[j]);
  if (rank_less < 2) s.push_back(rows);
  if (rank_less < 1) s.push_back(columns);
  return symbol_like(x, x.dtype(), s);
}
/// A symbol with one i32 for each matrix.
inline Sym info_like(const Sym& x) { return symbol_like(x, DType::i32, matrix_like(x, 1, 1, 2).shape()); }
inline bool is_matrix(const Sym& x, const char* op) {
  if (x.shape().rank >= 2) return true;
  x.graph->fail({.mistake = Mistake::rank_too_low, .op = op, .a = x.shape(), .number = 2});
  return false;
}
/// A scalar or vector for each matrix, with axes added so that it broadcasts over matrices.
struct OverMatrices {
  struct Options {
    int more = 2;  ///< axes added behind; -1: one before the last
  };
  static constexpr OpInfo info{.name = "_over_matrices", .widens = false, .arguments = "input, .more"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    Shape s = x.shape();
    if (o.more < 0) return reshaped(x, with_new_axis(s, s.rank - 1));
    for (int k = 0; k < o.more; ++k) s.push_back(1);
    return reshaped(x, s);
  }
};
template <class X>
auto transposed(const X& x) { return tt::transpose<-2, -1>(x); }

/// Expands both to common axes before the last two.
template <class = void>
void broadcast_batches(Tensor& a, Tensor& b, SourceLine at) {
  IntList one, other, batch;
  const int rank = a.dim() > b.dim() ? a.dim() : b.dim();
  for (int k = 0; k < rank - 2; ++k) {
    const int i = k - (rank - a.dim()), j = k - (rank - b.dim());
    const Size x = i < 0 ? Size(1) : a.size(i, at), y = j < 0 ? Size(1) : b.size(j, at);
    batch.push_back(x == 1 ? y : x);
  }
  one = other = batch;
  for (int k = 2; k > 0; --k) {
    one.push_back(a.size(-k, at));
    other.push_back(b.size(-k, at));
  }
  a = a.expand(one, at);
  b = b.expand(other, at);
}

}  // namespace detail
}  // namespace tt
