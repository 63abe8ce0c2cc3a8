// The memory of a simulated NPU: one block of addresses, of which nothing but the chip reads an element. For the program they are
// mapped without any rights, so that a pointer to them which is read by mistake ends it, as with a real device.
//   void* p = arena.allocate(1024);   float* elements = arena.inside<float>(p);   // for the chip's own thread
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <tt/tt.hpp>
#include <vector>

namespace npu {

/// What crossed the border of the chip, and what moved inside.
struct CopyCounts {
  std::atomic<std::int64_t> to_device = 0, from_device = 0, inside = 0, bytes_in = 0, bytes_out = 0;
};

// [arena]
class Arena {
 public:
  explicit Arena(std::size_t bytes) : bytes_(bytes), memory_(bytes) {
    void* const reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) throw tt::Unavailable(tt::Text("npu: no addresses for ") << static_cast<std::int64_t>(bytes) << " bytes.");
    first_ = static_cast<std::byte*>(reserved);
    free_[0] = bytes;
  }
  Arena(const Arena&) = delete;
  ~Arena() { munmap(first_, bytes_); }

  /// The first gap that is large enough, for work of a stream; null: there is none.
  void* allocate(std::size_t bytes, int stream) {
    const std::size_t wanted = rounded(bytes);
    const std::lock_guard lock(busy_);
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
      const auto [at, size] = *gap;
      if (size < wanted) continue;
      free_.erase(gap);
      if (size > wanted) free_[at + wanted] = size - wanted;
      stats_.allocated += static_cast<std::int64_t>(wanted);
      stats_.peak = std::max(stats_.peak, stats_.allocated);
      stream_of_[at] = stream;
      return first_ + at;
    }
    return nullptr;
  }
  // [/arena]
  void free(void* p, std::size_t bytes) {
    const std::size_t at = offset(p);
    std::size_t size = rounded(bytes);
    const std::lock_guard lock(busy_);
    stream_of_.erase(at);
    stats_.allocated -= static_cast<std::int64_t>(size);
    auto next = free_.lower_bound(at);  // gaps side by side become one
    if (next != free_.end() && at + size == next->first) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin())
      if (auto before = std::prev(next); before->first + before->second == at) {
        before->second += size;
        return;
      }
    free_[at] = size;
  }
  /// For which stream a block was allocated.
  int stream_of(void* p) {
    const std::lock_guard lock(busy_);
    return stream_of_.at(offset(p));
  }
  /// Where an address of the chip really is.
  template <class T = std::byte>
  T* inside(const void* p) {
    return reinterpret_cast<T*>(memory_.data() + offset(p));
  }
  tt::MemoryStats stats() {
    const std::lock_guard lock(busy_);
    tt::MemoryStats s = stats_;
    s.reserved = static_cast<std::int64_t>(bytes_);
    return s;
  }
  CopyCounts copies;

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
  std::byte* first_ = nullptr;
  std::map<std::size_t, std::size_t> free_;  ///< gaps: where they begin, and their bytes
  std::map<std::size_t, int> stream_of_;     ///< of blocks in use
  std::mutex busy_;
  tt::MemoryStats stats_;

  std::size_t offset(const void* p) const { return static_cast<std::size_t>(static_cast<const std::byte*>(p) - first_); }
  static std::size_t rounded(std::size_t bytes) { return bytes == 0 ? 64 : (bytes + 63) / 64 * 64; }
};

}  // namespace npu
