// The NVIDIA driver, opened on first use: one binary runs with and without a GPU. Functions are found by name in libcuda.so.1 (or the
// file that TT_CUDA_DRIVER names); nothing of the toolkit is included or linked. The numbers and types are those of the CUDA driver API,
// version 12 and later.
//   const Driver& d = Driver::get();   d.check(d.synchronize(), "cuCtxSynchronize");
// Throws Unavailable with a message about the missing part.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#include "tt/core/error.hpp"

namespace tt::cuda {

using Result = int;
using DevicePointer = unsigned long long;
using Handle = void*;  ///< a context, stream, event, module or function

/// Results of the driver that this code tests for; other errors only appear in messages.
inline constexpr Result success = 0, out_of_memory = 2, no_code_for_device = 209;
enum class Attribute : int { multiprocessors = 16, major = 75, minor = 76 };

/// Parameters of a graph's kernel node: CUDA_KERNEL_NODE_PARAMS, version 2.
struct KernelNode {
  Handle function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1, block_x = 1, block_y = 1, block_z = 1, shared = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  Handle kernel = nullptr, context = nullptr;  ///< read if function is null
};

/// A shared library whose functions are found by name.
class DriverLibrary {
 public:
  /// Tries the names in order; keeps the message of the last failure.
  bool open(const char* const* names, int count) {
    for (int k = 0; k < count; ++k) {
      handle_ = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
      if (handle_) return true;
      if (const char* said = dlerror()) why_ = Text(said);
    }
    return false;
  }
  const Text& why() const { return why_; }
  template <class F>
  bool find(const char* name, F*& function) {
    function = reinterpret_cast<F*>(dlsym(handle_, name));
    if (!function && !missing_) missing_ = name;
    return function;
  }
  /// The first function that was not found, or null.
  const char* missing() const { return missing_; }

 private:
  void* handle_ = nullptr;  // never closed: the driver keeps threads of its own
  const char* missing_ = nullptr;
  Text why_;
};

struct Driver {
  Result (*init)(unsigned) = nullptr;
  Result (*version)(int*) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*error_string)(Result, const char**) = nullptr;
  Result (*device_count)(int*) = nullptr;
  Result (*device)(int*, int) = nullptr;
  Result (*device_name)(char*, int, int) = nullptr;
  Result (*device_attribute)(int*, Attribute, int) = nullptr;
  Result (*retain_context)(Handle*, int) = nullptr;
  Result (*set_context)(Handle) = nullptr;
  Result (*synchronize)() = nullptr;
  Result (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
  Result (*allocate)(DevicePointer*, std::size_t) = nullptr;
  Result (*free)(DevicePointer) = nullptr;
  Result (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  Result (*free_host)(void*) = nullptr;
  Result (*to_device)(DevicePointer, const void*, std::size_t, Handle stream) = nullptr;
  Result (*to_host)(void*, DevicePointer, std::size_t, Handle stream) = nullptr;
  Result (*copy)(DevicePointer, DevicePointer, std::size_t, Handle stream) = nullptr;
  Result (*copy_peer)(DevicePointer, Handle to, DevicePointer, Handle from, std::size_t, Handle stream) = nullptr;
  Result (*create_stream)(Handle*, unsigned) = nullptr;
  Result (*destroy_stream)(Handle) = nullptr;
  Result (*synchronize_stream)(Handle) = nullptr;
  Result (*wait_event)(Handle stream, Handle event, unsigned) = nullptr;
  Result (*create_event)(Handle*, unsigned) = nullptr;
  Result (*destroy_event)(Handle) = nullptr;
  Result (*record_event)(Handle event, Handle stream) = nullptr;
  Result (*synchronize_event)(Handle) = nullptr;
  Result (*elapsed)(float* milliseconds, Handle from, Handle to) = nullptr;
  Result (*load_module)(Handle*, const void* image) = nullptr;
  Result (*find_function)(Handle*, Handle module, const char*) = nullptr;
  Result (*launch)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, Handle stream, void** parameters, void** extra) = nullptr;

  /// CUDA graphs: these may all be null.
  Result (*create_graph)(Handle*, unsigned) = nullptr;
  Result (*destroy_graph)(Handle) = nullptr;
  Result (*add_kernel)(Handle* node, Handle graph, const Handle* after, std::size_t after_count, const KernelNode*) = nullptr;
  Result (*instantiate_graph)(Handle* executable, Handle graph, unsigned long long flags) = nullptr;
  Result (*destroy_executable)(Handle) = nullptr;
  Result (*set_kernel)(Handle executable, Handle node, const KernelNode*) = nullptr;
  Result (*launch_graph)(Handle executable, Handle stream) = nullptr;
  const char* missing_for_graphs = nullptr;  ///< the first of these that the driver lacks

  /// The process's driver, initialised. Throws Unavailable.
  static const Driver& get();
  /// A driver from the first of these files that can be opened. Throws Unavailable.
  static Driver open(const char* const* names, int count);

  /// Throws Error with the driver's own message; a device that was lost stays lost.
  void check(Result r, const char* what) const {
    if (r != success) failed(r, what);
  }
  [[noreturn]] void failed(Result r, const char* what) const;
  /// Errors after which nothing works on the device until the process ends.
  static constexpr bool loses_device(Result r) {
    return r == 214 || r == 220 || r == 700 || r == 702 || r == 709 || r == 710 || (r >= 714 && r <= 719) || r == 999;
  }
};

/// File names under which to look for a toolkit library: the file that an environment variable names, else the given version, or
/// the toolkit's versions that are not later than the driver's.
class ToolkitNames {
 public:
  ToolkitNames(const char* variable, const char* library, const char* version = nullptr);
  const char* const* begin() const { return name_; }
  int count() const { return count_; }

