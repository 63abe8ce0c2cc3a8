// Elements written and read by index, beside those of index_ops.hpp. Names, arguments, defaults and meanings are PyTorch's. None of them changes its operand; of
// places that are named twice the last one counts where nothing is summed.
//   tt::scatter(x, 1, index, src)   tt::index_put(x, {rows, columns}, values, true)   tt::masked_scatter(x, mask, source)
#pragma once
#include "tt/dispatch/index_ops.hpp"

namespace tt {

/// How elements that meet are joined.
enum class ScatterReduction { sum, prod, mean, amax, amin };
template <>
inline constexpr const char* choices_of<ScatterReduction> = "sum|prod|mean|amax|amin";

/// `x` with elements of `src` in the places that `index` names along an axis: src[i][j] goes to [index[i][j]][j] for axis 0.
TT_LAZY Tensor scatter(const Tensor& x, int dim, const Tensor& index, const Tensor& src, SourceLine at = here());
TT_LAZY Tensor scatter(const Tensor& x, int dim, const Tensor& index, double value, SourceLine at = here());
/// The same, joined with what is there, or only among themselves.
TT_LAZY Tensor scatter_reduce(const Tensor& x, int dim, const Tensor& index, const Tensor& src, ScatterReduction reduce, bool include_self = true, SourceLine at = here());
/// Slices of `source` in place of those that a vector of indices names.
TT_LAZY Tensor index_copy(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at = here());
TT_LAZY Tensor index_fill(const Tensor& x, int dim, const Tensor& index, const Tensor& value, SourceLine at = here());
TT_LAZY Tensor index_reduce(const Tensor& x, int dim, const Tensor& index, const Tensor& source, ScatterReduction reduce, bool include_self = true, SourceLine at = here());
/// x[indices[0], indices[1], ...], as NumPy: integers that are broadcast to one shape, or masks; an undefined Tensor stands for a whole axis.
TT_LAZY Tensor index(const Tensor& x, std::span<const Tensor> indices, SourceLine at = here());
/// `x` with `values` there; accumulate: added.
TT_LAZY Tensor index_put(const Tensor& x, std::span<const Tensor> indices, const Tensor& values, bool accumulate = false, SourceLine at = here());
/// Elements of `x` as a vector, and back.
TT_LAZY Tensor take(const Tensor& x, const Tensor& index, SourceLine at = here());
TT_LAZY Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate = false, SourceLine at = here());
/// Elements of `source`, one after the other, where the mask is true.
TT_LAZY Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, SourceLine at = here());
template <class = void> Tensor argwhere(const Tensor& x, SourceLine at = here()) { return nonzero(x, at); }

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/index_functions_inl.hpp"
#endif
