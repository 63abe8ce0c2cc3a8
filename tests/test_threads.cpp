// Kernels divided among threads: equal bits for every number of threads, and a pool that copes with
// several callers, nested calls and fork. Static programs, interpreted ones and emitted C.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tt/jit/native.hpp"
#include "tt/tt.hpp"

namespace {

template <class A>
A filled(A a, float step) {
  float v = 0.1f;
  for (auto& x : a) {
    x = v;
    v = v > 1.5f ? v - 3 : v + step;
  }
  return a;
}

/// Does evaluate() give the same bits with 1, 2, 3 and 7 threads?
template <class F>
bool same_bits(const F& evaluate) {
  tt::set_num_threads(1);
  const auto expected = evaluate();
  bool same = true;
  for (int threads : {2, 3, 7}) {
    tt::set_num_threads(threads);
    const auto got = evaluate();
    same = same && std::memcmp(expected.data(), got.data(),
                               sizeof(float) * static_cast<std::size_t>(expected.size())) == 0;
  }
  tt::set_num_threads(1);
  return same;
}

using Row = tt::Array<float, 100003>;
using Matrix = tt::Array<float, 400, 333>;
using Dynamic = tt::Array<float, tt::dyn, tt::dyn>;

}  // namespace

TEST_CASE("splits cover everything once, and never cut what is summed") {
  for (int threads : {2, 3, 16})
    for (std::int64_t rows : {1, 7, 1000})
      for (std::int64_t cols : {1, 3000, 99999})
        for (tt::KernelKind kind : {tt::KernelKind::rows, tt::KernelKind::cols, tt::KernelKind::matmul}) {
          const tt::Split s = tt::split_kernel({kind, 1, rows, cols, 64, true}, threads);
          if (s.parts == 1) continue;
          CHECK(s.parts <= threads);
          std::int64_t at = 0;
          for (int p = 0; p < s.parts; ++p) {
            const tt::Range r = s.part(p);
            CHECK(r.begin == at);
            CHECK(r.end > r.begin);
            at = r.end;
          }
          CHECK(at == (s.axis == tt::SplitAxis::rows ? rows : cols));
        }
  CHECK(tt::split_kernel({tt::KernelKind::rows, 1, 1, 1 << 20, 1, false}, 8).parts == 1);
  CHECK(tt::split_kernel({tt::KernelKind::rows, 1, 1, 1000, 1, true}, 8).parts == 1);
}

TEST_CASE("every kind of kernel gives the same bits on any number of threads") {
  const Row x = filled(Row(), 0.013f), y = filled(Row(), 0.037f);
  CHECK(same_bits([&] { Row z = tt::tanh(x * y + 1) / y; return z; }));
  CHECK(same_bits([&] {  // a chain that runs over tiles, with scratch
    Row z = tt::exp(tt::sin(tt::exp(tt::log(tt::abs(x) + 1) * y))) / (1 + tt::exp(x));
    return z;
  }));
  const Matrix a = filled(Matrix(), 0.011f), b = filled(Matrix(), 0.023f);
  CHECK(same_bits([&] { Matrix c = tt::softmax<1>(a * b); return c; }));
  CHECK(same_bits([&] { Matrix c = a - tt::mean<0>(b) * 0.5f; return c; }));
  CHECK(same_bits([&] { tt::Array<float, 333> c = tt::sum<0>(a * b); return c; }));
  CHECK(same_bits([&] { tt::Array<float, 400, 400> c = tt::relu(tt::matmul(a, tt::transpose(b)) + 1); return c; }));
  CHECK(same_bits([&] { tt::Array<float, 333, 333> c = tt::matmul(tt::transpose(a), b); return c; }));
  tt::Array<float, 6, 70, 90> p;
  tt::Array<float, 6, 90, 50> q;
  p = filled(p, 0.07f);
  q = filled(q, 0.05f);
  CHECK(same_bits([&] { tt::Array<float, 6, 70, 50> c = tt::matmul(p, q); return c; }));
  CHECK(same_bits([&] { tt::Array<float, 333, 400> c = tt::transpose(a) * 2; return c; }));
  CHECK(same_bits([&] { tt::Array<float, 50, 90, 6> c = tt::permute<2, 1, 0>(q); return c; }));
  CHECK(same_bits([&] { tt::Array<float, 333> c = tt::matmul(tt::transpose(a), tt::sum<1>(b)); return c; }));
}

