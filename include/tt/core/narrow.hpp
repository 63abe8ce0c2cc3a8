// Element types that are stored in fewer bits than they are computed in: 16-bit floats, and integers of 8 and 16 bits.
// A conversion is written once, over lanes of 32 bits that hold a narrow value: an integer itself, a float as its bits.
// Scalars, SIMD registers and emitted text run the same operations on lanes, so all round alike: to nearest, ties to
// even. Narrow values are converted from f32 or i32; wider values are rounded to those first, as in PyTorch.
//   tt::bfloat16 x = 1.01f;   float y = x;   // 1.0078125
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "tt/config.hpp"

namespace tt {
namespace detail {

/// Lanes of a scalar: one.
struct OneLane {
  static constexpr std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
  static constexpr float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }
  static constexpr std::uint32_t choose(bool m, std::uint32_t a, std::uint32_t b) { return m ? a : b; }
};

/// NarrowLanes<T>::from<L>: lanes from a value of the compute dtype; to<L>: back. Integers wrap around.
template <class T>
struct NarrowLanes {
  static_assert(std::is_integral_v<T>);
  template <class L>
  static TT_ALWAYS_INLINE constexpr auto from(auto x) {
    constexpr int unused = 32 - 8 * static_cast<int>(sizeof(T));
    if constexpr (std::is_signed_v<T>) return (x << unused) >> unused;
    else return x & ((1 << (32 - unused)) - 1);
  }
  template <class L>
  static TT_ALWAYS_INLINE constexpr auto to(auto lanes) { return lanes; }
};

struct bf16_tag;
struct f16_tag;
template <>
struct NarrowLanes<bf16_tag> {
  template <class L>
  static TT_ALWAYS_INLINE constexpr auto from(auto x) {
    const auto bits = L::bits(x);
    return L::choose((bits & 0x7fffffff) > 0x7f800000, 0x7fc0, ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) & 0xffff);
  }
  template <class L>
  static TT_ALWAYS_INLINE constexpr auto to(auto lanes) { return L::number(lanes << 16); }
};
template <>
struct NarrowLanes<f16_tag> {
  template <class L>
  static TT_ALWAYS_INLINE constexpr auto from(auto x) {
    const auto bits = L::bits(x), m = bits & 0x7fffffff;
    const auto denormal = L::bits(L::number(m) + 0.5f) - 0x3f000000;  // the sum is rounded to 2^-24
    const auto bounded = L::choose(m < 0x47800000, m, 0x47800000);    // 2^16, whose pattern becomes that of infinity
    const auto normal = (bounded + 0xfff + ((bounded >> 13) & 1) - 0x38000000) >> 13;
    const auto nan = ((m >> 13) & 0x3ff) | 0x7e00;  // a quiet NaN, as processors give
    return L::choose(m > 0x7f800000, nan, L::choose(m < 0x38800000, denormal, normal)) | ((bits >> 16) & 0x8000);
  }
  template <class L>
  static TT_ALWAYS_INLINE constexpr auto to(auto lanes) {
    const auto m = (lanes & 0x7fff) << 13, exponent = m & 0x0f800000;
    const auto denormal = L::bits(L::number(m + 0x38800000) - 0x1p-14f);
    const auto finite = L::choose(exponent == 0, denormal, m + 0x38000000);
    const auto infinite = L::choose(m > 0x0f800000, m | 0x400000, m) + 0x70000000;
    return L::number(L::choose(exponent == 0x0f800000, infinite, finite) | ((lanes & 0x8000) << 16));
  }
};
/// A float of 16 bits: rounded from a float, and converted back to one for computing.
template <class Tag>
struct Float16 {
  std::uint16_t bits;

  Float16() = default;
  constexpr Float16(float x) : bits(static_cast<std::uint16_t>(NarrowLanes<Tag>::template from<OneLane>(x))) {}
  template <class A>
    requires(std::is_arithmetic_v<A> && !std::is_same_v<A, float>)
  constexpr Float16(A x) : Float16(static_cast<float>(x)) {}
  constexpr operator float() const { return NarrowLanes<Tag>::template to<OneLane>(std::uint32_t{bits}); }
  static constexpr Float16 from_bits(std::uint16_t bits) {
    Float16 x;
    x.bits = bits;
    return x;
  }
};

}  // namespace detail

/// IEEE 754's binary16: 11 significant bits, to 65504. PyTorch's half.
using float16 = detail::Float16<detail::f16_tag>;
/// The upper half of a float: 8 significant bits. PyTorch's bfloat16.
using bfloat16 = detail::Float16<detail::bf16_tag>;

namespace detail {
template <>
struct NarrowLanes<float16> : NarrowLanes<f16_tag> {};
template <>
struct NarrowLanes<bfloat16> : NarrowLanes<bf16_tag> {};
}  // namespace detail

static_assert(bfloat16(1.01f) == 1.0078125f && bfloat16(3.3895314e38f).bits == 0x7f7f && bfloat16(3.4e38f).bits == 0x7f80);
static_assert(float16(0.1f).bits == 0x2e66 && float16(65519.0f) == 65504.0f && float16(65520.0f).bits == 0x7c00 && float16(-0.0f).bits == 0x8000);
static_assert(float16(0x1.8p-25f) == 0x1p-24f && float16(0x1p-25f) == 0 && float16::from_bits(0x3ff) == 0x1.ff8p-15f);

}  // namespace tt
