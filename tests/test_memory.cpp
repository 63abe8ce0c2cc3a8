// The system out of memory: what is kept for reuse is given back, the request made once more, and only then is it an Error.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "tensors.hpp"

namespace {

constexpr std::size_t large = 1 << 20;
int refusals = 0;  ///< the next requests of so many bytes that are refused
int refused = 0;

void* take(std::size_t bytes, std::size_t alignment) {
  if (bytes >= large && refusals > 0) {
    --refusals;
    ++refused;
    return nullptr;
  }
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  void* p = take(bytes, alignment);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t n) { return take_or_throw(n, 16); }
void* operator new(std::size_t n, std::align_val_t a) { return take_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n, 16); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return take(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

using tt::Tensor;

/// Blocks of some MiB that nobody uses.
void keep_some() {
  tt::empty_cache();
  std::vector<Tensor> some;
  for (int k = 0; k < 4; ++k) some.push_back(tt::zeros({large}));
}
/// f while the next `count` large requests are refused; how many were.
template <class F>
int with_refusals(int count, const F& f) {
  refused = 0;
  refusals = count;
  f();
  refusals = 0;
  return refused;
}
std::int64_t kept() {
  const tt::MemoryStats s = tt::cpu_memory_stats();
  return s.reserved - s.allocated;
}

TEST_CASE("a Tensor that finds no memory gets what was kept") {
  keep_some();
  REQUIRE(kept() >= std::int64_t{16} * large);
  Tensor x;
  CHECK(with_refusals(1, [&] { x = tt::ones({8 * large}); }) == 1);
  CHECK(x.sum().item() == 8 * large);
  CHECK(kept() < large);
}

TEST_CASE("a second refusal is an Error with the figures, after which all works") {
  keep_some();
  CHECK(with_refusals(2, [] {
    const std::string said = message([] { (void)tt::zeros({8 * large}); });
    CHECK(said.starts_with("tt: out of memory: "));
    CHECK(said.find(" in use by Tensors, ") != std::string::npos);
  }) == 2);
  CHECK(kept() < large);
  CHECK(tt::ones({8 * large}).sum().item() == 8 * large);
}

TEST_CASE("so do the arenas of programs") {
  const auto f = [](Tensor x) { return tt::matmul(tt::softmax(tt::matmul(x, x), 1), x).sum(); };
  const auto compiled = tt::compile(f, {.tier = 0});
  const Tensor small = tt::eye(4), x = tt::eye(700);
  (void)compiled(small);
  keep_some();
  Tensor y;
  CHECK(with_refusals(1, [&] { y = compiled(x); }) == 1);
  CHECK(kept() < std::int64_t{2} * 4 * 700 * 700);
  CHECK(y.item() == f(x).item());
  const Tensor larger = tt::eye(1000);
  CHECK(with_refusals(2, [&] {
    CHECK(message([&] { (void)compiled(larger); }).starts_with("tt: not enough memory: "));
  }) == 2);
  CHECK(compiled(larger).item() == f(larger).item());
}

TEST_CASE("and Arrays") {
  keep_some();
  CHECK(with_refusals(1, [] {
    const tt::Array<float, tt::dyn> a(4 * large);
    CHECK(a.size() == 4 * large);
  }) == 1);
  CHECK(kept() < large);
}

}  // namespace
