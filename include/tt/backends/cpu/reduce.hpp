// Reductions in the library's one order (graph/reduce_order.hpp) on SIMD lanes: 64 lanes as several packs, folded in halves.
#pragma once
#include "tt/backends/cpu/pack_memory.hpp"
#include "tt/graph/reduce_order.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

inline constexpr int packs_per_block = reduction_lanes / lanes;
/// The packs that hold this many lanes, a power of two.
template <int Lanes>
inline constexpr int packs_of = Lanes < lanes ? 1 : Lanes / lanes;

/// The op that a reduction applies to two partial results.
template <Op K>
inline constexpr Op combining = K == Op::sum ? Op::add : K == Op::amax ? Op::max : Op::min;

template <Op K, class T>
TT_ALWAYS_INLINE Pack<T> combine(const Pack<T>& a, const Pack<T>& b) {
  return Carrier<Pack<T>>::template apply<combining<K>>(a, b);
}
/// The same as an object: g++ 12 cannot always inline a function called by its address.
template <Op K, class T>
struct Combine {
  TT_ALWAYS_INLINE Pack<T> operator()(const Pack<T>& a, const Pack<T>& b) const { return combine<K>(a, b); }
};
template <Op K, class T>
TT_ALWAYS_INLINE Pack<T> identity_pack() {
  return Carrier<Pack<T>>::splat(tt::detail::identity<K, T>());
}

/// A float maximum or minimum that keeps NaN takes several instructions, and every step waits for them. So partial results are
/// combined by `accumulate`, one instruction that returns a NaN of its second operand but drops one of its first; `note` records
/// NaNs in a mask beside it, and any recorded NaN makes the final result NaN.
template <Op K, class T>
inline constexpr bool forgets_nan = K != Op::sum && std::is_floating_point_v<T>;

/// The value of 0 / 0 on this machine: the bits of most NaNs, and of results made NaN by `note`.
template <class T>
inline constexpr T default_nan =
#if defined(__x86_64__) || defined(__i386__)
    -std::numeric_limits<T>::quiet_NaN();
#else
    std::numeric_limits<T>::quiet_NaN();
#endif

namespace detail {

template <Op K, class T, class Register = typename Pack<T>::Register>
TT_ALWAYS_INLINE Register accumulate_part(Register a, Register b) {
  using Batch = xsimd::batch<T>;
  if constexpr (!forgets_nan<K, T>)
    return Carrier<Pack<T>>::template one<combining<K>>(a, b, a, 0);
  else if constexpr (K == Op::amax) return xsimd::max(Batch(a), Batch(b)).data;
  else return xsimd::min(Batch(a), Batch(b)).data;
}

}  // namespace detail

template <Op K, class T>
TT_ALWAYS_INLINE Pack<T> accumulate(const Pack<T>& sum, const Pack<T>& x) {
  if constexpr (forgets_nan<K, T>) {
    Pack<T> r;
    for (int k = 0; k < Pack<T>::parts; ++k) r.part[k] = detail::accumulate_part<K, T>(sum.part[k], x.part[k]);
    return r;
  } else {
    return combine<K>(sum, x);
  }
}
TT_ALWAYS_INLINE PackMask all_ordered() { return {xsimd::batch_bool<float>(true)}; }
/// Clears in `ordered` the lanes in which the last x of either partial result was NaN. Takes two partial results, as one
/// comparison tests both.
template <Op K, class T>
TT_ALWAYS_INLINE void note([[maybe_unused]] PackMask& ordered, [[maybe_unused]] const Pack<T>& a,
                           [[maybe_unused]] const Pack<T>& b) {
  using C = Carrier<Pack<T>>;
  if constexpr (!forgets_nan<K, T>) return;
#if TT_AVX512
  else if constexpr (std::is_same_v<T, float>)
    ordered.value = xsimd::batch_bool<float>(
        _mm512_mask_cmp_ps_mask(ordered.value.data, a.part[0], b.part[0], _CMP_ORD_Q));
#elif defined(__AVX__)
  else if constexpr (std::is_same_v<T, float>)
    ordered.value = ordered.value & xsimd::batch_bool<float>(_mm256_cmp_ps(a.part[0], b.part[0], _CMP_ORD_Q));
#elif defined(__SSE2__)
  else if constexpr (std::is_same_v<T, float>)
    ordered.value = ordered.value & xsimd::batch_bool<float>(_mm_cmpord_ps(a.part[0], b.part[0]));
#endif
  else {
    ordered = C::template logical<Op::logical_and>(ordered, C::template compare<Op::eq>(a, a));
    ordered = C::template logical<Op::logical_and>(ordered, C::template compare<Op::eq>(b, b));
  }
}

