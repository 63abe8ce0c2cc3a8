// Compiled functions on the tape run as two halves: what the forward saves, what the backward computes anew, what is
// let go of, and that gradients of any order are right.
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
Tensor variable(const tt::IntList& shape, int seed, DType d = DType::f32) { return uniform(shape, seed, d).detach().requires_grad_(); }

int occurrences(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// Gradients of the sum of f's results, by `run`, with respect to clones of `inputs`.
template <class F>
std::vector<Tensor> gradients(const F& run, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> in;
  for (const Tensor& x : inputs) {
    in.push_back(x.detach().clone());
    if (x.requires_grad()) in.back().requires_grad_();
  }
  const std::vector<Tensor> out = run(in);
  Tensor total;
  for (const Tensor& y : out) {
    if (!y.requires_grad()) continue;
    const Tensor s = (y * y).sum();
    total = total.defined() ? total + s : s;
  }
  total.backward();
  std::vector<Tensor> r = out;
  for (const Tensor& x : in)
    if (x.requires_grad()) r.push_back(x.grad().defined() ? x.grad() : tt::zeros_like(x));
  return r;
}
/// Compiled and eager: equal results and gradients, at every size, with one tape node a call.
template <class F>
void check_gradients(const char* name, const F& f, const std::vector<std::vector<Tensor>>& calls) {
  CAPTURE(std::string(name));
  const auto compiled = tt::compile(f);
  for (const std::vector<Tensor>& inputs : calls) {
    const std::vector<Tensor> want = gradients(f, inputs), got = gradients(compiled, inputs);
    REQUIRE(want.size() == got.size());
    bool same = true;
    for (std::size_t k = 0; k < want.size(); ++k) same = same && same_bits(want[k], got[k]);
    CHECK(same);
  }
}

using List = std::vector<Tensor>;
constexpr auto mlp = [](const List& v) {  // x, w1, b1, w2, b2, w3, b3
  const Tensor h = tt::relu(tt::matmul(v[0], v[1]) + v[2]);
  const Tensor g = tt::tanh(tt::matmul(h, v[3]) + v[4]);
  return List{tt::matmul(g, v[5]) + v[6]};
};
List mlp_inputs(std::int64_t n) {
  return {uniform({n, 12}, 1), variable({12, 16}, 2), variable({16}, 3), variable({16, 16}, 4), variable({16}, 5),
          variable({16, 5}, 6), variable({5}, 7)};
}

}  // namespace

// ---- the bits of eager, and of the tape

TEST_CASE("gradients of a compiled function have eager's bits, at sizes other than those it was cut for") {
  std::vector<List> batches, rows, vectors;
  for (std::int64_t n : {3, 64, 1, 0, 500, 17}) {
    batches.push_back(mlp_inputs(n));
    rows.push_back({variable({n, 9}, 1), variable({n, 9}, 2), variable({9}, 3)});
    vectors.push_back({variable({n + 2}, 1), uniform({n + 2}, 2)});
  }
  check_gradients("mlp", mlp, batches);
  check_gradients("exp", [](const List& v) { return List{tt::exp(v[0])}; }, vectors);
  check_gradients("two results", [](const List& v) {
    const Tensor e = tt::exp(v[0] * v[1]);
    return List{e, tt::sqrt(e + 1) * v[1], v[1] * 2};
  }, vectors);
  check_gradients("norm", [](const List& v) {
    const Tensor mean = v[0].mean(1, true), c = v[0] - mean.detach();
    return List{c / tt::sqrt((v[1] * v[1]).mean(1, true) + 1e-5) * v[2]};
  }, rows);
  check_gradients("views", [](const List& v) { return List{tt::matmul(v[0].t(), tt::sigmoid(v[1])).reshape({-1}) * 2, v[2].unsqueeze(0) * v[0]}; }, rows);
  check_gradients("a result that nothing flows into", [](const List& v) { return List{v[0] > 0, v[0] * v[0], v[0].detach() * 3}; }, vectors);
}

