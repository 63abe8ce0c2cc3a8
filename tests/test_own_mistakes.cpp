// Ops and functions of the user's own that are wrong, or at the edge: each mistake is an error in words, never a wrong number.
#include <doctest/doctest.h>

#include <string>

#include <tt/tt.hpp>

#include "tensors.hpp"
#include "tt/autograd/modes.hpp"
#include "tt/dispatch/boxed.hpp"

namespace own {

using namespace tt;
using Tensors = std::vector<Tensor>;

/// Leaves its second result undefined.
struct HalfGiven {
  struct Results {
    Sym a, b;
  };
  static constexpr OpInfo info{.name = "mistake_half_given", .arguments = "input"};
  static Results body(const auto& x) {
    Results r;
    r.a = x * 2;
    return r;
  }
};
/// Uses a Tensor that may be left out without asking.
struct Weighted {
  static constexpr OpInfo info{.name = "mistake_weighted", .arguments = "input, weight?"};
  static Sym body(const auto& x, const auto& w) { return x * w; }
};
struct Negated {
  static constexpr OpInfo info{.name = "mistake_negated", .arguments = "input, weight?"};
  static Sym body(const auto&, const auto& w) { return -w; }
};
/// x * b, whose gradient of b is as large as x.
struct Scaled {
  static constexpr OpInfo info{.name = "mistake_scaled", .arguments = "input, scale"};
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& x, const Sym&) { return x; }
  static void kernel(Call& c, const NoOptions&) { c.result[0] = c[0].is_meta() ? empty_like(c[0]) : (c[0] * c[1]).contiguous(); }
  static void derivative(const auto& s, const NoOptions&) {
    s.out[0] = s.gradient[0] * s.argument[1];
    s.out[1] = s.gradient[0] * s.argument[0];
  }
};
/// Twice x, with a derivative that is wrong in one of several ways.
enum class Wrong { none, shape, beyond, undefined_gradient };
template <Wrong How>
struct Twice {
  struct Results {
    Sym a, b;
  };
  static constexpr OpInfo info{.name = How == Wrong::none ? "mistake_twice" : How == Wrong::shape ? "mistake_shape" : How == Wrong::beyond ? "mistake_beyond" : "mistake_undefined", .arguments = "input"};
  static Results like(const Sym& x) { return {x, x}; }
  static void kernel(Call& c, const NoOptions&) {
    for (int k = 0; k < 2; ++k) c.result[k] = c[0].is_meta() ? empty_like(c[0]) : c[0] * (2 + k);
  }
  static void derivative(const auto& s, const NoOptions&) {
    s.out[0] = s.gradient[0] * 2;
    if (How == Wrong::none && s.gradient[1].defined()) s.out[0] = s.out[0] + s.gradient[1] * 3;
    if (How == Wrong::shape) s.out[0] = tt::sum(s.gradient[0], 0);
    if (How == Wrong::beyond) s.out[1] = s.gradient[0];
    if (How == Wrong::undefined_gradient) s.out[0] = s.gradient[1] * 3;
  }
};
/// Two Tensors that may be left out.
struct Affine {
  static constexpr OpInfo info{.name = "mistake_affine", .arguments = "input, weight?, bias?"};
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& x, const Sym&, const Sym&) { return x; }
  static void kernel(Call& c, const NoOptions&) {
    Tensor y = c[0];
    if (const Tensor* w = c.optional(1)) y = y * *w;
    if (const Tensor* b = c.optional(2)) y = y + *b;
    c.result[0] = c[0].is_meta() ? empty_like(c[0]) : y.clone();
  }
  static void derivative(const auto& s, const NoOptions&) {
    const int w = s.place(1), b = s.place(2);
    s.out[0] = w < 0 ? s.gradient[0] : s.gradient[0] * s.argument[w];
    if (w >= 0) s.out[w] = s.gradient[0] * s.argument[0];
    if (b >= 0) s.out[b] = s.gradient[0];
  }
};
struct NoDerivative {
  static constexpr OpInfo info{.name = "mistake_no_derivative", .arguments = "input"};
  static void kernel(Call& c, const NoOptions&) { c.result[0] = c[0].is_meta() ? empty_like(c[0]) : c[0] * 2; }
};
struct NoResult {
  static constexpr OpInfo info{.name = "mistake_no_result", .arguments = "input"};
  static void kernel(Call&, const NoOptions&) {}
};

// ---- functions with a backward

