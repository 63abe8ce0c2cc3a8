// Elements at places inside fused programs: programs that use the results of index_select, gather and embedding read the tables themselves, in the bits
// of the eager ops, with their errors; results that have to lie in memory come from calls. The load itself is in the random graphs of test_fuzz*.cpp.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include <tt/tt.hpp>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

Tensor ramp(const tt::IntList& sizes, DType d = DType::f32) {
  const Tensor x = tt::empty(sizes);
  return ((tt::arange(x.numel()).to(DType::f32) * 0.37f).sin() * 9).reshape(sizes).to(d);
}
Tensor places(const tt::IntList& sizes, int below, DType d = DType::i64) {
  const Tensor x = tt::empty(sizes);
  return tt::remainder(tt::arange(x.numel()) * 7 + 3, below).reshape(sizes).to(d);
}
using Steps = std::vector<std::string>;
/// Of a captured function: programs with their numbers of kernels, and calls by name.
template <class F, class... A>
Steps steps_of(const F& f, const A&... a) {
  Steps list;
  const tt::GraphFunction function(tt::trace(f, a...).graph);
  function.each_step([&](const tt::GraphFunction* part, const char* call) {
    list.push_back(part ? std::to_string(part->kernels()) : call);
  });
  return list;
}
/// Eager, interpreted, compiled, and at other sizes with the same capture: equal bits.
template <class F, class Args>
void check_paths(const F& f, const std::vector<Args>& calls, int captures = 1) {
  for (const bool wait : {false, true}) {
    auto c = tt::compile(f, {.tier = wait, .wait = wait, .fullgraph = true});
    for (const Args& a : calls) CHECK(same_bits(std::apply(c, a), std::apply(f, a)));
    CHECK(c.captures() == captures);
  }
}
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

}  // namespace

TEST_CASE("what follows an embedding reads the table itself") {
  const auto f = [](const Tensor& words, const Tensor& table, const Tensor& at) { return tt::layer_norm(tt::embedding(words, table) * 2 + at, {16}); };
  const Tensor words = places({3, 5}, 11), table = ramp({11, 16}), at = ramp({5, 16});
  CHECK(steps_of(f, words, table, at) == Steps{"_check_index_select", "1"});
  check_paths(f, std::vector<Three>{{words, table, at}, {places({7, 5}, 11), table, at}, {places({2, 5}, 11), table, at}});
}

TEST_CASE("every form of taking, in every layout") {
  const Tensor x = ramp({6, 7, 9}), rows = places({4}, 6), columns = places({6, 7, 5}, 9);
  check_paths([](const Tensor& a, const Tensor& at) { return tt::index_select(a, 0, at).exp() + 1; }, std::vector<Two>{{x, rows}, {x, places({9}, 6, DType::i32)}}, 2);
  check_paths([](const Tensor& a, const Tensor& at) { return tt::index_select(a, 1, at).sum(1); }, std::vector<Two>{{x, rows}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::index_select(a, 2, at).softmax(2); }, std::vector<Two>{{x, rows}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::gather(a, 2, at) * tt::gather(a, 2, at + 1 - 1); }, std::vector<Two>{{x, columns}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::gather(a, 0, at).sum(0); }, std::vector<Two>{{x, places({3, 7, 9}, 6)}, {x, places({3, 2, 4}, 6)}}, 2);
  check_paths([](const Tensor& a, const Tensor& at) { return tt::take_along_dim(a, at, 1) - a.mean(1, true); }, std::vector<Two>{{x, places({6, 3, 9}, 7) - 7}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::index_select(a.transpose(0, 2), 1, at).tanh(); }, std::vector<Two>{{x, rows}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::index_select((a * 3).slice(1, 1, 6, 2), 2, at).abs() + 1; }, std::vector<Two>{{x, rows}});
  check_paths([](const Tensor& a, const Tensor& at) { return a[at] * 2; }, std::vector<Two>{{x, places({2, 2}, 6) - 6}});
  for (DType d : {DType::f64, DType::i64, DType::i32, DType::bf16, DType::f16, DType::u8, DType::boolean})
    check_paths([](const Tensor& a, const Tensor& at) { return tt::where(tt::index_select(a, 0, at) == a.slice(0, 0, 1), 1, tt::index_select(a, 1, at).sum()); },
                std::vector<Two>{{(x.slice(2, 0, 1) > 0).to(d), places({6}, 6)}});
}

TEST_CASE("places that the function computes, and tables too") {
  check_paths([](const Tensor& a) { return tt::gather(a * 2, 1, tt::argmax(a, 1, true)) - a.amax(1, true) * 2 + a; }, std::vector<std::tuple<Tensor>>{{ramp({5, 8})}, {ramp({9, 8})}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::matmul(a, a.t()).index_select(0, at).relu().sum(1); }, std::vector<Two>{{ramp({6, 4}), places({11}, 6)}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::matmul(a, a.t()) + tt::index_select(a.sum(1), 0, at); }, std::vector<Two>{{ramp({6, 4}), places({6}, 6)}});
}

