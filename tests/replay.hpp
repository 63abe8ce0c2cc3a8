// A graph run by hand: node by node through the dispatcher, as a program of eager ops would. What no
// eager op is (an index, a slice that runs backwards) is an operator registered here.
//   std::vector<Tensor> value = replay(graph, symbols, inputs);   value[node]
#pragma once
#include "evaluate.hpp"
#include "tt/tt.hpp"

namespace fuzz {

using tt::Tensor;

inline Tensor tensor_of(DType d, const Shape& shape, const Values& values) {
  Tensor t(d, shape);
  auto* to = static_cast<std::byte*>(t.data());
  const auto bytes = static_cast<std::size_t>(tt::size_of(d));
  for (std::size_t i = 0; i < values.size(); ++i) store_element(d, to + i * bytes, values[i]);
  return t;
}
inline Values values_of(const Tensor& given) {
  const Tensor t = given.detach().contiguous();
  Values v(static_cast<std::size_t>(t.numel()));
  const auto bytes = static_cast<std::size_t>(tt::size_of(t.dtype()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = load_element(t.dtype(), static_cast<const std::byte*>(t.data()) + i * bytes);
  return v;
}

/// A shape's extents as numbers.
inline Shape sizes(const Shape& s, const tt::SymbolValues& symbols) {
  Shape r;
  for (int k = 0; k < s.rank; ++k) r.push_back(s[k].value(symbols));
  return r;
}
/// A number of the program's text, also inside a captured function.
inline Tensor number(DType d, std::uint64_t bits) {
  Tensor t = tensor_of(d, {}, {bits});
  t.impl().is_number = true;
  return t;
}

namespace detail {

/// What an extent of products is in a call, as the program has it from its inputs: expressions, where the call is captured.
inline tt::Size size_of(Extent e, const std::vector<tt::Size>& symbols) {
  tt::Size n(e.coefficient());
  for (int k = 0; k < tt::max_symbols; ++k)
    for (int i = e.exponent(k); i > 0; --i) n *= symbols[static_cast<std::size_t>(k)];
  return n;
}
inline std::vector<tt::Size> sizes_of_symbols(const Graph& g, const tt::SymbolValues& symbols, const std::vector<Tensor>& input) {
  std::vector<tt::Size> size(symbols.value, symbols.value + tt::max_symbols);
  for (int k = 0; k < g.inputs.size(); ++k) {
    const Shape& s = g[g.inputs[k]].shape;
    for (int d = 0; d < s.rank; ++d)
      for (int j = 0; j < tt::max_symbols; ++j)
        if (s[d] == Extent::symbol(j)) size[static_cast<std::size_t>(j)] = input[static_cast<std::size_t>(k)].size(d);
  }
  return size;
}

inline bool has_none(const Tensor& x, const tt::IntList& dims) {
  for (std::int64_t k : dims)
    if (x.size(static_cast<int>(k)) == 0) return true;
  return false;
}
/// An error of the op, but softmax and its like reduce rows without elements.
inline Tensor largest_of_none(tt::Op op, const Tensor& x, const tt::IntList& dims) {
  tt::IntList sizes;
  for (int k = 0; k < x.dim(); ++k) {
    bool reduced = false;
    for (std::int64_t d : dims) reduced = reduced || d == k;
    sizes.push_back(reduced ? std::int64_t{1} : x.impl().shape.code[k]);
  }
  const Tensor number = tt::with_dtype(x.dtype(), [&]<class T>(T) {
    const T v = op == tt::Op::amax ? tt::detail::identity<tt::Op::amax, T>() : tt::detail::identity<tt::Op::amin, T>();
    if constexpr (std::is_floating_point_v<T>) return tt::tensor(static_cast<double>(v), {.dtype = x.dtype()});
    else return tt::tensor(static_cast<std::int64_t>(v), {.dtype = x.dtype()});
  });
  return number.expand(sizes).contiguous();
}

/// dtype, axis, shape; of the Tensor only the device counts.
inline void record_iota(Graph& g, const tt::Operator&, std::span<const int>, const tt::Attributes& a, int* out) {
  out[0] = g.iota(static_cast<DType>(a.value[0]), a.extents(2), static_cast<int>(a.value[1]));
}
inline void record_slice(Graph& g, const tt::Operator&, std::span<const int> in, const tt::Attributes& a, int* out) {
  out[0] = g.slice(in[0], static_cast<int>(a.value[0]), a.value[1], a.value[2], a.value[3]);
}
inline Tensor iota(const Tensor& like, DType d, int axis, const tt::IntList& s) {
  static tt::Operator& op = tt::detail::define_recorded("fuzz_iota", 1, &record_iota, "dtype dtype, int dim, int[] shape");
  return tt::call(op.name(), {like, d, axis, s});
}
inline Tensor slice(const Tensor& t, const tt::SliceAttribute& cut, std::int64_t length) {
  static tt::Operator& op =
      tt::detail::define_recorded("fuzz_slice", 1, &record_slice, "int dim, int start, int length, int step");
  return tt::call(cut.step > 0 ? "_slice" : op.name(), {t, cut.axis, cut.start.code, length, cut.step});
}

inline void record_window(Graph& g, const tt::Operator&, std::span<const int> in, const tt::Attributes& a, int* out) {
  out[0] = g.window(in[0], static_cast<int>(a.value[0]), a.value[1], a.value[2], a.value[3]);
}
inline Tensor window(const Tensor& t, const tt::WindowAttribute& w, std::int64_t size) {
  static tt::Operator& op =
      tt::detail::define_recorded("fuzz_window", 1, &record_window, "int dim, int size, int step, int dilation");
  if (w.dilation == 1) return t.unfold(w.axis, size, w.step);
  return tt::call(op.name(), {t, w.axis, size, w.step, w.dilation});
}

inline void record_second(Graph&, const tt::Operator&, std::span<const int> in, const tt::Attributes&, int* out) { out[0] = in[1]; }
/// Inside a captured function ops on numbers alone would be run, and what they give refused: so one is recorded, as an op of it
/// and of `any`, which is.
inline bool record_number(const std::vector<Tensor>& value, tt::Ids operands, const Tensor& any, std::vector<Tensor>& recorded) {
  static tt::Operator& second = tt::detail::define_recorded("fuzz_second", 2, &record_second, "");
  if (!tt::detail::capture_mode || !tt::detail::capture_mode->hears_of_factories()) return false;  // where graphs end
  for (int o : operands)
    if (value[static_cast<std::size_t>(o)].impl().trace_id >= 0) return false;
  recorded = value;
  for (int o : operands)
    if (Tensor& t = recorded[static_cast<std::size_t>(o)]; t.impl().trace_id < 0) t = tt::call(second.name(), {any, t});
  return true;
}

inline Tensor replay_node(const Graph& g, int i, const std::vector<tt::Size>& symbols, const std::vector<Tensor>& value,
                          const Tensor& any) {
  const tt::Node& n = g[i];
  tt::IntList shape;
  for (int k = 0; k < n.shape.rank; ++k) shape.push_back(size_of(n.shape[k], symbols));
  const auto operand = [&](int k) -> const Tensor& { return value[static_cast<std::size_t>(n.operand[k])]; };
  switch (n.op) {
    case Op::constant: return number(n.dtype, n.bits);
    case Op::extent:
      return tt::detail::TensorOperand(size_of(Extent::from_code(n.attribute), symbols)).number(n.dtype);
    case Op::iota: return iota(any, n.dtype, static_cast<int>(n.attribute), shape);
    case Op::copy: return operand(0).clone();
    case Op::cast: return operand(0).to(n.dtype);
    case Op::bitcast: return tt::call("bitcast", {operand(0), n.dtype});
    case Op::detach: return operand(0).detach();
    case Op::broadcast: return operand(0).expand(shape);
    case Op::reshape: return operand(0).reshape(shape);
    case Op::permute: {
      tt::IntList axes;
      for (int k = 0; k < n.shape.rank; ++k) axes.push_back(g.permuted_axis(n, k));
      return operand(0).permute(axes);
    }
    case Op::slice: {
      const auto cut = g.attributes<tt::SliceAttribute>(n);
      return slice(operand(0), cut, shape[cut.axis]);
    }
    case Op::window: {
      const auto w = g.attributes<tt::WindowAttribute>(n);
      return window(operand(0), w, shape[n.shape.rank - 1]);
    }
    case Op::pad: {
      const auto p = g.attributes<tt::PadAttribute>(n);
      tt::IntList sizes;
      for (int k = shape.size() - 1, last = p.axis[0] < p.axis[1] ? p.axis[0] : p.axis[1]; k >= last; --k) {
        sizes.push_back(p.along(k).code);
        sizes.push_back(shape[k] - operand(0).size(k) - p.along(k).code);
      }
      return tt::call("pad", {operand(0), sizes, tt::decode(n.dtype, n.bits)});
    }
    case Op::slice_scatter: {
      const auto p = g.attributes<tt::PadAttribute>(n);
      return tt::call("slice_scatter", {operand(0), operand(1), p.axis[0], p.before[0].code});
    }
    case Op::conv: {
      const auto c = g.attributes<tt::ConvAttribute>(n);
      return tt::call("conv2d", {operand(0), operand(1), tt::none, {c.stride[0], c.stride[1]}, {c.padding[0], c.padding[1]}, {c.dilation[0], c.dilation[1]},
                                 operand(0).size(1) / operand(1).size(1)});
    }
    case Op::sum: case Op::amax: case Op::amin: {
      tt::IntList dims;
      for (int k = 0; k < n.shape.rank; ++k)
        if (n.attribute >> k & 1) dims.push_back(k);
      if (n.op != Op::sum && has_none(operand(0), dims)) return largest_of_none(n.op, operand(0), dims);
      return tt::call(tt::name(n.op), {operand(0), dims, true});
    }
    default: break;
  }
  const char* const name = n.op == Op::call ? n.def->info.name : tt::name(n.op);
  if (tt::is_shift(n.op)) return tt::call(name, {operand(0), n.attribute});
  const int count = n.op == Op::call ? n.def->info.arity : tt::arity(n.op);
  if (count == 1) return tt::call(name, {operand(0)});
  if (count == 2) return tt::call(name, {operand(0), operand(1)});
  return tt::call(name, {operand(0), operand(1), operand(2)});
}

inline Tensor call_composite(const Program::Composite& c, const Tensor& operand) {
  int dim = 0;  // of all of them: one axis
  while (!(c.axes >> dim & 1)) ++dim;
  if (std::string_view(c.name).ends_with("softmax")) return tt::call(c.name, {operand, dim});
  return tt::call(c.name, {operand, dim, c.keepdim});
}

}  // namespace detail

/// The Tensor of every node that `roots` need. Each of `composites` is one call instead of its nodes.
inline std::vector<Tensor> replay(const Graph& g, const tt::SymbolValues& symbols, const std::vector<Tensor>& input,
                                  const tt::Vec<int>& roots, const tt::Vec<Program::Composite>& composites = {}) {
  static const int operators = tt::register_all_ops();
  (void)operators;
  std::vector<Tensor> value(static_cast<std::size_t>(g.size()));
  const std::vector<tt::Size> size = detail::sizes_of_symbols(g, symbols, input);
  for (int k = 0; k < g.inputs.size(); ++k) value[static_cast<std::size_t>(g.inputs[k])] = input[static_cast<std::size_t>(k)];
  for (int i : tt::post_order(g, roots))
    if (!value[static_cast<std::size_t>(i)].defined()) {
      for (const Program::Composite& c : composites)
        if (c.result == i && c.operand < i)
          value[static_cast<std::size_t>(i)] = detail::call_composite(c, value[static_cast<std::size_t>(c.operand)]);
      if (value[static_cast<std::size_t>(i)].defined()) continue;
      std::vector<Tensor> recorded;
      const bool numbers = !tt::is_leaf(g[i].op) && detail::record_number(value, g.operands(i), input[0], recorded);
      value[static_cast<std::size_t>(i)] = detail::replay_node(g, i, size, numbers ? recorded : value, input[0]);
    }
  return value;
}

}  // namespace fuzz
