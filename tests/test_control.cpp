// cond, while_loop, scan and map: in captured functions one node each, whose bodies are graphs; they mean what eager means, have
// derivatives, and where a body cannot be a graph the function runs as it is written.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tt/tt.hpp>

#include "tensors.hpp"
#include "tt/functional/parse.hpp"
#include "tt/graph/check.hpp"

namespace {

using tt::DType;
using tt::Tensor;
using Tensors = std::vector<Tensor>;

struct State {
  Tensor h, c;
};

const Tensor table = tt::tensor({{3.0, 1.0, 2.0}, {-4.0, 0.5, 1.5}}), weights = tt::tensor({1.0, -2.0, 0.5});

constexpr auto branch = [](const Tensors& t) {
  const Tensor scaled = t[0] * 2;
  return tt::cond(
             t[1].sum() > 0, [&](const Tensor& x) { return x * t[1] + scaled; }, [&](const Tensor& x) { return tt::exp(-x) - t[1]; }, t[0]) *
         scaled;
};
constexpr auto two_results = [](const Tensors& t) {
  const auto [a, b] = tt::cond(
      t[0].select(0, 0).sum(), [](const Tensor& x, const Tensor& w) { return std::pair{x * w, x.sum(0)}; },
      [](const Tensor& x, const Tensor& w) { return std::pair{x - w, w * 3}; }, t[0], t[1]);
  return a.sum(0) * b;
};
constexpr auto nested = [](const Tensors& t) {
  return tt::cond(
      t[0].sum() > 0,
      [&](const Tensor& x) {
        const Tensor y = x * 2;
        return tt::cond(
            t[1].sum() > 0, [&](const Tensor& z) { return z * t[1]; }, [&](const Tensor& z) { return z - y; }, y + 1);
      },
      [](const Tensor& x) { return -x; }, t[0]);
};
constexpr auto recurrent = [](const Tensors& t) {
  const auto [last, ys] = tt::scan(
      [&](const Tensor& h, const Tensor& x) {
        const Tensor next = tt::tanh(x * t[1] + h);
        return std::pair{next, next * h};
      },
      t[2], t[0]);
  return (ys * last).sum(0) + last;
};
template <bool Reverse>
constexpr auto cell = [](const Tensors& t) {
  const auto step = [&](const State& s, const Tensor& x) {
    const Tensor gate = tt::sigmoid(x * t[1] + s.h), c = s.c * gate + x;
    const Tensor h = tt::tanh(c) * t[3];
    return std::pair{State{h, c}, std::tuple{h, c * 2}};
  };
  const auto [s, ys] = tt::scan(step, State{t[2], t[2] * 0.5}, t[0], {.reverse = Reverse});
  return std::get<0>(ys).sum(0) * s.c + std::get<1>(ys).select(0, 0) - s.h;
};
constexpr auto scan_of_branches = [](const Tensors& t) {
  return tt::scan(
             [&](const Tensor& h, const Tensor& x) {
               const Tensor next = tt::cond(
                   x.sum() > 0, [&](const Tensor& a) { return a * t[1]; }, [&](const Tensor& a) { return a + t[1]; }, h + x);
               return std::pair{next, next.sum()};
             },
             t[2], t[0])
      .second;
};
/// Products in each step, which its gradient is given and does not compute again.
constexpr auto layered = [](const Tensors& t) {
  const auto [last, ys] = tt::scan(
      [&](const Tensor& h, const Tensor& x) {
        const Tensor next = tt::tanh(x.matmul(t[1]) + h.matmul(t[1].t()));
        return std::pair{next, next.matmul(t[1]).sum(1)};
      },
      t[2], t[0]);
  return ys.sum(0) + last.sum(1);
};
constexpr auto mapped = [](const Tensors& t) {
  return tt::map([&](const Tensor& row) { return tt::softmax(row * t[1], 0); }, t[0]);
};

/// The same values and gradients, eager and captured, as one graph.
template <class F>
void check_captured(const char* what, const F& f, const Tensors& given) {
  CAPTURE(std::string(what));
  for (const bool compiled : {false, true}) {
    const auto c = tt::compile(f, {.tier = compiled, .wait = compiled, .fullgraph = true});
    CHECK(same_bits(f(given), c(given)));
    Tensors x, y;
    for (const Tensor& t : given)
      for (Tensors* to : {&x, &y}) to->push_back(t.clone().requires_grad_());
    f(x).sum().backward();
    c(y).sum().backward();
    for (std::size_t k = 0; k < given.size(); ++k) {
      const Tensor a = x[k].grad().defined() ? x[k].grad() : tt::zeros_like(x[k]);  // nothing flows through the branch that ran
      // The tape sums the uses of a value step by step, a scan sums those of one step first: some rounding errors of f32.
      CHECK(tt::amax(tt::abs(a - y[k].grad()) - tt::abs(a) * 5e-7).template item<float>() <= 1e-7f);
    }
  }
}

}  // namespace

