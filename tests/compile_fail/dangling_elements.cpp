// only: clang
// flags: -Werror
// expect: temporary whose address is used as value of local variable 'p' will be destroyed at the end of the full-expression
// expect: temporary bound to local reference 'first' will be destroyed at the end of the full-expression
#include <tt/tt.hpp>

float f(const tt::Array<float, 300>& a) {
  const float* p = tt::eval(a + 1).data();
  const float& first = tt::eval(a + 2)(0);
  return *p + first;
}
