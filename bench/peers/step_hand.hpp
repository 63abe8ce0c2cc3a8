// The training step of bench/step.hpp written by hand with xsimd: matrix products in registers, the update
// of a weight where its gradient is still in one. Ten classes are padded to whole vectors: the weights there
// stay 0, their biases so low that exp gives 0.
#pragma once
#include <cmath>
#include <cstdint>
#include <xsimd/xsimd.hpp>

namespace peers::step_hand {

inline constexpr int batch = 64, pixels = 64, hidden = 32, classes = 10, padded = 16;
using V = xsimd::batch<float>;
inline constexpr int width = static_cast<int>(V::size);
static_assert(padded % width == 0 && hidden % width == 0);

struct alignas(64) Parameters {
  float w1[pixels][hidden], b1[hidden], w2[hidden][padded], b2[padded];
};
struct alignas(64) Workspace {
  float h[batch][hidden], dh[batch][hidden], dl[batch][padded], w2t[classes][hidden];
};

inline V get(const float* p) { return V::load_aligned(p); }
inline void put(float* p, V v) { v.store_aligned(p); }

/// Sums over k of a(i, k) b(k, j), handed to `done(i, j, sums)` a vector of columns at a time. Four rows stay
/// in registers. a(i, k) is a[i * a_row + k * a_inner].
template <int Rows, int Inner, int Columns, class Done>
inline void product(const float* a, int a_row, int a_inner, const float* b, int b_row, const Done& done) {
  constexpr int rows = 4, vectors = Columns / width;
  static_assert(Rows % rows == 0);
  for (int i = 0; i < Rows; i += rows) {
    V sum[rows][vectors];
    for (auto& row : sum)
      for (V& s : row) s = V(0.0f);
    for (int k = 0; k < Inner; ++k) {
      V right[vectors];
      for (int v = 0; v < vectors; ++v) right[v] = get(b + k * b_row + v * width);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) {
        const V left(a[(i + r) * a_row + k * a_inner]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[r][v] = xsimd::fma(left, right[v], sum[r][v]);
      }
    }
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) done(i + r, v * width, sum[r][v]);
  }
}

/// SGD with momentum for one vector of weights.
inline void update(float* weight, float* velocity, V gradient, V rate) {
  const V v = V(0.9f) * get(velocity) + gradient;
  put(velocity, v);
  put(weight, get(weight) - rate * v);
}
template <int Columns>
inline void update_bias(float* bias, float* velocity, const float* d, V rate) {
  for (int j = 0; j < Columns; j += width) {
    V sum(0.0f);
    for (int i = 0; i < batch; ++i) sum += get(d + i * Columns + j);
    update(bias + j, velocity + j, sum, rate);
  }
}

/// Turns a row of logits into the gradient of the mean loss by them; the loss of the row.
inline float cross_entropy_row(float* logits, std::int64_t label) {
  float top = logits[0];
  for (int c = 1; c < classes; ++c) top = logits[c] > top ? logits[c] : top;
  const float right = logits[label];
  V sum(0.0f);
  for (int c = 0; c < padded; c += width) {
    const V e = xsimd::exp(get(logits + c) - V(top));
    put(logits + c, e);
    sum += e;
  }
  const float total = xsimd::hadd(sum);
  const V factor(1 / (total * batch));
  for (int c = 0; c < padded; c += width) put(logits + c, get(logits + c) * factor);
  logits[label] -= 1.0f / batch;
  return std::log(total) + top - right;
}

[[gnu::noinline]] inline float step(Parameters& p, Parameters& v, Workspace& w, const float* images,
                                    const std::int64_t* labels, float learning_rate) {
  const V rate(learning_rate);
  product<batch, pixels, hidden>(images, pixels, 1, p.w1[0], hidden, [&](int i, int j, V s) {
    put(&w.h[i][j], xsimd::tanh(s + get(p.b1 + j)));
  });
  product<batch, hidden, padded>(w.h[0], hidden, 1, p.w2[0], padded,
                                 [&](int i, int j, V s) { put(&w.dl[i][j], s + get(p.b2 + j)); });
  float loss = 0;
  for (int i = 0; i < batch; ++i) loss += cross_entropy_row(w.dl[i], labels[i]);

  for (int j = 0; j < hidden; ++j)
    for (int c = 0; c < classes; ++c) w.w2t[c][j] = p.w2[j][c];
  product<batch, classes, hidden>(w.dl[0], padded, 1, w.w2t[0], hidden, [&](int i, int j, V s) {
    const V h = get(&w.h[i][j]);
    put(&w.dh[i][j], s * (V(1.0f) - h * h));
  });
  product<hidden, batch, padded>(w.h[0], 1, hidden, w.dl[0], padded,
                                 [&](int i, int j, V s) { update(&p.w2[i][j], &v.w2[i][j], s, rate); });
  product<pixels, batch, hidden>(images, 1, pixels, w.dh[0], hidden,
                                 [&](int i, int j, V s) { update(&p.w1[i][j], &v.w1[i][j], s, rate); });
  update_bias<padded>(p.b2, v.b2, w.dl[0], rate);
  update_bias<hidden>(p.b1, v.b1, w.dh[0], rate);
  return loss / batch;
}

}  // namespace peers::step_hand
