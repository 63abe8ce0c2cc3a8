// Arguments at the edges of what operators take, with the outcome that PyTorch 2.15 has: each of these was something else once.
#include <doctest/doctest.h>

#include <cmath>

#include "tensors.hpp"
#include "tt/dispatch/boxed.hpp"

using tt::DType;
using tt::Tensor;

namespace {

void check_near(const Tensor& got, const Numbers& want, double allowed = 1e-8) {
  const Numbers have = numbers(got);
  REQUIRE(have.size() == want.size());
  for (std::size_t k = 0; k < want.size(); ++k) {
    INFO(k);
    CHECK(std::fabs(have[k] - want[k]) <= allowed * (1 + std::fabs(want[k])));
  }
}
Tensor reals(std::initializer_list<double> v) { return tt::from_span(std::span<const double>(v.begin(), v.size()), {static_cast<std::int64_t>(v.size())}); }
Numbers list(std::initializer_list<double> v) { return v; }

}  // namespace

TEST_CASE("images are resized with antialias as in PyTorch") {
  const Tensor x = (tt::arange(24, {.dtype = DType::f64}).reshape({1, 1, 4, 6})).sin() * 8;
  const auto resized = [&](const char* mode, bool align, const tt::IntList& size) { return tt::interpolate(x, size, {}, mode, align, false, true); };
  check_near(resized("bilinear", false, {2, 3}), {2.825916000, 3.959271249, -5.024578268, 0.224503854, 5.093104187, -3.052806160});
  check_near(resized("bilinear", true, {2, 3}), {2.964560680, 1.071116576, -6.499882070, 1.044309046, 2.732164944, -5.198316242});
  check_near(resized("bicubic", false, {2, 3}), {3.009170747, 4.662453635, -6.062999021, -0.442526443, 6.250362569, -3.651355326});
  check_near(resized("bicubic", true, {2, 3}), {3.239879317, 1.162419464, -8.025479483, 0.684028846, 3.369384302, -6.574278769});
  check_near(resized("bicubic", false, {3, 7}), {-0.657101172, 5.162814872, 7.838764683, 5.010387304, -1.164999752, -6.591080419, -7.835226581, -3.527296903, 2.718846370, 7.371001433, 6.822075776,
                                                 1.715906885, -4.663553476, -8.035742027, -5.937428025, -0.079740703, 5.941839985, 7.743962310, 4.373008141, -2.127760213, -7.188157296});
  CHECK_THROWS_AS((void)tt::interpolate(x, {2, 3}, {}, "nearest", false, false, true), tt::Error);
}

TEST_CASE("u8 images are resized with rounded means, other integers not") {
  const Tensor u = tt::remainder(tt::arange(24) * 37, 256).to(DType::u8).reshape({1, 1, 4, 6});
  CHECK(numbers(tt::interpolate(u, {3, 4}, {}, "bilinear")) == list({35, 59, 114, 170, 182, 46, 69, 125, 169, 193, 24, 80}));
  CHECK(numbers(tt::interpolate(u, {3, 4}, {}, "bicubic")) == list({30, 56, 118, 174, 207, 15, 73, 127, 168, 217, 7, 80}));
  CHECK_THROWS_AS((void)tt::interpolate(u.to(DType::i64), {3, 4}, {}, "bilinear"), tt::Error);
  const Tensor same = tt::arange(4).to(DType::f32).reshape({1, 1, 4});  // floor(4 * 1.2) is 4: what torch 2.15 gives
  CHECK(numbers(tt::interpolate(same, {}, {1.2}, "linear")) == list({0, 1, 2, 3}));
  CHECK(numbers(tt::interpolate(same, {}, {1.2}, "nearest")) == list({0, 0, 1, 2}));
  CHECK(numbers(tt::interpolate(same, {}, {1.2}, "nearest-exact")) == list({0, 1, 2, 2}));
  CHECK(numbers(tt::interpolate(same.reshape({1, 1, 2, 2}), {}, {1.2, 1.2}, "nearest")) == list({0, 1, 2, 3}));
}

TEST_CASE("a negative number beside u8 stands for its complement, eager and compiled") {
  const Tensor u = tt::tensor({1, 2, 250}).to(DType::u8);
  const auto f = [](const Tensor& x) { return x + (-3); };
  CHECK(numbers(f(u)) == list({254, 255, 247}));
  CHECK(numbers(tt::compile(f)(u)) == list({254, 255, 247}));
  const auto above = [](const Tensor& x) { return x > -3; };
  CHECK(numbers(above(u)) == numbers(tt::compile(above)(u)));
  CHECK(numbers(tt::full({2}, -255, {.dtype = DType::u8})) == list({1, 1}));
  CHECK_THROWS_AS((void)tt::full({2}, -256, {.dtype = DType::u8}), tt::Error);
  CHECK(numbers(above(u)) == Numbers{1, 1, 1});  // compared as the numbers that they are, where PyTorch's wrap
  CHECK(numbers(tt::call("gt", {u, -3})) == Numbers{1, 1, 1});
  CHECK(numbers(tt::call("le", {u, -3})) == Numbers{0, 0, 0});
  CHECK(numbers(tt::call("clamp_min", {u, -1})) == list({1, 2, 250}));
  CHECK(numbers(tt::call("clamp", {u, -1, 5})) == list({1, 2, 5}));
  CHECK_THROWS_AS((void)tt::full({2}, -1.5, {.dtype = DType::u8}), tt::Error);
  CHECK(numbers(u + 300) == list({45, 46, 38}));  // sums wrap
}

TEST_CASE("quantiles have a gradient by their place") {
  const Tensor x = reals({3.0, 1.0, 7.0, 2.0, 10.0}), q = reals({0.3, 0.9}).requires_grad_();
  tt::quantile(x, q).sum().backward();
  check_near(q.grad(), {4 * (3.0 - 2.0), 4 * (10.0 - 7.0)});
}

TEST_CASE("different slices are ordered by their elements as they lie behind the axis") {
  const Tensor x = tt::tensor({1, 0, 0, 1, 0, 1, 1, 0}).reshape({2, 2, 2});  // slices of the last axis: 1 0 0 1 and 0 1 1 0
  const std::vector<Tensor> r = tt::call_results("unique", std::vector<tt::BoxedValue>{x}, std::vector<tt::NamedValue>{{"return_inverse", true}, {"dim", 2}});
  CHECK(numbers(r[0]) == list({0, 1, 1, 0, 1, 0, 0, 1}));
  CHECK(numbers(r[1]) == list({1, 0}));
  const Tensor y = tt::tensor({0, 1, 1, 0, 0, 0, 0, 0}).reshape({2, 2, 2});  // 0 1 0 0 before 1 0 0 0: by rows, not by columns
  CHECK(numbers(tt::call_results("unique", std::vector<tt::BoxedValue>{y}, std::vector<tt::NamedValue>{{"dim", 2}})[0]) == list({0, 1, 1, 0, 0, 0, 0, 0}));
}

