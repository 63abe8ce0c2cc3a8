// Public interface of devices whose kernels are compiled with the program: static plans under nvcc.
//   cuda::run_static(cuda::plan_codes<H>(), device, external, symbols)
#pragma once
#include "tt/backends/cuda/static_program.hpp"
