// Definitions of network_functions.hpp, and their names.
#pragma once
#include <cmath>

#include "tt/dispatch/control_flow.hpp"
#include "tt/dispatch/convolution_functions_inl.hpp"
#include "tt/dispatch/dropout_functions.hpp"
#include "tt/dispatch/resize_functions_inl.hpp"
#include "tt/dispatch/value_names_inl.hpp"

namespace tt {
TT_LAZY_DEFINITION Tensor im2col(const Tensor& given, const IntList& kernel_size, const IntList& dilation, const IntList& padding, const IntList& stride, SourceLine at) {
  if (given.dim() != 3 && given.dim() != 4) detail::refuse("unfold", "no images", given, at);
  detail::need_window("unfold", stride, dilation, 1, 2, at);
  detail::need_each("unfold", kernel_size, "a size of the window", 1, 2, at);
  detail::need_each("unfold", padding, "a padding", 0, 2, at);
  Tensor x = given.dim() == 3 ? given.unsqueeze(0, at) : given;
  const std::int64_t ph = detail::each_axis(padding, 0, 0), pw = detail::each_axis(padding, 1, 0);
  if (ph > 0 || pw > 0) x = tt::pad(x, {pw, pw, ph, ph}, 0, at);
  for (int k = 0; k < 2; ++k) {
    const std::int64_t d = detail::each_axis(dilation, k, 1), reach = d * (detail::each_axis(kernel_size, k, 1) - 1) + 1;
    x = x.unfold(2 + k, reach, detail::each_axis(stride, k, 1), at);
    if (d > 1) x = x.slice(-1, 0, reach, d, at);
  }
  const Tensor r = x.permute({0, 1, 4, 5, 2, 3}, at).reshape({x.size(0, at), x.size(1, at) * x.size(4, at) * x.size(5, at), x.size(2, at) * x.size(3, at)}, at);
  return given.dim() == 3 ? r.squeeze(0, at) : r;
}
TT_LAZY_DEFINITION Tensor fold(const Tensor& given, const IntList& output_size, const IntList& kernel_size, const IntList& dilation, const IntList& padding, const IntList& stride, SourceLine at) {
  if (given.dim() != 2 && given.dim() != 3) detail::refuse("fold", "no columns", given, at);
  detail::need_window("fold", stride, dilation, 1, 2, at);
  detail::need_each("fold", output_size, "a size of the result", 1, 2, at);
  detail::need_each("fold", kernel_size, "a size of the window", 1, 2, at);
  detail::need_each("fold", padding, "a padding", 0, 2, at);
  const Tensor x = given.dim() == 2 ? given.unsqueeze(0, at) : given;
  const auto pick = [&](const IntList& l, int k, std::int64_t otherwise) { return detail::each_axis(l, k, otherwise); };
  const std::int64_t h = pick(output_size, 0, 1), w = pick(output_size, 1, 1), ph = pick(padding, 0, 0), pw = pick(padding, 1, 0), kh = pick(kernel_size, 0, 1), kw = pick(kernel_size, 1, 1);
  const std::int64_t plane = (h + 2 * ph) * (w + 2 * pw), batch = x.size(0, at), channels = x.size(1, at) / (kh * kw);
  // the index of each element of a column in the padded plane
  std::vector<std::int64_t> place;
  const auto count = [&](std::int64_t n, std::int64_t p, std::int64_t k, std::int64_t d, std::int64_t s) { return (n + 2 * p - d * (k - 1) - 1) / s + 1; };
  const std::int64_t oh = count(h, ph, kh, pick(dilation, 0, 1), pick(stride, 0, 1)), ow = count(w, pw, kw, pick(dilation, 1, 1), pick(stride, 1, 1));
  if (x.size(1, at) % Size(kh * kw) != 0 || x.size(2, at) != oh * ow) detail::refuse("fold", "columns do not fit the sizes", given, at);
  for (std::int64_t i = 0; i < kh; ++i)
    for (std::int64_t j = 0; j < kw; ++j)
      for (std::int64_t a = 0; a < oh; ++a)
        for (std::int64_t b = 0; b < ow; ++b) place.push_back((a * pick(stride, 0, 1) + i * pick(dilation, 0, 1)) * (w + 2 * pw) + b * pick(stride, 1, 1) + j * pick(dilation, 1, 1));
  const Tensor sum = index_add(zeros({batch, channels, plane}, detail::on_device(x.dtype(), x.device()), at), 2, detail::index_table(place, x.device()),
                               x.reshape({batch, channels, kh * kw * oh * ow}, at), at);
  const Tensor r = sum.reshape({batch, channels, h + 2 * ph, w + 2 * pw}, at).slice(2, ph, ph + h, 1, at).slice(3, pw, pw + w, 1, at);
  return given.dim() == 2 ? r.squeeze(0, at) : r;
}
TT_LAZY_DEFINITION Tensor channel_shuffle(const Tensor& x, int groups, SourceLine at) {
  if (x.dim() < 3 || groups < 1 || x.size(1, at) % Size(groups) != 0) detail::refuse("channel_shuffle", "channels cannot be divided", x, at);
  IntList to{x.size(0, at), groups, x.size(1, at) / groups};
  for (int k = 2; k < x.dim(); ++k) to.push_back(x.size(k, at));
  return x.reshape(to, at).transpose(1, 2, at).reshape(x.shape(at), at);
}
TT_LAZY_DEFINITION Tensor local_response_norm(const Tensor& x, int size, double alpha, double beta, double k, SourceLine at) {
  if (x.dim() < 3) detail::refuse("local_response_norm", "too few axes", x, at);
  if (size < 1) TT_THROW(Error(Text("tt::local_response_norm: size is ") << size << ". 1 or more?" << at));
  IntList around;
  for (int j = x.dim() - 1; j > 1; --j) around.push_back(0), around.push_back(0);
  around.push_back(size / 2);
  around.push_back((size - 1) / 2);
  const Tensor windows = tt::pad(x * x, around, 0, at).unfold(1, size, 1, at);
  const Tensor mean = is_floating(x.dtype()) ? windows.mean({-1}, false, at) : floor_divide(windows.sum({-1}, false, at), size, at);  // integers as in PyTorch's pools
  return x / tt::pow(mean * alpha + k, beta, at);
}
namespace detail {
/// All axes of x but this one.
template <class = void>
IntList axes_but(const Tensor& x, int axis) {
  IntList axes;
  for (int k = 0; k < x.dim(); ++k)
    if (k != axis) axes.push_back(k);
  return axes;
}
template <class = void>
NormResult with_statistics(const Tensor& output, const Tensor& x, const IntList& over, bool keepdim, double eps, SourceLine at) {
  return {output, x.mean(over, keepdim, at), tt::rsqrt(x.var(over, 0, keepdim, at) + eps, at)};
}
}  // namespace detail
TT_LAZY_DEFINITION NormResult native_layer_norm(const Tensor& x, const IntList& normalized_shape, const Tensor& weight, const Tensor& bias, double eps, SourceLine at) {
  const Tensor y = layer_norm(x, normalized_shape, weight, bias, eps, at);
  IntList over;
  for (int k = x.dim() - static_cast<int>(normalized_shape.size()); k < x.dim(); ++k) over.push_back(k);
  return detail::with_statistics(y, x.detach(), over, true, eps, at);
}
TT_LAZY_DEFINITION NormResult native_group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t N, std::int64_t C, std::int64_t HxW, int group, double eps, SourceLine at) {
  std::int64_t rows = 0, elements = 0;
  const bool overflows = __builtin_mul_overflow(N, C, &rows) || __builtin_mul_overflow(rows, HxW, &elements);
  if (x.dim() < 2 || overflows || x.size(0, at) != N || x.size(1, at) != C || x.numel(at) != elements)
    TT_THROW(Error(Text("tt::native_group_norm: shape ") << x.shape() << " is not " << N << " times " << C << " channels of " << HxW << " elements." << at));
  const Tensor y = group_norm(x, group, weight, bias, eps, at);
  return detail::with_statistics(y, x.reshape({N, group, HxW * (C / group)}, at), {2}, false, eps, at);
}
TT_LAZY_DEFINITION NormResult native_batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps, SourceLine at) {
  const Tensor y = batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps, at);
  if (training) return detail::with_statistics(y, x.detach(), detail::axes_but(x, 1), false, eps, at);
  const Tensor nothing = empty(IntList{0}, detail::on_device(x.dtype(), x.device()));
  return {y, nothing, nothing};
}
namespace detail {
/// The elements, detached, in the dtype of the running statistics.
inline Tensor as_statistics(const Tensor& x, const Tensor& running, SourceLine at) {
  return is_narrow(x.dtype()) && !is_narrow(running.dtype()) ? x.detach().to(running.dtype(), at) : x.detach();
}
/// Moves the running statistics by `momentum` towards mean and var, in place.
inline void move_statistics(const Tensor& running_mean, const Tensor& running_var, double momentum, const Tensor& mean, const Tensor& var, SourceLine at) {
  const auto move = [&](const Tensor& running, const Tensor& to) {
    Tensor own = running.requires_grad() ? running.detach() : running;
    own.copy_(own.detach() * (1 - momentum) + to * momentum, at);
  };
  move(running_mean, mean);
  move(running_var, var);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps, SourceLine at) {
  if (!training && !(running_mean.defined() && running_var.defined()))
    TT_THROW(Error(Text("tt::batch_norm: without training, running_mean and running_var are needed.") << at));
  if (training && x.dim() > 1 && x.numel(at) == x.size(1, at) && x.numel(at) > 0)
    TT_THROW(Error(Text("tt::batch_norm: one value for each channel has no variance to train with: shape ") << x.shape() << "." << at));
  if (training && running_mean.defined() && running_var.defined()) {
    const IntList others = detail::axes_but(x, 1);
    const Tensor values = detail::as_statistics(x, running_mean, at);
    detail::move_statistics(running_mean, running_var, momentum, values.mean(others, false, at), values.var(others, 1, false, at), at);
  }
  return call_with<BatchNorm>(at, {training, momentum, eps}, x, running_mean, running_var, weight, bias);
}
TT_LAZY_DEFINITION Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum,
                                        double eps, SourceLine at) {
  if (use_input_stats && x.dim() > 1 && x.numel(at) > 0 && x.numel(at) == x.size(0, at) * x.size(1, at))
    TT_THROW(Error(Text("tt::instance_norm: one value for each channel of an example has no variance: shape ") << x.shape() << "." << at));
  if (use_input_stats && running_mean.defined() && running_var.defined() && x.dim() > 2) {
    const IntList examples_and_spatial = detail::axes_but(x, 1);
    IntList spatial;
    for (int k = 2; k < x.dim(); ++k) spatial.push_back(k);
    const Tensor values = detail::as_statistics(x, running_mean, at);
    detail::move_statistics(running_mean, running_var, momentum, values.mean(examples_and_spatial, false, at), values.var(spatial, 1, false, at).mean(0, false, at), at);
  }
  return call_with<InstanceNorm>(at, {use_input_stats, momentum, eps}, x, running_mean, running_var, weight, bias);
}
TT_LAZY_DEFINITION Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias, SourceLine at) {
  for (const Tensor* t : {&x2, &weight, &bias}) detail::need_same_dtype("bilinear", x1, *t, at);
  bool fit = x1.dim() > 0 && x1.dim() == x2.dim() && weight.dim() == 3 && x1.size(-1, at) == weight.size(1, at) && x2.size(-1, at) == weight.size(2, at);
  for (int k = 0; fit && k < x1.dim() - 1; ++k) fit = x1.size(k, at) == x2.size(k, at);
  if (!fit || (bias.defined() && (bias.dim() != 1 || bias.size(0, at) != weight.size(0, at))))
    TT_THROW(Error(Text("tt::bilinear: shapes do not fit: ") << x1.shape() << ", " << x2.shape() << " and weights " << weight.shape() << "." << at));
  IntList rows = x1.shape(at);
  rows[rows.size() - 1] = weight.size(0, at);
  const Tensor a = x1.reshape({-1, x1.size(-1, at)}, at), b = x2.reshape({-1, x2.size(-1, at)}, at);
  const Tensor part = tt::matmul(a, weight.reshape({weight.size(0, at), weight.size(1, at), weight.size(2, at)}, at), at);  // (out, rows, in2)
  const Tensor r = (part * b).sum({-1}, false, at).transpose(0, 1, at).reshape(rows, at);
  const Tensor y = is_floating(r.dtype()) ? r : r.to(x1.dtype(), at);  // sums of integers are i64
  return bias.defined() ? y + bias : y;
}
TT_LAZY_DEFINITION Tensor one_hot(const Tensor& x, std::int64_t num_classes, SourceLine at) {
  if (x.dtype() != DType::i64) TT_THROW(Error(Text("tt::one_hot: dtype is not accepted: ") << name(x.dtype()) << ". i64?" << at));
  if (num_classes < -1) TT_THROW(Error(Text("tt::one_hot: ") << num_classes << " classes." << at));
  if (num_classes <= 0 && x.numel(at) == 0) TT_THROW(Error(Text("tt::one_hot: no elements to count classes by: shape ") << x.shape() << ". Give num_classes?" << at));
  const std::int64_t last = num_classes < 0 ? x.amax({}, false, at).item<std::int64_t>(at) : num_classes - 1;
  if (last == INT64_MAX) TT_THROW(Error(Text("tt::one_hot: more classes than there are numbers.") << at));
  const std::int64_t n = last + 1;
  const Tensor labels = detail::checked_labels(x, Size(n), nullptr, detail::LabelsOf::one_hot, at);
  if (!detail::is_plain(labels)) return tt::eq(labels.unsqueeze(-1, at), arange(n, detail::on_device(DType::i64, x.device()), at), at).to(DType::i64, at);
  IntList to = x.shape(at);
  to.push_back(n);
  const Tensor r(DType::i64, shape_of(to, "one_hot", at)), places = labels.contiguous(at);
  const auto* const place = places.data_ptr<std::int64_t>();
  detail::rows_of_one(detail::elements_of<std::int64_t>(r), places.impl().numel, n, [&](std::int64_t k) { return place[k]; }, [](std::int64_t) { return std::int64_t{1}; });
  detail::stamp(r);
  return r;
}
namespace detail {
/// With more scores than this the matrix of scores is not materialised: `rows_of_scores` rows at a time are computed.
inline constexpr std::int64_t most_scores = std::int64_t{1} << 20;
inline constexpr int rows_of_scores = 64;

/// Rows of queries are independent: computed in blocks, each with all keys it may see, so the results have the same bits as computed at once; except that with
/// is_causal infinite or NaN values behind a row are not multiplied by its zeros. The last block is padded with zero rows, which are cut off.
template <class = void>
Tensor attention_by_rows(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, const Tensor& seed, const Attention::Options& o, SourceLine at) {
  const Size n = query.size(-2, at), parts = (n + (rows_of_scores - 1)) / rows_of_scores, padded = parts * rows_of_scores;
  const auto split = [&](const Tensor& x) {  // (parts, ..., rows, columns)
    IntList shape;
    for (int k = 0; k < x.dim() - 2; ++k) shape.push_back(x.size(k, at));
    for (const Size& size : {parts, Size(rows_of_scores), x.size(-1, at)}) shape.push_back(size);
    return movedim(pad(x, {0, 0, 0, padded - n}, PadMode::constant, 0, at).reshape(shape, at), IntList{x.dim() - 2}, IntList{0}, at);
  };
  const auto positions = [&](const Size& count) { return arange(count).to(key.device(), false, at); };
  const bool by_row = mask.defined() && mask.dim() > 1 && mask.size(-2, at) != 1;
  struct Part {
    Tensor query, mask, first_row, seed;
  };
  const Part all{split(query), by_row ? split(mask) : Tensor(), o.is_causal ? positions(parts) * rows_of_scores : Tensor(), seed.defined() ? positions(parts) + seed : Tensor()};
  const Tensor rows = positions(Size(rows_of_scores)).unsqueeze(1, at), columns = positions(key.size(-2, at));
  const auto attend = [&](const Part& some, const Tensor& k, const Tensor& v, const Tensor& places) {  // `places`: positions of the keys
    return tt::map([&](const Part& p) {
      const Tensor seen = o.is_causal ? tt::le(places, rows + p.first_row, at) : by_row ? p.mask : mask;
      return call_with<Attention>(at, {false, o.scale, o.dropout_p}, p.query, k, v, seen, p.seed);
    }, some, at);
  };
  constexpr int bands = 4;  // of rows: a causal band reads only keys up to its last row
  Tensor made;
  if (o.is_causal && parts >= 2 * bands) {  // bands of one part would have a size of their own: another program
    TensorList each;
    for (int b = 0; b < bands; ++b) {
      const Size begin = parts * b / bands, end = parts * (b + 1) / bands;
      const auto some = [&](const Tensor& t) { return t.defined() ? t.slice(0, begin, end, 1, at) : t; };
      const auto seen = [&](const Tensor& t, int axis) { return b + 1 < bands ? t.slice(axis, 0, end * rows_of_scores, 1, at) : t; };
      each.push_back(attend({some(all.query), {}, some(all.first_row), some(all.seed)}, seen(key, -2), seen(value, -2), seen(columns, 0)));
    }
    made = cat(each, 0, at);
  } else {
    made = attend(all, key, value, columns);
  }
  IntList shape;
  for (int k = 1; k < made.dim() - 2; ++k) shape.push_back(made.size(k, at));
  shape.push_back(padded);
  shape.push_back(made.size(-1, at));
  return movedim(made, IntList{0}, IntList{made.dim() - 3}, at).reshape(shape, at).slice(made.dim() - 3, 0, n, 1, at);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& given_key, const Tensor& given_value, const Tensor& attn_mask, double dropout_p, bool is_causal, Optional<double> scale,
                                                       bool enable_gqa, SourceLine at) {
  if (attn_mask.defined() && is_causal) TT_THROW(Error(Text("tt::scaled_dot_product_attention: a mask and is_causal.") << at));
  Tensor key = given_key, value = given_value;
  if (enable_gqa) {
    const std::int64_t heads = query.size(-3, at);
    for (Tensor* const t : {&key, &value}) {
      const std::int64_t own = t->size(-3, at);
      if (own == heads) continue;
      if (own == 0 || heads % own != 0)
        TT_THROW(Error(Text("tt::scaled_dot_product_attention: ") << heads << " heads of queries are no multiple of " << own << " heads of " << (t == &key ? "keys." : "values.") << at));
      *t = repeat_interleave(*t, heads / own, Optional<int>(t->dim() - 3), at);
    }
  }
  if (!(dropout_p >= 0 && dropout_p <= 1)) TT_THROW(Error(Text("tt::scaled_dot_product_attention: dropout_p is not from 0 to 1.") << at));
  const Tensor seed = dropout_p > 0 ? detail::next_seed(query.device(), "scaled_dot_product_attention", at) : Tensor();
  const Attention::Options options{is_causal, scale, dropout_p};
  if (query.dim() >= 2 && key.dim() >= 2) {
    Size scores = key.size(-2, at);
    for (int k = 0; k < query.dim() - 1; ++k) scores = scores * query.size(k, at);
    if (scores > detail::most_scores) return detail::attention_by_rows(query, key, value, attn_mask, seed, options, at);
  }
  return call_with<Attention>(at, options, query, key, value, attn_mask, seed);
}

namespace detail {

/// Registers pools over N axes; # stands for N in names and schemas.
template <int N>
void register_pools() {
  const auto numbered = [](std::string_view text) {
    std::string t(text);
    for (char& c : t)
      if (c == '#') c = '0' + N;
    return keep_text(t.data(), t.size());
  };
  register_function(numbered("max_pool#d"), numbered("Tensor input, int[#] kernel_size, int[#]? stride=None, int[#] padding=0, int[#] dilation=1, bool ceil_mode=False, bool return_indices=False"),
                    [](const Tensor& x, const IntList& k, const IntList& s, const IntList& p, const IntList& d, bool c, bool indices, Line at) {
                      if (!indices) return TensorList{max_pool(x, N, k, {s, p, d, c}, at)};
                      const PoolResult r = max_pool_with_indices(x, N, k, {s, p, d, c}, at);
                      return TensorList{r.values, r.indices};
                    });
  register_function(numbered("avg_pool#d"), numbered("Tensor input, int[#] kernel_size, int[#]? stride=None, int[#] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None"),
                    [](const Tensor& x, const IntList& k, const IntList& s, const IntList& p, bool c, bool i, Optional<std::int64_t> d, Line at) {
                      return avg_pool_divided(x, N, k, {s, p, {1}, c}, i, d, at);
                    });
  register_function(numbered("lp_pool#d"), numbered("Tensor input, float norm_type, int[#] kernel_size, int[#]? stride=None, bool ceil_mode=False"),
                    [](const Tensor& x, double n, const IntList& k, const IntList& s, bool c, Line at) { return lp_pool(x, N, n, k, s, c, at); });
}
template <class = void>
void register_network_names() {
  register_pools<1>();
  register_pools<2>();
  register_pools<3>();
  static constexpr auto sizes_of = [](const IntList& s, int axes) {
    IntList all;
    for (int k = 0; k < axes; ++k) all.push_back(each_axis(s, k, 1));
    for (int k = 0; k < axes; ++k)
      if (all[k] < 0) TT_THROW(Error(Text("tt: an output_size is negative: ") << all << "."));
    return all;
  };
  register_function("adaptive_avg_pool1d", "Tensor input, int[1] output_size", [](const Tensor& x, const IntList& s, Line at) { return adaptive_avg_pool(x, sizes_of(s, 1), at); });
  register_function("adaptive_avg_pool2d", "Tensor input, int[2] output_size", [](const Tensor& x, const IntList& s, Line at) { return adaptive_avg_pool(x, sizes_of(s, 2), at); });
  register_function("adaptive_avg_pool3d", "Tensor input, int[3] output_size", [](const Tensor& x, const IntList& s, Line at) { return adaptive_avg_pool(x, sizes_of(s, 3), at); });
  static constexpr auto adaptive = [](const Tensor& x, const IntList& s, int axes, bool indices, Line at) {
    const PoolResult r = adaptive_max_pool(x, sizes_of(s, axes), at);
    return indices ? TensorList{r.values, r.indices} : TensorList{r.values};
  };
  register_function("adaptive_max_pool1d", "Tensor input, int[1] output_size, bool return_indices=False", [](const Tensor& x, const IntList& s, bool i, Line at) { return adaptive(x, s, 1, i, at); });
  register_function("adaptive_max_pool2d", "Tensor input, int[2] output_size, bool return_indices=False", [](const Tensor& x, const IntList& s, bool i, Line at) { return adaptive(x, s, 2, i, at); });
  static constexpr auto pooled = [](const Tensor& x, const IntList& kernel, int axes, const IntList& to, const std::vector<double>& ratio, bool indices, const Tensor& samples, Line at) {
    IntList k;
    for (int j = 0; j < axes; ++j) k.push_back(each_axis(kernel, j, 1));
    const PoolResult r = fractional_max_pool(x, k, to, ratio, samples, at);
    return indices ? TensorList{r.values, r.indices} : TensorList{r.values};
  };
  register_function("fractional_max_pool2d", "Tensor input, int[2] kernel_size, int[]? output_size=None, float[]? output_ratio=None, bool return_indices=False, Tensor? _random_samples=None",
                    [](const Tensor& x, const IntList& k, const IntList& o, const std::vector<double>& r, bool i, const Tensor& s, Line at) { return pooled(x, k, 2, o, r, i, s, at); });
  register_function("fractional_max_pool3d", "Tensor input, int[3] kernel_size, int[]? output_size=None, float[]? output_ratio=None, bool return_indices=False, Tensor? _random_samples=None",
                    [](const Tensor& x, const IntList& k, const IntList& o, const std::vector<double>& r, bool i, const Tensor& s, Line at) { return pooled(x, k, 3, o, r, i, s, at); });
  register_function("adaptive_max_pool3d", "Tensor input, int[3] output_size, bool return_indices=False", [](const Tensor& x, const IntList& s, bool i, Line at) { return adaptive(x, s, 3, i, at); });
  for (const char* name : {"conv1d", "conv2d", "conv3d"}) {
    register_function(name, "Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] padding=0, int[] dilation=1, int groups=1",
                      [](const Tensor& x, const Tensor& w, const Tensor& b, const IntList& s, const IntList& p, const IntList& d, std::int64_t g, Line at) { return convolution(x, w, b, s, p, d, g, at); });
    register_function(name, "Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, valid|same padding=valid, int[] dilation=1, int groups=1",
                      [](const Tensor& x, const Tensor& w, const Tensor& b, const IntList& s, int p, const IntList& d, std::int64_t g, Line at) {
                        return convolution_padded(x, w, b, s, p == 1 ? "same" : "valid", d, g, at);
                      });
  }
  for (const char* name : {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
    register_function(name, "Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] padding=0, int[] output_padding=0, int groups=1, int[] dilation=1",
                      [](const Tensor& x, const Tensor& w, const Tensor& b, const IntList& s, const IntList& p, const IntList& o, std::int64_t g, const IntList& d, Line at) {
                        return convolution_transpose(x, w, b, s, p, o, g, d, at);
                      });
  register_function("unfold", "Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1",
                    [](const Tensor& x, const IntList& k, const IntList& d, const IntList& p, const IntList& s, Line at) { return im2col(x, k, d, p, s, at); });
  register_function("fold", "Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1",
                    [](const Tensor& x, const IntList& o, const IntList& k, const IntList& d, const IntList& p, const IntList& s, Line at) { return fold(x, o, k, d, p, s, at); });
  register_function("interpolate", "Tensor input, int[]? size=None, float[]? scale_factor=None, str mode=nearest, bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False",
                    [](const Tensor& x, const IntList& s, const std::vector<double>& f, const std::string& m, Optional<int> a, Optional<int> r, bool antialias, Line at) {
                      return interpolate(x, s, f, m, a.given && a.value, r.given && r.value, antialias, at);
                    });
  register_function("upsample_nearest", "Tensor input, int[]? size=None, float[]? scale_factor=None", [](const Tensor& x, const IntList& s, const std::vector<double>& f, Line at) { return interpolate(x, s, f, "nearest", false, false, false, at); });
  register_function("upsample_bilinear", "Tensor input, int[]? size=None, float[]? scale_factor=None", [](const Tensor& x, const IntList& s, const std::vector<double>& f, Line at) { return interpolate(x, s, f, "bilinear", true, false, false, at); });
  register_function("channel_shuffle", "Tensor input, int groups", [](const Tensor& x, int g, Line at) { return channel_shuffle(x, g, at); });
  register_function("local_response_norm", "Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0", [](const Tensor& x, int n, double a, double b, double k, Line at) { return local_response_norm(x, n, a, b, k, at); });
  register_function("batch_norm", "Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05",
                    [](const Tensor& x, const Tensor& m, const Tensor& v, const Tensor& w, const Tensor& b, bool t, double mo, double e, Line at) { return batch_norm(x, m, v, w, b, t, mo, e, at); });
  static constexpr auto listed = [](const NormResult& r) { return TensorList{r.output, r.mean, r.rstd}; };
  register_function("native_layer_norm", "Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps",
                    [](const Tensor& x, const IntList& s, const Tensor& w, const Tensor& b, double e, Line at) { return listed(native_layer_norm(x, s, w, b, e, at)); });
  register_function("native_group_norm", "Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps",
                    [](const Tensor& x, const Tensor& w, const Tensor& b, std::int64_t n, std::int64_t c, std::int64_t area, int g, double e, Line at) { return listed(native_group_norm(x, w, b, n, c, area, g, e, at)); });
  register_function("native_batch_norm", "Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps",
                    [](const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& m, const Tensor& v, bool t, double mo, double e, Line at) { return listed(native_batch_norm(x, w, b, m, v, t, mo, e, at)); });
  register_function("instance_norm", "Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05",
                    [](const Tensor& x, const Tensor& m, const Tensor& v, const Tensor& w, const Tensor& b, bool u, double mo, double e, Line at) { return instance_norm(x, m, v, w, b, u, mo, e, at); });
  register_function("bilinear", "Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None", [](const Tensor& x, const Tensor& y, const Tensor& w, const Tensor& b, Line at) { return bilinear(x, y, w, b, at); });
  register_function("one_hot", "Tensor input, int num_classes=-1", [](const Tensor& x, std::int64_t n, Line at) { return one_hot(x, n, at); });
  register_function("softmin", "Tensor input, int? dim=None, dtype? dtype=None", [](const Tensor& x, Optional<int> d, OptionalDType t, Line at) {
    const int usual = x.dim() == 0 || x.dim() == 1 || x.dim() == 3 ? 0 : 1;  // the default of nn.functional
    return softmax(converted(-x, t, at), d.given ? d.value : usual, at);
  });
  register_function("scaled_dot_product_attention", "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, float? scale=None, bool enable_gqa=False",
                    [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& m, double p, bool c, Optional<double> s, bool g, Line at) { return scaled_dot_product_attention(q, k, v, m, p, c, s, g, at); });
  register_function("cdist", "Tensor x1, Tensor x2, float p=2, use_mm_for_euclid_dist_if_necessary|use_mm_for_euclid_dist|donot_use_mm_for_euclid_dist? compute_mode=None",
                    [](const Tensor& x, const Tensor& y, double p, Optional<EuclidDistance> mode, Line at) {
    return cdist(x, y, p, mode.given ? mode.value : EuclidDistance::use_mm_for_euclid_dist_if_necessary, at);
  });
}

}  // namespace detail
}  // namespace tt

#include "tt/dispatch/pool_functions_inl.hpp"
