// tt::compile: the bits of eager ops, what is guarded, how often is captured, and what is refused.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

Tensor uniform(const tt::IntList& shape, int seed, DType d = DType::f32) {
  return tt::rand(shape, seed, {.dtype = d}) * 2 - 1;
}
std::string text(const tt::Text& t) { return t; }

/// Compiled and eager, on clones, must give and leave the same bits.
template <class F, class... A>
void check_same(const char* name, const F& f, const A&... a) {
  CAPTURE(std::string(name));
  const auto compiled = tt::compile(f);
  for (int round = 0; round < 2; ++round) {
    const auto copy = [](const auto& x) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>) return x.clone();
      else return x;
    };
    std::tuple eager_arguments{copy(a)...}, arguments{copy(a)...};
    auto expected = std::apply(f, eager_arguments);
    auto got = std::apply(compiled, arguments);
    std::vector<Tensor> one, other;
    const auto collect = [](auto& x, std::vector<Tensor>& to) { tt::jit::each_leaf(x, [&](Tensor& t) { to.push_back(t); }); };
    collect(expected, one);
    collect(got, other);
    collect(eager_arguments, one);
    collect(arguments, other);
    REQUIRE(one.size() == other.size());
    bool same = true;
    for (std::size_t k = 0; k < one.size(); ++k) same = same && same_bits(one[k], other[k]);
    CHECK(same);
  }
  CHECK(compiled.captures() == 1);
}

template <class Kind>
struct Net {
  tt::leaf<Kind, float, 4, 3> w;
  tt::leaf<Kind, float, 3> b;
};
struct Both {
  Tensor sum, product;
};

}  // namespace

// ---- the bits of eager

TEST_CASE("extremes with a NaN that arithmetic made have one text of bits on every path") {
  constexpr int rows = 5, columns = 300;
  volatile float zero = 0;
  tt::Array<float, rows, columns> values;
  for (int k = 0; k < rows * columns; ++k) values.data()[k] = static_cast<float>(k % 97) - 40;
  for (int at : {3, 1 * columns + 130, 2 * columns + 299, 4 * columns + 64}) values.data()[at] = zero / zero;
  const Tensor x = tt::as_tensor(values);
  const auto along_rows = [](const auto& v) { return tt::amax(v, 1); };
  const auto down_columns = [](const auto& v) { return tt::amin(v, 0); };
  const auto check = [&](const auto& f) {
    const Tensor eager = f(x);
    auto of_program = tt::fuse(f)(values);
    CHECK(same_bits(tt::as_tensor(of_program), eager));
    for (int tier : {0, 1}) CHECK(same_bits(tt::compile(f, {.tier = tier, .wait = true})(x), eager));
  };
  check(along_rows);
  check(down_columns);
}

TEST_CASE("a compiled function has the bits of eager, at every size") {
  for (std::int64_t n : {0, 1, 2, 17, 1000}) {
    CAPTURE(n);
    const Tensor x = uniform({n, 5}, 1), y = uniform({n, 5}, 2), row = uniform({5}, 3), column = uniform({n, 1}, 4);
    const Tensor w = uniform({5, 3}, 5), bias = uniform({3}, 6), labels = tt::zeros({n}, {.dtype = DType::i64});
    check_same("elementwise", [](Tensor a, Tensor b) { return tt::tanh(a * b + 1.5) / (tt::exp(-a) + 2) - b; }, x, y);
    check_same("broadcast", [](Tensor a, Tensor b, Tensor c) { return tt::where(a > b, a * c, b - c); }, x, row, column);
    check_same("integers", [](Tensor a) { return (a + 1) * 2; }, labels);
    check_same("casts", [](Tensor a) { return (a * 100).to(DType::i32).to(DType::f64) * 0.1; }, x);
    check_same("reductions", [](Tensor a) { return a.sum(1, true) + a.mean(0) * tt::sum(a, -1, true); }, x);
    check_same("softmax", [](Tensor a) { return tt::softmax(a, 1) + tt::log_softmax(a, -1); }, x);
    check_same("matmul", [](Tensor a, Tensor b, Tensor c) { return tt::relu(tt::matmul(a, b) + c) * 0.5; }, x, w, bias);
    check_same("operators", [](Tensor a, Tensor b) { return ((a <= b) || !(a != b)).to(DType::f32) - (-a).relu().sqrt(); }, x, y);
    check_same("methods", [](Tensor a) { return a.exp().log().abs().sin().cos().sigmoid().square().tanh(); }, x);
    check_same("views", [](Tensor a) { return a.t().unsqueeze(0).transpose(1, 2).squeeze(0) * 2; }, x);
    check_same("expand", [](Tensor a, Tensor b) { return b.unsqueeze(0).expand(a.shape()) * a; }, x, row);
    check_same("reshape", [](Tensor a) { return a.reshape({-1}) * 2; }, x);
    check_same("flatten", [](Tensor a) { return a.flatten() + 1; }, x);
    if (n == 0) continue;  // what is the largest of none?
    check_same("largest", [](Tensor a) { return a.amax(0) - a.amin(0); }, x);
    check_same("losses", [](Tensor a, Tensor l) { return tt::cross_entropy(a, l) + tt::mse_loss(a, a * 2); }, x, labels);
    check_same("value_and_grad", [](Tensor a, Tensor b, Tensor c) {
      const auto loss = [](auto input, auto weight, auto shift) { return tt::mean(tt::square(tt::tanh(tt::matmul(input, weight) + shift))); };
      auto [value, grads] = tt::value_and_grad<1, 2>(loss)(a, b, c);
      return std::tuple{value, std::get<0>(grads), std::get<1>(grads)};
    }, x, w, bias);
    // Derivatives of derivatives are the same sums in another order.
    const auto twice = [](Tensor a) {
      return tt::grad([](auto b) { return tt::sum(tt::grad([](auto c) { return tt::sum(c * c * c); })(b) * b); })(a);
    };
    CHECK(tt::amax((tt::compile(twice)(x) - twice(x)).abs().flatten(), 0).item() < 1e-5);
  }
}

