// Instructions resolved for interpretation: ops become function pointers once a program, symbols become values once a run; plus loops
// over tiles that are no ops: values repeated or gathered.
//   TileStep x = ...;   const TileOperand in[] = {{tile[x.a]}, {tile[x.b]}};   x.function(tile[x.out], in, n, x.attribute, nullptr);
#pragma once
#include "tt/backends/cpu/tile_functions.hpp"
#include "tt/backends/cpu/tile_reductions.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// The elements of a tile; it has tile_margin bytes more, as writes go up to the next multiple of `lanes`.
inline constexpr int tile_elements = 2048;
inline constexpr std::size_t tile_margin = 128;
static_assert(tile_elements >= tile_columns && tile_margin >= 8 * most_lanes && lanes <= most_lanes);
constexpr std::size_t tile_bytes(DType d) {
  return tile_elements * static_cast<std::size_t>(size_of(d)) + tile_margin;
}

/// The number of each dtype's first register; the last register stands for operands that an op does not have.
struct TileRegisters {
  int base[dtype_count + 1] = {};
  explicit TileRegisters(const Kernel& k) {
    for (int d = 0; d < dtype_count; ++d) base[d + 1] = base[d] + k.registers[d];
  }
  int none() const { return base[dtype_count]; }
  int number(DType d, int i) const { return i < 0 ? none() : base[static_cast<int>(d)] + i; }
  int result(const Instruction& x) const { return number(x.dtype, x.result); }
  int a(const Instruction& x) const { return number(operand_dtype(x, 0), x.a); }
  int b(const Instruction& x) const { return number(operand_dtype(x, 1), x.b); }
  int c(const Instruction& x) const { return number(operand_dtype(x, 2), x.c); }
  int d(const Instruction& x) const { return number(operand_dtype(x, 3), x.d); }
};

/// The layout of a register: a tile; one vector used for all columns (repeated); or, for rows that share a tile, memory in place: rows that are
/// `apart` bytes from each other, or one element for each row (row_values).
struct TileLayout {
  enum class Kind : std::uint8_t { tile, repeated, rows, row_values };
  Kind kind = Kind::tile;
  std::int64_t apart = 0;
};

struct TileStep {
  enum class Kind : std::uint8_t { call, fixed, place, load, take, store, accumulator, reduce, none };
  Kind kind = Kind::call;
  bool linear = true;    ///< rows are row_stride apart
  bool in_place = false; ///< a load: memory may stand for the tile
  bool of_row = false;   ///< a take: all elements of a row have the same index
  bool of_row_value = false;  ///< and that index is computed once a row
  bool spread = false;   ///< a row's value that is used with columns
  bool whole = false;    ///< must be a tile when used with columns: its reader takes no repeated operands
  bool by_rows = false;  ///< a load or row's value that may stay in place where several rows share a tile, as all its readers on columns take TileRows
  bool reads_rows = false;  ///< a call with such an operand
  bool of_products = false;  ///< a sum of a * b, whose multiplication is not a step of its own
  bool kept = false;     ///< of a scratch row, which is a tile where several rows share one
  int out = 0, a = 0, b = 0, c = 0, d = 0;  ///< registers; TileRegisters::none() for missing operands
  int tile = 0;          ///< number of the result's own tile
  int attribute = 0;
  int reduction = -1;    ///< index among its segment's reductions
  int direct = -1;       ///< a call: the store to whose memory the result is written directly
  TileFunction function = nullptr;
  const ReductionTiles* reduce = nullptr;  ///< of a reduction; tree: combines the blocks of a row
  const ReductionTree* tree = nullptr;
  const Instruction* x = nullptr;
  const Access* access = nullptr;
  const Term* terms = nullptr;   ///< of the access
  std::byte* memory = nullptr;   ///< address of row 0
  std::int64_t offset = 0;       ///< of row 0 in memory; of a place: the value of element 0; of a fixed step: the bytes of its value
  std::int64_t row_stride = 0, stride = 0;  ///< in elements
  std::int64_t apart = 0;        ///< of a take: elements from one index to the next

  bool reads() const { return kind == Kind::load || kind == Kind::take; }
  std::int64_t row(std::int64_t r, const SymbolValues& s) const {
    if (linear) return r * row_stride;
    std::int64_t at = 0;
    for (int i = 0; i < access->term_count; ++i) at += terms[i].at(r, s);
    return at;
  }
};

/// The offsets of consecutive rows: runs of equally spaced rows, without a division for each row.
class RowRuns {
 public:
  std::int64_t at, step, count;  ///< the run: elements from row 0 to its first row, and from one row to the next; its number of rows

