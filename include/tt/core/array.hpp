// Array: the value type with its shape in its type. Dense and row-major.
//   tt::Array<float, 2, 3> a{{1, 2, 3}, {4, 5, 6}};   a(1, 2) is 6
//   tt::Array<float, tt::dyn, 3> b(10);               // 10 x 3, known at run time
// Static extents up to 1 KiB are stored in place, others on the heap.
#pragma once
#include <span>
#include <type_traits>
#include <utility>

#include "tt/core/lifetime.hpp"
#include "tt/core/storage.hpp"

namespace tt {

/// An extent that is known only at run time.
inline constexpr std::int64_t dyn = -1;

template <std::int64_t... E>
struct extents {
  static constexpr int rank = sizeof...(E);
  static constexpr std::int64_t value[rank > 0 ? rank : 1] = {E...};
  static constexpr int dynamic_count = (0 + ... + (E == dyn ? 1 : 0));
};

struct ArrayFront;
TT_DEBUG_BEGIN
template <class T, std::int64_t... E>
class Array;
TT_DEBUG_END

/// An operand beside an Array: a number, or a value of the library.
template <class X>
concept ArrayOperand = std::is_arithmetic_v<X> || requires { typename X::tt_front; };

inline constexpr std::size_t inline_bytes = 1024;

/// Tag: the elements are not initialised, as they are about to be overwritten.
struct Uninitialized {};

namespace detail {

template <class T, int Rank>
struct nested_list {
  using type = std::initializer_list<typename nested_list<T, Rank - 1>::type>;
};
template <class T>
struct nested_list<T, 0> {
  using type = T;
};

/// Is such an Array stored in the object itself, without a padded end?
template <class T, std::int64_t... E>
inline constexpr bool stored_inline =
    ((E != dyn) && ...) && (std::size_t{1} * ... * static_cast<std::size_t>(E < 0 ? 0 : E)) *
                                   sizeof(T) <= inline_bytes;

/// The same for a dtype and a shape; a shape with symbols is not.
constexpr bool is_stored_inline(DType dtype, const Shape& shape) {
  const Extent n = shape.size();
  return n.is_constant() && static_cast<std::size_t>(n.code * size_of(dtype)) <= inline_bytes;
}

[[noreturn]] TT_NOINLINE inline void index_out_of_range(std::int64_t i, int axis,
                                                        const Shape& shape) {
  TT_THROW(Error(Text("tt::Array: index is out of range: ")
                 << i << " for axis " << axis << " of " << shape << "."));
}

[[noreturn]] TT_NOINLINE inline void assigned_shape_differs(const Shape& given, const Shape& needed) {
  TT_THROW(Error(Text("tt::Array: shapes differ: ") << given << " is assigned to " << needed << "."));
}

[[noreturn]] TT_NOINLINE inline void elements_moved_away(const Shape& shape) {
  TT_THROW(Error(Text("tt::Array: the elements were moved away: of an Array of shape ") << shape << ". Assign to it first?"));
}

template <int Count>
struct DynamicExtents {
  std::int64_t value[Count] = {};
  DynamicExtents() = default;
  explicit DynamicExtents(std::initializer_list<std::int64_t> given) {
    int k = 0;
    for (std::int64_t n : given) value[k++] = n;
  }
  DynamicExtents(const DynamicExtents&) = default;
  DynamicExtents& operator=(const DynamicExtents&) = default;
  // Extents move with the elements: an Array that was moved from has extents of 0.
  DynamicExtents(DynamicExtents&& o) noexcept { std::swap(value, o.value); }
  DynamicExtents& operator=(DynamicExtents&& o) noexcept {
    std::swap(value, o.value);
    return *this;
  }
};
template <>
struct DynamicExtents<0> {};

/// Extents of an Array or a view of one: static ones in the type, dynamic ones in the order of their axes.
template <std::int64_t... E>
struct ArrayExtents {
  using Extents = extents<E...>;
  static constexpr int rank = sizeof...(E), dynamic_count = Extents::dynamic_count;

  [[no_unique_address]] DynamicExtents<dynamic_count> dynamic;

