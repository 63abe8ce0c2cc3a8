// PyTorch's second names of elementwise ops: tt::multiply(a, b) is tt::mul(a, b).
#pragma once
#include "tt/ops/activation.hpp"
#include "tt/ops/further.hpp"
#include "tt/ops/operators.hpp"
#include "tt/ops/primitive.hpp"

namespace tt {

template <Value A>
TT_ALWAYS_INLINE constexpr auto absolute(A&& a, SourceLine at = here()) -> decltype(abs(static_cast<A&&>(a), at)) { return abs(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arccos(A&& a, SourceLine at = here()) -> decltype(acos(static_cast<A&&>(a), at)) { return acos(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arccosh(A&& a, SourceLine at = here()) -> decltype(acosh(static_cast<A&&>(a), at)) { return acosh(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arcsin(A&& a, SourceLine at = here()) -> decltype(asin(static_cast<A&&>(a), at)) { return asin(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arcsinh(A&& a, SourceLine at = here()) -> decltype(asinh(static_cast<A&&>(a), at)) { return asinh(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arctan(A&& a, SourceLine at = here()) -> decltype(atan(static_cast<A&&>(a), at)) { return atan(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto arctanh(A&& a, SourceLine at = here()) -> decltype(atanh(static_cast<A&&>(a), at)) { return atanh(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto fix(A&& a, SourceLine at = here()) -> decltype(trunc(static_cast<A&&>(a), at)) { return trunc(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto negative(A&& a, SourceLine at = here()) -> decltype(neg(static_cast<A&&>(a), at)) { return neg(static_cast<A&&>(a), at); }
template <Value A>
TT_ALWAYS_INLINE constexpr auto sgn(A&& a, SourceLine at = here()) -> decltype(sign(static_cast<A&&>(a), at)) { return sign(static_cast<A&&>(a), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto arctan2(A&& a, B&& b, SourceLine at = here()) -> decltype(atan2(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return atan2(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto divide(A&& a, B&& b, SourceLine at = here()) -> decltype(div(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return div(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto greater(A&& a, B&& b, SourceLine at = here()) -> decltype(gt(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return gt(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto greater_equal(A&& a, B&& b, SourceLine at = here()) -> decltype(ge(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return ge(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto less(A&& a, B&& b, SourceLine at = here()) -> decltype(lt(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return lt(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto less_equal(A&& a, B&& b, SourceLine at = here()) -> decltype(le(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return le(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto multiply(A&& a, B&& b, SourceLine at = here()) -> decltype(mul(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return mul(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto not_equal(A&& a, B&& b, SourceLine at = here()) -> decltype(ne(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return ne(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto subtract(A&& a, B&& b, SourceLine at = here()) -> decltype(sub(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return sub(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto true_divide(A&& a, B&& b, SourceLine at = here()) -> decltype(div(static_cast<A&&>(a), static_cast<B&&>(b), at)) { return div(static_cast<A&&>(a), static_cast<B&&>(b), at); }
template <Value A, Operand L>
TT_ALWAYS_INLINE constexpr auto clip(const A& a, const L& low, SourceLine at = here()) -> decltype(clamp(a, low, at)) { return clamp(a, low, at); }
template <Value A, class L, class H>
TT_ALWAYS_INLINE constexpr auto clip(A&& a, L&& low, H&& high, SourceLine at = here()) -> decltype(clamp(static_cast<A&&>(a), static_cast<L&&>(low), static_cast<H&&>(high), at)) { return clamp(static_cast<A&&>(a), static_cast<L&&>(low), static_cast<H&&>(high), at); }

}  // namespace tt
