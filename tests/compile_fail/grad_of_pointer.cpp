// expect: tt::grad: an argument to differentiate by is a Tensor, or a struct, std::vector, std::array, pair or tuple of what is; no pointer, no C array
// max-lines: 12
#include <tt/tt.hpp>

struct Net {
  tt::Tensor w;
  const tt::Tensor* b;
};
void f(const Net& net) { (void)tt::grad([](const Net& n) { return n.w.sum(); })(net); }
