// Linear algebra through LAPACK: factors multiplied again, solutions put in, derivatives of first and second order by differences, batches, sizes of 0, what is said
// of singular matrices, and captured functions. Skipped, and said, where LAPACK is not installed. (Values against PyTorch: test_operators.cpp.)
#include <doctest/doctest.h>
#include <dlfcn.h>

#include <limits>

#include "tensors.hpp"
#include "tt/dispatch/linalg.hpp"

using tt::DType;
using tt::Tensor;

namespace {

bool has_lapack() {
  if (dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL)) return true;
  MESSAGE("LAPACK is not installed (Debian: liblapack3): nothing tested [SKIPPED linalg]");
  return false;
}
Tensor batch(std::int64_t m, std::int64_t n) { return tt::randn({2, 3, m, n}, 5, {.dtype = DType::f64}); }
Tensor positive(std::int64_t n) {
  const Tensor a = batch(n, n);
  return tt::matmul(a, a.mT()) + tt::eye(n, DType::f64);
}
bool same(const Tensor& a, const Tensor& b) { return tt::allclose(a, b, 1e-10, 1e-10); }
template <class F>
bool twice(const F& f, const Tensor& x) {
  const auto leaf = [&] { return std::vector<Tensor>{x.detach().clone().requires_grad_()}; };
  return tt::gradcheck(f, leaf()) && tt::gradgradcheck(f, leaf(), 1e-6, 1e-4, 1e-3);
}
using List = const std::vector<Tensor>&;

}  // namespace

TEST_CASE("factors give the matrices that they are of") {
  if (!has_lapack()) return;
  for (const auto& [m, n] : {std::pair{4, 4}, {5, 3}, {3, 5}, {0, 3}, {1, 1}}) {
    const Tensor a = batch(m, n);
    const auto [q, r] = tt::linalg::qr(a);
    CHECK(same(tt::matmul(q, r), a));
    CHECK(same(tt::linalg::qr(a, "complete").R.slice(-2, 0, r.size(-2)), r));
    const auto [u, s, vh] = tt::linalg::svd(a, false);
    CHECK(same(tt::matmul(u * s.unsqueeze(-2), vh), a));
    CHECK(shape(tt::linalg::svd(a).Vh) == shape(batch(n, n)));
    const auto [p, l, up] = tt::linalg::lu(a);
    CHECK(same(tt::matmul(tt::matmul(p, l), up), a));
    CHECK(same(tt::matmul(tt::matmul(a, tt::linalg::pinv(a)), a), a));
  }
  const Tensor a = positive(4);
  const Tensor l = tt::linalg::cholesky(a), up = tt::linalg::cholesky(a, true);
  CHECK(same(tt::matmul(l, l.mT()), a));
  CHECK(same(tt::matmul(up.mT(), up), a));
  const auto [w, v] = tt::linalg::eigh(a);
  CHECK(same(tt::matmul(v * w.unsqueeze(-2), v.mT()), a));
  CHECK(same(tt::linalg::eigvalsh(a), w));
}

TEST_CASE("solutions solve") {
  if (!has_lapack()) return;
  const Tensor a = batch(4, 4), b = tt::randn({4, 2}, 6, {.dtype = DType::f64}), v = tt::randn({4}, 7, {.dtype = DType::f64});
  CHECK(same(tt::matmul(a, tt::linalg::solve(a, b)), b.expand({2, 3, 4, 2})));
  CHECK(same(tt::matmul(tt::linalg::solve(a, b.mT(), false), a), b.mT().expand({2, 3, 2, 4})));
  CHECK(same(tt::matmul(a, tt::linalg::solve(a, v).unsqueeze(-1)).squeeze(-1), v.expand({2, 3, 4})));
  CHECK(same(tt::matmul(a, tt::linalg::inv(a)), tt::eye(4, DType::f64).expand({2, 3, 4, 4})));
  CHECK(same(tt::linalg::det(tt::matmul(a, a)), tt::linalg::det(a) * tt::linalg::det(a)));
  CHECK(same(tt::linalg::solve_triangular(tt::tril(a), b, false), tt::linalg::solve(tt::tril(a), b)));
  CHECK(same(tt::linalg::solve_triangular(tt::triu(a), b.mT(), true, false), tt::linalg::solve(tt::triu(a), b.mT(), false)));
  const Tensor tall = batch(6, 3), y = tt::randn({2, 3, 6, 1}, 8, {.dtype = DType::f64}), x = tt::linalg::lstsq(tall, y).solution;
  CHECK(same(tt::matmul(tall.mT(), tt::matmul(tall, x) - y), tt::zeros({2, 3, 3, 1}, DType::f64)));
  CHECK(same(tt::linalg::matrix_exp(a * 0), tt::eye(4, DType::f64).expand({2, 3, 4, 4})));
  CHECK(same(tt::matmul(tt::linalg::matrix_exp(a), tt::linalg::matrix_exp(-a)), tt::eye(4, DType::f64).expand({2, 3, 4, 4})));
  CHECK(numbers(tt::linalg::matrix_rank(tt::ones({3, 3}))) == Numbers{1});
  CHECK(same(tt::linalg::matrix_power(a, -2), tt::linalg::inv(tt::matmul(a, a))));
  CHECK(same(tt::linalg::matrix_norm(a, "nuc"), tt::linalg::svdvals(a).sum({-1})));
}

