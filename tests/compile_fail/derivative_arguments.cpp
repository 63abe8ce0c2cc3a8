// expect: tt: the derivative of an elementwise op takes its operands, its result and the gradient of that
// max-lines: 40
#include <tt/tt.hpp>

struct Square {
  static constexpr tt::OpInfo info{.name = "square_of_one"};
  static constexpr auto body(auto x) { return x * x; }
  static constexpr auto derivative(auto x, auto grad) { return grad * x * 2; }
};
tt::Tensor f(const tt::Tensor& x) { return tt::call<Square>(tt::here(), x); }
