// expect: tt: inner extents differ. Transpose one side?
// expect: tt::detail::shape<2, 3>, tt::detail::shape<4, 5>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3>& a, const tt::Array<float, 4, 5>& b) {
  return tt::eval(tt::matmul(a, b));
}
