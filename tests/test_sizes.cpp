// What compiled functions do with sizes: where a function looks at one, in a branch, a loop or a sum, compiled means what eager
// means, for every size; where it does not, one capture serves all.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <sstream>

#include "random_graph.hpp"
#include "run_guarded.hpp"
#include "sanitizers.hpp"
#include "tt/core/size_guard.hpp"
#include "tensors.hpp"

namespace {

using tt::Tensor;

Tensor numbered(std::int64_t rows, std::int64_t columns) { return tt::arange(rows * columns).to(tt::DType::f32).reshape({rows, columns}) * 0.125; }

/// f, eager and compiled, at these numbers of rows. Gives the number of captures.
template <class F>
int agrees(const F& f, std::initializer_list<std::int64_t> sizes) {
  auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    const Tensor x = numbered(n, 3);
    CHECK(same_bits(compiled(x), f(x)));
  }
  return compiled.captures();
}

}  // namespace

TEST_CASE("a branch on a size is right for every size") {
  for (const std::int64_t least : {5, 6, 8, 10, 16, 20, 50, 100}) {
    CAPTURE(least);
    agrees([least](const Tensor& x) { return x.size(0) > least ? x * 10 : x * 2; }, {4, 9, 200, 7, least, least + 1, 3});
  }
  agrees([](const Tensor& x) { return x.size(0) % 64 == 0 ? x + 1 : x - 1; }, {4, 64, 128, 100, 63});
  agrees([](const Tensor& x) { return x.numel() == 96 ? x + 1 : x - 1; }, {4, 32, 31, 64});
  agrees([](const Tensor& x) { return x.shape()[0] == 40 ? x + 1 : x - 1; }, {4, 40, 80});
  agrees([](const Tensor& x) { return x * (x.size(0) > 30 ? 0.5 : 1.0); }, {4, 31, 30, 62});
}

TEST_CASE("an equation that a branch asks about is a guard, and does not specialise the sizes in it") {
  CHECK(agrees([](const Tensor& x) { return x.size(0) % 2 == 1 ? x + 1 : x - 1; }, {5, 7, 9, 31, 4, 8, 101, 12}) == 2);
  CHECK(agrees([](const Tensor& x) { return x.size(0) % 2 ? x + 1 : x - 1; }, {5, 7, 9, 31, 4, 8, 101, 12}) == 2);
  CHECK(agrees([](const Tensor& x) { return (x.size(0) - 1) % 2 == 0 ? x + 1 : x - 1; }, {5, 7, 9, 31, 4, 8, 101, 12}) == 2);
  CHECK(agrees([](const Tensor& x) { return x.size(0) % 5 == 3 ? x + 1 : x * 2; }, {8, 13, 23, 33}) == 1);
  CHECK(agrees([](const Tensor& x) {
    Tensor y = x;
    for (std::int64_t k = 0; k < x.size(0) / 10; ++k) y = y * 2;
    return y;
  }, {20, 23, 29, 25, 30, 35}) == 2);
  auto both = tt::compile([](const Tensor& x, const Tensor& y) { return x.size(0) + y.size(0) == 20 ? x.sum() + y.sum() : x.sum() - y.sum(); }, {.tier = 0});
  for (const std::int64_t n : {7, 8, 12, 6}) CHECK(same_bits(both(numbered(n, 3), numbered(20 - n, 3)), numbered(n, 3).sum() + numbered(20 - n, 3).sum()));
  CHECK(both.captures() == 1);
  CHECK(same_bits(both(numbered(7, 3), numbered(14, 3)), numbered(7, 3).sum() - numbered(14, 3).sum()));
  const auto even = [](const Tensor& x) { return x.size(0) % 2 == 0 ? x + 1 : x - 1; };  // a trace has no guards, but divisors of sizes
  const auto traced = tt::trace(even, numbered(8, 3));
  CHECK(same_bits(traced(numbered(12, 3)), even(numbered(12, 3))));
}

TEST_CASE("a branch on the size of a value, or of what the function makes, is right for every size") {
  agrees([](const Tensor& x) {
    Tensor y = x.t().contiguous();
    if (y.size(1) > 20) y = y * 3;
    return y;
  }, {4, 21, 20, 50});
  agrees([](const Tensor& x) {
    const Tensor z = tt::zeros_like(x) + 1;
    return z.size(0) > 25 ? x + z : x - z;
  }, {4, 26, 25, 90});
  agrees([](const Tensor& x) {
    Tensor y = x * 2;
    if (y.numel() > 60) y = y.slice(0, 0, 20);
    return y.mean();
  }, {4, 30, 20, 21, 100});
}

TEST_CASE("gradients follow the branch that the size takes") {
  const auto f = [](const Tensor& x) { return (x.size(0) > 100 ? x * 10 : x * 2).sum(); };
  auto compiled = tt::compile(f, {.tier = 0});
  for (const std::int64_t n : {4, 101, 100, 300, 5}) {
    CAPTURE(n);
    const Tensor x = numbered(n, 3).requires_grad_(), y = numbered(n, 3).requires_grad_();
    compiled(x).backward();
    f(y).backward();
    CHECK(same_bits(x.grad(), y.grad()));
  }
}

TEST_CASE("a loop over a size has few captures, and explain names its line") {
  auto f = tt::compile([](const Tensor& x) {
    Tensor y = x;
    for (std::int64_t i = 0; i < x.size(0); ++i) y = y + 1;
    return y;
  }, {.name = "loop", .tier = 0});
  for (std::int64_t n = 2; n < 60; ++n) CHECK(same_bits(f(numbered(n, 2)), numbered(n, 2) + static_cast<double>(n)));
  CHECK(f.captures() <= 9);
  const std::string said = f.explain();
  CHECK(contains(said, "the function itself, which looks at them at "));
  CHECK(contains(said, "test_sizes.cpp"));
  CHECK(contains(said, "calls with other sizes, recorded at each"));
}

TEST_CASE("sizes that are only handed on to ops stay symbols") {
  auto f = tt::compile([](const Tensor& x) {
    const Tensor flat = x.reshape({-1}) + tt::zeros_like(x).flatten();
    return tt::softmax(flat.unsqueeze(0), 1).squeeze(0) * 2;
  }, {.tier = 0});
  for (std::int64_t n = 2; n < 34; ++n) CHECK(f(numbered(n, 50)).numel() == 50 * n);
  CHECK(f.captures() == 1);
}

