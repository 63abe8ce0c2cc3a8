// Dtypes that are stored in less than they are computed in: f16, bf16, u8, i8, i16. Conversions against their definition, one
// rounding an op, PyTorch's promotion, and all that Tensors and Arrays can do with them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <sstream>
#include <vector>

#include "arrays.hpp"
#include "tensors.hpp"
#include "tt/dispatch/algorithms.hpp"
#include "tt/functional/parse.hpp"
#include "tt/graph/check.hpp"
#include "tt/graph/print.hpp"
#include "tt/io/tensors.hpp"

namespace {

using tt::Array;
using tt::bfloat16;
using tt::DType;
using tt::float16;
using tt::Tensor;

constexpr DType narrow_dtypes[] = {DType::f16, DType::bf16, DType::u8, DType::i8, DType::i16};

/// A 16-bit float of so many bits of mantissa, by its definition.
double value_of(unsigned pattern, int mantissa, int bias) {
  const int exponents = 1 << (15 - mantissa);
  const int exponent = static_cast<int>(pattern >> mantissa) & (exponents - 1);
  const double fraction = pattern & ((1u << mantissa) - 1), sign = pattern >> 15 ? -1 : 1;
  if (exponent == exponents - 1) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
  return sign * std::ldexp(1 + std::ldexp(fraction, -mantissa), exponent - bias);
}
/// Nearest of all numbers of the format, the even pattern of two; by looking at both.
template <class T>
unsigned nearest(float x, int mantissa, int bias) {
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(static_cast<double>(x));
  unsigned low = 0, high = ((1u << (15 - mantissa)) - 1) << mantissa;  // infinity, which stands for the next power of two
  const auto number = [&](unsigned p) { return p == high ? std::ldexp(1.0, bias + 1) : value_of(p, mantissa, bias); };
  if (a >= number(high)) return high | sign;
  const unsigned infinite = high;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (number(middle) <= a ? low : high) = middle;
  }
  const double below = a - value_of(low, mantissa, bias), above = (high == infinite ? std::ldexp(1.0, bias + 1) : value_of(high, mantissa, bias)) - a;
  return (below < above || (below == above && low % 2 == 0) ? low : high) | sign;
}
/// The same mantissa with another exponent; what has none stays.
float scaled(float x, int exponent) { return x == 0 || x - x != 0 ? x : std::ldexp(x, exponent - std::ilogb(x)); }
struct Floats {
  std::uint64_t state = 7;
  float operator()() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return std::bit_cast<float>(static_cast<std::uint32_t>(state >> 32));
  }
};
template <class T>
void check_conversions(int mantissa, int bias) {
  int wrong = 0;
  for (unsigned p = 0; p < 65536; ++p) {
    const double want = value_of(p, mantissa, bias);
    const float got = T::from_bits(static_cast<std::uint16_t>(p));
    wrong += want != want ? got == got : std::bit_cast<std::uint64_t>(static_cast<double>(got)) != std::bit_cast<std::uint64_t>(want);
    if (want == want) wrong += T(got).bits != p;
  }
  CHECK(wrong == 0);
  Floats next;
  for (int k = 0; k < 100000; ++k) {
    float x = next();
    if (k % 3 == 0) x = scaled(x, k / 3 % 40 - 26);  // where f16 begins to be denormal, and ends
    if (k % 3 == 1) x = static_cast<float>((value_of(static_cast<unsigned>(k) % 32000, mantissa, bias) + value_of(static_cast<unsigned>(k) % 32000 + 1, mantissa, bias)) / 2);  // ties
    if (x != x || x - x != 0) continue;
    wrong += T(x).bits != nearest<T>(x, mantissa, bias);
  }
  CHECK(wrong == 0);
  CHECK(T(std::nanf("")) != T(std::nanf("")));
}

/// All patterns of 16 bits, as a Tensor of either float.
template <class T>
Tensor all_patterns() {
  Tensor t = tt::empty({65536}, {.dtype = tt::dtype_of<T>});
  for (int p = 0; p < 65536; ++p) t.data_ptr<T>()[p] = T::from_bits(static_cast<std::uint16_t>(p));
  return t;
}
Tensor random_floats(std::int64_t n) {
  Tensor t = tt::empty({n});
  Floats next;
  for (std::int64_t k = 0; k < n; ++k) {
    const float x = next();
    t.data_ptr<float>()[k] = k % 2 ? scaled(x, static_cast<int>(k) / 2 % 44 - 28) : x;
  }
  return t;
}
template <class T>
bool same(const Tensor& t, const Tensor& from) {
  for (std::int64_t k = 0; k < t.numel(); ++k) {
    const T want = T(from.data_ptr<float>()[k]), got = t.data_ptr<T>()[k];
    if (want.bits != got.bits) return false;
  }
  return true;
}

