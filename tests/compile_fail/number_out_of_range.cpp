// expect: tt: number is out of range beside this dtype. Cast the operand first?
// expect: 3000000000
#include <tt/tt.hpp>

void f(const tt::Array<int, 8>& a) {
  tt::fuse([](auto x) { return x + 3000000000; })(a);
}
