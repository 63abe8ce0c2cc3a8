// Every op of FurtherOps on Tensors: the bits of its scalar form, gradients against differences, PyTorch's names. Programs are
// made at run time here: one for each op and dtype would take minutes to compile.
#include <algorithm>
#include <vector>

#include "slopes.hpp"
#include "tt/tt.hpp"

using namespace op_samples;
using tt::Tensor;

namespace {

template <class F>
Tensor call_on(const Tensor* x) {
  constexpr tt::Elementwise<F> op{};
  if constexpr (F::info.arity == 1) return op(x[0]);
  else if constexpr (F::info.arity == 2) return op(x[0], x[1]);
  else if constexpr (F::info.arity == 3) return op(x[0], x[1], x[2]);
  else return op(x[0], x[1], x[2], x[3]);
}

template <class F, class T>
void check_bits(std::int64_t count) {
  Tensor x[4];
  Samples<T> sample;
  for (Tensor& t : x) {
    t = tt::empty({count}, tt::dtype_of<T>);
    for (T& element : t.elements<T>()) element = sample();
  }
  const Tensor got = call_on<F>(x);
  const auto at = [&](int k, std::int64_t i) { return x[k].data_ptr<T>()[i]; };
  for (std::int64_t i = 0; i < count; ++i) {
    const T want = scalar<F, T>(at(0, i), at(1, i), at(2, i), at(3, i));
    if (same(got.data_ptr<T>()[i], want)) continue;
    INFO(doctest::String(F::info.name) << ' ' << tt::name(tt::dtype_of<T>) << " of " << at(0, i) << ", " << at(1, i) << ", " << at(2, i));
    CHECK(got.data_ptr<T>()[i] == want);
    return;
  }
}

template <class F>
void check_gradient() {
  constexpr int n = 48, arity = F::info.arity;
  Tensor x[4];
  double* v[4];
  for (int k = 0; k < 4; ++k) {
    x[k] = tt::ones({n}, tt::DType::f64);
    v[k] = x[k].data_ptr<double>();
  }
  Samples<double> sample;
  const auto between = [&](double low, double high) { return low + (high - low) * static_cast<double>(sample.next() >> 11) * 0x1p-53; };
  int found = 0;
  for (int tries = 0; tries < 4000 && found < n; ++tries) {
    const double a = between(-4, 4), b = between(-3, 3), c = between(-3, 3);
    if (!is_smooth<F>(a, b, c)) continue;
    v[0][found] = a, v[1][found] = b, v[2][found++] = c;
  }
  INFO(doctest::String(F::info.name));
  CHECK(found == n);
  for (int k = 0; k < arity; ++k) x[k].requires_grad_();
  call_on<F>(x).sum().backward();
  for (int k = 0; k < arity; ++k) {
    const Tensor gradient = x[k].grad().defined() ? x[k].grad() : tt::zeros({n}, tt::DType::f64);
    CAPTURE(k);
    for (int i = 0; i < found; ++i) {
      const double want = slope<F>(v[0][i], v[1][i], v[2][i], k), got = gradient.data_ptr<double>()[i];
      if (std::fabs(got - want) < slope_tolerance * (1 + std::fabs(want))) continue;
      INFO("at " << v[0][i] << ", " << v[1][i] << ", " << v[2][i]);
      CHECK(got == doctest::Approx(want));
      break;
    }
  }
}

/// floor(a / b) and the rest, by 128-bit integers; 0 where b is 0.
template <class T>
struct Quotients {
  T floored = 0, rest = 0, towards_zero_rest = 0;
  Quotients(T a, T b) {
    if (b == 0) return;
    const __int128 x = a, y = b, q = x / y, r = x % y;
    const bool lower = r != 0 && (r < 0) != (y < 0);
    floored = static_cast<T>(lower ? q - 1 : q);
    rest = static_cast<T>(lower ? r + y : r);
    towards_zero_rest = static_cast<T>(r);
  }
};
template <class T>
std::vector<T> integers_at_edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> v;
  for (const T near : {T(0), L::max(), L::min(), T(L::max() / 2), T(L::max() / 3), T(1) << (4 * sizeof(T)), T(T(1) << (7 * sizeof(T) - 3)), T(1000)})
    for (T d = -3; d <= 3; ++d) {
      if ((near == L::max() && d > 0) || (near == L::min() && d < 0)) continue;
      v.push_back(T(near + d));
      if (near + d != L::min()) v.push_back(T(-(near + d)));
    }
  return v;
}

}  // namespace

TEST_CASE_TEMPLATE("integer quotients and rests are exact, wrap around, and are 0 by 0", T, std::int32_t, std::int64_t) {
  const std::vector<T> edges = integers_at_edges<T>();
  Samples<T> sample;
  std::vector<T> a, b;
  for (const T x : edges)
    for (const T y : edges) {
      a.push_back(x), b.push_back(y);
      a.push_back(sample()), b.push_back(T(sample() >> (sample() & 31)));
    }
  const std::int64_t n = static_cast<std::int64_t>(a.size());
  Tensor x = tt::empty({n}, tt::dtype_of<T>), y = tt::empty({n}, tt::dtype_of<T>);
  std::copy(a.begin(), a.end(), x.data_ptr<T>());
  std::copy(b.begin(), b.end(), y.data_ptr<T>());
  const Tensor floored = tt::floor_divide(x, y), rest = tt::remainder(x, y), towards_zero = tt::fmod(x, y);
  REQUIRE(floored.dtype() == tt::dtype_of<T>);
  int wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T p = x.data_ptr<T>()[i], q = y.data_ptr<T>()[i];
    const Quotients<T> want(p, q);
    INFO(p << " by " << q);
    const bool tensors_right = floored.data_ptr<T>()[i] == want.floored && rest.data_ptr<T>()[i] == want.rest &&
                               towards_zero.data_ptr<T>()[i] == want.towards_zero_rest;
    const bool scalars_right = scalar<tt::FloorDivide, T>(p, q, 0) == want.floored && scalar<tt::Remainder, T>(p, q, 0) == want.rest &&
                               scalar<tt::Fmod, T>(p, q, 0) == want.towards_zero_rest;
    if (!(tensors_right && scalars_right) && ++wrong < 5) CHECK((tensors_right && scalars_right));
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("nextafter gives the bits of the standard library", T, float, double) {
  Samples<T> sample;
  for (int i = 0; i < 4000; ++i) {
    const T x = sample(), towards = sample();
    CHECK(same(scalar<tt::Nextafter, T>(x, towards, 0), std::nextafter(x, towards)));
  }
}

TEST_CASE_TEMPLATE("further ops on Tensors give the bits of their scalar form", T, float, double) {
  for_each_op(tt::FurtherOps{}, []<class F>(tt::TypeList<F>) {
    for (const std::int64_t count : {1, 7, 4096}) check_bits<F, T>(count);
  });
}

TEST_CASE("derivatives of further ops agree with differences") {
  for_each_op(tt::FurtherOps{}, []<class F>(tt::TypeList<F>) { check_gradient<F>(); });
}
