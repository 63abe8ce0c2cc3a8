// Every elementwise op is a function, a method and a name: the same bits, and the line of the call in what an error says.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "tensors.hpp"
#include "tt/dispatch/all_ops.hpp"
#include "tt/jit/compile.hpp"

namespace {

std::string at(int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); }
using tt::DType;
using tt::Tensor;

struct Ways {
  const char* name;
  int arguments;
  std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)> method, function;
};
#define UNARY(f) {#f, 1, [](auto& a, auto&, auto&) { return a.f(); }, [](auto& a, auto&, auto&) { return tt::f(a); }}
#define BINARY(name, f) {name, 2, [](auto& a, auto& b, auto&) { return a.f(b); }, [](auto& a, auto& b, auto&) { return tt::f(a, b); }}

const Ways ways[] = {
    UNARY(exp), UNARY(exp2), UNARY(expm1), UNARY(sigmoid), UNARY(tanh), UNARY(log), UNARY(log2), UNARY(log1p), UNARY(sin), UNARY(cos),
    UNARY(tan), UNARY(erf), UNARY(relu), UNARY(silu), UNARY(gelu), UNARY(gelu_tanh), UNARY(softplus), UNARY(mish), UNARY(hardswish),
    UNARY(sign), UNARY(square), UNARY(reciprocal), UNARY(rsqrt), UNARY(neg), UNARY(abs), UNARY(sqrt), UNARY(floor), UNARY(ceil),
    UNARY(round), UNARY(trunc), UNARY(logical_not),
    BINARY("add", add), BINARY("sub", sub), BINARY("mul", mul), BINARY("div", div), BINARY("minimum", minimum), BINARY("maximum", maximum),
    BINARY("lt", lt), BINARY("le", le), BINARY("eq", eq), BINARY("ne", ne), BINARY("logical_and", logical_and),
    BINARY("logical_or", logical_or), BINARY("pow", pow), BINARY("leaky_relu", leaky_relu), BINARY("elu", elu),
    BINARY("clamp_min", clamp_min), BINARY("clamp_max", clamp_max),
    {"clamp", 3, [](auto& a, auto& b, auto& c) { return a.clamp(b, c); }, [](auto& a, auto& b, auto& c) { return tt::clamp(a, b, c); }},
    {"fma", 3, [](auto& a, auto& b, auto& c) { return a.fma(b, c); }, [](auto& a, auto& b, auto& c) { return tt::fma(a, b, c); }},
    {"where", 3, [](auto& a, auto& b, auto& c) { return b.where(a, c); }, [](auto& a, auto& b, auto& c) { return tt::where(a, b, c); }},
};

TEST_CASE("a function, a method and a name give the same bits") {
  tt::register_all_ops();
  const Tensor x = tt::rand({3, 5}, 1) * 4 - 2, y = tt::rand({3, 5}, 2) + 0.5, z = tt::rand({3, 5}, 3) + 1.5;
  for (const Ways& w : ways) {
    INFO(w.name);
    const bool logical = std::string(w.name).starts_with("logical");
    const Tensor a = logical || std::string(w.name) == "where" ? x > 0 : x, b = logical ? y > 1 : y;
    const Tensor by_name = w.arguments == 1   ? tt::call(w.name, {a})
                           : w.arguments == 2 ? tt::call(w.name, {a, b})
                                              : tt::call(w.name, {a, b, z});
    CHECK(same_bits(w.method(a, b, z), by_name));
    CHECK(same_bits(w.function(a, b, z), by_name));
  }
}

TEST_CASE("no elementwise op is left out") {
  std::set<std::string> left{"philox", "copy", "shift_left", "shift_right", "shift_right_logical", "bit_and", "bit_or", "bit_xor"};
  for (const Ways& w : ways) left.insert(w.name);
  const auto known = [&](const char* name) { CHECK_MESSAGE(left.contains(name), name); };
  [&]<class... F>(tt::TypeList<F...>) { (known(F::info.name), ...); }(tt::ElementwiseOps{});
  for (int k = 0; k < tt::op_count; ++k)
    if (const auto op = static_cast<tt::Op>(k); tt::has_operator(op)) known(name(op));
}

