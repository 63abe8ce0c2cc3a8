// Runs one kernel of a TileProgram, or a range of it, on one thread: rows, columns and products.
#pragma once
#include "tt/core/small_vec.hpp"
#include "tt/backends/cpu/thread_pool.hpp"
#include "tt/backends/cpu/tile_bands_inl.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// The offsets at which rows of an access begin, with the terms evaluated once for this run: no symbol is looked up for each row.
class RowOffsets {
 public:
  RowOffsets(const Access& a, const Term* terms, const SymbolValues& s) : offset_(a.offset.value(s)) {
    for (int i = 0; i < a.term_count; ++i) terms_.push_back(a.term(terms, i).numbers(s));
  }
  std::int64_t operator[](std::int64_t row) const {
    std::int64_t at = offset_;
    for (int i = 0; i < terms_.size(); ++i) at += terms_[i].at(row);
    return at;
  }

 private:
  std::int64_t offset_;
  SmallVec<Term::Numbers, max_rank> terms_;  // fixed capacity: workers cannot throw
};

/// One thread's part of a kernel. The caller allocates its tiles and tables, as only the caller can throw.
struct TileProgram::Worker : Bands {
  using Bands::Bands;
  std::byte* parts = nullptr;  // partial sums of columns
  std::byte* trees = nullptr;  // one for each reduction, if rows are longer than a block

  /// Threads that share one long row: each computes values of some blocks, which are then combined in block order.
  struct Team {
    Worker* others = nullptr;
    int helpers = 0;
    std::byte* values = nullptr;  // for each block the value of each reduction, in 8 bytes
  };
  Team team{};

