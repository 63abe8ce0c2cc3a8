// The same text on every path: `tt` is tier 1 (tt::compile, kernels of the system compiler), `tier0` the
// interpreter, `static` tt::fuse on Arrays, `eager` op by op, and libtorch eager in the same program. Before
// that: what the first call of a compiled function costs, and how often 32 batch sizes are captured.
//   bench_tiers --benchmark_filter=softmax
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <tt/tt.hpp>

#include "measure.hpp"
#include "peers/torch.hpp"

namespace {

using benchmark::State;
using tt::Tensor;
inline constexpr int cols = 256;

// ---- the functions

constexpr auto tanh_of_sum = [](auto a, auto b, auto c, auto& y) { y = tt::tanh(a * b + c); };
constexpr auto chain_of_15 = [](auto a, auto b, auto c, auto& y) {
  const auto u = a * b + c;
  const auto l = tt::log(1 + tt::exp(0.5 * u));
  const auto q = (b + l) / (1 + tt::exp(-(l * l)));
  y = tt::where(u > 0, q, 0.1 * q);
};
constexpr auto sum_of_products = [](auto a, auto b, auto c, auto& y) { y = tt::sum(a * b + c); };
constexpr auto softmax = [](auto x, auto& y) { y = tt::softmax<1>(x); };
constexpr auto layer_norm = [](auto x, auto scale, auto shift, auto& y) {
  const auto c = x - tt::mean_keepdim<1>(x);
  y = c * tt::rsqrt(tt::mean_keepdim<1>(c * c) + 1e-5) * scale + shift;
};
constexpr auto linear = [](auto a, auto b, auto bias, auto& y) { y = tt::relu(tt::matmul(a, b) + bias); };

// ---- one row for each path

template <class A>
A filled(A a, unsigned seed) {
  bench::fill({a.data(), static_cast<std::size_t>(a.size())}, -1.5f, 1.5f, seed);
  return a;
}
template <class F>
void row(const std::string& name, const char* contender, std::int64_t elements, F make) {
  benchmark::RegisterBenchmark((name + '/' + contender).c_str(), [=](State& state) {
    const auto work = make();
    work();
    bench::repeat(state, elements * static_cast<std::int64_t>(sizeof(float)), work);
  });
}
/// `arrays()` gives the operands, the last one the result; Tensors share their elements.
template <class F, class Arrays>
void paths(const std::string& name, std::int64_t elements, F f, Arrays arrays) {
  using Operands = decltype(arrays());
  const auto on_tensors = [=](auto g) {
    return [=] {
      auto operands = std::make_shared<Operands>(arrays());
      auto tensors = std::apply([](auto&... a) { return std::array{Tensor(tt::as_tensor(a).clone())...}; }, *operands);
      return [=]() mutable { std::apply([&](auto&... t) { g(t...); }, tensors); };
    };
  };
  const auto now = [&](const char* contender, auto g) {
    row(name, contender, elements, [=] {
      return [work = std::make_shared<decltype(on_tensors(g)())>(on_tensors(g)())] { (*work)(); };
    });
  };
  now("tt", tt::compile(f, {.name = "tier1", .wait = true}));
  now("tier0", tt::compile(f, {.name = "tier0", .tier = 0}));
  row(name, "static", elements, [=] {
    return [operands = std::make_shared<Operands>(arrays())] {
      static constexpr auto fused = tt::fuse(F{});
      std::apply([&](auto&... a) { fused(a...); }, *operands);
    };
  });
  now("eager", f);
}

void elementwise(std::int64_t n, const char* size) {
  using V = tt::Array<float, tt::dyn>;
  const auto arrays = [n] { return std::tuple{filled(V(n), 1), filled(V(n), 2), filled(V(n), 3), V(n)}; };
  const auto to_number = [n] {
    return std::tuple{filled(V(n), 1), filled(V(n), 2), filled(V(n), 3), tt::Array<float>()};
  };
  paths(std::string("tanh(a*b+c)/") + size, 4 * n, tanh_of_sum, arrays);
  paths(std::string("chain of 15/") + size, 4 * n, chain_of_15, arrays);
  paths(std::string("sum(a*b+c)/") + size, 3 * n, sum_of_products, to_number);
}
void by_row(std::int64_t n, const char* size) {
  using Rows = tt::Array<float, tt::dyn, cols>;
  using Row = tt::Array<float, cols>;
  paths(std::string("softmax rows/") + size, 2 * n, softmax,
        [n] { return std::tuple{filled(Rows(n / cols), 1), Rows(n / cols)}; });
  paths(std::string("layernorm rows/") + size, 2 * n, layer_norm, [n] {
    return std::tuple{filled(Rows(n / cols), 1), filled(Row(), 2), filled(Row(), 3), Rows(n / cols)};
  });
}
void products(std::int64_t n) {
  using M = tt::Array<float, tt::dyn, tt::dyn>;
  paths("relu(A@B+bias)/" + std::to_string(n), 3 * n * n, linear, [n] {
    return std::tuple{filled(M(n, n), 1), filled(M(n, n), 2), filled(tt::Array<float, tt::dyn>(n), 3), M(n, n)};
  });
}

// ---- first calls, each in a process of its own

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// A chain of ten operations, which needs a kernel of its own.
constexpr auto ten_operations = [](auto x, auto y) {
  auto t = x * y + x;
  t = tt::tanh(t) * y - x;
  t = tt::exp(t) / (x * x + 1);
  return tt::sqrt(t + y);
};
struct FirstCall {
  double before = 0;  ///< the call that creates what all later ones need, in seconds
  double first = 0, second = 0, ready = 0, eager = 0;
  int nodes = 0;
  std::int64_t compiled = 0, from_disk = 0;
};
FirstCall first_call(const char* folder, int tier) {
  FirstCall r;
  const Tensor x = tt::full({256}, 0.5), y = tt::full({256}, 1.5);
  for (int k = 0; k < 20; ++k) {
    const double begin = seconds();
    benchmark::DoNotOptimize(ten_operations(x, y));
    r.eager = seconds() - begin;
  }
  // Another function first, so that the service that compiles, its folder and the compiler's name are known.
  constexpr auto other = [](auto a) { return a + 1; };
  double begin = seconds();
  const auto warm_up = tt::compile(other, {.tier = tier, .wait = true, .cache_dir = folder});
  benchmark::DoNotOptimize(warm_up(x));
  r.before = seconds() - begin;
  const auto f = tt::compile(ten_operations, {.name = "ten_operations", .tier = tier, .cache_dir = folder});
  begin = seconds();
  benchmark::DoNotOptimize(f(x, y));
  r.first = seconds() - begin;
  const double called = seconds();
  benchmark::DoNotOptimize(f(x, y));
  r.second = seconds() - called;
  tt::CodeCache::get().wait();
  r.ready = seconds() - begin;
  r.nodes = f.graph().size();
  r.compiled = tt::CodeCache::get().counters().compiled;
  r.from_disk = tt::CodeCache::get().counters().disk_hits;
  return r;
}
FirstCall in_own_process(const char* folder, int tier) {
  FirstCall r;
  int ends[2];
  if (pipe(ends) != 0) return r;
  const pid_t child = fork();
  if (child == 0) {
    r = first_call(folder, tier);
    const bool sent = write(ends[1], &r, sizeof r) == static_cast<ssize_t>(sizeof r);
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], &r, sizeof r) != static_cast<ssize_t>(sizeof r)) r = {};
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return r;
}
FirstCall median_of(int runs, const std::string& folder, int tier, bool cold) {
  std::vector<FirstCall> all;
  for (int k = 0; k < runs; ++k) {
    if (cold) std::filesystem::remove_all(folder);
    all.push_back(in_own_process(folder.c_str(), tier));
  }
  FirstCall r = all[0];
  for (double FirstCall::*what : {&FirstCall::before, &FirstCall::first, &FirstCall::second, &FirstCall::ready, &FirstCall::eager}) {
    std::sort(all.begin(), all.end(), [=](const FirstCall& a, const FirstCall& b) { return a.*what < b.*what; });
    r.*what = all[all.size() / 2].*what;
  }
  return r;
}
void first_calls() {
  char path[] = "/tmp/tt-bench-XXXXXX";
  if (!mkdtemp(path)) return;
  const std::string folder = std::string(path) + "/cache";
  std::printf("first call of compile on a function of 10 operations, medians of 15 processes, us\n");
  std::printf("  %-10s %8s %8s %8s %8s %12s\n", "", "eager", "first", "second", "ready", "of a process");
  const auto show = [](const char* name, const FirstCall& r) {
    std::printf("  %-10s %8.1f %8.1f %8.1f %8.0f %12.0f   %d nodes; compiled %lld, from disk %lld\n", name, r.eager * 1e6, r.first * 1e6,
                r.second * 1e6, r.ready * 1e6, r.before * 1e6, r.nodes, static_cast<long long>(r.compiled), static_cast<long long>(r.from_disk));
  };
  show("tier 0", median_of(15, folder, 0, true));
  show("tier 1", median_of(15, folder, 1, true));
  show("from disk", median_of(15, folder, 1, false));
  std::filesystem::remove_all(path);
}

