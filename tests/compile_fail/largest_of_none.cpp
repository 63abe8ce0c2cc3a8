// expect: tt: no elements to choose from
// expect: axis_has_elements<tt::detail::shape<7, 0>, 1, 6>
#include <tt/tt.hpp>

void f(const tt::Array<float, 7, 0>& a) {
  tt::fuse([](auto x) { return tt::argmax<1>(x); })(a);
}
