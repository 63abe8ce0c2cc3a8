// Kernels of eager ops that the library brings with it: they are found whatever the shape, and have the bits of the interpreter.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

#include "tensors.hpp"
#include "tt/backends/compiler.hpp"
#include "tt/backends/cpu/library_kernels.hpp"
#include "tt/plan/kernel_alone.hpp"
#include "tt/plan/memory.hpp"

namespace {

using tt::Tensor;

struct Kernels {
  int all = 0, compiled = 0;
};
void count(const tt::GraphFunction& f, Kernels& k) {
  if (f.is_one_program()) {
    k.all += f.program().plan().kernels.size();
    k.compiled += f.program().compiled_kernels();
  }
  f.each_derived([&](const tt::GraphFunction& g, bool) { count(g, k); });
}
/// Of all programs of an op that have run.
Kernels kernels_of(const char* op) {
  Kernels k;
  auto& table = tt::detail::function_table();
  const auto reading = table.read();
  table.each([&](const tt::detail::KeptFunction& f) {
    if (f.function && std::string(f.op->name()) == op) count(*f.function, k);
    return false;
  });
  return k;
}

using Function = Tensor (*)(const Tensor&);
/// Values and gradients of F eager, beside those of its graph interpreted.
template <Function F>
void check_bits(const Tensor& x) {
  CAPTURE(x.shape());
  CAPTURE(tt::name(x.dtype()));
  static const auto interpreted = tt::compile([](const Tensor& t) { return F(t); }, {.tier = 0});
  const auto run = [&](const auto& f) {
    const Tensor leaf = x.detach().requires_grad_();
    const Tensor y = f(leaf);
    y.backward(tt::ones_like(y));
    return std::pair(y.detach(), leaf.grad());
  };
  const auto same = [](const Tensor& a, const Tensor& b) {  // any NaN equals any other
    return same_bits(a.isnan(), b.isnan()) && same_bits(a.masked_fill(a.isnan(), 0), b.masked_fill(b.isnan(), 0));
  };
  const auto [y, gradient] = run(F);
  const auto [expected, expected_gradient] = run(interpreted);
  CHECK(same(y, expected));
  CHECK(same(y, interpreted(x)));
  CHECK(same(gradient, expected_gradient));
}

Tensor softmax(const Tensor& x) { return tt::softmax(x, -1); }
Tensor log_softmax(const Tensor& x) { return tt::log_softmax(x, -1); }
Tensor layer_norm(const Tensor& x) { return tt::layer_norm(x, {x.size(-1)}); }
Tensor variance(const Tensor& x) { return x.var(-1); }
Tensor column_means(const Tensor& x) { return x.mean(0); }
Tensor gelu(const Tensor& x) { return tt::gelu(x); }
Tensor softplus(const Tensor& x) { return tt::softplus(x); }
/// Not one of the samples: some kernels are found, others are not.
Tensor smoothed_loss(const Tensor& x) {
  const Tensor rows = x.reshape({-1, x.size(-1)});
  return tt::call("cross_entropy", {rows, tt::ones({rows.size(0)}, tt::DType::i64)}, {{"label_smoothing", 0.3}});
}
void check_all(const Tensor& x) {
  check_bits<softmax>(x);
  check_bits<log_softmax>(x);
  check_bits<layer_norm>(x);
  check_bits<variance>(x);
  check_bits<column_means>(x);
  check_bits<gelu>(x);
  check_bits<softplus>(x);
  check_bits<smoothed_loss>(x);
}

}  // namespace

TEST_CASE("kernels of softmax, norms and losses are found for every shape") {
  if (!tt::cpu::has_library_kernels()) {
    MESSAGE("this build has none: TT_LIBRARY_KERNELS is off, there is no C compiler, or sanitizers are on");
    return;
  }
  for (const tt::IntList& shape : {tt::IntList{3, 100}, {48, 48}, {2, 3, 80}, {2, 2, 3, 5000}, {7, 7, 7}, {1, 33}}) {
    CAPTURE(shape);
    const Tensor x = tt::randn(shape).requires_grad_();
    const std::int64_t n = x.size(-1);
    for (const Tensor& y : {tt::softmax(x, -1), tt::layer_norm(x, {n}, tt::ones({n}), tt::zeros({n})), tt::mse_loss(x, tt::zeros_like(x))}) y.backward(tt::rand_like(y));
  }
  const Tensor x = tt::randn({5, 20}).requires_grad_();
  tt::cross_entropy(x, tt::zeros({5}, tt::DType::i64)).backward();
  const Tensor narrow = x.detach().to(tt::DType::bf16);
  CHECK((narrow * narrow + 1).where(x > 0, narrow).dtype() == tt::DType::bf16);
  for (const char* op : {"softmax", "layer_norm", "mse_loss", "cross_entropy", "mul", "add", "where"}) {
    CAPTURE(op);
    const Kernels k = kernels_of(op);
    CHECK(k.all > 0);
    CHECK(k.compiled == k.all);
  }
}

