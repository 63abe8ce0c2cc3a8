// The bits that tt computes, recorded: a hash of each output of many random graphs and of programs on Tensors, in
// tests/bits.txt. A change of the inside of the library changes none of them. What is meant to change, because it was
// wrong, has a line in tests/bits_changed.txt that says how (the first recording, tests/bits_first.txt, stays: a difference without a line fails), and is then taken with
//   TT_ACCEPT_BITS=1 build/release/tests/test_bits
// All builds with fused multiply-add give these bits, whatever the compiler, instruction set and number of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "run_tiles.hpp"
#include "tensors.hpp"

namespace {

using tt::DType;
using tt::Tensor;

const char* const recorded_file = "tests/bits.txt";
const char* const first_file = "tests/bits_first.txt";

class Hash {
 public:
  void add(std::uint64_t bits) { state_ = (state_ ^ bits) * 0x100000001b3u + (state_ >> 31); }
  /// Any NaN is the same.
  void add(DType d, std::uint64_t bits) {
    const double x = tt::decode(d, bits);
    add(tt::is_floating(d) && x != x ? 0x7ff8u : bits);
  }
  std::string text() const {
    char s[17];
    std::snprintf(s, sizeof s, "%016llx", static_cast<unsigned long long>(state_));
    return s;
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

std::map<std::string, std::string> recorded(const char* file) {
  std::map<std::string, std::string> r;
  if (std::FILE* f = std::fopen(file, "r")) {
    char name[200], bits[40];
    while (std::fscanf(f, "%199s %39s", name, bits) == 2) r[name] = bits;
    std::fclose(f);
  }
  return r;
}
/// The names, or beginnings of names before a *, that lines of tests/bits_changed.txt have before their colon.
std::vector<std::string> explained() {
  std::vector<std::string> names;
  std::ifstream list("tests/bits_changed.txt");
  for (std::string line; std::getline(list, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line.substr(0, line.find(':')));
    for (std::string name; std::getline(words >> std::ws, name, ',');) names.push_back(name);
  }
  return names;
}

// ---- random graphs, by dtype of the first output

using Bits = std::map<std::string, std::string>;

void graphs(Bits& bits) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const fuzz::Program p = fuzz::random_program(seed, {.outputs = 10});
    const DType d = p.graph.outputs.empty() ? DType::f32 : p.graph[p.graph.outputs[0]].dtype;
    const std::string name = std::string("graph_") + std::to_string(seed) + "_" + tt::name(d);
    const tt::Plan plan = tt::compile_plan(p.graph);
    if (plan.failure) {
      bits[name] = "refused";
      continue;
    }
    const fuzz::GuardedResult r = fuzz::run_tiles(plan, p.graph, p.symbols, p.input);
    INFO("seed " << seed << ": " << std::string(r.trouble ? r.trouble : ""));
    REQUIRE(r.trouble == nullptr);
    Hash h;
    for (int k = 0; k < p.graph.outputs.size(); ++k)
      for (std::uint64_t x : r.output[static_cast<std::size_t>(k)]) h.add(p.graph[p.graph.outputs[k]].dtype, x);
    bits[name] = h.text();
  }
}

// ---- programs

Tensor numbers_like(tt::IntList shape, DType d, double phase) {
  std::int64_t n = 1;
  for (std::int64_t s : shape) n *= s;
  Tensor t = tt::empty({n}, {.dtype = DType::f64});
  for (std::int64_t k = 0; k < n; ++k)  // of integers and halves: exact in every dtype
    t.elements<double>()[static_cast<std::size_t>(k)] = static_cast<double>((k * 37 + static_cast<std::int64_t>(phase * 11)) % 41 - 20) / 8;
  return t.reshape(shape).to(d);
}

struct Named {
  const char* name;
  std::function<Tensor(const Tensor&, const Tensor&)> f;
};

void programs(Bits& bits) {
  const Named list[] = {
      {"softmax", [](const Tensor& x, const Tensor&) { return tt::softmax(x, 1); }},
      {"log_softmax", [](const Tensor& x, const Tensor&) { return tt::log_softmax(x, 0); }},
      {"logsumexp", [](const Tensor& x, const Tensor&) { return tt::logsumexp(x, 1); }},
      {"layernorm", [](const Tensor& x, const Tensor&) { return (x - x.mean(1, true)) * tt::rsqrt(x.var(1, 1, true) + 1e-5); }},
      {"matmul", [](const Tensor& x, const Tensor& y) { return tt::matmul(x, y.t()); }},
      {"matmul_transposed", [](const Tensor& x, const Tensor& y) { return tt::matmul(x.t(), y); }},
      {"mlp", [](const Tensor& x, const Tensor& y) { return tt::matmul(tt::relu(tt::matmul(x, y.t()) + 0.5), y); }},
      {"gelu", [](const Tensor& x, const Tensor& y) { return tt::gelu(x) * tt::sigmoid(y); }},
      {"silu_tanh", [](const Tensor& x, const Tensor& y) { return tt::silu(x) + tt::tanh(y * 0.5); }},
      {"exp_log", [](const Tensor& x, const Tensor& y) { return tt::log(tt::exp(x) + tt::exp(y)); }},
      {"sin_cos", [](const Tensor& x, const Tensor& y) { return tt::sin(x) * tt::cos(y); }},
      {"pow", [](const Tensor& x, const Tensor& y) { return tt::pow(tt::abs(x) + 0.25, y * 0.25); }},
      {"erf_sqrt", [](const Tensor& x, const Tensor& y) { return tt::erf(x) / tt::sqrt(tt::abs(y) + 1); }},
      {"sum_columns", [](const Tensor& x, const Tensor& y) { return (x * y).sum(0); }},
      {"sum_rows", [](const Tensor& x, const Tensor& y) { return (x - y).sum(1); }},
      {"sum_all", [](const Tensor& x, const Tensor& y) { return (x * y + x).sum(); }},
      {"largest", [](const Tensor& x, const Tensor& y) { return tt::maximum(x, y).amax(1) - tt::minimum(x, y).amin(1); }},
      {"slices", [](const Tensor& x, const Tensor& y) { return x.slice(0, 1, 9, 2) * y.slice(0, 0, 4); }},
      {"transposed", [](const Tensor& x, const Tensor& y) { return (x.t() + 1).contiguous() * y.t(); }},
      {"joined", [](const Tensor& x, const Tensor& y) { return tt::cat({x, y * 2, x}, 1).sum(0); }},
      {"padded", [](const Tensor& x, const Tensor&) { return tt::pad(x, {1, 2}) * 3; }},
      {"conv", [](const Tensor& x, const Tensor& y) {
         return tt::conv2d(x.slice(1, 0, 24).reshape({1, 2, 16, 24}).slice(2, 0, 16), y.slice(0, 0, 3).slice(1, 0, 18).reshape({3, 2, 3, 3}), {.stride = 2, .padding = 1});
       }},
      {"pools", [](const Tensor& x, const Tensor&) {
         const Tensor image = x.slice(0, 0, 32).slice(1, 0, 32).reshape({1, 1, 32, 32});
         return tt::max_pool2d(image, {.kernel_size = 3, .stride = 2, .padding = 1}) + tt::avg_pool2d(image, {.kernel_size = 2}).amax();
       }},
      {"variance", [](const Tensor& x, const Tensor&) { return x.var(0) + x.mean(0); }},
      {"choice", [](const Tensor& x, const Tensor& y) { return tt::where(x < y, x * 2, y - 1); }},
  };
  for (const Named& p : list)
    for (const DType d : {DType::f32, DType::f64})
      for (const bool compiled : {false, true}) {
        const Tensor x = numbers_like({32, 40}, d, 1).requires_grad_(), y = numbers_like({32, 40}, d, 2).requires_grad_();
        Hash h;
        Tensor r;
        if (compiled) {
          const auto f = p.f;
          r = tt::compile(tt::frozen([f](const Tensor& a, const Tensor& b) { return f(a, b); }), {.tier = 0})(x, y);
        } else {
          r = p.f(x, y);
        }
        (r * r).sum().backward();
        for (const Tensor& t : {r, x.grad(), y.grad()}) {
          if (!t.defined()) continue;
          const Tensor dense = t.detach().contiguous();
          tt::with_dtype(d, [&]<class T>(T) {
            for (T v : dense.elements<T>()) h.add(d, tt::encode(d, static_cast<double>(v)));
          });
        }
        bits[std::string(p.name) + (compiled ? "_compiled_" : "_eager_") + tt::name(d)] = h.text();
      }
}

}  // namespace

