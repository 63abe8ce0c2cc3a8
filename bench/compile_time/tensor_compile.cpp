// A function of Tensors that is compiled at run time.
#include <tt/tt.hpp>

#include <iostream>

int main() {
  const auto f = tt::compile([](const tt::Tensor& a, const tt::Tensor& b) { return tt::tanh(a * b) + 1; });
  const tt::Tensor a = tt::tensor({1.0f, 2.0f, 3.0f}), b = tt::tensor({10.0f, 20.0f, 30.0f});
  std::cout << f(a, b) << '\n';
}
