// Matrices of fixed small sizes: what is multiplied again, against products and sums written out; singular ones; the same names beside Tensors'.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tt/tt.hpp"

namespace {

template <class T, std::int64_t N>
tt::Array<T, N, N> made(unsigned seed) {
  std::mt19937 g(seed);
  std::uniform_real_distribution<double> d(-1, 1);
  tt::Array<T, N, N> a;
  for (T& x : a) x = static_cast<T>(d(g));
  return a;
}
template <class A>
double largest(const A& a) {
  double m = 0;
  for (const auto x : a) m = std::fmax(m, std::fabs(static_cast<double>(x)));
  return m;
}
/// By the first row's minors.
double leibniz(const std::vector<double>& m, int n) {
  if (n == 1) return m[0];
  double sum = 0;
  for (int c = 0; c < n; ++c) {
    std::vector<double> minor;
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (j != c) minor.push_back(m[static_cast<std::size_t>(i * n + j)]);
    sum += (c % 2 ? -1 : 1) * m[static_cast<std::size_t>(c)] * leibniz(minor, n - 1);
  }
  return sum;
}
template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const tt::Exception& e) {
    return e.what();
  }
  return "no error";
}
template <class T, std::int64_t N>
void check_size() {
  CAPTURE(N);
  const double eps = sizeof(T) == 4 ? 1e-4 : 1e-11;
  for (unsigned seed = 1; seed < 20; ++seed) {
    const tt::Array<T, N, N> a = made<T, N>(seed);
    const double exact = leibniz(std::vector<double>(a.begin(), a.end()), static_cast<int>(N));
    CHECK(static_cast<double>(tt::linalg::det(a)) == doctest::Approx(exact).epsilon(eps));
    if (std::fabs(exact) < 1e-3) continue;
    tt::Array<T, N, N> unit;
    for (int k = 0; k < N; ++k) unit(k, k) = 1;
    const tt::Array<T, N, N> inverse = tt::linalg::inv(a), left = tt::matmul(inverse, a) - unit, right = tt::matmul(a, inverse) - unit;
    CHECK(largest(left) < eps * (1 + largest(inverse)));
    CHECK(largest(right) < eps * (1 + largest(inverse)));
    tt::Array<T, N> b;
    for (int k = 0; k < N; ++k) b(k) = a(0, k);
    const tt::Array<T, N> x = tt::linalg::solve(a, b), rest = tt::matmul(a, x) - b;
    CHECK(largest(rest) < eps * (1 + largest(x)));
    const tt::Array<T, N, N> more = tt::linalg::solve(a, unit), difference = more - inverse;
    CHECK(largest(difference) < eps * (1 + largest(inverse)) * largest(inverse));
    const tt::Array<T, N, N> positive = tt::matmul(a, tt::transpose(a)) + unit, l = tt::linalg::cholesky(positive), back = tt::matmul(l, tt::transpose(l)) - positive;
    CHECK(largest(back) < eps * largest(positive));
    for (int i = 0; i < N; ++i)
      for (int j = i + 1; j < N; ++j) CHECK(l(i, j) == 0);
  }
  tt::Array<T, N, N> zero;
  CHECK(tt::linalg::det(zero) == 0);
  CHECK(message([&] { tt::linalg::inv(zero); }).find("tt::linalg::inv: the matrix (") == 0);
  CHECK(message([&] { tt::linalg::solve(zero, tt::Array<T, N>()); }).find("is singular") != std::string::npos);
  CHECK(message([&] { tt::linalg::cholesky(zero); }).find("is not positive definite") != std::string::npos);
}
template <std::int64_t... N>
void check_sizes() {
  (check_size<float, N>(), ...);
  (check_size<double, N>(), ...);
}

}  // namespace

