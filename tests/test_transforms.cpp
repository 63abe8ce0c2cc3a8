// vmap and jvp: against loops over examples and finite differences, of every kind of primitive, composed with each other, with grad and
// compile; what they make is one graph.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tt/tt.hpp>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

bool close(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  return a.numel() == 0 || tt::amax(tt::abs(a.to(DType::f64) - b.to(DType::f64)) - tt::abs(b.to(DType::f64)) * tolerance).item<double>() <= tolerance;
}
/// What is captured has no variables: the function it calls is this one. (A type for each function would be compiled for each.)
using Function = Tensor (*)(const Tensor&, const Tensor&);
Function tested = nullptr;
/// vmap(f) against each example in turn; batches of the first argument, the second is the same for all.
void check_batch(const char* what, Function f, const Tensor& xs, const Tensor& w) {
  CAPTURE(std::string(what));
  std::vector<Tensor> rows, both;
  for (std::int64_t k = 0; k < xs.size(0); ++k) {
    rows.push_back(f(xs.select(0, static_cast<int>(k)), w));
    both.push_back(f(xs.select(0, static_cast<int>(k)), w * static_cast<double>(k + 1)));
  }
  CHECK(close(tt::vmap(f, {.in_dims = {0, tt::none}})(xs, w), tt::stack(rows)));
  std::vector<Tensor> ws;
  for (std::int64_t k = 0; k < xs.size(0); ++k) ws.push_back(w * static_cast<double>(k + 1));
  CHECK(close(tt::vmap(f)(xs, tt::stack(ws)), tt::stack(both)));
  tested = f;
  const auto one_graph = tt::compile([](const Tensor& x, const Tensor& v) { return tt::vmap(tested)(x, v); }, {.tier = 0, .fullgraph = true});
  CHECK(close(one_graph(xs, tt::stack(ws)), tt::stack(both)));
}
/// The derivative along a direction, eager and captured, against differences in f64.
void check_derivative(const char* what, Function f, const Tensor& a, const Tensor& b) {
  CAPTURE(std::string(what));
  const Tensor x = a.to(DType::f64), w = b.to(DType::f64), dx = tt::rand(x.shape(), 5).to(DType::f64) - 0.5, dw = tt::rand(w.shape(), 6).to(DType::f64) - 0.5;
  const double e = 1e-6;
  const Tensor by_differences = (f(x + dx * e, w + dw * e) - f(x - dx * e, w - dw * e)) / (2 * e);
  const auto [y, dy] = tt::jvp(f, std::tuple{x, w}, std::tuple{dx, dw});
  CHECK(close(y, f(x, w), 1e-12));
  CHECK(close(dy, by_differences, 1e-6));
  CHECK(!(y.requires_grad() || dy.requires_grad()));
  tested = f;
  const auto c = tt::compile(
      [](const Tensor& p, const Tensor& q, const Tensor& dp, const Tensor& dq) { return tt::jvp(tested, std::tuple{p, q}, std::tuple{dp, dq}); }, {.tier = 0, .fullgraph = true});
  const auto [cy, cdy] = c(x, w, dx, dw);
  CHECK(close(cy, y, 1e-12));
  CHECK(close(cdy, dy, 1e-9));
}
void check_both(const char* what, Function f, const Tensor& xs, const Tensor& w) {
  check_batch(what, f, xs, w);
  check_derivative(what, f, xs.select(0, 0), w);
}

const Tensor xs = tt::rand({4, 3, 5}, 1) + 0.25, w = tt::rand({3, 5}, 2) + 0.5;

}  // namespace

