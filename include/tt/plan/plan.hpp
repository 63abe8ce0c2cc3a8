// Plan: a scheduled graph. Kernels, their instructions, the accesses of the instructions, buffers and arena
// offsets; plain arrays, so that a plan is a value at compile time and at run time, and so that every
// executor reads the same data. Made by make_plan (memory.hpp).
//
// A kernel runs over a grid of rows x columns. Its instructions stand in segments: 0 once a row
// before the sweeps, 2p+1 for every vector of columns in sweep p, 2p+2 once a row after sweep p.
#pragma once
#include "tt/graph/graph.hpp"
#include "tt/graph/reduce_order.hpp"

namespace tt {

enum class KernelKind : std::uint8_t {
  rows,    ///< elementwise work and reductions along each row; without reductions one sweep
  cols,    ///< sums over rows for every column, then elementwise work
  matmul,  ///< products of matrices, then elementwise work on each tile
};
constexpr const char* name(KernelKind k) {
  constexpr const char* names[] = {"rows", "cols", "matmul"};
  return names[static_cast<int>(k)];
}

inline constexpr int max_sweeps = 6;
/// The most axes that the rows and the columns of a product's windows are made of, together.
inline constexpr int max_window_axes = 5;
/// Rows inside a plan are padded to this many elements, on every machine.
inline constexpr int row_padding = 16;
/// A long chain of elementwise ops runs as several short loops over tiles of this many columns, one
/// for each step of the longest chain of transcendental calls: one deep loop is bound by latency
/// (measured: 2.0x on a chain with two exp, a log and a division).
inline constexpr int tile_columns = 1024, tiled_from_calls = 3;
/// Columns of b that a product first copies into a contiguous panel where b is slow to read in place: see needs_panel.
inline constexpr int panel_columns = 64;
/// Do so many rows of a pay for a panel? Rows of b a multiple of 2 KiB apart share few cache sets, and further apart each has a
/// page of its own; with many terms the panel stays in the cache, and a b with longer rows does not. Any other b is read in place as fast.
constexpr bool needs_panel(std::int64_t rows, std::int64_t inner, std::int64_t b_inner_bytes) {
  return rows >= 32 && inner >= 128 && b_inner_bytes > 0 && (b_inner_bytes % 2048 == 0 || (inner >= 1024 && b_inner_bytes >= 512));
}
/// A product with no more rows, columns and terms needs no panel.
inline constexpr int tiny_product = 8;
constexpr bool is_tiny(Extent rows, Extent cols, Extent inner) {
  for (Extent e : {rows, cols, inner})
    if (!e.is_constant() || e.code > tiny_product) return false;
  return true;
}
/// Treatment of an operand whose unit-stride axis is not its reader's column axis. materialized (CPUs): a transposed copy is
/// materialised first, in squares (see transpose.hpp), as the reader would take one element from each cache line. as_it_lies: read with strides.
enum class Transposed : std::uint8_t { materialized, as_it_lies };

/// Row r is at the sum over terms of (r / divisor % modulus) * stride; modulus 0 means none. Columns
/// have terms too where several axes are merged into the column axis, but not in the operand's memory.
struct Term {
  Extent divisor = 1, modulus = 0, stride = 0;
  /// The term for the sizes of one call, as integers.
  struct Numbers {
    std::int64_t divisor, modulus, stride;
    constexpr std::int64_t at(std::int64_t index) const {
      const std::int64_t k = divisor == 1 ? index : index / divisor;
      return (modulus == 0 ? k : k % modulus) * stride;
    }
  };
  constexpr Numbers numbers(const SymbolValues& s) const { return {divisor.value(s), modulus.value(s), stride.value(s)}; }
  constexpr std::int64_t at(std::int64_t index, const SymbolValues& s) const { return numbers(s).at(index); }
  friend constexpr bool operator==(const Term&, const Term&) = default;
};

/// Where element (row, column) of an operand is. Its terms are in the plan's list, which functions take as `terms`.
struct Access {
  int buffer = -1;       ///< number among the kernel's operands; -1: the offset itself is the value (iota)
  Extent offset = 0;
  Extent column = 0;     ///< stride along a row: 1, 0 (the same for all columns), or any
  int first_term = 0;    ///< in the plan's list
  int term_count = 0;    ///< of rows
  int column_terms = 0;  ///< after the terms of rows, innermost first; then `column` holds within a run only
  bool guarded = false;  ///< nothing beyond the last column may be touched
  bool overread = false; ///< a load may read a step beyond the last column, although guarded
  bool tiled = false;    ///< columns count from the begin of the tile (scratch of a tiled kernel)