/// f of the elements as floats, each rounded once.
template <class T, class F>
bool is_rounded_once(const Tensor& got, const Tensor& x, const F& f) {
  const Tensor a = x.contiguous(), b = got.contiguous();
  bool same = got.dtype() == tt::dtype_of<T>;
  for (std::int64_t k = 0; same && k < a.numel(); ++k) same = b.data_ptr<T>()[k].bits == T(f(static_cast<float>(a.data_ptr<T>()[k]))).bits;
  return same;
}

template <class T>
std::string printed(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

}  // namespace

// ---- conversions

TEST_CASE("16-bit floats are what their formats say, and rounded to the nearest") {
  check_conversions<float16>(10, 15);
  check_conversions<bfloat16>(7, 127);
}

TEST_CASE("vectors, tiles and emitted text convert as single numbers do") {
  const Tensor x = random_floats(70001);
  CHECK(same<float16>(x.to(DType::f16), x));
  CHECK(same<bfloat16>(x.to(DType::bf16), x));
  CHECK(same_bits(all_patterns<float16>().to(DType::f32).to(DType::f16).to(DType::f32), all_patterns<float16>().to(DType::f32)));
  for (DType d : {DType::f16, DType::bf16}) {
    const Tensor all = d == DType::f16 ? all_patterns<float16>() : all_patterns<bfloat16>();
    const Tensor wide = all.to(DType::f32);
    int wrong = 0;
    for (int p = 0; p < 65536; ++p) {
      const float want = d == DType::f16 ? float(all.data_ptr<float16>()[d == DType::f16 ? p : 0]) : float(bfloat16::from_bits(static_cast<std::uint16_t>(p)));
      const float got = wide.data_ptr<float>()[p];
      wrong += want != want ? got == got : std::bit_cast<std::uint32_t>(want) != std::bit_cast<std::uint32_t>(got);
    }
    CHECK(wrong == 0);
  }
  for (DType d : narrow_dtypes) {
    CAPTURE(tt::name(d));
    const Tensor from = tt::is_floating(d) ? x : tt::arange(-70000, 70000, 3).to(DType::i32);
    for (int tier : {0, 1}) {
      const auto there = tt::compile([](const Tensor& t, DType to) { return t.to(to); }, {.tier = tier});
      CHECK(same_bits(there(from, d), from.to(d)));
      const auto back = tt::compile([](const Tensor& t) { return t.to(DType::f64) * 2; }, {.tier = tier});
      CHECK(same_bits(tt::where(from == from, back(from.to(d)), 0.0), tt::where(from == from, from.to(d).to(DType::f64) * 2, 0.0)));
    }
  }
}

TEST_CASE("integers wrap around where they are stored, and come from floats as in PyTorch") {
  const Tensor x = tt::arange(-70000, 70000, 7);
  const Tensor u = x.to(DType::u8), i = x.to(DType::i8), h = x.to(DType::i16);
  bool right = true;
  for (std::int64_t k = 0; k < x.numel(); ++k) {
    const std::int64_t v = x.data_ptr<std::int64_t>()[k];
    right = right && u.data_ptr<std::uint8_t>()[k] == static_cast<std::uint8_t>(v) && i.data_ptr<std::int8_t>()[k] == static_cast<std::int8_t>(v) &&
            h.data_ptr<std::int16_t>()[k] == static_cast<std::int16_t>(v);
  }
  CHECK(right);
  CHECK(numbers(tt::tensor({-1.9, 3.7, 127.9}).to(DType::i8)) == Numbers{-1, 3, 127});
  CHECK(numbers(tt::tensor({true, false}).to(DType::u8)) == Numbers{1, 0});
  CHECK(numbers(tt::tensor({0, 3}, {.dtype = DType::u8}).to(DType::boolean)) == Numbers{0, 1});
}

// ---- promotion

