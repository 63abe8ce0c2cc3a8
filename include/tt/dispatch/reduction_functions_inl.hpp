// Definitions of reduction_functions.hpp, and their names.
#pragma once
#include <cmath>

#include "tt/dispatch/algorithms.hpp"
#include "tt/dispatch/reduction_functions.hpp"
#include "tt/dispatch/row_ops_inl.hpp"
#include "tt/dispatch/shape_functions_inl.hpp"

namespace tt {
namespace detail {

inline Tensor without_axis(const Tensor& x, int dim, bool keepdim, SourceLine at) { return keepdim || x.dim() == 0 ? x : x.squeeze(dim, at); }
template <class F>
MinMaxResult pick(const Tensor& x, int dim, std::int64_t k, bool keepdim, SourceLine at) {
  const auto [values, indices] = call_with<F>(at, {dim, k}, x);
  return {without_axis(values, dim, keepdim, at), without_axis(indices, dim, keepdim, at)};
}
/// The median of all: its gradient goes to those that are equal to it, in equal parts.
inline Tensor median_of_all(const Tensor& x, std::int64_t k, SourceLine at) {
  const Tensor all = x.reshape({-1}, at), m = pick<Kthvalue>(all.detach(), 0, k, false, at).values;
  if (!is_floating(x.dtype())) return m;
  const Tensor same = all == m, n = same.sum({}, false, at);
  const Tensor moved = tt::where(same, all - all.detach(), 0, at).sum({}, false, at) / n;
  return m + tt::where(n > 0, moved, 0, at);
}
inline double real_number(const Tensor& t, SourceLine at) { return t.item(at); }

}  // namespace detail

TT_INLINE Tensor prod(const Tensor& x, SourceLine at) { return prod(x.reshape({-1}, at), 0, false, at); }
TT_INLINE Tensor prod(const Tensor& x, int dim, bool keepdim, SourceLine at) { return detail::without_axis(call_with<detail::Prod>(at, {dim}, x), dim, keepdim, at); }
TT_INLINE Tensor cumprod(const Tensor& x, int dim, SourceLine at) { return call_with<detail::Cumprod>(at, {dim}, x); }
TT_INLINE Tensor logcumsumexp(const Tensor& x, int dim, SourceLine at) { return call_with<detail::Logcumsumexp>(at, {dim}, x); }
TT_INLINE MinMaxResult cummax(const Tensor& x, int dim, SourceLine at) { return detail::pick<detail::CumulativeExtreme<true>>(x, dim, 0, true, at); }
TT_INLINE MinMaxResult cummin(const Tensor& x, int dim, SourceLine at) { return detail::pick<detail::CumulativeExtreme<false>>(x, dim, 0, true, at); }
TT_INLINE Tensor nansum(const Tensor& x, const IntList& dim, bool keepdim, SourceLine at) { return tt::where(isnan(x, at), 0, x, at).sum(dim, keepdim, at); }
TT_INLINE Tensor nanmean(const Tensor& x, const IntList& dim, bool keepdim, SourceLine at) {
  return nansum(x, dim, keepdim, at) / tt::logical_not(isnan(x, at), at).sum(dim, keepdim, at);
}
TT_INLINE VarMeanResult var_mean(const Tensor& x, const IntList& dim, double correction, bool keepdim, SourceLine at) {
  return {var(x, VarOptions{dim, keepdim, correction}, at), x.mean(dim, keepdim, at)};
}
TT_INLINE VarMeanResult std_mean(const Tensor& x, const IntList& dim, double correction, bool keepdim, SourceLine at) {
  return {tt::std(x, VarOptions{dim, keepdim, correction}, at), x.mean(dim, keepdim, at)};
}
TT_INLINE AminmaxResult aminmax(const Tensor& x, Optional<int> dim, bool keepdim, SourceLine at) {
  const IntList over = dim.given ? IntList{dim.value} : IntList();
  return {x.amin(over, keepdim, at), x.amax(over, keepdim, at)};
}
TT_INLINE Tensor median(const Tensor& x, SourceLine at) { return detail::median_of_all(x, 0, at); }
TT_INLINE MinMaxResult median(const Tensor& x, int dim, bool keepdim, SourceLine at) { return detail::pick<detail::Kthvalue>(x, dim, 0, keepdim, at); }
TT_INLINE Tensor nanmedian(const Tensor& x, SourceLine at) { return detail::median_of_all(x, -1, at); }
TT_INLINE MinMaxResult nanmedian(const Tensor& x, int dim, bool keepdim, SourceLine at) { return detail::pick<detail::Kthvalue>(x, dim, -1, keepdim, at); }
TT_INLINE MinMaxResult mode(const Tensor& x, int dim, bool keepdim, SourceLine at) { return detail::pick<detail::Mode>(x, dim, 0, keepdim, at); }
TT_INLINE MinMaxResult kthvalue(const Tensor& x, std::int64_t k, int dim, bool keepdim, SourceLine at) {
  const std::int64_t n = x.dim() ? x.size(detail::axis_of(x, dim, "kthvalue", at, x.dim()), at).value() : 1;
  if (k < 1 || k > n) TT_THROW(Error(Text("tt::kthvalue: k is out of range: ") << k << " of " << n << " elements along axis " << dim << " of shape " << x.shape() << "." << at));
  return detail::pick<detail::Kthvalue>(x, dim, k, keepdim, at);
}

namespace detail {
inline Tensor quantile_of(const Tensor& given, const Tensor& q, Optional<int> dim, bool keepdim, std::string_view interpolation, bool without_nan, const char* op, SourceLine at) {
  if (q.dim() > 1) TT_THROW(Error(Text("tt::") << op << ": q is of shape " << q.shape() << ". A number or a vector?" << at));
  if (!is_floating(given.dtype()) || q.dtype() != given.dtype())
    TT_THROW(Error(Text("tt::") << op << ": of " << name(given.dtype()) << " with q of " << name(q.dtype()) << ". Floating numbers of one dtype?" << at));
  const int rank = given.dim();
  const Tensor x = dim.given ? given.dim() ? movedim(given, {dim.value}, {-1}, at) : given.reshape({1}, at) : given.reshape({-1}, at);
  const std::int64_t n = x.size(-1, at);
  if (n == 0) TT_THROW(Error(Text("tt::") << op << ": there are no elements." << at));
  const Tensor sorted = tt::sort(x, -1, false, false, at).values;  // NaN behind all
  const Tensor missing = isnan(x.detach(), at).sum({-1}, true, at);
  const Tensor last = without_nan ? tt::maximum(n - 1 - missing, 0, at) : tt::full({}, static_cast<double>(n - 1), TensorOptions{.dtype = DType::i64});
  // (..., how many q)
  Tensor rank_of = q.detach().reshape({-1}, at) * last.to(q.dtype(), at);
  if (!without_nan) {
    IntList to = x.shape(at);
    to[to.size() - 1] = rank_of.size(-1, at);
    rank_of = tt::where(missing > 0, static_cast<double>(n - 1), rank_of, at).expand(to, at);
  }
  const Tensor low = tt::floor(rank_of, at), high = tt::ceil(rank_of, at);
  const auto at_rank = [&](const Tensor& r) { return gather(sorted, -1, r.to(DType::i64, at), at); };
  Tensor r;
  if (interpolation == "lower") r = at_rank(low);
  else if (interpolation == "higher") r = at_rank(high);
  else if (interpolation == "nearest") r = at_rank(tt::round(rank_of, at));
  else {
    const Tensor a = at_rank(low), b = at_rank(high), part = interpolation == "midpoint" ? tt::where(high > low, 0.5, rank_of * 0.0, at) : rank_of - low;
    r = tt::where(part < 0.5, a + part * (b - a), b - (b - a) * (1 - part), at);
  }
  if (q.dim() == 0) r = r.squeeze(-1, at);
  else {
    IntList order{r.dim() - 1};
    for (int k = 0; k + 1 < r.dim(); ++k) order.push_back(k);
    r = r.permute(order, at);
  }
  if (keepdim) {
    if (dim.given && rank > 0) r = r.unsqueeze(normalize_axis(dim.value, rank) + q.dim(), at);
    else
      for (int k = 0; k < (dim.given ? 0 : rank); ++k) r = r.unsqueeze(-1, at);
  } else if (dim.given && rank == 0 && q.dim() == 0) {
    r = r.reshape({}, at);
  }
  return r;
}
}  // namespace detail
TT_INLINE Tensor quantile(const Tensor& x, const Tensor& q, Optional<int> dim, bool keepdim, std::string_view interpolation, SourceLine at) {
  return detail::quantile_of(x, q, dim, keepdim, interpolation, false, "quantile", at);
}
TT_INLINE Tensor nanquantile(const Tensor& x, const Tensor& q, Optional<int> dim, bool keepdim, std::string_view interpolation, SourceLine at) {
  return detail::quantile_of(x, q, dim, keepdim, interpolation, true, "nanquantile", at);
}
TT_INLINE Tensor diff(const Tensor& x, int n, int dim, const Tensor& prepend, const Tensor& append, SourceLine at) {
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
inline Tensor trapezoids(const Tensor& y, const Tensor& x, double dx, int dim, SourceLine at) {
  const int d = axis_of(y, dim, "trapezoid", at, y.dim());
  const Size n = y.size(d, at);
  const Tensor both = y.slice(d, 1, n, 1, at) + y.slice(d, 0, n > 0 ? n - 1 : n, 1, at);
  if (!x.defined()) return both * (dx / 2);
  Tensor apart;
  if (x.dim() == 1) {
    IntList to;
    for (int k = 0; k < y.dim(); ++k) to.push_back(k == d ? x.size(0, at) - 1 : Size(1));
    apart = diff(x, 1, 0, {}, {}, at).reshape(to, at);
  } else {
    apart = diff(x, 1, x.dim() == y.dim() ? d : d - (y.dim() - x.dim()), {}, {}, at);
  }
  return both * apart / 2;
}
}  // namespace detail
TT_INLINE Tensor trapezoid(const Tensor& y, const Tensor& x, int dim, SourceLine at) { return detail::trapezoids(y, x, 1, dim, at).sum({dim}, false, at); }
TT_INLINE Tensor trapezoid(const Tensor& y, double dx, int dim, SourceLine at) { return detail::trapezoids(y, {}, dx, dim, at).sum({dim}, false, at); }
TT_INLINE Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int dim, SourceLine at) { return cumsum(detail::trapezoids(y, x, 1, dim, at), dim, at); }
TT_INLINE Tensor cumulative_trapezoid(const Tensor& y, double dx, int dim, SourceLine at) { return cumsum(detail::trapezoids(y, {}, dx, dim, at), dim, at); }

