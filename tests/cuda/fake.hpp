// Chooses the fake driver before anything of tt::cuda is used, see fake_driver.cpp.
#pragma once
#include <cstdlib>

namespace fake {

inline void choose_driver() {
  setenv("TT_CUDA_DRIVER", TT_FAKE_CUDA, 1);
  setenv("TT_NVRTC", TT_FAKE_CUDA, 1);
  setenv("FAKE_CUDA_SHIM", TT_CUDA_SHIM, 1);
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
