// Products of matrices by the unit that x86 processors of servers have for them (AMX): integers of 8 bits, whose sums of 32 bits are exact modulo 2^32 in any
// order, and bf16 with fast numerics. A step multiplies 16 rows of 64 bytes by 16 columns of 64 bytes.
#pragma once
#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/backends/cpu/transpose.hpp"

#if TT_AVX512 && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {
namespace detail {

#if TT_AVX512 && defined(__linux__)

/// Is the unit there, for bf16 or for integers? Linux keeps its registers for processes that have asked for it.
inline bool has_matrix_unit(bool of_floats) {
  static const bool asked = [] {
    constexpr long request = 0x1023, registers = 18;  // ARCH_REQ_XCOMP_PERM, of TILEDATA: asm/prctl.h
    return __builtin_cpu_supports("amx-tile") && syscall(SYS_arch_prctl, request, registers) == 0;
  }();
  return asked && (of_floats ? __builtin_cpu_supports("amx-bf16") : __builtin_cpu_supports("amx-int8"));
}

/// Of a register: rows, bytes in a row.
inline constexpr int unit_rows = 16, unit_bytes = 64;
/// All registers have all rows, from here to the end of the scope.
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

/// Rows of 64 bytes in memory.
struct UnitRows {
  const void* data;
  std::int64_t pitch;  ///< bytes
};
// Four sums, of two blocks of rows and two of columns: registers 0 to 3. Without -mamx-tile the compiler knows no such registers, and keeps nothing there.
inline void clear_sums() { __asm__ volatile("tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3"); }
/// What lies in two blocks of rows times two of columns is added to the sums.
template <class A, class B>
TT_ALWAYS_INLINE void add_products(UnitRows upper, UnitRows lower, const void* left, const void* right) {
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm4\n\ttileloadd (%2,%3,1), %%tmm5\n\ttileloadd (%4,%6,1), %%tmm6\n\ttileloadd (%5,%6,1), %%tmm7"
                   :
                   : "r"(upper.data), "r"(upper.pitch), "r"(lower.data), "r"(lower.pitch), "r"(left), "r"(right), "r"(std::int64_t{unit_bytes})
                   : "memory");
  constexpr bool signed_a = std::is_signed_v<A>, signed_b = std::is_signed_v<B>;
  if constexpr (sizeof(A) == 2) __asm__ volatile("tdpbf16ps %tmm6, %tmm4, %tmm0\n\ttdpbf16ps %tmm7, %tmm4, %tmm1\n\ttdpbf16ps %tmm6, %tmm5, %tmm2\n\ttdpbf16ps %tmm7, %tmm5, %tmm3");
  else if constexpr (signed_a && signed_b) __asm__ volatile("tdpbssd %tmm6, %tmm4, %tmm0\n\ttdpbssd %tmm7, %tmm4, %tmm1\n\ttdpbssd %tmm6, %tmm5, %tmm2\n\ttdpbssd %tmm7, %tmm5, %tmm3");
  else if constexpr (signed_a) __asm__ volatile("tdpbsud %tmm6, %tmm4, %tmm0\n\ttdpbsud %tmm7, %tmm4, %tmm1\n\ttdpbsud %tmm6, %tmm5, %tmm2\n\ttdpbsud %tmm7, %tmm5, %tmm3");
  else if constexpr (signed_b) __asm__ volatile("tdpbusd %tmm6, %tmm4, %tmm0\n\ttdpbusd %tmm7, %tmm4, %tmm1\n\ttdpbusd %tmm6, %tmm5, %tmm2\n\ttdpbusd %tmm7, %tmm5, %tmm3");
  else __asm__ volatile("tdpbuud %tmm6, %tmm4, %tmm0\n\ttdpbuud %tmm7, %tmm4, %tmm1\n\ttdpbuud %tmm6, %tmm5, %tmm2\n\ttdpbuud %tmm7, %tmm5, %tmm3");
}
/// To 32 rows and 32 columns of 32 bits.
inline void store_sums(void* to, std::int64_t pitch) {
  char* const p = static_cast<char*>(to);
  __asm__ volatile("tilestored %%tmm0, (%0,%4,1)\n\ttilestored %%tmm1, (%1,%4,1)\n\ttilestored %%tmm2, (%2,%4,1)\n\ttilestored %%tmm3, (%3,%4,1)"
                   :
                   : "r"(p), "r"(p + unit_bytes), "r"(p + unit_rows * pitch), "r"(p + unit_rows * pitch + unit_bytes), "r"(pitch)
                   : "memory");
}

