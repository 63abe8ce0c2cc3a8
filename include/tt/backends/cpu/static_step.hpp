// One instruction of a plan on one step of lanes: the inside of every static kernel. The plan is a constant, so each instruction
// becomes the few SIMD instructions it stands for. The code of instructions is shared by all plans: Step<Form::compute, Op::add,
// DType::f32> is one function however many expressions a file has, and a kernel is a list of calls of such functions. Only operands
// with an unusual layout (Form::planned) have functions of one plan.
#pragma once
#include <utility>

#include "tt/backends/cpu/reduce.hpp"
#include "tt/ops/list.hpp"
#include "tt/plan/plan.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

namespace detail {

/// A register of a kernel holds a pack of any dtype; the registers of the dtypes are numbered one dtype after the other.
union Register {
  Pack<float> f32;
  Pack<double> f64;
  Pack<std::int32_t> i32;
  Pack<std::int64_t> i64;
  Pack<bool> mask;
  Pack<float16> f16;
  Pack<bfloat16> bf16;
  Pack<std::uint8_t> u8;
  Pack<std::int8_t> i8;
  Pack<std::int16_t> i16;

  TT_KERNEL_INLINE Register() {}
  template <class T>
  TT_KERNEL_INLINE Pack<T>& as() {
    if constexpr (std::is_same_v<T, float>) return f32;
    else if constexpr (std::is_same_v<T, double>) return f64;
    else if constexpr (std::is_same_v<T, std::int32_t>) return i32;
    else if constexpr (std::is_same_v<T, std::int64_t>) return i64;
    else if constexpr (std::is_same_v<T, float16>) return f16;
    else if constexpr (std::is_same_v<T, bfloat16>) return bf16;
    else if constexpr (std::is_same_v<T, std::uint8_t>) return u8;
    else if constexpr (std::is_same_v<T, std::int8_t>) return i8;
    else if constexpr (std::is_same_v<T, std::int16_t>) return i16;
    else return mask;
  }
};
constexpr int register_number(const Kernel& k, DType dtype, int number) {
  for (int d = 0; d < static_cast<int>(dtype); ++d) number += k.registers[d];
  return number < 0 ? 0 : number;
}
constexpr int register_count(const Kernel& k) {
  return register_number(k, static_cast<DType>(dtype_count), 0) + 1;
}

/// The position in a kernel: operands, row, column, the number of lanes of this step that exist, and for a matmul the products at
/// this position.
struct Place {
  void* const* operand;
  const SymbolValues* symbols;
  std::int64_t row = 0, col = 0;
  int count = lanes;
  Register* sums = nullptr;      // of this step: partial results of the reductions
  const void* tile = nullptr;
  std::int64_t tile_begin = 0;  // the first column of the present tile in a tiled kernel
};

template <std::int64_t Code>
TT_KERNEL_INLINE std::int64_t extent([[maybe_unused]] const SymbolValues* symbols) {
  constexpr Extent e = Extent::from_code(Code);
  if constexpr (e.is_constant()) {
    return Code;
  } else {
    std::int64_t v = e.coefficient();
    [&]<std::size_t... I>(std::index_sequence<I...>) TT_LAMBDA_INLINE {
      const auto factor = [&]<std::size_t J>(std::integral_constant<std::size_t, J>)
                              TT_LAMBDA_INLINE {
        constexpr int exponent = e.exponent(static_cast<int>(J));
        for (int k = 0; k < exponent; ++k) v *= symbols->value[J];
      };
      (factor(std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<max_symbols>{});
    return v;
  }
}

template <std::int64_t Divisor, std::int64_t Modulus, std::int64_t Stride>
TT_KERNEL_INLINE std::int64_t term_offset(const SymbolValues* s, std::int64_t row) {
  if constexpr (Divisor != 1) row /= extent<Divisor>(s);
  if constexpr (Modulus != 0) row %= extent<Modulus>(s);
  return row * extent<Stride>(s);
}

/// The offset, in elements, at which row r of an access begins.
template <class H, int X>
TT_KERNEL_INLINE std::int64_t row_offset([[maybe_unused]] const SymbolValues* s,
                                         [[maybe_unused]] std::int64_t row) {
  constexpr Access x = H::plan.accesses[X];
  std::int64_t at = extent<x.offset.code>(s);
  [&]<std::size_t... M>(std::index_sequence<M...>) TT_LAMBDA_INLINE {
    constexpr const Term* term = H::plan.terms.begin() + x.first_term;
    ((at += term_offset<term[M].divisor.code, term[M].modulus.code, term[M].stride.code>(s, row)), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(x.term_count)>{});
  return at;
}

/// The offset of column c from its row's begin, for an access with column terms.
template <class H, int X>
TT_KERNEL_INLINE std::int64_t column_offset(const SymbolValues* s, std::int64_t col) {
  constexpr Access x = H::plan.accesses[X];
  std::int64_t at = 0;
  [&]<std::size_t... J>(std::index_sequence<J...>) TT_LAMBDA_INLINE {
    constexpr const Term* term = H::plan.terms.begin() + x.first_term + x.term_count;
    ((at += term_offset<term[J].divisor.code, term[J].modulus.code, term[J].stride.code>(s, col)),
     ...);
  }(std::make_index_sequence<static_cast<std::size_t>(x.column_terms)>{});
  return at;
}
/// `count` elements from column `col` on, of an operand with column terms: in one load if they are in one run, else assembled.
template <class H, int X, class T>
TT_KERNEL_INLINE Pack<T> load_runs(const SymbolValues* s, const T* row, std::int64_t col,
                                   int count) {
  constexpr Access x = H::plan.accesses[X];
  const std::int64_t run = extent<x.run(H::plan.terms.begin()).code>(s);
  const T* at = row + column_offset<H, X>(s, col);
  constexpr bool always_in_one = x.run(H::plan.terms.begin()).is_constant() && x.run(H::plan.terms.begin()).code % lanes == 0;
  const std::int64_t left = always_in_one ? lanes : run - col % run;
  if (left >= lanes) {
    if constexpr (x.column == Extent(0)) return Carrier<Pack<T>>::splat(*at);
    else if constexpr (x.column == Extent(1)) return cpu::load(at);
    else return load_strided(at, extent<x.column.code>(s), lanes);
  }
  const int n = static_cast<int>(left);  // the remaining elements are in the next run, as no run is shorter
  const T* next = n < count ? row + column_offset<H, X>(s, col + left) : at;
  if constexpr (x.column == Extent(0))
    return Carrier<Pack<T>>::select(first_lanes(n), Carrier<Pack<T>>::splat(*at),
                                    Carrier<Pack<T>>::splat(*next));
  else if constexpr (x.column == Extent(1)) return load_two(at, next, n, count);
  alignas(64) T t[lanes] = {};
  const std::int64_t stride = extent<x.column.code>(s);
  for (int i = 0; i < count; ++i)
    std::memcpy(t + i, i < n ? at + i * stride : next + (i - n) * stride, sizeof(T));
  return cpu::load(t);
}

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

/// The result type of steps: an array of Done costs no code, where folds over a comma have a limit (clang: 256).
struct Done {};

/// How an instruction is executed.
enum class Form : std::uint8_t {
  compute,      ///< on registers
  constant,
  accumulator,  ///< the products of a matmul
  reduce,       ///< into the partial results
  reduce_first, ///< the same, where some lanes are missing
  load,         ///< consecutive elements of a row
  load_first,   ///< the elements of the lanes that exist
  load_one,     ///< one element for all lanes
  store,
  store_first,
  planned,      ///< everything else: see PlannedStep
};

/// consteval, so that the plan object is not emitted into the binary.
consteval std::int64_t fixed(std::int64_t x) { return x; }
consteval int fixed(int x) { return x; }

/// The arguments of Step::run: register numbers (of a load or store: the operand in `b`, whether it is tiled in `c`), and a
/// constant's bits or the offset of the first row.
struct StepNumbers {
  int result = 0, a = 0, b = 0, c = 0;
  std::int64_t bits = 0, row_stride = 0;
};

/// Does each row begin at a constant plus the row times a constant?
constexpr bool has_plain_rows(const Access& x, const Term* terms) {
  return x.offset.is_constant() && x.column_terms == 0 &&
         (x.term_count == 0 || (x.term_count == 1 && x.term(terms, 0).divisor == Extent(1) &&
                                x.term(terms, 0).modulus == Extent(0) && x.term(terms, 0).stride.is_constant()));
}
/// Is access beyond the last column forbidden?
constexpr bool is_guarded(const Instruction& x, const Access& m) {
  return m.guarded && !(x.op == Op::load && m.overread);
}
constexpr Form form_of(const Instruction& x, Accesses accesses, bool tail) {
  if (x.op == Op::constant) return Form::constant;
  if (x.op == Op::accumulator) return Form::accumulator;
  if (is_reduction(x.op)) return tail ? Form::reduce_first : Form::reduce;
  if (x.op == Op::extent || x.op == Op::iota) return Form::planned;
  if (x.op != Op::load && x.op != Op::store) return Form::compute;
  const Access& m = accesses[x.access];
  const bool load = x.op == Op::load;
  if (!has_plain_rows(m, accesses.terms)) return Form::planned;
  if (m.column == Extent(0)) return load ? Form::load_one : Form::planned;
  if (m.column != Extent(1)) return Form::planned;
  if (load) return tail && is_guarded(x, m) ? Form::load_first : Form::load;
  return tail && m.guarded ? Form::store_first : Form::store;
}
constexpr StepNumbers numbers_of(const Kernel& k, const Instruction& x, Accesses accesses,
                                 int first_sum) {
  StepNumbers n;
  n.result = register_number(k, is_comparison(x.op) || is_logical(x.op) ? DType::boolean : x.dtype, x.result);
  n.a = register_number(k, operand_dtype(x, 0), x.a);
  n.b = register_number(k, operand_dtype(x, 1), x.b);
  n.c = register_number(k, operand_dtype(x, 2), x.c);
  if (x.op == Op::constant) n.bits = static_cast<std::int64_t>(x.bits);
  if (is_reduction(x.op)) n.b = first_sum;
  if (x.op != Op::load && x.op != Op::store) return n;
  const Access& m = accesses[x.access];
  n.b = m.buffer;
  n.c = m.tiled;
  n.bits = m.offset.code;
  n.row_stride = m.term_count > 0 ? m.term(accesses.terms, 0).stride.code : 0;
  return n;
}
/// Does the segment's last step depend on the number of lanes that exist?
constexpr bool needs_count(const Kernel& k, int segment, const Instruction* instructions, Accesses accesses) {
  for (int i = k.segment[segment]; i < k.segment[segment + 1]; ++i) {
    const Instruction& x = instructions[i];
    if (is_reduction(x.op)) return true;
    if ((x.op == Op::load || x.op == Op::store) && accesses[x.access].column != Extent(0) &&
        (is_guarded(x, accesses[x.access]) || accesses[x.access].column != Extent(1)))
      return true;
    if (x.op == Op::load && accesses[x.access].column_terms > 0) return true;
  }
  return false;
}

/// Names instruction I of H's plan, for operands or extents that no Step handles. Incomplete until used.
template <class H, int I>
struct PlanAt;
template <class H, int I, bool Tail>
struct PlannedStep;

template <Form F, Op K, DType D, DType From, int Attribute>
struct Step {
  using T = element_t<D>;
  using U = element_t<From>;
  using C = Carrier<Pack<T>>;

  /// The address at which a row begins, for all lanes; column(): with the column of this step.
  static TT_KERNEL_INLINE T* row(const Place& p, int operand, std::int64_t offset, std::int64_t row_stride) {
    return static_cast<T*>(p.operand[operand]) + offset + p.row * row_stride;
  }
  static TT_KERNEL_INLINE T* column(const Place& p, int operand, int tiled, std::int64_t offset,
                                    std::int64_t row_stride) {
    return row(p, operand, offset, row_stride) + (tiled ? p.col - p.tile_begin : p.col);
  }
  static TT_KERNEL_INLINE Done run(Register* r, const Place& p, int result, int a, int b, int c, std::int64_t bits,
                                   std::int64_t row_stride) {
    if constexpr (F == Form::constant) {
      r[result].as<T>() = C::splat(decode<T>(static_cast<std::uint64_t>(bits)));
    } else if constexpr (F == Form::accumulator) {
      r[result].as<T>() = cpu::load(static_cast<const T*>(p.tile));  // from the tile, or the sum itself (one_tile)
    } else if constexpr (F == Form::reduce || F == Form::reduce_first) {
      Pack<T>& sum = p.sums[b].as<T>();
      if constexpr (F == Form::reduce) sum = accumulate<K>(sum, r[a].as<T>());
      else sum = accumulate<K>(sum, C::select(first_lanes(p.count), r[a].as<T>(), identity_pack<K, T>()));
    } else if constexpr (F == Form::load) {
      r[result].as<T>() = cpu::load(static_cast<const T*>(column(p, b, c, bits, row_stride)));
    } else if constexpr (F == Form::load_first) {
      r[result].as<T>() = load_first(static_cast<const T*>(column(p, b, c, bits, row_stride)), p.count);
    } else if constexpr (F == Form::load_one) {
      r[result].as<T>() = C::splat(*row(p, b, bits, row_stride));
    } else if constexpr (F == Form::store) {
      cpu::store(column(p, b, c, bits, row_stride), r[a].as<T>());
    } else if constexpr (F == Form::store_first) {
      store_first(column(p, b, c, bits, row_stride), r[a].as<T>(), p.count);
    } else {
      compute(r, result, a, b, c);
    }
    return {};
  }
  static TT_KERNEL_INLINE void compute(Register* r, int result, int a, int b, int c) {
    if constexpr (K == Op::call) {
      using Body = typename decltype(nth<Attribute>(OpaqueOps{}))::type;
      r[result].as<T>() = call_body<Body, T>(r[a].as<T>(), r[b].as<T>(), r[c].as<T>());
    } else if constexpr (is_comparison(K)) {
      r[result].as<bool>().mask =
          Carrier<Pack<U>>::template compare<K>(r[a].as<U>(), r[b].as<U>());
    } else if constexpr (is_logical(K)) {
      r[result].as<bool>().mask =
          C::template logical<K>(r[a].as<bool>().mask, r[b].as<bool>().mask);
    } else if constexpr (K == Op::where) {
      r[result].as<T>() = C::select(r[a].as<bool>().mask, r[b].as<T>(), r[c].as<T>());
    } else if constexpr (K == Op::cast) {
      r[result].as<T>() = Carrier<Pack<U>>::template cast<T>(r[a].as<U>());
    } else if constexpr (K == Op::bitcast) {
      r[result].as<T>() = Carrier<Pack<U>>::template bitcast<T>(r[a].as<U>());
    } else {
      r[result].as<T>() =
          C::template apply<K>(r[a].as<T>(), r[b].as<T>(), r[c].as<T>(), Attribute);
    }
  }
};

/// Operands with several terms, or with strides known only at run time; and iota and extent.
template <class H, int I, bool Tail>
struct PlannedStep {
  static constexpr Instruction x = H::plan.instructions[I];  // as a reference it crashes nvcc 13
  using T = element_t<x.dtype>;
  using C = Carrier<Pack<T>>;

  static TT_KERNEL_INLINE Done run(Register* r, const Place& p, int result, int a, int, int, std::int64_t,
                                   std::int64_t) {
    if constexpr (x.op == Op::extent) {
      r[result].as<T>() =
          C::splat(static_cast<T>(extent<static_cast<std::int64_t>(x.bits)>(p.symbols)));
    } else {
      static constexpr const Access& m = H::plan.accesses[x.access];
      const std::int64_t begin = row_offset<H, x.access>(p.symbols, p.row);
      if constexpr (x.op == Op::iota) {
        if constexpr (m.column == Extent(0)) r[result].as<T>() = C::splat(static_cast<T>(begin));
        else r[result].as<T>() = iota<T>(begin + p.col, 1);
      } else {
        T* row = static_cast<T*>(p.operand[m.buffer]) + begin;
        if constexpr (m.tiled) row -= p.tile_begin;
        if constexpr (x.op == Op::load) r[result].as<T>() = load(p, row);
        else store(p, row, r[a].as<T>());
      }
    }
    return {};
  }

 private:
  static TT_KERNEL_INLINE Pack<T> load(const Place& p, const T* row) {
    static constexpr const Access& m = H::plan.accesses[x.access];
    const int count = Tail ? p.count : lanes;
    if constexpr (m.column_terms > 0) return load_runs<H, x.access>(p.symbols, row, p.col, count);
    else if constexpr (m.column == Extent(0)) return C::splat(*row);
    else if constexpr (m.column != Extent(1)) {
      const std::int64_t stride = extent<m.column.code>(p.symbols);
      return load_strided(row + p.col * stride, stride, count);
    } else if constexpr (Tail && is_guarded(x, m)) return load_first(row + p.col, count);
    else return cpu::load(row + p.col);
  }
  static TT_KERNEL_INLINE void store(const Place& p, T* row, const Pack<T>& v) {
    static constexpr const Access& m = H::plan.accesses[x.access];
    const int count = Tail ? p.count : lanes;
    if constexpr (m.column == Extent(0)) *row = first_lane(v);
    else if constexpr (m.column != Extent(1)) {
      const std::int64_t stride = extent<m.column.code>(p.symbols);
      store_strided(row + p.col * stride, stride, v, count);
    } else if constexpr (Tail && m.guarded) store_first(row + p.col, v, count);
    else cpu::store(row + p.col, v);
  }
};

// Instruction I of a plan as a type. H is instantiated only for Form::planned.
template <Form F>
struct StepChoice {
  template <Op K, DType D, DType From, int Attribute, class H, int I, bool Tail>
  using type = Step<F, K, D, From, Attribute>;
};
template <>
struct StepChoice<Form::planned> {
  template <Op, DType, DType, int, class H, int I, bool Tail>
  using type = PlannedStep<H, I, Tail>;
};
/// Keeps the op only where it changes the code, so that more instructions share a function.
constexpr Op op_in(Form f, const Instruction& x) {
  return f == Form::compute || f == Form::reduce || f == Form::reduce_first ? x.op : Op::copy;
}
template <class H, int I, Form F, bool Tail>
using StepIn = typename StepChoice<F>::template type<
    op_in(F, H::plan.instructions[I]), H::plan.instructions[I].dtype,
    F == Form::compute ? H::plan.instructions[I].from : DType::f32,
    F == Form::compute ? H::plan.instructions[I].attribute : 0, H, I, Tail>;
template <class H, int I, bool Tail>
using StepOf = StepIn<H, I, form_of(H::plan.instructions[I], accesses_of(H::plan), Tail), Tail>;

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
