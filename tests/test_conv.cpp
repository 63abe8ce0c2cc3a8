// Convolution, pooling, padding and windows: against PyTorch's numbers, against plain loops, against the reference on
// static programs (arguments end where a page ends that nobody may touch), and on every path of Tensors.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "run_static.hpp"
#include "tensors.hpp"

namespace {

using tt::Array;
using tt::Conv2dOptions;
using tt::DType;
using tt::Graph;
using tt::Pool2dOptions;
using tt::Sym;
using tt::Tensor;

struct Isa {};  // a type of this file: programs of files with other flags are others

/// Small whole numbers, which no order of summation rounds: element i is (i * step + first) % 17 - 8.
Tensor whole_numbers(const tt::IntList& sizes, int step, int first, DType d = DType::f64) {
  std::int64_t n = 1;
  for (std::int64_t e : sizes) n *= e;
  Tensor t(d, tt::Shape{n});
  tt::with_dtype(d, [&]<class T>(T) {
    for (std::int64_t i = 0; i < n; ++i) static_cast<T*>(t.data())[i] = static_cast<T>(static_cast<double>((i * step + first) % 17) - 8);
  });
  return t.reshape(sizes);
}
/// The sum of (i + 1) * element i.
double fingerprint(const Tensor& t) {
  double sum = 0, i = 0;
  for (double x : numbers(t)) sum += ++i * x;
  return sum;
}

/// Of what PyTorch 1.13 gave numbers for.
inline constexpr Conv2dOptions grouped{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2};

/// A convolution in plain loops, of f64.
std::vector<double> by_hand(const Tensor& x, const Tensor& w, const Conv2dOptions& c) {
  const Numbers a = numbers(x), b = numbers(w);
  const std::int64_t group = w.size(1), per_group = w.size(0) / c.groups, h = x.size(2), v = x.size(3), kh = w.size(2), kw = w.size(3);
  const std::int64_t oh = (h + 2 * c.padding.h - c.dilation.h * (kh - 1) - 1) / c.stride.h + 1,
                     ow = (v + 2 * c.padding.w - c.dilation.w * (kw - 1) - 1) / c.stride.w + 1;
  std::vector<double> y;
  for (std::int64_t n = 0; n < x.size(0); ++n)
    for (std::int64_t o = 0; o < w.size(0); ++o)
      for (std::int64_t i = 0; i < oh * ow; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < group * kh * kw; ++k) {
          const std::int64_t channel = k / (kh * kw), row = i / ow * c.stride.h + k / kw % kh * c.dilation.h - c.padding.h,
                             column = i % ow * c.stride.w + k % kw * c.dilation.w - c.padding.w;
          if (row < 0 || row >= h || column < 0 || column >= v) continue;
          const std::int64_t at = ((n * x.size(1) + o / per_group * group + channel) * h + row) * v + column;
          sum += a[static_cast<std::size_t>(at)] * b[static_cast<std::size_t>(o * group * kh * kw + k)];
        }
        y.push_back(sum);
      }
  return y;
}

constexpr Sym input(Graph& g, const tt::Shape& s, DType d = DType::f32) { return {&g, g.input(d, s)}; }
constexpr void output(const Sym& x) { x.graph->output(x.id); }

