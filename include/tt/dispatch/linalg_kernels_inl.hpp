// Operators with LAPACK kernels: one factorisation each, with its derivative. Functions made of them: linalg_inl.hpp.
#pragma once
#include "tt/dispatch/linalg_matrices.hpp"
#include "tt/dispatch/no_derivative_inl.hpp"

namespace tt {
namespace detail {

template <class = void>
struct SolveMatrix {
  static constexpr OpInfo info{.name = "_linalg_solve", .arguments = "A, B"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  using Options = CheckErrors;
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
    const SolverStatus<> status(c, a, 1, o, "the matrix is singular");
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
        status.set(k, info_code);
        f.getrs("N", &n, &right, m.data(), &lead, pivots.data(), x.data(), &lead, &info_code);
        x.write(c.result[0].data_ptr<T>() + k * b.rows * b.columns, b.rows, b.columns);
      }
    });
  }
  static void derivative(const auto& s, const Options&) {
    const auto [x, infos] = call_with<SolveMatrix<>>(s.at, {false}, transposed(s.argument[0]), s.gradient[0]);
    s.out[1] = x;
    s.out[0] = -tt::matmul(s.out[1], transposed(s.result[0]));
  }
};
/// Without check_errors a singular matrix has an inverse of infinities.
template <class = void>
struct Inverse {
  using Options = CheckErrors;
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
    const SolverStatus<> status(c, a, 1, o, "the matrix is singular");
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(a.rows, a.rows), x(a.rows, a.rows);
      std::vector<int> pivots(static_cast<std::size_t>(a.rows) + 1);
      for (std::int64_t k = 0; k < a.count && a.rows > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * a.rows * a.rows);
        for (T& e : x.room) e = 0;
        for (int i = 0; i < a.rows; ++i) x.element[static_cast<std::size_t>(i) * static_cast<std::size_t>(a.rows + 1)] = 1;
        int code = 0;
        const int lead = m.lead(), n = a.rows;
        f.getrf(&n, &n, m.data(), &lead, pivots.data(), &code);
        status.set(k, code);
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
  /// Substitution with zeros on the diagonal, which LAPACK rejects: gives infinities, as PyTorch does.
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
  using Options = CheckErrors;
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
    const SolverStatus<> status(c, a, 1, o, "the matrix is not positive definite");
    if (c[0].is_meta()) return;
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(a.rows, a.rows);
      for (std::int64_t k = 0; k < a.count && a.rows > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * a.rows * a.rows);
        int code = 0;
        const int lead = m.lead(), n = a.rows;
        f.potrf("L", &n, m.data(), &lead, &code);
        status.set(k, code);
        for (int j = 1; j < n; ++j)
          for (int i = 0; i < j; ++i) m.element[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)] = 0;
        m.write(c.result[0].data_ptr<T>() + k * a.rows * a.rows, n, n);
      }
    });
  }
  /// L^-T phi(L^T g) L^-1, symmetrised; phi takes the lower triangle with half its diagonal (Murray, 2016).
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
/// The last two sizes. In Qr below, Q has min(m, n) columns, or all m if complete.
inline std::pair<Extent, Extent> last_two(const Tensor& t) { return {t.impl().shape.code[t.dim() - 2], t.impl().shape.code[t.dim() - 1]}; }
inline std::pair<Extent, Extent> last_two(const Sym& x) { return {x.shape()[x.shape().rank - 2], x.shape()[x.shape().rank - 1]}; }
/// False for distinct size symbols, even if they may be equal.
bool is_square(const auto& x) { return last_two(x).first == last_two(x).second; }
template <class = void>
struct Qr {
  struct Options {
    bool complete = false;
  };
  static constexpr OpInfo info{.name = "_linalg_qr", .arguments = "A"};
  static constexpr RefusedGradient refused{"_linalg_qr_by_a", "linalg.qr has no derivative of complete factors of more rows than columns, as in PyTorch"};
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
  /// For full column rank (m >= n): (gQ + Q sym(M)) R^-T with M = R gR^T - gQ^T Q (Walter and Lehmann, 2010).
  static void derivative(const auto& s, const Options& o) {
    const auto &q = s.result[0], &r = s.result[1];
    using X = std::remove_cvref_t<decltype(q)>;
    const auto [rows, columns] = last_two(r);
    const bool known = rows.is_constant() && columns.is_constant();
    if (rows != columns && (known || o.complete)) return refuse<Qr>(s, 0);  // of symbolic sizes, reduced factors are assumed to have m >= n
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
  /// U (skew parts / (s_j^2 - s_i^2) + diag(gS)) Vh, plus the parts of gU and gV orthogonal to U and V (Townsend, 2016).
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
      if (!is_square(u)) add(g, (s.gradient[0] - tt::matmul(u, p)) / row);  // square: no orthogonal part, and singular values may be 0
    }
    X right;
    if (s.gradient[2].defined()) {
      const auto p = tt::matmul(vh, transposed(s.gradient[2]));
      add(inner, column * ((p - transposed(p)) * by));
      if (!is_square(vh)) right = (s.gradient[2] - tt::matmul(transposed(p), vh)) / column;
    }
    X total = inner.defined() ? X(tt::matmul(tt::matmul(u, inner), vh)) : X();
    if (g.defined()) add(total, tt::matmul(g, vh));
    if (right.defined()) add(total, tt::matmul(u, right));
    s.out[0] = total;
  }
};

}  // namespace detail
}  // namespace tt
