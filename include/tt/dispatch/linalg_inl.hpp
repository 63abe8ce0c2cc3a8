// Definitions of linalg.hpp: what is made of the operators of linalg_kernels_inl.hpp, and all names.
#pragma once
#include "tt/dispatch/linalg.hpp"
#include "tt/dispatch/linalg_kernels_inl.hpp"

namespace tt {
namespace detail {

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
inline double epsilon_of(DType d) { return d == DType::f64 ? 0x1p-52 : 0x1p-23; }

}  // namespace detail

TT_LAZY_DEFINITION Tensor linalg::solve(const Tensor& given_a, const Tensor& given_b, bool left, SourceLine at) {
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
  Tensor x = call_with<detail::SolveMatrix<>>(at, {}, a, b);
  if (!left && !vector) x = x.mT(at);
  return vector ? x.squeeze(-1, at) : x;
}
TT_LAZY_DEFINITION Tensor linalg::inv(const Tensor& a, SourceLine at) { return call_with<detail::Inverse<>>(at, {}, a); }
TT_LAZY_DEFINITION linalg::SlogdetResult linalg::slogdet(const Tensor& a, SourceLine at) {
  const auto [sign, log] = call_with<detail::Slogdet<>>(at, {}, a);
  return {sign, log};
}
TT_LAZY_DEFINITION Tensor linalg::det(const Tensor& a, SourceLine at) {
  const SlogdetResult r = slogdet(a, at);
  return r.sign * tt::exp(r.logabsdet, at);
}
TT_LAZY_DEFINITION Tensor linalg::cholesky(const Tensor& a, bool upper, SourceLine at) {
  const Tensor l = call_with<detail::Cholesky<>>(at, {}, upper ? a.mT(at) : a);
  return upper ? l.mT(at) : l;
}
TT_LAZY_DEFINITION Tensor linalg::solve_triangular(const Tensor& given_a, const Tensor& given_b, bool upper, bool left, bool unitriangular, SourceLine at) {
  Tensor a = given_a, b = left ? given_b : given_b.mT(at);
  detail::broadcast_batches(a, b, at);
  const Tensor x = call_with<detail::SolveTriangular<>>(at, {upper, !left, unitriangular}, a, b);
  return left ? x : x.mT(at);
}
TT_LAZY_DEFINITION linalg::QrResult linalg::qr(const Tensor& a, std::string_view mode, SourceLine at) {
  if (mode != "reduced" && mode != "complete" && mode != "r") TT_THROW(Error(Text("tt::linalg::qr: the mode is none of reduced, complete, r.") << at));
  const auto [q, r] = call_with<detail::Qr<>>(at, {mode == "complete"}, a);
  return {mode == "r" ? empty({0}, detail::on_device(a.dtype(), a.device())) : q, r};
}
TT_LAZY_DEFINITION linalg::EighResult linalg::eigh(const Tensor& a, std::string_view uplo, SourceLine at) {
  const auto [w, v] = call_with<detail::Eigh<>>(at, {uplo == "U"}, a);
  return {w, v};
}
TT_LAZY_DEFINITION Tensor linalg::eigvalsh(const Tensor& a, std::string_view uplo, SourceLine at) { return eigh(a, uplo, at).eigenvalues; }
TT_LAZY_DEFINITION linalg::SvdResult linalg::svd(const Tensor& a, bool full_matrices, SourceLine at) {
  const auto [u, s, v] = call_with<detail::Svd<>>(at, {full_matrices}, a);
  if (!full_matrices) return {u, s, v};
  const bool flows = a.requires_grad() || detail::capture_mode;  // values have a derivative, all vectors have none
  return {u, flows ? svd(a, false, at).S : s, v};
}
TT_LAZY_DEFINITION Tensor linalg::svdvals(const Tensor& a, SourceLine at) { return svd(a, false, at).S; }
TT_LAZY_DEFINITION linalg::LuResult linalg::lu(const Tensor& a, SourceLine at) {
  const auto [factors, pivots] = call_with<detail::Lu<>>(at, {}, a);
  const std::int64_t m = a.size(-2, at), n = a.size(-1, at), k = m < n ? m : n, batch = k > 0 ? pivots.numel().value() / k : 0;
  std::vector<std::int64_t> order;
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<std::int64_t> own(static_cast<std::size_t>(m));
    for (std::int64_t i = 0; i < m; ++i) own[static_cast<std::size_t>(i)] = i;
    for (std::int64_t i = 0; i < k; ++i) std::swap(own[static_cast<std::size_t>(i)], own[static_cast<std::size_t>(pivots.template data_ptr<std::int32_t>()[b * k + i] - 1)]);
    order.insert(order.end(), own.begin(), own.end());
  }
  IntList to = a.shape(at);
  to[to.size() - 1] = m;
  IntList rows;
  for (int j = 0; j + 1 < to.size(); ++j) rows.push_back(to[j]);
  // P[order[j], j] = 1
  const Tensor places = from_span(std::span<const std::int64_t>(order), rows).unsqueeze(-2, at);
  const Tensor p = tt::eq(arange(m).unsqueeze(-1, at), places, at).to(a.dtype(), at);
  const Tensor l = tt::tril(factors, -1, at).slice(-1, 0, k, 1, at), unit = eye(m, k, detail::on_device(a.dtype(), a.device()), at);
  return {p, l + unit, tt::triu(factors, 0, at).slice(-2, 0, k, 1, at)};
}
TT_LAZY_DEFINITION Tensor linalg::pinv(const Tensor& a, Optional<double> rtol, bool hermitian, SourceLine at) {
  const double most = static_cast<double>(std::max(a.size(-1, at).value(), a.size(-2, at).value())), tolerance = rtol.given ? rtol.value : most * detail::epsilon_of(a.dtype());
  if (a.numel(at) == 0) return zeros(a.mT(at).shape(at), detail::on_device(a.dtype(), a.device()), at);
  if (hermitian) {
    const EighResult e = eigh(a, "L", at);
    const Tensor size = tt::abs(e.eigenvalues, at), kept = size > size.amax({-1}, true, at) * tolerance;
    const Tensor inverse = tt::where(kept, 1 / tt::where(kept, e.eigenvalues, 1, at), 0, at);
    return tt::matmul(e.eigenvectors * inverse.unsqueeze(-2, at), e.eigenvectors.mT(at), at);
  }
  const SvdResult r = svd(a, false, at);
  const Tensor kept = r.S > r.S.amax({-1}, true, at) * tolerance, inverse = tt::where(kept, 1 / tt::where(kept, r.S, 1, at), 0, at);
  return tt::matmul(r.Vh.mT(at) * inverse.unsqueeze(-2, at), r.U.mT(at), at);
}
TT_LAZY_DEFINITION Tensor linalg::matrix_rank(const Tensor& a, Optional<double> rtol, SourceLine at) {
  const Tensor s = svdvals(a.detach(), at);
  if (s.numel(at) == 0) return zeros(s.sum({-1}, false, at).shape(at), TensorOptions{.dtype = DType::i64}, at);
  const double most = static_cast<double>(std::max(a.size(-1, at).value(), a.size(-2, at).value())), tolerance = rtol.given ? rtol.value : most * detail::epsilon_of(a.dtype());
  return (s > s.amax({-1}, true, at) * tolerance).sum({-1}, false, at);
}
TT_LAZY_DEFINITION Tensor linalg::cond(const Tensor& a, SourceLine at) {
  const Tensor s = svdvals(a, at);
  return s.amax({-1}, false, at) / s.amin({-1}, false, at);
}
TT_LAZY_DEFINITION Tensor linalg::matrix_exp(const Tensor& a, SourceLine at) {
  const std::int64_t n = a.size(-1, at);
  if (a.dim() < 2 || a.size(-2, at) != n) TT_THROW(Error(Text("tt::matrix_exp: matrices of shape ") << a.shape() << " are not square." << at));
  if (a.numel(at) == 0) return a.clone(at);
  const double norm = tt::abs(a.detach(), at).sum({-1}, false, at).amax({}, false, at).item(at);
  int halvings = 0;
  for (double size = norm; size > 0.25 && halvings < 60; size /= 2) ++halvings;
  const Tensor x = a * std::ldexp(1.0, -halvings), unit = eye(n, detail::on_device(a.dtype(), a.device()), at);
  Tensor r = unit;  // Horner's scheme; 12 terms are below 2^-53 for norms up to 1/4
  for (int k = 12; k > 0; --k) r = unit + tt::matmul(x, r, at) / k;
  r = r.expand(a.shape(at), at);
  for (int k = 0; k < halvings; ++k) r = tt::matmul(r, r, at);
  return r;
}
TT_LAZY_DEFINITION Tensor linalg::lstsq(const Tensor& a, const Tensor& given, SourceLine at) {
  const bool vector = given.dim() == 1 || given.dim() == a.dim() - 1;
  const Tensor b = vector ? given.unsqueeze(-1, at) : given;
  Tensor x;
  if (a.size(-2, at) >= a.size(-1, at)) {
    const QrResult f = qr(a, "reduced", at);
    x = solve_triangular(f.R, tt::matmul(f.Q.mT(at), b, at), true, true, false, at);
  } else {  // the shortest of those that solve it
    const QrResult f = qr(a.mT(at), "reduced", at);
    x = tt::matmul(f.Q, solve_triangular(f.R.mT(at), b, false, true, false, at), at);
  }
  return vector ? x.squeeze(-1, at) : x;
}
TT_LAZY_DEFINITION Tensor linalg::cholesky_solve(const Tensor& b, const Tensor& l, bool upper, SourceLine at) {
  const Tensor lower = upper ? l.mT(at) : l;
  return solve_triangular(lower.mT(at), solve_triangular(lower, b, false, true, false, at), true, true, false, at);
}

