// Definitions of dropout_functions.hpp, and their registration for calls by name.
#pragma once
#include <cmath>

#include "tt/dispatch/dropout_functions.hpp"
#include "tt/dispatch/value_names_inl.hpp"

namespace tt {

namespace detail {
/// Is anything dropped? Throws Error if p is not from 0 to 1.
inline bool drops(const char* op, double p, bool training, SourceLine at) {
  if (!(p >= 0 && p <= 1)) TT_THROW(Error(Text("tt::") << op << ": p is not from 0 to 1." << at));
  return training && p > 0;
}
/// The sizes of a mask for whole channels: 1 after the first two axes.
template <class = void>
IntList channels_of(const Tensor& x, SourceLine at) {
  IntList channels;
  for (int k = 0; k < x.dim(); ++k) channels.push_back(k < 2 ? x.size(k, at) : Size(1));
  return channels;
}
/// True with probability 1 - p.
template <class = void>
Tensor kept(const IntList& sizes, double p, const Tensor& x, SourceLine at) { return rand(sizes, on_device(DType::f32, x.device()), at) >= p; }
template <class = void>
Tensor dropped(const Tensor& x, const IntList& sizes, double p, SourceLine at) { return p == 1 ? x * 0 : tt::where(kept(sizes, p, x, at), x * (1 / (1 - p)), 0, at); }
template <class = void>
Tensor alpha_dropped(const Tensor& x, const IntList& sizes, double p, SourceLine at) {
  if (p == 1) return x * 0;
  constexpr double lowest = -1.7580993408473766;  // selu of minus infinity
  const double scale = 1 / std::sqrt((lowest * lowest * p + 1) * (1 - p)), shift = -lowest * scale * p;
  return tt::where(kept(sizes, p, x, at), x * scale + shift, lowest * scale + shift, at);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor dropout(const Tensor& x, double p, bool training, SourceLine at) { return detail::drops("dropout", p, training, at) ? detail::dropped(x, x.shape(at), p, at) : x; }
TT_LAZY_DEFINITION Tensor dropout_channels(const Tensor& x, double p, bool training, SourceLine at) {
  return detail::drops("dropout", p, training, at) ? detail::dropped(x, detail::channels_of(x, at), p, at) : x;
}
TT_LAZY_DEFINITION Tensor alpha_dropout(const Tensor& x, double p, bool training, SourceLine at) {
  return detail::drops("alpha_dropout", p, training, at) ? detail::alpha_dropped(x, x.shape(at), p, at) : x;
}
TT_LAZY_DEFINITION Tensor feature_alpha_dropout(const Tensor& x, double p, bool training, SourceLine at) {
  return detail::drops("feature_alpha_dropout", p, training, at) ? detail::alpha_dropped(x, detail::channels_of(x, at), p, at) : x;
}
TT_LAZY_DEFINITION Tensor rrelu(const Tensor& x, double lower, double upper, bool training, SourceLine at) {
  if (!(lower <= upper) || !std::isfinite(lower) || !std::isfinite(upper)) TT_THROW(Error(Text("tt::rrelu: lower is not at most upper, or one is not finite.") << at));
  if (!training) return leaky_relu(x, (lower + upper) / 2, at);
  return tt::where(x > 0, x, x * (rand(x.shape(at), detail::on_device(x.dtype(), x.device()), at) * (upper - lower) + lower), at);
}

namespace detail {
template <class = void>
void register_dropout_names() {
  const char* const schema = "Tensor input, float p=0.5, bool training=True";
  register_function("dropout", schema, [](const Tensor& x, double p, bool t, Line at) { return dropout(x, p, t, at); });
  register_function("dropout1d", schema, [](const Tensor& x, double p, bool t, Line at) { return dropout1d(x, p, t, at); });
  register_function("dropout3d", schema, [](const Tensor& x, double p, bool t, Line at) { return dropout3d(x, p, t, at); });
  for (const char* name : {"dropout2d", "feature_dropout"}) register_function(name, schema, [](const Tensor& x, double p, bool t, Line at) { return dropout2d(x, p, t, at); });
  const char* const off = "Tensor input, float p=0.5, bool training=False";
  register_function("alpha_dropout", off, [](const Tensor& x, double p, bool t, Line at) { return alpha_dropout(x, p, t, at); });
  register_function("feature_alpha_dropout", off, [](const Tensor& x, double p, bool t, Line at) { return feature_alpha_dropout(x, p, t, at); });
  register_function("rrelu", "Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False", [](const Tensor& x, double l, double u, bool t, Line at) { return rrelu(x, l, u, t, at); });
}
}  // namespace detail

}  // namespace tt
