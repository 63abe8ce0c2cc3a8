// Definitions of sequence_functions.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tt/dispatch/dropout_functions.hpp"
#include "tt/dispatch/grad_mode.hpp"
#include "tt/dispatch/index_functions.hpp"
#include "tt/dispatch/index_kernels.hpp"
#include "tt/dispatch/linear_algebra.hpp"
#include "tt/dispatch/sequence_functions.hpp"
#include "tt/dispatch/value_names_inl.hpp"

namespace tt {
namespace detail {

/// The number of the bag of each word: a bag begins at its offset; with include_last_offset the last offset is the end of the words.
template <class = void>
struct BagOfWords {
  struct Options {
    bool include_last_offset = false;
  };
  static constexpr OpInfo info{.name = "_bag_of_words", .arguments = "words, offsets"};
  static Sym like(const Sym& words, const Sym&, const Options&) { return symbol_like(words, DType::i64, words.shape()); }
  static void kernel(Call& c, const Options& o) {
    const Shape words = c[0].impl().shape;
    c.result[0] = Tensor(DType::i64, words, c[0].device());
    if (c[0].is_meta()) return;
    const Tensor offsets = convert(c[1], DType::i64, c.at).contiguous(c.at);
    const std::int64_t n = words.code[0], count = offsets.impl().numel, *const begin = offsets.data_ptr<std::int64_t>();
    std::int64_t* const bag = c.result[0].data_ptr<std::int64_t>();
    if (count > 0 && begin[0] != 0) TT_THROW(Error(Text("tt::embedding_bag: the first bag begins at 0, and offsets at ") << begin[0] << "." << c.at));
    if (count == 0 && n > 0) TT_THROW(Error(Text("tt::embedding_bag: ") << n << " words and no bag." << c.at));
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t end = k + 1 < count ? begin[k + 1] : n;
      if (begin[k] > end || end > n) TT_THROW(Error(Text("tt::embedding_bag: bag ") << k << " is of words " << begin[k] << " to " << end << " of " << n << "." << c.at));
      if (k + 1 < count || !o.include_last_offset) std::fill(bag + begin[k], bag + end, k);
      else if (begin[k] != n) TT_THROW(Error(Text("tt::embedding_bag: the last bag ends at ") << begin[k] << ", and there are " << n << " words." << c.at));
    }
  }
};

inline SizeOption rows_of(const Tensor& x) { return x.impl().shape.code[0]; }
inline SizeOption rows_of(const Sym& x) {
  SizeOption n;
  n.extent = x.shape()[0];
  return n;
}
/// `rows` rows; row to[k] is the sum of source rows from[k], and -1 stands for no row. The derivative is the same with from and to exchanged. `checks`: -1 is
/// an error in `from`.
template <class = void>
struct GatherSum {
  struct Options {
    SizeOption rows;
    bool checks = false;
  };
  static constexpr OpInfo info{.name = "_gather_sum", .arguments = "source, from, to"};
  static Sym like(const Sym& source, const Sym&, const Sym&, const Options& o) {
    Shape s = source.shape();
    s.set(0, o.rows.extent);
    return symbol_like(source, source.dtype(), s);
  }
  static void kernel(Call& c, const Options& o) {
    const std::int64_t rows = o.rows.value, width = c[0].impl().shape.code[1], n = c[1].impl().numel, all = c[0].impl().shape.code[0];
    if (c[0].is_meta()) return static_cast<void>(c.result[0] = Tensor(c[0].dtype(), Shape{rows, width}, c[0].device()));
    c.result[0] = tt::zeros({rows, width}, {c[0].dtype(), c[0].device()}, c.at);
    const Tensor source = c[0].contiguous(c.at), from = c[1].contiguous(c.at), to = c[2].contiguous(c.at);
    const auto *const in = from.data_ptr<std::int64_t>(), *const out = to.data_ptr<std::int64_t>();
    for (std::int64_t k = 0; k < n; ++k)
      if (in[k] < (o.checks ? 0 : -1) || in[k] >= all) TT_THROW(Error(Text("tt::embedding_bag: index ") << in[k] << " is out of range for a table of " << all << " rows." << c.at));
    with_dtype(source.dtype(), [&]<class T>(T) {
      const auto* const table = elements_of<T>(source);
      auto* const sum = elements_of<T>(c.result[0]);
      const auto add = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
          if (out[k] >= 0 && in[k] >= 0) add_to_row(sum + out[k] * width, table + in[k] * width, width);
      };
      if (!std::is_sorted(out, out + n)) return add(0, n);
      in_ranges(rows, n / (rows + 1) * width, [&](std::int64_t begin, std::int64_t end) { add(std::lower_bound(out, out + n, begin) - out, std::lower_bound(out, out + n, end) - out); });
    });
  }
  static void derivative(const auto& s, const Options&) { s.out[0] = call_with<GatherSum>(s.at, {rows_of(s.argument[0])}, s.gradient[0], s.argument[2], s.argument[1]); }
};

