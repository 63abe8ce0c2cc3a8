// The optional compiled build: sort, scan and runs on CUDA devices.
#include "tt/backends/thrust_algorithms.hpp"

namespace tt::backend {

const AlgorithmTable* cuda_algorithms();
const AlgorithmTable* cuda_algorithms() { return &thrust_table<CudaSystem>; }

}  // namespace tt::backend
