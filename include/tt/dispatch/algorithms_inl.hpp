// What dispatch/algorithms.hpp declares: operators whose kernels bring Tensors into the form that the algorithms of a
// device take (rows along one axis, dense), for every device alike.
#pragma once
#include <vector>

#include "tt/backends/algorithms.hpp"
#include "tt/dispatch/algorithms.hpp"
#include "tt/dispatch/index_ops_inl.hpp"

namespace tt {
namespace detail {

/// Memory for an algorithm, out of Tensors: of the device's own allocator.
class TensorWorkspace {
 public:
  explicit TensorWorkspace(Device device) : device_(device) {
    if (const DeviceApi* api = device_api(device.type); api && api->stream) workspace.stream = api->stream(device.index);
  }
  TensorWorkspace(const TensorWorkspace&) = delete;
  backend::Workspace workspace{this, &TensorWorkspace::allocate, &TensorWorkspace::free};

 private:
  Device device_;
  std::vector<Tensor> held_;
  std::atomic_flag busy_;  ///< threads of one algorithm ask too

  static void* allocate(void* context, std::size_t bytes) {
    auto& own = *static_cast<TensorWorkspace*>(context);
    Tensor block(DType::boolean, Shape{static_cast<std::int64_t>(bytes)}, own.device_);
    const FlagLock lock(own.busy_);
    own.held_.push_back(block);
    return block.data();
  }
  static void free(void* context, void* block) {
    auto& own = *static_cast<TensorWorkspace*>(context);
    const FlagLock lock(own.busy_);
    std::vector<Tensor>& held = own.held_;
    for (std::size_t k = held.size(); k-- > 0;)
      if (held[k].impl().data == block) {
        held[k] = held.back();
        return held.pop_back();
      }
  }
};

/// Whatever a kernel calls runs below the tape.
struct AlgorithmCall {
  const ExcludeKeys below{DispatchKey::autograd};
  const Call& call;
  const backend::AlgorithmTable* table = nullptr;
  TensorWorkspace memory;
  backend::Workspace& workspace = memory.workspace;

  explicit AlgorithmCall(const Call& c) : call(c), memory(c[0].device()) {
    if (c[0].is_meta()) return;
    table = backend::algorithms(c[0].device().type);
    if (!table)
      TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": nothing was built for device " << tt::name(c[0].device().type)
                           << ". Build tt::compiled where Thrust is, or include tt/backends/host_algorithms.hpp?" << c.at));
  }
  const backend::AlgorithmTable* operator->() const { return table; }
  std::int64_t attribute(int k) const { return call.attrs().value[k]; }
};

/// A Tensor as a dense matrix: rows along one of its axes. A single element is one row.
struct AxisRows {
  Tensor dense;
  int dim = 0;  ///< of the Tensor
  std::int64_t rows = 1, n = 1;

  AxisRows(const AlgorithmCall& a, const Tensor& t, std::int64_t axis)
      : dense(t), dim(axis_of(t, static_cast<int>(axis), a.call.op->name(), a.call.at, t.dim() ? t.dim() : 1)) {
    if (!is_last()) dense = dense.transpose(dim, -1);
    dense = dense.contiguous();
    if (dense.dim() > 0) n = dense.size(-1);
    for (int k = 0; k < dense.dim() - 1; ++k) rows *= dense.size(k);
  }
  bool is_last() const { return dense.dim() == 0 || dim == dense.dim() - 1; }
  const void* data() const { return dense.impl().data; }
  /// A new matrix of so many columns.
  Tensor matrix(DType d, std::int64_t columns) const { return Tensor(d, Shape{rows, columns}, dense.device()); }
  /// That matrix, made so, as a Tensor with the axes of this one.
  Tensor with_axes(Tensor matrix) const {
    Shape s = dense.impl().shape;
    if (s.rank > 0) s.set(s.rank - 1, matrix.impl().shape[1]);
    matrix.impl().set_dense(s);
    return is_last() ? matrix : matrix.transpose(dim, -1).clone();
  }
};

inline Tensor new_vector(const Tensor& like, DType d, std::int64_t n) { return Tensor(d, Shape{n}, like.device()); }
inline std::int64_t* indices_of(const Tensor& t) { return t.data_ptr<std::int64_t>(); }

// ---- order

