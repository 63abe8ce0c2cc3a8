// expect: tt: the function updates a parameter in place, but this argument is const or temporary
#include <tt/tt.hpp>

void f(const tt::Array<float, 8>& w, const tt::Array<float, 8>& d) {
  tt::fuse([](auto& p, auto g) { p -= 0.1 * g; })(w, d);
}
