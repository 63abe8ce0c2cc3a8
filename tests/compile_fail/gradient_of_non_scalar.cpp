// expect: tt: gradient of something that is not a scalar. Take its sum or mean first
// expect: 6, tt::detail::shape<8>
#include <tt/tt.hpp>

void f(const tt::Array<float, 8>& a) {
  tt::grad([](auto x) { return x * x; })(a);
}
