// Definitions of network_functions.hpp: convolutions over one, two and three axes, and transposed ones.
#pragma once
#include <array>

#include "tt/dispatch/join_ops.hpp"
#include "tt/dispatch/network_functions.hpp"

namespace tt {
namespace detail {
/// Adds a bias, one element for each channel; `axes` axes follow the channels.
template <class = void>
Tensor with_bias(const Tensor& r, const Tensor& bias, int axes, SourceLine at) {
  if (!bias.defined()) return r;
  IntList channels{bias.size(0, at)};
  for (int k = 0; k < axes; ++k) channels.push_back(1);
  return r + bias.reshape(channels, at);
}
/// Appends `count` zeros along an axis.
template <class = void>
Tensor zeros_behind(const Tensor& x, int axis, std::int64_t count, SourceLine at) {
  IntList behind;
  for (int d = x.dim(); d > axis + 1; --d) behind.push_back(0), behind.push_back(0);
  behind.push_back(0);
  behind.push_back(count);
  return tt::pad(x, behind, 0, at);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor convolution(const Tensor& given, const Tensor& weight, const Tensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, std::int64_t groups, SourceLine at) {
  const int axes = weight.dim() - 2;
  if (axes < 1 || axes > 3 || (given.dim() != axes + 2 && given.dim() != axes + 1)) detail::refuse("conv", "images and weights are of other ranks", given, at);
  detail::need_window("conv", stride, dilation, groups, axes, at);
  detail::need_each("conv", padding, "a padding", 0, axes, at);
  for (const Tensor* t : {&weight, &bias}) detail::need_same_dtype("conv", given, *t, at);
  const Tensor x = given.dim() == axes + 1 ? given.unsqueeze(0, at) : given;
  const auto s = [&](int k) { return static_cast<int>(detail::each_axis(stride, k, 1)); };
  const auto p = [&](int k) { return static_cast<int>(detail::each_axis(padding, k, 0)); };
  const auto d = [&](int k) { return static_cast<int>(detail::each_axis(dilation, k, 1)); };
  Tensor r;
  if (axes == 1) {
    r = conv2d(x.unsqueeze(2, at), weight.unsqueeze(2, at), bias, Conv2dOptions{{1, s(0)}, {0, p(0)}, {1, d(0)}, static_cast<int>(groups)}, at).squeeze(2, at);
  } else if (axes == 2) {
    r = conv2d(x, weight, bias, Conv2dOptions{{s(0), s(1)}, {p(0), p(1)}, {d(0), d(1)}, static_cast<int>(groups)}, at);
  } else {  // a sum of 2-d convolutions, over the depth of the weight
    const Tensor deep = p(0) > 0 ? tt::pad(x, {0, 0, 0, 0, p(0), p(0)}, 0, at) : x;
    const std::int64_t kernel = weight.size(2, at), reach = d(0) * (kernel - 1) + 1, n = deep.size(2, at), batch = deep.size(0, at);
    if (n < reach) detail::refuse("conv3d", "the window does not fit", given, at);
    const std::int64_t count = (n - reach) / s(0) + 1;
    for (std::int64_t k = 0; k < kernel; ++k) {
      const Tensor planes = deep.slice(2, k * d(0), k * d(0) + (count - 1) * s(0) + 1, s(0), at).transpose(1, 2, at);
      const Tensor flat = planes.reshape({batch * count, planes.size(2, at), planes.size(3, at), planes.size(4, at)}, at);
      const Tensor part = conv2d(flat, weight.select(2, k, at), Conv2dOptions{{s(1), s(2)}, {p(1), p(2)}, {d(1), d(2)}, static_cast<int>(groups)}, at);
      r = r.defined() ? r + part : part;
    }
    r = r.reshape({batch, count, r.size(1, at), r.size(2, at), r.size(3, at)}, at).transpose(1, 2, at);
    r = detail::with_bias(r, bias, axes, at);
  }
  return given.dim() == axes + 1 ? r.squeeze(0, at) : r;
}
namespace detail {
/// A transposed convolution with strides s as s phases of K = ceil(k / s) taps: element s i + a along an axis is the sum over t of
/// x[i - t] weight[s t + a]. Phases with equally many taps are channels of one convolution, so no zeros are inserted and multiplied.
class TransposedPhases {
 public:
  TransposedPhases(const Tensor& x, const Tensor& weight, const IntList& stride, std::int64_t groups, SourceLine at) : x_(x), weight_(weight), axes_(weight.dim() - 2), groups_(groups), at_(at) {
    for (int k = 0; k < axes_; ++k) {
      stride_.push_back(each_axis(stride, k, 1));
      taps_.push_back((weight.size(2 + k, at) + stride_.hint(k) - 1) / stride_.hint(k));
    }
  }
  /// (N, out, s (n + K - 1), ...), from the first element that an input contributes to.
  Tensor run() const {
    IntList order{0, 1}, to{x_.size(0, at_), weight_.size(1, at_) * groups_};
    for (int k = 0; k < axes_; ++k) {
      order.push_back(2 + axes_ + k);
      order.push_back(2 + k);
      to.push_back((x_.size(2 + k, at_) + taps_[k] - 1) * stride_[k]);
    }
    return phases(weight_, {}).permute(order, at_).reshape(to, at_);
  }

 private:
  const Tensor &x_, &weight_;
  int axes_;
  std::int64_t groups_;
  SourceLine at_;
  IntList stride_, taps_;

  /// (N, out, the phases of each axis, then n + K - 1 for each axis). The first counts.size() axes of `weight` are split into (phases, taps)
  /// already: (in, out / groups, phases, taps, ..., k, ...).
  Tensor phases(const Tensor& weight, const IntList& counts) const {
    const int k = counts.size();
    if (k == axes_) return convolved(weight, counts);
    const int axis = 2 + 2 * k;
    const std::int64_t s = stride_.hint(k), more = weight.size(axis, at_) % s, least = weight.size(axis, at_) / s;
    TensorList parts;
    for (const auto& [first, count, taps] : {std::array{std::int64_t{0}, more, least + 1}, std::array{more, s - more, least}}) {
      if (count == 0) continue;
      // weight[s t + a] for t below taps and a from first to first + count: the whole weight if count is s, else a slice for each t
      IntList split, own = counts;
      for (int d = 0; d < weight.dim(); ++d) {
        if (d == axis) split.push_back(taps), split.push_back(count);
        else split.push_back(weight.size(d, at_));
      }
      TensorList rows;
      for (std::int64_t t = 0; t < taps && count < s; ++t) rows.push_back(weight.slice(axis, t * s + first, t * s + first + count, 1, at_));
      const Tensor part = count == s ? weight : taps == 0 ? weight.slice(axis, 0, 0, 1, at_) : cat(rows, axis, at_);
      own.push_back(count);
      parts.push_back(phases(part.reshape(split, at_).transpose(axis, axis + 1, at_), own));
    }
    return parts.size() == 1 ? parts[0] : cat(parts, 2 + k, at_);
  }
  Tensor convolved(const Tensor& weight, const IntList& counts) const {
    IntList order{0, 2}, flipped, to{weight.size(1, at_) * groups_}, shape{x_.size(0, at_), weight.size(1, at_) * groups_}, around;
    IntList split{groups_, weight.size(0, at_) / groups_};
    for (int d = 1; d < weight.dim(); ++d) split.push_back(weight.size(d, at_));
    bool empty = false;
    for (int k = 0; k < axes_; ++k) {
      const std::int64_t taps = weight.size(3 + 2 * k, at_);
      order.push_back(3 + 2 * k);
      to[0] = to[0] * counts[k];
      shape.push_back(counts[k]);
      flipped.push_back(2 + k);
      empty = empty || taps == 0;
    }
    order.push_back(1);
    to.push_back(weight.size(0, at_) / groups_);
    for (int k = 0; k < axes_; ++k) {
      order.push_back(4 + 2 * k);
      to.push_back(weight.size(3 + 2 * k, at_));
      shape.push_back(x_.size(2 + k, at_) + taps_[k] - 1);
    }
    if (empty) return zeros(shape, on_device(x_.dtype(), x_.device()), at_);
    for (int k = axes_ - 1; k >= 0; --k) {
      around.push_back(weight.size(3 + 2 * k, at_) - 1);
      around.push_back(taps_[k] - 1);
    }
    const Tensor w = flip(weight.reshape(split, at_).permute(order, at_).reshape(to, at_), flipped, at_);
    return convolution(tt::pad(x_, around, 0, at_), w, {}, {1}, {0}, {1}, groups_, at_).reshape(shape, at_);
  }
};
/// `count` elements from `first` on along each of the last axes; zeros beyond the end.
template <class = void>
Tensor cut_out(Tensor r, const IntList& first, const IntList& count, SourceLine at) {
  for (int k = 0; k < first.size(); ++k) {
    const int axis = r.dim() - first.size() + k;
    const std::int64_t missing = first[k] + count[k] - r.size(axis, at);
    if (missing > 0) r = zeros_behind(r, axis, missing, at);
    r = r.slice(axis, first[k], first[k] + count[k], 1, at);
  }
  return r;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor convolution_transpose(const Tensor& given, const Tensor& weight, const Tensor& bias, const IntList& stride, const IntList& padding, const IntList& output_padding,
                                                std::int64_t groups, const IntList& dilation, SourceLine at) {
  const int axes = weight.dim() - 2;
  if (axes < 1 || axes > 3 || (given.dim() != axes + 2 && given.dim() != axes + 1)) detail::refuse("conv_transpose", "images and weights are of other ranks", given, at);
  detail::need_window("conv_transpose", stride, dilation, groups, axes, at);
  detail::need_each("conv_transpose", padding, "a padding", 0, axes, at);
  detail::need_each("conv_transpose", output_padding, "an output_padding", 0, axes, at);
  detail::need_same_dtype("conv_transpose", given, weight, at);
  if (given.size(-1 - axes, at) != weight.size(0, at)) detail::refuse("conv_transpose", "images have other channels than weights take", given, at);
  if (weight.size(0, at) % Size(groups) != 0) detail::refuse("conv_transpose", "channels cannot be divided into these groups", weight, at);
  for (int k = 0; k < axes; ++k)
    if (const std::int64_t extra = detail::each_axis(output_padding, k, 0); extra >= detail::each_axis(stride, k, 1) && extra >= detail::each_axis(dilation, k, 1))
      TT_THROW(Error(Text("tt::conv_transpose: an output_padding of ") << extra << " is not below the stride or the dilation." << at));
  Tensor x = given.dim() == axes + 1 ? given.unsqueeze(0, at) : given;
  bool spread = false, strided = false;
  for (int k = 0; k < axes; ++k) {
    spread = spread || detail::each_axis(dilation, k, 1) > 1;
    strided = strided || detail::each_axis(stride, k, 1) > 1;
  }
  if (strided && !spread && x.numel(at) > 0 && weight.numel(at) > 0) {
    detail::need_same_dtype("conv_transpose", given, bias, at);
    if (bias.defined() && (bias.dim() != 1 || bias.size(0, at) != weight.size(1, at) * groups)) detail::refuse("conv_transpose", "the bias is not one number for each channel", bias, at);
    IntList first, count;
    for (int k = 0; k < axes; ++k) {
      first.push_back(detail::each_axis(padding, k, 0));
      count.push_back((x.size(2 + k, at) - 1) * detail::each_axis(stride, k, 1) - 2 * detail::each_axis(padding, k, 0) + weight.size(2 + k, at) + detail::each_axis(output_padding, k, 0));
      if (Size(count[k]) < Size(1)) detail::refuse("conv_transpose", "the padding leaves nothing", given, at);
    }
    const Tensor r = detail::with_bias(detail::cut_out(detail::TransposedPhases(x, weight, stride, groups, at).run(), first, count, at), bias, axes, at);
    return given.dim() == axes + 1 ? r.squeeze(0, at) : r;
  }
  // zeros between elements, and around them as much as the windows reach
  IntList around;
  for (int k = 0; k < axes; ++k) {
    const int a = 2 + k;
    const std::int64_t s = detail::each_axis(stride, k, 1), n = x.size(a, at);
    if (s > 1 && n > 0) {
      IntList apart, to = x.shape(at);
      for (int j = 0; j < x.dim(); ++j) {
        apart.push_back(x.size(j, at));
        if (j == a) apart.push_back(1);
      }
      to[a] = n * s;
      x = detail::zeros_behind(x.reshape(apart, at), a + 1, s - 1, at).reshape(to, at).slice(a, 0, (n - 1) * s + 1, 1, at);
    }
  }
  for (int k = axes - 1; k >= 0; --k) {
    const std::int64_t edge = detail::each_axis(dilation, k, 1) * (weight.size(2 + k, at).value() - 1) - detail::each_axis(padding, k, 0);
    around.push_back(edge);
    around.push_back(edge + detail::each_axis(output_padding, k, 0));
  }
  x = tt::pad(x, around, 0, at);
  // (in, out / groups, ...) to (out, in / groups, ...), each window flipped
  IntList flipped, split{groups, weight.size(0, at) / groups, weight.size(1, at)}, to{weight.size(1, at) * groups, weight.size(0, at) / groups};
  for (int k = 0; k < axes; ++k) {
    flipped.push_back(2 + k);
    split.push_back(weight.size(2 + k, at));
    to.push_back(weight.size(2 + k, at));
  }
  const Tensor w = flip(weight, flipped, at).reshape(split, at).transpose(1, 2, at).reshape(to, at);
  const Tensor r = convolution(x, w, bias, {1}, {0}, dilation, groups, at);
  return given.dim() == axes + 1 ? r.squeeze(0, at) : r;
}

}  // namespace tt
