// expect: tt: shapes do not broadcast
// expect: tt::detail::shape<64, 128>, tt::detail::shape<100>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 64, 128>& a, const tt::Array<float, 100>& b) {
  return tt::eval(a + b);
}
