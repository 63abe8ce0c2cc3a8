// The order of summation, defined by plain code: every executor's reductions have the same bits as these functions.
#pragma once
#include <limits>

#include "tt/graph/node.hpp"

namespace tt {

/// Partial sums of a row that run side by side: element i of a row goes to lane i % 64.
inline constexpr int reduction_lanes = 64;
/// Elements (along a row) or rows (down a column) that are reduced to one partial result.
inline constexpr int row_block = 4096, column_block = 256;

TT_KERNELS_BEGIN

namespace detail {

template <Op K, class T>
constexpr T combine(T a, T b) {
  if constexpr (K == Op::sum) return Carrier<T>::template apply<Op::add>(a, b);
  else if constexpr (K == Op::amax) return Carrier<T>::template apply<Op::max>(a, b);
  else return Carrier<T>::template apply<Op::min>(a, b);
}
/// The result of an empty reduction.
template <Op K, class T>
constexpr T identity() {
  if constexpr (K == Op::sum) return T(0);
  else if constexpr (std::is_floating_point_v<T>)
    return K == Op::amax ? -infinity<T> : infinity<T>;
  else return K == Op::amax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
}

/// Most partial results that wait to be combined: one for each power of two.
inline constexpr int most_parts = 32;
/// Combines partial results pairwise, the older one on the left, like carries of a binary counter.
template <class V>
struct PairwiseTree {
  V part[most_parts];
  int used = 0;
  std::uint64_t pushed = 0;
  template <class Combine>
  TT_ALWAYS_INLINE constexpr void push(V x, const Combine& combine_values) {
    for (std::uint64_t n = pushed++; n & 1; n >>= 1) x = combine_values(part[--used], x);
    part[used++] = x;
  }
  template <class Combine>
  TT_ALWAYS_INLINE constexpr V result(const V& empty, const Combine& combine_values) {
    if (used == 0) return empty;
    V x = part[--used];
    while (used > 0) x = combine_values(part[--used], x);
    return x;
  }
};

/// The partial sums down a column of n elements, in the order in which a PairwiseTree takes them: blocks of 256 rows, or, in row order, the lanes of each
/// block of 4,096 in bit-reversed order, so that the tree folds lanes in halves.
struct ColumnParts {
  std::int64_t n;
  bool row_order;
  int log_lanes = 0;
  constexpr ColumnParts(std::int64_t rows, bool in_order_of_row) : n(rows), row_order(in_order_of_row) {
    while (row_order && lanes() < reduction_lanes && lanes() < n) ++log_lanes;  // further lanes have no elements
  }
  constexpr std::int64_t lanes() const { return std::int64_t{1} << log_lanes; }
  constexpr std::int64_t block() const { return row_order ? row_block : column_block; }
  constexpr std::int64_t step() const { return row_order ? reduction_lanes : 1; }
  constexpr std::int64_t count() const { return (n + block() - 1) / block() << log_lanes; }
  constexpr std::int64_t begin(std::int64_t i) const { return (i >> log_lanes) * block() + lane(i & (lanes() - 1)); }
  constexpr std::int64_t end(std::int64_t i) const {
    const std::int64_t e = ((i >> log_lanes) + 1) * block();
    return e < n ? e : n;
  }

 private:
  constexpr std::int64_t lane(std::int64_t i) const {  // the bits of i, reversed
    const std::int64_t all = (i & 1) << 5 | (i & 2) << 3 | (i & 4) << 1 | (i & 8) >> 1 | (i & 16) >> 3 | (i & 32) >> 5;
    return all >> (6 - log_lanes);
  }
  static_assert(reduction_lanes == 1 << 6);
};

}  // namespace detail

/// Reduction of a row of elements `stride` apart: blocks of 4,096; element i of a block goes to lane i % 64; lanes fold in halves; blocks combine pairwise.
/// The order depends on n only.
template <Op K, class T>
constexpr T reference_reduce(const T* x, std::int64_t n, std::int64_t stride = 1) {
  detail::PairwiseTree<T> tree;
  for (std::int64_t block = 0; block < n; block += row_block) {
    T lane[reduction_lanes];
    for (T& l : lane) l = detail::identity<K, T>();
    for (std::int64_t i = block; i < n && i < block + row_block; ++i) {
      T& l = lane[i % reduction_lanes];
      l = detail::combine<K>(l, x[i * stride]);
    }
    for (int w = reduction_lanes / 2; w > 0; w /= 2)
      for (int l = 0; l < w; ++l) lane[l] = detail::combine<K>(lane[l], lane[l + w]);
    tree.push(lane[0], detail::combine<K, T>);
  }
  return tree.result(detail::identity<K, T>(), detail::combine<K, T>);
}

/// Reduction over leading axes: each block of 256 rows in sequence, blocks pairwise.
template <Op K, class T, class At>
constexpr T reference_reduce_rows(std::int64_t rows, const At& at) {
  detail::PairwiseTree<T> tree;
  for (std::int64_t block = 0; block < rows; block += column_block) {
    T sum = detail::identity<K, T>();
    for (std::int64_t r = block; r < rows && r < block + column_block; ++r)
      sum = detail::combine<K>(sum, static_cast<T>(at(r)));
    tree.push(sum, detail::combine<K, T>);
  }
  return tree.result(detail::identity<K, T>(), detail::combine<K, T>);
}

/// The sum of a row in the library's order (see reference_reduce).
template <class T>
constexpr T reference_sum(const T* x, std::int64_t n) {
  return reference_reduce<Op::sum>(x, n);
}

TT_KERNELS_END

}  // namespace tt
