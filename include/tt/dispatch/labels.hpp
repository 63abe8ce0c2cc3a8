// Range check of class labels, before an eager loss or as a graph node: the body of a loss cannot read elements.
//   const CheckedArguments<CrossEntropy> checked(argument, 2, options, at);   checked.data()
#pragma once
#include "tt/core/tensor.hpp"
#include "tt/dispatch/dispatcher.hpp"
#include "tt/functional/distances.hpp"
#include "tt/functional/losses.hpp"

namespace tt {
namespace detail {

/// Specialised for losses whose labels, the second Tensor, are checked before a call.
template <class F>
struct LabelCheck {
  static constexpr bool any = false;
};
/// The loss or function, named in the error.
enum class LabelsOf { cross_entropy, nll_loss, multi_margin_loss, one_hot };
/// Checks and returns the labels. Throws Error naming the first that is no class and not ignored; a captured function checks when it runs. Labels on another
/// device are not checked, as the call would have to wait for them.
TT_LAZY Tensor checked_labels(const Tensor& labels, const Size& classes, const std::int64_t* ignored, LabelsOf of, SourceLine at);
inline Tensor checked_labels(const Tensor* const* argument, const std::int64_t* ignored, LabelsOf of, SourceLine at) {
  const Tensor &logits = *argument[0], &labels = *argument[1];
  if (!logits.defined() || !labels.defined() || logits.dim() == 0) return labels;
  return checked_labels(labels, logits.size(Labels::class_axis(logits.dim()), at), ignored, of, at);
}
template <>
struct LabelCheck<CrossEntropy> {
  static constexpr bool any = true;
  static Tensor labels(const Tensor* const* argument, const CrossEntropy::Options& o, SourceLine at) { return checked_labels(argument, &o.ignore_index, LabelsOf::cross_entropy, at); }
};
template <>
struct LabelCheck<NllLoss> {
  static constexpr bool any = true;
  static Tensor labels(const Tensor* const* argument, const NllLoss::Options& o, SourceLine at) { return checked_labels(argument, &o.ignore_index, LabelsOf::nll_loss, at); }
};
template <>
struct LabelCheck<MultiMarginLoss> {
  static constexpr bool any = true;
  static Tensor labels(const Tensor* const* argument, const MultiMarginLoss::Options&, SourceLine at) { return checked_labels(argument, nullptr, LabelsOf::multi_margin_loss, at); }
};
/// The Tensors of a call, with its labels checked.
template <class F>
class CheckedArguments {
 public:
  CheckedArguments(const Tensor* const* argument, int count, const options_t<F>& options, SourceLine at) : labels_(LabelCheck<F>::labels(argument, options, at)) {
    argument_.append(argument, count);
    argument_[1] = &labels_;
  }
  CheckedArguments(const CheckedArguments&) = delete;
  const Tensor* const* data() const { return argument_.data(); }

 private:
  const Tensor labels_;
  SmallVec<const Tensor*, few_arguments> argument_;
};

}  // namespace detail
}  // namespace tt
