// expect: tt::compile: this function captures variables, and what is compiled must be known: pass them as arguments
#include <tt/tt.hpp>

void f(const tt::Tensor& a, float slope) {
  tt::compile([slope](auto x) { return x * slope; })(a);
}
