// Reductions, scans and order statistics that are not one program each: made of operators, or with kernels on the host. Names, arguments, defaults and meanings
// are PyTorch's.
//   tt::prod(x, 1)   tt::cumprod(x, 0)   tt::median(x, -1)   tt::searchsorted(edges, x)
#pragma once
#include "tt/dispatch/methods.hpp"
#include "tt/dispatch/tensor_list.hpp"

namespace tt {

struct VarMeanResult {
  Tensor var, mean;
};
struct AminmaxResult {
  Tensor min, max;
};
struct HistogramResult {
  Tensor hist, bin_edges;
};
struct UniqueConsecutiveResult {
  Tensor values, inverse_indices, counts;
};

/// The product of all elements, or along one axis; integers and bool give i64.
TT_LAZY Tensor prod(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor prod(const Tensor& x, int dim, bool keepdim = false, SourceLine at = here());
/// Cumulative products along an axis.
TT_LAZY Tensor cumprod(const Tensor& x, int dim, SourceLine at = here());
TT_LAZY Tensor logcumsumexp(const Tensor& x, int dim, SourceLine at = here());
/// The maximum (minimum) so far along an axis, and its last index. NaN stays.
TT_LAZY MinMaxResult cummax(const Tensor& x, int dim, SourceLine at = here());
TT_LAZY MinMaxResult cummin(const Tensor& x, int dim, SourceLine at = here());
/// Sums and means that ignore NaN.
TT_LAZY Tensor nansum(const Tensor& x, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor nanmean(const Tensor& x, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY VarMeanResult var_mean(const Tensor& x, const IntList& dim = {}, double correction = 1, bool keepdim = false, SourceLine at = here());
TT_LAZY VarMeanResult std_mean(const Tensor& x, const IntList& dim = {}, double correction = 1, bool keepdim = false, SourceLine at = here());
TT_LAZY AminmaxResult aminmax(const Tensor& x, Optional<int> dim = {}, bool keepdim = false, SourceLine at = here());
/// The lower of the two middle elements: of all (its gradient is shared among equal elements), or along an axis with its index. NaN if there is one.
/// NumPy's median is the mean of the two, and has no index.
TT_LAZY Tensor median(const Tensor& x, SourceLine at = here());
TT_LAZY MinMaxResult median(const Tensor& x, int dim, bool keepdim = false, SourceLine at = here());
/// The same, ignoring NaN.
TT_LAZY Tensor nanmedian(const Tensor& x, SourceLine at = here());
TT_LAZY MinMaxResult nanmedian(const Tensor& x, int dim, bool keepdim = false, SourceLine at = here());
/// The most frequent element along an axis.
TT_LAZY MinMaxResult mode(const Tensor& x, int dim = -1, bool keepdim = false, SourceLine at = here());
/// The k-th smallest element along an axis, counted from 1.
TT_LAZY MinMaxResult kthvalue(const Tensor& x, std::int64_t k, int dim = -1, bool keepdim = false, SourceLine at = here());
/// Differences of neighbours along an axis, n times.
TT_LAZY Tensor diff(const Tensor& x, int n = 1, int dim = -1, const Tensor& prepend = {}, const Tensor& append = {}, SourceLine at = here());
/// The integral along an axis by the trapezoidal rule, of points `dx` apart, or at `x`; cumulative: up to each point.
TT_LAZY Tensor trapezoid(const Tensor& y, const Tensor& x, int dim = -1, SourceLine at = here());
TT_LAZY Tensor trapezoid(const Tensor& y, double dx = 1, int dim = -1, SourceLine at = here());
TT_LAZY Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int dim = -1, SourceLine at = here());
TT_LAZY Tensor cumulative_trapezoid(const Tensor& y, double dx = 1, int dim = -1, SourceLine at = here());
/// Slopes along axes (default: all) of values `spacing` apart, or at these positions: central differences; of order edge_order at the ends.
TT_LAZY std::vector<Tensor> gradient(const Tensor& x, TensorSpan spacing = {}, const IntList& dim = {}, int edge_order = 1, SourceLine at = here());
/// The greatest common divisor of integers, and their least common multiple; both are 0 for 0 and 0.
TT_LAZY Tensor gcd(const Tensor& x, const Tensor& y, SourceLine at = here());
TT_LAZY Tensor lcm(const Tensor& x, const Tensor& y, SourceLine at = here());
/// The argument as a complex number: 0 where x >= 0, pi below, NaN of NaN. f32 for integers.
TT_LAZY Tensor angle(const Tensor& x, SourceLine at = here());
/// log of the multivariate gamma function of p dimensions.
TT_LAZY Tensor mvlgamma(const Tensor& x, int p, SourceLine at = here());
/// Bit shifts; by less than 0 or by the dtype's width or more the result is 0, or (right shift of negative numbers) -1.
TT_LAZY Tensor bitwise_left_shift(const Tensor& x, const detail::TensorOperand& other, SourceLine at = here());
TT_LAZY Tensor bitwise_right_shift(const Tensor& x, const detail::TensorOperand& other, SourceLine at = here());
/// The p-norm of x - y.
TT_LAZY Tensor dist(const Tensor& x, const Tensor& y, double p = 2, SourceLine at = here());
/// Slices of an axis whose p-norm is above maxnorm, scaled down to it.
TT_LAZY Tensor renorm(const Tensor& x, double p, int dim, double maxnorm, SourceLine at = here());
/// allclose: are all elements close (see isclose)? equal: are shapes and all elements equal? Both read elements.
TT_LAZY bool allclose(const Tensor& x, const Tensor& y, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false, SourceLine at = here());
TT_LAZY bool equal(const Tensor& x, const Tensor& y, SourceLine at = here());
/// The number of elements in each of `bins` equal intervals from min to max; both 0: the minimum and maximum of x. In the dtype of x and without edges, where
/// NumPy's histogram gives integers and edges.
TT_LAZY Tensor histc(const Tensor& x, std::int64_t bins = 100, double min = 0, double max = 0, SourceLine at = here());
/// Counts, or sums of weights, between edges: `bins` equal intervals from min to max (both 0: those of x), or given edges. density: divided by width and total.
/// Floating counts in the dtype of x (NumPy: integers without weights).
TT_LAZY HistogramResult histogram(const Tensor& x, std::int64_t bins, double min = 0, double max = 0, const Tensor& weight = {}, bool density = false, SourceLine at = here());
TT_LAZY HistogramResult histogram(const Tensor& x, const Tensor& bin_edges, const Tensor& weight = {}, bool density = false, SourceLine at = here());
/// The same for points (..., n) in n dimensions, with edges for each dimension: counts (bins of each), and the edges.
struct HistogramddResult {
  Tensor hist;
  std::vector<Tensor> bin_edges;
};
TT_LAZY HistogramddResult histogramdd(const Tensor& x, TensorSpan bin_edges, const Tensor& weight = {}, bool density = false, SourceLine at = here());
/// Equal intervals, bins[k] in dimension k, of ranges (min, max for each; none: of the points).
TT_LAZY HistogramddResult histogramdd(const Tensor& x, const IntList& bins, std::span<const double> range = {}, const Tensor& weight = {}, bool density = false, SourceLine at = here());
/// How often each integer occurs, or the sum of its weights. The result's size depends on elements.
TT_LAZY Tensor bincount(const Tensor& x, const Tensor& weights = {}, std::int64_t minlength = 0, SourceLine at = here());
/// The indices at which values would be inserted into sorted rows. `right` of bucketize is the opposite of that of NumPy's digitize.
TT_LAZY Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool out_int32 = false, bool right = false, SourceLine at = here());
TT_LAZY Tensor bucketize(const Tensor& x, const Tensor& boundaries, bool out_int32 = false, bool right = false, SourceLine at = here());
/// Is each element among those of `test_elements`?
TT_LAZY Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false, bool invert = false, SourceLine at = here());
/// The first of each run of equal elements, or, with dim, of equal slices. Sizes depend on elements.
TT_LAZY UniqueConsecutiveResult unique_consecutive(const Tensor& x, bool return_inverse = false, bool return_counts = false, Optional<int> dim = {}, SourceLine at = here());

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/reduction_functions_inl.hpp"
#endif
