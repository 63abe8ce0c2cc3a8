// Random graphs on the tile interpreter against the reference executor, bit for bit; and bugs
// planted in plans and graphs, each of which must be found.
//   TT_FUZZ_COUNT=100000 TT_FUZZ_SEED=7 ./test_fuzz
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "planted_bugs.hpp"
#include "run_tiles.hpp"
#include "shrink.hpp"
#include "tt/functional/parse.hpp"
#include "tt/graph/check.hpp"
#include "tt/plan/print.hpp"
#include "sanitizers.hpp"

// A planted bug may end in a fault, which leaves the executor by a jump: its memory is lost on purpose.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace {

using namespace fuzz;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// What is wrong with a program, as text; empty if nothing is.
tt::Text find_fault(const Case& c) {
  tt::Text t;
  const std::vector<Values> want = evaluate(c.graph, c.symbols, c.input);
  const Graph normal = tt::normalize(c.graph);
  for (const tt::CheckResult legal : {tt::check(c.graph), tt::check(tt::inline_bodies(c.graph)), tt::check(normal, tt::Phase::normalized),
                                      tt::check(tt::normalize(c.graph, tt::Transposed::as_it_lies), tt::Phase::normalized)})
    if (!legal) {
      t << "an illegal graph: node " << legal.node << ' ' << legal.why << '\n';
      return t;
    }
  if (const Difference d = compare(c.graph, want, evaluate(normal, c.symbols, c.input))) {
    t << "normalize changes a value: ";
    describe(t, c.graph, d);
    return t;
  }
  const GuardedResult r = run_tiles(tt::make_plan(c.graph), c.graph, c.symbols, c.input);
  if (r.trouble) t << r.trouble << '\n';
  else if (const Difference d = compare(c.graph, want, r.output)) describe(t, c.graph, d);
  return t;
}

std::string report(const Program& p, const tt::Text& fault) {
  tt::Text t;
  t << "seed " << p.seed << ": " << fault;
  const Case small =
      shrink(without_bodies(p), [](const Case& c) { return !find_fault(c).empty(); });
  t << "shrunk: " << find_fault(small) << tt::to_string(small.graph);
  t << tt::to_string(tt::make_plan(small.graph));
  for (int k = 0; k < 2; ++k) t << "s" << k << " = " << p.symbols.value[k] << ' ';
  return t;
}

class Histogram {
 public:
  void add(const std::string& key) { ++count_[key]; }
  void print(const char* title) const {
    std::printf("%s:", title);
    for (const auto& [key, n] : count_) std::printf(" %s %d", key.c_str(), n);
    std::printf("\n");
  }

 private:
  std::map<std::string, int> count_;
};

std::string bucket(std::int64_t n) {
  for (std::int64_t limit : {0, 1, 15, 16, 17, 63, 64, 65, 256, 1024, 4096})
    if (n <= limit) return "<=" + std::to_string(100000 + limit).substr(1);
  return "> 4096";
}

struct Statistics {
  Histogram ops, sizes, ranks, extents, dtypes, kinds;
  void add(const Program& p, const Graph& inlined) {
    sizes.add(bucket(p.graph.size()));
    bool donated = false;
    for (int d : p.graph.donated) donated = donated || d >= 0;
    if (donated) kinds.add("updates in place");
    if (p.differentiated) kinds.add("with gradients");
    if (p.symbols.value[0] > 0) kinds.add("with symbols");
    for (const tt::Node& n : inlined.nodes) {
      ops.add(tt::node_name(n));
      dtypes.add(tt::name(n.dtype));
      ranks.add(std::to_string(n.shape.rank));
      for (int k = 0; k < n.shape.rank; ++k) extents.add(bucket(n.shape[k].value(p.symbols)));
    }
  }
  void print() const {
    ops.print("ops");
    sizes.print("recorded nodes");
    ranks.print("ranks");
    extents.print("extents");
    dtypes.print("dtypes");
    kinds.print("graphs");
  }
};

}  // namespace

TEST_CASE("random graphs have the reference's bits on the tile interpreter") {
  const std::uint64_t first = setting("TT_FUZZ_SEED", 1), count = setting("TT_FUZZ_COUNT", is_sanitized ? 800 : 6000);
  const std::uint64_t most_reports = setting("TT_FUZZ_REPORTS", 5);
  Statistics statistics;
  std::uint64_t failures = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program p = random_program(seed, {.narrow = seed % 3 == 0, .takes = seed % 4 == 1});
    const Case c = without_bodies(p);
    statistics.add(p, c.graph);
    if (p.graph.failure) {
      FAIL_CHECK(seed << ": " << std::string(tt::describe(p.graph.failure)));
      continue;
    }
    const tt::Text fault = find_fault(c);
    if (fault.empty()) continue;
    if (++failures <= most_reports) FAIL_CHECK(report(p, fault));
  }
  CHECK(failures == 0);
  statistics.print();
}

