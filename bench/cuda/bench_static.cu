// Static kernels against the bandwidth of a copy, measured in the same run: every row says which part of
// it a kernel reaches, from the bytes it must move. Median of 15 after 3 to warm up, by events. Thrust's transform and
// transform_reduce with the same arithmetic beside them.
//   nvcc -std=c++20 -O2 --expt-relaxed-constexpr --fmad=false -arch=native -I include bench/cuda/bench_static.cu -ldl -lpthread
#include <algorithm>
#include <cstdio>
#include <thrust/execution_policy.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <vector>

#include "kernels.hpp"
#include "tt/expr/cuda.hpp"

namespace {

using namespace bench;

template <class F>
float milliseconds(const F& run) {
  std::vector<float> all;
  for (int k = 0; k < 18; ++k) {
    tt::cuda::Event begin, end;
    begin.record();
    run();
    end.record();
    end.synchronize();
    if (k >= 3) all.push_back(begin.elapsed_time(end));
  }
  std::nth_element(all.begin(), all.begin() + 7, all.end());
  return all[7];
}
double copy_rate = 0;  // bytes a millisecond
template <class F>
void row(const char* name, double bytes, const F& run) {
  const float ms = milliseconds(run);
  std::printf("%-34s %9.3f ms %8.0f GB/s %6.1f %% of a copy\n", name, ms, bytes / ms * 1e-6, 100 * bytes / ms / copy_rate);
}
template <std::int64_t... E>
tt::cuda::Array<float, E...> on_device() {
  tt::Array<float, E...> a;
  unsigned seed = 1;
  for (float& x : a) x = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1;
  return tt::cuda::to_device(a);
}

template <std::int64_t N>
void product() {
  const auto a = on_device<N, N>(), b = on_device<N, N>();
  const auto bias = on_device<N>();
  for (const bool library : {false, true}) {
    if (library && !tt::cuda::cublaslt_unavailable_reason().empty()) continue;
    tt::cuda::set_matmul_settings({.library = library ? tt::cuda::BlasLibrary::cublaslt : tt::cuda::BlasLibrary::own, .smallest = 1});
    const float ms = milliseconds([&] { tt::cuda::fuse(bench::linear)(a, b, bias); });
    std::printf("relu(A @ B + bias), %-5lld %-10s %9.3f ms %8.2f TFLOP/s\n", static_cast<long long>(N), library ? "cuBLASLt" : "own tiles", ms,
                2e-9 * static_cast<double>(N * N * N) / ms);
  }
  tt::cuda::set_matmul_settings({});
}

using Three = thrust::tuple<float, float, float>;
struct ProductAndSum {
  __host__ __device__ float operator()(const Three& t) const { return thrust::get<0>(t) * thrust::get<1>(t) + thrust::get<2>(t); }
};
struct TanhOfSum {
  __host__ __device__ float operator()(const Three& t) const { return tanhf(ProductAndSum()(t)); }
};

}  // namespace

int main() {
  const auto a = on_device<many>(), b = on_device<many>(), c = on_device<many>();
  const auto x = on_device<rows, cols>();
  const auto w = on_device<cols>(), v = on_device<cols>();
  auto to = on_device<many>();
  const double one = 4.0 * many, all = 4.0 * rows * cols;
  tt::cuda::Device& device = tt::cuda::Device::get(0);
  const float ms = milliseconds([&] { device.check(device.driver().copy(reinterpret_cast<std::uintptr_t>(to.data()), reinterpret_cast<std::uintptr_t>(a.data()), static_cast<std::size_t>(one), device.stream()), "copy"); });
  copy_rate = 2 * one / ms;
  std::printf("%s\n%-34s %9.3f ms %8.0f GB/s\n", device.name(), "copy", ms, copy_rate * 1e-6);
  row("tanh(a * b + c)", 4 * one, [&] { tt::cuda::fuse(chain)(a, b, c); });
  row("gate, value and gradient", 4 * one, [&] { tt::cuda::fuse([](const auto& p, const auto& q) { return tt::value_and_grad<0, 1>(gate)(p, q); })(a, b); });
  row("softmax of rows", 2 * all, [&] { tt::cuda::fuse(softmax)(x); });
  row("layer norm of rows", 2 * all, [&] { tt::cuda::fuse(layer_norm)(x, w, v); });
  row("sum(a * b + c)", 3 * one, [&] { tt::cuda::fuse(total)(a, b, c); });
  row("column sums", all, [&] { tt::cuda::fuse(columns)(x); });
  product<256>();
  product<1024>();
  product<4096>();
  const auto on_stream = thrust::cuda::par.on(reinterpret_cast<cudaStream_t>(device.stream()));
  const auto begin = thrust::make_zip_iterator(thrust::make_tuple(a.data(), b.data(), c.data())), end = begin + many;
  row("tanh(a * b + c), Thrust", 4 * one, [&] { thrust::transform(on_stream, begin, end, to.data(), TanhOfSum()); });
  row("sum(a * b + c), Thrust", 3 * one, [&] { (void)thrust::transform_reduce(on_stream, begin, end, ProductAndSum(), 0.0f, thrust::plus<float>()); });
}