TEST_CASE("small matrices, solved without a call of the library, are solved as it solves large ones") {
  if (!has_lapack()) return;
  for (int n = 1; n <= 9; ++n) {
    CAPTURE(n);
    const Tensor a = tt::randn({n, n}, n, {.dtype = DType::f64}), b = tt::randn({n, 3}, n + 20, {.dtype = DType::f64}), one = tt::eye(9, DType::f64);
    const Tensor large = tt::block_diag({a, one}), right = tt::cat({b, tt::zeros({9, 3}, DType::f64)}, 0);
    const auto corner = [n](const Tensor& t) { return t.slice(0, 0, n); };
    CHECK(same(tt::linalg::solve(a, b), corner(tt::linalg::solve(large, right))));
    CHECK(same(tt::linalg::solve(a, b.mT(), false), tt::linalg::solve(large, right.mT(), false).slice(1, 0, n)));
    CHECK(same(tt::linalg::inv(a), corner(tt::linalg::inv(large)).slice(1, 0, n)));
    CHECK(same(tt::linalg::det(a), tt::linalg::det(large)));
    const Tensor positive = tt::matmul(a, a.mT()) + tt::eye(n, DType::f64);
    CHECK(same(tt::linalg::cholesky(positive), corner(tt::linalg::cholesky(tt::block_diag({positive, one}))).slice(1, 0, n)));
    for (const bool upper : {false, true})
      for (const bool unit : {false, true}) {
        const auto solved = [&](const Tensor& t, const Tensor& y) { return tt::linalg::solve_triangular(upper ? tt::triu(t) : tt::tril(t), y, upper, true, unit); };
        CHECK(same(solved(a, b), corner(solved(large, right))));
      }
    const auto [p, l, u] = tt::linalg::lu(a);
    CHECK(same(tt::matmul(p, tt::matmul(l, u)), a));
    Tensor singular = a.clone();
    singular.slice(1, n - 1, n).zero_();
    CHECK(tt::linalg::inv_ex(singular).info.item() == n);
    CHECK(tt::linalg::det(singular).item() == 0);
    CHECK(tt::linalg::cholesky_ex(-positive).info.item() == 1);
    Tensor unknown = positive.clone();
    unknown[n - 1][n - 1] = NAN;
    CHECK(tt::linalg::cholesky_ex(unknown).info.item() == n);
  }
}

TEST_CASE("derivatives of first and second order") {
  if (!has_lapack()) return;
  const Tensor a = tt::randn({2, 3, 3}, 9, {.dtype = DType::f64}) + tt::eye(3, DType::f64) * 2, b = tt::randn({2, 3, 2}, 10, {.dtype = DType::f64});
  CHECK(twice([&](List x) { return tt::linalg::solve(x[0], b); }, a));
  CHECK(twice([](List x) { return tt::linalg::inv(x[0]); }, a));
  CHECK(twice([](List x) { return tt::linalg::det(x[0]); }, a));
  CHECK(twice([](List x) { return tt::linalg::slogdet(x[0]).logabsdet; }, a));
  CHECK(twice([](List x) { return tt::linalg::cholesky(tt::matmul(x[0], x[0].mT()) + tt::eye(3, DType::f64)); }, a));
  CHECK(twice([](List x) { return tt::linalg::qr(x[0]).R; }, a));
  CHECK(twice([](List x) { return tt::linalg::eigvalsh(x[0] + x[0].mT()); }, a));
  CHECK(twice([](List x) { return tt::linalg::svdvals(x[0]); }, a));
  CHECK(twice([&](List x) { return tt::linalg::solve_triangular(x[0], b, true); }, a));
  CHECK(twice([](List x) { return tt::linalg::matrix_exp(x[0] * 0.5); }, a));
  CHECK(twice([](List x) { return tt::linalg::pinv(x[0]); }, tt::randn({3, 2}, 11, {.dtype = DType::f64})));
}

