// Every op of FurtherOps on Tensors: the bits of its scalar form, gradients against differences, identities of special functions, remainders. Programs are
// made at run time here: one for each op and dtype would take minutes to compile.
#include <algorithm>
#include <vector>

#include "exact.hpp"
#include "slopes.hpp"
#include "tensors.hpp"
#include "tt/tt.hpp"

using namespace exact_values;
using namespace op_samples;
using tt::Tensor;

namespace {

template <class F>
Tensor call_on(const Tensor* x) {
  constexpr tt::Elementwise<F> op{};
  if constexpr (F::info.arity == 1) return op(x[0]);
  else if constexpr (F::info.arity == 2) return op(x[0], x[1]);
  else if constexpr (F::info.arity == 3) return op(x[0], x[1], x[2]);
  else return op(x[0], x[1], x[2], x[3]);
}

template <class F, class T>
void check_bits(std::int64_t count) {
  Tensor x[4];
  Samples<T> sample;
  for (Tensor& t : x) {
    t = tt::empty({count}, tt::dtype_of<T>);
    for (T& element : t.elements<T>()) element = sample();
  }
  const Tensor got = call_on<F>(x);
  const auto at = [&](int k, std::int64_t i) { return x[k].data_ptr<T>()[i]; };
  for (std::int64_t i = 0; i < count; ++i) {
    const T want = scalar<F, T>(at(0, i), at(1, i), at(2, i), at(3, i));
    if (same(got.data_ptr<T>()[i], want)) continue;
    INFO(doctest::String(F::info.name) << ' ' << tt::name(tt::dtype_of<T>) << " of " << at(0, i) << ", " << at(1, i) << ", " << at(2, i));
    CHECK(got.data_ptr<T>()[i] == want);
    return;
  }
}

template <class F>
void check_gradient() {
  constexpr int n = 48, arity = F::info.arity;
  Tensor x[4];
  double* v[4];
  for (int k = 0; k < 4; ++k) {
    x[k] = tt::ones({n}, tt::DType::f64);
    v[k] = x[k].data_ptr<double>();
  }
  Samples<double> sample;
  const auto between = [&](double low, double high) { return low + (high - low) * static_cast<double>(sample.next() >> 11) * 0x1p-53; };
  int found = 0;
  for (int tries = 0; tries < 4000 && found < n; ++tries) {
    const double a = between(-4, 4), b = between(-3, 3), c = between(-3, 3);
    if (!is_smooth<F>(a, b, c)) continue;
    v[0][found] = a, v[1][found] = b, v[2][found++] = c;
  }
  INFO(doctest::String(F::info.name));
  CHECK(found == n);
  for (int k = 0; k < arity; ++k) x[k].requires_grad_();
  call_on<F>(x).sum().backward();
  for (int k = 0; k < arity; ++k) {
    const Tensor gradient = x[k].grad().defined() ? x[k].grad() : tt::zeros({n}, tt::DType::f64);
    CAPTURE(k);
    for (int i = 0; i < found; ++i) {
      const double want = slope<F>(v[0][i], v[1][i], v[2][i], k), got = gradient.data_ptr<double>()[i];
      if (std::fabs(got - want) < slope_tolerance * (1 + std::fabs(want))) continue;
      INFO("at " << v[0][i] << ", " << v[1][i] << ", " << v[2][i]);
      CHECK(got == doctest::Approx(want));
      break;
    }
  }
}

/// floor(a / b) and the rest, by 128-bit integers; 0 where b is 0.
template <class T>
struct Quotients {
  T floored = 0, rest = 0, towards_zero_rest = 0;
  Quotients(T a, T b) {
    if (b == 0) return;
    const __int128 x = a, y = b, q = x / y, r = x % y;
    const bool lower = r != 0 && (r < 0) != (y < 0);
    floored = static_cast<T>(lower ? q - 1 : q);
    rest = static_cast<T>(lower ? r + y : r);
    towards_zero_rest = static_cast<T>(r);
  }
};
template <class T>
std::vector<T> integers_at_edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> v;
  for (const T near : {T(0), L::max(), L::min(), T(L::max() / 2), T(L::max() / 3), T(1) << (4 * sizeof(T)), T(T(1) << (7 * sizeof(T) - 3)), T(1000)})
    for (T d = -3; d <= 3; ++d) {
      if ((near == L::max() && d > 0) || (near == L::min() && d < 0)) continue;
      v.push_back(T(near + d));
      if (near + d != L::min()) v.push_back(T(-(near + d)));
    }
  return v;
}

}  // namespace

