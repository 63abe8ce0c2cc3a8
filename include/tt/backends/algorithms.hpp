// The door to sort, scan and what is made of them: a table of functions on dense matrices for each kind of device.
// The tables are made by backends/cuda/algorithms.hpp, which needs Thrust; whoever only calls them does not.
//   backend::set_algorithms(DeviceType::cuda, table);   backend::algorithms(DeviceType::cpu)->sort(...)
#pragma once
#include <atomic>

#include "tt/core/dtype.hpp"
#include "tt/core/keys.hpp"

namespace tt::backend {

/// Memory for the time of one algorithm, on the device that runs it. Several threads may ask at once.
struct Workspace {
  void* context = nullptr;
  void* (*allocate)(void* context, std::size_t bytes) = nullptr;
  void (*free)(void* context, void* block) = nullptr;
  void* stream = nullptr;  ///< of a device that has some; null: the default one
};

/// Matrices lie row after row; a run is a stretch of equal elements. Elements are ordered as PyTorch does: NaN is
/// the greatest, -0 equals 0; equal elements keep their order. Results do not depend on the device.
struct AlgorithmTable {
  const char* system = "";
  /// order[r, j]: the place in row r of x (rows, n) of what comes j-th.
  void (*sort)(Workspace&, DType, const void* x, std::int64_t rows, std::int64_t n, bool descending, std::int64_t* order);
  /// out[r, j] = x[r, place[r, j]], with x (rows, n) and place (rows, k).
  void (*take)(Workspace&, DType, const void* x, std::int64_t rows, std::int64_t n, std::int64_t k,
               const std::int64_t* place, void* out);
  /// out[r, place[r, j]] = x[r, j], else 0, with out (rows, n) and place (rows, k), no place twice in a row.
  void (*put)(Workspace&, DType, const void* x, std::int64_t rows, std::int64_t n, std::int64_t k,
              const std::int64_t* place, void* out);
  /// Sums from the begin, or the end, of each row of x (rows, n) on; of i64, f32 and f64.
  void (*cumsum)(Workspace&, DType, const void* x, std::int64_t rows, std::int64_t n, bool reverse, void* out);
  /// run[i]: how many runs of x[order[0]], x[order[1]] ... have begun at place i; returns the last. Null: in order.
  std::int64_t (*runs)(Workspace&, DType, const void* x, std::int64_t n, const std::int64_t* order, std::int64_t* run);
  /// Where each run begins, and n behind them.
  void (*run_starts)(Workspace&, const std::int64_t* run, std::int64_t n, std::int64_t* start);
  void (*run_lengths)(Workspace&, const std::int64_t* start, std::int64_t runs, std::int64_t* length);
  /// which[order[i]]: the number of the run of place i.
  void (*run_of_each)(Workspace&, const std::int64_t* run, const std::int64_t* order, std::int64_t n, std::int64_t* which);
  /// The sum of x over each run, in the library's order; of i64, f32 and f64.
  void (*run_sums)(Workspace&, DType, const void* x, const std::int64_t* start, std::int64_t runs, void* out);
};

namespace detail {

inline std::atomic<const AlgorithmTable*>& algorithm_slot(DeviceType d) {
  static std::atomic<const AlgorithmTable*> slot[most_devices];
  return slot[static_cast<int>(d)];
}

}  // namespace detail

#if defined(TT_COMPILED)
/// What src/algorithms.cpp was built with; null: nothing for this device.
const AlgorithmTable* compiled_algorithms(DeviceType d);
#else
inline const AlgorithmTable* compiled_algorithms(DeviceType) { return nullptr; }
#endif

/// What runs on Tensors of this device from now on.
inline void set_algorithms(DeviceType d, const AlgorithmTable& table) {
  detail::algorithm_slot(d).store(&table, std::memory_order_release);
}
/// Null if nothing was built or set.
inline const AlgorithmTable* algorithms(DeviceType d) {
  const AlgorithmTable* set = detail::algorithm_slot(d).load(std::memory_order_acquire);
  return set ? set : compiled_algorithms(d);
}

}  // namespace tt::backend