/// The losses of a batch; or (Gradient) the gradient of each.
template <bool Gradient>
struct Ctc {
  struct Options {
    std::int64_t blank = 0;
    bool zero_infinity = false;
  };
  static constexpr OpInfo info{.name = Gradient ? "_ctc_loss_gradient" : "_ctc_loss", .arguments = "log_probs, targets, input_lengths, target_lengths"};
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& p, const Sym&, const Sym& lengths, const Sym&, const Options&) { return Gradient ? p : symbol_like(p, p.dtype(), lengths.shape()); }
  static void kernel(Call& c, const Options& o) {
    const Tensor p = c[0].contiguous(c.at);
    const Shape& s = p.impl().shape;
    if (s.rank != 3) TT_THROW(Error(Text("tt::ctc_loss: log_probs of shape ") << p.shape() << ". (time, batch, classes)?" << c.at));
    if (p.dtype() != DType::f32 && p.dtype() != DType::f64) TT_THROW(Error(Text("tt::ctc_loss: dtype is not accepted: ") << name(p.dtype()) << "." << c.at));
    c.result[0] = Tensor(p.dtype(), Gradient ? s : Shape{s[1]}, p.device());
    if (p.is_meta()) return;
    const Tensor targets = convert(c[1], DType::i64, c.at).contiguous(c.at), inputs = convert(c[2], DType::i64, c.at).contiguous(c.at), lengths = convert(c[3], DType::i64, c.at).contiguous(c.at);
    const std::int64_t batch = s.code[1], classes = s.code[2];
    if (inputs.numel() != batch || lengths.numel() != batch) TT_THROW(Error(Text("tt::ctc_loss: ") << inputs.impl().numel << " and " << lengths.impl().numel << " lengths for a batch of " << batch << "." << c.at));
    if (o.blank < 0 || o.blank >= classes) TT_THROW(Error(Text("tt::ctc_loss: blank ") << o.blank << " is none of " << classes << " classes." << c.at));
    std::int64_t begin = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t n = lengths.data_ptr<std::int64_t>()[b], time = inputs.data_ptr<std::int64_t>()[b];
      if (targets.dim() == 2) begin = b * targets.impl().shape.code[1];
      const std::int64_t room = targets.dim() == 2 ? targets.impl().shape.code[1] : targets.impl().numel - begin;
      if (n < 0 || n > room || (targets.dim() == 2 && batch != targets.impl().shape.code[0]))
        TT_THROW(Error(Text("tt::ctc_loss: target ") << b << " of length " << n << " is longer than what is there." << c.at));
      if (time < 0 || time > s.code[0]) TT_THROW(Error(Text("tt::ctc_loss: input ") << b << " of length " << time << " is longer than " << s.code[0] << "." << c.at));
      const std::int64_t* const target = targets.data_ptr<std::int64_t>() + begin;
      for (std::int64_t k = 0; k < n; ++k)
        if (target[k] < 0 || target[k] >= classes) TT_THROW(Error(Text("tt::ctc_loss: a target is no class: ") << target[k] << " of " << classes << "." << c.at));
      if (p.dtype() == DType::f64) one<double>(c, p, b, target, n, time, o);
      else one<float>(c, p, b, target, n, time, o);
      begin += n;
    }
  }
  static void derivative(const auto& s, const Options& o) {
    if constexpr (Gradient) TT_THROW(Error(Text("tt::ctc_loss: has no second derivative.") << s.at));
    else s.out[0] = call_with<OverBatch>(s.at, {}, s.gradient[0]) * call_with<Ctc<true>>(s.at, {o.blank, o.zero_infinity}, s.argument[0], s.argument[1], s.argument[2], s.argument[3]);
  }

 private:
  /// (batch) to (1, batch, 1).
  struct OverBatch {
    using Options = NoOptions;
    static constexpr OpInfo info{.name = "_over_batch", .widens = false, .arguments = "input"};
    static constexpr Sym body(const Sym& x, const Options&) { return reshaped(x, Shape{1, x.shape()[0], 1}); }
  };
  static double log_sum(double a, double b) {
    const double most = a > b ? a : b, least = a > b ? b : a;
    return least == -INFINITY ? most : most + std::log1p(std::exp(least - most));
  }
  /// Forward and backward recursion over states: blanks and labels alternate, so state 2k + 1 is label k.
  template <class T>
  static void one(Call& c, const Tensor& p, std::int64_t b, const std::int64_t* target, std::int64_t n, std::int64_t time, const Options& o) {
    const Shape& shape = p.impl().shape;
    const std::int64_t batch = shape.code[1], classes = shape.code[2], states = 2 * n + 1;
    const auto at = [&](std::int64_t t, std::int64_t k) { return (t * batch + b) * classes + k; };
    const T* const log_p = p.data_ptr<T>();
    T* const out = c.result[0].data_ptr<T>();
    for (std::int64_t t = 0; t < shape.code[0] && Gradient; ++t)
      for (std::int64_t k = 0; k < classes; ++k) out[at(t, k)] = 0;
    const auto label = [&](std::int64_t s) { return s % 2 ? target[s / 2] : o.blank; };
    const auto skips = [&](std::int64_t s) { return s % 2 == 1 && s > 1 && target[s / 2] != target[s / 2 - 1]; };  // from the previous label
    const auto of = [&](std::int64_t t, std::int64_t s) { return static_cast<std::size_t>(t * states + s); };
    std::vector<double> forward(static_cast<std::size_t>(time * states), -INFINITY);
    for (std::int64_t t = 0; t < time; ++t)
      for (std::int64_t s = 0; s < states; ++s) {
        double from = -INFINITY;
        if (t == 0) {
          if (s < 2) from = 0;
        } else {
          from = forward[of(t - 1, s)];
          if (s > 0) from = log_sum(from, forward[of(t - 1, s - 1)]);
          if (skips(s)) from = log_sum(from, forward[of(t - 1, s - 2)]);
        }
        forward[of(t, s)] = from + static_cast<double>(log_p[at(t, label(s))]);
      }
    double all = time == 0 ? (n == 0 ? 0 : -INFINITY) : forward[of(time - 1, states - 1)];
    if (time > 0 && states > 1) all = log_sum(all, forward[of(time - 1, states - 2)]);
    const bool drop = o.zero_infinity && all == -INFINITY;
    if constexpr (!Gradient) out[b] = drop ? T(0) : static_cast<T>(-all);
    if (drop || !Gradient) return;
    std::vector<double> backward(forward.size(), -INFINITY);
    for (std::int64_t t = time; t-- > 0;)
      for (std::int64_t s = 0; s < states; ++s) {
        double to = -INFINITY;
        if (t == time - 1) {
          if (s >= states - 2) to = 0;
        } else {
          to = backward[of(t + 1, s)];
          if (s + 1 < states) to = log_sum(to, backward[of(t + 1, s + 1)]);
          if (s + 2 < states && skips(s + 2)) to = log_sum(to, backward[of(t + 1, s + 2)]);
        }
        backward[of(t, s)] = to + static_cast<double>(log_p[at(t, label(s))]);
      }
    for (std::int64_t t = 0; t < time; ++t) {
      for (std::int64_t k = 0; k < classes; ++k) out[at(t, k)] = all == -INFINITY ? static_cast<T>(NAN) : std::exp(log_p[at(t, k)]);
      for (std::int64_t s = 0; s < states; ++s) {
        const std::int64_t place = at(t, label(s));
        out[place] -= static_cast<T>(std::exp(forward[of(t, s)] + backward[of(t, s)] - static_cast<double>(log_p[place]) - all));
      }
    }
  }
};

