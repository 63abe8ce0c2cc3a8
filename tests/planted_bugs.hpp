// Bugs to plant: each changes one random place of a graph or a plan as a wrong compiler would, and
// says whether there was such a place. Every place that is read stays inside of the memory it
// belongs to, or leaves it by a few elements of an argument, where a fault is caught.
#pragma once
#include "random_graph.hpp"
#include "tt/plan/memory.hpp"

namespace fuzz {

using tt::Instruction;
using tt::Kernel;
using tt::Plan;

/// One of the places that `is_place(i)` holds for; -1 if there is none.
template <class F>
int choose(Random& r, int count, const F& is_place) {
  std::vector<int> places;
  for (int i = 0; i < count; ++i)
    if (is_place(i)) places.push_back(i);
  return places.empty()
             ? -1
             : places[static_cast<std::size_t>(r.below(static_cast<int>(places.size())))];
}

inline int segments(const Kernel& k) { return 2 * k.sweeps + 1; }
inline bool contains(const Kernel& k, int instruction) {
  return k.segment[0] <= instruction && instruction < k.segment[segments(k)];
}

// ---- in plans

inline bool swap_operands(Plan& p, Random& r) {
  const int i = choose(r, p.instructions.size(), [&](int k) {
    const Instruction& x = p.instructions[k];
    return (x.op == Op::sub || x.op == Op::div || x.op == Op::lt || x.op == Op::le) && x.a != x.b;
  });
  if (i < 0) return false;
  const int a = p.instructions[i].a;
  p.instructions[i].a = p.instructions[i].b;
  p.instructions[i].b = a;
  return true;
}

inline bool drop_store(Plan& p, Random& r) {
  const int i =
      choose(r, p.instructions.size(), [&](int k) { return p.instructions[k].op == Op::store; });
  if (i < 0) return false;
  for (int k = i; k + 1 < p.instructions.size(); ++k) p.instructions[k] = p.instructions[k + 1];
  p.instructions.pop_back();
  for (Kernel& k : p.kernels)
    for (int s = 0; s <= segments(k); ++s) k.segment[s] -= k.segment[s] > i;
  return true;
}

/// Only where something is read; a term's stride becomes that of a value repeated over the rows.
inline bool wrong_stride(Plan& p, Random& r) {
  const int i = choose(r, p.instructions.size(), [&](int k) {
    const Instruction& x = p.instructions[k];
    return x.op == Op::load && p.accesses[x.access].term_count > 0;
  });
  if (i < 0) return false;
  tt::Access& a = p.accesses[p.instructions[i].access];
  p.terms[a.first_term + r.below(a.term_count)].stride = 0;
  return true;
}

inline bool wrong_modulus(Plan& p, Random& r) {
  const int i = choose(r, p.instructions.size(), [&](int k) {
    const Instruction& x = p.instructions[k];
    if (x.op != Op::load) return false;
    const tt::Access& a = p.accesses[x.access];
    for (int t = 0; t < a.term_count; ++t)
      if (p.terms[a.first_term + t].modulus.is_constant() && p.terms[a.first_term + t].modulus.code > 1) return true;
    return false;
  });
  if (i < 0) return false;
  tt::Access& a = p.accesses[p.instructions[i].access];
  for (int t = 0; t < a.term_count; ++t)
    if (p.terms[a.first_term + t].modulus.is_constant() && p.terms[a.first_term + t].modulus.code > 1) {
      p.terms[a.first_term + t].modulus = Extent(p.terms[a.first_term + t].modulus.code - 1);
      return true;
    }
  return false;
}

/// The memory plan takes a buffer for free in the last kernel that reads it.
inline bool free_too_early(Plan& p, Random& r) {
  const int i = choose(r, p.buffers.size(), [&](int k) {
    return p.buffers[k].external < 0 && p.buffers[k].last > p.buffers[k].first;
  });
  if (i < 0) return false;
  --p.buffers[i].last;
  return true;
}

inline bool constant_one_ulp_off(Plan& p, Random& r) {
  const int i = choose(r, p.instructions.size(), [&](int k) {
    return p.instructions[k].op == Op::constant && tt::is_floating(p.instructions[k].dtype) &&
           tt::decode(p.instructions[k].dtype, p.instructions[k].bits) != 0;
  });
  if (i < 0) return false;
  ++p.instructions[i].bits;
  return true;
}

/// A row's tail is read as if memory went on after it.
inline bool missing_guard(Plan& p, Random& r) {
  std::vector<int> accesses;
  for (const Kernel& k : p.kernels)
    for (int i = k.segment[0]; i < k.segment[segments(k)]; ++i) {
      const Instruction& x = p.instructions[i];
      if (x.op != Op::load || !p.accesses[x.access].guarded) continue;
      const int buffer = p.bindings[k.first_binding + p.accesses[x.access].buffer];
      if (p.buffers[buffer].external >= 0 && k.cols.is_constant() && k.cols.code % 16 != 0 &&
          p.accesses[x.access].column == Extent(1))
        accesses.push_back(x.access);
    }
  if (accesses.empty()) return false;
  p.accesses[accesses[static_cast<std::size_t>(r.below(static_cast<int>(accesses.size())))]]
      .guarded = false;
  return true;
}

inline bool wrong_reduction(Plan& p, Random& r) {
  const int i = choose(r, p.instructions.size(),
                       [&](int k) { return tt::is_reduction(p.instructions[k].op); });
  if (i < 0) return false;
  Op& op = p.instructions[i].op;
  op = op == Op::amax ? Op::amin : Op::amax;
  return true;
}

inline bool forget_last_column(Plan& p, Random& r) {
  const int i = choose(r, p.kernels.size(), [&](int k) {
    return p.kernels[k].cols.is_constant() && p.kernels[k].cols.code > 1;
  });
  if (i < 0) return false;
  p.kernels[i].cols = Extent(p.kernels[i].cols.code - 1);
  return true;
}

/// A kernel of shared code is bound to its sibling's operand.
inline bool wrong_binding(Plan& p, Random& r) {
  const int i = choose(r, p.kernels.size(),
                       [&](int k) { return p.kernels[k].code != k && p.kernels[k].bindings > 0; });
  if (i < 0) return false;
  const Kernel &k = p.kernels[i], &shared = p.kernels[k.code];
  bool changed = false;
  for (int b = 0; b < k.bindings && !changed; ++b) {
    int& mine = p.bindings[k.first_binding + b];
    const int other = p.bindings[shared.first_binding + b];
    const tt::Buffer &x = p.buffers[mine], &y = p.buffers[other];
    changed = mine != other && x.size == y.size && x.dtype == y.dtype && x.external >= 0 &&
              y.external >= 0;
    if (changed) mine = other;
  }
  return changed;
}

/// The transposed operand of a product is taken as it lies.
inline bool wrong_packing(Plan& p, Random& r) {
  const int i = choose(r, p.kernels.size(), [&](int k) {
    const Kernel& x = p.kernels[k];
    return x.kind == tt::KernelKind::matmul && x.b_column != tt::Extent(1) && x.inner == x.cols &&
           x.inner != Extent(1);
  });
  if (i < 0) return false;
  Kernel& k = p.kernels[i];
  const Extent e = k.b_inner;
  k.b_inner = k.b_column;
  k.b_column = e;
  return true;
}

inline bool exchange_kernels(Plan& p, Random& r) {
  const int i = choose(r, p.kernels.size() - 1, [&](int k) {
    return p.kernels[k].kind == tt::KernelKind::rows &&
           p.kernels[k + 1].kind == tt::KernelKind::rows;
  });
  if (i < 0) return false;
  const Kernel k = p.kernels[i];
  p.kernels[i] = p.kernels[i + 1];
  p.kernels[i + 1] = k;
  return true;
}

// ---- in graphs

/// The graph with node `at` made by `make(copy, operands' places)` instead.
template <class F>
Graph with_node(const Graph& g, int at, const F& make) {
  Graph r;
  tt::Vec<int> map(g.size(), -1);
  for (int i : g.inputs) map[i] = r.input(g[i].dtype, g[i].shape);
  for (int i = 0; i < g.size(); ++i) {
    if (map[i] >= 0) continue;
    const tt::Vec<int> o = tt::mapped(g.operands(i), map);
    if (i == at) {
      tt::Node n = g[i];
      for (int k = 0; k < o.size(); ++k) n.operand[k] = o[k];
      map[i] = make(r, n, map);
    } else {
      map[i] = r.intern(g[i], g, o);
    }
  }
  for (int k = 0; k < g.outputs.size(); ++k) r.output(map[g.outputs[k]], g.donated[k]);
  return r;
}

/// Reduced over another axis of the same extent.
inline bool wrong_axis(Graph& g, Random& r) {
  const auto other_axis = [&](const tt::Node& n, int& axis, int& other) {
    const Shape& s = g[n.operand[0]].shape;
    for (axis = 0; axis < s.rank; ++axis)
      for (other = 0; other < s.rank; ++other)
        if (n.attribute == 1 << axis && other != axis && s[other] == s[axis] &&
            s[axis] != Extent(1))
          return true;
    return false;
  };
  int axis = 0, other = 0;
  const int i = choose(r, g.size(), [&](int k) {
    return tt::is_reduction(g[k].op) && other_axis(g[k], axis, other);
  });
  if (i < 0) return false;
  other_axis(g[i], axis, other);
  g = with_node(g, i, [&](Graph& to, tt::Node n, const tt::Vec<int>&) {
    n.operand[0] = to.transpose(n.operand[0], axis, other);
    return to.intern(n);
  });
  return true;
}

/// Common subexpressions: two nodes that differ in one operand are taken for one.
inline bool merge_different(Graph& g, Random& r) {
  int other = -1;
  const auto twin = [&](int k) {
    const tt::Node& n = g[k];
    if (!tt::is_elementwise(n.op) || tt::arity(n.op) < 2) return -1;
    for (int j = 0; j < k; ++j) {
      const tt::Node& m = g[j];
      if (m.op == n.op && m.dtype == n.dtype && m.shape == n.shape &&
          m.operand[0] == n.operand[0] && m.operand[1] != n.operand[1])
        return j;
    }
    return -1;
  };
  const int i = choose(r, g.size(), [&](int k) { return twin(k) >= 0; });
  if (i < 0) return false;
  other = twin(i);
  g = with_node(g, i, [&](Graph&, const tt::Node&, const tt::Vec<int>& map) { return map[other]; });
  return true;
}

/// A transposed square is taken for the square.
inline bool forget_permute(Graph& g, Random& r) {
  const int i = choose(r, g.size(), [&](int k) {
    return g[k].op == Op::permute && g[k].shape == g[g[k].operand[0]].shape;
  });
  if (i < 0) return false;
  g = with_node(g, i, [](Graph&, const tt::Node& n, const tt::Vec<int>&) { return n.operand[0]; });
  return true;
}

/// x * 0 is 0, x - x is 0, x + 0 is x: wrong for NaN, infinities and -0.
inline bool inexact_simplification(Graph& g, Random& r) {
  const auto zero = [&](int id) {
    return g.is_constant(id) && tt::decode(g[id].dtype, g[id].bits) == 0;
  };
  const auto is_place = [&](int k) {
    const tt::Node& n = g[k];
    if (!tt::is_floating(n.dtype)) return false;
    if (n.op == Op::sub) return n.operand[0] == n.operand[1];
    return (n.op == Op::mul || n.op == Op::add) && zero(n.operand[1]) &&
           g[n.operand[0]].shape == n.shape;
  };
  const int i = choose(r, g.size(), is_place);
  if (i < 0) return false;
  g = with_node(g, i, [](Graph& to, const tt::Node& n, const tt::Vec<int>&) {
    return n.op == Op::add ? n.operand[0] : to.constant(n.dtype, 0, n.shape);
  });
  return true;
}

/// A row summed as two halves.
inline bool wrong_order(Graph& g, Random& r) {
  const auto extent = [&](int k) { return g[g[k].operand[0]].shape.last(); };
  const int i = choose(r, g.size(), [&](int k) {
    return g[k].op == Op::sum && tt::is_floating(g[k].dtype) &&
           g[k].attribute == 1 << (g[k].shape.rank - 1) && extent(k).is_constant() &&
           extent(k).code > 3;
  });
  if (i < 0) return false;
  const std::int64_t n = extent(i).code;
  g = with_node(g, i, [&](Graph& to, tt::Node x, const tt::Vec<int>&) {
    tt::Node y = x;
    x.operand[0] = to.slice(x.operand[0], -1, 0, n / 2, 1);
    y.operand[0] = to.slice(y.operand[0], -1, n / 2, n - n / 2, 1);
    return to.add(to.intern(x), to.intern(y));
  });
  return true;
}

/// Donated outputs are written in place without asking who still reads the input.
inline Plan plan_without_conflicts(const Graph& recorded) {
  const Graph g = tt::normalize(tt::inline_bodies(recorded));
  return tt::detail::Lowering(g, tt::Vec<char>(g.outputs.size() + 1, 0)).plan;
}

}  // namespace fuzz
