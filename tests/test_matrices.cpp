// Static programs on matrices of known sizes, from one element to a few vectors, against the reference, bit for bit:
// products that stay in registers, with and without what follows them, products with vectors, scalars reduced from
// short rows, and matrices whose axes are exchanged. Arguments end where a page ends that nobody may touch.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "run_static.hpp"
#include "tt/plan/memory.hpp"

namespace {

using tt::DType;
using tt::Graph;
using tt::Sym;

struct Isa {};  // a type of this file: programs of files with other flags are others

constexpr Sym input(Graph& g, const tt::Shape& s, DType d = DType::f32) { return {&g, g.input(d, s)}; }
constexpr void output(const Sym& x) { x.graph->output(x.id); }

/// C = A B, with B as it is and transposed, alone and with what follows; both as matrices of several batches, too.
template <int M, int N, int K, DType D>
struct Products {
  static constexpr Graph record() {
    Graph g;
    const Sym a = input(g, {M, K}, D), b = input(g, {K, N}, D), t = input(g, {N, K}, D), bias = input(g, {N}, D),
              c = input(g, {M, N}, D), p = input(g, {3, M, K}, D), q = input(g, {3, K, N}, D);
    output(tt::matmul(a, b));
    output(tt::relu(tt::matmul(a, tt::transpose<0, 1>(t)) + bias));
    output(tt::matmul(tt::transpose<0, 1>(a), c + 1));
    output(tt::matmul(p, q) * 2);
    return g;
  }
};
template <int M, int N>
struct Vectors {
  static constexpr Graph record() {
    Graph g;
    const Sym a = input(g, {M, N}), v = input(g, {N}), u = input(g, {M}), i = input(g, {N}, DType::i32);
    output(tt::tanh(tt::matmul(a, v) + u));
    output(tt::matmul(u, a));
    output(tt::matmul(tt::transpose<0, 1>(a), u));
    output(tt::matmul(v, tt::transpose<0, 1>(a)));
    output(tt::matmul(v, v));
    output(tt::matmul(i, i));
    output(v / tt::sqrt(tt::sum(v * v)));
    output(a - tt::amax(a) * tt::mean(a));
    return g;
  }
};
template <int M, int N>
struct Exchanged {
  static constexpr Graph record() {
    Graph g;
    const Sym x = input(g, {M, N}), y = input(g, {N, M}), b = input(g, {2, M, N}, DType::f64), i = input(g, {M, N, 3}, DType::i64);
    output(tt::transpose<0, 1>(x) + y);
    output(tt::sum(tt::transpose<0, 1>(x), 1));
    output(tt::softmax(tt::transpose<0, 1>(x) * 2, 1));
    output(tt::permute<0, 2, 1>(b));
    output(tt::exp(tt::permute<2, 1, 0>(b)));
    output(tt::permute<1, 2, 0>(i) + 1);
    return g;
  }
};

/// Reductions along the rows of transposed matrices that are read for nothing else, and values that are made transposed.
template <int M, int N>
struct DownColumns {
  static constexpr Graph record() {
    Graph g;
    const auto matrix = [&g](DType d = DType::f32) { return input(g, {M, N}, d); };
    const Sym u = input(g, {M}), v = input(g, {N}), column = input(g, {M, 1}), row = input(g, {N, 1}, DType::f64), b = input(g, {2, M, N}, DType::f64);
    output(tt::sum(tt::transpose<0, 1>(matrix()), 1));
    output(tt::relu(tt::matmul(tt::transpose<0, 1>(matrix()), u) + v));
    output(tt::amax(tt::transpose<0, 1>(matrix(DType::f64)) * 2 - row, 1));
    output(tt::amin(tt::transpose<0, 1>(matrix(DType::i32)), 1));
    output(tt::mean(tt::permute<0, 2, 1>(b) * tt::cast<double>(u), 2));
    output(tt::transpose<0, 1>(tt::where(column > 0, v, 1)));
    output(tt::transpose<0, 1>(tt::exp(tt::transpose<0, 1>(input(g, {N, M}))) + v));
    return g;
  }
};

/// A few rows with a value, a row and a mask beside them, reduced, normalised, cast, sliced.
template <int M, int N, DType D>
struct FewRows {
  static constexpr Graph record() {
    Graph g;
    const Sym a = input(g, {M, N}, D), row = input(g, {N}, D), column = input(g, {M, 1}, D), one = input(g, {}, D),
              mask = input(g, {M, N}, DType::boolean), labels = input(g, {M, N}, DType::i32);
    output((a * row + column) * one - column * row);
    output(tt::sum(a * row, 1));
    output(tt::softmax(tt::cast<float>(a) * 2, 1));
    output(tt::where(mask, a, column) + tt::cast<float>(labels));
    output(tt::amax(labels, 1) - tt::sum(labels, 1));
    output(tt::amax(a, 1) + tt::mean(tt::cast<double>(a), 1));
    output(tt::cast<double>(a) / tt::sqrt(tt::cast<double>(row)));
    output(tt::slice<1, 0, 2>(a) - tt::slice<1, N - 2, N>(a));
    output(tt::sum(a, 0) * 3);
    return g;
  }
};

template <class Model>
void check() { check_static<Model, Isa>(); }
/// Forms that take minutes of compiler time.
template <class... Models>
void check_further() {
#ifdef TT_ALL_FORMS
  (check<Models>(), ...);
#endif
}

}  // namespace

