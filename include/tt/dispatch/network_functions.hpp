// torch.nn.functional: pooling over 1 to 3 axes, convolutions made of conv2d, resizing, normalisation, attention, one-hot. Names, arguments, defaults and
// meanings are PyTorch's. Made of operators, and captured and differentiated like these.
//   tt::max_pool1d(x, {2})   tt::adaptive_avg_pool2d(x, {1, 1})   tt::interpolate(x, {64, 64}, {}, "bilinear")   tt::one_hot(labels, 10)
#pragma once
#include "tt/dispatch/argument_checks.hpp"
#include "tt/dispatch/shape_functions.hpp"
#include "tt/functional/list.hpp"

namespace tt {

struct PoolResult {
  Tensor values, indices;  ///< i64, into the last axes flattened to one
};
/// Windows of a pool over the last one, two or three axes: each option has one number for each axis, or one for all. stride {}: the kernel size.
struct PoolOptions {
  IntList stride{}, padding{0}, dilation{1};
  bool ceil_mode = false;
};
namespace detail {
/// Entry k of a list with one number for each axis, or one for all; `otherwise` if it is empty.
inline std::int64_t each_axis(const IntList& l, int k, std::int64_t otherwise) { return l.size() == 0 ? otherwise : std::int64_t{l[l.size() == 1 ? 0 : k]}; }
/// Repeats a single number for all axes.
inline IntList for_axes(const IntList& l, int axes) {
  IntList all = l;
  for (int k = 1; k < axes && l.size() == 1; ++k) all.push_back(l[0]);
  return all;
}
/// Throws Error unless a list has one number for all axes or one for each, each of them at least `least` and within int.
template <class = void>
void need_each(const char* op, const IntList& all, const char* what, std::int64_t least, int axes, SourceLine at) {
  if (all.size() > 1 && all.size() != axes) TT_THROW(Error(Text("tt::") << op << ": " << what << " is given for " << all.size() << " of " << axes << (axes == 1 ? " axis: " : " axes: ") << all << ". One number, or one for each?" << at));
  for (int k = 0; k < all.size(); ++k)
    if (all.value(k) < least || all.value(k) > INT32_MAX) TT_THROW(Error(Text("tt::") << op << ": " << what << " is " << all.value(k) << ". From " << least << " on?" << at));
}
/// Checks strides and dilations of a window over `axes` axes, and groups of channels.
template <class = void>
void need_window(const char* op, const IntList& stride, const IntList& dilation, std::int64_t groups, int axes, SourceLine at) {
  need_each(op, stride, "a stride", 1, axes, at);
  need_each(op, dilation, "a dilation", 1, axes, at);
  need_each(op, {groups}, "the number of groups", 1, 1, at);
}
/// Checks that the weights of a convolution over `axes` axes have two axes more.
inline const Tensor& weights_over(const Tensor& weight, int axes, const char* op, SourceLine at) {
  if (weight.dim() != axes + 2) refuse(op, "weights are of another rank", weight, at);
  return weight;
}
}  // namespace detail

/// The maximum of each window over the last `axes` axes; and its index.
TT_LAZY Tensor max_pool(const Tensor& x, int axes, const IntList& kernel_size, const PoolOptions& o = {}, SourceLine at = here());
TT_LAZY PoolResult max_pool_with_indices(const Tensor& x, int axes, const IntList& kernel_size, const PoolOptions& o = {}, SourceLine at = here());
/// The mean of each window; padding counts if count_include_pad; divisor_override (not 0) replaces the number of elements as divisor.
TT_LAZY Tensor avg_pool(const Tensor& x, int axes, const IntList& kernel_size, const PoolOptions& o = {}, bool count_include_pad = true, std::int64_t divisor_override = 0, SourceLine at = here());
/// Max pooling over output_size windows (or the fraction output_ratio of the input's size), a random step apart (Graham, 2015), along the last two or three
/// axes, as many as kernel_size has. random_samples (batch, channels, axes) in [0, 1), drawn if not given.
TT_LAZY PoolResult fractional_max_pool(const Tensor& x, const IntList& kernel_size, const IntList& output_size, const std::vector<double>& output_ratio = {}, const Tensor& random_samples = {},
                                       SourceLine at = here());
/// Window i of m, along an axis of n elements: from floor(i n / m) to ceil((i + 1) n / m).
TT_LAZY Tensor adaptive_avg_pool(const Tensor& x, const IntList& output_size, SourceLine at = here());
TT_LAZY PoolResult adaptive_max_pool(const Tensor& x, const IntList& output_size, SourceLine at = here());
/// (sum x^p)^(1/p) of each window.
TT_LAZY Tensor lp_pool(const Tensor& x, int axes, double norm_type, const IntList& kernel_size, const IntList& stride = {}, bool ceil_mode = false, SourceLine at = here());

/// Convolution over one, two or three axes (two fewer than the weight has), of images with or without a batch axis.
TT_LAZY Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, std::int64_t groups, SourceLine at = here());
/// Transposed convolution: the gradient by its images of a convolution with this weight (in, out / groups, ...).
TT_LAZY Tensor convolution_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias, const IntList& stride, const IntList& padding, const IntList& output_padding, std::int64_t groups,
                                     const IntList& dilation, SourceLine at = here());
