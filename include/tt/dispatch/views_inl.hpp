// Definitions of views.hpp.
#pragma once
#include "tt/dispatch/memory_order.hpp"
#include "tt/dispatch/views.hpp"

namespace tt {
namespace detail {

TT_INLINE Tensor make_view(const Tensor& t, const Shape& shape, const std::int64_t* strides, std::byte* data, bool alias) {
  const TensorImpl& from = t.impl();
  TensorImpl* v = TensorImpl::make();
  v->storage = from.storage;
  if (v->storage) v->storage->retain();
  v->data = data;
  v->dtype = from.dtype;
  v->device = from.device;
  v->keys = from.keys & backend_keys;
  v->inference = from.inference;
  v->is_view = true;
  t.impl().forget_fill();  // the view may be written to
  v->set_strided(shape, strides);
  if (!alias) v->become_view_of(t.impl());
  return Tensor(v);
}

TT_INLINE bool reshaped_strides(const TensorImpl& t, const Shape& to, std::int64_t* strides) {
  if (t.contiguous) {
    std::int64_t n = 1;
    for (int k = to.rank - 1; k >= 0; --k) {
      strides[k] = n;
      n *= to.code[k];
    }
    return true;
  }
  // From the right: each run of axes whose elements are evenly spaced is divided into the new axes.
  int j = to.rank - 1;
  std::int64_t run = 1, divided = 1, step = t.stride[t.shape.rank - 1];
  for (int i = t.shape.rank - 1; i >= 0; --i) {
    run *= t.shape.code[i];
    if (i > 0 && (t.shape.code[i - 1] == 1 || t.stride[i - 1] == run * step)) continue;
    for (; j >= 0 && (divided < run || to.code[j] == 1); --j) {
      strides[j] = divided * step;
      divided *= to.code[j];
    }
    if (divided != run) return false;
    if (i > 0) step = t.stride[i - 1];
    run = divided = 1;
  }
  return j < 0;
}

TT_INLINE void record_reshape(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = g.reshape(in[0], a.extents(0));
}

TT_INLINE void reshape_kernel(Call& c, void*) {
  const TensorImpl& t = c[0].impl();
  const Shape to = shape_attribute(c.attrs());
  std::int64_t strides[max_rank];
  if (reshaped_strides(t, to, strides)) {
    c.result[0] = make_view(c[0], to, strides, t.data);
    return;
  }
  const ExcludeKeys below(DispatchKey::autograd);
  c.result[0] = call_unary(copy_operator(), c[0], no_attributes, c.at);  // materialised: no view
  c.result[0].impl().set_dense(to);
}

TT_INLINE void record_permute(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  const IntList axes = a.list(0);
  const Shape& shape = g[in[0]].shape;
  int axis[max_rank] = {};
  for (int k = 0; k < axes.size() && k < max_rank; ++k) axis[k] = tt::detail::saturated<int>(axes.value(k));
  out[0] = axes.size() == shape.rank ? g.permute(in[0], axis)
                                     : g.fail({.mistake = Mistake::not_a_permutation, .op = "permute", .a = shape}, in[0]);
}

TT_INLINE void permute_kernel(Call& c, void*) {
  const TensorImpl& t = c[0].impl();
  const IntList axes = c.attrs().list(0);
  Shape shape;
  std::int64_t strides[max_rank];
  for (int k = 0; k < axes.size(); ++k) {
    const int axis = normalize_axis(static_cast<int>(axes[k]), t.shape.rank);
    shape.push_back(t.shape.code[axis]);
    strides[k] = t.stride[axis];
  }
  c.result[0] = make_view(c[0], shape, strides, t.data);
}

TT_INLINE void record_expand(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = g.broadcast_to(in[0], a.extents(0));
}

TT_INLINE void expand_kernel(Call& c, void*) {
  const TensorImpl& t = c[0].impl();
  const Shape to = shape_attribute(c.attrs());
  std::int64_t strides[max_rank];
  for (int d = 0; d < to.rank; ++d) strides[d] = broadcast_stride(t, to, d);
  c.result[0] = make_view(c[0], to, strides, t.data);
}

/// The number of a diagonal's elements, and its first element.
struct DiagonalPlace {
  std::int64_t down, right, count;
  DiagonalPlace(std::int64_t offset, std::int64_t rows, std::int64_t columns) : down(offset < 0 ? -offset : 0), right(offset > 0 ? offset : 0) {
    const std::int64_t h = rows - down, w = columns - right;
    count = h < w ? h : w;
    if (count < 0) count = 0;
  }
};
TT_INLINE void record_diagonal(Graph& g, const Operator&, std::span<const int> in, const Attributes& attributes, int* out) {
  const IntList where = attributes.list(0);
  const int a = static_cast<int>(where.value(1)), b = static_cast<int>(where.value(2));
  const Shape s = g[in[0]].shape;
  for (const int axis : {a, b}) g.need_number(s[axis]);
  if (!s[a].is_constant() || !s[b].is_constant()) {
    out[0] = g.fail({.mistake = Mistake::extents_are_not_constant, .op = "diagonal", .a = s}, in[0]);
    return;
  }
  const DiagonalPlace d(where.value(0), s[a].code, s[b].code);
  int order[max_rank] = {}, n = 0;
  Shape line;
  for (int k = 0; k < s.rank; ++k) {
    if (k == a || k == b) continue;
    order[n++] = k;
    line.push_back(s[k]);
  }
  order[n] = a;
  order[n + 1] = b;
  int x = g.permute(in[0], order);
  x = g.slice(x, n, d.count > 0 ? d.down : 0, d.count, 1);
  x = g.slice(x, n + 1, d.count > 0 ? d.right : 0, d.count, 1);
  line.push_back(d.count * d.count);  // in a square matrix, elements of the diagonal are count + 1 apart
  out[0] = g.slice(g.reshape(x, line), n, 0, d.count, d.count + 1);
}
TT_INLINE void diagonal_kernel(Call& c, void*) {
  const TensorImpl& t = c[0].impl();
  const IntList where = c.attrs().list(0);
  const int a = static_cast<int>(where.value(1)), b = static_cast<int>(where.value(2));
  const DiagonalPlace d(where.value(0), t.shape.code[a], t.shape.code[b]);
  Shape shape;
  std::int64_t strides[max_rank];
  for (int k = 0; k < t.shape.rank; ++k) {
    if (k == a || k == b) continue;
    strides[shape.rank] = t.stride[k];
    shape.push_back(t.shape[k]);
  }
  strides[shape.rank] = t.stride[a] + t.stride[b];
  shape.push_back(d.count);
  c.result[0] = make_view(c[0], shape, strides, d.count > 0 && t.data ? t.data + (d.down * t.stride[a] + d.right * t.stride[b]) * size_of(t.dtype) : t.data);
}

TT_INLINE void record_slice(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = a.value[3] > 0 ? g.slice(in[0], static_cast<int>(a.value[0]), a.extent(1), a.extent(2), a.value[3])
                          : g.fail({.mistake = Mistake::slice_out_of_range, .op = "slice", .a = g[in[0]].shape,
                                    .number = a.value[3]}, in[0]);
}

TT_INLINE void slice_kernel(Call& c, void*) {
  const TensorImpl& t = c[0].impl();
  const std::int64_t* a = c.attrs().value.data();
  const int axis = normalize_axis(static_cast<int>(a[0]), t.shape.rank);
  Shape shape = t.shape;
  shape.set(axis, a[2]);
  std::int64_t strides[max_rank];
  for (int k = 0; k < shape.rank; ++k) strides[k] = t.stride[k] * (k == axis ? a[3] : 1);
  std::byte* const begin = t.data ? t.data + a[1] * t.stride[axis] * size_of(t.dtype) : nullptr;  // null: no elements, or Meta
  c.result[0] = make_view(c[0], shape, strides, begin);
}

TT_INLINE void record_detach(Graph& g, const Operator&, std::span<const int> in, const Attributes&, int* out) { out[0] = g.detach(in[0]); }

TT_INLINE void detach_kernel(Call& c, void*) {
  const TensorImpl& t = c[0].impl();
  c.result[0] = make_view(c[0], t.shape, t.stride, t.data, true);
}

TT_INLINE void record_view_as(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = g.elementwise(Op::bitcast, {g.detach(in[0])}, 0, static_cast<DType>(a.value[0]));
}
/// Why the bytes of a Tensor cannot be viewed as elements of a dtype; null if they can.
inline const char* view_as_fault(const TensorImpl& t, DType dtype) {
  const std::int64_t from = size_of(t.dtype), to = size_of(dtype);
  if (dtype == DType::boolean && t.dtype != DType::boolean) return "bytes are no booleans. Compare with 0?";
  if (from != to) {
    const int last = t.shape.rank - 1;
    if (last < 0) return "a Tensor without axes has no axis of bytes.";
    if (t.stride[last] != 1 && t.shape.code[last] > 1) return "elements along the last axis do not lie one behind the other. Use contiguous()?";
    if (from < to && t.shape.code[last] % (to / from) != 0) return "the last axis does not divide into such elements.";
    for (int k = 0; k < last; ++k)
      if (from < to && t.stride[k] % (to / from) != 0) return "rows do not begin where such an element could. Use contiguous()?";
  }
  if (reinterpret_cast<std::uintptr_t>(t.data) % static_cast<std::uintptr_t>(to) != 0) return "the elements do not begin where such an element could. Use clone()?";
  return nullptr;
}
inline void need_view_as(const Tensor& x, DType dtype, SourceLine at) {
  if (const char* const why = view_as_fault(x.impl(), dtype)) TT_THROW(Error(Text("tt::view: ") << name(x.dtype()) << ' ' << x.shape() << " as " << name(dtype) << ": " << why << at));
}
TT_INLINE void view_as_kernel(Call& c, void*) {
  const TensorImpl& t = c[0].impl();
  const DType dtype = static_cast<DType>(c.attrs().value[0]);
  need_view_as(c[0], dtype, c.at);  // again: the alignment of a recorded Tensor is unknown
  const std::int64_t from = size_of(t.dtype), to = size_of(dtype);
  Shape shape = t.shape;
  std::int64_t strides[max_rank];
  for (int k = 0; k < shape.rank; ++k) strides[k] = t.stride[k] * from / to;
  if (from != to) {
    shape.set(shape.rank - 1, t.shape.code[shape.rank - 1] * from / to);
    strides[shape.rank - 1] = 1;
  }
  c.result[0] = make_view(c[0], shape, strides, t.data, true);
  c.result[0].impl().dtype = dtype;
}
TT_INLINE Tensor viewed_as(const Tensor& x, DType dtype, SourceLine at) {
  if (x.dtype() == dtype) return x.reshape(x.shape(at), at);
  need_view_as(x, dtype, at);
  const bool in_graphs = size_of(x.dtype()) == size_of(dtype) && !is_narrow(x.dtype()) && !is_narrow(dtype) && x.dtype() != DType::boolean;
  Attributes a;
  a.push(static_cast<int>(dtype));
  return call_unary(in_graphs ? view_as_operator() : view_bytes_operator(), x, a, at);
}
TT_INLINE void view_as_front(Call& c) { c.result[0] = viewed_as(c[0], static_cast<DType>(c.attrs().value[0]), c.at); }

TT_INLINE Operator& define_view(const char* name, const char* attributes, RecordFunction record, OpKernel kernel, OpFront front, bool cuts_history) {
  return Dispatcher::get().define(name, reinterpret_cast<const void*>(kernel), [&](Operator& op) {
    op.record = record;
    op.set_schema(schema_of(1, attributes));
    op.is_view = true;
    op.cuts_history = cuts_history;
    op.front = front;
    op.set_backend_kernel(kernel);
  });
}

TT_INLINE int axis_of(const Tensor& t, int axis, const char* op, SourceLine at, int rank) {
  const int a = normalize_axis(axis, rank);
  if (a < 0)
    TT_THROW(Error(Text("tt::") << op << ": axis is out of range: " << axis << " for shape " << t.shape() << " of rank "
                                << t.dim() << "." << at));
  return a;
}
TT_INLINE void need_room_for_axis(const Tensor& t, const char* op, SourceLine at) {
  if (t.dim() == max_rank)
    TT_THROW(Error(describe({.mistake = Mistake::rank_too_high, .op = op, .a = t.impl().shape, .number = max_rank + 1, .where = at})));
}

}  // namespace detail

namespace detail {
/// For reshape in a capture: constants in `to` that equal the sizes of the last axes of x are replaced by these sizes: x of (n, 6) as {-1, 2, 6}. Returns their
/// number; stops before the first axis of x and at the -1.
inline int name_last_sizes(const Tensor& x, IntList& to, int open, SourceLine at) {
  for (int k = 0;; ++k) {
    const int place = to.size() - 1 - k, axis = x.dim() - 1 - k;
    if (place == open || axis <= 0 || to.hint(place) != x.impl().shape.code[axis]) return k;
    const Size own = x.size(axis, at);
    if (own != to[place]) return k;
    to[place] = own;
  }
}
}  // namespace detail

TT_INLINE Tensor Tensor::reshape(const IntList& shape, SourceLine at) const {
  IntList to = shape;
  std::int64_t known = 1;
  int open = -1;
  for (int k = 0; k < to.size(); ++k) {
    const std::int64_t n = to.hint(k) < 0 ? std::int64_t{to[k]} : to.hint(k);  // -1 is no size, so it is read
    if (n < -1) TT_THROW(Error(Text("tt::reshape: a size is negative: ") << n << "." << at));
    if (n == -1 && open >= 0) TT_THROW(Error(Text("tt::reshape: more than one size is -1.") << at));
    if (n == -1) open = k;
    else if (__builtin_mul_overflow(known, n, &known)) known = 0;
  }
  if (open >= 0) {
    if (known == 0 || impl().numel % known != 0)
      TT_THROW(Error(Text("tt::reshape: no size can stand for -1: ") << impl().numel << " elements, " << known << " in the other sizes." << at));
    to[open] = impl().numel / known;
    if (detail::capture_mode) [[unlikely]] {
      const int same = detail::name_last_sizes(*this, to, open, at);
      Size others(1), all(1);
      for (int k = 0; k < to.size() - same; ++k)
        if (k != open) others *= to[k];
      for (int k = 0; k < dim() - same; ++k) all *= size(k, at);
      if (all % others == 0) to[open] = all / others;
    }
  }
  const Shape s = shape_of(to, "reshape", at);
  if (s.size().code != impl().numel)
    TT_THROW(Error(Text("tt::reshape: numbers of elements differ: ") << this->shape() << " and " << s << "." << at));
  return detail::call_list(detail::reshape_operator(), *this, to, at);
}

TT_INLINE Tensor Tensor::view(const IntList& shape, SourceLine at) const {
  std::int64_t strides[max_rank];
  const Tensor r = reshape(shape, at);
  if (!detail::reshaped_strides(impl(), r.impl().shape, strides))
    TT_THROW(Error(Text("tt::view: the elements of ") << this->shape() << " do not lie so that they can be seen as "
                                                      << r.shape() << ". Use reshape?" << at));
  return r;
}

TT_INLINE Tensor Tensor::permute(const IntList& axes, SourceLine at) const {
  IntList order;
  unsigned seen = 0;
  for (const std::int64_t a : axes) {
    const int axis = normalize_axis(static_cast<int>(a), dim());
    if (axis >= 0) seen |= 1u << axis;
    order.push_back(axis);
  }
  if (axes.size() != dim() || seen != (1u << dim()) - 1)
    TT_THROW(Error(Text("tt::permute: axes are not a permutation: of shape ") << shape() << "." << at));
  return detail::call_list(detail::permute_operator(), *this, order, at);
}

TT_INLINE Tensor Tensor::transpose(int axis0, int axis1, SourceLine at) const {
  const int rank = dim() ? dim() : 1;  // axis 0 of a scalar may be named
  const int a = detail::axis_of(*this, axis0, "transpose", at, rank), b = detail::axis_of(*this, axis1, "transpose", at, rank);
  if (dim() == 0) return *this;
  IntList order;
  for (int k = 0; k < dim(); ++k) order.push_back(k == a ? b : k == b ? a : k);
  return detail::call_list(detail::permute_operator(), *this, order, at);
}

TT_INLINE Tensor Tensor::t(SourceLine at) const {
  if (dim() > 2) TT_THROW(Error(Text("tt::t: rank is too high: ") << shape() << " has rank " << dim() << ", at most is 2." << at));
  return dim() < 2 ? *this : transpose(0, 1, at);
}

TT_INLINE Tensor Tensor::expand(const IntList& shape, SourceLine at) const {
  IntList to = shape;
  for (int k = 0; k < to.size(); ++k)
    if (const int from = dim() - to.size() + k; to.hint(k) < 0 && std::int64_t{to[k]} == -1 && from >= 0) to[k] = size(from, at);
  const Shape s = shape_of(to, "expand", at);
  const BroadcastResult r = try_broadcast(impl().shape, s);
  if (!r.ok || !(r.shape == s))
    TT_THROW(Error(Text("tt::expand: shapes do not broadcast: ") << this->shape() << " and " << s
                                                                 << ". Only axes of extent 1 can be repeated." << at));
  return detail::call_list(detail::expand_operator(), *this, to, at);
}

namespace detail {

/// Pushes start and length, clamped to the axis; negative bounds count from the end. N: Size, whose comparisons are guarded, or an integer.
template <class N>
void push_slice(Attributes& a, int axis, N start, N end, std::int64_t step, const N& n, bool to_the_end) {
  const auto clamp = [&n](N i) {
    if (i < 0) {
      i = i + n;
      return i < 0 ? N(0) : i;
    }
    return i > n ? n : i;
  };
  start = clamp(start);
  end = to_the_end ? n : clamp(end);
  const N length = end > start ? (end - start - 1) / step + 1 : N(0);
  a.push(axis);
  a.push(start);
  a.push(length);
  constexpr std::int64_t most_step = (1 << 20) - 1;  // of at most one element any step will do, but Graph::slice bounds length * step
  a.push(step < most_step || length > 1 ? step : most_step);
}

}  // namespace detail

TT_INLINE Tensor Tensor::slice(int axis, SliceBound start, SliceBound stop, SizeArgument by, SourceLine at) const {
  const int d = detail::axis_of(*this, axis, "slice", at, dim());
  const Size from = start.value(0), to = stop.value(INT64_MAX);
  const std::int64_t n = impl().shape.code[d], step = by.size, end = to.hint();
  if (step <= 0) TT_THROW(Error(Text("tt::slice: the step must be positive: ") << step << "." << at));
  Attributes a;
  if (!detail::capture_mode) [[likely]] detail::push_slice(a, d, from.hint(), end, step, n, end == INT64_MAX);
  else detail::push_slice(a, d, from, to, step, size(d, at), end == INT64_MAX);
  return detail::call_unary(detail::slice_operator(), *this, a, at);
}

TT_INLINE Tensor Tensor::select(int axis, SizeArgument given, SourceLine at) const {
  const int d = detail::axis_of(*this, axis, "select", at, dim());
  const auto chosen = [&](auto index, const auto& n) {
    const auto i = index < 0 ? index + n : index;
    if (i < 0 || i >= n)
      TT_THROW(Error(Text("tt::select: index is out of range: ") << std::int64_t{index} << " for axis " << axis << " of shape " << shape() << "." << at));
    return Size(i);
  };
  const Size i = detail::capture_mode ? chosen(given.size, size(d, at)) : chosen(given.size.hint(), impl().shape.code[d]);
  const Tensor one = slice(d, i, i + 1, 1, at);
  IntList rest;
  for (int k = 0; k < dim(); ++k)
    if (k != d) rest.push_back(size(k, at));
  return one.reshape(rest, at);
}

TT_INLINE Tensor Tensor::unsqueeze(int axis, SourceLine at) const {
  const int d = detail::axis_of(*this, axis, "unsqueeze", at, dim() + 1);
  detail::need_room_for_axis(*this, "unsqueeze", at);
  IntList s;
  for (int k = 0; k <= dim(); ++k)
    if (k == d) s.push_back(1);
    else s.push_back(size(k < d ? k : k - 1, at));
  return reshape(s, at);
}

TT_INLINE Tensor Tensor::squeeze(int axis, SourceLine at) const {
  const int d = detail::axis_of(*this, axis, "squeeze", at, dim() ? dim() : 1);
  IntList s;
  for (int k = 0; k < dim(); ++k)
    if (k != d || impl().shape.code[d] != 1) s.push_back(size(k, at));
  return reshape(s, at);
}

TT_INLINE Tensor Tensor::flatten(SourceLine at) const { return reshape({-1}, at); }

TT_INLINE Tensor Tensor::detach() const { return detail::call_unary(detail::detach_operator(), *this, no_attributes, {}); }

TT_INLINE Tensor Tensor::clone(SourceLine at) const { return detail::call_unary(detail::copy_operator(), *this, no_attributes, at); }

TT_INLINE Tensor Tensor::contiguous(SourceLine at) const { return impl().contiguous ? *this : clone(at); }

TT_INLINE Tensor Tensor::to(DType dtype, SourceLine at) const { return detail::convert(*this, dtype, at); }

}  // namespace tt
