// The run-time door to the backends: programs for plans that are known only at run time.
//   backend::TileProgram     runs a Plan on tiles, without a compiler
//   backend::tile_function   an op on a tile; backend::ThreadPool  the threads for all of them
//   backend::compile_c       C text to loaded functions
#pragma once
#include "tt/backends/backend.hpp"
#include "tt/backends/cpu/host_compiler.hpp"
#include "tt/backends/cpu/thread_pool.hpp"
#include "tt/backends/cpu/tile_interpreter.hpp"

namespace tt::backend {

using cpu::compile_c;
using cpu::Library;
using cpu::ThreadPool;
using cpu::tile_function;
using cpu::TileFunction;
using cpu::TileProgram;

}  // namespace tt::backend
