// Parameter structs by name: Boost.Hana's view of them, named_parameters, and .npz files.
#include <doctest/doctest.h>

#include <array>
#include <boost/hana/at_key.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/equal.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/length.hpp>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tt/expr/fuse.hpp"
#include "tt/io/parameters.hpp"

namespace {

namespace hana = boost::hana;
using tt::Array;
using tt::dyn;

template <class Kind>
struct Linear {
  tt::leaf<Kind, float, 2, 3> weight;
  tt::leaf<Kind, float, 3> bias;
};
template <class Kind>
struct Net {
  tt::leaf<Kind, float> scale;
  Linear<Kind> layers[2];
  tt::leaf<Kind, std::int64_t, 2> steps;
};
template <class Kind>
struct Mixed {
  Linear<Kind> first_;
  std::array<Linear<Kind>, 11> X;
  tt::leaf<Kind, bool, 1> größe, table[2][1];
  tt::leaf<Kind, double, dyn> any;
};
template <class Kind>
struct Single {
  tt::leaf<Kind, float, 300, 2> only;
};
using Arrays = Net<tt::arrays>;

template <class S>
std::vector<std::string> names_of(S& s) {
  std::vector<std::string> names;
  tt::named_parameters(s, [&](auto name, auto&) { names.emplace_back(name.c_str()); });
  return names;
}
Arrays filled() {
  Arrays net;
  float x = 0.5f;
  tt::named_parameters(net, [&](auto, auto& leaf) {
    for (auto& e : leaf) e = static_cast<std::remove_reference_t<decltype(e)>>(x *= -1.5f);
  });
  return net;
}
template <class S>
bool equal(const S& a, const S& b) {
  bool same = true;
  tt::for_each_member([&](const auto& x, const auto& y) {
    same = same && x.shape() == y.shape() &&
           std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size()) * sizeof(*x.data())) == 0;
  }, a, b);
  return same;
}

/// A file of the working directory that goes away.
struct TemporaryFile {
  std::string name;
  explicit TemporaryFile(const char* of) : name(std::string("test_parameters_") + of + ".npz") {}
  TemporaryFile(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(name.c_str()); }
  const char* path() const { return name.c_str(); }
  void write(const std::string& bytes) const {
    std::FILE* f = std::fopen(path(), "wb");
    REQUIRE(f != nullptr);
    CHECK(std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size());
    std::fclose(f);
  }
  std::string read() const {
    std::FILE* f = std::fopen(path(), "rb");
    REQUIRE(f != nullptr);
    std::string bytes;
    for (int c = std::fgetc(f); c != EOF; c = std::fgetc(f)) bytes.push_back(static_cast<char>(c));
    std::fclose(f);
    return bytes;
  }
};

/// load() must refuse these bytes for this reason and leave what it was given alone.
template <class S>
void check_refused(const TemporaryFile& file, const std::string& bytes, const std::string& why, S s) {
  file.write(bytes);
  const S before = s;
  CHECK_THROWS_WITH_AS(tt::load(file.path(), s), ("tt::load: " + file.name + ": " + why).c_str(), tt::Error);
  CHECK(equal(s, before));
}
std::string with(std::string bytes, std::size_t at, const std::string& part) {
  return bytes.replace(at, part.size(), part);
}

}  // namespace

// ---- names

static_assert(hana::Struct<Linear<tt::arrays>>::value);
static_assert(hana::Struct<Net<tt::symbols>>::value);
static_assert(!hana::Struct<Array<float, 3>>::value);

TEST_CASE("members have the names they were declared with") {
  Arrays net;
  CHECK(names_of(net) == std::vector<std::string>{"scale", "layers.0.weight", "layers.0.bias",
                                                  "layers.1.weight", "layers.1.bias", "steps"});
  const Mixed<tt::arrays> mixed;
  const std::vector<std::string> names = names_of(mixed);
  REQUIRE(names.size() == 2 + 22 + 4);
  CHECK(names[0] == "first_.weight");
  CHECK(names[22] == "X.10.weight");
  CHECK(names[24] == "größe");
  CHECK(names[26] == "table.1.0");
  CHECK(names[27] == "any");
  Single<tt::arrays> single;
  CHECK(names_of(single) == std::vector<std::string>{"only"});
}

TEST_CASE("Boost.Hana sees a parameter struct as a Struct") {
  Linear<tt::arrays> linear;
  const auto keys = hana::keys(linear);
  static_assert(keys == hana::make_tuple(BOOST_HANA_STRING("weight"), BOOST_HANA_STRING("bias")));
  int visited = 0;
  hana::for_each(linear, hana::fuse([&](auto name, auto& member) {
    if constexpr (name == BOOST_HANA_STRING("bias")) member(1) = 5;
    ++visited;
  }));
  CHECK(visited == 2);
  CHECK(linear.bias(1) == 5);
  auto members = hana::members(linear);
  static_assert(decltype(hana::length(members))::value == 2);
  members[hana::size_c<0>](0, 0) = 7;
  CHECK(linear.weight(0, 0) == 7);
  hana::at_key(linear, BOOST_HANA_STRING("weight"))(0, 1) = 8;
  CHECK(linear.weight(0, 1) == 8);
  const Linear<tt::arrays>& fixed = linear;
  hana::for_each(fixed, hana::fuse([](auto, auto& member) {
    static_assert(std::is_const_v<std::remove_reference_t<decltype(member)>>);
  }));
}

