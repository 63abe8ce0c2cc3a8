// A lock in one atomic number, for headers that may not include those of threads:
//   const FlagLock lock(busy);     // who waits sleeps; at the end the system is called only if somebody waits
#pragma once
#include <atomic>

namespace tt::detail {

struct BusyFlag {
  enum State : int { free, held, awaited };
  std::atomic<int> state = free;
};

class FlagLock {
 public:
  explicit FlagLock(BusyFlag& busy) : state_(busy.state) {
    int expected = BusyFlag::free;
    if (state_.compare_exchange_strong(expected, BusyFlag::held, std::memory_order_acquire, std::memory_order_relaxed)) return;
    while (state_.exchange(BusyFlag::awaited, std::memory_order_acquire) != BusyFlag::free) state_.wait(BusyFlag::awaited, std::memory_order_relaxed);
  }
  FlagLock(const FlagLock&) = delete;
  ~FlagLock() {
    if (state_.exchange(BusyFlag::free, std::memory_order_release) == BusyFlag::awaited) state_.notify_one();
  }

 private:
  std::atomic<int>& state_;
};

}  // namespace tt::detail
