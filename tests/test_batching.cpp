// Ops with kernels inside vmap: those that say how they take a batch are one call in the batched graph, not a loop over examples; values and gradients are those of the loop,
// whichever of the arguments have examples.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tt/tt.hpp>

#include "tensors.hpp"
#include "tt/graph/batch.hpp"

namespace {

using tt::DType;
using tt::Tensor;

Tensor made(const tt::IntList& shape, int seed) { return tt::randn(shape, seed, {.dtype = DType::f64}); }
bool close(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && a.dtype() == b.dtype() && tt::allclose(a.to(DType::f64), b.to(DType::f64), 1e-10, 1e-11); }

/// f(x, y) for examples of both and of each alone; `loops`: how many of these may go row by row (a bit each: both, x, y).
template <class F>
void check(const char* what, const F& f, const Tensor& xs, const Tensor& ys, int loops = 0) {
  CAPTURE(std::string(what));
  for (int kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    const bool of_x = kind != 2, of_y = kind != 1;
    std::vector<Tensor> rows;
    for (std::int64_t k = 0; k < xs.size(0); ++k) rows.push_back(f(xs.select(0, of_x ? static_cast<int>(k) : 0), ys.select(0, of_y ? static_cast<int>(k) : 0)));
    const Tensor x = of_x ? xs : xs.select(0, 0), y = of_y ? ys : ys.select(0, 0);
    tt::VmapOptions options;
    options.in_dims = {of_x ? tt::InDim(0) : tt::InDim(tt::none), of_y ? tt::InDim(0) : tt::InDim(tt::none)};
    CHECK(close(tt::vmap(f, options)(x, y), tt::stack(rows)));
    const auto traced = tt::trace(f, xs.select(0, 0), ys.select(0, 0));
    tt::Vec<int> by;
    if (of_x) by.push_back(0);
    if (of_y) by.push_back(1);
    const tt::Graph g = tt::vmap_of(traced.graph, by, xs.size(0).value());
    bool loop = false;
    for (int i = 0; i < g.size(); ++i) loop = loop || tt::is_control(g[i]);
    CHECK(loop == ((loops >> kind & 1) != 0));
  }
}

TEST_CASE("indices, order and running sums are one call") {
  const Tensor x = made({3, 4, 5}, 1), y = made({3, 4, 5}, 2), places = tt::remainder(tt::arange(30), 4).reshape({3, 2, 5}), vectors = tt::remainder(tt::arange(18) * 5, 4).reshape({3, 6});
  check("gather", [](const Tensor& a, const Tensor& i) { return tt::gather(a, 0, i); }, x, places);
  check("scatter_add", [](const Tensor& a, const Tensor& i) { return tt::scatter_add(a, 0, i, a); }, x, places);
  check("index_select", [](const Tensor& a, const Tensor& i) { return tt::index_select(a, 0, i); }, x, vectors, 0b101);
  check("index_select from the end", [](const Tensor& a, const Tensor& i) { return tt::index_select(a, -2, i); }, x, vectors, 0b101);
  check("sort", [](const Tensor& a, const Tensor& b) { return tt::sort(a * b, 0).values; }, x, y);
  check("places of the largest", [](const Tensor& a, const Tensor& b) { return tt::topk(a + b, 2).indices; }, x, y);
  check("argsort", [](const Tensor& a, const Tensor& b) { return tt::argsort(a + b, 0); }, x, y);
  check("cumsum", [](const Tensor& a, const Tensor& b) { return tt::cumsum(a, 0) * tt::cumsum(b, -1); }, x, y);
  check("cumprod", [](const Tensor& a, const Tensor& b) { return tt::cumprod(a + b, 0); }, x, y);
  check("prod", [](const Tensor& a, const Tensor& b) { return tt::prod(a + b, 1); }, x, y);
  check("cummax", [](const Tensor& a, const Tensor& b) { return tt::cummax(a - b, 0).values; }, x, y);
  check("median", [](const Tensor& a, const Tensor& b) { return tt::median(a - b, 0).values; }, x, y);
  check("a sum of numbers", [](const Tensor& a, const Tensor& b) { return tt::cumsum(a.sum() + b.sum(), 0); }, x, y, 0b111);  // no axis to go along
}

TEST_CASE("factorisations of matrices are one call") {
  try {
    (void)tt::linalg::inv(tt::eye(2));
  } catch (const tt::Unavailable&) {
    MESSAGE("LAPACK is not installed (Debian: liblapack3): not tested [SKIPPED linalg]");
    return;
  }
  const Tensor a = made({3, 4, 4}, 5), b = made({3, 4, 2}, 6);
  check("solve", [](const Tensor& m, const Tensor& v) { return tt::linalg::solve(m, v); }, a, b);
  check("inv and det", [](const Tensor& m, const Tensor& v) { return tt::matmul(tt::linalg::inv(m), v) * tt::linalg::det(m); }, a, b);
  check("cholesky", [](const Tensor& m, const Tensor& v) { return tt::matmul(tt::linalg::cholesky(tt::matmul(m, m.mT()) + tt::eye(4).to(DType::f64)), v); }, a, b);
  check("qr", [](const Tensor& m, const Tensor& v) { return tt::linalg::qr(tt::matmul(m, v)).R; }, a, b);
  check("svd", [](const Tensor& m, const Tensor& v) { return tt::linalg::svdvals(tt::matmul(m, v)); }, a, b);
  check("eigh", [](const Tensor& m, const Tensor& v) { return tt::linalg::eigh(m + m.mT() + v.sum()).eigenvalues; }, a, b);
  check("gradient", [](const Tensor& m, const Tensor& v) { return tt::grad([](const Tensor& x, const Tensor& y) { return tt::linalg::solve(x, y).square().sum(); })(m, v); }, a, b);
}

TEST_CASE("gradients through one call are those of the loop") {
  const Tensor x = made({3, 4, 5}, 7);
  const auto loss = [](const Tensor& a) { return (tt::cumsum(tt::sort(a, 0).values, 0) * tt::gather(a, 1, tt::argsort(a, 1))).square().sum(); };
  std::vector<Tensor> rows;
  for (int k = 0; k < 3; ++k) rows.push_back(tt::grad(loss)(x.select(0, k)));
  CHECK(close(tt::vmap(tt::grad(loss))(x), tt::stack(rows)));
  const Tensor leaf = x.clone().requires_grad_();
  tt::vmap(loss)(leaf).sum().backward();
  CHECK(close(leaf.grad(), tt::stack(rows)));
}

}  // namespace