TEST_CASE("triangles, fills and changes in place by a size are one capture") {
  const auto one_capture = [](const auto& f) {
    auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
    for (const std::int64_t n : {7, 5, 12, 9}) {
      CAPTURE(n);
      const Tensor x = numbered(n, 6), y = x.clone();
      CHECK(same_bits(compiled(y), f(x)));
      CHECK(same_bits(x, y));
    }
    CHECK_MESSAGE(compiled.captures() == 1, compiled.explain());
  };
  one_capture([](const Tensor& x) { return tt::tril(x, x.size(0) - 8) + x.triu(x.size(0) / 2 - 2); });
  one_capture([](const Tensor& x) { return tt::triu(x, -x.size(0) / 3) * 2 + tt::call("tril", {x, 1}); });
  one_capture([](const Tensor& x) { return x + tt::full({x.size(0), 6}, x.size(0)) * tt::full({6}, x.shape()[0] + 1, {tt::DType::i64}); });
  one_capture([](Tensor x) { return x += x.size(0); });
  one_capture([](Tensor x) { return (x -= x.size(0) * 2) *= x.numel(); });
  one_capture([](const Tensor& x) {
    Tensor y = x / 3;
    return y /= x.size(0) + 1;
  });
  one_capture([](Tensor x) { return x.add_(x.size(0)).sub_(x.shape()[0] * 2).mul_(x.size(0)).div_(x.numel()); });
  one_capture([](Tensor x) { return x.fill_(x.size(0) + 3); });
  one_capture([](const Tensor& x) {
    Tensor y = tt::zeros({x.size(0), 6}), z = tt::full({x.size(0)}, x.size(0), {tt::DType::i32});
    y.slice(0, 1, 3).fill_(x.size(0));
    y.select(1, 2) = x.size(0) * 3;
    z.add_(x.size(0));
    return y.add_(x) + z.unsqueeze(1);
  });
}

TEST_CASE("expressions of sizes: equal ones are one number") {
  using tt::Extent, tt::floor_div;
  const Extent a = Extent::symbol(0), b = Extent::symbol(1), z = Extent::symbol(30);
  const auto text = [](Extent e) { return std::string(tt::Text() << e); };
  CHECK((a + 1) * (a - 1) == a * a - 1);
  CHECK((a + b) * (a + b) - 2 * a * b == a * a + b * b);
  CHECK(a + z - z == a);
  CHECK(z * 2 - z == z);
  CHECK((a * 6 + 4) - (a * 6 + 4) == Extent(0));
  CHECK(text((a + 1) * 10) == "10*s0 + 10");
  CHECK(text(z * a - 3) == "s0*s30 - 3");
  CHECK(floor_div(a * 2 + 1, 2) == a);
  CHECK(floor_div(a * b + b, a + 1) == b);
  CHECK(floor_div(a * 4 + 2, 6) == floor_div(a * 2 + 1, 3));
  CHECK(text(floor_div(a + 1, 2)) == "floor_div(s0 + 1, 2)");
  CHECK(tt::max(a, 1) == a);
  CHECK(tt::min(a + b, a) == a);
  CHECK(text(tt::min(a, 7) + 1) == "min(s0, 7) + 1");
  Extent product = 1, power = 1;
  for (int k = 0; k < 9; ++k) product = product * a;
  for (int k = 0; k < 3; ++k) power = power * (a * a * a);
  CHECK(product == power);
  CHECK((a + 1).least() == 3);
  CHECK((a - b).least() == INT64_MIN);
}

TEST_CASE("an expression of sizes has one text, whatever the process did before") {
  using tt::Extent, tt::floor_div;
  const auto text = [](Extent e) { return std::string(tt::Text() << e); };
  for (const bool first : {true, false}) {  // which of them the WordTable has first
    const std::string s = first ? "s40" : "s50", t = first ? "s41" : "s51";
    const Extent a = Extent::symbol(first ? 40 : 50), b = Extent::symbol(first ? 41 : 51);
    if (first) (void)floor_div(a, 3), (void)(a * b + 1), (void)floor_div(floor_div(a, 3) + 1, b);
    (void)floor_div(b, 5), (void)(b * 2 + a), (void)floor_div(floor_div(b, 5) + 1, b);
    const std::string f = "floor_div(" + s + ", 3)", g = "floor_div(" + t + ", 5)";
    const Extent x = floor_div(a, 3), y = floor_div(b, 5), z = tt::min(b, 9);
    CHECK(text(y + x) == f + " + " + g);
    CHECK(text(y * x + a) == f + "*" + g + " + " + s);
    CHECK(text(tt::max(a * b + 1, b * 2 + a)) == "max(" + s + "*" + t + " + 1, " + s + " + 2*" + t + ")");
    CHECK(text(tt::max(b * 2 + a, a * b + 1)) == "max(" + s + "*" + t + " + 1, " + s + " + 2*" + t + ")");
    CHECK(text(floor_div(x + 1, b) - floor_div(y + 1, b)) == "floor_div(" + f + " + 1, " + t + ") - floor_div(" + g + " + 1, " + t + ")");
    CHECK(text(z + y) == g + " + min(" + t + ", 9)");
    CHECK((x + y) * (z + x) - z * x == y * z + y * x + x * x);
    CHECK(floor_div((x + y) * (z - x) * (y + 2), y + x) == (y + 2) * (z - x));
  }
}

TEST_CASE("expressions of sizes have the value of what they are made of") {
  fuzz::Random dice(3);
  tt::SymbolValues values;
  for (int k = 0; k < 12; ++k) values.set(k, 2 + dice.below(50));
  for (int round = 0; round < 20000; ++round) {
    tt::Extent e = tt::Extent::symbol(dice.below(12));
    std::int64_t v = e.value(values);
    for (int k = dice.below(6); k > 0; --k) {
      const tt::Extent o = dice.below(2) ? tt::Extent::symbol(dice.below(12)) : tt::Extent(1 + dice.below(20));
      const std::int64_t w = o.value(values);
      const std::int64_t down = v / w - (v % w != 0 && v < 0);
      switch (dice.below(6)) {
        case 0: e = e + o, v += w; break;
        case 1: e = e - o, v -= w; break;
        case 2: e = e * o, v *= w; break;
        case 3: e = tt::floor_div(e, o), v = down; break;
        case 4: e = tt::max(e, o), v = v > w ? v : w; break;
        default: e = tt::min(o, e), v = v < w ? v : w; break;
      }
    }
    REQUIRE(e.value(values) == v);
    REQUIRE(e.least() <= v);
    tt::SizeGuard guard{e, v - 3, v};
    if (!e.is_constant()) guard.normalize();
    REQUIRE(guard.holds(values));
  }
}

