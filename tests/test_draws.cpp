// Random numbers in captured functions: drawn anew at each call, the numbers of the function as it is written, in one graph.
#include <doctest/doctest.h>

#include <utility>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

/// What three calls give one after the other, from a seed on.
template <class F, class... A>
std::vector<Tensor> three(const F& f, const A&... a) {
  tt::manual_seed(11);
  std::vector<Tensor> all;
  for (int k = 0; k < 3; ++k) all.push_back(f(a...));
  return all;
}
template <class F, class... A>
void check_draws(const char* name, const F& f, const A&... a) {
  CAPTURE(name);
  const auto compiled = tt::compile(f, {.fullgraph = true});
  const std::vector<Tensor> want = three(f, a...), got = three(compiled, a...), again = three(compiled, a...);
  CHECK(!same_bits(want[0], want[1]));
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(same_bits(got[k], want[k]));
    CHECK(same_bits(again[k], want[k]));
  }
  CHECK(tt::default_generator().get_state().draws > 0);
  CHECK(compiled.captures() == 1);
}

}  // namespace

TEST_CASE("draws are steps of one graph, with the eager numbers") {
  const Tensor x = tt::rand({5, 7}, 3);
  check_draws("rand", [](const Tensor& v) { return v + tt::rand({7}); }, x);
  check_draws("sizes", [](const Tensor& v) { return v + tt::rand(v.shape()); }, x);
  check_draws("f64", [](const Tensor& v) { return v + tt::randn({5, 7}, DType::f64); }, x);
  check_draws("like", [](const Tensor& v) { return tt::rand_like(v) * 2 + tt::randn_like(v); }, x);
  check_draws("order", [](const Tensor& v) {
    const Tensor unread = tt::rand_like(v);
    const Tensor b = tt::randn_like(v * 2), a = tt::rand_like(v.sum(1));
    return a.unsqueeze(1) - b;
  }, x);
  check_draws("dropout", [](const Tensor& v) { return tt::dropout(tt::relu(tt::dropout(v, 0.3, true)), 0.5, true); }, x);
  check_draws("randint", [](const Tensor& v) { return v + tt::randint(0, 100, v.shape()); }, x);
  check_draws("bernoulli", [](const Tensor& v) { return tt::bernoulli(v); }, x);
  check_draws("normal", [](const Tensor& v) { return tt::normal(v, v + 1); }, x);
  check_draws("in place", [](const Tensor& v) {
    Tensor w = v * 1;
    w.uniform_(1, 2);
    return w + v;
  }, x);
}

TEST_CASE("other sizes are the same capture, and draw as many numbers") {
  const auto f = [](const Tensor& v) { return tt::dropout(v * 2, 0.5, true) + tt::rand(v.shape()); };
  const auto compiled = tt::compile(f, {.fullgraph = true});
  for (const int rows : {3, 4, 9, 3}) {
    const Tensor x = tt::rand({rows, 6}, rows) + 1;
    CHECK(same_bits(three(compiled, x)[2], three(f, x)[2]));
  }
  CHECK(compiled.captures() == 1);
}

TEST_CASE("gradients see the numbers that the forward drew") {
  const Tensor w = tt::rand({6}, 1).requires_grad_(), x = tt::rand({50, 6}, 2) + 1;
  const auto loss = [](const Tensor& weight, const Tensor& v) { return (tt::dropout(v * weight, 0.5, true) * tt::randn_like(v)).square().sum(); };
  const auto compiled = tt::compile(loss, {.fullgraph = true});
  const auto gradients = [&](const auto& f) {
    tt::manual_seed(5);
    std::vector<Tensor> all;
    for (int k = 0; k < 2; ++k) {
      const Tensor value = f(w, x);
      value.backward();
      all.push_back(w.grad().clone());
      Tensor(w).zero_grad();
    }
    return all;
  };
  const std::vector<Tensor> want = gradients(loss), got = gradients(compiled);
  for (std::size_t k = 0; k < 2; ++k) CHECK(tt::allclose(got[k], want[k]));
  CHECK(!same_bits(want[0], want[1]));
  const auto inner = [](const Tensor& v) { return tt::grad([](const Tensor& u) { return (tt::rand_like(u) * u).sum(); })(v); };
  check_draws("grad", inner, x);
  for (const double g : numbers(inner(x))) CHECK((g >= 0 && g < 1));
}

