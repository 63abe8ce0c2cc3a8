// One instruction of a static plan in one thread of a device: on V elements side by side. Uses the same op bodies as every backend, on the
// scalar carrier; a plan's instruction becomes the few machine instructions it stands for. Included by nvcc, and by g++ behind the CPU shim
// of the tests.
#pragma once
#include "tt/backends/cuda/kernel_forms.hpp"
#include "tt/ops/list.hpp"

namespace tt::cuda {

/// The parameters of a launch, like Operands of the emitted text but without `values`.
template <int N>
struct KernelOperands {
  void* p[N > 0 ? N : 1];
  long long s[max_symbols];
  char* work;
  long long work_bytes, shared_bytes, parts_bytes;
  int team;
};

namespace detail {

using i64 = long long;

template <class T, int V>
struct alignas(sizeof(T) * V) Vector {
  T v[V];
};

/// H: holds a plan; K: a kernel of it.
template <class H, int K>
using OperandsOf = KernelOperands<H::plan.kernels[K].bindings>;

template <std::int64_t Code, int N>
__device__ __forceinline__ i64 extent(const KernelOperands<N>& a) {
  constexpr Extent e = Extent::from_code(Code);
  if constexpr (e.is_constant()) {
    return Code;
  } else {
    i64 v = e.coefficient();
#pragma unroll
    for (int s = 0; s < max_symbols; ++s)
      for (int k = e.exponent(s); k > 0; --k) v *= a.s[s];
    return v;
  }
}

/// Index: int where its range suffices, as its divisions are quicker.
template <class H, int X, int M, int N, class Index>
__device__ __forceinline__ i64 term_offset(const KernelOperands<N>& a, Index index) {
  constexpr Term t = H::plan.terms[H::plan.accesses[X].first_term + M];
  if constexpr (t.divisor.code != 1) index /= static_cast<Index>(extent<t.divisor.code>(a));
  if constexpr (t.modulus.code != 0) index %= static_cast<Index>(extent<t.modulus.code>(a));
  return index * extent<t.stride.code>(a);
}
template <class H, int X, int M, int End, int N, class Index>
__device__ __forceinline__ i64 terms_offset(const KernelOperands<N>& a, Index index) {
  if constexpr (M < End) return term_offset<H, X, M>(a, index) + terms_offset<H, X, M + 1, End>(a, index);
  else return 0;
}
/// The offset, in elements, at which row r of an access begins.
template <class H, int X, int N, class Index>
__device__ __forceinline__ i64 row_offset(const KernelOperands<N>& a, Index row) {
  constexpr Access x = H::plan.accesses[X];
  return extent<x.offset.code>(a) + terms_offset<H, X, 0, x.term_count>(a, row);
}
/// The offset of column c of an access from the row's begin.
template <class H, int X, int N, class Index>
__device__ __forceinline__ i64 column_offset(const KernelOperands<N>& a, Index col) {
  constexpr Access x = H::plan.accesses[X];
  if constexpr (x.column_terms > 0) return terms_offset<H, X, x.term_count, x.term_count + x.column_terms>(a, col);
  else return col * extent<x.column.code>(a);
}

template <class H, int K, int V>
struct Registers {
  template <DType D>
  static constexpr int count = H::plan.kernels[K].registers[static_cast<int>(D)] > 0 ? H::plan.kernels[K].registers[static_cast<int>(D)] : 1;
  Vector<float, V> f32[count<DType::f32>];
  Vector<double, V> f64[count<DType::f64>];
  Vector<std::int32_t, V> i32[count<DType::i32>];
  Vector<std::int64_t, V> i64[count<DType::i64>];
  Vector<bool, V> boolean[count<DType::boolean>];
  Vector<float16, V> f16[count<DType::f16>];
  Vector<bfloat16, V> bf16[count<DType::bf16>];
  Vector<std::uint8_t, V> u8[count<DType::u8>];
  Vector<std::int8_t, V> i8[count<DType::i8>];
  Vector<std::int16_t, V> i16[count<DType::i16>];

