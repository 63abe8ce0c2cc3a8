// Many rows of a few columns, points and vectors of three to eight numbers, in float on one thread: moved and turned,
// dot products row by row, normalised, class scores, means down the columns. Against a plain loop that the compiler
// may vectorise, and Eigen. 4,096 rows, a number known at run time. Counter `ulp`: the largest error against
// double arithmetic on the same inputs, in ulp of 1 where a result is near zero.
//   bench_rows --benchmark_filter=normalize
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <tt/arrays.hpp>

#include "measure.hpp"
#include "peers/eigen.hpp"

namespace {

using benchmark::State;

constexpr std::int64_t rows = 4096;

/// Points p and q, a matrix r, a row t; results: points o, a number a row s, a row m.
template <int C>
struct Data {
  static constexpr int cols = C;
  tt::Array<float, tt::dyn, C> p, q, o;
  tt::Array<float, C, C> r;
  tt::Array<float, C> t, m;
  tt::Array<float, tt::dyn> s;

  Data() : p(rows), q(rows), o(rows), s(rows) {
    bench::fill({p.data(), rows * C}, 0.5f, 1.5f, 1);
    bench::fill({q.data(), rows * C}, -1, 1, 2);
    bench::fill({r.data(), C * C}, -1, 1, 3);
    bench::fill({t.data(), C}, -1, 1, 4);
  }
  double at(std::int64_t i, int j) const { return static_cast<double>(p(i, j)); }
};
#if TT_BENCH_EIGEN
/// The same numbers in the types that an Eigen user would write.
template <int C>
struct InEigen : Data<C> {
  using Points = Eigen::Matrix<float, Eigen::Dynamic, C, Eigen::RowMajor>;
  Points ep, eq, eo;
  Eigen::Matrix<float, C, C, Eigen::RowMajor> er;
  Eigen::Matrix<float, 1, C> et, em;
  Eigen::VectorXf es;

