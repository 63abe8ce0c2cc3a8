// Operators on Arrays: every dtype, promotion, broadcasting, lifetimes, aliasing, views, products.
// Each is held against plain loops.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "tt/core/print.hpp"
#include "tt/expr/expression.hpp"
#include "tt/ops/operators.hpp"

#ifdef TT_ALL_FORMS
#define TT_TESTED_NUMBERS std::int32_t, std::int64_t, float, double
#else
#define TT_TESTED_NUMBERS std::int64_t, float
#endif

namespace {

using namespace arrays;
using tt::Array;
using tt::dyn;

/// A divisor for numbers up to 7, so that clamps and floors have something to do.
constexpr int wide_range = 700;

template <class T>
Array<T, dyn, dyn> matrix(std::int64_t rows, std::int64_t columns, int seed) {
  Array<T, dyn, dyn> a(rows, columns);
  Numbers next{seed};
  for (T& x : a) {
    x = static_cast<T>(next() % 41 - 20) / T(4);
  }
  return a;
}

template <class A, class B>
bool equal(const A& a, const B& b) {
  static_assert(std::is_same_v<typename A::value_type, typename B::value_type>);
  if (!(a.shape() == b.shape())) return false;
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (!(a.data()[i] == b.data()[i])) return false;
  return true;
}
template <class X>
using element = typename X::Result::value_type;

// Kernels contract nothing; so must the loops that they are held against.
template <class T>
T times_plus(T a, T b, T c) {
  const volatile T product = static_cast<T>(a * b);
  return static_cast<T>(product + c);
}

}  // namespace

// ---- operators, dtypes, literals

TEST_CASE_TEMPLATE("a value is not its negation, nor its magnitude", T, float, double) {
  Array<T, 40> x;
  for (int i = 0; i < 40; ++i) x(i) = static_cast<T>(i - 8);
  const Array<bool, 40> negated = -x == x, differs = -x != x, positive = tt::abs(x) == x, negative = tt::abs(x) == -x;
  for (int i = 0; i < 40; ++i) {
    CHECK(negated(i) == (i == 8));
    CHECK(differs(i) == (i != 8));
    CHECK(positive(i) == (i >= 8));
    CHECK(negative(i) == (i <= 8));
  }
}

TEST_CASE_TEMPLATE("arithmetic of numbers", T, TT_TESTED_NUMBERS) {
  using A = Array<T, 5, 7>;
  const A a = filled<A>(1, wide_range), b = filled<A>(2, wide_range);
  const T *x = a.data(), *y = b.data();
  CHECK(each_is(A(a + b), [&](auto i) { return static_cast<T>(x[i] + y[i]); }));
  CHECK(each_is(A(a - b), [&](auto i) { return static_cast<T>(x[i] - y[i]); }));
  CHECK(each_is(A(a * b), [&](auto i) { return static_cast<T>(x[i] * y[i]); }));
  CHECK(each_is(A(-a), [&](auto i) { return static_cast<T>(-x[i]); }));
  CHECK(each_is(A(a * b + a), [&](auto i) { return times_plus(x[i], y[i], x[i]); }));
  CHECK(each_is(A(2 * a - 3), [&](auto i) { return static_cast<T>(2 * x[i] - 3); }));
  CHECK(each_is(A(tt::abs(a)), [&](auto i) { return x[i] < 0 ? static_cast<T>(-x[i]) : x[i]; }));
  CHECK(each_is(A(tt::maximum(a, b)), [&](auto i) { return x[i] > y[i] ? x[i] : y[i]; }));
  CHECK(each_is(A(tt::minimum(a, 3)), [&](auto i) { return x[i] < 3 ? x[i] : T(3); }));
  CHECK(each_is(A(tt::square(a)), [&](auto i) { return static_cast<T>(x[i] * x[i]); }));
  CHECK(each_is(A(tt::clamp(a, -2, 3)), [&](auto i) { return x[i] < -2 ? T(-2) : x[i] > 3 ? T(3) : x[i]; }));
}

TEST_CASE_TEMPLATE("division gives floating numbers", T, TT_TESTED_NUMBERS) {
  using A = Array<T, 4, 3>;
  using R = std::conditional_t<std::is_floating_point_v<T>, T, float>;
  A a = filled<A>(1, wide_range), b = filled<A>(5, wide_range);
  for (T& x : b)
    if (x == 0) x = 1;
  const auto q = tt::eval(a / b);
  static_assert(std::is_same_v<typename decltype(q)::value_type, R> ||
                std::is_same_v<std::remove_const_t<decltype(q)>, Array<R, 4, 3>>);
  CHECK(each_is(q, [&](auto i) { return static_cast<R>(a.data()[i]) / static_cast<R>(b.data()[i]); }));
}