/// The first k elements in order along an axis: their places, and themselves if `values` is not null.
inline void order_kernel(const AlgorithmCall& a, const AxisRows& x, std::int64_t k, bool descending, Tensor* values, Tensor* indices) {
  Tensor place = x.matrix(DType::i64, x.n);
  if (a.table) a->sort(a.workspace, x.dense.dtype(), x.data(), x.rows, x.n, descending, indices_of(place));
  if (k < x.n) place = place.slice(1, 0, k).clone();
  if (values) {
    Tensor v = x.matrix(x.dense.dtype(), k);
    if (a.table) a->take(a.workspace, v.dtype(), x.data(), x.rows, x.n, k, indices_of(place), v.data());
    *values = x.with_axes(v);
  }
  *indices = x.with_axes(place);
}
inline void sort_kernel(Call& c, void*) {
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], a.attribute(0));
  order_kernel(a, x, x.n, a.attribute(1) != 0, &c.result[0], &c.result[1]);
}
inline void argsort_kernel(Call& c, void*) {
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], a.attribute(0));
  order_kernel(a, x, x.n, a.attribute(1) != 0, nullptr, &c.result[0]);
}
inline void topk_kernel(Call& c, void*) {
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], a.attribute(1));
  const std::int64_t k = a.attribute(0);
  if (k < 0 || k > x.n)
    TT_THROW(Error(Text("tt::topk: k is out of range: ") << k << " of " << x.n << " elements along axis " << x.dim << " of shape "
                                                         << c[0].shape() << "." << c.at));
  order_kernel(a, x, c[0].dim() ? k : 1, a.attribute(2) != 0, &c.result[0], &c.result[1]);
}
/// Elements at places along an axis; the places come from an order, so none is out of range or there twice.
inline void take_kernel(Call& c, void*) {
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], a.attribute(0)), place(a, c[1], a.attribute(0));
  Tensor out = x.matrix(x.dense.dtype(), place.n);
  if (a.table) a->take(a.workspace, out.dtype(), x.data(), x.rows, x.n, place.n, indices_of(place.dense), out.data());
  c.result[0] = x.with_axes(out);
}
inline void put_kernel(Call& c, void*) {
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], a.attribute(0)), place(a, c[1], a.attribute(0));
  Tensor out = x.matrix(x.dense.dtype(), a.attribute(1));
  if (a.table) a->put(a.workspace, out.dtype(), x.data(), x.rows, a.attribute(1), x.n, indices_of(place.dense), out.data());
  c.result[0] = x.with_axes(out);
}

// ---- sums

inline void cumsum_kernel(Call& c, void*) {
  const AlgorithmCall a(c);
  const Tensor t = is_floating(c[0].dtype()) ? c[0] : convert(c[0], DType::i64, c.at);
  const AxisRows x(a, t, a.attribute(0));
  Tensor out = x.matrix(t.dtype(), x.n);
  if (a.table) a->cumsum(a.workspace, t.dtype(), x.data(), x.rows, x.n, a.attribute(1) != 0, out.data());
  c.result[0] = x.with_axes(out);
}

// ---- runs

/// Runs of equal elements: of `x` as it is, or in an order.
struct Runs {
  Tensor run, start;
  std::int64_t count = 0;