TEST_CASE("incomplete gamma functions and zeta have gradients by the second argument, and by the first an error") {
  for (const auto& f : {+[](const Tensor& u, const Tensor& x) { return tt::igamma(u, x); }, +[](const Tensor& u, const Tensor& x) { return tt::igammac(u, x); }, +[](const Tensor& u, const Tensor& x) { return tt::special::zeta(u + 1, x); }}) {
    const Tensor u = tt::tensor({2.0, 3.0}).requires_grad_(), x = tt::tensor({1.0, 2.0}).requires_grad_();
    f(u.detach(), x).sum().backward();
    CHECK(x.grad().abs().amin().item() > 0);
    CHECK(message([&] { f(u, x).sum().backward(); }).find("has no derivative by its first argument") != std::string::npos);
    CHECK(message([&] { tt::compile(tt::frozen(f))(u, x).sum().backward(); }).find("has no derivative by its first argument") != std::string::npos);
    CHECK(message([&] { (void)tt::jvp([&](const Tensor& v) { return f(v, x.detach()); }, u.detach(), u.detach()); }).find("has no derivative by its first argument") != std::string::npos);
  }
}

TEST_CASE("a scalar has axis 0 for transpose, as for reductions; integrals by trapezoids") {
  const Tensor x = tt::tensor(2.0f);
  CHECK(x.transpose(0, -1).item() == 2);
  CHECK(message([&] { (void)x.transpose(0, 1); }).find("axis is out of range") != std::string::npos);
  const Tensor y = tt::tensor({{1.0, 2.0, 4.0}, {3.0, 3.0, 3.0}});
  CHECK(numbers(tt::trapezoid(y)) == list({4.5, 6}));
  CHECK(numbers(tt::trapezoid(y, 2.0, 0)) == list({4, 5, 7}));
  CHECK(numbers(tt::trapezoid(tt::tensor({1, 2, 4}))) == list({4.5}));
  CHECK(numbers(tt::trapezoid(tt::zeros({2, 0}))) == list({0, 0}));
  CHECK(numbers(tt::trapezoid(tt::ones({2, 1}))) == list({0, 0}));
}

TEST_CASE("factors without a derivative: an error where one is asked for, not zero") {
  const Tensor a = tt::tensor({4.0, 1.0, 1.0, 3.0}).to(DType::f64).reshape({2, 2}).requires_grad_(), b = tt::tensor({1.0, 2.0}).to(DType::f64).reshape({2, 1}).requires_grad_();
  const auto r = tt::geqrf(a);
  CHECK(r.tau.requires_grad());
  CHECK(message([&] { (r.tau.sum() + a.sum()).backward(); }).find("geqrf has no derivative") != std::string::npos);
  const auto f = tt::linalg::ldl_factor(a);
  CHECK(message([&] { f.LD.sum().backward(); }).find("linalg.ldl_factor has no derivative") != std::string::npos);
  tt::linalg::ldl_solve(f.LD.detach(), f.pivots, b).sum().backward();
  CHECK(tt::allclose(b.grad(), tt::linalg::solve(a.detach(), tt::ones({2, 1}, DType::f64))));
  CHECK(message([&] { tt::linalg::ldl_solve(f.LD, f.pivots, b).sum().backward(); }).find("linalg.ldl_solve has no derivative by the factors") != std::string::npos);
  const Tensor w = tt::tensor({1.0, 2.0, 3.0}).requires_grad_();
  (tt::histogram(tt::tensor({0.1, 0.9, 0.2}), 2, 0, 1, w).hist * tt::tensor({5.0, 7.0})).sum().backward();  // it is linear in the weights
  CHECK(numbers(w.grad()) == list({5, 7, 5}));
}

TEST_CASE("special functions far out") {
  const double inf = __builtin_inf();
  const Tensor x = reals({0.5, 1.0, -1.0, 2.0}), beyond = reals({inf, -inf, 1e300, -1e20});
  for (const char* name : {"special_legendre_polynomial_p", "special_chebyshev_polynomial_t", "special_hermite_polynomial_he", "special_laguerre_polynomial_l"})
    CHECK(numbers(tt::call(name, {x, beyond})) == list({0, 0, 0, 0}));  // no degrees
  CHECK(numbers(tt::call("special_zeta", {tt::tensor({1e20, 1e20}), reals({1e19, 0.5})})) == list({0, inf}));  // ends
  // of mpmath, by integration
  check_near(tt::igamma(reals({1e20, 2e6, 1e8, 3e7}), reals({1e20, 2.001e6, .9999e8, 3e7})), {0.50000000001329808, 0.76028656094693625, 0.15865525352814383, 0.50002427885401765}, 1e-15);
  const Tensor a = reals({1.1e6, 1.1e6, 1.1e6}), at = reals({1.0995e6, 1.1e6, 1.102e6});
  check_near(tt::igamma(a, at) + tt::igammac(a, at), {1, 1, 1}, 1e-15);
  // both sides of where another formula begins: the curve has no step
  const Tensor low = tt::igamma(tt::tensor({1e6, 1e6}), reals({1e6, 1.0005e6})), high = tt::igamma(tt::tensor({1e6 + 1e-3, 1e6 + 1e-3}), reals({1e6, 1.0005e6}));
  check_near(high, numbers(low), 1e-6);
  check_near(tt::special::airy_ai(reals({-2830, -2850, -10000, -123456})), {-0.0305327947004445319, -0.0319637843025488997, 0.0270573836046425792, -0.0140968715802927739}, 1e-10);
}

TEST_CASE("the next f16 in a direction") {
  const double inf = __builtin_inf();
  const Tensor from = tt::tensor({1.0, 1.0, 0.0, 0.0, 0x1p-14, -0x1p-14, 65504.0, inf, -inf, 0x1p-24, 2.0, 5.0}).to(DType::f16);
  const Tensor to = tt::tensor({2.0, 0.0, 1.0, -1.0, 0.0, 0.0, inf, 0.0, 0.0, 0.0, 1.0, 5.0}).to(DType::f16);
  const Tensor next = tt::nextafter(from, to);
  CHECK(next.dtype() == DType::f16);
  CHECK(std::signbit(tt::nextafter(reals({-0x1p-24}).to(DType::f16), reals({1}).to(DType::f16)).item()));
  CHECK(numbers(next) == list({1 + 0x1p-10, 1 - 0x1p-11, 0x1p-24, -0x1p-24, 0x1p-14 - 0x1p-24, -0x1p-14 + 0x1p-24, inf, 65504, -65504, 0, 2 - 0x1p-10, 5}));
}

