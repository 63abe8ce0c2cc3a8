// A lock of one std::atomic_flag, for headers that may not include those of threads: for short work, or rare waits.
//   const FlagLock lock(busy);
#pragma once
#include <atomic>

namespace tt::detail {

class FlagLock {
 public:
  explicit FlagLock(std::atomic_flag& busy) : busy_(busy) {
    while (busy_.test_and_set(std::memory_order_acquire)) busy_.wait(true, std::memory_order_relaxed);
  }
  FlagLock(const FlagLock&) = delete;
  ~FlagLock() {
    busy_.clear(std::memory_order_release);
    busy_.notify_one();
  }

 private:
  std::atomic_flag& busy_;
};

}  // namespace tt::detail
