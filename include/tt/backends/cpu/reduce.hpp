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

template <Op K, class V>
TT_ALWAYS_INLINE V combine_vectors(V a, V b) {
  if constexpr (K == Op::sum) return a + b;
  else if constexpr (K == Op::amax) return ((a > b) | (a != a)) ? a : b;
  else return ((a < b) | (a != a)) ? a : b;
}
template <Op K, class T>
TT_ALWAYS_INLINE xsimd::batch<T> combine_parts(xsimd::batch<T> a, xsimd::batch<T> b) {
  if constexpr (K == Op::sum) return a + b;
  else if constexpr (K == Op::amax) return xsimd::select((a > b) | !(a == a), a, b);
  else return xsimd::select((a < b) | !(a == a), a, b);
}
template <Op K, class T, int N>
struct Fold {
  typedef T Vector __attribute__((vector_size(sizeof(T) * N)));
  static TT_ALWAYS_INLINE T run(Vector v) {
    if constexpr (N == 2) {
      return tt::detail::combine<K, T>(v[0], v[1]);
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>) TT_LAMBDA_INLINE {
        const auto low = __builtin_shufflevector(v, v, static_cast<int>(I)...);
        const auto high = __builtin_shufflevector(v, v, static_cast<int>(I + N / 2)...);
        return Fold<K, T, N / 2>::run(combine_vectors<K>(low, high));
      }(std::make_index_sequence<N / 2>{});
    }
  }
};

}  // namespace detail

/// The 64 lanes in `acc`, folded to one.
template <Op K, class T>
TT_ALWAYS_INLINE T fold(const Pack<T>* acc) {
  using P = Pack<T>;
  P lane[packs_per_block];  // a copy: the accumulators need not be written back
  for (int u = 0; u < packs_per_block; ++u) lane[u] = acc[u];
  for (int w = packs_per_block / 2; w > 0; w /= 2)
    for (int u = 0; u < w; ++u) lane[u] = combine<K>(lane[u], lane[u + w]);
  for (int w = P::parts / 2; w > 0; w /= 2)
    for (int k = 0; k < w; ++k)
      lane[0].part[k] = detail::combine_parts<K, T>(lane[0].part[k], lane[0].part[k + w]);
  using F = detail::Fold<K, T, P::per_part>;
  return F::run(std::bit_cast<typename F::Vector>(lane[0].part[0].data));
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