TEST_CASE_TEMPLATE("integer quotients and rests are exact, wrap around, and are 0 by 0", T, std::int32_t, std::int64_t) {
  const std::vector<T> edges = integers_at_edges<T>();
  Samples<T> sample;
  std::vector<T> a, b;
  for (const T x : edges)
    for (const T y : edges) {
      a.push_back(x), b.push_back(y);
      a.push_back(sample()), b.push_back(T(sample() >> (sample() & 31)));
    }
  const std::int64_t n = static_cast<std::int64_t>(a.size());
  Tensor x = tt::empty({n}, tt::dtype_of<T>), y = tt::empty({n}, tt::dtype_of<T>);
  std::copy(a.begin(), a.end(), x.data_ptr<T>());
  std::copy(b.begin(), b.end(), y.data_ptr<T>());
  const Tensor floored = tt::floor_divide(x, y), rest = tt::remainder(x, y), towards_zero = tt::fmod(x, y);
  REQUIRE(floored.dtype() == tt::dtype_of<T>);
  int wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T p = x.data_ptr<T>()[i], q = y.data_ptr<T>()[i];
    const Quotients<T> want(p, q);
    INFO(p << " by " << q);
    const bool tensors_right = floored.data_ptr<T>()[i] == want.floored && rest.data_ptr<T>()[i] == want.rest &&
                               towards_zero.data_ptr<T>()[i] == want.towards_zero_rest;
    const bool scalars_right = scalar<tt::FloorDivide, T>(p, q, 0) == want.floored && scalar<tt::Remainder, T>(p, q, 0) == want.rest &&
                               scalar<tt::Fmod, T>(p, q, 0) == want.towards_zero_rest;
    if (!(tensors_right && scalars_right) && ++wrong < 5) CHECK((tensors_right && scalars_right));
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("further ops on Tensors give the bits of their scalar form", T, float, double) {
  for_each_op(tt::FurtherOps{}, []<class F>(tt::TypeList<F>) {
    for (const std::int64_t count : {1, 7, 4096}) check_bits<F, T>(count);
  });
}

TEST_CASE("derivatives of further ops agree with differences") {
  for_each_op(tt::FurtherOps{}, []<class F>(tt::TypeList<F>) { check_gradient<F>(); });
}

TEST_CASE("special functions keep their identities") {
  const tt::Tensor x = tt::linspace(-5, 5, 2001, {.dtype = tt::DType::f64});
  const auto close = [](const tt::Tensor& a, const tt::Tensor& b, double rtol) { return tt::allclose(a, b, rtol, 1e-14); };
  CHECK(close(tt::erfinv(tt::erf(x.slice(0, 500, 1501))), x.slice(0, 500, 1501), 1e-11));  // beyond, erf has too few digits left
  CHECK(close(tt::special::erfcx(x) * tt::exp(-(x * x)), tt::erfc(x), 1e-13));
  CHECK(close(tt::special::ndtri(tt::special::ndtr(x.slice(0, 0, 1001))), x.slice(0, 0, 1001), 1e-11));
  CHECK(close(tt::exp(tt::special::log_ndtr(x)), tt::special::ndtr(x), 1e-13));
  CHECK(tt::special::log_ndtr(tt::tensor(-40.0, tt::DType::f64)).item() == doctest::Approx(-804.608442013754).epsilon(1e-13));  // mpmath, 60 digits
  constexpr double pi = 3.14159265358979323846;
  const tt::Tensor p = tt::linspace(0.05, 20, 400, {.dtype = tt::DType::f64});
  CHECK(close(tt::lgamma(p + 1), tt::lgamma(p) + tt::log(p), 1e-12));
  CHECK(close(tt::digamma(p + 1), tt::digamma(p) + 1 / p, 1e-11));
  CHECK(close(tt::polygamma(1, p + 1), tt::polygamma(1, p) - 1 / (p * p), 1e-11));
  CHECK(close(tt::polygamma(1, 1.27 - p) + tt::polygamma(1, p - 0.27), tt::square(pi / tt::sin(pi * (p - 0.27))), 1e-9));
  CHECK(close(tt::polygamma(2, p + 1), tt::polygamma(2, p) + 2 / (p * p * p), 1e-10));
  CHECK(tt::lgamma(tt::tensor({0.5, 10.0, 100.5}, tt::DType::f64)).index({2}).item() == doctest::Approx(std::lgamma(100.5)).epsilon(1e-15));
  CHECK(std::isinf(tt::lgamma(tt::tensor(-3.0)).item()));
  CHECK(tt::lgamma(tt::tensor(-2.5, tt::DType::f64)).item() == doctest::Approx(std::lgamma(-2.5)).epsilon(1e-12));
  const tt::Tensor low = x.slice(0, 0, 2001, 7), high = low.flip({0});
  CHECK(close(tt::exp(tt::logaddexp(low, high)), tt::exp(low) + tt::exp(high), 1e-13));
  // I0' = I1, and the recurrence I0 - I1' = I1 / x
  tt::Tensor z = tt::linspace(0.1, 30, 300, {.dtype = tt::DType::f64}).requires_grad_();
  tt::special::i0e(z).sum().backward();
  CHECK(close(z.grad(), (tt::special::i1e(z) - tt::special::i0e(z)).detach(), 1e-12));
  CHECK(tt::i0(tt::tensor(1.0, tt::DType::f64)).item() == doctest::Approx(1.2660658777520083).epsilon(1e-14));
  CHECK(tt::special::i1(tt::tensor(1.0, tt::DType::f64)).item() == doctest::Approx(0.5651591039924851).epsilon(1e-14));
}

TEST_CASE_TEMPLATE("remainders of narrow integers are exact", T, std::int8_t, std::uint8_t, std::int16_t) {
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
      CHECK(tt::fmod(x, y).item() == m);
      CHECK(tt::remainder(x, y).item() == r);
      if (std::fabs(a / b) < 0x1p50) CHECK(tt::floor_divide(x, y).item() == std::round((a - r) / b));
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
