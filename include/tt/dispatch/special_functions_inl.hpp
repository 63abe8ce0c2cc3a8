// Definitions of special_functions.hpp.
#pragma once
#include <math.h>

#include <cmath>
#include <limits>

#include "tt/dispatch/no_derivative_inl.hpp"
#include "tt/dispatch/shape_names_inl.hpp"
#include "tt/dispatch/special_functions.hpp"

namespace tt {
namespace detail {

// ---- functions of one number

inline constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pi = 3.14159265358979323846, euler = 0.57721566490153286061;

/// e^x K_0(x) and e^x K_1(x): power series up to x = 2, above it Steed's continued fraction (Temme, 1975).
inline void scaled_k(double x, double& k0, double& k1) {
  if (x <= 2) {
    const double y = x * x / 4, l = std::log(x / 2) + euler;
    double term = 1, harmonic = 0, sum0 = 0, sum1 = 0, i0 = 0, i1 = 0;
    for (int k = 0; k < 30; ++k) {  // term: y^k / k!^2
      if (k > 0) {
        term *= y / (static_cast<double>(k) * k);
        harmonic += 1.0 / k;
      }
      i0 += term;
      i1 += term / (k + 1);
      sum0 += term * harmonic;
      sum1 += term / (k + 1) * (2 * harmonic + 1.0 / (k + 1));
    }
    k0 = (sum0 - l * i0) * std::exp(x);
    k1 = (1 / x + x / 2 * (l * i1 - sum1 / 2)) * std::exp(x);
    return;
  }
  double b = 2 * (1 + x), d = 1 / b, h = d, step = d, q1 = 0, q2 = 1, a = -0.25, c = 0.25, q = c, s = 1 + q * step;
  for (int k = 2; k < 500; ++k) {
    a -= 2 * (k - 1);
    c = -a * c / k;
    const double next = (q1 - b * q2) / a;
    q1 = q2;
    q2 = next;
    q += c * next;
    b += 2;
    d = 1 / (b + a * d);
    step *= b * d - 1;
    h += step;
    const double more = q * step;
    s += more;
    if (std::fabs(more / s) < 1e-17) break;
  }
  h *= 0.25;
  k0 = std::sqrt(pi / (2 * x)) / s;
  k1 = k0 * (0.5 + x - h) / x;
}
template <bool Scaled, int Order>
double modified_k(double x) {
  if (!(x >= 0)) return not_a_number;
  if (x == 0) return infinity;
  if (std::isinf(x)) return 0;
  double k[2];
  scaled_k(x, k[0], k[1]);
  return Scaled ? k[Order] : k[Order] * std::exp(-x);
}
inline double airy_ai(double x) {
  if (x != x) return x;
  if (x > 104) return 0;
  const double root = std::sqrt(std::fabs(x)), z = 2.0 / 3 * root * root * root;
  if (z < 1e-3) return 0.35502805388781723926 * (1 + x * x * x / 6) - 0.25881940379280679840 * x * (1 + x * x * x / 12);
  if (x > 0) return std::sqrt(x / 3) / pi * std::cyl_bessel_k(1.0 / 3, z);
  if (std::isinf(x)) return not_a_number;
  if (z > 1e5) return (std::cos(z - pi / 4) + std::sin(z - pi / 4) * 5 / (72 * z)) / (std::sqrt(pi) * std::sqrt(root));
  const double j = std::cyl_bessel_j(1.0 / 3, z), y = std::cyl_neumann(1.0 / 3, z);
  return root / 2 * (j - y / std::sqrt(3.0));  // from J(1/3), and J(-1/3) = J(1/3) / 2 - sqrt(3)/2 Y(1/3)
}
inline double spherical_j0(double x) {
  if (std::isinf(x)) return 0;
  return std::fabs(x) < 0.5 ? [x2 = x * x] {
    double term = 1, sum = 1;
    for (int k = 1; k < 12; ++k) sum += term *= -x2 / (2 * k * (2 * k + 1));
    return sum;
  }()
                            : std::sin(x) / x;
}

// ---- functions of two numbers

/// Euler-Maclaurin summation: terms until q + k is at least 10 and at least x, or terms no longer count; then the correction for the rest.
inline double hurwitz_zeta(double x, double q) {
  if (x == 1) return infinity;
  if (!(x > 1) || q != q) return not_a_number;
  if (q <= 0) {
    if (q == std::floor(q)) return infinity;
    if (x != std::floor(x)) return not_a_number;
  }
  double sum = 0, at = q;
  while (at < 10 || at < x) {
    const double term = std::pow(at, -x);
    sum += term;
    at += 1;
    if (at > 1 && term <= 1e-18 * std::fabs(sum)) return sum;
  }
  // Bernoulli numbers over factorials: B(2k) / (2k)!
  constexpr double ratio[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000, 1.0 / 74724249600, -3617.0 / 10670622842880000.0};
  const double power = std::pow(at, -x);
  sum += power * at / (x - 1) + power / 2;
  double factor = x * power / at;
  for (int k = 0; k < 8; ++k) {
    sum += ratio[k] * factor;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (at * at);
  }
  return sum;
}
/// incomplete_gamma for large a: two terms of Temme's expansion (DLMF 8.12).
inline double incomplete_gamma_of_large(double a, double x, bool upper) {
  const double mu = (x - a) / a, half = std::fabs(mu) < 0.01 ? mu * mu * (0.5 - mu * (1 / 3.0 - mu * (0.25 - mu * (0.2 - mu * (1 / 6.0 - mu / 7))))) : mu - std::log1p(mu);  // half of eta squared
  const double eta = std::copysign(std::sqrt(2 * half), mu);
  const double first = std::fabs(eta) < 0.01 ? -1 / 3.0 + eta * (1 / 12.0 - eta * (2 / 135.0 - eta / 864)) : 1 / mu - 1 / eta;
  const double rest = std::exp(-a * half) / std::sqrt(2 * pi * a) * (first - 1 / (540 * a)), way = eta * std::sqrt(a / 2);
  return upper ? std::erfc(way) / 2 + rest : std::erfc(-way) / 2 - rest;
}
/// Regularised, lower or upper: a series below x = a + 1, Lentz's continued fraction above. In long double, as the factor in front loses digits with growing a.
inline double incomplete_gamma(double given_a, double given_x, bool upper) {
  if (!(given_a >= 0) || !(given_x >= 0)) return not_a_number;
  if (given_a == 0) return given_x > 0 ? (upper ? 0 : 1) : not_a_number;
  if (given_x == 0) return upper ? 1 : 0;
  if (std::isinf(given_a)) return std::isinf(given_x) ? not_a_number : (upper ? 1 : 0);
  if (std::isinf(given_x)) return upper ? 0 : 1;
  if (given_a > 1e6) return incomplete_gamma_of_large(given_a, given_x, upper);
  const long double a = given_a, x = given_x;
  const long double front = std::exp(a * std::log(x) - x - ::lgammal(a));
  const int most = 1000 + static_cast<int>(std::fmin(20 * std::sqrt(given_a > given_x ? given_a : given_x), 1e7));
  if (x < a + 1) {
    long double term = 1 / a, sum = term;
    for (int k = 1; k < most; ++k) {
      term *= x / (a + k);
      sum += term;
      if (term < sum * 1e-20L) break;
    }
    const long double low = front * sum;
    return static_cast<double>(upper ? 1 - low : low);
  }
  long double b = x + 1 - a, c = 1 / 1e-300L, d = 1 / b, h = d;
  for (int k = 1; k < most; ++k) {
    const long double n = -static_cast<long double>(k) * (k - a);
    b += 2;
    d = n * d + b;
    if (std::fabs(d) < 1e-300L) d = 1e-300L;
    c = b + n / c;
    if (std::fabs(c) < 1e-300L) c = 1e-300L;
    d = 1 / d;
    const long double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < 1e-20L) break;
  }
  const long double high = front * h;
  return static_cast<double>(upper ? high : 1 - high);
}
/// Is there a polynomial of this degree, truncated to a 64-bit integer? For other degrees the value is 0, as in PyTorch.
inline bool is_degree(double n) { return n > -1 && n < 0x1p63; }
/// The three-term recurrence p(k + 1) = next(k, p(k - 1), p(k)), from p(0) = 1 and p(1) = `first`.
template <class F>
double by_recurrence(double x, double given_n, double first, const F& next) {
  if (!is_degree(given_n)) return 0;
  const double n = std::trunc(given_n);
  if (n == 0) return 1;
  if (x != x) return not_a_number;
  double before = 1, now = first;
  for (double k = 1; k < n; ++k) {
    const double then = next(k, before, now);
    before = now;
    now = then;
    if (now - now != 0 && before - before != 0) return not_a_number;  // overflowed, and stays so
  }
  return now;
}
/// The four kinds differ in the polynomial of degree 1. Inside (-1, 1) high degrees use angles: cos(n t) and so on, with x = cos t.
template <int Kind>
double chebyshev(double x, double n) {
  if (!is_degree(n)) return 0;
  if (std::fabs(x) == 1 && n >= 0) {  // 1, n + 1 or 2 n + 1; at -1 the sign alternates with the degree
    const double k = std::floor(n), size = Kind == 0 ? 1 : Kind == 1 ? k + 1 : (Kind == 2) == (x > 0) ? 1 : 2 * k + 1;
    return x < 0 && std::fmod(k, 2) == 1 ? -size : size;
  }
  if (n >= 1000 && std::fabs(x) < 1) {
    const double t = std::acos(x), k = std::floor(n);
    if (Kind == 0) return std::cos(k * t);
    if (Kind == 1) return std::sin((k + 1) * t) / std::sin(t);
    if (Kind == 2) return std::cos((k + 0.5) * t) / std::cos(t / 2);
    return std::sin((k + 0.5) * t) / std::sin(t / 2);
  }
  const double first = Kind == 0 ? x : Kind == 1 ? 2 * x : Kind == 2 ? 2 * x - 1 : 2 * x + 1;
  return by_recurrence(x, n, first, [x](double, double before, double now) { return 2 * x * now - before; });
}

// ---- operators; the names without the underscore call functions that first bring both arguments to one shape and dtype

template <class F>
inline constexpr bool is_binary = requires { F::of(0.0, 0.0); };
template <class F>
inline constexpr bool has_derivative = requires(const DerivativeStep& s) { F::derivative(s); };
/// F::of for each element, of one Tensor or of two of the same shape.
template <class F>
struct EachElement {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = F::name, .arguments = is_binary<F> ? "input, other" : "input"};
  static constexpr Batching batching = Batching::in_front;
  static constexpr bool keeps_values = true;
  static void kernel(Call& c, const Options&) {
    c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device());
    if (c[0].is_meta()) return;
    Tensor out(DType::f64, c[0].impl().shape, c[0].device());
    const Tensor x = convert(c[0], DType::f64, c.at).contiguous(c.at);
    const double* const from = x.data_ptr<double>();
    double* const to = out.data_ptr<double>();
    const std::int64_t n = x.impl().numel;
    if constexpr (is_binary<F>) {
      const Tensor y = convert(c[1], DType::f64, c.at).contiguous(c.at);
      const double* const other = y.data_ptr<double>();
      for (std::int64_t k = 0; k < n; ++k) to[k] = F::of(from[k], other[k]);
    } else {
      for (std::int64_t k = 0; k < n; ++k) to[k] = F::of(from[k]);
    }
    c.result[0] = convert(out, c[0].dtype(), c.at);
  }
  static void derivative(const auto& s, const Options&) {
    if constexpr (has_derivative<F>) F::derivative(s);
    else TT_THROW(Error(Text("tt::backward: ") << F::name + 1 << " has no derivative, as in PyTorch. Use detach()?" << s.at));
  }
};
template <class F, bool = is_binary<F>>
struct Pointwise : EachElement<F> {
  static Sym like(const Sym& x, const NoOptions&) { return x; }
};
template <class F>
struct Pointwise<F, true> : EachElement<F> {
  static Sym like(const Sym& x, const Sym&, const NoOptions&) { return x; }
};
/// Functions without a derivative treat their arguments as constants, as in PyTorch.
template <class F>
Tensor argument_of(const Tensor& x) { return has_derivative<F> ? x : x.detach(); }
template <class F>
Tensor pointwise(const Tensor& x, SourceLine at) { return call_with<Pointwise<F>>(at, {}, argument_of<F>(is_floating(x.dtype()) ? x : x.to(DType::f32, at))); }
template <class F>
Tensor pointwise(const Tensor& x, const Tensor& y, SourceLine at) {
  const Tensor both = x.detach() + y.detach();  // for the common shape and dtype
  const DType d = is_floating(both.dtype()) ? both.dtype() : DType::f32;
  return call_with<Pointwise<F>>(at, {}, argument_of<F>(on_device_of(y, x, at).to(d, at).expand(both.shape(at), at)), argument_of<F>(on_device_of(x, y, at).to(d, at).expand(both.shape(at), at)));
}
template <class F>
auto again(const auto& s, const auto& x) { return call_with<Pointwise<F>>(s.at, {}, x); }

