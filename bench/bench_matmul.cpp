// relu(A B + bias) in float, square, on one thread and, where the process may use two cores, on two, against OpenBLAS
// with a second pass for bias and relu, and on one thread against Eigen. Counter `flops`: multiplications and additions a second.
// OpenBLAS picks its kernels by CPU model and knows old ones only: tools/run_bench.sh sets
// OPENBLAS_CORETYPE=SkylakeX on machines with AVX-512, and one thread.
#include <benchmark/benchmark.h>

#include <memory>
#include <thread>
#include <tt/tt.hpp>

#include "measure.hpp"
#include "peers/eigen.hpp"

#if __has_include(<openblas_config.h>)
#define TT_BENCH_OPENBLAS 1
#include <cblas.h>
#endif

namespace {

using benchmark::State;

template <std::int64_t N>
using Square = tt::Array<float, N, N>;
template <std::int64_t N>
using Bias = tt::Array<float, N>;
using AnySquare = tt::Array<float, tt::dyn, tt::dyn>;
using AnyBias = tt::Array<float, tt::dyn>;

template <std::int64_t N>
struct Operands {
  Square<N> a, b, y;
  Bias<N> bias;
  std::vector<double> exact;  // of the first rows

  static Operands& get() {
    static const auto kept = std::make_unique<Operands>();
    return *kept;
  }
  Operands() {
    bench::fill({a.data(), N * N}, -1, 1, 1);
    bench::fill({b.data(), N * N}, -1, 1, 2);
    bench::fill({bias.data(), N}, -1, 1, 3);
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < N; ++j) {
        double s = bias(j);
        for (std::int64_t k = 0; k < N; ++k)
          s += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
        exact.push_back(std::max(s, 0.0));
      }
  }
};

/// Times `work` on y; the error is in ulp of 1, the size of the operands.
template <std::int64_t N, class Work>
void measure(State& state, const float* y, const Work& work) {
  for ([[maybe_unused]] auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
  state.counters["flops"] = benchmark::Counter(
      static_cast<double>(state.iterations() * N * N * (2 * N + 2)), benchmark::Counter::kIsRate);
  state.counters["ulp"] = bench::max_ulp(Operands<N>::get().exact, y, 1);
}

/// Rows of so many threads; several are measured by the clock, one by its CPU time.
template <std::int64_t N>
void add_size(int threads) {
  using O = Operands<N>;
  const std::string size = std::to_string(N), op = threads == 1 ? "relu(A@B+bias)" : "relu(A@B+bias) on two threads";
  const auto add = [&](const char* contender, auto run) {
    auto* row = benchmark::RegisterBenchmark(bench::row(op, size, contender).c_str(), [run, threads](State& state) {
      tt::set_num_threads(threads);
      run(state);
      tt::set_num_threads(1);
    });
    if (threads > 1) row->UseRealTime();
  };
  add("tt", [](State& state) {
    O& o = O::get();
    measure<N>(state, o.y.data(), [&] { o.y = tt::relu(tt::matmul(o.a, o.b) + o.bias); });
  });
#if TT_BENCH_OPENBLAS
  add("openblas", [threads](State& state) {
    O& o = O::get();
    openblas_set_num_threads(threads);
    measure<N>(state, o.y.data(), [&] {
      constexpr int n = static_cast<int>(N);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, o.a.data(), n, o.b.data(), n,
                  0, o.y.data(), n);
      using V = xsimd::batch<float>;
      for (std::int64_t i = 0; i < N; ++i)
        for (std::int64_t j = 0; j < N; j += static_cast<std::int64_t>(V::size)) {
          float* at = o.y.data() + i * N + j;
          xsimd::max(V::load_unaligned(at) + V::load_unaligned(o.bias.data() + j), V(0.0f))
              .store_unaligned(at);
        }
    });
  });
#endif
  if (threads > 1) return;
  add("tt_dyn", [](State& state) {
    O& o = O::get();
    const std::size_t n = static_cast<std::size_t>(N);
    const AnySquare a = AnySquare::from({o.a.data(), n * n}, N, N);
    const AnySquare b = AnySquare::from({o.b.data(), n * n}, N, N);
    const AnyBias bias = AnyBias::from({o.bias.data(), n}, N);
    AnySquare y(N, N);
    measure<N>(state, y.data(), [&] { y = tt::relu(tt::matmul(a, b) + bias); });
  });
#if TT_BENCH_EIGEN
  add("eigen", [](State& state) {
    O& o = O::get();
    constexpr int extent = N <= 32 ? static_cast<int>(N) : Eigen::Dynamic;
    using Matrix = Eigen::Matrix<float, extent, extent, Eigen::RowMajor>;
    using In = Eigen::Map<const Matrix, Eigen::Aligned64>;
    using Vector = Eigen::Matrix<float, 1, extent, Eigen::RowMajor>;
    const In a(o.a.data(), N, N), b(o.b.data(), N, N);
    const Eigen::Map<const Vector, Eigen::Aligned64> bias(o.bias.data(), N);
    Eigen::Map<Matrix, Eigen::Aligned64> y(o.y.data(), N, N);
    measure<N>(state, o.y.data(), [&] {
      y.noalias() = a * b;
      y = (y.rowwise() + bias).cwiseMax(0.0f);
    });
  });
#endif
}

void add_sizes(int threads) {
  add_size<16>(threads);
  add_size<32>(threads);
  add_size<64>(threads);
  add_size<128>(threads);
  add_size<256>(threads);
  add_size<512>(threads);
  add_size<1024>(threads);
}

}  // namespace

int main(int argc, char** argv) {
  add_sizes(1);
  if (std::thread::hardware_concurrency() > 1) add_sizes(2);  // not on one core
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
