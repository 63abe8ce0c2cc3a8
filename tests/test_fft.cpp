// Fourier transforms against sums written out and PyTorch's, in all directions, lengths and scales; their derivatives, captured and batched calls, errors. Skipped, and said, without kissfft.
#include <doctest/doctest.h>

#include "operator_cases.hpp"

#if __has_include(<kissfft/kissfft.hh>)
#include <complex>

#include "tt/dispatch/stft.hpp"

namespace {

using tt::DType;
using tt::Tensor;
using List = const std::vector<Tensor>&;
using Number = std::complex<double>;

/// Numbers that repeat nowhere.
Tensor made(const tt::IntList& shape, int seed) { return tt::randn(shape, seed, {.dtype = DType::f64}); }
std::vector<Number> numbers(const Tensor& z) {
  const Tensor t = z.contiguous();
  std::vector<Number> v;
  for (std::int64_t k = 0; k < t.numel(); k += 2) v.emplace_back(t.data_ptr<double>()[k], t.data_ptr<double>()[k + 1]);
  return v;
}
/// Sum of x[k] exp(-+2 pi i k t / n).
std::vector<Number> sums(const std::vector<Number>& x, bool inverse) {
  const std::size_t n = x.size();
  std::vector<Number> y(n);
  for (std::size_t t = 0; t < n; ++t)
    for (std::size_t k = 0; k < n; ++k) y[t] += x[k] * std::polar(1.0, (inverse ? 2 : -2) * std::acos(-1.0) * static_cast<double>(k * t % n) / static_cast<double>(n));
  return y;
}
void check(const std::vector<Number>& got, const std::vector<Number>& want, double by = 1) {
  REQUIRE(got.size() <= want.size());
  for (std::size_t k = 0; k < got.size(); ++k) CHECK(std::abs(got[k] - want[k] * by) < 1e-10);
}
bool same(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && tt::allclose(a, b, 1e-10, 1e-11); }

TEST_CASE("transforms of every length are the sums that they are defined by") {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 30, 49, 97, 128}) {
    CAPTURE(n);
    const Tensor z = made({n, 2}, 1), x = made({n}, 2);
    const double by = 1 / static_cast<double>(n);
    check(numbers(tt::fft::fft(z)), sums(numbers(z), false));
    check(numbers(tt::fft::ifft(z)), sums(numbers(z), true), by);
    check(numbers(tt::fft::fft(z, {}, -1, "ortho")), sums(numbers(z), false), std::sqrt(by));
    check(numbers(tt::fft::ifft(z, {}, -1, "forward")), sums(numbers(z), true));
    const Tensor half = tt::fft::rfft(x);
    CHECK(half.shape() == tt::Shape{n / 2 + 1, 2});
    check(numbers(half), sums(numbers(tt::complex(x, tt::zeros_like(x))), false));
    CHECK(same(tt::fft::irfft(half, n), x));
    CHECK(same(tt::fft::hfft(tt::fft::ihfft(x), n), x));
    CHECK(same(tt::fft::ifft(tt::fft::fft(z)), z));
  }
  const Tensor f = made({1000}, 3).to(DType::f32);
  CHECK(tt::fft::rfft(f).dtype() == DType::f32);
  CHECK(tt::allclose(tt::fft::irfft(tt::fft::rfft(f)), f, 1e-6, 1e-6));
  CHECK(tt::fft::rfft(tt::arange(6)).dtype() == DType::f32);
}