TEST_CASE("numbers, and what is written the other way around") {
  const Tensor x = tt::tensor({1.0, 2.0, 3.0});
  CHECK(numbers(x.add(1).mul(2).sub(0.5).div(2)) == Numbers{1.75, 2.75, 3.75});
  CHECK(numbers(tt::gt(x, 2)) == Numbers{0, 0, 1});
  CHECK(numbers(x.ge(tt::tensor(2.0))) == Numbers{0, 1, 1});
  CHECK(numbers(x.pow(2)) == Numbers{1, 4, 9});
  CHECK(numbers(x.clamp(1.5, 2.5)) == Numbers{1.5, 2, 2.5});
  CHECK(numbers(x.where(x > 1, 0)) == Numbers{0, 2, 3});
  CHECK(numbers((-x).leaky_relu(0.5)) == Numbers{-0.5, -1, -1.5});
  CHECK(numbers((-x).elu(0)) == Numbers{0, 0, 0});
  CHECK(numbers(tt::zeros({2, 2}).logsumexp({0, 1}, true)) == Numbers{tt::log(tt::tensor(4.0)).item()});
}

TEST_CASE("of booleans sums are or, products and, as in PyTorch") {
  const Tensor a = tt::tensor({false, false, true, true}), b = tt::tensor({false, true, false, true});
  for (const Tensor& r : {a + b, tt::maximum(a, b), tt::call("logical_or", {a, b})}) {
    CHECK(r.dtype() == tt::DType::boolean);
    CHECK(numbers(r) == Numbers{0, 1, 1, 1});
  }
  for (const Tensor& r : {a * b, tt::minimum(a, b), a && b}) CHECK(numbers(r) == Numbers{0, 0, 0, 1});
  CHECK(numbers(tt::compile([](Tensor x, Tensor y) { return x * y + x; })(a, b)) == Numbers{0, 0, 1, 1});
  CHECK(numbers(b.reshape({2, 2}).amax(0)) == Numbers{0, 1});
  CHECK(a.amin().dtype() == tt::DType::boolean);
  CHECK((a + 1).dtype() == tt::DType::i64);
  CHECK(message([&] { (void)(a - b); }).starts_with("tt::sub: dtype is not accepted: bool."));
}

TEST_CASE("logic takes numbers, bits take booleans, and arithmetic of booleans is PyTorch's") {
  const Tensor x = tt::tensor({0.0, 0.5, -0.0, static_cast<double>(NAN)}), i = tt::tensor({3, 0, 0, 0}), b = tt::tensor({true, false, true, false});
  CHECK(numbers(x && i) == Numbers{0, 0, 0, 0});
  CHECK(numbers(x || i) == Numbers{1, 1, 0, 1});
  CHECK(numbers(!x) == Numbers{1, 0, 1, 0});
  CHECK(numbers(tt::compile([](Tensor p, Tensor q) { return tt::logical_or(p, !q); })(x, i)) == Numbers{0, 1, 1, 1});
  const tt::Array<float, 4> values{0, 2, 0.5f, -1};
  const auto both = tt::eval(tt::logical_and(values, tt::logical_not(values - 2)));
  CHECK((!both(0) && both(1) && !both(2) && !both(3)));
  for (const char* name : {"bit_and", "bit_or", "bit_xor"}) CHECK(tt::call(name, {b, !b}).dtype() == tt::DType::boolean);
  CHECK(numbers(tt::call("bit_xor", {b, tt::tensor({true, true, false, false})})) == Numbers{0, 1, 1, 0});
  CHECK(numbers(tt::square(b)) == Numbers{1, 0, 1, 0});
  CHECK(tt::square(b).dtype() == tt::DType::i64);
  CHECK(same_bits(tt::sign(b), b));
  CHECK(same_bits(tt::compile([](Tensor p) { return tt::sign(p); })(b), b));
  const tt::Array<bool, 2> yes{true, false};
  CHECK(std::is_same_v<decltype(tt::eval(tt::sign(yes)))::value_type, bool>);
  CHECK(tt::eval(yes + yes)(0));
  CHECK(message([&] { (void)(1.0 - tt::tensor(true)); }).starts_with("tt::sub: dtype is not accepted: bool."));
}

