// Derivatives of every op and every elementwise primitive against differences. A new one adds no line here.
#include "slopes.hpp"

namespace {

using namespace op_samples;

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

}  // namespace

TEST_CASE("derivatives of ops agree with differences") {
  for_each_op(tt::ElementwiseOps{}, []<class F>(tt::TypeList<F>) { check_gradient<F>(); });
}

TEST_CASE("derivatives of primitives agree with differences") {
  for_each_primitive<double>([]<class F>(tt::TypeList<F>) { check_gradient<F>(); });
}
