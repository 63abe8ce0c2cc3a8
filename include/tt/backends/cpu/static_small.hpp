// Static kernels of a few elements, without loops, so short that they are inlined into their callers: a call takes as long.
// Few vectors: several rows of a few columns share a vector, a 4x4 matrix is one. Element (row, column) is lane row * apart + column,
// and every instruction runs once for all. Broadcast operands (a bias row, one value a row) are loaded once and shuffled into place;
// row sums are broadcast to all lanes of their row.
// Few steps: rows of a few vectors, completely unrolled.
#pragma once
#include "tt/backends/cpu/shuffle.hpp"
#include "tt/backends/cpu/static_reduce.hpp"
#include "tt/plan/split.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

namespace detail {

// ---- few vectors

/// The layout of a kernel's elements in vectors: each vector has as many rows as fit it, `apart` lanes from each other.
struct RowsInVectors {
  int cols, apart;
  std::int64_t rows;  ///< a large number if not constant
  constexpr explicit RowsInVectors(const Kernel& k)
      : cols(static_cast<int>(k.cols.code)), apart(lanes_of(k.cols.code)),
        rows(k.rows.is_constant() ? k.rows.code : 1 << 20) {}
  constexpr int each() const { return lanes / apart; }
  constexpr std::int64_t vectors() const { return (rows + each() - 1) / each(); }
  constexpr int begin(int vector) const { return vector * each(); }
  constexpr int count(int vector) const {
    return rows - begin(vector) < each() ? static_cast<int>(rows) - begin(vector) : each();
  }
};
/// The most vectors that are unrolled.
inline constexpr int few = 4;
constexpr bool is_constant(const Access& m, const Term* terms) {
  bool all = m.offset.is_constant() && m.column.is_constant();
  for (int i = 0; i < m.terms(); ++i)
    all = all && m.term(terms, i).divisor.is_constant() && m.term(terms, i).modulus.is_constant() && m.term(terms, i).stride.is_constant();
  return all;
}
/// The map of one vector of a kernel. For stores, one value a row is a single column.
constexpr VectorMap map_of(const Kernel& k, const Access& m, const Term* terms, int vector, bool store) {
  const RowsInVectors v(k);
  return {v.count(vector), store && m.column == Extent(0) ? 1 : v.cols, v.apart, [&](int y, int x) {
    return m.row_offset(terms, v.begin(vector) + y, no_symbols) + m.column_offset(terms, x, no_symbols);
  }};
}
template <class H, int K, int V, int X>
struct LoadMap {
  static constexpr VectorMap map = map_of(H::plan.kernels[K], H::plan.accesses[X], H::plan.terms.begin(), V, false);
};
template <class H, int K, int V, int X>
struct StoreMap {
  static constexpr VectorMap map = map_of(H::plan.kernels[K], H::plan.accesses[X], H::plan.terms.begin(), V, true).inverse();
};
/// Column Inner of a product's left side, for the rows of one vector, and row Inner of its right side.
template <class H, int K, int Inner>
struct LeftMap {
  static constexpr RowsInVectors v{H::plan.kernels[K]};
  static constexpr VectorMap map = VectorMap(v.count(0), v.cols, v.apart, [](int y, int) {
    return y * H::plan.kernels[K].a_row.code + Inner * H::plan.kernels[K].a_inner.code;
  }).counted_from_zero();
};
template <class H, int K, int Inner>
struct RightMap {
  static constexpr RowsInVectors v{H::plan.kernels[K]};
  static constexpr VectorMap map = VectorMap(v.count(0), v.cols, v.apart, [](int, int x) {
    return x * H::plan.kernels[K].b_column.code + Inner * H::plan.kernels[K].b_inner.code;
  }).counted_from_zero();
};

/// Row r begins at r times a constant stride from the first, no stride is negative, and a store is contiguous.
constexpr bool is_in_order(const Kernel& k, const Instruction& x, const Access& m, const Term* terms) {
  const std::int64_t row = m.term_count > 0 ? m.term(terms, 0).stride.code : 0;
  if (!has_plain_rows(m, terms) || !m.column.is_constant() || m.column.code < 0 || row < 0) return false;
  return x.op == Op::load || (m.column == Extent(0) ? row == 1 : m.column == Extent(1) && row == k.cols.code);
}
/// Is instruction i a store that only keeps a row for the next sweep? Here registers keep all rows of a vector.
constexpr bool is_kept(const Kernel& k, int i, const Instruction* instructions, Accesses accesses) {
  return instructions[i].op == Op::store && RowsInVectors(k).rows > 1 && accesses[instructions[i].access].term_count == 0;
}
/// The instruction of the same kernel that stores the value that load i reads; or -1.
constexpr int stored_by(const Kernel& k, int i, const Instruction* instructions) {
  for (int j = k.segment[0]; j < i; ++j)
    if (instructions[j].op == Op::store && instructions[j].access == instructions[i].access) return j;
  return -1;
}
constexpr bool is_vector_step(const Kernel& k, int i, const Instruction* instructions, Accesses accesses) {
  const Instruction& x = instructions[i];
  if (x.op == Op::extent || x.op == Op::iota) return false;
  if ((x.op != Op::load && x.op != Op::store) || is_kept(k, i, instructions, accesses)) return true;
  if (x.op == Op::load && stored_by(k, i, instructions) >= 0) return true;
  const Access& m = accesses[x.access];
  const RowsInVectors v(k);
  if (!is_constant(m, accesses.terms) || (v.vectors() > few && !is_in_order(k, x, m, accesses.terms))) return false;
  for (int n = 0; n < (v.vectors() > few ? 1 : v.vectors()); ++n) {
    const VectorMap map = map_of(k, m, accesses.terms, n, x.op == Op::store);
    if (map.span == 0 || (x.op == Op::store && map.inverse().span == 0)) return false;
    if (x.dtype == DType::boolean && !map.is_identity()) return false;
  }
  return true;
}
/// Elements from the first to the last of `rows` rows of one side of a product.
constexpr int span_of(std::int64_t rows, Extent row, Extent inner_extent, Extent inner) {
  return static_cast<int>((rows - 1) * row.code + (inner_extent.code - 1) * inner.code + 1);
}
/// Does the right side fit a vector as a whole?
constexpr bool has_whole_right(const Kernel& k) { return span_of(k.cols.code, k.b_column, k.inner, k.b_inner) <= lanes; }
constexpr bool is_vector_product(const Kernel& k) {
  if (k.windows >= 0) return false;
  for (const Extent e : {k.batch, k.inner, k.a_row, k.a_inner, k.b_column, k.b_inner})
    if (!e.is_constant() || e.code < 0 || e.code > 4 * lanes) return false;
  const RowsInVectors v(k);
  if (k.batch != Extent(1) || k.inner.code < 1 || k.inner.code > 8) return false;
  if (v.each() == 1 && !(v.vectors() == 1 && has_whole_right(k))) return false;  // tiles are faster for such rows
  return span_of(v.count(0), k.a_row, k.inner, k.a_inner) <= lanes &&
         (has_whole_right(k) || span_of(k.cols.code, k.b_column, 1, 0) <= lanes);
}
/// Can kernel k run with its rows in vectors?
constexpr bool is_in_vectors(const Kernel& k, const Instruction* instructions, Accesses accesses) {
#if defined(__CUDACC__)
  return false;
#endif
  if (k.kind == KernelKind::cols || k.tile != 0 || !k.cols.is_constant() || k.cols.code < 1 || k.cols.code > lanes ||
      (k.rows.is_constant() && k.rows.code < 1))
    return false;
  const RowsInVectors v(k);
  const int begin = k.segment[0], end = k.segment[2 * k.sweeps + 1];
  if (k.kind == KernelKind::matmul && !is_vector_product(k)) return false;
  if (v.vectors() > few ? v.each() == 1 : v.vectors() * (end - begin) > 64) return false;
  for (int i = begin; i < end; ++i) {
    const Op op = instructions[i].op;  // where each row fills a vector, maxima are faster in sweeps
    if (is_reduction(op) && op != Op::sum && v.each() == 1 && k.rows != Extent(1)) return false;
    if (!is_vector_step(k, i, instructions, accesses)) return false;
  }
  return true;
}

#if defined(__AVX__) && !defined(__CUDACC__)
inline constexpr bool has_quarters = true;
/// Division or root of the first four floats: on a whole register it takes two to four times as long.
template <Op K>
TT_KERNEL_INLINE Pack<float> first_quarter(const Pack<float>& a, const Pack<float>& b) {
  using Wide = VectorOf<float>::Type;
  typedef float Quarter __attribute__((vector_size(16)));
  const auto quarter = [](const Pack<float>& x) TT_LAMBDA_INLINE {
    return __builtin_shufflevector((Wide)x.part[0], (Wide)x.part[0], 0, 1, 2, 3);
  };
  const Quarter q = K == Op::div ? tt::detail::rounded(quarter(a) / quarter(b)) : (Quarter)_mm_sqrt_ps((__m128)quarter(a));
#if TT_AVX512
  return {{_mm512_castps128_ps512((__m128)q)}};
#else
  return {{_mm256_castps128_ps256((__m128)q)}};
#endif
}
#else
inline constexpr bool has_quarters = false;
template <Op>
Pack<float> first_quarter(const Pack<float>&, const Pack<float>&);
#endif

/// Instruction I on vector V of kernel K, from row p.row on. Tail: only p.count rows exist.
template <class H, int K, int V, bool Tail, int I>
TT_KERNEL_INLINE Done vector_step(Register* r, const Place& p, int result, int a, int b, int c, std::int64_t bits,
                                  std::int64_t row_stride) {
  static constexpr const Instruction& x = H::plan.instructions[I];
  using T = element_t<x.dtype>;
  if constexpr (x.op == Op::load && stored_by(H::plan.kernels[K], I, H::plan.instructions.begin()) >= 0) {
    constexpr int stored = stored_by(H::plan.kernels[K], I, H::plan.instructions.begin());
    constexpr int from = register_number(H::plan.kernels[K], x.dtype, H::plan.instructions[stored].a);
    r[result].as<T>() = r[from].template as<T>();
  } else if constexpr (is_kept(H::plan.kernels[K], I, H::plan.instructions.begin(), accesses_of(H::plan))) {
  } else if constexpr (x.op == Op::load) {
    using M = LoadMap<H, K, V, x.access>;
    constexpr RowsInVectors v(H::plan.kernels[K]);
    const int missing = Tail ? (v.count(V) - p.count) * static_cast<int>(row_stride) : 0;
    const T* const operand = static_cast<const T*>(p.operand[H::plan.accesses[x.access].buffer]);
    const T* const from = operand + M::map.first + p.row * row_stride;
    if constexpr (M::map.span == 1) r[result].as<T>() = Carrier<Pack<T>>::splat(*from);
    else r[result].as<T>() = shuffle<M>(load_first(from, M::map.span - missing));
  } else if constexpr (x.op == Op::store) {
    using M = StoreMap<H, K, V, x.access>;
    T* const to = static_cast<T*>(p.operand[H::plan.accesses[x.access].buffer]) + M::map.first + p.row * row_stride;
    store_first(to, shuffle<M>(r[a].as<T>()), Tail ? p.count * static_cast<int>(row_stride) : M::map.span);
  } else if constexpr (is_reduction(x.op)) {
    constexpr RowsInVectors v(H::plan.kernels[K]);
    Pack<T> row = r[a].as<T>();
    if constexpr (v.cols != v.apart)
      row = Carrier<Pack<T>>::select(column_lanes<v.cols, v.apart>(), row, identity_pack<x.op, T>());
    r[result].as<T>() = reduce_in_rows<x.op, T, v.apart>(row);
  } else if constexpr (has_quarters && x.dtype == DType::f32 && (x.op == Op::div || x.op == Op::sqrt) &&
                       RowsInVectors(H::plan.kernels[K]).rows * lanes_of(H::plan.kernels[K].cols.code) <= 4) {
    r[result].as<float>() = first_quarter<x.op>(r[a].as<float>(), r[b].as<float>());
  } else {
    StepOf<H, I, false>::run(r, p, result, a, b, c, bits, row_stride);
  }
  return {};
}
template <class H, int K, int V, bool Tail, std::size_t... J>
TT_KERNEL_INLINE void vector_steps(const Place& p, std::index_sequence<J...>) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  constexpr SegmentNumbers<sizeof...(J)> n(k, k.segment[0], 1, H::plan.instructions.begin(), accesses_of(H::plan));
  Register r[register_count(k)];
  const Done done[] = {vector_step<H, K, V, Tail, H::plan.kernels[K].segment[0] + static_cast<int>(J)>(
      r, p, fixed(n.step[J].result), fixed(n.step[J].a), fixed(n.step[J].b), fixed(n.step[J].c), fixed(n.step[J].bits),
      fixed(n.step[J].row_stride))...};
  (void)done;
}