TEST_CASE("cond runs one branch, in a captured function too, with gradients") {
  const Tensor w = -weights;  // of positive sum
  check_captured("first", branch, {table, w});
  check_captured("second", branch, {table, weights});
  check_captured("two results", two_results, {table, w});
  check_captured("two results, second", two_results, {table - table.select(0, 0).sum() / 3, w});
  for (const double sign : {1.0, -1.0})
    for (const Tensor& v : {w, weights}) check_captured("nested", nested, {table * sign, v});
  const auto c = tt::compile(branch, {.tier = 0, .fullgraph = true});
  for (const Tensor& v : {w, weights, w})
    for (const std::int64_t n : {2, 4, 7}) {
      const Tensor x = tt::rand({n, 3}, 1);
      CHECK(same_bits(c(Tensors{x, v}), branch({x, v})));
    }
  CHECK(c.captures() == 1);
}

TEST_CASE("scan carries Tensors through rows, forward and backward") {
  const Tensor xs = tt::rand({5, 3}, 1) - 0.5, h = tt::rand({3}, 2), u = tt::rand({3}, 3);
  check_captured("recurrent", recurrent, {xs, weights, h});
  check_captured("two carried", cell<false>, {xs, weights, h, u});
  check_captured("reverse", cell<true>, {xs, weights, h, u});
  check_captured("branches in steps", scan_of_branches, {xs, weights, h});
  check_captured("map", mapped, {xs, weights});
  const Tensors products{tt::rand({4, 2, 3}, 5) - 0.5, tt::rand({3, 3}, 6) - 0.5, tt::rand({2, 3}, 7)};
  check_captured("products", layered, products);
  const std::string text(tt::trace([](const Tensor& x, const Tensor& w, const Tensor& s) { return layered({x, w, s}); }, products[0], products[1], products[2]).to_string());
  CHECK(text.find("-> output 3") != std::string::npos);  // two products beside the carried value and the row
  CHECK(text.find("-> output 5") == std::string::npos);
  const auto c = tt::compile(cell<true>, {.tier = 0, .fullgraph = true});
  for (const std::int64_t n : {5, 9, 2}) {
    const Tensors given{tt::rand({n, 3}, 7), weights, h, u};
    CHECK(same_bits(c(given), cell<true>(given)));
  }
  CHECK(c.captures() == 1);
  const Tensor one = tt::rand({1, 3}, 7);
  CHECK(same_bits(c(Tensors{one, weights, h, u}), cell<true>({one, weights, h, u})));
}

TEST_CASE("what is carried may be integers, and what is gone through structs") {
  const auto f = [](const Tensor& x, const Tensor& i) {
    const auto [s, ys] = tt::scan(
        [](const std::pair<Tensor, Tensor>& before, const std::pair<Tensor, Tensor>& row) {
          const std::pair next{before.first + 1, before.second + row.first * before.first};
          return std::pair{next, row.second * 2 + before.first};
        },
        std::pair{tt::zeros({}, {DType::i64}), x.select(0, 0)}, std::pair{x, i});
    return std::tuple{s.first, s.second, ys};
  };
  const Tensor x = tt::rand({4, 2}, 1), i = tt::arange(4);
  const auto c = tt::compile(f, {.fullgraph = true});
  const auto a = f(x, i), b = c(x, i);
  CHECK(same_bits(std::get<0>(a), std::get<0>(b)));
  CHECK(same_bits(std::get<1>(a), std::get<1>(b)));
  CHECK(same_bits(std::get<2>(a), std::get<2>(b)));
  CHECK(std::get<0>(b).item<std::int64_t>() == 4);
}

