// What a file that only adds and prints Tensors is compiled to, without tt::compiled.
#include <tt/tt.hpp>

#include <iostream>

int main() {
  const tt::Tensor a = tt::tensor({1.0f, 2.0f, 3.0f}), b = tt::tensor({10.0f, 20.0f, 30.0f});
  std::cout << a + b << '\n';
}
