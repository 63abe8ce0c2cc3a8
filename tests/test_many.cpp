// Nothing that a program has many of has a limit: Tensors to a compiled function and in a segment, parts of a cat, numbers
// among arguments; and what is kept of them is bounded.
#include <doctest/doctest.h>
#include <malloc.h>

#include <optional>

#include "random_graph.hpp"
#include "sanitizers.hpp"
#include "tensors.hpp"
#include "tt/dispatch/recent_table.hpp"
#include "tt/dispatch/all_ops.hpp"

namespace {

using tt::Tensor;

std::vector<Tensor> many(int count, bool gradients = false) {
  std::vector<Tensor> list;
  for (int k = 0; k < count; ++k) {
    list.push_back(tt::full({2, 3}, 0.25 * (k % 7) - 0.5));
    if (gradients) list.back().requires_grad_();
  }
  return list;
}
Tensor weighted_sum(const std::vector<Tensor>& list) {
  Tensor total = list[0] * 1;
  for (std::size_t k = 1; k < list.size(); ++k) total = total + list[k] * static_cast<double>(k % 5);
  return total;
}
/// A step of gradient descent with momentum, as one function of all Tensors.
Tensor descend(std::vector<Tensor>& parameters, std::vector<Tensor>& momenta, const Tensor& x) {
  Tensor loss = x.sum();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    loss = loss + (parameters[k] * x).sum();
    momenta[k] = momenta[k] * 0.5 + parameters[k] * x;
    parameters[k] = parameters[k] - momenta[k] * 0.125;
  }
  return loss;
}

}  // namespace

TEST_CASE("a compiled function takes two thousand Tensors") {
  const std::vector<Tensor> list = many(2000);
  auto f = tt::compile([](const std::vector<Tensor>& l) { return weighted_sum(l); }, {.tier = 0});
  const Tensor want = weighted_sum(list);
  for (int call = 0; call < 2; ++call) CHECK(same_bits(f(list), want));
  CHECK(f.captures() == 1);
}

TEST_CASE("a thousand Tensors of other sizes, and a thousand views of one, are one capture") {
  const auto ends = [](const std::vector<Tensor>& x) { return x.front().sum() + x.back().sum(); };
  auto f = tt::compile(ends, {.tier = 0});
  std::vector<Tensor> sizes, views;
  const Tensor buffer = tt::ones({2000});
  for (int k = 0; k < 1000; ++k) {
    sizes.push_back(tt::ones({k + 2}));
    views.push_back(buffer.slice(0, k, 2 * k + 2 < 2000 ? k + 2 : 2000));
  }
  for (int round = 0; round < 2; ++round) {
    CHECK(f(sizes).item() == 1003);
    CHECK(f(views).item() == 4 - 2 + views.back().numel());
  }
  CHECK(f.captures() == 2);
}

TEST_CASE("two thousand Tensors are changed in place by one compiled function") {
  std::vector<Tensor> p = many(1000), m = many(1000), eager_p = many(1000), eager_m = many(1000);
  const Tensor x = tt::full({2, 3}, 0.5);
  auto step = tt::compile([](std::vector<Tensor>& a, std::vector<Tensor>& b, const Tensor& c) { return descend(a, b, c); }, {.tier = 0});
  for (int call = 0; call < 2; ++call) CHECK(same_bits(step(p, m, x), descend(eager_p, eager_m, x)));
  for (std::size_t k = 0; k < p.size(); k += 37) CHECK((same_bits(p[k], eager_p[k]) && same_bits(m[k], eager_m[k])));
  CHECK(step.captures() == 1);
}

TEST_CASE("gradients reach each of three hundred Tensors, to second order") {
  const std::vector<Tensor> list = many(300, true), eager = many(300, true);
  const auto cube = [](const std::vector<Tensor>& l) {
    const Tensor s = weighted_sum(l);
    return (s * s * s).sum();
  };
  auto f = tt::compile(cube, {.tier = 0});
  const auto second = [&](const Tensor& y, const std::vector<Tensor>& of) {
    const std::vector<Tensor> first = tt::grad({y}, of, {}, true, true);
    return tt::grad({(first[4] * first[4]).sum()}, {of[1], of[299]});
  };
  const std::vector<Tensor> a = second(f(list), list), b = second(cube(eager), eager);
  CHECK(same_bits(a[0], b[0]));
  CHECK(same_bits(a[1], b[1]));
  f(list).backward();
  cube(eager).backward();
  for (std::size_t k = 0; k < list.size(); k += 13) CHECK(same_bits(list[k].grad(), eager[k].grad()));
}

