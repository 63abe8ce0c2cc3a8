// Attention with many scores is made some rows of queries at a time: the bits of the whole, on every path.
#include <doctest/doctest.h>

#include <vector>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;
using tt::scaled_dot_product_attention;

/// 12 heads of 300 queries and 310 keys: more scores than are made at once, and rows that no part divides.
struct Attended {
  Tensor q = tt::rand({2, 6, 300, 8}, 1), k = tt::rand({2, 6, 310, 8}, 2), v = tt::rand({2, 6, 310, 5}, 3);
  Tensor whole(const Tensor& mask, bool causal) const { return tt::call_with<tt::Attention>(tt::here(), {causal, {}}, q, k, v, mask); }
  Tensor parts(const Tensor& mask, bool causal) const { return scaled_dot_product_attention(q, k, v, mask, 0, causal); }
};
/// The largest difference.
double apart(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item(); }

}  // namespace

TEST_CASE("parts have the bits of the whole, whatever the mask") {
  const Attended a;
  CHECK(a.parts({}, false).shape() == tt::Shape{2, 6, 300, 5});
  CHECK(same_bits(a.parts({}, false), a.whole({}, false)));
  CHECK(same_bits(a.parts({}, true), a.whole({}, true)));
  for (const Tensor& mask : {tt::rand({300, 310}, 4) > 0.5, tt::rand({2, 1, 300, 310}, 5) > 0.5, tt::rand({1, 310}, 6) > 0.5, tt::rand({310}, 7) > 0.5,
                             tt::rand({300, 310}, 8), tt::rand({300, 1}, 9) > 0.5}) {
    CAPTURE(tt::to_string(mask.sum()));
    CHECK(same_bits(a.parts(mask, false), a.whole(mask, false)));
  }
  const Attended shared{.k = tt::rand({310, 8}, 2), .v = tt::rand({1, 310, 5}, 3)};
  CHECK(same_bits(shared.parts({}, true), shared.whole({}, true)));
  const Attended half{a.q.to(DType::bf16), a.k.to(DType::bf16), a.v.to(DType::bf16)};
  CHECK(same_bits(half.parts({}, true), half.whole({}, true)));
}

TEST_CASE("compiled, over sizes, with the eager bits") {
  auto f = tt::compile([](const Tensor& q, const Tensor& k, const Tensor& v) { return scaled_dot_product_attention(q, k, v, {}, 0, true) * 2; });
  for (const std::int64_t n : {300, 320, 333}) {
    CAPTURE(n);
    const Tensor q = tt::rand({2, 6, n, 8}, 1), k = tt::rand({2, 6, n, 8}, 2), v = tt::rand({2, 6, n, 8}, 3);
    CHECK(same_bits(f(q, k, v), scaled_dot_product_attention(q, k, v, {}, 0, true) * 2));
  }
  CHECK(f.captures() == 1);
  const Tensor small = tt::rand({1, 1, 9, 8}, 4);  // a guard: fewer scores are made at once
  CHECK(same_bits(f(small, small, small), scaled_dot_product_attention(small, small, small, {}, 0, true) * 2));
  CHECK(f.captures() == 2);
}

TEST_CASE("rows of many parts read no keys behind them, when they are causal") {
  auto f = tt::compile([](const Tensor& q, const Tensor& k, const Tensor& v) { return scaled_dot_product_attention(q, k, v, {}, 0, true); });
  for (const auto& [n, keys] : {std::pair{600, 600}, {640, 640}, {777, 777}, {1000, 300}, {600, 2000}}) {
    CAPTURE(n);
    CAPTURE(keys);
    const Tensor q = tt::rand({2, 3, n, 8}, 1), k = tt::rand({2, 3, keys, 8}, 2), v = tt::rand({2, 3, keys, 5}, 3);
    const Tensor whole = tt::call_with<tt::Attention>(tt::here(), {true, {}}, q, k, v, Tensor());
    CHECK(same_bits(scaled_dot_product_attention(q, k, v, {}, 0, true), whole));
    CHECK(same_bits(f(q, k, v), whole));
    if (n == 777) CHECK(f.captures() == 1);
    const auto gradients = [&](const auto& of) {
      const std::vector<Tensor> all{q.clone().requires_grad_(), k.clone().requires_grad_(), v.clone().requires_grad_()};
      return tt::grad(std::vector<Tensor>{of(all[0], all[1], all[2]).square().sum()}, all);
    };
    const auto d = gradients([](const Tensor& a, const Tensor& b, const Tensor& c) { return scaled_dot_product_attention(a, b, c, {}, 0, true); });
    const auto e = gradients([](const Tensor& a, const Tensor& b, const Tensor& c) { return tt::call_with<tt::Attention>(tt::here(), {true, {}}, a, b, c, Tensor()); });
    for (std::size_t i = 0; i < 3; ++i) CHECK(apart(d[i], e[i]) < 1e-5 * e[i].abs().max().item());  // sums of a thousand terms, in another order
  }
  for (const bool causal : {false, true})  // no row of values is left out in silence
    CHECK(message([&] { scaled_dot_product_attention(tt::rand({2, 3, 600, 8}), tt::rand({2, 3, 600, 8}), tt::rand({2, 3, 610, 5}), {}, 0, causal); }).find("extents") != std::string::npos);
}

