// expect: tt: too many nodes for a static program. Raise TT_MAX_STATIC_NODES, or split the function
// flags: -DTT_MAX_STATIC_NODES=40
// expect: number<31>, tt::detail::at_most<40>
// Few nodes, each a kernel: the plan does not fit the room that so many nodes have.
#include <tt/tt.hpp>

void f(const tt::Array<float, 8, 8>& a) {
  tt::fuse([](auto x) {
    auto y = x;
    for (int k = 0; k < 30; ++k) y = tt::matmul(y, x);
    return y;
  })(a);
}
