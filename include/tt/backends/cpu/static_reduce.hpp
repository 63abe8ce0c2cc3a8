// Segments of static kernels, and their reductions: the partial results of a sweep are in registers of their own, as many for each
// reduction as a step has packs, and blocks are combined by a tree.
#pragma once
#include "tt/backends/cpu/shuffle.hpp"
#include "tt/backends/cpu/static_step.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

namespace detail {

// ---- segments

/// The StepNumbers of a segment's instructions. The partial results of one reduction are `apart` registers from those of the next.
template <int Length>
struct SegmentNumbers {
  StepNumbers step[Length] = {};
  constexpr SegmentNumbers(const Kernel& k, int first, int apart, const Instruction* instructions,
                           Accesses accesses) {
    int reductions = 0;
    for (int i = 0; i < Length; ++i) {
      const Instruction& x = instructions[first + i];
      step[i] = numbers_of(k, x, accesses, reductions * apart);
      reductions += is_reduction(x.op);
    }
  }
};
template <class H, int K, int S, bool Tail, int Apart, std::size_t... J>
TT_KERNEL_INLINE void run_steps(Register* r, const Place& p, std::index_sequence<J...>) {
  constexpr SegmentNumbers<sizeof...(J)> n(H::plan.kernels[K], H::plan.kernels[K].segment[S], Apart,
                                           H::plan.instructions.begin(), accesses_of(H::plan));
  const Done done[] = {StepOf<H, H::plan.kernels[K].segment[S] + static_cast<int>(J), Tail>::run(
      r, p, fixed(n.step[J].result), fixed(n.step[J].a), fixed(n.step[J].b), fixed(n.step[J].c),
      fixed(n.step[J].bits), fixed(n.step[J].row_stride))...};
  (void)done;
}
/// The instructions of segment S on one step of lanes. Tail: only p.count lanes exist.
template <class H, int K, int S, bool Tail = false, int Apart = packs_per_block>
TT_KERNEL_INLINE void run_segment(Register* r, const Place& p) {
  constexpr int length = H::plan.kernels[K].segment[S + 1] - H::plan.kernels[K].segment[S];
  if constexpr (length > 0) run_steps<H, K, S, Tail, Apart>(r, p, std::make_index_sequence<length>{});
}

// ---- reductions

constexpr int count_reductions(const Kernel& k, int segment, const Instruction* instructions) {
  int n = 0;
  for (int i = k.segment[segment]; i < k.segment[segment + 1]; ++i) n += is_reduction(instructions[i].op);
  return n;
}
/// The index of the n-th reduction's instruction in a segment.
constexpr int reduction_at(const Kernel& k, int segment, const Instruction* instructions, int n) {
  for (int i = k.segment[segment]; i < k.segment[segment + 1]; ++i)
    if (is_reduction(instructions[i].op) && n-- == 0) return i;
  return -1;
}
template <class H, int K, int S>
inline constexpr int reductions = count_reductions(H::plan.kernels[K], S, H::plan.instructions.begin());

/// Partial results of whole blocks, as in graph/reduce_order.hpp.
union Tree {
  tt::detail::PairwiseTree<float> f32;
  tt::detail::PairwiseTree<double> f64;
  tt::detail::PairwiseTree<std::int32_t> i32;
  tt::detail::PairwiseTree<std::int64_t> i64;

  TT_KERNEL_INLINE Tree() {}
  template <class T>
  TT_KERNEL_INLINE tt::detail::PairwiseTree<T>& as() {
    if constexpr (std::is_same_v<T, float>) return f32;
    else if constexpr (std::is_same_v<T, double>) return f64;
    else if constexpr (std::is_same_v<T, std::int32_t>) return i32;
    else return i64;
  }
};

/// The operations of a reduction outside its sweep; sums: its partial results.
template <Op K, DType D>
struct Reducing {
  using T = element_t<D>;
  using C = Carrier<Pack<T>>;