TEST_CASE("a function of any length runs, in kernels of bounded size") {
  const Tensor x = uniform({7, 30}, 1), w = uniform({30, 30}, 2), column = uniform({7, 1}, 3);
  const auto chain = [](Tensor y, const Tensor& other, int n) {
    for (int i = 0; i < n; ++i) y = i % 3 == 0 ? y + other : i % 3 == 1 ? y * 0.5 : y - 0.25;
    return y;
  };
  const auto check = [&](const auto& f, int n, int least, int most) {
    const Tensor expected = f(x, w, column, n);
    for (const int tier : {0, 1}) {
      if (tier == 1 && n > 2000) continue;
      const auto compiled = tt::compile(f, {.tier = tier, .wait = true});
      CHECK(same_bits(compiled(x, w, column, n), expected));
      CHECK(compiled.kernels() >= least);
      CHECK(compiled.kernels() <= most);
      CHECK(compiled.calls().tier1 == tier);
    }
  };
  static constexpr auto f = chain;
  check([](const Tensor& a, const Tensor&, const Tensor&, int n) { return f(a, a, n); }, 400, 1, 1);
  check([](const Tensor& a, const Tensor&, const Tensor&, int n) { return f(a, a, n); }, 1500, 3, 4);
  check([](const Tensor& a, const Tensor&, const Tensor&, int n) { return f(a, a, n); }, 40'000, 40, 80);
  check([](const Tensor& a, const Tensor&, const Tensor& b, int n) { return f(tt::softmax(f(a, b, n), 1), b, n); }, 600, 3, 6);
  check([](const Tensor& a, const Tensor& b, const Tensor&, int n) { return f(tt::matmul(f(a, a, n), b), a, n).sum(0); }, 600, 3, 6);
  check([](const Tensor& a, const Tensor&, const Tensor& b, int n) { return (f(a, b, n) * f(b, b, n)).sum(1); }, 600, 2, 6);
  check([](const Tensor& a, const Tensor&, const Tensor&, int n) {
    Tensor y = a;
    for (int i = 0; i < n; ++i) y = tt::tanh(y) + 0.5;
    return y;
  }, 150, 2, 4);
  check([](const Tensor& a, const Tensor&, const Tensor&, int n) {
    Tensor y = a > 0, z = a;
    for (int i = 0; i < n; ++i) y = (y == (a > i * 0.001)), z = tt::where(y, z + 1, z * 0.5);
    return z;
  }, 3000, 15, 60);
}

TEST_CASE("names and folders given as std::string are kept") {
  const auto make = [](int k) {
    const std::string name = "a name made at run time " + std::to_string(k), folder = "no absolute path, and long: " + std::string(40, 'x');
    return tt::compile([](const Tensor& x) { return x + 1; }, {.name = name, .cache_dir = folder, .backend = std::string("default")});
  };
  const auto f = make(1), g = make(2);
  const std::string other(60, 'y');
  CHECK(numbers(f(tt::ones({2}))) == Numbers{2, 2});
  CHECK(contains(text(f.explain()), "a name made at run time 1: 1 capture"));
  CHECK(contains(message([&] { (void)g.graph(); }), "a name made at run time 2: nothing was captured"));
  CHECK(contains(message([&] { (void)tt::compile([](const Tensor& x) { return x; }, {.backend = other}); }), "'" + other + "'"));
  const auto unnamed = tt::compile([](const Tensor& x) { return x + 1; }, {.name = nullptr, .cache_dir = nullptr, .backend = nullptr});
  CHECK(numbers(unnamed(tt::ones({1}))) == Numbers{2});
  CHECK(contains(text(unnamed.explain()), "compiled: 1 capture"));
  Tensor loss;  // nodes of the tape have the name too
  {
    const auto taped = tt::compile([](const Tensor& x) { return (x * x).sum(); }, {.name = std::string("gone before backward, and long")});
    loss = taped(tt::ones({3}, {.requires_grad = true}));
  }
  loss.backward();
}

TEST_CASE("what was moved from can be called") {
  auto f = tt::compile([](const Tensor& x) { return x * 2; });
  const auto g = std::move(f);
  CHECK(numbers(g(tt::ones({2}))) == Numbers{2, 2});
  CHECK(numbers(f(tt::ones({2}))) == Numbers{2, 2});
  CHECK(f.captures() == 1);
  auto h = tt::compile([](const Tensor& x) { return x * 2; });
  std::vector<decltype(h)> list;
  list.push_back(std::move(h));
  CHECK(numbers(h(tt::ones({1}))) == Numbers{2});
  auto only_moved = tt::compile(tt::frozen([by = std::make_unique<double>(3)](const Tensor& x) { return x * *by; }));
  const auto moved = std::move(only_moved);
  CHECK(numbers(moved(tt::ones({1}))) == Numbers{3});
  CHECK(numbers(only_moved(tt::ones({1}))) == Numbers{3});
}

TEST_CASE("parameters are updated in place") {
  const Tensor w = uniform({5}, 1), x = uniform({5}, 2);
  check_same("+= and the like", [](Tensor& a, Tensor b) {
    a += b;
    a *= 2.0;
    a.sub_(b).div_(3.0);
    return a * b;
  }, w, x);
  check_same("by value", [](Tensor a, Tensor b) {
    a.add_(b);
    return a.sum();
  }, w, x);
  check_same("fill_, copy_", [](Tensor& a, Tensor& b) {
    b.copy_(a * 2);
    a.fill_(3);
    return b + a;
  }, w, x);
  check_same("swapped", [](Tensor& a, Tensor& b) {
    const Tensor old = a * 1;
    a.copy_(b);
    b.copy_(old);
    return a - b;
  }, w, x);
  // What is assigned to a reference is written there.
  const auto assign = tt::compile([](Tensor& a, const Tensor& b) { a = a - 0.1 * b; });
  Tensor p = w.clone();
  const Tensor handle = p;
  assign(p, x);
  CHECK(p.is_same(handle));
  CHECK(same_bits(p, w - 0.1 * x));
  CHECK(p.version() == 1);
  const auto constant = tt::compile([](Tensor a) {
    a += 1;
    return a * 1;
  });
  const Tensor c = tt::zeros({2});
  constant(c);  // a handle that is const still leads to the elements, as in eager
  CHECK(numbers(c) == Numbers{1, 1});
}

TEST_CASE("a training step with a parameter struct") {
  const auto loss = [](const auto& net, auto x, auto y) { return tt::mse_loss(tt::tanh(tt::matmul(x, net.w) + net.b), y); };
  const auto step = [](Net<tt::tensors>& net, const Tensor& x, const Tensor& y) {
    const auto inner = [](const auto& n, auto a, auto b) { return tt::mse_loss(tt::tanh(tt::matmul(a, n.w) + n.b), b); };
    auto [value, g] = tt::value_and_grad(inner)(net, x, y);
    net.w = net.w - 0.1 * g.w;
    net.b = net.b - 0.1 * g.b;
    return value;
  };
  Net<tt::tensors> eager{uniform({4, 3}, 1), uniform({3}, 2)}, net{eager.w.clone(), eager.b.clone()};
  const auto compiled = tt::compile(step);
  const Tensor x = uniform({8, 4}, 3), y = uniform({8, 3}, 4);
  for (int k = 0; k < 5; ++k) CHECK(same_bits(step(eager, x, y), compiled(net, x, y)));
  CHECK(same_bits(eager.w, net.w));
  CHECK(same_bits(eager.b, net.b));
  CHECK(compiled.captures() == 1);
  CHECK(loss(net, x, y).item() < 1);
}

TEST_CASE("results are Tensors, numbers, tuples, structs and lists") {
  const Tensor x = uniform({3}, 1);
  CHECK(same_bits(std::get<1>(tt::compile([](Tensor a) { return std::tuple{a * 2, a + 1}; })(x)), x + 1));
  CHECK(same_bits(tt::compile([](Tensor a) { return std::pair{a * 2, a + 1}; })(x).first, x * 2));
  CHECK(same_bits(tt::compile([](Tensor a) { return std::array<Tensor, 2>{a * 2, a + 1}; })(x)[1], x + 1));
  const auto list = tt::compile([](Tensor a) { return std::vector<Tensor>{a, a * 2, a * 3}; });
  REQUIRE(list(x).size() == 3);
  CHECK(same_bits(list(x)[2], x * 3));
  CHECK(same_bits(list(x)[0], x));
  const auto [y, number] = tt::compile([](Tensor a) { return std::pair{a * 2, 7}; })(x);
  CHECK(number == 7);
  const auto lists = tt::compile([](const std::vector<Tensor>& v) { return v[0] + v[1]; });
  CHECK(same_bits(lists(std::vector<Tensor>{x, x * 2}), x + x * 2));
  CHECK(same_bits(tt::compile([](Tensor a) { return tt::zeros({3}) + a * 0; })(x), tt::zeros({3}) + x * 0));
  CHECK(numbers(tt::compile([](Tensor) { return tt::ones({2}); })(x)) == Numbers{1, 1});
}

// ---- guards

TEST_CASE("32 batch sizes are one capture, or two where 1 is among them") {
  const auto f = tt::compile([](Tensor x, Tensor w) { return tt::softmax(tt::matmul(x, w), 1).sum(0); });
  const Tensor w = uniform({7, 5}, 1);
  for (std::int64_t n = 10; n < 42; ++n) {
    const Tensor x = uniform({n, 7}, static_cast<int>(n));
    CHECK(same_bits(f(x, w), tt::softmax(tt::matmul(x, w), 1).sum(0)));
  }
  CHECK(f.captures() == 1);
  f(uniform({1, 7}, 1), w);
  CHECK(f.captures() == 2);
  f(uniform({7, 7}, 1), w);  // equal to another size: what is for different ones does
  CHECK(f.captures() == 2);
  CHECK(contains(text(f.explain()), "(equal sizes share a symbol; 0 and 1 are themselves)"));
  CHECK(text(tt::explain(f)) == text(f.explain()));
}

TEST_CASE("what is guarded") {
  const auto f = tt::compile([](Tensor x, Tensor y, double scale) { return x * scale + y; }, {.name = "scaled"});
  const Tensor x = uniform({4, 4}, 1), y = uniform({4, 4}, 2);
  int expected = 0;
  const auto check = [&](const char* what, const Tensor& a, const Tensor& b, double scale, bool again) {
    CAPTURE(std::string(what));
    expected += again ? 1 : 0;
    CHECK(same_bits(f(a, b, scale), a * scale + b));
    CHECK(f.captures() == expected);
  };
  check("first", x, y, 2, true);
  check("the same", x * 2, y, 2, false);
  check("a number", x, y, 3, true);
  check("the first number", x, y, 2, false);
  check("dtype", x.to(DType::f64), y, 3, true);
  check("rank", x[0], y, 2, true);
  check("strides", x.t(), y, 2, true);
  check("one Tensor twice", x, x, 2, true);
  check("one Tensor twice, another", y, y, 2, false);
  const Tensor half = uniform({8, 4}, 3);
  check("parts of one Tensor", half.slice(0, 0, 4), half.slice(0, 4, 8), 2, false);
  check("overlapping", half.slice(0, 0, 4), half.slice(0, 2, 6), 2, true);
  Tensor leaf = x.clone();
  leaf.requires_grad_();
  check("requires_grad", leaf, y, 2, true);
  {
    const tt::NoGrad off;
    check("no_grad", leaf, y, 2, true);
    check("no_grad again", x, y, 2, true);
  }
  check("the first again", x, y, 2, false);
  CHECK(contains(text(f.explain()), "scaled: 10 captures"));
  CHECK(contains(text(f.explain()), "argument 0 is f64, was f32"));

  const auto g = tt::compile([](Tensor a, auto n) { return a * n; });
  CHECK(g(x, 2).dtype() == DType::f32);
  CHECK(g(tt::arange(3), 2).dtype() == DType::i64);
  CHECK(g(tt::arange(3), 2.0).dtype() == DType::f32);  // the same value of another type
  const auto h = tt::compile([](Tensor a, const std::vector<double>& n) { return a * n[0] + n.size(); });
  CHECK(numbers(h(tt::ones({1}), std::vector<double>{2})) == Numbers{3});
  CHECK(numbers(h(tt::ones({1}), std::vector<double>{5})) == Numbers{6});
  CHECK(numbers(h(tt::ones({1}), std::vector<double>{5, 6})) == Numbers{7});
}

TEST_CASE("functions that need sizes as numbers are captured for each, and say why") {
  const auto slices = tt::compile([](Tensor x) { return x.slice(0, 0, x.size(0) / 2) * 2; }, {.name = "slices"});
  const auto last = tt::compile([](Tensor x) { return x[-1] * 2; });
  const auto odd = tt::compile([](Tensor x) { return x.slice(0, 1, x.size(0)).reshape({x.size(0) / 3, 3}).sum(1); });
  for (std::int64_t n : {4, 6, 8, 4}) {
    const Tensor x = uniform({n}, 1);
    CHECK(same_bits(slices(x), x.slice(0, 0, n / 2) * 2));
    CHECK(same_bits(last(x), x[-1] * 2));
    const Tensor y = uniform({3 * n + 1}, 1);
    CHECK(same_bits(odd(y), y.slice(0, 1, 3 * n + 1).reshape({n, 3}).sum(1)));
  }
  CHECK(slices.captures() == 1);
  CHECK(last.captures() == 1);
  CHECK(odd.captures() == 3);
  const std::string why = odd.explain();
  CHECK(contains(why, "sizes are needed as numbers by "));
  CHECK(contains(why, "test_compile.cpp:"));
}

TEST_CASE("a size used as a number is never taken for granted") {
  const auto average = tt::compile([](Tensor x) { return x.sum() * (1.0 / static_cast<double>(x.size(0))); });
  const auto branch = tt::compile([](Tensor x) { return x.size(0) == 4 ? x * 2 : x * 3; });
  const auto loop = tt::compile([](Tensor x) {
    Tensor y = x;
    for (std::int64_t k = 0; k < x.numel(); ++k) y = y + 1;
    return y;
  });
  for (std::int64_t n : {4, 8, 5, 4}) {
    const Tensor x = tt::ones({n});
    CHECK(average(x).item() == doctest::Approx(1));
    CHECK(numbers(branch(x))[0] == (n == 4 ? 2 : 3));
    CHECK(numbers(loop(x))[0] == static_cast<double>(1 + n));
  }
  CHECK(contains(text(average.explain()), "sizes are needed as numbers by the function itself"));
}

// ---- with the tape

TEST_CASE("a compiled function is part of a tape, of any order") {
  const auto f = tt::compile([](Tensor x, Tensor w) { return tt::tanh(x * w) + tt::softmax(x, 0) * w; });
  Tensor x = uniform({4}, 1, DType::f64).requires_grad_(), w = uniform({4}, 2, DType::f64).requires_grad_();
  const auto on_list = [&](const std::vector<Tensor>& v) { return f(v[0], v[1]); };
  CHECK(message([&] { tt::gradcheck(on_list, {x, w}); }) == "no error");
  CHECK(message([&] { tt::gradgradcheck(on_list, {x, w}); }) == "no error");
  f(x * 1, w).sum().backward();
  const Tensor by_compiled = x.grad();
  x.zero_grad();
  (tt::tanh(x * 1 * w) + tt::softmax(x * 1, 0) * w).sum().backward();
  for (std::size_t k = 0; k < 4; ++k) CHECK(numbers(by_compiled)[k] == doctest::Approx(numbers(x.grad())[k]));
}

TEST_CASE("only what a gradient flows through is on the tape") {
  const auto f = tt::compile([](Tensor x, Tensor& count, Tensor y) {
    count += 1;
    return std::tuple{x * 2, y * 2, x.detach() * 3, x > 0};
  });
  const Tensor x = uniform({3}, 1).requires_grad_();
  Tensor count = tt::zeros({1});
  for (int k = 0; k < 3; ++k) {
    const auto [a, b, c, d] = f(x, count, tt::ones({3}));
    CHECK(a.requires_grad());
    CHECK(!b.requires_grad());
    CHECK(!c.requires_grad());
    CHECK(!count.requires_grad());
  }
  CHECK(f.captures() == 1);
  CHECK(count.item() == 3);
  const auto quiet = tt::compile([](Tensor v) {
    Tensor mean;
    {
      const tt::NoGrad off;
      mean = v.mean();
    }
    return ((v - mean) * v).sum();
  });
  Tensor v = uniform({3}, 1, DType::f64).requires_grad_();
  quiet(v).backward();
  const Tensor expected = 2 * v.detach() - v.detach().mean();
  for (std::size_t k = 0; k < 3; ++k) CHECK(numbers(v.grad())[k] == doctest::Approx(numbers(expected)[k]));
  {
    const tt::NoGrad off;  // gradients inside of the function do not depend on it
    const auto inside = tt::compile([](Tensor a) { return tt::grad([](auto b) { return tt::sum(b * b); })(a); });
    CHECK(same_bits(inside(v.detach()), v.detach() * 2));
  }
}

TEST_CASE("a tape outlives the compiled function") {
  const Tensor x = uniform({3}, 1).requires_grad_();
  Tensor y;
  {
    const auto f = tt::compile([](Tensor a) { return a * a * a; });
    y = f(x);
  }
  const Tensor d = tt::grad({y.sum()}, {x}, {}, true, true)[0];
  y = Tensor();
  CHECK(tt::grad({d.sum()}, {x})[0].defined());
}

namespace {
const auto inner = tt::compile([](Tensor x) { return tt::exp(x) * 2; });
}

TEST_CASE("a compiled function inside another is part of it") {
  const auto outer = tt::compile([](Tensor x) { return inner(x * 2) + inner(x); });
  const Tensor x = uniform({5}, 1);
  CHECK(same_bits(outer(x), tt::exp(x * 2) * 2 + tt::exp(x) * 2));
  CHECK(outer.kernels() == 1);
  CHECK(inner.captures() == 0);
  inner(x);
  CHECK(inner.captures() == 1);
}

// ---- memory that is shared

TEST_CASE("arguments that are parts of one Tensor, without elements in common") {
  const auto step = [](std::vector<Tensor>& w, const std::vector<Tensor>& g) {
    for (std::size_t k = 0; k < w.size(); ++k) w[k] -= g[k] * 0.5;
  };
  const auto parts = [](const Tensor& all) { return std::vector<Tensor>{all.slice(0, 0, 2), all.slice(0, 2, 6).view({2, 2}), all.slice(0, 6, 7)}; };
  const auto compiled = tt::compile(step);
  for (const std::int64_t more : {0, 3}) {
    Tensor w = tt::arange(7 + more).to(DType::f32), own = w.clone(), g = tt::ones({7});
    auto of_w = parts(w), of_own = parts(own);
    compiled(of_w, parts(g));
    step(of_own, parts(g));
    CHECK(same_bits(w, own));
  }
  CHECK(compiled.captures() == 1);
  CHECK_FALSE(contains(text(compiled.explain()), "graph breaks"));
  Tensor w = tt::arange(7).to(DType::f32), own = w.clone();
  auto meet = std::vector<Tensor>{w.slice(0, 0, 4), w.slice(0, 2, 6)}, of_own = std::vector<Tensor>{own.slice(0, 0, 4), own.slice(0, 2, 6)};
  const std::vector<Tensor> g{tt::ones({4}), tt::ones({4})};
  compiled(meet, g);
  step(of_own, g);
  CHECK(same_bits(w, own));
  const auto swap = [](Tensor& a, Tensor& b) {
    const Tensor old = a.clone();
    a.copy_(b);
    b.copy_(old);
  };
  Tensor rows = tt::arange(6).to(DType::f32).reshape({2, 3}), top = rows[0], bottom = rows[1];
  tt::compile(swap)(top, bottom);
  CHECK(numbers(rows) == Numbers{3, 4, 5, 0, 1, 2});
}

TEST_CASE("results that share memory do so compiled") {
  const auto f = [](const Tensor& x) {
    const Tensor h = x * 2;
    return std::vector<Tensor>{h.t(), h, h[0], h, h.detach(), x, x.t()};
  };
  const auto no_whole = [](const Tensor& x) {
    const Tensor h = x * 2;
    return std::vector<Tensor>{h[0], h.t(), h.narrow(1, 1, 2).t()[0]};
  };
  const auto check = [](const auto& g) {
    const auto compiled = tt::compile(g);
    for (const bool on_tape : {false, true}) {
      Tensor x = uniform({2, 3}, 1), y = x.clone();
      if (on_tape) x.requires_grad_(), y.requires_grad_();
      const auto a = g(x), b = compiled(y);
      for (std::size_t k = 0; k < a.size(); ++k) {
        CHECK(same_bits(a[k].detach(), b[k].detach()));
        CHECK(a[k].impl().stride[0] == b[k].impl().stride[0]);
        CHECK(a[k].requires_grad() == b[k].requires_grad());
        for (std::size_t j = 0; j < a.size(); ++j) {
          CHECK(a[k].shares_storage(a[j]) == b[k].shares_storage(b[j]));
          CHECK(a[k].is_same(a[j]) == b[k].is_same(b[j]));
        }
      }
      if (on_tape) {
        (a[0] * a[0]).sum().backward(Tensor(), true);
        (a[1] * a[2][0] * 3).sum().backward();
        (b[0] * b[0]).sum().backward(Tensor(), true);
        (b[1] * b[2][0] * 3).sum().backward();
        CHECK(same_bits(x.grad(), y.grad()));
      } else {
        Tensor(a[0]).fill_(7);
        Tensor(b[0]).fill_(7);
        for (std::size_t k = 0; k < a.size(); ++k) CHECK(same_bits(a[k], b[k]));
      }
    }
  };
  check(f);
  check(no_whole);
  const auto defines = tt::compile([](const Tensor& x, Tensor& part) {
    const Tensor h = x * 2;
    part = h[0];
    return h;
  });
  Tensor part;
  Tensor h = defines(tt::ones({2, 2}), part);
  h.fill_(3);
  CHECK(numbers(part) == Numbers{3, 3});
}

struct Cache {
  Tensor keys, values;
};
TEST_CASE("an argument may become a Tensor of another shape or dtype: a cache that grows") {
  const auto step = [](Cache& cache, const Tensor& x) {
    const Tensor before = cache.keys;
    cache.keys = cache.keys.defined() ? tt::cat({cache.keys, x}, 0) : x * 1;
    cache.values = cache.values.defined() ? tt::cat({cache.values, x * 2}, 0) : x * 2;
    const Tensor y = (cache.keys * cache.values).sum(0);
    return before.defined() ? y + before.sum() : y;
  };
  const auto compiled = tt::compile(step);
  Cache a, b;
  for (int k = 0; k < 30; ++k) {
    const Tensor x = uniform({1, 3}, k + 1);
    CHECK(same_bits(compiled(a, x), step(b, x)));
    CHECK(same_bits(a.keys, b.keys));
    CHECK(same_bits(a.values, b.values));
  }
  CHECK(compiled.captures() == 3);  // without a cache, of one row, of any number
  const auto swaps = tt::compile([](Tensor& x, Tensor& y) {
    const Tensor z = x;
    x = y;
    y = z;
    return x.sum();
  });
  Tensor x = tt::ones({3}), y = tt::zeros({2});
  const Tensor old_x = x, old_y = y;
  CHECK(numbers(swaps(x, y)) == Numbers{0});
  CHECK(x.is_same(old_y));
  CHECK(y.is_same(old_x));
  const auto narrows = tt::compile([](Tensor& t) { t = t.to(DType::bf16)[0]; });
  const Tensor whole = y;
  narrows(y);
  CHECK(y.dtype() == DType::bf16);
  CHECK(y.dim() == 0);
  CHECK(numbers(whole) == Numbers{1, 1, 1});
  CHECK(contains(message([&] { (void)tt::trace([](Tensor& t) { t = t.sum(); return t; }, whole); }), "argument 0 becomes a Tensor of another shape or dtype: f32 (3,) became f32 (). Return it?"));
}

TEST_CASE("an argument changed in place before it becomes another Tensor") {
  const auto check = [](const auto& f) {
    const auto compiled = tt::compile(f);
    Tensor a = tt::tensor({0.0, 1.0}), b = a.clone();
    const Tensor old_a = a, old_b = b, x = tt::ones({1});
    const auto r = f(a, x), s = compiled(b, x);
    CHECK(same_bits(a, b));
    CHECK(same_bits(old_a, old_b));
    CHECK(same_bits(r, s));
    CHECK(r.is_same(old_a) == s.is_same(old_b));
    CHECK(r.shares_storage(a) == s.shares_storage(b));
  };
  check([](Tensor& w, const Tensor& x) {
    w += 1;
    w = tt::cat({w, x}, 0);
    return x;
  });
  check([](Tensor& w, const Tensor& x) {
    const Tensor o = w;
    w += 1;
    w = tt::cat({w, x}, 0);
    return o;
  });
  check([](Tensor& w, const Tensor&) {
    w += 1;
    w = w[0];
    return w;
  });
  Tensor same = tt::ones({2});  // of the shape that it had it is written in place, and is the result
  const Tensor result = tt::compile([](Tensor& w) {
    w = w + 1;
    return w;
  })(same);
  CHECK(result.is_same(same));
  CHECK(numbers(same) == Numbers{2, 2});
  const auto twice = [](Tensor& a, Tensor& b) {
    b += 1;
    a = tt::cat({a, b}, 0);
  };
  Tensor p = tt::zeros({2}), q = tt::zeros({2});
  Tensor p_other = p, q_other = q;
  twice(p, p_other);
  tt::compile(twice)(q, q_other);
  CHECK(same_bits(p, q));
  CHECK(same_bits(p_other, q_other));
  const auto resets = [](Cache& c, bool looks) {
    if (looks && c.keys.sum().item() < 0) return;
    c.keys = Tensor();
    c.values = c.values * 2;
  };
  for (const bool looks : {false, true}) {
    Cache c{tt::ones({2}), tt::ones({2})};
    tt::compile(resets)(c, looks);
    CHECK_FALSE(c.keys.defined());
    CHECK(numbers(c.values) == Numbers{2, 2});
  }
}

TEST_CASE("labels that are no class are an error compiled too") {
  const auto refuses = [](const char* name, const auto& f) {
    const Tensor x = uniform({2, 3}, 1), good = tt::tensor({1, 2}), wrong = tt::tensor({1, 9});
    const auto compiled = tt::compile(f);
    CHECK(same_bits(compiled(x, good), f(x, good)));
    const std::string eager = message([&] { f(x, wrong); });
    CHECK(contains(eager, (std::string("tt::") + name + ": label 9 is none of 3 classes, 0 and on.").c_str()));
    CHECK(message([&] { compiled(x, wrong); }) == eager);
  };
  refuses("cross_entropy", [](const Tensor& x, const Tensor& y) { return tt::cross_entropy(x, y); });
  refuses("nll_loss", [](const Tensor& x, const Tensor& y) { return tt::nll_loss(x, y); });
  refuses("multi_margin_loss", [](const Tensor& x, const Tensor& y) { return tt::multi_margin_loss(x, y); });
  refuses("one_hot", [](const Tensor& x, const Tensor& y) { return tt::one_hot(y, 3) + x; });
  refuses("cross_entropy", [](const Tensor& x, const Tensor& y) { return tt::vmap([](const Tensor& row, const Tensor& label) { return tt::cross_entropy(row, label); })(x, y); });
  const auto ignores = tt::compile([](const Tensor& x, const Tensor& y) { return tt::cross_entropy(x, y, Tensor(), 9); });
  CHECK(same_bits(ignores(uniform({2, 3}, 1), tt::tensor({1, 9})), tt::cross_entropy(uniform({2, 3}, 1), tt::tensor({1, 9}), Tensor(), 9)));
  // Labels that do not lie dense, as a column of a table.
  const auto loss = tt::compile([](const Tensor& x, const Tensor& y) { return tt::cross_entropy(x, y); });
  const Tensor column = tt::tensor({2, 9, 0, 9, 1, 9}).reshape({3, 2}).select(1, 0), image = tt::tensor({2, 0, 1, 0, 1, 2}).reshape({1, 3, 2}).transpose(1, 2);
  for (int k = 0; k < 3; ++k) CHECK(same_bits(loss(uniform({3, 3}, k), column), tt::cross_entropy(uniform({3, 3}, k), column)));
  CHECK(same_bits(loss(uniform({1, 3, 2, 3}, 1), image), tt::cross_entropy(uniform({1, 3, 2, 3}, 1), image)));
}

TEST_CASE("arguments that share memory") {
  const auto both = [](Tensor& a, Tensor b) {
    a += 1;
    return a + b;
  };
  const auto compiled = tt::compile(both, {.name = "both"});
  Tensor x = tt::ones({3}), y = tt::ones({3});
  CHECK(same_bits(compiled(x, x), both(y, y)));  // twice the same Tensor
  CHECK(same_bits(x, y));
  CHECK(numbers(x) == Numbers{2, 2, 2});
  Tensor view = x.view({3});
  CHECK(numbers(compiled(view, x)) == Numbers{6, 6, 6});  // the same elements
  Tensor whole = tt::ones({4});
  Tensor front = whole.slice(0, 0, 3);
  CHECK(numbers(compiled(front, whole.slice(0, 1, 4))) == Numbers{4, 4, 3});  // some elements: b is read behind the change
  CHECK(numbers(whole) == Numbers{2, 2, 2, 1});
  whole.fill_(1);
  const auto assigns = tt::compile([](Tensor& a, Tensor b) { a = a * 2 + b; }, {.name = "assigns"});
  CHECK(contains(message([&] { assigns(front, whole.slice(0, 1, 4)); }),
                 "tt::compile: assigns: argument 0 is changed, and shares memory with another one. Pass a copy of one of them?"));
  CHECK(numbers(whole) == Numbers{1, 1, 1, 1});
  const auto read = tt::compile([](Tensor a, Tensor b) { return a + b; });
  CHECK(numbers(read(front, whole.slice(0, 1, 4))) == Numbers{2, 2, 2});
  Tensor matrix = tt::zeros({2, 3});
  Tensor column = matrix.t();
  const auto add = tt::compile([](Tensor& a, Tensor b) { a += b; });
  add(column, tt::tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}));  // strided
  CHECK(numbers(matrix) == Numbers{1, 3, 5, 2, 4, 6});
  Tensor repeated = tt::zeros({1}).expand({3});
  CHECK(contains(message([&] { add(repeated, tt::ones({3})); }), "several elements of the Tensor are one in memory"));
  Tensor leaf = tt::ones({3}).requires_grad_();
  CHECK(contains(message([&] { add(leaf, tt::ones({3})); }), "a leaf that requires a gradient was changed in place"));
  CHECK(numbers(leaf) == Numbers{1, 1, 1});
  {
    const tt::NoGrad off;
    add(leaf, tt::ones({3}));
  }
  CHECK(numbers(leaf) == Numbers{2, 2, 2});
}

