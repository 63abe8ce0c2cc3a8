// Transforms of transforms, to the third order, and of functions that capture variables: on Tensors eager and compiled, on Arrays and in fused functions.
#include <doctest/doctest.h>

#include "tensors.hpp"
#include "tt/tt.hpp"

namespace {

using tt::Tensor;

Tensor ramp(std::int64_t n) { return tt::arange(1, n + 1).to(tt::DType::f64) * 0.5; }
bool close(const Tensor& a, const Tensor& b) { return tt::allclose(a, b, 1e-6, 1e-9); }
/// Of sum(x^3) * sum(x): the third derivatives, written down.
Tensor third_derivatives(const Tensor& x) {
  const std::int64_t n = x.numel();
  Tensor d = tt::zeros({n, n, n}, tt::DType::f64);
  const auto at = [&](std::int64_t i) { return x.select(0, i).item<double>(); };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t k = 0; k < n; ++k) {
        double v = i == j && j == k ? 6 * x.sum().item<double>() : 0;
        if (i == j) v += 6 * at(i);
        if (j == k) v += 6 * at(j);
        if (i == k) v += 6 * at(k);
        d.select(0, i).select(0, j).select(0, k).fill_(v);
      }
  return d;
}

}  // namespace

TEST_CASE("transforms of transforms in any order, to the third") {
  const Tensor x = ramp(3), expected = third_derivatives(x);
  const auto f = [](const Tensor& a) { return (a * a * a).sum() * a.sum(); };
  CHECK(close(tt::jacrev(tt::hessian(f))(x), expected));
  CHECK(close(tt::jacfwd(tt::hessian(f))(x), expected));
  CHECK(close(tt::jacrev(tt::jacrev(tt::grad(f)))(x), expected));
  CHECK(close(tt::jacfwd(tt::jacrev(tt::grad(f)))(x), expected));
  CHECK(close(tt::jacrev(tt::jacfwd(tt::grad(f)))(x), expected));
  CHECK(close(tt::compile(tt::jacrev(tt::hessian(f)))(x), expected));
  CHECK(close(tt::compile(tt::jacfwd(tt::jacrev(tt::grad(f))), {.fullgraph = true})(x), expected));

  const auto summed = [](const Tensor& a) {
    return tt::hessian([](const Tensor& b) { return (b * b * b).sum() * b.sum(); })(a).sum();
  };
  CHECK(close(tt::grad(summed)(x), expected.sum({0, 1})));
  CHECK(close(tt::compile(tt::grad(summed), {.fullgraph = true})(x), expected.sum({0, 1})));
  const auto along = [](const Tensor& a) { return tt::hvp([](const Tensor& b) { return (b * b * b).sum() * b.sum(); }, a, tt::ones_like(a)); };
  CHECK(close(tt::jacrev(along)(x), expected.sum(0)));
  const Tensor xs = tt::stack({x, x * 2}), both = tt::stack({third_derivatives(x), third_derivatives(x * 2)});
  CHECK(close(tt::vmap(tt::jacrev(tt::hessian(f)))(xs), both));
  CHECK(close(tt::compile(tt::vmap(tt::jacrev(tt::hessian(f))))(xs), both));
  CHECK(close(tt::jacrev(tt::vmap(tt::grad(f)))(xs).sum(2), tt::stack({tt::hessian(f)(x), tt::hessian(f)(x * 2)})));
}

TEST_CASE("gradients of each example are one graph without a break, in few kernels") {
  const auto loss = [](const Tensor& v, const Tensor& a) { return (tt::tanh(a * v) * a).sum(); };
  const auto each = tt::compile(tt::vmap(tt::grad(loss), {.in_dims = {tt::none, 0}}), {.fullgraph = true});
  const Tensor v = ramp(4), xs = tt::stack({ramp(4), ramp(4) * 2, ramp(4) * -1});
  std::vector<Tensor> rows;
  for (int k = 0; k < 3; ++k) rows.push_back(tt::grad(loss)(v, xs.select(0, k)));
  CHECK(close(each(v, xs), tt::stack(rows)));
  CHECK(each.kernels() == 1);
}

TEST_CASE("jacrev of what draws is that of one draw") {
  const Tensor rows = tt::jacrev([](const Tensor& x) { return tt::dropout(x, 0.5) * 3; })(tt::ones({8}, tt::DType::f64));
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      const double v = rows[i][j].item<double>();
      CHECK((i == j ? v == 0 || v == 6 : v == 0));
    }
}

