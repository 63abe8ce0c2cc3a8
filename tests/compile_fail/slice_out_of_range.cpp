// expect: tt: slice is out of range
// expect: tt::detail::shape<8, 3>, tt::detail::number<4>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8, 3>& a) { return tt::eval(tt::narrow<0, 4, 5>(a)); }
