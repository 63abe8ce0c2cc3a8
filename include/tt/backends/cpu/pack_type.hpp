// The type Pack<T>: its registers, and a scalar function applied to every lane.
#pragma once
#include <cstring>

#include "tt/backends/cpu/xsimd.hpp"
#include "tt/ops/primitive.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

inline constexpr int lanes = static_cast<int>(xsimd::batch<float>::size);
inline constexpr int most_lanes = 16;  ///< of any instruction set

/// Made of registers, not of xsimd's batches: the frequent operations are then one expression on compiler vectors, where a batch
/// needs two or three function calls. A kernel with one exp compiles in half the time.
template <class T>
struct Pack {
  using Batch = xsimd::batch<T>;
  using Register = typename Batch::register_type;
  static constexpr int per_part = static_cast<int>(Batch::size);
  static constexpr int parts = lanes / per_part;
  static_assert(parts <= 2);  // so that no code needs a loop over parts

  mutable Register part[parts];  // mutable: else g++ 12 keeps in memory the values that an op's body declares `const auto`
};

/// Held as a mask of floats; 64-bit comparisons are narrowed to it.
struct PackMask {
  xsimd::batch_bool<float> value;
};
template <>
struct Pack<bool> {
  PackMask mask;
};
/// A 32-bit lane for each element: see NarrowLanes.
template <NarrowElement T>
struct Pack<T> {
  Pack<std::int32_t> lanes;
};

namespace detail {

/// A register as the compiler's vector type of T, with unsigned integers, which wrap around.
template <class T>
struct VectorOf {
  using Register = typename xsimd::batch<T>::register_type;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using Lane = std::conditional_t<std::is_floating_point_v<T>, T, Bits>;
  using Signed = std::make_signed_t<Bits>;
  typedef Lane Type __attribute__((vector_size(sizeof(Register))));
  typedef Bits BitsType __attribute__((vector_size(sizeof(Register))));
  typedef Signed SignedType __attribute__((vector_size(sizeof(Register))));

  template <std::size_t... I>
  static TT_ALWAYS_INLINE Register splat(Lane x, std::index_sequence<I...>) {
    return (Register)Type{(static_cast<void>(I), x)...};
  }
};

/// Applies a scalar function to every lane: correct for every op, used where SIMD has no instruction.
template <class To, class F, class... T>
TT_ALWAYS_INLINE Pack<To> map_lanes(F f, const Pack<T>&... x) {
  alignas(64) To out[lanes];
  const auto run = [&](const auto&... in) {
    for (int i = 0; i < lanes; ++i) out[i] = f(in.item[i]...);
  };
  const auto spill = []<class U>(const Pack<U>& p) {
    struct Spilled {
      alignas(64) U item[lanes];
    } s;
    std::memcpy(&s, &p, sizeof p);
    return s;
  };
  run(spill(x)...);
  Pack<To> r;
  static_assert(sizeof r == sizeof(To) * lanes);  // no mask
  std::memcpy(&r, out, sizeof r);
  return r;
}

}  // namespace detail
}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
