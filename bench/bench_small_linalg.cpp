// Inverses, solutions, determinants and Cholesky factors of small matrices beside Eigen's, whose types have fixed sizes too, on one thread. ns a call; operands are read anew.
//   bench_small_linalg --benchmark_filter='inv'
#include <benchmark/benchmark.h>

#include <tt/arrays.hpp>

#if __has_include(<Eigen/Dense>)
#include <Eigen/Dense>
#define TT_BENCH_EIGEN 1
#endif

namespace {

template <class T, int N>
struct Operands {
  tt::Array<T, N, N> a;
  tt::Array<T, N> b;
  Operands() {
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j <= i; ++j) a(i, j) = a(j, i) = static_cast<T>((i * 7 + j * 3 + 1) % 11) / 11 + (i == j ? 2 : 0);
      b(i) = static_cast<T>(i + 1);
    }
  }
};
template <class A, class F>
void repeat(benchmark::State& state, A& a, const F& f) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(a);
    auto r = f();
    benchmark::DoNotOptimize(r);
  }
}
template <class T, int N>
void add(const char* dtype) {
  const auto name = [&](const char* op, const char* who) { return std::string(op) + '/' + dtype + '/' + std::to_string(N) + '/' + who; };
  const auto own = [&](const char* op, auto f) {
    benchmark::RegisterBenchmark(name(op, "tt").c_str(), [f](benchmark::State& s) {
      Operands<T, N> o;
      repeat(s, o, [&] { return f(o); });
    });
  };
  own("inv", [](const auto& o) { return tt::linalg::inv(o.a); });
  own("solve", [](const auto& o) { return tt::linalg::solve(o.a, o.b); });
  own("det", [](const auto& o) { return tt::linalg::det(o.a); });
  own("cholesky", [](const auto& o) { return tt::linalg::cholesky(o.a); });
#if TT_BENCH_EIGEN
  using Matrix = Eigen::Matrix<T, N, N>;
  using Vector = Eigen::Matrix<T, N, 1>;
  struct Peer {
    Matrix a;
    Vector b;
  };
  const auto peer = [&](const char* op, auto f) {
    benchmark::RegisterBenchmark(name(op, "eigen").c_str(), [f](benchmark::State& s) {
      const Operands<T, N> o;
      Peer p;
      for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) p.a(i, j) = o.a(i, j);
        p.b(i) = o.b(i);
      }
      repeat(s, p, [&] { return f(p); });
    });
  };
  peer("inv", [](const auto& p) { return Matrix(p.a.inverse()); });
  peer("solve", [](const auto& p) { return Vector(p.a.partialPivLu().solve(p.b)); });
  peer("det", [](const auto& p) { return p.a.determinant(); });
  peer("cholesky", [](const auto& p) { return Matrix(p.a.llt().matrixL()); });
#endif
}
template <int... N>
void add_sizes() {
  (add<float, N>("f32"), ...);
  (add<double, N>("f64"), ...);
}

}  // namespace

int main(int argc, char** argv) {
  add_sizes<2, 3, 4, 6, 8>();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
