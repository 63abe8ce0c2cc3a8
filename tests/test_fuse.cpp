// Fused functions: results and updates, shared work, gradients, parameter structs, sizes known at
// run time, and what explain says.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <tt/tt.hpp>

namespace {

using tt::Array;
using tt::dyn;

template <class A>
A filled(int seed) {
  A a;
  for (auto& x : a) {
    seed = (seed * 1103 + 12345) % 10007;
    x = static_cast<typename A::value_type>(seed - 5000) / typename A::value_type(4000);
  }
  return a;
}
template <class A, class B>
bool same_bits(const A& a, const B& b) {
  static_assert(std::is_same_v<typename A::value_type, typename B::value_type>);
  return a.shape() == b.shape() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(*a.data())) == 0);
}
template <class A, class F>
bool each_is(const A& a, F f) {
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (!(a.data()[i] == f(i))) return false;
  return true;
}
int count_of(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The largest difference of `gradient` to central differences of `f` by the elements of `x`,
/// relative to the size of the gradient. f and x are of doubles.
template <class F, class A>
double gradient_error(F f, A& x, const A& gradient) {
  double worst = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    double& at = x.data()[i];
    const double was = at, h = 1e-5 * std::fmax(1.0, std::fabs(was));
    at = was + h;
    const double up = f();
    at = was - h;
    const double down = f();
    at = was;
    const double want = (up - down) / (2 * h), got = gradient.data()[i];
    worst = std::fmax(worst, std::fabs(got - want) / std::fmax(1.0, std::fabs(want)));
  }
  return worst;
}
/// The error of a central difference with h = 1e-5 in double: h^2 f''' / 6 + eps f / h.
constexpr double difference_error = 1e-8;

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

TEST_CASE("one, several, nested and no outputs") {
  const auto x = filled<Array<float, 7>>(1), y = filled<Array<float, 7>>(2);
  const Array<float, 7> one = tt::fuse([](auto a, auto b) { return a * 2 - b; })(x, y);
  CHECK(each_is(one, [&](auto i) { return 2 * x.data()[i] - y.data()[i]; }));
  const auto [sum, largest, less] = tt::fuse([](auto a, auto b) {
    return std::tuple{a + b, tt::amax(a), a < b};
  })(x, y);
  static_assert(std::is_same_v<decltype(sum), const Array<float, 7>>);
  static_assert(std::is_same_v<decltype(largest), const Array<float>>);
  static_assert(std::is_same_v<decltype(less), const Array<bool, 7>>);
  CHECK(each_is(sum, [&](auto i) { return x.data()[i] + y.data()[i]; }));
  CHECK(each_is(less, [&](auto i) { return x.data()[i] < y.data()[i]; }));
  CHECK(same_bits(largest, tt::eval(tt::amax(x))));
  const auto [p, q] = tt::fuse([](auto a, auto b) { return std::pair{a, std::tuple{b, -a}}; })(x, y);
  CHECK(same_bits(p, x));
  CHECK(same_bits(std::get<0>(q), y));
  CHECK(each_is(std::get<1>(q), [&](auto i) { return -x.data()[i]; }));
  Array<float, 7> z = x;
  static_assert(std::is_void_v<decltype(tt::fuse([](auto& a) { a += 1; })(z))>);
  tt::fuse([](auto& a) { a += 1; })(z);
  CHECK(each_is(z, [&](auto i) { return x.data()[i] + 1; }));
}

TEST_CASE("the same value may be returned twice, and an argument unchanged") {
  const auto x = filled<Array<float, 100>>(1);
  const auto [a, b, c] = tt::fuse([](auto v) { return std::tuple{v * v, v * v, v}; })(x);
  CHECK(same_bits(a, b));
  CHECK(same_bits(c, x));
  const auto [k, l] = tt::fuse([](auto v) { return std::tuple{v * 0 + 3, tt::sum(v * 0 + 1)}; })(x);
  CHECK(k(99) == 3);
  CHECK(l.item() == 100);
}

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

