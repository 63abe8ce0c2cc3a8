// Graphs read back from the text that to_string writes: for archives, bug reports and tests.
//   Graph g = tt::parse(tt::to_string(h));    g == h
// Ops are found by name among the library's (those with kernels of their own, as gather, once they were called or
// register_all_ops() was); a program names its own as template arguments, parse<Softsign>(text).
// An op without a name (tt::op of a lambda) is written with its body, and read as an op of that body.
#pragma once
#include "tt/functional/list.hpp"
#include "tt/graph/parse.hpp"

namespace tt {

/// Reads what to_string writes. `Own`: types of ops that are not the library's. Throws Error with the line where it is no such text.
template <class... Own>
Graph parse(std::string_view text) {
  const auto find = [](std::string_view name) {
    const OpDef* found = nullptr;
    const auto look = [&]<class... F>(TypeList<F...>) { ((found = !found && name == F::info.name ? &op_def<F> : found), ...); };
    look(TypeList<Own...>{});
    look(DirectOps{});
    look(OpaqueOps{});
    look(StructuredOps{});
    look(FurtherStructuredOps{});
    for (const ExternalOp* e = __atomic_load_n(&detail::external_ops, __ATOMIC_ACQUIRE); e && !found; e = e->next)
      if (name == e->def->info.name) found = e->def;
    return found;
  };
  return detail::GraphParser(text, find).graph();
}
}  // namespace tt
