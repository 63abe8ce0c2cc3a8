// Operators and functions by name. Lookups take no lock, and other threads may add entries at the same time; entries are never removed.
//   NameTable<Entry> table;   table.add(new Entry{"relu"});   for (const Entry* e = table.first("relu"); e; e = table.next(*e)) ...
#pragma once
#include <atomic>
#include <string_view>

namespace tt::detail {

/// Entry has a `const char* name`, which must stay valid, and an `Entry* behind`, used by the table.
template <class Entry>
class NameTable {
 public:
  void add(Entry* fresh) {
    std::atomic<Entry*>& list = list_of(fresh->name);
    fresh->behind = list.load(std::memory_order_relaxed);
    while (!list.compare_exchange_weak(fresh->behind, fresh, std::memory_order_release, std::memory_order_relaxed)) {}
  }
  /// The newest entry of a name, and the next older one of the same name; or null.
  Entry* first(std::string_view name) const { return of_name(list_of(name).load(std::memory_order_acquire), name); }
  Entry* next(const Entry& e) const { return of_name(e.behind, e.name); }
  template <class F>
  void each(const F& f) const {
    for (const std::atomic<Entry*>& list : lists_)
      for (Entry* e = list.load(std::memory_order_acquire); e; e = e->behind) f(*e);
  }

 private:
  static constexpr unsigned lists = 512;  ///< about the number of names
  mutable std::atomic<Entry*> lists_[lists] = {};

  std::atomic<Entry*>& list_of(std::string_view name) const {
    unsigned h = 2166136261u;  // FNV-1a
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
    return lists_[(h ^ h >> 16) % lists];
  }
  static Entry* of_name(Entry* e, std::string_view name) {
    while (e && e->name != name) e = e->behind;
    return e;
  }
};

}  // namespace tt::detail
