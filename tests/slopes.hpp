// Slopes of ops by differences, and where there are any.
#pragma once
#include "op_samples.hpp"

namespace op_samples {

/// d f / d argument `k` by the five-point rule; its error is h^4 / 30 of the fifth derivative plus
/// about 4 eps |f| / h.
template <class F>
double slope(double a, double b, double c, int k, double w = 1) {
  const double h = 1e-3;
  const auto at = [&](double d) {
    return scalar<F, double>(k == 0 ? a + d : a, k == 1 ? b + d : b, k == 2 ? c + d : c, k == 3 ? w + d : w);
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}
/// Neither a kink nor a pole within 4 h: slopes on both sides agree, as they would not at a jump.
template <class F>
bool is_smooth(double a, double b, double c) {
  const double y = scalar<F, double>(a, b, c);
  if (!std::isfinite(y)) return false;
  for (int k = 0; k < F::info.arity && k < 3; ++k) {
    const double d = 4e-3;
    const double left = slope<F>(k == 0 ? a - d : a, k == 1 ? b - d : b, k == 2 ? c - d : c, k);
    const double right = slope<F>(k == 0 ? a + d : a, k == 1 ? b + d : b, k == 2 ? c + d : c, k);
    if (!(std::fabs(left - right) < 0.05 * (1 + std::fabs(left)))) return false;
  }
  return true;
}
inline constexpr double slope_tolerance = 1e-7;

}  // namespace op_samples