/// Convolutions with what follows them, and their gradients.
template <int N, int C, int H, int W, int O, int KH, int KW, Conv2dOptions Options, DType D = DType::f32>
struct Convolutions {
  static constexpr Graph record() {
    Graph g;
    const Sym x = input(g, {N, C, H, W}, D), w = input(g, {O, C / Options.groups, KH, KW}, D), b = input(g, {O}, D);
    const Sym y = tt::conv2d<Options>(x, w, b);
    output(tt::relu(y));
    output(tt::conv2d<Options>(x, w) * 2);
    if (tt::is_floating(D)) {
      const tt::Vec<int> d = tt::gradients(g, tt::sum(y * y).id, {x.id, w.id, b.id});
      for (int id : d) g.output(id);
    }
    return g;
  }
};
template <int N, int C, int H, int W>
struct Margins {
  static constexpr Graph record() {
    Graph g;
    const Sym x = input(g, {N, C, H, W}), i = input(g, {C, H, W}, DType::i32), m = input(g, {H, W}, DType::boolean);
    output(tt::max_pool2d<Pool2dOptions{.kernel_size = 3, .stride = 1, .padding = 1}>(i));
    output(tt::pad<1, 0, 2, 3, 0, 1>(tt::exp(x)));
    output(tt::pad<0, 2>(i) + 1);
    output(tt::pad<1, 1>(m));
    output(tt::sum(tt::unfold<3, 3>(x), 4));
    output(tt::unfold<-1, 2, 3>(i));
    return g;
  }
};
/// Two models: of all of it, clang does not take the steps.
template <int N, int C, int H, int W>
struct Pools {
  static constexpr Graph record() {
    Graph g;
    const Sym x = input(g, {N, C, H, W});
    const Sym largest = tt::max_pool2d(x), mean = tt::avg_pool2d<Pool2dOptions{.kernel_size = {2, 3}}>(x),
              near = tt::max_pool2d<Pool2dOptions{.kernel_size = 3, .stride = 2, .padding = 1}>(x);
    output(largest);
    output(mean * 2);
    output(near);
    output(tt::avg_pool2d<Pool2dOptions{.kernel_size = 3, .stride = 1, .padding = 1}>(x));
    const Sym loss = tt::sum(tt::square(largest)) + tt::sum(tt::square(mean)) + tt::sum(tt::square(near)) +
                     tt::sum(tt::square(tt::unfold<2, 3, 2>(tt::pad<1, 2>(x))));
    g.output(tt::gradients(g, loss.id, {x.id})[0]);
    return g;
  }
};

template <class Model>
void check() { check_static<Model, Isa>(); }
/// Forms that take minutes of compiler time.
template <class... Models>
void check_further() {
#ifdef TT_ALL_FORMS
  (check<Models>(), ...);
#endif
}

}  // namespace

TEST_CASE("PyTorch's numbers") {
  Tensor x = whole_numbers({2, 4, 5, 4}, 5, 3), w = whole_numbers({6, 2, 3, 2}, 7, 1), b = whole_numbers({6}, 3, 2);
  for (Tensor* t : {&x, &w, &b}) t->requires_grad_();
  const Tensor y = tt::conv2d(x, w, b, grouped);
  CHECK(shape(y) == "(2, 6, 3, 6)");
  CHECK(fingerprint(y) == -40579);
  (y * whole_numbers({2, 6, 3, 6}, 11, 4)).sum().backward();
  CHECK(fingerprint(x.grad()) == 56486);
  CHECK(fingerprint(w.grad()) == -11165);
  CHECK(fingerprint(b.grad()) == 4);
  const Tensor i = whole_numbers({1, 2, 5, 5}, 5, 3);
  CHECK(fingerprint(tt::max_pool2d(i, {.kernel_size = 3, .stride = 2, .padding = 1})) == 1201);
  CHECK(fingerprint(tt::max_pool2d(i, {.kernel_size = {2, 3}})) == 72);
  CHECK(std::fabs(fingerprint(tt::avg_pool2d(i, {.kernel_size = 3, .stride = 2, .padding = 1})) - 433.0 / 9) < 1e-13);  // quotients by 9, rounded
  CHECK(fingerprint(tt::pad(whole_numbers({2, 2}, 5, 3), {1, 0, 0, 2}, 7)) == 407);
}

TEST_CASE("plain loops") {
  const auto compare = [](const tt::IntList& images, const tt::IntList& weights, const Conv2dOptions& c) {
    const Tensor x = whole_numbers(images, 5, 3), w = whole_numbers(weights, 7, 1);
    CHECK(numbers(tt::conv2d(x, w, c)) == by_hand(x, w, c));
    CHECK(numbers(tt::conv2d(x.to(DType::f32), w.to(DType::f32), c)) == by_hand(x, w, c));
  };
  compare({1, 1, 1, 1}, {1, 1, 1, 1}, {});
  compare({2, 3, 8, 8}, {5, 3, 1, 1}, {});
  compare({2, 3, 8, 8}, {5, 3, 1, 1}, {.stride = 3});
  compare({1, 3, 30, 41}, {17, 3, 5, 3}, {.padding = {2, 1}});
  compare({3, 2, 9, 70}, {30, 2, 3, 3}, {.stride = {1, 2}, .padding = 4, .dilation = {2, 1}});
  compare({2, 6, 7, 7}, {6, 1, 3, 3}, {.padding = 1, .groups = 6});
  compare({0, 2, 7, 7}, {3, 2, 3, 3}, {});
}

