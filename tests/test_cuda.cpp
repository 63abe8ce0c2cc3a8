// Emitted CUDA kernels without a GPU: a driver and an NVRTC that run the text on the CPU, threads as
// fibres (cuda/fake_driver.cpp, cuda/shim.hpp). Every result has the bits of the reference executor,
// and arguments end at protected pages, so a thread that reads too far is found.
//   TT_FUZZ_COUNT=5000 TT_FUZZ_SEED=7 ./test_cuda
#include <doctest/doctest.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cuda/fake.hpp"
#include "rank_graphs.hpp"
#include "run_guarded.hpp"
#include "shrink.hpp"
#include "tt/backends/cuda/program.hpp"
#include "tt/functional/image_ops.hpp"

namespace {

tt::Plan device_plan(const tt::Graph& g) { return tt::compile_plan(g, {.transposed = tt::Transposed::as_it_lies}); }

using namespace fuzz;
namespace cuda = tt::cuda;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

cuda::Device& device() {
  static cuda::Device& d = [&]() -> cuda::Device& {
    fake::choose_driver();
    return cuda::Device::get(0);
  }();
  return d;
}

/// Values for a graph's inputs; NaN, infinities and -0 now and then.
std::vector<Values> inputs_of(const Graph& g, const tt::SymbolValues& symbols, std::uint64_t seed) {
  Random random(seed);
  std::vector<Values> all;
  for (int i : g.inputs) {
    Values v(static_cast<std::size_t>(g[i].shape.size().value(symbols)));
    for (std::uint64_t& bits : v) bits = random_bits(random, g[i].dtype, random.chance(0.01) ? Numbers::special : Numbers::ordinary);
    all.push_back(v);
  }
  return all;
}

/// Single elements stay on the host for every second graph.
const tt::BitSet* on_host(const cuda::Program& program, const Graph& g) { return g.size() % 2 ? nullptr : &program.may_be_on_host(); }
/// With the arguments in memory of the device.
void run_on_device(cuda::Program& program, const Graph& g, const tt::SymbolValues& symbols, void* const* external) {
  std::vector<std::size_t> bytes;
  const auto add = [&](int node) {
    bytes.push_back(static_cast<std::size_t>(g[node].shape.size().value(symbols) * tt::size_of(g[node].dtype)));
  };
  for (int i : g.inputs) add(i);
  for (int k = 0; k < g.outputs.size(); ++k)
    if (g.donated[k] < 0) add(g.outputs[k]);
  std::vector<std::unique_ptr<cuda::DeviceMemory>> memory;
  std::vector<void*> there;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    memory.push_back(std::make_unique<cuda::DeviceMemory>(device(), bytes[k] + 1));
    there.push_back(reinterpret_cast<void*>(memory.back()->begin()));
    device().check(device().driver().to_device(memory.back()->begin(), external[k], bytes[k], device().stream()), "copy");
  }
  const tt::BitSet* const here = on_host(program, g);
  for (std::size_t k = 0; k < there.size(); ++k)
    if (here && here->test(static_cast<int>(k))) there[k] = external[k];
  program.run(device(), {there.data(), here}, symbols);
  for (std::size_t k = 0; k < bytes.size(); ++k)
    device().check(device().driver().to_host(external[k], memory[k]->begin(), bytes[k], device().stream()), "copy");
  device().synchronize();
}

std::string fault_of(cuda::Program& program, const Graph& g, const tt::SymbolValues& symbols, const std::vector<Values>& input,
                     bool in_device_memory = fake::is_real()) {
  const GuardedResult r = run_guarded(g, symbols, input, [&](void* const* external) {
    if (in_device_memory) run_on_device(program, g, symbols, external);
    else program.run(device(), {external, on_host(program, g)}, symbols);
  });
  tt::Text t;
  if (r.trouble) t << r.trouble;
  else if (const Difference d = compare(g, evaluate(tt::inline_bodies(g), symbols, input), r.output)) describe(t, g, d);
  return t;
}

