// Definitions of index_ops.hpp: operators with kernels of their own, loops over rows.
#pragma once
#include <cstring>

#include "tt/dispatch/factories.hpp"
#include "tt/dispatch/index_ops.hpp"

namespace tt {
namespace detail {

// Derivatives: what is taken from a place is added to it. One function serves Tensors and symbols.

/// Of the argument, whose shape is all that is known, where its gradient is.
inline Tensor zeros_of(const DerivativeStep& s) {
  return tt::zeros(s.argument[0].impl().shape, {s.gradient[0].dtype(), s.gradient[0].device()});
}
inline Sym symbol_like(const Sym& x, DType d, const Shape& shape) { return {x.graph, x.graph->constant(d, 0, shape)}; }
inline Sym zeros_of(const DerivativeRecord& s) { return symbol_like(s.argument[0], s.gradient[0].dtype(), s.argument[0].shape()); }
/// A symbol like `x` with so many elements along an axis; a single element has none.
inline Sym with_size_along(const Sym& x, int dim, Extent size, const char* op) {
  Shape s = x.shape();
  const int axis = normalize_axis(dim, s.rank ? s.rank : 1);
  if (axis < 0) return {x.graph, x.graph->fail({.mistake = Mistake::axis_out_of_range, .op = op, .a = s, .number = dim}, x.id)};
  if (s.rank > 0) s.set(axis, size);
  return symbol_like(x, x.dtype(), s);
}

/// An axis, and whether negative indices count from its end.
struct IndexOptions {
  int dim = 0;
  bool wrap = false;
};
struct IndexAdd;
struct IndexSelect {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "index_select", .arguments = "input, .dim, index"};
  static Sym like(const Sym& x, const Sym& index, const Options& o) { return with_size_along(x, o.dim, index.shape().size(), info.name); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<IndexAdd>(s.at, o, zeros_of(s), s.argument[1], s.gradient[0]); }
};
struct IndexAdd {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "index_add", .arguments = "input, .dim, index, source"};
  static Sym like(const Sym& x, const Sym&, const Sym&, const Options&) { return x; }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) {
    s.out[0] = s.gradient[0];
    s.out[2] = call_with<IndexSelect>(s.at, o, s.gradient[0], s.argument[1]);
  }
};
struct ScatterAdd;
struct Gather {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "gather", .arguments = "input, .dim, index"};
  static Sym like(const Sym& x, const Sym& index, const Options&) { return symbol_like(x, x.dtype(), index.shape()); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<ScatterAdd>(s.at, o, zeros_of(s), s.argument[1], s.gradient[0]); }
};
struct ScatterAdd {
  using Options = IndexOptions;
  static constexpr OpInfo info{.name = "scatter_add", .arguments = "input, .dim, index, src"};
  static Sym like(const Sym& x, const Sym&, const Sym&, const Options&) { return x; }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) {
    s.out[0] = s.gradient[0];
    s.out[2] = call_with<Gather>(s.at, o, s.gradient[0], s.argument[1]);
  }
  static void front(Call& c, const Options& o);  ///< of a longer `src` the beginning is taken
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
/// A Tensor without axes is on any device, to the dispatcher; not here.
inline void need_device(const Call& c, int k) {
  if (c[k].device() != c[0].device())
    TT_THROW(Error(Text("tt::") << c.op->name() << ": Tensors on different devices: " << tt::name(c[0].device().type) << " and "
                                << tt::name(c[k].device().type) << "." << c.at));
}
inline void need_indices(const Call& c) {
  need_device(c, 1);
  const DType d = c[1].dtype();
  if (d != DType::i64 && d != DType::i32)
    TT_THROW(Error(Text("tt::") << c.op->name() << ": indices are " << tt::name(d) << ". i64 or i32?" << c.at));
}
/// Dense and of i64, each within its axis.
inline Tensor checked_indices(const Call& c, int axis, bool wrap) {
  Tensor index = convert(c[1], DType::i64, c.at).contiguous();
  const std::int64_t size = c[0].dim() ? c[0].impl().shape.code[axis] : 1, n = index.impl().numel;
  const auto wrong = [&] {  // the sign of either is that of a wrong one; eight at a time are a vector
    const auto* i = index.data_ptr<std::int64_t>();
    const auto sign = [&](std::int64_t k) {
      const auto own = static_cast<std::uint64_t>(i[k]);
      return own | (static_cast<std::uint64_t>(size - 1) - own);
    };
    std::uint64_t signs[8] = {}, any = 0;
    std::int64_t k = 0;
    for (; k + 8 <= n; k += 8)
      for (int u = 0; u < 8; ++u) signs[u] |= sign(k + u);
    for (; k < n; ++k) any |= sign(k);
    for (std::uint64_t s : signs) any |= s;
    return static_cast<std::int64_t>(any) < 0;
  };
  if (!wrong()) return index;
  if (wrap) {
    index = index.clone();
    auto* i = index.data_ptr<std::int64_t>();
    for (std::int64_t k = 0; k < n; ++k) i[k] += i[k] < 0 ? size : 0;
    if (!wrong()) return index;
  }
  const Tensor given = convert(c[1], DType::i64, c.at).contiguous();
  std::int64_t k = 0;
  for (const auto* i = index.data_ptr<std::int64_t>(); i[k] >= 0 && i[k] < size;) ++k;
  TT_THROW(Error(Text("tt::") << c.op->name() << ": index " << given.data_ptr<std::int64_t>()[k] << " is out of range for axis " << axis << " of shape "
                              << c[0].shape() << "." << c.at));
}