TEST_CASE("static programs have the reference's bits") {
  check<Convolutions<2, 3, 9, 20, 30, 3, 3, Conv2dOptions{.stride = 2, .padding = {0, 1}}>>();
  check<Convolutions<2, 4, 8, 8, 6, 3, 2, grouped>>();
  check<Margins<2, 3, 8, 9>>();
  check<Pools<1, 2, 5, 33>>();
  check_further<Convolutions<1, 1, 3, 3, 1, 3, 3, Conv2dOptions{}>, Convolutions<2, 3, 8, 7, 5, 3, 3, Conv2dOptions{.padding = 1}>,
                Convolutions<1, 4, 6, 66, 2, 2, 5, Conv2dOptions{.dilation = {2, 3}}>,
                Convolutions<3, 2, 8, 8, 3, 1, 1, Conv2dOptions{.stride = 3, .padding = 2}, DType::f64>,
                Convolutions<2, 3, 8, 7, 5, 3, 3, Conv2dOptions{.padding = 1}, DType::i32>, Margins<1, 2, 5, 33>, Pools<2, 3, 8, 9>>();
}

namespace {

inline constexpr auto model = [](const auto& x, const auto& w, const auto& b, const auto& v) {
  auto h = tt::max_pool2d(tt::relu(tt::conv2d<Conv2dOptions{.padding = 1}>(x, w, b)));
  auto y = tt::conv2d<Conv2dOptions{.stride = 2}>(h, v);
  return tt::mean(y * tt::sigmoid(y));
};

}  // namespace

TEST_CASE("one model on Arrays, eager, taped and compiled: equal bits, of gradients too") {
  const auto number = [](const tt::IntList& sizes, int step) { return whole_numbers(sizes, step, 3, DType::f32) * 0.0625f; };
  Tensor x = number({3, 2, 9, 9}, 5), w = number({4, 2, 3, 3}, 7), b = number({4}, 3), v = number({5, 4, 2, 2}, 11);
  const auto ax = tt::to_array<Array<float, 3, 2, 9, 9>>(x);
  const auto aw = tt::to_array<Array<float, 4, 2, 3, 3>>(w);
  const auto ab = tt::to_array<Array<float, 4>>(b);
  const auto av = tt::to_array<Array<float, 5, 4, 2, 2>>(v);
  const auto [loss, d] = tt::value_and_grad<1, 2, 3>(model)(ax, aw, ab, av);
  const auto& [dw, db, dv] = d;
  const Tensor eager = model(x, w, b, v);
  CHECK(eager.item<float>() == loss.item());
  for (const bool compiled : {false, true}) {
    auto step = tt::compile(model, {.wait = true});
    for (Tensor* t : {&w, &b, &v}) {
      *t = t->detach().clone();
      t->requires_grad_();
    }
    const Tensor l = compiled ? step(x, w, b, v) : model(x, w, b, v);
    CHECK(l.item<float>() == loss.item());
    l.backward();
    CHECK(same_bits(w.grad(), tt::from_span<float>(dw, {4, 2, 3, 3})));
    CHECK(same_bits(b.grad(), tt::from_span<float>(db, {4})));
    CHECK(same_bits(v.grad(), tt::from_span<float>(dv, {5, 4, 2, 2})));
  }
}

