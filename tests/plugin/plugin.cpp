// A library that is loaded and unloaded while a program runs: compiled functions, and kernels on several threads.
#include "tt/tt.hpp"

extern "C" __attribute__((visibility("default"))) int tt_plugin_use() {
  tt::set_num_threads(3);
  const auto f = tt::compile([](const tt::Tensor& x) { return (tt::tanh(x) * 2 + 1).sum(); });
  return f(tt::zeros({1000, 300})).item() == 300'000 ? 0 : 1;
}