// ---- what is refused

namespace {
Tensor global = tt::tensor({1.0, 2.0}), filled = tt::zeros({2});
Tensor kept;
}  // namespace

TEST_CASE("a Tensor that is met but not passed is an error with the line") {
  const auto f = tt::compile([](Tensor x) { return x + global; });
  const std::string what = message([&] { f(tt::ones({2})); });
  CHECK(contains(what, "tt::compile: a Tensor was met that is not an argument: f32 (2,). Pass it as one, or let the function hold it: "
                       "tt::frozen(f)."));
  CHECK(contains(what, "test_compile.cpp:"));
  const auto g = tt::compile([](Tensor x) { return x + filled; });  // it may change
  CHECK(contains(message([&] { g(tt::ones({2})); }), "a Tensor was met that is not an argument"));
  const auto adds = tt::compile([](Tensor x) {
    Tensor t = tt::from_span<float>(std::array{1.0f, 2.0f}, {2});
    t.add_(global);
    return x * t.sum().item();
  });
  CHECK(contains(message([&] { adds(tt::ones({2})); }), "a Tensor was met that is not an argument"));
  const auto keeps = tt::compile([](Tensor x) {
    kept = x * 2;
    return x;
  });
  keeps(tt::ones({2}));
  CHECK(contains(message([] { return kept + 1; }), "tt::compile: a recorded Tensor was used after the capture had ended."));
  const auto uses = tt::compile([](Tensor x) { return x + kept; });
  CHECK(contains(message([&] { uses(tt::ones({2})); }), "tt::compile: a Tensor of another capture was used."));
  kept = Tensor();
}

