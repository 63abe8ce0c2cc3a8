// Ops over graphs, and ops with a kernel, that are defined outside of the library: one struct and one function each (see
// ops/README.md). What follows from a struct: the function on Arrays and Tensors, derivatives, captured functions, calls by name.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include <tt/tt.hpp>

#include "tensors.hpp"
#include "tt/dispatch/boxed.hpp"
#include "tt/functional/parse.hpp"

namespace own {

using namespace tt;

// [rms_norm]
struct RmsNorm {
  struct Options {
    Sizes normalized_shape;
    double eps = 1e-6;
  };
  static constexpr OpInfo info{.name = "own_rms_norm", .arguments = "input, .normalized_shape, weight?"};
  static constexpr Sym body(const auto& x, const auto& weight, const Options& o) {
    const unsigned axes = detail::last_axes(x, o.normalized_shape, info.name);
    detail::need_sizes(weight, o.normalized_shape, info.name);
    const auto y = x * tt::rsqrt(detail::mean(x * x, axes, true) + o.eps);
    return weight.defined() ? y * weight : y;
  }
};
/// x / sqrt(mean(x^2) + eps) * weight over the last axes, which are of the shape given.
template <RmsNorm::Options O, Value... A>
constexpr CalledStructured<Structured<RmsNorm, O>, A...> rms_norm(A&&... a) { return call_structured<RmsNorm, O>({}, static_cast<A&&>(a)...); }
template <DynamicAxes A>
constexpr A rms_norm(const A& x, const Sizes& normalized_shape, const std::type_identity_t<A>& weight = {}, double eps = 1e-6, SourceLine at = here()) {
  return call_with<RmsNorm>(at, {normalized_shape, eps}, x, weight);
}
// [/rms_norm]

/// Every kind of option, and two results.
struct Moments {
  struct Options {
    tt::Axes dim;
    bool keepdim = true;
    tt::Optional<double> shift;
    std::int64_t correction = 1;
  };
  struct Results {
    tt::Sym mean, variance;
  };
  static constexpr tt::OpInfo info{.name = "test_moments", .arguments = "input"};
  static constexpr Results body(const tt::Sym& x, const Options& o) {
    const unsigned axes = tt::detail::axis_bits(x, o.dim, info.name);
    const tt::Sym m = tt::detail::mean(x, axes, true), c = x - m;
    const tt::Sym v = tt::detail::reduce<tt::Op::sum>(c * c, axes, o.keepdim) / (tt::detail::count_of(x, axes) - o.correction);
    return {o.shift.given ? m + o.shift.value : m, v};
  }
};

/// Any number of Tensors.
struct WeightedSum {
  struct Options {
    double last = 1;
  };
  static constexpr tt::OpInfo info{.name = "test_weighted_sum", .arguments = "tensors..."};
  static constexpr tt::Sym body(const tt::Syms& x, const Options& o) {
    tt::Sym sum = x[x.size() - 1] * o.last;
    for (int k = x.size() - 2; k >= 0; --k) sum = sum + x[k];
    return sum;
  }
};
Tensor weighted_sum(std::initializer_list<Tensor> list, double last = 1, tt::SourceLine at = tt::here()) {
  return tt::TensorFront::structured<WeightedSum>(at, {last}, {list.begin(), list.size()});
}

/// Defaults of lists; a size that a captured function knows as an expression.
struct Weighted {
  struct Options {
    tt::Axes dim = -1;
    tt::OptionList<int, 2> pair = {2, 3};
    tt::HeightWidth window = {1, 3};
    tt::SizeOption size = 5;
  };
  static constexpr tt::OpInfo info{.name = "test_weighted", .arguments = "input"};
  static constexpr tt::Sym body(const tt::Sym& x, const Options& o) {
    const tt::Sym s = tt::detail::reduce<tt::Op::sum>(x, tt::detail::axis_bits(x, o.dim, info.name), false);
    const tt::Sym size{x.graph, x.graph->extent(tt::DType::f32, o.size.extent)};
    return s * (100 * o.pair.item[0] + 10 * o.pair.item[1] + o.window.h + o.window.w) + size;
  }
};

/// Options that are dtypes.
struct Rounded {
  struct Options {
    tt::DType through = tt::DType::f32;
    tt::Optional<tt::DType> dtype;
  };
  static constexpr tt::OpInfo info{.name = "test_rounded", .arguments = "input"};
  static constexpr tt::Sym body(const tt::Sym& x, const Options& o) {
    const int r = x.graph->cast(x.id, o.through);
    return {x.graph, x.graph->cast(r, o.dtype.given ? o.dtype.value : x.dtype())};
  }
};

/// A kernel that asks which Tensors are there.
struct Tally {
  static constexpr tt::OpInfo info{.name = "test_tally", .arguments = "input, weight?, offset?"};
  static void kernel(tt::Call& c, const tt::NoOptions&) {
    const Tensor *weight = c.optional(1), *offset = c.optional(2);
    const Tensor sum = (weight ? *c.optional(0) * *weight : *c.optional(0)).sum();
    c.result[0] = offset ? sum + *offset : sum;
  }
};
Tensor tally(const Tensor& x, const Tensor& weight = {}, const Tensor& offset = {}, tt::SourceLine at = tt::here()) {
  return tt::call_with<Tally>(at, {}, x, weight, offset);
}

// [roll_rows]
struct Roll {
  struct Options {
    int shifts = 0;
  };
  static constexpr OpInfo info{.name = "own_roll_rows", .arguments = "input, .shifts"};
  static Sym like(const Sym& x, const Options&) { return x; }
  static void kernel(Call& c, const Options& o) {
    const Tensor x = c[0].contiguous();
    c.result[0] = empty_like(x);
    if (x.is_meta() || x.numel() == 0) return;
    const std::int64_t rows = x.size(0), bytes = x.numel() / rows * size_of(x.dtype());
    const auto* from = static_cast<const char*>(x.data());
    auto* to = static_cast<char*>(c.result[0].data());
    for (std::int64_t k = 0; k < rows; ++k)
      std::memcpy(to + ((k + o.shifts) % rows + rows) % rows * bytes, from + k * bytes, static_cast<std::size_t>(bytes));
  }
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<Roll>(s.at, {-o.shifts}, s.gradient[0]); }
};
inline Tensor roll_rows(const Tensor& x, int shifts, SourceLine at = here()) { return call_with<Roll>(at, {shifts}, x); }
// [/roll_rows]

}  // namespace own

