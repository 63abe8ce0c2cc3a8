// Definitions of window_functions.hpp, and their names.
#pragma once
#include <cmath>
#include <numbers>

#include "tt/dispatch/shape_names_inl.hpp"
#include "tt/dispatch/window_functions.hpp"

namespace tt {
namespace detail {

/// A vector of f(k), k from 0 to m - 1.
template <class F>
Tensor window_of(const char* op, std::int64_t m, const TensorOptions& o, SourceLine at, const F& f) {
  if (m < 0) TT_THROW(Error(Text("tt::windows::") << op << ": " << m << " values." << at));
  if (!is_floating(o.dtype)) TT_THROW(Error(Text("tt::windows::") << op << ": of " << name(o.dtype) << " there is none. f32 or f64?" << at));
  need_places(op, m, at);
  std::vector<double> v;
  for (std::int64_t k = 0; k < m; ++k) v.push_back(f(static_cast<double>(k)));
  Tensor t = made_of_numbers(from_span(std::span<const double>(v), IntList{m})).to(o.dtype, at);
  if (const Device to = o.device; to.type != DeviceType::cpu) t = t.to(to);
  return with_options(t, o);
}
/// The number of steps in a period; a symmetric window ends where it began.
inline double steps_of(std::int64_t m, bool sym) { return static_cast<double>(m) - (sym || m <= 1 ? 1 : 0); }
/// Throws Error unless a parameter of a window is positive.
template <class = void>
void need_positive(const char* op, const char* what, double v, SourceLine at) {
  if (!(v > 0)) TT_THROW(Error(Text("tt::windows::") << op << ": " << what << " is not above 0." << at));
}

}  // namespace detail

namespace windows {

TT_LAZY_DEFINITION Tensor bartlett(std::int64_t m, bool sym, const TensorOptions& o, SourceLine at) {
  return tt::detail::window_of("bartlett", m, o, at, [&](double k) { return m == 1 ? 1 : 1 - std::fabs(2 * k / tt::detail::steps_of(m, sym) - 1); });
}
TT_LAZY_DEFINITION Tensor general_cosine(std::int64_t m, const std::vector<double>& a, bool sym, const TensorOptions& o, SourceLine at) {
  if (a.empty()) TT_THROW(Error(Text("tt::windows::general_cosine: no coefficients.") << at));
  return tt::detail::window_of("general_cosine", m, o, at, [&](double k) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (i % 2 ? -a[i] : a[i]) * std::cos(2 * std::numbers::pi * static_cast<double>(i) * k / tt::detail::steps_of(m, sym));
    return m == 1 ? 1 : sum;
  });
}
TT_LAZY_DEFINITION Tensor blackman(std::int64_t m, bool sym, const TensorOptions& o, SourceLine at) { return general_cosine(m, {0.42, 0.5, 0.08}, sym, o, at); }
TT_LAZY_DEFINITION Tensor nuttall(std::int64_t m, bool sym, const TensorOptions& o, SourceLine at) { return general_cosine(m, {0.3635819, 0.4891775, 0.1365995, 0.0106411}, sym, o, at); }
TT_LAZY_DEFINITION Tensor general_hamming(std::int64_t m, double alpha, bool sym, const TensorOptions& o, SourceLine at) { return general_cosine(m, {alpha, 1 - alpha}, sym, o, at); }
TT_LAZY_DEFINITION Tensor hamming(std::int64_t m, bool sym, const TensorOptions& o, SourceLine at) { return general_hamming(m, 0.54, sym, o, at); }
TT_LAZY_DEFINITION Tensor hann(std::int64_t m, bool sym, const TensorOptions& o, SourceLine at) { return general_hamming(m, 0.5, sym, o, at); }
TT_LAZY_DEFINITION Tensor cosine(std::int64_t m, bool sym, const TensorOptions& o, SourceLine at) {
  return tt::detail::window_of("cosine", m, o, at, [&](double k) { return std::sin((k + 0.5) * std::numbers::pi / (tt::detail::steps_of(m, sym) + 1)); });
}
TT_LAZY_DEFINITION Tensor exponential(std::int64_t m, Optional<double> center, double tau, bool sym, const TensorOptions& o, SourceLine at) {
  tt::detail::need_positive("exponential", "tau", tau, at);
  if (sym && center.given) TT_THROW(Error(Text("tt::windows::exponential: a symmetric one has its center in the middle.") << at));
  const double middle = center.given ? center.value : tt::detail::steps_of(m, sym) / 2;
  return tt::detail::window_of("exponential", m, o, at, [&](double k) { return std::exp(-std::fabs(k - middle) / tau); });
}
TT_LAZY_DEFINITION Tensor gaussian(std::int64_t m, double std, bool sym, const TensorOptions& o, SourceLine at) {
  tt::detail::need_positive("gaussian", "std", std, at);
  return tt::detail::window_of("gaussian", m, o, at, [&](double k) {
    const double x = (k - tt::detail::steps_of(m, sym) / 2) / std;
    return std::exp(-x * x / 2);
  });
}
TT_LAZY_DEFINITION Tensor kaiser(std::int64_t m, double beta, bool sym, const TensorOptions& o, SourceLine at) {
  if (!(beta >= 0)) TT_THROW(Error(Text("tt::windows::kaiser: beta is negative.") << at));
  const auto bessel = [](double v) { return tt::i0(Num<double>(v)).value; };
  const double most = bessel(beta);
  return tt::detail::window_of("kaiser", m, o, at, [&](double k) {
    const double x = m == 1 ? 0 : 2 * k / tt::detail::steps_of(m, sym) - 1, inside = 1 - x * x;
    return bessel(beta * std::sqrt(inside > 0 ? inside : 0)) / most;
  });
}

}  // namespace windows