/// f with an unsigned integer of an element's size: what only moves elements needs no more.
template <class F>
void with_element_size(DType d, const F& f) {
  switch (size_of(d)) {
    case 1: f(std::uint8_t{}); break;
    case 2: f(std::uint16_t{}); break;
    case 4: f(std::uint32_t{}); break;
    default: f(std::uint64_t{});
  }
}
/// f with a number of the dtype, bool apart.
template <class F>
void with_number(const Call& c, const F& f) {
  need_device(c, 2);
  if (c[0].dtype() == DType::boolean || c[2].dtype() != c[0].dtype())
    TT_THROW(Error(Text("tt::") << c.op->name() << ": " << tt::name(c[2].dtype()) << " cannot be added to " << tt::name(c[0].dtype())
                                << ". Cast one of them first?" << c.at));
  if (c[0].is_meta()) return;
  with_dtype(c[0].dtype(), [&]<class T>(T t) {
    if constexpr (!std::is_same_v<T, bool>) f(t);
  });
}

/// Integers wrap around, as in every op.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) return wrap_add(a, b);
  else return a + b;
}

// ---- slices of an axis

/// The axis of an op; what has no axes is a vector of one element.
inline int axis_of(const Call& c, int dim) { return axis_of(c[0], dim, c.op->name(), c.at, c[0].dim() ? c[0].dim() : 1); }

