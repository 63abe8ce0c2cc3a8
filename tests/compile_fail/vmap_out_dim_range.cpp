// expect: out of range
// expect: "vmap (OutDim, an axis of the result)"
#include <tt/tt.hpp>

auto f(const tt::Array<float, 3, 3>& x) {
  return tt::vmap<0, tt::OutDim{2}>([](const auto& row) { return tt::exp(row); })(x);
}
