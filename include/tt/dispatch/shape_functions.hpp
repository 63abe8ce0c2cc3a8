// Shapes, parts and joins of Tensors, made of operators. Names, arguments, defaults and meanings are PyTorch's; PyTorch's views share memory here too.
// Captured, differentiated and batched like the operators they call. Negative axes count from the end; errors name the caller's line.
//   tt::chunk(x, 2)   tt::movedim(x, {0}, {-1})   tt::roll(x, {1}, {0})   tt::meshgrid({a, b})
#pragma once
#include <vector>

#include "tt/dispatch/factories.hpp"
#include "tt/dispatch/index_ops.hpp"
#include "tt/dispatch/join_ops.hpp"
#include "tt/dispatch/tensor_list.hpp"

namespace tt {

// ---- views
/// `length` elements of an axis, from `start` on.
TT_LAZY Tensor narrow(const Tensor& x, int dim, SizeArgument start, SizeArgument length, SourceLine at = here());
/// Two axes exchanged, as Tensor::transpose.
TT_LAZY Tensor swapaxes(const Tensor& x, int axis0, int axis1, SourceLine at = here());
/// Axes `source` moved to the positions `destination`; the others keep their order.
TT_LAZY Tensor movedim(const Tensor& x, const IntList& source, const IntList& destination, SourceLine at = here());
/// Without axes of extent 1: all of them, or those of `dim`, of which others stay (in NumPy they are an error).
TT_LAZY Tensor squeeze(const Tensor& x, const IntList& dim = {}, SourceLine at = here());
/// Axes start_dim to end_dim joined to one: a view where strides allow it, where NumPy's flatten always copies.
TT_LAZY Tensor flatten(const Tensor& x, int start_dim = 0, int end_dim = -1, SourceLine at = here());
template <class = void> Tensor ravel(const Tensor& x, SourceLine at = here()) { return x.reshape({-1}, at); }
/// One axis split into several; one of the sizes may be -1.
TT_LAZY Tensor unflatten(const Tensor& x, int dim, const IntList& sizes, SourceLine at = here());
/// Parts of `size` elements along an axis; the last may be smaller. A number given to NumPy's split is that of the parts: tensor_split.
TT_LAZY TensorList split(const Tensor& x, std::int64_t size, int dim = 0, SourceLine at = here());
/// Parts of these sizes, whose sum is the axis's size. NumPy's split takes the indices at which parts begin: tensor_split.
TT_LAZY TensorList split(const Tensor& x, const IntList& sizes, int dim = 0, SourceLine at = here());
/// At most `chunks` parts of equal size; the last may be smaller.
TT_LAZY TensorList chunk(const Tensor& x, int chunks, int dim = 0, SourceLine at = here());
/// Exactly `sections` parts, the first ones larger by one; or parts that begin at `indices`. NumPy's array_split.
TT_LAZY TensorList tensor_split(const Tensor& x, int sections, int dim = 0, SourceLine at = here());
TT_LAZY TensorList tensor_split(const Tensor& x, const IntList& indices, int dim = 0, SourceLine at = here());
namespace detail {
template <class = void>
TensorList equal_parts(const Tensor& x, int sections, int dim, const char* op, SourceLine at) {
  if (sections < 1 || !(x.size(dim, at) % sections == 0)) TT_THROW(Error(Text("tt::") << op << ": axis " << dim << " of shape " << x.shape() << " cannot be divided into " << sections << " parts." << at));
  return tensor_split(x, sections, dim, at);
}
}  // namespace detail
/// Equal parts along axis 1 (0 for vectors), 0, 2; or parts that begin at `indices`: hsplit(x, 2) gives two halves, hsplit(x, {2}) begins the second part at 2.
/// Throws Error where the axis is not divisible.
template <std::integral I> TensorList hsplit(const Tensor& x, I sections, SourceLine at = here()) { return detail::equal_parts(x, detail::saturated<int>(sections), x.dim() == 1 ? 0 : 1, "hsplit", at); }
template <class = void> TensorList hsplit(const Tensor& x, const IntList& indices, SourceLine at = here()) { return tensor_split(x, indices, x.dim() == 1 ? 0 : 1, at); }
template <std::integral I> TensorList vsplit(const Tensor& x, I sections, SourceLine at = here()) { return detail::equal_parts(x, detail::saturated<int>(sections), 0, "vsplit", at); }
template <class = void> TensorList vsplit(const Tensor& x, const IntList& indices, SourceLine at = here()) { return tensor_split(x, indices, 0, at); }
template <std::integral I> TensorList dsplit(const Tensor& x, I sections, SourceLine at = here()) { return detail::equal_parts(x, detail::saturated<int>(sections), 2, "dsplit", at); }
template <class = void> TensorList dsplit(const Tensor& x, const IntList& indices, SourceLine at = here()) { return tensor_split(x, indices, 2, at); }
/// The slices along an axis, without that axis.
TT_LAZY TensorList unbind(const Tensor& x, int dim = 0, SourceLine at = here());
/// The diagonal of axes dim1 and dim2 (index in dim2 minus index in dim1 is `offset`), as a last axis.
TT_LAZY Tensor diagonal(const Tensor& x, int offset = 0, int dim1 = 0, int dim2 = 1, SourceLine at = here());
/// The elements of the storage of `x` at these sizes and strides. Ends a captured graph, whose values have no storage. Throws Error when they reach beyond the
/// storage.
TT_LAZY Tensor as_strided(const Tensor& x, const IntList& size, const IntList& stride, Optional<std::int64_t> storage_offset = {}, SourceLine at = here());
/// A contiguous copy of x in which the elements shown by as_strided are those of src.
TT_LAZY Tensor as_strided_scatter(const Tensor& x, const Tensor& src, const IntList& size, const IntList& stride, Optional<std::int64_t> storage_offset = {}, SourceLine at = here());
/// All expanded to their common broadcast shape.
TT_LAZY TensorList broadcast_tensors(TensorSpan all, SourceLine at = here());

namespace detail {
/// The shape of two operands together. Throws Error when they do not broadcast.
template <class = void>
IntList broadcast_together(const char* op, const IntList& a, const IntList& b, SourceLine at) {
  IntList joined = b.size() > a.size() ? b : a;
  const IntList& shorter = b.size() > a.size() ? a : b;
  for (int k = 0; k < shorter.size(); ++k) {
    const int j = joined.size() - shorter.size() + k;
    const Size own = shorter[k], other = joined[j];
    if (other == 1) joined[j] = own;
    else if (!(own == 1) && own != other) TT_THROW(Error(Text("tt::") << op << ": shapes do not broadcast: " << a << " and " << b << "." << at));
  }
  return joined;
}
/// At least `rank` axes: added in front, as NumPy's atleast_nd; a third axis is added behind.
template <class = void>
Tensor at_least(const Tensor& x, int rank, SourceLine at) {
  Tensor r = x;
  if (rank >= 1 && r.dim() == 0) r = r.reshape({1}, at);
  if (rank >= 2 && r.dim() == 1) r = r.unsqueeze(0, at);
  if (rank >= 3 && r.dim() == 2) r = r.unsqueeze(-1, at);
  return r;
}
template <class = void>
TensorList each_at_least(TensorSpan all, int rank, SourceLine at) {
  TensorList r;
  for (const Tensor& t : all) r.push_back(at_least(t, rank, at));
  return r;
}
}  // namespace detail

/// The common shape of up to four that broadcast, as `broadcast_shapes(x.shape(), {3, 1})`; no Tensor is made. Throws Error when they do not.
template <class = void>
IntList broadcast_shapes(const IntList& a, const IntList& b = {}, const IntList& c = {}, const IntList& d = {}, SourceLine at = here()) {
  IntList all = a;
  for (const IntList* const more : {&b, &c, &d}) all = detail::broadcast_together("broadcast_shapes", all, *more, at);
  return all;
}

// ---- joins
TT_LAZY Tensor hstack(TensorSpan all, SourceLine at = here());
TT_LAZY Tensor vstack(TensorSpan all, SourceLine at = here());
TT_LAZY Tensor dstack(TensorSpan all, SourceLine at = here());
TT_LAZY Tensor column_stack(TensorSpan all, SourceLine at = here());
/// Vectors as the axes of a grid, each expanded to the grid. indexing: "ij" or "xy", which is NumPy's default.
TT_LAZY TensorList meshgrid(TensorSpan all, std::string_view indexing = "ij", SourceLine at = here());
TT_LAZY Tensor cartesian_prod(TensorSpan all, SourceLine at = here());
/// Choices of r elements of a vector, in index order.
TT_LAZY Tensor combinations(const Tensor& x, int r = 2, bool with_replacement = false, SourceLine at = here());

// ---- copies
/// The whole repeated along each axis; with more numbers than axes, axes are added in front. NumPy's tile; its repeat is repeat_interleave.
TT_LAZY Tensor repeat(const Tensor& x, const IntList& repeats, SourceLine at = here());
/// repeat; fewer numbers than axes are for the last axes, as in NumPy's tile.
TT_LAZY Tensor tile(const Tensor& x, const IntList& dims, SourceLine at = here());
/// Each element, or each slice of an axis, `repeats` times: NumPy's repeat.
TT_LAZY Tensor repeat_interleave(const Tensor& x, SizeArgument repeats, Optional<int> dim = {}, SourceLine at = here());
/// Each slice as often as its entry of `repeats` says: sizes depend on elements.
TT_LAZY Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, Optional<int> dim = {}, SourceLine at = here());
/// The order along these axes reversed, which must be named (NumPy: all by default).
TT_LAZY Tensor flip(const Tensor& x, const IntList& dims, SourceLine at = here());
/// Elements shifted along axes; those beyond the end wrap around. Without axes, as a vector.
TT_LAZY Tensor roll(const Tensor& x, const IntList& shifts, const IntList& dims = {}, SourceLine at = here());
TT_LAZY Tensor fliplr(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor flipud(const Tensor& x, SourceLine at = here());
/// Rotated by k times 90 degrees, from the first axis to the second.
TT_LAZY Tensor rot90(const Tensor& x, int k = 1, const IntList& dims = {0, 1}, SourceLine at = here());
/// A vector as the diagonal of a square matrix of zeros; or the diagonal of a matrix (a copy).
TT_LAZY Tensor diag(const Tensor& x, int diagonal = 0, SourceLine at = here());
/// Vectors along the last axis as diagonals of matrices of zeros, in axes dim1 and dim2.
TT_LAZY Tensor diag_embed(const Tensor& x, int offset = 0, int dim1 = -2, int dim2 = -1, SourceLine at = here());
/// The elements of x, as a vector, on a diagonal of a matrix of zeros.
template <class = void> Tensor diagflat(const Tensor& x, int offset = 0, SourceLine at = here()) { return diag_embed(x.reshape({-1}, at), offset, 0, 1, at); }
/// The values `pad` adds: a constant, the elements mirrored at the edge, the edge element, or elements from the other end.
enum class PadMode { constant, reflect, replicate, circular };
template <>
inline constexpr const char* choices_of<PadMode> = "constant|reflect|replicate|circular";
/// pad: counts for the last axis first (before, behind), then for the axis before it; negative counts cut. NumPy's begin with the first axis, and its edge
/// and wrap are replicate and circular.
TT_LAZY Tensor pad(const Tensor& x, const IntList& pad, PadMode mode, double value = 0, SourceLine at = here());
/// `x` with `src` in place of one slice.
TT_LAZY Tensor select_scatter(const Tensor& x, const Tensor& src, int dim, SizeArgument index, SourceLine at = here());
/// `x` with `src` in place of a diagonal.
TT_LAZY Tensor diagonal_scatter(const Tensor& x, const Tensor& src, int offset = 0, int dim1 = 0, int dim2 = 1, SourceLine at = here());
/// `x` with `src` in place of the elements of a slice with a step.
TT_LAZY Tensor slice_scatter(const Tensor& x, const Tensor& src, int dim, SizeArgument start, SizeArgument end, SizeArgument step = 1, SourceLine at = here());
template <class = void> Tensor slice_scatter(const Tensor& x, const Tensor& src, int dim = 0, CallLine at = here()) { return slice_scatter(x, src, dim, 0, INT64_MAX, 1, at); }
/// The sum over broadcast axes, to this shape.
TT_LAZY Tensor sum_to_size(const Tensor& x, const IntList& size, SourceLine at = here());

// ---- creation
/// `steps` evenly spaced numbers from start to end, both included; f32 unless options say otherwise. NumPy's are f64, and may leave the end out.
TT_LAZY Tensor linspace(double start, double end, std::int64_t steps, TensorOptions o = {}, SourceLine at = here());
/// base to the powers linspace(start, end, steps).
TT_LAZY Tensor logspace(double start, double end, std::int64_t steps, double base = 10, TensorOptions o = {}, SourceLine at = here());
/// Ones on the diagonal of an n x m matrix.
TT_LAZY Tensor eye(SizeArgument n, SizeArgument m, TensorOptions o = {}, SourceLine at = here());
/// Uninitialised elements with these strides; or with axes in this memory order.
TT_LAZY Tensor empty_strided(const IntList& size, const IntList& stride, TensorOptions o = {}, SourceLine at = here());
TT_LAZY Tensor empty_permuted(const IntList& size, const IntList& physical_layout, TensorOptions o = {}, SourceLine at = here());
/// Like x, with all elements equal to a number or a scalar Tensor.
template <class = void> Tensor fill(const Tensor& x, const detail::TensorOperand& value, SourceLine at = here()) {
  if (value.tensor && value.tensor->dim() != 0) TT_THROW(Error(Text("tt::fill: the value has shape ") << value.tensor->shape(at) << ". A number?" << at));
  return tt::where(full({}, 0, detail::on_device(DType::boolean, x.device())), x, value.beside(x).to(x.dtype(), at), at);
}
/// True everywhere: no element is complex.
template <class = void> Tensor isreal(const Tensor& x, SourceLine at = here()) { return ones(x.shape(at), detail::on_device(DType::boolean, x.device()), at); }
/// Indices of the lower (upper) triangle of a matrix, row by row: (2, number of elements), i64 (NumPy: a tuple of two arrays).
TT_LAZY Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0, SourceLine at = here());
TT_LAZY Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0, SourceLine at = here());

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/shape_functions_inl.hpp"
#endif
