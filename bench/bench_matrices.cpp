// Small matrices, products of a matrix with a vector, and transposition, in float on one thread, against
// hand-written loops, Eigen, xtensor and OpenBLAS. Counter `ulp`: the largest error against double arithmetic
// on the same inputs, in ulp of 1 where a sum may cancel.
//   bench_matrices --benchmark_filter='small/4x4'
// From 16 on all contenders read row-major matrices; small ones are the types that users of a library write,
// Eigen's in its own order. OpenBLAS as in bench_matmul.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <tt/tt.hpp>

#include "measure.hpp"
#include "peers/eigen.hpp"
#include "peers/matrices_hand.hpp"
#include "peers/xtensor.hpp"

#if TT_BENCH_XTENSOR
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xview.hpp>
#endif
#if __has_include(<openblas_config.h>)
#define TT_BENCH_OPENBLAS 1
#include <cblas.h>
#endif

namespace {

using benchmark::State;
namespace hand = peers::matrices_hand;
using Exact = std::vector<double>;

double twice(float x) { return static_cast<double>(x); }

/// Times `work` on d, whose operands are read anew by every call.
template <class D, class Work>
void repeat(State& state, D& d, std::int64_t elements, const Work& work) {
  D* seen = &d;  // so that memory clobbers reach it
  benchmark::DoNotOptimize(seen);
  bench::repeat(state, elements * static_cast<std::int64_t>(sizeof(float)), [&] { work(d); });
}

// ---- small matrices: operands and results of one library

template <int Extent, class M, class V, class S>
struct Small {
  static constexpr int n = Extent;
  M a, b, c, y;
  V v, u, w;
  S s;

  Small() {
    float numbers[3 * n * n + 2 * n];
    bench::fill(numbers, -1, 1, 1);
    const float* next = numbers;
    for (M* m : {&a, &b, &c})
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) (*m)(i, j) = *next++;
    for (int i = 0; i < n; ++i) {
      v(i) = *next++;
      u(i) = *next++;
    }
  }
};
template <int N>
using SmallArrays = Small<N, tt::Array<float, N, N>, tt::Array<float, N>, tt::Array<float>>;
#if TT_BENCH_EIGEN
template <int N>
using SmallEigen = Small<N, Eigen::Matrix<float, N, N>, Eigen::Matrix<float, N, 1>, float>;
#endif
#if TT_BENCH_XTENSOR
namespace xtensor = peers::xtensor;
template <int N>
using SmallXtensor = Small<N, xtensor::Small<std::size_t{N}>,
                           xt::xtensor_fixed<float, xt::xshape<std::size_t{N}>>, float>;
#endif

/// One row; error(d) is that of the result, `elements` are read and written.
template <class D, class Work, class Error>
void small_row(const char* what, const char* contender, int elements, Work work, Error error) {
  benchmark::RegisterBenchmark(bench::row("small", what, contender).c_str(), [=](State& state) {
    D d;
    repeat(state, d, elements, work);
    state.counters["ulp"] = error(d);
  });
}

/// The error of the matrix y, of the vector w and of the number s.
template <class F>
auto error_of_matrix(F exactly) {
  return [=](const auto& d) {
    double worst = 0;
    for (int i = 0; i < d.n; ++i)
      for (int j = 0; j < d.n; ++j) {
        const double exact = exactly(d, i, j);
        const float got = d.y(i, j);
        worst = std::max(worst, bench::max_ulp({&exact, 1}, &got, 1));
      }
    return worst;
  };
}
template <class F>
auto error_of_vector(F exactly, double floor) {
  return [=](const auto& d) {
    double worst = 0;
    for (int i = 0; i < d.n; ++i) {
      const double exact = exactly(d, i);
      const float got = d.w(i);
      worst = std::max(worst, bench::max_ulp({&exact, 1}, &got, floor));
    }
    return worst;
  };
}
double dot_exactly(const auto& d, const auto& a, const auto& b) {
  double s = 0;
  for (int i = 0; i < d.n; ++i) s += twice(a(i)) * twice(b(i));
  return s;
}