TEST_CASE("simplification while recording changes no bit") {
  const std::uint64_t first = setting("TT_FUZZ_SEED", 1);
  int compared = 0;
  for (std::uint64_t seed = first; seed < first + (is_sanitized ? 400 : 1500); ++seed) {
    const Program p = random_program(seed, {});
    if (p.differentiated) continue;  // sums of adjoints follow the graph that is recorded
    const Program hidden = Generator(p.drawn, {.hide_constants = true}).run();
    const Graph g = tt::inline_bodies(p.graph);
    const Difference d =
        compare(g, evaluate(tt::inline_bodies(hidden.graph), hidden.symbols, hidden.input),
                evaluate(g, p.symbols, p.input));
    tt::Text t;
    if (d) fuzz::describe(t << "seed " << seed << ": ", g, d);
    CHECK_MESSAGE(!d, std::string(t << tt::to_string(g)));
    compared += hidden.graph.inputs.size() > p.graph.inputs.size();
  }
  CHECK(compared > (is_sanitized ? 50 : 200));
}

TEST_CASE("what is called normal is what rewriting would leave as it is") {
  int normal = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const Graph g = tt::inline_bodies(random_program(seed, {}).graph);
    if (!tt::is_normal(g)) continue;
    ++normal;
    const Graph r = tt::canonical(tt::detail::Normalizer(g).r);
    CHECK(r == g);
  }
  CHECK(normal > 100);
}

TEST_CASE("canonical numbering changes no value") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Program p = random_program(seed, {});
    const Graph g = tt::inline_bodies(p.graph), c = tt::inline_bodies(tt::canonical(p.graph));
    CHECK(!compare(g, evaluate(g, p.symbols, p.input), evaluate(c, p.symbols, p.input)));
  }
}

namespace {

/// Finds a bug that `plant` hides somewhere in a program's graph or plan: the number of graphs
/// until results differ, or -1 after `budget`. Where the bug has no effect the next one is taken.
template <class Plant>
int graphs_until_found(int budget, const Plant& plant) {
  Random r(2024);
  for (int n = 1; n <= budget; ++n) {
    const Program p = random_program(static_cast<std::uint64_t>(n), {});
    const Case c = without_bodies(p);
    Graph g = c.graph;
    tt::Plan plan;
    if (!plant(p, g, plan, r)) continue;
    const GuardedResult result = run_tiles(plan, c.graph, c.symbols, c.input);
    if (result.trouble || compare(c.graph, evaluate(c.graph, c.symbols, c.input), result.output))
      return n;
  }
  return -1;
}

template <class Mutate>
int graphs_until_plan_bug_found(const Mutate& mutate) {
  return graphs_until_found(1500, [&](const Program&, const Graph& g, tt::Plan& plan, Random& r) {
    plan = tt::make_plan(g);
    return mutate(plan, r);
  });
}
template <class Mutate>
int graphs_until_graph_bug_found(const Mutate& mutate) {
  return graphs_until_found(1500, [&](const Program&, Graph& g, tt::Plan& plan, Random& r) {
    if (!mutate(g, r)) return false;
    plan = tt::make_plan(g);
    return true;
  });
}

void check_found(int graphs) {
  std::printf("found after %d graphs\n", graphs);
  CHECK(graphs > 0);
}

}  // namespace