namespace detail {
template <class = void>
void register_window_names() {
  const auto window = [](const char* name, auto f) {
    create(name, "int M, bool sym=True", [](std::int64_t m, bool s, OptionalDType d, Device v, bool g, Line at) { return decltype(f){}(m, s, made_with(d, v, g), at); });
  };
  window("signal_windows_bartlett", [](std::int64_t m, bool s, const TensorOptions& o, Line at) { return windows::bartlett(m, s, o, at); });
  window("signal_windows_blackman", [](std::int64_t m, bool s, const TensorOptions& o, Line at) { return windows::blackman(m, s, o, at); });
  window("signal_windows_cosine", [](std::int64_t m, bool s, const TensorOptions& o, Line at) { return windows::cosine(m, s, o, at); });
  window("signal_windows_hamming", [](std::int64_t m, bool s, const TensorOptions& o, Line at) { return windows::hamming(m, s, o, at); });
  window("signal_windows_hann", [](std::int64_t m, bool s, const TensorOptions& o, Line at) { return windows::hann(m, s, o, at); });
  window("signal_windows_nuttall", [](std::int64_t m, bool s, const TensorOptions& o, Line at) { return windows::nuttall(m, s, o, at); });
  create("signal_windows_exponential", "int M, float? center=None, float tau=1.0, bool sym=True", [](std::int64_t m, Optional<double> c, double tau, bool s, OptionalDType d, Device v, bool g, Line at) {
    return windows::exponential(m, c, tau, s, made_with(d, v, g), at);
  });
  create("signal_windows_gaussian", "int M, float std=1.0, bool sym=True", [](std::int64_t m, double w, bool s, OptionalDType d, Device v, bool g, Line at) { return windows::gaussian(m, w, s, made_with(d, v, g), at); });
  create("signal_windows_kaiser", "int M, float beta=12.0, bool sym=True", [](std::int64_t m, double b, bool s, OptionalDType d, Device v, bool g, Line at) { return windows::kaiser(m, b, s, made_with(d, v, g), at); });
  create("signal_windows_general_hamming", "int M, float alpha=0.54, bool sym=True",
         [](std::int64_t m, double a, bool s, OptionalDType d, Device v, bool g, Line at) { return windows::general_hamming(m, a, s, made_with(d, v, g), at); });
  create("signal_windows_general_cosine", "int M, float[] a, bool sym=True",
         [](std::int64_t m, const std::vector<double>& a, bool s, OptionalDType d, Device v, bool g, Line at) { return windows::general_cosine(m, a, s, made_with(d, v, g), at); });
}
}  // namespace detail

}  // namespace tt
