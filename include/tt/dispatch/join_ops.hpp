// Joining Tensors, replacing parts, triangles: functional/join_ops.hpp as operators.
//   tt::cat({x, y, z}, 1)   tt::stack(rows)   tt::slice_scatter(x, part, 0, 3)   tt::tril(x, -1)
#pragma once
#include "tt/dispatch/tensor_list.hpp"
#include "tt/dispatch/views.hpp"
#include "tt/functional/join_ops.hpp"

namespace tt {
namespace detail {

/// Copies rows of bytes: programs, as other ops have, are specialised for sizes, and a growing list would need a new one each time.
template <>
struct HostKernel<Cat> {
  TT_INLINE static void run(Call& c, const Cat::Options& o);
  TT_INLINE static void derivative(const DerivativeStep& s, const Cat::Options& o);
};
template <>
struct HostKernel<Stack> {
  TT_INLINE static void run(Call& c, const Stack::Options& o);
  TT_INLINE static void derivative(const DerivativeStep& s, const Stack::Options& o);
};

}  // namespace detail

/// Concatenates along an axis; the other sizes are equal. The result has the highest dtype. Throws Error when the other sizes differ, when there is no Tensor,
/// or for scalars. A vector of no elements is left out beside Tensors of another rank (in NumPy an error, whose concatenate can flatten all, too).
TT_LAZY Tensor cat(TensorSpan parts, int dim = 0, SourceLine at = here());
/// Tensors of one shape along a new axis.
TT_LAZY Tensor stack(TensorSpan parts, int dim = 0, SourceLine at = here());
TT_LAZY_DEFINITION inline Tensor Tensor::tril(SizeArgument diagonal, SourceLine at) const { return tt::tril(*this, diagonal.size, at); }
TT_LAZY_DEFINITION inline Tensor Tensor::triu(SizeArgument diagonal, SourceLine at) const { return tt::triu(*this, diagonal.size, at); }

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/join_ops_inl.hpp"
#endif
