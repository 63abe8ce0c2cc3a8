// Tensors on memory that others own: no copy.
//   tt::from_blob(p, {rows, columns}, [keep](void*) {});      tt::from_blob(p, {480, 640}, {1, 480});      tt::as_tensor(array)
#pragma once
#include <concepts>
#include <memory>

#include "tt/dispatch/factories.hpp"

namespace tt {
namespace detail {

struct NothingToFree {
  void operator()(void*) const {}
};
/// Frees elements that are not tt's own: calls the deleter of type D, which the storage owns, and deletes it.
template <class D>
void end_of_blob(Storage& own) {
  auto* done = static_cast<D*>(own.context);
  if constexpr (std::is_pointer_v<D>) {
    if (*done) (*done)(own.data);
  } else {
    (*done)(own.data);
  }
  delete done;
}
/// A Tensor on the elements at `data` with these strides; `done` is called with `data` when the last Tensor is gone, but not if an Error is
/// thrown here.
template <class D>
Tensor tensor_on(void* data, DType dtype, const Shape& shape, const std::int64_t* strides, Device device, D done) {
  Tensor t(TensorImpl::make());
  TensorImpl& impl = t.impl();
  impl.set_strided(shape, strides);
  std::int64_t last = 0;
  for (int k = 0; k < shape.rank; ++k) last += (shape.code[k] - 1) * strides[k];
  auto context = std::make_unique<D>(static_cast<D&&>(done));
  auto* storage = ::new (CachingAllocator::get().allocate(sizeof(Storage))) Storage;
  storage->data = data;
  storage->bytes = impl.numel > 0 ? static_cast<std::size_t>(last + 1) * static_cast<std::size_t>(size_of(dtype)) : 0;
  storage->room = storage->bytes;
  storage->device_index = device.index;
  storage->context = context.release();
  storage->free_data = &end_of_blob<D>;
  impl.storage = storage;
  impl.data = static_cast<std::byte*>(data);
  impl.dtype = dtype;
  impl.device = device;
  impl.keys = backend_key(device.type);
  impl.capture = DispatchState::of_this_thread().capture;
  return t;
}
/// The strides of a contiguous Tensor.
inline SmallVec<std::int64_t, 8> dense_strides(const Shape& shape) {
  SmallVec<std::int64_t, 8> strides(shape.rank);
  std::int64_t n = 1;
  for (int k = shape.rank - 1; k >= 0; --k) {
    strides[k] = n;
    n *= shape.code[k];
  }
  return strides;
}
}  // namespace detail

/// A Tensor on these elements. `deleter` is called with `data` when the last Tensor is gone.
template <Element T, class D = detail::NothingToFree>
  requires std::invocable<D&, void*>
Tensor from_blob(T* data, const IntList& shape, D deleter = {}) {
  const Shape s = shape_of(shape, "from_blob");
  return detail::tensor_on(data, dtype_of<T>, s, detail::dense_strides(s).begin(), Device{}, static_cast<D&&>(deleter));
}
/// The same with strides, in elements, on the host or on a device. Throws Error when there is not a stride for each axis, or one is
/// negative.
template <Element T, class D = detail::NothingToFree>
  requires std::invocable<D&, void*>
Tensor from_blob(T* data, const IntList& shape, const IntList& strides, D deleter = {}, decltype(TensorOptions::device) device = {}) {
  const Shape s = shape_of(shape, "from_blob");
  SmallVec<std::int64_t, 8> apart;
  for (int k = 0; k < strides.size(); ++k) {
    apart.push_back(std::int64_t{strides[k]});
    if (apart[k] < 0) TT_THROW(Error(Text("tt::from_blob: a stride is negative: ") << apart[k] << ". Begin at the other end, and use tt::flip?"));
  }
  if (apart.size() != s.rank) TT_THROW(Error(Text("tt::from_blob: ") << apart.size() << " strides for " << s.rank << " axes."));
  if (const Device on = device; on.type != DeviceType::cpu) detail::register_kernels();
  return detail::tensor_on(data, dtype_of<T>, s, apart.begin(), device, static_cast<D&&>(deleter));
}
/// A Tensor on the elements of a view of an Array, which must outlive the Tensor.
template <class T, std::int64_t... E>
  requires(!std::is_const_v<T>)
Tensor as_tensor(const ArrayView<T, E...>& a) {
  return from_blob(a.data(), a.shape());
}
/// The same on an Array, which must outlive the Tensor.
template <class T, std::int64_t... E>
Tensor as_tensor(Array<T, E...>& a) {
  return as_tensor(ArrayView<T, E...>(a));
}
/// The same on an Array that is moved in, and lives as long as the Tensor.
template <class T, std::int64_t... E>
Tensor as_tensor(Array<T, E...>&& a) {
  auto kept = std::make_unique<Array<T, E...>>(static_cast<Array<T, E...>&&>(a));
  T* const data = kept->data();
  const Shape shape = kept->shape();
  return from_blob(data, shape, [own = std::move(kept)](void*) {});
}

}  // namespace tt
