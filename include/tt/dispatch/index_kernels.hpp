// Operators that read and write elements by index, and helpers of their kernels: the axis, the indices and the rows of a call. Kernels: index_ops_inl.hpp.
#pragma once
#include <atomic>

#include "tt/dispatch/argument_checks.hpp"
#include "tt/dispatch/factories.hpp"
#include "tt/dispatch/shared_ranges.hpp"

namespace tt {
namespace detail {

// Derivatives: the gradient of a gathered element is added at the index it was read from. One function serves Tensors and symbols.

/// Zeros in the shape of argument k (only its shape is known), with the gradient's dtype and device.
inline Tensor zeros_of(const DerivativeStep& s, int k = 0) {
  return tt::zeros(s.argument[k].impl().shape, {s.gradient[0].dtype(), s.gradient[0].device()});
}
inline Sym symbol_like(const Sym& x, DType d, const Shape& shape) { return {x.graph, x.graph->constant(d, 0, shape)}; }
inline Sym zeros_of(const DerivativeRecord& s, int k = 0) { return symbol_like(s.argument[k], s.gradient[0].dtype(), s.argument[k].shape()); }
/// A symbol like `x` with `size` elements along an axis; a scalar stays a scalar.
inline Sym with_size_along(const Sym& x, int dim, Extent size, const char* op) {
  Shape s = x.shape();
  const int axis = normalize_axis(dim, s.rank ? s.rank : 1);
  if (axis < 0) return {x.graph, x.graph->fail({.mistake = Mistake::axis_out_of_range, .op = op, .a = s, .number = dim}, x.id)};
  if (s.rank > 0) s.set(axis, size);
  return symbol_like(x, x.dtype(), s);
}

/// The axis, and whether negative indices count from its end (wrap).
struct IndexOptions {
  int dim = 0;
  bool wrap = false;
};
/// Checks indices along an axis of `shape`; gives them as non-negative i64, or throws op F's error. For programs that gather themselves: plan/take_calls.hpp.
template <class F>
struct CheckPlacesOf {
  struct Options {
    int dim = 0;
    bool wrap = false;
    Sizes shape;
  };
  static constexpr OpInfo info{.name = F::check_name, .arguments = "index"};
  static constexpr bool may_share = true;
  static Sym like(const Sym& index, const Options&) { return symbol_like(index, DType::i64, index.shape()); }
  static void kernel(Call& c, const Options& o);
};
/// x, after requiring that the source has the shape `named` by the indices.
inline Sym like_written(const Sym& x, const Sym& source, const Shape& named, const char* op) {
  (void)need_shape(source, named, op);
  return x;
}
struct IndexAdd;
struct IndexSelect {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "index_select", .arguments = "input, .dim, index"};
  static constexpr const char* check_name = "_check_index_select";
  using CheckPlaces = CheckPlacesOf<IndexSelect>;
  static constexpr Batching batching = Batching::shared_index;
  static Sym like(const Sym& x, const Sym& index, const Options& o) { return with_size_along(x, o.dim, index.shape().size(), info.name); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<IndexAdd>(s.at, o, zeros_of(s), s.argument[1], s.gradient[0]); }
};
struct IndexAdd {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "index_add", .arguments = "input, .dim, index, source"};
  static constexpr Batching batching = Batching::shared_index;
  static Sym like(const Sym& x, const Sym& index, const Sym& source, const Options& o) {
    return like_written(x, source, with_size_along(x, o.dim, index.shape().size(), info.name).shape(), info.name);
  }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) {
    s.out[0] = s.gradient[0];
    s.out[2] = call_with<IndexSelect>(s.at, o, s.gradient[0], s.argument[1]);
  }
};
/// Slices at the indices replaced by slices of `source`.
struct IndexCopy {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "_index_copy", .arguments = "input, .dim, index, source"};
  static constexpr bool is_linear = true;  // of indices written twice the last tangent stays, as the last value does; each source slice has a gradient, as in PyTorch
  static constexpr Batching batching = Batching::shared_index;
  static Sym like(const Sym& x, const Sym& index, const Sym& source, const Options& o) {
    return like_written(x, source, with_size_along(x, o.dim, index.shape().size(), info.name).shape(), info.name);
  }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) {
    s.out[0] = call_with<IndexCopy>(s.at, o, s.gradient[0], s.argument[1], zeros_of(s, 2));
    s.out[2] = call_with<IndexSelect>(s.at, o, s.gradient[0], s.argument[1]);
  }
};
struct ScatterAdd;
struct Gather {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "gather", .arguments = "input, .dim, index"};
  static constexpr const char* check_name = "_check_gather";
  using CheckPlaces = CheckPlacesOf<Gather>;
  static constexpr Batching batching = Batching::along_dim;
  static Sym like(const Sym& x, const Sym& index, const Options&) { return symbol_like(x, x.dtype(), index.shape()); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<ScatterAdd>(s.at, o, zeros_of(s), s.argument[1], s.gradient[0]); }
};
struct ScatterAdd {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "scatter_add", .arguments = "input, .dim, index, src"};
  static constexpr Batching batching = Batching::along_dim;
  static Sym like(const Sym& x, const Sym& index, const Sym& src, const Options&) { return like_written(x, src, index.shape(), info.name); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) {
    s.out[0] = s.gradient[0];
    s.out[2] = call_with<Gather>(s.at, o, s.gradient[0], s.argument[1]);
  }
  static void front(Call& c, const Options& o);  ///< a longer `src` is cut to the size of `index`
};
struct Nonzero {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = "nonzero", .arguments = "input"};
  static void kernel(Call& c, const Options&);
};