/// A left side, rows first, or a right side, columns first: elements along what is summed over lie `inner` apart.
template <class T>
struct UnitSide {
  const T* data;
  std::int64_t line, inner, lines, elements;
  static constexpr std::int64_t step = unit_bytes / static_cast<std::int64_t>(sizeof(T));

  /// Elements k to k + step of 16 lines from `first` on, one behind the other; zeros where there is none.
  void read(std::int64_t first, std::int64_t k, T* to) const {
    const std::int64_t n = lines - first < unit_rows ? lines - first : unit_rows, m = elements - k < step ? elements - k : step;
    if (n < unit_rows || m < step) std::memset(to, 0, unit_rows * unit_bytes);
    const T* const from = data + first * line + k * inner;
    for (std::int64_t l = 0; l < n; ++l)
      if (inner == 1) std::memcpy(to + l * step, from + l * line, static_cast<std::size_t>(m) * sizeof(T));
      else for (std::int64_t i = 0; i < m; ++i) to[l * step + i] = from[l * line + i * inner];
  }
  /// The same where it lies, or in `to`.
  UnitRows rows(std::int64_t first, std::int64_t k, T* to) const {
    if (inner == 1 && first + unit_rows <= lines && k + step <= elements) return {data + first * line + k, line * static_cast<std::int64_t>(sizeof(T))};
    read(first, k, to);
    return {to, unit_bytes};
  }
  /// The same as the unit takes a right side: the first 32 bits of each line, then the next ones.
  void columns(std::int64_t first, std::int64_t k, std::uint32_t* to) const {
    if (line == 1 && first + unit_rows <= lines && k + step <= elements) return interleave_rows(data + first + k * inner, inner, reinterpret_cast<T*>(to));
    alignas(64) T some[unit_rows * step];
    const bool in_words = line * static_cast<std::int64_t>(sizeof(T)) % 4 == 0;
    if (!in_words) read(first, k, some);
    const UnitRows from = in_words ? rows(first, k, some) : UnitRows{some, unit_bytes};
    transpose_into(static_cast<const std::uint32_t*>(from.data), from.pitch / 4, 1, unit_rows, unit_rows, to, unit_rows);
  }

 private:
  /// Of rows of 16 columns each: elements of 32 bits of a column, one beside the other.
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

/// 64 columns at a time, along all that is summed over, in p.panel, a pair of blocks behind the other; the rows of the left side are read where they lie.
template <class Sum, class A, class B>
TT_NOINLINE void multiply_by_unit(const ProductTiles& p) {
  static_assert(sizeof(A) == sizeof(B));
  constexpr int pair = 2 * unit_rows, most_columns = 2 * pair;
  constexpr std::int64_t step = UnitSide<A>::step, words = unit_rows * unit_bytes / 4;  // of a register
  const UnitSide<A> a{static_cast<const A*>(p.a), p.a_row, p.a_inner, p.rows, p.inner};
  const UnitSide<B> b{static_cast<const B*>(p.b), p.b_column, p.b_inner, p.cols, p.inner};
  auto* const right = static_cast<std::uint32_t*>(p.panel);
  alignas(64) Sum sums[pair * most_columns];
  alignas(64) A upper[unit_rows * step], lower[unit_rows * step] = {};
  const MatrixRegisters registers;
  for (std::int64_t j = 0; j < p.cols; j += most_columns) {
    const int columns = p.cols - j < most_columns ? static_cast<int>(p.cols - j) : most_columns;
    std::uint32_t* to = right;
    for (int c = 0; c < columns; c += pair)
      for (std::int64_t k = 0; k < p.inner; k += step, to += 2 * words) {
        b.columns(j + c, k, to);
        if (c + unit_rows < columns) b.columns(j + c + unit_rows, k, to + words);
      }
    for (std::int64_t i = 0; i < p.rows; i += pair) {
      const int rows = p.rows - i < pair ? static_cast<int>(p.rows - i) : pair;
      const std::uint32_t* from = right;
      for (int c = 0; c < columns; c += pair) {
        clear_sums();
        for (std::int64_t k = 0; k < p.inner; k += step, from += 2 * words) {
          const UnitRows first = a.rows(i, k, upper), second = rows > unit_rows ? a.rows(i + unit_rows, k, lower) : UnitRows{lower, unit_bytes};
          add_products<A, B>(first, second, from, c + unit_rows < columns ? from + words : from);
        }
        store_sums(sums + c, most_columns * sizeof(Sum));
      }
      p.take(p.context, {i, j, rows, columns, most_columns, sums, true});
    }
  }
}

/// Did the unit do it?
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