TEST_CASE("every kind of primitive has a batching rule and a derivative forward") {
  check_both("arithmetic", [](const Tensor& x, const Tensor& v) { return (x * v - x / v + 2.0) * x - v; }, xs, w);
  check_both("functions", [](const Tensor& x, const Tensor& v) { return tt::exp(x) * tt::tanh(v) + tt::log(x) + tt::sqrt(v) * tt::erf(x); }, xs, w);
  check_both("choices", [](const Tensor& x, const Tensor& v) { return tt::where(x > v, x * v, tt::maximum(x, v * 0.9)) + tt::abs(x - v); }, xs, w);
  check_both("sums", [](const Tensor& x, const Tensor& v) { return x.sum(0) * v.sum(0, false) + (x * v).mean(); }, xs, w);
  check_both("extremes", [](const Tensor& x, const Tensor& v) { return tt::amax(x * v, 1) + tt::amin(x, 1) * tt::amax(v); }, xs, w);
  check_both("views", [](const Tensor& x, const Tensor& v) { return x.t().slice(0, 1, 5, 2).unsqueeze(1) * v.t().slice(0, 0, 2).unsqueeze(1).expand({2, 2, 3}) + x.reshape({15}).sum(); }, xs, w);
  check_both("products", [](const Tensor& x, const Tensor& v) { return x.matmul(v.t()) + v.matmul(x.t()) + x.select(0, 0).matmul(v.select(0, 1)); }, xs, w);
  check_both("softmax", [](const Tensor& x, const Tensor& v) { return tt::softmax(x * v, 1) - tt::log_softmax(x, 0) + tt::var(x, 1).sum(); }, xs, w);
  check_both("joins", [](const Tensor& x, const Tensor& v) { return tt::cat({x, v * x, v}, 1) + tt::stack({x.sum(1), v.sum(1)}, 1).sum(); }, xs, w);
  check_both("padding", [](const Tensor& x, const Tensor& v) { return tt::pad(x, {1, 2, 0, 1}, 3.0).sum(1) + tt::pad(v * x, {0, 0, 1, 0}).sum(); }, xs, w);
  check_both("parts", [](const Tensor& x, const Tensor& v) { return tt::slice_scatter(x * 2, v.slice(1, 0, 2), 1, 1) + tt::slice_scatter(v, x.slice(1, 0, 2), 1, 3); }, xs, w);
  check_both("windows", [](const Tensor& x, const Tensor& v) { return x.unfold(1, 3, 1).sum(2) * v.slice(1, 0, 3); }, xs, w);
}

TEST_CASE("convolutions, whose images or weights or both are batches") {
  const Tensor images = tt::rand({3, 2, 4, 6, 5}, 3) - 0.5, weights = tt::rand({6, 2, 3, 2}, 4) - 0.5;
  const auto f = [](const Tensor& x, const Tensor& v) { return tt::conv2d(x, v, {}, {.stride = 2, .padding = 1, .groups = 2}); };
  check_both("groups", f, images, weights);
  const std::vector<Tensor> each{f(images.select(0, 0), weights), f(images.select(0, 0), weights * 2)};
  CHECK(close(tt::vmap(f, {.in_dims = {tt::none, 0}})(images.select(0, 0), tt::stack({weights, weights * 2})), tt::stack(each)));
  check_both("pools", [](const Tensor& x, const Tensor& v) { return tt::max_pool2d(x) * v.sum(); }, images, weights);
}

TEST_CASE("kernels of their own and control flow") {
  const auto taken = [](const Tensor& x, const Tensor& v) { return x.index_select(1, tt::tensor({2, 0, 0}).to(DType::i64)) * v.slice(1, 0, 3); };
  check_both("index_select", taken, xs, w);
  check_both("a branch for each example", [](const Tensor& x, const Tensor& v) {
    return tt::cond(x.sum() > 11.0, [&](const Tensor& t) { return t * v; }, [&](const Tensor& t) { return t + v; }, x);
  }, xs, w);
  check_both("a scan", [](const Tensor& x, const Tensor& v) {
    return tt::scan([&](const Tensor& h, const Tensor& row) { const Tensor n = tt::tanh(h + row); return std::pair{n, n * h}; }, v.select(0, 0), x).second;
  }, xs, w);
}

TEST_CASE("axes of arguments and results, structs, nested batches") {
  struct Pair {
    Tensor a, b;
  };
  const auto f = [](const Pair& p, const Tensor& v) { return Pair{p.a * v, p.b.sum()}; };
  const Tensor last = xs.permute({1, 2, 0});
  const Pair r = tt::vmap(f, {.in_dims = {-1, tt::none}, .out_dims = -1})(Pair{last, last * 2}, w);
  CHECK(close(r.a, (xs * w).permute({1, 2, 0})));
  CHECK(close(r.b, (xs * 2).sum({1, 2})));
  const auto dot = [](const Tensor& x, const Tensor& y) { return (x * y).sum(); };
  const Tensor a = tt::rand({4, 5}, 1), b = tt::rand({6, 5}, 2);
  const auto inner = [](const Tensor& x, const Tensor& ys) { return tt::vmap([](const Tensor& p, const Tensor& q) { return (p * q).sum(); }, {.in_dims = {tt::none, 0}})(x, ys); };
  CHECK(close(tt::vmap(inner, {.in_dims = {0, tt::none}})(a, b), a.matmul(b.t())));
  CHECK(close(tt::vmap(dot)(a, a), (a * a).sum(1)));
}