/// Runs a recorded function; returns the suffixes of the functions it launches, one after the other.
template <class Record>
std::string check(const char* name, const Record& record, const tt::SymbolValues& symbols = {}) {
  Graph g;
  record(g);
  CAPTURE(name);
  REQUIRE(!g.failure);
  cuda::Program program(device_plan(g), name);
  CHECK(fault_of(program, g, symbols, inputs_of(g, symbols, 1)) == "");
  std::string launched;
  for (const tt::Kernel& k : program.plan().kernels) {
    const cuda::Launches all = launches_of(program.plan(), k, symbols, device().limits());
    for (int i = 0; i < all.count; ++i) launched += std::string(launched.empty() ? "" : " ") + tt::name(k.kind) + cuda::function_suffix(k.kind, all.launch[i].function);
  }
  return fake::is_real() ? "real" : launched;
}
/// A large device launches small problems otherwise than the fake one with its four multiprocessors.
bool is(const std::string& launched, const char* wanted) {
  if (launched != "real" && launched != wanted) MESSAGE("launched ", launched);
  return launched == "real" || launched == wanted;
}
Sym input(Graph& g, const Shape& s, DType d = DType::f32) { return {&g, g.input(d, s)}; }
const Extent n = Extent::symbol(0), m = Extent::symbol(1);

}  // namespace

TEST_CASE("elementwise kernels: vectors, tails, rows that are not aligned, broadcasts") {
  const auto chain = [](Graph& g, const Shape& a, const Shape& b) {
    const Sym x = input(g, a), y = input(g, b);
    g.output((tt::tanh(x * y + 0.5f) / (x + 2.0f)).id);
  };
  CHECK(is(check("dense", [&](Graph& g) { chain(g, {1024}, {1024}); }), "rows"));
  CHECK(is(check("tail", [&](Graph& g) { chain(g, {1031}, {1031}); }), "rows"));
  CHECK(is(check("row", [&](Graph& g) { chain(g, {13, 64}, {64}); }), "rows"));
  CHECK(is(check("odd_row", [&](Graph& g) { chain(g, {13, 67}, {67}); }), "rows"));
  CHECK(is(check("column", [&](Graph& g) { chain(g, {13, 64}, {13, 1}); }), "rows"));
  CHECK(is(check("symbols", [&](Graph& g) { chain(g, {n, m}, {m}); }, {.value = {5, 36}}), "rows"));
  CHECK(is(check("odd_symbols", [&](Graph& g) { chain(g, {n, m}, {m}); }, {.value = {5, 37}}), "rows"));
  CHECK(is(check("nothing", [&](Graph& g) { chain(g, {n, m}, {m}); }, {.value = {0, 37}}), "rows"));
  check("transposed", [](Graph& g) {
    const Sym x = input(g, {33, 20}), y = input(g, {20, 33});
    g.output((tt::exp(tt::transpose<0, 1>(x)) + y).id);
  });
  check("several_dtypes", [](Graph& g) {
    const Sym x = input(g, {1000}), i = input(g, {1000}, DType::i64), b = input(g, {1000}, DType::boolean), d = input(g, {1000}, DType::f64);
    g.output(tt::where(b, x, tt::cast<float>(i)).id);
    g.output((d * tt::cast<double>(x) + 1.0).id);
    g.output((x > 0.0f).id);
  });
  check("long_chain", [](Graph& g) {  // several sweeps over a tile
    const Sym x = input(g, {5000}), y = input(g, {5000});
    Sym z = x;
    for (int k = 0; k < 4; ++k) z = tt::exp(tt::log(tt::abs(z) + 1.0f) * 0.5f) * y + tt::sin(z);
    g.output(z.id);
  });
}

TEST_CASE("rows with reductions: a warp, a block, or the whole device for a row") {
  const auto sum = [](Graph& g, const Shape& s) {
    const Sym x = input(g, s), y = input(g, s);
    g.output(tt::sum(x * y + 1.0f, -1).id);
  };
  CHECK(is(check("short", [&](Graph& g) { sum(g, {7, 100}); }), "rows"));
  CHECK(is(check("odd", [&](Graph& g) { sum(g, {7, 101}); }), "rows"));
  CHECK(is(check("blocks", [&](Graph& g) { sum(g, {3, 4096 * 3 + 10}); }), "rows"));
  CHECK(is(check("odd_blocks", [&](Graph& g) { sum(g, {3, 4096 * 2 + 11}); }), "rows"));
  CHECK(is(check("long_row", [&](Graph& g) { sum(g, {n}); }, {.value = {4096 * 11 + 70}}), "rows_parts rows_finish"));
  CHECK(is(check("long_odd_row", [&](Graph& g) { sum(g, {n}); }, {.value = {4096 * 9 + 71}}), "rows_parts rows_finish"));
  CHECK(is(check("one_block", [&](Graph& g) { sum(g, {n}); }, {.value = {50}}), "rows"));
  CHECK(is(check("no_row", [&](Graph& g) { sum(g, {n}); }, {.value = {0}}), "rows"));
  const auto softmax = [](Graph& g, const Shape& s) { g.output(tt::softmax(input(g, s) * 2.0f, -1).id); };
  CHECK(is(check("softmax", [&](Graph& g) { softmax(g, {9, 64}); }), "rows"));
  CHECK(is(check("softmax_odd", [&](Graph& g) { softmax(g, {9, 65}); }), "rows"));
  CHECK(is(check("softmax_long", [&](Graph& g) { softmax(g, {2, 20000}); }), "rows"));  // rows in work, not in shared memory
  check("layer_norm", [](Graph& g) {
    const Sym x = input(g, {6, 200}), w = input(g, {200});
    const Sym centred = x - tt::mean(x, -1, true);
    g.output((centred * tt::rsqrt(tt::mean(centred * centred, -1, true) + 1e-5f) * w).id);
  });
  check("extremes", [](Graph& g) {
    const Sym x = input(g, {5, 300}), i = input(g, {5, 300}, DType::i64);
    g.output(tt::amax(x, -1).id);
    g.output(tt::argmax(x, -1).id);
    g.output(tt::amin(i, -1).id);
  });
  check("update_in_place", [](Graph& g) {
    const Sym x = input(g, {4, 96});
    g.output((x - tt::mean(x, -1, true)).id, 0);
  });
}

