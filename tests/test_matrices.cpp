// Static programs on matrices of known sizes, from one element to a few vectors, against the reference, bit for bit:
// products that stay in registers, with and without what follows them, products with vectors, scalars reduced from
// short rows, and matrices whose axes are exchanged. Arguments end where a page ends that nobody may touch.
#include <doctest/doctest.h>

#include <string>

#include "run_guarded.hpp"
#include "tt/expr/program.hpp"
#include "tt/graph/memory.hpp"

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

template <class Model>
void check() {
  const Graph recorded = Model::record(), g = tt::inline_bodies(recorded);
  REQUIRE_FALSE(recorded.failure);
  const tt::SymbolValues symbols;
  for (const fuzz::Numbers kind : {fuzz::Numbers::ordinary, fuzz::Numbers::special}) {
    fuzz::Random random(7);
    std::vector<fuzz::Values> in;
    for (int i : recorded.inputs)
      in.push_back(fuzz::random_values(random, recorded[i].dtype, recorded[i].shape.size().code, kind));
    const fuzz::GuardedResult r = fuzz::run_guarded(
        recorded, symbols, in, [&](void* const* external) { tt::detail::execute<Model, Isa>(external, symbols); });
    REQUIRE(r.trouble == nullptr);
    tt::Text difference;
    if (const fuzz::Difference d = fuzz::compare(g, fuzz::evaluate(g, symbols, in), r.output)) {
      fuzz::describe(difference, g, d);
      difference << tt::to_string(recorded);
    }
    CHECK(std::string(difference.c_str()) == "");
  }
}

}  // namespace

TEST_CASE("products of every small size") {
  check<Products<1, 1, 1, DType::f32>>();
  check<Products<2, 2, 2, DType::f32>>();
  check<Products<3, 3, 3, DType::f32>>();
  check<Products<4, 4, 4, DType::f32>>();
  check<Products<4, 4, 4, DType::f64>>();
  check<Products<4, 3, 5, DType::i32>>();
  check<Products<6, 6, 6, DType::f64>>();
  check<Products<8, 8, 8, DType::f32>>();
  check<Products<1, 40, 30, DType::f32>>();
  check<Products<2, 17, 9, DType::i64>>();
  check<Products<8, 16, 12, DType::f32>>();
  check<Products<1, 300, 9, DType::f32>>();  // a row: many vectors at once, then what is left
  check<Products<1, 300, 9, DType::f64>>();
}

TEST_CASE("products with vectors, and scalars beside their row") {
  check<Vectors<1, 1>>();
  check<Vectors<3, 3>>();
  check<Vectors<4, 4>>();
  check<Vectors<5, 2>>();
  check<Vectors<7, 8>>();
  check<Vectors<16, 12>>();
  check<Vectors<20, 70>>();
}

TEST_CASE("matrices with their axes exchanged") {
  check<Exchanged<4, 4>>();
  check<Exchanged<16, 16>>();
  check<Exchanged<17, 16>>();
  check<Exchanged<33, 70>>();
  check<Exchanged<70, 19>>();
}
