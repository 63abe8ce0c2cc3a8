// Elementwise ops whose results have another dtype than their operands, or that have options: ops over graphs of a few primitives.
//   tt::isnan(x)   tt::isclose(a, b, {.rtol = 1e-3})   tt::nan_to_num(x)   tt::masked_fill(x, mask, 0)
#pragma once
#include "tt/functional/checks.hpp"

namespace tt {
namespace detail {

constexpr Sym constant_like(const Sym& x, double v) { return {x.graph, x.graph->constant(x.dtype(), v)}; }
/// The largest finite number of a floating dtype.
constexpr double largest(DType d) {
  switch (d) {
    case DType::f64: return 0x1.fffffffffffffp1023;
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.fep127;
    default: return 0x1.fffffep127;
  }
}
/// Is an element +inf (`above`) or -inf (`below`)?
constexpr Sym is_infinite(const Sym& x, bool above, bool below) {
  if (!is_floating(x.dtype())) return all_of(x, false);
  const double inf = __builtin_inf();
  if (above && below) return tt::abs(x) == inf;
  return above ? x == inf : x == -inf;
}

}  // namespace detail

struct Isnan {
  static constexpr OpInfo info{.name = "isnan", .widens = false, .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x) { return is_floating(x.dtype()) ? x != x : detail::all_of(x, false); }
};
struct Isinf {
  static constexpr OpInfo info{.name = "isinf", .widens = false, .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x) { return detail::is_infinite(x, true, true); }
};
struct Isposinf {
  static constexpr OpInfo info{.name = "isposinf", .widens = false, .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x) { return detail::is_infinite(x, true, false); }
};
struct Isneginf {
  static constexpr OpInfo info{.name = "isneginf", .widens = false, .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x) { return detail::is_infinite(x, false, true); }
};
struct Isfinite {
  static constexpr OpInfo info{.name = "isfinite", .widens = false, .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x) { return is_floating(x.dtype()) ? tt::abs(x) < __builtin_inf() : detail::all_of(x, true); }
};
struct Signbit {
  static constexpr OpInfo info{.name = "signbit", .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x) {
    if (!is_floating(x.dtype())) return x.dtype() == DType::boolean ? detail::all_of(x, false) : x < 0;
    return x.dtype() == DType::f64 ? bitcast<std::int64_t>(x) < 0 : bitcast<std::int32_t>(x) < 0;
  }
};
struct LogicalXor {
  static constexpr OpInfo info{.name = "logical_xor", .widens = false, .elementwise = true, .arguments = "input, other"};
  static constexpr Sym body(const Sym& a, const Sym& b) { return (a != 0) != (b != 0); }
};
struct BitwiseNot {
  static constexpr OpInfo info{.name = "bitwise_not", .widens = false, .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x) { return x.dtype() == DType::boolean ? !x : x ^ -1; }
};
struct IscloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};
struct Isclose {
  using Options = IscloseOptions;
  static constexpr OpInfo info{.name = "isclose", .elementwise = true, .arguments = "input, other"};
  static constexpr Sym body(const Sym& x, const Sym& y, const Options& o) {
    detail::need_option(x, o.rtol >= 0, info.name, "rtol", o.rtol, "at least 0");
    detail::need_option(x, o.atol >= 0, info.name, "atol", o.atol, "at least 0");
    detail::need_same_dtype(x, y, info.name);
    const auto real = [](const Sym& v) { return is_floating(v.dtype()) ? v : Sym{v.graph, v.graph->cast(v.id, DType::f64)}; };
    const Sym a = real(x), b = real(y), apart = tt::abs(a - b), allowed = tt::abs(b) * o.rtol + o.atol;
    const Sym close = a == b || (apart < __builtin_inf() && apart <= allowed);
    return o.equal_nan ? close || (a != a && b != b) : close;
  }
};
struct NanToNumOptions {
  double nan = 0;
  Optional<double> posinf, neginf;
};
struct NanToNum {
  using Options = NanToNumOptions;
  static constexpr OpInfo info{.name = "nan_to_num", .widens = false, .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    if (!is_floating(x.dtype())) return x;
    const double most = detail::largest(x.dtype());
    const Sym up = detail::constant_like(x, o.posinf.given ? o.posinf.value : most), down = detail::constant_like(x, o.neginf.given ? o.neginf.value : -most);
    return call<ReplaceNonfinite>({}, x, detail::constant_like(x, o.nan), up, down);
  }
};
/// The sum of the elements that are not NaN.
struct Nansum {
  using Options = ReductionOptions;
  static constexpr OpInfo info{.name = "nansum", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    return detail::reduce<Op::sum>(is_floating(x.dtype()) ? call<ZeroOfNan>({}, x) : x, detail::axis_bits(x, o.dim, info.name), o.keepdim);
  }
};
/// The mean of the elements that are not NaN.
struct Nanmean {
  using Options = ReductionOptions;
  static constexpr OpInfo info{.name = "nanmean", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& given, const Options& o) {
    const Sym x = detail::need_real(given, info.name);
    const Sym there{x.graph, x.graph->cast((x == x).id, x.dtype())};
    return Nansum::body(x, o) / detail::reduce<Op::sum>(there, detail::axis_bits(x, o.dim, info.name), o.keepdim);
  }
};
struct MaskedFill {
  static constexpr OpInfo info{.name = "masked_fill", .widens = false, .arguments = "input, mask, value"};
  static constexpr bool numbers_are_elements = true;  ///< of a Tensor's dtype, whose range is checked
  static constexpr Sym body(const Sym& x, const Sym& mask, const Sym& value) {
    if (value.shape().rank > 0) x.graph->fail({.mistake = Mistake::rank_not_accepted, .op = info.name, .a = value.shape(), .number = 0});
    return tt::where(mask, Sym{x.graph, x.graph->cast(value.id, x.dtype())}, x);
  }
};
/// The elements in reverse order along axes.
struct Flip {
  struct Options {
    Axes dims;
  };
  static constexpr OpInfo info{.name = "_flip", .widens = false, .arguments = "input, .dims"};
  static constexpr const char* called = "flip";  ///< users' name: a function, whose result has the memory order of its argument
  static constexpr Sym body(const Sym& x, const Options& o) {
    const unsigned axes = o.dims.count ? detail::axis_bits(x, o.dims, called) : 0;
    int id = x.id;
    for (int k = 0; k < x.shape().rank; ++k)
      if (const Extent n = x.shape()[k]; (axes >> k & 1) && n != Extent(0)) id = x.graph->slice(id, k, n - Extent(1), n, -1);
    return {x.graph, id};
  }
};
/// The vector product along an axis of three.
struct Cross {
  struct Options {
    int dim = -1;
  };
  static constexpr OpInfo info{.name = "_cross", .widens = false, .arguments = "input, other"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Options& o) {
    const int axis = normalize_axis(o.dim, a.shape().rank);
    const auto part = [axis](const Sym& x, int k) { return Sym{x.graph, x.graph->slice(x.id, axis, k % 3, 1, 1)}; };
    int parts[3];
    for (int k = 0; k < 3; ++k) parts[k] = (part(a, k + 1) * part(b, k + 2) - part(a, k + 2) * part(b, k + 1)).id;
    return {a.graph, a.graph->cat(parts, 3, axis)};
  }
};
/// The last axis as the diagonal number `offset` of square matrices of zeros.
struct DiagEmbed {
  struct Options {
    int offset = 0;
  };
  static constexpr OpInfo info{.name = "_diag_embed", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    const Shape s = x.shape();
    const int last = s.rank - 1;
    const std::int64_t more = o.offset < 0 ? -std::int64_t{o.offset} : o.offset;
    Shape line, square;
    for (int k = 0; k < last; ++k) {
      line.push_back(s[k]);
      square.push_back(s[k]);
    }
    const Extent n = s[last] + Extent(more);
    for (int k = 0; k < 2; ++k) {
      line.push_back((k == 0) == (o.offset >= 0) ? s[last] : Extent(1));
      square.push_back(n);
    }
    Shape longer = line;
    const int axis = o.offset >= 0 ? last : last + 1;
    longer.set(axis, n);
    Sym placed{x.graph, x.graph->reshape(x.id, line)};
    if (more > 0) placed.id = x.graph->pad(placed.id, {{axis, axis}, {0, 0}}, longer);
    const Sym all{x.graph, x.graph->broadcast_to(placed.id, square)};
    const Sym on = detail::iota_like(all, 1u << (last + 1)) - detail::iota_like(all, 1u << last) == o.offset;
    return tt::where(on, all, detail::constant_like(x, 0));
  }
};
/// Rounded to `decimals` digits after the point (before it, if negative), halves to even.
struct RoundDecimals {
  struct Options {
    int decimals = 0;
  };
  static constexpr OpInfo info{.name = "_round_decimals", .elementwise = true, .arguments = "input"};
  static constexpr Sym body(const Sym& x, const Options& o) {
    if (!is_floating(x.dtype()) || o.decimals == 0) return is_floating(x.dtype()) ? tt::round(x) : x;
    double ten = 1;
    for (int k = 0; k < (o.decimals < 0 ? -o.decimals : o.decimals); ++k) ten *= 10;
    return o.decimals > 0 ? tt::round(x * ten) / ten : tt::round(x / ten) * ten;
  }
};

