// Transpositions that are made for some rows of the kernel that reads them at a time: the bits of operands that lie dense, on both tiers, on any number
// of threads, in place too.
#include <doctest/doctest.h>

#include "tensors.hpp"
#include "tt/plan/bands.hpp"
#include "tt/plan/memory.hpp"

namespace {

using tt::Tensor;

/// Else only large transpositions are made so (test_threads.cpp).
[[maybe_unused]] const bool set_before_any_runs = tt::backend::TileProgram::always_bands = true;

Tensor turned(const Tensor& t) { return t.transpose(-1, -2); }

/// f of operands that lie transposed, beside f of the same ones that lie dense.
template <class F>
void check_bands(const F& f, const tt::IntList& sizes, tt::DType d) {
  CAPTURE(sizes);
  const Tensor a = tt::randn(sizes).to(d), b = turned(turned(tt::randn(sizes).to(d)).contiguous());
  tt::set_num_threads(1);
  const Tensor expected = f(a, b.contiguous());
  const auto interpreted = tt::compile(f, {.tier = 0});
  const auto compiled = tt::compile(f, {.wait = true});
  for (int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    tt::set_num_threads(threads);
    CHECK(same_bits(f(a, b), expected));
    CHECK(same_bits(interpreted(a, b), expected));
    CHECK(same_bits(compiled(a, b), expected));
  }
  tt::set_num_threads(1);
}

/// Kernels of x + transpose(y), and of how many the last one makes the rows.
struct Bands {
  int kernels = 0, made = 0;
};
Bands bands_of_sum(const tt::Shape& shape, bool over_y = false) {
  tt::Graph g;
  const int x = g.input(tt::DType::f32, shape), y = g.input(tt::DType::f32, shape);
  g.output(g.elementwise(tt::Op::add, {x, g.transpose(y, shape.rank - 2, shape.rank - 1)}), over_y ? 1 : -1);
  const tt::Plan plan = tt::make_plan(g);
  const int last = plan.kernels.size() - 1;
  return {plan.kernels.size(), tt::bands_before(plan, last, tt::columns_divide(plan, plan.kernels[last]))};
}

}  // namespace

TEST_CASE("a transposition that one kernel reads is made with its rows") {
  const tt::Extent n = tt::Extent::symbol(0), m = tt::Extent::symbol(1);
  for (const tt::Shape& shape : {tt::Shape{n, n}, tt::Shape{tt::Extent(64), tt::Extent(64)}, tt::Shape{m, n, n}, tt::Shape{m, m, n, n}}) {
    const Bands b = bands_of_sum(shape);
    CHECK(b.kernels == 2);
    CHECK(b.made == 1);
  }
}
TEST_CASE("not where rows that lie next to each other are others than those of the kernel") {
  tt::Graph g;
  const tt::Extent n = tt::Extent::symbol(0), m = tt::Extent::symbol(1);
  const int x = g.input(tt::DType::f32, tt::Shape{n, m, n}), y = g.input(tt::DType::f32, tt::Shape{n, m, n});
  g.output(g.elementwise(tt::Op::add, {x, g.transpose(y, 0, 2)}));
  const tt::Plan plan = tt::make_plan(g);
  CHECK(plan.kernels.size() == 2);
  CHECK(tt::bands_before(plan, 1, true) == 0);
  const Tensor a = tt::randn({17, 3, 17}), b = tt::randn({17, 3, 17});
  CHECK(same_bits(a + b.transpose(0, 2), a + b.transpose(0, 2).contiguous()));
}
TEST_CASE("not where that kernel writes what is transposed") { CHECK(bands_of_sum(tt::Shape{tt::Extent(64), tt::Extent(64)}, true).made == 0); }