TEST_CASE("gradients of each example, as one graph") {
  const auto loss = [](const Tensor& v, const Tensor& x) { return (tt::tanh(x * v).sum(1) * x.sum(1)).sum(); };
  const auto each = tt::vmap([](const Tensor& v, const Tensor& x) {
    return tt::grad([](const Tensor& p, const Tensor& q) { return (tt::tanh(q * p).sum(1) * q.sum(1)).sum(); })(v, x);
  }, {.in_dims = {tt::none, 0}});
  std::vector<Tensor> rows;
  for (int k = 0; k < 4; ++k) rows.push_back(tt::grad(loss)(w, xs.select(0, k)));
  CHECK(close(each(w, xs), tt::stack(rows)));

  Tensor v = w.clone().requires_grad_(), u = w.clone().requires_grad_();
  tt::vmap(loss, {.in_dims = {tt::none, 0}})(v, xs).sum().backward();
  for (int k = 0; k < 4; ++k) loss(u, xs.select(0, k)).backward();
  CHECK(close(v.grad(), u.grad()));
}

TEST_CASE("derivatives of derivatives, forward over reverse and back") {
  const auto f = [](const Tensor& x) { return (tt::exp(x) * x * x).sum(); };
  const Tensor x = tt::rand({4}, 1), d = tt::rand({4}, 2);
  const auto [g, hv] = tt::jvp([](const Tensor& t) { return tt::grad([](const Tensor& p) { return (tt::exp(p) * p * p).sum(); })(t); }, x, d);
  const Tensor second = tt::exp(x) * (x * x + 4 * x + 2);
  CHECK(close(g, tt::grad(f)(x)));
  CHECK(close(hv, second * d));
  const auto c = tt::compile([](const Tensor& p, const Tensor& q) {
    return tt::jvp([](const Tensor& t) { return tt::grad([](const Tensor& s) { return (tt::exp(s) * s * s).sum(); })(t); }, p, q).second;
  }, {.fullgraph = true});
  CHECK(close(c(x, d), second * d));
  const auto back = tt::compile([](const Tensor& p, const Tensor& q) {
    return tt::grad([](const Tensor& s, const Tensor& t) { return tt::jvp([](const Tensor& r) { return (tt::exp(r) * r * r).sum(); }, s, t).second; })(p, q);
  }, {.fullgraph = true});
  CHECK(close(back(x, d), second * d));
}

