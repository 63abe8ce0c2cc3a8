// SizeSet: symbols of which something is said: that their sizes are numbers, that a program looks at them.
//   SizeSet s;   s |= symbols_of(extent);   s.test(3)
#pragma once
#include "tt/core/bit_set.hpp"
#include "tt/core/shape.hpp"

namespace tt {

struct SizeSet {
  BitSet some;
  bool all = false;  ///< all that there are, however many

  static constexpr SizeSet everything() { return {{}, true}; }
  constexpr bool test(int k) const { return all || some.test(k); }
  constexpr bool empty() const { return !all && some.empty(); }
  constexpr SizeSet& operator|=(const SizeSet& o) {
    some |= o.some;
    all = all || o.all;
    return *this;
  }
  /// Is nothing in this that is not in `o`?
  constexpr bool within(const SizeSet& o) const {
    if (o.all) return true;
    SizeSet both = o;
    both |= *this;
    return both == o;
  }
  friend constexpr bool operator==(const SizeSet& a, const SizeSet& b) { return a.all == b.all && (a.all || a.some == b.some); }
};
/// What is known of symbols before a graph is recorded: which sizes are numbers, and which are a multiple of a number, so that the symbol is the rest.
struct SizeFacts : SizeSet {
  Vec<std::int64_t> multiples;  ///< of symbol k: its size is so many times the symbol; those that are not listed: 1

  constexpr SizeFacts() = default;
  constexpr SizeFacts(const SizeSet& numbers) : SizeSet(numbers) {}
  constexpr std::int64_t multiple(int k) const { return k < multiples.size() ? multiples[k] : 1; }
  /// The value of symbol k where a size is n; 0: no symbol stands for it.
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
/// The symbols that an extent is made of.
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