TEST_CASE_TEMPLATE("comparisons give bool", T, TT_TESTED_NUMBERS) {
  using A = Array<T, 33>;
  using B = Array<bool, 33>;
  const A a = filled<A>(3, wide_range);
  A b = filled<A>(4, wide_range);
  for (int i = 0; i < 33; i += 3) b(i) = a(i);
  const T *x = a.data(), *y = b.data();
  CHECK(each_is(B(a < b), [&](auto i) { return x[i] < y[i]; }));
  CHECK(each_is(B(a <= b), [&](auto i) { return x[i] <= y[i]; }));
  CHECK(each_is(B(a > b), [&](auto i) { return x[i] > y[i]; }));
  CHECK(each_is(B(a >= b), [&](auto i) { return x[i] >= y[i]; }));
  CHECK(each_is(B(a == b), [&](auto i) { return x[i] == y[i]; }));
  CHECK(each_is(B(a != b), [&](auto i) { return x[i] != y[i]; }));
  CHECK(each_is(B(0 < a && !(a >= 5)), [&](auto i) { return 0 < x[i] && !(x[i] >= 5); }));
  CHECK(each_is(B(a == 2 || b > a), [&](auto i) { return x[i] == 2 || y[i] > x[i]; }));
  CHECK(each_is(A(tt::where(a < b, a, b)), [&](auto i) { return x[i] < y[i] ? x[i] : y[i]; }));
  CHECK(each_is(A(tt::where(a < 0, 1, b)), [&](auto i) { return x[i] < 0 ? T(1) : y[i]; }));
}

TEST_CASE("comparisons with NaN are false, but != is true") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array<float, 20> a = Array<float, 20>() + nan, b;
  CHECK(each_is(Array<bool, 20>(a == a), [](auto) { return false; }));
  CHECK(each_is(Array<bool, 20>(a != a), [](auto) { return true; }));
  CHECK(each_is(Array<bool, 20>(a < b), [](auto) { return false; }));
  CHECK(each_is(Array<bool, 20>(b >= a), [](auto) { return false; }));
  CHECK(each_is(tt::eval(tt::where(a == a, 1.0, b)), [](auto) { return 0.0f; }));
}

TEST_CASE("logic on bool Arrays") {
  const Array<bool, 4> a{false, false, true, true}, b{false, true, false, true};
  CHECK(equal(Array<bool, 4>(a && b), Array<bool, 4>{false, false, false, true}));
  CHECK(equal(Array<bool, 4>(a || b), Array<bool, 4>{false, true, true, true}));
  CHECK(equal(Array<bool, 4>(!a), Array<bool, 4>{true, true, false, false}));
  CHECK(equal(Array<bool, 4>(a == b), Array<bool, 4>{true, false, false, true}));
  CHECK(equal(Array<bool, 4>(a != b), Array<bool, 4>{false, true, true, false}));
  CHECK(equal(Array<bool, 4>(tt::where(a, b, !b)), Array<bool, 4>{true, false, false, true}));
  CHECK(equal(Array<std::int64_t>(tt::sum(a || b)), Array<std::int64_t>(3)));
}

TEST_CASE("Arrays of two dtypes are promoted") {
  const Array<bool, 3> b{true, false, true};
  const Array<std::int32_t, 3> i{1, -2, 3};
  const Array<std::int64_t, 3> l{10, 20, 30};
  const Array<float, 3> f{0.5f, 1.5f, 2.5f};
  const Array<double, 3> d{0.25, 0.5, 0.75};
  CHECK(equal(tt::eval(b + i), Array<std::int32_t, 3>{2, -2, 4}));
  CHECK(equal(tt::eval(i * l), Array<std::int64_t, 3>{10, -40, 90}));
  CHECK(equal(tt::eval(l + f), Array<float, 3>{10.5f, 21.5f, 32.5f}));
  CHECK(equal(tt::eval(f - d), Array<double, 3>{0.25, 1, 1.75}));
  CHECK(equal(tt::eval(b * d), Array<double, 3>{0.25, 0, 0.75}));
  CHECK(equal(tt::eval(tt::where(b, i, f)), Array<float, 3>{1, 1.5f, 3}));
  CHECK(equal(tt::eval(tt::maximum(i, l)), Array<std::int64_t, 3>{10, 20, 30}));
  CHECK(equal(tt::eval(i < f), Array<bool, 3>{false, true, false}));
}

