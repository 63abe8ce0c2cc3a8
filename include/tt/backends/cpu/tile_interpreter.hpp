// Tier 0: runs a Plan at run time without a compiler. Instructions work on tiles of at most 1,024
// elements that stay in the L1 cache, through the table of tile functions; same plan, same bodies,
// same order of summation, so the same bits as the static kernels. One long class: every kind of
// kernel works on the registers of one thread. Large kernels are divided among threads as static
// ones are (graph/split.hpp).
#pragma once
#include <cstddef>

#include "tt/backends/cpu/gemm.hpp"
#include "tt/backends/cpu/thread_pool.hpp"
#include "tt/backends/cpu/tile_functions.hpp"
#include "tt/core/storage.hpp"
#include "tt/graph/memory.hpp"
#include "tt/graph/split.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {

/// Shared by files that are built for different CPUs, as enlisted_tiles is.
using ProductFunction = void (*)(void* worker);
inline ProductFunction enlisted_product = nullptr;

inline namespace TT_ISA {

inline constexpr int tile_elements = 1024;
static_assert(tile_elements >= tile_columns);

/// A kernel compiled from emitted text: of rows and cols kernels the part that begins and ends at
/// bounds (first row, end of rows, first column, end of columns), of a matrix product the epilogue
/// over part of a row.
using KernelFunction = void (*)(void* const* operand, const long long* symbols, const long long* bounds);
using EpilogueFunction = void (*)(void* const* operand, const long long* symbols, long long row,
                                  long long col, long long n, const void* tile);

class TileProgram {
 public:
  explicit TileProgram(Plan plan);
  TileProgram(const TileProgram&) = delete;
  TileProgram& operator=(const TileProgram&) = delete;
  ~TileProgram() {
    for (Placement* p = placements_; p;) {
      Placement* next = p->next;
      delete p;
      p = next;
    }
  }
  const Plan& plan() const { return plan_; }

  /// From now on kernel k (and those that share its code) runs through this function: a
  /// KernelFunction, or an EpilogueFunction for a matrix product. Others may run the program
  /// meanwhile: a kernel that has begun ends as it began. The function must outlive the program.
  void replace_kernel(int k, void* function) {
    for (int j = 0; j < plan_.kernels.size(); ++j)
      if (plan_.kernels[j].code == k) __atomic_store_n(&compiled_[j], function, __ATOMIC_RELEASE);
  }
  /// Kernels that run compiled.
  [[nodiscard]] int compiled_kernels() const {
    int n = 0;
    for (int j = 0; j < compiled_.size(); ++j) n += compiled_kernel(j) != nullptr;
    return n;
  }
  /// Calls in which every kernel ran compiled (tier 1), and the others (tier 0).
  struct Calls {
    std::int64_t tier0 = 0, tier1 = 0;
  };
  [[nodiscard]] Calls calls() const {
    return {__atomic_load_n(&calls_.tier0, __ATOMIC_RELAXED),
            __atomic_load_n(&calls_.tier1, __ATOMIC_RELAXED)};
  }

  /// `external`: inputs in order, then outputs that are not donated. Thread-safe.
  void run(void* const* external, const SymbolValues& symbols) const;

  /// Brings products of matrices into the program: see graph/graph.hpp.
  static void enlist_products() { __atomic_store_n(&enlisted_product, &Worker::any_product, __ATOMIC_RELEASE); }

 private:
  void* compiled_kernel(int j) const { return __atomic_load_n(&compiled_[j], __ATOMIC_ACQUIRE); }
  void count_call(int compiled) const {
    const bool tier1 = compiled > 0 && compiled == plan_.kernels.size();
    __atomic_fetch_add(tier1 ? &calls_.tier1 : &calls_.tier0, 1, __ATOMIC_RELAXED);
  }

  Plan plan_;
  Vec<TileFunction> functions_;
  Vec<char> columns_divide_;  // of each kernel
  Vec<void*> compiled_;  // for each kernel, or null; atomic
  mutable Calls calls_;  // atomic
  int most_registers_ = 0, most_reductions_ = 0, most_bindings_ = 0, most_stores_ = 0;

  /// Where the buffers of the arena lie for some values of the symbols.
  struct Placement {
    SymbolValues symbols;
    std::int64_t arena = 0;
    Vec<std::int64_t> offsets;
    Placement* next = nullptr;
  };
  static constexpr int most_placements = 32;
  mutable Placement* placements_ = nullptr;  // atomic; grows only

  /// For these sizes: looked up, or made and kept. Null when enough are kept.
  const Placement* find_placement(const SymbolValues& s) const {
    Placement* first = __atomic_load_n(&placements_, __ATOMIC_ACQUIRE);
    int count = 0;
    for (const Placement* p = first; p; p = p->next, ++count)
      if (std::memcmp(&p->symbols, &s, sizeof s) == 0) return p;
    if (count >= most_placements) return nullptr;
    auto* fresh = new Placement{s, 0, Vec<std::int64_t>(plan_.buffers.size() + 1, 0), first};
    fresh->arena = place(s, fresh->offsets);
    while (!__atomic_compare_exchange_n(&placements_, &fresh->next, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return fresh;
  }
  std::int64_t place(const SymbolValues& s, Vec<std::int64_t>& offsets) const {
    return plan_memory(plan_.buffers.begin(), plan_.buffers.size(), plan_.kernels.size(), s, offsets.begin());
  }

  /// The thread's memory for one run at a time: arena, tiles, tables; and that of its helpers.
  static Scratch& workspace() {
    thread_local Scratch scratch;
    return scratch;
  }
  static Scratch& helpers_workspace() {
    thread_local Scratch scratch;
    return scratch;
  }

  /// One thread's part of a kernel. Tiles and tables are given to it by the caller, who can still throw.
  struct Worker {
    const TileProgram& program;
    const Plan& plan;
    const SymbolValues& symbols;
    const long long* given;      // the symbols' values
    std::byte *tiles = nullptr, *lanes_memory = nullptr, *parts = nullptr;
    struct Trees;                // of one reduction, where rows are longer than a block
    Trees* trees = nullptr;
    const Kernel* k = nullptr;
    Range range{};
    const void* tile = nullptr;  // a matmul's products
    void* function = nullptr;    // of this kernel, when it is compiled
    void** operands = nullptr;
    std::byte** stored_to = nullptr;  // by this kernel
    int stores = 0;
    int register_base[dtype_count] = {};
    std::byte** registers = nullptr;  // a register is its own tile, or memory read in place

    static constexpr std::size_t register_bytes = tile_elements * 8;

    Worker(const TileProgram& p, const SymbolValues& s, const long long* g)
        : program(p), plan(p.plan_), symbols(s), given(g) {}

    /// Takes its tiles and tables from memory, or only counts; returns the end.
    std::size_t place(std::byte* memory, std::size_t at) {
      const auto take = [&](std::size_t bytes) {
        const std::size_t begin = at;
        at += rounded(bytes);
        return memory ? memory + begin : nullptr;
      };
      const auto table = [&](int n) { return take(static_cast<std::size_t>(n) * sizeof(void*)); };
      const auto tile_memory = [&](int n) { return take(static_cast<std::size_t>(n) * register_bytes); };
      tiles = tile_memory(program.most_registers_ + 1);
      lanes_memory = tile_memory(program.most_reductions_ + 1);
      parts = tile_memory(most_parts());
      trees = reinterpret_cast<Trees*>(take(static_cast<std::size_t>(most_trees()) * sizeof(Trees)));
      registers = reinterpret_cast<std::byte**>(table(program.most_registers_ + 1));
      operands = reinterpret_cast<void**>(table(program.most_bindings_));
      stored_to = reinterpret_cast<std::byte**>(table(program.most_stores_));
      return at;
    }
    static std::size_t rounded(std::size_t bytes) {
      return (bytes + storage_alignment - 1) / storage_alignment * storage_alignment;
    }
    /// Tiles for the partial sums of columns, of the kernel that needs most.
    int most_parts() const {
      int most = 0;
      for (const Kernel& c : plan.kernels) {
        if (c.kind != KernelKind::cols) continue;
        int depth = 2;
        for (std::int64_t b = (value(c.inner) + column_block - 1) / column_block; b > 0; b /= 2) ++depth;
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
      int base = 0;
      for (int d = 0; d < dtype_count; ++d) {
        register_base[d] = base;
        base += k->registers[d];
      }
    }
    /// The operands of the first worker, but rows of scratch of its own; returns where these end.
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
      stores = 0;
      for (int i = k->segment[0]; i < k->segment[2 * k->sweeps + 1]; ++i)
        if (const Instruction& x = plan.instructions[i]; x.op == Op::store)
          stored_to[stores++] = buffer(plan.accesses[x.access].buffer);
      if (k->kind == KernelKind::matmul) product();
      else if (function) {
        const long long bounds[] = {
            range.first(SplitAxis::rows), range.last(SplitAxis::rows, value(k->rows)),
            range.first(SplitAxis::cols), range.last(SplitAxis::cols, value(k->cols))};
        reinterpret_cast<KernelFunction>(function)(operands, given, bounds);
      } else if (k->kind == KernelKind::rows) rows();
      else cols();
    }

    std::int64_t value(Extent e) const { return e.value(symbols); }
    std::byte* buffer(int operand) const { return static_cast<std::byte*>(operands[operand]); }
    int register_number(DType d, int i) const { return register_base[static_cast<int>(d)] + i; }
    std::byte* own_tile(int number) const {
      return tiles + static_cast<std::size_t>(number) * register_bytes;
    }
    std::byte* reg(DType d, int i) const { return registers[register_number(d, i)]; }

    // ---- one instruction on elements [col, col + n) of a row
    void step(int i, std::int64_t row, std::int64_t col, std::int64_t n) {
      const Instruction& x = plan.instructions[i];
      std::byte* out = nullptr;
      if (x.result >= 0) {
        const int number = register_number(x.dtype, x.result);
        out = registers[number] = own_tile(number);
      }
      switch (x.op) {
        case Op::constant: case Op::extent: splat(x, out, n); break;
        case Op::iota: case Op::load: load(x, row, col, n); break;
        case Op::store: store(x, row, col, n); break;
        case Op::accumulator:
          std::memcpy(out, tile, static_cast<std::size_t>(n) * static_cast<std::size_t>(size_of(x.dtype)));
          break;
        default: {
          const DType from = x.op == Op::where ? x.dtype : operand_dtype(x);
          const std::byte* a = x.a < 0 ? nullptr : reg(x.op == Op::where ? DType::boolean : from, x.a);
          program.functions_[i](out, a, x.b < 0 ? nullptr : reg(from, x.b),
                                x.c < 0 ? nullptr : reg(from, x.c), n, x.attribute);
        }
      }
    }
    static DType operand_dtype(const Instruction& x) {
      if (is_logical(x.op)) return DType::boolean;
      return x.op == Op::call || is_arithmetic(x.op) ? x.dtype : x.from;
    }
    void splat(const Instruction& x, std::byte* out, std::int64_t n) {
      with_dtype(x.dtype, [&]<class T>(T) {
        const T v = x.op == Op::extent
                        ? static_cast<T>(Extent::from_code(static_cast<std::int64_t>(x.bits))
                                             .value(symbols))
                        : decode<T>(x.bits);
        fill(reinterpret_cast<T*>(out), v, n);
      });
    }
    template <class T>
    static void fill(T* out, T v, std::int64_t n) {
      const Pack<T> p = Carrier<Pack<T>>::splat(v);
      for (std::int64_t i = 0; i < n; i += lanes) cpu::store(out + i, p);
    }
    void load(const Instruction& x, std::int64_t row, std::int64_t col, std::int64_t n) {
      const Access& m = plan.accesses[x.access];
      const std::int64_t base = m.row_offset(row, symbols), stride = value(m.column);
      const int number = register_number(x.dtype, x.result);
      std::byte* out = registers[number];
      with_dtype(x.dtype, [&]<class T>(T) {
        T* d = reinterpret_cast<T*>(out);
        if (x.op == Op::iota) {
          for (std::int64_t i = 0; i < n; ++i) d[i] = static_cast<T>(base + (col + i) * stride);
          return;
        }
        const T* p = reinterpret_cast<const T*>(buffer(m.buffer)) + base - (m.tiled ? col : 0);
        if (m.column_terms > 0) load_runs(m, p, d, col, n);
        else if (stride == 0) fill(d, *p, n);
        else if (stride != 1)
          for (std::int64_t i = 0; i < n; ++i) d[i] = p[(col + i) * stride];
        else if ((n % lanes == 0 || !m.guarded) && !overwritten(m.buffer))
          registers[number] = reinterpret_cast<std::byte*>(const_cast<T*>(p + col));
        else std::memcpy(d, p + col, static_cast<std::size_t>(n) * sizeof(T));
      });
    }
    /// Columns with terms, run by run.
    template <class T>
    void load_runs(const Access& m, const T* row, T* d, std::int64_t col, std::int64_t n) {
      const std::int64_t run = value(m.run()), stride = value(m.column);
      for (std::int64_t i = 0; i < n;) {
        const std::int64_t left = run - (col + i) % run, some = left < n - i ? left : n - i;
        const T* p = row + m.column_offset(col + i, symbols);
        for (std::int64_t j = 0; j < some; ++j) d[i + j] = p[j * stride];
        i += some;
      }
    }
    /// Memory that the kernel writes is not read in place: a register must keep its value.
    bool overwritten(int operand) const {
      const std::byte* p = buffer(operand);
      for (int i = 0; i < stores; ++i)
        if (stored_to[i] == p) return true;
      return false;
    }
    void store(const Instruction& x, std::int64_t row, std::int64_t col, std::int64_t n) {
      const Access& m = plan.accesses[x.access];
      const std::int64_t base = m.row_offset(row, symbols), stride = value(m.column);
      with_dtype(x.dtype, [&]<class T>(T) {
        const T* s = reinterpret_cast<const T*>(reg(x.dtype, x.a));
        T* p = reinterpret_cast<T*>(buffer(m.buffer)) + base - (m.tiled ? col : 0);
        if (stride == 0) *p = *s;
        else if (stride == 1) std::memmove(p + col, s, static_cast<std::size_t>(n) * sizeof(T));
        else
          for (std::int64_t i = 0; i < n; ++i) p[(col + i) * stride] = s[i];
      });
    }

    // ---- segments
    /// Once a row: on one step of lanes, then the results are repeated over a whole tile.
    void row_segment(int s, std::int64_t row) {
      for (int i = k->segment[s]; i < k->segment[s + 1]; ++i) {
        step(i, row, 0, lanes);
        const Instruction& x = plan.instructions[i];
        if (x.result < 0) continue;
        with_dtype(x.dtype, [&]<class T>(T) {
          T* d = reinterpret_cast<T*>(own_tile(register_number(x.dtype, x.result)));
          const T v = *reinterpret_cast<const T*>(reg(x.dtype, x.result));
          registers[register_number(x.dtype, x.result)] = reinterpret_cast<std::byte*>(d);
          fill(d, v, repeats());
        });
      }
    }
    /// How often a value of a row must be repeated to stand beside the columns of a tile.
    std::int64_t repeats() const {
      const std::int64_t n = value(k->cols);
      return n < lanes ? lanes : least(n, tile_elements);
    }
    template <class F>
    void each_reduction(int s, const F& f) {
      int r = 0;
      for (int i = k->segment[s]; i < k->segment[s + 1]; ++i)
        if (const Instruction& x = plan.instructions[i]; is_reduction(x.op)) {
          with_reduction(x, [&]<Op K, class T>(std::integral_constant<Op, K>, T) {
            f.template operator()<K, T>(x, r);
          });
          ++r;
        }
    }
    template <class F>
    static void with_reduction(const Instruction& x, const F& f) {
      with_dtype(x.dtype, [&]<class T>(T t) {
        if constexpr (!std::is_same_v<T, bool>) {
          if (x.op == Op::sum) f(std::integral_constant<Op, Op::sum>{}, t);
          else if (x.op == Op::amax) f(std::integral_constant<Op, Op::amax>{}, t);
          else f(std::integral_constant<Op, Op::amin>{}, t);
        }
      });
    }
    template <class T>
    T* lane_memory(int reduction) const {
      return reinterpret_cast<T*>(lanes_memory +
                                  static_cast<std::size_t>(reduction) * register_bytes);
    }
    void vector_segment(int s, std::int64_t row, std::int64_t col, std::int64_t n) {
      int r = 0;
      for (int i = k->segment[s]; i < k->segment[s + 1]; ++i) {
        const Instruction& x = plan.instructions[i];
        if (!is_reduction(x.op)) {
          step(i, row, col, n);
          continue;
        }
        const int reduction = r++;
        with_reduction(x, [&]<Op K, class T>(std::integral_constant<Op, K>, T) {
          accumulate<K>(lane_memory<T>(reduction), reinterpret_cast<const T*>(reg(x.dtype, x.a)), n,
                        k->kind == KernelKind::cols);
        });
      }
    }
    /// Along a row element i goes to lane i % 64; down columns each column has its own lane.
    template <Op K, class T>
    static void accumulate(T* lane, const T* x, std::int64_t n, bool columns) {
      std::int64_t i = 0;
      for (; i + lanes <= n; i += lanes) {
        T* l = lane + (columns ? i : i % reduction_lanes);
        cpu::store(l, combine<K>(cpu::load(l), cpu::load(x + i)));
      }
      for (; i < n; ++i) {
        T& l = lane[columns ? i : i % reduction_lanes];
        l = tt::detail::combine<K>(l, x[i]);
      }
    }

    // ---- kernels
    void rows() {
      const std::int64_t begin = range.first(SplitAxis::rows), count = range.last(SplitAxis::rows, value(k->rows)),
                         first = range.first(SplitAxis::cols), columns = range.last(SplitAxis::cols, value(k->cols));
      if (first == 0 && count - begin > 1 && columns > 0 && columns <= short_row && rows_stand_alone()) {
        const std::int64_t together = tile_elements / columns;
        for (std::int64_t row = begin; row < count; row += together)
          several_rows(row, least(together, count - row), columns);
        return;
      }
      for (std::int64_t row = begin; row < count; ++row) {
        if (row == begin || needs_row_segment()) row_segment(0, row);
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
          row_segment(s + 1, row);
        }
      }
    }
    /// Rows of up to this many columns go through a tile together: a step costs some 20 ns however short
    /// it is (20,000 rows of 8: 5 us a row before).
    static constexpr std::int64_t short_row = tile_elements / 4;
    /// Nothing is reduced or stored once a row, and no access has columns in runs.
    bool rows_stand_alone() const {
      if (k->sweeps != 1 || k->tile > 0 || k->segment[2] != k->segment[3] || has_reduction(1)) return false;
      for (int i = k->segment[0]; i < k->segment[2]; ++i) {
        const Instruction& x = plan.instructions[i];
        if (x.access < 0) continue;
        const Access& m = plan.accesses[x.access];
        if (m.column_terms > 0 || (x.op == Op::store && (i < k->segment[1] || m.column == Extent(0)))) return false;
      }
      return true;
    }
    void several_rows(std::int64_t row, std::int64_t count, std::int64_t columns) {
      for (int i = k->segment[0]; i < k->segment[2]; ++i) {
        const Instruction& x = plan.instructions[i];
        if (x.op == Op::load || x.op == Op::iota || x.op == Op::store)
          with_dtype(x.dtype, [&]<class T>(T) { move_rows<T>(x, row, count, columns); });
        else step(i, row, 0, count * columns);
      }
    }
    /// Loads, places and stores, one row behind the other in the tile.
    template <class T>
    void move_rows(const Instruction& x, std::int64_t row, std::int64_t count, std::int64_t columns) {
      const Access& m = plan.accesses[x.access];
      const std::int64_t stride = value(m.column);
      T* const memory = x.op == Op::iota ? nullptr : reinterpret_cast<T*>(buffer(m.buffer));
      if (x.op == Op::store) {
        const T* from = reinterpret_cast<const T*>(reg(x.dtype, x.a));
        for (std::int64_t r = 0; r < count; ++r, from += columns) {
          T* p = memory + m.row_offset(row + r, symbols);
          for (std::int64_t c = 0; c < columns; ++c) p[c * stride] = from[c];
        }
        return;
      }
      const int number = register_number(x.dtype, x.result);
      registers[number] = own_tile(number);
      T* to = reinterpret_cast<T*>(own_tile(number));
      for (std::int64_t r = 0; r < count; ++r, to += columns) {
        const std::int64_t base = m.row_offset(row + r, symbols);
        if (x.op == Op::iota)
          for (std::int64_t c = 0; c < columns; ++c) to[c] = static_cast<T>(base + c * stride);
        else  // as bytes: what nobody reads need be no bool
          for (std::int64_t c = 0; c < columns; ++c) std::memcpy(to + c, memory + base + c * stride, sizeof(T));
      }
    }
    bool needs_row_segment() const {
      for (int i = k->segment[0]; i < k->segment[1]; ++i)
        if (plan.instructions[i].op != Op::constant) return true;
      return false;
    }
    bool has_reduction(int s) const {
      for (int i = k->segment[s]; i < k->segment[s + 1]; ++i)
        if (is_reduction(plan.instructions[i].op)) return true;
      return false;
    }
    static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

    /// Element 0 of the lanes becomes the sum of all.
    template <Op K, class T>
    static T fold_lanes(T* lane) {
      for (int w = reduction_lanes / 2; w >= lanes; w /= 2)
        for (int l = 0; l < w; l += lanes)
          cpu::store(lane + l, combine<K>(cpu::load(lane + l), cpu::load(lane + l + w)));
      for (int w = (lanes < reduction_lanes ? lanes : reduction_lanes) / 2; w > 0; w /= 2)
        for (int l = 0; l < w; ++l) lane[l] = tt::detail::combine<K>(lane[l], lane[l + w]);
      return lane[0];
    }
    template <class T>
    void set_row_value(const Instruction& x, T v) {
      const int number = register_number(x.dtype, x.result);
      registers[number] = own_tile(number);
      fill(reinterpret_cast<T*>(own_tile(number)), v, repeats());
    }
    void reducing_sweep(int s, std::int64_t row, std::int64_t columns) {
      if (columns <= row_block) {
        each_reduction(s, [&]<Op K, class T>(const Instruction&, int r) {
          fill(lane_memory<T>(r), tt::detail::identity<K, T>(), reduction_lanes);
        });
        for (std::int64_t col = 0; col < columns; col += tile_elements)
          vector_segment(s, row, col, least(tile_elements, columns - col));
        each_reduction(s, [&]<Op K, class T>(const Instruction& x, int r) {
          set_row_value(x, fold_lanes<K>(lane_memory<T>(r)));
        });
        return;
      }
      each_reduction(s, [&]<Op K, class T>(const Instruction&, int r) { new (trees + r) Trees{}; });
      for (std::int64_t block = 0; block < columns || block == 0; block += row_block) {
        each_reduction(s, [&]<Op K, class T>(const Instruction&, int r) {
          fill(lane_memory<T>(r), tt::detail::identity<K, T>(), reduction_lanes);
        });
        const std::int64_t end = least(columns, block + row_block);
        for (std::int64_t col = block; col < end; col += tile_elements)
          vector_segment(s, row, col, least(tile_elements, end - col));
        each_reduction(s, [&]<Op K, class T>(const Instruction&, int r) {
          trees[r].template of<T>().push(fold_lanes<K>(lane_memory<T>(r)), tt::detail::combine<K, T>);
        });
      }
      each_reduction(s, [&]<Op K, class T>(const Instruction& x, int r) {
        set_row_value(x, trees[r].template of<T>().result(tt::detail::identity<K, T>(), tt::detail::combine<K, T>));
      });
    }
    struct Trees {
      tt::detail::PairwiseTree<double> f64;
      tt::detail::PairwiseTree<float> f32;
      tt::detail::PairwiseTree<std::int64_t> i64;
      tt::detail::PairwiseTree<std::int32_t> i32;
      template <class T>
      auto& of() {
        if constexpr (std::is_same_v<T, float>) return f32;
        else if constexpr (std::is_same_v<T, double>) return f64;
        else if constexpr (std::is_same_v<T, std::int32_t>) return i32;
        else return i64;
      }
    };

    void cols() {
      const std::int64_t count = range.last(SplitAxis::rows, value(k->rows)), inner = value(k->inner),
                         columns = range.last(SplitAxis::cols, value(k->cols));
      for (std::int64_t row = range.first(SplitAxis::rows); row < count; ++row) {
        row_segment(0, row);
        for (std::int64_t col = range.first(SplitAxis::cols); col < columns; col += tile_elements)
          sum_columns(row, inner, col, least(tile_elements, columns - col));
      }
    }
    void sum_columns(std::int64_t row, std::int64_t inner, std::int64_t col, std::int64_t n) {
      int reductions = 0;
      each_reduction(1, [&]<Op, class T>(const Instruction&, int) { ++reductions; });
      int used = 0;
      std::uint64_t pushed = 0;
      const auto part = [&]<class T>(std::type_identity<T>, int level, int r) {
        return reinterpret_cast<T*>(parts + static_cast<std::size_t>(level * reductions + r) *
                                                     register_bytes);
      };
      const auto merge = [&] {  // the newest two parts become one
        --used;
        each_reduction(1, [&]<Op K, class T>(const Instruction&, int r) {
          T* older = part(std::type_identity<T>{}, used - 1, r);
          const T* newer = part(std::type_identity<T>{}, used, r);
          for (std::int64_t i = 0; i < n; ++i) older[i] = tt::detail::combine<K>(older[i], newer[i]);
        });
      };
      for (std::int64_t block = 0; block < inner || block == 0; block += column_block) {
        each_reduction(1, [&]<Op K, class T>(const Instruction&, int r) {
          fill(lane_memory<T>(r), tt::detail::identity<K, T>(), n);
        });
        const std::int64_t end = least(inner, block + column_block);
        for (std::int64_t q = block; q < end; ++q) vector_segment(1, row * inner + q, col, n);
        each_reduction(1, [&]<Op K, class T>(const Instruction&, int r) {
          std::memcpy(part(std::type_identity<T>{}, used, r), lane_memory<T>(r),
                      static_cast<std::size_t>(n) * sizeof(T));
        });
        ++used;
        for (std::uint64_t m = pushed++; m & 1; m >>= 1) merge();
      }
      while (used > 1) merge();
      each_reduction(1, [&]<Op K, class T>(const Instruction& x, int r) {
        const int number = register_number(x.dtype, x.result);
        registers[number] = own_tile(number);
        std::memcpy(own_tile(number), part(std::type_identity<T>{}, 0, r),
                    static_cast<std::size_t>(n) * sizeof(T));
      });
      vector_segment(2, row, col, n);
    }

    static void any_product(void* worker) {
      Worker& w = *static_cast<Worker*>(worker);
      with_dtype(w.k->dtype, [&]<class T>(T) {
        if constexpr (!std::is_same_v<T, bool>) w.product_of<T>();
      });
    }
    void product() {
#if defined(TT_BUILD)
      any_product(this);
#else
      const ProductFunction enlisted = __atomic_load_n(&enlisted_product, __ATOMIC_ACQUIRE);
      if (!enlisted) tt::detail::not_enlisted("matmul");
      enlisted(this);
#endif
    }
    template <class T>
    void product_of() {
      const Access &xa = plan.accesses[k->a], &xb = plan.accesses[k->b];
      if (!function) row_segment(0, 0);
      const std::int64_t rows_all = value(k->rows), row0 = range.first(SplitAxis::rows), col0 = range.first(SplitAxis::cols),
                         batch = range.last(SplitAxis::batch, value(k->batch));
      for (std::int64_t q = range.first(SplitAxis::batch); q < batch; ++q) {
        MatmulOperands<T> m{range.last(SplitAxis::rows, rows_all) - row0,
                            range.last(SplitAxis::cols, value(k->cols)) - col0, value(k->inner),
                            reinterpret_cast<const T*>(buffer(xa.buffer)) + xa.row_offset(q, symbols) + row0 * value(k->a_row),
                            value(k->a_row), value(k->a_inner),
                            reinterpret_cast<const T*>(buffer(xb.buffer)) + xb.row_offset(q, symbols) + col0 * value(k->b_column),
                            value(k->b_inner), !xb.guarded};
        if (k->pack >= 0) {
          T* packed = reinterpret_cast<T*>(buffer(k->pack));
          transpose_into(m.b, value(k->b_column), m.b_inner, m.cols, m.inner, packed,
                         value(k->pack_row));
          m.b = packed;
          m.b_inner = value(k->pack_row);
          m.b_padded = k->pack_row.is_constant();
        }
        T* panel = k->panel >= 0 ? reinterpret_cast<T*>(buffer(k->panel)) : nullptr;
        matmul<T, -1, -1>(m, panel, [&](std::int64_t i, std::int64_t j, int rows_, int vectors,
                                        int last, const T* t) {
          for (int y = 0; y < rows_; ++y) {
            const std::int64_t row = q * rows_all + row0 + i + y, col = col0 + j, n = (vectors - 1) * lanes + last;
            tile = t + y * vectors * lanes;
            if (function)
              reinterpret_cast<EpilogueFunction>(function)(operands, given, row, col, n, tile);
            else vector_segment(1, row, col, n);
          }
        });
      }
    }
  };

  struct Run {
    const TileProgram& program;
    const Plan& plan;
    void* const* external;
    const SymbolValues& symbols;
    const Placement* placement;
    Placement own;               // where no placement is kept
    long long given[max_symbols];
    std::byte* arena = nullptr;
    Worker first;
    Worker* others = nullptr;    // in memory that is not destroyed, nor are they

    Run(const TileProgram& p, void* const* ext, const SymbolValues& s)
        : program(p), plan(p.plan_), external(ext), symbols(s), placement(p.find_placement(s)), first(p, s, given) {
      if (!placement) {
        own.offsets = Vec<std::int64_t>(plan.buffers.size() + 1, 0);
        own.arena = p.place(s, own.offsets);
        placement = &own;
      }
      for (int i = 0; i < max_symbols; ++i) given[i] = symbols.value[i];
      const std::size_t begin = Worker::rounded(static_cast<std::size_t>(placement->arena));
      arena = workspace().get(first.place(nullptr, begin));
      first.place(arena, begin);
    }
    Run(const Run&) = delete;

    /// How many kernels ran compiled.
    int all() {
      int compiled = 0;
      const int threads = ThreadPool::in_worker() ? 1 : get_num_threads();
      for (int j = 0; j < plan.kernels.size(); ++j) {
        const Kernel& k = plan.kernels[j];  // one that shares its code has its own bindings
        void* const function = program.compiled_kernel(j);
        compiled += function != nullptr;
        first.begin_kernel(k, function);
        for (int b = 0; b < k.bindings; ++b) first.operands[b] = buffer(plan.bindings[k.first_binding + b]);
        Split split;
        if (threads > 1)
          split = split_kernel({k.kind, k.batch.value(symbols), k.rows.value(symbols), k.cols.value(symbols),
                                k.inner.value(symbols), program.columns_divide_[j] != 0}, threads);
        if (split.parts > 1) divided(split);
        else {
          first.range = {};
          first.work();
        }
      }
      return compiled;
    }
    std::byte* buffer(int b) const {
      const Buffer& x = plan.buffers[b];
      return x.external >= 0 ? static_cast<std::byte*>(external[x.external]) : arena + placement->offsets[b];
    }
    void divided(const Split& split) {
      const auto helpers = static_cast<std::size_t>(split.parts - 1);
      Worker counting(program, symbols, given);
      const std::size_t each = counting.join(first, nullptr, counting.place(nullptr, 0)),
                        begin = Worker::rounded(helpers * sizeof(Worker));
      std::byte* const memory = helpers_workspace().get(begin + helpers * each);
      others = reinterpret_cast<Worker*>(memory);
      first.range = split.part(0);
      for (std::size_t p = 0; p < helpers; ++p) {
        Worker& w = *new (others + p) Worker(program, symbols, given);
        std::byte* const its = memory + begin + p * each;
        w.join(first, its, w.place(its, 0));
        w.begin_kernel(*first.k, first.function);
        w.range = split.part(static_cast<int>(p) + 1);
      }
      ThreadPool::instance().run(
          split.parts,
          [](void* run, int p) {
            Run& r = *static_cast<Run*>(run);
            (p == 0 ? r.first : r.others[p - 1]).work();
          },
          this);
    }
  };
};

#if !defined(TT_COMPILED) || defined(TT_BUILD)
TT_INLINE TileProgram::TileProgram(Plan plan) : plan_(static_cast<Plan&&>(plan)) {
  for (const Instruction& x : plan_.instructions)
    functions_.push_back(tile_function(x.op, x.dtype, x.from, x.attribute));
  for (const Kernel& k : plan_.kernels) {
    compiled_.push_back(nullptr);
    columns_divide_.push_back(columns_divide(plan_, k));
    int registers = 0, reductions = 0;
    for (int r : k.registers) registers += r;
    for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i)
      reductions += is_reduction(plan_.instructions[i].op);
    int stores = 0;
    for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i)
      stores += plan_.instructions[i].op == Op::store;
    if (stores > most_stores_) most_stores_ = stores;
    if (k.bindings > most_bindings_) most_bindings_ = k.bindings;
    if (registers > most_registers_) most_registers_ = registers;
    if (reductions > most_reductions_) most_reductions_ = reductions;
  }
}
TT_INLINE void TileProgram::run(void* const* external, const SymbolValues& symbols) const {
  count_call(Run(*this, external, symbols).all());
}
#endif

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END

namespace tt {

template <class>
void enlist_products() {
  cpu::TileProgram::enlist_products();
}

}  // namespace tt
