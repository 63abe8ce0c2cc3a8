// expect: tt: shapes do not broadcast
// expect: 6, tt::detail::shape<64, 128>, tt::detail::shape<64>
#include <tt/tt.hpp>

void f(const tt::Array<float, 64, 128>& a, const tt::Array<float, 64>& b) {
  tt::fuse([](auto x, auto y) { return tt::exp(x * y); })(a, b);
}