  template <int N>
  static TT_KERNEL_INLINE Done begin(Register* sums) {
#pragma GCC unroll 16
    for (int u = 0; u < N; ++u) sums[u].as<T>() = identity_pack<K, T>();
    return {};
  }
  static TT_KERNEL_INLINE Done copy(Register* to, Register* from) {
#pragma GCC unroll 16
    for (int u = 0; u < packs_per_block; ++u) to[u].as<T>() = from[u].as<T>();
    return {};
  }
  static TT_KERNEL_INLINE Done note_step(PackMask& ordered, Register& a, Register& b) {
    note<K>(ordered, a.as<T>(), b.as<T>());
    return {};
  }
  /// The sum, with NaN in the lanes that are not in `ordered`.
  static TT_KERNEL_INLINE Pack<T> kept(Register& sum, [[maybe_unused]] PackMask ordered) {
    if constexpr (!forgets_nan<K, T>) return sum.as<T>();
    else return C::select(ordered, sum.as<T>(), C::splat(default_nan<T>));
  }
  template <int Lanes>
  static TT_KERNEL_INLINE Done fold_into(Register& result, Register* sums, PackMask ordered) {
    constexpr int packs = packs_of<Lanes>;
    Pack<T> lane[packs];
#pragma GCC unroll 16
    for (int u = 0; u < packs; ++u) lane[u] = sums[u].as<T>();
    result.as<T>() = fold_to_all<K, T, Lanes>(lane, ordered);
    return {};
  }
  template <int Lanes>
  static TT_KERNEL_INLINE Done note_and_fold(Register& result, Register* sums) {
    PackMask ordered = all_ordered();
    for (int u = 0; u < packs_of<Lanes>; ++u) note<K>(ordered, sums[u].as<T>(), sums[u].as<T>());
    return fold_into<Lanes>(result, sums, ordered);
  }
  static TT_KERNEL_INLINE Done reset(auto& tree) {
    tree.template as<T>().used = 0;
    tree.template as<T>().pushed = 0;
    return {};
  }
  static TT_KERNEL_INLINE Done push(Tree& tree, Register* sums, PackMask ordered) {
    Pack<T> lane[packs_per_block];
#pragma GCC unroll 16
    for (int u = 0; u < packs_per_block; ++u) lane[u] = sums[u].as<T>();
    tree.as<T>().push(fold<K, T>(lane, ordered), tt::detail::combine<K, T>);
    return {};
  }
  static TT_KERNEL_INLINE Done result(Register& to, Tree& tree) {
    to.as<T>() = C::splat(tree.as<T>().result(tt::detail::identity<K, T>(), tt::detail::combine<K, T>));
    return {};
  }
  static TT_KERNEL_INLINE Done merge(Register& to, Register& newer) {
    to.as<T>() = Combine<K, T>{}(to.as<T>(), newer.as<T>());
    return {};
  }
  static TT_KERNEL_INLINE Done move(Register& to, Register& sum, PackMask ordered) {
    to.as<T>() = kept(sum, ordered);
    return {};
  }
};

/// All reductions of a segment; the `sums` of one are Apart registers from those of the next.
template <class H, int K, int S, class Is = std::make_integer_sequence<int, reductions<H, K, S>>>
struct Reductions;
template <class H, int K, int S, int... N>
struct Reductions<H, K, S, std::integer_sequence<int, N...>> {
  static constexpr int count = sizeof...(N);
  static constexpr int at[] = {
      reduction_at(H::plan.kernels[K], S, H::plan.instructions.begin(), N)...};
  static constexpr int to[] = {register_number(H::plan.kernels[K], H::plan.instructions[at[N]].dtype,
                                               H::plan.instructions[at[N]].result)...};
  template <int I>
  using Of = Reducing<H::plan.instructions[at[I]].op, H::plan.instructions[at[I]].dtype>;

