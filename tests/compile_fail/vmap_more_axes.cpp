// expect: tt::vmap: more axes than arguments
#include <tt/tt.hpp>

tt::Array<float, 3, 3> f(const tt::Array<float, 3, 3>& x) {
  return tt::vmap<0, 1>([](const auto& row) { return tt::exp(row); })(x);
}
