// Argument checks and small helpers for the bodies of further ops. An error is stored in the graph; recording goes on.
//   detail::need_option(x, o.delta > 0, info.name, "delta", o.delta, "above 0")
#pragma once
#include "tt/functional/reductions.hpp"

namespace tt {

/// How a loss is reduced: not at all, to its mean, to its sum.
enum class Reduction { none, mean, sum };
template <>
inline constexpr const char* choices_of<Reduction> = "none|mean|sum";

namespace detail {

/// Fails when an option is out of its bounds.
constexpr bool need_option(const Sym& x, bool fits, const char* op, const char* option, double value, const char* bounds) {
  if (!fits) x.graph->fail({.mistake = Mistake::option_out_of_range, .op = op, .option = option, .bounds = bounds, .real = value});
  return fits;
}
/// Fails when a shape is not `to`.
constexpr bool need_shape(const Sym& x, const Shape& to, const char* op) {
  const Shape s = x.shape();
  const auto differ = [&] { return Failure{.mistake = Mistake::shapes_differ, .op = op, .a = s, .b = to}; };
  bool same = s.rank == to.rank;
  for (int k = 0; k < s.rank && same; ++k) same = x.graph->equal(s[k], to[k], differ);
  if (!same) x.graph->fail(differ());
  return same;
}
constexpr bool need_rank(const Sym& x, int least, int most, const char* op) {
  const int rank = x.shape().rank;
  if (rank < least) x.graph->fail({.mistake = Mistake::rank_too_low, .op = op, .a = x.shape(), .number = least});
  if (rank > most) x.graph->fail({.mistake = Mistake::rank_not_accepted, .op = op, .a = x.shape(), .number = most});
  return rank >= least && rank <= most;
}
constexpr bool need_ranks(std::initializer_list<Sym> all, int rank, const char* op) {
  bool fit = true;
  for (const Sym& x : all) fit = need_rank(x, rank, rank, op) && fit;
  return fit;
}
constexpr bool need_integers(const Sym& x, const char* op) {
  const bool fits = is_integral(x.dtype());
  if (!fits) x.graph->fail({.mistake = Mistake::dtype_not_accepted, .op = op, .dtype = x.dtype()});
  return fits;
}

/// The same elements in another shape.
constexpr Sym reshaped(const Sym& x, const Shape& to) { return {x.graph, x.graph->reshape(x.id, to)}; }
constexpr Sym expanded(const Sym& x, const Shape& to) { return {x.graph, x.graph->broadcast_to(x.id, to)}; }
/// All elements true or false, in the shape of x.
constexpr Sym all_of(const Sym& x, bool v) { return {x.graph, x.graph->constant(DType::boolean, v ? 1 : 0, x.shape())}; }
/// A vector along one axis, reshaped to broadcast to values of that rank.
constexpr Sym along_axis(const Sym& vector, int axis, int rank) {
  Shape to;
  for (int k = 0; k < rank; ++k) to.push_back(k == axis ? vector.shape()[0] : Extent(1));
  return reshaped(vector, to);
}
constexpr Shape without_axis(const Shape& s, int axis) {
  Shape to;
  for (int k = 0; k < s.rank; ++k)
    if (k != axis) to.push_back(s[k]);
  return to;
}
constexpr Shape with_new_axis(const Shape& s, int axis, Extent extent = 1) {
  Shape to;
  for (int k = 0; k <= s.rank; ++k) to.push_back(k < axis ? s[k] : k == axis ? extent : s[k - 1]);
  return to;
}
constexpr unsigned all_axes(const Sym& x) { return (1u << x.shape().rank) - 1; }
constexpr Sym slice(const Sym& x, int axis, Extent start, Extent length, std::int64_t step = 1) {
  return {x.graph, x.graph->slice(x.id, axis, start, length, step)};
}
constexpr Sym cast_to(const Sym& x, DType d) { return {x.graph, x.graph->cast(x.id, d)}; }

/// x, but 0 where x < 0; the gradient at 0 is 0, as of PyTorch's clamp_min.
constexpr Sym positive_part(const Sym& x) { return tt::clamp_min(x, 0); }
/// An elementwise loss, reduced. The mean of no elements is NaN, as in PyTorch.
constexpr Sym reduced(const Sym& loss, Reduction r) {
  if (r == Reduction::none) return loss;
  return r == Reduction::sum ? reduce<Op::sum>(loss, all_axes(loss), false) : mean(loss, all_axes(loss), false);
}
/// The same with weighted elements: the mean is divided by the sum of the weights.
constexpr Sym reduced(const Sym& loss, const Sym& weight, Reduction r, const char* op) {
  if (!weight.defined()) return reduced(loss, r);
  need_shape(weight, loss.shape(), op);
  const Sym weighted = loss * weight;
  if (r != Reduction::mean) return reduced(weighted, r);
  return reduced(weighted, Reduction::sum) / reduce<Op::sum>(weight, all_axes(weight), false);
}

}  // namespace detail
}  // namespace tt
