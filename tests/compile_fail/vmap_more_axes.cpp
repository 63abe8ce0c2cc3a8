// expect: tt::vmap: more axes than arguments
// max-lines: 45
#include <tt/tt.hpp>

auto f(const tt::Array<float, 3, 3>& x) {
  return tt::vmap<0, 1>([](const auto& row) { return tt::exp(row); })(x);
}