TEST_CASE("numbers and expressions are arguments") {
  const auto x = filled<Array<float, 9>>(1);
  const auto f = tt::fuse([](auto a, auto s, auto n) { return a * s + n; });
  for (float s : {2.0f, -0.5f})
    CHECK(each_is(f(x, s, 1), [&](auto i) { return x.data()[i] * s + 1; }));
  static_assert(std::is_same_v<decltype(f(x, 2.0, 1)), Array<double, 9>>);
  CHECK(each_is(f(x + x, 1.0f, std::int64_t{0}), [&](auto i) { return x.data()[i] * 2; }));
  CHECK(each_is(f(Array<float, 9>(x), 4.0f, 0), [&](auto i) { return x.data()[i] * 4; }));
}

// ---- shared work

TEST_CASE("what is written twice is computed once") {
  constexpr auto f = [](auto x) { return tt::exp(x) / (1 + tt::exp(x)) + tt::exp(x) * 2; };
  using A = Array<float, 500>;
  static_assert(tt::kernels<A>(f) == 1);
  const std::string text = tt::explain<A>(f);
  CHECK(count_of(text, "exp") == 1);
  CHECK(count_of(text, "div") == 1);
  CHECK(text.rfind("1 kernel from ", 0) == 0);
}

TEST_CASE("value and gradient of a gate share one exp and one division") {
  constexpr auto gate = [](auto x, auto y) { return tt::sum(tt::sigmoid(x) * y); };
  using A = Array<float, 256>;
  constexpr auto f = tt::value_and_grad<0, 1>(gate);
  static_assert(tt::kernels<A, A>(f) == 1);
  CHECK(count_of(tt::explain<A, A>(f), "sigmoid") == 1);
  constexpr auto spelled = tt::value_and_grad<0, 1>(
      [](auto x, auto y) { return tt::sum(y / (1 + tt::exp(-x))); });
  static_assert(tt::kernels<A, A>(spelled) == 1);
  CHECK(count_of(tt::explain<A, A>(spelled), "exp") == 1);
}

TEST_CASE("what fuses into one kernel") {
  using M = Array<float, 64, 128>;
  using Row = Array<float, 128>;
  static_assert(tt::kernels<M, Row>([](auto x, auto y) {
    return tt::tanh(tt::silu(x * y + 0.5) * 2 - x / (1 + y * y));
  }) == 1);
  static_assert(tt::kernels<M>([](auto x) { return tt::softmax(x, 1); }) == 1);
  static_assert(tt::kernels<M, Row, Row>([](auto x, auto scale, auto shift) {
    const auto m = tt::mean_keepdim<1>(x);
    const auto c = x - m;
    return c * tt::rsqrt(tt::mean_keepdim<1>(c * c) + 1e-5) * scale + shift;
  }) == 1);
  static_assert(tt::kernels<M, Array<float, 128, 32>, Array<float, 32>>([](auto x, auto w, auto b) {
    return tt::relu(tt::matmul(x, w) + b);
  }) == 1);
  static_assert(tt::kernels<M>([](auto x) { return tt::sum(x * x); }) == 1);
  static_assert(tt::kernels<M, M, Row>([](auto a, auto b, auto row) { return tt::sum(a * b + row); }) == 1);
  static_assert(tt::kernels<M>([](auto x) { return std::tuple{tt::exp(x), tt::sum(x)}; }) == 1);
  static_assert(tt::kernels<M>([](auto x) { return std::tuple{tt::exp(x), tt::sum(x, 1), x > 0}; }) == 1);
  static_assert(tt::kernels<Array<float, dyn, 128>, Row>([](auto x, auto y) { return tt::exp(x) * y; }) == 1);
  CHECK(true);
}

