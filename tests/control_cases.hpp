// Control flow on a device: functions that branch, loop and scan, given Tensors that lie there, have the bits that they have on the CPU
// and give Tensors that lie there; eager, compiled and traced, gradients too.
//   for (const control_cases::Case& c : control_cases::all()) control_cases::check(c, device);
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tensors.hpp"

namespace control_cases {

using tt::Tensor;
using List = std::vector<Tensor>;
using Function = List (*)(const List&);

struct Case {
  const char* what;
  Function function;
  List given;
  bool has_gradients = true;
};

struct State {
  Tensor h, c;
};

// ---- functions

/// A branch that reads a Tensor of the function and a value made of it.
inline List branch(const List& t) {
  const Tensor scaled = t[0] * 2;
  return {tt::cond(t[1].sum() > 0, [&](const Tensor& x) { return x * t[1] + scaled; }, [&](const Tensor& x) { return tt::exp(-x) - t[1]; }, t[0]) * scaled};
}
/// The condition is a number and no bool; a result is what a branch was given, or a row of it.
inline List branch_of_number(const List& t) {
  auto [a, b] = tt::cond(tt::relu(t[1].sum()), [](const Tensor& x) { return std::pair{x, x.select(0, 1)}; },
                         [](const Tensor& x) { return std::pair{x.t().t(), x.sum(0)}; }, t[0]);
  a.add_(1);
  return {a, b, t[0] * 1};
}
inline List nested(const List& t) {
  return {tt::cond(
      t[0].sum() > 0,
      [&](const Tensor& x) {
        const Tensor y = x * 2;
        return tt::cond(t[1].sum() > 0, [&](const Tensor& z) { return z * t[1]; }, [&](const Tensor& z) { return z - y; }, y + 1);
      },
      [](const Tensor& x) { return -x; }, t[0])};
}
/// What one branch makes lies beside nothing of the device but by its device.
inline List branch_of_constants(const List& t) {
  return {tt::cond(t[1].sum() > 0, [&](const Tensor& x) { return tt::zeros_like(x) + 2; }, [](const Tensor& x) { return x * 3; }, t[0])};
}
/// t[1]: how far.
inline List doubled_until(const List& t) {
  const State s = tt::while_loop([&](const State& now) { return now.h.sum() < t[1]; }, [&](const State& now) { return State{now.h * 2 + 1, now.c + t[1]}; },
                                 State{t[0], t[1] * 0});
  return {s.h, s.c};
}
/// A loop in a loop, and a counter of whole numbers.
inline List collatz(const List& t) {
  const State s = tt::while_loop([](const State& now) { return now.h.sum() > 1; },
                                 [](const State& now) {
                                   const Tensor next = tt::cond(tt::remainder(now.h, 2) == 0, [](const Tensor& x) { return tt::floor_divide(x, 2); },
                                                                [](const Tensor& x) { return x * 3 + 1; }, now.h);
                                   const Tensor steps = tt::while_loop([](const Tensor& n) { return tt::remainder(n, 3) != 0; }, [](const Tensor& n) { return n + 1; }, now.c + 1);
                                   return State{next, steps};
                                 },
                                 State{t[0], t[0] * 0});
  return {s.h, s.c};
}
inline List recurrent(const List& t) {
  const auto [last, ys] = tt::scan(
      [&](const Tensor& h, const Tensor& x) {
        const Tensor next = tt::tanh(x * t[1] + h);
        return std::pair{next, next * h};
      },
      t[2], t[0]);
  return {(ys * last).sum(0) + last, ys};
}
template <bool Reverse>
List cell(const List& t) {
  const auto step = [&](const State& s, const Tensor& x) {
    const Tensor gate = tt::sigmoid(x * t[1] + s.h), c = s.c * gate + x;
    const Tensor h = tt::tanh(c) * t[3];
    return std::pair{State{h, c}, std::tuple{h, c * 2}};
  };
  const auto [s, ys] = tt::scan(step, State{t[2], t[2] * 0.5}, t[0], {.reverse = Reverse});
  return {s.h, s.c, std::get<0>(ys), std::get<1>(ys)};
}
/// Products, whose results a gradient is given, with a parameter as it lies and transposed.
inline List layered(const List& t) {
  const auto [last, ys] = tt::scan(
      [&](const Tensor& h, const Tensor& x) {
        const Tensor next = tt::tanh(x.matmul(t[1]) + h.matmul(t[1].t()));
        return std::pair{next, next.matmul(t[1]).sum(1)};
      },
      t[2], t[0]);
  return {ys.sum(0) + last.sum(1)};
}
inline List scan_of_branches(const List& t) {
  const auto [last, ys] = tt::scan(
      [&](const Tensor& h, const Tensor& x) {
        const Tensor next = tt::cond(x.sum() > 0, [&](const Tensor& a) { return a * t[1]; }, [&](const Tensor& a) { return a + t[1]; }, h + x);
        return std::pair{next, next.sum()};
      },
      t[2], t[0]);
  return {last, ys};
}
inline List branch_of_scans(const List& t) {
  const auto through = [&](bool reverse) {
    return [&t, reverse](const Tensor& h) {
      const auto [last, ys] = tt::scan([&](const Tensor& s, const Tensor& x) { return std::pair{s * x + t[1], s}; }, h, t[0], {.reverse = reverse});
      return std::pair{last, ys};
    };
  };
  const auto [last, ys] = tt::cond(t[2].sum() > 0, through(false), through(true), t[2]);
  return {last, ys};
}
/// Whole numbers and f64 are carried, and pairs are gone through.
inline List dtypes(const List& t) {
  const auto [s, ys] = tt::scan(
      [](const State& before, const std::pair<Tensor, Tensor>& row) {
        return std::pair{State{before.h + 1, before.c + row.first.to(tt::DType::f64) * before.h}, row.second * 2 + before.h};
      },
      State{t[1].select(0, 0), t[0].select(0, 0).to(tt::DType::f64)}, std::pair{t[0], t[1]});
  return {s.h, s.c, ys};
}
inline List mapped(const List& t) {
  return {tt::map([&](const Tensor& row) { return tt::softmax(row * t[1], 0); }, t[0])};
}
/// Rows and operands that do not lie dense.
inline List strided(const List& t) {
  const Tensor x = t[0].t(), s = t[0].select(1, 1);
  const auto [last, ys] = tt::scan([&](const Tensor& h, const Tensor& r) { return std::pair{h + r * x.select(1, 0).sum(), h * r.sum()}; }, s.slice(0, 0, x.size(1)), x);
  return {last, ys, tt::cond(x.sum() > 0, [](const Tensor& a) { return a * 2; }, [](const Tensor& a) { return -a; }, x)};
}
inline List kept(const List& t) {
  const State y = tt::checkpoint([](const Tensor& x, const Tensor& w) { return State{tt::tanh(x * w) * x, tt::exp(w)}; }, t[0] * 2, t[1]);
  return {y.h * y.c};
}
inline List kept_branch(const List& t) {
  return {tt::checkpoint([](const Tensor& x, const Tensor& w) {
    return tt::cond(w.sum() > 0, [&](const Tensor& a) { return tt::tanh(a * w); }, [&](const Tensor& a) { return tt::exp(-a) * w; }, x);
  }, t[0], t[1])};
}
inline List batch_of_branches(const List& t) {
  const auto f = [](const Tensor& x, const Tensor& w) {
    return tt::cond(x.sum() > 0, [&](const Tensor& a) { return a * w; }, [&](const Tensor& a) { return tt::exp(a) - w; }, x);
  };
  return {tt::vmap(f, {.in_dims = {0, tt::none}})(t[0], t[1])};
}
inline List batch_of_scans(const List& t) {
  const auto f = [](const Tensor& x, const Tensor& w, const Tensor& h) {
    const auto [last, ys] = tt::scan([&](const Tensor& s, const Tensor& row) { return std::pair{tt::tanh(s * w + row), s * row}; }, h, x);
    return std::pair{last, ys};
  };
  const auto [last, ys] = tt::vmap(f, {.in_dims = {1, tt::none, tt::none}})(t[0].reshape({t[0].size(0), t[0].size(1), 1}), t[1].select(0, 0), t[2].slice(0, 0, 1));
  return {last, ys};
}
/// A gradient that is taken inside.
inline List gradient(const List& t) {
  return {tt::grad([](const Tensor& w, const Tensor& x, const Tensor& h) { return recurrent({x, w, h})[0].sum(); })(t[1], t[0], t[2])};
}

inline std::vector<Case> all() {
  const Tensor table = tt::tensor({{3.0, 1.0, 2.0}, {-4.0, 0.5, 1.5}}), w = tt::tensor({1.0, -2.0, 0.5});
  const Tensor five = tt::rand({5, 3}, 1) - 0.5, one = tt::rand({1, 3}, 2), h = tt::rand({3}, 3), u = tt::rand({3}, 4), whole = tt::arange(5);
  const List products{tt::rand({4, 2, 3}, 5) - 0.5, tt::rand({3, 3}, 6) - 0.5, tt::rand({2, 3}, 7)};
  return {
      {"cond, first", branch, {table, -w}},
      {"cond, second", branch, {table, w}},
      {"cond of a number, first", branch_of_number, {table, -w}},
      {"cond of a number, second", branch_of_number, {table, w}},
      {"cond in cond 1", nested, {table, -w}},
      {"cond in cond 2", nested, {table, w}},
      {"cond in cond 3", nested, {-table, w}},
      {"cond of constants, first", branch_of_constants, {table, -w}, false},
      {"cond of constants, second", branch_of_constants, {table, w}},
      {"while_loop", doubled_until, {table, tt::tensor(1000.0)}},
      {"while_loop of a turn", doubled_until, {table, tt::tensor(5.0)}},
      {"while_loop of no turn", doubled_until, {table, tt::tensor(-5.0)}},
      {"loops and a branch in a loop", collatz, {tt::tensor(7)}, false},
      {"scan", recurrent, {five, w, h}},
      {"scan of a row", recurrent, {one, w, h}},
      {"scan of two", cell<false>, {five, w, h, u}},
      {"scan of two, reverse", cell<true>, {five, w, h, u}},
      {"scan of one row, reverse", cell<true>, {one, w, h, u}},
      {"scan of products", layered, products},
      {"scan of branches", scan_of_branches, {five, w, h}},
      {"branch of scans, first", branch_of_scans, {five, w, h}},
      {"branch of scans, second", branch_of_scans, {five, w, -h}},
      {"scan of several dtypes", dtypes, {five, whole}, false},
      {"map", mapped, {five, w}},
      {"map of a row", mapped, {one, w}},
      {"what does not lie dense", strided, {tt::rand({3, 4}, 8)}},
      {"checkpoint", kept, {table, w}},
      {"checkpoint of a branch, first", kept_branch, {table, -w}},
      {"checkpoint of a branch, second", kept_branch, {table, w}},
      {"vmap of cond", batch_of_branches, {five, w}},
      {"vmap of scan", batch_of_scans, {five, w, h}},
      {"grad of scan", gradient, {five, w, h}},
  };
}

// ---- checks

inline List to(const List& given, tt::Device device) {
  List there;
  for (const Tensor& t : given) there.push_back(t.to(device));
  return there;
}
inline void check_same(const List& there, const List& here, tt::Device device) {
  REQUIRE(there.size() == here.size());
  for (std::size_t k = 0; k < here.size(); ++k) {
    CAPTURE(k);
    REQUIRE(there[k].defined() == here[k].defined());
    if (!here[k].defined()) continue;
    CHECK(there[k].device() == device);
    CHECK(same_bits(there[k].detach().cpu(), here[k]));
  }
}
/// Of the sum of all results, by all that is floating.
template <class F>
List gradients(const F& f, const List& given, tt::Device device) {
  List leaves, found;
  for (const Tensor& t : given) leaves.push_back(t.to(device).clone().requires_grad_());
  Tensor sum;
  for (const Tensor& r : f(leaves))
    if (r.requires_grad()) sum = sum.defined() ? sum + r.sum() : r.sum();
  REQUIRE(sum.defined());
  sum.backward();
  for (const Tensor& t : leaves) found.push_back(t.grad());
  return found;
}
/// Values and gradients twice as eager ops and as one graph, once with CUDA graphs; with `every_path` also when it was captured on the CPU first, when breaks
/// are allowed, and traced.
inline void check(const Case& c, tt::Device device, bool every_path = true) {
  CAPTURE(std::string(c.what));
  const auto f = tt::frozen([function = c.function](const List& t) { return function(t); });
  const List expected = c.function(c.given), there = to(c.given, device);
  const auto check_path = [&](const char* path, const auto& g) {
    CAPTURE(std::string(path));
    for (int time = 0; time < 2; ++time) check_same(g(there), expected, device);
    check_same(to(there, {}), c.given, {});  // nothing that was given has changed
    if (!c.has_gradients) return;
    const List on_device = gradients(g, c.given, device);  // first, so that nothing is known of the function yet
    check_same(on_device, gradients(g, c.given, {}), device);
  };
  check_path("eager", c.function);
  check_path("one graph", tt::compile(f, {.tier = 0, .fullgraph = true}));
  check_path("one graph, CUDA graphs", tt::compile(f, {.tier = 0, .fullgraph = true, .mode = tt::CompileMode::reduce_overhead}));
  if (!every_path) return;
  const auto before = tt::compile(f, {.tier = 0, .fullgraph = true});
  check_same(before(c.given), expected, {});
  check_path("one graph, captured on the CPU", before);
  check_path("compiled", tt::compile(f, {.tier = 0}));
  check_path("traced", tt::trace(c.function, c.given));
}

}  // namespace control_cases
