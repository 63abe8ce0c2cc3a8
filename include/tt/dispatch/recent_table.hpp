// RecentTable: a hash table of at most `Most` entries. Reading takes no lock. When it is full, least recently used entries are removed; but if even these were
// used recently, more entries are in use than fit, and insert refuses the new one. Removed entries stay alive until all threads that may have found them have
// stopped reading.
//   RecentTable<Capture, 128> table;
//   const auto reading = table.read();                       // keep while an entry is used
//   Capture* c = table.find(hash, [&](const Capture& c) { return c.fits(call); });
//   if (!c) c = table.insert(hash, std::move(fresh));        // by one thread at a time
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>

#include "tt/core/flag_lock.hpp"

namespace tt {

template <class Entry, int Most>
class RecentTable {
  static_assert((Most & (Most - 1)) == 0, "a power of two");

 public:
  static constexpr int most = Most;

  RecentTable() = default;
  RecentTable(const RecentTable&) = delete;
  ~RecentTable() {
    while (Node* n = newest_.load()) {
      newest_.store(n->older.load());
      delete n;
    }
    free_list(removed_);
    free_list(waiting_);
  }

  class Reading {
   public:
    Reading() = default;  ///< of no table
    explicit Reading(RecentTable& t) : table_(&t), epoch_(t.enter()) {}
    Reading(Reading&& o) noexcept : table_(std::exchange(o.table_, nullptr)), epoch_(o.epoch_) {}
    Reading& operator=(Reading&& o) noexcept {
      std::swap(table_, o.table_);
      std::swap(epoch_, o.epoch_);
      return *this;
    }
    ~Reading() {
      if (table_ && table_->readers_[epoch_].fetch_sub(1) == 1 && table_->any_removed_.load()) table_->free_removed();
    }

   private:
    RecentTable* table_ = nullptr;
    int epoch_ = 0;
  };
  [[nodiscard]] Reading read() { return Reading(*this); }