  /// Assigns its tiles and tables in `memory`, or, if that is null, only counts; returns the end.
  std::size_t place(std::byte* memory, std::size_t at) {
    const auto take = [&](std::size_t bytes) {
      const std::size_t begin = at;
      at += rounded(bytes);
      return memory ? memory + begin : nullptr;
    };
    const auto table = [&](int n) { return take(static_cast<std::size_t>(n) * sizeof(void*)); };
    const auto tile_memory = [&](int n) { return take(static_cast<std::size_t>(n) * register_bytes); };
    tiles = tile_memory(program.most_tiles_);
    lanes_memory = tile_memory(program.most_reductions_ * lane_tiles + 1);
    parts = tile_memory(most_parts());
    trees = take(static_cast<std::size_t>(most_trees()) * detail::max_tree_bytes);
    row_tiles = tile_memory(program.most_tiles_);
    kept_tiles = tile_memory(program.most_kept_);
    bands = reinterpret_cast<Band*>(take(static_cast<std::size_t>(program.most_bands_) * sizeof(Band)));
    band_memory = take(most_band_bytes());
    registers = reinterpret_cast<std::byte**>(table(program.most_registers_ + 1));
    own = reinterpret_cast<std::byte**>(table(program.most_registers_ + 1));
    own_row = reinterpret_cast<std::byte**>(table(program.most_registers_ + 1));
    layout = reinterpret_cast<TileLayout*>(take(static_cast<std::size_t>(program.most_registers_ + 1) * sizeof(TileLayout)));
    operands = reinterpret_cast<void**>(table(program.most_bindings_));
    steps = reinterpret_cast<TileStep*>(take(static_cast<std::size_t>(program.most_steps_) * sizeof(TileStep)));
    return at;
  }
  /// Tiles for the partial sums of columns, for the kernel that needs most.
  int most_parts() const {
    int most = 0;
    for (const Kernel& c : plan.kernels) {
      if (c.kind != KernelKind::cols) continue;
      int depth = 2;
      for (std::int64_t b = tt::detail::ColumnParts(value(c.inner), c.row_order).count(); b > 0; b /= 2) ++depth;
      const int n = depth * program.most_reductions_ + 1;
      if (n > most) most = n;
    }
    return most;
  }
  int most_trees() const {
    for (const Kernel& c : plan.kernels)
      if (c.kind == KernelKind::rows && value(c.cols) > row_block) return program.most_reductions_;
    return 0;
  }
  void begin_kernel(const Kernel& kernel, void* compiled) {
    k = &kernel;
    function = compiled;
    band_count = 0;
    bands_of = BandsOf::nothing;
  }
  /// Takes the operands of the first worker, but its own scratch rows; returns the end of these.
  std::size_t join(const Worker& first, std::byte* memory, std::size_t at) {
    for (int b = 0; b < first.k->bindings; ++b) {
      const Buffer& x = plan.buffers[plan.bindings[first.k->first_binding + b]];
      if (memory) operands[b] = x.scratch ? memory + at : first.operands[b];
      if (x.scratch)
        at += rounded(static_cast<std::size_t>(x.size.value(symbols) * size_of(x.dtype)) + storage_alignment);
    }
    return at;
  }
  void work() {
    if (bands_of == BandsOf::rows) return work_in_bands();
    if (bands_of == BandsOf::columns) return columns_in_bands();
    if (is_transposition(*k, plan.instructions.begin(), accesses_of(plan))) {
      std::byte* const target = buffer(target_of(plan, *k).buffer);
      return transpose(*k, buffer(source_of(plan, *k).buffer), range,
                       [&](std::int64_t place, std::int64_t pitch) { return Rows{target + place * size_of_moved(*k), pitch}; });
    }
    if (!function) prepare();
    work_on_range();
  }
  void work_on_range() {
    if (k->kind == KernelKind::matmul) product();
    else if (function) {
      const KernelBounds bounds{range.first(SplitAxis::rows), range.last(SplitAxis::rows, value(k->rows)), range.first(SplitAxis::cols), range.last(SplitAxis::cols, value(k->cols))};
      reinterpret_cast<KernelFunction>(function)(operands, given, &bounds);
    } else if (k->kind == KernelKind::rows) rows();
    else cols();
  }
  /// `range` is a range of the transpositions' rows.
  void work_in_bands() {
    const Kernel& t = *bands[0].k;
    const Range all = range;
    const std::int64_t cols = value(t.cols), last = all.last(SplitAxis::rows, value(t.rows)), some = least_of_bands(&Bands::band_rows), together = bands_lie_apart() ? 1 : some;
    const bool one_row = k->rows != t.rows;  // whose columns are all elements
    if (!function) prepare();
    for (std::int64_t begin = all.first(SplitAxis::rows); begin < last; begin += some) {
      const Range rows{SplitAxis::rows, begin, least(begin + some, last)};
      make_bands(begin, rows.end);
      for (std::int64_t row = begin; row < rows.end; row += together) {
        const std::int64_t end = least(row + together, rows.end);
        show_bands(begin, row);
        range = one_row ? Range{SplitAxis::cols, row * cols, end * cols} : Range{SplitAxis::rows, row, end};
        work_on_range();
      }
    }
    range = all;
  }
  /// `range` is a range of columns.
  void columns_in_bands() {
    prepare();
    const Range all = range;
    const std::int64_t cols = value(k->cols), last = all.last(SplitAxis::cols, cols), some = least_of_bands(&Bands::band_columns);
    for (std::int64_t col = all.first(SplitAxis::cols); col < last; col += some) {
      range = {SplitAxis::cols, col, least(col + some, last)};
      const std::int64_t n = range.end - col;
      for (int b = 0; b < band_count; ++b) {
        const Band& x = bands[b];
        const std::int64_t size = size_of_moved(*x.k);
        transpose(*x.k, x.from, range, [&](std::int64_t place, std::int64_t) { return Rows{x.rows + (place / cols * n - col) * size, n}; });
        move_operand(x.operand, x.rows - col * size, n);
      }
      this->cols();
    }
    range = all;
  }

