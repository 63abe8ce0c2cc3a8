// The methods of Tensor that are functions too.
#pragma once
#include "tt/dispatch/factories.hpp"
#include "tt/ops/activation.hpp"

namespace tt {

inline Tensor Tensor::exp(SourceLine at) const { return tt::call<Exp>(at, *this); }
inline Tensor Tensor::log(SourceLine at) const { return tt::call<Log>(at, *this); }
inline Tensor Tensor::sqrt(SourceLine at) const { return primitive<Op::sqrt>(at, *this); }
inline Tensor Tensor::abs(SourceLine at) const { return primitive<Op::abs>(at, *this); }
inline Tensor Tensor::sin(SourceLine at) const { return tt::call<Sin>(at, *this); }
inline Tensor Tensor::cos(SourceLine at) const { return tt::call<Cos>(at, *this); }
inline Tensor Tensor::tanh(SourceLine at) const { return tt::call<Tanh>(at, *this); }
inline Tensor Tensor::sigmoid(SourceLine at) const { return tt::call<Sigmoid>(at, *this); }
inline Tensor Tensor::relu(SourceLine at) const { return tt::call<Relu>(at, *this); }
inline Tensor Tensor::square(SourceLine at) const { return tt::call<Square>(at, *this); }
inline Tensor Tensor::matmul(const Tensor& o, SourceLine at) const { return tt::matmul(*this, o, at); }
inline Tensor Tensor::sum(SourceLine at) const { return tt::sum(*this, at); }
inline Tensor Tensor::sum(int dim, bool keepdim, SourceLine at) const { return tt::sum(*this, dim, keepdim, at); }
inline Tensor Tensor::mean(SourceLine at) const { return tt::mean(*this, at); }
inline Tensor Tensor::mean(int dim, bool keepdim, SourceLine at) const { return tt::mean(*this, dim, keepdim, at); }
inline Tensor Tensor::amax(int dim, bool keepdim, SourceLine at) const { return tt::amax(*this, dim, keepdim, at); }
inline Tensor Tensor::amin(int dim, bool keepdim, SourceLine at) const { return tt::amin(*this, dim, keepdim, at); }
inline Tensor Tensor::argmax(int dim, bool keepdim, SourceLine at) const { return tt::argmax(*this, dim, keepdim, at); }
inline Tensor Tensor::softmax(int dim, SourceLine at) const { return tt::softmax(*this, dim, at); }
inline Tensor Tensor::log_softmax(int dim, SourceLine at) const { return tt::log_softmax(*this, dim, at); }

}  // namespace tt