  constexpr int terms() const { return term_count + column_terms; }
  /// Term i: terms of the rows first, then those of the columns.
  constexpr const Term& term(const Term* terms, int i) const { return terms[first_term + i]; }
  constexpr std::int64_t row_offset(const Term* terms, std::int64_t row, const SymbolValues& s) const {
    std::int64_t at = offset.value(s);
    for (int i = 0; i < term_count; ++i) at += term(terms, i).at(row, s);
    return at;
  }
  /// The length of a run: up to its next multiple, columns are `column` elements apart.
  constexpr Extent run(const Term* terms) const {
    const Term& first = term(terms, term_count);
    return first.divisor == Extent(1) ? first.modulus : first.divisor;
  }
  constexpr std::int64_t column_offset(const Term* terms, std::int64_t col, const SymbolValues& s) const {
    if (column_terms == 0) return col * column.value(s);
    std::int64_t at = 0;
    for (int i = term_count; i < term_count + column_terms; ++i) at += term(terms, i).at(col, s);
    return at;
  }
  constexpr bool equals(const Access& o, const Term* terms) const {
    if (buffer != o.buffer || offset != o.offset || column != o.column || guarded != o.guarded || overread != o.overread ||
        tiled != o.tiled || term_count != o.term_count || column_terms != o.column_terms)
      return false;
    for (int i = 0; i < term_count + column_terms; ++i)
      if (!(term(terms, i) == o.term(terms, i))) return false;
    return true;
  }
};
/// The accesses of a plan, with their terms.
struct Accesses {
  const Access* access;
  const Term* terms;
  constexpr const Access& operator[](int i) const { return access[i]; }
};
template <class AnyPlan>
constexpr Accesses accesses_of(const AnyPlan& plan) {
  return {plan.accesses.begin(), plan.terms.begin()};
}

struct Instruction {
  Op op = Op::copy;
  DType dtype = DType::f32;  ///< of the result (of the value, for stores and reductions)
  DType from = DType::f32;   ///< of the operands, where that differs
  int result = -1, a = -1, b = -1, c = -1, d = -1;  ///< registers, numbered per dtype; d: only of calls that an interpreter keeps
  int attribute = 0;         ///< shift; code of an intrinsic, or max_opaque_ops + its index in DirectOps; number of a row scratch
  int access = -1;
  std::uint64_t bits = 0;    ///< a constant's value; of `extent` and `take` (distance between indices) the code of an Extent
  constexpr bool has_extent() const { return op == Op::extent || op == Op::take; }
  constexpr Extent extent() const { return Extent::from_code(static_cast<std::int64_t>(bits)); }
  friend constexpr bool operator==(const Instruction&, const Instruction&) = default;
};
/// The dtype of operand k of an instruction: a, b, c or d.
constexpr DType operand_dtype(const Instruction& x, int k) {
  if (is_logical(x.op) || (x.op == Op::where && k == 0)) return DType::boolean;
  const bool same = x.op == Op::store || x.op == Op::where || x.op == Op::call || is_arithmetic(x.op) || is_reduction(x.op);
  return same ? x.dtype : x.from;
}

struct Kernel {
  KernelKind kind = KernelKind::rows;
  Extent rows = 1, cols = 1;
  Extent inner = 1;          ///< matmul: K; cols: rows summed for each of `rows` results
  bool row_order = false;    ///< cols: in the order of a row's sum (ColumnParts)
  int sweeps = 1;
  int segment[2 * max_sweeps + 2] = {};
  int registers[dtype_count] = {};
  int scratch = 0;           ///< rows kept in cache between sweeps
  int tile = 0;              ///< columns of a tile: all sweeps run over a tile before the next one; 0: over the whole row
  SourceLine where{};        ///< for listings: the line of the node that gave the kernel its shape
  // matmul
  Extent batch = 1;
  DType dtype = DType::f32;
  int a = -1, b = -1;        ///< accesses, whose rows are the batches
  int panel = -1;            ///< operand: room for 64 columns of b, see panel_columns
  int windows = -1;          ///< access to b, whose rows and columns have terms: b is read through the panel
  Extent a_row = 0, a_inner = 0, b_inner = 0, b_column = 1;
  // where its operands are bound
  int first_binding = 0, bindings = 0;
  int code = -1;             ///< the kernel whose function this one calls: equal code exists once

