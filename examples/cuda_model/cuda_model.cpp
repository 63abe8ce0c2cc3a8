// Learns to tell six shapes in noisy images: a perceptron of three layers or a small convolutional net,
// on the CPU or on a CUDA device by one flag, from one text (model.hpp). The training step runs compiled
// (a few fused kernels), op by op with the tape, and, on the CPU, as a program made by the compiler; for its
// twin on a device see static.cu. Prints the kernels and a table; with a device the
// compiled step on the CPU is its first row.
//   cuda_model --model conv --device cuda
// Ends with 1 if after 200 steps or more fewer than 90 % of unseen images are told right, if the paths
// give other losses, or if there is no such device.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>

#include "../common/training.hpp"
#include "model.hpp"
#include "options.hpp"

namespace {

using shapes::batch, shapes::classes, shapes::pixels, shapes::side;
constexpr int seen_count = 40 * batch;
constexpr auto static_step = tt::fuse(shapes::sgd_step);

// ---- images and weights on a device

struct Data {
  tt::Tensor images, labels;
  Data(shapes::Images& from, tt::Device device)
      : images(tt::from_blob(from.pixel.data(), {from.count(), side, side, 1}).to(device)),
        labels(tt::from_blob(from.label.data(), {from.count()}).to(device)) {}
  /// Batch k, from the first again after the last. Views: nothing is copied.
  Data at(int k) const {
    const std::int64_t first = k % (labels.size(0) / batch) * batch;
    return {images.slice(0, first, first + batch), labels.slice(0, first, first + batch)};
  }

 private:
  Data(tt::Tensor i, tt::Tensor l) : images(std::move(i)), labels(std::move(l)) {}
};

template <template <class> class Model>
Model<tt::tensors> to_tensors(Model<tt::arrays>& from, tt::Device device) {
  Model<tt::tensors> to;
  tt::for_each_member([&](tt::Tensor& t, auto& a) { t = tt::as_tensor(a).clone().to(device); }, to, from);
  return to;
}
template <template <class> class Model>
Model<tt::tensors> zeros_like(Model<tt::tensors>& from) {
  Model<tt::tensors> to;
  tt::for_each_member([](tt::Tensor& t, tt::Tensor& like) { t = tt::zeros_like(like); }, to, from);
  return to;
}

/// Percent of the images that are told right.
template <template <class> class Model>
double accuracy(const Model<tt::tensors>& model, const Data& data) {
  const auto predict = tt::compile(shapes::most_likely, {.name = "most_likely"});
  const int batches = static_cast<int>(data.labels.size(0) / batch);
  double right = 0;
  for (int k = 0; k < batches; ++k) {
    const Data part = data.at(k);
    right += (predict(model, part.images) == part.labels).sum().item();
  }
  return 100 * right / (batches * batch);
}

// ---- training

struct Run {
  std::string path;
  std::int64_t kernels = 0;  ///< of a step: launched on a device, dispatched or in the plan on the CPU
  double accuracy = 0;
  std::vector<float> losses;
  std::vector<double> microseconds;  ///< of every step, with its loss brought to the host

  double images_per_second() const { return 1e6 * batch / examples::median(microseconds); }
  /// Mean of the last steps.
  double loss() const {
    const std::size_t some = std::min<std::size_t>(losses.size(), 20);
    double sum = 0;
    for (std::size_t k = losses.size() - some; k < losses.size(); ++k) sum += static_cast<double>(losses[k]);
    return sum / static_cast<double>(some);
  }
};

/// `step(k, rate)` trains with batch k and gives the loss.
template <class Step>
Run train(const char* path, int steps, Step step) {
  Run run{.path = path, .losses = {}, .microseconds = {}};
  for (int k = 0; k < steps; ++k) {
    const auto start = std::chrono::steady_clock::now();
    run.losses.push_back(step(k, shapes::rate_at(k, steps)));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    run.microseconds.push_back(took.count());
    char text[100];
    std::snprintf(text, sizeof text, "%-8s  step %d of %d   loss %.4f", path, k + 1, steps, static_cast<double>(run.losses.back()));
    examples::show_progress(k + 1, steps, text);
  }
  return run;
}

/// What the device has launched, or the CPU dispatched.
std::int64_t kernels_so_far(tt::Device device) {
  return device.type == tt::DeviceType::cuda ? tt::cuda::launches() : tt::Dispatcher::dispatches();
}

/// On Tensors: `f` is the step or what compile made of it.
template <template <class> class Model, class F>
Run train_tensors(const char* path, const F& f, Model<tt::arrays> first, const Data& seen, const Data& unseen, int steps) {
  const tt::Device device = seen.images.device();
  Model<tt::tensors> model = to_tensors(first, device), velocity = zeros_like(model);
  std::int64_t kernels = 0;
  Run run = train(path, steps, [&](int k, float rate) {
    const Data part = seen.at(k);
    const std::int64_t before = kernels_so_far(device);
    const tt::Tensor value = f(model, velocity, part.images, part.labels, tt::tensor(rate));
    kernels = kernels_so_far(device) - before;
    return value.template item<float>();
  });
  run.kernels = kernels;
  run.accuracy = accuracy(model, unseen);
  return run;
}

/// On Arrays, by the program that the compiler made.
template <template <class> class Model>
Run train_static(Model<tt::arrays> model, const shapes::Images& seen, const Data& unseen, int steps) {
  using Images = tt::Array<float, batch, side, side, 1>;
  using Labels = tt::Array<std::int64_t, batch>;
  Model<tt::arrays> velocity;
  Images images;
  Labels labels;
  Run run = train("static", steps, [&](int k, float rate) {
    const int first = k % (seen.count() / batch) * batch;
    std::memcpy(images.data(), seen.pixel.data() + first * pixels, sizeof(float) * batch * pixels);
    std::memcpy(labels.data(), seen.label.data() + first, sizeof(std::int64_t) * batch);
    return static_cast<float>(static_step(model, velocity, images, labels, rate));
  });
  run.kernels = tt::kernels<Model<tt::arrays>, Model<tt::arrays>, Images, Labels, float>(static_step);
  run.accuracy = accuracy(to_tensors(model, {}), unseen);
  return run;
}

// ---- the program

/// The largest difference between the losses of two runs; NaN if there is one.
double difference(const Run& a, const Run& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.losses.size(); ++k) {
    const double d = std::abs(static_cast<double>(a.losses[k] - b.losses[k]));
    if (d > largest || std::isnan(d)) largest = d;
  }
  return largest;
}

