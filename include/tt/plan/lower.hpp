// Lowering: each block of a schedule becomes a kernel with instructions and accesses. In order:
// buffers and views, the grid, levels and demand, registers, accesses, products, donated outputs.
// Long, because these share one state: what is in a register, in which segment, of which node.
#pragma once
#include "tt/plan/schedule.hpp"

namespace tt {
namespace detail {

/// Axes that were made one without being one in memory, innermost first; none: an ordinary axis, with one stride.
struct MergedAxes {
  struct Axis {
    Extent extent, stride;
    friend constexpr bool operator==(const Axis&, const Axis&) = default;
  };
  Vec<Axis> axes;
  constexpr int count() const { return axes.size(); }
  constexpr const Axis& operator[](int k) const { return axes[k]; }
  constexpr void push_back(Extent e, Extent s) {
    if (count() > 0 && s == axes.back().stride * axes.back().extent) axes.back().extent = axes.back().extent * e;
    else axes.push_back({e, s});
  }
  friend constexpr bool operator==(const MergedAxes&, const MergedAxes&) = default;
};

/// One stride an axis. Plain integers: half the constant evaluation of Extent[].
struct Strides {
  std::int64_t code[max_rank] = {};
  constexpr Extent operator[](int axis) const { return Extent::from_code(code[axis]); }
  constexpr void set(int axis, Extent e) { code[axis] = e.code; }
};

/// How a node's elements lie in memory: strides over its own axes.
struct MemoryView {
  int node = -1;
  Extent offset = 0;
  int rank = 0;
  Strides stride;
  MergedAxes last;  ///< of a reshaped broadcast, and of windows
  MergedAxes second_last;  ///< of windows
};

/// The axes a kernel runs over, as distances from the right; the last is the columns.
struct Grid {
  int rank = 0;
  int axis[max_rank] = {};
  Extent extent[max_rank] = {};
  constexpr void push_back(int from_right, Extent e) {
    axis[rank] = from_right;
    extent[rank++] = e;
  }
};

/// An access before its grid is collapsed: strides over the grid's axes.
struct GridAccess {
  int buffer = -1;
  Extent offset = 0;
  Strides stride = {};
  MergedAxes columns = {};
  bool whole_grid = true;  // false: only the rows that a `cols` kernel keeps
  bool tiled = false;
  bool inside = false;     // elements beyond the last column are not touched: not written (slice_scatter), nor read (take: its register of places holds anything there)
};

struct Lowering {
  const Graph& g;
  const Schedule s;
  Plan plan;
  Vec<int> buffer_of;
  Vec<char> padded;
  Vec<char> indirect;  // outputs that are written aside and copied at the end
  Vec<int> code_heads, code_chain;  // see share_code

  constexpr Lowering(const Graph& graph, const Vec<char>& indirect_outputs)
      : g(graph), s(graph), buffer_of(graph.size(), -1), padded(graph.size(), 0),
        indirect(indirect_outputs), code_heads(buckets_for(s.blocks.size()), 0), level(graph.size(), 0), slot(graph.size(), -1),
        slot_segment(graph.size(), -1), scratch_of(graph.size(), -1), row_value(graph.size(), 0),
        position(graph.size(), 0) {
    plan.nodes = g.size();
    make_buffers();
    Vec<Vec<int>> members(s.blocks.size(), Vec<int>());
    for (int i = 0; i < g.size(); ++i)
      if (s.block_of[i] >= 0 && !is_view(g[i])) members[s.block_of[i]].push_back(i);
    for (int next : s.order) {
      bool writes = false;  // what is rebuilt by every reader, or has no elements, needs no kernel
      for (int i : members[next])
        writes = writes || (s.stored[i] && (g[i].op == Op::slice_scatter ? s.blocks[next].shape : g[i].shape).size() != Extent(0));
      if (!writes) continue;
      now = plan.kernels.size();
      lower(next, members[next]);
    }
    copy_indirect();
  }

