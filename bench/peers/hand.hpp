// Hand-written xsimd loops over whole vectors, twice from one text, hand_loops.inl: `hand` calls tt's
// mathematical functions and contracts nothing, so its elementwise results have the bits of tt; `hand_xsimd`
// calls xsimd's own under the compiler's default flags. Sizes are multiples of a vector, row lengths of four.
#pragma once
#include <cmath>
#include <cstdint>
#include <tt/tt.hpp>

namespace peers {

TT_KERNELS_BEGIN

namespace hand {

inline constexpr std::int64_t step = tt::cpu::lanes;
using V = tt::Num<tt::cpu::Pack<float>>;
using tt::exp, tt::log, tt::sigmoid, tt::tanh, tt::where;

TT_ALWAYS_INLINE V get(const float* p) { return V(tt::cpu::load(p)); }
TT_ALWAYS_INLINE void put(float* p, V v) { tt::cpu::store(p, v.value); }
TT_ALWAYS_INLINE V all(float x) { return V(tt::Carrier<tt::cpu::Pack<float>>::splat(x)); }
TT_ALWAYS_INLINE float sum(V v) { return xsimd::hadd(xsimd::batch<float>(v.value.part[0])); }
TT_ALWAYS_INLINE V larger(V a, V b) { return V(tt::cpu::Pack<float>{{xsimd::max(xsimd::batch<float>(a.value.part[0]), xsimd::batch<float>(b.value.part[0])).data}}); }

#include "hand_loops.inl"

}  // namespace hand

TT_KERNELS_END

namespace hand_xsimd {

using V = xsimd::batch<float>;
inline constexpr std::int64_t step = static_cast<std::int64_t>(V::size);
using xsimd::exp, xsimd::log, xsimd::tanh;

TT_ALWAYS_INLINE V get(const float* p) { return V::load_unaligned(p); }
TT_ALWAYS_INLINE void put(float* p, V v) { v.store_unaligned(p); }
TT_ALWAYS_INLINE V all(float x) { return V(x); }
TT_ALWAYS_INLINE float sum(V v) { return xsimd::hadd(v); }
TT_ALWAYS_INLINE V larger(V a, V b) { return xsimd::max(a, b); }
TT_ALWAYS_INLINE V sigmoid(V x) { return V(1.0f) / (V(1.0f) + xsimd::exp(-x)); }
TT_ALWAYS_INLINE V where(V::batch_bool_type c, V a, V b) { return xsimd::select(c, a, b); }

#include "hand_loops.inl"

}  // namespace hand_xsimd
}  // namespace peers
