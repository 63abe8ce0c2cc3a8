// The one door to the backends: what the front ends may use.
//   backend::run_static<H>(...)      runs the plan that H holds
#pragma once
#include "tt/backends/cpu/static_executor.hpp"

namespace tt::backend {

inline namespace TT_ISA {
inline constexpr const char* isa_name = TT_ISA_NAME;
inline constexpr int lanes = cpu::lanes;
}  // namespace TT_ISA
using cpu::run_static;

}  // namespace tt::backend
