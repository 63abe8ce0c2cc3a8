// Tensors by themselves: how they are made, what views share, promotion, changes in place, memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "run_guarded.hpp"
#include "tensors.hpp"

// Asking for too much memory is answered, not the end: read by the sanitizers.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace {

using tt::DType;
using tt::Tensor;

/// The same, read through shape and strides without any op.
Numbers by_strides(const Tensor& t) {
  Numbers v;
  tt::with_dtype(t.dtype(), [&]<class T>(T) {
    const auto visit = [&](const auto& self, int axis, std::int64_t offset) -> void {
      if (axis == t.dim()) v.push_back(static_cast<double>(static_cast<const T*>(t.data())[offset]));
      else
        for (std::int64_t i = 0; i < t.size(axis); ++i) self(self, axis + 1, offset + i * t.stride(axis));
    };
    visit(visit, 0, 0);
  });
  return v;
}
Numbers counted(double begin, double end, double step = 1) {
  Numbers v;
  for (; begin < end; begin += step) v.push_back(begin);
  return v;
}
/// 0, 1, 2, ... as f32.
Tensor counting(const tt::IntList& shape) {
  return tt::arange(static_cast<double>(0), static_cast<double>(tt::shape_of(shape).size().code), 1, {.dtype = DType::f32})
      .view(shape);
}
std::vector<std::int64_t> strides(const Tensor& t) {
  std::vector<std::int64_t> s;
  for (int k = 0; k < t.dim(); ++k) s.push_back(t.stride(k));
  return s;
}
using Strides = std::vector<std::int64_t>;

}  // namespace

// ---- made from numbers

TEST_CASE("braces give shape and dtype as in PyTorch") {
  struct Case {
    Tensor made;
    DType dtype;
    const char* shape;
    Numbers values;
  };
  const Case cases[] = {
      {tt::tensor({1, 2, 3}), DType::i64, "(3,)", {1, 2, 3}},
      {tt::tensor({1.5, 2}), DType::f32, "(2,)", {1.5, 2}},
      {tt::tensor({1.5f, 2.0f}), DType::f32, "(2,)", {1.5, 2}},
      {tt::tensor({true, false}), DType::boolean, "(2,)", {1, 0}},
      {tt::tensor({true, 2}), DType::i64, "(2,)", {1, 2}},
      {tt::tensor({{1, 2}}), DType::i64, "(1, 2)", {1, 2}},
      {tt::tensor({{1}, {2}}), DType::i64, "(2, 1)", {1, 2}},
      {tt::tensor({{1.0, 2.0}, {3.0, 4.0}}), DType::f32, "(2, 2)", {1, 2, 3, 4}},
      {tt::tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}), DType::i64, "(2, 2, 2)", counted(1, 9)},
      {tt::tensor(3.5), DType::f32, "()", {3.5}},
      {tt::tensor(7), DType::i64, "()", {7}},
      {tt::tensor({7}), DType::i64, "(1,)", {7}},
      {tt::tensor({{7}}), DType::i64, "(1, 1)", {7}},
      {tt::tensor({{{7}}}), DType::i64, "(1, 1, 1)", {7}},
      {tt::tensor(true), DType::boolean, "()", {1}},
      {tt::tensor({}), DType::f32, "(0,)", {}},
      {tt::tensor({{}, {}}), DType::f32, "(2, 0)", {}},
      {tt::tensor({1, 2}, {.dtype = DType::f64}), DType::f64, "(2,)", {1, 2}},
      {tt::tensor({1.75, -2.75}, {.dtype = DType::i32}), DType::i32, "(2,)", {1, -2}},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.shape));
    CHECK(shape(c.made) == c.shape);
    CHECK(c.made.dtype() == c.dtype);
    CHECK(numbers(c.made) == c.values);
  }
  constexpr std::int64_t large = (std::int64_t{1} << 62) + 1;  // more than a double holds
  CHECK(tt::tensor({large}).item<std::int64_t>() == large);
  CHECK(tt::tensor({0.1}, {.dtype = DType::f64}).item() == 0.1);
}

TEST_CASE("braces that are not of one shape are an error") {
  CHECK(message([] { tt::tensor({{1, 2}, {3}}); }).starts_with("tt::tensor: the braces are not of one shape: expected (2, 2)."));
  CHECK(message([] { tt::tensor({{1, 2}, 3}); }).starts_with("tt::tensor: the braces are not of one shape: expected (2, 2)."));
  CHECK(message([] { tt::tensor({1, {2}}); }).starts_with("tt::tensor: the braces are not of one shape: expected (2,)."));
  CHECK(message([] { tt::tensor({{}, {1}}); }).starts_with("tt::tensor: the braces are not of one shape: expected (2, 0)."));
  CHECK_THROWS_AS(tt::tensor({{{{{{{{{{{{{{{{{1}}}}}}}}}}}}}}}}}), tt::Error);
}

TEST_CASE("factories") {
  CHECK(numbers(tt::zeros({2, 2})) == Numbers{0, 0, 0, 0});
  CHECK(tt::zeros({2, 2}).dtype() == DType::f32);
  CHECK(numbers(tt::ones({3}, {.dtype = DType::boolean})) == Numbers{1, 1, 1});
  CHECK(numbers(tt::full({2}, 2.5, {.dtype = DType::f64})) == Numbers{2.5, 2.5});
  CHECK(shape(tt::empty({4, 0, 2})) == "(4, 0, 2)");
  CHECK(numbers(tt::arange(4)) == Numbers{0, 1, 2, 3});
  CHECK(tt::arange(4).dtype() == DType::i64);
  CHECK(numbers(tt::arange(5, 0, -2)) == Numbers{5, 3, 1});
  CHECK(tt::arange(3, 3).numel() == 0);
  for (DType d : {DType::f32, DType::f64, DType::i32, DType::i64}) {
    const Tensor t = tt::arange(0.7, 40, 0.3, {.dtype = d});
    Numbers want;
    for (int i = 0; i < 131; ++i) {
      const volatile double product = i * 0.3;  // rounded before it is added
      const double v = 0.7 + product;
      want.push_back(d == DType::f64 ? v : d == DType::f32 ? static_cast<double>(static_cast<float>(v)) : 0);  // integers: start and step are cut
    }
    CHECK(numbers(t) == want);
  }
  CHECK(numbers(tt::arange(-0x1p40, -0x1p40 + 3, 1, {.dtype = DType::f64})) == Numbers{-0x1p40, -0x1p40 + 1, -0x1p40 + 2});
  CHECK(tt::arange(0, 1e20, 5e15, {.dtype = DType::f64})[19999].item() == 19999 * 5e15);
  CHECK(numbers(tt::eye(2, {.dtype = DType::boolean})) == Numbers{1, 0, 0, 1});
  CHECK(tt::arange(3, 3).numel() == 0);
  CHECK(tt::arange(0, 1, 0.1, {.dtype = DType::f64}).numel() == 10);
  CHECK(message([] { tt::arange(0, 1, 0); }).starts_with("tt::arange: the step is 0."));
  CHECK(numbers(tt::eye(2)) == Numbers{1, 0, 0, 1});
  CHECK(tt::eye(0).numel() == 0);
  const Tensor x = tt::full({2, 1}, 3, {.dtype = DType::i32});
  for (const Tensor& like : {tt::zeros_like(x), tt::ones_like(x), tt::full_like(x, 9), tt::empty_like(x)}) {
    CHECK(like.dtype() == DType::i32);
    CHECK(shape(like) == "(2, 1)");
    CHECK_FALSE(like.shares_storage(x));
  }
  CHECK(message([] { tt::zeros({2, -1}); }).starts_with("tt::zeros: a size is negative: -1."));
  CHECK(message([] { tt::empty({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}); }).starts_with("tt::empty: rank is too high: 17, at most is 16."));
  CHECK(tt::rand({5}, 1, {.requires_grad = true}).requires_grad());
  CHECK_THROWS_AS(tt::zeros({2}, {.dtype = DType::i64, .requires_grad = true}), tt::Error);
}

