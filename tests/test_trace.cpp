// tt::trace: graphs of functions, edited and run.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Op;
using tt::Tensor;

Tensor uniform(const tt::IntList& shape, int seed) { return tt::rand(shape, seed) * 2 - 1; }
const auto model = [](Tensor x, Tensor w) { return tt::relu(tt::matmul(x, w)) * 2; };

}  // namespace

TEST_CASE("a traced function runs on any sizes and lists its graph") {
  const Tensor w = uniform({3, 5}, 1);
  const auto t = tt::trace(model, uniform({4, 3}, 2), w);
  for (std::int64_t n : {4, 1, 0, 3, 100}) {
    const Tensor x = uniform({n, 3}, 3);
    CHECK(same_bits(t(x, w), model(x, w)));
  }
  const Tensor square = uniform({3, 3}, 4);
  CHECK(same_bits(t(square, square), model(square, square)));  // sizes that happen to be equal
  CHECK(same_bits(t(square.t(), square), model(square.t(), square)));
  CHECK(t.kernels() == 1);
  const std::string text = t.to_string();
  CHECK(text ==
        "graph 3\n%0 = input 0 : f32 (s0, s1)\n%1 = input 1 : f32 (s1, s2)\n%2 = matmul(%0, %1) : f32 (s0, s2)\n"
        "%3 = relu(%2) : f32 (s0, s2)\n%4 = constant 2 : f32 ()\n%5 = mul(%3, %4) : f32 (s0, s2) -> output 0\n");
  CHECK(std::string(t.to_dot()).starts_with("digraph tt {"));
}

TEST_CASE("edits take effect with recompile") {
  const Tensor x = uniform({4, 3}, 1), w = uniform({3, 5}, 2);
  auto t = tt::trace(model, x, w);
  const int relu = tt::find_all(t.graph, tt::op_def<tt::Relu>)[0];
  t.graph = tt::replace(t.graph, relu, t.graph.call(tt::op_def<tt::Gelu>, {t.graph[relu].operand[0]}));
  CHECK(same_bits(t(x, w), model(x, w)));
  t.recompile();
  CHECK(same_bits(t(x, w), tt::gelu(tt::matmul(x, w)) * 2));
  t.graph = tt::erase(t.graph, tt::find_all(t.graph, Op::mul)[0]);
  t.graph = tt::insert_after(t.graph, t.graph.outputs[0], Op::neg);
  t.recompile();
  CHECK(same_bits(t(x, w), -tt::gelu(tt::matmul(x, w))));
}

TEST_CASE("ops keep their names in a graph, and are found, asked and replaced by them") {
  const auto f = [](Tensor x, Tensor w) { return tt::softmax(tt::layer_norm(tt::matmul(x, w), {5}, {}, w.mean(0)), -1) * x.sum({0, 1}, true); };
  const Tensor x = uniform({4, 3}, 1), w = uniform({3, 5}, 2);
  auto t = tt::trace(f, x, w);
  CHECK(same_bits(t(x, w), f(x, w)));
  const tt::Vec<int> softmax = tt::find_all(t.graph, tt::op_def<tt::Softmax>), sums = tt::find_all(t.graph, tt::op_def<tt::Sum>);
  REQUIRE(softmax.size() == 1);
  REQUIRE(sums.size() == 1);
  CHECK(tt::find_all(t.graph, tt::op_def<tt::LayerNorm>).size() == 1);
  CHECK(tt::find_all(t.graph, Op::sum).empty());
  CHECK(tt::node_options<tt::Softmax>(t.graph, softmax[0]).dim == -1);
  CHECK(tt::node_options<tt::Sum>(t.graph, sums[0]).keepdim);
  CHECK(t.graph[softmax[0]].where.line == __LINE__ - 11);
  t.graph = tt::replace(t.graph, softmax[0], tt::record_named<tt::LogSoftmax>(t.graph, t.graph.operands(softmax[0]), {.dim = 1})[0]);
  t.recompile();
  CHECK(same_bits(t(x, w), tt::log_softmax(tt::layer_norm(tt::matmul(x, w), {5}, {}, w.mean(0)), 1) * x.sum({0, 1}, true)));
  CHECK(message([&] { tt::record_named<tt::LogSoftmax>(t.graph, {}); }) == "tt::log_softmax: a graph gives it 0 operands, which is not what it takes.");
  CHECK(message([&] { tt::record_named<tt::LogSoftmax>(t.graph, {0, 0}); }).starts_with("tt::log_softmax: a graph gives it 2 operands"));
  CHECK(message([&] { tt::record_named<tt::LogSoftmax>(t.graph, {t.graph.inputs[0]}, {.dim = 2}); t.recompile(); }).starts_with("tt::log_softmax: axis is out of range"));
}