TEST_CASE("second derivatives by parts of what was joined") {
  const auto once = [](const Tensor& v) { return tt::grad([](const Tensor& u) { return tt::sin(u).sum(); })(v); };
  const auto twice = [](const Tensor& v) { return tt::grad([](const Tensor& u) { return tt::grad([](const Tensor& t) { return tt::sin(t).sum(); })(u).sum(); })(v); };
  const Tensor w = ramp(3), x = ramp(3) * 2 - 0.7, expected = -tt::sin(w);
  const auto check = [&](const auto& f, const Tensor& right) {
    CHECK(close(f(w, x), right));
    CHECK(close(tt::compile(tt::frozen(f), {.fullgraph = true})(w, x), right));
  };
  check([=](const Tensor& a, const Tensor& b) { return twice(tt::cat({a, b}).slice(0, 0, 3)); }, expected);
  check([=](const Tensor& a, const Tensor& b) { return twice(tt::stack({a, b}).select(0, 0)); }, expected);
  check([=](const Tensor& a, const Tensor& b) { return tt::grad([once](const Tensor& u) { return once(u.slice(0, 0, 3)).sum(); })(tt::cat({a, b})); }, tt::cat({expected, x * 0}));
  check([=](const Tensor& a, const Tensor& b) { return tt::jvp(once, tt::softmax(tt::cat({a, b}), 0).slice(0, 0, 3), a).second; },
        -tt::sin(tt::softmax(tt::cat({w, x}), 0).slice(0, 0, 3)) * w);
  check([=](const Tensor& a, const Tensor& b) {
    return tt::grad([once](const Tensor& u) { return tt::jvp(once, u, tt::ones_like(u)).second.sum(); })(tt::softmax(tt::cat({a, b}), 0).slice(0, 0, 3));
  }, -tt::cos(tt::softmax(tt::cat({w, x}), 0).slice(0, 0, 3)));
}

TEST_CASE("vjp and linearize of functions with graph breaks, inside of captures") {
  const auto broken = [](const Tensor& w) {
    const double k = 1;
    auto [y, back] = tt::vjp([k](const Tensor& v) {
      const Tensor a = tt::sin(v);
      (void)a.sum().item();
      return tt::sin(a) * k;
    }, w);
    return std::get<0>(back(tt::ones_like(y)));
  };
  const Tensor w = ramp(3), diagonal = tt::diag(-tt::sin(tt::sin(w)) * tt::cos(w) * tt::cos(w) - tt::cos(tt::sin(w)) * tt::sin(w));
  CHECK(close(tt::jacrev(broken)(w), diagonal));
  CHECK(close(tt::jacfwd(broken)(w), diagonal));
  CHECK(close(tt::compile(tt::frozen([=](const Tensor& v) { return tt::grad([=](const Tensor& u) { return broken(u).sum(); })(v); }))(w), diagonal.sum(0)));
  const auto along = [](const Tensor& v) {
    const double k = 1;
    const auto l = tt::linearize([k](const Tensor& u) {
      const Tensor a = tt::sin(u);
      (void)a.sum().item();
      return a * k;
    }, v);
    return l.second(tt::ones_like(v)).sum();
  };
  CHECK(close(tt::grad(along)(w), -tt::sin(w)));
  CHECK(close(tt::compile(tt::frozen([=](const Tensor& v) { return tt::grad(along)(v); }))(w), -tt::sin(w)));
  // A gradient that turns out to be constant.
  const auto constant = [](const Tensor& v) {
    const double k = 2;
    const auto h = tt::vjp([k](const Tensor& u) { return tt::grad([k](const Tensor& t) { return (t * k).sum(); })(u); }, v);
    return std::get<0>(h.second(h.first));
  };
  CHECK(close(constant(w), w * 0));
  CHECK(close(tt::compile(tt::frozen(constant))(w), w * 0));
  CHECK(close(tt::vmap(constant)(tt::stack({w, w})), tt::zeros({2, 3}, tt::DType::f64)));
}

