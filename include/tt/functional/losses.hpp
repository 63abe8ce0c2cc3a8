// Losses of classes, and of squares.
//   tt::cross_entropy(logits, labels)    tt::nll_loss(x, labels, weight)    tt::mse_loss(y, target, tt::Reduction::sum)
#pragma once
#include "tt/functional/checks.hpp"

namespace tt {
namespace detail {

/// Labels and logits of a loss while it is recorded. Classes are along axis 1, or along the only axis.
struct Labels {
  int rank = 0, classes = 0;
  Shape column;  ///< shape of the labels, with an axis of extent 1 in place of the classes
  bool fit = false;

  static constexpr int class_axis(int rank) { return rank > 1 ? 1 : 0; }
  constexpr unsigned axis() const { return 1u << classes; }

  constexpr Labels(const Sym& x, const Sym& labels, const char* op) : rank(x.shape().rank), classes(class_axis(rank)) {
    Graph& g = *x.graph;
    const bool of_one_rank = rank > 0 && labels.shape().rank == rank - 1;
    if (!of_one_rank || labels.dtype() == DType::boolean || is_floating(labels.dtype())) {
      g.fail({.mistake = of_one_rank ? Mistake::dtype_not_accepted : Mistake::shapes_do_not_broadcast, .op = op, .a = x.shape(), .b = labels.shape(),
              .dtype = labels.dtype()}, x.id);
      return;
    }
    const auto differ = [&] { return Failure{.mistake = Mistake::shapes_do_not_broadcast, .op = op, .a = x.shape(), .b = labels.shape()}; };
    for (int k = 0; k < rank; ++k) {
      column.push_back(k == classes ? Extent(1) : labels.shape()[k < classes ? k : k - 1]);
      if (k == classes || g.equal(column[k], x.shape()[k], differ)) continue;
      g.fail(differ(), x.id);
      return;
    }
    fit = true;
  }
};
constexpr Sym class_weights(const Sym& x, const Sym& weight, int classes, const char* op) {
  need_shape(weight, Shape{x.shape()[classes]}, op);
  return along_axis(weight, classes, x.shape().rank);
}
/// Losses of labels without the ignored ones, reduced; `chosen`: the weights of the labels, if there are any.
constexpr Sym reduced_labels(const Sym& loss, const Sym& label, const Sym& chosen, std::int64_t ignored, unsigned axis, Reduction r) {
  const Sym counts = label != ignored;
  const Sym kept = tt::where(counts, loss, 0);
  if (r == Reduction::none) return reduce<Op::sum>(kept, axis, false);
  const Sym total = reduce<Op::sum>(kept, all_axes(kept), false);
  if (r == Reduction::sum) return total;
  const Sym weight = chosen.defined() ? tt::where(counts, chosen, 0) : cast_to(counts, loss.dtype());
  const Sym sum = reduce<Op::sum>(weight, all_axes(weight), false);
  return tt::where(sum == 0, std::numeric_limits<double>::quiet_NaN(), total / sum);  // records the sum first: its kernel then precedes that of the rows
}
/// cross_entropy of probabilities: the target has the shape of the logits.
constexpr Sym cross_entropy_of_probabilities(const Sym& log_probability, const Sym& target, const Sym& weight, Reduction r, double smoothing,
                                             unsigned axis, const char* op) {
  const Sym &x = log_probability, classes = count_of(x, axis);
  if (!need_shape(target, x.shape(), op)) return x;
  Sym t = smoothing > 0 ? target * (1 - smoothing) + smoothing / classes : target;
  if (weight.defined()) t = t * weight;
  const Sym loss = -reduce<Op::sum>(x * t, axis, r != Reduction::none);
  return reduced(loss, r);
}

/// logsumexp(logits) - logits[label], with an axis of extent 1 in place of the classes.
struct ClassLoss {
  Labels labels;
  Sym z, label, hit, log_sum, each;