TEST_CASE("numbers alone are no operands, but of arithmetic") {
  CHECK(tt::call("add", {2, 3}).item<std::int64_t>() == 5);
  CHECK_THROWS_AS((void)tt::call("atan2", {2, 3}), tt::Error);
  CHECK_THROWS_AS((void)tt::call("gt", {2, 3}), tt::Error);
  CHECK(tt::call("atan2", {2, tt::tensor({1.0})}).numel() == 1);
}

TEST_CASE("ranges that lead away from their end are errors") {
  CHECK_THROWS_AS((void)tt::arange(3, 0, 1), tt::Error);
  CHECK_THROWS_AS((void)tt::arange(0.0, 3.0, -1.0), tt::Error);
  CHECK_THROWS_AS((void)tt::arange(-2), tt::Error);
  CHECK(tt::arange(3, 3, -1).numel() == 0);
}

TEST_CASE("bounds of ranges of integers are cut first") {
  CHECK(numbers(tt::linspace(4.3, 0, 3, {.dtype = DType::i64})) == list({4, 2, 0}));
  CHECK(numbers(tt::logspace(4.3, 0, 2, 10, {.dtype = DType::i64})) == list({10000, 1}));
}

TEST_CASE("norms of nothing, of 16 bits, and of negative order") {
  CHECK(tt::linalg::matrix_norm(tt::zeros({0, 3}), __builtin_inf()).item() == 0);
  CHECK(tt::linalg::matrix_norm(tt::zeros({3, 0}), 1.0).item() == 0);
  CHECK_THROWS_AS((void)tt::linalg::matrix_norm(tt::zeros({0, 3}), -__builtin_inf()), tt::Error);
  CHECK(tt::linalg::vector_norm(reals({-100.0}).to(DType::f16), 6).item() == doctest::Approx(100));
  CHECK(tt::linalg::vector_norm(tt::full({4}, 300, {.dtype = DType::f16})).item() == 600);
  CHECK(tt::linalg::matrix_norm(tt::full({2, 2}, 300, {.dtype = DType::f16})).item() == 600);
  check_near(tt::normalize(reals({1, 2, -4}).reshape({1, 3}), -1), {1.75, 3.5, -7});
  CHECK(tt::pairwise_distance(tt::tensor({{1.0, 5.0}}), tt::tensor({{1.0, 2.0}}), -1, 0).item() == 0);
}

TEST_CASE("the argument of real numbers, elements of other strides, and inverse maps") {
  const double nan = __builtin_nan("");
  const Numbers r = numbers(tt::angle(reals({1.0, -2.0, 0.0, nan})));
  CHECK((r[0] == 0 && r[1] == 3.14159265358979323846 && r[2] == 0 && std::isnan(r[3])));
  CHECK(tt::angle(tt::tensor({-1})).dtype() == DType::f32);
  const Tensor x = tt::arange(6, {.dtype = DType::f64}).requires_grad_(), part = reals({10.0, 20.0}).requires_grad_();
  const Tensor y = tt::as_strided_scatter(x, part, {2}, {2}, 1);
  CHECK(numbers(y) == list({0, 10, 2, 20, 4, 5}));
  (y * y).sum().backward();
  CHECK(numbers(x.grad()) == list({0, 0, 4, 0, 8, 10}));
  CHECK(numbers(part.grad()) == list({20, 40}));
  // places are those of the storage
  const Tensor m = tt::arange(12, {.dtype = DType::f64}).reshape({3, 4}), four = reals({-1, -2, -3, -4}).reshape({2, 2});
  CHECK(numbers(tt::as_strided_scatter(m.t(), four, {2, 2}, {5, 1}, 1)) == list({0, 4, 8, -1, 5, 9, -2, -3, 10, 3, -4, 11}));
  CHECK(numbers(tt::as_strided_scatter(m, tt::tensor({7, 8}), {2}, {3})) == list({7, 1, 2, 8, 4, 5, 6, 7, 8, 9, 10, 11}));
  CHECK(numbers(tt::as_strided_scatter(m.slice(1, 0, 2), four, {2, 2}, {4, 1}, 1)) == list({0, -1, 4, -3, 8, 9}));
  CHECK(numbers(tt::linalg::tensorinv(tt::eye(4).reshape({2, 2, 4}), 2)) == numbers(tt::eye(4).reshape({4, 2, 2})));
}

TEST_CASE("dtype says what sums that go on are of") {
  const Tensor x = tt::tensor({1, 2, 3}).to(DType::i32);
  CHECK(tt::call("cumsum", {x, 0}, {{"dtype", DType::i32}}).dtype() == DType::i32);
  CHECK(tt::call("cumprod", {x, 0}, {{"dtype", DType::i32}}).dtype() == DType::i32);
  CHECK(tt::sum_to_size(x, {3}).dtype() == DType::i32);
  CHECK(tt::sum_to_size(x, {1}).dtype() == DType::i64);
}

TEST_CASE("logit's eps above a half is the lower bound") {
  check_near(tt::call("logit", {reals({0.1, 0.5, 0.7}), 0.6}), {0.405465108108164, 0.405465108108164, -0.405465108108164});
}

TEST_CASE("windows of fractional pools lie where Graham's sequence says") {
  tt::manual_seed(3);
  const Tensor x = tt::randn({2, 3, 7, 9}, {.dtype = DType::f64}), u = tt::rand({2, 3, 2}, {.dtype = DType::f64});
  const tt::PoolResult r = tt::fractional_max_pool2d_with_indices(x, {2, 3}, {3, 4}, {}, u);
  REQUIRE(r.values.shape() == tt::IntList{2, 3, 3, 4});
  const auto begin = [](double sample, int i, int n, int window, int m) {
    const double step = static_cast<double>(n - window) / (m - 1);
    return i == m - 1 ? n - window : static_cast<int>((i + sample) * step) - static_cast<int>(sample * step);
  };
  const Numbers in = numbers(x), samples = numbers(u), values = numbers(r.values), places = numbers(r.indices);
  for (int p = 0; p < 6; ++p)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j) {
        const std::size_t own = static_cast<std::size_t>(p);
        const int row = begin(samples[2 * own + 1], i, 7, 2, 3), column = begin(samples[2 * own], j, 9, 3, 4);
        double most = -__builtin_inf();
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 3; ++b) most = std::max(most, in[own * 63 + static_cast<std::size_t>((row + a) * 9 + column + b)]);
        const std::size_t at = (own * 3 + static_cast<std::size_t>(i)) * 4 + static_cast<std::size_t>(j);
        CHECK(values[at] == most);
        CHECK(in[own * 63 + static_cast<std::size_t>(places[at])] == most);
      }
  CHECK(tt::fractional_max_pool3d(tt::zeros({3, 8, 8, 8}), {2, 2, 2}, {}, {0.5}).shape() == tt::IntList{3, 4, 4, 4});
  CHECK_THROWS_AS((void)tt::fractional_max_pool2d(x, {2, 3}, {7, 4}), tt::Error);
  CHECK_THROWS_AS((void)tt::fractional_max_pool2d(x, {2, 3}, {}), tt::Error);
  CHECK_THROWS_AS((void)tt::fractional_max_pool3d(tt::zeros({1, 1, 4, 4, 4}), {2, 2, 2}, {}, {0.5, 0.5}), tt::Error);
  CHECK(tt::fractional_max_pool2d(tt::zeros({0, 1, 4, 6}), {2, 2}, {2, 3}).shape() == tt::IntList{0, 1, 2, 3});
  const Tensor high = tt::arange(1800, {.dtype = DType::f64}).reshape({1, 1, 600, 3}).to(DType::bf16);  // rows that 16 bits do not count
  CHECK(tt::fractional_max_pool2d_with_indices(high, {2, 1}, {300, 3}, {}, tt::tensor({0.375, 0.625}).reshape({1, 1, 2}).to(DType::bf16)).indices.amax().item<std::int64_t>() >= 1797);
}

