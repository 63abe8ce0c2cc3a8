// asin, acos, atan, atan2: polynomials in the square of a reduced argument, without branches.
//   atan  |x| above tan(3 pi/8): pi/2 + atan(-1 / |x|); above tan(pi/8): pi/4 + atan((|x| - 1) / (|x| + 1))
//   asin  |x| above 1/2: pi/2 - 2 asin(sqrt((1 - |x|) / 2))
// Multiples of pi are added in two parts. Coefficients are minimax ones (Remez).
#pragma once
#include "tt/ops/math_exp.hpp"

namespace tt {

namespace detail {

template <class T>
inline constexpr T pi_high = sizeof(T) == 4 ? T(0x1.921fb6p+1) : T(0x1.921fb54442d18p+1);
template <class T>
inline constexpr T pi_low = sizeof(T) == 4 ? T(-0x1.777a5cp-24) : T(0x1.1a62633145c07p-53);

/// `sum` + `part` times pi; `part` is 1, 1/2 or 1/4.
template <class T>
TT_ALWAYS_INLINE constexpr auto plus_pi(auto sum, T part) {
  return (sum + part * pi_low<T>) + part * pi_high<T>;
}
/// t + t z p + `part` times pi, where t may be as large as that: the rounding error of their sum (exact, Dekker 1971) is added with the small parts.
template <class T>
TT_ALWAYS_INLINE constexpr auto series_plus_pi(auto t, auto z, auto p, T part) {
  const auto sum = part * pi_high<T> + t, lost = (part * pi_high<T> - sum) + t;
  return sum + (lost + fma(t * z, p, part * pi_low<T>));
}
/// p of atan(t) = t + t z p for |t| <= tan(pi/8) and z = t^2.
template <class T>
TT_ALWAYS_INLINE constexpr auto atan_series(auto z) {
  if constexpr (sizeof(T) == 4)
    return horner(z, -0x1.0871aep-4f, 0x1.b81f96p-4f, -0x1.24210cp-3f, 0x1.999738p-3f, -0x1.555554p-2f);
  else
    return horner(z, -0x1.3a74ab6350b23p-6, 0x1.417faf93d130ep-5, -0x1.a0a43d712a891p-5, 0x1.dfe87319a831p-5, -0x1.10fa99bdf8683p-4,
                  0x1.3b12659e419afp-4, -0x1.745d0b47773f2p-4, 0x1.c71c71860fe3ap-4, -0x1.24924924378d2p-3, 0x1.999999999936ap-3,
                  -0x1.5555555555555p-2);
}
/// p of asin(s) = s + s z p for |s| <= 1/2 and z = s^2.
template <class T>
TT_ALWAYS_INLINE constexpr auto asin_series(auto z) {
  if constexpr (sizeof(T) == 4)
    return horner(z, 0x1.14f7fcp-5f, 0x1.17c68p-6f, 0x1.fdcf84p-6f, 0x1.6d58d8p-5f, 0x1.33343cp-4f, 0x1.555554p-3f);
  else
    return horner(z, 0x1.d98ddcae63b17p-6, -0x1.edc23c3309b7bp-7, 0x1.1f66bd81d7ca7p-6, 0x1.623885b15701ap-8, 0x1.52aa4e00dfc82p-7,
                  0x1.78160898b3c06p-7, 0x1.c9d0b98de1995p-7, 0x1.1c4d26f124ebbp-6, 0x1.6e8bb26d43cd1p-6, 0x1.f1c71c19775d4p-6,
                  0x1.6db6db6e39132p-5, 0x1.3333333332e7fp-4, 0x1.5555555555556p-3);
}

}  // namespace detail

struct Asin {
  static constexpr OpInfo info{.name = "asin", .max_ulp = 1.25f, .max_ulp_f64 = 1.25f};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), half = T(0.5) * (1 - a);
    const auto near = a <= T(0.5);
    const auto s = where(near, a, T(-2) * sqrt(half)), z = where(near, a * a, half), p = detail::asin_series<T>(z);
    return detail::copy_sign<T>(where(near, fma(s * z, p, s), detail::series_plus_pi<T>(s, z, p, T(0.5))), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / sqrt((1 - x) * (1 + x)); }
};
/// Inverse sine, elementwise; NaN outside of [-1, 1].
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Asin, A> asin(A&& a, SourceLine at = here()) {
  return call<Asin>(at, static_cast<A&&>(a));
}

