// expect: tt: what is assigned has another shape than the Array
#include <tt/tt.hpp>

void f(tt::Array<float, 8>& out, const tt::Array<float, 1, 8>& a) { out = a * 2; }