// Derivatives refer to each other.
struct BesselJ1;
struct BesselJ0 {
  static constexpr const char* name = "_special_bessel_j0";
  static double of(double x) { return ::j0(x); }
  static void derivative(const auto& s) { s.out[0] = -s.gradient[0] * again<BesselJ1>(s, s.argument[0]); }
};
struct BesselJ1 {
  static constexpr const char* name = "_special_bessel_j1";
  static double of(double x) { return ::j1(x); }
  static void derivative(const auto& s) {
    const auto& x = s.argument[0];
    s.out[0] = s.gradient[0] * tt::where(x == 0, 0.5, again<BesselJ0>(s, x) - s.result[0] / tt::where(x == 0, 1.0, x));
  }
};
struct BesselY1;
struct BesselY0 {
  static constexpr const char* name = "_special_bessel_y0";
  static double of(double x) { return x < 0 ? not_a_number : x == 0 ? -infinity : ::y0(x); }
  static void derivative(const auto& s) { s.out[0] = -s.gradient[0] * again<BesselY1>(s, s.argument[0]); }
};
struct BesselY1 {
  static constexpr const char* name = "_special_bessel_y1";
  static double of(double x) { return x < 0 ? not_a_number : x == 0 ? -infinity : ::y1(x); }
  static void derivative(const auto& s) { s.out[0] = s.gradient[0] * (again<BesselY0>(s, s.argument[0]) - s.result[0] / s.argument[0]); }
};
struct ModifiedK1;
struct ModifiedK0 {
  static constexpr const char* name = "_special_modified_bessel_k0";
  static double of(double x) { return modified_k<false, 0>(x); }
  static void derivative(const auto& s) { s.out[0] = -s.gradient[0] * again<ModifiedK1>(s, s.argument[0]); }
};
struct ModifiedK1 {
  static constexpr const char* name = "_special_modified_bessel_k1";
  static double of(double x) { return modified_k<false, 1>(x); }
  static void derivative(const auto& s) { s.out[0] = -s.gradient[0] * (again<ModifiedK0>(s, s.argument[0]) + s.result[0] / s.argument[0]); }
};
struct ScaledK1;
struct ScaledK0 {
  static constexpr const char* name = "_special_scaled_modified_bessel_k0";
  static double of(double x) { return modified_k<true, 0>(x); }
  static void derivative(const auto& s) { s.out[0] = s.gradient[0] * (s.result[0] - again<ScaledK1>(s, s.argument[0])); }
};
struct ScaledK1 {
  static constexpr const char* name = "_special_scaled_modified_bessel_k1";
  static double of(double x) { return modified_k<true, 1>(x); }
  static void derivative(const auto& s) { s.out[0] = s.gradient[0] * (s.result[0] - again<ScaledK0>(s, s.argument[0]) - s.result[0] / s.argument[0]); }
};
struct SphericalJ0 {
  static constexpr const char* name = "_special_spherical_bessel_j0";
  static double of(double x) { return spherical_j0(x); }
};
struct AiryAi {
  static constexpr const char* name = "_special_airy_ai";
  static double of(double x) { return airy_ai(x); }
};
struct Zeta {
  static constexpr const char* name = "_special_zeta";
  static constexpr RefusedGradient refused{"_special_zeta_by_x", "special_zeta has no derivative by its first argument, as in PyTorch"};
  static double of(double x, double q) { return hurwitz_zeta(x, q); }
  static void derivative(const auto& s) {
    const auto& x = s.argument[0];
    refuse<Zeta>(s, 0);
    s.out[1] = -s.gradient[0] * x * call_with<Pointwise<Zeta>>(s.at, {}, x + 1, s.argument[1]);
  }
};
template <bool Upper>
struct IncompleteGamma {
  static constexpr const char* name = Upper ? "_igammac" : "_igamma";
  static constexpr RefusedGradient refused = Upper ? RefusedGradient{"_igammac_by_a", "igammac has no derivative by its first argument, as in PyTorch"} : RefusedGradient{"_igamma_by_a", "igamma has no derivative by its first argument, as in PyTorch"};
  static double of(double a, double x) { return incomplete_gamma(a, x, Upper); }
  static void derivative(const auto& s) {
    const auto &a = s.argument[0], &x = s.argument[1];
    refuse<IncompleteGamma>(s, 0);
    const auto density = s.gradient[0] * tt::exp((a - 1) * tt::log(x) - x - tt::lgamma(a));
    if constexpr (Upper) s.out[1] = -density;
    else s.out[1] = density;
  }
};
template <int Kind, bool Shifted>
struct Chebyshev {
  static constexpr const char* names[2][4] = {{"_special_chebyshev_polynomial_t", "_special_chebyshev_polynomial_u", "_special_chebyshev_polynomial_v", "_special_chebyshev_polynomial_w"},
                                              {"_special_shifted_chebyshev_polynomial_t", "_special_shifted_chebyshev_polynomial_u", "_special_shifted_chebyshev_polynomial_v",
                                               "_special_shifted_chebyshev_polynomial_w"}};
  static constexpr const char* name = names[Shifted][Kind];
  static double of(double x, double n) { return chebyshev<Kind>(Shifted ? 2 * x - 1 : x, n); }
};
struct HermiteH {
  static constexpr const char* name = "_special_hermite_polynomial_h";
  static double of(double x, double n) { return by_recurrence(x, n, 2 * x, [x](double k, double before, double now) { return 2 * (x * now - k * before); }); }
};
struct HermiteHe {
  static constexpr const char* name = "_special_hermite_polynomial_he";
  static double of(double x, double n) { return by_recurrence(x, n, x, [x](double k, double before, double now) { return x * now - k * before; }); }
};
struct LaguerreL {
  static constexpr const char* name = "_special_laguerre_polynomial_l";
  static double of(double x, double n) { return by_recurrence(x, n, 1 - x, [x](double k, double before, double now) { return ((2 * k + 1 - x) * now - k * before) / (k + 1); }); }
};
struct LegendreP {
  static constexpr const char* name = "_special_legendre_polynomial_p";
  static double of(double x, double n) { return by_recurrence(x, n, x, [x](double k, double before, double now) { return ((2 * k + 1) * x * now - k * before) / (k + 1); }); }
};

}  // namespace detail

