// AddressTable: a hash table from addresses of objects to ints, for the lists of one call: found in constant time, cleared and used again.
//   AddressTable t;   t.place(&impl) = 7;   t.find(&impl)  is 7, of another one -1
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tt::jit {

class AddressTable {
 public:
  void clear() {
    if (entries_.size() > 8 * count_ + 64) entries_ = std::vector<Entry>(64);  // a call with many Tensors makes later ones no slower
    else if (count_ > 0) std::fill(entries_.begin(), entries_.end(), Entry{});
    count_ = 0;
  }
  /// -1: not in the table.
  int find(const void* p) const {
    const auto& [known, number] = entries_[slot(p)];
    return known ? number : -1;
  }
  /// The number of an object, to be read or set; of a new one -1.
  int& place(const void* p) {
    if (Entry& entry = entries_[slot(p)]; entry.first) return entry.second;
    if (2 * ++count_ > entries_.size()) {
      std::vector<Entry> before(2 * entries_.size());
      before.swap(entries_);
      for (const auto& [known, number] : before)
        if (known) entries_[slot(known)] = {known, number};
    }
    Entry& fresh = entries_[slot(p)];
    fresh = {p, -1};
    return fresh.second;
  }

 private:
  using Entry = std::pair<const void*, int>;
  std::vector<Entry> entries_ = std::vector<Entry>(64);  ///< a power of two, half full at most
  std::size_t count_ = 0;

  std::size_t slot(const void* p) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(p) * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (entries_[at].first && entries_[at].first != p) at = (at + 1) & mask;
    return at;
  }
};

}  // namespace tt::jit
