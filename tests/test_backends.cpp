// What tt::compile takes beside plain functions: backends of one's own, functions that hold what they
// captured, and objects with operator().
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

Tensor uniform(const tt::IntList& shape, int seed, DType d = DType::f32) {
  return tt::rand(shape, seed, {.dtype = d}) * 2 - 1;
}
std::string text(const tt::Text& t) { return t; }

const auto model = [](Tensor x, Tensor w) { return tt::softmax(tt::relu(tt::matmul(x, w)) * 2, 1).sum(0); };

template <class Kind>
struct Layer {
  tt::leaf<Kind, float, 3, 2> w;
  tt::leaf<Kind, float, 2> b;
  Tensor operator()(const Tensor& x) const { return tt::tanh(tt::matmul(x, w) + b); }
};
struct Scaled {
  Tensor weight;
  double scale = 1;
  bool training = true;
  std::array<Tensor, 2> more{};
  Tensor operator()(const Tensor& x) { return (training ? x * weight * scale : x * weight) + more[0] - more[1]; }
};
struct Two {
  Scaled first, second;
  int calls = 0;
  Tensor operator()(const Tensor& x) {
    first.weight += 1;
    second.weight = second.weight * 2;
    return first(x) * second(x);
  }
};

}  // namespace

// ---- backends

TEST_CASE("a backend gets the graph and examples of its inputs") {
  int nodes = 0, compiled = 0;
  std::vector<tt::ExampleInput> seen;
  const auto count = [&](const tt::Graph& g, const std::vector<tt::ExampleInput>& examples) {
    nodes = g.size();
    ++compiled;
    seen = examples;
    return tt::compile_graph(g);
  };
  const auto f = tt::compile(model, {.name = "counted", .backend = count});
  const Tensor x = uniform({4, 3}, 1), w = uniform({3, 5}, 2);
  for (std::int64_t n : {4, 6, 9}) {
    const Tensor a = uniform({n, 3}, 3);
    CHECK(same_bits(f(a, w), model(a, w)));
  }
  CHECK(nodes == f.graph().size());
  CHECK(compiled == 1);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].dtype == DType::f32);
  CHECK(seen[0].shape == x.shape());
  CHECK(!seen[0].requires_grad);
  CHECK(same_bits(f(x, uniform({5, 3}, 4).t()), model(x, uniform({5, 3}, 4).t())));  // strided
  CHECK(compiled == 2);
  CHECK(contains(text(f.explain()), "run by the backend 'one of its own'"));
}

TEST_CASE("a backend may edit the graph") {
  const auto edit = [](const tt::Graph& g, const std::vector<tt::ExampleInput>&) {
    tt::Graph e = g;
    for (const int relu : tt::find_all(e, tt::op_def<tt::Relu>))
      e = tt::replace(e, relu, e.call(tt::op_def<tt::Gelu>, {e[relu].operand[0]}));
    return tt::compile_graph(e);
  };
  tt::register_backend("gelu", edit);
  const auto f = tt::compile(model, {.backend = "gelu"});
  Tensor x = uniform({4, 3}, 1).requires_grad_(), y = x.detach().clone().requires_grad_();
  const Tensor w = uniform({3, 5}, 2);
  const auto expected = [&](const Tensor& a) { return tt::softmax(tt::gelu(tt::matmul(a, w)) * 2, 1).sum(0); };
  const Tensor weights = uniform({5}, 3);
  const Tensor got = f(x, w), eager = expected(y);
  CHECK(same_bits(got, eager));
  (got * weights).sum().backward();  // the derivative of what ran
  (eager * weights).sum().backward();
  for (std::size_t k = 0; k < 12; ++k) CHECK(numbers(x.grad())[k] == doctest::Approx(numbers(y.grad())[k]));
  CHECK(contains(text(f.explain()), "run by the backend 'gelu'"));
  CHECK(message([&] { tt::register_backend("gelu", edit); }) == "tt::register_backend: there is one called 'gelu' already.");
}

TEST_CASE("the backend eager replays the graph op by op, with the same bits and tape") {
  const auto loss = [](Tensor& count, Tensor a, Tensor w) {
    count += 1;
    const Tensor h = tt::tanh(tt::matmul(a, w));
    return std::pair{h.t().sum(0) * 2, tt::cross_entropy(h, tt::zeros({a.size(0)}, {.dtype = DType::i64}))};
  };
  const auto f = tt::compile(loss, {.name = "replayed", .backend = "eager"}), g = tt::compile(loss);
  const Tensor w = uniform({3, 5}, 2);
  Tensor count = tt::zeros({1}), other = tt::zeros({1});
  for (std::int64_t n : {4, 6}) {
    Tensor x = uniform({n, 3}, 1).requires_grad_(), y = x.detach().clone().requires_grad_();
    const auto [a, b] = f(count, x, w);
    const auto [c, d] = g(other, y, w);
    CHECK(same_bits(a, c));
    CHECK(same_bits(b, d));
    b.backward();
    d.backward();
    for (std::size_t k = 0; k < 12; ++k) CHECK(numbers(x.grad())[k] == doctest::Approx(numbers(y.grad())[k]));
  }
  CHECK(count.item() == 2);
  CHECK(contains(text(f.explain()), "run by the backend 'eager'"));
  const std::vector<tt::Text> names = tt::list_backends();
  REQUIRE(names.size() >= 2);
  CHECK(text(names[0]) == "default");
  CHECK(text(names[1]) == "eager");
}