TEST_CASE("planted: exchanged operands") {
  check_found(graphs_until_plan_bug_found(swap_operands));
}
TEST_CASE("planted: a dropped store") { check_found(graphs_until_plan_bug_found(drop_store)); }
TEST_CASE("planted: a wrong row stride") { check_found(graphs_until_plan_bug_found(wrong_stride)); }
TEST_CASE("planted: a wrong modulus") { check_found(graphs_until_plan_bug_found(wrong_modulus)); }
TEST_CASE("planted: a buffer reused one kernel too early") {
  check_found(graphs_until_plan_bug_found(free_too_early));
}
TEST_CASE("planted: a constant one ulp off") {
  check_found(graphs_until_plan_bug_found(constant_one_ulp_off));
}
TEST_CASE("planted: a missing guard at the end of a row") {
  check_found(graphs_until_plan_bug_found(missing_guard));
}
TEST_CASE("planted: a reduction with another op") {
  check_found(graphs_until_plan_bug_found(wrong_reduction));
}
TEST_CASE("planted: a forgotten last column") {
  check_found(graphs_until_plan_bug_found(forget_last_column));
}
TEST_CASE("planted: shared code bound to a sibling's operand") {
  check_found(graphs_until_plan_bug_found(wrong_binding));
}
TEST_CASE("planted: a transposed operand packed the wrong way") {
  check_found(graphs_until_plan_bug_found(wrong_packing));
}
TEST_CASE("planted: two kernels in the wrong order") {
  check_found(graphs_until_plan_bug_found(exchange_kernels));
}
TEST_CASE("planted: a reduction over the wrong axis") {
  check_found(graphs_until_graph_bug_found(wrong_axis));
}
TEST_CASE("planted: two different nodes taken for one") {
  check_found(graphs_until_graph_bug_found(merge_different));
}
TEST_CASE("planted: a forgotten transposition of a square") {
  check_found(graphs_until_graph_bug_found(forget_permute));
}
TEST_CASE("planted: an inexact simplification") {
  check_found(graphs_until_graph_bug_found(inexact_simplification));
}
TEST_CASE("planted: another order of summation") {
  check_found(graphs_until_graph_bug_found(wrong_order));
}
TEST_CASE("planted: an update in place before the last read") {
  check_found(graphs_until_found(1500, [](const Program&, const Graph& g, tt::Plan& plan, Random&) {
    plan = plan_without_conflicts(g);
    return true;
  }));
}
TEST_CASE("planted: a dropped detach") {
  check_found(graphs_until_found(1500, [](const Program& p, const Graph&, tt::Plan& plan, Random&) {
    plan = tt::make_plan(Generator(p.drawn, {.drop_detach = true}).run().graph);
    return true;
  }));
}

namespace {

struct Slope {
  double by_gradient = 0, by_difference = 0, uncertainty = 0;
};

/// The slope of output 0 along a random direction: by the gradients (the other outputs) and by
/// central differences of two widths.
Slope slope(const Program& p, Random& r) {
  const Graph g = tt::inline_bodies(p.graph);
  std::vector<std::vector<double>> direction;
  for (const Values& v : p.input) {
    direction.emplace_back(v.size());
    for (double& x : direction.back()) x = r.unit() * 2 - 1;
  }
  const auto value_at = [&](double h) {
    std::vector<Values> input = p.input;
    for (std::size_t k = 0; k < input.size(); ++k)
      for (std::size_t i = 0; i < input[k].size(); ++i)
        input[k][i] = tt::encode(DType::f64, tt::decode<double>(input[k][i]) + h * direction[k][i]);
    return evaluate(g, p.symbols, input);
  };
  const auto difference = [&](double h) {
    return (tt::decode<double>(value_at(h)[0][0]) - tt::decode<double>(value_at(-h)[0][0])) /
           (2 * h);
  };
  Slope s;
  const std::vector<Values> at = value_at(0);
  for (std::size_t k = 0; k < p.input.size(); ++k)
    for (std::size_t i = 0; i < at[k + 1].size(); ++i)
      s.by_gradient += tt::decode<double>(at[k + 1][i]) * direction[k][i];
  s.by_difference = difference(1e-6);
  s.uncertainty = std::fabs(s.by_difference - difference(2e-6));
  return s;
}

}  // namespace

TEST_CASE("gradients, also second ones, are slopes") {
  const std::uint64_t first = setting("TT_FUZZ_SEED", 1);
  int compared = 0, tried = 0;
  for (std::uint64_t seed = first; seed < first + 300; ++seed) {
    Generator generator(seed, {.steps = 12, .smooth = true});
    generator.record();
    Program& p = generator.program();
    Graph& g = p.graph;
    int root = generator.scalar();
    tt::Vec<int> d = tt::gradients(g, root, g.inputs);
    if (seed % 3 == 0) {
      root = generator.total(g.mul(d[0], d[0]));
      d = tt::gradients(g, root, g.inputs);
    }
    g.output(root);
    for (int x : d) g.output(x);
    REQUIRE_MESSAGE(!g.failure, std::string(tt::describe(g.failure)));
    if (work_of(tt::inline_bodies(g), p.symbols) > 60000) continue;
    ++tried;
    const Slope s = slope(p, generator.random());
    const double scale = std::fabs(s.by_difference) + 1e-3;
    if (!(s.uncertainty < 1e-6 * scale) || !(scale < 1e6)) continue;  // a kink, or ill-conditioned
    ++compared;
    CHECK_MESSAGE(std::fabs(s.by_gradient - s.by_difference) < 1e-4 * scale, "seed ", seed, ": ",
                  s.by_gradient, " against ", s.by_difference, "\n",
                  std::string(tt::to_string(p.graph)));
  }
  std::printf("slopes compared: %d of %d\n", compared, tried);
  CHECK(compared > 100);
}