TEST_CASE("a literal keeps the dtype of its category") {
  const Array<bool, 2> b{true, false};
  const Array<std::int32_t, 2> i{1, 2};
  const Array<std::int64_t, 2> l{1, 2};
  const Array<float, 2> f{1, 2};
  const Array<double, 2> d{1, 2};
  static_assert(std::is_same_v<element<decltype(i + 1)>, std::int32_t>);
  static_assert(std::is_same_v<element<decltype(i + std::int64_t{1})>, std::int32_t>);
  static_assert(std::is_same_v<element<decltype(i + 1.0)>, float>);
  static_assert(std::is_same_v<element<decltype(l * 2.5f)>, float>);
  static_assert(std::is_same_v<element<decltype(f + 1)>, float>);
  static_assert(std::is_same_v<element<decltype(f + 1.0)>, float>);
  static_assert(std::is_same_v<element<decltype(d + 1.0f)>, double>);
  static_assert(std::is_same_v<element<decltype(b + 1)>, std::int64_t>);
  static_assert(std::is_same_v<element<decltype(b * 0.5)>, float>);
  static_assert(std::is_same_v<element<decltype(true + i)>, std::int32_t>);
  static_assert(std::is_same_v<element<decltype(tt::where(b, 1, 0))>, std::int64_t>);
  static_assert(std::is_same_v<element<decltype(tt::where(b, 1.0, 0))>, float>);
  static_assert(std::is_same_v<element<decltype(tt::exp(i))>, float>);
  static_assert(std::is_same_v<element<decltype(tt::exp(d))>, double>);
  static_assert(std::is_same_v<element<decltype(tt::sum(i))>, std::int64_t>);
  static_assert(std::is_same_v<element<decltype(tt::logsumexp(i))>, float>);
  CHECK(equal(tt::eval(d + 0.1), Array<double, 2>{1.1, 2.1}));
  CHECK(equal(tt::eval(f * 0.1), Array<float, 2>{0.1f, 2 * 0.1f}));
  CHECK(equal(tt::eval(l + 4000000000000000001), Array<std::int64_t, 2>{4000000000000000002, 4000000000000000003}));
  CHECK(equal(tt::eval(1 - i), Array<std::int32_t, 2>{0, -1}));
}

TEST_CASE("casts cut fractions, and out of range gives the smallest integer") {
  const Array<float, 6> f{1.9f, -1.9f, 0.0f, 3e9f, -3e9f, std::numeric_limits<float>::quiet_NaN()};
  const auto low = std::numeric_limits<std::int32_t>::min();
  CHECK(equal(tt::eval(tt::cast<std::int32_t>(f)), Array<std::int32_t, 6>{1, -1, 0, low, low, low}));
  CHECK(equal(tt::eval(tt::cast<bool>(f)), Array<bool, 6>{true, true, false, true, true, true}));
  const Array<std::int64_t, 2> l{1, -5000000000};
  CHECK(equal(tt::eval(tt::cast<double>(l)), Array<double, 2>{1, -5000000000.0}));
  const Array<std::int32_t, 1> one{0x3f800000};
  CHECK(equal(tt::eval(tt::bitcast<float>(one)), Array<float, 1>{1}));
}

// ---- broadcasting

TEST_CASE("axes of extent 1 and missing axes are repeated") {
  const auto a = filled<Array<float, 4, 5>>(1, wide_range);
  const auto row = filled<Array<float, 5>>(2, wide_range);
  const auto column = filled<Array<float, 4, 1>>(3, wide_range);
  const Array<float> scalar = 0.5f;
  CHECK(each_is(tt::eval(a + row), [&](auto i) { return a.data()[i] + row.data()[i % 5]; }));
  CHECK(each_is(tt::eval(column * a), [&](auto i) { return a.data()[i] * column.data()[i / 5]; }));
  CHECK(each_is(tt::eval(column - row), [&](auto i) { return column.data()[i / 5] - row.data()[i % 5]; }));
  CHECK(each_is(tt::eval(a + scalar), [&](auto i) { return a.data()[i] + 0.5f; }));
  const auto cube = filled<Array<float, 2, 1, 3>>(4, wide_range);
  const auto plane = filled<Array<float, 4, 1>>(5, wide_range);
  const auto c = tt::eval(cube + plane);
  CHECK(c.shape() == tt::Shape{2, 4, 3});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 3; ++k) CHECK(c(i, j, k) == cube(i, 0, k) + plane(j, 0));
  CHECK(tt::eval(tt::broadcast_to<3, 4, 5>(row)).shape() == tt::Shape{3, 4, 5});
  CHECK(tt::eval(Array<float, 0, 3>() + Array<float, 1, 3>()).size() == 0);
}