/// The rows of a product's right side, each repeated for all rows of a vector.
template <class H, int K, class T, class Is>
struct RightRows {};
template <class H, int K, class T, std::size_t... Inner>
struct RightRows<H, K, T, std::index_sequence<Inner...>> {
  static constexpr Kernel k = H::plan.kernels[K];
  Pack<T> row[sizeof...(Inner)];

  TT_KERNEL_INLINE explicit RightRows(const Place& p) {
    const T* const from = static_cast<const T*>(p.operand[H::plan.accesses[k.b].buffer]) + row_offset<H, k.b>(p.symbols, 0);
    if constexpr (has_whole_right(k)) {
      const Pack<T> b = load_first(from, span_of(k.cols.code, k.b_column, k.inner, k.b_inner));
      ((row[Inner] = shuffle<RightMap<H, K, static_cast<int>(Inner)>>(b)), ...);
    } else {
      constexpr int span = span_of(k.cols.code, k.b_column, 1, 0);
      ((row[Inner] = shuffle<RightMap<H, K, 0>>(load_first(from + Inner * k.b_inner.code, span))), ...);
    }
  }
  template <int V, bool Tail>
  TT_KERNEL_INLINE Pack<T> times(const Place& p) const {
    constexpr RowsInVectors v(k);
    using C = Carrier<Pack<T>>;
    const T* const from = static_cast<const T*>(p.operand[H::plan.accesses[k.a].buffer]) + row_offset<H, k.a>(p.symbols, 0);
    const int missing = Tail ? (v.count(V) - p.count) * static_cast<int>(k.a_row.code) : 0;
    const Pack<T> a = load_first(from + (v.begin(V) + p.row) * k.a_row.code,
                                 span_of(v.count(V), k.a_row, k.inner, k.a_inner) - missing);
    Pack<T> sum = C::splat(T(0));
    ((sum = C::template apply<Op::fma>(shuffle<LeftMap<H, K, static_cast<int>(Inner)>>(a), row[Inner], sum)), ...);
    return sum;
  }
};
struct NoRows {
  TT_KERNEL_INLINE explicit NoRows(const Place&) {}
};
template <class H, int K, int V, bool Tail, class Rows>
TT_KERNEL_INLINE void one_vector(Place p, [[maybe_unused]] const Rows& rows) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  using Steps = std::make_index_sequence<static_cast<std::size_t>(k.segment[2 * k.sweeps + 1] - k.segment[0])>;
  if constexpr (k.kind == KernelKind::matmul) {
    const Pack<element_t<k.dtype>> sum = rows.template times<V, Tail>(p);
    p.tile = &sum;
    vector_steps<H, K, V, Tail>(p, Steps{});
  } else {
    vector_steps<H, K, V, Tail>(p, Steps{});
  }
}
template <class H, int K>
inline constexpr std::size_t right_rows = H::plan.kernels[K].kind == KernelKind::matmul ? H::plan.kernels[K].inner.code : 0;
template <class H, int K>
using RowsOf = std::conditional_t<right_rows<H, K> == 0, NoRows,
                                  RightRows<H, K, element_t<H::plan.kernels[K].dtype>,
                                            std::make_index_sequence<right_rows<H, K>>>>;
