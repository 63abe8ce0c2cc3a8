// The first part of lowering: the buffers of a plan, and the strides and offset of each node's elements in them.
#pragma once
#include "tt/plan/schedule.hpp"

namespace tt {
namespace detail {

/// Axes that are merged in a shape, but not by one stride in memory, innermost first; none: an ordinary axis, with one stride.
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

/// The place of a node's elements in memory: strides over its own axes.
struct MemoryView {
  int node = -1;
  Extent offset = 0;
  int rank = 0;
  Strides stride;
  MergedAxes last;  ///< of a reshaped broadcast, and of windows
  MergedAxes second_last;  ///< of windows
};

/// A graph, its schedule, and the plan's buffers.
struct PlannedMemory {
  const Graph& g;
  const Schedule s;
  Plan plan;
  Vec<int> buffer_of;
  Vec<char> padded;
  Vec<char> indirect;  // outputs that are written to the arena and copied at the end

  constexpr PlannedMemory(const Graph& graph, const Vec<char>& indirect_outputs)
      : g(graph), s(graph), buffer_of(graph.size(), -1), padded(graph.size(), 0), indirect(indirect_outputs) {
    plan.nodes = g.size();
    make_buffers();
  }

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
      if (g[i].op == Op::slice_scatter) {  // takes over the memory of its base
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
  /// Axes of `v` are parts of those of `from`; the last two may be made of several (see merged_axes, shows_windows).
  constexpr static void regroup_axes(MemoryView& v, const Shape& shape, const MemoryView& from, const Shape& old) {
    v.stride = {};
    int axis = -1;  // the pieces of an axis are consecutive
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
};

}  // namespace detail
}  // namespace tt
