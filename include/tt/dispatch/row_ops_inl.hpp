// Operators along one axis with kernels on the host: products, scans, order statistics, search in sorted rows. In captured graphs they are calls between fused
// programs. Their functions are documented in dispatch/reduction_functions.hpp. A long file: one operator after the other.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "tt/dispatch/argument_checks.hpp"
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/index_kernels.hpp"
#include "tt/dispatch/order.hpp"
#include "tt/dispatch/shared_ranges.hpp"
#include "tt/functional/elementwise.hpp"

namespace tt {
namespace detail {

/// A host Tensor as a contiguous matrix in the compute dtype, with rows along one of its axes. A scalar is one row.
struct HostRows {
  Tensor dense;
  int dim = 0;
  std::int64_t rows = 1, n = 1;

  HostRows(const Call& c, const Tensor& t, int axis, DType as) : dim(axis_of(t, axis, c.op->name() + (c.op->name()[0] == '_'), c.at, t.dim() ? t.dim() : 1)) {
    dense = convert(t, as, c.at);
    if (dense.dim() > 0) dense = dense.transpose(dim, -1, c.at);
    dense = dense.contiguous(c.at);
    const Shape& s = dense.impl().shape;
    if (s.rank > 0) n = s.code[s.rank - 1];
    for (int k = 0; k < s.rank - 1; ++k) rows *= s.code[k];
  }
  template <class T>
  const T* row(std::int64_t r) const { return reinterpret_cast<const T*>(dense.impl().data) + r * n; }
  Tensor matrix(DType d, std::int64_t columns) const { return Tensor(d, Shape{rows, columns}); }
  /// f(r) for each row, on several threads: see in_ranges.
  template <class F>
  void each(const F& f) const {
    in_ranges(rows, n, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) f(r);
    });
  }
  /// A scan: element k is next(previous result, index, is it the first?), forwards or in reverse. Four rows at a time, as within a row each step waits for the
  /// one before.
  template <class T, class Next>
  void running(const Tensor& out, bool reverse, const Next& next) const {
    const auto rows_from = [&]<int N>(std::int64_t r, std::integral_constant<int, N>) {
      T* const to = out.data_ptr<T>() + r * n;
      T s[N] = {};
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t k = reverse ? n - 1 - i : i;
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) s[j] = next(s[j], (r + j) * n + k, i == 0);
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) to[j * n + k] = s[j];
      }
    };
    in_ranges(rows, n, [&](std::int64_t begin, std::int64_t end) {
      for (; begin + 4 <= end; begin += 4) rows_from(begin, std::integral_constant<int, 4>());
      for (; begin < end; ++begin) rows_from(begin, std::integral_constant<int, 1>());
    });
  }
  /// The matrix as a Tensor with this Tensor's axes.
  Tensor with_axes(Tensor matrix, DType as, SourceLine at) const {
    Shape s = dense.impl().shape;
    if (s.rank > 0) s.set(s.rank - 1, matrix.impl().shape[1]);
    matrix.impl().set_dense(s);
    if (s.rank > 0) matrix = matrix.transpose(dim, -1, at).contiguous(at);
    return convert(matrix, as, at);
  }
};
/// The result of a call on Meta Tensors; size: of axis `dim`, if not negative.
inline Tensor meta_like(const Tensor& x, DType d, int dim, std::int64_t size) {
  Shape s = x.impl().shape;
  if (s.rank > 0 && size >= 0) s.set(normalize_axis(dim, s.rank), size);
  return Tensor(d, s, {DeviceType::meta, 0});
}
inline DType summed_dtype(DType d) { return is_floating(d) ? d : DType::i64; }
template <class F>
void with_real(DType d, const F& f) {
  if (d == DType::f64) f(double{});
  else f(float{});
}
template <class F>
void with_summed(DType d, const F& f) {
  if (d == DType::i64) f(std::int64_t{});
  else with_real(d, f);
}
inline DType computed(DType d) { return compute_dtype(summed_dtype(d)); }

