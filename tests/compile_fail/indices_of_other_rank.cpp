// expect-gcc: no match for call
// expect-clang: no matching function for call to object of type
#include <tt/tt.hpp>

float f(const tt::Array<float, 8, 3>& a) { return a(1); }
