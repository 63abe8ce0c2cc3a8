// Overloads with a dtype as an argument of its own, as in PyTorch: the dtype of the Tensor that a factory makes, or the dtype that the
// operand of a reduction is converted to first.
//   tt::linspace(0, 1, 5, tt::DType::f64)   tt::ones_like(x, tt::DType::i64)   tt::sum(x, {0}, false, tt::DType::f64)   x.softmax(-1, tt::DType::f32)
#pragma once
#include "tt/dispatch/second_names.hpp"

namespace tt {

namespace detail {
template <class T>
concept IsTensor = std::same_as<T, Tensor>;
template <class T>
double end_of(const T& v, SourceLine at) {
  if constexpr (!IsTensor<T>) return static_cast<double>(v);
  else if (v.dim() != 0) TT_THROW(Error(Text("tt::linspace: an end of shape ") << v.shape(at) << ". One element without axes?" << at));
  else return v.item(at);
}
}  // namespace detail

// ---- factories
template <std::same_as<DType> D> Tensor linspace(double start, double end, std::int64_t steps, D dtype, SourceLine at = here()) { return linspace(start, end, steps, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor logspace(double start, double end, std::int64_t steps, double base, D dtype, SourceLine at = here()) { return logspace(start, end, steps, base, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor eye(SizeArgument n, SizeArgument m, D dtype, SourceLine at = here()) { return eye(n, m, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor scalar_tensor(double value, D dtype, SourceLine at = here()) { return scalar_tensor(value, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor empty_strided(const IntList& size, const IntList& stride, D dtype, SourceLine at = here()) { return empty_strided(size, stride, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor empty_permuted(const IntList& size, const IntList& physical_layout, D dtype, SourceLine at = here()) { return empty_permuted(size, physical_layout, TensorOptions{.dtype = dtype}, at); }
/// start, start + step, ... below end.
template <class A, class B, class C, std::same_as<DType> D>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<C>)
Tensor arange(A start, B end, C step, D dtype, SourceLine at = here()) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && std::is_integral_v<C>) return arange_of_integers(static_cast<std::int64_t>(start), static_cast<std::int64_t>(end), static_cast<std::int64_t>(step), {.dtype = dtype}, at);
  else return arange(static_cast<double>(start), static_cast<double>(end), static_cast<double>(step), TensorOptions{.dtype = dtype}, at);
}
template <class A, class B, std::same_as<DType> D>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
Tensor arange(A start, B end, D dtype, SourceLine at = here()) { return arange(start, end, 1, dtype, at); }
template <std::same_as<DType> D> Tensor randint(std::int64_t low, std::int64_t high, const IntList& shape, D dtype, SourceLine at = here()) { return randint(low, high, shape, default_generator(), TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor randint(std::int64_t high, const IntList& shape, D dtype, SourceLine at = here()) { return randint(0, high, shape, dtype, at); }
template <std::same_as<DType> D>
Tensor randperm(std::int64_t n, Generator& g, D dtype, SourceLine at = here()) {
  if (n > std::int64_t{1} << detail::whole_digits(dtype)) TT_THROW(Error(Text("tt::randperm: ") << n << " numbers are more than " << name(dtype) << " can tell apart." << at));
  return randperm(n, g, at).to(dtype, at);
}
template <std::same_as<DType> D> Tensor randperm(std::int64_t n, D dtype, SourceLine at = here()) { return randperm(n, default_generator(), dtype, at); }
template <std::same_as<DType> D> Tensor rand(const IntList& shape, Generator& g, D dtype, SourceLine at = here()) { return rand(shape, g, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor randn(const IntList& shape, Generator& g, D dtype, SourceLine at = here()) { return randn(shape, g, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor randint(std::int64_t low, std::int64_t high, const IntList& shape, Generator& g, D dtype, SourceLine at = here()) { return randint(low, high, shape, g, TensorOptions{.dtype = dtype}, at); }
template <std::same_as<DType> D> Tensor randint(std::int64_t high, const IntList& shape, Generator& g, D dtype, SourceLine at = here()) { return randint(0, high, shape, g, dtype, at); }
template <std::same_as<DType> D> Tensor normal(double mean, double std, const IntList& shape, Generator& g, D dtype, SourceLine at = here()) { return normal(mean, std, shape, g, TensorOptions{.dtype = dtype}, at); }
/// With Tensors of rank 0 as ends.
template <class A, class B, class O = TensorOptions>
  requires(detail::IsTensor<A> || detail::IsTensor<B>)
Tensor linspace(const A& start, const B& end, std::int64_t steps, const O& o = {}, SourceLine at = here()) { return linspace(detail::end_of(start, at), detail::end_of(end, at), steps, o, at); }
template <class A, class B, class O = TensorOptions>
  requires(detail::IsTensor<A> || detail::IsTensor<B>)
Tensor logspace(const A& start, const B& end, std::int64_t steps, double base = 10, const O& o = {}, SourceLine at = here()) { return logspace(detail::end_of(start, at), detail::end_of(end, at), steps, base, o, at); }
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
Tensor arange(A start, B end, const TensorOptions& o, SourceLine at = here()) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) return arange(start, end, 1, o, at);
  else return arange(static_cast<double>(start), static_cast<double>(end), 1.0, o, at);
}

// ---- like another Tensor, except for the dtype
template <class V, std::same_as<DType> D>
  requires std::is_arithmetic_v<V>
Tensor full_like(const Tensor& x, V value, D dtype, SourceLine at = here()) { return full(x.shape(at), value, detail::on_device(dtype, x.device()), at); }
template <std::same_as<DType> D> Tensor zeros_like(const Tensor& x, D dtype, SourceLine at = here()) { return full_like(x, 0, dtype, at); }
template <std::same_as<DType> D> Tensor ones_like(const Tensor& x, D dtype, SourceLine at = here()) { return full_like(x, 1, dtype, at); }
template <std::same_as<DType> D> Tensor empty_like(const Tensor& x, D dtype, SourceLine at = here()) { return empty(x.shape(at), detail::on_device(dtype, x.device()), at); }
template <std::same_as<DType> D> Tensor rand_like(const Tensor& x, D dtype, SourceLine at = here()) { return rand_like(empty_like(x, dtype, at), default_generator(), at); }
template <std::same_as<DType> D> Tensor randn_like(const Tensor& x, D dtype, SourceLine at = here()) { return randn_like(empty_like(x, dtype, at), default_generator(), at); }

template <std::same_as<DType> D> Tensor rand_like(const Tensor& x, Generator& g, D dtype, SourceLine at = here()) { return rand_like(empty_like(x, dtype, at), g, at); }
template <std::same_as<DType> D> Tensor randn_like(const Tensor& x, Generator& g, D dtype, SourceLine at = here()) { return randn_like(empty_like(x, dtype, at), g, at); }
template <std::same_as<DType> D> Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high, D dtype, SourceLine at = here()) { return randint(low, high, x.shape(at), default_generator(), detail::on_device(dtype, x.device()), at); }
template <std::same_as<DType> D> Tensor randint_like(const Tensor& x, std::int64_t high, D dtype, SourceLine at = here()) { return randint_like(x, 0, high, dtype, at); }
template <class = void> Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high, Generator& g, SourceLine at = here()) { return randint(low, high, x.shape(at), g, detail::on_device(x.dtype(), x.device()), at); }
template <class = void> Tensor randint_like(const Tensor& x, std::int64_t high, Generator& g, SourceLine at = here()) { return randint_like(x, 0, high, g, at); }

// ---- like another Tensor, but with the dtype of options, such as y.options(), and on their device; those of x where they name none.
namespace detail {
inline TensorOptions beside(const Tensor& x, TensorOptions o) {
  o.dtype = o.dtype.or_else(x.dtype());
  if (!o.device.is_given()) o.device = decltype(TensorOptions::device)::of(x.device());
  return o;
}
}  // namespace detail
template <std::same_as<TensorOptions> O> Tensor zeros_like(const Tensor& x, const O& o, SourceLine at = here()) { return zeros(x.shape(at), detail::beside(x, o), at); }
template <std::same_as<TensorOptions> O> Tensor ones_like(const Tensor& x, const O& o, SourceLine at = here()) { return ones(x.shape(at), detail::beside(x, o), at); }
template <std::same_as<TensorOptions> O> Tensor empty_like(const Tensor& x, const O& o, SourceLine at = here()) { return empty(x.shape(at), detail::beside(x, o), at); }
template <std::same_as<TensorOptions> O> Tensor rand_like(const Tensor& x, const O& o, SourceLine at = here()) { return rand(x.shape(at), detail::beside(x, o), at); }
template <std::same_as<TensorOptions> O> Tensor randn_like(const Tensor& x, const O& o, SourceLine at = here()) { return randn(x.shape(at), detail::beside(x, o), at); }
template <class V, std::same_as<TensorOptions> O>
  requires std::is_arithmetic_v<V>
Tensor full_like(const Tensor& x, V value, const O& o, SourceLine at = here()) { return full(x.shape(at), value, detail::beside(x, o), at); }
template <std::same_as<TensorOptions> O> Tensor rand_like(const Tensor& x, Generator& g, const O& o, SourceLine at = here()) { return rand(x.shape(at), g, detail::beside(x, o), at); }
template <std::same_as<TensorOptions> O> Tensor randn_like(const Tensor& x, Generator& g, const O& o, SourceLine at = here()) { return randn(x.shape(at), g, detail::beside(x, o), at); }
template <std::same_as<TensorOptions> O> Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high, const O& o, SourceLine at = here()) { return randint(low, high, x.shape(at), detail::beside(x, o), at); }
template <std::same_as<TensorOptions> O> Tensor randint_like(const Tensor& x, std::int64_t high, const O& o, SourceLine at = here()) { return randint_like(x, 0, high, o, at); }

// ---- reductions
template <std::same_as<DType> D> Tensor sum(const Tensor& x, D dtype, SourceLine at = here()) { return x.sum(dtype, at); }
template <std::same_as<DType> D> Tensor sum(const Tensor& x, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return x.sum(dim, keepdim, dtype, at); }
template <std::same_as<DType> D> Tensor mean(const Tensor& x, D dtype, SourceLine at = here()) { return x.mean(dtype, at); }
template <std::same_as<DType> D> Tensor mean(const Tensor& x, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return x.mean(dim, keepdim, dtype, at); }
template <std::same_as<DType> D> Tensor nansum(const Tensor& x, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return x.nansum(dim, keepdim, dtype, at); }
template <std::same_as<DType> D> Tensor nanmean(const Tensor& x, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return x.nanmean(dim, keepdim, dtype, at); }
template <std::same_as<DType> D> Tensor prod(const Tensor& x, D dtype, SourceLine at = here()) { return x.prod(dtype, at); }
template <std::same_as<DType> D> Tensor prod(const Tensor& x, int dim, bool keepdim, D dtype, SourceLine at = here()) { return x.prod(dim, keepdim, dtype, at); }
template <std::same_as<DType> D> Tensor cumsum(const Tensor& x, int dim, D dtype, SourceLine at = here()) { return x.cumsum(dim, dtype, at); }
template <std::same_as<DType> D> Tensor cumprod(const Tensor& x, int dim, D dtype, SourceLine at = here()) { return x.cumprod(dim, dtype, at); }
template <std::same_as<DType> D> Tensor softmax(const Tensor& x, int dim, D dtype, SourceLine at = here()) { return x.softmax(dim, dtype, at); }
template <std::same_as<DType> D> Tensor log_softmax(const Tensor& x, int dim, D dtype, SourceLine at = here()) { return x.log_softmax(dim, dtype, at); }
template <std::same_as<DType> D> Tensor norm(const Tensor& x, double p, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return norm(x.to(dtype, at), p, dim, keepdim, at); }
template <std::same_as<DType> D> Tensor norm(const Tensor& x, double p, D dtype, SourceLine at = here()) { return norm(x.to(dtype, at), p, {}, false, at); }
namespace linalg {
template <std::same_as<DType> D> Tensor norm(const Tensor& x, double ord, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return linalg::norm(x.to(dtype, at), ord, dim, keepdim, at); }
template <std::same_as<DType> D> Tensor norm(const Tensor& x, std::string_view ord, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return linalg::norm(x.to(dtype, at), ord, dim, keepdim, at); }
template <std::same_as<DType> D> Tensor vector_norm(const Tensor& x, double ord, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return vector_norm(x.to(dtype, at), ord, dim, keepdim, at); }
template <std::same_as<DType> D> Tensor matrix_norm(const Tensor& x, double ord, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return matrix_norm(x.to(dtype, at), ord, dim, keepdim, at); }
template <std::same_as<DType> D> Tensor matrix_norm(const Tensor& x, std::string_view ord, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) { return matrix_norm(x.to(dtype, at), ord, dim, keepdim, at); }
}  // namespace linalg

}  // namespace tt
