// expect: tt: dtypes differ. Cast one?
// expect: "matmul"
#include <tt/tt.hpp>

auto f(const tt::Array<float, 3, 4>& a, const tt::Array<double, 4, 5>& b) {
  return tt::eval(tt::matmul(a, b));
}
