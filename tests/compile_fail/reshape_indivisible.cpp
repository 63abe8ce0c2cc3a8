// expect: tt: numbers of elements differ
// expect: tt::detail::shape<2, 3>, tt::detail::shape<1, 4>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3>& a) { return tt::eval(tt::reshape<-1, 4>(a)); }
