// Ops of FurtherOps: f32 and f64 scalars against a wider reference in ulp, inverses and identities of special functions, SIMD against scalars bit for bit, and
// remainders of integers against the processor's.
#include "exact.hpp"
#include "op_samples.hpp"
#include "tensors.hpp"

using namespace exact_values;
using op_samples::Samples;

namespace {

using Real = long double;
using WithReference = tt::TypeList<tt::Atan, tt::Asin, tt::Acos, tt::Atan2, tt::Sinh, tt::Cosh, tt::Asinh, tt::Acosh, tt::Atanh, tt::Log10, tt::Deg2rad, tt::Rad2deg, tt::Frac, tt::Logit, tt::Hypot,
                                   tt::Xlogy, tt::Xlog1py, tt::Copysign, tt::Fmax, tt::Fmin, tt::Heaviside, tt::Relu6, tt::Hardsigmoid, tt::Softsign, tt::Erfc,
                                   tt::Entr>;

template <class F, class T>
void check_op() {
  double worst = 0;
  T at_a = 0, at_b = 0;
  Samples<T> sample;
  for (int i = 0; i < 6000; ++i) {
    const T a = sample(), b = F::info.arity > 1 ? sample() : T(0);
    const T got = op_samples::scalar<F, T>(a, b, T(0));
    const double distance = error_in_ulp<F>(got, a, evaluate_exactly<F, Real>(static_cast<Real>(a), static_cast<Real>(b), Real(0)));
    if (distance > worst) worst = distance, at_a = a, at_b = b;
  }
  INFO(doctest::String(F::info.name) << (sizeof(T) == 4 ? " f32" : " f64") << " at " << at_a << ", " << at_b);
  CHECK(worst <= allowed_ulp<F, T>());
}

}  // namespace

TEST_CASE_TEMPLATE("further ops are within their stated ulp", T, float, double) {
  op_samples::for_each_op(WithReference{}, []<class F>(tt::TypeList<F>) { check_op<F, T>(); });
}

TEST_CASE("special functions keep their identities") {
  const tt::Tensor x = tt::linspace(-5, 5, 2001, {.dtype = tt::DType::f64});
  const auto close = [](const tt::Tensor& a, const tt::Tensor& b, double rtol) { return tt::allclose(a, b, rtol, 1e-14); };
  CHECK(close(tt::erfinv(tt::erf(x.slice(0, 500, 1501))), x.slice(0, 500, 1501), 1e-11));  // beyond, erf has too few digits left
  CHECK(close(tt::erfcx(x) * tt::exp(-(x * x)), tt::erfc(x), 1e-13));
  CHECK(close(tt::ndtri(tt::ndtr(x.slice(0, 0, 1001))), x.slice(0, 0, 1001), 1e-11));
  CHECK(close(tt::exp(tt::log_ndtr(x)), tt::ndtr(x), 1e-13));
  CHECK(tt::log_ndtr(tt::tensor(-40.0, tt::DType::f64)).item() == doctest::Approx(-804.608442013754).epsilon(1e-13));  // mpmath, 60 digits
  const tt::Tensor p = tt::linspace(0.05, 20, 400, {.dtype = tt::DType::f64});
  CHECK(close(tt::lgamma(p + 1), tt::lgamma(p) + tt::log(p), 1e-12));
  CHECK(close(tt::digamma(p + 1), tt::digamma(p) + 1 / p, 1e-11));
  CHECK(close(tt::trigamma(p + 1), tt::trigamma(p) - 1 / (p * p), 1e-11));
  CHECK(close(tt::polygamma(2, p + 1), tt::polygamma(2, p) + 2 / (p * p * p), 1e-10));
  CHECK(tt::lgamma(tt::tensor({0.5, 10.0, 100.5}, tt::DType::f64)).index({2}).item() == doctest::Approx(std::lgamma(100.5)).epsilon(1e-15));
  CHECK(std::isinf(tt::lgamma(tt::tensor(-3.0)).item()));
  CHECK(tt::lgamma(tt::tensor(-2.5, tt::DType::f64)).item() == doctest::Approx(std::lgamma(-2.5)).epsilon(1e-12));
  const tt::Tensor low = x.slice(0, 0, 2001, 7), high = low.flip({0});
  CHECK(close(tt::exp(tt::logaddexp(low, high)), tt::exp(low) + tt::exp(high), 1e-13));
  // I0' = I1, and the recurrence I0 - I1' = I1 / x
  tt::Tensor z = tt::linspace(0.1, 30, 300, {.dtype = tt::DType::f64}).requires_grad_();
  tt::i0e(z).sum().backward();
  CHECK(close(z.grad(), (tt::i1e(z) - tt::i0e(z)).detach(), 1e-12));
  CHECK(tt::i0(tt::tensor(1.0, tt::DType::f64)).item() == doctest::Approx(1.2660658777520083).epsilon(1e-14));
  CHECK(tt::i1(tt::tensor(1.0, tt::DType::f64)).item() == doctest::Approx(0.5651591039924851).epsilon(1e-14));
}

