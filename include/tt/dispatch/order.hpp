// The order of elements (NaN is the greatest); and a radix sort of one long row on the host, shared by all threads.
//   comes_before(1.0, NAN);   sort_long_row(row, n, false, order);
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <type_traits>
#include <utility>
#include <vector>

#include "tt/core/tensor.hpp"
#include "tt/dispatch/shared_ranges.hpp"

namespace tt::detail {

/// Ascending order; NaN is the greatest.
template <class T>
bool comes_before(T a, T b) { return a < b || (b != b && a == a); }

/// An unsigned integer as wide as an element, in the same order as the elements: all NaNs are equal, and so are -0 and 0.
template <class T>
auto order_key(T v) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<std::uint32_t>(v);
  } else {
    using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr int top = 8 * sizeof(Key) - 1;
    constexpr Key sign = Key{1} << top;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Key>(v) ^ sign;
    } else {
      const auto all = [](bool is_so) { return Key{0} - Key{is_so}; };  // without a branch
      const Key bits = std::bit_cast<Key>(v) & all(v != 0);
      return (bits ^ (all(bits >> top) | sign)) | all(v != v);
    }
  }
}
/// Radix sort of n keys, from the lowest digit on: counts of each digit give the target positions, and threads share both steps. key(i) is the key of element
/// i; only its last `bits` count.
template <class K, class Key>
void sort_by_digits(std::int64_t n, int bits, const Key& key, std::int64_t* order) {
  struct Element {
    K key, place;
  };
  constexpr int most_bits = 8;  // 256 write positions, a cache line each, stay in the L1 cache
  const int passes = bits > most_bits ? (bits + most_bits - 1) / most_bits : 1, width = (bits + passes - 1) / passes;
  const std::size_t digits = std::size_t{1} << width, apart = digits + 16;  // no two threads write to one cache line
  const Split split = split_rows(n, 8);
  std::vector<std::int64_t> next(static_cast<std::size_t>(split.parts) * apart);  // next position, for each part and digit
  const std::int64_t copies = passes > 2 ? 2 : passes - 1;
  const Tensor memory(DType::u8, Shape{copies * n * static_cast<std::int64_t>(sizeof(Element))});
  auto* to = reinterpret_cast<Element*>(memory.impl().data);
  Element* from = to + (copies > 1 ? n : 0);
  for (int pass = 0; pass < passes; ++pass) {
    const auto digit = [&, shift = pass * width](K k) { return static_cast<std::size_t>(k >> shift) & (digits - 1); };
    const auto go = [&](const auto& read, const auto& write) {
      std::fill(next.begin(), next.end(), 0);
      in_ranges(split, n, [&](int part, std::int64_t begin, std::int64_t end) {
        std::int64_t* const count = &next[static_cast<std::size_t>(part) * apart];
        for (std::int64_t i = begin; i < end; ++i) ++count[digit(read(i).key)];
      });
      std::int64_t before = 0;
      for (std::size_t d = 0; d < digits; ++d)
        for (std::size_t at = d; at < next.size(); at += apart) before += std::exchange(next[at], before);
      in_ranges(split, n, [&](int part, std::int64_t begin, std::int64_t end) {
        std::int64_t* const place = &next[static_cast<std::size_t>(part) * apart];
        for (std::int64_t i = begin; i < end; ++i) {
          const Element e = read(i);
          write(place[digit(e.key)]++, e);
        }
      });
    };
    const auto given = [&](std::int64_t i) { return Element{static_cast<K>(key(i)), static_cast<K>(i)}; };
    const auto sorted = [&](std::int64_t i) { return from[i]; };
    const auto on = [&](std::int64_t i, const Element& e) { to[i] = e; };
    const auto end = [&](std::int64_t i, const Element& e) { order[i] = static_cast<std::int64_t>(e.place); };
    const bool last = pass == passes - 1;
    if (pass == 0) last ? go(given, end) : go(given, on);
    else last ? go(sorted, end) : go(sorted, on);
    std::swap(from, to);
  }
}
/// The order of n elements of a contiguous row on the host. Stable.
inline void sort_long_row(const Tensor& x, std::int64_t n, bool descending, std::int64_t* order) {
  with_compute_dtype(x.dtype(), [&]<class T>(T) {
    const auto* const value = static_cast<const T*>(static_cast<const void*>(x.impl().data));
    const auto key = [&](std::int64_t i) { return descending ? ~order_key(value[i]) : order_key(value[i]); };
    using Key = decltype(key(0));
    const Key first = key(0);
    std::atomic<Key> differ{0};  // bits in which any two keys differ
    in_ranges(n, 1, [&](std::int64_t begin, std::int64_t end) {
      Key own = 0;
      for (std::int64_t i = begin; i < end; ++i) own |= key(i) ^ first;
      differ.fetch_or(own, std::memory_order_relaxed);
    });
    const int low = differ == 0 ? 0 : std::countr_zero(differ.load()), bits = static_cast<int>(std::bit_width(differ.load())) - low;
    const auto kept = [&](std::int64_t i) { return key(i) >> low; };
    if (bits <= 32 && n <= std::int64_t{1} << 32) sort_by_digits<std::uint32_t>(n, bits, kept, order);
    else sort_by_digits<std::uint64_t>(n, bits, kept, order);
  });
}

}  // namespace tt::detail