TEST_CASE("a function with a graph break has segments of hundreds of Tensors") {
  const std::vector<Tensor> list = many(400);
  const auto f = [](const std::vector<Tensor>& l) {
    const Tensor s = weighted_sum(l);
    return s.sum().item() > 0 ? s : s * 2;
  };
  auto compiled = tt::compile(f, {.tier = 0});
  for (int call = 0; call < 2; ++call) CHECK(same_bits(compiled(list), f(list)));
  CHECK(compiled.segments() == 1);
}

TEST_CASE("a frozen function holds hundreds of Tensors") {
  const std::vector<Tensor> list = many(200);
  const auto f = [list](const Tensor& x) { return weighted_sum(list) * x; };
  auto compiled = tt::compile(tt::frozen(f), {.tier = 0});
  const Tensor x = tt::full({2, 3}, 1.5);
  CHECK(same_bits(compiled(x), f(x)));
}

TEST_CASE("cat joins any number of parts at once, with gradients, compiled too") {
  for (const int count : {9, 65, 300}) {
    CAPTURE(count);
    const std::vector<Tensor> list = many(count, true), other = many(count, true);
    const Tensor joined = tt::cat(list, 1);
    REQUIRE(shape(joined) == shape(tt::zeros({2, 3 * count})));
    for (int k = 0; k < count; k += 7) CHECK(same_bits(joined.slice(1, 3 * k, 3 * k + 3), list[static_cast<std::size_t>(k)]));
    (joined * joined).sum().backward();
    auto f = tt::compile([](const std::vector<Tensor>& l) {
      const Tensor j = tt::cat(l, 1);
      return (j * j).sum();
    }, {.tier = 0});
    f(other).backward();
    for (int k = 0; k < count; k += 5)
      CHECK(same_bits(list[static_cast<std::size_t>(k)].grad(), other[static_cast<std::size_t>(k)].grad()));
  }
}

TEST_CASE("a hundred numbers are arguments of a compiled function") {
  auto f = tt::compile([](const Tensor& x, const std::vector<double>& by) {
    Tensor y = x;
    for (double b : by) y = y + b;
    return y;
  }, {.tier = 0});
  std::vector<double> by(100, 0.5);
  CHECK(f(tt::zeros({2}), by)[0].item() == 50);
  by[99] = 1.5;
  CHECK(f(tt::zeros({2}), by)[0].item() == 51);
}

TEST_CASE("a table of recent entries drops the oldest, but not those in turn, and keeps what is read") {
  struct Entry {
    int number;
    int* gone;
    ~Entry() { ++*gone; }
  };
  int gone = 0;
  tt::RecentTable<Entry, 4> table;
  const auto find = [&](int k) { return table.find(static_cast<std::uint64_t>(k), [&](const Entry& e) { return e.number == k; }); };
  const auto use = [&](int k) {
    const auto reading = table.read();
    Entry* e = find(k);
    if (!e) e = table.insert(static_cast<std::uint64_t>(k), std::unique_ptr<Entry>(new Entry{k, &gone}));
    return e != nullptr;
  };
  for (int k = 0; k < 4; ++k) CHECK(use(k));
  for (int round = 0; round < 10; ++round)
    for (int k = 0; k < 5; ++k) CHECK(use(k) == (k < 4));  // five in turn, room for four
  CHECK(table.evicted() == 0);
  CHECK(table.refused() == 10);
  gone = 0;
  for (int k = 0; k < 30; ++k) CHECK(use(k % 3));  // 3 is not used any more
  {
    const auto reading = table.read();
    Entry* const old = find(2);
    CHECK(use(7));
    CHECK(gone == 0);  // somebody reads
    CHECK(old->number == 2);
  }
  CHECK(gone == 1);
  CHECK((table.evicted() == 1 && table.size() == 4 && use(0) && use(1) && use(2)));
}

TEST_CASE("a large table drops an eighth at once, none of those in use, and what a reader stands on stays") {
  struct Entry {
    int number;
    int* gone;
    ~Entry() { ++*gone; }
  };
  int gone = 0;
  tt::RecentTable<Entry, 32> table;
  const auto find = [&](int k) { return table.find(static_cast<std::uint64_t>(k) * 3, [&](const Entry& e) { return e.number == k; }); };
  const auto use = [&](int k) {
    const auto reading = table.read();
    Entry* e = find(k);
    if (!e) e = table.insert(static_cast<std::uint64_t>(k) * 3, std::unique_ptr<Entry>(new Entry{k, &gone}));
    return e != nullptr;
  };
  for (int k = 0; k < 32; ++k) REQUIRE(use(k));
  CHECK(!use(100));  // all are recent
  gone = 0;
  for (int round = 0; round < 8; ++round)
    for (int k = 3; k < 32; ++k) use(k);
  {
    const auto reading = table.read();
    const Entry* const old = find(5);
    std::vector<int> seen;
    table.each([&](const Entry& e) {
      if (e.number == 2) {  // the reader stands among those that go
        CHECK(use(200));
        CHECK(table.evicted() == 3);  // of four that would make room, one is in use
      }
      seen.push_back(e.number);
      return false;
    });
    CHECK(seen.back() == 0);
    CHECK((gone == 0 && old->number == 5));
  }
  CHECK((use(3) && gone == 3 && table.size() == 30));
  for (int k = 3; k < 32; ++k) CHECK(table.find_any([&](const Entry& e) { return e.number == k; }) != nullptr);
  for (int k = 0; k < 3; ++k) CHECK(find(k) == nullptr);
}