/// (length, batch, heads * d) to (batch, heads, length, d).
template <class = void>
Tensor of_heads(const Tensor& x, int heads, SourceLine at) {
  return x.reshape({x.size(0, at), x.size(1, at), heads, x.size(2, at) / heads}, at).permute({1, 2, 0, 3}, at);
}
/// A mask as a term added to the scores.
template <class = void>
Tensor added_mask(const Tensor& mask, DType d, SourceLine at) {
  return mask.dtype() == DType::boolean ? tt::where(mask, full({}, -INFINITY, on_device(d, mask.device()), at), 0, at) : mask.to(d, at);
}
/// Replaces rows of a table in place; without a copy of the table if it is contiguous on the host.
template <class = void>
void replace_rows(Tensor table, const Tensor& indices, const Tensor& rows, SourceLine at) {
  const Tensor own = table.detach();
  if (!is_plain(own) || !own.is_contiguous()) {
    Tensor to = capture_mode ? table : own;  // no capture: written without the tape, so the table keeps its history and its tangent
    to.copy_(index_copy(own, 0, indices, rows, at), at);
    return;
  }
  const Tensor place = indices.to(DType::i64, at).contiguous(at), from = rows.contiguous(at);
  const std::int64_t count = place.impl().numel, bytes = own.impl().shape.code[1] * size_of(own.dtype());
  for (std::int64_t k = 0; k < count; ++k) copy_memory(own.impl().data + place.data_ptr<std::int64_t>()[k] * bytes, from.impl().data + k * bytes, static_cast<std::size_t>(bytes));
  advance_version(table);
}
template <class = void>
std::int64_t padding_row(const Tensor& table, const EmbeddingOptions& o, const char* op, SourceLine at) {
  const std::int64_t n = table.size(0, at), row = o.padding_idx.value;
  if (row < -n || row >= n) TT_THROW(Error(Text("tt::") << op << ": padding_idx " << row << " is no row of " << n << "." << at));
  return row < 0 ? row + n : row;
}
template <class = void>
Tensor with_row(const Tensor& x, const Tensor& row, SourceLine at) { return cat({x, row}, 0, at); }

}  // namespace detail

