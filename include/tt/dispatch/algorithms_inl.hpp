// The operators of dispatch/algorithms.hpp: their kernels bring Tensors into the form that the algorithms of a device
// take (rows along one axis, contiguous), in the same way for every device.
#pragma once
#include <algorithm>
#include <vector>

#include "tt/backends/algorithms.hpp"
#include "tt/dispatch/algorithms.hpp"
#include "tt/dispatch/index_kernels.hpp"
#include "tt/dispatch/order.hpp"

namespace tt {
namespace detail {

/// Devices with algorithms, beside the host.
inline constexpr DispatchKey algorithm_devices[] = {DispatchKey::cuda};

inline SizeOption size_along(const Tensor& t, int dim) { return t.dim() ? t.impl().shape.code[normalize_axis(dim, t.dim())] : 1; }
inline SizeOption size_along(const Sym& t, int dim) {
  SizeOption size = 1;
  if (t.shape().rank > 0) size.extent = t.shape()[normalize_axis(dim, t.shape().rank)];
  return size;
}
/// SortTake: elements at given indices along an axis. SortPut: its inverse. The indices come from a sort, so none occurs twice.
struct SortPut;
struct SortTake {
  struct Options {
    int dim = 0;
  };
  static constexpr OpInfo info{.name = "_sort_take", .arguments = "input, .dim, index"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr auto& device_keys = algorithm_devices;
  static Sym like(const Sym& x, const Sym& index, const Options&) { return symbol_like(x, x.dtype(), index.shape()); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) {
    s.out[0] = call_with<SortPut>(s.at, {o.dim, size_along(s.argument[0], o.dim)}, s.gradient[0], s.argument[1]);
  }
};
struct SortPut {
  struct Options {
    int dim = 0;
    SizeOption size;
  };
  static constexpr OpInfo info{.name = "_sort_put", .arguments = "input, .dim, .size, index"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr auto& device_keys = algorithm_devices;
  static Sym like(const Sym& x, const Sym&, const Options& o) { return with_size_along(x, o.dim, o.size.extent, info.name); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<SortTake>(s.at, {o.dim}, s.gradient[0], s.argument[1]); }
};
/// Shapes and dtypes of the results of sort and topk: the elements, and the indices they had.
struct OrderLike {
  Sym values, indices;
};
inline OrderLike order_like(const Sym& values) { return {values, symbol_like(values, DType::i64, values.shape())}; }

/// Each gradient goes to the index that its element came from.
inline void order_derivative(const auto& s, int dim) {
  s.out[0] = call_with<SortPut>(s.at, {dim, size_along(s.argument[0], dim)}, s.gradient[0], s.result[1]);
}
struct Sort {
  struct Options {
    int dim = -1;
    bool descending = false, stable = false;
  };
  using Results = SortResult;
  static constexpr OpInfo info{.name = "sort", .arguments = "input"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr auto& device_keys = algorithm_devices;
  static OrderLike like(const Sym& x, const Options& o) { return order_like(with_size_along(x, o.dim, size_along(x, o.dim).extent, info.name)); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) { order_derivative(s, o.dim); }
};
struct Argsort {
  using Options = Sort::Options;
  static constexpr OpInfo info{.name = "argsort", .arguments = "input"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr auto& device_keys = algorithm_devices;
  static Sym like(const Sym& x, const Options& o) { return Sort::like(x, o).indices; }
  static void kernel(Call& c, const Options& o);
};
struct Topk {
  struct Options {
    std::int64_t k = 0;
    int dim = -1;
    bool largest = true, sorted = true;
  };
  using Results = SortResult;
  static constexpr OpInfo info{.name = "topk", .arguments = "input, .k"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr auto& device_keys = algorithm_devices;
  static OrderLike like(const Sym& x, const Options& o) { return order_like(with_size_along(x, o.dim, o.k, info.name)); }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) { order_derivative(s, o.dim); }
};
struct Unique {
  struct Options {
    bool sorted = true, return_inverse = false, return_counts = false;
  };
  using Results = UniqueResult;
  static constexpr OpInfo info{.name = "unique", .arguments = "input"};
  static constexpr auto& device_keys = algorithm_devices;
  static void kernel(Call& c, const Options& o);
  static void derivative(const DerivativeStep& s, const Options& o);
};
struct Cumsum {
  struct Options {
    int dim = 0;
    bool reverse = false;
  };
  static constexpr OpInfo info{.name = "cumsum", .arguments = "input, .dim"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr auto& device_keys = algorithm_devices;
  static Sym like(const Sym& x, const Options& o) {
    const Sym y = with_size_along(x, o.dim, size_along(x, o.dim).extent, info.name);
    return is_floating(y.dtype()) ? y : symbol_like(y, DType::i64, y.shape());
  }
  static void kernel(Call& c, const Options& o);
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<Cumsum>(s.at, {o.dim, !o.reverse}, s.gradient[0]); }
};
struct ReduceByKey {
  using Options = NoOptions;
  using Results = ReduceByKeyResult;
  static constexpr OpInfo info{.name = "reduce_by_key", .arguments = "keys, values"};
  static constexpr auto& device_keys = algorithm_devices;
  static void kernel(Call& c, const Options&);
  static void derivative(const DerivativeStep& s, const Options&);
};

/// Scratch memory of an algorithm: Tensors, so that it comes from the device's own allocator.
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
  BusyFlag busy_;  ///< threads of one algorithm allocate too

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

/// A kernel's call, with the algorithms of its device. Ops that the kernel calls are not taped.
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

/// Calls a kernel with narrow arguments converted to their compute dtypes; result k, if of that dtype, is converted back to the dtype of
/// argument k. False: no argument is narrow.
template <class F>
bool call_widened(Call& c, const F& kernel) {
  bool any = false;
  for (int k = 0; k < c.arguments; ++k) any = any || is_narrow(c[k].dtype());
  if (!any) return false;
  const ExcludeKeys below{DispatchKey::autograd};
  SmallVec<Tensor, 4> made(c.arguments);
  SmallVec<const Tensor*, 4> argument(c.arguments);
  for (int k = 0; k < c.arguments; ++k) {
    made[k] = is_narrow(c[k].dtype()) ? convert(c[k], compute_dtype(c[k].dtype()), c.at) : c[k];
    argument[k] = &made[k];
  }
  Call wide = c;
  wide.argument = argument.data();
  kernel(wide);
  for (int k = 0; k < c.op->results && k < c.arguments; ++k)
    if (const DType d = c[k].dtype(); is_narrow(d) && c.result[k].dtype() == compute_dtype(d)) c.result[k] = convert(c.result[k], d, c.at);
  return true;
}

/// A Tensor as a contiguous matrix, whose rows run along one of its axes. A Tensor of rank 0 is one row.
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
  const void* row(std::int64_t r) const { return dense.impl().data + r * n * size_of(dense.dtype()); }
  /// f(begin, end) for ranges of rows: on the host ranges that threads share, a row costing about as much as `work` elements; on a device
  /// all rows at once.
  template <class F>
  void each_range(std::int64_t work, const F& f) const {
    if (is_host(dense.device())) in_ranges(rows, work, f);
    else f(0, rows);
  }
  /// A new matrix with as many rows as this one.
  Tensor matrix(DType d, std::int64_t columns) const { return Tensor(d, Shape{rows, columns}, dense.device()); }
  /// Such a matrix as a Tensor with the axes of the original one.
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

/// The argsort of one contiguous row.
inline void sort_row(const AlgorithmCall& a, const Tensor& x, std::int64_t n, bool descending, std::int64_t* order) {
  constexpr std::int64_t long_row = 1 << 11;
  if (is_host(x.device()) && n >= long_row) sort_long_row(x, n, descending, order);
  else a->sort(a.workspace, x.dtype(), x.impl().data, 1, n, descending, order);
}
/// Does one of these elements come before `last`, in the order of topk?
template <int Count, class T>
bool any_before(const T* element, T last, bool descending) {
  const bool is_nan = last != last;
  if (is_nan && descending) return false;  // NaN is the greatest
  unsigned any = 0;
  if (descending)
    for (int i = 0; i < Count; ++i) any |= static_cast<unsigned>(!(element[i] <= last));
  else if (is_nan)
    for (int i = 0; i < Count; ++i) any |= static_cast<unsigned>(element[i] == element[i]);
  else
    for (int i = 0; i < Count; ++i) any |= static_cast<unsigned>(element[i] < last);
  return any != 0;
}
/// The indices of the first k elements of each row, for small k: a heap of the best so far, the last of these on top.
inline void first_places(const AxisRows& x, std::int64_t k, bool descending, std::int64_t* places) {
  with_dtype(x.dense.dtype(), [&]<class T>(T) {
    x.each_range(x.n, [&](std::int64_t r, const std::int64_t end) {
      for (std::int64_t* place = places + r * k; r < end; ++r, place += k) {
        const T* const row = static_cast<const T*>(x.row(r));
        const auto before = [&](std::int64_t i, std::int64_t j) {
          const bool first = descending ? comes_before(row[j], row[i]) : comes_before(row[i], row[j]);
          return first || (i < j && !(descending ? comes_before(row[i], row[j]) : comes_before(row[j], row[i])));
        };
        for (std::int64_t i = 0; i < k; ++i) place[i] = i;
        std::make_heap(place, place + k, before);
        constexpr std::int64_t block = 32;  // in most blocks no element comes before the last of the best: a vectorised loop finds that out
        for (std::int64_t begin = k; begin < x.n; begin += block) {
          if (begin + block <= x.n && !any_before<block>(row + begin, row[place[0]], descending)) continue;
          for (std::int64_t i = begin; i < std::min(begin + block, x.n); ++i) {
            if (!any_before<1>(row + i, row[place[0]], descending)) continue;
            std::pop_heap(place, place + k, before);
            place[k - 1] = i;
            std::push_heap(place, place + k, before);
          }
        }
        std::sort_heap(place, place + k, before);
      }
    });
  });
}
/// The same for elements of 32 bits: words of (key, index) are partitioned by nth_element, and the first k sorted.
inline void parted_places(const AxisRows& x, std::int64_t k, bool descending, std::int64_t* places) {
  with_dtype(x.dense.dtype(), [&]<class T>(T) {
    if constexpr (sizeof(T) == 4)
      x.each_range(4 * x.n, [&](std::int64_t r, const std::int64_t end) {
        std::vector<std::uint64_t> keys(static_cast<std::size_t>(x.n));
        for (; r < end; ++r) {
          const T* const row = static_cast<const T*>(x.row(r));
          for (std::int64_t i = 0; i < x.n; ++i) {
            const std::uint32_t key = order_key(row[i]);
            keys[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(descending ? ~key : key) << 32 | static_cast<std::uint64_t>(i);
          }
          std::nth_element(keys.begin(), keys.begin() + k, keys.end());
          std::sort(keys.begin(), keys.begin() + k);
          for (std::int64_t i = 0; i < k; ++i) places[r * k + i] = static_cast<std::int64_t>(keys[static_cast<std::size_t>(i)] & 0xffffffff);
        }
      });
  });
}
/// The first k elements in order along an axis: their indices, and the elements if `values` is not null.
inline void order_kernel(const AlgorithmCall& a, const AxisRows& x, std::int64_t k, bool descending, Tensor* values, Tensor* indices) {
  const bool part = a.table && k > 0 && k <= x.n / 2 && is_host(x.dense.device()) && !x.dense.is_meta();
  const bool few = part && k <= std::max<std::int64_t>(x.n / 16, 4), parted = part && !few && size_of(x.dense.dtype()) == 4 && x.n < std::int64_t{1} << 32;
  Tensor place = x.matrix(DType::i64, few || parted ? k : x.n);
  if (few) first_places(x, k, descending, indices_of(place));
  else if (parted) parted_places(x, k, descending, indices_of(place));
  else if (a.table && x.rows == 1) sort_row(a, x.dense, x.n, descending, indices_of(place));
  else if (a.table)
    x.each_range(4 * x.n, [&](std::int64_t r, std::int64_t end) { a->sort(a.workspace, x.dense.dtype(), x.row(r), end - r, x.n, descending, indices_of(place) + r * x.n); });
  if (k < x.n && !few && !parted) place = place.slice(1, 0, k).clone();
  if (values) {
    Tensor v = x.matrix(x.dense.dtype(), k);
    const auto take = [&](std::int64_t r, std::int64_t rows, std::int64_t first, std::int64_t count) {
      const std::int64_t at = r * k + first;
      a->take(a.workspace, v.dtype(), x.row(r), rows, x.n, count, indices_of(place) + at, v.impl().data + at * size_of(v.dtype()));
    };
    if (a.table && x.rows == 1 && is_host(v.device())) in_ranges(k, 2, [&](std::int64_t begin, std::int64_t end) { take(0, 1, begin, end - begin); });
    else if (a.table) x.each_range(k, [&](std::int64_t r, std::int64_t end) { take(r, end - r, 0, k); });
    *values = x.with_axes(v);
  }
  *indices = x.with_axes(place);
}
TT_INLINE void Sort::kernel(Call& c, const Options& o) {
  if (call_widened(c, [&](Call& wide) { kernel(wide, o); })) return;
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], o.dim);
  order_kernel(a, x, x.n, o.descending, &c.result[0], &c.result[1]);
}
TT_INLINE void Argsort::kernel(Call& c, const Options& o) {
  if (call_widened(c, [&](Call& wide) { kernel(wide, o); })) return;
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], o.dim);
  order_kernel(a, x, x.n, o.descending, nullptr, &c.result[0]);
}
TT_INLINE void Topk::kernel(Call& c, const Options& o) {
  if (call_widened(c, [&](Call& wide) { kernel(wide, o); })) return;
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], o.dim);
  const std::int64_t k = o.k;
  if (k < 0 || k > x.n)
    TT_THROW(Error(Text("tt::topk: k is out of range: ") << k << " of " << x.n << " elements along axis " << x.dim << " of shape "
                                                         << c[0].shape() << "." << c.at));
  order_kernel(a, x, c[0].dim() ? k : 1, o.largest, &c.result[0], &c.result[1]);
}
/// Throws Error unless `place` is a matrix of i64 with as many rows as x, and (checked on the host only) of indices below `size`.
inline void need_places(const Call& c, const AxisRows& x, const AxisRows& place, std::int64_t size, bool as_many) {
  if (place.dense.dtype() != DType::i64 || x.rows != place.rows || x.dense.dim() != place.dense.dim() || (as_many && x.n != place.n))
    TT_THROW(Error(Text("tt::") << c.op->name() << ": places of shape " << c[1].shape() << " do not fit shape " << c[0].shape() << "." << c.at));
  if (!is_host(place.dense.device())) return;
  const std::int64_t* p = indices_of(place.dense);
  for (std::int64_t k = 0; k < place.rows * place.n; ++k)
    if (p[k] < 0 || p[k] >= size) TT_THROW(Error(Text("tt::") << c.op->name() << ": place " << p[k] << " is out of range: " << size << "." << c.at));
}
TT_INLINE void SortTake::kernel(Call& c, const Options& o) {
  if (call_widened(c, [&](Call& wide) { kernel(wide, o); })) return;
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], o.dim), place(a, c[1], o.dim);
  need_places(c, x, place, x.n, false);
  Tensor out = x.matrix(x.dense.dtype(), place.n);
  if (a.table) a->take(a.workspace, out.dtype(), x.data(), x.rows, x.n, place.n, indices_of(place.dense), out.data());
  c.result[0] = x.with_axes(out);
}
TT_INLINE void SortPut::kernel(Call& c, const Options& o) {
  if (call_widened(c, [&](Call& wide) { kernel(wide, o); })) return;
  const AlgorithmCall a(c);
  const AxisRows x(a, c[0], o.dim), place(a, c[1], o.dim);
  const std::int64_t size = o.size.value;
  need_places(c, x, place, size, true);
  Tensor out = x.matrix(x.dense.dtype(), size);
  if (a.table) a->put(a.workspace, out.dtype(), x.data(), x.rows, size, x.n, indices_of(place.dense), out.data());
  c.result[0] = x.with_axes(out);
}

