// Lowering: each block of a schedule becomes a kernel with instructions and accesses. In order: buffers and views (memory_views.hpp), registers and
// accesses (kernel_values.hpp), rows, columns and products (kernel_grid.hpp), and here levels, demand and donated outputs. Each part is a base of the
// next, as they share one state.
#pragma once
#include "tt/plan/kernel_grid.hpp"

namespace tt {
namespace detail {

struct Lowering : KernelGrid {
  constexpr Lowering(const Graph& graph, const Vec<char>& indirect_outputs, bool for_devices = false) : KernelGrid(graph, indirect_outputs), for_devices_(for_devices), kernel_of(s.blocks.size(), -1) {
    Vec<Vec<int>> members(s.blocks.size(), Vec<int>());
    const Vec<char> there = in_place();
    for (int i = 0; i < g.size(); ++i)
      if (s.block_of[i] >= 0 && !is_view(g[i]) && !(there.size() > 0 && there[i])) members[s.block_of[i]].push_back(i);
    for (int next : s.order) {
      bool writes = false;  // values that every reader rebuilds, or without elements, need no kernel
      for (int i : members[next])
        writes = writes || (s.stored[i] && (g[i].op == Op::slice_scatter ? s.blocks[next].shape : g[i].shape).size() != Extent(0));
      if (!writes) continue;
      now = plan.kernels.size();
      kernel_of[next] = now;
      lower(next, members[next]);
    }
    copy_indirect();
  }

  constexpr void lower(int block_index, const Vec<int>& m) {
    block = block_index;
    kernel = {};
    kernel.kind = b().kind;
    kernel.row_order = b().row_order;
    kernel.where = g[b().root].where;
    make_grid();
    pending.clear();
    pending_segment.clear();
    grid_accesses.clear();
    for (int i : touched) state[i].reg = state[i].scratch = -1;
    touched.clear();
    const int sweeps = find_levels(m);
    kernel.sweeps = sweeps;
    emit_members(m, find_demand(m, sweeps), sweeps);
    finish(sweeps);
  }

  /// The sweep in which each node can be computed; returns the number of sweeps.
  constexpr int find_levels(const Vec<int>& m) {
    int sweeps = 1;
    for (int k = 0; k < m.size(); ++k) {
      const int i = m[k];
      const Node& n = g[i];
      state[i].position = k;
      state[i].row_value = is_cols()   ? is_reduction(n.op) || reads_sum(n) ||
                                       !same_grid(n.shape, b().shape)
                     : is_rows() ? is_reduction(n.op) || is_row_value(i)
                                 : 0;
      int l = 0;
      if (n.op != Op::matmul)
        for (int o : g.operands(n))
          if (s.block_of[o] == block && !is_view(g[o]) && !s.uniform[o]) {
            const int e = state[o].level + (state[o].row_value && !state[i].row_value ? 1 : 0);
            if (e > l) l = e;
          }
      state[i].level = l;
      if (l + 1 > sweeps) sweeps = l + 1;
    }
    return sweeps == 1 && is_deep(m) ? split_chain(m) : sweeps;
  }
  constexpr bool is_deep(const Vec<int>& m) const {
    if (!is_rows() || (b().shape.size().is_constant() && b().shape.size().code < 2 * tile_columns))
      return false;
    int calls = 0;
    for (int i : m) {
      if (is_reduction(g[i].op) || state[i].row_value) return false;
      calls += g[i].op == Op::call;
    }
    return calls >= tiled_from_calls;
  }
  /// One sweep for each step of the longest chain of calls.
  constexpr int split_chain(const Vec<int>& m) {
    int sweeps = 1;
    for (int i : m) {
      int calls = 0;
      for (int o : g.operands(i))
        if (s.block_of[o] == block && !is_view(g[o]) && !s.uniform[o] &&
            state[o].level > calls)
          calls = state[o].level;
      state[i].level = calls + (g[i].op == Op::call ? 1 : 0);
    }
    for (int i : m) {
      state[i].level = state[i].level > max_sweeps ? max_sweeps - 1 : state[i].level > 0 ? state[i].level - 1 : 0;
      if (state[i].level + 1 > sweeps) sweeps = state[i].level + 1;
    }
    if (sweeps > 1) kernel.tile = tile_columns;
    return sweeps;
  }
  constexpr bool reads_sum(const Node& n) const {
    for (int o : g.operands(n))
      if (s.block_of[o] == block && !s.uniform[o] && state[o].row_value) return true;
    return false;
  }

