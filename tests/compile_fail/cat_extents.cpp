// expect: tt: extents beside the axis differ
// expect: 7, tt::detail::shape<2, 3>, tt::detail::shape<2, 4>
#include <tt/tt.hpp>

void f(const tt::Array<float, 2, 3>& a, const tt::Array<float, 2, 4>& b) {
  const auto g = [](auto x, auto y) {
    return tt::cat<0>(x, y);
  };
  tt::fuse(g)(a, b);
}