// ---- sums

TT_INLINE void Cumsum::kernel(Call& c, const Options& o) {
  if (call_widened(c, [&](Call& wide) { kernel(wide, o); })) return;
  const AlgorithmCall a(c);
  const Tensor t = is_floating(c[0].dtype()) ? c[0] : convert(c[0], DType::i64, c.at);
  const AxisRows x(a, t, o.dim);
  Tensor out = x.matrix(t.dtype(), x.n);
  if (a.table)
    x.each_range(x.n, [&](std::int64_t r, std::int64_t end) {
      a->cumsum(a.workspace, t.dtype(), x.row(r), end - r, x.n, o.reverse, out.impl().data + r * x.n * size_of(t.dtype()));
    });
  c.result[0] = x.with_axes(out);
}

// ---- runs

/// Runs of equal consecutive elements of `x`, as it is or in a given order.
struct Runs {
  Tensor run, start;
  std::int64_t count = 0;

  Runs(const AlgorithmCall& a, const Tensor& x, const std::int64_t* order) : run(new_vector(x, DType::i64, x.numel())) {
    const std::int64_t n = x.numel();
    count = a->runs(a.workspace, x.dtype(), x.impl().data, n, order, indices_of(run));
    start = new_vector(x, DType::i64, count + 1);
    if (n > 0) a->run_starts(a.workspace, indices_of(run), n, indices_of(start));
  }
  /// The element of `x` at the start of each run.
  Tensor firsts(const AlgorithmCall& a, const Tensor& x) const {
    Tensor v = new_vector(x, x.dtype(), count);
    a->take(a.workspace, x.dtype(), x.impl().data, 1, x.numel(), count, indices_of(start), v.data());
    return v;
  }
};
TT_INLINE void Unique::kernel(Call& c, const Options& o) {
  if (call_widened(c, [&](Call& wide) { kernel(wide, o); })) return;
  need_readable(c);
  const AlgorithmCall a(c);
  const Tensor x = c[0].contiguous();
  const std::int64_t n = x.numel();
  const bool wants_inverse = o.return_inverse, wants_counts = o.return_counts;
  const Tensor order = new_vector(x, DType::i64, n);
  sort_row(a, x, n, false, indices_of(order));
  const Runs runs(a, x, indices_of(order));
  const Tensor first = runs.firsts(a, order);
  c.result[0] = new_vector(x, x.dtype(), runs.count);
  a->take(a.workspace, x.dtype(), x.impl().data, 1, n, runs.count, indices_of(first), c.result[0].data());
  c.result[1] = Tensor(DType::i64, wants_inverse ? x.impl().shape : Shape{0}, x.device());
  if (wants_inverse) a->run_of_each(a.workspace, indices_of(runs.run), indices_of(order), n, indices_of(c.result[1]));
  c.result[2] = new_vector(x, DType::i64, wants_counts ? runs.count : 0);
  if (wants_counts) a->run_lengths(a.workspace, indices_of(runs.start), runs.count, indices_of(c.result[2]));
}
TT_INLINE void ReduceByKey::kernel(Call& c, const Options& o) {
  if (call_widened(c, [&](Call& wide) { kernel(wide, o); })) return;
  if (c[0].dim() != 1 || !(c[0].impl().shape == c[1].impl().shape))
    TT_THROW(Error(Text("tt::reduce_by_key: keys and values are not vectors of one length: ") << c[0].shape() << " and "
                                                                                              << c[1].shape() << "." << c.at));
  need_readable(c);
  const AlgorithmCall a(c);
  const Tensor keys = c[0].contiguous();
  const Tensor values = (is_floating(c[1].dtype()) ? c[1] : convert(c[1], DType::i64, c.at)).contiguous();
  const Runs runs(a, keys, nullptr);
  c.result[0] = runs.firsts(a, keys);
  c.result[1] = new_vector(values, values.dtype(), runs.count);
  a->run_sums(a.workspace, values.dtype(), values.impl().data, indices_of(runs.start), runs.count, c.result[1].data());
}