TT_LAZY_DEFINITION Tensor igamma(const Tensor& a, const Tensor& x, SourceLine at) { return detail::pointwise<detail::IncompleteGamma<false>>(a, x, at); }
TT_LAZY_DEFINITION Tensor igammac(const Tensor& a, const Tensor& x, SourceLine at) { return detail::pointwise<detail::IncompleteGamma<true>>(a, x, at); }

namespace special {

TT_LAZY_DEFINITION Tensor bessel_j0(const Tensor& x, SourceLine at) { return detail::pointwise<detail::BesselJ0>(x, at); }
TT_LAZY_DEFINITION Tensor bessel_j1(const Tensor& x, SourceLine at) { return detail::pointwise<detail::BesselJ1>(x, at); }
TT_LAZY_DEFINITION Tensor bessel_y0(const Tensor& x, SourceLine at) { return detail::pointwise<detail::BesselY0>(x, at); }
TT_LAZY_DEFINITION Tensor bessel_y1(const Tensor& x, SourceLine at) { return detail::pointwise<detail::BesselY1>(x, at); }
TT_LAZY_DEFINITION Tensor modified_bessel_k0(const Tensor& x, SourceLine at) { return detail::pointwise<detail::ModifiedK0>(x, at); }
TT_LAZY_DEFINITION Tensor modified_bessel_k1(const Tensor& x, SourceLine at) { return detail::pointwise<detail::ModifiedK1>(x, at); }
TT_LAZY_DEFINITION Tensor scaled_modified_bessel_k0(const Tensor& x, SourceLine at) { return detail::pointwise<detail::ScaledK0>(x, at); }
TT_LAZY_DEFINITION Tensor scaled_modified_bessel_k1(const Tensor& x, SourceLine at) { return detail::pointwise<detail::ScaledK1>(x, at); }
TT_LAZY_DEFINITION Tensor spherical_bessel_j0(const Tensor& x, SourceLine at) { return detail::pointwise<detail::SphericalJ0>(x, at); }
TT_LAZY_DEFINITION Tensor airy_ai(const Tensor& x, SourceLine at) { return detail::pointwise<detail::AiryAi>(x, at); }
TT_LAZY_DEFINITION Tensor zeta(const Tensor& x, const Tensor& q, SourceLine at) { return detail::pointwise<detail::Zeta>(x, q, at); }
TT_LAZY_DEFINITION Tensor chebyshev_polynomial_t(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::Chebyshev<0, false>>(x, n, at); }
TT_LAZY_DEFINITION Tensor chebyshev_polynomial_u(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::Chebyshev<1, false>>(x, n, at); }
TT_LAZY_DEFINITION Tensor chebyshev_polynomial_v(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::Chebyshev<2, false>>(x, n, at); }
TT_LAZY_DEFINITION Tensor chebyshev_polynomial_w(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::Chebyshev<3, false>>(x, n, at); }
TT_LAZY_DEFINITION Tensor shifted_chebyshev_polynomial_t(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::Chebyshev<0, true>>(x, n, at); }
TT_LAZY_DEFINITION Tensor shifted_chebyshev_polynomial_u(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::Chebyshev<1, true>>(x, n, at); }
TT_LAZY_DEFINITION Tensor shifted_chebyshev_polynomial_v(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::Chebyshev<2, true>>(x, n, at); }
TT_LAZY_DEFINITION Tensor shifted_chebyshev_polynomial_w(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::Chebyshev<3, true>>(x, n, at); }
TT_LAZY_DEFINITION Tensor hermite_polynomial_h(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::HermiteH>(x, n, at); }
TT_LAZY_DEFINITION Tensor hermite_polynomial_he(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::HermiteHe>(x, n, at); }
TT_LAZY_DEFINITION Tensor laguerre_polynomial_l(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::LaguerreL>(x, n, at); }
TT_LAZY_DEFINITION Tensor legendre_polynomial_p(const Tensor& x, const Tensor& n, SourceLine at) { return detail::pointwise<detail::LegendreP>(x, n, at); }

}  // namespace special

