// cat, stack, slice_scatter, tril and triu: static, on Tensors, on the tape, captured, as emitted C; plans without needless
// copies; wrong calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "tensors.hpp"
#include "tt/dispatch/boxed.hpp"
#include "tt/functional/parse.hpp"

namespace {

using tt::Array;
using tt::DType;
using tt::Graph;
using tt::Shape;
using tt::Tensor;

template <class T = float>
Tensor counted(const tt::IntList& shape, double first = 1) {
  std::int64_t n = 1;
  for (std::int64_t e : shape) n *= e;
  return (tt::arange(n).to(DType::f64) + first).to(tt::dtype_of<T>).reshape(shape);
}
std::string at(int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); }
/// The parts written into their places.
Tensor joined(std::initializer_list<Tensor> parts, int dim) {
  Shape s = parts.begin()->shape();
  std::int64_t total = 0;
  for (const Tensor& t : parts) total += t.size(dim);
  s.set(dim, total);
  Tensor r = tt::zeros(s, {.dtype = parts.begin()->dtype()});
  std::int64_t at = 0;
  for (const Tensor& t : parts) {
    if (t.numel() > 0) r.slice(dim, at, at + t.size(dim)).copy_(t);
    at += t.size(dim);
  }
  return r;
}
int kernels_of(const Graph& g) { return tt::make_plan(g).kernels.size(); }

}  // namespace

TEST_CASE("cat of Arrays, a fused program") {
  const auto a = tt::to_array<Array<float, 3, 4>>(tt::rand({3, 4}, 1));
  const auto b = tt::to_array<Array<float, 3, 2>>(tt::rand({3, 2}, 2));
  const auto c = tt::to_array<Array<float, 3, 19>>(tt::rand({3, 19}, 3));
  const Array<float, 3, 25> r = tt::cat<1>(a, b, c);
  const Array<float, 3, 25> f = tt::fuse([](auto x, auto y, auto z) { return tt::square(tt::cat<-1>(x * 2, y, z)) + 1; })(a, b, c);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 25; ++j) {
      const float x = j < 4 ? a(i, j) : j < 6 ? b(i, j - 4) : c(i, j - 6);
      CHECK(r(i, j) == x);
      CHECK(f(i, j) == (j < 4 ? x * 2 * (x * 2) : x * x) + 1);
    }
  Array<double, 5, tt::dyn> p(7), q(7);
  for (int i = 0; i < 35; ++i) {
    p.data()[i] = i;
    q.data()[i] = -p.data()[i];
  }
  const Array<double, 10, tt::dyn> rows = tt::cat(p, q);
  CHECK(rows(4, 6) == 34);
  CHECK(rows(5, 1) == -1);
  CHECK(std::signbit(rows(5, 0)));
  const Array<double, 2, 5, tt::dyn> both = tt::stack(p, q);
  CHECK(both(1, 4, 6) == -34);
  const Array<float, 3, 2, 2> last = tt::stack<-1>(b, b);
  CHECK(last(2, 1, 0) == b(2, 1));
  using Pair = Array<float, 2>;
  const Array<float, 10> five = tt::cat(Pair{1, 2}, Pair{3, 4}, Pair{5, 6}, Pair{7, 8}, Pair{9, 10});
  for (int i = 0; i < 10; ++i) CHECK(five(i) == static_cast<float>(i + 1));
}

TEST_CASE("gradients through cat and slice_scatter are slices") {
  Array<float, 4> a{1, 2, 3, 4};
  Array<float, 3> b{5, 6, 7};
  const auto [da, db] = tt::grad<0, 1>([](auto x, auto y) { return tt::sum(tt::square(tt::cat(x, y, x))); })(a, b);
  for (int i = 0; i < 4; ++i) CHECK(da(i) == 4 * a(i));
  for (int i = 0; i < 3; ++i) CHECK(db(i) == 2 * b(i));
  const auto [dx, dy] = tt::grad<0, 1>([](auto x, auto y) { return tt::sum(tt::square(tt::slice_scatter<0, 1>(x, y * 3))); })(a, Array<float, 2>{5, 6});
  CHECK(dx(0) == 2);
  CHECK(dx(1) == 0);
  CHECK(dx(2) == 0);
  CHECK(dx(3) == 8);
  CHECK(dy(0) == 2 * 15 * 3);
  CHECK(dy(1) == 2 * 18 * 3);
}