/// x as mantissa times 2^exponent, with a mantissa of at least 1/2 and below 1; 0, inf and NaN are their own mantissas.
struct Frexp {
  struct Results {
    Sym mantissa, exponent;
  };
  static constexpr OpInfo info{.name = "frexp", .elementwise = true, .arguments = "input"};
  static constexpr Results body(const Sym& given) {
    const Sym x = detail::need_real(given, info.name);
    return x.dtype() == DType::f64 ? parts<std::int64_t, double>(x, 52, 1023) : parts<std::int32_t, float>(x, 23, 127);
  }

 private:
  template <class I, class R>
  static constexpr Results parts(const Sym& x, int digits, int bias) {
    const Sym own = detail::detach(x), a = tt::abs(own);
    const double up = digits == 52 ? 0x1p64 : 0x1p32;
    const Sym small = a < (digits == 52 ? 0x1p-1022 : 0x1p-126), plain = a > 0 && a < __builtin_inf();
    const Sym bits = bitcast<I>(tt::where(small, a * up, a));
    const Sym e = tt::where(plain, (bits >> digits) - (bias - 1) - tt::where(small, digits == 52 ? 64 : 32, cast<I>(small) - cast<I>(small)), 0);
    const Sym half = e >> 1;  // in two steps, so that no factor overflows
    const auto power = [&](const Sym& n) { return bitcast<R>((n + bias) << digits); };
    return {x * power(-half) * power(half - e), cast<std::int32_t>(e)};
  }
};

