// Definitions of network_functions.hpp: windows over several axes, and pooling.
#pragma once
#include <cmath>

#include "tt/dispatch/network_functions.hpp"
#include "tt/dispatch/value_names_inl.hpp"

namespace tt {
namespace detail {

/// The windows along one axis: their number, and the padding.
struct WindowAxis {
  std::int64_t kernel, stride, padding, dilation, size, count, behind;
  template <class = void>
  static WindowAxis of(const char* op, std::int64_t n, std::int64_t kernel, std::int64_t stride, std::int64_t padding, std::int64_t dilation, bool ceil_mode, SourceLine at) {
    WindowAxis w{kernel, stride, padding, dilation, n, 0, padding};
    constexpr std::int64_t most = INT32_MAX;  // as in PyTorch
    if (kernel < 1 || kernel > most || stride < 1 || dilation < 1 || dilation > most || padding < 0 || padding > kernel / 2)
      TT_THROW(Error(Text("tt::") << op << ": kernel " << kernel << ", stride " << stride << ", padding " << padding << ", dilation " << dilation << ". Padding is at most half of the kernel." << at));
    const std::int64_t reach = dilation * (kernel - 1) + 1, room = n + 2 * padding - reach;
    if (room < 0) TT_THROW(Error(Text("tt::") << op << ": a window of " << reach << " does not fit " << n << " elements and padding " << padding << "." << at));
    w.count = room / stride + 1;
    if (ceil_mode && room % stride != 0 && w.count * stride < n + padding) ++w.count;  // the last window begins before the padding behind
    const std::int64_t end = (w.count - 1) * stride + reach - padding - n;
    w.behind = end > padding ? end : padding;
    return w;
  }
};
/// pad, by values that the 32 bits of pad's options cannot hold.
template <class = void>
Tensor surrounded(const Tensor& x, const std::vector<WindowAxis>& axes, double value, SourceLine at) {
  Tensor r = x;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int d = x.dim() - static_cast<int>(axes.size() - k);
    const auto edge = [&](std::int64_t n) {
      IntList to = r.shape(at);
      to[d] = n;
      return full(to, value, on_device(x.dtype(), x.device()), at);
    };
    r = cat({edge(axes[k].padding), r, edge(axes[k].behind)}, d, at);
  }
  return r;
}
/// The windows over the last axes, with the window's axes added at the end; padding has the value `outside`.
template <class = void>
Tensor windows_of(const Tensor& x, const std::vector<WindowAxis>& axes, double outside, SourceLine at) {
  IntList around;
  bool any = false;
  for (std::size_t k = axes.size(); k-- > 0;) {
    around.push_back(axes[k].padding);
    around.push_back(axes[k].behind);
    any = any || axes[k].padding > 0 || axes[k].behind > 0;
  }
  Tensor r = !any ? x : x.dtype() == DType::i64 && outside != 0 ? surrounded(x, axes, outside, at) : tt::pad(x, around, outside, at);
  const int first = x.dim() - static_cast<int>(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const WindowAxis& w = axes[k];
    const int d = first + static_cast<int>(k);
    const std::int64_t reach = w.dilation * (w.kernel - 1) + 1;
    r = r.unfold(d, reach, w.stride, at).slice(d, 0, w.count, 1, at);
    if (w.dilation > 1) r = r.slice(-1, 0, reach, w.dilation, at);
  }
  return r;
}
/// Throws Error unless x has `axes` image axes behind channels and an optional batch axis.
inline void need_pooled_axes(const char* op, const Tensor& x, int axes, SourceLine at) {
  if (x.dim() <= axes || x.dim() > axes + 2) refuse(op, x.dim() <= axes ? "too few axes" : "too many axes", x, at);
}
template <class = void>
std::vector<WindowAxis> window_axes(const char* op, const Tensor& x, int axes, const IntList& kernel, const PoolOptions& o, SourceLine at) {
  need_pooled_axes(op, x, axes, at);
  need_dtype(x.dtype() != DType::boolean, op, x.dtype(), at);
  for (int k = x.dim() > axes + 1 ? 1 : 0; k < x.dim(); ++k)
    if (x.size(k, at) == 0) refuse(op, "only the batch may be of 0", x, at);
  std::vector<WindowAxis> w;
  for (int k = 0; k < axes; ++k) {
    const std::int64_t size = each_axis(kernel, k, 1), n = x.size(x.dim() - axes + k, at);
    w.push_back(WindowAxis::of(op, n, size, each_axis(o.stride, k, size), each_axis(o.padding, k, 0), each_axis(o.dilation, k, 1), o.ceil_mode, at));
  }
  return w;
}
/// The last `axes` axes flattened to one.
template <class = void>
Tensor last_as_one(const Tensor& x, int axes, SourceLine at) { return tt::flatten(x, -axes, -1, at); }
inline double least_number(DType d) {
  if (is_floating(d)) return -__builtin_inf();
  if (d == DType::boolean || !is_signed(d)) return 0;
  return -__builtin_ldexp(1, 8 * size_of(d) - 1);
}
/// Can max_pool2d and avg_pool2d compute these windows?
template <class = void>
bool pools_in_planes(const Tensor& x, const std::vector<WindowAxis>& w) {
  bool plain = x.impl().numel > 0;
  for (const WindowAxis& a : w) plain = plain && a.dilation == 1 && a.behind == a.padding && a.stride < (1 << 30) && a.kernel < (1 << 30);
  return plain;
}
/// Applies pool(planes, options) to the last one or two axes; then to the third from last, if any.
template <class F>
Tensor pool_in_planes(const Tensor& x, const std::vector<WindowAxis>& w, SourceLine at, const F& pool) {
  const auto window = [](const WindowAxis& h, const WindowAxis& v) {
    const auto n = [](std::int64_t size) { return static_cast<int>(size); };
    return Pool2dOptions{{n(h.kernel), n(v.kernel)}, {n(h.stride), n(v.stride)}, {n(h.padding), n(v.padding)}};
  };
  constexpr WindowAxis single{1, 1, 0, 1, 1, 1, 0};
  const int axes = static_cast<int>(w.size()), first = x.dim() - axes;
  const Size height = axes > 1 ? x.size(-2, at) : Size(1);
  Tensor r = pool(x.reshape({-1, height, x.size(-1, at)}, at), window(axes > 1 ? w[w.size() - 2] : single, w.back()));
  if (axes > 2) r = pool(r.reshape({-1, x.size(first, at), w[1].count * w[2].count}, at), window(w[0], single));
  IntList to;
  for (int k = 0; k < first; ++k) to.push_back(x.size(k, at));
  for (const WindowAxis& a : w) to.push_back(a.count);
  return r.reshape(to, at);
}
/// The numbers as a Tensor of this rank, along one axis.
template <class = void>
Tensor along(const std::vector<std::int64_t>& v, const Device& device, int rank, int axis, SourceLine at) {
  IntList to;
  for (int k = 0; k < rank; ++k) to.push_back(k == axis ? static_cast<std::int64_t>(v.size()) : 1);
  return index_table(v, device).reshape(to, at);
}
}  // namespace detail

