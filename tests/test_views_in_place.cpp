// Tensors that become another view of their elements, or get other ones: all handles see it, the tape, and captured functions.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tensors.hpp"
#include "tt/dispatch/all_ops.hpp"
#include "tt/tt.hpp"

namespace {

using tt::DType;
using tt::IntList;
using tt::Tensor;

Tensor counted(const IntList& sizes) {
  std::int64_t n = 1;
  for (int k = 0; k < sizes.size(); ++k) n *= sizes[k];
  return tt::arange(static_cast<double>(n)).reshape(sizes);
}

}  // namespace

TEST_CASE("all handles of a Tensor see its other view") {
  Tensor x = counted({2, 3});
  const Tensor y = x, before = x.clone(), row = x[1];
  x.transpose_(0, 1);
  CHECK(y.sizes() == IntList{3, 2});
  CHECK(tt::equal(y, before.transpose(0, 1)));
  CHECK(tt::equal(row, before[1]));
  CHECK(x.t_().unsqueeze_(1).sizes() == IntList{2, 1, 3});
  CHECK(x.squeeze_(1).sizes() == IntList{2, 3});
  CHECK(x.unsqueeze_(-1).squeeze_().sizes() == IntList{2, 3});
  CHECK(tt::equal(x.swapaxes_(0, 1).swapdims_(0, 1), before));
  CHECK(tt::equal(x.as_strided_({2, 2}, {1, 2}), tt::tensor({{0.f, 2.f}, {1.f, 3.f}})));
  CHECK(tt::equal(x.as_strided_({2}, {1}, 4), tt::tensor({4.f, 5.f})));
  CHECK_THROWS_WITH_AS(x.as_strided_({9}, {1}), doctest::Contains("beyond the storage"), tt::Error);
  CHECK_THROWS_WITH_AS(x.transpose_(0, 1), doctest::Contains("axis"), tt::Error);
  x.mul_(2);
  CHECK(tt::equal(row, tt::tensor({3.f, 8.f, 10.f})));
}

TEST_CASE("resize_ keeps what there is in memory") {
  Tensor x = counted({2, 3});
  const Tensor row = x[0];
  CHECK(tt::equal(x.resize_({2, 2}), counted({2, 2})));
  CHECK(tt::equal(x.resize_({6}), counted({6})));
  x.resize_({3, 4});
  CHECK(tt::equal(x.reshape({12}).slice(0, 0, 6), counted({6})));
  x.fill_(7);
  CHECK(tt::equal(row, counted({3})));  // on the old elements
  CHECK(x.resize_as_(row).sizes() == IntList{3});
  CHECK(x.resize_({0, 5}).numel() == 0);
  CHECK_THROWS_AS(x.resize_({-1}), tt::Error);
  Tensor leaf = tt::ones({2}).requires_grad_();
  CHECK_THROWS_WITH_AS(leaf.resize_({1}), doctest::Contains("wants a gradient"), tt::Error);
}

TEST_CASE("set_ shares another Tensor's elements") {
  Tensor base = tt::zeros({4}), view = base.slice(0, 1, 3);
  const Tensor other = counted({2, 3});
  view.set_(other);
  view.add_(1);
  CHECK(tt::equal(other, counted({2, 3}) + 1));
  CHECK(tt::equal(base, tt::zeros({4})));
  CHECK_THROWS_WITH_AS(view.set_(tt::arange(3)), doctest::Contains("dtypes or devices differ"), tt::Error);
}

