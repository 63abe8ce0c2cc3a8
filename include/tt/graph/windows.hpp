// How windows, pad, slice_scatter, take, cat and conv are recorded; a convolution as a matrix product, and its derivatives. Images are (N, C, H, W), weights
// (O, C / groups, KH, KW), as in PyTorch. KH, KW and the number of groups are constants; other extents may be symbols, in constant expressions N alone.
//   conv(images, weights)[n]  =  weights (O, C*KH*KW)  @  windows of images[n] (C*KH*KW, OH*OW)
#pragma once
#include "tt/graph/infer.hpp"

namespace tt {

constexpr int Graph::window(int a, int axis, std::int64_t size, std::int64_t step, std::int64_t dilation) {
  const Shape s = nodes[a].shape;
  const int k = normalize_axis(axis, s.rank);
  if (k < 0)
    return fail({.mistake = Mistake::axis_out_of_range, .op = "unfold", .a = s, .number = axis}, a);
  if (s.rank == max_rank)
    return fail({.mistake = Mistake::rank_too_high, .op = "unfold", .a = s, .number = max_rank + 1}, a);
  if (!s[k].is_constant() && std::is_constant_evaluated()) {
    need_number(s[k]);
    return fail({.mistake = Mistake::extents_are_not_constant, .op = "unfold", .a = s}, a);
  }
  const auto too_short = [&] { return Failure{.mistake = Mistake::window_does_not_fit, .op = "unfold", .a = s, .number = size}; };
  const WindowAttribute w{k, step, dilation};
  if (size < 1 || size > most_step || !w.fits() || !at_least(s[k], (size - 1) * dilation + 1, too_short)) return fail(too_short(), a);
  Node node{.op = Op::window, .dtype = nodes[a].dtype, .operand = {a, -1, -1, -1}, .shape = s};
  node.shape.set(k, floor_div(s[k] - ((size - 1) * dilation + 1), step) + 1);
  node.shape.push_back(size);
  return intern(node, w);
}

namespace detail {

/// `r`, recorded as a function of `a`, an empty value, so that `a` has a gradient.
constexpr int beside_nothing(Graph& g, int r, int a) {
  if (!is_floating(g[a].dtype)) return r;
  const int part = g.reshape(a, {0});  // a pad and not a sum, so that programs without reductions compile none
  const int none = g.reshape(g.intern({.op = Op::pad, .dtype = g[a].dtype, .operand = {part, -1, -1, -1}, .shape = {1}}, PadAttribute{}), {});
  return g.where_(g.constant_integer(DType::boolean, 0), none, r);
}
/// cat accepts a vector without elements among Tensors of any shape, as PyTorch does.
constexpr bool is_empty_vector(const Shape& s) { return s.rank == 1 && s[0] == Extent(0); }

}  // namespace detail

constexpr int Graph::pad(int a, const PadAttribute& before, const Shape& to, std::uint64_t bits) {
  const Shape s = nodes[a].shape;
  if (s == to) return a;
  const auto outside = [&] { return Failure{.mistake = Mistake::window_does_not_fit, .op = "pad", .a = to, .number = before.before[0].code}; };
  bool fits = s.rank == to.rank;
  for (int k = 0; k < s.rank && fits; ++k) {
    if (s[k] == to[k]) continue;
    if (std::is_constant_evaluated())
      fits = s[k].is_constant() && to[k].is_constant() && before.along(k).code >= 0 && s[k].code + before.along(k).code <= to[k].code;
    else fits = at_least(before.along(k), 0, outside) && at_least(to[k] - s[k] - before.along(k), 0, outside);
  }
  if (!fits) return fail(outside(), a);
  if (const int c = repeated_constant(a); is_constant(c) && nodes[c].bits == bits) return broadcast_to(c, to);
  const bool is_part_of_nothing = s.rank == 1 && to.size() == Extent(1);  // this pad of beside_nothing, recorded anew
  if (s.size() == Extent(0) && !is_part_of_nothing) return detail::beside_nothing(*this, broadcast_to(constant_bits(nodes[a].dtype, bits), to), a);
  const int first = before.axis[0] < before.axis[1] ? 0 : 1, low = before.axis[first], high = before.axis[1 - first];
  if (std::is_constant_evaluated() && !to.count(low + 1, high + 1).is_constant()) {  // the two offsets are multiples of different symbols
    Shape half = s;
    half.set(high, to[high]);
    const int a_half = pad(a, {{high, high}, {before.along(high), 0}}, half, bits);
    return pad(a_half, {{low, low}, {before.along(low), 0}}, to, bits);
  }
  return intern({.op = Op::pad, .dtype = nodes[a].dtype, .operand = {a, -1, -1, -1}, .bits = bits, .shape = to}, before);
}

constexpr int Graph::slice_scatter(int base, int a, int axis, Extent start) {
  const Shape to = nodes[base].shape, s = nodes[a].shape;
  const int k = normalize_axis(axis, to.rank);
  if (k < 0) return fail({.mistake = Mistake::axis_out_of_range, .op = "slice_scatter", .a = to, .number = axis}, base);
  const auto differ = [&] { return Failure{.mistake = Mistake::extents_beside_axis_differ, .op = "slice_scatter", .a = to, .b = s, .number = k}; };
  bool fits = s.rank == to.rank;
  for (int j = 0; j < s.rank && fits; ++j) fits = j == k || equal(s[j], to[j], differ);
  if (!fits) return fail(differ(), base);
  if (!s[k].is_constant() && std::is_constant_evaluated())
    return fail({.mistake = Mistake::extent_along_axis_is_not_constant, .op = "slice_scatter", .a = s, .number = k}, base);
  const Extent end = start + s[k];
  const PadAttribute before{{k, k}, {start, 0}};
  const auto outside = [&] {
    const Extent at = start.code < 0 ? start : end - 1;
    return Failure{.mistake = Mistake::slice_out_of_range, .op = "slice_scatter", .a = to, .number = at.code};
  };
  bool within = true;
  if (start.is_constant() && s[k].is_constant()) within = within && start.code >= 0 && end.code >= start.code && at_least(to[k], end.code, outside);
  else within = within && at_least(start, 0, outside) && at_least(to[k] - end, 0, outside);
  if (!within) return fail(outside(), base);
  a = cast(a, nodes[base].dtype);
  if (s.size() == Extent(0)) return detail::beside_nothing(*this, base, a);
  if (s[k] == to[k]) return a;
  return intern({.op = Op::slice_scatter, .dtype = nodes[base].dtype, .operand = {base, a, -1, -1}, .shape = to}, before);
}

constexpr int Graph::take(int a, int places, int axis) {
  const Shape from = nodes[a].shape, at = nodes[places].shape;
  const auto differ = [&] { return Failure{.mistake = Mistake::extents_beside_axis_differ, .op = "take", .a = from, .b = at, .number = axis}; };
  if (axis < 0 || axis >= from.rank) return fail({.mistake = Mistake::axis_out_of_range, .op = "take", .a = from, .number = axis}, a);
  if (nodes[places].dtype != DType::i64) return fail({.mistake = Mistake::dtype_not_accepted, .op = "take", .dtype = nodes[places].dtype}, places);
  if (from.rank != at.rank) return fail(differ(), a);
  Shape to;
  for (int k = 0; k < from.rank; ++k) {
    const bool repeated = k == axis || from[k] == Extent(1);
    if (!repeated && at[k] != Extent(1) && !equal(from[k], at[k], differ)) return fail(differ(), a);
    to.push_back(repeated ? at[k] : from[k]);
  }
  return intern({.op = Op::take, .dtype = nodes[a].dtype, .operand = {a, places, -1, -1}, .shape = to}, TakeAttribute{axis});
}

constexpr int Graph::cat(const int* a, int count, int axis) {
  int first = 0;  // the operand that determines the others' shape
  while (first + 1 < count && detail::is_empty_vector(nodes[a[first]].shape)) ++first;
  const Shape to = nodes[a[first]].shape;
  const auto left_out = [&](int i) { return to.rank != 1 && detail::is_empty_vector(nodes[a[i]].shape); };
  if (to.rank == 0) return fail({.mistake = Mistake::rank_too_low, .op = "cat", .a = to, .number = 1}, a[0]);
  const int k = normalize_axis(axis, to.rank);
  if (k < 0) return fail({.mistake = Mistake::axis_out_of_range, .op = "cat", .a = to, .number = axis}, a[0]);
  DType dtype = nodes[a[0]].dtype;
  Extent total = 0;
  for (int i = 0; i < count; ++i) {
    const Shape s = nodes[a[i]].shape;
    const auto differ = [&] { return Failure{.mistake = Mistake::extents_beside_axis_differ, .op = "cat", .a = to, .b = s, .number = k}; };
    dtype = promote(dtype, nodes[a[i]].dtype);
    if (left_out(i)) continue;
    bool fits = s.rank == to.rank;
    for (int j = 0; j < s.rank && fits; ++j) fits = j == k || equal(to[j], s[j], differ);
    if (!fits) return fail(differ(), a[0]);
    if (!s[k].is_constant() && std::is_constant_evaluated())
      return fail({.mistake = Mistake::extent_along_axis_is_not_constant, .op = "cat", .a = s, .number = k}, a[0]);
    total = total + s[k];
  }
  int r = cast(a[first], dtype);
  Extent start = 0;
  for (int i = 0; i < count; ++i) {
    Shape whole = nodes[a[i]].shape;
    if (left_out(i) || whole[k] == Extent(0)) continue;
    const Extent n = whole[k];
    whole.set(k, total);
    const int x = cast(a[i], dtype);
    r = start == Extent(0) ? pad(x, {{k, k}, {0, 0}}, whole) : slice_scatter(r, x, k, start);
    start = start + n;
  }
  for (int i = 0; i < count; ++i)
    if (left_out(i) || (nodes[a[i]].shape[k] == Extent(0) && (start != Extent(0) || i != first)))
      r = detail::beside_nothing(*this, r, cast(a[i], dtype));
  return r;
}

namespace detail {

/// The extents of a convolution that Graph::conv accepts.
struct ConvExtents {
  Extent images, in, out, height, width, out_height, out_width;
  Extent group_in, group_out;  ///< channels of one group
  std::int64_t groups, rows, columns;

