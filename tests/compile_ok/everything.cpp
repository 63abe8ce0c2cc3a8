// A user's file that touches all of tt.hpp.
#include <tt/tt.hpp>

#include <cstdio>
#include <iostream>

namespace {

template <class Kind>
struct Linear {
  tt::leaf<Kind, float, 16, 8> weight;
  tt::leaf<Kind, float, 8> bias;
};
template <class Kind>
struct Mlp {
  Linear<Kind> hidden;
  tt::leaf<Kind, float, 8, 4> out;
};

struct Swish {
  static constexpr tt::OpInfo info{.name = "swish", .arity = 2};
  static constexpr auto body(auto x, auto beta) { return x / (1 + tt::exp(-(beta * x))); }
};
constexpr tt::Elementwise<Swish> swish{};
constexpr auto shifted = tt::op([](auto x) { return tt::where(x > 0, x - 1, x * 0.5); });

constexpr auto loss = [](const auto& p, auto x, auto labels) {
  const auto h = tt::relu(tt::matmul(x, p.hidden.weight) + p.hidden.bias);
  return tt::cross_entropy(tt::matmul(h, p.out), labels);
};
constexpr auto step = tt::fuse([](auto& p, auto x, auto labels) {
  const auto [value, grads] = tt::value_and_grad(loss)(p, x, labels);
  tt::for_each_member([](auto& w, const auto& g) { w -= 0.1 * g; }, p, grads);
  return value;
});

float expressions() {
  tt::Array<float, 3, 4> a{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  const tt::Array<float, 4> row{1, 0, -1, 2};
  const tt::Array<double, 3, 1> column{{1}, {2}, {3}};
  tt::Array<float, 3, 4> b = a * row + 2;
  b += a;
  b -= 1;
  b *= row;
  b /= 2.0;
  b = tt::where(a > 3 && row <= 1, swish(a, 0.5), shifted(b));
  const tt::Array<double, 3, 4> wide = a + column;
  const tt::Array<std::int64_t, 3> best = tt::argmax<1>(b);
  const tt::Array<std::int32_t, 3, 4> rounded = tt::cast<std::int32_t>(tt::round(a));
  const tt::Array<bool, 3, 4> mask = !(a == b) || a != 2;
  const tt::Array<float, 4, 3> t = tt::transpose(a);
  const tt::Array<float, 3, 3> product = tt::matmul(a, tt::transpose(a)) / 4;
  const tt::Array<float, 12> flat = tt::reshape<12>(a);
  const tt::Array<float, 2, 4> rows = tt::slice<0, 1, 3>(a);
  const tt::Array<float, 3, 4> p = tt::softmax<1>(a);
  const tt::Array<float> mean = tt::mean(a);
  const auto variance = tt::eval(tt::var<0>(a));
  std::cout << a << wide << best << rounded << mask << t << product << flat << rows << p << '\n';
  return mean.item() + variance(0) + tt::eval(tt::sum(a)).item();
}

std::int64_t unknown_sizes(std::int64_t n) {
  tt::Array<float, tt::dyn, 4> x(n), y;
  x = x + 1;
  y = tt::exp(x) * x;
  tt::Array<float, tt::dyn> s = tt::sum<1>(y);
  const auto f = tt::fuse([](auto& u, auto v) { u += tt::sigmoid(v) * v; });
  f(x, y);
  return s.size() + x.extent(0);
}

}  // namespace

int main() {
  Mlp<tt::arrays> parameters{};
  tt::Array<float, 5, 16> x;
  const tt::Array<std::int64_t, 5> labels{0, 1, 2, 3, 0};
  const tt::Array<float> value = step(parameters, x, labels);
  const auto gradient = tt::grad([](auto u, auto v) { return tt::sum(u * tt::tanh(v)); });
  const auto both = tt::grad<0, 1>([](auto u, auto v) { return tt::sum(u * tt::tanh(v)); });
  const tt::Array<float, 5, 16> g = gradient(x, x);
  const auto [g0, g1] = both(x, x);
  static_assert(tt::kernels<tt::Array<float, 5, 16>>([](auto u) { return tt::silu(u) * 2; }) == 1);
  std::cout << value << tt::config() << '\n'
            << tt::explain<tt::Array<float, 5, 16>>([](auto u) { return tt::softmax(u, 1); });
  if (value.item() < 0) tt::save_npy("x.npy", tt::eval(g0 + g1));
  return expressions() + g(0, 0) > 1e9f && unknown_sizes(3) > 0;
}
