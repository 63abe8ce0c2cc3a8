// The caching allocator of Tensors on the CPU: freed blocks are kept for the next Tensor of about that size, because
// half the time of an unfused op would otherwise be page faults. Each thread keeps small blocks, all threads share the
// large ones; tiny ones are cut from slabs, without a header of malloc's.
//   tt::cpu_memory_stats().allocated;   tt::empty_cache();
#pragma once
#include <atomic>
#include <bit>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "tt/core/flag_lock.hpp"
#include "tt/core/storage.hpp"

namespace tt {

/// Statistics of the caching allocator; the first three in bytes.
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
    static constinit CachingAllocator allocator;  // with a trivial destructor
    return allocator;
  }

  /// 64-byte aligned if `bytes` is a multiple of 64 or more than 512, else 16-byte aligned.
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
      if (Local* local = Local::of_this_thread()) {
        if (local->count[c] == kept_per_thread) [[unlikely]] local->flush(*this, c, kept_per_thread / 2);
        b->next = local->head[c];
        local->head[c] = b;
        ++local->count[c];
        return;
      }
    free_slow(b, c);
  }

  MemoryStats stats() {
    const FlagLock lock(busy_);
    return {in_use_ - kept_by_this_thread(), reserved_, peak_, hits_, misses_};
  }
  /// Gives memory kept for reuse back to the system: that of this thread, and that shared by all threads.
  void empty_cache() {
    if (Local* local = Local::of_this_thread()) local->flush(*this);
    const FlagLock lock(busy_);
    release();
  }

 private:
  // Size classes: multiples of 16 up to 512 bytes, then four a power of two. Classes of large blocks are longer by
  // `beside`, bytes that a Tensor has besides its elements, so that 2^k elements fill a class.
  static constexpr int tiny_classes = 32, tiny_bytes = 16 * tiny_classes, tiny_power = 9;
  static constexpr int small_classes = tiny_classes + 4 * (13 - tiny_power), first_large = tiny_classes + 4 * (16 - tiny_power);
  static constexpr int classes = tiny_classes + 4 * (48 - tiny_power), kept_per_thread = 64;
  static constexpr std::int64_t beside = 256;
  static_assert(tiny_bytes == 1 << tiny_power);

  static constexpr int size_class(std::size_t bytes) {
    const int c = plain_class(bytes);
    return c < first_large ? c : plain_class(bytes - beside) < first_large ? first_large : plain_class(bytes - beside);
  }
  static constexpr std::int64_t class_bytes(int c) { return plain_bytes(c) + (c < first_large ? 0 : beside); }
  static constexpr int plain_class(std::size_t bytes) {
    if (bytes <= tiny_bytes) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 16);
    const int power = static_cast<int>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power + 1)
    const auto quarter = static_cast<int>((bytes - 1) >> (power - 2) & 3);
    return tiny_classes + (power - tiny_power) * 4 + quarter;
  }
  static constexpr std::int64_t plain_bytes(int c) {
    if (c < tiny_classes) return 16 * (c + 1);
    const int k = c - tiny_classes;
    return std::int64_t{5 + k % 4} << (k / 4 + tiny_power - 2);
  }

  /// Many tiny blocks of one class. A slab is aligned to its size, so a block's address gives its slab.
  struct Slab {
    Slab* next;
    int size_class, cut;  ///< cut: blocks that were ever handed out
    int free;             ///< free ones of the cut blocks; counted by release_slabs()

    // The system provides pages on first touch, so the alignment costs addresses only: twice as many with glibc.
    static constexpr std::int64_t bytes = std::int64_t{1} << 18, header = 64;
    static Slab* of(void* block) { return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(block) & ~std::uintptr_t{bytes - 1}); }
    bool is_full() const { return header + (cut + 1) * class_bytes(size_class) > bytes; }
    FreeBlock* take() {
      return reinterpret_cast<FreeBlock*>(reinterpret_cast<std::byte*>(this) + header + cut++ * class_bytes(size_class));
    }
  };
  /// Not under address sanitizers, which check the ends only of blocks that come from the system one by one.
  static constexpr int slab_classes = TT_SANITIZES_ADDRESSES ? 0 : tiny_classes;

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
      for (int c = 0; c < small_classes; ++c) flush(to, c, 0);
    }
    TT_NOINLINE void flush(CachingAllocator& to, int c, int leave) {
      const FlagLock lock(to.busy_);
      while (count[c] > leave) {
        FreeBlock* const b = head[c];
        head[c] = b->next;
        --count[c];
        to.in_use_ -= class_bytes(c);
        b->next = to.head_[c];
        to.head_[c] = b;
      }
    }
  };

  BusyFlag busy_;
  FreeBlock* head_[classes] = {};
  Slab* slabs_ = nullptr;
  Slab* current_[tiny_classes] = {};  ///< slab from which blocks of a class are cut
  std::int64_t in_use_ = 0, most_in_use_ = 0, reserved_ = 0, peak_ = 0, hits_ = 0, misses_ = 0;

  static std::int64_t kept_by_this_thread() {
    std::int64_t bytes = 0;
    if (const Local* local = Local::of_this_thread())
      for (int c = 0; c < small_classes; ++c) bytes += local->count[c] * class_bytes(c);
    return bytes;
  }
  TT_NOINLINE void* allocate_slow(int c, std::size_t bytes) {
    if (c >= classes) out_of_memory(bytes);
    const FlagLock lock(busy_);
    FreeBlock* const b = take(c, bytes);
    if (c < slab_classes)
      if (Local* local = Local::of_this_thread())
        for (int k = 1; k < kept_per_thread / 4 && (head_[c] || current_[c]); ++k) {  // and a few for the next calls
          FreeBlock* const more = take(c, bytes);
          more->next = local->head[c];
          local->head[c] = more;
          ++local->count[c];
        }
    return b;
  }
  TT_NOINLINE void free_slow(FreeBlock* b, int c) noexcept {
    const FlagLock lock(busy_);
    in_use_ -= class_bytes(c);
    b->next = head_[c];
    head_[c] = b;
  }
  FreeBlock* take(int c, std::size_t bytes) {
    in_use_ += class_bytes(c);
    if (FreeBlock* b = head_[c]) {
      head_[c] = b->next;
      if (in_use_ > most_in_use_) most_in_use_ = in_use_;
      hits_ += c >= small_classes;
      return b;
    }
    misses_ += c >= small_classes;
    FreeBlock* b = nullptr;
    if (c >= slab_classes) {
      bound_kept(class_bytes(c));
      b = static_cast<FreeBlock*>(from_system(c, class_bytes(c), storage_alignment, bytes));
    } else {
      if (!current_[c])
        slabs_ = current_[c] = ::new (from_system(c, Slab::bytes, Slab::bytes, bytes)) Slab{slabs_, c, 0, 0};
      b = current_[c]->take();
      if (current_[c]->is_full()) current_[c] = nullptr;
    }
    reserved_ += class_bytes(c);
    if (reserved_ > peak_) peak_ = reserved_;
    if (in_use_ > most_in_use_) most_in_use_ = in_use_;
    return b;
  }
  void* from_system(int c, std::int64_t bytes, std::size_t alignment, std::size_t asked) {
    __atomic_store_n(&release_kept_memory, +[] { get().empty_cache(); }, __ATOMIC_RELEASE);
    const auto get_some = [&] {
      return bytes >= least_mapped ? map(bytes) : ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{alignment}, std::nothrow);
    };
    void* p = get_some();
    if (!p) {  // release kept memory, and try once more
      release();
      p = get_some();
    }
    if (!p) {
      in_use_ -= class_bytes(c);
      out_of_memory(asked);
    }
    return p;
  }
  /// Large blocks are mappings of their own that ask for pages of 2 MiB: fewer faults when they are first written, fewer page table walks later. NumPy asks
  /// for them from the same size on; where the system has none, pages stay small. Memory of malloc's would stay in large pages when small blocks reuse it.
