// Operators with LAPACK kernels: triangular factors with pivots (LU, LDL) and Householder reflectors; and helpers of their derivatives.
#pragma once
#include "tt/dispatch/linalg_kernels_inl.hpp"
#include "tt/dispatch/no_derivative_inl.hpp"

namespace tt {
namespace detail {

// ---- operators

/// For each matrix that is not empty, calls f(LAPACK's functions, matrix column by column, its number), which overwrites it with the first result.
template <class F>
void in_place_info(Call& c, const Matrices& a, const F& f) {
  const std::int64_t elements = std::int64_t{a.rows} * a.columns;
  each_matrix(c[0].dtype(), [&]<class T>(T) {
    const auto& lapack = backend::Lapack<T>::get();
    ColumnMajor<T> x(a.rows, a.columns);
    for (std::int64_t b = 0; b < a.count && elements > 0; ++b) {
      x.read(a.dense.data_ptr<T>() + b * elements);
      f(lapack, x.data(), b);
      x.write(c.result[0].data_ptr<T>() + b * elements, a.rows, a.columns);
    }
  });
}

/// L and U in one matrix (without the ones of L's diagonal), and pivots: the row each row was exchanged with, from 1 on.
template <class = void>
struct Lu {
  using Options = CheckErrors;
  static constexpr OpInfo info{.name = "_linalg_lu_factor", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  struct Like {
    Sym LU, pivots, info;
  };
  using Results = linalg::LuFactorExResult;
  static Like like(const Sym& a, const Options&) {
    if (!is_matrix(a, info.name)) return {a, a, a};
    const Sym row = matrix_like(a, min(a.shape()[a.shape().rank - 2], a.shape()[a.shape().rank - 1]), 1, 1);
    return {a, symbol_like(a, DType::i32, row.shape()), info_like(a)};
  }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, false);
    const int m = a.rows, n = a.columns, k = m < n ? m : n;
    c.result[0] = a.result(c, m, n);
    c.result[1] = Tensor(DType::i32, a.shape(k, -1), c[0].device());
    const SolverStatus<> status(c, a, 2, o, "the matrix is singular");
    if (c[0].is_meta()) return;
    in_place_info(c, a, [&](const auto& f, auto* x, std::int64_t b) {
      int code = 0;
      f.getrf(&m, &n, x, &m, c.result[1].data_ptr<std::int32_t>() + b * k, &code);
      status.set(b, code);
    });
  }
};
/// LAPACK's row exchanges as a permutation of `rows` rows: the source row of each row.
template <class = void>
struct PivotOrder {
  struct Options {
    SizeOption rows;
  };
  static constexpr OpInfo info{.name = "_pivot_order", .arguments = "pivots, .rows"};
  static constexpr Batching batching = Batching::in_front;
  static Sym like(const Sym& p, const Options& o) {
    Shape s;
    for (int k = 0; k < p.shape().rank - 1; ++k) s.push_back(p.shape()[k]);
    s.push_back(o.rows.extent);
    return symbol_like(p, DType::i64, s);
  }
  static void kernel(Call& c, const Options& o) {
    const Tensor pivots = convert(c[0], DType::i64, c.at).contiguous(c.at);
    const int rank = pivots.dim();
    if (rank < 1) TT_THROW(Error(Text("tt::linalg: pivots of no axis.") << c.at));
    const std::int64_t rows = o.rows.extent.code, count = pivots.impl().shape.code[rank - 1];
    Shape s = pivots.impl().shape;
    s.set(rank - 1, rows);
    c.result[0] = Tensor(DType::i64, s, c[0].device());
    if (c[0].is_meta()) return;
    auto* const out = c.result[0].data_ptr<std::int64_t>();
    const auto* const p = pivots.data_ptr<std::int64_t>();
    for (std::int64_t b = 0; b < (rows > 0 ? c.result[0].impl().numel / rows : 0); ++b) {
      std::int64_t* const own = out + b * rows;
      for (std::int64_t i = 0; i < rows; ++i) own[i] = i;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t with = p[b * count + i] - 1;
        if (with < 0 || with >= rows || i >= rows) TT_THROW(Error(Text("tt::linalg: a pivot is out of range: ") << with + 1 << " of " << rows << " rows." << c.at));
        std::swap(own[i], own[with]);
      }
    }
  }
};
/// Returns the factors, with the derivative of a square matrix whose rows are permuted already: L^-T (tril(L^T gL, -1) + triu(gU U^T)) U^-T.
template <class = void>
struct LuDerivative {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = "_lu_derivative", .arguments = "A, factors"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  static Sym like(const Sym&, const Sym& factors, const Options&) { return factors; }
  static void kernel(Call& c, const Options&) { c.result[0] = c[1].is_meta() ? c[1] : c[1].clone(c.at); }
  static void derivative(const auto& s, const Options&) {
    const auto &f = s.result[0], &g = s.gradient[0];
    const auto upper = call_with<Triangle<false>>(s.at, {0}, f), gu = call_with<Triangle<false>>(s.at, {0}, g);
    const auto below = call_with<Triangle<true>>(s.at, {-1}, f), gl = call_with<Triangle<true>>(s.at, {-1}, g);
    const auto lower = tt::matmul(transposed(below), gl) + gl;  // L^T gL
    const auto inner = call_with<Triangle<true>>(s.at, {-1}, lower) + call_with<Triangle<false>>(s.at, {0}, tt::matmul(gu, transposed(upper)));
    const auto left = call_with<SolveTriangular<>>(s.at, {false, true, true}, f, inner);
    s.out[0] = transposed(call_with<SolveTriangular<>>(s.at, {true, false, false}, f, transposed(left)));
  }
};
/// Returns the pseudo-inverse P, with its derivative, which is valid for any constant rank of A (Golub and Pereyra, 1973).
template <class = void>
struct PinvDerivative {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = "_pinv_derivative", .arguments = "A, inverse"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  static Sym like(const Sym&, const Sym& inverse, const Options&) { return inverse; }
  static void kernel(Call& c, const Options&) { c.result[0] = c[1].is_meta() ? c[1] : c[1].clone(c.at); }
  static void derivative(const auto& s, const Options&) {
    const auto &a = s.argument[0], &p = s.result[0], &g = s.gradient[0];
    const auto gt = transposed(g), pt = transposed(p);
    const auto left = tt::matmul(tt::matmul(gt, p), pt), right = tt::matmul(tt::matmul(pt, p), gt);
    s.out[0] = left - tt::matmul(a, tt::matmul(p, left)) + right - tt::matmul(tt::matmul(right, p), a) - tt::matmul(tt::matmul(pt, g), pt);
  }
};
/// L D L^T of symmetric matrices, only the lower triangle is read: L and D in one matrix, and pivots, negative for 2 x 2 blocks of D (Bunch and Kaufman, 1977).
template <class = void>
struct Ldl {
  using Options = CheckErrors;
  static constexpr RefusedGradient refused{"_linalg_ldl_factor_by_a", "linalg.ldl_factor has no derivative, as in PyTorch"};
  static constexpr bool keeps_values = true;
  static constexpr OpInfo info{.name = "_linalg_ldl_factor", .arguments = "A"};
  static constexpr Batching batching = Batching::in_front;
  struct Like {
    Sym LD, pivots, info;
  };
  using Results = linalg::LdlFactorExResult;
  static Like like(const Sym& a, const Options&) {
    if (!is_matrix(a, info.name)) return {a, a, a};
    return {a, symbol_like(a, DType::i32, matrix_like(a, a.shape()[a.shape().rank - 1], 1, 1).shape()), info_like(a)};
  }
  static void kernel(Call& c, const Options& o) {
    const Matrices a = Matrices::of(c, 0, true);
    const int n = a.rows;
    c.result[0] = a.result(c, n, n);
    c.result[1] = Tensor(DType::i32, a.shape(n, -1), c[0].device());
    const SolverStatus<> status(c, a, 2, o, "the matrix is singular");
    if (c[0].is_meta()) return;
    in_place_info(c, a, [&]<class T>(const auto& f, T* x, std::int64_t b) {
      const int room = 64 * n + 1;
      std::vector<T> work(static_cast<std::size_t>(room));
      int code = 0;
      f.sytrf("L", &n, x, &n, c.result[1].data_ptr<std::int32_t>() + b * n, work.data(), &room, &code);
      status.set(b, code);
      for (int j = 1; j < n; ++j)
        for (int i = 0; i < j; ++i) x[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)] = 0;
    });
  }
  static void derivative(const auto& s, const Options&) { refuse<Ldl>(s, 0); }
};
template <class = void>
struct LdlSolve {
  using Options = NoOptions;
  static constexpr RefusedGradient refused{"_linalg_ldl_solve_by_factors", "linalg.ldl_solve has no derivative by the factors, as in PyTorch"};
  static constexpr bool keeps_values = true;
  static constexpr OpInfo info{.name = "_linalg_ldl_solve", .arguments = "LD, pivots, B"};
  static constexpr Batching batching = Batching::in_front;
  static Sym like(const Sym&, const Sym&, const Sym& b, const Options&) { return b; }
  static void kernel(Call& c, const Options&) {
    const Matrices a = Matrices::of(c, 0, true), b = Matrices::of(c, 2, false);
    const Tensor pivots = convert(c[1], DType::i32, c.at).contiguous(c.at);
    if (a.count != b.count || a.rows != b.rows || pivots.impl().numel != a.count * a.rows)
      TT_THROW(Error(Text("tt::linalg::ldl_solve: shapes do not fit: ") << c[0].shape() << ", pivots " << c[1].shape() << " and " << c[2].shape() << "." << c.at));
    c.result[0] = Tensor(c[2].dtype(), c[2].impl().shape, c[2].device());
    if (c[0].is_meta()) return;
    const int n = a.rows, right = b.columns;
    for (std::int64_t k = 0; k < pivots.impl().numel; ++k) {  // LAPACK does not check. A block of two rows has one negative pivot twice.
      const std::int32_t* const own = pivots.data_ptr<std::int32_t>() + k;
      const bool in_range = *own != 0 && *own <= n && *own >= -n, two = *own < 0;
      if (!in_range || (two && (k % n == n - 1 || own[1] != *own)))
        TT_THROW(Error(Text("tt::linalg::ldl_solve: ") << (in_range ? "a pivot of two rows stands alone: " : "a pivot is out of range: ") << *own << " of " << n << " rows." << c.at));
      k += two;
    }
    each_matrix(c[0].dtype(), [&]<class T>(T) {
      const auto& f = backend::Lapack<T>::get();
      ColumnMajor<T> m(n, n), x(n, right);
      for (std::int64_t k = 0; k < a.count && n > 0; ++k) {
        m.read(a.dense.data_ptr<T>() + k * n * n);
        x.read(b.dense.data_ptr<T>() + k * n * right);
        int code = 0;
        f.sytrs("L", &n, &right, m.data(), &n, pivots.data_ptr<std::int32_t>() + k * n, x.data(), &n, &code);
        x.write(c.result[0].data_ptr<T>() + k * n * right, n, right);
      }
    });
  }
  static void derivative(const auto& s, const Options&) {
    refuse<LdlSolve>(s, 0);
    s.out[2] = call_with<LdlSolve>(s.at, {}, s.argument[0], s.argument[1], s.gradient[0]);  // the matrix is symmetric
  }
};
/// R on and above the diagonal, reflectors below, and their factors tau.
template <class = void>
struct Geqrf {
  using Options = NoOptions;
  static constexpr RefusedGradient refused{"_geqrf_by_a", "geqrf has no derivative, as in PyTorch"};
  static constexpr bool keeps_values = true;
  static constexpr OpInfo info{.name = "_geqrf", .arguments = "A"};
  struct Like {
    Sym a, tau;
  };
  using Results = linalg::Reflectors;
  static Like like(const Sym& a, const Options&) {
    if (!is_matrix(a, info.name)) return {a, a};
    return {a, matrix_like(a, min(a.shape()[a.shape().rank - 2], a.shape()[a.shape().rank - 1]), 1, 1)};
  }
  static void kernel(Call& c, const Options&) {
    const Matrices a = Matrices::of(c, 0, false);
    const int m = a.rows, n = a.columns, k = m < n ? m : n;
    c.result[0] = a.result(c, m, n);
    c.result[1] = a.result(c, k, -1);
    if (c[0].is_meta()) return;
    in_place_info(c, a, [&]<class T>(const auto& f, T* x, std::int64_t b) {
      const int room = 64 * n + 1;
      std::vector<T> work(static_cast<std::size_t>(room));
      int code = 0;
      f.geqrf(&m, &n, x, &m, c.result[1].data_ptr<T>() + b * k, work.data(), &room, &code);
    });
  }
  static void derivative(const auto& s, const Options&) { refuse<Geqrf>(s, 0); }
};

