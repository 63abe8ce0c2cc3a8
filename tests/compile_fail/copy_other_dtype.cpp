// expect: tt: what is assigned has another dtype than the Array; use tt::cast<T>(...)
// max-lines: 16
#include <tt/tt.hpp>

tt::Array<int, 3> f(const tt::Array<float, 3>& a) { return a; }
