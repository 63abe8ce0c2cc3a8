// Gradients of fused functions against central differences.
#include <doctest/doctest.h>

#include <tt/tt.hpp>
#include <tuple>

#include "arrays.hpp"

using namespace arrays;
using tt::Array;

TEST_CASE("gradients agree with central differences") {
  auto x = filled<Array<double, 3, 4>>(1);
  auto y = filled<Array<double, 4>>(2);
  auto m = filled<Array<double, 4, 5>>(3);
  const auto check = [&](auto f) {
    const auto run = tt::fuse(f);
    const auto [value, d] = tt::value_and_grad<0, 1, 2>(f)(x, y, m);
    CHECK(value.item() == doctest::Approx(run(x, y, m).item()).epsilon(1e-14));
    const auto at = [&] { return run(x, y, m).item(); };
    CHECK(gradient_error(at, x, std::get<0>(d)) < difference_error);
    CHECK(gradient_error(at, y, std::get<1>(d)) < difference_error);
    CHECK(gradient_error(at, m, std::get<2>(d)) < difference_error);
  };
  check([](auto a, auto b, auto c) { return tt::sum(tt::tanh(tt::matmul(a * b, c))); });
  check([](auto a, auto b, auto c) { return tt::mean(tt::softmax(tt::matmul(a, c) + 1, 1) * tt::exp(tt::sum(b))); });
  check([](auto a, auto b, auto c) {
    return tt::sum(tt::logsumexp(a * b, 1)) + tt::mean(tt::var(c, 0)) * tt::amax(a);
  });
  check([](auto a, auto b, auto c) {
    return tt::sum(tt::where(a > b, a * a, b / (a * a + 1))) + tt::sum(tt::slice<0, 3, INT64_MIN, -2>(c) * 3);
  });
  check([](auto a, auto b, auto c) {
    return tt::mse_loss(tt::transpose(a), tt::reshape<4, 1>(b)) + tt::sum(tt::permute<1, 0>(c) * b);
  });
  check([](auto a, auto b, auto c) { return tt::sum(tt::matmul(tt::matmul(a, c), tt::matmul(tt::transpose(c), b))); });
  check([](auto a, auto b, auto c) {
    return tt::sum(tt::log_softmax(a, 0) * b) +
           tt::sum(tt::maximum(c, 0.1)) * tt::sum(tt::minimum(tt::amin(c, 1), 0.3 * b));
  });
}
