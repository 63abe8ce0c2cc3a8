// PyTorch's functions of shapes, with template arguments, for values whose shapes are part of their types.
//   tt::unsqueeze<0>(a)    tt::select<1, -1>(a)    tt::diagonal<0>(a)    tt::roll<1, 0>(a)    auto [q, k, v] = tt::chunk<3, 1>(a);
// For Tensors they are the functions of the same name. Extents must be constant for the axes of diagonal and roll, for
// chunks of unequal extents, and for axes along which select and narrow count from the end.
#pragma once
#include <initializer_list>
#include <tuple>
#include <utility>

#include "tt/functional/checks.hpp"
#include "tt/functional/join_ops.hpp"
#include "tt/functional/shape_ops.hpp"

namespace tt {
namespace detail {

constexpr Sym wrong_axis(const Sym& x, const char* op, int axis) {
  return {x.graph, x.graph->fail({.mistake = Mistake::axis_out_of_range, .op = op, .a = x.shape(), .number = axis}, x.id)};
}
/// f(axis, extent), where `dim` may count from the end.
template <class F>
constexpr Sym on_axis(const Sym& x, const char* op, int dim, const F& f) {
  const int axis = normalize_axis(dim, x.shape().rank);
  return axis < 0 ? wrong_axis(x, op, dim) : f(axis, x.shape()[axis]);
}
constexpr Sym needs_constant(const Sym& x, const char* op, int axis) {
  return {x.graph, x.graph->fail({.mistake = Mistake::extent_along_axis_is_not_constant, .op = op, .a = x.shape(), .number = axis}, x.id)};
}
/// The shape with the axes [first, last) replaced by other extents.
constexpr Shape with_extents(const Shape& s, int first, int last, std::initializer_list<Extent> between) {
  Shape to;
  for (int k = 0; k < first; ++k) to.push_back(s[k]);
  for (const Extent& e : between) to.push_back(e);
  for (int k = last; k < s.rank; ++k) to.push_back(s[k]);
  return to;
}
/// Moves axis `from` to index `to`.
constexpr Sym moved(const Sym& x, int from, int to) {
  int axes[max_rank] = {}, n = 0;
  for (int k = 0; k < x.shape().rank; ++k) {
    if (k == from) continue;
    if (n == to) axes[n++] = from;
    axes[n++] = k;
  }
  if (n == to) axes[n] = from;
  return {x.graph, x.graph->permute(x.id, axes)};
}
/// Elements [start, start + length) of an axis; a negative start counts from the end.
constexpr Sym part(const Sym& x, const char* op, int axis, std::int64_t start, std::int64_t length) {
  const Extent n = x.shape()[axis];
  if (start < 0 && !n.is_constant()) return needs_constant(x, op, axis);
  const std::int64_t first = start < 0 ? n.code + start : start;
  const auto differ = [&] { return Failure{.mistake = Mistake::slice_out_of_range, .op = op, .a = x.shape(), .number = start}; };
  if (first < 0 || !x.graph->at_least(n, first + length, differ)) return {x.graph, x.graph->fail(differ(), x.id)};
  return slice(x, axis, first, length);
}
/// The diagonal number `offset` of axes a and b, whose extents are constants, as the last axis.
constexpr Sym diagonal(const Sym& x, int a, int b, std::int64_t offset) {
  const int rank = x.shape().rank;
  const Sym last = moved(moved(x, a, rank - 1), b > a ? b - 1 : b, rank - 1);  // (..., rows, columns)
  const std::int64_t rows = x.shape()[a].code, columns = x.shape()[b].code, down = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
  const std::int64_t high = rows - down, wide = columns - right, count = high < wide ? high : wide;
  const Sym line = reshaped(last, with_extents(last.shape(), rank - 2, rank, {rows * columns}));
  return slice(line, rank - 2, count > 0 ? down * columns + right : 0, count > 0 ? count : 0, columns + 1);
}

template <int Dim>
struct UnsqueezeFn {
  static constexpr const char* name = "unsqueeze";
  static constexpr Sym record(const Sym& a) { return unsqueeze(a, Dim, name); }
  static auto call(SourceLine at, const auto& a) { return a.unsqueeze(Dim, at); }
};
template <int... Dims>
struct SqueezeFn {
  static constexpr const char* name = "squeeze";
  static constexpr Sym record(const Sym& a) {
    const Shape s = a.shape();
    const unsigned axes = sizeof...(Dims) == 0 ? ~0u : axis_bits(a, Axes{Dims...}, name);
    if (a.graph->failure) return a;
    Shape to;
    for (int k = 0; k < s.rank; ++k)
      if (!(axes >> k & 1) || s[k] != Extent(1)) to.push_back(s[k]);
    return reshaped(a, to);
  }
  static auto call(SourceLine at, const auto& a) {
    if constexpr (sizeof...(Dims) == 0) return a.squeeze(at);
    else return squeeze(a, {Dims...}, at);
  }
};
template <int Start, int End>
struct FlattenFn {
  static constexpr const char* name = "flatten";
  static constexpr Sym record(const Sym& a) {
    const Shape s = a.shape();
    if (s.rank == 0) return reshaped(a, {1});
    const int first = normalize_axis(Start, s.rank), last = normalize_axis(End, s.rank);
    if (first < 0 || last < first) return wrong_axis(a, name, first < 0 ? Start : End);
    return reshaped(a, with_extents(s, first, last + 1, {s.count(first, last + 1)}));
  }
  static auto call(SourceLine at, const auto& a) { return a.flatten(Start, End, at); }
};
template <int Dim, std::int64_t... E>
struct UnflattenFn {
  static constexpr const char* name = "unflatten";
  static constexpr Sym record(const Sym& a) {
    constexpr std::int64_t others = ((E == -1 ? 1 : E) * ... * 1);
    constexpr int open = ((E == -1) + ... + 0);
    static_assert(open <= 1 && ((E >= -1) && ...), "tt: unflatten: an extent is a number, and one may be -1 for what the others leave");
    return on_axis(a, name, Dim, [&](int axis, Extent extent) -> Sym {
      Extent rest(1);
      const auto wrong = [&] { return Failure{.mistake = open ? indivisible(extent, others) : Mistake::sizes_differ, .op = name, .a = {extent}, .b = Shape{(E == -1 ? 1 : E)...}}; };
      if (!(open ? divide(extent, others, rest) : a.graph->equal(extent, others, wrong))) return {a.graph, a.graph->fail(wrong(), a.id)};
      return reshaped(a, with_extents(a.shape(), axis, axis + 1, {(E == -1 ? rest : Extent(E))...}));
    });
  }
  static auto call(SourceLine at, const auto& a) { return a.unflatten(Dim, {E...}, at); }
};
template <int From, int To>
struct MovedimFn {
  static constexpr const char* name = "movedim";
  static constexpr Sym record(const Sym& a) {
    const int from = normalize_axis(From, a.shape().rank), to = normalize_axis(To, a.shape().rank);
    return from < 0 || to < 0 ? wrong_axis(a, name, from < 0 ? From : To) : moved(a, from, to);
  }
  static auto call(SourceLine at, const auto& a) { return a.movedim({From}, {To}, at); }
};
template <int Dim, std::int64_t Index>
struct SelectFn {
  static constexpr const char* name = "select";
  static constexpr Sym record(const Sym& a) {
    return on_axis(a, name, Dim, [&](int axis, Extent) {
      const Sym row = part(a, name, axis, Index, 1);
      return a.graph->failure ? a : reshaped(row, without_axis(a.shape(), axis));
    });
  }
  static auto call(SourceLine at, const auto& a) { return a.select(Dim, Index, at); }
};
template <int Dim, std::int64_t Start, std::int64_t Length>
struct NarrowFn {
  static constexpr const char* name = "narrow";
  static constexpr Sym record(const Sym& a) {
    return on_axis(a, name, Dim, [&](int axis, Extent) { return part(a, name, axis, Start, Length); });
  }
  static auto call(SourceLine at, const auto& a) { return a.narrow(Dim, Start, Length, at); }
};
template <std::int64_t... E>
struct ExpandFn {
  static constexpr const char* name = "expand";
  static constexpr Sym record(const Sym& a) {
    constexpr int rank = sizeof...(E);
    const std::int64_t wanted[] = {E..., 0};
    const Shape s = a.shape();
    Shape to;
    for (int k = 0, more = rank - s.rank; k < rank; ++k) {
      if (wanted[k] == -1 && k < more) return {a.graph, a.graph->fail({.mistake = Mistake::rank_too_low, .op = name, .a = s, .number = rank - k}, a.id)};
      to.push_back(wanted[k] == -1 ? s[k - more] : Extent(wanted[k]));
    }
    return expanded(a, to);
  }
  static auto call(SourceLine at, const auto& a) { return a.expand({E...}, at); }
};
/// The elements of axes Dim1 and Dim2 whose indices differ by Offset, as the last axis.
template <int Offset, int Dim1, int Dim2>
struct DiagonalFn {
  static constexpr const char* name = "diagonal";
  static constexpr Sym record(const Sym& a) {
    const int rank = a.shape().rank, d1 = normalize_axis(Dim1, rank), d2 = normalize_axis(Dim2, rank);
    if (axis_bits(a, Axes{Dim1, Dim2}, name); a.graph->failure) return a;
    for (const int d : {d1, d2})
      if (!a.shape()[d].is_constant()) return needs_constant(a, name, d);
    return diagonal(a, d1, d2, Offset);
  }
  static auto call(SourceLine at, const auto& a) { return a.diagonal(Offset, Dim1, Dim2, at); }
};
template <std::int64_t Shift, int Dim>
struct RollFn {
  static constexpr const char* name = "roll";
  static constexpr Sym record(const Sym& a) {
    return on_axis(a, name, Dim, [&](int axis, Extent extent) -> Sym {
      if (!extent.is_constant()) return needs_constant(a, name, axis);
      const std::int64_t n = extent.code, first = n > 0 ? (Shift % n + n) % n : 0;  // this many come from the end
      if (first == 0) return a;
      const int parts[] = {slice(a, axis, n - first, first).id, slice(a, axis, 0, n - first).id};
      return {a.graph, a.graph->cat(parts, 2, axis)};
    });
  }
  static auto call(SourceLine at, const auto& a) { return a.roll({Shift}, {Dim}, at); }
};
template <std::int64_t... R>
struct RepeatFn {
  static constexpr const char* name = "repeat";
  static constexpr Sym record(const Sym& a) {
    constexpr int rank = sizeof...(R);
    const std::int64_t times[] = {R..., 0};
    const Shape s = a.shape();
    if (s.rank > rank) return {a.graph, a.graph->fail({.mistake = Mistake::rank_not_accepted, .op = name, .a = s, .number = rank}, a.id)};
    if (constexpr int more = ((R != 1) + ... + 0); rank + more > max_rank)
      return {a.graph, a.graph->fail({.mistake = Mistake::rank_too_high, .op = name, .a = s, .number = rank + more}, a.id)};
    Shape apart, repeated, to;  // (1, n, 1, m): each axis after its number of repeats
    for (int k = 0; k < rank; ++k) {
      const Extent own = k < rank - s.rank ? Extent(1) : s[k - (rank - s.rank)];
      if (times[k] != 1) apart.push_back(1), repeated.push_back(times[k]);
      apart.push_back(own), repeated.push_back(own), to.push_back(Extent(times[k]) * own);
    }
    const Sym x = reshaped(a, apart);
    return reshaped(expanded(x, repeated), to);
  }
  static auto call(SourceLine at, const auto& a) { return a.repeat({R...}, at); }
};
template <std::int64_t Repeats, int Dim>
struct RepeatInterleaveFn {
  static constexpr const char* name = "repeat_interleave";
  static constexpr Sym record(const Sym& a) {
    return on_axis(a, name, Dim, [&](int axis, Extent extent) {
      const auto with = [&](std::initializer_list<Extent> between) { return with_extents(a.shape(), axis, axis + 1, between); };
      return reshaped(expanded(unsqueeze(a, axis + 1, name), with({extent, Repeats})), with({extent * Extent(Repeats)}));
    });
  }
  static auto call(SourceLine at, const auto& a) { return a.repeat_interleave(Repeats, Dim, at); }
};
/// Part K of N parts of an axis, of which the last may be shorter, or empty.
template <int N, int K, int Dim>
struct ChunkFn {
  static constexpr const char* name = "chunk";
  static constexpr Sym record(const Sym& a) {
    return on_axis(a, name, Dim, [&](int axis, Extent extent) {
      if (Extent each; divide(extent, N, each)) return slice(a, axis, Extent(K) * each, each);
      if (!extent.is_constant()) return needs_constant(a, name, axis);
      return slice(a, axis, first(extent.code), first(extent.code, K + 1) - first(extent.code));
    });
  }
  static auto call(SourceLine at, const auto& a) {
    const std::int64_t n = a.size(Dim, at);
    return a.narrow(Dim, first(n), first(n, K + 1) - first(n), at);
  }