TEST_CASE("what is updated in place is updated once, however a product is divided") {
  // 333 rows are 13 units of 24 and a rest that is no multiple of a tile; too few columns to divide
  const auto w = filled(tt::Array<float, 333, 40>(), 0.017f);
  const auto x = filled(Matrix(), 0.011f);
  const auto g = filled(tt::Array<float, 400, 40>(), 0.023f);
  const auto step = tt::fuse([](auto& weight, auto a, auto b) {
    weight -= tt::matmul(tt::transpose(a), b) * 0.25;
    return tt::sum(b);
  });
  CHECK(same_bits([&] {
    auto updated = w;
    step(updated, x, g);
    return updated;
  }));
}

TEST_CASE("run-time extents are divided too") {
  for (std::int64_t rows : {1, 5, 300}) {
    Dynamic a(rows, 100000 / rows), b(rows, 100000 / rows);
    a = filled(std::move(a), 0.019f);
    b = filled(std::move(b), 0.029f);
    CHECK(same_bits([&] { Dynamic c = tt::exp(a * b) + a; return c; }));
    CHECK(same_bits([&] { Dynamic c = tt::softmax<1>(a - b); return c; }));
  }
}

namespace {

/// Runs a plan interpreted and compiled on 1, 2, 3 and 7 threads: always the same bits? Every kernel
/// must be one that is divided, or the test says nothing.
void check_plan(const tt::Graph& g, const tt::SymbolValues& symbols = {}) {
  const tt::Plan plan = tt::compile_plan(g);
  REQUIRE(!g.failure);
  for (const tt::Kernel& k : plan.kernels) {
    INFO(tt::name(k.kind));
    CHECK((tt::shares_row(plan, k) || tt::split_kernel({k.kind, k.batch.value(symbols), k.rows.value(symbols), k.cols.value(symbols),
                                                        k.inner.value(symbols), tt::columns_divide(plan, k)}, 2).parts == 2));
  }
  std::vector<std::vector<float>> buffer;
  const auto add = [&](int node, float step) {
    std::int64_t size = 1;
    for (int d = 0; d < g[node].shape.rank; ++d) size *= g[node].shape[d].value(symbols);
    buffer.push_back(filled(std::vector<float>(static_cast<std::size_t>(size) + 16), step));
  };
  for (int k = 0; k < g.inputs.size(); ++k) add(g.inputs[k], 0.011f + 0.007f * static_cast<float>(k));
  for (int id : g.outputs) add(id, 0);
  std::vector<void*> external;
  for (auto& b : buffer) external.push_back(b.data());
  const auto outputs = static_cast<std::size_t>(g.inputs.size());
  const tt::backend::TileProgram tiles(plan);
  const tt::NativeProgram native(plan, "threads");
  std::vector<std::vector<float>> expected;
  for (int threads : {1, 2, 3, 7})
    for (bool compiled : {false, true}) {
      INFO(threads << " threads, " << (compiled ? "compiled" : "interpreted"));
      tt::set_num_threads(threads);
      for (std::size_t k = outputs; k < buffer.size(); ++k) std::fill(buffer[k].begin(), buffer[k].end() - 16, -77.0f);
      if (compiled) native.run(external.data(), symbols);
      else tiles.run(external.data(), symbols);
      if (expected.empty()) expected = buffer;
      for (std::size_t k = 0; k < buffer.size(); ++k)
        CHECK(std::memcmp(expected[k].data(), buffer[k].data(), buffer[k].size() * sizeof(float)) == 0);
    }
  tt::set_num_threads(1);
}

struct Recorder {
  tt::Graph g;
  tt::Sym input(const tt::Shape& s) { return {&g, g.input(tt::DType::f32, s)}; }
};

}  // namespace

