// fmod, remainder and floor_divide, exact for floats and integers.
//   i32   one quotient in f64
// i64   two quotients in f64; the remainder, from products that wrap around, is right but for at most one divisor
// f32   long division in f64: ten digits of the quotient, of 28 bits each
//   f64   mantissas as integers: m_x 2^d mod m_y, with the power by squaring (Knuth, The Art of Computer Programming, 4.6.3)
// Integers divided by 0 give 0, as NumPy's.
#pragma once
#include "tt/ops/math_exp.hpp"

namespace tt {

namespace detail {

template <class R>
struct Division {
  R quotient, rest;
};
/// floor(a / b) and the remainder, with the sign of b. For b that is not 0.
template <class T>
TT_ALWAYS_INLINE constexpr auto divide_integers(auto a, auto b) {
  const auto wide = cast<double>(b);
  if constexpr (sizeof(T) == 4) {
    const auto quotient = cast<T>(floor(cast<double>(a) / wide));
    return Division{quotient, a - quotient * b};
  } else {
    const auto first = cast<T>(cast<double>(a) / wide);
    const auto left = a - first * b;
    const auto second = cast<T>(floor(cast<double>(left) / wide));
    const auto quotient = first + second, rest = left - second * b;
    const auto below = rest != 0 && (rest ^ b) < 0, above = (b > 0 && rest >= b) || (b < 0 && rest <= b);
    return Division{where(below, quotient - 1, where(above, quotient + 1, quotient)), where(below, rest + b, where(above, rest - b, rest))};
  }
}

/// a mod b in f64, for a >= b > 0 that are f32 numbers.
TT_ALWAYS_INLINE constexpr auto fmod_of_f32(auto a, auto b) {
  const auto digit = [](auto rest, auto step) TT_LAMBDA_INLINE { return rest - trunc(rest / step) * step; };
  return where_often(
      a < b * 0x1p28, [=]() TT_LAMBDA_INLINE { return digit(a, b); },
      [=]() TT_LAMBDA_INLINE {
        auto rest = digit(a, b * 0x1p252);
        for (const double scale : {0x1p224, 0x1p196, 0x1p168, 0x1p140, 0x1p112, 0x1p84, 0x1p56, 0x1p28, 1.0}) rest = digit(rest, b * scale);
        return rest;
      });
}

/// a b mod m, near 0, for integers |a|, |b| up to about m < 2^53. Only the low bits of the product are kept, which suffices for the difference.
TT_ALWAYS_INLINE constexpr auto multiply_modulo(auto a, auto b, auto m) {
  const auto wide = cast<double>(m);
  const auto rest = a * b - cast<std::int64_t>(cast<double>(a) * cast<double>(b) / wide) * m;
  return rest - cast<std::int64_t>(round(cast<double>(rest) / wide)) * m;
}
/// a mod b for finite a >= b > 0; any number for others.
TT_ALWAYS_INLINE constexpr auto fmod_of_f64(auto a, auto b) {
  constexpr std::int64_t fraction = 0xfffffffffffff, leading = 0x10000000000000;
  const auto a_bits = bitcast<std::int64_t>(a), b_bits = bitcast<std::int64_t>(b);
  const auto a_normal = (a_bits >> 52) > 0, b_normal = (b_bits >> 52) > 0;
  const auto m = where(b_normal, (b_bits & fraction) | leading, b_bits), mantissa = where(a_normal, (a_bits & fraction) | leading, a_bits);
  const auto exponent = where(b_normal, b_bits >> 52, 1), difference = where(a_normal, a_bits >> 52, 1) - exponent;
  const auto d = where(difference > 0, difference, 0);
  const auto power = [](auto k) TT_LAMBDA_INLINE { return cast<std::int64_t>(power_of_two<double>(k)); };
  const auto near = a < b * 0x1p50;
  const auto rest = where_often(
      near, [=]() TT_LAMBDA_INLINE { return mantissa * power(where(near, d, 0)) - cast<std::int64_t>(a / b) * m; },
      [=]() TT_LAMBDA_INLINE {
        auto t = power(d >> 6);
        for (int bit = 5; bit >= 0; --bit) {
          const auto square = multiply_modulo(t, t, m);
          t = where(((d >> bit) & 1) == 1, square + square, square);
        }
        return multiply_modulo(mantissa, t, m);
      });
  const auto scale = exponent - 1075, half = scale >> 1;
  return cast<double>(where(rest < 0, rest + m, rest)) * power_of_two<double>(half) * power_of_two<double>(scale - half);
}
/// The remainder of division towards 0, with the sign of x.
template <class T>
TT_ALWAYS_INLINE constexpr auto fmod(auto x, auto y) {
  if constexpr (std::is_integral_v<T>) {
    const auto rest = divide_integers<T>(x, y).rest;
    return where(y == 0, 0, where(rest != 0 && (x ^ y) < 0, rest - y, rest));
  } else {
    const auto a = abs(x), b = abs(y);
    const auto reduced = [a, b]() TT_LAMBDA_INLINE {
      if constexpr (sizeof(T) == 4) return cast<float>(fmod_of_f32(cast<double>(a), cast<double>(b)));
      else return fmod_of_f64(a, b);
    };
    const auto rest = copy_sign<T>(where(a < b, a, reduced()), x);
    return where(a < infinity<T> && b > 0, rest, std::numeric_limits<T>::quiet_NaN());
  }
}
/// Do the remainder of a division of floats and y have different signs?
TT_ALWAYS_INLINE constexpr auto other_side(auto rest, auto y) { return (rest < 0 && y > 0) || (rest > 0 && y < 0); }
/// 0 in the dtype of x.
TT_ALWAYS_INLINE constexpr auto zero_of(auto x) { return where(x > 0 && x < 0, x, 0); }

}  // namespace detail

struct FloorDivide {
  static constexpr OpInfo info{.name = "floor_divide", .domain = Domain::number, .arity = 2, .max_ulp = 2, .of_bool = OfBool::integers};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) {
    if constexpr (std::is_integral_v<T>) {
      return where(y == 0, 0, detail::divide_integers<T>(x, y).quotient);
    } else {
      const auto rest = detail::fmod<T>(x, y), quotient = x / y, whole = (x - rest) / y;
      const auto lowered = where(detail::other_side(rest, y), whole - 1, whole), floored = floor(lowered);
      const auto nearest = where(lowered - floored > T(0.5), floored + 1, floored);
      return where(y == 0, quotient, where(lowered == 0, detail::copy_sign<T>(lowered, quotient), nearest));
    }
  }
  static constexpr auto derivative(auto x, auto y, auto, auto) { return Gradients{detail::zero_of(x), detail::zero_of(y)}; }
};
/// floor(a / b), elementwise. Of integers it is exact, and 0 where b is 0. The gradient is 0.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<FloorDivide, A, B> floor_divide(A&& a, B&& b, SourceLine at = here()) {
  return call<FloorDivide>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