TEST_CASE("where draws still end the graph, the numbers are those of the function too") {
  const Tensor x = tt::rand({5, 7}, 3);
  const auto same = [&](const auto& f) {
    const auto compiled = tt::compile(f);
    const std::vector<Tensor> want = three(f, x), got = three(compiled, x);
    for (std::size_t k = 0; k < 3; ++k) CHECK(same_bits(got[k], want[k]));
  };
  same([](const Tensor& v) { return tt::cond(v.sum() > 2, [](const Tensor& t) { return t + tt::rand_like(t); }, [](const Tensor& t) { return t * 2; }, v); });
  same([](const Tensor& v) { return v.sum().item() > 2 ? v + tt::rand_like(v) : v; });
  same([](const Tensor& v) { return v + tt::randperm(7) + tt::rand({7}); });
  same([](const Tensor& v) { return tt::vmap([](const Tensor& t) { return tt::cond(t.sum() > 2, [](const Tensor& s) { return s + tt::rand_like(s); }, [](const Tensor& s) { return s; }, t); }, {.randomness = "different"})(v); });
  const auto own = [](const Tensor& v) {
    tt::Generator g(4);
    return v + tt::rand({7}, g);
  };
  CHECK(same_bits(tt::compile(own)(x), own(x)));
  const auto traced = tt::trace([](const Tensor& v) { return v + tt::rand_like(v); }, x);
  tt::manual_seed(2);
  const Tensor a = traced(x);
  tt::manual_seed(2);
  CHECK(same_bits(a, x + tt::rand_like(x)));
}

TEST_CASE("draws of vmap's examples are part of its graph: the same for all of them, or others for each") {
  const Tensor x = tt::rand({5, 7}, 3);
  const auto f = [](const Tensor& t) { return std::pair(tt::rand_like(t), tt::randn({2}) + t.sum() * 0); };
  for (const char* word : {"same", "different"}) {
    CAPTURE(std::string(word));
    const auto drawn = [&](const auto& map) {
      tt::manual_seed(11);
      return map(x);
    };
    const auto compiled = tt::compile(tt::frozen([&](const Tensor& v) { return tt::vmap(f, {.randomness = word})(v); }), {.tier = 0, .fullgraph = true});
    const auto [u, n] = drawn(compiled);
    const auto [u2, n2] = drawn(tt::vmap(f, {.randomness = word}));
    CHECK((same_bits(u, u2) && same_bits(n, n2)));
    CHECK(!same_bits(compiled(x).first, u));  // the next call draws anew
    const bool same = std::string(word) == "same";
    for (int k = 1; k < 5; ++k) {
      CHECK(same_bits(u[k], u[0]) == same);
      CHECK(same_bits(n[k], n[0]) == same);
    }
    CHECK((u.shape() == x.shape() && n.size(0) == 5 && n.size(1) == 2));
    for (const double v : numbers(u)) CHECK((v >= 0 && v < 1));
  }
  // what an example draws is what its own seed gives
  const auto one = [](const Tensor& t) { return tt::rand_like(t); };
  tt::manual_seed(4);
  const Tensor all = tt::vmap(one, {.randomness = "different"})(x);
  tt::manual_seed(4);
  for (int k = 0; k < 5; ++k) CHECK(same_bits(all[k], tt::rand_like(x[k])));
  // gradients of each example, with dropout
  const auto gradients = tt::vmap(tt::grad([](const Tensor& t) { return (tt::dropout(t, 0.5) * t).sum(); }), {.randomness = "different"});
  const Tensor g = gradients(tt::ones({64, 8}));
  CHECK(!same_bits(g[0], g[1]));
  for (const double v : numbers(g)) CHECK((v == 0 || v == 4));
  CHECK(message([&] { tt::vmap(one)(x); }).starts_with("tt::vmap: the function draws random numbers (rand_like)."));
  // several chunks, and a vmap inside of another one
  CHECK(tt::vmap(one, {.randomness = "different", .chunk_size = 2})(x).shape() == x.shape());
  const auto nested = tt::vmap([&](const Tensor& t) { return tt::vmap([](const Tensor& s) { return s * tt::rand_like(s); }, {.randomness = "different"})(t); }, {.randomness = "different"})(x);
  CHECK(nested.shape() == x.shape());
}

TEST_CASE("seeds that a captured function sets are set at each call, in its order") {
  const auto seeded = [](const Tensor& a) {
    const Tensor before = tt::rand_like(a);
    tt::manual_seed(3);
    return std::pair{before, a + tt::rand_like(a)};
  };
  const auto compiled = tt::compile(seeded);
  const Tensor x = tt::zeros({2});
  for (int k = 0; k < 3; ++k) {
    tt::manual_seed(20);
    const auto [first, then] = seeded(x);
    tt::manual_seed(20);
    const auto [first_compiled, then_compiled] = compiled(x);
    CHECK(same_bits(first, first_compiled));
    CHECK(same_bits(then, then_compiled));
  }
}
