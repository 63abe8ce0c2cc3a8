// The operators of Arrays and their expressions: each makes an expression (expr/expression.hpp). Each operator checks shapes itself, so that its error is
// short.
#pragma once
#include "tt/expr/expression.hpp"

namespace tt {

template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator+(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::add>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::add>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator-(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::sub>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::sub>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator*(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::mul>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::mul>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator/(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::div>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::div>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <ArrayLike A>
constexpr auto operator-(A&& a) {
  return ArrayFront::make<detail::PrimitiveFn<Op::neg>>(static_cast<A&&>(a));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator<(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::lt>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::lt>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator<=(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::le>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::le>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator>(A&& a, B&& b) {
  return static_cast<B&&>(b) < static_cast<A&&>(a);
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator>=(A&& a, B&& b) {
  return static_cast<B&&>(b) <= static_cast<A&&>(a);
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator==(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::eq>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::eq>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator!=(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::ne>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::ne>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <ArrayLike A, ArrayLike B>
constexpr auto operator&&(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::logical_and>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::logical_and>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <ArrayLike A, ArrayLike B>
constexpr auto operator||(A&& a, B&& b) {
  using Fits = detail::operands_broadcast<detail::PrimitiveFn<Op::logical_or>, A, B>;
  static_assert(Fits::value, "tt: shapes do not broadcast");
  if constexpr (Fits::value)
    return ArrayFront::make_beside<detail::PrimitiveFn<Op::logical_or>, detail::common_dtype<A, B>()>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  else return detail::first(a, b);
}
template <ArrayLike A>
constexpr auto operator!(A&& a) {
  return ArrayFront::make<detail::PrimitiveFn<Op::logical_not>>(static_cast<A&&>(a));
}
// For integers and bool; a % b is remainder(a, b).
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator&(A&& a, B&& b) {
  return bitwise_and(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator|(A&& a, B&& b) {
  return bitwise_or(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator^(A&& a, B&& b) {
  return bitwise_xor(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator%(A&& a, B&& b) {
  return remainder(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <ArrayLike A>
constexpr auto operator~(A&& a) {
  return bitwise_not(static_cast<A&&>(a));
}

}  // namespace tt
