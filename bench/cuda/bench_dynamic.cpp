// Compiled functions and eager ops on a device (NVRTC), against the bandwidth of a copy in the same run;
// what a launch costs; what NVRTC costs. Medians of 15 after 3 to warm up, by events; launches by the
// host's clock over 1,000 calls.
//   g++ -std=c++20 -O2 -march=native -I include bench/cuda/bench_dynamic.cpp -ldl -lpthread
//   bench_dynamic --first-call     what the first call of a compiled function takes, and no more: by NVRTC, or from disk
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels.hpp"

namespace {

using tt::Tensor;
constexpr tt::Device gpu{tt::DeviceType::cuda, 0};
using Clock = std::chrono::steady_clock;

double median(std::vector<double>& v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}
template <class F>
double milliseconds(const F& run) {
  std::vector<double> all;
  for (int k = 0; k < 18; ++k) {
    tt::cuda::Event begin, end;
    begin.record();
    run();
    end.record();
    end.synchronize();
    if (k >= 3) all.push_back(static_cast<double>(begin.elapsed_time(end)));
  }
  return median(all);
}
template <class F>
double microseconds_a_call(const F& run) {
  for (int k = 0; k < 10; ++k) run();
  tt::cuda::synchronize();
  const auto begin = Clock::now();
  for (int k = 0; k < 1000; ++k) run();
  tt::cuda::synchronize();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / 1000;
}
double copy_rate = 0;  // bytes a millisecond
template <class F>
void row(const char* name, double bytes, const F& run) {
  const double ms = milliseconds(run);
  std::printf("%-34s %9.3f ms %8.0f GB/s %6.1f %% of a copy\n", name, ms, bytes / ms * 1e-6, 100 * bytes / ms / copy_rate);
}

void first_call() {
  const Tensor a = tt::ones({16}, {.device = gpu});
  tt::cuda::synchronize();
  const auto f = tt::compile(bench::chain);
  const auto begin = Clock::now();
  (void)f(a, a, a);
  tt::cuda::synchronize();
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  const tt::cuda::CompileStats stats = tt::cuda::compile_stats();
  std::printf("first call of compiled tanh(a * b + c): %.2f ms, %lld texts compiled by NVRTC, %lld found on disk\n", ms,
              static_cast<long long>(stats.compiled), static_cast<long long>(stats.from_disk));
}

}  // namespace