namespace detail {
/// (sum |x|^p)^(1/p) over axes; PyTorch's gradients where that is 0.
inline Tensor power_norm(const Tensor& x, double p, const IntList& dim, bool keepdim, SourceLine at) {
  if (p == 0) return tt::ne(x, 0, at).to(x.dtype(), at).sum(dim, keepdim, at);
  const Tensor a = tt::abs(x, at);
  if (std::isinf(p)) return p > 0 ? a.amax(dim, keepdim, at) : a.amin(dim, keepdim, at);
  if (p == 1) return a.sum(dim, keepdim, at);
  const Tensor s = (p == 2 ? x * x : tt::pow(a, p, at)).sum(dim, keepdim, at);
  const Tensor zero = s == 0;
  const Tensor safe = tt::where(zero, 1, s, at);  // the gradient at 0 is 0
  return tt::where(zero, 0, p == 2 ? tt::sqrt(safe, at) : tt::pow(safe, 1 / p, at), at);
}
}  // namespace detail
TT_INLINE Tensor dist(const Tensor& x, const Tensor& y, double p, SourceLine at) { return detail::power_norm(x - y, p, {}, false, at); }
TT_INLINE Tensor renorm(const Tensor& x, double p, int dim, double maxnorm, SourceLine at) {
  const int d = detail::axis_of(x, dim, "renorm", at, x.dim());
  IntList others;
  for (int k = 0; k < x.dim(); ++k)
    if (k != d) others.push_back(k);
  const Tensor n = detail::power_norm(x, p, others, true, at);
  return x * tt::where(n > maxnorm, maxnorm / (n + 1e-7), 1, at);
}
TT_INLINE bool allclose(const Tensor& x, const Tensor& y, double rtol, double atol, bool equal_nan, SourceLine at) {
  return isclose(x, y, IscloseOptions{rtol, atol, equal_nan}, at).all({}, false, at).item<bool>(at);
}
TT_INLINE bool equal(const Tensor& x, const Tensor& y, SourceLine at) { return x.shape(at) == y.shape(at) && tt::eq(x, y, at).all({}, false, at).item<bool>(at); }
TT_INLINE Tensor histc(const Tensor& x, std::int64_t bins, double min, double max, SourceLine at) { return call_with<detail::Histc>(at, {bins, min, max}, x); }
TT_INLINE Tensor bincount(const Tensor& x, const Tensor& weights, std::int64_t minlength, SourceLine at) {
  if (x.dim() != 1 || !is_integral(x.dtype())) TT_THROW(Error(Text("tt::bincount: not a vector of integers: ") << name(x.dtype()) << ' ' << x.shape() << "." << at));
  const Tensor host = x.cpu(at).to(DType::i64, at).contiguous(at);
  const auto* const v = host.data_ptr<std::int64_t>(at);
  std::int64_t size = minlength;
  for (std::int64_t k = 0; k < host.numel(); ++k) {
    if (v[k] < 0) TT_THROW(Error(Text("tt::bincount: a number is negative: ") << v[k] << "." << at));
    size = v[k] + 1 > size ? v[k] + 1 : size;
  }
  const DType d = !weights.defined() ? DType::i64 : weights.dtype() == DType::f32 ? DType::f32 : DType::f64;
  return index_add(zeros({size}, TensorOptions{.dtype = d}, at), 0, host, weights.defined() ? weights.to(d, at) : ones(x.shape(at), TensorOptions{.dtype = d}, at), at);
}
TT_INLINE Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool out_int32, bool right, SourceLine at) {
  return call_with<detail::Searchsorted>(at, {out_int32, right}, sorted_sequence, values);
}
TT_INLINE Tensor bucketize(const Tensor& x, const Tensor& boundaries, bool out_int32, bool right, SourceLine at) { return searchsorted(boundaries, x, out_int32, right, at); }
TT_INLINE Tensor isin(const Tensor& elements, const Tensor& test_elements, bool invert, SourceLine at) {
  IntList one;
  for (int k = 0; k < elements.dim(); ++k) one.push_back(elements.size(k, at));
  one.push_back(1);
  const Tensor found = tt::eq(elements.reshape(one, at), test_elements.reshape({-1}, at), at).any({-1}, false, at);
  return invert ? tt::logical_not(found, at) : found;
}
TT_INLINE UniqueConsecutiveResult unique_consecutive(const Tensor& x, bool return_inverse, bool return_counts, Optional<int> dim, SourceLine at) {
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