TEST_CASE("tier 0 evaluates each expression of sizes once a run, however many accesses have it") {
  tt::Graph g;
  const tt::Extent n = tt::Extent::symbol(0), m = tt::Extent::symbol(9), half = tt::floor_div(n, 2);
  const int x = g.input(tt::DType::f32, {n, m + 1});
  int sum = -1;
  for (int k = 0; k < 12; ++k) {  // behind the half, along rows whose length is an expression too
    const int part = g.permute(g.slice(x, 0, half, n - half, 1), std::array{1, 0}.data());
    const int scaled = g.mul(part, g.constant(tt::DType::f32, k + 1));
    sum = sum < 0 ? scaled : g.add(sum, g.elementwise(tt::Op::sqrt, {scaled}));
  }
  g.output(sum);
  g.output(g.reduce(tt::Op::sum, g.slice(x, 0, half, n - half, 1), 2));
  g.output(g.extent(tt::DType::i64, n - half));
  REQUIRE_FALSE(g.failure);
  const tt::backend::TileProgram program(tt::compile_plan(g));
  CHECK(program.expressions() > 0);
  CHECK(program.expressions() <= 6);
  bool as_given = false;  // what is listed and emitted has the expressions
  for (const tt::Access& a : program.plan().accesses) as_given = as_given || (!a.offset.is_packed() && !a.offset.is_further_symbol());
  CHECK(as_given);
  for (const int rows : {2, 3, 50, 131}) {
    tt::SymbolValues sizes;
    sizes.set(0, rows);
    sizes.set(9, 37);
    fuzz::Random random(7);
    const std::vector<fuzz::Values> in{fuzz::random_values(random, tt::DType::f32, rows * 38, fuzz::Numbers::ordinary)};
    const fuzz::GuardedResult r = fuzz::run_guarded(g, sizes, in, [&](void* const* external) { program.run(external, sizes); });
    CHECK(std::string(r.trouble ? r.trouble : "") == "");
    CHECK_FALSE(fuzz::compare(g, fuzz::evaluate(g, sizes, in), r.output));
  }
}

TEST_CASE("expressions of sizes divide by any number, and a division by 0 is 0") {
  using tt::Extent, tt::floor_div;
  const Extent a = Extent::symbol(0), b = Extent::symbol(1);
  tt::SymbolValues values;
  for (std::int64_t x = 2; x < 30; ++x)
    for (const std::int64_t by : {-7, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6})
      for (const std::int64_t times : {-6, -2, 1, 2, 3, 4})
        for (std::int64_t plus = -5; plus <= 5; ++plus) {
          values.set(0, x);
          const std::int64_t v = times * x + plus;
          const auto down = [](std::int64_t n, std::int64_t d) { return d == 0 ? 0 : n / d - (n % d != 0 && (n < 0) != (d < 0)); };
          REQUIRE(floor_div(a * times + plus, by).value(values) == down(v, by));
          REQUIRE(floor_div(7, a - x + by).value(values) == down(7, by));
        }
  CHECK(floor_div(7, 0) == Extent(0));
  CHECK(floor_div(a, b - b) == Extent(0));
  const auto program = [](Extent e) {
    tt::Text t;
    tt::detail::size_write(t, e, "n");
    return std::string(t);
  };
  CHECK(program(floor_div(a, 4)) == "(((n[0]) - ((n[0]) % (4) + (4)) % (4)) / (4))");
  CHECK(program(floor_div(1, a - 3)) == "((n[0] - 3) == 0 ? 0 : (((1) - ((1) % (n[0] - 3) + (n[0] - 3)) % (n[0] - 3)) / (n[0] - 3)))");
}

TEST_CASE("a division of sums that does not end soon is given up") {
  using tt::Extent;
  Extent power = 1, sum = 0;
  for (int k = 0; k < 16; ++k) {
    power = power * Extent::symbol(0);
    sum = sum + Extent::symbol(k);
  }
  CHECK(std::string(tt::Text() << tt::floor_div(power, sum)).find("floor_div(s0*s0*") == 0);
  CHECK(tt::floor_div(sum * sum * sum, sum) == sum * sum);
}

TEST_CASE("a cache that grows is one capture") {
  struct Decoded {
    Tensor y, keys, values;
  };
  const auto step = [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& keys, const Tensor& values) {
    const Tensor all_keys = tt::cat({keys, k}, 0), all_values = tt::cat({values, v}, 0);
    const Tensor weights = tt::softmax(tt::matmul(q, all_keys.t()) / 2.0, 1);
    return Decoded{tt::matmul(weights, all_values), all_keys, all_values};
  };
  for (const int tier : {0, 1}) {
    CAPTURE(tier);
    auto compiled = tt::compile(step, {.tier = tier});
    Tensor keys = numbered(1, 4), values = numbered(1, 4) - 1, own_keys = keys, own_values = values;
    for (int token = 0; token < 300; ++token) {
      CAPTURE(token);
      const Tensor q = numbered(1, 4) * (token * 0.01), k = q.cos(), v = q.sin();
      const Decoded want = step(q, k, v, own_keys, own_values), got = compiled(q, k, v, keys, values);
      own_keys = want.keys, own_values = want.values, keys = got.keys, values = got.values;
      REQUIRE(same_bits(got.y, want.y));
      REQUIRE(same_bits(got.values, want.values));
    }
    CHECK(compiled.captures() <= 2);
  }
}

TEST_CASE("a function of any number of different sizes is one capture") {
  auto f = tt::compile([](const std::vector<Tensor>& x) {
    Tensor sum = tt::zeros({x[0].size(0)});
    for (const Tensor& t : x) sum = sum + (t * 0.5).sum(1);
    return sum;
  }, {.tier = 0});
  for (const int batch : {32, 48, 56, 64}) {
    std::vector<Tensor> x;
    for (int k = 0; k < 20; ++k) x.push_back(numbered(batch, 100 + k));
    Tensor want = tt::zeros({batch});
    for (const Tensor& t : x) want = want + (t * 0.5).sum(1);
    CHECK(same_bits(f(x), want));
  }
  CHECK(f.captures() == 1);
}

