// Functions that are another function under a second name, with an argument fixed or with one more. Names and meanings are PyTorch's. Second names of
// elementwise ops, also for Arrays, are in ops/aliases.hpp.
//   tt::swapdims(x, 0, 1) is tt::swapaxes(x, 0, 1); tt::add(x, y, 2) is x + 2 y
#pragma once
#include <string>
#include <string_view>
#include <type_traits>

#include "tt/dispatch/algorithms.hpp"
#include "tt/dispatch/functions.hpp"
#include "tt/dispatch/linalg.hpp"
#include "tt/dispatch/random.hpp"
#include "tt/ops/aliases.hpp"

namespace tt {

struct FrexpResult {
  Tensor mantissa, exponent;
};

// ---- methods as functions
template <class = void> Tensor clone(const Tensor& x, SourceLine at = here()) { return x.clone(at); }
template <class = void> Size numel(const Tensor& x, SourceLine at = here()) { return x.numel(at); }
template <class = void> Tensor select(const Tensor& x, int dim, SizeArgument index, SourceLine at = here()) { return x.select(dim, index, at); }
template <class = void> Tensor unsqueeze(const Tensor& x, int dim, SourceLine at = here()) { return x.unsqueeze(dim, at); }
template <class = void> Tensor t(const Tensor& x, SourceLine at = here()) { return x.t(at); }
inline bool is_floating_point(const Tensor& x) { return x.is_floating_point(); }
template <class = void> bool is_nonzero(const Tensor& x, SourceLine at = here()) { return x.is_nonzero(at); }
template <class = void> bool is_same_size(const Tensor& a, const Tensor& b, SourceLine at = here()) { return a.shape(at) == b.shape(at); }

// ---- with a further argument
namespace detail {
/// A Tensor or scalar times alpha.
template <class B, class A>
auto scaled_operand(const Tensor& x, const B& y, A alpha, const char* op, SourceLine at) {
  if constexpr (Value<B>) return scaled_by(x, y, {alpha, at}, op, at);
  else if constexpr (std::is_floating_point_v<B> || std::is_floating_point_v<A> || !std::is_arithmetic_v<B>) return y * alpha;
  else return static_cast<std::int64_t>(static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(alpha));  // wraps, as elements do
}
}  // namespace detail
/// x + alpha y. For integers alpha is an integer.
template <class B, class A>
  requires std::is_arithmetic_v<A>
Tensor add(const Tensor& x, const B& y, A alpha, SourceLine at = here()) { return tt::add(x, detail::scaled_operand(x, y, alpha, "add", at), at); }
/// x - alpha y.
template <class B, class A>
  requires std::is_arithmetic_v<A>
Tensor sub(const Tensor& x, const B& y, A alpha, SourceLine at = here()) { return tt::sub(x, detail::scaled_operand(x, y, alpha, "sub", at), at); }
template <class B, class A>
  requires std::is_arithmetic_v<A>
Tensor subtract(const Tensor& x, const B& y, A alpha, SourceLine at = here()) { return tt::sub(x, y, alpha, at); }
/// `approximate` is "none" or "tanh".
template <class = void> Tensor gelu(const Tensor& x, std::string_view approximate, SourceLine at = here()) {
  if (approximate != "none" && approximate != "tanh") TT_THROW(Error(Text("tt::gelu: approximate is '") << std::string(approximate).c_str() << "'. none or tanh?" << at));
  return approximate == "tanh" ? tt::gelu_tanh(x, at) : tt::gelu(x, at);
}

/// x itself. Throws Error for bool, as PyTorch does.
template <class = void> Tensor positive(const Tensor& x, SourceLine at = here()) {
  if (x.dtype() == DType::boolean) TT_THROW(Error(Text("tt::positive: of booleans there is none.") << at));
  return x;
}

// ---- shapes
template <class = void> Tensor swapdims(const Tensor& x, int dim0, int dim1, SourceLine at = here()) { return swapaxes(x, dim0, dim1, at); }
template <class = void> Tensor moveaxis(const Tensor& x, const IntList& source, const IntList& destination, SourceLine at = here()) { return movedim(x, source, destination, at); }
template <class = void> TensorList split_with_sizes(const Tensor& x, const IntList& split_sizes, int dim = 0, SourceLine at = here()) { return split(x, split_sizes, dim, at); }
template <class = void> Tensor concat(TensorSpan tensors, int dim = 0, SourceLine at = here()) { return cat(tensors, dim, at); }
template <class = void> Tensor concatenate(TensorSpan tensors, int dim = 0, SourceLine at = here()) { return cat(tensors, dim, at); }
template <class = void> Tensor row_stack(TensorSpan tensors, SourceLine at = here()) { return vstack(tensors, at); }
template <class = void> Tensor atleast_1d(const Tensor& x, SourceLine at = here()) { return detail::at_least(x, 1, at); }
template <class = void> Tensor atleast_2d(const Tensor& x, SourceLine at = here()) { return detail::at_least(x, 2, at); }
template <class = void> Tensor atleast_3d(const Tensor& x, SourceLine at = here()) { return detail::at_least(x, 3, at); }

// ---- complex functions, of real Tensors
template <class = void> Tensor conj(const Tensor& x) { return x; }
template <class = void> Tensor real(const Tensor& x) { return x; }
template <class = void> Tensor resolve_conj(const Tensor& x) { return x; }
template <class = void> Tensor resolve_neg(const Tensor& x) { return x; }
template <class = void> Tensor conj_physical(const Tensor& x, SourceLine at = here()) { return x.clone(at); }

// ---- views as copies
template <class = void> Tensor adjoint(const Tensor& x, SourceLine at = here()) { return x.mT(at); }
template <class = void> Tensor alias_copy(const Tensor& x, SourceLine at = here()) { return x.clone(at); }
template <class = void> Tensor as_strided_copy(const Tensor& x, const IntList& size, const IntList& stride, Optional<std::int64_t> storage_offset = {}, SourceLine at = here()) { return as_strided(x, size, stride, storage_offset, at).clone(at); }
template <class = void> Tensor diagonal_copy(const Tensor& x, int offset = 0, int dim1 = 0, int dim2 = 1, SourceLine at = here()) { return diagonal(x, offset, dim1, dim2, at).clone(at); }
template <class = void> Tensor expand_copy(const Tensor& x, const IntList& size, SourceLine at = here()) { return x.expand(size, at).clone(at); }
template <class = void> Tensor narrow_copy(const Tensor& x, int dim, SizeArgument start, SizeArgument length, SourceLine at = here()) { return narrow(x, dim, start, length, at).clone(at); }
template <class = void> Tensor permute_copy(const Tensor& x, const IntList& dims, SourceLine at = here()) { return x.permute(dims, at).clone(at); }
template <class = void> Tensor select_copy(const Tensor& x, int dim, SizeArgument index, SourceLine at = here()) { return x.select(dim, index, at).clone(at); }
template <class = void> Tensor squeeze_copy(const Tensor& x, const IntList& dim = {}, SourceLine at = here()) { return (dim.size() ? squeeze(x, dim, at) : x.squeeze(at)).clone(at); }
template <class = void> Tensor t_copy(const Tensor& x, SourceLine at = here()) { return x.t(at).clone(at); }
template <class = void> Tensor transpose_copy(const Tensor& x, int dim0, int dim1, SourceLine at = here()) { return x.transpose(dim0, dim1, at).clone(at); }
template <class = void> Tensor unfold_copy(const Tensor& x, int dimension, std::int64_t size, std::int64_t step, SourceLine at = here()) { return x.unfold(dimension, size, step, at).clone(at); }
template <class = void> Tensor unsqueeze_copy(const Tensor& x, int dim, SourceLine at = here()) { return x.unsqueeze(dim, at).clone(at); }
template <class = void> Tensor view_copy(const Tensor& x, const IntList& size, SourceLine at = here()) { return x.reshape(size, at).clone(at); }
namespace detail {
template <class = void> TensorList copies_of(TensorList all, SourceLine at) {
  for (Tensor& t : all) t = t.clone(at);
  return all;
}
}  // namespace detail
template <class = void> TensorList split_copy(const Tensor& x, std::int64_t split_size, int dim = 0, SourceLine at = here()) { return detail::copies_of(split(x, split_size, dim, at), at); }
template <class = void> TensorList split_with_sizes_copy(const Tensor& x, const IntList& split_sizes, int dim = 0, SourceLine at = here()) { return detail::copies_of(split(x, split_sizes, dim, at), at); }
template <class = void> TensorList unbind_copy(const Tensor& x, int dim = 0, SourceLine at = here()) { return detail::copies_of(unbind(x, dim, at), at); }
template <class = void> TensorList unsafe_chunk(const Tensor& x, int chunks, int dim = 0, SourceLine at = here()) { return chunk(x, chunks, dim, at); }
template <class = void> TensorList unsafe_split(const Tensor& x, std::int64_t split_size, int dim = 0, SourceLine at = here()) { return split(x, split_size, dim, at); }

// ---- products and matrices
template <class = void> Tensor ger(const Tensor& a, const Tensor& b, SourceLine at = here()) { return outer(a, b, at); }
template <class = void> Tensor vdot(const Tensor& a, const Tensor& b, SourceLine at = here()) { return dot(a, b, at); }
template <class = void> Tensor chain_matmul(TensorSpan matrices, SourceLine at = here()) { return linalg::multi_dot(matrices, at); }
template <class = void> Tensor det(const Tensor& a, SourceLine at = here()) { return linalg::det(a, at); }
template <class = void> auto slogdet(const Tensor& a, SourceLine at = here()) { return linalg::slogdet(a, at); }
template <class = void> Tensor inverse(const Tensor& a, SourceLine at = here()) { return linalg::inv(a, at); }
template <class = void> Tensor cholesky(const Tensor& a, bool upper = false, SourceLine at = here()) { return linalg::cholesky(a, upper, at); }
template <class = void> Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper = false, SourceLine at = here()) { return linalg::cholesky_solve(b, l, upper, at); }
template <class = void> Tensor matrix_exp(const Tensor& a, SourceLine at = here()) { return linalg::matrix_exp(a, at); }
template <class = void> Tensor matrix_power(const Tensor& a, int n, SourceLine at = here()) { return linalg::matrix_power(a, n, at); }

