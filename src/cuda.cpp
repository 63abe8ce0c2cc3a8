// The compiled build of backends/cuda/: driver, NVRTC, libraries and programs.
#define TT_BUILD TT_PART_cuda
#include "tt/backends/cuda/cuda.hpp"
#include "tt/backends/cuda/program.hpp"
#include "tt/backends/runtime.hpp"
