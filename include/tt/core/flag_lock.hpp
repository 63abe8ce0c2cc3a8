// A lock of one flag, for rooms that may not use threads' headers: short work, or waits that are rare.
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
