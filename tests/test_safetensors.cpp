// .safetensors files: what is written is read, what others wrote is read, and what is damaged is refused.
#include <doctest/doctest.h>

#include <cstdio>

#if __has_include(<nlohmann/json.hpp>)
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "temporary_file.hpp"
#include "tensors.hpp"
#include "tt/io/safetensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;
namespace safetensors = tt::safetensors;

TemporaryFile temporary(const char* of) { return TemporaryFile(std::string("test_safetensors_") + of + ".safetensors"); }
/// A file with this header and so many bytes behind it.
std::string file_of(const std::string& header, int bytes) {
  std::string all(8, '\0');
  for (int k = 0; k < 8; ++k) all[static_cast<std::size_t>(k)] = static_cast<char>(header.size() >> (8 * k) & 255);
  return all + header + std::string(static_cast<std::size_t>(bytes), '\1');
}

struct Layer {
  Tensor weight, bias;
};
struct Net {
  std::vector<Layer> layers;
  std::array<Tensor, 2> scale;
  double rate = 0;
};

}  // namespace

TEST_CASE("Tensors of every dtype and shape, there and back") {
  const TemporaryFile file = temporary("dtypes");
  std::map<std::string, Tensor> all;
  for (int d = 0; d < tt::dtype_count; ++d) all[tt::name(static_cast<DType>(d))] = tt::arange(6).to(static_cast<DType>(d)).reshape({2, 3});
  all["none"] = tt::zeros({0, 4});
  all["scalar"] = tt::tensor(2.5);
  all["a \"name\"\n\xc3\xa9"] = tt::arange(12).reshape({3, 4}).t();
  safetensors::save_file(all, file.path(), {{"format", "tt"}, {"note", "two words"}});
  const auto found = safetensors::load_file(file.path());
  CHECK(found.size() == all.size());
  for (const auto& [name, t] : all) {
    CAPTURE(name);
    REQUIRE(found.contains(name));
    CHECK(same_bits(found.at(name), t));
    CHECK(found.at(name).is_contiguous());
  }
  const safetensors::File opened(file.path());
  CHECK(opened.metadata() == safetensors::Metadata{{"format", "tt"}, {"note", "two words"}});
  CHECK(opened.shape("f32") == tt::Shape{2, 3});
  CHECK(opened.dtype("bf16") == "BF16");
  CHECK(opened.contains("none"));
  CHECK(!opened.contains("nobody"));
  CHECK(opened.keys().size() == all.size());
  CHECK(message([&] { opened.get_tensor("nobody"); }).find("has no Tensor 'nobody'") != std::string::npos);
  CHECK(file.read().size() % 8 == (6 * (8 + 8 + 4 + 4 + 3 * 2 + 3 * 1) + 4 + 12 * 8) % 8);  // the header ends at a multiple of 8
}

TEST_CASE("structs and lists by the names of their members") {
  const TemporaryFile file = temporary("net");
  const Net net{{{tt::rand({2, 3}), tt::rand({3})}, {tt::rand({3, 1}), tt::rand({1})}}, {tt::arange(3), tt::arange(4)}, 0.25};
  safetensors::save(file.path(), net);
  CHECK(safetensors::File(file.path()).keys() == std::vector<std::string>{"layers.0.bias", "layers.0.weight", "layers.1.bias", "layers.1.weight", "rate", "scale.0", "scale.1"});
  Net read;
  safetensors::load(file.path(), read);
  REQUIRE(read.layers.size() == 2);
  CHECK(same_bits(read.layers[1].weight, net.layers[1].weight));
  CHECK(same_bits(read.scale[1], net.scale[1]));
  CHECK(read.rate == 0.25);
  Net other = read;
  other.layers[0].bias = tt::zeros({4});
  CHECK(message([&] { safetensors::load(file.path(), other); }).find("layers.0.bias: holds f32 (3,), wanted is f32 (4,)") != std::string::npos);
  other.layers.pop_back();
  other.layers[0].bias = tt::zeros({3});
  CHECK(message([&] { safetensors::load(file.path(), other); }).find("layers.1.bias: is not expected") != std::string::npos);
  other.layers[0].bias = Tensor();
  CHECK(message([&] { safetensors::save(file.path(), other); }).find("layers.0.bias: the Tensor is undefined") != std::string::npos);
}

TEST_CASE("a file that another program wrote") {
  const TemporaryFile file = temporary("other");
  // Spaces, an order of its own, a dtype that tt does not have, and elements that are not aligned.
  const std::string header = R"({ "b":{"shape":[2],"dtype":"F32","data_offsets":[1,9]}, "a" : {"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]} })";
  std::string bytes = file_of(header, 9);
  const float values[2] = {1.5f, -2.0f};
  std::memcpy(bytes.data() + bytes.size() - 8, values, 8);
  file.write(bytes);
  const safetensors::File opened(file.path());
  CHECK(numbers(opened.get_tensor("b")) == Numbers{1.5, -2});
  CHECK(opened.dtype("a") == "F8_E4M3");
  CHECK(message([&] { opened.get_tensor("a"); }).find("a: its dtype is F8_E4M3, which is none of tt's.") != std::string::npos);
  CHECK(message([&] { safetensors::load_file(file.path()); }).find("F8_E4M3") != std::string::npos);
  file.write(file_of("{}", 0));
  CHECK(safetensors::load_file(file.path()).empty());
}