/// A kernel of one to four vectors.
template <class H, int K>
TT_KERNEL_INLINE void few_vectors_body(const Place& p) {
  constexpr std::int64_t vectors = RowsInVectors(H::plan.kernels[K]).vectors();
  const RowsOf<H, K> rows(p);
  one_vector<H, K, 0, false>(p, rows);
  if constexpr (vectors > 1) one_vector<H, K, 1, false>(p, rows);
  if constexpr (vectors > 2) one_vector<H, K, 2, false>(p, rows);
  if constexpr (vectors > 3) one_vector<H, K, 3, false>(p, rows);
}
/// A kernel of many rows, one vector of rows at a time.
template <class H, int K>
TT_KERNEL_INLINE void many_vectors_body(Place p, const Range& range) {
  constexpr int each = RowsInVectors(H::plan.kernels[K]).each();
  const RowsOf<H, K> rows(p);
  const std::int64_t end = range.last(SplitAxis::rows, extent<H::plan.kernels[K].rows.code>(p.symbols));
  for (p.row = range.first(SplitAxis::rows); p.row + each <= end; p.row += each) one_vector<H, K, 0, false>(p, rows);
  if (p.row < end) {
    p.count = static_cast<int>(end - p.row);
    one_vector<H, K, 0, true>(p, rows);
  }
}