TEST_CASE("no product is computed twice, and explain shows what is saved") {
  const auto f = tt::compile(mlp, {.name = "mlp", .tier = 0});
  const std::int64_t before = tt::autograd::saved_value_count();
  gradients(f, mlp_inputs(64));
  CHECK(tt::autograd::saved_value_count() > before);
  const std::string text = f.explain();
  INFO(text);
  CHECK(contains(text, " values saved ("));
  CHECK(contains(text, " KB), 0 of them results; "));
  CHECK(contains(text, " operations recomputed; called 1 times, 0 of them on tier 1\n"));
  CHECK(occurrences(text, "     matmul ") == 3 + 5);  // forward; two for each of w2 and w3, one for w1
  CHECK(f.kernels() == 3);

  const auto chain = tt::compile([](const Tensor& x) { return (tt::sin(x * x) * tt::cos(x)).sum(); }, {.name = "chain", .tier = 0});
  Tensor x = variable({100}, 1);
  chain(x).backward();
  INFO(std::string(chain.explain()));
  CHECK(contains(std::string(chain.explain()), "backward: 0 values saved (0 B), 0 of them results; 1 input read; 3 of 5 operations recomputed; called 1 times, 0 of them on tier 1\n"));
  const auto result = tt::compile([](const Tensor& v) { return tt::exp(v); }, {.name = "exp", .tier = 0});
  result(x).sum().backward();
  CHECK(contains(std::string(result.explain()), "backward: 1 value saved (400 B), 1 of them a result; 0 inputs read; 0 of 1 operations recomputed; called 1 times, 0 of them on tier 1\n"));
  {
    const tt::NoGrad off;
    result(x);
  }
  CHECK(occurrences(result.explain(), "backward: ") == 1);  // the other capture runs the plain function
}

TEST_CASE("both halves run compiled kernels with the bits of the interpreter") {
  const auto tier0 = tt::compile(mlp, {.name = "mlp", .tier = 0}), tier1 = tt::compile(mlp, {.name = "mlp", .wait = true});
  const List inputs = mlp_inputs(40);
  const List want = gradients(tier0, inputs), got = gradients(tier1, inputs);
  for (std::size_t k = 0; k < want.size(); ++k) CHECK(same_bits(want[k], got[k]));
  CHECK(tier0.calls().tier1 == 0);
  CHECK(contains(std::string(tier0.explain()), " operations recomputed; called 1 times, 0 of them on tier 1\n"));
  CHECK(tier1.calls().tier0 == 0);
  CHECK(contains(std::string(tier1.explain()), " operations recomputed; called 1 times, 1 of them on tier 1\n"));
}

// ---- what is kept

TEST_CASE("a change of what backward was given is an error, any other is not") {
  const auto f = tt::compile([](const Tensor& x, const Tensor& w, const Tensor& b) { return tt::matmul(x, w) + b; }, {.name = "affine"});
  const auto run = [&](int change) {
    Tensor x = uniform({4, 3}, 1), w = variable({3, 2}, 2), b = variable({2}, 3);
    Tensor y = f(x, w, b);
    {
      const tt::NoGrad off;
      if (change == 0) x += 1;
      if (change == 1) w += 1;
      if (change == 2) b += 1;
      if (change == 3) y += 1;
    }
    return message([&] { y.sum().backward(); });
  };
  CHECK(contains(run(0), "tt::backward: argument 0 of affine, f32 (4, 3), was changed in place after it was saved"));
  CHECK(run(1) == "no error");  // only the gradient of x would need it
  CHECK(run(2) == "no error");
  CHECK(run(3) == "no error");
  const auto e = tt::compile([](const Tensor& x) { return tt::exp(x); }, {.name = "exp"});
  Tensor x = variable({3}, 1), y = e(x);
  {
    const tt::NoGrad off;
    x += 1;  // its node has the result
  }
  y.sum().backward();
  CHECK(same_bits(x.grad(), y));
  Tensor z = e(x);
  {
    const tt::NoGrad off;
    z += 1;
  }
  CHECK(contains(message([&] { z.sum().backward(); }),
                 "tt::backward: result 0 of exp, f32 (3,), was changed in place after it was saved"));
}

