// The same in xtensor with its SIMD switched on: containers of its own, results assigned without
// temporaries, reductions evaluated into arrays that are kept.
#pragma once
#if __has_include(<xtensor/xtensor.hpp>)
#define TT_BENCH_XTENSOR 1
#define XTENSOR_USE_XSIMD
#include <tt/tt.hpp>  // xsimd first, with its warnings off

#include <xtensor/xfixed.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

namespace peers::xtensor {

using V = xt::xtensor<float, 1>;
using M = xt::xtensor<float, 2>;

TT_NOINLINE inline void triad(const V& a, const V& b, V& y) { xt::noalias(y) = a * 2.5f + b; }
TT_NOINLINE inline void tanh_of_sum(const V& a, const V& b, const V& c, V& y) {
  xt::noalias(y) = xt::tanh(a * b + c);
}
TT_NOINLINE inline void chain(const V& a, const V& b, const V& c, V& y, V& u, V& l) {
  xt::noalias(u) = a * b + c;
  xt::noalias(l) = xt::log(1.0f + xt::exp(0.5f * u));
  xt::noalias(y) = (b + l) / (1.0f + xt::exp(-(l * l)));
  xt::noalias(y) = xt::where(u > 0.0f, y, 0.1f * y);
}
TT_NOINLINE inline void gate(const V& x, const V& w, const V& b, V& y, V& dx, V& dw, V& db, V& u,
                             V& s) {
  xt::noalias(u) = w * x + b;
  xt::noalias(s) = 1.0f / (1.0f + xt::exp(-u));
  xt::noalias(y) = u * s;
  xt::noalias(db) = s + u * (s * (1.0f - s));
  xt::noalias(dx) = db * w;
  xt::noalias(dw) = db * x;
}
TT_NOINLINE inline float sum_of_products(const V& a, const V& b, const V& c) {
  return xt::sum<float>(a * b + c, xt::evaluation_strategy::immediate)();
}
TT_NOINLINE inline void softmax(const M& x, M& y, M& one_a_row) {
  xt::noalias(one_a_row) = xt::amax(x, {1}, xt::keep_dims);
  xt::noalias(y) = xt::exp(x - one_a_row);
  xt::noalias(one_a_row) = xt::sum(y, {1}, xt::keep_dims);
  xt::noalias(y) = y / one_a_row;
}
TT_NOINLINE inline void layer_norm(const M& x, const V& scale, const V& shift, M& y, M& one_a_row) {
  const float n = static_cast<float>(x.shape(1));
  xt::noalias(one_a_row) = xt::sum(x, {1}, xt::keep_dims) / n;
  xt::noalias(y) = x - one_a_row;
  xt::noalias(one_a_row) = xt::sum(y * y, {1}, xt::keep_dims);
  xt::noalias(one_a_row) = 1.0f / xt::sqrt(one_a_row / n + 1e-5f);
  xt::noalias(y) = y * one_a_row * scale + shift;
}
TT_NOINLINE inline void row_affine(const M& x, const V& scale, const V& shift, M& y) {
  xt::noalias(y) = x * scale + shift;
}
template <std::size_t N>
using Small = xt::xtensor_fixed<float, xt::xshape<N, N>>;

}  // namespace peers::xtensor
#endif