TEST_CASE("bits of operands that lie transposed") {
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64, tt::DType::bf16, tt::DType::i64}) {
    CAPTURE(tt::name(d));
    for (const tt::IntList& sizes : {tt::IntList{257, 130}, tt::IntList{300, 256}, tt::IntList{2, 70, 512}, tt::IntList{17, 4096}, tt::IntList{1500, 3}, tt::IntList{1, 700}, tt::IntList{0, 5}})
      check_bands([](const Tensor& x, const Tensor& y) { return x + y; }, sizes, d);
  }
}
TEST_CASE("several of them, and kernels with sums") {
  for (const tt::IntList& sizes : {tt::IntList{300, 256}, tt::IntList{3, 65, 130}}) {
    check_bands([](const Tensor& x, const Tensor& y) { return turned(turned(x).contiguous() * turned(y)) + y; }, sizes, tt::DType::f32);
    check_bands([](const Tensor& x, const Tensor& y) { return tt::softmax(x + y, -1); }, sizes, tt::DType::f32);
    check_bands([](const Tensor& x, const Tensor& y) { return (x * 0.1).exp().sum(-1, true) + y; }, sizes, tt::DType::f32);
    check_bands([](const Tensor& x, const Tensor& y) { return tt::where(y > x, y.exp(), y - x); }, sizes, tt::DType::f64);
  }
}
TEST_CASE("sums of all elements") {
  const auto all = [](const Tensor& x, const Tensor& y) { return tt::stack({y.sum(), tt::mse_loss(x, y), y.amax(), turned(y).sum(), tt::mse_loss(turned(x), turned(y)), tt::logsumexp(y, {0, 1})}, 0); };
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64})
    for (const tt::IntList& sizes : {tt::IntList{257, 130}, tt::IntList{300, 256}, tt::IntList{130, 584}, tt::IntList{17, 4096}, tt::IntList{1500, 33}, tt::IntList{40, 1230}}) check_bands(all, sizes, d);
  for (const tt::DType d : {tt::DType::f32, tt::DType::bf16, tt::DType::i64}) {
    check_bands([](const Tensor& x, const Tensor& y) { return (x * y).sum() + turned(y).sum(); }, {512, 256}, d);
    check_bands([](const Tensor& x, const Tensor& y) { return (x * y).sum() + turned(y).sum(); }, {3, 65, 130}, d);
    check_bands([](const Tensor& x, const Tensor& y) { return (x * y).sum() + y.sum(); }, {0, 5}, d);
  }
}
TEST_CASE("sums down columns") {
  const auto down = [](const Tensor& x, const Tensor& y) { return tt::stack({y.sum(0), (x * y).amax(0), (turned(x).contiguous() - turned(y)).square().sum(1), y.mean(0, true).squeeze(0)}, 0); };
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64, tt::DType::bf16})
    for (const tt::IntList& sizes : {tt::IntList{257, 130}, tt::IntList{300, 256}, tt::IntList{4096, 33}, tt::IntList{600, 40}, tt::IntList{3, 1200}, tt::IntList{64, 1}}) check_bands(down, sizes, d);
  check_bands([](const Tensor& x, const Tensor& y) { return (x * y).sum(0) + y.sum(0); }, {0, 5}, tt::DType::f32);
  check_bands([](const Tensor& x, const Tensor& y) { return (x * y).sum(0) + y.sum(0); }, {130, 70}, tt::DType::i64);
}
TEST_CASE("sums of all elements that lie apart") {
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64, tt::DType::bf16, tt::DType::u8})
    for (const std::int64_t step : {2, 3})
      for (const std::int64_t columns : {130, 256}) {
        const Tensor whole = tt::randint(0, 100, {300, step * columns}).to(d), x = whole.slice(1, 0, step * columns, step);
        const auto f = [](const Tensor& y) { return tt::cat({y.sum().reshape({1}), (y * y).amax().reshape({1}), (y + 1).prod().reshape({1}), y.sum(0)}, 0); };
        CHECK(same_bits(f(x), f(x.contiguous())));
        CHECK(same_bits(tt::compile(f, {.wait = true})(x), f(x.contiguous())));
      }
}
/// f of these Tensors on one to three threads, eager and compiled on both tiers, has the bits that it has of contiguous ones.
template <class F>
void check_as_contiguous(const F& f, const std::vector<Tensor>& given) {
  std::vector<Tensor> dense;
  for (const Tensor& t : given) dense.push_back(t.contiguous());
  const std::vector<Tensor> expected = f(dense);
  const auto interpreted = tt::compile(tt::frozen(f), {.tier = 0});
  const auto compiled = tt::compile(tt::frozen(f), {.wait = true});
  for (int threads : {1, 2, 3}) {
    CAPTURE(threads);
    tt::set_num_threads(threads);
    for (const std::vector<Tensor>& all : {f(given), interpreted(given), compiled(given)})
      for (std::size_t k = 0; k < expected.size(); ++k) CHECK(same_bits(all[k], expected[k]));
  }
  tt::set_num_threads(1);
}
TEST_CASE("one row of all elements that is not reduced, beside what is stored once a row") {
  for (const bool always : {true, false}) {  // false: only what is large enough
    tt::backend::TileProgram::always_bands = always;
    check_as_contiguous([](const std::vector<Tensor>& t) { return std::vector<Tensor>{t[0].reshape({-1}) * 2, t[1] * 3}; }, {turned(tt::randn({1024, 600})), tt::tensor(2.5f)});
    check_as_contiguous([](const std::vector<Tensor>& t) { return std::vector<Tensor>{t[0].reshape({-1}) * 2, t[0].sum() * 3, t[0].sum(0)}; }, {turned(tt::randn({1024, 600})), tt::tensor(2.5f)});
  }
  tt::backend::TileProgram::always_bands = true;
}
TEST_CASE("a band is not made of another one") {
  for (const std::int64_t n : {64, 130})
    check_as_contiguous([n](const std::vector<Tensor>& t) {
      const Tensor u = t[0].reshape({n, 2 * n});
      return std::vector<Tensor>{(u.reshape({-1}) * u.t().reshape({-1})).sum(), u.reshape({2 * n, n}) + u.t()};
    }, {turned(tt::randn({n, 2 * n}))});
}
TEST_CASE("bands of several dtypes, and of rows that are reversed or apart") {
  const Tensor bytes = turned(tt::randint(0, 200, {256, 1024}).to(tt::DType::u8)), wide = turned(tt::randn({256, 1024}).to(tt::DType::f64));
  check_as_contiguous([](const std::vector<Tensor>& t) { return std::vector<Tensor>{(t[0] * t[1]).sum(), (t[0] * t[1]).sum(0), t[0] + t[1], tt::where(t[0] > 50, t[1], 0).sum(0)}; }, {bytes, wide});
  check_as_contiguous([](const std::vector<Tensor>& t) { return std::vector<Tensor>{(tt::flip(t[0], {1}) * t[0]).sum(), tt::flip(t[0], {0, 1}).reshape({-1}) * 2, tt::flip(t[0], {1}).sum(0)}; }, {turned(tt::randn({130, 257}))});
  check_as_contiguous([](const std::vector<Tensor>& t) { return std::vector<Tensor>{(t[0] - t[1]).square().mean(), t[0].any(), (t[0] * t[1]).sum(1), t[1].amax(0)}; },
                      {tt::randn({200, 300}).slice(1, 0, 300, 2), tt::randn({200, 450}).slice(1, 1, 450, 3)});
}
TEST_CASE("bytes and booleans, transposed in squares") {
  for (const std::int64_t rows : {15, 16, 17, 129})
    for (const std::int64_t columns : {16, 31, 257}) {
      const Tensor whole = tt::randint(0, 256, {rows, columns}), bytes = whole.to(tt::DType::u8), mask = whole > 100;
      const Tensor expected = turned(whole).contiguous();
      CHECK(same_bits(turned(bytes).contiguous(), expected.to(tt::DType::u8)));
      CHECK(same_bits(turned(mask).contiguous(), expected > 100));
      CHECK(turned(mask).sum().item<std::int64_t>() == (expected > 100).sum().item<std::int64_t>());
      CHECK(same_bits(tt::where(turned(mask), expected, -1), tt::where(expected > 100, expected, -1)));
    }
}
TEST_CASE("two operands that lie transposed") {
  const auto f = [](const Tensor& x, const Tensor& y) { return turned(x) / turned(y); };
  const auto compiled = tt::compile(f, {.wait = true});
  for (const std::int64_t columns : {100, 1024}) {
    const Tensor x = tt::randn({70, columns}), y = tt::randn({70, columns});
    CHECK(same_bits(compiled(x, y), turned(x).contiguous() / turned(y).contiguous()));
  }
}
TEST_CASE("what is updated may be an operand, or the one that is transposed") {
  const auto add = tt::compile([](Tensor x, const Tensor& y) { x.add_(turned(y)); return x * 2; }, {.wait = true});
  for (const std::int64_t n : {130, 256}) {
    const Tensor x = tt::randn({n, n}), y = tt::randn({n, n}), sum = x + turned(y).contiguous(), own = x + turned(x).contiguous();
    for (int threads : {1, 3}) {
      tt::set_num_threads(threads);
      Tensor a = x.clone(), b = x.clone(), c = x.clone(), d = x.clone();
      a.add_(turned(y)), b.add_(turned(b)), add(c, y), add(d, d);
      CHECK(same_bits(a, sum));
      CHECK(same_bits(b, own));
      CHECK(same_bits(c, sum));
      CHECK(same_bits(d, own));
    }
  }
  tt::set_num_threads(1);
}
