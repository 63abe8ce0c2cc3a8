// With TT_DEBUG: a stored expression whose named operand has ended says so instead of reading it. Built so
// under every preset; nothing that ended is read, so the sanitizers have nothing to say.
#ifndef TT_DEBUG
#define TT_DEBUG 1
#endif
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tt/expr/fuse.hpp"

namespace {

using tt::Array;
using tt::dyn;
using Small = Array<float, 3>;
using Large = Array<float, 300>;
using Dynamic = Array<float, dyn, 3>;

#define ENDED(shape)                                                                             \
  "tt: an operand of this expression has ended: an Array of f32 " shape                          \
  ". Keep it alive, evaluate the expression earlier with tt::eval, or take parameters by const " \
  "auto&."

template <class A>
A ones() {
  if constexpr (A::is_static) return A() + 1;
  else return A(2) + 1;
}

}  // namespace

TEST_CASE_TEMPLATE("an operand that has ended is not read", A, Small, Large, Dynamic) {
  const A b = ones<A>();
  const auto make = [&] {
    const A a = ones<A>();
    return a * 2 + b;
  };
  const auto e = make();
  CHECK_THROWS_AS(tt::eval(e), tt::Error);
  A result;
  CHECK_THROWS_AS(result = e, tt::Error);
  CHECK_THROWS_AS(result += e, tt::Error);
  CHECK_THROWS_AS(A{e}, tt::Error);
  CHECK_THROWS_AS(tt::eval(tt::sum(e)), tt::Error);
  CHECK_THROWS_AS(tt::fuse([](auto x) { return tt::exp(x); })(e), tt::Error);
}

TEST_CASE("the message names dtype and shape") {
  const auto negated = [](auto x) { return -x; };
  const auto small = negated(Small());
  const auto dynamic = negated(Dynamic(2));
  CHECK_THROWS_WITH_AS(tt::eval(small), ENDED("(3,)"), tt::Error);
  CHECK_THROWS_WITH_AS(tt::eval(dynamic), ENDED("(any, 3)"), tt::Error);
}

TEST_CASE("a function that takes its parameters by value may not return an expression of them") {
  const Small a = ones<Small>(), b = ones<Small>();
  const auto by_value = [](auto x, auto y) { return x * y; };
  const auto by_reference = [](const auto& x, const auto& y) { return x * y; };
  const auto wrong = by_value(a, b);
  CHECK_THROWS_WITH_AS(tt::eval(wrong), ENDED("(3,)"), tt::Error);
  CHECK(tt::eval(by_reference(a, b))(0) == 1);
  CHECK(tt::fuse(by_value)(a, b)(0) == 1);
}

TEST_CASE("an Array in the same place is another one") {
  std::optional<Small> a = ones<Small>();
  const auto e = *a + 1;
  CHECK(tt::eval(e)(0) == 2);
  a.reset();
  CHECK_THROWS_AS(tt::eval(e), tt::Error);
  a.emplace();
  CHECK_THROWS_AS(tt::eval(e), tt::Error);
  CHECK(tt::eval(*a + 1)(0) == 1);
}

TEST_CASE_TEMPLATE("a vector that grows ends the Arrays it held", A, Small, Large, Dynamic) {
  std::vector<A> all;
  all.reserve(1);
  all.push_back(ones<A>());
  const auto e = all[0] + 1;
  CHECK(tt::eval(e).data()[0] == 2);
  all.reserve(all.capacity() + 1);
  CHECK_THROWS_AS(tt::eval(e), tt::Error);
  CHECK(tt::eval(all[0] + 1).data()[0] == 2);
}

TEST_CASE("what was moved from lives, but may have nothing to read") {
  Large a = ones<Large>();
  const auto e = a + 1;
  Large b = std::move(a);
  CHECK_THROWS_WITH_AS(tt::eval(e),
                       "tt: an operand of this expression was moved from: an Array of f32 (300,). "
                       "Assign to it, or evaluate the expression earlier with tt::eval.",
                       tt::Error);
  a = b + 1;
  CHECK(tt::eval(e)(299) == 3);
  a = std::move(b);
  CHECK(tt::eval(e)(299) == 2);
  Small c = ones<Small>();  // stored in place: a move is a copy
  const auto f = c + 1;
  const Small d = std::move(c);
  CHECK(tt::eval(f)(0) == 2);
  CHECK(d(0) == 1);
  Dynamic g = ones<Dynamic>();  // has no rows afterwards
  const auto h = g + 1;
  const Dynamic k = std::move(g);
  CHECK(tt::eval(h).size() == 0);
  CHECK(k.size() == 6);
}

TEST_CASE("expressions may be copied, stored and outlive each other") {
  const Small a = ones<Small>();
  auto outer = std::make_unique<decltype(a + 1)>(a + 1);
  const auto copy = *outer;
  const auto deeper = copy * a + *outer;
  outer.reset();
  CHECK(tt::eval(copy)(0) == 2);
  CHECK(tt::eval(deeper)(0) == 4);
}

TEST_CASE("temporaries are owned and never end early") {
  const auto e = ones<Large>() * ones<Large>() + Small()(0);
  const auto moved = [&] { return e + ones<Large>(); }();
  CHECK(tt::eval(moved)(299) == 2);
}

TEST_CASE("copies and assignments of an operand do not end it") {
  Small a = ones<Small>();
  const auto e = a + 1;
  {
    const Small copy = a;
    a = copy;
    a = Small{5, 6, 7};
  }
  CHECK(tt::eval(e)(1) == 7);
  a = e;
  CHECK(a(1) == 7);
}

TEST_CASE("threads may name the same Array for the first time") {
  for (int round = 0; round < 50; ++round) {
    const Small a = ones<Small>();
    std::vector<std::thread> threads;
    float sum[4] = {};
    for (float& s : sum) threads.emplace_back([&] { s = tt::eval(tt::sum(a + a)).item(); });
    for (std::thread& t : threads) t.join();
    for (const float s : sum) CHECK(s == 6);
  }
}

TEST_CASE("an expression of static Arrays may be a constant") {
  static const Small a = ones<Small>();
  static constexpr auto e = a + 1;
  CHECK(tt::eval(e)(0) == 2);
}
