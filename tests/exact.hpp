// What ops should give: references in a wider type, and the error of a result in ulp.
// A new op of ElementwiseOps needs its `exact` here and nothing else.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

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
// Of FurtherOps, those that the standard library has or that are a formula:
auto exact(tt::Atan, auto x) { return std::atan(x); }
auto exact(tt::Asin, auto x) { return std::asin(x); }
auto exact(tt::Acos, auto x) { return std::acos(x); }
auto exact(tt::Atan2, auto y, decltype(y) x) { return std::atan2(y, x); }
auto exact(tt::Sinh, auto x) { return std::sinh(x); }
auto exact(tt::Cosh, auto x) { return std::cosh(x); }
auto exact(tt::Asinh, auto x) { return std::asinh(x); }
auto exact(tt::Acosh, auto x) { return std::acosh(x); }
auto exact(tt::Atanh, auto x) { return std::atanh(x); }
auto exact(tt::Log10, auto x) { return std::log10(x); }
auto exact(tt::Deg2rad, auto x) { return x * (std::acos(decltype(x)(-1)) / 180); }
auto exact(tt::Rad2deg, auto x) { return x * (180 / std::acos(decltype(x)(-1))); }
auto exact(tt::Frac, auto x) { return x - std::trunc(x); }
auto exact(tt::Logit, auto x) { return std::log(x / (1 - x)); }
auto exact(tt::Hypot, auto a, decltype(a) b) { return std::hypot(a, b); }
auto exact(tt::Xlogy, auto a, decltype(a) b) { return a == 0 && !std::isnan(b) ? 0 : a * std::log(b); }
auto exact(tt::Xlog1py, auto a, decltype(a) b) { return a == 0 && !std::isnan(b) ? 0 : a * std::log1p(b); }
auto exact(tt::Copysign, auto a, decltype(a) b) { return std::copysign(a, b); }
auto exact(tt::Fmax, auto a, decltype(a) b) { return std::isnan(b) || a >= b ? a : b; }
auto exact(tt::Fmin, auto a, decltype(a) b) { return std::isnan(b) || a <= b ? a : b; }
auto exact(tt::Heaviside, auto a, decltype(a) v) { return a == 0 ? v : std::isnan(a) ? a : a > 0 ? 1 : 0; }
auto exact(tt::Relu6, auto x) { return std::isnan(x) ? x : x <= 0 ? 0 : x > 6 ? 6 : x; }
auto exact(tt::Hardsigmoid, auto x) { return exact(tt::Relu6{}, x + 3) / 6; }
auto exact(tt::Logsigmoid, auto x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }
auto exact(tt::Softsign, auto x) { return x / (1 + std::fabs(x)); }
auto exact(tt::Erfc, auto x) { return std::erfc(x); }
auto exact(tt::Entr, auto x) { return std::isnan(x) ? x : x > 0 ? -x * std::log(x) : x == 0 ? 0 : -std::numeric_limits<decltype(x)>::infinity(); }

/// The size in whose last places the error is counted: that of the result, unless the op says
/// otherwise, and for compositions not less than `floor`, as their parts underflow first.
auto unit_size(tt::Gelu, auto x, auto result) { return std::fmax(std::fabs(x), std::fabs(result)); }
auto unit_size(auto, auto, auto result) { return std::fabs(result); }

/// The distance in units of the last place of `size`; infinite where one is NaN or the sign of a
/// zero differs. An infinity stands for the power of two after the largest number.
template <class T, class Real>
double ulp_distance(T got, Real want, Real size) {
  using Limits = std::numeric_limits<T>;
  constexpr double far = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : far;
  const T rounded = static_cast<T>(want);
  if (got == rounded && (got != 0 || std::signbit(got) == std::signbit(rounded)))
    if (std::isinf(got) || got == 0) return 0;
  if (got == 0 && rounded == 0) return far;
  const Real beyond = std::ldexp(Real(1), Limits::max_exponent);
  const Real a = std::isinf(got) ? std::copysign(beyond, static_cast<Real>(got)) : Real(got);
  const Real b = std::fabs(want) > beyond ? std::copysign(beyond, want) : want;
  int exponent = 0;
  std::frexp(std::fmin(size, beyond / 2), &exponent);
  exponent = std::max(exponent, Limits::min_exponent);
  return static_cast<double>(std::fabs(a - b) / std::ldexp(Real(1), exponent - Limits::digits));
}

template <class F, class Real>
Real evaluate_exactly(Real a, Real b, Real c) {
  if constexpr (F::info.arity == 1) return exact(F{}, a);
  else if constexpr (F::info.arity == 2) return exact(F{}, a, b);
  else return exact(F{}, a, b, c);
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