static_assert(tt::detail::records_elementwise<tt::detail::ExpressionModel<decltype(std::declval<Array<float, dyn>&>() * 2.0f)>>);

TEST_CASE("dynamic extents are compared when an expression is evaluated") {
  const Array<float, dyn> a{1, 2, 3}, b{1, 2};
  const Array<float, 3> c{1, 1, 1};
  CHECK(equal(tt::eval(a + c), Array<float, 3>{2, 3, 4}));
  CHECK_THROWS_WITH_AS(tt::eval(a + b),
                       "tt::add: shapes do not broadcast: (3,) and (2,). Reshape one side, or insert an axis of extent 1?",
                       tt::Error);
  CHECK_THROWS_AS(tt::eval(b + c), tt::Error);
  const Array<float, 1, dyn> wide{{1, 2}};
  const Array<float, dyn, 1> tall{{10}, {20}, {30}};
  CHECK(equal(tt::eval(wide + tall), Array<float, dyn, dyn>{{11, 12}, {21, 22}, {31, 32}}));
}

// ---- lifetimes

TEST_CASE("a stored expression reads its operands anew") {
  Array<float, 3> a{1, 2, 3};
  const auto e = a * 2 + 1;
  CHECK(equal(tt::eval(e), Array<float, 3>{3, 5, 7}));
  a(0) = 10;
  CHECK(equal(tt::eval(e), Array<float, 3>{21, 5, 7}));
  Array<float, dyn> b{1, 2};
  const auto f = tt::exp(b - b) + b;
  b = Array<float, dyn>{5, 6, 7};
  CHECK(equal(tt::eval(f), Array<float, dyn>{6, 7, 8}));
}

TEST_CASE("a stored expression owns its temporaries") {
  const auto make = [](float x) { return Array<float, 300>() + x; };
  const auto e = tt::eval(make(1)) * tt::eval(make(2)) + Array<float, 300>();
  const auto f = e + Array<float, dyn>(300);
  const auto g = f * f;
  CHECK(each_is(tt::eval(e), [](auto) { return 2.0f; }));
  CHECK(each_is(tt::eval(g), [](auto) { return 4.0f; }));
  const auto returned = [&] { return tt::where(make(1) > 0, make(3), Array<float, 300>()); }();
  CHECK(each_is(tt::eval(returned), [](auto) { return 3.0f; }));
}

TEST_CASE("an expression of static Arrays may be a constant") {
  static const Array<float, 3> a{1, 2, 3};
  static constexpr auto e = a * 2 + 1;
  CHECK(equal(tt::eval(e), Array<float, 3>{3, 5, 7}));
}

// ---- assignment

