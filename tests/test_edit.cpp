// Editing graphs, checking them, and random numbers without state.
#include <doctest/doctest.h>
#include <tt/tt.hpp>

#include <cmath>
#include <string>

#include "tt/functional/parse.hpp"

namespace {

using A = tt::Array<float, 4, 8>;

constexpr auto two_relus = [](auto x) { return tt::relu(x * 2) + tt::relu(x) * 3; };

/// Every relu becomes a gelu.
constexpr tt::Graph with_gelu(tt::Graph g) {
  for (;;) {
    const tt::Vec<int> relus = tt::find_all(g, tt::op_def<tt::Relu>);
    if (relus.empty()) return g;
    const int gelu = g.call(tt::op_def<tt::Gelu>, {g[relus[0]].operand[0]});
    g = tt::replace(g, relus[0], gelu);
  }
}
constexpr int count(const tt::Graph& g, const tt::OpDef& def) { return tt::find_all(g, def).size(); }

static_assert(count(tt::graph<A>(two_relus), tt::op_def<tt::Relu>) == 2);
static_assert(count(with_gelu(tt::graph<A>(two_relus)), tt::op_def<tt::Relu>) == 0);
static_assert(count(with_gelu(tt::graph<A>(two_relus)), tt::op_def<tt::Gelu>) == 2);
static_assert(tt::make_plan(with_gelu(tt::graph<A>(two_relus))).kernels.size() == 1);

}  // namespace

TEST_CASE("replacing an op keeps the rest of the graph, at run time too") {
  const tt::Graph g = with_gelu(tt::graph<A>(two_relus));
  CHECK(tt::check(g));
  CHECK(count(g, tt::op_def<tt::Gelu>) == 2);
  CHECK(g.inputs.size() == 1);
  CHECK(g.outputs.size() == 1);
}

TEST_CASE("inserting behind a node does not change the node itself") {
  const tt::Graph g = tt::graph<A>([](auto x) { return tt::exp(x) + 1; });
  const int e = tt::find_all(g, tt::op_def<tt::Exp>)[0];
  const tt::Graph longer = tt::insert_after(g, e, tt::Op::neg);
  CHECK(tt::check(longer));
  CHECK(longer.size() == g.size() + 1);
  const int n = tt::find_all(longer, tt::Op::neg)[0];
  CHECK(longer[longer[n].operand[0]].def == &tt::op_def<tt::Exp>);
  const tt::Graph back = tt::erase(longer, n);
  CHECK(tt::to_string(back) == tt::to_string(tt::canonical(g)));
}

TEST_CASE("check names what is wrong with a graph") {
  tt::Graph g = tt::graph<A>([](auto x) { return x + 1; });
  CHECK(tt::check(g));
  tt::Graph wrong = g;
  wrong.nodes[wrong.outputs[0]].shape = {4, 9};
  CHECK(tt::Text(tt::check(wrong).why) == tt::Text("has another shape than its operands give"));
  wrong = g;
  wrong.nodes[wrong.outputs[0]].operand[1] = wrong.size();
  CHECK(tt::Text(tt::check(wrong).why) == tt::Text("uses a node that comes after it"));
  wrong = g;
  wrong.nodes[wrong.outputs[0]].operand[1] = -1;
  CHECK(tt::Text(tt::check(wrong).why) == tt::Text("has a wrong number of operands"));
}

TEST_CASE("what cannot be edited is refused in words") {
  const tt::Graph g = tt::graph<A>([](auto x) { return tt::exp(x) + 1; });
  const int e = tt::find_all(g, tt::op_def<tt::Exp>)[0], x = g.inputs[0];
  CHECK_THROWS_WITH_AS(
      (void)tt::insert_after(g, e, tt::Op::add),
      "tt::insert_after: only elementwise ops of one operand and nothing else can be inserted: add "
      "is not one. Record it on the graph and use tt::replace?",
      tt::Error);
  for (tt::Op op : {tt::Op::where, tt::Op::sum, tt::Op::input, tt::Op::cast, tt::Op::shift_left})
    CHECK_THROWS_AS((void)tt::insert_after(g, e, op), tt::Error);
  CHECK_THROWS_WITH_AS((void)tt::erase(g, x),
                       "tt::erase: node has no operand to take its place: input is node 0. Replace "
                       "it by another node?",
                       tt::Error);
  CHECK_THROWS_AS((void)tt::erase(g, tt::find_all(g, tt::Op::constant)[0]), tt::Error);
  CHECK_THROWS_WITH_AS((void)tt::erase(g, 99),
                       "tt::erase: no such node: 99 in a graph of 4 nodes. Ask find_all for the ids.",
                       tt::Error);
  CHECK_THROWS_AS((void)tt::replace(g, e, -1), tt::Error);
  CHECK_THROWS_AS((void)tt::insert_after(g, -1, tt::Op::neg), tt::Error);
}

