// expect: tt: shapes do not broadcast
// expect: tt::detail::shape<3>, tt::detail::shape<4>
#include <tt/tt.hpp>

void f(tt::Array<double, 3>& a, const tt::Array<double, 4>& b) { a += b; }