TEST_CASE("triangles") {
  Array<float, 3, 4> a{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  const Array<float, 3, 4> low = tt::tril(a), up = tt::triu<1>(a), below = tt::tril<-1>(a);
  const Tensor x = tt::as_tensor(a);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      CHECK(low(i, j) == (j <= i ? a(i, j) : 0));
      CHECK(up(i, j) == (j >= i + 1 ? a(i, j) : 0));
      CHECK(below(i, j) == (j <= i - 1 ? a(i, j) : 0));
    }
  CHECK(same_bits(tt::tril(x, 0), tt::tril(x)));
  CHECK(same_bits(tt::tril(x, 0) + tt::triu(x, 1), x));
  CHECK(same_bits(tt::tril(x > 2, 1), (x > 2) && tt::tril(tt::ones({3, 4}), 1) > 0));
  CHECK(same_bits(tt::triu(counted<std::int64_t>({2, 3, 3})), counted<std::int64_t>({2, 3, 3}) - tt::tril(counted<std::int64_t>({2, 3, 3}), -1)));
}

TEST_CASE_TEMPLATE("cat and stack of Tensors", T, float, double, std::int32_t, std::int64_t) {
  const Tensor a = counted<T>({3, 4, 5}), b = counted<T>({3, 2, 5}, 100), c = counted<T>({3, 1, 5}, 200);
  CHECK(same_bits(tt::cat({a, b, c}, 1), joined({a, b, c}, 1)));
  CHECK(same_bits(tt::cat({a, b}, -2), joined({a, b}, 1)));
  CHECK(same_bits(tt::cat<1>(a, b, c), joined({a, b, c}, 1)));
  CHECK(same_bits(tt::cat({a, a}), joined({a, a}, 0)));
  CHECK(same_bits(tt::cat({a, a + 1, a + 2}, 2), joined({a, a + 1, a + 2}, 2)));
  CHECK(same_bits(tt::cat({a}, 1), a));
  const Tensor turned = counted<T>({5, 6, 3}).permute({2, 1, 0}), part = turned.slice(1, 1, 6, 2);
  CHECK(same_bits(tt::cat({a, turned, part}, 1), joined({a, turned, part}, 1)));
  const Tensor none = tt::zeros({3, 0, 5}, {.dtype = tt::dtype_of<T>});
  CHECK(same_bits(tt::cat({none, a, none, b}, 1), joined({a, b}, 1)));
  CHECK(tt::cat({none, none}, 1).shape() == Shape{3, 0, 5});
  CHECK(tt::cat({none, none}, 0).shape() == Shape{6, 0, 5});
  CHECK(same_bits(tt::stack({a, a + 1}), joined({a.unsqueeze(0), (a + 1).unsqueeze(0)}, 0)));
  CHECK(same_bits(tt::stack({a, a + 1}, -1), joined({a.unsqueeze(3), (a + 1).unsqueeze(3)}, 3)));
  CHECK(same_bits(tt::stack<1>(a, a + 1, a, a), joined({a.unsqueeze(1), (a + 1).unsqueeze(1), a.unsqueeze(1), a.unsqueeze(1)}, 1)));
  CHECK(same_bits(tt::stack({a.select(0, 0).select(0, 0).select(0, 0), tt::tensor(7).to(tt::dtype_of<T>)}), tt::tensor({1, 7}).to(tt::dtype_of<T>)));
  CHECK(same_bits(tt::call("cat", {a, b, c, 1}), joined({a, b, c}, 1)));
  CHECK(same_bits(tt::call("cat", {a, a}, {{"dim", 2}}), joined({a, a}, 2)));
  CHECK(same_bits(tt::slice_scatter(a, b, 1, 2), joined({a.slice(1, 0, 2), b}, 1)));
  CHECK(same_bits(tt::slice_scatter(a, c, 1, 1), joined({a.slice(1, 0, 1), c, a.slice(1, 2, 4)}, 1)));
  CHECK(same_bits(tt::slice_scatter<1, 1>(a, c), tt::slice_scatter(a, c, 1, 1)));
}