TEST_CASE("vjp of functions of several results") {
  struct Two {
    Tensor a, b;
  };
  const Tensor x = ramp(2), w = ramp(2) * 3;
  const auto pair = [](const Tensor& p, const Tensor& q) { return std::pair{p * q, (p * p).sum()}; };
  const auto [y, back] = tt::vjp(pair, x, w);
  const auto [dx, dw] = back(std::pair{tt::ones_like(x), tt::ones_like(y.second) * 10});
  CHECK(close(y.first, x * w));
  CHECK(close(dx, w + x * 20));
  CHECK(close(dw, x));
  const auto in_graph = tt::compile([](const Tensor& p, const Tensor& q) {
    const auto [z, adjoints] = tt::vjp([](const Tensor& r, const Tensor& s) { return Two{r * s, (r * r).sum()}; }, p, q);
    return std::get<0>(adjoints(Two{tt::ones_like(p), z.b}));
  }, {.fullgraph = true});
  CHECK(close(in_graph(x, w), w + x * 2 * (x * x).sum()));
  const double k = 2;  // with a graph break, and a result that has no adjoint
  const auto with_mask = [k](const Tensor& p, const Tensor& q) {
    const auto [z, adjoints] = tt::vjp([k](const Tensor& r, const Tensor& s) { return std::pair{r * s * k, r > 0.7}; }, p, q);
    return std::get<1>(adjoints(std::pair{z.first, z.second}));
  };
  CHECK(close(with_mask(x, w), x * x * w * 4));
  CHECK(close(tt::compile(tt::frozen(with_mask))(x, w), x * x * w * 4));
  CHECK(close(tt::jacrev(with_mask)(x, w), tt::diag(x * w * 8)));
  const auto too_few = tt::compile([](const Tensor& p) {
    const auto [z, adjoints] = tt::vjp([](const Tensor& r) { return std::vector<Tensor>{r, r * 2}; }, p);
    return std::get<0>(adjoints(std::vector<Tensor>{p}));
  });
  CHECK(message([&] { (void)too_few(x); }).find("tt::vjp: 1 adjoints for 2 results.") != std::string::npos);
}

TEST_CASE("of integers there are no derivatives, and forward mode goes through batches of loops") {
  const Tensor i = tt::tensor({1, 2});
  const auto f = [](const Tensor& x) { return x * 2.5; };
  const auto sum = [](const Tensor& x) { return (x * 2.5).sum(); };
  const auto refused = [](const auto& run) { return message([&] { (void)run(); }).find("only floating Tensors have derivatives: dtype is i64") != std::string::npos; };
  CHECK(refused([&] { return tt::jacrev(f)(i); }));
  CHECK(refused([&] { return tt::jacfwd(f)(i); }));
  CHECK(refused([&] { return tt::hessian(sum)(i); }));
  CHECK(refused([&] { return tt::jvp(f, i, i); }));
  CHECK(refused([&] { return tt::vjp(f, i); }));
  CHECK(refused([&] { return tt::compile(tt::frozen([=](const Tensor& x) { return tt::grad(sum)(x); }))(i); }));
  const auto loop = [](const Tensor& x) {
    return tt::vmap([](const Tensor& r) { return tt::while_loop([](const Tensor& q) { return q < 10; }, [](const Tensor& q) { return q * q + 2; }, r); })(x);
  };
  const Tensor x = tt::tensor({0.25, 4.0}).to(tt::DType::f64), d = tt::tensor({2.0, 3.0}).to(tt::DType::f64);
  CHECK(close(tt::jvp(loop, x, d).second, tt::grad([=](const Tensor& v) { return loop(v).sum(); })(x) * d));
}

TEST_CASE("functions that capture variables") {
  Tensor w = ramp(2);
  const Tensor x = tt::tensor({1.0, 4.0}, tt::DType::f64), xs = tt::stack({x, x + 1});
  const auto square = [&](const Tensor& a) { return a * a * w; };
  const auto cube = [&](const Tensor& a) { return (a * a * a * w).sum(); };
  const auto gradient = tt::grad(cube);
  const auto jacobian = tt::jacrev(square);
  const auto forward = tt::jacfwd(square);
  const auto curvature = tt::hessian(cube);
  const auto batched = tt::vmap(square);
  const auto check = [&] {
    CHECK(close(gradient(x), x * x * w * 3));
    CHECK(close(tt::value_and_grad(cube)(x).second, x * x * w * 3));
    CHECK(close(jacobian(x), tt::diag(x * w * 2)));
    CHECK(close(forward(x), tt::diag(x * w * 2)));
    CHECK(close(curvature(x), tt::diag(x * w * 6)));
    CHECK(close(tt::hvp(cube, x, x), x * x * w * 6));
    CHECK(close(batched(xs), xs * xs * w));
    CHECK(close(tt::vmap(gradient)(xs), xs * xs * w * 3));
  };
  check();
  w.mul_(2);
  check();
  w = tt::tensor({1.0, -1.0}, tt::DType::f64);  // another Tensor: seen too
  check();
  const auto compiled = tt::compile([](const Tensor& a, const Tensor& b) { return tt::grad([&](const Tensor& c) { return (c * c * b).sum(); })(a); }, {.fullgraph = true});
  CHECK(close(compiled(x, w), x * w * 2));
  CHECK(close(tt::grad(tt::compile([](const Tensor& a) { return (a * a).sum(); }))(x), x * 2));
}

