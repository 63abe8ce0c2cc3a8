// Definitions of labels.hpp.
#pragma once
#include <string>

#include "tt/dispatch/eager.hpp"

namespace tt {
template <>
inline constexpr const char* choices_of<detail::LabelsOf> = "cross_entropy|nll_loss|multi_margin_loss|one_hot";
namespace detail {
/// Returns its labels, after checking that each is a class or ignored.
struct CheckLabels {
  struct Options {
    LabelsOf of = LabelsOf::cross_entropy;
    SizeOption classes;
    Optional<std::int64_t> ignored;
  };
  static constexpr OpInfo info{.name = "_check_labels", .arguments = "labels"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool may_share = true;
  static Sym like(const Sym& labels, const Options&) { return {labels.graph, labels.graph->constant(labels.dtype(), 0, labels.shape())}; }
  static void kernel(Call& c, const Options& o) {
    c.result[0] = c[0];
    if (!c[0].is_meta()) look(c[0], o, c.at);
  }
  static void look(const Tensor& labels, const Options& o, SourceLine at) {
    const Tensor dense = convert(labels, DType::i64, at).contiguous(at);
    const auto* const label = dense.data_ptr<std::int64_t>();
    for (std::int64_t k = 0; k < dense.impl().numel; ++k)
      if (const std::int64_t n = label[k]; (n < 0 || n >= o.classes.value) && !(o.ignored.given && n == o.ignored.value))
        TT_THROW(Error(Text("tt::") << std::string(word_of(choices_of<LabelsOf>, static_cast<int>(o.of))).c_str() << ": label " << n << " is none of " << o.classes.value << " classes, 0 and on." << at));
  }
};
TT_LAZY_DEFINITION Tensor checked_labels(const Tensor& labels, const Size& classes, const std::int64_t* ignored, LabelsOf of, SourceLine at) {
  const Device where = capture_mode && labels.is_meta() ? capture_mode->device() : labels.device();
  if (!is_integral(labels.dtype()) || where.type != DeviceType::cpu) return labels;
  const CheckLabels::Options options{of, classes, ignored ? Optional<std::int64_t>(*ignored) : Optional<std::int64_t>()};
  if (!is_plain(labels)) return call_with<CheckLabels>(at, options, labels);
  CheckLabels::look(labels, options, at);
  return labels;
}
}  // namespace detail
}  // namespace tt
