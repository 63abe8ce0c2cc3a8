// Loops that threads share: for kernels whose parts hang on nothing of each other.
//   in_ranges(rows, columns, [&](std::int64_t begin, std::int64_t end) { for (; begin < end; ++begin) sort(row(begin)); });
#pragma once
#include "tt/backends/runtime.hpp"
#include "tt/plan/split.hpp"

namespace tt::detail {

/// f(part) for parts that threads share.
template <class F>
void in_parts(int parts, const F& f) {
  if (parts == 1) return f(0);
  backend::ThreadPool::instance().run(parts, [](void* context, int part) { (*static_cast<const F*>(context))(part); }, const_cast<void*>(static_cast<const void*>(&f)));
}
/// f(begin, end) for ranges of n that threads share, where each of the n costs about as much as `work` elements. What f does hangs on no other range, and throws
/// nothing but for want of memory.
template <class F>
void in_ranges(std::int64_t n, std::int64_t work, const F& f) {
  const Split split = split_kernel({KernelKind::rows, 1, n, work, 1, false}, get_num_threads());
  in_parts(split.parts, [&](int part) {
    const Range range = split.part(part);
    f(range.first(SplitAxis::rows), range.last(SplitAxis::rows, n));
  });
}

}  // namespace tt::detail