TEST_CASE("an operand that is the destination is read before it is written") {
  Array<float, 3, 3> a{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  a = tt::transpose(a);
  CHECK(equal(a, Array<float, 3, 3>{{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}));
  a = a + tt::reshape<3>(tt::slice<0, 0, 1>(a));
  CHECK(equal(a, Array<float, 3, 3>{{2, 8, 14}, {3, 9, 15}, {4, 10, 16}}));
  a = a - tt::slice<1, 0, 1>(a);
  CHECK(equal(a, Array<float, 3, 3>{{0, 6, 12}, {0, 6, 12}, {0, 6, 12}}));
  a = tt::matmul(a, a);
  CHECK(equal(a, Array<float, 3, 3>{{0, 108, 216}, {0, 108, 216}, {0, 108, 216}}));
  a = a / tt::amax(a);
  CHECK(equal(a, Array<float, 3, 3>{{0, 0.5f, 1}, {0, 0.5f, 1}, {0, 0.5f, 1}}));
  Array<float, 500> v = filled<Array<float, 500>>(1, wide_range);
  const Array<float, 500> was = v;
  v = tt::slice<0, 499, INT64_MIN, -1>(v);
  CHECK(each_is(v, [&](auto i) { return was.data()[499 - i]; }));
  v = v * 0.5 + tt::slice<0, 499, INT64_MIN, -1>(v);
  CHECK(each_is(v, [&](auto i) { return was.data()[499 - i] * 0.5f + was.data()[i]; }));
}

TEST_CASE("compound assignment, also of itself") {
  Array<float, 40> a = filled<Array<float, 40>>(1, wide_range);
  const Array<float, 40> was = a;
  a += a;
  CHECK(each_is(a, [&](auto i) { return 2 * was.data()[i]; }));
  a -= was * 2;
  CHECK(each_is(a, [](auto) { return 0.0f; }));
  a = was;
  a *= a;
  CHECK(each_is(a, [&](auto i) { return was.data()[i] * was.data()[i]; }));
  a /= 2;
  a += 1;
  CHECK(each_is(a, [&](auto i) { return was.data()[i] * was.data()[i] / 2 + 1; }));
  Array<float, 2, 2> b{{1, 2}, {3, 4}};
  b += Array<float, 2>{10, 20};
  b -= tt::sum_keepdim<0>(b);
  CHECK(equal(b, Array<float, 2, 2>{{-13, -24}, {-11, -22}}));
  Array<std::int32_t, 3> n{1, 2, 3};
  n *= 3;
  CHECK(equal(n, Array<std::int32_t, 3>{3, 6, 9}));
}

TEST_CASE("one extent of a reshape is what the others leave, at run time too") {
  const Array<float, dyn, dyn> a{{1, 2, 3}, {4, 5, 6}};
  const Array<float, 2, 6> fixed{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}};
  CHECK(equal(tt::eval(tt::reshape<-1>(a) * 2), Array<float, dyn>{2, 4, 6, 8, 10, 12}));
  CHECK(equal(tt::eval(tt::reshape<dyn>(tt::transpose(a))), Array<float, dyn>{1, 4, 2, 5, 3, 6}));
  const Array<float, 4, 3> rows = tt::reshape<-1, 3>(fixed);
  CHECK(equal(rows, Array<float, 4, 3>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}));
  const Array<float, dyn, 4> b{{1, 2, 3, 4}, {5, 6, 7, 8}};
  CHECK(equal(tt::eval(tt::sum<2>(tt::reshape<-1, 2, 2>(b))), Array<float, dyn, 2>{{3, 7}, {11, 15}}));
  CHECK(equal(tt::eval(tt::reshape<2, -1>(b)), Array<float, 2, dyn>{{1, 2, 3, 4}, {5, 6, 7, 8}}));
  CHECK(tt::eval(tt::reshape<-1>(Array<float, dyn, 3>())).size() == 0);
}

TEST_CASE("operators have names") {
  const Array<float, 3> a{1, 2, 3}, b{4, 2, 1};
  CHECK(equal(tt::eval(tt::sub(tt::mul(tt::add(a, b), 2), tt::neg(tt::div(a, b)))), tt::eval((a + b) * 2 + a / b)));
  CHECK(equal(tt::eval(tt::logical_or(tt::gt(a, b), tt::eq(a, b))), tt::eval(tt::ge(a, b))));
  CHECK(equal(tt::eval(tt::logical_not(tt::le(a, b))), tt::eval(tt::logical_and(tt::ne(a, b), tt::logical_not(tt::lt(a, b))))));
  const Array<bool, 2> m{true, false};
  CHECK(equal(tt::eval(tt::sqrt(m)), Array<float, 2>{1, 0}));
  CHECK(equal(tt::eval(m / Array<bool, 2>{true, true}), Array<float, 2>{1, 0}));
}

