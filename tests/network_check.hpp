// Checks a network of networks.hpp or programs.hpp: value and gradients on the tape against PyTorch 2.15's, and compiled, in and around value_and_grad, bit for bit against
// the tape's.
#pragma once
#include <doctest/doctest.h>

#include <map>

#include "networks.hpp"

namespace networks {

inline std::map<std::string, Case> read_cases() {
  std::ifstream file("tests/data/networks.txt");
  std::map<std::string, Case> all;
  for (std::string line; std::getline(file, line);) {
    Case c = read_case(line);
    all[c.name] = c;
  }
  return all;
}
inline bool near(double value, double expected, double least) { return std::abs(value - expected) <= 1e-4 * std::abs(expected) + least; }

template <auto Network>
void check(const char* name) {
  static const auto cases = read_cases();
  REQUIRE(cases.count(name) == 1);
  const Case& c = cases.at(name);
  INFO(name);
  const auto loss = [](const std::vector<Tensor>& w, const std::vector<Tensor>& x) {
    Weights weights{w};
    return Network(weights, x);
  };
  std::vector<Tensor> w;
  for (const Tensor& t : c.weights) w.push_back(t.detach().requires_grad_());
  const Tensor value = loss(w, c.inputs);
  value.backward();
  CHECK(near(value.item(), c.loss, 0));
  double largest = 0;
  for (const double g : c.gradient) largest = std::max(largest, g);
  for (std::size_t k = 0; k < w.size(); ++k) {
    INFO("weight ", k);
    CHECK(near(w[k].grad().defined() ? w[k].grad().abs().sum().item() : 0, c.gradient[k], 1e-6 * largest));
  }
  std::vector<Tensor> taped;
  for (const Tensor& t : c.weights) taped.push_back(t.detach().requires_grad_());
  const Tensor taped_value = tt::compile(loss, {.tier = 0})(taped, c.inputs);
  taped_value.backward();
  CHECK(tt::equal(taped_value.detach(), value.detach()));
  const auto step = tt::compile([](const std::vector<Tensor>& v, const std::vector<Tensor>& x) {
    return tt::value_and_grad<0>([](const std::vector<Tensor>& u, const std::vector<Tensor>& in) {
      Weights weights{u};
      return Network(weights, in);
    })(v, x);
  }, {.tier = 0});
  const auto [compiled, gradient] = step(c.weights, c.inputs);
  CHECK(tt::equal(compiled, value.detach()));
  for (std::size_t k = 0; k < w.size(); ++k) {
    INFO("weight ", k);
    const Tensor g = w[k].grad().defined() ? w[k].grad() : tt::zeros_like(w[k].detach());
    CHECK(tt::equal(gradient[k], g));
    CHECK(tt::equal(taped[k].grad().defined() ? taped[k].grad() : tt::zeros_like(g), g));
  }
}

}  // namespace networks
