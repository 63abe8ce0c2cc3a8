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

template <class F>
F* function(const char* name) {
  return reinterpret_cast<F*>(dlsym(dlopen(std::getenv("TT_CUDA_DRIVER"), RTLD_NOW | RTLD_LOCAL), name));
}
/// What the fake driver counts: "launches", "graph launches", "kernel updates", "copies to device",
/// "graphs" that are alive, "refusals" chosen by FAKE_CUDA_GRAPH_FAILS.
inline long count(const char* what) { return function<long(const char*)>("fake_cuda_count")(what); }
/// How often a graph was launched on a stream.
inline long graph_launches_on(void* stream) { return function<long(void*)>("fake_cuda_graph_launches_on")(stream); }

/// What the fake of a library counts, by its function of this name; 0 with the machine's own.
inline long count_of(const char* library, const char* name, const char* what) {
  if (is_real()) return 0;
  return reinterpret_cast<long (*)(const char*)>(dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), name))(what);
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