TEST_CASE("promotion is PyTorch's table") {
  // torch.promote_types, rows and columns in this order.
  const DType all[] = {DType::boolean, DType::u8, DType::i8, DType::i16, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64};
  const char* const table[] = {"bool u8 i8 i16 i32 i64 f16 bf16 f32 f64", "u8 u8 i16 i16 i32 i64 f16 bf16 f32 f64",
                               "i8 i16 i8 i16 i32 i64 f16 bf16 f32 f64",  "i16 i16 i16 i16 i32 i64 f16 bf16 f32 f64",
                               "i32 i32 i32 i32 i32 i64 f16 bf16 f32 f64", "i64 i64 i64 i64 i64 i64 f16 bf16 f32 f64",
                               "f16 f16 f16 f16 f16 f16 f16 f32 f32 f64",  "bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64",
                               "f32 f32 f32 f32 f32 f32 f32 f32 f32 f64",  "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64"};
  for (std::size_t a = 0; a < 10; ++a) {
    std::istringstream row(table[a]);
    for (std::size_t b = 0; b < 10; ++b) {
      std::string want;
      row >> want;
      CHECK(tt::name(tt::promote(all[a], all[b])) == want);
      if (all[a] == DType::boolean && all[b] == DType::boolean) continue;
      const Tensor x = tt::ones({3}, {.dtype = all[a]}), y = tt::ones({3}, {.dtype = all[b]});
      CHECK(tt::name((x + y).dtype()) == want);
      CHECK(numbers(x + y) == Numbers{2, 2, 2});
    }
  }
  const Tensor b = tt::ones({2}, {.dtype = DType::bf16}), u = tt::ones({2}, {.dtype = DType::u8});
  CHECK((b * 2.5).dtype() == DType::bf16);
  CHECK((b * tt::tensor(2.5)).dtype() == DType::bf16);  // a single f32
  CHECK((b + 1).dtype() == DType::bf16);
  CHECK((u + 1).dtype() == DType::u8);
  CHECK((u * 1.5).dtype() == DType::f32);
  CHECK((u / u).dtype() == DType::f32);
  CHECK(tt::exp(u).dtype() == DType::f32);
  CHECK(tt::exp(b).dtype() == DType::bf16);
  CHECK(tt::sum(u).dtype() == DType::i64);
  CHECK(tt::amax(u).dtype() == DType::u8);
  CHECK((b < b).dtype() == DType::boolean);
}

// ---- one rounding an op

TEST_CASE("an op on 16-bit floats is computed in f32 and rounded once") {
  const Tensor x = tt::rand({1003}, 3).to(DType::bf16) * 8 - 4, h = tt::rand({1003}, 4).to(DType::f16) * 8 - 4;
  CHECK(is_rounded_once<bfloat16>(x + 1, x, [](float v) { return v + 1; }));
  CHECK(is_rounded_once<bfloat16>(x * 0.999, x, [](float v) { return v * 0.999f; }));  // the number is not rounded
  CHECK(is_rounded_once<bfloat16>(0.001 - x, x, [](float v) { return 0.001f - v; }));
  CHECK(is_rounded_once<bfloat16>(x * tt::tensor(0.999), x, [](float v) { return v * 0.999f; }));
  CHECK(is_rounded_once<bfloat16>(tt::sqrt(tt::abs(x)), x, [](float v) { return std::sqrt(std::fabs(v)); }));
  CHECK(is_rounded_once<float16>(h / 3, h, [](float v) { return v / 3; }));
  CHECK(is_rounded_once<float16>(h * h, h, [](float v) { return v * v; }));
  CHECK(same_bits(tt::silu(x), tt::silu(x.to(DType::f32)).to(DType::bf16)));  // an op of several steps is one
  CHECK(same_bits(tt::gelu(h), tt::gelu(h.to(DType::f32)).to(DType::f16)));
  CHECK(same_bits((x * x) * x, ((x.to(DType::f32) * x.to(DType::f32)).to(DType::bf16).to(DType::f32) * x.to(DType::f32)).to(DType::bf16)));  // two are two
  const Tensor m = x.view({17, 59});
  CHECK(same_bits(tt::softmax(m, 1), tt::softmax(m.to(DType::f32), 1).to(DType::bf16)));
  CHECK(same_bits(m.sum(1), m.to(DType::f32).sum(1).to(DType::bf16)));
  CHECK(same_bits(m.mean(0), m.to(DType::f32).mean(0).to(DType::bf16)));
  CHECK(same_bits(tt::var(m, 1), tt::var(m.to(DType::f32), 1).to(DType::bf16)));
  const Tensor w = tt::rand({59}, 8), y = tt::layer_norm(m, {59}, w, {});
  CHECK(same_bits(y, tt::layer_norm(m.to(DType::f32), {59}, w, {}).to(DType::bf16)));
  CHECK(same_bits(tt::matmul(m, m.t()), tt::matmul(m.to(DType::f32), m.t().to(DType::f32)).to(DType::bf16)));
  const Tensor image = tt::rand({2, 3, 9, 9}, 1).to(DType::f16), kernel = tt::rand({4, 3, 3, 3}, 2).to(DType::f16);
  CHECK(same_bits(tt::conv2d(image, kernel), tt::conv2d(image.to(DType::f32), kernel.to(DType::f32)).to(DType::f16)));
  CHECK(same_bits(tt::max_pool2d(image, {.kernel_size = 2}), tt::max_pool2d(image.to(DType::f32), {.kernel_size = 2}).to(DType::f16)));
}