TEST_CASE("alpha_dropout keeps mean and variance, rrelu draws a slope for each element") {
  tt::manual_seed(5);
  const Tensor x = tt::randn({100000});
  const Tensor dropped = tt::alpha_dropout(x, 0.3, true);
  CHECK(std::fabs(dropped.mean().item()) < 0.02);
  CHECK(std::fabs(dropped.var().item() - 1) < 0.03);
  const Tensor of_zeros = tt::alpha_dropout(tt::zeros({1000}), 0.3, true);
  CHECK(of_zeros.amax().item() == doctest::Approx(0.454098).epsilon(1e-5));  // PyTorch's
  CHECK(of_zeros.amin().item() == doctest::Approx(-1.059562).epsilon(1e-5));
  const double replaced = of_zeros.amin().item();
  const double part = (dropped - replaced).abs().lt(1e-6).to(DType::f32).mean().item();
  CHECK(std::fabs(part - 0.3) < 0.01);
  const Tensor channels = tt::feature_alpha_dropout(tt::ones({4, 50, 3, 3}), 0.5, true).reshape({200, 9});
  CHECK(same_bits(channels.amax(1), channels.amin(1)));
  CHECK(tt::alpha_dropout(x, 0.3).is_same(x));
  CHECK_THROWS_AS((void)tt::alpha_dropout(x, 1.5, true), tt::Error);

  const Tensor slope = tt::rrelu(tt::full({10000}, -1, {.dtype = DType::f64}), 0.1, 0.3, true).neg();
  CHECK(slope.amin().item() >= 0.1);
  CHECK(slope.amax().item() <= 0.3);
  CHECK(std::fabs(slope.mean().item() - 0.2) < 0.01);
  CHECK(slope.std().item() > 0.05);
  check_near(tt::rrelu(reals({-1, 0, 2}), 0.1, 0.3), {-0.2, 0, 2});
  CHECK_THROWS_AS((void)tt::rrelu(x, 0.3, 0.1), tt::Error);
}

TEST_CASE("shapes that have to be equal are guards of a compiled function") {
  const auto unpool = [](const Tensor& x, const Tensor& i) { return tt::max_unpool(x, i, tt::IntList{6}); };
  const auto compiled = tt::compile(unpool);
  const Tensor x = reals({1, 2, 3}).reshape({1, 3}), i = tt::tensor({4, 0, 2}).reshape({1, 3});
  CHECK(same_bits(compiled(x, i), unpool(x, i)));
  CHECK_THROWS_AS((void)compiled(x, tt::tensor({4, 0}).reshape({1, 2})), tt::Error);
  const auto put = [](const Tensor& a, const Tensor& b) { return tt::select_scatter(a, b, 0, 1); };
  const auto compiled_put = tt::compile(put);
  const Tensor a = reals({1, 2, 3, 4}).reshape({2, 2}), b = reals({5, 6});
  CHECK(same_bits(compiled_put(a, b), put(a, b)));
  CHECK_THROWS_AS((void)compiled_put(a, reals({5})), tt::Error);
}

TEST_CASE("an infinity stays in its window of an adaptive pool, or of a kernel that is as wide as its result's elements") {
  Tensor x = tt::arange(8, {.dtype = DType::f64}).reshape({1, 1, 1, 8}).expand({1, 1, 8, 8}).clone();
  x.select(3, 1).fill_(INFINITY);
  const double inf = INFINITY;
  CHECK(numbers(tt::adaptive_avg_pool2d(x, {1, 3})) == list({inf, 3.5, 6}));
  CHECK(numbers(tt::adaptive_avg_pool2d(x, {1, 4})) == list({inf, 2.5, 4.5, 6.5}));
  const Numbers row = numbers(tt::interpolate(x, {4, 4}, {}, "bilinear", false, false, true).select(2, 0));
  CHECK(row[0] == inf);
  CHECK(row[1] == inf);
  CHECK(row[2] == doctest::Approx(4.5));
  CHECK(row[3] == doctest::Approx(44.0 / 7));
  CHECK_THROWS_AS((void)tt::adaptive_avg_pool2d(tt::zeros({2, 3, 0, 4}), {2, 2}), tt::Error);
  const auto pool = [](const Tensor& t) { return tt::adaptive_avg_pool2d(t, {3, 5}); };
  const Tensor y = tt::randn({2, 3, 7, 9}, 1);
  CHECK(same_bits(tt::compile(pool)(y), pool(y)));
  const Tensor z = tt::arange(35, {.dtype = DType::f64}).reshape({1, 35}).requires_grad_(true);
  for (const std::int64_t m : {16, 17}) {
    const Tensor means = tt::adaptive_avg_pool1d(z, {m});
    for (std::int64_t i = 0; i < m; ++i) CHECK(means.data_ptr<double>()[i] == (static_cast<double>(i * 35 / m) + static_cast<double>(((i + 1) * 35 + m - 1) / m - 1)) / 2);
    CHECK(tt::gradcheck([m](const std::vector<Tensor>& t) { return tt::adaptive_avg_pool1d(t[0], {m}); }, {z}));
  }
  CHECK(numbers(tt::adaptive_avg_pool1d(reals({4}).reshape({1, 1}), {3})) == list({4, 4, 4}));
}

