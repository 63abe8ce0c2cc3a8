// ArrayView: dense row-major elements in memory that it does not own (of a Tensor, tt::as_array; of a vector; of a driver's buffer), with the shape
// in the type, like an Array. It is an operand, an argument of fused functions, and a target of assignment.
//   tt::ArrayView<float, 4, 4> m(pointer);   m = m * 0.5 + b;         // written to that memory
//   tt::ArrayView<const float, tt::dyn, 3> points(data, n);           // for reading
// A copy refers to the same elements, and assignment writes elements, as with Eigen::Map. The memory must outlive the view and expressions of it.
#pragma once
#include "tt/core/array.hpp"

namespace tt {

TT_DEBUG_BEGIN

/// Elements at a pointer, E... extents, of which tt::dyn are given at run time.
template <class T, std::int64_t... E>
class ArrayView {
  static_assert(Element<std::remove_const_t<T>>, "tt: ArrayView elements are those of Arrays");
  static_assert(sizeof...(E) <= max_rank, "tt: ArrayView has too many axes");
  static_assert(((E >= 0 || E == dyn) && ...), "tt: an extent is a number or tt::dyn");

 public:
  using tt_front = ArrayFront;
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  using Array = tt::Array<value_type, E...>;
  using Extents = extents<E...>;
  static constexpr int rank = sizeof...(E);
  static constexpr DType dtype = dtype_of<value_type>;
  static constexpr bool is_static = Extents::dynamic_count == 0, is_padded = false;

  /// The dynamic extents, in order. Throws Error where one is negative.
  template <std::integral... N>
    requires(sizeof...(N) == static_cast<unsigned>(Extents::dynamic_count))
  explicit ArrayView(T* data, N... extent) : data_(data), extents_(extent...) {}
  /// The extents of a Shape of run time, whose constant extents must be those of the type.
  ArrayView(T* data, const Shape& shape) : data_(data) { extents_.set(shape.code); }
  /// A view of all the elements of an Array.
  explicit ArrayView(std::conditional_t<std::is_const_v<T>, const Array, Array>& a TT_LIFETIMEBOUND) : ArrayView(a.data(), a.shape()) {}
  explicit ArrayView(const Array&&) = delete;  // its elements end before the view
  /// A read-only view of the elements of a writable one.
  template <class U>
    requires(std::is_const_v<T> && std::is_same_v<U, value_type>)
  ArrayView(const ArrayView<U, E...>& o) : ArrayView(o.data(), o.shape()) {}
  ArrayView(const ArrayView& o) = default;
  /// Copies the elements of a view of equal extents; throws Error where they differ.
  const ArrayView& operator=(const ArrayView& o) const {
    copy_from(o);
    return *this;
  }
  ArrayView& operator=(const ArrayView& o) {
    copy_from(o);
    return *this;
  }
  /// Writes an Array or the value of an expression; other extents are an Error. Defined in expr/assign.hpp.
  template <class X, class Isa = IsaTag>
    requires(ArrayOperand<X> && !std::is_arithmetic_v<X>)
  const ArrayView& operator=(const X& x) const;
  template <class X, class Isa = IsaTag>
    requires ArrayOperand<X>
  const ArrayView& operator+=(const X& x) const { return *this = *this + x; }
  template <class X, class Isa = IsaTag>
    requires ArrayOperand<X>
  const ArrayView& operator-=(const X& x) const { return *this = *this - x; }
  template <class X, class Isa = IsaTag>
    requires ArrayOperand<X>
  const ArrayView& operator*=(const X& x) const { return *this = *this * x; }
  template <class X, class Isa = IsaTag>
    requires ArrayOperand<X>
  const ArrayView& operator/=(const X& x) const { return *this = *this / x; }

  std::int64_t extent(int axis) const { return extents_[axis]; }
  std::int64_t dynamic_extent(int k) const { return extents_.dynamic_extent(k); }
  std::int64_t size() const { return extents_.size(); }
  Shape shape() const { return extents_.shape(); }
  T* data() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size(); }
  /// One element; the indices are checked in every build, a negative one counts from the end.
  template <std::integral... I>
  T& operator()(I... index) const {
    return data_[extents_.offset(index...)];
  }
  /// A copy.
  Array eval() const {
    Array a(Uninitialized{}, shape().code);
    if (size() > 0) std::memcpy(a.data(), data_, static_cast<std::size_t>(size()) * sizeof(T));
    return a;
  }
  operator Array() const { return eval(); }

 private:
  /// Copies the elements of an Array or a view.
  template <class A>
  void copy_from(const A& a) const {
    static_assert(!std::is_const_v<T>, "tt: an ArrayView of const elements is for reading");
    if constexpr (!std::is_const_v<T>) {
      for (int k = 0; k < rank; ++k)
        if (a.extent(k) != extent(k)) detail::assigned_shape_differs(a.shape(), shape());
      if (size() > 0) std::memmove(data_, a.data(), static_cast<std::size_t>(size()) * sizeof(T));
    }
  }

  T* data_;
  [[no_unique_address]] detail::ArrayExtents<E...> extents_;
};

TT_DEBUG_END

}  // namespace tt