TEST_CASE("gradients are slopes, of the second order too") {
  const auto number = [](const tt::IntList& sizes, int step) { return (whole_numbers(sizes, step, 3) * 0.3).requires_grad_(); };
  const auto check = [](const auto& f, const std::vector<Tensor>& inputs) {
    CHECK(message([&] { tt::gradcheck(f, inputs); }) == "no error");
    CHECK(message([&] { tt::gradgradcheck(f, inputs); }) == "no error");
  };
  const auto conv = [](const std::vector<Tensor>& t) { return tt::sin(tt::conv2d(t[0], t[1], t[2], grouped)); };
  check(conv, {number({2, 4, 5, 4}, 5), number({6, 2, 3, 2}, 7), number({6}, 3)});
  const auto wide = [](const std::vector<Tensor>& t) { return tt::sin(tt::conv2d(t[0], t[1], {.stride = 3, .padding = {0, 3}})); };
  check(wide, {number({1, 2, 5, 4}, 5), number({2, 2, 2, 1}, 7)});
  const auto pools = [](const std::vector<Tensor>& t) {
    return tt::max_pool2d(t[0], {.kernel_size = 3, .stride = 2, .padding = 1}).square().sum() +
           tt::sin(tt::avg_pool2d(t[0], {.kernel_size = 2, .stride = 1})).sum() + tt::pad(t[0], {1, 2, 0, 1}, 3).square().sum();
  };
  check(pools, {(tt::sin(tt::arange(60).to(DType::f64)) * 3).reshape({1, 3, 4, 5}).requires_grad_()});
}

TEST_CASE("windows are views") {
  Tensor t = tt::arange(7).to(DType::f32);
  const Tensor windows = t.unfold(0, 3, 2);
  CHECK(shape(windows) == "(3, 3)");
  CHECK(numbers(windows) == Numbers{0, 1, 2, 2, 3, 4, 4, 5, 6});
  t.slice(0, 2, 3).add_(10);
  CHECK(numbers(windows) == Numbers{0, 1, 12, 12, 3, 4, 4, 5, 6});
  CHECK(numbers(tt::arange(6).to(DType::f64).unfold(0, 3, 1).mean(1)) == Numbers{1, 2, 3, 4});  // a moving average
  const Array<float, 6> a{0, 1, 2, 3, 4, 5};
  const Array<float, 4> mean = tt::mean<1>(tt::unfold<0, 3>(a));
  CHECK(to_string(mean) == "[1. 2. 3. 4.]");
}

namespace {

template <int N, int Groups>
struct Grouped {
  static constexpr Graph record() {
    Graph g;
    const Sym x = input(g, {N, 4, 9, 9}), w = input(g, {8, 4 / Groups, 3, 3});
    const Sym b = input(g, {8});
    output(tt::relu(tt::conv2d<Conv2dOptions{.groups = Groups}>(x, w, b)));
    return g;
  }
};

template <int Size>
struct Depthwise {
  static constexpr Graph record() {
    Graph g;
    const Sym x = input(g, {2, 4, 17, 45}), w = input(g, {4, 1, Size, Size}), b = input(g, {4});
    output(tt::relu(tt::conv2d<Conv2dOptions{.stride = {1, 2}, .dilation = {2, 1}, .groups = 4}>(x, w, b)));
    return g;
  }
};

}  // namespace

TEST_CASE("windows are never written out: a convolution is one kernel, on devices too") {
  CHECK(tt::make_plan(Grouped<3, 2>::record(), {.transposed = tt::Transposed::as_it_lies}).kernels.size() == 1);
  CHECK(tt::make_plan(Grouped<1, 1>::record()).kernels.size() == 1);
  CHECK(tt::make_plan(Grouped<3, 1>::record()).kernels.size() == 1);
  CHECK(tt::make_plan(Grouped<1, 2>::record()).kernels.size() == 1);
  CHECK(tt::make_plan(Grouped<3, 2>::record()).kernels.size() == 1);
  CHECK(tt::make_plan(Grouped<3, 4>::record()).kernels.size() == 1);
  CHECK(tt::make_plan(Grouped<3, 4>::record()).kernels[0].kind == tt::KernelKind::matmul);  // two results a channel
  CHECK(tt::make_plan(Depthwise<3>::record()).kernels.size() == 1);
  CHECK(tt::make_plan(Depthwise<3>::record()).kernels[0].kind == tt::KernelKind::rows);
  CHECK(tt::make_plan(Depthwise<3>::record(), {.transposed = tt::Transposed::as_it_lies}).kernels[0].kind == tt::KernelKind::matmul);
  CHECK(tt::make_plan(Depthwise<6>::record()).kernels[0].kind == tt::KernelKind::rows);
  CHECK(tt::make_plan(Depthwise<8>::record()).kernels[0].kind == tt::KernelKind::matmul);
  static_assert(tt::make_plan(Depthwise<6>::record()).kernels[0].kind == tt::KernelKind::matmul);  // of few nodes
  check<Depthwise<3>>();
  check<Depthwise<6>>();
  check<Grouped<3, 2>>();
  check<Grouped<3, 4>>();
}