TEST_CASE("cat takes the highest dtype, and any number of Tensors") {
  const Tensor i = tt::arange(3), f = tt::tensor({0.5, 1.5}), d = f.to(DType::f64), b = i > 1;
  CHECK(tt::cat({i, f}).dtype() == DType::f32);
  CHECK(same_bits(tt::cat({i, f, d}), tt::tensor({0, 1, 2, 0.5, 1.5, 0.5, 1.5}, {.dtype = DType::f64})));
  CHECK(same_bits(tt::cat({b, i}), tt::tensor({0, 0, 1, 0, 1, 2}).to(DType::i64)));
  CHECK(same_bits(tt::cat({b, b}), (tt::cat({i, i}) > 1)));
  CHECK(same_bits(tt::slice_scatter(i, f, 0, 1), tt::tensor({0, 0, 1}).to(DType::i64)));  // of the base's dtype
  std::vector<Tensor> rows;
  for (int k = 0; k < 100; ++k) rows.push_back(tt::full({1, 3}, static_cast<double>(k)));
  const Tensor all = tt::cat(rows);
  CHECK(same_bits(all, tt::arange(100).to(DType::f32).reshape({100, 1}).expand({100, 3})));
  CHECK(same_bits(tt::stack(rows, 1), all.reshape({1, 100, 3})));
}

TEST_CASE("cat and stack keep their names in captured graphs, and are found by them") {
  const Tensor x = tt::rand({3, 4}, 1), y = tt::rand({2, 4}, 2);
  CHECK(same_bits(tt::call("stack", {x, x * 2}, {{"dim", -1}}), tt::stack({x, x * 2}, -1)));
  CHECK(same_bits(tt::call("cat", {x, y, x}), tt::cat({x, y, x})));
  const auto f = [](const Tensor& a, const Tensor& b) { return tt::stack({tt::cat({a, b}), tt::cat({b, a})}, 1); };
  const auto t = tt::trace(f, x, y);
  CHECK(same_bits(t(x, y), f(x, y)));
  CHECK(same_bits(t(x, tt::rand({7, 4}, 3)), f(x, tt::rand({7, 4}, 3))));
  const std::string text(t.to_string());
  CHECK(text.find("%2 = cat(%0, %1) dim 0 : f32 (s0 + s2, s1)") != std::string::npos);
  CHECK(text.find("%4 = stack(%2, %3) dim 1 : f32 (s0 + s2, 2, s1) -> output 0") != std::string::npos);
  CHECK(tt::parse(text) == t.graph);
  const Tensor u = tt::rand({3}, 4).requires_grad_(), v = tt::rand({3}, 5).requires_grad_();
  (tt::stack({u, v, u}, 1) * tt::tensor({1.0, 2.0, 3.0})).sum().backward();
  CHECK(same_bits(u.grad(), tt::full({3}, 4.0)));
  CHECK(same_bits(v.grad(), tt::full({3}, 2.0)));
}

TEST_CASE("gradients on the tape") {
  const auto real = [](const tt::IntList& s, int seed) { return tt::randn(s, seed, {.dtype = DType::f64}).requires_grad_(); };
  const Tensor a = real({3, 4}, 1), b = real({3, 2}, 2), c = real({4, 3}, 3);
  const auto check = [](const auto& f, const std::vector<Tensor>& inputs) { CHECK(message([&] { tt::gradcheck(f, inputs); }) == "no error"); };
  const auto check_twice = [](const auto& f, const std::vector<Tensor>& inputs) {
    CHECK(message([&] { tt::gradgradcheck(f, inputs); }) == "no error");
  };
  check([](const std::vector<Tensor>& v) { return tt::cat({v[0], v[1], v[2].t()}, 1).square(); }, {a, b, c});
  check_twice([](const std::vector<Tensor>& v) { return tt::cat({v[0], v[1], v[0]}, 1).sin(); }, {a, b});
  check([](const std::vector<Tensor>& v) { return tt::stack({v[0], v[0] * 2}, 1).square(); }, {a});
  check([](const std::vector<Tensor>& v) { return tt::slice_scatter(v[0], v[1], 1, 1).square(); }, {a, b});
  check([](const std::vector<Tensor>& v) { return tt::tril(v[0], 1).square() + tt::triu(v[0]); }, {a});
  Tensor x = tt::ones({2}).requires_grad_(), n = tt::arange(3);
  (tt::cat({x, n, x * 2}) * tt::arange(7)).sum().backward();
  CHECK(same_bits(x.grad(), tt::tensor({10.f, 13.f})));
  std::vector<Tensor> many(20, x);
  x.grad().zero_();
  tt::cat(many).sum().backward();
  CHECK(same_bits(x.grad(), tt::tensor({20.f, 20.f})));
}

