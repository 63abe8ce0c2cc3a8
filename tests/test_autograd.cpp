// The tape: gradients of every op against differences, modes, hooks, changes in place, functions of
// one's own, memory and very long chains.
#include <doctest/doctest.h>
#include <pthread.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tt/ops/list.hpp"
#include "sanitizers.hpp"
#include "tensors.hpp"

namespace {

std::string at(int line) { return std::string("\n  at ") + __FILE__ + ":" + std::to_string(line); }

using tt::DType;
using tt::Op;
using tt::Tensor;
using Tensors = std::vector<Tensor>;

/// A leaf of f64 between two bounds.
Tensor leaf(const tt::IntList& shape, int seed, double low = 0.3, double high = 1.7) {
  return (tt::rand(shape, seed, {.dtype = DType::f64}) * (high - low) + low).requires_grad_();
}
Tensor f32_leaf(const Numbers& v) {
  Tensor t = tt::empty({static_cast<std::int64_t>(v.size())});
  for (std::size_t k = 0; k < v.size(); ++k) t.elements<float>()[k] = static_cast<float>(v[k]);
  return t.requires_grad_();
}

/// Once and twice, naming what it is about.
void check(const char* name, const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  CAPTURE(std::string(name));
  CHECK(message([&] { tt::gradcheck(f, inputs); }) == "no error");
  CHECK(message([&] { tt::gradgradcheck(f, inputs); }) == "no error");
}

/// An op that nothing else uses, so that its first call is the one below.
struct Product {
  static constexpr tt::OpInfo info{.name = "product_of_test_autograd", .domain = tt::Domain::number, .arity = 2};
  static constexpr auto body(auto x, auto y) { return x * y; }
};
constexpr tt::Elementwise<Product> product{};

template <class... F>
void for_each_op(tt::TypeList<F...>, const auto& f) {
  (f(tt::TypeList<F>{}), ...);
}
template <class F>
void for_each_primitive(const F& f) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const auto one = [&]<Op P>(std::integral_constant<Op, P> op) {
      if constexpr (is_arithmetic(P) && !is_bitwise(P) && !is_shift(P) && P != Op::copy) f(op);
    };
    (one(std::integral_constant<Op, static_cast<Op>(K)>{}), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(tt::op_count)>{});
}

}  // namespace

// ---- leaves, backward, grad

namespace {
struct Layer {
  Tensor w, b;
};
struct Net {
  Layer first;
  std::vector<Layer> more;
  std::array<Tensor, 2> scale;
  std::pair<Tensor, double> rest;
};
}  // namespace

TEST_CASE("grad takes structs and lists of Tensors, of any depth, and gives the same structure") {
  const auto loss = [](const Net& n, const Tensor& x) {
    Tensor y = x * n.first.w + n.first.b;
    for (const Layer& l : n.more) y = l.b.defined() ? y * l.w + l.b : y * l.w;
    return (y * n.scale[0]).sum() + n.rest.first.sum() * n.rest.second;
  };
  const auto t = [](double a, double b) { return tt::tensor({a, b}); };
  const Net net{{t(2, 3), t(1, 1)}, {{t(4, 5), t(0, 1)}, {t(1, 2), Tensor()}}, {t(1, -1), t(7, 7)}, {t(1, 2), 3.0}};
  const Tensor x = t(1, 2);
  const auto check = [](const Net& d) {
    CHECK(numbers(d.first.w) == Numbers{4, -20});
    CHECK(numbers(d.first.b) == Numbers{4, -10});
    REQUIRE(d.more.size() == 2);
    CHECK(numbers(d.more[0].w) == Numbers{3, -14});
    CHECK(numbers(d.more[1].w) == Numbers{12, -36});
    CHECK(!d.more[1].b.defined());
    CHECK(numbers(d.scale[0]) == Numbers{12, 72});
    CHECK(numbers(d.scale[1]) == Numbers{0, 0});  // nothing flows there
    CHECK(numbers(d.rest.first) == Numbers{3, 3});
    CHECK(d.rest.second == 3.0);
  };
  check(tt::grad(loss)(net, x));
  const auto [value, both] = tt::value_and_grad<0, 1>(loss)(net, x);
  CHECK(value.item() == 12 - 72 + 9);
  check(std::get<0>(both));
  CHECK(numbers(std::get<1>(both)) == Numbers{8, -30});

  const std::vector<Tensor> list{t(1, 2), t(3, 4)};
  const std::vector<Tensor> d = tt::grad([](const std::vector<Tensor>& v) { return (v[0] * v[0] * v[1]).sum(); })(list);
  CHECK(numbers(d[0]) == Numbers{6, 16});
  CHECK(numbers(d[1]) == Numbers{1, 4});
  const std::tuple<Tensor, int> pair{t(1, 2), 5};
  CHECK(numbers(std::get<0>(tt::grad([](const auto& p) { return (std::get<0>(p) * std::get<1>(p)).sum(); })(pair))) == Numbers{5, 5});
}

TEST_CASE("what a function gives beside its loss comes beside the gradient") {
  struct Beside {
    Tensor prediction;
    std::vector<Tensor> parts;
    int calls = 0;
  };
  const auto loss = [](const Tensor& w, const Tensor& x) {
    const Tensor y = w * x;
    return std::pair{(y * y).sum(), Beside{y, {w, x}, 7}};
  };
  const Tensor w = tt::tensor({1.0, 2.0}), x = tt::tensor({3.0, 4.0});
  const auto [given, gradient] = tt::value_and_grad(loss)(w, x);
  CHECK(given.first.item() == 73);
  CHECK(numbers(gradient) == Numbers{18, 64});
  CHECK(numbers(given.second.prediction) == Numbers{3, 8});
  CHECK(!given.second.prediction.requires_grad());
  CHECK(!given.second.parts[0].requires_grad());
  CHECK(given.second.calls == 7);
  const auto [both, beside] = tt::grad<0, 1>(loss)(w, x);
  CHECK(numbers(std::get<1>(both)) == Numbers{6, 32});
  CHECK(numbers(beside.prediction) == Numbers{3, 8});
  // On the tape of an argument that requires a gradient, both go on; also where only what stands beside hangs on it.
  const Tensor leaf = x.detach().requires_grad_();
  const auto [d, on_tape] = tt::grad(loss)(w, leaf);
  (d.sum() + on_tape.prediction.sum()).backward();
  CHECK(numbers(leaf.grad()) == Numbers{4 * 1 * 3 + 1, 4 * 2 * 4 + 2});
  Tensor held = tt::tensor({5.0, 6.0}).requires_grad_();
  const auto holds = [&](const Tensor& v) { return std::pair{(v * v).sum(), v * v * held}; };
  const auto [slope, other] = tt::grad(holds)(w);
  CHECK(numbers(slope) == Numbers{2, 4});
  other.sum().backward();
  CHECK(numbers(held.grad()) == Numbers{1, 4});
  // A number alone, example by example, compiled, and with a graph break.
  CHECK(tt::grad([](const Tensor& v) { return std::pair{v.sum(), 3}; })(w).second == 3);
  const Tensor rows = tt::rand({3, 2}, 5).to(tt::DType::f64);
  const auto pair = [](const Tensor& a, const Tensor& b) { return std::pair{(a * b * b).sum(), a + b}; };
  const auto [slopes, sums] = tt::vmap(tt::grad<1>(pair), {.in_dims = {tt::none, 0}})(w, rows);
  CHECK(same_bits(slopes, (w * rows) + (w * rows)));
  CHECK(same_bits(sums, w + rows));
  const auto step = [](const Tensor& a, const Tensor& b) {
    const auto [g, aux] = tt::grad([](const Tensor& u, const Tensor& v) { return std::pair{(u * v * v).sum(), u + v}; })(a, b);
    return g * 2 + aux;
  };
  CHECK(same_bits(tt::compile(step)(w, x), step(w, x)));
  const auto broken = [](const Tensor& a, const Tensor& b) {
    const auto [g, aux] = tt::grad([&](const Tensor& v) { return std::pair{v.sum().item<double>() > 0 ? (v * b).sum() : v.sum(), v + b}; })(a);
    return g * 2 + aux;
  };
  CHECK(same_bits(tt::compile(broken)(w, x), broken(w, x)));
  CHECK(!tt::compile(broken)(w, x).requires_grad());
}

