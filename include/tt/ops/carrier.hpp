// Carriers: the types that an op body can run on. `Carrier<R>` implements the primitives for R: a scalar here (the
// reference, and a CUDA thread), a pack of SIMD lanes in backends/cpu. Bodies see `Num<R>`: it converts literals to R
// and turns `if (x > 0)` into a readable error.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tt/config.hpp"
#include "tt/core/dtype.hpp"
#include "tt/ops/opcode.hpp"

namespace tt {

TT_KERNELS_BEGIN

template <class R>
struct Carrier;

namespace detail {

// Integer arithmetic wraps around, as in NumPy.
template <class T>
using wrapping_t = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                               std::type_identity<T>>::type;

template <class T>
TT_ALWAYS_INLINE constexpr T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
}
template <class T>
TT_ALWAYS_INLINE constexpr T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
}
template <class T>
TT_ALWAYS_INLINE constexpr T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
}

/// A rounded product or quotient (g++ turns division by a constant into a product): without this g++ would contract it and
/// a following addition to an fma, wherever it is inlined (for clang TT_KERNELS_BEGIN forbids that). Costs no instruction.
template <class T>
TT_ALWAYS_INLINE constexpr T rounded(T x) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) {
#if defined(__x86_64__) || defined(__i386__)
    asm("" : "+v"(x));
#else
    asm("" : "+w"(x));
#endif
  }
#endif
  return x;
}