/// Elements shifted by one along an axis, up or down; the vacated one is `fill`.
struct ShiftByOne {
  struct Options {
    int dim = 0;
    bool up = true;
    double fill = 0;
  };
  static constexpr OpInfo info{.name = "_shift_by_one", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    const Shape s = x.shape();
    if (s.rank == 0) return constant_like(x, o.fill);
    const int k = normalize_axis(o.dim, s.rank);
    if (s[k] == Extent(0)) return x;
    const int part = x.graph->slice(x.id, k, o.up ? 0 : 1, s[k] - Extent(1), 1);
    return {x.graph, x.graph->pad(part, {{k, k}, {o.up ? 1 : 0, 0}}, s, encode(x.dtype(), o.fill))};
  }
};
template <class X>
auto shifted(SourceLine at, const X& x, int dim, bool up, double fill = 0) { return call_with<ShiftByOne>(at, {dim, up, fill}, x); }

/// s[k] = a[k] s[k - 1] + b[k] along an axis, from s[0] = b[0] on; or in reverse from the end.
template <class = void>
struct LinearScan {
  struct Options {
    int dim = 0;
    bool reverse = false;
  };
  static constexpr OpInfo info{.name = "_linear_scan", .arguments = "a, b"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr bool keeps_values = true;
  static Sym like(const Sym&, const Sym& b, const Options&) { return symbol_like(b, b.dtype(), b.shape()); }
  static void kernel(Call& c, const Options& o) {
    const DType d = c[1].dtype(), sums = computed(d);
    if (c[1].is_meta()) return static_cast<void>(c.result[0] = meta_like(c[1], d, 0, -1));
    const HostRows a(c, c[0], o.dim, sums), b(c, c[1], o.dim, sums);
    const Tensor out = b.matrix(sums, b.n);
    with_summed(sums, [&]<class T>(T) {
      const T *x = a.row<T>(0), *y = b.row<T>(0);
      b.running<T>(out, o.reverse, [=](T s, std::int64_t k, bool first) { return first ? y[k] : x[k] * s + y[k]; });
    });
    c.result[0] = b.with_axes(out, d, c.at);
  }
  static void derivative(const auto& s, const Options& o) {
    const auto flow = call_with<LinearScan<>>(s.at, {o.dim, !o.reverse}, shifted(s.at, s.argument[0], o.dim, o.reverse), s.gradient[0]);
    s.out[1] = flow;
    s.out[0] = flow * shifted(s.at, s.result[0], o.dim, !o.reverse);
  }
};

/// The cumulative sum, added in order.
template <class = void>
Tensor running_sum(const Tensor& x, int dim, SourceLine at) { return call_with<LinearScan<>>(at, {dim}, ones(x.shape(at), on_device(x.dtype(), x.device()), at), x); }

template <class = void>
struct Cumprod {
  struct Options {
    int dim = 0;
    bool reverse = false;
  };
  static constexpr OpInfo info{.name = "cumprod", .arguments = "input, .dim"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& x, const Options& o) {
    const Sym y = with_size_along(x, o.dim, x.shape().rank ? x.shape()[normalize_axis(o.dim, x.shape().rank) < 0 ? 0 : normalize_axis(o.dim, x.shape().rank)] : Extent(1), info.name);
    return symbol_like(y, summed_dtype(x.dtype()), x.shape());
  }
  static void kernel(Call& c, const Options& o) {
    const DType d = summed_dtype(c[0].dtype()), wide = computed(d);
    if (c[0].is_meta()) return static_cast<void>(c.result[0] = meta_like(c[0], d, 0, -1));
    const HostRows x(c, c[0], o.dim, wide);
    const Tensor out = x.matrix(wide, x.n);
    with_summed(wide, [&]<class T>(T) {
      const T* const from = x.row<T>(0);
      x.running<T>(out, o.reverse, [=](T p, std::int64_t k, bool first) {
        if (first) return from[k];
        if constexpr (std::is_integral_v<T>) return wrap_mul(p, from[k]);
        else return p * from[k];
      });
    });
    c.result[0] = x.with_axes(out, d, c.at);
  }
  static void derivative(const auto& s, const Options& o) {
    const auto flow = call_with<LinearScan<>>(s.at, {o.dim, !o.reverse}, shifted(s.at, s.argument[0], o.dim, o.reverse), s.gradient[0]);
    s.out[0] = flow * shifted(s.at, s.result[0], o.dim, !o.reverse, 1);
  }
};
/// The product along one axis, which keeps extent 1.
template <class = void>
struct Prod {
  struct Options {
    int dim = 0;
  };
  static constexpr OpInfo info{.name = "_prod", .arguments = "input, .dim"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& x, const Options& o) {
    const Sym y = with_size_along(x, o.dim, 1, info.name);
    return symbol_like(y, summed_dtype(x.dtype()), y.shape());
  }
  static void kernel(Call& c, const Options& o) {
    const DType d = summed_dtype(c[0].dtype()), wide = computed(d);
    if (c[0].is_meta()) return static_cast<void>(c.result[0] = meta_like(c[0], d, o.dim, 1));
    if (const int rank = c[0].dim(), axis = normalize_axis(o.dim, rank); axis >= 0 && axis < rank - 1 && c[0].impl().shape.code[axis] <= most_in_columns) return columns(c, axis, d, wide);
    const HostRows x(c, c[0], o.dim, wide);
    const Tensor out = x.matrix(wide, 1);
    const std::int64_t blocks = x.n > block ? (x.n + block - 1) / block : 1;
    const Tensor parts = blocks == 1 ? out : x.matrix(wide, blocks);
    with_summed(wide, [&]<class T>(T) {
      T* const part = parts.data_ptr<T>();
      in_ranges(x.rows * blocks, x.n < block ? x.n : block, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t first = i % blocks * block;
          part[i] = product(x.row<T>(i / blocks) + first, x.n - first < block ? x.n - first : block);
        }
      });
      for (std::int64_t r = 0; r < x.rows && blocks > 1; ++r) out.data_ptr<T>()[r] = product(part + r * blocks, blocks);
    });
    c.result[0] = x.with_axes(out, d, c.at);
  }
  /// Of each element the product of the others: of those before it, times those behind it.
  static void derivative(const auto& s, const Options& o) {
    const auto before = shifted(s.at, call_with<Cumprod<>>(s.at, {o.dim, false}, s.argument[0]), o.dim, true, 1);
    const auto behind = shifted(s.at, call_with<Cumprod<>>(s.at, {o.dim, true}, s.argument[0]), o.dim, false, 1);
    s.out[0] = s.gradient[0] * (before * behind);
  }

 private:
  /// Rows are products of blocks, shared by threads. A product that vanishes passes through denormal numbers once in each block, so blocks are large.
  static constexpr std::int64_t block = 1 << 18, most_in_columns = 1 << 15;
  static constexpr int lanes = 64;
  template <class T>
  using NumberOf = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;  // integers wrap
  /// Along an axis that is not the last: many columns at once, each in the order in which `product` takes a row.
  static void columns(Call& c, int axis, DType d, DType wide) {
    const Tensor x = convert(c[0], wide, c.at).contiguous(c.at);
    const Shape& s = x.impl().shape;
    Shape one = s;
    one.set(axis, 1);
    const std::int64_t n = s.code[axis], outer = s.count(0, axis).code, inner = s.count(axis + 1, s.rank).code;
    const Tensor out(wide, one);
    with_summed(wide, [&]<class T>(T) {
      using Number = NumberOf<T>;
      constexpr std::int64_t width = 16;
      const std::int64_t strips = (inner + width - 1) / width;
      in_ranges(outer * strips, n * width, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t first = i % strips * width, count = std::min(width, inner - first);
          const T* from = x.data_ptr<T>() + i / strips * n * inner + first;
          T* const to = out.data_ptr<T>() + i / strips * inner + first;
          std::int64_t left = std::min<std::int64_t>(n, lanes);
          Number p[lanes][width];
          for (std::int64_t j = 0; j < width * std::max<std::int64_t>(left, 1); ++j) p[j / width][j % width] = 1;
          const auto each = [&](std::int64_t many) {
            for (std::int64_t k = 0; k < n; ++k, from += inner)
              if (k < lanes)
                for (std::int64_t j = 0; j < many; ++j) p[k][j] = static_cast<Number>(from[j]);
              else
                for (std::int64_t j = 0; j < many; ++j) p[k % lanes][j] *= static_cast<Number>(from[j]);
          };
          if (count == width) each(width);
          else each(count);
          for (std::int64_t half = lanes / 2; half > 0; half /= 2, left = std::min(left, 2 * half))
            for (std::int64_t k = 0; k + half < left; ++k)
              for (std::int64_t j = 0; j < width; ++j) p[k][j] *= p[k + half][j];
          for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<T>(p[0][j]);
        }
      });
    });
    c.result[0] = convert(out, d, c.at);
  }
  /// The product of n elements, as 64 independent products, then joined pairwise.
  template <class T>
  static T product(const T* from, std::int64_t n) {
    using Number = NumberOf<T>;
    using Vector [[gnu::vector_size(__BIGGEST_ALIGNMENT__)]] = Number;
    constexpr int each = __BIGGEST_ALIGNMENT__ / sizeof(T), vectors = lanes / each;
    Vector p[vectors];
    for (Vector& one : p) one = Vector{} + Number(1);
    std::int64_t k = 0;
    for (; k + lanes <= n; k += lanes)
#pragma GCC unroll 32
      for (int j = 0; j < vectors; ++j) {
        Vector v;
        std::memcpy(&v, from + k + j * each, sizeof v);
        p[j] *= v;
      }
    for (int j = 0; k < n; ++k, ++j) p[j / each][j % each] *= static_cast<Number>(from[k]);
    for (int half = vectors / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) p[j] *= p[j + half];
    Number last[each];
    std::memcpy(last, p, sizeof last);
    for (int half = each / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) last[j] *= last[j + half];
    return static_cast<T>(last[0]);
  }
};
template <class = void>
struct Logcumsumexp {
  struct Options {
    int dim = 0;
  };
  static constexpr OpInfo info{.name = "logcumsumexp", .arguments = "input, .dim"};
  static constexpr Batching batching = Batching::along_dim;
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& x, const Options&) { return need_real(x, info.name); }
  static void kernel(Call& c, const Options& o) {
    const DType d = c[0].dtype(), real = compute_dtype(d);
    need_floating(info.name, c[0], c.at);
    if (c[0].is_meta()) return static_cast<void>(c.result[0] = meta_like(c[0], d, 0, -1));
    const HostRows x(c, c[0], o.dim, real);
    const Tensor out = x.matrix(real, x.n);
    with_real(real, [&]<class T>(T) {
      x.each([&](std::int64_t r) {
        const T* const from = x.row<T>(r);
        T* const to = out.data_ptr<T>() + r * x.n;
        T s = -std::numeric_limits<T>::infinity();
        for (std::int64_t k = 0; k < x.n; ++k) {
          const T low = from[k] < s ? from[k] : s, high = from[k] < s ? s : from[k];
          s = low != low || high != high ? low + high : high - low == 0 || std::isfinite(high) ? high + std::log1p(std::exp(low - high)) : high;
          to[k] = s;
        }
      });
    });
    c.result[0] = x.with_axes(out, d, c.at);
  }
  static void derivative(const auto& s, const Options& o) {
    const auto& y = s.result[0];
    const auto next = shifted(s.at, y, o.dim, false);
    const auto flow = call_with<LinearScan<>>(s.at, {o.dim, true}, tt::exp(tt::where(next <= y, 0.0, y - next)), s.gradient[0]);
    s.out[0] = flow * tt::exp(tt::where(s.argument[0] == y, 0.0, s.argument[0] - y));
  }
};

