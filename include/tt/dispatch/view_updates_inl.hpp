// Definitions of view_updates.hpp, and their names.
#pragma once
#include "tt/dispatch/shape_names_inl.hpp"
#include "tt/dispatch/view_updates.hpp"

namespace tt {
namespace detail {

TT_LAZY_DEFINITION void replace_view(Tensor& t, Tensor other, bool taped) {
  TensorImpl &to = t.impl(), &from = other.impl();
  advance_version(t);  // saved Tensors on the tape have the old sizes
  if (to.storage != from.storage) {
    if (from.storage) from.storage->retain();
    if (to.storage) to.storage->release();
    to.storage = from.storage;
    to.is_view = from.is_view;
    to.leave_base();
    to.leave_views();
  }
  to.data = from.data;
  to.set_strided(from.shape, from.stride);
  to.marks = 0;
  if (taped) tape_hooks().become(t, other);
}
/// If the storage is too small, elements are copied to a new one, which Tensors on the old storage do not share.
TT_LAZY_DEFINITION Tensor& resize(Tensor& t, const IntList& size, SourceLine at) {
  return outside_capture(t, "resize_", at, [&]() -> Tensor& {
    if (t.impl().is_differentiated()) TT_THROW(Error(Text("tt::resize_: a Tensor that wants a gradient keeps its size. Use detach()?") << at));
    const Shape to = shape_of(size, "resize_", at);
    TensorImpl& own = t.impl();
    if (to == own.shape) return t;
    const auto needed = static_cast<std::int64_t>(bytes_of("tt::resize_", own.dtype, to));
    const std::int64_t width = size_of(own.dtype), there = own.storage ? static_cast<std::int64_t>(own.storage->bytes) - (own.data - static_cast<std::byte*>(own.storage->data)) : 0;
    if (needed <= there) {
      advance_version(t);
      own.set_dense(to);
      own.marks = 0;
      return t;
    }
    const Tensor larger(own.dtype, to, own.device);
    const IntList count{there / width}, apart{1};
    if (there > 0) as_strided(larger, count, apart, {}, at).copy_(as_strided(t, count, apart, {}, at), at);
    replace_view(t, larger, false);
    return t;
  });
}
TT_LAZY_DEFINITION Tensor& set(Tensor& t, const Tensor& source, SourceLine at) {
  if (source.dtype() != t.dtype() || source.device() != t.device())
    TT_THROW(Error(Text("tt::set_: dtypes or devices differ: ") << name(t.dtype()) << " on " << name(t.device().type) << " and " << name(source.dtype()) << " on " << name(source.device().type) << "." << at));
  if (capture_mode) capture_mode->need(source, "set_", at);
  outside_capture(t, "set_", at, [&] {
    if (change_is_taped(t)) TT_THROW(Error(Text("tt::set_: has no derivative. Do it under tt::NoGrad, or use detach()?") << at));
    need_no_graph(t, "set_", at);
    replace_view(t, source.detach(), false);
  });
  return t;
}
/// While capturing, a matrix becomes a `where` over indices, which fuses; else only the diagonal is written.
TT_LAZY_DEFINITION Tensor& fill_diagonal(Tensor& t, const TensorOperand& operand, bool wrap, SourceLine at) {
  const Tensor value = operand.tensor ? *operand.tensor : operand.number(t.dtype());
  const int rank = t.dim();
  if (value.dim() > 0) TT_THROW(Error(Text("tt::fill_diagonal_: the value is no number: its shape is ") << value.shape(at) << "." << at));
  if (rank < 2) TT_THROW(Error(Text("tt::fill_diagonal_: there is no diagonal: shape is ") << t.shape(at) << "." << at));
  for (int k = 1; k < rank && rank > 2; ++k)
    if (t.size(k, at) != t.size(0, at)) TT_THROW(Error(Text("tt::fill_diagonal_: of more than two axes, all are of one size: shape is ") << t.shape(at) << "." << at));
  if (capture_mode && rank == 2) {
    const Tensor i = arange(t.size(0, at)).unsqueeze(1, at), j = arange(t.size(1, at));
    const Tensor on = wrap ? (i * t.size(1, at) + j) % (t.size(1, at) + 1) == 0 : i == j;
    return t.copy_(tt::where(on, value, t, at), at);
  }
  Tensor places = diagonal(t, 0, 0, 1, at);
  while (places.dim() > 1) places = diagonal(places, 0, 0, places.dim() - 1, at);
  places.copy_(value, at);
  if (!wrap || rank > 2) return t;
  const std::int64_t rows = t.size(0, at), columns = t.size(1, at);
  for (std::int64_t row = columns + 1; row < rows; row += columns + 1) diagonal(t.slice(0, row, INT64_MAX, 1, at), 0, 0, 1, at).copy_(value, at);
  return t;
}

template <class = void>
void register_view_updates() {
  for (const char* name : {"transpose_", "swapdims_"})
    register_function(name, "Tensor input, int dim0, int dim1", [](Tensor x, int a, int b, SourceLine at) { return x.transpose_(a, b, at); });
  register_function("swapaxes_", "Tensor input, int axis0, int axis1", [](Tensor x, int a, int b, SourceLine at) { return x.swapaxes_(a, b, at); });
  register_function("t_", "Tensor input", [](Tensor x, SourceLine at) { return x.t_(at); });
  register_function("squeeze_", "Tensor input", [](Tensor x, SourceLine at) { return x.squeeze_(at); });
  register_function("squeeze_", "Tensor input, int[] dim", [](Tensor x, const IntList& dims, SourceLine at) { return x.squeeze_(dims, at); });
  register_function("unsqueeze_", "Tensor input, int dim", [](Tensor x, int dim, SourceLine at) { return x.unsqueeze_(dim, at); });
  register_function("as_strided_", "Tensor input, int[] size, int[] stride, int? storage_offset=None",
                    [](Tensor x, const IntList& s, const IntList& t, Optional<std::int64_t> o, SourceLine at) { return x.as_strided_(s, t, o.given ? o.value : detail::offset_in_storage(x.impl()), at); });
  register_function("resize_", "Tensor input, int[] size", [](Tensor x, const IntList& s, SourceLine at) { return x.resize_(s, at); });
  register_function("resize_as_", "Tensor input, Tensor the_template", [](Tensor x, const Tensor& o, SourceLine at) { return x.resize_as_(o, at); });
  register_function("set_", "Tensor input, Tensor source", [](Tensor x, const Tensor& o, SourceLine at) { return x.set_(o, at); });
  register_function("fill_diagonal_", "Tensor input, Scalar fill_value, bool wrap=False", [](Tensor x, const TensorOperand& v, bool wrap, SourceLine at) { return fill_diagonal(x, v, wrap, at); });
  register_function("item", "Tensor input", [](const Tensor& x, SourceLine at) {
    if (x.numel(at) != 1) TT_THROW(Error(Text("tt::item: one element is asked for: shape is ") << x.shape(at) << "." << at));
    return x.detach().reshape({}, at).clone(at);
  });
  static constexpr auto moved = [](const Tensor& x, Device device, DType dtype, bool non_blocking, bool copy, SourceLine at) {  // as Tensor::to, not compiled into the library
    const Tensor r = x.to(dtype, at).to(device, non_blocking, at);
    return copy && r.is_same(x) ? r.clone(at) : r;
  };
  register_function("type_as", "Tensor input, Tensor other", [](const Tensor& x, const Tensor& o, SourceLine at) { return moved(x, o.device(), o.dtype(), false, false, at); });
  register_function("to", "Tensor input, dtype dtype, bool non_blocking=False, bool copy=False", [](const Tensor& x, DType d, bool n, bool c, SourceLine at) { return moved(x, x.device(), d, n, c, at); });
  register_function("to", "Tensor input, str device, dtype? dtype=None, bool non_blocking=False, bool copy=False",
                    [](const Tensor& x, Device device, Optional<DType> d, bool n, bool c, SourceLine at) { return moved(x, device, d.given ? d.value : x.dtype(), n, c, at); });
}

}  // namespace detail
}  // namespace tt
