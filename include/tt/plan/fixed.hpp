// A plan in a constant expression: evaluated once into a roomy value, then cut to size (two
// evaluations, one for the sizes, cost twice; a lambda as initialiser 2-3 times more under g++ 12).
//   struct Model { static constexpr Graph record() {...} };
//   Compiled<Model>::plan   // a FixedPlan
#pragma once
#include <type_traits>

#include "tt/plan/memory.hpp"

namespace tt {

struct PlanSizes {
  int kernels, instructions, accesses, terms, buffers, bindings;
  int outputs = 0;
  int nodes = 0;  ///< recorded nodes: a graph with more is not planned in this room
};

namespace detail {

/// `count` for every 600 nodes that a program may have, at least `least`.
constexpr int room_for(int count, int least) {
  const int n = static_cast<int>(std::int64_t{count} * TT_MAX_STATIC_NODES / 600);
  return n < least ? least : n;
}
/// Initialising room costs compile time too (0.1 s for the largest): small graphs get a small one.
inline constexpr PlanSizes rooms[] = {
    {4, 48, 24, 36, 20, 32, 4, 16},
    {24, 320, 160, 200, 96, 192, 32, 90},
    {room_for(256, 24), room_for(4096, 320), room_for(1536, 160), room_for(1920, 200), room_for(768, 96),
     room_for(2048, 192), max_outputs, TT_MAX_STATIC_NODES}};
inline constexpr int last_room = 2;

/// The interface of models that declare none.
struct NoInterface {
  static constexpr bool note(const Graph&) { return true; }
};
template <class Model, int Outputs>
struct model_interface {
  using type = NoInterface;
};
template <class Model, int Outputs>
  requires requires { typename Model::template Interface<Outputs>; }
struct model_interface<Model, Outputs> {
  using type = typename Model::template Interface<Outputs>;
};

template <class Model, int Room>
struct RoomyPlan {
  static constexpr PlanSizes room = rooms[Room];
  FixedPlan<room.kernels, room.instructions, room.accesses, room.terms, room.buffers, room.bindings> plan{};
  typename model_interface<Model, room.outputs>::type interface{};
  PlanSizes size{};
  Failure failure{};
  bool fits = true;
};

template <class To, class From>
constexpr void copy_plan(To& to, const From& from, const PlanSizes& n) {
  for (int i = 0; i < n.kernels; ++i) to.kernels[i] = from.kernels[i];
  for (int i = 0; i < n.instructions; ++i) to.instructions[i] = from.instructions[i];
  for (int i = 0; i < n.accesses; ++i) to.accesses[i] = from.accesses[i];
  for (int i = 0; i < n.terms; ++i) to.terms[i] = from.terms[i];
  for (int i = 0; i < n.buffers; ++i) to.buffers[i] = from.buffers[i];
  for (int i = 0; i < n.bindings; ++i) to.bindings[i] = from.bindings[i];
  to.arena = from.arena;
  to.externals = from.externals;
  to.nodes = from.nodes;
}

/// Models that do not declare `transposed` are planned for a CPU.
template <class Model>
inline constexpr Transposed transposed_of = Transposed::materialized;
template <class Model>
  requires requires { Model::transposed; }
inline constexpr Transposed transposed_of<Model> = Model::transposed;

template <class Model, int Room>
constexpr RoomyPlan<Model, Room> roomy_plan() {
  constexpr PlanSizes room = rooms[Room];
  RoomyPlan<Model, Room> r;
  const Graph g = [&] {
    if constexpr (std::is_same_v<decltype(r.interface), NoInterface>) return Model::record();
    else return Model::record(r.interface, room.nodes);
  }();
  r.fits = r.interface.note(g) && g.size() <= room.nodes && (g.refused == 0 || Room == last_room);
  r.failure = g.failure;
  if (!r.fits && Room != last_room) return r;
  if (!g.failure && g.size() > TT_MAX_STATIC_NODES)  // a model that does not heed room.nodes
    r.failure = Failure{.mistake = Mistake::too_many_nodes, .op = "fuse", .number = g.size()};
  if (r.failure) return r;
  const Plan p = make_plan(g, {.transposed = transposed_of<Model>});
  r.failure = p.failure;
  if (r.failure) return r;
  const PlanSizes n{p.kernels.size(), p.instructions.size(), p.accesses.size(), p.terms.size(), p.buffers.size(),
                    p.bindings.size()};
  r.fits = n.kernels <= room.kernels && n.instructions <= room.instructions &&
           n.accesses <= room.accesses && n.terms <= room.terms && n.buffers <= room.buffers && n.bindings <= room.bindings;
  if (!r.fits && Room == last_room)
    r.failure = Failure{.mistake = Mistake::too_many_nodes, .op = "fuse", .number = p.nodes};
  if (!r.fits) return r;
  r.size = n;
  copy_plan(r.plan, p, n);
  return r;
}
template <class Model, int Room>
inline constexpr RoomyPlan<Model, Room> roomy_plan_of = roomy_plan<Model, Room>();

/// The first room from `Room` on that holds the plan.
template <class Model, int Room>
constexpr const auto& fitting_plan() {
  if constexpr (Room == last_room) return roomy_plan_of<Model, Room>;
  else if constexpr (roomy_plan_of<Model, Room>.fits) return roomy_plan_of<Model, Room>;
  else return fitting_plan<Model, Room + 1>();
}
template <class Model>
constexpr const auto& plan_in_room() {
  return fitting_plan<Model, 0>();
}

template <class Model>
constexpr auto cut_plan() {
  constexpr PlanSizes n = plan_in_room<Model>().size;
  FixedPlan<n.kernels, n.instructions, n.accesses, n.terms, n.buffers, n.bindings> p{};
  copy_plan(p, plan_in_room<Model>().plan, n);
  return p;
}

}  // namespace detail

template <class Model>
struct Compiled {
  static constexpr auto plan = detail::cut_plan<Model>();
  static constexpr const Failure& failure = detail::plan_in_room<Model>().failure;
};

}  // namespace tt
