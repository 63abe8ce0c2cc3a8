// operator== of graphs: the same nodes in the same order, not merely the same values.
#pragma once
#include "tt/graph/print.hpp"

namespace tt {
namespace detail {

/// The same op, or unnamed ops (see region.hpp) with equal bodies.
inline bool same_op(const Graph& g, const Node& a, const Graph& h, const Node& b) {
  if (a.def == b.def) return true;
  return a.def && b.def && is_unnamed(*a.def) && is_unnamed(*b.def) && to_string(region_of(g, a)) == to_string(region_of(h, b));
}

}  // namespace detail

/// Compares node by node, inputs and outputs.
inline bool operator==(const Graph& g, const Graph& h) {
  if (g.size() != h.size() || !(g.inputs == h.inputs) || !(g.input_strides == h.input_strides) || !(g.input_padded == h.input_padded) ||
      !(g.outputs == h.outputs) || !(g.donated == h.donated) || !(g.output_padded == h.output_padded))
    return false;
  for (int i = 0; i < g.size(); ++i) {
    Node a = g[i], b = h[i];
    if (!detail::same_op(g, a, h, b)) return false;
    a.def = b.def;
    a.def_id = b.def_id;
    if (!Graph::are_equal(g, a, h, b)) return false;
  }
  return true;
}

}  // namespace tt
