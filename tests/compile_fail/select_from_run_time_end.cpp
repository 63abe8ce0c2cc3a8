// expect: tt: the extent along the axis is known at run time only. Give it a constant extent?
// expect: {"select"}
#include <tt/tt.hpp>

auto f(const tt::Array<float, tt::dyn, 3>& a) { return tt::eval(tt::select<0, -1>(a)); }