TEST_CASE("gradient modes around and inside, Tensors that a function holds, primals that a captured function makes") {
  const Tensor x = tt::rand({3}, 1), d = tt::rand({3}, 2);
  const auto f = [](const Tensor& t) {
    Tensor still;
    {
      const tt::NoGrad off;
      still = t * 2;
    }
    return still * t;
  };
  const auto along = [](const Tensor& t, const Tensor& v) {
    return tt::jvp([](const Tensor& s) { Tensor still; { const tt::NoGrad off; still = s * 2; } return still * s; }, t, v).second;
  };
  const auto c = tt::compile(along, {.fullgraph = true});
  CHECK(close(along(x, d), x * 4 * d));  // forward mode goes on under NoGrad, as in PyTorch
  CHECK(close(c(x, d), x * 4 * d));
  CHECK(close(tt::jvp(f, x, d).second, x * 4 * d));
  CHECK(close(tt::linearize(f, x).second(d), x * 2 * d));  // by the tape
  {
    const tt::NoGrad off;
    CHECK(close(along(x, d), x * 4 * d));
    CHECK(close(tt::compile(along, {.fullgraph = true})(x, d), x * 4 * d));
    CHECK(!tt::jvp(f, x, d).second.requires_grad());
  }

  Tensor held = x.clone().requires_grad_();
  (tt::jvp([held](const Tensor& t) { return t * t * held; }, x, d).second.sum() + held.sum()).backward();
  CHECK(close(held.grad(), x * d * 2 + 1));
  Tensor u = d.clone().requires_grad_();
  const auto back = tt::vjp([](const Tensor& t) { return t * t; }, x).second;
  (std::get<0>(back(u)).sum() + u.sum()).backward();
  CHECK(close(u.grad(), x * 2 + 1));

  const auto holds = [](const Tensor& t, const Tensor& v) { return std::get<0>(tt::vjp([v](const Tensor& s) { return s * s * v; }, t).second(v)); };
  CHECK(close(holds(x, d), x * d * d * 2));
  CHECK(close(tt::compile(holds)(x, d), x * d * d * 2));

  const auto made = [](const Tensor& a) { return a * tt::jvp([a](const Tensor& y) { return a * y * y; }, tt::ones({}), tt::ones({})).second; };
  const Tensor three = tt::full({}, 3.0);
  CHECK(close(tt::compile(made)(three), tt::full({}, 18.0)));
  Tensor p = three.clone().requires_grad_(), q = three.clone().requires_grad_();
  made(p).backward();
  tt::compile(made)(q).backward();
  CHECK(close(p.grad(), tt::full({}, 12.0)));
  CHECK(close(q.grad(), tt::full({}, 12.0)));

  const auto loop = [](const Tensor& t, const Tensor& v) {
    return tt::jvp([](const Tensor& s) { return tt::while_loop([](const Tensor& r) { return r.sum() < 100; }, [](const Tensor& r) { return r * r; }, s + 1); }, t, v).second;
  };
  CHECK(close(tt::compile(loop)(x, d), loop(x, d)));
}

TEST_CASE("vjp gives a result and what takes adjoints back") {
  const auto f = [](const Tensor& x, const Tensor& v) { return tt::exp(x) * v + x; };
  const Tensor x = xs.select(0, 0), u = tt::rand({3, 5}, 4), u2 = tt::rand({3, 5}, 5);
  const auto [y, back] = tt::vjp(f, x, w);
  CHECK(close(y, f(x, w)));
  CHECK(!y.requires_grad());
  for (const Tensor& a : {u, u2}) {
    const auto [dx, dw] = back(a);
    CHECK(close(dx, (tt::exp(x) * w + 1) * a));
    CHECK(close(dw, tt::exp(x) * a));
    CHECK(!dx.requires_grad());
  }
  const auto c = tt::compile([](const Tensor& p, const Tensor& q, const Tensor& a) {
    const auto [value, adjoint] = tt::vjp([](const Tensor& s, const Tensor& t) { return tt::exp(s) * t + s; }, p, q);
    const auto [dp, dq] = adjoint(a);
    return std::tuple{value, dp, dq};
  }, {.fullgraph = true});
  const auto [cy, cx, cw] = c(x, w, u);
  CHECK(close(cy, y));
  CHECK(close(cx, (tt::exp(x) * w + 1) * u));
  CHECK(close(cw, tt::exp(x) * u));
}

TEST_CASE("Jacobians and Hessians") {
  const auto f = [](const Tensor& x, const Tensor& v) { return tt::tanh(x.matmul(v)) * x.sum(); };
  const Tensor x = tt::rand({2, 3}, 1), v = tt::rand({3, 4}, 2);
  std::vector<Tensor> rows;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      Tensor p = x.clone().requires_grad_();
      rows.push_back(tt::grad({f(p, v).select(0, i).select(0, j)}, {p})[0]);
    }
  const Tensor expected = tt::stack(rows).reshape({2, 4, 2, 3});
  CHECK(close(tt::jacrev(f)(x, v), expected));
  CHECK(close(tt::jacfwd(f)(x, v), expected));
  const auto c = tt::compile([](const Tensor& p, const Tensor& q) {
    const auto g = [](const Tensor& a, const Tensor& b) { return tt::tanh(a.matmul(b)) * a.sum(); };
    return tt::jacrev(g)(p, q) - tt::jacfwd(g)(p, q);
  }, {.fullgraph = true});
  CHECK(tt::amax(tt::abs(c(x, v))).item<float>() < 1e-6f);

  const auto loss = [](const Tensor& p) { return (p * p * p).sum() + p.select(0, 0).sum() * p.select(0, 1).sum(); };
  const Tensor h = tt::hessian(loss)(x), d = tt::rand({2, 3}, 3);
  CHECK(h.shape() == tt::Shape{2, 3, 2, 3});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      const float own = i == j ? 6 * x.reshape({6}).select(0, i).item<float>() : 0.0f, cross = i / 3 != j / 3 ? 1.0f : 0.0f;
      CHECK(h.reshape({6, 6}).select(0, i).select(0, j).item<float>() == doctest::Approx(own + cross).epsilon(1e-5));
    }
  CHECK(close(tt::hvp(loss, x, d), h.reshape({6, 6}).matmul(d.reshape({6})).reshape({2, 3})));
}

