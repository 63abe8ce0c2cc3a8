// How a kernel is divided among threads: in ranges of batches, rows or columns, never along a summed
// axis, so the bits do not depend on the number of threads. Every executor divides like this.
//   const Split s = split_kernel(extents, threads);   for (int i = 0; i < s.parts; ++i) run(s.part(i));
#pragma once
#include "tt/plan/plan.hpp"

namespace tt {

enum class SplitAxis : std::uint8_t { none, batch, rows, cols };

/// The work of one call of a kernel: everything, or [begin, end) of one axis.
struct Range {
  SplitAxis axis = SplitAxis::none;
  std::int64_t begin = 0, end = 0;

  constexpr std::int64_t first(SplitAxis a) const { return axis == a ? begin : 0; }
  constexpr std::int64_t last(SplitAxis a, std::int64_t extent) const {
    return axis == a ? end : extent;
  }
};

/// The extents of a kernel that matter for dividing it.
struct KernelExtents {
  KernelKind kind = KernelKind::rows;
  std::int64_t batch = 1, rows = 1, cols = 1, inner = 1;
  bool columns_divide = true;  ///< nothing is summed along them or stored once a row
  std::int64_t row_unit = 1;   ///< parts of rows begin at its multiples (not those of a matrix product)

  /// Elements computed; for a matrix product, the number of elements that take about as long.
  constexpr std::int64_t work() const {
    return batch * rows * cols * (kind == KernelKind::cols ? inner : 1) *
           (kind == KernelKind::matmul ? inner / 16 + 1 : 1);
  }
};

/// Elements that are worth waking a thread for (a few microseconds).
inline constexpr std::int64_t work_per_thread = 32768;

struct Split {
  SplitAxis axis = SplitAxis::none;
  int parts = 1;
  std::int64_t extent = 0, unit = 1;  ///< parts begin at multiples of `unit`

  constexpr Range part(int i) const {
    if (parts == 1) return {};
    const std::int64_t units = (extent + unit - 1) / unit;
    const std::int64_t begin = units * i / parts * unit, end = units * (i + 1) / parts * unit;
    return {axis, begin, end < extent ? end : extent};
  }
};

constexpr Split split_kernel(const KernelExtents& k, int threads) {
  const std::int64_t most = k.work() / work_per_thread;
  if (threads < 2 || most < 2) return {};
  const int wanted = most < threads ? static_cast<int>(most) : threads;
  Split best;
  // the first axis that has work for all threads, else the one with the most
  const auto offer = [&](SplitAxis axis, std::int64_t extent, std::int64_t unit) {
    const std::int64_t units = (extent + unit - 1) / unit;
    const int parts = units < wanted ? static_cast<int>(units) : wanted;
    if (parts > best.parts) best = {axis, parts, extent, unit};
  };
  if (k.kind == KernelKind::matmul) {
    offer(SplitAxis::batch, k.batch, 1);
    offer(SplitAxis::cols, k.cols, panel_columns);
    offer(SplitAxis::rows, k.rows, 24);  // a multiple of every tile's height
  } else {
    offer(SplitAxis::rows, k.rows, k.row_unit);
    if (k.columns_divide) {
      offer(SplitAxis::cols, k.cols, k.kind == KernelKind::cols ? panel_columns : tile_columns);
      if (k.kind == KernelKind::cols) offer(SplitAxis::cols, k.cols, 16);  // few long columns: parts of a cache line each
    }
  }
  return best;
}

/// May ranges of the columns of kernel k be computed independently?
template <class AnyPlan>
constexpr bool columns_divide(const AnyPlan& plan, const Kernel& k) {
  if (k.kind == KernelKind::matmul) return true;
  for (int s = 0; s < 2 * k.sweeps + 1; ++s)
    for (int i = k.segment[s]; i < k.segment[s + 1]; ++i) {
      const Op op = plan.instructions[i].op;
      const bool once_a_row = s % 2 == 0 && !(k.kind == KernelKind::cols && s == 2);
      if (once_a_row ? op == Op::store : is_reduction(op) && k.kind == KernelKind::rows) return false;
    }
  return true;
}

template <class AnyPlan>
constexpr int reductions_of(const AnyPlan& plan, const Kernel& k) {
  int n = 0;
  for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i) n += is_reduction(plan.instructions[i].op);
  return n;
}
/// May threads share the only row of kernel k, block by block, sweep by sweep, where it is long? Its sums are those of blocks, whichever thread computes them.
template <class AnyPlan>
constexpr bool shares_row(const AnyPlan& plan, const Kernel& k) {
  const bool long_enough = !k.cols.is_constant() || k.cols.code >= 2 * work_per_thread;
  return k.kind == KernelKind::rows && k.tile == 0 && k.rows == Extent(1) && long_enough && !columns_divide(plan, k);
}

}  // namespace tt
