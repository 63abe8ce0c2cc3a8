// libtorch, behind functions: its headers take a compiler 10 s and stay in torch.cpp. Each function adds the
// rows called libtorch of one benchmark program; where libtorch is not installed nothing is linked and
// TT_BENCH_TORCH is 0.
#pragma once
#include <cstdint>

#ifndef TT_BENCH_TORCH
#define TT_BENCH_TORCH 0
#endif

namespace peers::torch {

/// What the small network of bench_eager begins with: weights (in, out) and biases of three layers.
struct Network {
  static constexpr std::int64_t batch = 16, width[4] = {16, 32, 32, 10};
  static constexpr std::int64_t wide_batch = 64, wide[4] = {256, 256, 256, 10};  ///< of the wide one
  /// Then training begins anew: when nothing is left to learn, moments decay to denormal numbers, which take some
  /// processors many times as long.
  static constexpr int steps_of_a_run = 512;
  const float* parameter[6];
  const float* images;
  const std::int64_t* labels;
};
/// A layer of bench_conv: images (batch, in, size, size).
struct Layer {
  int batch = 1, in = 1, size = 1, out = 1, kernel = 1, stride = 1, padding = 0, groups = 1;
};
inline constexpr double sgd_rate = 0.1, adam_rate = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

#if TT_BENCH_TORCH
void one_thread();
void eager_rows();
void large_rows(std::int64_t n, const char* size);
void network_rows(const Network&);
void wide_network_rows();
/// The loss after so many steps.
float trained(const Network&, bool adam, int steps);

/// Of bench_conv: relu(conv2d) and its gradients.
void conv_rows(const Layer&, const char* name, const float* images, const float* weights, const float* bias);

/// Of bench_tiers; rows of 256 where there are rows.
void elementwise_rows(std::int64_t n, const char* size);
void tier_rows(std::int64_t n, const char* size);
void linear_rows(std::int64_t n, const char* size);
#endif

}  // namespace peers::torch