TEST_CASE("segments between graph breaks go to the backend too") {
  std::vector<int> sizes;
  const auto backend = [&](const tt::Graph& g, const std::vector<tt::ExampleInput>&) {
    sizes.push_back(g.size());
    return tt::replay_graph(g);
  };
  const auto f = tt::compile([](Tensor& w, Tensor x) {
    const Tensor s = (w * x).sum();
    if (s.item() > -100) w += s;
    return w * x;
  }, {.backend = backend});
  Tensor w = uniform({5}, 1), v = w.clone();
  const Tensor x = uniform({5}, 2);
  for (int k = 0; k < 3; ++k) {
    v += (v * x).sum();
    CHECK(same_bits(f(w, x), v * x));
    CHECK(same_bits(w, v));
  }
  CHECK(sizes.size() == 2);
}

TEST_CASE("backends that do not fit are refused") {
  CHECK(message([] { tt::compile(model, {.backend = "no such"}); }).starts_with("tt::compile: no backend is called 'no such'; there are default eager"));
  const Tensor x = uniform({4, 3}, 1), w = uniform({3, 5}, 2);
  const auto none = tt::compile(model, {.name = "none", .backend = [](const tt::Graph&, const std::vector<tt::ExampleInput>&) { return tt::CompiledGraph(); }});
  CHECK(message([&] { none(x, w); }) == "tt::compile: none: the backend gave nothing to call.");
  const auto few = tt::compile(model, {.name = "few", .backend = [](const tt::Graph&, const std::vector<tt::ExampleInput>&) -> tt::CompiledGraph {
                                 return [](const std::vector<Tensor>&) { return std::vector<Tensor>(); };
                               }});
  CHECK(contains(message([&] { few(x, w); }), "tt::compile: few: the backend gave 0 Tensors, the graph has 1 outputs."));
  tt::Graph g;
  g.output(g.neg(g.input(DType::f32, {2})));
  const tt::CompiledGraph run = tt::compile_graph(g);
  CHECK(numbers(run({tt::ones({2})})[0]) == Numbers{-1, -1});
  CHECK(message([&] { run({tt::ones({3})}); }) == "tt::compile_graph: input 0 is f32 (3,), the graph takes f32 (2,).");
  CHECK(message([&] { run({}); }) == "tt::compile_graph: the graph takes 1 Tensors, not 0.");
}

// ---- frozen

TEST_CASE("a frozen function fixes numbers and holds Tensors") {
  Tensor w = uniform({3, 5}, 1);
  double scale = 2;
  const auto f = tt::compile(tt::frozen([w, scale](const Tensor& x) { return tt::matmul(x, w) * scale; }), {.name = "held"});
  scale = 3;
  for (std::int64_t n : {4, 6, 1, 3, 9}) {
    const Tensor x = uniform({n, 3}, 2);
    CHECK(same_bits(f(x), tt::matmul(x, w) * 2));
  }
  CHECK(f.captures() == 3);  // 1 and 3, which `w` has, are sizes of their own
  w += 1;  // seen, as it is held by handle
  const Tensor x = uniform({4, 3}, 2);
  CHECK(same_bits(f(x), tt::matmul(x, w) * 2));
  CHECK(f.captures() == 3);
  CHECK(contains(text(f.explain()), "holds f32 (3, 5)"));
  CHECK(tt::frozen([scale](double a) { return a * scale; })(2.0) == 6);
}