inline void need_readable(const Call& c) {
  if (c[0].is_meta())
    TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": the size of the result depends on elements, and Meta Tensors have none." << c.at));
}

// ---- indices

[[noreturn]] inline void sizes_differ(const Call& c, int dim, const char* what, const Tensor& own) {
  TT_THROW(Error(Text("tt::") << c.op->name() << ": " << what << " of shape " << own.shape() << " does not fit shape " << c[0].shape() << " along axis "
                              << dim << "." << c.at));
}
/// For the dispatcher a scalar Tensor fits any device; here devices must be equal.
inline void need_device(const Call& c, int k) {
  if (c[k].device() != c[0].device())
    TT_THROW(Error(Text("tt::") << c.op->name() << ": Tensors on different devices: " << to_text(c[0].device()) << " and " << to_text(c[k].device()) << "." << c.at));
}
inline void need_indices(const Call& c) {
  need_device(c, 1);
  const DType d = c[1].dtype();
  need_index_dtype(d == DType::i64 || d == DType::i32 || (is_integral(d) && c[1].impl().numel == 0), c.op->name(), d, "i64 or i32", c.at);
}
/// The indices, contiguous and i64, each checked against the size of an axis of `shape`; the axis of a scalar has size 1.
inline Tensor checked_places(const char* op, const Tensor& places, const Shape& shape, int axis, bool wrap, SourceLine at) {
  const Tensor given = convert(places, DType::i64, at).contiguous();
  Tensor index = given;
  const std::int64_t size = shape.rank ? shape.code[axis] : 1, n = index.impl().numel;
  const auto wrong = [&] {  // out of range: the sign bit of i or of size - 1 - i is set; eight at a time make a vector loop
    const auto* i = index.data_ptr<std::int64_t>();
    const auto sign = [&](std::int64_t k) {
      const auto own = static_cast<std::uint64_t>(i[k]);
      return own | (static_cast<std::uint64_t>(size - 1) - own);
    };
    std::atomic<bool> found{false};
    in_ranges(n, 1, [&](std::int64_t k, std::int64_t end) {
      std::uint64_t signs[8] = {}, any = 0;
      for (; k + 8 <= end; k += 8)
        for (int u = 0; u < 8; ++u) signs[u] |= sign(k + u);
      for (; k < end; ++k) any |= sign(k);
      for (std::uint64_t s : signs) any |= s;
      if (static_cast<std::int64_t>(any) < 0) found.store(true, std::memory_order_relaxed);
    });
    return found.load(std::memory_order_relaxed);
  };
  if (!wrong()) return index;
  if (wrap) {
    index = index.clone();
    auto* i = index.data_ptr<std::int64_t>();
    for (std::int64_t k = 0; k < n; ++k) i[k] += i[k] < 0 ? size : 0;
    if (!wrong()) return index;
  }
  std::int64_t k = 0;
  for (const auto* i = index.data_ptr<std::int64_t>(); i[k] >= 0 && i[k] < size;) ++k;
  TT_THROW(Error(Text("tt::") << op << ": index " << given.data_ptr<std::int64_t>()[k] << " is out of range for axis " << axis << " of shape " << shape << "." << at));
}
inline Tensor checked_indices(const Call& c, int axis, bool wrap) { return checked_places(c.op->name(), c[1], c[0].impl().shape, axis, wrap, c.at); }
template <class F>
void CheckPlacesOf<F>::kernel(Call& c, const Options& o) {
  if (c[0].is_meta()) return void(c.result[0] = Tensor(DType::i64, c[0].impl().shape, c[0].device()));
  Shape shape;
  for (int k = 0; k < o.shape.count; ++k) shape.push_back(o.shape.item[k].value);
  c.result[0] = checked_places(F::info.name, c[0], shape, o.dim, o.wrap, c.at);
}

/// Calls f with a value of the dtype, after checking device and dtype of argument 2.
template <class F>
void with_number(const Call& c, const F& f) {
  need_device(c, 2);
  need_same_dtype(c.op->name(), c[0], c[2], c.at);
  if (c[0].is_meta()) return;
  with_dtype(c[0].dtype(), f);
}

/// Integers wrap around, as in every op; for bool the sum is a logical or.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else if constexpr (std::is_integral_v<T>) return wrap_add(a, b);
  else return a + b;
}
template <class T>
void add_to_row(T* __restrict to, const T* __restrict from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int j = 0; j < 16; ++j) to[i + j] = sum_of(to[i + j], from[i + j]);
  for (; i < n; ++i) to[i] = sum_of(to[i], from[i]);
}