TEST_CASE("captured: one graph, no copy of what is computed for it, equal bits on every tier") {
  const auto model = [](const Tensor& x, const Tensor& y) {
    return tt::cat({x.exp(), y * 2, x + 1}, 1).tanh() + tt::cat({y, x, x}, -1).sum(1, true);
  };
  const Tensor x = tt::randn({5, 33}, 1), y = tt::randn({5, 17}, 2);
  for (const int tier : {0, 1}) {
    const auto f = tt::compile(model, {.tier = tier, .wait = true});
    CHECK(same_bits(f(x, y), model(x, y)));
    CHECK(same_bits(f(x.slice(0, 0, 3), y.slice(0, 2, 5)), model(x.slice(0, 0, 3), y.slice(0, 2, 5))));
    CHECK_MESSAGE(contains(f.explain(), "1 capture"), f.explain());  // the batch is a symbol
    const Tensor p = x.clone().requires_grad_(), q = x.clone().requires_grad_();
    f(p, y).sum().backward();
    model(q, y).sum().backward();
    CHECK(same_bits(p.grad(), q.grad()));
  }
  const auto with_break = tt::compile([](const Tensor& a, const Tensor& b) {
    const Tensor r = tt::cat({a, b}, 1);
    return r.sum().item<float>() > 1e9f ? r : tt::stack({r, tt::slice_scatter(r, b, 1, 3)});
  });
  const Tensor r = tt::cat({x, y}, 1);
  for (int k = 0; k < 3; ++k) CHECK(same_bits(with_break(x, y), tt::stack({r, tt::slice_scatter(r, y, 1, 3)})));
}

TEST_CASE("plans: what is joined is written where it belongs, once") {
  const auto input = [](Graph& g, const Shape& s) { return g.input(DType::f32, s); };
  {
    Graph g;
    const int part[] = {g.neg(input(g, {3, 4})), input(g, {3, 2}), input(g, {3, 5})};
    g.output(g.cat(part, 3, 1));
    CHECK(kernels_of(g) == 3);  // and none that fills
    CHECK(tt::make_plan(g).arena == 0);
  }
  {
    Graph g;  // what was joined of what was joined is joined once
    const int x = input(g, {3, 4}), inner[] = {x, g.neg(x)}, joined = g.cat(inner, 2, 0), outer[] = {joined, x, joined};
    g.output(g.cat(outer, 3, 0));
    CHECK(kernels_of(g) == 5);
  }
  {
    Graph g;  // all of it is replaced in the end, piece by piece, from the middle
    const int x = input(g, {3, 2}), base = g.neg(input(g, {3, 6}));
    g.output(g.slice_scatter(g.slice_scatter(g.slice_scatter(base, x, 1, 2), x, 1, 4), g.neg(x), 1, 0));
    CHECK(kernels_of(g) == 3);
  }
  {
    Graph g;  // not all of it
    const int x = input(g, {3, 2});
    g.output(g.slice_scatter(g.slice_scatter(input(g, {3, 6}), x, 1, 3), g.neg(x), 1, 0));
    CHECK(kernels_of(g) == 3);
  }
  {
    Graph g;  // the value without the part is wanted too
    const int x = input(g, {3, 2}), y = g.pad(x, {{1, 1}, {0, 0}}, {3, 6});
    g.output(g.slice_scatter(y, x, 1, 3));
    g.output(y);
    CHECK(kernels_of(g) == 4);
  }
}