namespace {

/// A small graph, run on ordinary and on special numbers.
struct Small {
  Graph g;
  tt::SymbolValues symbols;
  explicit Small(std::int64_t s0 = 0, std::int64_t s1 = 0) : symbols{{s0, s1}} {}
  Sym input(const Shape& s, DType d = DType::f32) { return {&g, g.input(d, s)}; }
  Sym slice(const Sym& x, int axis, int start, int length, int step) {
    return {&g, g.slice(x.id, axis, start, length, step)};
  }
  void output(const Sym& x, int donated = -1) { g.output(x.id, donated); }
  void check() {
    Random r(1);
    REQUIRE_MESSAGE(!g.failure, std::string(tt::describe(g.failure)));
    for (Numbers kind : {Numbers::ordinary, Numbers::ties, Numbers::special}) {
      Case c{tt::inline_bodies(g), symbols, {}};
      for (int i : g.inputs)
        c.input.push_back(random_values(r, g[i].dtype, g[i].shape.size().value(symbols), kind));
      const tt::Text fault = find_fault(c);
      CHECK_MESSAGE(fault.empty(),
                    std::string(tt::Text() << fault << tt::to_string(c.graph)
                                           << tt::to_string(tt::make_plan(c.graph))));
    }
  }
};
const Extent s0 = Extent::symbol(0), s1 = Extent::symbol(1);

}  // namespace

TEST_CASE("negation flips the sign of zero, and NaN is not equal to itself, in every lane") {
  Small s;
  for (DType d : {DType::f32, DType::f64}) {
    const Sym x = s.input({40}, d), y = s.input({40}, d);
    s.output(-x);
    s.output(x != x);
    s.output(tt::maximum(x, y));
    s.output(tt::minimum(x, y));
    s.output(tt::cast<bool>(x));
    s.output(tt::amax(x));
  }
  s.check();
}

TEST_CASE("an input is read before an update in place overwrites it") {
  Small moved, used, swapped;
  const Sym a = moved.input({16}), b = moved.input({16});
  moved.output(b, 0);
  moved.output(a);
  moved.check();
  const Sym x = used.input({16});
  used.output(x + 1, 0);
  used.output(x * 2);
  used.check();
  const Sym u = swapped.input({3, 5}), v = swapped.input({3, 5});
  swapped.output(v, 0);
  swapped.output(u, 1);
  swapped.check();
}

TEST_CASE("a value that is repeated over rows is updated in place once") {
  Small row, scalar;
  const Sym x = row.input({4}, DType::f64), y = x * x;
  row.output(y, 0);
  row.output({&row.g, row.g.broadcast_to(y.id, {65, 4})});
  row.check();
  const Sym n = scalar.input({}), m = tt::exp2(n);
  scalar.output(m, 0);
  scalar.output(scalar.input({16, 16}) + m);
  scalar.check();
}

TEST_CASE("of two transpositions, one behind the other with an op between, each is done once or not at all") {
  Small s;
  const Sym column = s.input({40, 1}), row = s.input({17}), wide = s.input({40}), m = s.input({40, 17});
  const auto turned = [&s](const Sym& x) { return Sym{&s.g, s.g.transpose(x.id, 0, 1)}; };
  s.output(turned(wide * turned(column + row)));
  s.output(turned(tt::exp(turned(tt::maximum(turned(m), wide)))));
  s.output(tt::sum<0>(turned(turned(column * row) - wide)));
  s.check();
}

TEST_CASE("slices run backwards, also over axes of unknown extent") {
  Small s(20, 30);
  const Sym x = s.input({8, 9}), y = s.input({s0, s1});
  s.output(s.slice(x, 0, 7, 4, -2));
  s.output(s.slice(x, 1, 8, 9, -1) * 2);
  s.output(tt::sum(s.slice(s.slice(x, 0, 7, 8, -1), 1, 6, 3, -3), 0));
  s.output(s.slice(y, 0, 19, 20, -1));
  s.output(s.slice(y, 1, 29, 3, -1));
  s.check();
}

