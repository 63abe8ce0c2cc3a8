// One step of a tile program on the registers of one thread, and the steps of a segment in turn (tile_worker_inl.hpp: of a kernel).
#pragma once
#include "tt/core/copy_memory.hpp"
#include "tt/backends/cpu/tile_interpreter.hpp"
#include "tt/backends/cpu/tile_kernels_inl.hpp"
#include "tt/backends/cpu/tile_steps.hpp"
#include "tt/plan/split.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// Registers of one thread, and the kernel that it works on.
struct TileProgram::Registers {
  const TileProgram& program;
  const Plan& plan;
  const TileKernels& kernels;
  const std::int64_t width;    // elements of a vector
  const SymbolValues& symbols;
  const long long* given;      // the arguments of compiled kernels: the symbols' values, or the sizes of a library kernel
  std::byte *tiles = nullptr, *row_tiles = nullptr, *lanes_memory = nullptr;
  const Kernel* k = nullptr;
  Range range{};
  void* function = nullptr;    // this kernel compiled, or null
  const void* tile = nullptr;  // the products of a matmul
  int lane_tiles = 1;          // tiles for the lanes of one reduction
  void** operands = nullptr;
  TileStep* steps = nullptr;         // of the kernel's instructions
  std::byte** registers = nullptr;   // each register: its own tile, or memory that is read or written in place
  TileLayout* layout = nullptr;      // of registers
  std::byte **own = nullptr, **own_row = nullptr;  // the tiles; own_row: the tiles of values once a row, for several rows
  bool kept_in_tiles = false;        // scratch rows are tiles, once several rows shared a tile

  static constexpr std::size_t register_bytes = tile_bytes(DType::f64);
  /// For sums in a row's order: so many columns at once, added to all lanes side by side, stay in the L1 cache.
  static constexpr int few_columns = 128;

  Registers(const TileProgram& p, const SymbolValues& s, const long long* g)
      : program(p), plan(p.plan_), kernels(p.kernels_), width(kernels.lanes), symbols(s), given(g) {
    for (const Kernel& c : plan.kernels)
      if (c.row_order) lane_tiles = reduction_lanes * few_columns / tile_elements;
  }

  static std::size_t rounded(std::size_t bytes) {
    return (bytes + storage_alignment - 1) / storage_alignment * storage_alignment;
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
  void begin_lanes(int s, std::int64_t n) {
    each_reduction(s, [&](const TileStep& x) { x.reduce->start(lanes_of(x), n); });
  }
};

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