namespace {
const auto kept_hessian = tt::hessian([](const Tensor& a) { return (a * a * a).sum(); });  // of static storage, made at compile time
}
TEST_CASE("objects of transforms: of static storage, copied, assigned, in a fused function") {
  const Tensor x = ramp(3);
  CHECK(close(kept_hessian(x), tt::diag(x * 6)));
  static const auto jacobian = tt::jacrev([](const Tensor& a) { return a * a; });
  CHECK(close(jacobian(x), tt::diag(x * 2)));
  const auto f = [](const Tensor& a, const Tensor& b) { return (a * b).sum(); };
  auto rows = tt::vmap(f), shared = tt::vmap(f, {.in_dims = {0, tt::none}});
  const Tensor xs = tt::stack({x, x * 2});
  CHECK(close(rows(xs, xs), (xs * xs).sum(1)));
  rows = shared;  // its options come with it
  const auto copy = rows;
  CHECK(close(copy(xs, x), xs.matmul(x)));
  tt::Array<double, 2> a{3, 4};
  const auto cube = [](const auto& v) { return tt::sum(v * v * v); };
  const tt::Array<double, 2, 2> second = tt::fuse(tt::hessian(cube))(a);
  CHECK(second(0, 0) == doctest::Approx(18));
  CHECK(second(1, 0) == 0);
  tt::Array<double, 2, 2> as{{1, 2}, {3, 4}};
  CHECK(message([&] { (void)tt::vmap(cube, {.in_dims = {1}})(as); }).starts_with("tt::vmap: of Arrays the axes are template arguments"));
}

TEST_CASE("on Arrays and in fused functions") {
  using Vector = tt::Array<double, 3>;
  Vector x{1, 2, 3}, v{1, 0, -1};
  const Tensor t = tt::as_tensor(x).clone(), d = tt::as_tensor(v).clone();
  const auto f = [](const auto& a) { return tt::sum(a * a * a) * tt::sum(a); };
  const auto g = [](const auto& a) { return tt::tanh(a) * tt::sum(a); };
  const auto alike = [](auto got, const Tensor& expected) { return close(tt::as_tensor(got), expected); };
  const auto tensors_f = [](const Tensor& a) { return (a * a * a).sum() * a.sum(); };
  const auto tensors_g = [](const Tensor& a) { return tt::tanh(a) * a.sum(); };

  const tt::Array<double, 3, 3> rows = tt::jacrev(g)(x), columns = tt::jacfwd(g)(x), second = tt::hessian(f)(x);
  CHECK(alike(rows, tt::jacrev(tensors_g)(t)));
  CHECK(alike(columns, tt::jacrev(tensors_g)(t)));
  CHECK(alike(second, tt::hessian(tensors_f)(t)));
  const Vector product = tt::hvp(f, x, v);
  CHECK(alike(product, tt::hvp(tensors_f, t, d)));
  const auto [y, back] = tt::vjp(g, x);
  const Vector value = y, adjoint = std::get<0>(back(v));
  CHECK(alike(value, tensors_g(t)));
  CHECK(alike(adjoint, std::get<0>(tt::vjp(tensors_g, t).second(d))));
  const auto [point, map] = tt::linearize(g, x);
  const Vector at_x = point, along = map(v), twice = map(tt::eval(v * 2.0));
  CHECK(alike(at_x, tensors_g(t)));
  CHECK(alike(along, tt::jvp(tensors_g, t, d).second));
  CHECK(alike(twice, tt::jvp(tensors_g, t, d * 2).second));

  const auto cube = [](const auto& a) { return tt::sum(a * a * a); };
  const tt::Array<double, 2> two{1, 2};  // clang takes a million steps at compile time, unless it is told otherwise
  Tensor sixes = tt::zeros({2, 2, 2}, tt::DType::f64);
  for (int k = 0; k < 2; ++k) sixes.select(0, k).select(0, k).select(0, k).fill_(6);
  const tt::Array<double, 2, 2, 2> third = tt::jacrev(tt::hessian(cube))(two), other = tt::jacfwd(tt::jacrev(tt::grad(cube)))(two);
  CHECK(alike(third, sixes));
  CHECK(alike(other, sixes));
  const tt::Array<double, 2> sums = tt::grad([](const auto& a) { return tt::sum(tt::hessian([](const auto& b) { return tt::sum(b * b * b); })(a)); })(two);
  CHECK(alike(sums, sixes.sum({0, 1})));
  const tt::Array<double, 3, 3> fused = tt::fuse([](const auto& a) { return tt::jacrev([](const auto& b) { return tt::tanh(b) * tt::sum(b); })(a) * 2.0; })(x);
  CHECK(alike(fused, tt::jacrev(tensors_g)(t) * 2));
  const auto more = [](const auto& a, const auto& b) { return a * a * b; };
  const tt::Array<double, 3, 3> by_first = tt::jacrev(more)(x, v);
  CHECK(alike(by_first, tt::diag(t * d * 2)));
  const tt::Array<double, 3, 3> by_second = tt::jacfwd<1>(more)(x, v);
  CHECK(alike(by_second, tt::diag(t * t)));
  const auto [by_a, by_b] = tt::jacrev<0, 1>(more)(x, v);
  CHECK(alike(tt::eval(by_a), tt::diag(t * d * 2)));
  CHECK(alike(tt::eval(by_b), tt::diag(t * t)));
}

