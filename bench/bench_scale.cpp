// How costs grow: nanoseconds a node to record, plan and emit graphs of 10^2 to 10^5 nodes, microseconds a node of the C compiler, and its calls;
// the same of values of 10 to 1,000 parts joined, with gradients; what a compiled call takes that is handed 1 to 2,000 Tensors; bytes a node of the tape, and what is given back.
// Memory that is freed stays with the process here: else graphs that are made again and again ask the kernel for fresh pages, large ones only.
//   taskset -c 1 bench_scale [nodes at most, 100000] [compile: 1]
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <tt/tt.hpp>
#include <vector>

#include "tt/backends/cpu/emit_c.hpp"

namespace {

using tt::Graph;
using tt::Sym;
using tt::Tensor;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
/// The least of several runs.
template <class F>
double fastest(int runs, const F& f) {
  double least = 1e9;
  for (int k = 0; k < runs; ++k) {
    const double begin = seconds();
    f();
    least = std::min(least, seconds() - begin);
  }
  return least;
}

/// Products, sums and tanh, with a mean along rows in every eighth step.
Graph chain(int nodes) {
  Graph g;
  const Sym x{&g, g.input(tt::DType::f32, {64, 64})};
  Sym y = x;
  for (int i = 0; g.size() < nodes; ++i) {
    y = y * 0.999f + x * (1e-6f * static_cast<float>(i));  // no two kernels are equal
    if (i % 3 == 0) y = tt::tanh(y);
    if (i % 8 == 7) y = y - tt::mean(y, 1, true);
  }
  g.output(y.id);
  return g;
}
void graphs(int most, bool compile) {
  std::printf("%8s %8s %8s %8s %8s %12s\n", "nodes", "record", "plan", "emit", "kernels", "C compiler");
  for (int n = 100; n <= most; n *= 10) {
    const int runs = n <= 1000 ? 50 : n <= 10000 ? 7 : 3;
    const Graph g = chain(n);
    const tt::Plan plan = tt::compile_plan(g);
    const double record = fastest(runs, [&] { (void)chain(n); });
    const double make = fastest(runs, [&] { (void)tt::compile_plan(g); });
    const double emit = fastest(runs, [&] { (void)tt::emit_c(plan, "chain"); });
    std::printf("%8d %8.0f %8.0f %8.0f %8d", n, record * 1e9 / n, make * 1e9 / n, emit * 1e9 / n, plan.kernels.size());
    std::fflush(stdout);
    if (compile) {
      const auto program = std::make_shared<tt::backend::TileProgram>(plan);
      tt::CodeCache& cache = tt::CodeCache::get();
      const auto before = cache.counters().compiler_calls;
      std::printf(" %9.1f us", fastest(1, [&] { cache.request(program, "chain", {.wait = true, .cache_dir = ""}); }) * 1e6 / n);  // none on disk
      std::printf(" in %lld calls%s", static_cast<long long>(cache.counters().compiler_calls - before),
                  program->compiled_kernels() == plan.kernels.size() ? "" : " (not all)");
    }
    std::printf("\n");
  }
}

/// The sum of squares of n values joined, and the gradient of each.
Graph joined(int n) {
  Graph g;
  tt::Vec<int> part;
  for (int k = 0; k < n; ++k) part.push_back(g.input(tt::DType::f32, {tt::Extent::symbol(0), 4 + k % 3}));
  const Sym all{&g, g.cat(part.begin(), n, 1)}, loss = tt::sum(all * all);
  g.output(loss.id);
  for (int d : tt::gradients(g, loss.id, part)) g.output(d);
  return g;
}
void joins() {
  std::printf("\n%8s %28s %14s %8s\n", "parts", "record, derive: ns a part", "plan", "kernels");
  for (const int n : {10, 100, 1000}) {
    const Graph g = joined(n);
    const double record = fastest(20, [&] { (void)joined(n); }), make = fastest(20, [&] { (void)tt::compile_plan(g); });
    std::printf("%8d %28.0f %14.0f %8d\n", n, record * 1e9 / n, make * 1e9 / n, tt::compile_plan(g).kernels.size());
  }
}

void calls() {
  std::printf("\n%8s %12s %14s\n", "Tensors", "ns a call", "ns a Tensor");
  const auto sum = tt::compile([](const std::vector<Tensor>& x) { return x.front() + x.back(); }, {.wait = true});
  for (const int n : {1, 4, 16, 100, 600, 2000}) {
    std::vector<Tensor> x;
    for (int k = 0; k < n; ++k) x.push_back(tt::full({2, 2}, k));
    for (int k = 0; k < 20; ++k) (void)sum(x);
    const int repeat = 20000 / n + 20;
    const double call = fastest(9, [&] {
      for (int k = 0; k < repeat; ++k) (void)sum(x);
    }) / repeat;
    std::printf("%8d %12.0f %14.1f\n", n, call * 1e9, call * 1e9 / n);
  }
}

void tape() {
  constexpr int nodes = 100000;
  tt::empty_cache();
  const auto before = tt::cpu_memory_stats();
  {
    Tensor x = tt::full({1}, 1.0).requires_grad_(), y = x;
    for (int k = 0; k < nodes; ++k) y = y + x;
    std::printf("\ntape: %.0f bytes a node in use", static_cast<double>(tt::cpu_memory_stats().allocated - before.allocated) / nodes);
  }
  std::printf(", %.0f kept when it is gone", static_cast<double>(tt::cpu_memory_stats().reserved - before.reserved) / nodes);
  tt::empty_cache();
  std::printf(", %.1f after empty_cache\n", static_cast<double>(tt::cpu_memory_stats().reserved - before.reserved) / nodes);
}

}  // namespace

int main(int count, char** word) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  graphs(count > 1 ? std::atoi(word[1]) : 100000, count < 3 || std::atoi(word[2]) != 0);
  joins();
  calls();
  tape();
}
