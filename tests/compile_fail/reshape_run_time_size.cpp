// expect: tt: the number of elements is a product of run-time extents. Give one extent as -1?
#include <tt/tt.hpp>

auto f(const tt::Array<float, tt::dyn, tt::dyn>& a) { return tt::eval(tt::reshape<6>(a)); }