TEST_CASE("slices of two axes of unknown extent") {
  Small s(20, 30);
  const Sym x = s.input({s0, s1}), y = s.input({2, s0});
  s.output(s.slice(s.slice(x, 0, 2, 13, 1), 1, 15, 16, -1));
  s.output(s.slice(s.slice(x, 1, 3, 5, 1), 0, 1, 4, 2));
  s.output(s.slice(s.slice(y, 1, 6, 3, 1), 0, 1, 1, 2));
  s.check();
}

TEST_CASE("views and products of counters and of unknown sizes") {
  Small s(7);
  const Sym counter{&s.g, s.g.iota(DType::f32, {1, 5}, 1)};
  s.output(tt::transpose(counter) * 2);
  s.output(tt::reshape<5>(counter));
  s.output(tt::matmul(tt::transpose(counter), s.input({1, 6})));
  s.output(tt::mean(s.input({s0})));
  const Sym p = s.input({1, 7});
  const Sym one = tt::reshape<1>(tt::matmul(p, tt::transpose(p)));
  s.output(tt::where(one == one, Sym{&s.g, s.g.iota(DType::i64, {1}, 0)}, 1));
  s.check();
}

TEST_CASE("a value waits for all it is made of, also where two kernels want it") {
  Small s;
  const Sym a = s.input({33, 1}, DType::i64), b = s.input({}, DType::i64);
  const Sym c = s.input({20}, DType::i64), d = s.input({33, 1}, DType::i64);
  const Sym m = a * b, f = tt::cast<float>(m);
  const Sym total = tt::sum(tt::cast<float>(d), 0, true);
  s.output(f / f + tt::maximum(total, tt::cast<float>(m * c)));
  s.check();
}

TEST_CASE("what a column sum reads may be stored for others too") {
  Small s;
  const Sym x = s.input({2, 2}), y = tt::fma(x, x, x);
  s.output(tt::sum(Sym{&s.g, s.g.broadcast_to(y.id, {33, 2, 2})}, 1));
  s.output(tt::cast<bool>(y));
  const Sym z = s.input({3, 8}), n = s.input({});
  s.output(tt::sum(tt::argmax(tt::log1p(n) + z, 0)));
  s.check();
}

TEST_CASE("a kernel of many sweeps is split") {
  Small s;
  Sym x = s.input({5, 20});
  for (int k = 0; k < 20; ++k) x = x * 0.5 - tt::softmax(x, 1);
  s.output(x, 0);
  s.check();
}

TEST_CASE("a value beside an empty grid is written") {
  for (std::int64_t n : {0, 1, 5}) {
    Small s(n);
    const Sym b = s.input({10}), y = b * 2, x = s.input({s0, 10}), z = s.input({0, 3}),
              c = s.input({1});
    s.output(y);
    s.output(tt::exp(x + y));
    s.output(-c);
    s.output(z * -c);
    s.output(tt::sum(x, 0));
    s.output(tt::sum(x, 1));
    s.output(tt::softmax(x, 1));
    s.check();
  }
}

TEST_CASE("a value beside an empty column sum is written") {
  for (std::int64_t n : {0, 1, 5}) {
    Small s(n);
    const Sym a = s.input({4}, DType::f64), x = s.input({s0, 4}, DType::f64), y = tt::tan(a);
    const Sym product = y * tt::sum(x, 0);
    s.output(y < product + tt::matmul(s.input({1, 4}, DType::f64), s.input({4, 1}, DType::f64)));
    s.output(s.slice(product, 0, 1, 3, 1));
    s.check();
  }
}

TEST_CASE("an output made of constants is written before it is read") {
  Small s(65, 7);
  const Sym zero{&s.g, s.g.broadcast_to(s.g.constant(DType::f64, 0), {s0, s1})};
  const Sym m = tt::where(zero == 1.0, zero, 1.0);
  s.output(m);
  const Sym counter{&s.g, s.g.iota(DType::i64, {1, s1}, 1)};
  s.output(tt::amin(tt::where(m != m, counter, s.input({}, DType::i64)), 1));
  s.check();
}

TEST_CASE("gradients of a graph that outgrows its memory while they are recorded") {
  Small s;
  const Sym bias = s.input({7});
  Sym x = s.input({5, 7});
  for (int k = 0; k < 40; ++k) x = tt::tanh(x * bias + k);
  const tt::Vec<int> d = tt::gradients(s.g, tt::sum(x).id, {bias.id});
  s.output({&s.g, d[0]});
  s.check();
}