template <int N>
void small_products(const char* what) {
  constexpr int elements = 3 * N * N;
  const auto error = error_of_matrix([](const auto& d, int i, int j) {
    return dot_exactly(d, [&](int k) { return d.a(i, k); }, [&](int k) { return d.b(k, j); });
  });
  small_row<SmallArrays<N>>(what, "tt", elements, [](auto& d) { d.y = matmul(d.a, d.b); }, error);
  small_row<SmallArrays<N>>(what, "hand", elements, [](auto& d) {
    hand::product<N>(d.a.data(), d.b.data(), d.y.data());
  }, error);
#if TT_BENCH_EIGEN
  small_row<SmallEigen<N>>(what, "eigen", elements, [](auto& d) { d.y.noalias() = d.a * d.b; }, error);
#endif
}

void small_transposed() {
  const char* what = "4x4 A@transpose(B)";
  constexpr int elements = 3 * 16;
  const auto error = error_of_matrix([](const auto& d, int i, int j) {
    return dot_exactly(d, [&](int k) { return d.a(i, k); }, [&](int k) { return d.b(j, k); });
  });
  small_row<SmallArrays<4>>(what, "tt", elements, [](auto& d) {
    d.y = matmul(d.a, transpose(d.b));
  }, error);
  small_row<SmallArrays<4>>(what, "hand", elements, [](auto& d) {
    hand::product_transposed(d.a.data(), d.b.data(), d.y.data());
  }, error);
#if TT_BENCH_EIGEN
  small_row<SmallEigen<4>>(what, "eigen", elements, [](auto& d) {
    d.y.noalias() = d.a * d.b.transpose();
  }, error);
#endif
}

/// A matrix laid out the other way.
template <int N>
void transposed_copy(const char* what) {
  constexpr int elements = 2 * N * N;
  const auto error = error_of_matrix([](const auto& d, int i, int j) { return twice(d.a(j, i)); });
  small_row<SmallArrays<N>>(what, "tt", elements, [](auto& d) { d.y = transpose(d.a); }, error);
  small_row<SmallArrays<N>>(what, "hand", elements, [](auto& d) {
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) d.y.data()[i * N + j] = d.a.data()[j * N + i];
  }, error);
#if TT_BENCH_EIGEN
  small_row<SmallEigen<N>>(what, "eigen", elements, [](auto& d) { d.y = d.a.transpose(); }, error);
#endif
}

void small_vectors() {
  const char* what = "4x4 A@v";
  constexpr int elements = 16 + 2 * 4;
  const auto error = error_of_vector([](const auto& d, int i) {
    return dot_exactly(d, [&](int k) { return d.a(i, k); }, d.v);
  }, 1);
  small_row<SmallArrays<4>>(what, "tt", elements, [](auto& d) { d.w = matmul(d.a, d.v); }, error);
  small_row<SmallArrays<4>>(what, "hand", elements, [](auto& d) {
    hand::matrix_vector(d.a.data(), d.v.data(), d.w.data());
  }, error);
#if TT_BENCH_EIGEN
  small_row<SmallEigen<4>>(what, "eigen", elements, [](auto& d) { d.w.noalias() = d.a * d.v; }, error);
#endif
#if TT_BENCH_XTENSOR
  small_row<SmallXtensor<4>>(what, "xtensor", elements, [](auto& d) {
    xt::noalias(d.w) = xt::sum(d.a * d.v, {1});
  }, error);
#endif
}

void normalize() {
  const char* what = "normalize 3";
  constexpr int elements = 2 * 3;
  const auto error = error_of_vector([](const auto& d, int i) {
    return twice(d.v(i)) / std::sqrt(dot_exactly(d, d.v, d.v));
  }, 0);
  small_row<SmallArrays<3>>(what, "tt", elements, [](auto& d) {
    d.w = d.v / sqrt(sum(d.v * d.v));
  }, error);
  small_row<SmallArrays<3>>(what, "hand", elements, [](auto& d) {
    hand::normalize(d.v.data(), d.w.data());
  }, error);
#if TT_BENCH_EIGEN
  small_row<SmallEigen<3>>(what, "eigen", elements, [](auto& d) { d.w = d.v.normalized(); }, error);
#endif
#if TT_BENCH_XTENSOR
  small_row<SmallXtensor<3>>(what, "xtensor", elements, [](auto& d) {
    xt::noalias(d.w) = d.v / std::sqrt(xt::sum(d.v * d.v)());
  }, error);
#endif
}

