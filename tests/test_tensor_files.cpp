// Tensors in .npz files: structs and lists of them by name, written and read in place.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tensors.hpp"
#include "tt/io/parameters.hpp"
#include "tt/io/tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

struct Layer {
  Tensor weight, bias;
};
struct Net {
  Layer first;
  std::vector<Layer> layers;
  std::array<Tensor, 2> scale;
  std::pair<Tensor, double> rest;
  std::int64_t steps = 0;
};
template <class Kind>
struct Linear {
  tt::leaf<Kind, float, 2, 3> weight;
  tt::leaf<Kind, float, 3> bias[2];
};

struct TemporaryFile {
  std::string name;
  explicit TemporaryFile(const char* of) : name(std::string("test_tensor_files_") + of + ".npz") {}
  TemporaryFile(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(name.c_str()); }
  const char* path() const { return name.c_str(); }
};
Net filled() {
  const auto t = [](const tt::IntList& shape, int seed) { return tt::rand(shape, seed); };
  return {{t({2, 3}, 1), t({3}, 2)},
          {{t({1}, 3), t({0}, 4)}, {t({2, 2}, 5).t(), tt::tensor({true, false})}},
          {tt::arange(3), t({4}, 6).slice(0, 0, 4, 2)},
          {t({}, 7).to(DType::f64), 2.5},
          7};
}
void check_equal(const Net& a, const Net& b) {
  std::vector<Tensor> all;
  tt::detail::each_leaf(a, [&](const Tensor& t) { all.push_back(t); });
  std::size_t k = 0;
  tt::detail::each_leaf(b, [&](const Tensor& t) { CHECK(same_bits(all[k++], t)); });
  CHECK(k == all.size());
  CHECK(a.rest.second == b.rest.second);
  CHECK(a.steps == b.steps);
}

TEST_CASE("structs and lists of Tensors come back from their file") {
  const TemporaryFile file("net");
  const Net net = filled();
  tt::save(file.path(), net);
  std::vector<std::string> names;
  const tt::detail::NpzReader in(file.path());
  for (const auto& e : in.entries()) names.push_back(tt::Text(e.name));
  CHECK(names == std::vector<std::string>{"first.weight", "first.bias", "layers.0.weight", "layers.0.bias", "layers.1.weight",
                                          "layers.1.bias", "scale.0", "scale.1", "rest.0", "rest.1", "steps"});
  Net made;  // undefined Tensors and an empty list
  tt::load(file.path(), made);
  check_equal(net, made);

  Net there = filled();
  Tensor weight = there.first.weight;
  weight.zero_().requires_grad_();
  const Tensor view = there.layers[1].weight;
  there.steps = 0;
  tt::load(file.path(), there);
  check_equal(net, there);
  CHECK(there.first.weight.is_same(weight));
  CHECK(weight.requires_grad());
  CHECK(weight.is_leaf());
  CHECK(there.layers[1].weight.is_same(view));
}

TEST_CASE("one Tensor, a vector and a tuple are files too") {
  const TemporaryFile file("one");
  tt::save(file.path(), tt::arange(3));
  Tensor one;
  tt::load(file.path(), one);
  CHECK(numbers(one) == Numbers{0, 1, 2});
  std::vector<Tensor> list;
  for (int k = 0; k < 12; ++k) list.push_back(tt::full({k}, k));
  tt::save(file.path(), list);
  std::vector<Tensor> back;
  tt::load(file.path(), back);
  REQUIRE(back.size() == 12);
  CHECK(numbers(back[11]) == numbers(list[11]));
  std::tuple<Tensor, int, bool> some{tt::ones({2}), 3, true}, read;
  tt::save(file.path(), some);
  tt::load(file.path(), read);
  CHECK(std::get<1>(read) == 3);
  CHECK(std::get<2>(read));
}

TEST_CASE("a parameter struct of Tensors and one of Arrays read each other's files") {
  const TemporaryFile file("kinds");
  Linear<tt::arrays> arrays;
  arrays.weight(1, 2) = 5;
  arrays.bias[1](0) = 7;
  tt::save(file.path(), arrays);
  Linear<tt::tensors> tensors;
  tt::load(file.path(), tensors);
  CHECK(numbers(tensors.weight) == Numbers{0, 0, 0, 0, 0, 5});
  CHECK(numbers(tensors.bias[1]) == Numbers{7, 0, 0});
  tensors.weight.fill_(2);
  tt::save(file.path(), tensors);
  tt::load(file.path(), arrays);
  CHECK(arrays.weight(0, 0) == 2);
}

TEST_CASE("names, dtypes and shapes must be the struct's, else nothing is changed") {
  const TemporaryFile file("other");
  const std::string place = "tt::load: " + file.name + ": ";
  Net net = filled();
  tt::save(file.path(), net);
  const auto refused = [&](Net other) {
    const Tensor bias = other.first.bias;
    const Tensor before = bias.defined() ? bias.clone() : bias;
    const std::string said = message([&] { tt::load(file.path(), other); });
    if (bias.defined()) CHECK(same_bits(before, bias));
    CHECK(other.first.bias.defined() == bias.defined());
    return said.substr(0, said.find('\n'));
  };
  Net other = filled();
  other.first.bias = tt::zeros({3});
  other.scale[1] = tt::zeros({3});
  CHECK(refused(other) == place + "scale.1: holds f32 (2,), wanted is f32 (3,).");
  other.scale[1] = tt::zeros({2}, {.dtype = DType::f64});
  CHECK(refused(other) == place + "scale.1: holds f32 (2,), wanted is f64 (2,).");
  other = filled();
  other.layers.push_back({tt::zeros({1}), tt::zeros({1})});
  CHECK(refused(other) == place + "layers.2.weight: is missing; the struct has it, the file has not.");
  other = {};
  other.layers.resize(1);
  CHECK(refused(other) == place + "layers.1.weight: is not expected; the file has it, the struct has not.");
  Tensor one;
  CHECK(message([&] { tt::load(file.path(), one); }) == place + "arr_0: is missing; the struct has it, the file has not.");
  CHECK(message([&] { tt::load("/no/such.npz", one); }) == "tt::load: /no/such.npz: cannot be opened.");
  net.layers[1].bias = Tensor();
  CHECK(message([&] { tt::save(file.path(), net); })
            .starts_with("tt::save: " + file.name + ": layers.1.bias: the Tensor is undefined, and has no place in a file. "));
  other = filled();
  other.first.bias = tt::zeros({3});
  other.scale[1] = tt::zeros({1}).expand({2});
  CHECK(refused(other) == place + "scale.1: several elements of the Tensor are one in memory: shape is (2,). Use clone() first?");
  tt::load(file.path(), other = {});  // the file is as it was
  CHECK(other.steps == 7);
}

}  // namespace