  // ---- memory
  constexpr void make_buffers() {
    Vec<char> must_be_dense(g.size(), 0);
    for (int i = 0; i < g.size(); ++i)
      if (g[i].op == Op::reshape && !same_but_ones(g[i].shape, g[g[i].operand[0]].shape))
        must_be_dense[s.memory_of(i)] = 1;
    plan.externals = g.inputs.size();
    for (int i : g.inputs) {
      new_buffer(i, static_cast<int>(g[i].attribute));
      plan.buffers.back().padded = g.input_padded[static_cast<int>(g[i].attribute)];
    }
    for (int k = 0; k < g.outputs.size(); ++k) {
      const int external = g.donated[k] >= 0 ? g.donated[k] : plan.externals++;
      const int i = s.memory_of(g.outputs[k]);
      new_buffer(i, indirect[k] ? -1 : external);
      plan.buffers.back().padded = !indirect[k] && g.output_padded[k];
    }
    for (int i = g.size() - 1; i >= 0; --i)
      if (g[i].op == Op::slice_scatter) {  // takes over the memory of what it replaces a part of
        if (buffer_of[i] < 0) new_inner_buffer(i, must_be_dense[i]);
        padded[g[i].operand[0]] = padded[i];
        buffer_of[g[i].operand[0]] = buffer_of[i];
      }
    for (int i = 0; i < g.size(); ++i)
      if (s.stored[i] && buffer_of[i] < 0) new_inner_buffer(i, must_be_dense[i]);
  }
  constexpr void new_inner_buffer(int i, bool must_be_dense) {
    const Extent last = g[i].shape.last();
    padded[i] = !must_be_dense && last.is_constant() && last != Extent(1) && g[i].shape.rows() != Extent(1);
    new_buffer(i, -1);
  }
  constexpr void new_buffer(int i, int external) {
    const Shape& shape = g[i].shape;
    const Extent row = padded[i] ? round_up(shape.last(), row_padding) : shape.last();
    buffer_of[i] = plan.buffers.size();
    plan.buffers.push_back({.dtype = g[i].dtype, .size = shape.rows() * row, .external = external,
                            .node = i});
  }
  constexpr MemoryView view_of(int i) const {
    const Node& n = g[i];
    if (n.op == Op::window || n.op == Op::permute || n.op == Op::slice) return changed_view(n, view_of(n.operand[0]));
    MemoryView v;
    v.rank = n.shape.rank;
    if (n.op == Op::reshape) {
      const MemoryView from = view_of(n.operand[0]);
      const Shape& old = g[n.operand[0]].shape;
      v.node = from.node;
      v.offset = from.offset;
      if (same_but_ones(old, n.shape)) {
        int j = 0;
        for (int k = 0; k < n.shape.rank; ++k) {
          if (n.shape[k] == Extent(1)) {
            v.stride.set(k, 0);
            continue;
          }
          while (old[j] == Extent(1)) ++j;
          v.stride.set(k, from.stride[j++]);
        }
        return v;
      }
      if (n.attribute == read_as_windows || g[n.operand[0]].op == Op::broadcast) regroup_axes(v, n.shape, from, old);
      else row_major(v, n.shape, n.shape.last());
      return v;
    }
    if (is_view(n) && n.op == Op::broadcast) {
      const MemoryView from = view_of(n.operand[0]);
      v.node = from.node;
      v.offset = from.offset;
      for (int k = 0; k < v.rank; ++k)
        v.stride.set(v.rank - 1 - k, g[n.operand[0]].shape.from_right(k) == Extent(1) ? Extent(0) : from.stride[from.rank - 1 - k]);
      return v;
    }
    v.node = i;
    if (g.is_strided(i)) {
      const Shape& strides = g.input_strides[static_cast<int>(n.attribute)];
      for (int k = 0; k < v.rank; ++k) v.stride.set(k, strides[k]);
      return v;
    }
    row_major(v, n.shape, padded[i] ? round_up(n.shape.last(), row_padding) : n.shape.last());
    return v;
  }
  constexpr MemoryView changed_view(const Node& n, MemoryView v) const {
    if (n.op == Op::window) {
      const auto w = g.attributes<WindowAttribute>(n);
      v.stride.set(v.rank, v.stride[w.axis] * Extent(w.dilation));
      v.stride.set(w.axis, v.stride[w.axis] * Extent(w.step));
      ++v.rank;
    } else if (n.op == Op::permute) {
      const Strides from = v.stride;
      for (int k = 0; k < v.rank; ++k) v.stride.set(k, from[g.permuted_axis(n, k)]);
      if (v.last.count() + v.second_last.count() > 0) {  // of windows: the last two exchanged
        const MergedAxes last = v.last;
        v.last = v.second_last;
        v.second_last = last;
      }
    } else {
      const auto cut = g.attributes<SliceAttribute>(n);
      v.offset = v.offset + cut.start * v.stride[cut.axis];
      v.stride.set(cut.axis, v.stride[cut.axis] * Extent(cut.step));
    }
    return v;
  }
  /// Axes of `v` are parts of those of `from`; the last two may be several (see merged_axes, Normalizer::shows_windows).
  constexpr static void regroup_axes(MemoryView& v, const Shape& shape, const MemoryView& from, const Shape& old) {
    v.stride = {};
    int axis = -1;  // the pieces of one come one behind the other
    regroup(old, shape, [&](int k, Extent extent, int j, Extent times) {
      const Extent stride = from.stride[j] * times;
      if (k != axis) v.stride.set(axis = k, stride);
      if (k >= shape.rank - 2) (k == shape.rank - 1 ? v.last : v.second_last).push_back(extent, stride);
    });
    if (v.last.count() < 2) v.last.axes.clear();
    if (v.second_last.count() < 2) v.second_last.axes.clear();
  }
  constexpr static void row_major(MemoryView& v, const Shape& shape, Extent row) {
    Extent stride = 1;
    for (int k = shape.rank - 1; k >= 0; --k) {
      v.stride.set(k, stride);
      stride = stride * (k == shape.rank - 1 ? row : shape[k]);
    }
  }

