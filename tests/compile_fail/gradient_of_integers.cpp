// expect: tt: dtype is not accepted. Cast it first?
#include <tt/tt.hpp>

int main() {
  const tt::Array<int, 3> x{1, 2, 3};
  (void)tt::grad([](auto v) { return tt::sum(v); })(x);
}
