// Normalisation: values with mean 0 and variance 1.
//   tt::layer_norm(x, {64}, weight, bias)    tt::layer_norm<tt::LayerNorm::Options{64}>(a, weight, bias)
#pragma once
#include "tt/functional/reductions.hpp"

namespace tt {

struct LayerNorm {
  struct Options {
    Sizes normalized_shape;
    double eps = 1e-5;
  };
  static constexpr OpInfo info{.name = "layer_norm", .rounds_as_input = true, .arguments = "input, .normalized_shape, weight?, bias?"};
  static constexpr Sym body(const auto& x, const auto& weight, const auto& bias, const Options& o) {
    const unsigned axes = detail::last_axes(x, o.normalized_shape, info.name);
    const auto r = detail::need_real(x, info.name), c = r - detail::mean(r, axes, true);
    auto y = c * tt::rsqrt(detail::mean(c * c, axes, true) + o.eps);
    for (const Sym& scale : {weight, bias}) {
      detail::need_sizes(scale, o.normalized_shape, info.name);
      detail::need_same_dtype(r, scale, info.name);
    }
    if (weight.defined()) y = y * weight;
    return bias.defined() ? y + bias : y;
  }
};
/// (x - mean) / sqrt(variance + eps) * weight + bias over the last axes, whose shape is given; the variance is divided
/// by n. weight and bias, of that shape, may be left out.
template <LayerNorm::Options O, Value... A>
constexpr CalledStructured<Structured<LayerNorm, O>, A...> layer_norm(A&&... a) { return call_structured<LayerNorm, O>({}, static_cast<A&&>(a)...); }
template <DynamicAxes A>
constexpr A layer_norm(const A& x, const Sizes& normalized_shape, const std::type_identity_t<A>& weight = {}, const std::type_identity_t<A>& bias = {},
                       double eps = 1e-5, SourceLine at = here()) {
  return call_with<LayerNorm>(at, {normalized_shape, eps}, x, weight, bias);
}

}  // namespace tt