TEST_CASE("axes, lengths and several axes") {
  const Tensor z = made({3, 4, 5, 2}, 4), x = made({3, 4, 5}, 5);
  for (int axis = 0; axis < 3; ++axis) {
    const Tensor last = z.transpose(axis, 2).contiguous();
    CHECK(same(tt::fft::fft(z, {}, axis), tt::fft::fft(last).transpose(axis, 2)));
    CHECK(same(tt::fft::fft(z, {}, axis - 3), tt::fft::fft(z, {}, axis)));
    CHECK(same(tt::fft::irfft(tt::fft::rfft(x, {}, axis), x.size(axis), axis), x));
  }
  CHECK(same(tt::fft::fft(z, 3), tt::fft::fft(z.slice(2, 0, 3))));
  CHECK(same(tt::fft::fft(z, 7), tt::fft::fft(tt::cat({z, tt::zeros({3, 4, 2, 2}, DType::f64)}, 2))));
  CHECK(same(tt::fft::fftn(z), tt::fft::fft(tt::fft::fft(tt::fft::fft(z, {}, 0), {}, 1), {}, 2)));
  CHECK(same(tt::fft::ifftn(tt::fft::fftn(z, {}, {}, "ortho"), {}, {}, "ortho"), z));
  CHECK(same(tt::fft::fft2(z), tt::fft::fftn(z, {}, {1, 2})));
  CHECK(same(tt::fft::irfftn(tt::fft::rfftn(x), {3, 4, 5}), x));
  CHECK(same(tt::fft::rfft2(x, {-1, 6}), tt::fft::fft(tt::fft::rfft(x, 6), {}, 1)));
  CHECK(same(tt::fft::fftfreq(5, 0.5), tt::tensor({0.0, 0.4, 0.8, -0.8, -0.4}).to(tt::fft::fftfreq(5).dtype())));
  CHECK(same(tt::fft::rfftfreq(4), tt::tensor({0.0, 0.25, 0.5}).to(tt::fft::rfftfreq(4).dtype())));
  CHECK(same(tt::fft::fftshift(tt::arange(5)), tt::tensor({3, 4, 0, 1, 2})));
  CHECK(same(tt::fft::ifftshift(tt::fft::fftshift(x, {1, 2}), {1, 2}), x));
}

TEST_CASE("derivatives, captured and batched calls, names") {
  const auto energy = [](const Tensor& t) { return (t * t * t).sum(); };
  const Tensor z = made({2, 5, 2}, 6), x = made({2, 6}, 7);
  CHECK(tt::gradcheck([&](List t) { return energy(tt::fft::fft(t[0])); }, {z.clone().requires_grad_()}));
  CHECK(tt::gradcheck([&](List t) { return energy(tt::fft::ifft(t[0], 4, 0)); }, {z.clone().requires_grad_()}));
  for (const std::int64_t n : {5, 6}) {
    CHECK(tt::gradcheck([&](List t) { return energy(tt::fft::rfft(t[0], n)); }, {x.clone().requires_grad_()}));
    CHECK(tt::gradcheck([&](List t) { return energy(tt::fft::irfft(t[0], n)); }, {z.clone().requires_grad_()}));
  }
  CHECK(tt::gradgradcheck([&](List t) { return energy(tt::fft::rfft(t[0])); }, {x.clone().requires_grad_()}));
  const auto blurred = [](const Tensor& t) {
    const Tensor s = tt::fft::rfft(t);
    return tt::fft::irfft(s * tt::exp(tt::arange(s.size(-2)).to(DType::f64) * -0.1).unsqueeze(-1), t.size(-1));
  };
  const auto compiled = tt::compile(blurred, {.fullgraph = true});
  CHECK(same(compiled(x), blurred(x)));
  CHECK(same(compiled(made({3, 9}, 8)), blurred(made({3, 9}, 8))));
  CHECK(same(tt::vmap(blurred)(x), blurred(x)));
  CHECK(same(tt::call("fft.rfft", {x}, {{"norm", "ortho"}}), tt::fft::rfft(x, {}, -1, "ortho")));
  CHECK(same(tt::call("fft.ifft2", {z}), tt::fft::ifft2(z)));
}

