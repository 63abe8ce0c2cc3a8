// CUDA C++ on the CPU: what emitted kernels use of the language, with threads as fibres. A block's
// threads run one after the other; at a barrier or a shuffle a thread waits for the others of its
// block or warp. Threads that wait at different barriers stop the program, where a device would hang.
// Put before a kernel's text; run_block() runs one block.
// It is compiled before hundreds of texts, one by one, and so includes next to nothing.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

extern "C" {
float fabsf(float) noexcept;
float floorf(float) noexcept;
float ceilf(float) noexcept;
float truncf(float) noexcept;
float rintf(float) noexcept;
double fabs(double) noexcept;
double floor(double) noexcept;
double ceil(double) noexcept;
double trunc(double) noexcept;
double rint(double) noexcept;
}

namespace shim {

struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
};

class Block {
 public:
  static constexpr int warp_size = 32, most_threads = 1024;
  static constexpr unsigned long stack_bytes = 512 * 1024;
  struct Barrier {
    int arrived = 0, generation = 0;
  };

  void run(int threads, void (*body)(void*), void* argument) {
    threads_ = threads;
    body_ = body;
    argument_ = argument;
    if (threads > most_threads) {
      fprintf(stderr, "shim: more threads in a block than a device takes\n");
      abort();
    }
    all_ = {};
    for (Warp& w : warps_) w.barrier = {};
    for (int k = 0; k < threads; ++k) {
      Fibre& f = fibres_[k];
      if (!f.stack) f.stack = new char[stack_bytes];
      f.begun = f.ended = false;
    }
    for (int left = threads; left > 0;) {
      progress_ = 0;
      for (current_ = 0; current_ < threads; ++current_) {
        Fibre& f = fibres_[current_];
        if (f.ended) continue;
        if (!f.begun) {
          f.begun = true;
          ++progress_;
          getcontext(&f.context);
          f.context.uc_stack.ss_sp = f.stack;
          f.context.uc_stack.ss_size = stack_bytes;
          f.context.uc_link = &scheduler_;
          makecontext(&f.context, &start, 0);
        }
        swapcontext(&scheduler_, &f.context);
        if (f.ended) --left, ++progress_;
      }
      if (left > 0 && progress_ == 0) {
        fprintf(stderr, "shim: threads of a block wait at different barriers\n");
        abort();
      }
    }
  }
  int thread() const { return current_; }
  int lane() const { return current_ % warp_size; }
  void wait_block() { wait(all_, threads_); }
  void wait_warp() { wait(warp().barrier, members()); }
  /// Every lane's value, to be read by all until the second barrier.
  template <class T>
  T exchange(T value, int from) {
    Warp& w = warp();
    __builtin_memcpy(w.slot[lane()], &value, sizeof value);
    wait_warp();
    T other;
    __builtin_memcpy(&other, w.slot[from < members() ? from : lane()], sizeof other);
    wait_warp();
    return other;
  }

 private:
  struct Fibre {
    ucontext_t context;
    char* stack = nullptr;  // kept until the program ends
    bool begun = false, ended = false;
  };
  struct Warp {
    Barrier barrier;
    char slot[warp_size][16];
  };
  Fibre fibres_[most_threads];
  Warp warps_[most_threads / warp_size];
  Barrier all_;
  ucontext_t scheduler_;
  int threads_ = 0, current_ = 0, progress_ = 0;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;

  Warp& warp() { return warps_[current_ / warp_size]; }
  int members() const {
    const int first = current_ / warp_size * warp_size;
    return threads_ - first < warp_size ? threads_ - first : warp_size;
  }
  void wait(Barrier& b, int all) {
    if (++b.arrived == all) {
      b.arrived = 0;
      ++b.generation;
      ++progress_;
      return;
    }
    for (const int before = b.generation; b.generation == before;)
      swapcontext(&fibres_[current_].context, &scheduler_);
  }
  static void start();
};
inline Block block;
inline void Block::start() {
  block.body_(block.argument_);
  block.fibres_[block.current_].ended = true;
}
/// A thread's number, read anew at each use: the fibres share their globals.
struct ThreadIndex {
  struct X {
    operator unsigned() const { return static_cast<unsigned>(block.thread()); }
  } x;
};

}  // namespace shim

static shim::ThreadIndex threadIdx;
static shim::Dimensions blockIdx, blockDim, gridDim;

#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n)
#define __noinline__
#define __grid_constant__

inline void __syncthreads() { shim::block.wait_block(); }
inline void __syncwarp(unsigned = ~0u) { shim::block.wait_warp(); }
template <class T>
T __shfl_sync(unsigned, T value, int from) {
  return shim::block.exchange(value, from);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned apart) {
  const int from = shim::block.lane() + static_cast<int>(apart);
  return shim::block.exchange(value, from < shim::Block::warp_size ? from : shim::block.lane());
}
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
inline int __float_as_int(float x) { int i; __builtin_memcpy(&i, &x, 4); return i; }
inline float __int_as_float(int i) { float x; __builtin_memcpy(&x, &i, 4); return x; }
inline long long __double_as_longlong(double x) { long long i; __builtin_memcpy(&i, &x, 8); return i; }
inline double __longlong_as_double(long long i) { double x; __builtin_memcpy(&x, &i, 8); return x; }

alignas(16) char shared_memory[232448];
alignas(16) char tt_shared_memory[232448];

namespace shim {

template <class Operands>
void call(void (*kernel)(Operands), void** parameters) {
  struct Call {
    void (*kernel)(Operands);
    const Operands* operands;
  } c{kernel, static_cast<const Operands*>(parameters[0])};
  block.run(static_cast<int>(blockDim.x), [](void* p) { static_cast<Call*>(p)->kernel(*static_cast<Call*>(p)->operands); }, &c);
}

template <class Operands>
unsigned long parameter_bytes(void (*)(Operands)) {
  return sizeof(Operands);
}

/// A kernel that was compiled with the program.
template <class Operands>
void launch(void (*kernel)(Operands), unsigned grid, unsigned threads, const Operands& operands) {
  gridDim.x = grid;
  blockDim.x = threads;
  void* parameters[] = {const_cast<Operands*>(&operands)};
  for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x) call(kernel, parameters);
}

}  // namespace shim

/// Runs all blocks of a launch: `kernel` is the wrapper that stands behind the text for each kernel.
extern "C" void shim_launch(void (*kernel)(void**), unsigned grid, unsigned threads, void** parameters) {
  gridDim.x = grid;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x) kernel(parameters);
}