  constexpr ClassLoss(const Sym& logits, const Sym& given, const char* op) : labels(logits, given, op) {
    if (!labels.fit) return;
    const unsigned axis = labels.axis();
    const Sym r = need_real(logits, op);
    z = r - detach(reduce<Op::amax>(r, axis, true));
    label = {given.graph, given.graph->reshape(given.id, labels.column)};
    hit = iota_like(z, axis) == label;
    const Sym picked = reduce<Op::sum>(tt::where(hit, z, 0), axis, true);
    log_sum = tt::log(reduce<Op::sum>(tt::exp(z), axis, true));
    each = log_sum - picked;
  }
  constexpr Sym mean() const { return detail::mean(each, (1u << labels.rank) - 1, false); }
};

}  // namespace detail

struct CrossEntropy {
  struct Options {
    std::int64_t ignore_index = -100;
    Reduction reduction = Reduction::mean;
    double label_smoothing = 0;
  };
  static constexpr OpInfo info{.name = "cross_entropy", .arguments = "input, target, weight?"};
  static constexpr Sym body(const auto& logits, const auto& labels, const auto& weight, const Options& o) {
    detail::need_option(logits, o.label_smoothing >= 0 && o.label_smoothing <= 1, info.name, "label_smoothing", o.label_smoothing, "from 0 to 1");
    if (is_floating(labels.dtype()) && logits.shape().rank > 0 && labels.shape().rank == logits.shape().rank) return of_probabilities(logits, labels, weight, o);
    const detail::ClassLoss c(logits, labels, info.name);
    if (!c.labels.fit) return logits;
    const bool plain = o.ignore_index == -100 && o.reduction == Reduction::mean && o.label_smoothing == 0 && !weight.defined();
    if (std::is_constant_evaluated() && plain) return c.mean();  // a mask would add a fifth to the compile time of the digits example
    Sym loss = c.each, weights, chosen;
    const unsigned axis = c.labels.axis();
    if (weight.defined()) {
      weights = detail::class_weights(logits, weight, c.labels.classes, info.name);
      chosen = detail::reduce<Op::sum>(tt::where(c.hit, weights, 0), axis, true);
      loss = loss * chosen;
    }
    if (o.label_smoothing > 0) {
      const Sym of_all = c.log_sum - c.z, smooth = detail::reduce<Op::sum>(weight.defined() ? of_all * weights : of_all, axis, true);
      loss = loss * (1 - o.label_smoothing) + smooth * (o.label_smoothing / detail::count_of(c.z, axis));
    }
    return detail::reduced_labels(loss, c.label, chosen, o.ignore_index, axis, o.reduction);
  }

