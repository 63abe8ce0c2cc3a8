// expect: tt: axis is out of range
// expect: tt::detail::shape<7, 9>, tt::detail::number<5>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 7, 9>& a) { return tt::eval(tt::sum<5>(a)); }
