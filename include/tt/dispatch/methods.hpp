// Methods of Tensor that are also functions: x.add(y), tt::add(x, y) and x + y are one op.
#pragma once
#include "tt/dispatch/from_blob.hpp"
#include "tt/ops/activation.hpp"
#include "tt/ops/operators.hpp"

namespace tt {

// ---- methods
template <class> Tensor Tensor::exp2(SourceLine at) const { return tt::exp2(*this, at); }
template <class> Tensor Tensor::expm1(SourceLine at) const { return tt::expm1(*this, at); }
template <class> Tensor Tensor::log2(SourceLine at) const { return tt::log2(*this, at); }
template <class> Tensor Tensor::log1p(SourceLine at) const { return tt::log1p(*this, at); }
template <class> Tensor Tensor::tan(SourceLine at) const { return tt::tan(*this, at); }
template <class> Tensor Tensor::erf(SourceLine at) const { return tt::erf(*this, at); }
template <class> Tensor Tensor::silu(SourceLine at) const { return tt::silu(*this, at); }
template <class> Tensor Tensor::gelu(SourceLine at) const { return tt::gelu(*this, at); }
template <class> Tensor Tensor::gelu_tanh(SourceLine at) const { return tt::gelu_tanh(*this, at); }
template <class> Tensor Tensor::softplus(SourceLine at) const { return tt::softplus(*this, at); }
template <class> Tensor Tensor::mish(SourceLine at) const { return tt::mish(*this, at); }
template <class> Tensor Tensor::hardswish(SourceLine at) const { return tt::hardswish(*this, at); }
template <class> Tensor Tensor::sign(SourceLine at) const { return tt::sign(*this, at); }
template <class> Tensor Tensor::reciprocal(SourceLine at) const { return tt::reciprocal(*this, at); }
template <class> Tensor Tensor::rsqrt(SourceLine at) const { return tt::rsqrt(*this, at); }
template <class> Tensor Tensor::neg(SourceLine at) const { return tt::neg(*this, at); }
template <class> Tensor Tensor::floor(SourceLine at) const { return tt::floor(*this, at); }
template <class> Tensor Tensor::ceil(SourceLine at) const { return tt::ceil(*this, at); }
template <class> Tensor Tensor::round(SourceLine at) const { return tt::round(*this, at); }
template <class> Tensor Tensor::trunc(SourceLine at) const { return tt::trunc(*this, at); }
template <class> Tensor Tensor::logical_not(SourceLine at) const { return tt::logical_not(*this, at); }
template <class B> Tensor Tensor::add(const B& o, SourceLine at) const { return tt::add(*this, o, at); }
template <class B> Tensor Tensor::sub(const B& o, SourceLine at) const { return tt::sub(*this, o, at); }
template <class B> Tensor Tensor::mul(const B& o, SourceLine at) const { return tt::mul(*this, o, at); }
template <class B> Tensor Tensor::div(const B& o, SourceLine at) const { return tt::div(*this, o, at); }
template <class B> Tensor Tensor::minimum(const B& o, SourceLine at) const { return tt::minimum(*this, o, at); }
template <class B> Tensor Tensor::maximum(const B& o, SourceLine at) const { return tt::maximum(*this, o, at); }
template <class B> Tensor Tensor::lt(const B& o, SourceLine at) const { return tt::lt(*this, o, at); }
template <class B> Tensor Tensor::le(const B& o, SourceLine at) const { return tt::le(*this, o, at); }
template <class B> Tensor Tensor::gt(const B& o, SourceLine at) const { return tt::gt(*this, o, at); }
template <class B> Tensor Tensor::ge(const B& o, SourceLine at) const { return tt::ge(*this, o, at); }
template <class B> Tensor Tensor::eq(const B& o, SourceLine at) const { return tt::eq(*this, o, at); }
template <class B> Tensor Tensor::ne(const B& o, SourceLine at) const { return tt::ne(*this, o, at); }
template <class B> Tensor Tensor::logical_and(const B& o, SourceLine at) const { return tt::logical_and(*this, o, at); }
template <class B> Tensor Tensor::logical_or(const B& o, SourceLine at) const { return tt::logical_or(*this, o, at); }
template <class B> Tensor Tensor::pow(const B& o, SourceLine at) const { return tt::pow(*this, o, at); }
template <class L, class H>
Tensor Tensor::clamp(const L& low, const H& high, SourceLine at) const { return tt::clamp(*this, low, high, at); }
template <class S>
Tensor Tensor::leaky_relu(const S& slope, SourceLine at) const { return tt::leaky_relu(*this, slope, at); }
template <class S>
Tensor Tensor::elu(const S& alpha, SourceLine at) const { return tt::elu(*this, alpha, at); }
template <class B, class C>
Tensor Tensor::fma(const B& b, const C& c, SourceLine at) const { return tt::fma(*this, b, c, at); }
template <class B> Tensor Tensor::where(const Tensor& condition, const B& other, SourceLine at) const { return tt::where(condition, *this, other, at); }
template <class> Tensor& Tensor::abs_(SourceLine at) { return detail::update(operator_entry<Op::abs>(), *this, nullptr, "abs_", at); }
template <class> Tensor& Tensor::neg_(SourceLine at) { return detail::update(operator_entry<Op::neg>(), *this, nullptr, "neg_", at); }
template <class> Tensor& Tensor::exp_(SourceLine at) { return detail::update(operator_entry<Exp>(), *this, nullptr, "exp_", at); }
template <class> Tensor& Tensor::log_(SourceLine at) { return detail::update(operator_entry<Log>(), *this, nullptr, "log_", at); }
template <class> Tensor& Tensor::sqrt_(SourceLine at) { return detail::update(operator_entry<Op::sqrt>(), *this, nullptr, "sqrt_", at); }
template <class> Tensor& Tensor::rsqrt_(SourceLine at) { return detail::update(operator_entry<Rsqrt>(), *this, nullptr, "rsqrt_", at); }
template <class> Tensor& Tensor::sin_(SourceLine at) { return detail::update(operator_entry<Sin>(), *this, nullptr, "sin_", at); }
template <class> Tensor& Tensor::cos_(SourceLine at) { return detail::update(operator_entry<Cos>(), *this, nullptr, "cos_", at); }
template <class> Tensor& Tensor::tan_(SourceLine at) { return detail::update(operator_entry<Tan>(), *this, nullptr, "tan_", at); }
template <class> Tensor& Tensor::tanh_(SourceLine at) { return detail::update(operator_entry<Tanh>(), *this, nullptr, "tanh_", at); }
template <class> Tensor& Tensor::sigmoid_(SourceLine at) { return detail::update(operator_entry<Sigmoid>(), *this, nullptr, "sigmoid_", at); }
template <class> Tensor& Tensor::relu_(SourceLine at) { return detail::update(operator_entry<Relu>(), *this, nullptr, "relu_", at); }
template <class> Tensor& Tensor::square_(SourceLine at) { return detail::update(operator_entry<Square>(), *this, nullptr, "square_", at); }
template <class> Tensor& Tensor::reciprocal_(SourceLine at) { return detail::update(operator_entry<Reciprocal>(), *this, nullptr, "reciprocal_", at); }
template <class> Tensor& Tensor::floor_(SourceLine at) { return detail::update(operator_entry<Op::floor>(), *this, nullptr, "floor_", at); }
template <class> Tensor& Tensor::ceil_(SourceLine at) { return detail::update(operator_entry<Op::ceil>(), *this, nullptr, "ceil_", at); }
template <class> Tensor& Tensor::round_(SourceLine at) { return detail::update(operator_entry<Op::round>(), *this, nullptr, "round_", at); }
template <class> Tensor& Tensor::trunc_(SourceLine at) { return detail::update(operator_entry<Op::trunc>(), *this, nullptr, "trunc_", at); }
template <class> Tensor& Tensor::sign_(SourceLine at) { return detail::update(operator_entry<Sign>(), *this, nullptr, "sign_", at); }
template <class> Tensor Tensor::logsumexp(const IntList& dims, bool keepdim, SourceLine at) const {
  return call_with<Logsumexp>(at, {dims, keepdim}, *this);
}


inline constexpr NoneType none{};

/// Elements along one axis, and their indices (i64).
struct MinMaxResult {
  Tensor values, indices;
};
namespace detail {
template <Op K>
MinMaxResult extreme_along(const Tensor& x, int dim, bool keepdim, SourceLine at) {
  auto [values, indices] = call_with<Extreme<K>>(at, {dim, keepdim}, x);
  return {values, indices};
}
}  // namespace detail
/// torch.max, torch.min: of all elements; along one axis the first of the largest, with its index, to which the gradient goes; of two Tensors as maximum,
/// minimum.
template <class = void> Tensor max(const Tensor& x, SourceLine at = here()) { return call_with<ExtremeOfAll<Op::amax>>(at, {}, x); }
template <class = void> MinMaxResult max(const Tensor& x, int dim, bool keepdim = false, SourceLine at = here()) { return detail::extreme_along<Op::amax>(x, dim, keepdim, at); }
template <class = void> Tensor max(const Tensor& x, const Tensor& other, SourceLine at = here()) { return maximum(x, other, at); }
template <class = void> Tensor min(const Tensor& x, SourceLine at = here()) { return call_with<ExtremeOfAll<Op::amin>>(at, {}, x); }
template <class = void> MinMaxResult min(const Tensor& x, int dim, bool keepdim = false, SourceLine at = here()) { return detail::extreme_along<Op::amin>(x, dim, keepdim, at); }
template <class = void> Tensor min(const Tensor& x, const Tensor& other, SourceLine at = here()) { return minimum(x, other, at); }

template <class> Tensor Tensor::argmax(SourceLine at) const { return tt::argmax(*this, {}, false, at); }
template <class> Tensor Tensor::argmin(int dim, bool keepdim, SourceLine at) const { return tt::argmin(*this, dim, keepdim, at); }
template <class> Tensor Tensor::argmin(SourceLine at) const { return tt::argmin(*this, {}, false, at); }
template <class> Tensor Tensor::max(SourceLine at) const { return tt::max(*this, at); }
template <class> MinMaxResult Tensor::max(int dim, bool keepdim, SourceLine at) const { return tt::max(*this, dim, keepdim, at); }
template <class> Tensor Tensor::max(const Tensor& other, SourceLine at) const { return tt::maximum(*this, other, at); }
template <class> Tensor Tensor::min(SourceLine at) const { return tt::min(*this, at); }
template <class> MinMaxResult Tensor::min(int dim, bool keepdim, SourceLine at) const { return tt::min(*this, dim, keepdim, at); }
template <class> Tensor Tensor::min(const Tensor& other, SourceLine at) const { return tt::minimum(*this, other, at); }
template <class> Tensor Tensor::std(const IntList& dims, double correction, bool keepdim, SourceLine at) const {
  return call_with<Std>(at, {dims, keepdim, correction}, *this);
}
template <class> Tensor Tensor::any(const IntList& dims, bool keepdim, SourceLine at) const { return call_with<AnyOrAll<false>>(at, {dims, keepdim}, *this); }
template <class> Tensor Tensor::all(const IntList& dims, bool keepdim, SourceLine at) const { return call_with<AnyOrAll<true>>(at, {dims, keepdim}, *this); }
template <class> Tensor Tensor::count_nonzero(const IntList& dims, SourceLine at) const { return call_with<CountNonzero>(at, {dims}, *this); }

}  // namespace tt

