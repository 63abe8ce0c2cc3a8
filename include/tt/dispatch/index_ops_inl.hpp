// Definitions of index_ops.hpp: operators that are no graphs, with loops over rows.
#pragma once
#include <cstring>

#include "tt/dispatch/factories.hpp"
#include "tt/dispatch/index_ops.hpp"

namespace tt {
namespace detail {

// ---- operators that are no graphs

/// One kernel for the host and for Meta Tensors.
inline void fill_computed(Operator& op, int arguments, int results, const char* attributes, OpKernel kernel, OpDerivative derivative) {
  op.results = results;
  op.set_schema(schema_of(arguments, attributes));
  op.derivative = derivative;
  for (const DispatchKey k : {DispatchKey::cpu, DispatchKey::meta}) op.set_kernel(k, kernel);
}
inline void need_elements(const Call& c) {
  if (c[0].is_meta())
    TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": the size of the result depends on elements, and Meta Tensors have none." << c.at));
}

/// Attributes of all that take indices: an axis, and whether negative ones count from its end.
inline Attributes along(int dim, bool wrap = false) {
  Attributes a;
  a.push(dim);
  a.push(wrap);
  return a;
}
inline Operator& define_indexed(const char* name, int arguments, OpKernel kernel, OpDerivative derivative, OpFront front = nullptr) {
  return Dispatcher::get().define(name, reinterpret_cast<const void*>(kernel), [&](Operator& op) {
    fill_computed(op, arguments, 1, "int dim, bool wrap=False", kernel, derivative);
    op.front = front;
  });
}
/// As the function of Tensors does it, which takes no `wrap`.
template <class F>
void call_index_front(Call& c, const F& function) {
  c.result[0] = c.attrs().value[1] ? call_operator(*c.op, c.argument, c.arguments, c.attrs(), c.at) : function(axis_given(c.attrs().value[0]));
}

// ---- indices

