// The toolkit's own NVRTC, where it is installed: emitted kernels of every form become machine code, for
// the architectures of the last years, without a GPU.
#include <dirent.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "random_graph.hpp"
#include "shrink.hpp"
#include "tt/backends/cuda/program.hpp"

namespace {

using tt::Extent;
using tt::Graph;
using tt::Sym;
namespace cuda = tt::cuda;

const cuda::Nvrtc* nvrtc() {
  static const cuda::Nvrtc* const found = []() -> const cuda::Nvrtc* {
    try {
      return &cuda::Nvrtc::get();
    } catch (const tt::Unavailable& e) {
      std::printf("[SKIPPED cuda] %s\n", e.what());
      return nullptr;
    }
  }();
  return found;
}
bool is_machine_code(const tt::Vec<char>& code) { return code.size() > 64 && std::memcmp(code.begin(), "\177ELF", 4) == 0; }

tt::Plan plan_of(void (*record)(Graph&)) {
  Graph g;
  record(g);
  return tt::compile_plan(g, {.transposed = tt::Transposed::as_it_lies});
}
Sym input(Graph& g, const tt::Shape& s, tt::DType d = tt::DType::f32) { return {&g, g.input(d, s)}; }
const Extent n = Extent::symbol(0), m = Extent::symbol(1);

}  // namespace

TEST_CASE("places beyond 32 bits are computed in 64") {  // needs no NVRTC
  const tt::Plan large = plan_of([](Graph& g) {
    g.output(tt::matmul(input(g, {65536, 65536, n}), input(g, {65536, n, 4})).id);
  });
  tt::Vec<tt::NamedPlan> all;
  all.push_back({&large, "large"});
  const tt::Text text = cuda::emit_cuda(all);
  CHECK(std::string(text.begin(), text.end()).find("all = (i64)(65536) * (65536) * cols") != std::string::npos);
}

TEST_CASE("NVRTC compiles kernels of every form for sm_80, sm_90 and sm_100") {
  if (!nvrtc()) return;
  const tt::Plan plans[] = {
      plan_of([](Graph& g) { g.output((tt::tanh(input(g, {n}) * input(g, {n})) + tt::erf(input(g, {n}))).id); }),
      plan_of([](Graph& g) { g.output((input(g, {n, m}) + tt::cast<float>(input(g, {m}, tt::DType::i64))).id); }),
      plan_of([](Graph& g) { g.output(tt::softmax(input(g, {n, m}), -1).id); }),
      plan_of([](Graph& g) { g.output(tt::argmax(input(g, {n, m}, tt::DType::f64), -1).id); }),
      plan_of([](Graph& g) { g.output(tt::sum(input(g, {n, m}), 0).id); }),
      plan_of([](Graph& g) { g.output(tt::relu(tt::matmul(input(g, {n, m}), input(g, {m, 64})) + input(g, {64})).id); }),
      plan_of([](Graph& g) { g.output(tt::rand_like(input(g, {n}), 7).id); })};
  const char* names[] = {"chain", "row", "softmax", "argmax", "columns", "linear", "random"};
  tt::Vec<tt::NamedPlan> all;
  for (int k = 0; k < 7; ++k) all.push_back({&plans[k], names[k]});
  for (int major : {8, 9, 10}) CHECK(is_machine_code(nvrtc()->compile(cuda::emit_cuda(all), "forms", major, 0)));
  const tt::Vec<char> text = nvrtc()->compile(cuda::emit_cuda(all), "forms", 99, 0);  // a device of the future
  CHECK(std::strstr(text.begin(), ".target sm_"));
  CHECK_THROWS_AS(nvrtc()->compile(cuda::emit_cuda(all), "forms", 2, 0), tt::Unavailable);
}

TEST_CASE("NVRTC compiles the kernels of random graphs") {
  if (!nvrtc()) return;
  std::vector<tt::Plan> plans;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    const fuzz::Case c = fuzz::without_bodies(fuzz::random_program(seed, {.steps = 20, .work = 20000, .narrow = seed % 3 == 0, .takes = seed % 4 == 1}));
    if (tt::Plan p = tt::make_plan(c.graph, {.transposed = tt::Transposed::as_it_lies}); !p.failure) plans.push_back(p);
  }
  std::vector<tt::Text> names;
  for (std::size_t k = 0; k < plans.size(); ++k) names.push_back(tt::Text("g") << k);
  tt::Vec<tt::NamedPlan> all;
  for (std::size_t k = 0; k < plans.size(); ++k) all.push_back({&plans[k], names[k].c_str()});
  CHECK(is_machine_code(nvrtc()->compile(cuda::emit_cuda(all), "random", 9, 0)));
}

TEST_CASE("NVRTC compiles every golden kernel") {
  if (!nvrtc()) return;
  const auto text_of = [](const std::string& file) {
    std::ifstream in("tests/golden/" + file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  };
  const std::string prelude = text_of("prelude.cu");
  REQUIRE(prelude.size() > 1000);
  int kernels = 0;
  DIR* const d = opendir("tests/golden");
  REQUIRE(d);
  while (const dirent* e = readdir(d)) {
    const std::string file = e->d_name;
    if (!file.ends_with(".cu") || file == "prelude.cu") continue;
    CAPTURE(file);
    CHECK(is_machine_code(nvrtc()->compile(tt::Text((prelude + text_of(file)).c_str()), "golden", 9, 0)));
    ++kernels;
  }
  closedir(d);
  CHECK(kernels >= 15);
}

TEST_CASE("text that is wrong is kept, and named in the message") {
  if (!nvrtc()) return;
  try {
    nvrtc()->compile(tt::Text("extern \"C\" __global__ void f() { nonsense; }"), "wrong", 9, 0);
    FAIL("nothing was thrown");
  } catch (const tt::Error& e) {
    const std::string said = e.what();
    CHECK(said.find("NVRTC does not compile the kernels of 'wrong' for sm_90") != std::string::npos);
    CHECK(said.find("wrong.cu(1): error: ") != std::string::npos);
    const std::size_t at = said.find("Their text is in ");
    REQUIRE(at != std::string::npos);
    CHECK(std::remove(said.substr(at + 17, said.size() - at - 18).c_str()) == 0);
  }
}