#if defined(__linux__)
  static constexpr std::int64_t least_mapped = TT_SANITIZES_ADDRESSES ? INT64_MAX : std::int64_t{4} << 20;
  static void* map(std::int64_t bytes) {
    void* const p = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    madvise(p, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    return p;
  }
  static void unmap(void* p, std::int64_t bytes) { munmap(p, static_cast<std::size_t>(bytes)); }
#else
  static constexpr std::int64_t least_mapped = INT64_MAX;
  static void* map(std::int64_t) { return nullptr; }
  static void unmap(void*, std::int64_t) {}
#endif
  /// Called before more memory is taken from the system. Kept memory goes back, the largest blocks first, until at most twice the
  /// most that was in use since release(), and 8 MiB, is reserved. So blocks of sizes that never recur are not kept for good.
  void bound_kept(std::int64_t more) {
    const std::int64_t most = 2 * (in_use_ > most_in_use_ ? in_use_ : most_in_use_) + (std::int64_t{8} << 20);
    for (int c = classes - 1; c >= slab_classes && reserved_ + more > most; --c)
      while (head_[c] && reserved_ + more > most) give_back(c);
  }
  void give_back(int c) {
    FreeBlock* const b = head_[c];
    head_[c] = b->next;
    const std::int64_t bytes = class_bytes(c);
    reserved_ -= bytes;
    if (bytes >= least_mapped) unmap(b, bytes);
    else free_bytes(b);
  }
  void release() {
    for (int c = slab_classes; c < classes; ++c)
      while (head_[c]) give_back(c);
    release_slabs();
    most_in_use_ = in_use_;
  }
  /// Frees the slabs of which no block is in use or kept by another thread.
  void release_slabs() {
    for (Slab* s = slabs_; s; s = s->next) s->free = 0;
    for (int c = 0; c < slab_classes; ++c)
      for (FreeBlock* b = head_[c]; b; b = b->next) ++Slab::of(b)->free;
    for (int c = 0; c < slab_classes; ++c)
      for (FreeBlock** at = &head_[c]; *at;) {
        const Slab* const s = Slab::of(*at);
        if (s->free == s->cut) *at = (*at)->next;
        else at = &(*at)->next;
      }
    for (Slab** at = &slabs_; *at;) {
      Slab* const s = *at;
      if (s->free != s->cut) {
        at = &s->next;
        continue;
      }
      *at = s->next;
      if (current_[s->size_class] == s) current_[s->size_class] = nullptr;
      reserved_ -= s->cut * class_bytes(s->size_class);
      ::operator delete(s, std::align_val_t{Slab::bytes});
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
/// Gives memory that is kept for reuse back to the system, except blocks that other threads keep: at most 64 of a size,
/// none above 8 KiB. PyTorch's name. malloc may keep some of the memory.
inline void empty_cache() { detail::CachingAllocator::get().empty_cache(); }

}  // namespace tt
