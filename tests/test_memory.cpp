// The system out of memory: what is kept for reuse is given back, the request made once more, and only then is it an Error.
// And how much is taken: by a node of the tape, by sizes that come once, and what empty_cache leaves.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#endif

#include "tensors.hpp"

namespace {

constexpr std::size_t large = 1 << 20;
int refusals = 0;  ///< the next requests of so many bytes that are refused
int refused = 0;

bool refuses(std::size_t bytes) {
  if (bytes < large || refusals == 0) return false;
  --refusals;
  ++refused;
  return true;
}
void* take(std::size_t bytes, std::size_t alignment) {
  if (refuses(bytes)) return nullptr;
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
#if defined(__linux__) && !TT_SANITIZES_ADDRESSES
/// In the place of the C library's, which malloc does not call by this name: what the allocator asks for.
extern "C" void* mmap(void* p, std::size_t bytes, int protection, int flags, int file, off_t at) noexcept {
  if (refuses(bytes)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, p, bytes, protection, flags, file, at));
}
#endif
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

/// Of this process in memory; 0 where the system does not say.
std::int64_t resident() {
  std::FILE* const f = std::fopen("/proc/self/statm", "r");
  long all = 0, here = 0;
  const bool read = f && std::fscanf(f, "%ld %ld", &all, &here) == 2;
  if (f) std::fclose(f);
  return read ? std::int64_t{here} * 4096 : 0;
}
constexpr int chain = 100000;

/// Bytes for each op of a chain, the Tensor that it made and what it keeps of it included; then nothing may be left.
template <class F>
void check_chain(const char* name, const F& op) {
  CAPTURE(std::string(name));
  const Tensor x = tt::ones({4}, {.requires_grad = true}), factor = tt::ones({4});
  tt::sum(op(x, factor)).backward();
  tt::empty_cache();
  const std::int64_t allocated = tt::cpu_memory_stats().allocated, reserved = tt::cpu_memory_stats().reserved, start = resident();
  {
    Tensor y = x;
    for (int k = 0; k < chain; ++k) y = op(y, factor);
    CHECK(tt::cpu_memory_stats().allocated - allocated <= std::int64_t{340} * chain);
    if (TT_SANITIZES_ADDRESSES == 0) CHECK(resident() - start <= std::int64_t{400} * chain);
    y.sum().backward();
    CHECK(x.grad().defined());
    CHECK(tt::cpu_memory_stats().allocated - allocated <= std::int64_t{220} * chain);  // nothing is kept for a second backward
  }
  tt::empty_cache();
  CHECK(tt::cpu_memory_stats().allocated <= allocated);
  CHECK(tt::cpu_memory_stats().reserved - reserved <= std::int64_t{1} << 20);
#if defined(__GLIBC__)
  malloc_trim(0);  // what lies between other memory of malloc's, malloc has
  if (TT_SANITIZES_ADDRESSES == 0) CHECK(resident() - start <= std::int64_t{4} << 20);
#endif
}

TEST_CASE("an op on the tape takes at most 400 bytes for four floats, and all of it is given back") {
  check_chain("x * Tensor", [](const Tensor& x, const Tensor& f) { return x * f; });
  check_chain("x * number", [](const Tensor& x, const Tensor&) { return x * 1.0; });
  check_chain("x + Tensor", [](const Tensor& x, const Tensor& f) { return x + f; });
  check_chain("tanh", [](const Tensor& x, const Tensor&) { return tt::tanh(x); });
}

TEST_CASE("sizes that come once are not kept for good") {
  tt::empty_cache();
  const std::int64_t before = tt::cpu_memory_stats().reserved;
  for (int k = 1; k <= 60; ++k) CHECK(tt::zeros({k * 100000}).numel() == k * 100000);  // 24 MB at most
  CHECK(tt::cpu_memory_stats().reserved - before <= std::int64_t{64} << 20);
  tt::empty_cache();
  CHECK(tt::cpu_memory_stats().reserved <= before);
}

TEST_CASE("a row of a small Tensor is read no further than its memory") {
  const Tensor x = tt::arange(12).to(tt::DType::f64).reshape({3, 4});
  CHECK(numbers(x[2] + x[1]) == Numbers{12, 14, 16, 18});
  CHECK(numbers(x.slice(0, 2, 3) * x[2][3]) == Numbers{88, 99, 110, 121});
  std::vector<double> own{1, 2, 3};
  CHECK(numbers(tt::from_blob(own.data(), {3}) + x[0].slice(0, 1, 4)) == Numbers{2, 4, 6});
}

TEST_CASE("an argument that is changed in place after it was kept for backward is freed with its history") {
  const Tensor w = tt::ones({1000}).requires_grad_();
  const auto product = tt::compile([](const Tensor& x, const Tensor& y) { return x * y; });
  const std::int64_t before = tt::cpu_memory_stats().allocated;
  for (int call = 0; call < 3; ++call) {
    Tensor dense = tt::ones({1000}), across = tt::ones({1000, 2}).transpose(0, 1), given = tt::ones({1000});
    dense.add_(dense * w);
    across.add_(across * w);
    given.add_(product(given, w));
  }
  CHECK(tt::cpu_memory_stats().allocated - before <= 12000);  // what the compiled function keeps; each Tensor has 4,000 bytes or more
}

}  // namespace
