// Definitions of tensor.hpp: creation and destruction of Tensors and their storage, and the errors of wrong uses.
#pragma once
#include "tt/core/allocator.hpp"
#include "tt/core/tensor.hpp"

namespace tt {

TT_INLINE Storage* Storage::make(std::size_t bytes, std::size_t element) {
  const std::size_t room = room_for(bytes, element);
  auto* s = ::new (detail::CachingAllocator::get().allocate(header + room)) Storage;
  s->bytes = bytes;
  s->room = room;
  s->data = reinterpret_cast<std::byte*>(s) + header;
  return s;
}
TT_INLINE Storage* Storage::make(std::size_t bytes, const DeviceApi& api, int index) {
  void* const elements = bytes > 0 ? api.allocate(index, bytes) : nullptr;
  auto* s = ::new (detail::CachingAllocator::get().allocate(sizeof(Storage))) Storage;
  s->bytes = bytes;
  s->data = elements;
  s->context = const_cast<DeviceApi*>(&api);
  s->device_index = index;
  s->free_data = [](Storage& own) {
    if (own.data) static_cast<const DeviceApi*>(own.context)->free(own.device_index, own.data, own.bytes);
  };
  return s;
}
TT_INLINE void Storage::destroy() {
  const std::size_t block = free_data ? sizeof(Storage) : header + room;
  if (free_data) free_data(*this);
  this->~Storage();
  detail::CachingAllocator::get().free(this, block);
}

namespace detail {

TT_INLINE TensorImpl* TensorImpl::make() { return ::new (CachingAllocator::get().allocate(sizeof(TensorImpl))) TensorImpl; }
/// The base of a view is never a view itself.
TT_INLINE void TensorImpl::become_view_of(TensorImpl& t) {
  base = t.base ? t.base : &t;
  base->retain();
  const FlagLock lock(base->views_busy);
  next_view = base->first_view;
  if (next_view) next_view->previous_view = this;
  base->first_view = this;
}
TT_INLINE void TensorImpl::leave_base() {
  if (!base) return;
  {
    const FlagLock lock(base->views_busy);
    (previous_view ? previous_view->next_view : base->first_view) = next_view;
    if (next_view) next_view->previous_view = previous_view;
  }
  next_view = previous_view = nullptr;
  std::exchange(base, nullptr)->release();
}
TT_INLINE void TensorImpl::leave_views() {
  for (;;) {
    TensorImpl* view = nullptr;
    {
      const FlagLock lock(views_busy);
      view = first_view;
      while (view && !view->try_retain()) view = view->next_view;  // a view without users is leaving by itself
    }
    if (!view) return;
    view->leave_base();
    view->release();
  }
}
// Not inlined, so that release() is.
TT_INLINE TT_NOINLINE void TensorImpl::destroy() {
  if (autograd) autograd->destroy(autograd);
  leave_base();
  if (storage) storage->release();
  this->~TensorImpl();
  CachingAllocator::get().free(this, sizeof(TensorImpl));
}
[[noreturn]] TT_INLINE void refuse_undefined(SourceLine at) { TT_THROW(Error(Text("tt: an undefined Tensor was used.") << at)); }

}  // namespace detail

TT_INLINE Tensor::Tensor(DType dtype, const Shape& shape, Device device)
    : Tensor(detail::TensorImpl::make()) {  // complete from here on: freed if there is no memory
  const std::size_t bytes = bytes_of("tt::Tensor", dtype, shape);
  impl_->dtype = dtype;
  impl_->device = device;
  impl_->keys = backend_key(device.type);
  impl_->set_dense(shape);
  if (device.type == DeviceType::meta) return;
  if (device.type == DeviceType::cuda && !device_api(device.type))
    TT_THROW(Unavailable(Text("tt::Tensor: device cuda is not known before the first op. Use tt::empty or Tensor::to?")));
  if (const DeviceApi* api = device_api(device.type)) impl_->storage = Storage::make(bytes, *api, device.index);
  else impl_->storage = Storage::make(bytes, static_cast<std::size_t>(size_of(dtype)));
  impl_->data = static_cast<std::byte*>(impl_->storage->data);
}

TT_INLINE int Tensor::checked_axis(int axis, const char* op, SourceLine at) const {
  if (!impl_) detail::refuse_undefined(at);
  const int a = normalize_axis(axis, impl_->shape.rank);
  if (a < 0) TT_THROW(Error(Text("tt::Tensor::") << op << ": axis is out of range: " << axis << " for shape " << shape() << " of rank " << dim() << "." << at));
  return a;
}
TT_INLINE void Tensor::check_type(DType d, const char* op, SourceLine at) const {
  if (!impl_) detail::refuse_undefined(at);
  if (d != dtype()) TT_THROW(Error(Text("tt::Tensor::") << op << ": dtype is " << name(dtype()) << ", not " << name(d) << ". Cast it first?" << at));
}
inline Text Tensor::why_empty() const {
  return impl_->trace_id >= 0 ? Text("was recorded by a capture that has ended.")
                              : Text("is on device ") << name(device().type) << ".";
}
TT_INLINE void Tensor::need_one_element(const char* op, SourceLine at) const {
  if (!impl_) detail::refuse_undefined(at);
  if (numel() != 1)
    TT_THROW(Error(Text("tt::Tensor::") << op << ": needs exactly one element: shape is " << shape() << "." << at));
  need_elements(op, at);
  if (!impl_->data) TT_THROW(Error(Text("tt::Tensor::") << op << ": the Tensor has no elements: it " << why_empty() << at));
}
TT_INLINE void Tensor::need_whole(double v, int digits, bool is_signed, const char* op, SourceLine at) {
  const double end = __builtin_ldexp(1, digits), whole = __builtin_trunc(v);
  if (whole < end && whole >= (is_signed ? -end : 0)) return;
  Text text = Text("tt::Tensor::") << op << ": element ";
  detail::write_number(text, v);
  TT_THROW(Error(text << " is out of range for an integer of " << digits + is_signed << (is_signed ? " bits." : " bits without a sign.") << at));
}
TT_INLINE void Tensor::check_elements(DType d, SourceLine at) const {
  check_type(d, "elements", at);
  need_elements("elements", at, detail::Use::may_write);
  if (!impl_->data && impl_->numel > 0)
    TT_THROW(Error(Text("tt::Tensor::elements: the Tensor has no elements: it ") << why_empty() << at));
  if (!is_host(impl_->device))
    TT_THROW(Error(Text("tt::Tensor::elements: the elements are on device ") << name(impl_->device.type) << ". Use cpu() first?" << at));
  if (!is_contiguous())
    TT_THROW(Error(Text("tt::Tensor::elements: the elements do not lie dense: shape is ") << shape() << ". Use contiguous() first?" << at));
}

}  // namespace tt
