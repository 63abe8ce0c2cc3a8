// Unary ops, primitives and casts over the bit patterns of f32: SIMD against scalars bit for bit (any NaN equals any
// other), ops against a double reference within their stated ulp, the others against what the language and <cmath> give.
//   TT_FLOATS_STEP=1 TT_FLOATS_OP=tanh ./test_all_floats      all 2^32; without TT_FLOATS_OP every op, in 80 minutes
// prints the largest error of each. By default every 4,093rd bit pattern is tried, 2^20 of them. FurtherOps run on Tensors, where
// nothing is compiled for them here, and are held against their own f64 form, which test_further_math holds against long double: all 2^32
// in one to three minutes each.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "exact.hpp"
#include "op_samples.hpp"
#include "tt/tt.hpp"

namespace {

using namespace op_samples;

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr std::uint64_t default_step = 4093;
#else
constexpr std::uint64_t default_step = 65521;
#endif
constexpr std::int64_t block = 4096;

std::uint64_t step() {
  const char* text = std::getenv("TT_FLOATS_STEP");
  const std::uint64_t given = text ? std::strtoull(text, nullptr, 10) : default_step;
  REQUIRE(given > 0);
  return given;
}
int tried = 0;
bool is_wanted(const char* name) {
  const char* wanted = std::getenv("TT_FLOATS_OP");
  const bool yes = !wanted || std::strcmp(wanted, name) == 0;
  tried += yes;
  return yes;
}

/// f(block of inputs) until all bit patterns that are asked for have been in one; the last block wraps around.
void for_all_floats(const auto& f) {
  Array<float, dyn> x(block);
  const std::uint64_t by = step();
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32;) {
    for (std::int64_t i = 0; i < block; ++i, bits += by) x(i) = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    f(x);
  }
}

void report(const char* name, std::int64_t count, std::int64_t inexact, double worst, float worst_at) {
  std::printf("%-16s %10lld inputs, %10lld not correctly rounded, largest error %.4g ulp at %a\n", name, static_cast<long long>(count),
              static_cast<long long>(inexact), worst, static_cast<double>(worst_at));
  std::fflush(stdout);
}

/// What an op of one input is called with beside it: the defaults of leaky_relu and elu.
template <class F>
constexpr float second() {
  return std::is_same_v<F, tt::LeakyRelu> ? 0.01f : 1.0f;
}
template <class F>
constexpr bool is_unary() {
  return F::info.arity == 1 || std::is_same_v<F, tt::LeakyRelu> || std::is_same_v<F, tt::Elu>;
}

template <class F>
void check_op() {
  if constexpr (is_unary<F>()) {
    if (!is_wanted(F::info.name)) return;
    double worst = 0;
    float worst_at = 0, differs_at = 0;
    std::int64_t different = 0, inexact = 0, count = 0;
    Array<float, dyn> b(block);
    std::fill(b.begin(), b.end(), second<F>());
    for_all_floats([&](const Array<float, dyn>& x) {
      const Array<float, dyn> got = evaluate<F>(x, b, b);
      for (std::int64_t i = 0; i < block; ++i) {
        const float y = got(i), a = x(i);
        if (!same(y, scalar<F, float>(a, second<F>(), 0))) {
          ++different;
          differs_at = a;
        }
        const double want = exact_values::evaluate_exactly<F, double>(a, second<F>(), 0);
        if (same(y, static_cast<float>(want))) continue;
        ++inexact;
        const double error = exact_values::error_in_ulp<F>(y, a, want);
        if (error > worst) worst = error, worst_at = a;
      }
      count += block;
    });
    report(F::info.name, count, inexact, worst, worst_at);
    CAPTURE(F::info.name);
    CAPTURE(worst_at);
    CAPTURE(differs_at);
    CHECK(worst <= exact_values::allowed_ulp<F, float>());
    CHECK(different == 0);
  }
}

