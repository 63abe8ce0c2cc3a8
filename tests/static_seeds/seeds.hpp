// Random graphs as static programs: what the files with the programs and the one with the test share.
#pragma once
#include "../random_graph.hpp"

namespace fuzz {

/// A seed's graph as the compiler drew it, by a hash, and its program.
struct StaticSeed {
  std::uint64_t seed = 0, graph = 0;
  void (*run)(void* const* external, const tt::SymbolValues& symbols) = nullptr;
};
inline constexpr int seeds_in_a_file = 12;

/// Those of one file, from `First` on.
template <int First>
const StaticSeed* static_seeds();
template <> const StaticSeed* static_seeds<1>();
template <> const StaticSeed* static_seeds<13>();
template <> const StaticSeed* static_seeds<25>();
template <> const StaticSeed* static_seeds<37>();
template <> const StaticSeed* static_seeds<49>();
template <> const StaticSeed* static_seeds<61>();
template <> const StaticSeed* static_seeds<73>();
template <> const StaticSeed* static_seeds<85>();

/// The first graph from a seed on that is small, but not too small.
template <class Program>
constexpr Program small_program(std::uint64_t seed) {
  const Options options{.steps = 16, .narrow = seed % 4 == 0};
  for (std::uint64_t s = seed;; s += 0x10000000000u) {
    Program p = BasicGenerator<Program>(s, options).run();
    if (p.graph.size() > 60) continue;
    const Graph g = tt::inline_bodies(p.graph);
    if (g.size() >= 8 && g.size() <= 70 && work_of(g, p.symbols) <= options.work) return p;
  }
}

/// Of all that makes a graph what it is, but for how its nodes are numbered: that depends on the order in which the
/// compiler evaluates operands, which g++ changes between constant expressions and run time.
constexpr std::uint64_t hash_of(const Graph& drawn) {
  const Graph g = tt::canonical(drawn);
  std::uint64_t h = 14695981039346656037u;
  const auto add = [&](auto v) { h = (h ^ static_cast<std::uint64_t>(v)) * 1099511628211u; };
  const auto add_shape = [&](const Shape& s) {
    add(s.rank);
    for (int k = 0; k < s.rank; ++k) add(s[k].code);
  };
  for (const tt::Node& n : g.nodes) {
    for (int o : g.operands(n)) add(o);
    add(n.op);
    add(n.dtype);
    add(n.attribute);
    tt::detail::with_attribute_struct(n.op, [&]<class A>(A) {
      tt::Vec<std::int64_t> words;
      A::each(g.attributes<A>(n), tt::detail::WordWriter{words});
      for (std::int64_t w : words) add(w);
    });
    add(n.bits);
    add(n.def_id);
    add_shape(n.shape);
  }
  for (int o : g.outputs) add(o);
  for (int d : g.donated) add(d);
  return h;
}

}  // namespace fuzz