TEST_CASE("Jacobians and Hessians by several arguments, and of several results") {
  const auto f = [](const Tensor& x, const Tensor& v) { return tt::tanh(x.matmul(v)) * x.sum(); };
  const auto turned = [f](const Tensor& v, const Tensor& x) { return f(x, v); };
  const Tensor x = tt::rand({2, 3}, 1), v = tt::rand({3, 4}, 2), by_x = tt::jacrev(f)(x, v), by_v = tt::jacrev(turned)(v, x);
  CHECK(by_v.shape() == tt::Shape{2, 4, 3, 4});
  const auto both = [&](const auto& d) { return close(std::get<0>(d), by_x) && close(std::get<1>(d), by_v); };
  CHECK(close(tt::jacrev<1>(f)(x, v), by_v));
  CHECK(close(tt::jacfwd<1>(f)(x, v), by_v));
  CHECK(both(tt::jacrev<0, 1>(f)(x, v)));
  CHECK(both(tt::jacfwd<0, 1>(f)(x, v)));
  CHECK(both(tt::compile(tt::jacrev<0, 1>(f), {.fullgraph = true})(x, v)));
#ifdef TT_ALL_FORMS
  const auto pair = [f](const Tensor& p, const Tensor& q) { return std::tuple{f(p, q), p.sum(0) * q.sum(1)}; };
  const auto reverse = tt::jacrev<1, 0>(pair)(x, v), forward = tt::jacfwd<1, 0>(pair)(x, v);
  CHECK(close(std::get<0>(std::get<0>(reverse)), by_v));
  CHECK(close(std::get<1>(std::get<0>(forward)), by_x));
  CHECK(std::get<0>(std::get<1>(reverse)).shape() == tt::Shape{3, 3, 4});
  CHECK(close(std::get<0>(std::get<1>(reverse)), std::get<0>(std::get<1>(forward))));
  CHECK(close(std::get<1>(tt::jacfwd(pair)(x, v)), tt::jacrev([](const Tensor& p, const Tensor& q) { return p.sum(0) * q.sum(1); })(x, v)));
#endif

  const auto loss = [](const Tensor& a, const Tensor& b) { return (a * a * b).sum(); };
  const Tensor a = tt::rand({3}, 3), b = tt::rand({3}, 4);
  const auto [aa_ab, ba_bb] = tt::hessian<0, 1>(loss)(a, b);
  CHECK(close(std::get<0>(aa_ab), tt::diag(b * 2)));
  CHECK(close(std::get<1>(aa_ab), tt::diag(a * 2)));
  CHECK(close(std::get<0>(ba_bb), tt::diag(a * 2)));
  CHECK(close(std::get<1>(ba_bb), tt::zeros({3, 3})));
  CHECK(close(tt::hessian<0>(loss)(a, b), tt::diag(b * 2)));
}

TEST_CASE("on Arrays, at compile time") {
  using Matrix = tt::Array<double, 3, 5>;
  const auto f = [](const auto& x, const auto& v) { return tt::tanh(x * v) * tt::amax<0>(x) - tt::sum<0>(tt::exp(v)); };
  const Tensor x = xs.select(0, 0).to(DType::f64), v = w.to(DType::f64), dx = tt::rand({3, 5}, 8).to(DType::f64), dv = tt::rand({3, 5}, 9).to(DType::f64);
  const auto g = [](const Tensor& p, const Tensor& q) { return tt::tanh(p * q) * tt::amax(p, 0) - tt::exp(q).sum(0); };
  const auto [y, dy] = tt::jvp(f, std::tuple{tt::to_array<Matrix>(x), tt::to_array<Matrix>(v)}, std::tuple{tt::to_array<Matrix>(dx), tt::to_array<Matrix>(dv)});
  const auto [ty, tdy] = tt::jvp(g, std::tuple{x, v}, std::tuple{dx, dv});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) {
      CHECK(y(i, j) == doctest::Approx(ty.select(0, i).select(0, j).item<double>()).epsilon(1e-12));
      CHECK(dy(i, j) == doctest::Approx(tdy.select(0, i).select(0, j).item<double>()).epsilon(1e-9));
    }
  const auto second = [](const auto& p) {
    return tt::jvp([](const auto& q) { return tt::grad([](const auto& r) { return tt::sum(r * r * r); })(q); }, p, p * 0.0 + 1.0).second;
  };
  const Matrix six = tt::fuse(second)(tt::to_array<Matrix>(x));
  CHECK(six(1, 2) == doctest::Approx(6 * x.select(0, 1).select(0, 2).item<double>()));
}

