// Reductions over tiles: for each reduction and dtype the functions that the interpreter calls. A program has the reductions that its
// graphs register (enlist_reduction, graph/graph.hpp); tt::compiled has all.
//   const ReductionTiles& sum = reduction_tiles(Op::sum, DType::f32);   sum.part(lane, x, nullptr, n);  sum.fold(&value, lane);
#pragma once
#include "tt/backends/cpu/shuffle.hpp"
#include "tt/backends/cpu/tile_kernels.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {

/// The tree that combines the blocks of a row, in max_tree_bytes; values are elements.
struct ReductionTree {
  void (*begin)(void* tree) = nullptr;
  void (*push)(void* tree, const void* value) = nullptr;
  void (*result)(void* tree, void* value) = nullptr;
};
/// The functions of one reduction, by dtype.
struct EnlistedReduction {
  const char* isa;
  const ReductionTiles* tiles;
  const ReductionTree* trees;
};
constexpr int reduction_number(Op op) { return op == Op::sum ? 0 : op == Op::amax ? 1 : 2; }
/// The registered reductions, like enlisted_tiles.
inline const EnlistedReduction* enlisted_reductions[3] = {};

inline namespace TT_ISA {
namespace detail {

inline constexpr std::size_t max_tree_bytes = sizeof(tt::detail::PairwiseTree<std::int64_t>);

/// The operand of a reduction: elements, or the products of two rows (which then need no tile of their own).
template <class T>
struct Elements {
  const T* x;
  TT_ALWAYS_INLINE Elements operator+(std::int64_t i) const { return {x + i}; }
  TT_ALWAYS_INLINE Pack<T> operator[](std::int64_t i) const { return load(x + i); }
  TT_ALWAYS_INLINE Pack<T> first(std::int64_t i, int n) const { return load_first(x + i, n); }
  TT_ALWAYS_INLINE void prefetch(std::int64_t i, std::int64_t ahead) const { prefetch_ahead(x + i, ahead); }
};
template <class T>
struct Products {
  const T *x, *y;
  TT_ALWAYS_INLINE Products operator+(std::int64_t i) const { return {x + i, y + i}; }
  TT_ALWAYS_INLINE Pack<T> operator[](std::int64_t i) const {
    return Carrier<Pack<T>>::template apply<Op::mul>(load(x + i), load(y + i));
  }
  TT_ALWAYS_INLINE Pack<T> first(std::int64_t i, int n) const {
    return Carrier<Pack<T>>::template apply<Op::mul>(load_first(x + i, n), load_first(y + i, n));
  }
  TT_ALWAYS_INLINE void prefetch(std::int64_t, std::int64_t) const {}
};

/// One step of a row of n elements, from element i on, combined with `sum`; lanes beyond the row are left out.
template <Op K, class T, class Row>
TT_ALWAYS_INLINE Pack<T> combine_first(const Pack<T>& sum, const Row& x, std::int64_t i, std::int64_t n) {
  const int count = static_cast<int>(n - i);
  if (n - i >= lanes) return combine<K>(sum, x[i]);
  if (n <= i) return sum;
  return combine<K>(sum, Carrier<Pack<T>>::select(first_lanes(count), x.first(i, count), identity_pack<K, T>()));
}
/// Combines n elements of a row with the 64 lanes, the first one with lane 0.
template <Op K, class T, class Row>
TT_ALWAYS_INLINE void reduce_into(Pack<T>* lane, const Row& x, std::int64_t n) {
  Pack<T> sum[packs_per_block];
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; ++u) sum[u] = lane[u];
  PackMask ordered = all_ordered();
  // For short rows the lines ahead may belong to another row.
  constexpr std::int64_t far = 8192;
  const std::int64_t ahead = n * static_cast<std::int64_t>(sizeof(T)) >= far ? far : 0;
  std::int64_t i = 0;
  for (; i + reduction_lanes <= n; i += reduction_lanes)
#pragma GCC unroll 16
    for (int u = 0; u < packs_per_block; ++u) {
      if (u * lanes * static_cast<int>(sizeof(T)) % 64 == 0) x.prefetch(i + u * lanes, ahead);
      if (u % 2 == 0) note<K>(ordered, sum[u], sum[u + 1]);
      sum[u] = accumulate<K>(sum[u], x[i + u * lanes]);
    }
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; ++u) lane[u] = sum[u];
  if constexpr (forgets_nan<K, T>)
    lane[0] = Carrier<Pack<T>>::select(ordered, lane[0], Carrier<Pack<T>>::splat(default_nan<T>));
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; ++u) lane[u] = combine_first<K>(lane[u], x, i + u * lanes, n);
}
template <Op K, class T>
TT_ALWAYS_INLINE T fold_row(const Pack<T>* lane) {
  PackMask ordered = all_ordered();
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; u += 2) note<K>(ordered, lane[u], lane[u + 1]);
  return fold<K, T>(lane, ordered);
}
#if TT_AVX512 || defined(__AVX2__)
inline constexpr bool has_permute = true;
/// Lane l of the result is lane i[l] of x, whose elements have four bytes.
template <class T>
TT_ALWAYS_INLINE Pack<T> permute(const Pack<T>& x, const Pack<std::int32_t>& i) {
#if TT_AVX512
  return {{(typename Pack<T>::Register)_mm512_permutexvar_epi32(i.part[0], (__m512i)x.part[0])}};
#else
  return {{(typename Pack<T>::Register)_mm256_permutevar8x32_epi32((__m256i)x.part[0], i.part[0])}};
#endif
}
#else
inline constexpr bool has_permute = false;
template <class T>
Pack<T> permute(const Pack<T>&, const Pack<std::int32_t>&);
#endif
/// Reduces `rows` rows of floats, as many at a time as fit a vector; Apart is lanes_of(columns). Returns the number of rows done: the
/// others must be read row by row, as no memory beyond the last element may be touched.
template <Op K, class T, int Apart, class Row>
TT_ALWAYS_INLINE std::int64_t reduce_several(T* result, const Row& x, std::int64_t rows, std::int64_t columns) {
  constexpr int each = lanes / Apart;
  std::int64_t r = 0;
  if (columns == Apart) {
    for (; r + each <= rows; r += each)
      store(result + r, shuffle<FirstsMap<Apart>>(reduce_in_rows<K, T, Apart>(x[r * columns])));
  } else if constexpr (has_permute) {
    alignas(64) std::int32_t place[lanes], column[lanes];
    for (int l = 0; l < lanes; ++l) {
      column[l] = l % Apart;
      place[l] = l / Apart * static_cast<int>(columns) + column[l];
    }
    using Int = Carrier<Pack<std::int32_t>>;
    const Pack<std::int32_t> places = load(place);
    const PackMask in_row = Int::template compare<Op::lt>(load(column), Int::splat(static_cast<int>(columns)));
    for (; r * columns + lanes <= rows * columns; r += each) {
      const Pack<T> row = Carrier<Pack<T>>::select(in_row, permute(x[r * columns], places), identity_pack<K, T>());
      store(result + r, shuffle<FirstsMap<Apart>>(reduce_in_rows<K, T, Apart>(row)));
    }
  }
  return r;
}
/// Rows of floats, of no more columns than a vector has lanes.
template <Op K, class T, int Apart, class Row>
TT_ALWAYS_INLINE void reduce_short_rows(T* result, const Row& x, std::int64_t rows, std::int64_t columns) {
  std::int64_t r = 0;
  if constexpr (Apart < lanes) r = reduce_several<K, T, Apart>(result, x, rows, columns);
  const int count = static_cast<int>(columns);
  const PackMask in_row = first_lanes(count);
  for (; r < rows; ++r) {
    const std::int64_t i = r * columns;
    const Pack<T> row = i + lanes <= rows * columns ? x[i] : x.first(i, count);
    result[r] = lane_zero<T>(
        reduce_in_rows<K, T, Apart>(Carrier<Pack<T>>::select(in_row, row, identity_pack<K, T>())).part[0]);
  }
}
/// Rows of no more than `Lanes` columns; the last vector of a row may be partial.
template <Op K, class T, int Lanes, class Row>
TT_ALWAYS_INLINE void reduce_middling_rows(T* result, const Row& x, std::int64_t rows, std::int64_t columns) {
  constexpr int packs = packs_of<Lanes>;
  for (std::int64_t r = 0; r < rows; ++r) {
    Pack<T> lane[packs];
    PackMask ordered = all_ordered();
#pragma GCC unroll 16
    for (int u = 0; u < packs; ++u) {
      lane[u] = combine_first<K>(identity_pack<K, T>(), x + r * columns, u * lanes, columns);
      note<K>(ordered, lane[u], lane[u]);
    }
    result[r] = fold<K, T, Lanes>(lane, ordered);
  }
}
/// Reduces each of `rows` rows of a tile; a row is no longer than a block.
template <Op K, class T, class Row>
void reduce_rows(T* result, Row x, std::int64_t rows, std::int64_t columns) {
#if !defined(__CUDACC__)  // nvcc cannot shuffle
  if constexpr (std::is_same_v<T, float>) {  // other dtypes are rare, and each length costs compile time
    if (columns <= 2) return reduce_short_rows<K, T, 2>(result, x, rows, columns);
    if (columns <= 4) return reduce_short_rows<K, T, 4>(result, x, rows, columns);
    if constexpr (lanes >= 8)
      if (columns <= 8) return reduce_short_rows<K, T, 8>(result, x, rows, columns);
    if constexpr (lanes >= 16)
      if (columns <= 16) return reduce_short_rows<K, T, 16>(result, x, rows, columns);
  }
#endif
  if (columns <= 16) return reduce_middling_rows<K, T, 16>(result, x, rows, columns);
  if (columns <= 32) return reduce_middling_rows<K, T, 32>(result, x, rows, columns);
  for (std::int64_t r = 0; r < rows; ++r, x = x + columns) {
    Pack<T> lane[packs_per_block];
#pragma GCC unroll 16
    for (int u = 0; u < packs_per_block; ++u) lane[u] = identity_pack<K, T>();
    reduce_into<K>(lane, x, columns);
    result[r] = fold_row<K>(lane);
  }
}
/// Reduces part of a row, which may be long: the lanes are kept in memory.
template <Op K, class T, class Row>
void reduce_part(T* lane, const Row& x, std::int64_t n) {
  Pack<T> sum[packs_per_block];
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; ++u) sum[u] = load(lane + u * lanes);
  reduce_into<K>(sum, x, n);
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; ++u) store(lane + u * lanes, sum[u]);
}
template <Op K, class T>
T fold_lanes(const T* lane) {
  Pack<T> sum[packs_per_block];
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; ++u) sum[u] = load(lane + u * lanes);
  return fold_row<K>(sum);
}
/// Consecutive columns, a lane each, of contiguous rows.
template <Op K, class T>
void reduce_columns(T* lane, const T* x, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; i += lanes) {
    const std::int64_t end = rows * columns;  // no memory beyond it may be touched
    Pack<T> sum = load(lane + i);
    std::int64_t at = i;
    for (; at + lanes <= end; at += columns) sum = combine<K>(sum, load(x + at));
    for (; at < end; at += columns) sum = combine<K>(sum, load_first(x + at, static_cast<int>(columns - i)));
    store(lane + i, sum);
  }
}

