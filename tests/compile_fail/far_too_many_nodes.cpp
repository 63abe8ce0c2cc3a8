// expect: tt: too many nodes for a static program. Raise TT_MAX_STATIC_NODES, or split the function
// expect: number<3002>, tt::detail::at_most<600>
#include <tt/tt.hpp>

void f(const tt::Array<float, 8>& a) {
  tt::fuse([](auto x) {
    auto y = x;
    for (int k = 0; k < 1500; ++k) y = y * x + 1;
    return y;
  })(a);
}