TEST_CASE("what cannot be solved is said with its line") {
  if (!has_lapack()) return;
  const auto at = [](int line) { return std::string("\n  at ") + __FILE__ + ":" + std::to_string(line); };
  CHECK(message([] { tt::linalg::inv(tt::zeros({2, 2})); }) == "tt::linalg_inv: the matrix is singular: shape (2, 2)." + at(__LINE__));
  CHECK(message([] { tt::linalg::inv(tt::stack({tt::eye(2), tt::ones({2, 2})})); }) == "tt::linalg_inv: the matrix is singular, number 1 of the batch: shape (2, 2, 2)." + at(__LINE__));
  CHECK(message([] { tt::linalg::cholesky(-tt::eye(2)); }) == "tt::linalg_cholesky: the matrix is not positive definite: shape (2, 2)." + at(__LINE__));
  CHECK(message([] { tt::linalg::inv(tt::ones({2, 3})); }) == "tt::linalg_inv: matrices of shape (2, 3) are not square." + at(__LINE__));
  CHECK(message([] { tt::linalg::inv(tt::ones({2, 2}, DType::i64)); }).starts_with("tt::linalg_inv: dtype is not accepted: i64."));
}

TEST_CASE("eigenvalues of matrices without symmetry: pairs of parts, vectors, derivatives") {
  const Tensor a = tt::tensor({{{0.0, -1.0, 0.5}, {1.0, 0.0, 0.25}, {0.0, 0.5, 2.0}}, {{1.0, 2.0, 3.0}, {0.5, -1.0, 1.0}, {0.25, 1.0, 3.0}}}, DType::f64);
  const auto [values, vectors] = tt::linalg::eig(a);
  REQUIRE(values.shape() == tt::Shape{2, 3, 2});
  REQUIRE(vectors.shape() == tt::Shape{2, 3, 3, 2});
  const Tensor l = values.unsqueeze(1), re = vectors.select(-1, 0), im = vectors.select(-1, 1), lr = l.select(-1, 0), li = l.select(-1, 1);
  CHECK(tt::allclose(tt::matmul(a, re), re * lr - im * li, 1e-12, 1e-12));
  CHECK(tt::allclose(tt::matmul(a, im), re * li + im * lr, 1e-12, 1e-12));
  CHECK(tt::allclose((re * re + im * im).sum(1), tt::ones({2, 3}, DType::f64), 1e-12, 1e-12));
  CHECK(values.index({0, tt::Slice(), 1}).abs().max().item() > 0.9);  // the first turns round
  CHECK(tt::equal(tt::linalg::eigvals(a), values));
  CHECK_THROWS_AS(tt::linalg::eigvals(a * std::numeric_limits<double>::quiet_NaN()), tt::Error);
  CHECK(tt::gradcheck([](List t) { return (tt::linalg::eigvals(t[0]) * tt::tensor({0.5, -1.0}, DType::f64)).square().sum(); }, {a.clone().requires_grad_()}));
  // What a phase does not change: the sizes of the vectors' elements, and products with conjugates.
  const auto sizes = [](List t) { return (tt::linalg::eig(t[0]).eigenvectors.square().sum(-1) * tt::arange(3).to(DType::f64)).square().sum(); };
  CHECK(tt::gradcheck(sizes, {a.clone().requires_grad_()}));
  CHECK(tt::gradgradcheck([](List t) { return tt::linalg::eigvals(t[0]).square().sum(); }, {a.clone().requires_grad_()}));
  const auto f = tt::compile([](const Tensor& x) { return tt::linalg::eigvals(x).square().sum(); }, {.fullgraph = true});
  CHECK(f(a).item() == doctest::Approx(values.square().sum().item()));
  CHECK(tt::linalg::eigvals(tt::zeros({0, 0})).shape() == tt::Shape{0, 2});
  CHECK(message([] { tt::linalg::eig(tt::zeros({2, 3})); }).find("tt::linalg_eig") == 0);
}