TEST_CASE("second derivatives go through branches and scans") {
  const auto second = [](const auto& g, const Tensors& given) {
    Tensors x;
    for (const Tensor& t : given) x.push_back(t.clone().requires_grad_());
    Tensor sum;
    for (const Tensor& d : tt::grad({g(x).sum()}, x, {}, true, true)) sum = sum.defined() ? sum + (d * d).sum() : (d * d).sum();
    return tt::grad({sum}, x);
  };
  const auto check = [&](const auto& f, const Tensors& given) {
    const auto c = tt::compile(f, {.tier = 0, .fullgraph = true});
    const Tensors a = second(f, given), b = second(c, given);
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(tt::amax(tt::abs(a[k] - b[k]) - tt::abs(a[k]) * 2e-5).item<float>() <= 2e-5f);
  };
  const Tensor xs = tt::rand({4, 3}, 1) - 0.5, h = tt::rand({3}, 2), u = tt::rand({3}, 3);
  check(recurrent, {xs, weights, h});
  check(cell<false>, {xs, weights, h, u});
  check(cell<true>, {xs, weights, h, u});
  check(branch, {table, -weights});
  check(scan_of_branches, {xs, weights, h});
  check(layered, {tt::rand({4, 2, 3}, 5) - 0.5, tt::rand({3, 3}, 6) - 0.5, tt::rand({2, 3}, 7)});
}

TEST_CASE("gradients taken inside of the function") {
  const auto f = [](const Tensor& w, const Tensor& x, const Tensor& first) {
    return tt::grad([](const Tensor& v, const Tensor& rows, const Tensor& s) { return recurrent({rows, v, s}).sum(); })(w, x, first);
  };
  const auto c = tt::compile(f, {.fullgraph = true});
  const Tensor xs = tt::rand({5, 3}, 1), h = tt::rand({3}, 2);
  const Tensor a = f(weights, xs, h), b = c(weights, xs, h);
  CHECK(tt::amax(tt::abs(a - b)).item<float>() <= 1e-6f);
}

TEST_CASE("while_loop runs as long as its condition holds") {
  const auto f = [](const Tensor& x, const Tensor& most) {
    return tt::while_loop([&](const State& s) { return s.h.sum() < most; }, [&](const State& s) { return State{s.h * 2 + 1, s.c + most}; }, State{x, tt::zeros({})});
  };
  const auto c = tt::compile(f, {.fullgraph = true});
  for (const double most : {1000.0, 20.0, -5.0}) {
    const Tensor limit = tt::full({}, most);
    const State a = f(table, limit), b = c(table, limit);
    CHECK(same_bits(a.h, b.h));
    CHECK(same_bits(a.c, b.c));
    CHECK(!b.h.is_same(table));
    CHECK(b.h.data() != table.data());
  }
  CHECK(c.captures() == 1);
}