TEST_CASE("tables that are repeated along rows, of elements as wide as places") {
  const Tensor narrow = ramp({50, 1}, DType::f64);
  check_paths([](const Tensor& x, const Tensor& i) { return tt::index_select(x, 0, i).sum(0); }, std::vector<Two>{{narrow.expand({50, 3}), places({600}, 50)}});
  check_paths([](const Tensor& x, const Tensor& i) { return tt::matmul(x.slice(0, 0, 3).t(), x.slice(0, 0, 3)) + tt::index_select(x, 0, i); },
              std::vector<Two>{{narrow.expand({50, 3}), places({3}, 50)}});
  check_paths([](const Tensor& x, const Tensor& i) { return tt::index_select(x, 0, i) * 2; }, std::vector<Two>{{ramp({50, 1}, DType::i64).expand({50, 3}), places({600}, 50)}});
}

TEST_CASE("long rows, and tables without rows") {
  check_paths([](const Tensor& a, const Tensor& at) { return tt::index_select(a, 0, at).log_softmax(1); }, std::vector<Two>{{ramp({5, 5000}), places({3}, 5)}, {ramp({2, 4097}), places({7}, 2)}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::index_select(a, 0, at).sum(0) + 1; }, std::vector<Two>{{ramp({50, 3}), places({600}, 50)}});
  check_paths([](const Tensor& a, const Tensor& at) { return tt::index_select(a, 0, at) + 1; }, std::vector<Two>{{tt::zeros({0, 3}), tt::zeros({0}, {DType::i64})}});
}

TEST_CASE("a wrong place is the error of the op, at its line, on every call") {
  const auto f = [](const Tensor& a, const Tensor& at) { return tt::index_select(a, 1, at) * 2; };
  const Tensor x = ramp({3, 5}), right = places({4}, 5);
  auto c = tt::compile(f);
  CHECK(same_bits(c(x, right), f(x, right)));
  for (const Tensor& wrong : {right + 4, right - 5}) {
    const std::string said = message([&] { (void)f(x, wrong); });
    CHECK(contains(said, "tt::index_select: index"));
    CHECK(message([&] { (void)c(x, wrong); }) == said);
  }
  const auto two_lines = [](const Tensor& a, const Tensor& at) {
    const Tensor e = tt::index_select(a, 1, at);
    return e.reshape({3, 2, 2}) + 1;
  };
  CHECK(message([&] { (void)tt::compile(two_lines)(x, right + 4); }) == message([&] { (void)two_lines(x, right + 4); }));
  const auto part = [](const Tensor& a, const Tensor& at) { return tt::gather(a, 0, at) * 2; };
  auto p = tt::compile(part);
  CHECK(same_bits(p(x, places({2, 4}, 3)), part(x, places({2, 4}, 3))));
  CHECK(message([&] { (void)p(x, places({2, 7}, 3)); }) == message([&] { (void)part(x, places({2, 7}, 3)); }));
  CHECK(same_bits(p(x, places({3, 1}, 3)), part(x, places({3, 1}, 3))));
}

TEST_CASE("results that have to lie in memory come from calls") {
  const Tensor x = ramp({6, 4}), i = places({5}, 6);
  CHECK(steps_of([](const Tensor& a, const Tensor& at) { return tt::index_select(a, 0, at); }, x, i) == Steps{"index_select"});
  CHECK(steps_of([](const Tensor& a, const Tensor& at) { return tt::matmul(tt::index_select(a, 0, at), a.t()); }, x, i) == Steps{"index_select", "1"});
  CHECK(steps_of([](const Tensor& a, const Tensor& at) { return tt::index_select(a, 0, at).t() + 1; }, x, i) == Steps{"index_select", "2"});
}

TEST_CASE("calls read inputs and other calls' results, reshaped and cut, where they lie") {
  const auto by_pairs = tt::compile([](const Tensor& x, const Tensor& i, const Tensor& j) { return tt::index(x, std::vector<Tensor>{i, j}); });
  const auto by_part = tt::compile([](const Tensor& x, const Tensor& i) { return tt::index_select(x.t().slice(0, 1, 5, 2).reshape({-1}), 0, i) * 2 + x.sum(); });
  const auto of_call = tt::compile([](const Tensor& x, const Tensor& i) { return tt::index_select(tt::index_select(x, 0, i).permute({1, 0}), 0, i) + 1; });
  const auto shown_twice = tt::compile([](const Tensor& x, const Tensor& i) {
    const Tensor line = x.reshape({-1});
    return std::pair(tt::index_select(line, 0, i), line * 2);  // a kernel reads it too
  });
  const Tensor x = tt::arange(48).to(DType::f32).reshape({6, 8}), i = tt::tensor(std::vector<std::int64_t>{0, 5, 2}), j = tt::tensor(std::vector<std::int64_t>{7, 0, 0});
  for (const Tensor& own : {x, x + 1, x.t().contiguous().t()}) {
    CHECK(same_bits(by_pairs(own, i, j), tt::index(own, std::vector<Tensor>{i, j})));
    CHECK(same_bits(by_part(own, i), tt::index_select(own.t().slice(0, 1, 5, 2).reshape({-1}), 0, i) * 2 + own.sum()));
    CHECK(same_bits(of_call(own, i), tt::index_select(tt::index_select(own, 0, i).t(), 0, i) + 1));
    const auto [taken, twice] = shown_twice(own, i);
    CHECK(same_bits(taken, tt::index_select(own.reshape({-1}), 0, i)));
    CHECK(same_bits(twice, own.reshape({-1}) * 2));
  }
  CHECK(!contains(by_pairs.explain(), "s0*s"));  // no kernel goes over the table
}

