// Tensors in .npz and .npy files: structs and lists of them by name, written and read in place, and files as they are found.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "temporary_file.hpp"
#include "tensors.hpp"
#include "tt/io/numpy.hpp"
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

TemporaryFile temporary(const char* of) { return TemporaryFile(std::string("test_tensor_files_") + of + ".npz"); }
/// A .npy file with this header and these elements.
std::string npy_file(const std::string& header, const std::string& elements) {
  std::string all = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size() % 256) + static_cast<char>(header.size() / 256);
  return all + header + elements;
}
std::string npy_header(const char* descr, const char* fortran_order, const char* shape) {
  return std::string("{'descr': '") + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape + ", }\n";
}
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
  const TemporaryFile file = temporary("net");
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
  const TemporaryFile file = temporary("one");
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
  const TemporaryFile file = temporary("kinds");
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
  const TemporaryFile file = temporary("other");
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

TEST_CASE("a .npy file gives a Tensor of its dtype and shape") {
  const TemporaryFile file = temporary("npy");
  for (int d = 0; d < tt::dtype_count; ++d)
    for (const Tensor& t : {tt::arange(6).to(static_cast<DType>(d)).reshape({2, 3}), tt::arange(24).to(static_cast<DType>(d)).reshape({2, 3, 4}).permute({2, 0, 1}),
                            tt::ones({}, static_cast<DType>(d)), tt::ones({0, 4}, static_cast<DType>(d)), tt::arange(9).to(static_cast<DType>(d)).slice(0, 1, 9, 3)}) {
      tt::save_npy(file.path(), t);
      const Tensor read = tt::load_npy(file.path());
      CHECK(same_bits(read, t));
      CHECK(read.is_contiguous());
      CHECK(same_bits(tt::load_npy<Tensor>(file.path()), t));
    }
  const Tensor parameter = tt::rand({2}).requires_grad_();
  tt::save_npy(file.path(), parameter);
  CHECK(!tt::load_npy(file.path()).requires_grad());
  CHECK(same_bits(tt::load_npy(file.path()), parameter));
}

TEST_CASE("Arrays and Tensors read each other's .npy files, which are equal") {
  const TemporaryFile file = temporary("npy_kinds");
  const tt::Array<float, 2, 3> a{{1, 2, 3}, {4, 5, 6}};
  tt::save_npy(file.path(), a);
  const std::string bytes = file.read();
  const Tensor t = tt::load_npy(file.path());
  CHECK(numbers(t) == Numbers{1, 2, 3, 4, 5, 6});
  tt::save_npy(file.path(), t);
  CHECK(file.read() == bytes);
  CHECK(tt::load_npy<tt::Array<float, 2, 3>>(file.path())(1, 0) == 4);
}

