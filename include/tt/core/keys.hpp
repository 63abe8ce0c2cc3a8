// Dispatch keys decide which kernel an op runs. A Tensor carries a set of keys, a thread may add some and take some
// away; the highest key is asked first.
#pragma once
#include <bit>
#include <cstdint>

#include "tt/core/text.hpp"

namespace tt {

/// From the lowest priority to the highest: backends, then the layers around them. The keys between private_use3 and
/// autograd are those of devices that a program registers by name (register_device in core/device_api.hpp).
enum class DispatchKey : std::uint8_t {
  cpu, cuda, meta, private_use1, private_use2, private_use3,
  autograd = 59, forward, trace, vmap, autocast,
  count
};
inline constexpr int dispatch_key_count = static_cast<int>(DispatchKey::count);
static_assert(dispatch_key_count == 64, "a KeySet is a word");
/// Number of devices that the library has names for, and of all possible devices.
inline constexpr int named_devices = static_cast<int>(DispatchKey::private_use3) + 1;
inline constexpr int most_devices = static_cast<int>(DispatchKey::autograd);

namespace detail {
/// Names of registered devices, whose numbers follow the named ones; null: not taken yet. Read and written atomically.
inline const char* registered_device_names[most_devices - named_devices] = {};
inline const char* registered_device_name(int device) {
  const char* known = __atomic_load_n(&registered_device_names[device - named_devices], __ATOMIC_ACQUIRE);
  return known ? known : "unknown";
}
}  // namespace detail

constexpr const char* name(DispatchKey k) {
  constexpr const char* backends[] = {"CPU", "CUDA", "Meta", "PrivateUse1", "PrivateUse2", "PrivateUse3"};
  constexpr const char* others[] = {"Autograd", "Forward", "Trace", "Vmap", "Autocast"};
  const int i = static_cast<int>(k);
  return i < named_devices ? backends[i] : i < most_devices ? detail::registered_device_name(i) : others[i - most_devices];
}

/// A set of dispatch keys.
class KeySet {
 public:
  constexpr KeySet() = default;
  constexpr KeySet(DispatchKey k) : bits_(std::uint64_t{1} << static_cast<int>(k)) {}
  constexpr KeySet operator|(KeySet o) const { return KeySet(bits_ | o.bits_); }
  constexpr KeySet operator&(KeySet o) const { return KeySet(bits_ & o.bits_); }
  constexpr KeySet without(KeySet o) const { return KeySet(bits_ & ~o.bits_); }
  /// The keys of lower priority than `k`.
  constexpr KeySet below(DispatchKey k) const { return KeySet(bits_ & ((std::uint64_t{1} << static_cast<int>(k)) - 1)); }
  constexpr bool contains(DispatchKey k) const { return bits_ >> static_cast<int>(k) & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DispatchKey highest() const {
    return static_cast<DispatchKey>(63 - std::countl_zero(bits_));
  }
  static constexpr KeySet all() { return KeySet(~std::uint64_t{0}); }
  friend constexpr bool operator==(KeySet, KeySet) = default;

 private:
  explicit constexpr KeySet(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_ = 0;
};
static_assert((KeySet(DispatchKey::cpu) | DispatchKey::meta).highest() == DispatchKey::meta);

inline constexpr KeySet backend_keys = KeySet::all().below(DispatchKey::autograd);

/// Where a Tensor's elements are; values beyond the last name are registered devices.
enum class DeviceType : std::uint8_t { cpu, cuda, meta, private_use1, private_use2, private_use3 };
struct Device {
  DeviceType type = DeviceType::cpu;
  int index = 0;
  constexpr Device() = default;
  constexpr Device(DeviceType t, int i = 0) : type(t), index(i) {}
  /// "cuda", "cuda:1", or a name that was registered; throws Error if there is none. Defined in core/device_api.hpp.
  Device(const char* name);
  friend constexpr bool operator==(Device, Device) = default;
};
constexpr const char* name(DeviceType d) {
  constexpr const char* names[] = {"cpu", "cuda", "meta", "private_use1", "private_use2", "private_use3"};
  const int i = static_cast<int>(d);
  return i < named_devices ? names[i] : detail::registered_device_name(i);
}
/// As PyTorch writes it: "cpu", "cuda:0".
constexpr Text to_text(Device d) {
  Text t(name(d.type));
  if (d.type != DeviceType::cpu && d.type != DeviceType::meta) t << ':' << d.index;
  return t;
}
constexpr DispatchKey backend_key(DeviceType d) { return static_cast<DispatchKey>(d); }
constexpr DispatchKey backend_key(Device d) { return backend_key(d.type); }

}  // namespace tt
