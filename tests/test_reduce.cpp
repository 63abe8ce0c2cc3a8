// The order of summation: golden bits and properties of the reference, and the static and tile
// executors against it for many lengths.
#include <doctest/doctest.h>

#include <string>

#include "run_tiles.hpp"
#include "tt/backends/cpu/static_executor.hpp"
#include "tt/plan/fixed.hpp"

namespace {

using namespace fuzz;

template <class T>
std::vector<T> harmonic(int n) {
  std::vector<T> x;
  for (int i = 0; i < n; ++i) x.push_back(T(1) / T(i + 1));
  return x;
}
template <class T>
T sum_of(const std::vector<T>& x) {
  return tt::reference_sum(x.data(), static_cast<std::int64_t>(x.size()));
}
std::vector<float> zeros(int n) { return std::vector<float>(static_cast<std::size_t>(n)); }

constexpr float ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static_assert(tt::reference_sum(ten, 10) == 55);
static_assert(tt::reference_reduce<Op::amax>(ten, 5, 2) == 9);
static_assert(tt::reference_reduce<Op::amin>(ten, 0) == std::numeric_limits<float>::infinity());

}  // namespace

TEST_CASE("sums of a fixed sequence have these bits") {
  CHECK(std::bit_cast<std::uint32_t>(sum_of(harmonic<float>(63))) == 0x40974df4u);
  CHECK(std::bit_cast<std::uint32_t>(sum_of(harmonic<float>(1000))) == 0x40ef88fau);
  CHECK(std::bit_cast<std::uint32_t>(sum_of(harmonic<float>(12288))) == 0x411fe5eeu);
  CHECK(std::bit_cast<std::uint64_t>(sum_of(harmonic<double>(1000))) == 0x401df11f45f4e619u);
  CHECK(std::bit_cast<std::uint64_t>(sum_of(harmonic<double>(9000))) == 0x40235d500353fc3au);
}

TEST_CASE("elements 64 apart meet first, then lanes, then blocks") {
  std::vector<float> x = zeros(3 * 4096);
  x[0] = 1e8f;
  x[64] = -1e8f;
  x[1] = 1;
  CHECK(sum_of(x) == 1);
  x[64] = 0;
  x[32] = -1e8f;  // lane 32 folds onto lane 0 before lane 1 does
  CHECK(sum_of(x) == 1);
  x[32] = 0;
  x[4096] = -1e8f;
  x[1] = 0;
  x[8192] = 1;  // (block 0 + block 1) + block 2
  CHECK(sum_of(x) == 1);
  std::swap(x[4096], x[8192]);
  CHECK(sum_of(x) == 0);
}

TEST_CASE("the order depends on the length only") {
  for (int n : {1, 2, 63, 64, 65, 4095, 4096, 4097, 12288}) {
    const std::vector<float> x = harmonic<float>(n);
    std::vector<float> spread;
    for (float v : x) {
      spread.push_back(v);
      spread.push_back(-7);
    }
    CHECK(tt::reference_reduce<Op::sum>(spread.data(), n, 2) == sum_of(x));
  }
  std::vector<float> padded = harmonic<float>(100);
  const float sum = sum_of(padded);
  padded.resize(4096, 0.0f);
  CHECK(sum_of(padded) == sum);
}

TEST_CASE("sums of many equal numbers are accurate") {
  const std::vector<float> x(12288, 0.1f);
  CHECK(sum_of(x) == doctest::Approx(1228.8).epsilon(1e-6));
}

TEST_CASE("empty reductions give the identity, and a sum of -0 is 0") {
  const float nothing = 0, minus = -0.0f;
  CHECK(tt::reference_reduce<Op::sum>(&nothing, 0) == 0);
  CHECK(tt::reference_reduce<Op::amax>(&nothing, 0) == -std::numeric_limits<float>::infinity());
  const std::int32_t none = 0;
  CHECK(tt::reference_reduce<Op::amax>(&none, 0) == std::numeric_limits<std::int32_t>::min());
  CHECK(tt::reference_reduce<Op::amin>(&none, 0) == std::numeric_limits<std::int32_t>::max());
  CHECK(std::bit_cast<std::uint32_t>(tt::reference_sum(&minus, 1)) == 0);
}

