// Kernels over many rows, on the tile interpreter and as emitted C, against the reference, bit for bit: rows
// that go through a tile together, rows that fill one or more, and those beyond a block of the sum's order.
// Arguments end where a page ends that nobody may touch.
#include <doctest/doctest.h>

#include "run_tiles.hpp"
#include "tt/jit/native.hpp"
#include "tt/tt.hpp"

namespace {

using tt::DType;
using tt::Graph;
using tt::Sym;

const tt::Extent rows = tt::Extent::symbol(0), columns = tt::Extent::symbol(1);

Sym input(Graph& g, const tt::Shape& s, DType d = DType::f32) { return {&g, g.input(d, s)}; }
void output(const Sym& x, int donated = -1) { x.graph->output(x.id, donated); }
/// Of 16-bit floats, computed in f32.
void narrow_layer_norm(Graph& g, DType d) {
  const auto wide = [&](const tt::Shape& s) { return tt::detail::cast_to(input(g, s, d), DType::f32); };
  const Sym x = wide({rows, columns}), scale = wide({columns}), shift = wide({columns});
  const Sym c = x - tt::mean(x, 1, true);
  output(tt::detail::cast_to(c * tt::rsqrt(tt::mean(c * c, 1, true) + 1e-5) * scale + shift, d));
}

struct Case {
  const char* name;
  void (*record)(Graph&);
};
const Case cases[] = {
    {"softmax", [](Graph& g) { output(tt::softmax(input(g, {rows, columns}), 1)); }},
    {"layer norm",
     [](Graph& g) {
       const Sym x = input(g, {rows, columns}), scale = input(g, {columns}), shift = input(g, {columns});
       const Sym c = x - tt::mean(x, 1, true);
       output(c * tt::rsqrt(tt::mean(c * c, 1, true) + 1e-5) * scale + shift);
     }},
    {"layer norm of bf16", [](Graph& g) { narrow_layer_norm(g, DType::bf16); }},
    {"layer norm of f16", [](Graph& g) { narrow_layer_norm(g, DType::f16); }},
    {"what is made of a vector, for a kernel over rows and for one over the vector",
     [](Graph& g) {
       const Sym x = input(g, {rows, columns}), w = input(g, {columns});
       const Sym v = w + 1, u = v * v;
       const Sym y = u * x;
       output(y);
       output(tt::sum(tt::where(y == x, y, x), 0) * v);
     }},
    {"a vector times the numbers of its columns, read over rows",
     [](Graph& g) {
       const Sym x = input(g, {rows, columns}), w = input(g, {columns}), place = {&g, g.iota(DType::i64, {columns}, 0)};
       output(x / (w * tt::detail::cast_to(place, DType::f32) + 1));
     }},
    {"operands that are repeated along other axes each",
     [](Graph& g) {
       const Sym a = input(g, {rows, 1, columns}), b = input(g, {5, 1}), c = input(g, {rows, 5, 1}), d = input(g, {5, columns}), e = input(g, {rows, 5, columns});
       output(a * b);
       output(tt::maximum(c, d) - b);
       output(tt::where(a < c, e, d));
       output(tt::atan2(d, c) + e);
       output(e * 2 + a);
     }},
    {"doubles and integers that are repeated",
     [](Graph& g) {
       const Sym a = input(g, {rows, 1, columns}, DType::f64), b = input(g, {3, 1}, DType::f64), c = input(g, {rows, 1, columns}, DType::i32), d = input(g, {3, columns}, DType::i32);
       output(a - b);
       output(c + d);
       output(c <= d);
     }},
    {"extremes and sums of doubles, stored once a row",
     [](Graph& g) {
       const Sym x = input(g, {rows, columns}, DType::f64), y = input(g, {rows, 1}, DType::f64);
       const Sym high = tt::amax(x, 1, true), low = tt::amin(x, 1, true), total = tt::sum(x * y, 1, true);
       output(high * 2);
       output(low + y);
       output(where(x == high, total, x - low));
     }},
    {"integers and places",
     [](Graph& g) {
       const Sym x = input(g, {rows, columns}, DType::i64), y = input(g, {rows, columns}, DType::i32);
       output(tt::argmax(x, 1));
       output(tt::sum(x, 1, true) - x);
       output(tt::amin(y, 1, true) < y);
     }},
    {"an input that is overwritten",
     [](Graph& g) {
       const Sym x = input(g, {rows, columns}), y = input(g, {rows, columns});
       output(x - tt::amax(x * y, 1, true), 0);
       output(tt::exp(y));
     }},
    {"an extreme and a sum of what is overwritten",
     [](Graph& g) {
       const Sym x = input(g, {rows, columns}), y = input(g, {rows, columns}, DType::i64);
       output(x * 2, 0);
       output(tt::sum(x, 1));
       output(y * 0, 1);
       output(tt::amin(y, 1));
     }},
    {"f16 that is read under two shapes",
     [](Graph& g) {
       const Sym x = input(g, {columns}, DType::f16), y = {&g, g.reshape(x.id, {1, columns})};
       output(tt::detail::cast_to(tt::exp(tt::detail::cast_to(x, DType::f32)), DType::f16));
       output(tt::detail::cast_to(y, DType::f32) * 2);
     }},
    {"columns in another order",
     [](Graph& g) {
       const Sym x = input(g, {columns, rows}), y = input(g, {rows, columns});
       const Sym t = tt::transpose<0, 1>(x);
       output(tt::sum(t * y, 1));
       output(tt::tanh(t) + y);
     }},
    {"several matrices in another order, of other dtypes",
     [](Graph& g) {
       const Sym x = input(g, {3, columns, rows}, DType::f64), y = input(g, {rows, columns}, DType::i32),
                 z = input(g, {columns, rows}, DType::i64);
       output(tt::permute<0, 2, 1>(x) * 2);
       output(tt::amax(tt::permute<2, 0, 1>(x), 2));
       output(tt::transpose<0, 1>(z) + y);
     }},
    {"products with vectors",
     [](Graph& g) {
       const Sym x = input(g, {rows, columns}), t = input(g, {columns, rows}), v = input(g, {columns}), u = input(g, {rows});
       output(tt::relu(tt::matmul(x, v) + u));
       output(tt::matmul(u, x));
       output(tt::matmul(tt::transpose<0, 1>(t), v));
       output(tt::matmul(u, tt::transpose<0, 1>(t)));
       output(tt::matmul(v, v));
     }},
    {"a product and what follows it",
     [](Graph& g) {
       const Sym x = input(g, {rows, 24}), w = input(g, {24, columns}), bias = input(g, {columns}), scale = input(g, {rows, 1});
       const Sym y = tt::matmul(x, w) + bias;
       output(tt::relu(y) * scale);
       output(where(y > 0.5, scale, y));
     }},
    {"products of which few elements add up",
     [](Graph& g) {
       const Sym x = input(g, {rows, 3}), w = input(g, {3, columns}), bias = input(g, {columns}), scale = input(g, {rows, 1}),
                 p = input(g, {2, rows, 4}, DType::f64), q = input(g, {2, columns, 4}, DType::f64);
       const Sym y = tt::matmul(x, w) + bias;
       output(y * scale);
       output(tt::matmul(p, tt::permute<0, 2, 1>(q)) * 2);
     }},
    {"sums down columns", [](Graph& g) { output(tt::sum(input(g, {rows, columns}) * 0.5, 0) + 1); }},
};
struct Size {
  std::int64_t rows, columns;
};
constexpr Size sizes[] = {{2, 2},  {3, 0},  {0, 3},  {5, 16},    {3000, 3}, {61, 1},   {90, 4},   {35, 8},  {50, 10},  {20, 17}, {700, 7},  {300, 33},  {129, 64},  {41, 100},
                          {37, 256}, {9, 500}, {6, 512},  {5, 513}, {3, 2048}, {3, 2100}, {2, 4096}, {2, 9001}};

}  // namespace

