// Casts between all dtypes, bitcasts, and arithmetic and shifts of integers, against scalars.
#include "op_samples.hpp"

namespace {

using namespace op_samples;

// Shifts of Arrays are written in ops.
struct Bits {
  static constexpr tt::OpInfo info{.name = "bits", .domain = tt::Domain::number, .arity = 2};
  static constexpr auto body(auto x, auto y) { return ((x & y) | (x ^ 5)) << 3; }
};
struct Right {
  static constexpr tt::OpInfo info{.name = "right", .domain = tt::Domain::number};
  static constexpr auto body(auto x) { return x >> 2; }
};
struct Logical {
  static constexpr tt::OpInfo info{.name = "logical", .domain = tt::Domain::number};
  static constexpr auto body(auto x) { return tt::shift_right_logical(x, 28); }
};

template <class From, class To>
void check_cast() {
  const Operands<From> o(sample_count);
  const Array<To, dyn> got = tt::cast<To>(o.a);
  std::int64_t wrong = 0, at = 0;
  for (std::int64_t i = 0; i < sample_count; ++i)
    if (!same(got(i), scalar_cast<To>(o.a(i)))) {
      at = i;
      ++wrong;
    }
  CAPTURE(tt::name(tt::dtype_of<From>));
  CAPTURE(tt::name(tt::dtype_of<To>));
  CAPTURE(o.a(at));
  CHECK(wrong == 0);
}
template <class From>
void check_casts() {
  check_cast<From, bool>();
  check_cast<From, std::int32_t>();
  check_cast<From, std::int64_t>();
  check_cast<From, float>();
  check_cast<From, double>();
}

}  // namespace

TEST_CASE("SIMD casts give the bits of scalar casts, between all dtypes") {
  check_casts<bool>();
  check_casts<std::int32_t>();
  check_casts<std::int64_t>();
  check_casts<float>();
  check_casts<double>();
}

TEST_CASE_TEMPLATE("integer arithmetic wraps around", T, std::int32_t, std::int64_t) {
  using L = std::numeric_limits<T>;
  using U = std::make_unsigned_t<T>;
  const Operands<T> o(1000);
  const Array<T, dyn> sum = o.a + o.b, difference = o.a - o.b, product = o.a * o.b, negated = -o.a,
                      size = tt::abs(o.a);
  bool fine = true;
  for (int i = 0; i < 1000; ++i) {
    const U a = static_cast<U>(o.a(i)), b = static_cast<U>(o.b(i));
    fine = fine && sum(i) == static_cast<T>(a + b) && difference(i) == static_cast<T>(a - b) &&
           product(i) == static_cast<T>(a * b) && negated(i) == static_cast<T>(U(0) - a) &&
           size(i) == (o.a(i) < 0 ? static_cast<T>(U(0) - a) : o.a(i));
  }
  CHECK(fine);
  const Array<T, 3> edge{L::max(), L::min(), -1};
  CHECK(tt::eval(edge + 1)(0) == L::min());
  CHECK(tt::eval(edge - 1)(1) == L::max());
  CHECK(tt::eval(-edge)(1) == L::min());
  CHECK(tt::eval(tt::abs(edge))(1) == L::min());
  CHECK(tt::eval(edge * edge)(0) == 1);
  CHECK(tt::eval(tt::floor(edge))(0) == L::max());
}

TEST_CASE("shifts and bits of integers") {
  constexpr tt::Elementwise<Bits> bits{};
  constexpr tt::Elementwise<Right> right{};
  constexpr tt::Elementwise<Logical> logical{};
  const Operands<std::int32_t> o(100);
  const Array<std::int32_t, dyn> a = bits(o.a, o.b), b = right(o.a), c = logical(o.a);
  bool fine = true;
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t x = static_cast<std::uint32_t>(o.a(i)), y = static_cast<std::uint32_t>(o.b(i));
    fine = fine && a(i) == static_cast<std::int32_t>(((x & y) | (x ^ 5u)) << 3) &&
           b(i) == o.a(i) >> 2 && c(i) == static_cast<std::int32_t>(x >> 28);
  }
  CHECK(fine);
}

