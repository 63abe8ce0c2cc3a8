// Operators with kernels of LAPACK: a factorisation each, with its derivative. What is made of them: linalg_inl.hpp.
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

// ---- what kernels share

/// An operator's name without the underscore of those that are not called by name.
inline const char* shown_name(const Call& c) { return c.op->name() + (c.op->name()[0] == '_' ? 1 : 0); }
/// Matrices of the host, one after the other.
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
  /// The shape with other last sizes: a vector if columns is -1, a number if both are.
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
/// A matrix column by column, as LAPACK has it.
template <class T>
struct ColumnMajor {
  static constexpr std::size_t line = 64;  // bytes: elsewhere BLAS sums in another order
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
  void write(T* to, int r, int n) const {  // the first rows and columns
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
/// Option of operators that may find a matrix without a solution: an Error, or only told in their result `info`.
struct MatrixChecks {
  bool check = true;
};
/// How LAPACK ended, for each matrix.
template <class = void>
struct Infos {
  const Call& c;
  const Matrices& m;
  Tensor of_each;
  bool check;
  const char* fault;
  Infos(Call& call, const Matrices& matrices, int result, const MatrixChecks& o, const char* what) : c(call), m(matrices), check(o.check), fault(what) {
    Shape s;
    for (int k = 0; k < call[0].dim() - 2; ++k) s.push_back(call[0].impl().shape[k]);
    of_each = call.result[result] = Tensor(DType::i32, s, call[0].device());
    if (!of_each.is_meta()) of_each.zero_();
  }
  void set(std::int64_t k, int code) const {
    if (check && code > 0) not_solved(c, fault, m, k);
    of_each.data_ptr<std::int32_t>()[k] = code;
  }
};
/// A symbol with other last sizes; -1: without that axis.
inline Sym matrix_like(const Sym& x, Extent rows, Extent columns, int rank_less = 0) {
  Shape s;
  for (int j = 0; j < x.shape().rank - 2; ++j) s.push_back(x.shape()[j]);
  if (rank_less < 2) s.push_back(rows);
  if (rank_less < 1) s.push_back(columns);
  return symbol_like(x, x.dtype(), s);
}
/// A symbol with a number for each matrix.
inline Sym info_like(const Sym& x) { return symbol_like(x, DType::i32, matrix_like(x, 1, 1, 2).shape()); }
inline bool is_matrix(const Sym& x, const char* op) {
  if (x.shape().rank >= 2) return true;
  x.graph->fail({.mistake = Mistake::rank_too_low, .op = op, .a = x.shape(), .number = 2});
  return false;
}
/// A number, or a vector, of each matrix with axes behind it, so that it is broadcast over matrices.
struct OverMatrices {
  struct Options {
    int more = 2;  ///< axes behind; -1: one before the last
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

/// Both with the same axes before the last two.
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

// ---- operators

template <class = void>
struct SolveMatrix {
  static constexpr OpInfo info{.name = "_linalg_solve", .arguments = "A, B"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  using Options = MatrixChecks;
  struct Like {
    Sym result, info;
  };
  using Results = linalg::SolveExResult;
  static Like like(const Sym& a, const Sym& b, const Options&) {
    if (!is_matrix(a, info.name) || !is_matrix(b, info.name)) return {a, a};
    return {b, info_like(a)};
  }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, true), b = Matrices::of(c, 1, false);
    if (a.count != b.count || a.rows != b.rows) TT_THROW(Error(Text("tt::linalg::solve: shapes do not fit: ") << c[0].shape() << " and " << c[1].shape() << "." << c.at));
    c.result[0] = Tensor(c[1].dtype(), c[1].impl().shape, c[1].device());
    const Infos<> infos(c, a, 1, o, "the matrix is singular");
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(a.rows, a.columns), x(b.rows, b.columns);
      std::vector<int> pivots(static_cast<std::size_t>(a.rows) + 1);
      for (std::int64_t k = 0; k < a.count && a.rows > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * a.rows * a.columns);
        x.read(b.dense.data_ptr<T>() + k * b.rows * b.columns);
        int info_code = 0;
        const int lead = m.lead(), n = a.rows, right = b.columns;
        f.getrf(&n, &n, m.data(), &lead, pivots.data(), &info_code);
        infos.set(k, info_code);
        f.getrs("N", &n, &right, m.data(), &lead, pivots.data(), x.data(), &lead, &info_code);
        x.write(c.result[0].data_ptr<T>() + k * b.rows * b.columns, b.rows, b.columns);
      }
    });
  }
  static void derivative(const auto& s, const Options&) {
    const auto [x, infos] = call_with<SolveMatrix<>>(s.at, {}, transposed(s.argument[0]), s.gradient[0]);
    s.out[1] = x;
    s.out[0] = -tt::matmul(s.out[1], transposed(s.result[0]));
  }
};
/// Unchecked, a singular matrix has an inverse of infinities.
template <class = void>
struct Inverse {
  using Options = MatrixChecks;
  static constexpr OpInfo info{.name = "_linalg_inv", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  struct Like {
    Sym inverse, info;
  };
  using Results = linalg::InvExResult;
  static Like like(const Sym& a, const Options&) {
    if (!is_matrix(a, info.name)) return {a, a};
    return {a, info_like(a)};
  }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, true);
    c.result[0] = a.result(c, a.rows, a.rows);
    const Infos<> infos(c, a, 1, o, "the matrix is singular");
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(a.rows, a.rows);
      std::vector<int> pivots(static_cast<std::size_t>(a.rows) + 1);
      for (std::int64_t k = 0; k < a.count && a.rows > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * a.rows * a.rows);
        ColumnMajor<T> x(a.rows, a.rows);
        for (int i = 0; i < a.rows; ++i) x.element[static_cast<std::size_t>(i) * static_cast<std::size_t>(a.rows + 1)] = 1;
        int code = 0;
        const int lead = m.lead(), n = a.rows;
        f.getrf(&n, &n, m.data(), &lead, pivots.data(), &code);
        infos.set(k, code);
        f.getrs("N", &n, &n, m.data(), &lead, pivots.data(), x.data(), &lead, &code);
        x.write(c.result[0].data_ptr<T>() + k * a.rows * a.rows, n, n);
      }
    });
  }
  static void derivative(const auto& s, const Options&) {
    const auto t = transposed(s.result[0]);
    s.out[0] = -tt::matmul(tt::matmul(t, s.gradient[0]), t);
  }
};
template <class = void>
struct SolveTriangular {
  struct Options {
    bool upper = false, transpose = false, unitriangular = false;
  };
  static constexpr OpInfo info{.name = "_linalg_solve_triangular", .arguments = "A, B"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& a, const Sym& b, const Options&) { return is_matrix(a, info.name) && is_matrix(b, info.name) ? b : a; }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, true), b = Matrices::of(c, 1, false);
    if (a.count != b.count || a.rows != b.rows) TT_THROW(Error(Text("tt::linalg::solve_triangular: shapes do not fit: ") << c[0].shape() << " and " << c[1].shape() << "." << c.at));
    c.result[0] = Tensor(c[1].dtype(), c[1].impl().shape, c[1].device());
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(a.rows, a.rows), x(b.rows, b.columns);
      for (std::int64_t k = 0; k < a.count && a.rows > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * a.rows * a.rows);
        x.read(b.dense.data_ptr<T>() + k * b.rows * b.columns);
        int code = 0;
        const int lead = m.lead(), n = a.rows, right = b.columns;
        f.trtrs(o.upper ? "U" : "L", o.transpose ? "T" : "N", o.unitriangular ? "U" : "N", &n, &right, m.data(), &lead, x.data(), &lead, &code);
        if (code > 0) substitute(m, x, o);
        x.write(c.result[0].data_ptr<T>() + k * b.rows * b.columns, b.rows, b.columns);
      }
    });
  }
  static void derivative(const auto& s, const Options& o) {
    s.out[1] = call_with<SolveTriangular<>>(s.at, {o.upper, !o.transpose, o.unitriangular}, s.argument[0], s.gradient[0]);
    const auto g = o.transpose ? -tt::matmul(s.result[0], transposed(s.out[1])) : -tt::matmul(s.out[1], transposed(s.result[0]));
    const int off = o.unitriangular ? 1 : 0;
    s.out[0] = o.upper ? call_with<Triangle<false>>(s.at, {off}, g) : call_with<Triangle<true>>(s.at, {-off}, g);
  }

 private:
  /// With zeros on the diagonal, which LAPACK refuses: infinities, as PyTorch gives them.
  template <class T>
  static void substitute(const ColumnMajor<T>& m, ColumnMajor<T>& x, const Options& o) {
    const int n = m.rows;
    const bool backwards = o.upper != o.transpose;
    for (int column = 0; column < x.columns; ++column) {
      T* const b = x.element + column * n;
      for (int step = 0; step < n; ++step) {
        const int i = backwards ? n - 1 - step : step;
        for (int j = backwards ? i + 1 : 0, end = backwards ? n : i; j < end; ++j) b[i] -= (o.transpose ? m.element[i * n + j] : m.element[j * n + i]) * b[j];
        b[i] /= m.element[i * n + i];
      }
    }
  }
};
template <class = void>
struct Cholesky {
  static constexpr OpInfo info{.name = "_linalg_cholesky", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  using Options = MatrixChecks;
  struct Like {
    Sym L, info;
  };
  using Results = linalg::CholeskyExResult;
  static Like like(const Sym& a, const Options&) {
    if (!is_matrix(a, info.name)) return {a, a};
    return {a, info_like(a)};
  }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, true);
    c.result[0] = a.result(c, a.rows, a.rows);
    const Infos<> infos(c, a, 1, o, "the matrix is not positive definite");
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(a.rows, a.rows);
      for (std::int64_t k = 0; k < a.count && a.rows > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * a.rows * a.rows);
        int code = 0;
        const int lead = m.lead(), n = a.rows;
        f.potrf("L", &n, m.data(), &lead, &code);
        infos.set(k, code);
        for (int j = 1; j < n; ++j)
          for (int i = 0; i < j; ++i) m.element[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)] = 0;
        m.write(c.result[0].data_ptr<T>() + k * a.rows * a.rows, n, n);
      }
    });
  }
  /// L^-T phi(L^T g) L^-1, made symmetric; phi halves the diagonal of the lower triangle (Murray, 2016).
  static void derivative(const auto& s, const Options&) {
    const auto& l = s.result[0];
    const auto p = tt::matmul(transposed(l), s.gradient[0]);
    const auto lower = call_with<Triangle<true>>(s.at, {0}, p), strict = call_with<Triangle<true>>(s.at, {-1}, p);
    const auto phi = (lower + strict) * 0.5;
    const auto left = call_with<SolveTriangular<>>(s.at, {false, true, false}, l, phi);
    const auto both = transposed(call_with<SolveTriangular<>>(s.at, {false, true, false}, l, transposed(left)));
    s.out[0] = (both + transposed(both)) * 0.5;
  }
};
/// Q and R of the first min(m, n) columns, or of all m.
template <class = void>
struct Qr {
  struct Options {
    bool complete = false;
  };
  static constexpr OpInfo info{.name = "_linalg_qr", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  struct Like {
    Sym q, r;
  };
  using Results = linalg::QrResult;
  static Like like(const Sym& a, const Options& o) {
    if (!is_matrix(a, info.name)) return {a, a};
    const Extent m = a.shape()[a.shape().rank - 2], n = a.shape()[a.shape().rank - 1], k = o.complete ? m : min(m, n);
    return {matrix_like(a, m, k), matrix_like(a, k, n)};
  }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, false);
    const int m = a.rows, n = a.columns, least = m < n ? m : n, k = o.complete ? m : least;
    c.result[0] = a.result(c, m, k);
    c.result[1] = a.result(c, k, n);
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      for (std::int64_t b = 0; b < a.count; ++b) {
        ColumnMajor<T> x(m, n), q(m, m > n ? m : n);
        x.read(a.dense.data_ptr<T>() + b * m * n);
        std::vector<T> tau(static_cast<std::size_t>(least) + 1), work(static_cast<std::size_t>(m + n + 1) * 64);
        int code = 0;
        const int lead = x.lead(), room = static_cast<int>(work.size());
        if (m > 0 && n > 0) f.geqrf(&m, &n, x.data(), &lead, tau.data(), work.data(), &room, &code);
        T* const r = c.result[1].data_ptr<T>() + b * k * n;
        for (int i = 0; i < k; ++i)
          for (int j = 0; j < n; ++j)
            r[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)] = i <= j ? x.element[static_cast<std::size_t>(j) * static_cast<std::size_t>(m) + static_cast<std::size_t>(i)] : T(0);
        std::memcpy(q.data(), x.data(), sizeof(T) * static_cast<std::size_t>(m) * static_cast<std::size_t>(n < m ? n : m));
        if (m > 0 && k > 0) f.orgqr(&m, &k, &least, q.data(), &lead, tau.data(), work.data(), &room, &code);
        q.write(c.result[0].data_ptr<T>() + b * m * k, m, k);
      }
    });
  }
  /// Of full columns (m >= n): (gQ + Q sym(M)) R^-T with M = R gR^T - gQ^T Q (Walter and Lehmann, 2010).
  static void derivative(const auto& s, const Options&) {
    const auto &q = s.result[0], &r = s.result[1];
    using X = std::remove_cvref_t<decltype(q)>;
    if constexpr (std::is_same_v<X, Tensor>)
      if (r.size(-1) != r.size(-2) || q.size(-1) != r.size(-1)) TT_THROW(Error(Text("tt::backward: linalg.qr: of more rows than columns, reduced factors have a derivative." ) << s.at));
    const X mr = s.gradient[1].defined() ? X(tt::matmul(r, transposed(s.gradient[1]))) : X(tt::matmul(transposed(q), q) * 0.0);
    const X m = s.gradient[0].defined() ? X(mr - tt::matmul(transposed(s.gradient[0]), q)) : mr;
    const auto lower = call_with<Triangle<true>>(s.at, {0}, m), strict = call_with<Triangle<true>>(s.at, {-1}, m);
    const auto b = tt::matmul(q, lower + transposed(strict));
    const X right = s.gradient[0].defined() ? X(s.gradient[0] + b) : X(b);
    s.out[0] = transposed(call_with<SolveTriangular<>>(s.at, {true, false, false}, r, transposed(right)));
  }
};
template <class = void>
struct Eigh {
  struct Options {
    bool upper = false;
  };
  static constexpr OpInfo info{.name = "_linalg_eigh", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  struct Like {
    Sym values, vectors;
  };
  using Results = linalg::EighResult;
  static Like like(const Sym& a, const Options&) {
    if (!is_matrix(a, info.name)) return {a, a};
    return {matrix_like(a, a.shape()[a.shape().rank - 1], 1, 1), symbol_like(a, a.dtype(), a.shape())};
  }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, true);
    const int n = a.rows;
    c.result[0] = a.result(c, n, -1);
    c.result[1] = a.result(c, n, n);
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      const int room = 1 + 6 * n + 2 * n * n, integers = 3 + 5 * n;
      std::vector<T> work(static_cast<std::size_t>(room));
      std::vector<int> iwork(static_cast<std::size_t>(integers));
      ColumnMajor<T> m(n, n);
      for (std::int64_t k = 0; k < a.count && n > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * n * n);
        int code = 0;
        f.syevd("V", o.upper ? "U" : "L", &n, m.data(), &n, c.result[0].data_ptr<T>() + k * n, work.data(), &room, iwork.data(), &integers, &code);
        if (code != 0) not_solved(c, "eigenvalues were not found", a, k);
        m.write(c.result[1].data_ptr<T>() + k * n * n, n, n);
      }
    });
  }
  static void derivative(const auto& s, const Options&) {
    const auto &w = s.result[0], &v = s.result[1];
    using X = std::remove_cvref_t<decltype(w)>;
    X inner;
    if (s.gradient[1].defined()) {
      const auto apart = call_with<OverMatrices>(s.at, {-1}, w) - call_with<OverMatrices>(s.at, {1}, w);
      inner = tt::where(apart == 0, 0.0, tt::matmul(transposed(v), s.gradient[1]) / tt::where(apart == 0, 1.0, apart));
    }
    if (s.gradient[0].defined()) {
      const X diagonal = call_with<DiagEmbed>(s.at, {0}, s.gradient[0]);
      inner = inner.defined() ? X(inner + diagonal) : diagonal;
    }
    const auto g = tt::matmul(tt::matmul(v, inner), transposed(v));
    s.out[0] = (g + transposed(g)) * 0.5;
  }
};
template <class = void>
struct Svd {
  struct Options {
    bool full_matrices = false;
  };
  static constexpr OpInfo info{.name = "_linalg_svd", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  struct Like {
    Sym u, s, vh;
  };
  using Results = linalg::SvdResult;
  static Like like(const Sym& a, const Options& o) {
    if (!is_matrix(a, info.name)) return {a, a, a};
    const Extent m = a.shape()[a.shape().rank - 2], n = a.shape()[a.shape().rank - 1], k = min(m, n);
    return {matrix_like(a, m, o.full_matrices ? m : k), matrix_like(a, k, 1, 1), matrix_like(a, o.full_matrices ? n : k, n)};
  }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, false);
    const int m = a.rows, n = a.columns, k = m < n ? m : n, left = o.full_matrices ? m : k, right = o.full_matrices ? n : k;
    c.result[0] = a.result(c, m, left);
    c.result[1] = a.result(c, k, -1);
    c.result[2] = a.result(c, right, n);
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      const int most = m > n ? m : n, room = 4 * k * k + 7 * k + most + 64 * (m + n) + 1;
      std::vector<T> work(static_cast<std::size_t>(room));
      std::vector<int> iwork(static_cast<std::size_t>(8 * k) + 1);
      for (std::int64_t b = 0; b < a.count; ++b) {
        ColumnMajor<T> x(m, n), u(m, left), vt(right, n);
        if (k > 0) {
          x.read(a.dense.data_ptr<T>() + b * m * n);
          int code = 0;
          const int rows = x.lead(), vt_rows = vt.lead();
          f.gesdd(o.full_matrices ? "A" : "S", &m, &n, x.data(), &rows, c.result[1].data_ptr<T>() + b * k, u.data(), &rows, vt.data(), &vt_rows, work.data(), &room, iwork.data(), &code);
          if (code != 0) not_solved(c, "singular values were not found", a, b);
        } else {
          for (int i = 0; i < left; ++i) u.element[static_cast<std::size_t>(i) * static_cast<std::size_t>(m + 1)] = 1;
          for (int i = 0; i < right; ++i) vt.element[static_cast<std::size_t>(i) * static_cast<std::size_t>(right + 1)] = 1;
        }
        u.write(c.result[0].data_ptr<T>() + b * m * left, m, left);
        vt.write(c.result[2].data_ptr<T>() + b * right * n, right, n);
      }
    });
  }
  /// U (skew parts / (s_j^2 - s_i^2) + diag(gS)) Vh, and what of gU and gV is beside these spaces (Townsend, 2016).
  static void derivative(const auto& s, const Options&) {
    const auto &u = s.result[0], &sigma = s.result[1], &vh = s.result[2];
    using X = std::remove_cvref_t<decltype(u)>;
    X inner, g;
    const auto add = [](X& to, const X& more) { to = to.defined() ? X(to + more) : more; };
    if (s.gradient[1].defined()) add(inner, call_with<DiagEmbed>(s.at, {0}, s.gradient[1]));
    const auto row = call_with<OverMatrices>(s.at, {-1}, sigma), column = call_with<OverMatrices>(s.at, {1}, sigma);
    const auto apart = (row - column) * (row + column);
    const X by = tt::where(apart == 0, 0.0, 1 / tt::where(apart == 0, 1.0, apart));
    if (s.gradient[0].defined()) {
      const auto p = tt::matmul(transposed(u), s.gradient[0]);
      add(inner, (p - transposed(p)) * by * row);
      add(g, (s.gradient[0] - tt::matmul(u, p)) / row);
    }
    X right;
    if (s.gradient[2].defined()) {
      const auto p = tt::matmul(vh, transposed(s.gradient[2]));
      add(inner, column * ((p - transposed(p)) * by));
      right = (s.gradient[2] - tt::matmul(transposed(p), vh)) / column;
    }
    X total = inner.defined() ? X(tt::matmul(tt::matmul(u, inner), vh)) : X();
    if (g.defined()) add(total, tt::matmul(g, vh));
    if (right.defined()) add(total, tt::matmul(u, right));
    s.out[0] = total;
  }
};

}  // namespace detail
}  // namespace tt
