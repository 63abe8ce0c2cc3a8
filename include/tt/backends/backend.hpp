// The one door to the backends: what the front ends may use.
//   backend::Isa                     the instruction set static programs are built for, as a type
//   backend::run_static<H>(...)      runs the plan that H holds
#pragma once
#include "tt/backends/cpu/static_executor.hpp"

namespace tt::backend {

inline namespace TT_ISA {
/// In the name of every function that may hold SIMD code, so that files with other flags link.
struct Isa {};
}  // namespace TT_ISA

inline constexpr const char* isa_name = TT_ISA_NAME;
inline constexpr int lanes = cpu::lanes;
using cpu::run_static;

}  // namespace tt::backend
