// What the tile interpreter is made of: a kernel's instructions with numbers in the place of symbols and
// names, found once a program and once a run, and loops over tiles that are no ops: values repeated, rows reduced.
//   TileStep x = ...;   x.function(tile[x.out], tile[x.a], tile[x.b], tile[x.c], n, x.attribute);
#pragma once
#include "tt/backends/cpu/shuffle.hpp"
#include "tt/backends/cpu/tile_functions.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// A tile holds so many elements, and so many bytes more: what is written goes to the next multiple of `lanes`.
inline constexpr int tile_elements = 2048;
inline constexpr std::size_t tile_margin = 128;
static_assert(tile_elements >= tile_columns && tile_margin >= 8 * lanes);
constexpr std::size_t tile_bytes(DType d) {
  return tile_elements * static_cast<std::size_t>(size_of(d)) + tile_margin;
}

struct TileStep {
  enum class Kind : std::uint8_t { call, fixed, place, load, store, accumulator, reduce, none };
  Kind kind = Kind::call;
  bool linear = true;    ///< rows are row_stride apart
  bool in_place = false; ///< a load: memory may stand for the tile
  bool spread = false;   ///< a row's value that is used beside columns
  bool of_products = false;  ///< a sum of a * b, whose multiplication is no step of its own
  bool kept = false;     ///< of a row of scratch, which is a tile where several rows go together
  int out = 0, a = 0, b = 0, c = 0;  ///< registers; the last one for those that are not there
  int tile = 0;          ///< which one is the result's own
  int attribute = 0;
  int reduction = -1;    ///< which of its segment's
  int direct = -1;       ///< a call: the store whose memory takes the result at once
  TileFunction function = nullptr;
  const Instruction* x = nullptr;
  const Access* access = nullptr;
  std::byte* memory = nullptr;   ///< where row 0 begins
  std::int64_t offset = 0;       ///< of row 0 in memory, the place of element 0, or the bytes of what is fixed
  std::int64_t row_stride = 0, stride = 0;  ///< in elements

  std::int64_t row(std::int64_t r, const SymbolValues& s) const {
    return linear ? r * row_stride : access->row_offset(r, s) - offset;
  }
};

/// Where one row after the other begins: runs of rows that are equally far apart, without a division for each.
class RowRuns {
 public:
  std::int64_t at, step, count;  ///< elements from row 0 to a run's first one, from one to the next; rows

  RowRuns(const TileStep& x, std::int64_t row, const SymbolValues& s) : at(x.row(row, s)), step(x.row_stride), count(INT64_MAX) {
    if (x.linear) return;
    for (int k = 0; k < x.access->term_count; ++k) {
      const Term& from = x.access->term[k];
      Counter& c = counter_[counters_++];
      c.divisor = from.divisor.value(s);
      c.modulus = from.modulus.value(s);
      c.stride = from.stride.value(s);
      c.rest = c.divisor - row % c.divisor;
      c.left = c.modulus > 0 ? c.modulus - row / c.divisor % c.modulus : INT64_MAX;
    }
    find_run();
  }
  /// Behind a run.
  void next() {
    for (int k = 0; k < counters_; ++k) {
      Counter& c = counter_[k];
      if (c.divisor == 1) {
        at += count * c.stride;
        c.left -= count;
      } else if ((c.rest -= count) == 0) {
        c.rest = c.divisor;
        at += c.stride;
        --c.left;
      }
      if (c.left > 0) continue;
      c.left = c.modulus;
      at -= c.modulus * c.stride;
    }
    find_run();
  }

 private:
  struct Counter {
    std::int64_t divisor, modulus, stride;
    std::int64_t rest, left;  ///< rows until it counts on, and how often until it begins anew
  };
  int counters_ = 0;
  Counter counter_[max_terms];

  void find_run() {
    count = INT64_MAX;
    step = 0;
    for (int k = 0; k < counters_; ++k) {
      const Counter& c = counter_[k];
      if (c.divisor == 1) step = c.stride;
      const std::int64_t rows = c.divisor == 1 ? c.left : c.rest;
      if (rows < count) count = rows;
    }
  }
};