TEST_CASE("what is no signal is refused") {
  using tt::Tensor;
  CHECK(message([] { tt::fft::fft(tt::zeros({4, 3})); }).find("tt::fft::fft: a complex signal is real with a last axis of 2, and this is of shape (4, 3).") == 0);
  CHECK(message([] { tt::fft::rfft(tt::zeros({})); }).find("a signal has an axis") != std::string::npos);
  CHECK(message([] { tt::fft::rfft(tt::zeros({0})); }).find("a signal of 0 values") != std::string::npos);
  CHECK(message([] { tt::fft::irfft(tt::zeros({1, 2})); }).find("a signal of 0 values") != std::string::npos);
  CHECK(message([] { tt::fft::rfft(tt::zeros({4}), {}, 1); }).find("axis 1 is none of 1") != std::string::npos);
  CHECK(message([] { tt::fft::rfft(tt::zeros({4}), {}, -1, "most"); }).find("none of backward, ortho, forward") != std::string::npos);
  CHECK(message([] { tt::fft::rfft(tt::zeros({4}, DType::bf16)); }).find("dtype is not accepted: bf16") != std::string::npos);
  CHECK(message([] { tt::fft::fftn(tt::zeros({4, 2}), {3, 3}, {0}); }).find("2 lengths for 1 axes") != std::string::npos);
  CHECK(tt::fft::rfft(tt::zeros({0, 4})).shape() == tt::Shape{0, 3, 2});
}

// Values of PyTorch 2.15.
Tensor signal() {
  const Tensor k = tt::arange(10).to(DType::f64), t = k * 0.7 + k * k * 0.25;
  return t - tt::floor(t / 3) * 3 - 1;
}
Tensor doubles(std::vector<double> v) { return tt::from_span(std::span<const double>(v), {static_cast<std::int64_t>(v.size())}).clone(); }
bool close(const Tensor& a, std::vector<double> v) { return tt::allclose(a.reshape({-1}), doubles(std::move(v)), 1e-12, 1e-12); }

