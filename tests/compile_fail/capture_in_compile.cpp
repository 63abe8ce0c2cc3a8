// expect: tt::compile: this function captures variables, and what is compiled must be known: pass them as arguments, or fix them with tt::frozen(f)
#include <tt/tt.hpp>

void f(const tt::Tensor& a, float slope) {
  tt::compile([slope](auto x) { return x * slope; })(a);
}