TT_LAZY_DEFINITION Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingOptions& o, SourceLine at) {
  if (o.max_norm.given) {
    const NoGrad off;
    const Tensor flat = input.reshape({-1}, at);
    detail::replace_rows(weight, flat, renorm(embedding(flat, weight.detach(), at), o.norm_type, 0, o.max_norm.value, at), at);
  }
  Tensor rows = embedding(input, weight, at);
  if (o.padding_idx.given) rows = tt::where(tt::eq(input, detail::padding_row(weight, o, "embedding", at), at).unsqueeze(-1, at), rows.detach(), rows, at);
  if (o.scale_grad_by_freq) {
    const Tensor named = input.reshape({-1}, at).to(DType::i64, at);
    const TensorOptions like = detail::on_device(weight.dtype(), weight.device());
    const Tensor times = index_add(zeros({weight.size(0, at)}, like, at), 0, named, ones(named.shape(at), like, at), at);
    rows = rows.detach() + call<Tangent>(at, rows / embedding(input, times.unsqueeze(1, at), at));
  }
  return rows;
}
TT_LAZY_DEFINITION Tensor embedding_bag(const Tensor& input, const Tensor& table, const Tensor& offsets, BagMode mode, const Tensor& per_sample_weights, bool include_last_offset, const EmbeddingOptions& o,
                                        SourceLine at) {
  detail::need_index_dtype(input.dtype() == DType::i64 || input.dtype() == DType::i32, "embedding_bag", input.dtype(), "i64 or i32", at);
  detail::need_same_dtype("embedding_bag", table, per_sample_weights, at);
  if (table.dim() != 2 || (input.dim() != 1 && input.dim() != 2) || (input.dim() == 1) != offsets.defined())
    TT_THROW(Error(Text("tt::embedding_bag: shapes do not fit: indices ") << input.shape() << (offsets.defined() ? " with" : " without") << " offsets, a table " << table.shape() << ". Offsets are for indices in a line." << at));
  if (per_sample_weights.defined() && (mode != BagMode::sum || !(per_sample_weights.shape(at) == input.shape(at))))
    TT_THROW(Error(Text("tt::embedding_bag: weights are for mode sum, one for each index: ") << per_sample_weights.shape() << " for " << input.shape() << "." << at));
  if (mode == BagMode::max && o.scale_grad_by_freq) TT_THROW(Error(Text("tt::embedding_bag: scale_grad_by_freq is for modes sum and mean.") << at));
  const std::int64_t padding = o.padding_idx.given ? detail::padding_row(table, o, "embedding_bag", at) : -1;
  const Tensor flat = input.reshape({-1}, at).to(DType::i64, at);
  const Size words = flat.numel(at), width = table.size(1, at);
  Size bags = input.dim() == 2 ? input.size(0, at) : offsets.numel(at) - (include_last_offset ? 1 : 0);
  Tensor bag;
  if (input.dim() == 2) bag = arange(bags).to(input.device(), false, at).unsqueeze(1, at).expand({bags, input.size(1, at)}, at).reshape({-1}, at);
  else bag = call_with<detail::BagOfWords<>>(at, {include_last_offset}, flat, offsets);
  if ((table.dtype() == DType::f32 || table.dtype() == DType::f64) && is_host(table.device()) && mode != BagMode::max && !per_sample_weights.defined() && !o.max_norm.given && !o.scale_grad_by_freq) {
    const Tensor to = o.padding_idx.given ? tt::where(flat == padding, -1, bag, at) : bag, sum = call_with<detail::GatherSum<>>(at, {bags, true}, table, flat, to);
    if (mode == BagMode::sum) return sum;
    if (input.dim() == 2 && !o.padding_idx.given) return sum / (input.size(1, at) > 0 ? input.size(1, at) : Size(1));
    const Tensor counted = o.padding_idx.given ? tt::ne(flat, padding, at).to(table.dtype(), at) : ones({words}, table.dtype(), at);
    return sum / tt::maximum(index_add(zeros({bags}, table.dtype(), at), 0, bag, counted, at).unsqueeze(1, at), 1, at);
  }
  // Sums of 16-bit floats are rounded only once.
  const TensorOptions like = detail::on_device(compute_dtype(table.dtype()), table.device());
  Tensor rows = embedding(flat, table, o, at).to(like.dtype, at), counted = ones({words}, like, at);
  if (o.padding_idx.given) counted = tt::ne(flat, padding, at).to(like.dtype, at);
  const Tensor seen = counted.unsqueeze(1, at), count = index_add(zeros({bags}, like, at), 0, bag, counted, at).unsqueeze(1, at);
  if (mode == BagMode::max) {
    // The first maximum, which alone has a gradient.
    const Tensor into = bag.unsqueeze(1, at).expand({words, width}, at), all = tt::where(seen > 0, rows, -INFINITY, at).detach();
    const Tensor most = scatter_reduce(full({bags, width}, -INFINITY, like, at), 0, into, all, ScatterReduction::amax, true, at);
    const Tensor place = tt::where(tt::logical_and(all == gather(most, 0, into, at), seen > 0, at), arange(words).to(input.device(), false, at).unsqueeze(1, at), words, at);
    const Tensor first = scatter_reduce(full({bags, width}, words, detail::on_device(DType::i64, input.device()), at), 0, into, place, ScatterReduction::amin, true, at);
    const Tensor found = first < words, by_word = cat({rows, zeros({1, width}, like, at)}, 0, at);
    return tt::where(found, gather(by_word, 0, first, at), 0, at).to(table.dtype(), at);
  }
  if (per_sample_weights.defined()) rows = rows * per_sample_weights.reshape({-1, 1}, at);
  const Tensor sum = index_add(zeros({bags, width}, like, at), 0, bag, tt::where(seen > 0, rows, 0, at), at);
  return (mode == BagMode::sum ? sum : sum / tt::maximum(count, 1, at)).to(table.dtype(), at);
}

