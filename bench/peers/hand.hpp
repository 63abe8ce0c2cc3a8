// Hand-written xsimd loops over whole vectors, twice: `hand` calls tt's mathematical functions and
// contracts nothing, so its elementwise results have the bits of tt; `hand_xsimd` calls xsimd's own
// under the compiler's default flags. Sizes are multiples of a vector, row lengths of four.
#pragma once
#include <cstdint>
#include <tt/tt.hpp>

namespace peers {

TT_KERNELS_BEGIN

namespace hand {

inline constexpr std::int64_t step = tt::cpu::lanes;
using V = tt::Num<tt::cpu::Pack<float>>;

TT_ALWAYS_INLINE V get(const float* p) { return V(tt::cpu::load(p)); }
TT_ALWAYS_INLINE void put(float* p, V v) { tt::cpu::store(p, v.value); }
TT_ALWAYS_INLINE V all(float x) { return V(tt::Carrier<tt::cpu::Pack<float>>::splat(x)); }
TT_ALWAYS_INLINE float sum(V v) { return xsimd::hadd(v.value.part[0]); }
TT_ALWAYS_INLINE V larger(V a, V b) { return V(tt::cpu::Pack<float>{{xsimd::max(a.value.part[0], b.value.part[0])}}); }
TT_ALWAYS_INLINE float largest(V v) {
  alignas(64) float t[step];
  put(t, v);
  float m = t[0];
  for (float x : t) m = x > m ? x : m;
  return m;
}

TT_NOINLINE inline void triad(const float* a, const float* b, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step) put(y + i, get(a + i) * 2.5f + get(b + i));
}
TT_NOINLINE inline void tanh_of_sum(const float* a, const float* b, const float* c, float* y,
                                    std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step) put(y + i, tt::tanh(get(a + i) * get(b + i) + get(c + i)));
}
TT_NOINLINE inline void chain(const float* a, const float* b, const float* c, float* y,
                              std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step) {
    const V bi = get(b + i), u = get(a + i) * bi + get(c + i);
    const V l = tt::log(1 + tt::exp(0.5f * u));
    const V q = (bi + l) / (1 + tt::exp(-(l * l)));
    put(y + i, tt::where(u > 0, q, 0.1f * q));
  }
}
TT_NOINLINE inline void gate(const float* x, const float* w, const float* b, float* y, float* dx,
                             float* dw, float* db, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step) {
    const V xi = get(x + i), wi = get(w + i);
    const V u = wi * xi + get(b + i);
    const V s = tt::sigmoid(u);
    const V d = s + u * (s * (1 - s));
    put(y + i, u * s);
    put(dx + i, d * wi);
    put(dw + i, d * xi);
    put(db + i, d);
  }
}
TT_NOINLINE inline float sum_of_products(const float* a, const float* b, const float* c,
                                         std::int64_t n) {
  V s[4] = {all(0), all(0), all(0), all(0)};
  for (std::int64_t i = 0; i < n; i += 4 * step)
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) {
      const std::int64_t j = i + u * step;
      s[u] = s[u] + (get(a + j) * get(b + j) + get(c + j));
    }
  return sum((s[0] + s[1]) + (s[2] + s[3]));
}
/// Divides, as tt does; `Reciprocal` multiplies instead, one more rounding.
template <bool Reciprocal>
TT_NOINLINE void softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    V m[4] = {get(x), get(x + step), get(x + 2 * step), get(x + 3 * step)};
    for (std::int64_t i = 4 * step; i < cols; i += 4 * step)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) m[u] = larger(m[u], get(x + i + u * step));
    const V top = all(largest(larger(larger(m[0], m[1]), larger(m[2], m[3]))));
    V s[4] = {all(0), all(0), all(0), all(0)};
    for (std::int64_t i = 0; i < cols; i += 4 * step)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) {
        const V e = tt::exp(get(x + i + u * step) - top);
        put(y + i + u * step, e);
        s[u] = s[u] + e;
      }
    const float total = sum((s[0] + s[1]) + (s[2] + s[3]));
    const V divisor = all(total), factor = all(1 / total);
    for (std::int64_t i = 0; i < cols; i += step)
      put(y + i, Reciprocal ? get(y + i) * factor : get(y + i) / divisor);
  }
}
TT_NOINLINE inline void layer_norm(const float* x, const float* scale, const float* shift, float* y,
                                   std::int64_t rows, std::int64_t cols) {
  const float n = static_cast<float>(cols);
  for (std::int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    V s[4] = {all(0), all(0), all(0), all(0)};
    for (std::int64_t i = 0; i < cols; i += 4 * step)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) s[u] = s[u] + get(x + i + u * step);
    const V mean = all(sum((s[0] + s[1]) + (s[2] + s[3])) / n);
    V q[4] = {all(0), all(0), all(0), all(0)};
    for (std::int64_t i = 0; i < cols; i += 4 * step)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) {
        const V d = get(x + i + u * step) - mean;
        q[u] = q[u] + d * d;
      }
    const V factor = all(1 / std::sqrt(sum((q[0] + q[1]) + (q[2] + q[3])) / n + 1e-5f));
    for (std::int64_t i = 0; i < cols; i += step)
      put(y + i, (get(x + i) - mean) * factor * get(scale + i) + get(shift + i));
  }
}
TT_NOINLINE inline void row_affine(const float* x, const float* scale, const float* shift, float* y,
                                   std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r, x += cols, y += cols)
    for (std::int64_t i = 0; i < cols; i += step)
      put(y + i, get(x + i) * get(scale + i) + get(shift + i));
}
template <int N>
TT_ALWAYS_INLINE void small_affine(const float* a, const float* b, float* y) {
  for (int i = 0; i < N; i += static_cast<int>(step)) put(y + i, get(a + i) * 2.5f + get(b + i));
}
template <int N>
TT_ALWAYS_INLINE void small_sigmoid(const float* a, float* y) {
  for (int i = 0; i < N; i += static_cast<int>(step)) put(y + i, tt::sigmoid(get(a + i)));
}

}  // namespace hand

