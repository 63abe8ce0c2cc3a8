// Kernels divided among threads: equal bits for every number of threads, and a pool that copes with
// several callers, nested calls and fork.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

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
