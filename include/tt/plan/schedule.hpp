// Scheduling: which nodes share a kernel (a Block). The rules are data: a block's kind, whether a shape `fits` it,
// and the first block in which an operand can be used (`earliest`); one greedy loop in program order. Blocks are
// made in topological order and a node joins no block before those of its operands, so cycles cannot arise.
// Placement: a node computed from leaves only goes into its first consumer's block; a node that only column sums
// read goes into theirs; a view is in the block of the node whose memory it shows.
//   const Schedule s(graph);   s.block_of[node];   s.stored[node];   s.order
#pragma once
#include "tt/plan/normalize.hpp"
#include "tt/plan/plan.hpp"

namespace tt {
namespace detail {

/// A kernel is full, and takes no more nodes, once it has this much work: a node counts 1, an intrinsic, whose body is emitted in its place,
/// `work_of_call`. A compiler's time grows faster than a function: gcc 12 -O3 takes 0.35 ms an addition in one of 500, 0.43 in
/// one of 1,000, 1.2 in one of 4,000; 13 ms a tanh in one of 64, 27 ms in one of 256. Values of a full kernel are stored,
/// not computed again by their readers; and no more work than this waits for a consumer.
inline constexpr int most_work = 512, work_of_call = 8;

/// A future kernel: its kind, the shape it runs over, and which axes a `cols` kernel sums.
struct Block {
  KernelKind kind = KernelKind::rows;
  Shape shape;
  unsigned axes_from_right = 0;
  bool row_order = false;
  int root = -1;
  bool alone = false;  ///< nothing joins it, or nothing more: it is full
  int work = 0;        ///< see most_work
};

struct Schedule {
  const Graph& g;
  const int count;
  Vec<Block> blocks;
  Vec<int> block_of;   ///< -1 for leaves, uniform values, and values that only readers over other shapes compute (is_rebuilt)
  Vec<char> stored;    ///< written to memory by its kernel
  Vec<char> uniform;   ///< a scalar made of constants, computed where it is used
  Vec<int> order;      ///< the blocks in the order of execution

  constexpr explicit Schedule(const Graph& graph)
      : g(graph), count(graph.size()), block_of(count, -1), stored(count, 0), uniform(count, 0),
        sweep_of(count, 0), source_of(count, -1), source_stamp(count, -1), visited(count, 0),
        deferred(count, no), low(count, -1), low_stamp(count, -1) {
    find_uniform();
    store_first();
    assign();
    store();
    sort();
  }

  constexpr bool is_free(int i) const { return is_leaf(g[i].op) || uniform[i]; }
  /// The node whose memory a view shows.
  constexpr int memory_of(int i) const {
    while (is_view(g[i])) i = g[i].operand[0];
    return i;
  }
  /// A cheap value made of exactly one stored value is rebuilt by its readers. The node to read
  /// instead of `o`: that stored value, else `o` itself; -2 when `o` is made of constants alone.
  constexpr int source(int o) {
    if (source_stamp[o] != stores) {  // without this cache a chain of y * y takes 2^n steps
      source_of[o] = find_source(o);
      source_stamp[o] = stores;
    }
    return source_of[o];
  }

 private:
  Vec<int> sweep_of;    // in a rows block: the sweep in which a node can be computed
  Vec<int> source_of, source_stamp;  // source_of[o] is valid if source_stamp[o] == stores: no value was stored since
  int stores = 0;       // values stored so far
  Vec<int> visited;     // the last walk that came to a node: prepare over waiting nodes, need over masks
  int walks = 0;        // walks begun so far
  int waiting = 0;      // work of the nodes that are deferred
  bool may_fill = false;  // the whole graph has work enough to fill a block; else work is not counted
  enum : char { no, until_used, until_summed };
  Vec<char> deferred;   // why a node waits for its consumer
  // low[o], the first block a waiting node may go to, is valid if low_stamp[o] == settled: giving a node its block may move the
  // low of others. lowest, earliest and prepare, place, settle call each other, always on operands, so they end.
  Vec<int> low, low_stamp;
  int settled = 0;    // calls of settle so far
  Vec<char> rebuilt;  // see is_rebuilt(); empty until its first use

  constexpr int find_source(int o) {
    const Node& n = g[o];
    if (is_free(o) && n.op != Op::input) return -2;
    if (!is_elementwise(n.op) || is_view(n) || is_expensive(n) || is_materialized(o) || stored[o] || is_in_full_block(o)) return o;
    int r = -2;
    for (int p : g.operands(n)) {
      if (is_view(g[p])) return o;
      const int s = source(p);
      if (s == -2) continue;
      if (r != -2 && r != s) return o;
      r = s;
    }
    return r;
  }
  constexpr void mark_stored(int o) {
    stores += !stored[o];
    stored[o] = 1;
  }

