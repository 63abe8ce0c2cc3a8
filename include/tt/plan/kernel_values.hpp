// The second part of lowering: the values of one kernel in registers, and its accesses to memory, over the grid of its block.
#pragma once
#include "tt/plan/memory_views.hpp"

namespace tt {
namespace detail {

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
  bool whole_grid = true;  // false: only the kept axes of a `cols` kernel, not the summed ones
  bool tiled = false;
  bool inside = false;     // elements beyond the last column are neither written (slice_scatter) nor read (take: its register of indices holds garbage)
};

/// A node in the kernel that is being lowered.
struct ValueState {
  int reg = -1;        ///< its register; -1: none yet
  int segment = -1;    ///< where it was loaded or computed
  int scratch = -1;    ///< the buffer of a row that holds it between sweeps; -1: none
  int level = 0;       ///< the sweep that computes it
  int position = 0;    ///< among the block's members
  bool row_value = false;  ///< one value a row
};

/// The kernel that is being lowered.
struct KernelValues : PlannedMemory {
  int now = 0;
  int block = -1;
  Grid grid;
  int kept_axes = 0;            // of a cols kernel: grid axes before the summed ones
  Vec<ValueState> state;        // of each node
  Vec<int> touched;             // nodes whose register or scratch the next kernel resets
  Vec<Instruction> pending;
  Vec<int> pending_segment;
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

  constexpr KernelValues(const Graph& graph, const Vec<char>& indirect_outputs)
      : PlannedMemory(graph, indirect_outputs), state(graph.size(), ValueState{}) {}

  // ---- values in registers
  constexpr bool valid(int o, int segment) const {
    if (state[o].reg < 0) return false;
    const int at = state[o].segment;
    return at == 0 || at == segment || (at % 2 == 0 && at < segment);
  }
  constexpr void keep(int o, int reg, int segment) {
    if (state[o].reg < 0 && state[o].scratch < 0) touched.push_back(o);
    state[o].reg = reg;
    state[o].segment = segment;
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
    if (valid(o, segment)) return state[o].reg;
    if (n.op == Op::constant || n.op == Op::extent) {
      keep(o, emit(0, {.op = n.op, .dtype = n.dtype,
                       .bits = n.op == Op::extent ? static_cast<std::uint64_t>(n.attribute)
                                                  : n.bits}), 0);
      return state[o].reg;
    }
    if (n.op == Op::iota) {
      const int at = load_segment(o, segment);
      keep(o, emit(at, {.op = Op::iota, .dtype = n.dtype, .access = iota_access(o, segment)}), at);
      return state[o].reg;
    }
    if (s.uniform[o]) return compute(o, 0);
    if (s.block_of[o] == block && !is_view(n)) {  // of an earlier sweep
      if (s.stored[o]) return load(o, segment);
      if (state[o].scratch >= 0) {
        keep(o, emit(segment, {.op = Op::load, .dtype = n.dtype,
                               .access = scratch_access(state[o].scratch)}), segment);
        return state[o].reg;
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
    int r[4] = {-1, -1, -1, -1};
    for (int k = 0; k < 4; ++k)
      if (n.operand[k] >= 0 && !(k == 0 && n.op == Op::slice_scatter)) r[k] = value(n.operand[k], segment);
    if (n.op == Op::slice_scatter) {
      keep(o, r[1], segment);
      return r[1];
    }
    if (n.op == Op::broadcast || n.op == Op::copy) {
      keep(o, r[0], segment);
      return r[0];
    }
    Instruction x{.op = n.op, .dtype = n.dtype, .a = r[0], .b = r[1], .c = r[2], .d = r[3],
                  .attribute = n.op == Op::call ? call_code(*n.def) : static_cast<int>(n.attribute)};
    const int last = arity(n.op) - 1;
    x.from = g[n.operand[n.op == Op::call ? 0 : last]].dtype;
    keep(o, emit(segment, x), segment);
    return state[o].reg;
  }

  /// A load whose index along one axis is a computed value.
  constexpr int compute_take(int o, int segment) {
    const Node& n = g[o];
    const int source = n.operand[0], places = value(n.operand[1], segment), axis = g.attributes<TakeAttribute>(n).axis;
    const MemoryView v = view_of(source);
    GridAccess a{.buffer = touch(buffer_of[s.memory_of(source)]), .offset = v.offset, .whole_grid = !on_kept_rows(segment), .inside = true};
    set_strides(a, v, g[source].shape, axis);
    keep(o, emit(segment, {.op = Op::take, .dtype = n.dtype, .from = DType::i64, .a = places, .access = add_access(a),
                           .bits = static_cast<std::uint64_t>(v.stride[axis].code)}), segment);
    return state[o].reg;
  }

  // ---- accesses
  /// Strides over the grid; 0 along axes of one element, and along `without`.
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
    return state[o].reg;
  }
  constexpr void emit_store(int o, int segment, int buffer) {
    const int access = buffer == state[o].scratch ? scratch_access(buffer)
                                               : node_access(o, buffer, segment);
    emit(segment, {.op = Op::store, .dtype = g[o].dtype, .a = state[o].reg,
                   .access = access}, false);
  }
  constexpr int touch(int buffer) {
    Buffer& x = plan.buffers[buffer];
    if (x.first < 0) x.first = now;
    x.last = now;
    return buffer;
  }
};

}  // namespace detail
}  // namespace tt
