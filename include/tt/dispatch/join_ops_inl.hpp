// Definitions of join_ops.hpp.
#pragma once
#include <cstring>
#include <vector>

#include "tt/dispatch/graph_function_inl.hpp"
#include "tt/dispatch/index_ops_inl.hpp"
#include "tt/dispatch/join_ops.hpp"
#include "tt/dispatch/shared_ranges.hpp"

namespace tt {
namespace detail {

/// A Tensor as rows, each made of all axes from `axis` on.
struct PartsOfAxis {
  bool even = false;               ///< rows are equally far apart, and so are the elements of each
  std::int64_t apart = -1, step = -1;  ///< distance of rows, of elements in a row; in elements

  PartsOfAxis(const TensorImpl& t, int axis) {
    std::int64_t inner = 1, outer = 1;
    for (int k = t.shape.rank - 1; k >= 0; --k) {
      const std::int64_t n = t.shape.code[k];
      if (n == 1) continue;
      std::int64_t &distance = k >= axis ? step : apart, &count = k >= axis ? inner : outer;
      if (distance < 0) distance = t.stride[k];
      else if (t.stride[k] != distance * count) return;
      count *= n;
    }
    even = true;
    if (step < 0) step = 1;    // one element
    if (apart < 0) apart = 0;  // one row
  }
};
/// Gathers n elements, `apart` bytes apart, to consecutive memory.
template <class T>
void gather_bytes(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t apart) {
  for (std::int64_t i = 0; i < n; ++i, to += sizeof(T), from += apart) std::memcpy(to, from, sizeof(T));
}
/// Copies rows of n elements, `step` elements apart, to consecutive elements; rows begin to_apart and from_apart bytes apart.
inline void join_rows(std::byte* to, std::int64_t to_apart, const std::byte* from, std::int64_t from_apart, std::int64_t rows, std::int64_t n, std::int64_t step, DType dtype) {
  const std::int64_t size = size_of(dtype);
  if (step == 1 && n > 1) return copy_rows(to, to_apart, from, from_apart, rows, n * size);
  with_element_size(dtype, [&]<class T>(T) {
    const std::int64_t apart = step * size;
    if (rows == 1)  // threads share the row
      return in_ranges(n, 1, [&](std::int64_t begin, std::int64_t end) { gather_bytes<T>(to + begin * size, from + begin * apart, end - begin, apart); });
    in_ranges(rows, n, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) gather_bytes<T>(to + r * to_apart, from + r * from_apart, n, apart);
    });
  });
}
TT_INLINE void HostKernel<Cat>::run(Call& c, const Cat::Options& o) {
  int first = 0;
  while (first + 1 < c.arguments && is_empty_vector(c[first].impl().shape)) ++first;
  const int rank = c[first].dim(), axis = normalize_axis(o.dim, rank);
  const auto left_out = [&](int k) { return rank != 1 && is_empty_vector(c[k].impl().shape); };
  Shape shape = c[first].impl().shape;
  DType dtype = c[0].dtype();
  std::int64_t total = 0;
  bool fits = axis >= 0;
  for (int k = 0; k < c.arguments && fits; ++k) {
    dtype = promote(dtype, c[k].dtype());
    if (left_out(k)) continue;
    fits = c[k].dim() == rank;
    for (int j = 0; j < rank && fits; ++j) fits = j == axis || c[k].size(j) == shape.code[j];
    if (!fits) break;
    total += c[k].size(axis);
  }
  if (!fits) {  // the same error as the graph's
    Graph g = record_call(*c.op, c.attrs(), Signature(c.argument, c.arguments, c.attrs(), SizeSet::everything()));
    g.failure.where = c.at;
    TT_THROW(Error(describe(g.failure)));
  }
  shape.set(axis, total);
  Tensor result(dtype, shape);
  std::int64_t rows = 1, row = size_of(dtype);
  for (int j = 0; j < rank; ++j) (j < axis ? rows : row) *= shape.code[j];
  auto* to = static_cast<std::byte*>(result.impl().data);
  for (int k = 0; k < c.arguments; ++k) {
    Tensor part = convert(c[k], dtype, c.at);
    const std::int64_t n = rows > 0 ? part.impl().numel / rows : 0;
    if (n == 0) continue;
    const PartsOfAxis lie(part.impl(), axis);
    if (!lie.even) part = part.contiguous();
    join_rows(to, row, static_cast<const std::byte*>(part.impl().data), (lie.even ? lie.apart : n) * size_of(dtype), rows, n, lie.even ? lie.step : 1, dtype);
    to += n * size_of(dtype);
  }
  c.result[0] = result;
}
/// A part's gradient is its slice of the gradient.
TT_INLINE void HostKernel<Cat>::derivative(const DerivativeStep& s, const Cat::Options& o) {
  const int axis = normalize_axis(o.dim, s.gradient[0].dim());
  std::int64_t start = 0;
  const auto left_out = [&](const Tensor& part) { return s.gradient[0].dim() != 1 && is_empty_vector(part.impl().shape); };
  for (int k = 0; k < s.only; ++k) start += left_out(s.argument[k]) ? 0 : s.argument[k].impl().shape.code[axis];
  const Tensor& part = s.argument[s.only];
  if (left_out(part)) {
    s.out[0] = tt::zeros({0}, {part.dtype(), s.gradient[0].device()});
    return;
  }
  s.out[0] = convert(s.gradient[0].slice(axis, start, start + part.size(axis), 1, s.at), part.dtype(), s.at);
}
TT_INLINE void HostKernel<Stack>::run(Call& c, const Stack::Options& o) {
  std::vector<Tensor> rows;
  for (int k = 0; k < c.arguments; ++k) {
    if (k == 0) {
      axis_of(c[0], o.dim, "stack", c.at, c[0].dim() + 1);
      need_room_for_axis(c[0], "stack", c.at);
    }
    if (!(c[k].impl().shape == c[0].impl().shape))
      TT_THROW(Error(Text("tt::stack: shapes differ: ") << c[0].shape() << " and " << c[k].shape() << "." << c.at));
    rows.push_back(c[k].unsqueeze(o.dim, c.at));
  }
  c.result[0] = cat(rows, o.dim, c.at);
}
TT_INLINE void HostKernel<Stack>::derivative(const DerivativeStep& s, const Stack::Options& o) {
  s.out[0] = convert(s.gradient[0].select(o.dim, s.only, s.at), s.argument[s.only].dtype(), s.at);
}

}  // namespace detail

TT_LAZY_DEFINITION Tensor cat(TensorSpan parts, int dim, SourceLine at) {
  if (parts.empty()) TT_THROW(Error(Text("tt::cat: there is no Tensor to join.") << at));
  return TensorFront::structured<Cat>(at, {dim}, parts);
}
TT_LAZY_DEFINITION Tensor stack(TensorSpan parts, int dim, SourceLine at) {
  if (parts.empty()) TT_THROW(Error(Text("tt::stack: there is no Tensor to join.") << at));
  return TensorFront::structured<Stack>(at, {dim}, parts);
}

}  // namespace tt