TEST_CASE("to as_strided an example is all that there is") {
  const Tensor batch = tt::arange(24).reshape({2, 12}), part = tt::full({2, 3}, 7, tt::DType::i64);
  const auto shown = [](const Tensor& x) { return tt::as_strided(x, {2, 3}, {1, 4}, 1); };
  const auto written = [&](const Tensor& x) { return tt::as_strided_scatter(x, part, {2, 3}, {1, 4}, 1); };
  const Tensor both = tt::vmap(shown)(batch), replaced = tt::vmap(written)(batch);
  for (int k = 0; k < 2; ++k) {
    const Tensor alone = batch[k].clone();
    CHECK(same_bits(both[k].contiguous(), shown(alone).contiguous()));
    CHECK(same_bits(replaced[k].contiguous(), written(alone).contiguous()));
  }
  // along another axis, and of examples of examples
  const Tensor columns = batch.t().contiguous();
  CHECK(same_bits(tt::vmap([](const Tensor& x) { return tt::as_strided(x, {3}, {2}, 2); }, {.in_dims = {1}})(columns).contiguous(), columns.as_strided({2, 3}, {1, 2}, 2).contiguous()));
  const Tensor deep = tt::arange(24).reshape({2, 3, 4});
  const Tensor last = tt::vmap([](const Tensor& rows) { return tt::vmap([](const Tensor& x) { return tt::as_strided(x, {1}, {1}, 3); })(rows); })(deep);
  CHECK(same_bits(last.contiguous(), deep.slice(2, 3, 4).contiguous()));
  CHECK(contains(message([&] { (void)tt::vmap([](const Tensor& x) { return tt::as_strided(x, {2}, {12}, 0); })(batch); }), "reach beyond the storage"));
  // two arguments in one storage
  const std::vector<Tensor> halves = tt::arange(12).reshape({2, 6}).split(3, 1);
  const auto of_second = [](const Tensor&, const Tensor& x) { return tt::as_strided(x, {2}, {1}, 1); };
  CHECK(same_bits(tt::vmap(of_second)(halves[0], halves[1]).contiguous(), tt::tensor({{4, 5}, {10, 11}})));
  const Tensor four = tt::arange(16).reshape({4, 4});
  CHECK(same_bits(tt::vmap(of_second)(four.slice(0, 0, 2), four.slice(0, 2, 4)).contiguous(), tt::tensor({{9, 10}, {13, 14}})));
}
