// Copies between devices; only where asked for, never implicit.
//   tt::Tensor y = x.to(tt::Device{tt::DeviceType::cuda, 0});   y.cpu();
#pragma once
#include "tt/core/copy_memory.hpp"
#include "tt/dispatch/views.hpp"

namespace tt::detail {

/// Copies between contiguous Tensors of one shape and dtype; both on the host: a plain copy.
TT_INLINE void copy_between(const Tensor& to, const Tensor& from, bool non_blocking);

/// Without the tape: Tensor::to records the copy.
TT_INLINE Tensor to_device(const Tensor& t, Device device, bool non_blocking, SourceLine at);

#if TT_DEFINES(dispatch)
TT_INLINE void copy_between(const Tensor& to, const Tensor& from, bool non_blocking) {
  const std::size_t bytes = static_cast<std::size_t>(from.numel()) * static_cast<std::size_t>(size_of(from.dtype()));
  if (bytes == 0) return;
  const DeviceApi *of_target = device_api(to.device().type), *of_source = device_api(from.device().type);
  if (!of_target && !of_source) copy_memory(to.impl().data, from.impl().data, bytes);
  else (of_target ? of_target : of_source)->copy(to.impl().data, to.device(), from.impl().data, from.device(), bytes, non_blocking);
}

TT_INLINE Tensor to_device(const Tensor& t, Device device, bool non_blocking, SourceLine at) {
  if (t.device() == device) return t;
  register_kernels();
  if (t.impl().trace_id >= 0) TT_THROW(Error(Text("tt::to: the Tensor was recorded by a capture that has ended.") << at));
  const ExcludeKeys below(DispatchKey::autograd);
  if (device.type == DeviceType::meta) return Tensor(t.dtype(), t.impl().shape, device);
  if (t.is_meta()) TT_THROW(Error(Text("tt::to: a Tensor on device meta has no elements to copy.") << at));
  if (device.type == DeviceType::cuda && !device_api(device.type))
    TT_THROW(Unavailable(Text("tt::to: device cuda is not part of this program.") << at));
  const Tensor dense = t.is_contiguous() ? t : call_unary(copy_operator(), t, no_attributes, at);
  Tensor result(t.dtype(), t.impl().shape, device);
  copy_between(result, dense, non_blocking);
  return result;
}
#endif

}  // namespace tt::detail