TEST_CASE("joins, pads, slices and windows along sizes are one capture, and right for gradients too") {
  const auto captures = [](const auto& f, std::initializer_list<std::int64_t> sizes) {
    auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
    for (const std::int64_t n : sizes) {
      CAPTURE(n);
      const Tensor x = numbered(n, 3);
      CHECK(same_bits(compiled(x), f(x)));
      const Tensor a = numbered(n, 3).requires_grad_(), b = numbered(n, 3).requires_grad_();
      (compiled(a) * compiled(a)).sum().backward();
      (f(b) * f(b)).sum().backward();
      CHECK(same_bits(a.grad(), b.grad()));
    }
    return compiled.captures() / 2;  // one with, one without gradients
  };
  CHECK(captures([](const Tensor& x) { return tt::cat({x, x * 2, x}, 0); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x.slice(0, 1, x.size(0)) - x.slice(0, 0, x.size(0) - 1); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x.slice(0, 0, -2); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x.slice(0, 1, INT64_MAX, 2) * 3; }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return tt::pad(x, {0, 1, 2, x.size(0)}); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x.unfold(0, 3, 2).sum(2); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x.unfold(0, 3, 1).mean(0); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x + tt::arange(x.size(0)).unsqueeze(1); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x * x.size(0) / (x.size(0) + 1); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return tt::cat({x, tt::zeros({x.size(0) * 2 + 1, 3})}, 0).reshape({-1}); }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x.slice(0, x.size(0) / 2, x.size(0)) * 2; }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return x[x.size(0) - 1] + x[0]; }, {5, 9, 17, 6}) == 1);
  CHECK(captures([](const Tensor& x) { return tt::slice_scatter(tt::cat({x, x}, 0), x * 7, 0, x.size(0)); }, {5, 9, 17, 6}) == 1);
}

TEST_CASE("pools of images of any height and width are one capture, and right for gradients too") {
  const auto pooled = [](const Tensor& x) {
    const Tensor most = tt::max_pool2d(x, {.kernel_size = 2}), means = tt::avg_pool2d(x, {.kernel_size = 3, .stride = 2, .padding = 1});
    return most.sum(tt::IntList{2, 3}) * 0.5 + tt::max_pool2d(tt::relu(means), {.kernel_size = 2, .stride = 1}).mean(tt::IntList{2, 3});
  };
  const auto gradient = [](const Tensor& x) {
    return tt::value_and_grad([](const Tensor& v) {
      const Tensor most = tt::max_pool2d(v * v, {.kernel_size = 2});
      return (most * most).sum() + tt::avg_pool2d(v, {.kernel_size = 3, .stride = 2, .padding = 1}).sum();
    })(x).second;
  };
  auto values = tt::compile(tt::frozen(pooled), {.tier = 0});
  auto gradients = tt::compile(tt::frozen(gradient), {.tier = 0});
  for (const auto& [h, w] : {std::pair{8, 12}, {9, 7}, {16, 16}, {31, 6}, {5, 40}, {12, 8}}) {
    CAPTURE(h);
    const Tensor x = tt::sin(numbered(2 * 3 * h, w)).reshape({2, 3, h, w});
    CHECK(same_bits(values(x), pooled(x)));
    CHECK(same_bits(gradients(x), gradient(x)));
  }
  CHECK(values.captures() <= 2);  // equal height and width are symbols that are equal, for those made later too
  CHECK(gradients.captures() <= 2);
}

namespace {

Tensor waves(const tt::IntList& sizes, double step) {
  std::int64_t n = 1;
  for (const std::int64_t e : sizes) n *= e;
  return (tt::arange(n).to(tt::DType::f32) * step).sin().reshape(sizes);
}

template <tt::Conv2dOptions C>
Tensor convolved(const Tensor& x, const Tensor& w, const Tensor& b) {
  const Tensor y = tt::conv2d(x, w, b, C);
  return (y * tt::relu(y)).sum();
}

/// Values, gradients on the tape and gradients inside of what is compiled, over images of many sizes.
template <tt::Conv2dOptions C>
void convolves(std::int64_t channels, std::int64_t rows, std::int64_t columns, int tier) {
  CAPTURE(tier);
  CAPTURE(rows);
  CAPTURE(columns);
  constexpr auto value = [](const Tensor& x, const Tensor& w, const Tensor& b) { return convolved<C>(x, w, b); };
  constexpr auto gradients = [](const Tensor& x, const Tensor& w, const Tensor& b) {
    constexpr auto f = [](const Tensor& u, const Tensor& v, const Tensor& t) { return convolved<C>(u, v, t); };
    auto [dx, dw, db] = tt::value_and_grad<0, 1, 2>(f)(x, w, b).second;
    return std::vector<Tensor>{dx, dw, db};
  };
  const Tensor weights = waves({8, channels / C.groups, rows, columns}, 0.7), bias = waves({8}, 1.3);
  auto compiled = tt::compile(value, {.tier = tier, .wait = tier > 0});
  auto inside = tt::compile(gradients, {.tier = tier, .wait = tier > 0});
  const auto on_tape = [&](const auto& f, const Tensor& images) {
    Tensor x = images.clone(), w = weights.clone(), b = bias.clone();
    for (Tensor* t : {&x, &w, &b}) t->requires_grad_();
    const Tensor y = f(x, w, b);
    y.backward();
    return std::vector<Tensor>{y, x.grad(), w.grad(), b.grad()};
  };
  for (const auto& [n, h, w] : {std::array{10, 9, 12}, {6, 11, 7}, {12, 16, 10}, {9, 7, 21}, {6, 15, 13}, {13, 6, 17}}) {
    CAPTURE(h);
    CAPTURE(w);
    const Tensor x = waves({n, channels, h, w}, 0.3);
    const std::vector<Tensor> want = on_tape(value, x), got = on_tape(compiled, x), from_inside = inside(x, weights, bias);
    for (std::size_t k = 0; k < 4; ++k) CHECK_MESSAGE(same_bits(got[k], want[k]), k);
    for (std::size_t k = 0; k < 3; ++k) CHECK_MESSAGE(same_bits(from_inside[k], want[k + 1]), k);
  }
  CHECK_MESSAGE(compiled.captures() == 2, compiled.explain());  // the first takes sizes of what requires a gradient for numbers
  CHECK_MESSAGE(inside.captures() == 1, inside.explain());
}

/// Gradients of images of all small sizes: the errors of those that are smaller than a window, too.
template <tt::Conv2dOptions C>
void convolves_small() {
  constexpr auto f = [](const Tensor& x, const Tensor& w) {
    constexpr auto loss = [](const Tensor& u, const Tensor& v) {
      const Tensor y = tt::conv2d(u, v, C);
      return (y * y).sum();
    };
    return tt::value_and_grad(loss)(x, w).second;
  };
  const Tensor weights = waves({5, 4, 3, 3}, 0.7);
  auto compiled = tt::compile(f, {.tier = 0});
  for (int h = 9; h > 0; --h)
    for (int w = 1; w < 12; ++w) {
      CAPTURE(h);
      CAPTURE(w);
      const Tensor x = waves({2, 4, h, w}, 0.3);
      Tensor want, got;
      const std::string said = message([&] { want = f(x, weights); });
      CHECK(message([&] { got = compiled(x, weights); }) == said);
      if (said.empty()) CHECK(same_bits(got, want));
    }
}

}  // namespace

