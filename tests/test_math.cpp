// Every op of ElementwiseOps against a long double reference, in ulp, on f32 and f64 scalars.
#include "op_accuracy.hpp"

namespace {

using namespace op_accuracy;

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