template <class T, std::int64_t N>
void check_scale(T scale) {
  CAPTURE(N);
  CAPTURE(scale);
  tt::Array<T, N, N> a;
  for (int i = 0; i < N; ++i) {
    a(i, i) = scale * T(i + 1);
    a(i, (i + 1) % static_cast<int>(N)) += scale / 4;
  }
  const tt::Array<T, N, N> product = tt::matmul(tt::linalg::inv(a), a);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) CHECK(std::abs(product(i, j) - (i == j)) < 8 * std::numeric_limits<T>::epsilon());
}
TEST_CASE("matrices whose determinants are too small or too large for the type have inverses") {
  for (const float scale : {1e-30f, 1e-20f, 1e-13f, 1e-10f, 1e9f, 1e13f, 1e30f}) {
    check_scale<float, 1>(scale);
    check_scale<float, 2>(scale);
    check_scale<float, 3>(scale);
    check_scale<float, 4>(scale);
    check_scale<float, 6>(scale);
  }
  for (const double scale : {1e-200, 1e-107, 1e-80, 1e80, 1e105, 1e200}) {
    check_scale<double, 2>(scale);
    check_scale<double, 3>(scale);
    check_scale<double, 4>(scale);
  }
  tt::Array<float, 4, 4> mixed{};
  const float diagonal[] = {1e-25f, 1e25f, 2, 1e-25f};
  for (int i = 0; i < 4; ++i) mixed(i, i) = diagonal[i];
  const tt::Array<float, 4, 4> inverse = tt::linalg::inv(mixed);
  for (int i = 0; i < 4; ++i) CHECK(inverse(i, i) == doctest::Approx(1 / diagonal[i]));
}

TEST_CASE("inverses, solutions, determinants and Cholesky factors of 1 x 1 to 8 x 8") { check_sizes<1, 2, 3, 4, 5, 6, 7, 8>(); }

TEST_CASE("a row that is zero at its pivot is exchanged, and NaN goes through") {
  const tt::Array<double, 5, 5> turned{{0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}, {1, 0, 0, 0, 0}};
  CHECK(tt::linalg::det(turned) == 1);
  const tt::Array<double, 5, 5> back = tt::linalg::inv(turned) - tt::transpose(turned);
  CHECK(largest(back) == 0);
  tt::Array<double, 5, 5> bad = turned;
  bad(2, 2) = NAN;
  CHECK(std::isnan(tt::linalg::det(bad)));
}

namespace {
template <class T, int M, int K, int N>
void check_product() {
  tt::Array<T, M, K> a;
  tt::Array<T, K, N> b;
  for (int i = 0; i < M * K; ++i) a.data()[i] = static_cast<T>(i + 1);
  for (int i = 0; i < K * N; ++i) b.data()[i] = static_cast<T>(2 * i + 1);
  const tt::Array<T, M, N> c = tt::matmul(a, b);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      T sum = 0;
      for (int k = 0; k < K; ++k) sum += a(i, k) * b(k, j);
      CHECK(c(i, j) == sum);
    }
}
template <class T>
void check_products() {
  check_product<T, 2, 2, 2>();
  check_product<T, 2, 3, 2>();
  check_product<T, 2, 4, 2>();
  check_product<T, 3, 3, 2>();
  check_product<T, 4, 3, 2>();
  check_product<T, 2, 3, 4>();
  check_product<T, 3, 3, 3>();
  check_product<T, 1, 4, 2>();
}
}  // namespace

TEST_CASE("products of small matrices: g++ 12 exchanged elements of doubles wrongly on AVX-512") {
  check_products<double>();
  check_products<float>();
  check_products<std::int64_t>();
}

TEST_CASE("linear algebra of expressions and views") {
  const tt::Array<double, 3, 3> s{{4, 1, 0}, {1, 3, 0}, {0, 0, 2}}, one = tt::Array<double, 3, 3>::eye();
  const tt::Array<double, 3> v{1, 2, 3};
  const tt::Array<double, 3, 3> sum = s + one;
  CHECK(tt::linalg::det(s + one) == tt::linalg::det(sum));
  const auto equal = [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin()); };
  CHECK(equal(tt::linalg::inv(s + one), tt::linalg::inv(sum)));
  CHECK(equal(tt::linalg::cholesky(tt::ArrayView<const double, 3, 3>(s)), tt::linalg::cholesky(s)));
  CHECK(equal(tt::linalg::solve(s + one, v), tt::linalg::solve(sum, v)));
  CHECK(equal(tt::linalg::solve(sum, tt::matmul(s, one)), tt::linalg::solve(sum, s)));
}
