// The run-time door to the backends: programs for plans that are known only at run time.
//   backend::TileProgram     runs a Plan on tiles, without a compiler
//   backend::tile_function   an op on a tile; backend::ThreadPool  the threads for all of them
//   backend::compile_c       C text to loaded functions; backend::HostCompiler, step by step
//   backend::cpu_features    what compiled code is bound to; backend::make_private_folder  where it is kept
//   backend::register_cuda  devices and their programs, opened when first used
//   DeviceProgram            what a device runs; set_program_maker
//   DiskCache                the compiled kernels there
#pragma once
#include "tt/backends/backend.hpp"
#include "tt/backends/cpu/cpu_features.hpp"
#include "tt/backends/cpu/host_compiler.hpp"
#include "tt/backends/cpu/thread_pool.hpp"
#include "tt/backends/cpu/tile_functions.hpp"
#include "tt/backends/cpu/tile_interpreter.hpp"
#include "tt/backends/cuda/cuda.hpp"
#include "tt/backends/device_program.hpp"
#include "tt/backends/disk_cache.hpp"

namespace tt::backend {

using cpu::compile_c;
using cpu::compiler_milliseconds;
using cpu::cpu_features;
using cpu::HostCompiler;
using cpu::Library;
using cpu::milliseconds_now;
using cpu::Process;
using cpu::ThreadPool;
using cpu::tile_function;
using cpu::TileFunction;
using cpu::TileProgram;
using cuda::register_cuda;

}  // namespace tt::backend
