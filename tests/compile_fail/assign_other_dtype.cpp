// expect: tt: what is assigned has another dtype than the Array; use tt::cast<T>(...)
#include <tt/tt.hpp>

void f(tt::Array<float, 8>& out, const tt::Array<double, 8>& a) { out = a * 2; }