TEST_CASE("many small matrices times vectors are each one times its own") {
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64, tt::DType::i32, tt::DType::i64})
    for (const std::int64_t n : {1, 2, 3, 7, 16})
      for (const std::int64_t count : {2, 16, 37}) {
        const std::string dtype = tt::name(d);
        CAPTURE(dtype);
        CAPTURE(n);
        CAPTURE(count);
        const Tensor a = (tt::rand({count, 2 * n, n}, 3) * 100 - 50).to(d), x = (tt::rand({count, n, 1}, 4) * 100 - 50).to(d);
        const auto check = [&](const Tensor& left, const Tensor& right) {
          const Tensor all = tt::matmul(left, right);
          for (std::int64_t k = 0; k < count; ++k) CHECK(same_bits(all.select(0, k).contiguous(), tt::matmul(left.select(0, k), right.select(0, k))));
        };
        check(a, x);
        CHECK(same_bits(tt::matmul(a.to(DType::i64), x.to(DType::i64)), (a.to(DType::i64) * x.to(DType::i64).transpose(1, 2)).sum({2}, true)));
        check(a.slice(1, 0, 2 * n, 2), x);
        check(a.slice(1, 0, n).transpose(1, 2), x);
        check(a, x.slice(0, 0, 1).expand({count, n, 1}));
        check(a.slice(0, 0, 1).expand({count, 2 * n, n}), x);
      }
}

TEST_CASE("products and sums up to each element of several rows are those of each row alone") {
  for (const std::int64_t rows : {1, 3, 4, 9}) {
    const Tensor x = tt::randn({rows, 37}, 2), whole = tt::randint(-9, 9, {rows, 37});
    const Tensor y = tt::cumprod(x, 1), z = tt::cumprod(whole, 1);
    Tensor g = x.clone().requires_grad_(true);
    tt::cumprod(g, 1).sum().backward();
    for (std::int64_t r = 0; r < rows; ++r) {
      CHECK(same_bits(y.select(0, r).contiguous(), tt::cumprod(x.select(0, r), 0)));
      CHECK(same_bits(z.select(0, r).contiguous(), tt::cumprod(whole.select(0, r), 0)));
      Tensor one = x.select(0, r).clone().requires_grad_(true);
      tt::cumprod(one, 0).sum().backward();
      CHECK(same_bits(g.grad().select(0, r).contiguous(), one.grad()));
    }
  }
  CHECK(tt::cumprod(tt::ones({4, 0}), 1).shape() == tt::Shape{4, 0});
}

TEST_CASE("functions that leave elements where they are give them in memory of their own") {
  const auto own = [](const auto& f, const tt::IntList& shape) {
    Tensor x = tt::ones(shape);
    f(x).add_(5);
    CHECK(x.amax().item() == 1);
    const auto both = [f](const Tensor& t) {
      const Tensor h = t * 3;
      Tensor y = f(h);
      y.add_(1);
      return h.sum() + y.sum();
    };
    CHECK(same_bits(tt::compile(tt::frozen(both))(x), both(x)));
  };
  own([](const Tensor& t) { return tt::pixel_shuffle(t, 2); }, {1, 4, 1, 1});
  own([](const Tensor& t) { return tt::pixel_shuffle(t, 1); }, {1, 4, 2, 3});
  own([](const Tensor& t) { return tt::pixel_unshuffle(t, 1); }, {1, 4, 2, 3});
  own([](const Tensor& t) { return tt::adaptive_avg_pool2d(t, {3, -1}); }, {1, 2, 3, 3});
}

TEST_CASE("a mask is no larger than what it masks, and 16-bit floats are counted in 32 bits") {
  CHECK_THROWS_AS((void)tt::masked::sum(tt::ones({1, 3}), tt::ones({5, 3}, DType::boolean)), tt::Error);
  CHECK_THROWS_AS((void)tt::masked::softmax(tt::ones({3}), tt::ones({5, 3}, DType::boolean), 0), tt::Error);
  CHECK_THROWS_AS((void)tt::masked::prod(tt::ones({2, 3}), {}, {0, 0}), tt::Error);
  const Tensor many = tt::ones({100000}, {.dtype = DType::f16}), every_second = tt::arange(100000) % 2 == 0;
  CHECK(tt::masked::mean(many, every_second).item() == 1);
  CHECK(tt::masked::var(many, every_second).item() == 0);
  CHECK(tt::masked::median(tt::tensor({16777217, 1, 16777219}), {}).item() == 16777217);
  CHECK(tt::bincount(tt::zeros({0}, {.dtype = DType::i64})).numel() == 0);
}

TEST_CASE("C++ has operators of integers for Tensors, Arrays and symbols") {
  const Tensor x = tt::arange(6), m = x > 2, n = x < 5;
  CHECK(numbers(x % 4) == list({0, 1, 2, 3, 0, 1}));
  CHECK(numbers(-x % 4) == list({0, 3, 2, 1, 0, 3}));
  CHECK(numbers(7 % (x + 1)) == list({0, 1, 1, 3, 2, 1}));
  CHECK(numbers(x % x.size(0)) == numbers(x));
  CHECK(numbers(x & 3) == list({0, 1, 2, 3, 0, 1}));
  CHECK(numbers(1 | x) == list({1, 1, 3, 3, 5, 5}));
  CHECK(numbers(x ^ 5) == list({5, 4, 7, 6, 1, 0}));
  CHECK(numbers(~x) == list({-1, -2, -3, -4, -5, -6}));
  CHECK(numbers(~m) == list({1, 1, 1, 0, 0, 0}));
  CHECK(numbers(m & n) == list({0, 0, 0, 1, 1, 0}));
  CHECK(numbers(m | n) == list({1, 1, 1, 1, 1, 1}));
  CHECK((x.size(0) & 1) == 0);
  CHECK(numbers(x << 2) == list({0, 4, 8, 12, 16, 20}));
  CHECK(numbers((x << x) >> 1) == list({0, 1, 4, 12, 32, 80}));
  CHECK(message([&] { (void)(tt::ones({6}) << 1); }).find("bitwise_left_shift") != std::string::npos);
  CHECK(message([&] { (void)(x % tt::ones({4})); }).find("test_operator_edges.cpp:") != std::string::npos);
  CHECK(message([&] { (void)(tt::ones({6}) & x); }).find("dtype is not accepted: f32") != std::string::npos);
  const auto f = [](const auto& a, const auto& b) { return (a % b) & ~(a ^ 1); };
  CHECK(same_bits(tt::compile(f)(x, x + 2), f(x, x + 2)));
  const tt::Array<std::int64_t, 3> a{5, -6, 7}, b{3, 4, 5};
  const tt::Array<std::int64_t, 3> y = f(a, b), z = tt::fuse(f)(a, b);
  for (int k = 0; k < 3; ++k) {
    CHECK(y(k) == (((a(k) % b(k) + b(k)) % b(k)) & ~(a(k) ^ 1)));
    CHECK(z(k) == y(k));
  }
}

