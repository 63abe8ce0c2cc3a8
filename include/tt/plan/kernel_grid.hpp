// The third part of lowering: the grid of a kernel is collapsed to rows and columns, equal kernels share their code, and products get
// accesses to their operands.
#pragma once
#include "tt/plan/kernel_values.hpp"

namespace tt {
namespace detail {

struct KernelGrid : KernelValues {
  Vec<int> code_heads, code_chain;  // see share_code

  constexpr KernelGrid(const Graph& graph, const Vec<char>& indirect_outputs)
      : KernelValues(graph, indirect_outputs), code_heads(buckets_for(s.blocks.size()), 0) {}

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
  /// If the rows of every operand are padded alike, the kernel computes the padding too.
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
  /// Is a buffer an input that is written in place? Then another thread may be writing the next row.
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
                                                   state[buffer->node].scratch == x.buffer)));
    Extent divisor = 1;
    const int rows = x.whole_grid ? grid.rank - 1 : kept_axes;
    bool before = false;  // had the axis before this one a term?
    for (int k = rows - 1; k >= 0; --k) {
      if (x.stride[k] == Extent(0)) {
        before = false;
      } else if (before && x.stride[k] == x.stride[k + 1] * grid.extent[k + 1]) {  // here the two are one axis, though not in every access
        Extent& modulus = plan.terms.back().modulus;
        modulus = k == 0 ? Extent(0) : modulus * grid.extent[k];
      } else {
        plan.terms.push_back({divisor, k == 0 ? Extent(0) : grid.extent[k], x.stride[k]});
        ++a.term_count;
        before = true;
      }
      divisor = divisor * grid.extent[k];
    }
    if (x.columns.count() == 0) {
      const bool behind = buffer && buffer->padded;  // whole vectors fit after the end
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
  /// If an earlier kernel has the same instructions and accesses, this one calls its function. Kernels that have code of their own are
  /// in a hash table: code_heads is the newest of each bucket, plus one, code_chain the kernel before each in its bucket.
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
    const MemoryView right = view_of(n.operand[1]);  // nvcc 13 destroys a variable declared in an `if` before its branches run
    if (right.last.count() + right.second_last.count() > 0) {
      read_windows(right);
      return;
    }
    if (plan.buffers[buffer_of[right.node]].dtype != n.dtype) {  // to convert it
      new_panel();
      if (is_narrow(g[n.operand[0]].dtype)) {  // lines are rounded up to whole steps, with one step more between them
        Buffer& panel = plan.buffers[kernel.panel];
        panel.size = panel.size + Extent(2 * panel_columns * row_padding);
      }
      return;
    }
    if (is_tiny(n.shape.from_right(1), n.shape.last(), kernel.inner)) return;
    const auto at_most = [](Extent e) { return e.is_constant() ? e.code : most_bytes; };
    const std::int64_t apart = kernel.b_inner.is_constant() ? kernel.b_inner.code * size_of(n.dtype) : 2048;  // at run time: the kernel decides
    if (kernel.b_column != Extent(1) || needs_panel(at_most(n.shape.from_right(1)), at_most(kernel.inner), apart)) new_panel();
  }
  constexpr void new_panel() {
    kernel.panel = plan.buffers.size();
    Buffer panel{.dtype = kernel.dtype, .size = kernel.inner * Extent(panel_columns), .scratch = true};
    if (kernel.windows >= 0) panel.size = panel.size + Extent(row_padding);  // the last run ends in a partial vector
    plan.buffers.push_back(panel);
    touch(kernel.panel);
  }
  /// Adds the terms of merged axes, or of one axis with this stride; returns how many.
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
  /// The right side's rows and columns as terms of an access; a panel gathers 64 of the columns.
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
};

}  // namespace detail
}  // namespace tt
