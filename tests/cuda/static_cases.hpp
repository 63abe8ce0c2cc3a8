// Fused functions on a device against the same functions on the CPU: one list of cases, built by nvcc for
// a device and by g++ behind the shim. Equal bits with hardware fma on both sides.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "tt/expr/cuda.hpp"
#include "tt/tt.hpp"

namespace static_cases {

template <class T, std::int64_t... E>
tt::Array<T, E...> numbers(unsigned seed) {
  tt::Array<T, E...> a;
  for (T& x : a) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<T>(static_cast<double>(seed >> 8) / 8388608.0 - 1.0);
  }
  return a;
}
template <class T, std::int64_t... E>
bool same(const tt::cuda::Array<T, E...>& d, const tt::Array<T, E...>& h) {
  const tt::Array<T, E...> on_host = d.to_host();
  return on_host.size() == h.size() && std::memcmp(on_host.data(), h.data(), static_cast<std::size_t>(h.size()) * sizeof(T)) == 0;
}
template <class F, class... A>
bool agrees(F f, const A&... a) {
  return same(tt::cuda::fuse(f)(tt::cuda::to_device(a)...), tt::fuse(f)(a...));
}

/// Libraries compute products and convolutions of any size while this lives.
struct WithLibraries {
  WithLibraries() {
    tt::cuda::set_matmul_settings({.library = tt::cuda::BlasLibrary::cublaslt, .smallest = 1});
    tt::cuda::set_conv_settings({.library = tt::cuda::ConvLibrary::cudnn, .smallest = 1});
  }
  ~WithLibraries() {
    tt::cuda::set_matmul_settings({});
    tt::cuda::set_conv_settings({});
  }
};
/// Sums of up to 100 terms, in another order.
template <class F, class... A>
bool is_close(F f, const A&... a) {
  const auto here = tt::fuse(f)(a...);
  const auto there = tt::cuda::fuse(f)(tt::cuda::to_device(a)...).to_host();
  for (std::int64_t k = 0; k < here.size(); ++k)
    if (!(std::fabs(here.data()[k] - there.data()[k]) <= 2e-5 * (1 + std::fabs(here.data()[k])))) return false;
  return true;
}

template <class Kind>
struct Model {
  tt::leaf<Kind, float, 20, 10> w;
  tt::leaf<Kind, float, 10> b;
};
template <class Kind>
struct Rows {
  tt::leaf<Kind, float, tt::dyn, 8> w;
  tt::leaf<Kind, float, 8> b;
};

}  // namespace static_cases

using namespace static_cases;

TEST_CASE("elementwise, vectors and tails, rows and broadcasts") {
  const auto chain = [](auto x, auto y) { return tt::tanh(x * y + 0.5f) / (x + 2.0f); };
  CHECK(agrees(chain, numbers<float, 1024>(1), numbers<float, 1024>(2)));
  CHECK(agrees(chain, numbers<float, 1031>(1), numbers<float, 1031>(2)));
  CHECK(agrees(chain, numbers<float, 13, 64>(1), numbers<float, 64>(2)));
  CHECK(agrees(chain, numbers<float, 13, 67>(1), numbers<float, 67>(2)));
  CHECK(agrees([](auto x) { return tt::exp(tt::transpose(x)); }, numbers<float, 20, 33>(1)));
  CHECK(agrees([](auto x) { return tt::sin(x) * 2.0; }, numbers<double, 500>(1)));
}

TEST_CASE("rows, columns and softmax") {
  CHECK(agrees([](auto x) { return tt::sum(x * x, -1); }, numbers<float, 7, 100>(1)));
  CHECK(agrees([](auto x) { return tt::sum(x * x, -1); }, numbers<float, 3, 12299>(1)));
  CHECK(agrees([](auto x) { return tt::sum(x + 1.0f); }, numbers<float, 45126>(1)));
  CHECK(agrees([](auto x) { return tt::softmax(x, -1); }, numbers<float, 9, 65>(1)));
  CHECK(agrees([](auto x) { return tt::sum(x, 0); }, numbers<float, 700, 40>(1)));
  CHECK(agrees([](auto x) { return tt::sum(x, 0); }, numbers<float, 2307, 33>(1)));
  const auto turned = [](auto x, auto v) { return tt::matmul(tt::transpose(x), v); };
  CHECK(agrees(turned, numbers<float, 700, 40>(1), numbers<float, 700>(2)));
  CHECK(agrees(turned, numbers<float, 4200, 33>(1), numbers<float, 4200>(2)));
  CHECK(agrees([](auto x) { return tt::argmax(x, -1); }, numbers<float, 9, 65>(1)));
}

TEST_CASE("products with what follows them") {
  const auto linear = [](auto x, auto w, auto b) { return tt::relu(tt::matmul(x, w) + b); };
  CHECK(agrees(linear, numbers<float, 70, 33>(1), numbers<float, 33, 90>(2), numbers<float, 90>(3)));
  CHECK(agrees(linear, numbers<float, 257, 20>(1), numbers<float, 20, 260>(2), numbers<float, 260>(3)));
}

TEST_CASE("convolutions, pools and their gradients") {
  const auto layer = [](auto x, auto w, auto b) {
    return tt::max_pool2d(tt::relu(tt::conv2d<tt::Conv2dOptions{.stride = {1, 2}, .padding = 1}>(x, w, b)));
  };
  const auto x = numbers<float, 2, 3, 9, 8>(1);
  const auto w = numbers<float, 5, 3, 3, 3>(2);
  const auto b = numbers<float, 5>(3);
  CHECK(agrees(layer, x, w, b));
  const auto gradient = [](auto a, auto v) {
    return tt::grad<1>([](auto images, auto weights) { return tt::sum(tt::square(tt::conv2d(images, weights))); })(a, v);
  };
  CHECK(agrees(gradient, x, w));
}