TEST_CASE("scale and shift of a batch norm are computed before the product, and applied in its kernel") {
  const auto block = [](const Tensor& x, const Tensor& w, const Tensor& mean, const Tensor& var, const Tensor& scale, const Tensor& shift) {
    const auto channels = [](const Tensor& t) { return t.reshape({6, 1, 1}); };
    return tt::relu((tt::conv2d(x, w) - channels(mean)) * channels(tt::rsqrt(var + 1e-5) * scale) + channels(shift));
  };
  const Tensor x = tt::randn({2, 4, 9, 8}, 1), w = tt::randn({6, 4, 3, 3}, 2), m = tt::randn({6}, 3), v = tt::rand({6}, 4), s = tt::randn({6}, 5), b = tt::randn({6}, 6);
  const auto t = tt::trace(block, x, w, m, v, s, b);
  CHECK(same_bits(t(x, w, m, v, s, b), block(x, w, m, v, s, b)));
  const tt::Plan plan = tt::make_plan(t.graph);
  REQUIRE(plan.kernels.size() == 2);
  CHECK(plan.kernels[1].kind == tt::KernelKind::matmul);
  const auto rows = [](const Tensor& a, const Tensor& c, const Tensor& p, const Tensor& q) { return tt::relu(tt::matmul(a, c) * (p * q) + tt::exp(q)); };
  const Tensor a = tt::randn({40, 30}, 7), c = tt::randn({30, 20}, 8), p = tt::randn({20}, 9), q = tt::randn({20}, 10);
  const auto u = tt::trace(rows, a, c, p, q);
  CHECK(same_bits(u(a, c, p, q), rows(a, c, p, q)));
  const tt::Plan of_rows = tt::make_plan(u.graph);
  CHECK(of_rows.kernels[of_rows.kernels.size() - 1].kind == tt::KernelKind::matmul);
}

TEST_CASE("windows of a few elements, and pairs, are reduced as vectors of results") {
  const auto reductions = [](const auto& f, const Tensor& x) {
    const auto t = tt::trace(f, x);
    CHECK(same_bits(t(x), f(x)));
    int n = 0;
    const tt::Plan plan = tt::make_plan(t.graph);
    for (const tt::Instruction& i : plan.instructions) n += tt::is_reduction(i.op);
    return n;
  };
  const Tensor x = tt::randn({2, 3, 13, 18}, 1);
  CHECK(reductions([](const Tensor& y) { return tt::max_pool2d(y, {.kernel_size = 3, .stride = 2}); }, x) == 0);
  CHECK(reductions([](const Tensor& y) { return tt::avg_pool2d(y, {.kernel_size = 2}); }, x) == 0);
  CHECK(reductions([](const Tensor& y) { return y.reshape({-1, 2}).sum(1); }, x) == 0);
  CHECK(reductions([](const Tensor& y) { return y.reshape({-1, 3}).sum(1); }, x) == 1);  // rows one behind the other are read as rows
  CHECK(reductions([](const Tensor& y) { return tt::max_pool2d(y, {.kernel_size = 9, .stride = 1}); }, x) == 2);
  CHECK(std::signbit(tt::full({4, 2}, -0.0).reshape({2, 2, 2}).sum(1).sum({0, 1}).item()) == false);  // a sum begins with 0
}

TEST_CASE("what no window reaches has no gradient, whatever the weights") {
  const Tensor x = tt::ones({1, 1, 3, 3}).requires_grad_(), w = tt::full({1, 1, 1, 1}, 1e300 * 1e300);
  tt::conv2d(x, w, {.stride = 2}).sum().backward();
  const double inf = 1e300 * 1e300;
  CHECK(numbers(x.grad()) == Numbers{inf, 0, inf, 0, 0, 0, inf, 0, inf});
}

