// Windows, padding, convolution and pooling on Tensors: functional/image_ops.hpp as operators.
//   tt::Tensor y = tt::conv2d(x, w, b, {.stride = 2, .padding = 1});   tt::max_pool2d(y, {.kernel_size = 2});
#pragma once
#include "tt/dispatch/views.hpp"
#include "tt/functional/image_ops.hpp"

namespace tt {
namespace detail {

TT_INLINE void record_conv2d(Graph& g, const Operator& op, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_conv2d_bias(Graph& g, const Operator& op, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_max_pool2d(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_avg_pool2d(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_pad(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_unfold(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void unfold_kernel(Call& c, void*);

inline constexpr const char* conv2d_schema = "int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1";
inline constexpr const char* pool2d_schema = "int[2] kernel_size, int[2] stride=[], int[2] padding=0";
inline Operator& conv2d_operator() {
  static Operator& op = define_recorded("conv2d", 2, &record_conv2d, conv2d_schema);
  return op;
}
inline Operator& conv2d_bias_operator() {
  static Operator& op = define_recorded("conv2d_bias", 3, &record_conv2d_bias, conv2d_schema);
  return op;
}
inline Operator& max_pool2d_operator() {
  static Operator& op = define_recorded("max_pool2d", 1, &record_max_pool2d, pool2d_schema);
  return op;
}
inline Operator& avg_pool2d_operator() {
  static Operator& op = define_recorded("avg_pool2d", 1, &record_avg_pool2d, pool2d_schema);
  return op;
}
inline Operator& pad_operator() {
  static Operator& op = define_recorded("pad", 1, &record_pad, "int[] pad, float value=0");
  return op;
}
inline Operator& unfold_operator() {
  static Operator& op = define_view("unfold", "int dim, int size, int step", &record_unfold, &unfold_kernel, [](Call& c) {
    const std::int64_t* a = c.attrs().value.data();
    c.result[0] = c[0].unfold(axis_given(a[0]), a[1], a[2], c.at);
  });
  return op;
}

}  // namespace detail

/// See conv2d in functional/image_ops.hpp.
TT_INLINE Tensor conv2d(const Tensor& images, const Tensor& weights, const Conv2dOptions& options, SourceLine at = here());
TT_INLINE Tensor conv2d(const Tensor& images, const Tensor& weights, const Tensor& bias, const Conv2dOptions& options,
                        SourceLine at = here());
TT_INLINE Tensor max_pool2d(const Tensor& images, const Pool2dOptions& options, SourceLine at = here());
TT_INLINE Tensor avg_pool2d(const Tensor& images, const Pool2dOptions& options, SourceLine at = here());
/// A margin of `value`: `sizes` before and after the last axis, then the one before it, and so on. A negative one cuts off so
/// many elements.
TT_INLINE Tensor pad(const Tensor& x, const IntList& sizes, double value = 0, SourceLine at = here());

namespace detail {

template <Conv2dOptions C>
struct TensorFunction<Conv2dFn<C>> {
  static Tensor run(SourceLine at, const Tensor& x, const Tensor& w) { return tt::conv2d(x, w, C, at); }
  static Tensor run(SourceLine at, const Tensor& x, const Tensor& w, const Tensor& bias) { return tt::conv2d(x, w, bias, C, at); }
};
template <Pool2dOptions P>
struct TensorFunction<MaxPool2dFn<P>> {
  static Tensor run(SourceLine at, const Tensor& x) { return tt::max_pool2d(x, P, at); }
};
template <Pool2dOptions P>
struct TensorFunction<AvgPool2dFn<P>> {
  static Tensor run(SourceLine at, const Tensor& x) { return tt::avg_pool2d(x, P, at); }
};
template <std::int64_t... Sizes>
struct TensorFunction<PadFn<Sizes...>> {
  static Tensor run(SourceLine at, const Tensor& x) { return tt::pad(x, {Sizes...}, 0, at); }
};
template <int Axis, std::int64_t Size, std::int64_t Step>
struct TensorFunction<UnfoldFn<Axis, Size, Step>> {
  static Tensor run(SourceLine at, const Tensor& x) { return x.unfold(Axis, Size, Step, at); }
};

}  // namespace detail
}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/image_ops_inl.hpp"
#endif
