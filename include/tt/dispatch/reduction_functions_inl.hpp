// Definitions of reduction_functions.hpp, and their names.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "tt/dispatch/reduction_functions.hpp"
#include "tt/dispatch/histogram_ops_inl.hpp"
#include "tt/dispatch/row_ops_inl.hpp"
#include "tt/dispatch/shape_functions_inl.hpp"

namespace tt {
namespace detail {

template <class = void>
Tensor without_axis(const Tensor& x, int dim, bool keepdim, SourceLine at) { return keepdim || x.dim() == 0 ? x : x.squeeze(dim, at); }
template <class F>
MinMaxResult pick(const Tensor& x, int dim, std::int64_t k, bool keepdim, SourceLine at) {
  const auto [values, indices] = call_with<F>(at, {dim, k}, x);
  return {without_axis(values, dim, keepdim, at), without_axis(indices, dim, keepdim, at)};
}
/// The median of all elements (k as in Kthvalue); its gradient is shared equally among the elements equal to it.
template <class = void>
Tensor median_of_all(const Tensor& x, std::int64_t k, SourceLine at) {
  if (is_floating(x.dtype()) && x.numel(at) == 0) return full({}, std::numeric_limits<double>::quiet_NaN(), on_device(x.dtype(), x.device()), at);
  const Tensor all = x.reshape({-1}, at), m = pick<Kthvalue<>>(all.detach(), 0, k, false, at).values;
  if (!is_floating(x.dtype()) || !(x.impl().is_differentiated() || capture_mode)) return m;
  const Tensor same = logical_or(all == m, logical_and(isnan(all, at), isnan(m, at), at), at), n = same.sum({}, false, at);
  return m + call<Tangent>(at, tt::where(same, all, 0, at).sum({}, false, at) / tt::maximum(n, 1, at));
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor prod(const Tensor& x, SourceLine at) { return prod(x.reshape({-1}, at), 0, false, at); }
TT_LAZY_DEFINITION Tensor prod(const Tensor& x, int dim, bool keepdim, SourceLine at) { return detail::without_axis(call_with<detail::Prod<>>(at, {dim}, x), dim, keepdim, at); }
TT_LAZY_DEFINITION Tensor cumprod(const Tensor& x, int dim, SourceLine at) { return call_with<detail::Cumprod<>>(at, {dim}, x); }
TT_LAZY_DEFINITION Tensor logcumsumexp(const Tensor& x, int dim, SourceLine at) { return call_with<detail::Logcumsumexp<>>(at, {dim}, x); }
TT_LAZY_DEFINITION MinMaxResult cummax(const Tensor& x, int dim, SourceLine at) { return detail::pick<detail::CumulativeExtreme<true>>(x, dim, 0, true, at); }
TT_LAZY_DEFINITION MinMaxResult cummin(const Tensor& x, int dim, SourceLine at) { return detail::pick<detail::CumulativeExtreme<false>>(x, dim, 0, true, at); }
TT_LAZY_DEFINITION Tensor nansum(const Tensor& x, const IntList& dim, bool keepdim, SourceLine at) { return call_with<Nansum>(at, {dim, keepdim}, x); }
TT_LAZY_DEFINITION Tensor nanmean(const Tensor& x, const IntList& dim, bool keepdim, SourceLine at) { return call_with<Nanmean>(at, {dim, keepdim}, x); }
TT_LAZY_DEFINITION VarMeanResult var_mean(const Tensor& x, const IntList& dim, double correction, bool keepdim, SourceLine at) {
  return {var(x, VarOptions{dim, keepdim, correction}, at), x.mean(dim, keepdim, at)};
}
TT_LAZY_DEFINITION VarMeanResult std_mean(const Tensor& x, const IntList& dim, double correction, bool keepdim, SourceLine at) {
  return {tt::std(x, VarOptions{dim, keepdim, correction}, at), x.mean(dim, keepdim, at)};
}
TT_LAZY_DEFINITION AminmaxResult aminmax(const Tensor& x, Optional<int> dim, bool keepdim, SourceLine at) {
  const IntList over = dim.given ? IntList{dim.value} : IntList();
  return {x.amin(over, keepdim, at), x.amax(over, keepdim, at)};
}
TT_LAZY_DEFINITION Tensor median(const Tensor& x, SourceLine at) { return detail::median_of_all(x, 0, at); }
TT_LAZY_DEFINITION MinMaxResult median(const Tensor& x, int dim, bool keepdim, SourceLine at) { return detail::pick<detail::Kthvalue<>>(x, dim, 0, keepdim, at); }
TT_LAZY_DEFINITION Tensor nanmedian(const Tensor& x, SourceLine at) { return detail::median_of_all(x, -1, at); }
TT_LAZY_DEFINITION MinMaxResult nanmedian(const Tensor& x, int dim, bool keepdim, SourceLine at) { return detail::pick<detail::Kthvalue<>>(x, dim, -1, keepdim, at); }
TT_LAZY_DEFINITION MinMaxResult mode(const Tensor& x, int dim, bool keepdim, SourceLine at) { return detail::pick<detail::Mode<>>(x, dim, 0, keepdim, at); }
TT_LAZY_DEFINITION MinMaxResult kthvalue(const Tensor& x, std::int64_t k, int dim, bool keepdim, SourceLine at) {
  const std::int64_t n = x.dim() ? x.size(detail::axis_of(x, dim, "kthvalue", at, x.dim()), at).value() : 1;
  if (k < 1 || k > n) TT_THROW(Error(Text("tt::kthvalue: k is out of range: ") << k << " of " << n << " elements along axis " << dim << " of shape " << x.shape() << "." << at));
  return detail::pick<detail::Kthvalue<>>(x, dim, k, keepdim, at);
}

TT_LAZY_DEFINITION Tensor diff(const Tensor& x, int n, int dim, const Tensor& prepend, const Tensor& append, SourceLine at) {
  const int d = detail::axis_of(x, dim, "diff", at, x.dim());
  if (n < 0) TT_THROW(Error(Text("tt::diff: n is negative: ") << n << "." << at));
  std::vector<Tensor> parts;
  if (prepend.defined()) parts.push_back(prepend);
  parts.push_back(x);
  if (append.defined()) parts.push_back(append);
  Tensor r = parts.size() > 1 ? cat(parts, d, at) : x;
  for (int k = 0; k < n; ++k) {
    const Size size = r.size(d, at);
    if (size == 0) break;
    const Tensor above = r.slice(d, 1, size, 1, at), below = r.slice(d, 0, size - 1, 1, at);
    r = r.dtype() == DType::boolean ? tt::ne(above, below, at) : above - below;
  }
  return n == 0 ? x : r;
}
namespace detail {
template <class = void>
Tensor double_trapezoids(const Tensor& y, const Tensor& x, int dim, SourceLine at) {
  for (const Tensor* t : {&y, &x}) need_dtype(!t->defined() || t->dtype() != DType::boolean, "trapezoid", DType::boolean, at);
  const int d = axis_of(y, dim, "trapezoid", at, y.dim());
  const Size n = y.size(d, at);
  const Tensor both = y.slice(d, 1, n, 1, at) + y.slice(d, 0, n > 0 ? n - 1 : n, 1, at);
  if (!x.defined()) return both;
  Tensor apart;
  if (x.dim() == 1) {
    if (x.size(0, at) != n) TT_THROW(Error(Text("tt::trapezoid: ") << x.size(0, at) << " places for " << n << " elements along axis " << d << " of shape " << y.shape() << "." << at));
    IntList to;
    for (int k = 0; k < y.dim(); ++k) to.push_back(k == d ? x.size(0, at) - 1 : Size(1));
    apart = diff(x, 1, 0, {}, {}, at).reshape(to, at);
  } else {
    apart = diff(x, 1, x.dim() == y.dim() ? d : d - (y.dim() - x.dim()), {}, {}, at);
  }
  return both * apart;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor trapezoid(const Tensor& y, const Tensor& x, int dim, SourceLine at) { return detail::double_trapezoids(y, x, dim, at).sum({dim}, false, at) / 2; }
TT_LAZY_DEFINITION Tensor trapezoid(const Tensor& y, double dx, int dim, SourceLine at) {
  if (y.dtype() == DType::boolean || y.dim() == 0 || y.size(detail::axis_of(y, dim, "trapezoid", at, y.dim()), at) == 0) return detail::double_trapezoids(y, {}, dim, at).sum({dim}, false, at) * (dx / 2);
  return (y.sum({dim}, false, at) - (y.select(dim, 0, at) + y.select(dim, -1, at)) * 0.5) * dx;  // inner points count twice
}
TT_LAZY_DEFINITION Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int dim, SourceLine at) { return detail::running_sum(detail::double_trapezoids(y, x, dim, at) / 2, dim, at); }
TT_LAZY_DEFINITION Tensor cumulative_trapezoid(const Tensor& y, double dx, int dim, SourceLine at) { return detail::running_sum(detail::double_trapezoids(y, {}, dim, at) * (dx / 2), dim, at); }

TT_LAZY_DEFINITION std::vector<Tensor> gradient(const Tensor& x, TensorSpan spacing, const IntList& dim, int edge_order, SourceLine at) {
  IntList axes = dim;
  if (axes.size() == 0)
    for (int k = 0; k < x.dim(); ++k) axes.push_back(k);
  (void)detail::axis_set(x, axes, "gradient", at);
  const bool each = spacing.size() > 1 || (spacing.size() == 1 && spacing[0].dim() > 0);
  if (each && static_cast<int>(spacing.size()) != axes.size())
    TT_THROW(Error(Text("tt::gradient: ") << static_cast<std::int64_t>(spacing.size()) << " spacings for " << axes.size() << " axes." << at));
  if (edge_order != 1 && edge_order != 2) TT_THROW(Error(Text("tt::gradient: edge_order is ") << edge_order << ". 1 or 2?" << at));
  std::vector<Tensor> slopes;
  for (int j = 0; j < axes.size(); ++j) {
    const int d = detail::axis_of(x, tt::detail::saturated<int>(axes.value(j)), "gradient", at, x.dim());
    const Size n = x.size(d, at);
    if (n < edge_order + 1) TT_THROW(Error(Text("tt::gradient: axis ") << d << " of shape " << x.shape() << " is too short." << at));
    const Tensor step = spacing.empty() ? full({}, 1, TensorOptions{.dtype = is_floating(x.dtype()) ? x.dtype() : DType::f32}) : spacing[spacing.size() == 1 ? 0 : static_cast<std::size_t>(j)];
    const auto part = [&](const Tensor& t, int axis, SizeArgument from, SizeArgument to) { return t.slice(axis, from, to, 1, at); };
    // Distances between neighbours, along the axis.
    Tensor h;
    if (step.dim() == 0) {
      IntList one;
      for (int k = 0; k < x.dim(); ++k) one.push_back(k == d ? n - 1 : Size(1));
      h = detail::on_device_of(x, step, at).to(is_floating(x.dtype()) ? x.dtype() : step.dtype(), at).expand(one, at);
    } else {
      IntList along;
      for (int k = 0; k < x.dim(); ++k) along.push_back(k == d ? n - 1 : Size(1));
      h = diff(step, 1, 0, {}, {}, at).reshape(along, at);
    }
    const Tensor up = diff(x, 1, d, {}, {}, at) / h;  // slopes between neighbours
    Tensor first = part(up, d, 0, 1), last = part(up, d, n - 2, n - 1);
    if (edge_order == 2) {
      const Tensor h0 = part(h, d, 0, 1), h1 = part(h, d, 1, 2), u0 = part(up, d, 0, 1), u1 = part(up, d, 1, 2);
      first = u0 - h0 / (h0 + h1) * (u1 - u0);
      const Tensor g0 = part(h, d, n - 2, n - 1), g1 = part(h, d, n - 3, n - 2), v0 = part(up, d, n - 2, n - 1), v1 = part(up, d, n - 3, n - 2);
      last = v0 + g0 / (g0 + g1) * (v0 - v1);
    }
    std::vector<Tensor> all{first};
    if (n > 2) {
      const Tensor before = part(h, d, 0, n - 2), behind = part(h, d, 1, n - 1);
      all.push_back((part(up, d, 0, n - 2) * behind + part(up, d, 1, n - 1) * before) / (before + behind));
    }
    all.push_back(last);
    slopes.push_back(cat(all, d, at));
  }
  return slopes;
}
namespace detail {
template <bool Lcm>
Tensor common_divisor(const Tensor& x, const Tensor& y, SourceLine at) {
  const Tensor* both[] = {&x, &y};
  const DType d = result_dtype(both, 2);
  const Tensor own[] = {on_device_of(y, x, at).to(d, at), on_device_of(x, y, at).to(d, at)};
  const TensorList wide = broadcast_tensors(own, at);
  return call_with<CommonDivisor<Lcm>>(at, {}, wide[0], wide[1]);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor gcd(const Tensor& x, const Tensor& y, SourceLine at) { return detail::common_divisor<false>(x, y, at); }
TT_LAZY_DEFINITION Tensor lcm(const Tensor& x, const Tensor& y, SourceLine at) { return detail::common_divisor<true>(x, y, at); }

TT_LAZY_DEFINITION Tensor angle(const Tensor& given, SourceLine at) {
  const Tensor x = is_floating(given.dtype()) ? given : given.to(DType::f32, at);
  return tt::where(isnan(x, at), x.detach(), (x < 0).to(x.dtype(), at) * 3.14159265358979323846, at) + call<Tangent>(at, x * 0);
}
TT_LAZY_DEFINITION Tensor mvlgamma(const Tensor& x, int p, SourceLine at) {
  constexpr double log_pi = 1.1447298858494001741;
  if (p < 1 || p > 1 << 16) TT_THROW(Error(Text("tt::mvlgamma: p is ") << p << ". From 1 to 65,536?" << at));
  Tensor r = full({}, p * (p - 1.0) / 4.0 * log_pi, TensorOptions{.dtype = is_floating(x.dtype()) ? x.dtype() : DType::f32});
  for (int k = 0; k < p; ++k) r = r + lgamma(x - k / 2.0, at);
  return r;
}
namespace detail {
template <class = void>
Tensor shifted(const Tensor& given, const TensorOperand& places, bool left, SourceLine at) {
  const Tensor n = places.tensor ? *places.tensor : places.number(given.dtype());
  for (const Tensor* t : {&given, &n}) need_dtype(!is_floating(t->dtype()), left ? "bitwise_left_shift" : "bitwise_right_shift", t->dtype(), at);
  const Tensor* const both[] = {&given, &n};
  const Tensor x = given.to(result_dtype(both, 2), at), by = n.to(DType::i64, at), inside = tt::logical_and(by >= 0, by < 8 * size_of(x.dtype()), at);
  const Tensor power = tt::exp2(tt::where(inside, by, 0, at).to(DType::f64, at), at).to(DType::i64, at);  // 2^63 wraps to the least number, which is right
  if (left) return tt::where(inside, x.to(DType::i64, at) * power, 0, at).to(x.dtype(), at);
  const Tensor q = floor_divide(x.to(DType::i64, at), tt::where(power < 0, power - 1, power, at), at);
  return tt::where(tt::logical_and(inside, by < 63, at), q, tt::where(x < 0, -1, 0, at).to(DType::i64, at), at).to(x.dtype(), at);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor bitwise_left_shift(const Tensor& x, const detail::TensorOperand& other, SourceLine at) { return detail::shifted(x, other, true, at); }
TT_LAZY_DEFINITION Tensor bitwise_right_shift(const Tensor& x, const detail::TensorOperand& other, SourceLine at) { return detail::shifted(x, other, false, at); }
TT_LAZY_DEFINITION Tensor dist(const Tensor& x, const Tensor& y, double p, SourceLine at) { return call_with<VectorNorm>(at, {.ord = p}, x - y); }
TT_LAZY_DEFINITION Tensor renorm(const Tensor& x, double p, int dim, double maxnorm, SourceLine at) {
  detail::need_floating("renorm", x, at);
  if (x.dim() < 2) detail::refuse("renorm", "there are no slices: fewer than two axes", x, at);
  const int d = detail::axis_of(x, dim, "renorm", at, x.dim());
  if (!(maxnorm >= 0) || !(p > 0)) TT_THROW(Error(Text("tt::renorm: ") << (p > 0 ? "maxnorm is below 0" : "p is not above 0") << "." << at));
  IntList others;
  for (int k = 0; k < x.dim(); ++k)
    if (k != d) others.push_back(k);
  const Tensor n = call_with<VectorNorm>(at, {p, others, true}, x);
  return x * tt::where(n > maxnorm, maxnorm / (n + 1e-7), 1, at);
}
TT_LAZY_DEFINITION bool allclose(const Tensor& x, const Tensor& y, double rtol, double atol, bool equal_nan, SourceLine at) {
  return isclose(x, y, IscloseOptions{rtol, atol, equal_nan}, at).all({}, false, at).item<bool>(at);
}
TT_LAZY_DEFINITION bool equal(const Tensor& x, const Tensor& y, SourceLine at) { return x.shape(at) == y.shape(at) && tt::eq(x, y, at).all({}, false, at).item<bool>(at); }
TT_LAZY_DEFINITION Tensor histc(const Tensor& x, std::int64_t bins, double min, double max, SourceLine at) { return call_with<detail::Histc<>>(at, {bins, min, max}, x.detach()); }
TT_LAZY_DEFINITION HistogramResult histogram(const Tensor& x, const Tensor& bin_edges, const Tensor& weight, bool density, SourceLine at) {
  detail::need_floating("histogram", x, at);
  detail::need_same_dtype("histogram", x, bin_edges, at);
  if (bin_edges.dim() != 1 || bin_edges.numel(at) < 2) TT_THROW(Error(Text("tt::histogram: edges of shape ") << bin_edges.shape() << ". A vector of two or more?" << at));
  if (weight.defined() && !(weight.shape(at) == x.shape(at))) TT_THROW(Error(Text("tt::histogram: weights of shape ") << weight.shape() << " for shape " << x.shape() << "." << at));
  const std::int64_t bins = bin_edges.numel(at).value() - 1;
  const Tensor flat = x.detach().reshape({-1}, at), one = weight.defined() ? weight.reshape({-1}, at).to(x.dtype(), at) : ones(flat.shape(at), detail::on_device(x.dtype(), x.device()), at);
  const Tensor last = bin_edges.select(0, bins, at), inside = tt::logical_and(flat >= bin_edges.select(0, 0, at), flat <= last, at);
  const Tensor place = tt::clamp(searchsorted(bin_edges, flat, false, true, at) - 1, 0, bins - 1, at);
  Tensor hist = index_add(zeros({bins}, detail::on_device(x.dtype(), x.device()), at), 0, place, tt::where(inside, one, 0, at), at);
  if (density) hist = hist / (hist.sum({}, false, at) * diff(bin_edges, 1, 0, {}, {}, at));
  return {hist, bin_edges};
}
TT_LAZY_DEFINITION HistogramResult histogram(const Tensor& x, std::int64_t bins, double min, double max, const Tensor& weight, bool density, SourceLine at) {
  return histogram(x, call_with<detail::BinEdges<false>>(at, {bins, min, max, min == 0 && max == 0}, x.detach()), weight, density, at);
}
TT_LAZY_DEFINITION HistogramddResult histogramdd(const Tensor& x, TensorSpan bin_edges, const Tensor& weight, bool density, SourceLine at) {
  detail::need_floating("histogramdd", x, at);
  const int n = static_cast<int>(bin_edges.size());
  if (x.dim() < 1 || n == 0 || x.size(-1, at) != n) TT_THROW(Error(Text("tt::histogramdd: points of shape ") << x.shape() << " and edges for " << n << " dimensions." << at));
  const TensorOptions like = detail::on_device(x.dtype(), x.device());
  const Tensor points = x.detach().reshape({-1, n}, at), one = weight.defined() ? weight.reshape({-1}, at).to(x.dtype(), at) : ones({points.size(0, at)}, like, at);
  if (one.numel(at) != points.size(0, at)) TT_THROW(Error(Text("tt::histogramdd: ") << one.impl().numel << " weights for points of shape " << x.shape() << "." << at));
  Tensor place, inside, volume;
  IntList sizes;
  Size all(1);
  for (int k = 0; k < n; ++k) {
    const Tensor &edges = bin_edges[static_cast<std::size_t>(k)], own = points.select(1, k, at).contiguous(at);
    if (edges.dim() != 1 || edges.numel(at) < 2) TT_THROW(Error(Text("tt::histogramdd: edges of shape ") << edges.shape() << ". A vector of two or more?" << at));
    const Size bins = edges.numel(at) - 1;
    const Tensor here_in = tt::logical_and(own >= edges.select(0, 0, at), own <= edges.select(0, -1, at), at);
    const Tensor bin = tt::minimum(tt::maximum(searchsorted(edges, own, false, true, at) - 1, 0, at), bins - 1, at);
    const Tensor width = diff(edges, 1, 0, {}, {}, at);
    place = k == 0 ? bin : place * bins + bin;
    inside = k == 0 ? here_in : tt::logical_and(inside, here_in, at);
    volume = k == 0 ? width : volume.unsqueeze(-1, at) * width;
    sizes.push_back(bins);
    all = all * bins;
  }
  Tensor hist = index_add(zeros({all}, like, at), 0, place, tt::where(inside, one, 0, at), at).reshape(sizes, at);
  if (density) hist = hist / (hist.sum({}, false, at) * volume);
  return {hist, std::vector<Tensor>(bin_edges.begin(), bin_edges.end())};
}
TT_LAZY_DEFINITION HistogramddResult histogramdd(const Tensor& x, const IntList& bins, std::span<const double> range, const Tensor& weight, bool density, SourceLine at) {
  const int n = bins.size();
  if (x.dim() < 1 || x.size(-1, at) != n || (!range.empty() && range.size() != static_cast<std::size_t>(2 * n)))
    TT_THROW(Error(Text("tt::histogramdd: points of shape ") << x.shape() << ", bins for " << n << " dimensions, " << static_cast<std::int64_t>(range.size()) << " bounds." << at));
  const Tensor points = x.detach().reshape({-1, n}, at);
  std::vector<Tensor> edges;
  for (int k = 0; k < n; ++k) {
    const Tensor own = points.select(1, k, at);
    const double low = range.empty() ? 0 : range[static_cast<std::size_t>(2 * k)], high = range.empty() ? 0 : range[static_cast<std::size_t>(2 * k + 1)];
    edges.push_back(call_with<detail::BinEdges<true>>(at, {bins[k], low, high, range.empty()}, own));
  }
  return histogramdd(x, edges, weight, density, at);
}
TT_LAZY_DEFINITION Tensor bincount(const Tensor& x, const Tensor& weights, std::int64_t minlength, SourceLine at) {
  if (x.dim() != 1 || !is_integral(x.dtype())) TT_THROW(Error(Text("tt::bincount: not a vector of integers: ") << name(x.dtype()) << ' ' << x.shape() << "." << at));
  const Tensor host = x.cpu(at).to(DType::i64, at).contiguous(at);
  const auto* const v = host.data_ptr<std::int64_t>(at);
  if (minlength < 0) TT_THROW(Error(Text("tt::bincount: minlength is negative: ") << minlength << "." << at));
  if (weights.defined() && !(weights.shape(at) == x.shape(at))) TT_THROW(Error(Text("tt::bincount: weights of shape ") << weights.shape() << " for shape " << x.shape() << "." << at));
  const std::int64_t n = host.numel();
  const Split split = detail::split_rows(n, 1);
  std::vector<std::int64_t> lows(static_cast<std::size_t>(split.parts)), highs(lows.size());
  detail::in_ranges(split, n, [&](int part, std::int64_t begin, std::int64_t end) {
    std::int64_t low = 0, high = minlength - 1;
    for (std::int64_t k = begin; k < end; ++k) {
      low = v[k] < low ? v[k] : low;
      high = v[k] > high ? v[k] : high;
    }
    lows[static_cast<std::size_t>(part)] = low;
    highs[static_cast<std::size_t>(part)] = high;
  });
  const std::int64_t least = *std::min_element(lows.begin(), lows.end()), most = *std::max_element(highs.begin(), highs.end());
  if (least < 0) TT_THROW(Error(Text("tt::bincount: a number is negative: ") << least << "." << at));
  if (most >= std::int64_t{1} << 45) TT_THROW(Error(Text("tt::bincount: memory cannot hold so many counts: ") << most << "." << at));
  const std::int64_t size = most + 1;
  if (!weights.defined()) {
    Tensor counts = zeros({size}, TensorOptions{.dtype = DType::i64}, at);
    auto* const to = counts.data_ptr<std::int64_t>(at);
    if (size > n / (8 * split.parts)) {
      for (std::int64_t k = 0; k < n; ++k) ++to[v[k]];
    } else {  // each part in its own tables: two, used in turn, as reading a count that was just written stalls the processor
      std::vector<std::vector<std::int64_t>> counted(static_cast<std::size_t>(split.parts));
      detail::in_ranges(split, n, [&](int part, std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> both(2 * static_cast<std::size_t>(size));
        std::int64_t *const even = both.data(), *const odd = even + size;
        for (; begin + 2 <= end; begin += 2) {
          ++even[v[begin]];
          ++odd[v[begin + 1]];
        }
        if (begin < end) ++even[v[begin]];
        counted[static_cast<std::size_t>(part)] = static_cast<std::vector<std::int64_t>&&>(both);
      });
      for (const std::vector<std::int64_t>& both : counted)
        for (std::int64_t k = 0; k < 2 * size; ++k) to[k < size ? k : k - size] += both[static_cast<std::size_t>(k)];
    }
    return x.device().type == DeviceType::cpu ? counts : counts.to(x.device());
  }
  const DType d = weights.dtype() == DType::f32 ? DType::f32 : DType::f64;
  return index_add(zeros({size}, TensorOptions{.dtype = d}, at), 0, host, weights.to(d, at), at);
}
TT_LAZY_DEFINITION Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool out_int32, bool right, SourceLine at) {
  return call_with<detail::Searchsorted<>>(at, {out_int32, right}, sorted_sequence, values);
}
TT_LAZY_DEFINITION Tensor bucketize(const Tensor& x, const Tensor& boundaries, bool out_int32, bool right, SourceLine at) { return searchsorted(boundaries, x, out_int32, right, at); }
TT_LAZY_DEFINITION UniqueConsecutiveResult unique_consecutive(const Tensor& x, bool return_inverse, bool return_counts, Optional<int> dim, SourceLine at) {
  const Tensor all = dim.given ? x : x.reshape({-1}, at);
  const int d = dim.given ? detail::axis_of(x, dim.value, "unique_consecutive", at, x.dim()) : 0;
  const std::int64_t n = all.size(d, at);
  std::vector<std::int64_t> first, counts, inverse;
  if (n > 0) {
    const Tensor rows = all.transpose(0, d, at).reshape({n, -1}, at);
    const Tensor differ = n > 1 ? tt::ne(rows.slice(0, 1, n, 1, at), rows.slice(0, 0, n - 1, 1, at), at).any({1}, false, at).cpu(at).contiguous(at) : Tensor();
    for (std::int64_t k = 0; k < n; ++k) {
      if (k == 0 || differ.data_ptr<bool>(at)[k - 1]) first.push_back(k), counts.push_back(0);
      ++counts.back();
      inverse.push_back(static_cast<std::int64_t>(first.size()) - 1);
    }
  }
  UniqueConsecutiveResult r{index_select(all, d, detail::index_tensor(first, x.device()), at), {}, {}};
  r.inverse_indices = return_inverse ? detail::index_tensor(inverse, x.device()) : empty({0}, TensorOptions{.dtype = DType::i64});
  if (return_inverse && !dim.given) r.inverse_indices = r.inverse_indices.reshape(x.shape(at), at);
  r.counts = return_counts ? detail::index_tensor(counts, x.device()) : empty({0}, TensorOptions{.dtype = DType::i64});
  return r;
}

}  // namespace tt
