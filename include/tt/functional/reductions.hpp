// Reductions along axes, softmax and related functions. Axes are template arguments, so that they can be part of an
// Array's type; symbols and Tensors take them as ordinary arguments, as PyTorch does.
//   tt::sum<1>(a)    tt::sum(x, 1)    tt::sum(x, {0, 1}, true)    tt::softmax<1>(a)
#pragma once
#include "tt/functional/structured.hpp"

namespace tt {
namespace detail {

/// The axes as bits; all if none are given. A value without axes counts as a vector of one element, as in PyTorch.
constexpr unsigned axis_bits(const Sym& x, const Axes& dim, const char* op) {
  const int rank = x.shape().rank;
  if (dim.count == 0) return (1u << rank) - 1;
  unsigned bits = 0;
  for (int k = 0; k < dim.count; ++k) {
    const int axis = normalize_axis(dim.item[k], rank > 0 ? rank : 1);
    if (axis < 0 || bits >> axis & 1) {
      x.graph->fail({.mistake = axis < 0 ? Mistake::axis_out_of_range : Mistake::axis_given_twice, .op = op, .a = x.shape(),
                     .number = dim.item[k]});
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
/// Fails when both are defined and their dtypes differ.
constexpr bool need_same_dtype(const Sym& x, const Sym& y, const char* op) {
  const bool same = !y.defined() || x.dtype() == y.dtype();
  if (!same) x.graph->fail({.mistake = Mistake::dtypes_differ, .op = op, .dtype = x.dtype(), .other_dtype = y.dtype()});
  return same;
}
/// PyTorch defines no mean of integers: the caller has to choose a dtype.
constexpr Sym need_real(const Sym& x, const char* op) {
  if (!is_floating(x.dtype())) x.graph->fail({.mistake = Mistake::dtype_not_accepted, .op = op, .dtype = x.dtype()});
  return to_real(x);
}

constexpr Shape shape_of(const Sizes& sizes) {
  Shape s;
  for (int k = 0; k < sizes.count && k < max_rank; ++k) s.push_back(sizes.item[k].extent);
  return s;
}
/// The last axes of a value as bits; `sizes` must be their sizes.
constexpr unsigned last_axes(const Sym& x, const Sizes& sizes, const char* op) {
  const int rank = x.shape().rank, first = rank - sizes.count;
  const Shape given = shape_of(sizes);
  const auto differ = [&] { return Failure{.mistake = Mistake::last_sizes_differ, .op = op, .a = x.shape(), .b = given}; };
  bool same = first >= 0 && sizes.count > 0;
  for (int k = 0; same && k < sizes.count; ++k) same = x.graph->equal(x.shape()[first + k], given[k], differ);
  if (!same) x.graph->fail(differ());
  return same ? ((1u << rank) - 1) & ~((1u << first) - 1) : 0;
}
/// Fails when `x` is defined and has not exactly these sizes.
constexpr void need_sizes(const Sym& x, const Sizes& sizes, const char* op) {
  if (x.defined() && x.shape().rank != sizes.count) x.graph->fail({.mistake = Mistake::last_sizes_differ, .op = op, .a = x.shape(), .b = shape_of(sizes)});
  else if (x.defined()) last_axes(x, sizes, op);
}
constexpr Sym mean(const Sym& real, unsigned axes, bool keepdim) { return reduce<Op::sum>(real, axes, keepdim) / count_of(real, axes); }
/// An axis of extent 0 has no largest element. Static programs check a run-time extent when they run, but not a product of several.
constexpr void need_elements(const Sym& x, unsigned axes, const char* op) {
  for (int k = 0; k < x.shape().rank; ++k)
    if (const Extent e = x.shape()[k]; (axes >> k & 1) == 0) continue;
    else if (const Failure none{.mistake = Mistake::no_elements, .op = op, .a = x.shape(), .number = k}; e == Extent(0)) x.graph->fail(none);
    else if (!e.is_constant() && std::is_constant_evaluated()) x.graph->needed.push_back({e, 1, x.graph->located(none)});
}
/// amax or amin over axes; bool as numbers. `bits`: which elements get the gradient, see graph/node.hpp.
template <Op K>
constexpr Sym extreme(const Sym& x, unsigned axes, bool keepdim, const char* op, std::uint64_t bits = 0) {
  need_elements(x, axes, op);
  if (x.dtype() == DType::boolean) return reduce<K>(cast<std::int32_t>(x), axes, keepdim) != 0;
  return reduce<K>(x, axes, keepdim, bits);
}
/// The first index along one axis at which x is `m`, or NaN.
constexpr Sym place_of(const Sym& x, const Sym& m, unsigned axes, bool keepdim) {
  const Sym n = {x.graph, x.graph->cast(count_of(x, axes).id, DType::i64)};
  return reduce<Op::amin>(tt::where(x == m || x != x, iota_like(x, axes), n), axes, keepdim);
}

}  // namespace detail

/// Options of a reduction: its axes, all if there are none; keepdim keeps them, with extent 1.
struct ReductionOptions {
  Axes dim;
  bool keepdim = false;
};
struct AxisOptions {
  int dim = 0;
};

struct Sum {
  using Options = ReductionOptions;
  static constexpr OpInfo info{.name = "sum", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::reduce<Op::sum>(x, detail::axis_bits(x, o.dim, info.name), o.keepdim); }
};
struct Mean {
  using Options = ReductionOptions;
  static constexpr OpInfo info{.name = "mean", .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::mean(detail::need_real(x, info.name), detail::axis_bits(x, o.dim, info.name), o.keepdim); }
};
struct VarOptions {
  Axes dim;
  bool keepdim = false;
  double correction = 1;
};
namespace detail {
/// Divided by n - correction, or by 0 if that is negative.
constexpr Sym variance(const Sym& x, const VarOptions& o, const char* op) {
  const unsigned axes = axis_bits(x, o.dim, op);
  const Sym r = need_real(x, op), c = r - mean(r, axes, true), n = count_of(r, axes);
  const Extent e = elements_along(r, axes);
  const Sym divisor = !e.is_constant()                            ? tt::maximum(n - o.correction, 0)
                      : static_cast<double>(e.code) > o.correction ? n - o.correction
                                                                   : n - e.code;
  return reduce<Op::sum>(c * c, axes, o.keepdim) / divisor;
}
}  // namespace detail
struct Var {
  using Options = VarOptions;
  static constexpr OpInfo info{.name = "var", .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::variance(x, o, info.name); }
};
struct Std {
  using Options = VarOptions;
  static constexpr OpInfo info{.name = "std", .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) { return tt::call<SqrtFlatAtZero>({}, detail::variance(x, o, info.name)); }
};
/// Is any element other than 0; are all?
template <bool All>
struct AnyOrAll {
  using Options = ReductionOptions;
  static constexpr OpInfo info{.name = All ? "all" : "any", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    const Sym yes = cast<std::int32_t>(x != 0);
    const Sym r = detail::reduce<All ? Op::amin : Op::amax>(yes, detail::axis_bits(x, o.dim, info.name), o.keepdim) > 0;
    return x.dtype() == DType::u8 ? Sym{r.graph, r.graph->cast(r.id, DType::u8)} : r;  // as in PyTorch
  }
};
struct CountNonzero {
  struct Options {
    Axes dim;
  };
  static constexpr OpInfo info{.name = "count_nonzero", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::reduce<Op::sum>(cast<std::int64_t>(x.dtype() == DType::boolean ? x : x != 0), detail::axis_bits(x, o.dim, info.name), false); }
};
struct Amax {
  using Options = ReductionOptions;
  static constexpr OpInfo info{.name = "amax", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::extreme<Op::amax>(x, detail::axis_bits(x, o.dim, info.name), o.keepdim, info.name); }
};
struct Amin {
  using Options = ReductionOptions;
  static constexpr OpInfo info{.name = "amin", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::extreme<Op::amin>(x, detail::axis_bits(x, o.dim, info.name), o.keepdim, info.name); }
};
/// max or min of all elements. As amax and amin, but the gradient goes to the NaN if there is one, where that of amax and amin is NaN everywhere.
template <Op K>
struct ExtremeOfAll {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = K == Op::amax ? "_max_of_all" : "_min_of_all", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options&) {
    return detail::extreme<K>(x, (1u << x.shape().rank) - 1, false, K == Op::amax ? "max" : "min", gradient_to_nan);
  }
};
/// The first index of the maximum (minimum), or of the first NaN: along one axis, or of all elements in row-major order.
template <Op K>
struct ArgExtreme {
  struct Options {
    Optional<int> dim;
    bool keepdim = false;
  };
  static constexpr OpInfo info{.name = K == Op::amax ? "argmax" : "argmin", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    const int rank = x.shape().rank;
    const unsigned axes = detail::axis_bits(x, o.dim.given ? Axes(o.dim.value) : Axes(), info.name);
    detail::need_elements(x, axes, info.name);
    if (rank == 1 || (rank > 1 && o.dim.given)) return detail::place_of(x, detail::reduce<K>(x, axes, true), axes, o.keepdim);
    Shape to;
    for (int k = 0; k < (o.keepdim ? rank : 0); ++k) to.push_back(1);
    const Sym line{x.graph, x.graph->reshape(x.id, {x.shape().size()})};
    const Sym place = detail::place_of(line, detail::reduce<K>(line, 1, true), 1, false);
    return {x.graph, x.graph->reshape(place.id, to)};
  }
};
using Argmax = ArgExtreme<Op::amax>;
using Argmin = ArgExtreme<Op::amin>;
/// The largest, or smallest, element along one axis and its first index. Gradient: to that element alone.
template <Op K>
struct Extreme {
  struct Options {
    int dim = 0;
    bool keepdim = false;
  };
  struct Results {
    Sym values, indices;
  };
  static constexpr OpInfo info{.name = K == Op::amax ? "max" : "min", .widens = false, .arguments = "input, .dim"};
  static constexpr Results body(const Sym& x, const Options& o) {
    const unsigned axes = detail::axis_bits(x, o.dim, info.name);
    detail::need_elements(x, axes, info.name);
    if (axes == 0) return {x, {x.graph, x.graph->constant_integer(DType::i64, 0)}};
    const Sym number = x.dtype() == DType::boolean ? cast<std::int32_t>(x) : x;
    const Sym values = detail::reduce<K>(number, axes, o.keepdim, gradient_to_first);
    const Sym places = detail::place_of(number, detail::reduce<K>(number, axes, true, gradient_to_first), axes, o.keepdim);
    return {x.dtype() == DType::boolean ? values != 0 : values, places};
  }
};
// Ops that call intrinsics are templates, whose bodies a file that does not call them need not compile.
struct Softmax {
  using Options = AxisOptions;
  static constexpr OpInfo info{.name = "softmax", .arguments = "input, .dim"};
  static constexpr Sym body(const auto& x, const Options& o) {
    const unsigned axis = detail::axis_bits(x, o.dim, info.name);
    const auto r = detail::need_real(x, info.name);
    const auto e = tt::exp(r - detail::detach(detail::reduce<Op::amax>(r, axis, true)));
    return e / detail::reduce<Op::sum>(e, axis, true);
  }
};
struct LogSoftmax {
  using Options = AxisOptions;
  static constexpr OpInfo info{.name = "log_softmax", .arguments = "input, .dim"};
  static constexpr Sym body(const auto& x, const Options& o) {
    const unsigned axis = detail::axis_bits(x, o.dim, info.name);
    const auto r = detail::need_real(x, info.name);
    const auto z = r - detail::detach(detail::reduce<Op::amax>(r, axis, true));
    return z - tt::log(detail::reduce<Op::sum>(tt::exp(z), axis, true));
  }
};
struct Logsumexp {
  using Options = ReductionOptions;
  static constexpr OpInfo info{.name = "logsumexp", .arguments = "input, .dim"};
  static constexpr Sym body(const auto& x, const Options& o) {
    const unsigned axes = detail::axis_bits(x, o.dim, info.name);
    const auto r = detail::to_real(x);
    const auto m = detail::detach(detail::reduce<Op::amax>(r, axes, true));
    const auto finite = tt::where(tt::abs(m) == __builtin_inf(), 0.0, m);
    const auto s = tt::log(detail::reduce<Op::sum>(tt::exp(r - finite), axes, true)) + finite;
    return o.keepdim ? s : detail::reduce<Op::sum>(s, axes, false);
  }
};

/// The sum over the axes (all if none): floating dtypes are kept, integers and bool give i64 (NumPy: u64 for u8).
/// The order of summation is that of reference_sum. Axes are dropped; see `sum_keepdim`.
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Sum, ReductionOptions{{Dims...}}>, A> sum(A&& a, CallLine at = here()) {
  return call_structured<Sum, ReductionOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<Sum, A> sum(A&& a, const Axes& dim, bool keepdim = false, SourceLine at = here()) {
  return call_with<Sum>(at, {dim, keepdim}, a);
}
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Sum, ReductionOptions{{Dims...}, true}>, A> sum_keepdim(A&& a, CallLine at = here()) {
  return call_structured<Sum, ReductionOptions{{Dims...}, true}>(at, static_cast<A&&>(a));
}
/// The mean over the axes, of floating elements; of integers it is an Error, as in PyTorch, where NumPy's is f64.
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Mean, ReductionOptions{{Dims...}}>, A> mean(A&& a, CallLine at = here()) {
  return call_structured<Mean, ReductionOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<Mean, A> mean(A&& a, const Axes& dim, bool keepdim = false, SourceLine at = here()) {
  return call_with<Mean>(at, {dim, keepdim}, a);
}
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Mean, ReductionOptions{{Dims...}, true}>, A> mean_keepdim(A&& a, CallLine at = here()) {
  return call_structured<Mean, ReductionOptions{{Dims...}, true}>(at, static_cast<A&&>(a));
}
/// The variance over the axes, of floating elements, divided by n - 1 as in PyTorch; NumPy's is divided by n.
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Var, VarOptions{{Dims...}}>, A> var(A&& a, CallLine at = here()) {
  return call_structured<Var, VarOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
/// Divided by n - correction (NumPy's ddof, by default 0); true and false are a correction of 1 and 0 (unbiased).
template <Value A>
constexpr CalledWith<Var, A> var(A&& a, const Axes& dim, double correction = 1, bool keepdim = false, SourceLine at = here()) {
  return call_with<Var>(at, {dim, keepdim, correction}, a);
}
template <Value A, std::integral I>
constexpr CalledWith<Var, A> var(A&& a, std::initializer_list<I> dim, double correction = 1, bool keepdim = false, SourceLine at = here()) {
  return call_with<Var>(at, {Axes(dim), keepdim, correction}, a);
}
template <Value A>
constexpr CalledWith<Var, A> var(A&& a, const VarOptions& options, SourceLine at = here()) {
  return call_with<Var>(at, options, a);
}
/// The square root of the variance, whose divisor is n - 1 (NumPy: n).
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Std, VarOptions{{Dims...}}>, A> std(A&& a, CallLine at = here()) {
  return call_structured<Std, VarOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<Std, A> std(A&& a, const Axes& dim, double correction = 1, bool keepdim = false, SourceLine at = here()) {
  return call_with<Std>(at, {dim, keepdim, correction}, a);
}
template <Value A, std::integral I>
constexpr CalledWith<Std, A> std(A&& a, std::initializer_list<I> dim, double correction = 1, bool keepdim = false, SourceLine at = here()) {
  return call_with<Std>(at, {Axes(dim), keepdim, correction}, a);
}
template <Value A>
constexpr CalledWith<Std, A> std(A&& a, const VarOptions& options, SourceLine at = here()) {
  return call_with<Std>(at, options, a);
}
/// Is any element over the axes (all if none) other than 0? False for no elements. NaN is other than 0. bool, but u8 for u8, as in PyTorch (NumPy: bool).
template <int... Dims, Value A>
constexpr CalledStructured<Structured<AnyOrAll<false>, ReductionOptions{{Dims...}}>, A> any(A&& a, CallLine at = here()) {
  return call_structured<AnyOrAll<false>, ReductionOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<AnyOrAll<false>, A> any(A&& a, const Axes& dim, bool keepdim = false, SourceLine at = here()) {
  return call_with<AnyOrAll<false>>(at, {dim, keepdim}, a);
}
/// Are all elements other than 0? True for no elements. The dtype is that of any.
template <int... Dims, Value A>
constexpr CalledStructured<Structured<AnyOrAll<true>, ReductionOptions{{Dims...}}>, A> all(A&& a, CallLine at = here()) {
  return call_structured<AnyOrAll<true>, ReductionOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<AnyOrAll<true>, A> all(A&& a, const Axes& dim, bool keepdim = false, SourceLine at = here()) {
  return call_with<AnyOrAll<true>>(at, {dim, keepdim}, a);
}
/// The number of elements over the axes (all if none) that are other than 0, as i64.
template <int... Dims, Value A>
constexpr CalledStructured<Structured<CountNonzero, CountNonzero::Options{{Dims...}}>, A> count_nonzero(A&& a, CallLine at = here()) {
  return call_structured<CountNonzero, CountNonzero::Options{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<CountNonzero, A> count_nonzero(A&& a, const Axes& dim, SourceLine at = here()) {
  return call_with<CountNonzero>(at, {dim}, a);
}
/// The largest element; NaN if there is one. Gradient: shared evenly among equals. No elements are an error.
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Amax, ReductionOptions{{Dims...}}>, A> amax(A&& a, CallLine at = here()) {
  return call_structured<Amax, ReductionOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<Amax, A> amax(A&& a, const Axes& dim, bool keepdim = false, SourceLine at = here()) {
  return call_with<Amax>(at, {dim, keepdim}, a);
}
/// The smallest element; NaN if there is one. No elements are an error.
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Amin, ReductionOptions{{Dims...}}>, A> amin(A&& a, CallLine at = here()) {
  return call_structured<Amin, ReductionOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<Amin, A> amin(A&& a, const Axes& dim, bool keepdim = false, SourceLine at = here()) {
  return call_with<Amin>(at, {dim, keepdim}, a);
}
/// log(sum(exp(x))) without overflow, over the axes.
template <int... Dims, Value A>
constexpr CalledStructured<Structured<Logsumexp, ReductionOptions{{Dims...}}>, A> logsumexp(A&& a, CallLine at = here()) {
  return call_structured<Logsumexp, ReductionOptions{{Dims...}}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<Logsumexp, A> logsumexp(A&& a, const Axes& dim, bool keepdim = false, SourceLine at = here()) {
  return call_with<Logsumexp>(at, {dim, keepdim}, a);
}
/// The index (i64) of the first largest element along one axis; of the first NaN if there is one. No elements are an error.
template <int Dim, Value A>
constexpr CalledStructured<Structured<Argmax, Argmax::Options{Dim}>, A> argmax(A&& a, CallLine at = here()) {
  return call_structured<Argmax, Argmax::Options{Dim}>(at, static_cast<A&&>(a));
}
template <Value A>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<WithDefaults<Argmax>, A> argmax(A&& a, CallLine at = here()) { return call_structured<Argmax>(at, static_cast<A&&>(a)); }
template <DynamicAxes A>
constexpr CalledWith<Argmax, A> argmax(A&& a, Optional<int> dim = {}, bool keepdim = false, SourceLine at = here()) {
  return call_with<Argmax>(at, {dim, keepdim}, a);
}
/// The same for the first smallest element.
template <int Dim, Value A>
constexpr CalledStructured<Structured<Argmin, Argmin::Options{Dim}>, A> argmin(A&& a, CallLine at = here()) {
  return call_structured<Argmin, Argmin::Options{Dim}>(at, static_cast<A&&>(a));
}
template <Value A>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<WithDefaults<Argmin>, A> argmin(A&& a, CallLine at = here()) { return call_structured<Argmin>(at, static_cast<A&&>(a)); }
template <DynamicAxes A>
constexpr CalledWith<Argmin, A> argmin(A&& a, Optional<int> dim = {}, bool keepdim = false, SourceLine at = here()) {
  return call_with<Argmin>(at, {dim, keepdim}, a);
}
/// exp(x - max) / sum, along one axis. A row of -inf gives NaN, as in PyTorch.
template <int Dim, Value A>
constexpr CalledStructured<Structured<Softmax, Softmax::Options{Dim}>, A> softmax(A&& a, CallLine at = here()) {
  return call_structured<Softmax, Softmax::Options{Dim}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<Softmax, A> softmax(A&& a, int dim, SourceLine at = here()) {
  return call_with<Softmax>(at, {dim}, a);
}
/// log(softmax(x)) without overflow, along one axis.
template <int Dim, Value A>
constexpr CalledStructured<Structured<LogSoftmax, LogSoftmax::Options{Dim}>, A> log_softmax(A&& a, CallLine at = here()) {
  return call_structured<LogSoftmax, LogSoftmax::Options{Dim}>(at, static_cast<A&&>(a));
}
template <Value A>
constexpr CalledWith<LogSoftmax, A> log_softmax(A&& a, int dim, SourceLine at = here()) {
  return call_with<LogSoftmax>(at, {dim}, a);
}

}  // namespace tt
