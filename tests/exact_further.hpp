// References in a wider type for the ops of FurtherOps; see exact.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "tt/ops/list.hpp"

namespace exact_values {

template <class Real>
inline const Real exact_pi = std::acos(Real(-1));

auto exact(tt::Asin, auto x) { return std::asin(x); }
auto exact(tt::Acos, auto x) { return std::acos(x); }
auto exact(tt::Atan, auto x) { return std::atan(x); }
auto exact(tt::Sinh, auto x) { return std::sinh(x); }
auto exact(tt::Cosh, auto x) { return std::cosh(x); }
auto exact(tt::Asinh, auto x) { return std::asinh(x); }
auto exact(tt::Acosh, auto x) { return std::acosh(x); }
auto exact(tt::Atanh, auto x) { return std::atanh(x); }
auto exact(tt::Log10, auto x) { return std::log10(x); }
auto exact(tt::Atan2, auto y, decltype(y) x) { return std::atan2(y, x); }
auto exact(tt::Hypot, auto x, decltype(x) y) { return std::hypot(x, y); }
auto exact(tt::Deg2rad, auto x) { return x * (exact_pi<decltype(x)> / 180); }
auto exact(tt::Rad2deg, auto x) { return x * (180 / exact_pi<decltype(x)>); }
auto exact(tt::Frac, auto x) { return x - std::trunc(x); }
auto exact(tt::Logit, auto x) {
  const auto centred = 2 * x - 1;
  return std::fabs(centred) < decltype(x)(0.5) ? std::log1p(centred / (1 - x)) : std::log(x / (1 - x));
}
auto exact(tt::Sinc, auto x) {
  if (x == 0) return decltype(x)(1);
  const auto nearest = std::nearbyint(x), s = std::sin(exact_pi<decltype(x)> * (x - nearest));
  return (std::fmod(nearest, decltype(x)(2)) == 0 ? s : -s) / (exact_pi<decltype(x)> * x);
}
auto exact(tt::Logaddexp, auto a, decltype(a) b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return std::fmax(a, b) + std::log1p(std::exp(a == b ? 0 : -std::fabs(a - b)));
}
auto exact(tt::Logaddexp2, auto a, decltype(a) b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return std::fmax(a, b) + std::log1p(std::exp2(a == b ? 0 : -std::fabs(a - b))) / std::log(decltype(a)(2));
}
auto exact(tt::Xlogy, auto x, decltype(x) y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }
auto exact(tt::Xlog1py, auto x, decltype(x) y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log1p(y); }
auto exact(tt::Entr, auto x) {
  if (x < 0) return -std::numeric_limits<decltype(x)>::infinity();
  return x == 0 ? 0 : -x * std::log(x);
}

auto exact(tt::Hardtanh, auto x, decltype(x) low, decltype(x) high) {
  if (std::isnan(low) || std::isnan(high)) return low + high;
  const auto above = x < low ? low : x;
  return above > high ? high : above;
}
auto exact(tt::Relu6, auto x) { return x < 0 ? 0 : x > 6 ? 6 : x; }
auto exact(tt::Hardsigmoid, auto x) { return x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6; }
auto exact(tt::Logsigmoid, auto x) { return (x < 0 ? x : 0) - std::log1p(std::exp(-std::fabs(x))); }
auto exact(tt::Selu, auto x) {
  using Real = decltype(x);
  const Real scale = Real(1.0507009873554804934193349852946L), alpha = Real(1.6732632423543772848170429916717L);
  return x > 0 ? scale * x : scale * alpha * std::expm1(x);
}
auto exact(tt::Celu, auto x, decltype(x) alpha) { return x > 0 || x / alpha == 0 ? x : alpha * std::expm1(x / alpha); }
auto exact(tt::Softsign, auto x) { return x / (1 + std::fabs(x)); }
auto exact(tt::Tanhshrink, auto x) { return x - std::tanh(x); }
auto exact(tt::Softshrink, auto x, decltype(x) bound) { return x > bound ? x - bound : x < -bound ? x + bound : x * 0; }
auto exact(tt::Hardshrink, auto x, decltype(x) bound) { return x >= -bound && x <= bound ? 0 : x; }
auto exact(tt::Threshold, auto x, decltype(x) bound, decltype(x) value) { return x <= bound ? value : x; }

auto exact(tt::Copysign, auto x, decltype(x) sign) { return std::copysign(x, sign); }
auto exact(tt::Fmax, auto a, decltype(a) b) { return a >= b || std::isnan(b) ? a : b; }
auto exact(tt::Fmin, auto a, decltype(a) b) { return a <= b || std::isnan(b) ? a : b; }
auto exact(tt::Heaviside, auto x, decltype(x) values) { return x == 0 ? values : x > 0 ? 1 : 0; }
auto exact(tt::Lerp, auto a, decltype(a) b, decltype(a) weight) {
  return std::fabs(weight) < decltype(a)(0.5) ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}
auto exact(tt::Addcmul, auto x, decltype(x) a, decltype(x) b, decltype(x) value) { return x + value * a * b; }
auto exact(tt::Addcdiv, auto x, decltype(x) a, decltype(x) b, decltype(x) value) { return x + value * a / b; }
auto exact(tt::Fmod, auto a, decltype(a) b) { return std::fmod(a, b); }
auto exact(tt::Remainder, auto a, decltype(a) b) {
  const auto rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
auto exact(tt::FloorDivide, auto a, decltype(a) b) {
  if (b == 0) return a / b;
  const auto rest = std::fmod(a, b), towards_zero = std::nearbyint((a - rest) / b);
  const auto quotient = rest != 0 && (rest < 0) != (b < 0) ? towards_zero - 1 : towards_zero;
  return quotient == 0 ? std::copysign(quotient, a / b) : quotient;
}
auto exact(tt::Ldexp, auto x, decltype(x) exponent) { return x * std::exp2(exponent); }

auto exact(tt::Erfc, auto x) { return std::erfc(x); }
/// By the product where that is in range, then by the asymptotic series (NIST Digital Library of Mathematical Functions, 7.12.1).
auto exact(tt::Erfcx, auto x) {
  using Real = decltype(x);
  if (!(x > 20)) return std::exp(x * x) * std::erfc(x);
  Real sum = 1, term = 1;
  for (int k = 1; k < 30; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
  return sum / (x * std::sqrt(exact_pi<Real>));
}
auto exact(tt::Ndtr, auto x) { return std::erfc(-x * std::sqrt(decltype(x)(0.5))) / 2; }
auto exact(tt::LogNdtr, auto x) {
  const auto z = -x * std::sqrt(decltype(x)(0.5));
  return x < 0 ? std::log(exact(tt::Erfcx{}, z) / 2) - z * z : std::log1p(-std::erfc(-z) / 2);
}
/// The y with erfc(y) = d, 0 < d <= 1, by Newton's method on its logarithm.
auto exact_erfcinv(auto d) {
  using Real = decltype(d);
  Real y = d > Real(0.1) ? (1 - d) * std::sqrt(exact_pi<Real>) / 2 : std::sqrt(-std::log(d));
  for (int k = 0; k < 60; ++k) {
    const Real e = exact(tt::Erfcx{}, y);
    y += (std::log(e) - y * y - std::log(d)) * e * std::sqrt(exact_pi<Real>) / 2;
  }
  return y;
}
/// Near 0 by Newton's method on erf.
auto exact(tt::Erfinv, auto x) {
  using Real = decltype(x);
  if (x == 0 || std::isnan(x)) return x;
  if (std::fabs(x) >= 1) return std::fabs(x) > 1 ? std::numeric_limits<Real>::quiet_NaN() : x * std::numeric_limits<Real>::infinity();
  if (std::fabs(x) > Real(0.5)) return std::copysign(exact_erfcinv(1 - std::fabs(x)), x);
  Real y = x * std::sqrt(exact_pi<Real>) / 2;
  for (int k = 0; k < 8; ++k) y -= (std::erf(y) - x) * std::exp(y * y) * std::sqrt(exact_pi<Real>) / 2;
  return y;
}
auto exact(tt::Ndtri, auto p) {
  using Real = decltype(p);
  const Real root = std::sqrt(Real(2));
  constexpr Real infinite = std::numeric_limits<Real>::infinity();
  if (!(p > 0 && p < 1)) return p == 0 ? -infinite : p == 1 ? infinite : std::numeric_limits<Real>::quiet_NaN();
  if (std::fabs(p - Real(0.5)) < Real(0.25)) return root * exact(tt::Erfinv{}, 2 * p - 1);
  return p < Real(0.5) ? -root * exact_erfcinv(2 * p) : root * exact_erfcinv(2 * (1 - p));
}

auto exact(tt::Lgamma, auto x) { return std::lgamma(x); }
/// By recurrence up to 40 and the asymptotic series (NIST Digital Library of Mathematical Functions, 5.11.2); below 0 by reflection.
auto exact(tt::Digamma, auto x) {
  using Real = decltype(x);
  Real sum = 0;
  if (x < 0) {
    const Real r = x - std::nearbyint(x);
    if (r == 0) return std::numeric_limits<Real>::quiet_NaN();
    sum = -exact_pi<Real> / std::tan(exact_pi<Real> * r);
    x = 1 - x;
  }
  for (; x < 40; x += 1) sum -= 1 / x;
  const Real z = 1 / (x * x);
  const Real series = 1 / Real(120) - z * (1 / Real(252) - z * (1 / Real(240) - z * (1 / Real(132) - z * 691 / 32760)));
  return sum + std::log(x) - 1 / (2 * x) - z * (1 / Real(12) - z * series);
}
/// e^-|x| I(|x|): the power series, and the asymptotic one (NIST Digital Library of Mathematical Functions, 10.25.2 and 10.40.1).
auto exact_bessel(int order, auto x) {
  using Real = decltype(x);
  const Real a = std::fabs(x);
  if (a < 40) {
    Real term = order == 1 ? a / 2 : Real(1), sum = term;
    for (int k = 1; k < 150; ++k) sum += term *= a * a / (4 * Real(k) * Real(k + order));
    return std::exp(-a) * sum;
  }
  Real term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) sum += term *= -(4 * Real(order) - Real(2 * k - 1) * Real(2 * k - 1)) / (8 * Real(k) * a);
  return sum / std::sqrt(2 * exact_pi<Real> * a);
}
auto exact(tt::I0, auto x) { return std::isinf(x) ? std::fabs(x) : exact_bessel(0, x) * std::exp(std::fabs(x)); }
auto exact(tt::I0e, auto x) { return exact_bessel(0, x); }
auto exact(tt::I1, auto x) { return std::isinf(x) ? x : std::copysign(exact_bessel(1, x) * std::exp(std::fabs(x)), x); }
auto exact(tt::I1e, auto x) { return std::copysign(exact_bessel(1, x), x); }

// Sums that cancel count their error in units of an operand.
auto unit_size(tt::Logaddexp, auto x, auto result) { return std::fmax(std::fabs(x), std::fabs(result)); }
auto unit_size(tt::Logaddexp2, auto x, auto result) { return std::fmax(std::fabs(x), std::fabs(result)); }
auto unit_size(tt::Tanhshrink, auto x, auto result) { return std::fmax(std::fabs(x), std::fabs(result)); }
auto unit_size(tt::Lgamma, auto x, auto result) {
  return x < 0 ? std::fmax(decltype(x)(1), std::fmax(std::fabs(result), std::fabs(std::lgamma(-x)))) : std::fabs(result);
}
auto unit_size(tt::Digamma, auto, auto result) { return std::fmax(decltype(result)(1), std::fabs(result)); }

/// Is the error of f(a, b, c) held against the bound? Of every operand, unless the op says otherwise.
template <class T>
bool is_counted(tt::Celu, T, T alpha, T) { return !(alpha < 0); }
template <class T>
bool is_moderate(T x) { return std::fabs(x) < T(1e10) && (x == 0 || std::fabs(x) > T(1e-10)); }
template <class T>
bool is_counted(tt::Lerp, T a, T b, T weight) {
  return is_moderate(a) && is_moderate(b) && is_moderate(weight) && std::fabs(a + weight * (b - a)) > std::fmax(std::fabs(a), std::fabs(b));
}
template <class T>
bool is_counted(tt::Addcmul, T x, T a, T b) { return is_moderate(x) && is_moderate(a) && is_moderate(b) && std::fabs(x + a * b) > std::fabs(x) / 2; }
template <class T>
bool is_counted(tt::Addcdiv, T x, T a, T b) { return is_moderate(x) && is_moderate(a) && is_moderate(b) && std::fabs(x + a / b) > std::fabs(x) / 2; }
template <class T>
bool is_counted(tt::Ldexp, T, T exponent, T) { return std::fabs(exponent) < 60; }
template <class F, class T>
bool is_counted(F, T, T, T) { return true; }

}  // namespace exact_values
