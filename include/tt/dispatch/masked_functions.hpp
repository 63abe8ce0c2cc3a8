// Reductions and normalisations of the elements selected by a mask. Names, arguments and meanings are those of torch.masked; made of operators, and captured
// and differentiated like these.
//   tt::masked::mean(x, mask, {1})   tt::masked::softmax(scores, mask, -1)
#pragma once
#include "tt/dispatch/linear_algebra.hpp"
#include "tt/dispatch/reduction_functions.hpp"

namespace tt {

/// Over the elements where `mask`, a bool Tensor broadcast to x, is true; over all without a mask. dim {}: all axes. Where no element is selected, a sum is 0,
/// a product 1, a maximum the lowest number of the dtype, a minimum the highest, a norm 0 (infinity where ord is -infinity); mean, var and median are NaN.
namespace masked {

TT_LAZY Tensor sum(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor prod(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor amax(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor amin(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
/// Indices along an axis, or among all elements, i64.
TT_LAZY Tensor argmax(const Tensor& x, const Tensor& mask, Optional<int> dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor argmin(const Tensor& x, const Tensor& mask, Optional<int> dim = {}, bool keepdim = false, SourceLine at = here());
/// For floating elements.
TT_LAZY Tensor mean(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
/// Divided by the number of elements minus correction, or by 0 if that is negative.
TT_LAZY Tensor var(const Tensor& x, const Tensor& mask, const IntList& dim = {}, double correction = 1, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor std(const Tensor& x, const Tensor& mask, const IntList& dim = {}, double correction = 1, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor norm(const Tensor& x, const Tensor& mask, double ord = 2, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
/// The lower of the two middle elements.
TT_LAZY Tensor median(const Tensor& x, const Tensor& mask, int dim = -1, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor logsumexp(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor logaddexp(const Tensor& x, const Tensor& other, const Tensor& mask, const Tensor& other_mask, SourceLine at = here());
/// In the shape of x: elements not selected count as 0 (in products as 1).
TT_LAZY Tensor cumsum(const Tensor& x, const Tensor& mask, int dim, SourceLine at = here());
TT_LAZY Tensor cumprod(const Tensor& x, const Tensor& mask, int dim, SourceLine at = here());
TT_LAZY Tensor softmax(const Tensor& x, const Tensor& mask, int dim, SourceLine at = here());
TT_LAZY Tensor log_softmax(const Tensor& x, const Tensor& mask, int dim, SourceLine at = here());
TT_LAZY Tensor softmin(const Tensor& x, const Tensor& mask, int dim, SourceLine at = here());
/// Divided by their norm along an axis, or by eps if that is more.
TT_LAZY Tensor normalize(const Tensor& x, const Tensor& mask, double ord, int dim, double eps = 1e-12, SourceLine at = here());

}  // namespace masked
}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/masked_functions_inl.hpp"
#endif