namespace {

using tt::Tensor;

std::string at(int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); }

Tensor images() { return tt::tensor({{1.0, 2.0, 2.0, 4.0}, {3.0, -1.0, 0.5, 2.0}, {0.25, 1.0, -2.0, 3.0}}); }

}  // namespace

TEST_CASE("an op over graphs has the same bits on Arrays, Tensors, by name and captured") {
  const Tensor x = images(), w = tt::tensor({1.0, 2.0, -1.0, 0.5});
  const Tensor y = own::rms_norm(x, {4}, w);
  const auto a = tt::to_array<tt::Array<float, 3, 4>>(x);
  const auto b = tt::to_array<tt::Array<float, 4>>(w);
  const tt::Array<float, 3, 4> fixed = own::rms_norm<own::RmsNorm::Options{4}>(a, b);
  CHECK(std::memcmp(fixed.data(), y.elements<float>().data(), 12 * sizeof(float)) == 0);
  const tt::Array<float, 3, 4> bare = own::rms_norm<own::RmsNorm::Options{4}>(a);
  CHECK(std::memcmp(bare.data(), own::rms_norm(x, {4}).elements<float>().data(), 12 * sizeof(float)) == 0);
  CHECK(numbers(tt::call("own_rms_norm", {x, tt::IntList{4}, w})) == numbers(y));
  CHECK(numbers(tt::call("own_rms_norm", {x}, {{"weight", w}, {"normalized_shape", {4}}, {"eps", 1e-6}})) == numbers(y));
  CHECK(numbers(tt::call("own_rms_norm", {x, 4, tt::none, 1.0})) == numbers(own::rms_norm(x, {4}, {}, 1.0)));
  const auto f = tt::compile([](const Tensor& t, const Tensor& u) { return own::rms_norm(t, {t.size(1)}, u); });
  CHECK(numbers(f(x, w)) == numbers(y));
  CHECK(numbers(f(tt::cat({x, x}, 1), tt::cat({w, w}))) == numbers(own::rms_norm(tt::cat({x, x}, 1), {8}, tt::cat({w, w}))));
  CHECK(f.captures() == 1);
}

TEST_CASE("its schema is PyTorch's, and errors name it") {
  const Tensor x = images();
  (void)own::rms_norm(x, {4});
  CHECK(std::string(tt::Dispatcher::get().find("own_rms_norm").schema) ==
        "Tensor input, int[] normalized_shape, Tensor? weight=None, float eps=1e-06");
  CHECK(message([&] { own::rms_norm(x, {3}); }) == "tt::own_rms_norm: the last sizes are not those given: (3, 4) and (3,)." + at(__LINE__));
  CHECK(message([&] { own::rms_norm(x, {}); }).starts_with("tt::own_rms_norm: the last sizes are not those given"));
  CHECK(message([&] { own::rms_norm(x, {3, 4, 5}); }).starts_with("tt::own_rms_norm: the last sizes are not those given"));
  CHECK(message([&] { tt::call("own_rms_norm", {x}); }).starts_with("tt::call: own_rms_norm: no value for normalized_shape: takes (Tensor input, "));
  CHECK(message([&] { tt::call("own_rms_norm", {x, 4, 4}, {{"weight", x}}); }).starts_with("tt::call: own_rms_norm: two values for weight"));
  CHECK(message([&] { tt::call("own_rms_norm", {x, 4, tt::IntList{4}}); }).starts_with("tt::call: own_rms_norm: a Tensor is expected for weight"));
}