TEST_CASE("sizes are symbols, and where a body looks at elements examples run one by one") {
  const auto f = tt::vmap([](const Tensor& x, const Tensor& v) { return (x * v).sum(0); }, {.in_dims = {0, tt::none}});
  for (const std::int64_t n : {3, 5, 8}) CHECK(close(f(tt::rand({n, 3, 5}, n), w), (tt::rand({n, 3, 5}, n) * w).sum(1)));
  const auto looks = tt::vmap([](const Tensor& x) { return x.sum().item<float>() > 11 ? x * 2 : x; });
  std::vector<Tensor> rows;
  for (int k = 0; k < 4; ++k) rows.push_back(xs.select(0, k).sum().item<float>() > 11 ? xs.select(0, k) * 2 : xs.select(0, k));
  CHECK(close(looks(xs), tt::stack(rows)));
}

TEST_CASE("mistakes") {
  const auto at = [](int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); };
  const auto product = [](const Tensor& x, const Tensor& y) { return x * y; };
  CHECK(message([&] { tt::vmap(product)(xs, w); }) == "tt::vmap: numbers of examples differ: 4 and 3." + at(__LINE__));
  CHECK(message([&] { tt::vmap(product, {.in_dims = {tt::none, tt::none}})(xs, w); }).starts_with("tt::vmap: no argument has examples."));
  CHECK(message([&] { tt::vmap(product)(tt::ones({}), w); }).starts_with("tt::vmap: argument 0 has a Tensor without axes, and in_dims gives it one."));
  CHECK(message([&] { tt::vmap(product, {.in_dims = {3, 0}})(xs, w); }).starts_with("tt::vmap: axis is out of range: 3 "));
  CHECK(message([&] { tt::jvp([](const Tensor& x) { return x; }, xs, w); }).starts_with("tt::jvp: tangents are not like what they are tangents of: f32 (3, 5) for f32 (4, 3, 5)."));
}

namespace {
struct Layer {
  Tensor weight, bias;
  Tensor operator()(const Tensor& x) const { return tt::tanh(x.matmul(weight) + bias); }
};
}  // namespace

