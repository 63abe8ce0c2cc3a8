// Elementwise results have the axis order in memory of their operands, as in PyTorch: the sum of two transposed matrices is a transposed matrix, so that
// elements are read consecutively.
//   Tensor y = x.t() * 2;   y.strides() is that of x.t(), if x is contiguous
#pragma once
#include "tt/dispatch/dispatcher.hpp"

namespace tt::detail {

/// The stride of a Tensor along axis d of a shape it is broadcast to: 0 where it is repeated.
inline std::int64_t broadcast_stride(const TensorImpl& t, const Shape& to, int d) {
  const int own = d - (to.rank - t.shape.rank);
  return own < 0 || (t.shape.code[own] == 1 && to.code[d] != 1) ? 0 : t.stride[own];
}

/// Axes in memory order, from the outermost to the innermost.
struct MemoryOrder {
  Shape shape;  ///< of the result; empty if operands do not broadcast
  int axis[max_rank];

  /// The order of an elementwise call's results, from its operands.
  explicit MemoryOrder(const Call& c) {
    for (int k = 0; k < c.arguments; ++k) {
      const BroadcastResult both = try_broadcast(shape, c[k].impl().shape);
      shape = both.ok ? both.shape : Shape();
      if (!both.ok) return;
    }
    sort(c.argument, c.arguments);
  }
  /// The order of a Tensor's own axes.
  explicit MemoryOrder(const Tensor& t) : shape(t.impl().shape) {
    const Tensor* const operand = &t;
    sort(&operand, 1);
  }
  bool is_row_major() const {
    for (int d = 0; d < shape.rank; ++d)
      if (axis[d] != d) return false;
    return true;
  }
  /// Are the elements of that Tensor consecutive in memory, in this order?
  bool has_no_gaps(const Tensor& t) const {
    std::int64_t n = 1;
    for (int d = shape.rank - 1; d >= 0; --d) {
      if (shape.code[axis[d]] != 1 && t.impl().stride[axis[d]] != n) return false;
      n *= shape.code[axis[d]];
    }
    return true;
  }
  /// Gives a Tensor this shape and the strides of consecutive elements in this order.
  void set_strides(TensorImpl& t) const {
    std::int64_t strides[max_rank], n = 1;
    for (int d = shape.rank - 1; d >= 0; --d) {
      strides[axis[d]] = n;
      n *= shape.code[axis[d]];
    }
    t.set_strided(shape, strides);
  }

 private:
  /// As PyTorch's TensorIterator: from the innermost axis out, each is moved inwards past the axes that it is certainly inside of.
  void sort(const Tensor* const* operand, int count) {
    for (int d = 0; d < shape.rank; ++d) axis[d] = d;
    for (int d = shape.rank - 2; d >= 0; --d)
      for (int at = d, inner = d + 1; inner < shape.rank; ++inner) {
        const int order = compare(operand, count, axis[at], axis[inner]);
        if (order > 0) break;
        if (order == 0) continue;
        std::swap(axis[at], axis[inner]);
        at = inner;
      }
  }
  /// Is axis d outside of axis e? 1: yes, -1: inside; 0: no operand decides.
  int compare(const Tensor* const* operand, int count, int d, int e) const {
    for (int k = 0; k < count; ++k) {
      const std::int64_t a = broadcast_stride(operand[k]->impl(), shape, d), b = broadcast_stride(operand[k]->impl(), shape, e);
      if (a == 0 || b == 0) continue;
      if (a != b) return a > b ? 1 : -1;
      if (shape.code[e] > shape.code[d]) return -1;
    }
    return 0;
  }
};

/// A Tensor over the elements of another, for kernels and their results. Unlike make_view (views.hpp) it keeps that Tensor's is_fill, so nothing may be written
/// through it while the other exists.
inline Tensor over_elements(const Tensor& t, const Shape& shape, const std::int64_t* strides) {
  const TensorImpl& impl = t.impl();
  TensorImpl* const as = TensorImpl::make();
  if (impl.storage) impl.storage->retain();
  as->storage = impl.storage;
  as->data = impl.data;
  as->dtype = impl.dtype;
  as->device = impl.device;
  as->keys = impl.keys & backend_keys;
  as->set_strided(shape, strides);
  return Tensor(as);
}
/// A view of the elements with axes (and those missing in front) permuted to this order.
inline Tensor in_order(const Tensor& t, const MemoryOrder& order) {
  const TensorImpl& impl = t.impl();
  const int rank = order.shape.rank;
  Shape shape;
  std::int64_t strides[max_rank];
  for (int d = 0; d < rank; ++d) {
    const int own = order.axis[d] - (rank - impl.shape.rank);
    shape.push_back(own < 0 ? Extent(1) : impl.shape[own]);
    strides[d] = broadcast_stride(impl, order.shape, order.axis[d]);
  }
  return over_elements(t, shape, strides);
}
/// The inverse of in_order.
inline Tensor out_of_order(const Tensor& t, const MemoryOrder& order) {
  std::int64_t strides[max_rank];
  for (int d = 0; d < order.shape.rank; ++d) strides[order.axis[d]] = t.impl().stride[d];
  return over_elements(t, order.shape, strides);
}
inline bool all_contiguous(const Call& c) {
  bool all = true;
  for (int k = 0; k < c.arguments; ++k) all = all && c[k].impl().contiguous;
  return all;
}
/// Runs an elementwise call by `kernel`, which is given a context, with axes permuted to the operands' memory order. False if that is row-major.
inline bool run_in_order(Call& c, OpKernel kernel) {
  if (!c.op->elementwise || all_contiguous(c)) return false;
  const MemoryOrder order(c);
  if (order.is_row_major()) return false;
  SmallVec<Tensor, 4> moved(c.arguments);
  SmallVec<const Tensor*, 4> argument(c.arguments);
  for (int k = 0; k < c.arguments; ++k) {
    if (c[k].dim() > 0) moved[k] = in_order(c[k], order);
    argument[k] = c[k].dim() > 0 ? &moved[k] : c.argument[k];
  }
  const Tensor into = c.into && c.into->dim() == order.shape.rank ? in_order(*c.into, order) : Tensor();
  Call inner = c;
  inner.argument = argument.data();
  inner.into = into.defined() ? &into : nullptr;
  kernel(inner, &inner);
  for (int k = 0; k < c.op->results; ++k)
    if (into.defined() && c.result[k].is_same(into)) c.result[k] = *c.into;
    else order.set_strides(c.result[k].impl());
  return true;
}

}  // namespace tt::detail