/// Combines n elements with those of `x`; elements beyond are unchanged.
template <Op K, class T>
void reduce_elements(T* to, const T* x, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(to + i, combine<K>(load(to + i), load(x + i)));
  if (const int rest = static_cast<int>(n - i); rest > 0)
    store_first(to + i, combine<K>(load_first(to + i, rest), load_first(x + i, rest)), rest);
}

/// reduce_columns for contiguous groups of `rows` rows each, starting from the identity.
template <Op K, class T>
void reduce_groups(T* to, const T* x, std::int64_t groups, std::int64_t rows, std::int64_t columns) {
  const T* const end = x + groups * rows * columns;
  for (std::int64_t g = 0; g < groups; ++g, to += columns, x += rows * columns)
    for (std::int64_t i = 0; i < columns; i += lanes) {
      Pack<T> sum = identity_pack<K, T>();
      for (const T *p = x + i, *last = p + rows * columns; p != last; p += columns)
        sum = combine<K>(sum, end - p >= lanes ? load(p) : load_first(p, static_cast<int>(end - p)));
      store(to + i, sum);  // the next group overwrites the elements beyond the columns
    }
}

/// Calls f with the elements of a, or the products of a and b: see ReductionTiles.
template <Op K, class T, class F>
TT_ALWAYS_INLINE void with_row(const void* a, const void* b, const F& f) {
  if constexpr (K == Op::sum && std::is_floating_point_v<T>)
    if (b) return f(Products<T>{static_cast<const T*>(a), static_cast<const T*>(b)});
  f(Elements<T>{static_cast<const T*>(a)});
}
template <Op K, class T>
constexpr ReductionTiles reduction_of() {
  using std::int64_t;
  ReductionTiles r;
  r.start = [](void* lane, int64_t n) {
    for (int64_t i = 0; i < n; i += lanes) store(static_cast<T*>(lane) + i, identity_pack<K, T>());
  };
  r.part = [](void* lane, const void* a, const void* b, int64_t n) {
    with_row<K, T>(a, b, [&](const auto& x) { reduce_part<K>(static_cast<T*>(lane), x, n); });
  };
  r.fold = [](void* value, const void* lane) { *static_cast<T*>(value) = fold_lanes<K>(static_cast<const T*>(lane)); };
  r.rows = [](void* value, const void* a, const void* b, int64_t rows, int64_t columns) {
    with_row<K, T>(a, b, [&](const auto& x) { reduce_rows<K>(static_cast<T*>(value), x, rows, columns); });
  };
  r.columns = [](void* lane, const void* x, int64_t rows, int64_t columns) {
    reduce_columns<K>(static_cast<T*>(lane), static_cast<const T*>(x), rows, columns);
  };
  r.groups = [](void* to, const void* x, int64_t groups, int64_t rows, int64_t columns) {
    reduce_groups<K>(static_cast<T*>(to), static_cast<const T*>(x), groups, rows, columns);
  };
  r.elements = [](void* to, const void* x, int64_t n) { reduce_elements<K>(static_cast<T*>(to), static_cast<const T*>(x), n); };
  return r;
}
template <Op K, class T>
constexpr ReductionTree tree_of() {
  using Blocks = tt::detail::PairwiseTree<T>;
  static_assert(sizeof(Blocks) <= max_tree_bytes);
  ReductionTree r;
  r.begin = [](void* tree) { new (tree) Blocks{}; };
  r.push = [](void* tree, const void* value) { static_cast<Blocks*>(tree)->push(*static_cast<const T*>(value), tt::detail::combine<K, T>); };
  r.result = [](void* tree, void* value) {
    *static_cast<T*>(value) = static_cast<Blocks*>(tree)->result(tt::detail::identity<K, T>(), tt::detail::combine<K, T>);
  };
  return r;
}
/// For all dtypes that can be reduced, in the order of DType.
template <Op K>
inline constexpr ReductionTiles reduction_tiles_of[dtype_count] = {
    {}, reduction_of<K, std::int32_t>(), reduction_of<K, std::int64_t>(), reduction_of<K, float>(), reduction_of<K, double>()};