TEST_CASE("Tensors without elements cannot be passed") {
  CHECK(contains(message([] { tt::compile([](Tensor x) { return x; })(tt::ones({2}, {.device = {tt::DeviceType::meta, 0}})); }),
                 "argument 0 has no elements: it is on device meta"));
}

TEST_CASE("an error that the function catches is caught when it is compiled too") {
  const auto other_sizes = [](const Tensor& x) {
    try {
      return x + tt::ones({7});
    } catch (const tt::Error&) {
      return x * 2;
    }
  };
  const auto anything = [](const Tensor& x, const Tensor& w) {
    Tensor y = x * 3;
    try {
      y = tt::matmul(x, w) + 1;
    } catch (...) {
    }
    return y;
  };
  const auto f = tt::compile(other_sizes);
  for (int n : {3, 7, 5, 3, 1}) CHECK(same_bits(f(uniform({n}, n)), other_sizes(uniform({n}, n))));
  const auto g = tt::compile(anything);
  for (int n : {3, 7, 5, 3})
    for (int k : {3, 7}) {
      const Tensor x = uniform({2, n}, n), w = uniform({k, 4}, k);
      CHECK(same_bits(g(x, w), anything(x, w)));
    }
}

TEST_CASE("a result that is an argument is that Tensor, and a view of one a view") {
  const auto same = tt::compile([](const Tensor& x) { return x; });
  const auto first = tt::compile([](const Tensor& x) { return x.slice(0, 0, 1); });
  for (int n : {4, 6}) {
    Tensor x = uniform({n, 3}, n);
    CHECK(same(x).is_same(x));
    first(x).fill_(5);
    CHECK(numbers(x[0]) == Numbers{5, 5, 5});
    CHECK(x.sum().item() != 15.0 * n);
  }
  CHECK(contains(text(same.explain()), "result 0 is argument 0"));
  CHECK(contains(text(first.explain()), "result 0 is a view of argument 0"));
  CHECK(same.kernels() == 0);

  const auto views = [](const Tensor& x, const Tensor& w) {
    return std::vector<Tensor>{x * 2, w.t().slice(1, 1, 3).unsqueeze(0), x, x.reshape({x.numel()}), w.sum(), x.detach(), w.t()[0].expand({2, -1})};
  };
  const auto compiled = tt::compile(views);
  for (int n : {4, 5, 4}) {
    const Tensor wide = uniform({3, n}, 1);
    for (const Tensor& x : {uniform({n, 3}, 2), wide.t()}) {  // a reshape of the second is a copy
      const Tensor w = uniform({n, 6}, 3);
      const std::vector<Tensor> expected = views(x, w), got = compiled(x, w);
      REQUIRE(got.size() == expected.size());
      for (std::size_t k = 0; k < got.size(); ++k) {
        CAPTURE(k);
        CHECK(same_bits(got[k], expected[k]));
        CHECK(got[k].is_same(x) == expected[k].is_same(x));
        CHECK(got[k].shares_storage(x) == expected[k].shares_storage(x));
        CHECK(got[k].shares_storage(w) == expected[k].shares_storage(w));
        for (int d = 0; d < got[k].dim(); ++d) CHECK(got[k].stride(d) == expected[k].stride(d));
      }
    }
  }

  const auto update = tt::compile([](Tensor& x) {
    x += 1;
    return std::pair(x, x.slice(0, 0, 2));
  });
  Tensor x = tt::zeros({3});
  const auto [whole, part] = update(x);
  CHECK(whole.is_same(x));
  CHECK(part.shares_storage(x));
  CHECK(numbers(part) == Numbers{1, 1});
  update(x);
  CHECK(numbers(part) == Numbers{2, 2});

  const auto replace = [](Tensor& y) {  // assigned to, which is an update in place: what was there is returned
    const Tensor before = y;
    y = y * 2;
    return std::pair(before, before.slice(0, 0, 1));
  };
  Tensor z = tt::ones({3});
  const auto [old, old_part] = tt::compile(replace)(z);
  CHECK(numbers(z) == Numbers{2, 2, 2});
  CHECK(numbers(old) == Numbers{1, 1, 1});
  CHECK(numbers(old_part) == Numbers{1});

  const Tensor held = tt::ones({2});
  const auto holding = tt::compile(tt::frozen([held](const Tensor& y) { return std::pair(held, y + held); }));
  CHECK(holding(tt::ones({2})).first.is_same(held));

  const auto both = [](const Tensor& y) { return std::pair(y.t(), (y * y).sum()); };
  const auto taped = tt::compile(both);
  const Tensor a = uniform({2, 3}, 4).requires_grad_(), b = a.detach().clone().requires_grad_();
  const auto [t, squares] = taped(a);
  const auto [et, esquares] = both(b);
  ((t * 3).sum() + squares).backward();
  ((et * 3).sum() + esquares).backward();
  CHECK(same_bits(a.grad(), b.grad()));
  CHECK(same(a).is_same(a));
}

