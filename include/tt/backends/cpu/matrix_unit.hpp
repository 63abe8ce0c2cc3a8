// Matrix products by AMX, the matrix unit of x86 server processors: 8-bit integers, whose 32-bit sums are exact modulo 2^32 in any
// order, and bf16 with fast numerics. One instruction multiplies 16 rows of 64 bytes by 16 columns of 64 bytes.
#pragma once
#include <vector>

#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/backends/cpu/transpose.hpp"

#if TT_AVX512 && defined(__linux__) && !defined(__CUDACC__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {
namespace detail {

#if TT_AVX512 && defined(__linux__) && !defined(__CUDACC__)

/// Is the unit available for bf16 (of_floats) or integers? Linux saves its registers only for processes that have asked for it. From then
/// on signal frames are 8 KB larger: sigaltstack requires that much, and if a thread has a smaller stack already, the request fails.
inline bool has_matrix_unit(bool of_floats) {
  static const bool asked = [] {
    constexpr long request = 0x1023, registers = 18;  // ARCH_REQ_XCOMP_PERM, of TILEDATA: asm/prctl.h
    return __builtin_cpu_supports("amx-tile") && syscall(SYS_arch_prctl, request, registers) == 0;
  }();
  return asked && (of_floats ? __builtin_cpu_supports("amx-bf16") : __builtin_cpu_supports("amx-int8"));
}

/// The rows of a register, and the bytes of a row.
inline constexpr int unit_rows = 16, unit_bytes = 64;
/// During its lifetime the registers are configured as 16 rows of 64 bytes each.
class MatrixRegisters {
 public:
  MatrixRegisters() {
    struct alignas(64) {
      std::uint8_t palette = 1, start = 0, reserved[14]{};
      std::uint16_t bytes[16]{};
      std::uint8_t rows[16]{};
    } shapes;
    for (int k = 0; k < 8; ++k) shapes.bytes[k] = unit_bytes, shapes.rows[k] = unit_rows;
    __asm__ volatile("ldtilecfg %0" : : "m"(shapes));
  }
  MatrixRegisters(const MatrixRegisters&) = delete;
  MatrixRegisters& operator=(const MatrixRegisters&) = delete;
  ~MatrixRegisters() { __asm__ volatile("tilerelease"); }
};

// Four sums, of two blocks of rows and two of columns: registers 0 to 3. Without -mamx-tile the compiler does not use these registers.
inline void clear_sums() { __asm__ volatile("tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3" : :); }
/// Adds two blocks of rows times two blocks of columns to the sums.
template <class A, class B>
TT_ALWAYS_INLINE void add_products(const void* upper, const void* lower, std::int64_t pitch, const void* left, const void* right) {
  __asm__ volatile("tileloadd {(%0,%2,1), %%tmm4|%%tmm4, [%0+%2*1]}\n\ttileloadd {(%1,%2,1), %%tmm5|%%tmm5, [%1+%2*1]}\n\ttileloadd {(%3,%5,1), %%tmm6|%%tmm6, [%3+%5*1]}\n\ttileloadd {(%4,%5,1), %%tmm7|%%tmm7, [%4+%5*1]}"
                   :
                   : "r"(upper), "r"(lower), "r"(pitch), "r"(left), "r"(right), "r"(std::int64_t{unit_bytes})
                   : "memory");
  constexpr bool signed_a = std::is_signed_v<A>, signed_b = std::is_signed_v<B>;
  if constexpr (sizeof(A) == 2) __asm__ volatile("tdpbf16ps {%%tmm6, %%tmm4, %%tmm0|%%tmm0, %%tmm4, %%tmm6}\n\ttdpbf16ps {%%tmm7, %%tmm4, %%tmm1|%%tmm1, %%tmm4, %%tmm7}\n\ttdpbf16ps {%%tmm6, %%tmm5, %%tmm2|%%tmm2, %%tmm5, %%tmm6}\n\ttdpbf16ps {%%tmm7, %%tmm5, %%tmm3|%%tmm3, %%tmm5, %%tmm7}" : :);
  else if constexpr (signed_a && signed_b) __asm__ volatile("tdpbssd {%%tmm6, %%tmm4, %%tmm0|%%tmm0, %%tmm4, %%tmm6}\n\ttdpbssd {%%tmm7, %%tmm4, %%tmm1|%%tmm1, %%tmm4, %%tmm7}\n\ttdpbssd {%%tmm6, %%tmm5, %%tmm2|%%tmm2, %%tmm5, %%tmm6}\n\ttdpbssd {%%tmm7, %%tmm5, %%tmm3|%%tmm3, %%tmm5, %%tmm7}" : :);
  else if constexpr (signed_a) __asm__ volatile("tdpbsud {%%tmm6, %%tmm4, %%tmm0|%%tmm0, %%tmm4, %%tmm6}\n\ttdpbsud {%%tmm7, %%tmm4, %%tmm1|%%tmm1, %%tmm4, %%tmm7}\n\ttdpbsud {%%tmm6, %%tmm5, %%tmm2|%%tmm2, %%tmm5, %%tmm6}\n\ttdpbsud {%%tmm7, %%tmm5, %%tmm3|%%tmm3, %%tmm5, %%tmm7}" : :);
  else if constexpr (signed_b) __asm__ volatile("tdpbusd {%%tmm6, %%tmm4, %%tmm0|%%tmm0, %%tmm4, %%tmm6}\n\ttdpbusd {%%tmm7, %%tmm4, %%tmm1|%%tmm1, %%tmm4, %%tmm7}\n\ttdpbusd {%%tmm6, %%tmm5, %%tmm2|%%tmm2, %%tmm5, %%tmm6}\n\ttdpbusd {%%tmm7, %%tmm5, %%tmm3|%%tmm3, %%tmm5, %%tmm7}" : :);
  else __asm__ volatile("tdpbuud {%%tmm6, %%tmm4, %%tmm0|%%tmm0, %%tmm4, %%tmm6}\n\ttdpbuud {%%tmm7, %%tmm4, %%tmm1|%%tmm1, %%tmm4, %%tmm7}\n\ttdpbuud {%%tmm6, %%tmm5, %%tmm2|%%tmm2, %%tmm5, %%tmm6}\n\ttdpbuud {%%tmm7, %%tmm5, %%tmm3|%%tmm3, %%tmm5, %%tmm7}" : :);
}
/// Stores the sums as 32 rows and 32 columns of 32 bits.
inline void store_sums(void* to, std::int64_t pitch) {
  char* const p = static_cast<char*>(to);
  __asm__ volatile("tilestored {%%tmm0, (%0,%4,1)|[%0+%4*1], %%tmm0}\n\ttilestored {%%tmm1, (%1,%4,1)|[%1+%4*1], %%tmm1}\n\ttilestored {%%tmm2, (%2,%4,1)|[%2+%4*1], %%tmm2}\n\ttilestored {%%tmm3, (%3,%4,1)|[%3+%4*1], %%tmm3}"
                   :
                   : "r"(p), "r"(p + unit_bytes), "r"(p + unit_rows * pitch), "r"(p + unit_rows * pitch + unit_bytes), "r"(pitch)
                   : "memory");
}

/// A right side: consecutive elements of a column are `inner` apart, columns `line`.
template <class T>
struct UnitColumns {
  const T* data;
  std::int64_t line, inner, lines, elements;
  static constexpr std::int64_t step = unit_bytes / static_cast<std::int64_t>(sizeof(T));