  template <int Width>
  static TT_KERNEL_INLINE void begin(Register* sums) {
    const Done done[] = {Of<N>::template begin<Width>(sums + N * Width)...};
    (void)done;
  }
  /// Of `Lanes` lanes each, which may differ from the identity.
  template <int Lanes>
  static TT_KERNEL_INLINE void fold(Register* r, Register* sums) {
    const Done done[] = {Of<N>::template note_and_fold<Lanes>(r[to[N]], sums + N * packs_of<Lanes>)...};
    (void)done;
  }
};

/// A row reduced: 64 lanes over a block of columns, folded; blocks combined by a tree.
template <class H, int K, int S, int... N>
TT_KERNEL_INLINE void reduce_row(Register* r, Place p, std::int64_t cols, std::integer_sequence<int, N...>) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  constexpr bool one_block = k.cols.is_constant() && k.cols.code <= row_block;
  using All = Reductions<H, K, S>;
  constexpr int packs = packs_per_block, used = k.cols.is_constant() ? lanes_of(k.cols.code) : reduction_lanes;
  Register sums[All::count * packs], rest[All::count * packs];
  PackMask ordered[All::count];
  Tree tree[one_block ? 1 : All::count];
  if constexpr (!one_block) {
    const Done reset[] = {All::template Of<N>::reset(tree[N])...};
    (void)reset;
  }
  for (std::int64_t block = 0; block < cols || block == 0; block += row_block) {
    All::template begin<packs>(sums);
    for (PackMask& m : ordered) m = all_ordered();
    const std::int64_t end = one_block || cols < block + row_block ? cols : block + row_block;
    p.col = block;
    if constexpr (!k.cols.is_constant() || k.cols.code >= reduction_lanes)
      for (; p.col + reduction_lanes <= end; p.col += reduction_lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < packs; ++u) {
          Place q = p;
          q.col += u * lanes;
          q.sums = sums + u;
          run_segment<H, K, S>(r, q);
          if (u % 2 == 0) continue;
          const Done noted[] = {
              All::template Of<N>::note_step(ordered[N], sums[N * packs + u - 1], sums[N * packs + u])...};
          (void)noted;
        }
      }
    // A copy for the remaining columns: its index is not constant, and `sums` are in registers.
    const Done copied[] = {All::template Of<N>::copy(rest + N * packs, sums + N * packs)...};
    (void)copied;
    p.sums = rest;
    if constexpr (!k.cols.is_constant() || k.cols.code % reduction_lanes >= lanes)
      for (; p.col + lanes <= end; p.col += lanes, ++p.sums) run_segment<H, K, S>(r, p);
    if constexpr (!k.cols.is_constant() || k.cols.code % lanes != 0)
      if (p.col < end) {
        Place q = p;
        q.count = static_cast<int>(end - p.col);
        run_segment<H, K, S, true>(r, q);
      }
    if constexpr (!k.cols.is_constant() || k.cols.code % reduction_lanes != 0)
#pragma GCC unroll 8
      for (int u = 0; u < packs; u += 2) {
        const Done noted[] = {
            All::template Of<N>::note_step(ordered[N], rest[N * packs + u], rest[N * packs + u + 1])...};
        (void)noted;
      }
    if constexpr (one_block) {
      const Done folded[] = {All::template Of<N>::template fold_into<used>(r[All::to[N]], rest + N * packs, ordered[N])...};
      (void)folded;
    } else {
      const Done pushed[] = {All::template Of<N>::push(tree[N], rest + N * packs, ordered[N])...};
      (void)pushed;
    }
  }
  if constexpr (!one_block) {
    const Done results[] = {All::template Of<N>::result(r[All::to[N]], tree[N])...};
    (void)results;
  }
}
template <class H, int K, int S>
TT_KERNEL_INLINE void reducing_sweep(Register* r, const Place& p, std::int64_t cols) {
  reduce_row<H, K, S>(r, p, cols, std::make_integer_sequence<int, reductions<H, K, S>>{});
}

/// Sums over the parts of ColumnParts; `Together` parts are summed side by side, as each addition of a single sum would wait for the one before.
template <class H, int K, int Width, int Together, bool Tail, class Is = std::make_integer_sequence<int, reductions<H, K, 1>>>
struct ColumnSums;
template <class H, int K, int Width, int Together, bool Tail, int... N>
struct ColumnSums<H, K, Width, Together, Tail, std::integer_sequence<int, N...>> {
  using All = Reductions<H, K, 1>;
  static constexpr int apart = Width * Together, count = sizeof...(N) * Width;

