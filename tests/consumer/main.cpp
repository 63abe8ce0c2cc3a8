// What a program of someone else needs to build: one include, one fused function, its result.
#include <tt/tt.hpp>

#include <iostream>

int main() {
  const auto gate = tt::fuse([](auto x, auto y) { return tt::sigmoid(x) * y + 0.5; });
  const tt::Array<float, 2, 3> x{{-1, 0, 1}, {2, 3, 4}}, y{{1, 2, 3}, {4, 5, 6}};
  std::cout << gate(x, y) << '\n' << tt::eval(tt::sum<1>(x * y)) << '\n';
  return 0;
}
