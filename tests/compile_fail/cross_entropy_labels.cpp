// expect: tt: shapes do not broadcast
// expect: tt::detail::shape<2, 3>, tt::detail::shape<3>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3>& a, const tt::Array<std::int64_t, 3>& b) { return tt::eval(tt::cross_entropy(a, b)); }