  Runs(const AlgorithmCall& a, const Tensor& x, const std::int64_t* order) : run(new_vector(x, DType::i64, x.numel())) {
    const std::int64_t n = x.numel();
    count = a->runs(a.workspace, x.dtype(), x.impl().data, n, order, indices_of(run));
    start = new_vector(x, DType::i64, count + 1);
    if (n > 0) a->run_starts(a.workspace, indices_of(run), n, indices_of(start));
  }
  /// An element of each run of `x`.
  Tensor firsts(const AlgorithmCall& a, const Tensor& x) const {
    Tensor v = new_vector(x, x.dtype(), count);
    a->take(a.workspace, x.dtype(), x.impl().data, 1, x.numel(), count, indices_of(start), v.data());
    return v;
  }
};
inline void unique_kernel(Call& c, void*) {
  need_elements(c);
  const AlgorithmCall a(c);
  const Tensor x = c[0].contiguous();
  const std::int64_t n = x.numel();
  const bool wants_inverse = a.attribute(1) != 0, wants_counts = a.attribute(2) != 0;
  const Tensor order = new_vector(x, DType::i64, n);
  a->sort(a.workspace, x.dtype(), x.impl().data, 1, n, false, indices_of(order));
  const Runs runs(a, x, indices_of(order));
  const Tensor first = runs.firsts(a, order);
  c.result[0] = new_vector(x, x.dtype(), runs.count);
  a->take(a.workspace, x.dtype(), x.impl().data, 1, n, runs.count, indices_of(first), c.result[0].data());
  c.result[1] = Tensor(DType::i64, wants_inverse ? x.impl().shape : Shape{0}, x.device());
  if (wants_inverse) a->run_of_each(a.workspace, indices_of(runs.run), indices_of(order), n, indices_of(c.result[1]));
  c.result[2] = new_vector(x, DType::i64, wants_counts ? runs.count : 0);
  if (wants_counts) a->run_lengths(a.workspace, indices_of(runs.start), runs.count, indices_of(c.result[2]));
}
inline void reduce_by_key_kernel(Call& c, void*) {
  if (c[0].dim() != 1 || !(c[0].impl().shape == c[1].impl().shape))
    TT_THROW(Error(Text("tt::reduce_by_key: keys and values are not vectors of one length: ") << c[0].shape() << " and "
                                                                                              << c[1].shape() << "." << c.at));
  need_elements(c);
  const AlgorithmCall a(c);
  const Tensor keys = c[0].contiguous();
  const Tensor values = (is_floating(c[1].dtype()) ? c[1] : convert(c[1], DType::i64, c.at)).contiguous();
  const Runs runs(a, keys, nullptr);
  c.result[0] = runs.firsts(a, keys);
  c.result[1] = new_vector(values, values.dtype(), runs.count);
  a->run_sums(a.workspace, values.dtype(), values.impl().data, indices_of(runs.start), runs.count, c.result[1].data());
}

// ---- derivatives

TT_INLINE Operator& put_operator();
TT_INLINE Operator& take_operator();
TT_INLINE Operator& cumsum_operator();

inline Tensor call_along(const Operator& op, const Tensor& x, const Tensor& place, std::int64_t dim, std::int64_t size, SourceLine at) {
  const Tensor* argument[] = {&x, &place};
  Attributes a;
  a.push(dim);
  a.push(size);
  return call_operator(op, argument, 2, a, at);
}
inline std::int64_t size_along(const Tensor& t, std::int64_t dim) { return t.dim() ? t.impl().shape.code[normalize_axis(static_cast<int>(dim), t.dim())] : 1; }
/// Each gradient goes to where its element came from; of topk the axis is the attribute after k.
template <int Axis>
void order_derivative(const DerivativeStep& s) {
  const std::int64_t dim = s.attributes->value[Axis];
  s.out[0] = call_along(put_operator(), s.gradient[0], s.result[1], dim, size_along(s.argument[0], dim), s.at);
}
inline void cumsum_derivative(const DerivativeStep& s) {
  Attributes a;
  a.push(s.attributes->value[0]);
  a.push(s.attributes->value[1] ? 0 : 1);
  s.out[0] = call_unary(cumsum_operator(), s.gradient[0], a, s.at);
}
inline void no_derivative(const DerivativeStep& s) {
  TT_THROW(Error(Text("tt::backward: ") << s.op->name() << " has no derivative. Use detach() there?" << s.at));
}

// ---- operators