namespace detail {

template <class>
void register_linalg() {
  static const bool once = [] {
    static constexpr auto info_of = [](const Tensor& a, SourceLine at) {
      IntList batch;
      for (int k = 0; k + 2 < a.dim(); ++k) batch.push_back(a.size(k, at));
      return zeros(batch, TensorOptions{.dtype = DType::i32}, at);
    };
    register_function("linalg_solve", "Tensor A, Tensor B, bool left=True", [](const Tensor& a, const Tensor& b, bool l, SourceLine at) { return linalg::solve(a, b, l, at); });
    register_function("linalg_solve_ex", "Tensor A, Tensor B, bool left=True, bool check_errors=False", [](const Tensor& a, const Tensor& b, bool l, bool, SourceLine at) { return TensorList{linalg::solve(a, b, l, at), info_of(a, at)}; });
    for (const char* name : {"linalg_inv", "inverse"}) register_function(name, "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::inv(a, at); });
    register_function("linalg_inv_ex", "Tensor A, bool check_errors=False", [](const Tensor& a, bool, SourceLine at) { return TensorList{linalg::inv(a, at), info_of(a, at)}; });
    for (const char* name : {"linalg_det", "det"}) register_function(name, "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::det(a, at); });
    register_function("logdet", "Tensor A", [](const Tensor& a, SourceLine at) {
      const linalg::SlogdetResult r = linalg::slogdet(a, at);
      return tt::where(r.sign < 0, std::nan(""), r.logabsdet, at);
    });
    register_function("slogdet", "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::slogdet(a, at); });
    for (const char* name : {"linalg_cholesky", "cholesky"}) register_function(name, "Tensor A, bool upper=False", [](const Tensor& a, bool u, SourceLine at) { return linalg::cholesky(a, u, at); });
    register_function("linalg_cholesky_ex", "Tensor A, bool upper=False, bool check_errors=False", [](const Tensor& a, bool u, bool, SourceLine at) { return TensorList{linalg::cholesky(a, u, at), info_of(a, at)}; });
    register_function("linalg_solve_triangular", "Tensor A, Tensor B, bool upper, bool left=True, bool unitriangular=False",
                      [](const Tensor& a, const Tensor& b, bool u, bool l, bool i, SourceLine at) { return linalg::solve_triangular(a, b, u, l, i, at); });
    register_function("triangular_solve", "Tensor b, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False", [](const Tensor& b, const Tensor& a, bool u, bool t, bool i, SourceLine at) {
      return TensorList{linalg::solve_triangular(t ? a.mT(at) : a, b, u != t, true, i, at), a};
    });
    for (const char* name : {"linalg_qr"}) register_function(name, "Tensor A, str mode=reduced", [](const Tensor& a, const std::string& m, SourceLine at) { return linalg::qr(a, m, at); });
    register_function("qr", "Tensor A, bool some=True", [](const Tensor& a, bool s, SourceLine at) { return linalg::qr(a, s ? "reduced" : "complete", at); });
    register_function("linalg_eigh", "Tensor A, str UPLO=L", [](const Tensor& a, const std::string& u, SourceLine at) { return linalg::eigh(a, u, at); });
    register_function("linalg_eigvalsh", "Tensor A, str UPLO=L", [](const Tensor& a, const std::string& u, SourceLine at) { return linalg::eigvalsh(a, u, at); });
    register_function("linalg_svd", "Tensor A, bool full_matrices=True", [](const Tensor& a, bool f, SourceLine at) { return linalg::svd(a, f, at); });
    register_function("svd", "Tensor A, bool some=True, bool compute_uv=True", [](const Tensor& a, bool s, bool, SourceLine at) {
      linalg::SvdResult r = linalg::svd(a, !s, at);
      r.Vh = r.Vh.mT(at);
      return r;
    });
    register_function("linalg_svdvals", "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::svdvals(a, at); });
    register_function("linalg_lu", "Tensor A, bool pivot=True", [](const Tensor& a, bool pivot, SourceLine at) {
      if (!pivot) TT_THROW(Unavailable(Text("tt::linalg::lu: without pivots is not there.") << at));
      return linalg::lu(a, at);
    });
    for (const char* name : {"linalg_pinv"})
      register_function(name, "Tensor A, float? rtol=None, bool hermitian=False", [](const Tensor& a, Optional<double> r, bool h, SourceLine at) { return linalg::pinv(a, r, h, at); });
    register_function("pinverse", "Tensor A, float rcond=1e-15", [](const Tensor& a, double r, SourceLine at) { return linalg::pinv(a, Optional<double>(r), false, at); });
    register_function("linalg_lstsq", "Tensor A, Tensor B, float? rcond=None, str? driver=None", [](const Tensor& a, const Tensor& b, Optional<double>, const BoxedValue&, SourceLine at) {
      const Tensor none = empty({0}, on_device(a.dtype(), a.device()));
      return TensorList{linalg::lstsq(a, b, at), none, empty({0}, TensorOptions{.dtype = DType::i64}), none};
    });
    register_function("linalg_matrix_rank", "Tensor A, float? rtol=None, bool hermitian=False", [](const Tensor& a, Optional<double> r, bool, SourceLine at) { return linalg::matrix_rank(a, r, at); });
    register_function("linalg_cond", "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::cond(a, at); });
    for (const char* name : {"linalg_matrix_exp", "matrix_exp"}) register_function(name, "Tensor A", [](const Tensor& a, SourceLine at) { return linalg::matrix_exp(a, at); });
    register_function("cholesky_solve", "Tensor B, Tensor L, bool upper=False", [](const Tensor& b, const Tensor& l, bool u, SourceLine at) { return linalg::cholesky_solve(b, l, u, at); });
    register_function("cholesky_inverse", "Tensor L, bool upper=False", [](const Tensor& l, bool u, SourceLine at) { return linalg::cholesky_solve(eye(l.size(-1, at), on_device(l.dtype(), l.device()), at).expand(l.shape(at), at), l, u, at); });
    return true;
  }();
  (void)once;
}

}  // namespace detail
}  // namespace tt
