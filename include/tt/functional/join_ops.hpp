// Concatenation, replacement of a part of a value, and triangles of matrices.
//   tt::cat<1>(a, b, c)    tt::cat({x, y, z}, 1)    tt::stack(a, b)    tt::slice_scatter<0, 3>(a, part)    tt::tril(a)
#pragma once
#include "tt/functional/tensor_ops.hpp"

namespace tt {
namespace detail {

/// A new axis of extent 1.
constexpr Sym unsqueeze(const Sym& x, int axis, const char* op) {
  const Shape s = x.shape();
  const int k = normalize_axis(axis, s.rank + 1);
  if (k < 0) return {x.graph, x.graph->fail({.mistake = Mistake::axis_out_of_range, .op = op, .a = s, .number = axis}, x.id)};
  if (s.rank == max_rank)
    return {x.graph, x.graph->fail({.mistake = Mistake::rank_too_high, .op = op, .a = s, .number = s.rank + 1}, x.id)};
  Shape to;
  for (int j = 0; j <= s.rank; ++j) to.push_back(j < k ? s[j] : j == k ? Extent(1) : s[j - 1]);
  return {x.graph, x.graph->reshape(x.id, to)};
}

}  // namespace detail

struct Cat {
  struct Options {
    int dim = 0;
  };
  static constexpr OpInfo info{.name = "cat", .widens = false, .arguments = "tensors..."};
  static constexpr Sym body(const Syms& parts, const Options& o) {
    Vec<int> id;
    for (int k = 0; k < parts.size(); ++k) id.push_back(parts[k].id);
    return {parts[0].graph, parts[0].graph->cat(id.begin(), id.size(), o.dim)};
  }
};
struct Stack {
  using Options = Cat::Options;
  static constexpr OpInfo info{.name = "stack", .widens = false, .arguments = "tensors..."};
  static constexpr Sym body(const Syms& parts, const Options& o) {
    Vec<Sym> rows;
    for (int k = 0; k < parts.size(); ++k) rows.push_back(detail::unsqueeze(parts[k], o.dim, info.name));
    return Cat::body({rows.begin(), rows.size()}, o);
  }
};
struct SliceScatter {
  struct Options {
    int dim = 0;
    SizeOption start;
  };
  static constexpr OpInfo info{.name = "slice_scatter", .widens = false, .arguments = "input, src"};
  static constexpr Sym body(const Sym& base, const Sym& part, const Options& o) {
    return {base.graph, base.graph->slice_scatter(base.id, part.id, o.dim, o.start.extent)};
  }
};
/// The elements of a matrix, or of several, with column - row <= diagonal (`Lower`) or >= diagonal; zeros for the others.
template <bool Lower>
struct Triangle {
  struct Options {
    SizeOption diagonal;
  };
  static constexpr OpInfo info{.name = Lower ? "tril" : "triu", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    const Shape s = x.shape();
    if (s.rank < 2) return {x.graph, x.graph->fail({.mistake = Mistake::rank_too_low, .op = info.name, .a = s, .number = 2}, x.id)};
    const Sym row = detail::iota_like(x, 1u << (s.rank - 2)), column = detail::iota_like(x, 1u << (s.rank - 1));
    const Sym bound = row + Sym{x.graph, x.graph->extent(DType::i64, o.diagonal.extent)};
    const Sym zero = {x.graph, x.graph->constant(x.dtype(), 0)};
    return Lower ? tt::where(column <= bound, x, zero) : tt::where(column >= bound, x, zero);
  }
};

/// Values concatenated along an axis; the other extents are equal, those along the axis constants (for Tensors: any).
/// The result has the highest of the dtypes. Costs a copy of each, or nothing where a value is computed only for this.
template <int Axis = 0, Value A, Value B>
constexpr CalledStructured<Structured<Cat, Cat::Options{Axis}>, A, B> cat(A&& a, B&& b, CallLine at = here()) {
  return call_structured<Cat, Cat::Options{Axis}>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <int Axis = 0, Value A, Value B, Value C>
constexpr CalledStructured<Structured<Cat, Cat::Options{Axis}>, A, B, C> cat(A&& a, B&& b, C&& c, CallLine at = here()) {
  return call_structured<Cat, Cat::Options{Axis}>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
}
template <int Axis = 0, Value A, Value B, Value C, Value D>
constexpr CalledStructured<Structured<Cat, Cat::Options{Axis}>, A, B, C, D> cat(A&& a, B&& b, C&& c, D&& d, CallLine at = here()) {
  return call_structured<Cat, Cat::Options{Axis}>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), static_cast<D&&>(d));
}
template <int Axis = 0, Value A, Value B, Value C, Value D, Value E, Value... F>
constexpr auto cat(A&& a, B&& b, C&& c, D&& d, E&& e, F&&... f) {
  return cat<Axis>(cat<Axis>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), static_cast<D&&>(d)), static_cast<E&&>(e),
                   static_cast<F&&>(f)...);
}
/// Values of one shape, stacked along a new axis.
template <int Axis = 0, Value A, Value B>
constexpr CalledStructured<Structured<Stack, Stack::Options{Axis}>, A, B> stack(A&& a, B&& b, CallLine at = here()) {
  return call_structured<Stack, Stack::Options{Axis}>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <int Axis = 0, Value A, Value B, Value C>
constexpr CalledStructured<Structured<Stack, Stack::Options{Axis}>, A, B, C> stack(A&& a, B&& b, C&& c, CallLine at = here()) {
  return call_structured<Stack, Stack::Options{Axis}>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
}
template <int Axis = 0, Value A, Value B, Value C, Value D>
constexpr CalledStructured<Structured<Stack, Stack::Options{Axis}>, A, B, C, D> stack(A&& a, B&& b, C&& c, D&& d, CallLine at = here()) {
  return call_structured<Stack, Stack::Options{Axis}>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), static_cast<D&&>(d));
}
/// `base` with `part` in place of its elements from `Start` on along an axis, in the dtype of `base`. (A Tensor `base`
/// itself is not changed.)
template <int Axis, std::int64_t Start, Value A, Value B>
constexpr CalledStructured<Structured<SliceScatter, SliceScatter::Options{Axis, Start}>, A, B> slice_scatter(A&& base, B&& part, CallLine at = here()) {
  return call_structured<SliceScatter, SliceScatter::Options{Axis, Start}>(at, static_cast<A&&>(base), static_cast<B&&>(part));
}
template <DynamicAxes A>
constexpr A slice_scatter(const A& base, const std::type_identity_t<A>& part, int dim, const SizeOption& start, SourceLine at = here()) {
  return call_with<SliceScatter>(at, {dim, start}, base, part);
}
/// The lower triangle of a matrix, or of each of several: zeros above the diagonal number `Diagonal`, which is kept.
template <std::int64_t Diagonal = 0, Value A>
constexpr CalledStructured<Structured<Triangle<true>, Triangle<true>::Options{Diagonal}>, A> tril(A&& a, CallLine at = here()) {
  return call_structured<Triangle<true>, Triangle<true>::Options{Diagonal}>(at, static_cast<A&&>(a));
}
template <DynamicAxes A>
constexpr A tril(const A& x, const SizeOption& diagonal, SourceLine at = here()) {
  return call_with<Triangle<true>>(at, {diagonal}, x);
}
/// The upper triangle: zeros below the diagonal number `Diagonal`.
template <std::int64_t Diagonal = 0, Value A>
constexpr CalledStructured<Structured<Triangle<false>, Triangle<false>::Options{Diagonal}>, A> triu(A&& a, CallLine at = here()) {
  return call_structured<Triangle<false>, Triangle<false>::Options{Diagonal}>(at, static_cast<A&&>(a));
}
template <DynamicAxes A>
constexpr A triu(const A& x, const SizeOption& diagonal, SourceLine at = here()) {
  return call_with<Triangle<false>>(at, {diagonal}, x);
}

}  // namespace tt
