// expect: tt: the extent along the axis is known at run time only
#include <tt/tt.hpp>

auto f(const tt::Array<float, tt::dyn>& a, const tt::Array<float, 2>& b) { return tt::eval(tt::cat(a, b)); }