  /// One row of each part, for `Width` vectors of columns.
  static TT_KERNEL_INLINE void add_row(Register* r, const Place& p, std::int64_t row, int part, Register* sums, PackMask* ordered) {
#pragma GCC unroll 4
    for (int v = part * Width; v < (part + 1) * Width; ++v) {
      Place at = p;
      at.row = row;
      at.col += v % Width * lanes;
      at.sums = sums + v;
      run_segment<H, K, 1, Tail, apart>(r, at);
      const Done noted[] = {All::template Of<N>::note_step(ordered[N * apart + v], sums[N * apart + v], sums[N * apart + v])...};
      (void)noted;
    }
  }
  /// The sums over the parts from `part` on, below output row p.row, combined pairwise in `to`.
  static TT_KERNEL_INLINE void run(Register* r, const Place& p, const tt::detail::ColumnParts& parts, std::int64_t part, Register* to) {
    static constexpr const Kernel& k = H::plan.kernels[K];
    constexpr bool one_block = k.inner.is_constant() && k.inner.code <= column_block && !k.row_order;
    constexpr int step = k.row_order ? reduction_lanes : 1;
    const std::int64_t first = p.row * parts.n, end = one_block ? parts.n : parts.end(part), last = Together > 1 ? parts.begin(Together - 1) : 0;
    Register sums[All::count * apart];
    PackMask ordered[All::count * apart];
    All::template begin<apart>(sums);
    for (PackMask& m : ordered) m = all_ordered();
    std::int64_t q = one_block ? 0 : parts.begin(part);
    for (; q + last < (k.row_order || Together == 1 ? end : end + last); q += step)
#pragma GCC unroll 4
      for (int t = 0; t < Together; ++t) add_row(r, p, first + q + parts.begin(t), t, sums, ordered);
    if constexpr (Together > 1 && k.row_order && !(k.inner.is_constant() && k.inner.code % reduction_lanes == 0))
#pragma GCC unroll 4
      for (int t = 0; t < Together; ++t)
        if (q + parts.begin(t) < end) add_row(r, p, first + q + parts.begin(t), t, sums, ordered);
#pragma GCC unroll 16
    for (int v = 0; v < apart; ++v) {
      const Done kept[] = {All::template Of<N>::move(sums[N * apart + v], sums[N * apart + v], ordered[N * apart + v])...};
      (void)kept;
    }
#pragma GCC unroll 4
    for (int v = 0; v < Width; ++v) {
      if constexpr (Together == 4) {
        const Done merged[] = {(All::template Of<N>::merge(sums[N * apart + v], sums[N * apart + v + Width]),
                                All::template Of<N>::merge(sums[N * apart + v + 2 * Width], sums[N * apart + v + 3 * Width]),
                                All::template Of<N>::merge(sums[N * apart + v], sums[N * apart + v + 2 * Width]))...};
        (void)merged;
      }
      const Done moved[] = {All::template Of<N>::move(to[N * Width + v], sums[N * apart + v], all_ordered())...};
      (void)moved;
    }
  }
  static TT_KERNEL_INLINE void merge(Register* to, Register* newer) {
#pragma GCC unroll 4
    for (int v = 0; v < Width; ++v) {
      const Done merged[] = {All::template Of<N>::merge(to[N * Width + v], newer[N * Width + v])...};
      (void)merged;
    }
  }
  static TT_KERNEL_INLINE void finish(Register* r, Place p, Register* sums) {
#pragma GCC unroll 4
    for (int v = 0; v < Width; ++v, p.col += lanes) {
      const Done moved[] = {All::template Of<N>::move(r[All::to[N]], sums[N * Width + v], all_ordered())...};
      (void)moved;
      run_segment<H, K, 2, Tail>(r, p);
    }
  }
};

/// Sums over the rows below output row p.row, `Width` vectors of columns at a time.
template <class H, int K, int Width, bool Tail>
TT_KERNEL_INLINE void sum_columns(Register* r, const Place& p, std::int64_t inner) {
  static constexpr const Kernel& k = H::plan.kernels[K];
  constexpr bool one_block = k.inner.is_constant() && k.inner.code <= column_block && !k.row_order;
  constexpr bool waits = Width == 1 && k.cols.is_constant() && k.cols.code <= lanes;
  constexpr int together = one_block ? 1 : k.row_order || waits ? 4 : 1;
  using One = ColumnSums<H, K, Width, 1, Tail>;
  static constexpr tt::detail::ColumnParts known(k.inner.is_constant() ? k.inner.code : 0, k.row_order);
  const tt::detail::ColumnParts parts = k.inner.is_constant() ? known : tt::detail::ColumnParts(inner, k.row_order);
  if constexpr (one_block) {
    Register sums[One::count];
    One::run(r, p, parts, 0, sums);
    One::finish(r, p, sums);
  } else {
    Register level[tt::detail::most_parts][One::count];  // combined pairwise, like the carries of a counter
    int used = 0;
    std::int64_t part = 0;
    const std::int64_t count = parts.count() > 0 ? parts.count() : 1;
    const auto carry = [&](std::int64_t n) TT_LAMBDA_INLINE {
      for (++used; n & 1; n >>= 1, --used) One::merge(level[used - 2], level[used - 1]);
    };
    if constexpr (together > 1)
      for (const std::int64_t whole = k.row_order ? count : inner / column_block; part + together <= whole; part += together) {
        ColumnSums<H, K, Width, together, Tail>::run(r, p, parts, part, level[used]);
        carry(part / together);
      }
    for (; part < count; ++part) {
      One::run(r, p, parts, part, level[used]);
      carry(part);
    }
    for (; used > 1; --used) One::merge(level[used - 2], level[used - 1]);
    One::finish(r, p, level[0]);
  }
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
