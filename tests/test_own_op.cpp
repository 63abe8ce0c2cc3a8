// Ops of one's own, from a struct or a lambda, in the same places as the library's: Array
// expressions, fused functions, gradients, Tensors, emitted C and the tile interpreter.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tt/tt.hpp>

#include "arrays.hpp"
#include "tt/dispatch/eager.hpp"
#include "tt/jit/native.hpp"

namespace own {
using namespace tt;
// [squash]
struct Squash {
  static constexpr OpInfo info{.name = "own_squash", .max_ulp = 1.5f};
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return x / (1 + abs(x)); }
};
/// x / (1 + |x|), elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Squash, A> squash(A&& a, SourceLine at = here()) {
  return call<Squash>(at, static_cast<A&&>(a));
}
// [/squash]
}  // namespace own

namespace {

using namespace arrays;
using tt::Array;

/// Derivatives from the body.
struct Smooth {
  static constexpr tt::OpInfo info{.name = "smooth"};
  static constexpr auto body(auto x) { return x * tt::sigmoid(2 * x) + tt::where(x < 0, 0.25 * x, x); }
};
/// A rule of its own, recognisable: three times the true derivative.
struct Ruled {
  static constexpr tt::OpInfo info{.name = "ruled", .arity = 2};
  static constexpr auto body(auto x, auto y) { return x * x * y; }
  static constexpr auto derivative(auto x, auto y, auto, auto grad) {
    return tt::Gradients{3 * grad * 2 * x * y, 3 * grad * x * x};
  }
};
struct Counted {
  static constexpr tt::OpInfo info{.name = "counted", .domain = tt::Domain::number, .arity = 3};
  static constexpr auto body(auto x, auto low, auto high) { return (x - low) * (high - x); }
};
constexpr tt::Elementwise<Smooth> smooth{};
constexpr tt::Elementwise<Ruled> ruled{};
constexpr tt::Elementwise<Counted> counted{};
constexpr auto lambda1 = tt::op([](auto x) { return tt::exp(-(x * x)) + 1; });
constexpr auto lambda2 = tt::op([](auto x, auto slope) { return tt::where(x > 0, x, slope * x); });
constexpr auto lambda3 = tt::op([](auto x, auto y, auto z) { return tt::fma(x, y, z) / (2 + tt::abs(z)); });

using V = Array<float, 77>;

template <class F>
V by_emitted_text(F f, const V& x, const V& y, const V& z) {
  tt::Graph g;
  const tt::Sym s[] = {{&g, g.input(tt::DType::f32, {77})},
                       {&g, g.input(tt::DType::f32, {77})},
                       {&g, g.input(tt::DType::f32, {77})}};
  g.output(f(s[0], s[1], s[2]).id);
  const tt::Plan plan = tt::compile_plan(g);
  V out;
  void* external[] = {const_cast<float*>(x.data()), const_cast<float*>(y.data()),
                      const_cast<float*>(z.data()), out.data()};
  tt::NativeProgram(plan, "own_op").run(external, {});
  V tiles;
  external[3] = tiles.data();
  tt::backend::TileProgram(plan).run(external, {});
  CHECK(same_bits(out, tiles));
  return out;
}

template <class F>
void check_own_op(F f) {
  const V x = filled<V>(1), y = filled<V>(2), z = filled<V>(3);
  const V expression = tt::eval(f(x, y, z));
  CHECK(same_bits(expression, tt::fuse(f)(x, y, z)));
  CHECK(same_bits(expression, by_emitted_text(f, x, y, z)));
  const tt::Tensor eager = f(tt::from_span<float>(x, {77}), tt::from_span<float>(y, {77}),
                             tt::from_span<float>(z, {77}));
  CHECK(std::memcmp(eager.elements<float>().data(), expression.data(), sizeof(float) * 77) == 0);
}
/// The gradient in double, from the body or the rule; `times` is the rule's mark.
template <class F>
void check_own_gradient(F, double times = 1) {
  using D = Array<double, 9>;
  auto x = filled<D>(1), y = filled<D>(2), z = filled<D>(3);
  constexpr auto total = [](auto a, auto b, auto c) { return tt::sum(F{}(a, b, c)); };
  const auto run = tt::fuse(total);
  const auto [dx, dy, dz] = tt::grad<0, 1, 2>(total)(x, y, z);
  const auto at = [&] { return times * run(x, y, z).item(); };
  CHECK(gradient_error(at, x, dx) < difference_error * times);
  CHECK(gradient_error(at, y, dy) < difference_error * times);
  CHECK(gradient_error(at, z, dz) < difference_error * times);
}

}  // namespace

TEST_CASE("an op of one's own has the same bits on every path") {
  check_own_op([](const auto& x, const auto&, const auto&) { return smooth(x); });
  check_own_op([](const auto& x, const auto& y, const auto&) { return ruled(x, y); });
  check_own_op([](const auto& x, const auto& y, const auto& z) { return counted(x, y, z); });
  check_own_op([](const auto& x, const auto&, const auto&) { return lambda1(x); });
  check_own_op([](const auto& x, const auto& y, const auto&) { return lambda2(x, y); });
  check_own_op([](const auto& x, const auto& y, const auto& z) { return lambda3(x, y, z); });
  check_own_op([](const auto& x, const auto& y, const auto&) { return lambda2(smooth(x), 0.1) + ruled(y, 2); });
}

