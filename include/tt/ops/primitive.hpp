// The primitives as functions over every kind of value: Num, Sym, Array expressions.
// Operators + - * / and comparisons belong to the value types themselves.
#pragma once
#include "tt/ops/define.hpp"

namespace tt {

/// Elementwise larger of a and b; NaN if either is. Gradient: shared evenly where equal.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto maximum(const A& a, const B& b, SourceLine at = here()) {
  return primitive<Op::max>(at, a, b);
}
/// Elementwise smaller of a and b; NaN if either is. Gradient: shared evenly where equal.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto minimum(const A& a, const B& b, SourceLine at = here()) {
  return primitive<Op::min>(at, a, b);
}
/// a * b + c, with one rounding where the program has hardware fma, else with two.
template <class A, class B, class C>
  requires Operands<A, B, C>
TT_ALWAYS_INLINE constexpr auto fma(const A& a, const B& b, const C& c, SourceLine at = here()) {
  return primitive<Op::fma>(at, a, b, c);
}
template <Value A>
TT_ALWAYS_INLINE constexpr auto abs(const A& a, SourceLine at = here()) {
  return primitive<Op::abs>(at, a);
}
/// Square root, correctly rounded; NaN below zero.
template <Value A>
TT_ALWAYS_INLINE constexpr auto sqrt(const A& a, SourceLine at = here()) {
  return primitive<Op::sqrt>(at, a);
}
template <Value A>
TT_ALWAYS_INLINE constexpr auto floor(const A& a, SourceLine at = here()) {
  return primitive<Op::floor>(at, a);
}
template <Value A>
TT_ALWAYS_INLINE constexpr auto ceil(const A& a, SourceLine at = here()) {
  return primitive<Op::ceil>(at, a);
}
/// Nearest integer, halves to even.
template <Value A>
TT_ALWAYS_INLINE constexpr auto round(const A& a, SourceLine at = here()) {
  return primitive<Op::round>(at, a);
}
template <Value A>
TT_ALWAYS_INLINE constexpr auto trunc(const A& a, SourceLine at = here()) {
  return primitive<Op::trunc>(at, a);
}
/// a where the condition holds, else b. The gradient flows to the chosen side only.
template <class M, class A, class B>
  requires(Value<M> && Operand<A> && Operand<B>)
TT_ALWAYS_INLINE constexpr auto where(const M& condition, const A& a, const B& b,
                                      SourceLine at = here()) {
  return front_t<M, A, B>::template primitive<Op::where>(at, 0, condition, a, b);
}
/// Converts the elements. Floating to integer cuts the fraction; out of range gives the smallest.
template <Element To, Value A>
TT_ALWAYS_INLINE constexpr auto cast(const A& a, SourceLine at = here()) {
  return A::tt_front::template cast<To>(at, a);
}
/// The same bits as another dtype of the same size. Has no derivative.
template <Element To, Value A>
TT_ALWAYS_INLINE constexpr auto bitcast(const A& a, SourceLine at = here()) {
  return A::tt_front::template bitcast<To>(at, a);
}
template <Value A>
TT_ALWAYS_INLINE constexpr auto shift_right_logical(const A& a, int n, SourceLine at = here()) {
  return A::tt_front::template primitive<Op::shift_right_logical>(at, n, a);
}

}  // namespace tt
