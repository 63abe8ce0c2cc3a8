// relu(conv2d + bias) and its gradients in float on one thread, (batch, channels, height, width): a static program, a
// compiled function of Tensors, windows written out and multiplied by OpenBLAS, and libtorch eager (oneDNN). Layers as
// image networks have them: the first one, 3x3 in the middle and at the end, 1x1, with a stride, one group a channel.
// Counter `ulp`: the largest error against double arithmetic on the same inputs, in ulp of 1 where a result is near zero.
//   bench_conv --benchmark_filter='3x3/'
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <tt/tt.hpp>

#include "measure.hpp"
#include "peers/torch.hpp"

#if __has_include(<openblas_config.h>)
#include <cblas.h>
#define TT_BENCH_OPENBLAS 1
#endif

namespace {

using benchmark::State;
using peers::torch::Layer;

template <Layer L>
inline constexpr tt::Conv2dOptions options{.stride = L.stride, .padding = L.padding, .groups = L.groups};
template <Layer L>
inline constexpr auto forward = [](const auto& x, const auto& w, const auto& b) { return tt::relu(tt::conv2d<options<L>>(x, w, b)); };
template <Layer L>
inline constexpr auto loss = [](const auto& x, const auto& w, const auto& b) { return tt::sum(forward<L>(x, w, b)); };
template <Layer L>
inline constexpr auto gradients = [](auto& dx, auto& dw, auto& db, const auto& x, const auto& w, const auto& b) {
  auto [image, weight, bias] = tt::grad<0, 1, 2>(loss<L>)(x, w, b);
  dx = image;
  dw = weight;
  db = bias;
};

template <Layer L>
struct Data {
  static constexpr std::int64_t n = L.batch, c = L.in, h = L.size, o = L.out, k = L.kernel,
                                out = (L.size + 2 * L.padding - L.kernel) / L.stride + 1, terms = c / L.groups * k * k;
  tt::Array<float, n, c, h, h> x;
  tt::Array<float, o, c / L.groups, k, k> w;
  tt::Array<float, o> b;
  tt::Array<float, n, c, h, h> dx;
  tt::Array<float, o, c / L.groups, k, k> dw;
  tt::Array<float, o> db;
  tt::Array<float, n, o, out, out> y;
  std::vector<double> exact;
  std::vector<float> windows;

  static Data& get() {
    static const std::unique_ptr<Data> d = std::make_unique<Data>();
    return *d;
  }
  Data() : windows(static_cast<std::size_t>(terms * out * out)) {
    bench::fill({x.data(), static_cast<std::size_t>(x.size())}, -1, 1, 1);
    bench::fill({w.data(), static_cast<std::size_t>(w.size())}, -0.1f, 0.1f, 2);
    bench::fill({b.data(), static_cast<std::size_t>(b.size())}, -1, 1, 3);
    for (std::int64_t f = 0; f < o; ++f)  // of the first image
      for (std::int64_t p = 0; p < out * out; ++p) {
        double sum = static_cast<double>(b(f));
        for (std::int64_t t = 0; t < terms; ++t) {
          const std::int64_t channel = f / (o / L.groups) * (c / L.groups) + t / (k * k), row = p / out * L.stride + t / k % k - L.padding,
                             column = p % out * L.stride + t % k - L.padding;
          if (row >= 0 && row < h && column >= 0 && column < h)
            sum += static_cast<double>(x(0, channel, row, column)) * static_cast<double>(w.data()[f * terms + t]);
        }
        exact.push_back(std::max(sum, 0.0));
      }
  }
#if TT_BENCH_OPENBLAS
  void by_blas() {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t g = 0; g < L.groups; ++g) {
        float* to = windows.data();
        for (std::int64_t t = 0; t < terms; ++t) {
          const float* plane = x.data() + ((i * c) + g * (c / L.groups) + t / (k * k)) * h * h;
          for (std::int64_t row = 0; row < out; ++row) {
            const std::int64_t from = row * L.stride + t / k % k - L.padding;
            for (std::int64_t col = 0; col < out; ++col) {
              const std::int64_t at = col * L.stride + t % k - L.padding;
              *to++ = from >= 0 && from < h && at >= 0 && at < h ? plane[from * h + at] : 0.0f;
            }
          }
        }
        constexpr int rows = static_cast<int>(o / L.groups), columns = static_cast<int>(out * out), inner = static_cast<int>(terms);
        float* result = y.data() + (i * o + g * rows) * columns;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1, w.data() + g * rows * inner, inner, windows.data(),
                    columns, 0, result, columns);
        for (int f = 0; f < rows; ++f)
          for (int p = 0; p < columns; ++p) result[f * columns + p] = std::max(result[f * columns + p] + b(g * rows + f), 0.0f);
      }
  }