TEST_CASE("gradients of while_loop to third order, along tangents and by parameters, are those of its steps") {
  // Newton's iteration for the square root, until it is near enough: a number of steps that depends on elements.
  const auto root = [](const Tensor& x, const Tensor& w) {
    const Tensor until = tt::full({}, 0x1p-20, tt::DType::f64);
    return tt::while_loop([&](const State& s) { return (s.h * s.h - x).abs().amax() > until; }, [&](const State& s) { return State{(s.h + x / s.h) * w, s.c + 1}; },
                          State{x * 0.5 + 0.75, tt::zeros({}, tt::DType::i64)})
        .h;
  };
  const Tensor x = tt::rand({5}, 1).to(tt::DType::f64) * 9 + 1, w = tt::full({}, 0.5, tt::DType::f64), d = tt::rand({5}, 2).to(tt::DType::f64);
  const auto close = [](const Tensor& a, const Tensor& b) { return tt::allclose(a, b, 1e-9, 1e-9); };
  const auto first = [&](const Tensor& t, const Tensor& v) { return tt::grad([&](const Tensor& s, const Tensor& u) { return (root(s, u) * s).sum(); })(t, v); };
  const auto second = [&](const Tensor& t, const Tensor& v) { return tt::grad([&](const Tensor& s, const Tensor& u) { return (first(s, u) * s).sum(); })(t, v); };
  const auto third = [&](const Tensor& t, const Tensor& v) { return tt::grad([&](const Tensor& s, const Tensor& u) { return (second(s, u) * s).sum(); })(t, v); };
  const auto of_w = [&](const Tensor& t, const Tensor& v) { return tt::grad([&](const Tensor& u) { return (first(t, u) * t).sum(); })(v); };
  const auto along = [&](const Tensor& t, const Tensor& v) { return tt::jvp([&](const Tensor& s) { return root(s, v); }, t, d).second; };
  const auto twice_along = [&](const Tensor& t, const Tensor& v) { return tt::jvp([&](const Tensor& s) { return first(s, v); }, t, d).second; };
  const auto check = [&](const auto& f) {
    const auto c = tt::compile(tt::frozen(f), {.fullgraph = true});
    CHECK(close(f(x, w), c(x, w)));
    CHECK(c.captures() == 1);
  };
  CHECK(tt::allclose(first(x, w), 1.5 * x.sqrt(), 1e-4));
  check(root), check(first), check(second), check(third), check(of_w), check(along), check(twice_along);

  // A compiled loop on the tape, with double backward; a loop that takes no step.
  const auto c = tt::compile(root, {.fullgraph = true});
  const auto by_tape = [&](const auto& f, const Tensor& at) {
    Tensor t = at.clone().requires_grad_();
    const Tensor g = tt::grad({(f(t, w) * t).sum()}, {t}, {}, true, true)[0];
    g.sum().backward();
    return std::pair{g.detach(), t.grad()};
  };
  for (const Tensor& at : {x, tt::full({5}, 1e-30, tt::DType::f64), tt::full({5}, 2.25, tt::DType::f64)}) {
    const auto a = by_tape(root, at), b = by_tape(c, at);
    CHECK(close(a.first, b.first));
    CHECK(close(a.second, b.second));
  }
  CHECK(c.captures() == 1);
}

TEST_CASE("bodies that cannot be graphs: the function runs as it is written") {
  const auto check = [](const auto& f, const Tensor& x) {
    const auto c = tt::compile(f);
    for (const Tensor& t : {x, -x}) CHECK(same_bits(f(t.clone()), c(t.clone())));
    CHECK(std::string(c.explain()).find("break") != std::string::npos);
  };
  check([](const Tensor& x) {  // other shapes
    return tt::cond(x.sum() > 0, [](const Tensor& t) { return t.sum(0); }, [](const Tensor& t) { return t.sum(1); }, x);
  }, table);
  check([](const Tensor& x) {  // a change in place
    Tensor y = x * 2;
    tt::cond(x.sum() > 0, [&](const Tensor& t) { y.add_(1); return t; }, [](const Tensor& t) { return -t; }, x);
    return y;
  }, table);
  check([](const Tensor& x) {  // a value that leaves a branch
    Tensor y = x;
    const Tensor z = tt::cond(x.sum() > 0, [&](const Tensor& t) { y = t * 3; return t; }, [](const Tensor& t) { return -t; }, x);
    return y + z;
  }, table);
  check([](const Tensor& x) {  // a look at elements
    return tt::cond(x.sum() > 0, [](const Tensor& t) { return t * t.sum().item<float>(); }, [](const Tensor& t) { return -t; }, x);
  }, table);
  check([](const Tensor& x) {  // a shape that grows
    return tt::while_loop([](const Tensor& t) { return t.sum().abs() < 100; }, [](const Tensor& t) { return tt::cat({t, t}, 0); }, x);
  }, table);
}

