// expect: tt: a comparison inside an op is a mask over many elements and cannot steer `if` or `?:`; use tt::where(condition, a, b)
#include <tt/tt.hpp>

struct Leaky {
  static constexpr tt::OpInfo info{.name = "leaky"};
  static constexpr auto body(auto x) {
    if (x > 0) return x;
    return 0.1f * x;
  }
};

float f(float x) { return Leaky::body(tt::Num<float>(x)).value; }
