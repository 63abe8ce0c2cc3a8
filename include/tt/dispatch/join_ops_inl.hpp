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

/// How far apart (in elements) the parts of a Tensor begin that have all from an axis on one behind the other; -1: they are not so.
inline std::int64_t distance_of_rows(const TensorImpl& t, int axis) {
  std::int64_t inner = 1, apart = -1, outer = 1;
  for (int k = t.shape.rank - 1; k >= 0; --k) {
    const std::int64_t n = t.shape.code[k];
    if (n == 1) continue;
    if (k >= axis) {
      if (t.stride[k] != inner) return -1;
      inner *= n;
    } else {
      if (apart < 0) apart = t.stride[k];
      else if (t.stride[k] != apart * outer) return -1;
      outer *= n;
    }
  }
  return apart < 0 ? inner : apart;
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
  if (!fits) {  // in the words of the graph
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
    std::int64_t apart = left_out(k) ? -1 : distance_of_rows(part.impl(), axis) * size_of(dtype);
    const std::int64_t bytes = rows > 0 ? part.impl().numel / rows * size_of(dtype) : 0;
    if (apart < 0) {
      part = part.contiguous();
      apart = bytes;
    }
    const auto* from = static_cast<const std::byte*>(part.impl().data);
    if (bytes == size_of(dtype))
      with_element_size(dtype, [&]<class T>(T) {
        in_ranges(rows, 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) std::memcpy(to + i * row, from + i * apart, sizeof(T));
        });
      });
    else if (bytes > 0) copy_rows(to, row, from, apart, rows, bytes);
    to += bytes;
  }
  c.result[0] = result;
}
/// A part gets its slice of the gradient.
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
