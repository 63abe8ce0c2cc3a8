// max-lines: 44
// expect: tt: numbers of elements differ
// expect: {"split"}
#include <tt/tt.hpp>

auto f(const tt::Array<float, 7, 3>& a) { return tt::eval(std::get<0>(tt::split<0, 2, 2>(a))); }
