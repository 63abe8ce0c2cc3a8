// Assigning expressions to Arrays and views: the definitions of members that core/array.hpp and core/array_view.hpp declare.
//   y = a * b + c;        // into y's memory if the extents fit and no operand is overwritten too early, else into new memory
#pragma once
#include "tt/expr/expression.hpp"

namespace tt {

namespace detail {

/// Can an Array or view of type A be assigned an Array of type R? A static_assert says why not.
template <class A, class R>
constexpr bool types_fit() {
  constexpr bool same_type = std::is_same_v<typename A::value_type, typename R::value_type>;
  constexpr bool same_shape = extents_may_agree<typename A::Extents, typename R::Extents>();
  static_assert(same_type || dtypes_agree<typename A::value_type, typename R::value_type>::value,
                "tt: what is assigned has another dtype than the Array; use tt::cast<T>(...)");
  static_assert(same_shape || shapes_agree<typename A::Extents, typename R::Extents>::value,
                "tt: what is assigned has another shape than the Array");
  return same_type && same_shape;
}
/// Can it be assigned the result of an expression of type X?
template <class A, class X>
constexpr bool is_assignable() {
  if constexpr (types_fit<A, typename X::Result>()) return no_mistake<Compiled<Program<ExpressionModel<X, A::is_padded>>>>();
  else return false;
}

[[noreturn]] TT_NOINLINE inline void extents_differ(const std::int64_t* needed, const std::int64_t* given, int rank) {
  Shape from, to;
  for (int k = 0; k < rank; ++k) {
    from.push_back(given[k]);
    to.push_back(needed[k] == dyn ? given[k] : needed[k]);
  }
  assigned_shape_differs(from, to);
}
/// Throws unless extents are those needed; dyn stands for any.
TT_ALWAYS_INLINE void check_extents(const std::int64_t* needed, const std::int64_t* given, int rank) {
  for (int k = 0; k < rank; ++k)
    if (needed[k] != dyn && needed[k] != given[k]) [[unlikely]] extents_differ(needed, given, rank);
}
/// The constant extents must be those given.
template <class Extents>
void check_extents(const std::int64_t* given) {
  check_extents(Extents::value, given, Extents::rank);
}

/// Evaluates a program with run-time extents into `to`: in place if it fits and nothing clashes, else by way of a new Array.
template <class A>
TT_NOINLINE void evaluate_into(A& to, const DynamicProgram& p, void** external, const std::int64_t* extent,
                               bool clashes) {
  SymbolValues values;
  std::int64_t given[max_rank] = {};
  p.bind(extent, values, given);
  bool fits = to.has_elements() && !clashes;
  for (int k = 0; k < A::rank; ++k) fits = fits && to.extent(k) == given[k];
  if (fits) {
    external[p.leaves] = to.data();
    p.run(external, values);
  } else {
    check_extents<typename A::Extents>(given);
    A result(Uninitialized{}, given);
    external[p.leaves] = result.data();
    p.run(external, values);
    to = static_cast<A&&>(result);
  }
}

}  // namespace detail

template <class T, std::int64_t... E>
template <class U, std::int64_t... F>
  requires(sizeof...(E) + sizeof...(F) > 0)
Array<T, E...>::Array(const Array<U, F...>& other) {
  if constexpr (detail::types_fit<Array, Array<U, F...>>()) {
    std::int64_t given[rank] = {};
    for (int k = 0; k < rank; ++k) given[k] = other.extent(k);
    detail::check_extents<Extents>(given);
    allocate(given);
    if (size() > 0) std::memcpy(data(), other.data(), static_cast<std::size_t>(size()) * sizeof(T));
  }
}

template <class T, std::int64_t... E>
template <class X, class Isa>
  requires requires { typename X::tt_expression; }
Array<T, E...>::Array(const X& x) {
  if constexpr (detail::is_assignable<Array, X>()) {
    using Evaluation = detail::Evaluation<X, Array, Isa>;
    Evaluation e(x, {});
    std::int64_t given[max_rank] = {};
    if constexpr (Evaluation::is_dynamic) {
      SymbolValues values;
      Evaluation::program().bind(e.list.extent, values, given);
      detail::check_extents<Extents>(given);
      allocate(given);
      e.list.external[e.list.count] = data();
      Evaluation::program().run(e.list.external, values);
    } else {
      Evaluation::constant_extents(given);
      allocate(given);
      e.run(data());
    }
  }
}

template <class T, std::int64_t... E>
template <class X, class Isa>
  requires requires { typename X::tt_expression; }
Array<T, E...>& Array<T, E...>::operator=(const X& x) {
  if constexpr (detail::is_assignable<Array, X>()) {
    using Evaluation = detail::Evaluation<X, Array, Isa>;
    detail::KeptMemory kept;
    if (!Evaluation::reads_first && has_elements()) kept = {data(), size() * static_cast<std::int64_t>(sizeof(T))};
    Evaluation e(x, kept);
    if constexpr (Evaluation::is_dynamic) {
      detail::evaluate_into(*this, Evaluation::program(), e.list.external, e.list.extent, e.list.clashes);
    } else if constexpr (is_inline && Evaluation::reads_first) {
      e.run(data());
    } else if constexpr (is_inline) {  // one call, which the compiler may inline into this function
      Array result(Uninitialized{});
      e.run(e.list.clashes ? result.data() : data());
      if (e.list.clashes) *this = result;
    } else {
      bool fits = has_elements();
      std::int64_t given[max_rank] = {};
      Evaluation::constant_extents(given);
      if constexpr (!is_static)
        for (int k = 0; k < rank; ++k) fits = fits && extent(k) == given[k];
      if (fits && !e.list.clashes) {
        e.run(data());
      } else {
        Array result(Uninitialized{}, given);
        e.run(result.data());
        *this = static_cast<Array&&>(result);
      }
    }
  }
  return *this;
}

template <class T, std::int64_t... E>
template <class X, class Isa>
  requires(ArrayOperand<X> && !std::is_arithmetic_v<X>)
const ArrayView<T, E...>& ArrayView<T, E...>::operator=(const X& x) const {
  static_assert(!std::is_const_v<T>, "tt: an ArrayView of const elements is for reading");
  if constexpr (std::is_const_v<T>) return *this;
  else if constexpr (!requires { typename X::tt_expression; }) {
    if constexpr (detail::types_fit<Array, X>()) copy_from(x);
  } else if constexpr (detail::is_assignable<ArrayView, X>()) {
    using Evaluation = detail::Evaluation<X, ArrayView, Isa>;
    detail::KeptMemory kept;
    if (!Evaluation::reads_first) kept = {data_, size() * static_cast<std::int64_t>(sizeof(T))};
    Evaluation e(x, kept);
    SymbolValues values = no_symbols;
    std::int64_t needed[rank + 1], given[max_rank] = {};
    for (int k = 0; k < rank; ++k) needed[k] = extent(k);
    if constexpr (Evaluation::is_dynamic) Evaluation::program().bind(e.list.extent, values, given);
    else Evaluation::constant_extents(given);
    detail::check_extents(needed, given, rank);
    const auto run = [&](void* out) {
      if constexpr (Evaluation::is_dynamic) {
        e.list.external[e.list.count] = out;
        Evaluation::program().run(e.list.external, values);
      } else e.run(out);
    };
    if (e.list.clashes) {
      Array result(Uninitialized{}, given);
      run(result.data());
      *this = result;
    } else run(data_);
  }
  return *this;
}

template <class T, std::int64_t... E>
template <class X, class Isa>
  requires ArrayOperand<X>
Array<T, E...>& Array<T, E...>::operator+=(const X& x) { return *this = *this + x; }
template <class T, std::int64_t... E>
template <class X, class Isa>
  requires ArrayOperand<X>
Array<T, E...>& Array<T, E...>::operator-=(const X& x) { return *this = *this - x; }
template <class T, std::int64_t... E>
template <class X, class Isa>
  requires ArrayOperand<X>
Array<T, E...>& Array<T, E...>::operator*=(const X& x) { return *this = *this * x; }
template <class T, std::int64_t... E>
template <class X, class Isa>
  requires ArrayOperand<X>
Array<T, E...>& Array<T, E...>::operator/=(const X& x) { return *this = *this / x; }

}  // namespace tt