  ArrayExtents() = default;
  template <std::integral... N>
    requires(sizeof...(N) == static_cast<unsigned>(dynamic_count) && sizeof...(N) > 0)
  explicit ArrayExtents(N... extent) : dynamic({static_cast<std::int64_t>(extent)...}) {
    for (std::int64_t n : dynamic.value)
      if (n < 0) TT_THROW(Error(Text("tt::Array: negative extent: ") << n << "."));
  }
  /// Takes the dynamic extents from the extents of all axes.
  void set(const std::int64_t* given) {
    if constexpr (dynamic_count > 0) {
      int d = 0;
      for (int k = 0; k < rank; ++k)
        if (Extents::value[k] == dyn) dynamic.value[d++] = given[k];
    }
  }
  std::int64_t dynamic_extent([[maybe_unused]] int k) const {
    if constexpr (dynamic_count > 0) return dynamic.value[k];
    else return 0;
  }
  std::int64_t operator[](int axis) const {
    if constexpr (dynamic_count > 0) {
      int d = 0;
      for (int k = 0; k < axis; ++k) d += Extents::value[k] == dyn;
      if (Extents::value[axis] == dyn) return dynamic.value[d];
    }
    return Extents::value[axis];
  }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= (*this)[k];
    return n;
  }
  Shape shape() const {
    Shape s;
    for (int k = 0; k < rank; ++k) s.push_back((*this)[k]);
    return s;
  }
  /// Offset of an element, row-major; a negative index counts from the end.
  template <std::integral... I>
  std::int64_t offset(I... index) const {
    constexpr bool as_many = sizeof...(I) == static_cast<unsigned>(rank);
    static_assert(as_many, "tt: an Array takes one index for each of its axes");
    std::int64_t o = 0;
    if constexpr (as_many) {
      const std::int64_t at[] = {static_cast<std::int64_t>(index)..., 0};
      for (int k = 0; k < rank; ++k) {
        const std::int64_t n = (*this)[k], i = at[k] < 0 ? at[k] + n : at[k];
        if (i < 0 || i >= n) index_out_of_range(at[k], k, shape());
        o = o * n + i;
      }
    }
    return o;
  }
};

template <class T, bool Inline, std::size_t Size>
struct ArrayStorage {
  T* data = nullptr;
  std::int64_t capacity = 0;

  ArrayStorage() = default;
  ArrayStorage(ArrayStorage&& o) noexcept
      : data(std::exchange(o.data, nullptr)), capacity(std::exchange(o.capacity, 0)) {}
  ArrayStorage(const ArrayStorage& o) {
    if (o.data) allocate({o.capacity});  // else the elements of `o` were moved away, and the copy has none either
    if (capacity) std::memcpy(data, o.data, static_cast<std::size_t>(capacity) * sizeof(T));
  }
  ArrayStorage& operator=(ArrayStorage&& o) noexcept {
    std::swap(data, o.data);
    std::swap(capacity, o.capacity);
    return *this;
  }
  ArrayStorage& operator=(const ArrayStorage& o) {
    if (this == &o) return *this;
    if (capacity != o.capacity) *this = ArrayStorage(o);
    else if (capacity) std::memcpy(data, o.data, static_cast<std::size_t>(capacity) * sizeof(T));
    return *this;
  }
  ~ArrayStorage() { free_bytes(data); }
  void allocate(const Shape& shape) {
    data = static_cast<T*>(allocate_elements("tt::Array", dtype_of<T>, shape));
    capacity = shape.size().code;
  }
  T* begin() { return data; }
  const T* begin() const { return data; }
};
template <class T>
struct ArrayStorage<T, true, 0> {
  T data[1] = {};
  void allocate(const Shape&) {}
  constexpr T* begin() { return data; }
  constexpr const T* begin() const { return data; }
};
template <class T, std::size_t Size>
struct ArrayStorage<T, true, Size> {
  alignas(Size * sizeof(T) >= 64 ? 64 : alignof(T)) T data[Size];
  void allocate(const Shape&) {}
  constexpr T* begin() { return data; }
  constexpr const T* begin() const { return data; }
};

/// Extents of an Array type as messages show them: (any, 128).
TT_NOINLINE inline Text declared_shape(const std::int64_t* extent, int rank) {
  Text t("(");
  for (int k = 0; k < rank; ++k) {
    t << (k ? ", " : "");
    if (extent[k] == dyn) t << "any";
    else t << extent[k];
  }
  return t << (rank == 1 ? ",)" : ")");
}

}  // namespace detail