TEST_CASE_TEMPLATE("a cast to an integer cuts, and gives the smallest one out of range", T, float, double) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const auto check = [](T x, std::int32_t i, std::int64_t l) {
    const Array<T, 17> a = Array<T, 17>() + x;
    CAPTURE(x);
    CHECK(tt::eval(tt::cast<std::int32_t>(a))(16) == i);
    CHECK(tt::eval(tt::cast<std::int64_t>(a))(0) == l);
  };
  const std::int32_t i = std::numeric_limits<std::int32_t>::min();
  const std::int64_t l = std::numeric_limits<std::int64_t>::min();
  check(T(2.9), 2, 2);
  check(T(-2.9), -2, -2);
  check(T(-0.5), 0, 0);
  check(T(2147483648.0), i, 2147483648);
  check(T(-2147483648.0), i, -2147483648);
  check(T(2147483520.0), 2147483520, 2147483520);
  check(T(9223372036854775808.0), i, l);
  check(T(-9223372036854775808.0), i, l);
  check(T(1e30), i, l);
  check(inf, i, l);
  check(-inf, i, l);
  check(nan, i, l);
}

TEST_CASE("casts between floating types, to bool, and of large integers") {
  const double inf = std::numeric_limits<double>::infinity();
  const Array<double, 6> d{1e300, -1e300, 1e-300, 0.1, inf, std::numeric_limits<double>::quiet_NaN()};
  const Array<float, 6> f = tt::cast<float>(d);
  for (int i = 0; i < 6; ++i) CHECK(same(f(i), static_cast<float>(d(i))));
  const Array<bool, 6> b = tt::cast<bool>(d);
  for (int i = 0; i < 6; ++i) CHECK(b(i));
  CHECK(!tt::eval(tt::cast<bool>(Array<float, 2>{-0.0f, 1e-45f}))(0));
  CHECK(tt::eval(tt::cast<bool>(Array<float, 2>{-0.0f, 1e-45f}))(1));
  const Array<std::int64_t, 3> l{9007199254740993, 16777217, -9223372036854775807};
  const Array<float, 3> lf = tt::cast<float>(l);
  const Array<double, 3> ld = tt::cast<double>(l);
  const Array<std::int32_t, 3> li = tt::cast<std::int32_t>(l);
  for (int i = 0; i < 3; ++i) {
    CHECK(lf(i) == static_cast<float>(l(i)));
    CHECK(ld(i) == static_cast<double>(l(i)));
    CHECK(li(i) == static_cast<std::int32_t>(static_cast<std::uint64_t>(l(i))));
  }
}

// Vectors of which all lanes are small are converted by other instructions than those with one that is not.
TEST_CASE("casts of numbers around 2^31 and from 2^50 to 2^54, alone and beside large ones") {
  for (const double large : {0.0, 1e300, -0x1p63})
    for (int exponent : {1, 30, 31, 32, 50, 51, 52, 53, 54}) {
      Array<double, 64> d;
      Array<float, 64> f;
      Array<std::int64_t, 64> l;
      for (int i = 0; i < 64; ++i) {
        const std::int64_t whole = (std::int64_t{1} << exponent) + (i / 2 - 16);
        l(i) = i % 2 ? -whole : whole;
        d(i) = (i % 2 ? -1 : 1) * (static_cast<double>(whole) + 0.25 * (i % 4));
        f(i) = static_cast<float>(d(i));
      }
      if (large != 0) {
        d(13) = large;
        f(13) = static_cast<float>(large);
        l(13) = std::numeric_limits<std::int64_t>::min();
        d(14) = f(14) = std::numeric_limits<float>::quiet_NaN();
      }
      const auto check = [&]<class To, class From>(To, const Array<From, 64>& from) {
        const Array<To, 64> to = tt::cast<To>(from);
        for (int i = 0; i < 64; ++i) CHECK(same(to(i), scalar_cast<To>(from(i))));
      };
      check(std::int32_t{}, d);
      check(std::int64_t{}, d);
      check(std::int32_t{}, f);
      check(std::int64_t{}, f);
      check(float{}, l);
      check(double{}, l);
      check(std::int32_t{}, l);
    }
}

TEST_CASE("a bitcast keeps the bits, there and back") {
  const Operands<std::int32_t> i(1000);
  const Operands<std::int64_t> l(1000);
  const Array<float, dyn> f = tt::bitcast<float>(i.a);
  const Array<double, dyn> d = tt::bitcast<double>(l.a);
  const Array<std::int32_t, dyn> i2 = tt::bitcast<std::int32_t>(f);
  const Array<std::int64_t, dyn> l2 = tt::bitcast<std::int64_t>(d);
  bool fine = true;
  for (int k = 0; k < 1000; ++k) fine = fine && i2(k) == i.a(k) && l2(k) == l.a(k);
  CHECK(fine);
}
