// Definitions of inplace.hpp.
#pragma once
#include "tt/dispatch/inplace.hpp"
#include "tt/dispatch/memory_order.hpp"

namespace tt {
namespace detail {

TT_INLINE void write_on_devices(const Tensor& to, const Tensor& from, SourceLine at) {
  if (is_host(to.device())) return write_elements(to, to_device(from, to.device(), false, at), at);
  if (to.is_contiguous()) return copy_between(to, from, false);
  const Tensor source = to_device(from, to.device(), false, at);
  const Tensor* argument[] = {&to};
  const BoundFunction f = bind_function({&copy_operator(), argument, 1, &no_attributes, nullptr, at, {}});
  f.function->write(to, source, f.symbols);
}

TT_INLINE void write_elements(const Tensor& to, const Tensor& from, SourceLine at) {
  if (from.is_meta() && !to.is_meta())
    TT_THROW(Error(Text("tt::copy_: a Tensor on device meta has no elements to copy.") << at));
  const ExcludeKeys below(KeySet(DispatchKey::autograd) | DispatchKey::trace);
  Tensor source = from.dtype() == to.dtype() ? from : convert(from, to.dtype(), at);
  if (!is_host(to.device()) && is_host(source.device()) && source.impl().numel < to.impl().numel)
    source = to_device(source, to.device(), false, at);  // expanded on the device
  if (!(source.impl().shape == to.impl().shape)) source = source.expand(to.impl().shape, at);
  if (!to.is_contiguous() && is_host(to.device()))
    if (const MemoryOrder order(to); order.has_no_gaps(to)) return write_elements(in_order(to, order), in_order(source, order), at);
  if (!source.is_contiguous() || source.shares_storage(to)) source = call_unary(copy_operator(), source, no_attributes, at);
  if (to.impl().numel == 0 || to.is_meta()) return;
  if (!is_host(to.device()) || !is_host(source.device())) return write_on_devices(to, source, at);
  if (to.is_contiguous())
    copy_bytes(to.impl().data, source.data(), to.impl().numel * size_of(to.dtype()));
  else
    with_element_size(to.dtype(), [&]<class T>(T) { scatter<T>(to.impl(), static_cast<const T*>(source.data())); });
}

TT_INLINE void check_no_repeats(const Tensor& target, const char* op, SourceLine at) {
  if (has_repeats(target.impl()))
    TT_THROW(Error(Text("tt::") << op << ": several elements of the Tensor are one in memory: shape is " << target.impl().shape << ". Use clone() first?" << at));
}

TT_INLINE Tensor copy_for_tape(const Tensor& t, SourceLine at) {
  if (!DispatchState::of_this_thread().grad_enabled || (capture_mode && t.impl().trace_id >= 0 && capture_mode->keeps_old(t))) return t;
  const Tensor copy = outside_capture(t, "copy_", at, [&] { return call_unary(copy_operator(), t, no_attributes, at); });
  if (capture_mode) stamp(copy);  // the recorded op reads this copy, which nothing changes
  return copy;
}

TT_INLINE void check_result(const Tensor& target, const Tensor& result, const char* op, SourceLine at) {
  if (!(result.impl().shape == target.impl().shape))
    TT_THROW(Error(Text("tt::") << op << ": the result has another shape than the Tensor it is written to: " << result.shape()
                                << " and " << target.shape() << "." << at));
  if (!capture_mode && result.device() != target.device())  // in a capture the device of a value may differ
    TT_THROW(Error(Text("tt::") << op << ": the result is on " << to_text(result.device()) << ", the Tensor it is written to on " << to_text(target.device()) << ". Use to?" << at));
  if (category(result.dtype()) > category(target.dtype()))
    TT_THROW(Error(Text("tt::") << op << ": the result is " << name(result.dtype()) << " and cannot be written to "
                                << name(target.dtype()) << "." << at));
}

TT_INLINE void rename_traced(Tensor& target, const Tensor& result, const char* op, SourceLine at) {
  check_result(target, result, op, at);
  capture_mode->finish_update(target, result.dtype() == target.dtype() ? result : convert(result, target.dtype(), at), op, at);
}

TT_INLINE Tensor& write_elementwise(const Operator& op, Tensor& target, const TensorOperand* operand, int count, const Attributes& attributes, const char* name,
                                    SourceLine at) {
  check_no_repeats(target, name, at);
  const ExcludeKeys below(DispatchKey::autograd);
  const Tensor result = call_elementwise(op, operand, count, attributes, at, &target);
  if (!result.is_same(target)) {
    check_result(target, result, name, at);
    write_elements(target, result, at);
  }
  advance_version(target);
  return target;
}
TT_INLINE Tensor& update(const Operator& op, Tensor& target, const TensorOperand* operand, const char* name, SourceLine at) {
  const Tensor* const other = operand ? operand->tensor : nullptr;
  const int count = operand ? 2 : 1;
  const TensorOperand list[] = {TensorOperand(target, at), operand ? *operand : TensorOperand(target, at)};
  if (capture_mode) [[unlikely]] {
    if (capture_mode->begin_update(target, other, name, at)) {
      rename_traced(target, call_elementwise(op, list, count, no_attributes, at), name, at);
      return target;
    }
    const PauseCapture pause;
    return update(op, target, operand, name, at);
  }
  const TapeHooks& hooks = tape_hooks();
  if (change_is_taped(target, other)) {
    check_no_repeats(target, name, at);
    hooks.check(target, at);
    // The op saves the operands of its derivative: the old elements, in storage of their own.
    const Tensor old = call_unary(copy_operator(), target, no_attributes, at);
    const bool itself = !operand || (other && other->is_same(target));
    const TensorOperand kept[] = {TensorOperand(old, at), itself ? TensorOperand(old, at) : *operand};
    const Tensor result = call_elementwise(op, kept, count, no_attributes, at);
    check_result(target, result, name, at);
    const Tensor value = convert(result, target.dtype(), at);
    write_elements(target, value, at);
    advance_version(target);
    hooks.adopt(target, value);
    return target;
  }
  return write_elementwise(op, target, list, count, no_attributes, name, at);
}
TT_INLINE Tensor& update(const Operator& op, Tensor& target, const TensorOperand& operand, const char* name, SourceLine at) { return update(op, target, &operand, name, at); }

}  // namespace detail

TT_INLINE Tensor& Tensor::replace(const char* op, const Tensor& result, SourceLine at) {
  detail::check_result(*this, result, op, at);
  return copy_(result, at);
}

TT_INLINE Tensor& Tensor::copy_(const Tensor& from, SourceLine at) {
  if (!from.defined()) detail::refuse_undefined(at);
  if (from.is_same(*this)) return *this;
  if (const BroadcastResult r = try_broadcast(from.impl().shape, impl().shape); !r.ok || !(r.shape == impl().shape))
    TT_THROW(Error(Text("tt::copy_: shapes do not broadcast: ") << from.impl().shape << " and " << impl().shape
                                                                << ". Only axes of extent 1 can be repeated." << at));
  if (detail::capture_mode) [[unlikely]] {
    if (detail::capture_mode->begin_update(*this, &from, "copy_", at)) {
      const IncludeKeys traced(DispatchKey::trace);  // `from` may be a scalar
      detail::rename_traced(*this, (from.dtype() == dtype() ? from : from.to(dtype(), at)).expand(shape(), at), "copy_", at);  // any dtype into any
      return *this;
    }
    const detail::PauseCapture pause;
    return copy_(from, at);
  }
  const detail::TapeHooks& hooks = detail::tape_hooks();
  detail::check_no_repeats(*this, "copy_", at);
  const bool tape = detail::change_is_taped(*this, &from);
  if (tape) hooks.check(*this, at);
  detail::write_elements(*this, from, at);
  detail::advance_version(*this);
  if (tape) {
    const Tensor value = from.dtype() == dtype() ? from : from.to(dtype(), at);
    // a copy, so that this Tensor has a node of its own
    hooks.adopt(*this, detail::call_unary(detail::copy_operator(), value.expand(shape(), at), no_attributes, at));
  }
  return *this;
}

namespace detail {
/// Of elements that share memory (expanded axes), the first.
inline Tensor without_repeats(const Tensor& t, SourceLine at) {
  Tensor r = t;
  for (int k = 0; k < t.dim(); ++k)
    if (t.impl().stride[k] == 0 && t.impl().shape.code[k] > 1) r = r.slice(k, 0, 1, 1, at);
  return r;
}
}  // namespace detail
TT_INLINE Tensor& Tensor::fill_(double value, SourceLine at) {
  detail::need_in_range(dtype(), value, "fill_", at);
  Tensor one(dtype(), Shape{});
  one.impl().is_number = true;
  with_dtype(dtype(), [&]<class T>(T) { *reinterpret_cast<T*>(one.impl().data) = detail::number_as<T>(value); });
  detail::without_repeats(*this, at).copy_(one, at);
  return *this;
}

TT_INLINE Tensor& Tensor::fill_(const Size& value, SourceLine at) {
  detail::without_repeats(*this, at).copy_(detail::TensorOperand(value, at).number(dtype()), at);
  return *this;
}

TT_INLINE Tensor& Tensor::zero_(SourceLine at) { return fill_(0, at); }

TT_INLINE Tensor& Tensor::add_(const Tensor& o, SourceLine at) { return detail::update(operator_entry<Op::add>(), *this, {o, at}, "add_", at); }

TT_INLINE Tensor& Tensor::sub_(const Tensor& o, SourceLine at) { return detail::update(operator_entry<Op::sub>(), *this, {o, at}, "sub_", at); }

TT_INLINE Tensor& Tensor::mul_(const Tensor& o, SourceLine at) { return detail::update(operator_entry<Op::mul>(), *this, {o, at}, "mul_", at); }

TT_INLINE Tensor& Tensor::div_(const Tensor& o, SourceLine at) { return detail::update(operator_entry<Op::div>(), *this, {o, at}, "div_", at); }

}  // namespace tt
