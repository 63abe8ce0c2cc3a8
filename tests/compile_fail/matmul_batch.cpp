// expect: tt: batch extents differ
// expect: tt::detail::shape<2, 3, 4>, tt::detail::shape<5, 4, 3>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3, 4>& a, const tt::Array<float, 5, 4, 3>& b) {
  return tt::eval(tt::matmul(a, b));
}