template <class = void> auto geqrf(const Tensor& a, SourceLine at = here()) { return linalg::geqrf(a, at); }
template <class = void> Tensor orgqr(const Tensor& a, const Tensor& tau, SourceLine at = here()) { return linalg::householder_product(a, tau, at); }
template <class = void> Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other, bool left = true, bool transpose = false, SourceLine at = here()) { return linalg::ormqr(a, tau, other, left, transpose, at); }
template <class = void> Tensor lu_solve(const Tensor& b, const Tensor& LU_data, const Tensor& LU_pivots, SourceLine at = here()) { return linalg::lu_solve(LU_data, LU_pivots, b, true, false, at); }
template <class = void> auto lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, SourceLine at = here()) { return linalg::lu_unpack(LU_data, LU_pivots, at); }
/// A = U diag(S) V^T; `some`: only the vectors that belong to singular values.
template <class = void> SvdLowRankResult svd(const Tensor& a, bool some = true, SourceLine at = here()) {
  const linalg::SvdResult r = linalg::svd(a, !some, at);
  return {r.U, r.S, r.Vh.mT(at)};
}
struct TriangularSolveResult {
  Tensor solution, cloned_coefficient;
};
template <class = void> TriangularSolveResult triangular_solve(const Tensor& b, const Tensor& a, bool upper = true, bool transpose = false, bool unitriangular = false, SourceLine at = here()) {
  return {linalg::solve_triangular(transpose ? a.mT(at) : a, b, upper != transpose, true, unitriangular, at), a.clone(at)};
}
/// Parts that are not asked for are empty.
template <class = void> linalg::LuResult lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots = true, SourceLine at = here()) {
  return linalg::lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots, at);
}
namespace linalg {
template <class = void> Tensor diagonal(const Tensor& a, int offset = 0, int dim1 = -2, int dim2 = -1, SourceLine at = here()) { return tt::diagonal(a, offset, dim1, dim2, at); }
/// The 2-norm of all elements, or along the axes `dim`.
template <class = void> Tensor norm(const Tensor& x, NoneType = none, const IntList& dim = {}, bool keepdim = false, SourceLine at = here()) { return vector_norm(x, 2, dim, keepdim, at); }
/// Along one axis a vector norm, along two a matrix norm; without `dim` by the rank of x, 1 or 2.
template <class = void> Tensor norm(const Tensor& x, double ord, const IntList& dim = {}, bool keepdim = false, SourceLine at = here()) {
  if (dim.size() == 0 && x.dim() == 2) return matrix_norm(x, ord, {-2, -1}, keepdim, at);
  if (dim.size() == 0 && x.dim() != 1) detail::refuse("linalg::norm", "neither a vector nor a matrix, and no dim is given", x, at);
  return dim.size() == 2 ? matrix_norm(x, ord, dim, keepdim, at) : vector_norm(x, ord, dim, keepdim, at);
}
/// "fro" or "nuc".
template <class = void> Tensor norm(const Tensor& x, std::string_view ord, const IntList& dim = {-2, -1}, bool keepdim = false, SourceLine at = here()) { return matrix_norm(x, ord, dim, keepdim, at); }
}  // namespace linalg
namespace special {
using tt::digamma, tt::erf, tt::erfc, tt::erfinv, tt::exp2, tt::expm1, tt::i0, tt::log1p, tt::log_softmax, tt::logit, tt::logsumexp, tt::polygamma, tt::round, tt::sinc, tt::softmax, tt::xlogy;
template <Value A> constexpr auto expit(A&& x, SourceLine at = here()) { return tt::sigmoid(static_cast<A&&>(x), at); }
template <Value A> constexpr auto psi(A&& x, SourceLine at = here()) { return tt::digamma(static_cast<A&&>(x), at); }
template <Value A> constexpr auto gammaln(A&& x, SourceLine at = here()) { return tt::lgamma(static_cast<A&&>(x), at); }
template <class = void> Tensor gammainc(const Tensor& a, const Tensor& x, SourceLine at = here()) { return igamma(a, x, at); }
template <class = void> Tensor gammaincc(const Tensor& a, const Tensor& x, SourceLine at = here()) { return igammac(a, x, at); }
template <class = void> Tensor modified_bessel_i0(const Tensor& x, SourceLine at = here()) { return tt::i0(x, at); }
template <class = void> Tensor modified_bessel_i1(const Tensor& x, SourceLine at = here()) { return special::i1(x, at); }
template <class = void> Tensor multigammaln(const Tensor& x, int p, SourceLine at = here()) { return mvlgamma(x, p, at); }
// Overloads with one scalar argument.
template <class A, class B> requires detail::OneNumber<A, B> Tensor zeta(const A& x, const B& q, SourceLine at = here()) { return zeta(detail::number_of(x, q), detail::number_of(q, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor chebyshev_polynomial_t(const A& x, const B& n, SourceLine at = here()) { return chebyshev_polynomial_t(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor chebyshev_polynomial_u(const A& x, const B& n, SourceLine at = here()) { return chebyshev_polynomial_u(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor chebyshev_polynomial_v(const A& x, const B& n, SourceLine at = here()) { return chebyshev_polynomial_v(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor chebyshev_polynomial_w(const A& x, const B& n, SourceLine at = here()) { return chebyshev_polynomial_w(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor shifted_chebyshev_polynomial_t(const A& x, const B& n, SourceLine at = here()) { return shifted_chebyshev_polynomial_t(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor shifted_chebyshev_polynomial_u(const A& x, const B& n, SourceLine at = here()) { return shifted_chebyshev_polynomial_u(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor shifted_chebyshev_polynomial_v(const A& x, const B& n, SourceLine at = here()) { return shifted_chebyshev_polynomial_v(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor shifted_chebyshev_polynomial_w(const A& x, const B& n, SourceLine at = here()) { return shifted_chebyshev_polynomial_w(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor hermite_polynomial_h(const A& x, const B& n, SourceLine at = here()) { return hermite_polynomial_h(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor hermite_polynomial_he(const A& x, const B& n, SourceLine at = here()) { return hermite_polynomial_he(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor laguerre_polynomial_l(const A& x, const B& n, SourceLine at = here()) { return laguerre_polynomial_l(detail::number_of(x, n), detail::number_of(n, x), at); }
template <class A, class B> requires detail::OneNumber<A, B> Tensor legendre_polynomial_p(const A& x, const B& n, SourceLine at = here()) { return legendre_polynomial_p(detail::number_of(x, n), detail::number_of(n, x), at); }
}  // namespace special

// ---- elements
template <class = void> FrexpResult frexp(const Tensor& x, SourceLine at = here()) {
  const auto r = call_with<Frexp>(at, {}, x);
  return {r[0], r[1]};
}
/// In f64, whatever the dtypes.
template <class = void> Tensor float_power(const Tensor& x, const detail::TensorOperand& exponent, SourceLine at = here()) {
  const Tensor power = exponent.tensor ? exponent.tensor->to(DType::f64, at) : exponent.number(DType::f64);
  return tt::pow(x.to(DType::f64, at), power, at);
}
template <class X>
  requires std::is_arithmetic_v<X>
Tensor float_power(X x, const Tensor& exponent, SourceLine at = here()) { return tt::pow(detail::TensorOperand(x).number(DType::f64), exponent.to(DType::f64, at), at); }
template <class = void> Tensor trapz(const Tensor& y, const Tensor& x, int dim = -1, SourceLine at = here()) { return trapezoid(y, x, dim, at); }
template <class = void> Tensor trapz(const Tensor& y, double dx = 1, int dim = -1, SourceLine at = here()) { return trapezoid(y, dx, dim, at); }
template <class = void> Tensor msort(const Tensor& x, SourceLine at = here()) { return sort(x, 0, false, false, at).values; }

/// other - x.
template <class B> Tensor rsub(const Tensor& x, const B& other, SourceLine at = here()) { return tt::sub(other, x, at); }
/// other - alpha x.
template <class B, class A>
  requires std::is_arithmetic_v<A>
Tensor rsub(const Tensor& x, const B& other, A alpha, SourceLine at = here()) { return tt::sub(other, tt::mul(x, alpha, at), at); }

// ---- networks
template <class = void> Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const IntList& stride = {1}, const IntList& padding = {0}, const IntList& output_padding = {0},
                                                std::int64_t groups = 1, const IntList& dilation = {1}, SourceLine at = here()) {
  return convolution_transpose(x, detail::weights_over(weight, 1, "conv_transpose1d", at), bias, stride, padding, output_padding, groups, dilation, at);
}
template <class = void> Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const IntList& stride = {1}, const IntList& padding = {0}, const IntList& output_padding = {0},
                                                std::int64_t groups = 1, const IntList& dilation = {1}, SourceLine at = here()) {
  return convolution_transpose(x, detail::weights_over(weight, 2, "conv_transpose2d", at), bias, stride, padding, output_padding, groups, dilation, at);
}
template <class = void> Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const IntList& stride = {1}, const IntList& padding = {0}, const IntList& output_padding = {0},
                                                std::int64_t groups = 1, const IntList& dilation = {1}, SourceLine at = here()) {
  return convolution_transpose(x, detail::weights_over(weight, 3, "conv_transpose3d", at), bias, stride, padding, output_padding, groups, dilation, at);
}
template <class = void> Tensor adaptive_avg_pool1d(const Tensor& x, SizeArgument output_size, SourceLine at = here()) { return adaptive_avg_pool(x, {output_size.size}, at); }
template <class = void> Tensor adaptive_avg_pool3d(const Tensor& x, const IntList& output_size, SourceLine at = here()) { return adaptive_avg_pool(x, detail::for_axes(output_size, 3), at); }
template <class = void> Tensor adaptive_max_pool1d(const Tensor& x, SizeArgument output_size, SourceLine at = here()) { return adaptive_max_pool(x, {output_size.size}, at).values; }
template <class = void> Tensor adaptive_max_pool3d(const Tensor& x, const IntList& output_size, SourceLine at = here()) { return adaptive_max_pool(x, detail::for_axes(output_size, 3), at).values; }
template <class = void> Tensor lp_pool1d(const Tensor& x, double norm_type, const IntList& kernel_size, const IntList& stride = {}, bool ceil_mode = false, SourceLine at = here()) { return lp_pool(x, 1, norm_type, kernel_size, stride, ceil_mode, at); }
template <class = void> Tensor lp_pool2d(const Tensor& x, double norm_type, const IntList& kernel_size, const IntList& stride = {}, bool ceil_mode = false, SourceLine at = here()) { return lp_pool(x, 2, norm_type, kernel_size, stride, ceil_mode, at); }
template <class = void> Tensor lp_pool3d(const Tensor& x, double norm_type, const IntList& kernel_size, const IntList& stride = {}, bool ceil_mode = false, SourceLine at = here()) { return lp_pool(x, 3, norm_type, kernel_size, stride, ceil_mode, at); }
template <class = void> PoolResult max_pool1d_with_indices(const Tensor& x, const IntList& kernel_size, const PoolOptions& o = {}, CallLine at = here()) { return max_pool_with_indices(x, 1, kernel_size, o, at); }
template <class = void> PoolResult max_pool2d_with_indices(const Tensor& x, const IntList& kernel_size, const PoolOptions& o = {}, CallLine at = here()) { return max_pool_with_indices(x, 2, kernel_size, o, at); }
template <class = void> PoolResult max_pool3d_with_indices(const Tensor& x, const IntList& kernel_size, const PoolOptions& o = {}, CallLine at = here()) { return max_pool_with_indices(x, 3, kernel_size, o, at); }
template <class = void> Tensor constant_pad_nd(const Tensor& x, const IntList& pad, double value = 0, SourceLine at = here()) { return tt::pad(x, pad, value, at); }
template <class = void> Tensor feature_dropout(const Tensor& x, double p = 0.5, bool training = true, SourceLine at = here()) { return dropout2d(x, p, training, at); }
template <class = void> Tensor affine_grid_generator(const Tensor& theta, const IntList& size, bool align_corners, SourceLine at = here()) { return affine_grid(theta, size, align_corners, at); }
template <class = void> Tensor grid_sampler(const Tensor& x, const Tensor& grid, SampleMode mode, SamplePadding padding_mode, bool align_corners, SourceLine at = here()) { return grid_sample(x, grid, mode, padding_mode, align_corners, at); }
template <class = void> Tensor grid_sampler_2d(const Tensor& x, const Tensor& grid, SampleMode mode, SamplePadding padding_mode, bool align_corners, SourceLine at = here()) { return grid_sample(x, grid, mode, padding_mode, align_corners, at); }
template <class = void> Tensor grid_sampler_3d(const Tensor& x, const Tensor& grid, SampleMode mode, SamplePadding padding_mode, bool align_corners, SourceLine at = here()) { return grid_sample(x, grid, mode, padding_mode, align_corners, at); }
template <class = void> Tensor upsample_nearest(const Tensor& x, const IntList& size, const std::vector<double>& scale_factor = {}, SourceLine at = here()) { return interpolate(x, size, scale_factor, "nearest", false, false, false, at); }
template <class = void> Tensor upsample_bilinear(const Tensor& x, const IntList& size, const std::vector<double>& scale_factor = {}, SourceLine at = here()) { return interpolate(x, size, scale_factor, "bilinear", true, false, false, at); }
/// softmax((logits + g) / tau) with Gumbel-distributed g; hard: one-hot at the maximum, with the gradient of the soft result.
template <class = void>
Tensor gumbel_softmax(const Tensor& logits, double tau = 1, bool hard = false, int dim = -1, SourceLine at = here()) {
  const Tensor noise = -tt::log(detail::exponential_like(logits, 1, default_generator(), at), at);
  const Tensor soft = ((logits + noise) / tau).softmax(dim, at);
  if (!hard) return soft;
  const Tensor one = zeros_like(soft).scatter(dim, soft.argmax(dim, true, at), 1.0, at);
  return one - soft.detach() + soft;
}

template <class = void> Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const IntList& kernel_size, const IntList& stride = {}, const IntList& padding = {0}, const IntList& output_size = {}, SourceLine at = here()) { return max_unpool(x, indices, 1, kernel_size, stride, padding, output_size, at); }
template <class = void> Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const IntList& kernel_size, const IntList& stride = {}, const IntList& padding = {0}, const IntList& output_size = {}, SourceLine at = here()) { return max_unpool(x, indices, 2, kernel_size, stride, padding, output_size, at); }
template <class = void> Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const IntList& kernel_size, const IntList& stride = {}, const IntList& padding = {0}, const IntList& output_size = {}, SourceLine at = here()) { return max_unpool(x, indices, 3, kernel_size, stride, padding, output_size, at); }
template <class = void> PoolResult adaptive_max_pool1d_with_indices(const Tensor& x, SizeArgument output_size, SourceLine at = here()) { return adaptive_max_pool(x, {output_size.size}, at); }
template <class = void> PoolResult adaptive_max_pool2d_with_indices(const Tensor& x, const IntList& output_size, SourceLine at = here()) { return adaptive_max_pool(x, detail::for_axes(output_size, 2), at); }
template <class = void> PoolResult adaptive_max_pool3d_with_indices(const Tensor& x, const IntList& output_size, SourceLine at = here()) { return adaptive_max_pool(x, detail::for_axes(output_size, 3), at); }
/// interpolate under an older name.
template <class = void> Tensor upsample(const Tensor& x, const IntList& size, const std::vector<double>& scale_factor = {}, std::string_view mode = "nearest", bool align_corners = false, SourceLine at = here()) {
  return interpolate(x, size, scale_factor, mode, align_corners, false, false, at);
}
/// max(0, d(anchor, positive) - d(anchor, negative) + margin), with a distance function of two Tensors; swap: d(positive, negative) replaces d(anchor,
/// negative) where it is smaller.
template <class D>
Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, const D& distance_function, double margin = 1, bool swap = false,
                                         Reduction reduction = Reduction::mean, SourceLine at = here()) {
  Tensor far = distance_function(anchor, negative);
  if (swap) far = tt::minimum(far, distance_function(positive, negative), at);
  const Tensor loss = clamp_min(distance_function(anchor, positive) - far + margin, 0, at);
  return reduction == Reduction::none ? loss : reduction == Reduction::sum ? loss.sum({}, false, at) : loss.mean({}, false, at);
}
/// One step of a recurrent layer: input (n, i), hidden state (n, h), weights (k h, i) and (k h, h), biases (k h) or undefined; k is 4 for an LSTM, with gates
/// input, forget, cell and output, 3 for a GRU (reset, update, new), else 1.
struct LstmState {
  Tensor h, c;
};
template <class = void>
LstmState lstm_cell(const Tensor& input, const LstmState& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {}, SourceLine at = here()) {
  const TensorList gate = chunk(call_with<Linear>(at, {}, input, w_ih, b_ih) + call_with<Linear>(at, {}, hx.h, w_hh, b_hh), 4, 1, at);
  const Tensor c = tt::sigmoid(gate[1], at) * hx.c + tt::sigmoid(gate[0], at) * tt::tanh(gate[2], at);
  return {tt::sigmoid(gate[3], at) * tt::tanh(c, at), c};
}
template <class = void>
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {}, SourceLine at = here()) {
  const TensorList i = chunk(call_with<Linear>(at, {}, input, w_ih, b_ih), 3, 1, at), h = chunk(call_with<Linear>(at, {}, hx, w_hh, b_hh), 3, 1, at);
  const Tensor reset = tt::sigmoid(i[0] + h[0], at), update = tt::sigmoid(i[1] + h[1], at), fresh = tt::tanh(i[2] + reset * h[2], at);
  return fresh + update * (hx - fresh);
}
template <class = void>
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {}, SourceLine at = here()) {
  return tt::tanh(call_with<Linear>(at, {}, input, w_ih, b_ih) + call_with<Linear>(at, {}, hx, w_hh, b_hh), at);
}
template <class = void>
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {}, SourceLine at = here()) {
  return tt::relu(call_with<Linear>(at, {}, input, w_ih, b_ih) + call_with<Linear>(at, {}, hx, w_hh, b_hh), at);
}

// ---- random numbers
template <class = void> Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high, SourceLine at = here()) {
  return randint(low, high, x.shape(at), default_generator(), detail::on_device(x.dtype(), x.device()), at);
}
template <class = void> Tensor randint_like(const Tensor& x, std::int64_t high, SourceLine at = here()) { return randint_like(x, 0, high, at); }

/// A scalar Tensor.
template <class = void> Tensor scalar_tensor(double value, TensorOptions o = {}, SourceLine at = here()) { return full({}, value, o, at); }

// ---- dtypes and shapes of results
inline DType promote_types(DType a, DType b) { return promote(a, b); }
/// May an in-place op write elements of dtype `from` to a Tensor of dtype `to`? Not floating to integer, nor numbers to bool.
inline bool can_cast(DType from, DType to) { return category(from) <= category(to); }

}  // namespace tt