inline void fill_algorithm(Operator& op, int arguments, int results, const char* attributes, OpKernel kernel, OpDerivative derivative) {
  fill_computed(op, arguments, results, attributes, kernel, derivative);
  op.set_kernel(DispatchKey::cuda, kernel);
}
inline Operator& define_algorithm(const char* name, int arguments, int results, const char* attributes, OpKernel kernel,
                                  OpDerivative derivative) {
  return Dispatcher::get().define(name, reinterpret_cast<const void*>(kernel), [&](Operator& op) {
    fill_algorithm(op, arguments, results, attributes, kernel, derivative);
  });
}
inline Operator& sort_operator() {
  static Operator& op = define_algorithm("sort", 1, 2, "int dim=-1, bool descending=False, bool stable=False", &sort_kernel, &order_derivative<0>);
  return op;
}
inline Operator& argsort_operator() {
  static Operator& op = define_algorithm("argsort", 1, 1, "int dim=-1, bool descending=False, bool stable=False", &argsort_kernel, nullptr);
  return op;
}
inline Operator& topk_operator() {
  static Operator& op = define_algorithm("topk", 1, 2, "int k, int dim=-1, bool largest=True, bool sorted=True", &topk_kernel,
                                         &order_derivative<1>);
  return op;
}
inline Operator& unique_operator() {
  static Operator& op = define_algorithm("unique", 1, 3, "bool sorted=True, bool return_inverse=False, bool return_counts=False",
                                         &unique_kernel, &no_derivative);
  return op;
}
inline Operator& reduce_by_key_operator() {
  static Operator& op = define_algorithm("reduce_by_key", 2, 2, "", &reduce_by_key_kernel, &no_derivative);
  return op;
}
TT_INLINE Operator& cumsum_operator() {
  static Operator& op = define_algorithm("cumsum", 1, 1, "int dim, bool reverse=False", &cumsum_kernel, &cumsum_derivative);
  return op;
}
/// Not to be found by name: they trust the places that they are given.
inline Operator& own_algorithm(const char* name, OpKernel kernel, OpDerivative derivative) {
  auto* op = new Operator(name);
  fill_algorithm(*op, 2, 1, "int dim, int size", kernel, derivative);
  return *op;
}
TT_INLINE Operator& take_operator() {
  static Operator& op = own_algorithm("sort_take", &take_kernel, [](const DerivativeStep& s) {
    const std::int64_t dim = s.attributes->value[0];
    s.out[0] = call_along(put_operator(), s.gradient[0], s.argument[1], dim, size_along(s.argument[0], dim), s.at);
  });
  return op;
}
TT_INLINE Operator& put_operator() {
  static Operator& op = own_algorithm("sort_put", &put_kernel, [](const DerivativeStep& s) {
    s.out[0] = call_along(take_operator(), s.gradient[0], s.argument[1], s.attributes->value[0], 0, s.at);
  });
  return op;
}

inline SortResult call_order(const Operator& op, const Tensor& x, const Attributes& a, SourceLine at) {
  const Tensor* argument[] = {&x};
  Tensor result[2];
  call_operator_into(op, argument, 1, a, at, result);
  return {result[0], result[1]};
}
inline Attributes sort_attributes(int dim, bool descending, bool stable) {
  Attributes a;
  a.push(dim);
  a.push(descending);
  a.push(stable);
  return a;
}

}  // namespace detail

TT_INLINE SortResult sort(const Tensor& x, int dim, bool descending, bool stable, SourceLine at) {
  return detail::call_order(detail::sort_operator(), x, detail::sort_attributes(dim, descending, stable), at);
}
TT_INLINE Tensor argsort(const Tensor& x, int dim, bool descending, bool stable, SourceLine at) {
  return detail::call_unary(detail::argsort_operator(), x, detail::sort_attributes(dim, descending, stable), at);
}
TT_INLINE SortResult topk(const Tensor& x, std::int64_t k, int dim, bool largest, bool sorted, SourceLine at) {
  Attributes a;
  a.push(k);
  a.push(dim);
  a.push(largest);
  a.push(sorted);
  return detail::call_order(detail::topk_operator(), x, a, at);
}
TT_INLINE UniqueResult unique(const Tensor& x, bool sorted, bool return_inverse, bool return_counts, SourceLine at) {
  const Tensor* argument[] = {&x};
  Attributes a;
  a.push(sorted);
  a.push(return_inverse);
  a.push(return_counts);
  Tensor result[3];
  detail::call_operator_into(detail::unique_operator(), argument, 1, a, at, result);
  return {result[0], result[1], result[2]};
}
TT_INLINE Tensor cumsum(const Tensor& x, int dim, SourceLine at) {
  Attributes a;
  a.push(dim);
  a.push(0);
  return detail::call_unary(detail::cumsum_operator(), x, a, at);
}
TT_INLINE ReduceByKeyResult reduce_by_key(const Tensor& keys, const Tensor& values, SourceLine at) {
  const Tensor* argument[] = {&keys, &values};
  Tensor result[2];
  detail::call_operator_into(detail::reduce_by_key_operator(), argument, 2, no_attributes, at, result);
  return {result[0], result[1]};
}

TT_INLINE void register_algorithms() {
  detail::sort_operator();
  detail::argsort_operator();
  detail::topk_operator();
  detail::unique_operator();
  detail::cumsum_operator();
  detail::reduce_by_key_operator();
}

}  // namespace tt