TEST_CASE("an undefined Tensor is an argument too, and may be given a value") {
  const auto f = [](const Tensor& x, Tensor& out, const Tensor& bias, Tensor& same) {
    out = bias.defined() ? x * 2 + bias : x * 3;
    if (!same.defined()) same = x;
    return out.sum();
  };
  const auto broken = [f](const Tensor& x, Tensor& out, const Tensor& bias, Tensor& same) {
    return x.sum().item() > -1e9 ? f(x, out, bias, same) : x;
  };
  const auto check = [&](const auto& function) {
    for (int n : {3, 4, 3})
      for (const bool biased : {false, true})
        for (const bool given : {false, true}) {
          const Tensor x = uniform({n}, n), bias = biased ? uniform({n}, 7) : Tensor();
          Tensor out = given ? tt::zeros({n}) : Tensor(), expected = given ? tt::zeros({n}) : Tensor(), same, as_expected;
          CHECK(same_bits(function(x, out, bias, same), f(x, expected, bias, as_expected)));
          CHECK(same_bits(out, expected));
          CHECK(same.is_same(x));
          CHECK(as_expected.is_same(x));
        }
  };
  const auto whole = tt::compile(f);
  check(whole);
  CHECK(whole.captures() == 4);
  const auto in_segments = tt::compile(tt::frozen(broken));
  check(in_segments);
  struct Layer {
    Tensor weight, bias, output;
  };
  const auto layer = tt::compile([](Layer& l, const Tensor& x) {
    l.output = tt::matmul(x, l.weight);
    if (l.bias.defined()) l.output = l.output + l.bias;
  });
  Layer l{uniform({3, 2}, 1).requires_grad_(), {}, {}};
  layer(l, tt::ones({1, 3}));
  CHECK(l.output.requires_grad());
  l.output.sum().backward();
  CHECK(numbers(l.weight.grad()) == Numbers{1, 1, 1, 1, 1, 1});
}

