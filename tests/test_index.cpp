// Elements by index: what loops give, in every dtype and layout; gradients of every order; by name, Meta, compiled functions;
// mistakes.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Shape;
using tt::Tensor;
using Tensors = std::vector<Tensor>;

constexpr tt::Device meta{tt::DeviceType::meta, 0};
std::string at(int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); }

/// Numbers in the shape, of both signs, all different where the dtype can tell.
Tensor counted(const tt::IntList& shape, DType d = DType::f32) {
  std::int64_t n = 1;
  for (std::int64_t e : shape) n *= e;
  const Tensor number = tt::arange(n) * 7 - 50;
  return (d == DType::boolean ? tt::sin(number) > 0 : number.to(d)).reshape(shape);
}
Tensor indices(const tt::IntList& shape, std::int64_t size, int seed) {
  return (tt::rand(shape, seed, {.dtype = DType::f64}) * static_cast<double>(size)).to(DType::i64);
}
/// The same elements lying otherwise.
Tensor turned(const Tensor& t) {
  tt::IntList order;
  for (int k = t.dim(); k-- > 0;) order.push_back(k);
  return t.permute(order).contiguous().permute(order);
}
Tensor apart(const Tensor& t) {
  Shape s = t.shape();
  s.set(s.rank - 1, 2 * s.last().code + 1);
  Tensor wide = tt::zeros(s, {.dtype = t.dtype()}).slice(-1, 1, s.last().code, 2);
  return wide.copy_(t);
}
/// f(indices of each element of a shape, their place in row-major order).
template <class F>
void each_element(const Shape& s, const F& f) {
  std::vector<std::int64_t> i(static_cast<std::size_t>(s.rank), 0);
  for (std::int64_t at = 0; at < s.size().code; ++at) {
    f(i, static_cast<std::size_t>(at));
    for (int k = s.rank - 1; k >= 0; --k) {
      auto& own = i[static_cast<std::size_t>(k)];
      if (++own < s.code[k]) break;
      own = 0;
    }
  }
}
std::size_t place(const Shape& s, const std::vector<std::int64_t>& i) {
  std::int64_t p = 0;
  for (int k = 0; k < s.rank; ++k) p = p * s.code[k] + i[static_cast<std::size_t>(k)];
  return static_cast<std::size_t>(p);
}
constexpr DType dtypes[] = {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64};

}  // namespace

TEST_CASE("index_select takes slices, along every axis of every layout, in every dtype") {
  for (const DType d : dtypes)
    for (int dim = -3; dim < 3; ++dim) {
      const Tensor x = counted({4, 5, 3}, d), i = indices({7}, x.size(dim), 3 + dim);
      const auto number = numbers(x), index = numbers(i);
      Shape s = x.shape();
      const int axis = dim < 0 ? dim + 3 : dim;
      s.set(axis, 7);
      Numbers want;
      each_element(s, [&](std::vector<std::int64_t> e, std::size_t) {
        auto& own = e[static_cast<std::size_t>(axis)];
        own = static_cast<std::int64_t>(index[static_cast<std::size_t>(own)]);
        want.push_back(number[place(x.shape(), e)]);
      });
      for (const Tensor& t : {x, turned(x), apart(x)})
        for (const Tensor& j : {i, apart(i), i.to(DType::i32)}) {
          const Tensor r = tt::index_select(t, dim, j);
          CHECK(r.dtype() == d);
          CHECK(r.shape() == s);
          CHECK(numbers(r) == want);
        }
    }
  CHECK(counted({3, 0}).index_select(0, tt::tensor({2, 2})).shape() == Shape{2, 0});
  CHECK(counted({0, 3}).index_select(0, tt::empty({0}, {.dtype = DType::i64})).shape() == Shape{0, 3});
  CHECK(numbers(counted({3}).index_select(0, tt::tensor(1))) == Numbers{-43});
}

