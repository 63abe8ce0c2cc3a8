// Joining Tensors, replacing parts, triangles: functional/join_ops.hpp as operators.
//   tt::cat({x, y, z}, 1)   tt::stack(rows)   tt::slice_scatter(x, part, 0, 3)   tt::tril(x, -1)
#pragma once
#include "tt/dispatch/views.hpp"
#include "tt/functional/join_ops.hpp"

namespace tt {
namespace detail {

TT_INLINE Operator& cat_operator();
TT_INLINE void record_slice_scatter(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_tril(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_triu(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
inline Operator& slice_scatter_operator() {
  static Operator& op = define_recorded("slice_scatter", 2, &record_slice_scatter, "int dim=0, int start=0");
  return op;
}
inline Operator& tril_operator() {
  static Operator& op = define_recorded("tril", 1, &record_tril, "int diagonal=0");
  return op;
}
inline Operator& triu_operator() {
  static Operator& op = define_recorded("triu", 1, &record_triu, "int diagonal=0");
  return op;
}

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
/// `base` with `part` in place of its elements from `start` on along an axis. `base` keeps its elements.
TT_INLINE Tensor slice_scatter(const Tensor& base, const Tensor& part, int dim, SizeArgument start, SourceLine at = here());
/// The lower triangle of a matrix, or of each of several: zeros above the diagonal number `diagonal`, which is kept.
TT_INLINE Tensor tril(const Tensor& x, SizeArgument diagonal, SourceLine at = here());
/// The upper triangle: zeros below the diagonal.
TT_INLINE Tensor triu(const Tensor& x, SizeArgument diagonal, SourceLine at = here());
inline Tensor Tensor::tril(SizeArgument diagonal, SourceLine at) const { return tt::tril(*this, diagonal, at); }
inline Tensor Tensor::triu(SizeArgument diagonal, SourceLine at) const { return tt::triu(*this, diagonal, at); }

namespace detail {

template <int Axis>
struct TensorFunction<CatFn<Axis>> {
  static Tensor run(SourceLine at, const auto&... a) { return tt::cat({a...}, Axis, at); }
};
template <int Axis>
struct TensorFunction<StackFn<Axis>> {
  static Tensor run(SourceLine at, const auto&... a) { return tt::stack({a...}, Axis, at); }
};
template <int Axis, std::int64_t Start>
struct TensorFunction<SliceScatterFn<Axis, Start>> {
  static Tensor run(SourceLine at, const Tensor& base, const Tensor& part) { return tt::slice_scatter(base, part, Axis, Start, at); }
};
template <std::int64_t Diagonal, bool Lower>
struct TensorFunction<TriangleFn<Diagonal, Lower>> {
  static Tensor run(SourceLine at, const Tensor& x) { return Lower ? tt::tril(x, Diagonal, at) : tt::triu(x, Diagonal, at); }
};

}  // namespace detail
}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/join_ops_inl.hpp"
#endif
