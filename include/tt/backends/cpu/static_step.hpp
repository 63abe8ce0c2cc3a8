// One instruction of a plan on one step of lanes: the inside of every static kernel. The plan is a
// constant, so each instruction becomes the few SIMD instructions it stands for.
#pragma once
#include <utility>

#include "tt/backends/cpu/reduce.hpp"
#include "tt/ops/list.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// What a kernel is called with: its operands by local number, and the symbols. By value, so that
/// the pointers stay in registers: stores might overwrite what they can reach.
template <int Operands>
struct KernelArguments {
  void* operand[Operands > 0 ? Operands : 1];
  const SymbolValues* symbols;
};

namespace detail {

template <class H, int K>
using Arguments = KernelArguments<H::plan.kernels[K].bindings>;

template <std::int64_t Code, int N>
TT_KERNEL_INLINE std::int64_t extent([[maybe_unused]] const KernelArguments<N>& a) {
  constexpr Extent e = Extent::from_code(Code);
  if constexpr (e.is_constant()) {
    return Code;
  } else {
    std::int64_t v = e.coefficient();
    [&]<std::size_t... I>(std::index_sequence<I...>) TT_LAMBDA_INLINE {
      const auto factor = [&]<std::size_t J>(std::integral_constant<std::size_t, J>)
                              TT_LAMBDA_INLINE {
        constexpr int exponent = e.exponent(static_cast<int>(J));
        for (int k = 0; k < exponent; ++k) v *= a.symbols->value[J];
      };
      (factor(std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<max_symbols>{});
    return v;
  }
}

template <std::int64_t Divisor, std::int64_t Modulus, std::int64_t Stride, int N>
TT_KERNEL_INLINE std::int64_t term_offset(const KernelArguments<N>& a, std::int64_t row) {
  if constexpr (Divisor != 1) row /= extent<Divisor>(a);
  if constexpr (Modulus != 0) row %= extent<Modulus>(a);
  return row * extent<Stride>(a);
}

/// Where row r of an access begins, in elements.
template <class H, int X, int N>
TT_KERNEL_INLINE std::int64_t row_offset([[maybe_unused]] const KernelArguments<N>& a,
                                         [[maybe_unused]] std::int64_t row) {
  constexpr Access x = H::plan.accesses[X];
  std::int64_t at = extent<x.offset.code>(a);
  if constexpr (x.term_count > 0) at += term_offset<x.term[0].divisor.code, x.term[0].modulus.code,
                                                    x.term[0].stride.code>(a, row);
  if constexpr (x.term_count > 1) at += term_offset<x.term[1].divisor.code, x.term[1].modulus.code,
                                                    x.term[1].stride.code>(a, row);
  if constexpr (x.term_count > 2) at += term_offset<x.term[2].divisor.code, x.term[2].modulus.code,
                                                    x.term[2].stride.code>(a, row);
  if constexpr (x.term_count > 3) at += term_offset<x.term[3].divisor.code, x.term[3].modulus.code,
                                                    x.term[3].stride.code>(a, row);
  if constexpr (x.term_count > 4) at += term_offset<x.term[4].divisor.code, x.term[4].modulus.code,
                                                    x.term[4].stride.code>(a, row);
  static_assert(max_terms == 5);
  return at;
}

/// Where column c of an access with column terms lies from the row's begin.
template <class H, int X, int N>
TT_KERNEL_INLINE std::int64_t column_offset(const KernelArguments<N>& a, std::int64_t col) {
  constexpr Access x = H::plan.accesses[X];
  std::int64_t at = 0;
  [&]<std::size_t... J>(std::index_sequence<J...>) TT_LAMBDA_INLINE {
    constexpr const Term* term = H::plan.accesses[X].term + x.term_count;
    ((at += term_offset<term[J].divisor.code, term[J].modulus.code, term[J].stride.code>(a, col)),
     ...);
  }(std::make_index_sequence<static_cast<std::size_t>(x.column_terms)>{});
  return at;
}
/// `count` elements from column `col` on, of an operand with column terms: in one load where they
/// are of one run, else put together.
template <class H, int X, class T, int N>
TT_KERNEL_INLINE Pack<T> load_runs(const KernelArguments<N>& a, const T* row, std::int64_t col,
                                   int count) {
  constexpr Access x = H::plan.accesses[X];
  const std::int64_t run = extent<x.run().code>(a);
  const T* at = row + column_offset<H, X>(a, col);
  constexpr bool always_in_one = x.run().is_constant() && x.run().code % lanes == 0;
  const std::int64_t left = always_in_one ? lanes : run - col % run;
  if (left >= lanes) {
    if constexpr (x.column == Extent(0)) return Carrier<Pack<T>>::splat(*at);
    else if constexpr (x.column == Extent(1)) return cpu::load(at);
    else return load_strided(at, extent<x.column.code>(a), lanes);
  }
  const int n = static_cast<int>(left);  // the rest is of the next run: none is shorter
  const T* next = n < count ? row + column_offset<H, X>(a, col + left) : at;
  if constexpr (x.column == Extent(0))
    return Carrier<Pack<T>>::select(first_lanes(n), Carrier<Pack<T>>::splat(*at),
                                    Carrier<Pack<T>>::splat(*next));
  else if constexpr (x.column == Extent(1)) return load_two(at, next, n, count);
  alignas(64) T t[lanes] = {};
  const std::int64_t stride = extent<x.column.code>(a);
  for (int i = 0; i < count; ++i)
    std::memcpy(t + i, i < n ? at + i * stride : next + (i - n) * stride, sizeof(T));
  return cpu::load(t);
}

template <class H, int K>
struct Registers {
  static constexpr Kernel k = H::plan.kernels[K];
  template <DType D>
  static constexpr int count = k.registers[static_cast<int>(D)] > 0
                                   ? k.registers[static_cast<int>(D)] : 1;
  Pack<float> f32[count<DType::f32>];
  Pack<double> f64[count<DType::f64>];
  Pack<std::int32_t> i32[count<DType::i32>];
  Pack<std::int64_t> i64[count<DType::i64>];
  Pack<bool> mask[count<DType::boolean>];

  template <class T>
  TT_KERNEL_INLINE Pack<T>& at(int i) {
    if constexpr (std::is_same_v<T, float>) return f32[i];
    else if constexpr (std::is_same_v<T, double>) return f64[i];
    else if constexpr (std::is_same_v<T, std::int32_t>) return i32[i];
    else if constexpr (std::is_same_v<T, std::int64_t>) return i64[i];
    else return mask[i];
  }
};

/// The place in a kernel: row, column, how many lanes of this step exist, and for a matmul the
/// products at this place.
struct Place {
  std::int64_t row = 0, col = 0;
  int count = lanes;
  const void* tile = nullptr;
  std::int64_t tile_begin = 0;  // of a tiled kernel: its first column
};

template <class F, class T>
TT_KERNEL_INLINE Pack<T> call_body(const Pack<T>& a, const Pack<T>& b, const Pack<T>& c) {
  using N = Num<Pack<T>>;
  if constexpr (F::info.arity == 1) return NumFront::run<F, Pack<T>>(N(a)).value;
  else if constexpr (F::info.arity == 2) return NumFront::run<F, Pack<T>>(N(a), N(b)).value;
  else return NumFront::run<F, Pack<T>>(N(a), N(b), N(c)).value;
}
template <int I, class First, class... Rest>
constexpr auto nth(TypeList<First, Rest...>) {
  if constexpr (I == 0) return std::type_identity<First>{};
  else return nth<I - 1>(TypeList<Rest...>{});
}

/// One instruction on one step of lanes. Tail: only place.count lanes exist.
template <class H, int K, int I, bool Tail>
TT_KERNEL_INLINE void step(Registers<H, K>& r, const Arguments<H, K>& a, const Place& p) {
  constexpr Instruction x = H::plan.instructions[I];
  using T = element_t<x.dtype>;
  using C = Carrier<Pack<T>>;
  constexpr int ra = x.a < 0 ? 0 : x.a, rb = x.b < 0 ? 0 : x.b, rc = x.c < 0 ? 0 : x.c;
  if constexpr (x.op == Op::constant) {
    r.template at<T>(x.result) = C::splat(decode<T>(x.bits));
  } else if constexpr (x.op == Op::extent) {
    r.template at<T>(x.result) =
        C::splat(static_cast<T>(extent<static_cast<std::int64_t>(x.bits)>(a)));
  } else if constexpr (x.op == Op::iota) {
    constexpr Access m = H::plan.accesses[x.access];
    const std::int64_t base = row_offset<H, x.access>(a, p.row);
    if constexpr (m.column == Extent(0)) r.template at<T>(x.result) = C::splat(static_cast<T>(base));
    else r.template at<T>(x.result) = iota<T>(base + p.col, 1);
  } else if constexpr (x.op == Op::load) {
    constexpr Access m = H::plan.accesses[x.access];
    const T* at = static_cast<const T*>(a.operand[m.buffer]) + row_offset<H, x.access>(a, p.row);
    if constexpr (m.tiled) at -= p.tile_begin;
    if constexpr (m.column_terms > 0)
      r.template at<T>(x.result) = load_runs<H, x.access>(a, at, p.col, Tail ? p.count : lanes);
    else if constexpr (m.column == Extent(0)) r.template at<T>(x.result) = C::splat(*at);
    else if constexpr (m.column != Extent(1)) {
      const std::int64_t stride = extent<m.column.code>(a);
      r.template at<T>(x.result) = load_strided(at + p.col * stride, stride,
                                                Tail ? p.count : lanes);
    } else if constexpr (Tail && m.guarded)
      r.template at<T>(x.result) = load_first(at + p.col, p.count);
    else r.template at<T>(x.result) = cpu::load(at + p.col);
  } else if constexpr (x.op == Op::store) {
    constexpr Access m = H::plan.accesses[x.access];
    T* at = static_cast<T*>(a.operand[m.buffer]) + row_offset<H, x.access>(a, p.row);
    if constexpr (m.tiled) at -= p.tile_begin;
    const Pack<T>& v = r.template at<T>(ra);
    if constexpr (m.column == Extent(0)) *at = first_lane(v);
    else if constexpr (m.column != Extent(1)) {
      const std::int64_t stride = extent<m.column.code>(a);
      store_strided(at + p.col * stride, stride, v, Tail ? p.count : lanes);
    } else if constexpr (Tail && m.guarded) store_first(at + p.col, v, p.count);
    else cpu::store(at + p.col, v);
  } else if constexpr (x.op == Op::accumulator) {
    r.template at<T>(x.result) = cpu::load(static_cast<const T*>(p.tile));
  } else if constexpr (x.op == Op::call) {
    using F = typename decltype(nth<x.attribute>(OpaqueOps{}))::type;
    r.template at<T>(x.result) =
        call_body<F, T>(r.template at<T>(ra), r.template at<T>(rb), r.template at<T>(rc));
  } else if constexpr (is_comparison(x.op)) {
    using U = element_t<x.from>;
    r.template at<bool>(x.result).mask =
        Carrier<Pack<U>>::template compare<x.op>(r.template at<U>(ra), r.template at<U>(rb));
  } else if constexpr (is_logical(x.op)) {
    r.template at<bool>(x.result).mask =
        C::template logical<x.op>(r.template at<bool>(ra).mask, r.template at<bool>(rb).mask);
  } else if constexpr (x.op == Op::where) {
    r.template at<T>(x.result) =
        C::select(r.template at<bool>(ra).mask, r.template at<T>(rb), r.template at<T>(rc));
  } else if constexpr (x.op == Op::cast) {
    using U = element_t<x.from>;
    r.template at<T>(x.result) = Carrier<Pack<U>>::template cast<T>(r.template at<U>(ra));
  } else if constexpr (x.op == Op::bitcast) {
    using U = element_t<x.from>;
    r.template at<T>(x.result) = Carrier<Pack<U>>::template bitcast<T>(r.template at<U>(ra));
  } else {
    r.template at<T>(x.result) = C::template apply<x.op>(
        r.template at<T>(ra), r.template at<T>(rb), r.template at<T>(rc), x.attribute);
  }
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