TEST_CASE("many axes that cannot be made fewer") {
#ifdef TT_ALL_FORMS
  constexpr int ranks[] = {7, 11, 16};
#else
  constexpr int ranks[] = {16};
#endif
  for (const int rank : ranks) {
    check("turned_and_summed", [&](Graph& g) { turned_and_summed(g, rank); });
    check("products_of_many", [&](Graph& g) { products(g, rank < 14 ? rank : 14); });
    check("cut", [&](Graph& g) { cut(g, rank < 12 ? rank : 12); });
  }
}

TEST_CASE("sums over rows") {
  const auto columns = [](Graph& g, const Shape& s) {
    const Sym x = input(g, s), y = input(g, {s.last()});
    g.output((tt::sum(x * 2.0f, 0) + y).id);
  };
  CHECK(is(check("few", [&](Graph& g) { columns(g, {20, 50}); }), "cols"));
  CHECK(is(check("column_blocks", [&](Graph& g) { columns(g, {700, 40}); }), "cols"));
  CHECK(is(check("tall", [&](Graph& g) { columns(g, {256 * 9 + 3, 33}); }), "cols_parts cols_finish"));
  CHECK(is(check("no_rows", [&](Graph& g) { columns(g, {n, 33}); }, {.value = {0}}), "cols"));
  const auto turned = [](Graph& g, const Shape& s) {  // in a row's order: lanes are parts
    const Sym x = input(g, s), v = input(g, {s[0]}), y = input(g, {s[1], 1}, DType::f64);
    g.output(tt::matmul(tt::transpose<0, 1>(x), v).id);
    g.output(tt::amax(tt::transpose<0, 1>(input(g, s, DType::f64)) * y, 1).id);
  };
  CHECK(is(check("turned_few", [&](Graph& g) { turned(g, {20, 50}); }), "cols_parts cols_finish"));
  CHECK(is(check("turned", [&](Graph& g) { turned(g, {700, 40}); }), "cols_parts cols_finish"));
  CHECK(is(check("turned_blocks", [&](Graph& g) { turned(g, {n, 33}); }, {.value = {4096 + 70}}), "cols_parts cols_finish"));
  CHECK(is(check("turned_nothing", [&](Graph& g) { turned(g, {n, 33}); }, {.value = {0}}), "cols"));
  check("middle_axis", [](Graph& g) { g.output(tt::sum(input(g, {3, 300, 40}), 1).id); });
}

TEST_CASE("products of matrices with what follows them") {
  const auto linear = [](Graph& g, const Shape& a, const Shape& b) {
    const Sym x = input(g, a), w = input(g, b), bias = input(g, {b.last()});
    g.output(tt::relu(tt::matmul(x, w) + bias).id);
  };
  CHECK(is(check("tiles", [&](Graph& g) { linear(g, {70, 33}, {33, 90}); }), "matmul"));
  CHECK(is(check("large", [&](Graph& g) { linear(g, {257, 20}, {20, 260}); }), "matmul_large"));
  CHECK(is(check("symbolic", [&](Graph& g) { linear(g, {n, 8}, {8, 10}); }, {.value = {5}}), "matmul"));
  CHECK(is(check("batches", [&](Graph& g) { g.output(tt::matmul(input(g, {3, 10, 20}), input(g, {3, 20, 30})).id); }), "matmul"));
  check("transposed_operands", [](Graph& g) {
    const Sym x = input(g, {40, 30}), w = input(g, {50, 40});
    g.output(tt::matmul(tt::transpose<0, 1>(x), tt::transpose<0, 1>(w)).id);
  });
  check("integers", [](Graph& g) { g.output(tt::matmul(input(g, {5, 6}, DType::i64), input(g, {6, 7}, DType::i64)).id); });
  check("doubles", [](Graph& g) { g.output(tt::matmul(input(g, {5, 0}, DType::f64), input(g, {0, 7}, DType::f64)).id); });
}