  // ---- one kernel
  int now = 0;
  int block = -1;
  Grid grid;
  int kept_axes = 0;            // of a cols kernel: grid axes before the summed ones
  Vec<int> level, slot, slot_segment, scratch_of;
  Vec<char> row_value;
  Vec<int> position;            // of a node among the members
  Vec<Instruction> pending;
  Vec<int> pending_segment, touched;
  Vec<GridAccess> grid_accesses;
  Kernel kernel;

  constexpr const Block& b() const { return s.blocks[block]; }
  constexpr bool is_rows() const { return b().kind == KernelKind::rows; }
  constexpr bool is_cols() const { return b().kind == KernelKind::cols; }

  constexpr void make_grid() {
    grid = {};
    const Shape& shape = b().shape;
    kept_axes = 0;
    if (b().kind == KernelKind::matmul) {
      for (int k = shape.rank - 1; k >= 0; --k) grid.push_back(k, shape.from_right(k));
      return;
    }
    for (int pass = 0; pass < 2; ++pass) {  // kept axes, then summed ones
      for (int k = shape.rank - 1; k >= (is_cols() ? 1 : 0); --k)
        if (shape.from_right(k) != Extent(1) &&
            (b().axes_from_right >> k & 1) == static_cast<unsigned>(pass))
          grid.push_back(k, shape.from_right(k));
      if (pass == 0) kept_axes = grid.rank;
    }
    if (is_cols()) grid.push_back(0, shape.last());
    else if (grid.rank == 0) grid.push_back(0, 1);
  }
  constexpr int column_axis() const { return grid.axis[grid.rank - 1]; }
  /// One value a row: nothing changes along the columns.
  constexpr bool is_row_value(int i) const {
    return grid.extent[grid.rank - 1] != Extent(1) &&
           g[i].shape.from_right(column_axis()) == Extent(1);
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
    for (int i : touched) slot[i] = scratch_of[i] = -1;
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
      position[i] = k;
      row_value[i] = is_cols()   ? is_reduction(n.op) || reads_sum(n) ||
                                       !same_grid(n.shape, b().shape)
                     : is_rows() ? is_reduction(n.op) || is_row_value(i)
                                 : 0;
      int l = 0;
      if (n.op != Op::matmul)
        for (int o : g.operands(n))
          if (s.block_of[o] == block && !is_view(g[o]) && !s.uniform[o]) {
            const int e = level[o] + (row_value[o] && !row_value[i] ? 1 : 0);
            if (e > l) l = e;
          }
      level[i] = l;
      if (l + 1 > sweeps) sweeps = l + 1;
    }
    return sweeps == 1 && is_deep(m) ? split_chain(m) : sweeps;
  }
  constexpr bool is_deep(const Vec<int>& m) const {
    if (!is_rows() || (b().shape.size().is_constant() && b().shape.size().code < 2 * tile_columns))
      return false;
    int calls = 0;
    for (int i : m) {
      if (is_reduction(g[i].op) || row_value[i]) return false;
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
            level[o] > calls)
          calls = level[o];
      level[i] = calls + (g[i].op == Op::call ? 1 : 0);
    }
    for (int i : m) {
      level[i] = level[i] > max_sweeps ? max_sweeps - 1 : level[i] > 0 ? level[i] - 1 : 0;
      if (level[i] + 1 > sweeps) sweeps = level[i] + 1;
    }
    if (sweeps > 1) kernel.tile = tile_columns;
    return sweeps;
  }
  constexpr bool reads_sum(const Node& n) const {
    for (int o : g.operands(n))
      if (s.block_of[o] == block && !s.uniform[o] && row_value[o]) return true;
    return false;
  }

