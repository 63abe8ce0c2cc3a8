// expect: tt: a comparison inside an op is a mask over many elements and cannot steer `if` or `?:`; use tt::where(condition, a, b)
// max-lines: 46
#include <tt/tt.hpp>

void f(const tt::Array<float, 8>& a) {
  tt::fuse([](auto x) { return x > 0 ? x : 0.1 * x; })(a);
}
