// Elements by index. Names, arguments and meanings are PyTorch's. Indices are i64 or i32; each is checked against the size of its axis, and the error names the
// wrong one. Runs on the host; in a captured graph these ops are calls between fused programs. Ops whose result size depends on elements (nonzero, masks) end a
// captured graph. Sums are taken in the order of the indices, so results are deterministic.
//   Tensor rows = x[tt::tensor({2, 0, 2})];   Tensor large = x[x > 1];   Tensor words = tt::embedding(tokens, table);
#pragma once
#include "tt/dispatch/views.hpp"

namespace tt {

/// The slices of an axis named by a vector of indices, in its order. Has a gradient.
TT_LAZY Tensor index_select(const Tensor& x, int dim, const Tensor& index, SourceLine at = here());
/// result[i][j] = x[index[i][j]][j] for dim 0, in the shape of `index`; along other axes `index` has the size of `x` or less. Has a gradient.
TT_LAZY Tensor gather(const Tensor& x, int dim, const Tensor& index, SourceLine at = here());
/// gather with `x` and `index` broadcast to each other along the other axes: sorts with argsort's result, picks with argmax(keepdim)'s. Negative indices count
/// from the end.
TT_LAZY Tensor take_along_dim(const Tensor& x, const Tensor& index, int dim, SourceLine at = here());
/// Rows of a table (n, d), for indices of any shape: (..., d). Has a gradient.
TT_LAZY Tensor embedding(const Tensor& index, const Tensor& weight, SourceLine at = here());
/// `x`, with slices of `source` added one after the other to the slices named by a vector of indices. Has gradients.
TT_LAZY Tensor index_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at = here());
/// `x`, with each element of `source` that has an index added to the element that gather would read. Has gradients.
TT_LAZY Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at = here());
/// Indices of the elements that are not 0: (number of them, rank), i64, in row-major order: NumPy's argwhere. Its nonzero, a vector for each axis, is where(x).
TT_LAZY Tensor nonzero(const Tensor& x, SourceLine at = here());
/// The elements of `x` where a bool mask is true, after broadcasting both, as a vector. Has a gradient.
TT_LAZY Tensor masked_select(const Tensor& x, const Tensor& mask, SourceLine at = here());

/// Registers these operators, so that tt::call finds them before their first use.
TT_LAZY void register_index_ops();

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/index_ops_inl.hpp"
#endif