  bool for_devices_;
  Vec<int> kernel_of;  // of each block, where it has one
  /// Is this a conversion of a 16-bit float to be kept in scratch? It takes a CPU as long as several sums; on a device scratch leaves less room for rows.
  constexpr bool is_widened(const Node& n) const { return !for_devices_ && n.op == Op::cast && is_narrow_float(g[n.operand[0]].dtype); }
  /// demand[sweep * n + k]: does a sweep compute member k? Last sweep first: stores and reductions, then their operands.
  /// A value of an earlier sweep is computed again if cheap, read again if stored, else kept in a
  /// row of scratch.
  constexpr Vec<char> find_demand(const Vec<int>& m, int sweeps) {
    const int n = m.size();
    Vec<char> demand(n * sweeps, 0);
    for (int sweep = sweeps - 1; sweep >= 0; --sweep)
      for (int k = n - 1; k >= 0; --k) {
        const int i = m[k];
        const bool reduction = is_reduction(g[i].op);
        if (state[i].level == sweep && ((s.stored[i] && !state[i].row_value) || reduction))
          demand[sweep * n + k] = 1;
        if ((state[i].row_value && !reduction) || !demand[sweep * n + k] || g[i].op == Op::matmul)
          continue;
        for (int o : g.operands(i)) {
          if (s.block_of[o] != block || is_view(g[o]) || s.uniform[o] || state[o].row_value)
            continue;
          if (state[o].level == sweep || !(s.stored[o] || is_expensive(g[o]) || is_widened(g[o]))) {
            demand[sweep * n + state[o].position] = 1;
          } else {
            demand[state[o].level * n + state[o].position] = 1;
            if (!s.stored[o] && state[o].scratch < 0) new_scratch(o);
          }
        }
      }
    return demand;
  }
  constexpr void new_scratch(int o) {
    if (state[o].reg < 0) touched.push_back(o);
    state[o].scratch = plan.buffers.size();
    ++kernel.scratch;
    plan.buffers.push_back({.dtype = g[o].dtype,
                            .size = kernel.tile ? Extent(kernel.tile)
                                                : round_up(grid.extent[grid.rank - 1],
                                                           reduction_lanes),
                            .node = o, .scratch = true});
  }

  constexpr void emit_members(const Vec<int>& m, const Vec<char>& demand, int sweeps) {
    const int n = m.size();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const int segment = 2 * sweep + 1;
      for (int k = 0; k < n; ++k) {
        if (!demand[sweep * n + k]) continue;
        const int i = m[k];
        if (g[i].op == Op::matmul) {
          keep(i, emit(segment, {.op = Op::accumulator, .dtype = g[i].dtype}), segment);
        } else if (is_reduction(g[i].op)) {
          const int a = value(g[i].operand[0], segment);
          keep(i, emit(segment, {.op = g[i].op, .dtype = g[i].dtype, .from = g[i].dtype,
                                 .a = a}), segment + 1);
          continue;
        } else if (!valid(i, segment)) {
          compute(i, segment);
        }
        if (state[i].level == sweep) {
          if (s.stored[i]) emit_store(i, segment, buffer_of[i]);
          if (state[i].scratch >= 0) emit_store(i, segment, state[i].scratch);
        }
      }
      for (int k = 0; k < n; ++k) {
        const int i = m[k];
        if (!state[i].row_value || state[i].level != sweep) continue;
        if (!is_reduction(g[i].op)) compute(i, segment + 1);
        if (s.stored[i]) emit_store(i, segment + 1, buffer_of[i]);
      }
    }
  }