  constexpr int lowest(int o) {
    if (low_stamp[o] == settled) return low[o];
    int lo = -1;
    for (int p : g.operands(o)) {
      int e = earliest(p, g[o].shape);
      if (deferred[o] == until_summed && !is_free(p) && !deferred[p] && block_of[p] + 1 > e)
        e = block_of[p] + 1;
      if (e > lo) lo = e;
    }
    low[o] = lo;
    low_stamp[o] = settled;
    return lo;
  }

  constexpr int work_of(int i) const { return g[i].op == Op::call ? work_of_call : 1; }
  constexpr bool is_in_full_block(int o) const { return may_fill && block_of[o] >= 0 && blocks[block_of[o]].alone; }
  constexpr bool is_materialized(int i) const { return g[i].op == Op::copy && g[i].attribute == materializing; }
  constexpr static bool is_column_sum(const Node& n, const Shape& operand) {
    return is_reduction(n.op) && !(n.attribute >> (operand.rank - 1) & 1);
  }
  constexpr bool is_column_sum(int i) const {
    return is_reduction(g[i].op) && is_column_sum(g[i], g[g[i].operand[0]].shape);
  }

  constexpr bool fits(int block, const Shape& s) const {
    const Block& b = blocks[block];
    if (b.alone) return false;
    switch (b.kind) {
      case KernelKind::rows: {
        if (same_grid(s, b.shape)) return true;
        if (b.shape.last() == Extent(1) || s.last() != Extent(1)) return false;
        for (int k = 1; k < max_rank; ++k)  // one value a row
          if (s.from_right(k) != b.shape.from_right(k)) return false;
        return true;
      }
      case KernelKind::cols: {
        for (int k = 0; k < max_rank; ++k)
          if (s.from_right(k) != (b.axes_from_right >> k & 1 ? Extent(1) : b.shape.from_right(k)))
            return false;
        return true;
      }
      case KernelKind::matmul: return same_grid(s, b.shape);
    }
    return false;
  }
  /// The first block in which a node of shape `s` may use operand `o`.
  constexpr int earliest(int o, const Shape& s) {
    if (is_free(o)) return -1;
    if (deferred[o]) return lowest(o);
    const int b = block_of[o];
    if (b < 0) return -1;
    if (is_view(g[o]) || !fits(b, s)) return b + 1;
    const bool new_sweep = is_row_value(o, b) && s.last() != Extent(1);
    return new_sweep && sweep_of[o] + 1 >= max_sweeps ? b + 1 : b;
  }
  /// One value a row in its rows block.
  constexpr bool is_row_value(int i, int block) const {
    return blocks[block].kind == KernelKind::rows && blocks[block].shape.last() != Extent(1) &&
           (is_reduction(g[i].op) || g[i].shape.last() == Extent(1));
  }
  constexpr int new_block(const Block& b) {
    blocks.push_back(b);
    return blocks.size() - 1;
  }
  constexpr void add_work(int i, Block& to) {
    if (deferred[i]) waiting -= work_of(i);
    to.work += work_of(i);
    to.alone = to.alone || to.work >= most_work;
  }
  constexpr void settle(int i, int block) {
    if (may_fill) add_work(i, blocks[block]);
    block_of[i] = block;
    deferred[i] = no;
    ++settled;
    for (int o : g.operands(i)) {
      if (deferred[o] && !is_left_out(o)) settle(o, block);
      if (block_of[o] != block || uniform[o] || is_view(g[o])) continue;
      const int sweep = sweep_of[o] + (is_row_value(o, block) && !is_row_value(i, block) ? 1 : 0);
      if (sweep > sweep_of[i]) sweep_of[i] = sweep;
    }
  }
  /// Waiting operands of another shape are placed in a block of that shape: in this one they would be computed
  /// once a row, or never.
  constexpr void prepare(int i, const Shape& shape) { prepare(i, shape, ++walks); }
  constexpr void prepare(int i, const Shape& shape, int walk) {
    visited[i] = walk;
    for (int o : g.operands(i)) {
      if (!deferred[o] || visited[o] == walk) continue;
      if (same_grid(g[o].shape, shape)) prepare(o, shape, walk);
      else if (!is_rebuilt(o)) place(o);
    }
  }
  constexpr void place(int i) {
    const Node& n = g[i];
    int lo = -1;
    if (may_fill && deferred[i]) waiting -= work_of(i);
    deferred[i] = no;
    prepare(i, n.shape);
    for (int o : g.operands(n)) {
      const int e = earliest(o, n.shape);
      if (e > lo) lo = e;
    }
    int block = -1;
    for (int j = lo < 0 ? 0 : lo; j < blocks.size() && block < 0; ++j)
      if (fits(j, n.shape) && (j == lo || blocks[j].kind == KernelKind::rows)) block = j;
    settle(i, block >= 0 ? block : new_block({.shape = n.shape, .root = i}));
  }