TEST_CASE("convolutions of images of any height and width are one capture, and right for gradients too") {
  for (const int tier : {0, 1}) {
    if (is_sanitized && tier == 1) break;  // compiled code has none of their checks
    convolves<tt::Conv2dOptions{.stride = 2, .padding = 1}>(4, 3, 3, tier);
    convolves<tt::Conv2dOptions{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2}>(4, 3, 2, tier);
#ifndef TT_ALL_FORMS
    if (tier == 1) break;
#endif
    convolves<tt::Conv2dOptions{}>(4, 3, 3, tier);
    convolves<tt::Conv2dOptions{.padding = 1}>(4, 3, 3, tier);
    convolves<tt::Conv2dOptions{.stride = {2, 3}, .padding = {0, 2}}>(4, 2, 5, tier);
    convolves<tt::Conv2dOptions{.stride = 3}>(4, 1, 1, tier);
    convolves<tt::Conv2dOptions{.stride = 4, .padding = 1}>(4, 2, 2, tier);
    convolves<tt::Conv2dOptions{.padding = 2, .dilation = 2}>(4, 3, 3, tier);
    convolves<tt::Conv2dOptions{.stride = 2, .padding = 1, .groups = 4}>(4, 3, 3, tier);
  }
}

TEST_CASE("convolutions of small images have eager's bits, or its errors") {
  convolves_small<tt::Conv2dOptions{}>();
  convolves_small<tt::Conv2dOptions{.stride = 2, .padding = 1}>();
  convolves_small<tt::Conv2dOptions{.stride = 4, .padding = 1}>();
  convolves_small<tt::Conv2dOptions{.stride = 3, .padding = 1, .dilation = 2}>();
}

TEST_CASE("channels that do not fit have eager's error") {
  const auto says = [](const auto& f, const tt::IntList& images, const tt::IntList& weights, const tt::IntList& bias) {
    const auto compiled = tt::compile(f, {.tier = 0});
    const std::string said = message([&] { f(tt::ones(images), tt::ones(weights), tt::ones(bias)); });
    CHECK(contains(said, "tt::conv2d: "));
    CHECK(message([&] { compiled(tt::ones(images), tt::ones(weights), tt::ones(bias)); }) == said);
  };
  const auto plain = [](const Tensor& x, const Tensor& w, const Tensor& b) { return tt::conv2d(x, w, b); };
  const auto grouped = [](const Tensor& x, const Tensor& w, const Tensor& b) { return tt::conv2d(x, w, b, {.groups = 2}); };
  says(plain, {2, 6, 9, 10}, {8, 4, 3, 3}, {8});
  says(plain, {2, 4, 9, 10}, {8, 4, 3, 3}, {7});
  says(grouped, {2, 4, 9, 10}, {8, 4, 3, 3}, {8});
  says(grouped, {2, 8, 9, 10}, {7, 4, 3, 3}, {7});
}

TEST_CASE("a comparison splits the sizes in two") {
  auto f = tt::compile([](const Tensor& x) { return x.size(0) > 100 ? x * 10 : x * 2; }, {.name = "f", .tier = 0});
  for (const std::int64_t n : {4, 101, 100, 300, 5, 99, 2000, 1, 7}) CHECK(same_bits(f(numbered(n, 3)), numbered(n, 3) * (n > 100 ? 10.0 : 2.0)));
  CHECK(f.captures() == 3);  // and one row is a capture of its own
  const std::string said = f.explain();
  CHECK(contains(said, "s0 is 2 to 100 (") != contains(said, "s0 is at most 100 ("));
  CHECK(contains(said, "s0 is at least 101 ("));
  auto g = tt::compile([](const Tensor& x) { return x.size(0) % 64 == 0 ? x + 1 : x - 1; }, {.tier = 0});
  for (std::int64_t n = 2; n < 200; ++n) CHECK(same_bits(g(numbered(n, 3)), numbered(n, 3) + (n % 64 == 0 ? 1.0 : -1.0)));
  CHECK(g.captures() <= 9);
}

TEST_CASE("shape() gives sizes that stay expressions, and may be looked at") {
  auto f = tt::compile([](const Tensor& x) {
    std::int64_t axes = 0;
    for (tt::Size n : x.shape()) axes += n > 0;
    return (x + tt::ones(x.shape())).expand(x.shape()).reshape({x.shape()[1], x.shape()[0]}) * axes;
  }, {.tier = 0});
  for (std::int64_t n = 2; n < 30; ++n) CHECK(same_bits(f(numbered(n, 50)), (numbered(n, 50) + 1).reshape({50, n}) * 2));
  CHECK(f.captures() == 1);
  agrees([](const Tensor& x) { return x.shape() == tt::Shape{8, 3} ? x + 1 : x - 1; }, {8, 9, 7, 8});
  const tt::Shape plain = numbered(4, 5).shape();
  CHECK(plain == tt::Shape{4, 5});
}

TEST_CASE("sizes are changed in a list, and as numbers are") {
  tt::IntList s{2, 3, 20};
  s[0] += tt::Size(1);
  s[1] *= 4;
  s[2] /= s[0];
  CHECK(s == tt::Shape{3, 12, 6});
  CHECK(++s[0] == 4);
  CHECK(s[1]-- == 12);
  CHECK(s[2]++ == 6);
  s[2] %= 4;
  s[0] -= 2;
  --s[0];
  CHECK(s == tt::Shape{1, 11, 3});
  CHECK((s[0] = 9) == 9);
  s[1] = s[2];
  CHECK(s == tt::Shape{9, 3, 3});
  swap(s[0], s[1]);
  CHECK(s == tt::Shape{3, 9, 3});
  auto named = s[0];  // a Size of its own
  named += 1;
  named = 2 * named++;
  const auto of_temporary = tt::zeros({4, 2}).shape()[0] + 1;
  CHECK(named == 8);
  CHECK(of_temporary == 5);
  CHECK(s == tt::Shape{3, 9, 3});
  tt::Size n(5);
  n += 1;
  n *= 4L;
  n -= 2u;
  n /= 2;
  CHECK(n++ == 11);
  CHECK(n-- == 12);
  n %= 4;
  CHECK(n == 3);
  auto f = tt::compile([](const Tensor& x) {
    tt::IntList shape = x.shape();
    shape[0] *= 2;
    ++shape[0];
    tt::Size rows = x.size(0);
    rows += 1;
    return tt::zeros(shape).slice(0, 0, rows) + x.size(1);
  }, {.tier = 0});
  for (const std::int64_t k : {4, 8, 5}) CHECK(same_bits(f(numbered(k, 3)), tt::zeros({k + 1, 3}) + 3));
  CHECK(f.captures() == 1);
}

