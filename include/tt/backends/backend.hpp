// The one public interface of the backends for Arrays: all that the front ends may use.
//   backend::run_static<H>(...)      runs the plan that H holds
//   backend::needs_arena<H>()        whether it needs memory for buffers of its own
//   backend::reads_first<H>          whether it reads all its operands before it writes
#pragma once
#include "tt/backends/cpu/static_executor.hpp"

namespace tt::backend {

inline namespace TT_ISA {
inline constexpr const char* isa_name = TT_ISA_NAME;
inline constexpr int lanes = cpu::lanes;
inline constexpr int most_lanes = cpu::most_lanes;  ///< of any instruction set
}  // namespace TT_ISA
using cpu::needs_arena;
using cpu::reads_first;
using cpu::run_static;

}  // namespace tt::backend
