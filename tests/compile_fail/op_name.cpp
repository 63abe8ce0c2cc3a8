// expect: tt: the name of an op consists of letters, digits and _
// max-lines: 30
#include <tt/tt.hpp>

struct Square {
  static constexpr tt::OpInfo info{.name = "mine::square"};
  static constexpr auto body(auto x) { return x * x; }
};
tt::Tensor f(const tt::Tensor& x) { return tt::call<Square>(tt::here(), x); }
