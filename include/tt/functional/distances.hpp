// Norms and distances along an axis, losses made of them, and losses of margins between classes. PyTorch's names, arguments and defaults.
//   tt::normalize(x)    tt::cosine_similarity(a, b)    tt::cdist(a, b)    tt::triplet_margin_loss(anchor, positive, negative)
#pragma once
#include "tt/functional/checks.hpp"
#include "tt/functional/matmul.hpp"

namespace tt {
namespace detail {

/// (sum |x|^p)^(1/p) along axes; for infinity the largest |x|, for minus infinity the smallest, for 0 the number of nonzero elements. The gradient at 0 is 0.
constexpr Sym norm(const auto& x, double p, unsigned axes, bool keepdim, const char* op) {
  if (p == 0) return reduce<Op::sum>(tt::where(all_of(x, false), x, cast_to(x != 0, x.dtype())), axes, keepdim);  // a gradient of 0
  if (p == 1) return reduce<Op::sum>(tt::abs(x), axes, keepdim);
  if (p == __builtin_inf()) return extreme<Op::amax>(tt::abs(x), axes, keepdim, op);
  if (p == -__builtin_inf()) return extreme<Op::amin>(tt::abs(x), axes, keepdim, op);
  if (p == 2) return tt::call<SqrtFlatAtZero>({}, reduce<Op::sum>(x * x, axes, keepdim));
  const auto zero = x == 0;
  const Sym s = reduce<Op::sum>(tt::where(zero, p < 0 ? __builtin_inf() : 0.0, tt::pow(tt::where(zero, 1, tt::abs(x)), p)), axes, keepdim);
  if (p < 0) return tt::pow(s, 1 / p);
  const auto none = s == 0;
  return tt::where(none, 0, tt::pow(tt::where(none, 1, s), 1 / p));
}
constexpr Sym distance(const auto& a, const auto& b, double p, double eps, bool keepdim, const char* op) {
  const Sym d = a - b + eps;
  return norm(d, p, d.shape().rank > 0 ? 1u << (d.shape().rank - 1) : 0, keepdim, op);
}

}  // namespace detail

struct VectorNorm {
  struct Options {
    double ord = 2;
    Axes dim{};
    bool keepdim = false;
  };
  static constexpr OpInfo info{.name = "linalg_vector_norm", .arguments = "input"};
  static constexpr Sym body(const auto& x, const Options& o) { return detail::norm(detail::need_real(x, info.name), o.ord, detail::axis_bits(x, o.dim, info.name), o.keepdim, info.name); }
};
struct Normalize {
  struct Options {
    double p = 2;
    int dim = 1;
    double eps = 1e-12;
  };
  static constexpr OpInfo info{.name = "normalize", .arguments = "input"};
  static constexpr Sym body(const auto& x, const Options& o) {
    const auto r = detail::need_real(x, info.name);
    const Sym n = detail::norm(r, o.p, detail::axis_bits(x, o.dim, info.name), true, info.name);
    return r / tt::where(n < o.eps, o.eps, n);
  }
};
struct CosineSimilarity {
  struct Options {
    int dim = 1;
    double eps = 1e-8;
  };
  static constexpr OpInfo info{.name = "cosine_similarity", .arguments = "x1, x2"};
  static constexpr Sym body(const auto& first, const auto& second, const Options& o) {
    const Sym ra = detail::to_real(first), rb = detail::to_real(second), both = ra * rb;
    const unsigned axis = detail::axis_bits(both, o.dim, info.name);
    const Sym a = detail::expanded(ra, both.shape()), b = detail::expanded(rb, both.shape());
    const Sym na = detail::norm(a, 2, axis, true, info.name), nb = detail::norm(b, 2, axis, true, info.name);
    const auto bounded = [&](const Sym& n) { return tt::where(n < o.eps, o.eps + tt::call<Tangent>(here(), n), n); };  // gradient of the norm, as in PyTorch
    return detail::reduce<Op::sum>(a / bounded(na) * (b / bounded(nb)), axis, false);
  }
};
struct PairwiseDistance {
  struct Options {
    double p = 2, eps = 1e-6;
    bool keepdim = false;
  };
  static constexpr OpInfo info{.name = "pairwise_distance", .arguments = "x1, x2"};
  static constexpr Sym body(const auto& a, const auto& b, const Options& o) { return detail::distance(a, b, o.p, o.eps, o.keepdim, info.name); }
};
/// How Euclidean distances are computed: from products, |a|^2 + |b|^2 - 2 ab, which is fast and loses the digits that a
/// and b have in common, or from differences.
enum class EuclidDistance : std::uint8_t { use_mm_for_euclid_dist_if_necessary, use_mm_for_euclid_dist, donot_use_mm_for_euclid_dist };
template <>
inline constexpr const char* choices_of<EuclidDistance> = "use_mm_for_euclid_dist_if_necessary|use_mm_for_euclid_dist|donot_use_mm_for_euclid_dist";

struct Cdist {
  struct Options {
    double p = 2;
    bool of_products = false;
  };
  static constexpr OpInfo info{.name = "_cdist", .arguments = "x1, x2"};
  static constexpr const char* called = "cdist";  ///< users' name for the op, used in errors
  static constexpr Sym body(const auto& first, const auto& second, const Options& o) {
    if (!detail::need_rank(first, 2, max_rank - 1, called) || !detail::need_rank(second, 2, max_rank - 1, called)) return first;
    const Sym a = detail::need_real(first, called), b = detail::need_real(second, called);
    if (!detail::need_option(a, o.p >= 0, called, "p", o.p, "at least 0")) return a;
    const Shape s = a.shape(), t = b.shape();
    const auto otherwise = [&] { return Failure{.mistake = Mistake::last_sizes_differ, .op = called, .a = s, .b = t}; };
    if (!a.graph->equal(s.last(), t.last(), otherwise)) return {a.graph, a.graph->fail(otherwise(), a.id)};
    if (o.of_products) return from_products(a, b);
    const auto d = detail::reshaped(a, detail::with_new_axis(s, s.rank - 1)) - detail::reshaped(b, detail::with_new_axis(t, t.rank - 2));
    const unsigned last = 1u << (d.shape().rank - 1);
    if (d.shape().last() == Extent(0)) return detail::reduce<Op::sum>(d, last, false);
    return detail::norm(d, o.p, last, false, called);
  }

