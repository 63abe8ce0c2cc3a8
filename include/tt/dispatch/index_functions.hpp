// Functions that read and write elements by index, beside those of index_ops.hpp. Names, arguments, defaults and meanings are PyTorch's.
// None of them changes its operand; if an index occurs twice and nothing is summed, the last one counts.
//   tt::scatter(x, 1, index, src)   tt::index_put(x, {rows, columns}, values, true)   tt::masked_scatter(x, mask, source)
#pragma once
#include <cstring>

#include "tt/dispatch/index_ops.hpp"
#include "tt/dispatch/tensor_list.hpp"
#include "tt/functional/options.hpp"

namespace tt {

/// How elements with the same index are combined.
enum class ScatterReduction { sum, prod, mean, amax, amin };
template <>
inline constexpr const char* choices_of<ScatterReduction> = "sum|prod|mean|amax|amin";

/// A part of an axis: from start up to stop, by step; negative bounds count from the end. Slice() is all of it, Slice(1, none) all but the first.
struct Slice {
  std::int64_t start = 0, stop = INT64_MAX, step = 1;
  /// A number, or tt::none for the default: from the first, to the last, every element.
  struct Bound : Optional<std::int64_t> {
    constexpr Bound(NoneType) {}
    template <std::integral I>
    constexpr Bound(I n) : Optional<std::int64_t>(static_cast<std::int64_t>(n)) {}
  };
  constexpr Slice() = default;
  constexpr explicit Slice(Bound from, Bound to = None, Bound by = None) : start(from.given ? from.value : 0), stop(to.given ? to.value : INT64_MAX), step(by.given ? by.value : 1) {}
};
/// All axes that other items do not name.
struct EllipsisType {};
inline constexpr EllipsisType Ellipsis{};
/// An item in x.index({...}): a number, a Slice, Ellipsis or "...", tt::none for a new axis of extent 1, integers or a mask.
class IndexItem {
 public:
  enum class Kind { number, slice, ellipsis, new_axis, tensor };
  template <std::integral I>
    requires(!std::is_same_v<I, bool>)
  IndexItem(I i) : kind(Kind::number), slice(static_cast<std::int64_t>(i)) {}
  IndexItem(const Slice& s) : kind(Kind::slice), slice(s) {}
  IndexItem(EllipsisType) : kind(Kind::ellipsis) {}
  IndexItem(const char (&dots)[4]) : kind(Kind::ellipsis) {
    if (std::strcmp(dots, "...") != 0) TT_THROW(Error(Text("tt::index: an index is the text '") << dots << "'. Only '...' is one."));
  }
  IndexItem(NoneType) : kind(Kind::new_axis) {}
  IndexItem(const Tensor& t) : kind(Kind::tensor), tensor(t) {}
  /// A new axis: of extent 1 (true) or 0 (false).
  template <std::same_as<bool> B>
  IndexItem(B b) : IndexItem(detail::TensorOperand(b).number(DType::boolean)) {}
  Kind kind;
  Slice slice;
  Tensor tensor;
};

/// `x` with elements of `src` at the indices in `index` along an axis: src[i][j] goes to [index[i][j]][j] for axis 0.
TT_LAZY Tensor scatter(const Tensor& x, int dim, const Tensor& index, const Tensor& src, SourceLine at = here());
TT_LAZY Tensor scatter(const Tensor& x, int dim, const Tensor& index, const detail::TensorOperand& value, SourceLine at = here());
/// The same, but elements with the same index are combined, with the element of `x` too if include_self.
TT_LAZY Tensor scatter_reduce(const Tensor& x, int dim, const Tensor& index, const Tensor& src, ScatterReduction reduce, bool include_self = true, SourceLine at = here());
/// `x` with slices of `source` in place of its own at a vector of indices.
TT_LAZY Tensor index_copy(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at = here());
TT_LAZY Tensor index_fill(const Tensor& x, int dim, const Tensor& index, const Tensor& value, SourceLine at = here());
TT_LAZY Tensor index_reduce(const Tensor& x, int dim, const Tensor& index, const Tensor& source, ScatterReduction reduce, bool include_self = true, SourceLine at = here());
/// x[indices[0], indices[1], ...], as NumPy: integers that are broadcast to one shape, or masks; an undefined Tensor stands for a whole axis.
TT_LAZY Tensor index(const Tensor& x, TensorSpan indices, SourceLine at = here());
/// The same with any items. A view of `x`, if there is no Tensor among them.
TT_LAZY Tensor index(const Tensor& x, std::span<const IndexItem> items, SourceLine at = here());
namespace detail {
/// A Tensor of rank 0 as a vector of one element; back() makes a result rank 0 again.
template <class = void>
struct AxisOf {
  Tensor x;
  int d;
  bool scalar;
  AxisOf(const Tensor& given, int dim, const char* op, SourceLine at)
      : x(given.dim() ? given : given.reshape({1}, at)), d(axis_of(given, dim, op, at, given.dim() ? given.dim() : 1)), scalar(given.dim() == 0) {}
  Tensor back(const Tensor& r, SourceLine at) const { return scalar ? r.reshape({}, at) : r; }
};
TT_LAZY void write_index(Tensor& x, std::span<const IndexItem> items, const TensorOperand& value, bool accumulate, SourceLine at);
}  // namespace detail
/// `x` with `values` at these indices; accumulate: they are added to its elements.
TT_LAZY Tensor index_put(const Tensor& x, TensorSpan indices, const Tensor& values, bool accumulate = false, SourceLine at = here());
/// Elements of `x` at indices into all its elements as a vector (NumPy's take along an axis is index_select); and `x` with elements written there (NumPy's put
/// changes its operand).
TT_LAZY Tensor take(const Tensor& x, const Tensor& index, SourceLine at = here());
TT_LAZY Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, bool accumulate = false, SourceLine at = here());
/// `x` with consecutive elements of `source` where the mask is true.
TT_LAZY Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, SourceLine at = here());
/// Indices into all elements as a vector, as indices along each axis of a shape; indices beyond the end wrap around (NumPy: an error).
TT_LAZY std::vector<Tensor> unravel_index(const Tensor& indices, const IntList& shape, SourceLine at = here());
/// nonzero with a fixed number of rows: only the first ones, or rows of fill_value after the last. It does not end the graph of a capture.
TT_LAZY Tensor nonzero_static(const Tensor& x, SizeArgument size, std::int64_t fill_value = -1, SourceLine at = here());
template <class = void> Tensor argwhere(const Tensor& x, SourceLine at = here()) { return nonzero(x, at); }

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/index_functions_inl.hpp"
#endif