/// Gives back its argument, or a view of it.
template <bool View>
struct Same {
  static Tensor forward(FunctionContext&, const Tensor& x) { return View ? x.t() : x; }
  static Tensors backward(FunctionContext&, const Tensors& g) { return {View ? g[0].t() : g[0]}; }
};
struct ExpOfView {
  static Tensor forward(FunctionContext& c, const Tensor& x) {
    const Tensor y = tt::exp(x).t();
    c.save_for_backward({y});
    return y;
  }
  static Tensors backward(FunctionContext& c, const Tensors& g) { return {(g[0] * c.saved[0]).t()}; }
};
struct SavesView {  // of its argument, and gives it back
  static Tensor forward(FunctionContext& c, const Tensor& x) {
    const Tensor y = x.t();
    c.save_for_backward({y});
    return y;
  }
  static Tensors backward(FunctionContext& c, const Tensors& g) { return {(g[0] * c.saved[0]).t()}; }
};
struct Changes {
  static Tensor forward(FunctionContext&, const Tensor& x) { return Tensor(x).mul_(2); }
  static Tensors backward(FunctionContext&, const Tensors& g) { return {g[0] * 2}; }
};
/// Gradients of broadcast arguments, of another dtype, and of integers.
struct Loose {
  static Tensor forward(FunctionContext& c, const Tensor& x, const Tensor& b, const Tensor& i) {
    c.save_for_backward({x, b, i});
    return x * b * i.to(x.dtype());
  }
  static Tensors backward(FunctionContext& c, const Tensors& g) {
    const Tensor by = g[0] * c.saved[2].to(g[0].dtype());
    return {by * c.saved[1], (by * c.saved[0]).to(DType::f64), g[0]};
  }
};
/// A value and a mask of floats without a gradient; looks at which gradients are needed.
struct Positive {
  static Tensors forward(FunctionContext& c, const Tensor& x, const Tensor& y) {
    const Tensor mask = (x > 0).to(x.dtype());
    c.save_for_backward({mask});
    c.mark_non_differentiable({mask});
    c.set_materialize_grads(false);
    return {x * mask + y, mask};
  }
  static Tensors backward(FunctionContext& c, const Tensors& g) {
    return {c.needs_input_grad(0) ? g[0] * c.saved[0] : Tensor(), c.needs_input_grad(1) ? g[0] : Tensor(), };
  }
};

}  // namespace own