TEST_CASE("rows of every length have the bits of the reference, on both tiers") {
  [[maybe_unused]] int turn = 0;
  for (const Case& c : cases) {
    Graph g;
    c.record(g);
    REQUIRE_FALSE(g.failure);
    const Graph plain = tt::inline_bodies(g);
    const tt::Plan plan = tt::compile_plan(g);
    const tt::NativeProgram native(plan, "rows");
    for (const Size& size : sizes)
      for (const fuzz::Numbers kind : {fuzz::Numbers::ordinary, fuzz::Numbers::special}) {
        tt::SymbolValues symbols;
        symbols.value[0] = size.rows;
        symbols.value[1] = size.columns;
#ifndef TT_ALL_FORMS
        if (turn++ % 3 > 0) continue;  // a third of the sizes, others for each case
#endif
        fuzz::Random random(static_cast<std::uint64_t>(size.rows * 10007 + size.columns));
        std::vector<fuzz::Values> in;
        for (int i : g.inputs) in.push_back(fuzz::random_values(random, g[i].dtype, g[i].shape.size().value(symbols), kind));
        const auto want = fuzz::evaluate(plain, symbols, in);
        const auto check = [&](const char* tier, const fuzz::GuardedResult& r) {
          CAPTURE(c.name);
          CAPTURE(tier);
          CAPTURE(size.rows);
          CAPTURE(size.columns);
          REQUIRE(r.trouble == nullptr);
          tt::Text difference;
          if (const fuzz::Difference d = fuzz::compare(g, want, r.output)) fuzz::describe(difference, g, d);
          CHECK(std::string(difference.c_str()) == "");
        };
        check("tier 0", fuzz::run_tiles(plan, g, symbols, in));
        check("tier 1", fuzz::run_guarded(g, symbols, in, [&](void* const* external) { native.run(external, symbols); }));
        if (size.columns > 32) continue;
        tt::backend::TileProgram::always_compiled = true;
        check("emitted C", fuzz::run_guarded(g, symbols, in, [&](void* const* external) { native.run(external, symbols); }));
        tt::backend::TileProgram::always_compiled = false;
      }
  }
}
TEST_CASE("what is cheaply made of a vector is a part of the kernel that repeats it") {
  const auto kernels = [](void (*record)(Graph&)) {
    Graph g;
    record(g);
    return tt::make_plan(g).kernels.size();
  };
  CHECK(kernels([](Graph& g) { narrow_layer_norm(g, DType::f16); }) == 1);
  CHECK(kernels([](Graph& g) {
          const Sym x = input(g, {rows, columns}), w = input(g, {columns});
          output((x - tt::mean(x, 1, true)) * (w + 1) + (w * 2 - 3));
        }) == 1);
  // Not what lies in memory anyhow, nor what is expensive.
  CHECK(kernels([](Graph& g) {
          const Sym x = input(g, {rows, columns}), w = input(g, {columns}), v = w + 1;
          output(v);
          output((x - tt::mean(x, 1, true)) * v);
        }) == 3);
  CHECK(kernels([](Graph& g) {
          const Sym x = input(g, {rows, columns}), w = input(g, {columns});
          output((x - tt::mean(x, 1, true)) * tt::exp(w));
        }) == 3);
}
TEST_CASE("what is repeated along a row is read again and again, whatever is written meanwhile") {
  const tt::Tensor x = tt::rand({4, 4096}, 1), m = tt::rand({4, 4096}, 2) > 0.5, c = tt::rand({4, 1}, 3), n = (c * 10).to(DType::i32);
  const auto same = [](const auto& f, const auto&... a) {
    const tt::Tensor want = f(a.clone()...), got = tt::compile(f, {.tier = 0})(a...);
    return tt::allclose(want, got, 0, 0);
  };
  CHECK(same([](const tt::Tensor& a, const tt::Tensor& b, const tt::Tensor& o) { return tt::where(b, o, a).sum(0); }, x, m, c));
  CHECK(same([](const tt::Tensor& a, const tt::Tensor& o) { return (a * o.to(DType::f32)).sum(0); }, x, n));
  CHECK(same([](const tt::Tensor& a, const tt::Tensor& o) { return (a * tt::logical_not(o > 0.5).to(DType::f32)).sum(0); }, x, c));
  const tt::Tensor left = tt::rand({70, 30}, 4), right = tt::rand({30, 40}, 5), keep = tt::rand({70, 1}, 6) > 0.5;
  CHECK(same([](const tt::Tensor& a, const tt::Tensor& b, const tt::Tensor& k) { return tt::where(tt::logical_not(k), 0, a.matmul(b)); }, left, right, keep));
  CHECK(same([](const tt::Tensor& a) { return tt::softmax(a, -1); }, tt::rand({100, 5281}, 7).t()));  // its transposition is made in parts, the last of one row
}
