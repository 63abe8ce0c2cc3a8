// What the first call of a compiled function costs, and how often 32 batch sizes are captured. A program of its own: in one
// that links a large library, threads take longer to start, and processes to fork.
//   taskset -c 2,3 bench_first_calls
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tt/tt.hpp>
#include <vector>

namespace {

using tt::Tensor;

/// What is given is computed.
void keep(const Tensor& t) { asm volatile("" : : "r"(&t) : "memory"); }
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
/// In a process of its own.
FirstCall first_call(const char* folder, int tier) {
  FirstCall r;
  const Tensor x = tt::full({256}, 0.5), y = tt::full({256}, 1.5);
  for (int k = 0; k < 20; ++k) {
    const double begin = seconds();
    keep(ten_operations(x, y));
    r.eager = seconds() - begin;
  }
  // Another function first, so that the service that compiles, its folder and the compiler's name are known.
  constexpr auto other = [](auto a) { return a + 1; };
  double begin = seconds();
  const auto warm_up = tt::compile(other, {.tier = tier, .wait = true, .cache_dir = folder});
  keep(warm_up(x));
  r.before = seconds() - begin;
  const auto f = tt::compile(ten_operations, {.name = "ten_operations", .tier = tier, .cache_dir = folder});
  begin = seconds();
  keep(f(x, y));
  r.first = seconds() - begin;
  const double called = seconds();
  keep(f(x, y));
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
    for (std::int64_t n = from; n < from + 32; ++n) keep(f(tt::full({n, 64}, 0.5), w, b));
    std::printf("batches of %lld to %lld: %d captures, %d kernels a call, %lld programs\n", static_cast<long long>(from),
                static_cast<long long>(from + 31), f.captures(), f.kernels(),
                static_cast<long long>(tt::CodeCache::get().counters().requests - before));
  }
}

}  // namespace

int main() {
  tt::set_num_threads(1);
  first_calls();
  batch_sizes();
}
