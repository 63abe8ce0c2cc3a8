// Embeddings and bags of embeddings, CTC loss, fused linear cross entropy and multi-head attention. Names, arguments, defaults and meanings are PyTorch's.
//   tt::embedding_bag(words, table, offsets)   tt::ctc_loss(log_probs, targets, input_lengths, target_lengths)   tt::linear_cross_entropy(x, weight, labels)
#pragma once
#include "tt/dispatch/network_functions.hpp"

namespace tt {

enum class BagMode { mean, sum, max };
template <>
inline constexpr const char* choices_of<BagMode> = "mean|sum|max";

struct EmbeddingOptions {
  Optional<std::int64_t> padding_idx{};  ///< a row without gradient, ignored in bags; negative: from the end
  Optional<double> max_norm{};           ///< rows that are used are scaled down to this norm, in place
  double norm_type = 2;
  bool scale_grad_by_freq = false;       ///< gradients of a row are divided by the number of its uses
};
/// Rows of a table (n, d) for indices of any shape: (..., d).
TT_LAZY Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingOptions& o, SourceLine at = here());
/// Sums, means or maxima of rows of a table (n, d): for each row of indices (bags, words), or for a vector of indices whose bags begin at `offsets`; with
/// include_last_offset the last offset is the end. Weights have the shape of the indices, for sums only. An empty bag gives 0.
TT_LAZY Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets = {}, BagMode mode = BagMode::mean, const Tensor& per_sample_weights = {}, bool include_last_offset = false,
                             const EmbeddingOptions& o = {}, SourceLine at = here());
/// Minus the log-probability of all alignments of targets with inputs (Graves and others, 2006): log_probs (time, batch, classes) or (time, classes), targets
/// (batch, most) or concatenated. "mean" first divides each loss by its target length. As in PyTorch, the gradient is right only if log_probs is the result of
/// a log_softmax.
TT_LAZY Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, std::int64_t blank = 0, Reduction reduction = Reduction::mean,
                        bool zero_infinity = false, SourceLine at = here());
/// Lengths as integers.
template <class = void>
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const IntList& input_lengths, const IntList& target_lengths, std::int64_t blank = 0, Reduction reduction = Reduction::mean, bool zero_infinity = false,
                SourceLine at = here()) {
  const auto as_tensor = [](const IntList& l) {
    std::vector<std::int64_t> numbers;
    for (int k = 0; k < l.size(); ++k) numbers.push_back(l.value(k));
    return from_span(std::span<const std::int64_t>(numbers), {static_cast<std::int64_t>(l.size())});
  };
  return ctc_loss(log_probs, targets, as_tensor(input_lengths), as_tensor(target_lengths), blank, reduction, zero_infinity, at);
}
/// cross_entropy of x weight^T + bias: x (n, d) or (d), weights (classes, ..., d).
TT_LAZY Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target, const Tensor& linear_bias = {}, const Tensor& weight = {}, std::int64_t ignore_index = -100,
                                    Reduction reduction = Reduction::mean, double label_smoothing = 0, SourceLine at = here());

/// The arguments of torch.nn.functional.multi_head_attention_forward beside query, key and value.
struct MultiHeadAttention {
  int num_heads = 1;
  Tensor in_proj_weight{}, in_proj_bias{};                            ///< (3 e, e), (3 e)
  Tensor q_proj_weight{}, k_proj_weight{}, v_proj_weight{};           ///< in place of in_proj_weight
  Tensor bias_k{}, bias_v{};                                          ///< a further key and value, (1, 1, e)
  bool add_zero_attn = false;                                         ///< a further key and value of zeros
  double dropout_p = 0;
  Tensor out_proj_weight{}, out_proj_bias{};
  bool training = true;
  Tensor key_padding_mask{}, attn_mask{};                             ///< true: key not seen; floating: added to the scores
  bool average_attn_weights = true;
  bool need_weights = true;                                           ///< false: they are undefined, and long sequences never have all of them in memory
};
struct MultiHeadResult {
  Tensor output, weights;
};
/// For sequences (length, batch, e) or (length, e); weights (batch, length, keys), or one for each head.
TT_LAZY MultiHeadResult multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value, const MultiHeadAttention& o, SourceLine at = here());

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/sequence_functions_inl.hpp"
#endif
