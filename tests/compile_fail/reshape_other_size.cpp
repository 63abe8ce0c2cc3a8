// expect: tt: numbers of elements differ
// expect: tt::detail::shape<6, 4>, tt::detail::shape<5, 5>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 6, 4>& a) { return tt::eval(tt::reshape<5, 5>(a)); }