TEST_CASE("vmap: examples in chunks, random numbers, an axis for each result") {
  const Tensor rows = tt::randn({7, 3}, 5);
  const auto f = [](const Tensor& x, const Tensor& scale) { return std::pair<Tensor, Tensor>(tt::tanh(x * scale).sum(), x.unsqueeze(1) * scale); };
  const Tensor scale = tt::randn({3}, 6);
  const auto whole = tt::vmap(f, {.in_dims = {0, tt::none}})(rows, scale);
  for (const int chunk : {1, 2, 3, 7, 100}) {
    const auto parts = tt::vmap(f, {.in_dims = {0, tt::none}, .out_dims = {0, 1}, .chunk_size = chunk})(rows, scale);
    CHECK(same_bits(parts.first, whole.first));
    CHECK(same_bits(parts.second.transpose(0, 1).contiguous(), whole.second.contiguous()));
  }
  const auto inside = tt::compile([](const Tensor& x, const Tensor& v) { return tt::vmap([](const Tensor& p, const Tensor& q) { return (p * q).sum(); }, {.in_dims = {0, tt::none}, .chunk_size = 2})(x, v); },
                                  {.tier = 0, .fullgraph = true});
  CHECK(close(inside(rows, scale), rows.matmul(scale)));
  CHECK(message([&] { tt::vmap(f, {.in_dims = {0, tt::none}, .out_dims = {0, 0, 0}})(rows, scale); }).starts_with("tt::vmap: 3 out_dims for 2 results."));
  CHECK(message([&] { tt::vmap(f, {.in_dims = {0, tt::none}, .chunk_size = -1})(rows, scale); }).starts_with("tt::vmap: chunk_size is negative"));

  const auto draws = [](const Tensor& x) { return tt::rand({2}) + x.sum() * 0 + tt::rand({}); };
  CHECK(message([&] { tt::vmap(draws)(rows); }).starts_with("tt::vmap: the function draws random numbers (rand)."));
  CHECK(message([&] { tt::vmap(draws, {.randomness = "some"})(rows); }).starts_with("tt::vmap: randomness is 'some'."));
  tt::manual_seed(3);
  const Tensor alike = tt::vmap(draws, {.randomness = "same"})(rows), apart = tt::vmap(draws, {.randomness = "different"})(rows);
  for (int k = 1; k < 7; ++k) {
    CHECK(same_bits(alike[k].contiguous(), alike[0].contiguous()));
    CHECK_FALSE(same_bits(apart[k].contiguous(), apart[0].contiguous()));
  }
  tt::manual_seed(3);
  CHECK(close(tt::rand({2}) + tt::rand({}), alike[0]));  // those of one call
  const auto inner = [](const Tensor& row) { return tt::vmap([](const Tensor& x) { return x * 0 + tt::rand({}); }, {.randomness = "different"})(row); };
  const Tensor nested = tt::vmap(inner, {.randomness = "same"})(rows);
  CHECK(same_bits(nested[1].contiguous(), nested[0].contiguous()));
  CHECK_FALSE(nested[0][0].item() == nested[0][1].item());
}

TEST_CASE("linearize: one run of the function, many tangents") {
  int runs = 0;
  const auto f = [&runs](const Tensor& x, const Tensor& y) {
    ++runs;
    return std::pair<Tensor, Tensor>(tt::exp(x * y), (x - y).sum());
  };
  const Tensor x = tt::randn({4}, 1), y = tt::randn({4}, 2);
  const auto [value, map] = tt::linearize(f, x, y);
  const int before = runs;
  for (int k = 0; k < 3; ++k) {
    const Tensor dx = tt::randn({4}, 10 + k), dy = tt::randn({4}, 20 + k);
    const auto got = map(dx, dy), want = tt::jvp(f, std::tuple(x, y), std::tuple(dx, dy)).second;
    CHECK(close(got.first, want.first));
    CHECK(close(got.second, want.second));
  }
  CHECK(before == 2);
  CHECK(close(value.first, tt::exp(x * y)));
  CHECK(message([&] { (void)map(tt::ones({3}), y); }).starts_with("tt::linearize: tangents are not like"));
  const auto inside = tt::compile([](const Tensor& p, const Tensor& d) {
    const auto both = tt::linearize([](const Tensor& q) { return tt::sin(q) * q; }, p);
    return both.second(d) + both.second(d * 2);
  }, {.tier = 0, .fullgraph = true});
  CHECK(close(inside(x, y), 3 * y * (tt::cos(x) * x + tt::sin(x))));
  Tensor v = x.clone().requires_grad_();  // differentiable in turn
  tt::linearize([](const Tensor& q) { return q * q * q; }, v).second(tt::ones({4})).sum().backward();
  CHECK(close(v.grad(), 6 * x));
}

TEST_CASE("functional_call: a module with other Tensors, differentiated and mapped") {
  const Layer own{tt::randn({3, 2}, 1), tt::zeros({2})};
  const Tensor x = tt::randn({5, 3}, 2), other = tt::randn({3, 2}, 3), b = tt::ones({2});
  CHECK(close(tt::functional_call(own, {other, b}, x), tt::tanh(x.matmul(other) + b)));
  CHECK(close(own(x), tt::tanh(x.matmul(own.weight))));
  CHECK(message([&] { (void)tt::functional_call(own, {other}, x); }).starts_with("tt::functional_call: 1 Tensors for a module of 2."));
  const auto each = tt::vmap([&](const Tensor& weight, const Tensor& bias) { return tt::functional_call(own, {weight, bias}, x); });
  const Tensor all = each(tt::stack({own.weight, other}), tt::stack({own.bias, b}));  // an ensemble
  CHECK(close(all[0], own(x)));
  CHECK(close(all[1], tt::functional_call(own, {other, b}, x)));
}