 private:
  static constexpr Sym from_products(const Sym& a, const Sym& b) {
    const auto swapped = [](const Sym& x) {
      const int rank = x.shape().rank;
      int axes[max_rank];
      for (int k = 0; k < rank; ++k) axes[k] = k < rank - 2 ? k : 2 * rank - 3 - k;
      return Sym{x.graph, x.graph->permute(x.id, axes)};
    };
    const auto squares = [](const Sym& x) { return detail::reduce<Op::sum>(x * x, 1u << (x.shape().rank - 1), true); };
    return tt::call<SqrtFlatAtZero>({}, (squares(a) + swapped(squares(b))) + tt::matmul(a, swapped(-2 * b)));  // b is scaled, as it has fewer rows more often
  }
};
struct Pdist {
  struct Options {
    double p = 2;
  };
  static constexpr OpInfo info{.name = "pdist", .arguments = "input"};
  /// Row i with the rows after it, for each i: the number of rows is a constant.
  static constexpr Sym body(const auto& given, const Options& o) {
    const auto x = detail::need_real(given, info.name);
    Graph& g = *x.graph;
    if (!detail::need_rank(x, 2, 2, info.name)) return x;
    const Extent rows = x.shape()[0];
    g.need_number(rows);
    if (!rows.is_constant()) return {&g, g.fail({.mistake = Mistake::extents_are_not_constant, .op = info.name, .a = x.shape()}, x.id)};
    Vec<int> parts;
    for (std::int64_t i = 0; i + 1 < rows.code; ++i)
      parts.push_back((detail::slice(x, 0, i, 1) - detail::slice(x, 0, i + 1, rows.code - 1 - i)).id);
    if (parts.empty()) return detail::reduce<Op::sum>(detail::slice(x, 0, 0, 0), 2, false);
    const Sym all{&g, g.cat(parts.begin(), parts.size(), 0)};
    if (x.shape()[1] == Extent(0)) return detail::reduce<Op::sum>(all, 2, false);
    return detail::norm(all, o.p, 2, false, info.name);
  }
};
struct CosineEmbeddingLoss {
  struct Options {
    double margin = 0;
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "cosine_embedding_loss", .arguments = "input1, input2, target"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Sym& t, const Options& o) {
    if (!detail::need_rank(t, 0, 1, info.name)) return a;
    if (!detail::need_ranks({a, b}, t.shape().rank + 1, info.name)) return a;
    const Sym both = detail::to_real(a * b);
    const unsigned last = 1u << (both.shape().rank - 1);
    constexpr double eps = 1e-12;
    const Sym x = detail::expanded(detail::to_real(a), both.shape()), y = detail::expanded(detail::to_real(b), both.shape());
    const Sym na = detail::reduce<Op::sum>(x * x, last, false) + eps, nb = detail::reduce<Op::sum>(y * y, last, false) + eps;
    const Sym cosine = detail::reduce<Op::sum>(both, last, false) / tt::sqrt(na * nb);
    const Sym near = tt::where(t == 1, 1 - cosine, 0), far = tt::where(t == -1, detail::positive_part(cosine - o.margin), 0);
    return detail::reduced(near + far, o.reduction);
  }
};
struct TripletMarginLoss {
  struct Options {
    double margin = 1, p = 2, eps = 1e-6;
    bool swap = false;
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "triplet_margin_loss", .arguments = "anchor, positive, negative"};
  static constexpr Sym body(const auto& anchor, const auto& positive, const auto& negative, const Options& o) {
    detail::need_option(anchor, o.margin > 0, info.name, "margin", o.margin, "above 0");
    if (!detail::need_ranks({positive, negative}, anchor.shape().rank, info.name)) return anchor;
    const Sym near = detail::distance(anchor, positive, o.p, o.eps, false, info.name);
    Sym far = detail::distance(anchor, negative, o.p, o.eps, false, info.name);
    if (o.swap) far = tt::minimum(far, detail::distance(positive, negative, o.p, o.eps, false, info.name));
    return detail::reduced(detail::positive_part(near - far + o.margin), o.reduction);
  }
};
struct MultiMarginLoss {
  struct Options {
    int p = 1;
    double margin = 1;
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "multi_margin_loss", .arguments = "input, target, weight?"};
  static constexpr Sym body(const Sym& x, const Sym& labels, const Sym& weight, const Options& o) {
    detail::need_option(x, o.p == 1 || o.p == 2, info.name, "p", o.p, "1 or 2");
    const int rank = x.shape().rank;
    if (rank == 0) return body(detail::reshaped(x, Shape{1}), labels, weight, o);
    if (!detail::need_rank(x, 1, 2, info.name) || !detail::need_integers(labels, info.name)) return x;
    const unsigned axis = 1u << (rank - 1);
    Shape column = detail::without_axis(x.shape(), rank - 1);
    if (rank == 2) detail::need_shape(labels, column, info.name);
    column.push_back(1);
    const Sym r = detail::need_real(x, info.name), hit = detail::iota_like(r, axis) == detail::reshaped(labels, column);
    const Sym own = detail::reduce<Op::sum>(tt::where(hit, r, 0), axis, true), z = o.margin - own + r;
    Sym each = tt::where(hit || !(z > 0), 0, o.p == 1 ? z : z * z);
    if (weight.defined()) {
      detail::need_shape(weight, Shape{x.shape()[rank - 1]}, info.name);
      each = each * detail::reduce<Op::sum>(tt::where(hit, detail::along_axis(weight, rank - 1, rank), 0), axis, true);
    }
    const Sym loss = detail::mean(each, axis, false);
    return detail::reduced(rank == 1 && labels.shape().rank == 1 ? detail::reshaped(loss, Shape{1}) : loss, o.reduction);
  }
};
struct MultilabelMarginLoss {
  struct Options {
    Reduction reduction = Reduction::mean;
  };
  static constexpr OpInfo info{.name = "multilabel_margin_loss", .arguments = "input, target"};
  /// The labels of a row are those before its first negative number.
  static constexpr Sym body(const Sym& x, const Sym& labels, const Options& o) {
    const int rank = x.shape().rank;
    if (rank == 0 && labels.shape().rank == 0) return body(detail::reshaped(x, Shape{1}), detail::reshaped(labels, Shape{1}), o);
    if (!detail::need_rank(x, 1, 2, info.name) || !detail::need_integers(labels, info.name) || !detail::need_shape(labels, x.shape(), info.name)) return x;
    const unsigned last = 1u << (rank - 1), behind = 1u << rank;
    const Sym r = detail::need_real(x, info.name), place = detail::iota_like(labels, last);
    const Sym count = {x.graph, x.graph->extent(DType::i64, x.shape()[rank - 1])};
    const Sym end = detail::reduce<Op::amin>(tt::where(labels < 0, place, count), last, true);
    const Shape as_rows = detail::with_new_axis(x.shape(), rank - 1), as_columns = detail::with_new_axis(x.shape(), rank);
    const Sym is_label = detail::reshaped(detail::expanded(place < end, x.shape()), as_columns);  // of (..., label, class)
    const Sym hit = is_label && detail::iota_like(detail::reshaped(r, as_rows), behind) == detail::reshaped(labels, as_columns);
    const Sym other = !(detail::reduce<Op::amax>(cast<std::int32_t>(hit), last, true) > 0);
    const Sym of_label = detail::reduce<Op::sum>(tt::where(hit, detail::reshaped(r, as_rows), 0), behind, true);
    const Sym z = 1 - of_label + detail::reshaped(r, as_rows);
    const Sym each = detail::reduce<Op::sum>(tt::where(is_label && other && z > 0, z, 0), last | behind, false);
    return detail::reduced(each / detail::count_of(r, last), o.reduction);
  }
};

/// x / max(norm, eps) along an axis, with the p-norm.
template <Normalize::Options O = Normalize::Options{}, Value A>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<Normalize, O>, A> normalize(A&& x, CallLine at = here()) { return call_structured<Normalize, O>(at, static_cast<A&&>(x)); }
template <DynamicAxes A>
constexpr A normalize(const A& x, double p = 2, int dim = 1, double eps = 1e-12, SourceLine at = here()) { return call_with<Normalize>(at, {p, dim, eps}, x); }
/// sum(x1 x2) / (max(|x1|, eps) max(|x2|, eps)) along an axis of the shape that both are broadcast to.
template <CosineSimilarity::Options O = CosineSimilarity::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<CosineSimilarity, O>, A, B> cosine_similarity(A&& x1, B&& x2, CallLine at = here()) { return call_structured<CosineSimilarity, O>(at, static_cast<A&&>(x1), static_cast<B&&>(x2)); }
template <DynamicAxes A>
constexpr A cosine_similarity(const A& x1, const std::type_identity_t<A>& x2, int dim = 1, double eps = 1e-8, SourceLine at = here()) {
  return call_with<CosineSimilarity>(at, {dim, eps}, x1, x2);
}
/// The p-norm of x1 - x2 + eps along the last axis.
template <PairwiseDistance::Options O = PairwiseDistance::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<PairwiseDistance, O>, A, B> pairwise_distance(A&& x1, B&& x2, CallLine at = here()) { return call_structured<PairwiseDistance, O>(at, static_cast<A&&>(x1), static_cast<B&&>(x2)); }
template <DynamicAxes A>
constexpr A pairwise_distance(const A& x1, const std::type_identity_t<A>& x2, double p = 2, double eps = 1e-6, bool keepdim = false, SourceLine at = here()) {
  return call_with<PairwiseDistance>(at, {p, eps, keepdim}, x1, x2);
}
namespace detail {
constexpr bool has_many_rows(const Sym& x) { return x.shape().rank > 1 && x.shape()[x.shape().rank - 2].is_constant() && x.shape()[x.shape().rank - 2].code > 25; }
template <class T>
bool has_many_rows(const T& x) { return x.dim() > 1 && x.size(-2) > 25; }
}  // namespace detail
/// The distance of each row of x1, (..., P, M), from each row of x2, (..., R, M): (..., P, R). Euclidean distances of more than 25 rows on a side are
/// computed from products, as in PyTorch (then NaN where a coordinate is infinite), unless compute_mode is EuclidDistance::donot_use_mm_for_euclid_dist.
template <Cdist::Options O = Cdist::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<Cdist, O>, A, B> cdist(A&& x1, B&& x2, CallLine at = here()) { return call_structured<Cdist, O>(at, static_cast<A&&>(x1), static_cast<B&&>(x2)); }
template <DynamicAxes A>
constexpr A cdist(const A& x1, const std::type_identity_t<A>& x2, double p = 2, EuclidDistance compute_mode = EuclidDistance::use_mm_for_euclid_dist_if_necessary, SourceLine at = here()) {
  const bool many = compute_mode == EuclidDistance::use_mm_for_euclid_dist_if_necessary && p == 2 && (detail::has_many_rows(x1) || detail::has_many_rows(x2));
  return call_with<Cdist>(at, {p, p == 2 && (many || compute_mode == EuclidDistance::use_mm_for_euclid_dist)}, x1, x2);
}
/// The distances of all pairs of rows of a matrix: n (n - 1) / 2. A captured function is specialised to the number of rows.
template <Pdist::Options O = Pdist::Options{}, Value A>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<Pdist, O>, A> pdist(A&& input, CallLine at = here()) { return call_structured<Pdist, O>(at, static_cast<A&&>(input)); }
template <DynamicAxes A>
constexpr A pdist(const A& input, double p = 2, SourceLine at = here()) { return call_with<Pdist>(at, {p}, input); }
/// 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1.
template <CosineEmbeddingLoss::Options O = CosineEmbeddingLoss::Options{}, Value A, Value B, Value C>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<CosineEmbeddingLoss, O>, A, B, C> cosine_embedding_loss(A&& input1, B&& input2, C&& target, CallLine at = here()) { return call_structured<CosineEmbeddingLoss, O>(at, static_cast<A&&>(input1), static_cast<B&&>(input2), static_cast<C&&>(target)); }
template <DynamicAxes A>
constexpr A cosine_embedding_loss(const A& input1, const std::type_identity_t<A>& input2, const std::type_identity_t<A>& target, double margin = 0,
                                  Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<CosineEmbeddingLoss>(at, {margin, reduction}, input1, input2, target);
}
/// max(0, margin + |anchor - positive| - |anchor - negative|); `swap`: with the distance between positive and negative, if it is smaller.
template <TripletMarginLoss::Options O = TripletMarginLoss::Options{}, Value A, Value B, Value C>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<TripletMarginLoss, O>, A, B, C> triplet_margin_loss(A&& anchor, B&& positive, C&& negative, CallLine at = here()) { return call_structured<TripletMarginLoss, O>(at, static_cast<A&&>(anchor), static_cast<B&&>(positive), static_cast<C&&>(negative)); }
template <DynamicAxes A>
constexpr A triplet_margin_loss(const A& anchor, const std::type_identity_t<A>& positive, const std::type_identity_t<A>& negative, double margin = 1,
                                double p = 2, double eps = 1e-6, bool swap = false, Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<TripletMarginLoss>(at, {margin, p, eps, swap, reduction}, anchor, positive, negative);
}
/// The mean over all classes but the label's of max(0, margin - input[label] + input[class])^p. Calls on the host check the labels.
template <MultiMarginLoss::Options O = MultiMarginLoss::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<MultiMarginLoss, O>, A, B> multi_margin_loss(A&& input, B&& target, CallLine at = here()) { return call_structured<MultiMarginLoss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A multi_margin_loss(const A& input, const std::type_identity_t<A>& target, int p = 1, double margin = 1,
                              const std::type_identity_t<A>& weight = {}, Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<MultiMarginLoss>(at, {p, margin, reduction}, input, target, weight);
}
/// The sum over the labels of a row and all other classes of max(0, 1 - input[label] + input[class]), divided by the number of classes.
template <MultilabelMarginLoss::Options O = MultilabelMarginLoss::Options{}, Value A, Value B>
  requires(!DynamicAxes<A>)
constexpr CalledStructured<Structured<MultilabelMarginLoss, O>, A, B> multilabel_margin_loss(A&& input, B&& target, CallLine at = here()) { return call_structured<MultilabelMarginLoss, O>(at, static_cast<A&&>(input), static_cast<B&&>(target)); }
template <DynamicAxes A>
constexpr A multilabel_margin_loss(const A& input, const std::type_identity_t<A>& target, Reduction reduction = Reduction::mean, SourceLine at = here()) {
  return call_with<MultilabelMarginLoss>(at, {reduction}, input, target);
}

}  // namespace tt