 private:
  /// The first element of a part, of n elements in all.
  static constexpr std::int64_t first(std::int64_t n, int part = K) {
    const std::int64_t at = part * ((n + N - 1) / N);
    return at < n ? at : n;
  }
};

/// Part K of an axis in parts of these extents.
template <std::size_t K, int Dim, std::int64_t... E>
struct SplitFn {
  static constexpr const char* name = "split";
  static constexpr Sym record(const Sym& a) {
    return on_axis(a, name, Dim, [&](int axis, Extent extent) -> Sym {
      const auto differ = [&] { return Failure{.mistake = Mistake::sizes_differ, .op = name, .a = {extent}, .b = Shape{E...}}; };
      if (!a.graph->equal(extent, (E + ...), differ)) return {a.graph, a.graph->fail(differ(), a.id)};
      constexpr std::int64_t length[] = {E...};
      std::int64_t start = 0;
      for (std::size_t k = 0; k < K; ++k) start += length[k];
      return slice(a, axis, start, length[K]);
    });
  }
  static auto call(SourceLine at, const auto& a) { return split(a, {E...}, Dim, at)[K]; }
};

template <class Fn, class A, class... More>
constexpr auto call_front(SourceLine at, A&& a, More&&... more) {
  return std::remove_cvref_t<A>::tt_front::template function<Fn>(at, static_cast<A&&>(a), static_cast<More&&>(more)...);
}
/// Values with the functions declared here; those of Tensors are in dispatch/.
template <class... A>
concept CompiledValues = (Value<A> && ...) && !(requires { typename std::remove_cvref_t<A>::tt_front::run_time; } || ...);

}  // namespace detail

/// A new axis of extent 1 at index Dim.
template <int Dim, Value A>
constexpr auto unsqueeze(A&& a, CallLine at = here()) { return detail::call_front<detail::UnsqueezeFn<Dim>>(at, static_cast<A&&>(a)); }
/// Without axes of extent 1.
template <class A>
  requires detail::CompiledValues<A>
constexpr auto squeeze(A&& a, CallLine at = here()) { return detail::call_front<detail::SqueezeFn<>>(at, static_cast<A&&>(a)); }
/// Without the named axes, where they have extent 1.
template <int First, int... Dims, Value A>
constexpr auto squeeze(A&& a, CallLine at = here()) { return detail::call_front<detail::SqueezeFn<First, Dims...>>(at, static_cast<A&&>(a)); }
/// All axes as one.
template <class A>
  requires detail::CompiledValues<A>
constexpr auto flatten(A&& a, CallLine at = here()) { return detail::call_front<detail::FlattenFn<0, -1>>(at, static_cast<A&&>(a)); }
/// Axes Start to End as one.
template <int Start, int End = -1, Value A>
constexpr auto flatten(A&& a, CallLine at = here()) { return detail::call_front<detail::FlattenFn<Start, End>>(at, static_cast<A&&>(a)); }
/// Axis Dim split into several; one of their extents may be -1: it is computed from the others.
template <int Dim, std::int64_t... E, Value A>
constexpr auto unflatten(A&& a, CallLine at = here()) { return detail::call_front<detail::UnflattenFn<Dim, E...>>(at, static_cast<A&&>(a)); }
/// Axis From moved to index To; the others keep their order.
template <int From, int To, Value A>
constexpr auto movedim(A&& a, CallLine at = here()) { return detail::call_front<detail::MovedimFn<From, To>>(at, static_cast<A&&>(a)); }
/// Two axes exchanged.
template <int Axis0, int Axis1, Value A>
constexpr auto swapaxes(A&& a, CallLine at = here()) { return transpose<Axis0, Axis1>(static_cast<A&&>(a), at); }
/// Element Index of axis Dim, which is removed; negative indices count from the end.
template <int Dim, std::int64_t Index, Value A>
constexpr auto select(A&& a, CallLine at = here()) { return detail::call_front<detail::SelectFn<Dim, Index>>(at, static_cast<A&&>(a)); }
/// Length elements of axis Dim from Start on, which counts from the end where it is negative.
template <int Dim, std::int64_t Start, std::int64_t Length, Value A>
constexpr auto narrow(A&& a, CallLine at = here()) {
  static_assert(Length >= 0, "tt: narrow: a length is not negative");
  return detail::call_front<detail::NarrowFn<Dim, Start, Length>>(at, static_cast<A&&>(a));
}
/// Axes of extent 1 repeated, from the right; -1 leaves an extent as it is.
template <std::int64_t... E, Value A>
  requires(sizeof...(E) > 0)
constexpr auto expand(A&& a, CallLine at = here()) {
  static_assert(((E >= -1) && ...), "tt: expand: an extent is a number, or -1 for what there is");
  return detail::call_front<detail::ExpandFn<E...>>(at, static_cast<A&&>(a));
}
/// The diagonal number Offset (above the first one) of axes Dim1 and Dim2, as the last axis.
template <int Offset, int Dim1 = 0, int Dim2 = 1, Value A>
constexpr auto diagonal(A&& a, CallLine at = here()) { return detail::call_front<detail::DiagonalFn<Offset, Dim1, Dim2>>(at, static_cast<A&&>(a)); }
/// Elements moved by Shift along axis Dim, cyclically.
template <std::int64_t Shift, int Dim, Value A>
constexpr auto roll(A&& a, CallLine at = here()) { return detail::call_front<detail::RollFn<Shift, Dim>>(at, static_cast<A&&>(a)); }
/// The whole value repeated along each axis; there may be more numbers than axes. NumPy's tile; its repeat is repeat_interleave.
template <std::int64_t... R, Value A>
  requires(sizeof...(R) > 0)
constexpr auto repeat(A&& a, CallLine at = here()) {
  static_assert(((R >= 0) && ...), "tt: repeat: no number is negative");
  return detail::call_front<detail::RepeatFn<R...>>(at, static_cast<A&&>(a));
}
/// Each element of axis Dim repeated `Repeats` times.
template <std::int64_t Repeats, int Dim, Value A>
constexpr auto repeat_interleave(A&& a, CallLine at = here()) {
  static_assert(Repeats >= 0, "tt: repeat_interleave: the number is not negative");
  return detail::call_front<detail::RepeatInterleaveFn<Repeats, Dim>>(at, static_cast<A&&>(a));
}
namespace detail {
/// For several uses of an argument: a reference to an lvalue, a copy of a temporary.
template <class A>
constexpr decltype(auto) used_again(std::remove_reference_t<A>& a) {
  if constexpr (std::is_lvalue_reference_v<A>) return (a);
  else return std::remove_cvref_t<A>(a);
}
}  // namespace detail

/// Axis Dim in N parts as a std::tuple: of equal extents, except the last ones where that is not possible. (There are always N; the last may be empty.)
template <int N, int Dim = 0, Value A>
constexpr auto chunk(A&& a, CallLine at = here()) {
  static_assert(N >= 1, "tt: chunk: at least one part");
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    return std::tuple(detail::call_front<detail::ChunkFn<N, K, Dim>>(at, detail::used_again<A>(a))...);
  }(std::make_integer_sequence<int, N>{});
}
/// Axis Dim in parts of these extents, which add up to its extent, as a std::tuple. (NumPy's split takes the indices at which parts begin.)
template <int Dim, std::int64_t... E, Value A>
  requires(sizeof...(E) > 0)
constexpr auto split(A&& a, CallLine at = here()) {
  static_assert(sizeof...(E) > 1 && ((E >= 0) && ...), "tt: split: the extents of all parts, as in tt::split<0, 2, 4, 1>(a). For equal ones there is chunk");
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::tuple(detail::call_front<detail::SplitFn<K, Dim, E...>>(at, detail::used_again<A>(a))...);
  }(std::make_index_sequence<sizeof...(E)>{});
}

}  // namespace tt