TEST_CASE("of a checkpoint the tape saves the arguments alone, and backward runs it again") {
  struct Two {
    Tensor a, b;
  };
  const auto f = [](const Tensor& x, const Tensor& w) {
    const Two y = tt::checkpoint([](const Tensor& t, const Tensor& v) { return Two{tt::tanh(t * v) * t, tt::exp(v)}; }, x * 2, w);
    return (y.a * y.b).sum();
  };
  const auto plain = [](const Tensor& x, const Tensor& w) {
    const Tensor t = x * 2;
    return (tt::tanh(t * w) * t * tt::exp(w)).sum();
  };
  const auto c = tt::compile(f, {.name = "kept", .tier = 0, .fullgraph = true});
  const auto both = [](const auto& g, int order) {
    Tensor x = table.clone().requires_grad_(), w = weights.clone().requires_grad_();
    Tensors d = tt::grad({g(x, w)}, {x, w}, {}, order > 1, order > 1);
    if (order > 1) d = tt::grad({(d[0] * d[0]).sum() + (d[1] * d[1]).sum()}, {x, w});
    return d;
  };
  for (const int order : {1, 2}) {
    const Tensors a = both(plain, order), b = both(f, order), d = both(c, order);
    for (std::size_t k = 0; k < 2; ++k)
      for (const Tensor& other : {b[k], d[k]}) CHECK(tt::amax(tt::abs(a[k] - other) - tt::abs(a[k]) * 1e-5).item<float>() <= 1e-5f);
  }
  CHECK(std::string(c.explain()).find("call of checkpoint") != std::string::npos);
  CHECK(same_bits(c(table, weights), f(table, weights)));  // without gradients it is what it holds

  Tensor x = table.clone().requires_grad_(), held = weights.clone().requires_grad_();
  tt::checkpoint([&](const Tensor& t) { return t * held; }, x).sum().backward();  // saved as usual
  CHECK(same_bits(held.grad(), table.sum(0)));
  CHECK(same_bits(x.grad(), tt::ones({2, 1}) * weights));
  const Tensor kept = weights.clone();
  const Two z = tt::checkpoint([kept](const Tensor& t) { return Two{t * t, kept}; }, x);
  CHECK(!kept.requires_grad());
  CHECK(z.b.requires_grad());
  CHECK(message([&] { tt::checkpoint([](const Tensor& t) { Tensor u = t; return u.mul_(2) * 1; }, x); })
            .starts_with("tt::checkpoint: the function changes argument 0 in place. Use a copy there?"));
  int runs = 0;
  const Tensor y = tt::checkpoint([&](const Tensor& t) { return ++runs, t * t; }, x);
  CHECK(runs == 1);
  y.sum().backward();
  CHECK(runs == 2);
}

TEST_CASE("arguments that lie anywhere in memory") {
  const auto f = [](const Tensor& x, const Tensor& s) {
    const Tensor a = tt::cond(x.sum() > 0, [](const Tensor& t) { return t * 2; }, [](const Tensor& t) { return -t; }, x);
    const Tensor b = tt::while_loop([](const Tensor& t) { return t.sum() < 50; }, [&](const Tensor& t) { return t * 2 + x; }, x);
    const auto [last, ys] = tt::scan([&](const Tensor& h, const Tensor& r) { return std::pair{h + r * x.select(0, 0), h * s}; }, s, x);
    return std::tuple{a, b, last, ys, tt::checkpoint([](const Tensor& t) { return t + 1; }, x)};
  };
  const auto c = tt::compile(f, {.fullgraph = true});
  const Tensor dense = tt::rand({3, 3}, 5), wide = tt::rand({3, 7}, 6), line = tt::rand({1, 3}, 7);
  for (const Tensor& x : {dense.t(), wide.slice(1, 1, 7, 2), line.expand({3, 3})}) {
    const auto a = f(x, wide.select(1, 2)), b = c(x, wide.select(1, 2));
    CHECK(same_bits(std::get<0>(a), std::get<0>(b)));
    CHECK(same_bits(std::get<1>(a), std::get<1>(b)));
    CHECK(same_bits(std::get<2>(a), std::get<2>(b)));
    CHECK(same_bits(std::get<3>(a), std::get<3>(b)));
    CHECK(same_bits(std::get<4>(a), std::get<4>(b)));
  }
}