struct Acos {
  static constexpr OpInfo info{.name = "acos", .max_ulp = 2, .max_ulp_f64 = 2};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x), half = T(0.5) * (1 - a);
    const auto near = a <= T(0.5);
    const auto s = where(near, x, sqrt(half)), z = where(near, x * x, half);
    const auto y = fma(s * z, detail::asin_series<T>(z), s), twice = y + y;
    return where(near, detail::plus_pi<T>(-y, T(0.5)), where(x < 0, detail::plus_pi<T>(-twice, T(1)), twice));
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return -(grad / sqrt((1 - x) * (1 + x))); }
};
/// Inverse cosine, elementwise; NaN outside of [-1, 1].
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Acos, A> acos(A&& a, SourceLine at = here()) {
  return call<Acos>(at, static_cast<A&&>(a));
}

struct Atan {
  static constexpr OpInfo info{.name = "atan", .max_ulp = 2, .max_ulp_f64 = 2};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto a = abs(x);
    const auto far = a > T(2.414213562373095), middle = a > T(0.4142135623730950);
    const auto t = where(far, -1, where(middle, a - 1, a)) / where(far, a, where(middle, a + 1, 1)), z = t * t;
    const auto p = detail::atan_series<T>(z), y = fma(t * z, p, t);
    return detail::copy_sign<T>(where(far, detail::plus_pi<T>(y, T(0.5)), where(middle, detail::series_plus_pi<T>(t, z, p, T(0.25)), y)), x);
  }
  static constexpr auto derivative(auto x, auto, auto grad) { return grad / (x * x + 1); }
};
/// Inverse tangent, elementwise.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Atan, A> atan(A&& a, SourceLine at = here()) {
  return call<Atan>(at, static_cast<A&&>(a));
}

/// Divides the smaller operand by the larger one, so that nothing overflows; zeros and infinities as in C99 F.9.1.4.
struct Atan2 {
  static constexpr OpInfo info{.name = "atan2", .arity = 2, .max_ulp = 2.5f, .max_ulp_f64 = 2.5f};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto y, auto x) {
    using I = typename detail::same_size_integer<T>::type;
    const auto a = abs(y), b = abs(x);
    const auto steep = a > b;
    const auto larger = where(steep, a, b), smaller = where(steep, b, a);
    const auto large = larger > std::numeric_limits<T>::max() / 4;
    const auto most = where(large, T(0.25) * larger, larger), least = where(large, T(0.25) * smaller, smaller);
    const auto middle = least > T(0.4142135623730950) * most || least == infinity<T>;
    const auto ratio = where(middle, least - most, least) / where(middle, least + most, most);
    const auto t = where(least == most, 0, ratio), z = t * t, p = detail::atan_series<T>(z);
    const auto angle = where(middle, detail::series_plus_pi<T>(t, z, p, T(0.25)), fma(t * z, p, t));
    const auto upright = where(steep, detail::plus_pi<T>(-angle, T(0.5)), angle);
    const auto turned = where(bitcast<I>(x) < 0, detail::plus_pi<T>(-upright, T(1)), upright);
    return where(x != x || y != y, x + y, detail::copy_sign<T>(turned, y));
  }
  static constexpr auto derivative(auto y, auto x, auto, auto grad) {
    const auto square = y * y + x * x, none = square == 0, over = where(none, 0, grad) / where(none, 1, square);
    return Gradients{over * x, -(over * y)};
  }
};
/// The angle of the point (x, y) = (other, input), elementwise, in [-pi, pi].
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Atan2, A, B> atan2(A&& y, B&& x, SourceLine at = here()) {
  return call<Atan2>(at, static_cast<A&&>(y), static_cast<B&&>(x));
}

}  // namespace tt