TEST_CASE("slices of run-time extents are checked at the call") {
  const Array<float, dyn, 3> a{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  const Array<float, 2, 3> middle = tt::slice<0, 1, 3>(a);
  CHECK(equal(middle, Array<float, 2, 3>{{4, 5, 6}, {7, 8, 9}}));
  CHECK(equal(tt::eval(tt::slice<0, 3, INT64_MIN, -2>(a) + 1), Array<float, 2, 3>{{11, 12, 13}, {5, 6, 7}}));
  const Array<float, dyn, dyn> b{{1, 2, 3}, {4, 5, 6}};
  CHECK(equal(tt::eval(tt::slice<1, 2, 3>(b) * tt::slice<0, 1, 2>(b)),
              Array<float, dyn, dyn>{{12, 15, 18}, {24, 30, 36}}));
  CHECK(equal(tt::eval(tt::slice<0, 1, 2>(tt::slice<1, 1, 3>(b))), Array<float, 1, 2>{{5, 6}}));
  CHECK_THROWS_WITH_AS(tt::eval(tt::slice<0, 1, 5>(a)),
                       "tt::slice: slice is out of range: 4 in shape (4, 3).",
                       tt::Error);
  CHECK_THROWS_AS(tt::eval(tt::slice<0, 4, 2, -1>(a)), tt::Error);
  CHECK_THROWS_AS(tt::eval(tt::slice<1, 0, 3>(a) + tt::slice<0, 4, 5>(a)), tt::Error);
  CHECK(tt::eval(tt::slice<0, 9, 9>(a)).size() == 0);
}

namespace {

/// Slices an axis that is a product of two symbols, or a multiple of one.
template <bool Product>
struct SlicedReshape {
  static constexpr void record(tt::Graph& g, tt::detail::Recorder& r) {
    const tt::Sym x = Product ? r.input<float, dyn, dyn>() : r.input<float, dyn, 4>();
    const int flat = g.reshape(x.id, {x.shape().size()});
    g.output(g.slice(flat, 0, 5, 5, 2));
  }
};
template <bool Product>
constexpr std::int64_t least_extent() {
  tt::detail::SymbolTable table;
  const tt::Graph g = tt::detail::record_program<SlicedReshape<Product>>(table);
  return g.failure.mistake == tt::Mistake::slice_cannot_be_checked ? -g.failure.number : table.least[0];
}
static_assert(least_extent<false>() == 4);  // element 13 of 4 * s0
static_assert(least_extent<true>() == -14);

}  // namespace

TEST_CASE("a dynamic destination takes the shape of the expression") {
  Array<float, dyn, 2> a;
  const Array<float, 3, 2> b{{1, 2}, {3, 4}, {5, 6}};
  a = b + 1;
  CHECK(a.extent(0) == 3);
  a = tt::slice<0, 1, 3>(b) * 1;
  CHECK(equal(a, Array<float, dyn, 2>{{3, 4}, {5, 6}}));
  Array<float, dyn, dyn> c;
  c = tt::transpose(a);
  CHECK(equal(c, Array<float, dyn, dyn>{{3, 5}, {4, 6}}));
  c = c + tt::transpose(c);
  CHECK(equal(c, Array<float, dyn, dyn>{{6, 9}, {9, 12}}));
  a += a;
  CHECK(a(1, 1) == 12);
  Array<float, 3, 2> fixed;
  fixed = Array<float, dyn, 2>(3) + 2;
  CHECK(fixed(2, 1) == 2);
  CHECK_THROWS_WITH_AS((fixed = a + 1), "tt::Array: shapes differ: (2, 2) is assigned to (3, 2).",
                       tt::Error);
  a = Array<float, dyn, 2>() + 1;
  CHECK(a.size() == 0);
}

// ---- views

TEST_CASE("views of views are index maps") {
  const auto a = filled<Array<float, 6, 8>>(1, wide_range);
  const Array<float, 3, 4> odd = tt::slice<0, 1, 6, 2>(tt::slice<1, 0, 7, 2>(a));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) CHECK(odd(i, j) == a(1 + 2 * i, 2 * j));
  const Array<float, 8, 6> back = tt::transpose(tt::slice<0, 5, INT64_MIN, -1>(a));
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 6; ++j) CHECK(back(i, j) == a(5 - j, i));
  const Array<float, 4, 2, 6> p = tt::permute<1, 2, 0>(tt::reshape<6, 4, 2>(a));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 6; ++k) CHECK(p(i, j, k) == a(k, 2 * i + j));
  const Array<float, 48> flat = tt::reshape<48>(tt::transpose(a));
  for (int i = 0; i < 48; ++i) CHECK(flat(i) == a(i % 6, i / 6));
  const Array<float, 2, 8> sums = tt::slice<0, 0, 2>(a) + tt::slice<0, 4, 6>(a) * tt::slice<0, 2, 4>(a);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 8; ++j) CHECK(sums(i, j) == times_plus(a(4 + i, j), a(2 + i, j), a(i, j)));
  const Array<float, 6, 8> twice = tt::transpose(tt::transpose(a));
  CHECK(equal(twice, a));
  CHECK(tt::eval(tt::slice<0, 2, 2>(a)).size() == 0);
}

// ---- reductions and products

