// expect: tt: axis is given twice
// expect: 6, tt::detail::shape<7, 9>, tt::detail::number<-1>
#include <tt/tt.hpp>

void f(const tt::Array<float, 7, 9>& a) {
  tt::fuse([](auto x) { return tt::sum<1, -1>(x); })(a);
}
