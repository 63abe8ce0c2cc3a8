// The same in Eigen, written as its users would for speed: maps over the same aligned memory, shared
// values in a second array that lives as long as the first, rows one at a time.
#pragma once
#if __has_include(<Eigen/Core>)
#define TT_BENCH_EIGEN 1
#include <Eigen/Core>
#include <cstdint>

#include "tt/config.hpp"

namespace peers::eigen {

using In = Eigen::Map<const Eigen::ArrayXf, Eigen::Aligned64>;
using Out = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;
template <int Cols>
using Row = Eigen::Array<float, 1, Cols>;
template <int Cols>
using RowIn = Eigen::Map<const Row<Cols>, Eigen::Aligned64>;
template <int Cols>
using RowOut = Eigen::Map<Row<Cols>, Eigen::Aligned64>;

TT_NOINLINE inline void triad(In a, In b, Out y) { y = a * 2.5f + b; }
TT_NOINLINE inline void tanh_of_sum(In a, In b, In c, Out y) { y = (a * b + c).tanh(); }
TT_NOINLINE inline void chain(In a, In b, In c, Out y, Out u, Out l) {
  u = a * b + c;
  l = (1.0f + (0.5f * u).exp()).log();
  l = (b + l) / (1.0f + (-(l * l)).exp());
  y = (u > 0.0f).select(l, 0.1f * l);
}
TT_NOINLINE inline void gate(In x, In w, In b, Out y, Out dx, Out dw, Out db, Out u, Out s) {
  u = w * x + b;
  s = u.logistic();
  y = u * s;
  db = s + u * (s * (1.0f - s));
  dx = db * w;
  dw = db * x;
}
TT_NOINLINE inline float sum_of_products(In a, In b, In c) { return (a * b + c).sum(); }
template <int Cols>
TT_NOINLINE void softmax(const float* x, float* y, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const RowIn<Cols> in(x + r * Cols);
    RowOut<Cols> out(y + r * Cols);
    out = (in - in.maxCoeff()).exp();
    out *= 1.0f / out.sum();
  }
}
template <int Cols>
TT_NOINLINE void layer_norm(const float* x, const float* scale, const float* shift, float* y,
                            std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const RowIn<Cols> in(x + r * Cols);
    const float mean = in.mean();
    const float factor = 1.0f / std::sqrt((in - mean).square().mean() + 1e-5f);
    RowOut<Cols>(y + r * Cols) = (in - mean) * factor * RowIn<Cols>(scale) + RowIn<Cols>(shift);
  }
}
template <int Cols>
TT_NOINLINE void row_affine(const float* x, const float* scale, const float* shift, float* y,
                            std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r)
    RowOut<Cols>(y + r * Cols) = RowIn<Cols>(x + r * Cols) * RowIn<Cols>(scale) + RowIn<Cols>(shift);
}
template <int N>
using Small = Eigen::Array<float, N, N, Eigen::RowMajor>;

}  // namespace peers::eigen
#endif
