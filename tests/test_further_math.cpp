// Every op of FurtherOps against a long double reference, in ulp, on f32 and f64 scalars; their rules against slopes.
#include "op_accuracy.hpp"

namespace {

using namespace op_accuracy;

template <class F>
double at(double a, double b = 0, double c = 0) {
  return evaluate<F, double>(a, b, c);
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

TEST_CASE("sums of logarithms keep equal infinities and NaN") {
  CHECK(at<tt::Logaddexp>(-inf, -inf) == -inf);
  CHECK(at<tt::Logaddexp>(inf, inf) == inf);
  CHECK(at<tt::Logaddexp2>(-inf, 2) == 2);
  CHECK(std::isnan(at<tt::Logaddexp>(quiet_nan, inf)));
  CHECK(std::isnan(at<tt::Xlogy>(0, quiet_nan)));
  CHECK(at<tt::Xlogy>(0, -inf) == 0);
}