TEST_CASE("fused functions have the bits of their expressions") {
  const auto x = filled<Array<float, 33, 70>>(1);
  const auto w = filled<Array<float, 70, 12>>(2);
  const auto b = filled<Array<float, 12>>(3);
  CHECK(same_bits(tt::fuse([](auto a) { return tt::softmax(a, 1); })(x), tt::eval(tt::softmax<1>(x))));
  CHECK(same_bits(tt::fuse([](auto a, auto c, auto d) { return tt::relu(tt::matmul(a, c) + d); })(x, w, b),
                  tt::eval(tt::relu(tt::matmul(x, w) + b))));
  CHECK(same_bits(tt::fuse([](auto a) { return tt::sum(a * a, 0); })(x), tt::eval(tt::sum<0>(x * x))));
}

// ---- updates in place

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
  tt::fuse([](auto& p) { p = tt::slice<0, 29, 30, -1>(p); })(w);
  for (int i = 0; i < 30; ++i) CHECK(w(i, 7) == w0(29 - i, 7));
  auto a = filled<Array<float, 50>>(1), b = filled<Array<float, 50>>(2);
  const auto a0 = a, b0 = b;
  tt::fuse([](auto& p, auto& q) { std::swap(p, q); })(a, b);
  CHECK(same_bits(a, b0));
  CHECK(same_bits(b, a0));
}

// ---- gradients

TEST_CASE("gradients agree with central differences") {
  auto x = filled<Array<double, 3, 4>>(1);
  auto y = filled<Array<double, 4>>(2);
  auto m = filled<Array<double, 4, 5>>(3);
  const auto check = [&](auto f) {
    const auto run = tt::fuse(f);
    const auto [value, d] = tt::value_and_grad<0, 1, 2>(f)(x, y, m);
    CHECK(value.item() == doctest::Approx(run(x, y, m).item()).epsilon(1e-14));
    const auto at = [&] { return run(x, y, m).item(); };
    CHECK(gradient_error(at, x, std::get<0>(d)) < difference_error);
    CHECK(gradient_error(at, y, std::get<1>(d)) < difference_error);
    CHECK(gradient_error(at, m, std::get<2>(d)) < difference_error);
  };
  check([](auto a, auto b, auto c) { return tt::sum(tt::tanh(tt::matmul(a * b, c))); });
  check([](auto a, auto b, auto c) { return tt::mean(tt::softmax(tt::matmul(a, c) + 1, 1) * tt::exp(tt::sum(b))); });
  check([](auto a, auto b, auto c) {
    return tt::sum(tt::logsumexp(a * b, 1)) + tt::mean(tt::var(c, 0)) * tt::amax(a);
  });
  check([](auto a, auto b, auto c) {
    return tt::sum(tt::where(a > b, a * a, b / (a * a + 1))) + tt::sum(tt::slice<0, 3, 2, -2>(c) * 3);
  });
  check([](auto a, auto b, auto c) {
    return tt::mse_loss(tt::transpose(a), tt::reshape<4, 1>(b)) + tt::sum(tt::permute<1, 0>(c) * b);
  });
  check([](auto a, auto b, auto c) { return tt::sum(tt::matmul(tt::matmul(a, c), tt::matmul(tt::transpose(c), b))); });
  check([](auto a, auto b, auto c) {
    return tt::sum(tt::log_softmax(a, 0) * b) +
           tt::sum(tt::maximum(c, 0.1)) * tt::sum(tt::minimum(tt::amin(c, 1), 0.3 * b));
  });
}