namespace detail {

/// f with an integer of an element's size: what only moves elements needs no more.
template <class F>
TT_ALWAYS_INLINE void with_size(DType d, F f) {
  switch (size_of(d)) {
    case 1: f(std::uint8_t{}); break;
    case 4: f(std::int32_t{}); break;
    default: f(std::int64_t{});
  }
}
template <class T>
TT_ALWAYS_INLINE T element(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
/// *v, n times and up to the next multiple of `lanes`.
template <class T>
TT_ALWAYS_INLINE void repeat(std::byte* to, const void* v, std::int64_t n) {
  if constexpr (sizeof(T) == 1) {
    std::memset(to, element<T>(v), static_cast<std::size_t>(n));
  } else {
    const Pack<T> p = Carrier<Pack<T>>::splat(element<T>(v));
    for (std::int64_t i = 0; i < n; i += lanes) store(reinterpret_cast<T*>(to) + i, p);
  }
}

#if !defined(__CUDACC__)
template <class V, std::size_t... I>
TT_ALWAYS_INLINE V every_second(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(2 * I)...);
}
#endif
/// Elements that are `stride` apart, next to each other.
template <class T>
TT_ALWAYS_INLINE void gather(T* to, const T* from, std::int64_t n, std::int64_t stride) {
  std::int64_t i = 0;
#if !defined(__CUDACC__)
  if constexpr (sizeof(T) >= 4) {
    typedef T Vector __attribute__((vector_size(sizeof(xsimd::batch<float>))));
    constexpr int width = sizeof(Vector) / sizeof(T);
    if (stride == 2)
      for (; i + width < n; i += width) {  // the second register ends one element behind the last that is taken
        Vector part[2];
        std::memcpy(part, from + 2 * i, sizeof part);
        const Vector taken = every_second(part[0], part[1], std::make_index_sequence<width>{});
        std::memcpy(to + i, &taken, sizeof taken);
      }
  }
#endif
#pragma GCC unroll 4
  for (; i < n; ++i) std::memcpy(to + i, from + i * stride, sizeof(T));
}

/// What is reduced: elements, or the products of two rows of them, which need no tile of their own then.
template <class T>
struct Elements {
  const T* x;
  TT_ALWAYS_INLINE Elements operator+(std::int64_t i) const { return {x + i}; }
  TT_ALWAYS_INLINE Pack<T> operator[](std::int64_t i) const { return load(x + i); }
  TT_ALWAYS_INLINE Pack<T> first(std::int64_t i, int n) const { return load_first(x + i, n); }
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
};

/// One step of a row of n elements, from element i on, added to `sum` as far as it exists.
template <Op K, class T, class Row>
TT_ALWAYS_INLINE Pack<T> combine_first(const Pack<T>& sum, const Row& x, std::int64_t i, std::int64_t n) {
  const int count = static_cast<int>(n - i);
  if (n - i >= lanes) return combine<K>(sum, x[i]);
  if (n <= i) return sum;
  return combine<K>(sum, Carrier<Pack<T>>::select(first_lanes(count), x.first(i, count), identity_pack<K, T>()));
}
/// n elements of a row go to the 64 lanes, the first one to lane 0.
template <Op K, class T, class Row>
TT_ALWAYS_INLINE void reduce_into(Pack<T>* lane, const Row& x, std::int64_t n) {
  Pack<T> sum[packs_per_block];
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; ++u) sum[u] = lane[u];
  PackMask ordered = all_ordered();
  std::int64_t i = 0;
  for (; i + reduction_lanes <= n; i += reduction_lanes)
#pragma GCC unroll 16
    for (int u = 0; u < packs_per_block; ++u) {
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
/// Each of `rows` rows of floats, as many at a time as fit a vector; Apart is lanes_of(columns). Returns how many: the
/// rest must be read row by row, as nothing beyond the last element may be touched.
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
/// Rows of no more than `Lanes` columns, of which the last may lack some.
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
/// Each of `rows` rows of a tile, of no more than a block.
template <Op K, class T, class Row>
void reduce_rows(T* result, Row x, std::int64_t rows, std::int64_t columns) {
#if !defined(__CUDACC__)  // it cannot shuffle
  if constexpr (std::is_same_v<T, float>) {  // of others there are few, and each length costs compile time
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
/// Part of a row, which may be long: the lanes are kept in memory.
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
/// Columns next to each other, a lane each, of rows one behind the other.
template <Op K, class T>
void reduce_columns(T* lane, const T* x, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; i += lanes) {
    const std::int64_t end = rows * columns;  // nothing beyond may be touched
    Pack<T> sum = load(lane + i);
    std::int64_t at = i;
    for (; at + lanes <= end; at += columns) sum = combine<K>(sum, load(x + at));
    for (; at < end; at += columns) sum = combine<K>(sum, load_first(x + at, static_cast<int>(columns - i)));
    store(lane + i, sum);
  }
}

/// n elements combined with those of `x`; nothing beyond changes.
template <Op K, class T>
void reduce_elements(T* to, const T* x, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(to + i, combine<K>(load(to + i), load(x + i)));
  if (const int rest = static_cast<int>(n - i); rest > 0)
    store_first(to + i, combine<K>(load_first(to + i, rest), load_first(x + i, rest)), rest);
}

/// reduce_columns for groups of `rows` rows each, one behind the other, from where the op begins.
template <Op K, class T>
void reduce_groups(T* to, const T* x, std::int64_t groups, std::int64_t rows, std::int64_t columns) {
  const T* const end = x + groups * rows * columns;
  for (std::int64_t g = 0; g < groups; ++g, to += columns, x += rows * columns)
    for (std::int64_t i = 0; i < columns; i += lanes) {
      Pack<T> sum = identity_pack<K, T>();
      for (const T *p = x + i, *last = p + rows * columns; p != last; p += columns)
        sum = combine<K>(sum, end - p >= lanes ? load(p) : load_first(p, static_cast<int>(end - p)));
      store(to + i, sum);  // what is beyond the columns, the next group takes
    }
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
