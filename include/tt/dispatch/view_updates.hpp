// In place, of what a Tensor is and not of its elements: another view of them, or other elements. All handles of the Tensor see it; other Tensors on the same
// elements stay as they are. On the tape it is the view in the Tensor's place, in captured functions a graph ends there.
//   x.unsqueeze_(0);   x.t_();   buffer.resize_({2, n});
#pragma once
#include "tt/dispatch/inplace.hpp"
#include "tt/dispatch/shape_functions.hpp"

namespace tt {
namespace detail {

/// `t` becomes what `other` is, which is let go of; with its history, if that is on the tape.
TT_LAZY void show(Tensor& t, Tensor other, bool tape);
TT_LAZY Tensor& resize(Tensor& t, const IntList& size, SourceLine at);
TT_LAZY Tensor& fill_diagonal(Tensor& t, const TensorOperand& value, bool wrap, SourceLine at);

/// `t` becomes view(t). A leaf that wants a gradient may not.
template <class F>
Tensor& become(Tensor& t, const char* op, SourceLine at, const F& view) {
  if (capture_mode) [[unlikely]] {
    capture_mode->need(t, op, at);
    const PauseCapture pause;
    return become(t, op, at, view);
  }
  const TapeHooks& hooks = tape_hooks();
  const bool tape = hooks.needs_tape && hooks.needs_tape(t, nullptr);
  if (tape) hooks.check(t, at);
  show(t, view(static_cast<const Tensor&>(t)), tape);
  return t;
}

}  // namespace detail

template <class> Tensor& Tensor::transpose_(int dim0, int dim1, SourceLine at) {
  return detail::become(*this, "transpose_", at, [&](const Tensor& x) { return x.transpose(dim0, dim1, at); });
}
template <class> Tensor& Tensor::swapaxes_(int axis0, int axis1, SourceLine at) { return transpose_(axis0, axis1, at); }
template <class> Tensor& Tensor::swapdims_(int dim0, int dim1, SourceLine at) { return transpose_(dim0, dim1, at); }
template <class> Tensor& Tensor::t_(SourceLine at) {
  return detail::become(*this, "t_", at, [&](const Tensor& x) { return x.t(at); });
}
template <class> Tensor& Tensor::squeeze_(SourceLine at) {
  return detail::become(*this, "squeeze_", at, [&](const Tensor& x) { return tt::squeeze(x, {}, at); });
}
template <class> Tensor& Tensor::squeeze_(int dim, SourceLine at) {
  return detail::become(*this, "squeeze_", at, [&](const Tensor& x) { return x.squeeze(dim, at); });
}
template <class> Tensor& Tensor::unsqueeze_(int dim, SourceLine at) {
  return detail::become(*this, "unsqueeze_", at, [&](const Tensor& x) { return x.unsqueeze(dim, at); });
}
template <class> Tensor& Tensor::as_strided_(const IntList& size, const IntList& stride, SourceLine at) {
  return detail::become(*this, "as_strided_", at, [&](const Tensor& x) { return tt::as_strided(x, size, stride, {}, at); });
}
template <class> Tensor& Tensor::as_strided_(const IntList& size, const IntList& stride, std::int64_t storage_offset, SourceLine at) {
  return detail::become(*this, "as_strided_", at, [&](const Tensor& x) { return tt::as_strided(x, size, stride, storage_offset, at); });
}
template <class> Tensor& Tensor::resize_(const IntList& size, SourceLine at) { return detail::resize(*this, size, at); }
template <class> Tensor& Tensor::resize_as_(const Tensor& o, SourceLine at) { return resize_(o.shape(at), at); }
template <class> Tensor& Tensor::set_(const Tensor& source, SourceLine at) {
  if (source.dtype() != dtype()) TT_THROW(Error(Text("tt::set_: dtypes differ: ") << name(dtype()) << " and " << name(source.dtype()) << "." << at));
  if (detail::capture_mode) detail::capture_mode->need(source, "set_", at);
  return detail::become(*this, "set_", at, [&](const Tensor&) { return source.detach(); });
}
template <class V> Tensor& Tensor::fill_diagonal_(const V& value, bool wrap, SourceLine at) { return detail::fill_diagonal(*this, {value, at}, wrap, at); }

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/view_updates_inl.hpp"
#endif