  InEigen() : ep(rows, C), eq(rows, C), eo(rows, C), es(rows) {
    std::copy_n(this->p.data(), rows * C, ep.data());
    std::copy_n(this->q.data(), rows * C, eq.data());
    std::copy_n(this->r.data(), C * C, er.data());
    std::copy_n(this->t.data(), C, et.data());
  }
  /// Brings the results to where they are compared.
  void finish() {
    std::copy_n(eo.data(), rows * C, this->o.data());
    std::copy_n(em.data(), C, this->m.data());
    std::copy_n(es.data(), rows, this->s.data());
  }
};
#endif

/// One row of the table: `work` on D, then error(d).
template <class D, class Work, class Error>
void row(const char* op, const char* contender, Work work, Error error) {
  const std::string name = std::to_string(D::cols) + " columns";
  benchmark::RegisterBenchmark(bench::row(op, name, contender).c_str(), [=](State& state) {
    const auto d = std::make_unique<D>();
    bench::repeat(state, 2 * rows * D::cols * static_cast<std::int64_t>(sizeof(float)), [&] { work(*d); });
    if constexpr (requires { d->finish(); }) d->finish();
    state.counters["ulp"] = error(*d);
  });
}
/// The error of the points o; exactly(d, i, j).
auto error_of_points(auto exactly) {
  return [=](const auto& d) {
    std::vector<double> e;
    for (std::int64_t i = 0; i < rows; ++i)
      for (int j = 0; j < d.cols; ++j) e.push_back(exactly(d, i, j));
    return bench::max_ulp(e, d.o.data(), 1);
  };
}
auto error_of_numbers(auto exactly) {
  return [=](const auto& d) {
    std::vector<double> e;
    for (std::int64_t i = 0; i < rows; ++i) e.push_back(exactly(d, i));
    return bench::max_ulp(e, d.s.data(), 1);
  };
}
double squares(const auto& d, std::int64_t i) {
  double s = 0;
  for (int j = 0; j < d.cols; ++j) s += d.at(i, j) * d.at(i, j);
  return s;
}

template <int C>
void moved() {
  const char* op = "points@R+t";
  const auto error = error_of_points([](const auto& d, std::int64_t i, int j) {
    double s = static_cast<double>(d.t(j));
    for (int k = 0; k < C; ++k) s += d.at(i, k) * static_cast<double>(d.r(k, j));
    return s;
  });
  row<Data<C>>(op, "tt", [](auto& d) { d.o = matmul(d.p, d.r) + d.t; }, error);
  row<Data<C>>(op, "loop", [](auto& d) {
    const float *p = d.p.data(), *r = d.r.data(), *t = d.t.data();
    float* o = d.o.data();
    for (std::int64_t i = 0; i < rows; ++i)
      for (int j = 0; j < C; ++j) {
        float s = t[j];
        for (int k = 0; k < C; ++k) s += p[i * C + k] * r[k * C + j];
        o[i * C + j] = s;
      }
  }, error);
#if TT_BENCH_EIGEN
  row<InEigen<C>>(op, "eigen", [](auto& d) {
    d.eo.noalias() = d.ep * d.er;
    d.eo.rowwise() += d.et;
  }, error);
#endif
}

template <int C>
void dots() {
  const char* op = "dot of rows";
  const auto error = error_of_numbers([](const auto& d, std::int64_t i) {
    double s = 0;
    for (int j = 0; j < C; ++j) s += d.at(i, j) * static_cast<double>(d.q(i, j));
    return s;
  });
  row<Data<C>>(op, "tt", [](auto& d) { d.s = tt::sum<1>(d.p * d.q); }, error);
  row<Data<C>>(op, "loop", [](auto& d) {
    const float *p = d.p.data(), *q = d.q.data();
    float* s = d.s.data();
    for (std::int64_t i = 0; i < rows; ++i) {
      float sum = 0;
      for (int j = 0; j < C; ++j) sum += p[i * C + j] * q[i * C + j];
      s[i] = sum;
    }
  }, error);
#if TT_BENCH_EIGEN
  row<InEigen<C>>(op, "eigen", [](auto& d) { d.es = d.ep.cwiseProduct(d.eq).rowwise().sum(); }, error);
#endif
}

template <int C>
void normalized() {
  const char* op = "rows normalised";
  const auto error = error_of_points([](const auto& d, std::int64_t i, int j) {
    return d.at(i, j) / std::sqrt(squares(d, i));
  });
  row<Data<C>>(op, "tt", [](auto& d) { d.o = d.p / sqrt(tt::sum_keepdim<1>(d.p * d.p)); }, error);
  row<Data<C>>(op, "loop", [](auto& d) {
    const float* p = d.p.data();
    float* o = d.o.data();
    for (std::int64_t i = 0; i < rows; ++i) {
      float sum = 0;
      for (int j = 0; j < C; ++j) sum += p[i * C + j] * p[i * C + j];
      const float length = std::sqrt(sum);
      for (int j = 0; j < C; ++j) o[i * C + j] = p[i * C + j] / length;
    }
  }, error);
#if TT_BENCH_EIGEN
  row<InEigen<C>>(op, "eigen", [](auto& d) { d.eo = d.ep.rowwise().normalized(); }, error);
#endif
}

template <int C>
void softmax_of_rows() {
  const char* op = "softmax of rows";
  const auto error = error_of_points([](const auto& d, std::int64_t i, int j) {
    double s = 0;
    for (int k = 0; k < C; ++k) s += std::exp(d.at(i, k));
    return std::exp(d.at(i, j)) / s;
  });
  row<Data<C>>(op, "tt", [](auto& d) { d.o = tt::softmax<1>(d.p); }, error);
  row<Data<C>>(op, "loop", [](auto& d) {
    const float* p = d.p.data();
    float* o = d.o.data();
    for (std::int64_t i = 0; i < rows; ++i) {
      float top = p[i * C], sum = 0;
      for (int j = 1; j < C; ++j) top = p[i * C + j] > top ? p[i * C + j] : top;
      for (int j = 0; j < C; ++j) sum += o[i * C + j] = std::exp(p[i * C + j] - top);
      for (int j = 0; j < C; ++j) o[i * C + j] /= sum;
    }
  }, error);
#if TT_BENCH_EIGEN
  row<InEigen<C>>(op, "eigen", [](auto& d) {
    const auto e = (d.ep.colwise() - d.ep.rowwise().maxCoeff()).array().exp().eval();
    d.eo = (e.colwise() / e.rowwise().sum()).matrix();
  }, error);
#endif
}

template <int C>
void means() {
  const char* op = "mean of columns";
  const auto error = [](const auto& d) {
    std::vector<double> e(C, 0.0);
    for (std::int64_t i = 0; i < rows; ++i)
      for (int j = 0; j < C; ++j) e[static_cast<std::size_t>(j)] += d.at(i, j) / static_cast<double>(rows);
    return bench::max_ulp(e, d.m.data(), 1);
  };
  row<Data<C>>(op, "tt", [](auto& d) { d.m = tt::mean<0>(d.p); }, error);
  row<Data<C>>(op, "loop", [](auto& d) {
    const float* p = d.p.data();
    float sum[C] = {};
    for (std::int64_t i = 0; i < rows; ++i)
      for (int j = 0; j < C; ++j) sum[j] += p[i * C + j];
    for (int j = 0; j < C; ++j) d.m(j) = sum[j] / static_cast<float>(rows);
  }, error);
#if TT_BENCH_EIGEN
  row<InEigen<C>>(op, "eigen", [](auto& d) { d.em = d.ep.colwise().mean(); }, error);
#endif
}

template <int C>
void moved_by_a_row() {
  const char* op = "points-t";
  const auto error = error_of_points([](const auto& d, std::int64_t i, int j) {
    return d.at(i, j) - static_cast<double>(d.t(j));
  });
  row<Data<C>>(op, "tt", [](auto& d) { d.o = d.p - d.t; }, error);
  row<Data<C>>(op, "loop", [](auto& d) {
    const float *p = d.p.data(), *t = d.t.data();
    float* o = d.o.data();
    for (std::int64_t i = 0; i < rows; ++i)
      for (int j = 0; j < C; ++j) o[i * C + j] = p[i * C + j] - t[j];
  }, error);
#if TT_BENCH_EIGEN
  row<InEigen<C>>(op, "eigen", [](auto& d) { d.eo = d.ep.rowwise() - d.et; }, error);
#endif
}

template <int... C>
void add_rows() {
  (moved_by_a_row<C>(), ...);
  (moved<C>(), ...);
  (dots<C>(), ...);
  (normalized<C>(), ...);
  (softmax_of_rows<C>(), ...);
  (means<C>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
  add_rows<3, 4, 8>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
