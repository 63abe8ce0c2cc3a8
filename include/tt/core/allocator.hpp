// The caching allocator of Tensors on the CPU: freed blocks are kept for the next Tensor of about
// that size, because half the time of an unfused op would otherwise be page faults. Small blocks
// are kept by each thread, large ones by all together.
//   tt::cpu_memory_stats().allocated;   tt::empty_cache();
#pragma once
#include <atomic>
#include <bit>

#include "tt/core/flag_lock.hpp"
#include "tt/core/storage.hpp"

namespace tt {

/// Bytes, as the caching allocator sees them.
struct MemoryStats {
  std::int64_t allocated = 0;  ///< in use by Tensors
  std::int64_t reserved = 0;   ///< taken from the system: in use or kept for reuse
  std::int64_t peak = 0;       ///< the most that was ever reserved
  std::int64_t hits = 0, misses = 0;  ///< large blocks reused, and taken from the system
};

namespace detail {

struct FreeBlock {
  FreeBlock* next;
};

class CachingAllocator {
 public:
  /// Never destroyed: Tensors with static storage are freed after everything else.
  static CachingAllocator& get() {
    static constinit CachingAllocator allocator;  // whose destructor does nothing
    return allocator;
  }

  /// 64-byte aligned.
  void* allocate(std::size_t bytes) {
    const int c = size_class(bytes);
    if (c < small_classes)
      if (Local* local = Local::of_this_thread())
        if (FreeBlock* b = local->head[c]) {
          local->head[c] = b->next;
          --local->count[c];
          return b;
        }
    return allocate_slow(c, bytes);
  }
  void free(void* p, std::size_t bytes) noexcept {
    const int c = size_class(bytes);
    auto* b = static_cast<FreeBlock*>(p);
    if (c < small_classes)
      if (Local* local = Local::of_this_thread(); local && local->count[c] < kept_per_thread) {
        b->next = local->head[c];
        local->head[c] = b;
        ++local->count[c];
        return;
      }
    const FlagLock lock(busy_);
    in_use_ -= class_bytes(c);
    b->next = head_[c];
    head_[c] = b;
  }

  MemoryStats stats() {
    const FlagLock lock(busy_);
    return {in_use_ - kept_by_this_thread(), reserved_, peak_, hits_, misses_};
  }
  /// Gives back what is kept for reuse, of this thread and of all together.
  void empty_cache() {
    if (Local* local = Local::of_this_thread()) local->flush(*this);
    const FlagLock lock(busy_);
    release();
  }

 private:
  // Size classes: four a power of two, from 64 bytes on. Blocks of large ones are longer by what a Tensor has besides its
  // elements, so that 2^k elements are of a class that ends there.
  static constexpr int small_classes = 4 * 7, classes = 4 * 42, kept_per_thread = 64, first_large = 4 * 10 + 1;
  static constexpr std::int64_t beside = 256;

  static constexpr int size_class(std::size_t bytes) {
    const int c = plain_class(bytes);
    return c < first_large ? c : plain_class(bytes - beside) < first_large ? first_large : plain_class(bytes - beside);
  }
  static constexpr std::int64_t class_bytes(int c) { return plain_bytes(c) + (c < first_large ? 0 : beside); }
  static constexpr int plain_class(std::size_t bytes) {
    if (bytes <= 64) return 0;
    const int power = static_cast<int>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power + 1)
    const auto quarter = static_cast<int>((bytes - 1) >> (power - 2) & 3);
    return (power - 6) * 4 + quarter + 1;
  }
  static constexpr std::int64_t plain_bytes(int c) {
    if (c == 0) return 64;
    const int power = (c - 1) / 4 + 6;
    return (((std::int64_t{4} + (c - 1) % 4 + 1) << (power - 2)) + 63) & ~std::int64_t{63};
  }

  struct Local {
    FreeBlock* head[small_classes] = {};
    int count[small_classes] = {};

    /// Null once the thread is ending.
    static Local* of_this_thread() {
      thread_local Local* local = nullptr;  // trivial: usable while other thread_locals are destroyed
      thread_local bool ended = false;
      if (!local && !ended) {
        struct Owner {
          Local own;
          Local** local;
          bool* ended;
          ~Owner() {
            *local = nullptr;
            *ended = true;
            own.flush(get());
          }
        };
        thread_local Owner owner{{}, &local, &ended};
        local = &owner.own;
      }
      return local;
    }
    void flush(CachingAllocator& to) {
      const FlagLock lock(to.busy_);
      for (int c = 0; c < small_classes; ++c)
        while (FreeBlock* b = head[c]) {
          head[c] = b->next;
          --count[c];
          to.in_use_ -= class_bytes(c);
          b->next = to.head_[c];
          to.head_[c] = b;
        }
    }
  };

  std::atomic_flag busy_;
  FreeBlock* head_[classes] = {};
  std::int64_t in_use_ = 0, reserved_ = 0, peak_ = 0, hits_ = 0, misses_ = 0;

  static std::int64_t kept_by_this_thread() {
    std::int64_t bytes = 0;
    if (const Local* local = Local::of_this_thread())
      for (int c = 0; c < small_classes; ++c) bytes += local->count[c] * class_bytes(c);
    return bytes;
  }
  TT_NOINLINE void* allocate_slow(int c, std::size_t bytes) {
    if (c >= classes) out_of_memory(bytes);
    const FlagLock lock(busy_);
    in_use_ += class_bytes(c);
    if (FreeBlock* b = head_[c]) {
      head_[c] = b->next;
      ++hits_;
      return b;
    }
    ++misses_;
    __atomic_store_n(&release_kept_memory, +[] { get().empty_cache(); }, __ATOMIC_RELEASE);
    void* p = from_system(class_bytes(c));
    if (!p) {  // give back what is kept, and try once more
      release();
      p = from_system(class_bytes(c));
    }
    if (!p) {
      in_use_ -= class_bytes(c);
      out_of_memory(bytes);
    }
    reserved_ += class_bytes(c);
    if (reserved_ > peak_) peak_ = reserved_;
    return p;
  }
  static void* from_system(std::int64_t bytes) {
    return ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{storage_alignment}, std::nothrow);
  }
  void release() {
    for (int c = 0; c < classes; ++c)
      while (FreeBlock* b = head_[c]) {
        head_[c] = b->next;
        reserved_ -= class_bytes(c);
        free_bytes(b);
      }
  }
  [[noreturn]] void out_of_memory(std::size_t bytes) const {
    TT_THROW(Error(Text("tt: out of memory: ")
                   << bytes << " bytes asked for, " << in_use_
                   << " in use by Tensors, " << reserved_ << " taken from the system."));
  }
};

static_assert(std::is_trivially_destructible_v<CachingAllocator>);

}  // namespace detail

inline MemoryStats cpu_memory_stats() { return detail::CachingAllocator::get().stats(); }
/// Gives memory that is kept for reuse back to the system.
inline void empty_cache() { detail::CachingAllocator::get().empty_cache(); }

}  // namespace tt