/// trunc(x / y), with a gradient of 0 also where the gradient of the quotient is infinite.
struct TruncDivide {
  static constexpr OpInfo info{.name = "_trunc_divide", .arity = 2, .max_ulp = 1};
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) { return trunc(x / y); }
  static constexpr auto derivative(auto x, auto y, auto, auto) { return Gradients{detail::zero_of(x), detail::zero_of(y)}; }
};
struct Fmod {
  static constexpr OpInfo info{.name = "fmod", .domain = Domain::number, .arity = 2, .of_bool = OfBool::integers};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) {
    return detail::fmod<T>(x, y);
  }
  static constexpr auto derivative(auto x, auto y, auto, auto grad) { return Gradients{grad, -grad * call<TruncDivide>(SourceLine(), x, y)}; }
};
/// The remainder of division towards 0, with the sign of a, elementwise and exact. For integers 0 where b is 0.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Fmod, A, B> fmod(A&& a, B&& b, SourceLine at = here()) {
  return call<Fmod>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

struct Remainder {
  static constexpr OpInfo info{.name = "remainder", .domain = Domain::number, .arity = 2, .max_ulp = 0.5f, .of_bool = OfBool::integers};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) {
    if constexpr (std::is_integral_v<T>) {
      return where(y == 0, 0, detail::divide_integers<T>(x, y).rest);
    } else {
      const auto rest = detail::fmod<T>(x, y);
      return where(detail::other_side(rest, y), rest + y, rest);
    }
  }
  static constexpr auto derivative(auto x, auto y, auto, auto grad) { return Gradients{grad, -grad * floor_divide(x, y)}; }
};
/// a - b floor_divide(a, b), with the sign of b, elementwise: NumPy's remainder and mod, but not std::remainder, which rounds the quotient to the nearest. For
/// integers 0 where b is 0.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Remainder, A, B> remainder(A&& a, B&& b, SourceLine at = here()) {
  return call<Remainder>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

}  // namespace tt