TEST_CASE("the bits of graphs and programs are those recorded") {
#if TT_HAS_FMA
  Bits now;
  graphs(now);
  programs(now);
  if (std::getenv("TT_ACCEPT_BITS")) {
    std::FILE* f = std::fopen(recorded_file, "w");
    REQUIRE(f);
    for (const auto& [name, hash] : now) std::fprintf(f, "%s %s\n", name.c_str(), hash.c_str());
    std::fclose(f);
    return;
  }
  const Bits before = recorded(recorded_file);
  REQUIRE(before.size() == now.size());
  for (const auto& [name, hash] : now) {
    INFO(name);
    const auto it = before.find(name);
    REQUIRE(it != before.end());
    CHECK(it->second == hash);
  }
#else
  std::printf("[SKIPPED test] the bits recorded are those of processors with fused multiply-add\n");
#endif
}

TEST_CASE("bits that are no longer those first recorded have a line that says why") {
  const Bits first = recorded(first_file), now = recorded(recorded_file);
  REQUIRE(first.size() > 400);
  const std::vector<std::string> reasons = explained();
  for (const auto& [name, hash] : first) {
    INFO(name);
    const auto it = now.find(name);
    REQUIRE(it != now.end());
    const bool has_reason = std::any_of(reasons.begin(), reasons.end(), [&, &known = name](const std::string& r) {
      return r.ends_with("*") ? known.starts_with(r.substr(0, r.size() - 1)) : known == r;
    });
    CHECK((it->second == hash || has_reason));
  }
}