// ---- derivatives

[[noreturn]] inline void no_derivative(const DerivativeStep& s) {
  TT_THROW(Error(Text("tt::backward: ") << s.op->name() << " has no derivative. Use detach() there?" << s.at));
}
TT_INLINE void Unique::derivative(const DerivativeStep& s, const Options&) { no_derivative(s); }
TT_INLINE void ReduceByKey::derivative(const DerivativeStep& s, const Options&) { no_derivative(s); }

}  // namespace detail

namespace detail {
template <class = void>
void register_sorted_functions();
}  // namespace detail

TT_LAZY_DEFINITION SortResult sort(const Tensor& x, int dim, bool descending, bool stable, SourceLine at) {
  const auto [values, indices] = call_with<detail::Sort>(at, {dim, descending, stable}, x);
  return {values, indices};
}
TT_LAZY_DEFINITION Tensor argsort(const Tensor& x, int dim, bool descending, bool stable, SourceLine at) {
  return call_with<detail::Argsort>(at, {dim, descending, stable}, x);
}
TT_LAZY_DEFINITION SortResult topk(const Tensor& x, std::int64_t k, int dim, bool largest, bool sorted, SourceLine at) {
  const auto [values, indices] = call_with<detail::Topk>(at, {k, dim, largest, sorted}, x);
  return {values, indices};
}
TT_LAZY_DEFINITION UniqueResult unique(const Tensor& x, bool sorted, bool return_inverse, bool return_counts, SourceLine at) {
  const auto [values, inverse, counts] = call_with<detail::Unique>(at, {sorted, return_inverse, return_counts}, x);
  return {values, inverse, counts};
}
TT_LAZY_DEFINITION Tensor cumsum(const Tensor& x, int dim, SourceLine at) { return call_with<detail::Cumsum>(at, {dim, false}, x); }
TT_LAZY_DEFINITION ReduceByKeyResult reduce_by_key(const Tensor& keys, const Tensor& values, SourceLine at) {
  const auto [key, sum] = call_with<detail::ReduceByKey>(at, {}, keys, values);
  return {key, sum};
}

TT_LAZY_DEFINITION void register_algorithms() {
  operator_entry<detail::Sort>();
  operator_entry<detail::Argsort>();
  operator_entry<detail::Topk>();
  operator_entry<detail::Unique>();
  operator_entry<detail::Cumsum>();
  operator_entry<detail::ReduceByKey>();
  operator_entry<detail::SortTake>();
  operator_entry<detail::SortPut>();
  detail::register_sorted_functions<>();
}

}  // namespace tt