TEST_CASE("inputs that backward does not need are let go of, and so is everything after it") {
  const auto f = tt::compile([](const Tensor& x) { return tt::exp(x); }, {.tier = 0});
  const auto g = tt::compile([](const Tensor& x) { return tt::exp(x) * 2 + x * x; }, {.tier = 0});
  constexpr std::int64_t n = (1 << 18) - 256;  // with what the allocator adds less than a MiB
  Tensor leaf = variable({n}, 1);
  (void)f(leaf * 1), (void)g(leaf * 1);
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  const auto held = [&] { return (tt::cpu_memory_stats().allocated - before + 2 * n) / (4 * n); };  // in Tensors of that size
  {
    const Tensor y = f(leaf * 1);
    CHECK(held() == 1);
    y.sum().backward();
  }
  leaf.zero_grad();
  {
    const Tensor y = g(leaf * 1);
    CHECK(held() == 2);
    y.sum().backward();
    CHECK(held() == 2);  // the result and the gradient
  }
  leaf.zero_grad();
  CHECK(held() == 0);
}

TEST_CASE("an input that leads to no result with a gradient has none") {
  const auto f = [](const Tensor& x, const Tensor& y, const Tensor& z) { return std::pair((x * x * z).sum(), (tt::exp(y) * z).sum()); };
  const auto compiled = tt::compile(f);
  for (int which = 0; which < 3; ++which) {
    const Tensor x = tt::ones({3}).requires_grad_(), y = tt::ones({3}).requires_grad_(), z = tt::ones({3}).requires_grad_();
    const auto [a, b] = compiled(x, y, z);
    (which == 0 ? a : which == 1 ? b : a + b).backward();
    CHECK(x.grad().defined() == (which != 1));
    CHECK(y.grad().defined() == (which != 0));
    CHECK(z.grad().defined());
  }
}

TEST_CASE("backward twice") {
  const auto f = tt::compile(mlp, {.tier = 0});
  List in = mlp_inputs(6);
  const Tensor loss = f(in)[0].sum();
  loss.backward({}, true);
  const Tensor once = in[1].grad().clone();
  loss.backward();
  CHECK(same_bits(in[1].grad(), once + once));
  CHECK(contains(message([&] { loss.backward(); }), "the graph was freed by an earlier backward"));
}

// ---- derivatives of derivatives

TEST_CASE("second derivatives, where inputs are let go of and where saved values are results") {
  const auto check = [](const char* name, const auto& f, const List& in) {
    CAPTURE(std::string(name));
    const auto compiled = tt::compile(f, {.tier = 0});
    const auto on_list = [&](const std::vector<Tensor>& v) {
      List own;
      for (const Tensor& t : v) own.push_back(t * 1);  // not leaves: nothing else holds them
      return compiled(own)[0];
    };
    CHECK(message([&] { tt::gradcheck(on_list, in); }) == "no error");
    CHECK(message([&] { tt::gradgradcheck(on_list, in); }) == "no error");
  };
  const DType d = DType::f64;
  check("exp", [](const List& v) { return List{tt::exp(v[0])}; }, {variable({4}, 1, d)});
  check("tanh", [](const List& v) { return List{tt::tanh(tt::tanh(v[0]) * v[1])}; }, {variable({4}, 1, d), variable({4}, 2, d)});
  check("softmax", [](const List& v) { return List{tt::softmax(v[0], 1)}; }, {variable({3, 4}, 1, d)});
  check("layers", [](const List& v) {
    return List{tt::matmul(tt::sigmoid(tt::matmul(v[0], v[1]) + v[2]), v[3])};
  }, {variable({3, 4}, 1, d), variable({4, 5}, 2, d), variable({5}, 3, d), variable({5, 2}, 4, d)});
  check("detached", [](const List& v) { return List{tt::exp(v[0]).detach() * v[1] + v[1] * v[1] * v[1]}; }, {uniform({4}, 1, d), variable({4}, 2, d)});
}

