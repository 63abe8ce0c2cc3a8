// expect: tt: too many nodes for a static program. Raise TT_MAX_STATIC_NODES, or split the function
// flags: -DTT_MAX_STATIC_NODES=10
// expect: at_most<10>
#include <tt/tt.hpp>

void f(const tt::Array<float, 8>& a) {
  tt::fuse([](auto x) {
    auto y = x;
    for (int k = 0; k < 20; ++k) y = y * x + 1;
    return y;
  })(a);
}
