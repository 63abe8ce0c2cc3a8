// Runs a TileProgram (tile_interpreter.hpp; its preparation: tile_program_inl.hpp). One long class: every kind of kernel works on the registers of one thread.
#pragma once
#include "tt/core/copy_memory.hpp"
#include "tt/core/small_vec.hpp"
#include "tt/backends/cpu/thread_pool.hpp"
#include "tt/backends/cpu/tile_interpreter.hpp"
#include "tt/backends/cpu/tile_kernels_inl.hpp"
#include "tt/backends/cpu/tile_steps.hpp"
#include "tt/plan/bands.hpp"
#include "tt/plan/split.hpp"

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
struct TileProgram::Worker {
  const TileProgram& program;
  const Plan& plan;
  const TileKernels& kernels;
  const std::int64_t width;    // elements of a vector
  const SymbolValues& symbols;
  const long long* given;      // the arguments of compiled kernels: the symbols' values, or the sizes of a library kernel
  std::byte *tiles = nullptr, *lanes_memory = nullptr, *parts = nullptr;
  std::byte* trees = nullptr;  // one for each reduction, if rows are longer than a block
  const Kernel* k = nullptr;
  Range range{};
  const void* tile = nullptr;  // the products of a matmul
  std::int64_t group = 0;      // rows of a sum over rows, where several sums share a tile; else 0
  std::int64_t lane = -1;      // in a row's order: the lane to which a tile's elements are added; else -1
  int lane_tiles = 1;          // tiles for the lanes of one reduction
  void* function = nullptr;    // this kernel compiled, or null
  void** operands = nullptr;
  TileStep* steps = nullptr;         // of the kernel's instructions
  std::byte** registers = nullptr;   // each register: its own tile, or memory that is read or written in place
  TileLayout* layout = nullptr;      // of registers
  bool kept_in_tiles = false;        // scratch rows are tiles, once several rows shared a tile
  std::byte **own = nullptr, **own_row = nullptr;  // the tiles; own_row: the tiles of values once a row, for several rows
  std::byte *row_tiles = nullptr, *kept_tiles = nullptr;

  /// Threads that share one long row: each computes values of some blocks, which are then combined in block order.
  struct Team {
    Worker* others = nullptr;
    int helpers = 0;
    std::byte* values = nullptr;  // for each block the value of each reduction, in 8 bytes
  };
  Team team{};

  /// A copy, mostly a transposition, that is made for some rows or columns of this kernel at a time (plan/bands.hpp).
  struct Band {
    const Kernel* k = nullptr;
    const std::byte* from = nullptr;
    int operand = -1;            // the kernel's operand that the copy makes
    std::byte* rows = nullptr;   // memory for band_rows() rows, or for all rows of band_columns() columns
  };
  Band* bands = nullptr;
  int band_count = 0;
  /// How the kernel traverses the elements of bands: by the same rows; as one row of all elements, to reduce; or down columns, some in a band.
  enum class BandsOf { nothing, rows, one_row, columns };
  BandsOf bands_of = BandsOf::nothing;
  std::int64_t band_first = 0, band_end = 0;  // one_row: the range of the copies' rows that the bands hold
  std::byte* band_memory = nullptr;

  static constexpr std::size_t register_bytes = tile_bytes(DType::f64);