  /// Elements k to k + step of 16 columns from `first` on in the unit's layout: the first 32 bits of each column, then the next 32 bits; zeros beyond the end.
  void read(std::int64_t first, std::int64_t k, std::uint32_t* to) const {
    const T* const from = data + first * line + k * inner;
    const std::int64_t n = lines - first < unit_rows ? lines - first : unit_rows, m = elements - k < step ? elements - k : step;
    const bool whole = n == unit_rows && m == step;
    if (line == 1 && whole) return interleave_rows(from, inner, reinterpret_cast<T*>(to));
    constexpr int word = 4 / static_cast<int>(sizeof(T));
    if (inner == 1 && whole && line % word == 0 && reinterpret_cast<std::uintptr_t>(from) % 4 == 0)
      return transpose_into(reinterpret_cast<const std::uint32_t*>(from), line / word, 1, unit_rows, unit_rows, to, unit_rows);
    alignas(64) T some[unit_rows * step] = {};
    for (std::int64_t l = 0; l < n; ++l)
      for (std::int64_t i = 0; i < m; ++i) some[l * step + i] = from[l * line + i * inner];
    transpose_into(reinterpret_cast<const std::uint32_t*>(some), unit_rows, 1, unit_rows, unit_rows, to, unit_rows);
  }

 private:
  /// From rows of 16 columns each: the elements that form 32 bits of a column, side by side.
  static void interleave_rows(const T* from, std::int64_t row, T* to) {
    constexpr int together = 4 / static_cast<int>(sizeof(T));
    typedef T Row __attribute__((vector_size(unit_rows * sizeof(T))));
    for (int q = 0; q < unit_rows; ++q, from += together * row, to += step) {
      Row r[together];
      for (int i = 0; i < together; ++i) std::memcpy(&r[i], from + i * row, sizeof(Row));
      constexpr std::make_index_sequence<unit_rows> each{};
      if constexpr (together == 2) {
        const Row out[2] = {interleave<false>(r[0], r[1], each), interleave<true>(r[0], r[1], each)};
        std::memcpy(to, out, sizeof out);
      } else {
        // Pairs of the first two rows and of the last two, then pairs of these.
        typedef std::int16_t Pairs __attribute__((vector_size(unit_rows)));
        const Pairs a[2] = {(Pairs)interleave<false>(r[0], r[1], each), (Pairs)interleave<true>(r[0], r[1], each)};
        const Pairs b[2] = {(Pairs)interleave<false>(r[2], r[3], each), (Pairs)interleave<true>(r[2], r[3], each)};
        constexpr std::make_index_sequence<unit_rows / 2> pairs{};
        const Pairs out[4] = {interleave<false>(a[0], b[0], pairs), interleave<true>(a[0], b[0], pairs), interleave<false>(a[1], b[1], pairs), interleave<true>(a[1], b[1], pairs)};
        std::memcpy(to, out, sizeof out);
      }
    }
  }
};

/// A left side in whole registers: the operand itself if its layout fits, or copies of some rows at a time, padded with zeros.
template <class T>
class UnitLeft {
 public:
  static constexpr std::int64_t step = unit_bytes / static_cast<std::int64_t>(sizeof(T)), most_copied = 1024;
  explicit UnitLeft(const ProductTiles& p) : p_(p), lies_whole_(p.a_inner == 1 && p.rows % unit_rows == 0 && p.inner % step == 0) {}
  std::int64_t rows_together() const { return lies_whole_ ? p_.rows : most_copied; }
  std::int64_t pitch() const { return lies_whole_ ? p_.a_row : whole_inner(); }  // elements
  /// The rows from `first` on; `count` rows must follow.
  const T* rows(std::int64_t first, std::int64_t count) {
    const T* const from = static_cast<const T*>(p_.a) + first * p_.a_row;
    if (lies_whole_) return from;
    copy_.assign(static_cast<std::size_t>((count + unit_rows - 1) / unit_rows * unit_rows * whole_inner()), T(0));
    T* const to = copy_.data();
    if (p_.a_inner == 1) {
      for (std::int64_t r = 0; r < count; ++r)
        if (p_.inner > 0) std::memcpy(to + r * whole_inner(), from + r * p_.a_row, static_cast<std::size_t>(p_.inner) * sizeof(T));
    } else {  // a few rows at a time: their elements may be consecutive
      for (std::int64_t begin = 0; begin < count; begin += unit_bytes)
        for (std::int64_t k = 0; k < p_.inner; ++k)
          for (std::int64_t r = begin; r < count && r < begin + unit_bytes; ++r) to[r * whole_inner() + k] = from[r * p_.a_row + k * p_.a_inner];
    }
    return to;
  }

