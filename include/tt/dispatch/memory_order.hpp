// Elementwise results lie in memory as their operands do, as PyTorch's: a sum of two transposed matrices is a transposed matrix, whose elements are computed one behind
// the other.
//   Tensor y = x.t() * 2;   y.strides() is that of x.t(), if x is contiguous
#pragma once
#include "tt/dispatch/dispatcher.hpp"

namespace tt::detail {

/// The stride of a Tensor along axis d of a shape that it is broadcast to: 0 where it is repeated.
inline std::int64_t broadcast_stride(const TensorImpl& t, const Shape& to, int d) {
  const int own = d - (to.rank - t.shape.rank);
  return own < 0 || (t.shape.code[own] == 1 && to.code[d] != 1) ? 0 : t.stride[own];
}

/// Axes, from the outmost in memory to the inmost one.
struct MemoryOrder {
  Shape shape;  ///< of the result; empty where operands have no common one
  int axis[max_rank];

  /// Of an elementwise call's results, from its operands.
  explicit MemoryOrder(const Call& c) {
    for (int k = 0; k < c.arguments; ++k) {
      const BroadcastResult both = try_broadcast(shape, c[k].impl().shape);
      shape = both.ok ? both.shape : Shape();
      if (!both.ok) return;
    }
    sort(c.argument, c.arguments);
  }
  /// In which a Tensor lies.
  explicit MemoryOrder(const Tensor& t) : shape(t.impl().shape) {
    const Tensor* const operand = &t;
    sort(&operand, 1);
  }
  bool is_row_major() const {
    for (int d = 0; d < shape.rank; ++d)
      if (axis[d] != d) return false;
    return true;
  }
  /// Do the elements of that Tensor lie one behind the other?
  bool has_no_gaps(const Tensor& t) const {
    std::int64_t n = 1;
    for (int d = shape.rank - 1; d >= 0; --d) {
      if (shape.code[axis[d]] != 1 && t.impl().stride[axis[d]] != n) return false;
      n *= shape.code[axis[d]];
    }
    return true;
  }
  /// Gives a Tensor of this shape the strides of one whose elements lie in this order, one behind the other.
  void lay_out(TensorImpl& t) const {
    std::int64_t strides[max_rank], n = 1;
    for (int d = shape.rank - 1; d >= 0; --d) {
      strides[axis[d]] = n;
      n *= shape.code[axis[d]];
    }
    t.set_strided(shape, strides);
  }

 private:
  /// As PyTorch's TensorIterator: from the inmost axis out, each goes behind those that it is certainly inside of.
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
  /// Is axis d outside of axis e? 1: yes, -1: inside; 0: no operand says so.
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

/// A Tensor over the elements of another, for kernels and for what they gave: unlike make_view (views.hpp) it leaves what is known of
/// that (is_fill) as it is, so nothing may be written through it while the other one is there.
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
/// The elements of a Tensor as if its axes, and those that it lacks in front, stood in this order.
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
/// And back: of a Tensor whose axes stand in this order.
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
/// Runs an elementwise call by `kernel`, which is given a context, as if the axes stood in the order in which operands lie. False where they do.
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
    else order.lay_out(c.result[k].impl());
  return true;
}

}  // namespace tt::detail
