// Definitions of masked_functions.hpp, and their names.
#pragma once
#include <cmath>

#include "tt/dispatch/masked_functions.hpp"
#include "tt/dispatch/value_names_inl.hpp"

namespace tt {
namespace detail {

/// x, with `number` where the mask is false.
template <class N>
Tensor filled_where(const Tensor& x, const Tensor& mask, const N& number, const char* op, SourceLine at) {
  if (!mask.defined()) return x;
  if (mask.dtype() != DType::boolean) TT_THROW(Error(Text("tt::masked::") << op << ": the mask is " << name(mask.dtype()) << ". bool?" << at));
  if (mask.dim() > x.dim()) TT_THROW(Error(Text("tt::masked::") << op << ": a mask of shape " << mask.shape() << " for shape " << x.shape() << "." << at));
  return tt::where(mask.expand(x.shape(at), at), x, number, at);  // the mask is broadcast to x, not x to the mask
}
/// x, with the greatest or lowest number of the dtype where the mask is false.
template <class = void>
Tensor filled_with_extreme(const Tensor& x, const Tensor& mask, bool greatest, const char* op, SourceLine at) {
  const DType d = x.dtype();
  if (is_floating(d)) return filled_where(x, mask, greatest ? INFINITY : -INFINITY, op, at);
  if (d == DType::boolean) return filled_where(x, mask, greatest, op, at);
  const std::int64_t lowest = is_signed(d) ? INT64_MIN >> (64 - 8 * size_of(d)) : 0;
  return filled_where(x, mask, !greatest ? lowest : is_signed(d) ? ~lowest : 255, op, at);
}
/// Sums of the selected elements, and their number.
struct MaskedSum {
  Tensor total, count;
};
template <class = void>
MaskedSum masked_sum(const Tensor& x, const Tensor& mask, const IntList& dim, bool keepdim, const char* op, SourceLine at) {
  const Tensor there = mask.defined() ? mask : ones({}, on_device(DType::boolean, x.device()), at);
  return {filled_where(x, mask, 0, op, at).sum(dim, keepdim, at), there.expand(x.shape(at), at).sum(dim, keepdim, at).to(x.dtype(), at)};
}
/// In the dtype of the computation.
inline Tensor in_compute_dtype(const Tensor& x, SourceLine at) { return x.to(is_floating(x.dtype()) ? compute_dtype(x.dtype()) : DType::f32, at); }

}  // namespace detail

namespace masked {

TT_LAZY_DEFINITION Tensor sum(const Tensor& x, const Tensor& mask, const IntList& dim, bool keepdim, SourceLine at) { return tt::detail::filled_where(x, mask, 0, "sum", at).sum(dim, keepdim, at); }
TT_LAZY_DEFINITION Tensor prod(const Tensor& x, const Tensor& mask, const IntList& dim, bool keepdim, SourceLine at) {
  Tensor r = tt::detail::filled_where(x, mask, 1, "prod", at);
  if (x.dim() == 0 || (dim.size() == 0 && !keepdim)) return tt::prod(r, at);
  BitSet axes;
  for (int k = 0; k < (dim.size() ? dim.size() : x.dim()); ++k) {
    const int axis = dim.size() ? tt::detail::axis_of(x, static_cast<int>(dim.value(k)), "masked::prod", at, x.dim()) : k;
    if (axes.test(axis)) TT_THROW(Error(Text("tt::masked::prod: axis ") << axis << " is named twice." << at));
    axes.set(axis);
  }
  for (int k = x.dim() - 1; k >= 0; --k)
    if (axes.test(k)) r = tt::prod(r, k, keepdim, at);
  return r;
}
TT_LAZY_DEFINITION Tensor amax(const Tensor& x, const Tensor& mask, const IntList& dim, bool keepdim, SourceLine at) {
  return tt::detail::filled_with_extreme(x, mask, false, "amax", at).amax(dim, keepdim, at);
}
TT_LAZY_DEFINITION Tensor amin(const Tensor& x, const Tensor& mask, const IntList& dim, bool keepdim, SourceLine at) {
  return tt::detail::filled_with_extreme(x, mask, true, "amin", at).amin(dim, keepdim, at);
}
TT_LAZY_DEFINITION Tensor argmax(const Tensor& x, const Tensor& mask, Optional<int> dim, bool keepdim, SourceLine at) {
  return tt::argmax(tt::detail::filled_with_extreme(x, mask, false, "argmax", at), dim, keepdim, at);
}
TT_LAZY_DEFINITION Tensor argmin(const Tensor& x, const Tensor& mask, Optional<int> dim, bool keepdim, SourceLine at) {
  return tt::argmin(tt::detail::filled_with_extreme(x, mask, true, "argmin", at), dim, keepdim, at);
}
TT_LAZY_DEFINITION Tensor mean(const Tensor& x, const Tensor& mask, const IntList& dim, bool keepdim, SourceLine at) {
  tt::detail::need_floating("masked::mean", x, at);
  const auto [total, count] = tt::detail::masked_sum(tt::detail::in_compute_dtype(x, at), mask, dim, keepdim, "mean", at);
  return (total / count).to(x.dtype(), at);
}
TT_LAZY_DEFINITION Tensor var(const Tensor& x, const Tensor& mask, const IntList& dim, double correction, bool keepdim, SourceLine at) {
  const Tensor own = tt::detail::in_compute_dtype(x, at);
  const auto [sum, all] = tt::detail::masked_sum(own, mask, dim, true, "var", at);
  const Tensor apart = own - sum / all;
  const auto [total, count] = tt::detail::masked_sum(apart * apart, mask, dim, keepdim, "var", at);
  return (total / tt::relu(count - correction, at)).to(is_floating(x.dtype()) ? x.dtype() : DType::f32, at);
}
TT_LAZY_DEFINITION Tensor std(const Tensor& x, const Tensor& mask, const IntList& dim, double correction, bool keepdim, SourceLine at) { return tt::sqrt(var(x, mask, dim, correction, keepdim, at), at); }
TT_LAZY_DEFINITION Tensor norm(const Tensor& x, const Tensor& mask, double ord, const IntList& dim, bool keepdim, SourceLine at) {
  tt::detail::need_floating("masked::norm", x, at);
  return linalg::vector_norm(tt::detail::filled_where(x, mask, ord == -INFINITY ? INFINITY : 0.0, "norm", at), ord, dim, keepdim, at);
}
TT_LAZY_DEFINITION Tensor median(const Tensor& x, const Tensor& mask, int dim, bool keepdim, SourceLine at) {
  const Tensor own = is_floating(x.dtype()) ? x : x.to(DType::f64, at);
  const Tensor r = nanmedian(tt::detail::filled_where(own, mask, static_cast<double>(NAN), "median", at), dim, keepdim, at).values;
  if (is_floating(x.dtype())) return r;
  if (tt::isnan(r, at).any({}, false, at)) TT_THROW(Error(Text("tt::masked::median: a row of ") << name(x.dtype()) << " without elements has none." << at));
  return r.to(x.dtype(), at);
}
TT_LAZY_DEFINITION Tensor logsumexp(const Tensor& x, const Tensor& mask, const IntList& dim, bool keepdim, SourceLine at) {
  return tt::detail::filled_with_extreme(x, mask, false, "logsumexp", at).logsumexp(dim, keepdim, at).to(x.dtype(), at);
}
TT_LAZY_DEFINITION Tensor logaddexp(const Tensor& x, const Tensor& other, const Tensor& mask, const Tensor& other_mask, SourceLine at) {
  return tt::logaddexp(tt::detail::filled_with_extreme(x, mask, false, "logaddexp", at), tt::detail::filled_with_extreme(other, other_mask, false, "logaddexp", at), at).to(x.dtype(), at);
}
TT_LAZY_DEFINITION Tensor cumsum(const Tensor& x, const Tensor& mask, int dim, SourceLine at) { return tt::detail::filled_where(x, mask, 0, "cumsum", at).cumsum(dim, at).to(x.dtype(), at); }
TT_LAZY_DEFINITION Tensor cumprod(const Tensor& x, const Tensor& mask, int dim, SourceLine at) { return tt::cumprod(tt::detail::filled_where(x, mask, 1, "cumprod", at), dim, at).to(x.dtype(), at); }
TT_LAZY_DEFINITION Tensor softmax(const Tensor& x, const Tensor& mask, int dim, SourceLine at) { return tt::softmax(tt::detail::filled_with_extreme(x, mask, false, "softmax", at), dim, at); }
TT_LAZY_DEFINITION Tensor log_softmax(const Tensor& x, const Tensor& mask, int dim, SourceLine at) { return tt::log_softmax(tt::detail::filled_with_extreme(x, mask, false, "log_softmax", at), dim, at); }
TT_LAZY_DEFINITION Tensor softmin(const Tensor& x, const Tensor& mask, int dim, SourceLine at) { return tt::softmax(-tt::detail::filled_with_extreme(x, mask, true, "softmin", at), dim, at); }
TT_LAZY_DEFINITION Tensor normalize(const Tensor& x, const Tensor& mask, double ord, int dim, double eps, SourceLine at) {
  return tt::detail::filled_where(x, mask, 0, "normalize", at) / tt::maximum(norm(x, mask, ord, {dim}, true, at), eps, at);
}

}  // namespace masked

namespace detail {
template <class = void>
void register_masked_names() {
  static constexpr auto into = [](const Tensor& x, OptionalDType d, Line at) { return converted(x, d, at); };
  const char* const reduced = "Tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None, Tensor? mask=None";
  register_function("masked_sum", reduced, [](const Tensor& x, const IntList& d, bool k, OptionalDType t, const Tensor& m, Line at) { return masked::sum(into(x, t, at), m, d, k, at); });
  register_function("masked_prod", reduced, [](const Tensor& x, const IntList& d, bool k, OptionalDType t, const Tensor& m, Line at) { return masked::prod(into(x, t, at), m, d, k, at); });
  register_function("masked_mean", reduced, [](const Tensor& x, const IntList& d, bool k, OptionalDType t, const Tensor& m, Line at) { return masked::mean(into(x, t, at), m, d, k, at); });
  register_function("masked_amax", reduced, [](const Tensor& x, const IntList& d, bool k, OptionalDType t, const Tensor& m, Line at) { return into(masked::amax(x, m, d, k, at), t, at); });
  register_function("masked_amin", reduced, [](const Tensor& x, const IntList& d, bool k, OptionalDType t, const Tensor& m, Line at) { return into(masked::amin(x, m, d, k, at), t, at); });
  register_function("masked_logsumexp", reduced, [](const Tensor& x, const IntList& d, bool k, OptionalDType t, const Tensor& m, Line at) { return into(masked::logsumexp(x, m, d, k, at), t, at); });
  const char* const placed = "Tensor input, int? dim=None, bool keepdim=False, dtype? dtype=None, Tensor? mask=None";  // as PyTorch: indices in the dtype of the elements
  register_function("masked_argmax", placed, [](const Tensor& x, Optional<int> d, bool k, OptionalDType t, const Tensor& m, Line at) { return masked::argmax(x, m, d, k, at).to(t.given ? t.value : x.dtype(), at); });
  register_function("masked_argmin", placed, [](const Tensor& x, Optional<int> d, bool k, OptionalDType t, const Tensor& m, Line at) { return masked::argmin(x, m, d, k, at).to(t.given ? t.value : x.dtype(), at); });
  static constexpr auto correction = [](Optional<bool> unbiased, Optional<double> given) { return given.given ? given.value : unbiased.given && !unbiased.value ? 0.0 : 1.0; };
  const char* const spread_schema = "Tensor input, int[]? dim=None, bool? unbiased=None, Scalar? correction=None, bool keepdim=False, dtype? dtype=None, Tensor? mask=None";
  register_function("masked_var", spread_schema, [](const Tensor& x, const IntList& d, Optional<bool> u, Optional<double> c, bool k, OptionalDType t, const Tensor& m, Line at) { return masked::var(into(x, t, at), m, d, correction(u, c), k, at); });
  register_function("masked_std", spread_schema, [](const Tensor& x, const IntList& d, Optional<bool> u, Optional<double> c, bool k, OptionalDType t, const Tensor& m, Line at) { return masked::std(into(x, t, at), m, d, correction(u, c), k, at); });
  register_function("masked_norm", "Tensor input, Scalar? ord=2, int[]? dim=None, bool keepdim=False, dtype? dtype=None, Tensor? mask=None",
                    [](const Tensor& x, Optional<double> p, const IntList& d, bool k, OptionalDType t, const Tensor& m, Line at) { return masked::norm(into(x, t, at), m, p.given ? p.value : 2, d, k, at); });
  register_function("masked_median", "Tensor input, int dim=-1, bool keepdim=False, dtype? dtype=None, Tensor? mask=None",
                    [](const Tensor& x, int d, bool k, OptionalDType t, const Tensor& m, Line at) { return into(masked::median(x, m, d, k, at), t, at); });
  register_function("masked_logaddexp", "Tensor input, Tensor other, dtype? dtype=None, Tensor? input_mask=None, Tensor? other_mask=None",
                    [](const Tensor& x, const Tensor& y, OptionalDType t, const Tensor& m, const Tensor& o, Line at) { return into(masked::logaddexp(x, y, m, o, at), t, at); });
  const auto along = [](const char* name, auto f) {
    register_function(name, "Tensor input, int dim, dtype? dtype=None, Tensor? mask=None", [](const Tensor& x, int d, OptionalDType t, const Tensor& m, Line at) { return decltype(f){}(into(x, t, at), m, d, at); });
  };
  along("masked_cumsum", [](const Tensor& x, const Tensor& m, int d, Line at) { return masked::cumsum(x, m, d, at); });
  along("masked_cumprod", [](const Tensor& x, const Tensor& m, int d, Line at) { return masked::cumprod(x, m, d, at); });
  along("masked_softmax", [](const Tensor& x, const Tensor& m, int d, Line at) { return masked::softmax(x, m, d, at); });
  along("masked_log_softmax", [](const Tensor& x, const Tensor& m, int d, Line at) { return masked::log_softmax(x, m, d, at); });
  along("masked_softmin", [](const Tensor& x, const Tensor& m, int d, Line at) { return masked::softmin(x, m, d, at); });
  register_function("masked_normalize", "Tensor input, Scalar ord, int dim, float eps=1e-12, dtype? dtype=None, Tensor? mask=None",
                    [](const Tensor& x, double p, int d, double e, OptionalDType t, const Tensor& m, Line at) { return masked::normalize(into(x, t, at), m, p, d, e, at); });
}
}  // namespace detail

}  // namespace tt
