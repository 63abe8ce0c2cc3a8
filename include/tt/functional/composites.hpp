// Functions made of others, for values whose shapes are in their types: norms, means with variances, joins by rows and
// columns, rotated and repeated values. PyTorch's names; PyTorch's arguments are template arguments.
//   tt::norm<1>(a)    auto [v, m] = tt::var_mean<0>(a);    tt::vstack(u, v)    tt::rot90(a)
// For Tensors they are the functions of the same name.
#pragma once
#include "tt/functional/elementwise.hpp"
#include "tt/functional/products.hpp"

namespace tt {
namespace detail {

template <int Dim>
struct CrossFn {
  static constexpr const char* name = "cross";
  static constexpr Sym record(const Sym& a, const Sym& b) {
    if (a.shape().rank != b.shape().rank) return {a.graph, a.graph->fail({.mistake = Mistake::shapes_differ, .op = name, .a = a.shape(), .b = b.shape()}, a.id)};
    const Sym both = a * b;  // has their shape
    return a.graph->failure ? a : on_axis(both, name, Dim, [&](int axis, Extent extent) -> Sym {
      if (extent != Extent(3)) return {a.graph, a.graph->fail({.mistake = Mistake::sizes_differ, .op = name, .a = {extent}, .b = {3}}, a.id)};
      return Cross::body(expanded(a, both.shape()), expanded(b, both.shape()), {axis});
    });
  }
};
struct TraceFn {
  static constexpr const char* name = "trace";
  static constexpr Sym record(const Sym& a) {
    const Sym d = need_rank(a, 2, 2, name) ? DiagonalFn<0, 0, 1>::record(a) : a;
    return a.graph->failure ? a : reduce<Op::sum>(d, 1, false);
  }
};
template <int N, int Dim>
struct DiffFn {
  static constexpr const char* name = "diff";
  static constexpr Sym record(const Sym& a) {
    return on_axis(a, name, Dim, [&](int axis, Extent extent) -> Sym {
      if (!extent.is_constant()) return needs_constant(a, name, axis);
      Sym r = a;
      std::int64_t n = extent.code;
      for (int k = 0; k < N && n > 0; ++k, --n) {
        const Sym above = slice(r, axis, 1, n - 1), below = slice(r, axis, 0, n - 1);
        r = a.dtype() == DType::boolean ? above != below : above - below;
      }
      return r;
    });
  }
};
template <int Dim>
struct TrapezoidFn {
  static constexpr const char* name = "trapezoid";
  static constexpr Sym record(const Sym& a) {
    return on_axis(a, name, Dim, [&](int axis, Extent extent) -> Sym {
      if (!extent.is_constant()) return needs_constant(a, name, axis);
      const std::int64_t n = extent.code > 0 ? extent.code - 1 : 0;
      return reduce<Op::sum>((slice(a, axis, extent.code - n, n) + slice(a, axis, 0, n)) * 0.5, 1u << axis, false);
    });
  }
};

/// At least Rank axes, added where PyTorch adds them: two before those of a vector, the third one at the end.
template <int Rank>
struct AtLeastFn {
  static constexpr const char* name = "atleast";
  static constexpr Sym record(const Sym& a) {
    const Shape s = a.shape();
    if (s.rank >= Rank) return a;
    Shape to;
    for (int k = 0; k < (Rank > 1 && s.rank < 2 ? 1 : 0); ++k) to.push_back(1);
    for (int k = 0; k < s.rank; ++k) to.push_back(s[k]);
    while (to.rank < Rank) to.push_back(1);
    return reshaped(a, to);
  }
};
/// Values of at least Rank axes, concatenated along axis Axis, or along axis 0 if they have one axis.
template <FixedText Name, int Rank, int Axis>
struct StackedFn {
  static constexpr const char* name = Name.text;
  template <class... S>
  static constexpr Sym record(const S&... s) {
    const Sym parts[] = {AtLeastFn<Rank>::record(s)...};
    return Cat::body({parts, sizeof...(S)}, {parts[0].shape().rank > Axis ? Axis : 0});
  }
};
/// Vectors as columns, matrices side by side.
struct ColumnStackFn {
  static constexpr const char* name = "column_stack";
  template <class... S>
  static constexpr Sym record(const S&... s) {
    const auto column = [](const Sym& x) { return x.shape().rank < 2 ? reshaped(x, {x.shape().size(), 1}) : x; };
    const Sym parts[] = {column(s)...};
    return Cat::body({parts, sizeof...(S)}, {1});
  }
};
template <int... Dims>
struct FlipFn {
  static constexpr const char* name = "flip";
  static constexpr Sym record(const Sym& a) { return Flip::body(a, {Axes{Dims...}}); }
};
/// Rotated by K quarter turns from axis D0 towards D1.
template <int K, int D0, int D1>
struct Rot90Fn {
  static constexpr const char* name = "rot90";
  static constexpr Sym record(const Sym& a) {
    constexpr int turns = (K % 4 + 4) % 4;
    const int from = normalize_axis(D0, a.shape().rank), to = normalize_axis(D1, a.shape().rank);
    if (axis_bits(a, Axes{D0, D1}, name); a.graph->failure || turns == 0) return a;
    if constexpr (turns == 2) return Flip::body(a, {Axes{D0, D1}});
    int axes[max_rank];
    for (int k = 0; k < a.shape().rank; ++k) axes[k] = k == from ? to : k == to ? from : k;
    return {a.graph, a.graph->permute(Flip::body(a, {Axes{turns == 1 ? D1 : D0}}).id, axes)};
  }
};
template <int Offset>
struct DiagEmbedFn {
  static constexpr const char* name = "diag_embed";
  static constexpr Sym record(const Sym& a) { return need_rank(a, 1, max_rank - 1, name) ? DiagEmbed::body(a, {Offset}) : a; }
};
template <int Offset>
struct DiagFn {
  static constexpr const char* name = "diag";
  static constexpr Sym record(const Sym& a) {
    if (!need_rank(a, 1, 2, name)) return a;
    return a.shape().rank == 1 ? DiagEmbed::body(a, {Offset}) : DiagonalFn<Offset, 0, 1>::record(a);
  }
};
template <int Offset>
struct DiagflatFn {
  static constexpr const char* name = "diagflat";
  static constexpr Sym record(const Sym& a) { return DiagEmbed::body(reshaped(a, {a.shape().size()}), {Offset}); }
};
/// In the shape of another value.
template <bool Repeat>
struct InShapeOfFn {
  static constexpr const char* name = Repeat ? "expand_as" : "reshape_as";
  static constexpr Sym record(const Sym& a, const Sym& like) { return Repeat ? expanded(a, like.shape()) : reshaped(a, like.shape()); }
};

/// Fn with its own name in errors, which are errors of its parts.
template <class Fn>
struct Composite {
  static constexpr const char* name = Fn::name;
  template <class... S>
  static constexpr Sym record(const S&... s) {
    Graph* graph = nullptr;
    ((graph = s.graph), ...);
    const bool failed = static_cast<bool>(graph->failure);
    const Sym r = Fn::record(s...);
    if (!failed && graph->failure) graph->failure.op = name;
    return r;
  }
};
template <class Fn, class A, class... More>
constexpr auto call_composite(SourceLine at, A&& a, More&&... more) {
  return call_front<Composite<Fn>>(at, static_cast<A&&>(a), static_cast<More&&>(more)...);
}

}  // namespace detail

/// The vector product along an axis of three.
template <int Dim = -1, class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto cross(A&& a, B&& b, CallLine at = here()) { return detail::call_composite<detail::CrossFn<Dim>>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// The sum of the diagonal of a matrix.
template <class A>
  requires detail::CompiledValues<A>
constexpr auto trace(A&& a, CallLine at = here()) { return detail::call_composite<detail::TraceFn>(at, static_cast<A&&>(a)); }

/// The root of the sum of squares over the axes, all if there are none. The gradient at 0 is 0.
template <int... Dims, class A>
  requires detail::CompiledValues<A>
constexpr CalledStructured<Structured<VectorNorm, VectorNorm::Options{2, Axes{Dims...}}>, A> norm(A&& a, CallLine at = here()) { return call_structured<VectorNorm, VectorNorm::Options{2, Axes{Dims...}}>(at, static_cast<A&&>(a)); }
/// The norm of the difference of two values.
template <double P = 2.0, class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto dist(A&& a, B&& b, CallLine at = here()) { return call_structured<VectorNorm, VectorNorm::Options{.ord = P}>(at, static_cast<A&&>(a) - static_cast<B&&>(b)); }
namespace linalg {
/// (sum |x|^P)^(1 / P) over the axes, all if there are none; for infinity the largest |x|, for minus infinity the
/// smallest, for 0 the number of nonzero elements.
template <double P, int... Dims, class A>
  requires detail::CompiledValues<A>
constexpr CalledStructured<Structured<VectorNorm, VectorNorm::Options{P, Axes{Dims...}}>, A> vector_norm(A&& a, CallLine at = here()) { return call_structured<VectorNorm, VectorNorm::Options{P, Axes{Dims...}}>(at, static_cast<A&&>(a)); }
}  // namespace linalg
/// The variance over the axes (all if none), divided by n - 1, and the mean.
template <int... Dims, class A>
  requires detail::CompiledValues<A>
constexpr auto var_mean(A&& a, CallLine at = here()) { return std::tuple(var<Dims...>(detail::used_again<A>(a), at), mean<Dims...>(detail::used_again<A>(a), at)); }
/// The standard deviation, and the mean.
template <int... Dims, class A>
  requires detail::CompiledValues<A>
constexpr auto std_mean(A&& a, CallLine at = here()) { return std::tuple(tt::std<Dims...>(detail::used_again<A>(a), at), mean<Dims...>(detail::used_again<A>(a), at)); }
/// The smallest and the largest element over the axes.
template <int... Dims, class A>
  requires detail::CompiledValues<A>
constexpr auto aminmax(A&& a, CallLine at = here()) { return std::tuple(amin<Dims...>(detail::used_again<A>(a), at), amax<Dims...>(detail::used_again<A>(a), at)); }
/// The mean of the elements that are not NaN.
template <int... Dims, class A>
  requires detail::CompiledValues<A>
constexpr CalledStructured<Structured<Nanmean, ReductionOptions{Axes{Dims...}}>, A> nanmean(A&& a, CallLine at = here()) { return call_structured<Nanmean, ReductionOptions{Axes{Dims...}}>(at, static_cast<A&&>(a)); }
/// softmax of -x along one axis.
template <int Dim, class A>
  requires detail::CompiledValues<A>
constexpr auto softmin(A&& a, CallLine at = here()) { return softmax<Dim>(-static_cast<A&&>(a), at); }
/// Differences of consecutive elements along an axis, N times.
template <int N = 1, int Dim = -1, class A>
  requires detail::CompiledValues<A>
constexpr auto diff(A&& a, CallLine at = here()) {
  static_assert(N >= 0, "tt: diff: the number of times is not negative");
  return detail::call_composite<detail::DiffFn<N, Dim>>(at, static_cast<A&&>(a));
}
/// The integral along an axis by the trapezoid rule, for points 1 apart.
template <int Dim = -1, class A>
  requires detail::CompiledValues<A>
constexpr auto trapezoid(A&& a, CallLine at = here()) { return detail::call_composite<detail::TrapezoidFn<Dim>>(at, static_cast<A&&>(a)); }

/// At least one axis, two, three: (n) becomes (1, n), and (1, n, 1).
template <class A>
  requires detail::CompiledValues<A>
constexpr auto atleast_1d(A&& a, CallLine at = here()) { return detail::call_composite<detail::AtLeastFn<1>>(at, static_cast<A&&>(a)); }
template <class A>
  requires detail::CompiledValues<A>
constexpr auto atleast_2d(A&& a, CallLine at = here()) { return detail::call_composite<detail::AtLeastFn<2>>(at, static_cast<A&&>(a)); }
template <class A>
  requires detail::CompiledValues<A>
constexpr auto atleast_3d(A&& a, CallLine at = here()) { return detail::call_composite<detail::AtLeastFn<3>>(at, static_cast<A&&>(a)); }
/// Concatenated along the second axis; vectors along their only one.
template <class... A>
  requires detail::CompiledValues<A...>
constexpr auto hstack(A&&... a) { return detail::call_composite<detail::StackedFn<"hstack", 1, 1>>(SourceLine{}, static_cast<A&&>(a)...); }
/// Concatenated along the first axis; vectors as rows.
template <class... A>
  requires detail::CompiledValues<A...>
constexpr auto vstack(A&&... a) { return detail::call_composite<detail::StackedFn<"vstack", 2, 0>>(SourceLine{}, static_cast<A&&>(a)...); }
/// Concatenated along the third axis.
template <class... A>
  requires detail::CompiledValues<A...>
constexpr auto dstack(A&&... a) { return detail::call_composite<detail::StackedFn<"dstack", 3, 2>>(SourceLine{}, static_cast<A&&>(a)...); }
/// Vectors as columns, matrices side by side.
template <class... A>
  requires detail::CompiledValues<A...>
constexpr auto column_stack(A&&... a) { return detail::call_composite<detail::ColumnStackFn>(SourceLine{}, static_cast<A&&>(a)...); }
/// Columns from right to left.
template <class A>
  requires detail::CompiledValues<A>
constexpr auto fliplr(A&& a, CallLine at = here()) { return detail::call_composite<detail::FlipFn<1>>(at, static_cast<A&&>(a)); }
/// Rows from the last to the first.
template <class A>
  requires detail::CompiledValues<A>
constexpr auto flipud(A&& a, CallLine at = here()) { return detail::call_composite<detail::FlipFn<0>>(at, static_cast<A&&>(a)); }
/// Rotated by K quarter turns from axis D0 towards D1.
template <int K = 1, int D0 = 0, int D1 = 1, class A>
  requires detail::CompiledValues<A>
constexpr auto rot90(A&& a, CallLine at = here()) { return detail::call_composite<detail::Rot90Fn<K, D0, D1>>(at, static_cast<A&&>(a)); }
/// All elements as a vector.
template <class A>
  requires detail::CompiledValues<A>
constexpr auto ravel(A&& a, CallLine at = here()) { return flatten(static_cast<A&&>(a), at); }
/// The last axis as the diagonal number Offset of square matrices of zeros.
template <int Offset = 0, class A>
  requires detail::CompiledValues<A>
constexpr auto diag_embed(A&& a, CallLine at = here()) { return detail::call_composite<detail::DiagEmbedFn<Offset>>(at, static_cast<A&&>(a)); }
/// For a vector the matrix with this diagonal, for a matrix its diagonal.
template <int Offset = 0, class A>
  requires detail::CompiledValues<A>
constexpr auto diag(A&& a, CallLine at = here()) { return detail::call_composite<detail::DiagFn<Offset>>(at, static_cast<A&&>(a)); }
/// All elements as the diagonal of a matrix.
template <int Offset = 0, class A>
  requires detail::CompiledValues<A>
constexpr auto diagflat(A&& a, CallLine at = here()) { return detail::call_composite<detail::DiagflatFn<Offset>>(at, static_cast<A&&>(a)); }
/// The same elements in the shape of another value.
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto reshape_as(A&& a, B&& like, CallLine at = here()) { return detail::call_composite<detail::InShapeOfFn<false>>(at, static_cast<A&&>(a), static_cast<B&&>(like)); }
/// Axes of extent 1 repeated to the shape of another value.
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto expand_as(A&& a, B&& like, CallLine at = here()) { return detail::call_composite<detail::InShapeOfFn<true>>(at, static_cast<A&&>(a), static_cast<B&&>(like)); }

}  // namespace tt
