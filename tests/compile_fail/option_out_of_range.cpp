// expect: tt: option is out of range
// expect: tt::detail::option<tt::FixedText<6>{"delta"}
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8>& a, const tt::Array<float, 8>& b) {
  return tt::fuse([](auto x, auto y) { return tt::huber_loss(x, y, tt::Reduction::mean, -1); })(a, b);
}