  template <class T>
  __device__ __forceinline__ Vector<T, V>& at(int i) {
    if constexpr (std::is_same_v<T, float>) return f32[i];
    else if constexpr (std::is_same_v<T, double>) return f64[i];
    else if constexpr (std::is_same_v<T, std::int32_t>) return i32[i];
    else if constexpr (std::is_same_v<T, std::int64_t>) return i64[i];
    else if constexpr (std::is_same_v<T, float16>) return f16[i];
    else if constexpr (std::is_same_v<T, bfloat16>) return bf16[i];
    else if constexpr (std::is_same_v<T, std::uint8_t>) return u8[i];
    else if constexpr (std::is_same_v<T, std::int8_t>) return i8[i];
    else if constexpr (std::is_same_v<T, std::int16_t>) return i16[i];
    else return boolean[i];
  }
};

/// The position of a thread: its row, the column of its first element, the distance of its V elements, the number of them that exist, and
/// for a product the sum there.
struct Place {
  i64 row = 0, col = 0;
  int apart = 1, count = 1;
  const void* sum = nullptr;
};

template <int I, class First, class... Rest>
constexpr auto nth_op(TypeList<First, Rest...>) {
  if constexpr (I == 0) return std::type_identity<First>{};
  else return nth_op<I - 1>(TypeList<Rest...>{});
}
template <class F, class T>
__device__ __forceinline__ T call_body(T a, T b, T c) {
  using N = Num<T>;
  if constexpr (F::info.arity == 1) return NumFront::run<F, T>(N(a)).value;
  else if constexpr (F::info.arity == 2) return NumFront::run<F, T>(N(a), N(b)).value;
  else return NumFront::run<F, T>(N(a), N(b), N(c)).value;
}

/// Memory of the operands: addresses from the launch, or rows that a thread or a team keeps.
template <class H, int K>
struct Memory {
  void* operand[H::plan.kernels[K].bindings > 0 ? H::plan.kernels[K].bindings : 1];
};
template <class H, int K>
constexpr bool is_scratch(int operand) {
  return H::plan.buffers[H::plan.bindings[H::plan.kernels[K].first_binding + operand]].scratch;
}

/// One instruction. Wide: the V elements are consecutive, and vectors of them are aligned. Kept: scratch rows are this thread's own,
/// element by element.
template <class H, int K, int I, int V, bool Wide, bool Kept>
__device__ __forceinline__ void step(Registers<H, K, V>& r, const OperandsOf<H, K>& a, const Memory<H, K>& m, const Place& p) {
  constexpr Instruction x = H::plan.instructions[I];
  using T = element_t<x.dtype>;
  constexpr int ra = x.a < 0 ? 0 : x.a, rb = x.b < 0 ? 0 : x.b, rc = x.c < 0 ? 0 : x.c;
  if constexpr (x.op == Op::load || x.op == Op::store) {
    constexpr Access y = H::plan.accesses[x.access];
    constexpr bool loads = x.op == Op::load, own = Kept && is_scratch<H, K>(y.buffer);
    Vector<T, V>& v = r.template at<T>(loads ? x.result : ra);
    if constexpr (own) {
      Vector<T, V>* kept = static_cast<Vector<T, V>*>(m.operand[y.buffer]);
      if constexpr (loads) v = *kept;
      else *kept = v;
    } else {
      T* const at = static_cast<T*>(m.operand[y.buffer]) + row_offset<H, x.access>(a, p.row);
      if constexpr (Wide && V > 1 && y.column == Extent(1) && y.column_terms == 0) {
        Vector<T, V>* const whole = reinterpret_cast<Vector<T, V>*>(at + p.col);
        if constexpr (loads) v = *whole;
        else *whole = v;
      } else {
#pragma unroll
        for (int k = 0; k < V; ++k)
          if (k < p.count) {
            T* const one = at + column_offset<H, x.access>(a, p.col + k * p.apart);
            if constexpr (loads) v.v[k] = *one;
            else *one = v.v[k];
          }
      }
    }
  } else if constexpr (!is_reduction(x.op)) {
#pragma unroll
    for (int k = 0; k < V; ++k) {
      if constexpr (x.op == Op::constant) {
        constexpr T value = decode<T>(x.bits);
        r.template at<T>(x.result).v[k] = value;
      } else if constexpr (x.op == Op::extent) {
        r.template at<T>(x.result).v[k] = static_cast<T>(extent<static_cast<std::int64_t>(x.bits)>(a));
      } else if constexpr (x.op == Op::iota) {
        constexpr bool along = H::plan.accesses[x.access].column != Extent(0);
        r.template at<T>(x.result).v[k] = static_cast<T>(row_offset<H, x.access>(a, p.row) + (along ? p.col + k * p.apart : 0));
      } else if constexpr (x.op == Op::accumulator) {
        r.template at<T>(x.result).v[k] = *static_cast<const T*>(p.sum);
      } else if constexpr (x.op == Op::call) {
        using F = typename decltype(nth_op<x.attribute>(OpaqueOps{}))::type;
        r.template at<T>(x.result).v[k] = call_body<F, T>(r.template at<T>(ra).v[k], r.template at<T>(rb).v[k], r.template at<T>(rc).v[k]);
      } else if constexpr (is_comparison(x.op)) {
        using U = element_t<x.from>;
        r.template at<bool>(x.result).v[k] = Carrier<U>::template compare<x.op>(r.template at<U>(ra).v[k], r.template at<U>(rb).v[k]);
      } else if constexpr (is_logical(x.op)) {
        r.template at<bool>(x.result).v[k] = Carrier<T>::template logical<x.op>(r.template at<bool>(ra).v[k], r.template at<bool>(rb).v[k]);
      } else if constexpr (x.op == Op::where) {
        r.template at<T>(x.result).v[k] = r.template at<bool>(ra).v[k] ? r.template at<T>(rb).v[k] : r.template at<T>(rc).v[k];
      } else if constexpr (x.op == Op::cast) {
        using U = element_t<x.from>;
        r.template at<T>(x.result).v[k] = Carrier<U>::template cast<T>(r.template at<U>(ra).v[k]);
      } else if constexpr (x.op == Op::bitcast) {
        using U = element_t<x.from>;
        r.template at<T>(x.result).v[k] = Carrier<U>::template bitcast<T>(r.template at<U>(ra).v[k]);
      } else {
        r.template at<T>(x.result).v[k] = Carrier<T>::template apply<x.op>(r.template at<T>(ra).v[k], r.template at<T>(rb).v[k],
                                                                           r.template at<T>(rc).v[k], x.attribute);
      }
    }
  }
}

/// Instructions [I, End).
template <class H, int K, int I, int End, int V, bool Wide, bool Kept>
__device__ __forceinline__ void steps(Registers<H, K, V>& r, const OperandsOf<H, K>& a, const Memory<H, K>& m, const Place& p) {
  if constexpr (I < End) {
    step<H, K, I, V, Wide, Kept>(r, a, m, p);
    steps<H, K, I + 1, End, V, Wide, Kept>(r, a, m, p);
  }
}

template <class H, int M, int End, int V, int N>
__device__ __forceinline__ bool strides_fit(const KernelOperands<N>& a) {
  if constexpr (M < End) return extent<H::plan.terms[M].stride.code>(a) % V == 0 && strides_fit<H, M + 1, End, V>(a);
  else return true;
}
/// Are vectors of V elements of every access in the sweeps aligned?
template <class H, int K, int I, int End, int V>
__device__ __forceinline__ bool vectors_fit(const OperandsOf<H, K>& a) {
  if constexpr (I >= End) {
    return true;
  } else {
    constexpr Instruction x = H::plan.instructions[I];
    if constexpr (x.op == Op::load || x.op == Op::store) {
      constexpr Access y = H::plan.accesses[x.access];
      if constexpr (y.column == Extent(1) && y.column_terms == 0 && !is_scratch<H, K>(y.buffer)) {
        using T = element_t<x.dtype>;
        if (reinterpret_cast<unsigned long long>(static_cast<T*>(a.p[y.buffer]) + extent<y.offset.code>(a)) % (sizeof(T) * V) != 0) return false;
        if (!strides_fit<H, y.first_term, y.first_term + y.term_count, V>(a)) return false;
      }
    }
    return vectors_fit<H, K, I + 1, End, V>(a);
  }
}

template <class H, int K>
__device__ __forceinline__ Memory<H, K> given_memory(const OperandsOf<H, K>& a) {
  Memory<H, K> m;
#pragma unroll
  for (int b = 0; b < H::plan.kernels[K].bindings; ++b) m.operand[b] = a.p[b];
  return m;
}

}  // namespace detail
}  // namespace tt::cuda