/// What explain() says, its kernels counted by kind and size.
void print_kernels(const std::string& explained) {
  std::vector<std::pair<std::string, int>> kinds;
  std::istringstream lines(explained);
  for (std::string line; std::getline(lines, line);) {
    char name[32], kind[80];
    long long rows = 0, columns = 0;
    if (std::sscanf(line.c_str(), " %31s %lld x %lld", name, &rows, &columns) != 3) continue;  // what was captured and why
    std::snprintf(kind, sizeof kind, "%s %lld x %lld", name, rows, columns);
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; });
    if (known == kinds.end()) kinds.emplace_back(kind, 1);
    else ++known->second;
  }
  std::printf("  the kernels of the compiled step, rows x columns of their results:\n");
  for (std::size_t k = 0; k < kinds.size(); ++k)
    std::printf("    %3d %-20s%s", kinds[k].second, kinds[k].first.c_str(), k % 4 == 3 || k + 1 == kinds.size() ? "\n" : "");
}

void print_table(const std::vector<Run>& runs) {
  std::printf("\n  path        loss        difference   accuracy   images a second   us a step   kernels a step\n");
  for (const Run& run : runs)
    std::printf("  %-10s  %-10.7f  %-10.3g   %5.1f %%    %15.0f   %9.1f   %14lld\n", run.path.c_str(), run.loss(), difference(run, runs[0]),
                run.accuracy, run.images_per_second(), examples::median(run.microseconds), static_cast<long long>(run.kernels));
  std::printf("\n");
}

template <template <class> class Model>
bool run_example(const shapes::Options& options) {
  const tt::Device device{options.cuda ? tt::DeviceType::cuda : tt::DeviceType::cpu, 0};
  examples::Random random{options.seed};
  shapes::Images drawn = shapes::draw(seen_count, random), others = shapes::draw(options.unseen * batch, random);
  const Data seen(drawn, device), unseen(others, device), seen_here(drawn, {}), unseen_here(others, {});
  const Model<tt::arrays> first = shapes::first_weights<Model>(random);

  const std::string where = options.cuda ? "CUDA device 0, " + std::string(tt::cuda::device_name()) : "the CPU";
  std::printf("  %s on %s: %d images of %d shapes, %d steps of %d\n", options.convolution ? "conv" : "mlp", where.c_str(), seen_count, classes,
              options.steps, batch);

  const auto step = tt::compile(shapes::sgd_step, {.name = "sgd_step", .wait = true});
  std::vector<Run> runs = {train_tensors(options.cuda ? "cpu" : "compiled", step, first, seen_here, unseen_here, options.steps)};
  runs[0].kernels = step.kernels();
  if (options.cuda) runs.push_back(train_tensors("compiled", step, first, seen, unseen, options.steps));
  if (options.eager) runs.push_back(train_tensors("eager", shapes::sgd_step, first, seen, unseen, options.steps));
  if (!options.cuda) runs.push_back(train_static(first, drawn, unseen_here, options.steps));

  std::printf("\n");
  if (options.explain) std::printf("%s", step.explain().c_str());
  else print_kernels(std::string(step.explain()));
  print_table(runs);

  bool fine = true;
  for (const Run& run : runs) {
    const bool same = options.cuda ? difference(run, runs[0]) < 1e-3 : run.losses == runs[0].losses;  // a device: within its ulp
    const bool learnt = options.steps < 200 || run.accuracy >= 90;
    if (!same) std::fprintf(stderr, "cuda_model: %s gives other losses than %s\n", run.path.c_str(), runs[0].path.c_str());
    if (!learnt) std::fprintf(stderr, "cuda_model: %s: fewer than 90 %% of unseen images are told right\n", run.path.c_str());
    fine = fine && same && learnt;
  }
  return fine;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const shapes::Options options = shapes::read_options(count, arguments);
    if (options.help) return std::fputs(shapes::usage, stdout), 0;
    if (options.cuda && !tt::cuda::is_available()) {
      std::fprintf(stderr, "cuda_model: %s\n", tt::cuda::unavailable_reason().c_str());
      return 1;
    }
    const bool fine = options.convolution ? run_example<shapes::Conv>(options) : run_example<shapes::Mlp>(options);
    return fine ? 0 : 1;
  } catch (const examples::BadOption& error) {
    std::fprintf(stderr, "cuda_model: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_model: %s\n", error.what());
    return 1;
  }
}