TEST_CASE("derivatives go through what a function gives beside its loss, recorded as eager") {
  // d/dv of the sum of x^3 v, which only stands beside.
  const Tensor x = tt::tensor({1.0, 2.0}), w = tt::tensor({3.0});
  const auto outer = [](const Tensor& y, const Tensor& v) {
    const auto beside = [&](const Tensor& z) { return std::pair{(z * z).sum(), z * z * z * v}; };
    return tt::grad(beside)(y).second;
  };
  const auto slope = [](const Tensor& y, const Tensor& v) {
    const auto beside = [&](const Tensor& u) { return tt::grad([&](const Tensor& z) { return std::pair{(z * z).sum(), z * z * z * u}; })(y).second.sum(); };
    return tt::grad(beside)(v);
  };
  CHECK(numbers(slope(x, w)) == Numbers{9});
  CHECK(numbers(tt::compile(slope, {.fullgraph = true})(x, w)) == Numbers{9});
  CHECK(numbers(tt::trace(slope, x, w)(x, w)) == Numbers{9});
  for (const bool reverse : {false, true}) {
    const auto by_w = [&](const Tensor& v) { return outer(x, v); };
    CHECK(numbers(reverse ? tt::jacrev(by_w)(w) : tt::jacfwd(by_w)(w)) == Numbers{1, 8});
  }
  CHECK(numbers(tt::jacfwd([&](const Tensor& y) { return outer(y, w); })(x)) == Numbers{9, 0, 0, 36});
  CHECK(numbers(tt::vmap([&](const Tensor& v) { return slope(x, v); })(tt::tensor({1.0, 2.0}))) == Numbers{9, 9});
  const auto along = [](const Tensor& y, const Tensor& v) {
    return tt::jvp([&](const Tensor& u) { return tt::grad([&](const Tensor& z) { return std::pair{(z * z).sum(), z * z * z * v}; })(u).second; }, y, tt::ones_like(y)).second;
  };
  CHECK(numbers(along(x, w)) == Numbers{9, 36});
  CHECK(numbers(tt::compile(along)(x, w)) == Numbers{9, 36});
  // On the tape: the gradient of a parameter on which only that hangs.
  Tensor q = tt::tensor({3.0}).requires_grad_();
  const auto total = [](const Tensor& y, const Tensor& v) { return tt::grad([&](const Tensor& z) { return std::pair{(z * z).sum(), z * z * z * v}; })(y).second.sum(); };
  const auto broken = [](const Tensor& y, const Tensor& v) {
    return tt::grad([&](const Tensor& z) {
             Tensor l = (z * z).sum();
             if (l.item<double>() > 0) l = l * 2;
             return std::pair{l, z * z * z * v};
           })(y).second.sum();
  };
  const auto compiled = tt::compile(total);
  const auto compiled_broken = tt::compile(broken);
  for (const auto& f : {std::function<Tensor(const Tensor&, const Tensor&)>(total), {compiled}, {broken}, {compiled_broken}}) {
    q.zero_grad();
    f(x, q).backward();
    CHECK(numbers(q.grad()) == Numbers{9});
    CHECK(!f(x, w).requires_grad());
    const tt::NoGrad off;
    CHECK(!f(x, q).requires_grad());
  }
  // An argument that comes back is the argument.
  const auto changes = [](const Tensor& y) {
    const Tensor own = y * 1;
    const auto [g, same] = tt::grad([](const Tensor& z) { return std::pair{(z * z).sum(), z}; })(own);
    Tensor(same).add_(1);
    return own + g * 0;
  };
  CHECK(numbers(changes(x)) == Numbers{2, 3});
  CHECK(numbers(tt::compile(changes)(x)) == Numbers{2, 3});
}

TEST_CASE("set_grad takes what is like the Tensor, and not the Tensor itself") {
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  {
    Tensor x = f32_leaf({1, 2, 3});
    CHECK(message([&] { x.set_grad(x); }).starts_with("tt::set_grad: a Tensor cannot be its own gradient. Use clone()?\n  at "));
    CHECK(message([&] { x.set_grad(tt::ones({1})); })
              .starts_with("tt::set_grad: the gradient is f32 (1,) on cpu, the Tensor f32 (3,) on cpu. Use expand or to?\n  at "));
    CHECK(message([&] { x.set_grad(tt::ones({3}, {.dtype = DType::f64})); })
              .starts_with("tt::set_grad: the gradient is f64 (3,) on cpu, the Tensor f32 (3,) on cpu. "));
    CHECK(!x.grad().defined());
    x.set_grad(x.detach());
    (x * 2).sum().backward();
    CHECK(numbers(x.grad()) == Numbers{3, 4, 5});
    x.set_grad(Tensor());
    CHECK(!x.grad().defined());
  }
  CHECK(tt::cpu_memory_stats().allocated == before);
}

TEST_CASE("a leaf collects what flows into it") {
  Tensor x = f32_leaf({1, 2, 3});
  CHECK(x.requires_grad());
  CHECK(x.is_leaf());
  CHECK(!x.grad().defined());
  Tensor y = (x * x).sum();
  CHECK(y.requires_grad());
  CHECK(!y.is_leaf());
  y.backward();
  CHECK(numbers(x.grad()) == Numbers{2, 4, 6});
  (x * 3).sum().backward();
  CHECK(numbers(x.grad()) == Numbers{5, 7, 9});
  CHECK(!x.grad().requires_grad());
  x.zero_grad();
  CHECK(!x.grad().defined());
  x.requires_grad_(false);
  CHECK(!(x * 2).requires_grad());
  CHECK(message([&] { y.requires_grad_(false); }) == "tt::requires_grad_: the Tensor was computed from others. Use detach()?" + at(__LINE__));
  CHECK(message([] { tt::arange(3).requires_grad_(); }) == "tt::requires_grad_: only floating Tensors have gradients: dtype is i64." + at(__LINE__));
}

TEST_CASE("leaves never share the memory of their gradients") {
  Tensor a = f32_leaf({1, 2}), b = f32_leaf({3, 4});
  Tensor g = tt::ones({2});
  (a + b).backward(g);
  Tensor ga = a.grad();
  ga.add_(10.0);
  CHECK(numbers(b.grad()) == Numbers{1, 1});
  CHECK(numbers(g) == Numbers{1, 1});
  Tensor c = f32_leaf({1, 2});
  c.backward(g);
  Tensor gc = c.grad();
  gc.add_(1.0);
  CHECK(numbers(g) == Numbers{1, 1});
}

TEST_CASE("grad gives the gradients of several outputs by several inputs") {
  const Tensor x = f32_leaf({1, 2}), y = f32_leaf({3, 4}), unused = f32_leaf({5});
  const Tensor p = (x * y).sum(), q = (x + 2 * y).sum();
  const Tensors g = tt::grad({p, q}, {x, y, unused, x});
  CHECK(numbers(g[0]) == Numbers{4, 5});
  CHECK(numbers(g[1]) == Numbers{3, 4});
  CHECK(!g[2].defined());
  CHECK(numbers(g[3]) == Numbers{4, 5});
  CHECK(!x.grad().defined());
  CHECK(numbers(tt::grad({x * y}, {y}, {tt::tensor({10.0, 100.0})})[0]) == Numbers{10, 200});
  CHECK(numbers(tt::grad({x.sum(), x.sum()}, {x})[0]) == Numbers{2, 2});
  const Tensor z = x * 2;  // an output may be an input
  CHECK(numbers(tt::grad({z.sum()}, {z})[0]) == Numbers{1, 1});
  CHECK(message([&] { tt::grad({x.sum()}, {tt::ones({2})}); }) == "tt::grad: an input does not require a gradient: shape (2,)." + at(__LINE__));
  CHECK(message([&] { tt::grad({x.sum()}, {x}, {tt::tensor(1.0), tt::tensor(1.0)}); }) == "tt::grad: 2 gradients for 1 output." + at(__LINE__));
}

