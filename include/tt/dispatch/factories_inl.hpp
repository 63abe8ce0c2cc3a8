// Definitions of factories.hpp.
#pragma once
#include <cstdio>
#include <cstring>

#include "tt/dispatch/factories.hpp"

namespace tt {
namespace detail {

TT_INLINE Tensor with_options(Tensor t, const TensorOptions& o) {
  if (!(t.device() == o.device)) t = to_device(t, o.device, false, here());
  stamp(t);
  if (o.requires_grad) tape_hooks().require(t);
  return t;
}

/// Copies the first 4,096 bytes over all that follow. Threads share the copies.
inline void repeat_block(std::byte* to, std::int64_t bytes) {
  constexpr std::int64_t block = 4096;
  in_ranges((bytes - 1) / block, block / 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = (begin + 1) * block; i < (end + 1) * block && i < bytes; i += block) std::memcpy(to + i, to, static_cast<std::size_t>(bytes - i < block ? bytes - i : block));
  });
}
/// Fills a block element by element, then repeats that block: g++ does not vectorise a loop of unknown length at -O2.
template <class T>
void fill_elements(T* to, std::int64_t n, T value) {
  constexpr std::int64_t block = 4096 / sizeof(T);
  for (std::int64_t i = 0; i < (n < block ? n : block); ++i) to[i] = value;
  if (n > block) repeat_block(reinterpret_cast<std::byte*>(to), n * static_cast<std::int64_t>(sizeof(T)));
}

/// Tells a capture how a Tensor was made.
inline void note_made(const Tensor& t, const Operator* op, std::initializer_list<const Tensor*> numbers = {}) {
  if (is_heard() && !t.is_meta() && !t.requires_grad())
    capture_mode->made(t, op, numbers.begin(), static_cast<int>(numbers.size()));
}
/// Computes Fn at once, even during a capture.
template <class Fn, class... A>
Tensor make_now(const IntList& shape, const TensorOptions& o, Device device, const A&... a) {
  Tensor t;
  {
    const PauseCapture pause;
    t = call_structured<Fn>(here(), empty(shape, on_device(o.dtype, device)), a...);
  }
  return with_options(t, o);
}

}  // namespace detail