TEST_CASE("products and convolutions by libraries, with what follows them") {
  const WithLibraries with;
  const auto a = numbers<float, 20, 32>(1);
  const auto b = numbers<float, 32, 12>(2);
  const auto row = numbers<float, 12>(3);
  CHECK(is_close([](auto x, auto w, auto v) { return tt::relu(tt::matmul(x, w) + v); }, a, b, row));
  CHECK(is_close([](auto x, auto w, auto v) { return tt::tanh(tt::matmul(x, w) * v); }, a, b, row));
  const auto x = numbers<float, 2, 3, 9, 8>(4);
  const auto w = numbers<float, 5, 3, 3, 3>(5);
  const auto bias = numbers<float, 5>(6);
  CHECK(is_close([](auto p, auto q, auto r) { return tt::relu(tt::conv2d<tt::Conv2dOptions{.stride = {1, 2}, .padding = 1}>(p, q, r)); }, x, w, bias));
  CHECK(is_close([](auto p, auto q, auto r) { return tt::exp(tt::conv2d(p, q, r) * 0.1f); }, x, w, bias));
}

TEST_CASE("elements that are stored narrow") {
  const auto chain = [](auto x, auto y) { return tt::where(x < y, x * 0.3f + y, tt::exp(y)); };
  CHECK(agrees(chain, numbers<tt::bfloat16, 13, 67>(1), numbers<tt::bfloat16, 67>(2)));
  CHECK(agrees(chain, numbers<tt::float16, 1024>(1), numbers<tt::bfloat16, 1024>(2)));
  CHECK(agrees([](auto x) { return tt::softmax(x, -1); }, numbers<tt::float16, 9, 65>(1)));
  CHECK(agrees([](auto x) { return tt::sum(x, 0); }, numbers<tt::bfloat16, 700, 40>(1)));
  CHECK(agrees([](auto x, auto w) { return tt::matmul(x, w); }, numbers<tt::bfloat16, 20, 33>(1), numbers<tt::bfloat16, 33, 12>(2)));
  CHECK(agrees([](auto x) { return x * 100 + x; }, numbers<std::int8_t, 300>(1)));
}

TEST_CASE("several results in nested tuples, and one Array as two arguments") {
  const auto x = numbers<float, 12, 10>(1);
  const auto several = [](auto a) { return std::tuple(std::tuple(tt::exp(a), tt::sum(a, 0)), tt::sum(a)); };
  const auto [on_device, d] = tt::cuda::fuse(several)(tt::cuda::to_device(x));
  const auto [on_host, h] = tt::fuse(several)(x);
  CHECK(same(std::get<0>(on_device), std::get<0>(on_host)));
  CHECK(same(std::get<1>(on_device), std::get<1>(on_host)));
  CHECK(same(d, h));

  const auto update = [](auto& w, auto a) { w -= tt::matmul(w, a); };
  tt::Array<float, 70, 70> w = numbers<float, 70, 70>(2);
  auto there = tt::cuda::to_device(w);
  tt::cuda::fuse(update)(there, there);
  tt::fuse(update)(w, w);
  CHECK(same(there, w));
}

TEST_CASE("a training step with parameters in place") {
  const auto step = [](auto& m, auto x, auto t) {
    const auto loss_of = [](const auto& p, const auto& a, const auto& b) { return tt::mean(tt::square(tt::matmul(a, p.w) + p.b - b)); };
    const auto [loss, d] = tt::value_and_grad(loss_of)(m, x, t);
    m.w -= 0.1f * d.w;
    m.b -= 0.1f * d.b;
    return loss;
  };
  Model<tt::arrays> on_host{numbers<float, 20, 10>(1), numbers<float, 10>(2)};
  Model<tt::cuda::arrays> on_device = tt::cuda::to_device(on_host);
  const auto x = numbers<float, 32, 20>(3);
  const auto t = numbers<float, 32, 10>(4);
  const auto gx = tt::cuda::to_device(x);
  const auto gt = tt::cuda::to_device(t);
  for (int k = 0; k < 3; ++k) CHECK(same(tt::cuda::fuse(step)(on_device, gx, gt), tt::fuse(step)(on_host, x, t)));
  CHECK(same(on_device.w, on_host.w));
  CHECK(same(on_device.b, on_host.b));
}

TEST_CASE("extents known at run time, of arguments and of parameters") {
  tt::Array<float, tt::dyn, 8> x(5);
  float value = 0;
  for (float& e : x) e = value += 0.37f;
  const auto scaled = [](auto a) { return tt::exp(a * 0.01f) + 1.0f; };
  CHECK(same(tt::cuda::fuse(scaled)(tt::cuda::to_device(x)), tt::Array<float, tt::dyn, 8>(tt::fuse(scaled)(x))));

  const auto step = [](auto& m, auto a) {
    m.w -= 0.5f * a;
    return tt::sum(m.w, 0) + m.b;
  };
  Rows<tt::arrays> on_host{x, numbers<float, 8>(1)};
  Rows<tt::cuda::arrays> on_device{tt::cuda::to_device(x), tt::cuda::to_device(on_host.b)};
  CHECK(same(tt::cuda::fuse(step)(on_device, tt::cuda::to_device(x)), tt::fuse(step)(on_host, x)));
  CHECK(same(on_device.w, on_host.w));
}
