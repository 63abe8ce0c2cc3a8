// Every op of ElementwiseOps and every elementwise primitive, from the lists: SIMD against scalars
// bit for bit, and derivatives against differences. A new op or primitive adds no line here.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "tt/expr/fuse.hpp"
#include "tt/ops/list.hpp"

namespace {

using tt::Array;
using tt::dyn;
using tt::Op;

/// A primitive as an op, so that both fronts run it: comparisons give 1 or 0 in the dtype of x.
template <Op K, int Attribute = 0>
struct Primitive {
  static constexpr int arity = is_logical(K) || K == Op::where ? 3 : tt::arity(K);
  static constexpr tt::OpInfo info{.name = name(K), .domain = tt::Domain::number, .arity = arity};

  template <class... A>
  static TT_ALWAYS_INLINE constexpr auto primitive(const A&... a) {
    return tt::front_t<A...>::template primitive<K>({}, Attribute, a...);
  }
  static TT_ALWAYS_INLINE constexpr auto number(auto mask, auto x) {
    return tt::where(mask, 1, tt::where(mask, x, 0));
  }
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return primitive(x); }
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) {
    if constexpr (is_comparison(K)) return number(primitive(x, y), x);
    else return primitive(x, y);
  }
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y, auto z) {
    if constexpr (K == Op::where) return tt::where(x < y, y, z);
    else if constexpr (K == Op::logical_and) return number(x < y && y < z, x);
    else if constexpr (K == Op::logical_or) return number(x < y || y < z, x);
    else if constexpr (K == Op::logical_not) return number(!(x < y), z);
    else return primitive(x, y, z);
  }
};

/// f(TypeList<F>) for every op, and for every primitive that takes numbers of type T.
template <class... F>
void for_each_op(tt::TypeList<F...>, const auto& f) {
  (f(tt::TypeList<F>{}), ...);
}
template <class T>
constexpr bool takes(Op k) {
  const bool known = (is_arithmetic(k) && k != Op::copy) || is_comparison(k) || is_logical(k) || k == Op::where;
  return known && (std::is_floating_point_v<T> ? !is_bitwise(k) : !is_real(k));
}
template <class T>
void for_each_primitive(const auto& f) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const auto one = [&]<Op P>(std::integral_constant<Op, P>) {
      if constexpr (takes<T>(P) && is_shift(P)) {
        f(tt::TypeList<Primitive<P, 1>>{});
        f(tt::TypeList<Primitive<P, 8 * sizeof(T) - 1>>{});
      } else if constexpr (takes<T>(P)) {
        f(tt::TypeList<Primitive<P>>{});
      }
    };
    (one(std::integral_constant<Op, static_cast<Op>(K)>{}), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(tt::op_count)>{});
}

/// A third any bit pattern, a third edges, a third ordinary numbers.
template <class T>
struct Samples {
  std::uint64_t state = 88172645463325252u;

  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
  }
  T operator()() {
    using L = std::numeric_limits<T>;
    const std::uint64_t r = next(), kind = next() % 3;
    if constexpr (std::is_same_v<T, bool>) {
      return r >> 60 & 1;
    } else if constexpr (std::is_integral_v<T>) {
      constexpr T edges[] = {0, 1, -1, 2, L::max(), L::min(), L::max() - 1, L::min() + 1};
      if (kind == 0) return edges[r >> 61];
      if (kind == 1) return static_cast<T>(static_cast<std::int64_t>(r >> 57) - 64);
      return static_cast<T>(r >> (64 - 8 * sizeof(T)));
    } else {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      constexpr T edges[] = {0, 1, L::infinity(), L::quiet_NaN(), L::denorm_min(), L::min(),
                             L::max(), L::min() / 3, T(0.5), T(1.5), T(2.5), T(1 << 22) + T(0.5),
                             T(2147483648.0), T(9223372036854775808.0), L::epsilon(), T(88.7)};
      if (kind == 0) return (r >> 59 & 1 ? T(-1) : T(1)) * edges[r >> 60];
      if (kind == 1) return static_cast<T>(static_cast<double>(r >> 11) * 0x1p-53 * 24 - 12);
      return std::bit_cast<T>(static_cast<Bits>(r >> (64 - 8 * sizeof(T))));
    }
  }
};

TT_KERNELS_BEGIN
template <class F, class T>
TT_NOINLINE auto scalar(T a, T b, T c) {
  const tt::Num<T> x = a, y = b, z = c;
  if constexpr (F::info.arity == 1) return tt::NumFront::run<F, T>(x).value;
  else if constexpr (F::info.arity == 2) return tt::NumFront::run<F, T>(x, y).value;
  else return tt::NumFront::run<F, T>(x, y, z).value;
}
template <class To, class From>
TT_NOINLINE To scalar_cast(From x) { return tt::NumFront::cast<To>({}, tt::Num<From>(x)).value; }
TT_KERNELS_END

/// Equal bits; any NaN equals any other.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (a != a && b != b);
  } else {
    return a == b;
  }
}

template <class F, class A>
auto evaluate(const A& a, const A& b, const A& c) {
  constexpr tt::Elementwise<F> op{};
  if constexpr (F::info.arity == 1) return tt::eval(op(a));
  else if constexpr (F::info.arity == 2) return tt::eval(op(a, b));
  else return tt::eval(op(a, b, c));
}

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
constexpr std::int64_t sample_count = 1 << 16;
#else
constexpr std::int64_t sample_count = 1 << 12;
#endif