TEST_CASE("on the tape the view takes the Tensor's place") {
  Tensor w = tt::ones({2, 3}).requires_grad_();
  Tensor y = w * 2;
  const Tensor saved = y * y;  // keeps y
  y.transpose_(0, 1).unsqueeze_(0);
  (y * counted({1, 3, 2})).sum().backward();
  CHECK(tt::equal(w.grad(), counted({3, 2}).t() * 2));
  CHECK_THROWS_AS(saved.sum().backward(), tt::Error);  // as in PyTorch: y was changed in place
  CHECK_THROWS_WITH_AS(w.t_(), doctest::Contains("leaf"), tt::Error);
  const tt::NoGrad off;
  for (Tensor* known : {&w, &y}) {
    CHECK_THROWS_WITH_AS(known->transpose_(0, -1), doctest::Contains("a graph for gradients knows"), tt::Error);
    CHECK_THROWS_AS(known->set_(tt::ones({1000})), tt::Error);
  }
  Tensor fresh = tt::ones({2, 3}).requires_grad_();
  fresh.t_();
  CHECK(fresh.requires_grad());
  CHECK(fresh.sizes() == IntList{3, 2});
  CHECK(fresh.set_(tt::ones({4})).sizes() == IntList{4});
}
TEST_CASE("where memory is another one, views know of nothing") {
  Tensor x = tt::ones({2}).requires_grad_(), b = tt::ones({4}), v = b.slice(0, 0, 2);
  b.resize_({100}).fill_(5);
  v.mul_(x);
  CHECK_FALSE(b.requires_grad());
  v.sum().backward();
  CHECK(tt::equal(x.grad(), tt::ones({2})));
  Tensor c = x * 1;
  CHECK_THROWS_WITH_AS(c.set_(tt::ones({4})), doctest::Contains("has no derivative"), tt::Error);
  Tensor z = x * 3, k = tt::zeros({2});
  const Tensor y = (z * z).sum();
  k.set_(z);  // z's own elements do not change
  y.backward();
  CHECK_THROWS_WITH_AS(k.set_(Tensor(tt::DType::f32, tt::Shape{2}, {tt::DeviceType::meta, 0})), doctest::Contains("devices differ"), tt::Error);
  const std::int64_t reserved = tt::cpu_memory_stats().reserved;
  Tensor large = tt::zeros({1 << 22});
  const std::int64_t with = tt::cpu_memory_stats().reserved;
  large.resize_({1 << 21}).resize_({2, 1 << 20});
  CHECK(tt::cpu_memory_stats().reserved == with);
  CHECK(with >= reserved);
}

TEST_CASE("detach_, hooks and kept gradients as methods") {
  Tensor w = tt::ones({2}).requires_grad_();
  Tensor y = w * 3;
  y.retain_grad();
  w.register_hook([](const Tensor& g) { return g * 2; });
  (y * 5).sum().backward();
  CHECK(tt::equal(y.grad(), tt::full({2}, 5)));
  CHECK(tt::equal(w.grad(), tt::full({2}, 30)));
  Tensor z = w * 3;
  z.detach_();
  CHECK_FALSE(z.requires_grad());
  CHECK(z.is_leaf());
  Tensor row = (w * 3)[0];
  CHECK_THROWS_WITH_AS(row.detach_(), doctest::Contains("a view"), tt::Error);
}

TEST_CASE("fill_diagonal_") {
  Tensor x = tt::zeros({7, 3});
  x.fill_diagonal_(5, true);
  CHECK(tt::equal(x.sum({1}), tt::tensor({5.f, 5.f, 5.f, 0.f, 5.f, 5.f, 5.f})));
  CHECK(tt::equal(tt::zeros({2, 3}).fill_diagonal_(1.5).sum({0}), tt::tensor({1.5f, 1.5f, 0.f})));
  CHECK(tt::zeros({3, 3, 3}).fill_diagonal_(2).sum().item<float>() == 6);
  CHECK_THROWS_AS(tt::zeros({3}).fill_diagonal_(1), tt::Error);
  CHECK_THROWS_AS(tt::zeros({3, 3, 2}).fill_diagonal_(1), tt::Error);
  CHECK_THROWS_AS(tt::zeros({3, 3}).fill_diagonal_(tt::ones({3})), tt::Error);
  const auto check = [](const auto& f) {
    for (const IntList& sizes : {IntList{7, 3}, IntList{3, 7}, IntList{4, 4}}) {
      const Tensor t = counted(sizes);
      CHECK(tt::equal(tt::compile(f, {.tier = 0, .fullgraph = true})(t), f(t)));
    }
  };
  check([](const Tensor& t) { return (t * 2).fill_diagonal_(3); });
  check([](const Tensor& t) { return (t * 2).fill_diagonal_(3, true); });
}

