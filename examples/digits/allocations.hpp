// Counts what this program takes from the heap, by replacing the global operator new. The array forms
// end in those below. For one source file only: replacements cannot be inline.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace digits {

inline std::atomic<long> allocations = 0;
inline constinit thread_local long allocations_of_thread = 0;

inline void count() {
  allocations.fetch_add(1, std::memory_order_relaxed);
  ++allocations_of_thread;
}
inline void* counted(void* memory) {
  count();
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace digits

[[gnu::noinline]] void* operator new(std::size_t bytes) { return digits::counted(std::malloc(bytes ? bytes : 1)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return digits::counted(std::aligned_alloc(step, (bytes + step) / step * step));
}
// The sanitizers' own nothrow forms do not end in the two above.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  digits::count();
  return std::malloc(bytes ? bytes : 1);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  digits::count();
  const auto step = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(step, (bytes + step) / step * step);
}
// Not inlined: g++ would take `free` beside a `new` that it cannot see through for a mistake.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
