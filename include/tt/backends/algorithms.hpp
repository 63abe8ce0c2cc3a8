// Public interface of sort, scan and the ops built on them: a table of functions on dense row-major matrices for each kind of device.
// Callers need only this header; backends/thrust_algorithms.hpp makes the tables and needs Thrust.
//   backend::set_algorithms(DeviceType::cuda, table);   backend::algorithms(DeviceType::cpu)->sort(...)
#pragma once
#include <atomic>

#include "tt/core/dtype.hpp"
#include "tt/core/keys.hpp"

namespace tt::backend {

/// Memory for the duration of one algorithm, on the device that runs it. Several threads may allocate at once.
struct Workspace {
  void* context = nullptr;
  void* (*allocate)(void* context, std::size_t bytes) = nullptr;
  void (*free)(void* context, void* block) = nullptr;
  void* stream = nullptr;  ///< of a device that has streams; null: the default stream
};

/// Matrices are stored row after row; a run is a sequence of equal consecutive elements. Elements are ordered as in PyTorch: NaN is
/// the greatest, -0 equals 0; equal elements keep their order. Results do not depend on the device.
struct AlgorithmTable {
  const char* system = "";
  /// order[r, j]: the index in row r of x (rows, n) of its j-th element in sorted order.
  void (*sort)(Workspace&, DType, const void* x, std::int64_t rows, std::int64_t n, bool descending, std::int64_t* order);
  /// out[r, j] = x[r, place[r, j]], with x (rows, n) and place (rows, k).
  void (*take)(Workspace&, DType, const void* x, std::int64_t rows, std::int64_t n, std::int64_t k,
               const std::int64_t* place, void* out);
  /// out[r, place[r, j]] = x[r, j], else 0, with out (rows, n) and place (rows, k), no index twice in a row.
  void (*put)(Workspace&, DType, const void* x, std::int64_t rows, std::int64_t n, std::int64_t k,
              const std::int64_t* place, void* out);
  /// Running sums along each row of x (rows, n), from its begin or (reverse) from its end; of i64, f32 and f64.
  void (*cumsum)(Workspace&, DType, const void* x, std::int64_t rows, std::int64_t n, bool reverse, void* out);
  /// run[i]: how many runs of x[order[0]], x[order[1]] ... have begun up to index i; returns their number. order null: x as it is.
  std::int64_t (*runs)(Workspace&, DType, const void* x, std::int64_t n, const std::int64_t* order, std::int64_t* run);
  /// The index at which each run begins, then n.
  void (*run_starts)(Workspace&, const std::int64_t* run, std::int64_t n, std::int64_t* start);
  void (*run_lengths)(Workspace&, const std::int64_t* start, std::int64_t runs, std::int64_t* length);
  /// which[order[i]]: the number of the run that index i belongs to.
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
/// The table that src/algorithms.cpp was built with; null: none for this device.
const AlgorithmTable* compiled_algorithms(DeviceType d);
#else
inline const AlgorithmTable* compiled_algorithms(DeviceType) { return nullptr; }
#endif

/// Replaces the table used for Tensors of this device.
inline void set_algorithms(DeviceType d, const AlgorithmTable& table) {
  detail::algorithm_slot(d).store(&table, std::memory_order_release);
}
/// Null if no table was built or set.
inline const AlgorithmTable* algorithms(DeviceType d) {
  const AlgorithmTable* set = detail::algorithm_slot(d).load(std::memory_order_acquire);
  return set ? set : compiled_algorithms(d);
}

}  // namespace tt::backend
