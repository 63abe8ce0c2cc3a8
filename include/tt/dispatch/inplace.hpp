// In-place changes. Operands that share memory with the Tensor are read before it is written, as if they were copies; PyTorch throws if their strides differ.
// The tape records an in-place op as the op on the old value, and its result takes the Tensor's place; the storage's version tells whether a saved Tensor has
// changed.
#pragma once
#include "tt/dispatch/shared_ranges.hpp"
#include "tt/dispatch/to_device.hpp"

namespace tt {
namespace detail {

/// Called for Tensors that require a gradient; null while autograd is not part of the program.
struct TapeHooks {
  bool (*needs_tape)(const Tensor& target, const Tensor* other) = nullptr;
  void (*check)(const Tensor& target, SourceLine at) = nullptr;  ///< throws where the change is not allowed
  void (*adopt)(Tensor& target, const Tensor& result) = nullptr; ///< target gets result's history
  void (*become)(Tensor& target, const Tensor& view) = nullptr;  ///< `target` is now a view of its old self: it gets the history of `view`
  void (*view)(const Tensor& view) = nullptr;                    ///< a view made without an op gets the history of its base
  void (*require)(const Tensor& t) = nullptr;                    ///< Tensor::requires_grad_
  bool (*has_graph)(const Tensor& t) = nullptr;                  ///< was it computed on the tape, or does a graph of it still exist?
};
inline TapeHooks& tape_hooks() {
  static TapeHooks hooks;
  return hooks;
}
/// Does the tape record an in-place change of `target` by values of `other`?
inline bool change_is_taped(const Tensor& target, const Tensor* other = nullptr) {
  const TapeHooks& hooks = tape_hooks();
  return hooks.needs_tape && hooks.needs_tape(target, other);
}

/// Changed under NoGrad although it requires a gradient: values read later do not depend on the old one.
inline bool is_changed_off_tape(const Tensor& target) { return target.impl().requires_grad && !DispatchState::of_this_thread().grad_enabled; }

/// Runs f(), which changes `t` or reads its elements, at once on the elements. A captured graph ends before it.
template <class F>
decltype(auto) outside_capture(const Tensor& t, const char* op, SourceLine at, const F& f) {
  if (!capture_mode) [[likely]] return f();
  capture_mode->need(t, op, at, Use::may_write);
  const PauseCapture pause;
  return f();
}

/// Copies contiguous elements to the elements of `to`, which must not overlap. T has the size of an element.
template <class T>
void scatter(const TensorImpl& to, const T* from) {
  const int rank = to.shape.rank;
  const std::int64_t n = rank ? to.shape.code[rank - 1] : 1, step = rank ? to.stride[rank - 1] : 1;
  T* const base = reinterpret_cast<T*>(to.data);
  in_ranges(n > 0 ? to.numel / n : 0, n, [&](std::int64_t begin, std::int64_t end) {
    const int last = rank - 2;
    each_row_place(begin, end, last < 0 ? 0 : last + 1, [&](int k) { return to.shape.code[last - k]; }, [&](int k) { return to.stride[last - k]; }, [&](std::int64_t row, std::int64_t place) {
      const T* const elements = from + row * n;
      if (step == 1) std::memcpy(base + place, elements, static_cast<std::size_t>(n) * sizeof(T));
      else
        for (std::int64_t i = 0; i < n; ++i) base[place + i * step] = elements[i];
    });
  });
}

/// Copies contiguous elements of the same shape and dtype between any two devices.
TT_INLINE void write_on_devices(const Tensor& to, const Tensor& from, SourceLine at);

/// Writes the elements of `from` (same shape after broadcasting, any dtype) into `to`.
TT_INLINE void write_elements(const Tensor& to, const Tensor& from, SourceLine at);
inline void advance_version(const Tensor& t) {
  t.impl().forget_fill();
  if (t.impl().storage) t.impl().storage->version.fetch_add(1, std::memory_order_relaxed);
}

/// Throws if elements of `target` share memory: which of several values stays would depend on the order of writes.
TT_INLINE void check_no_repeats(const Tensor& target, const char* op, SourceLine at);
TT_INLINE void check_result(const Tensor& target, const Tensor& result, const char* op, SourceLine at);

/// In a captured graph an in-place change gives the target a new value.
TT_INLINE void rename_traced(Tensor& target, const Tensor& result, const char* op, SourceLine at);

/// target = op(operands), elementwise, without tape and capture; written in place if the kernel can. `name` is the op's name in errors.
TT_INLINE Tensor& write_elementwise(const Operator& op, Tensor& target, const TensorOperand* operand, int count, const Attributes& attributes, const char* name,
                                    SourceLine at);
template <class... A>
InPlace::InPlace(Tensor& target, const char* name, SourceLine at, const A&... others)
    : write([](InPlace& method, const Operator& op, const TensorOperand* operand, int count, const Attributes& attributes) { return method.result_of(op, operand, count, attributes); }),
      may_change([](InPlace& method, const Tensor& x, const Tensor* const* read, int count) { return method.changes(x, read, count); }), target_(target), name_(name), at_(at) {
  const auto taped = [&](const auto& o) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(o)>, Tensor>) return !o.defined() || change_is_taped(target, &o);
    else return false;
  };
  armed_ = !capture_mode && !(taped(target) || ... || taped(others));
  if (!armed_) return;
  before_ = DispatchState::of_this_thread().in_place;
  DispatchState::of_this_thread().in_place = this;
}
inline InPlace::~InPlace() {
  if (armed_) DispatchState::of_this_thread().in_place = before_;
}
inline Tensor InPlace::result_of(const Operator& op, const TensorOperand* operand, int count, const Attributes& attributes) {
  DispatchState& state = DispatchState::of_this_thread();
  state.in_place = nullptr;  // not for ops that this one calls
  bool reads_target = false;
  for (int k = 0; k < count && elementwise_; ++k) reads_target = reads_target || (operand[k].tensor && operand[k].tensor->is_same(target_));
  if (reads_target && written_) TT_THROW(InternalError(Text("tt::") << name_ << ": the method calls more than one op, the first of which has written its result." << at_));
  const Tensor result = reads_target ? write_elementwise(op, target_, operand, count, attributes, name_, at_) : call_elementwise(op, operand, count, attributes, at_);
  written_ = written_ || reads_target;
  state.in_place = this;
  return result;
}
inline bool InPlace::changes(const Tensor& x, const Tensor* const* others, int count) {
  const TensorImpl &own = x.impl(), &target = target_.impl();
  bool all = !elementwise_ && !written_ && own.storage == target.storage && own.data == target.data && own.numel == target.numel && own.contiguous && target.contiguous && own.dtype == target.dtype;
  for (int k = 0; k < count; ++k) all = all && !others[k]->shares_storage(target_);
  if (!all) return false;
  written_ = true;
  advance_version(target_);
  return true;
}
inline Tensor& InPlace::take(const Tensor& result) const {
  if (!written_) return target_.replace(name_, result, at_);
  if (!result.shares_storage(target_)) TT_THROW(InternalError(Text("tt::") << name_ << ": the method's result is not that of its op." << at_));
  return target_;
}

