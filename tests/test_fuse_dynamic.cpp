// Fused functions of sizes known at run time: checks, bits, nothing at all.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <tt/tt.hpp>
#include <tuple>

#include "arrays.hpp"

using namespace arrays;
using tt::Array;
using tt::dyn;

namespace {

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const tt::Error& e) {
    return e.what();
  }
  return "none";
}
std::string at(int line) { return "\n  at " __FILE__ ":" + std::to_string(line); }

}  // namespace

TEST_CASE("dynamic extents must agree where the function says so") {
  const auto f = tt::fuse([](auto x, auto y) { return tt::exp(x) + y; });
  const int line = __LINE__ - 1;
  Array<float, dyn> a(5), b(7);
  CHECK(each_is(f(a, a), [](auto) { return 1.0f; }));
  CHECK(f(b, b).size() == 7);
  CHECK(message([&] { f(a, b); }) ==
        "tt::add: shapes do not broadcast: (5,) and (7,). Reshape one side, or insert an axis of extent 1?" + at(line));
  CHECK(f(a, Array<float, 5>()).size() == 5);
  CHECK_THROWS_AS(f(b, Array<float, 5>()), tt::Error);
  const auto product = tt::fuse([](auto x, auto y) { return tt::matmul(x, y); });
  CHECK(product(Array<float, dyn, dyn>(3, 4), Array<float, dyn, dyn>(4, 2)).shape() == tt::Shape{3, 2});
  CHECK(message([&] { product(Array<float, dyn, dyn>(3, 4), Array<float, dyn, dyn>(5, 2)); })
            .starts_with("tt::matmul: inner extents differ: 4 in (3, 4), 5 in (5, 2). Transpose one side?\n  at "));
}

TEST_CASE("extents that do not fit are told in the words of compile time: the op, and the shapes that it met") {
  const Array<float, dyn, dyn> p(2, 3), q(4, 5), wide(2, 5);
  const Array<float, dyn, dyn, dyn> batch(4, 2, 3), other(5, 3, 2);
  const auto evaluated = [](auto x) { return message([&] { tt::eval(x()); }); };
  CHECK(evaluated([&] { return tt::exp(p) * 2 + Array<float, 3>() - wide; })
            .starts_with("tt::sub: shapes do not broadcast: (2, 3) and (2, 5). "));
  CHECK(evaluated([&] { return tt::fma(p, p, wide); }).starts_with("tt::fma: shapes do not broadcast: (2, 3) and (2, 5). "));
  CHECK(evaluated([&] { return tt::gelu(p) + tt::sum_keepdim<0>(wide); })
            .starts_with("tt::add: shapes do not broadcast: (2, 3) and (1, 5). "));
  CHECK(evaluated([&] { return p + Array<float, 4>(); }).starts_with("tt::add: shapes do not broadcast: (2, 3) and (4,). "));
  CHECK(evaluated([&] { return tt::matmul(p, q); }) == "tt::matmul: inner extents differ: 3 in (2, 3), 4 in (4, 5). Transpose one side?");
  CHECK(evaluated([&] { return tt::matmul(batch, other); }) == "tt::matmul: batch extents differ: (4, 2, 3) and (5, 3, 2).");
  CHECK(evaluated([&] { return tt::cat<0>(tt::slice<0, 0, 1>(p), tt::slice<0, 0, 1>(wide)); }) ==
        "tt::cat: extents beside the axis differ: (1, 3) and (1, 5), along axis 0.");
  CHECK(evaluated([&] { return tt::slice<1, 1, 5>(p); }) == "tt::slice: slice is out of range: 4 in shape (2, 3).");
  // of several, the first that the function meets
  const auto two = tt::fuse([](auto x, auto y, auto z) { return tt::sum(tt::relu(x + y) * z); });
  CHECK(message([&] { two(p, q, wide); }).starts_with("tt::add: shapes do not broadcast: (2, 3) and (4, 5). "));
  CHECK(message([&] { two(p, p, wide); }).starts_with("tt::mul: shapes do not broadcast: (2, 3) and (2, 5). "));
  const auto update = tt::fuse([](auto& x, auto g) { x -= g; });
  Array<float, dyn, dyn> w(2, 3);
  CHECK(message([&] { update(w, wide); }).starts_with("tt::sub: shapes do not broadcast: (2, 3) and (2, 5). "));
  const auto replace = tt::fuse([](auto& x, auto g) { x = g; });
  CHECK(message([&] { replace(w, wide); }) == "tt::fuse: a parameter changes its shape or dtype: (2, 3) became (2, 5).");
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
                       "tt::amax: no elements to choose from: axis 0 of shape (0, 3).",
                       tt::Error);
  CHECK_THROWS_AS(tt::eval(tt::argmax<0>(none)), tt::Error);
  CHECK_THROWS_AS(tt::fuse([](auto x) { return tt::sum(tt::amin<0>(x * 2)); })(none), tt::Error);
  CHECK(tt::eval(tt::amax<1>(none)).size() == 0);
  CHECK(tt::eval(tt::softmax<0>(none)).size() == 0);
  CHECK(same_bits(tt::eval(tt::amax<0>(Array<float, dyn, 3>{{1, 5, 2}, {4, 3, 1}})), Array<float, 3>{4, 5, 2}));
}

TEST_CASE("a reshape to what is left over has a gradient") {
  const auto f = tt::grad([](auto x) { return tt::sum(tt::square(tt::reshape<-1>(x))); });
  CHECK(same_bits(f(Array<float, dyn, dyn>{{1, 2, 3}, {4, 5, 6}}), Array<float, dyn, dyn>{{2, 4, 6}, {8, 10, 12}}));
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
