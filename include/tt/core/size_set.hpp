// SizeSet: a set of size symbols, such as those whose sizes are specialised, or those that a program reads.
//   SizeSet s;   s |= symbols_of(extent);   s.test(3)
#pragma once
#include "tt/core/bit_set.hpp"
#include "tt/core/shape.hpp"

namespace tt {

struct SizeSet {
  BitSet some;
  bool all = false;  ///< every symbol, however many there are

  static constexpr SizeSet everything() { return {{}, true}; }
  constexpr bool test(int k) const { return all || some.test(k); }
  constexpr bool empty() const { return !all && some.empty(); }
  constexpr SizeSet& operator|=(const SizeSet& o) {
    some |= o.some;
    all = all || o.all;
    return *this;
  }
  /// Is this a subset of `o`?
  constexpr bool within(const SizeSet& o) const {
    if (o.all) return true;
    SizeSet both = o;
    both |= *this;
    return both == o;
  }
  friend constexpr bool operator==(const SizeSet& a, const SizeSet& b) { return a.all == b.all && (a.all || a.some == b.some); }
};
/// Facts about symbols before a graph is recorded: the sizes that are specialised (in the base), and the sizes that are
/// a multiple of a number, so that their symbol is the quotient.
struct SizeFacts : SizeSet {
  Vec<std::int64_t> multiples;  ///< size k is multiples[k] times symbol k; 1 where the list ends

  constexpr SizeFacts() = default;
  constexpr SizeFacts(const SizeSet& numbers) : SizeSet(numbers) {}
  constexpr std::int64_t multiple(int k) const { return k < multiples.size() ? multiples[k] : 1; }
  /// The value of symbol k if its size is n; 0: no symbol stands for that size.
  constexpr std::int64_t symbol_value(int k, std::int64_t n) const {
    const std::int64_t times = multiple(k);
    return test(k) || n % times != 0 || n <= times ? 0 : n / times;
  }
  constexpr bool empty() const { return SizeSet::empty() && multiples.empty(); }
  constexpr void set_multiple(int k, std::int64_t m) {
    while (multiples.size() <= k) multiples.push_back(1);
    multiples[k] = m;
  }
  friend constexpr bool operator==(const SizeFacts& a, const SizeFacts& b) { return static_cast<const SizeSet&>(a) == static_cast<const SizeSet&>(b) && a.multiples == b.multiples; }
};
/// The symbols in an extent.
constexpr SizeSet symbols_of(Extent e) {
  SizeSet s;
  if (!e.is_packed()) {
    detail::size_symbols(e, s.some);
  } else {
    for (int i = 0; i < max_symbols; ++i)
      if (e.exponent(i) > 0) s.some.set(i);
  }
  return s;
}

}  // namespace tt