TEST_CASE("grad runs no node that its inputs do not need") {
  const Tensor x = f32_leaf({1, 2}), w = f32_leaf({3, 4});
  const Tensor h = tt::exp(x), y = (h * tt::exp(w)).sum();
  int calls = 0;
  tt::register_hook(w, [&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  const Tensor g = tt::grad({y}, {h})[0];
  CHECK(calls == 0);
  h.backward(g);  // what lies below h is still there
  CHECK(x.grad().defined());
}

TEST_CASE("a graph runs once unless it is retained") {
  const Tensor x = f32_leaf({2, 3});
  const Tensor y = (x * x).sum();
  y.backward(Tensor(), true);
  y.backward();
  CHECK(numbers(x.grad()) == Numbers{8, 12});
  const std::string twice = message([&] { y.backward(); });
  CHECK(contains(twice, "tt::backward: the graph was freed by an earlier backward"));
  CHECK(contains(twice, "Pass retain_graph = true there?"));
  CHECK(contains(twice, "test_autograd.cpp"));
  const Tensor nothing_saved = (x + x * 3).sum();
  nothing_saved.backward();
  nothing_saved.backward();
  CHECK(numbers(x.grad()) == Numbers{16, 20});
}

TEST_CASE("backward refuses what has no gradient") {
  const Tensor x = f32_leaf({1, 2});
  CHECK(message([&] { (x * 2).backward(); }) == "tt::backward: gradient of something that is not a scalar: shape (2,). Take its sum or mean first, or give a gradient." + at(__LINE__));
  CHECK(message([&] { tt::grad({x * 2}, {x}); }) == "tt::grad: gradient of something that is not a scalar: shape (2,). Take its sum or mean first, or give a gradient." + at(__LINE__));
  CHECK(message([&] { (x * 2).backward(tt::ones({3})); }) == "tt::backward: the gradient is f32 (3,), the Tensor f32 (2,)." + at(__LINE__));
  CHECK(message([&] { (x * 2).backward(tt::ones({2}, {.dtype = DType::i64})); }) == "tt::backward: the gradient is i64 (2,), the Tensor f32 (2,)." + at(__LINE__));
  CHECK(message([] { tt::ones({1}).backward(); }) == "tt::backward: the Tensor does not require a gradient, and nothing that made it does." + at(__LINE__));
  CHECK(message([] { Tensor().backward(); }) == "tt: an undefined Tensor was used.");
}

TEST_CASE("derivatives of derivatives") {
  const Tensor x = leaf({4}, 1);
  const Tensor y = (x * x * x * x).sum();
  const Tensor d1 = tt::grad({y}, {x}, {}, true, true)[0];
  const Tensor d2 = tt::grad({d1.sum()}, {x}, {}, true, true)[0];
  const Tensor d3 = tt::grad({d2.sum()}, {x}, {}, true, true)[0];
  const Tensor d4 = tt::grad({d3.sum()}, {x})[0];
  const Numbers v = numbers(x);
  for (std::size_t k = 0; k < v.size(); ++k) {
    CHECK(numbers(d1)[k] == doctest::Approx(4 * v[k] * v[k] * v[k]));
    CHECK(numbers(d2)[k] == doctest::Approx(12 * v[k] * v[k]));
    CHECK(numbers(d3)[k] == doctest::Approx(24 * v[k]));
    CHECK(numbers(d4)[k] == doctest::Approx(24));
  }
  Tensor w = leaf({3}, 2);
  tt::tanh(w).sum().backward(Tensor(), false, true);
  CHECK(w.grad().requires_grad());
  w.zero_grad();
}

// ---- every op against differences

TEST_CASE("every op of the list has its derivatives, of both orders") {
  for_each_op(tt::ElementwiseOps{}, []<class F>(tt::TypeList<F>) {
    for (const double sign : {1.0, -1.0, 4.1}) {
      const auto f = [](const Tensors& v) {
        constexpr tt::Elementwise<F> op{};
        if constexpr (F::info.arity == 1) return op(v[0]);
        else if constexpr (F::info.arity == 2) return op(v[0], v[1]);
        else return op(v[0], v[1], v[2]);
      };
      Tensors in;
      for (int k = 0; k < F::info.arity; ++k) in.push_back((leaf({2, 3}, 40 + k).detach() * sign).requires_grad_());
      const Tensor y = f(in);
      if ((y != y).to(DType::i64).sum().item() > 0) continue;  // not defined there
      check(F::info.name, f, in);
    }
  });
}

TEST_CASE("every primitive has its derivatives, of both orders") {
  for_each_primitive([]<Op P>(std::integral_constant<Op, P>) {
    Tensors in;
    for (int k = 0; k < arity(P); ++k) in.push_back(leaf({2, 3}, 70 + k));
    check(name(P), [](const Tensors& v) {
      if constexpr (arity(P) == 1) return tt::primitive<P>(tt::here(), v[0]);
      else if constexpr (arity(P) == 2) return tt::primitive<P>(tt::here(), v[0], v[1]);
      else return tt::primitive<P>(tt::here(), v[0], v[1], v[2]);
    }, in);
  });
  check("where", [](const Tensors& v) { return tt::where(v[0].detach() > 1, v[0] * v[1], v[1]); }, {leaf({5}, 1), leaf({5}, 2)});
}

TEST_CASE("reductions, softmax, losses") {
  const Tensor x = leaf({2, 3, 4}, 3);
  for (int dim : {0, 1, 2, -1})
    for (bool keepdim : {false, true}) {
      CAPTURE(dim);
      check("sum", [&](const Tensors& v) { return tt::sum(v[0], dim, keepdim).square(); }, {x});
      check("mean", [&](const Tensors& v) { return tt::mean(v[0], dim, keepdim).square(); }, {x});
      check("var", [&](const Tensors& v) { return tt::var(v[0], dim, 1, keepdim); }, {x});
      check("amax", [&](const Tensors& v) { return tt::amax(v[0], dim, keepdim).square(); }, {x});
      check("amin", [&](const Tensors& v) { return tt::amin(v[0], dim, keepdim).square(); }, {x});
      check("logsumexp", [&](const Tensors& v) { return tt::logsumexp(v[0], dim, keepdim); }, {x});
    }
  for (int dim : {0, 1, -1}) {
    check("softmax", [&](const Tensors& v) { return tt::softmax(v[0], dim); }, {x});
    check("log_softmax", [&](const Tensors& v) { return tt::log_softmax(v[0], dim); }, {x});
  }
  check("sum of all", [](const Tensors& v) { return v[0].sum().square(); }, {x});
  check("mean of all", [](const Tensors& v) { return v[0].mean().square(); }, {x});
  const Tensor labels = tt::tensor({2, 0, 1});
  check("cross_entropy", [&](const Tensors& v) { return tt::cross_entropy(v[0], labels); }, {leaf({3, 4}, 4)});
  check("mse_loss", [](const Tensors& v) { return tt::mse_loss(v[0], v[1]); }, {leaf({3, 4}, 4), leaf({3, 4}, 5)});
}

TEST_CASE("matmul of matrices, batches and vectors") {
  const tt::IntList shapes[][2] = {{{2, 3}, {3, 4}}, {{3}, {3}}, {{3}, {3, 2}}, {{2, 3}, {3}},
                                   {{2, 2, 3}, {2, 3, 2}}, {{2, 2, 3}, {3, 2}}, {{2, 3}, {2, 3, 2}},
                                   {{2, 1, 2, 3}, {3, 3, 2}}, {{2, 2, 3}, {3}}, {{3}, {2, 3, 2}}};
  for (const auto& s : shapes) {
    const Tensors in{leaf(s[0], 6), leaf(s[1], 7)};
    CAPTURE(shape(in[0]));
    CAPTURE(shape(in[1]));
    check("matmul", [](const Tensors& v) { return tt::matmul(v[0], v[1]); }, in);
  }
}

TEST_CASE("views, casts and copies") {
  const Tensor x = leaf({2, 3, 4}, 8);
  const auto view = [&](const char* name, auto f) { check(name, [&](const Tensors& v) { return f(v[0]).square(); }, {x}); };
  view("view", [](const Tensor& t) { return t.view({4, 6}); });
  view("reshape", [](const Tensor& t) { return t.reshape({-1, 2}); });
  view("permute", [](const Tensor& t) { return t.permute({2, 0, 1}); });
  view("transpose", [](const Tensor& t) { return t.transpose(0, 2); });
  view("expand", [](const Tensor& t) { return t.unsqueeze(1).expand({2, 5, 3, 4}); });
  view("slice", [](const Tensor& t) { return t.slice(2, 1, 4, 2); });
  view("empty slice", [](const Tensor& t) { return t.slice(2, 2, 2); });
  view("select", [](const Tensor& t) { return t.select(1, -1); });
  view("index", [](const Tensor& t) { return t[1]; });
  view("unsqueeze", [](const Tensor& t) { return t.unsqueeze(-1); });
  view("squeeze", [](const Tensor& t) { return t.unsqueeze(0).squeeze(0); });
  view("flatten", [](const Tensor& t) { return t.transpose(0, 1).flatten(); });
  view("contiguous", [](const Tensor& t) { return t.transpose(0, 1).contiguous(); });
  view("clone", [](const Tensor& t) { return t.clone(); });
  const Tensor y = x.to(DType::f32);
  y.sum().backward();
  CHECK(x.grad().dtype() == DType::f64);
  CHECK(!x.to(DType::i64).requires_grad());
  CHECK(!x.detach().requires_grad());
  CHECK(!(x > 0).requires_grad());
}

TEST_CASE("gradients of windows: each element gets what all windows that hold it got") {
  for (const std::int64_t n : {7, 12, 13})
    for (const std::int64_t size : {1, 2, 3, 5})
      for (const std::int64_t step : {1, 2, 3, 6, 1000}) {
        CAPTURE(n);
        CAPTURE(size);
        CAPTURE(step);
        const Tensor x = tt::arange(3 * n).to(DType::f32).reshape({3, n}).requires_grad_();
        const std::int64_t windows = (n - size) / step + 1;
        const Tensor w = (tt::arange(3 * windows * size) % 11).to(DType::f32).reshape({3, windows, size});
        Tensor expected = tt::zeros({3, n});
        for (std::int64_t o = 0; o < windows; ++o) expected.slice(1, o * step, o * step + size).add_(w.select(1, o));
        for (const auto& of : {std::function([&](const Tensor& t) { return (t.unfold(1, size, step) * w).sum(); }),
                               std::function([&](const Tensor& t) { return (t.t().unfold(0, size, step).transpose(0, 1) * w).sum(); })})
          CHECK(same_bits(tt::grad({of(x)}, {x})[0], expected));
        const Tensor square = tt::grad({(x.unfold(1, size, step) * x.unfold(1, size, step) * w).sum()}, {x})[0];
        CHECK(same_bits(square, 2 * x.detach() * expected));
      }
  struct Pool {
    int size, stride, padding;
  };
  for (const Pool& p : {Pool{3, 1, 1}, Pool{3, 2, 1}, Pool{2, 3, 0}, Pool{5, 2, 2}, Pool{3, 3, 0}}) {
    CAPTURE(p.size);
    CAPTURE(p.stride);
    const Tensor x = tt::randint(0, 4, {2, 3, 9, 8}, DType::i64).to(DType::f32).requires_grad_();  // with equal elements: the first one counts
    const auto max = [&](const Tensor& t) { return tt::max_pool2d(t, {.kernel_size = p.size, .stride = p.stride, .padding = p.padding}); };
    const auto average = [&](const Tensor& t) { return tt::avg_pool2d(t, {.kernel_size = p.size, .stride = p.stride, .padding = p.padding}); };
    const Tensor w = (tt::arange(max(x).numel()) % 7).to(DType::f32).reshape(max(x).shape());
    const Tensor of_max = tt::grad({(max(x) * w).sum()}, {x})[0], of_average = tt::grad({(average(x) * (w * (p.size * p.size))).sum()}, {x})[0];
    Tensor most = tt::zeros({2, 3, 9 + 2 * p.padding, 8 + 2 * p.padding}), all = tt::zeros_like(most);
    const Tensor padded = tt::pad(x.detach(), {p.padding, p.padding, p.padding, p.padding}, tt::PadMode::constant, -1);
    for (int i = 0; i < w.size(2); ++i)
      for (int j = 0; j < w.size(3); ++j) {
        const auto part = [&](const Tensor& t) { return t.slice(2, i * p.stride, i * p.stride + p.size).slice(3, j * p.stride, j * p.stride + p.size); };
        const Tensor weight = w.slice(2, i, i + 1).slice(3, j, j + 1);
        part(all).add_(weight);
        const Tensor first = part(padded).reshape({2, 3, -1}).argmax(2, true);
        part(most).add_(tt::zeros({2, 3, p.size * p.size}).scatter(2, first, 1.0).reshape({2, 3, p.size, p.size}) * weight);
      }
    const auto within = [&](const Tensor& t) { return t.slice(2, p.padding, 9 + p.padding).slice(3, p.padding, 8 + p.padding).contiguous(); };
    CHECK(same_bits(of_max, within(most)));
    CHECK(same_bits(of_average, within(all)));
    auto compiled = tt::compile(tt::frozen([&](const Tensor& t) { return max(t) + average(t); }));
    const Tensor eager = tt::grad({((max(x) + average(x)) * w).sum()}, {x})[0];
    CHECK(same_bits(tt::grad({(compiled(x) * w).sum()}, {x})[0], eager));
  }
}

TEST_CASE("operands that are strided, expanded, broadcast, without axes, or empty") {
  const Tensor a = leaf({3, 4}, 9), b = leaf({4, 3}, 10), row = leaf({4}, 11), one = leaf({}, 12), column = leaf({3, 1}, 13);
  check("strided", [](const Tensors& v) { return v[0] * v[1].t() + v[0].slice(0, 0, 1).expand({3, 4}); }, {a, b});
  check("broadcast", [](const Tensors& v) { return v[0] * v[1] + v[2] / v[3]; }, {a, row, one, column});
  check("matmul of views", [](const Tensors& v) { return tt::matmul(v[0].slice(1, 0, 4, 2), v[1].slice(0, 1, 3)); }, {a, b});
  check("used thrice", [](const Tensors& v) { return v[0] * v[0] * v[0] + tt::exp(v[0]); }, {one});
  check("softmax of a view", [](const Tensors& v) { return tt::softmax(v[0].t(), 1); }, {a});
  for (const tt::IntList& s : {tt::IntList{0}, tt::IntList{2, 0}, tt::IntList{0, 3}}) {
    const Tensor e = leaf(s, 1);
    const Tensor y = (tt::exp(e) * 2 + e).sum();
    y.backward();
    CHECK(shape(e.grad()) == shape(e));
  }
  const Tensor empty = leaf({0, 3}, 1), w = leaf({3, 2}, 2);
  tt::matmul(empty, w).sum().backward();
  CHECK(shape(empty.grad()) == "(0, 3)");
  CHECK(numbers(w.grad()) == Numbers(6, 0));
  const Tensor bias = leaf({3}, 3);
  (empty.detach() + bias).sum().backward();
  CHECK(numbers(bias.grad()) == Numbers(3, 0));
}

TEST_CASE("what a derivative reads is kept, whatever dtypes came before") {
  // Beside integers the derivative reads only these; beside floating numbers both.
  const Tensor x = f32_leaf({1, 2, 3});
  product(x, tt::tensor({4, 5, 6})).sum().backward();
  CHECK(numbers(x.grad()) == Numbers{4, 5, 6});
  const Tensor a = f32_leaf({1, 2, 3}), b = f32_leaf({4, 5, 6});
  product(a, b).sum().backward();
  CHECK(numbers(a.grad()) == Numbers{4, 5, 6});
  CHECK(numbers(b.grad()) == Numbers{1, 2, 3});
}

// ---- changes in place

TEST_CASE("changes in place take part in the history") {
  const Tensor x = leaf({3}, 20), w = leaf({3}, 21);
  check("update", [](const Tensors& v) {
    Tensor y = v[0] * 2;
    y.mul_(v[1]);
    y += v[0];
    y -= 1.5;
    y /= v[1];
    return y * y;
  }, {x, w});
  check("of what has no gradient", [](const Tensors& v) {
    Tensor y = tt::ones({3}, {.dtype = DType::f64});
    y.mul_(v[0]);
    return y * v[1];
  }, {x, w});
  check("copy_", [](const Tensors& v) {
    Tensor y = v[0] * 2;
    y.copy_(v[1] * v[1]);
    return y * v[0];
  }, {x, w});
  check("copy_ of a row", [](const Tensors& v) {
    Tensor y = tt::zeros({2, 3}, {.dtype = DType::f64});
    y.copy_(v[0]);
    return y * v[1];
  }, {x, w});
}

TEST_CASE("backward on another device is refused") {
  Tensor w = tt::empty({3}, {.device = {tt::DeviceType::meta, 0}});
  w.requires_grad_();
  const Tensor loss = (w * w).sum();
  CHECK(message<tt::Unavailable>([&] { loss.backward(tt::ones({})); }).find("there is a program of the CPU, and a Tensor is on meta.") != std::string::npos);
}

TEST_CASE("a Tensor changed by itself, or copied into, has a history of its own") {
  const Tensor x = f32_leaf({2, 3});
  Tensor y = x * 1;
  y *= y;
  y.sum().backward();
  CHECK(numbers(x.grad()) == Numbers{4, 6});
  const Tensor w = f32_leaf({5, 7});
  Tensor z = tt::zeros({2});
  z.copy_(w);
  tt::register_hook(z, [](const Tensor& g) { return g * 2; });
  (z + w).sum().backward();
  CHECK(numbers(w.grad()) == Numbers{3, 3});
}

TEST_CASE("what was overwritten no longer gets a gradient") {
  const Tensor x = f32_leaf({1, 2}), w = f32_leaf({3, 4});
  Tensor y = x * 2;
  y.zero_();
  CHECK(!y.requires_grad());
  (y + w).sum().backward();
  CHECK(!x.grad().defined());
  Tensor z = x * 2;
  z.copy_(tt::ones({2}));
  (z * w).sum().backward();
  CHECK(!x.grad().defined());
}

TEST_CASE("a change in place keeps its dtype, in the gradient too") {
  const Tensor x = f32_leaf({1, 2});
  const Tensor w = leaf({2}, 3);
  Tensor y = x * 1;
  y.mul_(w);
  CHECK(y.dtype() == DType::f32);
  y.sum().backward();
  CHECK(x.grad().dtype() == DType::f32);
  CHECK(w.grad().dtype() == DType::f64);
  CHECK(numbers(w.grad()) == Numbers{1, 2});
}

TEST_CASE("changes in place that would be wrong are refused") {
  Tensor x = f32_leaf({1, 2});
  CHECK(contains(message([&] { x += 1; }), "tt: a leaf that requires a gradient was changed in place. Do it under tt::NoGrad?"));
  CHECK(contains(message([&] { x.zero_(); }), "test_autograd.cpp"));
  Tensor y = x * 2;
  Tensor view = y[0], of_leaf = x[0];
  CHECK(contains(message([&] { of_leaf += 1; }), "tt: a view of a leaf that requires a gradient was changed in place. Do it under tt::NoGrad?"));
  {
    const tt::NoGrad off;
    x += 1;
    view += 1;
  }
  CHECK(numbers(x) == Numbers{2, 3});

  Tensor a = x * 3;
  const Tensor squared = (a * a).sum();
  a += 1;
  const std::string changed = message([&] { squared.backward(); });
  CHECK(contains(changed, "tt::backward: argument 0 of mul, f32 (2,), was changed in place after it was saved: version 1, saved 0."));
  CHECK(contains(changed, "test_autograd.cpp"));
  Tensor b = x * 3;
  const Tensor doubled = (b * 2).sum();  // what was changed is not read
  b += 1;
  doubled.backward();
  CHECK(numbers(x.grad()) == Numbers{6, 6});
}

// ---- modes, hooks

TEST_CASE("modes nest and end with their scope, also by an exception") {
  const Tensor x = f32_leaf({1});
  CHECK(tt::is_grad_enabled());
  {
    const tt::NoGrad off;
    CHECK(!tt::is_grad_enabled());
    CHECK(!(x * 2).requires_grad());
    {
      const tt::EnableGrad on;
      CHECK((x * 2).requires_grad());
    }
    CHECK(!(x * 2).requires_grad());
  }
  try {
    const tt::NoGrad off;
    tt::matmul(x, tt::ones({3}));
  } catch (const tt::Error&) {
  }
  CHECK((x * 2).requires_grad());
  Tensor y;
  {
    const tt::InferenceMode inference;
    y = x * 2;
    CHECK(!y.requires_grad());
  }
  CHECK(contains(message([&] { (y * x).sum().backward(); }), "was made under InferenceMode and cannot be saved for backward. Use clone()?"));
  CHECK(contains(message([&] { y.requires_grad_(); }), "made under InferenceMode"));
  (y.clone() * x).sum().backward();
  CHECK(numbers(x.grad()) == Numbers{2});
  (y + x).sum().backward();  // nothing of y is read
}

TEST_CASE("hooks see gradients and may change them") {
  const Tensor x = f32_leaf({1, 2});
  Numbers seen;
  tt::register_hook(x, [&](const Tensor& g) {
    seen = numbers(g);
    return Tensor();
  });
  tt::register_hook(x, [](const Tensor& g) { return g * 10; });
  const Tensor h = x * 2;
  tt::register_hook(h, [](const Tensor& g) { return g + 1; });
  (h * h).sum().backward();
  CHECK(seen == Numbers{10, 18});
  CHECK(numbers(x.grad()) == Numbers{100, 180});
  CHECK(contains(message([] { tt::register_hook(tt::ones({1}), {}); }), "tt::register_hook: the Tensor does not require a gradient.\n  at " __FILE__));
  int calls = 0;
  const Tensor z = f32_leaf({1});
  const unsigned looks = z.register_hook([&](const Tensor&) { ++calls; });
  const unsigned doubles = z.register_hook([](const Tensor& g) { return g * 2; });
  z.sum().backward();
  z.remove_hook(doubles);
  z.sum().backward();
  CHECK(numbers(z.grad()) == Numbers{3});
  z.remove_hook(looks);
  z.sum().backward();
  CHECK(calls == 2);
  CHECK(contains(message([&] { z.remove_hook(looks); }), "tt::remove_hook: this Tensor has no such hook."));
  const Tensor y = x * 2;
  tt::register_hook(y, [](const Tensor& g) { return g.sum(); });
  CHECK(contains(message([&] { (y * y).sum().backward(); }), "tt::backward: a hook turned a gradient of f32 (2,) into one of f32 ()"));
}

TEST_CASE("retain_grad keeps the gradient of what is no leaf") {
  const Tensor x = f32_leaf({1, 2});
  const Tensor h = x * 2;
  CHECK(!h.grad().defined());
  tt::retain_grad(h);
  tt::retain_grad(h);
  (h * h).sum().backward();
  CHECK(numbers(h.grad()) == Numbers{4, 8});
  Tensor y;
  {
    const Tensor gone = x * 3;
    tt::retain_grad(gone);
    y = gone.sum();
  }
  y.backward();  // the Tensor that asked is no more
  CHECK(numbers(x.grad()) == Numbers{11, 19});
}
TEST_CASE("what retain_grad keeps is behind all hooks, of the Tensor as it is then, summed, and may be set") {
  Tensor x = f32_leaf({1, 2});
  Tensor h = x * 2;
  h.retain_grad();
  h.register_hook([](const Tensor& g) { return g * 10; });
  (h * 3).sum().backward(Tensor(), true);
  CHECK(numbers(h.grad()) == Numbers{30, 30});
  h.set_grad(Tensor());
  h.mul_(5);
  const Tensor y = (h * h).sum();  // h is 10 and 20
  y.backward(Tensor(), true);
  CHECK(numbers(h.grad()) == Numbers{20, 40});
  y.backward();
  CHECK(numbers(h.grad()) == Numbers{40, 80});
  Tensor second = x * 1;
  second.retain_grad();
  (second * second).sum().backward(Tensor(), false, true);
  CHECK(second.grad().requires_grad());
  CHECK(contains(message([&] { (x * 1).set_grad(Tensor()); }), "only leaves have a grad, and Tensors with retain_grad()"));
  second.set_grad(Tensor());  // a gradient with a history holds what it is the gradient of, as in PyTorch
  x.set_grad(Tensor());
}
TEST_CASE("what no gradient hangs on is not kept, and may change") {
  const Tensor x = f32_leaf({1, 2}), w = f32_leaf({3, 4});
  Tensor mask = tt::ones({2}), image = tt::ones({2}) * 5;
  const Tensor y = (x * 2 + image / w.detach() + mask.clone() * w).sum(), z = image * w;
  Tensor h = x * 1;
  const Tensor scaled = h * mask;  // h is not read
  h.mul_(7);
  scaled.sum().backward();
  CHECK(numbers(x.grad()) == Numbers{1, 1});
  image.add_(1);  // which the gradient of w reads
  CHECK(contains(message([&] { z.sum().backward(); }), "was changed in place after it was saved"));
  y.backward();
  CHECK(numbers(x.grad()) == Numbers{3, 3});
}
TEST_CASE("hooks are removed by themselves, of their Tensor alone, and what is retained goes with its Tensor") {
  const Tensor x = f32_leaf({1, 2});
  int calls = 0;
  unsigned once = 0;
  once = x.register_hook([&](const Tensor&) {
    ++calls;
    x.remove_hook(once);
  });
  (x * 2).sum().backward();
  (x * 2).sum().backward();
  CHECK(calls == 1);
  Tensor h = x * 2;
  const unsigned before = h.register_hook([&](const Tensor&) { calls += 10; });
  h.mul_(2);
  const unsigned behind = h.register_hook([&](const Tensor&) { calls += 100; });
  CHECK(before != behind);
  CHECK(contains(message([&] { h.remove_hook(before); }), "this Tensor has no such hook"));
  h.sum().backward();
  CHECK(calls == 111);
  Tensor line = x * 1;
  line.retain_grad();
  line.unsqueeze_(0);
  (line * 3).sum().backward();
  CHECK(numbers(line.grad()) == Numbers{3, 3});
  Tensor leaf = x * 1;
  leaf.retain_grad();
  leaf.detach_();
  leaf.requires_grad_();
  (leaf * 5).sum().backward();
  CHECK(numbers(leaf.grad()) == Numbers{5, 5});
  Tensor given = tt::ones({2});
  Tensor kept = x * 1;
  kept.retain_grad();
  kept.backward(given);
  given.fill_(9);
  CHECK(numbers(kept.grad()) == Numbers{1, 1});
  Tensor wide = f32_leaf({1, 2});
  wide.set_grad(tt::ones({1}).expand({2}));
  (wide * 2).sum().backward();
  CHECK(numbers(wide.grad()) == Numbers{3, 3});
  const std::int64_t bytes = tt::cpu_memory_stats().allocated;
  for (int k = 0; k < 3; ++k) {
    const Tensor y = x * 2;
    y.retain_grad();
    (y * y).sum().backward(Tensor(), false, true);
    const_cast<Tensor&>(x).set_grad(Tensor());
  }
  CHECK(tt::cpu_memory_stats().allocated - bytes < 4096);
}
TEST_CASE("a gradient is added to where it is: buffers and handles see the sum") {
  const Tensor all = tt::zeros({4});
  Tensor a = f32_leaf({1, 2}), b = f32_leaf({3, 4});
  a.set_grad(all.slice(0, 0, 2));
  b.set_grad(all.slice(0, 2, 4));
  (a * b).sum().backward();
  (a * b).sum().backward();
  CHECK(numbers(all) == Numbers{6, 8, 2, 4});
  (a * a * b).sum().backward(Tensor(), false, true);  // on the tape: as before, a new one
  CHECK(numbers(all) == Numbers{6, 8, 2, 4});
  CHECK(numbers(a.grad()) == Numbers{12, 24});
}

TEST_CASE("anomaly detection names the op and the line") {
  const Tensor x = f32_leaf({0, 4});
  const int line = __LINE__ + 1;
  const Tensor y = (tt::sqrt(x) * 0).sum();
  {
    const tt::DetectAnomaly detect;
    const std::string text = message([&] { y.backward(Tensor(), true); });
    CHECK(contains(text, "tt::backward: sqrt gave NaN as the gradient of argument 0, f32 (2,)."));
    CHECK(contains(text, "test_autograd.cpp:" + std::to_string(line)));
  }
  y.backward();  // and not without it
  CHECK(x.grad().defined());
}

// ---- functions of one's own

namespace {

struct OwnExp {
  static Tensor forward(tt::FunctionContext& context, const Tensor& x) {
    const Tensor y = tt::exp(x);
    context.save_for_backward({y});
    return y;
  }
  static Tensors backward(tt::FunctionContext& context, const Tensors& g) { return {g[0] * context.saved[0]}; }
};
struct Scaled {
  static Tensor forward(tt::FunctionContext& context, const Tensor& x, double scale, const Tensor& y) {
    context.numbers = {scale};
    context.save_for_backward({x, y});
    return x * scale * y;
  }
  static Tensors backward(tt::FunctionContext& context, const Tensors& g) {
    return {g[0] * context.numbers[0] * context.saved[1], g[0] * context.numbers[0] * context.saved[0]};
  }
};
struct FirstOfTwo {
  static Tensor forward(tt::FunctionContext&, const Tensor& x, const Tensor&) { return x; }
  static Tensors backward(tt::FunctionContext&, const Tensors& g) { return {g[0], g[0]}; }
};
struct TooFew {
  static Tensor forward(tt::FunctionContext&, const Tensor& x, const Tensor& y) { return x * y; }
  static Tensors backward(tt::FunctionContext&, const Tensors& g) { return {g[0]}; }
};
struct WrongShape {
  static Tensor forward(tt::FunctionContext&, const Tensor& x) { return x * 2; }
  static Tensors backward(tt::FunctionContext&, const Tensors& g) { return {g[0].sum()}; }
};
/// Of several results, one of which is an integer.
struct SineAndCosine {
  static Tensors forward(tt::FunctionContext& context, const Tensor& x, double scale) {
    const Tensor s = tt::sin(x * scale), c = tt::cos(x * scale);
    context.numbers = {scale};
    context.save_for_backward({s, c});
    return {s, c, tt::sign(s).to(DType::i64)};
  }
  static Tensors backward(tt::FunctionContext& context, const Tensors& g) { return {(g[0] * context.saved[1] - g[1] * context.saved[0]) * context.numbers[0]}; }
};
/// Whose backward differentiates, by what it saved: an argument or a result.
template <bool Result>
struct ByGradient {
  static Tensor forward(tt::FunctionContext& context, const Tensor& x) {
    const Tensor y = tt::sqrt(x);
    context.save_for_backward({Result ? y : x});
    return y;
  }
  static Tensors backward(tt::FunctionContext& context, const Tensors& g) {
    const Tensor saved = context.saved[0];
    if (Result) return {g[0] / tt::grad([](const Tensor& y) { return y.square().sum(); })(saved)};
    return {g[0] * tt::grad([](const Tensor& x) { return tt::sqrt(x).sum(); })(saved)};
  }
};
struct NoGradient {
  static Tensor forward(tt::FunctionContext&, const Tensor& x) { return x * 2; }
  static Tensors backward(tt::FunctionContext&, const Tensors&) { return {Tensor()}; }
};

}  // namespace

TEST_CASE("functions of one's own are part of the tape, of any order") {
  check("exp", [](const Tensors& v) { return tt::apply_function<OwnExp>(v[0] * 2); }, {leaf({3}, 1)});
  check("two Tensors and a number", [](const Tensors& v) { return tt::apply_function<Scaled>(v[0], 1.5, v[1]); },
        {leaf({3}, 1), leaf({3}, 2)});
  const Tensor x = leaf({2}, 1);
  const Tensor y = tt::apply_function<OwnExp>(x);
  const Tensor d1 = tt::grad({y.sum()}, {x}, {}, true, true)[0];
  const Tensor d2 = tt::grad({d1.sum()}, {x}, {}, true, true)[0];
  const Tensor d3 = tt::grad({d2.sum()}, {x})[0];
  CHECK(numbers(d3)[0] == doctest::Approx(numbers(y)[0]));
  {
    const tt::NoGrad off;
    CHECK(!tt::apply_function<OwnExp>(x).requires_grad());
  }
  Tensor a = tt::ones({2}), b = f32_leaf({1, 2});
  const Tensor first = tt::apply_function<FirstOfTwo>(a, b);
  CHECK(!a.requires_grad());  // though it was returned
  first.sum().backward();
  CHECK(numbers(b.grad()) == Numbers{1, 1});
  const Tensor nothing = f32_leaf({1, 2});
  tt::apply_function<NoGradient>(nothing).sum().backward();
  CHECK(!nothing.grad().defined());
}

TEST_CASE("functions of one's own have several results") {
  const auto both = [](const Tensors& v) {
    const Tensors r = tt::apply_function<SineAndCosine>(v[0], 2.0);
    return r[0] * r[1] + r[0];
  };
  check("both", both, {leaf({3}, 1)});
  check("one", [](const Tensors& v) { return tt::apply_function<SineAndCosine>(v[0], 2.0)[1]; }, {leaf({3}, 1)});
  const Tensor x = leaf({3}, 1);
  const Tensors r = tt::apply_function<SineAndCosine>(x, 2.0);
  CHECK(r[0].requires_grad());
  CHECK(r[1].requires_grad());
  CHECK(!r[2].requires_grad());
  const auto f = [&](const Tensor& t) { return both({t}); };
  const auto same = [](const Tensor& t) { return tt::sin(t * 2) * tt::cos(t * 2) + tt::sin(t * 2); };
  const Tensor at_x = x.detach(), direction = tt::ones({3}, at_x.dtype());
  CHECK(tt::allclose(tt::jvp(f, at_x, direction).second, tt::jvp(same, at_x, direction).second));
  CHECK(tt::allclose(tt::hessian([&](const Tensor& t) { return f(t).sum(); })(at_x), tt::hessian([&](const Tensor& t) { return same(t).sum(); })(at_x)));
  const auto compiled = tt::compile([](const Tensor& t) {
    const Tensors s = tt::apply_function<SineAndCosine>(t, 2.0);
    return s[0] * s[1] + s[0];
  });
  for (int k = 0; k < 3; ++k) CHECK(tt::allclose(compiled(x), same(x)));
  CHECK(tt::allclose(tt::grad({compiled(x).sum()}, {x})[0], tt::grad({same(x).sum()}, {x})[0]));
}
TEST_CASE("backward of several Tensors, to some inputs") {
  const Tensor a = f32_leaf({1, 2}), b = f32_leaf({3, 4}), c = a * b;
  tt::backward({c.sum(), (c * c).sum()}, {}, true);
  CHECK(numbers(a.grad()) == Numbers{3 + 2 * 3 * 3, 4 + 2 * 8 * 4});
  tt::backward({c}, {tt::tensor({1.0f, 10.0f})}, true, false, {b});
  CHECK(numbers(a.grad()) == Numbers{21, 68});
  CHECK(numbers(b.grad()) == Numbers{1 + 2 * 3 + 1, 2 + 2 * 8 * 2 + 20});
  const Tensor once = a.detach().requires_grad_();
  tt::backward({(once * 2).sum()}, {}, false, false, {once, once});
  CHECK(numbers(once.grad()) == Numbers{2, 2});
  const Tensor fresh = a.detach().requires_grad_(), inner = fresh * 2;
  (inner * inner).sum().backward({}, false, false, {inner});
  CHECK(numbers(inner.grad()) == Numbers{4, 8});
  CHECK(!fresh.grad().defined());
  CHECK(message([&] { tt::backward({(fresh * 2).sum()}, {}, false, false, {tt::ones({2})}); }) == "tt::backward: an input does not require a gradient: shape (2,)." + at(__LINE__));
  CHECK(message([&] { tt::backward({(fresh * 2).sum()}, {tt::tensor(1.0f), tt::tensor(1.0f)}); }) == "tt::backward: 2 gradients for 1 output." + at(__LINE__));
}
TEST_CASE("a backward that fails, or runs in a hook, inside of another leaves that one right") {
  const Tensor x = f32_leaf({1, 2}), h = x * x, squares = (h * h).sum(), twice = h * 2, last = h * 3;
  tt::register_hook(last, [&](const Tensor& g) {
    const Tensor inner = tt::grad({squares}, {h}, {}, true)[0];  // 2 h, over nodes that the outer pass will come to
    CHECK(message([&] { tt::grad({twice}, {h}); }).find("not a scalar") != std::string::npos);
    CHECK(numbers(inner) == Numbers{2, 8});
    return g + inner;
  });
  last.sum().backward();
  CHECK(numbers(x.grad()) == Numbers{(1 + 2) * 3 * 2 * 1, (1 + 8) * 3 * 2 * 2});
}
TEST_CASE("a backward may differentiate what is on the tape of the pass that runs it") {
  check("of an argument", [](const Tensors& v) { return tt::apply_function<ByGradient<false>>(v[0] * v[0] + 1); }, {leaf({3}, 1)});
  check("of a result", [](const Tensors& v) { return tt::apply_function<ByGradient<true>>(v[0] * v[0] + 1); }, {leaf({3}, 1)});
  const Tensor x = f32_leaf({1, 4});
  const auto third = tt::grad([](const Tensor& a) {
    return tt::grad([](const Tensor& b) { return tt::grad([](const Tensor& c) { return tt::apply_function<ByGradient<true>>(c).sum(); })(b).sum(); })(a).sum();
  })(x.detach());
  CHECK(numbers(third)[0] == doctest::Approx(0.375));
  CHECK(numbers(third)[1] == doctest::Approx(0.375 / 32));
}

TEST_CASE("functions of one's own that are wrong say so") {
  const Tensor x = f32_leaf({1, 2}), y = f32_leaf({1, 2});
  CHECK(contains(message([&] { tt::apply_function<TooFew>(x, y).sum().backward(); }),
                 "tt::Function: backward of TooFew returned 1 gradients for 2 Tensors."));
  CHECK(contains(message([&] { tt::apply_function<WrongShape>(x).sum().backward(); }),
                 "tt::Function: backward of WrongShape returned a gradient of f32 () for Tensor 0, which is f32 (2,)."));
  Tensor z = x * 1;
  const Tensor scaled = tt::apply_function<Scaled>(z, 2.0, y);
  z += 1;
  CHECK(contains(message([&] { scaled.sum().backward(); }), "was changed in place after it was saved"));
}

// ---- the same bits as a fused program

namespace {

template <class A>
A uniform(int seed) {
  A a{};
  std::uint32_t state = 2463534242u + static_cast<std::uint32_t>(seed);
  for (std::int64_t k = 0; k < a.size(); ++k) {
    auto& v = a.data()[k];
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    v = static_cast<typename A::value_type>(static_cast<double>(state) / 4294967296.0 * 2 - 1);
  }
  return a;
}
template <class A>
bool same(const A& array, const Tensor& t) {
  const Tensor d = t.detach().contiguous();
  return array.size() == d.numel() &&
         std::memcmp(array.data(), std::as_const(d).data(), static_cast<std::size_t>(array.size()) * sizeof(*array.data())) == 0;
}
template <class F, class... A>
void check_same_bits(const F& f, A... a) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto [value, d] = tt::value_and_grad<static_cast<int>(I)...>(f)(a...);
    const auto [tensor_value, tensor_d] = tt::value_and_grad<static_cast<int>(I)...>(f)(tt::as_tensor(a)...);
    CHECK(same(value, tensor_value));
    bool gradients = true;
    if constexpr (sizeof...(A) == 1) gradients = same(d, tensor_d);
    else {
      const auto& arrays = d;
      const auto& tensors = tensor_d;
      gradients = (same(std::get<I>(arrays), std::get<I>(tensors)) && ...);
    }
    CHECK(gradients);
  }(std::index_sequence_for<A...>{});
}

}  // namespace

