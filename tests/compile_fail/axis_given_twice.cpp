// expect: tt: axis is given twice
// expect: axis_exists<tt::detail::shape<7, 9>, -1, 6>
#include <tt/tt.hpp>

void f(const tt::Array<float, 7, 9>& a) {
  tt::fuse([](auto x) { return tt::sum<1, -1>(x); })(a);
}
