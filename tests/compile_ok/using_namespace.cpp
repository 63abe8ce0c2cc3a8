// `using namespace tt` beside <cmath> and `using namespace std`, as in many a user's file.
// flags: -DTT_COMPILED
#include <cmath>
#include <cstdint>
#include <vector>

#include <tt/tt.hpp>

using namespace std;
using namespace tt;

float scalars(float x, double y, int k) {
  const float a = exp(x) + log(x) + sin(x) + cos(x) + tan(x) + tanh(x) + sqrt(x) + abs(x) + floor(x) +
                  ceil(x) + round(x) + trunc(x) + pow(x, 2.0f) + exp2(x) + expm1(x) + log1p(x) +
                  log2(x) + erf(x) + fma(x, x, x);
  const double b = exp(y) + sqrt(y) + abs(y) + pow(y, 2) + fmax(y, 1.0) + fma(y, y, y);
  return a + static_cast<float>(b) + static_cast<float>(abs(k)) + static_cast<float>(std::max(k, 1));
}

Array<float, 8> elements(const Array<float, 8>& x) {
  const Array<float, 8> a = exp(x) + log(abs(x)) + sin(x) + cos(x) + tan(x) + tanh(x) + sqrt(x);
  const Array<float, 8> b = floor(x) + ceil(x) + round(x) + trunc(x) + pow(x, 2.0f) + exp2(x);
  const Array<float, 8> c = expm1(x) + log1p(x) + log2(x) + erf(x) + fma(x, x, x) + square(x);
  const Array<float, 8> d = where(x > 0 && x < 1, maximum(x, 0.5), minimum(x, -0.5));
  return a + b + c + d * mean(x) - sum(x);
}

int main() {
  const vector<float> v(8, 0.5f);
  Array<float, 8> x = Array<float, 8>::from(v);
  const Array<float, 8> y = elements(x);
  const auto f = fuse([](auto a) { return sum(exp(a) * relu(a)); });
  const Array<float> s = f(y);
  const Array<float, 8> g = grad([](auto a) { return sum(pow(a, 3)); })(x);
  return scalars(s, g(0), 3) > 1e30f;
}