  Worker(const TileProgram& p, const SymbolValues& s, const long long* g)
      : program(p), plan(p.plan_), kernels(p.kernels_), width(kernels.lanes), symbols(s), given(g) {
    for (const Kernel& c : plan.kernels)
      if (c.row_order) lane_tiles = reduction_lanes * few_columns / tile_elements;
  }

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
  static std::size_t rounded(std::size_t bytes) {
    return (bytes + storage_alignment - 1) / storage_alignment * storage_alignment;
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

  // ---- transpositions, and other copies that are made in bands
  int size_of_moved(const Kernel& t) const { return element_size(plan, t); }
  /// The address of the first row that a transposition writes, and the distance of rows in elements.
  struct Rows {
    std::byte* begin;
    std::int64_t pitch;
  };
  /// Does a part of a transposition. rows(place, pitch): the target of the row that begins at element `place`, `pitch` elements before the next one.
  template <class F>
  void transpose(const Kernel& t, const std::byte* source, const Range& part, const F& rows) const {
    const Access &from = source_of(plan, t), &to = target_of(plan, t);
    const std::int64_t stride = value(from.column), col = part.first(SplitAxis::cols), end = part.last(SplitAxis::cols, value(t.cols));
    const int size = size_of_moved(t);
    if (neighbours_term(from, plan.terms.begin()) < 0) {  // rows whose elements are at a stride
      for (std::int64_t r = part.first(SplitAxis::rows), last = part.last(SplitAxis::rows, value(t.rows)); r < last; ++r) {
        const Rows target = rows(to.row_offset(plan.terms.begin(), r, symbols), 0);
        detail::with_size(plan.instructions[t.segment[1]].dtype, [&]<class T>(T) {
          detail::gather(reinterpret_cast<T*>(target.begin) + col, reinterpret_cast<const T*>(source) + from.row_offset(plan.terms.begin(), r, symbols) + col * stride, end - col, stride);
        });
      }
      return;
    }
    each_transposed(from, to, plan.terms.begin(), symbols, part.first(SplitAxis::rows), part.last(SplitAxis::rows, value(t.rows)),
                    [&](std::int64_t in, std::int64_t out, std::int64_t n, std::int64_t pitch) {
      const Rows target = rows(out, pitch);
      kernels.transpose(size, source + (in + col * stride) * size, stride, 1, end - col, n, target.begin + col * size, target.pitch);
    });
  }
  /// Rows made together: whole cache lines of the source, whole vectors, and about as many as stay in the cache beside the other operands.
  std::int64_t band_rows(const Kernel& t) const { return fit_a_band(t, value(t.cols)); }
  /// The same for columns, for a kernel that sums down columns.
  std::int64_t band_columns(const Kernel& t) const { return fit_a_band(t, value(t.rows)); }
  /// The number of rows or columns of `elements` elements each.
  std::int64_t fit_a_band(const Kernel& t, std::int64_t elements) const {
    const std::int64_t bytes = elements * size_of_moved(t), n = bytes > 0 ? most_of_band / bytes : 0, each = rows_of_line(t);
    return n < each ? each : n / each * each;
  }
  static constexpr std::int64_t line_bytes = 64, most_of_band = 1 << 17;
  std::int64_t rows_of_line(const Kernel& t) const {
    const std::int64_t elements = line_bytes / size_of_moved(t);
    return elements > width ? elements : width;
  }
  /// From one row to the next, in elements: one cache line more where all rows would begin in the same cache sets.
  std::int64_t band_pitch(const Kernel& t) const {
    const std::int64_t cols = value(t.cols);
    return cols * size_of_moved(t) % 1024 == 0 ? cols + line_bytes / size_of_moved(t) : cols;
  }
  std::size_t band_bytes(const Kernel& t, BandsOf what) const {
    const std::int64_t elements = what == BandsOf::columns ? value(t.rows) * least(band_columns(t), value(t.cols)) : least(band_rows(t), value(t.rows)) * band_pitch(t);
    return rounded(static_cast<std::size_t>(elements * size_of_moved(t)) + register_bytes);  // vectors are read beyond the last row
  }
  BandsOf bands_of_kernel(int j) const {
    const Kernel& reader = plan.kernels[j];
    if (reader.kind == KernelKind::cols) return BandsOf::columns;
    return j > 0 && !program.columns_divide_[j] && reader.rows != plan.kernels[j - 1].rows ? BandsOf::one_row : BandsOf::rows;
  }
  std::size_t most_band_bytes() const {
    std::size_t most = 0;
    for (int j = 0; program.most_bands_ > 0 && j < plan.kernels.size(); ++j) {
      std::size_t all = 0;
      for (int b = 0; b < program.bands_[j] && program.in_bands(j, symbols); ++b) all += band_bytes(plan.kernels[j - 1 - b], bands_of_kernel(j));
      if (all > most) most = all;
    }
    return most;
  }
  /// Sets up the bands of kernel j. buffer_at(b): the address of a buffer of the plan.
  template <class F>
  void begin_bands(int j, const F& buffer_at) {
    band_count = program.in_bands(j, symbols) ? program.bands_[j] : 0;
    band_first = band_end = 0;
    if (band_count > 0) bands_of = bands_of_kernel(j);
    if (reads_parts_of_bands()) function = nullptr;
    std::byte* rows = band_memory;
    for (int b = 0; b < band_count; ++b) {
      const Kernel& t = plan.kernels[j - 1 - b];
      const int made = tt::detail::buffer_of(plan, t, target_of(plan, t));
      int operand = 0;
      while (plan.bindings[k->first_binding + operand] != made) ++operand;
      new (bands + b) Band{&t, buffer_at(tt::detail::buffer_of(plan, t, source_of(plan, t))), operand, rows};
      rows += band_bytes(t, bands_of);
    }
  }
  /// Does the kernel read its operands elsewhere than at the addresses of its range? Compiled code cannot.
  bool reads_parts_of_bands() const { return bands_of == BandsOf::one_row || bands_of == BandsOf::columns; }
  /// The bands of another worker, in this worker's memory.
  void join_bands(const Worker& first) {
    band_count = first.band_count;
    bands_of = first.bands_of;
    band_first = band_end = 0;
    for (int b = 0; b < band_count; ++b) {
      new (bands + b) Band(first.bands[b]);
      bands[b].rows = band_memory + (first.bands[b].rows - first.band_memory);
    }
  }
  /// Rows, or columns, that fit the memory of each band: the least of band_rows or band_columns.
  std::int64_t least_of_bands(std::int64_t (Worker::*some_of)(const Kernel&) const) const {
    std::int64_t some = (this->*some_of)(*bands[0].k);
    for (int b = 1; b < band_count; ++b) some = least(some, (this->*some_of)(*bands[b].k));
    return some;
  }
  /// Is there padding between their rows?
  bool bands_lie_apart() const {
    for (int b = 0; b < band_count; ++b)
      if (band_pitch(*bands[b].k) != value(bands[b].k->cols)) return true;
    return false;
  }
  void make_bands(std::int64_t begin, std::int64_t end) const {
    for (int b = 0; b < band_count; ++b) {
      const Band& x = bands[b];
      const std::int64_t pitch = band_pitch(*x.k), cols = value(x.k->cols);
      transpose(*x.k, x.from, {SplitAxis::rows, begin, end}, [&](std::int64_t place, std::int64_t) {
        return Rows{cols > 0 ? x.rows + (place / cols - begin) * pitch * size_of_moved(*x.k) : x.rows, pitch};
      });
    }
  }
  /// Makes operands point into bands that begin with row `begin`, for use from `row` on: an operand's address is that of its first row, if all rows were there.
  void show_bands(std::int64_t begin, std::int64_t row) {
    for (int b = 0; b < band_count; ++b) {
      const Band& x = bands[b];
      move_operand(x.operand, x.rows + ((row - begin) * band_pitch(*x.k) - row * value(x.k->cols)) * size_of_moved(*x.k));
    }
  }
  /// `range` is a range of the transpositions' rows.
  void work_in_bands() {
    const Kernel& t = *bands[0].k;
    const Range all = range;
    const std::int64_t cols = value(t.cols), last = all.last(SplitAxis::rows, value(t.rows)), some = least_of_bands(&Worker::band_rows), together = bands_lie_apart() ? 1 : some;
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
    const std::int64_t cols = value(k->cols), last = all.last(SplitAxis::cols, cols), some = least_of_bands(&Worker::band_columns);
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
  /// Changes the address of an operand of a prepared kernel, and its row stride if given.
  void move_operand(int operand, std::byte* to, std::int64_t row_stride = -1) {
    operands[operand] = to;
    if (function) return;
    for (TileStep* x = begin(0); x != end(last_segment()); ++x)
      if (x->access && x->access->buffer == operand) {
        x->memory = to;
        if (row_stride >= 0) x->row_stride = row_stride;
      }
  }

  std::int64_t value(Extent e) const { return e.value(symbols); }
  std::byte* buffer(int operand) const { return static_cast<std::byte*>(operands[operand]); }
  bool is_scratch(int operand) const { return plan.buffers[plan.bindings[k->first_binding + operand]].scratch; }
  static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static std::int64_t bytes(const TileStep& x, std::int64_t n) { return n * size_of(x.x->dtype); }
  static std::size_t count_bytes(const TileStep& x, std::int64_t n) { return static_cast<std::size_t>(bytes(x, n)); }

  // ---- preparing
  TileStep* begin(int s) const { return steps + (k->segment[s] - k->segment[0]); }
  TileStep* end(int s) const { return begin(s + 1); }
  int last_segment() const { return 2 * k->sweeps; }

  void prepare() {
    kept_in_tiles = false;
    const TileRegisters numbers(*k);
    std::size_t each = 0;
    for (int d = 0; d < dtype_count; ++d)
      if (const std::size_t b = tile_bytes(static_cast<DType>(d)); k->registers[d] > 0 && b > each) each = b;
    registers[numbers.none()] = own[numbers.none()] = own_row[numbers.none()] = nullptr;
    layout[numbers.none()] = {};
    for (int s = 0; s <= last_segment(); ++s) {
      for (TileStep* x = begin(s); x != end(s); ++x) {
        *new (x) TileStep = program.steps_[k->segment[0] + static_cast<int>(x - steps)];
        bind(*x);
        if (x->x->result < 0) continue;
        const std::size_t at = static_cast<std::size_t>(x->tile) * each;
        registers[x->out] = own[x->out] = tiles + at;
        own_row[x->out] = row_tiles + at;
        layout[x->out] = {};
      }
      if (on_columns(*k, s)) find_direct(s);
    }
  }
  void bind(TileStep& x) const {
    if (x.x->op == Op::extent)
      with_compute_dtype(x.x->dtype, [&]<class T>(T) {
        const T v = static_cast<T>(x.x->extent().value(symbols));
        std::memcpy(&x.offset, &v, sizeof v);
      });
    if (!x.access) return;
    const Access& m = *x.access;
    x.offset = m.offset.value(symbols);
    if (x.linear && m.term_count > 0) x.row_stride = value(x.terms->stride);
    x.stride = value(m.column);
    if (x.kind == TileStep::Kind::store && k->kind == KernelKind::matmul && value(k->cols) == 1) x.stride = 1;  // one column: stores contiguous rows at once
    if (x.kind == TileStep::Kind::take) x.apart = value(x.x->extent());
    if (x.kind != TileStep::Kind::place) x.memory = buffer(m.buffer) + bytes(x, x.offset);
  }
  /// Finds the loads of a segment that need no copy, and the results that can be written directly to their stores' memory. Memory that
  /// the segment writes is not read in place, nor written early if the segment reads it.
  void find_direct(int s) {
    using Kind = TileStep::Kind;
    for (TileStep* x = begin(s); x != end(s); ++x) {
      bool alone = (x->kind == Kind::load || x->kind == Kind::store || x->of_row) && x->access->column_terms == 0 && (x->stride == 1 || x->stride == 0);
      for (const TileStep* y = begin(s); alone && y != end(s); ++y)
        if ((y->kind == Kind::store || (y->reads() && x->kind == Kind::store)) && y != x && buffer(y->access->buffer) == buffer(x->access->buffer))
          alone = false;
      if (x->kind == Kind::load) x->by_rows = x->by_rows && alone;
      if (!alone || x->stride != 1) continue;
      x->in_place = x->reads();
      if (x->kind != Kind::store) continue;
      for (TileStep* y = begin(s); y != x; ++y)
        if (y->kind == Kind::call && y->out == x->a && y->direct < 0) y->direct = static_cast<int>(x - steps);
    }
  }

  // ---- one instruction on elements [col, col + n) of a row
  std::byte* address(const TileStep& x, std::int64_t row, std::int64_t col) const {
    return x.memory + bytes(x, x.row(row, symbols) + (x.access->tiled ? 0 : col));
  }
  /// f(r, address of row + r) for n rows.
  template <class F>
  void each_address(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t n, const F& f) const {
    RowRuns run(x, row, symbols);
    for (std::int64_t r = 0;;) {
      std::byte* p = x.memory + bytes(x, run.at + (x.access->tiled ? 0 : col));
      const std::int64_t step = bytes(x, run.step), end = run.count < n - r ? r + run.count : n;
      for (; r < end; ++r, p += step) f(r, p);
      if (r == n) return;
      run.next();
    }
  }
  void step(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t n) {
    switch (x.kind) {
      case TileStep::Kind::call: {
        std::byte* to = own[x.out];
        if (x.direct >= 0)
          if (const TileStep& d = steps[x.direct]; n % width == 0 || !d.access->guarded) to = address(d, row, col);
        call(x, to, n);
        break;
      }
      case TileStep::Kind::fixed: break;  // see row_segment
      case TileStep::Kind::place: places(x, own[x.out], row, col, n); break;
      case TileStep::Kind::load: load_or_show(x, address(x, row, col), col, n); break;
      case TileStep::Kind::take: {
        if (x.of_row) {
          load_or_show(x, address(x, row, col) + bytes(x, places_in(registers[x.a])[0] * x.apart), col, n);
        } else {
          registers[x.out] = own[x.out];
          take(x, own[x.out], places_in(registers[x.a]), row, col, 1, n);
        }
        break;
      }
      case TileStep::Kind::store: store(x, address(x, row, col), registers[x.a], col, n); break;
      case TileStep::Kind::accumulator: registers[x.out] = static_cast<std::byte*>(const_cast<void*>(tile)); break;
      case TileStep::Kind::reduce:
        if (k->kind == KernelKind::cols) x.reduce->columns(lanes_of(x), registers[x.a], 1, n);
        else x.reduce->part(lanes_of(x), registers[x.a], x.of_products ? registers[x.b] : nullptr, n);
        break;
      case TileStep::Kind::none: break;
    }
  }
  void load_or_show(const TileStep& x, std::byte* from, std::int64_t col, std::int64_t n) {
    registers[x.out] = own[x.out];
    layout[x.out] = {};
    if (x.in_place && (n % width == 0 || !x.access->guarded)) registers[x.out] = from;
    else if (repeats_vector(x)) repeat_vector(x, from - (x.access->tiled ? 0 : bytes(x, col)));
    else load(x, own[x.out], from, col, n);
  }
  /// Is a load one element along a row, not spread over a tile, so that its readers take one vector repeatedly?
  static bool repeats_vector(const TileStep& x) { return x.kind == TileStep::Kind::load && !x.whole && x.access->column == Extent(0) && x.access->column_terms == 0; }
  /// One element for all columns.
  void repeat_vector(const TileStep& x, const std::byte* from) {
    layout[x.out].kind = TileLayout::Kind::repeated;
    detail::with_size(x.x->dtype, [&]<class T>(T) { detail::repeat<T>(own[x.out], from, width); });
  }
  static const std::int64_t* places_in(const std::byte* tile) { return reinterpret_cast<const std::int64_t*>(tile); }
  /// `columns` columns of n rows, contiguous: each row at one index (of_row), or each element at its own.
  void take(const TileStep& x, std::byte* to, const std::int64_t* places, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) const {
    each_address(x, row, col, n, [&](std::int64_t r, const std::byte* from) {
      std::byte* const own_to = to + bytes(x, r * columns);
      if (x.of_row) return load(x, own_to, from + bytes(x, places[x.of_row_value ? r : r * columns] * x.apart), col, columns);
      detail::with_size(x.x->dtype, [&]<class T>(T) {
        constexpr int size = sizeof(T);
        const std::byte* const begin = from + col * (x.stride - 1) * size;  // `from` is the address of column `col` if columns were contiguous
        for (std::int64_t i = 0; i < columns; ++i)
          std::memcpy(own_to + i * size, begin + (places[r * columns + i] * x.apart + i * x.stride) * size, sizeof(T));
      });
    });
  }
  TileOperand operand(int r) const { return {registers[r], layout[r].kind == TileLayout::Kind::repeated}; }
  void call(const TileStep& x, std::byte* to, std::int64_t n, const TileRows* rows = nullptr) {
    registers[x.out] = to;
    const TileOperand in[] = {operand(x.a), operand(x.b), operand(x.c), operand(x.d)};
    x.function(to, in, n, x.attribute, rows);
  }
  /// On n rows that share a tile.
  void call_on_rows(const TileStep& x, std::byte* to, std::int64_t n, std::int64_t columns) {
    const std::int64_t row_bytes = columns * size_of(is_comparison(x.x->op) ? x.x->from : x.x->dtype);
    TileRows several{.count = n};
    bool lie_apart = false;
    for (int place = 0; const int r : {x.a, x.b, x.c, x.d}) {
      const TileLayout& l = layout[r];
      several.single[place] = l.kind == TileLayout::Kind::row_values;
      several.apart[place++] = l.kind == TileLayout::Kind::tile ? row_bytes : l.apart;
      lie_apart = lie_apart || l.kind >= TileLayout::Kind::rows;
    }
    if (lie_apart) call(x, to, columns, &several);
    else call(x, to, n * columns);
  }
  void places(const TileStep& x, std::byte* to, std::int64_t row, std::int64_t col, std::int64_t n) const {
    using Places = Carrier<Pack<std::int64_t>>;
    const std::int64_t base = x.offset + x.row(row, symbols) + col * x.stride;
    with_compute_dtype(x.x->dtype, [&]<class T>(T) {
      T* const p = reinterpret_cast<T*>(to);
      std::int64_t i = 0;
      if constexpr (!std::is_same_v<T, bool>) {
        Pack<std::int64_t> place = iota<std::int64_t>(base, x.stride);
        for (; i + lanes <= n; i += lanes, place = Places::template apply<Op::add>(place, Places::splat(lanes * x.stride)))
          cpu::store(p + i, Places::template cast<T>(place));
      }
      for (; i < n; ++i) p[i] = static_cast<T>(base + i * x.stride);
    });
  }
  /// `from` is the address of column `col` if columns were contiguous.
  void load(const TileStep& x, std::byte* to, const std::byte* from, std::int64_t col, std::int64_t n) const {
    if (x.access->column_terms == 0 && x.stride == 1) {
      tt::detail::copy_memory(to, from, count_bytes(x, n));
      return;
    }
    detail::with_size(x.x->dtype, [&]<class T>(T) {
      const T* row = reinterpret_cast<const T*>(from) - (x.access->tiled ? 0 : col);
      if (x.access->column_terms > 0) load_runs(x, reinterpret_cast<T*>(to), row, col, n);
      else if (x.stride == 0) detail::repeat<T>(to, row, n);
      else detail::gather(reinterpret_cast<T*>(to), row + col * x.stride, n, x.stride);
    });
  }
  /// Columns with terms, run by run.
  template <class T>
  void load_runs(const TileStep& x, T* d, const T* row, std::int64_t col, std::int64_t n) const {
    const std::int64_t run = value(x.access->run(plan.terms.begin()));
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t left = run - (col + i) % run, some = left < n - i ? left : n - i;
      const T* p = row + x.access->column_offset(plan.terms.begin(), col + i, symbols);
      detail::gather(d + i, p, some, x.stride);
      i += some;
    }
  }
  /// `to` is an address like `from` of load.
  void store(const TileStep& x, std::byte* to, const std::byte* from, std::int64_t col, std::int64_t n) const {
    if (to == from) return;
    const std::int64_t size = size_of(x.x->dtype);
    if (x.stride == 1) tt::detail::move_memory(to, from, count_bytes(x, n));
    else if (x.stride == 0) std::memcpy(to, from, static_cast<std::size_t>(size));
    else
      detail::with_size(x.x->dtype, [&]<class T>(T) {
        for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + (i * x.stride + col * (x.stride - 1)) * size, from + i * size, sizeof(T));
      });
  }

