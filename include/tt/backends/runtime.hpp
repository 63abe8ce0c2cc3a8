// The run-time door to the backends: programs for plans that are known only at run time.
//   backend::TileProgram     runs a Plan on tiles, without a compiler
//   backend::tile_kernels    ops on tiles; backend::ThreadPool  the threads for all of them
//   backend::use_library_kernels  those of an op that tt::compiled has compiled
//   backend::register_cuda  devices and their programs, opened when first used
//   DeviceProgram            what a device runs; set_program_maker
// The door to compilers and what is kept of them is backends/compiler.hpp.
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
