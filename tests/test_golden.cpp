// The emitted C and CUDA C++ of typical graphs, word for word, in tests/golden: what a change does to kernels is seen in its diff.
//   TT_ACCEPT_GOLDEN=1 ctest --test-dir build/release -R golden     or `make accept`, rewrites the files
// The text is that for hardware with fma, whatever this machine has. Lines of source (", from line 36") are left out,
// and so is what all texts begin with: that is prelude.c and .cu. Nodes are numbered anew, as compilers record them in other orders.
#include <doctest/doctest.h>
#include <dirent.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tt/backends/compiler.hpp"
#include "tt/backends/cuda/emit_cuda.hpp"
#include "tt/backends/cpu/emit_c.hpp"
#include "tt/tt.hpp"

namespace {

using tt::DType;
using tt::Graph;
using tt::Sym;

const std::string folder = "tests/golden/";

Sym input(Graph& g, const tt::Shape& s, DType d = DType::f32) { return {&g, g.input(d, s)}; }
void output(const Sym& x) { x.graph->output(x.id); }
/// The value, and its gradients by all inputs that are floating.
void output_with_gradients(const Sym& value) {
  Graph& g = *value.graph;
  tt::Vec<int> wrt;
  for (int i : g.inputs)
    if (tt::is_floating(g[i].dtype)) wrt.push_back(i);
  g.output(value.id);
  for (int d : tt::gradients(g, value.id, wrt)) g.output(d);
}
const tt::Extent n = tt::Extent::symbol(0);

struct Golden {
  const char* name;
  void (*record)(Graph&);
};
const Golden goldens[] = {
    {"silu", [](Graph& g) { output(tt::silu(input(g, {1000}))); }},
    {"chain",
     [](Graph& g) {  // 15 ops
       Sym x = input(g, {n});
       const Sym y = input(g, {n});
       for (int k = 0; k < 5; ++k) x = tt::abs(x * y + (k + 0.5));
       output(x);
     }},
    {"scale_and_shift",  // numbers beside a Tensor
     [](Graph& g) {
       const Sym x = input(g, {n}), scale = input(g, {}), shift = input(g, {});
       output(x * scale + shift);
     }},
    {"gate",
     [](Graph& g) {
       const Sym a = input(g, {40, 100}), b = input(g, {40, 100});
       output_with_gradients(tt::sum(tt::sigmoid(a) * b));
     }},
    {"multiply_add_sum",
     [](Graph& g) {
       const Sym a = input(g, {n, 300}), b = input(g, {n, 300}), c = input(g, {n, 300});
       output(tt::sum(a * b + c));
     }},
    {"softmax", [](Graph& g) { output(tt::softmax(input(g, {n, 100}), 1)); }},
    {"layer_norm",
     [](Graph& g) {
       const Sym x = input(g, {32, 100}), scale = input(g, {100}), shift = input(g, {100});
       const Sym c = x - tt::mean(x, 1, true);
       output(c * tt::rsqrt(tt::mean(c * c, 1, true) + 1e-5) * scale + shift);
     }},
    {"column_sums", [](Graph& g) { output(tt::sum(input(g, {300, 20}, DType::f64), 0)); }},
    {"transposed_times_vector",
     [](Graph& g) {
       const Sym a = input(g, {n, 80}), v = input(g, {n});
       output(tt::matmul(tt::transpose<0, 1>(a), v));
     }},
    {"dense",
     [](Graph& g) {
       const Sym x = input(g, {n, 64}), w = input(g, {64, 16}), bias = input(g, {16});
       output(tt::relu(tt::matmul(x, w) + bias));
     }},
    {"cross_entropy_gradient",
     [](Graph& g) {
       const Sym logits = input(g, {8, 10}), labels = input(g, {8}, DType::i64);
       output_with_gradients(tt::cross_entropy(logits, labels));
     }},
    {"transpose",
     [](Graph& g) {
       const Sym x = input(g, {20, 30}), y = input(g, {30, 20});
       output(tt::transpose(x) - y);
     }},
    {"slice",
     [](Graph& g) {
       const Sym x = input(g, {20, 30});
       output(tt::slice<1, 28, 8, -2>(tt::slice<0, 3, 15>(x)) * 2);
     }},
    {"argmax", [](Graph& g) { output(tt::argmax(input(g, {16, 50}), 1)); }},
    {"integers",
     [](Graph& g) {
       const Sym x = input(g, {n}, DType::i64), y = input(g, {n}, DType::i64);
       output(tt::maximum((x * 3 + y) ^ (y >> 2), -x) & 255);
     }},
    {"uniform", [](Graph& g) { output(tt::rand_like(input(g, {4, n}), 7)); }},
    {"dtypes",
     [](Graph& g) {  // with what guards them against the compiler
       const Sym x = input(g, {50}, DType::f64), y = input(g, {50}, DType::i32);
       output(tt::cast<double>(tt::cast<float>(x)) - tt::cast<double>(tt::cast<std::int32_t>(x)));
       output(tt::where(tt::cast<bool>(y), -tt::cast<float>(y), 0.5));
     }},
    {"masks",
     [](Graph& g) {  // conditions from memory; four kernels
       const tt::Extent sizes[] = {n, n * n, n * n * n, n * n * n * n};
       Sym a[4];
       for (int k = 0; k < 4; ++k) a[k] = input(g, {sizes[k]}, DType::boolean);
       output(tt::where(a[0], input(g, {sizes[0]}), 0));
       const Sym b = input(g, {sizes[1]}, DType::boolean), y = input(g, {sizes[1]}, DType::f64);
       output(tt::where(a[1] && !b, y, 0));
       output(tt::where(a[2], input(g, {sizes[2]}, DType::i64), 7));
       output(tt::cast<float>(a[3]));
     }},
};

/// For the CPU, or for a device.
struct Language {
  const char* ending;
  tt::Text (*emit)(const tt::Vec<tt::NamedPlan>& plans);
  tt::Transposed transposed;
  std::string prelude() const { return emit({}); }
};
const Language languages[] = {{".c", [](const tt::Vec<tt::NamedPlan>& plans) { return tt::emit_c(plans, true); },
                               tt::Transposed::materialized},
                              {".cu", [](const tt::Vec<tt::NamedPlan>& plans) { return tt::cuda::emit_cuda(plans, true); },
                               tt::Transposed::as_it_lies}};

std::string emitted(const Golden& golden, const Language& language) {
  Graph g;
  golden.record(g);
  REQUIRE_MESSAGE(!g.failure, std::string(tt::describe(g.failure)));
  const tt::Plan plan = tt::compile_plan(g, {.transposed = language.transposed});
  std::string text = language.emit({{&plan, golden.name}});
  const std::string head = language.prelude(), line = ", from line ";
  REQUIRE(text.compare(0, head.size(), head) == 0);
  text.erase(0, head.size());
  for (std::size_t at; (at = text.find(line)) != std::string::npos;)
    text.erase(at, text.find_first_not_of("0123456789", at + line.size()) - at);
  return "/* " + std::string(golden.name) + ":\n" + std::string(tt::to_string(tt::canonical(g))) + "behind prelude" + language.ending + ": */\n" + text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
/// From the first line that differs to the last, with two around them.
std::string difference(const std::string& before, const std::string& now) {
  const std::vector<std::string> a = lines_of(before), b = lines_of(now);
  std::size_t begin = 0, end = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  while (end < a.size() - begin && end < b.size() - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
  std::string text = "from line " + std::to_string(begin + 1) + ":\n";
  const auto add = [&](const char* mark, const std::vector<std::string>& v, std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to; ++k) text += mark + v[k] + "\n";
  };
  add("  ", a, begin < 2 ? 0 : begin - 2, begin);
  add("- ", a, begin, a.size() - end);
  add("+ ", b, begin, b.size() - end);
  add("  ", a, a.size() - end, a.size() - end + (end < 2 ? end : 2));
  return text;
}

bool accepting() {
  const char* const set = std::getenv("TT_ACCEPT_GOLDEN");
  return set && *set && std::string(set) != "0";
}
void check_golden(const std::string& file, const std::string& text) {
  const std::string path = folder + file;
  if (accepting()) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  CHECK_MESSAGE(in.good(), path, " is not there: accept it?");
  std::stringstream kept;
  kept << in.rdbuf();
  const bool same = kept.str() == text;
  CHECK_MESSAGE(same, path, " is not what is emitted now. Accept it if it should be.\n", same ? "" : difference(kept.str(), text));
}

}  // namespace

TEST_CASE("emitted kernels are the golden ones") {
  for (const Language& language : languages) {
    check_golden(std::string("prelude") + language.ending, language.prelude());
    for (const Golden& g : goldens) check_golden(std::string(g.name) + language.ending, emitted(g, language));
  }
}

TEST_CASE("every golden file is one of those kernels") {
  int files = 0;
  DIR* const d = opendir(folder.c_str());
  REQUIRE(d);
  while (const dirent* e = readdir(d)) {
    const std::string file = e->d_name;
    if (file == "." || file == "..") continue;
    bool known = false;
    for (const Language& language : languages) {
      known = known || file == std::string("prelude") + language.ending;
      for (const Golden& g : goldens) known = known || file == std::string(g.name) + language.ending;
    }
    CHECK_MESSAGE(known, file, " belongs to no kernel");
    ++files;
  }
  closedir(d);
  CHECK(files == 2 * (1 + static_cast<int>(std::size(goldens))));
}

TEST_CASE("a difference shows what was and what is") {
  CHECK(difference("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nx\ny\nf\n") == "from line 4:\n  b\n  c\n- d\n- e\n+ x\n+ y\n  f\n");
  CHECK(difference("a\n", "a\nb\n") == "from line 2:\n  a\n+ b\n");
  CHECK(difference("", "b\n") == "from line 1:\n+ b\n");
}

TEST_CASE("golden texts are C that compiles") {
  std::vector<tt::Plan> plans;
  tt::Vec<tt::NamedPlan> list;
  for (const Golden& golden : goldens) {
    Graph g;
    golden.record(g);
    plans.push_back(tt::compile_plan(g));
  }
  for (std::size_t k = 0; k < plans.size(); ++k) list.push_back({&plans[k], goldens[k].name});
  const tt::backend::Library library = tt::backend::compile_c(tt::emit_c(list));
  for (std::size_t k = 0; k < plans.size(); ++k)
    CHECK(library.find((std::string(goldens[k].name) + "_0").c_str()));
}