  RowRuns(const TileStep& x, std::int64_t row, const SymbolValues& s) : at(x.row(row, s)), step(x.row_stride), count(INT64_MAX) {
    if (x.linear) return;
    for (int k = 0; k < x.access->term_count; ++k) {
      const Term& from = x.terms[k];
      Counter& c = counter_[counters_++];
      c.divisor = from.divisor.value(s);
      c.modulus = from.modulus.value(s);
      c.stride = from.stride.value(s);
      c.rest = c.divisor - row % c.divisor;
      c.left = c.modulus > 0 ? c.modulus - row / c.divisor % c.modulus : INT64_MAX;
    }
    find_run();
  }
  /// Advances to the next run.
  void next() {
    for (int k = 0; k < counters_; ++k) {
      Counter& c = counter_[k];
      if (c.divisor == 1) {
        at += count * c.stride;
        c.left -= count;
      } else if ((c.rest -= count) == 0) {
        c.rest = c.divisor;
        at += c.stride;
        --c.left;
      }
      if (c.left > 0) continue;
      c.left = c.modulus;
      at -= c.modulus * c.stride;
    }
    find_run();
  }

 private:
  struct Counter {
    std::int64_t divisor, modulus, stride;
    std::int64_t rest, left;  ///< rows until the quotient increases, and increases until it starts again at 0
  };
  int counters_ = 0;
  Counter counter_[max_rank];

  void find_run() {
    count = INT64_MAX;
    step = 0;
    for (int k = 0; k < counters_; ++k) {
      const Counter& c = counter_[k];
      if (c.divisor == 1) step = c.stride;
      const std::int64_t rows = c.divisor == 1 ? c.left : c.rest;
      if (rows < count) count = rows;
    }
  }
};

namespace detail {

/// Calls f with an integer of an element's size: sufficient for code that only moves elements.
template <class F>
TT_ALWAYS_INLINE void with_size(DType d, F f) {
  switch (size_of(d)) {
    case 1: f(std::uint8_t{}); break;
    case 2: f(std::int16_t{}); break;
    case 4: f(std::int32_t{}); break;
    default: f(std::int64_t{});
  }
}
template <class T>
TT_ALWAYS_INLINE T element(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
/// Writes *v n times, and up to the next multiple of `lanes`.
template <class T>
TT_ALWAYS_INLINE void repeat(std::byte* to, const void* v, std::int64_t n) {
  if constexpr (sizeof(T) == 1) {
    std::memset(to, element<T>(v), static_cast<std::size_t>(n));
  } else {
    const Pack<T> p = Carrier<Pack<T>>::splat(element<T>(v));
    for (std::int64_t i = 0; i < n; i += lanes) store(reinterpret_cast<T*>(to) + i, p);
  }
}

#if !defined(__CUDACC__)
template <class V, std::size_t... I>
TT_ALWAYS_INLINE V every_second(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(2 * I)...);
}
template <class V, std::size_t... I>
TT_ALWAYS_INLINE V reversed(V a, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, a, static_cast<int>(sizeof...(I) - 1 - I)...);
}
#endif
/// Copies elements that are `stride` apart to contiguous memory.
template <class T>
TT_ALWAYS_INLINE void gather(T* to, const T* from, std::int64_t n, std::int64_t stride) {
  std::int64_t i = 0;
#if !defined(__CUDACC__)
  if constexpr (sizeof(T) >= 4) {
    typedef T Vector __attribute__((vector_size(sizeof(xsimd::batch<float>))));
    constexpr int width = sizeof(Vector) / sizeof(T);
    if (stride == 2)
      for (; i + width < n; i += width) {  // the second register ends one element behind the last one taken
        Vector first, second;  // g++ 12 writes one array of both to the stack
        std::memcpy(&first, from + 2 * i, sizeof first);
        std::memcpy(&second, from + 2 * i + width, sizeof second);
        const Vector taken = every_second(first, second, std::make_index_sequence<width>{});
        std::memcpy(to + i, &taken, sizeof taken);
      }
    if (stride == -1)
      for (; i + width <= n; i += width) {
        Vector part;
        std::memcpy(&part, from - i - (width - 1), sizeof part);
        part = reversed(part, std::make_index_sequence<width>{});
        std::memcpy(to + i, &part, sizeof part);
      }
  }
#endif
#pragma GCC unroll 4
  for (; i < n; ++i) std::memcpy(to + i, from + i * stride, sizeof(T));
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
