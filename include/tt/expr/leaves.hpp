// Operands at the leaves of an expression: a reference to a named Array (with TT_DEBUG its lifetime is checked), an owned temporary, a view, or a scalar.
#pragma once
#include "tt/core/array_view.hpp"

namespace tt::detail {

[[noreturn]] TT_NOINLINE inline void operand_has_ended(DType dtype, const std::int64_t* extent, int rank) {
  TT_THROW(Error(Text("tt: an operand of this expression has ended: an Array of ")
                 << name(dtype) << ' ' << declared_shape(extent, rank)
                 << ". Keep it alive, evaluate the expression earlier with tt::eval, or take "
                    "parameters by const auto&."));
}
[[noreturn]] TT_NOINLINE inline void operand_was_moved(DType dtype, const std::int64_t* extent, int rank) {
  TT_THROW(Error(Text("tt: an operand of this expression was moved from: an Array of ")
                 << name(dtype) << ' ' << declared_shape(extent, rank)
                 << ". Assign to it, or evaluate the expression earlier with tt::eval."));
}

template <class A>
struct ArrayLeaf;  // a reference, or an owned temporary
template <class T, std::int64_t... E>
struct ArrayLeaf<const Array<T, E...>&> {
  static constexpr DType dtype = dtype_of<T>;
  using Extents = extents<E...>;
  const Array<T, E...>* array;
  [[no_unique_address]] Witness witness;

  explicit constexpr ArrayLeaf(const Array<T, E...>& a) : array(&a), witness(a.lifetime()) {}
  const Array<T, E...>& get() const {
    if constexpr (TT_DEBUG) {
      if (witness.ended()) operand_has_ended(dtype, Extents::value, Extents::rank);
    }
    if (!array->has_elements()) operand_was_moved(dtype, Extents::value, Extents::rank);
    return *array;
  }
};
template <class T, std::int64_t... E>
struct ArrayLeaf<Array<T, E...>> {
  static constexpr DType dtype = dtype_of<T>;
  using Extents = extents<E...>;
  Array<T, E...> array;

  explicit constexpr ArrayLeaf(Array<T, E...>&& a) : array(static_cast<Array<T, E...>&&>(a)) {}
  const Array<T, E...>& get() const { return array; }
};
template <class T, std::int64_t... E>
struct ArrayLeaf<ArrayView<T, E...>> {
  static constexpr DType dtype = ArrayView<T, E...>::dtype;
  using Extents = extents<E...>;
  ArrayView<T, E...> view;

  explicit constexpr ArrayLeaf(const ArrayView<T, E...>& v) : view(v) {}
  const ArrayView<T, E...>& get() const { return view; }
};
template <class T>
struct ScalarLeaf {
  static constexpr DType dtype = dtype_of<T>;
  using Extents = extents<>;
  compute_t<T> value;  ///< beside narrow values a scalar is not rounded to their dtype before use

  template <class A>
  explicit constexpr ScalarLeaf(A a) : value(static_cast<compute_t<T>>(a)) {}
};

}  // namespace tt::detail
