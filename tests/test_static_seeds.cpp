// Random graphs as static programs against the reference executor, bit for bit: 96 seeds, whose graphs the compiler
// drew in constant expressions (static_seeds/seeds.cpp, twelve to a file) and this program draws again.
#include <doctest/doctest.h>

#include <string>

#include "run_guarded.hpp"
#include "static_seeds/seeds.hpp"
#include "tt/plan/memory.hpp"
#include "tt/plan/print.hpp"

namespace {

using namespace fuzz;

/// What is wrong, as text; empty if nothing is.
tt::Text find_fault(const StaticSeed& s) {
  const Program p = small_program<Program>(s.seed);
  const Graph g = tt::inline_bodies(p.graph);
  tt::Text t;
  if (hash_of(p.graph) != s.graph) return t << "seed " << s.seed << ": the compiler drew another graph\n" << tt::to_string(g);
  const GuardedResult r =
      run_guarded(p.graph, p.symbols, p.input, [&](void* const* external) { s.run(external, p.symbols); });
  if (r.trouble) t << r.trouble << '\n';
  else if (const Difference d = compare(g, evaluate(g, p.symbols, p.input), r.output)) describe(t, g, d);
  if (!t.empty()) t << "seed " << s.seed << '\n' << tt::to_string(g) << tt::to_string(tt::compile_plan(g));
  return t;
}

constexpr const StaticSeed* (*files[])() = {&static_seeds<1>,  &static_seeds<13>, &static_seeds<25>, &static_seeds<37>,
                                            &static_seeds<49>, &static_seeds<61>, &static_seeds<73>, &static_seeds<85>};

}  // namespace

TEST_CASE("random graphs as static programs have the reference's bits") {
  int kernels = 0, symbolic = 0, updates = 0, products = 0;
  std::uint64_t seed = 0;
  for (const auto file : files)
    for (int k = 0; k < seeds_in_a_file; ++k) {
      const StaticSeed& s = file()[k];
      CHECK(s.seed == ++seed);
      const tt::Text fault = find_fault(s);
      CHECK_MESSAGE(fault.empty(), std::string(fault));
      const GraphProgram p = small_program<GraphProgram>(s.seed);
      kernels += tt::compile_plan(p.graph).kernels.size();
      symbolic += p.symbols.value[0] > 0;
      for (int d : p.graph.donated) updates += d >= 0;
      for (const tt::Node& n : p.graph.nodes) products += n.op == Op::matmul;
    }
  CHECK(seed == 96);
  CHECK(kernels > 150);
  CHECK(symbolic > 10);
  CHECK(updates > 10);
  CHECK(products > 10);
}

namespace {

/// A program that is changed on purpose, and the argument that is its first result.
const StaticSeed* changed = nullptr;
int result_place = 0;

}  // namespace

TEST_CASE("planted: the last bit of one element, and another graph") {
  int found = 0;
  for (int k = 0; k < seeds_in_a_file; ++k) {
    const StaticSeed& s = static_seeds<1>()[k];
    const GraphProgram p = small_program<GraphProgram>(s.seed);
    if (p.graph.donated[0] >= 0 || p.graph[p.graph.outputs[0]].shape.size().value(p.symbols) == 0) continue;
    changed = &s;
    result_place = p.graph.inputs.size();
    const StaticSeed wrong{s.seed, s.graph, [](void* const* external, const tt::SymbolValues& symbols) {
                             changed->run(external, symbols);
                             *static_cast<unsigned char*>(external[result_place]) ^= 1;
                           }};
    found += !find_fault(wrong).empty();
    CHECK_FALSE(find_fault({s.seed, s.graph + 1, s.run}).empty());
  }
  CHECK(found > 3);
}