TEST_CASE("sizes of parameters are numbers until one changes") {
  struct Layer {
    Tensor weight;
    Tensor operator()(const Tensor& x) const { return tt::matmul(x, weight); }
  };
  Layer layer{numbered(3, 7)};
  auto f = tt::compile(layer, {.tier = 0});
  for (std::int64_t n = 12; n < 30; ++n) CHECK(same_bits(f(numbered(n, 3)), tt::matmul(numbered(n, 3), layer.weight)));
  CHECK(f.captures() == 1);
  CHECK(contains(f.explain(), "f32 (3, 7)"));
  for (const int columns : {5, 6, 11}) {
    layer.weight = numbered(3, columns);
    CHECK(same_bits(f(numbered(40, 3)), tt::matmul(numbered(40, 3), layer.weight)));
  }
  CHECK(f.captures() == 2);

  const Tensor weight = numbered(3, 7);
  auto frozen = tt::compile(tt::frozen([weight](const Tensor& x) { return tt::matmul(x, weight); }), {.tier = 0});
  for (std::int64_t n = 12; n < 20; ++n) CHECK(same_bits(frozen(numbered(n, 3)), tt::matmul(numbered(n, 3), weight)));
  CHECK(frozen.captures() == 1);
  CHECK(contains(frozen.explain(), "holds f32 (3, 7)"));
  CHECK(std::string(frozen.graph().size() ? tt::to_string(frozen.graph()) : tt::Text()).find("f32 (3, 7)") != std::string::npos);
}

TEST_CASE("sizes may be marked") {
  const auto marked = [](std::int64_t rows, auto mark) {
    Tensor x = numbered(rows, 3);
    mark(x);
    return x;
  };
  auto f = tt::compile([](const Tensor& x) { return x * 2; }, {.tier = 0});
  for (const int n : {4, 5, 6}) CHECK(same_bits(f(marked(n, [](const Tensor& x) { tt::mark_static(x, 0); })), numbered(n, 3) * 2));
  CHECK(f.captures() == 3);
  auto g = tt::compile([](const Tensor& x) { return x * 2; }, {.tier = 0});
  for (const int n : {4, 5, 6}) {
    const Tensor x = marked(n, [](const Tensor& t) { tt::mark_dynamic(t, 0, 2, 100); });
    x.requires_grad();
    CHECK(same_bits(g(Tensor(x).requires_grad_()), numbered(n, 3) * 2));
  }
  CHECK(g.captures() == 1);
  auto branches = tt::compile([](const Tensor& x) { return x.size(0) > 50 ? x : x * 2; }, {.name = "branches", .tier = 0});
  const Tensor wide = marked(9, [](const Tensor& t) { tt::mark_dynamic(t, 0, 2, 100); });
  const std::string said = message([&] { branches(wide); });
  CHECK(contains(said, "tt::compile: branches: axis 0 of argument 0 is marked dynamic, but its size is taken to be at most 50. "));
  CHECK(contains(said, "test_sizes.cpp:"));
  auto loops = tt::compile([](const Tensor& x) {
    Tensor y = x;
    for (int k = 0; k < x.size(0); ++k) y = y + 1;
    return y;
  }, {.name = "loops", .tier = 0});
  CHECK(contains(message([&] { loops(wide); }), "its size is needed as a number by the function itself"));
  CHECK(same_bits(branches(marked(9, [](const Tensor& t) { tt::mark_dynamic(t, 0, 2, 50); })), numbered(9, 3) * 2));
  CHECK(contains(message([&] { tt::mark_dynamic(wide, 0, 10, 20); }), "tt::mark_dynamic: the size is out of range: 9 is not from 10 to 20."));
  CHECK(contains(message([&] { tt::mark_static(wide, 2); }), "tt::mark_static: axis is out of range: 2 for shape (9, 3)."));
}

TEST_CASE("what hangs on a size in another way is right for every size") {
  agrees([](const Tensor& x) { return x * (x.size(0) / -2) + x.size(0) % -3; }, {4, 8, 9, 4});
  agrees([](const Tensor& x) { return tt::arange(x.size(0)).sum().item() > 20 ? x : x * 2; }, {4, 8, 5, 20});
  agrees([](const Tensor& x) { return (tt::zeros({2}) + x.size(0)).sum().item() > 20 ? x : x * 2; }, {4, 12, 5, 20});
  agrees([](const Tensor& x) { return (tt::full({}, 1.0) * x.size(0)).item() > 6 ? x : x * 2; }, {4, 8, 5, 20});
  agrees([](const Tensor& x) { return tt::eye(x.size(0)).sum(0).sum().item() > 6 ? x : x * 2; }, {4, 8, 5, 20});
  agrees([](const Tensor& x) { return x.mean() + tt::full({x.size(0) - 3}, 0.5).sum(); }, {3, 5, 4, 9});
  agrees([](const Tensor& x) { return x.sum(0) + static_cast<double>(tt::zeros({x.size(0) - 1}).squeeze(0).dim()); }, {5, 2, 3});
  agrees([](const Tensor& x) { return tt::pad(x, {0, 0, x.size(0) - 3, 3 - x.size(0)}); }, {4, 3, 5, 2});
  agrees([](const Tensor& x) { return tt::pad(x, {0, 0, 0, 6 - x.size(0)}); }, {8, 3, 6, 9});
  agrees([](const Tensor& x) { return x.sum(tt::IntList{x.size(0) - 3}); }, {4, 3, 4});
  agrees([](const Tensor& x) { return x.permute({x.size(0) - 3, 4 - x.size(0)}).contiguous(); }, {4, 3, 4});
  agrees([](const Tensor& x) { return x.t().is_contiguous() ? x : x * 2; }, {4, 5});
  agrees([](const Tensor& x) { return x * static_cast<double>(x.t().stride(1)); }, {4, 5});
  agrees([](const Tensor& x) { return tt::cat({x.slice(0, -(std::int64_t{3} << 61), 3), x.slice(0, INT64_MIN, 3), x.slice(0, -x.size(0) - (INT64_MAX - 200), 2)}, 0); }, {4, 5, 9});
  const auto negative = tt::compile([](const Tensor& x) { return tt::ones({x.size(0) - 5}); }, {.tier = 0});
  CHECK(negative(numbered(8, 3)).size(0) == 3);
  CHECK(contains(message([&] { negative(numbered(3, 3)); }), "a size is negative"));
}

