// Rows of a compiled kernel that load the same elements in part are computed several at once (backends/cpu/jam_rows.hpp): with the bits of one at a time, where
// runs of rows end too, on any number of threads.
#include <doctest/doctest.h>

#include "tensors.hpp"
#include "tt/backends/cpu/jam_rows.hpp"
#include "tt/jit/native.hpp"
#include "tt/plan/kernel_alone.hpp"

namespace {

using tt::Tensor, tt::Slice;

template <class F, class... T>
void check_rows(const F& f, const T&... of) {
  tt::set_num_threads(1);
  const auto interpreted = tt::compile(f, {.tier = 0});
  const auto compiled = tt::compile(f, {.wait = true});
  const Tensor expected = interpreted(of...);
  for (int threads : {1, 3}) {
    CAPTURE(threads);
    tt::set_num_threads(threads);
    CHECK(same_bits(f(of...), expected));
    CHECK(same_bits(compiled(of...), expected));
  }
  tt::set_num_threads(1);
}

/// What the next row has, too: 20 products of 25 neighbours.
constexpr auto stencil = [](const Tensor& x) {
  const tt::Size h = x.size(-2), w = x.size(-1);
  Tensor sum;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      const Tensor at = x.slice(-2, i, h - 4 + i).slice(-1, j, w - 4 + j) * (i + 2 * j);
      sum = sum.defined() ? sum + at : at;
    }
  return sum;
};

template <int Kernel, int Stride>
struct Depthwise {
  Tensor operator()(const Tensor& x, const Tensor& w) const {
    return tt::conv2d(x, w, {}, {.stride = {Stride}, .padding = {Kernel / 2}, .groups = static_cast<int>(w.size(0))});
  }
};
/// Rows that the last kernel of f(x), by itself, computes at once.
template <class F>
int rows_at_once(const F& f, const auto&... of) {
  const tt::Plan plan = tt::make_plan(tt::trace(f, of...).graph);
  const tt::KernelAlone alone(plan, plan.kernels.size() - 1);
  return tt::detail::RowJam(alone.plan, alone.plan.kernels[0]).jam().rows;
}

template <int Kernel, int Stride>
void check_depthwise() {
  CAPTURE(Kernel);
  CAPTURE(Stride);
  if (Stride == 1 && Kernel > 2) CHECK(rows_at_once(Depthwise<Kernel, Stride>{}, tt::randn({3, 4, 20, 24}), tt::randn({4, 1, Kernel, Kernel})) == 4);
#ifdef TT_ALL_FORMS
  for (const tt::IntList& sizes : {tt::IntList{1, 3, 17, 19}, {3, 4, 16, 16}, {2, 65, 9, 23}}) {
#else
  for (const tt::IntList& sizes : {tt::IntList{2, 65, 9, 23}}) {
#endif
    CAPTURE(sizes);
    check_rows(Depthwise<Kernel, Stride>{}, tt::randn(sizes), tt::randn({sizes[1], 1, Kernel, Kernel}));
  }
}

}  // namespace

TEST_CASE("rows that load the same elements have the bits of one row at a time") {
  CHECK(rows_at_once(stencil, tt::randn({3, 24, 32})) == 4);
#ifdef TT_ALL_FORMS
  const auto dtypes = {tt::DType::f32, tt::DType::f64, tt::DType::i32, tt::DType::i64, tt::DType::f16};
#else
  const auto dtypes = {tt::DType::f32};
#endif
  for (const tt::DType d : dtypes)
    for (const tt::IntList& sizes : {tt::IntList{1, 20}, {5, 5}, {8, 21}, {11, 37}, {3, 9, 40}, {2, 3, 12, 70}}) {
      CAPTURE(sizes);
      if (sizes[sizes.size() - 2] < 5) continue;
      check_rows(stencil, tt::randint(-50, 50, sizes).to(d));
    }
}

TEST_CASE("functions of windows: with masks, backwards, of every second row, with what is loaded once a row") {
  const auto masked = [](const Tensor& x) { return tt::where(stencil(x) > 0, stencil(x.flip({-2})), tt::exp(stencil(-x))); };
  const auto rows = [](const Tensor& x) { return stencil(x) + x.slice(-1, 0, 1).slice(-2, 2, x.size(-2) - 2) * tt::arange(x.size(-1) - 4); };
  const auto second = [](const Tensor& x) { return stencil(x).slice(-2, 0, x.size(-2) - 4, 2); };
  const Tensor x = tt::randn({2, 19, 33});
  CHECK(rows_at_once(masked, x) == 4);
  CHECK(rows_at_once(rows, x) == 4);
  check_rows(masked, x);
  check_rows(rows, x);
  check_rows(second, x);
  check_rows([](const Tensor& a) { return stencil(a.transpose(-1, -2)); }, x);
  CHECK(rows_at_once([](const Tensor& a) { return a + 1; }, x) == 1);
}

TEST_CASE("depthwise convolutions") {
  check_depthwise<2, 1>(), check_depthwise<3, 1>(), check_depthwise<5, 1>(), check_depthwise<7, 1>();
  check_depthwise<3, 2>(), check_depthwise<5, 2>();
}
