// Sort, scan and runs on the CPU for a program without tt::compiled: include this in one of its files. Needs Thrust and
// -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP (or _OMP).
#pragma once
#include "tt/backends/thrust_algorithms.hpp"

namespace tt::backend {

inline const bool host_algorithms_are_set = [] {
  set_algorithms(DeviceType::cpu, thrust_table<CppSystem>);
  return true;
}();

}  // namespace tt::backend