TEST_CASE("vmap of Arrays and in fused functions") {
  tt::Array<double, 2, 3> xs{{1, 2, 3}, {4, 5, 6}};
  tt::Array<double, 3> w{1, 0, 2};
  tt::Array<double, 3, 2> m{{1, 2}, {3, 4}, {5, 6}};
  const Tensor t = tt::as_tensor(xs).clone(), v = tt::as_tensor(w).clone(), u = tt::as_tensor(m).clone();
  const auto alike = [](auto got, const Tensor& expected) { return close(tt::as_tensor(got), expected); };
  const auto f = [](const auto& x) { return tt::tanh(x) * tt::sum(x); };
  const auto dot = [](const auto& x, const auto& y) { return tt::sum(x * y); };
  const tt::Array<double, 2, 3> each = tt::vmap(f)(xs);
  CHECK(alike(each, tt::tanh(t) * t.sum(1, true)));
  const tt::Array<double, 2> dots = tt::vmap<0, tt::none>(dot)(xs, w);
  CHECK(alike(dots, t.matmul(v)));
  const tt::Array<double, 2, 2> products = tt::vmap<0, tt::none>([](const auto& x, const auto& y) { return tt::matmul(x, y); })(xs, m);
  CHECK(alike(products, t.matmul(u)));
  const tt::Array<double, 2, 3> gradients = tt::vmap(tt::grad([](const auto& x) { return tt::sum(x * x * x); }))(xs);
  CHECK(alike(gradients, t * t * 3));
  const tt::Array<double, 3, 2> behind = tt::vmap<0, tt::OutDim{1}>(f)(xs);
  CHECK(alike(behind, (tt::tanh(t) * t.sum(1, true)).t()));
  const tt::Array<double, 2, 2> last = tt::vmap<0, tt::none, tt::OutDim{-1}>([](const auto& x, const auto& y) { return tt::matmul(x, y); })(xs, m);
  CHECK(alike(last, t.matmul(u).t()));
  const tt::Array<double, 3, 3, 2> turned = tt::vmap<tt::OutDim{2}>(tt::hessian([](const auto& x) { return tt::sum(x * x * x); }))(xs);
  CHECK(alike(turned, tt::diag_embed(t * 6).permute({1, 2, 0})));
  const tt::Array<double, 2, 3, 3> second = tt::vmap(tt::hessian([](const auto& x) { return tt::sum(x * x * x); }))(xs);
  CHECK(alike(second, tt::diag_embed(t * 6)));
  const tt::Array<double, 3, 2> columns = tt::fuse([](const auto& x, const auto& y) {
    return tt::vmap<1, tt::none>([](const auto& a, const auto& b) { return a * tt::sum(b); })(x, y) + 1.0;
  })(xs, w);
  CHECK(alike(columns, t.t() * 3 + 1));
  const tt::Array<double, 2, 3> rows = tt::vmap([](const auto& x) { return tt::softmax<0>(x); })(xs);
  CHECK(alike(rows, tt::softmax(t, 1)));
}
