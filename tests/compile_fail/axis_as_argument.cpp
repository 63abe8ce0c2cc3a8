// expect: tt: the shape of an Array is part of its type: give the axis as a template argument, as in tt::sum<1>(a)
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8, 3>& a) { return tt::eval(tt::sum(a, 1)); }