TEST_CASE_TEMPLATE("remainders of integers are exact", T, std::int8_t, std::uint8_t, std::int16_t, std::int32_t, std::int64_t) {
  using L = std::numeric_limits<T>;
  std::vector<T> edges{0, 1, 2, 3, 7, L::max(), static_cast<T>(L::max() - 1), L::min(), static_cast<T>(L::min() + 1), static_cast<T>(L::max() / 3), static_cast<T>(L::max() / 2 + 1)};
  if (std::is_signed_v<T>) edges.insert(edges.end(), {static_cast<T>(-1), static_cast<T>(-2), static_cast<T>(-3), static_cast<T>(L::min() / 3)});
  std::uint64_t state = 1;
  for (int k = 0; k < 40; ++k) edges.push_back(static_cast<T>((state = state * 6364136223846793005u + 1442695040888963407u) >> 20));
  const auto n = static_cast<std::int64_t>(edges.size());
  const tt::Tensor x = tt::from_span(std::span<const T>(edges), {n, 1}), y = tt::from_span(std::span<const T>(edges), {1, n});
  const tt::Tensor q = tt::floor_divide(x, y), r = tt::remainder(x, y), m = tt::fmod(x, y);
  CHECK(q.dtype() == x.dtype());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const T a = edges[static_cast<std::size_t>(i)], b = edges[static_cast<std::size_t>(j)];
      const auto k = static_cast<std::size_t>(i * n + j);
      const bool overflows = std::is_signed_v<T> && a == L::min() && b == static_cast<T>(-1);
      const T whole = b == 0 ? T(0) : overflows ? a : static_cast<T>(a / b), rest = b == 0 || overflows ? T(0) : static_cast<T>(a % b);
      const bool off = rest != 0 && (rest < 0) != (b < 0);
      INFO(static_cast<std::int64_t>(a) << " and " << static_cast<std::int64_t>(b));
      CHECK(m.elements<T>()[k] == rest);
      CHECK(r.elements<T>()[k] == static_cast<T>(off ? rest + b : rest));
      CHECK(q.elements<T>()[k] == static_cast<T>(off ? whole - 1 : whole));
    }
}

TEST_CASE("remainders of floats are C's and Python's") {
  const std::vector<double> v{0.0, 0.3, 1.0, -1.0, 2.5, -7.25, 1e10, -3e-5, 5.0, -2.0};
  for (double a : v)
    for (double b : v) {
      if (b == 0) continue;
      const tt::Tensor x = tt::tensor(a, tt::DType::f64), y = tt::tensor(b, tt::DType::f64);
      const double m = std::fmod(a, b), r = m != 0 && (m < 0) != (b < 0) ? m + b : m;
      INFO(a << " and " << b);
      if (std::fabs(a / b) < 0x1p50) {
        CHECK(tt::fmod(x, y).item() == m);
        CHECK(tt::remainder(x, y).item() == r);
        CHECK(tt::floor_divide(x, y).item() == std::round((a - r) / b));
      }
    }
}

TEST_CASE("frexp, nextafter, nan_to_num and predicates") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const tt::Tensor x = tt::tensor({0.0, -0.75, 12.0, 4.9406564584124654e-324, 1e300, inf, nan}, tt::DType::f64);
  const auto parts = tt::call_results("frexp", {x});
  for (int k = 0; k < 5; ++k) {
    int e = 0;
    const double m = std::frexp(x.index({k}).item(), &e);
    CHECK(parts[0].index({k}).item() == m);
    CHECK(parts[1].index({k}).item<int>() == e);
  }
  CHECK(numbers(tt::isnan(x)) == Numbers{0, 0, 0, 0, 0, 0, 1});
  CHECK(numbers(tt::isinf(x)) == Numbers{0, 0, 0, 0, 0, 1, 0});
  CHECK(numbers(tt::isfinite(x)) == Numbers{1, 1, 1, 1, 1, 0, 0});
  CHECK(numbers(tt::signbit(tt::tensor({-0.0, 0.0, -3.0}))) == Numbers{1, 0, 1});
  CHECK(numbers(tt::nan_to_num(x, 7, 8)).back() == 7);
  CHECK(tt::nan_to_num(x).index({5}).item() == std::numeric_limits<double>::max());
  const tt::Tensor one = tt::tensor({1.0, -1.0, 0.0}, tt::DType::f64), up = tt::tensor(inf, tt::DType::f64);
  CHECK(numbers(tt::nextafter(one, up)) == Numbers{std::nextafter(1.0, inf), std::nextafter(-1.0, inf), std::nextafter(0.0, inf)});
  CHECK(numbers(tt::nextafter(one, -up)) == Numbers{std::nextafter(1.0, -inf), std::nextafter(-1.0, -inf), std::nextafter(0.0, -inf)});
  CHECK(numbers(tt::isclose(tt::tensor({1.0, nan, inf}), tt::tensor({1.000001, nan, inf}))) == Numbers{1, 0, 1});
}
