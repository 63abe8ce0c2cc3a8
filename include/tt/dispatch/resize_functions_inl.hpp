// Definition of interpolate (network_functions.hpp): axes are resampled one after the other; each new element is a weighted sum of old ones (taps).
#pragma once
#include <cmath>

#include "tt/dispatch/control_flow.hpp"
#include "tt/dispatch/network_functions.hpp"
#include "tt/dispatch/value_names_inl.hpp"

namespace tt {
namespace detail {
/// Output element i is the sum over taps k of weight[k][i] times input element place[k][i]; without weights, of the elements themselves.
struct Taps {
  std::vector<std::vector<std::int64_t>> place;
  std::vector<std::vector<double>> weight;
  bool uneven = false;  ///< some elements have fewer taps: `place` of the others is the size of the axis
};
template <class = void>
Tensor resampled(const Tensor& given, int axis, const Taps& taps, SourceLine at) {
  const Tensor x = taps.uneven ? with_zero_behind(given, axis, at) : given;
  Tensor r;
  for (std::size_t k = 0; k < taps.place.size(); ++k) {
    Tensor part = index_select(x, axis, index_table(taps.place[k], x.device()), at);
    if (!taps.weight.empty()) {
      IntList to;
      for (int j = 0; j < x.dim(); ++j) to.push_back(j == axis ? static_cast<std::int64_t>(taps.weight[k].size()) : 1);
      Tensor w = made_of_numbers(from_span(std::span<const double>(taps.weight[k]), IntList{static_cast<std::int64_t>(taps.weight[k].size())})).to(x.dtype(), at);
      part = part * (is_host(x.device()) ? w : w.to(x.device())).reshape(to, at);
    }
    r = r.defined() ? r + part : part;
  }
  return r;
}
/// The position in the input of output element i, where an axis of n elements becomes m, in units of input elements.
inline double source_place(std::int64_t i, std::int64_t n, std::int64_t m, double scale, bool align_corners) {
  if (align_corners) return m > 1 ? static_cast<double>(i) * static_cast<double>(n - 1) / static_cast<double>(m - 1) : 0;
  return (static_cast<double>(i) + 0.5) * scale - 0.5;
}

/// How an axis is resized.
struct Resizing {
  enum Kind { nearest, nearest_exact, linear, cubic } kind = nearest;
  bool align_corners = false, antialias = false;
};
/// Keys' cubic kernel: the weight at this distance.
inline double cubic_weight(double distance, double a) {
  const double v = std::fabs(distance);
  return v < 1 ? ((a + 2) * v - (a + 3)) * v * v + 1 : v < 2 ? ((a * v - 5 * a) * v + 8 * a) * v - 4 * a : 0;
}
/// Taps for resizing n elements to m, with `step` input elements for each output element; the kernels' parameters are PyTorch's.
template <class = void>
Taps taps_between(std::int64_t n, std::int64_t m, double step, const Resizing& how) {
  const auto held = [n](std::int64_t i) { return i < 0 ? 0 : i >= n ? n - 1 : i; };
  const bool linear = how.kind == Resizing::linear, nearest = !linear && how.kind != Resizing::cubic;
  // antialias: a kernel for larger elements is as wide as these.
  if (how.antialias && how.align_corners) step = m > 1 ? static_cast<double>(n - 1) / static_cast<double>(m - 1) : 0;
  const double wide = how.antialias && step > 1 ? step : 1, reach = (linear ? 1 : 2) * wide;
  const std::size_t count = nearest ? 1 : how.antialias ? static_cast<std::size_t>(std::ceil(reach)) * 2 + 1 : linear ? 2 : 4;
  Taps taps;
  taps.place.resize(count);
  if (!nearest) taps.weight.resize(count);
  std::vector<double> weight(count);
  for (std::int64_t i = 0; i < m; ++i) {
    const double number = static_cast<double>(i);
    std::int64_t first = 0, last = INT64_MAX;
    if (nearest) {
      first = static_cast<std::int64_t>(std::floor((number + (how.kind == Resizing::nearest ? 0 : 0.5)) * step));
    } else if (how.antialias) {
      const double center = step * (number + 0.5);
      first = std::max<std::int64_t>(static_cast<std::int64_t>(center - reach + 0.5), 0);
      last = std::min<std::int64_t>(static_cast<std::int64_t>(center + reach + 0.5), n);
      double sum = 0;
      for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t j = first + static_cast<std::int64_t>(k);
        const double apart = (static_cast<double>(j) - center + 0.5) / wide;
        weight[k] = j >= last ? 0 : linear ? std::max(0.0, 1 - std::fabs(apart)) : cubic_weight(apart, -0.5);
        sum += weight[k];
      }
      for (double& w : weight) w = sum != 0 ? w / sum : 0;
    } else {
      double p = source_place(i, n, m, step, how.align_corners);
      if (linear && p < 0) p = 0;
      const auto low = static_cast<std::int64_t>(std::floor(p));
      const double t = p - static_cast<double>(low);
      first = linear ? low : low - 1;
      for (std::size_t k = 0; k < count; ++k) weight[k] = linear ? (k == 0 ? 1 - t : t) : cubic_weight(static_cast<double>(k) - 1 - t, -0.75);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t j = first + static_cast<std::int64_t>(k);
      taps.uneven = taps.uneven || j >= last;
      taps.place[k].push_back(j >= last ? n : held(j));
      if (!nearest) taps.weight[k].push_back(weight[k]);
    }
  }
  return taps;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor interpolate(const Tensor& x, const IntList& size, const std::vector<double>& scale_factor, std::string_view mode, bool align_corners, bool recompute_scale_factor, bool antialias, SourceLine at) {
  const int axes = x.dim() - 2;
  if (axes < 1 || axes > 3) detail::refuse("interpolate", "not one, two or three axes behind the second", x, at);
  if ((size.size() == 0) == scale_factor.empty()) TT_THROW(Error(Text("tt::interpolate: either size or scale_factor is given.") << at));
  const int numbers = scale_factor.empty() ? size.size() : static_cast<int>(scale_factor.size());
  if (numbers > 1 && numbers != axes) TT_THROW(Error(Text("tt::interpolate: ") << numbers << " numbers for " << axes << " axes of shape " << x.shape() << "." << at));
  IntList to;
  std::vector<double> scale;  // input elements for each output element
  for (int k = 0; k < axes; ++k) {
    const std::int64_t n = x.size(2 + k, at);
    const double f = scale_factor.empty() ? 0 : scale_factor[scale_factor.size() == 1 ? 0 : static_cast<std::size_t>(k)];
    const std::int64_t m = scale_factor.empty() ? detail::each_axis(size, k, 1) : static_cast<std::int64_t>(std::floor(static_cast<double>(n) * f));
    if (m < 1) TT_THROW(Error(Text("tt::interpolate: a size is below 1.") << at));
    to.push_back(m);
    scale.push_back(scale_factor.empty() || recompute_scale_factor ? static_cast<double>(n) / static_cast<double>(m) : 1 / f);
  }
  if (antialias && (axes != 2 || (mode != "bilinear" && mode != "bicubic"))) TT_THROW(Error(Text("tt::interpolate: antialias is for images with the modes bilinear and bicubic.") << at));
  if (mode == "area" && !is_floating(x.dtype())) TT_THROW(Error(Text("tt::interpolate: area of ") << name(x.dtype()) << ". Floating numbers?" << at));
  if (mode == "area") return adaptive_avg_pool(x, to, at);
  const bool linear = mode == "linear" || mode == "bilinear" || mode == "trilinear";
  if (const int needed = mode == "linear" ? 1 : mode == "bilinear" || mode == "bicubic" ? 2 : mode == "trilinear" ? 3 : axes; needed != axes)
    TT_THROW(Error(Text("tt::interpolate: the mode ") << std::string(mode).c_str() << " is for " << needed << (needed == 1 ? " axis" : " axes") << " behind the second: shape " << x.shape() << "." << at));
  if (!linear && mode != "nearest" && mode != "nearest-exact" && mode != "bicubic") TT_THROW(Error(Text("tt::interpolate: there is no such mode.") << at));
  const detail::Resizing how{linear ? detail::Resizing::linear : mode == "bicubic" ? detail::Resizing::cubic : mode == "nearest" ? detail::Resizing::nearest : detail::Resizing::nearest_exact,
                             align_corners, antialias};
  const bool weighted = linear || mode == "bicubic", rounds = weighted && x.dtype() == DType::u8;
  for (int k = 0; k < axes; ++k)  // if the size stays, PyTorch copies in these modes, whatever the factor
    if (to.value(k) == x.size(2 + k, at) && (linear || antialias || (mode == "nearest" && axes == 2))) scale[static_cast<std::size_t>(k)] = 1;
  if (weighted && !rounds && !is_floating(x.dtype())) TT_THROW(Error(Text("tt::interpolate: ") << std::string(mode).c_str() << " of " << name(x.dtype()) << ". Floating numbers, or u8?" << at));
  Tensor r = weighted && is_narrow(x.dtype()) ? x.to(DType::f32, at) : x;
  double growth = 1;  // of the axes before the last one
  for (int k = 0; k + 1 < axes; ++k) growth *= static_cast<double>(to.value(k)) / static_cast<double>(x.size(2 + k, at));
  for (int j = 0; j < axes; ++j) {
    // The last axis gathers elements, other axes copy rows: the last is resized while there are fewer elements. u8 is rounded after each axis, in PyTorch's
    // order.
    const int k = rounds || growth > 1 ? axes - 1 - j : j;
    detail::need_places("interpolate", to[k], at);
    r = detail::resampled(r, 2 + k, detail::taps_between(x.size(2 + k, at), to[k], scale[static_cast<std::size_t>(k)], how), at);
    if (rounds) r = tt::clamp(tt::floor(r + 0.5, at), 0, 255, at);
  }
  return r.to(x.dtype(), at);
}

}  // namespace tt