namespace {

using tt::Tensor;


bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("bodies and derivatives that use or give undefined symbols") {
  const Tensor x = tt::ones({2, 2});
  CHECK(contains(message([&] { tt::call_with<own::HalfGiven>(tt::here(), {}, x); }), "tt::mistake_half_given: it gives no result 1"));
  CHECK(contains(message([&] { tt::call_with<own::Weighted>(tt::here(), {}, x); }), "tt::mul: an operand is undefined: a Tensor that was left out, or a gradient that is zero."));
  CHECK(contains(message([&] { tt::call_with<own::Negated>(tt::here(), {}, x); }), "tt::neg: an operand is undefined"));
  CHECK(tt::equal(tt::call_with<own::Weighted>(tt::here(), {}, x, x * 3), x * 3));
  const auto first = [](const Tensor& t) { return tt::call_with<own::Twice<own::Wrong::undefined_gradient>>(tt::here(), {}, t * 1)[0].sum(); };
  CHECK(message([&] { tt::grad(first)(x); }) != "");
  CHECK(contains(message([&] { tt::compile(tt::frozen(tt::grad(first)), {.fullgraph = true})(x); }), "undefined"));
  const auto both = [](const Tensor& t) {
    const auto r = tt::call_with<own::Twice<own::Wrong::none>>(tt::here(), {}, t * 1);
    return (r[0] + r[1] * 2).sum();
  };
  CHECK(tt::equal(tt::grad(both)(x), tt::full({2, 2}, 8.0)));
  CHECK(tt::equal(tt::compile(tt::frozen(tt::grad(both)), {.fullgraph = true})(x), tt::full({2, 2}, 8.0)));
}

TEST_CASE("gradients of ops with a kernel are of the argument's shape and dtype, or an error") {
  const auto f = [](const Tensor& a, const Tensor& b) { return tt::call_with<own::Scaled>(tt::here(), {}, a * 1, b * 1).sum(); };
  const Tensor x = tt::arange(6).to(tt::DType::f32).reshape({2, 3});
  for (const tt::IntList& shape : {tt::IntList{}, tt::IntList{1}, tt::IntList{3}, tt::IntList{2, 1}, tt::IntList{2, 3}}) {
    const Tensor b = tt::full(shape, 2.0), expected = tt::grad([](const Tensor& v, const Tensor& a) { return (a * v).sum(); })(b, x);
    const auto of_b = [&](const Tensor& v, const Tensor& a) { return f(a, v); };
    CHECK(tt::equal(tt::grad(of_b)(b, x), expected));
    CHECK(tt::equal(tt::compile(tt::frozen(tt::grad(of_b)), {.fullgraph = true})(b, x), expected));
  }
  const auto wrong = [](const Tensor& t) { return tt::call_with<own::Twice<own::Wrong::shape>>(tt::here(), {}, t * 1)[0].sum(); };
  CHECK(contains(message([&] { tt::grad(wrong)(x); }), "tt::mistake_shape: its derivative gives a gradient of shape (3,) for argument 1, of shape (2, 3)."));
  CHECK(contains(message([&] { tt::compile(tt::frozen(tt::grad(wrong)))(x); }), "mistake_shape"));
  const auto beyond = [](const Tensor& t) { return tt::call_with<own::Twice<own::Wrong::beyond>>(tt::here(), {}, t * 1)[0].sum(); };
  CHECK(contains(message([&] { tt::grad(beyond)(x); }), "tt::mistake_beyond: its derivative sets the gradient of argument 1, and there are 1."));
  CHECK(contains(message([&] { tt::compile(tt::frozen(tt::grad(beyond)))(x); }), "mistake_beyond"));
}

TEST_CASE("a derivative knows which of two Tensors was left out") {
  const Tensor x = tt::arange(3).to(tt::DType::f32), w = tt::full({3}, 2.0), b = tt::ones({3});
  const auto check = [&](const Tensor& weight, const Tensor& bias, const char* which) {
    INFO(std::string(which));
    const auto f = [](const Tensor& t, const Tensor& u, const Tensor& v) { return tt::call_with<own::Affine>(tt::here(), {}, t * 1, u, v).sum(); };
    const Tensor y = tt::grad(f)(x, weight, bias);
    CHECK(tt::equal(y, weight.defined() ? w : b));
    Tensor wl = weight.defined() ? weight.clone().requires_grad_() : Tensor(), bl = bias.defined() ? bias.clone().requires_grad_() : Tensor();
    f(x, wl, bl).backward();
    if (wl.defined()) CHECK(tt::equal(wl.grad(), x));
    if (bl.defined()) CHECK(tt::equal(bl.grad(), b));
  };
  check(w, b, "both"), check(w, Tensor(), "weight"), check(Tensor(), b, "bias");
}

TEST_CASE("kernels without a derivative, or a result") {
  Tensor x = tt::ones({2}).requires_grad_();
  const Tensor y = tt::call_with<own::NoDerivative>(tt::here(), {}, x);
  CHECK(tt::equal(y.detach(), tt::full({2}, 2.0)));
  CHECK(contains(message([&] { y.sum().backward(); }), "tt::mistake_no_derivative: the op has a kernel, and no derivative. Give its struct one?\n  at " __FILE__));
  CHECK(contains(message([&] { tt::call_with<own::NoResult>(tt::here(), {}, tt::ones({2})); }), "tt::mistake_no_result: its kernel sets no result 0."));
}

TEST_CASE("functions with a backward: results that are arguments, views that are saved, gradients that are fitted") {
  const Tensor m = tt::tensor({{1.0f, 2.0f}, {3.0f, 4.0f}});
  const auto changed = [](const auto& f) {
    return [f](const Tensor& t) {
      const Tensor base = t * 1;
      Tensor r = f(base);
      r.mul_(2);
      return (r * base).sum();  // 2 t^2, for the function gives a Tensor of its own
    };
  };
  CHECK(tt::equal(tt::grad(changed([](const Tensor& t) { return tt::apply_function<own::Same<false>>(t); }))(m), m * 4));
  const auto turned = [](const Tensor& t) {
    Tensor base = t * 1;
    const Tensor r = tt::apply_function<own::Same<true>>(base);
    base.mul_(3);
    return (r.t() * base).sum();  // 3 t^2
  };
  CHECK(tt::equal(tt::grad(turned)(m), m * 6));
  Tensor leaf = m.clone().requires_grad_();
  tt::apply_function<own::Same<false>>(leaf).mul_(5);
  CHECK(tt::equal(leaf.detach(), m));

  const auto second = [](const auto& f) { return tt::grad([f](const Tensor& t) { return tt::grad([f](const Tensor& u) { return f(u).sum(); })(t).sum(); }); };
  CHECK(tt::allclose(second([](const Tensor& t) { return tt::apply_function<own::ExpOfView>(t); })(m), tt::exp(m)));
  CHECK(tt::equal(second([](const Tensor& t) { return tt::apply_function<own::SavesView>(t); })(m), m));  // as its backward says
  CHECK(contains(message([&] { tt::apply_function<own::Changes>(m * 1); }), "tt::Function: forward of Changes changes Tensor 0, an argument, in place."));

  Tensor x = tt::ones({2, 3}).requires_grad_(), b = tt::full({3}, 2.0).requires_grad_();
  tt::apply_function<own::Loose>(x, b, tt::full({2, 3}, 3, tt::DType::i64)).sum().backward();
  CHECK(tt::equal(x.grad(), tt::full({2, 3}, 6.0)));
  CHECK(tt::equal(b.grad(), tt::full({3}, 6.0)));

  Tensor u = tt::tensor({-1.0f, 2.0f}).requires_grad_();
  const std::vector<Tensor> r = tt::apply_function<own::Positive>(u, tt::ones({2}));
  CHECK(r[0].requires_grad());
  CHECK(!r[1].requires_grad());
  r[0].sum().backward();
  CHECK(tt::equal(u.grad(), tt::tensor({0.0f, 1.0f})));
}

namespace own {
struct Unseen {
  static constexpr OpInfo info{.name = "mistake_unseen"};
  static constexpr auto body(auto x) { return x * 3; }
};
}  // namespace own
TEST_CASE("an op is known by name before it is called, if it is registered") {
  CHECK(contains(message([] { tt::call("mistake_unseen", {tt::ones({2})}); }), "mistake_unseen"));
  tt::register_ops<own::Unseen>();
  CHECK(tt::equal(tt::call("mistake_unseen", {tt::ones({2})}), tt::full({2}, 3.0)));
}

TEST_CASE("functions by name that contradict themselves or others") {
  const auto same = [](const Tensor& t, tt::SourceLine) { return t; };
  const auto scaled = [](const Tensor& t, int k, tt::SourceLine) { return t * k; };
  CHECK(contains(message([&] { tt::register_function("mistake_short", "Tensor input", scaled); }), "tt::register_function: mistake_short takes 2 arguments, and its schema names 1: (Tensor input)."));
  CHECK(contains(message([&] { tt::register_function("mistake_long", "Tensor input, int k", same); }), "takes 1 arguments, and its schema names 2"));
  CHECK(contains(message([&] { tt::register_function("mistake::name", "Tensor input", same); }), "'mistake::name' is no name."));
  CHECK(contains(message([&] { tt::register_function("", "Tensor input", same); }), "'' is no name."));
  tt::register_function("mistake_again", "Tensor input", same);
  tt::register_function("mistake_again", "Tensor input", same);  // the same one
  CHECK(contains(message([&] { tt::register_function("mistake_again", "Tensor input", [](const Tensor& t, tt::SourceLine) { return t * 2; }); }), "there is mistake_again(Tensor input) already."));
  // An overload of a name of the library's beside its own.
  tt::register_function("erfcx", "Tensor input, int k", scaled);
  const Tensor x = tt::ones({2});
  CHECK(tt::equal(tt::call("erfcx", {x, 5}), x * 5));
  CHECK(tt::call("special_erfcx", {x}).dim() == 1);
  tt::register_function("softshrink", "Tensor input, int k, int m", [](const Tensor& t, int k, int m, tt::SourceLine) { return t * (k + m); });
  CHECK(tt::equal(tt::call("softshrink", {x, 2, 3}), x * 5));
  CHECK(tt::equal(tt::call("softshrink", {x, 0.5}), x * 0.5));
  CHECK(contains(message([] { tt::register_device(nullptr); }), "is no name for a device"));
  static constexpr tt::DeviceApi empty{};
  CHECK(contains(message([] { tt::register_device("mistake", &empty); }), "the DeviceApi of 'mistake' lacks one of"));
}

TEST_CASE("derivatives of derivatives along tangents leave no history behind") {
  const Tensor x = tt::tensor({1.0, 2.0}), d = tt::ones({2}, tt::DType::f64);
  const auto along = [d](const auto& f) { return [f, d](const Tensor& t) { return tt::jvp(f, t, d.to(t.dtype())).second; }; };
  const auto exp = [](const Tensor& t) { return tt::exp(t); };
  const auto own_exp = [](const Tensor& t) { return tt::apply_function<own::ExpOfView>(t.reshape({1, 2})).sum(1); };
  int number = 0;
  for (const Tensor& y : {along(along(exp))(x), along(along(along(exp)))(x), along(along(own_exp))(x), tt::grad([&](const Tensor& t) { return along(exp)(t).sum(); })(x),
                          tt::grad([&](const Tensor& t) { return along(along(exp))(t).sum(); })(x), tt::grad([&](const Tensor& t) { return along(own_exp)(t).sum(); })(x)}) {
    INFO(number++);
    CHECK(!y.requires_grad());
    CHECK(tt::allclose(y, tt::exp(x)));
  }
  Tensor held = x.clone().requires_grad_();  // one that is needed stays
  const Tensor y = along(along([held](const Tensor& t) { return t * t * held; }))(x);
  CHECK(y.requires_grad());
  y.sum().backward();
  CHECK(tt::equal(held.grad(), tt::full({2}, 2.0, tt::DType::f64)));
}
