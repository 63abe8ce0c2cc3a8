// Transposes matrices: squares of as many rows as a register has elements are transposed in registers, so that every cache line is
// read and written as a whole.
#pragma once
#include "tt/backends/cpu/pack_memory.hpp"
#include "tt/plan/plan.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

namespace detail {

/// The offsets of the rows of a square: equally spaced, or anywhere.
struct RowsApart {
  std::int64_t row;
  std::int64_t operator()(int r) const { return r * row; }
};
struct RowsAnywhere {
  const std::int64_t* begin;
  std::int64_t operator()(int r) const { return begin[r]; }
};
/// Rows of a square that fits registers; 1: no squares for this type.
template <class T>
#if defined(__CUDACC__)  // nvcc 13 ends in an internal error at a shuffle whose indices are a pack
inline constexpr int square = 1;
#else
inline constexpr int square = sizeof(T) == 1 ? 16 : sizeof(T) == 2 ? 8 : static_cast<int>(sizeof(xsimd::batch<float>) / sizeof(T));
/// The element type of the compiler vectors that represent T.
template <class T>
using lane_t = std::conditional_t<sizeof(T) == 1, std::int8_t, std::conditional_t<sizeof(T) == 2, std::int16_t, T>>;

/// a[0], b[0], a[1], b[1], ...: of the first halves, or (Second) of the second halves.
template <bool Second, class V, std::size_t... I>
TT_ALWAYS_INLINE V interleave(V a, V b, std::index_sequence<I...>) {
  constexpr int n = sizeof...(I);
  return __builtin_shufflevector(a, b, (static_cast<int>(I) / 2 + (Second ? n / 2 : 0) + (I % 2 ? n : 0))...);
}
/// Copies the first of each pair of elements. The last pair is read without its second element: no element behind it is touched.
template <class T, std::size_t... I>
TT_ALWAYS_INLINE void first_of_pairs(const T* p, T* to, std::index_sequence<I...>) {
  constexpr int n = sizeof...(I);
  typedef lane_t<T> Vector __attribute__((vector_size(sizeof(T) * n)));
  Vector a, b;
  std::memcpy(&a, p, sizeof a);
  std::memcpy(&b, p + n - 1, sizeof b);
  a = __builtin_shufflevector(a, b, (static_cast<int>(I) < n / 2 ? 2 * static_cast<int>(I) : 2 * static_cast<int>(I) + 1)...);
  std::memcpy(to, &a, sizeof a);
}
template <class T>
struct Square {
  typedef lane_t<T> Vector __attribute__((vector_size(sizeof(T) * square<T>)));
  Vector column[square<T>];
};
/// The columns of a square: load(r, v) loads row r.
template <class T, class Load>
TT_ALWAYS_INLINE void transpose_loaded(Square<T>& square_, const Load& load) {
  constexpr int n = square<T>;
  using Vector = typename Square<T>::Vector;
  Vector(&a)[n] = square_.column;
  Vector b[n];
#pragma GCC unroll 16
  for (int r = 0; r < n; ++r) load(r, a[r]);
#pragma GCC unroll 4
  for (int step = 1; step < n; step *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; ++i) {
      b[2 * i] = interleave<false>(a[i], a[i + n / 2], std::make_index_sequence<n>{});
      b[2 * i + 1] = interleave<true>(a[i], a[i + n / 2], std::make_index_sequence<n>{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) a[i] = b[i];
  }
}
/// The columns of a square in memory.
template <class T, class Rows>
TT_ALWAYS_INLINE void load_transposed(const T* from, Rows row, Square<T>& square_) {
  transpose_loaded(square_, [&](int r, auto& v) TT_LAMBDA_INLINE { std::memcpy(&v, from + row(r), sizeof v); });
}
/// to[c * to_row + r] = from[row(r) + c] for one square.
template <class T, class Rows>
TT_NOINLINE void transpose_square(const T* from, Rows row, T* to, std::int64_t to_row) {
  Square<T> s;
  load_transposed(from, row, s);
#pragma GCC unroll 16
  for (int c = 0; c < square<T>; ++c) std::memcpy(to + c * to_row, &s.column[c], sizeof s.column[c]);
}
#endif

}  // namespace detail

/// to[c * to_row + r] = from[r * row + c * column].
template <class T>
TT_NOINLINE void transpose_into(const T* from, std::int64_t row, std::int64_t column, std::int64_t rows,
                                std::int64_t cols, T* to, std::int64_t to_row) {
  constexpr int n = detail::square<T>;
  constexpr std::int64_t strip = 128 / static_cast<std::int64_t>(sizeof(T));  // two cache lines of each row: 64 rows at a time take twice as long in memory
  const std::int64_t whole = n > 1 && column == 1 ? rows / n * n : 0;
  for (std::int64_t c0 = 0; c0 < cols; c0 += strip) {
    const std::int64_t end = c0 + strip < cols ? c0 + strip : cols;
    const auto plain = [&](std::int64_t r0, std::int64_t r1, std::int64_t begin) {
      for (std::int64_t c = begin; c < end; ++c)
        for (std::int64_t r = r0; r < r1; ++r) std::memcpy(to + c * to_row + r, from + r * row + c * column, sizeof(T));
    };
    for (std::int64_t r = 0; r < whole; r += n) {
      std::int64_t c = c0;
#if !defined(__CUDACC__)
      if constexpr (n > 1)
        for (; c + n <= end; c += n) detail::transpose_square(from + r * row + c, detail::RowsApart{row}, to + c * to_row + r, to_row);
#endif
      plain(r, r + n, c);
    }
    for (std::int64_t r = whole; r < rows; r += strip) plain(r, r + strip < rows ? r + strip : rows, c0);
  }
}

namespace detail {

/// A lower bound for the number of the rows r, r + apart, ... that an access has equally spaced.
inline std::int64_t equal_steps(const Access& a, const Term* terms, const SymbolValues& s, std::int64_t r, std::int64_t apart) {
  std::int64_t n = INT64_MAX;
  for (int i = 0; i < a.term_count; ++i) {
    const Term& t = a.term(terms, i);
    const std::int64_t divisor = t.divisor.value(s), modulus = t.modulus.value(s), step = apart / divisor;
    std::int64_t k = n;
    if (apart % divisor != 0) k = (divisor - r % divisor + apart - 1) / apart;  // rows until the quotient changes
    else if (modulus > 0 && step % modulus != 0) k = (modulus - r / divisor % modulus + step - 1) / step;
    if (k < n) n = k;
  }
  return n;
}

}  // namespace detail

/// Rows [first, last) of a matrix whose columns are rows of `from_rows` and whose rows are rows of `to_rows`; rows that are neighbours in
/// the source are passed together: transpose(source offset, target offset, number of rows, target distance of rows).
template <class F>
TT_ALWAYS_INLINE void each_transposed(const Access& from_rows, const Access& to_rows, const Term* terms, const SymbolValues& s,
                                      std::int64_t first, std::int64_t last, const F& transpose) {
  const std::int64_t apart = from_rows.term(terms, neighbours_term(from_rows, terms)).divisor.value(s);
  for (std::int64_t begin = first; begin < last && begin < first + apart; ++begin)
    for (std::int64_t r = begin; r < last;) {
      const std::int64_t in = from_rows.row_offset(terms, r, s), out = to_rows.row_offset(terms, r, s);
      std::int64_t n = (last - r + apart - 1) / apart, pitch = 0;
      for (const Access* a : {&from_rows, &to_rows})
        if (const std::int64_t k = detail::equal_steps(*a, terms, s, r, apart); k < n) n = k;
      if (n > 1 && from_rows.row_offset(terms, r + apart, s) != in + 1) n = 1;
      if (n > 1) pitch = to_rows.row_offset(terms, r + apart, s) - out;
      transpose(in, out, n, pitch);
      r += n * apart;
    }
}
/// The same for rows of `cols` elements, from columns that are `stride` apart.
template <class T>
TT_NOINLINE void transpose_rows(const T* from, T* to, const Access& from_rows, const Access& to_rows, const Term* terms,
                                const SymbolValues& s, std::int64_t first, std::int64_t last, std::int64_t cols, std::int64_t stride) {
  each_transposed(from_rows, to_rows, terms, s, first, last, [&](std::int64_t in, std::int64_t out, std::int64_t n, std::int64_t pitch) {
    transpose_into(from + in, stride, 1, cols, n, to + out, pitch);
  });
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
