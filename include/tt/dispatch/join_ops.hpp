// Joining Tensors, replacing parts, triangles: functional/join_ops.hpp as operators.
//   tt::cat({x, y, z}, 1)   tt::stack(rows)   tt::slice_scatter(x, part, 0, 3)   tt::tril(x, -1)
#pragma once
#include "tt/dispatch/views.hpp"
#include "tt/functional/join_ops.hpp"

namespace tt {
namespace detail {

TT_INLINE Operator& cat_operator();

}  // namespace detail

/// Tensors one behind the other along an axis; their other sizes are equal. Of dtypes the highest. Throws Error when sizes
/// beside the axis differ, or when there is no Tensor, or one without axes.
TT_INLINE Tensor cat(std::span<const Tensor> parts, int dim = 0, SourceLine at = here());
inline Tensor cat(std::initializer_list<Tensor> parts, int dim = 0, SourceLine at = here()) {
  return cat(std::span(parts.begin(), parts.size()), dim, at);
}
/// Tensors of one shape along a new axis.
TT_INLINE Tensor stack(std::span<const Tensor> parts, int dim = 0, SourceLine at = here());
inline Tensor stack(std::initializer_list<Tensor> parts, int dim = 0, SourceLine at = here()) {
  return stack(std::span(parts.begin(), parts.size()), dim, at);
}
inline Tensor Tensor::tril(SizeArgument diagonal, SourceLine at) const { return tt::tril(*this, diagonal.size, at); }
inline Tensor Tensor::triu(SizeArgument diagonal, SourceLine at) const { return tt::triu(*this, diagonal.size, at); }

namespace detail {

template <int Axis>
struct TensorFunction<CatFn<Axis>> {
  static Tensor run(SourceLine at, const auto&... a) { return tt::cat({a...}, Axis, at); }
};
template <int Axis>
struct TensorFunction<StackFn<Axis>> {
  static Tensor run(SourceLine at, const auto&... a) { return tt::stack({a...}, Axis, at); }
};

}  // namespace detail
}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/join_ops_inl.hpp"
#endif