 private:
  const ProductTiles& p_;
  const bool lies_whole_;
  std::vector<T> copy_;
  std::int64_t whole_inner() const { return (p_.inner + step - 1) / step * step; }
};

/// 64 columns at a time, over the whole inner extent, in p.panel, one pair of blocks after the other.
template <class Sum, class A, class B>
TT_NOINLINE void multiply_by_unit(const ProductTiles& p) {
  static_assert(sizeof(A) == sizeof(B));
  constexpr int pair = 2 * unit_rows, most_columns = 2 * pair;
  constexpr std::int64_t step = UnitLeft<A>::step, words = unit_rows * unit_bytes / 4;  // of a register
  UnitLeft<A> a(p);
  const UnitColumns<B> b{static_cast<const B*>(p.b), p.b_column, p.b_inner, p.cols, p.inner};
  auto* const right = static_cast<std::uint32_t*>(p.panel);
  alignas(64) Sum sums[pair * most_columns];
  const std::int64_t pitch = a.pitch(), together = a.rows_together();
  const MatrixRegisters registers;
  for (std::int64_t top = 0; top < p.rows; top += together) {
    const std::int64_t below = p.rows - top < together ? p.rows - top : together;
    const A* const left = a.rows(top, below);
    for (std::int64_t j = 0; j < p.cols; j += most_columns) {
      const int columns = p.cols - j < most_columns ? static_cast<int>(p.cols - j) : most_columns;
      std::uint32_t* to = right;
      for (int c = 0; c < columns; c += pair)
        for (std::int64_t k = 0; k < p.inner; k += step, to += 2 * words) {
          b.read(j + c, k, to);
          if (c + unit_rows < columns) b.read(j + c + unit_rows, k, to + words);
        }
      for (std::int64_t i = 0; i < below; i += pair) {
        const int rows = below - i < pair ? static_cast<int>(below - i) : pair;
        // Where a pair has only one block, that block is used twice; the second one's sums are ignored.
        const A *upper = left + i * pitch, *lower = rows > unit_rows ? upper + unit_rows * pitch : upper;
        const std::uint32_t* from = right;
        for (int c = 0; c < columns; c += pair) {
          const std::int64_t second = c + unit_rows < columns ? words : 0;
          clear_sums();
          for (std::int64_t k = 0; k < p.inner; k += step, from += 2 * words)
            add_products<A, B>(upper + k, lower + k, pitch * static_cast<std::int64_t>(sizeof(A)), from, from + second);
          store_sums(sums + c, most_columns * sizeof(Sum));
        }
        p.take(p.context, {top + i, j, rows, columns, most_columns, sums, true});
      }
    }
  }
}

/// Multiplies by the unit if it is available and supports these dtypes; else returns false and does nothing.
template <class Sum>
bool multiply_by_unit(const ProductTiles& p) {
  const auto is_byte = [](DType d) { return d == DType::i8 || d == DType::u8; };
  constexpr bool of_floats = std::is_floating_point_v<Sum>;
  if (!(of_floats ? p.a_dtype == DType::bf16 && p.b_dtype == DType::bf16 : is_byte(p.a_dtype) && is_byte(p.b_dtype)) || !has_matrix_unit(of_floats)) return false;
  if constexpr (of_floats) multiply_by_unit<Sum, std::uint16_t, std::uint16_t>(p);
  else if (p.a_dtype == DType::i8) p.b_dtype == DType::i8 ? multiply_by_unit<Sum, std::int8_t, std::int8_t>(p) : multiply_by_unit<Sum, std::int8_t, std::uint8_t>(p);
  else p.b_dtype == DType::i8 ? multiply_by_unit<Sum, std::uint8_t, std::int8_t>(p) : multiply_by_unit<Sum, std::uint8_t, std::uint8_t>(p);
  return true;
}

#else

template <class Sum>
bool multiply_by_unit(const ProductTiles&) { return false; }

#endif

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
