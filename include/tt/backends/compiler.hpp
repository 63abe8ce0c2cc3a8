// Public interface of compilers: plans to text, text to functions of this process, and a cache of compiled kernels.
//   emit_c                   a plan's kernels as C text
//   backend::compile_c       C text to loaded functions; backend::HostCompiler, step by step
//   backend::cpu_features    the processor that compiled code needs; backend::make_private_folder  the folder that holds it
//   DiskCache                the compiled kernels in that folder
#pragma once
#include "tt/backends/cpu/cpu_features.hpp"
#include "tt/backends/cpu/emit_c.hpp"
#include "tt/backends/cpu/host_compiler.hpp"
#include "tt/backends/disk_cache.hpp"

namespace tt::backend {

using cpu::compile_c;
using cpu::compiler_milliseconds;
using cpu::cpu_features;
using cpu::HostCompiler;
using cpu::Library;
using cpu::milliseconds_now;
using cpu::Process;

}  // namespace tt::backend