namespace detail {

template <class T>
TT_ALWAYS_INLINE T lane_zero(typename Pack<T>::Register x) {
#if defined(__CUDACC__)  // cudafe++ loses the attribute below
  T t;
  std::memcpy(&t, &x, sizeof t);
  return t;
#else
  typedef T Vector __attribute__((vector_size(sizeof x)));
  return ((Vector)x)[0];
#endif
}
/// Combines lane l with lane l + W, for W, W/2, ... 1, on whole registers. Each lane takes lane l xor W, not l + W: then
/// near lanes move within a quarter of a register, which is quick, and a sum is in every lane at the end.
template <Op K, class T, int W>
TT_ALWAYS_INLINE typename Pack<T>::Register fold_lanes(typename Pack<T>::Register x) {
  constexpr int n = Pack<T>::per_part;
#if defined(__CUDACC__)  // nvcc 13 ends in an internal error at a shuffle whose indices are a pack
  T t[n];
  std::memcpy(t, &x, sizeof t);
  for (int w = W; w > 0; w /= 2)
    for (int l = 0; l < w; ++l) t[l] = tt::detail::combine<K>(t[l], t[l + w]);
  return Carrier<Pack<T>>::splat_part(t[0]);
#else
  if constexpr (W == 0) {
    return x;
  } else {
    typedef T Vector __attribute__((vector_size(sizeof(T) * n)));
    const Vector v = (Vector)x;
    const Vector moved = [&]<std::size_t... I>(std::index_sequence<I...>) TT_LAMBDA_INLINE {
      return __builtin_shufflevector(v, v, (static_cast<int>(I) ^ W)...);
    }(std::make_index_sequence<n>{});
    return fold_lanes<K, T, W / 2>(accumulate_part<K, T>(x, (typename Pack<T>::Register)moved));
  }
#endif
}
/// The lanes in `acc`, folded into the first lane; a sum is in each of the first Lanes.
template <Op K, class T, int Lanes>
TT_ALWAYS_INLINE typename Pack<T>::Register fold_packs(const Pack<T>* acc) {
  using P = Pack<T>;
  constexpr int packs = packs_of<Lanes>;
  P lane[packs];  // a copy: the accumulators need not be written back
#pragma GCC unroll 16
  for (int u = 0; u < packs; ++u) lane[u] = acc[u];
#pragma GCC unroll 4
  for (int w = packs / 2; w > 0; w /= 2)
#pragma GCC unroll 8
    for (int u = 0; u < w; ++u) lane[u] = accumulate<K>(lane[u], lane[u + w]);
  for (int w = P::parts / 2; w > 0; w /= 2)
    for (int k = 0; k < w; ++k)
      lane[0].part[k] = accumulate_part<K, T>(lane[0].part[k], lane[0].part[k + w]);
  return fold_lanes<K, T, (Lanes < P::per_part ? Lanes : P::per_part) / 2>(lane[0].part[0]);
}

}  // namespace detail

/// The 64 lanes in `acc`, folded to one value; NaN if a lane is not in `ordered`. Lanes: the number of lanes that may differ from
/// the identity, a power of two.
template <Op K, class T, int Lanes = reduction_lanes>
TT_ALWAYS_INLINE T fold(const Pack<T>* acc, [[maybe_unused]] PackMask ordered) {
  const T x = detail::lane_zero<T>(detail::fold_packs<K, T, Lanes>(acc));
  if constexpr (forgets_nan<K, T>)
    if (!xsimd::all(ordered.value)) [[unlikely]] return default_nan<T>;
  return x;
}
/// The same value in every lane.
template <Op K, class T, int Lanes = reduction_lanes>
TT_ALWAYS_INLINE Pack<T> fold_to_all(const Pack<T>* acc, PackMask ordered) {
  if constexpr (K != Op::sum || Lanes < Pack<T>::per_part) {
    return Carrier<Pack<T>>::splat(fold<K, T, Lanes>(acc, ordered));
  } else {
    Pack<T> r;
    r.part[0] = detail::fold_packs<K, T, Lanes>(acc);
    for (int k = 1; k < Pack<T>::parts; ++k) r.part[k] = r.part[0];
    return r;
  }
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
