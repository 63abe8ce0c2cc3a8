// How elements are ordered; and one long row sorted by several threads: parts of it are, and are then merged.
//   comes_before(1.0, NAN);   merge_sort(row, n, false, 4, order, [&](const void* part, std::int64_t count, std::int64_t* places) { ... });
#pragma once
#include <utility>

#include "tt/core/tensor.hpp"
#include "tt/dispatch/shared_ranges.hpp"

namespace tt::detail {

/// NaN is the greatest.
template <class T>
bool comes_before(T a, T b) { return a < b || (b != b && a == a); }

/// The order of n elements of a dense row of the host: threads sort parts of it, sort(elements, count, order), which are merged two by two, each thread writing as many
/// places. Equal elements stay in their order.
template <class Sort>
void merge_sort(const Tensor& x, std::int64_t n, bool descending, int parts, std::int64_t* order, const Sort& sort) {
  with_compute_dtype(x.dtype(), [&]<class T>(T) {
    struct Element {
      T value;
      std::int64_t place;
    };
    const auto before = [&](const Element& p, const Element& q) { return descending ? comes_before(q.value, p.value) : comes_before(p.value, q.value); };
    const auto begin = [&](int part) { return n / parts * part + (part < n % parts ? part : n % parts); };
    const auto* const value = static_cast<const T*>(static_cast<const void*>(x.impl().data));
    const Tensor memory(DType::u8, Shape{2 * n * static_cast<std::int64_t>(sizeof(Element))});
    auto* sorted = reinterpret_cast<Element*>(memory.impl().data);
    Element* merged = sorted + n;
    in_parts(parts, [&](int part) {
      const std::int64_t first = begin(part), end = begin(part + 1);
      sort(value + first, end - first, order + first);
      for (std::int64_t k = first; k < end; ++k) sorted[k] = {value[first + order[k]], first + order[k]};
    });
    for (int width = 1; width < parts; width *= 2) {
      const bool last_round = 2 * width >= parts;
      in_parts(parts, [&](int part) {
        const int left = part / (2 * width) * 2 * width, right = left + width < parts ? left + width : parts;
        const std::int64_t first = begin(left), middle = begin(right), last = begin(right + width < parts ? right + width : parts);
        const Element *const one = sorted + first, *const other = sorted + middle;
        const std::int64_t ones = middle - first, others = last - middle, from = begin(part) - first, to = begin(part + 1) - first;
        std::int64_t i = from > others ? from - others : 0;  // so many of the first `from` are ones
        for (std::int64_t end = from < ones ? from : ones; i < end;) {
          const std::int64_t half = (i + end) / 2;
          if (before(other[from - 1 - half], one[half])) end = half;
          else i = half + 1;
        }
        std::int64_t k = from, j = from - i;
        const auto take = [&](bool its) {  // without a branch that nobody can foresee
          const Element& next = *(its ? other + j : one + i);
          j += its;
          i += !its;
          if (last_round) order[first + k++] = next.place;
          else merged[first + k++] = next;
        };
        while (k < to && i < ones && j < others) take(before(other[j], one[i]));
        while (k < to) take(i == ones);
      });
      std::swap(sorted, merged);
    }
  });
}

}  // namespace tt::detail
