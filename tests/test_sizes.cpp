// What compiled functions do with sizes: where a function looks at one, in a branch, a loop or a sum, compiled means what eager
// means, for every size; where it does not, one capture serves all.
#include <doctest/doctest.h>

#include <functional>

#include "random_graph.hpp"
#include "tensors.hpp"

namespace {

using tt::Tensor;

Tensor numbered(std::int64_t rows, std::int64_t columns) { return tt::arange(rows * columns).to(tt::DType::f32).reshape({rows, columns}) * 0.125; }

/// f, eager and compiled, at these numbers of rows.
template <class F>
void agrees(const F& f, std::initializer_list<std::int64_t> sizes) {
  auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    const Tensor x = numbered(n, 3);
    CHECK(same_bits(compiled(x), f(x)));
  }
}

}  // namespace

TEST_CASE("a branch on a size is right for every size") {
  for (const std::int64_t least : {5, 6, 8, 10, 16, 20, 50, 100}) {
    CAPTURE(least);
    agrees([least](const Tensor& x) { return x.size(0) > least ? x * 10 : x * 2; }, {4, 9, 200, 7, least, least + 1, 3});
  }
  agrees([](const Tensor& x) { return x.size(0) % 64 == 0 ? x + 1 : x - 1; }, {4, 64, 128, 100, 63});
  agrees([](const Tensor& x) { return x.numel() == 96 ? x + 1 : x - 1; }, {4, 32, 31, 64});
  agrees([](const Tensor& x) { return x.shape()[0] == tt::Extent(40) ? x + 1 : x - 1; }, {4, 40, 80});
  agrees([](const Tensor& x) { return x * (x.size(0) > 30 ? 0.5 : 1.0); }, {4, 31, 30, 62});
}

TEST_CASE("a branch on the size of a value, or of what the function makes, is right for every size") {
  agrees([](const Tensor& x) {
    Tensor y = x.t().contiguous();
    if (y.size(1) > 20) y = y * 3;
    return y;
  }, {4, 21, 20, 50});
  agrees([](const Tensor& x) {
    const Tensor z = tt::zeros_like(x) + 1;
    return z.size(0) > 25 ? x + z : x - z;
  }, {4, 26, 25, 90});
  agrees([](const Tensor& x) {
    Tensor y = x * 2;
    if (y.numel() > 60) y = y.slice(0, 0, 20);
    return y.mean();
  }, {4, 30, 20, 21, 100});
}

TEST_CASE("gradients follow the branch that the size takes") {
  const auto f = [](const Tensor& x) { return (x.size(0) > 100 ? x * 10 : x * 2).sum(); };
  auto compiled = tt::compile(f, {.tier = 0});
  for (const std::int64_t n : {4, 101, 100, 300, 5}) {
    CAPTURE(n);
    const Tensor x = numbered(n, 3).requires_grad_(), y = numbered(n, 3).requires_grad_();
    compiled(x).backward();
    f(y).backward();
    CHECK(same_bits(x.grad(), y.grad()));
  }
}

TEST_CASE("a loop over a size has few captures, and explain names its line") {
  auto f = tt::compile([](const Tensor& x) {
    Tensor y = x;
    for (std::int64_t i = 0; i < x.size(0); ++i) y = y + 1;
    return y;
  }, {.name = "loop", .tier = 0});
  for (std::int64_t n = 2; n < 60; ++n) CHECK(same_bits(f(numbered(n, 2)), numbered(n, 2) + static_cast<double>(n)));
  CHECK(f.captures() <= 9);
  const std::string said = f.explain();
  CHECK(contains(said, "the function itself, which looks at them at "));
  CHECK(contains(said, "test_sizes.cpp"));
  CHECK(contains(said, "calls with other sizes, recorded at each"));
}

TEST_CASE("sizes that are only handed on to ops stay symbols") {
  auto f = tt::compile([](const Tensor& x) {
    const Tensor flat = x.reshape({-1}) + tt::zeros_like(x).flatten();
    return tt::softmax(flat.unsqueeze(0), 1).squeeze(0) * 2;
  }, {.tier = 0});
  for (std::int64_t n = 2; n < 34; ++n) CHECK(f(numbered(n, 50)).numel() == 50 * n);
  CHECK(f.captures() == 1);
}

TEST_CASE("random programs that branch on sizes agree with eager") {
  fuzz::Random dice(20);
  int branches = 0;
  for (int program = 0; program < 300; ++program) {
    CAPTURE(program);
    struct Step {
      int kind, axis, comparison;
      std::int64_t number;
    };
    std::vector<Step> steps;
    for (int k = 1 + dice.below(5); k > 0; --k) steps.push_back({dice.below(6), dice.below(2), dice.below(4), 1 + dice.below(40)});
    const auto f = [&](const Tensor& x) {
      Tensor y = x;
      for (const Step& s : steps) {
        const std::int64_t n = s.axis ? y.numel() : y.size(0);
        const bool taken = s.comparison == 0 ? n > s.number : s.comparison == 1 ? n == s.number : s.comparison == 2 ? n % (s.number + 1) == 1 : n < s.number;
        switch (s.kind) {
          case 0: y = taken ? y + 1 : y * 2; break;
          case 1: y = taken ? tt::cat({y, y}, 0) : y - 1; break;
          case 2: y = taken && y.size(0) > 2 ? y.slice(0, 1, y.size(0)) : y; break;
          case 3: y = taken ? y.sum(0, true) + y : y; break;
          case 4: y = taken ? y.t().contiguous().t() * 3 : y; break;
          default: y = y * static_cast<double>(taken ? n : 1); break;
        }
        ++branches;
      }
      return y;
    };
    auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
    for (int call = 0; call < 6; ++call) {
      const Tensor x = numbered(2 + dice.below(30), 1 + dice.below(3));
      CHECK(same_bits(compiled(x), f(x)));
    }
  }
  CHECK(branches > 1000);
}