#endif
};

/// Times `work`, which gives where its results are.
template <Layer L, class Work>
void measure(State& state, const Work& work) {
  using D = Data<L>;
  const float* y = nullptr;
  for ([[maybe_unused]] auto _ : state) {
    y = work();
    benchmark::ClobberMemory();
  }
  state.counters["flops"] = benchmark::Counter(
      static_cast<double>(state.iterations() * 2 * D::n * D::o * D::out * D::out * D::terms), benchmark::Counter::kIsRate);
  state.counters["ulp"] = bench::max_ulp(D::get().exact, y, 1);
}

template <Layer L>
void add(const char* name) {
  using D = Data<L>;
  const auto row = [&](const char* op, const char* contender, auto run) {
    benchmark::RegisterBenchmark(bench::row(op, name, contender).c_str(), run);
  };
  constexpr const char* forward_name = "relu(conv2d)";
  row(forward_name, "tt", [](State& state) {
    D& d = D::get();
    measure<L>(state, [&] {
      d.y = forward<L>(d.x, d.w, d.b);
      return d.y.data();
    });
  });
  const auto tensors = [] {
    D& d = D::get();
    return std::array{tt::as_tensor(d.x), tt::as_tensor(d.w), tt::as_tensor(d.b)};
  };
  row(forward_name, "compiled", [tensors](State& state) {
    static const auto f = tt::compile(forward<L>, {.name = "layer", .wait = true});
    auto [x, w, b] = tensors();
    tt::Tensor y;
    measure<L>(state, [&] {
      y = f(x, w, b);
      return y.data_ptr<float>();
    });
  });
#if TT_BENCH_OPENBLAS
  row(forward_name, "openblas", [](State& state) {
    D& d = D::get();
    openblas_set_num_threads(1);
    measure<L>(state, [&] {
      d.by_blas();
      return d.y.data();
    });
  });
#endif
  row("gradients", "tt", [](State& state) {
    D& d = D::get();
    for ([[maybe_unused]] auto _ : state) {
      tt::fuse(gradients<L>)(d.dx, d.dw, d.db, d.x, d.w, d.b);
      benchmark::ClobberMemory();
    }
  });
#if TT_BENCH_TORCH
  peers::torch::conv_rows(L, name, D::get().x.data(), D::get().w.data(), D::get().b.data());
#endif
}

}  // namespace

int main(int count, char** arguments) {
  tt::set_num_threads(1);
#if TT_BENCH_TORCH
  peers::torch::one_thread();
#else
  std::fprintf(stderr, "bench_conv: SKIPPED the rows of libtorch: not part of this build\n");
#endif
  add<Layer{.batch = 1, .in = 3, .size = 64, .out = 32, .kernel = 3, .padding = 1}>("first 3x3");
  add<Layer{.batch = 4, .in = 32, .size = 32, .out = 32, .kernel = 3, .padding = 1}>("3x3");
  add<Layer{.batch = 4, .in = 128, .size = 8, .out = 128, .kernel = 3, .padding = 1}>("late 3x3");
  add<Layer{.batch = 4, .in = 64, .size = 16, .out = 128, .kernel = 1}>("1x1");
  add<Layer{.batch = 4, .in = 32, .size = 32, .out = 64, .kernel = 3, .stride = 2, .padding = 1}>("stride 2");
  add<Layer{.batch = 4, .in = 64, .size = 16, .out = 64, .kernel = 3, .padding = 1, .groups = 64}>("a group a channel");
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