TEST_CASE("threads share one long row to be sorted, and numbers to be counted") {
  const int before = tt::get_num_threads();
  const auto in_threads = [](int n, const auto& f) {
    tt::set_num_threads(n);
    return f();
  };
  for (const DType d : {DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean, DType::f16, DType::u8})
    for (const std::int64_t n : {40000, 65537, 100003})
      for (const int range : {3, 1 << 30}) {
        const Tensor whole = tt::randint(-range, range, {n});
        Tensor x = whole.to(DType::f64);
        if (tt::is_floating(d)) x = tt::where(whole % 11 == 0, tt::full({n}, NAN, {.dtype = DType::f64}), tt::where(whole % 7 == 0, x * -0.0, x));
        x = x.to(d);
        const auto sorted = [&](bool descending) { return [&, descending] { return tt::sort(x, -1, descending, true); }; };
        const tt::SortResult up = in_threads(1, sorted(false)), down = in_threads(1, sorted(true));
        const tt::UniqueResult unique = tt::unique(x, true, true, true);
        for (const int threads : {2, 4, 5}) {
          CAPTURE(threads);
          CHECK(same_bits(in_threads(threads, sorted(false)).indices, up.indices));
          CHECK(same_bits(in_threads(threads, sorted(true)).indices, down.indices));
          CHECK(same_bits(tt::unique(x, true, true, true).inverse_indices, unique.inverse_indices));
        }
      }
  const Tensor whole = tt::randint(0, 1000, {100003});
  const Tensor counted = in_threads(1, [&] { return tt::bincount(whole); });
  CHECK(same_bits(in_threads(3, [&] { return tt::bincount(whole); }), counted));
  CHECK(counted.sum().item<std::int64_t>() == 100003);
  CHECK(numbers(tt::bincount(tt::tensor({1, 3, 1}), {}, 6)) == list({0, 2, 0, 1, 0, 0}));
  const Tensor weights = tt::rand({64, 1024}, 1);
  const auto drawn = [&] {
    tt::Generator g(5);
    return tt::multinomial(weights, 16, true, g);
  };
  CHECK(same_bits(in_threads(3, drawn), in_threads(1, drawn)));
  tt::set_num_threads(before);
}

TEST_CASE("dtypes that PyTorch refuses are refused, with words that name both") {
  const Tensor x = tt::ones({3, 3}), d = x.to(DType::f64), i = tt::ones({3}, DType::i64);
  const auto words = [](const auto& f) {
    try {
      (void)f();
    } catch (const tt::Error& e) {
      const std::string said = e.what();
      return said.substr(0, said.find('\n'));
    }
    return std::string("nothing");
  };
  CHECK(words([&] { return tt::matmul(x, d); }) == "tt::matmul: dtypes differ: f32 and f64. Cast one?");
  CHECK(words([&] { return tt::linear(x, d); }) == "tt::linear: dtypes differ: f32 and f64. Cast one?");
  CHECK(words([&] { return tt::conv2d(x.reshape({1, 1, 3, 3}), tt::ones({1, 1, 2, 2}, DType::f64)); }) == "tt::conv2d: dtypes differ: f32 and f64. Cast one?");
  CHECK(words([&] { return tt::layer_norm(x, {3}, tt::ones({3}, DType::f64)); }) == "tt::layer_norm: dtypes differ: f32 and f64. Cast one?");
  CHECK(words([&] { return tt::gelu(i); }) == "tt::gelu: dtype is not accepted: i64. Cast it first?");
  CHECK(words([&] { return tt::elu(i, 1.0); }) == "tt::elu: dtype is not accepted: i64. Cast it first?");
  CHECK(words([&] { return tt::take(x, x); }) == "tt::take: indices are f32. i64?");
  CHECK(words([&] { return x.index({x.select(0, 0)}); }) == "tt::index: indices are f32. i64 or i32?");
  CHECK(words([&] { return tt::call("conv1d", {tt::ones({1, 1, 5}), tt::ones({1, 1, 2}), tt::none, tt::IntList{1, 1}}); }) == "tt::conv1d: conv: a stride is given for 2 of 1 axis: (1, 1). One number, or one for each?");
}

TEST_CASE("a bound that is NaN gives NaN, and other values at the ends of what functions take") {
  const double nan = std::nan("");
  const Numbers low = numbers(tt::clamp_min(reals({1, nan, 3, 4}), reals({nan, 2, 3, 5}))), high = numbers(tt::clamp_max(reals({1, nan, 3}), reals({nan, 2, 2})));
  CHECK((std::isnan(low[0]) && std::isnan(low[1]) && low[2] == 3 && low[3] == 5));
  CHECK((std::isnan(high[0]) && std::isnan(high[1]) && high[2] == 2));
  CHECK(numbers(tt::polygamma(1, reals({INFINITY}))) == list({0}));
  CHECK(numbers(tt::polygamma(2, reals({INFINITY}))) == list({0}));
  CHECK(numbers(tt::special::modified_bessel_k0(reals({INFINITY}))) == list({0}));
  CHECK(numbers(tt::special::scaled_modified_bessel_k1(reals({INFINITY}))) == list({0}));
  check_near(tt::call("lp_pool1d", {tt::arange(1, 7).reshape({1, 1, 6}), 2.0, 2}), {std::sqrt(5.0), 5.0, std::sqrt(61.0)}, 1e-6);
  CHECK_THROWS_AS((void)tt::masked_scatter(tt::zeros({3}), tt::tensor({1, 1, 1}).to(DType::boolean), tt::ones({2})), tt::Error);
}

TEST_CASE("a number goes to the device of the Tensor beside it") {
  const Tensor x = tt::empty({3, 4}, {.device = {tt::DeviceType::meta, 0}}), i = tt::empty({5}, {.dtype = DType::i64, .device = {tt::DeviceType::meta, 0}});
  CHECK(tt::quantile(x, 0.5).is_meta());
  CHECK(tt::nanquantile(x, 0.25, 1).shape() == tt::Shape{3});
  for (const Tensor& slope : tt::gradient(x)) CHECK((slope.is_meta() && slope.shape() == x.shape()));
  CHECK(tt::call("gcd", {i, 4}).is_meta());
  CHECK(tt::call("special.zeta", {x, 2.0}).is_meta());
  CHECK(tt::call("special.hermite_polynomial_h", {x, 3}).shape() == x.shape());
  CHECK(tt::linalg::lu(x).L.is_meta());
  CHECK(tt::lcm(tt::tensor(4), i).is_meta());
  const Tensor square = tt::empty({3, 3}, x.options());
  const auto factors = tt::linalg::lu_factor(square);
  CHECK(tt::linalg::lu_solve(factors.LU, factors.pivots, square).is_meta());
}

