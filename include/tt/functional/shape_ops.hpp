// Other shapes for the same elements, parts of a value, and a value without its derivative; their arguments are template arguments.
//   tt::transpose(a)    tt::reshape<4, -1>(a)    tt::slice<0, 2, 5>(a)    tt::detach(a)
#pragma once
#include "tt/graph/sym.hpp"

namespace tt {
namespace detail {

template <int A0, int A1>
struct TransposeFn {
  static constexpr Sym record(const Sym& a) { return {a.graph, a.graph->transpose(a.id, A0, A1)}; }
};
template <int... Axes>
struct PermuteFn {
  static constexpr Sym record(const Sym& a) {
    constexpr int axes[] = {Axes..., 0};
    if (a.shape().rank != static_cast<int>(sizeof...(Axes)))
      return {a.graph, a.graph->fail({.mistake = Mistake::not_a_permutation, .op = "permute",
                                      .a = a.shape()}, a.id)};
    return {a.graph, a.graph->permute(a.id, axes)};
  }
};
/// The error when an extent of -1 has no value, as `others`, the product of the other extents, does not divide `size`.
constexpr Mistake indivisible(Extent size, Extent others) {
  return others != Extent(0) && !size.is_constant() ? Mistake::size_cannot_be_checked : Mistake::sizes_differ;
}
template <std::int64_t... E>
struct ReshapeFn {
  static constexpr Sym record(const Sym& a) {
    if (sizeof...(E) > max_rank)
      return {a.graph, a.graph->fail({.mistake = Mistake::rank_too_high, .op = "reshape",
                                      .a = a.shape(), .number = sizeof...(E)}, a.id)};
    Shape to;
    Extent others(1);
    int open = -1, opened = 0;
    const auto add = [&](std::int64_t e) {
      if (e == -1) open = to.rank, ++opened;
      else others = others * Extent(e);
      to.push_back(e == -1 ? 1 : e);
    };
    (add(E), ...);
    const Extent size = a.shape().size();
    Extent rest;
    if (opened > 1 || (opened == 1 && !divide(size, others, rest)))
      return {a.graph, a.graph->fail({.mistake = opened > 1 ? Mistake::sizes_differ : indivisible(size, others), .op = "reshape", .a = a.shape(), .b = to}, a.id)};
    if (opened == 1) to.set(open, rest);
    return {a.graph, a.graph->reshape(a.id, to)};
  }
};
template <std::int64_t... E>
struct BroadcastFn {
  static constexpr Sym record(const Sym& a) {
    return {a.graph, a.graph->broadcast_to(a.id, Shape{E...})};
  }
};
template <int Axis, std::int64_t Start, std::int64_t Length, std::int64_t Step>
struct SliceFn {
  static constexpr Sym record(const Sym& a) {
    const int axis = normalize_axis(Axis, a.shape().rank);
    Extent first = Start;
    if (Start < 0 && axis >= 0) {
      const Extent n = a.shape()[axis];
      if (!n.is_constant()) return {a.graph, a.graph->fail({.mistake = Mistake::extent_along_axis_is_not_constant, .op = "slice", .a = a.shape(), .number = axis}, a.id)};
      first = n.code + Start;
    }
    return {a.graph, a.graph->slice(a.id, Axis, first, Length, Step)};
  }
};
struct DetachFn {
  static constexpr const char* name = "detach";
  static constexpr Sym record(const Sym& a) { return {a.graph, a.graph->detach(a.id)}; }
};
}  // namespace detail

/// Two axes exchanged, by default the last two. Costs nothing.
template <int Axis0 = -2, int Axis1 = -1, Value A>
constexpr auto transpose(A&& a, CallLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::TransposeFn<Axis0, Axis1>>(at, static_cast<A&&>(a));
}
/// Axis k of the result is axis Axes[k] of a.
template <int... Axes, Value A>
constexpr auto permute(A&& a, CallLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::PermuteFn<Axes...>>(at, static_cast<A&&>(a));
}
/// The same elements in row-major order under another shape of the same size. One extent may be -1: it is computed from
/// the others, also where it is known at run time only.
template <std::int64_t... E, Value A>
constexpr auto reshape(A&& a, CallLine at = here()) {
  static_assert(((E >= -1) && ...), "tt: reshape: an extent is a number, or -1 for what the others leave");
  return std::remove_cvref_t<A>::tt_front::template function<detail::ReshapeFn<E...>>(at, static_cast<A&&>(a));
}
/// Axes of extent 1 repeated, from the right.
template <std::int64_t... E, Value A>
constexpr auto broadcast_to(A&& a, CallLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::BroadcastFn<E...>>(at, static_cast<A&&>(a));
}
/// `Length` elements of one axis from `Start` on, `Step` apart; a negative start counts from the end, if the extent is
/// known. If the extent is known at run time only, the call throws Error when it is too small.
template <int Axis, std::int64_t Start, std::int64_t Length, std::int64_t Step = 1, Value A>
constexpr auto slice(A&& a, CallLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::SliceFn<Axis, Start, Length, Step>>(at, static_cast<A&&>(a));
}
/// The value without its derivative.
template <Value A>
constexpr auto detach(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::DetachFn>(at, static_cast<A&&>(a));
}

}  // namespace tt