TEST_CASE("damaged and hostile files are refused, with what is wrong") {
  const TemporaryFile file = temporary("bad");
  const auto refused = [&](const std::string& bytes, const char* why) {
    file.write(bytes);
    const std::string said = message([&] { safetensors::load_file(file.path()); });
    CAPTURE(bytes);
    CAPTURE(said);
    CHECK(said.find(why) != std::string::npos);
  };
  const auto with = [](const std::string& about, int bytes = 4) { return file_of("{\"x\":" + about + "}", bytes); };
  refused("", "too short");
  refused("1234567", "too short");
  refused(std::string(8, '\xff'), "its header would end behind it");
  refused(file_of("{}", 0).substr(0, 9), "its header would end behind it");
  refused(file_of("", 0), "no JSON object");
  refused(file_of("[1]", 0), "no JSON object");
  refused(file_of("{\"x\":", 0), "no JSON object");
  refused(file_of(std::string(100000, '['), 0), "no JSON object");
  refused(file_of("{\"x\":" + std::string(100000, '[') + std::string(100000, ']') + "}", 0), "does not say");
  refused(file_of("{\"\xff\":1}", 0), "no JSON object");
  refused(with("3"), "x: the header does not say");
  refused(with(R"({"dtype":"F32","shape":[1]})"), "x: the header does not say");
  refused(with(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"), "x: the header does not say");
  refused(with(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), "x: the header does not say");
  refused(with(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), "x: the header does not say");
  refused(with(R"({"dtype":"F32","shape":[99999999999999999999999],"data_offsets":[0,4]})"), "x: the header does not say");
  refused(with(R"({"dtype":32,"shape":[1],"data_offsets":[0,4]})"), "x: the header does not say");
  refused(with(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})"), "too many axes");
  refused(with(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), "which is not what F32 (2,) takes");
  refused(with(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})"), "not enough memory");
  refused(with(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"), "ends before its last element");
  refused(with(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), "ends before its last element");
  refused(with(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", 8), "bytes before it that belong to nothing");
  refused(with(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 5), "bytes at its end that belong to nothing");
  const std::string one = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  refused(file_of("{\"x\":" + one + ",\"y\":" + one + "}", 4), "its elements are others' too");
  refused(file_of("{\"x\":" + one + ",\"x\":" + one + "}", 4), "x: stands in it twice");
  refused(file_of("{\"x\\u0000y\":" + one + "}", 4), "zero byte");
  refused(file_of(R"({"__metadata__":3})", 0), "__metadata__ is no JSON object");
  refused(file_of(R"({"__metadata__":{"a":3}})", 0), "a is no string");
  std::string booleans = with(R"({"dtype":"BOOL","shape":[4],"data_offsets":[0,4]})");
  booleans.back() = 2;
  refused(booleans, "element 3 is no bool");
  CHECK(message([] { safetensors::load_file("no/such.safetensors"); }).find("no/such.safetensors: cannot be opened") != std::string::npos);
  CHECK(message([] { safetensors::save_file({{"x", tt::ones({1})}}, "no/such.safetensors"); }).find("cannot be written") != std::string::npos);
  CHECK(message([] { safetensors::save_file({{"__metadata__", tt::ones({1})}}, "no/such.safetensors"); }).find("no name for a Tensor") != std::string::npos);
}

TEST_CASE("names that are no UTF-8 are refused where they are written") {
  for (const char* name : {"\xff", "a\xc3", "\xed\xa0\x80"}) CHECK(contains(message([&] { tt::safetensors::save_file({{name, tt::ones({2})}}, "names.safetensors"); }), "no UTF-8"));
  CHECK_NOTHROW(tt::safetensors::save_file({{"\xc3\xa9", tt::ones({2})}}, "names.safetensors"));
  CHECK(tt::safetensors::load_file("names.safetensors").count("\xc3\xa9") == 1);
}
TEST_CASE("random bytes and cut files never read beyond what is there") {
  const TemporaryFile file = temporary("fuzz");
  safetensors::save_file({{"a", tt::rand({3, 4})}, {"b", tt::arange(5)}, {"c", tt::ones({2}, DType::boolean)}}, file.path(), {{"k", "v"}});
  const std::string whole = file.read();
  std::uint64_t state = 1;
  const auto next = [&state](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  int read = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    if (round % 4 == 0) bytes.resize(next(bytes.size()));
    for (std::uint64_t k = next(4); k > 0 && !bytes.empty(); --k) bytes[next(bytes.size())] = static_cast<char>(next(256));
    file.write(bytes);
    const std::string said = message([&] { read += static_cast<int>(safetensors::load_file(file.path()).size()); });
    CAPTURE(said);
    if (said != "no error") CHECK(said.find("safetensors") != std::string::npos);
  }
  CHECK(read > 0);
}
#else
TEST_CASE("safetensors") { std::printf("[SKIPPED json] nlohmann-json3-dev is not installed: nothing tested\n"); }
#endif
