// The door to compilers: plans to text, text to functions of this process, and what is kept of them.
//   emit_c                   a plan's kernels as C text
//   backend::compile_c       C text to loaded functions; backend::HostCompiler, step by step
//   backend::cpu_features    what compiled code is bound to; backend::make_private_folder  where it is kept
//   DiskCache                the compiled kernels there
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
