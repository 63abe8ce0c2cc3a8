// expect: tt: axis is out of range
// expect: axis_exists<tt::detail::shape<7, 9>, -3, 6>
#include <tt/tt.hpp>

void f(const tt::Array<float, 7, 9>& a) {
  tt::fuse([](auto x) { return tt::softmax(x, -3); })(a);
}
