// expect: tt: an op captures nothing: pass what it needs as further arguments
// max-lines: 12
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8>& a, float slope) {
  const auto scaled = tt::op([slope](auto x) { return x * slope; });
  return tt::eval(scaled(a));
}