TEST_CASE("kinks: what PyTorch gives there, in every way of running it") {
  const auto check = [](const auto& f, const Tensor& x, const char* value, const char* gradient) {
    const auto compiled = tt::compile(f, {.wait = true});
    const auto of = [&](const auto& g) {
      const Tensor v = x.clone().requires_grad_(), y = g(v);
      CHECK(std::string(tt::to_string(y.detach())) == value);
      CHECK(std::string(tt::to_string(tt::grad({y.sum()}, {v})[0])) == gradient);
    };
    of(f);
    of(compiled);
  };
  const Tensor x = tt::tensor({static_cast<double>(NAN), -2.0, -0.0, 1.0, 3.0});
  check([](Tensor t) { return tt::sign(t); }, x, "tensor([ 0., -1.,  0.,  1.,  1.])", "tensor([0., 0., 0., 0., 0.])");
  check([](Tensor t) { return tt::clamp(t, -2, 1); }, x, "tensor([nan, -2., -0.,  1.,  1.])", "tensor([0., 0., 1., 0., 0.])");
  check([](Tensor t) { return tt::hardswish(t); }, tt::tensor({-3.0, 0.0, 3.0}), "tensor([-0., 0., 3.])", "tensor([0.0000, 0.5000, 1.0000])");
  check([](Tensor t) { return t.amax(); }, x, "tensor(nan)", "tensor([nan, nan, nan, nan, nan])");
  check([](Tensor t) { return t.amin(); }, tt::tensor({2.0, 1.0, 1.0}), "tensor(1.)", "tensor([0.0000, 0.5000, 0.5000])");
  const Tensor nan = tt::tensor(static_cast<double>(NAN));
  for (const Tensor& y : {tt::clamp(tt::tensor({1.0, 2.0}), nan, 3), tt::clamp(tt::tensor({1.0, 5.0}), 0, nan)})
    for (double v : numbers(y)) CHECK(std::isnan(v));
}

TEST_CASE("powers of integers are integers, which wrap around") {
  const Tensor x = tt::tensor({3, -2, 0, 1, -1, 7}), y = tt::tensor({33, 5, 0, 1000000, -3, -1});
  CHECK(same_bits(tt::pow(x, y), tt::tensor({std::int64_t{5559060566555523}, std::int64_t{-32}, std::int64_t{1}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{0}})));
  CHECK(same_bits(tt::compile([](Tensor a, Tensor b) { return tt::pow(a, b); }, {.wait = true})(x, y), tt::pow(x, y)));
  CHECK(same_bits(tt::pow(x.to(tt::DType::i32), 3), (x * x * x).to(tt::DType::i32)));
  CHECK(tt::pow(x, tt::tensor(64)).select(0, 5).item<std::int64_t>() == [] {
    std::uint64_t p = 1;
    for (int k = 0; k < 64; ++k) p *= 7;
    return static_cast<std::int64_t>(p);
  }());
  CHECK(tt::pow(x, 0.5).dtype() == tt::DType::f32);
  CHECK(tt::pow(2, x.slice(0, 0, 1)).item<std::int64_t>() == 8);
  CHECK(tt::eval(tt::pow(tt::Array<std::int64_t, 1>{3}, 33))(0) == 5559060566555523);
  CHECK(message([&] { (void)tt::pow(x, -1); }) == "tt::pow: integers have no negative powers: -1. Cast the base to f32?" + at(__LINE__));
}

TEST_CASE("reductions of nothing, of one number, of all axes, and of dtypes that have none") {
  CHECK(std::isnan(tt::zeros({0}).var().item()));
  CHECK(std::isnan(tt::compile([](Tensor t) { return t.var(); })(tt::zeros({0})).item()));
  CHECK(tt::tensor({1.0, 3.0}).var().item() == 2);
  const Tensor one = tt::tensor(2.0);
  for (const int dim : {0, -1}) {
    CHECK(one.sum(dim).item() == 2);
    CHECK(one.softmax(dim).item() == 1);
    CHECK(one.argmax(dim).item<int>() == 0);
    CHECK(one.squeeze(dim).dim() == 0);
  }
  CHECK_THROWS_AS((void)one.sum(1), tt::Error);
  CHECK_THROWS_AS((void)one.sum({0, -1}), tt::Error);
  const Tensor x = tt::tensor({{1.0, 5.0, 3.0}, {4.0, 5.0, 0.0}});
  CHECK(tt::call("argmax", {x}).item<int>() == 1);
  CHECK(tt::call("argmax", {x}, {{"keepdim", true}}).shape() == tt::Shape{1, 1});
  CHECK(numbers(tt::call("argmax", {x, 1})) == Numbers{1, 1});
  for (const tt::DType d : {tt::DType::i32, tt::DType::i64, tt::DType::boolean}) {
    const Tensor i = x.to(d);
    CHECK(message([&] { (void)i.mean(); }).starts_with("tt::mean: dtype is not accepted: "));
    CHECK(message([&] { (void)i.var(); }).starts_with("tt::var: dtype is not accepted: "));
    CHECK(message([&] { (void)i.softmax(0); }).starts_with("tt::softmax: dtype is not accepted: "));
    CHECK(message([&] { (void)i.log_softmax(0); }).starts_with("tt::log_softmax: dtype is not accepted: "));
  }
}