TEST_CASE("Tensors that a frozen function holds are changed in place, differentiated and read") {
  Tensor count = tt::zeros({2}), w = uniform({2}, 1).requires_grad_();
  const auto f = tt::compile(tt::frozen([count, w](const Tensor& x) {
    const tt::NoGrad off;
    Tensor c = count;
    c += 1;
    return x * w * c;
  }));
  const Tensor x = uniform({2}, 2);
  for (int k = 1; k < 4; ++k) CHECK(same_bits(f(x), x * w.detach() * static_cast<double>(k)));
  CHECK(numbers(count) == Numbers{3, 3});
  CHECK(f.captures() == 1);
  CHECK(contains(text(f.explain()), "changes in place: argument "));
  const auto g = tt::compile(tt::frozen([w](const Tensor& a) { return (a * w).sum(); }));
  g(x).backward();
  CHECK(same_bits(w.grad(), x));
  const auto reads = tt::compile(tt::frozen([count](const Tensor& a) { return a * count[0].item(); }));
  CHECK(same_bits(reads(x), x * 3));
  count += 1;
  CHECK(same_bits(reads(x), x * 4));
  CHECK(contains(text(reads.explain()), "graph breaks"));
  const auto twice = tt::compile(tt::frozen([count](Tensor& a) {
    a += 1;
    return a + count;
  }));
  const Tensor seen = twice(count);  // the argument is what the function holds
  CHECK(same_bits(seen, count * 2));
}

TEST_CASE("other branches of a frozen function may hold other Tensors") {
  const Tensor a = uniform({3}, 1), b = uniform({3}, 2);
  const auto f = tt::compile(tt::frozen([a, b](const Tensor& x, bool first) { return first ? x + a : x * b; }));
  const Tensor x = uniform({3}, 3);
  for (int k = 0; k < 2; ++k) {
    CHECK(same_bits(f(x, true), x + a));
    CHECK(same_bits(f(x, false), x * b));
  }
  CHECK(f.captures() == 3);  // the first again, now that both are held
}

// ---- objects

TEST_CASE("the Tensors of an object are inputs, and changes of them are seen") {
  Layer<tt::tensors> layer{uniform({3, 2}, 1), uniform({2}, 2)};
  const auto f = tt::compile(layer, {.name = "layer"});
  const Tensor x = uniform({4, 3}, 3);
  CHECK(same_bits(f(x), layer(x)));
  layer.w += 1;
  CHECK(same_bits(f(x), layer(x)));
  layer.b = uniform({2}, 4);  // another Tensor
  CHECK(same_bits(f(x), layer(x)));
  CHECK(same_bits(f(uniform({7, 3}, 5)), layer(uniform({7, 3}, 5))));
  CHECK(f.captures() == 1);
  const auto own = tt::compile(Layer<tt::tensors>{layer.w, layer.b});
  CHECK(same_bits(own(x), layer(x)));
  layer.w.requires_grad_();
  f(x).sum().backward();
  const Tensor found = layer.w.grad();
  layer.w.zero_grad();
  layer(x).sum().backward();
  for (std::size_t k = 0; k < 6; ++k) CHECK(numbers(found)[k] == doctest::Approx(numbers(layer.w.grad())[k]));
}

TEST_CASE("the numbers of an object are guarded by value") {
  Scaled s{uniform({3}, 1), 2, true, {uniform({3}, 2), uniform({3}, 3)}};
  const auto f = tt::compile(s, {.name = "scaled"});
  const Tensor x = uniform({4, 3}, 4);
  CHECK(same_bits(f(x), s(x)));
  s.scale = 3;
  CHECK(same_bits(f(x), s(x)));
  s.training = false;
  CHECK(same_bits(f(x), s(x)));
  s.training = true;
  CHECK(same_bits(f(x), s(x)));
  CHECK(f.captures() == 3);
  CHECK(contains(text(f.explain()), "number 0 is 3, was 2"));
  CHECK(contains(text(f.explain()), "number 1 is 0, was 1"));
}

TEST_CASE("objects in objects change their Tensors") {
  const auto make = [] {
    return Two{{uniform({3}, 1), 2, true, {uniform({3}, 2), uniform({3}, 3)}}, {uniform({3}, 4), 1, false, {uniform({3}, 5), uniform({3}, 6)}}};
  };
  Two eager = make(), two = make();
  const auto f = tt::compile(two);
  const Tensor x = uniform({4, 3}, 7), handle = two.second.weight;
  for (int k = 0; k < 3; ++k) CHECK(same_bits(f(x), eager(x)));
  CHECK(same_bits(two.first.weight, eager.first.weight));
  CHECK(same_bits(two.second.weight, eager.second.weight));
  CHECK(two.second.weight.is_same(handle));
  CHECK(f.captures() == 1);
}

TEST_CASE("an object with a graph break") {
  struct Clip {
    Tensor w;
    double limit = 1;
    Tensor operator()(const Tensor& x) {
      w -= x;
      const double norm = w.square().sum().item();
      if (norm > limit) w *= 0.5;
      return w * x;
    }
  };
  Clip clip{uniform({5}, 1)}, eager{uniform({5}, 1)};
  const auto f = tt::compile(clip);
  for (int k = 0; k < 6; ++k) {
    const Tensor x = uniform({5}, k);
    CHECK(same_bits(f(x), eager(x)));
    CHECK(same_bits(clip.w, eager.w));
  }
}
