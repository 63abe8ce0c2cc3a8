// Matrix products by instructions that add pairs of products: both sides are widened to lines of 16-bit elements along the inner extent.
// Integers stored in 8 or 16 bits: 32-bit sums are exact modulo 2^32 in any order. x86 processors have pmaddwd for them in every vector
// width (it does not saturate), or AVX-512 VNNI's vpdpwssd, which also adds to the sums. bf16, with fast numerics: AVX-512 BF16's
// vdpbf16ps, which rounds differently from f32 arithmetic. Where the processor has a matrix unit, matrix_unit.hpp is used instead.
#pragma once
#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/backends/cpu/transpose.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {
namespace detail {

/// A register of sums (std::uint32_t or float); Pairs: a register of as many pairs of 16 bits.
template <class Sum>
struct PairSums {
  typedef Sum Type __attribute__((vector_size(4 * lanes)));
};
using Pairs = PairSums<std::uint32_t>::Type;
/// The number of a line's elements per step; lines are padded with zeros.
inline constexpr std::int64_t line_step = 2 * lanes;
constexpr std::int64_t whole_steps(std::int64_t n) { return (n + line_step - 1) / line_step * line_step; }

/// Does the processor have vpdpwssd (integers) or vdpbf16ps (floats)? Checked at run time: AVX-512 kernels are compiled without a flag for them.
template <class Sum>
bool has_pair_instruction() {
#if TT_AVX512
  return std::is_floating_point_v<Sum> ? __builtin_cpu_supports("avx512bf16") : __builtin_cpu_supports("avx512vnni");  // a load of one word
#else
  return false;
#endif
}
/// sum + low(a) * low(b) + high(a) * high(b), of the halves of each 32 bits. HasInstruction: in a single instruction.
template <bool HasInstruction>
TT_ALWAYS_INLINE Pairs add_pairs(Pairs sum, Pairs a, Pairs b) {
#if TT_AVX512
  if constexpr (HasInstruction) {
    __asm__("vpdpwssd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  } else return sum + (Pairs)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return sum + (Pairs)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && !defined(__AVX__)
  return sum + (Pairs)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  typedef std::int32_t Signed __attribute__((vector_size(4 * lanes)));
  const auto low = [](Pairs x) { return (Pairs)((Signed)(x << 16) >> 16); };
  const auto high = [](Pairs x) { return (Pairs)((Signed)x >> 16); };
  return sum + low(a) * low(b) + high(a) * high(b);
#endif
}
/// The same for bf16. The version without the instruction only serves tests, as f32 products are quicker then.
template <bool HasInstruction>
TT_ALWAYS_INLINE PairSums<float>::Type add_pairs(PairSums<float>::Type sum, Pairs a, Pairs b) {
  using Floats = PairSums<float>::Type;
#if TT_AVX512
  if constexpr (HasInstruction) {
    __asm__("vdpbf16ps {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  }
#endif
  return sum + (Floats)(a << 16) * (Floats)(b << 16) + (Floats)(a & 0xffff0000u) * (Floats)(b & 0xffff0000u);
}

/// A step of a line, forced into a register: else g++ 12 loads it again for every product.
TT_ALWAYS_INLINE Pairs load_pairs(const std::int16_t* from) {
  Pairs x;
  std::memcpy(&x, from, sizeof x);
#if defined(__SSE2__)
  __asm__("" : "+v"(x));
#endif
  return x;
}

/// One side, of integers or bf16: elements of a line (a row of the left side, a column of the right one) are `inner` apart, lines `line`.
struct PairSide {
  const void* data;
  DType dtype;
  std::int64_t line, inner;

  /// Elements k to k + n of `count` lines from `first` on, as 16 bits, lines `pitch` apart; the last step of each is padded with zeros.
  void widen(std::int64_t first, int count, std::int64_t k, std::int64_t n, std::int16_t* to, std::int64_t pitch) const {
    const std::int64_t end = whole_steps(n);
    for (int l = 0; l < count; ++l) std::memset(to + l * pitch + n, 0, sizeof(std::int16_t) * static_cast<std::size_t>(end - n));
    switch (dtype) {
      case DType::u8: return widen_from(static_cast<const std::uint8_t*>(data) + first * line + k * inner, count, n, to, pitch);
      case DType::i8: return widen_from(static_cast<const std::int8_t*>(data) + first * line + k * inner, count, n, to, pitch);
      default: return widen_from(static_cast<const std::int16_t*>(data) + first * line + k * inner, count, n, to, pitch);
    }
  }

 private:
  /// Contiguous elements.
  template <class S>
  static TT_ALWAYS_INLINE void widen_run(const S* from, std::int64_t n, std::int16_t* to) {
    constexpr int step = 16;
    typedef S Narrow __attribute__((vector_size(sizeof(S) * step)));
    typedef std::int16_t Wide __attribute__((vector_size(sizeof(std::int16_t) * step)));
    std::int64_t i = 0;
    for (; i + step <= n; i += step) {
      Narrow x;
      std::memcpy(&x, from + i, sizeof x);
      const Wide w = __builtin_convertvector(x, Wide);
      std::memcpy(to + i, &w, sizeof w);
    }
    for (; i < n; ++i) to[i] = from[i];
  }
  template <class S>
  void widen_from(const S* from, int count, std::int64_t n, std::int16_t* to, std::int64_t pitch) const {
    if (inner == 1) {
      for (int l = 0; l < count; ++l) widen_run(from + l * line, n, to + l * pitch);
    } else if (line == 1) {  // rows of some elements of all lines are widened, then transposed
      constexpr int rows = 8, most = 64;
      std::int16_t some[rows * most];
      for (int l = 0; l < count; l += most) {
        const int columns = count - l < most ? count - l : most;
        for (std::int64_t k = 0; k < n; k += rows) {
          const std::int64_t m = n - k < rows ? n - k : rows;
          for (std::int64_t r = 0; r < m; ++r) widen_run(from + (k + r) * inner + l, columns, some + r * most);
          transpose_into(static_cast<const std::int16_t*>(some), most, 1, m, columns, to + l * pitch + k, pitch);
        }
      }
    } else {
      for (int l = 0; l < count; ++l)
        for (std::int64_t k = 0; k < n; ++k) to[l * pitch + k] = from[l * line + k * inner];
    }
  }
};

/// sums[r * pitch + c] += line r of a times line c of b, n elements of each, a multiple of line_step.
template <class Sum, bool HasInstruction, int Rows, int Columns>
TT_NOINLINE void multiply_lines(const std::int16_t* a, std::int64_t a_pitch, const std::int16_t* b, std::int64_t b_pitch, std::int64_t n, Sum* sums, int pitch) {
  typename PairSums<Sum>::Type sum[Rows][Columns];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) sum[r][c] = typename PairSums<Sum>::Type{};  // with one `= {}` for all, g++ 12 keeps them in memory
  for (std::int64_t k = 0; k < n; k += line_step) {
    Pairs left[Rows];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) left[r] = load_pairs(a + r * a_pitch + k);
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      const Pairs right = load_pairs(b + c * b_pitch + k);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sum[r][c] = add_pairs<HasInstruction>(sum[r][c], left[r], right);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      Sum total = 0;
      for (int l = 0; l < lanes; ++l) total += sum[r][c][l];
      sums[r * pitch + c] += total;
    }
}

/// Rows and columns whose sums are in memory together; elements of the rows' lines that are widened together.
inline constexpr int pair_rows = 16, pair_columns = 64;
inline constexpr std::int64_t pair_part = 512, left_pitch = pair_part + line_step;

/// The same sums for a block of lines, in tiles.
template <class Sum, bool HasInstruction>
void multiply_block(const std::int16_t* left, int rows, const std::int16_t* right, std::int64_t right_pitch, int columns, std::int64_t n, Sum* sums) {
  const auto row_of_tiles = [&]<int Rows, int Columns>(int r, std::integral_constant<int, Rows>, std::integral_constant<int, Columns>) {
    const auto tile = [&]<int C>(int c, std::integral_constant<int, C>) {
      multiply_lines<Sum, HasInstruction, Rows, C>(left + r * left_pitch, left_pitch, right + c * right_pitch, right_pitch, n, sums + r * pair_columns + c, pair_columns);
    };
    int c = 0;
    for (; c + Columns <= columns; c += Columns) tile(c, std::integral_constant<int, Columns>{});
    for (; c < columns; ++c) tile(c, std::integral_constant<int, 1>{});
  };
  constexpr std::integral_constant<int, 4> four;
  int r = 0;
  for (; r + 4 <= rows; r += 4) row_of_tiles(r, four, std::integral_constant<int, TT_AVX512 ? 4 : 2>{});
  for (; r < rows; ++r) row_of_tiles(r, std::integral_constant<int, 1>{}, four);
}

template <class Sum, bool HasInstruction>
TT_NOINLINE void multiply_pairs(const ProductTiles& p) {
  const PairSide a{p.a, p.a_dtype, p.a_row, p.a_inner}, b{p.b, p.b_dtype, p.b_column, p.b_inner};
  auto* const right = static_cast<std::int16_t*>(p.panel);
  alignas(64) std::int16_t left[pair_rows * left_pitch];
  alignas(64) Sum sums[pair_rows * pair_columns];
  // The lines of the right side are widened once for all rows. If there is one block of rows, only a part of them at a time, which stays in a cache.
  const std::int64_t part = p.rows > pair_rows ? p.inner : pair_part / 2;
  for (std::int64_t j = 0; j < p.cols; j += pair_columns) {
    const int columns = p.cols - j < pair_columns ? static_cast<int>(p.cols - j) : pair_columns;
    std::int64_t k = 0;
    do {
      const std::int64_t n = p.inner - k < part ? p.inner - k : part, pitch = whole_steps(n) + line_step;  // a power of two would use few cache sets
      b.widen(j, columns, k, n, right, pitch);
      for (std::int64_t i = 0; i < p.rows; i += pair_rows) {
        const int rows = p.rows - i < pair_rows ? static_cast<int>(p.rows - i) : pair_rows;
        if (k == 0) std::memset(sums, 0, sizeof sums);
        for (std::int64_t from = 0; from < n; from += pair_part) {
          const std::int64_t some = n - from < pair_part ? n - from : pair_part;
          a.widen(i, rows, k + from, some, left, left_pitch);
          multiply_block<Sum, HasInstruction>(left, rows, right + from, pitch, columns, whole_steps(some), sums);
        }
        if (k + n == p.inner) p.take(p.context, {i, j, rows, columns, pair_columns, sums, true});
      }
      k += n;
    } while (k < p.inner);
  }
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
