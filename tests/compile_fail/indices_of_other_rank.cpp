// expect: tt: an Array takes one index for each of its axes
// max-lines: 14
#include <tt/tt.hpp>

float f(const tt::Array<float, 8, 3>& a) { return a(1); }