 private:
  static constexpr Sym of_probabilities(const auto& logits, const auto& target, const auto& weight, const Options& o) {
    const int classes = detail::Labels::class_axis(logits.shape().rank);
    const Sym each = weight.defined() ? detail::class_weights(logits, weight, classes, info.name) : Sym{};
    const auto r = detail::need_real(logits, info.name), z = r - detail::detach(detail::reduce<Op::amax>(r, 1u << classes, true));
    const Sym log_probability = z - tt::log(detail::reduce<Op::sum>(tt::exp(z), 1u << classes, true));
    return detail::cross_entropy_of_probabilities(log_probability, target, each, o.reduction, o.label_smoothing, 1u << classes, info.name);
  }
};
struct NllLoss {
  struct Options {
    std::int64_t ignore_index = -100;
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "nll_loss", .arguments = "input, target, weight?"};
  static constexpr Sym body(const Sym& x, const Sym& labels, const Sym& weight, const Options& o) {
    const detail::Labels l(x, labels, info.name);
    const Sym r = detail::need_real(x, info.name);
    if (!l.fit) return x;
    const Sym label = detail::reshaped(labels, l.column), hit = detail::iota_like(r, l.axis()) == label;
    Sym loss = -detail::reduce<Op::sum>(tt::where(hit, r, 0), l.axis(), true), chosen;
    if (weight.defined()) {
      const Sym each = detail::class_weights(x, weight, l.classes, info.name);
      chosen = detail::reduce<Op::sum>(tt::where(hit, each, 0), l.axis(), true);
      loss = loss * chosen;
    }
    return detail::reduced_labels(loss, label, chosen, o.ignore_index, l.axis(), o.reduction);
  }
};
/// Options of a loss that has only a reduction.
struct LossOptions {
  Reduction reduction = Reduction::mean;
};
struct MseLoss {
  using Options = LossOptions;
  static constexpr OpInfo info{.name = "mse_loss", .arguments = "input, target, weight?"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Sym& weight, const Options& o) {
    const Sym d = detail::to_real(a - b);
    return detail::reduced(d * d, weight, o.reduction, info.name);
  }
};

/// -log softmax(logits)[label], reduced: logits (N, C), (C) or (N, C, d1, ...); labels of an integer dtype in [0, C), in that shape
/// without C, or probabilities, floating and in the shape of the logits. `weight`, (C): of each class; the mean is then weighted.
/// Labels equal to `ignore_index` do not count; but in static programs of Arrays, while all options are the defaults, -100 is a
/// label outside. `label_smoothing` is the part of each target that is spread over all classes. Calls on the host check the labels,
/// captured ones when they run, and throw Error where one is outside; elsewhere such a label adds logsumexp(logits - max).
template <Value A, Value B>
constexpr CalledStructured<WithDefaults<CrossEntropy>, A, B> cross_entropy(A&& logits, B&& labels, SourceLine at = here()) {
  return call_structured<CrossEntropy>(at, static_cast<A&&>(logits), static_cast<B&&>(labels));
}
template <CrossEntropy::Options O, Value A, Value B, Value... W>
constexpr CalledStructured<Structured<CrossEntropy, O>, A, B, W...> cross_entropy(A&& logits, B&& labels, W&&... weight) {
  return call_structured<CrossEntropy, O>({}, static_cast<A&&>(logits), static_cast<B&&>(labels), static_cast<W&&>(weight)...);
}
template <DynamicAxes A>
constexpr A cross_entropy(const A& input, const std::type_identity_t<A>& target, const std::type_identity_t<A>& weight, std::int64_t ignore_index = -100,
                          Reduction reduction = Reduction::mean, double label_smoothing = 0, SourceLine at = here()) {
  return call_with<CrossEntropy>(at, {ignore_index, reduction, label_smoothing}, input, target, weight);
}
/// -input[label], reduced as cross_entropy is; the input is the logarithm of probabilities.
template <NllLoss::Options O = NllLoss::Options{}, Value A, Value B, Value... W>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<NllLoss, O>, A, B, W...> nll_loss(A&& input, B&& target, W&&... weight) {
  return call_structured<NllLoss, O>({}, static_cast<A&&>(input), static_cast<B&&>(target), static_cast<W&&>(weight)...);
}
template <DynamicAxes A>
constexpr A nll_loss(const A& input, const std::type_identity_t<A>& target, const std::type_identity_t<A>& weight = {}, std::int64_t ignore_index = -100,
                     Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<NllLoss>(at, {ignore_index, reduction}, input, target, weight);
}
/// (a - b)^2, reduced. With weights, of the same shape, the mean is divided by their sum.
template <Value A, Value B>
constexpr CalledStructured<WithDefaults<MseLoss>, A, B> mse_loss(A&& a, B&& b, SourceLine at = here()) {
  return call_structured<MseLoss>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <LossOptions O, Value A, Value B, Value... W>
constexpr CalledStructured<Structured<MseLoss, O>, A, B, W...> mse_loss(A&& input, B&& target, W&&... weight) {
  return call_structured<MseLoss, O>({}, static_cast<A&&>(input), static_cast<B&&>(target), static_cast<W&&>(weight)...);
}
template <DynamicAxes A>
constexpr A mse_loss(const A& input, const std::type_identity_t<A>& target, Reduction reduction, const std::type_identity_t<A>& weight = {},
                     SourceLine at = here()) {
  return call_with<MseLoss>(at, {reduction}, input, target, weight);
}

}  // namespace tt