  // ---- kernels
  void rows() {
    const std::int64_t first_row = range.first(SplitAxis::rows), count = range.last(SplitAxis::rows, value(k->rows)),
                       first = range.first(SplitAxis::cols), columns = range.last(SplitAxis::cols, value(k->cols));
    if (k->tile == 0 && first == 0 && (count - first_row > 1 || kept_in_tiles) && columns > 0 && columns <= tile_elements) {
      rows_together(first_row, count, columns);
      return;
    }
    for (std::int64_t row = first_row; row < count; ++row) {
      row_segment(0, row, row == first_row);
      if (team.helpers > 0) {
        share_row(row, columns);
        continue;
      }
      if (k->tile > 0) {
        for (std::int64_t col = first; col < columns; col += k->tile)
          for (int sweep = 0; sweep < k->sweeps; ++sweep)
            vector_segment(2 * sweep + 1, row, col, least(k->tile, columns - col));
        continue;
      }
      for (int sweep = 0; sweep < k->sweeps; ++sweep) {
        const int s = 2 * sweep + 1;
        if (has_reduction(s)) reducing_sweep(s, row, columns);
        else
          for (std::int64_t col = first; col < columns; col += tile_elements)
            vector_segment(s, row, col, least(tile_elements, columns - col));
        row_segment(s + 1, row, false);
      }
    }
  }
  bool has_reduction(int s) const {
    for (const TileStep* x = begin(s); x != end(s); ++x)
      if (x->kind == TileStep::Kind::reduce) return true;
    return false;
  }
  /// Reduces a block of a row; calls f(step, value) for each reduction.
  template <class F>
  void block_of_row(int s, std::int64_t row, std::int64_t block, std::int64_t columns, const F& f) {
    begin_lanes(s, reduction_lanes);
    const std::int64_t last = least(columns, block + row_block);
    if (bands_of == BandsOf::one_row && block < last) block_of_bands(s, row, block, last);
    else
      for (std::int64_t col = block; col < last; col += tile_elements) vector_segment(s, row, col, least(tile_elements, last - col));
    each_reduction(s, [&](const TileStep& x) {
      alignas(8) std::byte value[8];
      x.reduce->fold(value, lanes_of(x));
      f(x, value);
    });
  }
  /// A block over all elements of copies, of which bands hold some rows. Padded rows are read one by one: they are multiples of the lanes.
  void block_of_bands(int s, std::int64_t row, std::int64_t block, std::int64_t last) {
    const Kernel& t = *bands[0].k;
    const std::int64_t cols = value(t.cols), first = block / cols, end = (last - 1) / cols + 1;
    const bool apart = bands_lie_apart();
    if (first < band_first || end > band_end) {
      band_first = first;
      band_end = least(first + least_of_bands(&Bands::band_rows), value(t.rows));
      make_bands(band_first, band_end);
      if (!apart) show_bands(band_first, band_first);
    }
    for (std::int64_t col = block, n; col < last; col += n) {
      n = least(tile_elements, last - col);
      if (apart) {
        const std::int64_t r = col / cols;
        n = least(n, (r + 1) * cols - col);
        show_bands(band_first, r);
      }
      vector_segment(s, row, col, n);
    }
  }
  void reducing_sweep(int s, std::int64_t row, std::int64_t columns) {
    const bool one_block = columns <= row_block;
    if (!one_block) each_reduction(s, [&](const TileStep& x) { x.tree->begin(tree_of(x)); });
    for (std::int64_t block = 0; block < columns || block == 0; block += row_block)
      block_of_row(s, row, block, columns, [&](const TileStep& x, std::byte* value) {
        if (one_block) return set_row_value(x, value);
        x.tree->push(tree_of(x), value);
        if (block + row_block >= columns) end_of_row(x);
      });
  }
  std::byte* tree_of(const TileStep& x) const { return trees + static_cast<std::size_t>(x.reduction) * detail::max_tree_bytes; }
  /// Makes the tree's result the row's value.
  void end_of_row(const TileStep& x) {
    alignas(8) std::byte value[8];
    x.tree->result(tree_of(x), value);
    set_row_value(x, value);
  }