TT_DEBUG_BEGIN

template <class T, std::int64_t... E>
class Array {
  static_assert(Element<T>, "tt: Array elements are bool, int8, uint8, int16, int32, int64, tt::float16, tt::bfloat16, float or double");
  static_assert(sizeof...(E) <= max_rank, "tt: Array has too many axes");
  static_assert(((E >= 0 || E == dyn) && ...), "tt: an extent is a number or tt::dyn");
  static_assert(sizeof...(E) > max_rank || is_countable(Shape{Extent(E < 0 ? 1 : E)...}),
                "tt: an Array of this shape has more elements than memory can hold");

 public:
  using tt_front = ArrayFront;
  using value_type = T;
  using Extents = extents<E...>;
  static constexpr int rank = sizeof...(E);
  static constexpr DType dtype = dtype_of<T>;
  static constexpr bool is_static = Extents::dynamic_count == 0;
  static constexpr bool is_inline = detail::stored_inline<T, E...>;
  /// Kernels may write up to one step beyond the last element.
  static constexpr bool is_padded = !is_inline;

  /// All zero. Dynamic extents are 0 until given.
  Array() : Array(Uninitialized{}) { set_zero(); }
  explicit Array(Uninitialized)
    requires is_static
  {
    storage_.allocate(shape());
  }
  Array(Uninitialized, const std::int64_t* given) { allocate(given); }
  explicit Array(Uninitialized)
    requires(!is_static)
  {
    storage_.allocate({0});
  }
  /// The dynamic extents, in order; all elements zero.
  template <std::integral... N>
    requires(sizeof...(N) == static_cast<unsigned>(Extents::dynamic_count) && sizeof...(N) > 0)
  explicit Array(N... extent) : extents_(extent...) {
    storage_.allocate(shape());
    set_zero();
  }
  /// Nested braces; every row must have the same length, for static extents the declared one.
  Array(typename detail::nested_list<T, rank>::type values)
    requires(rank > 0)
  {
    std::int64_t found[rank > 0 ? rank : 1];
    for (std::int64_t& n : found) n = -1;
    measure<0>(values, found);
    for (std::int64_t& n : found) n = n < 0 ? 0 : n;
    extents_.set(found);
    storage_.allocate(shape());
    T* out = data();
    fill<0>(values, out);
  }
  /// A scalar.
  Array(T value)
    requires(rank == 0)
  {
    *data() = value;
  }
  /// The elements of a span in row-major order; its size must be right.
  static Array from(std::span<const T> values)
    requires is_static
  {
    Array a(Uninitialized{});
    a.assign(values);
    return a;
  }
  template <std::integral... N>
    requires(!is_static && sizeof...(N) == static_cast<unsigned>(Extents::dynamic_count))
  static Array from(std::span<const T> values, N... extent) {
    Array a(extent...);
    a.assign(values);
    return a;
  }
  /// full: every element is `value`. eye: 1 where row and column are equal, elsewhere 0. Both take the dynamic extents.
  template <std::integral... N>
    requires(sizeof...(N) == static_cast<unsigned>(Extents::dynamic_count))
  static Array full(T value, N... extent) {
    Array a(extent...);
    for (T& x : a) x = value;
    return a;
  }
  template <std::integral... N>
    requires(rank == 2 && sizeof...(N) == static_cast<unsigned>(Extents::dynamic_count))
  static Array eye(N... extent) {
    Array a(extent...);
    for (std::int64_t i = 0; i < a.extent(0) && i < a.extent(1); ++i) a.data()[i * a.extent(1) + i] = T(1);
    return a;
  }
  void assign(std::span<const T> values) {
    if (static_cast<std::int64_t>(values.size()) != size())
      TT_THROW(Error(Text("tt::Array::from: numbers of elements differ: ")
                     << values.size() << " given, " << size() << " in " << shape() << "."));
    if (size()) std::memcpy(data(), values.data(), values.size_bytes());
  }

  /// A copy of an Array whose type has other extents, each known at compile time on one side only. Throws Error where
  /// extents differ.
  template <class U, std::int64_t... F>
    requires(sizeof...(E) + sizeof...(F) > 0)
  Array(const Array<U, F...>& other);