TEST_CASE("what no graph can hold of a body is what eager gives, or its error") {
  struct Counted {
    Tensor h;
    int step;
  };
  const auto same = [](const auto& f, const auto&... given) {
    const auto c = tt::compile(f, {.tier = 0});
    Tensors a, b;
    const auto eager = message([&] { a = f(given.clone()...); });
    const auto captured = message([&] { b = c(given.clone()...); });
    CHECK(eager == captured);
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      CHECK(a[k].defined() == b[k].defined());
      if (a[k].defined()) CHECK(same_bits(a[k], b[k]));
    }
  };
  same([](const Tensor& x) { return tt::cond(x.sum() > 0, [](const Tensor& t) { return Tensors{t, t + 1}; }, [](const Tensor& t) { return Tensors{-t}; }, x); }, table);
  same([](const Tensor& x) { return tt::cond(x.sum() > 0, [](const Tensor& t) { return Tensors{-t}; }, [](const Tensor& t) { return Tensors{t, t + 1}; }, x); }, table);
  same([](const Tensor& x) {  // lists that grow
    return tt::while_loop([](const Tensors& s) { return s[0].sum() < 100; }, [](Tensors s) { s[0] = s[0] * 2; s.push_back(s[0]); return s; }, Tensors{x});
  }, table);
  same([](const Tensor& x) { return tt::scan([](Tensors s, const Tensor& r) { s.push_back(s.back() + r); return std::pair{s, r}; }, Tensors{x.select(0, 0)}, x).first; }, table);
  same([](const Tensor& x) { return Tensors{tt::while_loop([](const Tensor& t) { return t < 50; }, [](const Tensor& t) { return t * 2; }, x)}; }, table);
  same([](const Tensor& x) {  // numbers that change
    const auto [s, ys] = tt::scan([](const Counted& before, const Tensor& r) { return std::pair{Counted{before.h + r * (before.step + 1.0), before.step + 1}, r}; }, Counted{x.select(0, 0), 0}, x);
    return Tensors{s.h, ys, tt::full({}, s.step)};
  }, table);
  same([](const Tensor& x) { return Tensors{x * tt::cond(x.sum() > 0, [](const Tensor&) { return Counted{{}, 2}; }, [](const Tensor&) { return Counted{{}, 3}; }, x).step}; }, table);
  same([](const Tensor& x) {  // a Tensor that is not there
    return Tensors{tt::scan([](const State& s, const Tensor& r) { return std::pair{State{s.h + r, {}}, r * 2}; }, State{x.select(0, 0), {}}, x).second};
  }, table);
  same([](const Tensor& x) {  // a change of what a body is given
    const Tensor ys = tt::scan([](const Tensor& h, const Tensor& r) { Tensor y = r; y.mul_(2); return std::pair{h + y, y + 0}; }, x.select(0, 0) * 1, x).second;
    return Tensors{ys, x + 0};
  }, table);
  same([](const Tensor& x) {  // what a body made, differentiated by outside of it
    Tensor y;
    tt::cond(x.sum() > 0, [&](const Tensor& t) { y = t * 3; return t; }, [&](const Tensor& t) { y = t * 5; return -t; }, x);
    return Tensors{tt::grad([](const Tensor& v) { return (v * v).sum(); })(y)};
  }, table);
  same([](const Tensor& x) {  // a Tensor made anew in each branch
    Tensor z;
    const Tensor r = tt::cond(x.sum() > 0, [&](const Tensor& t) { z = tt::full({3}, 2.0); return t + z; }, [&](const Tensor& t) { z = tt::full({3}, 5.0); return t * z; }, x);
    return Tensors{r, z * 1, z};
  }, table);
  same([](const Tensor& x) {  // Tensors and numbers that a body keeps from step to step
    Tensor last = x.select(0, 0);
    return Tensors{tt::map([&](const Tensor& r) { last = last + r; return last * 2; }, x)};
  }, table);
  same([](const Tensor& x) {
    int k = 0;
    return Tensors{tt::map([&](const Tensor& r) { return r * ++k; }, x)};
  }, table);
  same([](const Tensor& x) {
    double most = 100;
    return Tensors{tt::while_loop([&](const Tensor& t) { return t.sum() < (most -= 10); }, [](const Tensor& t) { return t * 2; }, x)};
  }, table);
  same([](const Tensor& x) {  // an exception in a branch that does not run
    Tensor r;
    try {
      r = tt::cond(x.sum() > 0, [](const Tensor& t) { return t * 2; }, [](const Tensor& t) -> Tensor { if (t.dim() == 2) throw 1; return t; }, x);
    } catch (int) {
      r = x * 7;
    }
    return Tensors{r};
  }, table);
  same([](const Tensor& x) { return Tensors{tt::cond(x.sum() > 0, [](const Tensor& t) { return t * 2; }, [](const Tensor& t) { return t.matmul(t); }, x)}; }, table);

  const auto asks = [](const Tensor& x, const Tensor& w) {  // who requires a gradient
    const Tensor a = tt::map([](const Tensor& r) { return r.detach() * 2; }, x), b = tt::map([](const Tensor& r) { return r * 2; }, x);
    const auto [h, ys] = tt::scan([&](const Tensor& s, const Tensor& r) { return std::pair{s + w, r * 2}; }, w.detach(), x.detach());
    return Tensors{tt::full({}, a.requires_grad()), tt::full({}, b.requires_grad()), tt::full({}, h.requires_grad()), tt::full({}, ys.requires_grad()), a, b, h, ys};
  };
  const Tensor x = table.clone().requires_grad_(), w = weights.clone().requires_grad_();
  const Tensors eager = asks(x, w), captured = tt::compile(asks, {.tier = 0, .fullgraph = true})(x, w);
  for (std::size_t k = 0; k < eager.size(); ++k) {
    CHECK(same_bits(eager[k].detach(), captured[k].detach()));
    CHECK(eager[k].requires_grad() == captured[k].requires_grad());
  }

  const auto pairs = [](const Tensor& a, const Tensor& b) {
    return tt::scan([](const Tensor& h, const std::pair<Tensor, Tensor>& r) { return std::pair{h + r.first * r.second, r.first}; }, a.select(0, 0) * 0, std::pair{a, tt::cat({b, b}, 0)}).first;
  };
  const auto c = tt::compile(pairs, {.tier = 0});
  const Tensor four = tt::rand({4, 3}, 1), two = tt::rand({2, 3}, 2), five = tt::rand({5, 3}, 3);
  CHECK(same_bits(c(four, two), pairs(four, two)));
  CHECK(message([&] { c(two, five); }).starts_with("tt::scan: Tensors of other lengths along axis 0: (2, 3) and (10, 3)."));
  CHECK(message([&] { c(four, five); }).starts_with("tt::scan: Tensors of other lengths"));
}