int main(int count, char** arguments) {
  if (!tt::cuda::is_available()) {
    std::printf("skipped: %s\n", tt::cuda::unavailable_reason().c_str());
    return 77;
  }
  if (count > 1 && std::strcmp(arguments[1], "--first-call") == 0) {
    first_call();
    return 0;
  }
  using namespace bench;
  const Tensor a = tt::randn({many}, 1, {.device = gpu}), b = tt::randn({many}, 2, {.device = gpu}), c = tt::randn({many}, 3, {.device = gpu});
  const Tensor x = tt::randn({rows, cols}, 4, {.device = gpu}), w = tt::randn({cols}, 5, {.device = gpu}), v = tt::randn({cols}, 6, {.device = gpu});
  const double one = 4.0 * many, all = 4.0 * rows * cols;
  Tensor to = tt::empty({many}, {.device = gpu});
  const double ms = milliseconds([&] { to.copy_(a); });
  copy_rate = 2 * one / ms;
  std::printf("%s\n%-34s %9.3f ms %8.0f GB/s\n", tt::cuda::device_name().c_str(), "copy", ms, copy_rate * 1e-6);
  auto f_chain = tt::compile(chain);
  auto f_gate = tt::compile([](const Tensor& p, const Tensor& q) { return tt::value_and_grad<0, 1>(gate)(p, q); });
  auto f_softmax = tt::compile(softmax);
  auto f_norm = tt::compile(layer_norm);
  auto f_total = tt::compile(total);
  auto f_columns = tt::compile(columns);
  row("compiled tanh(a * b + c)", 4 * one, [&] { f_chain(a, b, c); });
  row("compiled gate, value and gradient", 4 * one, [&] { f_gate(a, b); });
  row("compiled softmax of rows", 2 * all, [&] { f_softmax(x); });
  row("compiled layer norm of rows", 2 * all, [&] { f_norm(x, w, v); });
  row("compiled sum(a * b + c)", 3 * one, [&] { f_total(a, b, c); });
  row("compiled column sums", all, [&] { f_columns(x); });
  row("eager tanh(a * b + c)", 4 * one, [&] { chain(a, b, c); });
  auto f_linear = tt::compile(linear);
  using tt::cuda::BlasLibrary;
  const struct {
    const char* name;
    tt::DType dtype;
    tt::cuda::MatmulSettings settings;
  } products[] = {{"f32, own tiles", tt::DType::f32, {}},
                  {"f32, cuBLASLt", tt::DType::f32, {.library = BlasLibrary::cublaslt, .smallest = 1}},
                  {"f32, cuBLASLt by TF32", tt::DType::f32, {.library = BlasLibrary::cublaslt, .smallest = 1, .allow_tf32 = true}},
                  {"f64, own tiles", tt::DType::f64, {}},
                  {"f64, cuBLASLt", tt::DType::f64, {.library = BlasLibrary::cublaslt, .smallest = 1}}};
  if (const tt::Text why = tt::cuda::cublaslt_unavailable_reason(); !why.empty()) std::printf("own tiles everywhere: %s\n", tt::Text(why).c_str());
  for (const std::int64_t n : {256, 512, 1024, 4096})
    for (const auto& with : products) {
      tt::cuda::set_matmul_settings(with.settings);
      const Tensor p = tt::randn({n, n}, 7, {.device = gpu}).to(with.dtype), q = tt::randn({n, n}, 8, {.device = gpu}).to(with.dtype),
                   r = tt::randn({n}, 9, {.device = gpu}).to(with.dtype);
      const double t = milliseconds([&] { f_linear(p, q, r); });
      std::printf("relu(A @ B + bias), %-5lld %-22s %9.3f ms %8.2f TFLOP/s\n", static_cast<long long>(n), with.name, t,
                  2e-9 * static_cast<double>(n * n * n) / t);
    }
  tt::cuda::set_matmul_settings({});
  auto f_layer = tt::compile([](const Tensor& p, const Tensor& q, const Tensor& r) { return tt::relu(tt::conv2d(p, q, r, {.padding = 1})); });
  using tt::cuda::ConvLibrary;
  const struct {
    const char* name;
    tt::cuda::ConvSettings settings;
  } convolutions[] = {{"own tiles", {}},
                      {"cuDNN", {.library = ConvLibrary::cudnn, .smallest = 1}},
                      {"cuDNN by TF32", {.library = ConvLibrary::cudnn, .smallest = 1, .allow_tf32 = true}}};
  if (const tt::Text why = tt::cuda::cudnn_unavailable_reason(); !why.empty()) std::printf("own tiles for convolutions: %s\n", tt::Text(why).c_str());
  for (const std::int64_t channels : {16, 64, 256})
    for (const auto& with : convolutions) {
      tt::cuda::set_conv_settings(with.settings);
      const std::int64_t side = 1024 / channels;  // 64, 16, 4
      const Tensor p = tt::randn({64, channels, side, side}, 7, {.device = gpu}), q = tt::randn({channels, channels, 3, 3}, 8, {.device = gpu}),
                   r = tt::randn({channels}, 9, {.device = gpu});
      const double t = milliseconds([&] { f_layer(p, q, r); });
      std::printf("relu(conv2d 3x3 of %lld channels, %lldx%lld), %-14s %9.3f ms %8.2f TFLOP/s\n", static_cast<long long>(channels), static_cast<long long>(side),
                  static_cast<long long>(side), with.name, t, 2e-9 * static_cast<double>(64 * side * side * channels * channels * 9) / t);
    }
  tt::cuda::set_conv_settings({});
  const Tensor small = tt::randn({16}, 1, {.device = gpu});
  auto f_small = tt::compile([](const Tensor& t) { return tt::tanh(t * t + t); });
  std::printf("a call on 16 elements: eager add %.2f us, compiled %.2f us\n", microseconds_a_call([&] { small + small; }),
              microseconds_a_call([&] { f_small(small); }));
  const auto train = [](Tensor& m, const Tensor& in, const Tensor& out) {
    const auto loss = [](const auto& p, const auto& q, const auto& r) { return tt::mean(tt::square(tt::matmul(q, p) - r)); };
    const auto [value, g] = tt::value_and_grad(loss)(m, in, out);
    m -= g * 0.1f;
    return value;
  };
  Tensor m = tt::randn({16, 4}, 2, {.device = gpu});
  const Tensor in = tt::randn({8, 16}, 3, {.device = gpu}), out = tt::randn({8, 4}, 4, {.device = gpu});
  auto f_train = tt::compile(train), f_replayed = tt::compile(train, {.mode = tt::CompileMode::reduce_overhead});
  std::printf("a training step on 8 rows: %d kernels %.2f us, as a CUDA graph %.2f us\n", (f_train(m, in, out), f_train.kernels()),
              microseconds_a_call([&] { f_train(m, in, out); }), microseconds_a_call([&] { f_replayed(m, in, out); }));
  const tt::cuda::CompileStats stats = tt::cuda::compile_stats();
  std::printf("NVRTC: %lld texts compiled, %lld found on disk\n", static_cast<long long>(stats.compiled), static_cast<long long>(stats.from_disk));
}
