// Memory for elements: 64-byte aligned, with a padded end, so that whole vectors may be read there.
#pragma once
#include <cstddef>
#include <cstring>
#include <new>

#include "tt/core/error.hpp"

namespace tt {

inline constexpr std::size_t storage_alignment = 64;

inline namespace TT_ISA {
/// A template parameter of every function that may hold SIMD code: files built with other -march
/// flags then have functions of their own, and link into one program.
struct IsaTag {};
}  // namespace TT_ISA

/// Uninitialised bytes; throws std::bad_alloc.
inline void* allocate_bytes(std::size_t bytes) {
  return ::operator new(bytes + storage_alignment, std::align_val_t{storage_alignment});
}
inline void free_bytes(void* p) noexcept {
  ::operator delete(p, std::align_val_t{storage_alignment});
}

/// Memory that a thread keeps for the arenas of its plans: grows, never moves while in use.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { free_bytes(data_); }

  std::byte* get(std::size_t bytes) {
    if (bytes > size_) {
      free_bytes(data_);
      data_ = nullptr;
      size_ = 0;
      data_ = static_cast<std::byte*>(allocate_bytes(bytes));
      size_ = bytes;
    }
    return data_;
  }
  static Scratch& of_this_thread() {
    thread_local Scratch scratch;
    return scratch;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tt
