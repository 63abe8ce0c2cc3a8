// Operators by their names in PyTorch, over every kind of value: tt::add(a, b) is a + b.
#pragma once
#include "tt/ops/define.hpp"

namespace tt {

template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::add, A, B> add(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::add>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::sub, A, B> sub(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::sub>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::mul, A, B> mul(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::mul>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::div, A, B> div(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::div>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::lt, A, B> lt(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::lt>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::le, A, B> le(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::le>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::eq, A, B> eq(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::eq>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::ne, A, B> ne(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::ne>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::logical_and, A, B> logical_and(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::logical_and>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::logical_or, A, B> logical_or(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::logical_or>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::lt, B, A> gt(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::lt>(at, static_cast<B&&>(b), static_cast<A&&>(a));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::le, B, A> ge(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::le>(at, static_cast<B&&>(b), static_cast<A&&>(a));
}
template <Value A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::neg, A> neg(A&& a, SourceLine at = here()) {
  return primitive<Op::neg>(at, static_cast<A&&>(a));
}
template <Value A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::logical_not, A> logical_not(A&& a, SourceLine at = here()) {
  return primitive<Op::logical_not>(at, static_cast<A&&>(a));
}

}  // namespace tt