TEST_CASE("index_select of places that follow each other") {
  const Tensor x = tt::arange(2 * 40 * 3).reshape({2, 40, 3}), reflected = tt::cat({tt::arange(3, 0, -1), tt::arange(40), tt::arange(38, 35, -1)});
  for (const Tensor& from : {x, x.slice(2, 0, 1), x.slice(2, 0, 0)}) {
    const Tensor y = tt::index_select(from, 1, reflected);
    CHECK(y.shape() == tt::Shape{2, 46, from.impl().shape[2].code});
    for (std::int64_t i = 0; i < 46; ++i) CHECK((y.select(1, i) == from.select(1, reflected.select(0, i).item<std::int64_t>())).all().item<bool>());
  }
}

TEST_CASE("gather and scatter_add: an element for each index") {
  for (const DType d : dtypes)
    for (int dim = 0; dim < 3; ++dim)
      for (const tt::IntList& shape : {tt::IntList{4, 5, 3}, tt::IntList{2, 3, 2}, tt::IntList{4, 0, 3}}) {
        const Tensor x = counted({4, 5, 3}, d);
        Shape s(x.shape());
        for (int k = 0; k < 3; ++k) s.set(k, k == dim ? 6 : std::int64_t{shape[k]});
        const Tensor i = indices(s, x.size(dim), dim + 1), source = counted(s, d);
        const auto number = numbers(x), index = numbers(i), more = numbers(source);
        Numbers taken, sums = number;
        each_element(s, [&](std::vector<std::int64_t> e, std::size_t at) {
          e[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(index[at]);
          taken.push_back(number[place(x.shape(), e)]);
          sums[place(x.shape(), e)] += more[at];
        });
        for (const Tensor& t : {x, turned(x), apart(x)}) {
          const Tensor r = t.gather(dim, i);
          CHECK(r.dtype() == d);
          CHECK(r.shape() == s);
          CHECK(numbers(r) == taken);
          CHECK(numbers(tt::gather(t, dim - 3, turned(i).to(DType::i32))) == taken);
          if (d == DType::boolean) continue;
          CHECK(numbers(tt::scatter_add(t, dim, i, source)) == sums);
          CHECK(numbers(tt::scatter_add(t, dim, turned(i), turned(source))) == sums);
          CHECK(numbers(t) == number);
        }
      }
}

TEST_CASE("gather and scatter_add with an index that is repeated along the other axes: whole slices") {
  for (int dim = 0; dim < 3; ++dim) {
    const Tensor x = counted({4, 5, 3}, DType::f32).requires_grad_();
    Shape line{1, 1, 1}, s = x.shape();
    line.set(dim, 6);
    s.set(dim, 6);
    const Tensor repeated = indices({6}, x.size(dim), dim + 1).reshape(line).expand(tt::IntList(s)), each = repeated.contiguous();
    const Tensor source = (counted(s, DType::f32) / 7).requires_grad_();
    const auto outcome = [&](const Tensor& index) {
      const Tensor taken = tt::gather(x, dim, index), sum = tt::scatter_add(x, dim, index, source);
      std::vector<Tensor> all = tt::grad(std::vector<Tensor>{(taken * taken).sum() + (sum * sum).sum()}, std::vector<Tensor>{x, source});
      all.push_back(taken);
      all.push_back(sum);
      return all;
    };
    const std::vector<Tensor> a = outcome(repeated), b = outcome(each);
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(tt::equal(a[k], b[k]));
    CHECK_THROWS_WITH_AS(tt::gather(x, dim, tt::full(line, 5, DType::i64).expand(tt::IntList(s))), doctest::Contains("index 5 is out of range"), tt::Error);
  }
}

TEST_CASE("index_add adds slices, one after the other") {
  for (const DType d : {DType::i32, DType::i64, DType::f32, DType::f64})
    for (int dim = 0; dim < 3; ++dim) {
      const Tensor x = counted({4, 5, 3}, d), i = indices({9}, x.size(dim), dim + 1);
      Shape s = x.shape();
      s.set(dim, 9);
      const Tensor source = counted(s, d);
      const auto index = numbers(i), more = numbers(source);
      Numbers sums = numbers(x);
      each_element(s, [&](std::vector<std::int64_t> e, std::size_t at) {
        auto& own = e[static_cast<std::size_t>(dim)];
        own = static_cast<std::int64_t>(index[static_cast<std::size_t>(own)]);
        sums[place(x.shape(), e)] += more[at];
      });
      CHECK(numbers(tt::index_add(x, dim, i, source)) == sums);
      CHECK(numbers(tt::index_add(turned(x), dim, apart(i), apart(source))) == sums);
    }
}

TEST_CASE("scatter_add takes the first elements of a larger source") {
  const Tensor i = tt::tensor({{0, 1}, {1, 1}});
  CHECK(numbers(tt::scatter_add(tt::zeros({2, 3}), 1, i, counted({3, 4}))) == Numbers{-50, -43, 0, 0, -37, 0});
}

TEST_CASE("embedding and brackets take rows for indices of any shape") {
  const Tensor table = counted({5, 2});
  const Tensor i = tt::tensor({{4, 0, 1}, {2, 2, 3}});
  const Tensor rows = tt::embedding(i, table);
  CHECK(rows.shape() == Shape{2, 3, 2});
  CHECK(same_bits(rows, table[i]));
  CHECK(same_bits(rows.select(0, 0).select(0, 1), table[0]));
  CHECK(same_bits(rows.select(0, 1).select(0, 2), table[3]));
  CHECK(same_bits(table[tt::tensor({-1, -5})], table.index_select(0, tt::tensor({4, 0}))));
  CHECK(same_bits(table[tt::tensor(2)], table[2]));
  CHECK(table[tt::empty({0, 3}, {.dtype = DType::i64})].shape() == Shape{0, 3, 2});
}

TEST_CASE("nonzero of many elements, on any number of threads") {
  const int usual = tt::get_num_threads();
  for (const tt::IntList& shape : {tt::IntList{200000}, {300, 701}, {60, 70, 50}, {7, 1, 30, 1000}, {200000, 1}, {0, 5}}) {
    const Tensor x = tt::rand(shape, 5) < 0.3;
    Numbers expected;
    const auto there = x.elements<bool>();
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      if (!there[static_cast<std::size_t>(i)]) continue;
      Numbers place;
      for (std::int64_t k = shape.size() - 1, left = i; k >= 0; --k) {
        place.insert(place.begin(), static_cast<double>(left % shape.value(static_cast<int>(k))));
        left /= shape.value(static_cast<int>(k));
      }
      expected.insert(expected.end(), place.begin(), place.end());
    }
    for (const int threads : {1, 2, 3}) {
      tt::set_num_threads(threads);
      CHECK(numbers(x.nonzero()) == expected);
    }
    tt::set_num_threads(usual);
  }
}