TEST_CASE("normalisations with what they subtract and multiply by") {
  const Tensor x = tt::rand({2, 4, 3}, 1).to(DType::f64), w = tt::rand({4}, 2).to(DType::f64);
  const auto layer = tt::native_layer_norm(x, {4, 3}, {}, {}, 1e-3);
  CHECK(same_bits(layer.output, tt::layer_norm(x, {4, 3}, {}, {}, 1e-3)));
  CHECK(layer.mean.shape() == tt::Shape{2, 1, 1});
  check_near(layer.output, numbers((x - layer.mean) * layer.rstd));
  const auto group = tt::native_group_norm(x, {}, {}, 2, 4, 3, 2, 1e-3);
  check_near(group.output, numbers(((x.reshape({2, 2, 6}) - group.mean.unsqueeze(-1)) * group.rstd.unsqueeze(-1)).reshape({2, 4, 3})));
  const auto batch = tt::native_batch_norm(x, w, {}, {}, {}, true, 0.1, 1e-3);
  check_near(batch.output, numbers((x - batch.mean.unsqueeze(-1)) * batch.rstd.unsqueeze(-1) * w.unsqueeze(-1)));
  CHECK(tt::native_batch_norm(x, w, {}, tt::zeros({4}, DType::f64), tt::ones({4}, DType::f64), false, 0.1, 1e-3).mean.numel() == 0);
  CHECK_THROWS_AS((void)tt::native_group_norm(x, {}, {}, 2, 4, 4, 2, 1e-3), tt::Error);
  CHECK_THROWS_AS((void)tt::native_group_norm(x, {}, {}, 2, 4, INT64_MAX, 2, 1e-3), tt::Error);
  const Tensor leaf = x.detach().requires_grad_();  // which of the three have a gradient is PyTorch's choice
  CHECK_FALSE(tt::native_layer_norm(leaf, {4, 3}, {}, {}, 1e-3).mean.requires_grad());
  CHECK(tt::native_group_norm(leaf, {}, {}, 2, 4, 3, 2, 1e-3).rstd.requires_grad());
  CHECK_FALSE(tt::native_batch_norm(leaf, {}, {}, {}, {}, true, 0.1, 1e-3).rstd.requires_grad());
}

TEST_CASE("sizes at the end of 64 bits wrap around") {
  using tt::Size;
  static_assert((Size(INT64_MIN) - 2).value() == INT64_MAX - 1 && (Size(INT64_MAX) + Size(1)).value() == INT64_MIN && (Size(INT64_MAX) * 2).value() == -2);
  static_assert((Size(INT64_MIN) / -1).value() == INT64_MIN && (Size(INT64_MIN) % -1).value() == 0 && (Size(7) / -1).value() == -7 && (Size(7) % -1).value() == 0 && (-Size(INT64_MIN)).value() == INT64_MIN);
  CHECK(tt::tril_indices(INT64_MAX, 0).shape() == tt::Shape{2, 0});
  CHECK(numbers(tt::triu_indices(2, 3, INT64_MIN)) == numbers(tt::triu_indices(2, 3, -5)));
  CHECK_THROWS_AS((void)tt::one_hot(tt::full({1}, INT64_MAX, {.dtype = DType::i64})), tt::Error);
}

TEST_CASE("second derivatives where factors are 0, and of i1 at 0") {
  // d2 (x s) / dx ds is 1, whichever of the two is 0; of three factors with two zeros it is the third one
  const Tensor place = tt::tensor({0.0}).to(DType::i64), places = tt::tensor({0.0, 0.0}).to(DType::i64);
  const auto mixed = [](const Tensor& x, const Tensor& index, const Tensor& src) {
    const auto product = [&](const Tensor& a, const Tensor& b) { return tt::scatter_reduce(a, 0, index, b, tt::ScatterReduction::prod).sum(); };
    return numbers(tt::grad<1>([&](const Tensor& a, const Tensor& b) { return tt::grad<0>(product)(a, b).sum(); })(x, src));
  };
  for (const double x : {0.0, 3.0})
    for (const double s : {0.0, 2.0}) CHECK(mixed(reals({x}), place, reals({s})) == Numbers{1});
  CHECK(mixed(reals({0}), places, reals({0, 5})) == Numbers{5, 0});
  CHECK(mixed(reals({2}), places, reals({0, 5})) == Numbers{5, 0});
  const auto second = [](const Tensor& t) { return tt::grad([](const Tensor& u) { return tt::grad([](const Tensor& v) { return tt::special::i1(v).sum(); })(u).sum(); })(t); };
  CHECK(numbers(second(reals({0}))) == Numbers{0});
  CHECK(std::isfinite(numbers(second(reals({1e-3})))[0]));
}

TEST_CASE("addr of several dtypes is computed in the one that holds them") {
  const Tensor whole = tt::ones({1, 1}, DType::i64), real = tt::ones({1}, DType::f32), truth = tt::ones({1}, DType::boolean), one = tt::ones({1}, DType::i64);
  CHECK(numbers(tt::addr(whole, real, real, 2.5)) == Numbers{3.5});
  CHECK(numbers(tt::addr(truth.reshape({1, 1}), one, one, 2)) == Numbers{3});
  CHECK(numbers(tt::addr(whole, truth, truth, 1, 3)) == Numbers{4});
  CHECK(tt::addr(whole, one, real, 1, 0.5).dtype() == DType::f32);
  CHECK_THROWS_AS((void)tt::addr(whole, one, one, 0.5), tt::Error);
}

TEST_CASE("what is NaN in one row stays NaN in the gradients of distances by products") {
  const Tensor a = tt::rand({30, 3}, 1).to(DType::f64), b = tt::rand({30, 3}, 2).to(DType::f64);
  const Tensor x = tt::where(tt::arange(90).reshape({30, 3}) == 0, NAN, a).requires_grad_();
  tt::cdist(x, b, 2, tt::EuclidDistance::use_mm_for_euclid_dist).sum().backward();
  CHECK(numbers(x.grad().isnan().sum({1})).front() == 3);
  CHECK(numbers(x.grad().isnan().sum())[0] == 3);
}