TEST_CASE("names can be asked inside a fused function") {
  const auto decay = tt::fuse([](auto& net, auto rate) {
    tt::named_parameters(net, [&](auto name, auto& w) {
      constexpr auto n = decltype(hana::length(name))::value;
      if constexpr (n >= 6 && decltype(name)::c_str()[n - 1] == 't') w = w - rate * w;
    });
  });
  Arrays net = filled();
  const Arrays before = net;
  decay(net, 0.5f);
  CHECK(net.layers[1].weight(1, 2) == 0.5f * before.layers[1].weight(1, 2));
  CHECK(net.layers[1].bias(2) == before.layers[1].bias(2));
}

TEST_CASE("arrays of layers are differentiated, updated and returned") {
  const auto loss = [](const auto& net, auto x) {
    for (const auto& layer : net.layers) x = tt::tanh(x * net.scale + layer.bias);
    return tt::sum(x);
  };
  Arrays net = filled();
  net.steps = Array<std::int64_t, 2>();
  const Array<float, 3> x{0.1f, -0.2f, 0.3f};
  const auto [value, d] = tt::value_and_grad<1>(loss)(net, x);
  float expected = 0;
  for (int k = 0; k < 3; ++k) {
    float h = x(k);
    for (const auto& layer : net.layers) h = std::tanh(h * net.scale() + layer.bias(k));
    expected += h;
  }
  CHECK(value.item() == doctest::Approx(expected));
  CHECK(d.size() == 3);
}

// ---- files

TEST_CASE("parameters come back from their file") {
  const TemporaryFile file("round_trip");
  const Arrays net = filled();
  tt::save(file.path(), net);
  Arrays back;
  tt::load(file.path(), back);
  CHECK(equal(net, back));
  Mixed<tt::arrays> mixed, mixed_back;
  mixed.any = Array<double, dyn>{1, -0.0, 1e300};
  mixed.X[10].bias(2) = 3;
  tt::save(file.path(), mixed);
  tt::load(file.path(), mixed_back);
  CHECK(equal(mixed, mixed_back));
  Single<tt::arrays> single, single_back;
  single.only(299, 1) = 4;
  tt::save(file.path(), single);
  tt::load(file.path(), single_back);
  CHECK(equal(single, single_back));
}

TEST_CASE("equal parameters give equal files") {
  const TemporaryFile file("equal");
  tt::save(file.path(), filled());
  const std::string first = file.read();
  tt::save(file.path(), filled());
  CHECK(file.read() == first);
}

TEST_CASE("a file that numpy.savez wrote is read") {
  Arrays net;
  tt::load("tests/data/savez.npz", net);
  CHECK(net.scale() == 0.5f);
  CHECK(net.layers[0].weight(1, 2) == 5);
  CHECK(net.layers[0].bias(2) == 0.25f);
  CHECK(net.layers[1].weight(1, 0) == -3);
  CHECK(net.steps(1) == std::int64_t{1} << 40);
  CHECK_THROWS_WITH_AS(tt::load("tests/data/savez_compressed.npz", net),
                       "tt::load: tests/data/savez_compressed.npz: scale: is compressed. Write it with "
                       "numpy.savez, not savez_compressed.",
                       tt::Error);
}

template <class Kind>
struct Longer {
  Linear<Kind> layers[2];
  tt::leaf<Kind, float> scale, shift;
  tt::leaf<Kind, std::int64_t, 2> steps;
};
template <class Kind>
struct Shorter {
  tt::leaf<Kind, float> scale;
  Linear<Kind> layers[2];
};
template <class Kind>
struct OtherShape {
  tt::leaf<Kind, float> scale;
  Linear<Kind> layers[2];
  tt::leaf<Kind, std::int64_t, dyn, 2> steps;
};
template <class Kind>
struct OtherDtype {
  tt::leaf<Kind, double> scale;
  Linear<Kind> layers[2];
  tt::leaf<Kind, std::int64_t, 2> steps;
};

TEST_CASE("names, dtypes and shapes must be the struct's") {
  const TemporaryFile file("other");
  tt::save(file.path(), filled());
  const std::string good = file.read();
  check_refused(file, good, "shift: is missing; the struct has it, the file has not.", Longer<tt::arrays>{});
  check_refused(file, good, "steps: is not expected; the file has it, the struct has not.",
                Shorter<tt::arrays>{});
  check_refused(file, good, "steps: holds i64 (2,), wanted is i64 (any, 2).", OtherShape<tt::arrays>{});
  check_refused(file, good, "scale: holds f32 (), wanted is f64 ().", OtherDtype<tt::arrays>{});
}

