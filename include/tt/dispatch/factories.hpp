// Factories: functions that create Tensors from sizes, numbers and options.
//   tt::tensor({{1.0, 2.0}, {3.0, 4.0}})   tt::zeros({2, 3})   tt::arange(10)
#pragma once
#include "tt/core/array_view.hpp"
#include "tt/core/copy_memory.hpp"
#include "tt/dispatch/inplace.hpp"

namespace tt {
namespace autograd {
void register_tape();
}
namespace detail {

/// An option that needs a part of the library: giving it calls `bring_in`, which links that part; programs that never
/// give it do not compile that part.
template <class T, void (*bring_in)()>
class Option {
 public:
  constexpr Option() = default;
  template <class... A>
    requires(sizeof...(A) > 0 && requires(A... a) { T{a...}; })
  Option(A... a) : value_{a...}, given_(true) { bring_in(); }
  /// A given option, without a call of bring_in: the part is in the program already.
  static Option of(const T& value) {
    Option o;
    o.value_ = value;
    o.given_ = true;
    return o;
  }
  constexpr operator const T&() const { return value_; }
  constexpr bool is_given() const { return given_; }

 private:
  T value_{};
  bool given_ = false;
};

}  // namespace detail

/// A dtype that may be left out: it is f32 then, or that of the numbers that are given.
class DTypeOption {
 public:
  constexpr DTypeOption() = default;
  constexpr DTypeOption(DType d) : value_(d), given_(true) {}
  constexpr operator DType() const { return value_; }
  constexpr DType or_else(DType d) const { return given_ ? value_ : d; }
  constexpr bool is_given() const { return given_; }

