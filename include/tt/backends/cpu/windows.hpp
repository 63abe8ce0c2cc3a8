// Where a plan's windows begin (see Kernel::windows), for the products of gemm.hpp.
#pragma once
#include "tt/backends/cpu/gemm.hpp"
#include "tt/graph/plan.hpp"

namespace tt::cpu {
inline namespace TT_ISA {

inline Windows windows_of(const Access& a, const SymbolValues& symbols) {
  static_assert(WindowAxes::capacity == max_terms);
  Windows w;
  for (int k = 0; k < a.term_count + a.column_terms; ++k) {
    WindowAxes& to = k < a.term_count ? w.rows : w.columns;
    to.extent[to.count] = a.term[k].modulus.value(symbols);
    to.stride[to.count++] = a.term[k].stride.value(symbols);
  }
  return w;
}

}  // namespace TT_ISA
}  // namespace tt::cpu