TEST_CASE("gradients of gradients") {
  auto x = filled<Array<double, 6>>(1);
  static constexpr auto f = [](auto a) { return tt::sum(tt::sin(a) * a * a + tt::sigmoid(a)); };
  static constexpr auto slope = [](auto a) { return tt::sum(tt::grad(f)(a) * a); };
  const Array<double, 6> second = tt::grad(slope)(x);
  const auto run = tt::fuse(slope);
  CHECK(gradient_error([&] { return run(x).item(); }, x, second) < difference_error);
  static constexpr auto cube = [](auto a) { return tt::sum(a * a * a); };
  static constexpr auto d1 = [](auto a) { return tt::sum(tt::grad(cube)(a)); };
  static constexpr auto d2 = [](auto a) { return tt::sum(tt::grad(d1)(a)); };
  const Array<double, 6> six_x = tt::grad(d1)(x), six = tt::grad(d2)(x);
  for (int i = 0; i < 6; ++i) {
    CHECK(six_x(i) == doctest::Approx(6 * x(i)).epsilon(1e-12));
    CHECK(six(i) == doctest::Approx(6).epsilon(1e-12));
  }
}

TEST_CASE("gradients by numbered arguments come in the order asked for") {
  const Array<double, 2> a{1, 2}, b{3, 4}, c{5, 6};
  constexpr auto f = [](auto x, auto y, auto z) { return tt::sum(x * 2 + y * 3 + z * x); };
  CHECK(each_is(tt::grad(f)(a, b, c), [&](auto i) { return 2 + c.data()[i]; }));
  CHECK(each_is(tt::grad<1>(f)(a, b, c), [&](auto) { return 3.0; }));
  const auto [dz, dx] = tt::grad<2, 0>(f)(a, b, c);
  CHECK(same_bits(dz, a));
  CHECK(each_is(dx, [&](auto i) { return 2 + c.data()[i]; }));
  CHECK(each_is(tt::grad([](auto, auto y) { return tt::sum(y); })(a, b), [](auto) { return 0.0; }));
  CHECK(each_is(tt::grad([](auto x, auto y) { return tt::sum(x * y); })(a, a), [&](auto i) { return a.data()[i]; }));
  CHECK(each_is(tt::grad([](auto x) { return tt::sum(tt::detach(x) * x); })(a), [&](auto i) { return a.data()[i]; }));
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

// ---- sizes known at run time

TEST_CASE("dynamic extents must agree where the function says so") {
  const auto f = tt::fuse([](auto x, auto y) { return tt::exp(x) + y; });
  Array<float, dyn> a(5), b(7);
  CHECK(each_is(f(a, a), [](auto) { return 1.0f; }));
  CHECK(f(b, b).size() == 7);
  CHECK_THROWS_WITH_AS(f(a, b),
                       "tt: shapes do not broadcast: an extent of 7 meets one of 5. Both are known "
                       "at run time only.",
                       tt::Error);
  CHECK(f(a, Array<float, 5>()).size() == 5);
  CHECK_THROWS_AS(f(b, Array<float, 5>()), tt::Error);
  const auto product = tt::fuse([](auto x, auto y) { return tt::matmul(x, y); });
  CHECK(product(Array<float, dyn, dyn>(3, 4), Array<float, dyn, dyn>(4, 2)).shape() == tt::Shape{3, 2});
  CHECK_THROWS_AS(product(Array<float, dyn, dyn>(3, 4), Array<float, dyn, dyn>(5, 2)), tt::Error);
}

TEST_CASE("a program of dynamic extents has the bits of the static one") {
  const auto x = filled<Array<float, 37, 20>>(1);
  const auto w = filled<Array<float, 20, 9>>(2);
  Array<float, dyn, 20> dx(37);
  Array<float, dyn, dyn> dw(20, 9);
  std::memcpy(dx.data(), x.data(), sizeof(float) * 37 * 20);
  std::memcpy(dw.data(), w.data(), sizeof(float) * 20 * 9);
  constexpr auto f = tt::value_and_grad<0, 1>(
      [](auto a, auto b) { return tt::mean(tt::logsumexp(tt::silu(tt::matmul(a, b)), 1)); });
  const auto [v, d] = f(x, w);
  const auto [dv, dd] = f(dx, dw);
  CHECK(same_bits(v, dv));
  CHECK(same_bits(std::get<0>(d), std::get<0>(dd)));
  CHECK(same_bits(std::get<1>(d), std::get<1>(dd)));
  const auto update = tt::fuse([](auto& p, auto q) { p -= 0.5 * q; });
  auto y = dx;
  update(y, dx);
  CHECK(each_is(y, [&](auto i) { return x.data()[i] - 0.5f * x.data()[i]; }));
}

TEST_CASE("extents of zero") {
  const auto f = tt::fuse([](auto x) { return std::tuple{tt::exp(x), tt::sum(x, 1), tt::sum(x, 0), tt::sum(x)}; });
  const auto [e, rows, columns, all] = f(Array<float, 0, 3>());
  CHECK(e.size() == 0);
  CHECK(rows.size() == 0);
  CHECK(each_is(columns, [](auto) { return 0.0f; }));
  CHECK(all.item() == 0);
  const auto [e2, rows2, columns2, all2] = f(Array<float, dyn, 3>());
  CHECK(e2.size() == 0);
  CHECK(rows2.size() == 0);
  CHECK(each_is(columns2, [](auto) { return 0.0f; }));
  CHECK(all2.item() == 0);
  const auto [e3, rows3, columns3, all3] = f(Array<float, dyn, dyn>(4, 0));
  CHECK(rows3.size() == 4);
  CHECK(each_is(rows3, [](auto) { return 0.0f; }));
  CHECK(columns3.size() == 0);
  const auto g = tt::value_and_grad([](auto x) { return tt::sum(x * x); })(Array<float, dyn>());
  CHECK(std::get<0>(g).item() == 0);
  CHECK(std::get<1>(g).size() == 0);
}

// ---- texts

TEST_CASE("explain names kernels, their ops, why they begin, and the line") {
  using X = Array<float, 64, 128>;
  using W = Array<float, 128, 32>;
  const std::string text = tt::explain<X, W>([](auto x, auto w) {
    return tt::sum(tt::relu(tt::matmul(tt::exp(x), w)), 0);
  });
  CAPTURE(text);
  CHECK(text.find(" kernels from ") != std::string::npos);
  CHECK(text.find("matmul") != std::string::npos);
  CHECK(text.find("64 x 32 over 128") != std::string::npos);
  CHECK(text.find("a matrix product begins a kernel; what follows it fuses in") != std::string::npos);
  CHECK(text.find("test_fuse.cpp:") != std::string::npos);
  CHECK(text.find("sym.hpp") == std::string::npos);
  CHECK(text.find("bytes of arena") != std::string::npos);
  const std::string dynamic = tt::explain<Array<float, dyn, 8>>([](auto x) { return tt::softmax(x, 1); });
  CHECK(dynamic.find("1 kernel from ") == 0);
  CHECK(dynamic.find("s0 x 8") != std::string::npos);
  CHECK(dynamic.find("kept in cache between sweeps") != std::string::npos);
  auto w = Array<float, 4>();
  const auto step = tt::fuse([](auto& p) { p *= 2; });
  step(w);
  const std::string of_fused = tt::explain<Array<float, 4>>(step);
  CHECK(of_fused.find("mul") != std::string::npos);
}

TEST_CASE("a graph can be had and read") {
  constexpr int size = tt::graph<Array<float, 8>>([](auto x) { return x * 2 + 1; }).size();
  static_assert(size >= 4);
  const tt::Graph g = tt::graph<Array<float, 8>>([](auto x) { return x * 2 + 1; });
  const std::string text = tt::to_string(g);
  CHECK(text.find("mul") != std::string::npos);
  CHECK(text.find("f32") != std::string::npos);
}

TEST_CASE("config says what this file is built for") {
  const std::string text = tt::config();
  CHECK(text.find("tt ") == 0);
  CHECK(text.find("SIMD: ") != std::string::npos);
  CHECK(text.find(TT_HAS_FMA ? "multiply-add: fused" : "multiply-add: two roundings") != std::string::npos);
#if defined(__AVX2__) && defined(__OPTIMIZE__)
  CHECK(text.find("add -O2") == std::string::npos);
#endif
}
