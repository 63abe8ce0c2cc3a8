// What tt::compile guards: each change of what a capture took for granted is captured anew, once, with its
// reason, and gives the bits of eager.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

Tensor uniform(const tt::IntList& shape, int seed, DType d = DType::f32) {
  return tt::rand(shape, seed, {.dtype = d}) * 2 - 1;
}
const auto f = [](Tensor x, Tensor y, double scale, int times) {
  Tensor z = x * scale + y;
  for (int k = 1; k < times; ++k) z = z * scale;
  return z;
};
/// The compiled f: its newest reason must be this one.
struct Checked {
  tt::CompiledFunction<std::remove_cv_t<decltype(f)>> compiled = tt::compile(f, {.name = "f", .tier = 0});
  int captures = 0;
  void operator()(const char* reason, const Tensor& x, const Tensor& y, double scale, int times) {
    CAPTURE(std::string(reason));
    CHECK(same_bits(compiled(x, y, scale, times), f(x, y, scale, times)));
    CHECK(same_bits(compiled(x, y, scale, times), f(x, y, scale, times)));
    CHECK(compiled.captures() == ++captures);
    const std::string why = compiled.explain(), last = why.substr(why.find("\n  " + std::to_string(captures) + ": "));
    INFO(why);
    CHECK(contains(last.substr(0, last.find("\n     guards")), std::string("; ") + reason));
  }
};

}  // namespace

TEST_CASE("each change recompiles with its reason") {
  const Tensor x = uniform({4, 6}, 1), y = uniform({4, 6}, 2);
  Checked check;
  check("first call", x, y, 2, 1);
  check("number 0 is 3, was 2", x, y, 3, 1);
  check("number 1 is 2, was 1", x, y, 3, 2);
  check("argument 0 is f64, was f32", x.to(DType::f64), y, 3, 2);
  check("argument 1 is f64, was f32", x, y.to(DType::f64), 3, 2);
  check("number 0 is 5, was 3", x, y, 5, 2);
  check("argument 0 has rank 1, had 2", uniform({6}, 3), y, 5, 2);
  check("argument 0 has sizes (1, s0), had (s0, s1) (equal sizes share a symbol; 0 and 1 are themselves)", uniform({1, 6}, 3), y, 5, 2);
  CHECK(same_bits(check.compiled(uniform({6, 6}, 3), uniform({6, 6}, 4), 5.0, 2), f(uniform({6, 6}, 3), uniform({6, 6}, 4), 5.0, 2)));
  CHECK(check.compiled.captures() == check.captures);  // what is for different sizes does
  Checked equal;
  equal("first call", uniform({6, 6}, 3), uniform({6, 6}, 4), 5, 2);
  equal("argument 0 has sizes (s0, s1), had (s0, s0)", x, y, 5, 2);
  Checked layout;
  layout("first call", x, y, 2, 1);
  layout("argument 0 lies otherwise in memory", uniform({6, 4}, 1).t(), y, 2, 1);
  Checked sharing;
  sharing("first call", x, y, 2, 1);
  sharing("arguments share memory otherwise", x, x, 2, 1);
  const Tensor whole = uniform({8, 6}, 3);
  sharing("arguments share memory otherwise", whole.slice(0, 0, 4), whole.slice(0, 2, 6), 2, 1);
  sharing("argument 0 has rank 1, had 2", x[0], y, 2, 1);
}

TEST_CASE("a number that is another one at each call is an input from the ninth on") {
  const auto compiled = tt::compile(f, {.name = "f", .tier = 0});
  const Tensor x = uniform({5, 3}, 1), y = uniform({5, 3}, 2);
  for (int k = 0; k < 100; ++k) CHECK(same_bits(compiled(x, y, 0.125 * k, 2), f(x, y, 0.125 * k, 2)));
  CHECK(compiled.captures() == 8);
  CHECK(compiled.segments() <= 2);
  CHECK(compiled.fallbacks() == 0);
  CHECK(same_bits(compiled(x, y, 0.125, 2), f(x, y, 0.125, 2)));  // of the first eight
  const Tensor a = uniform({7, 3}, 3), b = uniform({7, 3}, 4);    // the same captures
  CHECK(same_bits(compiled(a, b, 0.3, 2), f(a, b, 0.3, 2)));
  CHECK(compiled.captures() == 8);
  CHECK(contains(compiled.explain(), "  93 calls with other numbers, recorded at each: more than 8 were met\n"));
  Tensor p = x.clone().requires_grad_(), q = x.clone().requires_grad_();  // other guards
  for (int k = 0; k < 20; ++k) {
    compiled(p, y, 0.5 * k, 3).sum().backward();
    f(q, y, 0.5 * k, 3).sum().backward();
    CHECK(same_bits(p.grad(), q.grad()));
  }
  CHECK(compiled.captures() == 16);
  const auto whole = tt::compile(f, {.name = "whole", .tier = 0, .fullgraph = true});
  for (int k = 0; k < 20; ++k) (void)whole(x, y, 0.5 * k, 2);
  CHECK(whole.captures() == 20);
}

