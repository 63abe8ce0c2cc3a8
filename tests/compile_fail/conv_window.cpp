// expect: tt: window does not fit. Pad the input, or take a smaller window?
// expect: tt::detail::shape<2, 3, 2, 8>, tt::detail::number<3>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3, 2, 8>& x, const tt::Array<float, 4, 3, 3, 3>& w) { return tt::eval(tt::conv2d(x, w)); }