/// Windows of images as columns: (N, C, H, W) to (N, C kh kw, number of windows); fold adds such columns up to images.
TT_LAZY Tensor im2col(const Tensor& x, const IntList& kernel_size, const IntList& dilation, const IntList& padding, const IntList& stride, SourceLine at = here());
TT_LAZY Tensor fold(const Tensor& x, const IntList& output_size, const IntList& kernel_size, const IntList& dilation = {1}, const IntList& padding = {0}, const IntList& stride = {1}, SourceLine at = here());

/// Resizes the axes from the third on. size: their new sizes, or {} and a factor for each. mode: nearest, nearest-exact, linear (bilinear, trilinear), bicubic,
/// area; results of u8 are rounded. antialias (bilinear and bicubic images): each element of a smaller result is a weighted mean of all elements it covers.
TT_LAZY Tensor interpolate(const Tensor& x, const IntList& size, const std::vector<double>& scale_factor = {}, std::string_view mode = "nearest", bool align_corners = false,
                           bool recompute_scale_factor = false, bool antialias = false, SourceLine at = here());
/// Splits channels into groups and interleaves the groups.
TT_LAZY Tensor channel_shuffle(const Tensor& x, int groups, SourceLine at = here());
TT_LAZY Tensor local_response_norm(const Tensor& x, int size, double alpha = 1e-4, double beta = 0.75, double k = 1, SourceLine at = here());
/// Normalises over all axes but the channels (axis 1). In training with the batch's statistics, and the running ones move by `momentum` towards these, in
/// place.
TT_LAZY Tensor batch_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {}, const Tensor& weight = {}, const Tensor& bias = {}, bool training = false, double momentum = 0.1,
                          double eps = 1e-5, SourceLine at = here());
/// Normalises over the axes behind the channels, for each example. The running statistics move as batch_norm's, by the means over the examples.
TT_LAZY Tensor instance_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {}, const Tensor& weight = {}, const Tensor& bias = {}, bool use_input_stats = true,
                             double momentum = 0.1, double eps = 1e-5, SourceLine at = here());
/// A normalised Tensor, the mean that was subtracted and the factor rstd (1 / sqrt(var + eps)).
struct NormResult {
  Tensor output, mean, rstd;
};
/// mean and rstd: (..., 1, 1), with size 1 for the axes of normalized_shape; without a gradient, as in PyTorch.
TT_LAZY NormResult native_layer_norm(const Tensor& x, const IntList& normalized_shape, const Tensor& weight, const Tensor& bias, double eps, SourceLine at = here());
/// x: (N, C, ...) with HxW elements for each channel; mean and rstd: (N, group), with gradients.
TT_LAZY NormResult native_group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t N, std::int64_t C, std::int64_t HxW, int group, double eps, SourceLine at = here());
/// mean and rstd: (C) in training, else empty; without a gradient.
TT_LAZY NormResult native_batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps,
                                     SourceLine at = here());
