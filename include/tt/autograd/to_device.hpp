// Tensor::to(device) as an op of the tape: a gradient is copied back to the device that the Tensor was on.
#pragma once
#include "tt/autograd/modes.hpp"
#include "tt/dispatch/to_device.hpp"

#if TT_DEFINES(autograd)

namespace tt {
namespace autograd {

struct ToDevice {
  static Tensor forward(FunctionContext& context, const Tensor& t, Device device, bool non_blocking, SourceLine at) {
    for (const Device& d : {t.device(), device}) {
      context.numbers.push_back(static_cast<double>(d.type));
      context.numbers.push_back(d.index);
    }
    return tt::detail::to_device(t, device, non_blocking, at);
  }
  static std::vector<Tensor> backward(FunctionContext& context, const std::vector<Tensor>& gradient) {
    return {gradient[0].to(device(context, 0))};
  }
  static std::vector<Tensor> jvp(FunctionContext& context, const std::vector<Tensor>& tangent) { return {tangent[0].to(device(context, 2))}; }

 private:
  static Device device(const FunctionContext& c, std::size_t k) { return {static_cast<DeviceType>(c.numbers[k]), static_cast<int>(c.numbers[k + 1])}; }
};

}  // namespace autograd

namespace detail {

/// to_device, on the tape where gradients or tangents are needed. A captured graph is of one device, so it ends here.
inline Tensor move_to(const Tensor& t, Device device, bool non_blocking, SourceLine at) {
  if (t.device() == device) return t;
  if (capture_mode) {
    capture_mode->need(t, "to another device", at);
    const PauseCapture pause;
    const Tensor moved = move_to(t, device, non_blocking, at);
    stamp(moved);
    return moved;
  }
  if (!autograd::may_be_dual(t) && (!t.requires_grad() || !is_grad_enabled())) return to_device(t, device, non_blocking, at);
  return apply_function<autograd::ToDevice>(t, device, non_blocking, at);
}

}  // namespace detail

TT_INLINE Tensor Tensor::to(Device device, bool non_blocking, SourceLine at) const {
  backend::register_cuda();
  return detail::move_to(*this, device, non_blocking, at);
}
TT_INLINE Tensor Tensor::cpu(SourceLine at) const { return detail::move_to(*this, Device{}, false, at); }

}  // namespace tt

#endif
