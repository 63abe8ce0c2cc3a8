// torch.linalg through LAPACK: factorisations of matrices, or of each of a batch of matrices (all axes but the last two), in f32 and f64, on the host. Names,
// arguments, defaults and meanings are PyTorch's; functions have derivatives of any order unless said otherwise. Without LAPACK a call throws Unavailable,
// which names the package.
//   tt::linalg::solve(a, b)   tt::linalg::inv(a)   auto [q, r] = tt::linalg::qr(a);   tt::linalg::eigh(a).eigenvalues
#pragma once
#include "tt/dispatch/linear_algebra.hpp"

namespace tt::detail {

inline void need_pivots(bool pivot, SourceLine at) {
  if (!pivot) TT_THROW(Unavailable(Text("tt::linalg::lu: without pivots is not there, as in PyTorch on the CPU.") << at));
}

}  // namespace tt::detail

namespace tt::linalg {

/// Solves a x = b; b is a vector (its rank is one less than that of a) or a matrix; left = false: x a = b. Throws Error where a is singular.
TT_LAZY Tensor solve(const Tensor& a, const Tensor& b, bool left = true, SourceLine at = here());
/// Functions whose names end in _ex throw only if check_errors; otherwise `info` tells which matrices are singular or not positive definite.
TT_LAZY SolveExResult solve_ex(const Tensor& a, const Tensor& b, bool left = true, bool check_errors = false, SourceLine at = here());
TT_LAZY InvExResult inv_ex(const Tensor& a, bool check_errors = false, SourceLine at = here());
TT_LAZY Tensor det(const Tensor& a, SourceLine at = here());
/// The sign of the determinant (0: singular) and the logarithm of its absolute value.
TT_LAZY SlogdetResult slogdet(const Tensor& a, SourceLine at = here());
// inv, svdvals: linear_algebra.hpp
/// The lower triangle L with L L^T = a (upper: U with U^T U = a); only one triangle of a is read. Throws Error where a is not positive definite.
TT_LAZY Tensor cholesky(const Tensor& a, bool upper = false, SourceLine at = here());
TT_LAZY CholeskyExResult cholesky_ex(const Tensor& a, bool upper = false, bool check_errors = false, SourceLine at = here());
/// solve for a triangular matrix; only that triangle is read.
TT_LAZY Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left = true, bool unitriangular = false, SourceLine at = here());
/// a = Q R. mode: "reduced", "complete", or "r" (Q has no elements).
TT_LAZY QrResult qr(const Tensor& a, std::string_view mode = "reduced", SourceLine at = here());
/// Symmetric matrices; only one triangle is read ("L" or "U"). Eigenvalues ascending, eigenvectors as columns. Derivatives are those of symmetric changes.
TT_LAZY EighResult eigh(const Tensor& a, std::string_view uplo = "L", SourceLine at = here());
TT_LAZY Tensor eigvalsh(const Tensor& a, std::string_view uplo = "L", SourceLine at = here());
/// Matrices without symmetry: eigenvalues unordered, eigenvectors as columns of length 1, both complex, as real Tensors with a last axis {real, imaginary}.
/// Derivatives need distinct eigenvalues; the phase of an eigenvector has no gradient.
TT_LAZY EigResult eig(const Tensor& a, SourceLine at = here());
TT_LAZY Tensor eigvals(const Tensor& a, SourceLine at = here());
/// a = U diag(S) Vh, S descending. Derivatives need full_matrices = false, and distinct singular values for those of the vectors.
TT_LAZY SvdResult svd(const Tensor& a, bool full_matrices = true, SourceLine at = here());
/// a = P L U with partial pivoting.
TT_LAZY LuResult lu(const Tensor& a, SourceLine at = here());
/// L and U in one matrix, and pivots: the row each row was exchanged with, from 1 on (i32). Throws Error where U has a 0 on its diagonal.
TT_LAZY LuFactors lu_factor(const Tensor& a, SourceLine at = here());
TT_LAZY LuFactorExResult lu_factor_ex(const Tensor& a, bool check_errors = false, SourceLine at = here());
TT_LAZY LuResult lu_unpack(const Tensor& factors, const Tensor& pivots, SourceLine at = here());
/// solve with the results of lu_factor; adjoint: with a's transpose.
TT_LAZY Tensor lu_solve(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool left = true, bool adjoint = false, SourceLine at = here());
/// a = L D L^T of symmetric matrices, only the lower triangle is read: L and D in one matrix, and pivots as in LAPACK's sytrf. No derivatives, as in PyTorch.
TT_LAZY LdlFactors ldl_factor(const Tensor& a, SourceLine at = here());
TT_LAZY LdlFactorExResult ldl_factor_ex(const Tensor& a, bool check_errors = false, SourceLine at = here());
TT_LAZY Tensor ldl_solve(const Tensor& factors, const Tensor& pivots, const Tensor& b, SourceLine at = here());
/// QR in LAPACK's form: R, and below the diagonal reflectors with factors tau. No derivatives.
TT_LAZY Reflectors geqrf(const Tensor& a, SourceLine at = here());
/// The first columns of the product of reflectors, for (m, n) with m >= n.
TT_LAZY Tensor householder_product(const Tensor& a, const Tensor& tau, SourceLine at = here());
/// The product of the reflectors (m, m), or its transpose, times `other`, or `other` times it.
TT_LAZY Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other, bool left = true, bool transpose = false, SourceLine at = here());
/// a = U P: U has orthonormal columns, P is symmetric.
TT_LAZY PolarResult polar(const Tensor& a, SourceLine at = here());
/// The square root of symmetric matrices without negative eigenvalues.
TT_LAZY Tensor matrix_sqrth(const Tensor& a, SourceLine at = here());
/// x with tensordot(a, x, x.dim()) = b; axes `dims` of a are first moved to the end.
TT_LAZY Tensor tensorsolve(const Tensor& a, const Tensor& b, const IntList& dims = {}, SourceLine at = here());
/// The inverse of x as a map from its last axes to its first `ind` axes, which have as many elements: shape (last axes, first axes).
TT_LAZY Tensor tensorinv(const Tensor& x, int ind = 2, SourceLine at = here());
/// The pseudo-inverse; singular values up to the tolerance count as 0.
TT_LAZY Tensor pinv(const Tensor& a, const Tolerances& tolerances = {}, bool hermitian = false, SourceLine at = here());
/// The number of singular values above the tolerance; hermitian: of absolute eigenvalues.
TT_LAZY Tensor matrix_rank(const Tensor& a, const Tolerances& tolerances = {}, bool hermitian = false, SourceLine at = here());
/// Largest singular value divided by the smallest (p = -2: the inverse). For other p: norm(a) norm(inv(a)) with matrix_norm, infinite where a is singular.
TT_LAZY Tensor cond(const Tensor& a, double p = 2, SourceLine at = here());
TT_LAZY Tensor cond(const Tensor& a, std::string_view p, SourceLine at = here());
/// e^a, by scaling and squaring of its Taylor series.
TT_LAZY Tensor matrix_exp(const Tensor& a, SourceLine at = here());
/// x with the least |a x - b|; for a without full rank the shortest such x, except that driver "gels" assumes full rank. Residuals, rank and singular values
/// are given where LAPACK's driver (gels, gelsy, gelsd, gelss) gives them, else empty.
TT_LAZY LstsqResult lstsq(const Tensor& a, const Tensor& b, Optional<double> rcond = {}, std::string_view driver = "gelsy", SourceLine at = here());
TT_LAZY Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper = false, SourceLine at = here());
template <std::same_as<bool> P> LuResult lu(const Tensor& a, P pivot, SourceLine at = here()) { return tt::detail::need_pivots(pivot, at), lu(a, at); }
template <std::same_as<bool> P> LuFactors lu_factor(const Tensor& a, P pivot, SourceLine at = here()) { return tt::detail::need_pivots(pivot, at), lu_factor(a, at); }
template <std::same_as<bool> P> LuFactorExResult lu_factor_ex(const Tensor& a, P pivot, bool check_errors, SourceLine at = here()) { return tt::detail::need_pivots(pivot, at), lu_factor_ex(a, check_errors, at); }
/// Parts that are not asked for are empty.
template <class = void> LuResult lu_unpack(const Tensor& factors, const Tensor& pivots, bool unpack_data, bool unpack_pivots = true, SourceLine at = here()) {
  const LuResult r = lu_unpack(factors, pivots, at);
  const Tensor left_out = empty({0}, tt::detail::on_device(factors.dtype(), factors.device()));
  return {unpack_pivots ? r.P : left_out, unpack_data ? r.L : left_out, unpack_data ? r.U : left_out};
}
// hermitian: a real matrix is Hermitian when it is symmetric, so the argument changes nothing.
template <std::same_as<bool> H> LdlFactors ldl_factor(const Tensor& a, H, SourceLine at = here()) { return ldl_factor(a, at); }
template <std::same_as<bool> H> LdlFactorExResult ldl_factor_ex(const Tensor& a, H, bool check_errors, SourceLine at = here()) { return ldl_factor_ex(a, check_errors, at); }
template <std::same_as<bool> H> Tensor ldl_solve(const Tensor& factors, const Tensor& pivots, const Tensor& b, H, SourceLine at = here()) { return ldl_solve(factors, pivots, b, at); }
/// Scalar tolerances: rcond is relative to the largest singular value, tol is absolute.
template <std::floating_point T, std::same_as<bool> B = bool> Tensor pinv(const Tensor& a, T rcond, B hermitian = false, SourceLine at = here()) { return pinv(a, Tolerances{.rtol = full({}, rcond, DType::f64)}, hermitian, at); }
template <class T, class R>
  requires(std::is_arithmetic_v<T> && std::is_arithmetic_v<R> && !std::same_as<R, bool>)
