// BitSet: a set of small whole numbers (inputs of a function, results of a node) of any size; the first 64 need no
// allocation. Works in constant expressions.
//   BitSet wanted{0, 2};   wanted.set(3);   wanted.test(3)  is true;   for (int k : wanted) ...
#pragma once
#include <cstdint>

#include "tt/core/vec.hpp"

namespace tt {

class BitSet {
 public:
  constexpr BitSet() = default;
  constexpr BitSet(std::initializer_list<int> members) {
    for (int k : members) set(k);
  }
  /// {0, 1, ..., count - 1}
  static constexpr BitSet first(int count) {
    BitSet s;
    for (int k = 0; k < count; ++k) s.set(k);
    return s;
  }
  constexpr bool test(int k) const {
    if (k < 64) return first_ >> k & 1;
    return k / 64 - 1 < more_.size() && (more_[k / 64 - 1] >> k % 64 & 1);
  }
  constexpr void set(int k) { word(k / 64) |= std::uint64_t{1} << k % 64; }
  constexpr bool empty() const { return first_ == 0 && more_.empty(); }
  constexpr int count() const {
    int n = 0;
    for (int w = 0; w < words(); ++w) n += __builtin_popcountll(bits(w));
    return n;
  }
  constexpr BitSet& operator|=(const BitSet& o) {
    for (int w = o.words() - 1; w >= 0; --w)
      if (o.bits(w)) word(w) |= o.bits(w);
    return *this;
  }
  constexpr bool meets(const BitSet& o) const {
    for (int w = 0; w < words() && w < o.words(); ++w)
      if (bits(w) & o.bits(w)) return true;
    return false;
  }
  friend constexpr bool operator==(const BitSet&, const BitSet&) = default;

  /// The words of 64 members each, in order: for comparing and hashing.
  constexpr int words() const { return 1 + more_.size(); }
  constexpr std::uint64_t bits(int w) const { return w == 0 ? first_ : more_[w - 1]; }

  class Iterator {
   public:
    constexpr Iterator(const BitSet& s, int at) : set_(s), at_(at) { settle(); }
    constexpr int operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      settle();
      return *this;
    }
    friend constexpr bool operator!=(const Iterator& a, const Iterator& b) { return a.at_ != b.at_; }

   private:
    const BitSet& set_;
    int at_;
    constexpr void settle() {
      const int end = 64 * set_.words();
      while (at_ < end) {
        const std::uint64_t rest = set_.bits(at_ / 64) >> at_ % 64;
        if (rest) {
          at_ += __builtin_ctzll(rest);
          return;
        }
        at_ = (at_ / 64 + 1) * 64;
      }
      at_ = end;
    }
  };
  constexpr Iterator begin() const { return {*this, 0}; }
  constexpr Iterator end() const { return {*this, 64 * words()}; }

 private:
  std::uint64_t first_ = 0;
  Vec<std::uint64_t> more_;  // never ends with 0

  constexpr std::uint64_t& word(int w) {
    if (w == 0) return first_;
    while (more_.size() < w) more_.push_back(0);
    return more_[w - 1];
  }
};
static_assert([] {
  BitSet s;
  s.set(200);
  s.set(3);
  int sum = 0;
  for (int k : s) sum += k;
  return sum == 203 && s.count() == 2 && s.test(200) && !s.test(201) && s != BitSet::first(4);
}());

}  // namespace tt
