// The perceptron of cuda_model.cpp with its training step as kernels that nvcc compiled with the program:
// the text of model.hpp on Arrays that lie on the device, beside the same program for the CPU.
//   cuda_model_static 200
// Ends with 1 if the losses differ, if after 200 steps or more fewer than 90 % of unseen images are told
// right, or without a device.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "../common/arguments.hpp"
#include "../common/training.hpp"
#include "model.hpp"
#include "tt/expr/cuda.hpp"

namespace {

using shapes::batch, shapes::pixels, shapes::side;
using Images = tt::Array<float, batch, side, side, 1>;
using Labels = tt::Array<std::int64_t, batch>;
using Model = shapes::Mlp<tt::arrays>;
constexpr int seen_batches = 40, unseen_batches = 8;

struct Data {
  std::vector<Images> images;
  std::vector<Labels> labels;
};
Data batches(int count, examples::Random& random) {
  Data data;
  for (int k = 0; k < count; ++k) {
    const shapes::Images drawn = shapes::draw(batch, random);
    std::memcpy(data.images.emplace_back().data(), drawn.pixel.data(), sizeof(float) * batch * pixels);
    std::memcpy(data.labels.emplace_back().data(), drawn.label.data(), sizeof(std::int64_t) * batch);
  }
  return data;
}

struct Run {
  std::vector<float> losses;
  std::vector<double> microseconds;
  double accuracy = 0;
};

/// `step(k, rate)` trains with batch k and gives the loss.
template <class Step>
Run train(const char* path, int steps, Step step) {
  Run run;
  for (int k = 0; k < steps; ++k) {
    const auto start = std::chrono::steady_clock::now();
    run.losses.push_back(step(k % seen_batches, shapes::rate_at(k, steps)));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    run.microseconds.push_back(took.count());
    char text[100];
    std::snprintf(text, sizeof text, "%-8s  step %d of %d   loss %.4f", path, k + 1, steps, static_cast<double>(run.losses.back()));
    examples::show_progress(k + 1, steps, text);
  }
  return run;
}

double accuracy(const Model& model, const Data& data) {
  const auto predict = tt::fuse(shapes::most_likely);
  int right = 0;
  for (int k = 0; k < unseen_batches; ++k) {
    const Labels told = predict(model, data.images[static_cast<std::size_t>(k)]);
    for (int i = 0; i < batch; ++i) right += told.data()[i] == data.labels[static_cast<std::size_t>(k)].data()[i];
  }
  return 100.0 * right / (unseen_batches * batch);
}

Run on_cpu(Model model, const Data& seen, const Data& unseen, int steps) {
  Model velocity;
  const auto step = tt::fuse(shapes::sgd_step);
  Run run = train("cpu", steps, [&](int k, float rate) {
    const auto at = static_cast<std::size_t>(k);
    return static_cast<float>(step(model, velocity, seen.images[at], seen.labels[at], rate));
  });
  run.accuracy = accuracy(model, unseen);
  return run;
}

Run on_device(const Model& first, const Data& seen, const Data& unseen, int steps) {
  shapes::Mlp<tt::cuda::arrays> model = tt::cuda::to_device(first), velocity = tt::cuda::to_device(Model());
  std::vector<tt::cuda::Array<float, batch, side, side, 1>> images(seen.images.begin(), seen.images.end());
  std::vector<tt::cuda::Array<std::int64_t, batch>> labels(seen.labels.begin(), seen.labels.end());
  const auto step = tt::cuda::fuse(shapes::sgd_step);
  Run run = train("device", steps, [&](int k, float rate) {
    const auto at = static_cast<std::size_t>(k);
    return static_cast<float>(step(model, velocity, images[at], labels[at], rate).to_host());
  });
  run.accuracy = accuracy(tt::cuda::to_host(model), unseen);
  return run;
}

/// The largest difference between the losses of two runs; NaN if there is one.
double difference(const Run& a, const Run& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.losses.size(); ++k) {
    const double d = std::fabs(static_cast<double>(a.losses[k] - b.losses[k]));
    if (d > largest || std::isnan(d)) largest = d;
  }
  return largest;
}

void print(const char* path, const Run& run, double differs) {
  const double microseconds = examples::median(run.microseconds);
  std::printf("  %-10s  %-10.7f  %-10.3g   %5.1f %%    %15.0f   %9.1f   %14d\n", path, static_cast<double>(run.losses.back()), differs, run.accuracy,
              1e6 * batch / microseconds, microseconds, tt::kernels<Model, Model, Images, Labels, float>(tt::fuse(shapes::sgd_step)));
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const int steps = count > 1 ? examples::number_of<int>("steps", arguments[1], 1, 1'000'000) : 200;
    examples::Random random{1};
    const Data seen = batches(seen_batches, random), unseen = batches(unseen_batches, random);
    const Model first = shapes::first_weights<shapes::Mlp>(random);
    const Run here = on_cpu(first, seen, unseen, steps), there = on_device(first, seen, unseen, steps);

    const double differs = difference(here, there);
    std::printf("\n  path        last loss   difference   accuracy   images a second   us a step   kernels a step\n");
    print("cpu", here, 0);
    print("device", there, differs);
    return differs < 1e-3 && (steps < 200 || there.accuracy >= 90) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_model_static: %s\n", error.what());
    return 1;
  }
}
