// Definitions of factories.hpp.
#pragma once
#include "tt/dispatch/factories.hpp"

namespace tt {
namespace detail {

TT_INLINE Tensor with_options(Tensor t, const TensorOptions& o) {
  if (t.impl().trace_id < 0 && !(t.device() == o.device)) t = to_device(t, o.device, false, here());
  stamp(t);
  if (o.requires_grad) tape_hooks().require(t);
  return t;
}

/// Where an op that nothing flows into runs: on the device of the function that is captured, or where its elements are
/// written if they are not computed.
inline Device computed_on(Device d) { return capture_mode ? d : written_on(d); }
/// So few elements are part of a captured function's text.
inline constexpr std::int64_t most_in_text = 16;
/// Those elements, made of numbers.
TT_INLINE Tensor in_text(const Tensor& elements) {
  const std::int64_t n = elements.numel();
  if (n == 0) return elements;
  return with_dtype(elements.dtype(), [&]<class T>(T) {
    const T* const value = elements_of<T>(elements);
    const auto number = [&](std::int64_t k) { return TensorOperand(value[k]).number(elements.dtype()).expand(elements.shape()); };
    Tensor t = number(0).clone(), place;
    for (std::int64_t k = 1; k < n; ++k) {
      if (std::memcmp(value + k, value, sizeof(T)) == 0) continue;
      if (!place.defined()) place = arange(n).reshape(elements.shape());
      t = where(place == k, number(k), t);
    }
    return t;
  });
}

}  // namespace detail

TT_INLINE Tensor full(const IntList& shape, double value, TensorOptions given) {
  const TensorOptions o = detail::as_captured(given);
  const Shape s = shape_of(shape, "full");
  if (const Device host = detail::written_on(o.device); !(host == o.device) && s.rank > 0) {
    Tensor t;
    {
      const detail::PauseCapture pause;  // whatever is captured: this is no step of it
      t = detail::to_device(full({}, value, {o.dtype}), o.device, false, here()).expand(shape).clone();
    }
    t.impl().is_fill = true;
    return detail::with_options(t, o);
  }
  Tensor t(o.dtype, s, detail::written_on(o.device));
  if (!t.is_meta())
    with_dtype(o.dtype, [&]<class T>(T) {
      T* p = detail::elements_of<T>(t);
      const T v = static_cast<T>(value);
      for (std::int64_t i = 0; i < t.numel(); ++i) p[i] = v;
    });
  t.impl().is_fill = true;
  return detail::with_options(t, o);
}

TT_INLINE Tensor arange(double start, double end, double step, TensorOptions o) {
  if (step == 0) TT_THROW(Error(Text("tt::arange: the step is 0.")));
  const double exact = (end - start) / step;
  std::int64_t n = static_cast<std::int64_t>(exact);
  if (static_cast<double>(n) < exact) ++n;
  const auto whole = [](double v) { return v > -0x1p53 && v < 0x1p53 && static_cast<double>(static_cast<std::int64_t>(v)) == v; };
  const bool integers = whole(start) && whole(step);
  const auto number = [&](double v) {
    return integers ? detail::TensorOperand(static_cast<std::int64_t>(v)).number(DType::i64) : detail::TensorOperand(v).number(DType::f64);
  };
  const TensorOptions computed = detail::on_device(o.dtype, detail::computed_on(o.device));
  const Tensor like = empty({n > 0 ? n : 0}, computed);
  return detail::with_options(detail::TensorFunction<detail::ArangeLikeFn>::run(here(), like, number(start), number(step)), o);
}

TT_INLINE Tensor eye(std::int64_t n, TensorOptions o) {
  const Tensor like = empty({n, n}, detail::on_device(o.dtype, detail::computed_on(o.device)));
  return detail::with_options(detail::TensorFunction<detail::EyeLikeFn>::run(here(), like), o);
}

TT_INLINE Tensor rand(const IntList& shape, std::int64_t seed, TensorOptions o) {
  return detail::with_options(rand_like(empty(shape, detail::on_device(o.dtype, o.device)), seed), o);
}

TT_INLINE Tensor randn(const IntList& shape, std::int64_t seed, TensorOptions o) {
  return detail::with_options(randn_like(empty(shape, detail::on_device(o.dtype, o.device)), seed), o);
}

template <class T>
void TensorData::fill(T* out, std::int64_t& at) const {
  if (!nested_) out[at++] = is_floating(dtype_) ? static_cast<T>(real_) : static_cast<T>(integer_);
  for (const TensorData& d : list_) d.fill(out, at);
}

TT_INLINE Tensor TensorData::tensor(TensorOptions o, bool dtype_given) const {
  o = detail::as_captured(o);
  Shape s;
  for (const TensorData* d = this; d->nested_; d = d->list_.size() ? d->list_.begin() : nullptr) {
    s.push_back(static_cast<std::int64_t>(d->list_.size()));
    if (d->list_.size() == 0) break;
  }
  DType found = DType::boolean;
  check(s, 0, found);
  if (!dtype_given) o.dtype = found == DType::f64 ? DType::f32 : s.size() == Extent(0) ? DType::f32 : found;
  Tensor t(o.dtype, s, detail::written_on(o.device));
  std::int64_t at = 0;
  if (!t.is_meta()) with_dtype(o.dtype, [&]<class T>(T) { fill(detail::elements_of<T>(t), at); });
  if (!t.is_meta() && detail::capture_mode && t.numel() <= detail::most_in_text) t = detail::in_text(t);
  return detail::with_options(t, o);
}

TT_INLINE void TensorData::check(const Shape& s, int depth, DType& found) const {
  if (nested_ != (depth < s.rank) || (nested_ && static_cast<std::int64_t>(list_.size()) != s.code[depth]))
    TT_THROW(Error(Text("tt::tensor: the braces are not of one shape: expected ") << s << "."));
  if (!nested_) found = promote(found, dtype_);
  for (const TensorData& d : list_) d.check(s, depth + 1, found);
}

}  // namespace tt