TT_HOST_DEVICE TT_ALWAYS_INLINE float fma(float a, float b, float c) {
#if TT_HAS_FMA
  return __builtin_fmaf(a, b, c);
#else
  return rounded(a * b) + c;
#endif
}
TT_HOST_DEVICE TT_ALWAYS_INLINE double fma(double a, double b, double c) {
#if TT_HAS_FMA
  return __builtin_fma(a, b, c);
#else
  return rounded(a * b) + c;
#endif
}
TT_HOST_DEVICE TT_ALWAYS_INLINE float sqrt(float a) { return __builtin_sqrtf(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE double sqrt(double a) { return __builtin_sqrt(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE float floor(float a) { return __builtin_floorf(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE double floor(double a) { return __builtin_floor(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE float ceil(float a) { return __builtin_ceilf(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE double ceil(double a) { return __builtin_ceil(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE float trunc(float a) { return __builtin_truncf(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE double trunc(double a) { return __builtin_trunc(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE float round(float a) { return __builtin_nearbyintf(a); }
TT_HOST_DEVICE TT_ALWAYS_INLINE double round(double a) { return __builtin_nearbyint(a); }

/// A float out of the integer's range gives the smallest integer, as x86 does.
template <class To, class From>
TT_ALWAYS_INLINE constexpr To convert(From x) {
  if constexpr (NarrowElement<From>) {
    return convert<To>(static_cast<compute_t<From>>(x));
  } else if constexpr (NarrowElement<To>) {
    return static_cast<To>(convert<compute_t<To>>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From bound = sizeof(To) == 8 ? From(9223372036854775808.0) : From(2147483648.0);
    return x >= -bound && x < bound ? static_cast<To>(x)
                                    : static_cast<To>(std::make_unsigned_t<To>(1)
                                                      << (8 * sizeof(To) - 1));
  } else {
    return static_cast<To>(x);
  }
}

template <class T>
struct same_size_integer {
  using type = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
};

}  // namespace detail

template <Element T>
struct Carrier<T> {
  using Scalar = T;
  using Mask = bool;
  template <class U>
  using Rebind = U;

  static TT_ALWAYS_INLINE constexpr T splat(T x) { return x; }

  /// min and max: NaN wins, and of two equal values the second is taken.
  template <Op K>
  static TT_ALWAYS_INLINE constexpr T apply(T a, T b = T(), T c = T(), int attribute = 0) {
    using U = detail::wrapping_t<std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T>>;
    if constexpr (K == Op::add) return detail::wrap_add(a, b);
    else if constexpr (K == Op::sub) return detail::wrap_sub(a, b);
    else if constexpr (K == Op::mul && std::is_floating_point_v<T>) return detail::rounded(a * b);
    else if constexpr (K == Op::mul) return detail::wrap_mul(a, b);
    else if constexpr (K == Op::div && std::is_floating_point_v<T>) return detail::rounded(a / b);
    else if constexpr (K == Op::div) return a / b;
    else if constexpr (K == Op::max) return a > b || a != a ? a : b;
    else if constexpr (K == Op::min) return a < b || a != a ? a : b;
    else if constexpr (K == Op::neg && std::is_floating_point_v<T>) return -a;
    else if constexpr (K == Op::neg) return detail::wrap_sub(T(0), a);
    else if constexpr (K == Op::bit_and) return static_cast<T>(a & b);
    else if constexpr (K == Op::bit_or) return static_cast<T>(a | b);
    else if constexpr (K == Op::bit_xor) return static_cast<T>(a ^ b);
    else if constexpr (K == Op::shift_left) return static_cast<T>(static_cast<U>(a) << attribute);
    else if constexpr (K == Op::shift_right) return static_cast<T>(a >> attribute);
    else if constexpr (K == Op::shift_right_logical)
      return static_cast<T>(static_cast<U>(a) >> attribute);
    else if constexpr (std::is_floating_point_v<T>) {
      if constexpr (K == Op::fma) return detail::fma(a, b, c);
      else if constexpr (K == Op::abs) {
        using I = typename detail::same_size_integer<T>::type;
        return std::bit_cast<T>(
            static_cast<I>(std::bit_cast<I>(a) & ~(I(1) << (8 * sizeof(T) - 2) << 1)));
      }
      else if constexpr (K == Op::sqrt) return detail::sqrt(a);
      else if constexpr (K == Op::floor) return detail::floor(a);
      else if constexpr (K == Op::ceil) return detail::ceil(a);
      else if constexpr (K == Op::round) return detail::round(a);
      else if constexpr (K == Op::trunc) return detail::trunc(a);
      else static_assert(K == Op::add, "tt: no such arithmetic primitive");
    } else {
      if constexpr (K == Op::fma) return detail::wrap_add(detail::wrap_mul(a, b), c);
      else if constexpr (K == Op::abs) return a < T(0) ? detail::wrap_sub(T(0), a) : a;
      else return a;  // rounding leaves an integer as it is
    }
  }
  template <Op K>
  static TT_ALWAYS_INLINE constexpr bool compare(T a, T b) {
    if constexpr (K == Op::lt) return a < b;
    else if constexpr (K == Op::le) return a <= b;
    else if constexpr (K == Op::eq) return a == b;
    else return a != b;
  }
  template <Op K>
  static TT_ALWAYS_INLINE constexpr bool logical(bool a, bool b) {
    if constexpr (K == Op::logical_and) return a && b;
    else if constexpr (K == Op::logical_or) return a || b;
    else return !a;
  }
  static TT_ALWAYS_INLINE constexpr T select(bool m, T a, T b) { return m ? a : b; }
  static TT_ALWAYS_INLINE constexpr bool all(bool m) { return m; }
  /// x between two constants; NaN stays.
  static TT_ALWAYS_INLINE constexpr T within(T x, T low, T high) {
    const T y = x < low ? low : x;
    return y > high ? high : y;
  }
  template <class To>
  static TT_ALWAYS_INLINE constexpr To cast(T a) { return detail::convert<To>(a); }
  template <class To>
  static TT_ALWAYS_INLINE constexpr To bitcast(T a) { return std::bit_cast<To>(a); }
};

/// Narrow types are only selected and converted; computing is done in another type.
template <NarrowElement T>
struct Carrier<T> {
  using Scalar = T;
  using Mask = bool;
  template <class U>
  using Rebind = U;

  static TT_ALWAYS_INLINE constexpr T splat(T x) { return x; }
  static TT_ALWAYS_INLINE constexpr T select(bool m, T a, T b) { return m ? a : b; }
  template <class To>
  static TT_ALWAYS_INLINE constexpr To cast(T a) { return detail::convert<To>(a); }
};

template <class N>
inline constexpr bool used_as_condition = false;

/// A lane mask: the result of comparing Nums.
template <class R>
struct Mask {
  typename Carrier<R>::Mask value;

  template <class B>
    requires std::same_as<B, bool>
  explicit constexpr operator B() const {
    static_assert(used_as_condition<R>,
                  "tt: a comparison inside an op is a mask over many elements and cannot steer `if` "
                  "or `?:`; use tt::where(condition, a, b)");
    return false;
  }
  friend TT_ALWAYS_INLINE constexpr Mask operator&&(Mask a, Mask b) {
    return {Carrier<R>::template logical<Op::logical_and>(a.value, b.value)};
  }
  friend TT_ALWAYS_INLINE constexpr Mask operator||(Mask a, Mask b) {
    return {Carrier<R>::template logical<Op::logical_or>(a.value, b.value)};
  }
  friend TT_ALWAYS_INLINE constexpr Mask operator!(Mask a) {
    return {Carrier<R>::template logical<Op::logical_not>(a.value, a.value)};
  }
  using tt_front = struct NumFront;
  using Raw = R;
};

template <class R>
struct Num {
  using tt_front = struct NumFront;
  using Raw = R;
  using Scalar = typename Carrier<R>::Scalar;
  using C = Carrier<R>;

  R value;

  Num() = default;
  TT_ALWAYS_INLINE constexpr Num(R raw) : value(raw) {}
  template <class A>
    requires(std::is_arithmetic_v<A> && !std::same_as<A, R>)
  TT_ALWAYS_INLINE constexpr Num(A literal) : value(C::splat(static_cast<Scalar>(literal))) {}

  friend TT_ALWAYS_INLINE constexpr Num operator+(Num a, Num b) {
    return C::template apply<Op::add>(a.value, b.value);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator-(Num a, Num b) {
    return C::template apply<Op::sub>(a.value, b.value);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator*(Num a, Num b) {
    return C::template apply<Op::mul>(a.value, b.value);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator/(Num a, Num b) {
    return C::template apply<Op::div>(a.value, b.value);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator-(Num a) {
    return C::template apply<Op::neg>(a.value);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator&(Num a, Num b) {
    return C::template apply<Op::bit_and>(a.value, b.value);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator|(Num a, Num b) {
    return C::template apply<Op::bit_or>(a.value, b.value);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator^(Num a, Num b) {
    return C::template apply<Op::bit_xor>(a.value, b.value);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator<<(Num a, int n) {
    return C::template apply<Op::shift_left>(a.value, {}, {}, n);
  }
  friend TT_ALWAYS_INLINE constexpr Num operator>>(Num a, int n) {
    return C::template apply<Op::shift_right>(a.value, {}, {}, n);
  }
  friend TT_ALWAYS_INLINE constexpr Mask<R> operator<(Num a, Num b) {
    return {C::template compare<Op::lt>(a.value, b.value)};
  }
  friend TT_ALWAYS_INLINE constexpr Mask<R> operator<=(Num a, Num b) {
    return {C::template compare<Op::le>(a.value, b.value)};
  }
  friend TT_ALWAYS_INLINE constexpr Mask<R> operator>(Num a, Num b) { return b < a; }
  friend TT_ALWAYS_INLINE constexpr Mask<R> operator>=(Num a, Num b) { return b <= a; }
  friend TT_ALWAYS_INLINE constexpr Mask<R> operator==(Num a, Num b) {
    return {C::template compare<Op::eq>(a.value, b.value)};
  }
  friend TT_ALWAYS_INLINE constexpr Mask<R> operator!=(Num a, Num b) {
    return {C::template compare<Op::ne>(a.value, b.value)};
  }
  TT_ALWAYS_INLINE constexpr Num& operator+=(Num b) { return *this = *this + b; }
  TT_ALWAYS_INLINE constexpr Num& operator-=(Num b) { return *this = *this - b; }
  TT_ALWAYS_INLINE constexpr Num& operator*=(Num b) { return *this = *this * b; }
  TT_ALWAYS_INLINE constexpr Num& operator/=(Num b) { return *this = *this / b; }
};

TT_KERNELS_END

}  // namespace tt
