// Products that add pairs: of integers of 8 and 16 bits, summed in 32, the number of a plain loop on every path, with and without AVX-512 VNNI and AMX; of bf16.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tensors.hpp"
#include "tt/backends/cpu/matrix_unit.hpp"
#include "tt/backends/cpu/pair_products.hpp"
#include "tt/functional/network.hpp"
#include "tt/tt.hpp"

namespace {

using namespace tt;

/// Numbers of a dtype, its extremes among them.
Tensor numbers_of(DType dtype, std::int64_t rows, std::int64_t columns, int seed) {
  const int bits = 8 * size_of(dtype);
  const std::int64_t least = is_signed(dtype) ? -(std::int64_t{1} << (bits - 1)) : 0, most = least + (std::int64_t{1} << bits);
  manual_seed(static_cast<std::uint64_t>(seed));
  const Tensor x = randint(least, most, {rows, columns}), extreme = randint(0, 6, {rows, columns});
  return where(extreme == 0, least, where(extreme == 1, most - 1, x)).to(dtype);
}

/// Modulo 2^32, by a loop.
Tensor product(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(DType::i32).contiguous(), y = b.to(DType::i32).contiguous();
  Tensor r = zeros({a.size(0), b.size(1)}, DType::i32);
  const auto at_x = x.accessor<std::int32_t, 2>(), at_y = y.accessor<std::int32_t, 2>(), at_r = r.accessor<std::int32_t, 2>();
  for (std::int64_t i = 0; i < a.size(0); ++i)
    for (std::int64_t j = 0; j < b.size(1); ++j) {
      std::uint32_t sum = 0;
      for (std::int64_t k = 0; k < a.size(1); ++k) sum += static_cast<std::uint32_t>(at_x(i, k)) * static_cast<std::uint32_t>(at_y(k, j));
      at_r(i, j) = static_cast<std::int32_t>(sum);
    }
  return r;
}
Tensor every_second(const Tensor& x) {
  Tensor wide = zeros({x.size(0), 2 * x.size(1) + 1}, x.dtype());
  Tensor view = wide.slice(1, 1, 2 * x.size(1) + 1, 2);
  view.copy_(x);
  return view;
}
Tensor wide(const Tensor& x) { return x.to(DType::i32); }
bool same(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && a.shape() == b.shape() && (a == b).all().item<bool>(); }

struct Sizes3 {
  std::int64_t m, k, n;
};
constexpr Sizes3 sizes[] = {{1, 1, 1}, {1, 700, 70}, {3, 16, 5}, {4, 33, 64}, {17, 31, 65}, {16, 520, 3}, {37, 515, 130}, {5, 0, 4}};

}  // namespace

TEST_CASE("products of narrow integers are exact, whatever their layouts") {
  auto plain = compile([](const Tensor& a, const Tensor& b) { return matmul(a.to(DType::i32), b.to(DType::i32)); }, {.tier = 0});
  auto fused = compile([](const Tensor& a, const Tensor& b, const Tensor& c) { return (matmul(a.to(DType::i32), b.to(DType::i32)) + c) * 3; }, {.tier = 1});
  int seed = 1;
  for (DType left : {DType::i8, DType::u8, DType::i16})
    for (DType right : {DType::i8, DType::u8, DType::i16})
      for (const auto& [m, k, n] : sizes) {
        CAPTURE(name(left));
        CAPTURE(name(right));
        CAPTURE(m);
        CAPTURE(k);
        CAPTURE(n);
        const Tensor a = numbers_of(left, m, k, ++seed), b = numbers_of(right, k, n, ++seed), c = randint(-5, 5, {n}).to(DType::i32), expected = product(a, b);
        const Tensor lefts[] = {a, a.t().contiguous().t(), every_second(a)}, rights[] = {b, b.t().contiguous().t(), every_second(b)};
        for (const Tensor& x : lefts)
          for (const Tensor& y : rights) {
            CHECK(same(int_mm(x, y), expected));
            CHECK(same(plain(x, y), expected));
            CHECK(same(fused(x, y, c), (expected + c) * 3));
          }
      }
}

TEST_CASE("batches, several threads, and a left side that is wide") {
  const Tensor a = numbers_of(DType::i8, 6 * 40, 300, 1).reshape({6, 40, 300}), b = numbers_of(DType::u8, 300, 150, 2);
  const auto f = compile([](const Tensor& x, const Tensor& y) { return matmul(x.to(DType::i32), y.to(DType::i32)); });
  const Tensor expected = product(a.reshape({240, 300}), b).reshape({6, 40, 150});
  const int threads = get_num_threads();
  for (int n : {1, 3}) {
    set_num_threads(n);
    CHECK(same(f(a, b), expected));
    CHECK(same(f(a.to(DType::i32), b), expected));
    CHECK(same(f(a, b.to(DType::i32)), expected));
  }
  set_num_threads(threads);
}