TEST_CASE("mistakes") {
  const auto at = [](int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); };
  const auto same = [](const Tensor& t) { return t; };
  const std::string found = message([&] { tt::cond(table > 0, same, same, table); }), there = at(__LINE__);
  CHECK(found == "tt::cond: the condition is no single element, but of shape (2, 3). Reduce it, as by any() or all()?" + there);
  CHECK(message([&] { tt::cond(Tensor(), same, same, table); }).starts_with("tt::cond: the condition is an undefined Tensor"));
  const auto body = [](const Tensor& s, const std::pair<Tensor, Tensor>& x) { return std::pair{s, x.first}; };
  CHECK(message([&] { tt::scan(body, weights, std::pair{table, weights}); }) == "tt::scan: Tensors of other lengths along axis 0: (2, 3) and (3,)." + at(__LINE__));
  CHECK(message([&] { tt::map(same, tt::zeros({0, 3})); }) == "tt::scan: there is no row to begin with." + at(__LINE__));
  const auto c = tt::compile([](const Tensor& x) { return tt::cond(x > 0, [](const Tensor& t) { return t; }, [](const Tensor& t) { return -t; }, x); });
  CHECK(message([&] { c(table); }).starts_with("tt::cond: the condition is no single element, but of shape (2, 3)."));
  const int line = __LINE__ + 1;
  const auto looks = tt::compile([](const Tensor& x) { return tt::cond(x.sum() > 0, [](const Tensor& t) { return t * t.max().item<double>(); }, [](const Tensor& t) { return -t; }, x); }, {.name = "looks", .tier = 0, .fullgraph = true});
  CHECK(message([&] { looks(table); }) == "tt::compile: looks: a graph break, and fullgraph is set: item of f32 (), made by _max_of_all. Return it, and look at it outside?" + at(line));
  const auto fails = tt::compile([](const Tensor& x) { return tt::cond(x.sum() > 0, [](const Tensor& t) { return t + tt::ones({7}); }, [](const Tensor& t) { return -t; }, x); }, {.name = "fails", .tier = 0, .fullgraph = true});
  CHECK(message([&] { fails(table); }).starts_with("tt::compile: fails: a graph break, and fullgraph is set: an error in the body of a branch or a loop, \"tt::add: shapes do not broadcast: (2, 3) and (7,)."));
}