TEST_CASE("threads do not change a bit") {
  const Tensor x = whole_numbers({3, 8, 40, 41}, 5, 3, DType::f32) * 0.37f, w = whole_numbers({33, 8, 3, 3}, 7, 1, DType::f32) * 0.11f;
  const int before = tt::get_num_threads();
  tt::set_num_threads(1);
  const Tensor one = tt::conv2d(x, w, {.padding = 1});
  tt::set_num_threads(3);
  CHECK(same_bits(one, tt::conv2d(x, w, {.padding = 1})));
  tt::set_num_threads(before);
}

TEST_CASE("a batch of a size known at run time") {
  const Array<float, 5, 3, 3, 3> w = [] {
    Array<float, 5, 3, 3, 3> r;
    float n = -4;
    for (float& x : r) x = n = n > 4 ? -4 : n + 0.5f;
    return r;
  }();
  constexpr auto f = [](const auto& x, const auto& weights) { return tt::relu(tt::conv2d<Conv2dOptions{.padding = 1}>(x, weights)); };
  for (const int n : {0, 1, 2, 5}) {
    Array<float, tt::dyn, 3, 8, 8> x(n);
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 13) - 6;
    const Array<float, tt::dyn, 5, 8, 8> y = tt::fuse(f)(x, w);
    CHECK(y.extent(0) == n);
    const Tensor want = f(tt::from_span<float>(x, {n, 3, 8, 8}), tt::from_span<float>(w, {5, 3, 3, 3}));
    CHECK(same_bits(tt::from_span<float>(y, {n, 5, 8, 8}), want));
  }
}

TEST_CASE("mistakes are named") {
  const Tensor x = tt::zeros({2, 3, 8, 8}), w = tt::zeros({4, 3, 3, 3});
  const auto says = [](const auto& f, const char* what) {
    const std::string text = message(f);
    CHECK_MESSAGE(contains(text, what), text);
    CHECK_MESSAGE(contains(text, "test_conv.cpp"), text);
  };
  says([&] { tt::conv2d(x, tt::zeros({4, 2, 3, 3})); }, "tt::conv2d: channels differ: (2, 3, 8, 8) in 1 group, weights (4, 2, 3, 3).");
  says([&] { tt::conv2d(tt::zeros({2, 6, 8, 8}), tt::zeros({4, 2, 3, 3}), {.groups = 3}); }, "tt::conv2d: channels differ: (2, 6, 8, 8) in 3 groups");
  says([&] { tt::conv2d(tt::zeros({2, 0, 8, 8}), w, {.groups = 0}); }, "tt::conv2d: channels differ");
  says([&] { tt::max_pool2d(x, {.padding = -5}); }, "tt::max_pool2d: stride or padding is out of range");
  says([&] { tt::max_pool2d(x, {.kernel_size = 3, .padding = 2}); }, "tt::max_pool2d: stride or padding is out of range");
  says([&] { tt::pad(x > 0, {1, 1}, 0.5); }, "tt::pad: dtype is not accepted");
  says([&] { tt::zeros({8}).unfold(0, 3, 1).mul_(2); }, "tt::mul_: several elements of the Tensor are one in memory");
  says([&] { tt::conv2d(x, w, {.groups = 3}); }, "tt::conv2d: channels differ");
  says([&] { tt::conv2d(x, tt::zeros({4, 3, 9, 9})); }, "tt::conv2d: window does not fit: 9 in (2, 3, 8, 8). Pad the input");
  says([&] { tt::conv2d(tt::zeros({8, 8}), w); }, "tt::conv2d: rank is too low: (8, 8) has rank 2, needed is 4.");
  says([&] { tt::max_pool2d(x, {.stride = 1 << 30}); }, "tt::max_pool2d: stride or padding is out of range");
  says([&] { tt::avg_pool2d(x.to(DType::i32)); }, "tt::avg_pool2d: dtype is not accepted: i32");
  says([&] { tt::conv2d(x, w, {.dilation = 1 << 30}); }, "tt::conv2d: stride, padding or dilation is out of range: (2, 3, 8, 8). Strides and dilations are at least 1, padding at least 0, all are below 2^30.");
  says([&] { tt::conv2d(x, w, {.stride = 0}); }, "tt::conv2d: stride, padding or dilation is out of range");
  says([&] { tt::conv2d(x, w, tt::zeros({3})); }, "tt::conv2d: shapes do not broadcast: (4, 3, 3, 3) and (3,).");
  says([&] { tt::conv2d(x > 0, w > 0); }, "tt::conv2d: dtype is not accepted: bool");
  says([&] { tt::max_pool2d(x, {.kernel_size = 9}); }, "tt::max_pool2d: window does not fit: 9 in (2, 3, 8, 8)");
  says([&] { tt::max_pool2d(tt::zeros({3})); }, "tt::max_pool2d: rank is too low");
  says([&] { tt::pad(x, {1, 2, 3}); }, "tt::pad: sizes come in pairs");
  says([&] { tt::pad(x, {-5, -4}); }, "tt::pad: padding is out of range: -5 for (2, 3, 8, 8). A negative size cuts off at most what is there?");
  says([&] { tt::pad(x, {INT64_MAX, INT64_MAX}); }, "tt::pad: padding is out of range: 9223372036854775807 for (2, 3, 8, 8).");
  says([&] { tt::pad(x, {INT64_MIN, 0}); }, "tt::pad: padding is out of range: -9223372036854775808 for (2, 3, 8, 8).");
  says([&] { (void)x.unfold(0, 3, 1); }, "tt::unfold: window does not fit: 3 in (2, 3, 8, 8)");
}

