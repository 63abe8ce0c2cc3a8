// Registers by name elementwise and reduction functions, order statistics, and functions of elements by index, with PyTorch's schemas. See register_function.
#pragma once
#include "tt/dispatch/index_functions_inl.hpp"
#include "tt/dispatch/reduction_functions_inl.hpp"
#include "tt/dispatch/shape_names_inl.hpp"

namespace tt {
namespace detail {

template <class = void>
Tensor in_f64(const TensorOperand& v, Line at) { return v.tensor ? v.tensor->to(DType::f64, at) : full({}, real_of(v, at), TensorOptions{.dtype = DType::f64}); }
/// A lower bound beside `x`; for u8 a negative scalar is replaced by 0, the least element.
template <class = void>
Tensor lower_bound(const TensorOperand& v, const Tensor& x) {
  const bool below = !v.tensor && x.dtype() == DType::u8 && v.integer < 0 && !is_floating(v.literal);
  return below ? TensorOperand(0).number(x.dtype()) : v.beside(x);
}
/// The gradient for a scalar bound differs from that for a Tensor, see clamp_min.
template <class = void>
Tensor bounded_below(const Tensor& x, const TensorOperand& low, Line at) { return low.tensor ? clamp_min(x, *low.tensor, at) : call<ClampMin>(at, x, lower_bound(low, x)); }
template <class = void>
Tensor bounded_above(const Tensor& x, const TensorOperand& high, Line at) { return high.tensor ? clamp_max(x, *high.tensor, at) : call<ClampMax>(at, x, high.beside(x)); }
template <class = void>
Tensor clamped(const Tensor& x, const OptionalOperand& low, const OptionalOperand& high, Line at) {
  if (!low.given && !high.given) TT_THROW(Error(Text("tt::clamp: neither min nor max is given.") << at));
  if (!low.given) return bounded_above(x, high.value, at);
  if (!high.given) return bounded_below(x, low.value, at);
  const Tensor least = lower_bound(low.value, x), most = lower_bound(high.value, x);
  return low.value.tensor || high.value.tensor ? clamp(x, least, most, at) : call<Clamp>(at, x, least, most);
}

template <class = void>
void register_elementwise_names() {
  static constexpr auto scaled = [](const TensorOperand& x, const TensorOperand& other, const TensorOperand& alpha, const char* op, Line at) {
    const Tensor own = number_of(x), o = other.beside(own);
    return scaled_by(own, o, alpha, op, at);
  };
  register_function("add", "Scalar input, Scalar other, Scalar alpha=1", [](const TensorOperand& x, const TensorOperand& o, const TensorOperand& a, Line at) { return tt::add(number_of(x), scaled(x, o, a, "add", at), at); });
  for (const char* name : {"sub", "subtract"})
    register_function(name, "Scalar input, Scalar other, Scalar alpha=1", [](const TensorOperand& x, const TensorOperand& o, const TensorOperand& a, Line at) { return tt::sub(number_of(x), scaled(x, o, a, "sub", at), at); });
  register_function("rsub", "Tensor input, Scalar other, Scalar alpha=1", [](const Tensor& x, const TensorOperand& o, const TensorOperand& a, Line at) {
    const Tensor by = a.beside(x);
    return tt::sub(o.beside(x), x * by.to(is_floating(x.dtype()) || is_integral(by.dtype()) ? x.dtype() : by.dtype(), at), at);
  });
  for (const char* name : {"div", "divide", "true_divide"})
    register_function(name, "Scalar input, Scalar other, trunc|floor? rounding_mode=None", [](const TensorOperand& x, const TensorOperand& y, Optional<std::int64_t> mode, Line at) {
      return mode.given ? tt::div(x, y, mode.value == 1 ? "floor" : "trunc", at) : tt::div(number_of(x), y.beside(number_of(x)), at);
    });
  register_function("round", "Tensor input, int decimals", [](const Tensor& x, int d, Line at) { return tt::round(x, d, at); });
  register_function("gelu", "Tensor input, none|tanh approximate", [](const Tensor& x, int a, Line at) { return a == 0 ? gelu(x, at) : gelu_tanh(x, at); });
  register_function("softplus", "Tensor input, Scalar beta=1, Scalar threshold=20", [](const Tensor& x, const TensorOperand& b, const TensorOperand& t, Line at) { return softplus(x, real_of(b, at), real_of(t, at), at); });
  register_function("clamp", "Tensor input, Scalar? min=None, Scalar? max=None", [](const Tensor& x, const OptionalOperand& low, const OptionalOperand& high, Line at) { return clamped(x, low, high, at); });
  register_function("clip", "Tensor input, Scalar? min=None, Scalar? max=None", [](const Tensor& x, const OptionalOperand& low, const OptionalOperand& high, Line at) { return clamped(x, low, high, at); });
  register_function("clamp_min", "Tensor input, Scalar min", [](const Tensor& x, const TensorOperand& l, Line at) { return bounded_below(x, l, at); });
  register_function("clamp_max", "Tensor input, Scalar max", [](const Tensor& x, const TensorOperand& h, Line at) { return bounded_above(x, h, at); });
  register_function("where", "Tensor condition", [](const Tensor& c, Line at) { return tt::where(c, at); });
  register_function("logit", "Tensor input, float? eps=None", [](const Tensor& x, Optional<double> e, Line at) { return e.given ? logit(x, e.value, at) : logit(x, at); });
  register_function("polygamma", "Tensor input, int n", [](const Tensor& x, int n, Line at) { return polygamma(n, x, at); });
  for (const char* name : {"mvlgamma", "special_multigammaln"}) register_function(name, "Tensor input, int p", [](const Tensor& x, int p, Line at) { return mvlgamma(x, p, at); });
  register_function("_rmod", "Tensor input, Scalar other", [](const Tensor& x, const TensorOperand& o, Line at) { return remainder(o.beside(x), x, at); });
  register_function("_rdiv", "Tensor input, Scalar other", [](const Tensor& x, const TensorOperand& o, Line at) { return tt::div(o.beside(x), x, at); });
  register_function("_rpow", "Tensor input, Scalar other", [](const Tensor& x, const TensorOperand& o, Line at) { return tt::pow(o.beside(x), x, at); });
  register_function("_rmatmul", "Tensor input, Tensor other", [](const Tensor& x, const Tensor& o, Line at) { return tt::matmul(o, x, at); });
  for (const char* name : {"bitwise_left_shift", "__lshift__"})
    register_function(name, "Tensor input, Scalar other", [](const Tensor& x, const TensorOperand& n, Line at) { return bitwise_left_shift(x, n, at); });
  for (const char* name : {"bitwise_right_shift", "__rshift__"})
    register_function(name, "Tensor input, Scalar other", [](const Tensor& x, const TensorOperand& n, Line at) { return bitwise_right_shift(x, n, at); });
  register_function("float_power", "Scalar input, Scalar exponent", [](const TensorOperand& x, const TensorOperand& p, Line at) { return tt::pow(in_f64(x, at), in_f64(p, at), at); });
  // lt with the operands exchanged: scalars are compared as they are.
  for (const char* name : {"gt", "greater"})
    register_function(name, "Scalar input, Scalar other", [](const TensorOperand& x, const TensorOperand& y, Line at) {
      const TensorOperand both[] = {y, x};
      return call_elementwise(operator_entry<Op::lt>(), both, 2, no_attributes, at);
    });
  for (const char* name : {"ge", "greater_equal"})
    register_function(name, "Scalar input, Scalar other", [](const TensorOperand& x, const TensorOperand& y, Line at) {
      const TensorOperand both[] = {y, x};
      return call_elementwise(operator_entry<Op::le>(), both, 2, no_attributes, at);
    });
  register_function("angle", "Tensor input", [](const Tensor& x, Line at) { return angle(x, at); });
  register_function("as_strided_scatter", "Tensor input, Tensor src, int[] size, int[] stride, int? storage_offset=None", [](const Tensor& x, const Tensor& s, const IntList& n, const IntList& t, Optional<std::int64_t> o, Line at) {
    return as_strided_scatter(x, s, n, t, o, at);
  });
  register_function("isreal", "Tensor input", [](const Tensor& x, Line at) { return isreal(x, at); });
  register_function("masked_fill", "Tensor input, Tensor mask, Scalar value", [](const Tensor& x, const Tensor& m, const TensorOperand& v, Line at) { return tt::masked_fill(x, m, v.beside_as_element(x, "masked_fill", at), at); });
  register_function("fill", "Tensor input, Scalar value", [](const Tensor& x, const TensorOperand& v, Line at) { return tt::fill(x, v, at); });
  register_function("zero", "Tensor input", [](const Tensor& x, Line at) { return zeros(x.shape(at), on_device(x.dtype(), x.device()), at); });
  register_function("allclose", "Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False",
                    [](const Tensor& x, const Tensor& y, double r, double a, bool n, Line at) { return isclose(x, y, IscloseOptions{r, a, n}, at).all({}, false, at); });
  register_function("equal", "Tensor input, Tensor other", [](const Tensor& x, const Tensor& y, Line at) {
    return x.shape(at) == y.shape(at) ? tt::eq(x, y, at).all({}, false, at) : full({}, 0, on_device(DType::boolean, x.device()));
  });
}

template <class = void>
void register_reduction_names() {
  static constexpr auto into = [](const Tensor& x, OptionalDType d, Line at) { return converted(x, d, at); };
  register_function("sum", "Tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None", [](const Tensor& x, const IntList& d, bool k, OptionalDType t, Line at) { return into(into(x, t, at).sum(d, k, at), t, at); });
  register_function("mean", "Tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None", [](const Tensor& x, const IntList& d, bool k, OptionalDType t, Line at) { return into(x, t, at).mean(d, k, at); });
  register_function("prod", "Tensor input, dtype? dtype=None", [](const Tensor& x, OptionalDType t, Line at) { return into(prod(into(x, t, at), at), t, at); });
  register_function("prod", "Tensor input, int dim, bool keepdim=False, dtype? dtype=None", [](const Tensor& x, int d, bool k, OptionalDType t, Line at) { return into(prod(into(x, t, at), d, k, at), t, at); });
  register_function("nansum", "Tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None", [](const Tensor& x, const IntList& d, bool k, OptionalDType t, Line at) { return into(nansum(into(x, t, at), d, k, at), t, at); });
  register_function("nanmean", "Tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None", [](const Tensor& x, const IntList& d, bool k, OptionalDType t, Line at) { return nanmean(into(x, t, at), d, k, at); });
  register_function("softmax", "Tensor input, int dim, dtype? dtype=None", [](const Tensor& x, int d, OptionalDType t, Line at) { return into(x, t, at).softmax(d, at); });
  register_function("log_softmax", "Tensor input, int dim, dtype? dtype=None", [](const Tensor& x, int d, OptionalDType t, Line at) { return into(x, t, at).log_softmax(d, at); });
  register_function("cumprod", "Tensor input, int dim, dtype? dtype=None", [](const Tensor& x, int d, OptionalDType t, Line at) { return into(cumprod(into(x, t, at), d, at), t, at); });
  const auto spread = [](const char* name, const char* mean_name, auto with, auto with_mean) {
    register_function(name, "Tensor input, bool unbiased", [](const Tensor& x, bool u, Line at) { return decltype(with){}(x, {}, u ? 1.0 : 0.0, false, at); });
    register_function(name, "Tensor input, int[]? dim, bool unbiased, bool keepdim=False", [](const Tensor& x, const IntList& d, bool u, bool k, Line at) { return decltype(with){}(x, d, u ? 1.0 : 0.0, k, at); });
    register_function(name, "Tensor input, int[]? dim=None, Scalar? correction=None, bool keepdim=False",
                      [](const Tensor& x, const IntList& d, Optional<double> c, bool k, Line at) { return decltype(with){}(x, d, c.given ? c.value : 1.0, k, at); });
    register_function(mean_name, "Tensor input, bool unbiased", [](const Tensor& x, bool u, Line at) { return decltype(with_mean){}(x, {}, u ? 1.0 : 0.0, false, at); });
    register_function(mean_name, "Tensor input, int[]? dim, bool unbiased, bool keepdim=False", [](const Tensor& x, const IntList& d, bool u, bool k, Line at) { return decltype(with_mean){}(x, d, u ? 1.0 : 0.0, k, at); });
    register_function(mean_name, "Tensor input, int[]? dim=None, Scalar? correction=None, bool keepdim=False",
                      [](const Tensor& x, const IntList& d, Optional<double> c, bool k, Line at) { return decltype(with_mean){}(x, d, c.given ? c.value : 1.0, k, at); });
  };
  spread("var", "var_mean", [](const Tensor& x, const IntList& d, double c, bool k, Line at) { return var(x, VarOptions{d, k, c}, at); },
         [](const Tensor& x, const IntList& d, double c, bool k, Line at) { return var_mean(x, d, c, k, at); });
  spread("std", "std_mean", [](const Tensor& x, const IntList& d, double c, bool k, Line at) { return tt::std(x, VarOptions{d, k, c}, at); },
         [](const Tensor& x, const IntList& d, double c, bool k, Line at) { return std_mean(x, d, c, k, at); });
  register_function("max", "Tensor input", [](const Tensor& x, Line at) { return tt::max(x, at); });
  register_function("max", "Tensor input, Tensor other", [](const Tensor& x, const Tensor& y, Line at) { return tt::maximum(x, y, at); });
  register_function("min", "Tensor input", [](const Tensor& x, Line at) { return tt::min(x, at); });
  register_function("min", "Tensor input, Tensor other", [](const Tensor& x, const Tensor& y, Line at) { return tt::minimum(x, y, at); });
  register_function("aminmax", "Tensor input, int? dim=None, bool keepdim=False", [](const Tensor& x, Optional<int> d, bool k, Line at) { return aminmax(x, d, k, at); });
  register_function("logcumsumexp", "Tensor input, int dim", [](const Tensor& x, int d, Line at) { return logcumsumexp(x, d, at); });
  register_function("cummax", "Tensor input, int dim", [](const Tensor& x, int d, Line at) { return cummax(x, d, at); });
  register_function("cummin", "Tensor input, int dim", [](const Tensor& x, int d, Line at) { return cummin(x, d, at); });
  register_function("median", "Tensor input", [](const Tensor& x, Line at) { return median(x, at); });
  register_function("median", "Tensor input, int dim, bool keepdim=False", [](const Tensor& x, int d, bool k, Line at) { return median(x, d, k, at); });
  register_function("nanmedian", "Tensor input", [](const Tensor& x, Line at) { return nanmedian(x, at); });
  register_function("nanmedian", "Tensor input, int dim, bool keepdim=False", [](const Tensor& x, int d, bool k, Line at) { return nanmedian(x, d, k, at); });
  register_function("mode", "Tensor input, int dim=-1, bool keepdim=False", [](const Tensor& x, int d, bool k, Line at) { return mode(x, d, k, at); });
  register_function("kthvalue", "Tensor input, int k, int dim=-1, bool keepdim=False", [](const Tensor& x, std::int64_t n, int d, bool k, Line at) { return kthvalue(x, n, d, k, at); });
  register_function("diff", "Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None", [](const Tensor& x, int n, int d, const Tensor& p, const Tensor& a, Line at) { return diff(x, n, d, p, a, at); });
  for (const char* name : {"trapezoid", "trapz"}) {
    register_function(name, "Tensor y, Tensor x, int dim=-1", [](const Tensor& y, const Tensor& x, int d, Line at) { return trapezoid(y, x, d, at); });
    register_function(name, "Tensor y, float dx=1, int dim=-1", [](const Tensor& y, double dx, int d, Line at) { return trapezoid(y, dx, d, at); });
  }
  register_function("cumulative_trapezoid", "Tensor y, Tensor x, int dim=-1", [](const Tensor& y, const Tensor& x, int d, Line at) { return cumulative_trapezoid(y, x, d, at); });
  register_function("cumulative_trapezoid", "Tensor y, float dx=1, int dim=-1", [](const Tensor& y, double dx, int d, Line at) { return cumulative_trapezoid(y, dx, d, at); });
  register_function("gradient", "Tensor input, Scalar? spacing=None, int[]? dim=None, int edge_order=1", [](const Tensor& x, const OptionalOperand& s, const IntList& d, int e, Line at) {
    TensorList all;
    if (s.given) all.push_back(s.tensor.defined() ? s.tensor : s.value.number_among(floating_with(DType::boolean, x)));
    return gradient(x, all, d, e, at);
  });
  register_function("gradient", "Tensor input, float[] spacing, int[]? dim=None, int edge_order=1", [](const Tensor& x, const std::vector<double>& s, const IntList& d, int e, Line at) {
    if (const int n = d.size() ? d.size() : x.dim(); static_cast<int>(s.size()) != n) TT_THROW(Error(Text("tt::gradient: ") << static_cast<std::int64_t>(s.size()) << " spacings for " << n << " axes." << at));
    TensorList all;
    for (const double h : s) all.push_back(full({}, h, TensorOptions{.dtype = is_floating(x.dtype()) ? x.dtype() : DType::f32}));
    return gradient(x, all, d, e, at);
  });
  register_function("gradient", "Tensor input, Tensor[] spacing, int[]? dim=None, int edge_order=1", [](const Tensor& x, const TensorList& s, const IntList& d, int e, Line at) { return gradient(x, s, d, e, at); });
  register_function("gcd", "Scalar input, Scalar other", [](const TensorOperand& x, const TensorOperand& y, Line at) { return gcd(number_of(x), number_of(y), at); });
  register_function("lcm", "Scalar input, Scalar other", [](const TensorOperand& x, const TensorOperand& y, Line at) { return lcm(number_of(x), number_of(y), at); });
  register_function("histogram", "Tensor input, int bins=100, float[]? range=None, Tensor? weight=None, bool density=False", [](const Tensor& x, std::int64_t n, const std::vector<double>& r, const Tensor& w, bool d, Line at) {
    return histogram(x, n, r, w, d, at);
  });
  register_function("histogram", "Tensor input, Tensor bins, Tensor? weight=None, bool density=False", [](const Tensor& x, const Tensor& e, const Tensor& w, bool d, Line at) { return histogram(x, e, w, d, at); });
  static constexpr auto with_edges = [](const HistogramddResult& r) {
    TensorList all{r.hist};
    all.insert(all.end(), r.bin_edges.begin(), r.bin_edges.end());
    return all;
  };
  register_function("histogramdd", "Tensor input, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False",
                    [](const Tensor& x, const IntList& given, const std::vector<double>& r, const Tensor& w, bool d, Line at) {
                      IntList n = given;
                      while (given.size() == 1 && x.dim() > 0 && n.size() < x.size(-1, at)) n.push_back(given[0]);  // one number for all axes
                      return with_edges(histogramdd(x, n, r, w, d, at));
                    });
  register_function("histogramdd", "Tensor input, int bins, float[]? range=None, Tensor? weight=None, bool density=False", [](const Tensor& x, std::int64_t n, const std::vector<double>& r, const Tensor& w, bool d, Line at) {
    IntList each;
    for (std::int64_t k = 0; k < x.size(-1, at); ++k) each.push_back(n);
    return with_edges(histogramdd(x, each, r, w, d, at));
  });
  register_function("histogramdd", "Tensor input, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False",
                    [](const Tensor& x, const TensorList& e, const std::vector<double>&, const Tensor& w, bool d, Line at) { return with_edges(histogramdd(x, e, w, d, at)); });
  register_function("unravel_index", "Tensor indices, int[] shape", [](const Tensor& x, const IntList& s, Line at) { return unravel_index(x, s, at); });
  register_function("nonzero_static", "Tensor input, int size, int fill_value=-1", [](const Tensor& x, std::int64_t n, std::int64_t fill, Line at) { return nonzero_static(x, n, fill, at); });
  register_function("dist", "Tensor input, Tensor other, float p=2", [](const Tensor& x, const Tensor& y, double p, Line at) { return dist(x, y, p, at); });
  register_function("renorm", "Tensor input, float p, int dim, float maxnorm", [](const Tensor& x, double p, int d, double m, Line at) { return renorm(x, p, d, m, at); });
  register_function("bincount", "Tensor input, Tensor? weights=None, int minlength=0", [](const Tensor& x, const Tensor& w, std::int64_t m, Line at) { return bincount(x, w, m, at); });
  register_function("searchsorted", "Tensor sorted_sequence, Scalar input, bool out_int32=False, bool right=False, left|right? side=None, Tensor? sorter=None",
                    [](const Tensor& s, const TensorOperand& v, bool i, bool r, Optional<std::int64_t> side, const Tensor& sorter, Line at) {
    return searchsorted(s, v, i, r, side.given ? side.value == 1 ? "right" : "left" : r ? "right" : "left", sorter, at);
  });
  register_function("bucketize", "Scalar input, Tensor boundaries, bool out_int32=False, bool right=False", [](const TensorOperand& x, const Tensor& b, bool i, bool r, Line at) { return bucketize(x.beside(b), b, i, r, at); });
  register_function("isin", "Scalar elements, Scalar test_elements, bool assume_unique=False, bool invert=False", [](const TensorOperand& e, const TensorOperand& t, bool u, bool i, Line at) { return isin(e, t, u, i, at); });
  register_function("histc", "Tensor input, int bins=100, Scalar min=0, Scalar max=0", [](const Tensor& x, std::int64_t n, const TensorOperand& a, const TensorOperand& b, Line at) {
    return histc(x, n, real_of(a, at), real_of(b, at), at);
  });
  register_function("unique_consecutive", "Tensor input, bool return_inverse=False, bool return_counts=False, int? dim=None", [](const Tensor& x, bool i, bool c, Optional<int> d, Line at) {
    const UniqueConsecutiveResult r = unique_consecutive(x, i, c, d, at);
    TensorList all{r.values};
    if (i) all.push_back(r.inverse_indices);
    if (c) all.push_back(r.counts);
    return all;
  });
}

template <class = void>
void register_index_names() {
  // A Tensor or a number by position is the first one's, which knows the number as it was given.
  const auto scattered = [](const Tensor& x, int d, const Tensor& i, const TensorOperand& v, Optional<std::int64_t> r, Line at) {
    if (r.given) return scatter(x, d, i, v, r.value == 0 ? "add" : "multiply", at);
    return scatter(x, d, i, v, at);
  };
  register_function("scatter", "Tensor input, int dim, Tensor index, Scalar value, add|multiply? reduce=None", scattered);
  register_function("scatter", "Tensor input, int dim, Tensor index, Tensor src, add|multiply? reduce=None",
                    [](const Tensor& x, int d, const Tensor& i, const Tensor& s, Optional<std::int64_t> r, Line at) { return r.given ? scatter(x, d, i, s, r.value == 0 ? "add" : "multiply", at) : scatter(x, d, i, TensorOperand(s), at); });
  register_function("scatter_reduce", "Tensor input, int dim, Tensor index, Tensor src, sum|prod|mean|amax|amin reduce, bool include_self=True",
                    [](const Tensor& x, int d, const Tensor& i, const Tensor& s, int r, bool self, Line at) { return scatter_reduce(x, d, i, s, static_cast<ScatterReduction>(r), self, at); });
  register_function("index_add", "Tensor input, int dim, Tensor index, Tensor source, Scalar alpha", [](const Tensor& x, int d, const Tensor& i, const Tensor& s, const TensorOperand& a, Line at) { return index_add(x, d, i, s, a, at); });
  register_function("index_copy", "Tensor input, int dim, Tensor index, Tensor source", [](const Tensor& x, int d, const Tensor& i, const Tensor& s, Line at) { return index_copy(x, d, i, s, at); });
  register_function("index_fill", "Tensor input, int dim, Tensor index, Scalar value", [](const Tensor& x, int d, const Tensor& i, const TensorOperand& v, Line at) { return index_fill(x, d, i, v.beside_as_element(x, "index_fill", at), at); });
  register_function("index_reduce", "Tensor input, int dim, Tensor index, Tensor source, prod|mean|amax|amin reduce, bool include_self=True",
                    [](const Tensor& x, int d, const Tensor& i, const Tensor& s, int r, bool self, Line at) { return index_reduce(x, d, i, s, static_cast<ScatterReduction>(r + 1), self, at); });
  register_function("index", "Tensor input, Tensor[] indices", [](const Tensor& x, const TensorList& i, Line at) { return tt::index(x, i, at); });
  register_function("index_put", "Tensor input, Tensor[] indices, Tensor values, bool accumulate=False", [](const Tensor& x, const TensorList& i, const Tensor& v, bool a, Line at) { return index_put(x, i, v, a, at); });
  register_function("take", "Tensor input, Tensor index", [](const Tensor& x, const Tensor& i, Line at) { return take(x, i, at); });
  register_function("put", "Tensor input, Tensor index, Tensor source, bool accumulate=False", [](const Tensor& x, const Tensor& i, const Tensor& s, bool a, Line at) { return put(x, i, s, a, at); });
  register_function("masked_scatter", "Tensor input, Tensor mask, Tensor source", [](const Tensor& x, const Tensor& m, const Tensor& s, Line at) { return masked_scatter(x, m, s, at); });
  register_function("masked_select", "Tensor input, Tensor mask", [](const Tensor& x, const Tensor& m, Line at) { return masked_select(x, m, at); });
  register_function("take_along_dim", "Tensor input, Tensor indices, int? dim=None", [](const Tensor& x, const Tensor& i, Optional<int> d, Line at) {
    return d.given ? take_along_dim(x, i, d.value, at) : take_along_dim(x, i, at);
  });
  register_function("argwhere", "Tensor input", [](const Tensor& x, Line at) { return argwhere(x, at); });
  register_function("nonzero", "Tensor input, bool as_tuple", [](const Tensor& x, bool t, Line at) { return t ? unbind(nonzero(x.dim() ? x : x.reshape({1}, at), at), 1, at) : TensorList{nonzero(x, at)}; });
  register_function("embedding", "Tensor input, Tensor weight", [](const Tensor& i, const Tensor& w, Line at) { return embedding(i, w, at); });
}

}  // namespace detail
}  // namespace tt
