// Locks of one std::atomic_flag, for headers that may not include those of threads. All users of a flag take the same kind.
//   const FlagLock lock(busy);     // who waits sleeps
//   const BriefLock lock(busy);    // for a few instructions: who waits tries again, and nobody is woken at the end
#pragma once
#include <sched.h>

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

class BriefLock {
 public:
  explicit BriefLock(std::atomic_flag& busy) : busy_(busy) {
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  BriefLock(const BriefLock&) = delete;
  ~BriefLock() { busy_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& busy_;
};

}  // namespace tt::detail