TEST_CASE("gradients have the bits of the fused program's, sums of many uses too") {
  using V = tt::Array<float, 37>;
  using X = tt::Array<float, 9, 13>;
  using W = tt::Array<float, 13, 7>;
  using B = tt::Array<float, 7>;
  const V x = uniform<V>(1), y = uniform<V>(2);
  check_same_bits([](auto a) { return tt::sum(a * tt::sin(a) + tt::exp(a) * a); }, x);
  check_same_bits([](auto a) {
    auto b = a * 1.1f;
    auto c = tt::tanh(b) * b + tt::sigmoid(b);
    return tt::mean(c * b + b / (tt::exp(c) + 1));
  }, x);
  check_same_bits([](auto a, auto b) { return tt::sum(a * b + a / (b * b + 2) - a * a * b); }, x, y);
  check_same_bits([](auto input, auto w, auto bias) {
    auto h = tt::tanh(tt::matmul(input, w) + bias);
    return tt::mean(tt::square(h - tt::softmax(h, 1)) + h * bias);
  }, uniform<X>(3), uniform<W>(4), uniform<B>(5));
  check_same_bits([](auto a) {
    auto c = a - tt::mean(a, 1, true);
    return tt::sum(c * tt::rsqrt(tt::mean(c * c, 1, true) + 1e-5f) * a);
  }, uniform<X>(6));
  check_same_bits([](auto a) { return tt::mse_loss(a * 2, tt::gelu(a)) + tt::sum(tt::silu(a) * a); }, uniform<X>(10));
}