 private:
  DType value_ = DType::f32;
  bool given_ = false;
};

/// The dtype, the device and requires_grad of a new Tensor. The default of zeros, ones, empty, eye and others is f32, where NumPy's is f64; integers given to full,
/// arange and tensor make i64.
struct TensorOptions {
  DTypeOption dtype{};
  detail::Option<Device, &backend::register_cuda> device{};
  detail::Option<bool, &autograd::register_tape> requires_grad{};
};

namespace detail {

inline TensorOptions on_device(DType dtype, Device device) { return {dtype, decltype(TensorOptions::device)::of(device), {}}; }
/// Moves a Tensor of rank 0 from the CPU to the device of the other one, before it is expanded.
template <class = void>
Tensor on_device_of(const Tensor& other, const Tensor& x, SourceLine at) { return x.dim() == 0 && x.device().type == DeviceType::cpu ? x.to(other.device(), false, at) : x; }
/// Moves elements that were written on the host to the device, and sets requires_grad.
TT_INLINE Tensor with_options(Tensor t, const TensorOptions& o);
/// Is a graph recorded that is to hold the Tensors that factories make?
inline bool is_heard() { return capture_mode && capture_mode->hears_of_factories(); }
/// Where constant elements are written: on the device (or Meta), if the CPU can write there, else on the CPU.
inline Device written_on(Device d) { return is_host(d) || d.type == DeviceType::meta ? d : Device{}; }
template <class T>
T* elements_of(const Tensor& t) { return reinterpret_cast<T*>(t.impl().data); }

}  // namespace detail

namespace detail {

/// Tells a capture the symbolic sizes that a Tensor was made of.
inline Tensor with_sizes(Tensor t, const IntList& sizes) {
  if (sizes.has_expressions() && capture_mode) [[unlikely]] capture_mode->made_of_sizes(t, sizes);
  return t;
}
/// A Tensor of elements that all are `value`.
TT_INLINE Tensor filled(const Shape& shape, double value, TensorOptions o);

}  // namespace detail

/// All elements `value`: f32 for a floating number, unless options say otherwise (NumPy: f64).
inline Tensor full(const IntList& shape, double value, TensorOptions o = {}, SourceLine at = here()) {
  detail::need_in_range(o.dtype, value, "full", at);
  return detail::with_sizes(detail::filled(shape_of(shape, "full", at), value, o), shape);
}
inline Tensor full(const IntList& shape, const Size& value, TensorOptions o = {}, SourceLine at = here()) {
  o.dtype = o.dtype.or_else(DType::i64);
  const auto number = static_cast<double>(value.hint());
  const bool exact = number > -0x1p53 && number < 0x1p53;
  if (exact && !value.is_expression()) return full(shape, number, o, at);
  const bool wide = o.dtype == DType::i64;  // INT64_MAX as a double is beyond the dtype
  return detail::with_options(full(shape, wide ? 0 : number, detail::on_device(o.dtype, o.device), at).fill_(value, at), o);
}
/// Uninitialised elements. (Zeros, while a graph is recorded that is to hold the Tensor.)
inline Tensor empty(const IntList& shape, TensorOptions o = {}, SourceLine at = here()) {
  const Shape s = shape_of(shape, "empty", at);
  if (detail::is_heard()) return detail::with_sizes(detail::filled(s, 0, o), shape);
  return detail::with_options(Tensor(o.dtype, s, o.device), o);
}
inline Tensor zeros(const IntList& shape, TensorOptions o = {}, SourceLine at = here()) {
  return detail::with_sizes(detail::filled(shape_of(shape, "zeros", at), 0, o), shape);
}
inline Tensor ones(const IntList& shape, TensorOptions o = {}, SourceLine at = here()) {
  return detail::with_sizes(detail::filled(shape_of(shape, "ones", at), 1, o), shape);
}
template <std::integral V>
Tensor full(const IntList& shape, V value, TensorOptions o, SourceLine at = here()) {
  o.dtype = o.dtype.or_else(std::is_same_v<V, bool> ? DType::boolean : DType::i64);
  return full(shape, Size(static_cast<std::int64_t>(value)), o, at);
}
/// i64 for an integer, bool for true and false, unless a dtype is given.
template <std::integral V>
Tensor full(const IntList& shape, V value, SourceLine at = here()) { return full(shape, value, TensorOptions{}, at); }
/// The dtype alone, as in tt::zeros({2, 3}, tt::DType::i64).
template <class V, std::same_as<DType> D>
  requires(std::is_arithmetic_v<V> || std::is_same_v<V, Size>)
Tensor full(const IntList& shape, V value, D dtype, SourceLine at = here()) { return full(shape, value, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D>
Tensor empty(const IntList& shape, D dtype, SourceLine at = here()) { return empty(shape, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D>
Tensor zeros(const IntList& shape, D dtype, SourceLine at = here()) { return zeros(shape, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D>
Tensor ones(const IntList& shape, D dtype, SourceLine at = here()) { return ones(shape, TensorOptions{.dtype = dtype}, at); }
template <class V>
  requires std::is_arithmetic_v<V>
Tensor full_like(const Tensor& t, V value) { return full(t.shape(), value, detail::on_device(t.dtype(), t.device())); }
inline Tensor zeros_like(const Tensor& t) { return full_like(t, 0); }
inline Tensor ones_like(const Tensor& t) { return full_like(t, 1); }
inline Tensor empty_like(const Tensor& t) { return empty(t.shape(), detail::on_device(t.dtype(), t.device())); }
/// start, start + step, ... below end. For an integer dtype, start and step are truncated, but the number of elements is that of the
/// numbers given, as in PyTorch. Throws Error when there is no such number of elements, or memory cannot hold them.
TT_LAZY Tensor arange(double start, double end, double step, TensorOptions o, SourceLine at = here());
/// The same for integers, which an f64 may not hold.
TT_LAZY Tensor arange_of_integers(std::int64_t start, std::int64_t end, std::int64_t step, TensorOptions o, SourceLine at = here());
/// i64 if all numbers are integers, else f32, as in PyTorch (NumPy: f64).
template <class A, class B, class C = int>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<C>)
Tensor arange(A start, B end, C step = 1) {
  constexpr bool integers = std::is_integral_v<A> && std::is_integral_v<B> && std::is_integral_v<C>;
  if constexpr (integers) return arange_of_integers(static_cast<std::int64_t>(start), static_cast<std::int64_t>(end), static_cast<std::int64_t>(step), {.dtype = DType::i64}, {});
  else return arange(static_cast<double>(start), static_cast<double>(end), static_cast<double>(step), {.dtype = DType::f32}, {});
}
template <std::integral A, std::integral B, std::integral C>
Tensor arange(A start, B end, C step, TensorOptions o, SourceLine at = here()) {
  o.dtype = o.dtype.or_else(DType::i64);
  return arange_of_integers(static_cast<std::int64_t>(start), static_cast<std::int64_t>(end), static_cast<std::int64_t>(step), o, at);
}
template <class A>
  requires std::is_arithmetic_v<A>
Tensor arange(A end) { return arange(A(0), end); }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor arange(A end, TensorOptions o, SourceLine at = here()) {
  if constexpr (std::is_integral_v<A>) return arange(A(0), end, 1, o, at);
  else return arange(0.0, static_cast<double>(end), 1.0, o, at);
}
template <class A, std::same_as<DType> D>
  requires std::is_arithmetic_v<A>
Tensor arange(A end, D dtype, SourceLine at = here()) { return arange(end, TensorOptions{.dtype = dtype}, at); }
TT_LAZY Tensor arange(const Size& end);
template <std::same_as<Size> S>
Tensor arange(const S& end, const TensorOptions& o, SourceLine at = here()) {
  Tensor r = arange(end).to(o.dtype.or_else(DType::i64), at).to(o.device, false, at);
  return o.requires_grad ? r.requires_grad_() : r;
}
template <std::same_as<Size> S, std::same_as<DType> D>
Tensor arange(const S& end, D dtype, SourceLine at = here()) { return arange(end).to(dtype, at); }
/// The same between sizes: in a captured function the number of elements stays symbolic.
template <NumberOrSize A, NumberOrSize B>
  requires((std::integral<A> && std::same_as<B, Size>) || (std::same_as<A, Size> && (std::same_as<B, Size> || std::integral<B>)))
Tensor arange(const A& start, const B& end, std::int64_t step = 1) {
  const Size from(start), to(end);
  if (step == 0) return arange_of_integers(from.value(), to.value(), 0, {.dtype = DType::i64}, {});  // throws
  return arange(step > 0 ? (to - from + (step - 1)) / step : (from - to + (-step - 1)) / -step) * step + from;
}
TT_LAZY Tensor eye(SizeArgument n, TensorOptions o = {}, SourceLine at = here());
template <std::same_as<DType> D>
Tensor eye(SizeArgument n, D dtype, SourceLine at = here()) { return eye(n, TensorOptions{.dtype = dtype}, at); }

/// A Tensor with a copy of these elements.
template <Element T>
Tensor from_span(std::span<const T> values, const IntList& shape) {
  const Shape s = shape_of(shape, "from_span");
  if (s.size().code != static_cast<std::int64_t>(values.size()))
    TT_THROW(Error(Text("tt::from_span: numbers of elements differ: ") << values.size() << " given, " << s.size() << " in "
                                                                       << s << "."));
  Tensor t(dtype_of<T>, s);
  if (!values.empty()) detail::copy_memory(t.impl().data, values.data(), values.size_bytes());
  detail::stamp(t);
  return t;
}

namespace detail {
/// Marks a Tensor that the library filled on the host, from sizes and options: a captured function holds it, and its graph does not end there.
inline Tensor made_of_numbers(Tensor t) {
  if (capture_mode) capture_mode->made_of_numbers(t);
  return t;
}
}  // namespace detail

namespace detail {
/// Throws Error if a Tensor's elements are no Array of type A, or are not on the host.
template <class A>
void check_array(const char* who, const Tensor& t, SourceLine at) {
  Shape needed;
  for (int k = 0; k < A::rank; ++k) needed.push_back(A::Extents::value[k] == dyn && k < t.dim() ? t.impl().shape[k] : Extent(A::Extents::value[k]));
  if (t.dtype() != A::dtype || !(needed == t.impl().shape))
    TT_THROW(Error(Text("tt::") << who << ": the Tensor is " << name(t.dtype()) << ' ' << t.shape() << ", the Array " << name(A::dtype) << ' ' << needed << "." << at));
  if (!is_host(t.device()))
    TT_THROW(Error(Text("tt::") << who << ": the elements are on device " << name(t.device().type) << ". Use cpu() first?" << at));
}
}  // namespace detail

/// A copy of the elements as an Array; throws Error when dtype or shape differ.
template <class A>
A to_array(const Tensor& t, SourceLine at = here()) {
  detail::check_array<A>("to_array", t, at);
  if (detail::capture_mode) detail::capture_mode->need(t, "to_array", at);
  const Tensor dense = t.contiguous(at);
  A a(Uninitialized{}, t.impl().shape.code);
  if (t.numel() > 0) detail::copy_memory(a.data(), dense.data(), static_cast<std::size_t>(t.numel()) * sizeof(typename A::value_type));
  return a;
}
/// The elements themselves, of a contiguous Tensor, as a view of type A (ArrayView<float, tt::dyn, 3>; of const elements for reading) for expressions
/// and fused functions: no copy. It does not keep the Tensor alive. Throws Error when dtype or shape differ, and where the Tensor is not contiguous.
template <class A>
A as_array(const Tensor& t, SourceLine at = here()) {
  using T = typename A::element_type;
  detail::check_array<A>("as_array", t, at);
  if (!t.is_contiguous()) TT_THROW(Error(Text("tt::as_array: the Tensor is not contiguous. Use contiguous() first?") << at));
  if constexpr (std::is_const_v<T>) return A(t.elements<typename A::value_type>(at).data(), t.impl().shape);
  else return A(t.data_ptr<T>(at), t.impl().shape);
}

/// Numbers in nested braces: {1, 2}, {{1.5, 2}, {3, 4}}, {true, false}.
class TensorData {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  TensorData(T v) : real_(static_cast<double>(v)), integer_(std::is_integral_v<T> ? static_cast<std::int64_t>(v) : 0),
        fits_(!std::is_unsigned_v<T> || integer_ >= 0),
        dtype_(std::is_same_v<T, bool> ? DType::boolean : std::is_integral_v<T> ? DType::i64 : std::is_same_v<T, double> ? DType::f64 : DType::f32) {}
  TensorData(std::initializer_list<TensorData> list) : list_(list), nested_(true) {}

  TT_INLINE Tensor tensor(TensorOptions o, SourceLine at) const;

 private:
  double real_ = 0;
  std::int64_t integer_ = 0;
  bool fits_ = true;  ///< false: an integer beyond i64
  DType dtype_ = DType::f64;
  std::initializer_list<TensorData> list_;
  bool nested_ = false;

  TT_INLINE void check_braces(const Shape& s, int depth, DType& found, SourceLine at) const;
  template <class T>
  void fill(T* out, std::int64_t& place, SourceLine at) const;
};
/// A vector of these numbers, of their dtype.
template <Element T>
  requires(!std::is_same_v<T, bool>)
Tensor tensor(const std::vector<T>& values) { return from_span(std::span<const T>(values), {static_cast<std::int64_t>(values.size())}); }
template <Element T>
  requires(!std::is_same_v<T, bool>)
Tensor tensor(const std::vector<T>& values, TensorOptions o, SourceLine at = here()) { return detail::with_options(tensor(values).to(o.dtype.or_else(dtype_of<T>), at).to(o.device), o); }
template <Element T, std::same_as<DType> D>
  requires(!std::is_same_v<T, bool>)
Tensor tensor(const std::vector<T>& values, D dtype, SourceLine at = here()) { return tensor(values).to(dtype, at); }
/// Floating numbers give f32, integers i64, as in PyTorch (NumPy: f64 and i64).
template <class = void>  // a template, so that `{}` as second argument means options
Tensor tensor(const TensorData& values, SourceLine at = here()) { return values.tensor({}, at); }
template <class = void>
Tensor tensor(std::initializer_list<TensorData> values, SourceLine at = here()) { return TensorData(values).tensor({}, at); }
inline Tensor tensor(const TensorData& values, TensorOptions o, SourceLine at = here()) { return values.tensor(o, at); }
inline Tensor tensor(std::initializer_list<TensorData> values, TensorOptions o, SourceLine at = here()) { return TensorData(values).tensor(o, at); }

template <std::same_as<DType> D>
Tensor tensor(const TensorData& values, D dtype, SourceLine at = here()) { return values.tensor({.dtype = dtype}, at); }
template <std::same_as<DType> D>
Tensor tensor(std::initializer_list<TensorData> values, D dtype, SourceLine at = here()) { return TensorData(values).tensor({.dtype = dtype}, at); }

// Sizes without braces.
template <SizeOrInteger... N>
  requires(sizeof...(N) > 0)
Tensor empty(detail::FirstSize first, const N&... more) { return empty(IntList{first.number, more...}, TensorOptions{}, first.at); }
template <SizeOrInteger... N>
  requires(sizeof...(N) > 0)
Tensor zeros(detail::FirstSize first, const N&... more) { return zeros(IntList{first.number, more...}, TensorOptions{}, first.at); }
template <SizeOrInteger... N>
  requires(sizeof...(N) > 0)
Tensor ones(detail::FirstSize first, const N&... more) { return ones(IntList{first.number, more...}, TensorOptions{}, first.at); }

/// Uniform in [0, 1), and normal: the numbers that rand_like gives for a seed (Philox).
TT_LAZY Tensor rand(const IntList& shape, std::int64_t seed, TensorOptions o = {}, SourceLine at = here());
TT_LAZY Tensor randn(const IntList& shape, std::int64_t seed, TensorOptions o = {}, SourceLine at = here());

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/factories_inl.hpp"
#endif
