// Sort, scan and runs by Thrust, for CUDA and, from the same source, for the CPU. The only file that includes Thrust; it makes the
// tables of backends/algorithms.hpp.
//   backend::set_algorithms(DeviceType::cuda, thrust_table<CudaSystem>);     in a file for nvcc
// Results must not depend on the device, so Thrust is only used where there is one possible answer: stable sorts of integers, and
// scans of integers. Elements become integers in the same order; floating sums are divided into blocks.
#pragma once
#if !defined(__CUDACC__) && !defined(THRUST_DEVICE_SYSTEM)
#error "tt: Thrust without nvcc: add -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP"
#endif
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/system/cpp/execution_policy.h>
#if defined(_OPENMP)
#include <thrust/system/omp/execution_policy.h>
#endif
#if defined(__CUDACC__)
#include <thrust/system/cuda/execution_policy.h>
#endif

#include <bit>

#include "tt/backends/algorithms.hpp"
#include "tt/graph/reduce_order.hpp"

namespace tt::backend {

/// The allocator through which Thrust takes memory from a Workspace.
struct WorkspaceAllocator {
  using value_type = char;
  Workspace* workspace;
  char* allocate(std::ptrdiff_t bytes) {
    return static_cast<char*>(workspace->allocate(workspace->context, static_cast<std::size_t>(bytes)));
  }
  void deallocate(char* block, std::size_t) { workspace->free(workspace->context, block); }
};

// Device systems: their policy, and the length from which on rows are sorted one by one instead of all together.

struct CppSystem {
  static constexpr const char* name = "cpp";
  static constexpr std::int64_t long_row = 0;
  static auto policy(WorkspaceAllocator& a) { return ::thrust::cpp::par(a); }
};
#if defined(_OPENMP)
struct OmpSystem {
  static constexpr const char* name = "omp";
  static constexpr std::int64_t long_row = 1 << 16;
  static auto policy(WorkspaceAllocator& a) { return ::thrust::omp::par(a); }
};
#endif
#if defined(__CUDACC__)
struct CudaSystem {
  static constexpr const char* name = "cuda";
  static constexpr std::int64_t long_row = 1 << 20;
  static auto policy(WorkspaceAllocator& a) {
    return ::thrust::cuda::par(a).on(static_cast<cudaStream_t>(a.workspace->stream));
  }
};
#endif

namespace algorithm {

/// Owns memory for n elements of a workspace.
template <class T>
class Scratch {
 public:
  Scratch(Workspace& w, std::int64_t n)
      : workspace_(w), data_(static_cast<T*>(w.allocate(w.context, static_cast<std::size_t>(n) * sizeof(T)))) {}
  Scratch(const Scratch&) = delete;
  ~Scratch() { workspace_.free(workspace_.context, data_); }
  T* data() const { return data_; }

