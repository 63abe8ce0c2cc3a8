// Definitions of the functions of shape_functions.hpp that create Tensors: linspace, eye, empty_strided, tril_indices and others.
#pragma once
#include "tt/dispatch/shape_functions_inl.hpp"

namespace tt {

namespace detail {
/// f of n numbers from start to end, which are truncated for an integer dtype. Numbers are computed from the nearer end, as in PyTorch.
template <class F>
Tensor numbers_between(double start, double end, std::int64_t n, TensorOptions o, SourceLine at, const F& f) {
  if (n < 0) TT_THROW(Error(Text("tt: a number of steps is negative: ") << n << "." << at));
  if (is_integral(o.dtype)) start = __builtin_trunc(start), end = __builtin_trunc(end);
  const double step = n > 1 ? (end - start) / static_cast<double>(n - 1) : 0;
  const std::int64_t half = (n + 1) / 2;
  const auto made = [&]<class T>(T) {
    Tensor t(dtype_of<T>, Shape{n});
    T* const to = elements_of<T>(t);
    in_ranges(n, 1, [&](std::int64_t begin, std::int64_t last) {
      const std::int64_t middle = std::clamp(half, begin, last);
      for (std::int64_t k = begin; k < middle; ++k) to[k] = static_cast<T>(f(start + step * static_cast<double>(k)));
      for (std::int64_t k = middle; k < last; ++k) to[k] = static_cast<T>(f(end - step * static_cast<double>(n - 1 - k)));
    });
    return t;
  };
  const Tensor t = o.dtype == DType::f32 ? made(float()) : made(double());
  stamp(t);
  const Tensor r = made_of_numbers(t).to(o.dtype, at);
  const Device device = o.device;
  return with_options(device.type == DeviceType::cpu ? r : r.to(device), o);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor linspace(double start, double end, std::int64_t steps, TensorOptions o, SourceLine at) {
  return detail::numbers_between(start, end, steps, o, at, [](double v) { return v; });
}
TT_LAZY_DEFINITION Tensor logspace(double start, double end, std::int64_t steps, double base, TensorOptions o, SourceLine at) {
  return detail::numbers_between(start, end, steps, o, at, [base](double v) { return __builtin_pow(base, v); });
}
TT_LAZY_DEFINITION Tensor eye(SizeArgument n, SizeArgument m, TensorOptions o, SourceLine at) {
  if (n.size < 0 || m.size < 0) TT_THROW(Error(Text("tt::eye: a size is negative: ") << (n.size < 0 ? n : m).size.value() << "." << at));
  const Size most = n.size < m.size ? m.size : n.size;
  return eye(most, o, at).slice(0, 0, n.size, 1, at).slice(1, 0, m.size, 1, at).clone(at);
}
TT_LAZY_DEFINITION Tensor empty_strided(const IntList& size, const IntList& stride, TensorOptions o, SourceLine at) {
  std::int64_t last = 0, way = 0;
  bool beyond = stride.size() != size.size();  // as_strided throws then
  for (int k = 0; !beyond && k < size.size(); ++k) beyond = __builtin_mul_overflow(size.value(k) - 1, stride.value(k), &way) || __builtin_add_overflow(last, way, &last);
  return as_strided(empty({!beyond && last + 1 > 0 ? last + 1 : 0}, o), size, stride, {}, at);
}
TT_LAZY_DEFINITION Tensor empty_permuted(const IntList& size, const IntList& physical_layout, TensorOptions o, SourceLine at) {
  IntList laid, back;
  SmallVec<bool, max_rank> taken;
  for (int k = 0; k < size.size(); ++k) {
    back.push_back(0);
    taken.push_back(false);
  }
  for (int k = 0; k < physical_layout.size(); ++k) {
    const int axis = normalize_axis(detail::saturated<int>(physical_layout.value(k)), size.size());
    if (axis < 0 || physical_layout.size() != size.size() || taken[axis]) TT_THROW(Error(Text("tt::empty_permuted: axes ") << physical_layout << " are not a permutation for sizes " << size << "." << at));
    taken[axis] = true;
    laid.push_back(size[axis]);
    back[axis] = k;
  }
  return empty(laid, o).permute(back, at);
}
namespace detail {
/// columns(i): row i's first column, and the one past its last.
template <class Columns>
Tensor triangle_indices(std::int64_t row, std::int64_t col, const Columns& columns, SourceLine at) {
  if (row < 0 || col < 0) TT_THROW(Error(Text("tt::tril_indices, triu_indices: a matrix of ") << row << " rows and " << col << " columns." << at));
  std::int64_t places = 0, count = 0;
  if (__builtin_mul_overflow(row, col, &places)) places = INT64_MAX;
  need_places("tril_indices, triu_indices", places, at);
  if (places == 0) row = 0;
  const auto part_of = [&](std::int64_t i) {
    const auto [first, end] = columns(i);
    return std::pair(std::clamp<std::int64_t>(first, 0, col), std::clamp<std::int64_t>(end, 0, col));
  };
  for (std::int64_t i = 0; i < row; ++i) {
    const auto [first, end] = part_of(i);
    count += std::max<std::int64_t>(end - first, 0);
  }
  std::vector<std::int64_t> places_of(static_cast<std::size_t>(2 * count));  // rows, then columns
  std::int64_t* to = places_of.data();
  for (std::int64_t i = 0; i < row; ++i) {
    const auto [first, end] = part_of(i);
    for (std::int64_t j = first; j < end; ++j, ++to) {
      to[0] = i;
      to[count] = j;
    }
  }
  return index_table(places_of, {}).reshape({2, count}, at);
}
/// i + offset + more; INT64_MAX if that overflows.
inline std::int64_t diagonal_column(std::int64_t i, std::int64_t offset, std::int64_t more) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(i + more, offset, &sum) ? INT64_MAX : sum;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, SourceLine at) {
  return detail::triangle_indices(row, col, [&](std::int64_t i) { return std::pair(std::int64_t{0}, detail::diagonal_column(i, offset, 1)); }, at);
}
TT_LAZY_DEFINITION Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, SourceLine at) {
  return detail::triangle_indices(row, col, [&](std::int64_t i) { return std::pair(detail::diagonal_column(i, offset, 0), col); }, at);
}

}  // namespace tt