  // From expressions; these are defined in expr/assign.hpp.
  template <class X, class Isa = IsaTag>
    requires requires { typename X::tt_expression; }
  Array(const X& expression);
  template <class X, class Isa = IsaTag>
    requires requires { typename X::tt_expression; }
  Array& operator=(const X& expression);
  template <class X, class Isa = IsaTag>
    requires ArrayOperand<X>
  Array& operator+=(const X& x);
  template <class X, class Isa = IsaTag>
    requires ArrayOperand<X>
  Array& operator-=(const X& x);
  template <class X, class Isa = IsaTag>
    requires ArrayOperand<X>
  Array& operator*=(const X& x);
  template <class X, class Isa = IsaTag>
    requires ArrayOperand<X>
  Array& operator/=(const X& x);

  std::int64_t extent(int axis) const { return extents_[axis]; }
  /// The k-th dynamic extent.
  std::int64_t dynamic_extent(int k) const { return extents_.dynamic_extent(k); }
  std::int64_t size() const { return extents_.size(); }
  Shape shape() const { return extents_.shape(); }
  /// Throws Error if the elements were moved away.
  T* data() TT_LIFETIMEBOUND {
    check_there();
    return storage_.begin();
  }
  const T* data() const TT_LIFETIMEBOUND {
    check_there();
    return storage_.begin();
  }
  /// False of an Array of static extents whose elements were moved away.
  bool has_elements() const {
    if constexpr (is_static && !is_inline) return storage_.begin() != nullptr;
    else return true;
  }
  T* begin() TT_LIFETIMEBOUND { return data(); }
  T* end() TT_LIFETIMEBOUND { return data() + size(); }
  const T* begin() const TT_LIFETIMEBOUND { return data(); }
  const T* end() const TT_LIFETIMEBOUND { return data() + size(); }

  /// One element; the indices are checked in every build, a negative one counts from the end.
  template <std::integral... I>
  T& operator()(I... index) TT_LIFETIMEBOUND {
    return data()[extents_.offset(index...)];
  }
  template <std::integral... I>
  const T& operator()(I... index) const TT_LIFETIMEBOUND {
    return data()[extents_.offset(index...)];
  }
  /// Read by expressions that refer to this Array.
  constexpr const detail::Lifetime& lifetime() const { return lifetime_; }
  operator T() const
    requires(rank == 0)
  {
    return *data();
  }
  T item() const {
    if (size() != 1)
      TT_THROW(Error(Text("tt::item: an Array of one element is needed, not ") << shape() << "."));
    return *data();
  }

 private:
  static constexpr std::size_t static_size =
      (std::size_t{1} * ... * static_cast<std::size_t>(E < 0 ? 0 : E));

  void check_there() const {
    if (!has_elements()) [[unlikely]] detail::elements_moved_away(shape());
  }
  void set_zero() {
    for (T& x : *this) x = T(0);
  }
  void allocate(const std::int64_t* given) {
    extents_.set(given);
    storage_.allocate(shape());
  }
  /// The lengths of nested braces; -1 for an axis not yet seen.
  template <int Axis, class L>
  static void measure(const L& list, std::int64_t* shape) {
    const std::int64_t n = static_cast<std::int64_t>(list.size());
    if (Extents::value[Axis] != dyn && Extents::value[Axis] != n)
      TT_THROW(Error(Text("tt::Array: wrong number of values in braces: ")
                     << n << " given, " << Extents::value[Axis] << " needed along axis " << Axis
                     << "."));
    if (shape[Axis] >= 0 && shape[Axis] != n)
      TT_THROW(Error(Text("tt::Array: rows in braces differ in length: ")
                     << shape[Axis] << " and " << n << " along axis " << Axis << "."));
    shape[Axis] = n;
    if constexpr (Axis + 1 < rank)
      for (const auto& row : list) measure<Axis + 1>(row, shape);
  }
  template <int Axis, class L>
  static void fill(const L& list, T*& out) {
    for (const auto& x : list) {
      if constexpr (Axis + 1 < rank) fill<Axis + 1>(x, out);
      else *out++ = x;
    }
  }

  [[no_unique_address]] detail::ArrayStorage<T, is_inline, static_size> storage_;
  [[no_unique_address]] detail::ArrayExtents<E...> extents_;
  [[no_unique_address]] detail::Lifetime lifetime_;
};

TT_DEBUG_END

}  // namespace tt