  constexpr void find_uniform() {
    int calls = 0;
    bool any = false;
    for (int i = 0; i < count; ++i) {
      if (!is_elementwise(g[i].op) || is_view(g[i])) continue;
      calls += g[i].op == Op::call;
      uniform[i] = 1;
      for (int o : g.operands(i))
        if (!uniform[o] && g[o].op != Op::constant && g[o].op != Op::extent)
          uniform[i] = 0;
      any = any || uniform[i];
    }
    may_fill = count + calls * (work_of_call - 1) >= most_work;
    if (!any) return;
    for (int o : g.outputs) uniform[memory_of(o)] = 0;
    for (int i = 0; i < count; ++i)
      if (!is_elementwise(g[i].op) || is_view(g[i]))
        for (int o : g.operands(i)) uniform[o] = 0;
    for (int i = 0; i < count; ++i)  // a value made of a value in memory is no longer uniform
      for (int o : g.operands(i))
        if (!uniform[o] && g[o].op != Op::constant && g[o].op != Op::extent)
          uniform[i] = 0;
  }

  /// Is `o` a cheap value made of one input, not needed in memory, whose readers all run over other shapes? They compute it again (see source()), and it
  /// is in no block. (One value a row is computed once a row. Full blocks, and so large graphs, store their values.)
  constexpr bool is_rebuilt(int o) {
    if (may_fill || g[o].shape.last() == Extent(1)) return false;
    if (const int s = source(o); s < 0 || s == o) return false;
    if (rebuilt.empty()) find_rebuilt();
    return rebuilt[o];
  }
  /// The same without computing it: false before the first call of find_rebuilt.
  constexpr bool is_left_out(int o) const { return !rebuilt.empty() && rebuilt[o]; }
  constexpr void find_rebuilt() {
    rebuilt = Vec<char>(count, 0);
    Vec<char> cheap(count, 0), read_in_block(count, 0);  // made of one input, no stored value between; read over the same shape, or not by an elementwise op
    for (int i = 0; i < count; ++i) {
      const int s = source(i);
      cheap[i] = s >= 0 && s != i && g[s].op == Op::input;
      for (int o : g.operands(i)) cheap[i] = cheap[i] && (is_free(o) || cheap[o]);
    }
    for (int i = count - 1; i >= 0; --i) {
      rebuilt[i] = cheap[i] && !read_in_block[i] && g[i].shape.last() != Extent(1);
      if (rebuilt[i]) continue;
      for (int o : g.operands(i))
        if (!is_elementwise(g[i].op) || is_view(g[i]) || same_grid(g[o].shape, g[i].shape)) read_in_block[o] = 1;
    }
  }
  constexpr void assign() {
    Vec<char> only_summed(count, 1);
    Vec<int> uses(count, 0);
    for (int i = 0; i < count; ++i)
      for (int o : g.operands(i)) {
        ++uses[o];
        if (!is_column_sum(i)) only_summed[o] = 0;
      }
    for (int o : g.outputs) only_summed[o] = 0;
    for (int i = 0; i < count; ++i) {
      const Node& n = g[i];
      if (is_free(i)) continue;
      if (is_view(n)) {
        if (deferred[n.operand[0]]) place(n.operand[0]);
        block_of[i] = block_of[n.operand[0]];
      } else if (n.op == Op::matmul) {
        for (int k = 0; k < 2; ++k)
          if (deferred[n.operand[k]]) place(n.operand[k]);
        block_of[i] = new_block({.kind = KernelKind::matmul, .shape = n.shape, .root = i});
      } else if (is_materialized(i)) {
        block_of[i] = new_block({.shape = n.shape, .root = i, .alone = true});
      } else if (n.op == Op::slice_scatter) {  // runs over the part that it replaces
        for (int k = 0; k < 2; ++k)
          if (deferred[n.operand[k]]) place(n.operand[k]);
        block_of[i] = new_block({.shape = g[n.operand[1]].shape, .root = i, .alone = true});
      } else if (is_reduction(n.op)) {
        assign_reduction(i);
      } else {
        assign_elementwise(i, uses[i] > 0, only_summed[i]);
      }
    }
    for (int i = 0; i < count; ++i)
      if (deferred[i] && !is_left_out(i)) place(i);
  }
  constexpr void assign_reduction(int i) {
    const Node& n = g[i];
    const int a = n.operand[0];
    const Shape& s = g[a].shape;
    const bool cols = is_column_sum(i);
    Block b{.kind = cols ? KernelKind::cols : KernelKind::rows, .shape = s, .row_order = (n.bits & in_row_order) != 0, .root = i};
    if (cols)
      for (int k = 0; k < s.rank; ++k)
        if (n.attribute >> k & 1) b.axes_from_right |= 1u << (s.rank - 1 - k);
    prepare(i, s);
    int lo = earliest(a, s);
    if (cols && !deferred[a] && !is_free(a)) lo = block_of[a] + 1;
    int block = -1;
    for (int j = lo < 0 ? 0 : lo; j < blocks.size() && block < 0; ++j)
      if (!blocks[j].alone && blocks[j].kind == b.kind && same_grid(blocks[j].shape, s) &&
          blocks[j].axes_from_right == b.axes_from_right && blocks[j].row_order == b.row_order)
        block = j;
    settle(i, block >= 0 ? block : new_block(b));
  }
  constexpr void assign_elementwise(int i, bool used, bool only_summed) {
    int lo = -1;
    for (int o : g.operands(i)) {
      const int e = earliest(o, g[i].shape);
      if (e > lo) lo = e;
    }
    if (!used || waiting >= most_work || (lo >= 0 && !only_summed)) return place(i);
    deferred[i] = lo < 0 ? until_used : until_summed;
    if (may_fill) waiting += work_of(i);
  }

