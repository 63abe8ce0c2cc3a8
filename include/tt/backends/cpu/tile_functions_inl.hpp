// Definitions of tile_functions.hpp: one loop for each kind of op, instantiated for every primitive, intrinsic and dtype.
#pragma once
#include "tt/backends/cpu/tile_functions.hpp"
#include "tt/core/copy_memory.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {
namespace detail {

template <class T>
TT_ALWAYS_INLINE void put(void* p, std::int64_t i, const Pack<T>& x) {
  store(static_cast<T*>(p) + i, x);
}
/// The vectors of operands; if Repeats, some operands may be repeated.
template <int Operands, bool Repeats = true>
struct Vectors {
  const void* elements[Operands];
  std::int64_t step[Operands];  ///< 0 for a repeated operand, else 1

  explicit TT_ALWAYS_INLINE Vectors(const TileOperand* operands) {
#pragma GCC unroll 4
    for (int k = 0; k < Operands; ++k) {
      elements[k] = operands[k].elements;
      step[k] = operands[k].repeated ? 0 : 1;
    }
  }
};
/// The vector of operand k at element i.
template <class T, int Operands, bool Repeats>
TT_ALWAYS_INLINE Pack<T> at(const Vectors<Operands, Repeats>& v, int k, std::int64_t i) {
  return load(static_cast<const T*>(v.elements[k]) + (Repeats ? i * v.step[k] : i));
}
/// Calls loop(vectors), with a type that does not check for repeated operands if there are none.
template <int Operands, class F>
TT_ALWAYS_INLINE void with_vectors(const TileOperand* operands, const F& loop) {
  bool any = false;
  for (int k = 0; k < Operands; ++k) any = any || operands[k].repeated;
  if (any) loop(Vectors<Operands>(operands));
  else loop(Vectors<Operands, false>(operands));
}

/// The operands of a function of one dtype: the vector of a repeated operand is kept in a register.
template <class T, int Operands>
struct RowOperands {
  const T* elements[Operands];
  Pack<T> vector[Operands];
  bool repeated[Operands];
  bool any = false;