/// Symbols of ops that pick elements: the elements and their indices.
struct PickedLike {
  Sym values, indices;
};
/// Options of ops that give values of an axis and their indices; gradients go to these indices.
struct PickOptions {
  int dim = 0;
  std::int64_t k = 0;
};
inline PickedLike picked_like(const Sym& x, const Sym& values) { return {values, symbol_like(x, DType::i64, values.shape())}; }
inline void picked_derivative(const auto& s, int dim) { s.out[0] = call_with<ScatterAdd>(s.at, {dim}, zeros_of(s), s.result[1], s.gradient[0]); }
/// f(row, its length, values out, indices out) for each row.
template <class F>
void pick_kernel(Call& c, int dim, std::int64_t columns, const F& f) {
  const DType d = c[0].dtype(), wide = compute_dtype(d);
  if (c[0].is_meta()) {
    c.result[0] = meta_like(c[0], d, dim, columns);
    c.result[1] = meta_like(c[0], DType::i64, dim, columns);
    return;
  }
  const HostRows x(c, c[0], dim, wide);
  const std::int64_t m = columns < 0 ? x.n : columns;
  if (columns >= 0 && x.n == 0)
    TT_THROW(Error(Text("tt::") << c.op->name() + (c.op->name()[0] == '_') << ": there are no elements to choose from along axis " << x.dim << " of shape " << c[0].shape() << "." << c.at));
  const Tensor values = x.matrix(wide, m), places = x.matrix(DType::i64, m);
  with_compute_dtype(wide, [&]<class T>(T) {
    x.each([&](std::int64_t r) { f(x.row<T>(r), x.n, values.data_ptr<T>() + r * m, places.data_ptr<std::int64_t>() + r * m); });
  });
  c.result[0] = x.with_axes(values, d, c.at);
  c.result[1] = x.with_axes(places, DType::i64, c.at);
}

