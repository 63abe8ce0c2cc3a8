// The operators of Arrays and their expressions: each makes an expression (expr/expression.hpp).
#pragma once
#include "tt/expr/expression.hpp"

namespace tt {

template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator+(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::add>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator-(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::sub>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator*(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::mul>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator/(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::div>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <ArrayLike A>
constexpr auto operator-(A&& a) {
  return ArrayFront::make<detail::PrimitiveFn<Op::neg>>(static_cast<A&&>(a));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator<(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::lt>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator<=(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::le>>(static_cast<A&&>(a), static_cast<B&&>(b));
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
  return ArrayFront::make<detail::PrimitiveFn<Op::eq>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ArrayOperands<A, B>
constexpr auto operator!=(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::ne>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <ArrayLike A, ArrayLike B>
constexpr auto operator&&(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::logical_and>>(static_cast<A&&>(a),
                                                                static_cast<B&&>(b));
}
template <ArrayLike A, ArrayLike B>
constexpr auto operator||(A&& a, B&& b) {
  return ArrayFront::make<detail::PrimitiveFn<Op::logical_or>>(static_cast<A&&>(a),
                                                               static_cast<B&&>(b));
}
template <ArrayLike A>
constexpr auto operator!(A&& a) {
  return ArrayFront::make<detail::PrimitiveFn<Op::logical_not>>(static_cast<A&&>(a));
}

}  // namespace tt