TEST_CASE("an error that the function catches is one for the sizes that it came of") {
  const auto caught = [](const Tensor& x, const auto& f) {
    try {
      return f();
    } catch (const tt::Error&) {
      return x + 100;
    }
  };
  agrees([&](const Tensor& x) { return caught(x, [&] { return x.slice(1, 0, 1).reshape({-1, 4}); }); }, {5, 8, 4, 7});
  agrees([&](const Tensor& x) { return caught(x, [&] { return x.reshape({4, 6}); }); }, {5, 8, 4, 8});
  agrees([&](const Tensor& x) { return caught(x, [&] { return x.slice(0, 0, 1).expand({x.size(0) - 3, 3}) * 2; }); }, {4, 2, 6});
  agrees([&](const Tensor& x) { return caught(x, [&] { return tt::pad(x, {0, 0, -6, 0}) * 2; }); }, {4, 8, 5, 9});
  agrees([&](const Tensor& x) { return caught(x, [&] { return x + tt::ones({7, 3}); }); }, {4, 7, 5, 1});
}

TEST_CASE("one unlucky first size does not spoil the captures") {
  auto f = tt::compile([](const Tensor& x) { return x.slice(0, 1, INT64_MAX) * 2; }, {.tier = 0});
  for (std::int64_t n = 2; n < 30; ++n) CHECK(same_bits(f(numbered(n, 3)), numbered(n, 3).slice(0, 1, n) * 2));
  CHECK(f.captures() == 3);  // two rows, and three, which is also the number of columns
}

TEST_CASE("a size that must be a multiple is one, not a number") {
  const auto captures = [](const auto& f, std::initializer_list<std::int64_t> sizes) {
    auto compiled = tt::compile(f, {.tier = 0, .fullgraph = true});
    for (const std::int64_t n : sizes) {
      CAPTURE(n);
      const Tensor x = numbered(n, 6);
      CHECK(same_bits(compiled(x), f(x)));
    }
    return compiled.captures();
  };
  const auto pairs = [](const Tensor& x) { return x.reshape({-1, 2, 6}).sum(1) * 2; };
  CHECK(captures(pairs, {4, 8, 10, 20, 34, 22}) == 1);
  CHECK(captures(pairs, {2, 6, 8, 10}) == 3);  // of 2 rows there is one pair; 6 is the number of columns too
  CHECK(captures([](const Tensor& x) {
    const tt::Size n = x.size(0) / 2;
    return x.reshape({n, 2, 6}).sum(1) + x.slice(0, 0, n);
  }, {4, 8, 10, 20, 34}) == 1);
  CHECK(captures([](const Tensor& x) { return x.reshape({-1, 2, 6}).reshape({-1, 4, 2, 6}).sum(2); }, {8, 16, 24, 80}) == 2);  // one eighth, or more
  CHECK(captures([](const Tensor& x) { return x.reshape({-1, 6, 6}).reshape({-1, 4, 6, 6}).sum(2); }, {48, 72, 24, 240}) == 2);
  CHECK(captures([](const Tensor& x) { return tt::cat({x, x, x}, 0).reshape({-1, 4, 6}).sum(1); }, {8, 12, 40, 20}) == 1);
  CHECK(captures([](const Tensor& x) { return x.reshape({-1}); }, {4, 9, 12}) == 1);
  CHECK(captures([](const Tensor& x) { return x.size(0) % 2 == 0 ? x.reshape({-1, 2, 6}).sum(1) : x * 2; }, {4, 8, 10, 12, 16}) == 1);
  CHECK(captures([](const Tensor& x) { return x.reshape({-1, 2, 6}).sum(1) + (x.size(0) > 20 ? 1 : 2); }, {4, 8, 20, 22, 40, 10}) == 2);
}

TEST_CASE("where a size is no multiple, the error is eager's, and captures stay") {
  const auto f = [](const Tensor& x) { return x.reshape({-1, 2, 6}).sum(1); };
  auto compiled = tt::compile(f, {.name = "pairs", .tier = 0, .fullgraph = true});
  CHECK(same_bits(compiled(numbered(4, 6)), f(numbered(4, 6))));
  const std::string said = message([&] { compiled(numbered(5, 6)); });
  CHECK(contains(said, "tt::reshape: no size can stand for -1: 30 elements, 12 in the other sizes."));
  CHECK(contains(said, "test_sizes.cpp:"));
  CHECK(same_bits(compiled(numbered(16, 6)), f(numbered(16, 6))));
  CHECK(compiled.captures() == 1);
  CHECK(contains(compiled.explain(), "f32 (2*s0, 6)"));
}

TEST_CASE("multiples: gradients, traces, marks, sizes that are equal, and Tensors that lie otherwise") {
  const auto f = [](const Tensor& x, const Tensor& y) { return (x.reshape({-1, 2, 6}) * y.reshape({2, -1, 6}).transpose(0, 1)).sum(1); };
  auto compiled = tt::compile(f, {.tier = 0, .fullgraph = true});
  for (const std::int64_t n : {4, 8, 10, 22}) {
    CAPTURE(n);
    Tensor x = numbered(n, 6).requires_grad_(), y = (numbered(n, 6) + 1).requires_grad_();
    f(x, y).sum().backward();
    const Tensor dx = x.grad(), dy = y.grad();
    x.zero_grad();
    y.zero_grad();
    compiled(x, y).sum().backward();
    CHECK(same_bits(x.grad(), dx));
    CHECK(same_bits(y.grad(), dy));
    const Tensor wide = numbered(n, 12).slice(1, 0, 12, 2);
    CHECK(same_bits(compiled(wide, y.detach()), f(wide, y.detach())));
    const Tensor turned = numbered(6, n).t();
    CHECK(same_bits(compiled(turned, y.detach()), f(turned, y.detach())));
  }
  CHECK(compiled.captures() <= 4);
  auto traced = tt::trace(f, numbered(8, 6), numbered(8, 6));
  CHECK(same_bits(traced(numbered(10, 6), numbered(10, 6)), f(numbered(10, 6), numbered(10, 6))));
  CHECK(contains(message([&] { traced(numbered(7, 6), numbered(7, 6)); }), "argument 0 is f32 (7, 6), the graph takes f32 (2*s0, 6)"));
  auto marked = tt::compile([](const Tensor& x) { return x.reshape({-1, 2, 6}).sum(1); }, {.tier = 0});
  for (const std::int64_t n : {8, 10, 12}) {
    const Tensor x = numbered(n, 6);
    tt::mark_dynamic(x, 0, 2, 100);
    CHECK(same_bits(marked(x), x.reshape({-1, 2, 6}).sum(1)));
  }
  CHECK(marked.captures() == 1);
  auto breaks = tt::compile([](const Tensor& x) { return x.sum().item() > 0 ? x.reshape({-1, 2, 6}).sum(1) : x; }, {.tier = 0});
  for (const std::int64_t n : {8, 10, 12, 7}) {
    const Tensor x = n == 7 ? numbered(n, 6) * -1 : numbered(n, 6);
    CHECK(same_bits(breaks(x), n == 7 ? x : x.reshape({-1, 2, 6}).sum(1)));
  }
}