[[noreturn]] inline void sizes_differ(const Call& c, const char* what, const Tensor& own) {
  TT_THROW(Error(Text("tt::") << c.op->name() << ": " << what << " of shape " << own.shape() << " does not fit shape " << c[0].shape() << " along axis "
                              << c.attrs().value[0] << "." << c.at));
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
inline Tensor checked_indices(const Call& c, int axis) {
  Tensor index = convert(c[1], DType::i64, c.at).contiguous();
  const std::int64_t size = c[0].size(axis), n = index.impl().numel;
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
  if (c.attrs().value[1]) {
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

/// A dense Tensor as `outer` times `size` rows of `inner` elements.
struct AxisBlocks {
  int axis;
  std::int64_t outer = 1, size, inner = 1;
  explicit AxisBlocks(const Call& c)
      : axis(axis_of(c[0], axis_given(c.attrs().value[0]), c.op->name(), c.at, c[0].dim())), size(c[0].size(axis)) {
    for (int k = 0; k < c[0].dim(); ++k)
      if (k != axis) (k < axis ? outer : inner) *= c[0].size(k);
    need_indices(c);
    if (c[1].dim() > 1)
      TT_THROW(Error(Text("tt::") << c.op->name() << ": indices are of shape " << c[1].shape() << ". A vector?" << c.at));
  }
};
inline void index_select_kernel(Call& c, void*) {
  const ExcludeKeys below{DispatchKey::autograd};
  const AxisBlocks b(c);
  Shape shape = c[0].impl().shape;
  shape.set(b.axis, c[1].impl().numel);
  Tensor result(c[0].dtype(), shape, c[0].device());
  c.result[0] = result;
  if (c[0].is_meta()) return;
  const Tensor dense = c[0].contiguous(), index = checked_indices(c, b.axis);
  const auto* place = index.data_ptr<std::int64_t>();
  const std::int64_t count = index.impl().numel;
  with_element_size(result.dtype(), [&]<class T>(T) {
    const auto* from = static_cast<const T*>(dense.data());
    auto* to = static_cast<T*>(result.data());
    for (std::int64_t o = 0; o < b.outer; ++o, from += b.size * b.inner, to += count * b.inner) {
      if (b.inner == 1)
        for (std::int64_t k = 0; k < count; ++k) to[k] = from[place[k]];
      else
        for (std::int64_t k = 0; k < count && b.inner > 0; ++k)
          std::memcpy(to + k * b.inner, from + place[k] * b.inner, static_cast<std::size_t>(b.inner) * sizeof(T));
    }
  });
}
inline void index_add_kernel(Call& c, void*) {
  const ExcludeKeys below{DispatchKey::autograd};
  const AxisBlocks b(c);
  Shape shape = c[0].impl().shape;
  shape.set(b.axis, c[1].impl().numel);
  if (!(c[2].impl().shape == shape)) sizes_differ(c, "source", c[2]);
  c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device());
  with_number(c, [&]<class T>(T) {
    const Tensor source = c[2].contiguous(), index = checked_indices(c, b.axis);
    Tensor& result = c.result[0].copy_(c[0].detach());
    const auto* place = index.data_ptr<std::int64_t>();
    const auto* from = source.data_ptr<T>();
    auto* to = result.data_ptr<T>();
    for (std::int64_t o = 0; o < b.outer; ++o, to += b.size * b.inner)
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
  explicit AxisElements(const Call& c)
      : axis(axis_of(c[0], axis_given(c.attrs().value[0]), c.op->name(), c.at, c[0].dim())), shape(c[1].impl().shape) {
    need_indices(c);
    bool fits = shape.rank == c[0].dim();
    for (int k = 0; k < shape.rank && fits; ++k) fits = k == axis || shape.code[k] <= c[0].size(k);
    if (!fits) sizes_differ(c, "index", c[1]);
    columns = shape.code[shape.rank - 1];
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
    const std::int64_t apart = t.stride(axis), step = axis == shape.rank - 1 ? 0 : t.stride(shape.rank - 1);
    if (apart == 1 && step == 0)
      for (std::int64_t j = 0; j < columns; ++j) f(j, index[j]);
    else
      for (std::int64_t j = 0; j < columns; ++j) f(j, index[j] * apart + j * step);
  }
};
inline void gather_kernel(Call& c, void*) {
  const ExcludeKeys below{DispatchKey::autograd};
  const AxisElements e(c);
  Tensor result(c[0].dtype(), e.shape, c[0].device());
  c.result[0] = result;
  if (c[0].is_meta()) return;
  const Tensor index = checked_indices(c, e.axis);
  with_element_size(result.dtype(), [&]<class T>(T) {
    e.each_row(c[0], [&](std::int64_t first, std::int64_t base) {
      const auto* from = static_cast<const T*>(c[0].data()) + base;
      auto* to = static_cast<T*>(result.data()) + first;
      e.each_place(c[0], index.data_ptr<std::int64_t>() + first, [&](std::int64_t j, std::int64_t place) { to[j] = from[place]; });
    });
  });
}
inline void scatter_add_kernel(Call& c, void*) {
  const ExcludeKeys below{DispatchKey::autograd};
  const AxisElements e(c);
  if (!(c[2].impl().shape == e.shape)) sizes_differ(c, "source", c[2]);
  c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device());
  with_number(c, [&]<class T>(T) {
    const Tensor source = c[2].contiguous(), index = checked_indices(c, e.axis);
    Tensor& result = c.result[0].copy_(c[0].detach());
    e.each_row(result, [&](std::int64_t first, std::int64_t base) {
      const auto* from = source.data_ptr<T>() + first;
      auto* to = result.data_ptr<T>() + base;
      e.each_place(result, index.data_ptr<std::int64_t>() + first, [&](std::int64_t j, std::int64_t place) { to[place] = sum_of(to[place], from[j]); });
    });
  });
}
inline void nonzero_kernel(Call& c, void*) {
  need_elements(c);
  const ExcludeKeys below{DispatchKey::autograd};
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

// ---- operators and derivatives: what is taken from a place is added to it

TT_INLINE Operator& index_add_operator();
TT_INLINE Operator& scatter_add_operator();

inline Tensor call_indexed(const Operator& op, const Tensor& x, const Tensor& index, const Attributes& a, SourceLine at) {
  const Tensor* argument[] = {&x, &index};
  return call_operator(op, argument, 2, a, at);
}
inline Tensor call_adding(const Operator& op, const Tensor& x, const Tensor& index, const Tensor& source, const Attributes& a, SourceLine at) {
  const Tensor* argument[] = {&x, &index, &source};
  return call_operator(op, argument, 3, a, at);
}
/// Of the argument, whose shape is all that is known, where its gradient is.
inline Tensor zeros_of(const DerivativeStep& s) {
  return tt::zeros(s.argument[0].impl().shape, {s.gradient[0].dtype(), s.gradient[0].device()});
}

TT_INLINE Operator& index_select_operator() {
  static Operator& op = define_indexed("index_select", 2, &index_select_kernel, [](const DerivativeStep& s) {
    s.out[0] = call_adding(index_add_operator(), zeros_of(s), s.argument[1], s.gradient[0], *s.attributes, s.at);
  }, [](Call& c) { call_index_front(c, [&](int dim) { return tt::index_select(c[0], dim, c[1], c.at); }); });
  return op;
}
TT_INLINE Operator& index_add_operator() {
  static Operator& op = define_indexed("index_add", 3, &index_add_kernel, [](const DerivativeStep& s) {
    s.out[0] = s.gradient[0];
    s.out[2] = call_indexed(index_select_operator(), s.gradient[0], s.argument[1], *s.attributes, s.at);
  });
  return op;
}
TT_INLINE Operator& gather_operator() {
  static Operator& op = define_indexed("gather", 2, &gather_kernel, [](const DerivativeStep& s) {
    s.out[0] = call_adding(scatter_add_operator(), zeros_of(s), s.argument[1], s.gradient[0], *s.attributes, s.at);
  }, [](Call& c) { call_index_front(c, [&](int dim) { return tt::gather(c[0], dim, c[1], c.at); }); });
  return op;
}
TT_INLINE Operator& scatter_add_operator() {
  static Operator& op = define_indexed("scatter_add", 3, &scatter_add_kernel, [](const DerivativeStep& s) {
    s.out[0] = s.gradient[0];
    s.out[2] = call_indexed(gather_operator(), s.gradient[0], s.argument[1], *s.attributes, s.at);
  }, [](Call& c) { call_index_front(c, [&](int dim) { return tt::scatter_add(c[0], dim, c[1], c[2], c.at); }); });
  return op;
}
inline Operator& nonzero_operator() {
  static Operator& op = Dispatcher::get().define("nonzero", reinterpret_cast<const void*>(&nonzero_kernel), [](Operator& o) {
    fill_computed(o, 1, 1, "", &nonzero_kernel, nullptr);
  });
  return op;
}

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
  return call_indexed(index_select_operator(), x, index.flatten(at), along(0, wrap), at).reshape(shape, at);
}
/// Where elements of a mask are true, in row-major order.
inline Tensor places_of(const Tensor& mask, SourceLine at) {
  return call_unary(nonzero_operator(), mask.flatten(at), no_attributes, at).select(1, 0, at);
}

}  // namespace detail

// What has no axes is a vector of one element to these.
TT_INLINE Tensor index_select(const Tensor& x, int dim, const Tensor& index, SourceLine at) {
  detail::need_defined("index_select", {&x, &index}, at);
  if (x.dim() == 0 && index.impl().numel == 1) return index_select(x.reshape({1}, at), dim, index, at).reshape({}, at);
  return detail::call_indexed(detail::index_select_operator(), x, index, detail::along(dim), at);
}
TT_INLINE Tensor gather(const Tensor& x, int dim, const Tensor& index, SourceLine at) {
  detail::need_defined("gather", {&x, &index}, at);
  if (x.dim() == 0 && index.dim() == 0) return gather(x.reshape({1}, at), dim, index.reshape({1}, at), at).reshape({}, at);
  return detail::call_indexed(detail::gather_operator(), x, index, detail::along(dim), at);
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
      return detail::call_indexed(detail::gather_operator(), x.expand(from, at), index.expand(to, at), detail::along(axis, true), at);
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
  return detail::call_adding(detail::index_add_operator(), x, index, source, detail::along(dim), at);
}
TT_INLINE Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, SourceLine at) {
  detail::need_defined("scatter_add", {&x, &index, &source}, at);
  if (x.dim() == 0 && index.dim() == 0 && source.dim() == 0)
    return scatter_add(x.reshape({1}, at), dim, index.reshape({1}, at), source.reshape({1}, at), at).reshape({}, at);
  Tensor part = source;
  for (int k = 0; k < index.dim() && k < source.dim(); ++k)
    if (index.size(k) < part.size(k)) part = part.slice(k, 0, index.size(k), 1, at);
  return detail::call_adding(detail::scatter_add_operator(), x, index, part, detail::along(dim), at);
}
TT_INLINE Tensor nonzero(const Tensor& x, SourceLine at) { return detail::call_unary(detail::nonzero_operator(), x, no_attributes, at); }
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
  detail::index_select_operator();
  detail::index_add_operator();
  detail::gather_operator();
  detail::scatter_add_operator();
  detail::nonzero_operator();
}

}  // namespace tt