TEST_CASE_TEMPLATE("reductions over axes", T, TT_TESTED_NUMBERS) {
  using A = Array<T, 3, 4, 5>;
  const A a = filled<A>(7, wide_range);
  using S = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  const auto at = [&](int i, int j, int k) { return a(i, j, k); };
  const Array<S, 4, 5> s0 = tt::sum<0>(a);
  const Array<S, 3, 5> s1 = tt::sum<1>(a);
  const Array<S, 3, 4, 1> s2 = tt::sum_keepdim<2>(a);
  const Array<S, 4> s02 = tt::sum<0, 2>(a);
  const Array<T, 3, 5> high = tt::amax<-2>(a);
  const Array<T, 4, 5> low = tt::amin<0>(a);
  const Array<std::int64_t, 3, 4> best = tt::argmax<2>(a);
  const auto close = [](auto x, double y) { return std::fabs(static_cast<double>(x) - y) < 1e-4; };
  for (int j = 0; j < 4; ++j) {
    double both = 0;
    for (int k = 0; k < 5; ++k) {
      double sum = 0;
      T least = at(0, j, k);
      for (int i = 0; i < 3; ++i) {
        sum += static_cast<double>(at(i, j, k));
        least = at(i, j, k) < least ? at(i, j, k) : least;
      }
      both += sum;
      CHECK(close(s0(j, k), sum));
      CHECK(low(j, k) == least);
    }
    CHECK(close(s02(j), both));
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 5; ++k) {
      double sum = 0;
      T most = at(i, 0, k);
      for (int j = 0; j < 4; ++j) {
        sum += static_cast<double>(at(i, j, k));
        most = at(i, j, k) > most ? at(i, j, k) : most;
      }
      CHECK(close(s1(i, k), sum));
      CHECK(high(i, k) == most);
    }
    for (int j = 0; j < 4; ++j) {
      double sum = 0;
      int first = 0;
      for (int k = 0; k < 5; ++k) {
        sum += static_cast<double>(at(i, j, k));
        if (at(i, j, k) > at(i, j, first)) first = k;
      }
      CHECK(close(s2(i, j, 0), sum));
      CHECK(best(i, j) == first);
    }
  }
}

TEST_CASE("mean, var, logsumexp, softmax and their edges") {
  const auto a = filled<Array<double, 6, 9>>(2, wide_range);
  const Array<double, 6> m = tt::mean<1>(a), v = tt::var<1>(a), l = tt::logsumexp<1>(a);
  const Array<double, 6, 9> p = tt::softmax<1>(a), q = tt::log_softmax<-1>(a);
  for (int i = 0; i < 6; ++i) {
    double sum = 0, squares = 0, exps = 0;
    for (int j = 0; j < 9; ++j) sum += a(i, j) / 9;
    for (int j = 0; j < 9; ++j) squares += (a(i, j) - sum) * (a(i, j) - sum) / 8;
    for (int j = 0; j < 9; ++j) exps += std::exp(a(i, j));
    CHECK(m(i) == doctest::Approx(sum).epsilon(1e-12));
    CHECK(v(i) == doctest::Approx(squares).epsilon(1e-12));
    CHECK(l(i) == doctest::Approx(std::log(exps)).epsilon(1e-12));
    for (int j = 0; j < 9; ++j) {
      CHECK(p(i, j) == doctest::Approx(std::exp(a(i, j)) / exps).epsilon(1e-12));
      CHECK(q(i, j) == doctest::Approx(a(i, j) - std::log(exps)).epsilon(1e-12));
    }
  }
  CHECK(tt::eval(tt::sum(Array<float, 0, 3>())).item() == 0);
  CHECK(std::isnan(tt::eval(tt::mean(Array<float, 0>())).item()));
  const float inf = std::numeric_limits<float>::infinity();
  const Array<float, 3> none = Array<float, 3>() - inf;
  CHECK(std::isnan(tt::eval(tt::softmax<0>(none))(1)));
  CHECK(tt::eval(tt::logsumexp(none)).item() == -inf);
  const Array<float, 3> holed{1, std::numeric_limits<float>::quiet_NaN(), 3};
  CHECK(std::isnan(tt::eval(tt::amax(holed)).item()));
  CHECK(tt::eval(tt::argmax<0>(holed)).item() == 1);
}

TEST_CASE("an expression prints as what it is evaluated to") {
  const Array<float, 2> a{1, 2};
  std::ostringstream own, evaluated;
  own << a * 2 + 1 << ' ' << tt::sum(a);
  evaluated << tt::eval(a * 2 + 1) << ' ' << 3.0f;
  CHECK(own.str() == evaluated.str());
}