TEST_CASE("numbers and single values beside what is stored narrow") {
  const Tensor u = tt::tensor({100, 200}, {.dtype = DType::u8}), b = tt::tensor({1, 3}, {.dtype = DType::bf16});
  CHECK(numbers(u / 400) == Numbers{0.25, 0.5});
  CHECK(numbers(400 / u) == Numbers{4, 2});
  CHECK(numbers(tt::logical_and(u, 256)) == Numbers{1, 1});
  CHECK(numbers(u < 300) == Numbers{1, 1});
  CHECK(numbers(u < tt::tensor(300, {.dtype = DType::i32})) == Numbers{0, 0});  // a Tensor wraps to 44, of whatever dtype
  CHECK(numbers(u < tt::tensor(300)) == Numbers{0, 0});
  CHECK(numbers(b + 257) == numbers(b + tt::tensor(257)));
  const Tensor one = tt::tensor(5, {.dtype = DType::u8});
  CHECK(numbers(one + (-1)) == Numbers{4});
  CHECK(numbers(one < 300) == Numbers{1});
  CHECK(shape(one * 2) == "()");
  const Tensor x = tt::tensor({4.03125}, {.dtype = DType::bf16});
  CHECK(numbers(x * 0.7) == numbers(x.reshape({}) * 0.7));
  const Array<bfloat16, 1> a{4.03125f};
  CHECK(double(tt::eval(a * 0.7)(0)) == numbers(x * 0.7)[0]);
  const Array<std::uint8_t, 3> v{100, 200, 44};
  CHECK(tt::eval(v < 300)(2));
  CHECK(!tt::eval(v == 300)(2));
  CHECK(tt::arange(0, 1, 0.25, {.dtype = DType::bf16}).dtype() == DType::bf16);
  CHECK(contains(message([] { tt::full({2}, 300, DType::u8); }), "number is out of range"));
  CHECK(contains(message([&] { u.clone().fill_(300); }), "number is out of range"));
  const Tensor whole = tt::tensor({1, 2}), mask = tt::tensor({true, false}), first = tt::tensor({0}), half = tt::ones({2}).to(DType::f16);
  for (const double beyond : {1e300, -1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(message([&] { whole.clone().masked_fill_(mask, beyond); }).starts_with("tt::masked_fill: number is out of range: "));
    CHECK(message([&] { whole.index_fill(0, first, beyond); }).starts_with("tt::index_fill: number is out of range: "));
    CHECK(message([&] { whole.scatter(0, first, beyond); }).starts_with("tt::scatter: number is out of range: "));
    CHECK(message([&] { tt::call("masked_fill", {whole, mask, beyond}); }).starts_with("tt::masked_fill: number is out of range: "));
    CHECK(message([&] { tt::call("index_fill", {whole, 0, first, beyond}); }).starts_with("tt::index_fill: number is out of range: "));
    CHECK(message([&] { tt::call("scatter", {whole, 0, first, beyond}); }).starts_with("tt::scatter: number is out of range: "));
  }
  CHECK(message([&] { u.masked_fill(u > 0, 300); }).starts_with("tt::masked_fill: number is out of range: 300 beside u8. Cast the operand to f64?\n  at " __FILE__));
  CHECK(message([&] { half.masked_fill(mask, 65520); }).starts_with("tt::masked_fill: number is out of range: 65520 beside f16."));
  CHECK(message([&] { tt::zeros({2}).fill_(1e39); }).starts_with("tt::fill_: number is out of range: more than 1e15 beside f32."));
  CHECK(tt::equal(whole.masked_fill(mask, 2.5), tt::tensor({2, 2})));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t end : {most, least}) {
    const auto is_end = [&](const Tensor& t) { return t[0].item<std::int64_t>() == end; };
    CHECK(is_end(whole.masked_fill(mask, end)));
    CHECK(is_end(whole.clone().masked_fill_(mask, end)));
    CHECK(is_end(whole.index_fill(0, first, end)));
    CHECK(is_end(whole.scatter(0, first, end)));
    CHECK(is_end(tt::call("masked_fill", {whole, mask, end})));
    CHECK(is_end(tt::call("scatter", {whole, 0, first, end})));
  }
  CHECK(message([&] { tt::call("masked_fill", {half, mask, 1e6}); }).starts_with("tt::masked_fill: number is out of range: 1000000 beside f16."));
  CHECK(message([&] { tt::call("scatter", {half, 0, first, 1e6}); }).starts_with("tt::scatter: number is out of range: 1000000 beside f16."));
  CHECK(tt::arange(0, 5, {.requires_grad = false}).dtype() == DType::i64);
  CHECK(tt::full({2}, 7, {.requires_grad = false}).dtype() == DType::i64);
  CHECK(tt::tensor({1, 2}, {.requires_grad = false}).dtype() == DType::i64);
  CHECK(whole.to(tt::TensorOptions{.requires_grad = false}).dtype() == DType::i64);
  CHECK(tt::isinf(half.masked_fill(mask, std::numeric_limits<double>::infinity()))[0].item<bool>());
}