/// A dense Tensor as `outer` times `size` rows of `inner` elements.
struct AxisBlocks {
  int axis;
  std::int64_t outer = 1, size = 1, inner = 1;
  AxisBlocks(const Call& c, int dim) : axis(axis_of(c, dim)) {
    const Shape& s = c[0].impl().shape;
    for (int k = 0; k < s.rank; ++k) (k < axis ? outer : k == axis ? size : inner) *= s.code[k];
    need_indices(c);
    if (c[1].dim() > 1 || (s.rank == 0 && c[1].impl().numel != 1))
      TT_THROW(Error(Text("tt::") << c.op->name() << ": indices are of shape " << c[1].shape() << ". A vector?" << c.at));
  }
  /// The shape of `t` with so many rows along the axis.
  Shape with_rows(const Tensor& t, std::int64_t rows) const {
    Shape s = t.impl().shape;
    if (s.rank > 0) s.set(axis, rows);
    return s;
  }
};
TT_INLINE void IndexSelect::kernel(Call& c, const Options& o) {
  const AxisBlocks b(c, o.dim);
  Tensor result(c[0].dtype(), b.with_rows(c[0], c[1].impl().numel), c[0].device());
  c.result[0] = result;
  if (c[0].is_meta()) return;
  const Tensor dense = c[0].contiguous(), index = checked_indices(c, b.axis, o.wrap);
  const auto* place = index.data_ptr<std::int64_t>();
  const std::int64_t count = index.impl().numel;
  with_element_size(result.dtype(), [&]<class T>(T) {
    const auto* from = static_cast<const T*>(dense.data());
    auto* to = static_cast<T*>(result.data());
    for (std::int64_t k = 0; k < b.outer; ++k, from += b.size * b.inner, to += count * b.inner) {
      if (b.inner == 1)
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[place[i]];
      else
        for (std::int64_t i = 0; i < count && b.inner > 0; ++i)
          std::memcpy(to + i * b.inner, from + place[i] * b.inner, static_cast<std::size_t>(b.inner) * sizeof(T));
    }
  });
}
TT_INLINE void IndexAdd::kernel(Call& c, const Options& o) {
  const AxisBlocks b(c, o.dim);
  if (!(c[2].impl().shape == b.with_rows(c[0], c[1].impl().numel))) sizes_differ(c, o.dim, "source", c[2]);
  c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device());
  with_number(c, [&]<class T>(T) {
    const Tensor source = c[2].contiguous(), index = checked_indices(c, b.axis, o.wrap);
    Tensor& result = c.result[0].copy_(c[0].detach());
    const auto* place = index.data_ptr<std::int64_t>();
    const auto* from = source.data_ptr<T>();
    auto* to = result.data_ptr<T>();
    for (std::int64_t n = 0; n < b.outer; ++n, to += b.size * b.inner)
      for (std::int64_t k = 0; k < index.impl().numel; ++k, from += b.inner)
        for (std::int64_t i = 0; i < b.inner; ++i) to[place[k] * b.inner + i] = sum_of(to[place[k] * b.inner + i], from[i]);
  });
}

// ---- elements along an axis

/// The elements of a Tensor beside the axis that indices replace, row by row of their last axis.
struct AxisElements {
  int axis;
  Shape shape;                  ///< of the indices
  std::int64_t columns, rows;
  AxisElements(const Call& c, int dim) : axis(axis_of(c, dim)), shape(c[1].impl().shape) {
    need_indices(c);
    bool fits = shape.rank == c[0].dim();
    for (int k = 0; k < shape.rank && fits; ++k) fits = k == axis || shape.code[k] <= c[0].size(k);
    if (!fits) sizes_differ(c, dim, "index", c[1]);
    columns = shape.rank > 0 ? shape.code[shape.rank - 1] : 1;
    rows = columns > 0 ? c[1].impl().numel / columns : 0;
  }
  /// f(first element of the row among the indices, place of it in `t` if its index were 0).
  template <class F>
  void each_row(const Tensor& t, const F& f) const {
    std::int64_t at[max_rank] = {}, base = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      f(r * columns, base);
      for (int k = shape.rank - 2; k >= 0; --k) {
        const std::int64_t step = k == axis ? 0 : t.stride(k);
        base += step;
        if (++at[k] < shape.code[k]) break;
        base -= step * shape.code[k];
        at[k] = 0;
      }
    }
  }
  /// f(number in a row, place of that element in the row of `t`) for each of these indices.
  template <class F>
  void each_place(const Tensor& t, const std::int64_t* index, const F& f) const {
    if (shape.rank == 0) return f(0, index[0]);
    const std::int64_t apart = t.stride(axis), step = axis == shape.rank - 1 ? 0 : t.stride(shape.rank - 1);
    if (apart == 1 && step == 0)
      for (std::int64_t j = 0; j < columns; ++j) f(j, index[j]);
    else
      for (std::int64_t j = 0; j < columns; ++j) f(j, index[j] * apart + j * step);
  }
};
TT_INLINE void Gather::kernel(Call& c, const Options& o) {
  const AxisElements e(c, o.dim);
  Tensor result(c[0].dtype(), e.shape, c[0].device());
  c.result[0] = result;
  if (c[0].is_meta()) return;
  const Tensor index = checked_indices(c, e.axis, o.wrap);
  with_element_size(result.dtype(), [&]<class T>(T) {
    e.each_row(c[0], [&](std::int64_t first, std::int64_t base) {
      const auto* from = static_cast<const T*>(c[0].data()) + base;
      auto* to = static_cast<T*>(result.data()) + first;
      e.each_place(c[0], index.data_ptr<std::int64_t>() + first, [&](std::int64_t j, std::int64_t place) { to[j] = from[place]; });
    });
  });
}
TT_INLINE void ScatterAdd::kernel(Call& c, const Options& o) {
  const AxisElements e(c, o.dim);
  if (!(c[2].impl().shape == e.shape)) sizes_differ(c, o.dim, "source", c[2]);
  c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device());
  with_number(c, [&]<class T>(T) {
    const Tensor source = c[2].contiguous(), index = checked_indices(c, e.axis, o.wrap);
    Tensor& result = c.result[0].copy_(c[0].detach());
    e.each_row(result, [&](std::int64_t first, std::int64_t base) {
      const auto* from = source.data_ptr<T>() + first;
      auto* to = result.data_ptr<T>() + base;
      e.each_place(result, index.data_ptr<std::int64_t>() + first, [&](std::int64_t j, std::int64_t place) { to[place] = sum_of(to[place], from[j]); });
    });
  });
}
TT_INLINE void Nonzero::kernel(Call& c, const Options&) {
  need_readable(c);
  const Tensor mask = convert(c[0], DType::boolean, c.at).contiguous();
  const auto* there = mask.data_ptr<bool>();
  const std::int64_t n = mask.impl().numel;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += there[i];
  const int rank = c[0].dim();
  c.result[0] = Tensor(DType::i64, Shape{count, rank}, c[0].device());
  if (rank == 0) return;
  auto* to = c.result[0].data_ptr<std::int64_t>();
  for (std::int64_t i = 0, found = 0; found < count; ++i) {  // without a branch that nobody can foresee
    to[found * rank] = i;
    found += there[i];
  }
  for (std::int64_t* e = to; e != to + count * rank; e += rank) {
    std::int64_t left = e[0];
    for (int k = rank - 1; k > 0; --k) {
      e[k] = left % c[0].size(k);
      left /= c[0].size(k);
    }
    e[0] = left;
  }
}