TEST_CASE("singular matrices: the gradient of a determinant is what is left without a row and a column; other gradients are infinite, as PyTorch's") {
  const Tensor a = tt::tensor({{1.0, 2.0, 3.0}, {2.0, 4.0, 6.0}, {0.0, 0.0, 1.0}}, DType::f64).requires_grad_();
  const Tensor det = tt::linalg::det(a);
  CHECK(det.item() == 0);
  det.backward();
  CHECK(tt::allclose(a.grad(), tt::tensor({{4.0, -2.0, 0.0}, {-2.0, 1.0, 0.0}, {0.0, 0.0, 0.0}}, DType::f64), 1e-12, 1e-12));
  const Tensor zero = tt::zeros({2, 2}, DType::f64).requires_grad_();
  tt::linalg::det(zero).backward();
  CHECK(tt::equal(zero.grad(), tt::zeros({2, 2}, DType::f64)));
  CHECK(tt::linalg::det(tt::tensor({{1.0, 2.0}, {3.0, 4.0}}, DType::f64)).item() == -2);
  CHECK(tt::linalg::det(tt::zeros({0, 0}, DType::f64)).item() == 1);
  const Tensor triangle = tt::tensor({{1.0, 2.0, 3.0}, {0.0, 0.0, 2.0}, {0.0, 0.0, 4.0}}, DType::f64), x = tt::linalg::solve_triangular(triangle, tt::ones({3, 1}, DType::f64), true);
  CHECK(x.index({0, 0}).item() == -INFINITY);
  CHECK(x.index({1, 0}).item() == INFINITY);
  CHECK(x.index({2, 0}).item() == 0.25);
}

TEST_CASE("the second derivative of singular values of a square matrix without full rank") {
  if (!has_lapack()) return;
  const Tensor x = tt::ones({2, 2}, DType::f64).requires_grad_(), w = tt::tensor(Numbers{1, 2, 3, 4}, DType::f64).reshape({2, 2});
  const Tensor expected = tt::tensor(Numbers{-0.75, -0.25, 0.25, 0.75}, DType::f64).reshape({2, 2});  // PyTorch's
  const auto largest = [](const Tensor& a) { return tt::linalg::svdvals(a)[0]; };
  const Tensor g = tt::grad({largest(x)}, {x}, {}, true, true)[0];
  CHECK(same(tt::grad({(g * w).sum()}, {x})[0], expected));
  CHECK(same(tt::compile([](const Tensor& a, const Tensor& by) {
    return tt::grad([](const Tensor& b, const Tensor& v) { return (tt::grad([](const Tensor& c) { return tt::linalg::svdvals(c)[0]; })(b) * v).sum(); })(a, by);
  })(x.detach(), w), expected));
}

TEST_CASE("captured without a break, for other sizes too") {
  if (!has_lapack()) return;
  auto f = tt::compile([](const Tensor& a, const Tensor& b) { return tt::relu(tt::linalg::solve(a * 2, b)) + tt::linalg::slogdet(a).logabsdet; });
  for (const int n : {3, 5, 3}) {
    const Tensor a = tt::randn({n, n}, n, {.dtype = DType::f64}) + tt::eye(n, DType::f64) * 4, b = tt::randn({n, 2}, n + 1, {.dtype = DType::f64});
    CHECK(same_bits(f(a, b), tt::relu(tt::linalg::solve(a * 2, b)) + tt::linalg::slogdet(a).logabsdet));
  }
  const tt::Text text = f.explain();
  CHECK_FALSE(contains(std::string(text.begin(), text.end()), "graph breaks"));
}

