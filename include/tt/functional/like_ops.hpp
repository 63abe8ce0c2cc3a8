// Values in the shape of another: an arithmetic sequence, an identity matrix. Factories of Tensors are recorded as these ops.
#pragma once
#include "tt/functional/reductions.hpp"

namespace tt {

/// start, start + step, ... along the one axis of `input`, in its dtype; computed in the dtype of start and step.
struct ArangeLike {
  static constexpr OpInfo info{.name = "arange_like", .widens = false, .arguments = "input, start, step"};
  static constexpr Sym body(const Sym& like, const Sym& start, const Sym& step) {
    if (like.shape().rank < 1) return {like.graph, like.graph->fail({.mistake = Mistake::rank_too_low, .op = info.name, .a = like.shape(), .number = 1}, like.id)};
    const Sym place{like.graph, like.graph->cast(detail::iota_like(like, 1).id, start.dtype())};
    const Sym value = start + place * step;
    return {like.graph, like.graph->cast(value.id, like.dtype())};
  }
};
/// Ones where both indices of `input`, a matrix, are equal.
struct EyeLike {
  static constexpr OpInfo info{.name = "eye_like", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& like) {
    if (like.shape().rank < 2) return {like.graph, like.graph->fail({.mistake = Mistake::rank_too_low, .op = info.name, .a = like.shape(), .number = 2}, like.id)};
    return {like.graph, like.graph->cast((detail::iota_like(like, 1) == detail::iota_like(like, 2)).id, like.dtype())};
  }
};

}  // namespace tt