Tensor pinv(const Tensor& a, T atol, R rtol, bool hermitian = false, SourceLine at = here()) { return pinv(a, Tolerances{full({}, static_cast<double>(atol), DType::f64), full({}, static_cast<double>(rtol), DType::f64)}, hermitian, at); }
template <std::floating_point T, std::same_as<bool> B = bool> Tensor matrix_rank(const Tensor& a, T tol, B hermitian = false, SourceLine at = here()) { return matrix_rank(a, Tolerances{.atol = full({}, tol, DType::f64)}, hermitian, at); }
template <class T, class R>
  requires(std::is_arithmetic_v<T> && std::is_arithmetic_v<R> && !std::same_as<R, bool>)
Tensor matrix_rank(const Tensor& a, T atol, R rtol, bool hermitian = false, SourceLine at = here()) { return matrix_rank(a, Tolerances{full({}, static_cast<double>(atol), DType::f64), full({}, static_cast<double>(rtol), DType::f64)}, hermitian, at); }
/// A tolerance for each matrix.
template <std::same_as<Tensor> T> Tensor pinv(const Tensor& a, const T& rcond, bool hermitian = false, SourceLine at = here()) { return pinv(a, Tolerances{.rtol = rcond}, hermitian, at); }
template <std::same_as<Tensor> T> Tensor pinv(const Tensor& a, const T& atol, const T& rtol, bool hermitian = false, SourceLine at = here()) { return pinv(a, Tolerances{atol, rtol}, hermitian, at); }
template <std::same_as<Tensor> T> Tensor matrix_rank(const Tensor& a, const T& tol, bool hermitian = false, SourceLine at = here()) { return matrix_rank(a, Tolerances{.atol = tol}, hermitian, at); }
template <std::same_as<Tensor> T> Tensor matrix_rank(const Tensor& a, const T& atol, const T& rtol, bool hermitian = false, SourceLine at = here()) { return matrix_rank(a, Tolerances{atol, rtol}, hermitian, at); }

}  // namespace tt::linalg