TEST_CASE("factors: LU, LDL, reflectors, polar, and solutions where the rank is not full") {
  if (!has_lapack()) return;
  const auto made = [](const tt::IntList& shape, int seed) { return tt::randn(shape, seed, {.dtype = DType::f64}); };
  for (const auto& [m, n] : {std::pair{4, 4}, {3, 5}, {6, 4}}) {
    CAPTURE(m);
    const Tensor a = made({2, m, n}, m);
    const auto [p, l, u] = tt::linalg::lu(a);
    CHECK(same(tt::matmul(tt::matmul(p, l), u), a));
    CHECK(tt::gradcheck([](List x) { return tt::linalg::lu_factor(x[0]).LU; }, {a.clone().requires_grad_()}));
    CHECK(tt::gradgradcheck([](List x) { return tt::linalg::lu_factor(x[0]).LU; }, {a.clone().requires_grad_()}));
    CHECK(same_bits(tt::linalg::lu_factor(a.clone().requires_grad_()).LU, tt::linalg::lu_factor(a).LU));
    const auto [r, tau] = tt::linalg::geqrf(a);
    const Tensor q = tt::linalg::ormqr(r, tau, tt::eye(m, DType::f64).expand({2, m, m}));
    CHECK(same(tt::matmul(q.slice(-1, 0, std::min(m, n)), tt::triu(r).slice(-2, 0, std::min(m, n))), a));
    CHECK(same(tt::linalg::ormqr(r, tau, q.mT(), false), tt::eye(m, DType::f64).expand({2, m, m})));
    if (m >= n) CHECK(same(tt::linalg::householder_product(r, tau), q.slice(-1, 0, n)));
    if (m >= n) {
      const auto [side, length] = tt::linalg::polar(a);
      CHECK(same(tt::matmul(side, length), a));
      CHECK(same(length, length.mT()));
    }
    const auto [q2, r2] = tt::linalg::qr(a);
    CHECK(same(tt::matmul(q2, r2), a));
    CHECK(tt::gradcheck([](List x) { return tt::linalg::qr(x[0]).R; }, {a.clone().requires_grad_()}));
    CHECK(tt::gradcheck([](List x) { return tt::linalg::svd(x[0]).S; }, {a.clone().requires_grad_()}));
  }
  const Tensor a = made({2, 4, 4}, 1), b = made({2, 4, 3}, 2), s = a + a.mT();
  const auto f = tt::linalg::lu_factor(a);
  CHECK(same(tt::matmul(a, tt::linalg::lu_solve(f.LU, f.pivots, b)), b));
  CHECK(same(tt::matmul(a.mT(), tt::linalg::lu_solve(f.LU, f.pivots, b, true, true)), b));
  CHECK(same(tt::matmul(tt::linalg::lu_solve(f.LU, f.pivots, b.mT(), false), a), b.mT()));
  CHECK(same(tt::matmul(tt::linalg::lu_solve(f.LU, f.pivots, b.mT(), false, true), a.mT()), b.mT()));
  const auto d = tt::linalg::ldl_factor(s);
  CHECK(same(tt::matmul(s, tt::linalg::ldl_solve(d.LD, d.pivots, b)), b));
  CHECK(same(tt::matmul(tt::linalg::matrix_sqrth(tt::matmul(a, a.mT())), tt::linalg::matrix_sqrth(tt::matmul(a, a.mT()))), tt::matmul(a, a.mT())));
  CHECK(same(tt::tensordot(a.reshape({2, 2, 2, 2, 2}).slice(0, 0, 1).reshape({2, 2, 2, 2}), tt::linalg::tensorsolve(a[0].reshape({2, 2, 2, 2}), b[0].slice(1, 0, 1).reshape({2, 2})), 2), b[0].slice(1, 0, 1).reshape({2, 2})));

  const Tensor thin = tt::matmul(made({5, 2}, 3), made({2, 4}, 4)), y = made({5, 3}, 5);  // of rank 2
  const auto least = tt::linalg::lstsq(thin, y, {}, "gelsd");
  CHECK(numbers(least.rank) == Numbers{2});
  CHECK(same(least.solution, tt::matmul(tt::linalg::pinv(thin), y)));
  CHECK(least.singular_values.numel() == 4);
  CHECK(least.residuals.numel() == 0);
  const auto full = tt::linalg::lstsq(made({5, 2}, 6), y, {}, "gels");
  CHECK(same(full.residuals, tt::square(tt::matmul(made({5, 2}, 6), full.solution) - y).sum({-2})));
  CHECK(tt::gradcheck([](List x) { return tt::linalg::pinv(tt::matmul(x[0], x[1])); }, {made({5, 2}, 3).requires_grad_(), made({2, 4}, 4).requires_grad_()}));
  // several tolerances for one matrix
  const auto inverses = [](const Tensor& x) { return (tt::linalg::pinv(x, {.atol = tt::full({2}, 1e-9, {.dtype = DType::f64})}) * tt::arange(18).to(DType::f64).reshape({2, 3, 3})).sum(); };
  const Tensor eager = made({3, 3}, 3).requires_grad_(), recorded = made({3, 3}, 3).requires_grad_();
  inverses(eager).backward();
  tt::compile(inverses)(recorded).backward();
  CHECK(eager.grad().shape() == tt::IntList{3, 3});
  CHECK(same(eager.grad(), recorded.grad()));
  CHECK(tt::gradcheck([&](List x) { return inverses(x[0]); }, {made({3, 3}, 3).requires_grad_()}));
  CHECK(numbers(tt::linalg::matrix_rank(tt::eye(3) * 1e-3, {.atol = tt::tensor(1e-2)})) == Numbers{0});
  CHECK(message([&] { tt::linalg::lu_solve(f.LU, tt::full({2, 4}, 9, {.dtype = DType::i32}), b); }).find("a pivot is out of range: 9") != std::string::npos);
  CHECK(message([&] { tt::linalg::ldl_solve(d.LD, tt::full({2, 4}, 0, {.dtype = DType::i32}), b); }).find("a pivot is out of range: 0") != std::string::npos);
  const auto compiled = tt::compile([](const Tensor& x) { return tt::linalg::lu_factor(x).LU * 2; }, {.fullgraph = true});
  CHECK(same_bits(compiled(a), tt::linalg::lu_factor(a).LU * 2));
}

