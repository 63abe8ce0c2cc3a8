// Forward mode on the tape: tangents of Tensors against jvp as a pass, against reverse mode and closed forms; in place, through views, beside the tape.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <tt/tt.hpp>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

bool close(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  if (!a.defined() || !b.defined() || !(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  return a.numel() == 0 || tt::amax(tt::abs(a.to(DType::f64) - b.to(DType::f64)) - tt::abs(b.to(DType::f64)) * tolerance).item<double>() <= tolerance;
}
Tensor tangent(const Tensor& t) { return tt::unpack_dual(t).tangent; }
Tensor primal(const Tensor& t) { return tt::unpack_dual(t).primal; }

struct Cubed {  // with a backward of its own, and something saved that forward makes
  static Tensor forward(tt::FunctionContext& context, const Tensor& x) {
    context.save_for_backward({x});
    return x * x * x;
  }
  static std::vector<Tensor> backward(tt::FunctionContext& context, const std::vector<Tensor>& g) { return {g[0] * context.saved[0] * context.saved[0] * 3}; }
};
struct Exponential {  // which saves its result
  static Tensor forward(tt::FunctionContext& context, const Tensor& x) {
    const Tensor y = tt::exp(x);
    context.save_for_backward({y});
    return y;
  }
  static std::vector<Tensor> backward(tt::FunctionContext& context, const std::vector<Tensor>& g) { return {g[0] * context.saved[0]}; }
};

}  // namespace

TEST_CASE("a dual carries its tangent through ops, for as long as its level is open") {
  const Tensor x = tt::rand({3, 4}, 1), dx = tt::rand({3, 4}, 2), w = tt::rand({4, 2}, 3);
  Tensor late;
  {
    const tt::DualLevel level;
    const Tensor d = tt::make_dual(x, dx);
    CHECK(d.equal(x));
    CHECK(tangent(d).is_same(dx));
    CHECK(!tangent(x).defined());
    CHECK(close(tangent(tt::tanh(d)), dx * (1 - tt::tanh(x).square())));
    CHECK(close(tangent(d.matmul(w)), dx.matmul(w)));
    CHECK(close(tangent((d * d).sum()), (x * dx * 2).sum()));
    CHECK(tangent((d * d).sum()).dim() == 0);
    CHECK(!tangent(d.detach()).defined());
    CHECK(!tangent(d > 0.5).defined());
    CHECK(!tangent(d.round() > 0).defined());
    CHECK(close(tangent(d.t()[1]), dx.t()[1]));
    CHECK(close(tangent(tt::cat({x, d}, 1)), tt::cat({tt::zeros_like(x), dx}, 1)));
    CHECK(close(tangent(tt::sort(d, 1).values), tt::gather(dx, 1, tt::sort(x, 1).indices)));
    CHECK(close(tangent(d.to(DType::f64)), dx.to(DType::f64)));
    CHECK(close(tangent(d.masked_select(x > 0.5)), dx.masked_select(x > 0.5)));
    CHECK(close(tangent(tt::meshgrid({d[0], d[1]}, "ij")[1]), tt::meshgrid({dx[0], dx[1]}, "ij")[1]));
    CHECK(tt::unpack_dual(tt::exp(d)).primal.equal(tt::exp(x)));
    {
      const tt::NoGrad off;  // as in PyTorch: of forward mode it says nothing
      CHECK(close(tangent(d * d), x * dx * 2));
    }
    late = d * 2;
    CHECK(tangent(late).defined());
  }
  CHECK(!tangent(late).defined());
  CHECK((late + 1).equal(x * 2 + 1));
  const tt::DualLevel next;
  CHECK(!tangent(late * tt::make_dual(x, dx).detach()).defined());
  CHECK(close(tangent(late * tt::make_dual(x, dx)), x * 2 * dx));
}

TEST_CASE("what no dual can be is an error") {
  const Tensor x = tt::rand({3}, 1);
  CHECK(message([&] { tt::make_dual(x, x); }).starts_with("tt::make_dual: no tt::DualLevel lives, in which the tangent would count."));
  const tt::DualLevel level;
  CHECK(message([&] { const tt::DualLevel another; }).starts_with("tt::DualLevel: the thread has one already."));
  CHECK(message([&] { tt::make_dual(x, tt::rand({2}, 1)); }).starts_with("tt::make_dual: the tangent is f32 (2,) on cpu, the Tensor f32 (3,) on cpu."));
  CHECK(message([&] { tt::make_dual(x.to(DType::i64), x.to(DType::i64)); }).starts_with("tt::make_dual: only floating Tensors have tangents: dtype is i64."));
  CHECK(message([&] { tt::make_dual(tt::make_dual(x, x), x); }).starts_with("tt::make_dual: the Tensor or its tangent has a tangent already."));
  CHECK(message([&] { tt::make_dual(Tensor(), x); }).starts_with("tt::make_dual: an undefined Tensor."));
  const auto makes = tt::compile([](const Tensor& a) { return tt::make_dual(a, a) * 2; });
  CHECK(message([&] { makes(x); }).starts_with("tt::make_dual: a captured function records no duals."));
  const Tensor d = tt::make_dual(x, x);
  const auto meets = tt::compile(tt::frozen([&d](const Tensor& a) { return a.sum().item() > 0 ? a * d : a; }));
  CHECK(message([&] { meets(x); }).starts_with("tt::compile: a Tensor with a tangent was met in a function that is recorded: f32 (3,)."));
  Tensor changed = x.clone();
  const auto updates = tt::trace([](Tensor t, const Tensor& by) { t.mul_(by); return t.sum(); }, changed, x);
  CHECK(message([&] { updates(changed, d); }).starts_with("tt::traced: the graph changes an argument, and has no tangents then."));
  Tensor grown = tt::make_dual(x, x);
  CHECK(message([&] { grown.resize_({7}); }).starts_with("tt::resize_:"));
}

TEST_CASE("changes in place, by values, through views and of what is seen through views") {
  const Tensor x = tt::rand({4}, 1), dx = tt::rand({4}, 2), zero = tt::zeros({4});
  const tt::DualLevel level;
  const Tensor d = tt::make_dual(x, dx);
  Tensor y = tt::ones({4});
  y.mul_(d);
  CHECK(close(tangent(y), dx));
  y.mul_(y);
  CHECK(close(tangent(y), x * dx * 2));
  y.copy_(x);
  CHECK((!tangent(y).defined() || close(tangent(y), zero)));
  y.exp_();
  CHECK((!tangent(y).defined() || close(tangent(y), zero)));

  Tensor base = tt::zeros({2, 4});
  const Tensor column = base.t()[2];
  base[1] = d * 3;
  CHECK(close(tangent(base), tt::stack({zero, dx * 3})));
  CHECK(close(tangent(column), tt::stack({tt::zeros({}), dx[2] * 3})));
  Tensor row = base[1];
  row.mul_(2);
  CHECK(close(tangent(base), tt::stack({zero, dx * 6})));
  base.mul_(2);
  CHECK(close(tangent(row), dx * 12));
  CHECK(close(tangent(column), tt::stack({tt::zeros({}), dx[2] * 12})));
  base.slice(1, 0, 4, 2).fill_(1);
  CHECK(close(tangent(row), dx * 12 * tt::tensor({0.0f, 1.0f, 0.0f, 1.0f})));
  base.index_put_({tt::tensor({0}), tt::tensor({3})}, d[1]);
  CHECK(close(tangent(base)[0], tt::stack({tt::zeros({}), tt::zeros({}), tt::zeros({}), dx[1]})));
  CHECK(close(tangent(tt::as_strided(base, {2}, {4}, 3)), tt::stack({dx[1], dx[3] * 12})));

  Tensor turned = tt::make_dual(x, dx).reshape({2, 2});
  turned.t_();
  CHECK(close(tangent(turned), dx.reshape({2, 2}).t()));
  Tensor same = tt::make_dual(x, dx) * 1;
  {
    const tt::NoGrad off;
    same.t_();  // its own transposed one
  }
  CHECK(close(tangent(same), dx));
  Tensor out = tt::empty({4});
  tt::call("mul", {d, d}, {{"out", out}});
  CHECK(close(tangent(out), x * dx * 2));
  {
    const tt::NoGrad off;  // a parameter that is updated keeps its history
    Tensor p = x.clone().requires_grad_();
    p.add_(d);
    CHECK((p.requires_grad() && p.is_leaf()));
    CHECK(close(tangent(p), dx));
  }
}

TEST_CASE("beside the tape: gradients of tangents, tangents of gradients") {
  const Tensor x = tt::rand({5}, 1), dx = tt::rand({5}, 2), x64 = x.to(DType::f64);
  {
    const tt::DualLevel level;
    Tensor p = x.clone().requires_grad_(), v = dx.clone().requires_grad_();
    const Tensor y = tt::exp(tt::make_dual(p, v)) * 2;
    CHECK((y.requires_grad() && tangent(y).requires_grad()));
    tangent(y).sum().backward(Tensor(), true);
    CHECK(close(p.grad(), tt::exp(x) * dx * 2));
    CHECK(close(v.grad(), tt::exp(x) * 2));
    p.zero_grad();
    y.sum().backward();
    CHECK(close(p.grad(), tt::exp(x) * 2));
    CHECK(close(tangent(p.grad()), tt::exp(x) * dx * 2));  // of a gradient that was collected while the level is open
  }
  const auto f = [](const Tensor& t) { return (tt::sin(t) * t.square() + tt::cumsum(t, 0) * t).sum(); };
  {
    const tt::DualLevel level;
    const auto [value, g] = tt::value_and_grad(f)(tt::make_dual(x, dx));
    CHECK(close(primal(g), tt::grad(f)(x)));
    CHECK(close(tangent(g), tt::hessian(f)(x).matmul(dx), 1e-4));
    CHECK(close(tangent(value), (tt::grad(f)(x) * dx).sum(), 1e-4));
    CHECK(close(tangent(tt::grad([](const Tensor& t) { return tt::grad([](const Tensor& s) { return (s * s * s * s).sum(); })(t).sum(); })(tt::make_dual(x, dx))), x * dx * 24, 1e-4));
  }
  CHECK(close(tt::hvp(f, x, dx), tt::hessian(f)(x).matmul(dx), 1e-4));
  // ops that save their results, and functions with a backward of their own
  const Tensor a = tt::rand({4, 4}, {.dtype = DType::f64}) + tt::eye(4, {.dtype = DType::f64}) * 3, da = tt::rand({4, 4}, {.dtype = DType::f64});
  const auto decomposed = [](const Tensor& t) {
    const auto [q, r] = tt::linalg::qr(t);
    return (q.square() * tt::arange(16, {.dtype = DType::f64}).reshape({4, 4})).sum() + tt::linalg::inv(t).sum() + r.sum();
  };
  const auto custom = [](const Tensor& t) { return (tt::apply_function<Cubed>(t) * tt::apply_function<Exponential>(t)).sum(); };
  const auto plain = [](const Tensor& t) { return (t * t * t * tt::exp(t)).sum(); };
  const tt::DualLevel level;
  {
    const double step = 1e-6;
    const Tensor by_differences = (tt::grad(decomposed)(a + da * step) - tt::grad(decomposed)(a - da * step)) / (2 * step);
    CHECK(close(tangent(tt::grad(decomposed)(tt::make_dual(a, da))), by_differences, 1e-5));
    CHECK(close(tangent(decomposed(tt::make_dual(a, da))), (tt::grad(decomposed)(a) * da).sum(), 1e-9));
  }
  const Tensor d = tt::make_dual(x64, dx.to(DType::f64));
  CHECK(close(tangent(custom(d)), tangent(plain(d)), 1e-12));
  CHECK(close(primal(custom(d)), plain(x64), 1e-12));
  CHECK(!custom(d).requires_grad());
  CHECK(close(tangent(tt::grad(custom)(d)), tangent(tt::grad(plain)(d)), 1e-12));
  Tensor p = x64.clone().requires_grad_();
  tangent(custom(tt::make_dual(p, dx.to(DType::f64)))).backward();
  CHECK(close(p.grad(), tangent(tt::grad(plain)(d)), 1e-12));
  p.zero_grad();
  tt::checkpoint([](const Tensor& t) { return (t * t * t).sum(); }, tt::make_dual(p, dx.to(DType::f64))).backward();
  CHECK(close(tangent(p.grad()), x64 * dx.to(DType::f64) * 6, 1e-12));
}

TEST_CASE("compiled functions and other transforms of duals") {
  const Tensor x = tt::rand({3, 4}, 1), dx = tt::rand({3, 4}, 2);
  const auto f = tt::compile([](const Tensor& t) { return tt::tanh(t * t).sum(1); });
  const Tensor before = f(x);
  {
    const tt::DualLevel level;
    const Tensor d = tt::make_dual(x, dx), y = f(d), along = (x * dx * 2 * (1 - tt::tanh(x * x).square())).sum(1);
    CHECK(close(primal(y), before));
    CHECK(close(tangent(y), along));
    CHECK(!contains(f.explain().c_str(), "op by op"));
    CHECK(f.captures() == 1);
    CHECK(close(tangent(tt::trace([](const Tensor& t) { return tt::tanh(t * t).sum(1); }, x)(d)), along));
    for (const auto& graph : {tt::compile_graph(f.graph()), tt::replay_graph(f.graph())}) CHECK(close(tangent(graph({d})[0]), along));
    const auto breaks = tt::compile([](const Tensor& t) { return t.sum().item() > 0 ? tt::tanh(t * t).sum(1) : t.sum(1); });
    CHECK(close(tangent(breaks(d)), along));
    CHECK(contains(breaks.explain().c_str(), "1 call with tangents of a tt::DualLevel ran op by op"));
    const auto draws = tt::compile([](const Tensor& t) { return t * tt::rand_like(t); });
    const Tensor drawn = draws(tt::make_dual(tt::ones({64}), tt::ones({64})));
    CHECK(tangent(drawn).equal(primal(drawn)));  // of the same draw
    const auto traced = tt::trace([](const Tensor& t) { return t * tt::rand_like(t); }, x);
    CHECK(message([&] { traced(d); }).starts_with("tt::traced: the graph draws random numbers, and has no tangents then"));
    const auto across = tt::compile([](const Tensor& t) { return t.t() + 1; });  // its result does not lie dense
    CHECK(close(tangent(across(d)), dx.t()));
    Tensor p = x.clone().requires_grad_();  // on the tape too
    f(tt::make_dual(p, dx)).sum().backward();
    CHECK(close(tangent(p.grad()), tangent(tt::grad([](const Tensor& t) { return tt::tanh(t * t).sum(); })(d)), 1e-4));
    const Tensor rows = tt::rand({5, 3, 4}, 7);  // a transform that holds it
    CHECK(close(tangent(tt::vmap([&](const Tensor& r) { return (r * d).sum(); })(rows)), (rows * dx).sum({1, 2})));
    CHECK(close(tangent(tt::vmap([](const Tensor& row) { return (row * row).sum(); })(d)), (x * dx * 2).sum(1)));
    CHECK(close(tangent(tt::jvp([](const Tensor& t) { return t * t * t; }, d, x).second), x * x * dx * 6));  // a jvp inside
    CHECK(close(tangent(tt::cond(x.sum() > 0, [](const Tensor& t) { return t * 2; }, [](const Tensor& t) { return t; }, d)), dx * 2));
  }
  CHECK(f.captures() == 2);  // with and without a gradient
  const auto third = [](const Tensor& t) {
    return tt::jvp([](const Tensor& s) { return tt::jvp([](const Tensor& r) { return tt::jvp([](const Tensor& q) { return q.pow(4.0); }, r, tt::ones_like(r)).second; }, s, tt::ones_like(s)).second; }, t,
                   tt::ones_like(t)).second;
  };
  CHECK(close(third(x), x * 24, 1e-4));
}

TEST_CASE("tangents do not leak: into other tangents, into gradients by tangents, out of their level") {
  const Tensor x = tt::rand({4}, 1).to(DType::f64), dx = tt::rand({4}, 2).to(DType::f64);
  Tensor later = x * 1, leaf = x.clone().requires_grad_();
  {
    const tt::DualLevel level;
    const Tensor t = tangent(tt::apply_function<Cubed>(tt::make_dual(x, dx)));
    CHECK(!tangent(t).defined());
    CHECK(!tangent(tangent(tt::exp(tt::make_dual(x, dx)))).defined());
    Tensor p = x.clone().requires_grad_();
    const Tensor y = tt::exp(tt::make_dual(p, dx));
    (y.sum() + tangent(y).sum()).backward();
    CHECK(close(p.grad(), tt::exp(x) * (1 + dx)));
    CHECK(close(tangent(p.grad()), tt::exp(x) * dx));  // of what flowed through y: no tangent of a tangent
    Tensor v = dx.clone().requires_grad_();
    tangent(tt::grad([](const Tensor& s) { return (s * s * s).sum(); })(tt::make_dual(x, v))).sum().backward();
    CHECK(close(v.grad(), x * 6));
    // what a checkpointed function holds
    const Tensor d = tt::make_dual(x, dx);
    Tensor q = x.clone().requires_grad_();
    const Tensor held = tt::checkpoint([&](const Tensor& s) { return s * d; }, q);
    CHECK(close(tangent(held), x * dx));
    held.sum().backward();
    CHECK(close(tangent(q.grad()), dx));
    later.mul_(d);
    CHECK(close(tangent(later), x * dx));
    Tensor cut = d * 2;
    cut.detach_();
    CHECK(!tangent(cut).defined());
    {
      const tt::NoGrad off;
      Tensor turned = leaf.reshape({2, 2}) * 1;
      turned.mul_(d.reshape({2, 2}));
      turned.t_();
      CHECK(close(tangent(turned), (x * dx).reshape({2, 2}).t()));
    }
    tt::apply_function<Exponential>(tt::make_dual(leaf, dx));  // its node keeps the result, with a tangent that leads back there
  }
  later.resize_({7});  // a Tensor like any other
  CHECK(later.numel() == 7);
  leaf.sum().backward();
  CHECK(close(leaf.grad(), tt::ones_like(x)));
  const auto [y, dy] = tt::jvp([](const Tensor& t) { return t * t; }, x, dx);
  Tensor own = y;
  own.detach_();
  CHECK((own.is_leaf() && close(own, x * x)));
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int n = 0; n < 200; ++n) {
        const tt::DualLevel level;
        const Tensor d = tt::make_dual(x, dx);
        Tensor sum = d * k;
        sum.add_(d);
        if (!close(tangent(sum), dx * (k + 1))) std::abort();
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST_CASE("a function of one's own may have a jvp") {
  struct Product {  // counts calls, of two Tensors, saves its result and an argument; gives two results
    static int& calls() {
      static int n = 0;
      return n;
    }
    static std::vector<Tensor> forward(tt::FunctionContext& context, const Tensor& x, double scale, const Tensor& y) {
      const Tensor z = x * y * scale;
      context.numbers = {scale};
      context.save_for_backward({x, y, z});
      return {z, x.round()};
    }
    static std::vector<Tensor> backward(tt::FunctionContext& context, const std::vector<Tensor>& g) {
      return {g[0] * context.saved[1] * context.numbers[0], g[0] * context.saved[0] * context.numbers[0]};
    }
    static std::vector<Tensor> jvp(tt::FunctionContext& context, const std::vector<Tensor>& t) {
      ++calls();
      CHECK(context.saved[2].shape() == t[0].shape());
      return {(t[0] * context.saved[1] + context.saved[0] * t[1]) * context.numbers[0], tt::zeros_like(t[0])};
    }
  };
  const Tensor x = tt::rand({3}, 1), y = tt::rand({3}, 2), dx = tt::rand({3}, 3), dy = tt::rand({3}, 4);
  const auto f = [](const Tensor& a, const Tensor& b) { return tt::apply_function<Product>(a, 2.0, b)[0]; };
  const auto plain = [](const Tensor& a, const Tensor& b) { return a * b * 2; };
  const tt::DualLevel level;
  CHECK(close(tangent(f(tt::make_dual(x, dx), tt::make_dual(y, dy))), (dx * y + x * dy) * 2));
  CHECK(close(tangent(f(tt::make_dual(x, dx), y)), dx * y * 2));
  CHECK(close(tangent(f(x, tt::make_dual(y, dy))), x * dy * 2));
  CHECK(Product::calls() == 3);
  CHECK(!tangent(tt::apply_function<Product>(x, 2.0, y)[0]).defined());
  // on the tape too: gradients of values and of tangents, tangents of gradients
  Tensor p = x.clone().requires_grad_(), v = dx.clone().requires_grad_();
  const Tensor z = f(tt::make_dual(p, v), y);
  (z.sum() + (tangent(z) * y).sum()).backward();
  CHECK(close(p.grad(), y * 2));
  CHECK(close(v.grad(), y * y * 2));
  const auto squared = [&](const auto& g) { return tt::grad([&](const Tensor& a) { return (g(a, a) * a).sum(); })(tt::make_dual(x, dx)); };
  CHECK(close(tangent(squared(f)), tangent(squared(plain))));
  struct Same {  // gives its argument back, and says what its tangent is
    static Tensor forward(tt::FunctionContext&, const Tensor& a) { return a; }
    static std::vector<Tensor> backward(tt::FunctionContext&, const std::vector<Tensor>& g) { return {g[0]}; }
    static Tensor jvp(tt::FunctionContext&, const std::vector<Tensor>& t) { return t[0] * 3; }
  };
  const Tensor d = tt::make_dual(x, dx);
  CHECK(close(tangent(tt::apply_function<Same>(d)), dx * 3));
  CHECK(close(tangent(d), dx));
  {
    const tt::NoGrad off;
    const Tensor of_leaf = tt::make_dual(p, v);
    CHECK(close(tangent(tt::apply_function<Same>(of_leaf)), v * 3));
    CHECK(close(tangent(of_leaf), v));
  }
  struct Stopped {  // no tangent, and an integer beside it
    static std::vector<Tensor> forward(tt::FunctionContext&, const Tensor& a) { return {a, a.to(DType::i64)}; }
    static std::vector<Tensor> backward(tt::FunctionContext&, const std::vector<Tensor>& g) { return {g[0]}; }
    static std::vector<Tensor> jvp(tt::FunctionContext&, const std::vector<Tensor>& t) { return {Tensor(), t[0]}; }
  };
  const std::vector<Tensor> stopped = tt::apply_function<Stopped>(d);
  CHECK((!tangent(stopped[0]).defined() && !tangent(stopped[1]).defined()));
  struct Rounded {  // whose tangent is that of its argument, in its memory
    static Tensor forward(tt::FunctionContext&, const Tensor& a) { return a.round(); }
    static std::vector<Tensor> backward(tt::FunctionContext&, const std::vector<Tensor>& g) { return {g[0]}; }
    static Tensor jvp(tt::FunctionContext&, const std::vector<Tensor>& t) { return t[0]; }
  };
  const Tensor whole = tt::make_dual(x * 1, dx) * 1;
  Tensor part = whole[0];
  part.mul_(1);
  const Tensor before = tangent(whole).clone(), rounded = tt::apply_function<Rounded>(whole);
  part.mul_(2);
  CHECK(close(tangent(rounded), before));
  CHECK(close(tangent(whole)[0], before[0] * 2));
  struct Wrong {
    static Tensor forward(tt::FunctionContext&, const Tensor& a) { return a * 2; }
    static std::vector<Tensor> backward(tt::FunctionContext&, const std::vector<Tensor>& g) { return {g[0] * 2}; }
    static Tensor jvp(tt::FunctionContext&, const std::vector<Tensor>& t) { return t[0].sum(); }
  };
  CHECK(message([&] { tt::apply_function<Wrong>(d); }).starts_with("tt::Function: the tangent that jvp gave is f32 "));
}

TEST_CASE("a backward that is no function of Tensors has no forward mode") {
  struct Raw {
    static Tensor forward(tt::FunctionContext&, const Tensor& x) { return x * 2; }
    static std::vector<Tensor> backward(tt::FunctionContext&, const std::vector<Tensor>& g) {
      Tensor d = tt::empty_like(g[0].detach());
      for (std::int64_t k = 0; k < d.numel(); ++k) d.data_ptr<float>()[k] = 2 * g[0].data_ptr<float>()[k];
      return {d};
    }
  };
  const tt::DualLevel level;
  CHECK(message([&] { tt::apply_function<Raw>(tt::make_dual(tt::rand({3}, 1), tt::rand({3}, 2))); }).starts_with("tt::Function: has no forward derivative"));
}

TEST_CASE("many changes through views take time for what they change") {
  const Tensor x = tt::rand({8}, 1), dx = tt::rand({8}, 2);
  const tt::DualLevel level;
  const Tensor d = tt::make_dual(x, dx);
  Tensor base = tt::zeros({64, 8});
  for (int k = 0; k < 64; ++k) base[k] = d * k;
  CHECK(close(tangent(base), dx * tt::arange(64).reshape({64, 1})));
  const Tensor before = tangent(base);
  base[0] = d * 5;
  CHECK(close(tangent(base)[0], dx * 5));
  CHECK(close(before[0], dx * 0));  // whoever was given a tangent keeps it
}