namespace tt {

/// A = U diag(S) V^T.
struct SvdLowRankResult {
  Tensor U, S, V;
};

/// log(det(a)); NaN where the determinant is negative.
TT_LAZY Tensor logdet(const Tensor& a, SourceLine at = here());
/// The pseudo-inverse; singular values up to rcond times the largest count as 0.
TT_LAZY Tensor pinverse(const Tensor& a, double rcond = 1e-15, SourceLine at = here());
/// Approximately the q largest singular values of A - M and their vectors, from q random combinations of its columns, multiplied by the matrix 2 niter times
/// (Halko, Martinsson and Tropp, 2009); exact for rank q or less. Draws from the default generator.
TT_LAZY SvdLowRankResult svd_lowrank(const Tensor& A, std::int64_t q = 6, int niter = 2, const Tensor& M = {}, SourceLine at = here());
/// The same of rows minus their mean (center): principal directions are the columns of V. q defaults to 6 or the smaller size.
TT_LAZY SvdLowRankResult pca_lowrank(const Tensor& A, Optional<std::int64_t> q = {}, bool center = true, int niter = 2, SourceLine at = here());
/// The inverse of l l^T (upper: of u^T u).
TT_LAZY Tensor cholesky_inverse(const Tensor& l, bool upper = false, SourceLine at = here());

}  // namespace tt

namespace tt::detail {

/// Registers the names for tt::call.
template <class = void>
void register_linalg();

}  // namespace tt::detail

#if TT_DEFINES(linalg)
#include "tt/dispatch/linalg_inl.hpp"
#endif