TEST_CASE("captured functions mean what eager ones do") {
  const auto own = [](const Tensor& a) {  // of a value of its own
    Tensor b = a * 2;
    const Tensor row = b[0];
    b.t_();
    Tensor c = b + 1;
    c.unsqueeze_(0).transpose_(1, 2);
    return c * b.sum() + row.sum();
  };
  const auto given = [](Tensor a) {  // of an argument that was read before
    const Tensor before = (a * 3).sum({0});
    a.t_();
    return tt::cat({before, (a + 1).sum({0})});
  };
  const auto compiled_own = tt::compile(own);
  const auto compiled_given = tt::compile(given);
  for (const IntList& sizes : {IntList{3, 4}, IntList{4, 4}, IntList{2, 5}}) {
    CAPTURE(sizes);
    const Tensor x = tt::randn(sizes);
    CHECK(tt::equal(compiled_own(x), own(x)));
    Tensor a = x.clone(), b = x.clone();
    const Tensor handle = a;
    for (int call = 0; call < 3; ++call) {
      CHECK(tt::equal(compiled_given(a), given(b)));
      CHECK(handle.sizes() == b.sizes());
    }
  }
}

TEST_CASE("captured: a view by strides of what the function makes, and integers that floats are copied to") {
  const auto strided = [](const Tensor& a) { return tt::as_strided(tt::ones({6}), {2, 3}, {1, 2}) + a; };
  CHECK(tt::equal(tt::compile(strided)(tt::ones({3})), strided(tt::ones({3}))));
  const auto copied = [](const Tensor& a) { return tt::zeros({3}, tt::DType::i64).copy_(a * 2); };
  CHECK(tt::equal(tt::compile(copied)(tt::full({3}, 1.75)), tt::tensor({3, 3, 3})));
  const auto kept = [](const Tensor& a) { return a.clone().copy_(tt::full({3}, 1.75)); };
  CHECK(tt::equal(tt::vmap(kept)(tt::arange(6).reshape({2, 3})), tt::ones({2, 3}, tt::DType::i64)));
}

TEST_CASE("by name") {
  const Tensor x = counted({2, 3});
  CHECK(tt::call("unsqueeze_", {x, 0}).is_same(x));
  CHECK(x.sizes() == IntList{1, 2, 3});
  tt::call("squeeze_", {x, IntList{0}});
  tt::call("transpose_", {x, 0, 1});
  CHECK(x.sizes() == IntList{3, 2});
  tt::call("resize_", {x, IntList{2, 2}});
  CHECK(x.sizes() == IntList{2, 2});
  tt::call("fill_diagonal_", {x, 9});
  CHECK(tt::call("item", {x[0][0]}).item<float>() == 9);
  CHECK_THROWS_AS(tt::call("item", {x}), tt::Error);
  CHECK(tt::call("type_as", {x, tt::arange(2)}).dtype() == tt::DType::i64);
  tt::call("random_", {x, 5, 7});
  CHECK(tt::call("all", {(x >= 5).mul(x < 7)}).item<bool>());
}

TEST_CASE("what a Tensor says of itself") {
  const Tensor x = tt::zeros({2, 3}, {.dtype = tt::DType::f64});
  CHECK(x.strides() == IntList{3, 1});
  CHECK(x.t().strides() == IntList{1, 3});
  CHECK(x.ndimension() == 2);
  CHECK(x.element_size() == 8);
  CHECK(x.nbytes() == 48);
  CHECK(x.options().dtype == tt::DType::f64);
  CHECK(tt::ones({2}, x.options()).scalar_type() == tt::DType::f64);
  CHECK((x.is_cpu() && !x.is_cuda() && x.is_signed() && !x.is_inference()));
  CHECK(x.is_same_size(x.t().t()));
  CHECK(x.slice(1, 1, {}).sizes() == IntList{2, 2});
  CHECK(x.slice(1, {}, -1).sizes() == IntList{2, 2});
  CHECK(x.slice(1, tt::none, tt::none, 2).sizes() == IntList{2, 2});
  CHECK(x.quantile(0.5, 1, true).sizes() == IntList{2, 1});
}