TT_LAZY_DEFINITION Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, std::int64_t blank, Reduction reduction, bool zero_infinity,
                                   SourceLine at) {
  const bool single = log_probs.dim() == 2;
  const Tensor lengths = target_lengths.reshape({-1}, at);
  const Tensor loss = call_with<detail::Ctc<false>>(at, {blank, zero_infinity}, single ? log_probs.unsqueeze(1, at) : log_probs, single && targets.dim() == 1 ? targets.unsqueeze(0, at) : targets,
                                                 input_lengths.reshape({-1}, at), lengths);
  if (reduction == Reduction::sum) return loss.sum({}, false, at);
  if (reduction == Reduction::mean) return (loss / tt::maximum(lengths, 1, at).to(loss.dtype(), at).to(loss.device(), false, at)).mean({}, false, at);
  return single ? loss.squeeze(0, at) : loss;
}

TT_LAZY_DEFINITION Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target, const Tensor& linear_bias, const Tensor& weight, std::int64_t ignore_index, Reduction reduction,
                                               double label_smoothing, SourceLine at) {
  if (linear_weight.dim() < 2 || input.dim() < 1 || input.size(-1, at) != linear_weight.size(-1, at))
    TT_THROW(Error(Text("tt::linear_cross_entropy: shapes do not fit: ") << input.shape() << " and weights " << linear_weight.shape() << "." << at));
  Tensor logits = tensordot(input, linear_weight, IntList{-1}, IntList{-1}, at);
  if (linear_bias.defined()) logits = logits + linear_bias;
  if (linear_weight.dim() > 2 && input.dim() < 2) TT_THROW(Error(Text("tt::linear_cross_entropy: weights ") << linear_weight.shape() << " give a loss for several places: input " << input.shape() << " needs a batch." << at));
  if (is_floating(target.dtype()) && ignore_index >= 0) TT_THROW(Error(Text("tt::linear_cross_entropy: ignore_index is ") << ignore_index << " where the target holds probabilities." << at));
  return cross_entropy(logits, target, weight, ignore_index, reduction, label_smoothing, at);
}