TEST_CASE("a slice of what was joined is a slice of a part, and joined values are joined once") {
  Graph g;
  const int a = g.input(DType::f32, {3, 4}), b = g.input(DType::f32, {3, 2}), part[] = {a, b, a}, r = g.cat(part, 3, 1);
  const auto becomes = [&](int id, int want) {
    Graph one = g, other = g;
    one.output(id);
    other.output(want);
    return tt::shows_parts(one) && std::string(tt::to_string(tt::join_parts(one))) == std::string(tt::to_string(tt::canonical(other)));
  };
  const auto number = [&](int columns) { return g.constant(DType::f32, 5, {3, columns}); };
  CHECK(becomes(g.slice(r, 1, 4, 2, 1), b));
  CHECK(becomes(g.slice(r, 1, 0, 4, 1), a));
  CHECK(becomes(g.slice(r, 1, 7, 2, 1), g.slice(a, 1, 1, 2, 1)));
  CHECK(becomes(g.slice(r, 1, 9, 3, -1), g.slice(a, 1, 3, 3, -1)));
  CHECK(becomes(g.slice(r, 1, 3, 2, 1), g.slice(g.slice_scatter(g.pad(a, {{1, 1}, {0, 0}}, {3, 10}), b, 1, 4), 1, 3, 2, 1)));
  const int padded = g.pad(a, {{1, 1}, {2, 0}}, {3, 9}, tt::encode(DType::f32, 5));
  CHECK(becomes(g.slice(padded, 1, 2, 4, 1), a));
  CHECK(becomes(g.slice(padded, 1, 0, 2, 1), number(2)));
  CHECK(becomes(g.slice(padded, 1, 6, 3, 1), number(3)));
  const int two[] = {a, b}, joined = g.cat(two, 2, 1), nested[] = {joined, a}, outer[] = {b, joined}, flat[] = {b, a, b};
  CHECK(becomes(g.cat(nested, 2, 1), r));
  CHECK(becomes(g.cat(outer, 2, 1), g.cat(flat, 3, 1)));
}

TEST_CASE("a slice finds its part among many, in whatever order they were put in place of others") {
  Graph g;
  tt::Vec<int> part;
  for (int k = 0; k < 50; ++k) part.push_back(g.input(DType::f32, {3, 1 + k % 4}));
  const int all = g.cat(part.begin(), part.size(), 1);
  std::int64_t start = 0;
  for (int id : part) {
    Graph one = g, other = g;
    const tt::Extent length = g[id].shape[1];
    one.output(one.slice(all, 1, start, length, 1));
    other.output(id);
    CHECK(std::string(tt::to_string(tt::join_parts(one))) == std::string(tt::to_string(tt::canonical(other))));
    start += length.code;
  }
  std::uint32_t state = 1;
  const auto below = [&](int n) { return static_cast<int>((state = state * 1664525 + 1013904223) >> 16) % n; };
  for (int round = 0; round < 30; ++round) {
    std::vector<int> from, length;
    for (int k = 0; k < 20; ++k) {
      length.push_back(1 + below(6));
      from.push_back(round % 3 == 0 && k > 0 && from.back() + length[length.size() - 2] + length.back() <= 60 ? from.back() + length[length.size() - 2]
                                                                                                            : below(60 - length.back()));
    }
    const int first = below(50), last = first + 1 + below(60 - first);
    const auto f = [&](const Tensor& x) {
      Tensor y = x.neg();
      for (std::size_t k = 0; k < from.size(); ++k) y = tt::slice_scatter(y, x.slice(0, 0, length[k]) + static_cast<float>(k), 0, from[k]);
      return y.slice(0, first, last);
    };
    const Tensor x = tt::rand({60}, round);
    CHECK(same_bits(tt::compile(tt::frozen(f))(x), f(x)));
  }
}

TEST_CASE("what is joined of many parts, with its gradients, is a kernel for each") {  // how long that takes: bench_scale
  constexpr int parts = 1500;
  Graph g;
  tt::Vec<int> part;
  for (int k = 0; k < parts; ++k) part.push_back(g.input(DType::f32, {tt::Extent::symbol(0), 1 + k % 50}));
  const tt::Sym all{&g, g.cat(part.begin(), parts, 1)}, loss = tt::sum(all * all);
  for (int d : tt::gradients(g, loss.id, part)) g.output(d);
  CHECK(tt::compile_plan(g).kernels.size() >= parts);
}