TEST_CASE("what a function holds is differentiated by from outside, and is what it is at each call") {
  const Tensor x0 = tt::tensor({1.0, 5.0}), w0 = tt::tensor({2.0, 3.0});
  const Tensor outer = tt::grad([&](const Tensor& w) {
    const Tensor g = tt::grad([&](const Tensor& x) { return (w * x * x).sum(); })(x0);
    return (g * g).sum();
  })(w0);
  CHECK(numbers(outer) == Numbers{16, 600});
  Tensor leaf = w0.clone().requires_grad_();
  CHECK(tt::grad([&](const Tensor& x) { return (leaf * x * x).sum(); })(x0).requires_grad());
  CHECK_FALSE(tt::grad([&](const Tensor& x) { return (w0 * x * x).sum(); })(x0).requires_grad());
  {
    const tt::NoGrad off;
    CHECK_FALSE(tt::grad([&](const Tensor& x) { return (leaf * x * x).sum(); })(x0).requires_grad());
  }
  static Tensor held;
  for (const double q : {2.0, 3.0}) {
    held = tt::full({2}, q);
    CHECK(numbers(tt::jacrev([](const Tensor& x) { return (x * held).sum(); })(x0)) == Numbers{q, q});
    CHECK(numbers(tt::vmap([](const Tensor& x) { return x * held.sum(); })(x0)) == Numbers{2 * q, 10 * q});
  }
  CHECK(numbers(tt::vmap([&](const Tensor& x) {
          try {
            return x * w0;
          } catch (...) {
            return x * 0;
          }
        })(tt::ones({1, 2}))) == Numbers{2, 3});
}
TEST_CASE("vmap of what gives no Tensor; the same draws in every chunk") {
  const Tensor x = tt::ones({5, 3});
  CHECK(contains(message([&] { (void)tt::vmap([](const Tensor&) { return 3; })(x); }), "gives no Tensor"));
  CHECK(contains(message([&] { (void)tt::vmap([](const Tensor&) { return std::vector<Tensor>{}; })(x); }), "gives no Tensor"));
  CHECK(contains(message([&] { (void)tt::vmap([](const Tensor&) { return Tensor(); })(x); }), "gives no Tensor"));
  CHECK(contains(message([&] { (void)tt::vmap([](const Tensor& row) { return std::pair{row, Tensor()}; })(x); }), "undefined"));
  int calls = 0;
  const auto varying = tt::vmap([&calls](const Tensor& row) { return std::vector<Tensor>(row.sum().item() == 3 && ++calls < 3 ? 2 : 1, row); });
  CHECK(contains(message([&] { (void)varying(x); }), "2 Tensors for one example, and 1 for another"));
  const Tensor drawn = tt::vmap([](const Tensor& row) { return row * 0 + tt::rand({3}); }, {.randomness = "same", .chunk_size = 2})(x);
  CHECK(numbers((drawn - drawn[0]).abs().sum()) == Numbers{0});
}
TEST_CASE("forward mode sees what is written under NoGrad, recorded or not") {
  const Tensor x = tt::tensor({1.0, 2.0}), u = tt::ones_like(x);
  const auto check = [&](const auto& f, double want) {
    const auto along = [f](const Tensor& p, const Tensor& t) { return tt::jvp(f, p, t).second; };
    CHECK(along(x, u).template item<double>() == doctest::Approx(want));
    CHECK(tt::vmap(along)(x.unsqueeze(0), u.unsqueeze(0)).template item<double>() == doctest::Approx(want));
    CHECK(tt::jacfwd(f)(x).sum().template item<double>() == doctest::Approx(want));
  };
  check([](const Tensor& p) {
    Tensor h = p.sin();
    { const tt::NoGrad off; h.slice(0, 0, 1).mul_(2); }
    return h.sum();
  }, 2 * std::cos(1.0) + std::cos(2.0));
  check([](const Tensor& p) {
    Tensor h = tt::zeros({2});
    { const tt::NoGrad off; h.copy_(p); }
    return h.sum();
  }, 2);
  check([](const Tensor& p) {
    Tensor h = p * 1;
    { const tt::NoGrad off; h.mul_(0.5); }
    return h.sum();
  }, 1);
}
