// Every op of FurtherOps against a long double reference, in ulp, on f32 and f64 scalars; their rules against slopes.
#include "op_accuracy.hpp"

namespace {

using namespace op_accuracy;

template <class F>
double at(double a, double b = 0, double c = 0) {
  return evaluate<F, double>(a, b, c);
}
/// The largest error of F(a, 1) in ulp, of numbers a between two.
template <class F, class T>
double largest_error(double low, double high) {
  double worst = 0;
  std::mt19937_64 random(7);
  for (int i = 0; i < 1 << 14; ++i) {
    const T a = static_cast<T>(low + (high - low) * 0x1p-53 * static_cast<double>(random() >> 11));
    worst = std::fmax(worst, error_in_ulp<F>(evaluate<F, T>(a, 1, 0), a, evaluate_exactly<F, Real>(a, 1, 0)));
  }
  return worst;
}
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("every further op is within its stated ulp of the exact value") { check_all(tt::FurtherOps{}, sample_count / 16); }

TEST_CASE("every further derivative rule is the slope of its op") { check_rules(tt::FurtherOps{}); }

TEST_CASE("log10 is exact for powers of ten") {
  for (int n = 0; n <= 22; ++n) CHECK(at<tt::Log10>(std::pow(10.0, n)) == n);
  for (int n = 0; n <= 10; ++n) CHECK(evaluate<tt::Log10>(std::pow(10.0f, static_cast<float>(n)), 0.0f, 0.0f) == static_cast<float>(n));
}

TEST_CASE_TEMPLATE("inverse trigonometric functions are within their stated ulp where parts of pi are added", T, float, double) {
  for (const double low : {0.4, 0.45, 0.5, 0.8, 0.825}) {  // atan had 2.3 ulp of f64 below 0.5
    CAPTURE(low);
    const double high = low + 0.05;
    CHECK(largest_error<tt::Asin, T>(low, high) <= allowed_ulp<tt::Asin, T>());
    CHECK(largest_error<tt::Acos, T>(low, high) <= allowed_ulp<tt::Acos, T>());
    CHECK(largest_error<tt::Atan, T>(low, high) <= allowed_ulp<tt::Atan, T>());
    CHECK(largest_error<tt::Atan2, T>(low, high) <= allowed_ulp<tt::Atan2, T>());
  }
}

TEST_CASE("sums of logarithms keep equal infinities and NaN") {
  CHECK(at<tt::Logaddexp>(-inf, -inf) == -inf);
  CHECK(at<tt::Logaddexp>(inf, inf) == inf);
  CHECK(at<tt::Logaddexp2>(-inf, 2) == 2);
  CHECK(std::isnan(at<tt::Logaddexp>(quiet_nan, inf)));
  CHECK(std::isnan(at<tt::Xlogy>(0, quiet_nan)));
  CHECK(at<tt::Xlogy>(0, -inf) == 0);
}
