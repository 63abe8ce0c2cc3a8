// expect: tt: a parameter changes its shape or dtype
// expect: tt::detail::shape<8>, tt::detail::shape<3, 8>
#include <tt/tt.hpp>

void f(tt::Array<float, 8>& w, const tt::Array<float, 3, 8>& d) {
  tt::fuse([](auto& p, auto g) { p -= 0.1 * g; })(w, d);
}