TT_LAZY_DEFINITION PoolResult max_pool_with_indices(const Tensor& x, int axes, const IntList& kernel_size, const PoolOptions& o, SourceLine at) {
  const auto w = detail::window_axes("max_pool", x, axes, kernel_size, o, at);
  const Tensor windows = detail::last_as_one(detail::windows_of(x, w, detail::least_number(x.dtype()), at), axes, at);
  const MinMaxResult best = tt::max(windows, -1, false, at);
  // The index in the window, plus that of the window, as an index into the flattened last axes.
  Tensor rest = best.indices, place;
  const int rank = best.indices.dim();
  std::int64_t apart = 1;
  for (int k = axes - 1; k >= 0; --k) {
    const auto& a = w[static_cast<std::size_t>(k)];
    std::vector<std::int64_t> begin;
    for (std::int64_t i = 0; i < a.count; ++i) begin.push_back(i * a.stride - a.padding);
    const Tensor above = floor_divide(rest, a.kernel, at), own = rest - above * a.kernel;
    const Tensor along_axis = (own * a.dilation + detail::along(begin, x.device(), rank, rank - axes + k, at)) * apart;
    place = place.defined() ? place + along_axis : along_axis;
    rest = above;
    apart *= a.size;
  }
  return {best.values, place};
}
TT_LAZY_DEFINITION Tensor max_pool(const Tensor& x, int axes, const IntList& kernel_size, const PoolOptions& o, SourceLine at) {
  const auto w = detail::window_axes("max_pool", x, axes, kernel_size, o, at);
  if (!detail::pools_in_planes(x, w)) return max_pool_with_indices(x, axes, kernel_size, o, at).values;
  return detail::pool_in_planes(x, w, at, [&](const Tensor& t, const Pool2dOptions& p) { return max_pool2d(t, p, at); });  // still the first of equal elements
}
TT_LAZY_DEFINITION Tensor avg_pool(const Tensor& x, int axes, const IntList& kernel_size, const PoolOptions& o, bool count_include_pad, std::int64_t divisor_override, SourceLine at) {
  const auto w = detail::window_axes("avg_pool", x, axes, kernel_size, o, at);
  bool pads = false;
  for (const auto& a : w) pads = pads || a.padding > 0;
  if (is_floating(x.dtype()) && divisor_override == 0 && (count_include_pad || !pads) && detail::pools_in_planes(x, w))
    return detail::pool_in_planes(x, w, at, [&](const Tensor& t, const Pool2dOptions& p) { return avg_pool2d(t, p, at); });
  const Tensor sums = detail::last_as_one(detail::windows_of(x, w, 0, at), axes, at).sum({-1}, false, at).to(x.dtype(), at);
  const auto divided = [&](const Tensor& by) { return is_floating(x.dtype()) ? sums / by : tt::div(sums.to(DType::f64, at), by, at).to(x.dtype(), at); };
  if (divisor_override != 0) return divided(full({}, static_cast<double>(divisor_override), detail::on_device(is_floating(x.dtype()) ? x.dtype() : DType::f64, x.device())));
  Tensor count;  // elements that count in each window: a product over the axes
  for (int k = 0; k < axes; ++k) {
    const auto& a = w[static_cast<std::size_t>(k)];
    std::vector<std::int64_t> n;
    for (std::int64_t i = 0; i < a.count; ++i) {
      const std::int64_t from = i * a.stride - a.padding, to = from + a.kernel, low = count_include_pad ? -a.padding : 0, high = count_include_pad ? a.size + a.padding : a.size;
      n.push_back((to < high ? to : high) - (from > low ? from : low));
    }
    const Tensor own = detail::along(n, x.device(), axes, k, at);
    count = count.defined() ? count * own : own;
  }
  return divided(count.to(is_floating(x.dtype()) ? x.dtype() : DType::f64, at));
}
namespace detail {
/// m windows of nearly equal sizes that cover n elements.
struct AdaptiveWindows {
  std::int64_t n, m;
  std::int64_t begin(std::int64_t i) const { return i * n / m; }
  std::int64_t end(std::int64_t i) const { return ((i + 1) * n + m - 1) / m; }
  std::int64_t most() const {  // elements in the largest
    std::int64_t k = 0;
    for (std::int64_t i = 0; i < m; ++i) k = std::max(k, end(i) - begin(i));
    return k;
  }
  /// Have all the same size, and the same distance as the first two?
  bool are_even() const {
    bool even = m > 0 && begin(1) > 0;
    for (std::int64_t i = 0; i < m; ++i) even = even && begin(i) == i * begin(1) && end(i) - begin(i) == end(0);
    return even;
  }
};
}  // namespace detail
TT_LAZY_DEFINITION Tensor adaptive_avg_pool(const Tensor& x, const IntList& output_size, SourceLine at) {
  Tensor r = is_floating(x.dtype()) ? x.to(compute_dtype(x.dtype()), at) : x;
  const int axes = output_size.size();
  detail::need_floating("adaptive_avg_pool", x, at);
  detail::need_pooled_axes("adaptive_avg_pool", x, axes, at);
  for (int k = 0; k < axes; ++k) {  // the last axis at the end: for other axes whole rows are copied, and then fewer elements are left
    const int d = x.dim() - axes + k;
    const std::int64_t n = x.size(d, at), wanted = output_size[k], m = wanted < 0 ? n : wanted;
    if (n == 0) detail::refuse("adaptive_avg_pool", "an axis without elements", x, at);
    if (m == n) continue;
    if (m > 0 && n % m == 0) {
      r = unflatten(r, d, {m, n / m}, at).mean({d + 1}, false, at);
      continue;
    }
    detail::need_places("adaptive_avg_pool", m, at);
    const detail::AdaptiveWindows window{n, m};
    const std::int64_t most = window.most();
    const bool even = window.are_even();
    if (even && d + 1 < x.dim()) {  // rows are added in place; single elements are faster when consecutive
      r = r.unfold(d, most, window.begin(1), at).mean({-1}, false, at);
      continue;
    }
    // Gathers the elements of each window, with zeros behind shorter ones: so an infinity of another window does not enter.
    std::vector<std::int64_t> place;
    std::vector<double> count;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = window.begin(i); j < window.begin(i) + most; ++j) place.push_back(j < window.end(i) ? j : n);
      count.push_back(static_cast<double>(window.end(i) - window.begin(i)));
    }
    IntList along;
    for (int j = d; j < x.dim(); ++j) along.push_back(j == d ? m : 1);
    const Tensor sum = unflatten(index_select(even ? r : detail::with_zero_behind(r, d, at), d, detail::index_table(place, x.device()), at), d, {m, most}, at).sum({d + 1}, false, at);
    const Tensor counts = detail::made_of_numbers(from_span(std::span<const double>(count), along)).to(r.dtype(), at);
    r = sum / (is_host(x.device()) ? counts : counts.to(x.device()));
  }
  return r.is_same(x) ? x.clone(at) : r.to(x.dtype(), at);
}
TT_LAZY_DEFINITION PoolResult adaptive_max_pool(const Tensor& x, const IntList& output_size, SourceLine at) {
  const int axes = output_size.size(), rank = x.dim();
  detail::need_floating("adaptive_max_pool", x, at);
  detail::need_pooled_axes("adaptive_max_pool", x, axes, at);
  IntList rows;
  std::int64_t plane = 1;
  for (int k = 0; k < rank - axes; ++k) rows.push_back(x.size(k, at));
  for (int k = rank - axes; k < rank; ++k) plane *= std::int64_t{x.size(k, at)};
  // Indices of each window; shorter windows repeat the last one.
  Tensor place;
  IntList outer, inner;
  for (int k = 0; k < axes; ++k) {
    const std::int64_t n = x.size(rank - axes + k, at), wanted = output_size[k], m = wanted < 0 ? n : wanted;
    detail::need_places("adaptive_max_pool", m, at);
    const detail::AdaptiveWindows window{n, m};
    const std::int64_t most = window.most();
    std::vector<std::int64_t> own;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < most; ++j) own.push_back(std::min(window.begin(i) + j, window.end(i) - 1));
    // (m0, m1, ..., most0, most1, ...)
    const int all = 2 * (k + 1);
    IntList to;
    for (int j = 0; j < all; ++j) to.push_back(j == k ? m : j == all - 1 ? most : 1);
    const Tensor mine = detail::index_table(own, x.device()).reshape(to, at);
    if (!place.defined()) place = mine;
    else {
      IntList wide = outer;
      wide.push_back(1);
      for (int j = 0; j < inner.size(); ++j) wide.push_back(inner[j]);
      wide.push_back(1);
      place = place.reshape(wide, at) * n + mine;
    }
    outer.push_back(m);
    inner.push_back(most);
  }
  IntList shape = outer;
  shape.push_back(-1);
  const Tensor flat = place.reshape(shape, at);  // (m0, ..., elements of a window)
  IntList lines = rows, windows = rows;
  lines.push_back(plane);
  for (int k = 0; k < flat.dim(); ++k) windows.push_back(flat.size(k, at));
  const Tensor taken = index_select(x.reshape(lines, at), -1, flat.reshape({-1}, at), at).reshape(windows, at);
  const MinMaxResult best = tt::max(taken, -1, false, at);
  const Tensor wide = flat.expand(windows, at);
  return {best.values, gather(wide, -1, best.indices.unsqueeze(-1, at), at).squeeze(-1, at)};
}
TT_LAZY_DEFINITION Tensor lp_pool(const Tensor& x, int axes, double p, const IntList& kernel_size, const IntList& stride, bool ceil_mode, SourceLine at) {
  if (p == 0) TT_THROW(Error(Text("tt::lp_pool: norm_type is 0. Another number?") << at));
  const Tensor size = std::isinf(p) ? tt::abs(x, at) : x;
  if (p == INFINITY) return max_pool(size, axes, kernel_size, {stride, {0}, {1}, ceil_mode}, at);
  if (p == -INFINITY) return -max_pool(-size, axes, kernel_size, {stride, {0}, {1}, ceil_mode}, at);
  double n = 1;
  for (int k = 0; k < axes; ++k) n *= static_cast<double>(detail::each_axis(kernel_size, k, 1));
  const auto power = [&](const Tensor& t, double by) { return by == 2 ? t * t : by == 0.5 ? tt::sqrt(t, at) : by == 1 ? t : tt::pow(t, by, at); };
  const Tensor mean = avg_pool(power(is_floating(x.dtype()) ? x : x.to(DType::f32, at), p), axes, kernel_size, {stride, {0}, {1}, ceil_mode}, true, 0, at);
  return power(tt::sign(mean, at) * tt::relu(tt::abs(mean, at), at) * n, 1 / p);
}
TT_LAZY_DEFINITION PoolResult fractional_max_pool(const Tensor& given, const IntList& kernel_size, const IntList& output_size, const std::vector<double>& output_ratio, const Tensor& random_samples, SourceLine at) {
  const int axes = kernel_size.size();
  if (given.dim() != axes + 1 && given.dim() != axes + 2) detail::refuse("fractional_max_pool", "images and windows are of other ranks", given, at);
  if ((output_size.size() == 0) == output_ratio.empty()) TT_THROW(Error(Text("tt::fractional_max_pool: either output_size or output_ratio is given.") << at));
  const Tensor x = given.dim() == axes + 1 ? given.unsqueeze(0, at) : given;
  const Size batch = x.size(0, at), channels = x.size(1, at);
  if (!output_ratio.empty() && output_ratio.size() != 1 && output_ratio.size() != static_cast<std::size_t>(axes))
    TT_THROW(Error(Text("tt::fractional_max_pool: ") << static_cast<std::int64_t>(output_ratio.size()) << " ratios for " << axes << " axes." << at));
  const Tensor given_samples = random_samples.defined() ? random_samples : rand({batch, channels, axes}, detail::on_device(is_floating(x.dtype()) ? x.dtype() : DType::f32, x.device()), at);
  const Tensor samples = is_narrow(given_samples.dtype()) ? given_samples.to(DType::f32, at) : given_samples;  // 16 bits cannot hold all positions
  if (samples.dim() != 3 || !(samples.size(0, at) == batch) || !(samples.size(1, at) == channels) || samples.size(2, at) != axes)
    TT_THROW(Error(Text("tt::fractional_max_pool: random_samples of shape ") << samples.shape() << " for images " << x.shape() << "." << at));
  // indices into the flattened last axes: (batch, channels, m0, ..., window)
  Tensor place;
  std::int64_t plane = 1, together = 1;  // elements of the axes so far, of their windows
  IntList sizes;
  for (int k = 0; k < axes; ++k) {
    const std::int64_t n = x.size(2 + k, at), window = kernel_size[k];
    const double ratio = output_ratio.empty() ? 0 : output_ratio[output_ratio.size() == 1 ? 0 : static_cast<std::size_t>(k)];
    const std::int64_t m = output_ratio.empty() ? detail::each_axis(output_size, k, 1) : static_cast<std::int64_t>(static_cast<double>(n) * ratio);
    if (window < 1 || m < 1 || m - 1 > n - window) TT_THROW(Error(Text("tt::fractional_max_pool: ") << m << " windows of " << window << " do not fit an axis of " << n << "." << at));
    // the step between windows is fractional; the last window ends with the axis
    const double step = m > 1 ? static_cast<double>(n - window) / static_cast<double>(m - 1) : 0;
    const Tensor sample = samples.select(2, axes == 2 ? 1 - k : k, at).unsqueeze(-1, at), number = arange(m).to(samples.dtype(), at);  // PyTorch takes the columns' sample first
    const Tensor begin = tt::where(number == m - 1, static_cast<double>(n - window), tt::trunc((number + sample) * step, at) - tt::trunc(sample * step, at), at).to(DType::i64, at);  // (batch, channels, m)
    const Tensor own = begin.unsqueeze(-1, at) + arange(window);  // (batch, channels, m, window)
    if (k == 0) place = own;
    else {  // (..., m0, w0) and (..., m, w) to (..., m0, m, w0, w), window axes joined
      IntList left{batch, channels}, right{batch, channels};
      for (int j = 0; j < k; ++j) left.push_back(sizes[j]), right.push_back(1);
      left.push_back(1), left.push_back(together), left.push_back(1);
      right.push_back(m), right.push_back(1), right.push_back(window);
      const Tensor all = place.reshape(left, at) * n + own.reshape(right, at);
      place = tt::flatten(all, -2, -1, at);
    }
    sizes.push_back(m);
    plane *= n;
    together *= window;
  }
  Size all(1);
  for (int k = 2; k < place.dim(); ++k) all *= place.size(k, at);
  const IntList lines{batch, channels, all};
  const Tensor taken = gather(x.reshape({batch, channels, plane}, at), -1, place.reshape(lines, at), at).reshape(place.shape(at), at);
  const MinMaxResult best = tt::max(taken, -1, false, at);
  const Tensor indices = gather(place, -1, best.indices.unsqueeze(-1, at), at).squeeze(-1, at);
  if (given.dim() == axes + 1) return {best.values.squeeze(0, at), indices.squeeze(0, at)};
  return {best.values, indices};
}

}  // namespace tt
