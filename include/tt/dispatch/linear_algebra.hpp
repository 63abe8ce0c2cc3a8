// Linear algebra of Tensors made of products and sums: fused like other ops, on any device, with gradients. Names, arguments and meanings are PyTorch's.
//   tt::einsum("bij,bjk->bik", {a, b})   tt::addmm(c, a, b)   tt::tensordot(a, b, 2)   tt::linalg::vector_norm(x)
#pragma once
#include "tt/dispatch/shape_functions.hpp"

namespace tt {

/// Products: matrices (n, m) and (m, p); batches of matrices; a matrix and a vector; two vectors. dot, and vdot, take vectors only: NumPy's dot also
/// multiplies matrices (matmul), and its vdot takes any shape as a vector.
TT_LAZY Tensor mm(const Tensor& a, const Tensor& b, SourceLine at = here());
TT_LAZY Tensor bmm(const Tensor& a, const Tensor& b, SourceLine at = here());
TT_LAZY Tensor mv(const Tensor& a, const Tensor& v, SourceLine at = here());
TT_LAZY Tensor dot(const Tensor& a, const Tensor& b, SourceLine at = here());
/// Sums over the last axes of both, for each pair of the other indices.
TT_LAZY Tensor inner(const Tensor& a, const Tensor& b, SourceLine at = here());
/// Each element of one vector times each of the other; vectors only, where NumPy takes any shape as one.
TT_LAZY Tensor outer(const Tensor& a, const Tensor& b, SourceLine at = here());
/// beta * input + alpha * (a b): for matrices, matrix and vector, an outer product, the sum of a batch, a batch. With beta = 0, input is ignored, even NaN.
TT_LAZY Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here());
TT_LAZY Tensor addmv(const Tensor& input, const Tensor& a, const Tensor& v, double beta = 1, double alpha = 1, SourceLine at = here());
TT_LAZY Tensor addr(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here());
TT_LAZY Tensor addbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here());
TT_LAZY Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here());
/// Sums over the last `dims` axes of a and the first of b; or over the axes in two lists.
TT_LAZY Tensor tensordot(const Tensor& a, const Tensor& b, int dims = 2, SourceLine at = here());
TT_LAZY Tensor tensordot(const Tensor& a, const Tensor& b, const IntList& dims_a, const IntList& dims_b, SourceLine at = here());
/// Einstein summation: letters name axes, letters missing in the result are summed; "..." stands for broadcast axes. Operands are multiplied pairwise from the
/// left. Throws Error where a letter has two sizes.
TT_LAZY Tensor einsum(std::string_view equation, TensorSpan operands, SourceLine at = here());
/// The cross product of 3-vectors along an axis: dim, or the first of size 3 (NumPy, and linalg::cross: the last).
TT_LAZY Tensor cross(const Tensor& a, const Tensor& b, Optional<int> dim = {}, SourceLine at = here());
/// The Kronecker product: each element of a times all of b.
TT_LAZY Tensor kron(const Tensor& a, const Tensor& b, SourceLine at = here());
/// Matrices along a diagonal, zeros elsewhere.
TT_LAZY Tensor block_diag(TensorSpan all, SourceLine at = here());
/// The sum of a matrix's diagonal. Of more axes, which NumPy's trace takes, it is an Error.
TT_LAZY Tensor trace(const Tensor& x, SourceLine at = here());
/// Covariances of rows (variables) over columns (observations), weighted by fweights (how often an observation occurs) and aweights.
/// Divided by n - correction: NumPy's ddof, which is 1 by default for cov.
TT_LAZY Tensor cov(const Tensor& x, int correction = 1, const Tensor& fweights = {}, const Tensor& aweights = {}, SourceLine at = here());
TT_LAZY Tensor corrcoef(const Tensor& x, SourceLine at = here());
/// (sum |x|^p)^(1/p) over axes (none: all); p may be 0 or infinite. NumPy's linalg.norm, which gives a matrix norm for a matrix and an order, is linalg::norm.
TT_LAZY Tensor norm(const Tensor& x, double p = 2, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());

namespace linalg {

struct SlogdetResult {
  Tensor sign, logabsdet;
};
struct QrResult {
  Tensor Q, R;
};
struct EighResult {
  Tensor eigenvalues, eigenvectors;
};
/// Complex: shapes (..., n, 2) and (..., n, n, 2), real and imaginary parts along the last axis.
struct EigResult {
  Tensor eigenvalues, eigenvectors;
};
struct SvdResult {
  Tensor U, S, Vh;
};
struct LuResult {
  Tensor P, L, U;
};
struct LuFactors {
  Tensor LU, pivots;
};
struct LdlFactors {
  Tensor LD, pivots;
};
/// Results of functions named ..._ex. info (i32, for each matrix): 0, or the row, from 1 on, where LAPACK found the matrix singular or not positive definite.
struct SolveExResult {
  Tensor result, info;
};
struct InvExResult {
  Tensor inverse, info;
};
struct CholeskyExResult {
  Tensor L, info;
};
struct LuFactorExResult {
  Tensor LU, pivots, info;
};
struct LdlFactorExResult {
  Tensor LD, pivots, info;
};
struct Reflectors {
  Tensor a, tau;
};
struct PolarResult {
  Tensor U, P;
};
/// Singular values up to atol, or up to rtol times the largest, count as 0. Scalars, or one for each matrix of a batch; undefined: not given.
struct Tolerances {
  Tensor atol{}, rtol{};
};
struct LstsqResult {
  Tensor solution, residuals, rank, singular_values;
};

TT_LAZY Tensor vector_norm(const Tensor& x, double ord = 2, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
/// Through LAPACK, see linalg.hpp: the inverse, and singular values in descending order.
TT_LAZY Tensor inv(const Tensor& a, SourceLine at = here());
TT_LAZY Tensor svdvals(const Tensor& a, SourceLine at = here());
/// Matrix norms over two axes: "fro", "nuc"; or 1, -1 (sums of columns), inf, -inf (of rows), 2, -2. "nuc", 2 and -2 use singular values.
TT_LAZY Tensor matrix_norm(const Tensor& x, std::string_view ord = "fro", const IntList& dim = {-2, -1}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor matrix_norm(const Tensor& x, double ord, const IntList& dim = {-2, -1}, bool keepdim = false, SourceLine at = here());
/// The cross product of 3-vectors along an axis; vecdot: their inner product, for vectors of any size.
TT_LAZY Tensor cross(const Tensor& a, const Tensor& b, int dim = -1, SourceLine at = here());
TT_LAZY Tensor vecdot(const Tensor& a, const Tensor& b, int dim = -1, SourceLine at = here());
/// A square matrix to the power n; 0: the unit matrix; negative: powers of the inverse.
TT_LAZY Tensor matrix_power(const Tensor& a, int n, SourceLine at = here());
/// The product of all, in the order with the fewest multiplications; the first and last may be vectors.
TT_LAZY Tensor multi_dot(TensorSpan all, SourceLine at = here());
/// Powers 0 to n - 1 of each element, as a last axis; NumPy's vander begins with the highest.
TT_LAZY Tensor vander(const Tensor& x, Optional<std::int64_t> n = {}, SourceLine at = here());

}  // namespace linalg
}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/linear_algebra_inl.hpp"
#endif
