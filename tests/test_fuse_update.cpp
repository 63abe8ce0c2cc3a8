// Fused functions with state: parameters updated in place, and structs of them, trained.
#include <doctest/doctest.h>

#include <tt/tt.hpp>
#include <utility>

#include "arrays.hpp"

namespace {

using namespace arrays;
using tt::Array;


template <class Kind>
struct Layer {
  tt::leaf<Kind, double, 4, 3> weight;
  tt::leaf<Kind, double, 3> bias;
};
template <class Kind>
struct Model {
  Layer<Kind> first;
  tt::leaf<Kind, double, 3, 2> second;
  Layer<Kind> unused;
};
template <class Kind>
struct Sixteen {
  Layer<Kind> l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15, l16;
};
Model<tt::arrays> model(int seed) {
  Model<tt::arrays> m;
  tt::for_each_member(
      [&](auto& leaf) { leaf = filled<std::remove_cvref_t<decltype(leaf)>>(seed++); }, m);
  return m;
}

constexpr auto model_loss = [](const auto& m, auto x, auto labels) {
  const auto h = tt::tanh(tt::matmul(x, m.first.weight) + m.first.bias);
  return tt::cross_entropy(tt::matmul(h, m.second), labels);
};

}  // namespace

// ---- results

TEST_CASE("parameters taken by reference are updated in place") {
  auto w = filled<Array<float, 300>>(1), v = filled<Array<float, 300>>(2);
  const auto d = filled<Array<float, 300>>(3), w0 = w, v0 = v;
  const float *w_at = w.data(), *v_at = v.data();
  const auto momentum = tt::fuse([](auto& p, auto& m, auto g) {
    m = m * 0.5 + g;
    p -= m * 0.25;
    return tt::sum(p * 0 + 1);
  });
  const Array<float> n = momentum(w, v, d);
  CHECK(n.item() == 300);
  CHECK(w.data() == w_at);
  CHECK(v.data() == v_at);
  CHECK(each_is(v, [&](auto i) { return v0.data()[i] * 0.5f + d.data()[i]; }));
  CHECK(each_is(w, [&](auto i) { return w0.data()[i] - v.data()[i] * 0.25f; }));
}

TEST_CASE("an updated argument may also be another argument") {
  const auto start = filled<Array<float, 100>>(1);
  const auto step = tt::fuse([](auto& p, auto g, auto h) {
    p = p * 2 + tt::sum(g) * 0;
    return g + h;
  });
  auto w = start;
  const auto sum = step(w, w, w);
  CHECK(each_is(sum, [&](auto i) { return start.data()[i] + start.data()[i]; }));
  CHECK(each_is(w, [&](auto i) { return start.data()[i] * 2; }));
  auto m = filled<Array<float, 20, 20>>(2);
  const auto m0 = m;
  tt::fuse([](auto& p, auto g) { p += tt::transpose(g); })(m, m);
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 20; ++j) CHECK(m(i, j) == m0(i, j) + m0(j, i));
}

TEST_CASE("one Array updated through two parameters is an error") {
  auto w = filled<Array<float, 64>>(1);
  const auto step = tt::fuse([](auto& a, auto& b) {
    a = a + 1;
    b = b * 2;
  });
  CHECK_THROWS_WITH_AS(step(w, w), "tt::fuse: two parameters that are updated share memory.",
                       tt::Error);
}

TEST_CASE("an update by its own reduction, row and transpose") {
  auto w = filled<Array<double, 30, 30>>(4);
  const auto w0 = w;
  tt::fuse([](auto& p) { p -= tt::mean_keepdim<1>(p); })(w);
  for (int i = 0; i < 30; ++i) {
    const double mean = tt::eval(tt::mean(tt::slice<0, 0, 1>(Array<double, 30, 30>(w0)))).item();
    if (i == 0) CHECK(w(0, 3) == doctest::Approx(w0(0, 3) - mean).epsilon(1e-12));
  }
  w = w0;
  tt::fuse([](auto& p) { p = tt::transpose(p) + p; })(w);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 30; ++j) CHECK(w(i, j) == w0(j, i) + w0(i, j));
  w = w0;
  tt::fuse([](auto& p) { p = tt::slice<0, 29, INT64_MIN, -1>(p); })(w);
  for (int i = 0; i < 30; ++i) CHECK(w(i, 7) == w0(29 - i, 7));
  auto a = filled<Array<float, 50>>(1), b = filled<Array<float, 50>>(2);
  const auto a0 = a, b0 = b;
  tt::fuse([](auto& p, auto& q) { std::swap(p, q); })(a, b);
  CHECK(same_bits(a, b0));
  CHECK(same_bits(b, a0));
}

// ---- gradients
// ---- parameter structs

TEST_CASE("a parameter struct is a result too") {
  const auto m = model(1);
  const Model<tt::arrays> doubled = tt::fuse([](auto p) {
    tt::for_each_member([](auto& leaf) { leaf = leaf * 2; }, p);
    return p;
  })(m);
  CHECK(each_is(doubled.first.weight, [&](auto i) { return m.first.weight.data()[i] * 2; }));
  CHECK(each_is(doubled.second, [&](auto i) { return m.second.data()[i] * 2; }));
  CHECK(each_is(doubled.unused.bias, [&](auto i) { return m.unused.bias.data()[i] * 2; }));
}

TEST_CASE("gradients of a nested parameter struct, and a step that trains it") {
  auto m = model(1);
  const auto x = filled<Array<double, 5, 4>>(9);
  const Array<std::int64_t, 5> labels{0, 1, 1, 0, 1};
  const auto run = tt::fuse(model_loss);
  const auto [value, d] = tt::value_and_grad(model_loss)(m, x, labels);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(d)>, Model<tt::arrays>>);
  const auto at = [&] { return run(m, x, labels).item(); };
  CHECK(value.item() == doctest::Approx(at()).epsilon(1e-14));
  CHECK(gradient_error(at, m.first.weight, d.first.weight) < difference_error);
  CHECK(gradient_error(at, m.first.bias, d.first.bias) < difference_error);
  CHECK(gradient_error(at, m.second, d.second) < difference_error);
  CHECK(each_is(d.unused.weight, [](auto) { return 0.0; }));
  const auto step = tt::fuse([](auto& p, auto in, auto want) {
    const auto [loss, grads] = tt::value_and_grad(model_loss)(p, in, want);
    tt::for_each_member([](auto& w, const auto& g) { w -= 0.5 * g; }, p, grads);
    return loss;
  });
  const auto before = m;
  const double first = step(m, x, labels).item();
  CHECK(first == doctest::Approx(value.item()).epsilon(1e-14));
  CHECK(m.second(2, 1) == doctest::Approx(before.second(2, 1) - 0.5 * d.second(2, 1)).epsilon(1e-14));
  CHECK(same_bits(m.unused.weight, before.unused.weight));
  double last = first;
  for (int i = 0; i < 50; ++i) last = step(m, x, labels).item();
  CHECK(last < first / 2);
}


TEST_CASE("a step may update many members") {
  Sixteen<tt::arrays> m, velocity;
  m.l9.bias(1) = 5;
  const auto step = tt::fuse([](auto& p, auto& v) {
    tt::for_each_member([](auto& w, auto& speed) {
      speed = speed + 1;
      w -= speed;
    }, p, v);
    return tt::sum(p.l9.bias);
  });
  CHECK(step(m, velocity).item() == 2);  // 64 members and a result
  CHECK(m.l9.bias(1) == 4);
  CHECK(velocity.l16.weight(3, 2) == 1);
}