TEST_CASE("second derivatives of functions of several results") {
  const auto check = [](const char* name, bool saves, const auto& f, const List& in) {
    CAPTURE(std::string(name));
    const auto compiled = tt::compile(f, {.tier = 0});
    // Of each result alone, then of all: results that get no gradient count as zeros.
    const std::size_t results = f(in).size();
    for (std::size_t which = 0; which <= results; ++which) {
      CAPTURE(which);
      const auto scalar = [&](const auto& g, const List& v) {
        const List r = g(v);
        Tensor sum;
        for (std::size_t k = 0; k < r.size(); ++k) {
          if ((which < results && k != which) || !r[k].requires_grad()) continue;
          const Tensor s = (tt::sin(r[k]) * (0.5 + static_cast<double>(k))).sum();
          sum = sum.defined() ? sum + s : s;
        }
        return sum;
      };
      if (!scalar(f, in).defined()) continue;
      const auto second = [&](const auto& g) {
        List v, variables, all;
        for (const Tensor& t : in) {
          v.push_back(t * 1);  // not leaves: nothing else holds them
          if (t.requires_grad()) variables.push_back(t);
        }
        const List d = tt::grad({scalar(g, v)}, variables, {}, true, true);
        Tensor sum;
        for (const Tensor& x : d) {
          if (!x.defined() || !x.requires_grad()) continue;
          const Tensor s = (x * x * x).sum();
          sum = sum.defined() ? sum + s : s;
        }
        List of_that = tt::grad({sum}, variables);
        for (std::size_t k = 0; k < variables.size(); ++k) {
          all.push_back(d[k].defined() ? d[k].detach() : tt::zeros_like(variables[k].detach()));
          all.push_back(of_that[k].defined() ? of_that[k] : tt::zeros_like(variables[k].detach()));
        }
        return all;
      };
      const List want = second(f), got = second(compiled);
      REQUIRE(want.size() == got.size());
      for (std::size_t k = 0; k < want.size(); ++k) {
        REQUIRE(want[k].shape() == got[k].shape());
        CHECK(tt::amax((want[k] - got[k]).abs().flatten(), 0).item() <= 1e-12 * (1 + tt::amax(want[k].abs().flatten(), 0).item()));
      }
      CHECK(message([&] { tt::gradgradcheck([&](const List& v) { return scalar(compiled, v); }, in); }) == "no error");
    }
    CHECK(contains(std::string(compiled.explain()), "second backward, of ") == saves);
  };
  const DType d = DType::f64;
  check("shared", false, [](const List& v) {
    const Tensor e = tt::exp(v[0] * v[1]);
    return List{e, tt::sqrt(e + 1) * v[1], v[1] * v[1] * v[0]};
  }, {variable({4}, 1, d), variable({4}, 2, d)});
  check("layers", true, [](const List& v) {
    const Tensor h = tt::tanh(tt::matmul(v[0], v[1])), p = tt::softmax(h, 1);
    return List{p, tt::sin(tt::matmul(p * h, v[2])), h};
  }, {variable({3, 4}, 1, d), variable({4, 5}, 2, d), variable({5, 2}, 3, d)});
  check("what has no derivative", true, [](const List& v) {
    const Tensor m = tt::matmul(v[0], v[1]);
    return List{v[0] > 0, m, tt::sin(m) * tt::where(v[0] > 0, v[0], v[0] * v[0]).sum()};
  }, {variable({3, 4}, 1, d), variable({4, 4}, 2, d)});
}