TEST_CASE("Fortran order: elements are where their indices say, as Tensors, Arrays and numbers") {
  const TemporaryFile file = temporary("fortran");
  const auto stored = [&](const char* descr, const char* shape, const std::string& elements) { file.write(npy_file(npy_header(descr, "True", shape), elements)); };
  stored("|i1", "(2, 3)", std::string("\0\3\1\4\2\5", 6));
  const Tensor t = tt::load_npy(file.path());
  CHECK(t.is_contiguous());
  CHECK(shape(t) == "(2, 3)");
  CHECK(numbers(t) == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(tt::load_npy<tt::Array<std::int8_t, 2, 3>>(file.path())(1, 2) == 5);
  CHECK(tt::load_npy<tt::Array<std::int8_t, tt::dyn, tt::dyn>>(file.path())(0, 2) == 2);
  stored("|u1", "(3,)", "\1\2\3");
  CHECK(numbers(tt::load_npy(file.path())) == Numbers{1, 2, 3});
  stored("|u1", "()", "\7");
  CHECK(numbers(tt::load_npy(file.path())) == Numbers{7});
  stored("<f4", "(3, 0, 2)", "");
  CHECK(shape(tt::load_npy(file.path())) == "(3, 0, 2)");
  stored("|b1", "(2, 2)", std::string("\0\1\2\0", 4));
  CHECK(contains(message([&] { tt::load_npy(file.path()); }), "element 1 is no bool: 2."));
  // More elements than are read at a time: the transposed Tensor's elements in C order.
  const Tensor large = tt::arange(3 * 50 * 70).to(DType::f64).reshape({3, 50, 70});
  const Tensor turned = large.permute({2, 1, 0}).contiguous();
  stored("<f8", "(3, 50, 70)", std::string(static_cast<const char*>(turned.data()), 3 * 50 * 70 * 8));
  CHECK(same_bits(tt::load_npy(file.path()), large));
}

TEST_CASE("files of NumPy's, in both orders") {
  const auto all = tt::load_npz("tests/data/numpy_orders.npz");
  CHECK(all.size() == 19);
  const std::map<std::string, DType> dtypes{{"bool", DType::boolean}, {"int32", DType::i32},  {"int64", DType::i64}, {"float32", DType::f32}, {"float64", DType::f64},
                                            {"float16", DType::f16},  {"uint8", DType::u8}, {"int8", DType::i8},   {"int16", DType::i16}};
  for (const auto& [name, dtype] : dtypes) {
    CAPTURE(name);
    REQUIRE(all.contains(name));
    const Tensor& t = all.at(name);
    CHECK(t.dtype() == dtype);
    CHECK(shape(t) == "(2, 3)");
    CHECK(numbers(t) == (dtype == DType::boolean ? Numbers{0, 1, 0, 1, 0, 1} : Numbers{0, 1, 2, 3, 4, 5}));
    CHECK(same_bits(all.at(name + ".T"), t));
  }
  CHECK(same_bits(all.at("cube"), tt::arange(24).to(DType::f32).reshape({2, 3, 4}).permute({2, 1, 0})));
  struct Cube {
    Tensor cube;
  } cube{tt::zeros({4, 3, 2})};
  CHECK(contains(message([&] { tt::load("tests/data/numpy_orders.npz", cube); }), "is not expected"));
  CHECK(message([] { tt::load_npy("tests/data/numpy_big_endian.npy"); }) ==
        "tt::load_npy: tests/data/numpy_big_endian.npy: its elements are big-endian. Save a.astype(a.dtype.newbyteorder('<'))?");
  CHECK(message([] { tt::load_npz("tests/data/savez_compressed.npz"); }) ==
        "tt::load_npz: tests/data/savez_compressed.npz: scale: is compressed. Write it with numpy.savez, not savez_compressed.");
}

TEST_CASE("Tensors by name, there and back") {
  const TemporaryFile file = temporary("names");
  std::map<std::string, Tensor> all;
  for (int d = 0; d < tt::dtype_count; ++d) all[tt::name(static_cast<DType>(d))] = tt::arange(6).to(static_cast<DType>(d)).reshape({2, 3});
  all["none"] = tt::zeros({0, 4});
  all["scalar"] = tt::tensor(2.5);
  all["a \"name\"\n/\xc3\xa9"] = tt::arange(12).reshape({3, 4}).t();
  tt::save_npz(file.path(), all);
  const auto found = tt::load_npz(file.path());
  CHECK(found.size() == all.size());
  for (const auto& [name, t] : all) {
    CAPTURE(name);
    REQUIRE(found.contains(name));
    CHECK(same_bits(found.at(name), t));
  }
  tt::save_npz(file.path(), {{"weight", tt::ones({2, 3})}, {"bias.0", tt::zeros({3})}, {"bias.1", tt::arange(3).to(DType::f32)}});
  Linear<tt::arrays> arrays;
  tt::load(file.path(), arrays);
  CHECK(arrays.bias[1](2) == 2);
  const Net net = filled();
  tt::save(file.path(), net);
  CHECK(same_bits(tt::load_npz(file.path()).at("layers.1.weight"), net.layers[1].weight));
  CHECK(numbers(tt::load_npz(file.path()).at("steps")) == Numbers{7});
  tt::save_npz(file.path(), {});
  CHECK(tt::load_npz(file.path()).empty());
}

TEST_CASE("structs read arrays in Fortran order from .npz files") {
  const TemporaryFile file = temporary("orders");
  {
    tt::detail::NpzWriter out(file.path());
    const auto add = [&](const char* name, const tt::Text& start, std::vector<float> elements) {
      out.add(name, start, reinterpret_cast<const char*>(elements.data()), 4 * elements.size());
    };
    const std::string weight = npy_file(npy_header("<f4", "True", "(2, 3)"), "");
    add("weight", tt::Text().append(weight.data(), static_cast<int>(weight.size())), {0, 3, 1, 4, 2, 5});
    for (const char* name : {"bias.0", "bias.1"}) add(name, tt::detail::npy_start(DType::f32, {3}), {7, 8, 9});
    out.finish();
  }
  Linear<tt::arrays> arrays;
  tt::load(file.path(), arrays);
  CHECK(arrays.weight(1, 0) == 3);
  Linear<tt::tensors> tensors;
  tt::load(file.path(), tensors);
  CHECK(numbers(tensors.weight) == Numbers{0, 1, 2, 3, 4, 5});
}

TEST_CASE("what cannot be written is refused before the file is touched") {
  const TemporaryFile file = temporary("refused");
  tt::save_npz(file.path(), {{"x", tt::ones({1})}});
  const std::string before = file.read();
  const auto refused = [&](const std::string& name, const Tensor& t, const std::string& why) {
    const std::string said = message([&] { tt::save_npz(file.path(), {{"fine", tt::ones({1})}, {name, t}}); });
    CHECK(said.starts_with("tt::save_npz: " + file.name + ": " + why));
    CHECK(said.find("test_tensor_files.cpp") != std::string::npos);
  };
  refused("w", Tensor(), "w: the Tensor is undefined, and has no place in a file. Use tt::empty({0})?");
  refused("w", tt::ones({2}, {.device = tt::DeviceType::meta}), "w: a Tensor on device meta has no elements to write.");
  refused("", tt::ones({1}), "the name of a Tensor is empty.");
  refused(std::string("a\0b", 3), tt::ones({1}), "the name of a Tensor has a zero byte in it.");
  refused(std::string(65001, 'x'), tt::ones({1}), "the name of a Tensor has more than 65,000 bytes.");
  for (const char* name : {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"}) refused(name, tt::ones({1}), "the name of a Tensor is no UTF-8.");
  CHECK(message([&] { tt::save_npy(file.path(), Tensor()); }).starts_with("tt::save_npy: " + file.name + ": the Tensor is undefined, and has no place in a file. "));
  CHECK(message([&] { tt::save_npy(file.path(), tt::ones({2}, {.device = tt::DeviceType::meta})); }) != "no error");
  CHECK(file.read() == before);
  CHECK(message([] { tt::save_npz("no/such.npz", {{"x", tt::ones({1})}}); }) == "tt::save_npz: no/such.npz: cannot be written.");
  CHECK(message([] { tt::save_npy("no/such.npy", tt::ones({1})); }) == "tt::save_npy: no/such.npy: cannot be written.");
  CHECK(message([] { tt::load_npz("no/such.npz"); }) == "tt::load_npz: no/such.npz: cannot be opened.");
  CHECK(message([] { tt::load_npy("no/such.npy"); }) == "tt::load_npy: no/such.npy: cannot be opened.");
}

TEST_CASE("damaged and hostile .npy files are refused, with what is wrong") {
  const TemporaryFile file = temporary("bad_npy");
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    file.write(bytes);
    CHECK(message([&] { tt::load_npy(file.path()); }) == "tt::load_npy: " + file.name + ": " + why);
  };
  const auto of = [](const char* order, const char* shape, std::size_t bytes) { return npy_file(npy_header("<f4", order, shape), std::string(bytes, '\0')); };
  for (const char* order : {"False", "True"}) {
    const std::string good = of(order, "(2, 3)", 24);
    refused(good.substr(0, 8), "the file ends in its header.");
    refused(good.substr(0, 40), "the file ends in its header.");
    refused(good.substr(0, good.size() - 1), "the file ends before its last element: f32 (2, 3) takes 24 bytes, the file holds 23.");
    refused(of(order, "(1000000, 1000000, 1000000)", 24), "not enough memory: f32 (1000000, 1000000, 1000000) takes more than 2^58 bytes. Use a smaller shape?");
    refused(of(order, "(99999999999999999999, 1)", 24), "an extent is larger than memory.");
    refused(of(order, "(70368744177664, 0, 70368744177664)", 24), "not enough memory: f32 (70368744177664, 0, 70368744177664) takes more than 2^58 bytes. Use a smaller shape?");
    refused(of(order, "(1000000000000,)", 24), "the file ends before its last element: f32 (1000000000000,) takes 4000000000000 bytes, the file holds 24.");
    refused(of(order, "(-1,)", 24), "the shape in its header is no list of sizes.");
    refused(of(order, "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)", 24), "it has too many axes.");
  }
  for (const char* order : {"true", "1", "None", "'True'", ""}) refused(of(order, "(2, 3)", 24), "the header does not say fortran_order.");
  for (const char* descr : {"<u4", "<c8", "|S3", "<M8[s]", "|O"})
    refused(npy_file(npy_header(descr, "False", "(2,)"), std::string(16, '\0')),
            "its dtype is not one of bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, little-endian. Convert it with numpy.astype?");
  for (const char* descr : {">f4", ">i8"})
    refused(npy_file(npy_header(descr, "False", "(2,)"), std::string(16, '\0')), "its elements are big-endian. Save a.astype(a.dtype.newbyteorder('<'))?");
}

TEST_CASE("arrays of a .npz file that share bytes are refused: a small file would fill all memory") {
  const TemporaryFile file = temporary("shared");
  tt::save_npz(file.path(), {{"a", tt::zeros({1000})}, {"b", tt::zeros({1000})}});
  std::string bytes = file.read();
  const std::size_t directory = bytes.find("PK\1\2"), second = bytes.find("PK\1\2", directory + 1);
  for (std::size_t k = 0; k < 4; ++k) bytes[second + 42 + k] = bytes[directory + 42 + k];
  file.write(bytes);
  CHECK(tt::load_npz(file.path()).size() == 2);  // no more bytes than the file has
  const std::string entry = bytes.substr(second, 46 + 5);
  std::string more = bytes.substr(0, directory);
  for (char name : {'a', 'b', 'c'}) more += entry.substr(0, 46) + name + ".npy";
  std::string end = bytes.substr(bytes.find("PK\5\6"));
  end[8] = end[10] = 3;
  end[12] = static_cast<char>(3 * (46 + 5));
  file.write(more + end);
  CHECK(message([&] { tt::load_npz(file.path()); }) == "tt::load_npz: " + file.name + ": is damaged (its arrays share bytes).");
}

TEST_CASE("random bytes and cut files never read beyond what is there") {
  const TemporaryFile file = temporary("fuzz");
  std::uint64_t state = 1;
  const auto next = [&state](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  tt::save_npz(file.path(), {{"a", tt::rand({3, 4})}, {"b", tt::arange(5)}, {"c", tt::ones({2}, DType::boolean)}});
  const std::string npz = file.read(), npy = npy_file(npy_header("<i2", "True", "(3, 4)"), std::string(24, '\1'));
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    const bool one = round % 2 == 0;
    std::string bytes = one ? npy : npz;
    if (round % 8 < 2) bytes.resize(next(bytes.size()));
    for (std::uint64_t k = next(4); k > 0 && !bytes.empty(); --k) bytes[next(bytes.size())] = static_cast<char>(next(256));
    file.write(bytes);
    const std::string said = message([&] {
      if (one) read += static_cast<int>(tt::load_npy(file.path()).dim() >= 0);
      else read += static_cast<int>(tt::load_npz(file.path()).size());
    });
    CAPTURE(said);
    if (said != "no error") CHECK(said.starts_with(one ? "tt::load_npy: " : "tt::load_npz: "));
  }
  CHECK(read > 0);
}

}  // namespace