template <bool Max>
struct CumulativeExtreme {
  using Options = PickOptions;
  using Results = PickedLike;
  static constexpr OpInfo info{.name = Max ? "cummax" : "cummin", .arguments = "input, .dim"};
  static constexpr Batching batching = Batching::along_dim;
  static PickedLike like(const Sym& x, const Options&) { return picked_like(x, symbol_like(x, x.dtype(), x.shape())); }
  static void kernel(Call& c, const Options& o) {
    pick_kernel(c, o.dim, -1, []<class T>(const T* x, std::int64_t n, T* value, std::int64_t* place) {
      T best{};
      std::int64_t at = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        if (k == 0 || x[k] != x[k] || (best == best && (Max ? x[k] >= best : x[k] <= best))) best = x[k], at = k;
        value[k] = best;
        place[k] = at;
      }
    });
  }
  static void derivative(const auto& s, const Options& o) { picked_derivative(s, o.dim); }
};
/// The k-th smallest key; permutes the keys. Radix select by bytes, the highest first, until few keys are left. (std::nth_element alone waits for a comparison
/// at each step.)
template <class Key>
Key kth_key(std::vector<Key>& keys, std::size_t k) {
  constexpr std::size_t few = 64;
  for (int shift = 8 * static_cast<int>(sizeof(Key)) - 8; shift >= 0 && keys.size() > few; shift -= 8) {
    const auto byte_of = [shift](Key key) { return static_cast<std::size_t>(key >> shift & 255); };
    std::size_t count[256] = {}, byte = 0, kept = 0;
    for (const Key key : keys) ++count[byte_of(key)];
    while (k >= count[byte]) k -= count[byte++];
    for (const Key key : keys) {
      keys[kept] = key;
      kept += byte_of(key) == byte;
    }
    keys.resize(kept);
  }
  std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(k), keys.end());
  return keys[k];
}
/// The k-th smallest element (k from 1) of an axis, which keeps extent 1. k = 0: the median, the lower of two; k = -1: the median of the elements that are not
/// NaN.
template <class = void>
struct Kthvalue {
  using Options = PickOptions;
  using Results = PickedLike;
  static constexpr OpInfo info{.name = "_kthvalue", .arguments = "input, .dim, .k"};
  static constexpr Batching batching = Batching::along_dim;
  static PickedLike like(const Sym& x, const Options& o) { return picked_like(x, with_size_along(x, o.dim, 1, info.name)); }
  static void kernel(Call& c, const Options& o) {
    const auto one = [&]<class T>(const T* x, std::int64_t n, T* value, std::int64_t* place) {
      std::vector<decltype(order_key(*x))> keys;
      keys.reserve(static_cast<std::size_t>(n));
      std::int64_t first_nan = -1;
      for (std::int64_t i = 0; i < n; ++i) {
        if (x[i] != x[i] && first_nan < 0) first_nan = i;
        if (o.k >= 0 || x[i] == x[i]) keys.push_back(order_key(x[i]));
      }
      if (first_nan >= 0 && (o.k == 0 || keys.empty())) return static_cast<void>((*value = x[first_nan], *place = first_nan));
      const std::size_t k = o.k > 0 ? static_cast<std::size_t>(o.k - 1) : (keys.size() - 1) / 2;
      const auto key = kth_key(keys, k);
      auto equal = static_cast<std::int64_t>(k);  // equal elements before the k-th
      for (std::int64_t i = 0; i < n; ++i) equal -= order_key(x[i]) < key;
      std::int64_t i = 0;
      while (order_key(x[i]) != key || equal-- > 0) ++i;
      *place = i;
      *value = x[i];
    };
    pick_kernel(c, o.dim, 1, one);
  }
  static void derivative(const auto& s, const Options& o) { picked_derivative(s, o.dim); }
};
/// The most frequent element of an axis, the smallest of several, and its last index.
template <class = void>
struct Mode {
  using Options = PickOptions;
  using Results = PickedLike;
  static constexpr OpInfo info{.name = "_mode", .arguments = "input, .dim"};
  static constexpr Batching batching = Batching::along_dim;
  static PickedLike like(const Sym& x, const Options& o) { return picked_like(x, with_size_along(x, o.dim, 1, info.name)); }
  static void kernel(Call& c, const Options& o) {
    pick_kernel(c, o.dim, 1, []<class T>(const T* x, std::int64_t n, T* value, std::int64_t* place) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(n));
      for (std::int64_t k = 0; k < n; ++k) order[static_cast<std::size_t>(k)] = k;
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return comes_before(x[a], x[b]); });
      std::int64_t most = 0, run = 0;
      for (std::size_t k = 0; k < order.size(); ++k) {
        run = k > 0 && x[order[k]] == x[order[k - 1]] ? run + 1 : 1;
        if (run > most) most = run, *value = x[order[k]], *place = order[k];
      }
    });
  }
  static void derivative(const auto& s, const Options& o) { picked_derivative(s, o.dim); }
};

