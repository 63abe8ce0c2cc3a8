// The loops of hand.hpp, included once for each kind of mathematics: V, step, get, put, all (a vector of one
// number), sum, larger, and the functions that they call.

TT_ALWAYS_INLINE float largest(V v) {
  alignas(64) float t[step];
  put(t, v);
  float m = t[0];
  for (float x : t) m = x > m ? x : m;
  return m;
}

TT_NOINLINE inline void triad(const float* a, const float* b, float* y, std::int64_t n) {
  const V factor = all(2.5f);
  for (std::int64_t i = 0; i < n; i += step) put(y + i, get(a + i) * factor + get(b + i));
}
TT_NOINLINE inline void tanh_of_sum(const float* a, const float* b, const float* c, float* y,
                                    std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += step) put(y + i, tanh(get(a + i) * get(b + i) + get(c + i)));
}
TT_NOINLINE inline void chain(const float* a, const float* b, const float* c, float* y,
                              std::int64_t n) {
  const V one = all(1), half = all(0.5f), tenth = all(0.1f), zero = all(0);
  for (std::int64_t i = 0; i < n; i += step) {
    const V bi = get(b + i), u = get(a + i) * bi + get(c + i);
    const V l = log(one + exp(half * u));
    const V q = (bi + l) / (one + exp(-(l * l)));
    put(y + i, where(u > zero, q, tenth * q));
  }
}
TT_NOINLINE inline void gate(const float* x, const float* w, const float* b, float* y, float* dx,
                             float* dw, float* db, std::int64_t n) {
  const V one = all(1);
  for (std::int64_t i = 0; i < n; i += step) {
    const V xi = get(x + i), wi = get(w + i);
    const V u = wi * xi + get(b + i);
    const V s = sigmoid(u);
    const V d = s + u * (s * (one - s));
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
        const V e = exp(get(x + i + u * step) - top);
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
  const V factor = all(2.5f);
  for (int i = 0; i < N; i += static_cast<int>(step)) put(y + i, get(a + i) * factor + get(b + i));
}
template <int N>
TT_ALWAYS_INLINE void small_sigmoid(const float* a, float* y) {
  for (int i = 0; i < N; i += static_cast<int>(step)) put(y + i, sigmoid(get(a + i)));
}