TEST_CASE("what is reshaped into memory of its own is no view, and its views lead to it") {
  Tensor w = counted({2, 3}).requires_grad_();
  const Tensor r = (w * 1).transpose(0, 1).reshape({-1});
  r.slice(0, 1, 3).fill_(3);  // w[1][0] and w[0][1]
  r.sum().backward();
  CHECK(tt::equal(w.grad(), tt::tensor({{1.f, 0.f, 1.f}, {0.f, 1.f, 1.f}})));
}

TEST_CASE("several updates of what is on the tape, where a graph breaks") {
  const auto f = [](const Tensor& x) {
    Tensor y = x * 1;
    y.exp_();
    y.clamp_(0, 2);
    if (y.sum().item<float>() > 1e6f) y.add_(1);
    y.pow_(2).masked_fill_(y > 3, 0.5);
    return y * 2;
  };
  const auto given = [](Tensor x) {
    x.exp_();
    x.clamp_(0, 2);
    if (x.sum().item<float>() > 1e6f) x.add_(1);
    return x.cumsum_(0) * 2;
  };
  const auto check = [](const auto& g) {
    const auto compiled = tt::compile(g, {.tier = 0});
    for (int call = 0; call < 3; ++call) {
      const auto gradient = [&](const auto& h) {
        Tensor w = tt::full({3}, 0.25 * (call + 1)).requires_grad_();
        Tensor x = w * 2;
        h(x).sum().backward();
        return w.grad();
      };
      CHECK(tt::equal(gradient(compiled), gradient(g)));
    }
  };
  check(f);
  check(given);
}

TEST_CASE("the same bytes as elements of another dtype") {
  const Tensor x = tt::tensor({1.0f, -2.0f, 0.5f, 3.0f, 4.0f, -0.0f}).reshape({2, 3});
  const Tensor bits = x.view(DType::i32);
  CHECK(same_bits(bits, tt::tensor({0x3f800000, -0x40000000, 0x3f000000, 0x40400000, 0x40800000, std::numeric_limits<int>::min()}).to(DType::i32).reshape({2, 3})));
  Tensor both = bits;
  both.select(0, 1).bitwise_and_(0x7fffffff);  // seen by x
  CHECK(!std::signbit(x.select(0, 1).select(0, 2).item<float>()));
  Tensor(x).select(0, 0).zero_();  // and the other way round
  CHECK(bits.select(0, 0).sum().item<std::int64_t>() == 0);
  CHECK(x.t().view(DType::i32).stride(0) == 1);  // as wide: however they lie
  CHECK(x.const_data_ptr() == bits.data_ptr());
  CHECK(static_cast<const void*>(x.const_data_ptr<float>()) == bits.mutable_data_ptr<std::int32_t>());
  CHECK(tt::view_copy(x, DType::i32).data_ptr() != x.data_ptr());
  CHECK(tt::call("view", {x, DType::i32}).data_ptr() == x.data_ptr());
  CHECK(tt::call("view_copy", {x, DType::i32}).data_ptr() != x.data_ptr());

  // narrower and wider: the last axis is longer, or shorter
  const Tensor bytes = tt::tensor({1, 256}).to(DType::i32).view(DType::u8);
  CHECK(same_bits(bytes, tt::tensor({1, 0, 0, 0, 0, 1, 0, 0}).to(DType::u8)));
  CHECK(same_bits(bytes.view(DType::i16), tt::tensor({1, 0, 256, 0}).to(DType::i16)));
  CHECK(bytes.view(DType::i64).item<std::int64_t>() == (std::int64_t{256} << 32) + 1);
  CHECK(bytes.view(DType::f16).view(DType::bf16).dtype() == DType::bf16);
  CHECK(tt::zeros({3, 0}).view(DType::f64).shape() == tt::Shape({3, 0}));
  CHECK(same_bits(tt::ones({3}).view(DType::i32).slice(0, 1, 3).view(DType::f32), tt::ones({2})));
  CHECK(message([&] { (void)x.t().view(DType::f64); }).starts_with("tt::view: f32 (3, 2) as f64: elements along the last axis do not lie"));
  CHECK(message([&] { (void)x.view(DType::f64); }).starts_with("tt::view: f32 (2, 3) as f64: the last axis does not divide"));
  CHECK(message([&] { (void)x.slice(1, 0, 2).view(DType::f64); }).find("rows do not begin") != std::string::npos);
  CHECK(message([&] { (void)tt::ones({4}).slice(0, 1, 3).view(DType::f64); }).find("do not begin where") != std::string::npos);
  CHECK(message([&] { (void)tt::tensor(1.0f).view(DType::i16); }).find("without axes") != std::string::npos);
  CHECK(message([&] { (void)bytes.view(DType::boolean); }).find("no booleans") != std::string::npos);

  // no history, whatever it is seen as
  Tensor w = tt::ones({4}).requires_grad_();
  CHECK(!(w.view(DType::i32).requires_grad() || w.view(DType::f64).requires_grad()));
  CHECK((!w.view(DType::f32).is_same(w) && w.view(DType::f32).requires_grad()));
  (w * tt::abs(w.view(DType::i32)).to(DType::f32)).sum().backward();
  CHECK(same_bits(w.grad(), tt::full({4}, static_cast<float>(0x3f800000))));
}