// ---- helpers of the functions

/// Rows of matrices in the order given for each: x[order].
template <class = void>
Tensor in_order(const Tensor& x, const Tensor& order, SourceLine at) {
  return gather(x, -2, order.unsqueeze(-1, at).expand(x.shape(at), at), at);
}
/// The matrix P with P[order[j], j] = 1.
template <class = void>
Tensor permutation(const Tensor& order, DType d, SourceLine at) {
  return tt::eq(tt::arange(order.size(-1, at)).to(order.device()).unsqueeze(-1, at), order.unsqueeze(-2, at), at).to(d, at);
}
template <class = void>
Tensor unit_like(const Tensor& x, const Size& rows, const Size& columns, SourceLine at) {
  return eye(rows, columns, on_device(x.dtype(), x.device()), at);
}
/// L and U, from factors in one matrix.
template <class = void>
std::pair<Tensor, Tensor> triangles(const Tensor& factors, SourceLine at) {
  const Size m = factors.size(-2, at), n = factors.size(-1, at), k = m < n ? m : n;
  return {tt::tril(factors, -1, at).slice(-1, 0, k, 1, at) + unit_like(factors, m, k, at), tt::triu(factors, 0, at).slice(-2, 0, k, 1, at)};
}
/// Factors with the derivative of `a`. A matrix that is not square is embedded: [[A1, A2], [0, 1]] has the factors [[L, 0], [0, 1]] and [[U1, U2], [0, 1]].
template <class = void>
Tensor with_derivative(const Tensor& a, const linalg::LuFactors& f, SourceLine at) {
  if (!a.impl().is_differentiated() && !capture_mode) return f.LU;
  const Size m = a.size(-2, at), n = a.size(-1, at), most = m < n ? n : m, least = m < n ? m : n;
  const Tensor border = unit_like(a, most, most, at) - pad(unit_like(a, least, least, at), {0, most - least, 0, most - least}, PadMode::constant, 0, at);
  const auto square = [&](const Tensor& x) { return m == n ? x : tt::where(border != 0, border, pad(x, {0, most - n, 0, most - m}, PadMode::constant, 0, at), at); };
  const Tensor ordered = in_order(a, call_with<PivotOrder<>>(at, {m}, f.pivots), at);
  const Tensor made = call_with<LuDerivative<>>(at, {}, square(ordered), square(f.LU));
  return made.slice(-2, 0, m, 1, at).slice(-1, 0, n, 1, at);
}
/// H1 ... Hk x (last_first), or Hk ... H1 x; H x = x - tau v (v^T x), where v is a column of `a` below its diagonal, with 1 on it.
template <class = void>
Tensor reflected(const Tensor& a, const Tensor& tau, Tensor x, bool last_first, SourceLine at) {
  const Size m = a.size(-2, at), n = a.size(-1, at);
  const Tensor columns = tt::tril(a, -1, at) + unit_like(a, m, n, at);
  const std::int64_t k = tau.size(-1, at);
  for (std::int64_t step = 0; step < k; ++step) {
    const std::int64_t i = last_first ? k - 1 - step : step;
    const Tensor v = columns.slice(-1, i, i + 1, 1, at), factor = tau.slice(-1, i, i + 1, 1, at).unsqueeze(-1, at);
    x = x - tt::matmul(v * factor, tt::matmul(v.mT(at), x, at), at);
  }
  return x;
}

}  // namespace detail

}  // namespace tt