TEST_CASE("parts of a signal one behind the other") {
  const Tensor x = signal(), w = doubles({0.5, 1, 0.75});
  const Tensor s = tt::stft(x, 4, {.hop_length = 3, .win_length = 3, .window = w, .normalized = true});
  CHECK(s.shape() == tt::Shape{3, 4, 2});
  CHECK(close(s, {-0.05, 0, 0.81875, 0, -0.1, 0, 0.66875, 0, 0.725, 0.025, -0.14375, -0.7, -0.125, 0.125, -0.29375, 0.2, 0, 0, -0.58125, 0, 0.15, 0, 1.06875, 0}));
  const Tensor all = tt::stft(x.unsqueeze(0), 4, {.hop_length = 2, .center = false, .onesided = false});
  CHECK(all.shape() == tt::Shape{1, 4, 4, 2});
  CHECK(close(all.sum({0, 1}), {-4, 0, 5.6, 0, -0.8, 0, 0.8, 0}));
  CHECK(tt::gradcheck([&](const std::vector<Tensor>& v) { return tt::stft(v[0], 4, {.hop_length = 3, .win_length = 3, .window = w}); }, {x.clone().requires_grad_()}));
}
TEST_CASE("and back") {
  const Tensor x = signal(), w = doubles({0.5, 1, 0.75, 0.25});
  const Tensor unit = tt::cat({tt::ones({3, 6, 1}, {.dtype = DType::f64}), tt::zeros({3, 6, 1}, {.dtype = DType::f64})}, -1);
  Tensor s = (tt::stft(x, 4, {.hop_length = 2, .window = w}) * 2 + unit).detach().requires_grad_();
  const Tensor y = tt::istft(s, 4, {.hop_length = 2, .window = w});
  CHECK(close(y.detach(), {-1.3846153846153846, -0.1, 3.415384615384615, 0.7, 0.215384615384615, -0.5, 1.015384615384614, 2.3, -0.184615384615382, 3.1}));
  (y * tt::arange(10).to(DType::f64)).sum().backward();
  CHECK(close(s.grad().sum({0, 1}), {12.30769230769231, -8.823529411764707}));
  CHECK(close(tt::istft(s.detach(), 4, {.hop_length = 2, .window = w, .length = 9}).slice(0, 7), {2.3, -0.184615384615382}));
  const Tensor longer = tt::istft(s.detach(), 4, {.hop_length = 2, .window = w, .length = 15});
  CHECK(longer.shape() == tt::Shape{15});
  const Tensor noise = tt::randn({2, 50}), hann = tt::windows::hann(8, false);
  for (bool onesided : {true, false})
    for (bool normalized : {true, false}) {
      const Tensor parts = tt::stft(noise, 8, {.hop_length = 3, .window = hann, .normalized = normalized, .onesided = onesided});
      CHECK(tt::allclose(tt::istft(parts, 8, {.hop_length = 3, .window = hann, .normalized = normalized, .onesided = onesided, .length = 50}), noise, 1e-4, 1e-5));
    }
  CHECK(tt::allclose(tt::call("istft", {tt::call("stft", {noise, 8})}, {{"n_fft", 8}, {"length", 50}}), noise, 1e-4, 1e-5));
  const auto both = [](const Tensor& t) { return tt::istft(tt::stft(t, 8), 8) * 2; };
  const auto compiled = tt::compile(both);
  CHECK(tt::equal(compiled(noise), both(noise)));
}
TEST_CASE("what has no parts is refused") {
  const Tensor x = signal();
  CHECK(message([&] { tt::stft(x, 4, {.hop_length = 0}); }).find("0 elements apart") != std::string::npos);
  CHECK(message([&] { tt::stft(x, 4, {.win_length = 5}); }).find("a window of 5 elements for parts of 4") != std::string::npos);
  CHECK(message([&] { tt::stft(x, 4, {.window = tt::ones({3})}); }).find("the window's shape is (3,)") != std::string::npos);
  CHECK(message([&] { tt::stft(x, 11, {.center = false}); }).find("parts of 11 elements in a signal of 10") != std::string::npos);
  CHECK(!message([&] { tt::stft(x, 30); }).empty());
  CHECK(message([&] { tt::stft(tt::arange(10), 4); }).find("of floating numbers") != std::string::npos);
  CHECK(message([&] { tt::istft(tt::zeros({2, 4, 2}), 4); }).find("2 frequencies, of parts of 4 elements there are 3") != std::string::npos);
  CHECK(message([&] { tt::istft(tt::zeros({3, 4, 2}), 4, {.window = tt::zeros({4})}); }).find("no window shows") != std::string::npos);
  const auto shown = tt::compile([](const Tensor& s) { return tt::istft(s, 4, {.window = tt::windows::hann(4, false), .center = false}); });
  CHECK(message([&] { shown(tt::zeros({3, 4, 2})); }).find("no window shows") != std::string::npos);
  CHECK(message([&] { tt::istft(tt::zeros({3, 0, 2}), 4); }).find("no parts") != std::string::npos);
  CHECK(message([&] { tt::istft(tt::zeros({3, 4, 2}), 4, {.length = 0}); }).find("a signal of 0 elements") != std::string::npos);
  CHECK(tt::stft(tt::zeros({8}), 4, {.window = tt::ones({4}, {.dtype = DType::f64})}).dtype() == DType::f64);
}

TEST_CASE("calls by name give what PyTorch gives, with gradients") {
  operator_cases::Cases cases("tests/data/fft_operators.txt");
  int all = 0;
  for (operator_cases::Case c; cases.next(c); ++all) {
    CAPTURE(c.name);
    CHECK(operator_cases::check_case(c) == "");
  }
  CHECK(all > 150);
}

}  // namespace
#else
#include <cstdio>
TEST_CASE("Fourier transforms") { std::printf("[SKIPPED fft] libkissfft-dev is not installed: nothing tested\n"); }
#endif
