#include <tt/tt.hpp>

#include <tt/io/eigen.hpp>

int main() {
  const tt::Tensor x = tt::ones({2, 3});
  return tt::as_eigen<float>(x).sum() == 6 ? 0 : 1;
}