/// The part of `source` that `index` has places for.
inline Tensor beginning_of(const Tensor& source, const Tensor& index, SourceLine at) {
  Tensor part = source;
  for (int k = 0; k < index.dim() && k < source.dim(); ++k)
    if (index.size(k) < part.size(k)) part = part.slice(k, 0, index.size(k), 1, at);
  return part;
}
TT_INLINE void ScatterAdd::front(Call& c, const Options& o) { c.result[0] = call_with<ScatterAdd>(c.at, o, c[0], c[1], beginning_of(c[2], c[1], c.at)); }

inline void need_defined(const char* op, std::initializer_list<const Tensor*> all, SourceLine at) {
  int k = 0;
  for (const Tensor* t : all) {
    if (!t->defined()) TT_THROW(Error(Text("tt::") << op << ": argument " << k << " is an undefined Tensor." << at));
    ++k;
  }
}
/// Rows of `x` that indices of any shape name.
inline Tensor rows_at(const Tensor& x, const Tensor& index, bool wrap, SourceLine at) {
  IntList shape = index.shape(at);
  for (int k = 1; k < x.dim(); ++k) shape.push_back(x.size(k, at));
  return call_with<IndexSelect>(at, {0, wrap}, x, index.flatten(at)).reshape(shape, at);
}
/// Where elements of a mask are true, in row-major order.
inline Tensor places_of(const Tensor& mask, SourceLine at) {
  return call_with<Nonzero>(at, {}, mask.flatten(at)).select(1, 0, at);
}

}  // namespace detail

