// Bessel functions, incomplete gamma functions, zeta, Airy's function and polynomials: identities between them, values of tables (DLMF), formulas written out, and derivatives
// by differences. (Values against PyTorch: test_operators.cpp.)
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;
namespace special = tt::special;
using List = const std::vector<Tensor>&;

Tensor numbers_of(const std::vector<double>& v) { return tt::from_span(std::span<const double>(v), {static_cast<std::int64_t>(v.size())}); }
Tensor one(double v) { return tt::full({}, v, {.dtype = DType::f64}); }
bool close(const Tensor& a, const Tensor& b, double tolerance = 1e-13) { return tt::allclose(a, b, tolerance, 0); }
const Tensor xs = tt::tensor({0.01, 0.3, 1.0, 1.9, 2.0, 2.1, 5.0, 9.5, 30.0, 150.0}, DType::f64);

}  // namespace

TEST_CASE("Bessel functions: Wronskians, signs, ends, derivatives") {
  CHECK(close(special::bessel_j1(xs) * special::bessel_y0(xs) - special::bessel_j0(xs) * special::bessel_y1(xs), 2 / (3.14159265358979323846 * xs), 1e-12));
  const Tensor small = xs.slice(0, 0, 9);
  CHECK(close(tt::i0(small) * special::modified_bessel_k1(small) + special::i1(small) * special::modified_bessel_k0(small), 1 / small));
  CHECK(close(special::scaled_modified_bessel_k0(small), special::modified_bessel_k0(small) * tt::exp(small)));
  CHECK(close(special::scaled_modified_bessel_k1(small), special::modified_bessel_k1(small) * tt::exp(small)));
  CHECK(special::scaled_modified_bessel_k0(one(1e6)).item() == doctest::Approx(std::sqrt(3.14159265358979323846 / 2e6)).epsilon(1e-6));
  CHECK(special::modified_bessel_k0(one(1)).item() == doctest::Approx(0.42102443824070833334).epsilon(1e-15));
  CHECK(special::modified_bessel_k1(one(1)).item() == doctest::Approx(0.60190723019723457474).epsilon(1e-15));
  CHECK(special::bessel_y0(one(0)).item() == -INFINITY);
  CHECK(std::isnan(special::bessel_y1(one(-1)).item()));
  CHECK(special::modified_bessel_k1(one(0)).item() == INFINITY);
  CHECK(std::isnan(special::modified_bessel_k0(one(-1)).item()));
  CHECK(close(special::spherical_bessel_j0(xs), tt::sin(xs) / xs));
  CHECK(special::spherical_bessel_j0(one(0)).item() == 1);
  for (const char* name : {"bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"}) {
    CAPTURE(name);
    const std::string full = std::string("special.") + name;
    const auto g = [&](List t) { return tt::call(full.c_str(), {t[0]}); };
    CHECK(tt::gradcheck(g, {numbers_of({0.3, 1.9, 2.2, 5.0}).requires_grad_()}));
    CHECK(tt::gradgradcheck(g, {numbers_of({0.3, 1.9, 2.2, 5.0}).requires_grad_()}));
  }
  CHECK(special::bessel_j0(tt::tensor({1, 2})).dtype() == DType::f32);
  CHECK(special::bessel_j0(tt::tensor({1.0, 2.0}).to(DType::bf16)).dtype() == DType::bf16);
  const auto compiled = tt::compile([](const Tensor& x) { return special::bessel_j0(x * 2) + 1; }, {.fullgraph = true});
  CHECK(same_bits(compiled(xs), special::bessel_j0(xs * 2) + 1));
}

TEST_CASE("Airy's function, by its table") {
  const std::pair<double, double> table[] = {{0, 0.35502805388781723926}, {1, 0.13529241631288141552}, {-1, 0.53556088329235211880}, {10, 1.1047532552898686e-10},
                                             {-10, 0.04024123848644319}, {2, 0.03492413042327437913}, {-2, 0.22740742820168557599}};
  for (const auto& [x, want] : table) {
    CAPTURE(x);
    CHECK(special::airy_ai(one(x)).item() == doctest::Approx(want).epsilon(1e-11));
  }
  CHECK((special::airy_ai(one(0.0130)).item() - special::airy_ai(one(0.0132)).item()) / 0.0002 == doctest::Approx(0.2588).epsilon(1e-4));  // where one form follows the other
  CHECK(special::airy_ai(one(200)).item() == 0);
}