TEST_CASE("gradients, examples, and a table that is changed in the same call") {
  const auto f = [](const Tensor& table, const Tensor& at) {
    return tt::value_and_grad([](const Tensor& t, const Tensor& p) { return (tt::embedding(p, t).tanh() * 3).sum(); })(table, at);
  };
  const Tensor w = ramp({7, 3}), i = places({4, 2}, 7);
  for (const bool wait : {false, true}) {
    auto c = tt::compile(f, {.tier = wait, .wait = wait, .fullgraph = true});
    const auto [v, d] = c(w, i);
    const auto [v0, d0] = f(w, i);
    CHECK(same_bits(v, v0));
    CHECK(same_bits(d, d0));
  }
  const auto step = [](Tensor table, const Tensor& at) {
    const Tensor y = tt::embedding(at, table) * 2;
    table.mul_(0.5);
    return y + 1;
  };
  const Tensor one = w.clone(), two = w.clone();
  auto s = tt::compile(step, {.wait = true});
  for (int round = 0; round < 3; ++round) {
    CHECK(same_bits(s(one, i), step(two, i)));
    CHECK(same_bits(one, two));
  }
  const auto next = [](const Tensor& table, Tensor at) {
    const Tensor y = tt::embedding(at, table) * 2;
    at.add_(1);
    return y + 1;
  };
  for (const bool wait : {false, true}) {
    const Tensor these = places({4, 2}, 4), those = these.clone();
    auto n = tt::compile(next, {.tier = wait, .wait = wait});
    for (int round = 0; round < 3; ++round) {
      CHECK(same_bits(n(w, these), next(w, those)));
      CHECK(same_bits(these, those));
    }
  }
  check_paths([](const Tensor& a, const Tensor& at) { return tt::vmap([at](const Tensor& row) { return tt::index_select(row, 0, at).exp() + 1; })(a); }, std::vector<Two>{{ramp({5, 8}), places({4}, 8)}}, 1);
}

TEST_CASE("a sum of which a label chooses one element loads that element: as it is, wherever it lies") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType d : {DType::f32, DType::f64}) {
    Tensor dense = tt::randn({6, 9}, 5).to(d);
    dense[1].fill_(nan);
    dense[2].fill_(-0.0);
    dense[4].fill_(-inf);
    dense.select(1, 3).fill_(2);
    const Tensor labels = tt::tensor({3, 3, 0, -100, 3, 8}).to(DType::i64), weight = tt::rand({9}, 7).to(d);
    const Tensor inside = labels.clamp(0), there = labels != -100;
    for (const Tensor& x : {dense, dense.t().contiguous().t(), tt::cat({dense, dense}, 1).slice(1, 4, 13).roll(-5, 1), tt::cat({dense, dense}, 0).slice(0, 0, 6)}) {
      const Tensor chosen = x.gather(1, inside.unsqueeze(1)).squeeze(1);
      const Tensor wanted = tt::where(there, 0 - chosen, tt::zeros({}, d)), weighted = tt::where(there, (0 - chosen) * weight.index_select(0, inside), tt::zeros({}, d));
      const auto none = [](const Tensor& a, const Tensor& l) { return tt::call("nll_loss", {a, l}, {{"reduction", "none"}}); };
      const auto with_weight = [](const Tensor& a, const Tensor& l, const Tensor& w) { return tt::call("nll_loss", {a, l, w}, {{"reduction", "none"}}); };
      CHECK(tt::equal(none(x, labels), wanted));
      CHECK(tt::equal(tt::compile(none)(x, labels), wanted));
      CHECK(tt::equal(with_weight(x, labels, weight), weighted));
      CHECK(tt::equal(tt::compile(with_weight)(x, labels, weight), weighted));
      CHECK(1 / none(x, labels)[2].item<double>() == -inf);  // a sum with zeros is 0 for -0, and its negative -0
      const Tensor images = x.t().reshape({1, 9, 2, 3});
      CHECK(tt::equal(none(images, labels.reshape({1, 2, 3})).flatten(), wanted));
    }
    const Tensor no_class = tt::call("nll_loss", {tt::zeros({2, 0}, d), tt::tensor({-100, -100}).to(DType::i64)}, {{"reduction", "sum"}});
    CHECK(no_class.item<double>() == 0);
  }
}