  constexpr ConvExtents(const Shape& x, const Shape& w, const ConvAttribute& c)
      : images(x[0]), in(x[1]), out(w[0]), height(x[2]), width(x[3]), out_height(places_along(0, x, w, c)), out_width(places_along(1, x, w, c)),
        group_in(w[1]), rows(w.code[2]), columns(w.code[3]) {
    Extent quotient;
    divide(in, group_in, quotient);
    groups = quotient.code;
    divide(out, groups, group_out);
  }
  constexpr Extent places() const { return out_height * out_width; }
  constexpr Extent terms() const { return group_in * Extent(rows * columns); }

 private:
  static constexpr Extent places_along(int k, const Shape& x, const Shape& w, const ConvAttribute& c) {
    return floor_div(x[2 + k] + Extent(2 * c.padding[k] - (w.code[2 + k] - 1) * c.dilation[k] - 1), c.stride[k]) + 1;
  }
};

}  // namespace detail

constexpr int Graph::conv(int images, int weights, const ConvAttribute& c) {
  const DType dtype = nodes[images].dtype;
  const Shape x = nodes[images].shape, w = nodes[weights].shape;
  const auto mistake = [&](Mistake m, const Shape& shape, std::int64_t number) {
    return fail({.mistake = m, .op = "conv2d", .a = shape, .b = w, .dtype = dtype, .number = number}, images);
  };
  if (dtype != nodes[weights].dtype) return fail({.mistake = Mistake::dtypes_differ, .op = "conv2d", .dtype = dtype, .other_dtype = nodes[weights].dtype}, images);
  if (dtype == DType::boolean) return mistake(Mistake::dtype_not_accepted, x, 0);
  if (x.rank != 4 || w.rank != 4)
    return mistake(x.rank > 4 || w.rank > 4 ? Mistake::rank_too_high : Mistake::rank_too_low, x.rank != 4 ? x : w, 4);
  Extent groups, group_out;
  const bool divided = divide(x[1], w[1], groups) && groups.is_constant() && divide(w[0], groups, group_out);
  bool known = !std::is_constant_evaluated() || (w.is_constant() && x.is_constant_but_first());
  const auto need = [&](Extent e) {
    need_number(e);
    known = known && e.is_constant();
  };
  need(w[2]);
  need(w[3]);
  if (!divided)
    for (Extent e : {x[1], w[1], w[0]}) need(e);
  if (!known) return mistake(Mistake::extents_are_not_constant, w.is_constant() ? x : w, 0);
  if (!divided) return mistake(Mistake::channels_differ, x, w.code[1] > 0 ? x.code[1] / w.code[1] : 0);
  if (!c.fits()) return mistake(Mistake::windows_out_of_range, x, 0);
  for (int k = 2; k < 4; ++k) {
    const auto too_large = [&] { return Failure{.mistake = Mistake::window_does_not_fit, .op = "conv2d", .a = x, .b = w, .dtype = dtype, .number = w.code[k]}; };
    const std::int64_t between = (w.code[k] - 1) * c.dilation[k - 2];
    if (w.code[k] < 1 || !at_least(x[k], 1, too_large) || !at_least(x[k] + Extent(2 * c.padding[k - 2] - between), 1, too_large))
      return fail(too_large(), images);
  }
  if (is_narrow(dtype)) return cast(conv(widened(images), widened(weights), c), dtype);
  const detail::ConvExtents e(x, w, c);
  return intern({.op = Op::conv, .dtype = dtype, .operand = {images, weights, -1, -1},
                 .shape = {e.images, e.out, e.out_height, e.out_width}}, c);
}

namespace detail {

/// The elements of images' windows as matrices (N, C*KH*KW, OH*OW), with an axis of groups after N if there are several.
constexpr int window_matrix(Graph& g, int images, const ConvExtents& e, const ConvAttribute& c) {
  const Extent height = e.height + Extent(2 * c.padding[0]), width = e.width + Extent(2 * c.padding[1]);
  const int padded = g.pad(images, {{2, 3}, {c.padding[0], c.padding[1]}}, {e.images, e.in, height, width});
  const int x = g.reshape(padded, {e.images * Extent(e.groups), e.group_in, height, width});
  const int w = g.window(g.window(x, 2, e.rows, c.stride[0], c.dilation[0]), 3, e.columns, c.stride[1], c.dilation[1]);
  constexpr int order[] = {0, 1, 4, 5, 2, 3};
  const int p = g.permute(w, order);
  return e.groups == 1 ? g.reshape(p, {e.images, e.terms(), e.places()})
                       : g.reshape(p, {e.images, e.groups, e.terms(), e.places()});
}
/// Weights as matrices (O, C*KH*KW), or results as (N, O, OH*OW): of each group, if there are several.
constexpr int weight_matrix(Graph& g, int weights, const ConvExtents& e) {
  return e.groups == 1 ? g.reshape(weights, {e.out, e.terms()})
                       : g.reshape(weights, {e.groups, e.group_out, e.terms()});
}
constexpr int result_matrix(Graph& g, int result, const ConvExtents& e) {
  return e.groups == 1 ? g.reshape(result, {e.images, e.out, e.places()})
                       : g.reshape(result, {e.images, e.groups, e.group_out, e.places()});
}

/// One channel per group, in and out, where a matrix product would have one row and few terms: the sum, over positions in a window, of shifted images times a
/// weight per channel. In a product's order of summation.
constexpr int depthwise_convolution(Graph& g, int images, int weights, const ConvExtents& e, const ConvAttribute& c) {
  const Extent height = e.height + Extent(2 * c.padding[0]), width = e.width + Extent(2 * c.padding[1]);
  const int padded = g.pad(images, {{2, 3}, {c.padding[0], c.padding[1]}}, {e.images, e.in, height, width});
  int sum = g.constant(g[images].dtype, 0);
  for (std::int64_t i = 0; i < e.rows; ++i) {
    const int lines = g.slice(padded, 2, i * c.dilation[0], e.out_height, c.stride[0]);
    for (std::int64_t j = 0; j < e.columns; ++j) {
      const int shifted = g.slice(lines, 3, j * c.dilation[1], e.out_width, c.stride[1]);
      const int weight = g.reshape(g.slice(g.slice(weights, 2, i, 1, 1), 3, j, 1, 1), {e.out, 1, 1});
      sum = g.elementwise(Op::fma, {weight, shifted, sum});
    }
  }
  return sum;
}
/// Limits of depthwise_convolution: along short rows a product is as fast; each term is several nodes, and programs of Arrays have room for a few hundred.
inline constexpr std::int64_t most_shifts = 49, most_static_shifts = 9, shortest_shifted = 16;

/// A convolution as nodes that executors compute. `shifts`: depthwise_convolution where it is faster than a product.
constexpr int convolution(Graph& g, int images, int weights, const ConvAttribute& c, bool shifts = true) {
  const ConvExtents e(g[images].shape, g[weights].shape, c);
  if (shifts && e.groups > 1 && e.group_in == Extent(1) && e.group_out == Extent(1) &&
      e.rows * e.columns <= (std::is_constant_evaluated() ? most_static_shifts : most_shifts) &&
      (!e.out_width.is_constant() || e.out_width.code >= shortest_shifted))
    return depthwise_convolution(g, images, weights, e, c);
  const int r = g.matmul(weight_matrix(g, weights, e), window_matrix(g, images, e, c));
  return g.reshape(r, {e.images, e.out, e.out_height, e.out_width});
}

/// Each element along an axis becomes `step` elements: the element itself at index `place`, zeros elsewhere.
constexpr int widened(Graph& g, int d, int axis, std::int64_t place, std::int64_t step) {
  if (step == 1) return d;
  Shape wide = g[d].shape;
  const Shape flat = {wide.count(0, axis + 1), 1, wide.count(axis + 1, wide.rank)};
  Shape apart = flat;
  apart.set(1, step);
  wide.set(axis, wide[axis] * Extent(step));
  return g.reshape(g.pad(g.reshape(d, flat), {{1, 1}, {place, 0}}, apart), wide);
}
/// `d` spread along an axis of n zeros: its element i at start + i * step.
constexpr int spread(Graph& g, int d, int axis, Extent start, std::int64_t step, Extent n) {
  if (g[d].shape[axis] != Extent(1)) d = widened(g, d, axis, 0, step);
  Shape to = g[d].shape;
  const Extent length = to[axis], room = min(length, n - start);
  if (room != length) d = g.slice(d, axis, 0, room, 1);
  to.set(axis, n);
  return g.pad(d, {{axis, axis}, {start, 0}}, to);
}

/// Along one axis: the image elements `first`, first + stride, ..., and the weights and margin of the convolution that is their adjoint. `count` is that of
/// first = 0, so that symbolic sizes decide nothing here; the last element may be beyond the images.
struct ConvPhase {
  Extent count;               ///< of those elements
  std::int64_t begin, taps;   ///< of the flipped weights: the first that meets these elements, and how many, a stride apart
  std::int64_t margin;        ///< zeros before the adjoint; negative: number of its elements left out