TEST_CASE("an op of several sums whose argument is used elsewhere too agrees to the last places") {
  // The tape adds up what the op itself sums before it meets the rest.
  using X = tt::Array<float, 9, 13>;
  X x = uniform<X>(7);
  const auto f = [](auto a) {
    return tt::sum(tt::var(a, 1, 1, true) * a + tt::softmax(a, 1) * a + tt::log_softmax(a, 1) + tt::logsumexp(a, 1, true) * a);
  };
  const X d = tt::grad(f)(x);
  const Numbers found = numbers(tt::grad(f)(tt::as_tensor(x)));
  for (std::int64_t k = 0; k < d.size(); ++k) CHECK(found[static_cast<std::size_t>(k)] == doctest::Approx(d.data()[k]).epsilon(1e-5));
}

TEST_CASE("a value that the arguments do not change has the gradient 0, as on Arrays") {
  const auto f = [](auto x, auto y) { return tt::sum(y * 2) + tt::sum(x) * 0; };
  const auto g = [](auto, auto y) { return tt::sum(y); };
  const Tensor x = tt::ones({2}), y = tt::ones({3});
  CHECK(numbers(tt::grad<0>(f)(x, y)) == Numbers{0, 0});
  CHECK(numbers(tt::grad<0>(g)(x, y)) == Numbers{0, 0});
}

