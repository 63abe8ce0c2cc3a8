// expect: tt: too many elements: more than memory can hold
// expect: tt::detail::shape<1073741824, 1073741824>
#include <tt/tt.hpp>

void f(const tt::Array<float, 1073741824, 1>& a, const tt::Array<float, 1, 1073741824>& b) {
  tt::fuse([](auto x, auto y) { return tt::sum(x * y); })(a, b);
}