TEST_CASE("narrow integers are computed in i32 and wrap around") {
  const Tensor a = tt::tensor({250, 3, 128}, {.dtype = DType::u8}), b = tt::tensor({10, 255, 2}, {.dtype = DType::u8});
  CHECK(numbers(a + b) == Numbers{4, 2, 130});
  CHECK(numbers(a - b) == Numbers{240, 4, 126});
  CHECK(numbers(a * b) == Numbers{196, 253, 0});
  CHECK(numbers(-a) == Numbers{6, 253, 128});
  CHECK(numbers(tt::maximum(a, b)) == Numbers{250, 255, 128});
  CHECK(numbers(a < b) == Numbers{0, 1, 0});
  CHECK(numbers(a < 300) == Numbers{1, 1, 1});
  CHECK(numbers(tt::sum(a)) == Numbers{381});
  CHECK(numbers(tt::amin(a)) == Numbers{3});
  CHECK(numbers(tt::square(a)) == Numbers{36, 9, 0});
  CHECK(numbers(a / b) == Numbers{25, 3.0f / 255, 64});
  const Tensor i = tt::tensor({-128, 127, -1}, {.dtype = DType::i8});
  CHECK(numbers(i + i) == Numbers{0, -2, -2});
  CHECK(numbers(-i) == Numbers{-128, -127, 1});
  CHECK(numbers(tt::abs(i)) == Numbers{-128, 127, 1});
  CHECK(numbers(i + a) == Numbers{122, 130, 127});
  CHECK((i + a).dtype() == DType::i16);
  tt::register_all_ops();
  CHECK(numbers(tt::call("bit_and", {i, 0x7f})) == Numbers{0, 127, 127});
  CHECK(numbers(tt::where(i < 0, i, 5)) == Numbers{-128, 5, -1});
  CHECK(contains(message([&] { tt::where(i < 0, i, 200); }), "number is out of range"));
  const Tensor m = tt::arange(-6, 6).to(DType::i8).view({3, 4});
  CHECK(numbers(tt::matmul(m.to(DType::i32), m.t().to(DType::i32))) == Numbers{86, 14, -58, 14, 6, -2, -58, -2, 54});
  CHECK(numbers(tt::matmul(m * 3, m.t())) == Numbers{2, 42, 82, 42, 18, -6, 82, -6, -94});
  CHECK(tt::max_pool2d(m.view({1, 1, 3, 4}), {.kernel_size = 2}).dtype() == DType::i8);
  CHECK(numbers(tt::max_pool2d(m.view({1, 1, 3, 4}), {.kernel_size = 2})) == Numbers{-1, 1});
}

// ---- all paths

TEST_CASE("compiled functions and gradients have the bits of eager ops") {
  const auto f = [](const Tensor& x, const Tensor& w) {
    const Tensor h = tt::relu(tt::matmul(x, w) * 0.1 + 1);
    return tt::log_softmax(h - tt::sum(h, 1, true) * 0.01, 1).sum();
  };
  for (DType d : {DType::f16, DType::bf16}) {
    const Tensor x = (tt::rand({9, 21}, 1) - 0.5).to(d);
    Tensor w = (tt::rand({21, 13}, 2) - 0.5).to(d).requires_grad_(true);
    const Tensor y = f(x, w);
    y.backward();
    const Tensor g = w.grad();
    CHECK(y.dtype() == d);
    CHECK(g.dtype() == d);
    for (int tier : {0, 1}) {
      w.zero_grad();
      const auto compiled = tt::compile(f, {.tier = tier});
      const Tensor z = compiled(x, w);
      CHECK(same_bits(z, y));
      z.backward();
      CHECK(same_bits(w.grad(), g));
    }
    const Tensor wide = w.detach().to(DType::f32).requires_grad_(true);
    f(x.to(DType::f32), wide).backward();
    const double off = tt::amax(tt::abs(wide.grad() - g.to(DType::f32))).item<double>(), largest = tt::amax(tt::abs(wide.grad())).item<double>();
    CHECK(off < largest * (d == DType::f16 ? 0.01 : 0.08));  // a few roundings of 2^-11 and 2^-8
  }
}

