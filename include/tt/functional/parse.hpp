// Graphs read back from the text that to_string writes: for archives, bug reports and tests.
//   Graph g = tt::parse(tt::to_string(h));    g == h
// Ops are found by name among the library's (those with kernels of their own, as gather, once they were called or
// register_all_ops() was); a program names its own as template arguments, parse<Softsign>(text).
// An op without a name (tt::op of a lambda) is written with its body, and read as an op of that body.
#pragma once
#include <string_view>

#include "tt/graph/equal.hpp"  // to compare parsed graphs
#include "tt/graph/sym.hpp"

namespace tt {
namespace detail {

/// The op of the library with this name, else nullptr.
TT_LAZY const OpDef* find_library_op(std::string_view name);
/// Reads a graph; `find` finds ops that are not primitives.
TT_LAZY Graph parse_graph(std::string_view text, const OpDef* (*find)(std::string_view name));

}  // namespace detail

/// Reads text that to_string wrote. `Own`: types of ops that are not the library's. Throws Error with the line for any other text.
template <class... Own>
Graph parse(std::string_view text) {
  return detail::parse_graph(text, [](std::string_view name) {
    const OpDef* found = nullptr;
    ((found = !found && name == Own::info.name ? &op_def<Own> : found), ...);
    return found ? found : detail::find_library_op(name);
  });
}
}  // namespace tt

#if TT_DEFINES(further)
#include "tt/functional/parse_inl.hpp"
#endif