/// error(got, x, want) in ulp; one function for all ops, as one for each takes the compiler seconds.
void check_further_op(const char* name, double allowed, tt::Tensor (*op)(const tt::Tensor&), double (*error)(float, float, double)) {
  if (!is_wanted(name)) return;
  double worst = 0;
  float worst_at = 0;
  std::int64_t inexact = 0, count = 0;
  const tt::Tensor inputs = tt::empty({block});
  for_all_floats([&](const Array<float, dyn>& x) {
    std::copy(x.begin(), x.end(), inputs.data_ptr<float>());
    const tt::Tensor got = op(inputs), wide = op(inputs.to(tt::DType::f64));
    for (std::int64_t i = 0; i < block; ++i) {
      const float y = got.data_ptr<float>()[i];
      const double want = wide.data_ptr<double>()[i];
      if (same(y, static_cast<float>(want))) continue;
      ++inexact;
      const double ulp = error(y, x(i), want);
      if (ulp > worst) worst = ulp, worst_at = x(i);
    }
    count += block;
  });
  report(name, count, inexact, worst, worst_at);
  CAPTURE(name);
  CAPTURE(worst_at);
  CHECK(worst <= allowed);
}

/// simd(block), scalar(x) and want(x) have equal bits.
void check_exact(const char* name, const auto& simd, const auto& scalar_form, const auto& want) {
  if (!is_wanted(name)) return;
  std::int64_t wrong = 0, count = 0;
  float at = 0;
  for_all_floats([&](const Array<float, dyn>& x) {
    const auto got = simd(x);
    for (std::int64_t i = 0; i < block; ++i)
      if (!same(got(i), want(x(i))) || !same(got(i), scalar_form(x(i)))) {
        ++wrong;
        at = x(i);
      }
    count += block;
  });
  std::printf("%-16s %10lld inputs, exact\n", name, static_cast<long long>(count));
  std::fflush(stdout);
  CAPTURE(name);
  CAPTURE(at);
  CHECK(wrong == 0);
}
template <Op K>
void check_primitive(const auto& want) {
  using F = Primitive<K>;
  check_exact(
      F::info.name, [](const Array<float, dyn>& x) { return evaluate<F>(x, x, x); },
      [](float x) { return scalar<F, float>(x, 0, 0); }, want);
}
template <class To>
void check_cast(const char* name, const auto& want) {
  check_exact(
      name, [](const Array<float, dyn>& x) { return tt::eval(tt::cast<To>(x)); }, [](float x) { return scalar_cast<To>(x); },
      want);
}
/// Out of range, and NaN, is the smallest.
template <class To>
To integer(float x) {
  constexpr To lowest = std::numeric_limits<To>::min();
  const float end = -static_cast<float>(lowest);
  return x >= -end && x < end ? static_cast<To>(x) : lowest;
}

}  // namespace

TEST_CASE("unary f32 ops are within their stated ulp, and SIMD gives the bits of scalars, over all bit patterns") {
  for_each_op(tt::ElementwiseOps{}, []<class F>(tt::TypeList<F>) { check_op<F>(); });
}

TEST_CASE("further unary f32 ops are within their stated ulp of their f64 form, over all bit patterns") {
  for_each_op(tt::FurtherOps{}, []<class F>(tt::TypeList<F>) {
    if constexpr (F::info.arity == 1)
      check_further_op(
          F::info.name, exact_values::allowed_ulp<F, float>(), [](const tt::Tensor& x) -> tt::Tensor { return tt::Elementwise<F>{}(x); },
          exact_values::error_in_ulp<F, float, double>);
  });
}

TEST_CASE("unary f32 primitives are exact over all bit patterns") {
  check_primitive<Op::neg>([](float x) { return -x; });
  check_primitive<Op::abs>([](float x) { return std::fabs(x); });
  check_primitive<Op::sqrt>([](float x) { return std::sqrt(x); });
  check_primitive<Op::floor>([](float x) { return std::floor(x); });
  check_primitive<Op::ceil>([](float x) { return std::ceil(x); });
  check_primitive<Op::round>([](float x) { return std::nearbyint(x); });
  check_primitive<Op::trunc>([](float x) { return std::trunc(x); });
}

TEST_CASE("casts from f32 are exact over all bit patterns") {
  check_cast<bool>("to bool", [](float x) { return x != 0; });
  check_cast<std::int32_t>("to i32", integer<std::int32_t>);
  check_cast<std::int64_t>("to i64", integer<std::int64_t>);
  check_cast<double>("to f64", [](float x) { return static_cast<double>(x); });
}

TEST_CASE("something was tried") { CHECK(tried > 0); }  // the last one: TT_FLOATS_OP may be no op's name