  // ---- donated outputs
  /// Copies of a donated input into its own memory, made before parts of it are replaced: they need no kernel. None: empty.
  constexpr Vec<char> in_place() const {
    Vec<char> there;
    for (int k = 0; k < g.outputs.size(); ++k) {
      if (g.donated[k] < 0 || indirect[k]) continue;
      for (int i = s.memory_of(g.outputs[k]); g[i].op == Op::slice_scatter;) {
        i = g[i].operand[0];
        if (const int from = g[i].operand[0]; g[i].op == Op::copy && from == g.inputs[g.donated[k]] && !g.is_strided(from) &&
                                              plan.buffers[buffer_of[from]].padded == plan.buffers[buffer_of[i]].padded) {
          if (there.empty()) there = Vec<char>(g.size(), 0);
          there[i] = 1;
        }
      }
    }
    return there;
  }
  constexpr void copy_indirect() {
    for (int k = 0; k < g.outputs.size(); ++k) {
      if (!indirect[k]) continue;
      now = plan.kernels.size();
      const int i = s.memory_of(g.outputs[k]);
      const Buffer from = plan.buffers[buffer_of[i]];
      int to = -1;
      for (int j = 0; j < plan.buffers.size(); ++j)
        if (plan.buffers[j].external == g.donated[k] && to < 0) to = j;
      Kernel copy{.cols = from.size};
      copy.registers[static_cast<int>(from.dtype)] = 1;
      copy.where = g[i].where;
      copy.code = plan.kernels.size();
      copy.first_binding = plan.bindings.size();
      copy.bindings = 2;
      plan.bindings.push_back(touch(buffer_of[i]));
      plan.bindings.push_back(touch(to));
      const int access = plan.accesses.size();
      for (int operand = 0; operand < 2; ++operand) {
        Access a;
        a.buffer = operand;
        a.column = 1;
        a.guarded = true;
        plan.accesses.push_back(a);
      }
      copy.segment[0] = copy.segment[1] = plan.instructions.size();
      plan.instructions.push_back({.op = Op::load, .dtype = from.dtype, .result = 0,
                                   .access = access});
      plan.instructions.push_back({.op = Op::store, .dtype = from.dtype, .a = 0,
                                   .access = access + 1});
      copy.segment[2] = copy.segment[3] = plan.instructions.size();
      plan.kernels.push_back(copy);
    }
  }
  /// Marks the outputs that would overwrite their input while it is still needed.
  constexpr bool find_conflicts(Vec<char>& conflicts) const {
    bool any = false;
    const Vec<char> there = in_place();
    for (int k = 0; k < g.outputs.size(); ++k) {
      if (g.donated[k] < 0 || indirect[k]) continue;
      const int out = buffer_of[s.memory_of(g.outputs[k])];
      const int in = buffer_of[g.inputs[g.donated[k]]];
      if (plan.buffers[out].first < 0) continue;  // without elements it is not written
      const auto is_read_behind = [&](int writes) {
        return plan.buffers[in].last > writes || (plan.buffers[in].last == writes && !reads_before_writes(plan.kernels[writes], in, out));
      };
      bool late = is_read_behind(plan.buffers[out].first);
      if (late && !there.empty()) late = is_part_read_behind(s.memory_of(g.outputs[k]), g.inputs[g.donated[k]], there, is_read_behind);
      if (late) conflicts[k] = 1;
      any = any || late;
    }
    return any;
  }
  /// The same where parts of an input are replaced in its memory: elements beside a part may be read at any time.
  template <class IsReadBehind>
  constexpr bool is_part_read_behind(int i, int input, const Vec<char>& there, const IsReadBehind& is_read_behind) const {
    for (; g[i].op == Op::slice_scatter; i = g[i].operand[0]) {
      bool beside = true;
      for (int n = 0; n < g.size() && beside; ++n)
        for (int o : g.operands(n)) beside = beside && (o != input || there[n] || is_beside(g, g[n], g[i]));
      if (const int writes = kernel_of[s.block_of[i]]; !beside && writes >= 0 && is_read_behind(writes)) return true;
    }
    return !there[i];
  }
  constexpr bool reads_before_writes(const Kernel& k, int in, int out) const {
    if (k.kind == KernelKind::matmul &&
        (bound(k, plan.accesses[k.a].buffer) == in || bound(k, plan.accesses[k.b].buffer) == in))
      return false;
    const int end = k.segment[2 * k.sweeps + 1];
    int written = -1, segment = 0, written_in = 0, written_at = 0;
    for (int i = k.segment[0]; i < end; ++i) {
      while (i >= k.segment[segment + 1]) ++segment;
      const Instruction& x = plan.instructions[i];
      if (x.op == Op::store && bound(k, plan.accesses[x.access].buffer) == out) {
        written = x.access;
        written_in = segment;
        written_at = i;
      }
    }
    segment = 0;
    for (int i = k.segment[0]; i < end; ++i) {
      while (i >= k.segment[segment + 1]) ++segment;
      const Instruction& x = plan.instructions[i];
      if (!(x.op == Op::load || x.op == Op::take) || bound(k, plan.accesses[x.access].buffer) != in) continue;
      if (x.op == Op::take) return false;  // of any element
      Access a = plan.accesses[x.access], w = plan.accesses[written];
      a.buffer = w.buffer = 0;
      a.guarded = w.guarded = a.overread = w.overread = false;
      if (!a.equals(w, plan.terms.begin()) || segment > written_in || i > written_at) return false;
    }
    return true;
  }
  constexpr int bound(const Kernel& k, int operand) const {
    return operand < 0 ? -1 : plan.bindings[k.first_binding + operand];
  }
};

}  // namespace detail
}  // namespace tt
