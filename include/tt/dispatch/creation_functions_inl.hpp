// Definitions of shape_functions.hpp that make Tensors.
#pragma once
#include "tt/dispatch/shape_functions_inl.hpp"

namespace tt {

namespace detail {
/// In f64, or f32 where whole numbers fit: numbers of a row.
inline Tensor numbers_of(std::int64_t n, TensorOptions o, SourceLine at, double (*f)(double, const double*), const double* with) {
  if (n < 0) TT_THROW(Error(Text("tt: a number of steps is negative: ") << n << "." << at));
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) v[static_cast<std::size_t>(k)] = f(static_cast<double>(k), with);
  const Tensor t = tt::from_span(std::span<const double>(v), IntList{n}).to(o.dtype, at);
  return with_options(t, o);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor linspace(double start, double end, std::int64_t steps, TensorOptions o, SourceLine at) {
  const double with[] = {start, end, static_cast<double>(steps)};
  return detail::numbers_of(steps, o, at, [](double k, const double* w) {
    const double step = w[2] > 1 ? (w[1] - w[0]) / (w[2] - 1) : 0;
    return k < w[2] / 2 ? w[0] + step * k : w[1] - step * (w[2] - 1 - k);  // from both ends, as PyTorch
  }, with);
}
TT_LAZY_DEFINITION Tensor logspace(double start, double end, std::int64_t steps, double base, TensorOptions o, SourceLine at) {
  const double with[] = {start, end, static_cast<double>(steps), base};
  return detail::numbers_of(steps, o, at, [](double k, const double* w) {
    const double step = w[2] > 1 ? (w[1] - w[0]) / (w[2] - 1) : 0;
    return __builtin_pow(w[3], k < w[2] / 2 ? w[0] + step * k : w[1] - step * (w[2] - 1 - k));
  }, with);
}
TT_LAZY_DEFINITION Tensor eye(SizeArgument n, SizeArgument m, TensorOptions o, SourceLine at) {
  if (n.size < 0 || m.size < 0) TT_THROW(Error(Text("tt::eye: a size is negative: ") << (n.size < 0 ? n : m).size.value() << "." << at));
  const Size most = n.size < m.size ? m.size : n.size;
  return eye(most, o, at).slice(0, 0, n.size, 1, at).slice(1, 0, m.size, 1, at).clone(at);
}
namespace detail {
template <class Holds>
Tensor triangle_indices(std::int64_t row, std::int64_t col, const Holds& holds, SourceLine at) {
  std::vector<std::int64_t> rows, columns;
  for (std::int64_t i = 0; i < row; ++i)
    for (std::int64_t j = 0; j < col; ++j)
      if (holds(i, j)) rows.push_back(i), columns.push_back(j);
  return stack({index_tensor(rows, {}), index_tensor(columns, {})}, 0, at);
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, SourceLine at) {
  return detail::triangle_indices(row, col, [&](std::int64_t i, std::int64_t j) { return j <= i + offset; }, at);
}
TT_LAZY_DEFINITION Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, SourceLine at) {
  return detail::triangle_indices(row, col, [&](std::int64_t i, std::int64_t j) { return j >= i + offset; }, at);
}

}  // namespace tt
