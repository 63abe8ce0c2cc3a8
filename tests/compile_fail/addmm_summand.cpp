// expect: tt: shapes do not broadcast
// expect: "addmm"
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2>& c, const tt::Array<float, 3, 4>& a, const tt::Array<float, 4, 5>& b) {
  return tt::eval(tt::addmm(c, a, b));
}
