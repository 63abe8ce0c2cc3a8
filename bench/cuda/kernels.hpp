// The functions of the device benchmarks, once for static kernels (nvcc), compiled functions (NVRTC) and
// the register check of tools/check_cuda.sh.
#pragma once
#include "tt/tt.hpp"

namespace bench {

inline constexpr std::int64_t many = 1 << 26, rows = 16384, cols = 4096;

constexpr auto chain = [](const auto& a, const auto& b, const auto& c) { return tt::tanh(a * b + c); };
constexpr auto gate = [](const auto& x, const auto& w) { return tt::sum(tt::sigmoid(x * w) * x); };
constexpr auto softmax = [](const auto& x) { return tt::softmax(x, -1); };
constexpr auto layer_norm = [](const auto& x, const auto& w, const auto& b) {
  const auto centred = x - tt::mean(x, -1, true);
  return centred * tt::rsqrt(tt::mean(centred * centred, -1, true) + 1e-5f) * w + b;
};
constexpr auto total = [](const auto& a, const auto& b, const auto& c) { return tt::sum(a * b + c); };
constexpr auto columns = [](const auto& x) { return tt::sum(x, 0); };
constexpr auto linear = [](const auto& x, const auto& w, const auto& b) { return tt::relu(tt::matmul(x, w) + b); };

}  // namespace bench
