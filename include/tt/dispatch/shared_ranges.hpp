// Parallel loops, for kernels whose parts are independent.
//   in_ranges(rows, columns, [&](std::int64_t begin, std::int64_t end) { for (; begin < end; ++begin) sort(row(begin)); });
#pragma once
#include <atomic>
#include <cstring>
#include <exception>

#include "tt/backends/runtime.hpp"
#include "tt/core/copy_memory.hpp"
#include "tt/plan/split.hpp"

namespace tt::detail {

/// f(part) for each part, on the thread pool. The first exception is rethrown when all have ended.
template <class F>
void in_parts(int parts, const F& f) {
  if (parts == 1) return f(0);
  struct Shared {
    const F& f;
    std::atomic_flag failed{};
    std::exception_ptr first{};
  } shared{f};
  backend::ThreadPool::instance().run(
      parts,
      [](void* context, int part) {
        Shared& s = *static_cast<Shared*>(context);
        try {
          s.f(part);
        } catch (...) {
          if (!s.failed.test_and_set()) s.first = std::current_exception();
        }
      },
      &shared);
  if (shared.first) std::rethrow_exception(shared.first);
}
/// How threads share n items, each of which costs about as much as `work` elements.
inline Split split_rows(std::int64_t n, std::int64_t work) { return split_kernel({KernelKind::rows, 1, n, work, 1, false}, get_num_threads()); }
/// f(part, begin, end) for the parts of a split; they must be independent.
template <class F>
void in_ranges(const Split& split, std::int64_t n, const F& f) {
  in_parts(split.parts, [&](int part) {
    const Range range = split.part(part);
    f(part, range.first(SplitAxis::rows), range.last(SplitAxis::rows, n));
  });
}
/// f(begin, end) for the ranges of split_rows(n, work).
template <class F>
void in_ranges(std::int64_t n, std::int64_t work, const F& f) {
  in_ranges(split_rows(n, work), n, [&](int, std::int64_t begin, std::int64_t end) { f(begin, end); });
}

/// f(row, offset) for rows [begin, end) of the index space of some axes: `offset` is where the row begins. count(k) and stride(k) are those of axis k, from the
/// innermost out.
template <class Count, class Stride, class F>
void each_row_place(std::int64_t begin, std::int64_t end, int axes, const Count& count, const Stride& stride, const F& f) {
  if (begin == end) return;
  std::int64_t at[max_rank] = {}, place = 0, rest = begin;
  for (int k = 0; k < axes; ++k) {
    at[k] = rest % count(k);
    rest /= count(k);
    place += at[k] * stride(k);
  }
  for (std::int64_t row = begin; row < end; ++row) {
    f(row, place);
    for (int k = 0; k < axes; ++k) {
      place += stride(k);
      if (++at[k] < count(k)) break;
      place -= stride(k) * count(k);
      at[k] = 0;
    }
  }
}
/// f with an unsigned integer of an element's size, for code that only moves elements.
template <class F>
void with_element_size(DType d, const F& f) {
  switch (size_of(d)) {
    case 1: f(std::uint8_t{}); break;
    case 2: f(std::uint16_t{}); break;
    case 4: f(std::uint32_t{}); break;
    default: f(std::uint64_t{});
  }
}
/// Rows of zeros but for one element each: element(row), at column(row); a negative column means none.
template <class T, class Column, class Element>
void rows_of_one(T* to, std::int64_t rows, std::int64_t columns, const Column& column, const Element& element) {
  if (columns > 0)
    in_ranges(rows, columns, [&](std::int64_t begin, std::int64_t end) {
      std::memset(static_cast<void*>(to + begin * columns), 0, static_cast<std::size_t>((end - begin) * columns) * sizeof(T));
      for (std::int64_t r = begin; r < end; ++r)
        if (const std::int64_t c = column(r); c >= 0) to[r * columns + c] = element(r);
    });
}
/// Copies bytes, in pieces shared by threads if there are many.
inline void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  constexpr std::int64_t piece = 1 << 16, word = 4;
  in_ranges((bytes + piece - 1) / piece, piece / word, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * piece, last = end * piece < bytes ? end * piece : bytes;
    if (last > first) copy_memory(static_cast<std::byte*>(to) + first, static_cast<const std::byte*>(from) + first, static_cast<std::size_t>(last - first));
  });
}
/// Copies rows of `bytes` bytes that begin to_apart and from_apart bytes apart.
inline void copy_rows(std::byte* to, std::int64_t to_apart, const std::byte* from, std::int64_t from_apart, std::int64_t rows, std::int64_t bytes) {
  if (rows == 1) return copy_bytes(to, from, bytes);
  in_ranges(rows, bytes / 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) copy_memory(to + i * to_apart, from + i * from_apart, static_cast<std::size_t>(bytes));
  });
}

}  // namespace tt::detail
