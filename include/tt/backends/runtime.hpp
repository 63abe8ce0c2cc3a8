// Public interface of the backends at run time: programs for plans that are known only at run time.
//   backend::TileProgram     runs a Plan on tiles, without a compiler
//   backend::tile_kernels    ops on tiles; backend::ThreadPool  the threads for all programs
//   backend::use_library_kernels  the kernels of an op that are compiled into tt::compiled
//   backend::register_cuda   CUDA devices and their programs, opened on first use
//   DeviceProgram            a device's program; set_program_maker
// Compilers and the cache of compiled kernels are in backends/compiler.hpp.
#pragma once
#include "tt/backends/backend.hpp"
#include "tt/backends/cpu/library_kernels.hpp"
#include "tt/backends/cpu/thread_pool.hpp"
#include "tt/backends/cpu/tile_functions.hpp"
#include "tt/backends/cpu/tile_interpreter.hpp"
#include "tt/backends/cuda/cuda.hpp"
#include "tt/backends/device_program.hpp"

namespace tt::backend {

using cpu::ThreadPool;
using cpu::tile_kernels;
using cpu::TileFunction;
using cpu::TileOperand;
using cpu::TileRows;
using cpu::TileKernels;
using cpu::TileProgram;
using cpu::use_library_kernels;
using cuda::register_cuda;

}  // namespace tt::backend