  constexpr bool same_code(const Kernel& o) const {
    for (int d = 0; d < dtype_count; ++d)
      if (registers[d] != o.registers[d]) return false;
    return kind == o.kind && rows == o.rows && cols == o.cols && inner == o.inner && row_order == o.row_order &&
           sweeps == o.sweeps && scratch == o.scratch && tile == o.tile && batch == o.batch && dtype == o.dtype &&
           a_row == o.a_row && a_inner == o.a_inner && b_inner == o.b_inner &&
           b_column == o.b_column && (panel < 0) == (o.panel < 0) &&
           (windows < 0) == (o.windows < 0) &&
           bindings == o.bindings;
  }
};

/// The row term of stride 1, by which neighbouring rows are adjacent in memory, or -1.
constexpr int neighbours_term(const Access& a, const Term* terms) {
  for (int i = 0; i < a.term_count; ++i)
    if (a.term(terms, i).stride == Extent(1)) return i;
  return -1;
}
/// Does the kernel only copy rows whose elements are not contiguous, but a constant step apart (maybe negative), into contiguous rows?
constexpr bool materializes_rows(const Kernel& k, const Instruction* instructions, Accesses accesses) {
  if (k.kind != KernelKind::rows || k.sweeps != 1 || k.tile > 0 || k.segment[1] != k.segment[0] ||
      k.segment[2] != k.segment[1] + 2 || k.segment[3] != k.segment[2])
    return false;
  const Instruction &load = instructions[k.segment[1]], &store = instructions[k.segment[1] + 1];
  if (load.op != Op::load || store.op != Op::store) return false;
  const Access &from = accesses[load.access], &to = accesses[store.access];
  return from.column_terms == 0 && from.column != Extent(0) && from.column != Extent(1) && to.column_terms == 0 && to.column == Extent(1);
}
/// Is this a materializes_rows kernel in whose source elements of neighbouring rows are adjacent? Then it exchanges rows and columns.
constexpr bool is_transposition(const Kernel& k, const Instruction* instructions, Accesses accesses) {
  return materializes_rows(k, instructions, accesses) && neighbours_term(accesses[instructions[k.segment[1]].access], accesses.terms) >= 0;
}

struct Buffer {
  DType dtype = DType::f32;
  Extent size = 1;        ///< elements, padding included
  int external = -1;      ///< argument number, or -1: in the arena
  std::int64_t offset = 0;  ///< bytes into the arena
  int first = -1, last = -1;  ///< kernels between which it lives
  int node = -1;
  bool padded = false;    ///< external, and a step beyond its last element may be touched
  bool scratch = false;   ///< of one kernel and one thread
};

/// The plan as vectors, as lowering makes it.
struct Plan {
  Vec<Kernel> kernels;
  Vec<Instruction> instructions;
  Vec<Access> accesses;
  Vec<Term> terms;
  Vec<Buffer> buffers;
  Vec<int> bindings;
  std::int64_t arena = 0;  ///< bytes
  int externals = 0;       ///< inputs, then outputs that are not donated
  int nodes = 0;
  int symbols = max_symbols;  ///< or more: the number of symbol values that a program is given
  Failure failure;
};

/// A plan in arrays of exact size, for constant expressions.
template <int Kernels, int Instructions, int AccessCount, int Terms, int Buffers, int Bindings>
struct FixedPlan {
  template <class T, int N>
  struct List {
    T item[N > 0 ? N : 1] = {};
    constexpr const T& operator[](int i) const { return item[i]; }
    constexpr T& operator[](int i) { return item[i]; }
    static constexpr int size() { return N; }
    constexpr const T* begin() const { return item; }
    constexpr const T* end() const { return item + N; }
  };
  List<Kernel, Kernels> kernels;
  List<Instruction, Instructions> instructions;
  List<Access, AccessCount> accesses;
  List<Term, Terms> terms;
  List<Buffer, Buffers> buffers;
  List<int, Bindings> bindings;
  std::int64_t arena = 0;
  int externals = 0, nodes = 0;
};

/// A plan with its name in a generated text, which may hold several plans.
struct NamedPlan {
  const Plan* plan = nullptr;
  const char* name = "";
  int first = 0, last = INT32_MAX;  ///< its kernels [first, last), as far as it has them
  int end() const { return last < plan->kernels.size() ? last : plan->kernels.size(); }
};

}  // namespace tt