TEST_CASE("a function that throws leaves everything usable") {
  const auto f = tt::compile([](Tensor& x, int how) {
    x += 1;
    if (how == 1) throw 7;
    if (how == 2) return tt::matmul(x, tt::ones({5}));
    return x * 2;
  });
  Tensor x = tt::ones({2});
  for (int round = 0; round < 3; ++round) {
    CHECK_THROWS_AS(f(x, 1), int);
    CHECK_THROWS_AS(f(x, 2), tt::Error);
    CHECK(numbers(x) == Numbers{1, 1});
    CHECK(numbers(x + 1) == Numbers{2, 2});  // eager
  }
  CHECK(numbers(f(x, 0)) == Numbers{4, 4});
  CHECK(f.captures() == 1);
}

TEST_CASE("mistakes show the sizes and the line") {
  const auto f = tt::compile([](Tensor x, Tensor y) {
    const Tensor h = x * 2;
    return h + y;  // here
  });
  const int line = __LINE__ - 2;
  const std::string what = message([&] { f(tt::ones({2, 3}), tt::ones({4})); });
  CHECK(contains(what, "(2, 3) and (4,)"));
  CHECK(contains(what, "test_compile.cpp:" + std::to_string(line)));
  const Tensor x = tt::ones({3});
  CHECK(contains(message([&] { f(Tensor(), x); }), "tt::mul: argument input is an undefined Tensor.\n  at "));
  CHECK(message([&] { f.graph(); }) == "tt::compile: compiled: nothing was captured yet. Call it first?");
}

// ---- threads, memory

TEST_CASE("calls leave no memory behind") {
  const auto f = tt::compile([](Tensor& w, Tensor x) {
    auto [value, g] = tt::value_and_grad([](auto a, auto b) { return tt::sum(tt::tanh(a * b)); })(w, x);
    w -= 0.1 * g;
    return value;
  });
  Tensor w = uniform({10}, 1);
  const Tensor x = uniform({10}, 2);
  f(w, x);
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  for (int k = 0; k < 10; ++k) f(w, x);
  CHECK(tt::cpu_memory_stats().allocated == before);
}

