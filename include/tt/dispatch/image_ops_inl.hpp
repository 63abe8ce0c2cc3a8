// Definitions of image_ops.hpp.
#pragma once
#include "tt/dispatch/image_ops.hpp"

namespace tt {
namespace detail {

/// The lists of a call, one behind the other: none is the default, one number is for both axes. What is no int is out of range
/// of all of them.
struct SizesReader {
  const Attributes& a;
  int at = 0;
  HeightWidth next(int left_out) {
    const IntList l = a.list(at);
    at += 1 + l.size();
    if (l.size() > 2) TT_THROW(Error(Text("tt: of the last two axes, one number or two are expected, and there are ") << l.size() << "."));
    const auto number = [&](int k) { return axis_given(l[k]); };
    return l.size() == 0 ? HeightWidth(left_out) : l.size() == 1 ? HeightWidth(number(0)) : HeightWidth(number(0), number(1));
  }
};
inline void push_sizes(Attributes& a, HeightWidth p) { a.push(IntList{p.h, p.w}); }

inline Conv2dOptions conv2d_options(const Attributes& a) {
  SizesReader r{a};
  Conv2dOptions c;
  c.stride = r.next(1);
  c.padding = r.next(0);
  c.dilation = r.next(1);
  c.groups = static_cast<int>(a.value[r.at]);
  return c;
}
inline Attributes attributes_of(const Conv2dOptions& c) {
  Attributes a;
  for (const HeightWidth& p : {c.stride, c.padding, c.dilation}) push_sizes(a, p);
  a.push(c.groups);
  return a;
}
inline Pool2dOptions pool2d_options(const Attributes& a) {
  SizesReader r{a};
  Pool2dOptions p;
  p.kernel_size = r.next(2);
  p.stride = r.next(0);
  p.padding = r.next(0);
  return p;
}
inline Attributes attributes_of(const Pool2dOptions& p) {
  Attributes a;
  for (const HeightWidth& x : {p.kernel_size, p.stride, p.padding}) push_sizes(a, x);
  return a;
}

TT_INLINE void record_conv2d(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = conv2d({&g, in[0]}, {&g, in[1]}, nullptr, conv2d_options(a)).id;
}
TT_INLINE void record_conv2d_bias(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  const Sym bias{&g, in[2]};
  out[0] = conv2d({&g, in[0]}, {&g, in[1]}, &bias, conv2d_options(a)).id;
}
TT_INLINE void record_max_pool2d(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = max_pool2d({&g, in[0]}, pool2d_options(a)).id;
}
TT_INLINE void record_avg_pool2d(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = avg_pool2d({&g, in[0]}, pool2d_options(a)).id;
}
TT_INLINE void record_pad(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  const int count = static_cast<int>(a.value[0]);
  Vec<Extent> sizes;
  for (int k = 0; k < count; ++k) {
    const std::int64_t n = a.value[1 + k];
    if (n > most_bytes || n < -most_bytes) g.fail({.mistake = Mistake::padding_out_of_range, .op = "pad", .a = g[in[0]].shape, .number = n});
    sizes.push_back(a.extent(1 + k));
  }
  out[0] = pad({&g, in[0]}, sizes.items, count, std::bit_cast<double>(a.value[1 + count])).id;
}
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

}  // namespace detail

TT_INLINE Tensor conv2d(const Tensor& images, const Tensor& weights, const Conv2dOptions& options, SourceLine at) {
  const Tensor* argument[] = {&images, &weights};
  return detail::call_operator(detail::conv2d_operator(), argument, 2, detail::attributes_of(options), at);
}
TT_INLINE Tensor conv2d(const Tensor& images, const Tensor& weights, const Tensor& bias, const Conv2dOptions& options, SourceLine at) {
  const Tensor* argument[] = {&images, &weights, &bias};
  return detail::call_operator(detail::conv2d_bias_operator(), argument, 3, detail::attributes_of(options), at);
}
TT_INLINE Tensor max_pool2d(const Tensor& images, const Pool2dOptions& options, SourceLine at) {
  return detail::call_unary(detail::max_pool2d_operator(), images, detail::attributes_of(options), at);
}
TT_INLINE Tensor avg_pool2d(const Tensor& images, const Pool2dOptions& options, SourceLine at) {
  return detail::call_unary(detail::avg_pool2d_operator(), images, detail::attributes_of(options), at);
}
TT_INLINE Tensor pad(const Tensor& x, const IntList& sizes, double value, SourceLine at) {
  IntList known = sizes;
  for (int k = 0; k < sizes.size() && sizes.has_expressions(); ++k)
    if (sizes[k] < 0) known[k] = std::int64_t{sizes[k]};  // what is cut off is a number
  Attributes a;
  a.push(known);
  a.push(std::bit_cast<std::int64_t>(value));
  return detail::call_unary(detail::pad_operator(), x, a, at);
}

TT_INLINE Tensor Tensor::unfold(int axis, std::int64_t size, std::int64_t step, SourceLine at) const {
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
