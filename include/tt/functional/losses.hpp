// Losses: the mean over all elements.
//   tt::cross_entropy(logits, labels)    tt::mse_loss(y, target)
#pragma once
#include "tt/functional/reductions.hpp"

namespace tt {

struct CrossEntropy {
  static constexpr OpInfo info{.name = "cross_entropy", .arguments = "input, target"};
  static constexpr int class_axis(int rank) { return rank > 1 ? 1 : 0; }
  static constexpr Sym body(const auto& logits, const auto& labels) {
    const int rank = logits.shape().rank, classes = class_axis(rank);
    const bool of_one_rank = rank > 0 && labels.shape().rank == rank - 1;
    if (!of_one_rank || labels.dtype() == DType::boolean || is_floating(labels.dtype()))
      return {logits.graph,
              logits.graph->fail({.mistake = of_one_rank ? Mistake::dtype_not_accepted : Mistake::shapes_do_not_broadcast,
                                  .op = info.name, .a = logits.shape(), .b = labels.shape(), .dtype = labels.dtype()}, logits.id)};
    const auto differ = [&] { return Failure{.mistake = Mistake::shapes_do_not_broadcast, .op = info.name, .a = logits.shape(), .b = labels.shape()}; };
    Shape column;  // the labels, with an axis of extent 1 where the classes are
    for (int k = 0; k < rank; ++k) {
      column.push_back(k == classes ? Extent(1) : labels.shape()[k < classes ? k : k - 1]);
      if (k != classes && !logits.graph->equal(column[k], logits.shape()[k], differ)) return {logits.graph, logits.graph->fail(differ(), logits.id)};
    }
    const unsigned axis = 1u << classes;
    const auto r = detail::to_real(logits);
    const auto z = r - detail::detach(detail::reduce<Op::amax>(r, axis, true));
    const Sym label = {labels.graph, labels.graph->reshape(labels.id, column)};
    const auto hit = detail::iota_like(z, axis) == label;
    const auto picked = detail::reduce<Op::sum>(tt::where(hit, z, 0), axis, true);
    const auto loss = tt::log(detail::reduce<Op::sum>(tt::exp(z), axis, true)) - picked;
    return detail::mean(loss, (1u << rank) - 1, false);
  }
};
struct MseLoss {
  static constexpr OpInfo info{.name = "mse_loss", .arguments = "input, target"};
  static constexpr Sym body(const Sym& a, const Sym& b) {
    const Sym d = detail::to_real(a - b);
    return detail::mean(d * d, (1u << d.shape().rank) - 1, false);
  }
};

/// The mean of -log softmax(logits)[label]: logits (N, C), (C) or (N, C, d1, ...), labels, of an integer dtype in [0, C), of
/// that shape without C. Eager calls on the host look at them; elsewhere one outside adds logsumexp(logits - max).
template <Value A, Value B>
constexpr auto cross_entropy(A&& logits, B&& labels, SourceLine at = here()) {
  return call_structured<CrossEntropy>(at, static_cast<A&&>(logits), static_cast<B&&>(labels));
}
/// The mean of (a - b)^2.
template <Value A, Value B>
constexpr auto mse_loss(A&& a, B&& b, SourceLine at = here()) {
  return call_structured<MseLoss>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

}  // namespace tt
