// The command line of this example.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "../common/arguments.hpp"

namespace shapes {

struct Options {
  bool cuda = false, convolution = false, eager = true, explain = false, help = false;
  int steps = 200, unseen = 8;
  std::uint64_t seed = 1;
};

inline constexpr const char* usage =
    R"(cuda_model: learns to tell six shapes in 16x16 images, on the CPU or on a CUDA device.

  --device cpu|cuda   where the Tensors are (default: cpu)
  --model mlp|conv    three layers, or two 3x3 convolutions and a layer (default: mlp)
  --steps N           training steps of 64 images, 1 to 1000000 (default: 200)
  --unseen N          batches of 64 other images to test with, 1 to 1000 (default: 8)
  --seed N            of the images and first weights (default: 1)
  --no-eager          leaves out the step run op by op
  --explain           print every kernel of the compiled step with its line, not how many of each kind
  --help              print this
)";

/// Throws BadOption with one line.
inline Options read_options(int count, char** arguments) {
  using examples::BadOption, examples::number_of;
  Options o;
  for (int k = 1; k < count; ++k) {
    const std::string name = arguments[k];
    const auto value = [&]() -> std::string_view {
      if (k + 1 == count || !*arguments[k + 1]) throw BadOption(name + " needs a value");
      return arguments[++k];
    };
    /// Is it the second of two words?
    const auto second = [&](std::string_view first, std::string_view other) {
      const std::string_view given = value();
      if (given != first && given != other)
        throw BadOption(name + ": \"" + std::string(given) + "\" is neither " + std::string(first) + " nor " + std::string(other));
      return given == other;
    };
    if (name == "--device") o.cuda = second("cpu", "cuda");
    else if (name == "--model") o.convolution = second("mlp", "conv");
    else if (name == "--steps") o.steps = number_of(name, value(), 1, 1'000'000);
    else if (name == "--unseen") o.unseen = number_of(name, value(), 1, 1000);
    else if (name == "--seed") o.seed = number_of<std::uint64_t>(name, value(), 0, UINT64_MAX);
    else if (name == "--no-eager") o.eager = false;
    else if (name == "--explain") o.explain = true;
    else if (name == "--help") o.help = true;
    else throw BadOption("unknown option \"" + name + "\"; --help lists them");
  }
  return o;
}

}  // namespace shapes
