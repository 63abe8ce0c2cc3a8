// Fused functions: results, shared work, and what explain says.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <tt/tt.hpp>
#include <tuple>
#include <utility>

#include "arrays.hpp"

namespace {

using namespace arrays;
using tt::Array;
using tt::dyn;

int count_of(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

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

TEST_CASE("numbers and expressions are arguments") {
  const auto x = filled<Array<float, 9>>(1);
  const auto f = tt::fuse([](auto a, auto s, auto n) { return a * s + n; });
  for (float s : {2.0f, -0.5f})
    CHECK(each_is(f(x, s, 1), [&](auto i) { return x.data()[i] * s + 1; }));
  const auto type_of = [](const auto& y) { return tt::dtype_of<typename std::remove_cvref_t<decltype(y)>::value_type>; };
  const auto times = tt::fuse([](auto a, auto b) { return a * b; });
  const Array<double> single{0.5};
  const Array<std::int32_t, 2> whole{1, 2};
  CHECK(type_of(f(x, 2.0, 1)) == tt::DType::f32);  // torch.result_type: a number, or what has no axes, widens nothing within its category
  CHECK(type_of(times(x, single)) == tt::DType::f32);
  CHECK(type_of(tt::eval(x * single)) == tt::DType::f32);
  CHECK(type_of(times(whole, 0.5)) == tt::DType::f32);
  CHECK(type_of(times(whole, single)) == tt::DType::f64);
  CHECK(type_of(times(whole, std::int64_t{5})) == tt::DType::i32);
  CHECK(type_of(times(Array<float>{2}, single)) == tt::DType::f64);
  CHECK(type_of(times(Array<float>{2}, 0.5)) == tt::DType::f32);
  CHECK(type_of(times(0.5f, 2.0)) == tt::DType::f64);
  CHECK(type_of(tt::fuse([](auto a, auto s) { return tt::pow(a, s); })(x, 0.5)) == tt::DType::f32);
  CHECK(type_of(tt::fuse([](auto a, auto s) { return tt::hypot(a, s); })(x, 0.5)) == tt::DType::f32);
  CHECK(type_of(tt::fuse([](auto a, auto s) { return tt::atan2(a, s); })(whole, 0.5)) == tt::DType::f32);
  Array<float, 2> w{1, 2};
  tt::fuse([](auto& p, auto g, auto rate) { p = p - rate * g; })(w, Array<float, 2>{1, 1}, 0.5);
  CHECK(w(0) == 0.5f);
  CHECK(each_is(f(x + x, 1.0f, std::int64_t{0}), [&](auto i) { return x.data()[i] * 2; }));
  CHECK(each_is(f(Array<float, 9>(x), 4.0f, 0), [&](auto i) { return x.data()[i] * 4; }));
}

TEST_CASE("ops with options, called on Arrays") {
  const Array<float, 2, 4> a{{1, 2, 3, 4}, {5, 6, 7, 9}}, b{{0, 1, 1, 0}, {1, 1, 0, 0}};
  const Array<float, 2, 4> p = tt::sigmoid(a);
  CHECK(tt::eval(tt::argmax(a)).item() == 7);
  CHECK(tt::eval(tt::argmin(a)).item() == 0);
  CHECK(same_bits(tt::eval(tt::flip<1>(a)), tt::eval(tt::fliplr(a))));
  CHECK(same_bits(tt::eval(tt::nansum<0>(a)), tt::eval(tt::sum<0>(a))));
  CHECK(tt::eval(tt::kl_div(a, b)).item() == -2);
  CHECK(same_bits(tt::eval(tt::glu<{.dim = 0}>(a)), tt::eval(tt::slice<0, 0, 1>(a) * tt::sigmoid(tt::slice<0, -1, INT64_MAX>(a)))));
  const auto fused = [](const auto& f, const auto& own, const auto&... x) { CHECK(same_bits(tt::fuse(f)(x...), tt::eval(own))); };
  fused([](auto x) { return tt::glu(x, -1); }, tt::glu(a), a);
  fused([](auto x, auto y) { return tt::binary_cross_entropy(x, y); }, tt::binary_cross_entropy(p, b), p, b);
  fused([](auto x, auto y) { return tt::cosine_similarity(x, y); }, tt::cosine_similarity(a, b), a, b);
  fused([](auto x, auto y) { return tt::pairwise_distance(x, y); }, tt::pairwise_distance(a, b), a, b);
  fused([](auto x, auto y) { return tt::cdist(x, y); }, tt::cdist(a, b), a, b);
  fused([](auto x) { return tt::pdist(x); }, tt::pdist(a), a);
  fused([](auto x) { return tt::polygamma(1, x); }, tt::polygamma<1>(a), a);
  fused([](auto x, auto y) { return tt::poisson_nll_loss(x, y); }, tt::poisson_nll_loss(a, b), a, b);
  fused([](auto x, auto y) { return tt::gaussian_nll_loss(x, y, x); }, tt::gaussian_nll_loss(a, b, a), a, b);
  fused([](auto x, auto y) { return tt::hinge_embedding_loss(x, y); }, tt::hinge_embedding_loss(a, b), a, b);
  fused([](auto x, auto y) { return tt::margin_ranking_loss(x, y, y); }, tt::margin_ranking_loss(a, b, b), a, b);
  fused([](auto x, auto y) { return tt::soft_margin_loss(x, y); }, tt::soft_margin_loss(a, b), a, b);
  fused([](auto x, auto y) { return tt::multilabel_soft_margin_loss(x, y); }, tt::multilabel_soft_margin_loss(a, b), a, b);
  fused([](auto x, auto y) { return tt::triplet_margin_loss(x, y, x * 2); }, tt::triplet_margin_loss(a, b, a * 2), a, b);
  const Array<float, 1, 4, 2, 2> images = tt::reshape<1, 4, 2, 2>(filled<Array<float, 16>>(3));
  CHECK(same_bits(tt::eval(tt::pixel_unshuffle<2>(tt::pixel_shuffle<2>(images))), images));
  const Array<double, 5> x{1, 2, 3, 4, 5}, w{1, 2, 3, 4, 6};  // a program that fills the room that it is tried in to the last node
  const auto d = tt::grad([](auto v, auto u) { return tt::sum(u * v) / tt::norm(v); })(x, w);
  const double norm = std::sqrt(55.0), product = 60;
  for (int k = 0; k < 5; ++k) CHECK(d(k) == doctest::Approx(w(k) / norm - product * x(k) / (norm * norm * norm)));
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
  Array<float, dyn> v(10);
  const std::string of_expression = tt::explain(tt::tanh(v * 2 + v));
  CHECK(of_expression.find("1 kernel from 6 nodes, 0 bytes of arena\n") == 0);
  CHECK(of_expression.find("1 x s0              mul add tanh\n") != std::string::npos);
  const Array<float, 20, 30> m;
  const std::string transposed = tt::explain(tt::transpose(m) * 2);
  CHECK(transposed.find("copy\n    exchanges axes in squares: transposed rows are materialised") != std::string::npos);
  CHECK(transposed.find("2 kernels") == 0);
}

TEST_CASE("a graph can be had and read") {
  constexpr int size = tt::graph<Array<float, 8>>([](auto x) { return x * 2 + 1; }).size();
  static_assert(size >= 4);
  const tt::Graph g = tt::graph<Array<float, 8>>([](auto x) { return x * 2 + 1; });
  const std::string text = tt::to_string(g);
  CHECK(text.find("mul") != std::string::npos);
  CHECK(text.find("f32") != std::string::npos);
}

TEST_CASE("a slice of a run-time extent is checked in a fused function, and has a gradient") {
  const auto f = [](auto x) { return tt::sum(tt::slice<0, 1, 3>(x) * tt::slice<0, 0, 2>(x)); };
  const Array<double, dyn> x{1, 2, 3, 4};
  CHECK(tt::fuse(f)(x).item() == 8);
  const Array<double, dyn> d = tt::grad(f)(x);
  const double want[] = {2, 4, 2, 0};
  for (int i = 0; i < 4; ++i) CHECK(d(i) == want[i]);
  CHECK_THROWS_AS((tt::fuse(f)(Array<double, dyn>{1, 2})), tt::Error);
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