template <class T>
struct Operands {
  Array<T, dyn> a, b, c;
  explicit Operands(std::int64_t n) : a(n), b(n), c(n) {
    Samples<T> sample;
    for (std::int64_t i = 0; i < n; ++i) {
      a(i) = sample();
      b(i) = sample();
      c(i) = sample();
    }
  }
};

template <class F, class T>
void check_against_scalar() {
  const auto differences = [](const Operands<T>& o, std::int64_t& at) {
    const auto got = evaluate<F>(o.a, o.b, o.c);
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < o.a.size(); ++i)
      if (!same(got.data()[i], scalar<F, T>(o.a(i), o.b(i), o.c(i)))) {
        at = i;
        ++n;
      }
    return n;
  };
  CAPTURE(F::info.name);
  CAPTURE(tt::name(tt::dtype_of<T>));
  std::int64_t at = 0;
  const Operands<T> many(sample_count);
  const std::int64_t wrong = differences(many, at);
  CAPTURE(many.a(at));
  CAPTURE(many.b(at));
  CAPTURE(many.c(at));
  CHECK(wrong == 0);
  std::int64_t in_tails = 0;
  for (std::int64_t n = 1; n <= 40; ++n) in_tails += differences(Operands<T>(n), at);
  CHECK(in_tails == 0);
}

// ---- derivatives

/// d f / d argument `k` by the five-point rule; its error is h^4 / 30 of the fifth derivative plus
/// about 4 eps |f| / h.
template <class F>
double slope(double a, double b, double c, int k) {
  const double h = 1e-3;
  const auto at = [&](double d) {
    return scalar<F, double>(k == 0 ? a + d : a, k == 1 ? b + d : b, k == 2 ? c + d : c);
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}
/// Neither a kink nor a pole within 4 h: slopes on both sides agree, as they would not at a jump.
template <class F>
bool is_smooth(double a, double b, double c) {
  const double y = scalar<F, double>(a, b, c);
  if (!std::isfinite(y)) return false;
  for (int k = 0; k < F::info.arity; ++k) {
    const double d = 4e-3;
    const double left = slope<F>(k == 0 ? a - d : a, k == 1 ? b - d : b, k == 2 ? c - d : c, k);
    const double right = slope<F>(k == 0 ? a + d : a, k == 1 ? b + d : b, k == 2 ? c + d : c, k);
    if (!(std::fabs(left - right) < 0.05 * (1 + std::fabs(left)))) return false;
  }
  return true;
}
constexpr double slope_tolerance = 1e-7;

template <class F>
void check_gradient() {
  constexpr int n = 64;
  using A = Array<double, n>;
  A a, b, c;
  Samples<double> sample;
  int found = 0;
  const auto between = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(sample.next() >> 11) * 0x1p-53;
  };
  for (int tries = 0; tries < 4000 && found < n; ++tries) {
    const double x = between(-4, 4), y = between(-3, 3), z = between(-3, 3);
    if (!is_smooth<F>(x, y, z)) continue;
    a(found) = x;
    b(found) = y;
    c(found++) = z;
  }
  CAPTURE(F::info.name);
  CHECK(found == n);
  const auto check = [&](const A& got, int k) {
    double worst = 0;
    for (int i = 0; i < found; ++i) {
      const double want = slope<F>(a(i), b(i), c(i), k);
      worst = std::fmax(worst, std::fabs(got(i) - want) / (1 + std::fabs(want)));
      if (std::isnan(got(i))) worst = std::numeric_limits<double>::infinity();
    }
    CAPTURE(k);
    CHECK(worst < slope_tolerance);
  };
  using E = tt::Elementwise<F>;
  if constexpr (F::info.arity == 1) {
    check(tt::grad([](auto x) { return tt::sum(E{}(x)); })(a), 0);
  } else if constexpr (F::info.arity == 2) {
    const auto [da, db] = tt::grad<0, 1>([](auto x, auto y) { return tt::sum(E{}(x, y)); })(a, b);
    check(da, 0);
    check(db, 1);
  } else {
    const auto [da, db, dc] =
        tt::grad<0, 1, 2>([](auto x, auto y, auto z) { return tt::sum(E{}(x, y, z)); })(a, b, c);
    check(da, 0);
    check(db, 1);
    check(dc, 2);
  }
}

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

TEST_CASE_TEMPLATE("SIMD ops give the bits of their scalar form", T, float, double) {
  for_each_op(tt::ElementwiseOps{}, []<class F>(tt::TypeList<F>) { check_against_scalar<F, T>(); });
}

TEST_CASE_TEMPLATE("SIMD primitives give the bits of their scalar form", T, float, double,
                   std::int32_t, std::int64_t) {
  for_each_primitive<T>([]<class F>(tt::TypeList<F>) { check_against_scalar<F, T>(); });
}

TEST_CASE("derivatives of ops agree with differences") {
  for_each_op(tt::ElementwiseOps{}, []<class F>(tt::TypeList<F>) { check_gradient<F>(); });
}

TEST_CASE("derivatives of primitives agree with differences") {
  for_each_primitive<double>([]<class F>(tt::TypeList<F>) { check_gradient<F>(); });
}

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
