// SizeGuard: an assumption about sizes made while capturing, checked at each call.
//   SizeGuard g{Extent::symbol(0) * 2, 5};   g.normalize();   g.extent  is s0, g.least  is 3
#pragma once
#include "tt/core/error.hpp"

namespace tt {

/// Assumes that an expression of sizes is in an interval.
struct SizeGuard {
  Extent extent;
  std::int64_t least = INT64_MIN, most = INT64_MAX;
  SourceLine at{};

  bool holds(const SymbolValues& symbols) const {
    const std::int64_t v = extent.value(symbols);
    return v >= least && v <= most;
  }
  /// Canonical form: no constant term, a positive leading coefficient, no common factor; so guards of the same expression have equal extents.
  TT_INLINE void normalize();
  bool says_nothing() const { return most == INT64_MAX && extent.least() >= least; }
};

#if TT_DEFINES(core)
TT_INLINE void SizeGuard::normalize() {
  detail::SizeSum s(extent);
  const std::int64_t c = s.constant();
  s.add({c, {}}, -1);
  std::int64_t by = 0;
  for (const detail::SizeTerm& t : s.terms) by = detail::common_divisor(by, t.coefficient);
  if (s.terms[0].coefficient < 0) by = -by;
  for (detail::SizeTerm& t : s.terms) t.coefficient /= by;
  extent = s.extent();
  std::int64_t low = least == INT64_MIN ? least : least - c, high = most == INT64_MAX ? most : most - c;
  if (by < 0) {
    const std::int64_t below = low;
    low = high == INT64_MAX ? INT64_MIN : -high;
    high = below == INT64_MIN ? INT64_MAX : -below;
    by = -by;
  }
  if (low != INT64_MIN) low = -detail::floor_of(-low, by);
  if (high != INT64_MAX) high = detail::floor_of(high, by);
  least = extent.least() > low ? extent.least() : low;
  most = high;
}
#endif

}  // namespace tt
