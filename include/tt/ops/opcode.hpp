// The primitives: the kinds of graph nodes, and their names. About 40 elementwise ones form the algebra that op bodies
// are written in; every other elementwise op is a body over them (Op::call).
#pragma once
#include <cstdint>

namespace tt {

enum class Op : std::uint8_t {
  // leaves
  input, constant, extent, iota,
  // elementwise arithmetic
  copy, add, sub, mul, div, min, max, fma, neg, abs, sqrt, floor, ceil, round, trunc,
  bit_and, bit_or, bit_xor, shift_left, shift_right, shift_right_logical,
  // elementwise comparisons and logic: bool results
  lt, le, eq, ne, logical_and, logical_or, logical_not,
  // elementwise, mixed dtypes
  where, cast, bitcast,
  // an op with a body; a value repeated along axes of extent 1
  call, broadcast,
  // views: other indices of the same memory
  reshape, permute, slice, window,
  // the rest
  detach, sum, amax, amin, matmul, pad, slice_scatter, conv, take,
  // only in plans
  load, store, accumulator,
};
inline constexpr int op_count = static_cast<int>(Op::accumulator) + 1;

constexpr const char* name(Op op) {
  constexpr const char* names[op_count] = {
      "input", "constant", "extent", "iota",
      "copy", "add", "sub", "mul", "div", "minimum", "maximum", "fma", "neg", "abs", "sqrt", "floor", "ceil",
      "round", "trunc", "bit_and", "bit_or", "bit_xor", "shift_left", "shift_right",
      "shift_right_logical", "lt", "le", "eq", "ne", "logical_and", "logical_or", "logical_not",
      "where", "cast", "bitcast", "call", "broadcast", "reshape", "permute", "slice", "window",
      "detach", "sum", "amax", "amin", "matmul", "pad", "slice_scatter", "conv", "take", "load", "store", "accumulator"};
  return names[static_cast<int>(op)];
}

constexpr bool is_leaf(Op op) { return op <= Op::iota; }
constexpr bool is_elementwise(Op op) { return op >= Op::copy && op <= Op::broadcast; }
constexpr bool is_arithmetic(Op op) { return op >= Op::copy && op <= Op::shift_right_logical; }
constexpr bool is_bitwise(Op op) { return op >= Op::bit_and && op <= Op::shift_right_logical; }
constexpr bool is_shift(Op op) { return op >= Op::shift_left && op <= Op::shift_right_logical; }
constexpr bool is_comparison(Op op) { return op >= Op::lt && op <= Op::ne; }
constexpr bool is_logical(Op op) { return op >= Op::logical_and && op <= Op::logical_not; }
/// Elementwise primitives that take operands only: not casts, which take a dtype too.
constexpr bool has_operator(Op op) {
  return (is_arithmetic(op) && op != Op::copy) || is_comparison(op) || is_logical(op) || op == Op::where;
}
constexpr bool is_view(Op op) { return op >= Op::reshape && op <= Op::window; }
constexpr bool is_reduction(Op op) { return op >= Op::sum && op <= Op::amin; }
constexpr bool is_product(Op op) { return op == Op::matmul || op == Op::conv; }
constexpr bool is_commutative(Op op) {
  return op == Op::add || op == Op::mul || op == Op::eq || op == Op::ne || op == Op::bit_and ||
         op == Op::bit_or || op == Op::bit_xor || op == Op::logical_and || op == Op::logical_or;
}
/// Accepts floating dtypes only; the builder promotes integers to f32 for `div` and `sqrt`.
constexpr bool is_real(Op op) { return op == Op::div || op == Op::sqrt; }

constexpr int arity(Op op) {
  switch (op) {
    case Op::fma: case Op::where: return 3;
    case Op::add: case Op::sub: case Op::mul: case Op::div: case Op::min: case Op::max:
    case Op::bit_and: case Op::bit_or: case Op::bit_xor: case Op::lt: case Op::le: case Op::eq:
    case Op::ne: case Op::logical_and: case Op::logical_or: case Op::matmul: case Op::slice_scatter:
    case Op::conv: case Op::take: return 2;
    case Op::input: case Op::constant: case Op::extent: case Op::iota: return 0;
    default: return 1;
  }
}
static_assert(name(Op::accumulator)[0] == 'a' && arity(Op::where) == 3);

}  // namespace tt