TEST_CASE("wrong calls say what is wrong") {
  const Tensor x = tt::zeros({2, 3}), y = tt::zeros({2, 4}), s = tt::tensor(1.0);
  CHECK(message([&] { tt::cat({x, y}); }) == "tt::cat: extents beside the axis differ: (2, 3) and (2, 4), along axis 0." + at(__LINE__));
  CHECK(message([&] { tt::cat({x, x.select(0, 0)}); }) == "tt::cat: extents beside the axis differ: (2, 3) and (3,), along axis 0." + at(__LINE__));
  CHECK(message([&] { tt::cat({x, y}, 2); }) == "tt::cat: axis is out of range: 2 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { tt::cat({s, s}); }) == "tt::cat: rank is too low: () has rank 0, needed is 1." + at(__LINE__));
  CHECK(message([&] { tt::cat(std::vector<Tensor>{}); }) == "tt::cat: there is no Tensor to join." + at(__LINE__));
  CHECK(message([&] { tt::cat({x, Tensor()}); }) == "tt::cat: argument 1 is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { tt::stack({x, y}); }) == "tt::stack: shapes differ: (2, 3) and (2, 4)." + at(__LINE__));
  CHECK(message([&] { tt::slice_scatter(x, y, 1, 0); }) == "tt::slice_scatter: slice is out of range: 3 in shape (2, 3)." + at(__LINE__));
  CHECK(message([&] { tt::slice_scatter(x, y, 0, 0); }) == "tt::slice_scatter: extents beside the axis differ: (2, 3) and (2, 4), along axis 0." + at(__LINE__));
  CHECK(message([&] { tt::tril(s); }) == "tt::tril: rank is too low: () has rank 0, needed is 2." + at(__LINE__));
  CHECK(message([&] { tt::call("cat", {1}); }).starts_with("tt::call: cat: a Tensor is expected for tensors: takes (Tensor[] tensors, int dim=0)."));
  const auto f = tt::compile([](const Tensor& a, const Tensor& b) { return tt::cat({a, b}); });
  CHECK(message([&] { f(x, y); }).starts_with("tt::cat: extents beside the axis differ: "));
}

TEST_CASE("a pad that begins behind others' elements is no part of what is joined") {
  const auto f = [](const Tensor& y, const Tensor& z) { return tt::cat({tt::pad(tt::pad(y, {0, 2}), {2, 0}), z}); };
  const Tensor y = tt::tensor({5.0f, 6.0f}), z = tt::tensor({7.0f});
  CHECK(numbers(f(y, z)) == Numbers{0, 0, 5, 6, 0, 0, 7});
  CHECK(numbers(tt::compile(f)(y, z)) == Numbers{0, 0, 5, 6, 0, 0, 7});
  const Array<float, 2> a{5, 6};
  const Array<float, 1> b{7};
  Array<float, 7> r = tt::fuse([](auto p, auto q) {
    return tt::cat<0>(tt::pad<2, 0>(tt::slice_scatter<0, 0>(tt::cat<0>(p, q, q), p * 2)), q);
  })(a, b);
  CHECK(numbers(tt::as_tensor(r).clone()) == Numbers{0, 0, 10, 12, 7, 7, 7});
}

TEST_CASE("gradients of joined values are summed in one order, however they are joined, read and captured") {
  const auto check = [](const auto& f) {
    Tensor gradient[2][2];
    for (int compiled = 0; compiled < 2; ++compiled) {
      const Tensor a = tt::rand({1000}, 1).requires_grad_(), b = tt::rand({1000}, 2).requires_grad_();
      const Tensor r = compiled ? tt::compile(f)(a, b) : f(a, b);
      (r * tt::rand(r.shape(), 3)).sum().backward();
      gradient[compiled][0] = a.grad();
      gradient[compiled][1] = b.grad();
    }
    for (int k = 0; k < 2; ++k) CHECK(same_bits(gradient[0][k], gradient[1][k]));
  };
  check([](const Tensor& a, const Tensor& b) {
    const Tensor r = tt::cat({a, b});
    return (r * 0.3).slice(0, 0, 1000) + r.slice(0, 500, 1500) * 0.7 + r.slice(0, 0, 1000) * 1.1;
  });
  check([](const Tensor& a, const Tensor& b) {
    const Tensor r = tt::pad(a, {500, 500});
    return (r * 0.3).slice(0, 0, 1000) + r.slice(0, 500, 1500) * 0.7 + r.slice(0, 0, 1000) * b;
  });
  check([](const Tensor& a, const Tensor& b) { return tt::cat({a, b, a, a * b, a}).exp(); });
  check([](const Tensor& a, const Tensor& b) { return tt::cat({a, b, a, b, a, b * 2, a, b, a, a + b, b}).exp(); });
  check([](const Tensor& a, const Tensor& b) { return tt::stack({a, b, tt::cat({b, a, a * b, a}).slice(0, 700, 1700), a * b}, 1).exp(); });
}

TEST_CASE("a slice of a joined value hangs on what all of it hangs on") {
  const auto f = [](const Tensor& a, const Tensor& b) { return tt::cat({tt::pad(a, {0, 2}), b}).slice(0, 2, 6); };
  const Tensor a = tt::tensor({1.0f, 2.0f}).requires_grad_(), b = tt::tensor({3.0f, 4.0f});
  for (const Tensor& r : {f(a, b), tt::compile(f)(a, b)}) {
    CHECK(r.requires_grad());
    r.sum().backward();
    CHECK(numbers(a.grad()) == Numbers{0, 0});
  }
}

TEST_CASE("of integers that are joined only shapes are kept for backward") {
  const Tensor a = tt::tensor({1.0f, 2.0f}).requires_grad_(), i = tt::tensor({3, 4});
  const Tensor r = tt::cat({a, i});
  Tensor(i).add_(1);
  r.sum().backward();
  CHECK(numbers(a.grad()) == Numbers{1, 1});
}

TEST_CASE("a vector without elements joins whatever there is, as in PyTorch") {
  const Tensor x = tt::tensor({{1.0, 2.0}, {3.0, 4.0}}), none = tt::zeros({0}, {.dtype = DType::f64});
  for (const int dim : {0, 1}) {
    const Tensor want = tt::cat({x, x}, dim).to(DType::f64);
    CHECK(same_bits(tt::cat({none, x, none, x}, dim), want));
    CHECK(same_bits(tt::compile(tt::frozen([=](const Tensor& a, const Tensor& b) { return tt::cat({b, a, a, b}, dim); }))(x, none), want));
    Tensor p = none.clone().requires_grad_(), q = x.clone().requires_grad_();
    (tt::cat({p, q}, dim) * 2).sum().backward();
    CHECK(p.grad().shape() == tt::Shape{0});
    CHECK(numbers(q.grad()) == Numbers(4, 2));
  }
  CHECK(tt::cat({none, none}).shape() == tt::Shape{0});
  CHECK(tt::cat(std::vector<Tensor>(20, none)).shape() == tt::Shape{0});
  std::vector<Tensor> many(10, none);
  many.push_back(x);
  CHECK(same_bits(tt::cat(many, 1), x.to(DType::f64)));
  const tt::Array<float, 0> empty;
  const tt::Array<float, 2, 2> m = {{1, 2}, {3, 4}};
  CHECK(tt::eval(tt::cat(empty, m))(1, 0) == 3);
  CHECK_THROWS_AS((void)tt::cat({tt::zeros({0, 1}), x}), tt::Error);
}

TEST_CASE("what is made of nothing is still a function of it, compiled too") {
  const auto check = [](const auto& f, const tt::IntList& shape) {
    const auto compiled = tt::compile(f, {.wait = true});
    const auto of = [&](const auto& g) {
      Tensor x = tt::zeros(shape).requires_grad_();
      const Tensor y = g(x);
      CHECK(y.requires_grad());
      y.sum().backward();
      CHECK(x.grad().shape() == x.shape());
      return y.detach();
    };
    CHECK(same_bits(of(f), of(compiled)));
  };
  check([](const Tensor& x) { return tt::pad(x, {1, 1}); }, {0, 3});
  check([](const Tensor& x) { return tt::pad(x, {1, 1}, 5); }, {0});
  check([](const Tensor& x) { return tt::pad(x, {0, 0, 1, 2}, -0.0); }, {0, 3});
  check([](const Tensor& x) { return tt::stack({x, x}); }, {0});
  check([](const Tensor& x) { return tt::stack({x, x}, 1); }, {3, 0});
  check([](const Tensor& x) { return tt::cat({tt::ones({2, 3}), x}); }, {0, 3});
  check([](const Tensor& x) { return tt::slice_scatter(tt::ones({2, 3}), x, 0, 1); }, {0, 3});
}

TEST_CASE("parts are read where they lie: across rows, apart, repeated, backwards in memory") {
  const Tensor x = tt::arange(2 * 3 * 8).reshape({2, 3, 8}).to(DType::f32);
  const std::vector<Tensor> parts{x, x.transpose(0, 1).contiguous().transpose(0, 1), x.slice(2, 0, 8, 2).repeat({1, 1, 2}), x.slice(2, 1, 8, 7).expand({2, 3, 2}).repeat({1, 1, 4}),
                                  tt::cat({x, x}, 2).slice(2, 0, 16, 2), tt::cat({x, x}, 0).slice(0, 0, 4, 2), x.select(2, 3).unsqueeze(2).expand({2, 3, 8}), x.select(0, 1).unsqueeze(0).expand({2, 3, 8}),
                                  tt::ones({1}).expand({2, 3, 8}), tt::flip(x, {0, 2})};
  for (int threads : {1, 3}) {
    tt::set_num_threads(threads);
    for (int dim = 0; dim < 3; ++dim)
      for (const DType d : {DType::f32, DType::f64, DType::bf16, DType::u8}) {
        std::vector<Tensor> given, dense;
        for (const Tensor& p : parts) given.push_back(d == DType::f32 ? p : p.to(d)), dense.push_back(given.back().clone().contiguous());
        CHECK(same_bits(tt::cat(given, dim), tt::cat(dense, dim)));
        CHECK(same_bits(tt::stack(given, dim), tt::stack(dense, dim)));
      }
  }
  tt::set_num_threads(1);
  const Tensor one = tt::arange(7).slice(0, 0, 7, 3);
  CHECK(same_bits(tt::cat({one, one}, 0), tt::cat({one.contiguous(), one.contiguous()}, 0)));
  CHECK(same_bits(tt::cat({one.unsqueeze(1), one.unsqueeze(1)}, 1), tt::stack({one.contiguous(), one.contiguous()}, 1)));
}
TEST_CASE("no elements cost no time, however many rows they have") {
  const Tensor x = tt::zeros({4095, 8, 4095, 0});
  const auto begin = std::chrono::steady_clock::now();
  CHECK(tt::tril(x).shape() == x.shape());
  CHECK(tt::triu(x, 1).shape() == x.shape());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));  // 3 s each when rows were run through
}