TEST_CASE("a damaged file is refused and the message says why") {
  const TemporaryFile file("damaged");
  tt::save(file.path(), filled());
  const std::string good = file.read();
  const std::size_t end = good.size() - 22, directory = good.find("PK\1\2");
  const char* none = "this is no .npz file (no zip directory), or it was cut off.";
  const char* damaged = "is damaged (its zip directory points outside of it).";
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    check_refused(file, bytes, why, filled());
  };
  refused("", none);
  refused("PK", none);
  refused(good.substr(0, good.size() - 1), none);
  refused(good.substr(0, directory), none);
  refused(good + "x", none);
  refused(good.substr(1), damaged);
  refused(good.substr(directory), damaged);
  refused(with(good, end + 16, std::string(4, '\x7f')), damaged);
  refused(with(good, end + 12, std::string(4, '\x7f')), damaged);
  refused(with(good, end + 16, std::string(4, '\xff')),
          "files of 4 GiB or 65,535 arrays (zip64) are not read.");
  refused(with(good, end + 10, "\7"), damaged);                         // one more entry than there are
  refused(with(good, directory + 28, std::string("\xff\xff")), damaged);  // a name beyond the directory
  refused(with(good, directory + 42, std::string("\xff\xff\xff")), damaged);
  refused(with(good, directory + 20, std::string("\xff\xff\xff\0\xff\xff\xff\0", 8)), damaged);
  refused(with(good, directory + 24, "\1"), damaged);  // two sizes
  refused(with(good, 0, "PX"), damaged);
  refused(with(good, directory + 8, "\1"), "scale: is encrypted.");
  refused(with(good, directory + 10, "\x8"),
          "scale: is compressed. Write it with numpy.savez, not savez_compressed.");
  refused(with(good, directory + 46 + 6, "txt"), "holds 'scale.txt', which is no .npy file.");
  refused(with(good, 30 + 9 + 128, "\1"), "scale: is damaged (wrong checksum).");
  std::string twice = good;
  const std::size_t at = good.find("layers.1.bias", directory);
  refused(with(twice, at, "layers.0.bias"), "layers.0.bias: stands in it twice.");
  CHECK_THROWS_WITH_AS(tt::save("/no/such/file.npz", filled()),
                       "tt::save: /no/such/file.npz: cannot be written.", tt::Error);
  Arrays net;
  CHECK_THROWS_WITH_AS(tt::load("/no/such/file.npz", net),
                       "tt::load: /no/such/file.npz: cannot be opened.", tt::Error);
}

TEST_CASE("a name with a zero byte is refused, and a directory of many names is read at once") {
  const TemporaryFile file("names");
  tt::save(file.path(), filled());
  const std::string good = file.read();
  check_refused(file, with(good, good.find("scale", good.find("PK\1\2")) + 2, std::string(1, '\0')), "the name of array 0 has a zero byte in it.", filled());
  {
    tt::detail::NpzWriter out(file.path());
    const float one = 1;
    for (int k = 0; k < 60000; ++k)
      out.add((tt::Text("a.long.name.that.all.have.in.common.") << k).c_str(), tt::detail::npy_start(tt::DType::f32, {}),
              reinterpret_cast<const char*>(&one), sizeof one);
    out.finish();
  }
  const std::clock_t start = std::clock();
  const tt::detail::NpzReader in(file.path());
  for (int k = 0; k < 60000; k += 7) CHECK(in.find(tt::Text("a.long.name.that.all.have.in.common.") << k) == k);
  CHECK(in.find("a.long.name.that.all.have.in.common.") == -1);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 1);  // 4 s when each was compared with all before it
}

TEST_CASE("an array that is cut short inside its entry is refused") {
  const TemporaryFile file("short");
  tt::save(file.path(), filled());
  std::string bytes = file.read();
  const std::size_t directory = bytes.find("PK\1\2");
  const std::uint32_t crc = tt::detail::crc32(bytes.data() + 39, 130);
  for (std::size_t k = 0; k < 4; ++k) bytes[directory + 16 + k] = static_cast<char>(crc >> (8 * k) & 255);
  bytes[directory + 20] = bytes[directory + 24] = static_cast<char>(130);
  check_refused(file, bytes, "scale: the file ends before its last element: f32 () takes 4 bytes, the file holds 2.", filled());
}

TEST_CASE("any single byte may be wrong") {
  const TemporaryFile file("bytes");
  const Arrays net = filled();
  tt::save(file.path(), net);
  const std::string good = file.read();
  int refused = 0;
  for (std::size_t k = 0; k < good.size(); k += k < 200 || k > good.size() - 500 ? 1 : 29) {
    file.write(with(good, k, good[k] == '\xff' ? std::string("x") : std::string("\xff")));
    Arrays back;
    try {
      tt::load(file.path(), back);
      CHECK(equal(net, back));  // a byte that does not matter
    } catch (const tt::Error&) {
      ++refused;
    }
  }
  CHECK(refused > 300);
}