  /// Of row r, if there are several rows.
  TT_ALWAYS_INLINE RowOperands(const TileOperand* operands, const TileRows* rows, std::int64_t r) {
#pragma GCC unroll 4
    for (int k = 0; k < Operands; ++k) {
      const bool single = rows && rows->single[k];
      elements[k] = reinterpret_cast<const T*>(static_cast<const std::byte*>(operands[k].elements) + (rows ? r * rows->apart[k] : 0));
      repeated[k] = single || operands[k].repeated;
      any = any || repeated[k];
      if (single) vector[k] = Carrier<Pack<T>>::splat(*elements[k]);
      else if (repeated[k]) vector[k] = load(elements[k]);
    }
  }
  TT_ALWAYS_INLINE Pack<T> at(int k, std::int64_t i) const { return repeated[k] ? vector[k] : load(elements[k] + i); }
};
/// f(result, operands) for one row, or for each of several: the operands have elements of type T, the result of type D.
template <class D, class T, int Operands, class F>
TT_ALWAYS_INLINE void each_row(void* d, const TileOperand* operands, std::int64_t n, const TileRows* rows, const F& f) {
  std::int64_t r = 0;
  do f(static_cast<D*>(d) + r * n, RowOperands<T, Operands>(operands, rows, r));
  while (rows && ++r < rows->count);
}
/// loop(at), where at(k, i) is operand k's vector at element i. In the usual cases no check at each vector is needed: no operand is
/// repeated; all but the first are (scalars beside a Tensor); the first of two is.
template <class T, int Operands, class Loop>
TT_ALWAYS_INLINE void with_operands(const RowOperands<T, Operands>& v, const Loop& loop) {
  if constexpr (Operands > 1) {
    if (!v.any) return loop([&](int k, std::int64_t i) TT_LAMBDA_INLINE { return load(v.elements[k] + i); });
    bool rest = !v.repeated[0];
    for (int k = 1; k < Operands; ++k) rest = rest && v.repeated[k];
    if (rest) return loop([&](int k, std::int64_t i) TT_LAMBDA_INLINE { return k == 0 ? load(v.elements[0] + i) : v.vector[k]; });
    if (Operands == 2 && !v.repeated[1]) return loop([&](int k, std::int64_t i) TT_LAMBDA_INLINE { return k == 0 ? v.vector[0] : load(v.elements[k] + i); });
  }
  loop([&](int k, std::int64_t i) TT_LAMBDA_INLINE { return v.at(k, i); });
}
template <Op K, class T>
TT_FLATTEN void arithmetic_tile(void* to, const TileOperand* operands, std::int64_t n, int attribute, const TileRows* rows) {
  constexpr int count = arity(K);
  each_row<T, T, count>(to, operands, n, rows, [n, attribute](T* d, const RowOperands<T, count>& v) TT_LAMBDA_INLINE {
    with_operands(v, [&](const auto& at) TT_LAMBDA_INLINE {
      for (std::int64_t i = 0; i < n; i += lanes) {
        const Pack<T> x = at(0, i), y = count > 1 ? at(count > 1, i) : x, z = count > 2 ? at(count - 1, i) : x;
        store(d + i, Carrier<Pack<T>>::template apply<K>(x, y, z, attribute));
      }
    });
  });
}
template <Op K, class T>
TT_FLATTEN void comparison_tile(void* to, const TileOperand* operands, std::int64_t n, int, const TileRows* rows) {
  each_row<bool, T, 2>(to, operands, n, rows, [n](bool* d, const RowOperands<T, 2>& v) TT_LAMBDA_INLINE {
    with_operands(v, [&](const auto& at) TT_LAMBDA_INLINE {
      std::int64_t i = 0;
      const auto mask = [&](std::int64_t k) TT_LAMBDA_INLINE { return Carrier<Pack<T>>::template compare<K>(at(0, k), at(1, k)); };
#if defined(__AVX2__) && !TT_AVX512
      for (; i + 4 * lanes <= n; i += 4 * lanes) store_masks(d + i, mask(i), mask(i + lanes), mask(i + 2 * lanes), mask(i + 3 * lanes));
#endif
      for (; i < n; i += lanes) put<bool>(d, i, {mask(i)});
    });
  });
}
template <Op K>
void logical_tile(void* d, const TileOperand* operands, std::int64_t n, int, const TileRows*) {
  constexpr int second = arity(K) > 1 ? 1 : 0;
  std::int64_t i = 0;
#if defined(__AVX2__)  // any byte not 0 counts as true
  if (!operands[0].repeated && !operands[second].repeated) {
    const auto is_zero = [&](int k, std::int64_t j) TT_LAMBDA_INLINE {
      return _mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(static_cast<const bool*>(operands[k].elements) + j)), _mm256_setzero_si256());
    };
    for (const __m256i one = _mm256_set1_epi8(1); i + 32 <= n; i += 32) {
      const __m256i x = is_zero(0, i), y = is_zero(second, i);
      const __m256i bytes = K == Op::logical_not ? _mm256_and_si256(x, one) : _mm256_andnot_si256(K == Op::logical_and ? _mm256_or_si256(x, y) : _mm256_and_si256(x, y), one);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(static_cast<bool*>(d) + i), bytes);
    }
  }
