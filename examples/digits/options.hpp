// The command line of this example.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "../common/arguments.hpp"

namespace digits {

using examples::BadOption, examples::number_of;

struct Options {
  int epochs = 40;
  std::uint64_t seed = 1;
  std::filesystem::path data, out = "digits_out";
  bool explain = false, help = false;
};

inline constexpr const char* usage =
    R"(digits: trains a 64-32-10 network on 8x8 handwritten digits.

  --epochs N    times through the training digits, 1 to 100000 (default: 40)
  --seed N      order of the digits and first weights (default: 1)
  --data PATH   the digits (default: examples/data/digits.csv)
  --out DIR     where pictures and weights go (default: digits_out)
  --explain     print the kernels of the training step
  --help        print this
)";

/// Throws BadOption with one line.
inline Options read_options(int count, char** arguments) {
  Options o;
  for (int k = 1; k < count; ++k) {
    const std::string name = arguments[k];
    const auto value = [&]() -> std::string_view {
      if (k + 1 == count || !*arguments[k + 1]) throw BadOption(name + " needs a value");
      return arguments[++k];
    };
    if (name == "--epochs") o.epochs = number_of(name, value(), 1, 100000);
    else if (name == "--seed") o.seed = number_of<std::uint64_t>(name, value(), 0, UINT64_MAX);
    else if (name == "--data") o.data = value();
    else if (name == "--out") o.out = value();
    else if (name == "--explain") o.explain = true;
    else if (name == "--help") o.help = true;
    else throw BadOption("unknown option \"" + name + "\"; --help lists them");
  }
  if (o.data.empty()) {
    o.data = "examples/data/digits.csv";
#ifdef TT_EXAMPLES_DIR
    if (!std::filesystem::exists(o.data))
      o.data = std::filesystem::path(TT_EXAMPLES_DIR) / "data/digits.csv";
#endif
  }
  return o;
}

}  // namespace digits
