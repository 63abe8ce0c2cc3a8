// Memory for elements: 64-byte aligned, with a padded end, so that whole steps (16 elements of 8 bytes)
// may be read and written there.
#pragma once
#include <cstddef>
#include <cstring>
#include <new>

#include "tt/core/error.hpp"
#include "tt/core/thread_end.hpp"

namespace tt {

inline constexpr std::size_t storage_alignment = 64, storage_padding = 128;

inline namespace TT_ISA {
/// A template parameter of every function that may hold SIMD code: files built with other -march
/// flags then have functions of their own, and link into one program.
struct IsaTag {};
}  // namespace TT_ISA

[[noreturn]] TT_NOINLINE inline void not_enough_memory(const char* op, DType dtype,
                                                       const Shape& shape) {
  Text t;
  t << op << ": not enough memory: " << name(dtype) << ' ' << shape << " takes ";
  if (is_countable(shape)) t << shape.size().code * size_of(dtype);
  else t << "more than 2^58";
  TT_THROW(Error(t << " bytes. Use a smaller shape?"));
}
/// The bytes of the elements of a shape; throws Error naming shape and bytes when no memory holds them. Extents are
/// constants.
inline std::size_t bytes_of(const char* op, DType dtype, const Shape& shape) {
  const std::int64_t elements = is_countable(shape) ? shape.size().code : most_bytes;
  if (elements >= most_bytes / size_of(dtype)) not_enough_memory(op, dtype, shape);
  return static_cast<std::size_t>(elements) * static_cast<std::size_t>(size_of(dtype));
}

namespace detail {
/// Gives memory that is kept for reuse back to the system; set by the allocator that keeps it. Read and written atomically.
inline void (*release_kept_memory)() = nullptr;
}  // namespace detail

/// Uninitialised bytes; null when there is no memory even after memory kept for reuse was given back.
inline void* try_allocate_bytes(std::size_t bytes) noexcept {
  const auto take = [bytes] {
    return ::operator new(bytes + storage_padding, std::align_val_t{storage_alignment}, std::nothrow);
  };
  void* memory = take();
  if (!memory)
    if (const auto release = __atomic_load_n(&detail::release_kept_memory, __ATOMIC_ACQUIRE)) {
      release();
      memory = take();
    }
  return memory;
}
/// Uninitialised bytes; throws Error when there is no memory.
inline void* allocate_bytes(std::size_t bytes) {
  void* memory = bytes <= static_cast<std::size_t>(most_bytes) ? try_allocate_bytes(bytes) : nullptr;
  if (!memory)
    TT_THROW(Error(Text("tt: not enough memory: ")
                   << bytes << " bytes for intermediate results. Use smaller shapes?"));
  return memory;
}
/// Uninitialised elements, with `header` bytes before them; throws Error naming shape and bytes. Behind them are zeros at first: whole vectors are computed there
/// too, and denormal numbers, which memory may hold, take a hundred times as long.
inline void* allocate_elements(const char* op, DType dtype, const Shape& shape,
                               std::size_t header = 0) {
  const std::size_t bytes = bytes_of(op, dtype, shape) + header;
  void* memory = try_allocate_bytes(bytes);
  if (!memory) not_enough_memory(op, dtype, shape);
  std::memset(static_cast<std::byte*>(memory) + bytes, 0, storage_padding);
  return memory;
}
inline void free_bytes(void* p) noexcept {
  ::operator delete(p, std::align_val_t{storage_alignment});
}

/// Memory that a thread keeps for the arenas of its plans: grows, never moves while in use. A thread_local object.
class Scratch : detail::AtThreadEnd {
 public:
  constexpr Scratch() : AtThreadEnd([](AtThreadEnd* self) noexcept { static_cast<Scratch*>(self)->release(); }) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* get(std::size_t bytes) {
    if (bytes > size_) {
      enlist();
      release();
      data_ = static_cast<std::byte*>(allocate_bytes(bytes));
      size_ = bytes;
    }
    return data_;
  }
  static Scratch& of_this_thread() {
    thread_local constinit Scratch scratch;
    return scratch;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;

  void release() noexcept {
    free_bytes(data_);
    data_ = nullptr;
    size_ = 0;
  }
};

}  // namespace tt