TEST_CASE("zeta and the incomplete gamma functions") {
  CHECK(special::zeta(one(2), one(1)).item() == doctest::Approx(3.14159265358979323846 * 3.14159265358979323846 / 6).epsilon(1e-15));
  CHECK(special::zeta(one(4), one(1)).item() == doctest::Approx(std::pow(3.14159265358979323846, 4) / 90).epsilon(1e-15));
  const Tensor x = numbers_of({1.1, 1.5, 2, 3.7, 12, 40}), q = numbers_of({0.1, 0.7, 1, 5, 30}).unsqueeze(1);
  CHECK(close(special::zeta(x, q), special::zeta(x, q + 1) + tt::pow(q, -x), 1e-13));
  CHECK(special::zeta(one(1), one(2)).item() == INFINITY);
  CHECK(std::isnan(special::zeta(one(0.5), one(2)).item()));
  CHECK(special::zeta(one(2), one(-3)).item() == INFINITY);
  CHECK(tt::gradcheck([&](List t) { return special::zeta(x.slice(0, 0, 4), t[0]); }, {(q + 0.5).clone().requires_grad_()}));

  for (const double a : {1.0, 2.0, 5.0, 20.0})
    for (const double y : {0.1, 1.0, 4.0, 19.0, 60.0}) {
      CAPTURE(a);
      CAPTURE(y);
      double term = std::exp(-y), sum = 0;  // of whole a: e^-x (1 + x + ... + x^(a-1) / (a-1)!)
      for (int k = 0; k < a; ++k) sum += term, term *= y / (k + 1);
      CHECK(tt::igammac(one(a), one(y)).item() == doctest::Approx(sum).epsilon(1e-13));
      CHECK(tt::igamma(one(a), one(y)).item() + tt::igammac(one(a), one(y)).item() == doctest::Approx(1).epsilon(1e-14));
    }
  const Tensor a = numbers_of({0.2, 0.5, 3.3, 50, 1000}), y = numbers_of({0.01, 0.6, 3, 48, 990}).unsqueeze(1);
  CHECK(tt::allclose(tt::igamma(a, y) - tt::igamma(a + 1, y), tt::exp(a * tt::log(y) - y - tt::lgamma(a + 1)), 1e-9, 1e-15));
  CHECK(tt::igamma(one(0), one(1)).item() == 1);
  CHECK(tt::igammac(one(2), one(0)).item() == 1);
  CHECK(std::isnan(tt::igamma(one(-1), one(1)).item()));
  CHECK(tt::igamma(one(1), one(INFINITY)).item() == 1);
  CHECK(tt::gradcheck([&](List t) { return tt::igamma(a, t[0]) - 2 * tt::igammac(a, t[0]); }, {numbers_of({0.5, 2, 40}).unsqueeze(1).requires_grad_()}));
}

TEST_CASE("orthogonal polynomials, written out, and at their ends") {
  const Tensor x = numbers_of({-1.5, -1, -0.4, 0, 0.3, 1, 2}), n = numbers_of({3}), x2 = x * x, x3 = x2 * x;
  const auto same = [](const Tensor& a, const Tensor& b) { return tt::allclose(a, b, 1e-13, 1e-13); };
  CHECK(same(special::chebyshev_polynomial_t(x, n), 4 * x3 - 3 * x));
  CHECK(same(special::chebyshev_polynomial_u(x, n), 8 * x3 - 4 * x));
  CHECK(same(special::chebyshev_polynomial_v(x, n), 8 * x3 - 4 * x2 - 4 * x + 1));
  CHECK(same(special::chebyshev_polynomial_w(x, n), 8 * x3 + 4 * x2 - 4 * x - 1));
  CHECK(same(special::hermite_polynomial_h(x, n), 8 * x3 - 12 * x));
  CHECK(same(special::hermite_polynomial_he(x, n), x3 - 3 * x));
  CHECK(same(special::laguerre_polynomial_l(x, n), (-x3 + 9 * x2 - 18 * x + 6) / 6));
  CHECK(same(special::legendre_polynomial_p(x, n), (5 * x3 - 3 * x) / 2));
  CHECK(same(special::shifted_chebyshev_polynomial_t(x, n), special::chebyshev_polynomial_t(2 * x - 1, n)));
  CHECK(same(special::shifted_chebyshev_polynomial_w(x, n), special::chebyshev_polynomial_w(2 * x - 1, n)));
  const Tensor inner = numbers_of({-0.9, 0.1, 0.7}), t = tt::acos(inner);
  for (const double k : {7.0, 40.0, 2000.0}) CHECK(tt::allclose(special::chebyshev_polynomial_t(inner, one(k)), tt::cos(t * k), 1e-9, 1e-11));
  CHECK(numbers(special::chebyshev_polynomial_u(numbers_of({1, -1}), one(1e15 + 1))) == Numbers{1e15 + 2, -(1e15 + 2)});
  CHECK(numbers(special::hermite_polynomial_h(x, one(-2))) == Numbers(7, 0));
  CHECK(numbers(special::legendre_polynomial_p(x, one(0))) == Numbers(7, 1));
  CHECK(same(special::chebyshev_polynomial_t(x, one(3.9)), special::chebyshev_polynomial_t(x, n)));
  CHECK(std::isnan(special::laguerre_polynomial_l(one(NAN), n).item()));
  CHECK(!special::legendre_polynomial_p(x.clone().requires_grad_(), n).requires_grad());  // as in PyTorch
}