  // ---- one row that threads share
  std::byte* value_of_block(const Team& t, std::int64_t block, const TileStep& x) const {
    return t.values + (block * program.most_reductions_ + x.reduction) * 8;
  }
  /// Does part p of the row's blocks, for one sweep.
  void part_of_row(int s, std::int64_t row, std::int64_t columns, int p, const Team& t) {
    const std::int64_t blocks = (columns + row_block - 1) / row_block, all = t.helpers + 1;
    for (std::int64_t b = blocks * p / all, last = blocks * (p + 1) / all; b < last; ++b)
      block_of_row(s, row, b * row_block, columns, [&](const TileStep& x, const std::byte* value) { std::memcpy(value_of_block(t, b, x), value, 8); });
  }
  /// Copies to the helpers the values that a segment computed once for the row: of its reductions, or of its other steps.
  void give_row_values(int s, bool reductions) {
    for (const TileStep* x = begin(s); x != end(s); ++x) {
      if (x->x->result < 0 || reductions != (x->kind == TileStep::Kind::reduce)) continue;
      for (Worker* w = team.others; w != team.others + team.helpers; ++w) {
        std::memcpy(w->own[x->out], own[x->out], tile_bytes(x->x->dtype));
        w->registers[x->out] = w->own[x->out];
        w->layout[x->out] = layout[x->out];
      }
    }
  }
  void share_row(std::int64_t row, std::int64_t columns) {
    give_row_values(0, false);
    for (int sweep = 0; sweep < k->sweeps; ++sweep) {
      struct Sweep {
        Worker& first;
        int s;
        std::int64_t row, columns;
      } whole{*this, 2 * sweep + 1, row, columns};
      ThreadPool::instance().run(
          team.helpers + 1,
          [](void* context, int p) {
            const Sweep& x = *static_cast<const Sweep*>(context);
            (p == 0 ? x.first : x.first.team.others[p - 1]).part_of_row(x.s, x.row, x.columns, p, x.first.team);
          },
          &whole);
      each_reduction(whole.s, [&](const TileStep& x) {
        x.tree->begin(tree_of(x));
        for (std::int64_t b = 0; b * row_block < columns; ++b) x.tree->push(tree_of(x), value_of_block(team, b, x));
        end_of_row(x);
      });
      give_row_values(whole.s, true);
      row_segment(whole.s + 1, row, false);
      give_row_values(whole.s + 1, false);
    }
  }

