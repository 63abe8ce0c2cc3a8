// In-place view ops: a Tensor becomes another view of its elements, or gets other memory. All handles of the Tensor see it; other Tensors that share the
// elements do not change. The tape records the view as the Tensor's new value; a captured graph ends before it.
//   x.unsqueeze_(0);   x.t_();   buffer.resize_({2, n});
#pragma once
#include "tt/dispatch/inplace.hpp"
#include "tt/dispatch/shape_functions.hpp"

namespace tt {
namespace detail {

/// Gives `t` the storage, sizes and strides of `other`, and its history if `taped`. With another storage, `t` leaves its base, and its own views leave `t`.
TT_LAZY void replace_view(Tensor& t, Tensor other, bool taped);
TT_LAZY Tensor& resize(Tensor& t, const IntList& size, SourceLine at);
TT_LAZY Tensor& set(Tensor& t, const Tensor& source, SourceLine at);
TT_LAZY Tensor& fill_diagonal(Tensor& t, const TensorOperand& value, bool wrap, SourceLine at);
/// Throws where an untaped change would leave a graph whose gradients have other sizes than the Tensor.
inline void need_no_graph(const Tensor& t, const char* op, SourceLine at) {
  if (tape_hooks().has_graph && t.requires_grad() && tape_hooks().has_graph(t))
    TT_THROW(Error(Text("tt::") << op << ": a graph for gradients knows the Tensor with its sizes. Do it on the tape, or use detach()?" << at));
}

/// `t` becomes view(t). Throws for a leaf that requires a gradient, unless under NoGrad.
template <class F>
Tensor& update_view(Tensor& t, const char* op, SourceLine at, const F& view) {
  outside_capture(t, op, at, [&] {
    const bool taped = change_is_taped(t);
    if (taped && DispatchState::of_this_thread().grad_enabled) tape_hooks().check(t, at);
    else need_no_graph(t, op, at);
    replace_view(t, view(static_cast<const Tensor&>(t)), taped);
  });
  return t;
}

}  // namespace detail

template <class> Tensor& Tensor::transpose_(int dim0, int dim1, SourceLine at) {
  return detail::update_view(*this, "transpose_", at, [&](const Tensor& x) { return x.transpose(dim0, dim1, at); });
}
template <class> Tensor& Tensor::swapaxes_(int axis0, int axis1, SourceLine at) { return transpose_(axis0, axis1, at); }
template <class> Tensor& Tensor::swapdims_(int dim0, int dim1, SourceLine at) { return transpose_(dim0, dim1, at); }
template <class> Tensor& Tensor::t_(SourceLine at) {
  return detail::update_view(*this, "t_", at, [&](const Tensor& x) { return x.t(at); });
}
template <class> Tensor& Tensor::squeeze_(CallLine at) {
  return detail::update_view(*this, "squeeze_", at, [&](const Tensor& x) { return tt::squeeze(x, {}, at); });
}
template <class> Tensor& Tensor::squeeze_(int dim, SourceLine at) {
  return detail::update_view(*this, "squeeze_", at, [&](const Tensor& x) { return x.squeeze(dim, at); });
}
template <class> Tensor& Tensor::squeeze_(const IntList& dim, SourceLine at) {
  return detail::update_view(*this, "squeeze_", at, [&](const Tensor& x) { return dim.size() ? tt::squeeze(x, dim, at) : x; });
}
template <class> Tensor& Tensor::unsqueeze_(int dim, SourceLine at) {
  return detail::update_view(*this, "unsqueeze_", at, [&](const Tensor& x) { return x.unsqueeze(dim, at); });
}
template <class> Tensor& Tensor::as_strided_(const IntList& size, const IntList& stride, SourceLine at) {
  return detail::update_view(*this, "as_strided_", at, [&](const Tensor& x) { return tt::as_strided(x, size, stride, {}, at); });
}
template <class> Tensor& Tensor::as_strided_(const IntList& size, const IntList& stride, std::int64_t storage_offset, SourceLine at) {
  return detail::update_view(*this, "as_strided_", at, [&](const Tensor& x) { return tt::as_strided(x, size, stride, storage_offset, at); });
}
template <class> Tensor& Tensor::resize_(const IntList& size, SourceLine at) { return detail::resize(*this, size, at); }
template <class> Tensor& Tensor::resize_as_(const Tensor& o, SourceLine at) { return resize_(o.shape(at), at); }
template <class> Tensor& Tensor::set_(const Tensor& source, SourceLine at) { return detail::set(*this, source, at); }
template <class V> Tensor& Tensor::fill_diagonal_(const V& value, bool wrap, SourceLine at) { return detail::fill_diagonal(*this, {value, at}, wrap, at); }

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/view_updates_inl.hpp"
#endif
