// The reference executor: evaluates a graph node by node with scalars, as plainly as possible. All other executors are tested against it, bit for bit.
//   detail::Reference r(g, symbols);  r.values[g.inputs[0]].bits = ...;  r.run();      // then r.values[g.outputs[0]]
#pragma once
#include <utility>

#include "tt/graph/reduce_order.hpp"
#include "tt/graph/sym.hpp"
#include "tt/graph/transform.hpp"

namespace tt {

TT_KERNELS_BEGIN

namespace detail {

/// Elements of any dtype, contiguous and row-major.
struct ReferenceValue {
  Vec<std::uint64_t> bits;  // each element encoded on its own

  template <class T>
  T get(std::int64_t i) const {
    return decode<T>(bits[static_cast<int>(i)]);
  }
  template <class T>
  void set(std::int64_t i, T x) {
    if constexpr (std::is_same_v<T, float>) bits[static_cast<int>(i)] = std::bit_cast<std::uint32_t>(x);
    else if constexpr (std::is_same_v<T, double>)
      bits[static_cast<int>(i)] = std::bit_cast<std::uint64_t>(x);
    else if constexpr (NarrowElement<T>) set(i, static_cast<compute_t<T>>(x));
    else bits[static_cast<int>(i)] = static_cast<std::uint64_t>(x);
  }
};

struct Reference {
  const Graph& g;
  const SymbolValues& symbols;
  Vec<ReferenceValue> values;

  Reference(const Graph& graph, const SymbolValues& s) : g(graph), symbols(s) {
    for (int i = 0; i < g.size(); ++i) {
      values.push_back({});
      values[i].bits = Vec<std::uint64_t>(static_cast<int>(size(i)), 0);
    }
  }
  std::int64_t size(int i) const { return g[i].shape.size().value(symbols); }
  std::int64_t extent(int i, int axis) const { return g[i].shape[axis].value(symbols); }

  /// The element of operand `o` that element `index` of node `i` reads: broadcast, axes aligned from the right.
  std::int64_t under(int o, int i, std::int64_t index) const {
    std::int64_t at = 0, stride = 1;
    for (int k = 0; k < g[i].shape.rank; ++k) {
      const std::int64_t n = g[i].shape.from_right(k).value(symbols);
      const std::int64_t m = g[o].shape.from_right(k).value(symbols);
      if (m != 1) at += index % n * stride;
      index /= n;
      stride *= m;
    }
    return at;
  }
  void coordinates(int i, std::int64_t index, std::int64_t* c) const {
    for (int k = g[i].shape.rank - 1; k >= 0; --k) {
      c[k] = index % extent(i, k);
      index /= extent(i, k);
    }
  }
  std::int64_t index_of(int i, const std::int64_t* c) const {
    std::int64_t at = 0;
    for (int k = 0; k < g[i].shape.rank; ++k) at = at * extent(i, k) + c[k];
    return at;
  }

  void run() {
    for (int i = 0; i < g.size(); ++i) evaluate(i);
  }
  void evaluate(int i) {
    const Node& n = g[i];
    const std::int64_t count = size(i);
    ReferenceValue& out = values[i];
    const auto in = [&](int k) -> const ReferenceValue& { return values[n.operand[k]]; };
    switch (n.op) {
      case Op::input: return;
      case Op::constant: out.bits[0] = n.bits; return;
      case Op::extent:
        with_compute_dtype(n.dtype, [&]<class T>(T) {
          out.set(0, static_cast<T>(Extent::from_code(n.attribute).value(symbols)));
        });
        return;
      case Op::iota:
        with_compute_dtype(n.dtype, [&]<class T>(T) {
          for (std::int64_t e = 0; e < count; ++e) {
            std::int64_t c[max_rank] = {};
            coordinates(i, e, c);
            out.set(e, static_cast<T>(c[n.attribute]));
          }
        });
        return;
      case Op::reshape: case Op::detach:
        for (std::int64_t e = 0; e < count; ++e)
          out.bits[static_cast<int>(e)] = in(0).bits[static_cast<int>(e)];
        return;
      case Op::permute: case Op::slice: {
        const SliceAttribute s = n.op == Op::slice ? g.attributes<SliceAttribute>(n) : SliceAttribute{};
        for (std::int64_t e = 0; e < count; ++e) {
          std::int64_t c[max_rank] = {}, from[max_rank] = {};
          coordinates(i, e, c);
          for (int k = 0; k < n.shape.rank; ++k) {
            if (n.op == Op::permute) from[g.permuted_axis(n, k)] = c[k];
            else from[k] = k == s.axis ? s.start.value(symbols) + c[k] * s.step : c[k];
          }
          out.bits[static_cast<int>(e)] =
              in(0).bits[static_cast<int>(index_of(n.operand[0], from))];
        }
        return;
      }
      case Op::window: case Op::pad: case Op::slice_scatter: {
        const WindowAttribute w = n.op == Op::window ? g.attributes<WindowAttribute>(n) : WindowAttribute{};
        const PadAttribute p = n.op == Op::window ? PadAttribute{} : g.attributes<PadAttribute>(n);
        const int part = n.op == Op::slice_scatter ? 1 : 0, a = n.operand[part];
        for (std::int64_t e = 0; e < count; ++e) {
          std::int64_t c[max_rank] = {};
          coordinates(i, e, c);
          bool inside = true;
          if (n.op == Op::window) {
            c[w.axis] = c[w.axis] * w.step + c[n.shape.rank - 1] * w.dilation;
          } else {
            for (int k = 0; k < n.shape.rank; ++k) {
              c[k] -= p.along(k).value(symbols);
              inside = inside && c[k] >= 0 && c[k] < extent(a, k);
            }
          }
          out.bits[static_cast<int>(e)] = inside ? in(part).bits[static_cast<int>(index_of(a, c))]
                                          : part ? in(0).bits[static_cast<int>(e)] : n.bits;
        }
        return;
      }
      case Op::take: {
        const int axis = g.attributes<TakeAttribute>(n).axis;
        const auto repeated = [&](int o, std::int64_t* c) {
          for (int k = 0; k < n.shape.rank; ++k)
            if (extent(o, k) == 1) c[k] = 0;
          return static_cast<int>(index_of(o, c));
        };
        for (std::int64_t e = 0; e < count; ++e) {
          std::int64_t at[max_rank] = {}, c[max_rank] = {};
          coordinates(i, e, at);
          coordinates(i, e, c);
          c[axis] = values[n.operand[1]].get<std::int64_t>(repeated(n.operand[1], at));
          out.bits[static_cast<int>(e)] = in(0).bits[repeated(n.operand[0], c)];
        }
        return;
      }
      case Op::sum: reduce<Op::sum>(i); return;
      case Op::amax: reduce<Op::amax>(i); return;
      case Op::amin: reduce<Op::amin>(i); return;
      case Op::matmul: matmul(i); return;
      case Op::conv: conv(i); return;
      default: elementwise(i); return;
    }
  }