TEST_CASE("it is differentiated from its body, also by a Tensor that may be left out") {
  Tensor x = images().requires_grad_(), w = tt::tensor({1.0, 2.0, -1.0, 0.5}, {.requires_grad = true});
  (own::rms_norm(x, {4}, w) * own::rms_norm(x, {4})).sum().backward();
  Tensor u = images().requires_grad_(), v = tt::tensor({1.0, 2.0, -1.0, 0.5}, {.requires_grad = true});
  const auto plain = [](const Tensor& t) { return t * tt::rsqrt((t * t).mean({1}, true) + 1e-6); };
  (plain(u) * v * plain(u)).sum().backward();
  for (int k = 0; k < 12; ++k) CHECK(numbers(x.grad())[static_cast<std::size_t>(k)] == doctest::Approx(numbers(u.grad())[static_cast<std::size_t>(k)]).epsilon(1e-4));
  for (int k = 0; k < 4; ++k) CHECK(numbers(w.grad())[static_cast<std::size_t>(k)] == doctest::Approx(numbers(v.grad())[static_cast<std::size_t>(k)]).epsilon(1e-4));
}

TEST_CASE("options of every kind, and two results") {
  const Tensor x = images();
  const auto [mean, variance] = tt::call_with<own::Moments>(tt::here(), {{1}, true, 0.5}, x);
  CHECK(numbers(mean - 0.5) == numbers(x.mean({1}, true)));
  CHECK(numbers(variance) == numbers(x.var({1}, 1, true)));
  CHECK(std::string(tt::Dispatcher::get().find("test_moments").schema) ==
        "Tensor input, int[] dim=[], bool keepdim=True, float? shift=None, int correction=1");
  const auto all = tt::call_results("test_moments", {x}, {{"correction", 0}, {"keepdim", false}});
  CHECK(all.size() == 2);
  CHECK(all[0].dim() == 2);
  CHECK(all[1].dim() == 0);
  CHECK(numbers(tt::call_results("test_moments", {x, 1, true, tt::none})[0]) == numbers(x.mean({1}, true)));
  CHECK(message([&] { tt::call_results("test_moments", {x, 2}); }).starts_with("tt::test_moments: axis is out of range: 2 "));
  CHECK(message([&] { tt::call_results("test_moments", {x, tt::IntList{0, 1, 0}}); }).starts_with("tt::test_moments: axis is given twice"));
}

TEST_CASE("options that are lists and sizes have defaults, and are what they are given") {
  const Tensor x = tt::ones({2, 3});
  const auto weighted = [](const Tensor& t, const own::Weighted::Options& o) { return tt::call_with<own::Weighted>(tt::here(), o, t); };
  CHECK(numbers(weighted(x, {})) == Numbers{3 * 234 + 5, 3 * 234 + 5});
  CHECK(numbers(tt::call("test_weighted", {x})) == numbers(weighted(x, {})));
  CHECK(std::string(tt::Dispatcher::get().find("test_weighted").schema) == "Tensor input, int[] dim=[-1], int[] pair=[2, 3], int[2] window=[1, 3], int size=5");
  CHECK(numbers(weighted(x, {0, {1, 0}, 2, 7})) == Numbers{2 * 104 + 7, 2 * 104 + 7, 2 * 104 + 7});
  CHECK(numbers(tt::call("test_weighted", {x, {0}, {1, 0}, 2, 7})) == numbers(weighted(x, {0, {1, 0}, 2, 7})));
  CHECK(numbers(tt::call("test_weighted", {x}, {{"dim", tt::IntList()}, {"window", tt::IntList()}})) == Numbers{6 * 234 + 5});
  CHECK_THROWS_AS(weighted(x, {0, {1, 2, 3}}), tt::Error);
  CHECK_THROWS_AS(tt::call("test_weighted", {x, 0, {1, 2, 3}}), tt::Error);
  CHECK_THROWS_AS(tt::argmax(x, std::int64_t{1} << 32), tt::Error);
  const auto f = tt::compile(tt::frozen([&](const Tensor& t) { return weighted(t, {.size = t.size(0) - 1}); }), {.tier = 0});
  for (const std::int64_t n : {4, 5, 9}) CHECK(numbers(f(tt::ones({n, 3}))) == numbers(weighted(tt::ones({n, 3}), {.size = n - 1})));
  CHECK(f.captures() == 1);
}

