// Operators by their names in PyTorch, over every kind of value: tt::add(a, b) is a + b.
#pragma once
#include "tt/ops/define.hpp"

namespace tt {

template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto add(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::add>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto sub(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::sub>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto mul(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::mul>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto div(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::div>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto lt(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::lt>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto le(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::le>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto eq(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::eq>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto ne(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::ne>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto logical_and(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::logical_and>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto logical_or(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::logical_or>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto gt(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::lt>(at, static_cast<B&&>(b), static_cast<A&&>(a));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto ge(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::le>(at, static_cast<B&&>(b), static_cast<A&&>(a));
}
template <Value A>
TT_ALWAYS_INLINE constexpr auto neg(A&& a, SourceLine at = here()) {
  return primitive<Op::neg>(at, static_cast<A&&>(a));
}
template <Value A>
TT_ALWAYS_INLINE constexpr auto logical_not(A&& a, SourceLine at = here()) {
  return primitive<Op::logical_not>(at, static_cast<A&&>(a));
}

}  // namespace tt
