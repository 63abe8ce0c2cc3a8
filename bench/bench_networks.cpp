// The networks of tests/networks.hpp: us of value and all gradients on one thread, by the tape and compiled. Beside it, from the same folder:
//   python3 tests/data/record_networks.py --time
#include <cstdio>
#include <fstream>

#include "../tests/networks.hpp"
#include "stopwatch.hpp"

namespace {

using tt::Tensor;

template <auto Network>
void row(const networks::Case& c) {
  const auto loss = [](const std::vector<Tensor>& w, const std::vector<Tensor>& x) {
    networks::Weights weights{w};
    return Network(weights, x);
  };
  const auto gradient = tt::value_and_grad<0>(loss);
  const auto step = tt::compile([](const std::vector<Tensor>& v, const std::vector<Tensor>& x) {
    return tt::value_and_grad<0>([](const std::vector<Tensor>& w, const std::vector<Tensor>& in) {
      networks::Weights weights{w};
      return Network(weights, in);
    })(v, x);
  }, {.wait = true});
  const double eager = bench::microseconds([&] { (void)gradient(c.weights, c.inputs); }, 41), compiled = bench::microseconds([&] { (void)step(c.weights, c.inputs); }, 41);
  std::printf("%-12s %10.1f %10.1f\n", c.name.c_str(), eager, compiled);
  std::fflush(stdout);
}

}  // namespace

int main() {
  tt::set_num_threads(1);
  std::ifstream file("tests/data/networks.txt");
  std::printf("%-12s %10s %10s\n", "network", "eager", "compiled");
  for (std::string line; std::getline(file, line);) {
    const networks::Case c = networks::read_case(line);
    const auto is = [&](const char* name) { return c.name == name; };
    if (is("resnet")) row<networks::resnet>(c);
    if (is("mobilenet")) row<networks::mobilenet>(c);
    if (is("unet")) row<networks::unet>(c);
    if (is("vit")) row<networks::vit>(c);
    if (is("bert")) row<networks::bert>(c);
    if (is("gpt")) row<networks::gpt>(c);
    if (is("lstm")) row<networks::lstm>(c);
    if (is("gnn")) row<networks::gnn>(c);
    if (is("vae")) row<networks::vae>(c);
    if (is("nerf")) row<networks::nerf>(c);
    if (is("moe")) row<networks::moe>(c);
    if (is("wavenet")) row<networks::wavenet>(c);
    if (is("stn")) row<networks::stn>(c);
    if (is("metric")) row<networks::metric>(c);
    if (is("ssm")) row<networks::ssm>(c);
  }
}
