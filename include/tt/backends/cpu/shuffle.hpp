// Permutations of lanes known at compile time, and reductions of several rows in one vector: row r is the lanes from r * apart on,
// `apart` a power of two.
#pragma once
#include "tt/backends/cpu/reduce.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// The number of a block's lanes that a row of `cols` columns needs; a power of two.
constexpr int lanes_of(std::int64_t cols) {
  int n = 1;
  while (n < reduction_lanes && n < cols) n *= 2;
  return n;
}

namespace detail {

/// The memory element of each lane, counted from `first`; -1 for a lane without one.
struct VectorMap {
  std::int64_t first = 0;
  int span = 0;  ///< elements from the first to the last; 0: too far apart for a vector
  int at[lanes] = {};

  constexpr VectorMap(int rows, int cols, int apart, auto element) {
    std::int64_t last = first = element(0, 0);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < cols; ++x) {
        const std::int64_t e = element(y, x);
        if (e < first) first = e;
        if (e > last) last = e;
      }
    for (int& a : at) a = -1;
    if (last - first >= lanes) return;
    span = static_cast<int>(last - first) + 1;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < cols; ++x) at[y * apart + x] = static_cast<int>(element(y, x) - first);
  }
  constexpr VectorMap counted_from_zero() const {
    VectorMap m(*this);
    m.first = 0;
    m.span += static_cast<int>(first);
    for (int& a : m.at) a = a < 0 ? a : a + static_cast<int>(first);
    return m;
  }
  constexpr bool is_identity() const {
    for (int l = 0; l < lanes; ++l)
      if (at[l] >= 0 && at[l] != l) return false;
    return true;
  }
  /// The lane of each element; span 0 if an element has no lane or several.
  constexpr VectorMap inverse() const {
    VectorMap m(*this);
    for (int& a : m.at) a = -1;
    for (int l = 0; l < lanes; ++l) {
      if (at[l] < 0) continue;
      if (m.at[at[l]] >= 0) m.span = 0;
      m.at[at[l]] = l;
    }
    for (int e = 0; e < span; ++e)
      if (m.at[e] < 0) m.span = 0;
    return m;
  }
};

/// Moves the lanes of x as M::map says.
template <class M, class T, int Part, std::size_t... I>
TT_ALWAYS_INLINE typename Pack<T>::Register shuffle_part([[maybe_unused]] const Pack<T>& x, std::index_sequence<I...>) {
#if defined(__CUDACC__)
  static_assert(Part < 0, "tt: nvcc 13 ends in an internal error at a shuffle whose places are a pack");
  return x.part[0];
#else
  using P = Pack<T>;
  // Doubles are moved as integers: for eight doubles g++ 12 takes the indices 1, 1, 4, 4, 4, 5, 6, 7 as 1, 1, 2, 3, 5, 5, 6, 7
  // (it looks only at some of them before it chooses vpermilpd).
  using V = typename VectorOf<std::conditional_t<std::is_same_v<T, double>, std::int64_t, T>>::Type;
  return (typename P::Register)__builtin_shufflevector((V)x.part[0], (V)x.part[P::parts - 1],
                                                       M::map.at[Part * P::per_part + static_cast<int>(I)]...);
#endif
}
template <class M, class T>
TT_ALWAYS_INLINE Pack<T> shuffle(const Pack<T>& x) {
  if constexpr (M::map.is_identity()) {
    return x;
  } else if constexpr (NarrowElement<T>) {
    return {shuffle<M>(x.lanes)};
  } else {
    using Is = std::make_index_sequence<Pack<T>::per_part>;
    if constexpr (Pack<T>::parts == 1) return {{shuffle_part<M, T, 0>(x, Is{})}};
    else return {{shuffle_part<M, T, 0>(x, Is{}), shuffle_part<M, T, 1>(x, Is{})}};
  }
}
/// Lane l xor W.
template <int W>
struct ExchangedMap {
  static constexpr VectorMap map{lanes, 1, 1, [](int l, int) { return l ^ W; }};
};
/// The first lane of each row.
template <int Apart>
struct FirstMap {
  static constexpr VectorMap map{lanes, 1, 1, [](int l, int) { return l / Apart * Apart; }};
};
/// The first lanes of all rows, consecutive.
template <int Apart>
struct FirstsMap {
  static constexpr VectorMap map{lanes / Apart, 1, 1, [](int l, int) { return l * Apart; }};
};
/// Combines each lane with lane l xor W, for W, W / 2, ... 1. Keep: a NaN is kept, which takes longer.
template <Op K, class T, int W, bool Keep>
TT_KERNEL_INLINE Pack<T> fold_rows(const Pack<T>& x) {
  if constexpr (W == 0) {
    return x;
  } else {
    const Pack<T> other = shuffle<ExchangedMap<W>>(x);
    return fold_rows<K, T, W / 2, Keep>(Keep ? combine<K>(x, other) : accumulate<K>(x, other));
  }
}
/// Reduces each row; the result is in all its lanes.
template <Op K, class T, int Apart>
TT_KERNEL_INLINE Pack<T> reduce_in_rows(const Pack<T>& x) {
  using C = Carrier<Pack<T>>;
  const Pack<T> begun = combine<K>(identity_pack<K, T>(), x);
  if constexpr (K == Op::sum || std::is_integral_v<T>) {
    return fold_rows<K, T, Apart / 2, false>(begun);
  } else {  // of equal values the second is taken: the result of the first lane counts
    PackMask ordered = all_ordered();
    note<K>(ordered, x, x);
    if (xsimd::all(ordered.value)) [[likely]]
      return shuffle<FirstMap<Apart>>(fold_rows<K, T, Apart / 2, false>(begun));
    const Pack<T> first = shuffle<FirstMap<Apart>>(fold_rows<K, T, Apart / 2, true>(begun));
    return C::select(C::template compare<Op::eq>(first, first), first, C::splat(default_nan<T>));
  }
}
/// A mask of the lanes that are columns.
template <int Cols, int Apart>
TT_KERNEL_INLINE PackMask column_lanes() {
#if TT_AVX512
  unsigned bits = 0;
  for (int l = 0; l < lanes; ++l) bits |= static_cast<unsigned>(l % Apart < Cols) << l;
  return {xsimd::batch_bool<float>(static_cast<__mmask16>(bits))};
#else
  alignas(64) static constexpr float column[] = {0,           1 % Apart,  2 % Apart,  3 % Apart, 4 % Apart,  5 % Apart,
                                                 6 % Apart,   7 % Apart,  8 % Apart,  9 % Apart, 10 % Apart, 11 % Apart,
                                                 12 % Apart, 13 % Apart, 14 % Apart, 15 % Apart};
  return {xsimd::batch<float>::load_aligned(column) < xsimd::batch<float>(static_cast<float>(Cols))};
#endif
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