void dot() {
  const char* what = "dot 4";
  constexpr int elements = 2 * 4 + 1;
  const auto error = [](const auto& d) {
    const double exact = dot_exactly(d, d.v, d.u);
    const float got = d.s;
    return bench::max_ulp({&exact, 1}, &got, 1);
  };
  small_row<SmallArrays<4>>(what, "tt", elements, [](auto& d) { d.s = sum(d.v * d.u); }, error);
  small_row<SmallArrays<4>>(what, "hand", elements, [](auto& d) {
    *d.s.data() = hand::dot(d.v.data(), d.u.data());
  }, error);
#if TT_BENCH_EIGEN
  small_row<SmallEigen<4>>(what, "eigen", elements, [](auto& d) { d.s = d.v.dot(d.u); }, error);
#endif
#if TT_BENCH_XTENSOR
  small_row<SmallXtensor<4>>(what, "xtensor", elements, [](auto& d) {
    d.s = xt::sum(d.v * d.u)();
  }, error);
#endif
}

/// The covariance that a Kalman filter predicts.
void covariance() {
  const char* what = "6x6 F@P@transpose(F)+Q";
  constexpr int elements = 4 * 36;
  const auto error = error_of_matrix([](const auto& d, int i, int j) {
    double s = twice(d.c(i, j));
    for (int k = 0; k < d.n; ++k)
      s += dot_exactly(d, [&](int l) { return d.a(i, l); }, [&](int l) { return d.b(l, k); }) * twice(d.a(j, k));
    return s;
  });
  small_row<SmallArrays<6>>(what, "tt", elements, [](auto& d) {
    d.y = matmul(matmul(d.a, d.b), transpose(d.a)) + d.c;
  }, error);
  small_row<SmallArrays<6>>(what, "hand", elements, [](auto& d) {
    hand::covariance(d.a.data(), d.b.data(), d.c.data(), d.y.data());
  }, error);
#if TT_BENCH_EIGEN
  small_row<SmallEigen<6>>(what, "eigen", elements, [](auto& d) {
    d.y.noalias() = d.a * d.b * d.a.transpose() + d.c;
  }, error);
#endif
}

// ---- larger matrices, row-major: operands and results

template <class D, std::int64_t N>
void fill(D& d) {
  bench::fill({d.a.data(), N * N}, -1, 1, 1);
  bench::fill({d.b.data(), N * N}, -1, 1, 2);
  bench::fill({d.v.data(), N}, -1, 1, 3);
}
/// Those of tt, of hand, of OpenBLAS, and through maps of Eigen.
template <std::int64_t N>
struct Arrays {
  static constexpr std::int64_t n = N;
  tt::Array<float, N, N> a, b, y;
  tt::Array<float, N> v, w;

  Arrays() { fill<Arrays, N>(*this); }
};
/// With extents that are known at run time.
template <std::int64_t N>
struct DynamicArrays {
  static constexpr std::int64_t n = N;
  tt::Array<float, tt::dyn, tt::dyn> a, b, y;
  tt::Array<float, tt::dyn> v, w;

  DynamicArrays() : a(N, N), b(N, N), y(N, N), v(N), w(N) { fill<DynamicArrays, N>(*this); }
};
#if TT_BENCH_XTENSOR
template <std::int64_t N>
struct InXtensor {
  static constexpr std::int64_t n = N;
  xtensor::M a{std::array<std::size_t, 2>{N, N}}, b = a, y = a;
  xtensor::V v{std::array<std::size_t, 1>{N}}, w = v;