TEST_CASE("max and min by name: values, places, and a gradient to the first") {
  Tensor x = tt::tensor({{1.0, 3.0, 3.0}, {4.0, -1.0, 4.0}}, {.requires_grad = true});
  const auto r = tt::call_results("max", {x, 1});
  CHECK(numbers(r[0]) == Numbers{3, 4});
  CHECK(numbers(r[1]) == Numbers{1, 0});
  CHECK(numbers(tt::grad({r[0].sum()}, {x})[0]) == Numbers{0, 1, 0, 1, 0, 0});
  const auto least = tt::call_results("min", {x.detach()}, {{"dim", 0}, {"keepdim", true}});
  CHECK(numbers(least[0]) == Numbers{1, -1, 3});
  CHECK(least[1].shape() == tt::Shape{1, 3});
  CHECK(tt::call_results("max", {x.detach() > 2, 0})[0].dtype() == tt::DType::boolean);
  CHECK(tt::call_results("max", {tt::tensor(5), 0})[0].item<int>() == 5);
  CHECK(std::isnan(tt::call_results("max", {tt::tensor({1.0, static_cast<double>(NAN)}), 0})[0].item()));
}

TEST_CASE("cross_entropy takes classes along axis 1, as PyTorch does") {
  const Tensor x = tt::randn({2, 3, 4, 5}, 1), labels = tt::tensor({0, 1, 2, 1}).reshape({1, 4, 1}).expand({2, 4, 5});
  const Tensor rows = x.permute({0, 2, 3, 1}).reshape({40, 3});
  CHECK(tt::cross_entropy(x, labels).item() == doctest::Approx(tt::cross_entropy(rows, labels.reshape({40})).item()));
  CHECK(tt::cross_entropy(x.select(0, 0).select(1, 0).select(1, 0), tt::tensor(2)).dim() == 0);
  CHECK_THROWS_AS((void)tt::cross_entropy(x, labels.reshape({40})), tt::Error);
  CHECK(message([&] { tt::call("cross_entropy", {x, labels + 2}); }) == "tt::cross_entropy: label 3 is none of 3 classes, 0 and on." + at(__LINE__));
}

TEST_CASE("a label that is no class is an error of the call") {
  const Tensor logits = tt::rand({2, 3}, 1);
  const auto said = [&](std::int64_t label) { return message([&] { (void)tt::cross_entropy(logits, tt::tensor({std::int64_t{0}, label})); }); };
  CHECK(said(7).starts_with("tt::cross_entropy: label 7 is none of 3 classes, 0 and on.\n  at "));
  CHECK(said(-1).starts_with("tt::cross_entropy: label -1 is none of 3 classes, 0 and on.\n  at "));
  CHECK(tt::cross_entropy(logits, tt::tensor({std::int64_t{0}, std::int64_t{2}})).item() > 0);
}

TEST_CASE("triangles are methods too") {
  const Tensor x = tt::arange(9.0).reshape({3, 3});
  CHECK(same_bits(x.tril(-1), tt::tril(x, -1)));
  CHECK(same_bits(x.triu(), tt::triu(x, 0)));
}

TEST_CASE("errors name the line of the call") {
  const Tensor x = tt::zeros({3}), y = tt::zeros({2});
  CHECK(message([&] { (void)x.add(y); }).ends_with(at(__LINE__)));
  CHECK(message([&] { (void)tt::mul(x, y); }).ends_with(at(__LINE__)));
  CHECK(message([&] { (void)x.clamp(y, 1); }).ends_with(at(__LINE__)));
  CHECK(message([&] { (void)x.logsumexp({3}); }).ends_with(at(__LINE__)));
}

}  // namespace

