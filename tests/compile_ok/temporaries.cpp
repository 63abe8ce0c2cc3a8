// Temporaries are owned by the expressions they stand in, so no compiler may warn.
// flags: -DTT_COMPILED
#include <tt/tt.hpp>

#include <utility>

using Vector = tt::Array<float, 8>;

static Vector make(float x) { return Vector() + x; }

static auto of_temporaries(const Vector& b) {
  auto e = make(1) * b + tt::exp(make(2));
  auto f = std::move(e) / make(3);
  return f + f;
}

int main() {
  const Vector b = make(4);
  const auto e = of_temporaries(b);
  auto g = tt::eval(make(1) + b) * 2;
  float sum = 0;
  for (const float x : make(5)) sum += x;
  const float first = make(6)(0), second = *make(7).data();
  return tt::eval(e)(0) + tt::eval(g)(1) + sum + first + second > 1e9f;
}