#endif
  const Vectors<second + 1> v(operands);
  for (; i < n; i += lanes) put<bool>(d, i, {Carrier<Pack<bool>>::template logical<K>(at<bool>(v, 0, i).mask, at<bool>(v, second, i).mask)});
}
template <class T>
void where_tile(void* d, const TileOperand* operands, std::int64_t n, int, const TileRows*) {
  with_vectors<3>(operands, [&](const auto& v) TT_LAMBDA_INLINE {
    for (std::int64_t i = 0; i < n; i += lanes)
      put<T>(d, i, Carrier<Pack<T>>::select(at<bool>(v, 0, i).mask, at<T>(v, 1, i), at<T>(v, 2, i)));
  });
}
template <class To, class From>
void cast_tile(void* d, const TileOperand* operands, std::int64_t n, int, const TileRows*) {
  const Vectors<1> v(operands);
#if defined(__AVX2__) && !TT_AVX512
  if constexpr (std::is_same_v<From, bool> && (std::is_same_v<To, std::int64_t> || std::is_same_v<To, std::int32_t>)) {  // any byte not 0 counts as true
    for (std::int64_t i = 0; i < n; i += lanes) {
      const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(static_cast<const bool*>(operands->elements) + (operands->repeated ? 0 : i)));
      const __m128i ones = _mm_andnot_si128(_mm_cmpeq_epi8(x, _mm_setzero_si128()), _mm_set1_epi8(1));
      if constexpr (sizeof(To) == 4) put<To>(d, i, {{_mm256_cvtepu8_epi32(ones)}});
      else put<To>(d, i, {{_mm256_cvtepu8_epi64(ones), _mm256_cvtepu8_epi64(_mm_srli_si128(ones, 4))}});
    }
    return;
  }
#endif
  for (std::int64_t i = 0; i < n; i += lanes) put<To>(d, i, Carrier<Pack<From>>::template cast<To>(at<From>(v, 0, i)));
}
template <class T>
void copy_tile(void* d, const TileOperand* operands, std::int64_t n, int, const TileRows*) {
  const Vectors<1> v(operands);
  if (!operands->repeated) return tt::detail::move_memory(d, operands->elements, static_cast<std::size_t>(n) * sizeof(T));
  for (std::int64_t i = 0; i < n; i += lanes) put<T>(d, i, at<T>(v, 0, i));
}
template <class F, class T>
TT_FLATTEN void call_tile(void* to, const TileOperand* operands, std::int64_t n, int, const TileRows* rows) {
  constexpr int count = F::info.arity;
  each_row<T, T, count>(to, operands, n, rows, [n](T* d, const RowOperands<T, count>& v) TT_LAMBDA_INLINE {
    with_operands(v, [&](const auto& at) TT_LAMBDA_INLINE {
      for (std::int64_t i = 0; i < n; i += lanes)
        store(d + i, [&]<int... K>(std::integer_sequence<int, K...>) TT_LAMBDA_INLINE {
          return NumFront::run<F, Pack<T>>(Num<Pack<T>>(at(K, i))...).value;
        }(std::make_integer_sequence<int, count>{}));
    });
  });
}

template <Op K, class T>
constexpr TileFunction arithmetic_entry() {
  if constexpr (std::is_same_v<T, bool> || (is_bitwise(K) && !std::is_integral_v<T>) ||
                (is_real(K) && !std::is_floating_point_v<T>))
    return nullptr;
  else return &arithmetic_tile<K, T>;
}

/// The function for one op, given the dtypes of its result and its operands.
template <class T, int... K>
TileFunction find_arithmetic(Op op, std::integer_sequence<int, K...>) {
  TileFunction f = nullptr;
  (void)((op == static_cast<Op>(static_cast<int>(Op::add) + K)
              ? (f = arithmetic_entry<static_cast<Op>(static_cast<int>(Op::add) + K), T>(), true)
              : false) || ...);
  return f;
}
template <class T>
TileFunction find_comparison(Op op) {
  switch (op) {
    case Op::lt: return &comparison_tile<Op::lt, T>;
    case Op::le: return &comparison_tile<Op::le, T>;
    case Op::eq: return &comparison_tile<Op::eq, T>;
    default: return &comparison_tile<Op::ne, T>;
  }
}
/// Between compute dtypes; and between a narrow dtype and its own compute dtype.
template <class From>
TileFunction find_cast(DType to) {
  if constexpr (NarrowElement<From>) {
    return &cast_tile<compute_t<From>, From>;
  } else {
    if (!is_narrow(to)) return with_compute_dtype(to, []<class To>(To) -> TileFunction { return &cast_tile<To, From>; });
    return with_dtype(to, []<class To>(To) -> TileFunction {
      if constexpr (NarrowElement<To> && std::is_same_v<compute_t<To>, From>) return &cast_tile<To, From>;
      else return nullptr;
    });
  }
}
template <class F>
constexpr CallTiles call_tiles() {
  CallTiles t;
  if constexpr (takes_dtype<F, float>) t.of[static_cast<int>(DType::f32)] = &call_tile<F, float>;
  if constexpr (takes_dtype<F, double>) t.of[static_cast<int>(DType::f64)] = &call_tile<F, double>;
  if constexpr (takes_dtype<F, std::int64_t>) t.of[static_cast<int>(DType::i64)] = &call_tile<F, std::int64_t>;
  if constexpr (F::info.domain == Domain::number) t.of[static_cast<int>(DType::i32)] = &call_tile<F, std::int32_t>;
  return t;
}
template <class F>
inline constexpr CallTiles call_tiles_of = call_tiles<F>();

