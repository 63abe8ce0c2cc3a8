// The methods of Tensor that are functions too.
#pragma once
#include "tt/dispatch/factories.hpp"
#include "tt/ops/activation.hpp"

#if !defined(TT_COMPILED) || defined(TT_BUILD)
namespace tt {

TT_INLINE Tensor Tensor::exp(SourceLine at) const { return tt::call<Exp>(at, *this); }
TT_INLINE Tensor Tensor::log(SourceLine at) const { return tt::call<Log>(at, *this); }
TT_INLINE Tensor Tensor::sqrt(SourceLine at) const { return primitive<Op::sqrt>(at, *this); }
TT_INLINE Tensor Tensor::abs(SourceLine at) const { return primitive<Op::abs>(at, *this); }
TT_INLINE Tensor Tensor::sin(SourceLine at) const { return tt::call<Sin>(at, *this); }
TT_INLINE Tensor Tensor::cos(SourceLine at) const { return tt::call<Cos>(at, *this); }
TT_INLINE Tensor Tensor::tanh(SourceLine at) const { return tt::call<Tanh>(at, *this); }
TT_INLINE Tensor Tensor::sigmoid(SourceLine at) const { return tt::call<Sigmoid>(at, *this); }
TT_INLINE Tensor Tensor::relu(SourceLine at) const { return tt::call<Relu>(at, *this); }
TT_INLINE Tensor Tensor::square(SourceLine at) const { return tt::call<Square>(at, *this); }
TT_INLINE Tensor Tensor::matmul(const Tensor& o, SourceLine at) const { return tt::matmul(*this, o, at); }
TT_INLINE Tensor Tensor::sum(const IntList& dims, bool keepdim, SourceLine at) const {
  return detail::reduce_axes<detail::SumFn>(*this, dims, keepdim, at);
}
TT_INLINE Tensor Tensor::mean(const IntList& dims, bool keepdim, SourceLine at) const {
  return detail::reduce_axes<detail::MeanFn>(*this, dims, keepdim, at);
}
TT_INLINE Tensor Tensor::var(const IntList& dims, bool keepdim, SourceLine at) const {
  return detail::reduce_axes<detail::VarFn>(*this, dims, keepdim, at);
}
TT_INLINE Tensor Tensor::amax(const IntList& dims, bool keepdim, SourceLine at) const {
  return detail::reduce_axes<detail::AmaxFn>(*this, dims, keepdim, at);
}
TT_INLINE Tensor Tensor::amin(const IntList& dims, bool keepdim, SourceLine at) const {
  return detail::reduce_axes<detail::AminFn>(*this, dims, keepdim, at);
}
TT_INLINE Tensor Tensor::argmax(int dim, bool keepdim, SourceLine at) const { return tt::argmax(*this, dim, keepdim, at); }
TT_INLINE Tensor Tensor::softmax(int dim, SourceLine at) const { return tt::softmax(*this, dim, at); }
TT_INLINE Tensor Tensor::log_softmax(int dim, SourceLine at) const { return tt::log_softmax(*this, dim, at); }

}  // namespace tt
#endif