TEST_CASE("gradients of parts are those of the whole, up to the order of sums, and mapped examples too") {
  const Attended a;
  const auto gradients = [&](const auto& f) {
    std::vector<Tensor> all{a.q.clone().requires_grad_(), a.k.clone().requires_grad_(), a.v.clone().requires_grad_()};
    (f(all[0], all[1], all[2]) * a.q.slice(3, 0, 5)).sum().backward();
    return std::vector<Tensor>{all[0].grad(), all[1].grad(), all[2].grad()};
  };
  const auto parts = [](const Tensor& q, const Tensor& k, const Tensor& v) { return scaled_dot_product_attention(q, k, v, {}, 0, true); };
  const auto whole = [](const Tensor& q, const Tensor& k, const Tensor& v) { return tt::call_with<tt::Attention>(tt::here(), {true, {}}, q, k, v, Tensor()); };
  const std::vector<Tensor> d = gradients(parts), e = gradients(whole);
  for (std::size_t i = 0; i < 3; ++i) CHECK(apart(d[i], e[i]) < 1e-5);
  CHECK(apart(tt::vmap(parts)(a.q, a.k, a.v), whole(a.q, a.k, a.v)) < 1e-6);
}

TEST_CASE("dropout of the weights: drawn by the seed, some rows at a time, in the backward as in the forward") {
  for (const std::int64_t n : {20, 300}) {  // the whole at once, and in parts
    CAPTURE(n);
    const Tensor q = tt::rand({2, 6, n, 8}, 1), k = tt::rand({2, 6, n, 8}, 2), v = tt::rand({2, 6, n, 5}, 3), w = tt::rand({2, 6, n, 5}, 4);
    const auto f = [](const Tensor& a, const Tensor& b, const Tensor& c) { return scaled_dot_product_attention(a, b, c, {}, 0.25, true); };
    tt::manual_seed(7);
    const Tensor eager = f(q, k, v), again = f(q, k, v);
    CHECK(!same_bits(eager, again));
    auto compiled = tt::compile([](const Tensor& a, const Tensor& b, const Tensor& c) { return scaled_dot_product_attention(a, b, c, {}, 0.25, true); }, {.fullgraph = true});
    tt::manual_seed(7);
    CHECK(same_bits(compiled(q, k, v), eager));
    CHECK(same_bits(compiled(q, k, v), again));
    CHECK(f(q, k, tt::ones_like(v)).mean().item() == doctest::Approx(1).epsilon(0.05));
    CHECK(same_bits(scaled_dot_product_attention(q, k, v, {}, 1.0), tt::zeros_like(v)));
    // linear in v: the same weights were dropped on the way back
    const Tensor leaf = v.clone().requires_grad_();
    const Tensor flow = (f(q, k, leaf) * w).sum();
    flow.backward();
    CHECK((leaf.grad() * v).sum().item() == doctest::Approx(flow.item()).epsilon(1e-4));
  }
  CHECK(message([] { scaled_dot_product_attention(tt::ones({2, 2}), tt::ones({2, 2}), tt::ones({2, 2}), {}, 2.0); }).starts_with("tt::scaled_dot_product_attention: dropout_p is not from 0 to 1."));
}