  template <Op K>
  void reduce(int i) {
    const Node& n = g[i];
    const int a = n.operand[0];
    with_compute_dtype(n.dtype, [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>) {
        const int rank = g[a].shape.rank;
        const bool row = (n.attribute >> (rank - 1) & 1) || (n.bits & in_row_order);
        for (std::int64_t e = 0; e < size(i); ++e) {
          std::int64_t c[max_rank] = {};
          coordinates(i, e, c);
          std::int64_t total = 1;
          for (int k = 0; k < rank; ++k)
            if (n.attribute >> k & 1) total *= extent(a, k);
          const auto at = [&](std::int64_t r) {
            for (int k = rank - 1; k >= 0; --k)
              if (n.attribute >> k & 1) {
                c[k] = r % extent(a, k);
                r /= extent(a, k);
              }
            return values[a].get<T>(index_of(a, c));
          };
          if (row) {
            Vec<T> x(static_cast<int>(total), T{});
            for (std::int64_t r = 0; r < total; ++r) x[static_cast<int>(r)] = at(r);
            values[i].set(e, reference_reduce<K, T>(x.begin(), total));
          } else {
            values[i].set(e, reference_reduce_rows<K, T>(total, at));
          }
        }
      }
    });
  }

  void matmul(int i) {
    const Node& n = g[i];
    const int a = n.operand[0], b = n.operand[1];
    const std::int64_t inner = g[a].shape.last().value(symbols);
    with_compute_dtype(n.dtype, [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>)
        for (std::int64_t e = 0; e < size(i); ++e) {
          std::int64_t c[max_rank] = {};
          coordinates(i, e, c);
          const auto index = [&](int o, std::int64_t row, std::int64_t col) {
            std::int64_t at[max_rank] = {};
            const int rank = g[o].shape.rank;
            for (int k = 0; k < rank - 2; ++k)
              at[k] = extent(o, k) == 1 ? 0 : c[n.shape.rank - rank + k];
            at[rank - 2] = row;
            at[rank - 1] = col;
            return index_of(o, at);
          };
          T sum = T(0);
          for (std::int64_t k = 0; k < inner; ++k)
            sum = Carrier<T>::template apply<Op::fma>(
                values[a].get<T>(index(a, c[n.shape.rank - 2], k)),
                values[b].get<T>(index(b, k, c[n.shape.rank - 1])), sum);
          values[i].set(e, sum);
        }
    });
  }

