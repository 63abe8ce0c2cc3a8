// expect: tt: no elements to choose from
// expect: 6, tt::detail::shape<7, 0>, tt::detail::number<1>
#include <tt/tt.hpp>

void f(const tt::Array<float, 7, 0>& a) {
  tt::fuse([](auto x) { return tt::argmax<1>(x); })(a);
}
