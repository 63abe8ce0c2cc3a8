// A compiled call that runs a second time takes nothing from the heap: not for guards, not for results (the caching
// allocator has what the last call gave back), not for the tile interpreter, not for compiled kernels.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "../examples/digits/allocations.hpp"
#include "tensors.hpp"

namespace {

using tt::Tensor;

/// What ten calls take from the heap, after two that may; not what the thread that compiled their kernels still does.
template <class F>
long allocations_of(const F& f) {
  for (int k = 0; k < 2; ++k) f();
  const long before = digits::allocations_of_thread;
  for (int k = 0; k < 10; ++k) f();
  return digits::allocations_of_thread - before;
}
/// On tier 0, and on tier 1.
template <class F>
void check_no_allocation(const char* name, const F& call_with) {
  for (int tier : {0, 1}) {
    CAPTURE(std::string(name));
    CAPTURE(tier);
    CHECK(call_with(tt::CompileOptions{.name = name, .tier = tier, .wait = true}) == 0);
  }
}
Tensor uniform(const tt::IntList& shape, int seed) { return tt::rand(shape, seed) * 2 - 1; }

}  // namespace

TEST_CASE("the heap is counted") {
  CHECK(allocations_of([] { std::vector<int> v(100); CHECK(v.data()); }) >= 10);
}

TEST_CASE("a static program of run-time sizes takes nothing from the heap once it knows them") {
  using A = tt::Array<float, tt::dyn, tt::dyn>;
  const auto step = tt::fuse([](auto x, auto& y) { y = tt::softmax(tt::softmax(x, 0), 1); });
  const A x(7, 40), wider(7, 90);  // zeros
  A y(7, 40), z(7, 90);
  CHECK(allocations_of([&] { step(x, y); }) == 0);
  step(wider, z);
  CHECK(z(6, 89) == doctest::Approx(1.0 / 90));
  step(x, y);
  CHECK(y(6, 39) == doctest::Approx(1.0 / 40));
}

TEST_CASE("a warm compiled call of one Tensor takes nothing from the heap") {
  check_no_allocation("in_place", [](const tt::CompileOptions& o) {
    Tensor x = uniform({40, 50}, 1);
    const auto f = tt::compile([](Tensor& a) { a = tt::tanh(a) * 0.5 + 1.0; }, o);
    return allocations_of([&] { f(x); });
  });
  check_no_allocation("long_rows", [](const tt::CompileOptions& o) {
    const Tensor x = uniform({3, 10000}, 1);
    Tensor y;
    const auto f = tt::compile([](const Tensor& a) { return tt::sum(a, 1) / tt::amax(a, 1); }, o);
    return allocations_of([&] { y = f(x); });
  });
  check_no_allocation("with_result", [](const tt::CompileOptions& o) {
    const Tensor x = uniform({40, 50}, 1);
    Tensor y;
    const auto f = tt::compile([](const Tensor& a) { return tt::softmax(a, 1); }, o);
    return allocations_of([&] { y = f(x); });
  });
}

TEST_CASE("a warm compiled call of four Tensors takes nothing from the heap") {
  check_no_allocation("step", [](const tt::CompileOptions& o) {  // all kinds of kernels, two updates and a result
    Tensor w = uniform({64, 16}, 1), b = uniform({16}, 2), x = uniform({32, 64}, 3), y = uniform({32, 16}, 4), loss;
    const auto f = tt::compile(
        [](Tensor& weights, Tensor& bias, const Tensor& in, const Tensor& wanted) {
          const Tensor d = tt::tanh(tt::matmul(in, weights) + bias) - wanted;
          weights = weights - 0.01 * tt::matmul(tt::transpose(in), d);
          bias = bias - 0.01 * tt::sum(d, 0);
          return tt::mean(d * d);
        },
        o);
    return allocations_of([&] { loss = f(w, b, x, y); });
  });
}

TEST_CASE("a warm compiled call of sixteen Tensors takes nothing from the heap") {
  check_no_allocation("all_in_place", [](const tt::CompileOptions& o) {
    std::array<Tensor, 16> t;
    for (int k = 0; k < 16; ++k) t[static_cast<std::size_t>(k)] = uniform({10, k + 2}, k);
    const auto f = tt::compile([](std::array<Tensor, 16>& all) { for (Tensor& x : all) x = x * 0.5 + 0.25; }, o);
    return allocations_of([&] { f(t); });
  });
  check_no_allocation("one_result", [](const tt::CompileOptions& o) {
    std::array<Tensor, 16> t;
    for (int k = 0; k < 16; ++k) t[static_cast<std::size_t>(k)] = uniform({30}, k);
    Tensor sum;
    const auto f = tt::compile(
        [](const std::array<Tensor, 16>& all) {
          Tensor s = all[0];
          for (std::size_t k = 1; k < all.size(); ++k) s = s + all[k] * all[k - 1];
          return s;
        },
        o);
    return allocations_of([&] { sum = f(t); });
  });
}