 private:
  Workspace& workspace_;
  T* data_;
};

/// f(0) ... f(n - 1), on the device.
template <class Policy, class F>
void for_each_index(const Policy& policy, std::int64_t n, const F& f) {
  ::thrust::for_each_n(policy, ::thrust::counting_iterator<std::int64_t>(0), n, f);
}
/// Reads an element in device memory.
template <class Policy>
std::int64_t read(const Policy& policy, const std::int64_t* at) {
  return ::thrust::reduce(policy, at, at + 1, std::int64_t{0});
}

// ---- order

/// An unsigned integer for an element, in the same order: NaN last, both zeros equal.
template <class T>
using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
TT_HOST_DEVICE TT_ALWAYS_INLINE Key<T> key_of(T v) {
  constexpr Key<T> sign = Key<T>(1) << (8 * sizeof(Key<T>) - 1);
  if constexpr (std::is_same_v<T, bool>) {
    return v;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (v != v) return ~Key<T>(0);
    const Key<T> bits = v == 0 ? Key<T>(0) : std::bit_cast<Key<T>>(v);
    return bits & sign ? ~bits : bits | sign;
  } else {
    return static_cast<Key<T>>(v) ^ sign;
  }
}

template <class T>
struct MakeKey {
  const T* x;
  Key<T>* key;
  std::int64_t* order;
  Key<T> flip;  ///< all ones reverses the order
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const {
    key[i] = key_of(x[i]) ^ flip;
    order[i] = i;
  }
};
/// The key with the row in its upper 32 bits.
template <class T>
struct MakeRowKey {
  const T* x;
  std::uint64_t* key;
  std::int64_t* order;
  std::int64_t n;
  std::uint32_t flip;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const {
    const std::int64_t row = i / n;
    key[i] = static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint32_t>(key_of(x[i]) ^ flip);
    order[i] = i - row * n;
  }
};
struct RowOfPlace {
  const std::int64_t* order;
  std::uint64_t* row;
  std::int64_t n;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const { row[i] = static_cast<std::uint64_t>(order[i] / n); }
};
struct PlaceInRow {
  std::int64_t* order;
  std::int64_t n;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const { order[i] %= n; }
};

inline constexpr std::int64_t short_row = 32;
/// Sorts a row of a few elements by insertion.
template <class T>
struct SortShortRow {
  const T* x;
  std::int64_t* order;
  std::int64_t n;
  Key<T> flip;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t row) const {
    const T* const from = x + row * n;
    std::int64_t* const to = order + row * n;
    for (std::int64_t i = 0; i < n; ++i) {
      const Key<T> key = key_of(from[i]) ^ flip;
      std::int64_t k = i;
      for (; k > 0 && (key_of(from[to[k - 1]]) ^ flip) > key; --k) to[k] = to[k - 1];
      to[k] = i;
    }
  }
};

/// Short rows are sorted each by itself, long ones one after the other; those between by one sort over row and key, or, if these have
/// more than 64 bits, by two stable sorts: by the key, then by the row.
/// Measured (g++ 12 -O2, AMD EPYC, shared, one core, f32): rows of 10^6 take 0.17 of std::stable_sort's time, of 300 0.2, of 10 the same.
template <class Policy, class T>
void sort(const Policy& policy, Workspace& w, const T* x, std::int64_t rows, std::int64_t n, bool descending,
          std::int64_t* order, std::int64_t long_row) {
  const std::int64_t size = rows * n;
  const Key<T> flip = descending ? ~Key<T>(0) : Key<T>(0);
  if (n <= short_row) return for_each_index(policy, rows, SortShortRow<T>{x, order, n, flip});
  if (rows == 1 || n >= long_row) {
    const Scratch<Key<T>> key(w, n);
    for (std::int64_t r = 0; r < rows; ++r) {
      for_each_index(policy, n, MakeKey<T>{x + r * n, key.data(), order + r * n, flip});
      ::thrust::stable_sort_by_key(policy, key.data(), key.data() + n, order + r * n);
    }
    return;
  }
  const Scratch<std::uint64_t> key(w, size);
  if constexpr (sizeof(Key<T>) == 4) {
    for_each_index(policy, size, MakeRowKey<T>{x, key.data(), order, n, flip});
    ::thrust::stable_sort_by_key(policy, key.data(), key.data() + size, order);
  } else {
    for_each_index(policy, size, MakeKey<T>{x, key.data(), order, flip});
    ::thrust::stable_sort_by_key(policy, key.data(), key.data() + size, order);
    for_each_index(policy, size, RowOfPlace{order, key.data(), n});
    ::thrust::stable_sort_by_key(policy, key.data(), key.data() + size, order);
    for_each_index(policy, size, PlaceInRow{order, n});
  }
}

template <class T>
struct Take {
  const T* x;
  const std::int64_t* place;
  T* out;
  std::int64_t n, k;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const { out[i] = x[i / k * n + place[i]]; }
};
template <class T>
struct Put {
  const T* x;
  const std::int64_t* place;
  T* out;
  std::int64_t n, k;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const { out[i / k * n + place[i]] = x[i]; }
};

// ---- running sums along a row

inline constexpr std::int64_t scan_block = 256;

/// The elements of block `i` among all blocks of all rows.
struct ScanRange {
  std::int64_t first, end, step, block;
};
TT_HOST_DEVICE TT_ALWAYS_INLINE ScanRange scan_range(std::int64_t i, std::int64_t n, std::int64_t blocks, bool reverse) {
  const std::int64_t row = i / blocks, block = i - row * blocks, left = n - block * scan_block;
  const std::int64_t count = left < scan_block ? left : scan_block;
  if (!reverse) {
    const std::int64_t first = row * n + block * scan_block;
    return {first, first + count, 1, block};
  }
  const std::int64_t first = row * n + left - 1;
  return {first, first - count, -1, block};
}
template <class T>
struct ScanBlock {
  const T* x;
  T *out, *total;
  std::int64_t n, blocks;
  bool reverse;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const {
    const ScanRange r = scan_range(i, n, blocks, reverse);
    T sum = x[r.first];
    out[r.first] = sum;
    for (std::int64_t k = r.first + r.step; k != r.end; k += r.step) out[k] = sum = sum + x[k];
    if (total) total[i] = sum;
  }
};
template <class T>
struct AddBefore {
  const T* before;
  T* out;
  std::int64_t n, blocks;
  bool reverse;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const {
    const ScanRange r = scan_range(i, n, blocks, reverse);
    if (r.block == 0) return;
    const T sum = before[i - 1];
    for (std::int64_t k = r.first; k != r.end; k += r.step) out[k] = sum + out[k];
  }
};
/// The order of a floating sum: blocks of 256, each summed from its begin; then the sum of all blocks before is added, computed in the
/// same way. `out` may be `x`.
template <class Policy, class T>
void cumsum_in_blocks(const Policy& policy, Workspace& w, const T* x, std::int64_t rows, std::int64_t n, bool reverse, T* out) {
  const std::int64_t blocks = (n + scan_block - 1) / scan_block;
  if (blocks == 1) return for_each_index(policy, rows, ScanBlock<T>{x, out, nullptr, n, 1, reverse});
  const Scratch<T> total(w, rows * blocks);
  for_each_index(policy, rows * blocks, ScanBlock<T>{x, out, total.data(), n, blocks, reverse});
  cumsum_in_blocks(policy, w, total.data(), rows, blocks, false, total.data());
  for_each_index(policy, rows * blocks, AddBefore<T>{total.data(), out, n, blocks, reverse});
}

struct RowOf {
  std::int64_t n;
  TT_HOST_DEVICE TT_ALWAYS_INLINE std::int64_t operator()(std::int64_t i) const { return i / n; }
};
/// Integers have the same sum in any order; unsigned ones wrap around.
template <class Policy>
void cumsum_of_integers(const Policy& policy, const std::uint64_t* x, std::int64_t rows, std::int64_t n, bool reverse, std::uint64_t* out) {
  const std::int64_t size = rows * n;
  const auto scan = [&](auto from, auto to) {
    if (rows == 1) {
      ::thrust::inclusive_scan(policy, from, from + size, to);
    } else {
      const auto row = ::thrust::make_transform_iterator(::thrust::counting_iterator<std::int64_t>(0), RowOf{n});
      ::thrust::inclusive_scan_by_key(policy, row, row + size, from, to);
    }
  };
  if (reverse) scan(::thrust::make_reverse_iterator(x + size), ::thrust::make_reverse_iterator(out + size));
  else scan(x, out);
}

// ---- runs

template <class T>
struct BeginsRun {
  const T* x;
  const std::int64_t* order;
  TT_HOST_DEVICE TT_ALWAYS_INLINE std::int64_t operator()(std::int64_t i) const {
    if (i == 0) return 1;
    return order ? !(x[order[i]] == x[order[i - 1]]) : !(x[i] == x[i - 1]);
  }
};
struct RunStart {
  const std::int64_t* run;
  std::int64_t* start;
  std::int64_t n;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const {
    if (i == 0 || run[i] != run[i - 1]) start[run[i] - 1] = i;
    if (i == n - 1) start[run[i]] = n;
  }
};
struct RunLength {
  const std::int64_t* start;
  std::int64_t* length;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const { length[i] = start[i + 1] - start[i]; }
};
struct RunOfEach {
  const std::int64_t *run, *order;
  std::int64_t* which;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const { which[order[i]] = run[i] - 1; }
};

struct BlocksOfRun {
  const std::int64_t* start;
  TT_HOST_DEVICE TT_ALWAYS_INLINE std::int64_t operator()(std::int64_t r) const { return (start[r + 1] - start[r] + row_block - 1) / row_block; }
};
/// Block i of all blocks of all runs; end[r]: the number of blocks of runs 0 to r.
template <class T>
struct SumBlock {
  const T* x;
  const std::int64_t *start, *end;
  std::int64_t runs;
  T* sum;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t i) const {
    std::int64_t r = 0;
    for (std::int64_t above = runs; r < above;) {  // the first run with end > i
      const std::int64_t middle = (r + above) / 2;
      if (end[middle] > i) above = middle;
      else r = middle + 1;
    }
    const std::int64_t first = start[r] + (i - (r ? end[r - 1] : 0)) * row_block, left = start[r + 1] - first;
    const bool alone = start[r + 1] - start[r] == 1;  // the sum of one element is that element, also for -0
    sum[i] = alone ? x[first] : reference_sum(x + first, left < row_block ? left : row_block);
  }
};
template <class T>
struct SumOfBlocks {
  const T* block;
  const std::int64_t* end;
  T* sum;
  TT_HOST_DEVICE TT_ALWAYS_INLINE void operator()(std::int64_t r) const {
    tt::detail::PairwiseTree<T> tree;
    for (std::int64_t i = r ? end[r - 1] : 0; i < end[r]; ++i) tree.push(block[i], tt::detail::combine<Op::sum, T>);
    sum[r] = tree.result(T(0), tt::detail::combine<Op::sum, T>);
  }
};
/// Sums each run like tt::sum: blocks of 4,096, here divided among the threads of the device, then combined pairwise.
template <class Policy, class T>
void run_sums(const Policy& policy, Workspace& w, const T* x, const std::int64_t* start, std::int64_t runs, T* out) {
  const Scratch<std::int64_t> end(w, runs);
  const auto count = ::thrust::make_transform_iterator(::thrust::counting_iterator<std::int64_t>(0), BlocksOfRun{start});
  ::thrust::inclusive_scan(policy, count, count + runs, end.data());
  const std::int64_t blocks = read(policy, end.data() + runs - 1);
  if (blocks == runs) return for_each_index(policy, runs, SumBlock<T>{x, start, end.data(), runs, out});
  const Scratch<T> sum(w, blocks);
  for_each_index(policy, blocks, SumBlock<T>{x, start, end.data(), runs, sum.data()});
  for_each_index(policy, runs, SumOfBlocks<T>{sum.data(), end.data(), out});
}

