// Element types: their names, sizes and promotion (PyTorch's rules for the types tt has).
//   promote(DType::i32, DType::f32) is DType::f32;  name(DType::f32) is "f32"
#pragma once
#include <cstdint>

namespace tt {

enum class DType : std::uint8_t { boolean, i32, i64, f32, f64 };
inline constexpr int dtype_count = 5;

constexpr const char* name(DType dtype) {
  constexpr const char* names[dtype_count] = {"bool", "i32", "i64", "f32", "f64"};
  return names[static_cast<int>(dtype)];
}
constexpr int size_of(DType dtype) {
  constexpr int sizes[dtype_count] = {1, 4, 8, 4, 8};
  return sizes[static_cast<int>(dtype)];
}
constexpr bool is_floating(DType dtype) { return dtype >= DType::f32; }
constexpr bool is_integral(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

/// The type in which two Arrays of these types are combined.
constexpr DType promote(DType a, DType b) { return a > b ? a : b; }

/// The type of a number literal beside an operand: a literal never widens within its category
/// (bool < integer < floating); a floating literal beside an integer gives the default f32.
constexpr DType promote_literal(DType operand, DType literal) {
  if (is_floating(operand)) return operand;
  if (is_floating(literal)) return DType::f32;
  if (operand == DType::boolean) return literal;
  return operand;
}
static_assert(promote(DType::boolean, DType::i64) == DType::i64);
static_assert(promote(DType::i64, DType::f32) == DType::f32);
static_assert(promote_literal(DType::f32, DType::f64) == DType::f32);
static_assert(promote_literal(DType::i32, DType::f64) == DType::f32);

template <class T>
struct dtype_of_t;
template <>
struct dtype_of_t<bool> { static constexpr DType value = DType::boolean; };
template <>
struct dtype_of_t<std::int32_t> { static constexpr DType value = DType::i32; };
template <>
struct dtype_of_t<std::int64_t> { static constexpr DType value = DType::i64; };
template <>
struct dtype_of_t<long long> { static constexpr DType value = DType::i64; };
template <>
struct dtype_of_t<float> { static constexpr DType value = DType::f32; };
template <>
struct dtype_of_t<double> { static constexpr DType value = DType::f64; };

template <class T>
inline constexpr DType dtype_of = dtype_of_t<T>::value;

template <class T>
concept Element = requires { dtype_of_t<T>::value; };

namespace detail {
template <DType>
struct element_of;
template <>
struct element_of<DType::boolean> { using type = bool; };
template <>
struct element_of<DType::i32> { using type = std::int32_t; };
template <>
struct element_of<DType::i64> { using type = std::int64_t; };
template <>
struct element_of<DType::f32> { using type = float; };
template <>
struct element_of<DType::f64> { using type = double; };
}  // namespace detail

/// The C++ type of a dtype.
template <DType D>
using element_t = typename detail::element_of<D>::type;

/// As of std::numeric_limits, which clang warns of wherever it meets -ffast-math.
template <class T>
inline constexpr T infinity = T(__builtin_huge_val());

/// f(T{}) with the C++ type of a dtype.
template <class F>
decltype(auto) with_dtype(DType d, F f) {
  switch (d) {
    case DType::boolean: return f(bool{});
    case DType::i32: return f(std::int32_t{});
    case DType::i64: return f(std::int64_t{});
    case DType::f32: return f(float{});
    case DType::f64: break;
  }
  return f(double{});
}

}  // namespace tt
