// What ops should give: references in a wider type, and the error of a result in ulp.
// A new op of ElementwiseOps needs its `exact` here and nothing else.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "tt/ops/list.hpp"

namespace exact_values {

template <class Real>
Real exact(tt::Exp, Real x) { return std::exp(x); }
template <class Real>
Real exact(tt::Exp2, Real x) { return std::exp2(x); }
template <class Real>
Real exact(tt::Expm1, Real x) { return std::expm1(x); }
template <class Real>
Real exact(tt::Sigmoid, Real x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
template <class Real>
Real exact(tt::Tanh, Real x) { return std::tanh(x); }
template <class Real>
Real exact(tt::Log, Real x) { return std::log(x); }
template <class Real>
Real exact(tt::Log2, Real x) { return std::log2(x); }
template <class Real>
Real exact(tt::Log1p, Real x) { return std::log1p(x); }
template <class Real>
Real exact(tt::Pow, Real a, Real b) { return std::pow(a, b); }
template <class Real>
Real exact(tt::Sin, Real x) { return std::sin(x); }
template <class Real>
Real exact(tt::Cos, Real x) { return std::cos(x); }
template <class Real>
Real exact(tt::Tan, Real x) { return std::tan(x); }
template <class Real>
Real exact(tt::Erf, Real x) { return std::erf(x); }
template <class Real>
Real exact(tt::Relu, Real x) { return x <= 0 ? 0 : x; }
template <class Real>
Real exact(tt::LeakyRelu, Real x, Real slope) { return x > 0 ? x : slope * x; }
template <class Real>
Real exact(tt::Silu, Real x) { return x / (1 + std::exp(-x)); }
template <class Real>
Real exact(tt::Gelu, Real x) { return x * std::erfc(-x * std::sqrt(Real(0.5))) / 2; }
template <class Real>
Real exact(tt::GeluTanh, Real x) {
  return x * exact(tt::Sigmoid{}, std::sqrt(8 / std::acos(Real(-1))) * (x + Real(0.044715L) * x * x * x));
}
template <class Real>
Real exact(tt::Softplus, Real x) { return x > 20 ? x : std::log1p(std::exp(x)); }
template <class Real>
Real exact(tt::Elu, Real x, Real alpha) { return x > 0 ? x : alpha * std::expm1(x); }
template <class Real>
Real exact(tt::Mish, Real x) { return x * std::tanh(exact(tt::Softplus{}, x)); }
template <class Real>
Real exact(tt::Hardswish, Real x) {
  const Real gate = x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3;
  return x * (gate / 6);
}
template <class Real>
Real exact(tt::Sign, Real x) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }
template <class Real>
Real exact(tt::Clamp, Real x, Real low, Real high) {
  const Real above = x < low ? low : x;
  return above > high ? high : above;
}
template <class Real>
Real exact(tt::Square, Real x) { return x * x; }
template <class Real>
Real exact(tt::Reciprocal, Real x) { return 1 / x; }
template <class Real>
Real exact(tt::Rsqrt, Real x) { return 1 / std::sqrt(x); }

/// The size in whose last places the error is counted: that of the result, unless the op says
/// otherwise, and for compositions not less than `floor`, as their parts underflow first.
template <class Real>
Real unit_size(tt::Gelu, Real x, Real result) { return std::fmax(std::fabs(x), std::fabs(result)); }
template <class Real>
Real unit_size(auto, Real, Real result) { return std::fabs(result); }

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
