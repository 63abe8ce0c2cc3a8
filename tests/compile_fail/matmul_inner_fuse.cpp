// expect: tt: inner extents differ. Transpose one side?
// expect: 6, tt::detail::shape<2, 3>, tt::detail::shape<4, 5>
#include <tt/tt.hpp>

void f(const tt::Array<float, 2, 3>& a, const tt::Array<float, 4, 5>& b) {
  tt::fuse([](auto x, auto y) { return tt::matmul(x, y) + 1; })(a, b);
}