namespace detail {

template <class F>
void register_pointwise() {
  if constexpr (is_binary<F>) register_function(F::name + 1, "Scalar input, Scalar other", [](const TensorOperand& x, const TensorOperand& y, Line at) { return pointwise<F>(number_of(x, y), number_of(y, x), at); });
  else register_function(F::name + 1, "Tensor input", [](const Tensor& x, Line at) { return pointwise<F>(x, at); });
}
template <class... F>
void register_each() { (register_pointwise<F>(), ...); }
template <class = void>
void register_special_names() {
  register_each<BesselJ0, BesselJ1, BesselY0, BesselY1, ModifiedK0, ModifiedK1, ScaledK0, ScaledK1, SphericalJ0, AiryAi, Zeta, IncompleteGamma<false>, IncompleteGamma<true>, Chebyshev<0, false>,
                Chebyshev<1, false>, Chebyshev<2, false>, Chebyshev<3, false>, Chebyshev<0, true>, Chebyshev<1, true>, Chebyshev<2, true>, Chebyshev<3, true>, HermiteH, HermiteHe, LaguerreL, LegendreP>();
  register_function("special_gammainc", "Tensor input, Tensor other", [](const Tensor& a, const Tensor& x, Line at) { return igamma(a, x, at); });
  register_function("special_gammaincc", "Tensor input, Tensor other", [](const Tensor& a, const Tensor& x, Line at) { return igammac(a, x, at); });
  register_function("special_modified_bessel_i0", "Tensor input", [](const Tensor& x, Line at) { return i0(x, at); });
  register_function("special_modified_bessel_i1", "Tensor input", [](const Tensor& x, Line at) { return special::i1(x, at); });
}

}  // namespace detail
}  // namespace tt
