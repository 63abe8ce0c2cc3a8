// sin, cos, tan, right up to the largest finite argument and without branches. x = n pi/2 + r in the manner of Payne
// and Hanek (1983): only those digits of 2 / pi are multiplied with x that decide n mod 4 and r. Both run in double,
// also for f32:
//   f32  three chunks of 2 / pi, one set of four by the size of x; products are exact. sin and cos take half turns, n pi + r, and one polynomial for both
//   f64  eight digits of base 2^25, shifted into position by six rounds of `where`; r has two parts
// It costs about 65 operations in f32 and 290 in f64; 20 (tan 40) and 60 where all arguments are below 2^20: there n
// times parts of pi/2 is exact (Cody and Waite, 1980).
#pragma once
#include <utility>

#include "tt/ops/math_exp.hpp"

namespace tt {

namespace detail {

template <class R>
struct Pair {
  R first, second;
  template <class M>
  friend TT_ALWAYS_INLINE constexpr Pair where(M m, const Pair& a, const Pair& b) {
    return {where(m, a.first, b.first), where(m, a.second, b.second)};
  }
};
/// a + b without loss: the rounded sum and its rounding error (Knuth's two-sum).
template <class R>
TT_ALWAYS_INLINE constexpr Pair<R> exact_sum(R a, R b) {
  const R sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// n, and r in two parts, all double; only n mod 4 counts.
template <class R>
struct TrigReduced {
  R high, low, n;
  template <class M>
  friend TT_ALWAYS_INLINE constexpr TrigReduced where(M m, const TrigReduced& a, const TrigReduced& b) {
    return {where(m, a.high, b.high), where(m, a.low, b.low), where(m, a.n, b.n)};
  }
};

/// r and n (below 2^51) for x that is an f32 number. The chunks of 2^-s (2^s 2/pi mod 4) have 29 bits, x has 24; where
/// s > 0, x is a multiple of 2^s, and the parts that mod 4 leaves out make whole turns.
TT_ALWAYS_INLINE constexpr auto reduce_f32_by_half_pi(auto x) {
  const auto a = abs(x);
  const auto m0 = a < 0x1p51, m1 = a < 0x1p78, m2 = a < 0x1p105;
  const auto choose = [&](double c0, double c1, double c2, double c3)
      __attribute__((always_inline)) {
    const auto zero = a - a;
    return where(m0, c0, where(m1, c1, where(m2, c2, zero + c3)));
  };
  const auto p0 = x * choose(0x1.45f306cp-1, -0x1.1b1bbeap-28, -0x1.6b01ec6p-55, 0x1.5f47d4ep-82);
  const auto p1 = x * choose(0x1.c9c882ap-29, -0x1.ac07b16p-57, 0x1.7d1f534p-84, -0x1.911f924p-111);
  const auto p2 = x * choose(0x1.4fe13abe8fa9ap-59, 0x1.f47d4d377036ep-86, 0x1.bb81b6c52b328p-113,
                             -0x1.d6a66c3bc6fbep-140);
  const auto n0 = round(p0), n1 = round(p1);
  const auto f = exact_sum(p0 - n0, p1 - n1);
  const auto n2 = round(f.first);
  const auto r = ((f.first - n2) + (p2 + f.second)) * 0x1.921fb54442d18p+0;
  return Pair{r, n0 + n1 + n2};
}

/// For 0 <= x < 2^20: n has 20 bits, the first part of pi/2 has 33; their product is exact, and so is its difference from x.
template <class R>
TT_ALWAYS_INLINE constexpr auto reduce_small_f32_by_half_pi(R x) {
  const R n = round(x * 0x1.45f306dc9c883p-1);
  return Pair<R>{(x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34, n};
}

/// 2 / pi in signed digits of base 2^25, digit i having the weight 2^(25 (2 - i)).
inline constexpr double two_over_pi[49] = {
    0,        0,         1,        -12193017, -4638448,  11096033,  7699743,   10918840,  3594405,
    13409826, -7323138,  10667864, -8720618,  -15877853, 14918693,  -4563967,  -7189573,  -16455479,
    1900062,  -2737822,  10919164, -12316240, -11342924, 9477428,   -14939731, 3129121,   -13004330,
    7538342,  15192690,  2292830,  -2125180,  -10223853, -2175,     13371384,  -13692533, 11801818,
    8238298,  -624322,   11574133, -1521683,  -5793797,  -15287660, -4536340,  -3415306,  15998184,
    -4435307, -13719872, -9701852, -1878206};

template <class R, int N>
struct Words {
  R word[N];
};
template <int Step, class R, int N, std::size_t... I>
TT_ALWAYS_INLINE constexpr auto shift_words(auto shift, const Words<R, N>& w,
                                            std::index_sequence<I...>) {
  return Words<R, static_cast<int>(sizeof...(I))>{{where(shift, w.word[I + Step], w.word[I])...}};
}
template <std::size_t I>
inline constexpr double digit_of_two_over_pi = I < 49 ? two_over_pi[I < 49 ? I : 0] : 0;

/// Digits 0 to 38, or 32 to 70 where `far` is 1. Only values of the constants are used: device code
/// cannot refer to a host variable.
template <std::size_t... I>
TT_ALWAYS_INLINE constexpr auto first_words(auto far, std::index_sequence<I...>) {
  return Words<decltype(far), static_cast<int>(sizeof...(I))>{{fma(
      far, digit_of_two_over_pi<I + 32> - digit_of_two_over_pi<I>, +digit_of_two_over_pi<I>)...}};
}
/// Eight digits from digit `first` on (0 to 41).
template <class R>
TT_ALWAYS_INLINE constexpr auto digits_of_two_over_pi(R first) {
  const R far = floor(first * 0x1p-5), i4 = first - 32 * far;
  const auto s4 = i4 >= 16;
  const R i3 = where(s4, i4 - 16, i4);
  const auto s3 = i3 >= 8;
  const R i2 = where(s3, i3 - 8, i3);
  const auto s2 = i2 >= 4;
  const R i1 = where(s2, i2 - 4, i2);
  const auto s1 = i1 >= 2;
  const R i0 = where(s1, i1 - 2, i1);
  const auto w5 = first_words(far, std::make_index_sequence<39>());
  const auto w4 = shift_words<16>(s4, w5, std::make_index_sequence<23>());
  const auto w3 = shift_words<8>(s3, w4, std::make_index_sequence<15>());
  const auto w2 = shift_words<4>(s2, w3, std::make_index_sequence<11>());
  const auto w1 = shift_words<2>(s1, w2, std::make_index_sequence<9>());
  return shift_words<1>(i0 >= 1, w1, std::make_index_sequence<8>());
}

/// For a >= 0. With a = d 2^e and d = d0 + d1 2^-25 (28 and 25 bits), the products with one digit add up exactly;
/// products that are multiples of 4 are left out.
template <class R>
TT_ALWAYS_INLINE constexpr auto reduce_f64_by_half_pi(R a) {
  const auto bits = bitcast<std::int64_t>(a);
  const R e = bitcast<double>((bits >> 52) + (0x4338000000000000 - 1023)) - 0x1.8p52;
  const auto mantissa = (bits & 0xfffffffffffff) | 0x3ff0000000000000;
  const R d0 = bitcast<double>(mantissa & 0x7ffffffffe000000);
  const R d1 = (bitcast<double>(mantissa) - d0) * 0x1p25;
  const R k = floor((e - 3.5) * 0.04);  // floor((e - 4) / 25)
  const auto w = digits_of_two_over_pi(where(k < -1, k - k, k + 1));
  const R g = e - 25 * k;
  const R scale = bitcast<double>(bitcast<std::int64_t>(g + (0x1.8p52 + 1023)) << 52);
  const R q1 = fma(d0, w.word[1], d1 * w.word[0]) * scale;
  const R q2 = fma(d0, w.word[2], d1 * w.word[1]) * (scale * 0x1p-25);
  const R q3 = fma(d0, w.word[3], d1 * w.word[2]) * (scale * 0x1p-50);
  const R q4 = fma(d0, w.word[4], d1 * w.word[3]) * (scale * 0x1p-75);
  const R q5 = fma(d0, w.word[5], d1 * w.word[4]) * (scale * 0x1p-100);
  const R q6 = fma(d0, w.word[6], d1 * w.word[5]) * (scale * 0x1p-125);
  const R q7 = fma(d0, w.word[7], d1 * w.word[6]) * (scale * 0x1p-150);
  const R n1 = round(q1), n2 = round(q2), n3 = round(q3);
  const R f = (q1 - n1) + (q2 - n2);  // exact: multiples of 2^-48
  const R n4 = round(f);
  // From here on the parts may cancel down to 2^-62: sums without loss, the small ones first.
  const auto s3 = exact_sum<R>(f - n4, q3 - n3);
  const R n5 = round(s3.first);
  const auto s4 = exact_sum<R>(s3.first - n5, q4);
  const auto small = exact_sum<R>(q5, q6);
  const auto rest = exact_sum<R>(s3.second, s4.second);
  const auto low = exact_sum<R>(small.first, rest.first);
  const auto sum = exact_sum<R>(s4.first, low.first);
  const R tail = sum.second + (low.second + (rest.second + (small.second + q7)));
  // Times pi/2 in two parts; the upper halves of both factors have an exact product.
  const R upper = bitcast<double>(bitcast<std::int64_t>(sum.first) & -0x8000000);
  const R product = upper * 0x1.921fb54p+0;
  const R correction = fma(sum.first - upper, 0x1.921fb54p+0,
                           fma(sum.first, 0x1.10b4611a62633p-30, tail * 0x1.921fb54442d18p+0));
  const R high = product + correction;
  const R turns = (n1 - 4 * floor(n1 * 0.25)) + n2 + n3 + n4 + n5;
  const auto near = a < 0.5;
  return TrigReduced<R>{where(near, a, high), where(near, 0, correction - (high - product)),
                        where(near, 0, turns)};
}

/// For 0 <= a < 2^20. Products of n, of 20 bits, with the first three parts of pi/2, of 33 bits each, are exact, as is
/// a - n times the first.
template <class R>
TT_ALWAYS_INLINE constexpr auto reduce_small_f64_by_half_pi(R a) {
  const R n = round(a * 0x1.45f306dc9c883p-1);
  const auto s2 = exact_sum<R>(a - n * 0x1.921fb544p+0, n * -0x1.0b4611a6p-34);
  const auto s3 = exact_sum<R>(s2.first, n * -0x1.3198a2ep-69);
  const auto sum = exact_sum<R>(s3.first, (s2.second + s3.second) - n * 0x1.b839a252049c1p-104);
  return TrigReduced<R>{sum.first, sum.second, n};
}

/// sin and cos of r and the quadrant n (an integer), for |x| = n pi/2 + r.
template <class R, class I>
struct SinCos {
  R sine, cosine;
  I n;
};
template <class T>
TT_ALWAYS_INLINE constexpr auto sin_cos(auto x) {
  if constexpr (sizeof(T) == 4) {
    const auto a = cast<double>(abs(x));
    const auto reduced = where_often(
        a < 0x1p20, [=]() TT_LAMBDA_INLINE { return reduce_small_f32_by_half_pi(a); }, [=]() TT_LAMBDA_INLINE { return reduce_f32_by_half_pi(a); });
    const auto r = reduced.first, z = r * r;
    const auto sine = horner(z, 0x1.6db8ee658a87bp-19, -0x1.a01397f75adbbp-13, 0x1.11110de3c673cp-7,
                             -0x1.555555545976bp-3);
    const auto cosine = horner(z, 0x1.9a683c98ccfc8p-16, -0x1.6c0df351bc66ap-10,
                               0x1.55554c9c6acebp-5, -0x1.fffffffa99383p-2);
    return SinCos{fma(sine * z, r, r), fma(cosine, z, 1),
                  bitcast<std::int64_t>(reduced.second + 0x1.8p52)};
  } else {
    const auto a = abs(x);
    const auto reduced = where_often(
        a < 0x1p20, [=]() TT_LAMBDA_INLINE { return reduce_small_f64_by_half_pi(a); },
        [=]() TT_LAMBDA_INLINE { return reduce_f64_by_half_pi(a); });
    const auto r = reduced.high, z = r * r, half = 0.5 * z;
    const auto s = horner(z, 0x1.5e0ddfe0fe0fp-33, -0x1.ae6016f95fdffp-26, 0x1.71de37a8762a1p-19,
                          -0x1.a01a019e9a701p-13, 0x1.1111111110c6bp-7, -0x1.5555555555555p-3);
    const auto c = horner(z, -0x1.9070812d2c17cp-37, 0x1.1eeb53c6eb1bdp-29, -0x1.27e4f9ff3296dp-22,
                          0x1.a01a019f359cep-16, -0x1.6c16c16c168c1p-10, 0x1.5555555555555p-5);
    const auto sine = r + fma(r * z, s, fma(-half, reduced.low, reduced.low));
    const auto one = 1 - half;  // cos: its rounding error is added at the end
    const auto cosine = one + (((1 - one) - half) + fma(z * z, c, -(r * reduced.low)));
    const auto not_a_number = a - a;  // NaN at inf
    return SinCos{sine + not_a_number, cosine + not_a_number,
                  bitcast<std::int64_t>(reduced.n + 0x1.8p52)};
  }
}
/// sin(pi/2 n + r) by the quadrant n.
TT_ALWAYS_INLINE constexpr auto by_quadrant(auto sine, auto cosine, auto n) {
  const auto y = where((n & 1) == 0, sine, cosine);
  return bitcast<double>(bitcast<std::int64_t>(y) ^ ((n & 2) << 62));
}
/// n and r of n pi + r; only the lowest bit of n counts.
template <class R, class I>
struct HalfTurns {
  R rest;
  I n;
  template <class M>
  friend TT_ALWAYS_INLINE constexpr HalfTurns where(M m, const HalfTurns& a, const HalfTurns& b) { return {where(m, a.rest, b.rest), where(m, a.n, b.n)}; }
};
/// sin |x|, or cos |x| = sin (|x| + pi / 2), in double for x that holds an f32.
template <bool IsCosine>
TT_ALWAYS_INLINE constexpr auto sine_of_f32(auto x) {
  const auto a = cast<double>(abs(x));
  constexpr double shift = IsCosine ? 0x1.8p52 + 1 : 0x1.8p52;  // moves the integer into the low bits
  // n has 20 bits, of which a cosine needs one for its half; the first part of pi has 33.
  const auto small = [=]() TT_LAMBDA_INLINE {
    const auto shifted = IsCosine ? fma(a, 0x1.45f306dc9c883p-2, -0.5) + shift : fma(a, 0x1.45f306dc9c883p-2, shift);
    const auto n = shifted - shift, apart = IsCosine ? n + 0.5 : n;
    return HalfTurns{(a - apart * 0x1.921fb544p+1) - apart * 0x1.0b4611a626331p-33, bitcast<std::int64_t>(shifted)};
  };
  const auto any = [=]() TT_LAMBDA_INLINE {  // quarter turns; if their number is odd, one goes to r, with the sign that keeps r within pi / 2
    const auto quarters = reduce_f32_by_half_pi(a);
    const auto n = bitcast<std::int64_t>(quarters.second + shift);
    const auto r = quarters.first;
    const auto bits = bitcast<std::int64_t>(r);
    const auto quarter = bitcast<double>((bits & std::numeric_limits<std::int64_t>::min()) | 0x3ff921fb54442d18LL);
    return HalfTurns{where((n & 1) == 0, r, r - quarter), shift_right_logical(n + 1 - shift_right_logical(bits, 63), 1)};
  };
  const auto turned = where_often(a < 0x1p20, small, any);
  const auto r = turned.rest, z = r * r;
  // By Remez, on +-pi / 2; error 2^-35 of the sine.
  const auto y = fma(horner(z, -0x1.9a688804e5bd7p-26, 0x1.717080282f9cbp-19, -0x1.a017d9a067534p-13, 0x1.11110c4a017e7p-7, -0x1.5555554769691p-3) * z, r, r);
  return bitcast<double>(bitcast<std::int64_t>(y) ^ (turned.n << 63));
}
template <class T>
TT_ALWAYS_INLINE constexpr auto to_dtype(auto x) {
  if constexpr (sizeof(T) == 4) return cast<float>(x);
  else return x;
}

}  // namespace detail

/// Sine. NaN at +-inf.
struct Sin {
  static constexpr OpInfo info{.name = "sin", .max_ulp = 0.75f, .max_ulp_f64 = 1, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return detail::flip_sign<T>(cast<float>(detail::sine_of_f32<false>(x)), x);
    } else {
      const auto s = detail::sin_cos<T>(x);
      return detail::flip_sign<T>(detail::by_quadrant(s.sine, s.cosine, s.n), x);
    }
  }
  static constexpr auto derivative(auto x, auto, auto grad);
};
/// Cosine. NaN at +-inf.
struct Cos {
  static constexpr OpInfo info{.name = "cos", .max_ulp = 0.75f, .max_ulp_f64 = 1, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    if constexpr (sizeof(T) == 4) {
      return cast<float>(detail::sine_of_f32<true>(x));
    } else {
      const auto s = detail::sin_cos<T>(x);
      return detail::by_quadrant(s.sine, s.cosine, s.n + 1);
    }
  }
  static constexpr auto derivative(auto x, auto, auto grad);
};
/// Tangent. NaN at +-inf.
struct Tan {
  static constexpr OpInfo info{
      .name = "tan", .max_ulp = 0.75f, .max_ulp_f64 = 2.5f, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto x) {
    const auto s = detail::sin_cos<T>(x);
    const auto even = (s.n & 1) == 0;
    const auto y = where(even, s.sine, -s.cosine) / where(even, s.cosine, s.sine);
    return detail::flip_sign<T>(detail::to_dtype<T>(y), x);
  }
  static constexpr auto derivative(auto, auto y, auto grad) { return grad * (1 + y * y); }
};
/// Sine of radians, elementwise, right for every finite argument. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Sin, A> sin(A&& a, SourceLine at = here()) {
  return call<Sin>(at, static_cast<A&&>(a));
}
/// Cosine of radians, elementwise, right for every finite argument. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Cos, A> cos(A&& a, SourceLine at = here()) {
  return call<Cos>(at, static_cast<A&&>(a));
}
/// Tangent of radians, elementwise, right for every finite argument. Integers are taken as f32.
template <Value A>
TT_ALWAYS_INLINE constexpr Called<Tan, A> tan(A&& a, SourceLine at = here()) {
  return call<Tan>(at, static_cast<A&&>(a));
}

// Not by cos(x) and sin(x): their deduced types would depend on each other.
constexpr auto Sin::derivative(auto x, auto, auto grad) {
  return grad * decltype(x)::tt_front::template call<Cos>(here(), x);
}
constexpr auto Cos::derivative(auto x, auto, auto grad) {
  return -(grad * decltype(x)::tt_front::template call<Sin>(here(), x));
}

}  // namespace tt
