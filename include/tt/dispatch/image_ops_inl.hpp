// Definitions of image_ops.hpp.
#pragma once
#include "tt/dispatch/image_ops.hpp"

namespace tt {
namespace detail {

TT_INLINE void record_unfold(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = g.window(in[0], static_cast<int>(a.value[0]), a.value[1], a.value[2]);
}

TT_INLINE void unfold_kernel(Call& c, void*) {
  const TensorImpl& t = c[0].impl();
  const std::int64_t* a = c.attrs().value.data();
  const int axis = normalize_axis(static_cast<int>(a[0]), t.shape.rank);
  Shape shape = t.shape;
  std::int64_t strides[max_rank];
  for (int k = 0; k < shape.rank; ++k) strides[k] = t.stride[k] * (k == axis ? a[2] : 1);
  strides[shape.rank] = t.stride[axis];
  shape.set(axis, (t.shape.code[axis] - a[1]) / a[2] + 1);
  shape.push_back(a[1]);
  c.result[0] = make_view(c[0], shape, strides, t.data);
}

TT_INLINE void move_pixels(Call& c, std::int64_t factor, bool up) {
  const Tensor& x = c[0];
  const int r = x.dim();
  const std::int64_t f = factor, squares = f * f;
  const auto size = [&](int behind) { return x.impl().shape.code[r - behind]; };
  const bool fits = f > 0 && r >= 3 && r <= max_rank - 2 && (up ? size(3) % squares == 0 : size(2) % f == 0 && size(1) % f == 0);
  if (!fits) return static_cast<void>(bind_function(c));  // throws the op's error
  std::int64_t outer = 1;
  IntList to;
  for (int k = 0; k < r - 3; ++k) {
    outer *= x.impl().shape.code[k];
    to.push_back(x.impl().shape.code[k]);
  }
  const std::int64_t channels = size(3), h = size(2), w = size(1);
  if (up) {
    for (const std::int64_t n : {channels / squares, h * f, w * f}) to.push_back(n);
    c.result[0] = x.reshape({outer, channels / squares, f, f, h, w}, c.at).permute({0, 1, 4, 2, 5, 3}, c.at).reshape(to, c.at);
  } else {
    for (const std::int64_t n : {channels * squares, h / f, w / f}) to.push_back(n);
    c.result[0] = x.reshape({outer, channels, h / f, f, w / f, f}, c.at).permute({0, 1, 3, 5, 2, 4}, c.at).reshape(to, c.at);
  }
  if (c.result[0].shares_storage(x)) c.result[0] = c.result[0].clone(c.at);  // with single pixels the order is the same
}

}  // namespace detail

TT_INLINE Tensor Tensor::unfold(int axis, std::int64_t size, std::int64_t step, SourceLine at) const {
  if (dim() == 0) return reshape({1}, at).unfold(axis, size, step, at).select(0, 0, at);  // a vector of one element, as in PyTorch
  const int d = detail::axis_of(*this, axis, "unfold", at, dim());
  const std::int64_t n = impl().shape.code[d];
  if (size < 1 || size > n || !WindowAttribute{d, step, 1}.fits() || dim() == max_rank)
    TT_THROW(Error(Text("tt::unfold: window does not fit: ") << size << " in " << shape() << ", " << step << " apart." << at));
  Attributes a;
  a.push(d);
  a.push(size);
  a.push(step);
  return detail::call_unary(detail::unfold_operator(), *this, a, at);
}

}  // namespace tt
