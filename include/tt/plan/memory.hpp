// The memory plan: each buffer's offset in the arena, first fit in order of birth, looking only at buffers
// that are still alive. And the whole compiler: make_plan turns a recorded graph into a Plan.
//   const Plan p = make_plan(graph);   p.kernels, p.arena   // bytes; -1: known when the symbols are
#pragma once
#include "tt/plan/lower.hpp"
#if TT_DEBUG
#include "tt/graph/check.hpp"
#include "tt/graph/print.hpp"
#endif

namespace tt {

inline constexpr int arena_alignment = 64;  // bytes

/// Gives every arena buffer its offset for these symbol values, and returns the arena's bytes.
/// `offsets` has one entry a buffer.
constexpr std::int64_t plan_memory(const Buffer* buffers, int buffer_count, int kernels,
                                   const SymbolValues& symbols, std::int64_t* offsets) {
  struct Live {
    std::int64_t begin = 0, end = 0;
    int last = 0;
  };
  Vec<Live> live(buffer_count, Live{});  // the first `alive` of them, sorted by begin
  Live* const lives = live.items;        // every call counts in constant evaluation
  int alive = 0;
  Vec<Vec<int>> born(kernels, Vec<int>());
  for (int i = 0; i < buffer_count; ++i)
    if (buffers[i].external < 0 && buffers[i].first >= 0) born[buffers[i].first].push_back(i);
  std::int64_t arena = 0;
  for (int k = 0; k < kernels; ++k) {
    int kept = 0;
    for (int j = 0; j < alive; ++j)
      if (lives[j].last >= k) {
        if (kept != j) lives[kept] = lives[j];
        ++kept;
      }
    alive = kept;
    for (int i : born[k]) {
      const std::int64_t count = buffers[i].size.value(symbols), each = size_of(buffers[i].dtype);
      const std::int64_t dense = count < most_bytes / each ? count * each : most_bytes;
      const std::int64_t bytes =
          (dense + 2 * arena_alignment - 1) / arena_alignment * arena_alignment;
      std::int64_t begin = 0;
      int at = 0;
      for (; at < alive && lives[at].begin - begin < bytes; ++at)
        if (lives[at].end > begin) begin = lives[at].end;
      for (int j = alive++; j > at; --j) lives[j] = lives[j - 1];
      lives[at] = {begin, begin + bytes, buffers[i].last};
      offsets[i] = begin;
      if (begin + bytes > arena) arena = begin + bytes;
    }
  }
  return arena;
}

/// Options of a plan, by the executor that runs it.
struct PlanOptions {
  Transposed transposed = Transposed::materialized;
  bool bf16_pairs = false;             ///< products of bf16 read both sides as they are stored, without conversion
  detail::KeepsCall keeps = nullptr;   ///< calls that are not inlined: only the interpreter has code for them, C and CUDA text has not
};

/// From a recorded graph to a plan: decompositions inlined, shapes normalised, scheduled, lowered, placed in the arena.
constexpr Plan make_plan(const Graph& recorded, const PlanOptions& o = {}) {
  const bool for_devices = o.transposed == Transposed::as_it_lies;
  const Graph g = normalize(inline_bodies(recorded, for_devices, o.keeps), o.transposed, o.bf16_pairs);
  Vec<char> indirect(g.outputs.size() + 1, 0);
  detail::Lowering first(g, indirect, for_devices);
  Plan plan = first.find_conflicts(indirect)
                  ? static_cast<Plan&&>(detail::Lowering(g, indirect, for_devices).plan)
                  : static_cast<Plan&&>(first.plan);
  if (g.failure) plan.failure = g.failure;
  bool constant = true;
  for (const Buffer& b : plan.buffers) constant = constant && b.size.is_constant();
  if (constant) {
    Vec<std::int64_t> offsets(plan.buffers.size() + 1, 0);
    plan.arena = plan_memory(plan.buffers.begin(), plan.buffers.size(), plan.kernels.size(), {},
                             offsets.begin());
    for (int i = 0; i < plan.buffers.size(); ++i) plan.buffers[i].offset = offsets[i];
  } else {
    plan.arena = -1;  // known when the symbols are
  }
  return plan;
}

/// make_plan at run time: the whole compiler is then built once, in tt::compiled.
TT_INLINE Plan compile_plan(const Graph& recorded, const PlanOptions& o = {});

#if TT_DEFINES(graph)
#if TT_DEBUG
namespace detail {

/// Checks the graph after each pass: an illegal one is an error of the library.
inline void check_passes(const Graph& recorded, const PlanOptions& o) {
  const auto check_one = [](const Graph& g, Phase phase) {
    if (const CheckResult r = (check)(g, phase); !r)
      TT_THROW(InternalError(Text("tt::compile_plan: node ") << r.node << " of a graph " << r.why << ":\n" << to_string(g)));
  };
  Graph g = recorded;
  for (int& input : g.donated) input = -1;  // sizes that are equal in each call may be different expressions
  check_one(g, Phase::recorded);
  g = inline_bodies(g, o.transposed == Transposed::as_it_lies, o.keeps);
  check_one(g, Phase::recorded);
  check_one(normalize(g, o.transposed, o.bf16_pairs), Phase::normalized);
}

}  // namespace detail
#endif

TT_INLINE Plan compile_plan(const Graph& recorded, const PlanOptions& o) {
#if TT_DEBUG
  if (!recorded.failure) detail::check_passes(recorded, o);
#endif
  int count = 0;
  const auto note = [&](const SizeSet& symbols) {
    for (int symbol : symbols.some) count = symbol < count ? count : symbol + 1;
  };
  for (const Node& n : recorded.nodes) {
    if (is_external(n)) TT_THROW(Error(Text("tt::compile_plan: ") << n.def->info.name << " has a kernel of its own, which is part of no plan. Run the graph with tt::compile_graph?"));
    for (int k = 0; k < n.shape.rank; ++k) note(symbols_of(n.shape[k]));
    if (n.op == Op::extent) note(symbols_of(Extent::from_code(n.attribute)));
  }
  for (const Shape& s : recorded.input_strides)
    for (int k = 0; k < s.rank; ++k) note(symbols_of(s[k]));
  Plan plan = make_plan(recorded, o);
  plan.symbols = plan.symbols < count ? count : plan.symbols;
  return plan;
}
#endif

}  // namespace tt
