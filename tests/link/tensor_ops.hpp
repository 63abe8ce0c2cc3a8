// Ops on Tensors, header-only, for files with other architecture flags. Static, so each file has its own.
#pragma once
#include <cmath>

#include <tt/tt.hpp>

#include "tensors.hpp"

namespace shared {

/// Tensors that one file makes and the other one uses.
tt::Tensor ramp_plain(int n);
tt::Tensor ramp_avx2(int n);

static inline tt::Tensor ramp(int n) {
  tt::Tensor t = tt::zeros({n});
  for (int i = 0; i < n; ++i) t.data_ptr<float>()[i] = static_cast<float>(i % 7) * 0.25f;
  return t;
}
/// Empty if `f` gives `want`, else what is wrong.
template <class F>
static std::string failure(const char* what, double want, const F& f) {
  try {
    const double got = f();
    return std::fabs(got - want) <= 1e-5 * std::fabs(want) ? "" : std::string(what) + " gave " + std::to_string(got) + '\n';
  } catch (const tt::Error& e) {
    return std::string(e.what()) + '\n';
  }
}
static inline std::string ops(const tt::Tensor& passed) {
  double sum = 0, gated = 0;
  for (int i = 0; i < 37; ++i) {
    const double x = i % 7 * 0.25;
    sum += 2 * x + 1;
    gated += x / (1 + std::exp(-x));
  }
  std::string all = failure("a sum", sum, [&] { return (ramp(37) + passed + 1).sum().item(); });
  all += failure("silu", gated, [] { return tt::silu(ramp(37)).sum().item(); });
  return all + failure("softmax", 1, [] { return tt::softmax(ramp(37), 0).sum().item(); });
}

}  // namespace shared