TEST_CASE("products of every small size") {
  check<Products<1, 1, 1, DType::f32>>();
  check<Products<3, 3, 3, DType::f32>>();
  check<Products<4, 3, 5, DType::i32>>();
  check<Products<6, 6, 6, DType::f64>>();
  check<Products<8, 16, 12, DType::f32>>();
  check<Products<1, 300, 9, DType::f32>>();  // a row: many vectors at once, then what is left
  check_further<Products<2, 2, 2, DType::f32>, Products<4, 4, 4, DType::f32>, Products<4, 4, 4, DType::f64>, Products<8, 8, 8, DType::f32>,
                Products<1, 40, 30, DType::f32>, Products<2, 17, 9, DType::i64>, Products<1, 300, 9, DType::f64>>();
}

TEST_CASE("products with vectors, and scalars beside their row") {
  check<Vectors<1, 1>>();
  check<Vectors<5, 2>>();
  check<Vectors<16, 12>>();
  check_further<Vectors<3, 3>, Vectors<4, 4>, Vectors<7, 8>, Vectors<20, 70>>();
}

TEST_CASE("a few short rows") {
  check<FewRows<3, 3, DType::f32>>();
  check<FewRows<2, 7, DType::f32>>();
  check<FewRows<4, 3, DType::f64>>();
  check_further<FewRows<1, 3, DType::f32>, FewRows<2, 2, DType::f32>, FewRows<4, 4, DType::f32>, FewRows<5, 2, DType::f32>,
                FewRows<3, 5, DType::f64>, FewRows<2, 3, DType::i64>>();
}

TEST_CASE("many short rows") {
  check<FewRows<1000, 3, DType::f32>>();
  check<FewRows<30, 3, DType::i32>>();
  check<Products<39, 4, 4, DType::f32>>();
  check<Vectors<101, 4>>();
  check_further<FewRows<37, 2, DType::f32>, FewRows<63, 4, DType::f32>, FewRows<21, 7, DType::f32>, FewRows<50, 8, DType::f32>,
                FewRows<41, 3, DType::f64>, Products<40, 3, 3, DType::f32>, Products<27, 2, 5, DType::f32>, Products<23, 3, 3, DType::f64>,
                Products<23, 3, 4, DType::i32>, Vectors<100, 3>>();
}

TEST_CASE("short rows, as many as are known when they come") {
  tt::Array<float, 3, 3> turn{{0.6f, 0.8f, 0}, {-0.8f, 0.6f, 0}, {0, 0, 1}};
  tt::Array<float, 3> by{1, 2, 3};
  for (const int n : {0, 1, 3, 4, 5, 16, 23}) {
    tt::Array<float, tt::dyn, 3> p(n), moved(n), unit(n);
    tt::Array<float, tt::dyn> length(n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < 3; ++j) p(i, j) = static_cast<float>(i * 3 + j + 1);
    moved = matmul(p, turn) + by;
    length = sqrt(tt::sum<1>(p * p));
    unit = p / sqrt(tt::sum_keepdim<1>(p * p));
    for (int i = 0; i < n; ++i) {
      tt::Array<float, 1, 3> one{{p(i, 0), p(i, 1), p(i, 2)}};
      const tt::Array<float, 1, 3> there = matmul(one, turn) + by;
      const tt::Array<float> squares = tt::sum(one * one);
      for (int j = 0; j < 3; ++j) {
        CHECK(moved(i, j) == there(0, j));
        CHECK(unit(i, j) == p(i, j) / std::sqrt(squares.item()));
      }
      CHECK(length(i) == std::sqrt(squares.item()));
    }
  }
}

