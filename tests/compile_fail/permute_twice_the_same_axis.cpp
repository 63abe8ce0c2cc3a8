// expect: tt: axes are not a permutation
// expect: tt::detail::shape<2, 3, 4>
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3, 4>& a) { return tt::eval(tt::permute<0, 2, 2>(a)); }
