// Definitions of linalg.hpp, made of the operators of linalg_kernels_inl.hpp and its siblings, and the registered names.
#pragma once
#include <array>

#include "tt/dispatch/argument_checks.hpp"
#include "tt/dispatch/control_flow.hpp"
#include "tt/dispatch/linalg.hpp"
#include "tt/dispatch/linalg_determinants_inl.hpp"
#include "tt/dispatch/linalg_eig_inl.hpp"
#include "tt/dispatch/linalg_factors_inl.hpp"

namespace tt {
namespace detail {

inline double epsilon_of(DType d) { return d == DType::f64 ? 0x1p-52 : 0x1p-23; }

}  // namespace detail

TT_LAZY_DEFINITION linalg::SolveExResult linalg::solve_ex(const Tensor& given_a, const Tensor& given_b, bool left, bool check_errors, SourceLine at) {
  Tensor a = given_a, b = given_b;
  bool vector = b.dim() == 1;
  if (!vector && b.dim() == a.dim() - 1) {  // a batch of vectors
    vector = true;
    for (int k = 0; k < b.dim(); ++k) vector = vector && b.size(k, at) == a.size(k, at);
  }
  if (vector) b = b.unsqueeze(-1, at);
  if (a.dim() < 2 || b.dim() < 2) TT_THROW(Error(Text("tt::linalg::solve: shapes do not fit: ") << given_a.shape() << " and " << given_b.shape() << "." << at));
  if (!left && !vector) a = a.mT(at), b = b.mT(at);
  detail::broadcast_batches(a, b, at);
  const auto [x, info] = call_with<detail::SolveMatrix<>>(at, {check_errors}, a, b);
  return {vector ? x.squeeze(-1, at) : left ? x : x.mT(at), info};
}
TT_LAZY_DEFINITION Tensor linalg::solve(const Tensor& a, const Tensor& b, bool left, SourceLine at) { return solve_ex(a, b, left, true, at).result; }
TT_LAZY_DEFINITION linalg::InvExResult linalg::inv_ex(const Tensor& a, bool check_errors, SourceLine at) {
  const auto [inverse, info] = call_with<detail::Inverse<>>(at, {check_errors}, a);
  return {inverse, info};
}
TT_LAZY_DEFINITION Tensor linalg::inv(const Tensor& a, SourceLine at) { return inv_ex(a, true, at).inverse; }
TT_LAZY_DEFINITION linalg::SlogdetResult linalg::slogdet(const Tensor& a, SourceLine at) {
  const auto [sign, log] = call_with<detail::Slogdet<>>(at, {}, a);
  return {sign, log};
}
TT_LAZY_DEFINITION Tensor linalg::det(const Tensor& a, SourceLine at) {
  return call_with<detail::Det<>>(at, {}, a);
}
TT_LAZY_DEFINITION linalg::CholeskyExResult linalg::cholesky_ex(const Tensor& a, bool upper, bool check_errors, SourceLine at) {
  const auto [l, info] = call_with<detail::Cholesky<>>(at, {check_errors}, upper ? a.mT(at) : a);
  return {upper ? l.mT(at) : l, info};
}
TT_LAZY_DEFINITION Tensor linalg::cholesky(const Tensor& a, bool upper, SourceLine at) { return cholesky_ex(a, upper, true, at).L; }
TT_LAZY_DEFINITION Tensor linalg::solve_triangular(const Tensor& given_a, const Tensor& given_b, bool upper, bool left, bool unitriangular, SourceLine at) {
  detail::need_same_dtype("linalg::solve_triangular", given_a, given_b, at);
  Tensor a = given_a, b = left ? given_b : given_b.mT(at);
  detail::broadcast_batches(a, b, at);
  const Tensor x = call_with<detail::SolveTriangular<>>(at, {upper, !left, unitriangular}, a, b);
  return left ? x : x.mT(at);
}
TT_LAZY_DEFINITION linalg::QrResult linalg::qr(const Tensor& a, std::string_view mode, SourceLine at) {
  if (mode != "reduced" && mode != "complete" && mode != "r") TT_THROW(Error(Text("tt::linalg::qr: the mode is none of reduced, complete, r.") << at));
  if (const Size m = a.dim() < 2 ? Size(0) : a.size(-2, at); a.dim() >= 2 && m < a.size(-1, at)) {  // QR of the first columns, and Q^T times the others
    const QrResult first = qr(a.slice(-1, 0, m, 1, at), mode == "r" ? "reduced" : mode, at);
    const Tensor r = cat({first.R, tt::matmul(first.Q.mT(at), a.slice(-1, m, a.size(-1, at), 1, at), at)}, -1, at);
    return {mode == "r" ? empty({0}, detail::on_device(a.dtype(), a.device())) : first.Q, r};
  }
  const auto [q, r] = call_with<detail::Qr<>>(at, {mode == "complete"}, a);
  return {mode == "r" ? empty({0}, detail::on_device(a.dtype(), a.device())) : q, r};
}
TT_LAZY_DEFINITION linalg::EigResult linalg::eig(const Tensor& a, SourceLine at) {
  const auto [value_re, value_im, vector_re, vector_im] = call_with<detail::Eig<>>(at, {}, a);
  return {stack({value_re, value_im}, -1, at), stack({vector_re, vector_im}, -1, at)};
}
TT_LAZY_DEFINITION Tensor linalg::eigvals(const Tensor& a, SourceLine at) { return eig(a, at).eigenvalues; }
TT_LAZY_DEFINITION linalg::EighResult linalg::eigh(const Tensor& a, std::string_view uplo, SourceLine at) {
  if (uplo != "L" && uplo != "U" && uplo != "l" && uplo != "u") TT_THROW(Error(Text("tt::linalg::eigh: UPLO is \"") << std::string(uplo).c_str() << "\". L or U?" << at));
  const auto [w, v] = call_with<detail::Eigh<>>(at, {uplo == "U" || uplo == "u"}, a);
  return {w, v};
}
TT_LAZY_DEFINITION Tensor linalg::eigvalsh(const Tensor& a, std::string_view uplo, SourceLine at) { return eigh(a, uplo, at).eigenvalues; }
TT_LAZY_DEFINITION linalg::SvdResult linalg::svd(const Tensor& a, bool full_matrices, SourceLine at) {
  const auto [u, s, v] = call_with<detail::Svd<>>(at, {full_matrices}, full_matrices ? a.detach() : a);
  if (!full_matrices) return {u, s, v};
  if (!a.impl().is_differentiated() && !detail::capture_mode) return {u, s, v};
  const SvdResult r = svd(a, false, at);  // only these vectors have a derivative; the others do not enter it
  const Size k = s.size(-1, at);
  return {cat({r.U, u.detach().slice(-1, k, u.size(-1, at), 1, at)}, -1, at), r.S, cat({r.Vh, v.detach().slice(-2, k, v.size(-2, at), 1, at)}, -2, at)};
}
TT_LAZY_DEFINITION Tensor linalg::svdvals(const Tensor& a, SourceLine at) { return svd(a, false, at).S; }
namespace detail {
/// Singular values up to this count as 0: max(atol, rtol times the largest). rtol defaults to the larger size times epsilon, to 0 if an atol above 0 is given.
template <class = void>
Tensor tolerance_of(const Tensor& a, const Tensor& values, const linalg::Tolerances& t, SourceLine at) {
  const std::int64_t rows = a.size(-2, at), columns = a.size(-1, at);
  const auto number = [&](double x) { return full({}, x, on_device(values.dtype(), values.device()), at); };
  Tensor rtol = t.rtol;
  if (!rtol.defined()) {
    rtol = number(static_cast<double>(rows < columns ? columns : rows) * epsilon_of(a.dtype()));
    if (t.atol.defined()) rtol = tt::where(t.atol > 0, number(0), rtol, at);
  }
  const Tensor relative = rtol.to(values.dtype(), at) * values.amax({-1}, false, at), least = t.atol.defined() ? tt::maximum(relative, t.atol.to(values.dtype(), at), at) : relative;
  return least.unsqueeze(-1, at);
}
}  // namespace detail

TT_LAZY_DEFINITION Tensor linalg::pinv(const Tensor& given, const Tolerances& tolerances, bool hermitian, SourceLine at) {
  if (given.numel(at) == 0) return given.mT(at).clone(at);
  const Tensor a = given.detach();
  const auto inverse_of = [&](const Tensor& values, const Tensor& sizes) {
    const Tensor kept = sizes > detail::tolerance_of(a, sizes, tolerances, at);
    return tt::where(kept, 1 / tt::where(kept, values, 1, at), 0, at).unsqueeze(-2, at);
  };
  Tensor inverse;
  if (hermitian) {
    const EighResult e = eigh(a, "L", at);
    inverse = tt::matmul(e.eigenvectors * inverse_of(e.eigenvalues, tt::abs(e.eigenvalues, at)), e.eigenvectors.mT(at), at);
  } else {
    const SvdResult r = svd(a, false, at);
    inverse = tt::matmul(r.Vh.mT(at) * inverse_of(r.S, r.S), r.U.mT(at), at);
  }
  if (!given.impl().is_differentiated() && !detail::capture_mode) return inverse;
  const auto has_axes = [](const Tensor& t) { return t.defined() && t.dim() > 0; };
  if (!has_axes(tolerances.atol) && !has_axes(tolerances.rtol)) return call_with<detail::PinvDerivative<>>(at, {}, given, inverse);
  IntList batch = inverse.shape(at);  // the batch shape of several tolerances for one matrix
  for (const int k : {-2, -1}) batch.set(batch.size() + k, given.size(k, at));
  return call_with<detail::PinvDerivative<>>(at, {}, given.expand(batch, at), inverse);
}
TT_LAZY_DEFINITION Tensor linalg::matrix_rank(const Tensor& a, const Tolerances& tolerances, bool hermitian, SourceLine at) {
  const Tensor s = hermitian ? tt::abs(eigvalsh(a.detach(), "L", at), at) : svdvals(a.detach(), at);
  if (s.numel(at) == 0) return zeros(s.sum({-1}, false, at).shape(at), detail::on_device(DType::i64, a.device()), at);
  return (s > detail::tolerance_of(a, s, tolerances, at)).sum({-1}, false, at);
}
namespace linalg {
/// norm(a) norm(inv(a)).
template <class Norm>
Tensor cond_by_inverse(const Tensor& a, const Norm& norm, SourceLine at) {
  const InvExResult r = inv_ex(a, false, at);
  return tt::where(r.info > 0, INFINITY, norm(a) * norm(r.inverse), at);
}
}  // namespace linalg
TT_LAZY_DEFINITION Tensor linalg::cond(const Tensor& a, double p, SourceLine at) {
  if (p == 2 || p == -2) {
    const Tensor s = svdvals(a, at);
    if (s.size(-1, at) == 0) return s.sum({-1}, false, at);
    const Tensor most = s.amax({-1}, false, at), least = s.amin({-1}, false, at);
    return p == 2 ? most / least : least / most;
  }
  return cond_by_inverse(a, [&](const Tensor& x) { return matrix_norm(x, p, {-2, -1}, false, at); }, at);
}
TT_LAZY_DEFINITION Tensor linalg::cond(const Tensor& a, std::string_view p, SourceLine at) {
  return cond_by_inverse(a, [&](const Tensor& x) { return matrix_norm(x, p, {-2, -1}, false, at); }, at);
}
TT_LAZY_DEFINITION Tensor linalg::matrix_exp(const Tensor& a, SourceLine at) {
  const std::int64_t n = a.size(-1, at);
  if (a.dim() < 2 || a.size(-2, at) != n) TT_THROW(Error(Text("tt::matrix_exp: matrices of shape ") << a.shape() << " are not square." << at));
  detail::need_floating("matrix_exp", a, at);
  if (is_narrow(a.dtype())) return matrix_exp(a.to(compute_dtype(a.dtype()), at), at).to(a.dtype(), at);  // powers of 2 exceed 16 bits
  if (a.numel(at) == 0) return a.clone(at);
  using Pair = std::array<Tensor, 2>;
  const TensorOptions like = detail::on_device(a.dtype(), a.device());
  // Halved until the largest row sum is at most 1/4: the remainder after 12 terms is below 2^-53 then. Infinities are halved 60 times.
  const Pair halved = tt::while_loop([at](const Pair& s) { return tt::logical_and(s[0] > 0.25, s[1] > 0x1p-60, at); }, [](const Pair& s) { return Pair{s[0] / 2, s[1] / 2}; },
                                     Pair{tt::abs(a.detach(), at).sum({-1}, false, at).amax({}, false, at), ones({}, like, at)}, at);
  const Tensor x = a * halved[1], unit = eye(n, like, at);
  Tensor r = unit;  // Horner's scheme
  for (int k = 12; k > 0; --k) r = unit + tt::matmul(x, r, at) / k;
  return tt::while_loop([](const Pair& s) { return s[0] < 1; }, [at](const Pair& s) { return Pair{s[0] * 2, tt::matmul(s[1], s[1], at)}; }, Pair{halved[1], r.expand(a.shape(at), at)}, at)[1];
}
TT_LAZY_DEFINITION linalg::LstsqResult linalg::lstsq(const Tensor& given_a, const Tensor& given, Optional<double> rcond, std::string_view driver, SourceLine at) {
  if (driver != "gels" && driver != "gelsy" && driver != "gelsd" && driver != "gelss") TT_THROW(Error(Text("tt::linalg::lstsq: the driver is none of gels, gelsy, gelsd, gelss.") << at));
  const bool vector = given.dim() == 1 || given.dim() == given_a.dim() - 1;
  Tensor a = given_a, b = vector ? given.unsqueeze(-1, at) : given;
  detail::broadcast_batches(a, b, at);
  const Size m = a.size(-2, at), n = a.size(-1, at);
  const Tensor left_out = empty({0}, detail::on_device(a.dtype(), a.device()));
  LstsqResult r{{}, left_out, empty({0}, detail::on_device(DType::i64, a.device())), left_out};
  bool full_rank = true;
  Tolerances tolerances;
  if (rcond.given) tolerances.rtol = full({}, rcond.value, detail::on_device(a.dtype(), a.device()), at);
  if (driver != "gels") {
    r.rank = matrix_rank(a, tolerances, false, at);
    full_rank = (r.rank == (m < n ? m : n).value()).all().item<bool>(at);
  }
  if (driver == "gelsd" || driver == "gelss") r.singular_values = svdvals(a.detach(), at);
  if (!full_rank) {
    r.solution = tt::matmul(pinv(a, tolerances, false, at), b, at);
  } else if (m >= n) {
    const QrResult f = qr(a, "reduced", at);
    r.solution = solve_triangular(f.R, tt::matmul(f.Q.mT(at), b, at), true, true, false, at);
  } else {  // the shortest solution
    const QrResult f = qr(a.mT(at), "reduced", at);
    r.solution = tt::matmul(f.Q, solve_triangular(f.R.mT(at), b, false, true, false, at), at);
  }
  if (m > n && full_rank && driver != "gelsy") r.residuals = tt::square(tt::matmul(a, r.solution, at) - b, at).sum({-2}, false, at);
  if (vector) r.solution = r.solution.squeeze(-1, at);
  return r;
}
namespace detail {
/// Throws Error unless pivots are i32, one for each row of the smaller side of each matrix.
template <class = void>
void need_pivots_of(const char* op, const Tensor& factors, const Tensor& pivots, SourceLine at) {
  if (pivots.dtype() != DType::i32) TT_THROW(Error(Text("tt::") << op << ": pivots are " << name(pivots.dtype()) << ". i32?" << at));
  bool fit = factors.dim() >= 2 && pivots.dim() == factors.dim() - 1;
  for (int k = 0; fit && k < pivots.dim() - 1; ++k) fit = pivots.size(k, at) == factors.size(k, at);
  if (!fit || pivots.size(-1, at) != (factors.size(-2, at) < factors.size(-1, at) ? factors.size(-2, at) : factors.size(-1, at)))
    TT_THROW(Error(Text("tt::") << op << ": pivots of shape " << pivots.shape() << " do not fit factors of shape " << factors.shape() << "." << at));
}
}  // namespace detail
TT_LAZY_DEFINITION linalg::LuFactorExResult linalg::lu_factor_ex(const Tensor& a, bool check_errors, SourceLine at) {
  const auto [factors, pivots, info] = call_with<detail::Lu<>>(at, {check_errors}, a.detach());
  return {detail::with_derivative(a, {factors, pivots}, at), pivots, info};
}
TT_LAZY_DEFINITION linalg::LuFactors linalg::lu_factor(const Tensor& a, SourceLine at) {
  const LuFactorExResult r = lu_factor_ex(a, true, at);
  return {r.LU, r.pivots};
}
TT_LAZY_DEFINITION linalg::LuResult linalg::lu_unpack(const Tensor& factors, const Tensor& pivots, SourceLine at) {
  detail::need_pivots_of("lu_unpack", factors, pivots, at);
  const auto [l, u] = detail::triangles(factors, at);
  return {detail::permutation(call_with<detail::PivotOrder<>>(at, {factors.size(-2, at)}, pivots), factors.dtype(), at), l, u};
}
TT_LAZY_DEFINITION linalg::LuResult linalg::lu(const Tensor& a, SourceLine at) {
  const LuFactorExResult f = lu_factor_ex(a, false, at);
  return lu_unpack(f.LU, f.pivots, at);
}
TT_LAZY_DEFINITION Tensor linalg::lu_solve(const Tensor& factors, const Tensor& pivots, const Tensor& given, bool left, bool adjoint, SourceLine at) {
  // A = P L U. From the right, x A = b is A^T x^T = b^T.
  const bool turned = adjoint == left;
  detail::need_same_dtype("linalg::lu_solve", factors, given, at);
  detail::need_pivots_of("linalg::lu_solve", factors, pivots, at);
  Tensor b = left ? given : given.mT(at);
  const Size n = factors.size(-1, at);
  if (factors.size(-2, at) != n || b.dim() < 2 || b.size(-2, at) != n)
    TT_THROW(Error(Text("tt::linalg::lu_solve: shapes do not fit: ") << factors.shape() << " and " << given.shape() << "." << at));
  Tensor f = factors;
  const Tensor p = detail::permutation(call_with<detail::PivotOrder<>>(at, {n}, pivots), factors.dtype(), at);
  detail::broadcast_batches(f, b, at);
  Tensor x;
  if (turned) x = tt::matmul(p, solve_triangular(f.mT(at), solve_triangular(f.mT(at), b, false, true, false, at), true, true, true, at), at);
  else x = solve_triangular(f, solve_triangular(f, tt::matmul(p.mT(at), b, at), false, true, true, at), true, true, false, at);
  return left ? x : x.mT(at);
}
TT_LAZY_DEFINITION linalg::LdlFactorExResult linalg::ldl_factor_ex(const Tensor& a, bool check_errors, SourceLine at) {
  const auto [factors, pivots, info] = call_with<detail::Ldl<>>(at, {check_errors}, a);
  return {factors, pivots, info};
}
TT_LAZY_DEFINITION linalg::LdlFactors linalg::ldl_factor(const Tensor& a, SourceLine at) {
  const LdlFactorExResult r = ldl_factor_ex(a, true, at);
  return {r.LD, r.pivots};
}
TT_LAZY_DEFINITION Tensor linalg::ldl_solve(const Tensor& factors, const Tensor& pivots, const Tensor& given, SourceLine at) {
  Tensor f = factors, b = given;
  detail::broadcast_batches(f, b, at);
  IntList places = f.shape(at), to;
  for (int k = 0; k < places.size() - 1; ++k) to.push_back(places[k]);
  return call_with<detail::LdlSolve<>>(at, {}, f, pivots.expand(to, at), b);
}
TT_LAZY_DEFINITION linalg::Reflectors linalg::geqrf(const Tensor& a, SourceLine at) {
  const auto [r, tau] = call_with<detail::Geqrf<>>(at, {}, a);
  return {r, tau};
}
TT_LAZY_DEFINITION Tensor linalg::householder_product(const Tensor& a, const Tensor& tau, SourceLine at) {
  if (a.dim() < 2 || a.size(-2, at) < a.size(-1, at) || tau.dim() != a.dim() - 1 || tau.size(-1, at) > a.size(-1, at))
    TT_THROW(Error(Text("tt::linalg::householder_product: shapes do not fit: ") << a.shape() << " and " << tau.shape() << "." << at));
  detail::need_same_dtype("linalg::householder_product", a, tau, at);
  const Tensor unit = detail::unit_like(a, a.size(-2, at), a.size(-1, at), at).expand(a.shape(at), at);
  if (tau.size(-1, at) == 0) return tt::where(tt::eq(unit, 2, at), a, unit, at);  // so that it has a gradient, of zeros
  return detail::reflected(a, tau, unit, true, at);
}
TT_LAZY_DEFINITION Tensor linalg::ormqr(const Tensor& a, const Tensor& tau, const Tensor& other, bool left, bool transpose, SourceLine at) {
  if (a.dim() < 2 || other.dim() < 2 || tau.dim() != a.dim() - 1 || other.size(left ? -2 : -1, at) != a.size(-2, at) ||
      tau.size(-1, at) != (a.size(-1, at) < a.size(-2, at) ? a.size(-1, at) : a.size(-2, at)))
    TT_THROW(Error(Text("tt::ormqr: shapes do not fit: ") << a.shape() << ", " << tau.shape() << " and " << other.shape() << "." << at));
  for (const Tensor* t : {&tau, &other}) detail::need_same_dtype("ormqr", a, *t, at);
  if (other.dim() != a.dim()) TT_THROW(Error(Text("tt::ormqr: ranks differ: shapes ") << a.shape() << " and " << other.shape() << "." << at));
  if (left) return detail::reflected(a, tau, other, !transpose, at);
  return detail::reflected(a, tau, other.mT(at), transpose, at).mT(at);  // (x Q)^T = Q^T x^T
}
TT_LAZY_DEFINITION Tensor linalg::cholesky_solve(const Tensor& b, const Tensor& l, bool upper, SourceLine at) {
  const Tensor lower = upper ? l.mT(at) : l;
  return solve_triangular(lower.mT(at), solve_triangular(lower, b, false, true, false, at), true, true, false, at);
}

TT_LAZY_DEFINITION linalg::PolarResult linalg::polar(const Tensor& a, SourceLine at) {
  if (a.dim() >= 2 && a.size(-2, at) < a.size(-1, at)) tt::detail::refuse("linalg::polar", "fewer rows than columns", a, at);
  const SvdResult r = svd(a, false, at);
  return {tt::matmul(r.U, r.Vh, at), tt::matmul(r.Vh.mT(at) * r.S.unsqueeze(-2, at), r.Vh, at)};
}
TT_LAZY_DEFINITION Tensor linalg::matrix_sqrth(const Tensor& a, SourceLine at) {
  const EighResult e = eigh(a, "L", at);
  return tt::matmul(e.eigenvectors * tt::sqrt(tt::relu(e.eigenvalues, at), at).unsqueeze(-2, at), e.eigenvectors.mT(at), at);
}
TT_LAZY_DEFINITION SvdLowRankResult svd_lowrank(const Tensor& A, std::int64_t q, int niter, const Tensor& M, SourceLine at) {
  if (A.dim() < 2 || !is_floating(A.dtype())) TT_THROW(Error(Text("tt::svd_lowrank: of matrices of floating numbers, not ") << name(A.dtype()) << ' ' << A.shape() << "." << at));
  if (q < 0 || niter < 0) TT_THROW(Error(Text("tt::svd_lowrank: ") << q << " singular values after " << niter << " rounds." << at));
  const Tensor given = M.defined() ? A - M.expand(A.shape(at), at) : A;
  const bool wide = given.size(-2, at) < given.size(-1, at);
  const Tensor a = wide ? given.mT(at) : given;
  const auto basis = [&](const Tensor& x) { return linalg::qr(x, "reduced", at).Q; };
  Tensor found = basis(tt::matmul(a, randn({a.size(-1, at), Size(q)}, default_generator(), detail::on_device(a.dtype(), a.device()), at), at));
  for (int k = 0; k < niter; ++k) found = basis(tt::matmul(a, basis(tt::matmul(a.mT(at), found, at)), at));
  const linalg::SvdResult r = linalg::svd(tt::matmul(found.mT(at), a, at), false, at);
  const Tensor left = tt::matmul(found, r.U, at), right = r.Vh.mT(at);
  return {wide ? right : left, r.S, wide ? left : right};
}
TT_LAZY_DEFINITION SvdLowRankResult pca_lowrank(const Tensor& A, Optional<std::int64_t> q, bool center, int niter, SourceLine at) {
  if (A.dim() < 2) TT_THROW(Error(Text("tt::pca_lowrank: of matrices, not shape ") << A.shape() << "." << at));
  const std::int64_t rows = A.size(-2, at), columns = A.size(-1, at), most = rows < columns ? rows : columns, wanted = q.given ? q.value : most < 6 ? most : 6;
  if (wanted < 0 || wanted > most || niter < 0) TT_THROW(Error(Text("tt::pca_lowrank: ") << wanted << " directions of " << most << " after " << niter << " rounds." << at));
  return svd_lowrank(center ? A - A.mean({-2}, true, at) : A, wanted, niter, {}, at);
}
TT_LAZY_DEFINITION Tensor linalg::tensorinv(const Tensor& x, int ind, SourceLine at) {
  IntList to;
  Size rows(1), columns(1);
  for (int k = ind; k < x.dim(); ++k) to.push_back(x.size(k, at)), columns *= x.size(k, at);
  for (int k = 0; k < ind && k < x.dim(); ++k) to.push_back(x.size(k, at)), rows *= x.size(k, at);
  if (ind < 1 || rows != columns) TT_THROW(Error(Text("tt::linalg::tensorinv: the first ") << ind << " axes of shape " << x.shape() << " do not make as many elements as the others." << at));
  return inv(x.reshape({rows, columns}, at), at).reshape(to, at);
}
TT_LAZY_DEFINITION Tensor linalg::tensorsolve(const Tensor& given, const Tensor& b, const IntList& dims, SourceLine at) {
  IntList last;
  for (int k = 0; k < dims.size(); ++k) last.push_back(given.dim() - dims.size() + k);
  const Tensor a = dims.size() > 0 ? movedim(given, dims, last, at) : given;
  IntList to;
  Size n(1);
  for (int k = b.dim(); k < a.dim(); ++k) {
    to.push_back(a.size(k, at));
    n = n * a.size(k, at);
  }
  if (a.dim() < b.dim() || b.numel(at) != n) TT_THROW(Error(Text("tt::linalg::tensorsolve: shapes do not fit: ") << given.shape() << " and " << b.shape() << "." << at));
  return solve(a.reshape({n, n}, at), b.reshape({n}, at), true, at).reshape(to, at);
}

TT_LAZY_DEFINITION Tensor logdet(const Tensor& a, SourceLine at) {
  const linalg::SlogdetResult r = linalg::slogdet(a, at);
  return tt::where(r.sign < 0, std::nan(""), r.logabsdet, at);
}
TT_LAZY_DEFINITION Tensor pinverse(const Tensor& a, double rcond, SourceLine at) { return linalg::pinv(a, {{}, full({}, rcond, {.dtype = DType::f64}, at)}, false, at); }
TT_LAZY_DEFINITION Tensor cholesky_inverse(const Tensor& l, bool upper, SourceLine at) {
  return linalg::cholesky_solve(eye(l.size(-1, at), detail::on_device(l.dtype(), l.device()), at).expand(l.shape(at), at), l, upper, at);
}

namespace detail {

template <class>
void register_linalg() {
  static const bool once = [] {
    register_function("linalg_solve", "Tensor A, Tensor B, bool left=True", [](const Tensor& a, const Tensor& b, bool l, SourceLine at) { return linalg::solve(a, b, l, at); });
    register_function("linalg_solve_ex", "Tensor A, Tensor B, bool left=True, bool check_errors=False", [](const Tensor& a, const Tensor& b, bool l, bool check, SourceLine at) { return linalg::solve_ex(a, b, l, check, at); });
    for (const char* name : {"linalg_inv", "inverse"}) register_function(name, "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::inv(a, at); });
    register_function("linalg_inv_ex", "Tensor A, bool check_errors=False", [](const Tensor& a, bool check, SourceLine at) { return linalg::inv_ex(a, check, at); });
    for (const char* name : {"linalg_det", "det"}) register_function(name, "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::det(a, at); });
    register_function("logdet", "Tensor A", [](const Tensor& a, SourceLine at) { return logdet(a, at); });
    for (const char* name : {"linalg_slogdet", "slogdet"}) register_function(name, "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::slogdet(a, at); });
    for (const char* name : {"linalg_cholesky", "cholesky"}) register_function(name, "Tensor A, bool upper=False", [](const Tensor& a, bool u, SourceLine at) { return linalg::cholesky(a, u, at); });
    register_function("linalg_cholesky_ex", "Tensor A, bool upper=False, bool check_errors=False", [](const Tensor& a, bool u, bool check, SourceLine at) { return linalg::cholesky_ex(a, u, check, at); });
    register_function("linalg_solve_triangular", "Tensor A, Tensor B, bool upper, bool left=True, bool unitriangular=False",
                      [](const Tensor& a, const Tensor& b, bool u, bool l, bool i, SourceLine at) { return linalg::solve_triangular(a, b, u, l, i, at); });
    register_function("triangular_solve", "Tensor b, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False", [](const Tensor& b, const Tensor& a, bool u, bool t, bool i, SourceLine at) {
      return TensorList{linalg::solve_triangular(t ? a.mT(at) : a, b, u != t, true, i, at), a};
    });
    for (const char* name : {"linalg_qr"}) register_function(name, "Tensor A, str mode=reduced", [](const Tensor& a, const std::string& m, SourceLine at) { return linalg::qr(a, m, at); });
    register_function("qr", "Tensor A, bool some=True", [](const Tensor& a, bool s, SourceLine at) { return linalg::qr(a, s ? "reduced" : "complete", at); });
    register_function("linalg_eig", "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::eig(a, at); });
    register_function("linalg_eigvals", "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::eigvals(a, at); });
    register_function("linalg_eigh", "Tensor A, str UPLO=L", [](const Tensor& a, const std::string& u, SourceLine at) { return linalg::eigh(a, u, at); });
    register_function("linalg_eigvalsh", "Tensor A, str UPLO=L", [](const Tensor& a, const std::string& u, SourceLine at) { return linalg::eigvalsh(a, u, at); });
    register_function("linalg_svd", "Tensor A, bool full_matrices=True", [](const Tensor& a, bool f, SourceLine at) { return linalg::svd(a, f, at); });
    register_function("svd", "Tensor A, bool some=True, bool compute_uv=True", [](const Tensor& a, bool s, bool vectors, SourceLine at) {
      linalg::SvdResult r = linalg::svd(a, !s || !vectors, at);
      r.Vh = r.Vh.mT(at);
      if (!vectors) r.U = zeros_like(r.U), r.Vh = zeros_like(r.Vh);
      return r;
    });
    register_function("svd_lowrank", "Tensor A, int q=6, int niter=2, Tensor? M=None", [](const Tensor& a, std::int64_t q, int n, const Tensor& m, SourceLine at) { return svd_lowrank(a, q, n, m, at); });
    register_function("pca_lowrank", "Tensor A, int? q=None, bool center=True, int niter=2", [](const Tensor& a, Optional<std::int64_t> q, bool c, int n, SourceLine at) { return pca_lowrank(a, q, c, n, at); });
    register_function("linalg_svdvals", "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::svdvals(a, at); });
    register_function("linalg_lu", "Tensor A, bool pivot=True", [](const Tensor& a, bool pivot, SourceLine at) { return linalg::lu(a, pivot, at); });
    register_function("linalg_lu_factor", "Tensor A, bool pivot=True", [](const Tensor& a, bool pivot, SourceLine at) { return linalg::lu_factor(a, pivot, at); });
    register_function("linalg_lu_factor_ex", "Tensor A, bool pivot=True, bool check_errors=False", [](const Tensor& a, bool pivot, bool check, SourceLine at) { return linalg::lu_factor_ex(a, pivot, check, at); });
    register_function("lu", "Tensor A, bool pivot=True, bool get_infos=False", [](const Tensor& a, bool pivot, bool infos, SourceLine at) {
      const linalg::LuFactorExResult f = linalg::lu_factor_ex(a, pivot, false, at);
      return infos ? TensorList{f.LU, f.pivots, f.info} : TensorList{f.LU, f.pivots};
    });
    register_function("linalg_lu_solve", "Tensor LU, Tensor pivots, Tensor B, bool left=True, bool adjoint=False",
                      [](const Tensor& f, const Tensor& p, const Tensor& b, bool l, bool a, SourceLine at) { return linalg::lu_solve(f, p, b, l, a, at); });
    register_function("lu_solve", "Tensor b, Tensor LU_data, Tensor LU_pivots", [](const Tensor& b, const Tensor& f, const Tensor& p, SourceLine at) { return linalg::lu_solve(f, p, b, true, false, at); });
    register_function("lu_unpack", "Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True", [](const Tensor& f, const Tensor& p, bool data, bool pivots, SourceLine at) {
      return linalg::lu_unpack(f, p, data, pivots, at);
    });
    register_function("linalg_ldl_factor", "Tensor A, bool hermitian=False", [](const Tensor& a, bool, SourceLine at) { return linalg::ldl_factor(a, at); });
    register_function("linalg_ldl_factor_ex", "Tensor A, bool hermitian=False, bool check_errors=False", [](const Tensor& a, bool, bool check, SourceLine at) { return linalg::ldl_factor_ex(a, check, at); });
    register_function("linalg_ldl_solve", "Tensor LD, Tensor pivots, Tensor B, bool hermitian=False", [](const Tensor& f, const Tensor& p, const Tensor& b, bool, SourceLine at) { return linalg::ldl_solve(f, p, b, at); });
    register_function("geqrf", "Tensor input", [](const Tensor& a, SourceLine at) { return linalg::geqrf(a, at); });
    for (const char* name : {"linalg_householder_product", "orgqr"})
      register_function(name, "Tensor input, Tensor tau", [](const Tensor& a, const Tensor& t, SourceLine at) { return linalg::householder_product(a, t, at); });
    register_function("ormqr", "Tensor input, Tensor tau, Tensor other, bool left=True, bool transpose=False",
                      [](const Tensor& a, const Tensor& t, const Tensor& o, bool l, bool tr, SourceLine at) { return linalg::ormqr(a, t, o, l, tr, at); });
    register_function("linalg_polar", "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::polar(a, at); });
    register_function("linalg_matrix_sqrth", "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::matrix_sqrth(a, at); });
    register_function("linalg_tensorinv", "Tensor A, int ind=2", [](const Tensor& a, int n, SourceLine at) { return linalg::tensorinv(a, n, at); });
    register_function("linalg_tensorsolve", "Tensor A, Tensor B, int[]? dims=None", [](const Tensor& a, const Tensor& b, const IntList& d, SourceLine at) { return linalg::tensorsolve(a, b, d, at); });
    static constexpr auto tolerances_of = [](const OptionalOperand& atol, const OptionalOperand& rtol) {
      const auto one = [](const OptionalOperand& t) { return !t.given ? Tensor() : t.tensor.defined() ? t.tensor : t.value.number(DType::f64); };
      return linalg::Tolerances{one(atol), one(rtol)};
    };
    register_function("linalg_pinv", "Tensor A, Scalar? atol=None, Scalar? rtol=None, bool hermitian=False",
                      [](const Tensor& a, const OptionalOperand& t, const OptionalOperand& r, bool h, SourceLine at) { return linalg::pinv(a, tolerances_of(t, r), h, at); });
    register_function("linalg_pinv", "Tensor A, Scalar rcond, bool hermitian=False",
                      [](const Tensor& a, const OptionalOperand& r, bool h, SourceLine at) { return linalg::pinv(a, tolerances_of({}, r), h, at); });
    register_function("pinverse", "Tensor A, float rcond=1e-15", [](const Tensor& a, double r, SourceLine at) { return pinverse(a, r, at); });
    register_function("linalg_lstsq", "Tensor A, Tensor B, float? rcond=None, str? driver=None", [](const Tensor& a, const Tensor& b, Optional<double> r, const BoxedValue& driver, SourceLine at) {
      return linalg::lstsq(a, b, r, driver.is_none() ? "gelsy" : driver.text(), at);
    });
    register_function("linalg_matrix_rank", "Tensor A, Scalar? atol=None, Scalar? rtol=None, bool hermitian=False",
                      [](const Tensor& a, const OptionalOperand& t, const OptionalOperand& r, bool h, SourceLine at) { return linalg::matrix_rank(a, tolerances_of(t, r), h, at); });
    register_function("linalg_matrix_rank", "Tensor A, Scalar tol, bool hermitian=False",
                      [](const Tensor& a, const OptionalOperand& t, bool h, SourceLine at) { return linalg::matrix_rank(a, tolerances_of(t, {}), h, at); });
    register_function("linalg_cond", "Tensor A, float? p=None", [](const Tensor& a, Optional<double> p, SourceLine at) { return linalg::cond(a, p.given ? p.value : 2, at); });
    register_function("linalg_cond", "Tensor A, str p", [](const Tensor& a, const std::string& p, SourceLine at) { return linalg::cond(a, p, at); });
    for (const char* name : {"linalg_matrix_exp", "matrix_exp"}) register_function(name, "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::matrix_exp(a, at); });
    register_function("cholesky_solve", "Tensor B, Tensor L, bool upper=False", [](const Tensor& b, const Tensor& l, bool u, SourceLine at) { return linalg::cholesky_solve(b, l, u, at); });
    register_function("cholesky_inverse", "Tensor L, bool upper=False", [](const Tensor& l, bool u, SourceLine at) { return cholesky_inverse(l, u, at); });
    return true;
  }();
  (void)once;
}

}  // namespace detail
}  // namespace tt