TEST_CASE("their text is read back, and their graphs are legal") {
  const Tensor xs = tt::rand({5, 3}, 1), h = tt::rand({3}, 2);
  const auto check = [](const auto& f, const auto&... given) {
    const auto t = tt::trace(f, given...);
    CHECK((tt::check)(t.graph));
    const std::string text(t.to_string());
    CHECK(tt::parse(text) == t.graph);
    CHECK(std::string(tt::to_string(tt::parse(text))) == text);
    CHECK(same_bits(t(given...), f(given...)));
  };
  check([](const Tensor& x, const Tensor& w, const Tensor& s) { return recurrent({x, w, s}); }, xs, weights, h);
  check([](const Tensor& x, const Tensor& w) { return nested({x, w}); }, xs, weights);
  check([](const Tensor& x) { return tt::while_loop([](const Tensor& t) { return t.sum() < 100; }, [](const Tensor& t) { return t * 2; }, x); }, xs);
  check([](const Tensor& x) {
    return tt::grad([](const Tensor& s) { return tt::while_loop([](const Tensor& t) { return t.sum() < 100; }, [&](const Tensor& t) { return t * t + s; }, s + 1).sum(); })(x);
  }, xs);
  const std::string text(tt::trace([](const Tensor& x, const Tensor& w) { return branch({x, w}); }, xs, weights).to_string());
  CHECK(text.find(" = cond(%") != std::string::npos);
  CHECK(message([&] { (void)tt::parse("graph 3\n%0 = input 0 : bool ()\n%1 = input 1 : f32 (2,)\n%2 = cond(%0, %1) { %0 = input 0 : f32 (2,) -> output 0; } : f32 (2,) -> output 0\n"); })
            .starts_with("tt::parse: line 4: expected {"));
}

TEST_CASE("what a checkpoint draws is the same in backward, and later draws are what they are without one") {
  const Tensor x = tt::ones({64}).requires_grad_();
  const auto drop = [](const Tensor& t) { return tt::dropout(t * 1, 0.5, true); };
  tt::manual_seed(5);
  const Tensor y = tt::checkpoint(drop, x);
  const Tensor before = tt::rand({4});
  y.sum().backward();
  const Tensor behind = tt::rand({4});
  CHECK(same_bits(x.grad(), y.detach()));  // 0 or 2 each
  tt::manual_seed(5);
  (void)drop(x);
  CHECK(same_bits(tt::rand({4}), before));
  CHECK(same_bits(tt::rand({4}), behind));
}
TEST_CASE("map of what gives no Tensor") {
  const auto f = tt::compile([](const Tensor& x) {
    (void)tt::map([](const Tensor&) { return 5; }, x);
    return x * 2;
  });
  CHECK(same_bits(f(tt::ones({3})), tt::full({3}, 2.0)));
}

TEST_CASE("results of branches and loops have memory of their own, eager and compiled") {
  const Tensor x = tt::tensor({1.0, 2.0});
  const auto check = [&](const auto& f) {
    const auto compiled = tt::compile(f, {.fullgraph = true});
    for (int time = 0; time < 2; ++time) CHECK(same_bits(f(x), compiled(x)));
    CHECK(same_bits(f(x), x * 2));
  };
  check([](const Tensor& t) {
    const Tensor y = t * 2;
    tt::cond(t.sum() > 0, [](const Tensor& u) { return u; }, [](const Tensor& u) { return -u; }, y).add_(100);
    return y;
  });
  check([](const Tensor& t) {
    const Tensor y = t * 2;
    tt::cond(t.sum() > 0, [](const Tensor& u) { return u.select(0, 0); }, [](const Tensor& u) { return u.sum(); }, y).add_(100);
    return y;
  });
  check([](const Tensor& t) {
    const Tensor y = t * 2;
    using State = std::pair<Tensor, Tensor>;
    State s = tt::while_loop([](const State& c) { return c.second < 3; }, [](const State& c) { return State{c.first, c.second + 1}; }, State{y, tt::zeros({})});
    s.first.add_(100);
    return y;
  });
  check([](const Tensor& t) {
    const Tensor y = t * 2;
    tt::scan([](const Tensor& h, const Tensor& row) { return std::pair{h, row * 1}; }, y, t).first.add_(100);
    return y;
  });
  check([](const Tensor& t) {
    auto [a, b] = tt::cond(t.sum() > 0, [](const Tensor& u) { const Tensor v = u * 2; return std::pair{v, v}; }, [](const Tensor& u) { return std::pair{u * 1, u * 1}; }, t);
    a.add_(100);
    return b;
  });
  const Tensor leaf = tt::tensor({1.0, 2.0}).requires_grad_();
  tt::cond(leaf.sum() > 0, [](const Tensor& u) { return u; }, [](const Tensor& u) { return -u; }, leaf).sum().backward();
  CHECK(numbers(leaf.grad()) == std::vector<double>{1, 1});
}