  // ---- sums down columns
  void cols() {
    const std::int64_t count = range.last(SplitAxis::rows, value(k->rows)), inner = value(k->inner),
                       columns = range.last(SplitAxis::cols, value(k->cols));
    if (range.first(SplitAxis::cols) == 0 && inner > 0 && columns > 0 && 2 * inner * columns <= tile_elements && inner <= column_block && !k->row_order &&
        count - range.first(SplitAxis::rows) > 1 && only_fixed(0))
      return groups_together(count, inner, columns);
    for (std::int64_t row = range.first(SplitAxis::rows); row < count; ++row) {
      row_segment(0, row, row == range.first(SplitAxis::rows));
      const std::int64_t together = k->row_order ? few_columns : tile_elements;
      for (std::int64_t col = range.first(SplitAxis::cols); col < columns; col += together)
        sum_columns(row, inner, col, least(together, columns - col));
    }
  }
  /// Does a segment have no step that differs from row to row?
  bool only_fixed(int s) const {
    for (const TileStep* x = begin(s); x != end(s); ++x)
      if (x->kind != TileStep::Kind::fixed) return false;
    return true;
  }
  /// Sums over a few short rows each: as many sums at once as a tile holds.
  void groups_together(std::int64_t count, std::int64_t inner, std::int64_t columns) {
    const std::int64_t first = range.first(SplitAxis::rows), together = tile_elements / (inner * columns);
    row_segment(0, first, true);
    group = inner;
    for (std::int64_t row = first; row < count; row += together) {
      const std::int64_t n = least(together, count - row);
      columns_of_rows(1, row * inner, 0, n * inner, columns, row == first);
      columns_of_rows(2, row, 0, n, columns, row == first);
    }
    group = 0;
  }
  void sum_columns(std::int64_t row, std::int64_t inner, std::int64_t col, std::int64_t n) {
    int reductions = 0;
    for (const TileStep* x = begin(1); x != end(1); ++x) reductions += x->kind == TileStep::Kind::reduce;
    int used = 0;
    std::uint64_t pushed = 0;
    const auto part = [&](const TileStep& x, int level) {
      return parts + static_cast<std::size_t>(level * reductions + x.reduction) * register_bytes;
    };
    const auto merge = [&] {  // combines the newest two parts
      --used;
      each_reduction(1, [&](const TileStep& x) { x.reduce->columns(part(x, used - 1), part(x, used), 1, n); });
    };
    const auto push = [&] {  // pushes the sums in the lanes
      each_reduction(1, [&](const TileStep& x) { std::memcpy(part(x, used), lanes_of(x), count_bytes(x, n)); });
      ++used;
      for (std::uint64_t m = pushed++; m & 1; m >>= 1) merge();
    };
    const tt::detail::ColumnParts order(inner, k->row_order);
    const std::int64_t together = tile_elements / n;
    if (k->row_order) {
      for (std::int64_t block = 0; block < inner; block += row_block) {
        sum_lanes(row * inner, block, least(inner, block + row_block), col, n, order.lanes());
        push();
      }
    } else {
      for (std::int64_t p = 0; p < order.count(); ++p) {
        begin_lanes(1, n);
        if (together == 1)
          for (std::int64_t q = order.begin(p); q < order.end(p); ++q) vector_segment(1, row * inner + q, col, n);
        else
          for (std::int64_t q = order.begin(p); q < order.end(p); q += together)
            columns_of_rows(1, row * inner + q, col, least(together, order.end(p) - q), n, q == 0);
        push();
      }
    }
    if (inner == 0) {
      begin_lanes(1, n);
      push();
    }
    while (used > 1) merge();
    each_reduction(1, [&](const TileStep& x) { registers[x.out] = part(x, 0); });
    vector_segment(2, row, col, n);
  }
  /// Adds rows `q` to `end` in a row's order: to `count` lanes of n columns each, which are then folded to the first.
  void sum_lanes(std::int64_t first_row, std::int64_t q, std::int64_t end, std::int64_t col, std::int64_t n, std::int64_t count) {
    begin_lanes(1, n * count);
    const std::int64_t together = tile_elements / n;
    for (const std::int64_t begin = q; q < end;) {
      const std::int64_t at = (q - begin) % count, some = least(least(together, count - at), end - q);
      lane = at * n;
      columns_of_rows(1, first_row + q, col, some, n, q == 0);
      q += some;
    }
    lane = -1;
    each_reduction(1, [&](const TileStep& x) {
      std::byte* const sums = lanes_of(x);
      for (std::int64_t w = count / 2; w > 0; w /= 2) x.reduce->elements(sums, sums + bytes(x, w * n), w * n);
    });
  }