/// x1 W x2 for each output: weight (out, in1, in2).
TT_LAZY Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {}, SourceLine at = here());
/// Integers as one-hot rows; num_classes -1: one more than the largest.
TT_LAZY Tensor one_hot(const Tensor& x, std::int64_t num_classes = -1, SourceLine at = here());
/// softmax(query key^T scale + mask) value; a bool mask is true for keys that count. enable_gqa: fewer heads of keys than of queries.
TT_LAZY Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask = {}, double dropout_p = 0, bool is_causal = false,
                                            Optional<double> scale = {}, bool enable_gqa = false, SourceLine at = here());

// The same under PyTorch's names.
template <class = void>
Tensor max_pool1d(const Tensor& x, const IntList& kernel_size, const PoolOptions& o = {}, CallLine at = here()) { return max_pool(x, 1, kernel_size, o, at); }
template <class = void>
Tensor max_pool3d(const Tensor& x, const IntList& kernel_size, const PoolOptions& o = {}, CallLine at = here()) { return max_pool(x, 3, kernel_size, o, at); }
template <class = void>
Tensor avg_pool1d(const Tensor& x, const IntList& kernel_size, const PoolOptions& o = {}, CallLine at = here()) { return avg_pool(x, 1, kernel_size, o, true, 0, at); }
template <class = void>
Tensor avg_pool3d(const Tensor& x, const IntList& kernel_size, const PoolOptions& o = {}, CallLine at = here()) { return avg_pool(x, 3, kernel_size, o, true, 0, at); }
template <class = void>
Tensor adaptive_avg_pool2d(const Tensor& x, const IntList& output_size, SourceLine at = here()) { return adaptive_avg_pool(x, detail::for_axes(output_size, 2), at); }
template <class = void>
Tensor adaptive_max_pool2d(const Tensor& x, const IntList& output_size, SourceLine at = here()) { return adaptive_max_pool(x, detail::for_axes(output_size, 2), at).values; }
template <class = void>
PoolResult fractional_max_pool2d_with_indices(const Tensor& x, const IntList& kernel_size, const IntList& output_size, const std::vector<double>& output_ratio = {}, const Tensor& random_samples = {}, SourceLine at = here()) {
  return fractional_max_pool(x, {detail::each_axis(kernel_size, 0, 1), detail::each_axis(kernel_size, 1, 1)}, output_size, output_ratio, random_samples, at);
}
template <class = void>
Tensor fractional_max_pool2d(const Tensor& x, const IntList& kernel_size, const IntList& output_size, const std::vector<double>& output_ratio = {}, SourceLine at = here()) {
  return fractional_max_pool2d_with_indices(x, kernel_size, output_size, output_ratio, {}, at).values;
}
template <class = void>
PoolResult fractional_max_pool3d_with_indices(const Tensor& x, const IntList& kernel_size, const IntList& output_size, const std::vector<double>& output_ratio = {}, const Tensor& random_samples = {}, SourceLine at = here()) {
  return fractional_max_pool(x, {detail::each_axis(kernel_size, 0, 1), detail::each_axis(kernel_size, 1, 1), detail::each_axis(kernel_size, 2, 1)}, output_size, output_ratio, random_samples, at);
}
template <class = void>
Tensor fractional_max_pool3d(const Tensor& x, const IntList& kernel_size, const IntList& output_size, const std::vector<double>& output_ratio = {}, SourceLine at = here()) {
  return fractional_max_pool3d_with_indices(x, kernel_size, output_size, output_ratio, {}, at).values;
}
template <class = void>
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const IntList& stride = {1}, const IntList& padding = {0}, const IntList& dilation = {1}, std::int64_t groups = 1,
              SourceLine at = here()) {
  return convolution(x, detail::weights_over(weight, 1, "conv1d", at), bias, stride, padding, dilation, groups, at);
}
template <class = void>
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const IntList& stride = {1}, const IntList& padding = {0}, const IntList& dilation = {1}, std::int64_t groups = 1,
              SourceLine at = here()) {
  return convolution(x, detail::weights_over(weight, 3, "conv3d", at), bias, stride, padding, dilation, groups, at);
}

