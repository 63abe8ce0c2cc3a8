// An operand of a call: a Tensor, or a number, which takes its dtype from the Tensors beside it, as in PyTorch.
//   TensorOperand(2).beside(x)      TensorOperand(300).beside_as_element(x, "fill", at)     // an Error if x is of u8
#pragma once
#include "tt/dispatch/graph_function.hpp"

namespace tt {
namespace detail {

/// Throws Error when a dtype cannot hold a number as an element (integers: its integer part; NaN has none), as PyTorch does. A double may round a whole number
/// beyond i64, so those are told as integers.
template <class V>
  requires(std::same_as<V, double> || std::same_as<V, std::int64_t>)
void need_in_range(DType dtype, V value, const char* op, SourceLine at) {
  if (is_floating(dtype) ? holds(dtype, static_cast<double>(value)) : holds(dtype, value)) return;
  Text t = Text("tt::") << op << ": number is out of range: ";
  if constexpr (std::same_as<V, double>) write_number(t, value);
  else t << value;
  TT_THROW(Error(t << " beside " << name(dtype) << ". Cast the operand to f64?" << at));
}

/// A number that the dtype holds, as an element. A negative number wraps in an unsigned dtype, for which C++ has no conversion from floats.
template <class T>
T number_as(double value) {
  if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) return static_cast<T>(static_cast<std::int64_t>(value));
  else return static_cast<T>(value);
}
/// An operand of an elementwise op: a Tensor, or a number, whose dtype depends on the Tensors beside it.
struct TensorOperand {
  const Tensor* tensor = nullptr;
  double real = 0;
  std::int64_t integer = 0;
  DType literal = DType::f64;
  bool fits = true;  ///< false: an integer beyond i64
  Extent expression = 0;  ///< of a symbolic size of a captured function
  SourceLine where;

  TensorOperand() = default;
  TensorOperand(const Tensor& t, SourceLine at = here()) : tensor(&t), where(at) {}
  TensorOperand(const Size& value, SourceLine at = here()) : TensorOperand(value.hint(), at) {
    if (value.is_expression()) [[unlikely]] expression = value.extent();
  }
  template <class A>
    requires std::is_arithmetic_v<A>
  TensorOperand(A value, SourceLine at = here())
      : real(static_cast<double>(value)), integer(std::is_integral_v<A> ? static_cast<std::int64_t>(value) : 0),
        literal(std::is_same_v<A, bool> ? DType::boolean : std::is_floating_point_v<A> ? DType::f64 : DType::i64),
        fits(!std::is_unsigned_v<A> || integer >= 0),
        where(at) {}
  /// The number as a Tensor, of its dtype beside operands of dtype `beside`; throws Error when that dtype cannot hold it.
  Tensor number(DType beside) const {
    const DType d = promote_literal(beside, literal);
    const bool as_real = is_floating(literal) || (is_floating(d) && !fits);
    if (!as_real && (!fits || !holds(d, integer)))
      TT_THROW(Error(describe({.mistake = Mistake::number_out_of_range, .op = "constant", .dtype = d, .number = integer, .where = where})));
    Tensor t(d, Shape{});
    t.impl().is_number = true;
    with_dtype(d, [&]<class T>(T) {
      *reinterpret_cast<T*>(t.impl().data) = as_real ? number_as<T>(real) : static_cast<T>(integer);
    });
    if (!expression.is_constant()) [[unlikely]] capture_mode->made_of_size(t, expression);
    return t;
  }
  /// The Tensor, or the number beside `x`.
  Tensor beside(const Tensor& x) const { return tensor ? *tensor : number(x.dtype()); }
  /// Throws Error when this is a number that will be an element, and the dtype cannot hold it.
  void need_element_of(DType dtype, const char* op, SourceLine at) const {
    if (tensor) return;
    if (is_floating(literal) || !fits) need_in_range(dtype, real, op, at);
    else need_in_range(dtype, integer, op, at);
  }
  Tensor beside_as_element(const Tensor& x, const char* op, SourceLine at) const {
    need_element_of(x.dtype(), op, at);
    return beside(x);
  }
  /// The number in place of a Tensor argument. `floating`: the common dtype of the floating Tensors (boolean: there are none). Integers, which
  /// may be indices or seeds, stay integers.
  Tensor number_among(DType floating) const { return number(is_floating(literal) ? floating : DType::boolean); }
};

}  // namespace detail
}  // namespace tt