TEST_CASE("a second backward is made when it is first asked for, also where it needs an input that the first does not") {
  const auto f = tt::compile([](const Tensor& x, const Tensor& w) { return tt::sin(tt::matmul(x, w)); }, {.tier = 0});
  const Tensor x = variable({3, 4}, 1, DType::f64), w = uniform({4, 5}, 2, DType::f64);
  f(x, w).sum().backward();
  CHECK(!contains(std::string(f.explain()), "second backward"));
  const Tensor dx = tt::grad({f(x, w).sum()}, {x}, {}, true, true)[0];
  CHECK(!contains(std::string(f.explain()), "second backward"));
  const Tensor again = tt::grad({dx.sum()}, {x})[0];
  CHECK(contains(std::string(f.explain()), "second backward, of "));
  const Tensor expected = tt::matmul(-tt::sin(tt::matmul(x, w)) * w.sum(0), w.t());
  CHECK(tt::amax((again - expected).detach().abs().flatten(), 0).item() < 1e-12);
}

TEST_CASE("a result that gets no gradient has no part in a backward") {  // zeros would: 0 * inf is NaN
  const auto whole = [](const Tensor& x) { return List{x * 2, x.slice(0, 0, 1).var({-1}), (x * 0).log(), tt::exp(x)}; };
  const auto broken = [](const Tensor& x) {
    Tensor y = x * 2;
    const Tensor v = x.slice(0, 0, 1).var({-1}), l = (x * 0).log();
    if (y.sum().item() > 1e6) y = y + 1;
    return List{y, v, l, tt::exp(x)};
  };
  const auto check = [](const auto& f) {
    for (const int tier : {0, 1}) {
      const auto compiled = tt::compile(f, {.tier = tier, .wait = true});
      for (const std::vector<int>& with : {std::vector<int>{0}, std::vector<int>{0, 3}, std::vector<int>{3}, std::vector<int>{0, 1, 2, 3}}) {
        CAPTURE(tier);
        CAPTURE(with.size());
        const auto gradient = [&](const auto& g) {
          const Tensor x = variable({5}, 1);
          const List y = g(x);
          Tensor sum;
          for (int k : with) sum = sum.defined() ? sum + y[static_cast<std::size_t>(k)].sum() : y[static_cast<std::size_t>(k)].sum();
          return tt::grad({sum}, {x})[0];
        };
        const Tensor got = gradient(compiled), want = gradient(f);
        CHECK(tt::allclose(got, want, 1e-6, 1e-6, true));
        if (with.size() < 4) CHECK(tt::isfinite(got).all().item() == 1);
      }
      CHECK(contains(std::string(compiled.explain()), "backward of fewer results, of "));
    }
  };
  check(whole);
  check(broken);
}

TEST_CASE("third derivatives of exp are exp") {
  const auto f = tt::compile([](const Tensor& x) { return tt::exp(x); }, {.tier = 0});
  Tensor x = variable({5}, 1), y = f(x * 1), expected = tt::exp(x.detach());
  for (int order = 1; order <= 3; ++order) {
    y = tt::grad({y.sum()}, {x}, {}, true, true)[0];
    REQUIRE(y.defined());
    CHECK(same_bits(y.detach(), expected));
  }
}

TEST_CASE("a function of many saved values can be differentiated twice") {
  for (const int layers : {30, 70}) {
    CAPTURE(layers);
    const auto f = [layers](const Tensor& x, const Tensor& w) {
      Tensor h = x;
      for (int k = 0; k < layers; ++k) h = tt::tanh(tt::matmul(tt::softmax(h, 1) * h, w));
      return h;
    };
    const auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
    std::vector<Tensor> first, second;
    for (const bool eager : {true, false}) {
      const Tensor x = uniform({3, 4}, 1, DType::f64), w = variable({4, 4}, 2, DType::f64);
      const Tensor y = eager ? f(x, w) : compiled(x, w);
      const Tensor d = tt::grad({y.sum()}, {w}, {}, true, true)[0];
      first.push_back(d.detach());
      second.push_back(tt::grad({(d * d).sum()}, {w})[0]);
    }
    CHECK(tt::amax((first[0] - first[1]).abs().flatten(), 0).item() < 1e-12);
    CHECK(tt::amax((second[0] - second[1]).abs().flatten(), 0).item() < 1e-9);
    CHECK(contains(std::string(compiled.explain()), "backward: "));
  }
}

// ---- segments, backends