// ---- long chains, threads, memory

TEST_CASE("a chain of a million nodes needs no deep stack") {
  static constexpr int chain = is_sanitized ? 50000 : 1000000;  // a recursion over either would not fit on the stack
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  struct Result {
    double gradient = 0;
    std::string trouble;
  } result;
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, [](void* out) -> void* {
    auto& r = *static_cast<Result*>(out);
    r.trouble = message([&] {
      const Tensor x = f32_leaf({1});
      {
        Tensor y = x * 1;
        for (int k = 0; k < chain; ++k) y = y + 1;
        y.backward(tt::ones({1}), true);
        r.gradient = x.grad().item();
        Tensor dropped = x * 1;  // freed without a backward
        for (int k = 0; k < chain; ++k) dropped = -dropped;
      }
    });
    return nullptr;
  }, &result) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  CHECK(result.trouble == "no error");
  CHECK(result.gradient == 1);
}

TEST_CASE("one value may be used a hundred thousand times") {
  const Tensor x = f32_leaf({1});
  Tensor y = x * 0;
  for (int k = 0; k < 100000; ++k) y = y + x;
  y.backward();
  CHECK(x.grad().item() == 100000);
}

TEST_CASE("everything is freed") {
  const auto everything = [] {
    const Tensor x = f32_leaf({1, 2, 3}), w = f32_leaf({3, 4, 5});
    (tt::exp(x) * w).sum().backward();
    const Tensor y = tt::softmax(x * w, 0);
    tt::retain_grad(y);
    const Tensor d = tt::grad({(y * y).sum()}, {x}, {}, true, true)[0];
    tt::grad({d.sum()}, {w});
    const Tensor never = tt::apply_function<OwnExp>(x);  // keeps its own result
    Tensor z = never * 2;
    z += x;
    message([&] { tt::apply_function<WrongShape>(x * w).sum().backward(); });
    Tensor inferred;
    {
      const tt::InferenceMode inference;
      inferred = x * 2;
    }
    CHECK(contains(message([&] { inferred * x; }), "InferenceMode"));
    tt::register_hook(z, [w](const Tensor& g) { return g * w; });
    const auto [value, g] = tt::value_and_grad([](auto a) { return tt::sum(a * a); })(x);
    tt::grad<0>([](auto a) { return tt::sum(tt::grad([](auto b) { return tt::sum(b * b * b); })(a)); })(x);
  };
  everything();
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  for (int k = 0; k < 10; ++k) everything();
  CHECK(tt::cpu_memory_stats().allocated == before);
}

