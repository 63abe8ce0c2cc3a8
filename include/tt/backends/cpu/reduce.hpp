// Reductions in the library's one order (graph/reduce_order.hpp) on SIMD lanes: 64 lanes as several
// packs, folded in halves.
#pragma once
#include "tt/backends/cpu/pack.hpp"
#include "tt/graph/reduce_order.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

inline constexpr int packs_per_block = reduction_lanes / lanes;

template <Op K, class T>
TT_ALWAYS_INLINE Pack<T> combine(const Pack<T>& a, const Pack<T>& b) {
  using C = Carrier<Pack<T>>;
  if constexpr (K == Op::sum) return C::template apply<Op::add>(a, b);
  else if constexpr (K == Op::amax) return C::template apply<Op::max>(a, b);
  else return C::template apply<Op::min>(a, b);
}
template <Op K, class T>
TT_ALWAYS_INLINE Pack<T> identity_pack() {
  return Carrier<Pack<T>>::splat(tt::detail::identity<K, T>());
}

namespace detail {

template <Op K, class T>
TT_ALWAYS_INLINE typename Pack<T>::Register combine_parts(typename Pack<T>::Register a, typename Pack<T>::Register b) {
  return Carrier<Pack<T>>::template one<K == Op::sum ? Op::add : K == Op::amax ? Op::max : Op::min>(a, b, a, 0);
}
/// Lane l with lane l + W, for W, W/2, ... 1, on whole registers: what is beyond the first W lanes
/// is not used.
template <Op K, class T, int W>
TT_ALWAYS_INLINE T fold_lanes(typename Pack<T>::Register x) {
  constexpr int n = Pack<T>::per_part;
#if defined(__CUDACC__)  // nvcc 13 ends in an internal error at a shuffle whose places are a pack
  T t[n];
  std::memcpy(t, &x, sizeof t);
  for (int w = W; w > 0; w /= 2)
    for (int l = 0; l < w; ++l) t[l] = tt::detail::combine<K>(t[l], t[l + w]);
  return t[0];
#else
  typedef T Vector __attribute__((vector_size(sizeof(T) * n)));
  const Vector v = (Vector)x;
  if constexpr (W == 0) {
    return v[0];
  } else {
    const Vector moved = [&]<std::size_t... I>(std::index_sequence<I...>) TT_LAMBDA_INLINE {
      return __builtin_shufflevector(v, v, (static_cast<int>(I) + W) % n...);
    }(std::make_index_sequence<n>{});
    return fold_lanes<K, T, W / 2>(combine_parts<K, T>(x, (typename Pack<T>::Register)moved));
  }
#endif
}

}  // namespace detail

/// The 64 lanes in `acc`, folded to one.
template <Op K, class T>
TT_ALWAYS_INLINE T fold(const Pack<T>* acc) {
  using P = Pack<T>;
  P lane[packs_per_block];  // a copy: the accumulators need not be written back
#pragma GCC unroll 16
  for (int u = 0; u < packs_per_block; ++u) lane[u] = acc[u];
#pragma GCC unroll 4
  for (int w = packs_per_block / 2; w > 0; w /= 2)
#pragma GCC unroll 8
    for (int u = 0; u < w; ++u) lane[u] = combine<K>(lane[u], lane[u + w]);
  for (int w = P::parts / 2; w > 0; w /= 2)
    for (int k = 0; k < w; ++k)
      lane[0].part[k] = detail::combine_parts<K, T>(lane[0].part[k], lane[0].part[k + w]);
  return detail::fold_lanes<K, T, P::per_part / 2>(lane[0].part[0]);
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
