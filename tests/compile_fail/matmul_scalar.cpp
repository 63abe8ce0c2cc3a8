// expect: tt: rank is too low
// expect: tt::detail::shape<>, tt::detail::number<1>
#include <tt/tt.hpp>

auto f(const tt::Array<float>& a, const tt::Array<float, 4>& b) {
  return tt::eval(tt::matmul(a, b));
}