TT_KERNELS_END

namespace hand_xsimd {

using V = xsimd::batch<float>;
inline constexpr std::int64_t step = static_cast<std::int64_t>(V::size);

TT_ALWAYS_INLINE V get(const float* p) { return V::load_unaligned(p); }
TT_ALWAYS_INLINE void put(float* p, V v) { v.store_unaligned(p); }
TT_ALWAYS_INLINE float largest(V v) {
  alignas(64) float t[step];
  put(t, v);
  float m = t[0];
  for (float x : t) m = x > m ? x : m;
  return m;
}

TT_NOINLINE inline void triad(const float* a, const float* b, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step) put(y + i, get(a + i) * V(2.5f) + get(b + i));
}
TT_NOINLINE inline void tanh_of_sum(const float* a, const float* b, const float* c, float* y,
                                    std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step)
    put(y + i, xsimd::tanh(get(a + i) * get(b + i) + get(c + i)));
}
TT_NOINLINE inline void chain(const float* a, const float* b, const float* c, float* y,
                              std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step) {
    const V bi = get(b + i), u = get(a + i) * bi + get(c + i);
    const V l = xsimd::log(V(1.0f) + xsimd::exp(V(0.5f) * u));
    const V q = (bi + l) / (V(1.0f) + xsimd::exp(-(l * l)));
    put(y + i, xsimd::select(u > V(0.0f), q, V(0.1f) * q));
  }
}
TT_NOINLINE inline void gate(const float* x, const float* w, const float* b, float* y, float* dx,
                             float* dw, float* db, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step) {
    const V xi = get(x + i), wi = get(w + i);
    const V u = wi * xi + get(b + i);
    const V s = V(1.0f) / (V(1.0f) + xsimd::exp(-u));
    const V d = s + u * (s * (V(1.0f) - s));
    put(y + i, u * s);
    put(dx + i, d * wi);
    put(dw + i, d * xi);
    put(db + i, d);
  }
}
TT_NOINLINE inline float sum_of_products(const float* a, const float* b, const float* c,
                                         std::int64_t n) {
  V s[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
  for (std::int64_t i = 0; i < n; i += 4 * step)
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) {
      const std::int64_t j = i + u * step;
      s[u] = s[u] + (get(a + j) * get(b + j) + get(c + j));
    }
  return xsimd::hadd((s[0] + s[1]) + (s[2] + s[3]));
}
TT_NOINLINE inline void softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    V m[4] = {get(x), get(x + step), get(x + 2 * step), get(x + 3 * step)};
    for (std::int64_t i = 4 * step; i < cols; i += 4 * step)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) m[u] = xsimd::max(m[u], get(x + i + u * step));
    const V top(largest(xsimd::max(xsimd::max(m[0], m[1]), xsimd::max(m[2], m[3]))));
    V s[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
    for (std::int64_t i = 0; i < cols; i += 4 * step)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) {
        const V e = xsimd::exp(get(x + i + u * step) - top);
        put(y + i + u * step, e);
        s[u] = s[u] + e;
      }
    const V factor(1 / xsimd::hadd((s[0] + s[1]) + (s[2] + s[3])));
    for (std::int64_t i = 0; i < cols; i += step) put(y + i, get(y + i) * factor);
  }
}
TT_NOINLINE inline void layer_norm(const float* x, const float* scale, const float* shift, float* y,
                                   std::int64_t rows, std::int64_t cols) {
  const float n = static_cast<float>(cols);
  for (std::int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    V s[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
    for (std::int64_t i = 0; i < cols; i += 4 * step)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) s[u] = s[u] + get(x + i + u * step);
    const V mean(xsimd::hadd((s[0] + s[1]) + (s[2] + s[3])) / n);
    V q[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
    for (std::int64_t i = 0; i < cols; i += 4 * step)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) {
        const V d = get(x + i + u * step) - mean;
        q[u] = q[u] + d * d;
      }
    const V factor(1 / std::sqrt(xsimd::hadd((q[0] + q[1]) + (q[2] + q[3])) / n + 1e-5f));
    for (std::int64_t i = 0; i < cols; i += step)
      put(y + i, (get(x + i) - mean) * factor * get(scale + i) + get(shift + i));
  }
}
TT_NOINLINE inline void row_affine(const float* x, const float* scale, const float* shift, float* y,
                                   std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r, x += cols, y += cols)
    for (std::int64_t i = 0; i < cols; i += step)
      put(y + i, get(x + i) * get(scale + i) + get(shift + i));
}
template <int N>
TT_ALWAYS_INLINE void small_affine(const float* a, const float* b, float* y) {
  for (int i = 0; i < N; i += static_cast<int>(step))
    put(y + i, get(a + i) * V(2.5f) + get(b + i));
}
template <int N>
TT_ALWAYS_INLINE void small_sigmoid(const float* a, float* y) {
  for (int i = 0; i < N; i += static_cast<int>(step))
    put(y + i, V(1.0f) / (V(1.0f) + xsimd::exp(-get(a + i))));
}

}  // namespace hand_xsimd
}  // namespace peers