TEST_CASE("factories make Meta Tensors without elements") {
  const tt::TensorOptions meta{.device = {tt::DeviceType::meta, 0}};
  const tt::TensorOptions meta64{.dtype = DType::i64, .device = {tt::DeviceType::meta, 0}};
  for (const Tensor& t : {tt::zeros({3, 3}, meta), tt::eye(3, meta), tt::empty({3, 3}, meta), tt::rand({3, 3}, 1, meta),
                          tt::randn({3, 3}, 1, meta), tt::tensor({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, meta)}) {
    CHECK(shape(t) == "(3, 3)");
    CHECK(t.is_meta());
    CHECK(t.data() == nullptr);
  }
  CHECK(shape(tt::arange(0, 7, 2, meta64)) == "(4,)");
  CHECK(message([&] { (void)tt::zeros({}, meta).item(); }).starts_with("tt::Tensor::item: the Tensor has no elements"));
}

TEST_CASE("random numbers are those of the seed") {
  const Tensor a = tt::rand({1000}, 7), b = tt::rand({1000}, 7), c = tt::rand({1000}, 8);
  CHECK(numbers(a) == numbers(b));
  CHECK(numbers(a) != numbers(c));
  CHECK(numbers(tt::rand({10, 100}, 7)) == numbers(a));
  CHECK(a.mean().item() == doctest::Approx(0.5).epsilon(0.05));
  CHECK(tt::var(tt::randn({1000}, 7)).item() == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("elements are given out in their dtype only") {
  Tensor x = tt::tensor({{1.0, 2.0}, {3.0, 4.0}});
  x.elements<float>()[3] = 9;
  CHECK(numbers(x) == Numbers{1, 2, 3, 9});
  CHECK(message([&] { (void)x.elements<double>(); }).starts_with("tt::Tensor::elements: dtype is f32, not f64. Cast it first?\n  at "));
  CHECK(message([&] { (void)x.data_ptr<double>(); }).starts_with("tt::Tensor::data_ptr: dtype is f32, not f64. Cast it first?\n  at "));
  CHECK(message([&] { (void)x.t().elements<float>(); })
            .starts_with("tt::Tensor::elements: the elements do not lie dense: shape is (2, 2). Use contiguous() first?\n  at "));
}

TEST_CASE("item gives the one element as any type") {
  CHECK(tt::tensor(2.5).item() == 2.5);
  CHECK(tt::tensor({{7}}).item<int>() == 7);
  CHECK(tt::tensor(true).item<bool>());
  CHECK(tt::arange(5).select(0, 3).item<std::int64_t>() == 3);
  CHECK(message([] { (void)tt::arange(2).item(); }) .starts_with("tt::Tensor::item: needs exactly one element: shape is (2,).\n  at "));
  CHECK(tt::tensor({3.0}).is_nonzero());
  CHECK(!tt::tensor(0.0).is_nonzero());
  CHECK((tt::tensor(2.0) > 1 ? 1 : 0) == 1);
  CHECK(message([] { (void)(tt::arange(2) > 0 ? 1 : 0); }) == "tt::Tensor::bool: needs exactly one element: shape is (2,).");
  CHECK(tt::tensor(-1.75).item<int>() == -1);
  CHECK(tt::tensor(-0x1p63).item<std::int64_t>() == INT64_MIN);
  CHECK(tt::tensor(255.5).item<std::uint8_t>() == 255);
  CHECK(tt::tensor(std::int64_t{INT64_MAX}).item<std::int64_t>() == INT64_MAX);
  CHECK(message([] { (void)tt::tensor(NAN).item<std::int64_t>(); }).starts_with("tt::Tensor::item: element nan is out of range for an integer of 64 bits.\n  at "));
  CHECK(message([] { (void)tt::tensor(0x1p63).item<std::int64_t>(); }).starts_with("tt::Tensor::item: element more than 1e15 is out of range"));
  CHECK(message([] { (void)tt::tensor({std::int64_t{1} << 40}).item<int>(); }).starts_with("tt::Tensor::item: element 1099511627776 is out of range for an integer of 32 bits."));
  CHECK(message([] { (void)tt::tensor(-1.0).item<std::uint8_t>(); }).starts_with("tt::Tensor::item: element -1 is out of range for an integer of 8 bits without a sign.\n"));
  CHECK(message([] { (void)tt::zeros({0}).item(); }).starts_with("tt::Tensor::item: needs exactly one element"));
  CHECK(message([] { (void)Tensor().item(); }).starts_with("tt: an undefined Tensor was used.\n  at "));
  CHECK(message([] { (void)Tensor().elements<float>(); }).starts_with("tt: an undefined Tensor was used.\n  at "));
}

// ---- other people's memory

namespace {
int deleted = 0;
}

TEST_CASE("from_blob uses the memory and gives it back once") {
  float own[] = {1, 2, 3, 4, 5, 6};
  deleted = 0;
  {
    Tensor x = tt::from_blob(own, {2, 3}, [](void*) { ++deleted; });
    CHECK(x.data() == own);
    const Tensor view = x.t();
    x.mul_(2);
    CHECK(own[5] == 12);
    CHECK(numbers(view) == Numbers{2, 8, 4, 10, 6, 12});
    x = Tensor();
    CHECK(deleted == 0);
  }
  CHECK(deleted == 1);
}

TEST_CASE("nothing outside of a blob is read or written") {
  for (const std::int64_t n : {1, 3, 7, 8, 15, 33, 1000, 1025, 20000}) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
    fuzz::GuardedMemory &one = fuzz::guarded_slot(0, bytes), &two = fuzz::guarded_slot(1, bytes);
    auto* p = reinterpret_cast<float*>(one.begin(bytes));
    auto* q = reinterpret_cast<float*>(two.begin(bytes));
    for (std::int64_t i = 0; i < n; ++i) p[i] = q[i] = static_cast<float>(i % 13) / 4;
    const Tensor dense = tt::from_span<float>({p, static_cast<std::size_t>(n)}, {n});
    CAPTURE(n);
    const bool fine = fuzz::survives([&] {
      Tensor x = tt::from_blob(p, {n}), y = tt::from_blob(q, {n});
      CHECK(numbers(x + y) == numbers(dense + dense));
      CHECK(numbers(x.exp()) == numbers(dense.exp()));
      CHECK(numbers(x * 2) == numbers(dense * 2));
      CHECK(numbers(x < y) == numbers(dense < dense));
      CHECK(numbers(tt::where(x < 1, x, y)) == numbers(tt::where(dense < 1, dense, dense)));
      CHECK(numbers(x.clone()) == numbers(dense));
      CHECK(numbers(x.to(DType::f64)) == numbers(dense.to(DType::f64)));
      CHECK(numbers(x.sum()) == numbers(dense.sum()));
      CHECK(numbers(x.amax(0)) == numbers(dense.amax(0)));
      CHECK(numbers(x.argmax(0)) == numbers(dense.argmax(0)));
      CHECK(numbers(x.softmax(0)) == numbers(dense.softmax(0)));
      CHECK(numbers(x.matmul(y)) == numbers(dense.matmul(dense)));
      CHECK(numbers(x.slice(0, n / 2, n)) == numbers(dense.slice(0, n / 2, n)));
      CHECK(numbers(x.slice(0, 0, n, 3).exp()) == numbers(dense.slice(0, 0, n, 3).exp()));
      CHECK(numbers(x.unsqueeze(1) - y.unsqueeze(0).slice(1, 0, 2)) ==
            numbers(dense.unsqueeze(1) - dense.unsqueeze(0).slice(1, 0, 2)));
      x.add_(y);
      y.copy_(x);
      CHECK(numbers(y) == numbers(dense + dense));
      x.fill_(3);
      x.slice(0, 0, n, 2).zero_();
      y.slice(0, 1, n).copy_(y.slice(0, 0, n - 1));
    });
    CHECK(fine);
    CHECK(one.untouched_before(bytes));
    CHECK(two.untouched_before(bytes));
  }
}

TEST_CASE("an Array is seen as a Tensor without a copy, and copied back") {
  tt::Array<float, 2, 3> a{{1, 2, 3}, {4, 5, 6}};
  Tensor t = tt::as_tensor(a);
  CHECK(t.data() == a.data());
  t.mul_(10);
  CHECK(a(1, 2) == 60);
  a(0, 0) = -1;
  CHECK(numbers(t) == Numbers{-1, 20, 30, 40, 50, 60});
  const auto back = tt::to_array<tt::Array<float, 3, tt::dyn>>(t.t());
  CHECK(back(2, 0) == 30);
  CHECK(back.shape() == tt::Shape{3, 2});
  CHECK(tt::to_array<tt::Array<std::int64_t>>(tt::tensor(4)).item() == 4);
  CHECK(tt::to_array<tt::Array<float, 0>>(tt::zeros({0})).size() == 0);
  CHECK(message([&] { (void)tt::to_array<tt::Array<float, 3, 3>>(t); }).starts_with("tt::to_array: the Tensor is f32 (2, 3), the Array f32 (3, 3).\n  at "));
  CHECK_THROWS_AS((void)(tt::to_array<tt::Array<double, 2, 3>>(t)), tt::Error);
  CHECK_THROWS_AS((void)(tt::to_array<tt::Array<float, tt::dyn>>(t)), tt::Error);
  CHECK_THROWS_AS((void)(tt::to_array<tt::Array<float, 2, 3, tt::dyn>>(t)), tt::Error);
  tt::Array<double, tt::dyn, 5> large(400);
  large(399, 4) = 8;
  CHECK(tt::as_tensor(large).sum().item() == 8);
}

TEST_CASE("from_span copies, and checks the number of elements") {
  std::vector<float> v{1, 2, 3};
  const Tensor t = tt::from_span<float>(v, {3, 1});
  v[0] = 9;
  CHECK(numbers(t) == Numbers{1, 2, 3});
  CHECK(message([&] { tt::from_span<float>(v, {2, 2}); }) ==
        "tt::from_span: numbers of elements differ: 3 given, 4 in (2, 2).");
}

// ---- views

TEST_CASE("views have the strides of PyTorch and share storage") {
  const Tensor x = counting({2, 3, 4});
  CHECK(strides(x) == Strides{12, 4, 1});
  struct Case {
    const char* what;
    Tensor view;
    const char* shape;
    Strides strides;
    std::int64_t offset;
    bool contiguous;
  };
  const Case cases[] = {
      {"view", x.view({6, 4}), "(6, 4)", {4, 1}, 0, true},
      {"view with an open size", x.view({-1, 2}), "(12, 2)", {2, 1}, 0, true},
      {"permute", x.permute({2, 0, 1}), "(4, 2, 3)", {1, 12, 4}, 0, false},
      {"permute from the right", x.permute({-1, 0, 1}), "(4, 2, 3)", {1, 12, 4}, 0, false},
      {"transpose", x.transpose(0, -1), "(4, 3, 2)", {1, 4, 12}, 0, false},
      {"slice", x.slice(1, 1, 3), "(2, 2, 4)", {12, 4, 1}, 4, false},
      {"slice with a step", x.slice(2, 1, 4, 2), "(2, 3, 2)", {12, 4, 2}, 1, false},
      {"slice from the right", x.slice(-1, -3, -1), "(2, 3, 2)", {12, 4, 1}, 1, false},
      {"slice beyond the end", x.slice(0, 1, 100), "(1, 3, 4)", {12, 4, 1}, 12, true},
      {"slice before the begin", x.slice(0, -100, 1), "(1, 3, 4)", {12, 4, 1}, 0, true},
      {"slice of a step beyond the end", x.slice(2, 3, 4, 9), "(2, 3, 1)", {12, 4, 9}, 3, false},
      {"select", x.select(0, 1), "(3, 4)", {4, 1}, 12, true},
      {"select in the middle", x.select(1, -1), "(2, 4)", {12, 1}, 8, false},
      {"select of the last axis", x.select(2, 3), "(2, 3)", {12, 4}, 3, false},
      {"index", x[1][2], "(4,)", {1}, 20, true},
      {"unsqueeze", x.unsqueeze(1), "(2, 1, 3, 4)", {12, 12, 4, 1}, 0, true},
      {"unsqueeze at the end", x.unsqueeze(-1), "(2, 3, 4, 1)", {12, 4, 1, 1}, 0, true},
      {"squeeze", x.unsqueeze(1).squeeze(1), "(2, 3, 4)", {12, 4, 1}, 0, true},
      {"squeeze of another extent", x.squeeze(0), "(2, 3, 4)", {12, 4, 1}, 0, true},
      {"flatten", x.flatten(), "(24,)", {1}, 0, true},
      {"expand", x.select(0, 0).unsqueeze(0).expand({5, 3, 4}), "(5, 3, 4)", {0, 4, 1}, 0, false},
      {"expand by a new axis", x.select(2, 1).expand({2, 2, 3}), "(2, 2, 3)", {0, 12, 4}, 1, false},
      {"expand with -1", x.slice(1, 0, 1).expand({-1, 3, -1}), "(2, 3, 4)", {12, 0, 1}, 0, false},
      {"view of a permuted part", x.permute({1, 0, 2}).view({3, 2, 2, 2}), "(3, 2, 2, 2)", {4, 12, 2, 1}, 0, false},
      {"axes that lie one behind the other", x.slice(2, 0, 4, 2).view({6, 2}), "(6, 2)", {4, 2}, 0, false},
      {"detach", x.detach(), "(2, 3, 4)", {12, 4, 1}, 0, true},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    CHECK(shape(c.view) == c.shape);
    CHECK(strides(c.view) == c.strides);
    CHECK(c.view.storage_offset() == c.offset);
    CHECK(c.view.is_contiguous() == c.contiguous);
    CHECK(c.view.shares_storage(x));
    CHECK(numbers(c.view) == by_strides(c.view));
  }
  Tensor m = counting({2, 3});
  CHECK(numbers(m.t()) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(numbers(m.t().reshape({6})) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(counting({3}).t().is_contiguous());
}

TEST_CASE("what is written through a view is seen everywhere, and counted once") {
  Tensor x = counting({3, 4});
  Tensor column = x.select(1, 1), part = x.slice(0, 1, 3).t();
  CHECK(x.version() == 0);
  column.fill_(-1);
  CHECK(x.version() == 1);
  CHECK(part.version() == 1);
  CHECK(numbers(x) == Numbers{0, -1, 2, 3, 4, -1, 6, 7, 8, -1, 10, 11});
  part.mul_(2);
  CHECK(column.version() == 2);
  CHECK(numbers(x) == Numbers{0, -1, 2, 3, 8, -2, 12, 14, 16, -2, 20, 22});
  CHECK(x.clone().version() == 0);
  CHECK((x + 1).version() == 0);
}

TEST_CASE("a reshape that no strides can express copies, a view of it is an error") {
  const Tensor x = counting({2, 3, 4});
  const Tensor turned = x.transpose(1, 2);
  const Tensor copy = turned.reshape({24});
  CHECK_FALSE(copy.shares_storage(x));
  CHECK(numbers(copy) == by_strides(turned));
  CHECK_FALSE(x.permute({1, 0, 2}).reshape({6, 4}).shares_storage(x));
  CHECK(x.permute({1, 0, 2}).reshape({3, 8}).is_contiguous());
  CHECK(message([&] { (void)turned.view({24}); })
            .starts_with("tt::view: the elements of (2, 4, 3) do not lie so that they can be seen as (24,). Use reshape?\n  at "));
  CHECK(x.expand({2, 2, 3, 4}).reshape({48}).numel() == 48);
  CHECK(numbers(tt::tensor({1, 2}).unsqueeze(1).expand({2, 2}).reshape({4})) == Numbers{1, 1, 2, 2});
  const Tensor same = tt::tensor({5}).expand({4}).view({2, 2});
  CHECK(strides(same) == Strides{0, 0});
}

TEST_CASE("a number in brackets knows its line") {
  const Tensor x = tt::zeros({3});
  CHECK(message([&] { (void)x[9]; }).ends_with("test_tensor.cpp:" + std::to_string(__LINE__)));
}

TEST_CASE("of no elements none is the largest") {
  CHECK(message([] { (void)tt::zeros({0, 3}).argmax(0); }).starts_with("tt::argmax: no elements to choose from: axis 0 of shape (0, 3).\n  at "));
  CHECK(message([] { (void)tt::zeros({3, 0}).amax(); }).starts_with("tt::amax: no elements to choose from: axis 1 of shape (3, 0).\n  at "));
  CHECK(message([] { (void)tt::amin(tt::zeros({0}), 0); }).starts_with("tt::amin: no elements to choose from: axis 0 of shape (0,).\n  at "));
  CHECK(shape(tt::zeros({3, 0}).amax(0)) == "(0,)");
  CHECK(shape(tt::softmax(tt::zeros({3, 0}), 1)) == "(3, 0)");
}

TEST_CASE("blocks of 2^k elements are of a class that ends there") {
  for (int k : {15, 18, 20, 24}) {
    tt::empty_cache();
    const std::int64_t before = tt::cpu_memory_stats().reserved;
    const Tensor x = tt::empty({std::int64_t{1} << k});
    CHECK(tt::cpu_memory_stats().reserved - before <= (std::int64_t{4} << k) + 8192);  // small blocks come several at a time
  }
}

TEST_CASE("one size of a reshape may be left open") {
  const Tensor x = tt::arange(10);
  const auto said = [&](const tt::IntList& shape) { return message([&] { (void)x.reshape(shape); }); };
  CHECK(shape(x.reshape({2, -1})) == "(2, 5)");
  CHECK(shape(tt::zeros({0, 3}).reshape({-1, 3})) == "(0, 3)");
  CHECK(said({3, -1}).starts_with("tt::reshape: no size can stand for -1: 10 elements, 3 in the other sizes.\n  at "));
  CHECK(said({0, -1}).starts_with("tt::reshape: no size can stand for -1: 10 elements, 0 in the other sizes.\n  at "));
  CHECK(said({-1, -1}).starts_with("tt::reshape: more than one size is -1.\n  at "));
  CHECK(said({5, -2}).starts_with("tt::reshape: a size is negative: -2.\n  at "));
}

TEST_CASE("every reshape of every permutation agrees with its elements") {
  const Tensor x = counting({2, 3, 1, 4});
  const tt::IntList orders[] = {{0, 1, 2, 3}, {3, 1, 2, 0}, {1, 0, 3, 2}, {2, 3, 0, 1}, {0, 3, 2, 1}, {1, 2, 0, 3}, {0, 2, 1, 3}};
  const tt::IntList shapes[] = {{24}, {1, 24}, {6, 4}, {4, 6}, {2, 12}, {12, 2}, {3, 8}, {2, 3, 4}, {2, 1, 2, 2, 3},
                                {4, 3, 2}, {24, 1}, {3, 1, 2, 4}, {2, 2, 2, 3}, {1, 2, 1, 3, 1, 4}};
  for (const tt::IntList& order : orders)
    for (const tt::IntList& to : shapes)
      for (const Tensor& from : {x.permute(order), x.permute(order).slice(0, 0, 9, 1), x.slice(3, 0, 4, 1).permute(order)}) {
        const Tensor r = from.reshape(to);
        CHECK(by_strides(r) == by_strides(from));
        bool can_view = true;
        try {
          (void)from.view(to);
        } catch (const tt::Error&) {
          can_view = false;
        }
        CHECK(can_view == r.shares_storage(x));
      }
}

TEST_CASE("views say what is wrong, and where") {
  const Tensor x = counting({2, 3});
  const auto at = [](int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); };
  CHECK(message([&] { (void)x.view({4}); }) == "tt::reshape: numbers of elements differ: (2, 3) and (4,)." + at(__LINE__));
  CHECK(message([&] { (void)x.reshape({-1, 4}); }).starts_with("tt::reshape: "));
  CHECK(message([&] { (void)x.reshape({-1, -1}); }).starts_with("tt::reshape: "));
  CHECK(message([&] { (void)tt::zeros({0}).reshape({-1, 0}); }).starts_with("tt::reshape: "));
  CHECK(message([&] { (void)x.permute({0, 0}); }) == "tt::permute: axes are not a permutation: of shape (2, 3)." + at(__LINE__));
  CHECK_THROWS_AS((void)x.permute({0}), tt::Error);
  CHECK_THROWS_AS((void)x.permute({0, 1, 2}), tt::Error);
  CHECK(message([&] { (void)x.transpose(0, 2); }) == "tt::transpose: axis is out of range: 2 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { (void)x.expand({3, 3}); }) == "tt::expand: shapes do not broadcast: (2, 3) and (3, 3). Only axes of extent 1 can be repeated." + at(__LINE__));
  CHECK_THROWS_AS((void)x.expand({3}), tt::Error);
  CHECK_THROWS_AS((void)x.expand({-1, 2, 3}), tt::Error);
  CHECK(message([&] { (void)x.slice(0, 0, 2, 0); }) == "tt::slice: the step must be positive: 0." + at(__LINE__));
  CHECK_THROWS_AS((void)x.slice(2, 0, 1), tt::Error);
  CHECK(message([&] { (void)x.select(1, 3); }) == "tt::select: index is out of range: 3 for axis 1 of shape (2, 3)." + at(__LINE__));
  CHECK_THROWS_AS((void)x.select(1, -4), tt::Error);
  CHECK_THROWS_AS((void)tt::tensor(1).select(0, 0), tt::Error);
  CHECK(message([&] { (void)counting({1, 2, 3}).t(); }).starts_with("tt::t: rank is too high: (1, 2, 3) has rank 3"));
  CHECK_THROWS_AS((void)x.unsqueeze(4), tt::Error);
  CHECK_THROWS_AS((void)x.unsqueeze(-4), tt::Error);
  CHECK_THROWS_AS((void)tt::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}).unsqueeze(0), tt::Error);
  CHECK_THROWS_AS((void)counting({1, 2, 3}).size(3), tt::Error);
  CHECK(message([&] { (void)x.size(2); }) == "tt::Tensor::size: axis is out of range: 2 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { (void)x.stride(-3); }) == "tt::Tensor::stride: axis is out of range: -3 for shape (2, 3) of rank 2." + at(__LINE__));
}

TEST_CASE("no elements, no axes, all axes") {
  const Tensor none = tt::zeros({2, 0, 3});
  CHECK(none.is_contiguous());
  CHECK(shape(none.transpose(1, 2)) == "(2, 3, 0)");
  CHECK(shape(none.reshape({0, 5})) == "(0, 5)");
  CHECK(shape(none + 1) == "(2, 0, 3)");
  CHECK(shape(none.exp()) == "(2, 0, 3)");
  CHECK(numbers(none.sum(1)) == Numbers(6, 0));
  CHECK(numbers(none.sum()) == Numbers{0});
  CHECK(shape(none.clone()) == "(2, 0, 3)");
  CHECK(shape(none.to(DType::i64)) == "(2, 0, 3)");
  CHECK(shape(counting({4}).slice(0, 3, 1)) == "(0,)");
  CHECK(shape(counting({4}).slice(0, 4, 9)) == "(0,)");
  CHECK(shape(none + tt::ones({1, 1, 3})) == "(2, 0, 3)");
  Tensor empty = tt::zeros({0});
  empty.fill_(1).add_(2).copy_(tt::ones({1}));
  CHECK(numbers(tt::zeros({2, 0}).matmul(tt::zeros({0, 3}))) == Numbers(6, 0));

  const Tensor one = tt::tensor(5.0);
  CHECK(one.dim() == 0);
  CHECK(one.numel() == 1);
  CHECK(numbers(one + 1) == Numbers{6});
  CHECK(numbers(one.sum()) == Numbers{5});
  CHECK(shape(one.flatten()) == "(1,)");
  CHECK(shape(one.unsqueeze(0)) == "(1,)");
  CHECK(shape(one.expand({2, 2})) == "(2, 2)");
  CHECK(shape(one.permute({})) == "()");
  CHECK(shape(one.reshape({1, 1})) == "(1, 1)");
  CHECK(shape(one.t()) == "()");
  CHECK(shape(tt::tensor({5}).squeeze(0)) == "()");

  const Tensor six = counting({2, 1, 3, 2, 1, 2});
  const Tensor turned = six.permute({5, 4, 3, 2, 1, 0});
  CHECK(numbers(turned) == by_strides(turned));
  CHECK(numbers(turned + turned) == numbers(turned * 2));
  CHECK(numbers(turned.permute({5, 4, 3, 2, 1, 0})) == counted(0, 24));
  CHECK(numbers(six + six.transpose(0, 3)) == numbers(six.contiguous() + six.transpose(0, 3).contiguous()));
}

TEST_CASE("contiguous copies when it must, clone always, to when the dtype changes") {
  const Tensor x = counting({2, 3});
  CHECK(x.contiguous().is_same(x));
  CHECK(x.to(DType::f32).is_same(x));
  CHECK_FALSE(x.clone().shares_storage(x));
  const Tensor dense = x.t().contiguous();
  CHECK_FALSE(dense.shares_storage(x));
  CHECK(strides(dense) == Strides{2, 1});
  CHECK(x.t().clone().is_contiguous());
  CHECK(numbers(tt::tensor({1.9, -1.9, 0.0}).to(DType::i32)) == Numbers{1, -1, 0});
  CHECK(numbers(tt::tensor({0.5, 0.0, -3.0}).to(DType::boolean)) == Numbers{1, 0, 1});
  CHECK(numbers(tt::tensor({true, false}).to(DType::f64)) == Numbers{1, 0});
  const std::string wide = tt::name(x.t().to(DType::f64).dtype());
  CHECK(wide == "f64");
}

// ---- promotion

TEST_CASE("dtypes are promoted as by torch.result_type") {
  // Rows and columns: bool i32 i64 f32 f64 with axes, the same five with none; columns also the numbers true, 2
  // and 2.5. What PyTorch gives, by first letters (l: i64, d: f64).
  const char* const expected[] = {
      "bilfdbilfdblf", "iilfdiiifdiif", "lllfdlllfdllf", "ffffdffffffff", "ddddddddddddd",
      "bilfdbilfdblf", "iilfdiilfdiif", "lilfdlllfdllf", "ffffdffffdfff", "dddfddddddddd"};
  std::vector<Tensor> operand;
  for (const tt::IntList& s : {tt::IntList{2}, tt::IntList{}})
    for (int d = 0; d < tt::compute_dtype_count; ++d) operand.push_back(tt::ones(s, {.dtype = static_cast<DType>(d)}));
  const Tensor yes = tt::ones({2}, {.dtype = DType::boolean});
  for (std::size_t i = 0; i < operand.size(); ++i)
    for (std::size_t j = 0; j < 13; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      const DType want = static_cast<DType>(std::string("bilfd").find(expected[i][j]));
      const Tensor& a = operand[i];
      const auto with = [&](const auto& op) {
        return j < operand.size() ? op(a, operand[j]) : j == 10 ? op(a, true) : j == 11 ? op(a, 2) : op(a, 2.5);
      };
      CHECK(with([&](const auto& x, const auto& y) { return tt::where(yes, x, y); }).dtype() == want);
      CHECK(with([](const auto& x, const auto& y) { return x == y; }).dtype() == DType::boolean);
      if (want == DType::boolean) continue;  // no arithmetic
      CHECK(with([](const auto& x, const auto& y) { return x * y; }).dtype() == want);
      CHECK(with([](const auto& x, const auto& y) { return y + x; }).dtype() == want);
      if (const bool any_bool = a.dtype() == DType::boolean || j == 10 || (j < 10 && operand[j].dtype() == DType::boolean); !any_bool)
        CHECK(with([](const auto& x, const auto& y) { return y - x; }).dtype() == want);
      CHECK(with([](const auto& x, const auto& y) { return tt::maximum(x, y); }).dtype() == want);
      CHECK(with([](const auto& x, const auto& y) { return x / y; }).dtype() ==
            (tt::is_floating(want) ? want : DType::f32));
    }
}

TEST_CASE("a number that its dtype cannot hold is an error, as in fuse") {
  const Tensor x = tt::ones({2}, {.dtype = DType::i32});
  CHECK(numbers(x + 2147483646) == Numbers{2147483647, 2147483647});
  CHECK(message([&] { (void)(x + (std::int64_t{1} << 40)); })
            .starts_with("tt::constant: number is out of range: 1099511627776 beside i32. Cast the operand to i64?\n  at "));
  CHECK_THROWS_AS((void)(tt::arange(2) + ~std::uint64_t{0}), tt::Error);
  CHECK((tt::ones({1}) + ~std::uint64_t{0}).item() == 18446744073709551616.0);
}

// ---- in place

TEST_CASE("changes in place keep dtype and shape") {
  Tensor x = tt::tensor({1.0, 2.0, 3.0});
  const void* data = x.data();
  x.add_(1).mul_(tt::tensor({2, 3, 4})).sub_(0.5).div_(tt::tensor(2.0, {.dtype = DType::f64}));
  CHECK(x.data() == data);
  CHECK(x.dtype() == DType::f32);
  CHECK(x.version() == 4);
  CHECK(numbers(x) == Numbers{1.75, 4.25, 7.75});
  x += 1;
  x -= x;
  x *= 3;
  x /= 2;
  CHECK(numbers(x) == Numbers{0, 0, 0});
  Tensor i = tt::arange(3);
  i.copy_(tt::tensor({1.7, -2.7, 3.0}));
  CHECK(numbers(i) == Numbers{1, -2, 3});
  i.fill_(4.9);
  CHECK(numbers(i) == Numbers{4, 4, 4});
  Tensor m = tt::zeros({2, 3});
  m.copy_(tt::tensor({1, 2, 3}));
  CHECK(numbers(m) == Numbers{1, 2, 3, 1, 2, 3});
  Tensor i32 = tt::ones({2}, {.dtype = DType::i32});
  i32.add_(tt::tensor({5, 6}));  // i64
  CHECK(i32.dtype() == DType::i32);
  CHECK(numbers(i32) == Numbers{6, 7});
}

TEST_CASE("changes in place that cannot be are errors") {
  Tensor i = tt::arange(3), m = tt::zeros({1, 3}), b = tt::ones({2}, {.dtype = DType::boolean});
  CHECK(message([&] { i.add_(0.5); })
            .starts_with("tt::add_: the result is f32 and cannot be written to i64.\n  at " __FILE__ ":"));
  CHECK(message([&] { i.div_(2); }).starts_with("tt::div_: the result is f32 and cannot be written to i64."));
  CHECK(message([&] { b.add_(tt::tensor({1, 1})); }).starts_with("tt::add_: the result is i64 and cannot be written to bool."));
  CHECK(message([&] { m.add_(tt::zeros({2, 3})); })
            .starts_with("tt::add_: the result has another shape than the Tensor it is written to: (2, 3) and (1, 3).\n  at "));
  CHECK(message([&] { m += tt::zeros({2}); }).starts_with("tt::add: shapes do not broadcast: (1, 3) and (2,)."));
  CHECK_THROWS_AS(m.copy_(tt::zeros({2, 3})), tt::Error);
  CHECK_THROWS_AS(i.copy_(tt::zeros({2})), tt::Error);
  CHECK(numbers(i) == Numbers{0, 1, 2});
  Tensor repeated = tt::ones({1, 3}).expand({2, 3});
  CHECK(message([&] { repeated.add_(1); })
            .starts_with("tt::add_: several elements of the Tensor are one in memory: shape is (2, 3). Use clone() first?"));
  CHECK(numbers(repeated.fill_(5)) == Numbers{5, 5, 5, 5, 5, 5});
  CHECK_THROWS_AS(repeated.copy_(tt::ones({2, 3})), tt::Error);
  const Tensor meta = tt::empty({3}, {.device = {tt::DeviceType::meta, 0}});
  CHECK(message([&] { tt::zeros({3}).copy_(meta); }).starts_with("tt::copy_: a Tensor on device meta has no elements to copy."));
}

TEST_CASE("factories name themselves and the caller's line") {
  const auto says = [](const auto& f, const char* what) {
    const std::string text = message(f);
    CHECK_MESSAGE(text.starts_with(what), text);
    CHECK_MESSAGE(contains(text, "\n  at "), text);
  };
  says([] { tt::zeros({-1}); }, "tt::zeros: a size is negative: -1.");
  says([] { tt::ones({-1}); }, "tt::ones: a size is negative: -1.");
  says([] { tt::full({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 2); }, "tt::full: rank is too high: 17, at most is 16.");
  says([] { tt::empty({-2}); }, "tt::empty: a size is negative: -2.");
  says([] { tt::eye(-3); }, "tt::eye: a size is negative: -3.");
  says([] { tt::rand({-3}, 1); }, "tt::rand: a size is negative: -3.");
  says([] { tt::tensor({{1, 2}, {3}}); }, "tt::tensor: the braces are not of one shape");
  says([] { tt::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}).unsqueeze(0); }, "tt::unsqueeze: rank is too high: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) would have rank 17, at most is 16.");
  says([] { tt::zeros({3}).copy_(tt::zeros({2})); }, "tt::copy_: shapes do not broadcast: (2,) and (3,).");
}

TEST_CASE("arange of no number of elements is an error") {
  CHECK(message([] { tt::arange(0.0, 1e30); }).starts_with("tt::arange: there is no such number of elements, or memory cannot hold them: from 0 to 1e+30 by 1."));
  for (const double x : {static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    CHECK_THROWS_AS(tt::arange(x), tt::Error);
    CHECK_THROWS_AS(tt::arange(x, 1.0), tt::Error);
    CHECK_THROWS_AS(tt::arange(0.0, 1.0, x), tt::Error);
  }
  CHECK_THROWS_AS((void)tt::arange(0.0, -1e30), tt::Error);
  CHECK(numbers(tt::arange(0.5, 4.0, 1.5, {.dtype = DType::i64})) == Numbers{0, 1, 2});  // PyTorch: start and step cut, not their number
}

TEST_CASE("a number that the dtype cannot hold is an error") {
  CHECK(message([] { tt::tensor({18446744073709551615ull}); }).starts_with("tt::tensor: number is out of range: 18446744073709551615 beside i64."));
  CHECK_THROWS_AS(tt::tensor({std::int64_t{1} << 40}, {.dtype = DType::i32}), tt::Error);
  CHECK(tt::tensor({18446744073709551615ull}, {.dtype = DType::f64})[0].item() == 18446744073709551615.0);
}

TEST_CASE("a slice with a step beyond the end has one element") {
  CHECK(numbers(counting({5}).slice(0, 1, 5, INT64_MAX)) == Numbers{1});
  CHECK(numbers(counting({5}).slice(0, 0, INT64_MAX, 2)) == Numbers{0, 2, 4});
}

TEST_CASE("what is assigned to a view is written there; to a name, it is another handle") {
  Tensor x = tt::zeros({3});
  x[0] = tt::tensor(5.0);
  x.slice(0, 1, 3) = tt::ones({2});
  CHECK(numbers(x) == Numbers{5, 1, 1});
  x[1] = 7;
  x.slice(0, 2, 3) = x[0] = x[1] + 0.5;
  CHECK(numbers(x) == Numbers{7.5, 7, 7.5});
  Tensor i = tt::arange(3), b = tt::zeros({2}, {.dtype = DType::boolean});
  i[0] = 2.75;
  b[1] = true;
  CHECK(numbers(i) == Numbers{2, 1, 2});
  CHECK(numbers(b) == Numbers{0, 1});
  CHECK(message([&] { x.slice(0, 0, 2) = tt::ones({3}); }).find("\n  at " __FILE__ ":") != std::string::npos);
  CHECK_THROWS_AS(Tensor() = x, tt::Error);

  Tensor a = tt::ones({2}), c = tt::zeros({2});
  const Tensor first = a;
  std::swap(a, c);
  CHECK(c.is_same(first));
  a = std::move(c);
  CHECK(a.is_same(first));
  CHECK(!c.defined());
  std::vector<Tensor> all{tt::ones({1}), tt::zeros({1}), a};
  all.erase(all.begin());
  CHECK(all[1].is_same(first));
  std::move(a) = tt::tensor({3.0f, 4.0f});  // as in PyTorch: without a name, so into the elements
  CHECK(numbers(first) == Numbers{3, 4});
  static_assert(std::is_nothrow_move_assignable_v<Tensor> && std::is_nothrow_swappable_v<Tensor> && std::is_copy_assignable_v<Tensor>);
}

TEST_CASE("overlapping copies read before they write") {
  for (const std::int64_t n : {2, 5, 100, 5000}) {
    const Tensor start = counting({n});
    Tensor x = start.clone();
    x.slice(0, 1, n).copy_(x.slice(0, 0, n - 1));
    CHECK(numbers(x.slice(0, 1, n)) == numbers(start.slice(0, 0, n - 1)));
    CHECK(x[0].item() == 0);
    x = start.clone();
    x.slice(0, 0, n - 1).add_(x.slice(0, 1, n));
    CHECK(numbers(x.slice(0, 0, n - 1)) == numbers(start.slice(0, 0, n - 1) + start.slice(0, 1, n)));
  }
  Tensor m = counting({3, 3});
  const Numbers turned = numbers(m.t());
  m.copy_(m.t());
  CHECK(numbers(m) == turned);
  Tensor s = counting({4, 4});
  const Numbers sum = numbers(s.clone() + s.t().clone());
  s.add_(s.t());
  CHECK(numbers(s) == sum);
  Tensor w = counting({6});
  w.slice(0, 0, 6, 2).copy_(w.slice(0, 3, 6));
  CHECK(numbers(w) == Numbers{3, 1, 4, 3, 5, 5});
  w.div_(w.select(0, 0));
  CHECK(numbers(w)[5] == doctest::Approx(5.0 / 3));
}

// ---- memory

TEST_CASE("memory goes back where it came from") {
  { (void)(tt::ones({100}) + tt::ones({100})); }
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  {
    Tensor x = tt::ones({1000, 100});
    CHECK(tt::cpu_memory_stats().allocated >= before + 400000);
    for (int k = 0; k < 100; ++k) {
      x = (x + 1).t().reshape({1000, 100}).slice(0, 0, 50).exp().log();
      x = tt::ones({1000, 100});
      x.add_(x);
      try {
        (void)(x + tt::ones({7}));
      } catch (const tt::Error&) {
      }
    }
  }
  CHECK(tt::cpu_memory_stats().allocated == before);
}

TEST_CASE("freed blocks are used again, and given back by empty_cache") {
  tt::empty_cache();
  const tt::MemoryStats start = tt::cpu_memory_stats();
  const void* first = nullptr;
  {
    const Tensor x = tt::empty({1 << 20});
    first = x.data();
  }
  const tt::MemoryStats kept = tt::cpu_memory_stats();
  CHECK(kept.allocated == start.allocated);
  CHECK(kept.reserved >= start.reserved + (4 << 20));
  {
    const Tensor again = tt::empty({1 << 20});
    CHECK(again.data() == first);
    CHECK(tt::cpu_memory_stats().hits == kept.hits + 1);
    CHECK(tt::cpu_memory_stats().misses == kept.misses);
    CHECK(reinterpret_cast<std::uintptr_t>(again.data()) % 64 == 0);
  }
  tt::empty_cache();
  CHECK(tt::cpu_memory_stats().reserved <= start.reserved);
  CHECK(tt::cpu_memory_stats().peak >= kept.reserved);
}

TEST_CASE("asking for too much memory is an Error, and leaves everything as it was") {
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  const std::string what = message([] { (void)tt::empty({std::int64_t{1} << 43}); });  // 2^45 bytes
  CHECK(what.starts_with("tt: out of memory: "));
  CHECK(message([] { (void)tt::empty({std::int64_t{1} << 55}); }).find("-1") == std::string::npos);
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  const std::string uncountable = "tt::empty: too many elements: (1099511627776, 1099511627776) is more than memory can hold.";
  CHECK(message([] { (void)tt::empty({huge, huge}); }).starts_with(uncountable));
  CHECK(message([] { (void)tt::empty({huge, huge}, {.device = {tt::DeviceType::meta, 0}}); }).starts_with(uncountable));
  CHECK_THROWS_AS((void)tt::ones({1}).expand({huge, huge}), tt::Error);
  CHECK_THROWS_AS((void)tt::zeros({0}).reshape({huge, huge, 0}), tt::Error);
  CHECK_THROWS_AS((void)(tt::ones({1}).expand({huge, 1}) + tt::ones({1}).expand({huge})), tt::Error);
  CHECK_THROWS_AS((void)(tt::ones({1}).expand({std::int64_t{1} << 43}) + 1), tt::Error);
  CHECK(tt::cpu_memory_stats().allocated == before);
  CHECK(tt::ones({10}).sum().item() == 10);
}

// ---- threads

TEST_CASE("large eager ops give the same bits on any number of threads") {
  const Tensor x = tt::randn({300, 1000}, 3), y = tt::randn({1000}, 4);
  const auto all = [&] {
    std::vector<Numbers> v{numbers(x * y), numbers(x.exp()), numbers(x.sum(0)), numbers(x.softmax(1)), numbers(x.t() + 1),
                           numbers(x.matmul(y))};
    return v;
  };
  tt::set_num_threads(1);
  const auto want = all();
  tt::set_num_threads(3);
  CHECK(all() == want);
  tt::set_num_threads(1);
}

TEST_CASE("arange is integral for integers only, and integers are changed in place by integers") {
  CHECK(tt::arange(0, 1, 0.25).dtype() == DType::f32);
  CHECK(tt::arange(0, 1, 0.25).size(0) == 4);
  CHECK(tt::arange(2, 5).dtype() == DType::i64);
  Tensor t = tt::arange(3);
  t.add_(1).mul_(2);
  CHECK(t.dtype() == DType::i64);
  CHECK(t[2].item<int>() == 6);
}

namespace {

/// The elements of `t`, each read where its strides say.
template <class T>
std::vector<T> by_strides(const Tensor& t) {
  std::vector<T> v;
  for (std::int64_t e = 0; e < t.numel(); ++e) {
    std::int64_t left = e, at = 0;
    for (int k = t.dim() - 1; k >= 0; --k) {
      at += left % t.size(k) * t.stride(k);
      left /= t.size(k);
    }
    v.push_back(t.data_ptr<T>()[at]);
  }
  return v;
}
template <class T>
bool is_copy(const Tensor& copy, const Tensor& of) {
  const std::vector<T> want = by_strides<T>(of);
  return copy.is_contiguous() && copy.shape() == of.shape() && std::equal(want.begin(), want.end(), copy.data_ptr<T>());
}
template <class F>
void each_permutation(const F& f) {
  int axes[] = {0, 1, 2, 3};
  do f(tt::IntList{axes[0], axes[1], axes[2], axes[3]});
  while (std::next_permutation(axes, axes + 4));
}

}  // namespace

TEST_CASE_TEMPLATE("copies of what lies otherwise", T, float, double, std::int32_t) {
  for (const tt::IntList& sizes : {tt::IntList{3, 16, 5, 33}, tt::IntList{2, 17, 16, 1}, tt::IntList{1, 40, 2, 18}, tt::IntList{4, 3, 0, 5}}) {
    std::int64_t n = 1;
    for (std::int64_t e : sizes) n *= e;
    const Tensor t = tt::arange(n).to(tt::dtype_of<T>).reshape(sizes);
    each_permutation([&](const tt::IntList& axes) {
      const Tensor turned = t.permute(axes);
      CHECK(is_copy<T>(turned.clone(), turned));
      for (int k = 0; k < 4; ++k) {
        if (turned.size(k) < 4) continue;
        const Tensor part = turned.slice(k, 1, turned.size(k) - 1), apart = turned.slice(k, 0, turned.size(k), 2);
        CHECK(is_copy<T>(part.clone(), part));
        CHECK(is_copy<T>(apart.clone(), apart));
        CHECK(is_copy<T>((apart + 0).contiguous(), apart));
      }
    });
  }
  for (const int step : {2, 3, 7})
    for (const int length : {1, 2, 15, 16, 17, 33, 100, 2100}) {  // the last element is the last of its memory
      const Tensor line = tt::arange(1 + (length - 1) * step).to(tt::dtype_of<T>).slice(0, 0, 1 + (length - 1) * step, step);
      CHECK(is_copy<T>(line.clone(), line));
    }
}

TEST_CASE("an op on Tensors that lie alike is computed as they lie, and so lies its result") {
  const auto lie_alike = [](const Tensor& a, const Tensor& b) {
    for (int d = 0; d < a.dim(); ++d)
      if (a.stride(d) != b.stride(d)) return false;
    return true;
  };
  const Tensor x = tt::arange(120).to(DType::f32).reshape({2, 3, 4, 5}), y = x * 3 + 1;
  each_permutation([&](const tt::IntList& axes) {
    const Tensor a = x.permute(axes), b = y.permute(axes), sum = a + b * 2, dense = a.clone() + b.clone() * 2;
    CHECK(by_strides<float>(sum) == by_strides<float>(dense));
    CHECK(by_strides<bool>(a < b) == by_strides<bool>(a.clone() < b.clone()));
    CHECK(lie_alike(sum, a));
    CHECK(lie_alike(a + b.clone(), a));
    CHECK((a.clone() + b).is_contiguous());
    CHECK(by_strides<float>(a + b.clone()) == by_strides<float>(a.clone() + b.clone()));
    CHECK(by_strides<float>(a.exp().sum(1)) == by_strides<float>(a.clone().exp().sum(1)));
  });
  const Tensor gaps = x.slice(3, 0, 4).permute({3, 2, 1, 0}), same = x[0][0].t().expand({2, 5, 4});
  CHECK(lie_alike(gaps + gaps, tt::empty({2, 3, 4, 4}).permute({3, 2, 1, 0})));
  CHECK(lie_alike(same + same, tt::empty({2, 4, 5}).permute({0, 2, 1})));
  CHECK(by_strides<float>(same + same) == by_strides<float>(same.clone() * 2));
}

TEST_CASE("set_printoptions, as PyTorch prints with them") {
  struct Restore {
    ~Restore() { tt::set_printoptions({}); }
  } restore;
  const Tensor x = tt::arange(12).to(DType::f32).reshape({3, 4}) / 7, far = tt::tensor({1e-6, 1.0, 1e6}), whole = tt::tensor({1.0, 2.0, 1000.0});
  const auto printed = [](const tt::PrintOptions& o, const Tensor& t) {
    tt::set_printoptions(o);
    return std::string(tt::to_string(t).c_str());
  };
  CHECK(printed({.precision = 2}, x) == "tensor([[0.00, 0.14, 0.29, 0.43],\n        [0.57, 0.71, 0.86, 1.00],\n        [1.14, 1.29, 1.43, 1.57]])");
  CHECK(printed({.precision = 2}, whole) == "tensor([   1.,    2., 1000.])");
  CHECK(printed({.precision = 3, .sci_mode = true}, x.slice(0, 1, 2)) == "tensor([[5.714e-01, 7.143e-01, 8.571e-01, 1.000e+00]])");
  CHECK(printed({.precision = 3, .sci_mode = true}, whole) == "tensor([1.000e+00, 2.000e+00, 1.000e+03])");
  CHECK(printed({.sci_mode = true}, tt::zeros({2})) == "tensor([0., 0.])");  // nothing has an exponent
  CHECK(printed({.sci_mode = false}, far) == "tensor([      0.0000,       1.0000, 1000000.0000])");
  CHECK(printed({.threshold = 10, .edgeitems = 1}, x) == "tensor([[0.0000,  ..., 0.4286],\n        ...,\n        [1.1429,  ..., 1.5714]])");
  CHECK(printed({.linewidth = 40}, tt::arange(8).to(DType::f32) / 3) == "tensor([0.0000, 0.3333, 0.6667, 1.0000,\n        1.3333, 1.6667, 2.0000, 2.3333])");
  CHECK(printed({.precision = 40}, tt::tensor({0.5})).find("0.5000000000000000000000000000000000000000") != std::string::npos);
  tt::set_printoptions({.precision = 7});
  CHECK(tt::get_printoptions().precision == 7);
  CHECK(message([] { tt::set_printoptions({.precision = -1}); }).find("tt::set_printoptions: precision -1") == 0);
  CHECK(message([] { tt::set_printoptions({.edgeitems = 0}); }).find("edgeitems 0") != std::string::npos);
  CHECK(tt::get_printoptions().precision == 7);
}

TEST_CASE("sizes and axes come from containers, and without braces") {
  const std::vector<std::int64_t> sizes{2, 3};
  const std::array<int, 2> other{3, 2};
  const Tensor x = tt::zeros(sizes);
  CHECK(x.shape() == tt::IntList{2, 3});
  CHECK(x.view(other).shape() == tt::IntList{3, 2});
  CHECK(x.sum(std::vector<int>{0, 1}).dim() == 0);
  const std::vector<std::int64_t> back = x.shape();
  CHECK(back == sizes);
  CHECK(std::vector<int>(x.shape().begin(), x.shape().end()) == std::vector<int>{2, 3});
  CHECK(x.reshape(3, 2).shape() == tt::IntList{3, 2});
  CHECK(x.view(x.size(1), -1).shape() == tt::IntList{3, 2});
  CHECK(x.permute(1, 0).shape() == tt::IntList{3, 2});
  CHECK(x.expand(4, 2, 3).shape() == tt::IntList{4, 2, 3});
  CHECK(x.repeat(2, 1).shape() == tt::IntList{4, 3});
  for (const Tensor& t : {tt::rand(2, 3), tt::randn(2, x.size(1)), tt::ones(2, 3), tt::zeros(2, 3), tt::empty(2, 3)}) CHECK(t.shape() == tt::IntList{2, 3});
  CHECK(tt::equal(tt::rand({4}, 7), tt::rand({4}, 7)));  // a seed
  CHECK(message([&] { (void)x.reshape(4, 2); }).find("test_tensor.cpp") != std::string::npos);
  CHECK(tt::tensor(std::vector<float>{1, 2}, DType::f64).dtype() == DType::f64);
  CHECK(tt::tensor(std::vector<int>{1, 2}, {.dtype = DType::f32, .requires_grad = true}).requires_grad());
}

TEST_CASE("the elements of a temporary keep it") {
  const Tensor x = tt::arange(6).to(DType::f32);
  float sum = 0;
  for (const float v : (x * 2).elements<float>()) {
    const Tensor other = x * 100;  // in memory that was free
    sum += v;
  }
  CHECK(sum == 30);
  const auto elements = (x * 2).elements<float>();
  const Tensor other = tt::full({6}, 7.f);
  CHECK(elements[1] == 2);
}
