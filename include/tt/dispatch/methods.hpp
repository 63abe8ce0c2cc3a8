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
TT_INLINE Tensor Tensor::sum(SourceLine at) const { return tt::sum(*this, at); }
TT_INLINE Tensor Tensor::sum(int dim, bool keepdim, SourceLine at) const { return tt::sum(*this, dim, keepdim, at); }
TT_INLINE Tensor Tensor::mean(SourceLine at) const { return tt::mean(*this, at); }
TT_INLINE Tensor Tensor::mean(int dim, bool keepdim, SourceLine at) const { return tt::mean(*this, dim, keepdim, at); }
TT_INLINE Tensor Tensor::amax(int dim, bool keepdim, SourceLine at) const { return tt::amax(*this, dim, keepdim, at); }
TT_INLINE Tensor Tensor::amin(int dim, bool keepdim, SourceLine at) const { return tt::amin(*this, dim, keepdim, at); }
TT_INLINE Tensor Tensor::argmax(int dim, bool keepdim, SourceLine at) const { return tt::argmax(*this, dim, keepdim, at); }
TT_INLINE Tensor Tensor::softmax(int dim, SourceLine at) const { return tt::softmax(*this, dim, at); }
TT_INLINE Tensor Tensor::log_softmax(int dim, SourceLine at) const { return tt::log_softmax(*this, dim, at); }

}  // namespace tt
#endif