  InXtensor() { fill<InXtensor, N>(*this); }
};
#endif
#if TT_BENCH_EIGEN
template <class Matrix>
auto in(const float* p, std::int64_t n) {
  return Eigen::Map<const Matrix, Eigen::Aligned64>(p, Matrix::RowsAtCompileTime == 1 ? 1 : n,
                                                    Matrix::ColsAtCompileTime == 1 ? 1 : n);
}
template <class Matrix>
auto out(float* p, std::int64_t n) {
  return Eigen::Map<Matrix, Eigen::Aligned64>(p, Matrix::RowsAtCompileTime == 1 ? 1 : n,
                                              Matrix::ColsAtCompileTime == 1 ? 1 : n);
}
/// Maps of the operands, with the extents that an Eigen user would write.
template <std::int64_t N>
struct EigenTypes {
  static constexpr int extent = N <= 32 ? static_cast<int>(N) : Eigen::Dynamic;
  using Matrix = Eigen::Matrix<float, extent, extent, Eigen::RowMajor>;
  using Column = Eigen::Matrix<float, extent, 1>;
  using Row = Eigen::Matrix<float, 1, extent>;
};
#endif

template <class D>
D& data() {
  static const auto kept = std::make_unique<D>();
  return *kept;
}
template <class D, class Work, class Error>
void row(const char* op, const char* contender, std::int64_t elements, Work work, Error error) {
  benchmark::RegisterBenchmark(bench::row(op, std::to_string(D::n), contender).c_str(),
                               [=](State& state) {
    D& d = data<D>();
    repeat(state, d, elements, work);
    state.counters["ulp"] = error(d);
  });
}

// ---- products with a vector

enum class Form { matrix_vector, vector_matrix, transposed_vector };

template <std::int64_t N, Form F>
void products() {
  constexpr const char* names[] = {"A@v", "v@A", "transpose(A)@v"};
  const char* op = names[static_cast<int>(F)];
  constexpr std::int64_t elements = N * N + 2 * N;
  const auto error = [](const auto& d) {
    Exact e(static_cast<std::size_t>(N), 0.0);
    for (std::int64_t i = 0; i < N; ++i)
      for (std::int64_t k = 0; k < N; ++k)
        e[static_cast<std::size_t>(i)] +=
            twice(d.a.data()[F == Form::matrix_vector ? i * N + k : k * N + i]) * twice(d.v.data()[k]);
    return bench::max_ulp(e, d.w.data(), 1);
  };
  const auto work = [](auto& d) {
    if constexpr (F == Form::matrix_vector) d.w = matmul(d.a, d.v);
    if constexpr (F == Form::vector_matrix) d.w = matmul(d.v, d.a);
    if constexpr (F == Form::transposed_vector) d.w = matmul(transpose(d.a), d.v);
  };
  row<Arrays<N>>(op, "tt", elements, work, error);
  row<DynamicArrays<N>>(op, "tt_dyn", elements, work, error);
  row<Arrays<N>>(op, "hand", elements, [](auto& d) {
    if constexpr (F == Form::matrix_vector)
      hand::matrix_vector(d.a.data(), d.v.data(), d.w.data(), N);
    else
      hand::vector_matrix(d.v.data(), d.a.data(), d.w.data(), N);
  }, error);
#if TT_BENCH_OPENBLAS
  if constexpr (N >= 64)
    row<Arrays<N>>(op, "openblas", elements, [](auto& d) {
      constexpr int n = static_cast<int>(N);
      cblas_sgemv(CblasRowMajor, F == Form::matrix_vector ? CblasNoTrans : CblasTrans, n, n, 1,
                  d.a.data(), n, d.v.data(), 1, 0, d.w.data(), 1);
    }, error);
#endif
#if TT_BENCH_EIGEN
  row<Arrays<N>>(op, "eigen", elements, [](auto& d) {
    using E = EigenTypes<N>;
    const auto a = in<typename E::Matrix>(d.a.data(), N);
    if constexpr (F == Form::matrix_vector)
      out<typename E::Column>(d.w.data(), N).noalias() = a * in<typename E::Column>(d.v.data(), N);
    if constexpr (F == Form::vector_matrix)
      out<typename E::Row>(d.w.data(), N).noalias() = in<typename E::Row>(d.v.data(), N) * a;
    if constexpr (F == Form::transposed_vector)
      out<typename E::Column>(d.w.data(), N).noalias() =
          a.transpose() * in<typename E::Column>(d.v.data(), N);
  }, error);
#endif
#if TT_BENCH_XTENSOR
  row<InXtensor<N>>(op, "xtensor", elements, [](auto& d) {
    if constexpr (F == Form::matrix_vector)  // at once is faster here, slower below
      xt::noalias(d.w) = xt::sum(d.a * d.v, {1}, xt::evaluation_strategy::immediate);
    if constexpr (F == Form::vector_matrix)
      xt::noalias(d.w) = xt::sum(xt::view(d.v, xt::all(), xt::newaxis()) * d.a, {0});
    if constexpr (F == Form::transposed_vector)
      xt::noalias(d.w) = xt::sum(xt::transpose(d.a) * d.v, {1});
  }, error);
#endif
}

