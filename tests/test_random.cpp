// Random numbers of generators: what a seed decides, and that captured functions draw anew.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

double mean_of(const Tensor& t) { return t.to(DType::f64).mean().item<double>(); }

}  // namespace

TEST_CASE("a seed decides all that is drawn behind it") {
  tt::manual_seed(1);
  const Tensor a = tt::rand({4}), b = tt::rand({4});
  CHECK(!same_bits(a, b));
  tt::manual_seed(1);
  CHECK(same_bits(tt::rand({4}), a));
  const tt::Generator::State state = tt::default_generator().get_state();
  const Tensor c = tt::randn({3});
  CHECK(!same_bits(tt::randn({3}), c));
  tt::default_generator().set_state(state);
  CHECK(same_bits(tt::randn({3}), c));

  tt::Generator g(1), h(2);
  CHECK(g.initial_seed() == 1);
  CHECK(same_bits(tt::rand({4}, g), a));
  CHECK(!same_bits(tt::rand({4}, h), a));
  CHECK(same_bits(tt::rand({4}, g), b));
  std::set<double> seen;
  for (int k = 0; k < 1000; ++k) seen.insert(tt::rand({1}, {.dtype = DType::f64}).item<double>());
  CHECK(seen.size() == 1000);
}

TEST_CASE("numbers have the distributions that are asked for") {
  tt::manual_seed(3);
  const std::int64_t n = 200000;
  for (DType d : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    const Tensor u = tt::rand({n}, d), z = tt::randn({n}, d);
    CHECK(u.dtype() == d);
    CHECK(u.max().item<double>() < 1);
    CHECK(u.min().item<double>() >= 0);
    CHECK(std::fabs(mean_of(u) - 0.5) < 0.01);
    CHECK(std::fabs(mean_of(z)) < 0.01);
    CHECK(std::fabs(mean_of(z.to(DType::f64) * z.to(DType::f64)) - 1) < 0.02);
  }
  const Tensor i = tt::randint(-2, 5, {n});
  CHECK(i.dtype() == DType::i64);
  CHECK(i.min().item<int>() == -2);
  CHECK(i.max().item<int>() == 4);
  CHECK(std::fabs(mean_of(i) - 1) < 0.02);
  CHECK(tt::randint(10, {3}, tt::default_generator(), {.dtype = DType::u8}).dtype() == DType::u8);
  CHECK(contains(message([] { tt::randint(3, 3, {2}); }), "tt::randint: there is no number from 3 to below 3."));
  const Tensor p = tt::full({n}, 0.3), coin = tt::bernoulli(p);
  CHECK(coin.dtype() == DType::f32);
  CHECK(std::fabs(mean_of(coin) - 0.3) < 0.01);
  CHECK(numbers(tt::bernoulli(tt::tensor({0.0, 1.0}))) == Numbers{0, 1});
  CHECK(contains(message([] { tt::bernoulli(tt::tensor({1})); }), "tt::bernoulli: dtype is not accepted: i64."));
  CHECK(tt::rand_like(tt::zeros({2, 3}, DType::f64)).dtype() == DType::f64);
  CHECK(shape(tt::randn_like(tt::zeros({2, 3}))) == "(2, 3)");
}

TEST_CASE("a compiled function draws new numbers at every call, those of the function as it is") {
  const auto f = [](const Tensor& x) { return (x + tt::rand({4})) * tt::randn_like(x); };
  const auto compiled = tt::compile(f, {.tier = 0});
  const Tensor x = tt::ones({4});
  tt::manual_seed(5);
  std::vector<Tensor> want;
  for (int k = 0; k < 6; ++k) want.push_back(f(x));
  tt::manual_seed(5);
  for (const Tensor& w : want) CHECK(same_bits(compiled(x), w));
  CHECK(!contains(std::string(compiled.explain()), "graph breaks"));
  CHECK(contains(tt::to_string(tt::trace(f, x).graph).c_str(), "_draw_seed"));
  const auto scanned = [](const Tensor& from) {
    return tt::scan([](const Tensor& carry, const Tensor& row) { return std::pair(carry + tt::rand({2}), carry * row); }, from, tt::ones({3, 2})).first;
  };
  tt::manual_seed(6);
  const Tensor once = scanned(tt::zeros({2})), twice = scanned(tt::zeros({2}));
  CHECK(!same_bits(once, twice));
  tt::manual_seed(6);
  const auto captured = tt::compile(scanned, {.tier = 0});
  CHECK(same_bits(captured(tt::zeros({2})), once));
  CHECK(same_bits(captured(tt::zeros({2})), twice));
}
