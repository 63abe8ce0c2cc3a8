// Dispatch keys: what decides which kernel an op runs. A Tensor carries a set of keys, the thread
// may add and take away some; the highest key is asked first.
#pragma once
#include <bit>
#include <cstdint>

#include "tt/core/text.hpp"

namespace tt {

/// From the lowest priority to the highest: backends, then what wraps around them.
enum class DispatchKey : std::uint8_t {
  cpu, cuda, meta, private_use1, private_use2, private_use3,
  autograd, trace, vmap, autocast,
  count
};
inline constexpr int dispatch_key_count = static_cast<int>(DispatchKey::count);

constexpr const char* name(DispatchKey k) {
  constexpr const char* names[] = {"CPU", "CUDA", "Meta", "PrivateUse1", "PrivateUse2",
                                   "PrivateUse3", "Autograd", "Trace", "Vmap", "Autocast"};
  return names[static_cast<int>(k)];
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
  friend constexpr bool operator==(KeySet, KeySet) = default;

 private:
  explicit constexpr KeySet(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_ = 0;
};
static_assert((KeySet(DispatchKey::cpu) | DispatchKey::meta).highest() == DispatchKey::meta);

inline constexpr KeySet backend_keys = KeySet(DispatchKey::cpu) | DispatchKey::cuda | DispatchKey::meta |
                                       DispatchKey::private_use1 | DispatchKey::private_use2 |
                                       DispatchKey::private_use3;

/// Where a Tensor's elements are.
enum class DeviceType : std::uint8_t { cpu, cuda, meta, private_use1, private_use2, private_use3 };
struct Device {
  DeviceType type = DeviceType::cpu;
  int index = 0;
  friend constexpr bool operator==(Device, Device) = default;
};
constexpr const char* name(DeviceType d) {
  constexpr const char* names[] = {"cpu", "cuda", "meta", "private_use1", "private_use2", "private_use3"};
  return names[static_cast<int>(d)];
}
/// As PyTorch writes it: "cpu", "cuda:0".
constexpr Text to_text(Device d) {
  Text t(name(d.type));
  if (d.type != DeviceType::cpu && d.type != DeviceType::meta) t << ':' << d.index;
  return t;
}
constexpr DispatchKey backend_key(DeviceType d) { return static_cast<DispatchKey>(d); }

}  // namespace tt