// ---- networks, with arguments in PyTorch's order
namespace detail {
/// Padding given by a word: "valid" is none, "same" keeps the size.
template <class = void>
IntList padding_called(std::string_view word, const Tensor& weight, const IntList& stride, const IntList& dilation, Tensor& x, SourceLine at) {
  const int axes = weight.dim() - 2;
  IntList p;
  if (word == "valid") {
    for (int k = 0; k < axes; ++k) p.push_back(0);
    return p;
  }
  if (word != "same") TT_THROW(Error(Text("tt::conv: padding is neither valid nor same.") << at));
  IntList more;
  bool uneven = false;
  for (int k = 0; k < axes; ++k) {
    if (each_axis(stride, k, 1) != 1) TT_THROW(Error(Text("tt::conv: padding same needs a stride of 1.") << at));
    const std::int64_t all = each_axis(dilation, k, 1) * (weight.size(2 + k, at).value() - 1);
    p.push_back(all / 2);
    uneven = uneven || all % 2;
  }
  if (uneven) {
    for (int k = axes - 1; k >= 0; --k) {
      const std::int64_t all = each_axis(dilation, k, 1) * (weight.size(2 + k, at).value() - 1);
      more.push_back(0);
      more.push_back(all % 2);
    }
    x = tt::pad(x, more, 0, at);
  }
  return p;
}
/// A convolution with such padding.
template <class = void>
Tensor convolution_padded(const Tensor& x, const Tensor& weight, const Tensor& bias, const IntList& stride, std::string_view padding, const IntList& dilation, std::int64_t groups, SourceLine at) {
  Tensor own = x;
  const IntList around = padding_called(padding, weight, stride, dilation, own, at);
  return convolution(own, weight, bias, stride, around, dilation, groups, at);
}
}  // namespace detail
/// padding: "valid" or "same".
template <std::convertible_to<std::string_view> W>
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const IntList& stride, const W& padding, const IntList& dilation = {1}, std::int64_t groups = 1, SourceLine at = here()) {
  return detail::convolution_padded(x, detail::weights_over(weight, 1, "conv1d", at), bias, stride, padding, dilation, groups, at);
}
template <std::convertible_to<std::string_view> W>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const IntList& stride, const W& padding, const IntList& dilation = {1}, std::int64_t groups = 1, SourceLine at = here()) {
  return detail::convolution_padded(x, weight, bias, stride, padding, dilation, groups, at);
}
template <std::convertible_to<std::string_view> W>
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const IntList& stride, const W& padding, const IntList& dilation = {1}, std::int64_t groups = 1, SourceLine at = here()) {
  return detail::convolution_padded(x, detail::weights_over(weight, 3, "conv3d", at), bias, stride, padding, dilation, groups, at);
}
template <class = void>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation = {1}, std::int64_t groups = 1, SourceLine at = here()) {
  return convolution(x, weight, bias, stride, padding, dilation, groups, at);
}
template <std::same_as<IntList> L>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const L& stride, SourceLine at = here()) { return convolution(x, weight, bias, stride, {0}, {1}, 1, at); }
/// Lists in braces are strides, not the first members of an options struct; for pools they are window sizes or strides.
template <std::integral I>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, std::initializer_list<I> stride, CallLine at = here()) { return convolution(x, weight, bias, list_of(stride), {0}, {1}, 1, at); }
template <class = void>
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, bool transposed, const IntList& output_padding,
                   std::int64_t groups, SourceLine at = here()) {
  return transposed ? convolution_transpose(x, weight, bias, stride, padding, output_padding, groups, dilation, at) : convolution(x, weight, bias, stride, padding, dilation, groups, at);
}
template <class = void>
Tensor max_pool1d(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation = {1}, bool ceil_mode = false, SourceLine at = here()) {
  return max_pool(x, 1, kernel_size, {stride, padding, dilation, ceil_mode}, at);
}
template <std::convertible_to<IntList> S>
Tensor max_pool1d(const Tensor& x, const IntList& kernel_size, const S& stride, SourceLine at = here()) { return max_pool(x, 1, kernel_size, {.stride = stride}, at); }
template <std::integral I>
Tensor max_pool1d(const Tensor& x, const IntList& kernel_size, std::initializer_list<I> stride, CallLine at = here()) { return max_pool(x, 1, kernel_size, {.stride = list_of(stride)}, at); }
template <class = void>
PoolResult max_pool1d_with_indices(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation = {1}, bool ceil_mode = false, SourceLine at = here()) {
  return max_pool_with_indices(x, 1, kernel_size, {stride, padding, dilation, ceil_mode}, at);
}
template <std::convertible_to<IntList> S>
PoolResult max_pool1d_with_indices(const Tensor& x, const IntList& kernel_size, const S& stride, SourceLine at = here()) { return max_pool_with_indices(x, 1, kernel_size, {.stride = stride}, at); }
template <std::integral I>
PoolResult max_pool1d_with_indices(const Tensor& x, const IntList& kernel_size, std::initializer_list<I> stride, CallLine at = here()) { return max_pool_with_indices(x, 1, kernel_size, {.stride = list_of(stride)}, at); }
template <class = void>
Tensor max_pool2d(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation = {1}, bool ceil_mode = false, SourceLine at = here()) {
  return max_pool(x, 2, kernel_size, {stride, padding, dilation, ceil_mode}, at);
}
template <std::same_as<IntList> K>
Tensor max_pool2d(const Tensor& x, const K& kernel_size, const IntList& stride = {}, SourceLine at = here()) { return max_pool(x, 2, kernel_size, {.stride = stride}, at); }
template <std::integral I>
Tensor max_pool2d(const Tensor& x, std::initializer_list<I> kernel_size, const IntList& stride = {}, CallLine at = here()) { return max_pool(x, 2, list_of(kernel_size), {.stride = stride}, at); }
template <class = void>
PoolResult max_pool2d_with_indices(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation = {1}, bool ceil_mode = false, SourceLine at = here()) {
  return max_pool_with_indices(x, 2, kernel_size, {stride, padding, dilation, ceil_mode}, at);
}
template <std::convertible_to<IntList> S>
PoolResult max_pool2d_with_indices(const Tensor& x, const IntList& kernel_size, const S& stride, SourceLine at = here()) { return max_pool_with_indices(x, 2, kernel_size, {.stride = stride}, at); }
template <std::integral I>
PoolResult max_pool2d_with_indices(const Tensor& x, const IntList& kernel_size, std::initializer_list<I> stride, CallLine at = here()) { return max_pool_with_indices(x, 2, kernel_size, {.stride = list_of(stride)}, at); }
template <class = void>
Tensor max_pool3d(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation = {1}, bool ceil_mode = false, SourceLine at = here()) {
  return max_pool(x, 3, kernel_size, {stride, padding, dilation, ceil_mode}, at);
}
template <std::convertible_to<IntList> S>
Tensor max_pool3d(const Tensor& x, const IntList& kernel_size, const S& stride, SourceLine at = here()) { return max_pool(x, 3, kernel_size, {.stride = stride}, at); }
template <std::integral I>
Tensor max_pool3d(const Tensor& x, const IntList& kernel_size, std::initializer_list<I> stride, CallLine at = here()) { return max_pool(x, 3, kernel_size, {.stride = list_of(stride)}, at); }
template <class = void>
PoolResult max_pool3d_with_indices(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation = {1}, bool ceil_mode = false, SourceLine at = here()) {
  return max_pool_with_indices(x, 3, kernel_size, {stride, padding, dilation, ceil_mode}, at);
}
template <std::convertible_to<IntList> S>
PoolResult max_pool3d_with_indices(const Tensor& x, const IntList& kernel_size, const S& stride, SourceLine at = here()) { return max_pool_with_indices(x, 3, kernel_size, {.stride = stride}, at); }
template <std::integral I>
PoolResult max_pool3d_with_indices(const Tensor& x, const IntList& kernel_size, std::initializer_list<I> stride, CallLine at = here()) { return max_pool_with_indices(x, 3, kernel_size, {.stride = list_of(stride)}, at); }
namespace detail {
template <class = void>
Tensor avg_pool_divided(const Tensor& x, int axes, const IntList& kernel_size, const PoolOptions& o, bool count_include_pad, Optional<std::int64_t> divisor_override, SourceLine at) {
  if (divisor_override.given && divisor_override.value == 0) TT_THROW(Error(Text("tt::avg_pool: divisor_override is 0.") << at));
  return avg_pool(x, axes, kernel_size, o, count_include_pad, divisor_override.given ? divisor_override.value : 0, at);
}
}  // namespace detail
template <class = void>
Tensor avg_pool1d(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode = false, bool count_include_pad = true, SourceLine at = here()) {
  return detail::avg_pool_divided(x, 1, kernel_size, {stride, padding, {1}, ceil_mode}, count_include_pad, {}, at);
}
template <std::convertible_to<IntList> S>
Tensor avg_pool1d(const Tensor& x, const IntList& kernel_size, const S& stride, SourceLine at = here()) { return avg_pool(x, 1, kernel_size, {.stride = stride}, true, 0, at); }
template <std::integral I>
Tensor avg_pool1d(const Tensor& x, const IntList& kernel_size, std::initializer_list<I> stride, CallLine at = here()) { return avg_pool(x, 1, kernel_size, {.stride = list_of(stride)}, true, 0, at); }
template <class = void>
Tensor avg_pool2d(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode = false, bool count_include_pad = true, Optional<std::int64_t> divisor_override = {}, SourceLine at = here()) {
  return detail::avg_pool_divided(x, 2, kernel_size, {stride, padding, {1}, ceil_mode}, count_include_pad, divisor_override, at);
}
template <std::same_as<IntList> K>
Tensor avg_pool2d(const Tensor& x, const K& kernel_size, const IntList& stride = {}, SourceLine at = here()) { return avg_pool(x, 2, kernel_size, {.stride = stride}, true, 0, at); }
template <std::integral I>
Tensor avg_pool2d(const Tensor& x, std::initializer_list<I> kernel_size, const IntList& stride = {}, CallLine at = here()) { return avg_pool(x, 2, list_of(kernel_size), {.stride = stride}, true, 0, at); }
template <class = void>
Tensor avg_pool3d(const Tensor& x, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode = false, bool count_include_pad = true, Optional<std::int64_t> divisor_override = {}, SourceLine at = here()) {
  return detail::avg_pool_divided(x, 3, kernel_size, {stride, padding, {1}, ceil_mode}, count_include_pad, divisor_override, at);
}
template <std::convertible_to<IntList> S>
Tensor avg_pool3d(const Tensor& x, const IntList& kernel_size, const S& stride, SourceLine at = here()) { return avg_pool(x, 3, kernel_size, {.stride = stride}, true, 0, at); }
template <std::integral I>
Tensor avg_pool3d(const Tensor& x, const IntList& kernel_size, std::initializer_list<I> stride, CallLine at = here()) { return avg_pool(x, 3, kernel_size, {.stride = list_of(stride)}, true, 0, at); }
/// libtorch's overloads: weight and bias first. cudnn_enabled has no effect.
template <class = void>
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps, [[maybe_unused]] bool cudnn_enabled, SourceLine at = here()) {
  return batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps, at);
}
template <class = void>
Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool use_input_stats, double momentum, double eps, [[maybe_unused]] bool cudnn_enabled, SourceLine at = here()) {
  return instance_norm(x, running_mean, running_var, weight, bias, use_input_stats, momentum, eps, at);
}
template <class = void>
Tensor layer_norm(const Tensor& x, const IntList& normalized_shape, const Tensor& weight, const Tensor& bias, double eps, [[maybe_unused]] bool cudnn_enable, SourceLine at = here()) { return layer_norm(x, normalized_shape, weight, bias, eps, at); }
template <class = void>
Tensor group_norm(const Tensor& x, int num_groups, const Tensor& weight, const Tensor& bias, double eps, [[maybe_unused]] bool cudnn_enabled, SourceLine at = here()) { return group_norm(x, num_groups, weight, bias, eps, at); }

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/network_functions_inl.hpp"
#endif