TEST_CASE("Tensors: batches of any size are one program") {
  const Tensor w = whole_numbers({5, 2, 3, 3}, 7, 1, DType::f32), b = whole_numbers({5}, 3, 2, DType::f32);
  const auto f = tt::compile(
      [](const Tensor& x, const Tensor& weights, const Tensor& bias) { return tt::max_pool2d(tt::relu(tt::conv2d(x, weights, bias, {.padding = 1}))).sum(0); },
      {.wait = true});
  for (const int n : {4, 5, 7, 9}) {  // 5 channels come out: a batch of 5 is the same symbol, and so a number
    const Tensor x = whole_numbers({n, 2, 8, 8}, 5, 3, DType::f32);
    CHECK(same_bits(f(x, w, b), tt::max_pool2d(tt::relu(tt::conv2d(x, w, b, {.padding = 1}))).sum(0)));
  }
  CHECK_MESSAGE(contains(f.explain(), "2 captures"), f.explain());
  CHECK_MESSAGE(contains(f.explain(), "f32 (s0, s1, s2, s2), f32 (s3, s1, 3, 3), f32 (s3,); some sizes as numbers"), f.explain());
}

TEST_CASE("weights and images that lie apart in memory have the gradients of dense ones") {
  const auto apart = [](const Tensor& t) {  // the same elements, with others between and behind them
    Tensor wide = tt::full({t.size(0), t.size(1), t.size(2) + 1, t.size(3) + 2}, 99, {.dtype = t.dtype()});
    wide.slice(2, 1, t.size(2) + 1).slice(3, 1, t.size(3) + 1).copy_(t);
    return wide.slice(2, 1, t.size(2) + 1).slice(3, 1, t.size(3) + 1);
  };
  for (const Conv2dOptions& c : {Conv2dOptions{}, Conv2dOptions{.stride = {2, 3}, .padding = 1}, Conv2dOptions{.padding = 2, .dilation = 2}, grouped}) {
    const Tensor x = whole_numbers({2, 4, 9, 8}, 5, 3), w = whole_numbers({6, 4 / c.groups, 3, 2}, 7, 1);
    const auto f = [&](const Tensor& a, const Tensor& b) {
      const Tensor y = tt::conv2d(a, b, c);
      return (y * y).sum();
    };
    const auto h = tt::compile(tt::frozen(f), {.wait = true});
    const auto gradients = [&](const auto& of, const Tensor& a, const Tensor& b) {
      Tensor p = a.detach(), q = b.detach();
      p.requires_grad_();
      q.requires_grad_();
      return tt::grad({of(p, q)}, {p, q});
    };
    const auto want = gradients(f, x, w);
    for (const auto& got : {gradients(f, apart(x), apart(w)), gradients(h, apart(x), apart(w)), gradients(h, apart(x).detach(), w)})
      for (std::size_t k = 0; k < 2; ++k) CHECK(same_bits(got[k], want[k]));
  }
}