TEST_CASE("sides that are views of casts, and casts of views") {
  const Tensor a = numbers_of(DType::i8, 35, 12, 1).reshape({5, 7, 12}), b = numbers_of(DType::i8, 12, 9, 2), c = numbers_of(DType::u8, 27, 4, 3).reshape({9, 3, 4});
  const auto check = [](const auto& f, const Tensor& x, const Tensor& y) { CHECK(same(compile(f, {.tier = 0})(x, y), f(x, y))); };
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(x.permute({1, 0, 2})).reshape({35, 12}), wide(y)); }, a, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(x.permute({1, 0, 2}).reshape({35, 12})), wide(y)); }, a, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide((x + x).permute({1, 0, 2})).reshape({35, 12}), wide(y * y)); }, a, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(x).reshape({35, 12}), wide(y)); }, a.permute({1, 0, 2}).contiguous().permute({1, 0, 2}), b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(x.slice(2, 1, 12, 3)).reshape({35, 4}), wide(y.slice(0, 0, 4))); }, a, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(x).slice(1, 1, 6, 2).reshape({15, 12}), wide(y)); }, a, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(x.select(0, 0).select(0, 0).expand({8, 12})), wide(y)); }, a, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(x.permute({0, 2, 1})).reshape({9, 12}), wide(y)); }, c, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(y).t(), wide(x.permute({1, 2, 0})).reshape({12, 9})); }, c, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(y.t()), wide(x.permute({2, 1, 0})).reshape({12, 9})); }, c, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(y.t()), wide(y)) + wide(x).sum(); }, a, b);
  check([](const Tensor& x, const Tensor& y) { return matmul(wide(x), wide(x.permute({0, 2, 1}))) + wide(y).sum(); }, a, b);
}

TEST_CASE("int_mm by name, and what it does not take") {
  register_all_ops();
  const Tensor a = numbers_of(DType::i8, 3, 4, 1), b = numbers_of(DType::i8, 4, 2, 2);
  CHECK(same(tt::call("_int_mm", {a, b}), product(a, b)));
  CHECK(message([&] { int_mm(a.to(DType::i32), b); }) == "tt::int_mm: dtype is not accepted: i32. Cast it first?");
  CHECK(message([&] { int_mm(a.reshape({12}), b); }) == "tt::int_mm: rank is too low: (12,) has rank 1, needed is 2.");
  CHECK(message([&] { int_mm(a, a); }).find("inner extents") != std::string::npos);
}

namespace {

/// A kernel itself, of sides of any strides; empty: it does not take them.
template <class Sum, class Kernel>
std::vector<Sum> by_kernel(const Kernel& kernel, const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.size(0), n = b.size(1), inner = a.size(1);
  struct Result {
    std::vector<Sum> elements;
    std::int64_t columns;
  } result{std::vector<Sum>(static_cast<std::size_t>(m * n)), n};
  std::vector<std::int32_t> panel(static_cast<std::size_t>(inner * 64 + 64 * 16 * 2));
  const auto take = [](void* to, const cpu::ProductTile& t) {
    Result& r = *static_cast<Result*>(to);
    for (std::int64_t y = 0; y < t.rows; ++y)
      for (std::int64_t x = 0; x < t.columns; ++x)
        r.elements[static_cast<std::size_t>((t.row + y) * r.columns + t.col + x)] = static_cast<const Sum*>(t.elements)[y * t.pitch + x];
  };
  const cpu::ProductTiles p{.rows = m, .cols = n, .inner = inner, .a = a.data(), .a_dtype = a.dtype(), .a_row = a.stride(0), .a_inner = a.stride(1), .b = b.data(), .b_dtype = b.dtype(),
                            .b_inner = b.stride(0), .b_column = b.stride(1), .b_padded = false, .few_columns = false, .panel = panel.data(), .windows = nullptr, .first_column = 0,
                            .context = &result, .take = take};
  if constexpr (std::is_same_v<decltype(kernel(p)), bool>) {
    if (!kernel(p)) return {};
  } else {
    kernel(p);
  }
  return result.elements;
}

}  // namespace

