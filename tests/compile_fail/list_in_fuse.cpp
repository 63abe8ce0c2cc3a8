// expect: tt: this is no argument of a fused function or of a gradient: pass Arrays, views of memory, numbers, or structs of tt::leaf
#include <tt/tt.hpp>

#include <vector>

int main() {
  const std::vector<float> x{1, 2, 3};
  tt::fuse([](auto v) { return tt::sum(v); })(x);
}