TEST_CASE("a few singular values of a large matrix") {
  if (!has_lapack()) return;
  tt::manual_seed(3);
  for (const auto& [m, n] : {std::pair{30, 20}, std::pair{20, 30}}) {
    const Tensor a = tt::matmul(tt::randn({2, m, 4}, 7, {.dtype = DType::f64}), tt::randn({2, 4, n}, 8, {.dtype = DType::f64}));  // of rank 4
    const auto [u, s, v] = tt::svd_lowrank(a, 5);
    CHECK(u.shape() == tt::Shape{2, m, 5});
    CHECK(v.shape() == tt::Shape{2, n, 5});
    CHECK(same(tt::matmul(u * s.unsqueeze(-2), v.mT()), a));
    CHECK(same(s.slice(-1, 0, 4), tt::linalg::svdvals(a).slice(-1, 0, 4)));
    const Tensor mean = a.mean({-2}, true);
    const auto p = tt::pca_lowrank(a);
    CHECK(p.S.shape() == tt::Shape{2, 6});
    CHECK(same(tt::matmul(p.U * p.S.unsqueeze(-2), p.V.mT()), a - mean));
    CHECK(same(p.S, tt::svd_lowrank(a, 6, 2, mean).S));
  }
  CHECK(tt::call_results("svd_lowrank", {tt::randn({9, 8})}).size() == 3);
  CHECK_THROWS_AS(tt::pca_lowrank(tt::randn({4, 3}), 4), tt::Error);
  CHECK_THROWS_AS(tt::svd_lowrank(tt::randn({4})), tt::Error);
}
TEST_CASE("functions whose names end in _ex say which matrices have no solution, and throw only if they are asked to") {
  if (!has_lapack()) return;
  const Tensor a = tt::tensor({2.0, 1.0, 0.5, 3.0}).to(DType::f64).reshape({2, 2}), both = tt::stack({a, tt::zeros({2, 2}, DType::f64)}), b = tt::ones({2, 2, 1}, DType::f64);
  const Tensor eyes = tt::stack({tt::eye(3, DType::f64), -tt::eye(3, DType::f64)}), symmetric = both + both.mT();
  CHECK(numbers(tt::linalg::inv_ex(both).info) == Numbers{0, 1});
  CHECK(same(tt::linalg::inv_ex(both).inverse.select(0, 0), tt::linalg::inv(a)));
  CHECK(numbers(tt::linalg::solve_ex(both, b).info) == Numbers{0, 1});
  CHECK(numbers(tt::linalg::lu_factor_ex(both).info) == Numbers{0, 1});
  CHECK(numbers(tt::linalg::ldl_factor_ex(symmetric).info) == Numbers{0, 1});
  CHECK(numbers(tt::linalg::cholesky_ex(eyes).info) == Numbers{0, 1});
  CHECK(numbers(tt::linalg::cholesky_ex(eyes, true).L.select(0, 0)) == numbers(tt::eye(3, DType::f64)));
  for (const auto& call : {+[](const Tensor& x) { (void)tt::linalg::inv_ex(x, true); }, +[](const Tensor& x) { (void)tt::linalg::inv(x); }, +[](const Tensor& x) { (void)tt::linalg::lu_factor(x); },
                           +[](const Tensor& x) { (void)tt::linalg::lu_factor_ex(x, true); }, +[](const Tensor& x) { (void)tt::linalg::solve_ex(x, tt::ones({2, 2, 1}, DType::f64), true, true); }})
    CHECK_THROWS_AS(call(both), tt::Error);
  CHECK_THROWS_AS((void)tt::linalg::cholesky_ex(eyes, false, true), tt::Error);
  CHECK(tt::linalg::lu(both).U.shape() == tt::Shape{2, 2, 2});  // as in PyTorch, of singular matrices too
  const auto f = tt::compile([](const Tensor& x) {
    const auto r = tt::linalg::inv_ex(x);
    return r.inverse * (1 - r.info.reshape({-1, 1, 1}));
  }, {.fullgraph = true});
  CHECK(same(f(both).select(0, 0), tt::linalg::inv(a)));
}