TEST_CASE("Arrays compute as Tensors do") {
  Array<bfloat16, 7, 19> a;
  Array<float16, 19> b;
  Tensor x = tt::empty({7, 19}, {.dtype = DType::bf16}), y = tt::empty({19}, {.dtype = DType::f16});
  for (int k = 0; k < 7 * 19; ++k) a.data()[k] = x.data_ptr<bfloat16>()[k] = static_cast<float>(k % 23) * 0.3f - 2;
  for (int k = 0; k < 19; ++k) b.data()[k] = y.data_ptr<float16>()[k] = static_cast<float>(k) * 0.7f;
  const auto as_array = [](const auto& array, const Tensor& t) {
    using T = typename std::remove_cvref_t<decltype(array)>::value_type;
    const Tensor dense = t.contiguous();
    return t.dtype() == tt::dtype_of<T> && t.numel() == static_cast<std::int64_t>(array.size()) &&
           std::memcmp(array.data(), dense.data(), sizeof(T) * static_cast<std::size_t>(array.size())) == 0;
  };
  const Array<bfloat16, 7, 19> c = a * 0.999 + a;
  CHECK(as_array(c, x * 0.999 + x));
  const Array<float, 7, 19> d = a * b;  // bf16 and f16 meet in f32
  CHECK(as_array(d, x * y));
  const Array<bfloat16, 7> s = tt::sum<1>(a);
  CHECK(as_array(s, tt::sum(x, 1)));
  const Array<bfloat16, 19> t = tt::sum<0>(a);
  CHECK(as_array(t, tt::sum(x, 0)));
  const Array<bfloat16, 7, 19> m = tt::softmax<1>(a);
  CHECK(as_array(m, tt::softmax(x, 1)));
  const Array<bfloat16, 7, 7> p = tt::matmul(a, tt::transpose(a));
  CHECK(as_array(p, tt::matmul(x, x.t())));
  const Array<bfloat16, 19, 7> turned = tt::transpose(a);
  CHECK(as_array(turned, x.t()));
  const Array<std::int8_t, 3, 2> i{{100, -128}, {27, 5}, {-1, 0}};
  const Array<std::int8_t, 3, 2> doubled = i + i;
  CHECK(doubled(0, 0) == -56);
  CHECK(doubled(0, 1) == 0);
  const Array<bool, 3, 2> less = i < 6;
  CHECK(!less(0, 0));
  CHECK(less(2, 1));
  const Array<std::uint8_t, 3> u = tt::cast<std::uint8_t>(Array<float, 3>{1.5f, 255.0f, 7.0f});
  CHECK(u(1) == 255);
  const auto loss = [](const auto& v) { return tt::sum(v * v); };
  const auto g = tt::grad(loss)(a);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(g)>::value_type, bfloat16>);
  CHECK(as_array(g, x * 2));
}

// ---- what only moves elements

namespace {
/// i * 7 % 50
Tensor moved(std::int64_t n) {
  Tensor t = tt::arange(n);
  for (std::int64_t& x : t.elements<std::int64_t>()) x = x * 7 % 50;
  return t;
}
}  // namespace

TEST_CASE("views, joins, places and orders of narrow elements") {
  for (DType d : narrow_dtypes) {
    CAPTURE(tt::name(d));
    const Tensor x = moved(60).to(d).view({3, 4, 5}), wide = x.to(DType::f64);
    const auto equal = [&](const Tensor& got, const Tensor& want) { return got.dtype() == d && numbers(got) == numbers(want); };
    CHECK(equal(x.transpose(0, 2).contiguous(), wide.transpose(0, 2)));
    CHECK(equal(x.slice(2, 1, 5, 2).contiguous(), wide.slice(2, 1, 5, 2)));
    CHECK(equal(x.permute({2, 0, 1}) + 0, wide.permute({2, 0, 1})));
    CHECK(equal(tt::cat({x, x}, 1), tt::cat({wide, wide}, 1)));
    CHECK(equal(tt::stack({x, x}, 3), tt::stack({wide, wide}, 3)));
    CHECK(equal(tt::pad(x, {1, 2}, 3), tt::pad(wide, {1, 2}, 3)));
    CHECK(equal(tt::tril(x), tt::tril(wide)));
    const Tensor at = tt::tensor({2, 0, 2});
    CHECK(equal(tt::index_select(x, 1, at), tt::index_select(wide, 1, at)));
    CHECK(equal(tt::embedding(at, x.view({12, 5})), tt::embedding(at, wide.view({12, 5}))));
    CHECK(equal(tt::index_add(x, 0, at, x * 1), tt::index_add(wide, 0, at, wide).to(d)));
    const auto [values, places] = tt::sort(x.view({60}));
    const auto [sorted, order] = tt::sort(wide.view({60}));
    CHECK(equal(values, sorted));
    CHECK(same_bits(places, order));
    CHECK(equal(tt::topk(x, 2, 1).values, tt::topk(wide, 2, 1).values));
    const Tensor sums = tt::cumsum(x.view({60}), 0);
    CHECK(sums.dtype() == (tt::is_floating(d) ? d : DType::i64));
    CHECK(numbers(sums) == numbers(tt::is_floating(d) ? tt::cumsum(x.view({60}).to(DType::f32), 0).to(d) : tt::cumsum(wide.view({60}), 0)));
    CHECK(equal(tt::unique(x).values, tt::unique(wide).values));
    Tensor y = x.clone();
    y[0] = 9;
    y.select(1, 2).fill_(3);
    y += 1;
    Tensor v = wide.clone();
    v[0] = 9;
    v.select(1, 2).fill_(3);
    v += 1;
    CHECK(equal(y, v));
    y.copy_(tt::ones({5}));
    CHECK(equal(y, tt::ones({3, 4, 5})));
    CHECK(equal(tt::zeros_like(x), tt::zeros({3, 4, 5})));
    CHECK(equal(tt::full({2}, 7, {.dtype = d}), tt::full({2}, 7)));
    CHECK(equal(tt::arange(0, 5, 1, {.dtype = d}), tt::arange(5)));
    CHECK(equal(tt::eye(3, {.dtype = d}), tt::eye(3)));
    CHECK(x.view({60})[8].item<double>() == 8 * 7 % 50);
  }
  const Tensor u = tt::rand({100000}, 5, {.dtype = DType::bf16});
  CHECK(tt::amax(u).item<double>() < 1);
  CHECK(std::fabs(u.to(DType::f64).mean().item<double>() - 0.498) < 0.005);
}

