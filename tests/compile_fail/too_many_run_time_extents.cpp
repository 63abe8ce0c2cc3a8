// expect: tt: too many run-time extents. Give some of them constants, or split the function
// expect: number<10>, tt::detail::at_most<8>
#include <tt/tt.hpp>

using Matrix = tt::Array<float, tt::dyn, tt::dyn>;

void f(const Matrix& a) {
  tt::fuse([](auto v, auto w, auto x, auto y, auto z) { return v + w + x + y + z; })(a, a, a, a, a);
}