TEST_CASE("an op of any number of Tensors") {
  const Tensor x = tt::rand({3, 4}, 1), y = tt::rand({3, 4}, 2), z = tt::rand({4}, 3);
  CHECK(same_bits(own::weighted_sum({x, y, z}, 2), z * 2 + y + x));
  CHECK(same_bits(own::weighted_sum({x}), x));
  CHECK(same_bits(tt::call("test_weighted_sum", {x, y, z}, {{"last", 2}}), z * 2 + y + x));
  const auto f = [](const Tensor& a, const Tensor& b, const Tensor& c) { return own::weighted_sum({a, b, c, a}, 3); };
  const auto t = tt::trace(f, x, y, z);
  CHECK(same_bits(t(x, y, z), f(x, y, z)));
  const std::string text(t.to_string());
  CHECK(text.find("%3 = test_weighted_sum(%0, %1, %2, %0) last 3 : f32 (s0, s1) -> output 0") != std::string::npos);
  CHECK(tt::parse<own::WeightedSum>(text) == t.graph);
  const Tensor w = tt::rand({4}, 3).requires_grad_();
  own::weighted_sum({x, w, y, w}, 2).sum().backward();
  CHECK(same_bits(w.grad(), tt::full({4}, 9.0)));
}

TEST_CASE("options that are dtypes") {
  const Tensor x = tt::tensor({1.0, 2.7}, {tt::DType::f64}) / 3;
  const auto rounded = [](const Tensor& t, const own::Rounded::Options& o) { return tt::call_with<own::Rounded>(tt::here(), o, t); };
  CHECK(same_bits(rounded(x, {}), x.to(tt::DType::f32).to(tt::DType::f64)));
  CHECK(same_bits(rounded(x, {.through = tt::DType::f64, .dtype = tt::DType::i32}), x.to(tt::DType::i32)));
  CHECK(same_bits(tt::call("test_rounded", {x}), rounded(x, {})));
  CHECK(same_bits(tt::call("test_rounded", {x}, {{"dtype", tt::DType::f32}}), x.to(tt::DType::f32)));
  CHECK(std::string(tt::Dispatcher::get().find("test_rounded").schema) == "Tensor input, dtype through=f32, dtype? dtype=None");
  const auto t = tt::trace([&](const Tensor& y) { return rounded(y, {.dtype = tt::DType::i64}); }, x);
  const std::string text(t.to_string());
  CHECK(text.find("test_rounded(%0) through f32 dtype i64 : i64 (s0,)") != std::string::npos);
  CHECK(tt::parse<own::Rounded>(text) == t.graph);
}

TEST_CASE("layer_norm takes scales of its shape only") {
  const Tensor x = tt::ones({2, 2});
  CHECK(message([&] { tt::layer_norm(x, {2}, tt::ones({5, 1, 2})); }).starts_with("tt::layer_norm: the last sizes are not those given: (5, 1, 2) and (2,)."));
  CHECK(message([&] { tt::layer_norm(x, {2}, {}, tt::ones({3})); }).starts_with("tt::layer_norm: the last sizes are not those given: (3,) and (2,)."));
  const tt::Size n(2);
  CHECK(same_bits(tt::layer_norm(x, {n}), tt::layer_norm(x, {2})));
  CHECK(same_bits(tt::sum(x, {n - 1}), tt::sum(x, 1)));
}

TEST_CASE("an op with a kernel of its own: eager, by name, on the tape, with Meta Tensors") {
  Tensor x = images().requires_grad_();
  const Tensor y = own::roll_rows(x, 1);
  CHECK(numbers(y[1]) == numbers(x[0]));
  CHECK(numbers(tt::call("own_roll_rows", {x}, {{"shifts", -2}})) == numbers(y));
  (y[0] * 3).sum().backward();
  CHECK(numbers(x.grad()) == Numbers{0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3});
  CHECK(own::roll_rows(tt::empty({3, 4}, {.device = tt::Device{tt::DeviceType::meta, 0}}), 1).shape() == tt::Shape{3, 4});
  const Tensor a = tt::rand({3}, 1), b = tt::rand({3}, 2);
  CHECK(same_bits(own::tally(a), a.sum()));
  CHECK(same_bits(own::tally(a, b), (a * b).sum()));
  CHECK(same_bits(own::tally(a, {}, b), a.sum() + b));
  CHECK(same_bits(tt::call("test_tally", {a, tt::none, b}), a.sum() + b));
  const auto f = tt::compile([](const Tensor& t) { return own::roll_rows(t * 2, 1) + 1; }, {.fullgraph = true});
  CHECK(numbers(f(images())) == numbers(own::roll_rows(images() * 2, 1) + 1));
}
