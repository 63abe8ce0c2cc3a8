// expect: tt: the expression has another shape than the Array
// max-lines: 30
#include <tt/tt.hpp>

void f(tt::Array<float, 8>& out, const tt::Array<float, 1, 8>& a) { out = a * 2; }
