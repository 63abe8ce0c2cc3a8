// What tests of products and convolutions by libraries share: settings for a while, counts before and after, and results that
// agree within rounding.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "fake.hpp"
#include "../tensors.hpp"

inline tt::Tensor values(const tt::IntList& shape, std::int64_t seed = 1) { return tt::randn(shape, seed); }

/// On a machine with a device but without the library nothing is tested: 77 is a skip.
inline void need_library(const tt::Text& unavailable) {
  if (!fake::is_real() || unavailable.empty()) return;
  std::printf("SKIPPED: %s\n", tt::Text(unavailable).c_str());
  std::fflush(stdout);
  std::_Exit(77);
}

/// A library's work of any size is its own while this lives. Set: set_matmul_settings or set_conv_settings.
template <class Settings, void (*Set)(const Settings&)>
struct WithSettings {
  explicit WithSettings(Settings s = {.library = static_cast<decltype(Settings::library)>(1), .smallest = 1}) { Set(s); }
  WithSettings(const WithSettings&) = delete;
  ~WithSettings() { Set({}); }
};
/// How many more `count(what)` gives after f.
template <class F>
long more_of(long (*count)(const char*), const char* what, const F& f) {
  const long before = count(what);
  f();
  return count(what) - before;
}
inline bool close_within(double f32, double f64, const tt::Tensor& on_device, const tt::Tensor& on_cpu) {
  const tt::Tensor x = on_device.detach().cpu(), y = on_cpu.detach();
  if (!(x.shape() == y.shape()) || x.dtype() != y.dtype()) return false;
  const double tolerance = y.dtype() == tt::DType::f64 ? f64 : f32;
  const Numbers a = numbers(x), b = numbers(y);
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!(std::fabs(a[k] - b[k]) <= tolerance * (1 + std::fabs(b[k])))) return false;
  return true;
}