// ---- 32 batch sizes

void batch_sizes() {
  constexpr auto layer = [](auto x, auto w, auto b) { return tt::softmax<1>(tt::relu(tt::matmul(x, w) + b)); };
  for (std::int64_t from : {1, 2}) {
    const auto f = tt::compile(layer, {.name = "layer", .wait = true});
    const Tensor w = tt::full({64, 48}, 0.01), b = tt::zeros({48});
    const std::int64_t before = tt::CodeCache::get().counters().requests;
    for (std::int64_t n = from; n < from + 32; ++n) benchmark::DoNotOptimize(f(tt::full({n, 64}, 0.5), w, b));
    std::printf("batches of %lld to %lld: %d captures, %d kernels a call, %lld programs\n", static_cast<long long>(from),
                static_cast<long long>(from + 31), f.captures(), f.kernels(),
                static_cast<long long>(tt::CodeCache::get().counters().requests - before));
  }
}

}  // namespace

int main(int count, char** arguments) {
  tt::set_num_threads(1);
#if TT_BENCH_TORCH
  peers::torch::one_thread();
#else
  std::fprintf(stderr, "bench_tiers: SKIPPED the rows of libtorch: not part of this build\n");
#endif
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  first_calls();
  batch_sizes();
  for (const bench::Size& s : bench::sizes) {
    elementwise(s.elements, s.name);
    by_row(s.elements, s.name);
#if TT_BENCH_TORCH
    peers::torch::tier_rows(s.elements, s.name);
#endif
  }
  for (std::int64_t n : {64, 256, 1024}) {
    products(n);
#if TT_BENCH_TORCH
    peers::torch::linear_rows(n, std::to_string(n).c_str());
#endif
  }
  benchmark::RunSpecifiedBenchmarks();
}
