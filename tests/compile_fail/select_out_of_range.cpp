// expect: tt: slice is out of range
// expect: tt::FixedText<7>{"select"}, 0, tt::detail::shape<2, 3>, tt::detail::number<3>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3>& a) { return tt::eval(tt::select<1, 3>(a)); }