template <Op K>
inline constexpr ReductionTree reduction_trees_of[dtype_count] = {
    {}, tree_of<K, std::int32_t>(), tree_of<K, std::int64_t>(), tree_of<K, float>(), tree_of<K, double>()};
template <Op K>
inline constexpr EnlistedReduction enlisted = {TT_ISA_NAME, reduction_tiles_of<K>, reduction_trees_of<K>};

#if !TT_ALL_KERNELS
inline const EnlistedReduction& find_reduction(Op op) {
  const EnlistedReduction* r = __atomic_load_n(&enlisted_reductions[reduction_number(op)], __ATOMIC_ACQUIRE);
  if (!r) tt::detail::not_enlisted(name(op));
  tt::detail::check_isa(r->isa, TT_ISA_NAME);
  return *r;
}
#endif

}  // namespace detail

/// For floats and integers; booleans are not reduced.
inline const ReductionTiles& reduction_tiles(Op op, DType dtype) {
#if TT_ALL_KERNELS
  constexpr const ReductionTiles* all[] = {detail::reduction_tiles_of<Op::sum>, detail::reduction_tiles_of<Op::amax>,
                                           detail::reduction_tiles_of<Op::amin>};
  return all[reduction_number(op)][static_cast<int>(dtype)];
#else
  return detail::find_reduction(op).tiles[static_cast<int>(dtype)];
#endif
}
inline const ReductionTree& reduction_tree(Op op, DType dtype) {
#if TT_ALL_KERNELS
  constexpr const ReductionTree* all[] = {detail::reduction_trees_of<Op::sum>, detail::reduction_trees_of<Op::amax>,
                                          detail::reduction_trees_of<Op::amin>};
  return all[reduction_number(op)][static_cast<int>(dtype)];
#else
  return detail::find_reduction(op).trees[static_cast<int>(dtype)];
#endif
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END

namespace tt {

template <Op K>
void enlist_reduction() {
  __atomic_store_n(&cpu::enlisted_reductions[cpu::reduction_number(K)], &cpu::detail::enlisted<K>, __ATOMIC_RELEASE);
}

}  // namespace tt