TEST_CASE("an op of one's own is differentiated from its body, or by its rule") {
  check_own_gradient([](auto x, auto y, auto) { return smooth(x) * smooth(y); });
  check_own_gradient([](auto x, auto y, auto) { return ruled(x, y); }, 3);
  check_own_gradient([](auto x, auto y, auto z) { return counted(x, y, z); });
  check_own_gradient([](auto x, auto y, auto z) { return lambda1(x * y) * z; });
  check_own_gradient([](auto x, auto y, auto z) { return lambda2(x, y) + z; });
  check_own_gradient([](auto x, auto y, auto z) { return lambda3(x, y, z); });
}

namespace {

/// More operands than a node holds in itself; differentiated from its body, and by a rule that is three times that.
constexpr auto body_of_six = [](auto a, auto b, auto c, auto d, auto e, auto f) { return tt::fma(a, b, c) * tt::exp(-(d * d)) + e / (2 + f * f); };
constexpr auto six = tt::op(body_of_six);
struct RuledFive {
  static constexpr tt::OpInfo info{.name = "ruled_five", .arity = 5};
  static constexpr auto body(auto a, auto b, auto c, auto d, auto e) { return a * b + c * d * e; }
  static constexpr auto derivative(auto a, auto b, auto c, auto d, auto e, auto, auto grad) {
    return tt::Gradients{3 * grad * b, 3 * grad * a, 3 * grad * d * e, 3 * grad * c * e, 3 * grad * c * d};
  }
};
constexpr tt::Elementwise<RuledFive> ruled_five{};

}  // namespace

TEST_CASE("an op of six operands has the same bits on every path, and gradients") {
  check_own_op([](const auto& x, const auto& y, const auto& z) { return six(x, y, z, y, x, z); });
  check_own_op([](const auto& x, const auto& y, const auto& z) { return six(x, 0.5, z, y, 2, z) + ruled_five(x, y, z, x, y); });
  check_own_gradient([](auto x, auto y, auto z) { return six(x, y, z, y, x, z); });
  check_own_gradient([](auto x, auto y, auto z) { return ruled_five(x, y, z, x, y); }, 3);
  const V x = filled<V>(1), y = filled<V>(2);
  tt::Tensor a = tt::from_span<float>(x, {77}).requires_grad_(), b = tt::from_span<float>(y, {77}).requires_grad_();
  const auto loss = [](const tt::Tensor& s, const tt::Tensor& t) { return six(s, t, s, t, t, s).sum() + ruled_five(s, t, s, t, s).sum(); };
  loss(a, b).backward();
  tt::Tensor c = a.detach().clone().requires_grad_(), d = b.detach().clone().requires_grad_();
  auto compiled = tt::compile(loss);
  compiled(c, d).backward();
  const auto [dx, dy] = tt::grad<0, 1>([](auto s, auto t) { return tt::sum(six(s, t, s, t, t, s)) + tt::sum(ruled_five(s, t, s, t, s)); })(x, y);
  for (const auto& [taped, other, fused] : {std::tuple(a, c, &dx), std::tuple(b, d, &dy)}) {
    CHECK(std::memcmp(taped.grad().elements<float>().data(), other.grad().elements<float>().data(), sizeof(float) * 77) == 0);
    CHECK(std::memcmp(taped.grad().elements<float>().data(), fused->data(), sizeof(float) * 77) == 0);
  }
}

TEST_CASE("an op of one's own promotes by its domain") {
  const Array<std::int32_t, 3> i{1, 2, 3};
  static_assert(std::is_same_v<decltype(tt::eval(smooth(i))), Array<float, 3>>);
  static_assert(std::is_same_v<decltype(tt::eval(counted(i, 0, 5))), Array<std::int32_t, 3>>);
  const Array<std::int32_t, 3> c = counted(i, 0, 5);
  CHECK(each_is(c, [&](auto k) { return i.data()[k] * (5 - i.data()[k]); }));
}

TEST_CASE("the elementwise op of ops/README.md has the same bits on every path, and gradients") {
  check_own_op([](const auto& x, const auto& y, const auto&) { return own::squash(x) * own::squash(y); });
  check_own_gradient([](auto x, auto y, auto z) { return own::squash(x * y) + own::squash(z); });
  const tt::Tensor t = tt::tensor({-3.0, 0.0, 1.0});
  CHECK(own::squash(t)[2].item() == 0.5);
  CHECK(tt::grad([](const tt::Tensor& u) { return own::squash(u).sum(); })(t)[1].item() == 1);
  CHECK(tt::compile([](const tt::Tensor& u) { return own::squash(u); }, {.fullgraph = true})(t)[0].item() == -0.75);
}