// ---- in and out

TEST_CASE("narrow elements are printed, saved and read") {
  const Tensor x = tt::tensor({0.1, 2.5, -3}, {.dtype = DType::bf16});
  CHECK(printed(x) == "tensor([ 0.1001,  2.5000, -3.0000], dtype=bf16)");
  CHECK(printed(tt::tensor({1, 255}, {.dtype = DType::u8})) == "tensor([  1, 255], dtype=u8)");
  CHECK(printed(Array<float16, 3>{0.1f, 1.0f, 2.5f}) == "[0.1 1.  2.5]");
  CHECK(printed(Array<std::int8_t, 2>{-1, 100}) == "[ -1 100]");
  const char* const path = "test_dtypes.npz";
  std::vector<Tensor> saved, read;
  for (DType d : narrow_dtypes) {
    saved.push_back(tt::tensor({1, 2, 100}).to(d));
    read.push_back(tt::zeros({3}, {.dtype = d}));
  }
  tt::save(path, saved);
  tt::load(path, read);
  for (std::size_t k = 0; k < saved.size(); ++k) CHECK(same_bits(saved[k], read[k]));
  std::remove(path);
  CHECK(contains(message([&] { x.data_ptr<float>(); }), "dtype is bf16, not f32"));
}

TEST_CASE("a graph that computes with what is only stored is not legal") {
  for (const tt::Op op : {tt::Op::add, tt::Op::neg, tt::Op::lt, tt::Op::matmul, tt::Op::where, tt::Op::copy}) {
    tt::Graph g;
    const int x = g.input(DType::bf16, {4, 4}), m = g.input(DType::boolean, {4, 4});
    const int operands[] = {op == tt::Op::where ? m : x, x, x};
    tt::Node n{.op = op, .dtype = op == tt::Op::lt ? DType::boolean : DType::bf16, .shape = {4, 4}};
    g.output(g.intern(n, g, tt::Ids{operands, tt::arity(op)}));
    CAPTURE(tt::name(op));
    const tt::CheckResult r = (tt::check)(g);
    CHECK(bool(r) == (op == tt::Op::where || op == tt::Op::copy));
  }
}

TEST_CASE("a graph with narrow dtypes is text and comes back") {
  tt::Graph g;
  const tt::Sym x{&g, g.input(DType::bf16, {4})};
  g.output((tt::where(x < 2, x, 0.3) * 0.999 + 1).id);
  CHECK(!g.failure);
  const std::string t(tt::to_string(g));
  CHECK(tt::parse(t) == g);
  CHECK(contains(t, "bf16"));
}

