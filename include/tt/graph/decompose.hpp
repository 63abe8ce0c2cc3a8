// Ops over graphs as nodes: in a captured graph softmax(x, dim=1) is one node, `call`, with the op's definition, and its options as attribute words; so
// passes, exporters and readers find it by name. Before differentiation and before planning it is decomposed: replaced by its body. In constant evaluation,
// where the number of steps is limited, bodies are recorded at once.
//   Vec<int> result = call_named(g, op_def<Softmax>, {x}, words);     g = decomposed(g);
#pragma once
#include "tt/core/error.hpp"
#include "tt/graph/graph.hpp"

namespace tt {

/// Calls f(option, words, count) for each option of an op over graphs; count -1: it was left out.
template <class F>
constexpr void for_each_option(const OpDef& def, const Vec<std::int64_t>& words, const F& f) {
  int at = def.optional > 0 ? 1 : 0;
  for (const OptionField& option : def.options()) {
    const bool given = !option.optional || words[at++] != 0;
    const int count = option.list ? static_cast<int>(words[at++]) : 1;
    f(option, words.begin() + at, given ? count : -1);
    at += count;
  }
}

namespace detail {

/// While it lives, nodes that a body records have the source line `at` of the op's caller, if `at` is given.
class AtCaller {
 public:
  constexpr AtCaller(Graph& g, SourceLine at) : graph_(g), before_(g.where_is_caller) {
    if (at.line && !before_) g.where = at;
    g.where_is_caller = true;
  }
  AtCaller(const AtCaller&) = delete;
  constexpr ~AtCaller() { graph_.where_is_caller = before_; }

 private:
  Graph& graph_;
  bool before_;
};

}  // namespace detail

/// Is this number of operands right for an op over graphs? `words`: of an op with optional operands they begin with a bit mask of the operands given.
constexpr bool takes_operands(const OpDef& def, int count, const Vec<std::int64_t>& words) {
  const int all = def.info.arity;
  if (def.any_number) return count > 0;
  if (def.optional == 0) return count == all;
  int given = 0;
  for (int k = 0; k < all && !words.empty(); ++k) {
    if (words[0] >> k & 1) ++given;
    else if (k < all - def.optional) return false;
  }
  return count == given;
}

/// Records a node for each result. Dtypes and shapes are those of the body, recorded on a scratch graph; the body's assumptions about sizes and its failure,
/// if any, become this graph's.
constexpr Vec<int> call_named(Graph& g, const OpDef& def, Ids operands, const Vec<std::int64_t>& words) {
  if (!takes_operands(def, operands.size(), words))
    TT_THROW(Error(Text("tt::") << def.info.name << ": a graph gives it " << operands.size() << " operands, which is not what it takes."));
  Graph alone;
  const Vec<int> given = copied(operands);  // `operands` may be those of a node of this graph, which move
  Vec<int> in, result(def.results, 0);
  for (int o : given) in.push_back(alone.input(g[o].dtype, g[o].shape));
  const detail::AtCaller line(alone, g.where);
  def.decompose(def, alone, in, words.begin(), result.begin());
  for (const Graph::Assumed& a : alone.assumed) g.assumed.push_back(a);
  for (const Graph::Needed& n : alone.needed) g.needed.push_back(n);
  g.as_numbers |= alone.as_numbers;
  if (alone.failure) return Vec<int>(def.results, g.fail(alone.failure, given.empty() ? 0 : given[0]));
  const int identity = def.info.effect ? g.size() + 1 : g.records_steps ? g.next_step() : 0;
  for (int k = 0; k < def.results; ++k) {
    const Node& like = alone[result[k]];
    result[k] = g.intern({.op = Op::call, .dtype = like.dtype, .identity = identity, .bits = static_cast<std::uint64_t>(k), .def = &def, .def_id = def.id, .shape = like.shape},
                         words, given);
  }
  return result;
}

/// Is one of these nodes computed by an operator's kernel? Not in constant evaluation.
constexpr bool has_externals(const Graph& g) {
  if (std::is_constant_evaluated()) return false;
  for (const Node& n : g.nodes)
    if (is_external(n)) return true;
  return false;
}
/// Does one of these nodes give other values at each run (random numbers)?
constexpr bool has_effects(const Graph& g) {
  for (const Node& n : g.nodes)
    if (is_external(n) && n.def->info.effect) return true;
  return false;
}
/// Is one of these nodes an op over graphs, with a body or with a kernel? Not in constant evaluation.
constexpr bool has_named(const Graph& g) {
  if (std::is_constant_evaluated()) return false;
  for (const Node& n : g.nodes)
    if (is_named(n)) return true;
  return false;
}
/// Groups the nodes that are results of one call of an op with a kernel; `with_bodies`: of ops with bodies, too.
struct Calls {
  Vec<int> call_of;          ///< of each node; -1: not the result of a call
  Vec<Vec<int>> results;     ///< of each call: the node of each result; -1: nobody reads it
  Vec<int> first;            ///< of each call: its first node in the order
};
constexpr Calls find_calls(const Graph& g, const Vec<int>& order, bool with_bodies = false) {
  Calls calls{Vec<int>(g.size(), -1), {}, {}};
  Vec<int> newest(g.size(), -1), older;  // calls with the same first operand, as linked lists
  for (int i : order) {
    const Node& n = g[i];
    if (!is_external(n) && !(with_bodies && is_composite(n))) continue;
    const auto same = [&](const Node& o) {
      const Ids x = g.operands(n), y = g.operands(o);
      bool equal = n.def_id == o.def_id && n.identity == o.identity && x.count == y.count;
      for (int k = 0; k < x.count && equal; ++k) equal = x[k] == y[k];
      return equal && g.attribute_words(n) == g.attribute_words(o);
    };
    int c = newest[n.operand[0]];
    while (c >= 0 && !same(g[calls.first[c]])) c = older[c];
    if (c < 0) {
      c = calls.first.size();
      calls.first.push_back(i);
      calls.results.push_back(Vec<int>(n.def->results, -1));
      older.push_back(newest[n.operand[0]]);
      newest[n.operand[0]] = c;
    }
    calls.call_of[i] = c;
    calls.results[c][static_cast<int>(n.bits)] = i;
  }
  return calls;
}

/// Records the body of a node of `from` on these operands of `g`, which may be the same graph.
constexpr int decompose(Graph& g, const Graph& from, const Node& n, Ids operands) {
  const OpDef& def = *n.def;
  const int which = static_cast<int>(n.bits);
  const Vec<std::int64_t> words = from.attribute_words(n);
  const Vec<int> given = copied(operands);
  Vec<int> result(def.results, 0);
  const detail::AtCaller line(g, n.where);
  def.decompose(def, g, given, words.begin(), result.begin());
  return result[which];
}

}  // namespace tt