TEST_CASE("requires_grad and the modes of the thread are guarded") {
  const Tensor x = uniform({4, 6}, 1), y = uniform({4, 6}, 2);
  Checked check;
  check("first call", x, y, 2, 1);
  Tensor leaf = x.clone();
  leaf.requires_grad_();
  check("argument 0 requires a gradient, did not", leaf, y, 2, 1);
  CHECK(check.compiled(leaf, y, 2.0, 1).requires_grad());
  {
    const tt::NoGrad off;
    check("gradients are disabled, were not", leaf, y, 2, 1);
    CHECK(!check.compiled(leaf, y, 2.0, 1).requires_grad());
  }
  {
    const tt::InferenceMode off;
    check("inference mode is on, was off", leaf, y, 2, 1);
    const Tensor made = check.compiled(leaf, y, 2.0, 1);
    CHECK(made.impl().inference);
    CHECK(f(leaf, y, 2.0, 1).impl().inference);
  }
  const Tensor plain = check.compiled(x, y, 2.0, 1);
  CHECK(!plain.impl().inference);
  check("argument 0 requires no gradient, did", x, y.clone().requires_grad_(), 2, 1);
  const auto asks = tt::compile([](Tensor a) { return a.requires_grad() ? a * 2 : a * 3; });
  CHECK(same_bits(asks(x), x * 3));
  CHECK(same_bits(asks(leaf), leaf * 2));
  const auto modes = tt::compile([](Tensor a) { return tt::is_grad_enabled() ? a * 2 : a * 3; });
  CHECK(same_bits(modes(x), x * 2));
  const tt::NoGrad off;
  CHECK(same_bits(modes(x), x * 3));
  CHECK(modes.captures() == 2);
}

TEST_CASE("the same guards hold where a function has graph breaks") {
  const auto broken = [](Tensor x, Tensor y, double scale) {
    const Tensor s = (x * y).sum() * scale;
    return s.item() > 0 ? x + s : y - s;
  };
  const auto compiled = tt::compile(broken, {.name = "broken", .tier = 0});
  const Tensor x = uniform({4, 4}, 1), y = uniform({4, 4}, 2);
  const auto check = [&](const Tensor& a, const Tensor& b, double scale) {
    for (int k = 0; k < 2; ++k) CHECK(same_bits(compiled(a, b, scale), broken(a, b, scale)));
  };
  check(x, y, 2);
  check(x, x, 2);
  check(x.t(), y, 2);
  check(x.to(DType::f64), y, 2);
  check(x, y[0], 2);
  check(x, y, -3);
  const Tensor whole = uniform({8, 4}, 3);
  check(whole.slice(0, 0, 4), whole.slice(0, 2, 6), 2);
  const Tensor leaf = x.clone().requires_grad_();
  check(leaf, y, 2);
  CHECK(compiled(leaf, y, 2.0).requires_grad());
  {
    const tt::NoGrad off;
    check(leaf, y, 2);
    CHECK(!compiled(leaf, y, 2.0).requires_grad());
  }
  const tt::InferenceMode off;
  check(leaf, y, 2);
  CHECK(compiled(leaf, y, 2.0).impl().inference);
}

TEST_CASE("a Tensor on another device is another capture") {
  // No kernels are needed to look at guards: what runs is a backend of its own.
  const auto g = tt::compile([](Tensor x) { return x * 2; },
                             {.name = "elsewhere", .backend = [](const tt::Graph&, const std::vector<tt::ExampleInput>& in) -> tt::CompiledGraph {
                                const tt::Device d = in[0].device;
                                return [d](const std::vector<Tensor>& t) { return std::vector<Tensor>{Tensor(t[0].dtype(), t[0].shape(), d)}; };
                              }});
  const Tensor here = uniform({3}, 1);
  const Tensor there(DType::f32, tt::Shape{3}, {tt::DeviceType::private_use1, 0}), second(DType::f32, tt::Shape{3}, {tt::DeviceType::private_use1, 1});
  CHECK(g(here).device() == here.device());
  CHECK(g(there).device() == there.device());
  CHECK(g(second).device() == second.device());
  CHECK(g(here).device() == here.device());
  CHECK(g.captures() == 3);
  CHECK(contains(std::string(g.explain()), "an argument is on another device"));
}

TEST_CASE("explain lists guards, reasons, kernels, changes in place and the compiler's work") {
  const auto g = tt::compile([](Tensor& w, Tensor x, double rate) {
    w -= rate * x;
    return w.sum();
  }, {.name = "listed", .wait = true});
  Tensor w = uniform({5}, 1);
  g(w, uniform({5}, 2), 0.5);
  g(w, uniform({5}, 2), 0.25);
  const std::string why = g.explain();
  INFO(why);
  CHECK(contains(why, "listed: 2 captures\n  1: "));
  CHECK(contains(why, "; first call\n     guards: f32 (s0,), f32 (s0,); 1 number; gradients enabled\n     changes in place: argument 0\n"));
  CHECK(contains(why, "; number 0 is 0.25, was 0.5 (a Tensor without axes in its place may differ at each call)\n"));
  CHECK(contains(why, "test_guards.cpp:"));
  CHECK(contains(why, "\n  numbers that are no arguments (globals, captured variables) are those of the capture: nothing guards them\n"));
  CHECK(contains(why, "  compiled kernels for "));
}