TEST_CASE("fast numerics round where values are stored, and say so") {
  const auto chain = [](const Tensor& x) { return tt::tanh((x * 1.01 + 0.3) * 0.77 - x); };
  for (DType d : {DType::bf16, DType::f16}) {
    const Tensor x = tt::randn({37, 19}, 1).to(d), w = tt::randn({19, 5}, 2).to(d);
    const Tensor once = chain(x.to(DType::f32)).to(d);
    CHECK(!same_bits(chain(x), once));
    for (int tier : {0, 1}) {
      const auto exact = tt::compile(chain, {.tier = tier, .wait = true});
      const auto fast = tt::compile(chain, {.tier = tier, .wait = true, .numerics = tt::Numerics::fast});
      CHECK(same_bits(exact(x), chain(x)));
      CHECK(same_bits(fast(x), once));
      CHECK(contains(fast.explain().c_str(), "numerics fast: 4 roundings to 16 bits left out"));
      CHECK(!contains(exact.explain().c_str(), "numerics"));
    }
    // What a product reads is stored, and others read that too then: the rounding of h stays, that of the product goes.
    const auto shared = [](const Tensor& a, const Tensor& b) {
      const Tensor h = tt::exp(a);
      return tt::matmul(h, b).sum() + h.sum();
    };
    const auto kept = tt::compile(shared, {.numerics = tt::Numerics::fast});
    (void)kept(x, w);
    CHECK(contains(kept.explain().c_str(), "numerics fast: 1 rounding to 16 bits left out"));
    const auto mixed = [](const Tensor& a, const Tensor& b) { return std::pair{tt::matmul(a * 1.01 + 0.3, b), tt::softmax(a * 3.1, 1)}; };
    const auto fast = tt::compile(mixed, {.numerics = tt::Numerics::fast});
    const auto [product, softmax] = fast(x, w);
    CHECK(same_bits(softmax, tt::softmax(x.to(DType::f32) * 3.1, 1).to(d)));
    if (!tt::backend::tile_kernels().has_bf16_products()) CHECK(same_bits(product, tt::matmul((x.to(DType::f32) * 1.01 + 0.3).to(d), w)));
    CHECK(product.dtype() == d);
  }
  // f32 is computed as it was.
  const Tensor y = tt::randn({100}, 3);
  CHECK(same_bits(tt::compile(chain, {.numerics = tt::Numerics::fast})(y), chain(y)));
}

TEST_CASE("gradients with fast numerics are near those of f32") {
  const auto loss = [](const Tensor& x, const Tensor& w) { return tt::sum(tt::tanh(tt::matmul(x, w) * 0.5) * 2 + 1); };
  Tensor x = tt::randn({8, 16}, 1).to(DType::bf16), w = tt::randn({16, 4}, 2).to(DType::bf16);
  const auto fast = tt::compile(tt::value_and_grad<0, 1>(loss), {.numerics = tt::Numerics::fast});
  const auto [value, d] = fast(x, w);
  const auto [exact, e] = tt::value_and_grad<0, 1>(loss)(x.to(DType::f32), w.to(DType::f32));
  CHECK(std::get<0>(d).dtype() == DType::bf16);
  // Sums of 4 or 8 terms below 2, each rounded to 8 bits.
  CHECK((std::get<0>(d).to(DType::f32) - std::get<0>(e)).abs().max().item<float>() < 0.06f);
  CHECK((std::get<1>(d).to(DType::f32) - std::get<1>(e)).abs().max().item<float>() < 0.12f);
}

TEST_CASE("masks of any number of elements") {
  for (std::int64_t n : {1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000}) {
    const Tensor x = tt::arange(n).to(DType::f32), y = tt::full({n}, static_cast<double>(n / 2)), less = x < y, third = x.to(DType::i64).remainder(3) == 0;
    const Tensor both = tt::logical_and(less, third), either = tt::logical_or(less, third), other = tt::logical_not(less);
    for (std::int64_t i = 0; i < n; ++i) {
      const bool a = i < n / 2, b = i % 3 == 0;
      CHECK(less.select(0, i).item<bool>() == a);
      CHECK(both.select(0, i).item<bool>() == (a && b));
      CHECK(either.select(0, i).item<bool>() == (a || b));
      CHECK(other.select(0, i).item<bool>() == !a);
    }
    CHECK(less.sum().item<std::int64_t>() == n / 2);
    CHECK(less.to(DType::i32).sum().item<std::int64_t>() == n / 2);
    CHECK(tt::logical_and(less, less).sum().item<std::int64_t>() == n / 2);
  }
}

TEST_CASE("norms of narrow floats by wider weights are of the narrow dtype") {
  for (const DType d : {DType::bf16, DType::f16}) {
    const Tensor x = tt::rand({3, 4, 5}, 1).to(d), four = tt::rand({4}, 2), five = tt::rand({5}, 3);
    CHECK(tt::layer_norm(x, {5}, five, five).dtype() == d);
    CHECK(tt::group_norm(x, 2, four, four).dtype() == d);
    CHECK(tt::instance_norm(x, {}, {}, four, four).dtype() == d);
    CHECK(tt::rms_norm(x, {5}, five).dtype() == d);
    Tensor mean = tt::zeros({4}), var = tt::ones({4});
    CHECK(tt::batch_norm(x, mean, var, four, four, true).dtype() == d);
    CHECK(mean.dtype() == DType::f32);
    const auto f = [](const Tensor& a, const Tensor& w) { return tt::layer_norm(a, {5}, w, w); };
    CHECK(same_bits(tt::compile(f)(x, five), f(x, five)));
    CHECK(same_bits(f(x, five), tt::layer_norm(x.to(DType::f32), {5}, five, five).to(d)));  // rounded once
  }
  CHECK(tt::layer_norm(tt::rand({3, 5}), {5}, tt::rand({5}).to(DType::bf16)).dtype() == DType::f32);
}
