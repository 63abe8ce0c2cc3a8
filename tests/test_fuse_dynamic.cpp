// Fused functions of sizes known at run time: checks, bits, nothing at all.
#include <doctest/doctest.h>

#include <cstring>
#include <tt/tt.hpp>
#include <tuple>

#include "arrays.hpp"

using namespace arrays;
using tt::Array;
using tt::dyn;

TEST_CASE("dynamic extents must agree where the function says so") {
  const auto f = tt::fuse([](auto x, auto y) { return tt::exp(x) + y; });
  Array<float, dyn> a(5), b(7);
  CHECK(each_is(f(a, a), [](auto) { return 1.0f; }));
  CHECK(f(b, b).size() == 7);
  CHECK_THROWS_WITH_AS(f(a, b),
                       "tt: shapes do not broadcast: an extent of 7 meets one of 5. Both are known "
                       "at run time only.",
                       tt::Error);
  CHECK(f(a, Array<float, 5>()).size() == 5);
  CHECK_THROWS_AS(f(b, Array<float, 5>()), tt::Error);
  const auto product = tt::fuse([](auto x, auto y) { return tt::matmul(x, y); });
  CHECK(product(Array<float, dyn, dyn>(3, 4), Array<float, dyn, dyn>(4, 2)).shape() == tt::Shape{3, 2});
  CHECK_THROWS_AS(product(Array<float, dyn, dyn>(3, 4), Array<float, dyn, dyn>(5, 2)), tt::Error);
}

TEST_CASE("a program of dynamic extents has the bits of the static one") {
  const auto x = filled<Array<float, 37, 20>>(1);
  const auto w = filled<Array<float, 20, 9>>(2);
  Array<float, dyn, 20> dx(37);
  Array<float, dyn, dyn> dw(20, 9);
  std::memcpy(dx.data(), x.data(), sizeof(float) * 37 * 20);
  std::memcpy(dw.data(), w.data(), sizeof(float) * 20 * 9);
  constexpr auto f = tt::value_and_grad<0, 1>(
      [](auto a, auto b) { return tt::mean(tt::logsumexp(tt::silu(tt::matmul(a, b)), 1)); });
  const auto [v, d] = f(x, w);
  const auto [dv, dd] = f(dx, dw);
  CHECK(same_bits(v, dv));
  CHECK(same_bits(std::get<0>(d), std::get<0>(dd)));
  CHECK(same_bits(std::get<1>(d), std::get<1>(dd)));
  const auto update = tt::fuse([](auto& p, auto q) { p -= 0.5 * q; });
  auto y = dx;
  update(y, dx);
  CHECK(each_is(y, [&](auto i) { return x.data()[i] - 0.5f * x.data()[i]; }));
}

TEST_CASE("of no elements none is the largest, also where that is known at run time only") {
  const Array<float, dyn, 3> none(0);
  CHECK_THROWS_WITH_AS(tt::eval(tt::amax<0>(none)),
                       "tt::amax: no elements to choose from: an extent is 0, and must be at least 1. It is known at run time only.",
                       tt::Error);
  CHECK_THROWS_AS(tt::eval(tt::argmax<0>(none)), tt::Error);
  CHECK_THROWS_AS(tt::fuse([](auto x) { return tt::sum(tt::amin<0>(x * 2)); })(none), tt::Error);
  CHECK(tt::eval(tt::amax<1>(none)).size() == 0);
  CHECK(tt::eval(tt::softmax<0>(none)).size() == 0);
  CHECK(same_bits(tt::eval(tt::amax<0>(Array<float, dyn, 3>{{1, 5, 2}, {4, 3, 1}})), Array<float, 3>{4, 5, 2}));
}

TEST_CASE("extents of zero") {
  const auto f = tt::fuse([](auto x) { return std::tuple{tt::exp(x), tt::sum(x, 1), tt::sum(x, 0), tt::sum(x)}; });
  const auto [e, rows, columns, all] = f(Array<float, 0, 3>());
  CHECK(e.size() == 0);
  CHECK(rows.size() == 0);
  CHECK(each_is(columns, [](auto) { return 0.0f; }));
  CHECK(all.item() == 0);
  const auto [e2, rows2, columns2, all2] = f(Array<float, dyn, 3>());
  CHECK(e2.size() == 0);
  CHECK(rows2.size() == 0);
  CHECK(each_is(columns2, [](auto) { return 0.0f; }));
  CHECK(all2.item() == 0);
  const auto [e3, rows3, columns3, all3] = f(Array<float, dyn, dyn>(4, 0));
  CHECK(rows3.size() == 4);
  CHECK(each_is(rows3, [](auto) { return 0.0f; }));
  CHECK(columns3.size() == 0);
  const auto g = tt::value_and_grad([](auto x) { return tt::sum(x * x); })(Array<float, dyn>());
  CHECK(std::get<0>(g).item() == 0);
  CHECK(std::get<1>(g).size() == 0);
}
