// expect: tt: slice is out of range
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3>& a) { return tt::eval(tt::select<1, 3>(a)); }
