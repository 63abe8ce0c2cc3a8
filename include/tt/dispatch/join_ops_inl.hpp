// Definitions of join_ops.hpp.
#pragma once
#include <cstring>
#include <vector>

#include "tt/dispatch/index_ops_inl.hpp"
#include "tt/dispatch/join_ops.hpp"

namespace tt {
namespace detail {

TT_INLINE void record_cat(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = g.cat(in.data(), static_cast<int>(in.size()), axis_given(a.value[0]));
}
TT_INLINE void record_slice_scatter(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = g.slice_scatter(in[0], in[1], axis_given(a.value[0]), a.value[1]);
}
TT_INLINE void record_tril(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = triangle({&g, in[0]}, a.value[0], true, "tril").id;
}
TT_INLINE void record_triu(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = triangle({&g, in[0]}, a.value[0], false, "triu").id;
}

/// On the host: rows of bytes. A program for each set of sizes, as other ops have, would be made anew for lists that grow.
TT_INLINE void cat_kernel(Call& c, void*) {
  const int rank = c[0].dim(), axis = normalize_axis(axis_given(c.attrs().value[0]), rank);
  Shape shape = c[0].shape();
  DType dtype = c[0].dtype();
  std::int64_t total = 0;
  bool fits = axis >= 0;
  for (int k = 0; k < c.arguments && fits; ++k) {
    fits = c[k].dim() == rank;
    for (int j = 0; j < rank && fits; ++j) fits = j == axis || c[k].size(j) == shape.code[j];
    if (!fits) break;
    total += c[k].size(axis);
    dtype = promote(dtype, c[k].dtype());
  }
  if (!fits) {  // in the words of the graph
    Graph g = record_call(*c.op, c.attrs(), Signature(c.argument, c.arguments, c.attrs(), all_sizes));
    g.failure.where = c.at;
    TT_THROW(Error(describe(g.failure)));
  }
  shape.set(axis, total);
  const ExcludeKeys below{DispatchKey::autograd};
  Tensor result(dtype, shape);
  std::int64_t rows = 1, row = size_of(dtype);
  for (int j = 0; j < rank; ++j) (j < axis ? rows : row) *= shape.code[j];
  auto* to = static_cast<std::byte*>(result.impl().data);
  for (int k = 0; k < c.arguments; ++k) {
    const Tensor part = convert(c[k], dtype, c.at).contiguous();
    const std::int64_t bytes = rows > 0 ? part.numel() / rows * size_of(dtype) : 0;
    const auto* from = static_cast<const std::byte*>(part.impl().data);
    if (bytes == size_of(dtype))
      with_element_size(dtype, [&]<class T>(T) {
        for (std::int64_t i = 0; i < rows; ++i) std::memcpy(to + i * row, from + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
      });
    else
      for (std::int64_t i = 0; i < rows && bytes > 0; ++i)
        std::memcpy(to + i * row, from + i * bytes, static_cast<std::size_t>(bytes));
    to += bytes;
  }
  c.result[0] = result;
}
/// A part gets its slice of the gradient.
TT_INLINE void cat_derivative(const DerivativeStep& s) {
  const int axis = normalize_axis(static_cast<int>(s.attributes->value[0]), s.gradient[0].dim());
  std::int64_t start = 0;
  for (int k = 0; k < s.only; ++k) start += s.argument[k].size(axis);
  const Tensor& part = s.argument[s.only];
  s.out[s.only] = convert(s.gradient[0].slice(axis, start, start + part.size(axis), 1, s.at), part.dtype(), s.at);
}
TT_INLINE Operator& cat_operator() {
  static Operator& op = Dispatcher::get().define("cat", reinterpret_cast<const void*>(&record_cat), [](Operator& e) {
    e.variadic = true;
    e.attribute_names = "int dim=0";
    e.record = &record_cat;
    e.derivative = &cat_derivative;
    e.set_kernel(DispatchKey::cpu, &cat_kernel);
  });
  return op;
}

}  // namespace detail

TT_INLINE Tensor cat(std::span<const Tensor> parts, int dim, SourceLine at) {
  if (parts.empty()) TT_THROW(Error(Text("tt::cat: there is no Tensor to join.") << at));
  Attributes a;
  a.push(dim);
  const auto joined = [&](std::span<const Tensor> some) {
    const Tensor* argument[max_arguments];
    for (std::size_t k = 0; k < some.size(); ++k) argument[k] = &some[k];
    return detail::call_operator(detail::cat_operator(), argument, static_cast<int>(some.size()), a, at);
  };
  for (std::size_t k = max_arguments; k < parts.size(); ++k) {  // what does not fit the first part is named beside that one
    const int axis = normalize_axis(dim, parts[0].dim());
    bool fits = axis >= 0 && parts[k].defined() && parts[k].dim() == parts[0].dim();
    for (int j = 0; fits && j < parts[0].dim(); ++j) fits = j == axis || parts[k].size(j) == parts[0].size(j);
    if (!fits) return joined(std::vector<Tensor>{parts[0], parts[k]});
  }
  std::vector<Tensor> fewer;  // in groups of as many as an operator takes
  while (parts.size() > max_arguments) {
    std::vector<Tensor> groups;
    for (std::size_t k = 0; k < parts.size(); k += max_arguments)
      groups.push_back(joined(parts.subspan(k, std::min<std::size_t>(max_arguments, parts.size() - k))));
    fewer = static_cast<std::vector<Tensor>&&>(groups);
    parts = fewer;
  }
  return joined(parts);
}
TT_INLINE Tensor stack(std::span<const Tensor> parts, int dim, SourceLine at) {
  if (parts.empty()) TT_THROW(Error(Text("tt::stack: there is no Tensor to join.") << at));
  std::vector<Tensor> rows;
  for (const Tensor& t : parts) {
    if (!t.defined()) TT_THROW(Error(Text("tt::stack: argument ") << static_cast<std::int64_t>(&t - parts.data()) << " is an undefined Tensor." << at));
    if (rows.empty()) detail::axis_of(t, dim, "stack", at, t.dim() + 1);
    if (!(t.shape() == parts[0].shape()))
      TT_THROW(Error(Text("tt::stack: shapes differ: ") << parts[0].shape() << " and " << t.shape() << "." << at));
    rows.push_back(t.unsqueeze(dim, at));
  }
  return cat(std::span<const Tensor>(rows), dim, at);
}
TT_INLINE Tensor slice_scatter(const Tensor& base, const Tensor& part, int dim, std::int64_t start, SourceLine at) {
  const Tensor* argument[] = {&base, &part};
  Attributes a;
  a.push(dim);
  a.push(start);
  return detail::call_operator(detail::slice_scatter_operator(), argument, 2, a, at);
}
TT_INLINE Tensor tril(const Tensor& x, std::int64_t diagonal, SourceLine at) {
  Attributes a;
  a.push(diagonal);
  return detail::call_unary(detail::tril_operator(), x, a, at);
}
TT_INLINE Tensor triu(const Tensor& x, std::int64_t diagonal, SourceLine at) {
  Attributes a;
  a.push(diagonal);
  return detail::call_unary(detail::triu_operator(), x, a, at);
}

}  // namespace tt