/// The elements of `x` for an op that changes some of them, and reads `others`: a copy, or `x` itself, where a method in place waits for the op's result.
inline Tensor elements_to_change(const Tensor& x, const Tensor* const* others, int count) {
  if (InPlace* const method = DispatchState::of_this_thread().in_place; method && method->may_change(*method, x, others, count)) return x;
  Tensor copy(x.dtype(), x.impl().shape, x.device());
  return copy.copy_(x.detach());
}
inline Tensor elements_to_change(const Call& c) { return elements_to_change(c[0], c.argument + 1, c.arguments - 1); }

/// target = op(target, operand), in place.
TT_INLINE Tensor& update(const Operator& op, Tensor& target, const TensorOperand& operand, const char* name, SourceLine at);
/// The same; with a null `operand`, for ops of one operand. Contiguous elements are written in place.
TT_INLINE Tensor& update(const Operator& op, Tensor& target, const TensorOperand* operand, const char* name, SourceLine at);

}  // namespace detail

template <NumberOrSize A>
Tensor& Tensor::add_(A o, SourceLine at) { return detail::update(operator_entry<Op::add>(), *this, {o, at}, "add_", at); }
template <NumberOrSize A>
Tensor& Tensor::sub_(A o, SourceLine at) { return detail::update(operator_entry<Op::sub>(), *this, {o, at}, "sub_", at); }
template <NumberOrSize A>
Tensor& Tensor::mul_(A o, SourceLine at) { return detail::update(operator_entry<Op::mul>(), *this, {o, at}, "mul_", at); }
template <NumberOrSize A>
Tensor& Tensor::div_(A o, SourceLine at) { return detail::update(operator_entry<Op::div>(), *this, {o, at}, "div_", at); }

namespace detail {
/// Throws Error if a write would be lost: this Tensor is a temporary and nothing else shares its storage, except a base that is itself a temporary.
inline void need_seen(const TensorImpl* t, SourceLine at) {
  if (!t || !t->storage || t->storage->free_data || t->uses.load(std::memory_order_relaxed) != 1) return;
  const bool base_has_no_name = t->base && t->base->uses.load(std::memory_order_relaxed) == 1;
  if (t->storage->tensors() == (base_has_no_name ? 2 : 1))
    TT_THROW(Error(Text("tt: what is assigned to a copy without a name is lost: x.index({tensor}), as any result of an op, shares no elements with x. Use x.index_put_({...}, value)?") << at));
}
}  // namespace detail
inline Tensor& Tensor::operator=(detail::TensorOperand from) && {
  detail::need_seen(impl_, from.where);
  if (from.tensor) return copy_(*from.tensor, from.where);
  return copy_(from.number(dtype()), from.where);
}
template <class Never>
void Tensor::operator=(detail::TensorOperand) const&& {
  static_assert(std::is_void_v<Never>, "tt: x[mask] and x[indices] are copies: what is assigned to them would be lost. Use tt::where, or slices?");
}

inline Tensor& operator+=(Tensor& a, detail::TensorOperand b) { return detail::update(operator_entry<Op::add>(), a, b, "add_", b.where); }
inline Tensor& operator-=(Tensor& a, detail::TensorOperand b) { return detail::update(operator_entry<Op::sub>(), a, b, "sub_", b.where); }
inline Tensor& operator*=(Tensor& a, detail::TensorOperand b) { return detail::update(operator_entry<Op::mul>(), a, b, "mul_", b.where); }
inline Tensor& operator/=(Tensor& a, detail::TensorOperand b) { return detail::update(operator_entry<Op::div>(), a, b, "div_", b.where); }
// For a view that was just made: y[0] += x.
inline Tensor operator+=(Tensor&& a, detail::TensorOperand b) { return a += b; }
inline Tensor operator-=(Tensor&& a, detail::TensorOperand b) { return a -= b; }
inline Tensor operator*=(Tensor&& a, detail::TensorOperand b) { return a *= b; }
inline Tensor operator/=(Tensor&& a, detail::TensorOperand b) { return a /= b; }

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/inplace_inl.hpp"
#endif