// ---- from dtypes to types

/// f(policy, T{}) for a compute dtype, with memory from the workspace.
template <class System, class F>
void with_policy(Workspace& w, DType d, const F& f) {
  WorkspaceAllocator allocator{&w};
  with_compute_dtype(d, [&](auto element) { f(System::policy(allocator), element); });
}
/// The same for the dtypes of sums.
template <class System, class F>
void with_sum_policy(Workspace& w, DType d, const F& f) {
  WorkspaceAllocator allocator{&w};
  if (d == DType::i64) f(System::policy(allocator), std::int64_t{});
  else if (d == DType::f32) f(System::policy(allocator), float{});
  else f(System::policy(allocator), double{});
}

template <class System>
struct Entry {
  static void sort(Workspace& w, DType d, const void* x, std::int64_t rows, std::int64_t n, bool descending, std::int64_t* order) {
    if (rows * n == 0) return;
    with_policy<System>(w, d, [&](const auto& policy, auto element) {
      algorithm::sort(policy, w, static_cast<const decltype(element)*>(x), rows, n, descending, order, System::long_row);
    });
  }
  static void take(Workspace& w, DType d, const void* x, std::int64_t rows, std::int64_t n, std::int64_t k,
                   const std::int64_t* place, void* out) {
    with_policy<System>(w, d, [&](const auto& policy, auto element) {
      using T = decltype(element);
      for_each_index(policy, rows * k, Take<T>{static_cast<const T*>(x), place, static_cast<T*>(out), n, k});
    });
  }
  static void put(Workspace& w, DType d, const void* x, std::int64_t rows, std::int64_t n, std::int64_t k,
                  const std::int64_t* place, void* out) {
    with_policy<System>(w, d, [&](const auto& policy, auto element) {
      using T = decltype(element);
      ::thrust::fill(policy, static_cast<T*>(out), static_cast<T*>(out) + rows * n, T(0));
      for_each_index(policy, rows * k, Put<T>{static_cast<const T*>(x), place, static_cast<T*>(out), n, k});
    });
  }
  static void cumsum(Workspace& w, DType d, const void* x, std::int64_t rows, std::int64_t n, bool reverse, void* out) {
    if (rows * n == 0) return;
    with_sum_policy<System>(w, d, [&](const auto& policy, auto element) {
      using T = decltype(element);
      if constexpr (std::is_floating_point_v<T>)
        cumsum_in_blocks(policy, w, static_cast<const T*>(x), rows, n, reverse, static_cast<T*>(out));
      else
        cumsum_of_integers(policy, static_cast<const std::uint64_t*>(x), rows, n, reverse, static_cast<std::uint64_t*>(out));
    });
  }
  static std::int64_t runs(Workspace& w, DType d, const void* x, std::int64_t n, const std::int64_t* order, std::int64_t* run) {
    std::int64_t last = 0;
    if (n == 0) return last;
    with_policy<System>(w, d, [&](const auto& policy, auto element) {
      using T = decltype(element);
      const auto begins = ::thrust::make_transform_iterator(::thrust::counting_iterator<std::int64_t>(0),
                                                            BeginsRun<T>{static_cast<const T*>(x), order});
      ::thrust::inclusive_scan(policy, begins, begins + n, run);
      last = read(policy, run + n - 1);
    });
    return last;
  }
  static void run_starts(Workspace& w, const std::int64_t* run, std::int64_t n, std::int64_t* start) {
    WorkspaceAllocator allocator{&w};
    for_each_index(System::policy(allocator), n, RunStart{run, start, n});
  }
  static void run_lengths(Workspace& w, const std::int64_t* start, std::int64_t runs, std::int64_t* length) {
    WorkspaceAllocator allocator{&w};
    for_each_index(System::policy(allocator), runs, RunLength{start, length});
  }
  static void run_of_each(Workspace& w, const std::int64_t* run, const std::int64_t* order, std::int64_t n, std::int64_t* which) {
    WorkspaceAllocator allocator{&w};
    for_each_index(System::policy(allocator), n, RunOfEach{run, order, which});
  }
  static void run_sums(Workspace& w, DType d, const void* x, const std::int64_t* start, std::int64_t runs, void* out) {
    if (runs == 0) return;
    with_sum_policy<System>(w, d, [&](const auto& policy, auto element) {
      using T = decltype(element);
      algorithm::run_sums(policy, w, static_cast<const T*>(x), start, runs, static_cast<T*>(out));
    });
  }
};

}  // namespace algorithm

/// The algorithms of a device system.
template <class System>
inline constexpr AlgorithmTable thrust_table{
    .system = System::name,
    .sort = &algorithm::Entry<System>::sort,
    .take = &algorithm::Entry<System>::take,
    .put = &algorithm::Entry<System>::put,
    .cumsum = &algorithm::Entry<System>::cumsum,
    .runs = &algorithm::Entry<System>::runs,
    .run_starts = &algorithm::Entry<System>::run_starts,
    .run_lengths = &algorithm::Entry<System>::run_lengths,
    .run_of_each = &algorithm::Entry<System>::run_of_each,
    .run_sums = &algorithm::Entry<System>::run_sums,
};

}  // namespace tt::backend