TEST_CASE("masks: nonzero, masked_select, brackets") {
  const Tensor x = tt::tensor({{3.0f, -1.0f, 0.0f}, {0.0f, 2.0f, -5.0f}});
  CHECK(numbers(tt::nonzero(x)) == Numbers{0, 0, 0, 1, 1, 1, 1, 2});
  CHECK(x.nonzero().shape() == Shape{4, 2});
  CHECK(numbers(turned(x).nonzero()) == numbers(x.nonzero()));
  CHECK(tt::nonzero(tt::zeros({2, 3})).shape() == Shape{0, 2});
  CHECK(tt::nonzero(tt::tensor(1.0)).shape() == Shape{1, 0});
  CHECK(numbers(x[x < 0]) == Numbers{-1, -5});
  CHECK(numbers(x.masked_select(x != 0)) == Numbers{3, -1, 2, -5});
  CHECK(numbers(tt::masked_select(x, tt::tensor({true, false, true}))) == Numbers{3, 0, 0, -5});
  CHECK(numbers(tt::masked_select(x.select(0, 0), tt::tensor({{true}, {false}}))) == Numbers{3, -1, 0});
  CHECK(numbers(x[tt::tensor({false, true})]) == Numbers{0, 2, -5});
  CHECK(x[tt::tensor({false, false})].shape() == Shape{0, 3});
  CHECK(numbers(x.t()[x.t() > 1]) == Numbers{3, 2});
}

