// DeviceApi: the functions that a device with memory of its own gives the library. Tensors of a DeviceType without a
// DeviceApi (the CPU, a backend under test) have their elements in host memory.
//   const Device npu = register_device("npu", &my_api);   Tensor y = x.to(npu);   x.to("npu:1");
#pragma once
#include <atomic>
#include <cstring>
#include <string_view>

#include "tt/core/allocator.hpp"
#include "tt/core/error.hpp"
#include "tt/core/keys.hpp"
#include "tt/core/kept_text.hpp"

namespace tt {

struct DeviceApi {
  int (*count)() = nullptr;
  /// Throws Error when there is no memory. Freed with the same number of bytes.
  void* (*allocate)(int index, std::size_t bytes) = nullptr;
  void (*free)(int index, void* p, std::size_t bytes) noexcept = nullptr;
  /// Between the host and a device, either way, or between devices: in the order of the device's work. Unless
  /// non_blocking, data for the host has arrived, and data of the host has been read, when this returns.
  void (*copy)(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes, bool non_blocking) = nullptr;
  void (*synchronize)(int index) = nullptr;
  /// The stream of this thread's work, for other libraries that are called beside; null: the default one.
  void* (*stream)(int index) = nullptr;
  MemoryStats (*stats)(int index) = nullptr;
  void (*empty_cache)(int index) = nullptr;
};

namespace detail {
inline std::atomic<const DeviceApi*>& device_api_slot(DeviceType t) {
  static std::atomic<const DeviceApi*> slots[most_devices];
  return slots[static_cast<int>(t)];
}
}  // namespace detail

/// `api` must outlive the program's Tensors.
inline void set_device_api(DeviceType t, const DeviceApi* api) { detail::device_api_slot(t).store(api, std::memory_order_release); }
/// Null: elements of this device type are in host memory.
inline const DeviceApi* device_api(DeviceType t) {
  return t == DeviceType::cpu ? nullptr : detail::device_api_slot(t).load(std::memory_order_acquire);
}
/// May the CPU read the elements of a Tensor on this device?
inline bool is_host(Device d) { return d.type == DeviceType::cpu || (!device_api(d.type) && d.type != DeviceType::meta); }


namespace detail {
/// The device with this name, "npu" or "npu:1".
inline bool find_device(std::string_view text, Device& found) {
  const std::string_view type = text.substr(0, text.find(':'));
  int k = 0;
  while (k < most_devices && (type != name(static_cast<DeviceType>(k)) || (k >= named_devices && !registered_device_names[k - named_devices]))) ++k;
  if (k == most_devices) return false;
  found = Device(static_cast<DeviceType>(k));
  if (type.size() == text.size()) return true;
  const std::string_view number = text.substr(type.size() + 1);
  for (const char c : number) {
    if (c < '0' || c > '9') return false;
    found.index = 10 * found.index + (c - '0');
  }
  return !number.empty() && number.size() < 4;
}
inline BusyFlag registering_device;
TT_INLINE Device registered_device(const char* name, const DeviceApi* api);
[[noreturn]] TT_INLINE void refuse_device(const char* name);
}  // namespace detail

inline Device::Device(const char* name) {
  if (!name || !detail::find_device(name, *this)) detail::refuse_device(name ? name : "");
}

/// Registers a new kind of device. `name` is used by Device("npu"), in errors and when printing; the device has a
/// dispatch key of its own (backend_key). Its elements are in the memory of `api`, which must outlive the program's
/// Tensors; null: in host memory. Throws Error when the name is taken or invalid, or when all keys are taken.
inline Device register_device(const char* name, const DeviceApi* api = nullptr) { return detail::registered_device(name, api); }

#if TT_DEFINES(core)
TT_INLINE Device detail::registered_device(const char* name, const DeviceApi* api) {
  const FlagLock lock(registering_device);
  if (api && !(api->count && api->allocate && api->free && api->copy && api->synchronize))
    TT_THROW(Error(Text("tt::register_device: the DeviceApi of '") << (name ? name : "") << "' lacks one of count, allocate, free, copy and synchronize."));
  bool fits = name && *name != '\0';
  for (const char* c = name; fits && *c; ++c) fits = fits && ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_');
  if (!fits) TT_THROW(Error(Text("tt::register_device: '") << (name ? name : "null") << "' is no name for a device. Use a-z, 0-9 and _?"));
  if (Device known; find_device(name, known)) TT_THROW(Error(Text("tt::register_device: there is a device '") << name << "' already."));
  int k = 0;
  while (k < most_devices - named_devices && registered_device_names[k]) ++k;
  if (k == most_devices - named_devices) TT_THROW(Error(Text("tt::register_device: no room for '") << name << "': there are " << k << " others."));
  const Device device(static_cast<DeviceType>(named_devices + k));
  set_device_api(device.type, api);
  __atomic_store_n(&registered_device_names[k], keep_text(name, std::strlen(name)), __ATOMIC_RELEASE);
  return device;
}
TT_INLINE void detail::refuse_device(const char* name) {
  Text t = Text("tt::Device: there is no device '") << name << "'; there are";
  for (int k = 0; k < most_devices && (k < named_devices || registered_device_names[k - named_devices]); ++k) t << ' ' << tt::name(static_cast<DeviceType>(k));
  TT_THROW(Error(t << ". Register it first?"));
}
#endif

}  // namespace tt
