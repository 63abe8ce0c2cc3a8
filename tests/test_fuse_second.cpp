// Gradients of gradients, and gradients by the number of the argument.
#include <doctest/doctest.h>

#include <tt/tt.hpp>

#include "arrays.hpp"

using namespace arrays;
using tt::Array;

TEST_CASE("gradients of gradients") {
  auto x = filled<Array<double, 6>>(1);
  static constexpr auto f = [](auto a) { return tt::sum(tt::sin(a) * a * a + tt::sigmoid(a)); };
  static constexpr auto slope = [](auto a) { return tt::sum(tt::grad(f)(a) * a); };
  const Array<double, 6> second = tt::grad(slope)(x);
  const auto run = tt::fuse(slope);
  CHECK(gradient_error([&] { return run(x).item(); }, x, second) < difference_error);
  static constexpr auto cube = [](auto a) { return tt::sum(a * a * a); };
  static constexpr auto d1 = [](auto a) { return tt::sum(tt::grad(cube)(a)); };
  static constexpr auto d2 = [](auto a) { return tt::sum(tt::grad(d1)(a)); };
  const Array<double, 6> six_x = tt::grad(d1)(x), six = tt::grad(d2)(x);
  for (int i = 0; i < 6; ++i) {
    CHECK(six_x(i) == doctest::Approx(6 * x(i)).epsilon(1e-12));
    CHECK(six(i) == doctest::Approx(6).epsilon(1e-12));
  }
}

TEST_CASE("gradients by numbered arguments come in the order asked for") {
  const Array<double, 2> a{1, 2}, b{3, 4}, c{5, 6};
  constexpr auto f = [](auto x, auto y, auto z) { return tt::sum(x * 2 + y * 3 + z * x); };
  CHECK(each_is(tt::grad(f)(a, b, c), [&](auto i) { return 2 + c.data()[i]; }));
  CHECK(each_is(tt::grad<1>(f)(a, b, c), [&](auto) { return 3.0; }));
  const auto [dz, dx] = tt::grad<2, 0>(f)(a, b, c);
  CHECK(same_bits(dz, a));
  CHECK(each_is(dx, [&](auto i) { return 2 + c.data()[i]; }));
  CHECK(each_is(tt::grad([](auto, auto y) { return tt::sum(y); })(a, b), [](auto) { return 0.0; }));
  CHECK(each_is(tt::grad([](auto x, auto y) { return tt::sum(x * y); })(a, a), [&](auto i) { return a.data()[i]; }));
  CHECK(each_is(tt::grad([](auto x) { return tt::sum(tt::detach(x) * x); })(a), [&](auto i) { return a.data()[i]; }));
}
