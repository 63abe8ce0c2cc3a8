// Ops that are not elementwise, each once, as functions over symbols: reductions, products, shape
// changes, softmax and losses. A front end runs them through `function<Fn>(where, args...)`.
// Axes are template arguments, so that they can be part of an Array's type; symbols (and Tensors)
// also take them as ordinary arguments, as PyTorch does.
//   tt::sum<1>(a)    tt::sum(x, 1)    tt::softmax<1>(a)    tt::matmul(a, b)
#pragma once
#include "tt/graph/sym.hpp"

namespace tt {
namespace detail {

/// What has no axes is a vector of one element to these, as in PyTorch.
constexpr unsigned axis_bits(const Sym& x, const int* dims, int count, const char* op) {
  const int rank = x.shape().rank;
  if (count == 0) return (1u << rank) - 1;
  unsigned bits = 0;
  for (int k = 0; k < count; ++k) {
    const int axis = normalize_axis(dims[k], rank > 0 ? rank : 1);
    if (axis < 0 || bits >> axis & 1) {
      x.graph->fail({.mistake = axis < 0 ? Mistake::axis_out_of_range : Mistake::axis_given_twice, .op = op, .a = x.shape(),
                     .number = dims[k]});
      return 0;
    }
    bits |= 1u << axis;
  }
  return rank > 0 ? bits : 0;
}

template <Op K>
constexpr Sym reduce(const Sym& x, unsigned axes, bool keepdim, std::uint64_t bits = 0) {
  const int kept = reduce<K>(*x.graph, x.id, axes, bits);
  if (keepdim) return {x.graph, kept};
  Shape s;
  for (int k = 0; k < x.shape().rank; ++k)
    if (!(axes >> k & 1)) s.push_back(x.shape()[k]);
  return {x.graph, x.graph->reshape(kept, s)};
}
constexpr Extent elements_along(const Sym& x, unsigned axes) {
  Extent n = 1;
  for (int k = 0; k < x.shape().rank; ++k)
    if (axes >> k & 1) n = n * x.shape()[k];
  return n;
}
constexpr Sym count_of(const Sym& x, unsigned axes) {
  return {x.graph, x.graph->extent(is_floating(x.dtype()) ? x.dtype() : DType::f32, elements_along(x, axes))};
}
constexpr Sym detach(const Sym& x) { return {x.graph, x.graph->detach(x.id)}; }
constexpr Sym iota_like(const Sym& x, unsigned axis_bit) {
  int axis = 0;
  while (axis < x.shape().rank && !(axis_bit >> axis & 1)) ++axis;
  Shape s;
  for (int k = 0; k < x.shape().rank; ++k) s.push_back(k == axis ? x.shape()[k] : Extent(1));
  return {x.graph, x.graph->iota(DType::i64, s, axis)};
}
constexpr Sym to_real(const Sym& x) {
  return is_floating(x.dtype()) ? x : Sym{x.graph, x.graph->cast(x.id, DType::f32)};
}
/// Of integers PyTorch gives no mean: which dtype it has is the caller's to say.
constexpr Sym need_real(const Sym& x, const char* op) {
  if (!is_floating(x.dtype())) x.graph->fail({.mistake = Mistake::dtype_not_accepted, .op = op, .dtype = x.dtype()});
  return to_real(x);
}

struct SumFn {
  static constexpr const char* name = "sum";
  static constexpr Sym run(const Sym& x, unsigned axes, bool keepdim) {
    return reduce<Op::sum>(x, axes, keepdim);
  }
};
struct MeanFn {
  static constexpr const char* name = "mean";
  static constexpr Sym run(const Sym& x, unsigned axes, bool keepdim) {
    const Sym r = need_real(x, name);
    return reduce<Op::sum>(r, axes, keepdim) / count_of(r, axes);
  }
};
/// An axis of extent 0 has no largest element; static programs look when they run, but not at several run-time extents put together.
constexpr void need_elements(const Sym& x, unsigned axes, const char* op) {
  for (int k = 0; k < x.shape().rank; ++k)
    if (const Extent e = x.shape()[k]; (axes >> k & 1) == 0) continue;
    else if (const Failure none{.mistake = Mistake::no_elements, .op = op, .a = x.shape(), .number = k}; e == Extent(0)) x.graph->fail(none);
    else if (!e.is_constant() && std::is_constant_evaluated()) x.graph->needed.push_back({e, 1, x.graph->located(none)});
}
struct AmaxFn {
  static constexpr const char* name = "amax";
  static constexpr Sym run(const Sym& x, unsigned axes, bool keepdim) {
    need_elements(x, axes, name);
    if (x.dtype() == DType::boolean) return reduce<Op::amax>(cast<std::int32_t>(x), axes, keepdim) != 0;
    return reduce<Op::amax>(x, axes, keepdim);
  }
};
struct AminFn {
  static constexpr const char* name = "amin";
  static constexpr Sym run(const Sym& x, unsigned axes, bool keepdim) {
    need_elements(x, axes, name);
    if (x.dtype() == DType::boolean) return reduce<Op::amin>(cast<std::int32_t>(x), axes, keepdim) != 0;
    return reduce<Op::amin>(x, axes, keepdim);
  }
};
/// The first place along one axis where x is `m`, or NaN.
constexpr Sym place_of(const Sym& x, const Sym& m, unsigned axes, bool keepdim) {
  const Sym n = {x.graph, x.graph->cast(count_of(x, axes).id, DType::i64)};
  return reduce<Op::amin>(tt::where(x == m || x != x, iota_like(x, axes), n), axes, keepdim);
}
/// The first place of the maximum, or of the first NaN: along one axis, or of all axes among the elements in row-major order.
struct ArgmaxFn {
  static constexpr const char* name = "argmax";
  static constexpr Sym run(const Sym& x, unsigned axes, bool keepdim) {
    need_elements(x, axes, name);
    if (const int rank = x.shape().rank; rank != 1 && axes == (1u << rank) - 1) {
      Shape to;
      for (int k = 0; k < (keepdim ? rank : 0); ++k) to.push_back(1);
      const Sym place = run({x.graph, x.graph->reshape(x.id, {x.shape().size()})}, 1, false);
      return {x.graph, x.graph->reshape(place.id, to)};
    }
    return place_of(x, reduce<Op::amax>(x, axes, true), axes, keepdim);
  }
};
/// The greatest, or least, element along one axis and its first place. Gradient: to that place alone.
struct ExtremeResult {
  Sym values, places;
};
template <Op K>
struct ExtremeFn {
  static constexpr const char* name = K == Op::amax ? "max" : "min";
  static constexpr ExtremeResult run(const Sym& x, unsigned axes, bool keepdim) {
    need_elements(x, axes, name);
    if (axes == 0) return {x, {x.graph, x.graph->constant_integer(DType::i64, 0)}};
    const Sym number = x.dtype() == DType::boolean ? cast<std::int32_t>(x) : x;
    const Sym values = reduce<K>(number, axes, keepdim, gradient_to_first);
    const Sym places = place_of(number, reduce<K>(number, axes, true, gradient_to_first), axes, keepdim);
    return {x.dtype() == DType::boolean ? values != 0 : values, places};
  }
};
using MaxFn = ExtremeFn<Op::amax>;
using MinFn = ExtremeFn<Op::amin>;
// Those that call opaque ops are templates, whose bodies a file that does not call them need not compile.
struct SoftmaxFn {
  static constexpr const char* name = "softmax";
  static constexpr Sym run(const auto& x, unsigned axes, bool) {
    const auto r = need_real(x, name);
    const auto e = tt::exp(r - detach(reduce<Op::amax>(r, axes, true)));
    return e / reduce<Op::sum>(e, axes, true);
  }
};
struct LogSoftmaxFn {
  static constexpr const char* name = "log_softmax";
  static constexpr Sym run(const auto& x, unsigned axes, bool) {
    const auto r = need_real(x, name);
    const auto z = r - detach(reduce<Op::amax>(r, axes, true));
    return z - tt::log(reduce<Op::sum>(tt::exp(z), axes, true));
  }
};
struct LogsumexpFn {
  static constexpr const char* name = "logsumexp";
  static constexpr Sym run(const auto& x, unsigned axes, bool keepdim) {
    const auto r = to_real(x);
    const auto m = detach(reduce<Op::amax>(r, axes, true));
    const auto finite = tt::where(tt::abs(m) == __builtin_inf(), 0.0, m);
    const auto s = tt::log(reduce<Op::sum>(tt::exp(r - finite), axes, true)) + finite;
    return keepdim ? s : reduce<Op::sum>(s, axes, false);
  }
};
/// Variance along axes, divided by n - 1; of no elements by 0.
struct VarFn {
  static constexpr const char* name = "var";
  static constexpr Sym run(const Sym& x, unsigned axes, bool keepdim) {
    const Sym r = need_real(x, name), c = r - MeanFn::run(r, axes, true), n = count_of(r, axes);
    const Extent e = elements_along(r, axes);
    const Sym divisor = e == Extent(0) ? n : e.is_constant() ? n - 1 : tt::maximum(n - 1, 0);
    return reduce<Op::sum>(c * c, axes, keepdim) / divisor;
  }
};

/// A function over some axes, as the fronts call it.
template <class Fn, bool Keepdim, int... Dims>
struct Reduction {
  static constexpr Sym record(const Sym& x) {
    constexpr int dims[] = {Dims..., 0};
    return Fn::run(x, axis_bits(x, dims, sizeof...(Dims), Fn::name), Keepdim);
  }
};

}  // namespace detail

template <class Fn>
constexpr Sym SymFront::reduce(SourceLine at, const Sym& a, const int* dims, int count,
                               bool keepdim) {
  at_line(a.graph, at);
  const bool inner = a.graph->where_is_caller;
  a.graph->where_is_caller = true;
  const Sym result = Fn::run(a, detail::axis_bits(a, dims, count, Fn::name), keepdim);
  a.graph->where_is_caller = inner;
  return result;
}

template <class A>
concept DynamicAxes = Value<A> && std::remove_cvref_t<A>::tt_front::dynamic_axes;

namespace detail {

template <class Fn, class A>
constexpr auto reduce_dynamic(const A& a, const int* dims, int count, bool keepdim, SourceLine at) {
  static_assert(DynamicAxes<A>,
                "tt: the shape of an Array is part of its type: give the axis as a template "
                "argument, as in tt::sum<1>(a)");
  if constexpr (DynamicAxes<A>) return A::tt_front::template reduce<Fn>(at, a, dims, count, keepdim);
  else return a;
}

}  // namespace detail

/// The sum over the axes (all if none): f32 and f64 keep their dtype, i32 and bool give i64.
/// The order of summation is that of reference_sum. Axes are dropped; see `sum_keepdim`.
template <int... Dims, Value A>
constexpr auto sum(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::SumFn, false, Dims...>>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr auto sum(A&& a, int dim, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::SumFn>(static_cast<A&&>(a), &dim, 1, keepdim, at);
}
template <Value A>
constexpr auto sum(A&& a, std::initializer_list<int> dims, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::SumFn>(static_cast<A&&>(a), dims.begin(), static_cast<int>(dims.size()), keepdim, at);
}
template <int... Dims, Value A>
constexpr auto sum_keepdim(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::SumFn, true, Dims...>>(at, static_cast<A&&>(a));
}
/// The mean over the axes, of floating elements.
template <int... Dims, Value A>
constexpr auto mean(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::MeanFn, false, Dims...>>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr auto mean(A&& a, int dim, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::MeanFn>(static_cast<A&&>(a), &dim, 1, keepdim, at);
}
template <Value A>
constexpr auto mean(A&& a, std::initializer_list<int> dims, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::MeanFn>(static_cast<A&&>(a), dims.begin(), static_cast<int>(dims.size()), keepdim, at);
}
template <int... Dims, Value A>
constexpr auto mean_keepdim(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::MeanFn, true, Dims...>>(at, static_cast<A&&>(a));
}
/// The variance over the axes, of floating elements, divided by n - 1 as in PyTorch.
template <int... Dims, Value A>
constexpr auto var(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::VarFn, false, Dims...>>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr auto var(A&& a, int dim, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::VarFn>(static_cast<A&&>(a), &dim, 1, keepdim, at);
}
template <Value A>
constexpr auto var(A&& a, std::initializer_list<int> dims, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::VarFn>(static_cast<A&&>(a), dims.begin(), static_cast<int>(dims.size()), keepdim, at);
}
/// The largest element; NaN if there is one. Gradient: shared evenly among equals. Of no elements there is none: an error.
template <int... Dims, Value A>
constexpr auto amax(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::AmaxFn, false, Dims...>>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr auto amax(A&& a, int dim, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::AmaxFn>(static_cast<A&&>(a), &dim, 1, keepdim, at);
}
template <Value A>
constexpr auto amax(A&& a, std::initializer_list<int> dims, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::AmaxFn>(static_cast<A&&>(a), dims.begin(), static_cast<int>(dims.size()), keepdim, at);
}
/// The smallest element; NaN if there is one. Of no elements there is none: an error.
template <int... Dims, Value A>
constexpr auto amin(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::AminFn, false, Dims...>>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr auto amin(A&& a, int dim, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::AminFn>(static_cast<A&&>(a), &dim, 1, keepdim, at);
}
template <Value A>
constexpr auto amin(A&& a, std::initializer_list<int> dims, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::AminFn>(static_cast<A&&>(a), dims.begin(), static_cast<int>(dims.size()), keepdim, at);
}
/// The index (i64) of the first largest element along one axis; of the first NaN if there is one. Of no elements: an error.
template <int Dim, Value A>
constexpr auto argmax(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::ArgmaxFn, false, Dim>>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr auto argmax(A&& a, int dim, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::ArgmaxFn>(static_cast<A&&>(a), &dim, 1, keepdim, at);
}
/// exp(x - max) / sum, along one axis. A row of -inf gives NaN, as in PyTorch.
template <int Dim, Value A>
constexpr auto softmax(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::SoftmaxFn, true, Dim>>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr auto softmax(A&& a, int dim, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::SoftmaxFn>(static_cast<A&&>(a), &dim, 1, true, at);
}
/// log(softmax(x)) without overflow, along one axis.
template <int Dim, Value A>
constexpr auto log_softmax(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::LogSoftmaxFn, true, Dim>>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr auto log_softmax(A&& a, int dim, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::LogSoftmaxFn>(static_cast<A&&>(a), &dim, 1, true, at);
}
/// log(sum(exp(x))) without overflow, over the axes.
template <int... Dims, Value A>
constexpr auto logsumexp(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::Reduction<detail::LogsumexpFn, false, Dims...>>(at,
                                                                                                static_cast<A&&>(a));
}
template <Value A>
constexpr auto logsumexp(A&& a, int dim, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::LogsumexpFn>(static_cast<A&&>(a), &dim, 1, keepdim, at);
}
template <Value A>
constexpr auto logsumexp(A&& a, std::initializer_list<int> dims, bool keepdim = false, SourceLine at = here()) {
  return detail::reduce_dynamic<detail::LogsumexpFn>(static_cast<A&&>(a), dims.begin(), static_cast<int>(dims.size()), keepdim, at);
}

namespace detail {

struct MatmulFn {
  static constexpr const char* name = "matmul";
  static constexpr Sym record(const Sym& a, const Sym& b) {
    enlist_kernels<Op::matmul>();
    return {a.graph, a.graph->matmul(a.id, b.id)};
  }
};
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
    if (opened > 1 || (opened == 1 && !divide(size, others, rest))) {
      const bool unknown = opened == 1 && others != Extent(0) && !size.is_constant();
      return {a.graph, a.graph->fail({.mistake = unknown ? Mistake::size_cannot_be_checked : Mistake::sizes_differ, .op = "reshape",
                                      .a = a.shape(), .b = to}, a.id)};
    }
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
    return {a.graph, a.graph->slice(a.id, Axis, Start, Length, Step)};
  }
};
struct DetachFn {
  static constexpr const char* name = "detach";
  static constexpr Sym record(const Sym& a) { return detach(a); }
};
struct CrossEntropyFn {
  static constexpr const char* name = "cross_entropy";
  static constexpr int class_axis(int rank) { return rank > 1 ? 1 : 0; }
  static constexpr Sym record(const auto& logits, const auto& labels) {
    const int rank = logits.shape().rank, classes = class_axis(rank);
    const bool of_one_rank = rank > 0 && labels.shape().rank == rank - 1;
    if (!of_one_rank || labels.dtype() == DType::boolean || is_floating(labels.dtype()))
      return {logits.graph,
              logits.graph->fail({.mistake = of_one_rank ? Mistake::dtype_not_accepted : Mistake::shapes_do_not_broadcast,
                                  .op = name, .a = logits.shape(), .b = labels.shape(), .dtype = labels.dtype()}, logits.id)};
    const auto differ = [&] { return Failure{.mistake = Mistake::shapes_do_not_broadcast, .op = name, .a = logits.shape(), .b = labels.shape()}; };
    Shape column;  // the labels, with an axis of extent 1 where the classes are
    for (int k = 0; k < rank; ++k) {
      column.push_back(k == classes ? Extent(1) : labels.shape()[k < classes ? k : k - 1]);
      if (k != classes && !logits.graph->equal(column[k], logits.shape()[k], differ)) return {logits.graph, logits.graph->fail(differ(), logits.id)};
    }
    const unsigned axis = 1u << classes;
    const auto r = to_real(logits);
    const auto z = r - detach(reduce<Op::amax>(r, axis, true));
    const Sym label = {labels.graph, labels.graph->reshape(labels.id, column)};
    const auto hit = iota_like(z, axis) == label;
    const auto picked = reduce<Op::sum>(tt::where(hit, z, 0), axis, true);
    const auto loss = tt::log(reduce<Op::sum>(tt::exp(z), axis, true)) - picked;
    return MeanFn::run(loss, (1u << rank) - 1, false);
  }
};
/// start, start + step, ... along the one axis of `like`, in its dtype; reckoned in that of the numbers.
struct ArangeLikeFn {
  static constexpr const char* name = "arange_like";
  static constexpr Sym record(const Sym& like, const Sym& start, const Sym& step) {
    const Sym place{like.graph, like.graph->cast(iota_like(like, 1).id, start.dtype())};
    const Sym value = start + place * step;
    return {like.graph, like.graph->cast(value.id, like.dtype())};
  }
};
/// Ones where both indices of `like`, a matrix, are equal.
struct EyeLikeFn {
  static constexpr const char* name = "eye_like";
  static constexpr Sym record(const Sym& like) {
    return {like.graph, like.graph->cast((iota_like(like, 1) == iota_like(like, 2)).id, like.dtype())};
  }
};
struct MseLossFn {
  static constexpr const char* name = "mse_loss";
  static constexpr Sym record(const Sym& a, const Sym& b) {
    const Sym d = to_real(a - b);
    return MeanFn::run(d * d, (1u << d.shape().rank) - 1, false);
  }
};

}  // namespace detail

/// Matrix product (..., M, K) x (..., K, N); vectors as in NumPy. Sums in the order k = 0, 1, ...; with a vector b the
/// sums along the rows of a * b. matmul(transpose(a), v) reads `a` as it lies; matmul(v, a), in the order of products, is a little quicker.
template <Value A, Value B>
constexpr auto matmul(A&& a, B&& b, SourceLine at = here()) {
  return front_t<A, B>::template function<detail::MatmulFn>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
/// Two axes exchanged, by default the last two. Costs nothing.
template <int Axis0 = -2, int Axis1 = -1, Value A>
constexpr auto transpose(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::TransposeFn<Axis0, Axis1>>(at, static_cast<A&&>(a));
}
/// Axis k of the result is axis Axes[k] of a.
template <int... Axes, Value A>
constexpr auto permute(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::PermuteFn<Axes...>>(at, static_cast<A&&>(a));
}
/// The same elements in row-major order under another shape of the same size. One extent may be -1: what the others leave, also
/// where that is known at run time only.
template <std::int64_t... E, Value A>
constexpr auto reshape(A&& a, SourceLine at = here()) {
  static_assert(((E >= -1) && ...), "tt: reshape: an extent is a number, or -1 for what the others leave");
  return std::remove_cvref_t<A>::tt_front::template function<detail::ReshapeFn<E...>>(at, static_cast<A&&>(a));
}
/// Axes of extent 1 repeated, from the right.
template <std::int64_t... E, Value A>
constexpr auto broadcast_to(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::BroadcastFn<E...>>(at, static_cast<A&&>(a));
}
/// `Length` elements of one axis from `Start` on, `Step` apart. Along an axis whose extent is known
/// at run time the call throws Error when it is too short.
template <int Axis, std::int64_t Start, std::int64_t Length, std::int64_t Step = 1, Value A>
constexpr auto slice(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::SliceFn<Axis, Start, Length, Step>>(at, static_cast<A&&>(a));
}
/// The value without its derivative.
template <Value A>
constexpr auto detach(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template function<detail::DetachFn>(at, static_cast<A&&>(a));
}
/// The mean of -log softmax(logits)[label]: logits (N, C), (C) or (N, C, d1, ...), labels, of an integer dtype in [0, C), of
/// that shape without C. Eager calls on the host look at them; elsewhere one outside adds logsumexp(logits - max).
template <Value A, Value B>
constexpr auto cross_entropy(A&& logits, B&& labels, SourceLine at = here()) {
  return front_t<A, B>::template function<detail::CrossEntropyFn>(at, static_cast<A&&>(logits), static_cast<B&&>(labels));
}
/// The mean of (a - b)^2.
template <Value A, Value B>
constexpr auto mse_loss(A&& a, B&& b, SourceLine at = here()) {
  return front_t<A, B>::template function<detail::MseLossFn>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

}  // namespace tt

#include "tt/graph/random_ops.hpp"
