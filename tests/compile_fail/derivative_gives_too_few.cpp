// expect: tt: the derivative of an op gives Gradients{...} of each of its operands
// max-lines: 40
#include <tt/tt.hpp>

struct Product {
  static constexpr tt::OpInfo info{.name = "product_of_two", .arity = 2};
  static constexpr auto body(auto x, auto y) { return x * y; }
  static constexpr auto derivative(auto, auto y, auto, auto grad) { return tt::Gradients{grad * y}; }
};
tt::Tensor f(const tt::Tensor& x) { return tt::call<Product>(tt::here(), x, x); }
