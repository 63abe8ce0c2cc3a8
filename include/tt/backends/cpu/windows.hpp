// The offsets of a plan's windows (see Kernel::windows), for the products of gemm.hpp.
#pragma once
#include "tt/plan/plan.hpp"

namespace tt::cpu {

/// The offsets of the rows or the columns of windows, as axes to count through, innermost first.
struct WindowAxes {
  static constexpr int capacity = max_window_axes;
  int count = 0;
  std::int64_t extent[capacity] = {}, stride[capacity] = {};
};
struct Windows {
  WindowAxes rows, columns;
};

inline Windows windows_of(const Access& a, const Term* terms, const SymbolValues& symbols) {
  Windows w;
  for (int k = 0; k < a.terms(); ++k) {
    WindowAxes& to = k < a.term_count ? w.rows : w.columns;
    to.extent[to.count] = a.term(terms, k).modulus.value(symbols);
    to.stride[to.count++] = a.term(terms, k).stride.value(symbols);
  }
  return w;
}

}  // namespace tt::cpu
