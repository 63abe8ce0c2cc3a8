// A plan in a constant expression: evaluated once into a roomy value, then cut to size (two
// evaluations, one for the sizes, cost twice; a lambda as initialiser 2-3 times more under g++ 12).
//   struct Model { static constexpr Graph record() {...} };
//   Compiled<Model>::plan   // a FixedPlan
#pragma once
#include "tt/graph/memory.hpp"

namespace tt {

struct PlanSizes {
  int kernels, instructions, accesses, buffers, bindings;
};

namespace detail {

inline constexpr PlanSizes room{256, 4096, 2048, 768, 2048};

struct RoomyPlan {
  FixedPlan<room.kernels, room.instructions, room.accesses, room.buffers, room.bindings> plan{};
  PlanSizes size{};
  Failure failure{};
};

template <class To, class From>
constexpr void copy_plan(To& to, const From& from, const PlanSizes& n) {
  for (int i = 0; i < n.kernels; ++i) to.kernels[i] = from.kernels[i];
  for (int i = 0; i < n.instructions; ++i) to.instructions[i] = from.instructions[i];
  for (int i = 0; i < n.accesses; ++i) to.accesses[i] = from.accesses[i];
  for (int i = 0; i < n.buffers; ++i) to.buffers[i] = from.buffers[i];
  for (int i = 0; i < n.bindings; ++i) to.bindings[i] = from.bindings[i];
  to.arena = from.arena;
  to.externals = from.externals;
  to.nodes = from.nodes;
}

template <class Model>
constexpr RoomyPlan roomy_plan() {
  RoomyPlan r;
  const Graph g = Model::record();
  r.failure = g.failure;
  if (!g.failure && g.size() > TT_MAX_STATIC_NODES)
    r.failure = {.mistake = Mistake::too_many_nodes, .op = "fuse", .number = g.size()};
  if (r.failure) return r;
  const Plan p = make_plan(g);
  r.failure = p.failure;
  r.size = {p.kernels.size(), p.instructions.size(), p.accesses.size(), p.buffers.size(),
            p.bindings.size()};
  if (r.size.kernels > room.kernels || r.size.instructions > room.instructions ||
      r.size.accesses > room.accesses || r.size.buffers > room.buffers ||
      r.size.bindings > room.bindings)
    r.failure = {.mistake = Mistake::too_many_nodes, .op = "fuse", .number = p.nodes};
  if (r.failure) {
    r.size = {};
    return r;
  }
  copy_plan(r.plan, p, r.size);
  return r;
}
template <class Model>
inline constexpr RoomyPlan roomy_plan_of = roomy_plan<Model>();

template <class Model>
constexpr auto cut_plan() {
  constexpr PlanSizes n = roomy_plan_of<Model>.size;
  FixedPlan<n.kernels, n.instructions, n.accesses, n.buffers, n.bindings> p{};
  copy_plan(p, roomy_plan_of<Model>.plan, n);
  return p;
}

}  // namespace detail

template <class Model>
struct Compiled {
  static constexpr auto plan = detail::cut_plan<Model>();
  static constexpr const Failure& failure = detail::roomy_plan_of<Model>.failure;
};

}  // namespace tt
