// Every op of ElementwiseOps against a long double reference, in ulp, on f32 and f64 scalars.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "exact.hpp"

namespace {

using namespace exact_values;
using Real = long double;

TT_KERNELS_BEGIN
template <class F, class T>
TT_NOINLINE T evaluate(T a, T b, T c) {
  const tt::Num<T> x = a, y = b, z = c;
  if constexpr (F::info.arity == 1) return tt::NumFront::run<F, T>(x).value;
  else if constexpr (F::info.arity == 2) return tt::NumFront::run<F, T>(x, y).value;
  else return tt::NumFront::run<F, T>(x, y, z).value;
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
constexpr int sample_count = 1 << 18;
#else
constexpr int sample_count = 1 << 13;
#endif

template <class F, class T>
void check_op() {
  double worst = 0;
  T worst_a = 0, worst_b = 0, worst_c = 0;
  const auto check = [&](T a, T b, T c) {
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
  for (int i = 0; i < sample_count; ++i) {
    const T a = sample();
    check(a, F::info.arity > 1 ? sample() : T(0), F::info.arity > 2 ? sample() : T(0));
  }
  INFO(doctest::String(F::info.name) << (sizeof(T) == 4 ? " f32" : " f64") << " at " << worst_a
                                     << ", " << worst_b << ", " << worst_c);
  CHECK(worst <= allowed_ulp<F, T>());
}

template <class... F>
void check_all(tt::TypeList<F...>) {
  (check_op<F, float>(), ...);
  (check_op<F, double>(), ...);
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
  if (std::isnan(y)) return;
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

template <class F>
double at(double a, double b = 0, double c = 0) {
  return evaluate<F, double>(a, b, c);
}
template <class F>
float at_f32(float a, float b = 0, float c = 0) {
  return evaluate<F, float>(a, b, c);
}
template <class T>
bool is_minus_zero(T x) {
  return x == 0 && std::signbit(x);
}

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("every op is within its stated ulp of the exact value") {
  check_all(tt::ElementwiseOps{});
}

TEST_CASE("every derivative rule is the slope of its op") { check_rules(tt::ElementwiseOps{}); }

TEST_CASE("exp2 and log2 are exact for powers of two, down to the denormals") {
  for (int n = -1074; n < 1024; ++n) {
    CHECK(at<tt::Exp2>(n) == std::ldexp(1.0, n));
    CHECK(at<tt::Log2>(std::ldexp(1.0, n)) == n);
  }
  for (int n = -149; n < 128; ++n) {
    CHECK(at_f32<tt::Exp2>(static_cast<float>(n)) == std::ldexp(1.0f, n));
    CHECK(at_f32<tt::Log2>(std::ldexp(1.0f, n)) == static_cast<float>(n));
  }
}

TEST_CASE("exp overflows and underflows where the exact value does") {
  CHECK(at_f32<tt::Exp>(0x1.62e42ep+6f) < std::numeric_limits<float>::infinity());
  CHECK(at_f32<tt::Exp>(0x1.62e43p+6f) == std::numeric_limits<float>::infinity());
  CHECK(at_f32<tt::Exp>(-103.97f) == std::numeric_limits<float>::denorm_min());
  CHECK(at_f32<tt::Exp>(-104.0f) == 0);
  CHECK(at<tt::Exp>(-inf) == 0);
  CHECK(at<tt::Exp>(0) == 1);
}

TEST_CASE("odd functions keep the sign of zero") {
  CHECK(is_minus_zero(at_f32<tt::Expm1>(-0.0f)));
  CHECK(is_minus_zero(at_f32<tt::Log1p>(-0.0f)));
  CHECK(is_minus_zero(at_f32<tt::Tanh>(-0.0f)));
  CHECK(is_minus_zero(at_f32<tt::Sin>(-0.0f)));
  CHECK(is_minus_zero(at_f32<tt::Tan>(-0.0f)));
  CHECK(is_minus_zero(at_f32<tt::Erf>(-0.0f)));
  CHECK(is_minus_zero(at_f32<tt::Pow>(-0.0f, 3.0f)));
  CHECK(is_minus_zero(at_f32<tt::Reciprocal>(-std::numeric_limits<float>::infinity())));
}

TEST_CASE("logarithms have a pole at 0 and no value below") {
  CHECK(at<tt::Log>(0) == -inf);
  CHECK(at<tt::Log>(-0.0) == -inf);
  CHECK(std::isnan(at<tt::Log>(-1)));
  CHECK(std::isnan(at<tt::Log>(-inf)));
  CHECK(at<tt::Log1p>(-1) == -inf);
  CHECK(std::isnan(at<tt::Log1p>(-1.5)));
  CHECK(at<tt::Log>(1) == 0);
  CHECK(!std::signbit(at<tt::Log>(1)));
}

TEST_CASE("sigmoid, tanh and erf reach their limits") {
  CHECK(at<tt::Sigmoid>(inf) == 1);
  CHECK(at<tt::Sigmoid>(-inf) == 0);
  CHECK(at<tt::Sigmoid>(0) == 0.5);
  CHECK(at_f32<tt::Sigmoid>(-103.0f) > 0);
  CHECK(at<tt::Tanh>(inf) == 1);
  CHECK(at<tt::Tanh>(-inf) == -1);
  CHECK(at<tt::Erf>(inf) == 1);
  CHECK(at<tt::Erf>(-30) == -1);
}

TEST_CASE("sin and cos are right for huge arguments and NaN at infinity") {
  CHECK(at<tt::Sin>(1e22) == doctest::Approx(-0.8522008497671888).epsilon(1e-15));
  // The double nearest to a multiple of pi/2 (Muller, Elementary Functions, ch. 11).
  CHECK(at<tt::Cos>(std::ldexp(6381956970095103.0, 797)) ==
        doctest::Approx(-4.6871659242546277e-19).epsilon(1e-15));
  CHECK(std::isnan(at<tt::Sin>(inf)));
  CHECK(std::isnan(at<tt::Cos>(-inf)));
  CHECK(std::isnan(at_f32<tt::Tan>(std::numeric_limits<float>::infinity())));
  CHECK(at<tt::Cos>(0) == 1);
}

TEST_CASE("pow has the special cases of C99") {
  CHECK(at<tt::Pow>(1, quiet_nan) == 1);
  CHECK(at<tt::Pow>(quiet_nan, 0) == 1);
  CHECK(at<tt::Pow>(quiet_nan, -0.0) == 1);
  CHECK(std::isnan(at<tt::Pow>(-1, quiet_nan)));
  CHECK(at<tt::Pow>(-1, inf) == 1);
  CHECK(at<tt::Pow>(-1, -inf) == 1);
  CHECK(at<tt::Pow>(-2, 3) == -8);
  CHECK(at<tt::Pow>(-2, 2) == 4);
  CHECK(std::isnan(at<tt::Pow>(-2, 0.5)));
  CHECK(at<tt::Pow>(0, -1) == inf);
  CHECK(at<tt::Pow>(-0.0, -1) == -inf);
  CHECK(at<tt::Pow>(-0.0, -2) == inf);
  CHECK(is_minus_zero(at<tt::Pow>(-inf, -3)));
  CHECK(at<tt::Pow>(-inf, 3) == -inf);
  CHECK(at<tt::Pow>(-inf, 0.5) == inf);
  CHECK(at<tt::Pow>(0.5, inf) == 0);
  CHECK(at<tt::Pow>(0.5, -inf) == inf);
  CHECK(at_f32<tt::Pow>(-3.0f, 16777217.0f) == std::numeric_limits<float>::infinity());
  CHECK(at<tt::Pow>(3, 4) == 81);
}

TEST_CASE("first and second powers are exact, and third ones of f32") {
  for (const float x : edge_values<float>()) {
    const double wide = x;
    CHECK(same_bits_or_nan(evaluate<tt::Pow>(x, 1.0f, 0.0f), x));
    CHECK(same_bits_or_nan(evaluate<tt::Pow>(x, 2.0f, 0.0f), x * x));
    CHECK(same_bits_or_nan(evaluate<tt::Pow>(x, 3.0f, 0.0f), static_cast<float>(wide * wide * wide)));
  }
  for (const double x : edge_values<double>()) CHECK(same_bits_or_nan(evaluate<tt::Pow>(x, 2.0, 0.0), x * x));
}

TEST_CASE("the gradient of pow is 0 where PyTorch's is") {
  const auto zero_power = tt::Pow::derivative(N(0.0), N(0.0), N(1.0), N(1.0));
  CHECK(zero_power.of[0].value == 0);
  CHECK(zero_power.of[1].value == 0);
  CHECK(tt::Pow::derivative(N(0.0), N(2.0), N(0.0), N(1.0)).of[0].value == 0);
}

TEST_CASE("activations treat kinks, NaN and crossed bounds as PyTorch does") {
  CHECK(std::isnan(at<tt::Relu>(quiet_nan)));
  CHECK(at<tt::Relu>(-inf) == 0);
  CHECK(at<tt::Sign>(quiet_nan) == 0);
  CHECK(at<tt::Sign>(-0.0) == 0);
  CHECK(std::isnan(at<tt::Clamp>(quiet_nan, 0, 1)));
  CHECK(at<tt::Clamp>(0.5, 2, 1) == 1);
  CHECK(at<tt::Clamp>(-3, 2, 1) == 1);
  CHECK(at<tt::Softplus>(inf) == inf);
  CHECK(tt::Hardswish::derivative(N(-3.0), N(0.0), N(1.0)).value == 0);
  CHECK(tt::Hardswish::derivative(N(3.0), N(3.0), N(1.0)).value == 1);
  CHECK(tt::Silu::derivative(N(-800.0), N(0.0), N(1.0)).value == 0);
  CHECK(tt::leaky_relu(N(-2.0)).value == -0.02);
  CHECK(tt::elu(N(2.0)).value == 2);
  CHECK(tt::relu(tt::Num<std::int32_t>(-7)).value == 0);
  CHECK(tt::clamp(tt::Num<std::int32_t>(9), 0, 6).value == 6);
}