TEST_CASE("convolutions are products that read windows where they lie") {
  const auto layer = [](Graph& g, const auto& convolve, const Shape& images, const Shape& weights, DType d = DType::f32) {
    const Sym x = input(g, images, d), w = input(g, weights, d), b = input(g, {weights[0], 1, 1}, d);
    g.output(tt::relu(convolve(x, w) + b).id);
  };
  constexpr auto plain = [](const Sym& x, const Sym& w) { return tt::conv2d(x, w); };
  constexpr auto apart = [](const Sym& x, const Sym& w) { return tt::conv2d<tt::Conv2dOptions{.stride = {1, 2}, .dilation = {2, 1}}>(x, w); };
  constexpr auto groups = [](const Sym& x, const Sym& w) { return tt::conv2d<tt::Conv2dOptions{.groups = 2}>(x, w); };
  CHECK(is(check("windows", [&](Graph& g) { layer(g, plain, {2, 3, 9, 10}, {5, 3, 3, 2}); }), "matmul"));
  CHECK(is(check("windows_large", [&](Graph& g) { layer(g, plain, {1, 3, 20, 21}, {140, 3, 2, 3}); }), "matmul_large"));
  CHECK(is(check("windows_apart", [&](Graph& g) { layer(g, apart, {n, 3, 9, 10}, {5, 3, 3, 2}); }, {.value = {3}}), "matmul"));
  CHECK(is(check("windows_of_groups", [&](Graph& g) { layer(g, groups, {2, 4, 8, 7}, {6, 2, 3, 3}); }), "matmul_large"));
  CHECK(is(check("windows_of_doubles", [&](Graph& g) { layer(g, plain, {2, 3, 5, 6}, {4, 3, 1, 3}, DType::f64); }), "matmul"));
  check("integer_windows", [&](Graph& g) { layer(g, plain, {2, 3, 5, 6}, {4, 3, 2, 2}, DType::i64); });
  check("margin", [&](Graph& g) {
    layer(g, [](const Sym& x, const Sym& w) { return tt::conv2d<tt::Conv2dOptions{.padding = 1}>(x, w); }, {n, 2, 6, 6}, {3, 2, 3, 3});
  }, {.value = {2}});
  const auto gradients = [](Graph& g, const auto& convolve, const Shape& images, const Shape& weights) {
    const Sym x = input(g, images), w = input(g, weights), loss = tt::sum(tt::square(convolve(x, w)));
    for (int d : tt::gradients(g, loss.id, {x.id, w.id})) g.output(d);
  };
  check("windows_down", [&](Graph& g) { gradients(g, plain, {n, 3, 9, 10}, {5, 3, 3, 2}); }, {.value = {3}});
  check("windows_down_apart", [&](Graph& g) { gradients(g, apart, {2, 3, 9, 10}, {5, 3, 3, 2}); });
  check("windows_down_groups", [&](Graph& g) { gradients(g, groups, {2, 4, 8, 7}, {6, 2, 3, 3}); });
}

TEST_CASE("a training step of a classifier, whole") {
  check("step", [](Graph& g) {
    const Sym x = input(g, {32, 64}), w = input(g, {64, 10}), b = input(g, {10}), t = input(g, {32, 10});
    const Sym loss = tt::mean(tt::logsumexp(tt::matmul(x, w) + b, 1) - tt::sum(t * (tt::matmul(x, w) + b), 1));
    const tt::Vec<int> got = tt::gradients(g, loss.id, {w.id, b.id});
    g.output(loss.id);
    g.output((w - Sym{&g, got[0]} * 0.1f).id, 1);
    g.output((b - Sym{&g, got[1]} * 0.1f).id, 2);
  });
}