 private:
  Text text_[4];
  const char* name_[4] = {};
  int count_ = 0;
  void add(Text text) {
    text_[count_] = static_cast<Text&&>(text);
    name_[count_] = text_[count_].c_str();
    ++count_;
  }
};

#if TT_DEFINES(cuda)
TT_INLINE Driver Driver::open(const char* const* names, int count) {
  DriverLibrary library;
  if (!library.open(names, count))
    TT_THROW(Unavailable(Text("tt::cuda: there is no NVIDIA driver: ") << library.why() << ". Install one, or use the CPU?"));
  Driver d;
  library.find("cuInit", d.init);
  library.find("cuDriverGetVersion", d.version);
  library.find("cuGetErrorName", d.error_name);
  library.find("cuGetErrorString", d.error_string);
  library.find("cuDeviceGetCount", d.device_count);
  library.find("cuDeviceGet", d.device);
  library.find("cuDeviceGetName", d.device_name);
  library.find("cuDeviceGetAttribute", d.device_attribute);
  library.find("cuDevicePrimaryCtxRetain", d.retain_context);
  library.find("cuCtxSetCurrent", d.set_context);
  library.find("cuCtxSynchronize", d.synchronize);
  library.find("cuMemGetInfo_v2", d.memory_info);
  library.find("cuMemAlloc_v2", d.allocate);
  library.find("cuMemFree_v2", d.free);
  library.find("cuMemHostAlloc", d.allocate_host);
  library.find("cuMemFreeHost", d.free_host);
  library.find("cuMemcpyHtoDAsync_v2", d.to_device);
  library.find("cuMemcpyDtoHAsync_v2", d.to_host);
  library.find("cuMemcpyDtoDAsync_v2", d.copy);
  library.find("cuMemcpyPeerAsync", d.copy_peer);
  library.find("cuStreamCreate", d.create_stream);
  library.find("cuStreamDestroy_v2", d.destroy_stream);
  library.find("cuStreamSynchronize", d.synchronize_stream);
  library.find("cuStreamWaitEvent", d.wait_event);
  library.find("cuEventCreate", d.create_event);
  library.find("cuEventDestroy_v2", d.destroy_event);
  library.find("cuEventRecord", d.record_event);
  library.find("cuEventSynchronize", d.synchronize_event);
  library.find("cuEventElapsedTime", d.elapsed);
  library.find("cuModuleLoadData", d.load_module);
  library.find("cuModuleGetFunction", d.find_function);
  library.find("cuLaunchKernel", d.launch);
  if (library.missing())
    TT_THROW(Unavailable(Text("tt::cuda: the NVIDIA driver is too old: it has no ") << library.missing() << ". Install version 525 or later?"));
  library.find("cuGraphCreate", d.create_graph);
  library.find("cuGraphDestroy", d.destroy_graph);
  library.find("cuGraphAddKernelNode_v2", d.add_kernel);
  library.find("cuGraphInstantiateWithFlags", d.instantiate_graph);
  library.find("cuGraphExecDestroy", d.destroy_executable);
  library.find("cuGraphExecKernelNodeSetParams_v2", d.set_kernel);
  library.find("cuGraphLaunch", d.launch_graph);
  d.missing_for_graphs = library.missing();
  if (const Result r = d.init(0); r != success) {
    const char* said = nullptr;
    d.error_string(r, &said);
    TT_THROW(Unavailable(Text("tt::cuda: the NVIDIA driver does not start: ") << (said ? said : "unknown error") << '.'));
  }
  return d;
}

TT_INLINE const Driver& Driver::get() {
  static const Driver driver = [] {
    const char* given = std::getenv("TT_CUDA_DRIVER");
    const char* const names[] = {given && *given ? given : "libcuda.so.1"};
    return open(names, 1);
  }();
  return driver;
}

TT_INLINE ToolkitNames::ToolkitNames(const char* variable, const char* library, const char* version) {
  if (const char* given = std::getenv(variable); given && *given) {
    add(Text(given));
    return;
  }
  if (version) {
    const Text file = Text(library) << '.' << version;
    add(file);
    add(Text("/usr/local/cuda/lib64/") << file);
    return;
  }
  int driver = 13000;  // the driver does not load code of a later major version
  try {
    Driver::get().version(&driver);
  } catch (const Unavailable&) {  // no driver: the library may be useful all the same
  }
  if (driver >= 13000) add(Text(library) << ".13");
  add(Text(library) << ".12");
  add(Text(library));
  add(Text("/usr/local/cuda/lib64/") << library);
}

TT_INLINE void Driver::failed(Result r, const char* what) const {
  const char *name = nullptr, *said = nullptr;
  error_name(r, &name);
  error_string(r, &said);
  Text t = Text("tt::cuda: ") << what << " failed: " << (name ? name : "error") << ": " << (said ? said : "unknown") << '.';
  if (r == no_code_for_device) t << " The program was built for other devices: give nvcc -arch=native, or -arch=sm_90, say?";
  if (loses_device(r)) t << " The device is lost to this process; results since the last synchronize are not to be trusted.";
  TT_THROW(Error(t));
}
#endif

}  // namespace tt::cuda