TEST_CASE("segments between graph breaks have two halves each") {
  const auto f = [](const Tensor& x, const Tensor& w) {
    Tensor h = tt::tanh(tt::matmul(x, w));
    if (h.sum().item() > -1e6) h = tt::softmax(tt::matmul(h, w), 1);
    return h.sum() + (h * h).sum();
  };
  const auto compiled = tt::compile(f, {.name = "broken"});
  for (int round = 0; round < 3; ++round) {
    const Tensor x = uniform({5, 4}, 1), a = variable({4, 4}, 2), b = a.detach().clone().requires_grad_();
    f(x, a).backward();
    compiled(x, b).backward();
    CHECK(same_bits(a.grad(), b.grad()));
  }
  CHECK(compiled.segments() == 2);
  CHECK(occurrences(compiled.explain(), "backward: ") == 2);
}

TEST_CASE("what a function with graph breaks changes in place is not what backward is given") {
  const auto f = [](const Tensor& x) {
    Tensor h = tt::exp(tt::matmul(x, x));  // dear: its backward is given it
    if (h.sum().item() > 0) h += 1;
    return (h * h).sum();
  };
  const auto eagerly = [](const Tensor& x) {  // where what exp gave is needed in backward
    const Tensor h = tt::exp(tt::matmul(x, x)) + 1;
    return (h * h).sum();
  };
  const auto compiled = tt::compile(f, {.name = "changed"});
  const Tensor a = variable({9, 9}, 1), b = a.detach().clone().requires_grad_();
  eagerly(a).backward();
  compiled(b).backward();
  CHECK(same_bits(a.grad(), b.grad()));
  CHECK(compiled.segments() == 2);
}

TEST_CASE("what lies otherwise in memory is changed in place beside a gradient") {
  const auto f = [](const Tensor& w, Tensor& x) {
    Tensor u = x.t();
    u *= 2;
    const Tensor b = w * 3;
    u.copy_(u * 10);
    return b.sum() + x.select(0, 0).sum();
  };
  const auto compiled = tt::compile(f);
  const Tensor w = variable({2}, 1);
  Tensor x = tt::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}), y = x.clone();
  const Tensor want = f(w, x), got = compiled(w, y);
  CHECK(numbers(x) == numbers(y));
  CHECK(got.item() == doctest::Approx(want.item()));
  got.backward();
  CHECK(numbers(w.grad()) == std::vector<double>{3, 3});
}

TEST_CASE("a result that backward reads is not changed on the tape") {
  const auto f = tt::compile([](const Tensor& x) { return tt::exp(x); });
  const Tensor x = variable({9}, 1);
  Tensor y = f(x);
  y += 1;
  CHECK(contains(message([&] { y.sum().backward(); }), "was changed in place after it was saved"));
  y = f(x);
  const auto g = tt::compile([](const Tensor& v) { return v * v; });
  Tensor z = g(x);
  z += y;
  z.sum().backward();
  CHECK(x.grad().defined());
}

TEST_CASE("a graph of compile_graph has two halves too") {
  const auto f = tt::compile([](const Tensor& x) { return tt::exp(x * 2) * x; },
                             {.backend = [](const tt::Graph& g, const std::vector<tt::ExampleInput>&) { return tt::compile_graph(g); }});
  const Tensor x = variable({7}, 1), y = x.detach().clone().requires_grad_();
  f(x).sum().backward();
  (tt::exp(y * 2) * y).sum().backward();
  CHECK(same_bits(x.grad(), y.grad()));
}

TEST_CASE("calls on the tape leave no memory behind") {
  const auto f = tt::compile([](const Tensor& x) { return tt::exp(x) / tt::sqrt(x * x + 1); }, {.tier = 0});
  Tensor x = variable({1000}, 1);
  const auto step = [&] {
    f(x).sum().backward();
    (void)f(x);
    (void)tt::grad({f(x).sum()}, {x}, {}, true, true);
    x.zero_grad();
  };
  step();
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  for (int k = 0; k < 5; ++k) step();
  CHECK(tt::cpu_memory_stats().allocated == before);
}
