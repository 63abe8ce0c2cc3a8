// An op as a function of whole tiles, for calls that need no graph: eager calls, and those that jit/segment_recorder_inl.hpp repeats.
//   if (const DirectCall f = direct_call(op, dtype); f.function) f.function(out, operands, n, 0, nullptr);
#pragma once
#include "tt/backends/runtime.hpp"
#include "tt/dispatch/dispatcher.hpp"

namespace tt::detail {

/// The most operands of an op that is called directly.
inline constexpr int most_direct = 4;
/// An op that needs no graph: a primitive or an op with a body, on operands of one dtype that are contiguous in one shape, or are
/// rows (direct_call_inl.hpp).
struct DirectCall {
  backend::TileFunction function = nullptr;
  DType result = DType::f32;
};
inline backend::TileFunction direct_call(const OpDef& op, DType d) {
  const Domain domain = op.info.domain;
  const bool takes = is_floating(d) ? domain != Domain::integer : domain == Domain::number ? d != DType::boolean : domain == Domain::integer && d == DType::i64;
  const int code = call_code(op);
  if (code < 0 || !takes || is_narrow(d) || op.info.arity > most_direct) return nullptr;
  return backend::tile_kernels().function(Op::call, d, d, code);
}
inline bool has_direct_call(const OpDef& op, DType d) { return direct_call(op, d) != nullptr; }
inline DirectCall direct_call(const Operator& op, DType d) {
  const Op k = op.primitive;
  if (is_narrow(d)) return {};
  if (op.body) return {direct_call(*op.body, d), d};
  if (is_comparison(k)) return {backend::tile_kernels().function(k, DType::boolean, d, 0), DType::boolean};
  if (!is_arithmetic(k) || is_shift(k) || k == Op::copy || d == DType::boolean || (is_real(k) && !is_floating(d)) ||
      (is_bitwise(k) && !is_integral(d)))
    return {};
  return {backend::tile_kernels().function(k, d, d, 0), d};
}

}  // namespace tt::detail
