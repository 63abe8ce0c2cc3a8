// Chooses the fake driver before anything of tt::cuda is used, see fake_driver.cpp. With TT_CUDA_REAL set
// (tools/gpu_check.sh) the machine's own driver and device are used, and cases that need the fake are left out.
#pragma once
#include <dlfcn.h>

#include <cstdlib>

namespace fake {

inline bool is_real() {
  const char* set = std::getenv("TT_CUDA_REAL");
  return set && *set;
}
inline void choose_driver(const char* file = TT_FAKE_CUDA) {
  if (is_real()) return;
  setenv("TT_CUDA_DRIVER", file, 1);
  setenv("TT_NVRTC", file, 1);
  setenv("FAKE_CUDA_SHIM", TT_CUDA_SHIM, 1);
}

/// What the fake driver counts: "launches", "graph launches", "kernel updates", "copies to device",
/// "graphs" that are alive.
inline long count(const char* what) {
  void* library = dlopen(std::getenv("TT_CUDA_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<long (*)(const char*)>(dlsym(library, "fake_cuda_count"))(what);
}

/// A variable that is set while this lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace fake