TEST_CASE("take_along_dim broadcasts beside the axis") {
  const Tensor x = counted({4, 5});
  const Tensor i = tt::tensor({{3, 0}});
  const Tensor r = tt::take_along_dim(x, i, 1);
  CHECK(r.shape() == Shape{4, 2});
  CHECK(same_bits(r.select(1, 0), x.select(1, 3)));
  CHECK(same_bits(r.select(1, 1), x.select(1, 0)));
  CHECK(same_bits(tt::take_along_dim(x, tt::argmax(x, 1, true), 1).squeeze(1), x.amax(1)));
}

TEST_CASE("take_along_dim counts from the end by negative indices") {
  Tensor x = tt::tensor({{1.0, 3.0}, {3.0, 0.0}}).requires_grad_();
  const Tensor index = tt::tensor({{-1, -2, 0}, {0, 1, -1}}), y = tt::take_along_dim(x, index, 1);
  CHECK(numbers(y) == Numbers{3, 1, 1, 3, 0, 0});
  y.sum().backward();
  CHECK(numbers(x.grad()) == Numbers{2, 1, 1, 2});
  CHECK_THROWS_AS((void)tt::take_along_dim(x, tt::tensor({{-3}, {0}}), 1), tt::Error);
}

TEST_CASE("by name they are what the functions are") {
  tt::register_all_ops();
  const Tensor x = tt::arange(9.0).reshape({3, 3}), index = tt::tensor({{0, 1}, {2, 0}}), one = tt::tensor(3.0f);
  CHECK(same_bits(tt::call("scatter_add", {x, 0, index, x}), tt::scatter_add(x, 0, index, x)));
  CHECK(same_bits(tt::call("gather", {one}, {{"index", tt::tensor(0)}, {"dim", 0}}), one));
  CHECK(same_bits(tt::call("index_select", {one, -1, tt::tensor({0})}), one));
  CHECK(numbers(tt::call("gather", {x, 0, tt::tensor({{-1}})}, {{"wrap", true}})) == Numbers{6});
  CHECK(message([&] { tt::call("gather", {x, 0}); }) == "tt::call: gather: no value for index: takes (Tensor input, int dim, Tensor index, bool wrap=False)." + at(__LINE__));
  CHECK(message([&] { tt::call("gather", {x, index}); }).starts_with("tt::call: gather: an integer is expected for dim"));
}

TEST_CASE("gradients of every order, none for indices") {
  const auto leaf = [](const tt::IntList& shape, int seed) {
    return (tt::rand(shape, seed, {.dtype = DType::f64}) * 4 + 0.2).requires_grad_();
  };
  const auto check = [](const auto& f, const Tensors& in) {
    CHECK(message([&] { tt::gradcheck(f, in); }) == "no error");
    CHECK(message([&] { tt::gradgradcheck(f, in); }) == "no error");
  };
  for (int dim = -2; dim < 2; ++dim) {
    const Tensor i = tt::tensor({2, 0, 2, 1}), each = indices({4, 3}, 3, 5);
    check([=](const Tensors& t) { return tt::index_select(t[0].square(), dim, i).exp(); }, {leaf({3, 3}, 1)});
    check([=](const Tensors& t) { return tt::gather(t[0].square(), 0, each) * t[1]; }, {leaf({3, 3}, 2), leaf({4, 3}, 3)});
    const tt::IntList shape = dim % 2 == 0 ? tt::IntList{4, 3} : tt::IntList{3, 4};
    check([=](const Tensors& t) { return tt::index_add(t[0].square(), dim, i, t[1].exp()).square(); }, {leaf({3, 3}, 4), leaf(shape, 5)});
    check([=](const Tensors& t) { return tt::scatter_add(t[0].square(), 0, each, t[1].exp()).square(); }, {leaf({3, 4}, 6), leaf({5, 3}, 7)});
  }
  check([](const Tensors& t) { return t[0][tt::tensor({-1, 0, -1})].square(); }, {leaf({3, 2}, 8)});
  check([](const Tensors& t) { return t[0].square()[t[0].detach() > 1.5]; }, {leaf({3, 2}, 9)});
  check([](const Tensors& t) { return tt::embedding(tt::tensor({{1, 1}, {0, 2}}), t[0]).square(); }, {leaf({3, 2}, 10)});
  check([](const Tensors& t) { return tt::take_along_dim(t[0].square(), tt::tensor({{1, 0, 1}}), 1); }, {leaf({3, 2}, 11)});
  CHECK(!tt::nonzero(leaf({3}, 12)).requires_grad());
  const tt::NoGrad off;
  CHECK(!tt::index_select(leaf({3}, 12), 0, tt::tensor({1})).requires_grad());
}

