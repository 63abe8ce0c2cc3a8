// Two models of the same images and one training step for both, as text that says neither where nor when
// it runs: on Arrays at compile time, on Tensors, on a CUDA device. A convolution is the sum of nine
// products, one for each place in its 3 x 3 window: a shifted cut of the images times the place's matrix
// of (channels in, channels out). So it has its gradients from slices and products.
#pragma once
#include <cmath>
#include <utility>

#include "images.hpp"
#include "tt/tt.hpp"

namespace shapes {

inline constexpr int batch = 64;

// ---- three layers

template <class Kind>
struct Mlp {
  tt::leaf<Kind, float, pixels, 256> w1;
  tt::leaf<Kind, float, 256> b1;
  tt::leaf<Kind, float, 256, 128> w2;
  tt::leaf<Kind, float, 128> b2;
  tt::leaf<Kind, float, 128, classes> w3;
  tt::leaf<Kind, float, classes> b3;
};

inline constexpr auto perceptron = [](const auto& model, const auto& images) {
  auto x = tt::reshape<batch, pixels>(images);
  auto h = tt::relu(tt::matmul(x, model.w1) + model.b1);
  auto g = tt::relu(tt::matmul(h, model.w2) + model.b2);
  return tt::matmul(g, model.w3) + model.b3;
};

// ---- two convolutions, each with its largest of four neighbours, and a layer
//      (16, 16, 1) -> (14, 14, 8) -> (7, 7, 8) -> (5, 5, 16) -> 400 -> 6

template <class Kind>
struct Conv {
  tt::leaf<Kind, float, 1, 8> w1[9];   ///< of each place in the window
  tt::leaf<Kind, float, 8> b1;
  tt::leaf<Kind, float, 8, 16> w2[9];
  tt::leaf<Kind, float, 16> b2;
  tt::leaf<Kind, float, 5 * 5 * 16, classes> w3;
  tt::leaf<Kind, float, classes> b3;
};

/// Images (batch, Size + 2, Size + 2, In) to rows of pixels (batch * Size * Size, Out); w are nine matrices (In, Out).
template <int Size, int In>
constexpr auto convolution(const auto& images, const auto& w) {
  const auto row = [&]<int Row>(std::integral_constant<int, Row>) {
    auto band = tt::slice<1, Row, Size>(images);
    auto left = tt::reshape<batch * Size * Size, In>(tt::slice<2, 0, Size>(band));
    auto middle = tt::reshape<batch * Size * Size, In>(tt::slice<2, 1, Size>(band));
    auto right = tt::reshape<batch * Size * Size, In>(tt::slice<2, 2, Size>(band));
    return tt::matmul(left, w[3 * Row]) + tt::matmul(middle, w[3 * Row + 1]) + tt::matmul(right, w[3 * Row + 2]);
  };
  return row(std::integral_constant<int, 0>()) + row(std::integral_constant<int, 1>()) + row(std::integral_constant<int, 2>());
}
/// The largest of each 2 x 2: rows of (2 * Size) x (2 * Size) pixels to (batch, Size, Size, Channels).
template <int Size, int Channels>
constexpr auto max_pool(const auto& images) {
  return tt::amax<2, 4>(tt::reshape<batch, Size, 2, Size, 2, Channels>(images));
}

inline constexpr auto convolutional = [](const auto& model, const auto& images) {
  auto h = max_pool<7, 8>(tt::relu(convolution<14, 1>(images, model.w1) + model.b1));
  auto g = tt::relu(convolution<5, 8>(h, model.w2) + model.b2);
  return tt::matmul(tt::reshape<batch, 5 * 5 * 16>(g), model.w3) + model.b3;
};

// ---- what both have in common

/// images (64, 16, 16, 1) to (64, 6)
inline constexpr auto logits = []<template <class> class Model, class Kind>(const Model<Kind>& model, const auto& images) {
  if constexpr (std::is_same_v<Model<Kind>, Mlp<Kind>>) return perceptron(model, images);
  else return convolutional(model, images);
};

inline constexpr auto loss = [](const auto& model, const auto& images, const auto& labels) {
  return tt::cross_entropy(logits(model, images), labels);
};

inline constexpr auto sgd_step = [](auto& model, auto& velocity, const auto& images, const auto& labels, const auto& rate) {
  auto [value, gradient] = tt::value_and_grad(loss)(model, images, labels);
  const auto update = [&](auto& w, auto& v, auto& g) {
    v = 0.9f * v + g;
    w -= rate * v;
  };
  tt::for_each_member(update, model, velocity, gradient);
  return value;
};

inline constexpr auto most_likely = [](const auto& model, const auto& images) {
  return tt::argmax<1>(logits(model, images));
};

/// Uniform within sqrt(6 / fan_in) (He, Zhang, Ren and Sun 2015); biases begin at zero.
template <template <class> class Model>
Model<tt::arrays> first_weights(examples::Random& random) {
  Model<tt::arrays> model;
  const auto fill = [&](auto& w, std::int64_t places = 1) {
    const double bound = std::sqrt(6 / static_cast<double>(places * w.extent(0)));
    for (float& x : w) x = static_cast<float>((2 * random() - 1) * bound);
  };
  if constexpr (std::is_same_v<Model<tt::arrays>, Conv<tt::arrays>>) {
    for (auto& w : model.w1) fill(w, 9);
    for (auto& w : model.w2) fill(w, 9);
  } else {
    fill(model.w1);
    fill(model.w2);
  }
  fill(model.w3);
  return model;
}

/// The rate of a step: falls to nothing.
inline float rate_at(int step, int steps) { return 0.03f * (1 - static_cast<float>(step) / static_cast<float>(steps)); }

}  // namespace shapes