TEST_CASE("launches are planned once for sizes that return") {
  Graph g;
  const Sym x = input(g, {n, m});
  g.output((tt::sum(x, -1) * 2.0f).id);
  cuda::Program program(device_plan(g), "planned");
  const auto run = [&](std::int64_t rows) {
    const tt::SymbolValues sizes{.value = {rows, 37}};
    CHECK(fault_of(program, g, sizes, inputs_of(g, sizes, 3)) == "");
  };
  for (int round = 0; round < 3; ++round)
    for (std::int64_t rows = 1; rows <= 20; ++rows) run(rows);
  CHECK(program.planned() == 20);
  for (std::int64_t rows = 21; rows <= 60; ++rows) run(rows);  // more than are kept
  CHECK(program.planned() == 60);
  run(60);
  CHECK(program.planned() == 60);
  run(1);
  CHECK(program.planned() == 61);
}

TEST_CASE("a single element in host memory becomes a part of the parameters") {
  Graph g;
  const Sym x = input(g, {n}), a = input(g, {}), b = input(g, {}, DType::f64);
  g.output((x * a + tt::cast<float>(b)).id);
  REQUIRE(!g.failure);
  const tt::Plan plan = device_plan(g);
  const cuda::LaunchList list(plan, {.value = {5}}, {}, [](int, const cuda::Launch&) { return nullptr; },
                              [](int) { return nullptr; });
  const float two = 2;
  const double three = 3;
  const std::uint64_t bits_two = std::bit_cast<std::uint32_t>(two), bits_three = std::bit_cast<std::uint64_t>(three);
  float out[5];
  void* const external[] = {out, const_cast<float*>(&two), const_cast<double*>(&three), out};
  const auto holds = [&](const tt::ProgramArguments& arguments, std::uint64_t word) {
    for (const std::uint64_t w : list.parameters(arguments, 0))
      if (w == word) return true;
    return false;
  };
  const auto address = [](const void* p) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p)); };
  CHECK(cuda::Program(device_plan(g), "values").may_be_on_host() == tt::BitSet{1, 2});
  const tt::BitSet second{1}, both{1, 2};
  CHECK(holds({external}, address(&two)));
  CHECK(holds({external}, address(&three)));
  CHECK(!holds({external, &second}, address(&two)));
  CHECK(holds({external, &second}, bits_two));
  CHECK(holds({external, &second}, address(&three)));
  CHECK(!holds({external, &both}, address(&three)));
  CHECK(holds({external, &both}, bits_three));
}

TEST_CASE("random graphs have the bits of the reference executor") {
  const std::uint64_t count = setting("TT_FUZZ_COUNT", 96), first = setting("TT_FUZZ_SEED", 1);
  constexpr std::uint64_t batch = 48;
  std::uint64_t ran = 0, replayed = 0;
  for (std::uint64_t begin = 0; begin < count; begin += batch) {
    std::vector<Case> cases;
    std::vector<std::unique_ptr<cuda::Program>> programs;
    std::vector<cuda::Program*> list;
    for (std::uint64_t k = 0; k < batch && begin + k < count; ++k) {
      const Case c = without_bodies(random_program(first + begin + k, {.steps = 24, .work = 20000, .narrow = (first + begin + k) % 3 == 0, .takes = (first + begin + k) % 4 == 1}));
      tt::Plan plan = device_plan(c.graph);
      if (plan.failure) continue;
      cases.push_back(c);
      programs.push_back(std::make_unique<cuda::Program>(plan, (tt::Text("g") << k).c_str(),
                                                         tt::ProgramOptions{.mode = tt::CompileMode::reduce_overhead}));
      list.push_back(programs.back().get());
    }
    cuda::Program::load(device(), list.data(), static_cast<int>(list.size()));
    for (std::size_t k = 0; k < cases.size(); ++k, ++ran) {
      const Case& c = cases[k];
      INFO("seed ", first + begin + k);
      INFO(std::string(tt::to_string(c.graph)));
      // launched one by one, as a CUDA graph, and that with other operands at other addresses
      std::string fault = fault_of(*programs[k], c.graph, c.symbols, c.input);
      if (fault == "") fault = fault_of(*programs[k], c.graph, c.symbols, c.input);
      if (fault == "") fault = fault_of(*programs[k], c.graph, c.symbols, inputs_of(c.graph, c.symbols, first + begin + k), true);
      CHECK(fault == "");
      replayed += std::string(programs[k]->report()).starts_with("2 of 3 runs replayed");
    }
  }
  std::printf("%llu random graphs as CUDA text on the CPU, %llu of them also as CUDA graphs\n", static_cast<unsigned long long>(ran),
              static_cast<unsigned long long>(replayed));
  CHECK(replayed > ran / 4);  // the others are one kernel
}