TEST_CASE("programs made at run time give the same bits on any number of threads, on both tiers") {
  {
    Recorder r;
    const auto x = r.input({100003}), y = r.input({100003});
    r.g.output((tt::tanh(x * y + 1) / y).id);
    check_plan(r.g);
  }
  {
    Recorder r;  // a chain over tiles, with scratch
    const auto x = r.input({100003}), y = r.input({100003});
    r.g.output((tt::exp(tt::sin(tt::exp(tt::log(tt::abs(x) + 1) * y))) / (1 + tt::exp(x))).id);
    check_plan(r.g);
  }
  {
    Recorder r;
    const auto a = r.input({400, 333}), b = r.input({400, 333}), row = r.input({333});
    r.g.output(tt::softmax(a * b + row, 1).id);
    check_plan(r.g);
  }
  {
    Recorder r;
    const auto a = r.input({400, 333}), b = r.input({400, 333});
    r.g.output(tt::sum(a * b, 0).id);
    r.g.output(tt::sum(a - b, 1).id);
    check_plan(r.g);
  }
  {
    Recorder r;  // b is transposed into scratch
    const auto a = r.input({400, 333}), b = r.input({400, 333});
    r.g.output(tt::relu(tt::matmul(a, tt::transpose(b)) + 1).id);
    check_plan(r.g);
  }
  {
    Recorder r;  // rows of b that share cache sets: panels
    const auto a = r.input({65, 300}), b = r.input({300, 512});
    r.g.output(tt::matmul(a, b).id);
    check_plan(r.g);
  }
  {
    Recorder r;
    const auto p = r.input({6, 70, 90}), q = r.input({6, 90, 50});
    r.g.output(tt::sigmoid(tt::matmul(p, q)).id);
    check_plan(r.g);
  }
  for (const tt::Extent n : {tt::Extent(200003), tt::Extent(16 * tt::row_block), tt::Extent::symbol(0)}) {  // threads share the only row
    tt::SymbolValues s;
    s.value[0] = 131071;
    const auto check = [&](const auto& f) {
      Recorder r;
      const auto x = r.input({n}), y = r.input({n});
      f(r, x, y);
      check_plan(r.g, s);
    };
    check([](Recorder& r, const auto& x, const auto& y) { r.g.output(tt::sum(x * y).id); });
    check([](Recorder& r, const auto& x, const auto& y) {  // several in one sweep, and steps behind it
      r.g.output((tt::mean(x * x) + 1).id);
      r.g.output(tt::amax(x - y).id);
    });
    check([](Recorder& r, const auto& x, const auto&) { r.g.output(tt::softmax(x, 0).id); });
    check([](Recorder& r, const auto& x, const auto& y) {  // sweeps that read what the ones before gave
      const auto c = x - tt::mean(x);
      r.g.output((c / tt::sqrt(tt::mean(c * c) + 1) * y).id);
      r.g.output(tt::mean(x).id);
    });
  }
  {
    Recorder r;
    const tt::Extent m = tt::Extent::symbol(0), n = tt::Extent::symbol(1);
    const auto a = r.input({m, n}), b = r.input({m, n});
    r.g.output(tt::softmax(a - b, 1).id);
    r.g.output(tt::sum(a * b, 0).id);
    r.g.output(tt::matmul(a, tt::transpose(b)).id);
    r.g.output((a / (2 + tt::abs(b))).id);
    tt::SymbolValues s;
    s.value[0] = 300;
    s.value[1] = 257;
    check_plan(r.g, s);
    s.value[0] = 1031;
    s.value[1] = 65;
    check_plan(r.g, s);
  }
}

TEST_CASE("without a thread nothing is computed") {
  const int before = tt::get_num_threads();
  CHECK_THROWS_WITH_AS(tt::set_num_threads(0), "tt::set_num_threads: 0 threads. Give 1 or more?", tt::Error);
  CHECK_THROWS_AS(tt::set_num_threads(-1), tt::Error);
  CHECK(tt::get_num_threads() == before);
}

TEST_CASE("the pool serves several callers, and parts that call it again") {
  std::atomic<int> done = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int k = 0; k < 200; ++k)
        tt::cpu::ThreadPool::instance().run(
            3,
            [](void* count, int) {
              tt::cpu::ThreadPool::instance().run(
                  2, [](void* n, int) { ++*static_cast<std::atomic<int>*>(n); }, count);
            },
            &done);
    });
  for (auto& c : callers) c.join();
  CHECK(done == 4 * 200 * 3 * 2);
}

TEST_CASE("a child of fork has a pool of its own") {
#if defined(__SANITIZE_THREAD__)
  MESSAGE("not tried: this sanitizer lets no child of fork start a thread");
  return;
#endif
  tt::set_num_threads(3);
  const Row x = filled(Row(), 0.013f);
  Row z = tt::exp(x);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Row again = tt::exp(x);
    _exit(std::memcmp(again.data(), z.data(), sizeof(float) * static_cast<std::size_t>(z.size())) == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  tt::set_num_threads(1);
}

TEST_CASE("large transpositions, which are made with the rows of what reads them, and those whose rows are too long for that") {  // all sizes: test_bands.cpp
  for (const std::int64_t columns : {700, 1024, 5000}) {
    const tt::Tensor x = tt::randn({1100, columns}), y = tt::randn({columns, 1100}), dense = y.t().contiguous();
    tt::set_num_threads(1);
    const tt::Tensor expected = x + dense;
    for (int threads : {1, 2, 3, 7}) {
      tt::set_num_threads(threads);
      CHECK(tt::equal(x + y.t(), expected));
    }
  }
  tt::set_num_threads(1);
}