TEST_CASE("condition numbers of every norm") {
  if (!has_lapack()) return;
  const Tensor a = tt::tensor({2.0, 1.0, 0.5, 3.0}).to(DType::f64).reshape({2, 2});
  const auto near = [](const Tensor& c, double want) { return std::fabs(c.item() - want) < 1e-9 * want; };
  CHECK(near(tt::linalg::cond(a), 2.1189850423633376));
  CHECK(near(tt::linalg::cond(a, -2), 1 / 2.1189850423633376));
  CHECK(near(tt::linalg::cond(a, 1), 2.5454545454545454));
  CHECK(near(tt::linalg::cond(a, -1), 1.3636363636363635));
  CHECK(near(tt::linalg::cond(a, INFINITY), 2.5454545454545454));
  CHECK(near(tt::linalg::cond(a, "fro"), 2.590909090909091));
  CHECK(near(tt::linalg::cond(a, "nuc"), 4.59090909090909));
  CHECK(near(tt::call("linalg.cond", {a, "nuc"}), 4.59090909090909));
  CHECK(numbers(tt::linalg::cond(tt::stack({a, a * 0}), 1))[1] == INFINITY);
}

TEST_CASE("complete factors of a matrix of more rows than columns are compiled, and have no derivative") {
  if (!has_lapack()) return;
  const auto triangle = tt::compile([](const Tensor& x) { return tt::linalg::qr(x, "complete").R; });
  const Tensor a = tt::rand({4, 3}, DType::f64), x = a.clone().requires_grad_();
  CHECK(same_bits(triangle(x).detach(), tt::linalg::qr(a, "complete").R));
  CHECK(contains(message([&] { triangle(x).sum().backward(); }), "linalg.qr has no derivative of complete factors"));
  CHECK(contains(message([&] { tt::linalg::qr(x, "complete").R.sum().backward(); }), "linalg.qr has no derivative of complete factors"));
  const Tensor wide = tt::rand({3, 5}, DType::f64).requires_grad_();
  const auto of_wide = tt::compile([](const Tensor& t) { return tt::linalg::qr(t).R; });
  CHECK(tt::gradcheck([](List t) { return tt::linalg::qr(t[0]).R; }, {wide}));
  CHECK(same(tt::grad({of_wide(wide).sum()}, {wide})[0], tt::grad({tt::linalg::qr(wide).R.sum()}, {wide})[0]));
}

TEST_CASE("factors of matrices that are not square, captured: sizes that a constant is padded by are those of the call") {
  if (!has_lapack()) return;
  const auto f = tt::compile([](const Tensor& x) {
    const auto [p, l, u] = tt::linalg::lu(x);
    return tt::matmul(tt::matmul(p, l), u);
  });
  for (const tt::IntList& s : {tt::IntList{2, 3, 5}, tt::IntList{2, 5, 3}, tt::IntList{2, 4, 7}, tt::IntList{3, 4, 7}, tt::IntList{2, 6, 6}, tt::IntList{4, 7, 2}}) {
    const Tensor x = tt::randn(s, 3, {.dtype = DType::f64}).requires_grad_();
    CHECK(same(f(x.detach()), x.detach()));
    const Tensor y = f(x);
    CHECK(same(y.detach(), x.detach()));
    (y * y).sum().backward();
    CHECK(tt::allclose(x.grad(), 2 * x.detach(), 1e-9, 1e-9));
  }
}