/// For an op that eager mode calls by itself, whose body other kernels inline; only tt::compiled has these functions.
inline TileFunction find_direct([[maybe_unused]] int place, [[maybe_unused]] DType dtype) {
#if TT_ALL_KERNELS
  return []<class... F>(TypeList<F...>, int k, DType d) -> TileFunction {
    static constexpr CallTiles all[] = {[] {
      if constexpr (F::info.opaque) return CallTiles{};
      else return call_tiles<F>();
    }()...};
    return all[k].of[static_cast<int>(d)];
  }(DirectOps{}, place, dtype);
#else
  return nullptr;
#endif
}

/// The functions of an intrinsic: tt::compiled has all, other programs those registered by enlist_op.
inline const CallTiles& find_call(int code) {
#if TT_ALL_KERNELS
  return *[]<class... F>(TypeList<F...>, int c) {
    static constexpr const CallTiles* all[] = {&call_tiles_of<F>...};
    return all[c];
  }(OpaqueOps{}, code);
#else
  const CallTiles* tiles = __atomic_load_n(&enlisted_tiles[code], __ATOMIC_ACQUIRE);
  if (!tiles) tt::detail::not_enlisted(opaque_name(code));
  tt::detail::check_isa(tiles->isa, TT_ISA_NAME);
  return *tiles;
#endif
}

}  // namespace detail

TT_INLINE TileFunction tile_function(Op op, DType dtype, DType from, int attribute) {
  using tt::with_compute_dtype;
  if (op == Op::where) {
    if (is_narrow(dtype)) return size_of(dtype) == 1 ? &detail::where_tile<std::uint8_t> : &detail::where_tile<std::int16_t>;
    return with_compute_dtype(dtype, []<class T>(T) -> TileFunction { return &detail::where_tile<T>; });
  }
  if (op == Op::cast)
    return with_dtype(from, [dtype]<class T>(T) { return detail::find_cast<T>(dtype); });
  if (op == Op::bitcast)
    return with_compute_dtype(dtype, []<class T>(T) -> TileFunction { return &detail::copy_tile<T>; });
  if (op == Op::logical_and) return &detail::logical_tile<Op::logical_and>;
  if (op == Op::logical_or) return &detail::logical_tile<Op::logical_or>;
  if (op == Op::logical_not) return &detail::logical_tile<Op::logical_not>;
  if (is_comparison(op))
    return with_compute_dtype(from, [op]<class T>(T) { return detail::find_comparison<T>(op); });
  if (op == Op::call && attribute >= tt::detail::max_opaque_ops) return detail::find_direct(attribute - tt::detail::max_opaque_ops, dtype);
  if (op == Op::call)
    return detail::find_call(attribute).of[static_cast<int>(dtype)];
  if (op > Op::copy && is_arithmetic(op))
    return with_compute_dtype(dtype, [op]<class T>(T) {
      constexpr int count = static_cast<int>(Op::shift_right_logical) - static_cast<int>(Op::add) + 1;
      return detail::find_arithmetic<T>(op, std::make_integer_sequence<int, count>{});
    });
  return nullptr;
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END

namespace tt {

template <class F>
void enlist_op() {
  __atomic_store_n(&cpu::enlisted_tiles[op_def<F>.code], &cpu::detail::call_tiles_of<F>, __ATOMIC_RELEASE);
}

}  // namespace tt
