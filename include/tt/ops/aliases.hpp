// PyTorch's second names of elementwise ops: tt::multiply(a, b) is tt::mul(a, b).
#pragma once
#include "tt/ops/activation.hpp"
#include "tt/ops/further.hpp"
#include "tt/ops/operators.hpp"
#include "tt/ops/primitive.hpp"

namespace tt {

template <Value A>
TT_ALWAYS_INLINE constexpr auto absolute(A&& a, SourceLine at = here()) { return abs(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arccos(A&& a, SourceLine at = here()) { return acos(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arccosh(A&& a, SourceLine at = here()) { return acosh(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arcsin(A&& a, SourceLine at = here()) { return asin(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arcsinh(A&& a, SourceLine at = here()) { return asinh(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arctan(A&& a, SourceLine at = here()) { return atan(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arctanh(A&& a, SourceLine at = here()) { return atanh(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto fix(A&& a, SourceLine at = here()) { return trunc(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto negative(A&& a, SourceLine at = here()) { return neg(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto sgn(A&& a, SourceLine at = here()) { return sign(static_cast<A&&>(a), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto arctan2(A&& a, B&& b, SourceLine at = here()) { return atan2(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto divide(A&& a, B&& b, SourceLine at = here()) { return div(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto greater(A&& a, B&& b, SourceLine at = here()) { return gt(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto greater_equal(A&& a, B&& b, SourceLine at = here()) { return ge(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto less(A&& a, B&& b, SourceLine at = here()) { return lt(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto less_equal(A&& a, B&& b, SourceLine at = here()) { return le(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto multiply(A&& a, B&& b, SourceLine at = here()) { return mul(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto not_equal(A&& a, B&& b, SourceLine at = here()) { return ne(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto subtract(A&& a, B&& b, SourceLine at = here()) { return sub(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto true_divide(A&& a, B&& b, SourceLine at = here()) { return div(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <Value A, class L, class H>
TT_ALWAYS_INLINE constexpr auto clip(A&& a, L&& low, H&& high, SourceLine at = here()) { return clamp(static_cast<A&&>(a), static_cast<L&&>(low), static_cast<H&&>(high), at); }

}  // namespace tt