// ---- transposition

template <std::int64_t N, bool Add>
void transpositions() {
  const char* op = Add ? "transpose(A)+B" : "transpose(A)";
  constexpr std::int64_t elements = N * N * (Add ? 3 : 2);
  const auto error = [](const auto& d) {
    Exact e;
    for (std::int64_t i = 0; i < N; ++i)
      for (std::int64_t j = 0; j < N; ++j)
        e.push_back(twice(d.a.data()[j * N + i]) + (Add ? twice(d.b.data()[i * N + j]) : 0));
    return bench::max_ulp(e, d.y.data(), 1);
  };
  const auto work = [](auto& d) {
    if constexpr (Add) d.y = transpose(d.a) + d.b;
    else d.y = transpose(d.a);
  };
  row<Arrays<N>>(op, "tt", elements, work, error);
  row<DynamicArrays<N>>(op, "tt_dyn", elements, work, error);
  row<Arrays<N>>(op, "hand", elements, [](auto& d) {
    hand::transpose<Add>(d.a.data(), d.b.data(), d.y.data(), N);
  }, error);
#if TT_BENCH_OPENBLAS
  if constexpr (N >= 64 && !Add)
    row<Arrays<N>>(op, "openblas", elements, [](auto& d) {
      cblas_somatcopy(CblasRowMajor, CblasTrans, N, N, 1, d.a.data(), N, d.y.data(), N);
    }, error);
#endif
#if TT_BENCH_EIGEN
  row<Arrays<N>>(op, "eigen", elements, [](auto& d) {
    using M = typename EigenTypes<N>::Matrix;
    if constexpr (Add)
      out<M>(d.y.data(), N) = in<M>(d.a.data(), N).transpose() + in<M>(d.b.data(), N);
    else
      out<M>(d.y.data(), N) = in<M>(d.a.data(), N).transpose();
  }, error);
#endif
#if TT_BENCH_XTENSOR
  row<InXtensor<N>>(op, "xtensor", elements, [](auto& d) {
    if constexpr (Add) xt::noalias(d.y) = xt::transpose(d.a) + d.b;
    else xt::noalias(d.y) = xt::transpose(d.a);
  }, error);
#endif
}

template <std::int64_t N>
void add_size() {
  products<N, Form::matrix_vector>();
  products<N, Form::vector_matrix>();
  products<N, Form::transposed_vector>();
  transpositions<N, false>();
  transpositions<N, true>();
}

}  // namespace

int main(int argc, char** argv) {
#if TT_BENCH_OPENBLAS
  openblas_set_num_threads(1);
#endif
  small_products<3>("3x3 A@B");
  small_products<4>("4x4 A@B");
  small_transposed();
  transposed_copy<6>("6x6 transpose(A)");
  transposed_copy<8>("8x8 transpose(A)");
  small_vectors();
  normalize();
  dot();
  covariance();
  add_size<16>();
  add_size<64>();
  add_size<256>();
  add_size<1024>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
