// The number of threads of a kernel, and its memory besides the operands: computed from the extents, for a device with a number of
// multiprocessors. One launch, or two where the rows of a reduction are too few to fill the device.
#pragma once
#include "tt/backends/cuda/kernel_forms.hpp"
#include "tt/graph/reduce_order.hpp"

namespace tt::cuda {

struct DeviceLimits {
  int multiprocessors = 132;
  std::int64_t shared_per_block = 48 * 1024;  ///< the bytes available to a kernel without a request for more
};

struct Launch {
  int function = 0;              ///< index of the function, see function_suffix
  std::int64_t grid = 1;
  int block = 32;
  int team = 32;
  std::int64_t shared = 0;       ///< bytes a block
  std::int64_t shared_team = 0;  ///< bytes of `shared` for a team's rows; 0: these are in work
  std::int64_t work = 0;         ///< bytes in all
  std::int64_t work_team = 0, parts = 0;
};
struct Launches {
  int count = 1;
  Launch launch[2];
};

/// The suffixes of a kernel's three functions: the whole kernel, and those launched instead of it or after it.
constexpr const char* function_suffix(KernelKind kind, int function) {
  constexpr const char* product[] = {"", "_large", "_epilogue"};
  constexpr const char* other[] = {"", "_parts", "_finish"};
  return kind == KernelKind::matmul ? product[function] : other[function];
}

namespace detail {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr int warps_per_block = 4, most_warps = most_threads(KernelForm::rows, false) / 32;

template <class AnyPlan>
struct LaunchPlanner {
  const AnyPlan& plan;
  const Kernel& k;
  const SymbolValues& symbols;
  const DeviceLimits& device;

  constexpr std::int64_t value(Extent e) const { return e.value(symbols); }
  /// One block for each unit of work, but only as many as fill the device a few times over.
  constexpr std::int64_t grid(std::int64_t blocks, int warps) const {
    const std::int64_t full = std::int64_t{device.multiprocessors} * (128 / warps);
    return blocks < 1 ? 1 : least(blocks, full);
  }
  constexpr std::int64_t scratch() const {
    std::int64_t bytes = 0;
    for (int b = 0; b < k.bindings; ++b)
      if (const Buffer& x = plan.buffers[plan.bindings[k.first_binding + b]]; x.scratch)
        bytes += ceil_div(value(x.size), 16) * 16 * size_of(x.dtype);
    return bytes;
  }
  constexpr Launch teams(int function, std::int64_t units, int warps) const {
    const int per_block = warps == 1 ? warps_per_block : 1;
    Launch l;
    l.function = function;
    l.team = 32 * warps;
    l.block = l.team * per_block;
    l.grid = grid(ceil_div(units, per_block), warps * per_block);
    return l;
  }
  /// Would a single launch leave most of the device idle although there are enough blocks?
  constexpr bool few(std::int64_t units, std::int64_t blocks) const {
    return blocks >= 8 && units * least(blocks, most_warps) < std::int64_t{device.multiprocessors} * 16;
  }

  constexpr Launches elements() const {
    const std::int64_t threads = value(k.rows) * ceil_div(value(k.cols), vector_elements);
    Launches r;
    constexpr int block = most_threads(KernelForm::elements, false);
    r.launch[0].block = block;
    r.launch[0].grid = grid(ceil_div(threads, block), block / 32);
    return r;
  }
  /// `rows` times `groups` (of 32 columns) units of work; each has `blocks` partial results of `part` bytes.
  constexpr Launches reduction(std::int64_t rows, std::int64_t groups, std::int64_t blocks, std::int64_t part) const {
    Launches r;
    const std::int64_t units = rows * groups;
    if (has_parts(plan, k) && few(units, blocks)) {
      r.count = 2;
      const std::int64_t bytes = ceil_div(part * blocks * groups, 16) * 16;
      r.launch[0] = teams(1, units * blocks, 1);
      r.launch[1] = teams(2, units, static_cast<int>(least(most_warps, ceil_div(blocks, 32) + 3)));
      for (Launch& l : r.launch) {
        l.work_team = bytes;
        l.work = bytes * rows;
      }
      return r;
    }
    Launch& l = r.launch[0] = teams(0, units, blocks < 2 ? 1 : static_cast<int>(least(blocks, most_warps)));
    l.parts = blocks > 1 ? ceil_div(part * blocks, 16) * 16 : 0;
    l.work_team = l.parts;
    if (const std::int64_t bytes = scratch(); bytes > 0) {
      int per_block = l.block / l.team;
      while (per_block > 1 && per_block * bytes > device.shared_per_block) per_block /= 2;
      if (per_block * bytes <= device.shared_per_block) {
        l.shared_team = bytes;
        l.shared = per_block * bytes;
        l.block = l.team * per_block;
        l.grid = grid(ceil_div(units, per_block), l.block / 32);
      } else {
        l.work_team += bytes;
      }
    }
    l.work = l.work_team * l.grid * (l.block / l.team);
    return r;
  }
  /// The launch of the epilogue after a product whose sums a library left in memory.
  constexpr Launch epilogue() const {
    Launch l;
    l.function = 2;
    l.block = most_threads(KernelForm::matmul, false);
    l.grid = grid(ceil_div(value(k.batch) * value(k.rows) * value(k.cols), l.block), l.block / 32);
    return l;
  }
  constexpr Launches matmul() const {
    Launches r;
    Launch& l = r.launch[0];
    l.block = most_threads(KernelForm::matmul, false);
    const auto tiles = [&](int sums) {
      return value(k.batch) * ceil_div(value(k.rows), 16 * sums) * ceil_div(value(k.cols), 16 * sums);
    };
    const int sums = tiles(matmul_large) >= device.multiprocessors ? matmul_large : matmul_small;
    if (sums == matmul_large) l.function = 1;
    l.grid = tiles(sums) < 1 ? 1 : least(tiles(sums), std::int64_t{1} << 30);
    l.shared = std::int64_t{2} * 16 * (16 * sums + 1) * size_of(k.dtype);
    return r;
  }
};

}  // namespace detail

/// The launch after a product that a library computed without its epilogue.
template <class AnyPlan>
constexpr Launch epilogue_launch(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols, const DeviceLimits& device) {
  return detail::LaunchPlanner<AnyPlan>{plan, k, symbols, device}.epilogue();
}

/// The launches of a kernel for these values of the symbols.
template <class AnyPlan>
constexpr Launches launches_of(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols, const DeviceLimits& device) {
  const detail::LaunchPlanner<AnyPlan> p{plan, k, symbols, device};
  switch (form_of(plan, k)) {
    case KernelForm::elements: return p.elements();
    case KernelForm::rows:
      return p.reduction(p.value(k.rows), 1, detail::ceil_div(p.value(k.cols), row_block), 8 * reductions_of(plan, k));
    case KernelForm::columns:
      return p.reduction(p.value(k.rows), detail::ceil_div(p.value(k.cols), 32), tt::detail::ColumnParts(p.value(k.inner), k.row_order).count(),
                         8 * 32 * reductions_of(plan, k));
    case KernelForm::matmul: break;
  }
  return p.matmul();
}

}  // namespace tt::cuda
