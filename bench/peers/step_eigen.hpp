// The training step of bench/step.hpp in Eigen: matrices of fixed size, products without temporaries, shared
// values in matrices that are kept.
#pragma once
#if __has_include(<Eigen/Core>)
#define TT_BENCH_STEP_EIGEN 1
#include <Eigen/Core>
#include <cstdint>

namespace peers::step_eigen {

inline constexpr int batch = 64, pixels = 64, hidden = 32, classes = 10;
template <int Rows, int Columns>
using Matrix = Eigen::Matrix<float, Rows, Columns, Eigen::RowMajor>;
template <int Columns>
using Row = Eigen::Matrix<float, 1, Columns>;

struct Parameters {
  Matrix<pixels, hidden> w1;
  Row<hidden> b1;
  Matrix<hidden, classes> w2;
  Row<classes> b2;
};
struct Workspace {
  Matrix<batch, hidden> h, dh;
  Matrix<batch, classes> dl;
  Eigen::Matrix<float, batch, 1> sum;
  Parameters gradient;
};

template <class M>
void update(M& weight, M& velocity, const M& gradient, float rate) {
  velocity = 0.9f * velocity + gradient;
  weight -= rate * velocity;
}

[[gnu::noinline]] inline float step(Parameters& p, Parameters& v, Workspace& w,
                                    const Matrix<batch, pixels>& images, const std::int64_t* labels,
                                    float rate) {
  w.h.noalias() = images * p.w1;
  w.h = (w.h.rowwise() + p.b1).array().tanh();
  w.dl.noalias() = w.h * p.w2;
  w.dl.rowwise() += p.b2;

  w.sum = w.dl.rowwise().maxCoeff();
  w.dl.colwise() -= w.sum;
  float loss = 0;
  for (int i = 0; i < batch; ++i) loss -= w.dl(i, labels[i]);
  w.dl = w.dl.array().exp();
  w.sum = w.dl.rowwise().sum();
  loss += w.sum.array().log().sum();
  w.dl.array().colwise() *= 1.0f / (w.sum.array() * float(batch));
  for (int i = 0; i < batch; ++i) w.dl(i, labels[i]) -= 1.0f / batch;

  w.dh.noalias() = w.dl * p.w2.transpose();
  w.dh.array() *= 1.0f - w.h.array().square();
  w.gradient.w2.noalias() = w.h.transpose() * w.dl;
  w.gradient.b2 = w.dl.colwise().sum();
  w.gradient.w1.noalias() = images.transpose() * w.dh;
  w.gradient.b1 = w.dh.colwise().sum();
  update(p.w1, v.w1, w.gradient.w1, rate);
  update(p.b1, v.b1, w.gradient.b1, rate);
  update(p.w2, v.w2, w.gradient.w2, rate);
  update(p.b2, v.b2, w.gradient.b2, rate);
  return loss / batch;
}

}  // namespace peers::step_eigen
#endif