TEST_CASE("the instruction of VNNI gives the sums of pmaddwd") {
  if (!cpu::detail::has_pair_instruction<std::uint32_t>()) {
    std::puts("SKIPPED: AVX-512 VNNI: not on this processor, or not compiled for it");
    return;
  }
  const Tensor a = numbers_of(DType::i16, 21, 555, 1), b = numbers_of(DType::i16, 70, 555, 2).t();
  CHECK(by_kernel<std::uint32_t>(cpu::detail::multiply_pairs<std::uint32_t, false>, a, b) == by_kernel<std::uint32_t>(cpu::detail::multiply_pairs<std::uint32_t, TT_AVX512>, a, b));
}

TEST_CASE("a processor's matrix unit gives the sums of pmaddwd, whatever the layouts") {
  const auto unit = [](const cpu::ProductTiles& p) { return cpu::detail::multiply_by_unit<std::uint32_t>(p); };
  if (by_kernel<std::uint32_t>(unit, numbers_of(DType::i8, 1, 1, 1), numbers_of(DType::i8, 1, 1, 2)).empty()) {
    std::puts("SKIPPED: AMX: not on this processor, or not compiled for it");
    return;
  }
  int seed = 1;
  for (DType left : {DType::i8, DType::u8})
    for (DType right : {DType::i8, DType::u8})
      for (const auto& [m, k, n] : {Sizes3{1, 1, 1}, {16, 64, 16}, {32, 128, 64}, {33, 191, 97}, {48, 64, 80}, {5, 4, 130}, {70, 520, 63}, {1040, 70, 20}, {3, 0, 4}}) {
        CAPTURE(m);
        CAPTURE(k);
        CAPTURE(n);
        const Tensor a = numbers_of(left, m, k, ++seed), b = numbers_of(right, k, n, ++seed);
        const Tensor lefts[] = {a, a.t().contiguous().t(), every_second(a)}, rights[] = {b, b.t().contiguous().t(), every_second(b), every_second(b.t()).t()};
        const std::vector<std::uint32_t> expected = by_kernel<std::uint32_t>(cpu::detail::multiply_pairs<std::uint32_t, false>, a, b);
        for (const Tensor& x : lefts)
          for (const Tensor& y : rights) CHECK(by_kernel<std::uint32_t>(unit, x, y) == expected);
        const Tensor odd_a = numbers_of(left, m, k + 1, ++seed).slice(1, 1), odd_b = numbers_of(right, n, k + 3, ++seed).slice(1, 3).t();  // from odd addresses on
        const Tensor same_rows = a.slice(0, 0, 1).expand({m, k}), same_columns = b.slice(1, 0, 1).expand({k, n});
        for (const auto& [x, y] : {std::pair{odd_a, odd_b}, std::pair{same_rows, b}, std::pair{a, same_columns}})
          CHECK(by_kernel<std::uint32_t>(unit, x, y) == by_kernel<std::uint32_t>(cpu::detail::multiply_pairs<std::uint32_t, false>, x, y));
      }
  CHECK(by_kernel<std::uint32_t>(unit, numbers_of(DType::i16, 2, 3, 1), numbers_of(DType::i8, 3, 2, 2)).empty());
}

TEST_CASE("pairs of bf16, by the processor's instruction where it is there") {
  manual_seed(5);
  const Tensor a = randn({21, 555}).to(DType::bf16), b = randn({70, 555}).to(DType::bf16).t();
  const Tensor exact = matmul(a.to(DType::f64), b.to(DType::f64)).contiguous();
  // 555 terms of about 1 are summed up in f32: rounding errors of 2^-24 of a sum of about 24, which add up as a random walk. 100 times that is a wrong sum.
  const auto check = [&](const std::vector<float>& found) {
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(found[i]) - exact.data_ptr<double>()[i]));
    CHECK(worst < 1e-3);
  };
  check(by_kernel<float>(cpu::detail::multiply_pairs<float, false>, a, b));
  if (cpu::detail::has_pair_instruction<float>()) check(by_kernel<float>(cpu::detail::multiply_pairs<float, TT_AVX512>, a, b));
  else std::puts("SKIPPED: AVX-512 BF16: not on this processor, or not compiled for it");
  const auto unit = [](const cpu::ProductTiles& p) { return cpu::detail::multiply_by_unit<float>(p); };
  if (by_kernel<float>(unit, a, b).empty()) return void(std::puts("SKIPPED: AMX: not on this processor, or not compiled for it"));
  for (const Tensor& x : {a, a.t().contiguous().t(), every_second(a)})
    for (const Tensor& y : {b, b.contiguous(), every_second(b)}) check(by_kernel<float>(unit, x, y));
}