TEST_CASE("slices of what lies apart in memory begin where they should, in compiled functions") {
  const Tensor x = whole_numbers({7, 9, 11}, 5, 3);
  const auto f = [](const Tensor& t) { return t.slice(0, 1, 5).slice(1, 2, 8, 2).slice(2, 3, 9, 3) * 2; };
  const auto h = tt::compile(f, {.wait = true});
  for (const Tensor& t : {x, x.transpose(0, 2), x.slice(2, 1, 11).permute({1, 0, 2}), x.slice(1, 0, 8)}) CHECK(same_bits(h(t), f(t.clone())));
}

TEST_CASE("one image needs no batch, and integers have a mean that is cut") {
  const Tensor x = whole_numbers({3, 8, 7}, 5, 3), w = whole_numbers({5, 3, 3, 3}, 7, 1), b = whole_numbers({5}, 3, 2);
  CHECK(same_bits(tt::conv2d(x, w, b, {.padding = 1}), tt::conv2d(x.unsqueeze(0), w, b, {.padding = 1})[0]));
  CHECK(same_bits(tt::compile([](const Tensor& i, const Tensor& k) { return tt::conv2d(i, k); })(x, w), tt::conv2d(x.unsqueeze(0), w)[0]));
  const Tensor i = tt::tensor({{1, 2, -5}, {4, 0, -2}});
  CHECK(tt::avg_pool2d(i, {.kernel_size = {1, 3}}).dtype() == DType::i64);
  CHECK(numbers(tt::avg_pool2d(i, {.kernel_size = {1, 2}, .stride = 1})) == Numbers{1, -1, 2, -1});
}

TEST_CASE("pad cuts off by negative sizes") {
  const Tensor x = tt::arange(12.0).reshape({3, 4});
  CHECK(numbers(tt::pad(x, {-1, 1, 0, -2}, 9)) == Numbers{1, 2, 3, 9});
  CHECK(numbers(tt::pad(x, {-3, -1}).sum()) == Numbers{0});
  CHECK(same_bits(tt::compile([](const Tensor& t) { return tt::pad(t, {-1, 2, 1, -2}); })(x), tt::pad(x, {-1, 2, 1, -2})));
  Tensor p = x.clone();
  p.requires_grad_();
  tt::pad(p, {-1, 0}).sum().backward();
  CHECK(numbers(p.grad()) == Numbers{0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1});
}

TEST_CASE("by name") {
  const Tensor x = whole_numbers({1, 2, 5, 5}, 5, 3), w = whole_numbers({3, 2, 3, 3}, 7, 1);
  tt::register_all_ops();
  CHECK(same_bits(tt::call("conv2d", {x, w}, {{"padding", {1}}}), tt::conv2d(x, w, {.padding = 1})));
  CHECK(same_bits(tt::call("max_pool2d", {x}, {{"kernel_size", {3}}, {"stride", {1}}}), tt::max_pool2d(x, {.kernel_size = 3, .stride = 1})));
  CHECK(same_bits(tt::call("pad", {x, {1, 2}, 0.5}), tt::pad(x, {1, 2}, 0.5)));
  CHECK(same_bits(tt::call("max_pool2d", {x, 2}), tt::max_pool2d(x, {.kernel_size = 2})));
  CHECK_THROWS_AS(tt::call("max_pool2d", {x, {1, 2, 3}}), tt::Error);
  CHECK_THROWS_AS(tt::call("max_pool2d", {x}), tt::Error);
  CHECK_THROWS_AS(tt::call("max_pool2d", {x, std::int64_t{1} << 32}), tt::Error);
}
