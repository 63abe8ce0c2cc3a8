// expect: tt: extents are known at run time only: of images only the first may be
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3, tt::dyn, 8>& x, const tt::Array<float, 4, 3, 3, 3>& w) { return tt::eval(tt::conv2d(x, w)); }
