// Registers by name the functions that reshape, join and create Tensors, with PyTorch's schemas. See register_function.
#pragma once
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/function_forms.hpp"
#include "tt/dispatch/random.hpp"
#include "tt/dispatch/shape_functions_inl.hpp"

namespace tt {
namespace detail {

using Line = SourceLine;
using OptionalDType = Optional<DType>;
/// TensorOptions from the arguments that all factories have.
inline TensorOptions made_with(OptionalDType d, Device device, bool requires_grad, DType otherwise = DType::f32) {
  TensorOptions o = on_device(d.given ? d.value : otherwise, device);
  if (requires_grad) o.requires_grad = true;
  return o;
}
inline TensorOptions made_like(const Tensor& x, OptionalDType d, Device device, bool requires_grad) {
  return made_with(d, device == Device{} ? x.device() : device, requires_grad, x.dtype());
}
/// Registers a factory: its schema, followed by the arguments that all factories have.
template <class F>
void create(const char* name, const char* schema, F f) {
  const Text all = Text(schema) << ", dtype? dtype=None, str device=cpu, bool requires_grad=False";
  register_function(name, keep_text(all.begin(), static_cast<std::size_t>(all.size())), f);
}
/// An operand as a double. Throws Error for an integer that f64 cannot hold.
inline double real_of(const TensorOperand& v, Line at) {
  if (v.tensor) return v.tensor->item(at);
  if (is_floating(v.literal)) return v.real;
  const auto real = static_cast<double>(v.integer);
  if (v.integer > std::int64_t{1} << 53 || v.integer < -(std::int64_t{1} << 53)) TT_THROW(Error(Text("tt::call: ") << v.integer << " is more than f64 counts to. A number within 2^53?" << at));
  return real;
}
inline bool is_whole(const TensorOperand& v) { return !is_floating(v.tensor ? v.tensor->dtype() : v.literal); }
inline std::int64_t integer_of(const TensorOperand& v, Line at) { return v.tensor ? v.tensor->item<std::int64_t>(at) : v.integer; }
template <class = void>
Tensor full_of(const IntList& s, const TensorOperand& v, const TensorOptions& o, Line at) {
  return is_whole(v) ? full(s, integer_of(v, at), o, at) : full(s, real_of(v, at), o, at);
}
template <class = void>
Tensor converted(const Tensor& x, OptionalDType d, Line at) { return d.given ? x.to(d.value, at) : x; }

template <class F, class R, class... A>
void register_copy(const char* name, const char* schema, F, R (F::*)(A...) const) {
  register_function(name, schema, [](A... a) {
    R r = F{}(a...);
    if constexpr (std::is_same_v<R, Tensor>) r = r.clone();
    else
      for (Tensor& t : r) t = t.clone();
    return r;
  });
}

/// Registers a view, and its copy under the copy's name.
template <class F>
void view_and_copy(const char* name, const char* copy_name, const char* schema, F f) {
  register_function(name, schema, f);
  register_copy(copy_name, schema, f, &F::operator());
}
template <class = void>
void register_views() {
  register_function("narrow", "Tensor input, int dim, int start, int length", [](const Tensor& x, int d, std::int64_t s, std::int64_t n, Line at) { return narrow(x, d, s, n, at); });
  register_function("narrow", "Tensor input, int dim, Tensor start, int length", [](const Tensor& x, int d, const Tensor& s, std::int64_t n, Line at) { return narrow(x, d, s, n, at); });
  register_function("narrow_copy", "Tensor input, int dim, int start, int length", [](const Tensor& x, int d, std::int64_t s, std::int64_t n, Line at) { return narrow(x, d, s, n, at).clone(at); });
  view_and_copy("transpose", "transpose_copy", "Tensor input, int dim0, int dim1", [](const Tensor& x, int a, int b, Line at) { return swapaxes(x, a, b, at); });
  register_function("swapaxes", "Tensor input, int axis0, int axis1", [](const Tensor& x, int a, int b, Line at) { return swapaxes(x, a, b, at); });
  register_function("swapdims", "Tensor input, int dim0, int dim1", [](const Tensor& x, int a, int b, Line at) { return swapaxes(x, a, b, at); });
  view_and_copy("t", "t_copy", "Tensor input", [](const Tensor& x, Line at) { return x.t(at); });
  const auto last_two = [](const Tensor& x, Line at) { return x.transpose(-2, -1, at); };
  static constexpr auto reversed = [](const Tensor& x, Line at) {
    IntList order;
    for (int k = x.dim(); k-- > 0;) order.push_back(k);
    return x.permute(order, at);
  };
  register_function("T", "Tensor input", reversed);
  register_function("H", "Tensor input", [](const Tensor& x, Line at) {
    if (x.dim() != 2 && x.dim() != 0) refuse("H", "not a matrix", x, at);
    return reversed(x, at);
  });
  for (const char* name : {"mT", "mH", "adjoint"}) register_function(name, "Tensor input", last_two);
  for (const char* name : {"movedim", "moveaxis"})
    register_function(name, "Tensor input, int[] source, int[] destination", [](const Tensor& x, const IntList& s, const IntList& d, Line at) { return movedim(x, s, d, at); });
  view_and_copy("squeeze", "squeeze_copy", "Tensor input", [](const Tensor& x, Line at) { return squeeze(x, {}, at); });
  view_and_copy("squeeze", "squeeze_copy", "Tensor input, int[] dim", [](const Tensor& x, const IntList& d, Line at) { return d.size() ? squeeze(x, d, at) : x; });
  view_and_copy("unsqueeze", "unsqueeze_copy", "Tensor input, int dim", [](const Tensor& x, int d, Line at) { return x.unsqueeze(d, at); });
  view_and_copy("select", "select_copy", "Tensor input, int dim, int index", [](const Tensor& x, int d, std::int64_t i, Line at) { return x.select(d, i, at); });
  register_function("flatten", "Tensor input, int start_dim=0, int end_dim=-1", [](const Tensor& x, int s, int e, Line at) { return flatten(x, s, e, at); });
  register_function("ravel", "Tensor input", [](const Tensor& x, Line at) { return ravel(x, at); });
  register_function("unflatten", "Tensor input, int dim, int[] sizes", [](const Tensor& x, int d, const IntList& s, Line at) { return unflatten(x, d, s, at); });
  register_function("view", "Tensor input, int[] size", [](const Tensor& x, const IntList& s, Line at) { return x.view(s, at); });
  register_function("view_copy", "Tensor input, int[] size", [](const Tensor& x, const IntList& s, Line at) {
    const Tensor r = x.reshape(s, at);
    return r.shares_storage(x) ? r.clone(at) : r;
  });
  view_and_copy("view", "view_copy", "Tensor input, dtype dtype", [](const Tensor& x, DType d, Line at) { return viewed_as(x, d, at); });
  register_function("view_as", "Tensor input, Tensor other", [](const Tensor& x, const Tensor& o, Line at) { return x.view(o.shape(at), at); });
  register_function("reshape_as", "Tensor input, Tensor other", [](const Tensor& x, const Tensor& o, Line at) { return x.reshape(o.shape(at), at); });
  register_function("expand_as", "Tensor input, Tensor other", [](const Tensor& x, const Tensor& o, Line at) { return x.expand(o.shape(at), at); });
  register_function("expand_copy", "Tensor input, int[] size", [](const Tensor& x, const IntList& s, Line at) { return x.expand(s, at).clone(at); });
  register_function("permute_copy", "Tensor input, int[] dims", [](const Tensor& x, const IntList& s, Line at) { return x.permute(s, at).clone(at); });
  register_function("broadcast_to", "Tensor input, int[] size", [](const Tensor& x, const IntList& s, Line at) { return x.expand(s, at); });
  register_function("broadcast_tensors", "Tensor[] tensors", [](const TensorList& l, Line at) { return broadcast_tensors(l, at); });
  view_and_copy("split", "split_copy", "Tensor input, int split_size_or_sections, int dim=0", [](const Tensor& x, std::int64_t n, int d, Line at) { return split(x, n, d, at); });
  register_function("split", "Tensor input, int split_size, int dim=0", [](const Tensor& x, std::int64_t n, int d, Line at) { return split(x, n, d, at); });
  register_function("split", "Tensor input, int[] split_size_or_sections, int dim=0", [](const Tensor& x, const IntList& n, int d, Line at) { return split(x, n, d, at); });
  view_and_copy("split_with_sizes", "split_with_sizes_copy", "Tensor input, int[] split_sizes, int dim=0", [](const Tensor& x, const IntList& n, int d, Line at) { return split(x, n, d, at); });
  register_function("unsafe_split", "Tensor input, int split_size, int dim=0", [](const Tensor& x, std::int64_t n, int d, Line at) { return split(x, n, d, at); });
  for (const char* name : {"chunk", "unsafe_chunk"})
    register_function(name, "Tensor input, int chunks, int dim=0", [](const Tensor& x, int n, int d, Line at) { return chunk(x, n, d, at); });
  register_function("tensor_split", "Tensor input, int indices_or_sections, int dim=0", [](const Tensor& x, int n, int d, Line at) { return tensor_split(x, n, d, at); });
  register_function("tensor_split", "Tensor input, int[] indices_or_sections, int dim=0", [](const Tensor& x, const IntList& n, int d, Line at) { return tensor_split(x, n, d, at); });
  register_function("tensor_split", "Tensor input, Tensor tensor_indices_or_sections, int dim=0", [](const Tensor& x, const Tensor& t, int d, Line at) { return tensor_split(x, t, d, at); });
  view_and_copy("unbind", "unbind_copy", "Tensor input, int dim=0", [](const Tensor& x, int d, Line at) { return unbind(x, d, at); });
  const auto split_by = [](const char* name, auto sections, auto places) {
    register_function(name, "Tensor input, int indices_or_sections", sections);
    register_function(name, "Tensor input, int[] indices_or_sections", places);
  };
  split_by("hsplit", [](const Tensor& x, int n, Line at) { return hsplit(x, n, at); }, [](const Tensor& x, const IntList& n, Line at) { return hsplit(x, n, at); });
  split_by("vsplit", [](const Tensor& x, int n, Line at) { return vsplit(x, n, at); }, [](const Tensor& x, const IntList& n, Line at) { return vsplit(x, n, at); });
  split_by("dsplit", [](const Tensor& x, int n, Line at) { return dsplit(x, n, at); }, [](const Tensor& x, const IntList& n, Line at) { return dsplit(x, n, at); });
  for (const char* name : {"diagonal", "linalg_diagonal"}) {
    const bool of_matrices = name[0] == 'l';
    if (of_matrices) register_function(name, "Tensor A, int offset=0, int dim1=-2, int dim2=-1", [](const Tensor& x, int o, int a, int b, Line at) { return diagonal(x, o, a, b, at); });
    else view_and_copy(name, "diagonal_copy", "Tensor input, int offset=0, int dim1=0, int dim2=1", [](const Tensor& x, int o, int a, int b, Line at) { return diagonal(x, o, a, b, at); });
  }
  view_and_copy("as_strided", "as_strided_copy", "Tensor input, int[] size, int[] stride, int? storage_offset=None",
                [](const Tensor& x, const IntList& s, const IntList& t, Optional<std::int64_t> o, Line at) { return as_strided(x, s, t, o, at); });
  register_function("slice", "Tensor input, int dim=0, int? start=None, int? end=None, int step=1", [](const Tensor& x, int d, Optional<std::int64_t> s, Optional<std::int64_t> e, std::int64_t step, Line at) {
    return x.slice(d, s.given ? s.value : 0, e.given ? e.value : INT64_MAX, step, at);
  });
  register_function("copy", "Tensor input, Tensor src, bool non_blocking=False", [](const Tensor& x, const Tensor& src, bool, Line at) { return src.to(x.dtype(), at).to(x.device(), false, at).expand(x.shape(at), at).clone(at); });
  register_function("copy_", "Tensor input, Tensor src, bool non_blocking=False", [](const Tensor& x, const Tensor& src, bool, Line at) {
    Tensor to = x;
    return to.copy_(src, at);
  });
  register_function("unfold_copy", "Tensor input, int dimension, int size, int step", [](const Tensor& x, int d, std::int64_t s, std::int64_t step, Line at) {
    return x.dim() ? x.unfold(d, s, step, at).clone(at) : x.reshape({1}, at).unfold(0, s, step, at).select(0, 0, at).clone(at);
  });
  for (const char* name : {"contiguous", "alias_copy", "positive", "real", "conj", "conj_physical", "resolve_conj", "resolve_neg", "alias"})
    register_function(name, "Tensor input", [](const Tensor& x, Line at) { return x.contiguous(at); });
  register_function("atleast_1d", "Tensor input", [](const Tensor& x, Line at) { return at_least(x, 1, at); });
  register_function("atleast_1d", "Tensor[] tensors", [](const TensorList& l, Line at) { return each_at_least(l, 1, at); });
  register_function("atleast_2d", "Tensor input", [](const Tensor& x, Line at) { return at_least(x, 2, at); });
  register_function("atleast_2d", "Tensor[] tensors", [](const TensorList& l, Line at) { return each_at_least(l, 2, at); });
  register_function("atleast_3d", "Tensor input", [](const Tensor& x, Line at) { return at_least(x, 3, at); });
  register_function("atleast_3d", "Tensor[] tensors", [](const TensorList& l, Line at) { return each_at_least(l, 3, at); });
}

template <class = void>
void register_joins() {
  for (const char* name : {"concat", "concatenate"}) register_function(name, "Tensor[] tensors, int dim=0", [](const TensorList& l, int d, Line at) { return cat(l, d, at); });
  register_function("hstack", "Tensor[] tensors", [](const TensorList& l, Line at) { return hstack(l, at); });
  for (const char* name : {"vstack", "row_stack"}) register_function(name, "Tensor[] tensors", [](const TensorList& l, Line at) { return vstack(l, at); });
  register_function("dstack", "Tensor[] tensors", [](const TensorList& l, Line at) { return dstack(l, at); });
  register_function("column_stack", "Tensor[] tensors", [](const TensorList& l, Line at) { return column_stack(l, at); });
  register_function("meshgrid", "Tensor[] tensors, str indexing=ij", [](const TensorList& l, const std::string& i, Line at) { return meshgrid(l, i, at); });
  register_function("cartesian_prod", "Tensor[] tensors", [](const TensorList& l, Line at) { return cartesian_prod(l, at); });
  register_function("combinations", "Tensor input, int r=2, bool with_replacement=False", [](const Tensor& x, int r, bool w, Line at) { return combinations(x, r, w, at); });
  register_function("repeat", "Tensor input, int[] repeats", [](const Tensor& x, const IntList& n, Line at) { return repeat(x, n, at); });
  register_function("tile", "Tensor input, int[] dims", [](const Tensor& x, const IntList& n, Line at) { return tile(x, n, at); });
  register_function("repeat_interleave", "Tensor input, int repeats, int? dim=None, int? output_size=None",
                    [](const Tensor& x, std::int64_t n, Optional<int> d, Optional<std::int64_t> size, Line at) { return repeat_interleave(x, n, d, size, at); });
  register_function("repeat_interleave", "Tensor input, Tensor repeats, int? dim=None, int? output_size=None",
                    [](const Tensor& x, const Tensor& n, Optional<int> d, Optional<std::int64_t> size, Line at) { return repeat_interleave(x, n, d, size, at); });
  register_function("flip", "Tensor input, int[] dims", [](const Tensor& x, const IntList& d, Line at) { return flip(x, d, at); });
  register_function("roll", "Tensor input, int[] shifts, int[] dims=[]", [](const Tensor& x, const IntList& s, const IntList& d, Line at) { return roll(x, s, d, at); });
  register_function("pad", "Tensor input, int[] pad, constant|reflect|replicate|circular mode=constant, float? value=None",
                    [](const Tensor& x, const IntList& p, int m, Optional<double> v, Line at) { return pad(x, p, static_cast<PadMode>(m), v.given ? v.value : 0, at); });
  register_function("constant_pad_nd", "Tensor input, int[] pad, Scalar value=0", [](const Tensor& x, const IntList& p, const TensorOperand& v, Line at) { return pad(x, p, PadMode::constant, real_of(v, at), at); });
  register_function("fliplr", "Tensor input", [](const Tensor& x, Line at) { return fliplr(x, at); });
  register_function("flipud", "Tensor input", [](const Tensor& x, Line at) { return flipud(x, at); });
  register_function("rot90", "Tensor input, int k=1, int[] dims=[0, 1]", [](const Tensor& x, int k, const IntList& d, Line at) { return rot90(x, k, d, at); });
  register_function("diag", "Tensor input, int diagonal=0", [](const Tensor& x, int d, Line at) { return diag(x, d, at); });
  register_function("diagflat", "Tensor input, int offset=0", [](const Tensor& x, int o, Line at) { return diagflat(x, o, at); });
  register_function("diag_embed", "Tensor input, int offset=0, int dim1=-2, int dim2=-1", [](const Tensor& x, int o, int a, int b, Line at) { return diag_embed(x, o, a, b, at); });
  register_function("select_scatter", "Tensor input, Tensor src, int dim, int index", [](const Tensor& x, const Tensor& s, int d, std::int64_t i, Line at) { return select_scatter(x, s, d, i, at); });
  register_function("diagonal_scatter", "Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1", [](const Tensor& x, const Tensor& s, int o, int a, int b, Line at) { return diagonal_scatter(x, s, o, a, b, at); });
  register_function("slice_scatter", "Tensor input, Tensor src, int dim=0, int? start=None, int? end=None, int step=1",
                    [](const Tensor& x, const Tensor& s, int d, Optional<std::int64_t> b, Optional<std::int64_t> e, std::int64_t step, Line at) {
    return slice_scatter(x, s, d, b.given ? b.value : 0, e.given ? e.value : INT64_MAX, step, at);
  });
  register_function("sum_to_size", "Tensor input, int[] size", [](const Tensor& x, const IntList& s, Line at) { return sum_to_size(x, s, at); });
}

template <class = void>
void register_creation() {
  const auto shaped = [](const char* name, auto make) { create(name, "int[] size", make); };
  shaped("zeros", [](const IntList& s, OptionalDType d, Device v, bool g, Line at) { return zeros(s, made_with(d, v, g), at); });
  shaped("ones", [](const IntList& s, OptionalDType d, Device v, bool g, Line at) { return ones(s, made_with(d, v, g), at); });
  shaped("empty", [](const IntList& s, OptionalDType d, Device v, bool g, Line) { return empty(s, made_with(d, v, g)); });
  shaped("rand", [](const IntList& s, OptionalDType d, Device v, bool g, Line at) { return rand(s, made_with(d, v, g), at); });
  shaped("randn", [](const IntList& s, OptionalDType d, Device v, bool g, Line at) { return randn(s, made_with(d, v, g), at); });
  create("full", "int[] size, Scalar fill_value", [](const IntList& s, const TensorOperand& v, OptionalDType d, Device w, bool g, Line at) {
    return full_of(s, v, made_with(d, w, g, number_of(v).dtype()), at);
  });
  create("scalar_tensor", "Scalar s", [](const TensorOperand& v, OptionalDType d, Device w, bool g, Line at) { return full_of({}, v, made_with(d, w, g), at); });
  create("empty_strided", "int[] size, int[] stride", [](const IntList& s, const IntList& t, OptionalDType d, Device v, bool, Line at) { return empty_strided(s, t, made_with(d, v, false), at); });
  create("empty_permuted", "int[] size, int[] physical_layout", [](const IntList& s, const IntList& p, OptionalDType d, Device v, bool, Line at) {
    return empty_permuted(s, p, made_with(d, v, false), at);
  });
  const auto like = [](const char* name, auto make) { create(name, "Tensor input", make); };
  like("zeros_like", [](const Tensor& x, OptionalDType d, Device v, bool g, Line at) { return zeros(x.shape(at), made_like(x, d, v, g), at); });
  like("ones_like", [](const Tensor& x, OptionalDType d, Device v, bool g, Line at) { return ones(x.shape(at), made_like(x, d, v, g), at); });
  like("empty_like", [](const Tensor& x, OptionalDType d, Device v, bool g, Line at) { return empty(x.shape(at), made_like(x, d, v, g)); });
  like("rand_like", [](const Tensor& x, OptionalDType d, Device v, bool g, Line at) { return rand(x.shape(at), made_like(x, d, v, g), at); });
  like("randn_like", [](const Tensor& x, OptionalDType d, Device v, bool g, Line at) { return randn(x.shape(at), made_like(x, d, v, g), at); });
  create("full_like", "Tensor input, Scalar fill_value", [](const Tensor& x, const TensorOperand& n, OptionalDType d, Device v, bool g, Line at) {
    return full_of(x.shape(at), n, made_like(x, d, v, g), at);
  });
  const auto anew = [](const char* name, auto make) { create(name, "Tensor input, int[] size", make); };
  anew("new_zeros", [](const Tensor& x, const IntList& s, OptionalDType d, Device v, bool g, Line at) { return zeros(s, made_like(x, d, v, g), at); });
  anew("new_ones", [](const Tensor& x, const IntList& s, OptionalDType d, Device v, bool g, Line at) { return ones(s, made_like(x, d, v, g), at); });
  anew("new_empty", [](const Tensor& x, const IntList& s, OptionalDType d, Device v, bool g, Line at) { (void)at; return empty(s, made_like(x, d, v, g)); });
  create("new_full", "Tensor input, int[] size, Scalar fill_value", [](const Tensor& x, const IntList& s, const TensorOperand& n, OptionalDType d, Device v, bool g, Line at) {
    return full_of(s, n, made_like(x, d, v, g), at);
  });
  create("new_empty_strided", "Tensor input, int[] size, int[] stride", [](const Tensor& x, const IntList& s, const IntList& t, OptionalDType d, Device v, bool, Line at) { return empty_strided(s, t, made_like(x, d, v, false), at); });
  static constexpr auto numbers = [](const TensorOperand& start, const TensorOperand& end, const TensorOperand& step, OptionalDType d, Device v, bool g, Line at) {
    const DType own = is_floating(promote(promote(number_of(start).dtype(), number_of(end).dtype()), number_of(step).dtype())) ? DType::f32 : DType::i64;
    if (is_whole(start) && is_whole(end) && is_whole(step)) return arange_of_integers(integer_of(start, at), integer_of(end, at), integer_of(step, at), made_with(d, v, g, own), at);
    return tt::arange(real_of(start, at), real_of(end, at), real_of(step, at), made_with(d, v, g, own), at);
  };
  create("arange", "Scalar end", [](const TensorOperand& e, OptionalDType d, Device v, bool g, Line at) { return numbers(std::int64_t{0}, e, std::int64_t{1}, d, v, g, at); });
  create("arange", "Scalar start, Scalar end", [](const TensorOperand& s, const TensorOperand& e, OptionalDType d, Device v, bool g, Line at) { return numbers(s, e, std::int64_t{1}, d, v, g, at); });
  create("arange", "Scalar start, Scalar end, Scalar step",
         [](const TensorOperand& s, const TensorOperand& e, const TensorOperand& t, OptionalDType d, Device v, bool g, Line at) { return numbers(s, e, t, d, v, g, at); });
  create("linspace", "Scalar start, Scalar end, int steps", [](const TensorOperand& s, const TensorOperand& e, std::int64_t n, OptionalDType d, Device v, bool g, Line at) {
    return linspace(real_of(s, at), real_of(e, at), n, made_with(d, v, g), at);
  });
  create("logspace", "Scalar start, Scalar end, int steps, float base=10.0", [](const TensorOperand& s, const TensorOperand& e, std::int64_t n, double base, OptionalDType d, Device v, bool g, Line at) {
    return logspace(real_of(s, at), real_of(e, at), n, base, made_with(d, v, g), at);
  });
  create("eye", "int n", [](std::int64_t n, OptionalDType d, Device v, bool g, Line at) { return eye(n, made_with(d, v, g), at); });
  create("eye", "int n, int m", [](std::int64_t n, std::int64_t m, OptionalDType d, Device v, bool g, Line at) { return eye(n, m, made_with(d, v, g), at); });
  create("tril_indices", "int row, int col, int offset=0", [](std::int64_t r, std::int64_t c, std::int64_t o, OptionalDType d, Device v, bool, Line at) { return converted(tril_indices(r, c, o, at), d, at).to(v, false, at); });
  create("triu_indices", "int row, int col, int offset=0", [](std::int64_t r, std::int64_t c, std::int64_t o, OptionalDType d, Device v, bool, Line at) { return converted(triu_indices(r, c, o, at), d, at).to(v, false, at); });
  create("randint", "int high, int[] size", [](std::int64_t h, const IntList& s, OptionalDType d, Device v, bool, Line at) { return randint(0, h, s, default_generator(), made_with(d, v, false, DType::i64), at); });
  create("randint", "int low, int high, int[] size",
         [](std::int64_t l, std::int64_t h, const IntList& s, OptionalDType d, Device v, bool, Line at) { return randint(l, h, s, default_generator(), made_with(d, v, false, DType::i64), at); });
  create("randint_like", "Tensor input, int high", [](const Tensor& x, std::int64_t h, OptionalDType d, Device v, bool, Line at) { return randint(0, h, x.shape(at), default_generator(), made_like(x, d, v, false), at); });
  create("randint_like", "Tensor input, int low, int high",
         [](const Tensor& x, std::int64_t l, std::int64_t h, OptionalDType d, Device v, bool, Line at) { return randint(l, h, x.shape(at), default_generator(), made_like(x, d, v, false), at); });
  register_function("normal", "Tensor mean, Tensor std", [](const Tensor& m, const Tensor& s, Line at) { return normal(m, s, default_generator(), at); });
  register_function("normal", "Tensor mean, float std=1", [](const Tensor& m, double s, Line at) { return normal(m, s, default_generator(), at); });
  register_function("normal", "float mean, Tensor std", [](double m, const Tensor& s, Line at) { return normal(m, s, default_generator(), at); });
  create("normal", "float mean, float std, int[] size", [](double m, double s, const IntList& n, OptionalDType d, Device v, bool, Line at) { return randn(n, made_with(d, v, false), at) * s + m; });
  create("randperm", "int n", [](std::int64_t n, OptionalDType d, Device v, bool, Line at) { return converted(randperm(n, default_generator(), at), d, at).to(v, false, at); });
  register_function("multinomial", "Tensor input, int num_samples, bool replacement=False", [](const Tensor& p, std::int64_t n, bool r, Line at) { return multinomial(p, n, r, default_generator(), at); });
  register_function("poisson", "Tensor input", [](const Tensor& x, Line at) { return poisson(x, default_generator(), at); });
  register_function("random_", "Tensor input, int from, int? to", [](Tensor x, std::int64_t from, Optional<std::int64_t> to, Line at) { return to.given ? x.random_(from, to.value, at) : x.random_(at); });
  register_function("random_", "Tensor input, int to", [](Tensor x, std::int64_t to, Line at) { return x.random_(to, at); });
  // input is the Tensor that is overwritten, not the mean as in normal(mean, std).
  register_function("normal_", "Tensor input, float mean=0, float std=1", [](Tensor x, double m, double s, Line at) { return x.normal_(m, s, at); });
  register_function("random_", "Tensor input", [](Tensor x, Line at) { return x.random_(at); });
  register_function("uniform", "Tensor input, float from=0, float to=1", [](const Tensor& x, double a, double b, Line at) { return rand_like(x.detach(), default_generator(), at) * (b - a) + a; });
  register_function("exponential", "Tensor input, float lambd=1", [](const Tensor& x, double l, Line at) { return exponential_like(x, l, default_generator(), at); });
  register_function("geometric", "Tensor input, float p", [](const Tensor& x, double p, Line at) { return geometric_like(x, p, default_generator(), at); });
  register_function("log_normal", "Tensor input, float mean=1, float std=2", [](const Tensor& x, double m, double s, Line at) { return log_normal_like(x, m, s, default_generator(), at); });
  register_function("cauchy", "Tensor input, float median=0, float sigma=1", [](const Tensor& x, double m, double s, Line at) { return cauchy_like(x, m, s, default_generator(), at); });
  register_function("bernoulli", "Tensor input", [](const Tensor& x, Line at) { return bernoulli(x, default_generator(), at); });
  register_function("bernoulli", "Tensor input, float p", [](const Tensor& x, double p, Line at) { return bernoulli(full(x.shape(at), p, on_device(x.dtype(), x.device())), default_generator(), at); });
  const auto cast_to = [](const char* name, auto dtype) {
    register_function(name, "Tensor input", [](const Tensor& x, Line at) { return x.to(decltype(dtype)::value, at); });
  };
  cast_to("bool", std::integral_constant<DType, DType::boolean>{});
  cast_to("byte", std::integral_constant<DType, DType::u8>{});
  cast_to("char", std::integral_constant<DType, DType::i8>{});
  cast_to("short", std::integral_constant<DType, DType::i16>{});
  cast_to("int", std::integral_constant<DType, DType::i32>{});
  cast_to("long", std::integral_constant<DType, DType::i64>{});
  cast_to("half", std::integral_constant<DType, DType::f16>{});
  cast_to("bfloat16", std::integral_constant<DType, DType::bf16>{});
  cast_to("float", std::integral_constant<DType, DType::f32>{});
  cast_to("double", std::integral_constant<DType, DType::f64>{});
}

template <class = void>
void register_shape_functions() {
  register_views();
  register_joins();
  register_creation();
}

}  // namespace detail
}  // namespace tt