TEST_CASE("a table of vectors is trained: rows that are not named keep theirs") {
  Tensor table = tt::rand({6, 4}, 1).requires_grad_();
  const Tensor before = table.detach().clone(), tokens = tt::tensor({{1, 4}, {4, 4}});
  tt::embedding(tokens, table).sum().backward();
  CHECK(numbers(table.grad().sum(1)) == Numbers{0, 4, 0, 0, 12, 0});
}

TEST_CASE("a compiled function that takes elements is one graph; one that asks how many there are is not") {
  const auto scores = [](const Tensor& table, const Tensor& i) { return tt::softmax(table * 2, 1).index_select(0, i).square() + 1; };
  const auto f = tt::compile(scores, {.fullgraph = true});
  for (int rows = 3; rows < 6; ++rows) {
    const Tensor table = tt::rand({rows, 4}, rows), i = indices({rows + 2}, rows, rows);
    CHECK(same_bits(f(table, i), scores(table, i)));
  }
  const auto chosen = [](const Tensor& x) { return (x * 2)[x > 0.5] + 1; };
  const Tensor x = tt::rand({3, 4}, 1);
  CHECK(same_bits(tt::compile(chosen)(x), chosen(x)));
  const auto whole = tt::compile(chosen, {.name = "chosen", .fullgraph = true});
  CHECK(message([&] { (void)whole(x); }).starts_with("tt::compile: chosen: a graph break, and fullgraph is set: "));
}

TEST_CASE("the dispatcher knows them by name, and Meta Tensors what they give") {
  tt::register_index_ops();
  const Tensor x = counted({2, 3}), i = tt::tensor({{2, 0, 1}, {1, 1, 0}});
  CHECK(same_bits(tt::call("gather", {x}, {{"dim", 1}, {"index", i}}), x.gather(1, i)));
  CHECK(same_bits(tt::call("index_select", {x, 0, tt::tensor({1})}), x.index_select(0, tt::tensor({1}))));
  CHECK(same_bits(tt::call("scatter_add", {x, 1, i, x}), tt::scatter_add(x, 1, i, x)));
  CHECK(numbers(tt::call("nonzero", {x < -40})) == Numbers{0, 0, 0, 1});
  const auto shapes = [&](const Tensor& t, const Tensor& j) {
    const Tensor r = t.gather(1, j);
    CHECK(r.is_meta());
    CHECK(r.shape() == j.shape());
    CHECK(tt::scatter_add(t, 1, j, t).shape() == t.shape());
    CHECK(t.index_select(0, tt::empty({5}, {DType::i64, meta})).shape() == Shape{5, 3});
    CHECK(tt::index_add(t, 0, tt::empty({2}, {DType::i64, meta}), t).shape() == t.shape());
  };
  shapes(tt::empty({2, 3}, {.device = meta}), tt::empty({2, 3}, {DType::i64, meta}));
  const std::string no_size = "tt::nonzero: the size of the result depends on elements, and Meta Tensors have none.";
  CHECK(message<tt::Unavailable>([&] { (void)tt::empty({2}, {.device = meta}).nonzero(); }) == no_size + at(__LINE__));
}