// ---- few steps

constexpr bool is_few_steps(const Kernel& k) {
  if (k.kind != KernelKind::rows || k.tile != 0 || !k.rows.is_constant() || !k.cols.is_constant() || k.rows.code < 1 ||
      k.rows.code > 4 || k.cols.code < 1 || k.cols.code > reduction_lanes)
    return false;
  const std::int64_t steps = (k.cols.code + lanes - 1) / lanes * k.rows.code;
  return steps <= 4 && steps * (k.segment[2 * k.sweeps + 1] - k.segment[0]) <= 48;
}
/// One sweep over a row, followed by its row steps.
template <class H, int K, int S, std::size_t... U>
TT_KERNEL_INLINE void few_steps_sweep(Register* r, Place p, std::index_sequence<U...>) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  constexpr int last = static_cast<int>(k.cols.code - 1) % lanes + 1, steps = sizeof...(U);
  using All = Reductions<H, K, S>;
  constexpr int packs = packs_of<lanes_of(k.cols.code)>;
  [[maybe_unused]] Register sums[All::count * packs + 1];
  if constexpr (All::count > 0) All::template begin<packs>(sums);
  const auto step = [&]<int V>(std::integral_constant<int, V>) TT_LAMBDA_INLINE {
    p.col = V * lanes;
    if constexpr (All::count > 0) p.sums = sums + V;
    p.count = V == steps - 1 ? last : lanes;
    run_segment<H, K, S, V == steps - 1 && last != lanes, packs>(r, p);
  };
  (step(std::integral_constant<int, static_cast<int>(U)>{}), ...);
  if constexpr (All::count > 0) All::template fold<lanes_of(k.cols.code)>(r, sums);
  p.col = 0;
  run_segment<H, K, S + 1>(r, p);
}
template <class H, int K, std::size_t... Row, std::size_t... Sweep>
TT_KERNEL_INLINE void few_steps_rows(Place p, std::index_sequence<Row...>, std::index_sequence<Sweep...>) {
  const auto row = [&](std::int64_t n) TT_LAMBDA_INLINE {
    using Steps = std::make_index_sequence<static_cast<std::size_t>((H::plan.kernels[K].cols.code + lanes - 1) / lanes)>;
    Register r[register_count(H::plan.kernels[K])];
    p.row = n;
    run_segment<H, K, 0>(r, p);
    (few_steps_sweep<H, K, 2 * static_cast<int>(Sweep) + 1>(r, p, Steps{}), ...);
  };
  (row(static_cast<std::int64_t>(Row)), ...);
}
template <class H, int K>
TT_KERNEL_INLINE void few_steps_body(const Place& p) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  few_steps_rows<H, K>(p, std::make_index_sequence<static_cast<std::size_t>(k.rows.code)>{},
                       std::make_index_sequence<static_cast<std::size_t>(k.sweeps)>{});
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
