// Losses that compare two values element by element. `reduction`: none, mean, sum; the names, arguments and defaults are PyTorch's.
//   tt::huber_loss(y, target, tt::Reduction::sum, 0.5)    tt::binary_cross_entropy_with_logits(x, target)
#pragma once
#include "tt/functional/losses.hpp"

namespace tt {
namespace detail {

/// log(1 + e^x) without overflow.
constexpr Sym log_one_plus_exp(const auto& x) { return -tt::logsigmoid(-x); }

}  // namespace detail

struct L1Loss {
  using Options = LossOptions;
  static constexpr OpInfo info{.name = "l1_loss", .arguments = "input, target, weight?"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Sym& weight, const Options& o) {
    return detail::reduced(tt::abs(o.reduction == Reduction::mean || weight.defined() ? detail::to_real(a - b) : a - b), weight, o.reduction, info.name);
  }
};
struct SmoothL1Loss {
  struct Options {
    Reduction reduction = Reduction::mean;
    double beta = 1;
  };
  static constexpr OpInfo info{.name = "smooth_l1_loss", .arguments = "input, target"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Options& o) {
    const Sym d = detail::to_real(a - b);
    if (!detail::need_option(a, o.beta >= 0, info.name, "beta", o.beta, "at least 0")) return a;
    if (o.beta == 0) return detail::reduced(tt::abs(d), o.reduction);
    return detail::reduced(call<SmoothL1>({}, d, o.beta), o.reduction);
  }
};
struct HuberLoss {
  struct Options {
    Reduction reduction = Reduction::mean;
    double delta = 1;
  };
  static constexpr OpInfo info{.name = "huber_loss", .arguments = "input, target, weight?"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Sym& weight, const Options& o) {
    const Sym d = detail::to_real(a - b);
    detail::need_option(a, o.delta > 0, info.name, "delta", o.delta, "above 0");
    const Sym loss = call<Huber>({}, d, o.delta);
    if (!weight.defined()) return detail::reduced(loss, o.reduction);
    detail::need_shape(weight, loss.shape(), info.name);
    return detail::reduced(loss * weight, o.reduction);
  }
};
struct BinaryCrossEntropy {
  using Options = LossOptions;
  static constexpr OpInfo info{.name = "binary_cross_entropy", .arguments = "input, target, weight?"};
  static constexpr Sym body(const auto& x, const auto& t, const auto& weight, const Options& o) {
    detail::need_shape(t, x.shape(), info.name);
    const auto r = detail::need_real(x, info.name);
    detail::need_same_dtype(r, t, info.name);
    const Sym loss = call<BinaryLoss>({}, r, t);
    return detail::reduced(weight.defined() ? loss * weight : loss, o.reduction);
  }
};
struct BinaryCrossEntropyWithLogits {
  using Options = LossOptions;
  static constexpr OpInfo info{.name = "binary_cross_entropy_with_logits", .arguments = "input, target, weight?, pos_weight?"};
  static constexpr Sym body(const auto& x, const auto& t, const auto& weight, const auto& pos_weight, const Options& o) {
    detail::need_shape(t, x.shape(), info.name);
    const auto r = detail::need_real(x, info.name);
    const Sym rest = detail::log_one_plus_exp(-r), weighted = pos_weight.defined() ? ((pos_weight - 1) * t + 1) * rest : rest;
    const Sym loss = (1 - t) * r + weighted;
    return detail::reduced(weight.defined() ? loss * weight : loss, o.reduction);
  }
};
/// Reductions of kl_div: batchmean is the sum divided by the first extent.
enum class KlDivReduction { none, mean, sum, batchmean };
template <>
inline constexpr const char* choices_of<KlDivReduction> = "none|mean|sum|batchmean";
struct KlDiv {
  struct Options {
    KlDivReduction reduction = KlDivReduction::mean;
    bool log_target = false;
  };
  static constexpr OpInfo info{.name = "kl_div", .arguments = "input, target"};
  static constexpr Sym body(const auto& given, const auto& t, const Options& o) {
    const auto x = detail::need_real(given, info.name);
    if (!is_floating(t.dtype())) return detail::need_real(t, info.name);
    const Sym loss = o.log_target ? tt::exp(t) * (t - x) : t * tt::log(tt::where(t == 0, 1, t)) - t * x;
    if (o.reduction != KlDivReduction::batchmean) return detail::reduced(loss, static_cast<Reduction>(o.reduction));
    const Sym sum = detail::reduced(loss, Reduction::sum);
    return x.shape().rank == 0 ? sum : sum / detail::count_of(x, 1);
  }
};
struct PoissonNllLoss {
  struct Options {
    bool log_input = true, full = false;
    double eps = 1e-8;
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "poisson_nll_loss", .arguments = "input, target"};
  static constexpr Sym body(const auto& given, const auto& t, const Options& o) {
    const auto x = detail::to_real(given);
    Sym loss = o.log_input ? tt::exp(x) - t * x : x - t * tt::log(x + o.eps);
    if (o.full) {  // Stirling's approximation of log(t!)
      const Sym large = t > 1, n = tt::where(large, t, 1);
      loss = loss + tt::where(large, n * tt::log(n) - n + 0.5 * tt::log(6.283185307179586 * n), 0);
    }
    return detail::reduced(loss, o.reduction);
  }
};
struct GaussianNllLoss {
  struct Options {
    bool full = false;
    double eps = 1e-6;
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "gaussian_nll_loss", .arguments = "input, target, var"};
  static constexpr Sym body(const auto& x, const auto& t, const auto& var, const Options& o) {
    detail::need_option(x, o.eps > 0, info.name, "eps", o.eps, "above 0");
    const Shape s = x.shape();
    const int rank = var.shape().rank;
    const Sym given = rank > 0 && rank == s.rank - 1 ? detail::reshaped(var, detail::with_new_axis(var.shape(), s.rank - 1)) : Sym(var);
    if (rank > 0) {  // one variance for each element, or for the last axis
      Shape each = s;
      if (given.shape().rank > 0 && s.rank > 0 && given.shape()[given.shape().rank - 1] == Extent(1)) each.set(s.rank - 1, 1);
      if (!detail::need_shape(given, each, info.name)) return x;
    }
    const auto v = tt::where(given < o.eps, given - detail::detach(given) + o.eps, given);  // with the gradient of the larger one
    const Sym d = x - t;
    Sym loss = 0.5 * (tt::log(v) + d * d / v);
    if (o.full) loss = loss + 0.9189385332046727;  // log(2 pi) / 2
    return detail::reduced(loss, o.reduction);
  }
};
struct HingeEmbeddingLoss {
  struct Options {
    double margin = 1;
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "hinge_embedding_loss", .arguments = "input, target"};
  static constexpr Sym body(const Sym& x, const Sym& t, const Options& o) {
    const Sym far = detail::positive_part(o.margin - x);
    return detail::reduced(tt::where(t != 1, far, 0) + tt::where(t != -1, x, 0), o.reduction);
  }
};
struct MarginRankingLoss {
  struct Options {
    double margin = 0;
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "margin_ranking_loss", .arguments = "input1, input2, target"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Sym& t, const Options& o) {
    if (!detail::need_ranks({b, t}, a.shape().rank, info.name)) return a;
    return detail::reduced(detail::positive_part(-t * (a - b) + o.margin), o.reduction);
  }
};
struct SoftMarginLoss {
  using Options = LossOptions;
  static constexpr OpInfo info{.name = "soft_margin_loss", .arguments = "input, target"};
  static constexpr Sym body(const auto& x, const auto& t, const Options& o) {
    const auto z = -t * detail::need_real(x, info.name);
    if (!detail::need_shape(z, x.shape(), info.name)) return z;
    return detail::reduced(detail::log_one_plus_exp(z), o.reduction);
  }
};
struct MultilabelSoftMarginLoss {
  using Options = LossOptions;
  static constexpr OpInfo info{.name = "multilabel_soft_margin_loss", .arguments = "input, target, weight?"};
  static constexpr Sym body(const auto& x, const auto& t, const auto& weight, const Options& o) {
    detail::need_rank(x, 1, max_rank, info.name);
    if (x.shape().rank == 0) return x;
    const Sym loss = t * detail::log_one_plus_exp(-x) + (1 - t) * detail::log_one_plus_exp(x);
    const unsigned classes = 1u << (x.shape().rank - 1);
    return detail::reduced(detail::mean(weight.defined() ? loss * weight : loss, classes, false), o.reduction);
  }
};

/// |input - target|, reduced. With weights, of the same shape, the mean is divided by their sum.
template <LossOptions O = LossOptions{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<L1Loss, O>, A, B> l1_loss(A&& input, B&& target, CallLine at = here()) { return call_structured<L1Loss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A l1_loss(const A& input, const std::type_identity_t<A>& target, Reduction reduction = Reduction::mean,
                    const std::type_identity_t<A>& weight = {}, SourceLine at = here()) {
  return call_with<L1Loss>(at, {reduction}, input, target, weight);
}
/// With d = |input - target|: d^2 / (2 beta) below beta, d - beta / 2 above.
template <SmoothL1Loss::Options O = SmoothL1Loss::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<SmoothL1Loss, O>, A, B> smooth_l1_loss(A&& input, B&& target, CallLine at = here()) {
  return call_structured<SmoothL1Loss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target));
}
template <DynamicAxes A>
constexpr A smooth_l1_loss(const A& input, const std::type_identity_t<A>& target, Reduction reduction = Reduction::mean, double beta = 1,
                           SourceLine at = here()) {
  return call_with<SmoothL1Loss>(at, {reduction, beta}, input, target);
}
/// With d = |input - target|: d^2 / 2 below delta, delta (d - delta / 2) above. The mean of weighted elements is divided by their number, not by the sum of the weights, as PyTorch's.
template <HuberLoss::Options O = HuberLoss::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<HuberLoss, O>, A, B> huber_loss(A&& input, B&& target, CallLine at = here()) {
  return call_structured<HuberLoss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target));
}
template <DynamicAxes A>
constexpr A huber_loss(const A& input, const std::type_identity_t<A>& target, Reduction reduction = Reduction::mean, double delta = 1,
                       const std::type_identity_t<A>& weight = {}, SourceLine at = here()) {
  return call_with<HuberLoss>(at, {reduction, delta}, input, target, weight);
}
/// -(target log(input) + (1 - target) log(1 - input)) for probabilities; no logarithm is below -100. The loss is multiplied by `weight`, which is broadcast.
template <BinaryCrossEntropy::Options O = BinaryCrossEntropy::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<BinaryCrossEntropy, O>, A, B> binary_cross_entropy(A&& input, B&& target, CallLine at = here()) { return call_structured<BinaryCrossEntropy, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A binary_cross_entropy(const A& input, const std::type_identity_t<A>& target, const std::type_identity_t<A>& weight = {},
                                 Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<BinaryCrossEntropy>(at, {reduction}, input, target, weight);
}
/// The same for sigmoid(input), without overflow; `pos_weight` is the weight of positive targets, which is broadcast.
template <LossOptions O = LossOptions{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<BinaryCrossEntropyWithLogits, O>, A, B> binary_cross_entropy_with_logits(A&& input, B&& target, CallLine at = here()) {
  return call_structured<BinaryCrossEntropyWithLogits, O>(at, static_cast<A&&>(input), static_cast<B&&>(target));
}
template <DynamicAxes A>
constexpr A binary_cross_entropy_with_logits(const A& input, const std::type_identity_t<A>& target, const std::type_identity_t<A>& weight = {},
                                             Reduction reduction = Reduction::mean, const std::type_identity_t<A>& pos_weight = {}, SourceLine at = here()) {
  return call_with<BinaryCrossEntropyWithLogits>(at, {reduction}, input, target, weight, pos_weight);
}
/// target (log(target) - input), where the input is the logarithm of probabilities; `log_target`: so is the target.
template <KlDiv::Options O = KlDiv::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<KlDiv, O>, A, B> kl_div(A&& input, B&& target, CallLine at = here()) { return call_structured<KlDiv, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A kl_div(const A& input, const std::type_identity_t<A>& target, KlDivReduction reduction = KlDivReduction::mean, bool log_target = false,
                   SourceLine at = here()) {
  return call_with<KlDiv>(at, {reduction, log_target}, input, target);
}
/// exp(input) - target input, or with log_input false input - target log(input + eps); `full`: with Stirling's term.
template <PoissonNllLoss::Options O = PoissonNllLoss::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<PoissonNllLoss, O>, A, B> poisson_nll_loss(A&& input, B&& target, CallLine at = here()) { return call_structured<PoissonNllLoss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A poisson_nll_loss(const A& input, const std::type_identity_t<A>& target, bool log_input = true, bool full = false, double eps = 1e-8,
                             Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<PoissonNllLoss>(at, {log_input, full, eps, reduction}, input, target);
}
/// (log(var) + (input - target)^2 / var) / 2, with a variance of the same shape, or without the last axis; the variance is at least eps.
template <GaussianNllLoss::Options O = GaussianNllLoss::Options{}, Value A, Value B, Value C>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<GaussianNllLoss, O>, A, B, C> gaussian_nll_loss(A&& input, B&& target, C&& var, CallLine at = here()) { return call_structured<GaussianNllLoss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target), static_cast<C&&>(var)); }
template <DynamicAxes A>
constexpr A gaussian_nll_loss(const A& input, const std::type_identity_t<A>& target, const std::type_identity_t<A>& var, bool full = false, double eps = 1e-6,
                              Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<GaussianNllLoss>(at, {full, eps, reduction}, input, target, var);
}
/// input where the target is 1, max(0, margin - input) where it is -1.
template <HingeEmbeddingLoss::Options O = HingeEmbeddingLoss::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<HingeEmbeddingLoss, O>, A, B> hinge_embedding_loss(A&& input, B&& target, CallLine at = here()) { return call_structured<HingeEmbeddingLoss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A hinge_embedding_loss(const A& input, const std::type_identity_t<A>& target, double margin = 1, Reduction reduction = Reduction::mean,
                                 SourceLine at = here()) {
  return call_with<HingeEmbeddingLoss>(at, {margin, reduction}, input, target);
}
/// max(0, -target (input1 - input2) + margin).
template <MarginRankingLoss::Options O = MarginRankingLoss::Options{}, Value A, Value B, Value C>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<MarginRankingLoss, O>, A, B, C> margin_ranking_loss(A&& input1, B&& input2, C&& target, CallLine at = here()) { return call_structured<MarginRankingLoss, O>(at, static_cast<A&&>(input1), static_cast<B&&>(input2), static_cast<C&&>(target)); }
template <DynamicAxes A>
constexpr A margin_ranking_loss(const A& input1, const std::type_identity_t<A>& input2, const std::type_identity_t<A>& target, double margin = 0,
                                Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<MarginRankingLoss>(at, {margin, reduction}, input1, input2, target);
}
/// log(1 + exp(-target input)).
template <SoftMarginLoss::Options O = SoftMarginLoss::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<SoftMarginLoss, O>, A, B> soft_margin_loss(A&& input, B&& target, CallLine at = here()) { return call_structured<SoftMarginLoss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A soft_margin_loss(const A& input, const std::type_identity_t<A>& target, Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<SoftMarginLoss>(at, {reduction}, input, target);
}
/// The mean over the last axis of binary_cross_entropy_with_logits, reduced.
template <MultilabelSoftMarginLoss::Options O = MultilabelSoftMarginLoss::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<MultilabelSoftMarginLoss, O>, A, B> multilabel_soft_margin_loss(A&& input, B&& target, CallLine at = here()) { return call_structured<MultilabelSoftMarginLoss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A multilabel_soft_margin_loss(const A& input, const std::type_identity_t<A>& target, const std::type_identity_t<A>& weight = {},
                                        Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<MultilabelSoftMarginLoss>(at, {reduction}, input, target, weight);
}

}  // namespace tt
