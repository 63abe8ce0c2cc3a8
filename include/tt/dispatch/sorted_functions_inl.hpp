// Definitions of sorted_functions.hpp, and registered names of functions of algorithms.hpp.
#pragma once
#include "tt/dispatch/algorithms_inl.hpp"
#include "tt/dispatch/functions_inl.hpp"
#include "tt/dispatch/sorted_functions.hpp"

namespace tt {
namespace detail {
/// For few elements all pairs are compared; else the others are sorted and searched.
template <class = void>
Tensor is_among(const Tensor& elements, const Tensor& others, SourceLine at) {
  constexpr int few = 16;
  const Tensor line = others.reshape({-1}, at);
  const DType d = promote(elements.dtype(), others.dtype());
  if (d == DType::boolean || line.size(0, at) <= few || elements.numel(at) <= few) return tt::eq(elements.unsqueeze(-1, at), line, at).any({-1}, false, at);
  const Tensor sorted = sort(line.to(d, at), 0, false, false, at).values, x = elements.to(d, at);
  const Tensor place = tt::minimum(searchsorted(sorted, x, false, false, at), line.size(0, at) - 1);
  return tt::eq(index_select(sorted, 0, place.reshape({-1}, at), at).reshape(x.shape(at), at), x, at);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor isin(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/, bool invert, SourceLine at) {
  const Tensor found = detail::is_among(elements.detach(), test_elements.detach(), at);
  return invert ? tt::logical_not(found, at) : found;
}
namespace detail {
template <class = void>
Tensor quantile_of(const Tensor& given, const Tensor& given_q, Optional<int> dim, bool keepdim, std::string_view interpolation, bool without_nan, const char* op, SourceLine at) {
  const Tensor q = on_device_of(given, given_q, at);
  if (q.dim() > 1) TT_THROW(Error(Text("tt::") << op << ": q is of shape " << q.shape() << ". A number or a vector?" << at));
  if (!is_floating(given.dtype()) || is_narrow(given.dtype()) || q.dtype() != given.dtype())
    TT_THROW(Error(Text("tt::") << op << ": of " << name(given.dtype()) << " with q of " << name(q.dtype()) << ". Both f32, or both f64?" << at));
  if (interpolation != "linear" && interpolation != "lower" && interpolation != "higher" && interpolation != "midpoint" && interpolation != "nearest")
    TT_THROW(Error(Text("tt::") << op << ": interpolation is '" << std::string(interpolation).c_str() << "'. One of linear, lower, higher, midpoint and nearest?" << at));
  if (!capture_mode && !q.is_meta() && !tt::logical_and(q.detach() >= 0, q.detach() <= 1, at).all().item<bool>(at)) TT_THROW(Error(Text("tt::") << op << ": q is outside of 0 and 1." << at));
  const int rank = given.dim();
  const Tensor x = dim.given ? given.dim() ? movedim(given, {dim.value}, {-1}, at) : given.reshape({1}, at) : given.reshape({-1}, at);
  const std::int64_t n = x.size(-1, at);
  if (n == 0) TT_THROW(Error(Text("tt::") << op << ": there are no elements." << at));
  const Tensor sorted = tt::sort(x, -1, false, false, at).values;  // NaN last
  const Tensor missing = isnan(x.detach(), at).sum({-1}, true, at);
  const Tensor last = without_nan ? tt::maximum(n - 1 - missing, 0, at) : tt::full({}, static_cast<double>(n - 1), TensorOptions{.dtype = DType::i64});
  // (..., number of q)
  Tensor rank_of = q.reshape({-1}, at) * last.to(q.dtype(), at);
  if (!without_nan) {
    IntList to = x.shape(at);
    to[to.size() - 1] = rank_of.size(-1, at);
    rank_of = tt::where(missing > 0, static_cast<double>(n - 1), rank_of, at).expand(to, at);
  }
  const Tensor low = tt::floor(rank_of.detach(), at), high = tt::ceil(rank_of.detach(), at);
  const auto at_rank = [&](const Tensor& r) { return gather(sorted, -1, r.to(DType::i64, at), at); };
  Tensor r;
  if (interpolation == "lower") r = at_rank(low);
  else if (interpolation == "higher") r = at_rank(high);
  else if (interpolation == "nearest") r = at_rank(tt::round(rank_of.detach(), at));
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
TT_LAZY_DEFINITION Tensor quantile(const Tensor& x, const Tensor& q, Optional<int> dim, bool keepdim, std::string_view interpolation, SourceLine at) {
  return detail::quantile_of(x, q, dim, keepdim, interpolation, false, "quantile", at);
}
TT_LAZY_DEFINITION Tensor nanquantile(const Tensor& x, const Tensor& q, Optional<int> dim, bool keepdim, std::string_view interpolation, SourceLine at) {
  return detail::quantile_of(x, q, dim, keepdim, interpolation, true, "nanquantile", at);
}

namespace detail {
/// The distinct slices of an axis, in order.
template <class = void>
UniqueResult unique_slices(const Tensor& x, int dim, SourceLine at) {
  const int d = axis_of(x, dim, "unique", at, x.dim());
  const std::int64_t n = x.size(d, at);
  const Tensor rows = movedim(x.detach(), {d}, {0}, at).reshape({n, -1}, at).cpu(at).to(is_floating(x.dtype()) ? DType::f64 : DType::i64, at).contiguous(at);
  const std::int64_t width = rows.size(1, at);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n)), first, counts, inverse(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) order[static_cast<std::size_t>(k)] = k;
  with_dtype(rows.dtype(), [&]<class T>(T) {
    const T* const v = rows.data_ptr<T>(at);
    const auto less = [&](std::int64_t a, std::int64_t b) { return std::lexicographical_compare(v + a * width, v + (a + 1) * width, v + b * width, v + (b + 1) * width, comes_before<T>); };
    const auto differ = [&](std::int64_t a, std::int64_t b) { return !std::equal(v + a * width, v + (a + 1) * width, v + b * width); };  // NaN differs, as in PyTorch
    std::stable_sort(order.begin(), order.end(), less);
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k == 0 || differ(order[k - 1], order[k])) first.push_back(order[k]), counts.push_back(0);
      ++counts.back();
      inverse[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(first.size()) - 1;
    }
  });
  return {index_select(x, d, index_tensor(first, x.device()), at), index_tensor(inverse, x.device()), index_tensor(counts, x.device())};
}

template <class = void>
void register_sorted_names() {
  register_function("quantile", "Tensor input, Scalar q, int? dim=None, bool keepdim=False, str interpolation=linear",
                    [](const Tensor& x, const TensorOperand& q, Optional<int> d, bool k, const std::string& i, Line at) { return quantile(x, q.beside(x), d, k, i, at); });
  register_function("nanquantile", "Tensor input, Scalar q, int? dim=None, bool keepdim=False, str interpolation=linear",
                    [](const Tensor& x, const TensorOperand& q, Optional<int> d, bool k, const std::string& i, Line at) { return nanquantile(x, q.beside(x), d, k, i, at); });
  register_function("unique", "Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None", [](const Tensor& x, bool, bool i, bool c, Optional<int> d, Line at) {
    const UniqueResult r = d.given ? unique_slices(x, d.value, at) : unique(x, true, i, c, at);
    TensorList all{r.values};
    if (i) all.push_back(r.inverse_indices);
    if (c) all.push_back(r.counts);
    return all;
  });
  register_function("msort", "Tensor input", [](const Tensor& x, Line at) { return sort(x, 0, false, false, at).values; });
  register_function("cumsum", "Tensor input, int dim, dtype? dtype=None", [](const Tensor& x, int d, OptionalDType t, Line at) { return converted(cumsum(converted(x, t, at), d, at), t, at); });
}
template <class>  // instantiated only where it is called
void register_sorted_functions() {
  static const bool once = [] {
    register_sorted_names();
    return true;
  }();
  (void)once;
}
}  // namespace detail
}  // namespace tt