namespace detail {
/// Two values, converted to their common dtype.
struct SameDtype {
  Sym a, b;
  constexpr SameDtype(const Sym& x, const Sym& y) : a(x), b(y) {
    const DType d = promote(x.dtype(), y.dtype());
    a.id = x.graph->cast(x.id, d);
    b.id = x.graph->cast(y.id, d);
  }
};
}  // namespace detail

namespace detail {
/// The next f16 from a towards b, both as f32. f16 has 13 bits fewer; below 2^-14 all its numbers are equally spaced.
constexpr auto next_half(auto a, auto b) {
  constexpr double least_normal = 0x1p-14, apart = 0x1p-24, most = 65504;
  const auto size = tt::abs(a);
  const auto inwards = (a > 0 && b < a) || (a < 0 && b > a);
  const auto small = tt::where(b > a, a + apart, a - apart), from_infinity = tt::where(a > 0, most, -most);
  const auto moved = tt::where(size < least_normal || (size == least_normal && inwards), small, tt::where(size > most && inwards, from_infinity, next_number<float>(a, b, 0x2000)));
  return tt::where(a != a, a, tt::where(b != b || a == b, b, tt::where(moved == 0, a * 0.0f, moved)));  // 0 has the sign of the side it is reached from
}
}  // namespace detail
/// The next number from a towards b. bf16 are the upper halves of f32.
struct Nextafter {
  static constexpr OpInfo info{.name = "nextafter", .widens = false, .elementwise = true, .arguments = "input, other"};
  static constexpr Sym body(const Sym& x, const Sym& y) {
    const detail::SameDtype s(x, y);
    (void)detail::need_real(s.a, info.name);
    if (s.a.dtype() == DType::bf16) return {x.graph, x.graph->cast((detail::detach(detail::next_number<float>(cast<float>(s.a), cast<float>(s.b), 0x10000)) + call<Tangent>({}, cast<float>(s.a))).id, DType::bf16)};
    if (s.a.dtype() == DType::f16) return {x.graph, x.graph->cast((detail::detach(detail::next_half(cast<float>(s.a), cast<float>(s.b))) + call<Tangent>({}, cast<float>(s.a))).id, DType::f16)};
    return call<NextNumber>({}, s.a, s.b);
  }
};
/// The n-th derivative of digamma: a sum of powers, and its remainder by the Euler-Maclaurin formula.
struct Polygamma {
  struct Options {
    int n = 0;
  };
  static constexpr OpInfo info{.name = "polygamma", .elementwise = true, .arguments = ".n, input"};
  static constexpr Sym body(const auto& given, const Options& o) {
    const auto x = detail::to_real(given);
    if (o.n < 0 || o.n > 1000) return {x.graph, x.graph->fail({.mistake = Mistake::number_out_of_range, .op = info.name, .dtype = x.dtype(), .number = o.n}, x.id)};
    if (o.n == 0) return tt::digamma(x);
    const auto power = [](const Sym& v, int n) {
      Sym r = v;
      for (int k = 1; k < n; ++k) r = r * v;
      return r;
    };
    constexpr double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};
    const int n = o.n;
    const Sym turned = x < 0.5;  // for trigamma, which is reflected: computed from that of 1 - x
    Sym z = n == 1 ? tt::where(turned, 1 - x, x) : x, sum = 1 / power(z, n + 1);
    for (int k = 1; k < 12; ++k) {
      z = z + 1;
      sum = sum + 1 / power(z, n + 1);
    }
    z = z + 1;
    const Sym inverse = 1 / z, square = inverse * inverse;
    Sym tail = power(inverse, n) / n + power(inverse, n + 1) * 0.5, term = power(inverse, n + 2);
    double factor = n + 1;  // (n + 2k - 1)! / (n! (2k)!)
    for (int k = 1; k <= 7; ++k) {
      factor = k == 1 ? (n + 1) / 2.0 : factor * (n + 2 * k - 2) * (n + 2 * k - 1) / ((2 * k - 1) * (2 * k));
      tail = tail + term * (bernoulli[k - 1] * factor);
      term = term * square;
    }
    double factorial = 1;
    for (int k = 2; k <= n; ++k) factorial *= k;
    const Sym whole = (sum + tail) * (n % 2 ? factorial : -factorial);
    if (n > 1) return whole;
    const Sym sine = tt::sin(3.14159265358979323846 * tt::where(turned, x, 0.5));
    return tt::where(turned, 9.8696044010893586188 / (sine * sine) - whole, whole);
  }
};