  constexpr ConvPhase(std::int64_t first, std::int64_t stride, Extent size, std::int64_t window, std::int64_t padding)
      : count(floor_div(size + Extent(stride - 1), stride)) {
    const std::int64_t tap = (first + padding) % stride;  // the first weight that meets them
    taps = window > tap ? (window - tap + stride - 1) / stride : 0;
    begin = window - 1 - tap - stride * (taps - 1);
    margin = taps - 1 - (first + padding) / stride;
  }
};
/// `d` zero-padded along an axis to n elements: see ConvPhase::margin.
constexpr int between_zeros(Graph& g, int d, int axis, std::int64_t margin, Extent n) {
  const Extent length = g[d].shape[axis], cut = margin >= 0 ? Extent(0) : min(-margin, length);
  return spread(g, g.slice(d, axis, cut, length - cut, 1), axis, margin > 0 ? margin : 0, 1, n);
}

/// The adjoint of a convolution's images: convolutions of `d` with the weights flipped and their channels exchanged, one per remainder of an index
/// by the stride, so that no zeros are multiplied. (With a dilation they are.)
constexpr int adjoint_of_images(Graph& g, int w, int d, const ConvExtents& e, const ConvAttribute& c) {
  const std::int64_t window[] = {e.rows, e.columns};
  const Extent size[] = {e.height, e.width};
  int turned = g.reshape(w, {e.groups, e.group_out, e.group_in, e.rows, e.columns});
  constexpr int order[] = {0, 2, 1, 3, 4};
  turned = g.reshape(g.permute(turned, order), {e.in, e.group_out, e.rows, e.columns});
  std::int64_t stride[2];
  for (int k = 0; k < 2; ++k) {
    if (window[k] > 1) turned = g.slice(turned, 2 + k, window[k] - 1, window[k], -1);
    stride[k] = c.dilation[k] == 1 ? c.stride[k] : 1;
    if (stride[k] != c.stride[k]) d = spread(g, d, 2 + k, 0, c.stride[k], (g[d].shape[2 + k] - 1) * Extent(c.stride[k]) + 1);
  }
  int sum = -1;
  for (std::int64_t i = 0; i < stride[0] * stride[1]; ++i) {
    const std::int64_t first[] = {i / stride[1], i % stride[1]};
    int part = d, weights = turned;
    bool any = true;
    for (int k = 0; k < 2; ++k) {
      const std::int64_t reach = (window[k] - 1) * c.dilation[k] + 1;
      ConvPhase p(first[k], stride[k], size[k], reach, c.padding[k]);
      any = any && p.taps > 0;
      if (!any) break;
      part = between_zeros(g, part, 2 + k, p.margin, p.count + (p.taps - 1));
      if (c.dilation[k] == 1) weights = g.slice(weights, 2 + k, p.begin, p.taps, stride[k]);
    }
    if (!any) continue;
    part = g.conv(part, weights, {{1, 1}, {c.dilation[0], c.dilation[1]}, {0, 0}});
    for (int k = 0; k < 2; ++k) part = g.slice(widened(g, part, 2 + k, first[k], stride[k]), 2 + k, 0, size[k], 1);
    sum = sum < 0 ? part : g.add(sum, part);
  }
  return sum >= 0 ? sum : g.constant(g[w].dtype, 0, {e.images, e.in, e.height, e.width});
}
constexpr void differentiate_conv(Graph& g, const Node& n, int d, int* out) {
  const auto c = g.attributes<ConvAttribute>(n);
  const int x = n.operand[0], w = n.operand[1];
  const Shape weights = g[w].shape;
  const ConvExtents e(g[x].shape, weights, c);
  out[0] = adjoint_of_images(g, w, d, e, c);
  const int windows = window_matrix(g, x, e, c), rank = g[windows].shape.rank;  // d times the window elements
  const int each = g.matmul(result_matrix(g, d, e), g.transpose(windows, rank - 2, rank - 1));
  out[1] = g.reshape(reduce<Op::sum>(g, each, 1), weights);
}

}  // namespace detail
}  // namespace tt
