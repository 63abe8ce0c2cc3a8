// torch.special functions that are no elementwise ops (those: ops/math_*.hpp): Bessel functions, incomplete gamma functions, zeta, the Airy function and
// orthogonal polynomials. Computed on the host in f64 or wider and rounded once; integers give f32. In captured graphs they are calls between fused programs.
// They have derivatives where PyTorch has.
//   tt::special::bessel_j0(x)   tt::igamma(a, x)   tt::special::hermite_polynomial_h(x, 3)
#pragma once
#include "tt/dispatch/shape_functions.hpp"

namespace tt {

/// The regularised lower incomplete gamma function for a >= 0 and x >= 0, and its complement to 1. Differentiable by x only.
TT_LAZY Tensor igamma(const Tensor& a, const Tensor& x, SourceLine at = here());
TT_LAZY Tensor igammac(const Tensor& a, const Tensor& x, SourceLine at = here());

namespace special {

// Bessel functions of the first and second kind, of orders 0 and 1; modified ones, and these scaled by e^x.
TT_LAZY Tensor bessel_j0(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor bessel_j1(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor bessel_y0(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor bessel_y1(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor modified_bessel_k0(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor modified_bessel_k1(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor scaled_modified_bessel_k0(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor scaled_modified_bessel_k1(const Tensor& x, SourceLine at = here());
/// sin(x) / x.
TT_LAZY Tensor spherical_bessel_j0(const Tensor& x, SourceLine at = here());
TT_LAZY Tensor airy_ai(const Tensor& x, SourceLine at = here());
/// The sum of (q + k)^-x over k = 0, 1, ... (Hurwitz).
TT_LAZY Tensor zeta(const Tensor& x, const Tensor& q, SourceLine at = here());
// Polynomials of degree n, truncated to an integer; 0 for negative degrees.
TT_LAZY Tensor chebyshev_polynomial_t(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor chebyshev_polynomial_u(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor chebyshev_polynomial_v(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor chebyshev_polynomial_w(const Tensor& x, const Tensor& n, SourceLine at = here());
/// Shifted: of 2 x - 1.
TT_LAZY Tensor shifted_chebyshev_polynomial_t(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor shifted_chebyshev_polynomial_u(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor shifted_chebyshev_polynomial_v(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor shifted_chebyshev_polynomial_w(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor hermite_polynomial_h(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor hermite_polynomial_he(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor laguerre_polynomial_l(const Tensor& x, const Tensor& n, SourceLine at = here());
TT_LAZY Tensor legendre_polynomial_p(const Tensor& x, const Tensor& n, SourceLine at = here());

}  // namespace special
}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/special_functions_inl.hpp"
#endif
