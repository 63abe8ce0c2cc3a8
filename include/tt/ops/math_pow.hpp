// pow(x, y) = 2^(y log2 |x|), with log2 to more digits than the result has: f32 is computed in double, f64 keeps log2
// and the product in two parts, by the method of fdlibm. Products that must be exact have factors of 26 bits, so that
// they are exact without hardware fma too.
#pragma once
#include "tt/ops/math_log.hpp"

namespace tt {

namespace detail {

/// The upper 26 bits of the mantissa.
TT_ALWAYS_INLINE constexpr auto upper_half(auto x) {
  return bitcast<double>(bitcast<std::int64_t>(x) & -0x8000000);
}

/// a^y in double, for a > 0 that is an f32 number; relative error below 2^-30.
TT_ALWAYS_INLINE constexpr auto pow_in_double(auto a, auto y) {
  const auto reduced = reduce_log_normal<double>(a);
  const auto z = reduced.f / (reduced.f + 2), w = z * z;
  const auto l = horner(w, 0x1.21bec745084cbp-2, 0x1.47946660039abp-2, 0x1.a61a346a4afb9p-2,
                        0x1.2776c28c69f86p-1, 0x1.ec709dc542235p-1, 0x1.71547652b824ep1);
  const auto product = y * fma(l, z, reduced.e);
  const auto v = where(product > 200, 200, where(product < -200, -200, product));
  const auto n = nearest_integer<double>(v);
  const auto r = v - n.value;
  const auto p = horner(r, 0x1.00dc4e57a1442p-16, 0x1.44400329158d6p-13, 0x1.5d874c79f776bp-10,
                        0x1.3b2a1b6d1ac41p-7, 0x1.c6b08dc5e38c4p-5, 0x1.ebfbe045f90bap-3,
                        0x1.62e42fef95ec2p-1);
  return fma(p, r, 1) * power_of_two<double>(n.integer);
}

template <class R>
struct Log2Parts {
  R high, low;
};
/// log2(a) for a > 0 in two parts, the high one of 26 bits; relative error below 2^-64.
template <class R>
TT_ALWAYS_INLINE constexpr auto log2_in_parts(R a) {
  const auto reduced = reduce_log<double>(a);
  // s = f / (2 + f), log(1 + f) = 2/3 s (3 + s^2 + s^4 R(s^2)).
  const R f = reduced.f, e = reduced.e;
  const R g = 2 + f, g_high = upper_half(g), g_low = (g - g_high) + (f - (g - 2));
  const R s = f / g, s_high = upper_half(s);
  const R s_low = ((f - s_high * g_high) - s_high * g_low) / g;
  const R z = s * s, z_high = s_high * s_high;
  const R tail = horner(z, 0x1.6a7027745d2cap-3, 0x1.675c9c69dc655p-3, 0x1.99a8095b519d7p-3,
                        0x1.d89d5042f8477p-3, 0x1.1745d1b548371p-2, 0x1.5555555507f26p-2,
                        0x1.b6db6db6db97p-2, 0x1.3333333333333p-1);
  const R rest = fma(z * z, tail, s_low * (s_high + s));
  const R t_high = upper_half(3 + (z_high + rest)), t_low = rest - ((t_high - 3) - z_high);
  const R u = s_high * t_high, v = fma(s_low, t_high, t_low * s);
  const R p_high = upper_half(u + v), p_low = v - (p_high - u);
  // Times 2 / (3 ln2).
  const R l_high = 0x1.ec709ep-1 * p_high;
  const R l_low = fma(p_high, -0x1.e2fe0145b01f5p-28, p_low * 0x1.ec709dc3a03fdp-1);
  const R high = upper_half((l_high + l_low) + e);
  return Log2Parts<R>{high, l_low - ((high - e) - l_high)};
}

/// a^y for a > 0.
template <class R>
TT_ALWAYS_INLINE constexpr auto pow_in_parts(R a, R y) {
  const auto l = log2_in_parts<R>(a);
  const R y_high = upper_half(y);
  const R low = fma(y - y_high, l.high, y * l.low), high = y_high * l.high;
  const R sum = high + low;
  const auto above = sum > 1100, below = sum < -1100;
  const auto n = nearest_integer<double>(where(above, 1100, where(below, -1100, sum)));
  const R r = where(above || below, 0, (high - n.value) + low);
  return scale_exp<double>(exp2_m1<double>(r), n.integer);
}

/// x or x^3, for y = 1 or 3: correctly rounded in f32, to 1.3 ulp in f64.
template <class T>
TT_ALWAYS_INLINE constexpr auto odd_power(auto x, auto y) {
  const auto wide = cast<double>(x);
  return where(y == 1, x, cast<T>(wide * wide * wide));
}

/// |x|^y, but for the cases of C99 F.9.4.4.
template <class T>
TT_ALWAYS_INLINE constexpr auto pow_edges(auto x, auto y, auto power) {
  const auto a = abs(x), half = T(0.5) * y;
  const auto is_inf = a == infinity<T>, is_zero = a == 0;
  const auto whole = trunc(y) == y, odd = whole && trunc(half) != half;
  const auto grows = (is_inf && y > 0) || (is_zero && y < 0);
  const auto size = where(grows, infinity<T>, where(is_inf || is_zero, 0, power));
  const auto signed_size = where(odd, flip_sign<T>(size, x), size);
  const auto real = where(x < 0 && !is_inf && !whole, std::numeric_limits<T>::quiet_NaN(), signed_size);
  const auto number = where(x != x || y != y, x + y, real);
  return where(x == 1 || y == 0, 1, number);
}

}  // namespace detail

/// a^b of integers by squaring; products wrap around. b below 0 gives 0, except 1 for a = 1, and 1 or -1 for a = -1.
struct IntegerPow {
  static constexpr OpInfo info{.name = "integer_pow", .domain = Domain::integer, .arity = 2, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto a, auto b) {
    // Uses the low `bits` bits of b. The squares go through a selection: gcc 12 expands products of products, to 2^62
    // terms, when it analyses how they develop in a loop.
    const auto powers = [=](int bits) TT_LAMBDA_INLINE {
      auto square = a, power = where((b & 1) == 1, a, 1);
      for (int k = 1; k < bits; ++k) {
        const auto rest = b >> k;
        square = where(rest == 0, 0, square * square);
        power = where((rest & 1) == 1, power * square, power);
      }
      return power;
    };
    const auto any = [=]() TT_LAMBDA_INLINE {
      const auto of_one = where(a == 1, a, where(a == -1, where((b & 1) == 1, a, 1), 0));
      return where(b < 0, of_one, powers(63));
    };
    return detail::where_often(b >= 0 && b < 16, [=]() TT_LAMBDA_INLINE { return powers(4); }, any);
  }
};

/// x^y with the special cases of C99: negative x with whole y, zeros, infinities, NaN. x^2 is x * x, x^-1 is 1 / x, x^0.5 the square root.
struct Pow {
  using of_integers = IntegerPow;
  static constexpr OpInfo info{
      .name = "pow", .arity = 2, .max_ulp = 0.75f, .max_ulp_f64 = 1.5f, .opaque = true, .schema = "Tensor input, Tensor exponent"};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) {
    const auto any = [=]() TT_LAMBDA_INLINE {
      constexpr T bound = sizeof(T) == 4 ? T(0x1p40) : T(0x1p70);  // beyond it, as at inf
      const auto b = where(y > bound, bound, where(y < -bound, -bound, y));
      if constexpr (sizeof(T) == 4) {
        const auto power = detail::pow_in_double(cast<double>(abs(x)), cast<double>(b));
        return detail::pow_edges<T>(x, y, cast<float>(power));
      } else {
        return detail::pow_edges<T>(x, y, detail::pow_in_parts(abs(x), b));
      }
    };
    const auto odd = [=]() TT_LAMBDA_INLINE { return detail::odd_power<T>(x, y); };
    const auto root = [=]() TT_LAMBDA_INLINE { return where(x == 0, 0, where(x == -infinity<T>, infinity<T>, sqrt(x))); };
    const auto rarer = [=]() TT_LAMBDA_INLINE {
      return detail::where_often(y == T(0.5), root, [=]() TT_LAMBDA_INLINE { return detail::where_often(y == -1, [=]() TT_LAMBDA_INLINE { return 1 / x; }, any); });
    };
    return detail::where_often(
        y == 2, [=]() TT_LAMBDA_INLINE { return x * x; }, [=]() TT_LAMBDA_INLINE { return detail::where_often(y == 1 || y == 3, odd, rarer); });
  }
  /// PyTorch's rule: no NaN from 0 * inf where y is 0, or where x is 0 and y >= 0.
  static constexpr auto derivative(auto a, auto b, auto y, auto grad);
};
/// a^b, elementwise. The power of integers is an integer, which wraps around; a negative exponent is an error as a
/// scalar, and gives 0 as an element.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Pow, A, B> pow(A&& a, B&& b, SourceLine at = here()) {
  return call<Pow>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

constexpr auto Pow::derivative(auto a, auto b, auto y, auto grad) {
  return Gradients{grad * where(b == 0, 0, b * pow(a, where(b == 0, 1, b - 1))),
                   grad * where(a == 0 && b >= 0, 0, y * log(a))};
}

}  // namespace tt