  void conv(int i) {
    const Node& n = g[i];
    const int a = n.operand[0], b = n.operand[1];
    const auto v = g.attributes<ConvAttribute>(n);
    const std::int64_t group = extent(b, 1), out_group = extent(b, 0) / (extent(a, 1) / group);
    with_compute_dtype(n.dtype, [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>)
        for (std::int64_t e = 0; e < size(i); ++e) {
          std::int64_t c[max_rank] = {};
          coordinates(i, e, c);
          T sum = T(0);
          for (std::int64_t channel = 0; channel < group; ++channel)
            for (std::int64_t y = 0; y < extent(b, 2); ++y)
              for (std::int64_t x = 0; x < extent(b, 3); ++x) {
                const std::int64_t weight[] = {c[1], channel, y, x};
                const std::int64_t image[] = {c[0], c[1] / out_group * group + channel,
                                              c[2] * v.stride[0] + y * v.dilation[0] - v.padding[0],
                                              c[3] * v.stride[1] + x * v.dilation[1] - v.padding[1]};
                const bool inside = image[2] >= 0 && image[2] < extent(a, 2) && image[3] >= 0 && image[3] < extent(a, 3);
                sum = Carrier<T>::template apply<Op::fma>(values[b].get<T>(index_of(b, weight)),
                                                          inside ? values[a].get<T>(index_of(a, image)) : T(0), sum);
              }
          values[i].set(e, sum);
        }
    });
  }

  void elementwise(int i) {
    const Node& n = g[i];
    const DType from = g[n.operand[n.op == Op::call ? 0 : arity(n.op) - 1]].dtype;
    with_dtype(from, [&]<class T>(T) {
      for (std::int64_t e = 0; e < size(i); ++e) element<T>(i, n, e);
    });
  }
  template <class T>
  void element(int i, const Node& n, std::int64_t e) {
    const auto get = [&]<class U>(int k, U) {
      return n.operand[k] < 0 ? U{} : values[n.operand[k]].template get<U>(under(n.operand[k], i, e));
    };
    if (n.op == Op::where) {
      values[i].set(e, get(0, bool{}) ? get(1, T{}) : get(2, T{}));
      return;
    }
    const T a = get(0, T{}), b = get(1, T{}), c = get(2, T{});
    scalar_op<T>(n, a, b, c, [&](auto x) { values[i].set(e, x); });
  }

 public:
  /// One elementwise node on scalars; `give` receives the result.
  template <class T, class Give>
  static void scalar_op(const Node& n, T a, T b, T c, const Give& give) {
    const auto run = [&]<int... K>(std::integer_sequence<int, K...>) {
      (void)((static_cast<int>(n.op) == K ? (one<static_cast<Op>(K), T>(n, a, b, c, give), true)
                                          : false) || ...);
    };
    run(std::make_integer_sequence<int, static_cast<int>(Op::broadcast) + 1>{});
  }
  template <class T, class Give>
  static void call_opaque(int code, T a, T b, T c, const Give& give) {
    [&]<class... F>(TypeList<F...>) {
      int k = 0;
      const auto one = [&]<class G>(std::type_identity<G>) {
        if constexpr (takes_dtype<G, T>) give(body<G>(a, b, c));
      };
      (void)((k++ == code ? (one(std::type_identity<F>{}), true) : false) || ...);
    }(OpaqueOps{});
  }
  template <class F, class T>
  static T body(T a, [[maybe_unused]] T b, [[maybe_unused]] T c) {
    if constexpr (F::info.arity == 1) return call<F>({}, Num<T>(a)).value;
    else if constexpr (F::info.arity == 2) return call<F>({}, Num<T>(a), Num<T>(b)).value;
    else return call<F>({}, Num<T>(a), Num<T>(b), Num<T>(c)).value;
  }
  template <Op K, class T, class Give>
  static void one([[maybe_unused]] const Node& n, [[maybe_unused]] T a, [[maybe_unused]] T b,
                  [[maybe_unused]] T c, const Give& give) {
    using C = Carrier<T>;
    if constexpr (NarrowElement<T> && K != Op::copy && K != Op::broadcast && K != Op::cast) return;
    else if constexpr (K == Op::copy || K == Op::broadcast) give(a);
    else if constexpr (is_comparison(K)) give(C::template compare<K>(a, b));
    else if constexpr (is_logical(K)) {
      if constexpr (std::is_same_v<T, bool>) give(C::template logical<K>(a, b));
    } else if constexpr (K == Op::cast) {
      with_dtype(n.dtype, [&]<class To>(To) { give(C::template cast<To>(a)); });
    } else if constexpr (K == Op::bitcast) {
      if constexpr (std::is_same_v<T, float>) give(C::template bitcast<std::int32_t>(a));
      else if constexpr (std::is_same_v<T, double>) give(C::template bitcast<std::int64_t>(a));
      else if constexpr (std::is_same_v<T, std::int32_t>) give(C::template bitcast<float>(a));
      else if constexpr (std::is_same_v<T, std::int64_t>) give(C::template bitcast<double>(a));
    } else if constexpr (K == Op::call) {
      if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, std::int64_t>)
        call_opaque<T>(n.def->code, a, b, c, give);
    } else if constexpr (is_arithmetic(K)) {
      if constexpr (std::is_same_v<T, bool> || (is_bitwise(K) && !std::is_integral_v<T>)) {
      } else if constexpr (is_real(K) && !std::is_floating_point_v<T>) {
      } else {
        give(C::template apply<K>(a, b, c, static_cast<int>(n.attribute)));
      }
    }
  }
};

}  // namespace detail

TT_KERNELS_END

}  // namespace tt