  // ---- segments
  /// The steps that run once a row: on one vector, filled with the result.
  void row_segment(int s, std::int64_t row, bool first) {
    for (const TileStep* x = begin(s); x != end(s); ++x) {
      if (x->kind == TileStep::Kind::fixed) {
        if (first) set_row_value(*x, &x->offset);
        continue;
      }
      step(*x, row, 0, width);
      if (x->x->result >= 0) set_row_value(*x, registers[x->out]);
    }
  }
  void set_row_value(const TileStep& x, const void* v) {
    registers[x.out] = own[x.out];
    layout[x.out] = {x.whole ? TileLayout::Kind::tile : TileLayout::Kind::repeated};
    detail::with_size(x.x->dtype, [&]<class T>(T) { detail::repeat<T>(own[x.out], v, x.whole ? repeats() : width); });
  }
  /// How often a value of a row must be repeated to fill its tile.
  std::int64_t repeats() const {
    const std::int64_t n = k->kind == KernelKind::matmul ? most_products
                           : k->kind == KernelKind::cols ? tile_elements
                                                         : value(k->cols);
    return n < width ? width : least(n, tile_elements);
  }
  void vector_segment(int s, std::int64_t row, std::int64_t col, std::int64_t n) {
    for (const TileStep* x = begin(s); x != end(s); ++x) step(*x, row, col, n);
  }
  template <class F>
  void each_reduction(int s, const F& f) {
    for (const TileStep* x = begin(s); x != end(s); ++x)
      if (x->kind == TileStep::Kind::reduce) f(*x);
  }
  std::byte* lanes_of(const TileStep& x) const {
    return lanes_memory + static_cast<std::size_t>(x.reduction * lane_tiles) * register_bytes;
  }
  std::byte* tree_of(const TileStep& x) const { return trees + static_cast<std::size_t>(x.reduction) * detail::max_tree_bytes; }
  void begin_lanes(int s, std::int64_t n) {
    each_reduction(s, [&](const TileStep& x) { x.reduce->start(lanes_of(x), n); });
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
      band_end = least(first + least_of_bands(&Worker::band_rows), value(t.rows));
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

  // ---- several contiguous rows in one tile; the values of rows in tiles of their own
  // A step costs some ns however short it is (20,000 rows of 8: 5 us a row one by one), and so does repeating a row's value.

  void rows_together(std::int64_t first_row, std::int64_t count, std::int64_t columns) {
    prepare_together(columns);
    const std::int64_t together = tile_elements / columns;
    for (std::int64_t row = first_row; row < count; row += together) {
      const std::int64_t n = least(together, count - row);
      for (int s = 0; s <= last_segment(); ++s) {
        if (s % 2 == 0) values_of_rows(s, row, n, columns, row == first_row);
        else columns_of_rows(s, row, 0, n, columns, row == first_row);
      }
    }
  }
  /// Makes scratch rows tiles.
  void prepare_together(std::int64_t columns) {
    kept_in_tiles = true;
    int kept = 0;
    for (int s = 1; s <= last_segment(); s += 2)
      for (TileStep* x = begin(s); x != end(s); ++x) {
        if ((x->kind != TileStep::Kind::load && x->kind != TileStep::Kind::store) || !is_scratch(x->access->buffer)) continue;
        x->row_stride = columns;
        x->kept = true;
        x->memory = nullptr;
        for (const TileStep* y = begin(1); y != x; ++y)
          if (y->kept && y->access->buffer == x->access->buffer) x->memory = y->memory;
        if (!x->memory) x->memory = kept_tiles + static_cast<std::size_t>(kept++) * register_bytes;
      }
  }
  /// Are rows contiguous, as in a tile?
  static bool dense(const TileStep& x, std::int64_t columns) {
    return x.linear && x.row_stride == columns && x.stride == 1 && x.access->column_terms == 0;
  }
  void spread(const TileStep& x, std::int64_t rows_, std::int64_t columns) {
    if (!x.spread) return;
    if (x.by_rows && may_lie_apart(columns) && x.kind != TileStep::Kind::fixed) {
      registers[x.out] = own_row[x.out];
      layout[x.out] = {TileLayout::Kind::row_values, size_of(x.x->dtype)};
      return;
    }
    registers[x.out] = own[x.out];
    layout[x.out] = {};
    if (x.kind == TileStep::Kind::fixed && !x.whole) return repeat_vector(x, own_row[x.out]);
    detail::with_size(x.x->dtype, [&]<class T>(T) {
      const T* v = reinterpret_cast<const T*>(own_row[x.out]);
      for (std::int64_t r = 0; r < rows_; ++r)
        detail::repeat<T>(own[x.out] + r * columns * static_cast<int>(sizeof(T)), v + r, columns);
    });
  }
  void values_of_rows(int s, std::int64_t row, std::int64_t n, std::int64_t columns, bool first) {
    for (const TileStep* x = begin(s); x != end(s); ++x) {
      const std::int64_t size = size_of(x->x->dtype);
      switch (x->kind) {
        case TileStep::Kind::fixed:
          if (!first) continue;
          detail::with_size(x->x->dtype, [&]<class T>(T) { detail::repeat<T>(own_row[x->out], &x->offset, n); });
          break;
        case TileStep::Kind::call: {
          const TileOperand in[] = {{own_row[x->a]}, {own_row[x->b]}, {own_row[x->c]}, {own_row[x->d]}};
          x->function(own_row[x->out], in, n, x->attribute, nullptr);
          break;
        }
        case TileStep::Kind::place:
          for (std::int64_t r = 0; r < n; ++r) places(*x, own_row[x->out] + r * size, row + r, 0, 1);
          break;
        case TileStep::Kind::load:
          if (x->linear && x->row_stride == 1) tt::detail::copy_memory(own_row[x->out], address(*x, row, 0), count_bytes(*x, n));
          else
            detail::with_size(x->x->dtype, [&]<class T>(T) {
              each_address(*x, row, 0, n, [to = own_row[x->out]](std::int64_t r, const std::byte* from) {
                std::memcpy(to + r * static_cast<int>(sizeof(T)), from, sizeof(T));
              });
            });
          break;
        case TileStep::Kind::take:
          take(*x, own_row[x->out], places_in(own_row[x->a]), row, 0, n, 1);
          break;
        case TileStep::Kind::store:
          if (x->linear && x->row_stride == 1) tt::detail::copy_memory(address(*x, row, 0), own_row[x->a], count_bytes(*x, n));
          else
            detail::with_size(x->x->dtype, [&]<class T>(T) {
              each_address(*x, row, 0, n, [from = own_row[x->a]](std::int64_t r, std::byte* to) {
                std::memcpy(to, from + r * static_cast<int>(sizeof(T)), sizeof(T));
              });
            });
          continue;
        default: continue;
      }
      spread(*x, n, columns);
    }
  }
  /// The address of all rows of a tile where they are contiguous outside of it, or null.
  std::byte* whole(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t all, std::int64_t columns) const {
    if (!dense(x, columns)) return nullptr;
    if (x.kept) return x.memory;
    return all % width == 0 ? address(x, row, col) : nullptr;
  }
  /// Are rows long enough to be worth a loop over rows? They are then read in whole vectors.
  bool may_lie_apart(std::int64_t columns) const {
    constexpr std::int64_t least_columns = 32;
    return columns >= least_columns && columns % width == 0;
  }
  /// Leaves a load's rows in memory if they are equally spaced; false: they are not. Short rows that are all the same row are copied to a tile, once.
  bool leave_rows(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) {
    constexpr std::int64_t short_columns = 128;
    const bool same = x.linear && x.row_stride == 0;
    if (!x.by_rows || !may_lie_apart(columns) || (same && (x.stride == 0 || columns < short_columns))) return false;
    const RowRuns run(x, row, symbols);
    if (run.count < n) return false;
    registers[x.out] = x.memory + bytes(x, run.at + (x.stride == 0 || x.access->tiled ? 0 : col));
    layout[x.out] = {x.stride == 0 ? TileLayout::Kind::row_values : TileLayout::Kind::rows, bytes(x, run.step)};
    return true;
  }
  /// `columns` columns of n rows, from this row and column on. first: these begin a sequence, so loads that all its rows share are made.
  void columns_of_rows(int s, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns, bool first) {
    const std::int64_t all = n * columns;
    for (const TileStep *x = begin(s), *last = end(s); x != last; ++x) {
      if (x->kind == TileStep::Kind::call) {
        std::byte* const direct = x->direct >= 0 ? whole(steps[x->direct], row, col, all, columns) : nullptr;
        std::byte* const to = direct ? direct : own[x->out];
        if (x->reads_rows) call_on_rows(*x, to, n, columns);
        else call(*x, to, all);
      } else if (x->kind == TileStep::Kind::load) {
        std::byte* const from = x->in_place ? whole(*x, row, col, all, columns) : nullptr;
        if (from) registers[x->out] = from, layout[x->out] = {};
        else if (!leave_rows(*x, row, col, n, columns) && (first || !x->in_place || !x->linear || x->row_stride != 0)) load_rows(*x, row, col, n, columns);
      } else {
        other_of_rows(*x, row, col, n, columns);
      }
    }
  }
  void load_rows(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) {
    std::byte* to = registers[x.out] = own[x.out];
    layout[x.out] = {};
    if (dense(x, columns)) {
      tt::detail::copy_memory(to, x.kept ? x.memory : address(x, row, col), count_bytes(x, n * columns));
      return;
    }
    const bool plain = x.access->column_terms == 0;
    if (repeats_vector(x) && x.linear && x.row_stride == 0) repeat_vector(x, address(x, row, 0));
    else if (plain && x.stride == 0 && x.linear && x.row_stride == 0)  // one element for all
      detail::with_size(x.x->dtype, [&]<class T>(T) { detail::repeat<T>(to, address(x, row, 0), n * columns); });
    else if (plain && x.stride == 0)
      detail::with_size(x.x->dtype, [&]<class T>(T) {
        each_address(x, row, 0, n, [&](std::int64_t r, const std::byte* from) {
          detail::repeat<T>(to + r * columns * static_cast<int>(sizeof(T)), from, columns);
        });
      });
    else if (plain && x.stride == 1 && size_of(x.x->dtype) == 4) copy_short_rows<float>(x, to, row, col, n, columns);
    else if (plain && x.stride == 1 && size_of(x.x->dtype) == 8) copy_short_rows<double>(x, to, row, col, n, columns);
    else
      each_address(x, row, col, n, [&](std::int64_t r, const std::byte* from) { load(x, to + bytes(x, r * columns), from, col, columns); });
  }
  /// Copies whole vectors: the part beyond a row's columns is overwritten by the next row.
  template <class T>
  void copy_short_rows(const TileStep& x, std::byte* to, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) const {
    const std::int64_t whole = columns / lanes * lanes;
    const auto rest = static_cast<int>(columns - whole);
    each_address(x, row, col, n, [&](std::int64_t r, const std::byte* from) {
      T* const d = reinterpret_cast<T*>(to) + r * columns;
      const T* const source = reinterpret_cast<const T*>(from);
      for (std::int64_t i = 0; i < whole; i += lanes) cpu::store(d + i, cpu::load(source + i));
      if (rest > 0) cpu::store(d + whole, load_first(source + whole, rest));
    });
  }
  void other_of_rows(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) {
    if (x.kind == TileStep::Kind::reduce && k->kind == KernelKind::cols) {
      if (group > 0) {
        registers[x.out] = own[x.out];
        x.reduce->groups(own[x.out], registers[x.a], n / group, group, columns);
      } else if (lane >= 0) {
        x.reduce->elements(lanes_of(x) + bytes(x, lane), registers[x.a], n * columns);
      } else {
        x.reduce->columns(lanes_of(x), registers[x.a], n, columns);
      }
    } else if (x.kind == TileStep::Kind::reduce) {
      x.reduce->rows(own_row[x.out], registers[x.a], x.of_products ? registers[x.b] : nullptr, n, columns);
      spread(x, n, columns);
    } else if (x.kind == TileStep::Kind::take) {
      registers[x.out] = own[x.out];
      layout[x.out] = {};
      take(x, own[x.out], places_in(x.of_row_value ? own_row[x.a] : registers[x.a]), row, col, n, columns);
    } else if (x.kind == TileStep::Kind::store) {
      const std::byte* from = registers[x.a];
      if (dense(x, columns)) store(x, x.kept ? x.memory : address(x, row, col), from, col, n * columns);
      else
        each_address(x, row, col, n, [&](std::int64_t r, std::byte* to) { store(x, to, from + bytes(x, r * columns), col, columns); });
    } else if (x.kind == TileStep::Kind::place) {
      for (std::int64_t r = 0; r < n; ++r) places(x, own[x.out] + r * bytes(x, columns), row + r, col, columns);
    } else if (x.kind == TileStep::Kind::accumulator) {
      registers[x.out] = static_cast<std::byte*>(const_cast<void*>(tile));
    }
  }

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
  /// For sums in a row's order: so many columns at once, added to all lanes side by side, stay in the L1 cache.
  static constexpr int few_columns = 128;
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

struct TileProgram::Run {
  const TileProgram& program;
  const Plan& plan;
  void* const* external;
  const SymbolValues& symbols;
  const Placement* placement;
  Placement own;               // used if the placement cannot be kept
  SmallVec<long long, 64> given;
  std::byte* arena = nullptr;
  Worker first;
  Worker* others = nullptr;    // never destroyed, like the memory that they are in

  Run(const TileProgram& p, void* const* ext, const SymbolValues& s)
      : program(p), plan(p.plan_), external(ext), symbols(s), placement(p.find_placement(s)), given(s.size() + p.sizes_.size()), first(p, s, given.data()) {
    if (!placement) {
      own.offsets = Vec<std::int64_t>(plan.buffers.size() + 1, 0);
      own.arena = p.place(s, own.offsets);
      placement = &own;
    }
    for (int i = 0; i < s.size(); ++i) given[i] = symbols[i];
    for (int i = 0; i < p.sizes_.size(); ++i) given[s.size() + i] = p.sizes_[i].value(symbols);
    const std::size_t begin = Worker::rounded(static_cast<std::size_t>(placement->arena));
    arena = workspace().get(first.place(nullptr, begin));
    first.place(arena, begin);
  }
  Run(const Run&) = delete;

  /// Runs all kernels; returns how many ran compiled.
  int all() {
    int compiled = 0;
    const int threads = ThreadPool::in_worker() ? 1 : get_num_threads();
    for (int j = 0; j < plan.kernels.size(); ++j) {
      const Kernel& k = plan.kernels[j];  // a kernel that shares another's code has its own bindings
      void* function = program.compiled_kernel(j);
      const int its_sizes = program.first_size_.empty() ? -1 : program.first_size_[k.code];
      first.given = given.data() + (its_sizes < 0 ? 0 : symbols.size() + its_sizes);
      if (const int reader = j + program.reader_[j]; reader > j && program.in_bands(reader, symbols)) continue;
      first.begin_kernel(k, program.has_short_rows(k, symbols) ? nullptr : function);
      for (int b = 0; b < k.bindings; ++b) first.operands[b] = buffer(plan.bindings[k.first_binding + b]);
      first.begin_bands(j, [&](int b) { return buffer(b); });
      compiled += function != nullptr && !first.reads_parts_of_bands();
      Split split;
      if (threads > 1) split = split_kernel(extents_of(j), threads);
      if (split.parts > 1) divided(split);
      else {
        first.range = {};
        const int parts = first.bands_of == Worker::BandsOf::rows ? 1 : parts_of_row(k, threads);
        if (parts > 1 && first.function && shares_row(plan, k)) {
          share_row(k, parts);
          continue;
        }
        if (parts > 1 && !first.function) form_team(parts);
        first.work();
        first.team = {};
      }
    }
    return compiled;
  }
  /// The extents of kernel j, which the first worker has begun: with bands, rows of the transpositions.
  KernelExtents extents_of(int j) const {
    const auto value = [&](Extent e) { return e.value(symbols); };
    if (first.bands_of == Worker::BandsOf::rows) {
      const Kernel& t = plan.kernels[j - 1];
      return {KernelKind::rows, 1, value(t.rows), value(t.cols), 1, false, first.rows_of_line(t)};
    }
    const Kernel& k = plan.kernels[j];
    return {k.kind, value(k.batch), value(k.rows), value(k.cols), value(k.inner), program.columns_divide_[j] != 0};
  }
  /// The number of threads that share the row of a kernel with a single row. (`split_kernel` gives a row with a reduction to one thread.)
  int parts_of_row(const Kernel& k, int threads) const {
    if (threads < 2 || k.kind != KernelKind::rows || k.tile > 0 || k.rows.value(symbols) != 1 || is_transposition(k, plan.instructions.begin(), accesses_of(plan))) return 1;
    const std::int64_t most = k.cols.value(symbols) / work_per_thread;
    return most < threads ? static_cast<int>(most) : threads;
  }
  /// Runs a compiled kernel's row, phase by phase: see emit_c.hpp.
  void share_row(const Kernel& k, int parts) {
    struct Phase {
      const Worker& worker;
      int parts;
      KernelBounds bounds;
      void work(int part) const {
        const long long columns = bounds.end_col, blocks = (columns + row_block - 1) / row_block, end = blocks * (part + 1) / parts * row_block;
        KernelBounds mine = bounds;
        mine.first_of_phase = blocks * part / parts * row_block;
        mine.end_of_phase = end < columns ? end : columns;
        reinterpret_cast<KernelFunction>(worker.function)(worker.operands, worker.given, &mine);
      }
    } phase{first, parts, {0, 1, 0, k.cols.value(symbols)}};
    const long long blocks = (phase.bounds.end_col + row_block - 1) / row_block;
    phase.bounds.values = helpers_workspace().get(static_cast<std::size_t>(blocks * reductions_of(plan, k) * 8));
    for (phase.bounds.phase = 1; phase.bounds.phase <= k.sweeps; ++phase.bounds.phase)
      ThreadPool::instance().run(parts, [](void* context, int part) { static_cast<const Phase*>(context)->work(part); }, &phase);
    phase.work(0);
  }
  void form_team(int parts) {
    const std::int64_t blocks = (first.k->cols.value(symbols) + row_block - 1) / row_block;
    std::byte* const values = make_helpers(parts - 1, false, static_cast<std::size_t>(blocks * program.most_reductions_ * 8));
    for (int p = 0; p < parts - 1; ++p) others[p].prepare();
    first.team = {others, parts - 1, values};
  }
  /// Makes workers beside the first one, for its kernel, with its scratch rows or (own_scratch) their own. Returns the address of `more` bytes.
  std::byte* make_helpers(int count, bool own_scratch, std::size_t more) {
    const auto helpers = static_cast<std::size_t>(count);
    Worker counting(program, symbols, given.data());
    std::size_t each = counting.place(nullptr, 0);
    if (own_scratch) each = counting.join(first, nullptr, each);
    const std::size_t begin = Worker::rounded(helpers * sizeof(Worker));
    std::byte* const memory = helpers_workspace().get(begin + helpers * each + more);
    others = reinterpret_cast<Worker*>(memory);
    for (std::size_t p = 0; p < helpers; ++p) {
      Worker& w = *new (others + p) Worker(program, symbols, first.given);
      std::byte* const its = memory + begin + p * each;
      const std::size_t end = w.place(its, 0);
      if (own_scratch) w.join(first, its, end);
      else std::memcpy(w.operands, first.operands, static_cast<std::size_t>(first.k->bindings) * sizeof(void*));
      w.begin_kernel(*first.k, first.function);
      w.join_bands(first);
    }
    return memory + begin + helpers * each;
  }
  std::byte* buffer(int b) const {
    const Buffer& x = plan.buffers[b];
    return x.external >= 0 ? static_cast<std::byte*>(external[x.external]) : arena + placement->offsets[b];
  }
  void divided(const Split& split) {
    make_helpers(split.parts - 1, true, 0);
    first.range = split.part(0);
    for (int p = 1; p < split.parts; ++p) others[p - 1].range = split.part(p);
    ThreadPool::instance().run(
        split.parts,
        [](void* run, int p) {
          Run& r = *static_cast<Run*>(run);
          (p == 0 ? r.first : r.others[p - 1]).work();
        },
        this);
  }
};

TT_INLINE void TileProgram::run(void* const* external, const SymbolValues& symbols) const {
  if (expressions_.empty()) return count_call(Run(*this, external, symbols).all());
  SymbolValues values = symbols;
  for (int k = 0; k < expressions_.size(); ++k) values.set(first_expression_ + k, expressions_[k].value(symbols));
  count_call(Run(*this, external, values).all());
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
