// Element types: their names, sizes, promotion (PyTorch's table) and conversions. Narrow ones (f16, bf16, u8, i8, i16) are for
// storage: ops compute in their compute dtype, and round once an op.
//   promote(DType::i32, DType::f32) is DType::f32;  name(DType::bf16) is "bf16";  compute_dtype(DType::i8) is DType::i32
// A new dtype is added to DType, `dtypes`, `promotion` and below that to the C++ types and with_dtype; if it is narrow, with a
// NarrowLanes<T> (core/narrow.hpp); and to the registers of static kernels (static_step.hpp of backends/cpu and backends/cuda).
#pragma once
#include "tt/core/narrow.hpp"

namespace tt {

/// The compute dtypes come first.
enum class DType : std::uint8_t { boolean, i32, i64, f32, f64, f16, bf16, u8, i8, i16 };
// libtorch's names.
inline constexpr DType kBool = DType::boolean, kInt = DType::i32, kInt32 = DType::i32, kLong = DType::i64, kInt64 = DType::i64, kFloat = DType::f32, kFloat32 = DType::f32,
                       kDouble = DType::f64, kFloat64 = DType::f64, kHalf = DType::f16, kFloat16 = DType::f16, kBFloat16 = DType::bf16, kByte = DType::u8, kUInt8 = DType::u8,
                       kChar = DType::i8, kInt8 = DType::i8, kShort = DType::i16, kInt16 = DType::i16;
inline constexpr int dtype_count = 10;
inline constexpr int compute_dtype_count = 5;

struct DTypeInfo {
  const char* name;     ///< also in the text of graphs and in archives
  const char* c_type;   ///< in emitted text, whose preludes define u8, i8, i16, u16; 16-bit floats are stored as their bits
  int size;             ///< bytes
  DType computed_in;
  const char* npy;      ///< in NumPy's files; bf16 as ml_dtypes writes it
};
inline constexpr DTypeInfo dtypes[dtype_count] = {
    {"bool", "u8", 1, DType::boolean, "|b1"},
    {"i32", "int", 4, DType::i32, "<i4"},
    {"i64", "long long", 8, DType::i64, "<i8"},
    {"f32", "float", 4, DType::f32, "<f4"},
    {"f64", "double", 8, DType::f64, "<f8"},
    {"f16", "u16", 2, DType::f32, "<f2"},
    {"bf16", "u16", 2, DType::f32, "<V2"},
    {"u8", "u8", 1, DType::i32, "|u1"},
    {"i8", "i8", 1, DType::i32, "|i1"},
    {"i16", "i16", 2, DType::i32, "<i2"},
};

constexpr const char* name(DType dtype) { return dtypes[static_cast<int>(dtype)].name; }
constexpr int size_of(DType dtype) { return dtypes[static_cast<int>(dtype)].size; }
constexpr bool is_narrow(DType dtype) { return dtype > DType::f64; }
constexpr DType compute_dtype(DType dtype) { return dtypes[static_cast<int>(dtype)].computed_in; }
constexpr bool is_floating(DType dtype) { return dtype >= DType::f32 && dtype <= DType::bf16; }
constexpr bool is_integral(DType dtype) { return dtype != DType::boolean && !is_floating(dtype); }
constexpr bool is_narrow_float(DType dtype) { return is_narrow(dtype) && is_floating(dtype); }
constexpr bool is_signed(DType dtype) { return dtype != DType::boolean && dtype != DType::u8; }

/// Can a dtype hold a whole number? Floats round. A negative number stands in an unsigned dtype for its sum with
/// 2^bits, as in C++ and PyTorch: -1 of u8 is 255.
constexpr bool holds(DType dtype, std::int64_t x) {
  if (!is_integral(dtype)) return true;
  const int digits = 8 * size_of(dtype) - (is_signed(dtype) ? 1 : 0);
  return digits == 63 || x >> digits == 0 || (is_signed(dtype) ? x >> digits == -1 : x < 0 && x > -(std::int64_t{1} << digits));
}

/// The same for a number that integers truncate to a whole one; of the negative numbers only whole ones stand for others. Floats hold no finite number beyond
/// their largest one.
constexpr bool holds(DType dtype, double x) {
  if (dtype == DType::f64 || dtype == DType::boolean || (!is_integral(dtype) && (x != x || x - x != 0))) return true;
  if (!is_integral(dtype)) {
    const double most = dtype == DType::f16 ? 65504 : dtype == DType::bf16 ? 0x1.fep127 : 0x1.fffffep127;
    return x >= -most && x <= most;
  }
  if (!(x >= -0x1p63 && x < 0x1p63)) return false;
  const auto whole = static_cast<std::int64_t>(x);
  return holds(dtype, whole) && (x >= 0 || is_signed(dtype) || static_cast<double>(whole) == x);
}

namespace detail {
struct Promotion {
  DType of[dtype_count][dtype_count];
};
constexpr Promotion promotion_table() {
  using enum DType;
  return {{{boolean, i32, i64, f32, f64, f16, bf16, u8, i8, i16},
           {i32, i32, i64, f32, f64, f16, bf16, i32, i32, i32},
           {i64, i64, i64, f32, f64, f16, bf16, i64, i64, i64},
           {f32, f32, f32, f32, f64, f32, f32, f32, f32, f32},
           {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64},
           {f16, f16, f16, f32, f64, f16, f32, f16, f16, f16},
           {bf16, bf16, bf16, f32, f64, f32, bf16, bf16, bf16, bf16},
           {u8, i32, i64, f32, f64, f16, bf16, u8, i16, i16},
           {i8, i32, i64, f32, f64, f16, bf16, i16, i8, i16},
           {i16, i32, i64, f32, f64, f16, bf16, i16, i16, i16}}};
}
inline constexpr Promotion promotion = promotion_table();
constexpr bool is_symmetric(const Promotion& p) {
  for (int a = 0; a < dtype_count; ++a)
    for (int b = 0; b < dtype_count; ++b)
      if (p.of[a][b] != p.of[b][a] || (a == b && p.of[a][b] != static_cast<DType>(a))) return false;
  return true;
}
static_assert(is_symmetric(promotion));
}  // namespace detail

/// The dtype in which two Arrays of these dtypes are combined: torch.promote_types.
constexpr DType promote(DType a, DType b) { return a == b ? a : detail::promotion.of[static_cast<int>(a)][static_cast<int>(b)]; }

/// bool, integers, floating numbers: a result is never written to a lower category.
constexpr int category(DType d) { return d == DType::boolean ? 0 : is_integral(d) ? 1 : 2; }

/// The dtype of operands with axes combined with that of operands without (boolean: there are none): the former decides
/// within its category, as in torch.result_type.
constexpr DType combined_dtype(DType with_axes, DType single) { return category(single) > category(with_axes) ? promote(with_axes, single) : with_axes; }

/// The type of a number literal beside an operand: a literal never widens within its category
/// (bool < integer < floating); a floating literal beside an integer gives the default f32.
constexpr DType promote_literal(DType operand, DType literal) {
  if (is_floating(operand)) return operand;
  if (is_floating(literal)) return DType::f32;
  if (operand == DType::boolean) return literal;
  return operand;
}
static_assert(promote_literal(DType::f32, DType::f64) == DType::f32);
static_assert(promote_literal(DType::i32, DType::f64) == DType::f32);
static_assert(promote_literal(DType::bf16, DType::f64) == DType::bf16);

namespace detail {
template <DType>
struct element_of;
template <>
struct element_of<DType::boolean> : std::type_identity<bool> {};
template <>
struct element_of<DType::i32> : std::type_identity<std::int32_t> {};
template <>
struct element_of<DType::i64> : std::type_identity<std::int64_t> {};
template <>
struct element_of<DType::f32> : std::type_identity<float> {};
template <>
struct element_of<DType::f64> : std::type_identity<double> {};
template <>
struct element_of<DType::f16> : std::type_identity<float16> {};
template <>
struct element_of<DType::bf16> : std::type_identity<bfloat16> {};
template <>
struct element_of<DType::u8> : std::type_identity<std::uint8_t> {};
template <>
struct element_of<DType::i8> : std::type_identity<std::int8_t> {};
template <>
struct element_of<DType::i16> : std::type_identity<std::int16_t> {};
}  // namespace detail

/// The C++ type of a dtype.
template <DType D>
using element_t = typename detail::element_of<D>::type;

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
template <>
struct dtype_of_t<float16> { static constexpr DType value = DType::f16; };
template <>
struct dtype_of_t<bfloat16> { static constexpr DType value = DType::bf16; };
template <>
struct dtype_of_t<std::uint8_t> { static constexpr DType value = DType::u8; };
template <>
struct dtype_of_t<std::int8_t> { static constexpr DType value = DType::i8; };
template <>
struct dtype_of_t<std::int16_t> { static constexpr DType value = DType::i16; };

template <class T>
inline constexpr DType dtype_of = dtype_of_t<T>::value;

template <class T>
concept Element = requires { dtype_of_t<T>::value; };
/// The type in which values of a type are computed.
template <class T>
using compute_t = element_t<compute_dtype(dtype_of<T>)>;
template <class T>
concept NarrowElement = Element<T> && is_narrow(dtype_of<T>);

/// As in std::numeric_limits, of which clang warns under -ffast-math.
template <class T>
inline constexpr T infinity = T(__builtin_huge_val());

/// f(T{}) with the C++ type of a compute dtype.
template <class F>
decltype(auto) with_compute_dtype(DType d, F f) {
  switch (d) {
    case DType::boolean: return f(bool{});
    case DType::i32: return f(std::int32_t{});
    case DType::i64: return f(std::int64_t{});
    case DType::f32: return f(float{});
    default: return f(double{});
  }
}
/// The same for any dtype.
template <class F>
decltype(auto) with_dtype(DType d, F f) {
  switch (d) {
    case DType::f16: return f(float16{});
    case DType::bf16: return f(bfloat16{});
    case DType::u8: return f(std::uint8_t{});
    case DType::i8: return f(std::int8_t{});
    case DType::i16: return f(std::int16_t{});
    default: return with_compute_dtype(d, f);
  }
}

}  // namespace tt