TEST_CASE("triangles with diagonals far away, and axes that no int holds") {
  const Tensor x = tt::ones({2, 3});
  CHECK(numbers(tt::tril(x, INT64_MAX)) == numbers(x));
  CHECK(numbers(tt::triu(x, INT64_MIN)) == numbers(x));
  CHECK(numbers(tt::triu(x, INT64_MAX)) == Numbers(6, 0));
  CHECK(numbers(tt::tril(x, INT64_MIN)) == Numbers(6, 0));
  CHECK(message([&] { tt::call("cat", {x, x}, {{"dim", std::int64_t{1} << 32}}); }).starts_with("tt::cat: axis is out of range: "));
  CHECK(message([&] { tt::call("slice_scatter", {x, x, std::int64_t{1} << 32, 0}); }).starts_with("tt::slice_scatter: axis is out of range: "));
}

TEST_CASE("what cannot be joined is named as it was given") {
  const Tensor x = tt::zeros({2, 3}), y = tt::zeros({2, 4});
  std::vector<Tensor> many(9, x);
  many.push_back(y);
  CHECK(message([&] { tt::cat(many); }).find("(2, 3) and (2, 4)") != std::string::npos);
  CHECK(message([&] { tt::stack(std::vector<Tensor>{}); }) == "tt::stack: there is no Tensor to join." + at(__LINE__));
  CHECK(message([&] { tt::stack({x, Tensor()}); }) == "tt::stack: argument 1 is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { tt::stack({x, x}, 5); }) == "tt::stack: axis is out of range: 5 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { tt::slice_scatter(x, tt::zeros({0, 3}), 0, 3); }).starts_with("tt::slice_scatter: "));
}
