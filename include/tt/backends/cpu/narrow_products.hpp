// Products of integers that are stored in 8 or 16 bits and summed in 32. Such sums are exact modulo 2^32 in any order, so both sides are
// brought together as lines of 16 bits along what is summed over, and pairs of products are added at once: by pmaddwd, which x86 processors
// have in every vector width and which does not saturate, or by vpdpwssd of AVX-512 VNNI, which adds them to the sums too.
#pragma once
#include "tt/backends/cpu/tile_kernels.hpp"
#include "tt/backends/cpu/transpose.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {
namespace detail {

/// Sums of 32 bits, as many as a register holds, and as many pairs of 16 bits.
typedef std::uint32_t PairSums __attribute__((vector_size(4 * lanes)));
/// Elements of a line are worked on so many at a time; lines are filled up with zeros.
inline constexpr std::int64_t line_step = 2 * lanes;

/// May a kernel of AVX-512 use VNNI? Asked of the processor that it runs on, as no flag of the compiler says so.
inline bool has_vnni() {
#if TT_AVX512
  static const bool has = __builtin_cpu_supports("avx512vnni");
  return has;
#else
  return false;
#endif
}
/// sum + low(a) * low(b) + high(a) * high(b), of the halves of each 32 bits.
template <bool Vnni>
TT_ALWAYS_INLINE PairSums add_pairs(PairSums sum, PairSums a, PairSums b) {
#if TT_AVX512
  if constexpr (Vnni) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  } else return sum + (PairSums)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return sum + (PairSums)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && !defined(__AVX__)
  return sum + (PairSums)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  typedef std::int32_t Signed __attribute__((vector_size(4 * lanes)));
  const auto low = [](PairSums x) { return (PairSums)((Signed)(x << 16) >> 16); };
  const auto high = [](PairSums x) { return (PairSums)((Signed)x >> 16); };
  return sum + low(a) * low(b) + high(a) * high(b);
#endif
}

/// A step of a line, in a register: g++ 12 loads each again for every product of it otherwise.
TT_ALWAYS_INLINE PairSums load_pairs(const std::int16_t* from) {
  PairSums x;
  std::memcpy(&x, from, sizeof x);
#if defined(__SSE2__)
  __asm__("" : "+v"(x));
#endif
  return x;
}

/// One side: elements of a line (a row of the left side, a column of the right one) lie `inner` apart, lines `line`.
struct NarrowSide {
  const void* data;
  DType dtype;
  std::int64_t line, inner;

  /// Elements k to k + n of `count` lines from `first` on, as 16 bits, lines `pitch` apart; the last step of each ends in zeros.
  void widen(std::int64_t first, int count, std::int64_t k, std::int64_t n, std::int16_t* to, std::int64_t pitch) const {
    const std::int64_t end = (n + line_step - 1) / line_step * line_step;
    for (int l = 0; l < count; ++l) std::memset(to + l * pitch + n, 0, sizeof(std::int16_t) * static_cast<std::size_t>(end - n));
    switch (dtype) {
      case DType::u8: return widen_from(static_cast<const std::uint8_t*>(data) + first * line + k * inner, count, n, to, pitch);
      case DType::i8: return widen_from(static_cast<const std::int8_t*>(data) + first * line + k * inner, count, n, to, pitch);
      default: return widen_from(static_cast<const std::int16_t*>(data) + first * line + k * inner, count, n, to, pitch);
    }
  }

 private:
  /// Elements one behind the other.
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
    } else if (line == 1) {  // rows of some elements of all lines are widened, and then exchanged
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
template <bool Vnni, int Rows, int Columns>
TT_NOINLINE void multiply_lines(const std::int16_t* a, std::int64_t a_pitch, const std::int16_t* b, std::int64_t b_pitch, std::int64_t n, std::uint32_t* sums,
                                int pitch) {
  PairSums sum[Rows][Columns] = {};
  for (std::int64_t k = 0; k < n; k += line_step) {
    PairSums left[Rows];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) left[r] = load_pairs(a + r * a_pitch + k);
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      const PairSums right = load_pairs(b + c * b_pitch + k);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sum[r][c] = add_pairs<Vnni>(sum[r][c], left[r], right);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      std::uint32_t total = 0;
      for (int l = 0; l < lanes; ++l) total += sum[r][c][l];
      sums[r * pitch + c] += total;
    }
}

/// Rows and columns whose sums are in memory together, and elements of the rows' lines that are.
inline constexpr int narrow_rows = 16, narrow_columns = 64;
inline constexpr std::int64_t narrow_part = 512;

template <bool Vnni>
TT_NOINLINE void multiply_narrow(const ProductTiles& p) {
  const NarrowSide a{p.a, p.a_dtype, p.a_row, p.a_inner}, b{p.b, p.b_dtype, p.b_column, p.b_inner};
  auto* const right = static_cast<std::int16_t*>(p.panel);
  alignas(64) std::int16_t left[narrow_rows * narrow_part];
  alignas(64) std::uint32_t sums[narrow_rows * narrow_columns];
  // The lines of the right side are widened once; those that no second block of rows waits for, a part at a time, which stays near.
  const std::int64_t part = p.rows > narrow_rows ? p.inner : narrow_part / 2;
  for (std::int64_t j = 0; j < p.cols; j += narrow_columns) {
    const int columns = p.cols - j < narrow_columns ? static_cast<int>(p.cols - j) : narrow_columns;
    std::int64_t k = 0;
    do {
      const std::int64_t n = p.inner - k < part ? p.inner - k : part, pitch = (n + line_step - 1) / line_step * line_step;
      b.widen(j, columns, k, n, right, pitch);
      for (std::int64_t i = 0; i < p.rows; i += narrow_rows) {
        const int rows = p.rows - i < narrow_rows ? static_cast<int>(p.rows - i) : narrow_rows;
        if (k == 0) std::memset(sums, 0, sizeof sums);
        for (std::int64_t from = 0; from < n; from += narrow_part) {
          const std::int64_t some = n - from < narrow_part ? n - from : narrow_part, steps = (some + line_step - 1) / line_step * line_step;
          a.widen(i, rows, k + from, some, left, narrow_part);
          const auto tile = [&]<int Rows, int Columns>(int r, int c, std::integral_constant<int, Rows>, std::integral_constant<int, Columns>) {
            multiply_lines<Vnni, Rows, Columns>(left + r * narrow_part, narrow_part, right + c * pitch + from, pitch, steps, sums + r * narrow_columns + c, narrow_columns);
          };
          constexpr int wide = TT_AVX512 ? 4 : 2;
          constexpr std::integral_constant<int, 1> one;
          int r = 0;
          for (; r + 4 <= rows; r += 4) {
            int c = 0;
            for (; c + wide <= columns; c += wide) tile(r, c, std::integral_constant<int, 4>{}, std::integral_constant<int, wide>{});
            for (; c < columns; ++c) tile(r, c, std::integral_constant<int, 4>{}, one);
          }
          for (; r < rows; ++r) {
            int c = 0;
            for (; c + 4 <= columns; c += 4) tile(r, c, one, std::integral_constant<int, 4>{});
            for (; c < columns; ++c) tile(r, c, one, one);
          }
        }
        if (k + n == p.inner) p.take(p.context, {i, j, rows, columns, narrow_columns, sums, true});
      }
      k += n;
    } while (k < p.inner);
  }
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
