// Every elementwise op is a function, a method and a name: the same bits, and the line of the call in what an error says.
#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>

#include "tensors.hpp"
#include "tt/dispatch/all_ops.hpp"

namespace {

std::string at(int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); }
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
    BINARY("add", add), BINARY("sub", sub), BINARY("mul", mul), BINARY("div", div), BINARY("min", minimum), BINARY("max", maximum),
    BINARY("lt", lt), BINARY("le", le), BINARY("eq", eq), BINARY("ne", ne), BINARY("logical_and", logical_and),
    BINARY("logical_or", logical_or), BINARY("pow", pow), BINARY("leaky_relu", leaky_relu), BINARY("elu", elu),
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
  tt::detail::each_primitive_entry([&](tt::Operator& (*)(), const char* name) { known(name); },
                                   std::make_index_sequence<static_cast<std::size_t>(tt::op_count)>{});
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