TEST_CASE("a few elements that are assigned to their own operand") {
  tt::Array<float, 4, 4> m{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 8, 7, 6}, {5, 4, 3, 2}};
  tt::Array<float, 4> v{1, 2, 3, 4};
  tt::Array<float, 2, 3> p{{1, 2, 3}, {4, 5, 6}};
  v = matmul(m, v);
  CHECK(to_string(v) == "[30. 70. 70. 30.]");
  v = v / sum(v);
  CHECK(to_string(v) == "[0.15 0.35 0.35 0.15]");
  p -= tt::mean_keepdim<1>(p);
  CHECK(to_string(p) == "[[-1.  0.  1.]\n [-1.  0.  1.]]");
  m = matmul(m, transpose(m));
  CHECK(m(0, 0) == 30);
  CHECK(m(3, 1) == 86);
  m = matmul(m, m);
  CHECK(m(0, 0) == 30 * 30 + 70 * 70 + 70 * 70 + 30 * 30);
}

TEST_CASE("extents that are known at run time are compared with those of a few elements") {
  tt::Array<float, 4> y{1, 2, 3, 4};
  tt::Array<float> s;
  const tt::Array<float, 4, 4> m;
  const tt::Array<float, tt::dyn> three(3), four(4);
  CHECK_THROWS_AS(y = y + three, tt::Error);
  CHECK_THROWS_AS(y = matmul(m, three), tt::Error);
  CHECK_THROWS_AS(s = tt::sum(y * three), tt::Error);
  CHECK(to_string(y) == "[1. 2. 3. 4.]");
  y = y + four;
  CHECK(to_string(y) == "[1. 2. 3. 4.]");
}

TEST_CASE("a quotient by a power of two is rounded before it is added to") {
  const float least = std::numeric_limits<float>::denorm_min();
  const auto check_quarters = []<int N>(std::integral_constant<int, N>, float x, float c) {
    tt::Array<float, N> a, b, y;
    std::fill(a.begin(), a.end(), x);
    std::fill(b.begin(), b.end(), c);
    y = a / 4 + b;
    for (const float got : y) CHECK(got == c);  // 2 / 4 of the least rounds to 0, the even one
  };
  check_quarters(std::integral_constant<int, 4>{}, 2 * least, least);
  check_quarters(std::integral_constant<int, 64>{}, 2 * least, least);
  check_quarters(std::integral_constant<int, 3000>{}, 2 * least, least);
  const tt::Num<float> scalar = tt::Num<float>(2 * least) / tt::Num<float>(4) + tt::Num<float>(least);
  CHECK(scalar.value == least);
}

TEST_CASE("matrices with their axes exchanged") {
  check<Exchanged<4, 4>>();
  check<Exchanged<33, 70>>();
  check_further<Exchanged<16, 16>, Exchanged<17, 16>, Exchanged<70, 19>>();
}

TEST_CASE("rows that lie across memory are reduced down its columns, in one kernel and in a row's order") {
  check<DownColumns<2, 3>>();
  check<DownColumns<130, 70>>();
  check<DownColumns<4200, 20>>();
  check_further<DownColumns<16, 16>, DownColumns<17, 16>, DownColumns<64, 64>>();

  const auto plan = [](auto record) {
    Graph g;
    record(g);
    return tt::compile_plan(g);
  };
  const tt::Plan once = plan([](Graph& g) {
    const Sym a = input(g, {100, 80}), v = input(g, {100}), bias = input(g, {80});
    output(tt::relu(tt::matmul(tt::transpose<0, 1>(a), v) + bias));
  });
  REQUIRE(once.kernels.size() == 1);
  CHECK(once.kernels[0].kind == tt::KernelKind::cols);
  CHECK(once.kernels[0].row_order);
  CHECK(once.kernels[0].inner == tt::Extent(100));
  const tt::Plan twice = plan([](Graph& g) {  // what is read more often is laid out along the rows first
    const Sym a = tt::transpose<0, 1>(input(g, {100, 80}));
    output(tt::softmax(a, 1));
  });
  CHECK(twice.kernels.size() == 2);
  const tt::Plan transposed = plan([](Graph& g) {
    const Sym u = input(g, {100, 1}), v = input(g, {80});
    output(tt::transpose<0, 1>(u * v));
  });
  CHECK(transposed.kernels.size() == 1);
}
