// What ops should give: references in a wider type, and the error of a result in ulp.
// A new op of ElementwiseOps needs its `exact` here and nothing else.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "exact_further.hpp"
#include "tt/ops/list.hpp"

namespace exact_values {

// x: the wider type, which is the result's too.
auto exact(tt::Exp, auto x) { return std::exp(x); }
auto exact(tt::Exp2, auto x) { return std::exp2(x); }
auto exact(tt::Expm1, auto x) { return std::expm1(x); }
auto exact(tt::Sigmoid, auto x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
auto exact(tt::Tanh, auto x) { return std::tanh(x); }
auto exact(tt::Log, auto x) { return std::log(x); }
auto exact(tt::Log2, auto x) { return std::log2(x); }
auto exact(tt::Log1p, auto x) { return std::log1p(x); }
auto exact(tt::Pow, auto a, decltype(a) b) { return std::pow(a, b); }
auto exact(tt::Sin, auto x) { return std::sin(x); }
auto exact(tt::Cos, auto x) { return std::cos(x); }
auto exact(tt::Tan, auto x) { return std::tan(x); }
auto exact(tt::Erf, auto x) { return std::erf(x); }
auto exact(tt::Relu, auto x) { return x <= 0 ? 0 : x; }
auto exact(tt::LeakyRelu, auto x, decltype(x) slope) { return x > 0 ? x : slope * x; }
auto exact(tt::Silu, auto x) { return x / (1 + std::exp(-x)); }
auto exact(tt::Gelu, auto x) { return x * std::erfc(-x * std::sqrt(decltype(x)(0.5))) / 2; }
auto exact(tt::GeluTanh, auto x) {
  return x * exact(tt::Sigmoid{}, std::sqrt(8 / std::acos(decltype(x)(-1))) * (x + decltype(x)(0.044715L) * x * x * x));
}
auto exact(tt::Softplus, auto x) { return x > 20 ? x : std::log1p(std::exp(x)); }
auto exact(tt::Elu, auto x, decltype(x) alpha) { return x > 0 ? x : alpha * std::expm1(x); }
auto exact(tt::Mish, auto x) { return x * std::tanh(exact(tt::Softplus{}, x)); }
auto exact(tt::Hardswish, auto x) {
  const auto gate = x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3;
  return x * (gate / 6);
}
auto exact(tt::Sign, auto x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }  // NaN too
auto exact(tt::Clamp, auto x, decltype(x) low, decltype(x) high) {
  if (std::isnan(low) || std::isnan(high)) return low + high;
  const auto above = x < low ? low : x;
  return above > high ? high : above;
}
auto exact(tt::Square, auto x) { return x * x; }
auto exact(tt::Reciprocal, auto x) { return 1 / x; }
auto exact(tt::Rsqrt, auto x) { return 1 / std::sqrt(x); }

/// The size in whose last places the error is counted: that of the result, unless the op says
/// otherwise, and for compositions not less than `floor`, as their parts underflow first.
auto unit_size(tt::Gelu, auto x, auto result) { return std::fmax(std::fabs(x), std::fabs(result)); }
auto unit_size(auto, auto, auto result) { return std::fabs(result); }

/// The distance in units of the last place of `size`; infinite where one is NaN or the sign of a
/// zero differs (but not of a result that underflows where `size` is larger). An infinity stands for the power of two after the largest number.
template <class T, class Real>
double ulp_distance(T got, Real want, Real size) {
  using Limits = std::numeric_limits<T>;
  constexpr double far = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : far;
  const T rounded = static_cast<T>(want);
  if (got == rounded && (got != 0 || std::signbit(got) == std::signbit(rounded)))
    if (std::isinf(got) || got == 0) return 0;
  if (got == 0 && rounded == 0 && (want == 0 || size <= std::fabs(want))) return far;
  const Real beyond = std::ldexp(Real(1), Limits::max_exponent);
  const Real a = std::isinf(got) ? std::copysign(beyond, static_cast<Real>(got)) : Real(got);
  const Real b = std::fabs(want) > beyond ? std::copysign(beyond, want) : want;
  int exponent = 0;
  std::frexp(std::fmin(size, beyond / 2), &exponent);
  exponent = std::max(exponent, Limits::min_exponent);
  return static_cast<double>(std::fabs(a - b) / std::ldexp(Real(1), exponent - Limits::digits));
}

template <class F, class Real>
Real evaluate_exactly(Real a, Real b, Real c, Real d = 1) {
  if constexpr (F::info.arity == 1) return exact(F{}, a);
  else if constexpr (F::info.arity == 2) return exact(F{}, a, b);
  else if constexpr (F::info.arity == 3) return exact(F{}, a, b, c);
  else return exact(F{}, a, b, c, d);
}
/// The error of got = F(a, ...), in units of the last place. Below `floor` compositions count it in those of a number
/// so large, as their parts underflow first.
template <class F, class T, class Real>
double error_in_ulp(T got, T a, Real want) {
  const Real floor = F::info.opaque ? Real(0) : std::ldexp(Real(1), std::numeric_limits<T>::min_exponent * 3 / 4);
  return ulp_distance(got, want, std::fmax(unit_size(F{}, Real(a), want), floor));
}
template <class F, class T>
constexpr double allowed_ulp() {
  return sizeof(T) == 8 && F::info.max_ulp_f64 > 0 ? double(F::info.max_ulp_f64) : double(F::info.max_ulp);
}

}  // namespace exact_values