TEST_CASE("random programs of sizes that stay expressions agree with eager") {
  const char* const more = std::getenv("TT_FUZZ_COUNT");
  const int programs = more ? std::atoi(more) : 400;
  fuzz::Random dice(77);
  for (int program = 0; program < programs; ++program) {
    CAPTURE(program);
    struct Step {
      int kind, comparison, number;
    };
    std::vector<Step> steps;
    for (int k = 1 + dice.below(5); k > 0; --k) steps.push_back({dice.below(10), dice.below(6), 1 + dice.below(12)});
    const auto f = [&](const Tensor& x) {
      Tensor y = x;
      for (const Step& s : steps) {
        if (y.numel() > 20000) y = y.slice(0, 0, 10);
        const tt::Size n = y.size(0), m = y.size(1);
        const bool taken = s.comparison == 0 ? n > s.number : s.comparison == 1 ? n * m < 10 * s.number : s.comparison == 2 ? n % 3 == 1
                         : s.comparison == 3 ? n == m : s.comparison == 4 ? n / 2 >= m : n + m != s.number;
        switch (s.kind) {
          case 0: y = taken ? tt::cat({y, y + 1}, 0) : y * 2; break;
          case 1: y = n > s.number ? y.slice(0, s.number, n) : y - 1; break;
          case 2: y = tt::pad(y, {s.number, 0, 0, taken ? n : tt::Size(1)}); break;
          case 3: y = y.reshape({n * m}).reshape({m, n}); break;
          case 4: y = n > 3 ? y.unfold(0, 2, 1 + s.number % 3).sum(2) : y; break;
          case 5: y = y + tt::arange(m) * n; break;
          case 6: y = y * (taken ? n : m) / (n + 1); break;
          case 7: y = y.slice(0, 0, INT64_MAX, 1 + s.number % 2); break;
          case 8: y = y - y.mean(0, true) + tt::full({n, 1}, 0.5); break;
          default: y = tt::matmul(y, tt::ones({m, 1 + s.number})) * 0.25; break;
        }
      }
      return y;
    };
    auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
    for (int call = 0; call < 6; ++call) {
      const Tensor x = numbered(1 + dice.below(30), 1 + dice.below(6));
      CAPTURE(std::int64_t{x.size(0)});
      CAPTURE(std::int64_t{x.size(1)});
      REQUIRE(same_bits(compiled(x), f(x)));
    }
  }
}

TEST_CASE("random programs that branch on sizes agree with eager") {
  const char* const more = std::getenv("TT_FUZZ_COUNT");
  const int programs = more ? std::atoi(more) : 300;
  fuzz::Random dice(20);
  int branches = 0;
  for (int program = 0; program < programs; ++program) {
    CAPTURE(program);
    struct Step {
      int kind, axis, comparison;
      std::int64_t number;
    };
    std::vector<Step> steps;
    for (int k = 1 + dice.below(5); k > 0; --k) steps.push_back({dice.below(8), dice.below(2), dice.below(4), 1 + dice.below(40)});
    const auto f = [&](const Tensor& x) {
      Tensor y = x;
      for (const Step& s : steps) {
        const std::int64_t n = s.axis ? y.numel() : y.size(0);
        const bool taken = s.comparison == 0 ? n > s.number : s.comparison == 1 ? n == s.number : s.comparison == 2 ? n % (s.number + 1) == 1 : n < s.number;
        switch (s.kind) {
          case 0: y = taken ? y + 1 : y * 2; break;
          case 1: y = taken ? tt::cat({y, y}, 0) : y - 1; break;
          case 2: y = taken && y.size(0) > 2 ? y.slice(0, 1, y.size(0)) : y; break;
          case 3: y = taken ? y.sum(0, true) + y : y; break;
          case 4: y = taken ? y.t().contiguous().t() * 3 : y; break;
          case 6: y = y.numel() % (1 + s.number % 4) == 0 ? y.reshape({-1, 1 + s.number % 4}) : y; break;
          case 7: y = y.size(0) % 2 == 0 ? y.reshape({-1, 2, y.size(1)}).sum(1) : y + y.size(0) / 2; break;
          default: y = y * static_cast<double>(taken ? n : 1); break;
        }
        ++branches;
      }
      return y;
    };
    auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
    for (int call = 0; call < 6; ++call) {
      const Tensor x = numbered(2 + dice.below(30), 1 + dice.below(3));
      CHECK(same_bits(compiled(x), f(x)));
    }
  }
  CHECK(branches > 3 * programs);
}

TEST_CASE("a size stands where C++ expects an integer") {
  agrees([](const Tensor& x) { return x * static_cast<double>(std::min<std::int64_t>(x.size(0), 6)); }, {4, 7, 4, 9});
  agrees([](const Tensor& x) { return x * std::max(2, static_cast<int>(x.size(0))); }, {4, 1, 9});
  agrees([](const Tensor& x) { return x + static_cast<double>(std::vector<float>(static_cast<std::size_t>(x.size(0)), 0.5f).size()); }, {4, 7, 4});
  agrees([](const Tensor& x) {
    switch (x.size(0)) {
      case 4: return x + 4;
      case 7: return x * 7;
      default: return x - x.size(1);
    }
  }, {4, 7, 9, 4, 11});
  agrees([](const Tensor& x) {
    std::ostringstream text;
    text << x.size(0) << 'x' << x.size(1);
    return x + static_cast<double>(text.str().size());
  }, {4, 70, 4, 9});
  agrees([](const Tensor& x) {
    const double weights[]{1, 2, 4, 8, 16, 32, 64, 128};
    return x * weights[x.size(0) % 8];
  }, {4, 7, 4, 9});
  agrees([](const Tensor& x) {
    const std::int64_t n = x.size(0);
    std::string name = "rows" + std::to_string(n);
    return x + static_cast<double>(name.size());
  }, {4, 70, 4});
}

TEST_CASE("a size as a number is looked at, however it is asked for") {
  agrees([](const Tensor& x) { return x * static_cast<double>(x.size(0).value()); }, {4, 7, 4, 9});
  agrees([](const Tensor& x) { return x * static_cast<double>(x.shape().value(0)); }, {4, 7, 4, 9});
  agrees([](const Tensor& x) { return x + tt::eye(x.size(0)).sum(); }, {4, 7, 4, 9});
  agrees([](const Tensor& x) { return tt::cov(x.reshape({1, -1})) + x; }, {4, 7, 4, 9});
}