namespace {
struct WholeParts {
  static Tensor forward(tt::FunctionContext&, const Tensor& x) { return x.to(DType::i64); }
  static Tensors backward(tt::FunctionContext&, const Tensors&) { return {Tensor()}; }
};
}  // namespace
TEST_CASE("integers that a function of one's own gives require no gradient") { CHECK_FALSE(tt::apply_function<WholeParts>(f32_leaf({1, 2})).requires_grad()); }

TEST_CASE("a derivative that is a function of the result keeps that and not the argument") {
  using F = Tensor (*)(const Tensor&);
  const std::pair<const char*, F> list[] = {
      {"exp", [](const Tensor& x) { return x.exp(); }},       {"tanh", [](const Tensor& x) { return x.tanh(); }},
      {"sigmoid", [](const Tensor& x) { return x.sigmoid(); }}, {"sqrt", [](const Tensor& x) { return x.sqrt(); }},
      {"rsqrt", [](const Tensor& x) { return x.rsqrt(); }},   {"reciprocal", [](const Tensor& x) { return x.reciprocal(); }},
      {"expm1", [](const Tensor& x) { return x.expm1(); }},   {"tan", [](const Tensor& x) { return x.tan(); }},
      {"relu", [](const Tensor& x) { return (x - 1).relu(); }}};
  for (const auto& [name, f] : list) {
    CAPTURE(std::string(name));
    check(name, [own = f](const Tensors& t) { return own(t[0]).sum(); }, {leaf({3, 4}, 5)});
    for (const bool transposed : {false, true}) {  // the result lies as the argument does
      const Tensor p = leaf({300, 400}, 6), q = p.detach().clone().requires_grad_();
      const auto of = [&](const Tensor& t) { return transposed ? (t * 1).t() : t * 1; };
      Tensor x = of(p), y = f(x);
      const std::int64_t bytes = 300 * 400 * 8, before = tt::cpu_memory_stats().allocated;
      {
        const Tensor other = f(of(p)), last = other.relu();  // of three results relu's and f's are kept, and what f is given is not
        CHECK(tt::cpu_memory_stats().allocated < before + bytes * 5 / 2);
      }
      CHECK(tt::cpu_memory_stats().allocated < before + bytes / 2);
      x.mul_(3);
      (y * y).sum().backward();
      const Tensor z = f(of(q));
      (z * z).sum().backward();
      CHECK(same_bits(p.grad(), q.grad()));
    }
    const Tensor x = leaf({3}, 7);
    Tensor y = f(x);
    y.mul_(2);
    CHECK(contains(message([&] { y.sum().backward(); }), "result 0 of " + std::string(name)));
  }
  // A result that holds itself would never be freed; what has tangents keeps them.
  const Tensor x = leaf({4}, 8), along = tt::ones({4}, {.dtype = DType::f64});
  const auto f = [](const Tensor& t) { return (t * 1).exp().tanh().sum(); };
  const Tensor twice = tt::hvp(f, x.detach(), along);
  {
    const tt::DualLevel level;
    const Tensor dual = tt::make_dual(x, along);
    const auto tangent = [&](const auto& g) { return tt::unpack_dual(tt::grad({g(dual)}, {dual})[0]).tangent; };
    CHECK(tt::allclose(tangent(f), twice));
    CHECK(tt::allclose(tangent(tt::compile(f, {.fullgraph = true})), twice));
    CHECK(tt::allclose(tangent(tt::compile(f, {.backend = "eager"})), twice));
  }
  // Quotients keep their operands, so what they give may be changed.
  Tensor quotient = 2 / x;
  quotient.mul_(2);
  quotient.sum().backward();
  CHECK(tt::allclose(x.grad(), -4 / (x * x).detach()));
}

TEST_CASE("leaves that are frozen later, gradients of another floating dtype, functions that save what is undefined") {
  const Tensor x = leaf({2}, 3);
  {
    Tensor own = x;
    const Tensor y = x * 2;
    own.requires_grad_(false);
    y.sum().backward();
    CHECK(!x.grad().defined());
    own.requires_grad_();
    (x * 2).sum().backward();
    CHECK(numbers(x.grad()) == Numbers{2, 2});
  }
  Tensor(x).set_grad({});
  (x * 2).backward(tt::ones({2}));
  CHECK(x.grad().dtype() == DType::f64);
  CHECK(contains(message([&] { (x * 2).backward(tt::ones({2}, {.dtype = DType::i64})); }), "the gradient is i64"));
  CHECK(contains(message([] { tt::retain_grad(tt::ones({2})); }), "tt::retain_grad: the Tensor does not require a gradient: f32 (2,)"));
  struct SavesNothing {
    static Tensor forward(tt::FunctionContext& c, const Tensor& t, double by) {
      c.save_for_backward({Tensor(), t, Tensor()});
      return t * by;
    }
    static Tensors backward(tt::FunctionContext& c, const Tensors& g) { return {g[0] * c.saved[1], Tensor()}; }
  };
  CHECK(same_bits(tt::grad({tt::apply_function<SavesNothing>(x, 3.0).sum()}, {x})[0], x.detach()));
}

TEST_CASE("steps have gradients of zero") {
  const auto is_zero = [](const auto& f) {
    const Tensor x = f32_leaf({1.5, -2.5, 3}), y = f32_leaf({1.5, -2.5, 3});
    f(x).sum().backward();
    CHECK(numbers(x.grad()) == Numbers{0, 0, 0});
    tt::compile(f)(y).sum().backward();
    CHECK(numbers(y.grad()) == Numbers{0, 0, 0});
    CHECK(numbers(tt::grad({f(x).sum()}, {x})[0]) == Numbers{0, 0, 0});
  };
  is_zero([](const Tensor& x) { return x.floor(); });
  is_zero([](const Tensor& x) { return x.round() * 2; });
  is_zero([](const Tensor& x) { return x.trunc().ceil(); });
}

TEST_CASE("a view that was taken before its Tensor became a leaf, or under NoGrad, is a view of a leaf") {
  Tensor a = tt::ones({2, 3}), b = a.slice(0, 0, 2);
  a.requires_grad_();
  CHECK(contains(message([&] { b.add_(5); }), "a view of a leaf that requires a gradient was changed in place"));
  Tensor c;
  {
    const tt::NoGrad off;
    c = a[0];
    c.add_(1);
  }
  CHECK(contains(message([&] { c.add_(1); }), "a view of a leaf that requires a gradient was changed in place"));
  Tensor d = a.detach();
  d[0].add_(1);  // shares the elements, and is no view
  CHECK(numbers(a) == Numbers{3, 3, 3, 1, 1, 1});
}