TEST_CASE("what a table removed is freed though somebody reads at every moment") {
  struct Entry {
    int* gone;
    ~Entry() { ++*gone; }
  };
  int gone = 0;
  tt::RecentTable<Entry, 4> table;
  using Reading = decltype(table.read());
  std::optional<Reading> reading[2];
  constexpr int made = 1000;
  for (int k = 0; k < made; ++k) {
    reading[k % 2].emplace(table);  // before the one that it takes turns with ends
    table.insert(static_cast<std::uint64_t>(k), std::unique_ptr<Entry>(new Entry{&gone}), true);
    reading[1 - k % 2].reset();
    CHECK(gone >= k - 8);
  }
  CHECK(gone < made);
}

TEST_CASE("captures of a function are bounded, and explain counts those that were dropped") {
  auto f = tt::compile([](const Tensor& x, const Tensor& y) { return x + y; }, {.tier = 0, .fullgraph = true});
  each_pair_of_shapes([&](const tt::IntList& a, const tt::IntList& b) { CHECK(f(tt::ones(a), tt::ones(b)).amax().item() == 2); });
  CHECK(f.captures() <= 128);
  CHECK(contains(std::string(f.explain()), "captures were dropped for others"));
}

TEST_CASE("a function that is called in more ways than captures are kept runs op by op for the rest") {
  auto f = tt::compile([](const std::vector<Tensor>& list) {
    Tensor sum = list[0];
    for (const Tensor& t : list) sum = sum + t;
    return sum;
  });
  for (int round = 0; round < 2; ++round)
    for (int n = 1; n <= 140; ++n) CHECK(f(std::vector<Tensor>(static_cast<std::size_t>(n), tt::ones({2}))).sum().item() == 2 * (n + 1));
  CHECK(f.captures() == 128);
  CHECK(contains(std::string(f.explain()), "calls found no room for a capture and ran op by op"));
}

TEST_CASE("a compiled function that is made, called and dropped again and again leaves no memory behind") {
  const Tensor x = tt::ones({300});
  const auto once = [&] {
    const auto f = tt::compile([](const Tensor& t) { return tt::tanh(t * 2) + t; }, {.wait = true});
    return f(x).sum().item();
  };
  const auto bytes = [] { return static_cast<std::int64_t>(mallinfo2().uordblks); };
  const double value = once();
  for (int k = 0; k < 50; ++k) once();
  const std::int64_t before = bytes();
  for (int k = 0; k < 500; ++k) REQUIRE(once() == value);
  CHECK(bytes() - before < 100 << 10);  // 10 KB each were 5 MB
}

TEST_CASE("functions of eager ops are bounded: ten thousand slice offsets take no more memory than some") {
  const Tensor x = tt::ones({20000}).requires_grad_(), w = tt::full({3}, 2.0).requires_grad_();
  const auto offset = [&](int k) { (x.slice(0, k, k + 3) * w).sum().backward(); };
  const Tensor second = tt::grad({(x.slice(0, 5, 8) * x.slice(0, 5, 8) * w).sum()}, {x}, {}, true, true)[0];
  const auto bytes = [] { return static_cast<std::int64_t>(mallinfo2().uordblks); };
  constexpr int first = is_sanitized ? 2200 : 4000, all = is_sanitized ? 4000 : 14000;  // the table is full of the first ones
  for (int k = 0; k < first; ++k) offset(k);
  const std::int64_t before = bytes();
  for (int k = first; k < all; ++k) offset(k);
  CHECK(bytes() - before < 10 << 20);  // without a bound 10,000 functions are 200 MB
  const tt::FunctionStats stats = tt::function_stats();
  CHECK(stats.kept <= stats.most);
  CHECK(stats.evicted + stats.refused >= all - first);
  Tensor expected = tt::zeros({20000});
  for (int k = 0; k < all; ++k) static_cast<float*>(expected.data())[k] += 2, static_cast<float*>(expected.data())[k + 1] += 2, static_cast<float*>(expected.data())[k + 2] += 2;
  CHECK(same_bits(x.grad(), expected));
  x.grad().zero_();
  second.sum().backward();  // of a function whose place others have taken
  CHECK(numbers(x.grad().slice(0, 4, 9)) == Numbers{0, 4, 4, 4, 0});
}