TEST_CASE("clamp with one bound") {
  Tensor x = tt::tensor({-1.0, 2.0, 5.0, NAN}).requires_grad_();
  CHECK(numbers(x.clamp(0, tt::none).slice(0, 0, 3)) == Numbers{0, 2, 5});
  CHECK(numbers(x.clamp(tt::none, 2).slice(0, 0, 3)) == Numbers{-1, 2, 2});
  CHECK(std::isnan(numbers(tt::clamp_min(x, 0))[3]));
  CHECK(numbers(tt::clamp_max(x, tt::tensor({-2.0, 3.0, 1.0, 0.0})).slice(0, 0, 3)) == Numbers{-2, 2, 1});
  x.clamp(tt::none, 2).slice(0, 0, 3).sum().backward();
  CHECK(numbers(x.grad()) == Numbers{1, 0, 0, 0});  // at a bound that is a number 0, as in PyTorch 2.15
  const tt::Array<int, 3> a = tt::clamp(tt::Array<int, 3>{-1, 2, 5}, 0, tt::none);
  CHECK((a(0) == 0 && a(2) == 5));
}

TEST_CASE("reductions that are asked for by no name of an axis") {
  const Tensor x = tt::tensor({{1.0, 5.0, 3.0}, {4.0, 2.0, 6.0}});
  CHECK(x.max().item() == 6);
  CHECK(x.min().item() == 1);
  CHECK(tt::max(x).item() == 6);
  CHECK(tt::min(x).item() == 1);
  CHECK(x.argmax().item<int>() == 5);
  CHECK(x.argmin().item<int>() == 0);
  CHECK(numbers(x.argmin(1)) == Numbers{0, 1});
  CHECK(shape(tt::argmin(x, 1, true)) == "(2, 1)");
  const auto [values, places] = x.max(1);
  CHECK(numbers(values) == Numbers{5, 6});
  CHECK(numbers(places) == Numbers{1, 2});
  CHECK(numbers(x.min(0).indices) == Numbers{0, 1, 0});
  CHECK(shape(tt::min(x, 0, true).values) == "(1, 3)");
  CHECK(numbers(x.max(x + 1)) == numbers(x + 1));
  CHECK(numbers(tt::min(x, x + 1)) == numbers(x));
  CHECK(same_bits(x.std(), tt::sqrt(x.var())));
  CHECK(numbers(x.var({1}) * 2) == Numbers{8, 8});
  CHECK(same_bits(x.std({1}, 0), tt::sqrt(tt::var(x, {.dim = 1, .correction = 0}))));
  CHECK(same_bits(tt::call("std", {x}, {{"dim", 1}, {"correction", 0}}), x.std({1}, 0)));
  CHECK(numbers(tt::var(x, {.dim = 1, .keepdim = true, .correction = 7})) == Numbers{INFINITY, INFINITY});  // never below 0
  CHECK(numbers((x > 4).any({1})) == Numbers{1, 1});
  CHECK(numbers((x > 1).all({1})) == Numbers{0, 1});
  CHECK(x.any().item<bool>());
  CHECK(tt::all(x).dtype() == DType::boolean);
  CHECK(!tt::zeros({0, 3}).any().item<bool>());
  CHECK(tt::zeros({0, 3}).all().item<bool>());
  CHECK(tt::tensor({NAN}).any().item<bool>());
  CHECK(numbers((x - 4).count_nonzero({0})) == Numbers{1, 2, 2});
  CHECK(tt::call("count_nonzero", {x}).item<int>() == 6);
  CHECK(contains(message([] { tt::zeros({0, 3}).max(0); }), "no elements"));
  CHECK(tt::zeros({2, 3}, DType::i64).dtype() == DType::i64);
  CHECK(numbers(tt::full({2}, 7, DType::u8)) == Numbers{7, 7});
  Tensor w = x.clone().requires_grad_();
  w.std().backward();
  CHECK(numbers(w.grad() * 14)[1] == doctest::Approx(14 * 1.5 / (5 * 1.8708287)));
  const tt::Array<float, 2, 3> a{{1, 5, 3}, {4, 2, 6}};
  const tt::Array<bool, 2> above = tt::any<1>(a > 5);
  CHECK((!above(0) && above(1)));
  CHECK(tt::eval(tt::std<1>(a))(0) == 2);
  CHECK(tt::eval(tt::argmin<1>(a))(1) == 1);
}