TEST_CASE("check infers the shape and dtype of every kind of node anew") {
  tt::Graph g;
  const tt::Sym x{&g, g.input(tt::DType::f32, {4, 8})};
  g.output(tt::sum<1>(tt::matmul(x, tt::transpose(x))).id);
  g.output(tt::amax<0>(tt::slice<1, 2, 5>(x)).id);
  g.output(tt::reshape<2, 16>(x).id);
  g.output(tt::broadcast_to<3, 4, 8>(x).id);
  g.output((tt::where(x > 0, x, -x) + tt::cast<float>(tt::cast<std::int32_t>(x))).id);
  g.output(tt::gelu(x).id);
  REQUIRE(tt::check(g));
  for (int i = 0; i < g.size(); ++i) {
    if (g[i].op == tt::Op::input) continue;
    INFO(tt::name(g[i].op) << ", node " << i);
    tt::Graph wrong = g;
    wrong.nodes[i].shape.push_back(3);
    CHECK(!tt::check(wrong));
    CHECK(tt::check(wrong).node == i);
    if (tt::is_leaf(g[i].op) || g[i].op == tt::Op::cast) continue;
    wrong = g;
    wrong.nodes[i].dtype = g[i].dtype == tt::DType::f64 ? tt::DType::i64 : tt::DType::f64;
    CHECK(tt::check(wrong).node == i);
  }
  tt::Graph wrong = g;
  wrong.nodes[tt::find_all(g, tt::Op::sum)[0]].attribute = 1;
  CHECK(tt::Text(tt::check(wrong).why) == tt::Text("has another shape than its operands give"));
  wrong = g;
  wrong.nodes[g.inputs[0]].dtype = tt::DType::i32;
  CHECK(!tt::check(wrong));
}

TEST_CASE("an op whose body takes a gradient has derivatives of the second order, of its operand's shape") {
  const auto f = tt::op([](auto a) { return tt::grad([](auto b) { return b * b * b; })(a); });
  tt::Graph g;
  const int x = g.input(tt::DType::f32, {4});
  const tt::Sym y = f(tt::Sym{&g, x});
  const tt::Vec<int> d = tt::gradients(g, tt::sum(y * y).id, {x});
  CHECK(tt::check(g));
  const tt::Vec<int> e = tt::gradients(g, tt::sum(tt::Sym{&g, d[0]}).id, {x});
  CHECK(!g.failure);
  CHECK(tt::check(g));
  CHECK(g[e[0]].shape == tt::Shape{4});
}

TEST_CASE("a node may be made again of its own operands, and lists do not grow for nodes that are there") {
  constexpr auto six = tt::op([](auto a, auto b, auto c, auto d, auto e, auto f) { return a * b + c * d + e * f; });
  tt::Graph g;
  tt::Sym x[6];
  for (tt::Sym& s : x) s = {&g, g.input(tt::DType::f32, {3})};
  int last = 0;
  for (int k = 0; k < 40; ++k) {
    last = six(x[k % 6], x[k / 6 % 6], x[2], x[3], x[4], x[5]).id;
    CHECK(g.intern(g[last], g, g.operands(last)) == last);
  }
  CHECK(g.operands(last)[5] == x[5].id);
  CHECK(tt::check(g));
}

