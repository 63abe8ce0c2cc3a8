// expect: tt: numbers of elements differ
// expect: "cross"
#include <tt/tt.hpp>

auto f(const tt::Array<float, 3, 4>& a) {
  return tt::eval(tt::cross(a, a));
}
