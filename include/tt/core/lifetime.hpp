// Detects with TT_DEBUG that an operand of a stored expression was destroyed: an Array holds a Lifetime, and the
// expression a Witness of it, which is asked before the Array is read.
//   Lifetime a;  Witness w(a);  w.ended()   // false until `a` is destroyed
// Both share a record on the heap, made when the first expression refers to the Array; so no destroyed object is read,
// and a new object at the same address is told apart. Without TT_DEBUG both are empty.
#pragma once
#include <type_traits>

#include "tt/config.hpp"

namespace tt::detail {

TT_DEBUG_BEGIN
#if TT_DEBUG

struct LifeRecord {
  int holders;  // one Lifetime and any number of Witnesses
  bool ended;
};
inline void let_go(LifeRecord* r) {
  if (__atomic_sub_fetch(&r->holders, 1, __ATOMIC_ACQ_REL) == 0) delete r;
}

/// Belongs to one object: neither copied nor moved with it.
class Lifetime {
 public:
  constexpr Lifetime() = default;
  constexpr Lifetime(const Lifetime&) noexcept {}
  constexpr Lifetime& operator=(const Lifetime&) noexcept { return *this; }
  constexpr ~Lifetime() {
    if (!record_) return;
    __atomic_store_n(&record_->ended, true, __ATOMIC_RELEASE);
    let_go(record_);
  }
  /// The record, with one holder more. Several threads may ask at a time.
  LifeRecord* share() const {
    LifeRecord* r = __atomic_load_n(&record_, __ATOMIC_ACQUIRE);
    if (!r) {
      LifeRecord* made = new LifeRecord{1, false};
      if (__atomic_compare_exchange_n(&record_, &r, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        r = made;
      else delete made;
    }
    __atomic_add_fetch(&r->holders, 1, __ATOMIC_ACQ_REL);
    return r;
  }

 private:
  mutable LifeRecord* record_ = nullptr;
};

/// Records nothing in constant expressions, where the compiler checks lifetimes.
class Witness {
 public:
  explicit constexpr Witness(const Lifetime& l) {
    if (!std::is_constant_evaluated()) record_ = l.share();
  }
  constexpr Witness(const Witness& o) : record_(o.record_) {
    if (record_) __atomic_add_fetch(&record_->holders, 1, __ATOMIC_ACQ_REL);
  }
  Witness& operator=(const Witness&) = delete;
  constexpr ~Witness() {
    if (record_) let_go(record_);
  }
  bool ended() const { return record_ && __atomic_load_n(&record_->ended, __ATOMIC_ACQUIRE); }

 private:
  LifeRecord* record_ = nullptr;
};

#else

struct Lifetime {};
struct Witness {
  explicit constexpr Witness(const Lifetime&) {}
  static constexpr bool ended() { return false; }
};

#endif
TT_DEBUG_END

}  // namespace tt::detail