TEST_CASE("a program may have some of them") {
  if (!tt::cpu::has_library_kernels()) return;
  const Tensor x = tt::randn({7, 30}).requires_grad_();
  smoothed_loss(x).backward();
  const tt::GraphFunction* mixed = nullptr;
  auto& table = tt::detail::function_table();
  const auto reading = table.read();
  table.each([&](const tt::detail::KeptFunction& f) {
    if (!f.function || std::string(f.op->name()) != "cross_entropy") return false;
    Kernels k;
    count(*f.function, k);
    if (k.compiled > 0 && k.compiled < k.all) mixed = f.function.get();
    return false;
  });
  CHECK(mixed != nullptr);
}
TEST_CASE("they have the bits of the interpreter") {
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64, tt::DType::bf16, tt::DType::f16})
    for (const tt::IntList& shape : {tt::IntList{4, 3}, {5, 40}, {33, 64}, {2, 3, 100}, {3, 4099}, {1, 10000}, {41, 41}})
      check_all(tt::randn(shape).to(d));
}
TEST_CASE("on several threads too") {
  for (const int threads : {2, 3}) {
    tt::set_num_threads(threads);
    for (const tt::IntList& shape : {tt::IntList{1, 300000}, {2, 200000}, {500, 300}, {3000, 70}})
      check_all(tt::randn(shape));
  }
  tt::set_num_threads(1);
}
TEST_CASE("special values") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = tt::tensor({0.f, -0.f, inf, -inf, nan, 1e-40f, -1e38f, 3.f, 88.f, -104.f}).reshape({2, 5});
  check_all(tt::cat({x, x, x, x, x, x, x, x}, 1));
}

TEST_CASE("a kernel alone has one text for all shapes that it serves") {
  const auto text_of = [](const tt::Shape& shape, bool twice = false) {
    tt::Graph g;
    const tt::Sym x{&g, g.input(tt::DType::f32, shape)};
    const tt::Sym y = x - tt::detail::mean(x, 1u << (shape.rank - 1), true);
    g.output((twice ? y + y : y).id);
    const tt::Plan plan = tt::make_plan(g);
    REQUIRE(plan.kernels.size() == 1);
    const tt::KernelAlone alone(plan, 0);
    return std::string(tt::emit_c(alone.plan, "k").c_str());
  };
  const tt::Extent n = tt::Extent::symbol(0), m = tt::Extent::symbol(1), k = tt::Extent::symbol(2);
  const std::string text = text_of({m, n});
  for (const tt::Shape& shape : {tt::Shape{n, m}, tt::Shape{n, n}, tt::Shape{k, m, n}, tt::Shape{n, n, n}, tt::Shape{m, tt::Extent(40)}, tt::Shape{tt::Extent(40), tt::Extent(40)}, tt::Shape{k, n * m}})
    CHECK(text_of(shape) == text);
  CHECK(text_of({m, n}, true) != text);
  CHECK(text_of({tt::Extent(1), n}) != text);
}
TEST_CASE("its sizes are what its symbols stand for") {
  tt::Graph g;
  const tt::Extent n = tt::Extent::symbol(0), m = tt::Extent::symbol(1);
  const tt::Sym x{&g, g.input(tt::DType::f32, {m, n, n})};
  g.output(tt::detail::mean(x, 4u, false).id);
  const tt::Plan plan = tt::make_plan(g);
  const tt::KernelAlone alone(plan, 0);
  CHECK(alone.plan.kernels[0].cols == tt::Extent::symbol(0));
  REQUIRE(alone.sizes.size() >= 2);
  CHECK(alone.sizes[0] == n);
  CHECK(alone.sizes[1] == m * n);
}