TEST_CASE("captured: the same bytes as elements of another dtype") {
  const auto magnitude = [](const Tensor& x) { return (x.view(DType::i32) & 0x7fffffff).view(DType::f32) * 2.0f; };
  const auto one_graph = tt::compile(magnitude, {.fullgraph = true});
  const Tensor x = tt::tensor({1.5f, -2.0f, -0.0f});
  CHECK(same_bits(one_graph(x), magnitude(x)));
  const auto written = [](Tensor& t) {
    Tensor bits = t.view(DType::i32);
    bits.bitwise_and_(0x7fffffff);
    return t + 1.0f;
  };
  Tensor a = x.clone(), b = x.clone();
  const auto compiled = tt::compile(written);
  for (int k = 0; k < 2; ++k) {
    CHECK(same_bits(compiled(a), written(b)));
    CHECK(same_bits(a, b));
    a.neg_();
    b.neg_();
  }
  const auto halves = [](const Tensor& t) { return (t * 2.0f).view(DType::i16).slice(0, 1, 6, 2) + 1; };
  const auto broken = tt::compile(halves);
  CHECK(same_bits(broken(x), halves(x)));
  CHECK(same_bits(broken(x * 3.0f), halves(x * 3.0f)));
  CHECK(same_bits(tt::vmap(magnitude)(x.reshape({3, 1})), magnitude(x).reshape({3, 1})));
  const auto misplaced = [](const Tensor& t) { return t.slice(0, 1, 3).view(DType::f64); };
  const auto refuses = tt::compile(misplaced);
  for (int k = 0; k < 2; ++k) CHECK(message([&] { (void)refuses(tt::ones({4})); }).find("do not begin where") != std::string::npos);
  CHECK(tt::empty({2, 3}, {.device = tt::DeviceType::meta}).view(DType::u8).shape() == tt::Shape({2, 12}));
  CHECK(tt::ones({1, 3}).expand({4, 3}).view(DType::i16).shape() == tt::Shape({4, 6}));
  const auto kept = [](const Tensor& t) { return (t + 1.0f).view(DType::i32); };  // a view that is returned
  Tensor r = tt::compile(kept)(x);
  CHECK(same_bits(r, kept(x)));
  CHECK(same_bits(r.add_(1), kept(x) + 1));
}