TEST_CASE("check knows what passes make of a graph") {
  tt::Graph g;
  const tt::Sym x{&g, g.input(tt::DType::f32, {64, 64})}, y{&g, g.input(tt::DType::f32, {32, 64})};
  g.output(tt::sum<1>(tt::transpose(x)).id);
  g.output(tt::slice_scatter<0, 3>(x, y).id);
  g.output(tt::pad<1, 2>(y).id);
  const tt::Graph normal = tt::normalize(tt::canonical(g));
  REQUIRE(tt::check(normal, tt::Phase::normalized));
  CHECK(tt::parse(tt::to_string(normal)) == normal);
  const auto why = [&](auto&& is_place, auto&& damage) {
    for (int i = 0; i < normal.size(); ++i) {
      if (!is_place(normal[i])) continue;
      tt::Graph wrong = normal;
      damage(wrong.nodes[i]);
      const tt::CheckResult r = tt::check(wrong, tt::Phase::normalized);
      return r.node == i ? std::string(r.why) : "another node";
    }
    return std::string("no such node");
  };
  const auto in_row_order = [](const tt::Node& n) { return (n.bits & tt::in_row_order) != 0 && tt::is_reduction(n.op); };
  const auto replaces = [](const tt::Node& n) { return n.op == tt::Op::slice_scatter; };
  const auto copies = [](const tt::Node& n) { return n.op == tt::Op::copy; };
  CHECK(why(in_row_order, [](tt::Node& n) { n.attribute = 2; }) == "sums in a row's order what is no row exchanged with the axis before it");
  CHECK(why(in_row_order, [](tt::Node& n) { n.shape.set(1, 65); }) == "has another shape than its operands give");
  CHECK(tt::check(tt::parse("graph 3\n%0 = constant 0 : f32 ()\n%1 = copy(%0) : f32 (8,)\n%2 = prims.sum(%1) axes 0 : f32 (1,) -> output 0\n"), tt::Phase::normalized));
  CHECK(why(replaces, [](tt::Node& n) { n.shape.set(0, 33); }) == "has another shape than its operand");
  CHECK(why(copies, [](tt::Node& n) { n.shape.set(0, 65); }) == "has another shape than its operand");
}

TEST_CASE("Philox gives the published words") {
  // The known answer of philox4x32-10 for counter 0 and key 0 (Random123, kat_vectors).
  CHECK(tt::philox(tt::Num<std::int64_t>(0LL), tt::Num<std::int64_t>(0LL)).value == 0x6627e8d5e169c58d);
  const tt::Array<std::int64_t, 3> counter{0, 1, 2};
  const tt::Array<std::int64_t, 3> words = tt::philox(counter, 0);
  CHECK(words(0) == 0x6627e8d5e169c58d);
  for (std::int64_t k : {1, 2})
    CHECK(words(k) == tt::philox(tt::Num<std::int64_t>(k), tt::Num<std::int64_t>(0LL)).value);
}

TEST_CASE("random numbers are the same for the same seed, and spread as they should") {
  const tt::Array<float, 128, 128> like;
  const tt::Array<float, 128, 128> u = tt::rand_like(like, 7), same = tt::rand_like(like, 7),
                                   other = tt::rand_like(like, 8), n = tt::randn_like(like, 7);
  double mean = 0, square = 0, normal = 0, normal_square = 0;
  int equal = 0;
  for (int i = 0; i < 128 * 128; ++i) {
    CHECK_FALSE((u.data()[i] < 0 || u.data()[i] >= 1 || u.data()[i] != same.data()[i]));
    equal += u.data()[i] == other.data()[i];
    mean += static_cast<double>(u.data()[i]);
    square += std::pow(static_cast<double>(u.data()[i]) - 0.5, 2);
    normal += static_cast<double>(n.data()[i]);
    normal_square += std::pow(static_cast<double>(n.data()[i]), 2);
  }
  constexpr double count_ = 128 * 128;  // five standard errors
  CHECK(equal < 20);
  CHECK(std::abs(mean / count_ - 0.5) < 5 * std::sqrt(1.0 / 12 / count_));
  CHECK(std::abs(square / count_ - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / count_));
  CHECK(std::abs(normal / count_) < 5 / std::sqrt(count_));
  CHECK(std::abs(normal_square / count_ - 1) < 5 * std::sqrt(2 / count_));
}

TEST_CASE("a fused program draws the numbers that an expression draws") {
  const tt::Array<float, 33> like;
  const auto drawn = tt::fuse([](auto x) { return tt::rand_like(x, 3) * 2; })(like);
  const tt::Array<float, 33> expected = tt::rand_like(like, 3) * 2;
  for (int i = 0; i < 33; ++i) CHECK(drawn(i) == expected(i));
}