TEST_CASE("second derivatives where formulas have choices or overflow") {
  const auto second = [](const auto& f, const Tensor& x) {
    const Tensor v = x.clone().requires_grad_(), g = tt::grad({f(v).sum()}, {v}, {}, true, true)[0];
    const Tensor own = tt::grad({g.sum()}, {v})[0];
    check_near(tt::jvp(tt::grad([&](const Tensor& a) { return f(a).sum(); }), x, tt::ones_like(x)).second, numbers(own), 1e-6);
    return own;
  };
  const Tensor zero = reals({0});
  const auto sum = tt::Reduction::sum;
  check_near(second([&](const Tensor& x) { return tt::binary_cross_entropy_with_logits(x, tt::ones_like(x) * 0.3, Tensor(), sum); }, zero), {0.25});
  check_near(second([&](const Tensor& x) { return tt::soft_margin_loss(x, tt::ones_like(x), sum); }, zero), {0.25});
  check_near(second([&](const Tensor& x) { return tt::multilabel_soft_margin_loss(x.unsqueeze(0), tt::ones({1, 1}, {.dtype = DType::f64}), Tensor(), sum); }, zero), {0.25});
  check_near(second([](const Tensor& x) { return tt::logaddexp(x, x.detach()); }, reals({1.5})), {0.25});
  check_near(second([](const Tensor& x) { return tt::logaddexp2(x, x.detach()); }, reals({1.5})), {0.25 * 0.6931471805599453});
  CHECK(numbers(tt::logaddexp(reals({INFINITY, -INFINITY}), reals({INFINITY, -INFINITY}))) == Numbers{INFINITY, -INFINITY});
  check_near(tt::hessian([&](const Tensor& w) { return tt::binary_cross_entropy_with_logits(tt::matmul(tt::ones({4, 2}, {.dtype = DType::f64}), w), reals({0, 1, 1, 0})); })(reals({0, 0})), {0.25, 0.25, 0.25, 0.25});
  check_near(second([](const Tensor& x) { return x.pow(0) + x.pow(1) + x.pow(2) + x.pow(3); }, reals({0, 1})), {2, 8});
  check_near(second([](const Tensor& x) { return tt::digamma(x); }, reals({-0.5, -2.5, -0.3, 0.7})), {-0.82879664423432, -0.1082040516417282, 67.63908119988314, -6.434992874190923}, 1e-9);
  check_near(second([](const Tensor& x) { return tt::special::log_ndtr(x); }, reals({4, 6, 20, -3})), {-5.353557695381802e-4, -3.645529717182244e-8, 0, -0.9294408132147378});
  const auto of_det = [&](const Tensor& a, const Numbers& want) {
    const Tensor v = a.clone().requires_grad_(), w = (tt::arange(a.numel()).to(DType::f64) + 1).reshape(a.shape());
    const Tensor g = tt::grad({tt::linalg::det(v)}, {v}, {}, true, true)[0];
    check_near(tt::grad({(g * w).sum()}, {v})[0], want);
    check_near(tt::jvp(tt::grad([](const Tensor& m) { return tt::linalg::det(m); }), a, w).second, want);
  };
  of_det(reals({1, 2, 3, 4, 5, 6, 7, 8, 9}).reshape({3, 3}), {-6, 12, -6, 12, -24, 12, -6, 12, -6});
  of_det(reals({2, 0, 0, 1, 0, 0, 1, 2, 3}).reshape({3, 3}), {3, -15, 11, 0, 18, -16, 0, -9, 8});
  for (const auto& m : {reals({1, 2, 2, 4}), reals({0, 0, 0, 0}), reals({2, 1, 1, 3})}) of_det(m.reshape({2, 2}), {4, -3, -2, 1});
  const auto third = tt::jacrev(tt::hessian([](const Tensor& m) { return tt::linalg::det(m); }))(reals({2, 1, 0, 1, 3, 1, 0, 1, 4}).reshape({3, 3}));
  CHECK(std::fabs(numbers(third.select(0, 0).select(0, 0).select(0, 1).select(0, 1).select(0, 2).select(0, 2).reshape({1}))[0] - 1) < 1e-9);
}

TEST_CASE("heads of attention that do not divide, and memory that is filled where elements share it") {
  const Tensor q = tt::ones({1, 2, 3, 4}), k = tt::ones({1, 3, 3, 4}), none = tt::zeros({1, 0, 3, 2});
  CHECK_THROWS_AS((void)tt::scaled_dot_product_attention(q, k, k, Tensor(), 0, false, {}, true), tt::Error);
  CHECK_THROWS_AS((void)tt::scaled_dot_product_attention(q, tt::ones({1, 4, 3, 4}), tt::ones({1, 4, 3, 4}), Tensor(), 0, false, {}, true), tt::Error);
  CHECK(tt::scaled_dot_product_attention(none, none, none, Tensor(), 0, false, {}, true).shape() == tt::IntList{1, 0, 3, 2});
  const Tensor column = tt::zeros({2, 1});
  Tensor wide = column.expand({2, 3});
  wide.fill_(4);
  CHECK(numbers(column) == Numbers{4, 4});
  wide.zero_();
  CHECK(numbers(wide) == Numbers{0, 0, 0, 0, 0, 0});
  CHECK(numbers(tt::arange(6).reshape({2, 3}).index({"...", 0})) == Numbers{0, 3});
  CHECK_THROWS_AS((void)tt::arange(6).index({"abc"}), tt::Error);
}

TEST_CASE("bags of words are summed without their rows in between") {
  const Tensor table = (tt::arange(40).to(DType::f64).reshape({8, 5}) * 0.37).sin(), words = tt::tensor({3, 1, 7, 3, 0, 5, 5, 2}), offsets = tt::tensor({0, 3, 3, 6});
  const auto by_hand = [&](const Tensor& t, bool mean, bool pads) {
    const std::int64_t bag[] = {0, 0, 0, 2, 2, 2, 3, 3};
    Tensor sum = tt::zeros({4, 5}, {.dtype = DType::f64}), seen = tt::zeros({4, 1}, {.dtype = DType::f64});
    for (int k = 0; k < 8; ++k) {
      const std::int64_t w = words[k].item<std::int64_t>();
      if (pads && w == 5) continue;
      sum[static_cast<int>(bag[k])] += t[static_cast<int>(w)];
      seen[static_cast<int>(bag[k])] += 1;
    }
    return mean ? sum / seen.clamp_min(1) : sum;
  };
  for (const bool mean : {false, true})
    for (const bool pads : {false, true}) {
      tt::EmbeddingOptions o;
      if (pads) o.padding_idx = 5;
      const auto f = [&](const Tensor& t) { return tt::embedding_bag(words, t, offsets, mean ? tt::BagMode::mean : tt::BagMode::sum, Tensor(), false, o); };
      check_near(f(table), numbers(by_hand(table, mean, pads)));
      check_near(tt::compile(tt::frozen(f))(table), numbers(f(table)));
      const Tensor a = table.clone().requires_grad_(), b = table.clone().requires_grad_();
      (f(a) * f(a)).sum().backward();
      const Tensor want = by_hand(b, mean, pads);
      (want * want).sum().backward();
      check_near(a.grad(), numbers(b.grad()));
      check_near(tt::jvp(f, table, table * 2).second, numbers(f(table) * 2));
    }
  CHECK_THROWS_AS((void)tt::embedding_bag(tt::tensor({-1, 2}), table, tt::tensor({0})), tt::Error);
  CHECK_THROWS_AS((void)tt::embedding_bag(tt::tensor({8, 2}), table, tt::tensor({0})), tt::Error);
}