/// Is it NaN? bool, as for the next ones.
template <Value A>
constexpr CalledStructured<WithDefaults<Isnan>, A> isnan(A&& a, SourceLine at = here()) { return call_structured<Isnan>(at, static_cast<A&&>(a)); }
template <Value A>
constexpr CalledStructured<WithDefaults<Isinf>, A> isinf(A&& a, SourceLine at = here()) { return call_structured<Isinf>(at, static_cast<A&&>(a)); }
template <Value A>
constexpr CalledStructured<WithDefaults<Isposinf>, A> isposinf(A&& a, SourceLine at = here()) { return call_structured<Isposinf>(at, static_cast<A&&>(a)); }
template <Value A>
constexpr CalledStructured<WithDefaults<Isneginf>, A> isneginf(A&& a, SourceLine at = here()) { return call_structured<Isneginf>(at, static_cast<A&&>(a)); }
template <Value A>
constexpr CalledStructured<WithDefaults<Isfinite>, A> isfinite(A&& a, SourceLine at = here()) { return call_structured<Isfinite>(at, static_cast<A&&>(a)); }
/// Is the sign bit set? It is for -0.
template <Value A>
constexpr CalledStructured<WithDefaults<Signbit>, A> signbit(A&& a, SourceLine at = here()) { return call_structured<Signbit>(at, static_cast<A&&>(a)); }
/// Is exactly one of the two other than 0?
template <Value A, Value B>
constexpr CalledStructured<WithDefaults<LogicalXor>, A, B> logical_xor(A&& a, B&& b, SourceLine at = here()) { return call_structured<LogicalXor>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// All bits inverted, for integers; logical not for bool.
template <Value A>
constexpr CalledStructured<WithDefaults<BitwiseNot>, A> bitwise_not(A&& a, SourceLine at = here()) { return call_structured<BitwiseNot>(at, static_cast<A&&>(a)); }
constexpr Sym operator~(const Sym& a) { return BitwiseNot::body(a); }
template <class B>
  requires std::is_same_v<B, Sym> || std::is_arithmetic_v<B>
constexpr Sym operator%(const Sym& a, const B& b) { return SymFront::call<Remainder>({}, a, b); }
template <class A>
  requires std::is_arithmetic_v<A>
constexpr Sym operator%(A a, const Sym& b) { return SymFront::call<Remainder>({}, a, b); }
/// |a - b| <= atol + rtol * |b|, elementwise; equal infinities are close. Integers are compared as f64.
template <IscloseOptions O = IscloseOptions{}, Value A, Value B>
constexpr CalledStructured<Structured<Isclose, O>, A, B> isclose(A&& a, B&& b, CallLine at = here()) { return call_structured<Isclose, O>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
template <DynamicAxes A>
constexpr A isclose(const A& a, const std::type_identity_t<A>& b, const IscloseOptions& o, SourceLine at = here()) { return call_with<Isclose>(at, o, a, b); }
/// NaN and infinities replaced: NaN by 0, infinities by the largest and smallest numbers of the dtype, unless given.
template <Value A>
constexpr CalledStructured<WithDefaults<NanToNum>, A> nan_to_num(A&& a, CallLine at = here()) { return call_structured<NanToNum>(at, static_cast<A&&>(a)); }
template <DynamicAxes A>
constexpr A nan_to_num(const A& a, double nan, Optional<double> posinf = {}, Optional<double> neginf = {}, SourceLine at = here()) {
  return call_with<NanToNum>(at, {nan, posinf, neginf}, a);
}
template <Value A, Operand B>
constexpr CalledStructured<WithDefaults<Nextafter>, A, B> nextafter(A&& a, B&& b, SourceLine at = here()) { return call_structured<Nextafter>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// The n-th derivative of digamma, elementwise, for arguments above 0 (n of 0 and 1: all).
template <int N, Value A>
  requires StaticAxes<A>
constexpr CalledStructured<Structured<Polygamma, Polygamma::Options{N}>, A> polygamma(A&& x, CallLine at = here()) { return call_structured<Polygamma, Polygamma::Options{N}>(at, static_cast<A&&>(x)); }
template <DynamicAxes A>
constexpr A polygamma(int n, const A& x, SourceLine at = here()) { return call_with<Polygamma>(at, {n}, x); }
/// The sum of the elements that are not NaN, over these axes of an Array, or over all.
template <int... Dims, Value A>
  requires StaticAxes<A>
constexpr CalledStructured<Structured<Nansum, ReductionOptions{{Dims...}}>, A> nansum(A&& a, CallLine at = here()) { return call_structured<Nansum, ReductionOptions{{Dims...}}>(at, static_cast<A&&>(a)); }
/// The elements in reverse order along these axes of an Array.
template <int... Dims, Value A>
  requires StaticAxes<A>
constexpr CalledStructured<Structured<Flip, Flip::Options{{Dims...}}>, A> flip(A&& a, CallLine at = here()) { return call_structured<Flip, Flip::Options{{Dims...}}>(at, static_cast<A&&>(a)); }
/// `value`, a scalar or one element, where the mask is true; in the dtype of `a`.
template <Value A, Value M, Operand V>
constexpr CalledStructured<WithDefaults<MaskedFill>, A, M, V> masked_fill(A&& a, M&& mask, V&& value, SourceLine at = here()) {
  return call_structured<MaskedFill>(at, static_cast<A&&>(a), static_cast<M&&>(mask), static_cast<V&&>(value));
}

}  // namespace tt
