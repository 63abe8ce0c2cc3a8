// Elements by index. Names, arguments and meanings are PyTorch's. Indices are i64 or i32; each is compared with the size
// of its axis, and a wrong one is an Error that names it. On the host. In a captured graph they are calls between
// fused programs; what gives as many elements as it finds (nonzero, masks) ends it. Sums are taken in the order of the indices, so
// results have one value only.
//   Tensor rows = x[tt::tensor({2, 0, 2})];   Tensor large = x[x > 1];   Tensor words = tt::embedding(tokens, table);
#pragma once
#include "tt/dispatch/views.hpp"

namespace tt {

/// The slices of an axis that a vector of indices names, in its order. Has a gradient.
TT_LAZY Tensor index_select(const Tensor& x, int dim, const Tensor& index, SourceLine at = here());
/// In the shape of `index`: the element there whose place along one axis is replaced by the index. Beside the axis, sizes
/// of `index` are those of `x` or smaller. Has a gradient.
TT_LAZY Tensor gather(const Tensor& x, int dim, const Tensor& index, SourceLine at = here());
/// gather of what `x` and `index` are broadcast to beside the axis: what argsort gives sorts, what argmax(keepdim) gives takes.
/// Negative indices count from the end.
TT_LAZY Tensor take_along_dim(const Tensor& x, const Tensor& index, int dim, SourceLine at = here());
/// The rows of a table of vectors, (n, d), that indices of any shape name: (..., d). Has a gradient.
TT_LAZY Tensor embedding(const Tensor& index, const Tensor& weight, SourceLine at = here());
/// `x`, with slices of `source` added to those that a vector of indices names, one after the other. Has gradients.
TT_LAZY Tensor index_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at = here());
/// `x`, with each element of `source` that has an index added to the one that gather would take. Has gradients.
TT_LAZY Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at = here());
/// Where elements are not 0: (how many, rank) of i64, in the order of the elements.
TT_LAZY Tensor nonzero(const Tensor& x, SourceLine at = here());
/// The elements where a mask of bool is true, of what both are broadcast to, as a vector. Has a gradient.
TT_LAZY Tensor masked_select(const Tensor& x, const Tensor& mask, SourceLine at = here());

/// So that tt::call finds these operators before one of them was called.
TT_LAZY void register_index_ops();

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/index_ops_inl.hpp"
#endif