TEST_CASE("what factories make is part of a captured function, and what is made of it") {
  const auto same_in_one_graph = [](const char* what, auto f, std::initializer_list<tt::IntList> shapes, std::int64_t captures = 1) {
    const auto compiled = tt::compile(f, {.name = what, .fullgraph = true});
    for (const tt::IntList& shape : shapes) {
      const Tensor x = uniform(shape, 90);
      CHECK_MESSAGE(same_bits(compiled(x), f(x)), what);
    }
    CHECK_MESSAGE(compiled.captures() == captures, std::string(what));
  };
  same_in_one_graph("ones", [](const Tensor& x) { return x + tt::ones({3}); }, {{2, 3}, {5, 3}});
  same_in_one_graph("a sum begun at zeros", [](const Tensor& x) {
    Tensor sum = tt::zeros({3});
    sum += x[0];
    sum += x[1];
    return sum;
  }, {{2, 3}});
  same_in_one_graph("eye", [](const Tensor& x) { return x + 0.5 * tt::eye(x.size(0)); }, {{3, 3}, {4, 4}, {70, 70}});
  same_in_one_graph("places", [](const Tensor& x) { return x * tt::arange(x.size(1)) + tt::arange(0, 11).sum(); }, {{2, 3}, {5, 9}, {8, 100}});
  same_in_one_graph("real steps", [](const Tensor& x) {
    return x.to(DType::f64) - tt::arange(0.25, 0.8, 0.1, {.dtype = DType::f64}) * tt::arange(3.0, -3.0, -1);
  }, {{2, 6}});
  same_in_one_graph("causal mask", [](const Tensor& x) {
    const Tensor i = tt::arange(x.size(0));
    return tt::softmax(tt::where(i.reshape({-1, 1}) < i, -1e30, x), 1);
  }, {{6, 6}, {9, 9}});
  same_in_one_graph("noise", [](const Tensor& x) {
    return x + tt::rand({x.size(0), x.size(1)}, 3) * tt::randn({x.size(0), 1}, 4, {.dtype = DType::f64}).to(DType::f32);
  }, {{2, 3}, {4, 7}});
  same_in_one_graph("views", [](const Tensor& x) {
    return x * tt::arange(12).reshape({4, 3}).transpose(0, 1) + tt::full({1}, 7.0).expand({4}) + tt::eye(4)[2];
  }, {{3, 4}});
  same_in_one_graph("in place", [](const Tensor& x) {
    Tensor t = tt::arange(0, 4, 1, {.dtype = DType::f32});
    t *= x;
    t += tt::eye(4)[1];
    return t;
  }, {{4}});
  same_in_one_graph("elements in the text", [](const Tensor& x) {
    Tensor weights = tt::tensor({1.0, -2.0, 1.0}), zeros = tt::tensor({{0.0, -0.0}, {0.0, 0.0}});
    zeros += x[0][0];
    return tt::matmul(x * weights, tt::tensor({{0.25, 0.5}, {1.0, 2.0}, {-1.0, 0.125}})) * tt::tensor(3.0) + tt::tensor({7, 9}) -
           1 / (zeros[0] * 0 * tt::tensor({0.0, -0.0})) + tt::where(tt::tensor({true, false}), tt::tensor({1}), 2.0);
  }, {{4, 3}, {9, 3}});
  same_in_one_graph("like an argument", [](const Tensor& x) {
    return tt::zeros_like(x) + tt::full_like(x, 3) * x - tt::ones_like(x[0]);
  }, {{2, 3}, {4, 7}});
  same_in_one_graph("on the device of an argument", [](const Tensor& x) {
    const Tensor a = tt::arange(0, 4, 1, {.device = x.device()}), e = tt::eye(4, {.device = x.device()});
    return x + (a * e)[2] * tt::rand({4}, 1, {.device = x.device()}) - tt::tensor({1.0, 2.0, 3.0, 5.0}, {.device = x.device()}) *
           tt::zeros({1}, {.device = x.device()}) + tt::ones({4}).to(x.device());
  }, {{5, 4}, {6, 4}});
  same_in_one_graph("memory that is filled", [](const Tensor& x) {
    Tensor a = tt::empty({3}), b = tt::empty_like(x), c = tt::zeros({2}).clone();
    a.fill_(2);
    b.copy_(x * x);
    b += a;
    c.zero_();
    return b - c.sum();
  }, {{2, 3}});
  same_in_one_graph("no elements", [](const Tensor& x) { return x.sum() + (tt::arange(0) * 2).sum() + tt::zeros({0, 3}).sum() + tt::eye(0).sum(); }, {{2, 3}});
  same_in_one_graph("nothing passed is read", [](const Tensor& x) { return tt::eye(3) * 2 + tt::arange(x.size(0)); }, {{3}, {3}});
}

TEST_CASE("what a function makes can be looked at, written to and kept") {
  const auto whole = [](const char* what, auto f, const Tensor& x) {
    const auto compiled = tt::compile(f, {.name = what, .fullgraph = true});
    for (int k = 0; k < 2; ++k) CHECK_MESSAGE(same_bits(compiled(x), f(x)), what);
    CHECK_MESSAGE(same_bits(tt::trace(f, x)(x), f(x)), what);
  };
  const Tensor x = uniform({3, 4}, 96);
  whole("elements", [](const Tensor& a) {
    const double s = tt::tensor({2, 3})[1].item() + tt::arange(4).sum().item() + static_cast<double>(tt::arange(3).elements<std::int64_t>()[2]);
    return a * s + (tt::eye(4)[1] * 2).sum().item();
  }, x);
  whole("shapes of Tensors without elements", [](const Tensor& a) {
    const Tensor m = tt::eye(4, {.device = {tt::DeviceType::meta}});
    return a * static_cast<double>(tt::matmul(m, m).size(0));
  }, x);
  whole("device", [](const Tensor& a) {
    const bool host = a.device() == tt::Device{} && tt::arange(4).device() == tt::Device{} && (a * 2).device() == a.device();
    return host ? a.cpu() + tt::arange(4).to(tt::Device{}) : a * 0;
  }, x);
  whole("no rows", [](const Tensor& a) { return a + tt::arange(a.size(0)).unsqueeze(1) + tt::ones({a.size(0), 1}); }, uniform({0, 4}, 1));
  check_same("a pointer", [](const Tensor& a) {
    Tensor t = tt::arange(0, 4, 1, {.dtype = DType::f32}), u = t.slice(0, 1, 3);
    u.data_ptr<float>()[0] = 7;
    return a * t;
  }, x);
  check_same("a span", [](const Tensor& a) {
    Tensor t = tt::arange(0, 4, 1, {.dtype = DType::f32}), u = tt::zeros({4});
    for (float& v : t.elements<float>()) v = v * v;
    u.slice(0, 1, 3).elements<float>()[0] = 7;
    return a * t + u;
  }, x);
  check_same("a view", [](const Tensor& a) {
    Tensor t = tt::arange(0, 4, 1, {.dtype = DType::f32}), u = t.slice(0, 1, 3), v = tt::zeros({4}), w = v[2];
    t *= a[0];
    v += a[1];
    return a + u.sum() + w;
  }, x);
  check_same("a view changed", [](const Tensor& a) {
    Tensor t = tt::eye(4), u = t[1];
    u += 1;
    u *= a[0];
    return t * a[0];
  }, x);
  static const auto caching = [](const Tensor& a) {
    static Tensor mask;
    if (!mask.defined()) mask = tt::arange(4) * 2;
    return a * mask;
  };
  const auto compiled = tt::compile(tt::frozen(caching), {.name = "caching"});
  const Tensor first = compiled(x);
  CHECK(same_bits(compiled(x), first));
  CHECK(same_bits(caching(x), first));
}

TEST_CASE("sizes that matter are numbers, the others stay symbols") {
  const auto f = tt::compile([](const Tensor& x) { return (x.reshape({x.size(0), 2, 4}) * tt::ones({4})).sum(1) / x.size(1); }, {.name = "f"});
  for (int n : {5, 7, 11, 4}) {
    const Tensor x = uniform({n, 8}, n);
    CHECK(same_bits(f(x), (x.reshape({n, 2, 4}) * tt::ones({4})).sum(1) / 8));
  }
  CHECK(f.captures() == 1);
}