TT_LAZY_DEFINITION MultiHeadResult multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value, const MultiHeadAttention& o, SourceLine at) {
  const bool single = query.dim() == 2;
  const auto batched = [&](const Tensor& x) { return single ? x.unsqueeze(1, at) : x; };
  const Tensor x = batched(query), y = batched(key), z = batched(value);
  if (x.dim() != 3 || y.dim() != 3 || z.dim() != 3 || o.num_heads < 1 || x.size(2, at) % o.num_heads != 0)
    TT_THROW(Error(Text("tt::multi_head_attention_forward: shapes do not fit: ") << query.shape() << ", " << key.shape() << " and " << value.shape() << " for " << o.num_heads << " heads." << at));
  const Size e = x.size(2, at), batch = x.size(1, at), length = x.size(0, at);
  const bool apart = !o.in_proj_weight.defined();
  const auto projected = [&](const Tensor& t, const Tensor& own, int part) {
    const Tensor w = apart ? own : o.in_proj_weight.slice(0, e * part, e * (part + 1), 1, at);
    return o.in_proj_bias.defined() ? linear(t, w, o.in_proj_bias.slice(0, e * part, e * (part + 1), 1, at)) : linear(t, w);
  };
  const Tensor q = projected(x, o.q_proj_weight, 0);
  Tensor k = projected(y, o.k_proj_weight, 1), v = projected(z, o.v_proj_weight, 2);
  Tensor mask = o.attn_mask.defined() ? detail::added_mask(o.attn_mask, q.dtype(), at) : Tensor(), padding = o.key_padding_mask.defined() ? detail::added_mask(o.key_padding_mask, q.dtype(), at) : Tensor();
  if (padding.defined() && single) padding = padding.unsqueeze(0, at);
  const auto one_more = [&](const Tensor& key_row, const Tensor& value_row) {
    k = detail::with_row(k, key_row, at);
    v = detail::with_row(v, value_row, at);
    if (mask.defined()) mask = pad(mask, {0, 1}, PadMode::constant, 0, at);
    if (padding.defined()) padding = pad(padding, {0, 1}, PadMode::constant, 0, at);
  };
  if (o.bias_k.defined() != o.bias_v.defined()) TT_THROW(Error(Text("tt::multi_head_attention_forward: bias_k and bias_v go together.") << at));
  if (o.bias_k.defined()) one_more(o.bias_k.reshape({1, 1, e}, at).expand({1, batch, e}, at), o.bias_v.reshape({1, 1, e}, at).expand({1, batch, e}, at));
  if (o.add_zero_attn) {
    const Tensor zero = zeros({1, batch, e}, detail::on_device(q.dtype(), q.device()), at);
    one_more(zero, zero);
  }
  const Tensor heads = detail::of_heads(q, o.num_heads, at);
  if (mask.defined() && mask.dim() == 3) mask = mask.reshape({batch, o.num_heads, length, k.size(0, at)}, at);
  if (padding.defined()) padding = padding.unsqueeze(1, at).unsqueeze(1, at);
  const auto joined = [&](const Tensor& attended) {
    const Tensor rows = attended.permute({2, 0, 1, 3}, at).reshape({length, batch, e}, at);
    const Tensor output = o.out_proj_bias.defined() ? linear(rows, o.out_proj_weight, o.out_proj_bias) : linear(rows, o.out_proj_weight);
    return single ? output.squeeze(1, at) : output;
  };
  if (!o.need_weights) {
    const Tensor both = mask.defined() && padding.defined() ? mask + padding : mask.defined() ? mask : padding;
    return {joined(scaled_dot_product_attention(heads, detail::of_heads(k, o.num_heads, at), detail::of_heads(v, o.num_heads, at), both, o.training ? o.dropout_p : 0, false, {}, false, at)), {}};
  }
  Tensor scores = tt::matmul(heads / std::sqrt(static_cast<double>(heads.size(3, at))), detail::of_heads(k, o.num_heads, at).transpose(2, 3, at), at);
  if (mask.defined()) scores = scores + mask;
  if (padding.defined()) scores = scores + padding;
  Tensor weights = softmax(scores, -1, at);
  if (o.training && o.dropout_p > 0) weights = dropout(weights, o.dropout_p, true, at);
  const Tensor output = joined(tt::matmul(weights, detail::of_heads(v, o.num_heads, at), at));
  if (o.average_attn_weights) weights = weights.mean({1}, false, at);
  return {output, single ? weights.squeeze(0, at) : weights};
}

