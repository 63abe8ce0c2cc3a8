// Gradients that derivatives of the user's own give, made as autograd's own are: of the shape and dtype of the argument.
#pragma once
#include "tt/core/tensor.hpp"
#include "tt/dispatch/eager.hpp"

namespace tt::autograd {

/// Sums a gradient where the argument was broadcast, and casts it; false: its shape is not one that the argument was broadcast to.
inline bool fit_gradient(Tensor& g, DType dtype, const Shape& shape, SourceLine at) {
  const Shape& from = g.impl().shape;
  if (!(from == shape)) {
    const BroadcastResult both = try_broadcast(shape, from);
    if (!both.ok || !(both.shape == from)) return false;
    IntList axes, to;
    for (int d = 0; d < from.rank; ++d)
      if (const int own = d - (from.rank - shape.rank); own < 0 || !(shape.code[own] == from.code[d])) axes.push_back(d);
    for (int d = 0; d < shape.rank; ++d) to.push_back(shape.code[d]);
    g = g.sum(axes, false, at).reshape(to, at);
  }
  if (g.dtype() != dtype) g = g.to(dtype, at);
  return true;
}

}  // namespace tt::autograd
