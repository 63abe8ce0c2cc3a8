// Fourier transforms against sums written out, in all directions, lengths and scales; their derivatives, captured and batched calls, errors. Skipped, and said, without kissfft.
#include <doctest/doctest.h>

#include "tensors.hpp"

#if __has_include(<kissfft/kissfft.hh>)
#include <complex>

#include "tt/dispatch/fft.hpp"

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

}  // namespace
#else
#include <cstdio>
TEST_CASE("Fourier transforms") { std::printf("[SKIPPED fft] libkissfft-dev is not installed: nothing tested\n"); }
#endif