  // ---- values that must be in memory
  constexpr void need(int o, int block, int walk) {
    const Node& n = g[o];
    if (is_free(o) || is_view(n) || block_of[o] == block || stored[o] || visited[o] == walk) return;
    visited[o] = walk;
    if (n.dtype == DType::boolean && is_elementwise(n.op) && !is_materialized(o) && !is_in_full_block(o)) {  // masks are rebuilt
      for (int p : g.operands(n))
        need(p, block, walk);
      return;
    }
    const int s = source(o);
    if (s == o || s < 0) mark_stored(o);
    else if (!is_free(s) && block_of[s] != block) mark_stored(s);
  }
  /// Values that are stored whatever their block: marked before blocks exist, as source() depends on them.
  constexpr void store_first() {
    for (int o : g.outputs) mark_stored(memory_of(o));
    store_bases();
    for (int i = 0; i < count; ++i)
      for (int o : g.operands(i))
        if ((is_view(g[o]) || g[i].op == Op::matmul))
          if (const int m = memory_of(o); !is_free(m)) mark_stored(m);
  }
  /// Values that another block reads.
  constexpr void store() {
    for (int i = 0; i < count; ++i) {
      if (is_free(i) || is_view(g[i])) continue;
      for (int o : g.operands(i))
        if (!(g[i].op == Op::slice_scatter && o == g[i].operand[0])) need(o, block_of[i], ++walks);
    }
  }
  /// The bases of slice_scatters, unless parts overwrite all of a base.
  constexpr void store_bases() {
    Vec<int> replaced_by;
    for (int i = 0; i < count; ++i) {
      if (g[i].op != Op::slice_scatter) continue;
      if (replaced_by.empty()) replaced_by = Vec<int>(count, -1);
      replaced_by[g[i].operand[0]] = i;
    }
    for (int i = 0; i < replaced_by.size(); ++i)
      if (replaced_by[i] >= 0 && (g[i].op == Op::slice_scatter || !is_overwritten(i, replaced_by))) mark_stored(i);
  }
  /// Do parts that meet along one axis replace all of `base`?
  constexpr bool is_overwritten(int base, const Vec<int>& replaced_by) const {
    const Shape& whole = g[base].shape;
    int axis = -1;
    Extent begin = 0, end = 0;
    const auto below = [](Extent a, Extent b) { return a.is_constant() && b.is_constant() && a.code <= b.code; };
    for (int i = replaced_by[base]; i >= 0; i = replaced_by[i]) {
      const auto p = g.attributes<PadAttribute>(i);
      const Shape& part = g[g[i].operand[1]].shape;
      for (int k = 0; k < whole.rank; ++k) {
        if (part[k] == whole[k]) continue;
        if (axis >= 0 && axis != k) return false;
        if (axis < 0) begin = end = p.along(k);
        axis = k;
      }
      const Extent from = p.along(axis), to = from + part[axis];
      if (from == end || (below(from, end) && below(end, to))) end = to;
      if (to == begin || (below(from, begin) && below(begin, to))) begin = from;
      if (begin == Extent(0) && end == whole[axis]) return true;
    }
    return false;
  }
  /// Blocks whose values no other block reads (parameter updates) go last, so that they may write in place.
  constexpr void sort() {
    Vec<char> read(blocks.size(), 0);
    for (int i = 0; i < count; ++i) {
      if (is_free(i)) continue;
      for (int o : g.operands(i))
        if (!is_free(o) && block_of[o] >= 0 && block_of[o] != block_of[i])
          read[block_of[o]] = 1;
    }
    for (int b = 0; b < blocks.size(); ++b)
      if (read[b]) order.push_back(b);
    for (int b = 0; b < blocks.size(); ++b)
      if (!read[b]) order.push_back(b);
  }
};

}  // namespace detail
}  // namespace tt
