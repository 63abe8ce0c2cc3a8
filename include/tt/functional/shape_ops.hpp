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
/// Python's x[start:end:step] of an axis of n elements: which element is the first, and how many there are.
struct SlicedPart {
  std::int64_t first = 0, length = 0;
};
constexpr SlicedPart sliced_part(std::int64_t n, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto within = [&](std::int64_t k) { return k < 0 ? (k + n > low ? k + n : low) : k < high ? k : high; };
  const std::int64_t first = within(start), distance = step > 0 ? within(end) - first : first - within(end), by = step > 0 ? step : -step;
  return distance > 0 ? SlicedPart{first, (distance - 1) / by + 1} : SlicedPart{};
}
static_assert(sliced_part(5, 1, 4, 2).length == 2 && sliced_part(5, -2, INT64_MAX, 1).first == 3 && sliced_part(5, 4, INT64_MIN, -2).length == 3);
static_assert(sliced_part(5, 7, 9, 1).length == 0 && sliced_part(5, 0, -1, 1).length == 4 && sliced_part(0, 0, 3, 1).length == 0);
template <int Axis, std::int64_t Start, std::int64_t End, std::int64_t Step>
struct SliceFn {
  static constexpr Sym record(const Sym& a) {
    const int axis = normalize_axis(Axis, a.shape().rank);
    const Extent n = axis < 0 ? Extent(0) : a.shape()[axis];
    constexpr bool counts_from_begin = Start >= 0 && Start != INT64_MAX && (End >= 0 || (Step < 0 && End == INT64_MIN)) && End != INT64_MAX;
    if (!n.is_constant() && !counts_from_begin)
      return {a.graph, a.graph->fail({.mistake = Mistake::extent_along_axis_is_not_constant, .op = "slice", .a = a.shape(), .number = axis}, a.id)};
    const SlicedPart part = sliced_part(n.is_constant() ? n.code : INT64_MAX, Start, End, Step);
    return {a.graph, a.graph->slice(a.id, Axis, part.first, part.length, Step)};
  }
};
struct DetachFn {
  static constexpr const char* name = "detach";
  static constexpr Sym record(const Sym& a) { return {a.graph, a.graph->detach(a.id)}; }
};
}  // namespace detail

/// Two axes exchanged, by default the last two (NumPy's transpose, of all axes, is permute). Costs nothing.
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
/// x[..., Start:End:Step, ...]: elements of one axis from `Start` to before `End`, `Step` apart, as Tensor::slice has them: numbers below 0 count from the end, and
/// both are held within the axis (INT64_MAX: to its end). A step below 0 goes backwards, as NumPy's (End = INT64_MIN: to the first element). Where the extent is known at
/// run time only, numbers count from the begin, and the call throws Error when it is too small. Tensors have steps above 0.
template <int Axis, std::int64_t Start, std::int64_t End, std::int64_t Step = 1, Value A>
constexpr auto slice(A&& a, CallLine at = here()) {
  static_assert(Step != 0 && Step != INT64_MIN, "tt: slice: a step of 0");
  return std::remove_cvref_t<A>::tt_front::template function<detail::SliceFn<Axis, Start, End, Step>>(at, static_cast<A&&>(a));
}
/// The value without its derivative.
template <Value A>
constexpr auto detach(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::DetachFn>(at, static_cast<A&&>(a));
}

}  // namespace tt
