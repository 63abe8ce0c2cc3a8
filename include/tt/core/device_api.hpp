// What a device with memory of its own gives the library: one small struct. A DeviceType without one
// (the CPU, a backend under test) has its Tensors' elements in host memory.
//   set_device_api(DeviceType::private_use1, &my_api);   Tensor y = x.to(Device{DeviceType::private_use1});
#pragma once
#include <atomic>

#include "tt/core/allocator.hpp"
#include "tt/core/keys.hpp"

namespace tt {

struct DeviceApi {
  int (*count)() = nullptr;
  /// Throws Error when there is no memory. Freed with the same number of bytes.
  void* (*allocate)(int index, std::size_t bytes) = nullptr;
  void (*free)(int index, void* p, std::size_t bytes) noexcept = nullptr;
  /// Between the host and a device, either way, or on devices: in the order of the work on the device.
  /// What comes to the host is there when this returns, and what leaves it has left, unless non_blocking.
  void (*copy)(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes, bool non_blocking) = nullptr;
  void (*synchronize)(int index) = nullptr;
  /// Of the thread's work, for libraries that are called beside; null: the default one.
  void* (*stream)(int index) = nullptr;
  MemoryStats (*stats)(int index) = nullptr;
  void (*empty_cache)(int index) = nullptr;
};

namespace detail {
inline constexpr int device_types = static_cast<int>(DeviceType::private_use3) + 1;
inline std::atomic<const DeviceApi*>& device_api_slot(DeviceType t) {
  static std::atomic<const DeviceApi*> slots[device_types];
  return slots[static_cast<int>(t)];
}
}  // namespace detail

/// `api` must outlive the program's Tensors.
inline void set_device_api(DeviceType t, const DeviceApi* api) { detail::device_api_slot(t).store(api, std::memory_order_release); }
/// Null: the elements are in host memory.
inline const DeviceApi* device_api(DeviceType t) {
  return t == DeviceType::cpu ? nullptr : detail::device_api_slot(t).load(std::memory_order_acquire);
}
/// May the CPU read the elements of a Tensor on it?
inline bool is_host(Device d) { return d.type == DeviceType::cpu || (!device_api(d.type) && d.type != DeviceType::meta); }

}  // namespace tt