TEST_CASE("an expression without axes is a number, as an Array without axes is") {
  const Array<double> r = 0.5;
  const Array<float> f = 2.0f;
  CHECK(std::exp(r + 1.0) == std::exp(1.5));
  CHECK(std::sqrt(f * f) == 2.0f);
  const double sum = r + r * 3.0;
  CHECK(sum == 2);
  CHECK((r < 1.0 ? 3 : 4) == 3);
  static_assert(!std::is_convertible_v<decltype(Array<float, 1>() + 1.0f), float>);
}

TEST_CASE("labels pick their row's log probability") {
  const auto logits = filled<Array<float, 5, 4>>(3, wide_range);
  const Array<std::int32_t, 5> labels{0, 3, 1, 1, 2};
  double want = 0;
  for (int i = 0; i < 5; ++i) {
    double exps = 0;
    for (int j = 0; j < 4; ++j) exps += std::exp(static_cast<double>(logits(i, j)));
    want += (std::log(exps) - static_cast<double>(logits(i, labels(i)))) / 5;
  }
  CHECK(tt::eval(tt::cross_entropy(logits, labels)).item() == doctest::Approx(want).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("matrix products", T, TT_TESTED_NUMBERS) {
  // Small integers, so that sums are exact in every order.
  Array<T, 3, 5> a;
  Array<T, 5, 4> b;
  for (int i = 0; i < 15; ++i) a.data()[i] = static_cast<T>(i * 7 % 11 - 5);
  for (int i = 0; i < 20; ++i) b.data()[i] = static_cast<T>(i * 5 % 13 - 6);
  const auto dot = [&](int i, int j) {
    T s = 0;
    for (int k = 0; k < 5; ++k) s = static_cast<T>(s + a(i, k) * b(k, j));
    return s;
  };
  const Array<T, 3, 4> c = tt::matmul(a, b);
  const Array<T, 4, 3> d = tt::matmul(tt::transpose(b), tt::transpose(a));
  const Array<T, 5> row = tt::reshape<5>(tt::slice<0, 1, 2>(a));
  const Array<T, 5> column = tt::reshape<5>(tt::slice<1, 2, 3>(b));
  const Array<T, 4> vm = tt::matmul(row, b);
  const Array<T, 3> mv = tt::matmul(a, column);
  const Array<T> vv = tt::matmul(row, column);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      CHECK(c(i, j) == dot(i, j));
      CHECK(d(j, i) == dot(i, j));
    }
  for (int j = 0; j < 4; ++j) CHECK(vm(j) == dot(1, j));
  for (int i = 0; i < 3; ++i) CHECK(mv(i) == dot(i, 2));
  CHECK(vv.item() == dot(1, 2));
}

TEST_CASE("products of batches, of dynamic sizes, and with epilogues") {
  const auto a = filled<Array<double, 2, 3, 4>>(1, wide_range);
  const auto b = filled<Array<double, 2, 4, 5>>(2, wide_range);
  const auto shared = filled<Array<double, 4, 5>>(3, wide_range);
  const auto bias = filled<Array<double, 5>>(4, wide_range);
  const Array<double, 2, 3, 5> c = tt::matmul(a, b), d = tt::relu(tt::matmul(a, shared) + bias);
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 5; ++j) {
        double x = 0, y = bias(j);
        for (int k = 0; k < 4; ++k) {
          x += a(n, i, k) * b(n, k, j);
          y += a(n, i, k) * shared(k, j);
        }
        CHECK(c(n, i, j) == doctest::Approx(x).epsilon(1e-12));
        CHECK(d(n, i, j) == doctest::Approx(y > 0 ? y : 0).epsilon(1e-12));
      }
  const auto u = matrix<float>(37, 19, 1), v = matrix<float>(19, 23, 2);
  const auto w = tt::eval(tt::matmul(u, v));
  CHECK(w.shape() == tt::Shape{37, 23});
  for (int i = 0; i < 37; ++i)
    for (int j = 0; j < 23; ++j) {
      float sum = 0;
      for (int k = 0; k < 19; ++k) sum += u(i, k) * v(k, j);
      CHECK(w(i, j) == sum);
    }
  CHECK_THROWS_AS(tt::eval(tt::matmul(v, u)), tt::Error);
  const auto empty = tt::eval(tt::matmul(matrix<float>(3, 0, 1), matrix<float>(0, 2, 1)));
  CHECK(each_is(empty, [](auto) { return 0.0f; }));
}