#if TT_DEFINES(dispatch)
namespace tt {

TT_LAZY_DEFINITION Tensor Tensor::exp(SourceLine at) const { return tt::call<Exp>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::log(SourceLine at) const { return tt::call<Log>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::sqrt(SourceLine at) const { return primitive<Op::sqrt>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::abs(SourceLine at) const { return primitive<Op::abs>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::sin(SourceLine at) const { return tt::call<Sin>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::cos(SourceLine at) const { return tt::call<Cos>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::tanh(SourceLine at) const { return tt::call<Tanh>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::sigmoid(SourceLine at) const { return tt::call<Sigmoid>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::relu(SourceLine at) const { return tt::call<Relu>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::square(SourceLine at) const { return tt::call<Square>(at, *this); }
TT_LAZY_DEFINITION Tensor Tensor::matmul(const Tensor& o, SourceLine at) const { return tt::matmul(*this, o, at); }
TT_LAZY_DEFINITION Tensor Tensor::sum(const IntList& dims, bool keepdim, SourceLine at) const {
  return call_with<Sum>(at, {dims, keepdim}, *this);
}
TT_LAZY_DEFINITION Tensor Tensor::mean(const IntList& dims, bool keepdim, SourceLine at) const {
  return call_with<Mean>(at, {dims, keepdim}, *this);
}
TT_LAZY_DEFINITION Tensor Tensor::var(const IntList& dims, double correction, bool keepdim, SourceLine at) const {
  return call_with<Var>(at, {dims, keepdim, correction}, *this);
}
TT_LAZY_DEFINITION Tensor Tensor::amax(const IntList& dims, bool keepdim, SourceLine at) const {
  return call_with<Amax>(at, {dims, keepdim}, *this);
}
TT_LAZY_DEFINITION Tensor Tensor::amin(const IntList& dims, bool keepdim, SourceLine at) const {
  return call_with<Amin>(at, {dims, keepdim}, *this);
}
TT_LAZY_DEFINITION Tensor Tensor::argmax(int dim, bool keepdim, SourceLine at) const { return tt::argmax(*this, dim, keepdim, at); }
TT_LAZY_DEFINITION Tensor Tensor::softmax(int dim, SourceLine at) const { return tt::softmax(*this, dim, at); }
TT_LAZY_DEFINITION Tensor Tensor::log_softmax(int dim, SourceLine at) const { return tt::log_softmax(*this, dim, at); }

}  // namespace tt
#endif