namespace {

/// Reductions along the rows and columns of a matrix; a negative extent is a symbol.
template <class T, std::int64_t Rows, std::int64_t Columns>
struct Reductions {
  static constexpr Extent extent(std::int64_t n, int symbol) {
    return n < 0 ? Extent::symbol(symbol) : Extent(n);
  }
  static constexpr Graph record() {
    Graph g;
    const Sym x{&g, g.input(tt::dtype_of<T>, {extent(Rows, 0), extent(Columns, 1)})};
    g.output(tt::sum(x, 1).id);
    g.output(tt::sum(x, 0).id);
    g.output(tt::amax(x, 1).id);
    g.output(tt::amin(x, 0).id);
    g.output(tt::sum(x).id);
    return g;
  }
};
template <class T>
using AnySize = Reductions<T, -1, -1>;

/// Sums over all axes whose operands are broadcast, and a value beside them: one kernel.
template <class T, std::int64_t Rows, std::int64_t Columns>
struct BroadcastSums {
  static constexpr Graph record() {
    Graph g;
    const Extent rows = Reductions<T, Rows, Columns>::extent(Rows, 0);
    const Extent columns = Reductions<T, Rows, Columns>::extent(Columns, 1);
    const DType d = tt::dtype_of<T>;
    const Sym x{&g, g.input(d, {rows, columns})}, row{&g, g.input(d, {columns})};
    const Sym column{&g, g.input(d, {rows, 1})}, number{&g, g.input(d, {})};
    const Sym y = x * row + column * number;
    g.output(tt::sum(y).id);
    g.output((y - row).id);
    g.output(tt::amax(x - row).id);
    return g;
  }
};
template <class T>
using BroadcastSumsOfAnySize = BroadcastSums<T, -1, -1>;
static_assert(tt::make_plan(BroadcastSums<float, 64, 20>::record()).kernels.size() == 1);

/// The same over the last two axes of three, with an operand of every shape.
template <class T, std::int64_t Rows, std::int64_t Columns>
struct BatchedSums {
  static constexpr Graph record() {
    Graph g;
    const Extent rows = Reductions<T, Rows, Columns>::extent(Rows, 0);
    const Extent columns = Reductions<T, Rows, Columns>::extent(Columns, 1);
    const DType d = tt::dtype_of<T>;
    const Sym x{&g, g.input(d, {rows, columns})}, first{&g, g.input(d, {3, 1, columns})};
    const Sym outer{&g, g.input(d, {3, 1, 1})}, ends{&g, g.input(d, {3, rows, 1})};
    const Sym whole{&g, g.input(d, {3, rows, columns})};
    g.output(tt::sum<1, 2>(whole * x + first - outer * 2 - ends).id);
    return g;
  }
};
template <class T>
using BatchedSumsOfAnySize = BatchedSums<T, -1, -1>;
static_assert(tt::make_plan(BatchedSums<float, 64, 20>::record()).kernels.size() == 1);

template <class H>
GuardedResult run_static_guarded(const Graph& g, const tt::SymbolValues& symbols,
                                 const std::vector<Values>& input) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(H::plan.buffers.size() + 1));
  const std::int64_t bytes = tt::plan_memory(H::plan.buffers.begin(), H::plan.buffers.size(),
                                             H::plan.kernels.size(), symbols, offsets.data());
  auto* arena = static_cast<std::byte*>(tt::allocate_bytes(static_cast<std::size_t>(bytes)));
  GuardedResult r = run_guarded(g, symbols, input, [&](void* const* external) {
    tt::cpu::run_static<H>(arena, external, offsets.data(), symbols);
  });
  tt::free_bytes(arena);
  return r;
}

template <class Model>
class Executors {
 public:
  Executors() : graph_(tt::inline_bodies(Model::record())), plan_(tt::make_plan(graph_)) {}

  void check(int rows, int columns, Numbers kind) {
    const tt::SymbolValues symbols{{rows, columns}};
    std::vector<Values> input;
    for (int i : graph_.inputs)
      input.push_back(random_values(random_, graph_[i].dtype,
                                    static_cast<int>(graph_[i].shape.size().value(symbols)), kind));
    const std::vector<Values> want = evaluate(graph_, symbols, input);
    compare_with("tile", want, run_tiles(plan_, graph_, symbols, input), rows, columns);
    compare_with("static", want, run_static_guarded<tt::Compiled<Model>>(graph_, symbols, input),
                 rows, columns);
  }

 private:
  Graph graph_;
  tt::Plan plan_;
  Random random_{7};

  void compare_with(const char* executor, const std::vector<Values>& want, const GuardedResult& r,
                    int rows, int columns) {
    INFO(executor << " executor, " << rows << " x " << columns << ' '
                  << tt::name(graph_[graph_.inputs[0]].dtype));
    const Difference d = compare(graph_, want, r.output);
    tt::Text t;
    if (d) fuzz::describe(t, graph_, d);
    CHECK_MESSAGE(!r.trouble, r.trouble);
    CHECK_MESSAGE(!d, std::string(t));
  }
};

template <class T>
void check_lengths() {
  Executors<AnySize<T>> executors;
  for (int n = 1; n <= 200; ++n) executors.check(2, n, Numbers::ordinary);
  for (int n : {4095, 4096, 4097, 8200}) executors.check(2, n, Numbers::ordinary);
  constexpr int columns[] = {1, 5, 16, 17, 33, 64, 65};
  for (int m = 1; m <= 600; ++m) executors.check(m, columns[m % 7], Numbers::ordinary);
  for (int n : {1, 15, 16, 17, 63, 64, 65, 130, 300}) {
    executors.check(3, n, Numbers::special);
    executors.check(n, 3, Numbers::special);
    executors.check(n, 3, Numbers::ties);
  }
  executors.check(0, 5, Numbers::ordinary);
  executors.check(5, 0, Numbers::ordinary);
  executors.check(0, 0, Numbers::ordinary);
}