TEST_CASE("gradients are those of bodies: where they are built inside, ops are written out") {
  const auto loss = [](Tensor x, Tensor w, Tensor labels) { return tt::cross_entropy(tt::layer_norm(tt::matmul(x, w), {5}), labels); };
  const auto step = [&](Tensor x, Tensor w, Tensor labels) {
    const auto [l, d] = tt::value_and_grad<1>(loss)(x, w, labels);
    return std::pair{l, w - d * 0.1};
  };
  const Tensor x = uniform({4, 3}, 1), w = uniform({3, 5}, 2), labels = tt::tensor({0, 3, 2, 1});
  const auto t = tt::trace(step, x, w, labels);
  const auto [l, next] = t(x, w, labels);
  const auto [l_eager, next_eager] = step(x, w, labels);
  CHECK(same_bits(l, l_eager));
  CHECK(same_bits(next, next_eager));
  CHECK(tt::find_all(t.graph, tt::op_def<tt::LayerNorm>).empty());
  CHECK_FALSE(tt::find_all(t.graph, Op::sum).empty());
  CHECK(tt::find_all(tt::trace(loss, x, w, labels).graph, tt::op_def<tt::CrossEntropy>).size() == 1);
}

TEST_CASE("a traced function is part of a tape, keeps results and updates") {
  Tensor x = uniform({4, 3}, 1).requires_grad_();
  const Tensor w = uniform({3, 5}, 2);
  const auto t = tt::trace(model, x, w);
  t(x, w).sum().backward();
  const Tensor found = x.grad();
  x.zero_grad();
  model(x, w).sum().backward();
  CHECK(same_bits(found, x.grad()));
  const auto both = tt::trace([](Tensor& a, Tensor b, double k) {
    a += b * k;
    return std::pair{a * 2, 7};
  }, w, w, 3.0);
  Tensor a = tt::ones({2, 2}), one = tt::ones({2, 2});
  const auto [y, number] = both(a, one);
  CHECK(number == 7);
  CHECK(same_bits(a, tt::full({2, 2}, 4.0)));
  CHECK(same_bits(y, tt::full({2, 2}, 8.0)));
  CHECK(message([&] { both(a, a); }) ==
        "tt::trace: argument 0 is changed, and does not lie dense in memory of its own. Use clone()?");
  const double scale = 4;  // what the function captures is fixed
  CHECK(same_bits(tt::trace([scale](Tensor v) { return v * scale; }, one)(one), one * 4));
  const auto half = tt::trace([](Tensor v) { return v.slice(0, 0, v.size(0) / 2); }, one);
  CHECK(same_bits(half(one), one.slice(0, 0, 1)));
  CHECK(message([&] { half(tt::ones({4, 2})); }) ==
        "tt::trace: argument 0 is f32 (4, 2), the graph takes f32 (2, 2). Trace again with such examples?");
}

TEST_CASE("what does not fit is refused, and the old program stays") {
  const Tensor x = uniform({4, 3}, 1), w = uniform({3, 5}, 2);
  auto t = tt::trace(model, x, w);
  CHECK(message([&] { t(x, x); }) == "tt::trace: argument 1 is f32 (4, 3), the graph takes f32 (s1, s2). Trace again with such examples?");
  CHECK(message([&] { t(x.to(DType::f64), w); }) ==
        "tt::trace: argument 0 is f64 (4, 3), the graph takes f32 (s0, s1). Trace again with such examples?");
  CHECK(message([&] { t(x); }) == "tt::trace: the graph takes 2 Tensors, not 1.");
  t.graph.output(0);
  CHECK(message([&] { t.recompile(); }) == "tt::trace: the graph has 2 inputs and 2 outputs, and had 2 and 1.");
  CHECK(same_bits(t(x, w), model(x, w)));
  CHECK(message([&] { tt::trace([](Tensor a) { return a.sum().item(); }, x); })
            .starts_with("tt::trace: a graph has no elements: item of f32 (), made by sum. Return it, and look at it outside?\n  at "));
}