  /// What each sweep computes, last sweep first: its stores and reductions, and what those need.
  /// A value of an earlier sweep is computed again if cheap, read again if stored, else kept in a
  /// row of scratch.
  constexpr Vec<char> find_demand(const Vec<int>& m, int sweeps) {
    const int n = m.size();
    Vec<char> demand(n * sweeps, 0);
    for (int sweep = sweeps - 1; sweep >= 0; --sweep)
      for (int k = n - 1; k >= 0; --k) {
        const int i = m[k];
        const bool reduction = is_reduction(g[i].op);
        if (level[i] == sweep && ((s.stored[i] && !row_value[i]) || reduction))
          demand[sweep * n + k] = 1;
        if ((row_value[i] && !reduction) || !demand[sweep * n + k] || g[i].op == Op::matmul)
          continue;
        for (int o : g.operands(i)) {
          if (s.block_of[o] != block || is_view(g[o]) || s.uniform[o] || row_value[o])
            continue;
          if (level[o] == sweep || !(s.stored[o] || is_expensive(g[o]))) {
            demand[sweep * n + position[o]] = 1;
          } else {
            demand[level[o] * n + position[o]] = 1;
            if (!s.stored[o] && scratch_of[o] < 0) new_scratch(o);
          }
        }
      }
    return demand;
  }
  constexpr void new_scratch(int o) {
    if (slot[o] < 0) touched.push_back(o);
    scratch_of[o] = plan.buffers.size();
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
        if (level[i] == sweep) {
          if (s.stored[i]) emit_store(i, segment, buffer_of[i]);
          if (scratch_of[i] >= 0) emit_store(i, segment, scratch_of[i]);
        }
      }
      for (int k = 0; k < n; ++k) {
        const int i = m[k];
        if (!row_value[i] || level[i] != sweep) continue;
        if (!is_reduction(g[i].op)) compute(i, segment + 1);
        if (s.stored[i]) emit_store(i, segment + 1, buffer_of[i]);
      }
    }
  }

  // ---- values in registers
  constexpr bool valid(int o, int segment) const {
    if (slot[o] < 0) return false;
    const int at = slot_segment[o];
    return at == 0 || at == segment || (at % 2 == 0 && at < segment);
  }
  constexpr void keep(int o, int reg, int segment) {
    if (slot[o] < 0 && scratch_of[o] < 0) touched.push_back(o);
    slot[o] = reg;
    slot_segment[o] = segment;
  }
  constexpr int emit(int segment, Instruction x, bool has_result = true) {
    if (has_result)
      x.result = kernel.registers[static_cast<int>(x.dtype)]++;
    pending.push_back(x);
    pending_segment.push_back(segment);
    return x.result;
  }
  constexpr int value(int o, int segment) {
    const Node& n = g[o];
    if (valid(o, segment)) return slot[o];
    if (n.op == Op::constant || n.op == Op::extent) {
      keep(o, emit(0, {.op = n.op, .dtype = n.dtype,
                       .bits = n.op == Op::extent ? static_cast<std::uint64_t>(n.attribute)
                                                  : n.bits}), 0);
      return slot[o];
    }
    if (n.op == Op::iota) {
      const int at = load_segment(o, segment);
      keep(o, emit(at, {.op = Op::iota, .dtype = n.dtype, .access = iota_access(o, segment)}), at);
      return slot[o];
    }
    if (s.uniform[o]) return compute(o, 0);
    if (s.block_of[o] == block && !is_view(n)) {  // an earlier sweep's
      if (s.stored[o]) return load(o, segment);
      if (scratch_of[o] >= 0) {
        keep(o, emit(segment, {.op = Op::load, .dtype = n.dtype,
                               .access = scratch_access(scratch_of[o])}), segment);
        return slot[o];
      }
      return compute(o, segment);
    }
    if (!is_free(o) && !is_view(n) && !s.stored[o])  // rebuilt here
      return compute(o, is_rows() && is_row_value(o) ? 0 : segment);
    return load(o, segment);
  }
  constexpr bool is_free(int o) const { return s.is_free(o); }

  constexpr int compute(int o, int segment) {
    const Node& n = g[o];
    if (n.op == Op::take) return compute_take(o, segment);
    int r[3] = {-1, -1, -1};
    for (int k = 0; k < 3; ++k)
      if (n.operand[k] >= 0 && !(k == 0 && n.op == Op::slice_scatter)) r[k] = value(n.operand[k], segment);
    if (n.op == Op::slice_scatter) {
      keep(o, r[1], segment);
      return r[1];
    }
    if (n.op == Op::broadcast || n.op == Op::copy) {
      keep(o, r[0], segment);
      return r[0];
    }
    Instruction x{.op = n.op, .dtype = n.dtype, .a = r[0], .b = r[1], .c = r[2],
                  .attribute = n.op == Op::call ? n.def->code : static_cast<int>(n.attribute)};
    const int last = arity(n.op) - 1;
    x.from = g[n.operand[n.op == Op::call ? 0 : last]].dtype;
    keep(o, emit(segment, x), segment);
    return slot[o];
  }

  /// A load whose place along one axis is a value.
  constexpr int compute_take(int o, int segment) {
    const Node& n = g[o];
    const int source = n.operand[0], places = value(n.operand[1], segment), axis = g.attributes<TakeAttribute>(n).axis;
    const MemoryView v = view_of(source);
    GridAccess a{.buffer = touch(buffer_of[s.memory_of(source)]), .offset = v.offset, .whole_grid = !on_kept_rows(segment), .inside = true};
    set_strides(a, v, g[source].shape, axis);
    keep(o, emit(segment, {.op = Op::take, .dtype = n.dtype, .from = DType::i64, .a = places, .access = add_access(a),
                           .bits = static_cast<std::uint64_t>(v.stride[axis].code)}), segment);
    return slot[o];
  }

  // ---- accesses
  /// Strides over the grid; none along axes of one element, nor along `without`.
  constexpr void set_strides(GridAccess& a, const MemoryView& v, const Shape& shape, int without = -1) const {
    for (int k = 0; k < grid.rank; ++k) {
      const int right = grid.axis[k], axis = v.rank - 1 - right;
      a.stride.set(k, axis >= 0 && axis != without && shape.from_right(right) != Extent(1) ? v.stride[axis] : Extent(0));
    }
  }
  constexpr bool on_kept_rows(int segment) const { return is_cols() && segment != 1; }
  constexpr int load_segment(int o, int segment) const {
    if (b().kind == KernelKind::rows) return is_row_value(o) ? 0 : segment;
    if (!is_row_value(o)) return segment;
    for (int k = 1; k < max_rank; ++k)
      if (g[o].shape.from_right(k) != Extent(1)) return segment;
    return 0;
  }
  constexpr int add_access(const GridAccess& a) {
    for (int i = 0; i < grid_accesses.size(); ++i) {
      const GridAccess& x = grid_accesses[i];
      bool same = x.buffer == a.buffer && x.offset == a.offset && x.whole_grid == a.whole_grid &&
                  x.tiled == a.tiled && x.inside == a.inside && x.columns == a.columns;
      for (int k = 0; k < grid.rank; ++k) same = same && x.stride[k] == a.stride[k];
      if (same) return i;
    }
    grid_accesses.push_back(a);
    return grid_accesses.size() - 1;
  }
  constexpr int node_access(int o, int buffer, int segment) {
    const MemoryView v = view_of(o);
    GridAccess a{.buffer = touch(buffer), .offset = v.offset, .whole_grid = !on_kept_rows(segment)};
    set_strides(a, v, g[o].shape);
    if (column_axis() == 0) a.columns = v.last;
    if (o == b().root && g[o].op == Op::slice_scatter) {
      const auto p = g.attributes<PadAttribute>(o);
      a.inside = true;
      for (int k = 0; k < v.rank; ++k) a.offset = a.offset + p.along(k) * v.stride[k];
    }
    return add_access(a);
  }
  constexpr int iota_access(int o, int segment) {
    GridAccess a{.whole_grid = !on_kept_rows(segment)};
    const int right = g[o].shape.rank - 1 - static_cast<int>(g[o].attribute);
    for (int k = 0; k < grid.rank; ++k)
      a.stride.set(k, grid.axis[k] == right && g[o].shape.from_right(right) != Extent(1) ? 1 : 0);
    return add_access(a);
  }
  constexpr int scratch_access(int buffer) {
    GridAccess a{.buffer = touch(buffer), .tiled = kernel.tile > 0};
    for (int k = 0; k < grid.rank; ++k) a.stride.set(k, k == grid.rank - 1 ? 1 : 0);
    return add_access(a);
  }
  constexpr int load(int o, int segment) {
    const int at = load_segment(o, segment);
    const int access = node_access(o, buffer_of[s.memory_of(o)], at == 0 && is_cols() ? 0 : at);
    keep(o, emit(at, {.op = Op::load, .dtype = g[o].dtype, .access = access}), at);
    return slot[o];
  }
  constexpr void emit_store(int o, int segment, int buffer) {
    const int access = buffer == scratch_of[o] ? scratch_access(buffer)
                                               : node_access(o, buffer, segment);
    emit(segment, {.op = Op::store, .dtype = g[o].dtype, .a = slot[o],
                   .access = access}, false);
  }
  constexpr int touch(int buffer) {
    Buffer& x = plan.buffers[buffer];
    if (x.first < 0) x.first = now;
    x.last = now;
    return buffer;
  }

  // ---- from the grid to rows and columns
  /// Merges grid axis k into k+1 where every access allows it; columns only if nothing is reduced.
  constexpr void collapse() {
    bool free_columns = is_rows() && (kernel.sweeps == 1 || kernel.tile > 0) && !has_reduction();
    for (const GridAccess& a : grid_accesses) free_columns = free_columns && a.columns.count() == 0;
    if (free_columns) pad_columns();
    while (is_cols() && kept_axes > 0 && mergeable(kept_axes - 1, grid.rank - 1)) {  // columns beside the summed axes
      merge(kept_axes - 1, grid.rank - 1);
      --kept_axes;
    }
    for (int k = grid.rank - 2; k >= 0; --k) {
      if (k + 1 == grid.rank - 1 && !free_columns) continue;
      if (is_cols() && k < kept_axes && k + 1 >= kept_axes) continue;
      if (!mergeable(k, k + 1)) continue;
      merge(k, k + 1);
      if (k < kept_axes) --kept_axes;
    }
  }
  constexpr bool mergeable(int k, int into) const {
    for (const GridAccess& a : grid_accesses)
      if (!a.tiled && (a.stride[k] != a.stride[into] * grid.extent[into] || (is_cols() && a.columns.count() > 0))) return false;
    return true;
  }
  constexpr void merge(int k, int into) {
    grid.extent[into] = grid.extent[k] * grid.extent[into];
    for (int j = k; j + 1 < grid.rank; ++j) {
      grid.extent[j] = grid.extent[j + 1];
      for (GridAccess& a : grid_accesses) a.stride.set(j, a.stride[j + 1]);
    }
    --grid.rank;
  }
  constexpr bool has_reduction() const {
    for (const Instruction& x : pending)
      if (is_reduction(x.op)) return true;
    return false;
  }
  /// Rows that are padded alike in every operand are run through with their padding.
  constexpr void pad_columns() {
    const int c = grid.rank - 1;
    if (c == 0 || !grid.extent[c].is_constant()) return;
    const Extent row = round_up(grid.extent[c], row_padding);
    for (const GridAccess& a : grid_accesses) {
      if (a.tiled) continue;
      if (a.inside) return;
      bool fixed = true;
      for (int k = 0; k < grid.rank; ++k) fixed = fixed && a.stride[k] == Extent(0);
      if (fixed) continue;
      if (a.buffer < 0 || !padded[plan.buffers[a.buffer].node] || a.stride[c] != Extent(1) ||
          a.stride[c - 1] != row)
        return;
    }
    grid.extent[c] = row;
  }
  /// Written in place: another thread may be writing the next row.
  constexpr bool is_updated(const Buffer& b) const {
    for (int into : g.donated)
      if (into >= 0 && into == b.external) return true;
    return false;
  }
  constexpr Access finished(const GridAccess& x) {
    Access a{.offset = x.offset, .column = x.stride[grid.rank - 1], .first_term = plan.terms.size()};
    const Buffer* buffer = x.buffer >= 0 ? &plan.buffers[x.buffer] : nullptr;
    a.buffer = x.buffer;
    a.tiled = x.tiled;
    a.guarded = buffer && (x.inside || buffer->external >= 0 ||
                           !(buffer->node >= 0 && (padded[buffer->node] ||
                                                   scratch_of[buffer->node] == x.buffer)));
    Extent divisor = 1;
    const int rows = x.whole_grid ? grid.rank - 1 : kept_axes;
    for (int k = rows - 1; k >= 0; --k) {
      if (x.stride[k] != Extent(0)) {
        plan.terms.push_back({divisor, k == 0 ? Extent(0) : grid.extent[k], x.stride[k]});
        ++a.term_count;
      }
      divisor = divisor * grid.extent[k];
    }
    if (x.columns.count() == 0) {
      const bool behind = buffer && buffer->padded;  // whole vectors fit behind the end
      a.overread = behind && !is_updated(*buffer);
      if (behind && a.term_count == 0 && a.offset == Extent(0) && buffer->size == kernel.cols) a.guarded = false;
      return a;
    }
    divisor = 1;
    for (int k = 0; k < x.columns.count(); ++k) {
      if (x.columns[k].stride != Extent(0)) {
        const bool outermost = k + 1 == x.columns.count();
        plan.terms.push_back({divisor, outermost ? Extent(0) : x.columns[k].extent, x.columns[k].stride});
        ++a.column_terms;
      }
      divisor = divisor * x.columns[k].extent;
    }
    return a;
  }

  constexpr void finish(int sweeps) {
    if (b().kind == KernelKind::matmul) lower_matmul();
    collapse();
    Extent rows = 1;
    const int row_axes = grid.rank - 1;
    for (int k = 0; k < row_axes; ++k) {
      if (is_cols() && k >= kept_axes) kernel.inner = kernel.inner * grid.extent[k];
      else rows = rows * grid.extent[k];
    }
    kernel.rows = b().kind == KernelKind::matmul ? b().shape.from_right(1) : rows;
    kernel.cols = grid.extent[grid.rank - 1];
    kernel.first_binding = plan.bindings.size();
    const int first_access = plan.accesses.size(), first_term = plan.terms.size();
    for (const GridAccess& x : grid_accesses) {
      Access a = finished(x);
      a.buffer = local(a.buffer);
      plan.accesses.push_back(a);
    }
    if (b().kind == KernelKind::matmul) {
      plan.accesses.push_back(matmul_a);
      plan.accesses.push_back(matmul_b);
      kernel.a = plan.accesses.size() - 2;
      kernel.b = plan.accesses.size() - 1;
      plan.accesses[kernel.a].buffer = local(matmul_a.buffer);
      plan.accesses[kernel.b].buffer = local(matmul_b.buffer);
      if (kernel.windows >= 0) {
        kernel.windows = plan.accesses.size();
        plan.accesses.push_back(matmul_windows);
        plan.accesses.back().buffer = local(matmul_windows.buffer);
      }
      if (kernel.panel >= 0) kernel.panel = local(kernel.panel);
    }
    const int segments = 2 * sweeps + 1;
    for (int k = 0; k < segments; ++k) {
      kernel.segment[k] = plan.instructions.size();
      for (int i = 0; i < pending.size(); ++i)
        if (pending_segment[i] == k) {
          Instruction x = pending[i];
          if (x.access >= 0) x.access += first_access;
          plan.instructions.push_back(x);
        }
    }
    kernel.segment[segments] = plan.instructions.size();
    kernel.code = plan.kernels.size();
    share_code(first_access, first_term);
    plan.kernels.push_back(kernel);
  }
  constexpr int local(int buffer) {
    if (buffer < 0) return -1;
    for (int i = 0; i < kernel.bindings; ++i)
      if (plan.bindings[kernel.first_binding + i] == buffer) return i;
    plan.bindings.push_back(buffer);
    return kernel.bindings++;
  }
  /// If an earlier kernel has the same instructions and accesses, this one calls its function. Those that have code of their own lie
  /// in a hash table: the newest of each bucket, plus one, and of each kernel the one before it there.
  constexpr void share_code(int first_access, int first_term) {
    int& newest = code_heads[static_cast<int>(code_hash(first_access) & static_cast<unsigned>(code_heads.size() - 1))];
    code_chain.push_back(newest - 1);
    for (int j = newest - 1; j >= 0; j = code_chain[j])
      if (const int base = accesses_in_code_of(plan.kernels[j], first_access); base >= 0) {
        const int segments = 2 * kernel.sweeps + 1;
        kernel.code = j;
        plan.instructions.resize(kernel.segment[0]);
        for (int k = 0; k <= segments; ++k) kernel.segment[k] = plan.kernels[j].segment[k];
        if (kernel.a < 0) {
          plan.accesses.resize(first_access);
          plan.terms.resize(first_term);
        }
        return;
      }
    newest = code_chain.size();
  }
  constexpr static int buckets_for(int kernels) {
    int n = 8;
    while (n < kernels) n *= 2;
    return n;
  }
  constexpr std::uint64_t code_hash(int first_access) const {
    std::uint64_t h = static_cast<std::uint64_t>(kernel.rows.code) * 31 + static_cast<std::uint64_t>(kernel.cols.code);
    for (int i = kernel.segment[0]; i < plan.instructions.size(); ++i)
      h = h * 31 + static_cast<std::uint64_t>(plan.instructions[i].op) + plan.instructions[i].bits;
    for (int i = first_access; i < plan.accesses.size(); ++i) h = h * 31 + static_cast<std::uint64_t>(plan.accesses[i].offset.code);
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
  }
  /// Where the accesses of `o` begin, if this kernel has the same instructions and accesses; else -1.
  constexpr int accesses_in_code_of(const Kernel& o, int first_access) const {
    const int segments = 2 * kernel.sweeps + 1;
    const int accesses = plan.accesses.size() - first_access;
    if (!o.same_code(kernel) || o.segment[segments] - o.segment[0] != kernel.segment[segments] - kernel.segment[0]) return -1;
    for (int k = 0; k < segments; ++k)
      if (o.segment[k + 1] - o.segment[k] != kernel.segment[k + 1] - kernel.segment[k]) return -1;
    int base = -1;
    for (int i = 0; i < kernel.segment[segments] - kernel.segment[0]; ++i) {
      Instruction x = plan.instructions[o.segment[0] + i];
      Instruction y = plan.instructions[kernel.segment[0] + i];
      if ((x.access < 0) != (y.access < 0)) return -1;
      if (x.access >= 0) {
        if (base < 0) base = x.access - (y.access - first_access);
        if (x.access - base != y.access - first_access) return -1;
      }
      x.access = y.access = -1;
      if (!(x == y)) return -1;
    }
    if (kernel.a >= 0 && base < 0) base = o.a - (kernel.a - first_access);
    for (int i = 0; i < accesses && base >= 0; ++i)
      if (!plan.accesses[base + i].equals(plan.accesses[first_access + i], plan.terms.begin())) return -1;
    return base;
  }

  Access matmul_a, matmul_b, matmul_windows;
  constexpr void lower_matmul() {
    const Node& n = g[b().root];
    const int batch_axes = grid.rank - 2;
    const auto add = [&](int& count, Extent divisor, Extent modulus, Extent stride) {
      plan.terms.push_back({divisor, modulus, stride});
      ++count;
    };
    kernel.dtype = n.dtype;
    for (int k = 0; k < batch_axes; ++k) kernel.batch = kernel.batch * grid.extent[k];
    const auto operand = [&](int o, Access& a, Extent& second_last, Extent& last) {
      const MemoryView v = view_of(o);
      a = Access{.first_term = plan.terms.size()};
      a.buffer = touch(buffer_of[v.node]);
      a.offset = v.offset;
      a.column = 1;
      second_last = v.stride[v.rank - 2];
      last = v.stride[v.rank - 1];
      Extent divisor = 1;
      for (int k = batch_axes - 1; k >= 0; --k) {
        const int right = batch_axes - 1 - k + 2;
        if (right < v.rank && g[o].shape.from_right(right) != Extent(1))
          add(a.term_count, divisor, k == 0 ? Extent(0) : grid.extent[k], v.stride[v.rank - 1 - right]);
        divisor = divisor * grid.extent[k];
      }
      a.guarded = !padded[v.node] || last != Extent(1);
      a.overread = plan.buffers[buffer_of[v.node]].padded && last == Extent(1);
    };
    operand(n.operand[0], matmul_a, kernel.a_row, kernel.a_inner);
    operand(n.operand[1], matmul_b, kernel.b_inner, kernel.b_column);
    kernel.inner = g[n.operand[0]].shape.last();
    const MemoryView right = view_of(n.operand[1]);  // nvcc 13 destroys what is declared in an if before its branches
    if (right.last.count() + right.second_last.count() > 0) {
      read_windows(right);
      return;
    }
    if (plan.buffers[buffer_of[right.node]].dtype != n.dtype) {  // to convert it
      new_panel();
      if (is_narrow(g[n.operand[0]].dtype)) {  // lines end in whole steps
        Buffer& panel = plan.buffers[kernel.panel];
        panel.size = panel.size + Extent(panel_columns * row_padding);
      }
      return;
    }
    if (is_tiny(n.shape.from_right(1), n.shape.last(), kernel.inner)) return;
    const auto at_most = [](Extent e) { return e.is_constant() ? e.code : most_bytes; };
    const std::int64_t apart = kernel.b_inner.is_constant() ? kernel.b_inner.code * size_of(n.dtype) : 2048;  // a size known at run time: the kernel decides then
    if (kernel.b_column != Extent(1) || needs_panel(at_most(n.shape.from_right(1)), at_most(kernel.inner), apart)) new_panel();
  }
  constexpr void new_panel() {
    kernel.panel = plan.buffers.size();
    Buffer panel{.dtype = kernel.dtype, .size = kernel.inner * Extent(panel_columns), .scratch = true};
    if (kernel.windows >= 0) panel.size = panel.size + Extent(row_padding);  // the last run ends in a partial vector
    plan.buffers.push_back(panel);
    touch(kernel.panel);
  }
  /// Of axes that were made one, or of one axis with this stride; returns how many.
  constexpr int add_terms(const MergedAxes& axes, Extent stride) {
    if (axes.count() == 0) {
      plan.terms.push_back({1, 0, stride});
      return 1;
    }
    Extent divisor = 1;
    for (int k = 0; k < axes.count(); ++k) {
      plan.terms.push_back({divisor, k + 1 == axes.count() ? Extent(0) : axes[k].extent, axes[k].stride});
      divisor = divisor * axes[k].extent;
    }
    return axes.count();
  }
  /// The right side's rows and columns as terms of an access; the panel brings 64 columns of them together.
  constexpr void read_windows(const MemoryView& v) {
    Access w{.first_term = plan.terms.size()};
    w.term_count = add_terms(v.second_last, kernel.b_inner);
    w.column_terms = add_terms(v.last, kernel.b_column);
    w.buffer = matmul_b.buffer;
    matmul_windows = w;
    matmul_b.guarded = true;
    matmul_b.overread = false;
    kernel.b_inner = 0;
    kernel.b_column = 1;
    kernel.windows = 0;
    new_panel();
  }

  // ---- donated outputs
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
  /// The outputs that would overwrite their input while it is still needed.
  constexpr bool find_conflicts(Vec<char>& conflicts) const {
    bool any = false;
    for (int k = 0; k < g.outputs.size(); ++k) {
      if (g.donated[k] < 0 || indirect[k]) continue;
      const int out = buffer_of[s.memory_of(g.outputs[k])];
      const int in = buffer_of[g.inputs[g.donated[k]]];
      if (plan.buffers[out].first < 0) continue;  // without elements it is not written
      const bool late = plan.buffers[in].last > plan.buffers[out].first ||
                        (plan.buffers[in].last == plan.buffers[out].first &&
                         !reads_before_writes(plan.kernels[plan.buffers[out].first], in, out));
      if (late) conflicts[k] = 1;
      any = any || late;
    }
    return any;
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
      if (x.op == Op::take) return false;  // from any place
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