namespace detail {

TT_INLINE Tensor filled(const Shape& s, double value, TensorOptions o) {
  if (const Device host = written_on(o.device); !(host == o.device) && s.rank > 0) {
    Tensor t;
    {
      const PauseCapture pause;  // no step of a capture
      t = to_device(filled({}, value, {o.dtype}), o.device, false, here()).expand(s).clone();
    }
    t.impl().is_fill = true;
    return with_options(t, o);
  }
  Tensor t(o.dtype, s, written_on(o.device));
  if (!t.is_meta())
    with_dtype(o.dtype, [&]<class T>(T) { fill_elements(elements_of<T>(t), t.numel(), number_as<T>(value)); });
  t.impl().is_fill = true;
  return with_options(t, o);
}

/// n numbers: first, first + apart, ... `elements`: n as a symbolic size, or null.
template <class = void>
Tensor arange_of(std::int64_t n, const TensorOperand& first, const TensorOperand& apart, TensorOptions o, const Size* elements) {
  const IntList shape{n};
  const Device device = detail::written_on(o.device);
  const auto number = [](const TensorOperand& v) { return v.number(v.literal); };
  Tensor t;
  if (!is_floating(first.literal) && device.type != DeviceType::meta) {  // as ArangeLike, without the call of an op: 63 ns instead of 463
    t = Tensor(o.dtype, Shape{n}, device);
    with_dtype(o.dtype, [&]<class T>(T) {
      T* const p = detail::elements_of<T>(t);
      auto v = static_cast<std::uint64_t>(first.integer);  // one step beyond the last may wrap around
      for (std::int64_t i = 0; i < n; ++i, v += static_cast<std::uint64_t>(apart.integer)) p[i] = static_cast<T>(static_cast<std::int64_t>(v));
    });
    t = detail::with_options(t, o);
  } else {
    t = detail::make_now<ArangeLike>(shape, o, device, number(first), number(apart));
  }
  if (elements) with_sizes(t, *elements);
  if (detail::is_heard()) {
    const Tensor numbers[] = {number(first), number(apart)};
    detail::note_made(t, &operator_entry<ArangeLike>(), {&numbers[0], &numbers[1]});
  }
  return t;
}
[[noreturn]] inline void refuse_arange(double start, double end, double step, SourceLine at) {
  if (step == 0) TT_THROW(Error(Text("tt::arange: the step is 0.") << at));
  char numbers[100];
  std::snprintf(numbers, sizeof(numbers), "from %g to %g by %g", start, end, step);
  TT_THROW(Error(Text("tt::arange: there is no such number of elements, or memory cannot hold them: ") << numbers << ". Smaller bounds?" << at));
}
inline constexpr double most_elements = 0x1p45;
template <class = void>
Tensor arange_of_integers(std::int64_t start, std::int64_t end, std::int64_t step, TensorOptions o, SourceLine at, const Size* elements) {
  const __int128 way = __int128{end} - start, n = step == 0 ? 0 : way / step + (way % step != 0 && (way < 0) == (step < 0));
  if (step == 0 || (way != 0 && (way < 0) != (step < 0)) || n >= static_cast<__int128>(most_elements)) refuse_arange(static_cast<double>(start), static_cast<double>(end), static_cast<double>(step), at);
  return arange_of(n > 0 ? static_cast<std::int64_t>(n) : 0, start, step, o, elements);
}
template <class = void>
Tensor arange_of_reals(double start, double end, double step, TensorOptions o, SourceLine at) {
  const double exact = (end - start) / step;
  const auto finite = [](double x) { return x - x == 0; };
  if (step == 0 || !finite(start) || !finite(end) || !finite(step) || !(exact >= 0 && exact < most_elements)) refuse_arange(start, end, step, at);
  if (is_integral(o.dtype)) {
    start = __builtin_trunc(start);
    step = __builtin_trunc(step);
  }
  std::int64_t n = static_cast<std::int64_t>(exact);
  if (static_cast<double>(n) < exact) ++n;
  const auto whole = [](double v) { return v > -0x1p53 && v < 0x1p53 && static_cast<double>(static_cast<std::int64_t>(v)) == v; };
  if (whole(start) && whole(end) && whole(step)) return arange_of(n, static_cast<std::int64_t>(start), static_cast<std::int64_t>(step), o, nullptr);
  return arange_of(n, start, step, o, nullptr);
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor arange(double start, double end, double step, TensorOptions o, SourceLine at) {
  return detail::arange_of_reals(start, end, step, o, at);
}
TT_LAZY_DEFINITION Tensor arange_of_integers(std::int64_t start, std::int64_t end, std::int64_t step, TensorOptions o, SourceLine at) {
  return detail::arange_of_integers(start, end, step, o, at, nullptr);
}
TT_LAZY_DEFINITION Tensor arange(const Size& end) {
  if (end < 0) detail::refuse_arange(0, static_cast<double>(end.value()), 1, {});
  return detail::arange_of_integers(0, end.hint(), 1, {.dtype = DType::i64}, {}, &end);
}

TT_LAZY_DEFINITION Tensor eye(SizeArgument size, TensorOptions o, SourceLine at) {
  const std::int64_t n = size.size.hint();
  Tensor t(o.dtype, shape_of({n, n}, "eye", at), detail::written_on(o.device));
  if (!t.is_meta())
    with_dtype(o.dtype, [&]<class T>(T) {
      detail::rows_of_one(detail::elements_of<T>(t), n, n, [](std::int64_t row) { return row; }, [](std::int64_t) { return T(1); });
    });
  t = detail::with_sizes(detail::with_options(t, o), {size, size});
  if (detail::is_heard()) detail::note_made(t, &operator_entry<EyeLike>());
  return t;
}

namespace detail {

template <class Fn>
Tensor random(const IntList& shape, std::int64_t seed, const TensorOptions& o, const char* op, SourceLine at) {
  (void)shape_of(shape, op, at);
  const Tensor t = with_sizes(make_now<Fn>(shape, o, o.device, seed), shape);
  if (is_heard()) {
    const Tensor key = TensorOperand(seed).number(DType::i64);
    note_made(t, &operator_entry<Fn>(), {&key});
  }
  return t;
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor rand(const IntList& shape, std::int64_t seed, TensorOptions o, SourceLine at) {
  return detail::random<RandLike>(shape, seed, o, "rand", at);
}

TT_LAZY_DEFINITION Tensor randn(const IntList& shape, std::int64_t seed, TensorOptions o, SourceLine at) {
  return detail::random<RandnLike>(shape, seed, o, "randn", at);
}

template <class T>
void TensorData::fill(T* out, std::int64_t& place, SourceLine at) const {
  if (!nested_) {
    const bool as_real = is_floating(dtype_) || (std::is_floating_point_v<T> && !fits_);
    if (!as_real && is_integral(dtype_of<T>) && (!fits_ || integer_ != static_cast<std::int64_t>(static_cast<T>(integer_))))
      TT_THROW(Error(describe({.mistake = Mistake::number_out_of_range, .op = "tensor", .dtype = dtype_of<T>, .number = integer_, .where = at})));
    out[place++] = as_real ? static_cast<T>(real_) : static_cast<T>(integer_);
  }
  for (const TensorData& d : list_) d.fill(out, place, at);
}

TT_INLINE Tensor TensorData::tensor(TensorOptions o, SourceLine at) const {
  Shape s;
  for (const TensorData* d = this; d->nested_; d = d->list_.size() ? d->list_.begin() : nullptr) {
    s.push_back(static_cast<std::int64_t>(d->list_.size()));
    if (d->list_.size() == 0) break;
  }
  DType found = DType::boolean;
  check_braces(s, 0, found, at);
  o.dtype = o.dtype.or_else(found == DType::f64 || s.size() == Extent(0) ? DType::f32 : found);
  Tensor t(o.dtype, s, detail::written_on(o.device));
  std::int64_t place = 0;
  if (!t.is_meta()) with_dtype(o.dtype, [&]<class T>(T) { fill(detail::elements_of<T>(t), place, at); });
  t = detail::with_options(t, o);
  detail::note_made(t, nullptr);
  return t;
}

TT_INLINE void TensorData::check_braces(const Shape& s, int depth, DType& found, SourceLine at) const {
  if (nested_ != (depth < s.rank) || (nested_ && static_cast<std::int64_t>(list_.size()) != s.code[depth]))
    TT_THROW(Error(Text("tt::tensor: the braces are not of one shape: expected ") << s << "." << at));
  if (!nested_) found = promote(found, dtype_);
  for (const TensorData& d : list_) d.check_braces(s, depth + 1, found, at);
}

}  // namespace tt