namespace detail {

template <class = void>
void register_sequence_names() {
  register_function("embedding", "Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False",
                    [](const Tensor& i, const Tensor& w, Optional<std::int64_t> padding, Optional<double> most, double p, bool by_frequency, bool, Line at) {
                      return embedding(i, w, {padding, most, p, by_frequency}, at);
                    });
  register_function("embedding_bag",
                    "Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, bool scale_grad_by_freq=False, mean|sum|max mode=mean, bool sparse=False, "
                    "Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None",
                    [](const Tensor& i, const Tensor& w, const Tensor& offsets, Optional<double> most, double p, bool by_frequency, BagMode mode, bool, const Tensor& weights, bool last, Optional<std::int64_t> padding,
                       Line at) { return embedding_bag(i, w, offsets, mode, weights, last, {padding, most, p, by_frequency}, at); });
  register_function("ctc_loss", "Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, none|mean|sum reduction=mean, bool zero_infinity=False",
                    [](const Tensor& p, const Tensor& t, const Tensor& i, const Tensor& n, std::int64_t blank, Reduction r, bool z, Line at) { return ctc_loss(p, t, i, n, blank, r, z, at); });
  register_function("ctc_loss", "Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, none|mean|sum reduction=mean, bool zero_infinity=False",
                    [](const Tensor& p, const Tensor& t, const IntList& i, const IntList& n, std::int64_t blank, Reduction r, bool z, Line at) {
                      return ctc_loss(p, t, i, n, blank, r, z, at);
                    });
  register_function("linear_cross_entropy",
                    "Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias=None, Tensor? weight=None, none|mean|sum reduction=mean, int? ignore_index=None, float label_smoothing=0.0",
                    [](const Tensor& x, const Tensor& l, const Tensor& t, const Tensor& b, const Tensor& w, Reduction r, Optional<std::int64_t> i, double s, Line at) {
                      return linear_cross_entropy(x, l, t, b, w, i.given ? i.value : -100, r, s, at);
                    });
  register_function("multi_head_attention_forward",
                    "Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int num_heads, Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p, "
                    "Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, "
                    "Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None, bool average_attn_weights=True, bool is_causal=False",
                    [](const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t width, int heads, const Tensor& w, const Tensor& b, const Tensor& bk, const Tensor& bv, bool zero, double p, const Tensor& ow,
                       const Tensor& ob, bool training, const Tensor& padding, bool weights, const Tensor& mask, bool apart, const Tensor& qw, const Tensor& kw, const Tensor& vw, const Tensor& sk, const Tensor& sv, bool average,
                       bool causal, Line at) {
                      if (sk.defined() || sv.defined()) TT_THROW(Unavailable(Text("tt::multi_head_attention_forward: static_k and static_v are not there.") << at));
                      if (q.dim() == 0 || q.size(-1, at) != width) TT_THROW(Error(Text("tt::multi_head_attention_forward: embed_dim_to_check is ") << width << ", and a query " << q.shape() << "." << at));
                      if (causal && !mask.defined()) TT_THROW(Error(Text("tt::multi_head_attention_forward: is_causal needs attn_mask, which says what is seen.") << at));
                      return multi_head_attention_forward(q, k, v, {heads, apart ? Tensor() : w, b, qw, kw, vw, bk, bv, zero, p, ow, ob, training, padding, mask, average, weights}, at);
                    });
}

}  // namespace detail
}  // namespace tt