  // ---- products
  /// The dtype in which a side of a product is stored.
  DType dtype_of_side(const Access& side) const { return plan.buffers[plan.bindings[k->first_binding + side.buffer]].dtype; }
  /// Is it a product of many rows and few columns with a short inner extent, whose epilogue is not compiled?
  bool has_few_columns() const {
    const std::int64_t cols = value(k->cols), inner = value(k->inner);
    return !function && k->windows < 0 && dtype_of_side(plan.accesses[k->b]) == k->dtype && range.first(SplitAxis::cols) == 0 && value(k->rows) > 1 && cols > 0 && cols <= width && inner > 0 &&
           inner <= few_columns_inner;
  }
  void product() {
    const Access &xa = plan.accesses[k->a], &xb = plan.accesses[k->b];
    const Term* const terms = plan.terms.begin();
    if (!function) row_segment(0, 0, true);
    const std::int64_t rows_all = value(k->rows), row0 = range.first(SplitAxis::rows), col0 = range.first(SplitAxis::cols),
                       batch = range.last(SplitAxis::batch, value(k->batch));
    const DType left = dtype_of_side(xa), right = dtype_of_side(xb);
    const Windows windows = k->windows >= 0 ? windows_of(plan.accesses[k->windows], plan.terms.begin(), symbols) : Windows{};
    struct Part {
      Worker& worker;
      std::int64_t row, col;
    } part{*this, 0, col0};
    const bool narrow_product = has_few_columns();
    const std::int64_t products = rows_all * value(k->cols);
    const std::int64_t together = narrow_product && row0 == 0 && range.last(SplitAxis::rows, rows_all) == rows_all ? least(most_products / (products > 0 ? products : 1), ProductTiles::most_matrices) : 1;
    ProductTiles::Further further[ProductTiles::most_matrices];
    const RowOffsets of_a(xa, terms, symbols), of_b(xb, terms, symbols);
    for (std::int64_t q = range.first(SplitAxis::batch), step; q < batch; q += step) {
      step = together > 1 ? least(together, batch - q) : 1;
      const std::int64_t first_a = of_a[q], first_b = of_b[q];
      for (std::int64_t j = 0; j < step && step > 1; ++j) further[j] = {of_a[q + j] - first_a, of_b[q + j] - first_b};
      part.row = q * rows_all + row0;
      ProductTiles p{.rows = range.last(SplitAxis::rows, rows_all) - row0,
                     .cols = range.last(SplitAxis::cols, value(k->cols)) - col0,
                     .inner = value(k->inner),
                     .a = buffer(xa.buffer) + (first_a + row0 * value(k->a_row)) * size_of(left),
                     .a_dtype = left,
                     .a_row = value(k->a_row),
                     .a_inner = value(k->a_inner),
                     .b = buffer(xb.buffer) + (first_b + col0 * value(k->b_column)) * size_of(right),
                     .b_dtype = right,
                     .b_inner = value(k->b_inner),
                     .b_column = value(k->b_column),
                     .b_padded = !xb.guarded,
                     .few_columns = narrow_product,
                     .matrices = static_cast<int>(step),
                     .further = further,
                     .panel = k->panel >= 0 ? buffer(k->panel) : nullptr,
                     .windows = k->windows >= 0 ? &windows : nullptr,
                     .first_column = col0,
                     .context = &part,
                     .take = [](void* context, const ProductTile& t) {
                       const Part& x = *static_cast<const Part*>(context);
                       x.worker.take_products(t, x.row + t.row, x.col + t.col);
                     }};
      kernels.multiply(k->dtype, p);
    }
  }
  void take_products(const ProductTile& t, std::int64_t row, std::int64_t col) {
    if (!function && t.columns == t.pitch && t.rows * t.pitch <= most_products) {
      tile = t.elements;
      return columns_of_rows(1, row, col, t.rows, t.columns, t.first);
    }
    const std::int64_t step = t.pitch * size_of(k->dtype);
    const auto* elements = static_cast<const std::byte*>(t.elements);
    for (std::int64_t y = 0; y < t.rows; ++y, elements += step) {
      tile = elements;
      if (function) reinterpret_cast<EpilogueFunction>(function)(operands, given, row + y, col, t.columns, tile);
      else vector_segment(1, row + y, col, t.columns);
    }
  }
};

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
