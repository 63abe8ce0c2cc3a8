// The algorithms on a CUDA device against those on Thrust's sequential system, on raw memory: equal bits.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tt/backends/thrust_algorithms.hpp"

namespace {

namespace backend = tt::backend;
using backend::AlgorithmTable;
using backend::Workspace;
using tt::DType;
using Bytes = std::vector<char>;
using Places = std::vector<std::int64_t>;

// Named functions: nvcc 13.0 loses the parameter types of lambdas here.
void* host_allocate(void*, std::size_t n) { return std::malloc(n); }
void host_free(void*, void* p) { std::free(p); }
void* device_allocate(void*, std::size_t n) {
  void* p = nullptr;
  REQUIRE(cudaMalloc(&p, n + 1) == cudaSuccess);
  return p;
}
void device_free(void*, void* p) { cudaFree(p); }
const AlgorithmTable& on_host = backend::thrust_table<backend::CppSystem>;
const AlgorithmTable& on_device = backend::thrust_table<backend::CudaSystem>;

/// Device memory with the elements of a vector, which get what is there at the end.
template <class T>
class Mirror {
 public:
  explicit Mirror(std::vector<T>& v) : v_(v) {
    REQUIRE(cudaMalloc(&data_, bytes() + 1) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_, v.data(), bytes(), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  Mirror(const Mirror&) = delete;
  ~Mirror() {
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaMemcpy(v_.data(), data_, bytes(), cudaMemcpyDeviceToHost) == cudaSuccess);
    cudaFree(data_);
  }
  T* data() const { return static_cast<T*>(data_); }

 private:
  std::vector<T>& v_;
  void* data_ = nullptr;
  std::size_t bytes() const { return v_.size() * sizeof(T); }
};

/// Few values, so that many are equal, if asked for with NaN, infinities and -0 among them.
Bytes random_elements(DType d, std::int64_t n, bool special_ones) {
  Bytes bytes(static_cast<std::size_t>(n * tt::size_of(d)));
  std::uint64_t state = 1;
  const auto fill = [&](auto element) {
    using T = decltype(element);
    for (std::int64_t i = 0; i < n; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t r = state >> 33;
      double v = static_cast<double>(r % 2001) / 8 - 100;
      if (std::is_floating_point_v<T> && special_ones && r % 64 == 0) {
        const double special[] = {__builtin_nan(""), __builtin_inf(), -__builtin_inf(), -0.0};
        v = special[r / 64 % 4];
      }
      const T x = static_cast<T>(v);
      std::memcpy(bytes.data() + i * static_cast<std::int64_t>(sizeof(T)), &x, sizeof(T));
    }
  };
  tt::with_dtype(d, fill);
  return bytes;
}
constexpr std::int64_t shapes[][2] = {{1, 1}, {1, 1000}, {3, 7}, {1000, 33}, {17, 5000}, {2, 300000}};

struct Run {
  Places order, picked, run, start, length, which;
  Bytes taken, put, up, down, sums;
  std::int64_t runs = 0;
};
struct OnHost {
  template <class T>
  std::vector<T>* operator()(std::vector<T>& v) const { return &v; }
};
struct OnDevice {
  template <class T>
  std::unique_ptr<Mirror<T>> operator()(std::vector<T>& v) const { return std::make_unique<Mirror<T>>(v); }
};
/// Everything that the table can, on matrices `x` and, for sums, `y`.
template <class Where>
Run run(const AlgorithmTable& t, Workspace w, const Where& where, DType d, std::int64_t rows, std::int64_t n, bool descending,
        Bytes& x, Bytes& y) {
  const std::int64_t size = rows * n;
  const bool sums = d != DType::boolean && d != DType::i32;
  Run r;
  r.order = r.run = r.which = Places(static_cast<std::size_t>(size));
  r.taken = r.put = r.up = r.down = Bytes(x.size());
  {
    const auto in = where(x), addends = where(y), taken = where(r.taken), put = where(r.put), up = where(r.up), down = where(r.down);
    const auto order = where(r.order), number = where(r.run), which = where(r.which);
    t.sort(w, d, in->data(), rows, n, descending, order->data());
    t.take(w, d, in->data(), rows, n, n, order->data(), taken->data());
    t.put(w, d, taken->data(), rows, n, n, order->data(), put->data());
    if (sums) {
      t.cumsum(w, d, addends->data(), rows, n, false, up->data());
      t.cumsum(w, d, addends->data(), rows, n, true, down->data());
    }
    r.runs = t.runs(w, d, taken->data(), size, nullptr, number->data());
    if (rows == 1) t.run_of_each(w, number->data(), order->data(), size, which->data());
  }
  r.start.resize(static_cast<std::size_t>(r.runs) + 1);
  r.length.resize(static_cast<std::size_t>(r.runs));
  r.sums.resize(static_cast<std::size_t>(r.runs * tt::size_of(d)));
  {
    const auto number = where(r.run), start = where(r.start), length = where(r.length);
    const auto addends = where(y), sum = where(r.sums);
    t.run_starts(w, number->data(), size, start->data());
    t.run_lengths(w, start->data(), r.runs, length->data());
    if (sums) t.run_sums(w, d, addends->data(), start->data(), r.runs, sum->data());
  }
  return r;
}

}  // namespace

TEST_CASE("a CUDA device gives the bits of the host") {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    MESSAGE("SKIPPED: no CUDA device");
    std::exit(77);
  }
  for (const DType d : {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64})
    for (const auto& [rows, n] : shapes)
      for (const bool descending : {false, true}) {
        CAPTURE(tt::name(d));
        CAPTURE(rows);
        CAPTURE(n);
        Bytes x = random_elements(d, rows * n, true), y = random_elements(d, rows * n, false);
        const Run a = run(on_host, {nullptr, &host_allocate, &host_free}, OnHost(), d, rows, n, descending, x, y);
        const Run b = run(on_device, {nullptr, &device_allocate, &device_free}, OnDevice(), d, rows, n, descending, x, y);
        CHECK(a.order == b.order);
        CHECK(a.taken == b.taken);
        CHECK(a.put == x);
        CHECK(b.put == x);
        CHECK(a.runs == b.runs);
        CHECK(a.run == b.run);
        CHECK(a.which == b.which);
        CHECK(a.start == b.start);
        CHECK(a.length == b.length);
        CHECK(a.up == b.up);
        CHECK(a.down == b.down);
        CHECK(a.sums == b.sums);
      }
}