TEST_CASE("one element of an axis of any size") {
  const auto f = [](const Tensor& x) { return x[0] * x.select(1, 1).sum() + x.select(0, 1) * 3; };
  const auto compiled = tt::compile(f, {.name = "f", .fullgraph = true});
  const auto gradient = [](const auto& g, const Tensor& x) {
    const Tensor v = x.clone().requires_grad_();
    (g(v) * x[0]).sum().backward();
    return v.grad();
  };
  for (const tt::IntList& shape : {tt::IntList{2, 5}, tt::IntList{7, 3}, tt::IntList{4, 20}}) {
    const Tensor x = uniform(shape, 94);
    CHECK(same_bits(compiled(x), f(x)));
    CHECK(same_bits(gradient(compiled, x), gradient(f, x)));
  }
  CHECK(compiled.captures() == 3);  // without gradients; with them, of these sizes; of any
  const auto apart = [](const Tensor& x) { return x.slice(0, 0, x.size(0), 8).sum(0); };  // one row of two, eight of 64
  const auto rows_apart = tt::compile(apart, {.name = "apart"});
  for (int n : {2, 3, 64}) CHECK(same_bits(rows_apart(uniform({n, 3}, 97)), apart(uniform({n, 3}, 97))));
  const auto third = tt::compile([](const Tensor& x) { return x[2]; });
  for (int n : {3, 4}) CHECK(same_bits(third(uniform({n, 2}, 95)), uniform({n, 2}, 95)[2]));
  CHECK(third.captures() == 1);  // from three rows on
  CHECK(contains(message([&] { third(uniform({2, 2}, 95)); }), "out of range"));
}

TEST_CASE("gradients flow through what factories make") {
  const auto f = [](const Tensor& x) { return (x * tt::arange(1, 5) + tt::rand({4}, 8) * x * x).sum(); };
  const auto gradient = [](const auto& g) {
    const Tensor x = uniform({4}, 92).requires_grad_();
    g(x).backward();
    return x.grad();
  };
  CHECK(same_bits(gradient(tt::compile(f, {.name = "f", .fullgraph = true})), gradient(f)));

  static Tensor weights;
  const auto leaves = [](const Tensor& x) {
    weights = tt::rand({4}, 4).requires_grad_();
    Tensor ones = tt::ones({4}).requires_grad_();
    return (weights * x * ones * ones).sum();
  };
  const auto gradients = [&](const auto& g) {
    const Tensor x = uniform({4}, 93).requires_grad_();
    g(x).backward();
    return x.grad() + weights.grad() * 3;
  };
  CHECK(same_bits(gradients(tt::compile(leaves, {.name = "leaves"})), gradients(leaves)));
  weights = Tensor();
}

TEST_CASE("elements of the program's own break the graph") {
  check_same("a part filled", [](const Tensor& x) {
    Tensor z = tt::zeros({4});
    z.slice(0, 0, 2).fill_(1);
    return x + z;
  }, uniform({4}, 91));
  const auto copied = tt::compile([](const Tensor& x) { return x + tt::from_span<float>(std::array{1.0f, 2.0f, 3.0f}, {3}); }, {.name = "copied", .fullgraph = true});
  CHECK(contains(message([&] { copied(uniform({3, 3}, 90)); }),
                 "tt::compile: copied: a graph break, and fullgraph is set: a Tensor that the function makes, which is no constant: f32 (3,)."));
}

TEST_CASE("the same foreign memory twice is guarded") {
  const auto f = tt::compile([](const Tensor& a, const Tensor& b) { return a * 10 + b; });
  float p[] = {1, 2}, q[] = {3, 4};
  CHECK(numbers(f(tt::from_blob(p, {2}), tt::from_blob(p, {2}))) == Numbers{11, 22});
  CHECK(numbers(f(tt::from_blob(p, {2}), tt::from_blob(q, {2}))) == Numbers{13, 24});
  CHECK(f.captures() == 2);
}

TEST_CASE("a function that depends on whether a size is even is captured for each size") {
  const auto f = tt::compile([](const Tensor& x) { return x.size(0) % 2 ? x * 2 : x * 3; });
  CHECK(numbers(f(tt::ones({33}).slice(0, 0, 33).clone()))[0] == 2);
  CHECK(numbers(f(tt::ones({32}).clone()))[0] == 3);
}

TEST_CASE("an update of a parameter on the tape can be differentiated") {
  const auto f = tt::compile([](Tensor& h, const Tensor& w) { h = h * w; });
  const tt::MemoryStats before = tt::cpu_memory_stats();
  for (int k = 0; k < 3; ++k) {
    Tensor h = tt::tensor({2.0, 3.0}), w = tt::tensor({5.0, 7.0}).requires_grad_();
    f(h, w);
    h.sum().backward();
    CHECK(numbers(h) == Numbers{10, 21});
    CHECK(numbers(w.grad()) == Numbers{2, 3});
  }
  CHECK(tt::cpu_memory_stats().allocated - before.allocated < 4096);
}

TEST_CASE("what a pointer changes is read as it is then") {
  const Tensor x = tt::arange(1, 5, 1, {.dtype = DType::f32});
  const auto check = [&](const auto& f) {
    const auto compiled = tt::compile(f);
    const Numbers want = numbers(f(x));
    for (int k = 0; k < 2; ++k) CHECK(numbers(compiled(x)) == want);
  };
  check([](const Tensor& a) {
    Tensor u = tt::arange(0, 4, 1, {.dtype = DType::f32});
    float* p = u.data_ptr<float>();
    const Tensor v = u + 1;
    p[1] = 9;
    return a * v * u;
  });
  check([](const Tensor& a) {
    Tensor u = tt::arange(0, 4, 1, {.dtype = DType::f32});
    float* p = u.data_ptr<float>();
    Tensor b = a * u.slice(0, 0, 2).sum();
    p[1] = 9;
    b.add_(u);
    p[2] = 7;
    return b * u;
  });
  check([](const Tensor& a) {
    Tensor u = a * 2;
    const std::span<float> p = u.elements<float>();
    u.mul_(a);
    p[1] = 9;
    return a + u;
  });
}

TEST_CASE("what a held Tensor is added to at once breaks the graph") {
  static Tensor held = tt::ones({2});
  const auto f = tt::compile(tt::frozen([](const Tensor& x) {
    Tensor t = tt::zeros({2});
    t.data_ptr<float>()[0] = 1;
    t.add_(held);
    Tensor u = tt::from_span<float>(std::vector<float>(20, 1.0f), {20});
    u.copy_(held.sum());
    return x * t.sum().item() + u.sum().item();
  }));
  const Tensor x = tt::ones({2});
  for (const float value : {1.0f, 5.0f, 2.0f}) {
    held.fill_(value);
    CHECK(numbers(f(x))[0] == static_cast<double>(1 + 2 * value + 20 * 2 * value));
  }
}

TEST_CASE("a gradient that fails in a recorded function leaves nothing behind") {
  const auto body = [](const Tensor& x, const Tensor& integers) {
    try {
      (void)tt::grad([](const Tensor& t) { return t.sum(); })(integers);
    } catch (const tt::Error&) {
    }
    const tt::EnableGrad on;
    return x * 2;
  };
  const Tensor x = tt::ones({3}).requires_grad_(), integers = tt::ones({3}).to(DType::i64);
  const auto whole = tt::compile(body);
  const tt::NoGrad off;
  CHECK(body(x, integers).requires_grad());
  CHECK(whole(x, integers).requires_grad());
}

TEST_CASE("a function may tell constant arguments from others by the type of its result") {
  const auto f = tt::compile([](auto& x) {
    if constexpr (std::is_const_v<std::remove_reference_t<decltype(x)>>) return std::pair<Tensor, double>(x * 2, 7.5);
    else return std::pair<Tensor, int>(x * 2, 7);
  });
  const Tensor x = tt::ones({3});
  Tensor y = tt::ones({3});
  for (int k = 0; k < 2; ++k) {
    CHECK(f(x).second == 7);  // it ran on copies, which are not constant
    CHECK(f(y).second == 7);
  }
}