  /// Call while reading.
  template <class Fits>
  Entry* find(std::uint64_t hash, const Fits& fits) {
    return find_first({hash}, fits);
  }
  /// The entry of the first of these hashes that is found.
  template <class Fits>
  Entry* find_first(std::initializer_list<std::uint64_t> hashes, const Fits& fits) {
    const std::int64_t now = finds_.load(std::memory_order_relaxed);
    // Not atomic: a lost count of two threads does no harm, and a locked add takes 5 ns; but a delayed thread must not set the count back.
    if (finds_.load(std::memory_order_relaxed) <= now) finds_.store(now + 1, std::memory_order_relaxed);
    for (const std::uint64_t hash : hashes)
      if (Entry* e = find_again(hash, fits)) return e;
    return nullptr;
  }
  /// A further lookup in the same search, by another hash: the search is counted once.
  template <class Fits>
  Entry* find_again(std::uint64_t hash, const Fits& fits) {
    for (Node* n = bucket_[hash % Most].load(std::memory_order_acquire); n; n = n->next.load(std::memory_order_acquire))
      if (n->hash == hash && fits(*n->entry)) {
        n->used.store(finds_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        return n->entry.get();
      }
    return nullptr;
  }
  /// The newest entry that fits, whatever its hash. Call while reading.
  template <class Fits>
  Entry* find_any(const Fits& fits) {
    for (Node* n = newest_.load(std::memory_order_acquire); n; n = n->older.load(std::memory_order_acquire))
      if (fits(*n->entry)) {
        n->used.store(finds_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        return n->entry.get();
      }
    return nullptr;
  }
  /// Would a new entry be accepted?
  bool has_room() const {
    if (size() < Most) return true;
    const std::int64_t now = finds_.load(std::memory_order_relaxed);
    if (now <= full_until_.load(std::memory_order_relaxed)) return false;
    const std::int64_t until = oldest_use() + long_ago;
    full_until_.store(until, std::memory_order_relaxed);
    return now > until;
  }
  /// Call while reading, by one thread at a time. Null if refused; never with `always`.
  Entry* insert(std::uint64_t hash, std::unique_ptr<Entry> entry, bool always = false) {
    Entry* const taken = take(hash, static_cast<std::unique_ptr<Entry>&&>(entry), always);
    if (any_removed_.load()) free_removed();
    return taken;
  }
  /// Calls f on every entry, the newest first, until f returns true. Call while reading.
  template <class F>
  void each(const F& f) const {
    for (const Node* n = newest_.load(std::memory_order_acquire); n; n = n->older.load(std::memory_order_acquire))
      if (f(*n->entry)) return;
  }
  int size() const { return size_.load(std::memory_order_relaxed); }
  /// Numbers of entries that were removed for others, and of entries refused.
  std::int64_t evicted() const { return evicted_.load(std::memory_order_relaxed); }
  std::int64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  struct Node {
    std::unique_ptr<Entry> entry;
    std::uint64_t hash = 0;
    std::atomic<std::int64_t> used = 0;        ///< number of the last search that found it
    std::atomic<Node*> next = nullptr;         ///< in its bucket
    std::atomic<Node*> older = nullptr;
    Node* next_removed = nullptr;
    bool goes = false;                         ///< is about to be removed
  };
  static constexpr std::int64_t long_ago = 4 * Most;  ///< in searches: entries not used for longer may be removed
  // Readers are counted in the epoch in which they began. Removed entries are freed when a new epoch has begun, whose readers cannot find them, and all readers
  // of the old epoch have left: so memory is freed even if there are always readers.
  std::atomic<int> readers_[2] = {};
  std::atomic<int> epoch_ = 0;
  std::atomic<int> size_ = 0;
  std::atomic<std::int64_t> finds_ = 0, evicted_ = 0, refused_ = 0;
  mutable std::atomic<std::int64_t> full_until_ = 0;  ///< until this search no entry is old enough to be removed
  std::atomic<bool> any_removed_ = false;
  detail::BusyFlag busy_;
  std::atomic<Node*> newest_ = nullptr;
  Node* removed_ = nullptr;  ///< in this epoch
  Node* waiting_ = nullptr;  ///< in the previous epoch
  std::atomic<Node*> bucket_[Most] = {};

  std::int64_t oldest_use() const {
    std::int64_t oldest = INT64_MAX;
    for (const Node* n = newest_.load(); n; n = n->older.load())
      if (const std::int64_t used = n->used.load(std::memory_order_relaxed); used < oldest) oldest = used;
    return oldest;
  }
  int enter() {
    for (;;) {
      const int now = epoch_.load();
      readers_[now].fetch_add(1);
      if (epoch_.load() == now) return now;
      readers_[now].fetch_sub(1);  // a new epoch began meanwhile: free_removed may have seen no reader of this one
    }
  }
  Entry* take(std::uint64_t hash, std::unique_ptr<Entry> entry, bool always) {
    const detail::FlagLock lock(busy_);
    if (!always && !has_room()) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    if (size() == Most) remove_oldest();
    Node* n = new Node;
    n->entry = static_cast<std::unique_ptr<Entry>&&>(entry);
    n->hash = hash;
    n->used.store(finds_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    n->next.store(bucket_[hash % Most].load());
    n->older.store(newest_.load());
    bucket_[hash % Most].store(n, std::memory_order_release);
    newest_.store(n, std::memory_order_release);
    size_.fetch_add(1, std::memory_order_relaxed);
    return n->entry.get();
  }
  /// Removes the least recently used entry, and others not used for `long_ago`, up to an eighth of all: finding the oldest reads all entries anyway.
  void remove_oldest() {
    struct Old {
      std::int64_t used;
      Node* node;
    };
    const std::unique_ptr<Old[]> list(new Old[Most]);
    Old* const all = list.get();
    int n = 0;
    for (Node* x = newest_.load(); x; x = x->older.load()) all[n++] = {x->used.load(std::memory_order_relaxed), x};
    std::reverse(all, all + n);  // of entries last used by the same search, the longest stored
    const auto earlier = [](const Old& x, const Old& y) { return x.used < y.used; };
    const int few = Most / 8 > 1 ? Most / 8 : 1;
    std::swap(all[0], *std::min_element(all, all + n, earlier));
    if (few > 1) std::nth_element(all + 1, all + few - 1, all + n, earlier);
    const std::int64_t old = finds_.load(std::memory_order_relaxed) - long_ago;
    for (int k = 0; k < few; ++k) all[k].node->goes = k == 0 || all[k].used < old;
    std::atomic<Node*>* link = &newest_;
    while (Node* const gone = link->load()) {
      if (!gone->goes) {
        link = &gone->older;
        continue;
      }
      link->store(gone->older.load());
      std::atomic<Node*>* at = &bucket_[gone->hash % Most];
      while (at->load() != gone) at = &at->load()->next;
      at->store(gone->next.load());
      gone->next_removed = removed_;  // its other links stay: a reader may be at this node
      removed_ = gone;
      size_.fetch_sub(1, std::memory_order_relaxed);
      evicted_.fetch_add(1, std::memory_order_relaxed);
    }
    any_removed_.store(true);
  }
  /// Starts a new epoch, in which the removed entries wait to be freed, unless others wait already.
  void advance() {
    if (waiting_ || !removed_) return;
    std::swap(waiting_, removed_);
    epoch_.store(1 - epoch_.load());
  }
  void free_removed() {
    Node* gone = nullptr;
    {
      const detail::FlagLock lock(busy_);
      for (advance(); waiting_ && readers_[1 - epoch_.load()].load() == 0; advance()) {  // else the last reader of that epoch frees them
        Node* last = waiting_;
        while (last->next_removed) last = last->next_removed;
        last->next_removed = gone;
        gone = std::exchange(waiting_, nullptr);
      }
      any_removed_.store(waiting_ != nullptr);
    }
    free_list(gone);
  }
  static void free_list(Node* n) {
    while (n) {
      Node* const next = n->next_removed;
      delete n;
      n = next;
    }
  }
};

}  // namespace tt
