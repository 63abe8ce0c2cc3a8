// expect: tt: a comparison inside an op is a mask over many elements and cannot steer `if` or `?:`; use tt::where(condition, a, b)
// max-lines: 46
#include <tt/tt.hpp>

constexpr auto leaky = tt::op([](auto x) {
  if (x > 0) return x;
  return 0.1 * x;
});

auto f(const tt::Array<float, 8>& a) { return tt::eval(leaky(a)); }
