// expect: tt: axis is out of range
// expect: 6, tt::detail::shape<7, 9>, tt::detail::number<-3>
#include <tt/tt.hpp>

void f(const tt::Array<float, 7, 9>& a) {
  tt::fuse([](auto x) { return tt::softmax(x, -3); })(a);
}