namespace {

/// A program of matrices of four columns, drawn from a seed: it computes, makes views, changes arguments in place, joins a cache (the
/// first argument) with what it made, and returns some of all that.
std::vector<Tensor> draw_and_run(std::vector<Tensor> x, std::uint64_t seed) {
  fuzz::Random dice(seed);
  struct Known {
    Tensor t;
    int rows;  ///< equal numbers: equal sizes
  };
  std::vector<Known> known;
  for (std::size_t k = 0; k < x.size(); ++k) known.push_back({x[k], k == 0 ? 0 : 1});
  int next = 2;
  const auto pick = [&]() -> std::size_t { return static_cast<std::size_t>(dice.below(static_cast<int>(known.size()))); };
  for (int step = 2 + dice.below(8); step > 0; --step) {
    const Known a = known[pick()];
    Known b = known[pick()];
    for (int tries = 0; b.rows != a.rows && tries < 20; ++tries) b = known[pick()];
    if (b.rows != a.rows) b = a;
    switch (dice.below(9)) {
      case 0: known.push_back({a.t + b.t * 0.5, a.rows}); break;
      case 1: known.push_back({tt::tanh(a.t), a.rows}); break;
      case 2: known.push_back({a.t - a.t.mean(0, true), a.rows}); break;
      case 3: known.push_back({a.t.slice(0, 1, a.t.size(0)), next++}); break;
      case 4: known.push_back({a.t.reshape({-1, 2, 2}).reshape({-1, 4}), a.rows}); break;
      case 5: known.push_back({tt::cat({known[0].t, b.t}, 0), next++}); break;
      case 6: known[pick()].t.mul_(0.75); break;
      case 7: {
        Known& target = known[static_cast<std::size_t>(dice.below(static_cast<int>(x.size())))];
        if (target.rows == b.rows) target.t.add_(tt::tanh(b.t));
        break;
      }
      default: known.push_back({a.t.t().contiguous().t() * 1.5, a.rows}); break;
    }
  }
  std::vector<Tensor> result;
  for (int n = 1 + dice.below(4); n > 0; --n) result.push_back(known[pick()].t);
  result.push_back(known.back().t);
  return result;
}

}  // namespace

TEST_CASE("random programs that return views, grow caches and take many Tensors agree with eager") {
  const char* const more = std::getenv("TT_FUZZ_COUNT");
  const int programs = more ? std::atoi(more) : 150;
  fuzz::Random dice(4711);
  int views = 0;
  for (int program = 0; program < programs; ++program) {
    CAPTURE(program);
    const auto seed = static_cast<std::int64_t>(program) * 7919 + 1;
    auto compiled = tt::compile([](std::vector<Tensor>& x, std::int64_t s) { return draw_and_run(x, static_cast<std::uint64_t>(s)); }, {.tier = 0});
    const int count = program % 50 == 49 ? 500 + dice.below(1501) : program % 10 == 9 ? 65 + dice.below(400) : 2 + dice.below(6);
    const auto numbers_of = [&](std::int64_t rows, int step) { return (tt::arange(static_cast<double>(rows * 4)) * (0.01 * (step % 13 + 1))).reshape({rows, 4}); };
    Tensor cache = numbers_of(3, 1), eager_cache = cache.clone();
    for (int call = 0; call < 4; ++call) {
      const std::int64_t rows = 2 + dice.below(6);
      std::vector<Tensor> x{cache}, y{eager_cache};
      for (int k = 1; k < count; ++k) {
        x.push_back(numbers_of(rows, k + call));
        y.push_back(x.back().clone());
      }
      std::vector<Tensor> got = compiled(x, seed), want = draw_and_run(y, static_cast<std::uint64_t>(seed));
      REQUIRE(got.size() == want.size());
      for (std::size_t r = 0; r < want.size(); ++r) {
        CAPTURE(r);
        REQUIRE(same_bits(got[r], want[r]));
        for (std::size_t k = 0; k < x.size(); ++k) {
          REQUIRE(got[r].shares_storage(x[k]) == want[r].shares_storage(y[k]));
          views += want[r].shares_storage(y[k]);
        }
      }
      for (std::size_t k = 0; k < x.size(); ++k) REQUIRE(same_bits(x[k], y[k]));
      if (got.back().size(0) < 200) {  // what was joined is the next call's cache
        cache = got.back().clone();
        eager_cache = cache.clone();
      }
    }
  }
  CHECK(views > programs / 4);
}
