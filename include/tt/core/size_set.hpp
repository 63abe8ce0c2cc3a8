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
