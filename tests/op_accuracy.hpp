// Ops from a list against long double references: errors in ulp on f32 and f64 scalars, and derivative rules
// against slopes.
#pragma once
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "exact.hpp"

namespace op_accuracy {

using namespace exact_values;
using Real = long double;

TT_KERNELS_BEGIN
template <class F, class T>
TT_NOINLINE T evaluate(T a, T b, T c, T d = T(1)) {
  const tt::Num<T> x = a, y = b, z = c, w = d;
  if constexpr (F::info.arity == 1) return tt::NumFront::run<F, T>(x).value;
  else if constexpr (F::info.arity == 2) return tt::NumFront::run<F, T>(x, y).value;
  else if constexpr (F::info.arity == 3) return tt::NumFront::run<F, T>(x, y, z).value;
  else return tt::NumFront::run<F, T>(x, y, z, w).value;
}
TT_KERNELS_END

template <class T>
bool same_bits_or_nan(T a, T b) {
  return (a == b && std::signbit(a) == std::signbit(b)) || (a != a && b != b);
}
template <class T>
std::vector<T> edge_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> v = {
      0, 1, T(0.5), 2, 3, T(1.5), T(1e-3), 20, T(88.72284), T(103.97), T(709.7827), T(745.13),
      Limits::infinity(), Limits::quiet_NaN(), Limits::max(), Limits::min(), Limits::denorm_min(),
      Limits::min() / 3, Limits::epsilon(), 1 - Limits::epsilon(), 1 + Limits::epsilon(), T(1e10),
      T(1e22), T(0x1p51), T(0x1p78), T(0x1p105), T(0x1p127), T(16777215), T(9007199254740991),
      T(8388607.5), T(1.5707963267948966), T(3.141592653589793),
      // The hardest arguments of sin and cos (Muller, Elementary Functions).
      T(16367173) * T(0x1p72), T(sizeof(T) == 8 ? std::ldexp(6381956970095103.0, 797) : 1)};
  for (std::size_t n = v.size(), i = 0; i < n; ++i) v.push_back(-v[i]);
  return v;
}

/// Half of the numbers are any bit pattern, half of them are between -12 and 12.
template <class T>
struct Samples {
  std::mt19937_64 random{2024};
  T operator()() {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const std::uint64_t r = random();
    if (r & 1) return std::bit_cast<T>(static_cast<Bits>(r >> (64 - 8 * sizeof(T))));
    return static_cast<T>(static_cast<double>(r >> 11) * (24 * 0x1p-53) - 12);
  }
};

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr int sample_count = 1 << 18;
#else
inline constexpr int sample_count = 1 << 13;
#endif

template <class F, class T>
void check_op(int samples = sample_count) {
  double worst = 0;
  T worst_a = 0, worst_b = 0, worst_c = 0;
  const auto check = [&](T a, T b, T c) {
    if (!is_counted(F{}, a, b, c)) return;
    const double distance = error_in_ulp<F>(evaluate<F, T>(a, b, c), a, evaluate_exactly<F, Real>(a, b, c));
    if (distance > worst) worst = distance, worst_a = a, worst_b = b, worst_c = c;
  };
  const std::vector<T> edges = edge_values<T>();
  for (T a : edges) {
    if constexpr (F::info.arity == 1) check(a, 0, 0);
    else
      for (T b : edges) check(a, b, T(4));
  }
  Samples<T> sample;
  for (int i = 0; i < samples; ++i) {
    const T a = sample();
    check(a, F::info.arity > 1 ? sample() : T(0), F::info.arity > 2 ? sample() : T(0));
  }
  INFO(doctest::String(F::info.name) << (sizeof(T) == 4 ? " f32" : " f64") << " at " << worst_a
                                     << ", " << worst_b << ", " << worst_c);
  CHECK(worst <= allowed_ulp<F, T>());
}

template <class... F>
void check_all(tt::TypeList<F...>, int samples = sample_count) {
  (check_op<F, float>(samples), ...);
  (check_op<F, double>(samples), ...);
}

using N = tt::Num<double>;

template <class F>
constexpr bool has_rule() {
  return requires(N x) { F::derivative(x, x, x); }
  || requires(N x) { F::derivative(x, x, x, x); };
}

/// The slope of the exact op along one operand, by central difference.
template <class F>
double slope(double a, double b, int operand) {
  const Real h = 1e-6L, da = operand == 0 ? h : 0, db = operand == 1 ? h : 0;
  return static_cast<double>(
      (evaluate_exactly<F, Real>(a + da, b + db, 0) - evaluate_exactly<F, Real>(a - da, b - db, 0)) / (2 * h));
}

template <class F>
void check_rule_at(double a, double b) {
  const double grad = 1.25, y = static_cast<double>(evaluate_exactly<F, Real>(a, b, 0));
  if (!std::isfinite(y)) return;
  INFO(doctest::String(F::info.name) << " at " << a << ", " << b);
  if constexpr (F::info.arity == 1) {
    CHECK(F::derivative(N(a), N(y), N(grad)).value ==
          doctest::Approx(grad * slope<F>(a, b, 0)).epsilon(1e-8));
  } else {
    const auto gradients = F::derivative(N(a), N(b), N(y), N(grad));
    CHECK(gradients.of[0].value == doctest::Approx(grad * slope<F>(a, b, 0)).epsilon(1e-8));
    if (a > 0)
      CHECK(gradients.of[1].value == doctest::Approx(grad * slope<F>(a, b, 1)).epsilon(1e-8));
  }
}
template <class F>
void check_rule() {
  static_assert(has_rule<F>() || !F::info.opaque, "an opaque op needs a derivative rule");
  if constexpr (has_rule<F>())
    for (double a : {-7.25, -2.5, -0.75, -0.125, 0.0625, 0.375, 1.25, 2.125, 6.5})
      for (double b : {-2.0, 3.0}) check_rule_at<F>(a, b);
}
template <class... F>
void check_rules(tt::TypeList<F...>) {
  (check_rule<F>(), ...);
}

}  // namespace op_accuracy