// ---- slices of an axis

/// The axis of an op; a scalar counts as a vector of one element.
inline int axis_of(const Call& c, int dim) { return axis_of(c[0], dim, c.op->name(), c.at, c[0].dim() ? c[0].dim() : 1); }

/// A contiguous Tensor as `outer` times `size` rows of `inner` elements.
struct AroundAxis {
  std::int64_t outer = 1, size = 1, inner = 1;
  AroundAxis(const Shape& s, int axis) {
    for (int k = 0; k < s.rank; ++k) (k < axis ? outer : k == axis ? size : inner) *= s.code[k];
  }
};
/// The same for a call's first argument, with a vector of indices along the axis.
struct AxisBlocks : AroundAxis {
  int axis;
  AxisBlocks(const Call& c, int dim) : AroundAxis(c[0].impl().shape, axis_of(c, dim)), axis(axis_of(c, dim)) {
    const Shape& s = c[0].impl().shape;
    need_indices(c);
    if (c[1].dim() > 1 || (s.rank == 0 && c[1].impl().numel != 1))
      TT_THROW(Error(Text("tt::") << c.op->name() << ": indices are of shape " << c[1].shape() << ". A vector?" << c.at));
  }
  /// The shape of `t` with `rows` elements along the axis.
  Shape with_rows(const Tensor& t, std::int64_t rows) const {
    Shape s = t.impl().shape;
    if (s.rank > 0) s.set(axis, rows);
    return s;
  }
};
// ---- elements along an axis

/// If the index is expanded along all other axes, the vector of indices of whole slices; else undefined.
inline Tensor places_of_slices(const Call& c, int dim) {
  const TensorImpl &x = c[0].impl(), &index = c[1].impl();
  const int rank = x.shape.rank, axis = dim < 0 ? dim + rank : dim;
  bool repeated = rank > 1 && index.shape.rank == rank && axis >= 0 && axis < rank && !index.contiguous && !c[1].is_meta();
  for (int k = 0; k < rank && repeated; ++k) repeated = k == axis || (index.shape.code[k] == x.shape.code[k] && (index.stride[k] == 0 || index.shape.code[k] == 1));
  return repeated ? make_view(c[1], Shape{index.shape.code[axis]}, index.stride + axis, index.data) : Tensor();
}
/// Elements of a gather or scatter, row by row of the last axis; indices replace the position along `axis`.
struct AxisElements {
  int axis;
  Shape shape;                  ///< shape of the indices
  std::int64_t columns, rows;
  AxisElements(const Call& c, int dim) : axis(axis_of(c, dim)), shape(c[1].impl().shape) {
    need_indices(c);
    bool fits = shape.rank == c[0].dim() || c[1].impl().numel == 0;  // empty indices may have any rank, as in PyTorch
    for (int k = 0; k < shape.rank && fits && c[1].impl().numel > 0; ++k) fits = k == axis || shape.code[k] <= c[0].size(k);
    if (!fits) sizes_differ(c, dim, "index", c[1]);
    columns = shape.rank > 0 ? shape.code[shape.rank - 1] : 1;
    rows = columns > 0 ? c[1].impl().numel / columns : 0;
  }
  /// f(number of the first index of the row, offset in `t` of the row's element with index 0). `apart`: no two rows write the same elements, so threads share
  /// the rows.
  template <class F>
  void each_row(const Tensor& t, bool apart, const F& f) const {
    const int last = shape.rank - 2;
    const auto range = [&](std::int64_t begin, std::int64_t end) {
      each_row_place(begin, end, last < 0 ? 0 : last + 1, [&](int k) { return shape.code[last - k]; }, [&](int k) { return last - k == axis ? 0 : t.impl().stride[last - k]; },
                     [&](std::int64_t r, std::int64_t place) { f(r * columns, place); });
    };
    if (apart) in_ranges(rows, columns, range);
    else range(0, rows);
  }
  /// True if each row of indices stays in a row of its own of the result.
  bool rows_are_apart() const { return axis == shape.rank - 1; }
  /// f(number in a row, offset of the indexed element from the row's begin in `t`) for each of these indices.
  template <class F>
  void each_place(const Tensor& t, const std::int64_t* index, const F& f) const {
    if (shape.rank == 0) return f(0, index[0]);
    const auto& stride = t.impl().stride;
    const std::int64_t apart = stride[axis], step = axis == shape.rank - 1 ? 0 : stride[shape.rank - 1];
    if (apart == 1 && step == 0)
      for (std::int64_t j = 0; j < columns; ++j) f(j, index[j]);
    else
      for (std::int64_t j = 0; j < columns; ++j) f(j, index[j] * apart + j * step);
  }
};

/// The part of `source` that has the size of `index`.
inline Tensor beginning_of(const Tensor& source, const Tensor& index, SourceLine at) {
  Tensor part = source;
  for (int k = 0; k < index.dim() && k < source.dim(); ++k)
    if (index.size(k) < part.size(k)) part = part.slice(k, 0, index.size(k), 1, at);
  return part;
}

}  // namespace detail
}  // namespace tt
