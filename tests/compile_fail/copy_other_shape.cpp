// expect: tt: what is assigned has another shape than the Array
// max-lines: 16
#include <tt/tt.hpp>

void f(tt::Array<float, 2, tt::dyn>& out, const tt::Array<float, 3, 4>& a) { out = a; }
