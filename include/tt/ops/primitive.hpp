// The primitives as functions over every kind of value: Num, Sym, Array expressions.
// Operators + - * / and comparisons belong to the value types; by their names they are in ops/operators.hpp.
#pragma once
#include "tt/ops/define.hpp"

namespace tt {

/// Elementwise larger of a and b; NaN if either is. Gradient: shared evenly where equal.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::max, A, B> maximum(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::max>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
/// Elementwise smaller of a and b; NaN if either is. Gradient: shared evenly where equal.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::min, A, B> minimum(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::min>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
/// a * b + c, with one rounding where the program has hardware fma, else with two.
template <class A, class B, class C>
  requires Operands<A, B, C>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::fma, A, B, C> fma(A&& a, B&& b, C&& c, SourceLine at = here()) {
  return primitive<Op::fma>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
}
template <Value A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::abs, A> abs(A&& a, SourceLine at = here()) {
  return primitive<Op::abs>(at, static_cast<A&&>(a));
}
/// Square root, correctly rounded; NaN below zero.
template <Value A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::sqrt, A> sqrt(A&& a, SourceLine at = here()) {
  return primitive<Op::sqrt>(at, static_cast<A&&>(a));
}
template <Value A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::floor, A> floor(A&& a, SourceLine at = here()) {
  return primitive<Op::floor>(at, static_cast<A&&>(a));
}
template <Value A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::ceil, A> ceil(A&& a, SourceLine at = here()) {
  return primitive<Op::ceil>(at, static_cast<A&&>(a));
}
/// Nearest integer, halves to even.
template <Value A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::round, A> round(A&& a, SourceLine at = here()) {
  return primitive<Op::round>(at, static_cast<A&&>(a));
}
template <Value A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::trunc, A> trunc(A&& a, SourceLine at = here()) {
  return primitive<Op::trunc>(at, static_cast<A&&>(a));
}
// For integers and bool.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::bit_and, A, B> bitwise_and(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::bit_and>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::bit_or, A, B> bitwise_or(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::bit_or>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr CalledPrimitive<Op::bit_xor, A, B> bitwise_xor(A&& a, B&& b, SourceLine at = here()) {
  return primitive<Op::bit_xor>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}
/// a where the condition holds, else b. The gradient flows to the chosen side only.
template <class M, class A, class B>
  requires(Value<M> && Operand<A> && Operand<B>)
TT_ALWAYS_INLINE constexpr auto where(M&& condition, A&& a, B&& b,
                                      SourceLine at = here()) {
  return front_t<M, A, B>::template primitive<Op::where>(at, 0, static_cast<M&&>(condition), static_cast<A&&>(a), static_cast<B&&>(b));
}
/// Converts the elements. Floating to integer truncates; out of range gives the smallest integer.
template <Element To, Value A>
TT_ALWAYS_INLINE constexpr auto cast(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template cast<To>(at, static_cast<A&&>(a));
}
/// The same bits as another dtype of the same size. Has no derivative.
template <Element To, Value A>
TT_ALWAYS_INLINE constexpr auto bitcast(A&& a, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template bitcast<To>(at, static_cast<A&&>(a));
}
template <Value A>
TT_ALWAYS_INLINE constexpr auto shift_right_logical(A&& a, int n, SourceLine at = here()) {
  return std::remove_cvref_t<A>::tt_front::template primitive<Op::shift_right_logical>(at, n, static_cast<A&&>(a));
}

namespace detail {
/// The lanes that conversions of narrow types use (core/narrow.hpp), over the carriers of ops.
struct OpLanes {
  static TT_ALWAYS_INLINE constexpr auto bits(auto x) { return bitcast<std::int32_t>(x); }
  static TT_ALWAYS_INLINE constexpr auto number(auto lanes) { return bitcast<float>(lanes); }
  static TT_ALWAYS_INLINE constexpr auto choose(auto m, auto a, auto b) { return where(m, a, b); }
};
}  // namespace detail

}  // namespace tt
