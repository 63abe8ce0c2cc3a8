// Two models of the same images and one training step for both, as text that says neither where nor when
// it runs: on Arrays at compile time, on Tensors, on a CUDA device.
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

// ---- two convolutions, the first with its largest of four neighbours, and a layer
//      (1, 16, 16) -> (8, 14, 14) -> (8, 7, 7) -> (16, 5, 5) -> 400 -> 6

template <class Kind>
struct Conv {
  tt::leaf<Kind, float, 8, 1, 3, 3> w1;
  tt::leaf<Kind, float, 8> b1;
  tt::leaf<Kind, float, 16, 8, 3, 3> w2;
  tt::leaf<Kind, float, 16> b2;
  tt::leaf<Kind, float, 16 * 5 * 5, classes> w3;
  tt::leaf<Kind, float, classes> b3;
};

inline constexpr auto convolutional = [](const auto& model, const auto& images) {
  auto x = tt::reshape<batch, 1, side, side>(images);
  auto h = tt::max_pool2d(tt::relu(tt::conv2d(x, model.w1, model.b1)));
  auto g = tt::relu(tt::conv2d(h, model.w2, model.b2));
  return tt::matmul(tt::reshape<batch, 16 * 5 * 5>(g), model.w3) + model.b3;
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
  const auto fill = [&](auto& w, std::int64_t fan_in) {
    const double bound = std::sqrt(6 / static_cast<double>(fan_in));
    for (float& x : w) x = static_cast<float>((2 * random() - 1) * bound);
  };
  if constexpr (std::is_same_v<Model<tt::arrays>, Conv<tt::arrays>>) {
    fill(model.w1, 9);
    fill(model.w2, 9 * 8);
  } else {
    fill(model.w1, model.w1.extent(0));
    fill(model.w2, model.w2.extent(0));
  }
  fill(model.w3, model.w3.extent(0));
  return model;
}

/// The rate of a step: falls to nothing.
inline float rate_at(int step, int steps) { return 0.03f * (1 - static_cast<float>(step) / static_cast<float>(steps)); }

}  // namespace shapes
