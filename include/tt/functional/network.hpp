// Layers of networks that are formulas over a few ops: normalisation over batches and groups, gates, linear maps,
// attention. PyTorch's names, arguments and defaults.
//   tt::linear(x, w, b)   tt::group_norm(x, 4)   tt::scaled_dot_product_attention(q, k, v, {}, 0, true)
#pragma once
#include "tt/functional/checks.hpp"
#include "tt/functional/matmul.hpp"
#include "tt/functional/random_ops.hpp"

namespace tt {
namespace detail {

/// (x - mean) / sqrt(var + eps) over axes, the variance divided by n.
constexpr Sym normalized(const auto& x, unsigned axes, double eps) {
  const auto c = x - detail::mean(x, axes, true);
  return c * tt::rsqrt(detail::mean(c * c, axes, true) + eps);
}
/// Scaled and shifted by vectors along axis 1, where they are given.
constexpr Sym channel_affine(const Sym& x, const Sym& weight, const Sym& bias, const char* op) {
  Sym y = x;
  const int rank = x.shape().rank;
  need_same_dtype(x, weight, op);
  need_same_dtype(x, bias, op);
  if (weight.defined() && need_shape(weight, Shape{x.shape()[1]}, op)) y = y * along_axis(weight, 1, rank);
  if (bias.defined() && need_shape(bias, Shape{x.shape()[1]}, op)) y = y + along_axis(bias, 1, rank);
  return y;
}
constexpr Sym permuted(const Sym& x, std::initializer_list<int> order) {
  int axis[max_rank] = {}, n = 0;
  for (int k : order) axis[n++] = k;
  return {x.graph, x.graph->permute(x.id, axis)};
}

}  // namespace detail

struct BatchNorm {
  struct Options {
    bool training = false;
    double momentum = 0.1, eps = 1e-5;
  };
  static constexpr OpInfo info{.name = "_batch_norm", .rounds_as_input = true, .arguments = "input, running_mean?, running_var?, weight?, bias?"};
  static constexpr Sym body(const auto& given, const auto& mean, const auto& var, const auto& weight, const auto& bias, const Options& o) {
    if (!detail::need_rank(given, 2, max_rank, info.name)) return given;
    const auto x = detail::need_real(given, info.name);
    const int rank = x.shape().rank;
    if (o.training || !mean.defined() || !var.defined()) return detail::channel_affine(detail::normalized(x, detail::all_axes(x) & ~2u, o.eps), weight, bias, info.name);
    for (const Sym& s : {mean, var}) detail::need_shape(s, Shape{x.shape()[1]}, info.name);
    // Of a vector, so that a convolution's kernel reads it from memory (plan/epilogue_order.hpp).
    const auto scale = detail::along_axis(tt::rsqrt(var + o.eps), 1, rank);
    return detail::channel_affine((x - detail::along_axis(mean, 1, rank)) * scale, weight, bias, info.name);
  }
};
struct GroupNorm {
  struct Options {
    int num_groups = 1;
    double eps = 1e-5;
  };
  static constexpr OpInfo info{.name = "group_norm", .rounds_as_input = true, .arguments = "input, .num_groups, weight?, bias?"};
  static constexpr Sym body(const auto& given, const auto& weight, const auto& bias, const Options& o) {
    if (!detail::need_rank(given, 2, max_rank, info.name)) return given;
    const auto x = detail::need_real(given, info.name);
    const Shape s = x.shape();
    Extent each;
    const bool fits = o.num_groups > 0 && divide(s[1], Extent(o.num_groups), each);
    if (!detail::need_option(given, fits, info.name, "num_groups", o.num_groups, "a part of the channels")) return given;
    Shape groups{s[0], Extent(o.num_groups), each};
    for (int k = 2; k < s.rank; ++k) groups.set(2, groups[2] * s[k]);
    const auto g = detail::reshaped(x, groups);
    return detail::channel_affine(detail::reshaped(detail::normalized(g, 4u, o.eps), s), weight, bias, info.name);
  }
};
struct InstanceNorm {
  struct Options {
    bool use_input_stats = true;
    double momentum = 0.1, eps = 1e-5;
  };
  static constexpr OpInfo info{.name = "_instance_norm", .rounds_as_input = true, .arguments = "input, running_mean?, running_var?, weight?, bias?"};
  static constexpr Sym body(const auto& given, const auto& mean, const auto& var, const auto& weight, const auto& bias, const Options& o) {
    if (!detail::need_rank(given, 2, max_rank, info.name)) return given;
    const auto x = detail::need_real(given, info.name);
    if (o.use_input_stats || !mean.defined() || !var.defined()) return detail::channel_affine(detail::normalized(x, detail::all_axes(x) & ~3u, o.eps), weight, bias, info.name);
    return BatchNorm::body(given, mean, var, weight, bias, {false, o.momentum, o.eps});
  }
};
struct RmsNorm {
  struct Options {
    Sizes normalized_shape;
    Optional<double> eps;
  };
  static constexpr OpInfo info{.name = "rms_norm", .rounds_as_input = true, .arguments = "input, .normalized_shape, weight?"};
  static constexpr Sym body(const auto& given, const auto& weight, const Options& o) {
    const unsigned axes = detail::last_axes(given, o.normalized_shape, info.name);
    detail::need_sizes(weight, o.normalized_shape, info.name);
    const auto x = detail::need_real(given, info.name);
    const double eps = o.eps.given ? o.eps.value : x.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23;
    const auto y = x * tt::rsqrt(detail::mean(x * x, axes, true) + eps);
    return weight.defined() ? y * weight : Sym(y);
  }
};
struct Linear {
  static constexpr OpInfo info{.name = "linear", .widens = false, .arguments = "input, weight, bias?"};
  static constexpr Sym body(const Sym& x, const Sym& weight, const Sym& bias) {
    if (!detail::need_rank(weight, 1, 2, info.name) || !detail::need_same_dtype(x, weight, info.name)) return x;
    const Sym w = weight.shape().rank == 2 ? Sym{x.graph, x.graph->transpose(weight.id, 0, 1)} : weight, y = Matmul::body(x, w);
    return bias.defined() && detail::need_same_dtype(x, bias, info.name) ? y + bias : y;
  }
};
/// A product of matrices of integers stored in 8 or 16 bits, summed in 32.
struct IntMm {
  static constexpr OpInfo info{.name = "_int_mm", .widens = false, .arguments = "input, mat2"};
  static constexpr Sym body(const Sym& a, const Sym& b) {
    for (const Sym& x : {a, b}) {
      if (!detail::need_rank(x, 2, 2, info.name)) return x;
      if (!is_narrow(x.dtype()) || !is_integral(x.dtype())) return {x.graph, x.graph->fail({.mistake = Mistake::dtype_not_accepted, .op = info.name, .dtype = x.dtype()}, x.id)};
    }
    return Matmul::body(tt::cast<std::int32_t>(a), tt::cast<std::int32_t>(b));
  }
};
/// One half of an axis times the sigmoid of the other.
struct Glu {
  struct Options {
    int dim = -1;
  };
  static constexpr OpInfo info{.name = "glu", .arguments = "input"};
  static constexpr Sym body(const auto& given, const Options& o) {
    const auto x = detail::need_real(given, info.name);
    const Shape s = x.shape();
    const int k = normalize_axis(o.dim, s.rank);
    Extent half;
    if (k < 0) return {x.graph, x.graph->fail({.mistake = Mistake::axis_out_of_range, .op = info.name, .a = s, .number = o.dim}, x.id)};
    if (!divide(s[k], Extent(2), half)) return {x.graph, x.graph->fail({.mistake = Mistake::sizes_differ, .op = info.name, .a = s, .b = s}, x.id)};
    return detail::slice(x, k, 0, half) * tt::sigmoid(detail::slice(x, k, half, half));
  }
};
struct Prelu {
  static constexpr OpInfo info{.name = "prelu", .arguments = "input, weight"};
  static constexpr Sym body(const Sym& given, const Sym& weight) {
    const Sym x = detail::need_real(given, info.name);
    if (!detail::need_same_dtype(x, weight, info.name)) return x;
    const bool single = weight.shape().rank == 0 || weight.shape()[0] == Extent(1) || x.shape().rank < 2;
    const Sym w = weight.shape().rank == 0 ? weight : single ? detail::reshaped(weight, Shape{}) : detail::along_axis(weight, 1, x.shape().rank);
    return tt::where(x > 0, x, w * x);
  }
};
/// (..., C r^2, H, W) as (..., C, H r, W r), and back.
template <bool Up>
struct PixelShuffle {
  struct UpOptions {
    int upscale_factor = 1;
    constexpr int factor() const { return upscale_factor; }
  };
  struct DownOptions {
    int downscale_factor = 1;
    constexpr int factor() const { return downscale_factor; }
  };
  using Options = std::conditional_t<Up, UpOptions, DownOptions>;
  static constexpr OpInfo info{.name = Up ? "pixel_shuffle" : "pixel_unshuffle", .widens = false, .arguments = Up ? "input, .upscale_factor" : "input, .downscale_factor"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    if (!detail::need_rank(x, 3, max_rank - 2, info.name)) return x;
    const Shape s = x.shape();
    const int r = s.rank;
    Extent outer = 1, channels, h, w;
    for (int k = 0; k < r - 3; ++k) outer = outer * s[k];
    const Extent f = o.factor();
    const bool fits = o.factor() > 0 && (Up ? divide(s[r - 3], f * f, channels) : divide(s[r - 2], f, h) && divide(s[r - 1], f, w));
    if (!detail::need_option(x, fits, info.name, Up ? "upscale_factor" : "downscale_factor", o.factor(), "such that sizes can be divided")) return x;
    Shape to = s;
    if constexpr (Up) {
      to.set(r - 3, channels);
      to.set(r - 2, s[r - 2] * f);
      to.set(r - 1, s[r - 1] * f);
      return detail::reshaped(detail::permuted(detail::reshaped(x, {outer, channels, f, f, s[r - 2], s[r - 1]}), {0, 1, 4, 2, 5, 3}), to);
    } else {
      to.set(r - 3, s[r - 3] * f * f);
      to.set(r - 2, h);
      to.set(r - 1, w);
      return detail::reshaped(detail::permuted(detail::reshaped(x, {outer, s[r - 3], h, f, w, f}), {0, 1, 3, 5, 2, 4}), to);
    }
  }
};
/// Attention over the last two axes: softmax(q k^T scale + mask) v. With a seed, weights are dropped with probability dropout_p, and the others scaled up.
struct Attention {
  struct Options {
    bool is_causal = false;
    Optional<double> scale;
    double dropout_p = 0;
  };
  static constexpr OpInfo info{.name = "_attention", .arguments = "query, key, value, attn_mask?, seed?"};
  static constexpr Sym body(const auto& q, const auto& k, const auto& v, const auto& mask, const auto& seed, const Options& o) {
    for (const Sym& s : {q, k, v})
      if (!detail::need_rank(s, 2, max_rank, info.name)) return q;
    const Shape s = q.shape();
    const Sym scale = o.scale.given ? Sym{q.graph, q.graph->constant(q.dtype(), o.scale.value)} : Sym(tt::rsqrt(Sym{q.graph, q.graph->extent(q.dtype(), s[s.rank - 1])}));
    auto scores = Matmul::body(q * scale, Sym{k.graph, k.graph->transpose(k.id, -2, -1)});
    const double none = -__builtin_inf();
    if (o.is_causal) {
      const int rank = scores.shape().rank;
      scores = tt::where(detail::iota_like(scores, 1u << (rank - 1)) <= detail::iota_like(scores, 1u << (rank - 2)), scores, none);
    }
    if (mask.defined()) {
      if (mask.dtype() == DType::boolean) scores = tt::where(mask, scores, none);
      else scores = scores + mask;
    }
    const unsigned last = 1u << (scores.shape().rank - 1);
    const auto top = detail::detach(detail::reduce<Op::amax>(scores, last, true));
    const auto e = tt::exp(scores - tt::where(top == none, 0, top));  // zeros for a row without any key
    const auto sum = detail::reduce<Op::sum>(e, last, true);
    Sym weights = e / tt::where(sum == 0, 1, sum);
    if (seed.defined()) {
      const Sym drawn = detail::unit_interval(tt::philox(detail::flat_index(weights), detail::as_seed(seed, info.name)), DType::f32);
      weights = o.dropout_p == 1 ? weights * 0 : Sym(tt::where(drawn >= o.dropout_p, weights * (1 / (1 - o.dropout_p)), 0));
    }
    return Matmul::body(weights, v);
  }
};

/// x weight^T + bias: (..., in) to (..., out), with a weight (out, in).
template <Value A, Value W, Value... B>
constexpr CalledStructured<WithDefaults<Linear>, A, W, B...> linear(A&& x, W&& weight, B&&... bias) { return call_structured<Linear>({}, static_cast<A&&>(x), static_cast<W&&>(weight), static_cast<B&&>(bias)...); }
/// The product of matrices of u8, i8 or i16: i32, exact (modulo 2^32) on every processor. PyTorch's torch._int_mm.
template <Value A, Value B>
constexpr CalledStructured<WithDefaults<IntMm>, A, B> int_mm(A&& a, B&& b) { return call_structured<IntMm>({}, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// (x - mean) / sqrt(var + eps) * weight + bias, over each group of channels (axis 1) and all further axes of one example.
template <DynamicAxes A>
constexpr A group_norm(const A& x, int num_groups, const std::type_identity_t<A>& weight = {}, const std::type_identity_t<A>& bias = {}, double eps = 1e-5, SourceLine at = here()) {
  return call_with<GroupNorm>(at, {num_groups, eps}, x, weight, bias);
}
/// The same over all axes beyond the channels of one example.
template <DynamicAxes A>
constexpr A instance_norm(const A& x, const std::type_identity_t<A>& running_mean = {}, const std::type_identity_t<A>& running_var = {}, const std::type_identity_t<A>& weight = {},
                          const std::type_identity_t<A>& bias = {}, bool use_input_stats = true, double momentum = 0.1, double eps = 1e-5, SourceLine at = here()) {
  return call_with<InstanceNorm>(at, {use_input_stats, momentum, eps}, x, running_mean, running_var, weight, bias);
}
/// x / sqrt(mean(x^2) + eps) * weight over the last axes, whose shape is given; eps: 2^-23 (f64: 2^-52) unless given.
template <RmsNorm::Options O, Value... A>
constexpr CalledStructured<Structured<RmsNorm, O>, A...> rms_norm(A&&... a) { return call_structured<RmsNorm, O>({}, static_cast<A&&>(a)...); }
template <DynamicAxes A>
constexpr A rms_norm(const A& x, const Sizes& normalized_shape, const std::type_identity_t<A>& weight = {}, Optional<double> eps = {}, SourceLine at = here()) {
  return call_with<RmsNorm>(at, {normalized_shape, eps}, x, weight);
}
template <Glu::Options O = Glu::Options{}, Value A>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<Glu, O>, A> glu(A&& x, CallLine at = here()) { return call_structured<Glu, O>(at, static_cast<A&&>(x)); }
template <DynamicAxes A>
constexpr A glu(const A& x, int dim = -1, SourceLine at = here()) { return call_with<Glu>(at, {dim}, x); }
/// x where positive, else weight * x; a weight for all, or one for each channel (axis 1).
template <Value A, Value W>
constexpr CalledStructured<WithDefaults<Prelu>, A, W> prelu(A&& x, W&& weight, SourceLine at = here()) { return call_structured<Prelu>(at, static_cast<A&&>(x), static_cast<W&&>(weight)); }
template <DynamicAxes A>
constexpr A softmin(const A& x, int dim, SourceLine at = here()) { return tt::softmax(-x, dim, at); }
/// (..., C r^2, H, W) as (..., C, H r, W r), and back.
template <int Factor, Value A>
  requires(!DynamicAxes<A>)
constexpr auto pixel_shuffle(A&& x, CallLine at = here()) { return call_structured<PixelShuffle<true>, PixelShuffle<true>::Options{Factor}>(at, static_cast<A&&>(x)); }
template <int Factor, Value A>
  requires(!DynamicAxes<A>)
constexpr auto pixel_unshuffle(A&& x, CallLine at = here()) { return call_structured<PixelShuffle<false>, PixelShuffle<false>::Options{Factor}>(at, static_cast<A&&>(x)); }
template <DynamicAxes A>
constexpr A pixel_shuffle(const A& x, int upscale_factor, SourceLine at = here()) { return call_with<PixelShuffle<true>>(at, {upscale_factor}, x); }
template <DynamicAxes A>
constexpr A pixel_unshuffle(const A& x, int downscale_factor, SourceLine at = here()) { return call_with<PixelShuffle<false>>(at, {downscale_factor}, x); }

}  // namespace tt