TEST_CASE("gradients by parts are added where the parts lie, with the bits of a pass that is taped") {
  const auto by_rows = [](const Tensor& x) {
    Tensor h = x.select(0, 0);
    for (int k = 1; k < static_cast<int>(std::int64_t{x.size(0)}); ++k) h = tt::relu(h + x.select(0, k) * (k - 2));
    return h.sum();
  };
  const auto overlapping = [](const Tensor& x) { return (x.slice(1, 0, -1) * x.slice(1, 1, INT64_MAX)).sum() + (x.slice(1, 0, 3) * x.slice(1, 0, 3)).sum() + x[0][1] * x[0][1]; };
  const auto strided = [](const Tensor& x) { return (x.slice(0, 0, INT64_MAX, 2).exp().sum() + x.slice(1, 1, INT64_MAX, 3).sin().sum()) * x.t().slice(0, 2, 4).sum() + tt::flip(x, {0}).slice(0, 0, 2).sum(); };
  const auto others = [](const Tensor& x) {
    Tensor r = x.diagonal().sum() + x.unfold(1, 3, 1).tanh().sum() + x.slice(0, 0, 1).expand({4, x.size(1)}).sum() * 2;
    for (const Tensor& part : tt::split(x, 3, 1)) r = r + (part * part).sum();
    for (const Tensor& part : tt::unbind(x.slice(1, 0, 64), 1)) r = r + part.select(0, 0) * 0.5;
    return r + (x * x).sum();
  };
  const auto check = [](const Tensor& given, const auto& f) {
    CAPTURE(given.shape());
    const Tensor x = given.detach().requires_grad_(), taped = tt::grad({f(x)}, {x}, {}, true, true)[0];
    CHECK(same_bits(tt::grad({f(x)}, {x})[0], taped.detach()));
    f(x).backward();
    CHECK(same_bits(x.grad(), taped.detach()));
    const Tensor y = x * 1;  // no leaf, with a hook that sees the whole sum once
    int calls = 0;
    y.register_hook([&](const Tensor& g) {
      ++calls;
      return g * 2;
    });
    CHECK(same_bits(tt::grad({f(y)}, {x})[0], taped.detach() * 2));
    CHECK(calls == 1);
  };
  for (const DType d : {DType::f32, DType::f64, DType::bf16})
    for (const std::int64_t columns : {8, 4096}) {  // the first part of many elements is put among zeros
      const Tensor x = ((tt::arange(6 * columns) * 37 % 11 - 5).to(DType::f32) / 4).reshape({6, columns}).to(d);
      check(x, by_rows);
      check(x, overlapping);
      check(x, strided);
      check(x, others);
    }
  for (const std::int64_t columns : {4, 8192}) {  // tangents of gradients by parts
    const auto cubes = [](const Tensor& t) {
      Tensor sum = (t * t * t).sum();
      for (int k = 0; k < 3; ++k) sum = sum + (t[k] * t[k] * t[(k + 1) % 3]).sum();
      return sum;
    };
    const Tensor at = leaf({3, columns}, 2).detach(), along = leaf({3, columns}, 3).detach(), on_tape = at.clone().requires_grad_();
    const Tensor slope = tt::grad({cubes(on_tape)}, {on_tape}, {}, true, true)[0], expected = tt::grad({slope}, {on_tape}, {along})[0];
    CHECK(tt::allclose(tt::jvp(tt::grad(cubes), at, along).second, expected));
    const tt::DualLevel level;
    const Tensor dual = tt::make_dual(at, along).requires_grad_();
    CHECK(tt::allclose(tt::unpack_dual(tt::grad({cubes(dual)}, {dual})[0]).tangent.detach(), expected));
  }
  check(tt::tensor(Numbers{1, 2, 3, 4, 5, 6}, DType::f32).reshape({3, 2}), [](const Tensor& t) { return t[0].sum() + ((t * -0.0).sum() + (t * -0.0).sum()); });
  const Tensor x = leaf({5, 4096}, 1);
  const Tensor seed = tt::ones({4096}, DType::f64);
  std::vector<Tensor> parts{x[0], x[1], x[2]};
  tt::backward(parts, {seed, seed, seed});  // what a caller gives stays as it is
  CHECK(same_bits(seed, tt::ones({4096}, DType::f64)));
  CHECK(x.grad().sum().item<double>() == 3 * 4096);
}

TEST_CASE("derivatives at kinks and where divisions have no end are PyTorch's") {
  const auto of = [](const Numbers& v) { return tt::tensor(v, DType::f64).requires_grad_(); };
  const auto twice = [](const Tensor& y, const Tensor& x) {
    const Tensor g = tt::grad({y.sum()}, {x}, {}, true, true)[0];
    return std::pair(numbers(g), numbers(tt::grad({g.sum()}, {x})[0]));
  };
  const Tensor x = of({1, 1, 0, 0, 1, 0, 0, 0}), cube = x.reshape({2, 2, 2});
  const auto close_to = [](const Numbers& a, const Numbers& b) {
    bool close = a.size() == b.size();
    for (std::size_t k = 0; k < a.size() && close; ++k) close = std::abs(a[k] - b[k]) < 1e-15;
    return close;
  };
  const double third = 1.0 / 3;
  CHECK(close_to(numbers(tt::grad({tt::amax(cube, {0, 2}).sum()}, {x})[0]), {third, third, 0.25, 0.25, third, 0, 0.25, 0.25}));  // ties over axes that are not neighbours
  CHECK(close_to(numbers(tt::grad([](const Tensor& t) { return tt::amin(t.reshape({2, 2, 2}), {0, 2}).sum(); })(tt::tensor(Numbers{-1, -1, 0, 0, -1, 0, 0, 0}, DType::f64))), {third, third, 0.25, 0.25, third, 0, 0.25, 0.25}));
  CHECK(numbers(tt::jvp([](const Tensor& t) { return tt::amax(t.reshape({2, 2, 2}), {0, 2}); }, x.detach(), tt::tensor(Numbers{1, 2, 0, 0, 6, 0, 0, 0}, DType::f64)).second) == Numbers{3, 0});
  const Tensor with_nan = of({1, NAN, 2});
  CHECK(numbers(tt::grad({tt::max(with_nan)}, {with_nan})[0]) == Numbers{0, 1, 0});
  CHECK(numbers(tt::grad({tt::min(with_nan)}, {with_nan})[0]) == Numbers{0, 1, 0});
  for (const tt::IntList& axes : {tt::IntList{0, 2}, tt::IntList{1, 2}}) {  // an infinite gradient stays where it flows
    const Tensor g = tt::grad({tt::amax(cube, axes)}, {x}, {tt::full({2}, INFINITY, {.dtype = DType::f64})})[0];
    CHECK(tt::isnan(g).sum().item() == 0);
  }
  const Tensor all = tt::amax(with_nan, {0});
  CHECK(tt::isnan(tt::grad({all}, {with_nan})[0]).sum().item() == 3);
  CHECK(tt::isnan(tt::grad({tt::amax(with_nan)}, {with_nan})[0]).sum().item() == 3);
  const Tensor deep = of({-20});
  CHECK(std::abs(tt::grad({tt::elu(deep)}, {deep})[0].item() / std::exp(-20.0) - 1) < 1e-14);
  const Tensor a = of({1, 2}), b = of({0, 3}), quotient = tt::div(a, b, "trunc");
  CHECK(numbers(tt::grad({quotient.sum()}, {a}, {}, true)[0]) == Numbers{0, 0});
  CHECK(numbers(tt::grad({quotient.sum()}, {b})[0]) == Numbers{0, 0});
  const Tensor rest = tt::grad({tt::fmod(a, b).sum()}, {b}, {}, true, true)[0];
  CHECK(numbers(tt::grad({rest.sum()}, {b}, {}, false, false)[0]) == Numbers{0, 0});
  const Tensor zero = of({0});
  CHECK(twice(tt::elu(zero), zero) == std::pair(Numbers{1}, Numbers{0}));
  CHECK(twice(tt::celu(zero), zero) == std::pair(Numbers{1}, Numbers{0}));
  CHECK(twice(tt::selu(zero), zero).second == Numbers{0});
  CHECK(twice(tt::binary_cross_entropy(zero, tt::zeros({1}, DType::f64)), zero) == std::pair(Numbers{0}, Numbers{0}));
  const Tensor far = of({INFINITY, -INFINITY}), seed = of({1, 1});
  CHECK(numbers(tt::grad({tt::grad({tt::hardswish(far)}, {far}, {seed}, true, true)[0].sum()}, {seed})[0]) == Numbers{1, 0});
  const Tensor y = of({0}), one = of({1});
  CHECK(numbers(tt::grad({tt::grad({tt::atan2(y, zero)}, {y}, {one}, true, true)[0].sum()}, {one})[0]) == Numbers{0});
  const Tensor near = of({1e-5, 0}), cosine = tt::call("cosine_similarity", {near, near.detach()}, {{"dim", 0}, {"eps", 1e-3}});
  CHECK(close_to(numbers(tt::grad({cosine}, {near})[0]), {9.9, 0}));
  CHECK(numbers(tt::call("lp_pool1d", {tt::tensor(Numbers{1, 3, 2, -4}, DType::f64).reshape({1, 1, 4}), INFINITY, 2})) == Numbers{3, 4});
  CHECK(numbers(tt::call("lp_pool1d", {tt::tensor(Numbers{1, 3, 2, -4}, DType::f64).reshape({1, 1, 4}), -INFINITY, 2})) == Numbers{1, 2});
}

TEST_CASE("tangents of what is written twice are those of what was written last") {
  const auto tangent = [&](const auto& f) { return numbers(tt::jvp(f, tt::tensor(Numbers{5, 7}, DType::f64), tt::tensor(Numbers{1, 10}, DType::f64)).second); };
  const auto each = [&](const auto& f, const Numbers& expected) {
    CHECK(tangent(f) == expected);
    CHECK(tangent(tt::compile(f)) == expected);
    const tt::DualLevel level;
    CHECK(numbers(tt::unpack_dual(f(tt::make_dual(tt::tensor(Numbers{5, 7}, DType::f64), tt::tensor(Numbers{1, 10}, DType::f64)))).tangent) == expected);
  };
  each([](const Tensor& s) { return tt::index_copy(tt::zeros({2}, DType::f64), 0, tt::zeros({2}, DType::i64), s); }, {10, 0});
  each([](const Tensor& s) { return tt::scatter(tt::zeros({2}, DType::f64), 0, tt::zeros({2}, DType::i64), s); }, {10, 0});
  each([](const Tensor& s) { return tt::index_put(tt::zeros({2}, DType::f64), std::vector<Tensor>{tt::zeros({2}, DType::i64)}, s); }, {10, 0});
  each([](const Tensor& s) { return tt::index_put(tt::zeros({2}, DType::f64), std::vector<Tensor>{tt::zeros({2}, DType::i64)}, s, true); }, {11, 0});
  each([](const Tensor& s) { return tt::put(tt::zeros({2}, DType::f64), tt::zeros({2}, DType::i64), s); }, {10, 0});
  each([](const Tensor& s) { return tt::scatter_add(tt::zeros({2}, DType::f64), 0, tt::zeros({2}, DType::i64), s); }, {11, 0});
}