TEST_CASE("mistakes name op, facts and the caller's line") {
  const Tensor x = tt::zeros({2, 3}), i = tt::tensor({1, 0});
  CHECK(message([&] { tt::index_select(x, 2, i); }) == "tt::index_select: axis is out of range: 2 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { x.index_select(0, tt::tensor({1, 2})); }) == "tt::index_select: index 2 is out of range for axis 0 of shape (2, 3)." + at(__LINE__));
  CHECK(message([&] { x.index_select(1, tt::tensor({0, -1})); }) == "tt::index_select: index -1 is out of range for axis 1 of shape (2, 3)." + at(__LINE__));
  CHECK(message([&] { (void)x[tt::tensor({-1, -3})]; }) == "tt::index_select: index -3 is out of range for axis 0 of shape (2, 3)." + at(__LINE__));
  CHECK(message([&] { tt::index_select(x, 0, x); }) == "tt::index_select: indices are f32. i64 or i32?" + at(__LINE__));
  CHECK(message([&] { tt::index_select(x, 0, i.reshape({1, 2})); }) == "tt::index_select: indices are of shape (1, 2). A vector?" + at(__LINE__));
  CHECK(message([&] { tt::gather(x, 0, i); }) == "tt::gather: index of shape (2,) does not fit shape (2, 3) along axis 0." + at(__LINE__));
  CHECK(message([&] { tt::gather(x, 0, tt::tensor({{0, 1, 0, 1}})); }) == "tt::gather: index of shape (1, 4) does not fit shape (2, 3) along axis 0." + at(__LINE__));
  CHECK(message([&] { tt::gather(x, 0, tt::tensor({{0, 5, 0}})); }) == "tt::gather: index 5 is out of range for axis 0 of shape (2, 3)." + at(__LINE__));
  CHECK(message([&] { tt::index_add(x, 0, i, tt::zeros({3, 3})); }) == "tt::index_add: source of shape (3, 3) does not fit shape (2, 3) along axis 0." + at(__LINE__));
  const std::string added = "tt::index_add: dtypes differ: f32 and f64. Cast one?";
  CHECK(message([&] { tt::index_add(x, 0, i, tt::zeros({2, 3}, {.dtype = DType::f64})); }) == added + at(__LINE__));
  const std::string fits = "tt::scatter_add: source of shape (1, 1) does not fit shape (2, 3) along axis 1.";
  CHECK(message([&] { tt::scatter_add(x, 1, tt::tensor({{0}, {1}}), tt::zeros({1, 1})); }) == fits + at(__LINE__));
  const std::string beside = "tt::take_along_dim: shapes do not broadcast beside axis 1: (2, 3) and (3, 1).";
  CHECK(message([&] { tt::take_along_dim(x, tt::tensor({{0}, {0}, {0}}), 1); }) == beside + at(__LINE__));
  CHECK(message([&] { tt::masked_select(x, x); }) == "tt::masked_select: the mask is f32, not bool." + at(__LINE__));
  CHECK(message([&] { tt::masked_select(x, tt::tensor({true, false})); }) == "tt::masked_select: shapes do not broadcast: (2, 3) and (2,)." + at(__LINE__));
  CHECK(message([&] { (void)x[tt::tensor({true, false, true})]; }) == "tt::Tensor: a mask of shape (3,) does not fit shape (2, 3)." + at(__LINE__));
  const Tensor none, number = tt::empty({}, {DType::i64, meta});
  CHECK(message([&] { x.index_select(0, number); }) == "tt::index_select: Tensors on different devices: cpu and meta." + at(__LINE__));
  CHECK(message([&] { x.index_select(0, none); }) == "tt::index_select: argument index is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { tt::scatter_add(x, 0, i, none); }) == "tt::scatter_add: argument src is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { (void)x[none]; }) == "tt::Tensor: argument index is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { tt::embedding(i, i); }) == "tt::embedding: the table is of shape (2,). (n, d)?" + at(__LINE__));
}

TEST_CASE("what has no axes is a vector of one; integers wrap around") {
  const Tensor x = tt::tensor(3.0f), zero = tt::tensor(0);
  for (const int dim : {0, -1}) {
    CHECK(numbers(x.gather(dim, zero)) == Numbers{3});
    CHECK(x.gather(dim, zero).dim() == 0);
    CHECK(x.index_select(dim, tt::tensor({0})).dim() == 0);
    CHECK(numbers(tt::scatter_add(x, dim, zero, x)) == Numbers{6});
  }
  const Tensor most = tt::tensor({INT32_MAX}).to(DType::i32), one = tt::tensor({1}).to(DType::i32), first = tt::tensor({0});
  CHECK(numbers(tt::index_add(most, 0, first, one)) == Numbers{INT32_MIN});
  CHECK(numbers(tt::scatter_add(most, 0, first, one)) == Numbers{INT32_MIN});
}
