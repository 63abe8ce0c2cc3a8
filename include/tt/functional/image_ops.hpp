// Windows, padding, convolution and pooling, each written once, as functions over symbols (see structured.hpp). Images
// are (N, C, H, W) as in PyTorch. Arguments that are known when the program is written are template arguments; for
// Tensors they may also be ordinary ones.
//   tt::conv2d<tt::Conv2dOptions{.stride = 2, .padding = 1}>(images, weights, bias)    tt::conv2d(x, w, b, {.padding = 1})
//   tt::max_pool2d<tt::Pool2dOptions{.kernel_size = 2}>(images)                        tt::unfold<0, 5>(prices)
#pragma once
#include "tt/core/int_list.hpp"
#include "tt/functional/reductions.hpp"

namespace tt {

/// Options of conv2d; PyTorch's names and defaults.
struct Conv2dOptions {
  HeightWidth stride = 1;
  HeightWidth padding = 0;   ///< zeros on either side
  HeightWidth dilation = 1;
  int groups = 1;     ///< of channels, each group with weights of its own
};
/// Options of pooling.
struct Pool2dOptions {
  HeightWidth kernel_size = 2;
  HeightWidth stride = 0;    ///< 0: as kernel_size
  HeightWidth padding = 0;   ///< on either side, at most half of the kernel
};

namespace detail {

/// Images with a margin around their last two axes, filled with the number whose bits are given.
constexpr int with_margin(Graph& g, int x, HeightWidth margin, std::uint64_t bits) {
  const Shape s = g[x].shape;
  if ((margin.h == 0 && margin.w == 0) || s.rank < 2) return x;
  Shape to = s;
  for (int k = 0; k < 2; ++k) {
    const int axis = s.rank - 2 + k;
    if (s[axis].is_constant() || !std::is_constant_evaluated()) to.set(axis, s[axis] + Extent(2 * (k == 0 ? margin.h : margin.w)));
  }
  return g.pad(x, {{s.rank - 2, s.rank - 1}, {margin.h, margin.w}}, to, bits);
}
constexpr Sym conv2d(const Sym& images, const Sym& weights, const Sym& bias, const Conv2dOptions& c) {
  Graph& g = *images.graph;
  const Shape x = images.shape(), w = weights.shape();
  if (x.rank == 3) {  // one image without a batch
    const Sym y = conv2d({&g, g.reshape(images.id, {1, x[0], x[1], x[2]})}, weights, bias, c);
    const Shape of_batch = y.shape();
    return {&g, g.reshape(y.id, {of_batch[1], of_batch[2], of_batch[3]})};
  }
  const auto channels = [&] { return Failure{.mistake = Mistake::channels_differ, .op = "conv2d", .a = x, .b = w, .number = c.groups}; };
  if (x.rank == 4 && w.rank == 4 && (c.groups < 1 || !g.equal(x[1], w[1] * Extent(c.groups), channels))) return {&g, g.fail(channels(), images.id)};
  enlist_kernels<Op::matmul>();
  const int r = g.conv(images.id, weights.id,
                       {{c.stride.h, c.stride.w}, {c.dilation.h, c.dilation.w}, {c.padding.h, c.padding.w}});
  if (!bias.defined() || g.failure) return {&g, r};
  if (bias.dtype() != images.dtype()) return {&g, g.fail({.mistake = Mistake::dtype_not_accepted, .op = "conv2d", .dtype = bias.dtype()}, r)};
  const Shape b = bias.shape();
  const auto differ = [&] { return Failure{.mistake = Mistake::shapes_do_not_broadcast, .op = "conv2d", .a = w, .b = b}; };
  if (b.rank != 1 || w.rank < 1 || !g.equal(b[0], w[0], differ)) return {&g, g.fail(differ(), r)};
  return {&g, g.add(r, g.reshape(bias.id, {w[0], 1, 1}))};
}

/// Images (..., H, W) to (..., OH, OW) by reducing each window, its rows first; the margin is filled with `outside`.
/// The gradient of a largest element goes to the first of equals.
template <Op K>
constexpr Sym pool2d(const Sym& images, const Pool2dOptions& p, std::uint64_t outside, const char* op) {
  Graph& g = *images.graph;
  const Shape s = images.shape();
  if (s.rank < 2 || s.rank > 4)
    return {&g, g.fail({.mistake = s.rank < 2 ? Mistake::rank_too_low : Mistake::rank_too_high, .op = op, .a = s,
                        .number = s.rank < 2 ? 2 : s.rank + 2}, images.id)};
  if (p.stride.h < 0 || p.stride.w < 0 || p.padding.h < 0 || p.padding.w < 0 || std::int64_t{2} * p.padding.h > p.kernel_size.h ||
      std::int64_t{2} * p.padding.w > p.kernel_size.w)
    return {&g, g.fail({.mistake = Mistake::pooling_out_of_range, .op = op, .a = s}, images.id)};
  constexpr std::uint64_t bits = K == Op::amax ? gradient_to_first : 0;
  const int r = s.rank;
  const HeightWidth step{p.stride.h > 0 ? p.stride.h : p.kernel_size.h, p.stride.w > 0 ? p.stride.w : p.kernel_size.w};
  if (!WindowAttribute{r - 2, step.h}.fits() || !WindowAttribute{r - 1, step.w}.fits())
    return {&g, g.fail({.mistake = Mistake::pooling_out_of_range, .op = op, .a = s}, images.id)};
  int x = with_margin(g, images.id, p.padding, outside);
  const Shape in = g[x].shape;
  const Extent height = in[r - 2], width = in[r - 1];
  if (std::is_constant_evaluated() && !(height.is_constant() && width.is_constant())) {
    g.need_number(height);
    g.need_number(width);
    return {&g, g.fail({.mistake = Mistake::extents_are_not_constant, .op = op, .a = s}, images.id)};
  }
  const auto too_large = [&] {
    return Failure{.mistake = Mistake::window_does_not_fit, .op = op, .a = in,
                   .number = height.is_constant() && p.kernel_size.h > height.code ? p.kernel_size.h : p.kernel_size.w};
  };
  if (p.kernel_size.h < 1 || p.kernel_size.w < 1 || !g.at_least(height, p.kernel_size.h, too_large) || !g.at_least(width, p.kernel_size.w, too_large))
    return {&g, g.fail(too_large(), images.id)};
  if (step.h == p.kernel_size.h && step.w == p.kernel_size.w) {  // windows do not overlap
    const Extent rows = floor_div(height, step.h), columns = floor_div(width, step.w);
    x = g.slice(g.slice(x, r - 2, 0, rows * Extent(step.h), 1), r - 1, 0, columns * Extent(step.w), 1);
    const Shape apart{in.count(0, r - 2) * rows, step.h, columns, step.w};
    Shape to = in;
    to.set(r - 2, rows);
    to.set(r - 1, columns);
    return {&g, g.reshape(reduce<K>(g, g.reshape(x, apart), 0b1010, bits), to)};
  }
  const auto along = [&](int axis, int size, int distance) {
    const int windows = g.window(x, axis, size, distance);
    x = reduce<K>(Sym{&g, windows}, 1u << r, false, bits).id;
  };
  along(r - 1, p.kernel_size.w, step.w);
  along(r - 2, p.kernel_size.h, step.h);
  return {&g, x};
}
constexpr Sym max_pool2d(const Sym& x, const Pool2dOptions& p) {
  return pool2d<Op::amax>(x, p, lowest_bits(x.dtype()), "max_pool2d");
}
constexpr Sym avg_pool2d(const Sym& x, const Pool2dOptions& p) {
  constexpr const char* op = "avg_pool2d";
  if (x.dtype() != DType::i64) return pool2d<Op::sum>(need_real(x, op), p, 0, op) / (p.kernel_size.h * p.kernel_size.w);
  return cast<std::int64_t>(cast<double>(pool2d<Op::sum>(x, p, 0, op)) / (p.kernel_size.h * p.kernel_size.w));
}

/// `sizes`: before and after the last axis, then the axis before it, and so on, as PyTorch counts. A negative size removes elements.
constexpr Sym pad(const Sym& x, const SizeOption* given, int count, double value) {
  Graph& g = *x.graph;
  int r = x.id;
  const Shape s = x.shape();
  if (count % 2 != 0 || count > 2 * s.rank)
    return {&g, g.fail({.mistake = Mistake::padding_not_in_pairs, .op = "pad", .a = s, .number = count}, r)};
  constexpr std::int64_t most = std::int64_t{1} << 45;
  Extent sizes[2 * max_rank] = {};
  for (int k = 0; k < count; ++k) sizes[k] = given[k].extent;
  const auto added = [&](int k) { return sizes[k].is_constant() && sizes[k].code < 0 ? Extent(0) : sizes[k]; };
  const auto cut = [&](int k) { return added(k) == sizes[k] ? Extent(0) : Extent(0) - sizes[k]; };
  const auto outside = [&](int k) { return Failure{.mistake = Mistake::padding_out_of_range, .op = "pad", .a = s, .number = given[k].value}; };
  for (int k = 0; k < count; ++k)
    if (sizes[k].is_constant() && (sizes[k].code > most || sizes[k].code < -most)) return {&g, g.fail(outside(k), r)};
  for (int k = 0; k < count; k += 2) {
    const int axis = s.rank - 1 - k / 2;
    const Extent before = cut(k), both = before + cut(k + 1);
    if (both == Extent(0)) continue;
    if (!s[axis].is_constant() && std::is_constant_evaluated()) continue;  // refused below
    const auto too_many = [&] { return outside(before.code + before.code > both.code ? k : k + 1); };
    if (!g.at_least(s[axis], both.code, too_many)) return {&g, g.fail(too_many(), r)};
    r = g.slice(r, axis, before, s[axis] - both, 1);
  }
  if (!is_floating(x.dtype())) {
    const bool small = value > -0x1p53 && value < 0x1p53;
    const auto whole = static_cast<std::int64_t>(small ? value : 0);
    if (small && value != static_cast<double>(whole)) return {&g, g.fail({.mistake = Mistake::dtype_not_accepted, .op = "pad", .a = s, .dtype = x.dtype()}, r)};
    if (!small || !tt::holds(x.dtype(), value))
      return {&g, g.fail({.mistake = Mistake::number_out_of_range, .op = "pad", .a = s, .dtype = x.dtype(), .number = small ? whole : INT64_MAX}, r)};
  }
  const std::uint64_t bits = encode(x.dtype(), value);
  for (int k = 0; k < count; k += 4) {  // two axes at a time
    PadAttribute p;
    Shape to = g[r].shape;
    for (int j = 0; j < 2; ++j) {
      const bool more = k + 2 * j < count;
      p.axis[j] = more ? s.rank - 1 - k / 2 - j : p.axis[0];
      p.before[j] = more ? added(k + 2 * j) : Extent(0);
      if (!more || (sizes[k + 2 * j] == Extent(0) && sizes[k + 2 * j + 1] == Extent(0))) continue;
      if (!to[p.axis[j]].is_constant() && std::is_constant_evaluated())
        return {&g, g.fail({.mistake = Mistake::extents_are_not_constant, .op = "pad", .a = s}, r)};
      to.set(p.axis[j], to[p.axis[j]] + p.before[j] + added(k + 2 * j + 1));
    }
    r = g.pad(r, p, to, bits);
  }
  return {&g, r};
}

template <int Axis, std::int64_t Size, std::int64_t Step>
struct UnfoldFn {
  static constexpr const char* name = "unfold";
  static constexpr Sym record(const Sym& x) { return {x.graph, x.graph->window(x.id, Axis, Size, Step)}; }
};

}  // namespace detail

struct Conv2d {
  using Options = Conv2dOptions;
  static constexpr OpInfo info{.name = "conv2d", .arguments = "input, weight, bias?"};
  static constexpr Sym body(const Sym& images, const Sym& weights, const Sym& bias, const Options& o) { return detail::conv2d(images, weights, bias, o); }
};
struct MaxPool2d {
  using Options = Pool2dOptions;
  static constexpr OpInfo info{.name = "max_pool2d", .arguments = "input, .kernel_size"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::max_pool2d(x, o); }
};
struct AvgPool2d {
  using Options = Pool2dOptions;
  static constexpr OpInfo info{.name = "avg_pool2d", .arguments = "input, .kernel_size"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::avg_pool2d(x, o); }
};
struct Pad {
  struct Options {
    OptionList<SizeOption, 2 * max_rank + 1> pad;
    double value = 0;
  };
  static constexpr OpInfo info{.name = "pad", .widens = false, .arguments = "input, .pad"};
  static constexpr Sym body(const Sym& x, const Options& o) { return detail::pad(x, o.pad.item, o.pad.count, o.value); }
};

/// Convolution (mathematically a correlation) of images (N, C, H, W), or of one (C, H, W), with weights (O, C / groups,
/// KH, KW), and a bias (O) if given: (N, O, OH, OW), OH = (H + 2 padding - dilation (KH - 1) - 1) / stride + 1. Each
/// element is the sum over c, kh, kw in this order. For Arrays, only N may be known at run time. Throws Error (or does
/// not compile) when channels or sizes do not fit.
template <Conv2dOptions C = Conv2dOptions{}, Value X, Value W>
constexpr CalledStructured<Structured<Conv2d, C>, X, W> conv2d(X&& images, W&& weights, CallLine at = here()) {
  return call_structured<Conv2d, C>(at, static_cast<X&&>(images), static_cast<W&&>(weights));
}
template <Conv2dOptions C = Conv2dOptions{}, Value X, Value W, Value B>
constexpr CalledStructured<Structured<Conv2d, C>, X, W, B> conv2d(X&& images, W&& weights, B&& bias, CallLine at = here()) {
  return call_structured<Conv2d, C>(at, static_cast<X&&>(images), static_cast<W&&>(weights), static_cast<B&&>(bias));
}
template <DynamicAxes X>
constexpr X conv2d(const X& images, const std::type_identity_t<X>& weights, const Conv2dOptions& options, CallLine at = here()) {
  return call_with<Conv2d>(at, options, images, weights);
}
template <DynamicAxes X>
constexpr X conv2d(const X& images, const std::type_identity_t<X>& weights, const std::type_identity_t<X>& bias, const Conv2dOptions& options,
                   CallLine at = here()) {
  return call_with<Conv2d>(at, options, images, weights, bias);
}
/// Options as numbers in PyTorch's order.
template <DynamicAxes X, std::integral Stride>
constexpr X conv2d(const X& images, const std::type_identity_t<X>& weights, const std::type_identity_t<X>& bias, Stride stride, HeightWidth padding = 0, HeightWidth dilation = 1, int groups = 1,
                   SourceLine at = here()) {
  return call_with<Conv2d>(at, {static_cast<int>(stride), padding, dilation, groups}, images, weights, bias);
}
/// The largest element of each window of the last two axes; NaN if there is one. Gradient: to the first of equals, as in PyTorch.
template <Pool2dOptions P = Pool2dOptions{}, Value X>
constexpr CalledStructured<Structured<MaxPool2d, P>, X> max_pool2d(X&& images, CallLine at = here()) {
  return call_structured<MaxPool2d, P>(at, static_cast<X&&>(images));
}
template <DynamicAxes X>
constexpr X max_pool2d(const X& images, const Pool2dOptions& options, CallLine at = here()) {
  return call_with<MaxPool2d>(at, options, images);
}
template <DynamicAxes X, std::integral Kernel>
constexpr X max_pool2d(const X& images, Kernel kernel_size, HeightWidth stride = 0, HeightWidth padding = 0, SourceLine at = here()) {
  return call_with<MaxPool2d>(at, {static_cast<int>(kernel_size), stride, padding}, images);
}
/// The mean of each window of the last two axes; padding counts as zeros. For i64 the mean is truncated.
template <Pool2dOptions P = Pool2dOptions{}, Value X>
constexpr CalledStructured<Structured<AvgPool2d, P>, X> avg_pool2d(X&& images, CallLine at = here()) {
  return call_structured<AvgPool2d, P>(at, static_cast<X&&>(images));
}
template <DynamicAxes X>
constexpr X avg_pool2d(const X& images, const Pool2dOptions& options, CallLine at = here()) {
  return call_with<AvgPool2d>(at, options, images);
}
template <DynamicAxes X, std::integral Kernel>
constexpr X avg_pool2d(const X& images, Kernel kernel_size, HeightWidth stride = 0, HeightWidth padding = 0, SourceLine at = here()) {
  return call_with<AvgPool2d>(at, {static_cast<int>(kernel_size), stride, padding}, images);
}
/// Zeros around a value: the numbers of zeros before and after the last axis, then the axis before it, and so on. A
/// negative number removes that many elements. (NumPy's numbers begin with the first axis.)
template <std::int64_t... Sizes, Value X>
constexpr CalledStructured<Structured<Pad, Pad::Options{{Sizes...}}>, X> pad(X&& x, CallLine at = here()) {
  return call_structured<Pad, Pad::Options{{Sizes...}}>(at, static_cast<X&&>(x));
}
/// A margin of `value`; sizes as above.
template <DynamicAxes X>
constexpr X pad(const X& x, const IntList& sizes, double value = 0, SourceLine at = here()) {
  Pad::Options o{{}, value};
  for (int k = 0; k < sizes.size(); ++k)
    if (sizes.hint(k) < 0) o.pad.push_back(std::int64_t{sizes[k]});  // the size of a cut is specialised
    else o.pad.push_back(sizes[k]);
  return call_with<Pad>(at, o, x);
}
/// Windows of `Size` elements along an axis, `Step` apart: the axis becomes the number of windows, a new last axis has
/// the elements of each. Costs nothing; a mean over the last axis is a moving average.
template <int Axis, std::int64_t Size, std::int64_t Step = 1, Value X>
constexpr auto unfold(X&& x, CallLine at = here()) {
  return std::remove_cvref_t<X>::tt_front::template function<detail::UnfoldFn<Axis, Size, Step>>(at, static_cast<X&&>(x));
}

}  // namespace tt
