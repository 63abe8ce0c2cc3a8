// expect: tt: channels differ
// expect: tt::detail::shape<2, 3, 8, 8>, tt::detail::shape<4, 2, 3, 3>, tt::detail::number<1
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3, 8, 8>& x, const tt::Array<float, 4, 2, 3, 3>& w) { return tt::eval(tt::conv2d(x, w)); }
