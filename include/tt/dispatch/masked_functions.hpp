// Reductions and normalisations of the elements that a mask names. Names, arguments and meanings are those of torch.masked; they are made of operators, and
// are captured and differentiated as those are.
//   tt::masked::mean(x, mask, {1})   tt::masked::softmax(scores, mask, -1)
#pragma once
#include "tt/dispatch/linear_algebra.hpp"
#include "tt/dispatch/reduction_functions.hpp"

namespace tt {

/// Of the elements where `mask`, a bool Tensor that is broadcast to x, is true; of all without one. dim {}: over all axes. Where no element is left a sum is 0, a
/// product 1, a greatest element the lowest number of the dtype, a least one the greatest, a norm 0; mean, var and median are NaN.
namespace masked {

TT_LAZY Tensor sum(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor prod(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor amax(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor amin(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
/// Places along an axis, or among all elements, of i64.
TT_LAZY Tensor argmax(const Tensor& x, const Tensor& mask, Optional<int> dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor argmin(const Tensor& x, const Tensor& mask, Optional<int> dim = {}, bool keepdim = false, SourceLine at = here());
/// Of floating elements.
TT_LAZY Tensor mean(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
/// Divided by how many there are, less correction; 0 if that is more.
TT_LAZY Tensor var(const Tensor& x, const Tensor& mask, const IntList& dim = {}, double correction = 1, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor std(const Tensor& x, const Tensor& mask, const IntList& dim = {}, double correction = 1, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor norm(const Tensor& x, const Tensor& mask, double ord = 2, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
/// The lower one of two in the middle.
TT_LAZY Tensor median(const Tensor& x, const Tensor& mask, int dim = -1, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor logsumexp(const Tensor& x, const Tensor& mask, const IntList& dim = {}, bool keepdim = false, SourceLine at = here());
TT_LAZY Tensor logaddexp(const Tensor& x, const Tensor& other, const Tensor& mask, const Tensor& other_mask, SourceLine at = here());
/// In the shape of x: elements that are left out count for nothing (0; in products 1).
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
