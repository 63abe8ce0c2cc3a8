// The optional compiled build: sort, scan and runs on the CPU by Thrust's sequential system, if Thrust's headers are found; those for
// CUDA are in algorithms.cu.
#include "tt/backends/algorithms.hpp"

#if __has_include(<thrust/version.h>)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#include "tt/backends/thrust_algorithms.hpp"
#endif

namespace tt::backend {

#if defined(TT_CUDA_ALGORITHMS)
const AlgorithmTable* cuda_algorithms();
#endif

const AlgorithmTable* compiled_algorithms(DeviceType d) {
#if __has_include(<thrust/version.h>)
  if (d == DeviceType::cpu) return &thrust_table<CppSystem>;
#endif
#if defined(TT_CUDA_ALGORITHMS)
  if (d == DeviceType::cuda) return cuda_algorithms();
#endif
  return nullptr;
}

}  // namespace tt::backend