template <class T, std::int64_t Rows, std::int64_t Columns>
void check_constant_size() {
  Executors<Reductions<T, Rows, Columns>> executors;
  executors.check(Rows, Columns, Numbers::ordinary);
  executors.check(Rows, Columns, Numbers::special);
}

}  // namespace

TEST_CASE("executors reduce rows and columns of any length in the reference's order, f32") {
  check_lengths<float>();
}
#ifdef TT_ALL_FORMS
TEST_CASE("executors reduce rows and columns of any length in the reference's order, f64") {
  check_lengths<double>();
}
#endif
TEST_CASE("executors reduce rows and columns of any length in the reference's order, i32") {
  check_lengths<std::int32_t>();
}

TEST_CASE("so they do where the lengths are constants") {
  check_constant_size<float, 3, 7>();
  check_constant_size<float, 2, 4097>();
  check_constant_size<float, 300, 65>();
  check_constant_size<double, 257, 17>();
  check_constant_size<std::int64_t, 5, 100>();
  check_constant_size<float, 1, 1>();
  check_constant_size<float, 70, 256>();  // whole blocks of lanes
  check_constant_size<double, 9, 128>();
  check_constant_size<float, 9, 20>();  // fewer packs than a block has
  check_constant_size<double, 300, 40>();
}

TEST_CASE("operands that are broadcast into a sum over all axes give the reference's bits") {
  Executors<BroadcastSumsOfAnySize<float>> floats;
  Executors<BroadcastSumsOfAnySize<std::int64_t>> integers;
  Executors<BatchedSumsOfAnySize<double>> batches;
  for (int rows : {0, 1, 2, 15, 70})
    for (int columns : {0, 1, 3, 15, 16, 17, 31, 32, 64, 100, 130}) {
      floats.check(rows, columns, Numbers::ordinary);
      integers.check(rows, columns, Numbers::special);
      batches.check(rows, columns, Numbers::ties);
    }
  floats.check(3, 4100, Numbers::ordinary);
  batches.check(4100, 3, Numbers::ordinary);
}

TEST_CASE("so they do where the shapes are constants") {
  const auto check = []<template <class, std::int64_t, std::int64_t> class Model, int R, int C>() {
    Executors<Model<float, R, C>> executors;
    executors.check(R, C, Numbers::ordinary);
  };
  check.operator()<BroadcastSums, 64, 128>();
  check.operator()<BroadcastSums, 70, 10>();
  check.operator()<BroadcastSums, 9, 33>();
  check.operator()<BroadcastSums, 5, 16>();
  check.operator()<BroadcastSums, 300, 17>();
  check.operator()<BatchedSums, 64, 32>();
  check.operator()<BatchedSums, 7, 21>();
  check.operator()<BatchedSums, 7, 5>();
}

TEST_CASE("a NaN in a column makes the smallest of that column NaN, and of no other") {
  const Graph g = tt::inline_bodies(AnySize<float>::record());
  for (int n : {1, 2, 5, 255, 256, 300})
    for (int at = 0; at < n; at += 1 + n / 7) {
      std::vector<Values> input(1, Values(static_cast<std::size_t>(3 * n), tt::encode(DType::f32, 1)));
      input[0][static_cast<std::size_t>(3 * at + 1)] = tt::encode(DType::f32, std::nan(""));
      const tt::SymbolValues symbols{{n, 3}};
      const GuardedResult tile = run_tiles(tt::make_plan(g), g, symbols, input);
      const GuardedResult fixed =
          run_static_guarded<tt::Compiled<AnySize<float>>>(g, symbols, input);
      for (const GuardedResult* r : {&tile, &fixed})
        for (std::size_t c = 0; c < 3; ++c)
          CHECK(std::isnan(tt::decode<float>(r->output[3][c])) == (c == 1));
    }
}

TEST_CASE("the largest and the smallest of a row with a NaN are NaN, wherever it stands") {
  const Graph g = tt::inline_bodies(AnySize<float>::record());
  for (int n : {1, 17, 64, 100, 256, 300, 4200})
    for (int at = 0; at < n; at += n < 1000 ? 9 : 307) {
      std::vector<Values> input(1, Values(static_cast<std::size_t>(n), tt::encode(DType::f32, 1)));
      input[0][static_cast<std::size_t>(at)] = tt::encode(DType::f32, std::nan(""));
      const tt::SymbolValues symbols{{1, n}};
      const GuardedResult tile = run_tiles(tt::make_plan(g), g, symbols, input);
      const GuardedResult fixed =
          run_static_guarded<tt::Compiled<AnySize<float>>>(g, symbols, input);
      for (const GuardedResult* r : {&tile, &fixed}) {
        CHECK(std::isnan(tt::decode<float>(r->output[0][0])));
        CHECK(std::isnan(tt::decode<float>(r->output[2][0])));
        CHECK(std::isnan(tt::decode<float>(r->output[3][static_cast<std::size_t>(at)])));
      }
    }
}
