// Further overloads of functions, as in PyTorch: numbers in place of Tensors, words in place of enums, one more argument. Calls by name use
// them too.
//   tt::div(x, 3, "floor")   tt::softplus(x, 2, 10)   tt::scatter(x, 0, index, src, "add")   tt::searchsorted(edges, 0.5)
#pragma once
#include "tt/dispatch/argument_checks.hpp"
#include "tt/dispatch/index_functions.hpp"
#include "tt/dispatch/reduction_functions.hpp"
#include "tt/dispatch/shape_functions.hpp"

namespace tt {
namespace detail {

/// An operand as a Tensor: a number gets the dtype it has alone, or the one it has beside another operand.
template <class = void>
Tensor number_of(const TensorOperand& v) { return v.tensor ? *v.tensor : v.number(DType::boolean); }
template <class = void>
Tensor number_of(const TensorOperand& v, const TensorOperand& other) { return v.tensor ? *v.tensor : v.number_among(other.tensor ? floating_with(DType::boolean, *other.tensor) : DType::boolean); }
/// One of two operands is a number.
template <class A, class B>
concept OneNumber = std::is_arithmetic_v<A> != std::is_arithmetic_v<B> && std::convertible_to<const A&, TensorOperand> && std::convertible_to<const B&, TensorOperand>;
/// The index of `word` among words such as "none|mean|sum". Throws Error when it is none of them.
template <class = void>
int number_of_choice(std::string_view words, std::string_view word, const char* op, const char* argument, SourceLine at) {
  const std::string_view all = words;
  for (int k = 0;; ++k) {
    const std::size_t end = words.find('|');
    if (words.substr(0, end) == word) return k;
    if (end == std::string_view::npos) TT_THROW(Error(Text("tt::") << op << ": " << argument << " is '" << std::string(word).c_str() << "', not one of " << std::string(all).c_str() << '.' << at));
    words.remove_prefix(end + 1);
  }
}

}  // namespace detail

// ---- elements
/// x / y, rounded: "trunc" towards 0, "floor" down.
template <class = void>
Tensor div(const detail::TensorOperand& x, const detail::TensorOperand& y, std::string_view rounding_mode, SourceLine at = here()) {
  const bool down = detail::number_of_choice("trunc|floor", rounding_mode, "div", "rounding_mode", at) == 1;
  const Tensor a = detail::number_of(x), b = y.beside(a);
  if (down) return floor_divide(a, b, at);
  if (is_floating(promote(a.dtype(), b.dtype()))) return call<TruncDivide>(at, a, b);
  return floor_divide(a - tt::fmod(a, b, at), b, at);
}
template <class = void>
Tensor divide(const detail::TensorOperand& x, const detail::TensorOperand& y, std::string_view rounding_mode, SourceLine at = here()) { return div(x, y, rounding_mode, at); }
/// Rounds to so many decimal digits after the point; negative: before it.
template <std::integral N>
Tensor round(const Tensor& x, N decimals, SourceLine at = here()) { return call_with<RoundDecimals>(at, {static_cast<int>(decimals)}, x); }
/// log(1 + e^(beta x)) / beta; x where beta x is above the threshold.
template <class = void>
Tensor softplus(const Tensor& x, double beta, double threshold = 20, SourceLine at = here()) {
  detail::need_floating("softplus", x, at);
  const Tensor z = x * beta, above = z > threshold;
  return tt::where(above, x, tt::log1p(tt::exp(tt::where(above, 0, z, at), at), at) / beta, at);
}
/// logit of x clamped to [eps, 1 - eps]; an eps above 1/2 is still the lower bound.
template <class = void>
Tensor logit(const Tensor& x, double eps, SourceLine at = here()) {
  const Tensor r = is_floating(x.dtype()) ? x : x.to(DType::f32, at);
  return logit(tt::where(r < eps, eps, tt::where(r > 1 - eps, 1 - eps, r, at), at), at);
}
template <class R>
  requires std::is_arithmetic_v<R>
Tensor isclose(const Tensor& x, const Tensor& y, R rtol, double atol = 1e-8, bool equal_nan = false, SourceLine at = here()) { return isclose(x, y, IscloseOptions{static_cast<double>(rtol), atol, equal_nan}, at); }
/// A number shifted by the numbers of bits in a Tensor.
template <std::integral N>
Tensor bitwise_left_shift(N x, const Tensor& other, SourceLine at = here()) { return bitwise_left_shift(detail::TensorOperand(x).beside(other), other, at); }
template <std::integral N>
Tensor bitwise_right_shift(N x, const Tensor& other, SourceLine at = here()) { return bitwise_right_shift(detail::TensorOperand(x).beside(other), other, at); }
/// Shifts of bits: of Tensors of integers, by Tensors or numbers.
template <std::same_as<Tensor> T>
Tensor operator<<(const T& x, const detail::TensorOperand& places) { return bitwise_left_shift(x, places, places.where); }
template <std::same_as<Tensor> T>
Tensor operator>>(const T& x, const detail::TensorOperand& places) { return bitwise_right_shift(x, places, places.where); }
/// The indices of the elements other than 0, a Tensor for each axis.
template <class = void>
TensorList where(const Tensor& condition, SourceLine at = here()) { return unbind(nonzero(condition.dim() ? condition : condition.reshape({1}, at), at), 1, at); }

// ---- reductions and order
/// `unbiased`: true is a correction of 1, false of 0.
template <std::same_as<bool> B>
Tensor var(const Tensor& x, B unbiased, SourceLine at = here()) { return x.var({}, unbiased, false, at); }
template <std::same_as<bool> B>
Tensor std(const Tensor& x, B unbiased, SourceLine at = here()) { return x.std({}, unbiased, false, at); }
template <std::same_as<bool> B>
VarMeanResult var_mean(const Tensor& x, B unbiased, SourceLine at = here()) { return var_mean(x, {}, unbiased, false, at); }
template <std::same_as<bool> B>
VarMeanResult std_mean(const Tensor& x, B unbiased, SourceLine at = here()) { return std_mean(x, {}, unbiased, false, at); }
/// Slopes of values that are `spacing` apart along each axis.
template <class V>
  requires std::is_arithmetic_v<V>
TensorList gradient(const Tensor& x, V spacing, const IntList& dim = {}, int edge_order = 1, SourceLine at = here()) {
  const Tensor apart = detail::TensorOperand(spacing, at).number_among(detail::floating_with(DType::boolean, x));
  return gradient(x, {apart}, dim, edge_order, at);
}
template <std::same_as<IntList> L>
TensorList gradient(const Tensor& x, const L& dim, int edge_order = 1, SourceLine at = here()) { return gradient(x, TensorSpan(), dim, edge_order, at); }
/// `bins` equal parts of a range (min, max); an empty range: of the elements' range.
template <class = void>
HistogramResult histogram(const Tensor& x, std::int64_t bins, const std::vector<double>& range, const Tensor& weight = {}, bool density = false, SourceLine at = here()) {
  if (range.empty()) return histogram(x, bins, 0, 0, weight, density, at);
  if (range.size() != 2) TT_THROW(Error(Text("tt::histogram: range has ") << range.size() << " numbers. The least and the greatest edge?" << at));
  const double beside = range[0] == range[1] ? 0.5 : 0;  // two zeros would mean the elements' bounds
  return histogram(x, bins, range[0] - beside, range[1] + beside, weight, density, at);
}
template <class = void>
HistogramResult histogram(const Tensor& x, SourceLine at = here()) { return histogram(x, 100, 0, 0, {}, false, at); }
/// side: "left", or "right", the same as `right`. sorter: the indices that sort the sequence.
template <class = void>
Tensor searchsorted(const Tensor& sorted_sequence, const detail::TensorOperand& values, bool out_int32, bool right, std::string_view side, const Tensor& sorter = {}, SourceLine at = here()) {
  const bool to_right = detail::number_of_choice("left|right", side, "searchsorted", "side", at) == 1;
  if (right && !to_right) TT_THROW(Error(Text("tt::searchsorted: side is 'left', but right is true. Leave out one?") << at));
  return searchsorted(sorter.defined() ? gather(sorted_sequence, -1, sorter, at) : sorted_sequence, values.beside(sorted_sequence), out_int32, to_right, at);
}
template <class V>
  requires std::is_arithmetic_v<V>
Tensor searchsorted(const Tensor& sorted_sequence, V value, bool out_int32 = false, bool right = false, SourceLine at = here()) {
  return searchsorted(sorted_sequence, detail::TensorOperand(value, at).beside(sorted_sequence), out_int32, right, at);
}
template <class V>
  requires std::is_arithmetic_v<V>
Tensor bucketize(V value, const Tensor& boundaries, bool out_int32 = false, bool right = false, SourceLine at = here()) {
  return bucketize(detail::TensorOperand(value, at).beside(boundaries), boundaries, out_int32, right, at);
}
/// Numbers or Tensors; `assume_unique` has no effect.
template <class = void>
Tensor isin(const detail::TensorOperand& elements, const detail::TensorOperand& test_elements, bool assume_unique, bool invert, SourceLine at = here()) {
  return isin(detail::number_of(elements, test_elements), detail::number_of(test_elements, elements), assume_unique, invert, at);
}
template <class E, class T>
  requires detail::OneNumber<E, T>
Tensor isin(const E& elements, const T& test_elements, SourceLine at = here()) { return isin(elements, test_elements, false, false, at); }

// ---- elements by index
/// reduce: "add" or "multiply", combined with the elements of x.
template <class = void>
Tensor scatter(const Tensor& x, int dim, const Tensor& index, const detail::TensorOperand& src, std::string_view reduce, SourceLine at = here()) {
  const bool add = detail::number_of_choice("add|multiply", reduce, "scatter", "reduce", at) == 0;
  const Tensor s = src.beside(x);
  return scatter_reduce(x, dim, index, s.dim() == 0 ? s.to(x.dtype(), at).expand(index.shape(at), at) : s, add ? ScatterReduction::sum : ScatterReduction::prod, true, at);
}
/// reduce: "sum", "prod", "mean", "amax" or "amin".
template <class = void>
Tensor scatter_reduce(const Tensor& x, int dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self = true, SourceLine at = here()) {
  return scatter_reduce(x, dim, index, src, static_cast<ScatterReduction>(detail::number_of_choice(choices_of<ScatterReduction>, reduce, "scatter_reduce", "reduce", at)), include_self, at);
}
/// reduce: "prod", "mean", "amax" or "amin".
template <class = void>
Tensor index_reduce(const Tensor& x, int dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self = true, SourceLine at = here()) {
  return index_reduce(x, dim, index, source, static_cast<ScatterReduction>(detail::number_of_choice("prod|mean|amax|amin", reduce, "index_reduce", "reduce", at) + 1), include_self, at);
}
/// Adds alpha times `source`.
template <class A>
  requires std::is_arithmetic_v<A> || std::same_as<A, detail::TensorOperand>
Tensor index_add(const Tensor& x, int dim, const Tensor& index, const Tensor& source, const A& alpha, SourceLine at = here()) {
  const detail::AxisOf<> o(x, dim, "index_add", at);
  const Tensor by = detail::TensorOperand(alpha).beside(x);
  if (is_integral(x.dtype()) && is_floating(by.dtype())) TT_THROW(Error(Text("tt::index_add: alpha is a float, and the elements are ") << name(x.dtype()) << ". Give a whole one?" << at));
  return o.back(index_add(o.x, o.d, index.dim() ? index : index.reshape({1}, at), (source.dim() ? source : source.reshape({1}, at)) * by.to(x.dtype(), at), at), at);
}
template <class V>
  requires std::is_arithmetic_v<V>
Tensor index_fill(const Tensor& x, int dim, const Tensor& index, V value, SourceLine at = here()) { return index_fill(x, dim, index, detail::TensorOperand(value, at).beside_as_element(x, "index_fill", at), at); }
/// x and index are taken as vectors of all their elements.
template <class = void>
Tensor take_along_dim(const Tensor& x, const Tensor& index, SourceLine at = here()) { return take_along_dim(x.reshape({-1}, at), index.reshape({-1}, at), 0, at); }

// ---- shapes
template <class = void> Tensor reshape(const Tensor& x, const IntList& shape, SourceLine at = here()) { return x.reshape(shape, at); }
template <class = void> Tensor permute(const Tensor& x, const IntList& dims, SourceLine at = here()) { return x.permute(dims, at); }
template <class = void> Tensor transpose(const Tensor& x, int dim0, int dim1, SourceLine at = here()) { return x.transpose(dim0, dim1, at); }
template <class = void> Tensor broadcast_to(const Tensor& x, const IntList& size, SourceLine at = here()) { return x.expand(size, at); }
template <class = void> TensorList atleast_1d(TensorSpan all, SourceLine at = here()) { return detail::each_at_least(all, 1, at); }
template <class = void> TensorList atleast_2d(TensorSpan all, SourceLine at = here()) { return detail::each_at_least(all, 2, at); }
template <class = void> TensorList atleast_3d(TensorSpan all, SourceLine at = here()) { return detail::each_at_least(all, 3, at); }
/// `start`: a Tensor of one element.
template <class = void> Tensor narrow(const Tensor& x, int dim, const Tensor& start, SizeArgument length, SourceLine at = here()) { return narrow(x, dim, start.item<std::int64_t>(at), length, at); }
/// The number of parts (rank 0), or the indices where parts begin, in a Tensor of i64.
template <std::same_as<Tensor> T>
TensorList tensor_split(const Tensor& x, const T& indices_or_sections, int dim = 0, SourceLine at = here()) {
  if (indices_or_sections.dtype() != DType::i64) TT_THROW(Error(Text("tt::tensor_split: places are of dtype ") << name(indices_or_sections.dtype()) << ", not i64." << at));
  const Tensor host = indices_or_sections.cpu(at).contiguous(at);
  if (host.dim() == 0) return tensor_split(x, host.item<int>(at), dim, at);
  IntList places;
  for (std::int64_t k = 0; k < host.numel(); ++k) places.push_back(host.data_ptr<std::int64_t>(at)[k]);
  return tensor_split(x, places, dim, at);
}
/// Each index k, repeats[k] times.
template <class = void>
Tensor repeat_interleave(const Tensor& repeats, SourceLine at = here()) {
  if (repeats.dim() != 1) TT_THROW(Error(Text("tt::repeat_interleave: repeats of shape ") << repeats.shape() << " are not a vector." << at));
  return repeat_interleave(arange(repeats.size(0, at)).to(repeats.device(), false, at), repeats, {}, at);
}
/// Throws Error unless the result has `output_size` elements along `dim`.
template <class R>
  requires(std::same_as<R, Tensor> || std::convertible_to<R, SizeArgument>)
Tensor repeat_interleave(const Tensor& x, const R& repeats, Optional<int> dim, Optional<std::int64_t> output_size, SourceLine at = here()) {
  const Tensor r = repeat_interleave(x, repeats, dim, at);
  if (output_size.given)
    if (const int d = detail::axis_of(r, dim.given ? dim.value : 0, "repeat_interleave", at, r.dim()); r.size(d, at) != output_size.value)
      TT_THROW(Error(Text("tt::repeat_interleave: output_size is ") << output_size.value << ", and there are " << r.size(d, at) << " elements." << at));
  return r;
}
/// mode: "constant", "reflect", "replicate" or "circular".
template <class = void>
Tensor pad(const Tensor& x, const IntList& pad, std::string_view mode, Optional<double> value = {}, SourceLine at = here()) {
  const auto m = static_cast<PadMode>(detail::number_of_choice(choices_of<PadMode>, mode, "pad", "mode", at));
  if (m != PadMode::constant && value.given && value.value != 0) TT_THROW(Error(Text("tt::pad: mode '") << std::string(mode).c_str() << "' takes no value." << at));
  return tt::pad(x, pad, m, value.given ? value.value : 0, at);
}
template <std::same_as<DType> D> Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, D dtype, SourceLine at = here()) { return tril_indices(row, col, offset, at).to(dtype, at); }
template <std::same_as<DType> D> Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, D dtype, SourceLine at = here()) { return triu_indices(row, col, offset, at).to(dtype, at); }

/// A copy of x.view(dtype).
template <std::same_as<DType> D> Tensor view_copy(const Tensor& x, D dtype, SourceLine at = here()) { return detail::viewed_as(x, dtype, at).clone(at); }

// ---- dtypes of results
inline DType result_type(const detail::TensorOperand& a, const detail::TensorOperand& b) {
  if (bool(a.tensor) != bool(b.tensor)) return a.tensor ? promote_literal(a.tensor->dtype(), b.literal) : promote_literal(b.tensor->dtype(), a.literal);
  return detail::dtype_together(detail::number_of(a), detail::number_of(b));
}
inline bool is_signed(const Tensor& x) { return x.is_signed(); }

}  // namespace tt
