// The training step of examples/digits, as a user of tt writes it: 64 pixels, 32 hidden units, 10 classes;
// cross-entropy, all gradients, SGD with momentum, in place. Its twins are peers/step_hand.hpp and
// peers/step_eigen.hpp.
#pragma once
#include <tt/tt.hpp>

namespace bench {

inline constexpr int batch = 64, pixels = 64, hidden = 32, classes = 10;

template <class Kind>
struct Layers {
  tt::leaf<Kind, float, pixels, hidden> w1;
  tt::leaf<Kind, float, hidden> b1;
  tt::leaf<Kind, float, hidden, classes> w2;
  tt::leaf<Kind, float, classes> b2;
};

inline constexpr auto loss = [](auto model, auto images, auto labels) {
  const auto h = tt::tanh(tt::matmul(images, model.w1) + model.b1);
  return tt::cross_entropy(tt::matmul(h, model.w2) + model.b2, labels);
};

struct Step {
  constexpr auto operator()(auto& model, auto& velocity, auto images, auto labels, auto rate) const {
    auto [value, gradient] = tt::value_and_grad(loss)(model, images, labels);
    const auto update = [&](auto& w, auto& v, auto& g) {
      v = 0.9f * v + g;
      w -= rate * v;
    };
    tt::for_each_member(update, model, velocity, gradient);
    return value;
  }
};

using Model = Layers<tt::arrays>;
using Images = tt::Array<float, batch, pixels>;
using Labels = tt::Array<std::int64_t, batch>;

/// A function of its own, as the twins are.
TT_NOINLINE inline float step(Model& model, Model& velocity, const Images& images, const Labels& labels,
                              float rate) {
  return tt::fuse(Step{})(model, velocity, images, labels, rate).item();
}

}  // namespace bench
