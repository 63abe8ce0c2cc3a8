// expect: tt::vmap: one OutDim at most, behind the axes of the arguments
#include <tt/tt.hpp>

auto f(const tt::Array<float, 3, 3>& x) {
  return tt::vmap<tt::OutDim{1}, 1>([](const auto& row) { return tt::exp(row); })(x);
}
