// expect: tt: this function captures variables, and what is compiled must be known: pass them as arguments
#include <tt/tt.hpp>

void f(const tt::Array<float, 8>& a, float slope) {
  tt::fuse([slope](auto x) { return x * slope; })(a);
}