TT_INLINE Tensor index_select(const Tensor& x, int dim, const Tensor& index, SourceLine at) {
  return call_with<detail::IndexSelect>(at, {dim}, x, index);
}
TT_INLINE Tensor gather(const Tensor& x, int dim, const Tensor& index, SourceLine at) {
  return call_with<detail::Gather>(at, {dim}, x, index);
}
TT_INLINE Tensor take_along_dim(const Tensor& x, const Tensor& index, int dim, SourceLine at) {
  detail::need_defined("take_along_dim", {&x, &index}, at);
  const int axis = detail::axis_of(x, dim, "take_along_dim", at, x.dim());
  Shape from = x.impl().shape, to = index.impl().shape;
  if (from.rank == to.rank) {
    from.set(axis, 1);
    to.set(axis, 1);
    if (const BroadcastResult both = try_broadcast(from, to); both.ok) {
      from = to = both.shape;
      from.set(axis, x.impl().shape[axis]);
      to.set(axis, index.impl().shape[axis]);
      return call_with<detail::Gather>(at, {axis, true}, x.expand(from, at), index.expand(to, at));
    }
  }
  TT_THROW(Error(Text("tt::take_along_dim: shapes do not broadcast beside axis ") << axis << ": " << x.shape() << " and " << index.shape() << "." << at));
}
TT_INLINE Tensor embedding(const Tensor& index, const Tensor& weight, SourceLine at) {
  detail::need_defined("embedding", {&index, &weight}, at);
  if (weight.dim() != 2) TT_THROW(Error(Text("tt::embedding: the table is of shape ") << weight.shape() << ". (n, d)?" << at));
  return detail::rows_at(weight, index, false, at);
}
TT_INLINE Tensor index_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at) {
  return call_with<detail::IndexAdd>(at, {dim}, x, index, source);
}
TT_INLINE Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at) {
  detail::need_defined("scatter_add", {&x, &index, &source}, at);
  return call_with<detail::ScatterAdd>(at, {dim}, x, index, detail::beginning_of(source, index, at));
}
TT_INLINE Tensor nonzero(const Tensor& x, SourceLine at) { return call_with<detail::Nonzero>(at, {}, x); }
TT_INLINE Tensor masked_select(const Tensor& x, const Tensor& mask, SourceLine at) {
  detail::need_defined("masked_select", {&x, &mask}, at);
  if (mask.dtype() != DType::boolean)
    TT_THROW(Error(Text("tt::masked_select: the mask is ") << name(mask.dtype()) << ", not bool." << at));
  const BroadcastResult both = try_broadcast(x.impl().shape, mask.impl().shape);
  if (!both.ok) TT_THROW(Error(Text("tt::masked_select: shapes do not broadcast: ") << x.shape() << " and " << mask.shape() << "." << at));
  const Tensor all = x.expand(both.shape, at).reshape({both.shape.size().code}, at);
  return index_select(all, 0, detail::places_of(mask.expand(both.shape, at), at), at);
}

TT_INLINE Tensor Tensor::index_select(int axis, const Tensor& index, SourceLine at) const { return tt::index_select(*this, axis, index, at); }
TT_INLINE Tensor Tensor::gather(int axis, const Tensor& index, SourceLine at) const { return tt::gather(*this, axis, index, at); }
TT_INLINE Tensor Tensor::masked_select(const Tensor& mask, SourceLine at) const { return tt::masked_select(*this, mask, at); }
TT_INLINE Tensor Tensor::nonzero(SourceLine at) const { return tt::nonzero(*this, at); }
TT_INLINE const Tensor Tensor::operator[](const TensorIndex& i) const {
  const Tensor& index = i.tensor;
  detail::need_defined("Tensor", {this, &index}, i.at);
  if (index.dtype() != DType::boolean) return detail::rows_at(*this, index, true, i.at);
  IntList shape{index.numel(i.at)};
  bool fits = index.dim() <= dim();
  for (int k = 0; k < dim(); ++k) {
    if (k >= index.dim()) shape.push_back(size(k));
    else fits = fits && size(k) == index.size(k);
  }
  if (!fits)
    TT_THROW(Error(Text("tt::Tensor: a mask of shape ") << index.shape() << " does not fit shape " << this->shape() << "." << i.at));
  return tt::index_select(reshape(shape, i.at), 0, detail::places_of(index, i.at), i.at);
}

TT_INLINE void register_index_ops() {
  operator_entry<detail::IndexSelect>();
  operator_entry<detail::IndexAdd>();
  operator_entry<detail::Gather>();
  operator_entry<detail::ScatterAdd>();
  operator_entry<detail::Nonzero>();
}

}  // namespace tt