/// The index at which each value would be inserted into its sorted row: before equal elements, or (right) behind them.
template <class = void>
struct Searchsorted {
  struct Options {
    bool out_int32 = false, right = false;
  };
  static constexpr OpInfo info{.name = "_searchsorted", .arguments = "sorted_sequence, input"};
  static Sym like(const Sym&, const Sym& v, const Options& o) { return symbol_like(v, o.out_int32 ? DType::i32 : DType::i64, v.shape()); }
  static void kernel(Call& c, const Options& o) {
    const Shape s = c[0].impl().shape, v = c[1].impl().shape;
    bool fits = s.rank == 1 || s.rank == v.rank;
    for (int k = 0; fits && s.rank > 1 && k < s.rank - 1; ++k) fits = s.code[k] == v.code[k];
    if (!fits || s.rank == 0) TT_THROW(Error(Text("tt::searchsorted: sequences of shape ") << c[0].shape() << " do not fit values of shape " << c[1].shape() << "." << c.at));
    const DType d = compute_dtype(promote(c[0].dtype(), c[1].dtype())), to = o.out_int32 ? DType::i32 : DType::i64;
    if (c[1].is_meta()) return static_cast<void>(c.result[0] = meta_like(c[1], to, 0, -1));
    const Tensor rows = convert(c[0], d, c.at).contiguous(c.at), values = convert(c[1], d, c.at).contiguous(c.at);
    const std::int64_t n = s.code[s.rank - 1], each = v.rank > 0 ? v.code[v.rank - 1] : 1;
    Tensor out(DType::i64, v);
    with_dtype(d, [&]<class T>(T) {
      const T *const x = values.data_ptr<T>(), *const sorted = rows.data_ptr<T>();
      auto* const place = out.data_ptr<std::int64_t>();
      in_ranges(values.impl().numel, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
          const T* const first = sorted + (s.rank == 1 ? 0 : k / each * n);
          place[k] = (o.right ? std::upper_bound(first, first + n, x[k], comes_before<T>) : std::lower_bound(first, first + n, x[k], comes_before<T>)) - first;
        }
      });
    });
    c.result[0] = convert(out, to, c.at);
  }
};
/// The greatest common divisor of two integers of one shape, and their least common multiple.
template <bool Lcm>
struct CommonDivisor {
  static constexpr OpInfo info{.name = Lcm ? "_lcm" : "_gcd", .arguments = "input, other"};
  static constexpr Batching batching = Batching::in_front;
  using Options = NoOptions;
  static Sym like(const Sym& x, const Sym&, const Options&) { return symbol_like(x, x.dtype(), x.shape()); }
  static void kernel(Call& c, const NoOptions&) {
    const DType d = c[0].dtype();
    if (!is_integral(d)) TT_THROW(Error(Text("tt::") << (Lcm ? "lcm" : "gcd") << ": dtype is not accepted: " << name(d) << "." << c.at));
    if (c[0].is_meta()) return static_cast<void>(c.result[0] = meta_like(c[0], d, 0, -1));
    const Tensor a = convert(c[0], DType::i64, c.at).contiguous(c.at), b = convert(c[1], DType::i64, c.at).contiguous(c.at);
    Tensor out(DType::i64, a.impl().shape);
    const auto *left = a.data_ptr<std::int64_t>(), *right = b.data_ptr<std::int64_t>();
    auto* const to = out.data_ptr<std::int64_t>();
    const auto size = [](std::int64_t v) { return v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v); };
    in_ranges(a.impl().numel, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::uint64_t x = size(left[k]), y = size(right[k]), g = divisor(x, y);
        to[k] = static_cast<std::int64_t>(!Lcm ? g : g == 0 ? 0 : x / g * y);
      }
    });
    c.result[0] = convert(out, d, c.at);
  }

 private:
  /// Binary algorithm (Stein, 1967): shifts and differences, no division.
  static std::uint64_t divisor(std::uint64_t a, std::uint64_t b) {
    if (a == 0 || b == 0) return a | b;
    const int twos = __builtin_ctzll(a | b);
    a >>= __builtin_ctzll(a);
    for (int shift = __builtin_ctzll(b);;) {
      b >>= shift;
      const std::uint64_t apart = a > b ? a - b : b - a;
      a = a < b ? a : b;
      if (apart == 0) return a << twos;
      shift = __builtin_ctzll(apart);
      b = apart;
    }
  }
};

}  // namespace detail
}  // namespace tt
