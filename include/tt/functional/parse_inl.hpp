// parse.hpp: look-up of ops by name.
#pragma once
#include "tt/functional/list.hpp"
#include "tt/functional/parse.hpp"
#include "tt/graph/parse.hpp"

namespace tt::detail {

TT_LAZY_DEFINITION const OpDef* find_library_op(std::string_view name) {
  const OpDef* found = nullptr;
  const auto look = [&]<class... F>(TypeList<F...>) { ((found = !found && name == F::info.name ? &op_def<F> : found), ...); };
  look(DirectOps{});
  look(OpaqueOps{});
  look(StructuredOps{});
  look(FurtherStructuredOps{});
  look(TypeList<Tangent, ExtremeOfAll<Op::amax>, ExtremeOfAll<Op::amin>>{});  // no functions for users, but in their graphs
  for (const ExternalOp* e = __atomic_load_n(&external_ops, __ATOMIC_ACQUIRE); e && !found; e = e->next)
    if (name == e->def->info.name) found = e->def;
  return found;
}
TT_LAZY_DEFINITION Graph parse_graph(std::string_view text, const OpDef* (*find)(std::string_view name)) { return GraphParser(text, find).graph(); }

}  // namespace tt::detail
